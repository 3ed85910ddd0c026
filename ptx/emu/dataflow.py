"""Which registers may hold no value: those whose definedness is followed while the kernel runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx.emu import semantics

if TYPE_CHECKING:
    from ptx.emu.program import Program

_LEAVES = ("bra", "brx", "ret", "exit", "trap")


def successors(program: Program, at: int) -> list[int]:
    """The instructions that may follow the one at `at`; a call is taken to return."""
    decoded = program.code[at]
    opcode = decoded.words.opcode
    following = [at + 1] if at + 1 < len(program.code) else []
    if opcode not in _LEAVES:
        return following
    targets: list[int] = []
    if opcode == "bra":
        targets = [program.target(decoded, str(decoded.operands[0]))]
    elif opcode == "brx":
        named = decoded.scope.target_list(str(decoded.operands[-1]))
        targets = [program.target(decoded, name) for name in (named.names if named else ())]
    return targets + (following if decoded.instruction.guard is not None else [])


def doubtful_slots(program: Program) -> frozenset[int]:
    """Slots read on some path before any write, and slots computed from them.

    A set of slots is an integer, one bit each; each block maps what is surely written before it to
    what is surely written after it, and paths that join keep what they share.
    """
    code = program.code
    effects = [program.reads_writes(decoded) for decoded in code]
    starts = set(program.leaders)
    starts |= {d.at + 1 for d in code if d.words.opcode in _LEAVES and d.at + 1 < len(code)}
    order = sorted(starts)
    ends = dict(zip(order, [*order[1:], len(code)], strict=True))

    def through(start: int, written: int) -> int:
        for at in range(start, ends[start]):
            if code[at].instruction.guard is None:
                for slot in effects[at][1]:
                    written |= 1 << slot
        return written

    gains = {start: through(start, 0) for start in order if start < len(code)}
    before: dict[int, int] = {program.entry[program.kernel.name]: 0}
    for name, (params, _) in program.formals.items():
        before[program.entry[name]] = sum(1 << p for p in params if isinstance(p, int))
    waiting = list(before)
    while waiting:
        start = waiting.pop()
        after = before[start] | gains[start]
        for following in successors(program, ends[start] - 1):
            met = after & before.get(following, after)
            if before.get(following) != met:
                before[following] = met
                waiting.append(following)

    found: set[int] = set()
    for start, written in before.items():
        for at in range(start, ends[start]):
            found.update(slot for slot in effects[at][0] if not written >> slot & 1)
            if code[at].instruction.guard is None:
                for slot in effects[at][1]:
                    written |= 1 << slot
    return frozenset(_spread(program, found, effects))


def _spread(
    program: Program, found: set[int], effects: list[tuple[list[int], list[int]]]
) -> set[int]:
    """With every slot that a value computed from a doubtful one may reach."""
    carriers = [effects[d.at] for d in program.code if semantics.carries_undefined(d.words)]
    grown = bool(found)
    while grown:
        size = len(found)
        for reads, writes in carriers:
            if not found.isdisjoint(reads):
                found.update(writes)
        grown = len(found) > size
    return found
