"""matmul, gemm and plan on the emulator with numpy's arrays, against float64."""

from __future__ import annotations

import logging
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptx
import ptxgemm
from ptx.errors import LaunchError
from ptxgemm import launching
from ptxgemm.arrays import Layout, contiguous
from ptxgemm.kernels.general import General, general
from ptxgemm.problem import describe
from ptxgemm.select import Terms, select
from ptxgemm.tail import Tail

EMULATOR: dict[str, Any] = {"device": "emulator"}
f4 = np.float32


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[f4]]:
    return np.random.default_rng(seed).standard_normal(shape, f4)


def assert_right(
    result: Any, a: Any, b: Any, c: Any = 0.0, alpha: float = 1.0, beta: float = 0.0
) -> None:
    """Equal to numpy in float64 within (K + 4) * 2**-24 of the terms' magnitudes."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    alpha, beta = float(f4(alpha)), float(f4(beta))
    exact, terms = alpha * np.matmul(a, b), abs(alpha) * np.matmul(abs(a), abs(b))
    if beta:
        c = np.asarray(c, np.float64)
        exact, terms = exact + beta * c, terms + abs(beta * c)
    assert result.dtype == f4 and result.shape == exact.shape
    assert np.all(abs(result - exact) <= (a.shape[-1] + 4) * 2.0**-24 * terms)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel was launched")

    monkeypatch.setattr(ptx.device("emulator").backend, "run", run)


# ---------------------------------------------------------------- field cases, by their numbers


def test_a01_c_is_not_read_where_beta_is_0() -> None:
    out = np.full((2, 2), np.nan, f4)
    a, b = np.ones((2, 3), f4), np.ones((3, 2), f4)
    assert ptxgemm.gemm(a, b, out=out, **EMULATOR) is out
    assert (out == 3).all()
    assert (ptxgemm.gemm(a, b, np.full((2, 2), np.nan, f4), beta=0, **EMULATOR) == 3).all()
    # On the emulator's own arrays, to read what was never written is a fault.
    device = ptx.device("emulator")
    fresh = device.empty((2, 2))
    ptxgemm.gemm(device.array(a), device.array(b), fresh, beta=0, out=fresh)
    assert (fresh.numpy() == 3).all()


@pytest.mark.parametrize(
    "form", [General(a, b, False) for a, b in product([False, True], repeat=2)]
)
def test_a01_no_load_of_c_is_in_the_kernel(form: General) -> None:
    code = ptx.disassemble(ptx.assemble(ptx.Module(general(form)), "sm_90"))
    assert code.count("LDG") == 2 * 2 * 4  # A and B, four elements each, before the loop and in it


def test_a02_beta_0_on_the_edge_tiles_too() -> None:
    a, b = normal(65, 4), normal(4, 65, seed=1)
    out = np.full((65, 65), np.inf, f4)
    assert_right(ptxgemm.gemm(a, b, out=out, **EMULATOR), a, b)


def test_a04_an_empty_k_scales_c() -> None:
    a, b, c = np.ones((2, 0), f4), np.ones((0, 2), f4), np.array([[1, 2], [3, 4]], f4)
    for beta, wanted in ((1, c), (0.5, c / 2)):
        assert (ptxgemm.gemm(a, b, c, beta=beta, **EMULATOR) == wanted).all()
    zeros = ptxgemm.gemm(a, b, np.full((2, 2), np.nan, f4), beta=0, **EMULATOR)
    assert (zeros == 0).all() and not np.signbit(zeros).any()
    assert (ptxgemm.gemm(a, b, c, beta=1, alpha=np.inf, **EMULATOR) == c).all()


def test_alpha_0_reads_neither_a_nor_b() -> None:
    a, c = np.full((2, 2), np.nan, f4), np.array([[1, 2], [3, 4]], f4)
    assert (ptxgemm.gemm(a, a, c, alpha=0, beta=2, **EMULATOR) == 2 * c).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_alpha_0_takes_every_tail(dtype: str) -> None:
    """A product of whole tiles stays one, though none of its K is read."""
    a, c = np.full((128, 128), np.nan, dtype), np.ones((128, 128), dtype)
    for tail in (Tail(edge="exact"), Tail("clamped", "clamped"), Tail("peeled", "predicated")):
        assert (ptxgemm.gemm(a, a, c, alpha=0, beta=2, tail=tail, **EMULATOR) == 2).all()


def test_a05_a_batch_of_empty_k_is_zeros() -> None:
    out = np.full((3, 2, 3), 7, f4)
    ptxgemm.matmul(np.ones((3, 2, 0), f4), np.ones((3, 0, 3), f4), out=out, **EMULATOR)
    assert (out == 0).all()


@pytest.mark.usefixtures("nothing_runs")
def test_a07_out_may_be_no_input() -> None:
    storage = np.ones((3, 2), f4)
    a, shifted = storage[:2], storage[1:]
    for out in (a, shifted):
        with pytest.raises(ValueError, match="out shares memory with a, which is read meanwhile"):
            ptxgemm.gemm(a, np.ones((2, 2), f4), out=out, **EMULATOR)
        with pytest.raises(ValueError, match="out shares memory with b"):
            ptxgemm.gemm(np.ones((2, 2), f4), a, out=out, **EMULATOR)
    with pytest.raises(ValueError, match="with c, .*; out may be c itself, exactly"):
        ptxgemm.gemm(np.ones((2, 2), f4), np.ones((2, 2), f4), a, beta=1, out=shifted, **EMULATOR)
    with pytest.raises(ValueError, match="out may be c itself, exactly"):
        ptxgemm.gemm(np.ones((2, 2), f4), np.ones((2, 2), f4), a, beta=1, out=a.T, **EMULATOR)
    assert (storage == 1).all()


def test_a07_out_may_be_c_itself() -> None:
    a, b, c = normal(5, 3), normal(3, 4, seed=1), normal(5, 4, seed=2)
    old = c.copy()
    assert ptxgemm.gemm(a, b, c, beta=-2, out=c, **EMULATOR) is c
    assert_right(c, a, b, old, beta=-2)


def test_c_is_never_written() -> None:
    a, b, c = normal(5, 3), normal(3, 4, seed=1), normal(5, 4, seed=2)
    old = c.copy()
    assert_right(ptxgemm.gemm(a, b, c, beta=3, **EMULATOR), a, b, old, beta=3)
    assert (c == old).all()


def test_halves_of_one_matrix_do_not_overlap() -> None:
    both = np.zeros((8, 10), f4)
    both[:, :5] = normal(8, 5)
    a, out = both[:, :5], both[:, 5:]
    ptxgemm.matmul(a, np.eye(5, dtype=f4), out=out, **EMULATOR)
    assert (out == a).all()


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("shape", "strides"), [((3, 2), (0, 4)), ((3, 2), (4, 4)), ((2, 3, 2), (0, 8, 4))]
)
def test_a08_a14_out_that_overlaps_itself(shape: Any, strides: Any) -> None:
    out = np.lib.stride_tricks.as_strided(np.zeros(16, f4), shape, strides)
    a = np.ones((*shape[:-1], 4), f4)
    with pytest.raises(ValueError, match="out overlaps itself"):
        ptxgemm.gemm(a, np.ones((4, 2), f4), out, beta=1, out=out, **EMULATOR)


@pytest.mark.usefixtures("nothing_runs")
def test_an_out_that_cannot_be_written() -> None:
    out = np.zeros((2, 2), f4)
    out.flags.writeable = False
    a = np.ones((2, 2), f4)
    with pytest.raises(ValueError, match="out is read-only"):
        ptxgemm.matmul(a, a, out=out, **EMULATOR)
    for wrong in (np.zeros((2, 1), f4), np.zeros((1, 2, 2), f4)):
        with pytest.raises(ValueError, match=r"out is .*; the product is 2x2"):
            ptxgemm.matmul(a, a, out=wrong, **EMULATOR)
    with pytest.raises(TypeError, match="out has dtype float64"):
        ptxgemm.matmul(a, a, out=np.zeros((2, 2)), **EMULATOR)


def test_a10_flipped_arrays() -> None:
    a = np.array([[1, 2], [3, 4]], f4)
    eye = np.eye(2, dtype=f4)
    assert (ptxgemm.gemm(a[::-1], eye, **EMULATOR) == [[3, 4], [1, 2]]).all()
    assert (ptxgemm.gemm(eye, a[:, ::-1], **EMULATOR) == [[2, 1], [4, 3]]).all()
    out = np.zeros((2, 2), f4)
    ptxgemm.gemm(a, eye, out=out[::-1, ::-1], **EMULATOR)
    assert (out == [[4, 3], [2, 1]]).all()


def test_a11_strides_of_axes_of_length_1_mean_nothing() -> None:
    x = normal(16)
    a = np.lib.stride_tricks.as_strided(x, (1, 2, 3), (8, 12, 4))
    b = normal(1, 3, 2, seed=1)
    assert_right(ptxgemm.matmul(a, b, **EMULATOR), a.copy(), b)
    one = np.lib.stride_tricks.as_strided(x, (2, 1), (4, 12345 * 4))
    assert_right(ptxgemm.matmul(one, one.T, **EMULATOR), one.copy(), one.T.copy())


def test_a13_a_batch_is_broadcast_or_refused() -> None:
    a = np.zeros((10, 2, 3), f4)
    a[:, 0, 0] = 1
    b = np.arange(12, dtype=f4).reshape(3, 4)
    assert (ptxgemm.matmul(a, b, **EMULATOR)[9, 0] == [0, 1, 2, 3]).all()
    with pytest.raises(ValueError, match="batch of a is 10 and that of b is 9: 10 and 9 do not"):
        ptxgemm.matmul(a, np.zeros((9, 3, 4), f4), **EMULATOR)


def test_a16_products_of_sizes_beyond_32_bits() -> None:
    m, k = 8192, 262144
    shapes = ((m, k), (k, 8))
    a, b = (Layout(shape, contiguous(shape), "float32", "cpu") for shape in shapes)
    problem = describe(a, b)
    assert (problem.m, problem.k, problem.a.row) == (m, k, k)
    choice = select(problem.simplified.parts[0], Terms(1.0, 0.0))
    assert choice.arguments["a_row"] == k and choice.ctas * choice.steps >= 64 * k // 8
    with pytest.raises(ValueError, match="K is 2147483648; at most 2147483647"):
        describe(*(Layout(s, contiguous(s), "float32", "cpu") for s in ((1, 2**31), (2**31, 1))))


def test_a17_rows_apart_by_more_than_32_bits() -> None:
    device = ptx.device("emulator")
    memory: Any = device.memory
    rows = normal(2, 3)
    first = device.array(rows[0])
    memory.flat._next += (239674 * 8960 + 8959) * 4  # what lies between is nobody's
    second = device.array(rows[1])
    b = device.array(normal(3, 4, seed=1))
    out = device.empty((2, 4))
    apart = (second.pointer - first.pointer) // 4
    assert apart > 2**31
    a = Layout((2, 3), (apart, 1), "float32", "emulator")
    problem = describe(a, Layout((3, 4), (4, 1), "float32", "emulator"))
    launcher = launching.Launcher(device, problem, Terms(1.0, 0.0))
    launcher.on(0)(first.pointer, b.pointer, 0, out.pointer)
    assert_right(out.numpy(), rows, normal(3, 4, seed=1))


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("a", "b"),
    [((0, 3), (3, 4)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 4)), ((0, 0), (0, 0)),
     ((2, 3), (0, 3, 4))],
)  # fmt: skip
def test_a19_an_empty_result_launches_nothing(a: Any, b: Any) -> None:
    left, right = np.ones(a, f4), np.ones(b, f4)
    wanted = left @ right
    result = ptxgemm.matmul(left, right, **EMULATOR)
    assert result.shape == wanted.shape and result.dtype == f4
    device = ptx.device("emulator")
    assert ptxgemm.matmul(device.array(left), device.array(right)).shape == wanted.shape


@pytest.mark.parametrize("k", [1, 15, 16, 17, 31, 32, 33, 72])
def test_a23_every_end_of_k(k: int) -> None:
    a, b = np.ones((3, k), f4), np.ones((k, 2), f4)
    assert (ptxgemm.matmul(a, b, **EMULATOR) == k).all()


def test_a25_padding_never_reaches_the_sum() -> None:
    a, b = np.full((7, 8), np.nan, f4), np.full((9, 8), np.nan, f4)
    a[:, :5], b[:5, :6] = normal(7, 5), normal(5, 6, seed=1)
    assert_right(ptxgemm.matmul(a[:, :5], b[:5, :6], **EMULATOR), a[:, :5], b[:5, :6])


def test_a26_k_of_1() -> None:
    a, b = normal(1, 1), normal(1, 128, seed=1)
    assert np.array_equal(ptxgemm.matmul(a, b, **EMULATOR), a * b)


@pytest.mark.parametrize(("ta", "tb"), list(product([False, True], repeat=2)))
@pytest.mark.parametrize("columns_first", [False, True])
def test_a34_all_transposes_and_orders_of_out(ta: bool, tb: bool, columns_first: bool) -> None:
    a, b, c = normal(2, 4), normal(4, 3, seed=1), normal(2, 3, seed=2)
    out = np.zeros((2, 3), f4, order="F" if columns_first else "C")
    ptxgemm.gemm(
        np.ascontiguousarray(a.T) if ta else a,
        np.ascontiguousarray(b.T) if tb else b,
        c, alpha=1.5, beta=-0.5, transpose_a=ta, transpose_b=tb, out=out, **EMULATOR,
    )  # fmt: skip
    assert_right(out, a, b, c, 1.5, -0.5)


# ---------------------------------------------------------------- anything that numpy can index


@st.composite
def views(draw: st.DrawFn, shape: tuple[int, ...], seed: int) -> Any:
    """A view of `shape` into NaN: axes in any order, flipped, with gaps, or broadcast."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2])) for _ in shape]
    spread = [draw(st.integers(0, 8)) == 0 for _ in shape]
    sizes = [1 if flat else n * abs(s) for n, s, flat in zip(shape, steps, spread, strict=True)]
    extra = draw(st.sampled_from([0, 0, 1, 4]))
    base = np.full([*[sizes[axis] for axis in order[:-1]], sizes[order[-1]] + extra], np.nan, f4)
    base = base[..., : sizes[order[-1]]].transpose(np.argsort(order))
    view = base[
        tuple(slice(None, None, 1 if flat else s) for s, flat in zip(steps, spread, strict=True))
    ]
    view[...] = np.random.default_rng(seed).standard_normal(view.shape, f4)
    return np.broadcast_to(view, shape)


