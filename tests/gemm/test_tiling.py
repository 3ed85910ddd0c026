"""Tilings for tensor cores: what cannot be says why; tiles lie where the hardware looks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ptx.layouts import MatrixDescriptor, swizzle
from ptxgemm import choose
from ptxgemm.hopper import Matrix, configure
from ptxgemm.kernels import wgmma
from ptxgemm.tiling import ELEMENTS, FLOATS, LINE_BYTES, ROWS, SUMS_LIMIT, Tiling, by_registers
from ptxgemm.tma import Operand

PLAIN = Tiling()
REGISTERS: dict[str, Any] = {
    "a": "tf32", "b": "tf32", "out": "f32", "tile_n": 128, "store": "vectors",
}  # fmt: skip


def test_the_numbers_of_a_tile() -> None:
    assert (PLAIN.tile_k, PLAIN.stage_bytes, PLAIN.sums, PLAIN.threads) == (64, 49152, 128, 384)
    assert PLAIN.instruction == "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"
    assert replace(PLAIN, a="s8", b="u8", out="s32", b_major="k").instruction == (
        "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.u8"
    )
    assert PLAIN.tiles(4096, 4096) == 512
    assert replace(PLAIN, cluster=2).tiles(4096, 4097) == 16 * 17
    assert replace(PLAIN, cluster=2).grid(8192, 8192, 133) == 132
    assert PLAIN.grid(129, 1, 132) == 2
    square = replace(PLAIN, cluster=2, cluster_n=2)
    assert (square.cluster_size, square.clusters(132), square.clusters(3)) == (4, 33, 1)
    assert square.tiles(4097, 4096) == 17 * 8
    assert square.grid(4096, 4096, 128) == 128
    assert square.grid(257, 512, 132) == 8


def test_what_is_staged_at_once_makes_up_a_tile() -> None:
    for out in FLOATS:
        for tile_n in (64, 128, 192, 256):
            for store in ("tensor", "units"):
                if (out[0], tile_n % 128, store) != ("e", 64, "tensor"):
                    made = Tiling(tile_n=tile_n, out=out, store=store, stages=3)
                    assert tile_n % made.staged_columns == 0, made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tile_m": 64}, "tile_m is 64; two warpgroups have multiples of 128 rows"),
        ({"tile_m": 96, "alternate": True}, "one warpgroup has multiples of 64 rows"),
        ({"tile_n": 96}, "tile_n is 96; expected a multiple of 64 up to 256"),
        ({"tile_n": 320}, "tile_n is 320; expected a multiple of 64 up to 256"),
        ({"tile_m": 256}, "128 x 256 sums of a warpgroup take 256 registers of each .* 128"),
        ({"alternate": True}, "128 x 256 sums of a warpgroup take 256 registers"),
        ({"cluster": 3}, "cluster is 3; expected 1, 2 or 4"),
        ({"cluster_n": 8}, "cluster_n is 8; expected 1, 2 or 4"),
        ({"cluster": 4, "cluster_n": 4}, "cluster is 4 and cluster_n 4; .* at most 8 CTAs"),
        ({"stages": 5}, "5 stages of 49152 bytes and 32768 for C are 278528; a CTA has 231424"),
        ({"stages": 1}, "stages is 1 and group 16; at least 2 and 1"),
        ({"a": "f64"}, "a is 'f64'; expected bf16, f16"),
        ({"a": "f16"}, "wgmma multiplies no f16 by bf16"),
        ({"out": "s32"}, "sums of bf16 are f32 and become bf16, f16, f32, .*; out is s32"),
        ({"out": "s8"}, "sums of bf16 are f32 and become bf16, f16, f32, .*; out is s8"),
        (
            {"a": "s8", "b": "s8", "b_major": "k", "out": "e4m3"},
            "sums of s8 are s32 and become s32",
        ),
        ({"accumulate": "half"}, "sums of bf16 are not kept in f16"),
        ({"accumulate": "promoted"}, "sums of bf16 need no promotion: it is for e4m3 and e5m2"),
        (
            {"accumulate": "promoted", "a": "e4m3", "b": "e4m3", "b_major": "k"},
            "64 x 256 sums of a warpgroup take 256 registers",
        ),
        (
            {"alternate": True, "tile_n": 192, "stages": 3},
            "128 x 192 sums of a warpgroup take 192 registers of each thread; there are 128",
        ),
        (
            {"out": "s8", "a": "s8", "b": "s8", "b_major": "k", "tile_n": 192},
            "tile_n is 192; expected a multiple of 128 up to 256",
        ),
        ({"a": "s8", "b": "s8", "out": "s8"}, 'b_major is "mn"; wgmma takes s8 along K only'),
        ({"a": "tf32", "b": "tf32"}, "tile_n is 256; where B goes by registers it is 128"),
        ({**REGISTERS, "alternate": True}, "alternate is True; where B goes by registers it is F"),
        ({**REGISTERS, "tile_m": 320}, "tile_m is 320; where B goes by registers at most 256"),
        ({**REGISTERS, "tile_m": 96}, "tile_m is 96; one warpgroup has multiples of 64 rows"),
        ({**REGISTERS, "parts": 2}, "parts is 2; where B goes by registers it is 1"),
        ({**REGISTERS, "cluster": 2}, "cluster is 2; where B goes by registers it is 1"),
        ({**REGISTERS, "cluster_n": 2}, "cluster_n is 2; where B goes by registers it is 1"),
        ({**REGISTERS, "stages": 2}, "stages is 2; where B goes by registers at least 3"),
        ({**REGISTERS, "out": "bf16"}, "out is 'bf16'; where B goes by registers it is 'f32'"),
        ({**REGISTERS, "store": "units"}, "store is 'units'; a B that goes by registers has no"),
        ({**REGISTERS, "a_major": "mn"}, 'a_major is "mn"; wgmma takes tf32 along K only'),
        ({"store": "vectors"}, "store is 'vectors'; that is for a B that goes by registers"),
        ({"store": "lines"}, "store is 'lines'; expected tensor, units"),
    ],
)
def test_a_tiling_that_cannot_be_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(PLAIN, **change)


def test_every_candidate_takes_every_way_of_storing() -> None:
    for candidate in choose.CANDIDATES:
        for store in ("tensor", "units"):
            for out in ("bf16", "f32"):
                made = replace(candidate.tiling, store=store, out=out, scaled=True)
                assert made.sums <= SUMS_LIMIT


@pytest.mark.parametrize(
    ("element", "major"), [("bf16", "k"), ("bf16", "mn"), ("tf32", "k"), ("e4m3", "k")]
)
@pytest.mark.parametrize("extent", [64, 128, 256])
def test_wgmma_finds_what_the_copies_put_there(element: str, extent: int, major: Any) -> None:
    """Each element of a tile, by the copy engine's layout of a box and by the descriptor's."""
    size = ELEMENTS[element].bytes
    operand = Operand(major, extent, LINE_BYTES // size)
    base = 3 << 16
    placed: dict[tuple[int, int], int] = {}
    inner, outer = operand.box
    for number in range(operand.copies):
        for row in range(outer):
            for column in range(inner):
                offset = (number * ROWS + row) * LINE_BYTES + column * size
                if major == "k":
                    place = (row, column)
                else:
                    place = (number * ROWS + column, row)
                placed[place] = swizzle(base + offset, LINE_BYTES)
    assert len(set(placed.values())) == extent * operand.tile_k

    depth = 32 // size
    for block in range(0, extent, ROWS):
        for part in range(4):
            bits = operand.descriptor + (base >> 4)
            bits += part * operand.step + block * LINE_BYTES // 16
            descriptor = MatrixDescriptor.of(bits)
            for mn in range(ROWS):
                for k in range(depth):
                    at = descriptor.address(mn, k, 8 * size, major == "k")
                    assert at == placed[block + mn, part * depth + k]


def test_b_along_n_goes_by_registers() -> None:
    made = by_registers(256, stages=4, group=8)
    assert (made.by_registers, made.staging_bytes, made.sums) == (True, 0, SUMS_LIMIT)
    assert made.instruction == "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32"
    a, b = wgmma.operands(made)
    assert (a.box, a.copies, b.box, b.copies) == ((32, 256), 1, (32, 32), 4)
    assert by_registers(64, stages=9, group=8).sums == 32


def test_a_cluster_shares_b() -> None:
    a, b = wgmma.operands(replace(PLAIN, cluster=2, b_major="k"))
    assert (a.box, b.box) == ((64, 128), (64, 128))
    a, b = wgmma.operands(replace(PLAIN, a_major="mn"))
    assert (a.box, a.copies, b.box, b.copies) == ((64, 64), 2, (64, 64), 4)


@pytest.mark.parametrize("ctas", [1, 2, 4])
@pytest.mark.parametrize("extent", [64, 128, 192, 256])
@pytest.mark.parametrize("majors", [("k", "mn"), ("mn", "k")])
def test_parts_make_up_a_tile(majors: Any, extent: int, ctas: int) -> None:
    """Each CTA's part is whole atoms, and all of them are the tile."""
    (a_major, b_major), wide = majors, {"tile_m": 128, "tile_n": extent, "cluster": ctas}
    high = {"tile_m": extent, "tile_n": 64, "cluster_n": ctas, "alternate": True, "stages": 2}
    _, b = wgmma.operands(Tiling(**wide, a_major=a_major, b_major=b_major))
    a, _ = wgmma.operands(Tiling(**high, a_major=a_major, b_major=b_major))
    for operand, major in ((a, a_major), (b, b_major)):
        lines = operand.box[1]
        assert operand.major == major and lines % 8 == 0
        assert ctas * operand.box[0] * lines * operand.copies == extent * 64
        assert (operand.descriptor, operand.step) == (
            Operand(major, extent, 64).descriptor,
            Operand(major, extent, 64).step,
        )


