"""Warps and CTAs: who takes part in what is done together."""

from __future__ import annotations

from math import prod

from ptx.controlflow import Flow
from ptx.ir import Imm, Instruction, Reg, Vector
from ptx.lanes import Lanes, divergent_blocks, ends_of_warps, splits
from ptx.rules.limits import CTA_THREADS
from ptx.rules.rule import Findings, View, at, rule


@rule(
    "activemask-as-mask",
    """activemask tells which lanes happen to be here together. As the member mask of a shuffle, a
    vote or a barrier it names whatever lanes have converged, which is not those that the algorithm
    means, and differs from run to run. Compute the mask with vote.sync.ballot before the branch, or
    spell it: 0xffffffff for a whole warp.""",
    bad="""
activemask.b32 %r1;
mov.u32 %r2, %laneid;
shfl.sync.bfly.b32 %r3, %r2, 1, 31, %r1;  // here
ret;
""",
    good="""
mov.u32 %r2, %laneid;
shfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xffffffff;
ret;
""",
    severity="warning",
)
def activemask_as_mask(view: View) -> Findings:
    flow = view.flow
    if "activemask" not in flow.by_opcode:
        return
    for _, instruction in flow.of(*_MASKED):
        variant = instruction.variant
        if variant is None:
            continue
        for slot, operand in zip(variant.slots, instruction.operands, strict=True):
            if slot.name == "mask" and _comes_from(flow, operand, "activemask"):
                yield at(instruction, f"the mask {operand} comes from activemask: spell the lanes")


@rule(
    "member-mask",
    """The member mask of a shuffle, a vote, a match or a barrier of the warp names no lane, or
    leaves out a lane that executes it: the result is undefined. Or it names lanes that its guard
    keeps away, and the others wait for them for ever. Spell the lanes that come.""",
    bad="""
mov.u32 %r1, %laneid;
setp.lt.u32 %p1, %r1, 16;
@%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0x00ff;  // here
ret;
""",
    good="""
mov.u32 %r1, %laneid;
setp.lt.u32 %p1, %r1, 16;
@%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffff;
ret;
""",
    severity="warning",
)
def member_mask(view: View) -> Findings:
    flow = view.flow
    found = list(flow.of(*_MASKED))
    lanes = Lanes(flow) if found else None
    for position, instruction in found:
        mask = _literal_mask(instruction)
        if mask is None or lanes is None:
            continue
        key = flow.guards[position]
        holds = lanes.values(key >> 1) if key >= 0 else None
        here = {lane for lane, held in enumerate(holds or ()) if held != key & 1}
        named = {lane for lane in range(32) if mask >> lane & 1}
        alone = len(flow.by_opcode[instruction.opcode]) == 1
        if not named:
            yield at(instruction, "the mask names no lane")
        elif left_out := here - named:
            yield at(instruction, f"lane {min(left_out)} executes it, and is not in its mask")
        elif alone and holds is not None and (away := named - here):
            yield at(instruction, f"its mask names lane {min(away)}, which its guard keeps away")


_MASKED = ("shfl", "vote", "match", "redux", "elect", "bar")


def _literal_mask(instruction: Instruction) -> int | None:
    slots = instruction.variant.slots if instruction.variant is not None else ()
    for slot, operand in zip(slots, instruction.operands, strict=False):
        if slot.name == "mask" and isinstance(operand, Imm):
            return int(operand.value) & 0xFFFFFFFF
    return None


def _comes_from(flow: Flow, operand: object, opcode: str) -> bool:
    """Whether the only definition of a register, copies aside, is an `opcode`."""
    for _ in range(8):
        number = flow.number(operand)
        position = None if number is None else flow.definition(number)
        if position is None:
            return False
        instruction = flow.instructions[position]
        if instruction.opcode == opcode:
            return True
        if instruction.opcode != "mov":
            return False
        operand = instruction.operands[1]
    return False


@rule(
    "repeated-fragment",
    """A matrix instruction gets one register in two places of one fragment of A or B. Fragments
    hold different elements in each register, so this is nearly always a slip of the index. A
    register that holds a literal (zero padding) may repeat.""",
    bad="""
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, %f5}, {%r1, %r2, %r1, %r1}, {%r1, %r2}, {%f1, %f1, %f1, %f1};  // here
ret;
""",  # noqa: E501
    good="""
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
add.u32 %r3, %r1, %r2;
mov.u32 %r4, 0;
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, %f5}, {%r1, %r2, %r4, %r4}, {%r1, %r3}, {%f1, %f1, %f1, %f1};
ret;
""",  # noqa: E501
    severity="warning",
)
def repeated_fragment(view: View) -> Findings:
    flow = view.flow
    for _, instruction in flow.of("mma", "wmma", "wgmma"):
        variant = instruction.variant
        if variant is None or not {"mma", "mma_async"} & set(instruction.words):
            continue
        for slot, operand in zip(variant.slots, instruction.operands, strict=True):
            if slot.name in ("a", "b") and isinstance(operand, Vector):
                items = [item for item in operand.items if isinstance(item, Reg)]
                twice = [r for r in dict.fromkeys(items) if items.count(r) > 1]
                for register in twice:
                    if not _is_literal(flow, register):
                        yield at(
                            instruction,
                            f"operand {slot.name} has {register} twice: each register of a "
                            "fragment holds other elements",
                        )


