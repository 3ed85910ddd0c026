"""matmul, gemm and plan in every type on the emulator, against float64 or exact integers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
import ptxgemm
from ptxgemm import elements, launching, select
from ptxgemm.blocking import Blocking
from ptxgemm.grid import H200, Processor
from ptxgemm.kernels.general import General

EMULATOR: dict[str, Any] = {"device": "emulator"}
UNITS = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8, "float64": 2.0**-53}
"""Half the distance of neighbours, relative."""
TYPES = ("float64", "float16", "bfloat16", "int8", "uint8")
A100 = Processor(108, 80, 163 * 1024)
T4 = Processor(40, 75, 64 * 1024)


def dtype_of(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def rarely(*values: Any) -> Any:
    """A case of the whole run only."""
    return pytest.param(*values, marks=pytest.mark.slow)


def drawn(dtype: str, *shape: int, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    if elements.RULES[dtype].integer:
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max + 1, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype_of(dtype))


def assert_right(
    got: Any, a: Any, b: Any, c: Any = None, alpha: float = 1, beta: float = 0
) -> None:
    """Integers exactly; else within the rounding of K + 4 sums and of the result."""
    if got.dtype == np.int32:
        exact = alpha * np.matmul(a.astype(np.int64), b.astype(np.int64))
        exact = exact + (beta * c.astype(np.int64) if beta else 0)
        assert np.array_equal(got, exact.astype(np.int32))
        return
    a, b = a.astype(np.float64), b.astype(np.float64)
    exact, terms = alpha * np.matmul(a, b), abs(alpha) * np.matmul(abs(a), abs(b))
    if beta:
        old = c.astype(np.float64)
        exact, terms = exact + beta * old, terms + abs(beta * old)
    sums = UNITS["float64" if got.dtype == np.float64 else "float32"] * 4
    bound = UNITS[got.dtype.name] * abs(exact) + (a.shape[-1] + 4) * sums * terms
    assert got.shape == exact.shape
    assert (abs(got.astype(np.float64) - exact) <= bound).all()


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The descriptions of all kernels that are chosen."""
    found: list[Any] = []

    def watched(problem: Any, terms: Any) -> Any:
        choice = select.select(problem, terms)
        found.append(choice.kernel)
        return choice

    monkeypatch.setattr(launching, "select", watched)
    return found


