"""The loops of a kernel's machine code, by the names of their PTX labels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptx.loops import Loop, Step, natural_loops
from ptx.sass.instruction import Instruction
from ptx.sass.printed import Code
from ptx.sass.region import Region


def loops_of(code: Code, ptx: Ptx) -> tuple[Region, ...]:
    """All of them, of every depth: by the address of their headers, inner ones behind theirs."""
    at = {one.address: index for index, one in enumerate(code.instructions)}
    steps = [_step(one, at) for one in code.instructions]
    entries = [at[address] for address in code.entries if address in at]
    loops = natural_loops(steps, entries)
    found = sorted(loops, key=lambda loop: [one.header for one in _around(loop, loops)])
    names = _names(found, code.instructions, ptx)
    made: dict[Loop, Region] = {}
    for loop in sorted(found, key=lambda loop: len(loop.body)):  # inner loops first
        made[loop] = Region(
            name=names[loop],
            instructions=tuple(code.instructions[index] for index in sorted(loop.body)),
            depth=len(_around(loop, found)),
            loops=tuple(made[one] for one in found if one.body < loop.body),
            back=tuple(code.instructions[index].address for index in loop.back),
        )
    return tuple(made[loop] for loop in found)


def _around(loop: Loop, found: list[Loop]) -> list[Loop]:
    """The loops that a loop is in, the outermost first, and itself last."""
    return sorted((one for one in found if loop.body <= one.body), key=lambda one: -len(one.body))


def _names(found: list[Loop], instructions: tuple[Instruction, ...], ptx: Ptx) -> dict[Loop, str]:
    """By the PTX label, else by the address.

    A loop that ptxas made inside of another, around an elected thread's copy for one, has no label:
    the lines of the outer loop name it not.
    """
    names: dict[Loop, str] = {}
    for loop in sorted(found, key=lambda loop: -len(loop.body)):  # outer loops first
        own = loop.body.difference(*(one.body for one in found if one.body < loop.body))
        outer = {names[one] for one in found if loop.body < one.body}
        name = ptx.jumped_to(instructions[index].line for index in loop.back)
        if name is None:
            name = ptx.around([instructions[index].line for index in own])
            name = None if name in outer else name
        names[loop] = name or f"0x{instructions[loop.header].address:x}"
    return names


def _step(one: Instruction, at: dict[int, int]) -> Step:
    """Where control may go from an instruction besides, or instead of, the next one."""
    targets = tuple(at[address] for address in one.targets if address in at)
    if one.base in ("BRA", "JMP"):
        # Further operands are conditions, as in `BRA.U !UP0, label` and `BRA.DIV UR4, label`.
        return Step(targets, falls=bool(one.guard) or len(one.operands) > 1)
    if one.base in ("BRX", "BRXU", "JMX", "JMXU"):
        return Step(targets, falls=bool(one.guard))
    if one.base in ("EXIT", "RET", "KILL"):
        return Step((), falls=bool(one.guard))
    return Step()  # BSSY and CALL name labels too, and go on behind themselves


class Ptx:
    """Where the loops of a PTX text are: a label, and a branch to it further down."""

    _TOKEN = re.compile(
        r"(?P<function>\.(?:entry|func)\b)|\bbra(?:\.uni)?\s+(?P<to>[\w$]+)\s*;"
        r"|(?:^|[;{}\s])(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)"
    )

    def __init__(self, text: str) -> None:
        self.branches: dict[int, tuple[str, int]] = {}
        """By the line of a backward branch: the label, and the label's line."""
        labels: dict[str, int] = {}
        for number, line in enumerate(text.split("\n"), 1):
            for match in self._TOKEN.finditer(line.partition("//")[0]):
                if match["function"]:
                    labels = {}
                elif match["label"]:
                    labels[match["label"]] = number
                elif match["to"] in labels:
                    self.branches[number] = (match["to"], labels[match["to"]])

    def jumped_to(self, lines: Iterable[int]) -> str | None:
        """The label of the loop whose back edge is on one of these lines."""
        return next((self.branches[line][0] for line in lines if line in self.branches), None)

    def around(self, lines: list[int]) -> str | None:
        """The label of the innermost loop that more than half of these lines are in."""
        fitting = [
            (end - start, name)
            for end, (name, start) in self.branches.items()
            if 2 * sum(1 for line in lines if start <= line <= end) > len(lines)
        ]
        return min(fitting)[1] if fitting else None
