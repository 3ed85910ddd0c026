"""Video instructions (PTX ISA 9.0, sections 9.7.17 and 9.7.18).

Operands are taken apart by the selectors that they carry and widened by the sign of their types.
The SIMD forms are the manual's. The scalar ones, for which sm_90 has no instructions, are the code
of 64 bits that ptxas 13.0 makes of them, which the manual's pseudo-code of 34 bits is not: see
docs/emulator.md.
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


def _u64(value: Array) -> Array:
    return np.asarray(value).view(np.uint64)


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
        return a >> count if words.opcode == "vshr" else a << count

    return function


def _clamped_from_above(value: Array, bits: int, signed: bool) -> Array:
    """What does not fit a part of a register becomes the largest number, be it negative."""
    high = _range(bits, signed)[1]
    return np.where(_u64(value) > np.uint64(high), np.int64(high), value)


def _saturated(words: Words, value: Array, signed: bool, into: str) -> Array:
    """``.sat``: of a shift by 32 bits wherever it goes, of others by the part that they go into."""
    low, high = _range(32, signed)
    if words.opcode in ("vshl", "vshr"):
        return np.clip(_wrapped(value, 34), low, high)
    if into:
        return _clamped_from_above(value, _WIDTHS[into[0]], signed)
    return np.clip(value, low, high) if signed else np.maximum(value, 0)


def _cut(words: Words) -> bool:
    """Whether the second operation gets the lowest 32 bits, as a signed number."""
    shifted = words.opcode in ("vshl", "vshr") and "sat" in words
    return shifted or words.opcode in ("vadd", "vsub")


def _merged(value: Array, c: Array, into: str) -> Array:
    """`c` with a part replaced by the lowest bits of `value`; .h1 by bits 16 to 31."""
    if into == "h1":
        return _low(value) & np.uint32(0xFFFF0000) | c & np.uint32(0xFFFF)
    bits = _WIDTHS[into[0]]
    at = np.uint32(bits * int(into[1]))
    mask = np.uint32((1 << bits) - 1)
    return (_low(value) & mask) << at | c & ~(mask << at)


def _second(operation: str, value: Array, c: Array, signed: bool) -> Array:
    """The second operation of a scalar form, on 64 bits of one sign."""
    addend = _typed(c, 32, "s32" if signed else "u32")
    if operation == "add":
        return _low(value + addend)
    choose = np.minimum if operation == "min" else np.maximum
    if signed:
        return _low(np.asarray(choose(value, addend)))
    return _low(np.asarray(choose(_u64(value), _u64(addend))).view(np.int64))


@rule("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset")
def scalar(words: Words) -> Meaning:
    into, a_part, b_part, *_ = (*words.selectors, "", "", "")
    comparing = words.opcode == "vset"
    types = words.types
    a_type, b_type = types[:2] if comparing else types[1:3]
    signed = types[0] == "s32"
    operation: Any = _SCALAR.get(words.opcode)
    if comparing:
        operation = comparison(words, "s64")
    elif operation is None:
        operation = _shift(words)

    def function(a: Array, b: Array, c: Array | None = None) -> Array:
        left, right = _part(a, a_type, a_part), _part(b, b_type, b_part)
        value = np.asarray(operation(left, right)).astype(np.int64)
        if "sat" in words:
            value = _saturated(words, value, signed, into)
        if c is None:
            return _low(value)
        if into:
            return _merged(value, c, into)
        value = _wrapped(value, 32) if _cut(words) else value
        return _second(words.one_of(_MERGES), value, c, signed)

    return Meaning(function, ("b32",), ("b32", "b32"), optional="b32")


@rule("vmad")
def multiply_add(words: Words) -> Meaning:
    """a * b + c of signed numbers in 64 bits; shifted and saturated by the operands' types."""
    _, a_part, b_part, *_ = (*words.selectors, "", "", "")
    _, a_type, b_type = words.types[:3]
    signed = "s32" in (a_type, b_type)
    shift = {"shr7": 7, "shr15": 15}.get(words.one_of("shr7 shr15"), 0)
    more = np.int64(1 if "po" in words else 0)
    low, high = _range(32, signed)

    def function(a: Array, b: Array, c: Array) -> Array:
        left, right = _part(a, a_type, a_part), _part(b, b_type, b_part)
        product = _wrapped(left, 32) * _wrapped(right, 32)
        value = product + _typed(c, 32, "s32") + more
        if shift:
            logical = (_u64(value) >> np.uint64(shift)).view(np.int64)
            value = value >> shift if signed else logical
        return _low(np.clip(value, low, high) if "sat" in words else value)

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
