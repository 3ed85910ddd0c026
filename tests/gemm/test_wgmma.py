"""Tensor-core products for Hopper on the emulator: every type, layout, shape and way of storing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptx
from benchmarks.hopper_check import DTYPES, PAIRS
from ptx.devices import LoadedKernel
from ptx.emu.report import Report, Row
from ptxgemm import hopper
from ptxgemm.hopper import Matrix
from ptxgemm.kernels.turn import turn
from ptxgemm.kernels.wgmma import gemm
from ptxgemm.prepass import Prepasses
from ptxgemm.tiling import FLOATS, OUTS, Tiling, by_registers
from tests.gemm.emulated import launches
from tests.gemm.hopper_products import LAYOUTS, check

SMALL = Tiling(128, 64, 2)
TILINGS = {
    "cooperative": Tiling(128, 128, 2, group=1),
    "alternate": Tiling(64, 64, 3, group=2, alternate=True),
    "cluster": Tiling(128, 128, 2, cluster=2, group=1),
    "alternate cluster": Tiling(64, 128, 3, cluster=2, alternate=True),
    "row": Tiling(128, 64, 2, cluster_n=2, group=1),
    "square": Tiling(128, 64, 2, cluster=2, cluster_n=2, group=2),
    "alternate square": Tiling(64, 64, 3, cluster=2, cluster_n=2, alternate=True),
    "alternate row": Tiling(128, 64, 3, cluster_n=4, alternate=True),
    "tall": Tiling(64, 64, 2, cluster=4, cluster_n=2, alternate=True),
}


@pytest.fixture(scope="module")
def device() -> Any:
    return ptx.device("emulator")


@pytest.mark.parametrize("gap", [0, 1])
def test_tiles_of_three_lines(device: Any, gap: int) -> None:
    check(device, 70, 232, 72, tiling=Tiling(128, 192, 2), gap=gap)


# ---------------------------------------------------------------- types


@pytest.mark.parametrize("pair", ["f16", "tf32", "e4m3 e5m2", "e5m2", "s8 u8", "u8"])
def test_types(device: Any, pair: str) -> None:
    """Both operands along M and N: what is not of 16 bits is transposed before."""
    out = "s32" if pair[1] == "8" else "f32"
    check(device, 130, 61, 139, kinds=PAIRS[pair], out=out, flips=(True, False, False),
          tiling=SMALL)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pair", PAIRS)
def test_every_type_and_layout(device: Any, pair: str, layout: Any, gap: int) -> None:
    out = "s32" if pair[1] == "8" else "bf16"
    for c_by_columns in (False, True):
        flips = (*layout, c_by_columns)
        check(device, 131, 70, 141, kinds=PAIRS[pair], out=out, flips=flips, gap=gap, base=gap,
              tiling=SMALL)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 70, 3), (70, 1, 33), (3, 5, 7), (257, 129, 1)])
@pytest.mark.parametrize("pair", PAIRS)
def test_smallest_shapes(device: Any, pair: str, shape: Any) -> None:
    out = "s32" if pair[1] == "8" else "f32"
    for layout in LAYOUTS:
        check(device, *shape, kinds=PAIRS[pair], out=out, flips=(*layout, False), base=1,
              tiling=SMALL)  # fmt: skip


def one(device: Any, left: Any, right: Any, element: str, accumulate: Any) -> float:
    """A product of one row and one column."""
    a, b, c = (device.array(x) for x in (left, right, np.zeros((1, 1), np.float32)))
    hopper.plan(
        device, Matrix.of(c, "f32"), Matrix.of(a, element), Matrix.of(b, element), tiling=SMALL,
        accumulate=accumulate,
    )()  # fmt: skip
    return float(c.numpy()[0, 0])


def test_half_sums(device: Any) -> None:
    """2049 is no number of f16: ones that are added to 2048 one after another are lost."""
    check(device, 130, 64, 72, kinds=PAIRS["f16"], out="f16", tiling=SMALL, accumulate="half")
    left = np.zeros((1, 136), np.float16)
    left[0, ::16] = 1
    left[0, 0] = 2048
    right = np.ones((136, 1), np.float16)
    assert one(device, left, right, "f16", "native") == 2048 + 8
    assert one(device, left, right, "f16", "half") == 2048


def test_promoted_sums(device: Any) -> None:
    """Sums of 14 bits lose what is small beside them; promoted ones keep it."""
    kinds = PAIRS["e4m3 e5m2"]
    for tiling in (SMALL, Tiling(128, 192, 2)):
        check(device, 130, 200, 300, kinds=kinds, out="f32", tiling=tiling, accumulate="promoted")
    depth = 384
    left, right = np.ones((1, depth), DTYPES["e4m3"]), np.ones((depth, 1), DTYPES["e4m3"])
    left[0, 0] = right[0, 0] = 256
    # Of 65536 the unit in 14 bits is 8: ones vanish, but for those of later steps on their own.
    assert one(device, left, right, "e4m3", "native") == 65536
    assert one(device, left, right, "e4m3", "promoted") == 65536 + 256


# ---------------------------------------------------------------- C


@pytest.mark.parametrize("out", ["e4m3", "s8"])
def test_outputs_through_both_ways_of_storing(device: Any, out: str) -> None:
    pair = PAIRS["s8"] if out == "s8" else PAIRS["bf16"]
    check(device, 130, 144, 72, kinds=pair, out=out, tiling=Tiling(128, 128, 2))
    check(device, 70, 61, 72, kinds=pair, out=out, gap=2, base=1, alpha=4.0, beta=-0.5,
          tiling=SMALL)  # fmt: skip


@pytest.mark.slow
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
    for m, n, gap, base in ((130, 128, 0, 0), (70, 129, 0, 0), (131, 63, 1, 3), (9, 1, 0, 1)):
        given: dict[str, Any] = {"kinds": PAIRS[pair], "out": out, "accumulate": accumulate}
        given |= {"gap": gap, "base": base}
        for tiling in (SMALL, Tiling(128, 128, 2)):
            check(device, m, n, 40, tiling=tiling, **given)
        if out != "s32":
            check(device, m, n, 40, alpha=8.0, beta=0.5, tiling=SMALL, **given)
            check(device, m, n, 40, alpha=-0.5, tiling=SMALL, flips=(False, True, True), **given)


@pytest.mark.slow
@pytest.mark.parametrize("out", ["f32", "bf16", "e4m3"])
def test_rows_of_every_alignment(device: Any, out: str) -> None:
    """Rows that start and end anywhere in a unit of 16 bytes."""
    for n in (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 127):
        for base in range(0, 16, 3):
            check(device, 19, n, 8, out=out, base=base, gap=(n + base) % 3, tiling=SMALL)


# ---------------------------------------------------------------- the machinery


@pytest.mark.parametrize("order", ["reverse"])
def test_tiles_in_a_cluster_in_several_orders(device: Any, order: Any) -> None:
    """Of the last cluster one CTA has no row of C; the columns reach beyond N."""
    with launches(device, order=order):
        check(device, 130, 70, 200, tiling=TILINGS["alternate cluster"])


@pytest.mark.parametrize(
    ("tiling", "shape", "given"),
    [
        ("alternate square", (70, 200, 200), {}),
        ("square", (70, 130, 70), {"flips": (True, True, False), "gap": 1, "base": 1, "beta": 1.0}),
        ("row", (70, 40, 136), {"flips": (True, False, True)}),
        ("alternate row", (130, 70, 72), {"gap": 1, "alpha": 2.0, "beta": -1.0}),
    ],
)
def test_clusters_in_two_dimensions(device: Any, tiling: str, shape: Any, given: Any) -> None:
    """CTAs without a row or a column of C load what the others multiply."""
    with launches(device, order="reverse"):
        check(device, *shape, tiling=TILINGS[tiling], **given)


@pytest.mark.parametrize(
    ("tiling", "blocks"),
    [
        (Tiling(128, 64, 2, alternate=True), 3),
        (TILINGS["alternate cluster"], 3),
        (TILINGS["alternate square"], 3),
    ],
    ids=["two blocks", "cluster", "square"],
)
def test_blocks_of_rows_beyond_c_are_not_multiplied(
    device: Any, tiling: Tiling, blocks: int
) -> None:
    """Of 130 rows, 3 blocks of 64, in a K step of four products and one of which one holds data."""
    with launches(device, report=True) as reports:
        check(device, 130, 64, 72, tiling=tiling)
    products = [row.warps for row in reports[-1].rows if "mma_async" in row.opcode]
    assert sum(products) == 4 * blocks * (4 + 1)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["fixed", "reverse", 1, 2, 3])
@pytest.mark.parametrize("tiling", TILINGS)
@pytest.mark.parametrize("pair", ["bf16", "tf32", "e4m3", "s8"])
def test_tilings_in_several_orders(device: Any, pair: str, tiling: str, order: Any) -> None:
    out = "s32" if pair == "s8" else "f32"
    with launches(device, order=order):
        check(device, 390, 270, 300, kinds=PAIRS[pair], out=out, tiling=TILINGS[tiling])
        check(device, 300, 190, 301, kinds=PAIRS[pair], out=out, tiling=TILINGS[tiling])


def conflicts(report: Report) -> list[Row]:
    """Of what threads access themselves; the copy engine has its own way."""
    return [row for row in report.bank_conflicts if "bulk" not in row.opcode]


def test_no_bank_conflicts_in_what_is_staged(device: Any) -> None:
    """Of the transposing copy and of tensor stores; rows that lie shifted may take two passes."""
    with launches(device, report=True) as reports:
        check(device, 128, 128, 256, kinds=PAIRS["s8"], out="s8", tiling=Tiling(128, 128, 2),
              flips=(True, False, False))  # fmt: skip
    assert [report.kernel for report in reports] == ["turn", "turn", "wgmma_gemm"]
    assert not [row for report in reports for row in conflicts(report)]


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_no_bank_conflicts(device: Any, pair: str) -> None:
    for out in OUTS["s32" if pair[1] == "8" else "f32"]:
        with launches(device, report=True) as reports:
            check(device, 128, 128, 256, kinds=PAIRS[pair], out=out, tiling=Tiling(128, 128, 2),
                  flips=(True, False, False))  # fmt: skip
            check(device, 65, 63, 136, kinds=PAIRS[pair], out=out, tiling=SMALL, gap=1, base=1)
        for report in reports:
            # A row of 5 consecutive words may share a bank with the next: two passes.
            found = conflicts(report)
            assert not [row for row in found if row.ways > 2 or row.opcode.startswith("ld")], found


# ---------------------------------------------------------------- B by registers

REGISTERS = by_registers(64, stages=3, group=1)


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ((130, 132, 100), {}),  # rows beyond C, an odd number of K steps
        ((70, 257, 33), {"gap": 1, "base": 1, "alpha": 0.5, "beta": -2.0}),
        ((65, 128, 64), {"flips": (True, False, False), "alpha": -2.0}),
        ((128, 66, 40), {"flips": (True, True, True), "beta": 1.0}),
        ((258, 60, 40), {"tiling": by_registers(256, 3, 1)}),  # one warpgroup's columns beyond C
    ],
)
def test_tf32_along_n(device: Any, shape: Any, given: dict[str, Any]) -> None:
    check(device, *shape, kinds=PAIRS["tf32"], out="f32", **{"tiling": REGISTERS, **given})


def test_tf32_along_n_in_another_order(device: Any) -> None:
    with launches(device, order="reverse"):
        check(device, 130, 132, 68, kinds=PAIRS["tf32"], out="f32", tiling=REGISTERS)


def test_fragments_are_loaded_without_bank_conflicts(device: Any) -> None:
    with launches(device, report=True) as reports:
        check(device, 64, 128, 96, kinds=PAIRS["tf32"], out="f32", tiling=REGISTERS)
    (report,) = reports  # nothing is transposed before
    loads = [row for row in report.rows if row.opcode.startswith("ld.shared")]
    assert loads and not conflicts(report)


@pytest.mark.parametrize("tiling", [SMALL, REGISTERS, replace(SMALL, parts=2)])
def test_memory_is_touched_after_the_launch_before_has_ended(tiling: Tiling) -> None:
    """The emulator runs launches one after another and cannot tell."""
    before, waited, after = str(ptx.Module(gemm(tiling))).partition("griddepcontrol.wait;")
    assert waited
    touching = ("cp.async", "ld.global", "st.global")
    assert not any(word in before for word in touching)
    assert any(word in after for word in touching)


@pytest.mark.parametrize(("element", "early"), [("bf16", [True]), ("s8", [False, False])])
def test_what_follows_a_copy_is_not_early(
    device: Any, element: str, early: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, prepare = [], LoadedKernel.prepare

    def prepared(self: LoadedKernel, *given: Any, early: bool = False, **rest: Any) -> Any:
        asked.append(early)
        return prepare(self, *given, **rest)

    monkeypatch.setattr(LoadedKernel, "prepare", prepared)
    out = "s32" if element == "s8" else "f32"
    check(device, 3, 64, 16, kinds=PAIRS[element], out=out, tiling=SMALL)
    assert asked == early


# ---------------------------------------------------------------- the transposing copy


def turned(device: Any, lines: int, length: int, pitch: int, base: int, element: str) -> None:
    """In an allocation that ends with the last element; beyond a line's end nothing is written."""
    dtype = {"tf32": "u4", "bf16": "u2", "s8": "u1"}[element]
    random = np.random.default_rng(lines)
    flat = random.integers(1, 200, base + (lines - 1) * pitch + length).astype(dtype)
    size = flat.itemsize
    held = device.array(flat)
    at = held.pointer + base * size
    before = Prepasses(device)
    result = before.turn(Matrix(at, lines, length, pitch, 1, element))
    (room,), (launch,) = before.workspace, before.launches
    room.fill_bytes(0xFF)
    launch()
    assert result.fits_tensor_copies
    assert (result.rows, result.columns, result.row_stride) == (lines, length, 1)
    got = room.numpy().view(dtype)
    assert got.shape == (length, result.column_stride)
    want = np.lib.stride_tricks.as_strided(flat[base:], (lines, length), (pitch * size, size))
    np.testing.assert_array_equal(got[:, :lines], want.T)
    assert not got[:, lines:].any()


@pytest.mark.parametrize("element", ["s8", "bf16", "tf32"])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 0), (1, 3, 3, 1), (5, 2, 2, 3), (34, 131, 133, 1), (130, 129, 160, 0)]
)
def test_lines_are_turned(device: Any, element: str, shape: Any) -> None:
    turned(device, *shape, element)


@pytest.mark.slow
@pytest.mark.parametrize("element", ["s8", "bf16", "tf32"])
def test_lines_of_every_shape_are_turned(device: Any, element: str) -> None:
    for lines in (1, 2, 15, 16, 17, 127, 129):
        for length in (1, 2, 3, 4, 5, 127, 128, 129):
            for base in range(5):
                # Lines of one element that touch are one line, the other way round (A11).
                pitch = length + max(base % 3, int(length == 1))
                turned(device, lines, length, pitch, base, element)


def test_turning_takes_elements_of_few_sizes() -> None:
    assert ptx.Module(turn(4)).kernels["turn"].directive("maxntid") == (256, 1, 1)
