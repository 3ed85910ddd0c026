"""Data races in shared memory: two threads at one place, one of them writing, nothing between.

Each granule of shared memory (as long as the kernel's narrowest access) remembers its last plain
write and, for each warp, its last plain read: whose, and at which time of its warp
(:mod:`ptx.emu.clocks`). Most accesses are settled by one comparison: what happened before the last
time when everyone met is ordered. Strong accesses are looked at against these and remembered apart
(:mod:`ptx.emu.strong_races`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx import types
from ptx.emu.barriers import place_of
from ptx.emu.clocks import Clocks
from ptx.emu.dependencies import Dependencies
from ptx.emu.faults import AccessError
from ptx.emu.global_races import GlobalRaces, History
from ptx.emu.memory import GLOBAL_BASE, Array, Region
from ptx.emu.ordering import Order, Ordering
from ptx.emu.program import Program
from ptx.emu.strong_races import StrongRaces
from ptx.emu.traces import Traces

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk


def granule_of(program: Program) -> int:
    """The bytes of the kernel's narrowest plain access that may be to shared memory."""
    return narrowest(program, {"global", "param", "const", "local"})


def narrowest(program: Program, elsewhere: set[str]) -> int:
    """The bytes of the narrowest access, at most 16, that names none of some spaces."""
    found = 16
    for decoded in program.code:
        words = decoded.words
        if words.opcode == "mbarrier":
            found = min(found, 8)
        if words.opcode not in ("ld", "ldu", "st", "cp", "atom", "red", "wmma"):
            continue
        spaces = {word.partition("::")[0] for word in words.set}
        if words.opcode != "cp" and not elsewhere.isdisjoint(spaces):
            continue
        if words.opcode == "cp":
            found = min(found, 4)
        elif "bulk" in words:
            found = min(found, 8)
        elif words.types:
            found = min(found, types.bits(words.type) // 8)
    return max(1, found)


class Races:
    """The watch over the memory of a chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.granule = granule_of(chunk.program)
        size = chunk.shared.size // self.granule
        padded = max(32, -(-size // 32) * 32)
        self.clocks = Clocks(chunk)
        self.write_time: Array = np.zeros(padded, np.int32)
        self.write_by = np.zeros(padded, np.int64)
        """Thread, and the instruction in the upper half."""
        self.read_time = np.zeros(padded, np.int32)
        self.read_by = np.zeros(padded, np.int64)
        self.read_times = np.zeros((self.clocks.warps, padded), np.int32)
        self._size = padded
        history: History = chunk.launch.history
        self.traces = Traces(chunk, self.clocks)
        self.strong = StrongRaces(self.traces, self.granule, history.granule, history.strong)
        self.ordering = Ordering(chunk, self.clocks, history.places)
        early = chunk.launch.early
        self.dependencies = (
            Dependencies(chunk, self.clocks, early, far=self.ordering.needed) if early else None
        )
        self.memory = GlobalRaces(history, self.traces, self.strong, self.dependencies)
        self.reset()

    def reset(self) -> None:
        """Nothing has happened."""
        for part in (self.clocks, self.traces, self.strong, self.ordering, self.dependencies):
            if part is not None:
                part.reset()
        for table in (self.write_time, self.read_time, self.read_times):
            table[...] = 0

    def watched(self, region: Region) -> bool:
        """Whether several threads may get to a region."""
        return region is self.chunk.shared or region.base >= GLOBAL_BASE

    # ------------------------------------------------------------ accesses

    def index(self, offsets: Array, nbytes: int) -> tuple[Array, int]:
        """Granules of each access: ``(n, granules)`` indices."""
        count = nbytes // self.granule
        first = offsets // self.granule
        if count == 1:
            return first[:, None], 1
        return first[:, None] + np.arange(count), count

    def _recent(self, table: Array, offsets: Array, nbytes: int, lanes: Array) -> Array | None:
        """Which granules of an access were touched after everyone last met; None where none was."""
        count = nbytes // self.granule
        if count in (1, 2, 4):
            kind = {1: "i4", 2: "u8", 4: "V16"}[count]
            times = table.view(kind).take(offsets // nbytes).view(np.int32).reshape(-1, count)
        else:
            times = table[self.index(offsets, nbytes)[0]]
        clocks = self.clocks
        if clocks.uniform >= 0:
            recent: Array = times > clocks.uniform
        else:
            recent = times > clocks.everyone_met[clocks.domain_of[lanes]][:, None]
        return recent if recent.any() else None

    def read(
        self, offsets: Array, nbytes: int, lanes: Array, at: int, order: Order | None = None
    ) -> None:
        """Threads read; raises :class:`AccessError` where another's write is not ordered before.

        `order` is that of a strong access.
        """
        recent = self._recent(self.write_time, offsets, nbytes, lanes)
        if recent is not None:
            self._check(recent, offsets, nbytes, lanes, "reads")
        if order is not None:
            self.strong.read(self.chunk.shared, offsets, nbytes, lanes, at, order)
            return
        if self.strong.shared is not None:
            self.strong.weak(self.chunk.shared, offsets, nbytes, lanes, writes=False)
        time = self.clocks.now(lanes)
        self._mark(self.read_time, offsets, nbytes, time)
        self._mark(self.read_by, offsets, nbytes, lanes | (at << 32))
        plane = self.read_times.reshape(-1)
        bytes_of_plane = self._size * self.granule
        self._mark(plane, offsets + self.clocks.warp_of[lanes] * bytes_of_plane, nbytes, time)

    def write(
        self,
        offsets: Array,
        nbytes: int,
        lanes: Array,
        at: int,
        order: Order | None = None,
        mark: bool = True,
    ) -> None:
        """Threads write, or exchange what is there; no other's access may be unordered."""
        recent = self._recent(self.write_time, offsets, nbytes, lanes)
        if recent is not None:
            self._check(recent, offsets, nbytes, lanes, "writes")
        recent = self._recent(self.read_time, offsets, nbytes, lanes)
        if recent is not None:
            self._check_reads(recent, offsets, nbytes, lanes)
        if order is not None:
            self.strong.write(self.chunk.shared, offsets, nbytes, lanes, at, order)
            return
        if self.strong.shared is not None:
            self.strong.weak(self.chunk.shared, offsets, nbytes, lanes, writes=True)
        if mark:
            self.written(offsets, nbytes, lanes, at)

    def written(self, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        self._mark(self.write_time, offsets, nbytes, self.clocks.now(lanes))
        self._mark(self.write_by, offsets, nbytes, lanes | (at << 32))

    def forget(self, offsets: Array, nbytes: int) -> None:
        """What was written there is known to all that may come to it."""
        self.write_time[self.index(offsets, nbytes)[0]] = 0

    def _mark(self, table: Array, offsets: Array, nbytes: int, value: Array) -> None:
        count = nbytes // self.granule
        if count == 1:
            table[offsets // nbytes] = value
            return
        wide = count * table.itemsize
        if count in (2, 4, 8):
            rows = np.repeat(value.astype(table.dtype), count).view(f"V{wide}")
            table.view(f"V{wide}")[offsets // nbytes] = rows
        else:
            table[self.index(offsets, nbytes)[0]] = value[:, None]

    # ------------------------------------------------------------ judgement

    def _check(self, recent: Array, offsets: Array, nbytes: int, lanes: Array, verb: str) -> None:
        """Whether the last writes are ordered before what these threads do."""
        rows, columns = recent.nonzero()
        index = offsets[rows] // self.granule + columns
        other = self.write_by[index] & 0xFFFFFFFF
        me = lanes[rows]
        clocks = self.clocks
        known = clocks.known[clocks.domain_of[me], clocks.warp_of[me], clocks.warp_of[other]]
        bad = (other != me) & (known < self.write_time[index])
        if bad.any():
            where = int(np.argmax(bad))
            self._report(int(rows[where]), int(me[where]), int(self.write_by[index[where]]), verb,
                         "wrote", int(offsets[rows[where]]), nbytes)  # fmt: skip

    def _check_reads(self, recent: Array, offsets: Array, nbytes: int, lanes: Array) -> None:
        """Whether every warp's last reads are ordered before these writes."""
        rows, columns = recent.nonzero()
        index = offsets[rows] // self.granule + columns
        me = lanes[rows]
        clocks = self.clocks
        mine = clocks.warp_of[me]
        known = clocks.known[clocks.domain_of[me], mine]
        late = self.read_times[:, index].T > known
        last = self.read_by[index] & 0xFFFFFFFF
        # Of the own warp only the last reader is known, and it may be the thread itself.
        own = np.arange(len(me))
        late[own, mine] &= last != me
        bad = late.any(axis=1)
        if bad.any():
            where = int(np.argmax(bad))
            reader = int(self.read_by[index[where]])
            warp = int(np.argmax(late[where]))
            known_reader = bool(clocks.warp_of[reader & 0xFFFFFFFF] == warp)
            if not known_reader:
                # Of the other warps' reads only the times are kept.
                domain = clocks.domain_of == clocks.domain_of[me[where]]
                first = int(np.argmax(domain & (clocks.warp_of == warp)))
                reader = first | reader >> 32 << 32
            self._report(int(rows[where]), int(me[where]), reader, "writes", "read",
                         int(offsets[rows[where]]), nbytes, known_reader)  # fmt: skip

    def _report(
        self, position: int, me: int, by: int, verb: str, did: str, offset: int, nbytes: int,
        exact: bool = True,
    ) -> None:  # fmt: skip
        """`by` is the other thread and its instruction; unless it is `exact`, a thread of its warp
        and the instruction that read there last.
        """
        chunk = self.chunk
        other, at = by & 0xFFFFFFFF, by >> 32
        who, what = chunk.describe(other), "the other access"
        if not exact:
            who, what = f"a thread of the warp of {who}", "the last read there"
        raise AccessError(
            "race",
            f"this thread {verb} {nbytes} bytes that {who} {did}, with no "
            f"synchronisation between\n  {what}: {place_of(chunk.program.code[at])}",
            lane=me,
            position=position,
            address=offset % chunk.shared_stride,
            allocation="in shared memory",
        )

    def left(self, cta: int, lane: int) -> None:
        """A CTA of a cluster exits; raises :class:`AccessError` where a peer's access to its shared
        memory is not ordered before.
        """
        chunk, clocks = self.chunk, self.clocks
        stride = chunk.shared_stride // self.granule
        own = slice(cta * stride, (cta + 1) * stride)
        mine = np.unique(clocks.warp_of[chunk.cta_of == cta])
        known = clocks.known[int(clocks.domain_of[lane]), mine].max(axis=0)
        by = self.write_by[own]
        writer = by & 0xFFFFFFFF
        late = (self.write_time[own] > known[clocks.warp_of[writer]]) & (
            chunk.cta_of[writer] != cta
        )
        did = "wrote"
        if not late.any():
            by = self.read_by[own]
            reader = by & 0xFFFFFFFF
            late = self.read_time[own] > known[clocks.warp_of[reader]]
            late &= chunk.cta_of[reader] != cta
            did = "read"
        if late.any():
            where = int(np.argmax(late))
            other, at = int(by[where]) & 0xFFFFFFFF, int(by[where]) >> 32
            raise AccessError(
                "race",
                f"the CTA exits with no synchronisation after {chunk.describe(other)} of its "
                f"cluster {did} its shared memory\n"
                f"  the other access: {place_of(chunk.program.code[at])}",
                lane=lane,
                address=where * self.granule,
                allocation="in shared memory",
            )
