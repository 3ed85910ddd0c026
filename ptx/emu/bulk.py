"""Bulk and tensor copies (PTX ISA 9.0, sections 9.7.9.25.4 and 9.7.9.25.5), tile mode.

A copy into shared memory is on its way, its destination poison, until a thread asks the mbarrier
that it signals. A copy out of shared memory happens at once, and its source is lent until the
thread waits for the bulk-group. ``.im2col`` is not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ptx import layouts
from ptx.emu import steps
from ptx.emu.access import Space, addresses, load_cells
from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.mbarriers import Place
from ptx.emu.memory import IN_FLIGHT, LENT, VALID, Array, Region
from ptx.emu.program import Decoded
from ptx.emu.steps import Lanes, Source, Step, select
from ptx.ir import Addr, Imm, Operand, Vector
from ptx.tensormap import BYTES, TensorMap

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_UNIT = 16
"""Bytes that move as one."""


@dataclass(eq=False)
class Flight:
    """A copy into shared memory that has been issued."""

    mbarrier: int
    offsets: Array
    """Of each unit of 16 bytes, in the chunk's shared memory."""
    units: Array
    """``(n, 16)`` bytes."""
    nbytes: int
    lane: int
    at: int
    asked: Array | None = None
    """Which threads have asked its mbarrier, and were told to ask again."""


@dataclass
class Lent:
    """Shared memory that a copy out of it reads until it is waited for."""

    offsets: Array
    lane: int
    group: int
    at: int


