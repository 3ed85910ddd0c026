"""Races of strong accesses: volatile, relaxed, acquire, release, and atomics.

Two strong accesses whose scopes reach each other's thread never race. A strong access and a plain
one do, where nothing orders them (PTX ISA 9.0, section 8.7.1): the strong one may see half of the
plain write, or never see it. Each granule remembers its last strong write and its last strong read.

A strong write comes before what follows a strong read that saw it, in the reading thread and those
that it is ordered before (section 8.9.5), whatever else is not: so a flag may be reset by a plain
store in the thread that has waited for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptx.emu.memory import Array, Region
from ptx.emu.ordering import CLUSTER, CTA, DEVICE, Order, access_order
from ptx.emu.program import Decoded
from ptx.emu.traces import Traces, cta_of, granules, instruction_of

_MANY = -1
_REACH = {CTA: "cta", CLUSTER: "cluster"}


@dataclass(frozen=True)
class Tables:
    """Words of strong accesses to one region, by granule."""

    write: Array
    read: Array
    seen: Array
    """Who has read since the last write: a word, or _MANY for several threads."""

    @staticmethod
    def of(size: int) -> Tables:
        write, read, seen = np.zeros((3, size), np.int64)
        return Tables(write, read, seen)


def scopes_of(code: Sequence[Decoded]) -> Array:
    """Of each instruction the scope of its access; the device's where it has none."""
    orders = [access_order(decoded.words) for decoded in code]
    return np.array([DEVICE if order is None else order.scope for order in orders])


class StrongRaces:
    """The watch of a chunk over its strong accesses."""

    def __init__(
        self, traces: Traces, shared_granule: int, granule: int, launch: dict[int, Tables]
    ) -> None:
        self.traces = traces
        self.granules = {True: shared_granule, False: granule}
        self.launch = launch
        self.shared: Tables | None = None
        self.scopes = scopes_of(traces.chunk.program.code)
        """Of each instruction."""
        self.narrow = bool((self.scopes < DEVICE).any())

    def reset(self) -> None:
        """Shared memory is as no strong access has touched it."""
        self.shared = None

    def _tables(self, region: Region) -> tuple[Tables, int]:
        """Those of a region, and the bytes of a granule."""
        shared = region is self.traces.chunk.shared
        granule = self.granules[shared]
        if shared:
            if self.shared is None:
                self.shared = Tables.of(max(1, len(region.data) // granule))
            return self.shared, granule
        if region.base not in self.launch:
            self.launch[region.base] = Tables.of(max(1, len(region.data) // granule))
        return self.launch[region.base], granule

    # ------------------------------------------------------------ plain accesses

    def weak(
        self, region: Region, offsets: Array, nbytes: int, lanes: Array, *, writes: bool
    ) -> None:
        """Threads make plain accesses; raises :class:`AccessError` where they race."""
        tables, granule = self._tables(region)
        index = granules(offsets, nbytes, granule)
        verb = "writes" if writes else "reads"
        self._check(tables.write, index, region, offsets, nbytes, lanes, verb, "wrote", tables.seen)
        if writes:
            self._check(tables.read, index, region, offsets, nbytes, lanes, verb, "read")

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
        seen: Array | None = None,
    ) -> None:
        words = table[index]
        other = self.traces.by_others(words, lanes)
        if not other.any():
            return
        rows, columns = other.nonzero()
        found, me = words[rows, columns], lanes[rows]
        bad = ~self.traces.ordered(found, me)
        if seen is not None and bad.any():
            readers = seen[index[rows, columns]]
            mine = ~self.traces.by_others(readers[:, None], me)[:, 0] & (readers != 0)
            bad &= ~(mine | (readers == _MANY))
            bad &= ~((readers > 0) & self.traces.ordered(readers, me))
        self._refuse(bad, rows, found, region, offsets, nbytes, lanes, verb, did)

    def _refuse(
        self, bad: Array, rows: Array, found: Array, region: Region, offsets: Array, nbytes: int,
        lanes: Array, verb: str, did: str, why: str = "with no synchronisation between",
    ) -> None:  # fmt: skip
        if bad.any():
            where = int(np.argmax(bad))
            row = int(rows[where])
            raise self.traces.race(
                int(found[where]), int(lanes[row]), row, verb, did, region, int(offsets[row]),
                nbytes, why,
            )  # fmt: skip

    # ------------------------------------------------------------ strong accesses

    def read(
        self, region: Region, offsets: Array, nbytes: int, lanes: Array, at: int, order: Order
    ) -> None:
        """Threads read strongly; plain writes have been looked at."""
        tables, granule = self._tables(region)
        index = granules(offsets, nbytes, granule)
        if self.narrow:
            self._reach(tables.write, index, region, offsets, nbytes, lanes, order, "reads",
                        "wrote")  # fmt: skip
        words = np.broadcast_to(self.traces.of(lanes, at)[:, None], index.shape)
        tables.read[index] = words
        before = tables.seen[index]
        seen = np.where(self.traces.same_thread(before, words), before, _MANY)
        seen[before == 0] = words[before == 0]
        tables.seen[index] = seen
        # Of several threads of one instruction the last has been put down.
        tables.seen[index[tables.seen[index] != seen]] = _MANY

    def write(
        self, region: Region, offsets: Array, nbytes: int, lanes: Array, at: int, order: Order
    ) -> None:
        """Threads write strongly, or exchange what is there."""
        tables, granule = self._tables(region)
        index = granules(offsets, nbytes, granule)
        if self.narrow:
            for table, did in ((tables.write, "wrote"), (tables.read, "read")):
                self._reach(table, index, region, offsets, nbytes, lanes, order, "writes", did)
        tables.write[index] = self.traces.of(lanes, at)[:, None]
        tables.seen[index] = 0
        if self.narrow:
            # Of several threads of one instruction the last has been put down.
            self._reach(tables.write, index, region, offsets, nbytes, lanes, order, "writes",
                        "wrote")  # fmt: skip

    def _reach(
        self, table: Array, index: Array, region: Region, offsets: Array, nbytes: int, lanes: Array,
        order: Order, verb: str, did: str,
    ) -> None:  # fmt: skip
        """Scopes that do not reach the other thread make a race of two strong accesses."""
        words = table[index]
        other = self.traces.by_others(words, lanes)
        if not other.any():
            return
        rows, columns = other.nonzero()
        found, me = words[rows, columns], lanes[rows]
        scope = np.minimum(self.scopes[instruction_of(found)], order.scope)
        bad = (scope < self._distance(cta_of(found), me)) & ~self.traces.ordered(found, me)
        if bad.any():
            reach = _REACH[int(scope[np.argmax(bad)])]
            why = f"and the scope .{reach} does not reach from one to the other"
            self._refuse(bad, rows, found, region, offsets, nbytes, lanes, verb, did, why)

    def _distance(self, cta: Array, lanes: Array) -> Array:
        """The scope that it takes from CTAs of the grid to each thread."""
        chunk = self.traces.chunk
        size = chunk.launch.cluster_size
        mine = chunk.cta_of[lanes]
        cluster = chunk.ctas.reshape(-1, size)[mine // size]
        near = (cluster == cta[:, None]).any(axis=1)
        distance: Array = np.where(chunk.ctas[mine] == cta, CTA, np.where(near, CLUSTER, DEVICE))
        return distance
