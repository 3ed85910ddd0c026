"""Bulk copies and reductions (PTX ISA 9.0, section 9.7.9.25.4); all that flies to shared memory.

A copy into shared memory is on its way, its destination poison, until a thread asks the mbarrier
that it signals; what it reads of shared memory is lent so long. A copy out of shared memory happens
at once, and its source is lent until the thread waits for the bulk-group.

A reduction changes its destination when it arrives, element by element, each atomically: several
may be on their way to one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.access import Space, addresses, load_cells
from ptx.emu.atomics import Reduction, check_writable
from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.mbarriers import Place
from ptx.emu.memory import EMPTY, GLOBAL_BASE, IN_FLIGHT, LENT, VALID, Array, Region, refuse_objects
from ptx.emu.ordering import ASYNCHRONOUS
from ptx.emu.program import Decoded
from ptx.emu.steps import Lanes, Source, Step, select
from ptx.ir import Imm

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

UNIT = 16
"""Bytes that move as one in a bulk copy."""


@dataclass(eq=False)
class Flight:
    """Stores, copies or reductions into shared memory that have been issued."""

    mbarrier: int
    offsets: Array
    """Of each cell, in the chunk's shared memory."""
    cells: Array
    """``(n, size)`` bytes."""
    lanes: Array
    """Who issued each cell."""
    at: int
    reduction: Reduction | None = None
    """How the cells change what is there; None overwrites it."""
    source: Array | None = None
    """Units of shared memory that are read meanwhile."""
    bulk: bool = True
    """Whether it goes through the async proxy."""
    asked: Array | None = None
    """Which threads have asked its mbarrier, and were told to ask again."""

    @property
    def size(self) -> int:
        """Bytes of a cell."""
        return int(self.cells.shape[1])


@dataclass
class Lent:
    """Shared memory that a copy out of it reads until it is waited for."""

    offsets: Array
    lane: int
    group: int
    at: int


