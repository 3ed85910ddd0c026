"""Release and acquire: how accesses to one place order all that other threads do (PTX ISA 9.0,
sections 8.7 to 8.9).

A release pattern is an access with ``.release``, or a fence and a strong write after it; an acquire
pattern is an access with ``.acquire``, or a strong read and a fence after it. Where the read sees
the write, or one of the atomics that followed it, what came before the release comes before what
follows the acquire, provided that the scopes of accesses and fences reach from one thread to the
other. A relaxed access alone orders nothing.

A ``fence.sc`` (and membar) does more: where a thread knows, by a barrier, of another's fence.sc and
then writes, a read that sees the write and a fence.sc after it, be it in a thread beyond a barrier,
acquire what the other had done, for the two fences can have no other order (section 8.9.4). That
two fence.sc happened one after the other in this run is no order by itself: another run may have
them the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import proxies
from ptx.emu.clocks import NOTHING, Clock, Clocks, Knowledge, joined
from ptx.emu.memory import GLOBAL_BASE, Array, Region
from ptx.emu.program import Decoded
from ptx.emu.semantics.rules import Words
from ptx.emu.steps import Step

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

CTA, CLUSTER, DEVICE = 0, 1, 2
"""Scopes by their reach; the emulator has one device."""
_SCOPES = {"cta": CTA, "cluster": CLUSTER, "gpu": DEVICE, "gl": DEVICE, "sys": DEVICE}
_STRONG = frozenset("volatile relaxed acquire release acq_rel mmio".split())

Carried = dict[tuple[int, int], Knowledge]
"""What a place or a fence hands on, by who may take it: all of the device, the threads of a
cluster, those of a CTA, each with its number. Never changed once made."""
_EMPTY: Carried = {}


@dataclass(frozen=True, slots=True)
class Order:
    """What a strong access or a fence does for the order of accesses."""

    scope: int
    releases: bool
    acquires: bool
    sequential: bool = False
    """A fence.sc that reaches the whole device."""

    @property
    def relaxed(self) -> bool:
        return not (self.releases or self.acquires)


ASYNCHRONOUS = Order(DEVICE, False, False)
"""That of the reductions of bulk copies: relaxed, of the whole device."""


def _scope(words: Words) -> int:
    named = [_SCOPES[word] for word in words.all[1:] if word in _SCOPES]
    return named[0] if named else DEVICE


def access_order(words: Words) -> Order | None:
    """Of a load, a store or an atomic; None where it is weak."""
    if words.opcode not in ("atom", "red") and _STRONG.isdisjoint(words.set):
        return None
    both = "acq_rel" in words
    return Order(_scope(words), both or "release" in words, both or "acquire" in words)


def fence_order(words: Words) -> Order | None:
    """Of fence and membar; None for those that order proxies alone."""
    if words.opcode not in ("fence", "membar") or "proxy" in words or "mbarrier_init" in words:
        return None
    one = "release" if "release" in words else "acquire" if "acquire" in words else ""
    sequential = "acq_rel" not in words and not one and (words.opcode == "membar" or "sc" in words)
    scope = _scope(words)
    return Order(scope, one != "acquire", one != "release", sequential and scope == DEVICE)


@dataclass(frozen=True, slots=True)
class Place:
    """What a reader of a place may acquire, and the warp that released there last."""

    carried: Carried
    fenced: Clock
    """What lies before a ``fence.sc`` that the writers knew of."""
    by: int


class Ordering:
    """Release and acquire patterns of the threads of a chunk."""

    def __init__(self, chunk: Chunk, clocks: Clocks, launch: dict[int, Place]) -> None:
        """`launch` is what places in global memory carry, by address."""
        self.chunk = chunk
        self.clocks = clocks
        self.launch = launch
        orders = [access_order(d.words) or fence_order(d.words) for d in chunk.program.code]
        self.needed = any(order is not None and not order.relaxed for order in orders)
        """Whether the kernel has a pattern at all."""
        self.reset()

    def reset(self) -> None:
        """No pattern has begun."""
        self.shared: dict[int, Place] = {}
        self.released: Array = np.full(self.chunk.count, None)
        """What the latest fences of each thread release."""
        self.observed: dict[int, dict[int, Carried]] = {}
        """What a thread's relaxed reads saw, by place: its next fence acquires it."""
        self.fenced = False

    # ------------------------------------------------------------ audiences

    def _audiences(self, lane: int, scope: int) -> tuple[tuple[int, int], ...]:
        """Whom a scope reaches from a thread, the nearest first."""
        cta = int(self.chunk.cta_of[lane])
        cluster = cta // self.chunk.launch.cluster_size
        first = int(self.chunk.ctas[cluster * self.chunk.launch.cluster_size])
        every = (CTA, int(self.chunk.ctas[cta])), (CLUSTER, first), (DEVICE, 0)
        return every[: scope + 1]

    def _visible(self, lane: int, scope: int, carried: Carried) -> Carried:
        who = self._audiences(lane, scope)
        return {one: carried[one] for one in who if one in carried} or _EMPTY

    def _learn(self, lane: int, carried: Carried) -> None:
        for what in {id(what): what for what in carried.values()}.values():
            self.clocks.learn(lane, what)

    # ------------------------------------------------------------ fences

    def fence(self, lanes: Array, order: Order) -> None:
        """Threads pass a fence."""
        for lane, some in self._by_warp(lanes):
            if order.acquires:
                self._complete(some, order)
            if order.releases:
                self.fenced = True
                if order.sequential:
                    self.clocks.fence(lane)
                before = self.clocks.snapshot(lane)
                given = dict.fromkeys(self._audiences(lane, order.scope), before)
                if order.scope == DEVICE:
                    self.released[some] = given
                else:
                    for one in some.tolist():
                        self.released[one] = {**(self.released[one] or _EMPTY), **given}

    def _by_warp(self, lanes: Array) -> Iterator[tuple[int, Array]]:
        """The threads of each warp, and the first of them."""
        warps = self.chunk.warp_of[lanes]
        starts = np.flatnonzero(np.r_[True, warps[1:] != warps[:-1]])
        for some in np.split(lanes, starts[1:]):
            yield int(some[0]), some

    def _complete(self, lanes: Array, fence: Order) -> None:
        """A fence makes acquire patterns of the relaxed reads before it."""
        if not self.observed:
            return
        for lane in lanes.tolist():
            for carried in self.observed.get(lane, _NONE).values():
                self._learn(lane, self._visible(lane, fence.scope, carried))
            if fence.scope == DEVICE:
                self.observed.pop(lane, None)

    def arrive(self, lanes: Array) -> None:
        """Threads arrive at their cluster's barrier and release nothing but what their fences did
        before (PTX ISA 9.0, section 9.7.13.4).
        """
        for domain, some in self.clocks.by_domain(lanes):
            audience = self._audiences(int(some[0]), CLUSTER)[-1]
            given = [
                carried[audience] for carried in self.released[some] if audience in (carried or ())
            ]
            for knowledge in {id(one): one for one in given}.values():
                self.clocks.hand_on(domain, knowledge, ("cluster", domain))

    # ------------------------------------------------------------ accesses

    def access(
        self,
        region: Region,
        offsets: Array,
        lanes: Array,
        order: Order,
        *,
        reads: bool,
        wrote: Array | None,
    ) -> None:
        """Threads have made strong accesses, one after another; `wrote` says which have written."""
        if not self.needed:
            return
        if region is self.chunk.shared:
            places = self.shared
        elif region.base >= GLOBAL_BASE:
            places = self.launch
        else:
            return
        given: dict[int, Carried] = {}
        if order.releases:
            for lane, some in self._by_warp(lanes):
                before = self.clocks.snapshot(lane)
                mine = dict.fromkeys(self._audiences(lane, order.scope), before)
                given.update(dict.fromkeys(some.tolist(), mine))
        elif not places and not self.fenced:
            return
        where = (offsets + region.base).tolist()
        written = [False] * len(where) if wrote is None else wrote.tolist()
        for lane, at, writes in zip(lanes.tolist(), where, written, strict=True):
            place = places.get(at)
            if reads and place is not None:
                self._read(lane, at, place, order)
            if writes:
                self._write(lane, at, place, places, order, given.get(lane), keeps=reads)

    def _read(self, lane: int, at: int, place: Place, order: Order) -> None:
        if place.fenced and order.scope == DEVICE:
            self.clocks.see(lane, place.fenced)
        seen = self._visible(lane, order.scope, place.carried)
        if order.acquires:
            before = self.observed.get(lane, _NONE).pop(at, _EMPTY)
            self._learn(lane, before)
            self._learn(lane, seen)
        elif seen:
            self.observed.setdefault(lane, {})[at] = seen

    def _write(
        self,
        lane: int,
        at: int,
        place: Place | None,
        places: dict[int, Place],
        order: Order,
        given: Carried | None,
        keeps: bool,
    ) -> None:
        """A store ends what another thread's store released there, an atomic carries it on."""
        warp = (
            int(self.chunk.ctas[self.chunk.cta_of[lane]]) << 5 | int(self.chunk.thread[lane]) >> 5
        )
        if given is None:
            given = self._visible(lane, order.scope, self.released[lane] or _EMPTY)
        fenced = self.clocks.before_fences(lane) if order.scope == DEVICE else {}
        if place is not None and (keeps or place.by == warp):
            carried = dict(place.carried)
            for who, what in given.items():
                carried[who] = carried.get(who, NOTHING).and_of(what)
            places[at] = Place(carried, joined(place.fenced, fenced), warp if given else place.by)
        elif given or fenced:
            places[at] = Place(given, fenced, warp)
        else:
            places.pop(at, None)


_NONE: dict[int, Carried] = {}


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """fence and membar: those that order accesses, and those that order proxies."""
    order, races = fence_order(decoded.words), chunk.races
    if order is None:
        return proxies.bind(chunk, decoded)
    if races is None:
        return lambda lanes: None
    return lambda lanes: races.ordering.fence(chunk.everyone(lanes), order)
