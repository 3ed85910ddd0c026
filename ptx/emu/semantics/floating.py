"""Floating-point arithmetic on f32 and f64 (PTX ISA 9.0, section 9.7.3).

IEEE forms have one rounding, in every mode; ``.ftz`` flushes subnormal operands and results to a
zero of their sign. A float32 NaN result is 0x7FFFFFFF, as the ISA says; a float64 one carries the
payload and sign of a NaN operand, quieted: the second's before the third's before the first's, as
on an H200.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptx import types
from ptx.emu.semantics import approximate, rounding
from ptx.emu.semantics.rounding import F32_MIN_NORMAL, add_f64, fma_f64, mul_f64, to_f32
from ptx.emu.semantics.rules import Array, Meaning, Words, dtype_of, rule, same, unsigned
from ptx.emu.semantics.specials import canonical, flushed, nan_of_operands, saturated

_TIE = np.uint64(0x10000000)
_BELOW_F32 = np.uint64(0x1FFFFFFF)


def finished(words: Words, result: Array, sources: tuple[Array, ...]) -> Array:
    """A result with ftz, saturation and the NaN of its type."""
    if "ftz" in words:
        result = flushed(result)
    if "sat" in words:
        return saturated(result)
    if result.dtype == np.float64:
        return nan_of_operands(result, sources)
    return canonical(result)


def modified(words: Words, operation: Callable[..., Array]) -> Callable[..., Array]:
    """`operation` between the flushing of its operands and the finishing of its result."""
    ftz = "ftz" in words

    def function(*sources: Array) -> Array:
        if ftz:
            sources = tuple(flushed(source) for source in sources)
        return finished(words, operation(*sources), sources)

    return function


def add_sub(words: Words) -> Meaning:
    from ptx.emu.semantics import half

    type = words.type
    if type not in ("f32", "f64") or len(words.types) > 1:
        return half.arithmetic(words)
    mode = words.rounding
    minus = words.opcode == "sub"

    if type == "f64":
        return same(modified(words, lambda a, b: add_f64(a, -b if minus else b, mode)), type)
    if mode == "rn":
        operation = np.subtract if minus else np.add
        if "ftz" in words or "sat" in words:
            return same(modified(words, operation), type)
        return _plain_f32(operation)

    def directed(a: Array, b: Array) -> Array:
        wide, other = a.astype(np.float64), b.astype(np.float64)
        s, error = rounding.two_sum(wide, -other if minus else other)
        result = to_f32(s, mode, np.where(np.isfinite(s), error, 0.0))
        if mode == "rm":
            negative = (s == 0) & (np.signbit(a) | (np.signbit(b) != minus))
            result = np.where(negative, np.float32(-0.0), result)
        return result

    return same(modified(words, directed), type)


def _plain_f32(operation: Any) -> Meaning:
    def into(out: Array, a: Array, b: Array) -> None:
        operation(a, b, out=out)
        canonical(out)

    return Meaning(lambda a, b: canonical(operation(a, b)), ("f32",), ("f32", "f32"), into)


def multiply(words: Words) -> Meaning:
    from ptx.emu.semantics import half

    type = words.type
    if type not in ("f32", "f64") or len(words.types) > 1:
        return half.arithmetic(words)
    mode = words.rounding
    if type == "f64":
        return same(modified(words, lambda a, b: mul_f64(a, b, mode)), type)
    ftz = "ftz" in words
    if mode == "rn" and not ftz and "sat" not in words:
        return _plain_f32(np.multiply)
    # The product of two float32 is exact in float64.
    exact = modified(words, lambda a, b: to_f32(np.multiply(a, b, dtype=np.float64), mode, ftz=ftz))
    return same(exact, type)


def _fma_rn_into(out: Array, a: Array, b: Array, c: Array) -> None:
    """float32 fma to nearest: product exact in float64, one sum, one cast.

    Two roundings equal one unless the float64 sum lies on a float32 midpoint or, not zero, below
    the normal range; those few lanes, and NaN, are done again with the sum's error.
    """
    s = a.astype(np.float64)
    s *= b
    s += c
    tie = (s.view(np.uint64) & _BELOW_F32) == _TIE
    size = np.abs(s)
    if not size.min() >= F32_MIN_NORMAL:
        tie |= ~(size >= F32_MIN_NORMAL) & (s != 0)
    if not tie.any():
        out[...] = s
        return
    again = np.flatnonzero(tie)
    x, y, z = a[again], b[again], c[again]
    out[...] = s
    found = s[again]
    _, error = rounding.two_sum(x.astype(np.float64) * y, z.astype(np.float64))
    # A tie without an error is one: the cast has rounded it to even.
    if (error != 0).any() or not np.abs(found).min() >= F32_MIN_NORMAL:
        out[again] = canonical(rounding.fma_f32(x, y, z))


def _fma_rn(a: Array, b: Array, c: Array) -> Array:
    out = np.empty(len(a), np.float32)
    _fma_rn_into(out, a, b, c)
    return out


@rule("fma")
def fused(words: Words) -> Meaning:
    """``fma``, and ``mad`` on floating point, which means the same from sm_20 on."""
    from ptx.emu.semantics import half

    type = words.type
    if type not in ("f32", "f64") or len(words.types) > 1:
        return half.arithmetic(words)
    mode = words.rounding
    if type == "f64":
        return same(modified(words, lambda a, b, c: fma_f64(a, b, c, mode)), type, 3)
    if mode == "rn" and "ftz" not in words and "sat" not in words:
        return Meaning(_fma_rn, ("f32",), ("f32",) * 3, _fma_rn_into)
    ftz = "ftz" in words
    return same(modified(words, lambda a, b, c: rounding.fma_f32(a, b, c, mode, ftz)), type, 3)


def divide(words: Words) -> Meaning:
    type = words.type
    mode = words.rounding
    if type == "f64":
        # The machine code that divides prefers the NaN of the dividend.
        return same(
            lambda a, b: nan_of_operands(rounding.div_f64(a, b, mode), (b, a)),
            type,
        )
    if "approx" in words or "full" in words:
        return approximate.divide(words)
    ftz = "ftz" in words
    if mode == "rn" and not ftz:
        return same(modified(words, np.divide), type)

    def function(a: Array, b: Array) -> Array:
        wide, by = a.astype(np.float64), b.astype(np.float64)
        q = wide / by
        # q by b is exact enough: the residual has the sign of the error of q.
        p, error = rounding.two_product(q, by)
        residual = ((wide - p) - error) * np.sign(by)
        return to_f32(q, mode, np.where(np.isfinite(q) & (q != 0), residual, 0.0), ftz)

    return same(modified(words, function), type)


def _through_f64(operation: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: operation(a.astype(np.float64)).astype(np.float32)


@rule("sqrt", "rcp")
def root_reciprocal(words: Words) -> Meaning:
    type = words.type
    mode = words.rounding
    operation: Callable[[Array], Array]
    if "approx" in words:
        return approximate.unary(words)
    if type == "f64":
        if words.opcode == "sqrt":
            operation = lambda a: rounding.sqrt_f64(a, mode)  # noqa: E731
        else:
            operation = lambda a: rounding.div_f64(np.ones_like(a), a, mode)  # noqa: E731
        return same(modified(words, operation), type, 1)
    if mode == "rn" and "ftz" not in words:
        # From float64, with its 53 bits, the second rounding is harmless for both.
        exact = np.sqrt if words.opcode == "sqrt" else np.reciprocal
        return same(modified(words, _through_f64(exact)), type, 1)

    def function(a: Array) -> Array:
        wide = a.astype(np.float64)
        if words.opcode == "sqrt":
            r = np.sqrt(wide)
            p, error = rounding.two_product(r, r)
            residual = (wide - p) - error
        else:
            r = 1.0 / wide
            p, error = rounding.two_product(r, wide)
            residual = ((1.0 - p) - error) * np.sign(wide)
        error = np.where(np.isfinite(r) & (r != 0), residual, 0.0)
        return to_f32(r, mode, error, "ftz" in words)

    return same(modified(words, function), type, 1)


@rule("rsqrt", "ex2", "lg2", "sin", "cos", "tanh")
def function(words: Words) -> Meaning:
    return approximate.unary(words)


def absolute_negate(words: Words) -> Meaning:
    from ptx.emu.semantics import half

    type = words.type
    if type not in ("f32", "f64"):
        return half.absolute_negate(words)
    plain = unsigned(type)
    sign = dtype_of(plain)(1 << (types.bits(type) - 1))

    def function(a: Array) -> Array:
        if "ftz" in words:
            a = np.ascontiguousarray(flushed(a.view(np.float32))).view(np.uint32)
        changed = a & ~sign if words.opcode == "abs" else a ^ sign
        if type == "f32":
            return canonical(changed.view(np.float32)).view(np.uint32)
        # It is an addition to -0 on the hardware: a NaN keeps its sign and becomes quiet.
        return np.where(np.isnan(a.view(np.float64)), a | np.uint64(1 << 51), changed)

    return same(function, plain, 1)


def pick(a: Array, b: Array, greatest: bool, nan: bool) -> Array:
    """min or max with -0 below +0 and one NaN losing to a number, or winning where `nan`."""
    less = (a < b) | ((a == b) & np.signbit(a))
    chosen = np.where(less != greatest, a, b)
    either = np.isnan(a) | np.isnan(b)
    if either.any():
        if nan:
            chosen = np.where(either, np.nan, chosen).astype(a.dtype)
        else:
            chosen = np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen))
    return chosen


def least_greatest(words: Words) -> Meaning:
    from ptx.emu.semantics import half

    type = words.type
    if type not in ("f32", "f64"):
        return half.least_greatest(words)
    greatest, nan = words.opcode == "max", "NaN" in words

    def function(*sources: Array) -> Array:
        if "ftz" in words:
            sources = tuple(flushed(source) for source in sources)
        operands = sources
        if "abs" in words:
            operands = tuple(np.abs(source) for source in sources)
        chosen = operands[0]
        for other in operands[1:]:
            chosen = pick(chosen, other, greatest, nan)
        if "xorsign" in words:
            negative = np.signbit(sources[0])
            for other in sources[1:]:
                negative = negative ^ np.signbit(other)
            chosen = np.where(negative, -chosen, chosen)
        if type == "f32":
            return canonical(np.array(chosen))
        return nan_of_operands(np.array(chosen), sources)

    return Meaning(function, (type,), (type, type), optional=type)


@rule("copysign")
def copy_sign(words: Words) -> Meaning:
    """The sign of the first operand on the second."""
    plain = unsigned(words.type)
    sign = dtype_of(plain)(1 << (types.bits(words.type) - 1))
    return same(lambda a, b: (a & sign) | (b & ~sign), plain)


@rule("testp")
def test_property(words: Words) -> Meaning:
    type = words.type
    least = F32_MIN_NORMAL if type == "f32" else rounding.F64_MIN_NORMAL
    subnormal: Callable[[Array], Array] = lambda a: (np.abs(a) < least) & (a != 0)  # noqa: E731
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        # Zero counts as normal, says the manual.
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= least) | (a == 0)),
        "subnormal": subnormal,
    }
    return Meaning(tests[words.one_of(" ".join(tests))], ("pred",), (type,))