class Bulk:
    """The asynchronous writes of a chunk that are in flight, and what is lent to them."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.reset()

    def reset(self) -> None:
        """Nothing is in flight."""
        self.flying: list[Flight] = []
        self.landed: list[Flight] = []
        """Whose bytes their mbarrier has not counted yet."""
        self.lent: list[Lent] = []
        self.group = np.zeros(self.chunk.count, np.int64)
        """The bulk-group that the next copy of each thread joins."""

    def lend(self, offsets: Array, lane: int, at: int) -> None:
        """A copy reads units of shared memory until its thread waits."""
        self.borrow(offsets, lane)
        self.lent.append(Lent(offsets, lane, int(self.group[lane]), at))

    def send(self, region: Region, offsets: Array, size: int, lane: int, reduces: bool) -> None:
        """A copy begins to write global memory."""
        beyond = self.chunk.global_proxies
        if beyond is not None:
            beyond.send(region, offsets, size, lane, int(self.group[lane]), reduces)

    def borrow(self, offsets: Array, lane: int) -> None:
        """The async proxy begins to read units of shared memory."""
        chunk = self.chunk
        if chunk.proxies is not None:
            chunk.proxies.use(offsets, UNIT, lane, "the copy reads")
        self._mark(offsets, UNIT, LENT)

    def _mark(self, offsets: Array, size: int, state: int) -> None:
        states = self.chunk.shared.cells(size, states=True)
        states[offsets // size] = np.full(size, state, np.uint8).view(states.dtype)[0]
        if state != VALID:
            self.chunk.shared.full = False

    def commit(self, lanes: Lanes) -> None:
        self.group[... if lanes is None else lanes] += 1

    def wait(self, lanes: Lanes, still: int, written: bool) -> None:
        """Complete the committed copies of some threads but for the latest `still` groups: what
        they read, and if they are to have `written`, that too.
        """
        beyond = self.chunk.global_proxies
        if not self.lent and beyond is None:
            return
        waits = np.zeros(self.chunk.count, np.bool_)
        waits[... if lanes is None else lanes] = True
        limit = self.group - still
        if beyond is not None and written:
            beyond.wait(waits, limit)

        def over(one: Lent) -> bool:
            return bool(waits[one.lane]) and one.group < limit[one.lane]

        done = [one for one in self.lent if over(one)]
        self.lent = [one for one in self.lent if not over(one)]
        for one in done:
            if self.chunk.races is not None:
                lanes_of = np.full(len(one.offsets), one.lane)
                self.chunk.races.read(one.offsets, UNIT, lanes_of, one.at)
            self._mark(one.offsets, UNIT, VALID)
        self.remark()
        self.chunk.products.remark()

    def remark(self) -> None:
        """What is lent to several stays so until the last has done."""
        for one in self.lent:
            self._mark(one.offsets, UNIT, LENT)
        for flight in self.flying:
            if flight.source is not None:
                self._mark(flight.source, UNIT, LENT)

    def left(self, who: Array) -> None:
        """Threads have exited; raises :class:`AccessError` where a copy outlives them."""
        if self.lent:
            gone = np.isin([one.lane for one in self.lent], who)
            if gone.any():
                one = self.lent[int(np.argmax(gone))]
                raise AccessError(
                    "in-flight",
                    "the thread exits while a bulk copy that it did not wait for still reads its "
                    f"shared memory\n  the copy: {place_of(self.chunk.program.code[one.at])}",
                    lane=one.lane,
                )
        if self.flying:
            stride = max(1, self.chunk.shared_stride)
            into = np.array([int(one.offsets[0]) // stride for one in self.flying])
            alive = self.chunk.cta_alive(into)
            if not alive.all():
                flight = self.flying[int(np.argmin(alive))]
                what = "a bulk copy" if flight.bulk else "an asynchronous store"
                raise AccessError(
                    "in-flight",
                    f"a CTA exits while {what} that nobody waited for is on its way into its "
                    f"shared memory\n  the copy: {place_of(self.chunk.program.code[flight.at])}",
                    lane=int(who[0]),
                )

    def issue(self, flight: Flight) -> None:
        """Send a flight off; raises :class:`AccessError` where its destination is not free."""
        chunk = self.chunk
        self._check_destination(flight)
        if flight.bulk and chunk.proxies is not None:
            lane = int(flight.lanes[0])
            chunk.proxies.use(flight.offsets, flight.size, lane, "the copy writes")
            chunk.proxies.signal(flight.mbarrier, lane)
        if chunk.races is not None:
            chunk.races.write(flight.offsets, flight.size, flight.lanes, flight.at, mark=False)
        self._mark(flight.offsets, flight.size, IN_FLIGHT)
        chunk.mbarriers.at(flight.mbarrier, int(flight.lanes[0]))
        signals = np.full(len(flight.lanes), flight.mbarrier)
        chunk.mbarriers.watch(signals, flight.lanes)
        self.flying.append(flight)

    def _check_destination(self, flight: Flight) -> None:
        states = self.chunk.shared.cells(flight.size, states=True)
        taken = states.take(flight.offsets // flight.size).view(np.uint8)
        taken = taken.reshape(len(flight.offsets), flight.size)
        refuse_objects(taken, flight.offsets % self.chunk.shared_stride, "written")
        busy = np.greater(taken, VALID)
        if flight.reduction is not None:
            if (taken == EMPTY).any():
                where = int(np.argmax((taken == EMPTY).any(axis=1)))
                raise AccessError(
                    "uninitialised",
                    "an asynchronous reduction changes memory that was never written",
                    lane=int(flight.lanes[where]),
                    address=int(flight.offsets[where]) % self.chunk.shared_stride,
                    allocation="in shared memory",
                )
            # Reductions may meet: each element changes atomically.
            busy &= ~((taken == IN_FLIGHT) & self._reduced(flight)[:, None])
        if busy.any():
            where = int(np.argmax(busy.any(axis=1)))
            flying = (taken[where] == IN_FLIGHT).any()
            what = "is on its way" if flying else "or a wgmma still reads"
            kind = "a bulk copy" if flight.bulk else "an asynchronous store"
            raise AccessError(
                "in-flight", f"{kind} writes where another {what}", lane=int(flight.lanes[where])
            )

    def _reduced(self, flight: Flight) -> Array:
        """Whether what flies to each cell already are reductions alone."""
        index = (flight.offsets[:, None] + np.arange(flight.size)).ravel()
        alone = np.ones(len(index), np.bool_)
        for other in self.flying:
            if other.reduction is None:
                bytes_ = (other.offsets[:, None] + np.arange(other.size)).ravel()
                alone &= ~np.isin(index, bytes_)
        return np.logical_and.reduce(alone.reshape(-1, flight.size), axis=1)

    def deliver(self, where: Array, lanes: Array) -> None:
        """Threads ask mbarriers: have the copies arrive that signal one, where a thread asks again.

        At the first time a copy is still on its way: whoever does not ask again goes on too early.
        """
        arrived: list[Flight] = []
        for flight in self.flying:
            who = lanes[where == flight.mbarrier]
            if not len(who):
                continue
            if flight.asked is None:
                flight.asked = np.zeros(self.chunk.count, np.bool_)
            if flight.asked[who].any():
                arrived.append(flight)
            else:
                flight.asked[who] = True
                self.chunk.progress += 1
        if not arrived:
            return
        self.flying = [flight for flight in self.flying if flight not in arrived]
        for flight in arrived:
            self._land(flight)
        for flight in self.flying:
            if flight.reduction is not None:
                self._mark(flight.offsets, flight.size, IN_FLIGHT)
        if any(flight.source is not None for flight in arrived):
            self.remark()
            self.chunk.products.remark()
        self.landed = arrived
        while self.landed:
            flight = self.landed.pop(0)
            nbytes = flight.cells.size
            self.chunk.mbarriers.expect(flight.mbarrier, -nbytes, int(flight.lanes[0]))

    def _land(self, flight: Flight) -> None:
        chunk, size = self.chunk, flight.size
        self._mark(flight.offsets, size, VALID)
        if flight.source is not None:
            self._mark(flight.source, UNIT, VALID)
        if flight.reduction is not None:
            flight.reduction.apply(chunk.shared, flight.offsets, flight.cells)
        else:
            cells = chunk.shared.cells(size)
            cells[flight.offsets // size] = flight.cells.view(cells.dtype).reshape(-1)
        if chunk.races is not None:
            if flight.reduction is None:
                # Atomics never race; what is stored does.
                chunk.races.written(flight.offsets, size, flight.lanes, flight.at)
                if not flight.bulk and chunk.proxies is not None:
                    chunk.proxies.stored(flight.offsets, size, flight.lanes, flight.at)
            who = np.unique(flight.lanes)
            chunk.races.clocks.release(who, ("mbarrier", flight.mbarrier))


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """cp.async.bulk and cp.reduce.async.bulk in all their forms."""
    from ptx.emu import tensor_copies

    words = decoded.words
    if "prefetch" in words:
        return lambda lanes: None
    if "commit_group" in words:
        return chunk.bulk.commit
    if "wait_group" in words:
        count = decoded.operands[0]
        assert isinstance(count, Imm)
        still = int(count.value)
        written = "read" not in words
        return lambda lanes: chunk.bulk.wait(lanes, still, written)
    if "tensor" in words:
        return tensor_copies.bind(chunk, decoded)
    if any(word.startswith("mbarrier::complete_tx") for word in words.all):
        return _load(chunk, decoded)
    return _store(chunk, decoded)


def spaces(decoded: Decoded) -> list[str]:
    """The state spaces that a copy names, the destination's first."""
    names = ("global", "shared::cta", "shared::cluster")
    return [word for word in decoded.words.all if word in names]