class Bulk:
    """The bulk copies of a chunk that are in flight."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.reset()

    def reset(self) -> None:
        """Nothing is in flight."""
        self.flying: list[Flight] = []
        self.lent: list[Lent] = []
        self.group = np.zeros(self.chunk.count, np.int64)
        """The bulk-group that the next copy of each thread joins."""

    def lend(self, offsets: Array, lane: int, at: int) -> None:
        """A copy reads units of shared memory until its thread waits."""
        chunk = self.chunk
        if chunk.proxies is not None:
            chunk.proxies.use(offsets, _UNIT, lane, "the copy reads")
        self.lent.append(Lent(offsets, lane, int(self.group[lane]), at))
        self._mark(offsets, LENT)

    def _mark(self, offsets: Array, state: int) -> None:
        states = self.chunk.shared.cells(_UNIT, states=True)
        states[offsets // _UNIT] = np.full(_UNIT, state, np.uint8).view(states.dtype)[0]
        self.chunk.shared.full = False

    def commit(self, lanes: Lanes) -> None:
        self.group[... if lanes is None else lanes] += 1

    def wait(self, lanes: Lanes, still: int) -> None:
        """Complete the committed copies of some threads but for the latest `still` groups."""
        if not self.lent:
            return
        waits = np.zeros(self.chunk.count, np.bool_)
        waits[... if lanes is None else lanes] = True
        limit = self.group - still

        def over(one: Lent) -> bool:
            return bool(waits[one.lane]) and one.group < limit[one.lane]

        done = [one for one in self.lent if over(one)]
        self.lent = [one for one in self.lent if not over(one)]
        for one in done:
            if self.chunk.races is not None:
                lanes_of = np.full(len(one.offsets), one.lane)
                self.chunk.races.read(one.offsets, _UNIT, lanes_of, one.at)
            self._mark(one.offsets, VALID)
        self.remark()

    def remark(self) -> None:
        """What is lent to several stays so until the last has done."""
        for one in self.lent:
            self._mark(one.offsets, LENT)

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
                raise AccessError(
                    "in-flight",
                    "a CTA exits while a bulk copy that nobody waited for is on its way into its "
                    f"shared memory\n  the copy: {place_of(self.chunk.program.code[flight.at])}",
                    lane=int(who[0]),
                )

    def issue(self, flight: Flight) -> None:
        chunk = self.chunk
        index = flight.offsets // _UNIT
        states = chunk.shared.cells(_UNIT, states=True)
        taken = states.take(index).view(np.uint8)
        if (taken > VALID).any():
            what = "is on its way" if (taken == IN_FLIGHT).any() else "or a wgmma still reads"
            raise AccessError(
                "in-flight", f"a bulk copy writes where another {what}", lane=flight.lane
            )
        if chunk.proxies is not None:
            chunk.proxies.use(flight.offsets, _UNIT, flight.lane, "the copy writes")
            chunk.proxies.signal(flight.mbarrier, flight.lane)
        if chunk.races is not None:
            lanes = np.full(len(flight.offsets), flight.lane)
            chunk.races.write(flight.offsets, _UNIT, lanes, flight.at, mark=False)
        states[index] = np.full(_UNIT, IN_FLIGHT, np.uint8).view(states.dtype)[0]
        chunk.shared.full = False
        chunk.mbarriers.at(flight.mbarrier, flight.lane)
        self.flying.append(flight)

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
        chunk = self.chunk
        self.flying = [flight for flight in self.flying if flight not in arrived]
        for flight in arrived:
            index = flight.offsets // _UNIT
            states = chunk.shared.cells(_UNIT, states=True)
            states[index] = np.full(_UNIT, VALID, np.uint8).view(states.dtype)[0]
            chunk.shared.cells(_UNIT)[index] = flight.units.view("V16").reshape(-1)
            if chunk.races is not None:
                who = np.array([flight.lane])
                lanes = np.full(len(flight.offsets), flight.lane)
                chunk.races.written(flight.offsets, _UNIT, lanes, flight.at)
                chunk.races.release(who, ("mbarrier", flight.mbarrier))
            chunk.mbarriers.expect(flight.mbarrier, -flight.nbytes, flight.lane)


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """cp.async.bulk in all its forms."""
    words = decoded.words
    if "prefetch" in words:
        return lambda lanes: None
    if "commit_group" in words:
        return chunk.bulk.commit
    if "wait_group" in words:
        count = decoded.operands[0]
        assert isinstance(count, Imm)
        still = int(count.value)
        return lambda lanes: chunk.bulk.wait(lanes, still)
    if words.all[1] == "reduce":
        raise Unmodelled.of(decoded.instruction)
    if any(word.startswith(("im2col", "tile::", "cp_mask")) for word in words.all):
        raise Unmodelled.of(decoded.instruction)
    into = any(word.startswith("mbarrier::complete_tx") for word in words.all)
    tensor = "tensor" in words
    if into:
        return _tensor_load(chunk, decoded) if tensor else _load(chunk, decoded)
    return _tensor_store(chunk, decoded) if tensor else _store(chunk, decoded)


def _spaces(decoded: Decoded) -> list[str]:
    names = ("global", "shared::cta", "shared::cluster")
    return [word for word in decoded.words.all if word in names]


def _each(chunk: Chunk, action: Callable[[int, Lanes], None]) -> Step:
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


def _targets(chunk: Chunk, decoded: Decoded) -> Source | None:
    """The multicast mask, where there is one."""
    if "multicast::cluster" not in decoded.words:
        return None
    operands = decoded.operands
    mask = operands[-2] if "L2::cache_hint" in decoded.words else operands[-1]
    return steps.read(chunk, decoded, mask, "u16")


def _receivers(
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
    to_name, from_name = _spaces(decoded)[:2]
    to, origin = addresses(chunk, decoded, destination), addresses(chunk, decoded, source)
    size = steps.read(chunk, decoded, size_operand, "u32")
    place, mask = Place(chunk, decoded, mbarrier), _targets(chunk, decoded)
    place.space = Space(chunk, "shared::cluster")
    to_space, from_space = Space(chunk, to_name), Space(chunk, from_name)

    def action(lane: int, lanes: Lanes) -> None:
        nbytes = int(select(size, lanes)[0])
        at = _units(int(origin(lanes)[0]), nbytes)
        start = int(to_space.locate(to(lanes), _UNIT, lanes)[0][1][0])
        # The last unit must lie inside too.
        to_space.locate(to(lanes) + (nbytes - _UNIT), _UNIT, lanes)
        many = np.full(len(at), lane)
        units = load_cells(from_space, at, _UNIT, many).view(np.uint8).reshape(-1, _UNIT)
        signal = int(place(lanes)[0])
        for first, object_at in _receivers(chunk, lane, lanes, start, signal, mask):
            offsets = _units(first, nbytes)
            chunk.bulk.issue(Flight(object_at, offsets, units, nbytes, lane, decoded.at))

    return _each(chunk, action)


def _units(start: int, nbytes: int) -> Array:
    if nbytes % _UNIT or nbytes <= 0:
        raise AccessError("misaligned", f"a bulk copy of {nbytes} bytes moves multiples of 16")
    return start + np.arange(0, nbytes, _UNIT, dtype=np.int64)


def _store(chunk: Chunk, decoded: Decoded) -> Step:
    """From the CTA's shared memory into global memory."""
    destination, source, size_operand = decoded.operands[:3]
    to, origin = addresses(chunk, decoded, destination), addresses(chunk, decoded, source)
    size = steps.read(chunk, decoded, size_operand, "u32")
    to_space, from_space = Space(chunk, "global"), Space(chunk, "shared::cta")

    def action(lane: int, lanes: Lanes) -> None:
        nbytes = int(select(size, lanes)[0])
        at = _units(int(origin(lanes)[0]), nbytes)
        many = np.full(len(at), lane)
        cells = load_cells(from_space, at, _UNIT, many)
        chunk.bulk.lend(from_space.locate(at, _UNIT, many)[0][1], lane, decoded.at)
        for region, offsets, _ in to_space.locate(_units(int(to(lanes)[0]), nbytes), _UNIT, many):
            if chunk.races is not None and chunk.races.memory is not None:
                chunk.races.memory.write(region, offsets, _UNIT, many, decoded.at)
            region.store(offsets, _UNIT, cells)

    return _each(chunk, action)


