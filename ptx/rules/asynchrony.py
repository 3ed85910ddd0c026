"""What runs on after its instruction: wgmma's accumulators, and the async proxy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptx.controlflow import Flow, effects
from ptx.ir import Imm, Instruction, Vector
from ptx.isa import Variant
from ptx.provenance import starts_at
from ptx.rules.rule import Findings, View, at, rule

OLDEST = 8
"""Groups of wgmma that are told apart; older ones count as this old."""

_Flight = Mapping[int, tuple[int, bool]]
"""By register, how many groups have been committed since its wgmma, and whether it is an
accumulator (else a fragment of A, which may be read but not written)."""


@rule(
    "accumulator-in-flight",
    """wgmma.mma_async runs on after its instruction. Until a wgmma.wait_group covers it its
    accumulators may be neither read nor written, but by another wgmma that accumulates into them,
    and its fragments of A may not be written. ptxas serialises such code (warnings C7509 to C7515)
    or lets it read early.""",
    bad="""
ld.param.u64 %rd1, [p];
setp.ne.b32 %p1, 0, 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, %p1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
add.f32 %f5, %f1, %f2;  // here
ret;
""",  # noqa: E501
    good="""
ld.param.u64 %rd1, [p];
setp.ne.b32 %p1, 0, 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, %p1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
add.f32 %f5, %f1, %f2;
ret;
""",  # noqa: E501
)
def accumulator_in_flight(view: View) -> Findings:
    flow = view.flow
    if not any("mma_async" in i.words for _, i in flow.of("wgmma")):
        return
    empty: _Flight = {}
    before = flow.solve(empty, lambda n, state: _fly(flow, n, state)[0], _join)
    told: set[int] = set()
    for number in sorted(before):
        for position, register, verb in _fly(flow, number, before[number])[1]:
            if position not in told:
                told.add(position)
                yield at(
                    flow.instructions[position],
                    f"{flow.registers[register].name} is {verb} while a wgmma is in flight with "
                    "it: wgmma.wait_group must come before",
                )


def _join(a: _Flight, b: _Flight) -> _Flight:
    joined = dict(a)
    for register, (age, accumulator) in b.items():
        other = joined.get(register)
        if other is not None:
            age, accumulator = min(age, other[0]), accumulator or other[1]
        joined[register] = (age, accumulator)
    return joined


def _fly(flow: Flow, number: int, state: _Flight) -> tuple[_Flight, list[tuple[int, int, str]]]:
    """What is in flight after a block, and the touches of it inside: where, what, how."""
    flying = dict(state)
    touched: list[tuple[int, int, str]] = []
    block = flow.blocks[number]
    for position in range(block.start, block.stop):
        instruction = flow.instructions[position]
        if instruction.op.startswith("wgmma."):
            if "mma_async" in instruction.words:
                _issue(flow, position, flying)
            elif "commit_group" in instruction.words:
                for register, (age, accumulator) in flying.items():
                    flying[register] = (min(age + 1, OLDEST), accumulator)
            elif "wait_group" in instruction.words:
                _land(instruction, flying)
            continue
        if not flying:
            continue
        for register in flow.reads[position]:
            if flying.get(register, (0, False))[1]:
                touched.append((position, register, "read"))
        for register in flow.writes[position]:
            if register in flying:
                touched.append((position, register, "written"))
    return flying, touched


def _issue(flow: Flow, position: int, flying: dict[int, tuple[int, bool]]) -> None:
    instruction = flow.instructions[position]
    for register in flow.writes[position]:
        flying[register] = (0, True)
    fragment = instruction.operands[1] if len(instruction.operands) > 1 else None
    if isinstance(fragment, Vector):
        for item in fragment.items:
            number = flow.number(item)
            if number is not None:
                flying[number] = (0, False)


def _land(instruction: Instruction, flying: dict[int, tuple[int, bool]]) -> None:
    pending = instruction.operands[0] if instruction.operands else None
    if not isinstance(pending, Imm):
        return
    left = int(pending.value)
    for register in [r for r, (age, _) in flying.items() if age > left]:
        del flying[register]


# ---------------------------------------------------------------- proxies


@rule(
    "missing-proxy-fence",
    """Shared memory written by ordinary stores is read by a bulk copy, by wgmma or by tcgen05.mma,
    which go through the async proxy. A barrier does not make the stores visible to it: each thread
    that stores must execute fence.proxy.async (.shared::cta) after its stores and before the
    barrier.""",
    bad="""
