"""Global memory between the two proxies: what stores have written and no fence has passed on, and
what bulk copies still write.

Bulk copies read and write global memory through the async proxy. What instructions wrote reaches
them through a fence.proxy.async, in the thread that wrote or in one that the write is ordered
before (PTX ISA 9.0, section 8.6). What a bulk copy writes is there for its thread when
``cp.async.bulk.wait_group`` without ``.read`` has waited for it, and for others after that in the
usual ways (section 9.7.9.25.4); until then it is in flight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array, Region
from ptx.emu.traces import Traces, granules, instruction_of

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk
    from ptx.emu.global_races import GlobalRaces


@dataclass
class Tables:
    """Of each granule of an allocation, for all CTAs of a launch."""

    stored: Array
    """The word of the last store (:mod:`ptx.emu.traces`) that no fence has passed on."""
    flying: Array
    """That of the bulk copy on its way to it."""


@dataclass
class Log:
    """What the launch has done to global memory through both proxies."""

    tables: dict[int, Tables] = field(default_factory=dict)
    """By the base of the allocation."""
    unfenced: list[tuple[int, Array, Array]] = field(default_factory=list)
    """Stores that no fence has passed on: allocation, granules, words."""
    flying: bool = False
    """Whether a bulk copy has ever written."""


@dataclass
class Sent:
    """A copy out of shared memory that has not been waited for."""

    base: int
    index: Array
    lane: int
    group: int
    word: int


class GlobalProxies:
    """The watch of a chunk over global memory that both proxies use."""

    def __init__(self, chunk: Chunk, log: Log, races: GlobalRaces) -> None:
        self.chunk, self.log, self.races = chunk, log, races
        self.traces: Traces = races.traces
        self.granule = races.history.granule
        self.reset()

    def reset(self) -> None:
        """Nothing has been sent."""
        self.sent: list[Sent] = []

    def _tables(self, region: Region) -> Tables:
        if region.base not in self.log.tables:
            stored, flying = np.zeros((2, len(region.data) // self.granule), np.int64)
            self.log.tables[region.base] = Tables(stored, flying)
        return self.log.tables[region.base]

    # ------------------------------------------------------------ the generic proxy

    def stored(self, region: Region, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        """Threads have stored, or exchanged what is there."""
        index = granules(offsets, nbytes, self.granule)
        words = np.broadcast_to(self.traces.of(lanes, at)[:, None], index.shape)
        self._tables(region).stored[index] = words
        self.log.unfenced.append((region.base, index.ravel(), words.ravel()))

    def touched(self, region: Region, offsets: Array, nbytes: int, lanes: Array, does: str) -> None:
        """Threads load or store; raises :class:`AccessError` where a copy is on its way."""
        if not self.log.flying or region.base not in self.log.tables:
            return
        index = granules(offsets, nbytes, self.granule)
        self._refuse_flying(region, index, lanes, does)

    def _refuse_flying(self, region: Region, index: Array, lanes: Array, does: str) -> None:
        self._refuse(
            "in-flight",
            f"this {does} memory that a bulk copy still writes: wait_group without .read waits "
            "for that\n  the copy",
            self._tables(region).flying, region, index, lanes,
        )  # fmt: skip

    def _refuse_unfenced(self, region: Region, index: Array, lanes: Array, does: str) -> None:
        self._refuse(
            "fence",
            f"the copy {does} global memory that a store wrote, with no fence.proxy.async "
            "between\n  the write",
            self._tables(region).stored, region, index, lanes,
        )  # fmt: skip

    def _refuse(
        self, kind: str, message: str, table: Array, region: Region, index: Array, lanes: Array
    ) -> None:
        """Raise the fault of the first position of an access whose granules the table has a word
        of, with the granule and the place of the last of them."""
        words = table[index]
        if words.any():
            row = int(np.argmax(words.any(axis=1)))
            last = int(np.argmax(words[row]))
            raise AccessError(
                kind,
                f"{message}: {self._place(int(words[row, last]))}",
                lane=int(lanes[row]),
                position=row,
                address=region.base + int(index[row, last]) * self.granule,
                allocation=f"in {region}",
            )

    def _place(self, word: int) -> str:
        return place_of(self.chunk.program.code[int(instruction_of(np.array(word)))])

    def fence(self, lanes: Array) -> None:
        """Pass on what these threads stored, or what is ordered before them."""
        left: list[tuple[int, Array, Array]] = []
        first = lanes[np.unique(self.chunk.warp_of[lanes], return_index=True)[1]]
        for base, index, words in self.log.unfenced:
            passed = self.traces.by_one_of(words, lanes)
            for lane in first.tolist():
                rest = np.flatnonzero(~passed)
                passed[rest] = self.traces.ordered(words[rest], np.full(len(rest), lane))
            stored = self.log.tables[base].stored
            gone = index[passed]
            # A later store is another's to pass on.
            stored[gone[stored[gone] == words[passed]]] = 0
            if not passed.all():
                left.append((base, index[~passed], words[~passed]))
        self.log.unfenced = left

    # ------------------------------------------------------------ the async proxy

    def use(self, region: Region, offsets: Array, nbytes: int, lane: int, does: str) -> None:
        """A copy reads or writes; raises :class:`AccessError` where a fence or a wait is missing.

        `does` begins with the verb.
        """
        if region.base not in self.log.tables:
            return
        index = granules(offsets, nbytes, self.granule)
        lanes = np.full(len(index), lane)
        self._refuse_flying(region, index, lanes, f"copy {does}")
        self._refuse_unfenced(region, index, lanes, does)

    def send(
        self, region: Region, offsets: Array, nbytes: int, lane: int, group: int, reduces: bool
    ) -> None:
        """A copy out of shared memory begins; reductions may meet."""
        index = granules(offsets, nbytes, self.granule)
        if reduces:
            if region.base in self.log.tables:
                self._refuse_unfenced(region, index, np.full(len(index), lane), "changes")
        else:
            self.use(region, offsets, nbytes, lane, "writes")
        word = int(self.traces.of(np.array([lane]), self.chunk.at)[0])
        if not reduces:
            self._tables(region).flying[index] = word
            self.log.flying = True
            self.sent.append(Sent(region.base, index.ravel(), lane, group, word))

    def wait(self, waits: Array, limit: Array) -> None:
        """Copies of the threads that wait have arrived, but for those of groups from `limit` on."""
        left: list[Sent] = []
        for one in self.sent:
            if not (waits[one.lane] and one.group < limit[one.lane]):
                left.append(one)
                continue
            flying = self.log.tables[one.base].flying
            mine = one.index[flying[one.index] == one.word]
            flying[mine] = 0
            self.races.arrived(one.base, mine, one.word, one.lane)
        self.sent = left
