"""Integer arithmetic (PTX ISA 9.0, sections 9.7.1 and 9.7.2), exact.

Division by zero, which the ISA leaves open, gives all ones, and so does its remainder, as on an
H200.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptx import types
from ptx.emu.semantics.rules import (
    Array,
    Meaning,
    Words,
    dtype_of,
    halves,
    packed,
    rule,
    same,
    unsigned,
)


def carry_of_sum(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """a + b + c modulo the width, with the carry; `c` is bool."""
    first = a + b
    total = first + c.astype(a.dtype)
    return total, (first < a) | (total < first)


def high_product(a: Array, b: Array) -> Array:
    """The upper half of the product of 64-bit integers, signed or not as their type is."""
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    ua, ub = a.view(np.uint64), b.view(np.uint64)
    a0, a1, b0, b1 = ua & low, ua >> high, ub & low, ub >> high
    middle = a1 * b0 + (a0 * b0 >> high)
    cross = (middle & low) + a0 * b1
    product = a1 * b1 + (middle >> high) + (cross >> high)
    if a.dtype == np.int64:
        product -= np.where(a < 0, ub, np.uint64(0)) + np.where(b < 0, ua, np.uint64(0))
    return product.view(a.dtype)


def product_part(part: str, type: str) -> Any:
    """A function for the ``lo``, ``hi`` or ``wide`` part of a product of `type`."""
    if part == "lo":
        return np.multiply
    width = types.bits(type)
    if width == 64:
        return lambda a, b: high_product(np.ascontiguousarray(a), np.ascontiguousarray(b))
    wide = dtype_of(types.widened(type))
    if part == "wide":
        return lambda a, b: np.multiply(a, b, dtype=wide, casting="unsafe")
    return lambda a, b: (np.multiply(a, b, dtype=wide, casting="unsafe") >> wide(width)).astype(
        a.dtype
    )


def clamped(wide: Array, type: str) -> Array:
    """Saturated to the range of an integer type."""
    limits = np.iinfo(dtype_of(type))
    return np.clip(wide, limits.min, limits.max).astype(dtype_of(type))


@rule("add", "sub")
def add_sub(words: Words) -> Meaning:
    from ptx.emu.semantics import floating

    type = words.type
    if types.kind(type) == "f" and type not in ("u16x2", "s16x2"):
        return floating.add_sub(words)
    subtract = words.opcode == "sub"
    operation = np.subtract if subtract else np.add
    if "sat" in words:

        def saturated(a: Array, b: Array) -> Array:
            return clamped(operation(a, b, dtype=np.int64), type)

        return same(saturated, type)
    if type in ("u16x2", "s16x2"):
        return Meaning(lambda a, b: packed(operation(halves(a), halves(b))), ("b32",), ("b32",) * 2)
    plain = unsigned(type)
    if "cc" not in words:
        return same(operation, plain)

    def with_carry(a: Array, b: Array) -> tuple[Array, Array]:
        flag = np.full(len(a), subtract)
        return carry_of_sum(a, ~b if subtract else b, flag)

    return Meaning(with_carry, (plain,), (plain, plain), carry_out=True)


@rule("addc", "subc")
def carry_in(words: Words) -> Meaning:
    plain = unsigned(words.type)
    subtract = words.opcode == "subc"
    carries = "cc" in words

    def function(a: Array, b: Array, carry: Array) -> Any:
        both = carry_of_sum(a, ~b if subtract else b, carry)
        return both if carries else both[0]

    return Meaning(function, (plain,), (plain, plain), carry_in=True, carry_out=carries)


@rule("mul")
def multiply(words: Words) -> Meaning:
    from ptx.emu.semantics import floating

    type = words.type
    if types.kind(type) == "f":
        return floating.multiply(words)
    part = words.one_of("lo hi wide")
    if part == "lo":
        return same(np.multiply, unsigned(type))
    result = types.widened(type) if part == "wide" else type
    return Meaning(product_part(part, type), (result,), (type, type))


@rule("mad", "madc")
def multiply_add(words: Words) -> Meaning:
    from ptx.emu.semantics import floating

    type = words.type
    if types.kind(type) == "f":
        return floating.fused(words)
    part = words.one_of("lo hi wide")
    result = types.widened(type) if part == "wide" else type
    product = product_part(part, unsigned(type) if part == "lo" else type)
    takes, gives = words.opcode == "madc", "cc" in words
    plain = dtype_of(unsigned(result))
    sources = (type, type, result)
    if "sat" in words:
        return Meaning(
            lambda a, b, c: clamped(product(a, b).astype(np.int64) + c, type), (type,), sources
        )

    def function(a: Array, b: Array, c: Array, carry: Array | None = None) -> Any:
        high = np.ascontiguousarray(product(a, b)).view(plain)
        if not takes and not gives:
            return (high + np.ascontiguousarray(c).view(plain)).view(dtype_of(result))
        flag = np.zeros(len(a), np.bool_) if carry is None else carry
        total, out = carry_of_sum(high, np.ascontiguousarray(c).view(plain), flag)
        return (total.view(dtype_of(result)), out) if gives else total.view(dtype_of(result))

    return Meaning(function, (result,), sources, carry_in=takes, carry_out=gives)


@rule("mul24", "mad24")
def multiply_24(words: Words) -> Meaning:
    type = words.type
    shift = np.int64(40) if types.is_signed(type) else np.uint64(40)
    wide = np.int64 if types.is_signed(type) else np.uint64
    down = wide(16) if "hi" in words else wide(0)

    def product(a: Array, b: Array) -> Array:
        cut = [(x.astype(wide) << shift) >> shift for x in (a, b)]
        return (cut[0] * cut[1]) >> down

    if words.opcode == "mul24":
        return same(lambda a, b: product(a, b).astype(dtype_of(type)), type)
    if "sat" in words:
        # The 32 bits of the product's part are signed before they are added.
        return same(
            lambda a, b, c: clamped(product(a, b).astype(np.int32).astype(np.int64) + c, type),
            type,
            3,
        )
    return same(lambda a, b, c: (product(a, b) + c.astype(wide)).astype(dtype_of(type)), type, 3)


@rule("sad")
def sum_of_absolute_differences(words: Words) -> Meaning:
    plain = dtype_of(unsigned(words.type))

    def function(a: Array, b: Array, c: Array) -> Array:
        larger, smaller = np.maximum(a, b), np.minimum(a, b)
        return (larger.astype(plain) - smaller.astype(plain) + c.astype(plain)).astype(a.dtype)

    return same(function, words.type, 3)


def truncated(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient rounded toward zero and remainder of the dividend's sign."""
    plain = np.dtype(a.dtype.str.replace("i", "u"))
    ua, ub = np.abs(a).astype(plain), np.abs(b).astype(plain)
    zero = b == 0
    ub[zero] = 1
    quotient, remainder = np.divmod(ua, ub)
    if a.dtype.kind == "i":
        quotient = np.where((a < 0) != (b < 0), np.uint8(0) - quotient, quotient)
        remainder = np.where(a < 0, np.uint8(0) - remainder, remainder)
    quotient, remainder = quotient.astype(a.dtype), remainder.astype(a.dtype)
    if zero.any():
        quotient[zero] = np.array(-1).astype(a.dtype)
        remainder[zero] = quotient[zero]
    return quotient, remainder


