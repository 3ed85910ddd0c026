"""Stochastic rounding: cvt.rs (PTX ISA 9.0, section 9.7.9.21).

The bits of the significand that do not fit are added to random ones, and a carry rounds away from
zero. The random bits meet the highest that do not fit: 13 of them for f16, which are all there are
where the result is normal, 16 for the others. In ``e2m1x4`` the manual leaves open which random
bits are whose.
"""

from __future__ import annotations

import numpy as np

from ptx.emu.semantics.rounding import FORMATS, Format
from ptx.emu.semantics.rules import Array, Meaning, Words


def rounded(value: Array, form: Format, random: Array, bits: int) -> Array:
    """float64 rounded to `form` by `bits` random bits; what is too large grows on unbounded."""
    exponent = np.frexp(value)[1]
    quantum = np.maximum(exponent, form.least_exponent + 1) - form.precision
    scaled = np.abs(np.ldexp(value, -quantum))
    whole = np.trunc(scaled)
    lost = np.floor((scaled - whole) * 2.0**bits)
    carry = lost + random >= 2.0**bits
    result = np.copysign(np.ldexp(whole + carry, quantum), value)
    return np.where(np.isfinite(value), result, value)


def meaning(words: Words, to: str) -> Meaning:
    """Two floats to a pair of halves, or four to four narrow ones; the last operand is random."""
    from ptx.emu.semantics.convert import narrowed, small_bits

    form, count = to.rsplit("x", 1)
    if form == "e2m1":
        raise words.unmodelled("the manual does not say which random bits go to which element")
    bits = 13 if form == "f16" else 16

    def one(a: Array, random: Array) -> Array:
        value = rounded(a.astype(np.float64), FORMATS[form], random & np.uint32(2**bits - 1), bits)
        if count == "2":
            return narrowed(words, value, form).astype(np.uint32)
        return small_bits(value, form, words).astype(np.uint32)

    def pair(a: Array, b: Array, random: Array) -> Array:
        return one(a, random >> np.uint32(16)) << np.uint32(16) | one(b, random)

    def four(a: Array, b: Array, e: Array, f: Array, random: Array) -> Array:
        high, low = random >> np.uint32(16), random
        parts = [one(a, high), one(b, high), one(e, low), one(f, low)]
        joined = np.zeros_like(random)
        for part in parts:
            joined = joined << np.uint32(8) | part
        return joined

    function = pair if count == "2" else four
    return Meaning(function, ("b32",), (*("f32",) * int(count), "b32"))
