"""Correct rounding: float64 arrays to every narrower format, and float64 itself in every mode.

A value is known as a float64 `s` and the sign of what `s` lacks (its error, from an error-free
transformation: Dekker 1971, Knuth's TwoSum), so that one rounding to the target happens even where
`s` itself was rounded. What lies too near the ends of the exponent range for these is rounded by
exact integers, lane by lane. Modes: ``rn`` (ties to even), ``rna`` (ties away), ``rz``, ``rm``
(down), ``rp`` (up).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ptx.emu.semantics.rules import Array

F64_MIN_NORMAL = 2.0**-1022
F32_MIN_NORMAL = 2.0**-126
F32_MAX = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Format:
    """A binary format: bits of precision, least exponent of a normal, largest finite value."""

    precision: int
    least_exponent: int
    largest: float

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, self.least_exponent)


FORMATS: dict[str, Format] = {
    "f64": Format(53, -1022, float(np.finfo(np.float64).max)),
    "f32": Format(24, -126, F32_MAX),
    "tf32": Format(11, -126, math.ldexp(2.0 - 2.0**-10, 127)),
    "f16": Format(11, -14, 65504.0),
    "bf16": Format(8, -126, math.ldexp(2.0 - 2.0**-7, 127)),
    "e5m2": Format(3, -14, 57344.0),
    "e4m3": Format(4, -6, 448.0),
    "e3m2": Format(3, -2, 28.0),
    "e2m3": Format(4, 0, 7.5),
    "e2m1": Format(2, 0, 6.0),
}


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its exact error, where neither over- nor underflows."""
    p = a * b
    ca, cb = a * 134217729.0, b * 134217729.0
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def quantised(s: Array, form: Format, mode: str, error: Array | None = None) -> Array:
    """`s` rounded to `form`, as float64; beyond the largest finite value it grows on unbounded.

    `error` is what the exact value has beyond `s`, of which only the sign and that it is less than
    half a unit of `s` are used.
    """
    exponent = np.frexp(s)[1]
    quantum = np.maximum(exponent, form.least_exponent + 1) - form.precision
    scaled = np.ldexp(s, -quantum)
    if mode == "rn":
        whole = np.rint(scaled)
    else:
        whole = {"rz": np.trunc, "rm": np.floor, "rp": np.ceil}.get(mode, np.trunc)(scaled)
        if mode == "rna":
            whole = np.trunc(scaled) + np.copysign(np.abs(scaled - np.trunc(scaled)) >= 0.5, scaled)
    if error is not None:
        rest = scaled - whole
        toward = np.sign(error)
        if mode == "rn":
            # A tie that the error breaks, or makes.
            whole += np.where((np.abs(rest) == 0.5) & (np.sign(rest) == toward), toward, 0.0)
        else:
            exact = rest == 0
            away = {"rm": toward < 0, "rp": toward > 0, "rz": toward * np.sign(s) < 0}[mode]
            # Below a power of two the steps are half as long, but for the lowest binade.
            edge = (np.abs(whole) == 2.0 ** (form.precision - 1)) & (toward * s < 0)
            edge &= quantum > form.least_exponent + 1 - form.precision
            whole += np.where(exact & away, np.where(edge, 0.5 * toward, toward), 0.0)
    result = np.ldexp(whole, quantum)
    return np.where(np.isfinite(s) & (s != 0), np.copysign(result, s), s)


def overflowed(value: Array, form: Format, mode: str) -> Array:
    """What lies beyond the largest finite value made infinite, or that value, as `mode` has it."""
    beyond = (np.abs(value) > form.largest) & np.isfinite(value)
    if not beyond.any():
        return value
    if mode == "rz":
        stays = np.ones(len(value), np.bool_)
    elif mode in ("rm", "rp"):
        stays = (value > 0) if mode == "rm" else (value < 0)
    else:
        stays = np.zeros(len(value), np.bool_)
    limit = np.where(stays, form.largest, np.inf)
    return np.where(beyond, np.copysign(limit, value), value)


