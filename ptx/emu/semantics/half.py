"""Arithmetic on f16 and bf16, alone and in pairs (PTX ISA 9.0, section 9.7.4 and 9.7.5).

Operands go to float64, where products are exact and sums are so close that one rounding to the
target is right, given the sign of the sum's error; a NaN result is 0x7FFF.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptx.emu.semantics.rounding import FORMATS, overflowed, quantised, two_sum
from ptx.emu.semantics.rules import RULES, Array, Meaning, Words, halves, packed, same

NAN_16 = np.uint16(0x7FFF)


def widened(bits: Array, form: str) -> Array:
    """16-bit patterns as float64."""
    if form == "f16":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def narrowed(value: Array, form: str, mode: str = "rn", error: Array | None = None) -> Array:
    """float64 (with the sign of its error) rounded once to 16-bit patterns; NaN is 0x7FFF."""
    to = FORMATS[form]
    rounded = overflowed(quantised(value, to, mode, error), to, mode)
    if form == "f16":
        bits = rounded.astype(np.float16).view(np.uint16)
    else:
        bits = (rounded.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(value), NAN_16, bits)


def element(type: str) -> str:
    return type.removesuffix("x2")


def _flushed(value: Array, form: str) -> Array:
    small = np.abs(value) < FORMATS[form].smallest_normal
    return np.where(small, np.copysign(0.0, value), value)


def lifted(words: Words, function: Callable[..., Array], count: int) -> Meaning:
    """A function on 16-bit patterns as the meaning of a scalar or a paired form."""
    type = words.type
    if not type.endswith("x2"):
        return same(lambda *sources: function(*map(np.ascontiguousarray, sources)), type, count)

    def pairs(*sources: Array) -> Array:
        flat = [halves(source).ravel() for source in sources]
        return packed(function(*flat).reshape(-1, 2))

    return same(pairs, type, count)


def _operation(words: Words, count: int, operation: Callable[..., Array]) -> Meaning:
    form = element(words.type)

    def function(*bits: Array) -> Array:
        values = [widened(b, form) for b in bits]
        if "ftz" in words:
            values = [_flushed(value, form) for value in values]
        result = operation(*values)
        error = None
        if count == 3:
            error = two_sum(values[0] * values[1], values[2])[1]
            error = np.where(np.isfinite(result), error, 0.0)
        if "ftz" in words:
            # What rounds up to the least normal number is none to flush.
            limit = FORMATS[form].smallest_normal * (1 - 0.5 ** (FORMATS[form].precision + 1))
            result = np.where(np.abs(result) < limit, np.copysign(0.0, result), result)
        rounded = narrowed(result, form, words.rounding, error)
        if "sat" in words:
            clipped = narrowed(np.clip(widened(rounded, form), 0.0, 1.0), form)
            return np.where(np.isnan(result) | (result <= 0), np.uint16(0), clipped)
        if "relu" in words:
            return np.where((result <= 0) & ~np.isnan(result), np.uint16(0), rounded)
        return rounded

    return lifted(words, function, count)


def arithmetic(words: Words) -> Meaning:
    """add, sub, mul, fma."""
    if len(words.types) > 1:
        return _mixed(words)
    if "oob" in words:
        raise words.unmodelled("the NaN that stands for what is out of bounds is not modelled")
    count = 3 if words.opcode in ("fma", "mad") else 2
    operation: Callable[..., Array] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
    }.get(words.opcode, lambda a, b, c: a * b + c)
    return _operation(words, count, operation)


def _mixed(words: Words) -> Meaning:
    """``add.f32.f16`` and its like: 16-bit operands become float32, the last one is."""
    form = words.type
    single = ".".join(word for word in words.all if word != form)
    inner = RULES[words.opcode](Words(single))

    def function(*operands: Array) -> Array:
        wide = [widened(np.ascontiguousarray(a), form).astype(np.float32) for a in operands[:-1]]
        result: Array = inner.function(*wide, operands[-1])
        return result

    return Meaning(function, ("f32",), (*(form,) * (len(inner.sources) - 1), "f32"))


def absolute_negate(words: Words) -> Meaning:
    sign = np.uint16(0x8000)
    form = element(words.type)

    def function(bits: Array) -> Array:
        if "ftz" in words:
            bits = narrowed(_flushed(widened(bits, form), form), form)
        changed = bits & ~sign if words.opcode == "abs" else bits ^ sign
        return np.where(np.isnan(widened(bits, form)), NAN_16, changed)

    return lifted(words, function, 1)


def least_greatest(words: Words) -> Meaning:
    from ptx.emu.semantics.floating import pick

    form = element(words.type)
    greatest, nan = words.opcode == "max", "NaN" in words

    def function(*bits: Array) -> Array:
        values = [widened(b, form) for b in bits]
        if "ftz" in words:
            values = [_flushed(value, form) for value in values]
        operands = [np.abs(v) for v in values] if "abs" in words else values
        chosen = operands[0]
        for other in operands[1:]:
            chosen = pick(chosen, other, greatest, nan)
        if "xorsign" in words:
            negative = np.signbit(values[0])
            for other in values[1:]:
                negative = negative ^ np.signbit(other)
            chosen = np.where(negative, -chosen, chosen)
        return narrowed(chosen, form)

    meaning = lifted(words, function, 2)
    return Meaning(meaning.function, meaning.results, meaning.sources, optional=words.type)
