"""Approximate functions (PTX ISA 9.0, sections 9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10).

They follow the machine code of sm_90: the same scaling of operands, with each special function
(MUFU) in it computed in float64 and rounded to float32, where the hardware reads a table. So they
agree with the hardware in range, special values and most bits, and lie within the manual's errors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptx.emu.semantics import half, rounding
from ptx.emu.semantics.rounding import F32_MIN_NORMAL, F64_MIN_NORMAL, FORMATS
from ptx.emu.semantics.rules import Array, Meaning, Words, same
from ptx.emu.semantics.specials import canonical, flushed, nan_of_operands

Function = Callable[[Array], Array]

_UP, _DOWN = np.float32(2.0**24), np.float32(2.0**-24)
_LARGE = np.float32(2.0**126)
_TURN = np.float32(0.15915494)
"""1 / (2 pi), rounded: the hardware's sine takes turns."""


def special(function: Function) -> Function:
    """A function of the special function unit: flushed operand and result, rounded to float32."""

    def unit(a: Array) -> Array:
        return flushed(function(flushed(a).astype(np.float64)).astype(np.float32))

    return unit


def _tanh(a: Array) -> Array:
    """Itself near 0, and 1 from 8 on."""
    size = np.abs(a)
    return np.where(size < 2.0**-8, a, np.where(size >= 8, np.sign(a), np.tanh(a)))


def _exp2(a: Array) -> Array:
    """The operand's fraction has 23 bits."""
    return np.exp2(np.where(np.abs(a) < 2.0**-23, 0.0, a))


def _turned(function: Function) -> Function:
    return lambda turns: function((turns - np.rint(turns)) * (2 * np.pi))


UNIT: dict[str, Function] = {
    "rcp": special(lambda a: 1.0 / a),
    "sqrt": special(np.sqrt),
    "rsqrt": special(lambda a: 1.0 / np.sqrt(a)),
    "ex2": special(_exp2),
    "lg2": special(np.log2),
    "sin": special(_turned(np.sin)),
    "cos": special(_turned(np.cos)),
    "tanh": special(_tanh),
}


def _is_small(a: Array) -> Array:
    return np.abs(a) < np.float32(F32_MIN_NORMAL)


def _scale(a: Array, large: bool = True) -> Array:
    """What brings an operand into the range where the reciprocal and it are normal."""
    scale = np.where(_is_small(a), _UP, np.float32(1))
    return np.where(np.abs(a) > _LARGE, np.float32(0.25), scale) if large else scale


def _reciprocal(a: Array) -> Array:
    scale = _scale(a)
    return UNIT["rcp"](a * scale) * scale


def _square_root(a: Array) -> Array:
    small = _is_small(a)
    return UNIT["sqrt"](np.where(small, a * _UP, a)) * np.where(small, _DOWN**0.5, np.float32(1))


def _reciprocal_root(a: Array) -> Array:
    small = _is_small(a)
    return UNIT["rsqrt"](np.where(small, a * _UP, a)) * np.where(small, _UP**0.5, np.float32(1))


def _logarithm(a: Array) -> Array:
    small = _is_small(a)
    return UNIT["lg2"](np.where(small, a * _UP, a)) - np.where(small, np.float32(24), np.float32(0))


def _power(a: Array) -> Array:
    small = a < -126
    half = UNIT["ex2"](np.where(small, a * np.float32(0.5), a))
    return np.where(small, half * half, half)


def _of_turns(name: str) -> Function:
    def function(a: Array) -> Array:
        turns = a.astype(np.float64) * np.float64(_TURN)
        return UNIT[name](rounding.to_f32(turns, "rz", np.zeros(len(a))))

    return function


_WITH_SUBNORMALS: dict[str, Function] = {
    "rcp": _reciprocal,
    "sqrt": _square_root,
    "rsqrt": _reciprocal_root,
    "lg2": _logarithm,
    "ex2": _power,
}
_ALWAYS: dict[str, Function] = {"sin": _of_turns("sin"), "cos": _of_turns("cos")}


def divide(words: Words) -> Meaning:
    """``div.approx`` and ``div.full``: the dividend by the reciprocal, one of them scaled."""
    full, ftz = "full" in words, "ftz" in words

    def function(a: Array, b: Array) -> Array:
        if ftz and not full:
            first, second = flushed(a), flushed(b)
        elif ftz:
            a, b = flushed(a), flushed(b)
            scale = np.where(np.abs(b) > _LARGE, np.float32(0.25), np.float32(1))
            first, second = flushed(a * scale), flushed(b * scale)
        else:
            scale = _scale(b, full)
            first, second = a * scale, b * scale
        exact = np.multiply(first, UNIT["rcp"](second), dtype=np.float64)
        return canonical(rounding.to_f32(exact, ftz=ftz))

    return same(function, "f32")


def unary(words: Words) -> Meaning:
    """An approximate function of one operand."""
    name, type = words.opcode, words.type
    if type == "f64":
        return same(_double(words), "f64", 1)
    if type != "f32":
        return half.lifted(words, _narrow(name, half.element(type), "ftz" in words), 1)
    function = _ALWAYS.get(name) or UNIT[name]
    if "ftz" not in words:
        function = _WITH_SUBNORMALS.get(name, function)
    if name == "tanh":
        function = lambda a: np.where(_is_small(a), a, UNIT["tanh"](a))  # noqa: E731
    return same(lambda a: canonical(np.ascontiguousarray(function(a))), "f32", 1)


def _narrow(name: str, form: str, ftz: bool) -> Function:
    """f16 and bf16: the float32 result cut to the format, not rounded."""
    to = FORMATS[form]

    def function(bits: Array) -> Array:
        value = half.widened(bits, form)
        if ftz:
            value = np.where(np.abs(value) < to.smallest_normal, np.copysign(0.0, value), value)
        exact = _tanh(value) if name == "tanh" else _exp2(value)
        result = exact.astype(np.float32).astype(np.float64)
        result = rounding.overflowed(rounding.quantised(result, to, "rz"), to, "rn")
        if ftz:
            small = np.abs(result) < to.smallest_normal
            result = np.where(small, np.copysign(0.0, result), result)
        return half.narrowed(result, form)

    return function


def _double(words: Words) -> Function:
    """``rcp`` and ``rsqrt`` of f64. With ``.ftz`` the upper words alone are read and written."""
    operation: Function = {"rcp": lambda a: 1.0 / a, "rsqrt": lambda a: 1.0 / np.sqrt(a)}[
        words.opcode
    ]
    if "ftz" not in words:
        return lambda a: nan_of_operands(operation(a), (a,))
    high = np.uint64(0xFFFFFFFF00000000)

    def function(a: Array) -> Array:
        cut = (np.ascontiguousarray(a).view(np.uint64) & high).view(np.float64)
        cut = np.where(np.abs(cut) < F64_MIN_NORMAL, np.copysign(0.0, cut), cut)
        result = operation(cut)
        result = np.where(np.abs(result) < F64_MIN_NORMAL, np.copysign(0.0, result), result)
        bits = result.view(np.uint64) & high
        return np.where(np.isnan(result), np.uint64(0x7FFFFFFF00000000), bits).view(np.float64)

    return function