_F32_UNBOUNDED = Format(24, -900, F32_MAX)
"""float32 with normal numbers of any size: what is tiny shows after rounding to it."""


def to_f32(s: Array, mode: str = "rn", error: Array | None = None, ftz: bool = False) -> Array:
    """float64 with the sign of its error, rounded once to float32.

    With `ftz` what is less than the least normal number, when rounded to 24 bits, becomes zero.
    """
    if mode == "rn" and error is None and not ftz:
        return s.astype(np.float32)
    form = FORMATS["f32"]
    rounded = quantised(s, _F32_UNBOUNDED if ftz else form, mode, error)
    if ftz:
        rounded = np.where(np.abs(rounded) < F32_MIN_NORMAL, np.copysign(0.0, rounded), rounded)
    return overflowed(rounded, form, mode).astype(np.float32)


def one_step(value: Array, toward: Array) -> Array:
    """The next float64 in the direction of the sign of `toward`; itself where that is 0."""
    step = np.nextafter(value, np.copysign(np.inf, toward))
    return np.where(toward == 0, value, step)


def directed(nearest: Array, error: Array, mode: str) -> Array:
    """A float64 rounded to nearest, with the sign of its error, as rounded in `mode`."""
    if mode == "rn":
        return nearest
    sign = np.sign(error)
    if mode == "rm":
        sign = np.minimum(sign, 0)
    elif mode == "rp":
        sign = np.maximum(sign, 0)
    else:
        sign = np.where(sign * np.sign(nearest) < 0, sign, 0)
    return one_step(nearest, sign)


def lane_by_lane(function: Callable[..., float], *sources: Array) -> Array:
    """An exact function of Python numbers on every lane, as float64."""
    columns = [source.tolist() for source in sources]
    return np.array([function(*row) for row in zip(*columns, strict=True)], np.float64)


def round_fraction(value: Fraction, mode: str, zero: float = 0.0, form: str = "f64") -> float:
    """An exact number rounded once; `zero` is what an exact zero gives."""
    if value == 0:
        return zero
    to = FORMATS[form]
    negative, magnitude = value < 0, abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    quantum = max(exponent, to.least_exponent) - to.precision + 1
    scaled = magnitude / Fraction(2) ** quantum
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    half = Fraction(rest, scaled.denominator)
    up = {
        "rn": half > Fraction(1, 2) or (half == Fraction(1, 2) and whole & 1 == 1),
        "rna": half >= Fraction(1, 2),
        "rz": False,
        "rm": negative and half > 0,
        "rp": not negative and half > 0,
    }[mode]
    rounded = Fraction(whole + up) * Fraction(2) ** quantum
    if rounded > Fraction(to.largest):
        inward = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
        result = to.largest if inward else math.inf
    else:
        result = float(rounded)
    return -result if negative else result


def exact_sum_zero(mode: str, *signs: bool) -> float:
    """The zero that an exact sum of zero gives, from the signs of its terms."""
    if all(signs) or (mode == "rm" and any(signs)):
        return -0.0
    return 0.0


def add_f64(a: Array, b: Array, mode: str) -> Array:
    """a + b in float64; NaN operands are the caller's."""
    if mode == "rn":
        return a + b
    s, error = two_sum(a, b)
    result = directed(s, error, mode)
    if mode == "rm":
        result = np.where((s == 0) & (np.signbit(a) | np.signbit(b)), -0.0, result)
    odd = ~np.isfinite(s) | ~np.isfinite(error)
    if odd.any():
        finite = odd & np.isfinite(a) & np.isfinite(b)
        result = np.where(odd, a + b, result)
        result[finite] = lane_by_lane(
            lambda x, y: round_fraction(Fraction(x) + Fraction(y), mode), a[finite], b[finite]
        )
    return result


def _risky_product(a: Array, b: Array, p: Array) -> Array:
    """Lanes whose product's error may be lost: near the ends of the exponent range."""
    size = np.abs(p)
    safe = (size >= 2.0**-960) & (size <= 2.0**1000)
    safe |= (a == 0) | (b == 0)
    return ~(safe & (np.abs(a) < 2.0**990) & (np.abs(b) < 2.0**990))