# ---------------------------------------------------------------- matrices


def matrix(rows: int, columns: int, row_stride: int, column_stride: int = 1, at: int = 0) -> Matrix:
    return Matrix(at, rows, columns, row_stride, column_stride, "bf16")


@pytest.mark.parametrize(
    ("one", "lines", "along", "fits"),
    [
        (matrix(128, 60, 60), (128, 60, 60), "columns", False),  # A44
        (matrix(128, 64, 64), (128, 64, 64), "columns", True),
        (matrix(128, 60, 64), (128, 60, 64), "columns", True),
        (matrix(128, 64, 64, at=2), (128, 64, 64), "columns", False),
        (matrix(128, 60, 1, 128), (60, 128, 128), "rows", True),
        (matrix(1, 60, 7), (1, 60, 60), "columns", True),
        (matrix(1, 60, 1, 9), (60, 1, 9), "rows", False),
        (matrix(60, 1, 1, 9), (1, 60, 60), "rows", True),
        (matrix(60, 1, 8, 1), (60, 1, 8), "columns", True),
        (matrix(1, 1, 5, 5), (1, 1, 1), "columns", True),
    ],
)
def test_how_a_matrix_lies(one: Matrix, lines: Any, along: str, fits: bool) -> None:
    """A stride along which there is one element says nothing (A11)."""
    assert (one.lines, one.along, one.fits_tensor_copies) == (lines, along, fits)
    assert one.transposed.transposed == one
    assert one.transposed.lines == lines
    if fits:
        map = one.map("bf16", (64, 8))
        assert map.shape == (lines[1], lines[0])
        assert map.promotion == (128 if map.strides[0] % 128 else 256)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 8, 7), "strides of 7 and 1 elements for a matrix of 4 x 8"),
        ((4, 8, 16, 2), "strides of 16 and 2 elements"),
        ((0, 8, 8), "a matrix of 0 x 8 has no elements"),
        ((4, 8, 8, 1, 1), "the address 0x1 is no multiple of 2"),
    ],
)
def test_a_matrix_that_cannot_be_says_why(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrix(*arguments)


def test_layouts_follow_from_the_matrices() -> None:
    a, b, c = matrix(256, 96, 96), matrix(96, 512, 1, 96), matrix(256, 512, 512)
    made = configure(132, c, a, b, scaled=False, tiling=Tiling())
    assert (made.a_major, made.b_major, made.store) == ("k", "k", "tensor")
    made = configure(132, matrix(256, 511, 511), matrix(256, 96, 1, 256), matrix(96, 511, 512),
                     scaled=True, tiling=Tiling(128, 128, 4))  # fmt: skip
    assert (made.a_major, made.b_major, made.store) == ("mn", "mn", "units")
    assert (made.tile_m, made.tile_n, made.scaled) == (128, 128, True)


@pytest.mark.parametrize(("n", "store"), [(512, "vectors"), (511, "elements")])
def test_tf32_along_n_may_go_by_registers(n: int, store: str) -> None:
    c, a = Matrix(0, 256, n, n, 1, "f32"), Matrix(0, 256, 96, 96, 1, "tf32")
    b = Matrix(0, 96, n, 512, 1, "tf32")
    tiling = by_registers(128, 6, 8)
    made = configure(132, c, a, b, scaled=True, tiling=tiling)
    assert made == replace(tiling, store=store, scaled=True, last_slices=1)
    turned = configure(132, c, a, b, scaled=True, tiling=choose.CANDIDATES[0].tiling)
    assert (turned.a, turned.b_major, turned.by_registers) == ("tf32", "k", False)
    for other in (replace(b, column_stride=96, row_stride=1), replace(b, element="bf16")):
        with pytest.raises(ValueError, match="by registers goes tf32 along N"):
            configure(132, c, a, other, scaled=False, tiling=tiling)
    with pytest.raises(ValueError, match="out is 'bf16'; where B goes by registers it is 'f32'"):
        configure(132, replace(c, element="bf16"), a, b, scaled=False, tiling=tiling)