@rule("div")
def divide(words: Words) -> Meaning:
    from ptx.emu.semantics import floating

    if types.kind(words.type) == "f":
        return floating.divide(words)
    return same(lambda a, b: truncated(a, b)[0], words.type)


@rule("rem")
def remainder(words: Words) -> Meaning:
    return same(lambda a, b: truncated(a, b)[1], words.type)


@rule("abs", "neg")
def absolute_negate(words: Words) -> Meaning:
    from ptx.emu.semantics import floating

    if types.kind(words.type) == "f":
        return floating.absolute_negate(words)
    return same(np.absolute if words.opcode == "abs" else np.negative, words.type, 1)


@rule("min", "max")
def least_greatest(words: Words) -> Meaning:
    from ptx.emu.semantics import floating

    type = words.type
    operation = np.minimum if words.opcode == "min" else np.maximum
    if type in ("u16x2", "s16x2"):
        part = np.uint16 if type == "u16x2" else np.int16

        def both(a: Array, b: Array) -> Array:
            chosen = operation(halves(a, part), halves(b, part))
            return packed(np.maximum(chosen, 0) if "relu" in words else chosen)

        return Meaning(both, ("b32",), ("b32",) * 2)
    if types.kind(type) == "f":
        return floating.least_greatest(words)
    if "relu" in words:
        return same(lambda a, b: np.maximum(operation(a, b), np.int32(0)), type)
    return same(operation, type)


