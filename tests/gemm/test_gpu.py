"""SGEMM on a GPU: within the bound at every size, and equal to the emulator to the bit."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import ptx
import ptxgemm
from ptxgemm import api
from ptxgemm.shape import SEED
from ptxgemm.tail import PREFETCHES
from tests.gemm.test_sgemm import matrices

pytestmark = pytest.mark.gpu
forms = pytest.mark.parametrize("form", PREFETCHES)


@lru_cache(maxsize=1)
def product(size: int) -> tuple[Any, ...]:
    """Operands, their product in float64, and the bound of float32's error."""
    a, b, _ = matrices(size, size, size, seed=size)
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    return a, b, a64 @ b64, (size + 4) * 2.0**-24 * (abs(a64) @ abs(b64))


@pytest.mark.parametrize("size", [128, 1024, 4096, 6144])
@forms
def test_within_the_bound(form: str, size: int) -> None:
    device = ptx.device("cuda:0")
    a, b, exact, bound = product(size)
    target = device.empty((size, size), "f4", poison=True)
    kernel = api.load(device, SEED, form, False, True)
    api.launch(kernel, SEED, device.array(a), device.array(b), target)
    assert np.all(abs(target.numpy() - exact) <= bound)


@forms
@pytest.mark.parametrize("l2_prefetch", [False, True], ids=["plain", "hint"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.3, 0.0), (-1.7, 0.9)])
def test_equal_to_the_emulator(form: str, l2_prefetch: bool, alpha: float, beta: float) -> None:
    a, b, c = matrices(256, 256, 256)
    on_gpu, emulated = (
        ptxgemm.sgemm(
            a, b, c, alpha=alpha, beta=beta, prefetch=form, l2_prefetch=l2_prefetch, device=where
        )
        for where in ("cuda:0", "emulator")
    )
    assert np.array_equal(on_gpu.view(np.uint32), emulated.view(np.uint32))


@forms
def test_more_rows_than_a_grid_has_in_y(form: str) -> None:
    """65536 tiles down: a grid's y and z end at 65535, and byte offsets in C pass 2**32."""
    device = ptx.device("cuda:0")
    m = 65536 * SEED.cta_m
    rows = np.random.default_rng(0).integers(-9, 10, (m, 8)).astype(np.float32)
    b = np.random.default_rng(1).integers(-9, 10, (8, 256)).astype(np.float32)
    target = device.empty((m, 256), "f4", poison=True)
    kernel = api.load(device, SEED, form, False, True)
    api.launch(kernel, SEED, device.array(rows), device.array(b), target)
    for first in (0, m // 2 - 64, m - 128):
        found = target[first : first + 128].numpy()
        assert np.array_equal(found, rows[first : first + 128] @ b)
    target.free()
