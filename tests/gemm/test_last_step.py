"""Of a K step that K ends in, the slices that hold data are multiplied and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptx
from benchmarks.hopper_check import DTYPES, PAIRS
from ptxgemm import hopper
from ptxgemm.cut import Cut, cut
from ptxgemm.hopper import Matrix
from ptxgemm.tiling import SLICES, Tiling, by_registers
from tests.gemm.emulated import launches
from tests.gemm.hopper_products import check

WARPS = 8
"""That multiply."""
SMALL = Tiling(128, 64, 2)
REGISTERS = by_registers(64, stages=3, group=1)
TILINGS = {
    "cooperative": Tiling(128, 64, 2, group=1),
    "alternate": Tiling(64, 64, 3, group=2, alternate=True),
    "two blocks": Tiling(128, 64, 2, alternate=True),
    "cluster": Tiling(128, 128, 2, cluster=2, group=1),
    "alternate cluster": Tiling(64, 128, 3, cluster=2, alternate=True),
    "cut": Tiling(128, 64, 2, group=1, parts=2),
    "alternate, cut": Tiling(64, 64, 3, group=2, alternate=True, parts=3),
    "cluster, cut": Tiling(64, 128, 3, cluster=2, alternate=True, parts=2),
}
KINDS = {name: PAIRS[name] for name in ("bf16", "tf32", "e4m3", "s8")}


@pytest.fixture(scope="module")
def device() -> Any:
    return ptx.device("emulator")


def size(kind: str) -> int:
    """Bytes of an element."""
    return int(np.dtype(DTYPES[kind]).itemsize)


def out(kind: str) -> str:
    return "s32" if kind == "s8" else "f32"


def configured(tiling: Tiling, m: int, n: int, k: int, kind: str = "bf16") -> Tiling:
    """For a C that tensor stores write, on a card of 4 SMs."""
    strides = (n, 1) if tiling.by_registers else (1, k)
    a, b = Matrix(0, m, k, k, 1, kind), Matrix(0, k, n, *strides, kind)
    c = Matrix(0, m, n, n, 1, out(kind))
    return hopper.configure(4, c, a, b, scaled=False, tiling=tiling)


# ---------------------------------------------------------------- how many


@pytest.mark.parametrize("kind", KINDS)
def test_the_slices_that_hold_data(kind: str) -> None:
    """Counted over bytes of a line that are of an element."""
    line = 128 // size(kind)
    for k in range(1, 4 * line + 1):
        data = np.zeros(-(-k // line) * line, DTYPES[kind])
        data[:k] = 1
        slices = data.view(np.uint8).reshape(-1, 4, 32).any(axis=2)
        made = configured(replace(SMALL, last_slices=2), 9, 64, k, kind)
        assert made.last_slices == slices[-1].sum()
        if kind == "tf32":  # two steps at a time, the second of which has one slice at least
            second = slices[-1].sum() if len(slices) % 2 == 0 else 1
            assert configured(REGISTERS, 9, 64, k, kind).last_slices == second


def test_what_a_k_step_has_not_says_so() -> None:
    for slices in (0, 5):
        with pytest.raises(ValueError, match=f"last_slices is {slices}; a K step has 1 to 4"):
            replace(SMALL, last_slices=slices)


def products(device: Any, m: int, n: int, k: int, **given: Any) -> int:
    """The wgmmas of a product, which is right, counted by warps."""
    with launches(device, report=True) as reports:
        check(device, m, n, k, **given)
    return sum(row.warps for row in reports[-1].rows if "mma_async" in row.opcode)


def lengths(kind: str) -> list[int]:
    """Of K: less than a slice, and after a full step the first and the last element of a slice."""
    slice, line = 32 // size(kind), 128 // size(kind)
    rests = (1, slice, slice + 1, line - slice, line - slice + 1, line)
    return [slice - 1, *(line + rest for rest in rests)]


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "bf16")) for kind in KINDS]
)
def test_no_more_are_multiplied(device: Any, kind: str) -> None:
    given: dict[str, Any] = {"kinds": KINDS[kind], "out": out(kind), "tiling": SMALL}
    for k in lengths(kind):
        assert products(device, 128, 64, k, **given) == WARPS * -(-k * size(kind) // 32)


@pytest.mark.parametrize(
    ("k", "slices"),
    [(41, 6), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((8, 5), (33, 5), (57, 8)))],
)
def test_by_registers_the_second_of_two_steps_is_cut_short(
    device: Any, k: int, slices: int
) -> None:
    given: dict[str, Any] = {"kinds": PAIRS["tf32"], "out": "f32", "tiling": REGISTERS}
    assert products(device, 64, 128, k, **given) == WARPS * slices
    assert products(device, 64, 128, 64 + k, **given) == WARPS * (2 * SLICES + slices)


@pytest.mark.slow
def test_by_registers_k_ends_anywhere(device: Any) -> None:
    for k in (1, *(slices + more for slices in range(8, 72, 8) for more in (0, 1)), 96, 97, 127):
        check(device, 65, 12, k, kinds=PAIRS["tf32"], out="f32", tiling=REGISTERS)


# ---------------------------------------------------------------- every way to multiply


@pytest.mark.parametrize(("k", "steps"), [(2 * 64 + 5, 1), (3 * 64 + 5, 2)])
def test_parts_that_k_does_not_end_in_are_multiplied_whole(device: Any, k: int, steps: int) -> None:
    """One tile, in two parts, of which the last has so many steps."""
    tiling = replace(TILINGS["cut"], out="f32")
    assert cut(tiling, 128, 64, k, device.sm_count) == Cut(0, 1, 2, -(-k // 64) - steps)
    assert products(device, 128, 64, k, out="f32", tiling=tiling) == WARPS * -(-k * 2 // 32)


@pytest.mark.slow
@pytest.mark.parametrize("tiling", TILINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_way_to_multiply(device: Any, kind: str, tiling: str) -> None:
    given: dict[str, Any] = {"kinds": KINDS[kind], "out": out(kind), "tiling": TILINGS[tiling]}
    for k in lengths(kind):
        check(device, 130, 129, k, **given)
        check(device, 130, 129, k + 256 // size(kind), **given)


@pytest.mark.slow
@pytest.mark.parametrize("tiling", ["cooperative", "alternate, cut"])
@pytest.mark.parametrize("kind", [*KINDS, "promoted"])
def test_every_remainder(device: Any, kind: str, tiling: str) -> None:
    given: dict[str, Any] = {"accumulate": "promoted"} if kind == "promoted" else {}
    kind = "e4m3" if given else kind
    given |= {"kinds": KINDS[kind], "out": out(kind), "tiling": TILINGS[tiling]}
    line = 128 // size(kind)
    for rest in range(1, line + 1):
        check(device, 130, 65, rest + (3 * line if rest % 2 else 0), **given)
        if rest % 32 == 1:
            check(device, 130, 65, rest, **given)
