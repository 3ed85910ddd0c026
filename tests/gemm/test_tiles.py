"""The layouts of a tile as mathematics: each element once, at its place, free of conflicts."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ptx.layouts import bank_conflict_ways
from ptxgemm import grid, warp
from ptxgemm.access import Access
from ptxgemm.gathered import Gathering
from ptxgemm.load import Spread
from ptxgemm.shape import LANES, RUN, SEED, VECTOR, WORD, Shape
from tests.gemm.numbers import Numbers

SHAPES = {
    "seed": SEED,
    "deep": Shape(128, 128, 16, 32, 64, 16, 4),
    "small": Shape(64, 64, 8, 32, 32, 8, 4),
    "tall": Shape(128, 64, 8, 64, 32, 16, 4),
    "wide": Shape(128, 256, 16, 64, 64, 8, 16, ctas_per_sm=1),
    "one warp": Shape(32, 32, 32, 32, 32, 8, 4, 3, staging="async"),
} | {str(one.shape): one.shape for one in grid.CANDIDATES}

shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
accesses = pytest.mark.parametrize(
    "access",
    [Access(along, width) for along in ("k", "side") for width in (1, 2, 4)],
    ids=lambda access: f"{access.along}{access.width}",
)
k: Any = Numbers()


def spreads(shape: Shape, access: Access) -> list[Spread]:
    """Of A and of B."""
    return [Spread(shape, extent, access) for extent in (shape.cta_m, shape.cta_n)]


def elements(spread: Spread, thread: int) -> list[list[tuple[int, int]]]:
    """(k, m or n) of every element of each piece that a thread fetches."""
    inner0, outer0 = spread.origin(k, thread)  # type: ignore[arg-type]
    found = []
    for row, column in spread.pieces:
        inner, outer = inner0 + column * spread.inner_step, outer0 + row * spread.rows
        run = [(inner + q, outer) for q in range(spread.access.width)]
        found.append([(i, o) if spread.transposed else (o, i) for i, o in run])
    return found


@cache
def places(shape: Shape) -> list[Any]:
    return [warp.place(k, shape, t) for t in range(shape.threads)]


def warps(values: list[Any]) -> list[list[Any]]:
    return [values[first : first + LANES] for first in range(0, len(values), LANES)]


@shapes
@accesses
def test_every_element_is_fetched_once(shape: Shape, access: Access) -> None:
    for spread in spreads(shape, access):
        fetched = [e for t in range(shape.threads) for run in elements(spread, t) for e in run]
        wanted = [(d, s) for d in range(shape.cta_k) for s in range(spread.extent)]
        assert sorted(fetched) == wanted


@shapes
@accesses
def test_pieces_lie_in_shared_memory_as_far_apart_as_offsets_say(
    shape: Shape, access: Access
) -> None:
    for spread in spreads(shape, access):
        for t in (0, 1, shape.threads - 1):
            inner0, outer0 = spread.origin(k, t)  # type: ignore[arg-type]
            first_k, first_side = (inner0, outer0) if spread.transposed else (outer0, inner0)
            origin = (first_k * spread.pitch + first_side) * WORD
            for (row, column), run in zip(spread.pieces, elements(spread, t), strict=True):
                for q, (d, s) in enumerate(run):
                    offset = spread.offset(column * spread.inner_step + q, row * spread.rows)
                    assert origin + offset == (d * spread.pitch + s) * WORD


@shapes
def test_a_and_b_lie_in_a_stage_without_overlap(shape: Shape) -> None:
    a = {shape.a_offset(d, m) for d in range(shape.cta_k) for m in range(shape.cta_m)}
    b = {shape.b_offset(d, n) for d in range(shape.cta_k) for n in range(shape.cta_n)}
    assert len(a) == shape.cta_k * shape.cta_m and len(b) == shape.cta_k * shape.cta_n
    assert not a & b
    assert max(a | b) < shape.stage_bytes


@shapes
def test_every_element_of_c_has_one_thread(shape: Shape) -> None:
    owned = [
        (at.row + bm * shape.block_m + i, at.column + bn * shape.block_n + j)
        for at in places(shape)
        for bm in range(shape.thread_m // VECTOR)
        for bn in range(shape.thread_n // VECTOR)
        for i in range(VECTOR)
        for j in range(VECTOR)
    ]
    assert sorted(owned) == [(m, n) for m in range(shape.cta_m) for n in range(shape.cta_n)]


@cache
def reads(shape: Shape, operand: str, depth: int) -> list[list[int]]:
    """For each block of a thread, the address that each thread reads it from."""
    found = []
    size, distance, offset = (
        (shape.thread_m, shape.block_m, shape.a_offset)
        if operand == "a"
        else (shape.thread_n, shape.block_n, shape.b_offset)
    )
    readers = [warp.reader(k, 0, at) for at in places(shape)]  # type: ignore[arg-type]
    for block in range(size // VECTOR):
        found.append([getattr(r, operand) + offset(depth, block * distance) for r in readers])
    return found


@shapes
def test_fragments_are_read_from_where_they_were_stored(shape: Shape) -> None:
    for depth in (0, shape.cta_k - 1):
        for block, addresses in enumerate(reads(shape, "a", depth)):
            for at, address in zip(places(shape), addresses, strict=True):
                assert address == shape.a_offset(depth, at.row + block * shape.block_m)
        for block, addresses in enumerate(reads(shape, "b", depth)):
            for at, address in zip(places(shape), addresses, strict=True):
                assert address == shape.b_offset(depth, at.column + block * shape.block_n)


@shapes
@accesses
def test_stores_are_free_of_bank_conflicts(shape: Shape, access: Access) -> None:
    for spread in spreads(shape, access):
        together = 1 if spread.transposed else access.width
        for lanes in warps([elements(spread, t) for t in range(shape.threads)]):
            for piece in range(len(lanes[0])):
                for q in range(0, access.width, together):
                    at = [lane[piece][q] for lane in lanes]
                    addresses = [(d * spread.pitch + s) * WORD for d, s in at]
                    assert bank_conflict_ways(addresses, together * WORD) == 1


@shapes
def test_reads_are_free_of_bank_conflicts(shape: Shape) -> None:
    for operand in ("a", "b"):
        for depth in range(shape.cta_k):
            for addresses in reads(shape, operand, depth):
                for lanes in warps(addresses):
                    assert bank_conflict_ways(lanes, 16) == 1


def test_the_padding_is_what_frees_the_stores_of_a_transposed_tile() -> None:
    lanes = [divmod(lane, RUN) for lane in range(LANES)]
    plain = [(d * SEED.cta_m + m) * WORD for m, d in lanes]
    assert bank_conflict_ways(plain, WORD) == RUN
    assert bank_conflict_ways([(d * SEED.a_pitch + m) * WORD for m, d in lanes], WORD) == 1


@shapes
@accesses
def test_global_reads_use_whole_sectors(shape: Shape, access: Access) -> None:
    """A warp's fetch touches no more 32-byte sectors than its bytes fill, on aligned rows."""
    for spread in spreads(shape, access):
        for lanes in warps([elements(spread, t) for t in range(shape.threads)]):
            for piece in range(len(lanes[0])):
                runs = {
                    (o, i * WORD // 32)
                    for lane in lanes
                    for d, s in lane[piece]
                    for i, o in [(d, s) if spread.transposed else (s, d)]
                }
                assert len(runs) == LANES * access.width * WORD // 32


# ---------------------------------------------------------------- sums through shared memory


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sums_are_handed_over_once_in_few_passes(shape: Shape, width: int) -> None:
    """A warp stores elements of a block of each lane, and reads rows of neighbours: at once, but
    for stores where not eight lanes lie side by side, and for lines of half the banks.
    """
    one = Gathering(shape, width)
    if shape.lanes_n * VECTOR > LANES * width:
        assert not one.fits
        return
    blocks = one.columns // shape.block_n
    lanes = [divmod(lane, shape.lanes_n) for lane in range(LANES)]
    stored: set[int] = set()
    for i in range(VECTOR):
        for j in range(blocks * VECTOR):
            along = j // VECTOR * shape.block_n + j % VECTOR
            put = [(m * one.pitch + n * VECTOR + along) * WORD + one.offset(i) for m, n in lanes]
            assert bank_conflict_ways(put, WORD) <= width * (1 if shape.lanes_n == 8 else 2)
            stored |= set(put)
    read: set[int] = set()
    for row in range(0, one.rows, one.rows_at_once):
        got = []
        for lane in range(LANES):
            ahead, column = divmod(lane, one.across)
            got.append(one.offset(row + ahead) + column * width * WORD)
        assert bank_conflict_ways(got, width * WORD) <= max(1, LANES // one.columns)
        read |= {at + n * WORD for at in got for n in range(width)}
    assert stored == read
    assert len(stored) == one.rows * one.columns
    assert max(stored) < one.warp_bytes


# ---------------------------------------------------------------- which tiles

TIMED = {
    (4095, 4097, 1023): {("8x16", 1): 703.9, ("8x8", 1): 716.8},
    (4095, 4097, 4093): {("8x16", 1): 2727.7, ("8x8", 1): 2805.7},
    (3000, 3001, 3002): {("8x8", 14): 1125.5, ("8x16", 14): 1190.0, ("8x8", 5): 1187.7},
    (4096, 4096, 4096): {
        ("8x8", 9): 2644.5, ("8x8", 1): 2682.1, ("8x16", 8): 2680.2, ("8x16", 1): 2694.9,
    },
    (2048, 2048, 2048): {("8x8", 1): 340.5, ("8x16", 1): 341.6, ("8x16", 2): 357.4},
    (6144, 6144, 6144): {("8x16", 4): 8852.7, ("8x8", 1): 9154.7},
    (8192, 8192, 8192): {("8x16", 13): 20764.7, ("8x8", 1): 21667.3},
    (1000, 1000, 1000): {("8x8", 4): 53.4, ("8x8", 1): 113.4},
    (1024, 1024, 1024): {("8x16", 4): 54.6, ("8x8", 1): 109.7},
}  # fmt: skip
"""Microseconds on an H200, by sums of a thread and parts of K, in tiles of 128x128x8. At 6144,
8192, 1000 and 1024, and of 8x8 at 4095x4097, they are of kernels whose writing did not stand apart.
"""


@pytest.mark.parametrize("size", TIMED, ids=str)
def test_what_is_chosen_is_what_was_fastest(size: tuple[int, int, int]) -> None:
    """Within 1%; of what has as many sums and is cut, the nearest number of parts counts."""
    timed = TIMED[size]
    chosen = grid.choose(*size)
    assert (chosen.shape.cta_m, chosen.shape.cta_n) == (128, 128)
    sums = f"{chosen.shape.thread_m}x{chosen.shape.thread_n}"
    alike = [(s, n) for s, n in timed if s == sums and (n > 1) == (chosen.parts > 1)]
    nearest = min(alike, key=lambda one: abs(one[1] - chosen.parts))
    assert timed[nearest] <= 1.01 * min(timed.values())
