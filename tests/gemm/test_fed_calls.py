"""float64 products of the library behind tensor copies; the emulator counts as an H200."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptxgemm
from ptxgemm import calls, launching, select, warp_gemm
from ptxgemm.fed_calls import Fed
from ptxgemm.grid import Processor
from ptxgemm.hopper_calls import FEW_MATRICES
from ptxgemm.problem import Matrices, Problem
from ptxgemm.select import Terms
from ptxgemm.tail import Tail


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is chosen for each product, where two tiles are enough for the GPU."""
    monkeypatch.setattr(warp_gemm, "FED_TILES", 2)
    monkeypatch.setattr(calls, "bound", launching.Launcher)
    found: list[Any] = []

    def watched(problem: Any, terms: Any) -> Any:
        found.append(select.select(problem, terms))
        return found[-1]

    monkeypatch.setattr(launching, "select", watched)
    return found


def drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64)


def test_float64_is_fed_where_it_is_aligned(chosen: list[Any]) -> None:
    a, b = drawn(130, 18), drawn(18, 16, seed=1)
    np.testing.assert_array_equal(ptxgemm.matmul(a, b, device="emulator"), a @ b)
    assert isinstance(chosen[-1], Fed)
    by_columns = np.full((16, 130), np.nan).T
    assert ptxgemm.matmul(a, b, out=by_columns, device="emulator") is by_columns
    np.testing.assert_array_equal(by_columns, a @ b)
    assert isinstance(chosen[-1], Fed)
    odd = np.ascontiguousarray(a[:, :17])
    np.testing.assert_array_equal(ptxgemm.matmul(odd, b[:17], device="emulator"), odd @ b[:17])
    assert not isinstance(chosen[-1], Fed)


def test_a_batch_with_c_of_any_strides_and_a_result_by_columns(chosen: list[Any]) -> None:
    """Each matrix has a launch; the transposed product has the two tiles."""
    a, b = drawn(2, 16, 18), drawn(2, 18, 130, seed=1)
    c = drawn(16, 130, seed=2)[::-1]
    out = np.full((2, 130, 16), np.nan).transpose(0, 2, 1)
    ptxgemm.gemm(a, b, c, alpha=2, beta=-1, out=out, device="emulator")
    np.testing.assert_array_equal(out, 2 * (a @ b) - c)
    assert isinstance(chosen[-1], Fed)
    assert chosen[-1].ctas == 4


def problem(batch: int) -> Problem:
    n = 2048
    one = Matrices(n, 1, (n * n,))
    return Problem("float64", "float64", n, n, n, (batch,), one, one, None, one, (batch, n, n))


def test_what_is_fed_and_what_goes_elsewhere() -> None:
    plan = ptxgemm.plan(4096, 4096, 4096, "float64", device="emulator")
    assert "mma_fed_gemm" in repr(plan)
    terms = Terms(1.0, 0.0)
    assert isinstance(select.select(problem(5), terms), Fed)
    older = replace(terms, target=Processor(108, 80, 163 * 1024))
    broadcast = replace(problem(1), a=Matrices(0, 1, (0,)))
    for one, asked in (
        (problem(FEW_MATRICES + 1), terms), (problem(1), older), (broadcast, terms),
        (problem(1), replace(terms, low=8)),
        (problem(1), replace(terms, tail=Tail(edge="zfill"))),
        (replace(problem(1), k=0), replace(terms, alpha=0.0)),
    ):  # fmt: skip
        assert not isinstance(select.select(one, asked), Fed), one


@pytest.mark.gpu
@pytest.mark.parametrize("turned", ["NN", "NT", "TN"])
@pytest.mark.parametrize("m", [1792, 2040])
def test_large_products_on_a_gpu(m: int, turned: str) -> None:
    """On 132 SMs in 2 rounds of tiles of 128 rows, or 3 of 112 rows; a part of a K step is last."""
    n, k = 2176, 1032
    a = drawn(k, m).T if turned[0] == "T" else drawn(m, k)
    b = drawn(n, k, seed=1).T if turned[1] == "T" else drawn(k, n, seed=1)
    np.testing.assert_array_equal(ptxgemm.matmul(a, b, device="cuda:0"), a @ b)
