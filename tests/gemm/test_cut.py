"""K of the last tiles cut in parts, on the emulator: right, the same bits in every order, counters
back at 0. The emulator counts as a GPU of 4 SMs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptx
from benchmarks.hopper_check import PAIRS, Placed
from ptx.emu import EmulatorFault
from ptx.text import print_module
from ptxgemm import choices, choose, hopper
from ptxgemm.cost import Candidate, Sizes, last_rows
from ptxgemm.cut import Cut, cut
from ptxgemm.hopper import Matrix
from ptxgemm.prepass import Rooms
from ptxgemm.tiling import Tiling
from tests.gemm.emulated import launches
from tests.gemm.hopper_products import check

ALTERNATE = Tiling(64, 64, 3, group=2, alternate=True, parts=3)
COOPERATIVE = Tiling(128, 64, 2, group=1, parts=2)
CLUSTER = Tiling(64, 128, 3, cluster=2, alternate=True, parts=3)
ROW = Tiling(64, 64, 3, cluster_n=2, alternate=True, parts=3)
CHOSEN = choose.CANDIDATES[0].tiling
BEFORE_COUNTING = r"bar\.sync %\w+, 128;(?=\s+setp\.ne)"


@pytest.fixture(scope="module")
def device() -> Any:
    return ptx.device("emulator")


# ---------------------------------------------------------------- which tiles, which parts


def test_the_last_wave_is_cut() -> None:
    """33 x 33 tiles on 132 SMs are 8 waves and a quarter, which 4 parts of each tile fill."""
    tiling = Tiling(128, 128, 6, alternate=True, parts=4)
    last = cut(tiling, 4097, 4097, 4097, 132)
    assert last == Cut(1056, 33, 4, 17)
    assert last.items == 1056 + 132
    assert last.workspace_bytes(tiling) == 132 * 128 * 128 * 4
    assert last.counters(tiling) == 33
    assert tiling.grid(4097, 4097, 132, last.items) == 132
    shared = replace(tiling, alternate=False)
    assert last.workspace_bytes(shared) == 132 * 128 * 128 * 4
    assert last.counters(shared) == 66
    assert cut(tiling, 4096, 4224, 4096, 132) is None
    assert cut(tiling, 4097, 4097, 64, 132) is None


@pytest.mark.parametrize("steps", range(1, 40))
def test_no_part_is_empty(steps: int) -> None:
    for parts in range(2, 9):
        last = cut(Tiling(parts=parts), 1, 1, 64 * steps, 132)
        if last is None:
            assert steps == 1
        else:
            assert 0 < steps - (last.parts - 1) * last.per_part <= last.per_part


MEASURED_US = {
    (4097, 4097, 4097): {1: 257.2, 2: 252.5, 3: 249.8, 4: 246.9, 6: 248.3},
    (4096, 14336, 4096): {1: 717.7, 2: 706.0, 4: 699.4, 6: 699.4},
    (3000, 3001, 3002): {1: 107.3, 2: 103.1, 3: 109.4, 4: 109.6, 5: 108.8, 8: 116.2},
    (6144, 6144, 6144): {1: 690.0, 2: 675.6, 4: 669.0},
    (8192, 7168, 2048): {1: 357.4, 2: 355.1, 3: 354.4, 4: 354.1},
    (8191, 8191, 8191): {1: 1605.8, 4: 1584.5, 6: 1581.1, 8: 1580.4},
    (8192, 8192, 8192): {1: 1613.3, 4: 1577.5, 8: 1579.2},
    (4096, 4096, 4096): {1: 202.3, 2: 209.0, 4: 215.0},
    (2500, 2500, 2500): {1: 71.6, 2: 68.5, 4: 66.9},
}
"""By number of parts, in bf16 on an H200, with the copies of odd operands; of 6144 cubed and 4096 x
14336 x 4096 the mean of NN and NT.
"""


@pytest.mark.parametrize("shape", MEASURED_US, ids=lambda shape: "x".join(map(str, shape)))
def test_the_model_picks_what_was_nearly_the_fastest(shape: tuple[int, int, int]) -> None:
    """A number that was not measured counts as the slower of its neighbours, where it has two."""
    us = MEASURED_US[shape]
    best = choose.tiling(Sizes(132, *shape), choose.CANDIDATES[:1])
    assert best == replace(CHOSEN, parts=best.parts)
    below = max(parts for parts in us if parts <= best.parts)
    above = min((parts for parts in us if parts >= best.parts), default=below)
    assert max(us[below], us[above]) <= 1.01 * min(us.values())


def test_full_waves_stay_whole() -> None:
    for shape in ((2048,) * 3, (4096,) * 3, (4096, 4224, 4096), (4096, 4096, 2048)):
        assert choose.tiling(Sizes(132, *shape), choose.CANDIDATES[:1]).parts == 1


@pytest.mark.parametrize(
    "tiling",
    [CHOSEN, replace(CHOSEN, cluster=2), replace(CHOSEN, cluster_n=2), Tiling(128, 256)],
)
def test_the_model_knows_what_rows_the_last_wave_skips(tiling: Tiling) -> None:
    """Tile by tile in the order of :mod:`ptxgemm.schedule`: rows that the busiest one takes."""
    height, columns = tiling.tile_m * tiling.cluster, 5
    for m in range(1, 20 * 128, 61):
        rows, order = -(-m // height), []
        for first in range(0, rows, tiling.group):
            group = range(first, min(first + tiling.group, rows))
            order += [row for _ in range(columns) for row in group]
        for rest in range(1, min(len(order), 12) + 1):
            left = [min(m - row * height, tiling.tile_m) for row in order[-rest:]]
            taken = max(-(-it // 64) * 64 for it in left) if tiling.alternate else tiling.tile_m
            n = columns * tiling.tile_n * tiling.cluster_n
            assert last_rows(tiling, m, n, rest) == taken


@pytest.mark.parametrize(("kind", "k", "parts"), [("s8", 128, 1), ("s8", 129, 2), ("bf16", 65, 2)])
def test_k_steps_are_those_of_the_type(kind: str, k: int, parts: int) -> None:
    """What has a single step is not cut."""
    out = "s32" if kind == "s8" else "f32"
    a, b, c = Matrix(0, 9, k, k, 1, kind), Matrix(0, k, 9, 1, k, kind), Matrix(0, 9, 9, 9, 1, out)
    made = hopper.configure(132, c, a, b, scaled=False, tiling=COOPERATIVE)
    assert made.parts == parts


# ---------------------------------------------------------------- products


def cut_and_right(device: Any, m: int, n: int, k: int, *, tiling: Tiling, **given: Any) -> None:
    made = replace(tiling, b_major="k", **dict(zip("ab", given.get("kinds", ()), strict=False)),
                   out=given.get("out", "f32"))  # fmt: skip
    assert cut(made, m, n, k, device.sm_count) is not None
    check(device, m, n, k, tiling=tiling, **given)


def test_by_tensor_stores(device: Any) -> None:
    """9 tiles, the last one cut; warpgroups take turns."""
    with launches(device, order="reverse"):
        cut_and_right(device, 130, 192, 264, tiling=ALTERNATE)


def test_by_units_with_beta(device: Any) -> None:
    cut_and_right(device, 131, 130, 201, tiling=COOPERATIVE, gap=1, base=1, alpha=2.0, beta=-0.5)


def test_in_clusters_that_share_a(device: Any) -> None:
    """3 clusters, the last one cut, of which one CTA has no column of C."""
    with launches(device, order="reverse"):
        cut_and_right(device, 60, 320, 201, tiling=ROW, gap=1, base=1)


def test_every_cta_of_a_square_cluster_has_its_place(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device.backend, "limits", replace(device.limits, sm_count=12))
    tiling = replace(ROW, cluster=2, group=1)
    last = cut(tiling, 129, 200, 130, device.sm_count)
    assert last == Cut(3, 1, 3, 1)
    assert last.workspace_bytes(tiling) == 4 * 3 * 64 * 64 * 4
    assert last.counters(tiling) == 4
    cut_and_right(device, 129, 200, 130, tiling=tiling)


def test_chosen_clusters_are_counted_as_the_device_has_places(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For sums in float16, on a device with places for fewer clusters than its SMs would hold: the
    only cluster of tiles is then a full wave, and not cut.
    """
    chosen = Candidate(Tiling(64, 128, 3, cluster=2, alternate=True, parts=2), 1.0)
    monkeypatch.setattr(choose, "CANDIDATES", (chosen,))
    monkeypatch.setattr(type(device.backend), "clusters", lambda backend, size: 1)
    choices.modelled.cache_clear()
    assert cut(chosen.tiling, 128, 120, 136, device.sm_count) is not None
    check(device, 128, 120, 136, kinds=PAIRS["f16"], out="f16", tiling=None, accumulate="half")
    choices.modelled.cache_clear()


