"""Which tiles for which product on Hopper's tensor cores: the cheapest by :mod:`ptxgemm.cost`.

Where a choice was measured for a product (:mod:`ptxgemm.choices`), that one counts instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product

from ptxgemm.cost import (
    DEPTH,
    Candidate,
    Lies,
    Sizes,
    clusters,
    narrow_us,
    padding_us,
    tiling_us,
    turning_us,
)
from ptxgemm.narrow import Narrow, by_units, widths
from ptxgemm.tiling import BARRIER_BYTES, LINE_BYTES, SHARED_LIMIT_BYTES, Tiling, by_registers

Choice = Tiling | Narrow

CANDIDATES = (
    Candidate(Tiling(128, 128, stages=6, group=8, alternate=True), 1.04),
    Candidate(Tiling(128, 128, stages=6, cluster=2, group=8, alternate=True), 0.807),
    Candidate(Tiling(128, 128, stages=6, group=16), 1.15),
    Candidate(Tiling(128, 128, stages=6, cluster=2, group=8), 0.879),
    Candidate(Tiling(128, 128, stages=6, cluster=2, group=8, cluster_n=2), 0.987),
    Candidate(Tiling(128, 256, stages=4, group=16), 1.14),
    Candidate(Tiling(128, 256, stages=4, cluster=2, group=8), 1.14),
    Candidate(Tiling(128, 256, stages=4, group=16, cluster_n=2), 0.963),
    Candidate(Tiling(128, 256, stages=4, cluster=2, group=8, cluster_n=2), 0.994),
    Candidate(Tiling(256, 128, stages=4, cluster=2, group=8), 0.94),
    Candidate(Tiling(128, 192, stages=4, group=12), 1.18),
    Candidate(Tiling(128, 192, stages=4, cluster=2, group=6), 1.02),
    Candidate(Tiling(128, 64, stages=8, group=16), 0.689),
    Candidate(Tiling(128, 64, stages=8, group=16, cluster_n=2), 0.677),
    Candidate(Tiling(128, 64, stages=8, cluster=2, group=8, cluster_n=2), 0.716),
    Candidate(Tiling(64, 128, stages=8, group=16, alternate=True), 0.962),
    Candidate(Tiling(64, 256, stages=4, group=32, alternate=True), 0.786),
)
"""Rates are fitted with the constants of :mod:`ptxgemm.cost`."""
PROMOTED = (
    Candidate(Tiling(128, 192, stages=4, group=12), 1.08),
    Candidate(Tiling(128, 128, stages=6, group=16), 1.0),
    Candidate(Tiling(128, 64, stages=8, group=16), 0.7),
)
"""For sums that are promoted, which take twice the registers; rates as measured on an H200, of wide
tiles at 4096³ to 8192³.
"""
REGISTERS = (
    Candidate(by_registers(256, stages=4, group=8), 1.12),
    Candidate(by_registers(128, stages=6, group=8), 1.0),
    Candidate(by_registers(64, stages=9, group=16), 0.8),
)
"""For tf32 along N. On an H200 the largest tiles beat a copy that turns B at 2048³ to 8192³ (51 us
instead of 62, 401 instead of 432, 1340 instead of 1395, 3153 instead of 3243), tiles of 64 rows all
others at 1024³, 256x4096x4096 and 2048x512x4096, those of 128 at 512x4096x2048. At 16384 x 1024 x
1024 the copy wins, by 110.6 to 113.5 us, which the model does not see.
"""
MOST_PARTS = 8
LEAST_STEPS = 8
"""K steps of a part: with less the ring of stages hardly fills."""
FEW_COLUMNS = 64
"""Up to so many rows or columns of C a product is bound by the bytes of one operand."""
FEW_TILES = 3.0
"""Of 128 x 128, for each SM: with more, narrow kernels have nothing to win."""


def tiling(sizes: Sizes, candidates: tuple[Candidate, ...] = CANDIDATES) -> Tiling:
    """The cheapest tiling, whatever else there is."""
    return min(_split(candidates, sizes), key=lambda one: tiling_us(one, sizes)).tiling


def _split(candidates: tuple[Candidate, ...], sizes: Sizes) -> Iterator[Candidate]:
    """Candidates, each also with K of its last tiles in several numbers of parts."""
    most = min(MOST_PARTS, -(-sizes.depth // DEPTH) // LEAST_STEPS)
    for one in candidates:
        yield one
        if one.tiling.tiles(sizes.m, sizes.n) % clusters(one.tiling, sizes.sm_count):
            for parts in range(2, most + 1):
                yield _in_parts(one, parts)


@cache
def _in_parts(one: Candidate, parts: int) -> Candidate:
    return replace(one, tiling=replace(one.tiling, parts=parts))


def narrow_candidates(m: int, n: int) -> Iterator[Narrow]:
    """Every shape for C [m, n] with m >= n, each with all the shared memory that it can use for
    one CTA on an SM, for two and for three; peers, and tiles of more than 128 rows, of which few
    draw on the memory, only where there are many columns.
    """
    many = n > FEW_COLUMNS
    for tile_n in widths(n):
        for shape in _shapes(tile_n, many):
            if shape.peers == 1 or shape.tile_m * shape.peers < 2 * m:
                yield shape


@cache
def _shapes(tile_n: int, many: bool) -> tuple[Narrow, ...]:
    found = []
    heights, peerings = ((64, 128, 192, 256), (1, 4, 8)) if many else ((64, 128), (1,))
    for tile_m, depth, parts, peers in product(heights, (1, 2), (1, 2, 4, 8), peerings):
        line = (tile_m + tile_n) * LINE_BYTES
        for ctas in (1, 2, 3):
            stages = (SHARED_LIMIT_BYTES // ctas - BARRIER_BYTES) // (depth * line)
            # Too many CTAs for a cluster, or sums for the registers, or too little room.
            with suppress(ValueError):
                found.append(Narrow(tile_m, tile_n, stages, depth, parts, peers))
    return tuple(found)


def ranked(sizes: Sizes, *, registers: bool = False) -> list[Choice]:
    """All choices for a product, the cheapest first."""
    us = predicted(sizes, registers=registers)
    return sorted(us, key=us.__getitem__)


def predicted(sizes: Sizes, *, registers: bool = False) -> dict[Choice, float]:
    """What a product takes, in microseconds, by each choice: tilings, and narrow shapes where there
    are few columns, few rows or few tiles. Odd operands are padded first, but narrow shapes copy
    the larger one by units. Where a B that tensor copies take may go by `registers`, it is turned
    for all others.
    """
    found: dict[Choice, float] = {}
    before = 0.0
    if registers:
        found |= {one.tiling: tiling_us(one, sizes) for one in REGISTERS}
        before = turning_us(sizes.n, sizes.depth)
        sizes = replace(sizes, b=Lies())
    m, n, depth = sizes.m, sizes.n, sizes.depth
    padded = m * depth * sizes.a.odd + n * depth * sizes.b.odd
    for one in _split(CANDIDATES, sizes):
        found[one.tiling] = before + tiling_us(one, sizes) + padding_us(padded)
    if min(m, n) <= FEW_COLUMNS or Tiling(128, 128).tiles(m, n) <= FEW_TILES * sizes.sm_count:
        upright = sizes if m >= n else sizes.turned
        for shape in narrow_candidates(upright.m, upright.n):
            copied = by_units(shape) if upright.a.odd else None
            left = upright.n * depth * upright.b.odd if copied else padded
            found[shape] = before + narrow_us(copied or shape, upright) + padding_us(left)
    return found
