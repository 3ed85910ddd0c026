"""The layouts of a tile as mathematics: each element once, at its place, free of conflicts."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ptx.layouts import bank_conflict_ways
from ptxgemm import load, warp
from ptxgemm.shape import LANES, SEED, VECTOR, WORD, Shape
from tests.gemm.numbers import Numbers

SHAPES = {
    "seed": SEED,
    "deep": Shape(128, 128, 16, 32, 64, 16, 4),
    "small": Shape(64, 64, 8, 32, 32, 8, 4),
    "tall": Shape(128, 64, 8, 64, 32, 16, 4),
    "shallow": Shape(128, 128, 4, 64, 64, 16, 8),
}
DEPTH, WIDTH = 48, 1024
"""K and N of the matrices that the tiles are cut from."""

shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
k: Any = Numbers()


@cache
def movers(shape: Shape, operand: str) -> list[Any]:
    """How each thread moves the operand, all addresses from 0."""
    if operand == "a":
        return [load.operand_a(k, shape, 0, DEPTH, 0, 0, t) for t in range(shape.threads)]
    return [load.operand_b(k, shape, 0, WIDTH, 0, 0, t) for t in range(shape.threads)]


@cache
def places(shape: Shape) -> list[Any]:
    return [warp.place(k, shape, t) for t in range(shape.threads)]


def warps(values: list[Any]) -> list[list[Any]]:
    return [values[first : first + LANES] for first in range(0, len(values), LANES)]


@shapes
@pytest.mark.parametrize("operand", ["a", "b"])
def test_every_element_is_stored_once_at_its_place(shape: Shape, operand: str) -> None:
    pitch = DEPTH if operand == "a" else WIDTH
    stored = {}
    for mover in movers(shape, operand):
        for source, offsets in zip(mover.sources, mover.offsets, strict=True):
            assert source % 16 == 0
            row, column = divmod(source // WORD, pitch)
            for q in range(VECTOR):
                target = mover.target + (
                    offsets[q] if len(offsets) == VECTOR else offsets[0] + q * WORD
                )
                assert target not in stored
                stored[target] = (row, column + q)
    if operand == "a":
        expected = {
            shape.a_offset(depth, m): (m, depth)
            for depth in range(shape.cta_k)
            for m in range(shape.cta_m)
        }
    else:
        expected = {
            shape.b_offset(depth, n): (depth, n)
            for depth in range(shape.cta_k)
            for n in range(shape.cta_n)
        }
    assert stored == expected


@shapes
def test_a_and_b_fill_a_stage_without_overlap(shape: Shape) -> None:
    a = {shape.a_offset(d, m) for d in range(shape.cta_k) for m in range(shape.cta_m)}
    b = {shape.b_offset(d, n) for d in range(shape.cta_k) for n in range(shape.cta_n)}
    assert sorted(a | b) == list(range(0, shape.stage_bytes, WORD))
    assert not a & b


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
    readers = [warp.reader(k, shape, -shape.stage_bytes, at) for at in places(shape)]
    for block in range(size // VECTOR):
        found.append([getattr(r, operand) + offset(depth, block * distance) for r in readers])
    return found


@shapes
def test_fragments_are_read_from_where_they_were_stored(shape: Shape) -> None:
    for depth in range(shape.cta_k):
        for block, addresses in enumerate(reads(shape, "a", depth)):
            for at, address in zip(places(shape), addresses, strict=True):
                for i in range(VECTOR):
                    m = at.row + block * shape.block_m + i
                    assert address + i * WORD == shape.a_offset(depth, m)
        for block, addresses in enumerate(reads(shape, "b", depth)):
            for at, address in zip(places(shape), addresses, strict=True):
                assert address == shape.b_offset(depth, at.column + block * shape.block_n)


@shapes
def test_shared_memory_is_free_of_bank_conflicts(shape: Shape) -> None:
    for mover in ("a", "b"):
        for lanes in warps(movers(shape, mover)):
            for piece, offsets in enumerate(lanes[0].offsets):
                width = 16 // len(offsets)
                for q in range(len(offsets)):
                    addresses = [lane.target + lane.offsets[piece][q] for lane in lanes]
                    assert bank_conflict_ways(addresses, width) == 1
        for depth in range(shape.cta_k):
            for addresses in reads(shape, mover, depth):
                for lanes in warps(addresses):
                    assert bank_conflict_ways(lanes, 16) == 1


def test_the_swizzle_is_what_frees_the_stores_of_a() -> None:
    plain = [(lane % 2 * VECTOR * SEED.cta_m + lane // 2) * WORD for lane in range(LANES)]
    assert bank_conflict_ways(plain, WORD) == 2


@shapes
def test_global_reads_use_whole_sectors(shape: Shape) -> None:
    """A warp's fetch touches no more 32-byte sectors than its 512 bytes fill."""
    for operand in ("a", "b"):
        if operand == "a" and shape.cta_k * WORD < 32:
            continue  # a row of the tile is narrower than a sector
        for lanes in warps(movers(shape, operand)):
            for piece in range(len(lanes[0].sources)):
                sectors = {lane.sources[piece] // 32 for lane in lanes}
                assert len(sectors) == LANES * 16 // 32
