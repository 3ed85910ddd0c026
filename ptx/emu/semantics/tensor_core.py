"""What a tensor core computes: D = A B + C on stacks of small matrices.

Integers are exact. float64 is a chain of fma along k. Narrower floating point follows the model
that published bit-accurate simulators agree on (a truncated fused dot product and addition): for
each block of k, the exact products and the accumulator are aligned to the largest exponent among
them, cut below a fixed number of fraction bits, added, and the sum is cut to float32 (rounded to
even for float16). The blocks and bits are those of Hopper; see :data:`MODELS`. Measured on an H200,
every ``mma`` and ``wmma`` is equal to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptx.emu.semantics import convert, half
from ptx.emu.semantics.rounding import FORMATS, Format, fma_f32, fma_f64, overflowed, quantised
from ptx.emu.semantics.rules import Array
from ptx.emu.semantics.specials import NAN_32, nan_of_operands


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


def model_of(type: str) -> Model:
    return MODELS["fp8" if type in _NARROW else type]


def elements(registers: Array, type: str, bits: int = 8) -> Array:
    """Registers ``(..., r)`` as the elements they hold, ``(..., elements)``: float64 or int64.

    `bits` matters for ``e2m1``, which lies in four bits, or in the middle ones of a byte.
    """
    if type == "f64":
        return registers.view(np.float64)
    if type == "tf32":
        # The tensor core reads the upper 19 bits of the register.
        cut = registers & np.uint32(0xFFFFE000)
        return cut.view(np.float32).astype(np.float64)
    if type in ("f16", "bf16"):
        return half.widened(registers.view(np.uint16), type)
    if type == "e2m1":
        bytes_ = registers.view(np.uint8)
        codes = np.stack([bytes_, bytes_ >> np.uint8(4)], axis=-1) if bits == 4 else bytes_ >> 2
        codes = (codes & np.uint8(15)).reshape(*registers.shape[:-1], -1)
        return convert.small_values(codes, type)
    if type in _NARROW:
        mask = np.uint8(0xFF if type in ("e4m3", "e5m2") else 0x3F)
        return convert.small_values(registers.view(np.uint8) & mask, type)
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
    block: int = 0,
) -> Array:
    """``(w, m, k)`` by ``(w, k, n)`` plus ``(w, m, n)``; the result as `result` holds it.

    Where A is sparse each of its rows meets rows of B of its own, and `b` is ``(w, m, k, n)``.
    `block` products are added at once where that is not the input type's own number.
    """
    if result == "s32":
        total = (a @ b if b.ndim == 3 else (a[:, :, None] @ b)[:, :, 0]) + c
        if saturate:
            total = np.clip(total, -(2**31), 2**31 - 1)
        return total.astype(np.uint32).view(np.int32)
    if result == "f64":
        for k in range(a.shape[2]):
            c = _fma(a[:, :, k, None], b[:, k, None, :], c, rounding)
        return c
    if type in _NARROW:
        return _eight_bit(a, b, c, result)
    block = block or MODELS[type].block
    accumulator = c
    for start in range(0, a.shape[2], block):
        span = slice(start, start + block)
        accumulator = dot_add(a[:, :, span], b[..., span, :], accumulator, type, result)
    return accumulator


def warpgroup_product(
    a: Array, b: Array, c: Array, kinds: tuple[str, str, str], saturate: bool
) -> Array:
    """What wgmma computes on inputs and a result of some types: as mma, but for 8-bit floats, which
    have a path of their own here, and an accumulator of 14 bits.
    """
    type, other, result = kinds
    if type == "b1":
        return bit_product(a, b, c, "and")
    if type not in _NARROW:
        return multiply(a, b, c, type, result, saturate)
    total = dot_add(a, b, c, type, result, other)
    if result == "f16":
        return total
    return quantised(total.ravel(), _SHORT, "rz").reshape(total.shape)


_SHORT = Format(MODELS["fp8"].fraction + 1, -126, FORMATS["f32"].largest)


def _eight_bit(a: Array, b: Array, c: Array, result: str) -> Array:
    """mma on 8-bit inputs, which sm_90 does in float16: two products from zero, then c added.

    Of each four neighbours along k the first two go to the first product.
    """
    k = np.arange(a.shape[2])
    accumulator = np.zeros(c.shape)
    for part in (k[k % 4 < 2], k[k % 4 >= 2]):
        accumulator = dot_add(a[:, :, part], b[..., part, :], accumulator, "f16", result)
    if result == "f32":
        return (accumulator.astype(np.float32) + c.astype(np.float32)).astype(np.float64)
    return in_half(accumulator + c)


def quad_product(a: Array, b: Array, c: Array, result: str) -> Array:
    """mma.m8n8k4 of f16, which sm_90 does by float32 instructions.

    For f32 a chain of fma from zero, then c added; for f16 the sum of the first two products added
    to c, and that of the last two added to this.
    """

    def chain(ks: range) -> Array:
        total = np.zeros(c.shape, np.float32)
        for k in ks:
            x, y = np.broadcast_arrays(a[:, :, k, None], b[:, k, None, :])
            x, y = x.astype(np.float32).ravel(), y.astype(np.float32).ravel()
            total = fma_f32(x, y, total.ravel()).reshape(c.shape)
        return total

    single = c.astype(np.float32)
    if result == "f32":
        return (chain(range(4)) + single).astype(np.float64)
    return in_half((single + chain(range(2)) + chain(range(2, 4))).astype(np.float64))


def _fma(a: Array, b: Array, c: Array, mode: str) -> Array:
    x, y, z = (np.ascontiguousarray(v).ravel() for v in np.broadcast_arrays(a, b, c))
    return nan_of_operands(fma_f64(x, y, z, mode), (x, y, z)).reshape(c.shape)


def bit_product(a: Array, b: Array, c: Array, operation: str) -> Array:
    """The 1-bit product: how many bits of the rows' combinations are set, added to c."""
    if operation == "and":
        count = a @ b
    else:
        count = a @ (1 - b) + (1 - a) @ b
    return (count + c).astype(np.uint32).view(np.int32)


