"""Tensor-core products on a Hopper GPU against float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from benchmarks.hopper_check import PAIRS, Placed
from ptxgemm import choose, hopper
from ptxgemm.hopper import Matrix
from ptxgemm.prepass import Rooms
from ptxgemm.tiling import FLOATS, OUTS, Tiling
from tests.gemm import hopper_products as whole
from tests.gemm.hopper_products import LAYOUTS

pytestmark = pytest.mark.gpu
UNITS = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24}
"""Half the distance of neighbours, relative."""


@pytest.fixture
def device(hopper_gpu: Any) -> Any:
    return hopper_gpu


def check(
    device: Any, m: int, n: int, k: int, *, kind: str = "bf16", out: str = "bf16",
    flips: tuple[bool, bool, bool] = (False, False, False), gap: int = 0, base: int = 0,
    alpha: float = 1.0, beta: float = 0.0, tiling: Tiling | None = None,
) -> None:  # fmt: skip
    random = np.random.default_rng(m * n + k)
    a = Placed(device, random.standard_normal((m, k)), kind, flips[0], gap, base)
    b = Placed(device, random.standard_normal((k, n)), kind, flips[1], gap, base)
    start = np.full((m, n), np.nan) if beta == 0.0 else random.standard_normal((m, n))
    c = Placed(device, start, out, flips[2], gap, base)
    plan = hopper.plan(device, c.matrix, a.matrix, b.matrix, alpha, beta, tiling=tiling)
    plan()
    got, untouched = c.taken()
    wide_a, wide_b = a.values.astype(np.float64), b.values.astype(np.float64)
    exact, sizes = alpha * (wide_a @ wide_b), abs(alpha) * (abs(wide_a) @ abs(wide_b))
    if beta:
        old = c.values.astype(np.float64)
        exact, sizes = exact + beta * old, sizes + abs(beta * old)
    bound = UNITS[out] * abs(exact) + (k + 8) * 2.0**-23 * sizes
    assert (abs(got - exact) <= bound).all()
    assert untouched, "memory around C was changed"


@pytest.mark.parametrize("flips", [(a, b, False) for a in (0, 1) for b in (0, 1)])
@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_layouts(device: Any, kind: str, flips: Any) -> None:
    check(device, 264, 520, 200, kind=kind, out=kind, flips=flips)
    check(device, 264, 520, 200, kind=kind, out="f32", flips=flips)


@pytest.mark.parametrize("candidate", choose.CANDIDATES, ids=lambda one: str(one.tiling))
@pytest.mark.parametrize("shape", [(2000, 2008, 136), (1999, 2001, 131), (1, 1, 1)])
def test_every_tiling_over_several_tiles(device: Any, candidate: Any, shape: Any) -> None:
    check(device, *shape, tiling=candidate.tiling)


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 9, 5), (129, 257, 65), (300, 301, 302)])
@pytest.mark.parametrize("gap", [0, 1, 3])
def test_odd_sizes_pitches_and_bases(device: Any, shape: Any, gap: int) -> None:
    for base in (0, 1, 4):
        for out in ("bf16", "f32"):
            check(device, *shape, gap=gap, base=base, out=out)
            check(device, *shape, gap=gap, base=base, out=out, flips=(True, False, True))


@pytest.mark.parametrize("out", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("n", [64, 65])
def test_alpha_and_beta(device: Any, out: str, n: int) -> None:
    kind = "f16" if out == "f16" else "bf16"
    check(device, 130, n, 96, kind=kind, out=out, alpha=-0.5)
    check(device, 130, n, 96, kind=kind, out=out, alpha=2.0, beta=-1.5)
    check(device, 130, n, 96, kind=kind, out=out, alpha=1.0, beta=1.0, gap=8)


def test_a_tensor_store_leaves_the_end_of_a_row_alone(device: Any) -> None:
    """Rows of 229 elements, 232 apart: the last unit of 16 bytes holds 3 that are not C's."""
    check(device, 100, 229, 72, gap=3)


def test_nothing_beyond_k_is_used(device: Any) -> None:
    """A25: what lies behind the last column of A, and below the last row of B, is NaN."""
    a = np.full((64, 72), np.nan, ml_dtypes.bfloat16)
    b = np.full((80, 64), np.nan, ml_dtypes.bfloat16)
    a[:, :65], b[:65] = 1, 1
    left, right = device.array(a), device.array(b)
    c = device.empty((64, 64), "bfloat16", poison=True)
    hopper.matmul(
        device,
        Matrix.of(c, "bf16"),
        Matrix(left.pointer, 64, 65, 72, 1, "bf16"),
        Matrix(right.pointer, 65, 64, 64, 1, "bf16"),
    )
    assert (c.numpy().astype("f4") == 65).all()


def test_a_chain_of_early_launches(device: Any) -> None:
    """Each product reads what the one before it wrote, and writes what the one before it read;
    every other one has a copy before it.
    """
    size, order = 512, np.random.default_rng(0).permutation(512)
    turned = np.eye(size, dtype=np.float32)[order]
    start = (np.arange(size * size).reshape(size, size) % 251).astype(np.float32)
    one, other, b = (device.array(x) for x in (start, start, turned))
    tiling, rooms = choose.REGISTERS[0].tiling, Rooms(device)
    plans = [
        hopper.plan(device, Matrix.of(c, "f32"), left, Matrix.of(b, "tf32"), tiling=tiling,
                    rooms=rooms)
        for c, left in ((other, Matrix.of(one, "tf32")), (one, Matrix.of(other, "tf32").transposed))
    ]  # fmt: skip
    assert [len(plan.launches) for plan in plans] == [1, 2]
    expected = start
    for _ in range(100):
        for plan in plans:
            plan()
        expected = (expected @ turned).T @ turned
    np.testing.assert_array_equal(one.numpy(), expected)


# ---------------------------------------------------------------- all types, right to the bit


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pair", PAIRS)
def test_every_type_and_layout(device: Any, pair: str, layout: Any) -> None:
    out = "s32" if pair[1] == "8" else "f32"
    for shape in ((512, 512, 512), (261, 519, 203), (1, 1, 1), (7, 1000, 129)):
        for gap in (0, 3):
            for c_by_columns in (False, True):
                flips = (*layout, c_by_columns)
                whole.check(
                    device, *shape, kinds=PAIRS[pair], out=out, flips=flips, gap=gap, base=gap
                )


@pytest.mark.parametrize(
    ("pair", "out", "accumulate"),
    [
        *(("bf16", out, "native") for out in FLOATS),
        *(("f16", out, "half") for out in FLOATS),
        *(("e5m2", out, "promoted") for out in FLOATS),
        *(("s8", out, "native") for out in OUTS["s32"]),
    ],
)
def test_every_output(device: Any, pair: str, out: str, accumulate: str) -> None:
    for m, n, gap, base in ((384, 512, 0, 0), (300, 301, 0, 0), (131, 63, 1, 3), (9, 1, 0, 1)):
        for alpha, beta in ((1.0, 0.0), (8.0, 0.5), (-0.5, 0.0)):
            if out != "s32" or (alpha, beta) == (1.0, 0.0):
                whole.check(
                    device, m, n, 72, kinds=PAIRS[pair], out=out, accumulate=accumulate, gap=gap,
                    base=base, alpha=alpha, beta=beta,
                )  # fmt: skip
