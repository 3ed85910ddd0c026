"""Floating point by exact rational arithmetic, one number at a time: the oracle of the tests.

A format is (precision, least exponent of a normal, greatest exponent); values are Fractions, or the
strings "inf", "-inf", "nan"; signed zeros are tracked beside them. Written for clarity alone and
shares nothing with the emulator.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

FORMATS = {
    "f64": (53, -1022, 1023),
    "f32": (24, -126, 127),
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
}
_SIZES = {"f64": (64, 11), "f32": (32, 8), "f16": (16, 5), "bf16": (16, 8)}


class Value:
    """Sign and magnitude: a Fraction, or None for infinity; NaN apart."""

    def __init__(self, negative: bool, magnitude: Fraction | None, nan: bool = False) -> None:
        self.negative, self.magnitude, self.nan = negative, magnitude, nan

    @property
    def exact(self) -> Fraction:
        assert self.magnitude is not None
        return -self.magnitude if self.negative else self.magnitude


def decode(bits: int, form: str) -> Value:
    width, exponent_bits = _SIZES[form]
    mantissa_bits = width - 1 - exponent_bits
    negative = bool(bits >> (width - 1))
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        return Value(negative, None, nan=mantissa != 0)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == 0:
        return Value(negative, Fraction(mantissa) * Fraction(2) ** (1 - bias - mantissa_bits))
    scale = Fraction(2) ** (exponent - bias - mantissa_bits)
    return Value(negative, (mantissa + (1 << mantissa_bits)) * scale)


def encode(exact: Fraction, negative_zero: bool, form: str, mode: str) -> int:
    """The bits of the one rounding of `exact`."""
    width, exponent_bits = _SIZES[form]
    precision, least, greatest = FORMATS[form]
    sign = 1 << (width - 1)
    if exact == 0:
        return sign if negative_zero else 0
    negative = exact < 0
    size = abs(exact)
    # Count in units of the last place of the binade, the lowest for all below it.
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    exponent = max(exponent, least)
    unit = Fraction(2) ** (exponent - precision + 1)
    floor = size // unit
    rest = size - floor * unit
    if mode == "rn":
        up = rest * 2 > unit or (rest * 2 == unit and floor % 2 == 1)
    else:
        up = rest != 0 and {"rz": False, "rm": negative, "rp": not negative}[mode]
    units = int(floor) + up
    result = units * unit
    if result >= Fraction(2) ** (greatest + 1):
        to_largest = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
        infinity = ((1 << exponent_bits) - 1) << (width - 1 - exponent_bits)
        return (infinity - to_largest) | (sign if negative else 0)
    mantissa_bits = precision - 1
    bias = (1 << (exponent_bits - 1)) - 1
    if result >= Fraction(2) ** (exponent + 1):
        exponent += 1
        units //= 2
    if units < 1 << mantissa_bits:
        bits = units
    else:
        bits = ((exponent + bias) << mantissa_bits) + units - (1 << mantissa_bits)
    return bits | (sign if negative else 0)


def infinity(negative: bool, form: str) -> int:
    width, exponent_bits = _SIZES[form]
    bits = ((1 << exponent_bits) - 1) << (width - 1 - exponent_bits)
    return bits | (negative << (width - 1))


def fma(a: int, b: int, c: int, form: str, mode: str) -> int | None:
    """The bits of a * b + c; None where it is NaN."""
    x, y, z = (decode(v, form) for v in (a, b, c))
    if x.nan or y.nan or z.nan:
        return None
    sign = x.negative != y.negative
    if x.magnitude is None or y.magnitude is None:
        if x.magnitude == 0 or y.magnitude == 0:
            return None
        if z.magnitude is None and z.negative != sign:
            return None
        return infinity(sign, form)
    if z.magnitude is None:
        return infinity(z.negative, form)
    exact = x.exact * y.exact + z.exact
    product_zero = x.magnitude == 0 or y.magnitude == 0
    if product_zero and z.magnitude == 0 and sign == z.negative:
        negative_zero = sign
    else:
        negative_zero = mode == "rm"
    return encode(exact, negative_zero, form, mode)


def add(a: int, b: int, form: str, mode: str) -> int | None:
    one = encode(Fraction(1), False, form, "rn")
    return fma(a, one, b, form, mode)


def multiply(a: int, b: int, form: str, mode: str) -> int | None:
    x, y = decode(a, form), decode(b, form)
    if x.nan or y.nan:
        return None
    sign = x.negative != y.negative
    if x.magnitude is None or y.magnitude is None:
        if x.magnitude == 0 or y.magnitude == 0:
            return None
        return infinity(sign, form)
    return encode(x.exact * y.exact, sign, form, mode)


def divide(a: int, b: int, form: str, mode: str) -> int | None:
    x, y = decode(a, form), decode(b, form)
    if x.nan or y.nan:
        return None
    sign = x.negative != y.negative
    if x.magnitude is None:
        return None if y.magnitude is None else infinity(sign, form)
    if y.magnitude is None:
        return encode(Fraction(0), sign, form, mode)
    if y.magnitude == 0:
        return None if x.magnitude == 0 else infinity(sign, form)
    return encode(x.exact / y.exact, sign, form, mode)


def square_root(a: int, form: str, mode: str) -> int | None:
    x = decode(a, form)
    if x.nan or (x.negative and x.magnitude != 0):
        return None
    if x.magnitude is None:
        return infinity(False, form)
    if x.magnitude == 0:
        return encode(Fraction(0), x.negative, form, mode)
    # At least 70 bits of the root, and a sticky bit below them.
    shift = 2200
    scaled = int(x.magnitude * Fraction(2) ** shift)
    low = math.isqrt(scaled)
    exact = Fraction(low) + (Fraction(1, 2) if low * low != scaled else 0)
    return encode(exact / Fraction(2) ** (shift // 2), False, form, mode)


def bits_of(value: float, form: str = "f64") -> int:
    """The bits of a Python float in f32 or f64."""
    if form == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    return struct.unpack("<I", struct.pack("<f", value))[0]