def _heights(values: Array, type: str) -> Array:
    """The power of two of each value's exponent, which subnormal ones share; 0 for zero."""
    least = FORMATS[type].least_exponent + 1
    powers = np.ldexp(0.5, np.maximum(np.frexp(values)[1], least))
    return np.where(values == 0, 0.0, powers)


def dot_add(
    a: Array, b: Array, c: Array, type: str, result: str, b_type: str | None = None
) -> Array:
    """One block: all products and the accumulator aligned, cut, added and rounded.

    `b` is as in :func:`multiply`. A product is as high as its factors' exponents say, whatever its
    own leading bit. Scaling by powers of two is exact throughout.
    """
    if b.ndim == 3:
        b = b[:, None]
    products = a[:, :, :, None] * b
    finite = np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all()
    special = None
    if not finite:
        special = ~np.isfinite(c) | ~np.isfinite(products).all(axis=2)
        instead = products.sum(axis=2) + c
        a, b, c = (np.where(np.isfinite(v), v, 0.0) for v in (a, b, c))
        products = a[:, :, :, None] * b
    heights = _heights(a, type)[:, :, :, None] * _heights(b, b_type or type)
    top = np.maximum(heights.max(axis=2), _heights(c, result))
    top[top == 0] = 1.0
    scale = 2.0 ** model_of(type).fraction / top
    products *= scale[:, :, None, :]
    np.trunc(products, out=products)
    total = products.sum(axis=2)
    total += np.trunc(c * scale)
    total /= scale
    if special is not None:
        total = np.where(special, instead, total)
    return narrowed(total, result)


_BELOW_F32 = np.uint64(0x1FFFFFFF)


def in_half(values: Array) -> Array:
    """Rounded to float16."""
    form = FORMATS["f16"]
    flat = values.ravel()
    return overflowed(quantised(flat, form, "rn"), form, "rn").reshape(values.shape)


def narrowed(total: Array, result: str) -> Array:
    """The sum as the accumulator's type has it, as float64."""
    size = np.abs(total)
    if result == "f32" and ((size >= 2.0**-126) | (size == 0)).all() and size.max() < 2.0**128:
        # In the normal range cutting to float32 is cutting bits.
        bits = np.ascontiguousarray(total).view(np.uint64) & ~_BELOW_F32
        return bits.view(np.float64)
    flat = total.ravel()
    form = FORMATS[result]
    # A negative sum that rounds to zero in float16 loses its sign.
    rounded = quantised(flat, form, "rz") if result == "f32" else quantised(flat, form, "rn") + 0.0
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
