"""What must come before: a wait before the data is read, an init before a barrier is used, a fence
before wgmma reads registers."""

from __future__ import annotations

from typing import NamedTuple

from ptx.controlflow import Flow, effects
from ptx.ir import Instruction, Vector
from ptx.provenance import starts_at
from ptx.rules.rule import Findings, View, at, rule

# ---------------------------------------------------------------- cp.async


@rule(
    "unwaited-copy",
    """Shared memory is read that cp.async fills, and on no way to the read has anything waited for
    the copy: cp.async.wait_group, which waits for committed groups alone, cp.async.wait_all, or
    the mbarrier that cp.async.mbarrier.arrive signals. A barrier of the CTA alone does not wait for
    it.""",
    bad="""
.shared .align 16 .b8 tile[512];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, tile;
cp.async.cg.shared.global [%r1], [%rd2], 16;
cp.async.commit_group;
bar.sync 0;
ld.shared.u32 %r2, [%r1+4];  // here
ret;
""",
    good="""
.shared .align 16 .b8 tile[512];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, tile;
cp.async.cg.shared.global [%r1], [%rd2], 16;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 0;
ld.shared.u32 %r2, [%r1+4];
ret;
""",
    severity="warning",
)
def unwaited_copy(view: View) -> Findings:
    flow = view.flow
    copies = {p: i for p, i in flow.of("cp") if _has_effect(i, "async cp.async")}
    if not copies:
        return
    before = flow.solve(
        _Copying(frozenset(), False, False),
        lambda number, state: _copying(flow, number, state, copies, None),
        lambda a, b: _Copying(a.tiles | b.tiles, a.committed or b.committed, a.waited or b.waited),
    )
    for number in sorted(before):
        reads: list[tuple[int, str]] = []
        _copying(flow, number, before[number], copies, reads)
        for position, tile in reads:
            instruction = flow.instructions[position]
            yield at(
                instruction,
                f"{instruction.op} reads {tile}, which cp.async fills, and nothing has waited "
                "for the copy",
            )
        if reads:
            return


class _Copying(NamedTuple):
    """What cp.async may have done when control comes to a place."""

    tiles: frozenset[str]
    """The variables that it fills."""
    committed: bool
    """Whether some way here commits a group."""
    waited: bool
    """Whether something on some way here waits for a copy."""


def _copying(
    flow: Flow,
    number: int,
    state: _Copying,
    copies: dict[int, Instruction],
    reads: list[tuple[int, str]] | None,
) -> _Copying:
    """The state after a block; `reads` collects the reads in it that nothing has waited for."""
    tiles, committed, waited = state
    block = flow.blocks[number]
    for position in range(block.start, block.stop):
        instruction = flow.instructions[position]
        opcode = instruction.opcode
        if instruction.variant is None:
            continue
        if position in copies:
            if tile := starts_at(flow, instruction.operands[0]):
                tiles = tiles | {tile}
        elif _has_effect(instruction, "commit cp.async"):
            committed = True
        elif opcode == "call" or _waits(instruction):
            waited = waited or committed or "wait_group" not in instruction.words
        elif reads is not None and tiles and not waited and opcode in ("ld", "ldmatrix", "wmma"):
            tile = starts_at(flow, instruction.operands[1]) if opcode != "wmma" else ""
            if tile in tiles:
                reads.append((position, tile))
    return _Copying(tiles, committed, waited)


def _waits(instruction: Instruction) -> bool:
    if instruction.opcode == "cp":
        return "bulk" not in instruction.words and _has_effect(instruction, "wait cp.async")
    return instruction.opcode == "mbarrier" and "wait" in instruction.op


def _has_effect(instruction: Instruction, effect: str) -> bool:
    return instruction.variant is not None and effect in effects(instruction.variant)


# ---------------------------------------------------------------- mbarriers


