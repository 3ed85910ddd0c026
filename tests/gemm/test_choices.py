"""Which tiles are chosen: by the model where nothing was measured, else what was measured."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ptx
from ptxgemm import choices, choose, hopper, narrowing
from ptxgemm.choices import Product
from ptxgemm.choose import Choice
from ptxgemm.cost import Lies, Sizes, narrow_us, padding_us, tiling_us
from ptxgemm.hopper import Matrix
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Accumulate, Tiling

OWN = choices.SHIPPED
CARD = "NVIDIA H200"
DECODING = Product(16, 14336, 4096, "NT")
NARROW, TILING = Narrow(128, 16, 9, parts=2), Tiling(128, 128, 5, alternate=True)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's cache and a package's table of this test alone."""
    monkeypatch.setenv("PTX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PTX_CACHE_DISABLE", raising=False)
    monkeypatch.setattr(choices, "SHIPPED", tmp_path / "tuned")
    for kept in (choices.measured, choices.shipped):
        kept.cache_clear()
    yield tmp_path
    for kept in (choices.measured, choices.shipped):
        kept.cache_clear()


# ---------------------------------------------------------------- the model


@pytest.mark.parametrize(
    ("m", "n", "k", "narrow"),
    [
        (1, 4096, 4096, True), (16, 14336, 4096, True), (64, 4096, 4096, True),
        (4096, 8, 4096, True), (512, 512, 8192, True), (128, 7168, 18432, True),
        *((size, size, size, False) for size in (2048, 4096, 8192)),
        (8192, 7168, 2048, False), (1024, 50257, 768, False), (3000, 3001, 3002, False),
    ],
)  # fmt: skip
def test_few_columns_and_few_tiles_are_narrow(m: int, n: int, k: int, narrow: bool) -> None:
    assert isinstance(choose.ranked(Sizes(132, m, n, k))[0], Narrow) == narrow


def test_what_is_drawn_keeps_the_memory_busy() -> None:
    """By Little's law: 4.8 TB/s for 1 us are 4.8 MB in flight."""
    for m, n, k in ((1, 4096, 4096), (16, 14336, 4096), (64, 4096, 4096), (128, 7168, 18432)):
        shape = choose.ranked(Sizes(132, m, n, k))[0]
        assert isinstance(shape, Narrow)
        assert min(132, shape.grid(n, m)) * shape.stages * shape.depth * shape.a_bytes >= 4.8e6


def tf32(m: int, n: int, k: int, layout: str = "NN", out: str = "f32") -> Product:
    return Product(m, n, k, layout, "tf32", "tf32", out)


@pytest.mark.parametrize(
    ("product", "tile_m"),
    [
        (tf32(1024, 1024, 1024), 64), (tf32(512, 4096, 2048), 128), (tf32(16, 14336, 4096), 64),
        *((tf32(size, size, size), 256) for size in (2048, 4096, 6144, 8192)),
        (tf32(2048, 2048, 2048, "TN"), 256), (tf32(1000, 4096, 4096), 256),
        (tf32(4096, 14336, 4096), 256), (tf32(4095, 4100, 1024), 256),
        (tf32(256, 4096, 4096), 64), (tf32(2048, 512, 4096), 64),
        (tf32(4095, 4097, 1023), 0), (tf32(1021, 1021, 1024), 0),
        (tf32(1024, 1024, 1024, "NT"), 0), (tf32(1024, 1024, 1024, out="bf16"), 0),
        (Product(1024, 1024, 1024), 0),
    ],
)  # fmt: skip
def test_b_goes_by_registers_where_that_is_faster(product: Product, tile_m: int) -> None:
    """As measured on an H200 at 1024³, 2048³ to 8192³, 256x4096x4096, 2048x512x4096 and
    512x4096x2048; else by the model.
    """
    choice = choices.modelled(132, product)
    assert choice is not None
    by_registers = isinstance(choice, Tiling) and choice.by_registers
    assert (choice.tile_m if by_registers else 0) == tile_m


RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "narrow.jsonl"
RECORDED = {
    (row["case"], row["type"]): row
    for row in map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
}
"""The last time of each product."""


