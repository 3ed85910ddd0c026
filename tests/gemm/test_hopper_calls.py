"""matmul, gemm and plan where they run on Hopper's tensor cores; the emulator counts as an H200."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
import ptxgemm
from ptx.dtypes import PTX
from ptxgemm import calls, hopper, launching, select
from ptxgemm.grid import Processor
from ptxgemm.hopper_calls import FEW_MATRICES, Bound, OnHopper
from ptxgemm.kernels.general import General
from ptxgemm.prepass import Rooms, rooms_of
from ptxgemm.problem import Matrices, Problem
from ptxgemm.select import Terms

EMULATOR: dict[str, Any] = {"device": "emulator"}


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is chosen for each product that is new."""
    found: list[Any] = []

    def watched(problem: Any, terms: Any) -> Any:
        found.append(select.select(problem, terms))
        return found[-1]

    monkeypatch.setattr(launching, "select", watched)
    return found


def whole(dtype: Any, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def exact(a: Any, b: Any) -> Any:
    return np.matmul(a.astype(np.float64), b.astype(np.float64))


def problem(m: int, n: int, k: int, batch: int = 1, dtype: str = "bfloat16") -> Problem:
    out = "int32" if dtype == "int8" else dtype
    return Problem(
        dtype, out, m, n, k, (batch,), Matrices(k, 1, (m * k,)), Matrices(n, 1, (k * n,)), None,
        Matrices(n, 1, (m * n,)), (batch, m, n),
    )  # fmt: skip


def test_a_c_that_is_not_the_result(chosen: list[Any]) -> None:
    """A row of C for all rows, C by columns, and C itself."""
    a, b = whole(np.float16, 9, 24), whole(np.float16, 24, 10, seed=1)
    full = whole(np.float16, 20, 10, seed=2)
    for c in (full[0], full[::2][:9], full[9:0:-1]):
        got = ptxgemm.gemm(a, b, c, alpha=2, beta=-0.5, **EMULATOR)
        np.testing.assert_array_equal(got, 2 * exact(a, b) - 0.5 * c.astype(np.float64))
    assert all(isinstance(one, OnHopper) for one in chosen)
    assert {one.in_place for one in chosen} == {False}
    out = np.full((10, 9), np.nan, np.float16).T
    assert ptxgemm.gemm(a, b, full[0], beta=1, out=out, **EMULATOR) is out
    np.testing.assert_array_equal(out, exact(a, b) + full[0].astype(np.float64))


def test_integers_are_scaled_modulo_2_32(chosen: list[Any]) -> None:
    a, b = whole(np.int8, 9, 24), whole(np.int8, 24, 10, seed=1)
    c = np.full((9, 10), 2**31 - 1, np.int32)
    got = ptxgemm.gemm(a, b, c, alpha=-3, beta=2**30 + 1, **EMULATOR)
    want = -3 * exact(a, b).astype(np.int64) + (2**30 + 1) * (2**31 - 1)
    np.testing.assert_array_equal(got, want.astype(np.int32))
    assert isinstance(chosen[-1], OnHopper)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_8_bits(monkeypatch: pytest.MonkeyPatch, chosen: list[Any], dtype: str) -> None:
    """On Hopper by wgmma, before by mma; what is flipped by no tensor core; all lies anywhere."""
    kind = getattr(ml_dtypes, dtype)
    a, b = whole(kind, 9, 24), whole(kind, 24, 10, seed=1)
    got = ptxgemm.matmul(a, np.asfortranarray(b.view("u1")).view(kind), **EMULATOR)
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got.astype(np.float64), exact(a, b))
    assert isinstance(chosen[-1], OnHopper)
    flipped, wide = a[::-1], np.zeros((9, 10), np.float32)
    ptxgemm.gemm(flipped, b, wide, alpha=0.5, beta=1, out=wide, **EMULATOR)
    np.testing.assert_array_equal(wide, 0.5 * exact(flipped, b))
    assert isinstance(chosen[-1].kernel, General)
    gpus = [Processor(108, 80, 99 * 1024), Processor(128, 89, 99 * 1024)]
    monkeypatch.setattr(launching, "processor", lambda _: gpus[-1])
    monkeypatch.setattr(calls, "bound", launching.Launcher)
    got = ptxgemm.matmul(a, b, out=np.zeros((9, 10), np.float16), **EMULATOR)
    np.testing.assert_array_equal(got, exact(a, b))
    assert chosen[-1].kernel.a == PTX[dtype]
    gpus.pop()
    with pytest.raises(ValueError, match="need compute capability 8.9; the GPU has 8.0"):
        ptxgemm.matmul(a, b, **EMULATOR)