def _is_literal(flow: Flow, register: Reg) -> bool:
    number = flow.number(register)
    position = None if number is None else flow.definition(number)
    return (
        position is not None
        and not flow.reads[position]
        and (flow.instructions[position].opcode == "mov")
    )


@rule(
    "divergent-barrier",
    """A barrier of the CTA, or an instruction with .aligned, is reached by some threads of a warp
    only: the branch or guard before it depends on %tid or %laneid in a way that splits the warp. So
    does a barrier without a thread count that some warps only reach, and the others meet nowhere
    else. The threads wait for each other for ever, or the result is undefined. Let the ways join
    first, or give the barrier the number of threads that meet there.""",
    bad="""
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 16;
@!%p1 bra JOIN;
bar.sync 0;  // here
JOIN:
ret;
""",
    good="""
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 16;
@!%p1 bra JOIN;
mov.u32 %r2, 1;
JOIN:
bar.sync 0;
ret;
""",
    severity="warning",
)
def divergent_barrier(view: View) -> Findings:
    flow = view.flow
    together = [
        (position, instruction)
        for opcode in flow.by_opcode
        if opcode in _COLLECTIVE
        for position, instruction in flow.of(opcode)
        if _is_collective(instruction)
    ]
    if not together:
        return
    lanes = Lanes(flow)
    within = divergent_blocks(flow, lanes)
    block_of = {
        position: number
        for number, block in enumerate(flow.blocks)
        for position in range(block.start, block.stop)
    }
    for position, instruction in sorted(together, key=lambda one: one[0]):
        key = flow.guards[position]
        if key >= 0 and lanes.splits(key >> 1):
            yield at(instruction, f"{instruction.op} under a guard that differs between lanes")
        elif block_of[position] in within:
            branch = flow.instructions[within[block_of[position]]]
            where = f" at {branch.place}" if branch.place else ""
            yield at(
                instruction,
                f"{instruction.op} is reached by some lanes of a warp only: `{branch}`{where} "
                "splits the warp",
            )
    yield from _without_some_warps(view)


def _without_some_warps(view: View) -> Findings:
    """Barriers of the whole CTA that one side of a branch between warps has, and no other."""
    flow = view.flow
    barriers = {
        position: instruction
        for position, instruction in flow.of("bar", "barrier")
        if _is_for_all(instruction)
    }
    if not barriers:
        return
    lanes = Lanes(flow, ends_of_warps(_threads(view)))
    warp = Lanes(flow)
    for position, instruction in barriers.items():
        key = flow.guards[position]
        if key >= 0 and lanes.splits(key >> 1) and not warp.splits(key >> 1):
            yield at(
                instruction, f"{instruction.op} waits for all warps, its guard leaves some out"
            )
    for split in splits(flow, lanes):
        if warp.splits(flow.guards[split.position] >> 1):
            continue  # told above
        branch = flow.instructions[split.position]
        where = f" at {branch.place}" if branch.place else ""
        met = [
            {position for position in barriers for block in side if position in _range(flow, block)}
            for side in split.sides
        ]
        for side, positions in enumerate(met):
            others = {str(barriers[p].operands[0]) for o in met[:side] + met[side + 1 :] for p in o}
            for position in sorted(positions):
                instruction = barriers[position]
                if str(instruction.operands[0]) not in others:
                    yield at(
                        instruction,
                        f"{instruction.op} waits for all warps, and `{branch}`{where} sends only "
                        "some of them here",
                    )


def _range(flow: Flow, block: int) -> range:
    return range(flow.blocks[block].start, flow.blocks[block].stop)


def _is_for_all(instruction: Instruction) -> bool:
    """Whether a barrier counts all threads of the CTA."""
    variant = instruction.variant
    if variant is None or {"warp", "cluster", "arrive"} & set(instruction.words):
        return False
    return all(slot.name != "threads" for slot in variant.slots)


def _threads(view: View) -> int:
    """How many threads a CTA may have; two warps where compiled code does not say."""
    for name in ("reqntid", "maxntid"):
        if (found := view.function.directive(name)) is not None:
            return max(1, min(prod(found), CTA_THREADS))
    return CTA_THREADS if view.built else 64


_COLLECTIVE = frozenset(
    "bar barrier ldmatrix stmatrix movmatrix mma wmma wgmma setmaxnreg tcgen05".split()
)


def _is_collective(instruction: Instruction) -> bool:
    words = instruction.words
    if words[0] == "bar":
        return "warp" not in words and "arrive" not in words
    return "aligned" in words
