"""What a load of a wmma fragment puts into each lane's registers, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np

import ptx
from ptx import layouts
from ptx.devices import Device
from ptx.fragments import fragment
from tests.fragments.products import stored

USES = {"a": "matrix_a", "b": "matrix_b", "c": "accumulator"}
CODES: dict[str, Any] = {
    "f16": np.uint16, "bf16": np.uint16, "tf32": np.uint32, "f32": np.uint32, "s32": np.uint32,
    "f64": np.uint64, "s8": np.uint8, "u8": np.uint8,
}  # fmt: skip


def measured_map(
    device: Device, shape: str, operand: str, type: str, layout: str
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """(row, column) by lane and element.

    The matrix holds its elements' numbers, as many bits of them at a time as an element has.
    """
    m, n, depth = layouts.shape_of(shape)
    k = ptx.Kernel("load", source="global.b32@32", out="global.b32")
    source, out = k.params()
    own = None if operand == "c" else layout
    one = fragment(k, USES[operand], m, n, depth, type, own, family="wmma")
    one.load(source, layout=layout)
    lane = k.mov.u32(k.laneid)
    bits = 64 if type == "f64" else 32
    at = out + k.mul.wide.u32(lane, len(one.registers) * bits // 8)
    for number, register in enumerate(one.registers):
        k.op(f"st.global.b{bits}", ptx.ir.Addr(at, number * bits // 8), register)
    k.ret()
    kernel = device.load(ptx.Module(k))["load"]
    rows, columns = one.map.rows, one.map.columns
    width = min(one.map.bits, 8)
    numbers = np.arange(rows * columns).reshape(rows, columns)
    found: Any = 0
    for shift in range(0, max(1, (rows * columns - 1).bit_length()), width):
        digits = numbers >> shift & (1 << width) - 1
        matrix = digits if one.map.bits < 8 else digits.astype(CODES[type])
        array = device.array(stored(matrix, type, layout))
        result = device.empty(32 * len(one.registers) * bits // 8, "u1", poison=True)
        kernel.launch(1, 32, [array, result])
        found = found + (_elements(result.numpy(), one.map.bits) << shift)
    return tuple(tuple(divmod(int(x), columns) for x in lane) for lane in found.reshape(32, -1))


def _elements(held: Any, bits: int) -> Any:
    if bits >= 8:
        return held.view({8: "u1", 16: "u2", 32: "u4", 64: "u8"}[bits]).astype(np.int64)
    parts = held[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & (1 << bits) - 1
    return parts.reshape(-1).astype(np.int64)
