"""Tensor copies and reductions (PTX ISA 9.0, section 9.7.9.25.5): boxes of a tensor map.

In shared memory a copy is rows of the innermost dimension. The mode says where each row lies in the
tensor: ``.tile`` takes a box at a corner, ``.tile::gather4`` and ``.tile::scatter4`` four rows by
number, ``.im2col`` pixels in the order of a convolution's output (section 5.5.4). ``.im2col::w``
needs tensor maps of a kind that :class:`ptx.tensormap.TensorMap` does not describe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ptx import layouts
from ptx.emu import steps
from ptx.emu.access import Space, addresses, load_cells, vector_operands
from ptx.emu.atomics import Reduction, check_writable
from ptx.emu.bulk import UNIT, Flight, each, receivers, spaces, targets
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.mbarriers import Place
from ptx.emu.memory import VALID, Array, Region
from ptx.emu.ordering import ASYNCHRONOUS
from ptx.emu.program import Decoded
from ptx.emu.semantics.rules import Words
from ptx.emu.steps import Lanes, Step, select
from ptx.ir import Addr, Operand, Vector
from ptx.tensormap import ALIGNMENT, BYTES, TensorMap

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """Every tensor copy but the prefetches."""
    words = decoded.words
    if any(word.startswith("im2col::w") for word in words.all):
        raise Unmodelled.of(decoded.instruction, "no tensor map of its kind can be described")
    if any(word.startswith("mbarrier::complete_tx") for word in words.all):
        return _load(chunk, decoded)
    return _store(chunk, decoded)


@lru_cache(maxsize=256)
def _unpacked(data: bytes) -> TensorMap:
    return TensorMap.unpack(data)


@dataclass(frozen=True)
class Rows:
    """The rows that a copy moves, in the order in which they lie in shared memory."""

    starts: Array
    """Byte address of the first element of each."""
    row_inside: Array
    """Whether they lie in the tensor."""
    inside: Array
    """Whether the elements of a row do."""


class _Map:
    """The tensor map, the coordinates and the offsets of an instruction."""

    def __init__(self, chunk: Chunk, decoded: Decoded, operand: Operand) -> None:
        assert isinstance(operand, Addr) and operand.coordinates is not None
        words = decoded.words
        self.four = "tile::gather4" in words or "tile::scatter4" in words
        self.pixels = "im2col" in words or "im2col_no_offs" in words
        self.stored = spaces(decoded)[0] == "global"
        self.where = addresses(chunk, decoded, Addr(operand.base, operand.offset))
        self.space = Space(chunk, "generic")
        items: list[Operand] = []
        for item in operand.coordinates:
            items += item.items if isinstance(item, Vector) else [item]
        self.coordinates = [steps.read(chunk, decoded, item, "s32") for item in items]
        given = decoded.operands[3] if "im2col" in words else None
        self.offsets = [
            steps.read(chunk, decoded, item, "u16")
            for item in (vector_operands(given) if given is not None else ())
        ]

    def __call__(self, lanes: Lanes) -> tuple[TensorMap, Rows]:
        found = self._map(lanes)
        corner = [int(select(c, lanes)[0]) for c in self.coordinates]
        expected = 5 if self.four else len(found.shape)
        if len(corner) != expected or (self.four and len(found.shape) != 2):
            raise AccessError(
                "descriptor",
                f"{len(corner)} coordinates for a tensor map of {len(found.shape)} dimensions",
            )
        if self.pixels != (found.corners is not None):
            kind = "one of im2col" if self.pixels else "a tiled one"
            raise AccessError("descriptor", f"the copy needs another tensor map: {kind}")
        _check_columns(found, corner[0])
        if self.stored:
            _check_stored(found, corner)
        if self.pixels:
            return found, _pixels(found, corner, [int(select(o, lanes)[0]) for o in self.offsets])
        if self.four:
            return found, _four_rows(found, corner)
        return found, _box(found, corner)

    def _map(self, lanes: Lanes) -> TensorMap:
        start = int(self.where(lanes)[0])
        if start % 64:
            raise AccessError("misaligned", "a tensor map lies on 64 bytes", address=start)
        at = start + np.arange(0, BYTES, UNIT)
        cells = load_cells(self.space, at, UNIT, np.repeat(np.asarray(lanes), len(at)))
        try:
            return _unpacked(cells.tobytes())
        except ValueError as error:
            raise AccessError("descriptor", str(error), address=start) from None


def _check_columns(map: TensorMap, first: int) -> None:
    """Measured on an H200: of 2-byte elements 8, 16 and -8 are taken, 1, 4, 5 and 20 are not."""
    start = first * map.element_bytes
    if start % ALIGNMENT:
        raise AccessError(
            "descriptor",
            f"the innermost coordinate {first} is {start} bytes of {map.element}; a tensor copy "
            f"begins at multiples of {ALIGNMENT} bytes (else an H200 ends it as an illegal "
            "instruction)",
        )


def _check_stored(map: TensorMap, corner: list[int]) -> None:
    """What is stored may end beyond the tensor, and begins at no negative index (CUDA C++
    programming guide). Nor has it padding: an H200 takes corners of 0 or inside, not of -1 or -2.
    """
    if min(corner) < 0:
        raise AccessError(
            "descriptor", f"a tensor store at {tuple(corner)}; no coordinate of a store is negative"
        )
    lower, upper = map.corners or ((0,), (0,))
    if min(lower) < 0 or max(upper) > 0:
        raise AccessError(
            "descriptor",
            f"an im2col store by a map whose corners {lower} and {upper} pad the tensor; those of "
            "stores lie inside (else an H200 ends it as an illegal instruction)",
        )


def _rows(map: TensorMap, first: int, index: list[Array]) -> Rows:
    """Rows at some indices of the outer dimensions, given dimension by dimension."""
    columns = first + np.arange(map.box[0])
    starts = np.full(len(index[0]) if index else 1, map.address + first * map.element_bytes)
    row_inside = np.ones(len(starts), np.bool_)
    for one, stride, extent in zip(index, map.strides, map.shape[1:], strict=True):
        starts = starts + one * stride
        row_inside &= (one >= 0) & (one < extent)
    return Rows(starts, row_inside, (columns >= 0) & (columns < map.shape[0]))


def _box(map: TensorMap, corner: list[int]) -> Rows:
    """``.tile``: the box at a corner, the outermost dimension varying slowest."""
    outer = zip(corner[1:], map.counts[1:], map.steps[1:], strict=True)
    axes = [c + np.arange(n, dtype=np.int64) * s for c, n, s in outer]
    grid = np.meshgrid(*reversed(axes), indexing="ij") if axes else []
    return _rows(map, corner[0], [one.ravel() for one in reversed(grid)])


def _four_rows(map: TensorMap, corner: list[int]) -> Rows:
    """``.tile::gather4`` and ``.tile::scatter4``: a column, then the numbers of four rows."""
    if map.box[1] != 1:
        raise AccessError("descriptor", "four rows by number need a box of one row")
    return _rows(map, corner[0], [np.array(corner[1:], np.int64)])


def _pixels(map: TensorMap, corner: list[int], offsets: list[int]) -> Rows:
    """``.im2col``: from the pixel at the coordinates on, as many as a column has.

    Pixels follow each other along the spatial dimensions by their traversal strides, inside the
    bounding box that the corners span, then along the outermost dimension. What is read is
    `offsets` away from each.
    """
    assert map.corners is not None
    lower, upper = map.corners
    ends = [extent - 1 + u for extent, u in zip(map.shape[1:], upper, strict=False)]
    place = corner[1:]
    found = np.empty((map.box[1], len(place)), np.int64)
    for pixel in found:
        pixel[:] = place
        for axis, (first, last) in enumerate(zip(lower, ends, strict=True)):
            place[axis] += map.steps[1 + axis]
            if place[axis] <= last:
                break
            place[axis] = first
        else:
            place[-1] += map.steps[-1]
    moves = [*offsets, *(0,) * (len(place) - len(offsets))]
    return _rows(map, corner[0], list((found + moves).T))


def _bytes(map: TensorMap, rows: Rows) -> int:
    """What a copy moves, parts outside the tensor included."""
    return len(rows.starts) * map.box[0] * map.element_bytes


def _shared_offsets(map: TensorMap, start: int, nbytes: int) -> Array:
    """Of each unit of a copy, by rows, its place in shared memory."""
    linear = start + np.arange(0, nbytes, UNIT, dtype=np.int64)
    swizzled: Array = np.asarray(layouts.swizzle(linear, map.swizzle))  # type: ignore[arg-type]
    return swizzled


def _check_tile(at: Array) -> None:
    if int(at[0]) % 128:
        raise AccessError(
            "misaligned", "a tensor copy's tile lies on 128 bytes", address=int(at[0])
        )


def _load(chunk: Chunk, decoded: Decoded) -> Step:
    destination, source, mbarrier = decoded.operands[:3]
    to = addresses(chunk, decoded, destination)
    to_space = Space(chunk, spaces(decoded)[0])
    maps = _Map(chunk, decoded, source)
    place, mask = Place(chunk, decoded, mbarrier), targets(chunk, decoded)
    place.space = Space(chunk, "shared::cluster")

    def action(lane: int, lanes: Lanes) -> None:
        map, rows = maps(lanes)
        _check_tile(to(lanes))
        nbytes = _bytes(map, rows)
        start = int(to_space.locate(to(lanes), UNIT, lanes)[0][1][0])
        to_space.locate(to(lanes) + (nbytes - UNIT), UNIT, lanes)
        units = _fetch(chunk, decoded, map, rows, lane).reshape(-1, UNIT)
        signal = int(place(lanes)[0])
        stride, many = chunk.shared_stride, np.full(len(units), lane)
        for first, object_at in receivers(chunk, lane, lanes, start, signal, mask):
            own = first // stride * stride
            offsets = own + _shared_offsets(map, first - own, nbytes)
            chunk.bulk.issue(Flight(object_at, offsets, units, many, decoded.at))

    return each(chunk, action)


@dataclass(frozen=True)
class _Inside:
    """The part of a copy that lies in the tensor."""

    region: Region
    offsets: Array
    """Byte offsets of its elements in the region, ``(rows, columns)``."""
    rows: Array
    columns: Array

    def elements(self, bytes_: Array, size: int) -> Array:
        """Of the bytes of a whole copy, by rows, those inside: ``(rows, columns, size)``."""
        shaped = bytes_.reshape(len(bytes_), -1, size)
        return shaped[np.ix_(self.rows, self.columns)]


def _inside(chunk: Chunk, map: TensorMap, rows: Rows) -> _Inside | None:
    """None where nothing is; raises :class:`AccessError` where the tensor leaves its allocation."""
    chosen, columns = np.flatnonzero(rows.row_inside), np.flatnonzero(rows.inside)
    if not len(chosen) or not len(columns):
        return None
    size = map.element_bytes
    (region, _), *_rest = chunk.memory.find(np.array([map.address]), size, None)
    along = columns * size
    offsets = rows.starts[chosen][:, None] + along - region.base
    if int(offsets.min()) < 0 or int(offsets.max()) + size > region.size:
        raise AccessError(
            "out-of-bounds",
            "the tensor that the map describes reaches beyond its allocation",
            address=region.base + int(offsets.max()) + size - 1,
            allocation=f"in {region}",
        )
    return _Inside(region, offsets, chosen, columns)


def _fetch(chunk: Chunk, decoded: Decoded, map: TensorMap, rows: Rows, lane: int) -> Array:
    """The bytes of a copy, by rows; what lies outside the tensor is filled."""
    size = map.element_bytes
    element = np.zeros(size, np.uint8)
    if map.fill == "nan":
        # The fill of floating point is the NaN with all bits but the sign.
        element = np.full(size, 0xFF, np.uint8)
        element[-1] = 0x7F
    bytes_ = np.tile(element, (len(rows.starts), map.box[0])).reshape(len(rows.starts), -1)
    inside = _inside(chunk, map, rows)
    if inside is None:
        return bytes_
    region = inside.region
    at = (inside.offsets[:, :, None] + np.arange(size)).reshape(len(inside.rows), -1)
    if not region.full and (region.state[at] != VALID).any():
        where = int(at[region.state[at] != VALID][0])
        raise AccessError(
            "uninitialised",
            "a tensor copy reads memory that was never written",
            address=region.base + where,
            allocation=f"in {region}",
        )
    if chunk.races is not None:
        flat = inside.offsets.ravel()
        if chunk.global_proxies is not None:
            chunk.global_proxies.use(region, flat, size, lane, "reads")
        chunk.races.memory.read(region, flat, size, np.full(len(flat), lane), decoded.at)
    target = (inside.columns[:, None] * size + np.arange(size)).ravel()
    bytes_[np.ix_(inside.rows, target)] = region.data[at]
    return bytes_


_REDUCIBLE = {
    "add": "u32 s32 u64 f16 bf16 f32 f64",
    "min": "u32 s32 u64 s64 f16 bf16",
    "max": "u32 s32 u64 s64 f16 bf16",
    "inc": "u32",
    "dec": "u32",
    **dict.fromkeys(("and", "or", "xor"), "u32 s32 u64 s64"),
}
"""Operations and the elements that they take."""


def _reduction(words: Words, map: TensorMap) -> Reduction:
    element, _, ftz = map.element.partition(".")
    operation = words.one_of(" ".join(_REDUCIBLE))
    if element not in _REDUCIBLE[operation].split():
        raise AccessError(
            "descriptor", f".{operation} is no reduction of elements of {map.element}"
        )
    return Reduction.of(words, element, flush=bool(ftz))


def _store(chunk: Chunk, decoded: Decoded) -> Step:
    target, source = decoded.operands[:2]
    maps = _Map(chunk, decoded, target)
    origin = addresses(chunk, decoded, source)
    space = Space(chunk, "shared::cta")
    put = _reduce if "reduce" in decoded.words else _overwrite

    def action(lane: int, lanes: Lanes) -> None:
        map, rows = maps(lanes)
        at = origin(lanes)
        _check_tile(at)
        offsets = _shared_offsets(map, int(at[0]), _bytes(map, rows))
        many = np.full(len(offsets), lane)
        cells = load_cells(space, offsets, UNIT, many)
        chunk.bulk.lend(space.locate(offsets, UNIT, many)[0][1], lane, decoded.at)
        bytes_ = cells.view(np.uint8).reshape(len(rows.starts), -1)
        inside = _inside(chunk, map, rows)
        if inside is not None:
            check_writable(inside.region)
            elements = inside.elements(bytes_, map.element_bytes)
            put(chunk, decoded, map, inside, elements, lane)

    return each(chunk, action)


def _overwrite(
    chunk: Chunk, decoded: Decoded, map: TensorMap, inside: _Inside, elements: Array, lane: int
) -> None:
    region, size = inside.region, map.element_bytes
    flat = inside.offsets.ravel()
    chunk.bulk.send(region, flat, size, lane, reduces=False)
    if chunk.races is not None:
        chunk.races.memory.write(region, flat, size, np.full(len(flat), lane), decoded.at)
    cells = np.ascontiguousarray(elements).reshape(-1).view(region.cells(size).dtype)
    region.store(flat, size, cells)


def _reduce(
    chunk: Chunk, decoded: Decoded, map: TensorMap, inside: _Inside, elements: Array, lane: int
) -> None:
    reduction = _reduction(decoded.words, map)
    rows = np.ascontiguousarray(elements).reshape(-1, map.element_bytes)
    flat = inside.offsets.ravel()
    chunk.bulk.send(inside.region, flat, map.element_bytes, lane, reduces=True)
    if chunk.races is not None:
        many = np.full(len(flat), lane)
        chunk.races.memory.write(
            inside.region, flat, map.element_bytes, many, decoded.at, ASYNCHRONOUS
        )
    reduction.apply(inside.region, flat, rows)
