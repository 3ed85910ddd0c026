"""Video instructions (PTX ISA 9.0, sections 9.7.17 and 9.7.18), as the manual's pseudo-code is.

Operands are taken apart by the selectors that they carry, widened by the sign of their types, and
computed exactly; the scalar forms give 34 bits, of which 33 go on where nothing saturates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptx.emu.semantics.compare import comparison
from ptx.emu.semantics.rules import Array, Meaning, Words, rule

_WIDTHS = {"b": 8, "h": 16}
_MERGES = "add min max"


def _wrapped(value: Array, bits: int) -> Array:
    """int64 as two's complement of so many bits."""
    top = np.int64(1 << (bits - 1))
    low: Array = value & np.int64((1 << bits) - 1)
    return (low ^ top) - top


def _typed(raw: Array, bits: int, type: str) -> Array:
    """The lowest bits as a number: sign-extended for a signed type."""
    low: Array = raw.astype(np.int64) & np.int64((1 << bits) - 1)
    return _wrapped(low, bits) if type[0] == "s" else low


def _low(value: Array) -> Array:
    """The lowest 32 bits."""
    return (value & np.int64(0xFFFFFFFF)).astype(np.uint32)


def _range(bits: int, signed: bool) -> tuple[int, int]:
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


# ---------------------------------------------------------------- scalar

Operation = Callable[[Array, Array], Array]
_SCALAR: dict[str, Operation] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}


def _part(a: Array, type: str, selector: str) -> Array:
    """The byte or half that a selector names; all of the register where there is none."""
    if not selector:
        return _typed(a, 32, type)
    bits = _WIDTHS[selector[0]]
    return _typed(a >> np.uint32(bits * int(selector[1])), bits, type)


def _shift(words: Words) -> Operation:
    def function(a: Array, b: Array) -> Array:
        count = np.minimum(b, 32) if "clamp" in words else b & 31
        if words.opcode == "vshr":
            return a >> count
        # Of 33 bits shifted by 32 the 34 lowest are kept.
        return (a << np.minimum(count, 31)) << (count - np.minimum(count, 31))

    return function


def _combined(words: Words, value: Array, c: Array | None, type: str, into: str) -> Array:
    """The second operation, or the merge into `c`, that a scalar form may end with."""
    if c is None:
        return _low(value)
    if into:
        bits = _WIDTHS[into[0]]
        at = np.uint32(bits * int(into[1]))
        mask = np.uint32((1 << bits) - 1)
        return (_low(value) & mask) << at | c & ~(mask << at)
    addend = _typed(c, 32, type)
    operation = {"add": np.add, "min": np.minimum, "max": np.maximum}[words.one_of(_MERGES)]
    return _low(np.asarray(operation(value, addend)))


@rule("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset")
def scalar(words: Words) -> Meaning:
    into, a_part, b_part, *_ = (*words.selectors, "", "", "")
    comparing = words.opcode == "vset"
    types = words.types
    d_type, a_type, b_type = ("u32", *types[:2]) if comparing else types[:3]
    signed = d_type == "s32"
    operation: Any = _SCALAR.get(words.opcode)
    if comparing:
        operation = comparison(words, "s64")
    elif operation is None:
        operation = _shift(words)

    def function(a: Array, b: Array, c: Array | None = None) -> Array:
        left, right = _part(a, a_type, a_part), _part(b, b_type, b_part)
        value = np.asarray(operation(left, right)).astype(np.int64)
        if not comparing:
            value = _wrapped(value, 34)
            if "sat" in words:
                bits = _WIDTHS[into[0]] if into else 32
                value = np.clip(value, *_range(bits, signed))
            value = _wrapped(value, 33)
        return _combined(words, value, c, d_type, into)

    return Meaning(function, ("b32",), ("b32", "b32"), optional="b32")


@rule("vmad")
def multiply_add(words: Words) -> Meaning:
    """a * b + c, exact, shifted, and saturated by the sign of its operands."""
    _, a_part, b_part, *_ = (*words.selectors, "", "", "")
    _, a_type, b_type = words.types[:3]
    signed = "s32" in (a_type, b_type)
    shift = {"shr7": 7, "shr15": 15}.get(words.one_of("shr7 shr15"), 0)
    more = 1 if "po" in words else 0

    def function(a: Array, b: Array, c: Array) -> Array:
        left, right = _part(a, a_type, a_part), _part(b, b_type, b_part)
        addend = _typed(c, 32, "s32" if signed else "u32")
        # The product has up to 66 bits.
        exact = left.astype(object) * right.astype(object) + addend.astype(object) + more
        low, high = _range(32, signed)
        results = []
        for value in exact.tolist():
            result = value >> shift
            if "sat" in words:
                result = min(max(result, low), high)
            results.append(result & 0xFFFFFFFF)
        return np.array(results, np.uint32)

    return Meaning(function, ("b32",), ("b32", "b32", "b32"))


# ---------------------------------------------------------------- SIMD


def _average(a: Array, b: Array) -> Array:
    total = a + b
    return (total + (total >= 0)) >> 1


_SIMD: dict[str, Operation] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vavrg": _average,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}
_SIMD_OPCODES = [f"{op}{n}" for n in (2, 4) for op in (*_SIMD, "vset")]


@rule(*_SIMD_OPCODES)
def lanes(words: Words) -> Meaning:
    """Two halves or four bytes at once; selectors name lanes, the highest first."""
    opcode, count = words.opcode[:-1], int(words.opcode[-1])
    bits = 32 // count
    default = "".join(str(n) for n in reversed(range(2 * count)))
    mask, a_pick, b_pick, *_ = (*words.selectors, "", "", "")
    chosen = [str(lane) in (mask or default[count:]) for lane in range(count)]
    picks = [
        [int(n) for n in reversed(pick[1:] or own)]
        for pick, own in ((a_pick, default[count:]), (b_pick, default[:count]))
    ]
    comparing = opcode == "vset"
    d_type, a_type, b_type = ("u32", *words.types[:2]) if comparing else words.types[:3]
    operation: Any = comparison(words, "s64") if comparing else _SIMD[opcode]
    limits = _range(bits, d_type == "s32")
    each = np.uint32((1 << bits) - 1)

    def function(a: Array, b: Array, c: Array) -> Array:
        both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)

        def lane(number: int, type: str) -> Array:
            return _typed(both >> np.uint64(bits * number), bits, type)

        total = c.astype(np.int64) if "add" in words else None
        merged = np.zeros(len(a), np.uint32)
        for number in range(count):
            at = np.uint32(bits * number)
            if not chosen[number]:
                merged |= c & each << at
                continue
            left = lane(picks[0][number], a_type)
            right = lane(picks[1][number], b_type)
            value = np.asarray(operation(left, right)).astype(np.int64)
            if "sat" in words:
                value = np.clip(value, *limits)
            if total is not None:
                total = total + value
            merged |= (_low(value) & each) << at
        return merged if total is None else _low(total)

    return Meaning(function, ("b32",), ("b32", "b32", "b32"))