def bit_count(a: Array) -> Array:
    """How many bits of each element are set, as uint32."""
    bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8).reshape(len(a), -1), axis=1)
    return bits.sum(axis=1, dtype=np.uint32)


def bit_length(a: Array) -> Array:
    """The position of the highest set bit plus one, 0 for 0, as uint32."""
    if a.dtype == np.uint64:
        high = (a >> np.uint64(32)).astype(np.uint32)
        low = bit_length(a.astype(np.uint32))
        return np.where(high != 0, bit_length(high) + np.uint32(32), low).astype(np.uint32)
    return np.frexp(a.astype(np.float64))[1].astype(np.uint32)


@rule("popc")
def population(words: Words) -> Meaning:
    return Meaning(bit_count, ("u32",), (words.type,))


@rule("clz")
def leading_zeros(words: Words) -> Meaning:
    width = np.uint32(types.bits(words.type))
    return Meaning(lambda a: width - bit_length(a), ("u32",), (words.type,))


@rule("bfind")
def find_leading(words: Words) -> Meaning:
    type = words.type
    plain = dtype_of(unsigned(type))
    none = np.uint32(0xFFFFFFFF)

    def function(a: Array) -> Array:
        bits = np.where(a < 0, ~a, a).astype(plain)
        length = bit_length(bits)
        found = (
            np.uint32(types.bits(type)) - length if "shiftamt" in words else length - np.uint32(1)
        )
        return np.where(length == 0, none, found).astype(np.uint32)

    return Meaning(function, ("u32",), (type,))


@rule("brev")
def reverse_bits(words: Words) -> Meaning:
    def function(a: Array) -> Array:
        bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8).reshape(len(a), -1), axis=1)
        # The lowest byte comes first and each byte from its highest bit: turn bytes, not bits.
        bytes_ = np.packbits(bits[:, ::-1], axis=1)
        return np.ascontiguousarray(bytes_).view(a.dtype).reshape(len(a))

    return same(function, words.type, 1)


def bits_below(count: Array, dtype: Any) -> Array:
    """A mask of the lowest `count` bits; all of them from the width on. `count` is int64."""
    width = np.dtype(dtype).itemsize * 8
    part = np.minimum(count, width - 1).astype(dtype)
    below = (dtype(1) << part) - dtype(1)
    return np.where(count >= width, dtype(2**width - 1), below).astype(dtype)


def field_bounds(type: str, position: Array, length: Array) -> tuple[Array, Array]:
    """Start and length of a bit field; 32-bit forms read the low byte, 64-bit ones all 32 bits."""
    if types.bits(type) == 32:
        position, length = position & np.uint32(0xFF), length & np.uint32(0xFF)
    return position.astype(np.int64), length.astype(np.int64)


