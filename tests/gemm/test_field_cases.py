"""Field cases of how wide rows may be read, A20 and A22; test_api.py has the others of A."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ptx
from ptxgemm import hopper, warp_gemm
from ptxgemm.tail import Tail
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