def regret(row: dict[str, Any]) -> float:
    """The time of the choice that is taken, relative to the fastest one that was measured: the
    package's own, else the first by the model that was measured.
    """
    size, layout = row["case"].split()
    product = Product(*map(int, size.split("x")), layout, *(row["type"],) * 3)
    own = choices.shipped(CARD).get(product.key)
    modelled = choices.ranked(132, product)
    us = row["choices"]
    taken = ([choices.decoded(own)] if own else []) + modelled
    return float(us[next(one for one in map(choices.shown, taken) if one in us)] / min(us.values()))


def test_what_is_chosen_is_nearly_the_fastest_of_what_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Times of one choice differ by 3% from run to run and from layout to layout."""
    monkeypatch.setattr(choices, "SHIPPED", OWN)
    regrets = {product: regret(row) for product, row in RECORDED.items()}
    assert len(regrets) >= 14
    assert max(regrets.values()) < 1.03, regrets
    assert sum(regrets.values()) / len(regrets) < 1.01, regrets


def test_the_model_knows_random_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first choice that was measured beside the fastest one, of products of all kinds."""
    lines = (RESULTS.parent / "choices.jsonl").read_text(encoding="utf-8").splitlines()
    over = []
    for row in map(json.loads, lines):
        size, layout = row["case"].split()
        ranked = choices.ranked(132, Product(*map(int, size.split("x")), layout))
        first = next(row["us"][one] for one in map(choices.shown, ranked) if one in row["us"])
        over.append(first / min(row["us"].values()))
    assert len(over) >= 40
    assert statistics.geometric_mean(over) < 1.03
    assert sorted(over)[len(over) * 9 // 10] < 1.1


@pytest.mark.parametrize(
    ("size", "us"),
    [
        (2048, {128: 15.1, 192: 20.6}),
        (4096, {128: 114.9, 192: 122.6}),
        (6144, {128: 412.7, 192: 371.7}),
        (8192, {128: 1013.1, 192: 912.7}),
    ],
)
def test_promoted_sums_get_the_width_that_was_measured_to_be_faster(
    size: int, us: dict[int, float]
) -> None:
    """By columns of a tile, squares in e4m3 on an H200."""
    best = choose.tiling(Sizes(132, size, size, size // 2), choose.PROMOTED)
    assert us[best.tile_n] == min(us.values())


def test_candidates_fit_and_are_different() -> None:
    for m, n, pitch in ((4096, 1, 4096), (4096, 64, 4097), (1024, 512, 1024), (4096, 16, 4097)):
        found = list(choose.narrow_candidates(m, n))
        assert len(found) == len(set(found)) > 20
        for shape in found:
            c, a, b = (
                Matrix(0, rows, columns, *strides, "bf16")
                for rows, columns, strides in (
                    (m, n, (1, m)), (m, 64, (1, pitch)), (64, n, (n + 8, 1)),
                )
            )  # fmt: skip
            turned = narrowing.fitted(shape, c, a, b, scaled=True)
            assert turned.b_major == "mn" or n == 1
            assert turned.stages == 2 or turned.shared_bytes <= shape.shared_bytes


@pytest.mark.parametrize(("m", "n", "k"), [(16, 50257, 768), (64, 50257, 4096)])
def test_odd_weights_are_copied_by_units_and_not_padded(m: int, n: int, k: int) -> None:
    c, a, b = (
        Matrix(0, rows, columns, columns, 1, "bf16")
        for rows, columns in ((m, n), (m, k), (k, n))
    )  # fmt: skip
    choice = choices.modelled_for(132, c, a, b)
    assert choice == choices.modelled(132, Product.of(c, a, b))
    made, _, larger, smaller = hopper.arranged(132, c, a, b, scaled=False, tiling=choice)
    assert isinstance(made, Narrow) and made.a_copy == "units" and smaller.fits_tensor_copies
    assert not larger.fits_tensor_copies and larger.rows == n


def test_what_has_to_be_padded_costs_that() -> None:
    """A copy's time, which narrow tiles by units do not take."""
    sizes = Sizes(132, 4095, 256, 4096)
    odd, whole = replace(sizes, a=Lies(odd=True)), choose.CANDIDATES[0]
    assert tiling_us(whole, odd) == tiling_us(whole, sizes)
    padded = 2 * 2 * 4095 * 4096 / 4.8e6
    assert padded < padding_us(4095 * 4096) < 2 * padded + 5
    assert padding_us(0) == 0
    assert isinstance(choices.modelled(132, Product(6835, 203, 3907, "TN")), Narrow)


@pytest.mark.parametrize(
    ("product", "odd"),
    [
        (Product(1, 4097, 4095, "NT"), (False, True)),
        (Product(16, 14336, 4095, "NT"), (True, True)),
        (Product(16, 50257, 768), (False, True)),
        (Product(9, 64, 7, "TN"), (True, False)),
        (Product(12, 14, 8, "NN", "f16"), (False, True)),
        (Product(4, 4, 4, "NN", "tf32"), (False, False)),
    ],
)
def test_dense_operands_are_odd_by_their_pitches(product: Product, odd: tuple[bool, bool]) -> None:
    assert tuple(one.odd for one in product.lies) == odd


@pytest.mark.parametrize("sm_count", [1, 2, 4, 16, 78, 132])
def test_any_number_of_sms_has_a_choice(sm_count: int) -> None:
    """Cut parts of a GPU, the emulator, and less."""
    for layout, kind, out in (("NN", "bf16", "bf16"), ("TN", "tf32", "f32"), ("NT", "s8", "s8")):
        for m, n, k in ((1, 1, 1), (7, 300, 65), (129, 127, 513), (4097, 4095, 4096)):
            product = Product(m, n, k, layout, kind, kind, out)
            ranked = choices.ranked(sm_count, product)
            assert ranked[0] == choices.modelled(sm_count, product)
            for one in ranked[:3]:
                c, a, b = matrices(product)
                made = hopper.arranged(sm_count, c, a, b, scaled=True, tiling=one)[0]
                assert (made.a, made.b, made.out, made.scaled) == (kind, kind, out, True)


def matrices(product: Product) -> tuple[Matrix, Matrix, Matrix]:
    """C, A and B, dense."""
    m, n, k = product.m, product.n, product.k
    a, b = (
        Matrix(0, rows, columns, *((columns, 1) if layout == "N" else (1, rows)), kind)
        for layout, rows, columns, kind in zip(
            product.layout, (m, k), (k, n), (product.a, product.b), strict=True
        )
    )
    return Matrix(0, m, n, n, 1, product.out), a, b


def test_a_type_that_wgmma_lacks_is_named() -> None:
    with pytest.raises(ValueError, match="a is 'f64'; expected bf16, f16, tf32"):
        choices.modelled(132, Product(64, 64, 64, a="f64", b="f64", out="f32"))


@pytest.mark.parametrize("accumulate", ["half", "promoted"])
def test_other_sums_are_chosen_for_as_kernels_read_a_and_b(accumulate: Accumulate) -> None:
    """Whole tiles; 8-bit types along M and N are turned before, wherever their lines start."""
    kind = "f16" if accumulate == "half" else "e4m3"
    candidates = choose.CANDIDATES if accumulate == "half" else choose.PROMOTED
    for m, n, k in ((512, 512, 8192), (2051, 2053, 2048), (4096, 4096, 4096)):
        product = Product(m, n, k, "TN", kind, kind)
        found = choices.modelled(132, product, None, accumulate)
        assert found == choices.modelled_for(132, *matrices(product), accumulate)
        assert isinstance(found, Tiling)
        assert replace(found, parts=1) in [one.tiling for one in candidates]
        if accumulate == "promoted":
            along_k = replace(product, layout="NT")
            assert found == choices.modelled(132, along_k, None, accumulate)


def test_more_bytes_and_more_work_take_longer() -> None:
    shape = Narrow(128, 16, 8, parts=2)
    sizes = Sizes(132, 4096, 16, 4096)
    small = narrow_us(shape, sizes)
    assert small < narrow_us(shape, replace(sizes, m=8192))
    assert small < narrow_us(shape, replace(sizes, depth=8192))
    assert small < narrow_us(replace(shape, parts=1), sizes)
    assert 33.5e6 / 4.8e6 < small < 16


# ---------------------------------------------------------------- measured choices


@pytest.mark.parametrize("choice", [NARROW, TILING, choose.REGISTERS[1].tiling])
def test_a_choice_is_kept_for_its_product(choice: Choice) -> None:
    assert choices.measured(CARD, DECODING) is None
    assert choices.keep(CARD, DECODING, choice)
    assert choices.measured(CARD, DECODING) == choice
    assert choices.measured(CARD, replace(DECODING, m=13)) == choice
    for other in ({"m": 17}, {"n": 14337}, {"k": 4095}, {"layout": "NN"}, {"out": "f32"}):
        assert choices.measured(CARD, replace(DECODING, **other)) is None
    assert choices.measured("NVIDIA H100", DECODING) is None


def test_another_driver_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    choices.keep(CARD, DECODING, NARROW)
    monkeypatch.setattr(choices, "_driver", lambda: "999.1")
    choices.measured.cache_clear()
    assert choices.measured(CARD, DECODING) is None


def test_nothing_is_kept_where_nothing_shall_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTX_CACHE_DISABLE", "1")
    assert not choices.keep(CARD, DECODING, NARROW)
    assert choices.measured(CARD, DECODING) is None


def row(product: Product, choice: Choice, us: float) -> dict[str, Any]:
    return {"product": product.key, "choice": choices.encoded(choice), "us": us}


def test_recorded_choices_come_after_the_users_own() -> None:
    other = replace(DECODING, m=1)
    path = choices.ship(CARD, [row(DECODING, NARROW, 30.0), row(other, NARROW, 29.0)])
    choices.ship(CARD, [row(DECODING, TILING, 28.0)])
    assert path.name == "NVIDIA_H200.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [one["us"] for one in rows] == [28.0, 29.0]
    assert choices.measured(CARD, DECODING) == TILING
    choices.keep(CARD, DECODING, NARROW)
    assert choices.measured(CARD, DECODING) == NARROW


def test_what_an_older_version_kept_counts_as_absent() -> None:
    bad = row(DECODING, NARROW, 1.0)
    for choice in ({"kind": "wide"}, bad["choice"] | {"parts": 3}, bad["choice"] | {"more": 1}):
        choices.ship(CARD, [bad | {"choice": choice}])
        assert choices.measured(CARD, DECODING) is None


def test_a_tiling_from_before_parts_has_none() -> None:
    fields = choices.encoded(TILING)
    assert fields.pop("parts") == 1
    assert choices.decoded(fields) == TILING
    assert choices.decoded(fields | {"parts": 4}).parts == 4  # type: ignore[union-attr]


def test_a_tiling_from_before_ctas_shared_a_shares_none() -> None:
    fields = choices.encoded(TILING)
    assert fields.pop("cluster_n") == 1
    assert choices.decoded(fields) == TILING
    square = replace(TILING, cluster=2, cluster_n=2)
    assert choices.decoded(choices.encoded(square)) == square
    assert "cluster_n" not in choices.shown(TILING)
    assert "cluster 2 cluster_n 2" in choices.shown(square)


def test_the_packages_own_table_is_whole() -> None:
    """Each line says what was measured where, and takes part as it stands."""
    for path in OWN.glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert len({one["product"] for one in rows}) == len(rows)
        for one in rows:
            assert choices.decoded(one["choice"]) and one["us"] > 0
            assert path.name == choices.shipped_file(one["card"]).name
            assert {"driver", "version", "date"} <= one.keys()


def test_a_product_is_told_by_its_matrices() -> None:
    a = Matrix(0, 16, 4096, 4096, 1, "bf16")
    b = Matrix(0, 4096, 512, 1, 4096, "bf16")
    c = Matrix(0, 16, 512, 512, 1, "f32")
    assert Product.of(c, a, b) == Product(16, 512, 4096, "NT", out="f32")
    assert Product.of(c.transposed, b.transposed, a.transposed) == Product.of(c, a, b)
    assert Product(9, 65, 70).key == "16x65x70 NN bf16 bf16 bf16"


def test_a_measured_choice_is_used() -> None:
    a = Matrix(0, 16, 4096, 4096, 1, "bf16")
    b = Matrix(0, 4096, 14336, 1, 4096, "bf16")
    c = Matrix(0, 16, 14336, 14336, 1, "bf16")

    class Card:
        is_cuda, name, sm_count = True, CARD, 132

    device: Any = Card()
    assert isinstance(choices.best(device, c, a, b), Narrow)
    choices.keep(CARD, DECODING, TILING)
    assert choices.best(device, c, a, b) == TILING
    assert choices.best(ptx.device("emulator"), c, a, b) != TILING