# ---------------------------------------------------------------- tensors


@lru_cache(maxsize=256)
def _unpacked(data: bytes) -> TensorMap:
    return TensorMap.unpack(data)


class _Map:
    """The tensor map and the coordinates of an operand."""

    def __init__(self, chunk: Chunk, decoded: Decoded, operand: Operand) -> None:
        assert isinstance(operand, Addr) and operand.coordinates is not None
        self.where = addresses(chunk, decoded, Addr(operand.base, operand.offset))
        self.space = Space(chunk, "generic")
        items: list[Operand] = []
        for item in operand.coordinates:
            items += item.items if isinstance(item, Vector) else [item]
        self.coordinates = [steps.read(chunk, decoded, item, "s32") for item in items]

    def __call__(self, lanes: Lanes) -> tuple[TensorMap, list[int]]:
        start = int(self.where(lanes)[0])
        if start % 64:
            raise AccessError("misaligned", "a tensor map lies on 64 bytes", address=start)
        at = start + np.arange(0, BYTES, _UNIT)
        cells = load_cells(self.space, at, _UNIT, np.repeat(np.asarray(lanes), len(at)))
        try:
            found = _unpacked(cells.tobytes())
        except ValueError as error:
            raise AccessError("descriptor", str(error), address=start) from None
        corner = [int(select(c, lanes)[0]) for c in self.coordinates]
        if len(corner) != len(found.shape):
            raise AccessError(
                "descriptor",
                f"{len(corner)} coordinates for a tensor map of {len(found.shape)} dimensions",
            )
        return found, corner


@dataclass(frozen=True)
class _Box:
    """The rows of a box: where each begins in global memory, and which elements are inside."""

    rows: Array
    """Byte address of the first element of each row."""
    row_inside: Array
    inside: Array
    """Of the elements of a row."""


def _box(map: TensorMap, corner: list[int]) -> _Box:
    index = [c + np.arange(n) * s for c, n, s in zip(corner, map.box, map.steps, strict=True)]
    inside = [(i >= 0) & (i < extent) for i, extent in zip(index, map.shape, strict=True)]
    rows, row_inside = np.array([map.address]), np.array([True])
    # The outermost dimension varies slowest.
    for axis in reversed(range(1, len(map.shape))):
        rows = (rows[:, None] + index[axis] * map.strides[axis - 1]).ravel()
        row_inside = (row_inside[:, None] & inside[axis]).ravel()
    first = rows + index[0][0] * map.element_bytes
    return _Box(first, row_inside, inside[0])


def _shared_offsets(map: TensorMap, start: int) -> Array:
    """Of each unit of 16 bytes of a box, by rows, its place in shared memory."""
    row_bytes = map.box[0] * map.element_bytes
    rows = map.box_bytes // row_bytes
    linear = start + np.arange(0, rows * row_bytes, _UNIT, dtype=np.int64)
    swizzled: Array = np.asarray(layouts.swizzle(linear, map.swizzle))  # type: ignore[arg-type]
    return swizzled


