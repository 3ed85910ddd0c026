"""Sparse A of mma.sp and wgmma.sp: where its elements belong (PTX ISA 9.0, sections 9.7.14.6 and
9.7.15.6).

A row of A holds half of its elements. Four bits of metadata tell the places of each chunk's: two of
four elements, two pairs of eight where they have 4 bits, one of two where they have 32. In a quad
of lanes, which hold rows g and g + 8, the selector names the lanes whose metadata counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ptx import layouts
from ptx.emu import steps
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.steps import select
from ptx.ir import Imm, Operand

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_TF32 = (0b0100, 0b1110)
"""The first or the second element of two, as the halves of a 64-bit chunk."""


@dataclass(frozen=True)
class Metadata:
    """How the lanes of a warp hold the metadata of 16 rows."""

    k: int
    """Columns of the whole A."""
    bits: int
    """Of an element: 32, 16, 8 or 4."""
    selector: int

    @cached_property
    def chunk(self) -> int:
        """Columns that four bits tell of."""
        return layouts.CHUNKS[self.bits]

    @cached_property
    def _places(self) -> Array:
        """Lane, shift, row and chunk of each four bits."""
        map = layouts.sparse_metadata(f"m16n8k{self.k}", self.bits, self.selector)
        return np.array(
            [
                (lane, layouts.INDEX_BITS * element, *place)
                for lane, held in enumerate(map.places)
                for element, place in enumerate(held)
            ]
        ).T

    def nibbles(self, held: Array) -> Array:
        """From the registers of warps ``(w, 32)`` the metadata by rows, ``(w, 16, chunks)``."""
        lanes, shifts, rows, chunks = self._places
        found = np.empty((len(held), 16, self.k // self.chunk), np.int64)
        found[:, rows, chunks] = held[:, lanes].astype(np.int64) >> shifts & 15
        return found

    def columns(self, nibbles: Array, ordered: bool) -> tuple[Array, Array]:
        """The column of each element that A holds, ``(w, 16, k / 2)``, and which are legal."""
        first, second = nibbles & 3, nibbles >> 2
        start = np.arange(nibbles.shape[2]) * self.chunk
        if self.bits == 32:
            return start + first // 2, np.isin(nibbles, _TF32)
        legal = first < second if ordered else first != second
        places = np.stack([first, second], axis=3)
        if self.bits == 4:
            places = (2 * places)[..., None] + np.arange(2)
        places = places.reshape(*nibbles.shape, -1) + start[:, None]
        return places.reshape(*nibbles.shape[:2], -1), legal


class Selection:
    """The metadata operand of one instruction, read by whole warps."""

    def __init__(
        self, chunk: Chunk, decoded: Decoded, operand: Operand, selector: Operand, k: int, bits: int
    ) -> None:
        assert isinstance(selector, Imm)
        self.value = steps.read(chunk, decoded, operand, "u32")
        self.metadata = Metadata(k, bits, int(selector.value))
        self.ordered = "sp::ordered_metadata" in decoded.words

    def columns(self, warps: Array) -> Array:
        """``(w, 16, k / 2)``; raises :class:`AccessError` for metadata that names no two places."""
        held = select(self.value, warps.ravel()).reshape(warps.shape)
        nibbles = self.metadata.nibbles(held)
        columns, legal = self.metadata.columns(nibbles, self.ordered)
        if not legal.all():
            warp, row, chunk = (int(n) for n in np.argwhere(~legal)[0])
            raise AccessError(
                "descriptor",
                f"the metadata of chunk {chunk} of row {row} of A is "
                f"{int(nibbles[warp, row, chunk]):#06b}, which is none",
                lane=int(warps[warp, 4 * (row % 8)]),
            )
        return columns


def gathered_rows(matrix: Array, columns: Array) -> Array:
    """Of B ``(w, k, n)`` the rows that each row of A meets: ``(w, m, k / 2, n)``."""
    return matrix[np.arange(len(matrix))[:, None, None], columns]
