"""What instructions mean, by chapter of the manual.

An opcode has one of three things: a rule in :data:`~ptx.emu.semantics.rules.RULES` (a pure function
of its operands), a step that touches memory or other threads, or a reason in :data:`UNMODELLED`.
"""

from __future__ import annotations

from ptx.emu.faults import Unmodelled
from ptx.emu.semantics import compare, convert, floating, half, integer, logic, moves, video
from ptx.emu.semantics.rules import RULES, Meaning, Words
from ptx.ir import Addr, Instruction, Operand, Pair, Selected

__all__ = ["compare", "convert", "floating", "half", "integer", "logic", "moves", "video"]

MEMORY = frozenset(
    "ld ldu st atom red cp prefetch prefetchu discard applypriority isspacep cvta mapa getctarank "
    "mbarrier fence membar griddepcontrol nanosleep pmevent createpolicy alloca "
    "stacksave stackrestore brkpt multimem tensormap".split()
)
"""Opcodes whose step needs the machine, and that every thread executes for itself."""

WARP = frozenset(
    "shfl vote match activemask redux elect ldmatrix stmatrix movmatrix mma wmma wgmma".split()
)
"""Opcodes that threads of a warp execute together."""

CONTROL = frozenset("bra brx call ret exit trap bar barrier setmaxnreg".split()) | WARP
"""Opcodes after which threads may part, wait or end."""

UNMODELLED: dict[str, str] = {
    "tcgen05": "the tensor memory of sm_100 is not modelled",
    "multimem": "several devices are not modelled",
    **dict.fromkeys(
        ("alloca", "stacksave", "stackrestore"), "stack memory of variable size is not modelled"
    ),
    "clusterlaunchcontrol": "work stealing between grids is not modelled",
}
"""Opcodes without a meaning, and why."""

_NO_RESULT = frozenset(
    "st red bar barrier prefetch prefetchu discard applypriority fence membar griddepcontrol "
    "nanosleep pmevent setmaxnreg bra brx ret exit trap brkpt stmatrix tensormap".split()
)


def words_of(instruction: Instruction) -> Words:
    """The words of an instruction, with the selectors of its operands."""
    found = [o.selector if isinstance(o, Selected) else "" for o in instruction.operands]
    return Words(instruction.op, tuple(found) if any(found) else ())


def meaning_of(words: Words) -> Meaning | None:
    """What a spelling computes; None where its step needs the machine.

    Raises :class:`Unmodelled` where it has no meaning here.
    """
    if words.opcode in UNMODELLED:
        raise Unmodelled(f"{words.op} is not modelled: {UNMODELLED[words.opcode]}")
    if words.opcode in RULES:
        return RULES[words.opcode](words)
    if words.opcode in MEMORY or words.opcode in CONTROL:
        return None
    raise Unmodelled(f"{words.op} is not modelled: no meaning is written for {words.opcode}")


def is_control(words: Words) -> bool:
    """Whether threads may part, wait or end at it."""
    if words.opcode == "mbarrier":
        return "try_wait" in words
    return words.opcode in CONTROL


def carries_undefined(words: Words) -> bool:
    """Whether undefined operands make the result undefined; memory and branches fault instead."""
    return words.opcode in RULES or words.opcode in WARP


def written_operands(words: Words, instruction: Instruction) -> frozenset[int]:
    """The numbers of the operands that an instruction writes.

    The table says so where it knows the instruction; else it is the first operand, unless that is
    an address or the opcode has no result.
    """
    if instruction.variant is not None:
        slots = instruction.variant.slots
        return frozenset(n for n, slot in enumerate(slots) if slot.access != "r")
    if not instruction.operands or words.opcode in _NO_RESULT:
        return frozenset()
    first: Operand = instruction.operands[0]
    if isinstance(first, Addr) and not isinstance(first, Pair):
        return frozenset()
    return frozenset({0})