def _tensor_load(chunk: Chunk, decoded: Decoded) -> Step:
    destination, source, mbarrier = decoded.operands[:3]
    to = addresses(chunk, decoded, destination)
    to_space = Space(chunk, _spaces(decoded)[0])
    maps = _Map(chunk, decoded, source)
    place, mask = Place(chunk, decoded, mbarrier), _targets(chunk, decoded)
    place.space = Space(chunk, "shared::cluster")

    def action(lane: int, lanes: Lanes) -> None:
        map, corner = maps(lanes)
        _check_tile(to(lanes), map)
        start = int(to_space.locate(to(lanes), _UNIT, lanes)[0][1][0])
        to_space.locate(to(lanes) + (map.box_bytes - _UNIT), _UNIT, lanes)
        units = _fetch(chunk, map, corner).reshape(-1, _UNIT)
        signal = int(place(lanes)[0])
        stride = chunk.shared_stride
        for first, object_at in _receivers(chunk, lane, lanes, start, signal, mask):
            own = first // stride * stride
            offsets = own + _shared_offsets(map, first - own)
            chunk.bulk.issue(Flight(object_at, offsets, units, map.box_bytes, lane, decoded.at))

    return _each(chunk, action)


def _check_tile(at: Array, map: TensorMap) -> None:
    if int(at[0]) % 128:
        raise AccessError(
            "misaligned", "a tensor copy's tile lies on 128 bytes", address=int(at[0])
        )


def _region(chunk: Chunk, box: _Box, map: TensorMap) -> Region:
    """The allocation that holds the tensor."""
    (region, _), *_rest = chunk.memory.find(np.array([map.address]), map.element_bytes, None)
    return region


def _fetch(chunk: Chunk, map: TensorMap, corner: list[int]) -> Array:
    """The bytes of a box, by rows; what lies outside the tensor is filled."""
    box = _box(map, corner)
    size = map.element_bytes
    element = np.zeros(size, np.uint8)
    if map.fill == "nan":
        # The fill of floating point is the NaN with all bits but the sign.
        element = np.full(size, 0xFF, np.uint8)
        element[-1] = 0x7F
    bytes_ = np.tile(element, (len(box.rows), map.box[0])).reshape(len(box.rows), -1)
    columns = np.flatnonzero(box.inside)
    rows = np.flatnonzero(box.row_inside)
    if not len(columns) or not len(rows):
        return bytes_
    region = _region(chunk, box, map)
    at = _element_bytes(box, map, rows, columns) - region.base
    if int(at.min()) < 0 or int(at.max()) >= region.size:
        raise AccessError(
            "out-of-bounds",
            "the tensor that the map describes reaches beyond its allocation",
            address=region.base + int(at.max()),
            allocation=f"in {region}",
        )
    if not region.full and (region.state[at] != VALID).any():
        where = int(at[region.state[at] != VALID][0])
        raise AccessError(
            "uninitialised",
            "a tensor copy reads memory that was never written",
            address=region.base + where,
            allocation=f"in {region}",
        )
    target = (columns[:, None] * size + np.arange(size)).ravel()
    bytes_[np.ix_(rows, target)] = region.data[at]
    return bytes_


def _element_bytes(box: _Box, map: TensorMap, rows: Array, columns: Array) -> Array:
    """The address of each byte of some elements: ``(rows, bytes)``."""
    size = map.element_bytes
    inner = (columns[:, None] * map.steps[0] * size + np.arange(size)).ravel()
    found: Array = box.rows[rows][:, None] + inner
    return found


def _tensor_store(chunk: Chunk, decoded: Decoded) -> Step:
    target, source = decoded.operands[:2]
    maps = _Map(chunk, decoded, target)
    origin = addresses(chunk, decoded, source)
    space = Space(chunk, "shared::cta")

    def action(lane: int, lanes: Lanes) -> None:
        map, corner = maps(lanes)
        at = origin(lanes)
        _check_tile(at, map)
        offsets = _shared_offsets(map, int(at[0]))
        many = np.full(len(offsets), lane)
        cells = load_cells(space, offsets, _UNIT, many)
        chunk.bulk.lend(space.locate(offsets, _UNIT, many)[0][1], lane, decoded.at)
        box = _box(map, corner)
        bytes_ = cells.view(np.uint8).reshape(len(box.rows), -1)
        columns, rows = np.flatnonzero(box.inside), np.flatnonzero(box.row_inside)
        if not len(columns) or not len(rows):
            return
        region = _region(chunk, box, map)
        to = _element_bytes(box, map, rows, columns) - region.base
        if int(to.min()) < 0 or int(to.max()) >= region.size:
            raise AccessError(
                "out-of-bounds",
                "the tensor that the map describes reaches beyond its allocation",
                address=region.base + int(to.max()),
                allocation=f"in {region}",
            )
        size = map.element_bytes
        taken = (columns[:, None] * size + np.arange(size)).ravel()
        region.data[to] = bytes_[np.ix_(rows, taken)]
        region.state[to] = VALID

    return _each(chunk, action)
