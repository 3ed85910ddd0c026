"""Integers of 4 bits and single bits, packed along K as the tensor cores read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

UNIT_BYTES = 16
"""Rows are filled up with zeros to a multiple of this, so that they are copied whole."""


@dataclass(frozen=True)
class Packed:
    """Rows of K elements: A's rows, or B's columns. The first element of a byte is the lowest."""

    data: np.ndarray[Any, Any]
    """[rows, bytes], uint8; behind the last element there are zeros."""
    depth: int
    """K."""
    element: str
    """``"s4"``, ``"u4"`` or ``"b1"``."""

    @property
    def bits(self) -> int:
        return 1 if self.element == "b1" else 4

    @property
    def rows(self) -> int:
        return int(self.data.shape[0])

    def unpack(self) -> np.ndarray[Any, Any]:
        """[rows, K], int8."""
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        parts = self.data[:, :, None] >> shifts & np.uint8((1 << self.bits) - 1)
        values = parts.reshape(self.rows, -1)[:, : self.depth].astype(np.int8)
        return np.where(values > 7, values - 16, values) if self.element == "s4" else values


def pack_int4(values: Any, signed: bool = True) -> Packed:
    """[rows, K] integers from -8 to 7, or 0 to 15 where not `signed`; else a ValueError.

    B is packed by its columns: ``pack_int4(b.T)``.
    """
    low, high = (-8, 7) if signed else (0, 15)
    return _packed(values, low, high, 4, "s4" if signed else "u4")


def pack_bits(values: Any) -> Packed:
    """[rows, K] of 0 and 1, or of booleans; else a ValueError. B is packed by its columns."""
    return _packed(values, 0, 1, 1, "b1")


def _packed(values: Any, low: int, high: int, bits: int, element: str) -> Packed:
    given = np.asarray(values)
    if given.ndim != 2:
        raise ValueError(f"expected [rows, K], got {given.ndim} dimensions")
    if given.dtype.kind not in "iub":
        raise TypeError(f"expected integers, got {given.dtype}")
    if given.size and (given.min() < low or given.max() > high):
        raise ValueError(f"elements of .{element} are {low} to {high}")
    rows, depth = given.shape
    per = 8 // bits
    padded = np.zeros((rows, -(-depth // (UNIT_BYTES * per)) * UNIT_BYTES * per), np.uint8)
    padded[:, :depth] = given.astype(np.int64) & (1 << bits) - 1
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    data = np.bitwise_or.reduce(padded.reshape(rows, -1, per) << shifts, axis=2)
    return Packed(np.ascontiguousarray(data.astype(np.uint8)), depth, element)


def packed_matmul(a: Any, b: Any, out: Any, device: Any) -> np.ndarray[Any, Any]:
    """``a.unpack() @ b.unpack().T`` on the tensor cores, exactly. Raises TypeError where one of
    both is not packed, or differently, or an `out` is given.
    """
    from ptxgemm import warp_gemm

    for name, one in (("a", a), ("b", b)):
        if not isinstance(one, Packed):
            raise TypeError(f"{name} is a {type(one).__name__}, and the other operand is packed")
    if out is not None:
        raise TypeError("products of packed integers make their result; out is for others")
    if (a.bits, a.depth) != (b.bits, b.depth):
        raise ValueError(
            f"a has rows of {a.depth} elements of .{a.element}, b columns of {b.depth} of "
            f".{b.element}"
        )
    return warp_gemm.matmul(a, b, device=device, op="and")
