"""Comparison and selection (PTX ISA 9.0, sections 9.7.5 and 9.7.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptx import types
from ptx.emu.semantics import half
from ptx.emu.semantics.rules import Array, Meaning, Words, dtype_of, halves, rule, unsigned
from ptx.emu.semantics.specials import flushed

Comparison = Callable[[Array, Array], Any]

_ORDERED: dict[str, Comparison] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_BOOL: dict[str, Any] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
_COMPARISONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"


def _float_comparison(name: str) -> Comparison:
    if name == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if name == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name == "ne":
        # Ordered: a NaN makes it false, where numpy's is true.
        return lambda a, b: (a < b) | (a > b)
    if name in _ORDERED:
        return _ORDERED[name]
    ordered = _float_comparison(name[:-1])
    return lambda a, b: ordered(a, b) | np.isnan(a) | np.isnan(b)


def comparison(words: Words, type: str) -> Comparison:
    """What a comparison word means on arrays of `type`."""
    name = words.one_of(_COMPARISONS)
    if types.kind(type) != "f":
        return _ORDERED[_UNSIGNED.get(name, name)]
    compare = _float_comparison(name)
    if type in ("f32", "f64"):
        if "ftz" in words:
            return lambda a, b: compare(flushed(a), flushed(b))
        return compare
    form = half.element(type)

    def narrow(a: Array, b: Array) -> Any:
        left, right = half.widened(a, form), half.widened(b, form)
        if "ftz" in words:
            left, right = half._flushed(left, form), half._flushed(right, form)
        return compare(left, right)

    return narrow


@rule("setp")
def set_predicate(words: Words) -> Meaning:
    """Both destinations: the comparison (combined with c), and its negation (combined with c)."""
    type = words.type
    compare = comparison(words, type)
    combine = _BOOL.get(words.one_of("and or xor"))
    if type.endswith("x2"):
        return _set_pair(words, compare, combine)
    if combine is None:
        return Meaning(lambda a, b: compare(a, b), ("pred",), (type, type), optional="second")

    def combined(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        found = compare(a, b)
        return combine(found, c), combine(~found, c)

    return Meaning(combined, ("pred", "pred"), (type, type, "pred"))


def _set_pair(words: Words, compare: Comparison, combine: Any) -> Meaning:
    """``setp.f16x2``: one predicate for each half."""

    def function(a: Array, b: Array, c: Array | None = None) -> tuple[Array, Array]:
        found = compare(halves(a).ravel(), halves(b).ravel()).reshape(-1, 2)
        if c is not None:
            found = combine(found, c[:, None])
        return found[:, 0], found[:, 1]

    sources = (words.type,) * 2 + (("pred",) if combine is not None else ())
    return Meaning(function, ("pred", "pred"), sources)


@rule("set")
def set_value(words: Words) -> Meaning:
    """All ones, or 1.0, where the comparison holds."""
    result, type = words.types[-2:]
    compare = comparison(words, type)
    combine = _BOOL.get(words.one_of("and or xor"))
    one: Any
    if result == "f32":
        one = np.float32(1)
    elif result in ("f16", "f16x2"):
        one = np.uint16(0x3C00)
    elif result in ("bf16", "bf16x2"):
        one = np.uint16(0x3F80)
    else:
        one = dtype_of(unsigned(result))(2 ** types.bits(result) - 1)
    paired = type.endswith("x2")
    if paired and types.kind(result) != "f":
        one = np.uint16(0xFFFF)

    def function(a: Array, b: Array, c: Array | None = None) -> Array:
        if paired:
            a, b = halves(a).ravel(), halves(b).ravel()
            c = None if c is None else np.repeat(c, 2)
        found = compare(a, b)
        if combine is not None:
            found = combine(found, c)
        value = np.where(found, one, type_zero)
        return np.ascontiguousarray(value).view(np.uint32) if paired else value

    type_zero = one.dtype.type(0)
    sources = (type, type) + (("pred",) if combine is not None else ())
    plain = result if result == "f32" else unsigned(result)
    return Meaning(function, (plain,), sources)


@rule("selp")
def select(words: Words) -> Meaning:
    type = words.type
    return Meaning(lambda a, b, p: np.where(p, a, b), (type,), (type, type, "pred"))


@rule("slct")
def select_by_sign(words: Words) -> Meaning:
    """The first operand where the third is not negative; NaN chooses the second."""
    type, by = words.types[-2:]

    def function(a: Array, b: Array, c: Array) -> Array:
        if "ftz" in words:
            c = flushed(c)
        return np.where(c >= 0, a, b)

    return Meaning(function, (type,), (type, type, by))
