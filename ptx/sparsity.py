"""Matrices half of whose elements are zero, as ``mma.sp`` takes them: what is kept, and its place.

    kept = compress(prune(weights, "f16"), "f16")
    kept.values                       # [rows, K / 2]
    kept.words("m16n8k32")            # [rows / 16, K / 32, 32]: the register of each lane

Of four neighbours along K two are kept, of tf32 one of two; 4-bit integers are kept or left out by
pairs. Source: PTX ISA 9.0, section 9.7.14.6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptx import layouts

Matrix = np.ndarray[Any, Any]
TYPES = ("f16", "bf16", "tf32", "s8", "u8", "s4", "u4", "e4m3", "e5m2")
"""What a sparse A may be made of."""
FIRST, SECOND = 0b0100, 0b1110
"""Which of two was kept, in the place of an index: as for the two halves of each."""


@dataclass(frozen=True)
class Compressed:
    """A matrix without the half that is zero."""

    type: str
    """PTX's word for an element: ``"f16"``."""
    values: Matrix
    """[rows, K / 2]: what is kept, zeros among it where a chunk has more of them."""
    indices: Matrix
    """[rows, chunks], uint8: which two of a chunk those are, lower one first, two bits each."""

    @property
    def bits(self) -> int:
        return layouts.ELEMENT_BITS[self.type]

    def words(self, shape: str, selector: int = 0) -> Matrix:
        """The metadata by blocks of a product, [rows / 16, K / k, 32], uint32: one word for each
        lane, 0 where a lane's is not looked at. Raises ValueError for other sizes or selectors.
        """
        map = layouts.sparse_metadata(shape, self.bits, selector)
        rows, chunks = self.indices.shape
        if rows % map.rows or chunks % map.columns:
            raise ValueError(
                f"{rows} x {chunks} chunks are no multiple of {map.rows} x {map.columns}, which "
                f"one {shape} takes"
            )
        blocks = self.indices.reshape(
            rows // map.rows, map.rows, chunks // map.columns, map.columns
        ).swapaxes(1, 2)
        found = np.zeros((*blocks.shape[:2], layouts.WARP), np.uint32)
        for lane, held in enumerate(map.places):
            for element, (row, chunk) in enumerate(held):
                shift = np.uint32(layouts.INDEX_BITS * element)
                found[:, :, lane] |= blocks[:, :, row, chunk].astype(np.uint32) << shift
        return found

    def dense(self) -> Matrix:
        """The matrix again, [rows, K]."""
        unit = _unit(self.type)
        values = self.values.reshape(*self.indices.shape, -1, unit)
        found = np.zeros((*self.indices.shape, layouts.CHUNKS[self.bits] // unit, unit),
                         self.values.dtype)  # fmt: skip
        at = [self.indices >> 3] if self.bits == 32 else [self.indices & 3, self.indices >> 2]
        for number, place in enumerate(at):
            index = place[..., None, None].astype(np.int64)
            np.put_along_axis(found, index, values[:, :, number : number + 1], axis=2)
        return found.reshape(len(self.values), -1)


def compress(matrix: Any, type: str) -> Compressed:
    """What is kept of [rows, K] elements. Raises ValueError where more of a chunk is not 0."""
    chunks = _chunks(matrix, type)
    used = (chunks != 0).any(axis=3)
    keep = used.shape[2] // 2
    if (used.sum(axis=2) > keep).any():
        row, chunk = np.argwhere(used.sum(axis=2) > keep)[0]
        width = layouts.CHUNKS[layouts.ELEMENT_BITS[type]]
        raise ValueError(
            f"columns {chunk * width} to {chunk * width + width - 1} of row {row} have more than "
            f"{width // 2} elements{' in pairs' if _unit(type) > 1 else ''} that are not 0"
        )
    # What is not 0 first, then zeros from the left; the places that are kept in their order.
    places = np.sort(np.argsort(~used, axis=2, kind="stable")[:, :, :keep], axis=2)
    values = np.take_along_axis(chunks, places[..., None], axis=2)
    if keep == 1:
        indices = np.where(places[:, :, 0] == 0, FIRST, SECOND)
    else:
        indices = places[:, :, 0] | places[:, :, 1] << 2
    return Compressed(type, values.reshape(len(chunks), -1), indices.astype(np.uint8))


def prune(matrix: Any, type: str) -> Matrix:
    """A copy in which the smaller half of every chunk is 0, by magnitude (of pairs, summed)."""
    chunks = _chunks(matrix, type).copy()
    sizes = abs(chunks.astype(np.float64)).sum(axis=3)
    order = np.argsort(sizes, axis=2, kind="stable")[:, :, : sizes.shape[2] // 2]
    np.put_along_axis(chunks, order[..., None], 0, axis=2)
    return chunks.reshape(np.shape(matrix))


def _unit(type: str) -> int:
    """Neighbours that are kept, or not, together."""
    return 2 if layouts.ELEMENT_BITS[type] == 4 else 1


def _chunks(matrix: Any, type: str) -> Matrix:
    """[rows, chunks, units, elements of a unit]."""
    given = np.asarray(matrix)
    if type not in TYPES:
        raise ValueError(f"mma.sp takes no .{type}; expected one of {', '.join(TYPES)}")
    width = layouts.CHUNKS[layouts.ELEMENT_BITS[type]]
    if given.ndim != 2 or given.shape[1] % width:
        raise ValueError(
            f"expected [rows, K] with a K that is a multiple of {width}, got shape {given.shape}"
        )
    unit = _unit(type)
    return given.reshape(len(given), -1, width // unit, unit)
