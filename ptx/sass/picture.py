"""A loop drawn as SVG: when each instruction of one pass may start, and what waits for what.

Time runs to the right, in clocks by the stalls of the control codes, in bands of
:data:`BAND_CLOCKS`. Each instruction is a bar in the lane of its group, as long as its stall. Below
them is a lane for each scoreboard in use: a bar from the instruction that will release it to the
first that waits for it, in the next pass where it is further up. It is what ptxas planned, without
the waits that only the running loop shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from ptx.sass.banks import clocks_of
from ptx.sass.instruction import Instruction
from ptx.sass.opcodes import GROUPS, OTHER, group_of
from ptx.sass.region import Region
from ptx.scheduling import NONE

FILLS = {
    "FP32": "#4c9a5b", "FP64": "#2f7d6d", "FP16": "#7fb069", "tensor": "#1b7f3b",
    "integer": "#8d99ae", "special": "#b08968", "convert": "#a8a29e", "move": "#b8c0cc",
    "uniform": "#cbd2dc", "global": "#2a9dc4", "shared": "#3f6fd1", "local": "#d1495b",
    "constant": "#9d8ec7", "bulk copy": "#157a9e", "synchronise": "#b5509c", "branch": "#e0a100",
    OTHER: "#777777",
}  # fmt: skip
"""The colour of a group's bars."""

BAND_CLOCKS = 96
CLOCK, LANE, LEFT, GAP, FONT = 10, 15, 92, 26, 11
"""Pixels: of a clock, of a lane, before the first clock, between bands, of text."""


@dataclass(frozen=True)
class Bar:
    """From one clock to another in a lane."""

    lane: str
    start: int
    end: int
    style: str
    title: str


def svg(loop: Region) -> str:
    """One pass of the loop."""
    starts = _starts(loop.instructions)
    end = starts[-1]
    bars = [*_inner(loop, starts), *_issued(loop, starts), *_scoreboards(loop, starts)]
    lanes = _lanes(bars)
    bands = range(0, end, BAND_CLOCKS)
    band_height = len(lanes) * LANE + GAP
    width = LEFT + min(end, BAND_CLOCKS) * CLOCK + 12
    height = len(bands) * band_height + 6
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="monospace" font-size="{FONT}" role="img">'
    )
    parts = [
        opening,
        f"<title>{escape(f'loop {loop.name}, {end} clocks by its stalls')}</title>",
    ]
    for index, first in enumerate(bands):
        parts += _band(bars, lanes, first, min(end, first + BAND_CLOCKS), index * band_height)
    return "\n".join([*parts, "</svg>"])


def _starts(instructions: Iterable[Instruction]) -> list[int]:
    """The clock at which each may start, and behind them that of the end."""
    starts = [0]
    for one in instructions:
        starts.append(starts[-1] + max(1, one.control.stall))
    return starts


def _issued(loop: Region, starts: list[int]) -> Iterator[Bar]:
    clocks = clocks_of(loop.instructions)
    for one, cost, start, end in zip(loop.instructions, clocks, starts, starts[1:], strict=False):
        style = f'fill="{FILLS[group_of(one.opcode)]}"'
        if one.never:
            style = 'fill="none" stroke="#999" stroke-dasharray="1 1"'
        elif cost > 1:
            style += ' stroke="#c1121f" stroke-width="2"'
        elif one.predicated:
            style += ' stroke="#222" stroke-dasharray="2 1.5"'
        extra = f", {cost - 1} clocks of register-bank conflict" if cost > 1 else ""
        where = f"\n{one.place}  {one.ptx}" if one.place else ""
        title = f"clock {start}: 0x{one.address:04x} {one}\n{one.control}{extra}{where}"
        yield Bar(group_of(one.opcode), start, end, style, title)


def _inner(loop: Region, starts: list[int]) -> Iterator[Bar]:
    at = {one.address: index for index, one in enumerate(loop.instructions)}
    for inner in loop.loops:
        indices = [at[one.address] for one in inner.instructions]
        style = 'fill="#f3e3b3" stroke="#e0a100"'
        title = f"loop {inner.name}"
        yield Bar("loops", starts[indices[0]], starts[indices[-1] + 1], style, title)


def _scoreboards(loop: Region, starts: list[int]) -> Iterator[Bar]:
    """From each instruction that takes a scoreboard to the first that waits for it."""
    code, end = loop.instructions, starts[-1]
    for index, one in enumerate(code):
        for number, what in ((one.control.write, "result"), (one.control.read, "operands")):
            if number == NONE:
                continue
            lane, mask = f"SB{number}", 1 << number
            order = [*range(index + 1, len(code)), *range(index + 1)]
            waiter = next((i for i in order if code[i].control.wait & mask), None)
            if waiter is None:
                continue  # what waits is outside of the loop
            title = f"scoreboard {number}, {what} of\n0x{one.address:04x} {one}\nwaited for by\n"
            title += f"0x{code[waiter].address:04x} {code[waiter]}"
            style = 'fill="#c98a3d" fill-opacity="0.35"'
            if waiter > index:
                yield Bar(lane, starts[index], starts[waiter], style, title)
            else:
                yield Bar(lane, starts[index], end, style, title)
                yield Bar(lane, 0, starts[waiter], style, title)


def _lanes(bars: Iterable[Bar]) -> list[str]:
    used = {bar.lane for bar in bars}
    known = ["loops", *GROUPS, OTHER, *(f"SB{number}" for number in range(6))]
    return [lane for lane in known if lane in used]


def _band(bars: Iterable[Bar], lanes: list[str], first: int, last: int, top: int) -> Iterator[str]:
    bottom = top + GAP - 8 + len(lanes) * LANE
    for clock in range(first, last + 1, 8):
        x = LEFT + (clock - first) * CLOCK
        yield f'<path d="M{x} {top + GAP - 10}V{bottom}" stroke="#ddd"/>'
        yield f'<text x="{x}" y="{top + GAP - 13}" fill="#777" text-anchor="middle">{clock}</text>'
    where = {lane: top + GAP - 8 + index * LANE for index, lane in enumerate(lanes)}
    for lane, y in where.items():
        yield f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">{lane}</text>'
    for bar in bars:
        start, end = max(bar.start, first), min(bar.end, last)
        if start < end:
            x, wide = LEFT + (start - first) * CLOCK, (end - start) * CLOCK - 1
            yield (
                f'<rect x="{x}" y="{where[bar.lane] + 1}" width="{wide}" height="{LANE - 3}" '
                f"{bar.style}><title>{escape(bar.title)}</title></rect>"
            )
