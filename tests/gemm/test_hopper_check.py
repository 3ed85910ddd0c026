"""The random products that a card is checked with: they are many kinds, and find what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import ptx
from benchmarks import hopper_check
from benchmarks.hopper_check import Product, check, products
from ptxgemm import hopper
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Tiling


def test_products_are_of_every_kind() -> None:
    found = products(600, 0)
    assert {(p.a, p.b) for p in found} == set(hopper_check.PAIRS.values())
    assert {p.accumulate for p in found} == {"native", "half", "promoted"}
    assert {p.out for p in found} == {"bf16", "f16", "f32", "e4m3", "e5m2", "s32", "s8"}
    chosen = [p.chosen for p in found]
    tilings = [one for one in chosen if isinstance(one, Tiling)]
    assert {one.store for one in tilings} == {"tensor", "units", "vectors", "elements"}
    clusters = {(one.cluster, one.cluster_n) for one in tilings}
    assert clusters == {(1, 1), (2, 1), (1, 2), (2, 2)}
    assert any(isinstance(one, Narrow) for one in chosen)
    assert products(600, 0) == found


def test_a_few_are_right_on_the_emulator(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["2", "--seed", "5", "--device", "emulator", "--largest", "60"]
    assert hopper_check.main(arguments) == 0
    assert "2 random products, 0 wrong" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["0"], ["3", "--largest", "0"], ["--largest", "few"]])
def test_no_count_below_one(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        hopper_check.main(["--device", "emulator", *wrong])
    assert f"{wrong[-1]} is no count of 1 or more" in capsys.readouterr().err


def test_the_smallest_products_are_drawn() -> None:
    assert {side for p in products(40, 0, 1) for side in (p.m, p.n, p.k)} == {1, 16}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_more_are_right_on_the_emulator(seed: int) -> None:
    assert hopper_check.run(ptx.device("emulator"), 25, 1000 * seed, 150) == 0


def test_what_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the product; and a store beside C."""
    device, right = ptx.device("emulator"), hopper.plan
    product = Product(3, 4, 20, "bf16", "bf16", "f32", gaps=(0, 0, 4), tiling=Tiling(128, 64, 2))
    assert check(device, product) == ""

    def doubled(device: Any, c: Any, a: Any, b: Any, alpha: float, *rest: Any, **more: Any) -> Any:
        return right(device, c, a, b, 2 * alpha, *rest, **more)

    monkeypatch.setattr(hopper, "plan", doubled)
    assert "wrong, first (0, " in check(device, product)

    def beside(device: Any, c: Any, a: Any, b: Any, *rest: Any, **more: Any) -> Any:
        plan = right(device, c, a, b, *rest, **more)
        return lambda: (device.backend.memory.fill(c.address + 23, 0, 1), plan())

    monkeypatch.setattr(hopper, "plan", beside)
    assert check(device, product) == "memory around C was changed"