@st.composite
def products(draw: st.DrawFn) -> tuple[Any, Any, Any, dict[str, Any]]:
    size = st.sampled_from([1, 2, 3, 5, 8, 17, 33])
    m, n, k = draw(size), draw(size), draw(st.sampled_from([0, 1, 2, 7, 16, 18, 40]))
    batch = draw(st.lists(st.integers(1, 3), max_size=2).map(tuple))
    batches = [draw(st.sampled_from([batch, batch[1:], ()])) for _ in "ab"]
    options = {name: draw(st.booleans()) for name in ("transpose_a", "transpose_b")}
    shapes = [(m, k), (k, n)]
    for index, name in enumerate(options):
        if options[name]:
            shapes[index] = shapes[index][::-1]
    a, b = (draw(views((*batches[i], *shapes[i]), i)) for i in range(2))
    leading = np.broadcast_shapes(*batches)
    c = draw(views(draw(st.sampled_from([(*leading, m, n), (m, n), (n,), (m, 1)])), 2))
    options["alpha"] = draw(st.sampled_from([1, 0, -1.5]))
    options["beta"] = draw(st.sampled_from([0, 1, 0.5]))
    return a, b, c, options


@settings(max_examples=60, deadline=None)
@given(products())
def test_any_shapes_strides_transposes_and_batches(case: Any) -> None:
    a, b, c, options = case
    result = ptxgemm.gemm(a, b, c, **options, **EMULATOR)
    left = a.swapaxes(-1, -2) if options["transpose_a"] else a
    right = b.swapaxes(-1, -2) if options["transpose_b"] else b
    assert_right(result, left, right, c, options["alpha"], options["beta"])


