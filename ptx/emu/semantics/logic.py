"""Logic, shifts and byte permutation (PTX ISA 9.0, sections 9.7.8 and 9.7.9.7), exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptx import types
from ptx.emu.semantics.rules import Array, Meaning, Words, dtype_of, rule, same

_BITWISE: dict[str, Any] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@rule("and", "or", "xor")
def bitwise(words: Words) -> Meaning:
    return same(_BITWISE[words.opcode], words.type)


@rule("not")
def complement(words: Words) -> Meaning:
    return same(np.invert, words.type, 1)


@rule("cnot")
def logical_not(words: Words) -> Meaning:
    return same(lambda a: (a == 0).astype(a.dtype), words.type, 1)


@rule("lop3")
def lookup(words: Words) -> Meaning:
    """``lop3.b32``, and ``lop3.BoolOp.b32`` with a predicate beside the result."""
    combine = words.one_of("or and")

    def table(a: Array, b: Array, c: Array, lut: Array) -> Array:
        code = int(lut.flat[0])
        result = np.zeros(len(a), np.uint32)
        for row in range(8):
            if code >> row & 1:
                term = a if row & 4 else ~a
                term = term & (b if row & 2 else ~b)
                result |= term & (c if row & 1 else ~c)
        return result

    if not combine:
        return Meaning(table, ("b32",), ("b32", "b32", "b32", "u32"))

    def both(a: Array, b: Array, c: Array, lut: Array, q: Array) -> tuple[Array, Array]:
        result = table(a, b, c, lut)
        return result, (result != 0) | q if combine == "or" else (result != 0) & q

    return Meaning(both, ("b32", "pred"), ("b32", "b32", "b32", "u32", "pred"))


@rule("shl", "shr")
def shift(words: Words) -> Meaning:
    """Counts from the width on shift everything out: they clamp, they do not wrap."""
    type = words.type
    width = np.uint32(types.bits(type))
    kind = dtype_of(type)
    left = words.opcode == "shl"

    def function(a: Array, b: Array) -> Array:
        count = np.minimum(b, width - np.uint32(1)).astype(kind)
        moved = a << count if left else a >> count
        if types.is_signed(type) and not left:
            return moved
        beyond = b >= width
        return np.where(beyond, kind(0), moved) if beyond.any() else moved

    return Meaning(function, (type,), (type, "u32"))


@rule("shf")
def funnel(words: Words) -> Meaning:
    """The first source is the low word, the second the high one."""
    clamp = "clamp" in words

    def function(a: Array, b: Array, c: Array) -> Array:
        both = (b.astype(np.uint64) << np.uint64(32)) | a
        count = (np.minimum(c, np.uint32(32)) if clamp else c & np.uint32(31)).astype(np.uint64)
        moved = (both << count) >> np.uint64(32) if "l" in words else both >> count
        return moved.astype(np.uint32)

    return Meaning(function, ("b32",), ("b32", "b32", "u32"))


_PRMT_MODES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}
"""For each mode and selector the source byte of result bytes 3, 2, 1, 0 (table of prmt)."""


@rule("prmt")
def permute(words: Words) -> Meaning:
    mode = words.one_of(" ".join(_PRMT_MODES))
    rows = np.array(
        [[int(digit) for digit in reversed(text)] for text in _PRMT_MODES.get(mode, ("0000",))]
    )

    def function(a: Array, b: Array, c: Array) -> Array:
        n = len(a)
        source = np.empty((n, 2), np.uint32)
        source[:, 0], source[:, 1] = a, b
        bytes_ = source.view(np.uint8)
        if mode:
            return (
                np.take_along_axis(bytes_, rows[c & np.uint32(3)], axis=1)
                .copy()
                .view(np.uint32)[:, 0]
            )
        nibbles = (c[:, None] >> np.array([0, 4, 8, 12], np.uint32)) & np.uint32(15)
        chosen = np.take_along_axis(bytes_, (nibbles & np.uint32(7)).astype(np.intp), axis=1)
        sign = np.where(chosen >> 7, np.uint8(0xFF), np.uint8(0))
        chosen = np.where(nibbles & np.uint32(8), sign, chosen)
        return np.ascontiguousarray(chosen).view(np.uint32)[:, 0]

    return Meaning(function, ("b32",), ("b32", "b32", "b32"))
