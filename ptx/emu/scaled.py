"""Block-scaled products: mma with .block_scale (PTX ISA 9.0, section 9.7.14.3).

D = (A scale_A) (B scale_B) + C, a scale for each block along k of a row of A or a column of B. How
these are added the ISA leaves open but for at least single precision; here they are added in
float64 and the sum is rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx import layouts
from ptx.emu import steps
from ptx.emu.access import vector_operands
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.semantics import convert, tensor_core
from ptx.emu.sparse import Selection, gathered_rows
from ptx.emu.steps import Source, select
from ptx.emu.tensor import (
    SHAPES,
    Together,
    fragment_of,
    gathered,
    input_bits,
    matrix_of,
    sources,
    together,
)
from ptx.ir import Operand

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk


class _Scales:
    """One of the two operands with scales, and the place of those in it."""

    def __init__(
        self, chunk: Chunk, decoded: Decoded, data: Operand, place: Operand, count: int, side: str
    ) -> None:
        self.type = decoded.words.one_of("ue8m0 ue4m3")
        self.count, self.side = count, side
        self.data = steps.read(chunk, decoded, data, "b32")
        self.place = [steps.read(chunk, decoded, one, "u16") for one in vector_operands(place)]

    def __call__(self, warps: Array) -> Array:
        """Of A ``(w, 16, count)``, of B ``(w, 8, count)``."""
        flat = warps.ravel()
        held = np.ascontiguousarray(select(self.data, flat)).reshape(warps.shape)
        byte, thread = (select(one, flat).reshape(warps.shape)[:, 0] for one in self.place)
        for name, value, legal in (
            ("byte", byte, range(0, 4, self.count)),
            ("thread", thread, range(2 if self.side == "a" else 4)),
        ):
            wrong = ~np.isin(value, legal)
            if wrong.any():
                where = int(np.argmax(wrong))
                raise AccessError(
                    "descriptor",
                    f"{name} {int(value[where])} holds no scales of {self.side.upper()}: legal are "
                    + ", ".join(map(str, legal)),
                    lane=int(warps[where, 0]),
                )
        quads = held.view(np.uint8).reshape(len(warps), 8, 4, 4)
        warp = np.arange(len(warps))[:, None]
        bytes_ = byte[:, None].astype(np.int64) + np.arange(self.count)
        if self.side == "b":
            found = quads[warp, :, thread[:, None], :][:, 0]
            return self.values(found[warp[:, :, None], np.arange(8)[:, None], bytes_[:, None]])
        pair = 2 * thread[:, None].astype(np.int64) + np.arange(2)
        # Rows g are the first lane's, rows g + 8 the second's.
        lanes = quads[warp, :, pair, :].reshape(len(warps), 16, 4)
        return self.values(lanes[warp[:, :, None], np.arange(16)[:, None], bytes_[:, None]])

    def values(self, codes: Array) -> Array:
        if self.type == "ue8m0":
            value = np.ldexp(1.0, codes.astype(np.int32) - 127)
            return np.where(codes == 0xFF, np.nan, value)
        return convert.small_values(np.ascontiguousarray(codes & np.uint8(0x7F)), "e4m3")


def bind(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    words = decoded.words
    shape = words.one_of(SHAPES)
    _, _, k = layouts.shape_of(shape)
    _, a_type, b_type, _ = words.types[:4]
    d, a, b, c, *rest = decoded.operands
    packed = "kind::mxf8f6f4" not in words
    bits = [4 if packed else input_bits(type, True) for type in (a_type, b_type)]
    selection = None
    if any(word.startswith("sp") for word in words.all):
        meta, selector, *rest = rest
        selection = Selection(chunk, decoded, meta, selector, k, bits[0])
    count = {"scale_vec::2X": 2, "scale_vec::4X": 4}.get(
        words.one_of("scale_vec::1X scale_vec::2X scale_vec::4X"),
        2 if "kind::mxf4" in words else 1,
    )
    scale_a = _Scales(chunk, decoded, rest[0], rest[1], count, "a")
    scale_b = _Scales(chunk, decoded, rest[2], rest[3], count, "b")
    fragments = (
        layouts.mma_fragment(shape, "a", bits[0])
        if selection is None
        else layouts.mma_sparse_fragment(shape, bits[0]),
        layouts.mma_fragment(shape, "b", bits[1]),
        layouts.mma_fragment(shape, "c", 32),
    )
    outs = [steps.target(chunk, decoded, operand, "b32") for operand in vector_operands(d)]
    inputs = [sources(chunk, decoded, operand, "b32") for operand in (a, b, c)]
    block = np.arange(k) // (k // count)

    def matrix(number: int, warps: Array, type: str) -> Array:
        held = tensor_core.elements(gathered(inputs[number], warps), type, fragments[number].bits)
        return matrix_of(fragments[number], held)

    def action(warps: Array) -> None:
        left, right = matrix(0, warps, a_type), matrix(1, warps, b_type)
        added = matrix_of(fragments[2], gathered(inputs[2], warps).view(np.float32))
        of_rows, of_columns = scale_a(warps), scale_b(warps)
        right = right * of_columns.swapaxes(1, 2)[:, block]
        if selection is None:
            left = left * of_rows[:, :, block]
            products = left[:, :, :, None] * right[:, None]
        else:
            columns = selection.columns(warps)
            left = left * np.take_along_axis(of_rows, block[columns], axis=2)
            products = left[:, :, :, None] * gathered_rows(right, columns)
        total = products.sum(axis=2) + added
        held = tensor_core.registers_of(fragment_of(fragments[2], total), "f32")
        for number, out in enumerate(outs):
            out[warps] = held[:, :, number]

    return together(chunk, action)