.shared .align 128 .b8 tile[128];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, tile;
st.shared.u32 [%r1], 7;
bar.sync 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 128;  // here
ret;
""",
    good="""
.shared .align 128 .b8 tile[128];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, tile;
st.shared.u32 [%r1], 7;
fence.proxy.async.shared::cta;
bar.sync 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 128;
ret;
""",
    severity="warning",
)
def missing_proxy_fence(view: View) -> Findings:
    flow = view.flow
    readers = {p for p, i in flow.of("cp", "wgmma", "tcgen05") if _reads_shared(i)}
    if not readers or not any(_writes_shared(i) for _, i in flow.of(*_WRITERS)):
        return
    nothing: frozenset[int] = frozenset()
    before = flow.solve(nothing, lambda n, state: _stores(flow, n, state, None), frozenset.union)
    for number in sorted(before):
        reached: list[tuple[int, frozenset[int]]] = []
        _stores(flow, number, before[number], reached)
        for position, stores in reached:
            if position not in readers:
                continue
            instruction = flow.instructions[position]
            known = starts_at(flow, _source(instruction))
            for store in sorted(stores):
                tile = starts_at(flow, flow.instructions[store].operands[0])
                if known and tile and known != tile:
                    continue
                place = flow.instructions[store].place
                where = f" at {place}" if place else ""
                yield at(
                    instruction,
                    f"{instruction.op} reads shared memory that `{flow.instructions[store]}`"
                    f"{where} may have written, with no fence.proxy.async between",
                )
                break


_WRITERS = ("st", "stmatrix", "atom", "red")


def _stores(
    flow: Flow,
    number: int,
    state: frozenset[int],
    reached: list[tuple[int, frozenset[int]]] | None,
) -> frozenset[int]:
    """The unfenced stores after a block; `reached` collects those before each async reader."""
    block = flow.blocks[number]
    for position in range(block.start, block.stop):
        instruction = flow.instructions[position]
        opcode = instruction.opcode
        if instruction.variant is None:
            continue
        if opcode in _WRITERS:
            if _writes_shared(instruction):
                state = state | {position}
        elif opcode == "fence":
            if instruction.variant is not None and _fences(instruction.variant):
                state = frozenset()
        elif reached is not None and opcode in ("cp", "wgmma", "tcgen05") and state:
            reached.append((position, state))
    return state


@cache
def _fences(variant: Variant) -> bool:
    return "fence proxy async" in effects(variant) and "async.global" not in variant.op


def _writes_shared(instruction: Instruction) -> bool:
    if instruction.opcode == "stmatrix":
        return True
    words = instruction.words
    return ("shared" in words or "shared::cta" in words) and "async" not in words


def _reads_shared(instruction: Instruction) -> bool:
    """Whether it reads this CTA's shared memory through the async proxy."""
    words = instruction.words
    if words[0] == "cp":
        if "bulk" not in words:
            return False
        spaces = [w for w in words if w in ("global", "shared::cta", "shared::cluster")]
        return len(spaces) == 2 and spaces[1] == "shared::cta"
    if words[0] == "wgmma":
        return "mma_async" in words
    return "mma" in words or "cp" in words


def _source(instruction: Instruction) -> object:
    """The shared address that a bulk copy reads; None where a descriptor tells it."""
    variant = instruction.variant
    if instruction.opcode != "cp" or variant is None:
        return None
    addresses = [
        operand
        for slot, operand in zip(variant.slots, instruction.operands, strict=True)
        if slot.kind == "addr" and slot.name == "src"
    ]
    return addresses[0] if addresses else None