@rule(
    "uninitialised-mbarrier",
    """An mbarrier is used that nothing in the kernel makes: mbarrier.init must come first, by one
    thread, and a barrier of the CTA before the others use it.""",
    bad="""
.shared .align 8 .b64 full;
mbarrier.arrive.shared.b64 _, [full];  // here
ret;
""",
    good="""
.shared .align 8 .b64 full;
mbarrier.init.shared.b64 [full], 1;
mbarrier.arrive.shared.b64 _, [full];
ret;
""",
    severity="warning",
)
def uninitialised_mbarrier(view: View) -> Findings:
    flow = view.flow
    own = {v.name for v in view.function.variables if v.space == "shared"}
    if not own or "call" in flow.by_opcode:
        return
    made = set()
    for _, instruction in flow.of("mbarrier"):
        if "init" in instruction.words:
            made.add(starts_at(flow, instruction.operands[0]))
    if "" in made:
        return
    told: set[str] = set()
    for access in flow.accesses:
        if access.slot.role != "barrier":
            continue
        name = starts_at(flow, access.address)
        if name in own and name not in made and name not in told:
            told.add(name)
            instruction = flow.instructions[access.position]
            yield at(instruction, f"no mbarrier.init makes {name}")


# ---------------------------------------------------------------- wgmma


@rule(
    "missing-wgmma-fence",
    """wgmma reads registers in their own order: wgmma.fence must come before the first wgmma, and
    again wherever other instructions have written its accumulators or its fragments of A. ptxas
    then adds the fence itself, or serialises the warpgroup (warnings C7509 to C7519).""",
    bad="""
ld.param.u64 %rd1, [p];
mov.f32 %f1, 0f00000000;
mov.f32 %f2, 0f00000000;
mov.f32 %f3, 0f00000000;
mov.f32 %f4, 0f00000000;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, 1, 1, 1, 0, 0;  // here
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ret;
""",  # noqa: E501
    good="""
ld.param.u64 %rd1, [p];
mov.f32 %f1, 0f00000000;
mov.f32 %f2, 0f00000000;
mov.f32 %f3, 0f00000000;
mov.f32 %f4, 0f00000000;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ret;
""",
    severity="warning",
)
def missing_wgmma_fence(view: View) -> Findings:
    flow = view.flow
    issues = {p: i for p, i in flow.of("wgmma") if "mma_async" in i.words}
    if not issues:
        return
    concerned = {r for p, i in issues.items() for r in _registers(flow, p, i)}
    entry = frozenset((_UNFENCED, *concerned))
    before = flow.solve(
        entry, lambda n, state: _written(flow, n, state, concerned, None), frozenset.union
    )
    for number in sorted(before):
        found: list[tuple[int, int]] = []
        _written(flow, number, before[number], concerned, found)
        for position, register in found:
            # Compilers copy accumulators behind the fence, and ptxas copies them back.
            if register != _UNFENCED and not view.built:
                continue
            why = (
                "no wgmma.fence comes before it"
                if register == _UNFENCED
                else f"{flow.registers[register].name} was written since the last wgmma.fence"
            )
            yield at(flow.instructions[position], why)


_UNFENCED = -1
"""Stands for: no fence on some way here."""


def _registers(flow: Flow, position: int, instruction: Instruction) -> list[int]:
    """The accumulators of a wgmma, and its fragments of A."""
    fragment = instruction.operands[1] if len(instruction.operands) > 1 else None
    items = fragment.items if isinstance(fragment, Vector) else ()
    numbers = [flow.number(item) for item in items]
    return [*flow.writes[position], *(n for n in numbers if n is not None)]


def _written(
    flow: Flow,
    number: int,
    state: frozenset[int],
    concerned: set[int],
    found: list[tuple[int, int]] | None,
) -> frozenset[int]:
    """The registers written since a fence, after a block; `found` collects the wgmmas at fault."""
    block = flow.blocks[number]
    for position in range(block.start, block.stop):
        instruction = flow.instructions[position]
        if instruction.opcode != "wgmma":
            if not concerned.isdisjoint(flow.writes[position]):
                state = state | (concerned & set(flow.writes[position]))
        elif "fence" in instruction.words:
            state = frozenset()
        elif "mma_async" in instruction.words:
            touched = [r for r in _registers(flow, position, instruction) if r in state]
            if found is not None and (touched or _UNFENCED in state):
                found.append((position, _UNFENCED if _UNFENCED in state else touched[0]))
                state = frozenset()  # one message for one fence
    return state
