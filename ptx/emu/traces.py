"""Accesses packed into words of 64 bits: who made one, when, and by which instruction.

A word is 0 where there was no access. The CTA is counted from 1, by its number in the grid; the
time is that of the thread's warp (:mod:`ptx.emu.clocks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.clocks import Clocks
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array, Region

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_AT_BITS, _TIME_BITS, _THREAD_BITS = 14, 18, 10
_TIME = _AT_BITS
_THREAD = _TIME + _TIME_BITS
_CTA = _THREAD + _THREAD_BITS
"""Where each part of a word begins."""
MOST_CTAS = 1 << (63 - _CTA)


def _part(words: Array, start: int, bits: int) -> Array:
    part: Array = words >> start & ((1 << bits) - 1)
    return part


def instruction_of(words: Array) -> Array:
    """The number of each instruction in the program."""
    return _part(words, 0, _AT_BITS)


def cta_of(words: Array) -> Array:
    """The number of each CTA in the grid."""
    cta: Array = (words >> _CTA) - 1
    return cta


def thread_of(word: int, grid: tuple[int, int, int], block: tuple[int, int, int]) -> str:
    """The thread of a launch whose word it is, as it is named in faults."""
    x, y, _ = grid
    bx, by, _ = block
    cta, thread = (word >> _CTA) - 1, word >> _THREAD & ((1 << _THREAD_BITS) - 1)
    return (
        f"CTA {(cta % x, cta // x % y, cta // (x * y))} "
        f"thread {(thread % bx, thread // bx % by, thread // (bx * by))}"
    )


def granules(offsets: Array, nbytes: int, granule: int) -> Array:
    """Granules of each access: ``(n, granules)`` indices."""
    count = nbytes // granule
    first = offsets // granule
    return first[:, None] if count <= 1 else first[:, None] + np.arange(count)


class Traces:
    """The words of a chunk's threads, and whether others' accesses are ordered before them."""

    def __init__(self, chunk: Chunk, clocks: Clocks) -> None:
        self.chunk = chunk
        self.clocks = clocks
        self.reset()

    def reset(self) -> None:
        """Other CTAs run."""
        chunk = self.chunk
        cta = chunk.ctas.astype(np.int64)[chunk.cta_of] + 1
        self._mine: Array = (cta << _THREAD_BITS | chunk.thread) << _THREAD
        self._fits: bool = int(cta.max()) < MOST_CTAS

    def of(self, lanes: Array, at: int) -> Array:
        """The words of accesses that threads make now."""
        time = self.clocks.now(lanes).astype(np.int64)
        words: Array = self._mine[lanes] | time << _TIME | at
        # A time that does not fit leaves no trace, nor does a CTA beyond all that do.
        if not self._fits:
            return np.zeros_like(words)
        return np.where(time < (1 << _TIME_BITS), words, 0) if int(time.max()) >> 17 else words

    def by_others(self, words: Array, lanes: Array) -> Array:
        """Which of ``(n, ...)`` words are accesses of threads other than each of `lanes`."""
        others: Array = (words != 0) & (words >> _THREAD != (self._mine[lanes] >> _THREAD)[:, None])
        return others

    def by_one_of(self, words: Array, lanes: Array) -> Array:
        """Which words are accesses of one of some threads."""
        mine: Array = np.isin(words >> _THREAD, self._mine[lanes] >> _THREAD)
        return mine

    def ordered(self, words: Array, lanes: Array) -> Array:
        """Which accesses of other threads come before what each thread does now."""
        warp = _part(words, _THREAD, _THREAD_BITS) // 32
        return self.clocks.knows(lanes, cta_of(words), warp, _part(words, _TIME, _TIME_BITS))

    def same_thread(self, one: Array, other: Array) -> Array:
        same: Array = one >> _THREAD == other >> _THREAD
        return same

    def race(
        self, word: int, lane: int, position: int, verb: str, did: str, region: Region, offset: int,
        nbytes: int, why: str = "with no synchronisation between",
    ) -> AccessError:  # fmt: skip
        """The fault of a thread whose access meets that of a word."""
        chunk = self.chunk
        shared = region is chunk.shared
        return AccessError(
            "race",
            f"this thread {verb} {nbytes} bytes that "
            f"{thread_of(word, chunk.launch.grid, chunk.launch.block)} {did}, {why}\n"
            f"  the other access: {place_of(chunk.program.code[word & ((1 << _AT_BITS) - 1)])}",
            lane=lane,
            position=position,
            address=offset % chunk.shared_stride if shared else region.base + offset,
            allocation="in shared memory" if shared else f"in {region}",
        )