@pytest.mark.parametrize("odd", ["a", "b", "c"])
def test_every_launch_of_a_batch_by_two_axes_is_aligned(odd: str) -> None:
    """The outer axis has a launch for each index; they start an odd number of elements apart."""

    def spaced(name: str, seed: int) -> Any:
        rows = np.full((2, 192 + (name == odd)), np.nan, f4)
        strides = (rows.strides[0], 256, 32, 4)
        view = np.lib.stride_tricks.as_strided(rows, (2, 3, 8, 8), strides)
        view[...] = normal(2, 3, 8, 8, seed=seed)
        return view

    a, b, c = (spaced(name, seed) for seed, name in enumerate("abc"))
    assert_right(ptxgemm.gemm(a, b, c, beta=1, **EMULATOR), a, b, c, 1, 1)


@pytest.mark.parametrize(
    ("a", "b"),
    [((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((5, 2, 4), (4,)), ((4,), (5, 4, 3)),
     ((5, 1, 2, 4), (3, 4, 6)), ((1, 4), (4, 1)), ((2, 3, 1, 4), (4, 6)),
     ((3, 1, 1, 4), (1, 2, 4, 1))],
)  # fmt: skip
def test_shapes_by_the_rules_of_numpy(a: Any, b: Any) -> None:
    left, right = normal(*a), normal(*b, seed=1)
    result = ptxgemm.matmul(left, right, **EMULATOR)
    assert type(result) is type(np.matmul(left, right))
    assert_right(result, left, right)


def test_matrices_of_a_batch_with_gaps_between_them() -> None:
    """One B for all, so that rows that went on evenly would be one taller A."""
    a, b = normal(3, 5, 4)[:, :3], normal(4, 6, seed=1)
    assert_right(ptxgemm.matmul(a, b, **EMULATOR), a, b)
    assert_right(ptxgemm.matmul(a[:, :1], b, **EMULATOR), a[:, :1], b)
    c = normal(3, 9, 6, seed=2)[:, :3]
    assert_right(
        ptxgemm.gemm(normal(3, 3, 4), b, c, beta=1, **EMULATOR), normal(3, 3, 4), b, c, 1, 1
    )
    device = ptx.device("emulator")
    out = device.empty((3, 4, 6), poison=True)
    dense, spread = (Layout((3, 3, n), (r * n, n, 1), "float32", "") for n, r in ((4, 3), (6, 4)))
    problem = describe(dense, Layout((4, 6), (6, 1), "float32", ""), out=spread)
    launcher = launching.Launcher(device, problem, Terms(1.0, 0.0))
    held = device.array(a), device.array(b)
    launcher.on(0)(held[0].pointer, held[1].pointer, 0, out.pointer)
    assert_right(out.numpy()[:, :3], a, b)
    assert np.isnan(out.numpy()[:, 3]).all()


def test_an_out_with_gaps_keeps_them() -> None:
    storage = np.full((6, 9), 7, f4)
    a, b = normal(3, 2), normal(2, 4, seed=1)
    ptxgemm.matmul(a, b, out=storage[::2, 1:9:2], **EMULATOR)
    assert_right(storage[::2, 1:9:2], a, b)
    assert (storage[1::2] == 7).all() and (storage[:, ::2] == 7).all()


def test_whole_tiles_take_the_tiled_kernel() -> None:
    plan = ptxgemm.plan(128, 128, 16, **EMULATOR)
    assert plan.kernel is not None and plan.kernel.name == "sgemm_nn"
    a, b = normal(128, 16), normal(16, 128, seed=1)
    assert_right(plan(a, b), a, b)
    c = normal(128, 128, seed=2)
    device = ptx.device("emulator")
    out = device.array(c)
    ptxgemm.gemm(device.array(a), device.array(b), out, beta=0.5, out=out)
    assert_right(out.numpy(), a, b, c, beta=0.5)


# ---------------------------------------------------------------- what is refused, before a launch


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("a", "b", "options", "error", "text"),
    [
        ((2, 3), (4, 2), {}, ValueError, "a is 2x3 and b is 4x2: K is 3 in a, 4 in b"),
        ((3, 2), (4, 2), {"transpose_a": True}, ValueError, "a is 3x2 transposed .* K is 3 in a"),
        ((), (2,), {}, ValueError, "a has no dimension"),
        ((2,), (2, 2), {"transpose_a": True}, ValueError, "a has one dimension"),
        ((2, 2), (2, 2), {"beta": 1}, ValueError, "beta is 1, and there is no c to add"),
        ((2, 2), (2, 2), {"c": np.zeros((3, 2), f4)}, ValueError, "c is 3x2, which does not"),
        ((2, 2), (2, 2), {"c": np.zeros((1, 2, 2), f4)}, ValueError, "c is 1x2x2, which does not"),
        ((2, 2), (2, 2), {"c": np.zeros((2, 2))}, TypeError, "c has dtype float64"),
        ((2, 2), (2, 2), {"alpha": "2"}, TypeError, "alpha is '2'; expected a real number"),
        ((2, 2), (2, 2), {"alpha": 1j}, TypeError, "alpha is 1j; expected a real number"),
        ((2, 2), (2, 2), {"tail": "sharp"}, ValueError, "tail is 'sharp'"),
        ((2, 2), (2, 2), {"stream": "x"}, TypeError, "stream: takes"),
    ],
)
def test_errors(a: Any, b: Any, options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        ptxgemm.gemm(np.ones(a, f4), np.ones(b, f4), **options, **EMULATOR)


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("sizes", "options", "error", "text"),
    [
        ((4.0, 5, 3), {}, TypeError, "m is 4.0; expected an integer"),
        ((4, "5", 3), {}, TypeError, "n is '5'; expected an integer"),
        ((4, 5, -1), {}, ValueError, "k is -1; expected 0 or more"),
        (
            (4, 5, 3),
            {"batch": 2},
            TypeError,
            r"batch is 2; expected a tuple of integers, as \(8,\)",
        ),
        ((4, 5, 3), {"batch": (2, -1)}, ValueError, "batch is -1; expected 0 or more"),
        ((4, 5, 3), {"dtype": "f16"}, TypeError, "'f16' is PTX's name of a type; numpy's is 'f"),
        ((4, 5, 3), {"dtype": "int32"}, TypeError, "dtype is int32; products take float32, "),
    ],
)
def test_plans_of_nothing(sizes: Any, options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        ptxgemm.plan(*sizes, **options, **EMULATOR)


@pytest.mark.usefixtures("nothing_runs")
def test_types() -> None:
    a = np.ones((2, 2), f4)
    with pytest.raises(TypeError, match="a has dtype complex64; products take float32"):
        ptxgemm.matmul(a.astype(np.complex64), a, **EMULATOR)
    with pytest.raises(TypeError, match="b is a list; a product takes arrays of numpy, torch"):
        ptxgemm.matmul(a, [[1, 2], [3, 4]], **EMULATOR)
    for pair in (a, None), (None, a):
        with pytest.raises(TypeError, match="[ab] is a NoneType; a product takes arrays"):
            ptxgemm.matmul(*pair, **EMULATOR)
    with pytest.raises(TypeError, match="a is a masked array"):
        ptxgemm.matmul(np.ma.masked_array(a), a, **EMULATOR)


def test_numbers_of_numpy_scale() -> None:
    a, b, c = normal(3, 2), normal(2, 4, seed=1), normal(3, 4, seed=2)
    result = ptxgemm.gemm(a, b, c, alpha=np.float64(0.5), beta=np.array(2), **EMULATOR)
    assert_right(result, a, b, c, 0.5, 2)


def test_bytes_in_another_order_and_fields_of_records() -> None:
    a, b = normal(3, 2), normal(2, 4, seed=1)
    record = np.zeros((3, 2), [("tag", "u2"), ("x", "f4")])
    record["x"] = a
    assert_right(ptxgemm.matmul(record["x"], b.astype(">f4"), **EMULATOR), a, b)


# ---------------------------------------------------------------- plans


def test_a_plan_takes_its_product_and_no_other() -> None:
    plan = ptxgemm.plan(5, 4, 3, alpha=2, transpose_b=True, **EMULATOR)
    assert repr(plan) == "<ptxgemm plan of 5x4x3 float32 on emulator: sgemm_nt>"
    device = ptx.device("emulator")
    out = device.empty((5, 4))
    for seed in range(3):
        a, b = normal(5, 3, seed=seed), normal(4, 3, seed=9 + seed)
        assert plan(device.array(a), device.array(b), out) is out
        assert_right(out.numpy(), a, b.T, alpha=2)
        assert_right(plan(a, b), a, b.T, alpha=2)
        assert_right(plan(a[::-1], b), a[::-1], b.T, alpha=2)
    with pytest.raises(ValueError, match="M is 6, and the plan is for 5"):
        plan(normal(6, 3), normal(4, 3))
    with pytest.raises(ValueError, match="the batch is"):
        plan(normal(2, 5, 3), normal(4, 3))
    batched = ptxgemm.plan(5, 4, 3, batch=(2,), beta=1, **EMULATOR)
    a, b, c = normal(2, 5, 3), normal(2, 3, 4, seed=1), normal(4, seed=2)
    assert_right(batched(a, b, None, c), a, b, c, beta=1)


def test_a_kept_call_checks_out_anew() -> None:
    device = ptx.device("emulator")
    a, b, out = (device.array(normal(4, 4, seed=seed)) for seed in range(3))
    plan = ptxgemm.plan(4, 4, 4, **EMULATOR)
    for call in (plan, lambda a, b, out: ptxgemm.matmul(a, b, out=out)):
        call(a, b, out)
        call(a, b, out)
        with pytest.raises(ValueError, match="out shares memory with b"):
            call(a, b, b)
        with pytest.raises(ValueError, match="out shares memory with a"):
            call(a, b, a)
        assert_right(call(a, b, out).numpy(), a.numpy(), b.numpy())
    out.free()
    with pytest.raises(LaunchError, match="has been freed"):
        plan(a, b, out)


def test_arrays_and_device_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    device = ptx.device("emulator")
    a = device.array(normal(2, 2))
    with pytest.raises(ValueError, match="different devices: a on emulator, b on cpu"):
        ptxgemm.matmul(a, normal(2, 2))


# ---------------------------------------------------------------- the emulator's patience


def test_what_would_take_minutes_is_refused_with_an_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = np.broadcast_to(np.ones((1, 1), f4), (4096, 4096))
    with pytest.raises(
        LaunchError, match=r"product of 4096x4096x4096 would take about \d+ min; what"
    ):
        ptxgemm.matmul(a, a, **EMULATOR)
    monkeypatch.setenv("PTXGEMM_EMULATOR_SECONDS", "0.01")
    with pytest.raises(LaunchError, match=r"more than 0\.01 s is refused, and PTXGEMM_EMULATOR"):
        ptxgemm.matmul(np.ones((2, 2), f4), np.ones((2, 2), f4), **EMULATOR)


def test_a_limit_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.ones((2, 2), f4)
    monkeypatch.setenv("PTXGEMM_EMULATOR_SECONDS", "2 min")
    with pytest.raises(LaunchError, match="EMULATOR_SECONDS is '2 min'; expected seconds, as 600"):
        ptxgemm.matmul(a, a, **EMULATOR)
    monkeypatch.setenv("PTXGEMM_EMULATOR_SECONDS", "")
    assert np.array_equal(ptxgemm.matmul(a, a, **EMULATOR), a @ a)


def test_a_long_product_has_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    class Bar:
        def __init__(self, **_: Any) -> None:
            shown.append(self)
            self.total, self.done, self.closed = 0, 0, False

        def update(self, more: int) -> None:
            self.done += more

        def close(self) -> None:
            self.closed = True

    monkeypatch.setattr("tqdm.tqdm", Bar)
    monkeypatch.setattr(launching, "SHOWN_SECONDS", 0.0)
    # Two axes of a batch that no one step walks: three launches of two batches, 1 CTA each.
    ptxgemm.matmul(normal(3, 1, 2, 2), normal(1, 2, 2, 2), **EMULATOR)
    (bar,) = shown
    assert (bar.total, bar.done, bar.closed) == (6, 6, True)
    assert "progress" not in ptx.device("emulator").backend.options  # type: ignore[attr-defined]


def test_the_notice_comes_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ptx.driver, "problem", lambda: "this is a test")
    launching.notice.cache_clear()
    with caplog.at_level(logging.WARNING, "ptxgemm"):
        for _ in range(2):
            ptxgemm.matmul(np.ones((1, 1), f4), np.ones((1, 1), f4))
    (said,) = caplog.messages
    assert said.startswith("no GPU (this is a test): products run on the emulator")
