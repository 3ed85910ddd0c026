"""The copy to padded rows, run by the emulator, which refuses to read outside the source."""

from __future__ import annotations

import numpy as np
import pytest

import ptx
from ptxgemm.hopper import Matrix
from ptxgemm.kernels.pad import UNIT, UNITS_PER_CTA
from ptxgemm.prepass import Prepasses


def padded(kinds: list[tuple[int, int, int, int]], element: str, dtype: str) -> None:
    """Each of (rows, columns, pitch, base), in an allocation that ends with its last element."""
    device = ptx.device("emulator")
    random = np.random.default_rng(0)
    matrices, expected, keep = [], [], []
    for rows, columns, pitch, base in kinds:
        flat = random.integers(1, 200, base + (rows - 1) * pitch + columns).astype(dtype)
        held = device.array(flat)
        keep.append(held)
        at = held.pointer + base * flat.itemsize
        matrices.append(Matrix(at, rows, columns, pitch, 1, element))
        strides = (pitch * flat.itemsize, flat.itemsize)
        expected.append(np.lib.stride_tricks.as_strided(flat[base:], (rows, columns), strides))
    before = Prepasses(device)
    made = before.pad(matrices)
    for room in before.workspace:
        room.fill_bytes(0xFF)
    (launch,) = before.launches
    launch()
    for want, room, matrix in zip(expected, before.workspace, made, strict=True):
        assert matrix.fits_tensor_copies
        assert room.shape[1] % 128 == 0
        got = room.numpy().view(dtype)
        assert got.shape[1] == matrix.row_stride
        np.testing.assert_array_equal(got[:, : matrix.columns], want)
        unit = UNIT // got.itemsize
        filled = -(-matrix.columns // unit) * unit
        assert not got[:, matrix.columns : filled].any()
        assert (got[:, filled:].view("u1") == 0xFF).all()


@pytest.mark.parametrize(("element", "dtype"), [("bf16", "u2"), ("s8", "u1"), ("tf32", "u4")])
@pytest.mark.parametrize(
    "kind", [(1, 1, 1, 0), (5, 23, 23, 0), (7, 129, 131, 3), (70, 9, 9, 1), (3, 64, 65, 2)]
)
def test_rows_are_copied_and_padded_with_zeros(
    element: str, dtype: str, kind: tuple[int, int, int, int]
) -> None:
    padded([kind], element, dtype)


def test_two_matrices_share_a_launch() -> None:
    padded([(33, 301, 303, 1), (5, 77, 77, 0)], "bf16", "u2")


def test_more_units_than_one_cta_has() -> None:
    rows = UNITS_PER_CTA // 4 + 3
    padded([(rows, 4 * UNIT // 2 - 1, 65, 1), (rows, 2, 3, 0)], "bf16", "u2")
