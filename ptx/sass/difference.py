"""Two kernels side by side: equal code on one row, loops of one name beside each other.

What is aligned are opcodes, as registers are numbered anew in every kernel and a guard is what one
looks for: ``@P0 LDG.E`` stands beside ``LDG.E``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from termcolor import colored

from ptx.sass.alignment import common
from ptx.sass.instruction import Instruction
from ptx.sass.opcodes import GROUPS, OTHER, group_of
from ptx.sass.region import Region
from ptx.sass.report import Rows
from ptx.sass.statistics import Statistics, statistics

SAME, GUARD, CHANGED, LEFT, RIGHT = " ", "@", "~", "<", ">"
"""How a row differs: not but for registers, in the guard, in modifiers, on one side alone."""

LEGEND = {
    GUARD: "guarded on one side",
    CHANGED: "other modifiers",
    LEFT: "left alone",
    RIGHT: "right alone",
}


@dataclass(frozen=True)
class Row:
    """One row of the comparison."""

    left: Instruction | None
    right: Instruction | None

    @property
    def mark(self) -> str:
        if self.left is None or self.right is None:
            return LEFT if self.right is None else RIGHT
        if self.left.opcode != self.right.opcode:
            return CHANGED
        return SAME if self.left.predicated == self.right.predicated else GUARD


@dataclass(frozen=True)
class Part:
    """What both kernels have in the loops of one name, without what is in their inner loops."""

    loop: str
    """"" for what is in no loop, :data:`UNNAMED` for loops without a label."""
    rows: tuple[Row, ...]


UNNAMED = "without a name"
"""A loop without a label is named by its address, which says nothing of the other kernel's."""


def compare(left: Region, right: Region) -> tuple[Part, ...]:
    """All of two kernels, or of two loops: what is in no loop, then loop by loop."""
    mine, theirs = _by_loop(left), _by_loop(right)
    return tuple(
        Part(name, tuple(_rows(mine.get(name, ()), theirs.get(name, ()))))
        for name in dict.fromkeys((*mine, *theirs))
    )


def _by_loop(region: Region) -> dict[str, list[Instruction]]:
    """Instructions by the innermost loop that they are in, outermost loops first."""
    inside: dict[int, str] = {}
    found: dict[str, list[Instruction]] = {}
    for one in (region, *region.loops):  # inner loops come behind theirs, and overwrite
        name = "" if not one.depth else UNNAMED if one.name.startswith("0x") else one.name
        inside.update({instruction.address: name for instruction in one.instructions})
        found[name] = []
    for instruction in region.instructions:
        if not instruction.never:
            found[inside[instruction.address]].append(instruction)
    return found


Key = Callable[[Instruction], str]


def _opcode(one: Instruction) -> str:
    return one.opcode


def _base(one: Instruction) -> str:
    return one.base


_SCARCE = {"global", "bulk copy", "local", "synchronise", "branch"}
_STEPS: tuple[tuple[set[str], Key], ...] = tuple(
    (groups, key)
    for groups in (_SCARCE, _SCARCE | {"shared", "tensor"}, {*GROUPS, OTHER})
    for key in (_opcode, _base)
)
"""What is put beside each other first: what a loop has few of, then the rest between them; each
time equal opcodes, then those equal but for modifiers."""


def _rows(
    left: Sequence[Instruction],
    right: Sequence[Instruction],
    steps: tuple[tuple[set[str], Key], ...] = _STEPS,
) -> Iterator[Row]:
    if not (left and right and steps):
        yield from (Row(one, None) for one in left)
        yield from (Row(None, one) for one in right)
        return
    (groups, key), *rest = steps
    ours, theirs = (
        [index for index, one in enumerate(side) if group_of(one.opcode) in groups]
        for side in (left, right)
    )
    pairs = common([key(left[index]) for index in ours], [key(right[index]) for index in theirs])
    i = j = 0
    for a, b in pairs:
        x, y = ours[a], theirs[b]
        yield from _rows(left[i:x], right[j:y], tuple(rest))
        yield Row(left[x], right[y])
        i, j = x + 1, y + 1
    yield from _rows(left[i:], right[j:], tuple(rest))


# ---------------------------------------------------------------- numbers, and text


def numbers(left: Region, right: Region) -> Rows:
    """A table, its head first, of both kernels and of the loops whose names both have."""
    there = {loop.name: loop for loop in right.loops}
    pairs = [(left, right)]
    pairs += [(loop, there[loop.name]) for loop in left.loops if loop.name in there]
    rows: Rows = [("", "", "left", "right", "change")]
    for one, other in pairs:
        a, b = _counts(one), _counts(other)
        name = f"loop {one.name}" if one.depth else "kernel"
        for what in dict.fromkeys((*a, *b)):
            had, has = a.get(what, 0), b.get(what, 0)
            if had or has:
                change = f"{has - had:+}" if has != had else ""
                rows.append((name, what, str(had), str(has), change))
                name = ""
    return rows


def _counts(region: Region) -> dict[str, int]:
    found: Statistics = statistics(region)
    counts = {}
    if region.info is not None:
        counts["registers"] = region.info.registers
    counts |= {
        "instructions": found.instructions,
        "predicated": found.predicated,
        "branches": found.branches,
        "BSSY and BSYNC": found.bssy + found.bsync,
        "stalls": found.stalls,
        "bank conflicts": found.banks.conflicts,
    }
    for name, widths in found.accesses.items():
        counts |= {f"{name} of {bits} bits": count for bits, count in widths.items()}
    return counts | found.groups


def title(part: Part) -> str:
    """What a part's heading says."""
    if not part.loop:
        return "outside of loops"
    return f"loop {part.loop}" if part.loop != UNNAMED else f"loops {part.loop}"


def text(left: Region, right: Region, width: int = 100) -> str:
    """The kernels side by side in so many columns, the marks of :data:`LEGEND` between them."""
    side = max(24, (width - 5) // 2)
    rows = ["  ".join(f"{mark} {what}" for mark, what in LEGEND.items())]
    for part in compare(left, right):
        rows.append(colored(f"-- {title(part)} ".ljust(2 * side + 5, "-"), attrs=["bold"]))
        rows += [_line(row, side) for row in part.rows]
    return "\n".join(rows)


_COLOUR = {GUARD: "yellow", CHANGED: "yellow", LEFT: "red", RIGHT: "green"}


def _line(row: Row, side: int) -> str:
    left, right = (str(one or "") for one in (row.left, row.right))
    text = f"{_fit(left, side):<{side}}  {row.mark}  {_fit(right, side)}".rstrip()
    return colored(text, _COLOUR[row.mark]) if row.mark != SAME else text


def _fit(text: str, side: int) -> str:
    return text if len(text) <= side else text[: side - 3] + "..."
