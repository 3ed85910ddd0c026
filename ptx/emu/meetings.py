"""Where threads of a warp that parted meet again, and who goes on from there without the others.

An aligned instruction and one with a member mask hold the threads that come to them until the rest
of the warp, or of the mask, has come. Whoever goes on from the place where all paths from it join
has not executed it with them; in a loop it may still come to one that is not aligned. Threads that
exit are not waited for: a place where nothing is left but to return is where threads go that leave
early, and no meeting (PTX ISA 9.0, sections 9.7.12.6 and 9.7.13.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.dominance import ROOT, dominators, reverse_postorder
from ptx.emu.barriers import is_aligned, place_of
from ptx.emu.dataflow import successors
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array
from ptx.emu.semantics import WARP
from ptx.emu.steps import Lanes

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk
    from ptx.emu.program import Decoded, Program

_END = -2
"""What follows the last instruction that a thread executes."""


def holds(decoded: Decoded) -> bool:
    """Whether threads may wait there for others of their warp."""
    words = decoded.words
    if words.opcode in ("bar", "barrier"):
        return "warp" in words or ("cluster" not in words and is_aligned(words))
    return words.opcode in WARP and words.opcode not in ("activemask", "wgmma")


def _is_aligned(decoded: Decoded) -> bool:
    words = decoded.words
    return "aligned" in words or (words.opcode == "bar" and "warp" not in words)


def meeting_points(program: Program) -> dict[int, tuple[int, ...]]:
    """For each place where paths join, the instructions before it that hold threads."""
    holding = [decoded.at for decoded in program.code if holds(decoded)]
    if not holding:
        return {}
    graph = _Graph(program)
    found: dict[int, list[int]] = {}
    for at in holding:
        join = graph.join(at)
        if join is not None and (_is_aligned(program.code[at]) or not graph.leads(join, at)):
            found.setdefault(join, []).append(at)
    return {join: tuple(held) for join, held in found.items()}


class _Graph:
    """The basic blocks of a program, named by their first instructions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        code = program.code
        leaving = {d.at for d in code if successors(program, d.at) != [d.at + 1]}
        starts = {*program.leaders, *(at + 1 for at in leaving)}
        self.starts = sorted(at for at in starts if at < len(code))
        self.block_of = np.searchsorted(self.starts, np.arange(len(code)), side="right") - 1
        ends = [*self.starts[1:], len(code)]
        self.after = {
            start: successors(program, end - 1) or [_END]
            for start, end in zip(self.starts, ends, strict=True)
        }
        self.after[_END] = []
        entries = list(program.entry.values())
        order = reverse_postorder(self.after.__getitem__, entries)
        before: dict[int, list[int]] = {}
        for block in order:
            for other in self.after[block]:
                before.setdefault(other, []).append(block)
        self.dominator = dominators(order, lambda block: before.get(block, ()), entries)
        backward = reverse_postorder(lambda block: before.get(block, ()), [_END])
        self.postdominator = dominators(backward, self.after.__getitem__, [_END])

    def join(self, at: int) -> int | None:
        """The first place past an instruction that others reach too, on all ways from it."""
        program = self.program
        if program.code[at].instruction.guard is not None:
            return at + 1 if self._goes_on(at + 1) else None
        start = self.starts[int(self.block_of[at])]
        block = self.postdominator.get(start, ROOT)
        while block not in (ROOT, _END):
            if not self._dominates(start, block):
                return block if self._goes_on(block) else None
            block = self.postdominator.get(block, ROOT)
        return None

    def leads(self, start: int, to: int) -> bool:
        """Whether control may come from one instruction to another."""
        first, last = (self.starts[int(self.block_of[at])] for at in (start, to))
        if first == last and start <= to:
            return True
        reached = reverse_postorder(self.after.__getitem__, self.after[first])
        return last in reached

    def _goes_on(self, at: int) -> bool:
        """Whether there is more to do than to return."""
        decoded = self.program.code[at]
        return decoded.words.opcode not in ("ret", "exit") or decoded.instruction.guard is not None

    def _dominates(self, a: int, b: int) -> bool:
        while b not in (a, ROOT):
            b = self.dominator.get(b, ROOT)
        return a == b


class Watch:
    """The meeting points of a chunk's program while it runs."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.points = chunk.program.meeting_points

    def passed(self, join: int, lanes: Lanes) -> None:
        """Threads go on from a meeting point; raises :class:`AccessError` where others wait for
        them at an instruction that they will not come to.
        """
        for at in self.points[join]:
            self._passed_warp(at, join, lanes)
            self._passed_barrier(at, join, lanes)

    def _passed_warp(self, at: int, join: int, lanes: Lanes) -> None:
        waiting = self.chunk.warps.lanes.get(at)
        if waiting is None:
            return
        chunk = self.chunk
        who = chunk.everyone(lanes)
        named = np.zeros(chunk.warp_count, np.uint32)
        np.bitwise_or.at(named, chunk.warp_of[waiting], chunk.warps.masks[waiting])
        missed = who[named[chunk.warp_of[who]] >> chunk.lane_id[who] & 1 != 0]
        missed = missed[~np.isin(missed, waiting)]
        if len(missed):
            first = self._first_of(waiting, int(missed[0]))
            mask = int(chunk.warps.masks[first])
            self._refuse("mask", f"the member mask {mask:#010x} names", at, join, first, missed)

    def _passed_barrier(self, at: int, join: int, lanes: Lanes) -> None:
        barriers = self.chunk.barriers
        if at not in barriers.forms:
            return
        waiting = np.flatnonzero(barriers.waits_at == at)
        if not len(waiting):
            return
        chunk = self.chunk
        who = chunk.everyone(lanes)
        warps = np.zeros(chunk.warp_count, np.bool_)
        warps[chunk.warp_of[waiting]] = True
        missed = who[warps[chunk.warp_of[who]]]
        if len(missed):
            first = self._first_of(waiting, int(missed[0]))
            what = "threads of a warp wait at an aligned barrier for"
            self._refuse("divergent-barrier", what, at, join, first, missed)

    def _first_of(self, waiting: Array, other: int) -> int:
        """The first waiting thread in the warp of another."""
        warp = self.chunk.warp_of
        return int(waiting[np.argmax(warp[waiting] == warp[other])])

    def _refuse(self, kind: str, what: str, at: int, join: int, first: int, missed: Array) -> None:
        chunk = self.chunk
        chunk.at = at
        gone = f"{chunk.describe(int(missed[0]))} and {len(missed) - 1} more"
        if len(missed) == 1:
            gone = chunk.describe(int(missed[0]))
        raise AccessError(
            kind,
            f"{what} {gone} of the warp, which did not come here and went on to "
            f"{place_of(chunk.program.code[join])}",
            lane=first,
        )
