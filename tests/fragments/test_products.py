"""The seed's tables row by row, and mma.sync shape by shape: on the emulator and on a GPU.

Integers and f64 are equal to the bit. Floating point lies within two units in the last place (f16
sums: of f16) of the terms' magnitudes, fp8 within the 13 bits that Hopper keeps; products of
small integers are exact. Every input is random and asymmetric.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
from ptx import layouts
from ptx.devices import Device
from ptx.fragments import fragment, mma
from tests.fragments.maps import measured_map
from tests.fragments.products import Product, check, run
from tests.fragments.tables import MMA, WMMA, seed_rows


@pytest.fixture(params=["emulator", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Device:
    return ptx.device(request.param)


@pytest.mark.parametrize("p", [*WMMA, *MMA], ids=str)
def test_product(where: Device, p: Product) -> None:
    check(where, p, wide=False)
    check(where, p, wide=True, seed=1)


@pytest.mark.parametrize("row", seed_rows(), ids=str)
def test_every_row_of_the_seeds_tables_is_multiplied(row: Any) -> None:
    """By wmma, in all layouts that PTX has for it: :func:`test_product` runs each of these."""
    a, b, c, m, n, k = row
    found = {
        (*p.layouts[:2], p.op)
        for p in WMMA
        if (p.a, p.b, p.c, p.d, p.m, p.n, p.k) == (a, b, c, c, m, n, k) and p.family == "wmma"
    }
    whole = set(product(("row", "col"), ("row", "col"), ("xor",)))
    narrow = {("row", "col", op) for op in (("xor", "and") if a == "b1" else ("xor",))}
    assert found == (narrow if a in ("u4", "s4", "b1") else whole)


@pytest.mark.parametrize("p", [one for one in WMMA if one.layouts[0] == "row"][::5], ids=str)
def test_wmma_through_shared_memory(where: Device, p: Product) -> None:
    check(where, replace(p, space="shared"))


@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 8, 16), (8, 32, 16)])
@pytest.mark.parametrize("type", ["s8", "u8"])
def test_integers_saturate_by_the_modifier(where: Device, shape: Any, type: str) -> None:
    p = Product(*shape, type, type, "s32", "s32", ("row", "col", "row"), satfinite=True)
    check(where, p)


@pytest.mark.parametrize("d", ["f32", "f16"])
def test_floating_point_saturates_by_clamping(where: Device, d: str) -> None:
    """The seed: +inf becomes +MAX_NORM, -inf becomes -MAX_NORM, NaN becomes +0."""
    p = Product(16, 16, 16, "f16", "f16", d, d, ("row", "col", "row"), satfinite=True)
    a, b = np.zeros((16, 16), np.float16), np.eye(16, dtype=np.float16)
    c = np.zeros((16, 16), {"f32": np.float32, "f16": np.float16}[d])
    c[1, 2], c[3, 4], c[5, 6], c[7, 8] = np.inf, -np.inf, np.nan, -1.5
    a[9, 9], c[9, 9] = np.inf, -np.inf
    most = np.finfo(c.dtype).max
    got = run(where, p, a, b, c)
    assert (got[1, 2], got[3, 4], got[7, 8]) == (most, -most, -1.5)
    for place in ((5, 6), (9, 9)):
        assert got[place] == 0 and not np.signbit(got[place])
    plain = run(where, replace(p, satfinite=False), a, b, c)
    assert np.isposinf(plain[1, 2]) and np.isneginf(plain[3, 4]) and np.isnan(plain[5, 6])


def test_a_f64_saturates_too(where: Device) -> None:
    p = Product(8, 8, 4, "f64", "f64", "f64", "f64", ("row", "col", "row"), satfinite=True)
    c = np.zeros((8, 8))
    c[0, 1], c[2, 3], c[4, 5] = np.inf, -np.inf, np.nan
    got = run(where, p, np.zeros((8, 4)), np.zeros((4, 8)), c)
    most = np.finfo(np.float64).max
    assert (got[0, 1], got[2, 3], got[4, 5]) == (most, -most, 0)


def test_a28_an_f16_accumulator_stops_growing_at_2048(where: Device) -> None:
    """One at a time is lost in f16, where 2048 and 2050 are neighbours; f32 counts to 4096."""
    ones = np.ones((16, 16), np.float16)
    single = np.zeros((16, 16), np.float16)
    single[:, 0] = 1
    p = Product(16, 16, 16, "f16", "f16", "f16", "f16", ("row", "col", "row"))
    assert (run(where, p, single, ones, np.full((16, 16), 2048, np.float16)) == 2048).all()
    p = replace(p, c="f32", d="f32")
    assert (run(where, p, single, ones, np.full((16, 16), 2048, np.float32)) == 2049).all()
    sums = np.zeros((16, 16), np.float32)
    for _ in range(4096 // 16):
        sums = np.ascontiguousarray(run(where, p, ones, ones, sums))
    assert (sums == 4096).all()


def test_a29_f16_sums_overflow_to_infinity_and_f32_sums_do_not(where: Device) -> None:
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float16)
    a[:, :2], b[:2] = 200, 200
    p = Product(16, 16, 16, "f16", "f16", "f32", "f32", ("row", "col", "row"))
    assert (run(where, p, a, b, np.zeros((16, 16), np.float32)) == 80000).all()
    got = run(where, replace(p, c="f16", d="f16"), a, b, np.zeros((16, 16), np.float16))
    assert np.isposinf(got).all()
    clamped = replace(p, c="f16", d="f16", satfinite=True)
    assert (run(where, clamped, a, b, np.zeros((16, 16), np.float16)) == 65504).all()


def test_a35_rows_of_a_reach_their_rows_of_d(where: Device) -> None:
    a = np.ones((16, 16), np.float16)
    a[8:] = 2
    p = Product(16, 8, 16, "f16", "f16", "f32", "f32", ("row", "col", "row"), "mma")
    got = run(where, p, a, np.ones((16, 8), np.float16), np.zeros((16, 8), np.float32))
    assert (got[:8] == 16).all() and (got[8:] == 32).all()


# ---------------------------------------------------------------- where elements lie


def wmma_loads() -> list[tuple[str, str, str, str]]:
    seen = {}
    for p in WMMA:
        shape = f"m{p.m}n{p.n}k{p.k}"
        for operand, type, layout in zip(
            "abcc", (p.a, p.b, p.c, p.d), (*p.layouts, "col"), strict=True
        ):
            seen[shape, operand, type, layout] = None
    return list(seen)


@pytest.mark.parametrize("load", wmma_loads(), ids=".".join)
def test_the_map_of_wmma_is_what_a_load_gives(where: Device, load: Any) -> None:
    """On a GPU: what the manual leaves open is as :func:`ptx.layouts.wmma_fragment` has it."""
    map = layouts.wmma_fragment(*load[:3])
    assert measured_map(where, *load) == map.places


def test_filling(where: Device) -> None:
    """Numbers are rounded to nearest even; a register of the element's type may be given."""
    cases = {
        ("accumulator", "f32"): np.float32(0.1), ("accumulator", "f16"): np.float16(0.1),
        ("matrix_a", "bf16"): ml_dtypes.bfloat16(0.1), ("matrix_a", "s8"): np.int8(-3),
        ("matrix_a", "u8"): np.uint8(200), ("matrix_a", "f16"): np.float16(-2049.0),
    }  # fmt: skip
    for (use, type), value in cases.items():
        k = ptx.Kernel("fill", out="global.b32")
        (out,) = k.params()
        layout = None if use == "accumulator" else "row"
        one = fragment(k, use, 16, 16, 16, type, layout)
        number = int(value) if type in ("s8", "u8") else 0.1 if float(value) > 0 else -2049.0
        one.fill(number)
        k.st.global_.b32(out, one.registers[-1])
        k.ret()
        array = where.empty(4, "u1")
        where.load(ptx.Module(k))["fill"].launch(1, 1, [array])
        got = array.numpy().view(value.dtype)
        assert (got.view("u1") == np.full(len(got), value).view("u1")).all(), type


def test_a_register_fills_a_fragment(where: Device) -> None:
    k = ptx.Kernel("fill", value="f32", half="b16", out="global.f32")
    value, half, out = k.params()
    c = fragment(k, "accumulator", 16, 16, 16, "f32")
    a = fragment(k, "matrix_a", 16, 16, 16, "f16", "row")
    b = fragment(k, "matrix_b", 16, 16, 16, "f16", "row")
    c.fill(value)
    a.fill(half)
    b.fill(2)
    mma(c, a, b, c)
    c.store(out, 16, "row")
    k.ret()
    array = where.empty((16, 16), "f4")
    where.load(ptx.Module(k))["fill"].launch(1, 32, [0.5, np.float16(3).view(np.uint16), array])
    assert (array.numpy() == 16 * 3 * 2 + 0.5).all()
