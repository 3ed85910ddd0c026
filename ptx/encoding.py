"""Numbers as the bits of a matrix element, without numpy."""

from __future__ import annotations

import math
import operator
import struct
from functools import cache
from typing import Any

_SIGNED = {"s8": 8, "s4": 4, "s32": 32}
_UNSIGNED = {"u8": 8, "u4": 4, "b1": 1}
_FLOATS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10), "e4m3": (4, 3), "e5m2": (5, 2)}
"""Bits of exponent and of fraction."""


def encoded(value: Any, type: str) -> int:
    """The bits of `value` as an element of `type`, rounded to nearest even.

    What lies beyond a format becomes its infinity (e4m3: NaN, as it has none). Raises ValueError
    for an integer that does not fit and for what is no number.
    """
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise ValueError(f"expected a number, got {value!r}")
    if type in _SIGNED or type in _UNSIGNED:
        return _integer(value, type)
    bits: int
    if type == "f64":
        (bits,) = struct.unpack("<Q", struct.pack("<d", float(value)))
        return bits
    if type == "tf32":
        return _narrow(float(value), 8, 10, False) << 13
    if type == "f32":
        (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
        return bits
    exponent, fraction = _FLOATS[type]
    return _narrow(float(value), exponent, fraction, type == "e4m3")


def _integer(value: Any, type: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"expected an integer for .{type}, got {value!r}") from None
    width = _SIGNED.get(type) or _UNSIGNED[type]
    low, high = (
        (-(1 << width - 1), (1 << width - 1) - 1) if type in _SIGNED else (0, (1 << width) - 1)
    )
    if not low <= number <= high:
        raise ValueError(f"{number} is no .{type}: {low} to {high}")
    return number & ((1 << width) - 1)


def _narrow(value: float, exponent: int, fraction: int, finite: bool) -> int:
    """Bits of a format with sign, exponent and fraction; `finite`: without infinities, one NaN."""
    sign = int(math.copysign(1.0, value) < 0) << exponent + fraction
    bias = (1 << exponent - 1) - 1
    top = (1 << exponent) - 1 << fraction
    unusual = top | ((1 << fraction) - 1 if finite else 0)
    if math.isnan(value):
        return sign | (unusual if finite else top | 1 << fraction - 1)
    if math.isinf(value):
        return sign | unusual
    least = 1 - bias
    height = max(math.frexp(value)[1] - 1, least) if value else least
    # A sum of exponent and fraction: rounding up carries into the exponent by itself.
    steps = round(abs(value) / 2.0 ** (height - fraction))
    bits = (height - least << fraction) + steps
    return sign | min(bits, unusual)


@cache
def largest(type: str) -> float:
    """The largest finite number of a floating-point type, MAX_NORM."""
    return {
        "f16": 65504.0,
        "f32": float((2 - 2.0**-23) * 2.0**127),
        "f64": math.ldexp(2 - 2.0**-52, 1023),
    }[type]
