"""What a tensor core computes: D = A B + C on stacks of small matrices.

Integers are exact. float64 is a chain of fma along k. Narrower floating point follows the model
that published bit-accurate simulators agree on (a truncated fused dot product and addition): for
each block of k, the exact products and the accumulator are aligned to the largest exponent among
them, cut below a fixed number of fraction bits, added, and the sum is cut to float32 (rounded to
even for float16). The blocks and bits are those of Hopper; see :data:`MODELS`. Measured on an H200,
``mma`` on f16, bf16, tf32, fp8, f64 and integers is equal to the bit, but for the m8n8k4 of f16
with f16 results, where one element in some thousands differs in its last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptx.emu.semantics import convert, half
from ptx.emu.semantics.rounding import FORMATS, fma_f32, fma_f64, quantised
from ptx.emu.semantics.rules import Array
from ptx.emu.semantics.specials import NAN_32


@dataclass(frozen=True)
class Model:
    """How floating-point products of one input type are added."""

    block: int
    """So many products are added at once."""
    fraction: int
    """Bits kept below the largest exponent."""


MODELS: dict[str, Model] = {
    "f16": Model(16, 25),
    "bf16": Model(16, 25),
    "tf32": Model(8, 25),
    "fp8": Model(32, 13),
}
"""By input type, for sm_90."""

_NARROW = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


def elements(registers: Array, type: str) -> Array:
    """Registers ``(..., r)`` as the elements they hold, ``(..., elements)``: float64 or int64."""
    if type == "f64":
        return registers.view(np.float64)
    if type == "tf32":
        # The tensor core reads the upper 19 bits of the register.
        cut = registers & np.uint32(0xFFFFE000)
        return cut.view(np.float32).astype(np.float64)
    if type in ("f16", "bf16"):
        return half.widened(registers.view(np.uint16), type)
    if type in _NARROW:
        bits = registers.view(np.uint8)
        return convert.small_values(bits, type)
    if type in ("s8", "u8"):
        return registers.view(np.int8 if type == "s8" else np.uint8).astype(np.int64)
    width = {"s4": 4, "u4": 4, "b1": 1}[type]
    bytes_ = registers.view(np.uint8)
    shifts = np.arange(0, 8, width, dtype=np.uint8)
    parts = (bytes_[..., None] >> shifts) & np.uint8((1 << width) - 1)
    values = parts.reshape(*registers.shape[:-1], -1).astype(np.int64)
    return np.where(values > 7, values - 16, values) if type == "s4" else values


def multiply(
    a: Array,
    b: Array,
    c: Array,
    type: str,
    result: str,
    saturate: bool = False,
    rounding: str = "rn",
) -> Array:
    """``(w, m, k)`` by ``(w, k, n)`` plus ``(w, m, n)``; the result as `result` holds it."""
    if result == "s32":
        total = a @ b + c
        if saturate:
            total = np.clip(total, -(2**31), 2**31 - 1)
        return total.astype(np.uint32).view(np.int32)
    if result == "f64":
        for k in range(a.shape[2]):
            c = _fma(a[:, :, k, None], b[:, k, None, :], c, rounding)
        return c
    if type in _NARROW:
        return _eight_bit(a, b, c, result)
    model = MODELS[type]
    accumulator = c
    for start in range(0, a.shape[2], model.block):
        span = slice(start, start + model.block)
        accumulator = dot_add(a[:, :, span], b[:, span], accumulator, model, result)
    return accumulator


def warpgroup_product(
    a: Array, b: Array, c: Array, type: str, result: str, saturate: bool
) -> Array:
    """What wgmma computes: as mma, but 8-bit inputs have a path of their own."""
    if type not in _NARROW:
        return multiply(a, b, c, type, result, saturate)
    return dot_add(a, b, c, MODELS["fp8"], result)


def _eight_bit(a: Array, b: Array, c: Array, result: str) -> Array:
    """mma on 8-bit inputs, which sm_90 does in float16: two products from zero, then c added.

    Of each four neighbours along k the first two go to the first product.
    """
    k = np.arange(a.shape[2])
    accumulator = np.zeros(c.shape)
    for part in (k[k % 4 < 2], k[k % 4 >= 2]):
        accumulator = dot_add(a[:, :, part], b[:, part], accumulator, MODELS["f16"], result)
    if result == "f32":
        return (accumulator.astype(np.float32) + c.astype(np.float32)).astype(np.float64)
    return narrowed(accumulator + c, result)


def quad_product(a: Array, b: Array, c: Array, result: str) -> Array:
    """mma.m8n8k4 of f16, which sm_90 does by float32 fma: a chain from zero, then c added."""
    total = np.zeros(c.shape, np.float32)
    for k in range(a.shape[2]):
        x, y = np.broadcast_arrays(a[:, :, k, None], b[:, k, None, :])
        x, y = x.astype(np.float32).ravel(), y.astype(np.float32).ravel()
        total = fma_f32(x, y, total.ravel()).reshape(c.shape)
    if result == "f32":
        return (total + c.astype(np.float32)).astype(np.float64)
    return narrowed(total.astype(np.float64) + c, result)


def _fma(a: Array, b: Array, c: Array, mode: str) -> Array:
    x, y, z = (np.ascontiguousarray(v).ravel() for v in np.broadcast_arrays(a, b, c))
    return fma_f64(x, y, z, mode).reshape(c.shape)


def bit_product(a: Array, b: Array, c: Array, operation: str) -> Array:
    """The 1-bit product: how many bits of the rows' combinations are set, added to c."""
    if operation == "and":
        count = a @ b
    else:
        count = a @ (1 - b) + (1 - a) @ b
    return (count + c).astype(np.uint32).view(np.int32)


