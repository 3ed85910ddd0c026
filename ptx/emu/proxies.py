"""The two ways to shared memory: what instructions wrote, and when asynchronous units may use it.

Loads and stores go through the generic proxy, bulk copies and wgmma through the async proxy. A
fence.proxy.async must stand between a write of the one and any use by the other (PTX ISA 9.0,
section 8.6 and 9.7.15.7): in the thread that wrote, or in one that the write is ordered before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.steps import Lanes, Step

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk
    from ptx.emu.races import Races


def needed(chunk: Chunk) -> bool:
    """Whether a kernel has instructions that use the async proxy."""
    return any("bulk" in d.words or "mma_async" in d.words for d in chunk.program.code)


def needed_global(chunk: Chunk) -> bool:
    """Whether a kernel has bulk copies that read or write global memory."""
    return any(
        "bulk" in d.words and ("global" in d.words or "tensor" in d.words)
        for d in chunk.program.code
    )


class Proxies:
    """What the generic proxy wrote to a chunk's shared memory that no fence has passed on."""

    def __init__(self, chunk: Chunk, races: Races) -> None:
        self.chunk = chunk
        self.races = races
        count = len(races.write_time)
        self.unfenced = np.zeros(count, np.bool_)
        """By granules of the search for races."""
        self.by, self.time = np.zeros(count, np.int64), np.zeros(count, np.int32)
        """Who wrote them, with the instruction in the upper half, and when."""
        self.reset()

    def reset(self) -> None:
        """Nothing was written."""
        self.unfenced[:] = False
        self.objects: dict[int, tuple[int, int]] = {}
        """mbarriers whose initialisation no fence has passed on: the thread, and when it was."""

    def _granules(self, offsets: Array, nbytes: int) -> Array:
        index, _ = self.races.index(offsets, nbytes)
        return index

    def stored(self, offsets: Array, nbytes: int, lanes: Array, at: int) -> None:
        index = self._granules(offsets, nbytes)
        self.unfenced[index] = True
        self.by[index] = (lanes | (at << 32))[:, None]
        self.time[index] = self.races.clocks.now(lanes)[:, None]

    def initialised(self, where: int, lane: int) -> None:
        (time,) = self.races.clocks.now(np.array([lane])).tolist()
        self.objects[where] = (lane, time)

    def fence(self, lanes: Lanes, memory: bool) -> None:
        """Pass on what these threads wrote, or what is ordered before them."""
        who = self.chunk.everyone(lanes)
        if memory and self.unfenced.any():
            dirty = np.flatnonzero(self.unfenced)
            writers = self.by[dirty] & 0xFFFFFFFF
            known = self._before(who, writers, self.time[dirty])
            self.unfenced[dirty[known]] = False
        if self.objects:
            places = list(self.objects)
            threads, times = (np.array(one) for one in zip(*self.objects.values(), strict=True))
            known = self._before(who, threads, times)
            for place, passed in zip(places, known.tolist(), strict=True):
                if passed:
                    del self.objects[place]

    def _before(self, who: Array, writers: Array, times: Array) -> Array:
        """Whether each write comes before what these threads do now."""
        clocks = self.races.clocks
        mine = np.zeros(self.chunk.count, np.bool_)
        mine[who] = True
        # For each domain and warp the latest time that one of the threads knows of.
        latest = np.zeros((clocks.domains, clocks.warps), np.int64)
        pairs = np.unique(clocks.domain_of[who] * clocks.warps + clocks.warp_of[who])
        for pair in pairs.tolist():
            domain, warp = divmod(pair, clocks.warps)
            np.maximum(latest[domain], clocks.known[domain, warp], out=latest[domain])
        before: Array = latest[clocks.domain_of[writers], clocks.warp_of[writers]] >= times
        return before | mine[writers]

    def use(self, offsets: Array, nbytes: int, lane: int, what: str) -> None:
        """The async proxy reads or writes; raises :class:`AccessError` where a fence is missing."""
        granules = self._granules(offsets, nbytes)
        wrong = self.unfenced[granules]
        if not wrong.any():
            return
        first = int(granules.ravel()[np.argmax(wrong.ravel())])
        by = int(self.by[first])
        chunk = self.chunk
        raise AccessError(
            "fence",
            f"{what} shared memory that {chunk.describe(by & 0xFFFFFFFF)} wrote, with no "
            f"fence.proxy.async between\n  the write: {place_of(chunk.program.code[by >> 32])}",
            lane=lane,
            address=first * self.races.granule % chunk.shared_stride,
            allocation="in shared memory",
        )

    def signal(self, where: int, lane: int) -> None:
        """A copy will signal an mbarrier."""
        if where in self.objects:
            raise AccessError(
                "fence",
                "the copy signals an mbarrier whose initialisation no fence.mbarrier_init or "
                "fence.proxy.async has passed on",
                lane=lane,
                address=where % self.chunk.shared_stride,
            )


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """fence: those that pass on what was written to the async proxy."""
    words, proxies = decoded.words, chunk.proxies
    objects = "mbarrier_init" in words
    kinds = [word for word in words.all if word.partition("::")[0] in ("async", "global", "shared")]
    memory = kinds[:1] == ["async"] and "global" not in kinds
    across = kinds[:1] == ["async"] and not any(kind.startswith("shared") for kind in kinds)
    if not (objects or memory or across):
        return lambda lanes: None
    beyond = chunk.global_proxies if across else None

    def step(lanes: Lanes) -> None:
        if beyond is not None:
            beyond.fence(chunk.everyone(lanes))
        if proxies is not None:
            proxies.fence(lanes, memory)
        if objects:
            chunk.mbarriers.fence(chunk.everyone(lanes))

    return step