@rule("bfe")
def extract(words: Words) -> Meaning:
    type = words.type
    plain = dtype_of(unsigned(type))
    width = types.bits(type)

    def function(a: Array, b: Array, c: Array) -> Array:
        position, length = field_bounds(type, b, c)
        source = a.astype(plain)
        shifted = np.where(
            position < width, source >> np.minimum(position, width - 1).astype(plain), plain(0)
        )
        inside = bits_below(np.minimum(length, np.maximum(width - position, 0)), plain)
        value = shifted & inside
        if types.is_signed(type):
            top = np.minimum(position + length - 1, width - 1)
            sign = (source >> np.maximum(top, 0).astype(plain)) & plain(1)
            value |= np.where((length > 0) & (sign != 0), ~inside, plain(0))
        return value.astype(dtype_of(type))

    return Meaning(function, (type,), (type, "u32", "u32"))


@rule("bfi")
def insert(words: Words) -> Meaning:
    type = words.type
    plain = dtype_of(unsigned(type))
    width = types.bits(type)

    def function(a: Array, b: Array, c: Array, d: Array) -> Array:
        position, length = field_bounds(type, c, d)
        place = np.minimum(position, width - 1).astype(plain)
        mask = np.where(position < width, bits_below(length, plain) << place, plain(0))
        return (b & ~mask) | ((a << place) & mask)

    return Meaning(function, (type,), (type, type, "u32", "u32"))


@rule("bmsk")
def bit_mask(words: Words) -> Meaning:
    def function(a: Array, b: Array) -> Array:
        start, length = a.astype(np.int64), b.astype(np.int64)
        if "wrap" in words:
            start, length = start & 31, length & 31
        low = bits_below(start, np.uint32)
        return bits_below(start + length, np.uint32) & ~low

    return Meaning(function, ("b32",), ("u32", "u32"))


@rule("szext")
def sign_zero_extend(words: Words) -> Meaning:
    type = words.type

    def function(a: Array, b: Array) -> Array:
        count = (b & np.uint32(31)) if "wrap" in words else b
        length = count.astype(np.int64)
        inside = bits_below(length, np.uint32)
        value = a.astype(np.uint32) & inside
        if type == "s32":
            top = np.clip(length - 1, 0, 31).astype(np.uint32)
            sign = (a.astype(np.uint32) >> top) & np.uint32(1)
            value |= np.where((length > 0) & (sign != 0), ~inside, np.uint32(0))
        return value.astype(dtype_of(type))

    return Meaning(function, (type,), (type, "u32"))


@rule("fns")
def find_nth_set(words: Words) -> Meaning:
    def one(mask: int, base: int, offset: int) -> int:
        if offset == -(1 << 31):
            return 0  # Its absolute value is negative to the machine code that stands for fns.
        if offset == 0:
            return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
        step = 1 if offset > 0 else -1
        left = abs(offset)
        at = base
        while 0 <= at < 32:
            left -= mask >> at & 1
            if left == 0:
                return at
            at += step
        return 0xFFFFFFFF

    def function(mask: Array, base: Array, offset: Array) -> Array:
        rows = zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)
        return np.array([one(*row) for row in rows], np.uint32)

    return Meaning(function, ("b32",), ("b32", "b32", "s32"))


@rule("dp4a", "dp2a")
def dot_product(words: Words) -> Meaning:
    a_type, b_type = words.types[-2:]
    signed = "s" in (a_type[0], b_type[0])
    byte = {"s": np.int8, "u": np.uint8}
    half = {"s": np.int16, "u": np.uint16}
    result = np.int64

    def function(a: Array, b: Array, c: Array) -> Array:
        right = halves(b, byte[b_type[0]]).astype(result)
        if words.opcode == "dp4a":
            left = halves(a, byte[a_type[0]]).astype(result)
        else:
            left = halves(a, half[a_type[0]]).astype(result)
            right = right[:, 2:] if "hi" in words else right[:, :2]
        total = (left * right).sum(axis=1) + c.astype(result)
        return total.astype(np.uint32)

    accumulator = "s32" if signed else "u32"
    return Meaning(function, ("b32",), ("b32", "b32", accumulator))