def each(chunk: Chunk, action: Callable[[int, Lanes], None]) -> Step:
    """Every thread that executes it makes a copy of its own."""

    def step(lanes: Lanes) -> None:
        for lane in chunk.everyone(lanes).tolist():
            try:
                action(lane, np.array([lane]))
            except AccessError as error:
                error.lane = lane
                raise
        chunk.progress += 1

    return step


def targets(chunk: Chunk, decoded: Decoded) -> Source | None:
    """The multicast mask, where there is one."""
    if "multicast::cluster" not in decoded.words:
        return None
    operands = decoded.operands
    mask = operands[-2] if "L2::cache_hint" in decoded.words else operands[-1]
    return steps.read(chunk, decoded, mask, "u16")


def receivers(
    chunk: Chunk, lane: int, lanes: Lanes, offset: int, mbarrier: int, mask: Source | None
) -> list[tuple[int, int]]:
    """Destination and mbarrier in each CTA that receives: the named one, or those of the mask."""
    if mask is None:
        return [(offset, mbarrier)]
    stride, size = chunk.shared_stride, chunk.launch.cluster_size
    first = int(chunk.cta_of[lane]) // size * size
    chosen = int(select(mask, lanes)[0])
    if chosen >> size:
        raise AccessError("mask", f"the mask {chosen:#x} names CTAs beyond the {size} of a cluster")
    return [
        ((first + rank) * stride + offset % stride, (first + rank) * stride + mbarrier % stride)
        for rank in range(size)
        if chosen >> rank & 1
    ]