def _heights(values: Array) -> Array:
    """The power of two of each value's leading bit; 0 for zero."""
    powers = np.ldexp(0.5, np.frexp(values)[1])
    return np.where(values == 0, 0.0, powers)


def dot_add(a: Array, b: Array, c: Array, model: Model, result: str) -> Array:
    """One block: all products and the accumulator aligned, cut, added and rounded.

    A product is as high as its factors' exponents say, whatever its own leading bit. Scaling by
    powers of two is exact throughout.
    """
    products = a[:, :, :, None] * b[:, None, :, :]
    finite = np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all()
    special = None
    if not finite:
        special = ~np.isfinite(c) | ~np.isfinite(products).all(axis=2)
        instead = products.sum(axis=2) + c
        a, b, c = (np.where(np.isfinite(v), v, 0.0) for v in (a, b, c))
        products = a[:, :, :, None] * b[:, None, :, :]
    heights = _heights(a)[:, :, :, None] * _heights(b)[:, None, :, :]
    top = np.maximum(heights.max(axis=2), _heights(c))
    top[top == 0] = 1.0
    scale = 2.0**model.fraction / top
    products *= scale[:, :, None, :]
    np.trunc(products, out=products)
    total = products.sum(axis=2)
    total += np.trunc(c * scale)
    total /= scale
    if special is not None:
        total = np.where(special, instead, total)
    return narrowed(total, result)


_BELOW_F32 = np.uint64(0x1FFFFFFF)


def narrowed(total: Array, result: str) -> Array:
    """The sum as the accumulator's type has it, as float64."""
    size = np.abs(total)
    if result == "f32" and ((size >= 2.0**-126) | (size == 0)).all() and size.max() < 2.0**128:
        # In the normal range cutting to float32 is cutting bits.
        bits = np.ascontiguousarray(total).view(np.uint64) & ~_BELOW_F32
        return bits.view(np.float64)
    flat = total.ravel()
    form = FORMATS[result]
    rounded = quantised(flat, form, "rz" if result == "f32" else "rn")
    beyond = np.abs(rounded) > form.largest
    rounded = np.where(beyond, np.copysign(np.inf, rounded), rounded)
    return rounded.reshape(total.shape)


def registers_of(values: Array, result: str) -> Array:
    """Elements ``(..., n)`` of a result as the registers that hold them."""
    if result == "f64":
        return np.ascontiguousarray(values)
    if result == "s32":
        return np.ascontiguousarray(values).view(np.uint32)
    if result == "f16":
        bits = half.narrowed(values.ravel(), "f16").reshape(values.shape)
        return np.ascontiguousarray(bits).view(np.uint32)
    single = values.astype(np.float32)
    bits32 = np.ascontiguousarray(single).view(np.uint32)
    return np.where(np.isnan(single), NAN_32, bits32)
