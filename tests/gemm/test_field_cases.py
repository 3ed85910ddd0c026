"""Field cases of how wide rows are read and of clusters, A20, A22 and A32; test_api.py and
test_warp_gemm.py have others of A."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ptx
from ptxgemm import hopper, warp_gemm
from ptxgemm.tail import Tail
from ptxgemm.tiling import Tiling
from tests.tails.cases import SHAPES, Case


@pytest.mark.parametrize("family", ["mma", "wmma"])
def test_a20_odd_rows_of_f16_are_read_by_elements(
    family: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M = 2, K = 3: rows of A start at multiples of 2 bytes alone. So do B's, where N is 5."""
    device = ptx.device("emulator")
    backend: Any = device.backend
    monkeypatch.setattr(backend, "options", {"report": True})
    a = np.array([[1, 2, 3], [4, 5, 6]], np.float16)
    for n in (4, 5):
        b = np.arange(3 * n, dtype=np.float16).reshape(3, n)
        got = warp_gemm.matmul(a, b, device=device, family=family)
        assert np.array_equal(got.astype(np.float64), a.astype(float) @ b.astype(float))
    loads = [
        row.opcode for row in device.report.rows if re.match(r"ld\.global|cp\.async\.c", row.opcode)
    ]
    assert loads
    assert [one for one in loads if not one.endswith((".b16", ".u16"))] == []


def test_a22_the_other_extent_asks_for_no_alignment() -> None:
    """M = 1471 rows of 512: 16 bytes at once, as base and pitch are multiples of 16."""
    single = Case(Tail(), SHAPES["registers"], 1471, 64, 512).plan().spec
    assert (single.a.width, single.b.width) == (4, 4)
    half = warp_gemm.Matrix(256, 1471, 512, 512, 1, "f16")
    copy = warp_gemm.copy_of(half, 80)
    assert (copy.major, copy.bytes, copy.asynchronous) == ("k", 16, True)
    assert hopper.Matrix(256, 1471, 512, 512, 1, "f16").fits_tensor_copies
    assert not hopper.Matrix(256, 1471, 511, 511, 1, "f16").fits_tensor_copies
    assert warp_gemm.copy_of(warp_gemm.Matrix(256, 1471, 511, 511, 1, "f16"), 80).bytes == 2


def test_a32_a_cluster_never_straddles_two_matrices() -> None:
    """Two matrices of three rows of tiles and clusters of two: each has a whole number of them."""
    device, rng = ptx.device("emulator"), np.random.default_rng(0)
    tiling = Tiling(128, 128, stages=3, cluster=2)
    assert tiling.tiles(3 * 128, 43 * 128) == 2 * 43
    for sm_count in (131, 132):
        assert tiling.grid(3 * 128, 43 * 128, sm_count) % 2 == 0
    m, n, k = 257, 72, 40
    a = rng.integers(-4, 5, (2, m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (2, k, n)).astype(np.float16)
    for left, right in zip(a, b, strict=True):
        held = device.array(left), device.array(right), device.empty((m, n), "f4", poison=True)
        hopper.plan(
            device, hopper.Matrix.of(held[2], "f32"), hopper.Matrix.of(held[0], "f16"),
            hopper.Matrix.of(held[1], "f16"), tiling=tiling,
        )()  # fmt: skip
        assert np.array_equal(held[2].numpy(), left.astype("f4") @ right.astype("f4"))
