"""Vector clocks: what each warp of a chunk has done, and what it knows of the others.

Happens-before is followed by one clock for each warp (FastTrack, Flanagan and Freund 2009, on whole
arrays). A warp's clock advances when it releases: at barriers, at arrivals, at fences. ``known[d,
w, v]`` is the latest time of warp v of cluster d that warp w of it has acquired: an access of warp
v at time t is ordered before what warp w does now if ``known[d, w, v] >= t``. What a warp knows of
CTAs outside its cluster, of this chunk or of another, is in ``beyond``.

Threads of one warp are ordered by a warp or CTA barrier only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx.emu.memory import Array

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

Clock = dict[int, Array]
"""By the number of a CTA in the grid the time of each of its warps; never changed once made."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What has happened before what a warp does now, or before a release."""

    done: Clock
    fenced: Clock
    """The part of it that lies before a ``fence.sc``."""
    seen: Clock
    """What lay before the ``fence.sc`` of those whose writes were seen: one more will learn it."""

    def __bool__(self) -> bool:
        return bool(self.done or self.fenced or self.seen)

    def and_of(self, other: Knowledge) -> Knowledge:
        """Both together."""
        if not other:
            return self
        return Knowledge(
            joined(self.done, other.done),
            joined(self.fenced, other.fenced),
            joined(self.seen, other.seen),
        )


NOTHING = Knowledge({}, {}, {})


def joined(one: Clock, other: Clock) -> Clock:
    """The later times of both."""
    if one is other or not other:
        return one
    if not one:
        return other
    both = {**one, **other}
    for cta in one.keys() & other.keys():
        if one[cta] is not other[cta]:
            both[cta] = np.maximum(one[cta], other[cta])
    return both