@pytest.mark.parametrize("pair", ["e4m3", "s8"])
def test_other_sums(device: Any, pair: str) -> None:
    """Promoted ones and integers; of two blocks of rows a tile has one."""
    given: dict[str, Any] = {"out": "s32"}
    if pair == "e4m3":
        given = {"out": "f32", "accumulate": "promoted"}
    tiling = Tiling(128, 64, 3, alternate=True, parts=2)
    cut_and_right(device, 60, 65, 260, kinds=PAIRS[pair], tiling=tiling, **given)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["fixed", "reverse", 1, 2, 3])
@pytest.mark.parametrize(
    "tiling",
    [ALTERNATE, COOPERATIVE, CLUSTER, ROW, replace(COOPERATIVE, cluster_n=2)],
    ids=["alternate", "cooperative", "cluster", "row", "cooperative row"],
)
@pytest.mark.parametrize("pair", ["bf16", "f16", "tf32", "e4m3", "s8"])
def test_every_type_in_several_orders(device: Any, pair: str, tiling: Tiling, order: Any) -> None:
    given: dict[str, Any] = {"kinds": PAIRS[pair], "out": "s32" if pair == "s8" else "f32"}
    with launches(device, order=order):
        cut_and_right(device, 300, 320, 300, tiling=tiling, **given)
        cut_and_right(device, 261, 310, 301, tiling=tiling, gap=1, base=1, **given)
        if pair == "f16":
            cut_and_right(device, 261, 64, 301, tiling=tiling, kinds=PAIRS[pair], accumulate="half")
        if pair == "e4m3":
            cut_and_right(device, 261, 64, 301, tiling=tiling, accumulate="promoted", **given)