def _load(chunk: Chunk, decoded: Decoded) -> Step:
    """From global memory (or the CTA's shared memory) into shared memory."""
    destination, source, size_operand, mbarrier = decoded.operands[:4]
    to_name, from_name = spaces(decoded)[:2]
    to, origin = addresses(chunk, decoded, destination), addresses(chunk, decoded, source)
    size = steps.read(chunk, decoded, size_operand, "u32")
    place, mask = Place(chunk, decoded, mbarrier), targets(chunk, decoded)
    place.space = Space(chunk, "shared::cluster")
    to_space, from_space = Space(chunk, to_name), Space(chunk, from_name)
    reduction = Reduction.of(decoded.words) if "reduce" in decoded.words else None

    def action(lane: int, lanes: Lanes) -> None:
        if from_name == "shared::cta" and not chunk.launch.explicit_cluster:
            raise AccessError(
                "wrong-space",
                "a bulk copy from shared::cta to shared::cluster in a launch without a cluster "
                "(an illegal instruction on an H200): launch it with a cluster, which may be of 1",
            )
        nbytes = int(select(size, lanes)[0])
        at = _units(int(origin(lanes)[0]), nbytes)
        start = int(to_space.locate(to(lanes), UNIT, lanes)[0][1][0])
        # The last unit must lie inside too.
        to_space.locate(to(lanes) + (nbytes - UNIT), UNIT, lanes)
        many = np.full(len(at), lane)
        units = _fetch(from_space, at, many).view(np.uint8).reshape(-1, UNIT)
        read = None
        if from_name == "shared::cta":
            read = from_space.locate(at, UNIT, many)[0][1]
            chunk.bulk.borrow(read, lane)
        signal = int(place(lanes)[0])
        for first, object_at in receivers(chunk, lane, lanes, start, signal, mask):
            offsets = _units(first, nbytes)
            chunk.bulk.issue(Flight(object_at, offsets, units, many, decoded.at, reduction, read))

    return each(chunk, action)


def _fetch(space: Space, at: Array, lanes: Array) -> Array:
    """What a copy reads, through the async proxy."""
    beyond = space.chunk.global_proxies
    if beyond is not None:
        for region, offsets, _ in space.locate(at, UNIT, lanes):
            if region.base >= GLOBAL_BASE:
                beyond.use(region, offsets, UNIT, int(lanes[0]), "reads")
    return load_cells(space, at, UNIT, lanes)


def _units(start: int, nbytes: int) -> Array:
    if nbytes % UNIT or nbytes <= 0:
        raise AccessError("misaligned", f"a bulk copy of {nbytes} bytes moves multiples of 16")
    return start + np.arange(0, nbytes, UNIT, dtype=np.int64)


def _store(chunk: Chunk, decoded: Decoded) -> Step:
    """From the CTA's shared memory into global memory."""
    words = decoded.words
    destination, source, size_operand = decoded.operands[:3]
    to, origin = addresses(chunk, decoded, destination), addresses(chunk, decoded, source)
    size = steps.read(chunk, decoded, size_operand, "u32")
    to_space, from_space = Space(chunk, "global"), Space(chunk, "shared::cta")
    reduction = Reduction.of(words) if "reduce" in words else None
    mask = steps.read(chunk, decoded, decoded.operands[-1], "u16") if "cp_mask" in words else None

    def action(lane: int, lanes: Lanes) -> None:
        nbytes = int(select(size, lanes)[0])
        at = _units(int(origin(lanes)[0]), nbytes)
        many = np.full(len(at), lane)
        cells = load_cells(from_space, at, UNIT, many)
        chunk.bulk.lend(from_space.locate(at, UNIT, many)[0][1], lane, decoded.at)
        there = _units(int(to(lanes)[0]), nbytes)
        for region, offsets, _ in to_space.locate(there, UNIT, many):
            chunk.bulk.send(region, offsets, UNIT, lane, reduction is not None)
            if reduction is not None:
                check_writable(region)
                if chunk.races is not None:
                    chunk.races.memory.write(region, offsets, UNIT, many, decoded.at, ASYNCHRONOUS)
                reduction.apply(region, offsets, cells.view(np.uint8).reshape(-1, UNIT))
                continue
            if mask is not None:
                _store_bytes(
                    chunk, decoded, region, offsets, cells, int(select(mask, lanes)[0]), many
                )
                continue
            if chunk.races is not None:
                chunk.races.memory.write(region, offsets, UNIT, many, decoded.at)
            region.store(offsets, UNIT, cells)

    return each(chunk, action)


def _store_bytes(
    chunk: Chunk,
    decoded: Decoded,
    region: Region,
    offsets: Array,
    cells: Array,
    mask: int,
    lanes: Array,
) -> None:
    """Of each unit the bytes that the mask names, its lowest bit the first."""
    chosen = np.flatnonzero([mask >> byte & 1 for byte in range(UNIT)])
    bytes_ = cells.view(np.uint8).reshape(-1, UNIT)[:, chosen].ravel()
    places = (offsets[:, None] + chosen).ravel()
    if chunk.races is not None:
        who = np.repeat(lanes, len(chosen))
        chunk.races.memory.write(region, places, 1, who, decoded.at)
    region.store(places, 1, bytes_)