def test_float32_is_cut_to_tf32_where_it_may(chosen: list[Any]) -> None:
    """1 + 2**-11 has a bit that tf32 lacks."""
    a, b = np.full((5, 8), 1 + 2.0**-11, np.float32), np.ones((8, 6), np.float32)
    for tf32, one in ((True, 1.0), (False, 1 + 2.0**-11)):
        np.testing.assert_array_equal(ptxgemm.matmul(a, b, tf32=tf32, **EMULATOR), 8 * one)
        assert isinstance(chosen[-1], OnHopper) == tf32
    assert "narrow_gemm" in repr(ptxgemm.plan(5, 6, 8, tf32=True, **EMULATOR))
    assert "wgmma_gemm" in repr(ptxgemm.plan(2048, 2048, 8, tf32=True, **EMULATOR))
    half = np.ones((4, 4), np.float16)
    with pytest.raises(ValueError, match="tf32 is for float32; a has dtype float16"):
        ptxgemm.gemm(half, half, tf32=True, **EMULATOR)
    before = replace(Terms(1.0, 0.0, tf32=True), target=Processor(108, 80, 163 * 1024))
    assert select.select(problem(64, 64, 64, dtype="float32"), before).kernel.a == "tf32"


def test_launches_are_kept_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    device, made, plan = ptx.device("emulator"), [], hopper.plan

    def counted(*arguments: Any, **options: Any) -> Any:
        made.append(plan(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(hopper, "plan", counted)
    a, b = (device.array(whole(ml_dtypes.bfloat16, *s)) for s in ((2, 11, 13), (2, 13, 7)))
    results = [device.empty((2, 11, 7), "bfloat16") for _ in range(2)]
    for out in (*results, *results):
        ptxgemm.matmul(a, b, out=out)
        np.testing.assert_array_equal(out.numpy().astype("f8"), exact(a.numpy(), b.numpy()))
    assert len(made) == 4  # two matrices at two addresses
    rooms = {room.pointer for one in made for room in one.workspace}
    assert len(rooms) == len(made[0].workspace) == 1  # of B: A, the larger, is read as it lies


def test_products_on_a_stream_share_their_workspace() -> None:
    """What is too small is replaced, and lives on for who was prepared with it."""
    device = ptx.device("emulator")
    rooms = Rooms(device)
    first, second = rooms(0, (3, 128)), rooms(1, (1, 128))
    assert (first.shape, first.storage.nbytes) == ((3, 128), 512)
    assert rooms(0, (4, 128)).pointer == first.pointer != second.pointer
    larger = rooms(0, (5, 128))
    assert larger.pointer != first.pointer
    assert rooms(0, (3, 128)).pointer == larger.pointer
    first.fill_bytes(1)
    assert first.numpy().all()
    assert rooms_of(device, 0) is rooms_of(device, 0) is not rooms_of(device, 7)


def test_what_goes_elsewhere() -> None:
    good = problem(256, 256, 64)
    terms = Terms(1.0, 0.0)
    assert isinstance(select.select(good, terms), OnHopper)
    many = problem(64, 64, 64, batch=FEW_MATRICES + 1)
    others = (
        (good, replace(terms, target=Processor(108, 80, 163 * 1024))),
        (good, replace(terms, target=Processor(148, 100, 227 * 1024))),
        (many, terms),
        (replace(good, a=Matrices(9, 2, (0,))), terms),
        (replace(good, a=Matrices(-64, 1, (0,))), terms),
        (replace(good, d=Matrices(512, 2, (0,))), terms),
        (replace(good, a=Matrices(1 << 40, 1, (0,))), terms),
        (replace(good, k=0), replace(terms, alpha=0.0)),
        (replace(good, c=Matrices(1, 0, (0,))), replace(terms, beta=1.0)),
    )
    for one, asked in others:
        assert not isinstance(select.select(one, asked), OnHopper), one
    assert isinstance(select.select(others[4][0], terms).kernel, General)
    filling = problem(8192, 8192, 64, batch=FEW_MATRICES + 1)
    assert isinstance(select.select(filling, terms), OnHopper)


def test_a_plan_names_its_kernel() -> None:
    plan = ptxgemm.plan(640, 640, 64, "float16", **EMULATOR)
    assert "640x640x64 float16 on emulator: wgmma_gemm" in repr(plan)


def test_addresses_are_forgotten_at_last() -> None:
    device = ptx.device("emulator")
    product = OnHopper(problem(8, 8, 8), "bf16", 1.0, 0.0, 0, False)
    bound = Bound(device, product, (2, 2, 2, 2), 1, 0)
    a, b, d = (device.array(np.zeros((8, 8), ml_dtypes.bfloat16)) for _ in range(3))
    bound._most = 1
    for out in (d, a):
        bound._prepared((b.pointer, b.pointer, 0, out.pointer))
    assert list(bound._kept) == [(b.pointer, b.pointer, 0, a.pointer)]
