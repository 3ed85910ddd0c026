"""Products of :mod:`ptxgemm.hopper` on any device, judged by numpy in float64.

Elements are small whole numbers, so that every sum is exact in every type of sums and C is right to
the bit: the exact result, rounded once.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ptxgemm import hopper
from ptxgemm.hopper import Matrix
from ptxgemm.tiling import Tiling

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
    "s32": np.int32,
}  # fmt: skip
PAIRS = {
    "bf16": ("bf16", "bf16"), "f16": ("f16", "f16"), "tf32": ("tf32", "tf32"),
    "e4m3": ("e4m3", "e4m3"), "e4m3 e5m2": ("e4m3", "e5m2"), "e5m2 e4m3": ("e5m2", "e4m3"),
    "e5m2": ("e5m2", "e5m2"), "s8": ("s8", "s8"), "s8 u8": ("s8", "u8"), "u8 s8": ("u8", "s8"),
    "u8": ("u8", "u8"),
}  # fmt: skip
"""What wgmma multiplies."""
LAYOUTS = [(a, b) for a in (False, True) for b in (False, True)]
"""Whether A and B are stored by columns."""


class Placed:
    """A matrix inside an allocation that ends with its last element; what it leaves is 7."""

    def __init__(self, device: Any, values: Any, kind: str, flip: bool, gap: int, base: int):
        lines, length = values.shape[::-1] if flip else values.shape
        self.kind, self.pitch, self.flip, self.base = kind, length + gap, flip, base
        self.values = values.astype(DTYPES[kind])
        self.flat = np.full(base + (lines - 1) * self.pitch + length, 7, DTYPES[kind])
        self.put(self.flat, self.values)
        self.array = device.array(self.flat)
        strides = (1, self.pitch) if flip else (self.pitch, 1)
        at = self.array.pointer + base * self.flat.itemsize
        self.matrix = Matrix(at, *values.shape, *strides, kind)

    def _view(self, flat: Any) -> Any:
        """As bytes of the elements' size: numpy strides no 8-bit floats."""
        size = flat.itemsize
        strides = (size, self.pitch * size) if self.flip else (self.pitch * size, size)
        bits = flat.view(f"u{size}")[self.base :]
        return np.lib.stride_tricks.as_strided(bits, self.values.shape, strides)

    def put(self, flat: Any, values: Any) -> None:
        self._view(flat)[...] = values.view(f"u{flat.itemsize}")

    def taken(self, flat: Any) -> Any:
        return np.ascontiguousarray(self._view(flat)).view(DTYPES[self.kind])


def rounded(exact: Any, kind: str) -> Any:
    """To a type of C: to nearest even, where 8 bits saturate."""
    if kind == "s8":
        return np.clip(np.rint(exact), -128, 127)
    if kind in ("e4m3", "e5m2"):
        largest = float(ml_dtypes.finfo(DTYPES[kind]).max)
        exact = np.clip(exact, -largest, largest)
    return exact.astype(np.float32).astype(DTYPES[kind]) if kind != "s32" else exact


def whole(random: Any, kind: str, shape: tuple[int, int]) -> Any:
    return random.integers(0 if kind == "u8" else -3, 4, shape)


def check(
    device: Any, m: int, n: int, k: int, *, kinds: tuple[str, str] = ("bf16", "bf16"),
    out: str = "bf16", flips: tuple[bool, bool, bool] = (False, False, False), gap: int = 0,
    base: int = 0, alpha: float = 1.0, beta: float = 0.0, tiling: Tiling | None = None,
    accumulate: Any = "native",
) -> None:  # fmt: skip
    """C = alpha A B + beta C, each `gap` elements between lines and `base` before the first one."""
    random = np.random.default_rng(m * n + k)
    a = Placed(device, whole(random, kinds[0], (m, k)), kinds[0], flips[0], gap, base)
    b = Placed(device, whole(random, kinds[1], (k, n)), kinds[1], flips[1], gap, base)
    integer = out in ("s8", "s32")
    start = whole(random, out, (m, n)) if beta or integer else np.full((m, n), np.nan)
    c = Placed(device, start, out, flips[2], gap, base)
    hopper.plan(
        device, c.matrix, a.matrix, b.matrix, alpha, beta, tiling=tiling, accumulate=accumulate
    )()
    exact = alpha * (a.values.astype(np.float64) @ b.values.astype(np.float64))
    if beta:
        exact = exact + beta * c.values.astype(np.float64)
    flat = c.array.numpy()
    np.testing.assert_array_equal(c.taken(flat).astype(np.float64), rounded(exact, out))
    c.put(flat, c.values)
    assert flat.tobytes() == c.flat.tobytes(), "memory around C was changed"
