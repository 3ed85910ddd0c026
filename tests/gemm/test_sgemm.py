"""SGEMM on the emulator, against float64, exact integers and itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptx
import ptxgemm
from ptxgemm import api
from ptxgemm.kernels.simt import sgemm
from ptxgemm.shape import SEED
from ptxgemm.tail import PREFETCHES
from tests.gemm.test_tiles import SHAPES

forms = pytest.mark.parametrize("form", PREFETCHES)
EMULATOR = {"device": "emulator"}


def matrices(m: int, n: int, k: int, seed: int = 0) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    return tuple(random.standard_normal(size, np.float32) for size in ((m, k), (k, n), (m, n)))


def assert_close(
    result: Any, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 0.0
) -> None:
    """Within (K + 4) * 2**-24 of the terms' magnitudes, element by element."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    alpha, beta = float(np.float32(alpha)), float(np.float32(beta))
    exact, terms = alpha * (a @ b), abs(alpha) * (abs(a) @ abs(b))
    if c is not None:
        exact, terms = exact + beta * c.astype(np.float64), terms + abs(beta * c)
    assert np.all(abs(result - exact) <= (a.shape[1] + 4) * 2.0**-24 * terms)


@pytest.mark.parametrize("depth", [8, 16, 24, 40])
def test_every_form_is_right_and_they_agree_to_the_bit(depth: int) -> None:
    a, b, _ = matrices(128, 128, depth)
    results = [ptxgemm.sgemm(a, b, prefetch=form, **EMULATOR) for form in PREFETCHES]
    assert_close(results[0], a, b)
    for result in results[1:]:
        assert np.array_equal(result.view(np.uint32), results[0].view(np.uint32))


@forms
@pytest.mark.parametrize(("m", "n"), [(256, 128), (128, 256), (256, 384)])
def test_tiles_lie_where_they_belong(form: str, m: int, n: int) -> None:
    a, b, _ = matrices(m, n, 16)
    assert_close(ptxgemm.sgemm(a, b, prefetch=form, **EMULATOR), a, b)


def test_small_integers_are_exact() -> None:
    random = np.random.default_rng(1)
    a, b, c = (random.integers(-9, 10, s) for s in ((128, 32), (32, 128), (128, 128)))
    result = ptxgemm.sgemm(*(x.astype(np.float32) for x in (a, b, c)), alpha=2, beta=-3, **EMULATOR)
    assert np.array_equal(result, 2 * (a @ b) - 3 * c)


@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.0, 1.0), (2.5, 0.0), (-0.1, 0.7), (0.0, -2.0), (1e-3, 1e3)]
)
@forms
def test_alpha_and_beta(form: str, alpha: float, beta: float) -> None:
    a, b, c = matrices(128, 128, 16)
    kept = c.copy()
    result = ptxgemm.sgemm(a, b, c, alpha=alpha, beta=beta, prefetch=form, **EMULATOR)
    assert_close(result, a, b, c, alpha, beta)
    assert np.array_equal(c, kept)


@forms
def test_beta_zero_never_reads_c(form: str) -> None:
    device = ptx.device("emulator")
    a, b, _ = matrices(128, 128, 16)
    target = device.empty((128, 128), "f4", poison=True)
    kernel = api.load(device, SEED, form, False, True)
    api.launch(kernel, SEED, device.array(a), device.array(b), target, beta=float("nan"))
    assert_close(target.numpy(), a, b)


@forms
def test_infinities_and_nans_go_through(form: str) -> None:
    a, b, _ = matrices(128, 128, 16)
    a[3, 5], a[4, 15], b[15, 7] = np.inf, np.nan, 0
    result = ptxgemm.sgemm(a, b, prefetch=form, **EMULATOR)
    with np.errstate(invalid="ignore"):
        expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    assert np.array_equal(np.isinf(result), np.isinf(expected))


def test_views_of_any_stride() -> None:
    a, b, c = matrices(128, 128, 24)
    wide = np.zeros((128, 48), np.float32)
    wide[:, ::2] = a
    result = ptxgemm.sgemm(wide[:, ::2], b.T.copy().T, c.T, beta=1, **EMULATOR)
    assert np.array_equal(result, ptxgemm.sgemm(a, b, c.T.copy(), beta=1, **EMULATOR))