# ---------------------------------------------------------------- bits, counters, order


def product(device: Any, rooms: Rooms | None = None) -> Any:
    """Of numbers whose sums depend on their order: 5 tiles, of which 1 is cut in 3 parts."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((64, 328)), random.standard_normal((328, 320))
    placed = [
        Placed(device, values, kind, False, 0, 0)
        for values, kind in ((np.zeros((64, 320)), "f32"), (a, "bf16"), (b, "bf16"))
    ]
    plan = hopper.plan(device, *(one.matrix for one in placed), tiling=ALTERNATE, rooms=rooms)
    plan()
    return placed[0].taken()[0], plan


def test_the_same_bits_in_every_order(device: Any) -> None:
    """And the counters are 0 after each product, of which the next ones take the place."""
    results, rooms = [], Rooms(device)
    for order in ("fixed", "reverse"):
        with launches(device, order=order):
            results.append(product(device, rooms)[0])
        assert not rooms.zeros(1).numpy().any()
    assert all(np.array_equal(one, results[0]) for one in results)


def test_what_a_product_that_ended_half_way_has_counted_does_not_count(device: Any) -> None:
    whole, rooms = product(device)[0], Rooms(device)
    rooms.zeros(1).copy_from(np.ones(rooms.zeros(1).shape, np.uint32))
    assert np.array_equal(product(device, rooms)[0], whole)
    assert not rooms.zeros(1).numpy().any()


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("atom.acq_rel.gpu.global.inc", "atom.release.gpu.global.inc"),
        ("atom.acq_rel.gpu.global.inc", "atom.acquire.gpu.global.inc"),
        ("atom.acq_rel.gpu.global.inc", "atom.acq_rel.cta.global.inc"),
        (BEFORE_COUNTING, ""),
    ],
)
def test_what_orders_the_parts_is_needed(device: Any, line: str, becomes: str) -> None:
    """Without it the emulator sees a race."""
    backend, before = device.backend, device.backend.run

    def mutated(function: Any, module: ptx.Module, *rest: Any, **options: Any) -> Any:
        text, found = re.subn(line, becomes, print_module(module, loc=False))
        assert found == 1
        mutant = ptx.parse(text)
        return before(mutant.kernels[function.name], mutant, *rest, **options)

    backend.run = mutated
    try:
        with pytest.raises(EmulatorFault) as caught:
            product(device)
        assert caught.value.kind == "race"
    finally:
        backend.run, backend.fault = before, None