class Clocks:
    """The clocks of a chunk. A domain is a cluster: CTAs that share memory and barriers."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        size = chunk.launch.cluster_size
        self.domains = len(chunk.ctas) // size
        self.warps = chunk.warp_count // max(1, self.domains)
        """Of a domain."""
        self.per_cta = self.warps // size
        self.domain_of = chunk.cta_of // size
        self.warp_of = chunk.warp_of % self.warps
        self.reset()

    def reset(self) -> None:
        """Nothing has happened."""
        shape = (self.domains, self.warps)
        self.time = np.ones(shape, np.int32)
        self.known = np.zeros((*shape, self.warps), np.int32)
        self.everyone_met = np.zeros(self.domains, np.int32)
        """What was done up to then is ordered before all that a domain does now."""
        self.uniform = 0
        """The same where it is one time for all domains, else -1."""
        self.beyond: dict[int, Knowledge] = {}
        """By the warp's number in the chunk; what lies before a ``fence.sc`` of its own CTA too."""
        self._pending: dict[Any, tuple[Array, Knowledge]] = {}
        """What arrivals have released, by barrier."""

    def now(self, lanes: Array) -> Array:
        """The time of each thread's warp."""
        return self.time[self.domain_of[lanes], self.warp_of[lanes]]

    def by_domain(self, lanes: Array) -> list[tuple[int, Array]]:
        """Threads by the cluster that they are of."""
        domains = self.domain_of[lanes]
        return [(int(domain), lanes[domains == domain]) for domain in np.unique(domains)]

    def _refresh(self) -> None:
        self.everyone_met = self.known.min(axis=(1, 2))
        low, high = int(self.everyone_met.min()), int(self.everyone_met.max())
        self.uniform = low if low == high else -1

    # ------------------------------------------------------------ barriers

    def all_met(self) -> None:
        """Every warp of every CTA has passed a barrier of its CTA."""
        if self.chunk.launch.cluster_size > 1:
            everyone = np.flatnonzero(self.chunk.alive)
            for cta in range(len(self.chunk.ctas)):
                self.met(everyone[self.chunk.cta_of[everyone] == cta])
            return
        self.known[...] = self.time[:, None, :]
        self.time += 1
        if self.beyond:
            for domain in range(self.domains):
                self._share_beyond(domain, range(self.warps), NOTHING)
        self._refresh()

    def met(self, lanes: Array, key: Any = None) -> None:
        """Threads of one domain pass a barrier together; `key` names what arrivals released."""
        domain = int(self.domain_of[lanes[0]])
        warps = np.unique(self.warp_of[lanes])
        latest = self.known[domain, warps].max(axis=0)
        latest[warps] = self.time[domain, warps]
        released, beyond = self._pending.pop(key, (None, NOTHING))
        if released is not None:
            latest = np.maximum(latest, released)
        self.known[domain, warps] = latest
        self.time[domain, warps] += 1
        if self.beyond or beyond:
            self._share_beyond(domain, warps.tolist(), beyond)
        self._refresh()

    def _beyond_of(self, domain: int, warps: Iterable[int]) -> Knowledge:
        """What some warps of a domain know together."""
        together = NOTHING
        for warp in warps:
            together = together.and_of(self.beyond.get(domain * self.warps + warp, NOTHING))
        return together

    def _share_beyond(self, domain: int, warps: Iterable[int], more: Knowledge) -> None:
        together = self._beyond_of(domain, warps).and_of(more)
        if together:
            self.beyond.update((domain * self.warps + warp, together) for warp in warps)

    def warps_met(self, lanes: Array) -> None:
        """Threads pass a barrier of their warp."""
        domain, warp = self.domain_of[lanes], self.warp_of[lanes]
        self.known[domain, warp, warp] = self.time[domain, warp]
        self._advance(lanes)

    def warpgroups_met(self, lanes: Array) -> None:
        """What the first thread of each warpgroup has done is done for all of its warps."""
        domain, warp = self.domain_of[lanes], self.warp_of[lanes]
        within = self.chunk.thread[lanes] // 32 % 4
        self.known[domain, warp, warp - within] = self.time[domain, warp - within]
        self._advance(lanes[within == 0])

    def _advance(self, lanes: Array) -> None:
        self.time.reshape(-1)[np.unique(self.chunk.warp_of[lanes])] += 1

    # ------------------------------------------------------------ arrivals

    def release(self, lanes: Array, key: Any) -> None:
        """Threads of one domain arrive at what others wait for."""
        domain = int(self.domain_of[lanes[0]])
        warps = np.unique(self.warp_of[lanes])
        given = self.known[domain, warps].max(axis=0)
        given[warps] = self.time[domain, warps]
        before, beyond = self._pending.get(key, (given, NOTHING))
        if self.beyond:
            beyond = beyond.and_of(self._beyond_of(domain, warps.tolist()))
        self._pending[key] = np.maximum(before, given), beyond
        self.time[domain, warps] += 1

    def hand_on(self, domain: int, knowledge: Knowledge, key: Any) -> None:
        """What a fence of a thread of `domain` has released is released at `key`."""
        done, ctas = dict(knowledge.done), self._ctas(domain)
        none = np.zeros(self.per_cta, np.int32)
        given = np.concatenate([done.pop(cta, none) for cta in ctas])
        before, beyond = self._pending.get(key, (given, NOTHING))
        beyond = beyond.and_of(replace(knowledge, done=done))
        self._pending[key] = np.maximum(before, given), beyond

    def acquire(self, lanes: Array, key: Any) -> None:
        """Threads of one domain have waited for what was released at `key`."""
        if key not in self._pending:
            return
        released, beyond = self._pending[key]
        domain = int(self.domain_of[lanes[0]])
        warps = np.unique(self.warp_of[lanes])
        self.known[domain, warps] = np.maximum(self.known[domain, warps], released)
        for warp in warps.tolist() if beyond else ():
            self._share_beyond(domain, [warp], beyond)
        self._refresh()

    # ------------------------------------------------------------ memory

    def snapshot(self, lane: int) -> Knowledge:
        """What the thread's warp has done and knows of; what it does next comes later."""
        domain, warp = int(self.domain_of[lane]), int(self.warp_of[lane])
        times = self.known[domain, warp].copy()
        times[warp] = self.time[domain, warp]
        self.time[domain, warp] += 1
        before = self.beyond.get(domain * self.warps + warp, NOTHING)
        done = dict(before.done)
        for rank, cta in enumerate(self._ctas(domain)):
            done[cta] = times[rank * self.per_cta : (rank + 1) * self.per_cta]
        return replace(before, done=done)

    def _ctas(self, domain: int) -> list[int]:
        """The CTAs of a domain by their numbers in the grid."""
        size = self.chunk.launch.cluster_size
        numbers: list[int] = self.chunk.ctas[domain * size : (domain + 1) * size].tolist()
        return numbers

    def learn(self, lane: int, knowledge: Knowledge) -> None:
        """The thread's warp knows what another had done."""
        domain, warp = int(self.domain_of[lane]), int(self.warp_of[lane])
        done, ctas = knowledge.done, self._ctas(domain)
        for rank, cta in enumerate(ctas):
            if cta in done:
                mine = self.known[domain, warp, rank * self.per_cta : (rank + 1) * self.per_cta]
                np.maximum(mine, done[cta], out=mine)
        if any(cta in done for cta in ctas):
            done = {cta: times for cta, times in done.items() if cta not in ctas}
        self._add(lane, replace(knowledge, done=done))

    def _add(self, lane: int, knowledge: Knowledge) -> None:
        index = int(self.chunk.warp_of[lane])
        self.beyond[index] = self.beyond.get(index, NOTHING).and_of(knowledge)

    def fence(self, lane: int) -> None:
        """The thread's warp passes a ``fence.sc``."""
        seen = self.beyond.get(int(self.chunk.warp_of[lane]), NOTHING).seen
        if seen:
            self.learn(lane, Knowledge(seen, {}, {}))
        self._add(lane, Knowledge({}, self.snapshot(lane).done, {}))

    def before_fences(self, lane: int) -> Clock:
        """What lies before a ``fence.sc`` that the thread's warp knows of."""
        return self.beyond.get(int(self.chunk.warp_of[lane]), NOTHING).fenced

    def see(self, lane: int, fenced: Clock) -> None:
        """The thread's warp has seen a write that came after a ``fence.sc``."""
        self._add(lane, Knowledge({}, {}, fenced))

    def knows(self, lanes: Array, cta: Array, warp: Array, time: Array) -> Array:
        """Whether each thread knows what a warp of some CTA of the grid did at a time."""
        chunk = self.chunk
        size = chunk.launch.cluster_size
        sorter = np.argsort(chunk.ctas)
        place = np.searchsorted(chunk.ctas, cta, sorter=sorter)
        at = sorter[np.minimum(place, len(sorter) - 1)]
        near = (chunk.ctas[at] == cta) & (at // size == chunk.cta_of[lanes] // size)
        peer = np.where(near, at % size * self.per_cta + warp, 0)
        known: Array = near & (self.known[self.domain_of[lanes], self.warp_of[lanes], peer] >= time)
        if self.beyond and not near.all():
            pairs = np.stack([chunk.warp_of[lanes], cta])
            for mine, other in np.unique(pairs[:, ~near], axis=1).T.tolist():
                times = self.beyond.get(mine, NOTHING).done.get(other)
                if times is not None:
                    these = (pairs[0] == mine) & (pairs[1] == other)
                    known[these] = times[warp[these]] >= time[these]
        return known