@pytest.mark.parametrize("shape", ["deep", "small", "wide", "one warp"])
@forms
def test_other_tiles(form: str, shape: str) -> None:
    tile = SHAPES[shape]
    a, b, c = matrices(tile.cta_m, 2 * tile.cta_n, 3 * tile.cta_k)
    result = ptxgemm.sgemm(a, b, c, beta=1, prefetch=form, shape=tile, **EMULATOR)
    assert_close(result, a, b, c, beta=1)


def test_the_hint_changes_no_bit() -> None:
    a, b, _ = matrices(128, 128, 16)
    assert np.array_equal(
        ptxgemm.sgemm(a, b, l2_prefetch=True, **EMULATOR), ptxgemm.sgemm(a, b, **EMULATOR)
    )
    text = str(ptx.Module(sgemm(l2_prefetch=True)))
    assert text.count("ld.global.L2::128B.v4.f32") == 4
    assert "L2::128B" not in str(ptx.Module(sgemm()))


# ---------------------------------------------------------------- the tests above have teeth


@forms
def test_a_read_past_the_last_step_would_be_found(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = ptx.device("emulator")
    a, b, _ = matrices(128, 128, 16)
    kernel = api.load(device, SEED, form, False, True)
    target = device.empty((128, 128))
    arrays = [device.array(a), device.array(b), target]
    api.launch(kernel, SEED, *arrays)
    device.synchronize()
    short = device.array(b[:8])
    monkeypatch.setattr(api, "check", lambda *_: (128, 128, 16))
    api.launch(kernel, SEED, arrays[0], short, target)
    with pytest.raises(ptx.PtxError, match="16 bytes past the end of allocation of 4096 bytes"):
        device.synchronize()


def test_without_its_barrier_the_kernel_races() -> None:
    device = ptx.device("emulator")
    lines = str(ptx.Module(sgemm(beta_zero=True))).splitlines()
    text = "\n".join(line for line in lines if "bar.sync" not in line)
    assert len(lines) == len(text.splitlines()) + 2
    a, b, _ = matrices(128, 128, 16)
    target = device.empty((128, 128))
    api.launch(device.load(text)["sgemm"], SEED, device.array(a), device.array(b), target)
    with pytest.raises(ptx.PtxError, match="race"):
        device.synchronize()


@forms
@pytest.mark.parametrize("order", ["reverse", 1, 2])
def test_the_order_of_warps_does_not_matter(
    form: str, order: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, _ = matrices(128, 256, 24)
    expected = ptxgemm.sgemm(a, b, prefetch=form, **EMULATOR)
    monkeypatch.setitem(ptx.device("emulator").backend.options, "order", order)
    assert np.array_equal(ptxgemm.sgemm(a, b, prefetch=form, **EMULATOR), expected)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("a", "b", "c", "beta", "message"),
    [
        (
            (100, 16),
            (16, 128),
            None,
            0,
            "M is 100; this kernel takes multiples of 128, from 128 up",
        ),
        ((128, 16), (16, 130), None, 0, "N is 130; this kernel takes multiples of 128"),
        ((128, 20), (20, 128), None, 0, "K is 20; this kernel takes multiples of 8, from 8 up"),
        ((128, 0), (0, 128), None, 0, "K is 0; this kernel takes multiples of 8, from 8 up"),
        ((0, 8), (8, 128), None, 0, "M is 0; this kernel takes multiples of 128"),
        ((128, 16), (24, 128), None, 0, "a is 128x16 and b is 24x128: K is 16 in a, 24 in b"),
        ((128, 16), (16, 128), (128, 256), 1, "c is 128x256; the product is 128x128"),
        ((128, 16), (16, 128), None, 2, "beta is 2, and there is no c to add"),
        ((128,), (16, 128), None, 0, "a has 1 dimensions; expected 2"),
    ],
)
def test_other_shapes_are_refused(
    a: Any, b: Any, c: Any, beta: float, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launched(*_: Any) -> None:
        raise AssertionError("launched before the shapes were checked")

    monkeypatch.setattr(api, "launch", launched)
    a, b = np.zeros(a, np.float32), np.zeros(b, np.float32)
    with pytest.raises(ValueError, match=message):
        ptxgemm.sgemm(a, b, None if c is None else np.zeros(c, np.float32), beta=beta, **EMULATOR)


def test_other_types_are_refused() -> None:
    a = np.zeros((128, 128))
    with pytest.raises(TypeError, match="a has dtype float64; expected float32"):
        ptxgemm.sgemm(a, a, **EMULATOR)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'peel'; expected one of branch, predicated, peeled"):
        ptxgemm.sgemm(a.astype("f4"), a.astype("f4"), prefetch="peel", **EMULATOR)
