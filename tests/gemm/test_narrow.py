"""Products of few columns or few tiles: on the emulator, in machine code, and on a Hopper GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
from benchmarks.hopper_check import PAIRS
from ptx import sass
from ptxgemm import hopper, narrowing
from ptxgemm.hopper import Matrix
from ptxgemm.kernels.narrow import gemm
from ptxgemm.narrow import WIDTHS, Narrow, widths
from ptxgemm.tiling import ELEMENTS, OUTS
from tests.gemm import hopper_products as products
from tests.gemm.test_wgmma_gpu import check
from tests.gemm.test_wgmma_sass import missing

PLAIN = Narrow()
KERNELS = {
    "1 column": Narrow(64, 8, 16, parts=2, c_major="m", width=4),
    "64 columns": Narrow(128, 64, 8, parts=4, peers=2, c_major="m", width=4),
    "rows": Narrow(128, 64, 4, 2, parts=2, peers=4, b_major="mn", scaled=True, out="f32"),
    "units along K": Narrow(64, 8, 8, 2, parts=2, c_major="m", a_copy="units"),
    "units along M": Narrow(128, 64, 4, a_major="mn", c_major="m", a_copy="units"),
    "int8": Narrow(128, 32, 8, a="s8", b="s8", out="s32"),
    "fp8": Narrow(64, 16, 8, parts=2, a="e4m3", b="e5m2", c_major="m", width=4),
    "few tiles": Narrow(256, 128, 4, parts=8, a_major="mn", c_major="m"),
    "most units": Narrow(64, 256, 2, c_major="m", a_copy="units"),
    "80 columns": Narrow(128, 80, 4, parts=4, peers=2),
    "160 columns": Narrow(192, 160, 3, parts=8, c_major="m", width=4),
    "three warpgroups": Narrow(192, 192, 3, 1, parts=2, b_major="mn", scaled=True, out="f32"),
    "224 columns": Narrow(128, 224, 3, parts=4, b_major="mn", scaled=True, out="f32"),
    "80 units": Narrow(192, 80, 2, a_major="mn", c_major="m", a_copy="units"),
}


@pytest.fixture
def emulator() -> Iterator[Any]:
    device = ptx.device("emulator")
    backend: Any = device.backend
    before = backend.options
    yield device
    backend.options = before


# ---------------------------------------------------------------- data


def test_the_numbers_of_a_shape() -> None:
    assert (PLAIN.threads, PLAIN.sums, PLAIN.stage_bytes) == (288, 8, 18 * 1024)
    assert PLAIN.instruction == "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16"
    deep = Narrow(256, 64, 4, parts=4, peers=2, b_major="mn")
    assert (deep.threads, deep.rows, deep.sums, deep.cluster) == (288, 128, 64, 8)
    assert [one.box for one in deep.loads] == [(64, 256), (64, 32)]
    assert deep.grid(4097, 65) == 9 * 2 * 8
    assert Narrow(64, 8).threads == 160
    assert Narrow(64, 256, 2, a_copy="units").sums == Narrow(128, 256, 2).sums == 128
    tall = Narrow(192, 160, 2)
    assert (tall.threads, tall.rows, tall.sums) == (416, 64, 80)
    assert [one.box for one in Narrow(64, 160, 2, peers=4).loads] == [(64, 64), (64, 40)]
    along_n = Narrow(64, 160, 2, peers=8, b_major="mn")
    assert [(one.box, one.copies) for one in along_n.loads] == [((64, 64), 1), ((64, 8), 3)]
    assert along_n.b_bytes == 192 * 128


def test_tiles_are_as_wide_as_there_are_columns() -> None:
    """Or half as many; the widths that are chosen, all types have."""
    assert [widths(n) for n in (1, 17, 65, 97, 160, 161, 256)] == [
        (8,), (24,), (80,), (112,), (160,), (192,), (256,)
    ]  # fmt: skip
    assert widths(257) == (128, 160, 256) and widths(400) == (128, 224, 256)
    assert widths(512) == widths(4096) == (128, 256)
    for columns in WIDTHS:
        for pair in PAIRS.values():
            out = "s32" if ELEMENTS[pair[0]].sum == "s32" else "f32"
            assert Narrow(64, columns, 2, a=pair[0], b=pair[1], out=out).tile_n == columns


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tile_m": 96}, "tile_m is 96; expected 64, 128, 192, 256"),
        *(
            ({"tile_n": n}, f"tile_n is {n}; expected a multiple of 8 up to 256")
            for n in (0, 12, 264)
        ),
        ({"a": "s8", "b": "s8", "out": "s8", "tile_n": 40}, "40; wgmma has no such width for s8"),
        ({"a": "f32"}, "a is 'f32'; expected bf16, f16, tf32"),
        ({"b": "f16"}, "wgmma multiplies no bf16 by f16"),
        ({"out": "s32"}, "sums of bf16 are f32 and become .*; out is s32"),
        ({"a": "s8", "b": "u8", "out": "s8", "a_major": "mn"}, "wgmma takes s8 along K only"),
        ({"a": "tf32", "b": "tf32", "a_copy": "units"}, "elements of tf32 are not copied by units"),
        ({"c_major": "k"}, "c_major is 'k'; expected m, n"),
        ({"width": 2}, "width is 2; expected 1, 4"),
        ({"parts": 3}, "parts is 3; expected a power of two"),
        ({"parts": 8, "peers": 2}, "8 parts times 2 peers are 16 CTAs; a cluster has at most 8"),
        ({"peers": 4}, "tile_n / peers is 16 / 4; each CTA loads a multiple of 8 columns"),
        ({"tile_n": 80, "peers": 4}, "tile_n / peers is 80 / 4; each CTA loads a multiple of 8"),
        ({"tile_m": 256, "tile_n": 256, "stages": 2}, "128 x 256 sums of a warpgroup are 256"),
        ({"tile_n": 256, "stages": 2, "a_copy": "units"}, "64 x 256 .* registers for 64"),
        ({"tile_m": 256, "tile_n": 128, "stages": 2, "a_copy": "units"}, "registers for 64"),
        ({"tile_m": 192, "tile_n": 200, "stages": 2}, "64 x 200 sums .* registers for 96"),
        ({"depth": 3}, "depth is 3; expected 1, 2, 4"),
        ({"stages": 1}, "stages is 1; at least 2"),
        ({"stages": 13}, "13 stages of 18432 bytes and 12288 for the sums take 239616; a CTA has"),
    ],
)
def test_a_shape_that_cannot_be_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(PLAIN, **change)


# ---------------------------------------------------------------- products on the emulator

FLIPS = {"NN": (False, False, False), "NT": (False, True, False), "TN": (True, False, False),
         "TT": (True, True, False), "NT, C turned": (False, True, True)}  # fmt: skip


QUICK = (8, 16, 24, 32, 64, 80)
"""Widths that are tried by every run of the tests."""
CASES: list[tuple[int, int, int, Narrow, dict[str, Any]]] = [
    (1, 72, 136, Narrow(64, 8, 3), {}),
    (5, 67, 77, Narrow(64, 8, 2, parts=2), {"gap": 3, "base": 1}),
    (16, 136, 200, Narrow(128, 16, 2, parts=2), {"kind": "f16", "out": "f16"}),
    (136, 24, 328, Narrow(64, 32, 2, depth=2, parts=2, peers=2), {"alpha": 0.5}),
    (40, 130, 72, Narrow(64, 64, 2, peers=2), {"alpha": -2.0, "beta": 1.5, "out": "f32"}),
    (24, 72, 136, Narrow(64, 24, 2, parts=2), {}),
    (77, 130, 72, Narrow(64, 80, 2, peers=2), {"out": "f32"}),
    (96, 200, 136, Narrow(192, 96, 2, parts=2), {"beta": 0.5}),
    (133, 67, 200, Narrow(64, 72, 2, parts=4), {"gap": 1}),
]


@pytest.mark.parametrize(
    ("m", "n", "k", "shape", "options", "layout"),
    [
        pytest.param(*case, layout, marks=() if (number + at) % 3 == 0 else pytest.mark.slow)
        for number, case in enumerate(CASES)
        for at, layout in enumerate(FLIPS)
    ],
)
def test_small_products(
    emulator: Any, m: int, n: int, k: int, shape: Narrow, options: Any, layout: str
) -> None:
    check(emulator, m, n, k, flips=FLIPS[layout], tiling=shape, **options)


@pytest.mark.parametrize("out", ["s8", "s32", "f32", "e5m2"])
@pytest.mark.parametrize("n", [40, pytest.param(41, marks=pytest.mark.slow)])
def test_types(emulator: Any, out: str, n: int) -> None:
    """Of 8 and of 32 bits; operands that do not lie along K are transposed before."""
    pairs = {"s8": "u8 s8", "s32": "s8", "f32": "tf32", "e5m2": "e4m3 e5m2"}
    shape = Narrow(64, 8, 2, parts=2)
    products.check(emulator, 5, n, 261, kinds=PAIRS[pairs[out]], out=out, tiling=shape)
    scale = {"alpha": 2.0, "beta": -1.0}
    products.check(emulator, n, 5, 70, kinds=PAIRS[pairs[out]], out=out, tiling=shape,
                   flips=(True, False, False), **scale)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("layout", FLIPS)
def test_every_type(emulator: Any, pair: str, layout: str) -> None:
    scale, shape = {"alpha": -1.0, "beta": 2.0}, Narrow(64, 16, 2, parts=2, peers=2)
    for out in OUTS[ELEMENTS[PAIRS[pair][0]].sum]:
        products.check(emulator, 9, 72, 140, kinds=PAIRS[pair], out=out, flips=FLIPS[layout],
                       tiling=shape, **scale)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("tile_n", range(8, 257, 8))
@pytest.mark.parametrize("layout", ["NT", "TN"])
def test_every_width(emulator: Any, tile_n: int, layout: str) -> None:
    """Of B along K and along N, in every height that has registers for it; with K in parts that
    share tiles evenly or not, and peers; with ends of M, N and K.
    """
    clusters = ((1, 2), (2, 1), (4, 1), (8, 1))
    for number, tile_m in enumerate((64, 128, 192, 256)):
        parts, peers = clusters[(number + tile_n // 8) % 4]
        if peers > 1 and tile_n % 16:
            peers = 1
        try:
            shape = Narrow(tile_m, tile_n, 2, parts=parts, peers=peers)
        except ValueError:
            continue
        emulator.backend.options = {"order": number}
        m, n, k = tile_n - number, max(tile_m, tile_n) + 8 - number, 64 * parts + 13
        gap = -(m if layout == "TN" else k) % 8
        check(emulator, m, n, k, flips=FLIPS[layout], tiling=shape, gap=gap)


@pytest.mark.parametrize("order", ["fixed", "reverse", 1])
def test_every_order_of_warps_gives_the_same(emulator: Any, order: Any) -> None:
    """Two parts of K and two peers that load B together, over more steps than stages."""
    emulator.backend.options = {"order": order}
    check(emulator, 13, 100, 385, flips=FLIPS["NT"], tiling=Narrow(64, 16, 2, parts=2, peers=2))


@pytest.mark.parametrize("layout", ["NN", "NT"])
@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_weights_of_any_pitch_are_multiplied_as_they_lie(
    emulator: Any, layout: str, depth: int
) -> None:
    """Lines start everywhere in a unit; what lies around them is NaN, and is never multiplied."""
    k, n = 131, 73
    lines, length = (n, k) if layout == "NT" else (k, n)
    random = np.random.default_rng(0)
    for base, gap in ((1, 0), (7, 7)):
        flat = np.full(base + lines * (length + gap), np.nan, ml_dtypes.bfloat16)
        rows = flat[base:].reshape(lines, length + gap)[:, :length]
        rows[...] = random.integers(-3, 4, rows.shape)
        weights = rows.T if layout == "NT" else rows
        a = random.integers(-3, 4, (3, 136)).astype(ml_dtypes.bfloat16)
        held, left = emulator.array(flat), emulator.array(a)
        c = emulator.empty((3, n), "float32", poison=True)
        at, pitch = held.pointer + 2 * base, length + gap
        strides = (1, pitch) if layout == "NT" else (pitch, 1)
        plan = hopper.plan(
            emulator,
            Matrix.of(c, "f32"),
            Matrix(left.pointer, 3, k, 136, 1, "bf16"),
            Matrix(at, k, n, *strides, "bf16"),
            tiling=Narrow(64, 8, 3, depth, parts=2),
        )
        assert (len(plan.launches), plan.workspace) == (1, ())
        plan()
        assert (c.numpy() == a[:, :k].astype("f4") @ weights.astype("f4")).all()


@pytest.mark.parametrize(("layout", "ways"), [("NT", 2), ("NN", 1)])
def test_banks_of_weights_that_are_read_as_they_lie(emulator: Any, layout: str, ways: int) -> None:
    """Lines along K start in other words of their units, so that neighbours share up to three
    banks and a read takes two passes; lines along N are read by halves of words, in one.
    """
    emulator.backend.options = {"report": True}
    b_turned = layout == "NT"
    check(
        emulator, 3, 71, 67, flips=(False, b_turned, False), tiling=Narrow(64, 8, 2),
        gap=0 if b_turned else 2, out="f32",
    )  # fmt: skip
    kind = "ld.shared.b32" if b_turned else "ld.shared.b16"
    reads = [row for row in emulator.backend.report.rows if row.opcode == kind]
    assert len(reads) == 32
    assert {row.ways for row in reads} == {ways}


@pytest.mark.parametrize(("tile_m", "tile_n"), [(128, 256), (256, 128)])
def test_weights_are_padded_where_units_leave_no_registers_for_sums(
    tile_m: int, tile_n: int
) -> None:
    c, a, b = (
        Matrix(0, rows, columns, columns + (columns == 4097), 1, "bf16")
        for rows, columns in ((4096, 256), (4096, 4097), (4097, 256))
    )
    assert not a.fits_tensor_copies
    assert narrowing.fitted(Narrow(tile_m, tile_n, 2), c, a, b, False).a_copy == "tensor"
    assert narrowing.fitted(Narrow(64, tile_n, 2), c, a, b, False).a_copy == "units"


def test_few_tiles(emulator: Any) -> None:
    check(emulator, 70, 136, 136, tiling=Narrow(128, 64, 2, parts=2), out="f32")


def test_there_are_no_more_parts_than_steps(emulator: Any) -> None:
    check(emulator, 3, 5, 65, tiling=Narrow(64, 8, 2, parts=8))
    check(emulator, 1, 1, 1, tiling=Narrow(64, 8, 2, parts=8))


@pytest.mark.parametrize(
    "tile_n",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in range(8, 257, 8)],
)
@pytest.mark.parametrize("c_turned", [False, True])
def test_sums_are_staged_without_bank_conflicts(emulator: Any, tile_n: int, c_turned: bool) -> None:
    """And read so, but for lines of an odd multiple of 16: what spreads their pairs makes two of
    their lines meet.
    """
    emulator.backend.options = {"report": True}
    flips = (False, True, False) if c_turned else (False, False, False)
    long = max(72, tile_n + 1)
    m, n = (tile_n, long) if c_turned else (long, tile_n)
    check(emulator, m, n, 64, flips=flips, tiling=Narrow(64, tile_n, 2))
    rows = [row for row in emulator.backend.report.rows if row.shared_requests]
    assert {row.opcode[:9] for row in rows} == {"st.shared", "ld.shared"}
    assert all(row.ways == 1 for row in rows if row.opcode.startswith("st"))
    reads = {row.ways for row in rows if row.opcode.startswith("ld")}
    assert max(reads) == (2 if tile_n % 32 == 16 and not c_turned else 1)


@pytest.mark.parametrize("name", ["1 column", "rows"])
def test_memory_is_touched_after_the_launch_before_has_ended(name: str) -> None:
    """The emulator runs launches one after another and cannot tell."""
    text = str(ptx.Module(gemm(KERNELS[name])))
    before, waited, after = text.partition("griddepcontrol.wait;")
    assert waited
    touching = ("cp.async", "ld.global", "st.global")
    assert not any(word in before for word in touching)
    assert "cp.async" in after and "st.global" in after


# ---------------------------------------------------------------- machine code

kernels = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "64 columns" else pytest.mark.slow)
        for name in KERNELS
    ],
)
assembles = pytest.mark.skipif(
    missing("ptxas") or missing("nvdisasm"), reason="needs ptxas and nvdisasm"
)


@cache
def assembled(name: str) -> sass.Sass:
    return sass.disassemble(ptx.assemble(ptx.Module(gemm(KERNELS[name])), "sm_90a"))


@assembles
@kernels
def test_the_main_loop_is_products_and_barriers(name: str) -> None:
    shape, main = KERNELS[name], assembled(name).loop("main")
    made = [one for one in main.instructions if "GMMA" in one.opcode]
    assert len(made) == 4 * shape.depth * shape.rows // 64
    opcode = {"int8": "IGMMA.64x32x32.S8.S8", "fp8": "QGMMA.64x16x32.F32.E4M3.E5M2"}.get(name)
    assert {one.opcode for one in made} == {opcode or f"HGMMA.64x{shape.tile_n}x16.F32.BF16"}
    assert sum("gsb0" in operand for one in made for operand in one.operands) == 1
    for slow in ("MEMBAR", "ERRBAR", "LDL", "STL", "BAR", "LDG", "STS"):
        assert not main.has(slow), slow
    words = 16 if shape.a_copy == "units" else 0  # two words, or two elements, for a register
    assert main.count("LDS") == len(made) * words // 2


@assembles
@kernels
def test_registers_and_warnings(name: str) -> None:
    """No spill, no serialised wgmma (C7509 to C7515); what one CTA has suffices."""
    cubin = assembled(name).cubin
    info = cubin.kernels["narrow_gemm"]
    assert (info.spill_stores, info.spill_loads, info.local_bytes) == (0, 0, 0)
    assert info.registers * KERNELS[name].threads <= 65536
    assert "C75" not in cubin.log


@assembles
def test_c_is_written_by_vectors_where_it_can_be() -> None:
    assert assembled("64 columns").count("STG.E.64") == 128 * 64 // 4 // 256 // 4
    assert assembled("64 columns").count("STG.E.U16") == 0
    assert not assembled("64 columns").has("LDG")


# ---------------------------------------------------------------- a Hopper GPU


@pytest.mark.gpu
@pytest.mark.parametrize("layout", FLIPS)
@pytest.mark.parametrize("tile_n", WIDTHS)
def test_products_on_a_gpu(hopper_gpu: Any, tile_n: int, layout: str) -> None:
    for tile_m in (64, 128, 256):
        for parts, peers in ((1, 1), (2, 1), (4, 2), (1, 8), (8, 1)):
            try:
                shape = Narrow(tile_m, tile_n, 2, 1 + (parts > 1), parts, peers)
            except ValueError:
                continue
            for m, n, k, gap in ((tile_n, 2048, 2048, 0), (tile_n - 3, 1001, 1030, 1)):
                check(hopper_gpu, m, n, k, flips=FLIPS[layout], tiling=shape, gap=gap)
                check(hopper_gpu, n, m, k, flips=FLIPS[layout], tiling=shape, gap=gap, beta=0.5)


@pytest.mark.gpu
def test_a_chain_of_early_launches(hopper_gpu: Any) -> None:
    """Each product reads what the one before it wrote, and writes what the one before it read:
    powers of a permutation.
    """
    size, order = 512, np.random.default_rng(0).permutation(512)
    turn = np.eye(size, dtype=ml_dtypes.bfloat16)[order]
    start = np.arange(16 * size).reshape(16, size) % 251
    held = [hopper_gpu.array(x.astype(ml_dtypes.bfloat16)) for x in (start, start, turn)]
    one, other, b = (Matrix.of(x, "bf16") for x in held)
    for shape in (Narrow(64, 16, 4, parts=2), Narrow(64, 16, 14), Narrow(128, 16, 2, parts=8)):
        held[0].copy_from(start.astype(ml_dtypes.bfloat16))
        plans = [hopper.plan(hopper_gpu, c, a, b, tiling=shape) for c, a in
                 ((other, one), (one, other))]  # fmt: skip
        expected = start
        for _ in range(200):
            for plan in plans:
                plan()
                expected = expected @ turn.astype(np.float32)
        assert (held[0].numpy().astype(np.float32) == expected).all()