def on(monkeypatch: pytest.MonkeyPatch, gpu: Processor) -> None:
    """Have products chosen for another GPU; calls that are kept are of the one before."""
    from ptxgemm import calls

    monkeypatch.setattr(launching, "processor", lambda device: gpu)
    monkeypatch.setattr(calls, "bound", launching.Launcher)


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("shape", [(33, 71, 53), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("dtype", [*TYPES[:-1], rarely("uint8")])
def test_odd_shapes(dtype: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = drawn(dtype, m, k), drawn(dtype, k, n, seed=1)
    got = ptxgemm.matmul(a, b, **EMULATOR)
    assert got.dtype == elements.RULES[dtype].outs[0]
    assert_right(got, a, b)
    assert_right(ptxgemm.matmul(np.asfortranarray(a), b.T.copy().T, **EMULATOR), a, b)


@pytest.mark.parametrize("gpu", [A100, T4], ids=["sm_80", "sm_75"])
@pytest.mark.parametrize("dtype", [rarely("float64"), "float16", rarely("int8")])
def test_older_gpus(
    monkeypatch: pytest.MonkeyPatch, chosen: list[Any], dtype: str, gpu: Processor
) -> None:
    on(monkeypatch, gpu)
    a, b = drawn(dtype, 37, 40), drawn(dtype, 40, 21, seed=1)
    assert_right(ptxgemm.matmul(a, b, **EMULATOR), a, b)
    (kernel,) = chosen
    if dtype == "float64" and gpu is T4:
        assert isinstance(kernel, General)
    else:
        assert isinstance(kernel, Blocking) and kernel.target == gpu.target


@pytest.mark.gpu
@pytest.mark.parametrize("gpu", [None, A100, T4], ids=["own", "sm_80", "sm_75"])
@pytest.mark.parametrize("dtype", TYPES)
def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch, dtype: str, gpu: Processor | None) -> None:
    """The kernels of this GPU, and those for older ones, which run on it as well."""
    if gpu is not None:
        on(monkeypatch, gpu)
    if dtype == "bfloat16" and gpu is T4:
        return
    for m, n, k in ((517, 389, 1031), (1024, 256, 512), (3, 1000, 64)):
        a, b = drawn(dtype, m, k), drawn(dtype, k, n, seed=1)
        for by_columns in ((False, False), (True, False), (False, True)):
            left, right = (
                np.asfortranarray(one) if turned else one
                for one, turned in zip((a, b), by_columns, strict=True)
            )
            assert_right(ptxgemm.matmul(left, right, device="cuda:0"), a, b)
        c = np.ones(n, dtype_of(elements.RULES[dtype].outs[0]))
        got = ptxgemm.gemm(a, b, c, alpha=2, beta=3, device="cuda:0")
        assert_right(got, a, b, c, 2, 3)


def test_bf16_needs_sm_80(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, T4)
    a = drawn("bfloat16", 4, 4)
    with pytest.raises(ValueError, match="bfloat16 need compute capability 8.0; the GPU has 7.5"):
        ptxgemm.matmul(a, a, **EMULATOR)


@pytest.mark.parametrize(
    ("dtype", "n"),
    [
        ("float64", 16), ("uint8", 17),
        rarely("float16", 17), rarely("bfloat16", 16),
    ],
)  # fmt: skip
def test_alpha_beta_and_a_c_of_any_lie(monkeypatch: Any, dtype: str, n: int) -> None:
    on(monkeypatch, A100)
    a, b = drawn(dtype, 2, 19, 8), drawn(dtype, 2, 8, n, seed=1)
    out = elements.RULES[dtype].outs[0]
    full = (np.random.default_rng(2).integers(-9, 10, (2, 19, n))).astype(dtype_of(out))
    alpha, beta = (-3, 2) if out == "int32" else (1.5, -0.5)
    for c in (full[0, 0], full[:, :, :1], full[::-1, ::-1, ::-1]):
        got = ptxgemm.gemm(a, b, c, alpha=alpha, beta=beta, **EMULATOR)
        assert got.dtype == out
        assert_right(got, a, b, c, alpha, beta)
    assert_right(ptxgemm.gemm(a, b, alpha=alpha, **EMULATOR), a, b, None, alpha)
    kept = full.copy()
    assert ptxgemm.gemm(a, b, kept, beta=1, out=kept, **EMULATOR) is kept
    assert_right(kept, a, b, full, 1, 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_result_is_of_the_type_of_out_or_of_c(dtype: str) -> None:
    a, b = drawn(dtype, 9, 16), drawn(dtype, 16, 6, seed=1)
    found = {}
    for name in elements.RULES[dtype].outs:
        out = found[name] = np.empty((9, 6), dtype_of(name))
        assert ptxgemm.matmul(a, b, out=out, **EMULATOR) is out
        assert_right(out, a, b)
    for name, out in found.items():
        assert np.array_equal(out, found["float32"].astype(dtype_of(name)))  # converted once
    c = np.ones((6,), np.float32)
    got = ptxgemm.gemm(a, b, c, beta=2, **EMULATOR)
    assert got.dtype == np.float32
    assert_right(got, a, b, c, 1, 2)


def test_a28_ones_are_summed_in_f32() -> None:
    ones = np.ones((1, 2560), np.float16)
    assert ptxgemm.matmul(ones, ones.T, **EMULATOR) == 2560


def test_a29_a_sum_beyond_f16_is_infinity_once() -> None:
    a, b = np.full((1, 2), 200, np.float16), np.full((2, 1), 200, np.float16)
    assert np.isposinf(ptxgemm.matmul(a, b, **EMULATOR))
    assert ptxgemm.matmul(a, b, out=np.zeros((1, 1), np.float32), **EMULATOR) == 80000


def test_a31_int8_of_any_n() -> None:
    for n in (3, 6):
        a, b = drawn("int8", 3, 5), drawn("int8", 5, n, seed=n)
        assert_right(ptxgemm.matmul(a, b, **EMULATOR), a, b)


def test_an_empty_k_scales_c() -> None:
    for dtype in ("float64", "int8"):
        a, b = np.ones((2, 0), dtype), np.ones((0, 3), dtype)
        c = np.arange(6).reshape(2, 3).astype(elements.RULES[dtype].outs[0])
        assert (ptxgemm.gemm(a, b, c, beta=2, **EMULATOR) == 2 * c).all()
    none = np.ones((2, 0), np.float16)
    assert (ptxgemm.matmul(none, none.T, **EMULATOR) == 0).all()


def test_packed_integers_and_bits_are_multiplied_exactly() -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(-8, 8, (5, 37)), random.integers(-8, 8, (37, 6))
    got = ptxgemm.matmul(ptxgemm.pack_int4(a), ptxgemm.pack_int4(b.T), **EMULATOR)
    assert got.dtype == np.int32 and np.array_equal(got, a @ b)
    a, b = random.integers(0, 2, (5, 37)), random.integers(0, 2, (37, 6))
    bits = ptxgemm.pack_bits(a), ptxgemm.pack_bits(b.T)
    assert np.array_equal(ptxgemm.matmul(*bits, **EMULATOR), a @ b)
    with pytest.raises(TypeError, match="b is a ndarray, and the other operand is packed"):
        ptxgemm.matmul(bits[0], b, **EMULATOR)
    with pytest.raises(TypeError, match="out is for others"):
        ptxgemm.matmul(*bits, out=np.empty((5, 6)), **EMULATOR)
    with pytest.raises(ValueError, match="37 elements of .b1, b columns of 36 of .b1"):
        ptxgemm.matmul(bits[0], ptxgemm.pack_bits(b[:36].T), **EMULATOR)


# ---------------------------------------------------------------- which kernel


@pytest.mark.parametrize("dtype", [rarely("float64"), "float16", "int8"])
def test_views_of_any_kind(monkeypatch: Any, chosen: list[Any], dtype: str) -> None:
    """Gaps and broadcast axes go to the tensor cores; flips and a result of any lie elsewhere."""
    on(monkeypatch, A100)
    device = ptx.device("emulator")
    wide = drawn(dtype, 20, 60)
    gaps, flat = wide[:, ::2], np.broadcast_to(wide[:1, :24], (9, 24))
    b = drawn(dtype, 30, 24, seed=1)
    assert_right(ptxgemm.matmul(gaps, b, **EMULATOR), gaps, b)
    assert_right(ptxgemm.matmul(flat, b.T[:, :9], **EMULATOR), flat, b.T[:, :9])
    assert all(isinstance(kernel, Blocking) for kernel in chosen)
    flipped = gaps[::-1]
    assert_right(ptxgemm.matmul(flipped, b, **EMULATOR), flipped, b)
    assert isinstance(chosen[-1], General)
    problem = select.Problem(
        dtype, elements.RULES[dtype].outs[0], 4, 4, 4, (1,),
        *(select.Matrices(row, column, (0,)) for row, column in ((4, 1), (4, 1))), None,
        select.Matrices(9, 2, (0,)), (4, 4),
    )  # fmt: skip
    assert isinstance(select.select(problem, select.Terms(1, 0)).kernel, General)
    apart = replace(problem, a=select.Matrices(1 << 33, 1, (0,)), d=select.Matrices(4, 1, (0,)))
    terms = select.Terms(1, 0, target=A100)
    assert isinstance(select.select(apart, terms).kernel, General)
    assert device.is_cuda is False


def test_a_tail_is_a_policy_of_tiles(monkeypatch: Any, chosen: list[Any]) -> None:
    on(monkeypatch, A100)
    a, b = drawn("float16", 20, 24), drawn("float16", 24, 12, seed=1)
    tail = ptxgemm.Tail(edge="predicated", prefetch="branch", width=8)
    assert_right(ptxgemm.gemm(a, b, tail=tail, **EMULATOR), a, b)
    assert chosen[-1].tail == tail and not chosen[-1].copy_a.asynchronous
    on(monkeypatch, H200)
    assert_right(ptxgemm.gemm(a, b, tail=tail, **EMULATOR), a, b)
    assert chosen[-1].tail == tail
    with pytest.raises(ValueError, match="schedule is ragged-first; copies of these kernels"):
        ptxgemm.gemm(a, b, tail=ptxgemm.Tail(schedule="ragged-first"), **EMULATOR)
    with pytest.raises(ValueError, match="none takes this product: its strides"):
        ptxgemm.gemm(a[::-1], b, tail=tail, **EMULATOR)


def test_a_plan_names_its_type_and_refuses_another() -> None:
    plan = ptxgemm.plan(9, 5, 16, "float64", **EMULATOR)
    assert "9x5x16 float64 on emulator: mma_gemm" in repr(plan)
    a, b = drawn("float64", 9, 16), drawn("float64", 16, 5, seed=1)
    assert_right(plan(a, b), a, b)
    with pytest.raises(ValueError, match="the type is float32, and the plan is for float64"):
        plan(a.astype(np.float32), b.astype(np.float32))


@pytest.mark.parametrize(
    ("a", "b", "options", "error", "text"),
    [
        ("float16", "float32", {}, TypeError, "b has dtype float32 and a has float16; they must"),
        ("int16", "int16", {}, TypeError, "a has dtype int16; products take float32, float64"),
        ("int8", "uint8", {}, TypeError, "b has dtype uint8 and a has int8"),
        ("float16", "float16", {"out": "float64"}, TypeError,
         "out has dtype float64; a product of float16 gives float16 or float32 or bfloat16"),
        ("int8", "int8", {"out": "int8"}, TypeError, "a product of int8 gives int32"),
        ("float16", "float16", {"out": "float16", "c": "float32"}, TypeError,
         "c has dtype float32 and out has float16; they must be the same"),
        ("int8", "int8", {"alpha": 0.5}, ValueError, "alpha is 0.5; sums of int8 are scaled by"),
        ("int8", "int8", {"alpha": 2**31}, ValueError, "integers of 32 bits"),
    ],
)  # fmt: skip
def test_what_no_product_takes(a: str, b: str, options: Any, error: Any, text: str) -> None:
    given = {
        name: np.ones((4, 4), value) if isinstance(value, str) else value
        for name, value in options.items()
    }
    with pytest.raises(error, match=text):
        ptxgemm.gemm(np.ones((4, 4), a), np.ones((4, 4), b), **given, **EMULATOR)