def mul_f64(a: Array, b: Array, mode: str) -> Array:
    if mode == "rn":
        return a * b
    p, error = two_product(a, b)
    odd = _risky_product(a, b, p)
    result = directed(p, error, mode)
    if odd.any():
        result = np.where(odd, p, result)
        odd &= np.isfinite(a) & np.isfinite(b)
        result[odd] = lane_by_lane(
            lambda x, y: round_fraction(
                Fraction(x) * Fraction(y), mode, math.copysign(0.0, x) * math.copysign(1.0, y)
            ),
            a[odd],
            b[odd],
        )
    return result


def _fma_exact(mode: str, form: str = "f64") -> Callable[[float, float, float], float]:
    def function(a: float, b: float, c: float) -> float:
        negative = math.copysign(1.0, a) * math.copysign(1.0, b) < 0
        zero = exact_sum_zero(mode, negative, math.copysign(1.0, c) < 0)
        return round_fraction(Fraction(a) * Fraction(b) + Fraction(c), mode, zero, form)

    return function


def fma_f64(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a * b + c in float64 with one rounding (Boldo and Melquiond 2008, by rounding to odd)."""
    uh, ul = two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    z, lost = two_sum(tl, vl)
    even = (z.view(np.uint64) & np.uint64(1)) == 0
    z = np.where((lost != 0) & even, one_step(z, lost), z)
    s, error = two_sum(vh, z)
    result = directed(s, error, mode)
    negative = np.signbit(a) ^ np.signbit(b), np.signbit(c)
    minus = negative[0] | negative[1] if mode == "rm" else negative[0] & negative[1]
    result = np.where(s == 0, np.where(minus, -0.0, 0.0), result)
    odd = _risky_product(a, b, uh) | ~(np.abs(c) <= 2.0**1000) | ~np.isfinite(result)
    if odd.any():
        finite = np.isfinite(a) & np.isfinite(b)
        result = np.where(odd, np.where(finite & ~np.isfinite(c), c, a * b + c), result)
        odd &= finite & np.isfinite(c)
        result[odd] = lane_by_lane(_fma_exact(mode), a[odd], b[odd], c[odd])
    return result


def div_f64(a: Array, b: Array, mode: str) -> Array:
    q = a / b
    if mode == "rn":
        return q
    p, error = two_product(q, b)
    residual = (a - p) - error
    result = directed(q, residual * np.sign(b), mode)
    odd = _risky_product(q, b, p) | ~(np.abs(a) >= 2.0**-960) | ~(np.abs(q) >= 2.0**-960)
    if odd.any():
        result = np.where(odd, q, result)
        odd &= np.isfinite(a) & np.isfinite(b) & (b != 0) & (a != 0)
        result[odd] = lane_by_lane(
            lambda x, y: round_fraction(Fraction(x) / Fraction(y), mode), a[odd], b[odd]
        )
    return result


def sqrt_f64(a: Array, mode: str) -> Array:
    r = np.sqrt(a)
    if mode == "rn":
        return r
    # A power of four brings every operand into the range where the residual is exact.
    exponent = np.frexp(a)[1] & ~1
    scaled = np.ldexp(a, -exponent)
    root = np.sqrt(scaled)
    p, error = two_product(root, root)
    result = np.ldexp(directed(root, (scaled - p) - error, mode), exponent >> 1)
    return np.where(np.isfinite(a) & (a > 0), result, r)


def fma_f32(a: Array, b: Array, c: Array, mode: str = "rn", ftz: bool = False) -> Array:
    """a * b + c in float32 with one rounding; NaN is numpy's."""
    p = a.astype(np.float64)
    p *= b
    s, error = two_sum(p, c.astype(np.float64))
    finite = np.isfinite(s)
    error = np.where(finite, error, 0.0)
    result = to_f32(s, mode, error, ftz)
    if mode == "rm":
        minus = (s == 0) & (np.signbit(p) | np.signbit(c))
        result = np.where(minus, np.float32(-0.0), result)
    return result
