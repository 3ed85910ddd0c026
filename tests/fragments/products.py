"""One warp multiplies through :mod:`ptx.fragments`, and what it must give."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import ptx
from ptx import layouts
from ptx.devices import Device
from ptx.fragments import fragment, mma

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "f64": np.float64, "s8": np.int8, "u8": np.uint8, "s32": np.int32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
POINTED = {"tf32": "f32", "f32": "f32", "f64": "f64", "s32": "s32"}
UNITS = {"f32": 2.0**-22, "f16": 2.0**-10}
"""Floating point: the largest error, relative to the sum of the terms' magnitudes; that is two
units in the last place of f32, and two of f16."""
FP8_UNIT = 2.0**-11
"""Sums of fp8 are kept with 13 bits below the largest term (Hopper)."""


@dataclass(frozen=True)
class Product:
    """One row of the seed's tables, or one shape of mma.sync, with layouts."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    d: str
    layouts: tuple[str, str, str]
    """Of A, B, and C and D."""
    family: str = "wmma"
    op: str = "xor"
    satfinite: bool = False
    how: str = "load"
    """``"load"``, or ``"ldmatrix"`` by way of shared memory."""
    space: str = "global"

    def __str__(self) -> str:
        types = f"{self.d}.{self.a}.{self.b}.{self.c}"
        told = {
            self.op: self.a == "b1",
            "satfinite": self.satfinite,
            self.how: self.how != "load",
            self.space: self.space != "global",
        }
        more = "".join(f" {word}" for word, there in told.items() if there)
        shape = f"m{self.m}n{self.n}k{self.k}"
        return f"{self.family} {shape} {types} {'.'.join(self.layouts)}{more}"

    @property
    def exact(self) -> bool:
        return self.d in ("s32", "f64")


def width(type: str) -> int:
    return layouts.ELEMENT_BITS[type]


@cache
def kernel(p: Product) -> ptx.Kernel:
    """A warp: D = A B + C, each matrix tight in memory."""
    pointers = {
        name: f"global.{POINTED.get(type, 'b32')}@32"
        for name, type in zip("abcd", (p.a, p.b, p.c, p.d), strict=True)
    }
    k = ptx.Kernel("product", **pointers)
    at = dict(zip("abcd", k.params(), strict=True))
    made = {
        "a": fragment(k, "matrix_a", p.m, p.n, p.k, p.a, p.layouts[0], family=p.family),
        "b": fragment(k, "matrix_b", p.m, p.n, p.k, p.b, p.layouts[1], family=p.family),
        "c": fragment(k, "accumulator", p.m, p.n, p.k, p.c, family=p.family),
        "d": fragment(k, "accumulator", p.m, p.n, p.k, p.d, family=p.family),
    }
    shared = {}
    if p.space == "shared":
        for name in "abcd":
            size = made[name].map.rows * made[name].map.columns * made[name].map.bits // 32
            shared[name] = k.shared(f"shared_{name}", "b32", size, align=32)
            if name != "d":
                _copy(k, at[name], k.mov.u32(shared[name]), size)
        k.bar.warp.sync(0xFFFFFFFF)
    source = shared or at
    for name in "ab":
        load = made[name].ldmatrix if p.how == "ldmatrix" else made[name].load
        load(source[name])
    made["c"].load(source["c"], layout=p.layouts[2])
    mma(made["d"], made["a"], made["b"], made["c"], p.satfinite, op=p.op)
    stmatrix = p.how == "ldmatrix" and p.d == "f16"
    (made["d"].stmatrix if stmatrix else made["d"].store)(source["d"], layout=p.layouts[2])
    if shared:
        k.bar.warp.sync(0xFFFFFFFF)
        _copy(
            k,
            k.mov.u32(shared["d"]),
            at["d"],
            made["d"].map.rows * made["d"].map.columns * made["d"].map.bits // 32,
        )
    k.ret()
    return k


