"""Data races in shared memory: two threads at one place, one of them writing, nothing between.

Happens-before is followed by vector clocks, one clock for each warp (FastTrack, Flanagan and Freund
2009, on whole arrays). A warp's clock advances when it releases: at barriers, at arrivals, at
atomics. ``known[w, v]`` is the latest time of warp v that warp w has acquired. An access of warp v
at time t is ordered before what warp w does now if ``known[w, v] >= t``.

Each granule of shared memory (as long as the kernel's narrowest access) remembers its last write
and, for each warp, its last read. Most accesses are settled by one comparison: what happened before
the last time when everyone met is ordered.

Threads of one warp are ordered by a warp or CTA barrier only. Atomics, and volatile, relaxed and
acquire/release accesses, are never racing and order everything before them with everything after
those that follow: the check may miss a race there, it invents none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptx import types
from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.global_races import GlobalRaces
from ptx.emu.memory import Array
from ptx.emu.program import Decoded, Program

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_ORDERED = frozenset("volatile relaxed acquire release acq_rel mmio".split())


def is_synchronising(decoded: Decoded) -> bool:
    """Whether an access is atomic or strong, so that it orders and never races."""
    return decoded.words.opcode in ("atom", "red") or not _ORDERED.isdisjoint(decoded.words.set)


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
    """The watch over the shared memory of a chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.granule = granule_of(chunk.program)
        size = chunk.shared.size // self.granule
        padded = max(32, -(-size // 32) * 32)
        self.domains = len(chunk.ctas) // chunk.launch.cluster_size
        self.warps = chunk.warp_count // max(1, self.domains)
        """Warps of a cluster: those that may share memory."""
        self.domain_of = chunk.cta_of // chunk.launch.cluster_size
        self.warp_of = chunk.warp_of % self.warps
        self.write_time: Array = np.zeros(padded, np.int32)
        self.write_by = np.zeros(padded, np.int64)
        """Thread, and the instruction in the upper half."""
        self.read_time = np.zeros(padded, np.int32)
        self.read_by = np.zeros(padded, np.int64)
        self.read_times = np.zeros((self.warps, padded), np.int32)
        self._size = padded
        history = chunk.launch.history
        self.memory = GlobalRaces(chunk, self, history) if history is not None else None
        self.reset()

    def reset(self) -> None:
        """Nothing has happened."""
        shape = (self.domains, self.warps)
        self.time = np.ones(shape, np.int32)
        self.known = np.zeros((*shape, self.warps), np.int32)
        self.everyone_met = np.zeros(self.domains, np.int32)
        self._uniform = 0
        self.flags = np.zeros(shape, np.int32)
        """What atomics have released, by domain."""
        self.pending: dict[Any, Array] = {}
        """What arrivals have released, by barrier."""
        if self.memory is not None:
            self.memory.reset()
        for table in (self.write_time, self.read_time, self.read_times):
            table[...] = 0

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
        met: Any = self._uniform
        if met < 0:
            met = self.everyone_met[self.domain_of[lanes]][:, None]
        recent: Array = times > met
        return recent if recent.any() else None

    def read(self, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        """Threads read; raises :class:`AccessError` where another's write is not ordered before."""
        recent = self._recent(self.write_time, offsets, nbytes, lanes)
        if recent is not None:
            self._check(recent, offsets, nbytes, lanes, self.write_time, self.write_by, "reads")
        domain, warp = self.domain_of[lanes], self.warp_of[lanes]
        time = self.time[domain, warp]
        self._mark(self.read_time, offsets, nbytes, time)
        self._mark(self.read_by, offsets, nbytes, lanes | (at << 32))
        plane = self.read_times.reshape(-1)
        bytes_of_plane = self._size * self.granule
        self._mark(plane, offsets + warp * bytes_of_plane, nbytes, time)

    def write(self, offsets: Array, nbytes: int, lanes: Array, at: int, mark: bool = True) -> None:
        """Threads write; no other's access may be unordered."""
        recent = self._recent(self.write_time, offsets, nbytes, lanes)
        if recent is not None:
            self._check(recent, offsets, nbytes, lanes, self.write_time, self.write_by, "writes")
        recent = self._recent(self.read_time, offsets, nbytes, lanes)
        if recent is not None:
            self._check_reads(recent, offsets, nbytes, lanes)
        if mark:
            self.written(offsets, nbytes, lanes, at)

    def written(self, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        time = self.time[self.domain_of[lanes], self.warp_of[lanes]]
        self._mark(self.write_time, offsets, nbytes, time)
        self._mark(self.write_by, offsets, nbytes, lanes | (at << 32))

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

    def _check(
        self,
        recent: Array,
        offsets: Array,
        nbytes: int,
        lanes: Array,
        times: Array,
        by: Array,
        verb: str,
    ) -> None:
        """Whether the last writes are ordered before what these threads do."""
        rows, columns = recent.nonzero()
        index = offsets[rows] // self.granule + columns
        other = by[index] & 0xFFFFFFFF
        me = lanes[rows]
        known = self.known[self.domain_of[me], self.warp_of[me], self.warp_of[other]]
        bad = (other != me) & (known < times[index])
        if bad.any():
            where = int(np.argmax(bad))
            self._report(int(rows[where]), int(me[where]), int(by[index[where]]), verb, "wrote",
                         int(offsets[rows[where]]), nbytes)  # fmt: skip

    def _check_reads(self, recent: Array, offsets: Array, nbytes: int, lanes: Array) -> None:
        """Whether every warp's last reads are ordered before these writes."""
        rows, columns = recent.nonzero()
        index = offsets[rows] // self.granule + columns
        me = lanes[rows]
        mine = self.warp_of[me]
        known = self.known[self.domain_of[me], mine]
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
            if self.warp_of[reader & 0xFFFFFFFF] != warp:
                domain = self.domain_of == self.domain_of[me[where]]
                first = int(np.argmax(domain & (self.warp_of == warp)))
                reader = first | reader >> 32 << 32
            self._report(int(rows[where]), int(me[where]), reader, "writes", "read",
                         int(offsets[rows[where]]), nbytes)  # fmt: skip

    def _report(
        self, position: int, me: int, by: int, verb: str, did: str, offset: int, nbytes: int
    ) -> None:
        chunk = self.chunk
        other, at = by & 0xFFFFFFFF, by >> 32
        raise AccessError(
            "race",
            f"this thread {verb} {nbytes} bytes that {chunk.describe(other)} {did}, with no "
            f"synchronisation between\n  the other access: {place_of(chunk.program.code[at])}",
            lane=me,
            position=position,
            address=offset % chunk.shared_stride,
            allocation="in shared memory",
        )

    def left(self, cta: int, lane: int) -> None:
        """A CTA of a cluster exits; raises :class:`AccessError` where a peer's access to its shared
        memory is not ordered before.
        """
        chunk = self.chunk
        stride = chunk.shared_stride // self.granule
        own = slice(cta * stride, (cta + 1) * stride)
        mine = np.unique(self.warp_of[chunk.cta_of == cta])
        known = self.known[int(self.domain_of[lane]), mine].max(axis=0)
        by = self.write_by[own]
        writer = by & 0xFFFFFFFF
        late = (self.write_time[own] > known[self.warp_of[writer]]) & (chunk.cta_of[writer] != cta)
        did = "wrote"
        if not late.any():
            by = self.read_by[own]
            reader = by & 0xFFFFFFFF
            late = self.read_time[own] > known[self.warp_of[reader]]
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

    # ------------------------------------------------------------ synchronisation

    def _refresh(self) -> None:
        self.everyone_met = self.known.min(axis=(1, 2))
        low, high = int(self.everyone_met.min()), int(self.everyone_met.max())
        self._uniform = low if low == high else -1

    def all_met(self) -> None:
        """Every warp of every CTA has passed a barrier of its CTA."""
        if self.chunk.launch.cluster_size > 1:
            everyone = np.flatnonzero(self.chunk.alive)
            for cta in range(len(self.chunk.ctas)):
                self.met(everyone[self.chunk.cta_of[everyone] == cta])
            return
        self.known[...] = self.time[:, None, :]
        self.time += 1
        self._refresh()

    def met(self, lanes: Array, key: Any = None) -> None:
        """Threads of one domain pass a barrier together; `key` names what arrivals released."""
        domain = int(self.domain_of[lanes[0]])
        warps = np.unique(self.warp_of[lanes])
        joined = self.known[domain, warps].max(axis=0)
        joined[warps] = self.time[domain, warps]
        released = self.pending.pop(key, None)
        if released is not None:
            joined = np.maximum(joined, released)
        self.known[domain, warps] = joined
        self.time[domain, warps] += 1
        self._refresh()

    def by_domain(self, lanes: Array) -> list[tuple[int, Array]]:
        """Threads by the cluster that they are of."""
        domains = self.domain_of[lanes]
        return [(int(domain), lanes[domains == domain]) for domain in np.unique(domains)]

    def warps_met(self, lanes: Array) -> None:
        """Threads pass a barrier of their warp."""
        domain, warp = self.domain_of[lanes], self.warp_of[lanes]
        self.known[domain, warp, warp] = self.time[domain, warp]
        pairs = np.unique(domain * self.warps + warp)
        self.time.reshape(-1)[pairs] += 1

    def warpgroups_met(self, lanes: Array) -> None:
        """What the first thread of each warpgroup has done is done for all of its warps."""
        domain, warp = self.domain_of[lanes], self.warp_of[lanes]
        within = self.chunk.thread[lanes] // 32 % 4
        self.known[domain, warp, warp - within] = self.time[domain, warp - within]
        leaders = np.unique(domain * self.warps + warp - within)
        self.time.reshape(-1)[leaders] += 1

    def release(self, lanes: Array, key: Any) -> None:
        """Threads of one domain arrive at what others wait for."""
        domain = int(self.domain_of[lanes[0]])
        warps = np.unique(self.warp_of[lanes])
        given = self.known[domain, warps].max(axis=0)
        given[warps] = self.time[domain, warps]
        before = self.pending.get(key)
        self.pending[key] = given if before is None else np.maximum(before, given)
        self.known[domain, warps, warps] = self.time[domain, warps]
        self.time[domain, warps] += 1

    def acquire(self, lanes: Array, key: Any) -> None:
        """Threads of one domain have waited for what was released at `key`."""
        released = self.pending.get(key)
        if released is None:
            return
        domain = int(self.domain_of[lanes[0]])
        warps = np.unique(self.warp_of[lanes])
        self.known[domain, warps] = np.maximum(self.known[domain, warps], released)
        self._refresh()

    def flag(self, lanes: Array) -> None:
        """Threads access a place atomically or strongly: they order with all who do."""
        if self.memory is not None:
            self.memory.synchronise(lanes)
        for domain in np.unique(self.domain_of[lanes]):
            some = lanes[self.domain_of[lanes] == domain]
            warps = np.unique(self.warp_of[some])
            given = np.maximum(self.flags[domain], self.known[domain, warps].max(axis=0))
            given[warps] = np.maximum(given[warps], self.time[domain, warps])
            self.flags[domain] = given
            self.known[domain, warps] = np.maximum(self.known[domain, warps], given)
            self.time[domain, warps] += 1
        self._refresh()
