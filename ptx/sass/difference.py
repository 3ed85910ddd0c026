"""Two kernels side by side: equal code on one row, loops of one name beside each other.

What is aligned are opcodes, as registers are numbered anew in every kernel and a guard is what one
looks for: ``@P0 LDG.E`` stands beside ``LDG.E``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from termcolor import colored

from ptx.sass.instruction import Instruction
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
    """A stretch of both kernels between two marks of loops: `loop` is "" outside of all."""

    loop: str
    rows: tuple[Row, ...]


def compare(left: Region, right: Region) -> tuple[Part, ...]:
    """Both kernels, whole, in their order."""
    stretches = [list(_stretches(region)) for region in (left, right)]
    names = [[name for name, _ in side] for side in stretches]
    parts = []
    for one, other in _aligned(*names):
        a, b = [stretches[0][i] for i in one], [stretches[1][i] for i in other]
        if len(a) == len(b) == 1 and a[0][0] == b[0][0]:
            parts.append(Part(a[0][0], tuple(_rows(a[0][1], b[0][1]))))
        else:
            parts += [Part(name, tuple(_rows(code, ()))) for name, code in a]
            parts += [Part(name, tuple(_rows((), code))) for name, code in b]
    return tuple(parts)


def _stretches(region: Region) -> Iterator[tuple[str, tuple[Instruction, ...]]]:
    """Neighbouring instructions with the name of the innermost loop that they are in."""
    inside: dict[int, str] = {}
    for loop in region.loops:  # outer loops come first, inner ones overwrite
        inside.update({one.address: loop.name for one in loop.instructions})
    runs = [one for one in region.instructions if not one.never]
    for name, group in groupby(runs, key=lambda one: inside.get(one.address, "")):
        # A loop without a label is named by its address, which says nothing of the other kernel.
        yield ("a loop" if name.startswith("0x") else name), tuple(group)


def _rows(left: Sequence[Instruction], right: Sequence[Instruction]) -> Iterator[Row]:
    """Equal opcodes beside each other; between them, opcodes equal but for modifiers."""
    for one, other in _aligned([one.opcode for one in left], [one.opcode for one in right]):
        between = [left[i].base for i in one], [right[i].base for i in other]
        if len(one) == len(other) == 1 and left[one[0]].opcode == right[other[0]].opcode:
            yield Row(left[one[0]], right[other[0]])
            continue
        for a, b in _aligned(*between):
            if len(a) == len(b) == 1 and between[0][a[0]] == between[1][b[0]]:
                yield Row(left[one[a[0]]], right[other[b[0]]])
            else:
                yield from (Row(left[one[i]], None) for i in a)
                yield from (Row(None, right[other[i]]) for i in b)


def _aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Pairs of equal items, as ranges of one, and what lies between them on both sides."""
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            for i, j in zip(range(a, b), range(c, d), strict=True):
                yield range(i, i + 1), range(j, j + 1)
        else:
            yield range(a, b), range(c, d)


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
    return part.loop if part.loop.startswith("a ") else f"loop {part.loop}"


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