def _copy(k: ptx.Kernel, source: Any, target: Any, words: int) -> None:
    """Words from global to shared memory or back, by the lanes of the warp in turn."""
    lane = k.mov.u32(k.laneid)
    for first in range(0, words, 32):
        inside = k.setp.lt.u32(lane, words - first)
        at = [
            base + (k.mul.wide.u32(lane, 4) if base.type in ("b64", "s64", "u64") else lane * 4)
            for base in (source, target)
        ]
        word = k.mov.b32(0)
        with k.when(inside):
            k.op(f"ld.{source.space}.b32", ptx.ir.Addr(at[0], 4 * first), out=word)
            k.op(f"st.{target.space}.b32", ptx.ir.Addr(at[1], 4 * first), word)


def values(random: np.random.Generator, shape: tuple[int, int], type: str, wide: bool) -> Array:
    """Random elements: of 4 bits and fewer as int64; `wide` uses a type's whole range."""
    bits = width(type)
    if bits < 8:
        low, high = (-8, 8) if type == "s4" else (0, 1 << bits)
        return random.integers(low, high, shape)
    if type in ("s8", "u8", "s32"):
        info = np.iinfo(DTYPES[type])
        low, high = (info.min, info.max + 1) if wide else (-9, 10)
        if type == "u8" and not wide:
            low = 0
        return random.integers(low, high, shape).astype(DTYPES[type])
    drawn = random.standard_normal(shape)
    if not wide:
        drawn = np.round(drawn * 2)
    found = drawn.astype(DTYPES[type])
    if type == "tf32":
        found = (found.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return found


def stored(matrix: Array, type: str, layout: str) -> Array:
    """As it lies in memory: below a byte the first element lowest."""
    lines = np.ascontiguousarray(matrix if layout == "row" else matrix.T)
    bits = width(type)
    if bits >= 8:
        return lines
    parts = (lines.reshape(-1, 8 // bits) & (1 << bits) - 1).astype(np.uint8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(parts << shifts, axis=1).astype(np.uint8)


def run(device: Device, p: Product, a: Array, b: Array, c: Array) -> Array:
    """D on a device."""
    given = {
        name: device.array(stored(matrix, type, layout))
        for name, matrix, type, layout in (
            ("a", a, p.a, p.layouts[0]), ("b", b, p.b, p.layouts[1]), ("c", c, p.c, p.layouts[2])
        )
    }  # fmt: skip
    by_row = p.layouts[2] == "row"
    out = device.empty((p.m, p.n) if by_row else (p.n, p.m), DTYPES[p.d], poison=True)
    loaded = device.load(ptx.Module(kernel(p)))["product"]
    loaded.launch(1, 32, {**given, "d": out})
    found = out.numpy()
    return found if by_row else found.T


def expected(p: Product, a: Array, b: Array, c: Array) -> Array:
    """Exact; for f64 as a chain of fused multiply-adds along K."""
    if p.a == "b1":
        total = a @ b if p.op == "and" else a @ (1 - b) + (1 - a) @ b
        return total + c
    if p.d == "s32":
        total = a.astype(np.int64) @ b.astype(np.int64) + c
        if p.satfinite:
            return np.clip(total, -(2**31), 2**31 - 1)
        return total.astype(np.uint32).view(np.int32)
    if p.d == "f64":
        total = c.astype(object)
        for step in range(p.k):
            for row in range(p.m):
                for column in range(p.n):
                    exact = Fraction(float(a[row, step])) * Fraction(float(b[step, column]))
                    total[row, column] = float(exact + Fraction(float(total[row, column])))
        return total.astype(np.float64)
    return a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)


def check(device: Device, p: Product, wide: bool = True, seed: int = 0) -> Array:
    """Run a product of random matrices; D, if it is right."""
    random = np.random.default_rng(seed)
    a = values(random, (p.m, p.k), p.a, wide)
    b = values(random, (p.k, p.n), p.b, wide)
    c = values(random, (p.m, p.n), p.c, wide)
    got, exact = run(device, p, a, b, c), expected(p, a, b, c)
    if p.exact:
        assert np.array_equal(got, exact), p
        return got
    size = abs(a.astype(np.float64)) @ abs(b.astype(np.float64)) + abs(c.astype(np.float64))
    unit = FP8_UNIT if p.a in ("e4m3", "e5m2") else UNITS[p.d]
    unit = max(unit, UNITS[p.d])
    assert (abs(got.astype(np.float64) - exact) <= unit * size).all(), p
    if not wide:
        assert np.array_equal(got.astype(np.float64), exact), p
    return got
