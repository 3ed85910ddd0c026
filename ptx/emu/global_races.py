"""Data races in global memory, between the threads of a CTA and between CTAs of a launch.

Each granule of an allocation (as long as the kernel's narrowest access to global memory) remembers
the last plain write and the last plain read: CTA, thread, time of its warp, instruction. Within a
cluster, two accesses are ordered as the search in shared memory knows it (:mod:`ptx.emu.races`).
CTAs of different clusters are ordered by atomics and by volatile, relaxed and acquire/release
accesses alone: what a CTA's warps had done and knew of at one comes before all that another CTA
does after its own. The search may miss a race there, and where an earlier reader was followed by
another; it invents none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array, Region

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk
    from ptx.emu.machine import Launch
    from ptx.emu.program import Program
    from ptx.emu.races import Races

_AT_BITS, _TIME_BITS, _THREAD_BITS = 14, 18, 10
_TIME = _AT_BITS
_THREAD = _TIME + _TIME_BITS
_CTA = _THREAD + _THREAD_BITS
"""Where each part of a word of the tables begins; the CTA is counted from 1."""
MOST_CTAS = 1 << (63 - _CTA)


class History:
    """What one launch has done to global memory."""

    def __init__(self, launch: Launch, granule: int) -> None:
        self.launch = launch
        self.granule = granule
        self.tables: dict[int, tuple[Array, Array]] = {}
        self.written: set[int] = set()
        """Allocations that a plain access wrote to."""
        self.tick = 0
        self.acquired: dict[int, int] = {}
        """The tick of the last synchronising access of each CTA."""
        self.released: dict[int, list[tuple[int, Array]]] = {}
        """For each CTA the ticks of those, and what its warps had done then."""

    def table(self, region: Region) -> tuple[Array, Array]:
        """Last writes and last reads."""
        key = region.base
        if key not in self.tables:
            size = len(region.data) // self.granule
            self.tables[key] = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return self.tables[key]

    def synchronise(self, cta: int, times: Array) -> None:
        """A CTA makes a synchronising access; `times` is what its warps have done."""
        self.tick += 1
        entries = self.released.setdefault(cta, [])
        if entries and self.acquired.get(cta) == self.tick - 1:
            entries.pop()
        entries.append((self.tick, times))
        self.acquired[cta] = self.tick

    def ordered(self, cta: int, warp: int, time: int, me: int) -> bool:
        """Whether what a warp of one CTA did at a time comes before what another does now."""
        latest = self.acquired.get(me, 0)
        return any(
            tick <= latest and times[warp] >= time for tick, times in self.released.get(cta, ())
        )


def granule_of(program: Program) -> int:
    """The bytes of the narrowest access that may be to global memory, 1 to 16."""
    from ptx.emu.races import narrowest

    return narrowest(program, {"shared", "param", "const", "local"})


class GlobalRaces:
    """The watch of a chunk over global memory."""

    def __init__(self, chunk: Chunk, races: Races, history: History) -> None:
        self.chunk = chunk
        self.races = races
        self.history = history
        self.reset()

    def reset(self) -> None:
        """Other CTAs run."""
        chunk = self.chunk
        self.ctas = chunk.ctas.astype(np.int64)
        mine = (self.ctas[chunk.cta_of] + 1) << _THREAD_BITS | chunk.thread
        self.mine: Array = mine << _THREAD

    def _words(self, lanes: Array, at: int) -> Array:
        races = self.races
        time = races.time[races.domain_of[lanes], races.warp_of[lanes]].astype(np.int64)
        words: Array = self.mine[lanes] | time << _TIME | at
        # A time that does not fit leaves no trace.
        return np.where(time < (1 << _TIME_BITS), words, 0) if int(time.max()) >> 17 else words

    def _granules(self, offsets: Array, nbytes: int) -> Array:
        count = nbytes // self.history.granule
        first = offsets // self.history.granule
        return first[:, None] if count <= 1 else first[:, None] + np.arange(count)

    def read(self, region: Region, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        """Threads read; raises :class:`AccessError`."""
        if region.read_only:
            return
        writes, reads = self.history.table(region)
        index = self._granules(offsets, nbytes)
        if region.base in self.history.written:
            self._check(writes, index, region, offsets, nbytes, lanes, "reads", "wrote")
        reads[index] = self._words(lanes, at)[:, None]

    def write(self, region: Region, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        """Threads write."""
        if region.read_only:
            return
        writes, reads = self.history.table(region)
        index = self._granules(offsets, nbytes)
        self._check(writes, index, region, offsets, nbytes, lanes, "writes", "wrote")
        self._check(reads, index, region, offsets, nbytes, lanes, "writes", "read")
        self.history.written.add(region.base)
        writes[index] = self._words(lanes, at)[:, None]

    def _check(
        self,
        table: Array,
        index: Array,
        region: Region,
        offsets: Array,
        nbytes: int,
        lanes: Array,
        verb: str,
        did: str,
    ) -> None:
        words = table[index]
        other = (words != 0) & (words >> _THREAD != (self.mine[lanes] >> _THREAD)[:, None])
        if not other.any():
            return
        rows, columns = other.nonzero()
        found = words[rows, columns]
        me = lanes[rows]
        cta = (found >> _CTA) - 1
        time = found >> _TIME & ((1 << _TIME_BITS) - 1)
        warp = (found >> _THREAD & ((1 << _THREAD_BITS) - 1)) // 32
        bad = self._unordered(cta, warp, time, me)
        if bad.any():
            where = int(np.argmax(bad))
            row = int(rows[where])
            self._report(
                row, int(me[where]), int(found[where]), verb, did, region, int(offsets[row]), nbytes
            )

    def _unordered(self, cta: Array, warp: Array, time: Array, me: Array) -> Array:
        """Which accesses of other threads are not ordered before what these do."""
        chunk, races = self.chunk, self.races
        size = chunk.launch.cluster_size
        here = np.argsort(self.ctas)
        place = np.searchsorted(self.ctas, cta, sorter=here)
        at = here[np.minimum(place, len(here) - 1)]
        near = (self.ctas[at] == cta) & (at // size == chunk.cta_of[me] // size)
        per_cta = races.warps // size
        peer = at % size * per_cta + warp
        known = races.known[races.domain_of[me], races.warp_of[me], np.where(near, peer, 0)]
        bad: Array = np.where(near, known < time, False)
        for number in np.flatnonzero(~near).tolist():
            mine = int(self.ctas[chunk.cta_of[me[number]]])
            bad[number] = not self.history.ordered(
                int(cta[number]), int(warp[number]), int(time[number]), mine
            )
            if bad[number]:
                break
        return bad

    def synchronise(self, lanes: Array) -> None:
        """Threads make a synchronising access."""
        chunk, races = self.chunk, self.races
        size = chunk.launch.cluster_size
        per_cta = races.warps // size
        for cta in np.unique(chunk.cta_of[lanes]).tolist():
            some = lanes[chunk.cta_of[lanes] == cta]
            domain, first = cta // size, cta % size * per_cta
            warps = np.unique(races.warp_of[some])
            times = races.known[domain, warps].max(axis=0)
            times[warps] = np.maximum(times[warps], races.time[domain, warps])
            own = times[first : first + per_cta].copy()
            self.history.synchronise(int(self.ctas[cta]), own)

    def _report(
        self,
        position: int,
        me: int,
        word: int,
        verb: str,
        did: str,
        region: Region,
        offset: int,
        nbytes: int,
    ) -> None:
        chunk = self.chunk
        x, y, _ = chunk.launch.grid
        cta, thread = (word >> _CTA) - 1, word >> _THREAD & ((1 << _THREAD_BITS) - 1)
        bx, by, _ = chunk.launch.block
        who = (
            f"CTA {(cta % x, cta // x % y, cta // (x * y))} "
            f"thread {(thread % bx, thread // bx % by, thread // (bx * by))}"
        )
        decoded = chunk.program.code[word & ((1 << _AT_BITS) - 1)]
        raise AccessError(
            "race",
            f"this thread {verb} {nbytes} bytes that {who} {did}, with no synchronisation between\n"
            f"  the other access: {place_of(decoded)}",
            lane=me,
            position=position,
            address=region.base + offset,
            allocation=f"in {region}",
        )
