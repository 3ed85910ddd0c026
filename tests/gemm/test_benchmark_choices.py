"""What :mod:`benchmarks.choices` times, and what it records of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from time import monotonic
from typing import Any

import pytest

import ptx
from benchmarks import choices as benchmark
from ptxgemm import choices, hopper
from ptxgemm.choices import Product
from ptxgemm.choose import Choice
from ptxgemm.kernels import narrow, wgmma
from ptxgemm.loading import loaded
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Tiling
from tests import fake_driver


def test_products_are_of_three_kinds_and_within_bounds() -> None:
    found = list(benchmark.products(300, seed=1))
    assert found == list(benchmark.products(300, seed=1)) != list(benchmark.products(300, seed=2))
    kinds: Counter[int] = Counter()
    for one in found:
        sizes = one.m, one.n, one.k
        kinds[next(by for by in (64, 8, 1) if all(size % by == 0 for size in sizes))] += 1
        assert max(one.m, one.n) <= 8192 and one.k <= 16384
        assert 5e6 < one.m * one.n * one.k < 1.5e11
    assert all(kinds[by] > 60 for by in (64, 8, 1))
    assert {one.layout for one in found} == {"NN", "NT", "TN", "TT"}


def test_contenders_are_different_kernels_and_the_models_choice() -> None:
    """On the emulator's 4 SMs; 5 tiles of 128 x 128 leave one for a last wave, of 4 none."""
    device = ptx.device("emulator")
    for product, cut in ((Product(640, 128, 1024), True), (Product(512, 128, 1024), False)):
        found = benchmark.contenders(device, product)
        modelled = choices.modelled(device.sm_count, product)
        assert found[choices.shown(modelled)] == modelled
        whole = Tiling(128, 128, stages=6, group=8, alternate=True)
        parts = {
            one.parts
            for one in found.values()
            if isinstance(one, Tiling) and choices.shown(one).startswith(
                choices.shown(whole).removesuffix("1")
            )
        }  # fmt: skip
        assert parts == ({1, 2, 4} if cut else {1})
        for one in found.values():
            made = benchmark.kernel_of(device, product, one)
            assert hopper.kernel(made).name in ("wgmma_gemm", "narrow_gemm")


def test_a_row_has_the_times_near_the_fastest() -> None:
    us = {"torch": 10.0, "ptxgemm": 4.004, "one": 4.0, "other": 9.9, "slow": 10.1}
    row = benchmark.row(Product(3, 5, 7, "NT"), {"us": us, "errors": {"one": 0.5, "other": 1.5}})
    assert row == {
        "case": "3x5x7 NT", "type": "bf16", "torch": 10.0, "chosen": 4.0,
        "us": {"one": 4.0, "other": 9.9}, "wrong": 1,
    }  # fmt: skip
    assert benchmark.told(row).endswith("x2.50, best      4.0 by one")


def test_the_process_that_measures_makes_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it loads has the parameters and directives of the kernel, and its name and bytes."""
    fake = fake_driver.fresh(monkeypatch)
    device = ptx.device("cuda:0")
    slim, tall, pair = Tiling(128, 64, 8), Narrow(64, 8, 6), Tiling(128, 64, 8, 2)
    wanted: dict[Product, dict[str, Choice]] = {
        Product(256, 64, 128, "NT"): {"slim": slim, "tall": tall},
        Product(512, 64, 128, "NT"): {"pair": pair, "slim": slim},
        Product(64, 64, 64): {"late": slim},
    }
    modules = {
        made: ptx.Module(hopper.kernel(made))
        for product, known in wanted.items()
        for made in (benchmark.kernel_of(device, product, one) for one in known.values())
    }
    fake.cubin_bytes = 64
    for module in (narrow, wgmma):
        monkeypatch.setattr(module, "gemm", lambda choice: pytest.fail(f"{choice} is made here"))
    until = monotonic() + 600
    timed = []

    def time(product: Product, known: Mapping[str, Choice]) -> dict[str, Any]:
        for one in known.values():
            made = benchmark.kernel_of(device, product, one)
            kernel, module = loaded(device, hopper.kernel, made), modules[made]
            (own,) = module.kernels.values()
            assert (kernel.name, kernel.parameters) == (own.name, own.params)
            head = kernel.loaded.module
            assert head is not None and head.kernels[own.name].directives == own.directives
            assert kernel.loaded.cubin is not None
            assert kernel.loaded.cubin.data == ptx.assemble(module, "sm_90a").data
        timed.append(product)
        if len(timed) == 2:
            monkeypatch.setattr(benchmark, "monotonic", lambda: until + 1)
        us = {"torch": 2.0, "ptxgemm": 1.0} | dict.fromkeys(known, 1.0)
        return {"us": us, "errors": dict.fromkeys(known, 0.5)}

    rows = benchmark.measured(device, wanted, time, until, workers=2)
    assert timed == list(wanted)[:2]
    assert [row["case"] for row in rows] == ["256x64x128 NT", "512x64x128 NT"]
    assert [list(row["us"]) for row in rows] == [["slim", "tall"], ["pair", "slim"]]
