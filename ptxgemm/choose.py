"""Which tiles for which product on Hopper's tensor cores: a short model of what each choice costs.

Where a choice was measured for a product (:mod:`ptxgemm.choices`), that one counts instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from ptxgemm.narrow import CLUSTER_LIMIT, COLUMNS, Narrow
from ptxgemm.tiling import BARRIER_BYTES, LINE_BYTES, ROWS, SHARED_LIMIT_BYTES, Tiling

Choice = Tiling | Narrow


@dataclass(frozen=True)
class Candidate:
    """A tiling and what it costs."""

    tiling: Tiling
    rate: float
    """The main loop's, relative to the others'."""
    between: int
    """What writing a tile costs that nothing hides, in elements of K."""


CANDIDATES = (
    Candidate(Tiling(128, 128, stages=6, cluster=1, group=8, alternate=True), 1.0, 0),
    Candidate(Tiling(128, 256, stages=4, cluster=1, group=16), 1.0, 128),
    Candidate(Tiling(128, 64, stages=8, cluster=1, group=16), 0.7, 128),
)
"""Rates and costs as measured on an H200, in bf16."""
PROMOTED = (
    Candidate(Tiling(128, 128, stages=6, cluster=1, group=16), 1.0, 128),
    Candidate(Tiling(128, 64, stages=8, cluster=1, group=16), 0.7, 128),
)
"""For sums that are promoted, which take twice the registers."""
DEPTH = 64
"""16-bit elements of a K step."""
TILES_START_US = 3.0
"""A launch with its first loads and last stores; assumed."""
START_AND_END = 192
"""What filling the ring and writing the last tile cost, in elements of K."""
SPLIT_MARGIN = 0.01
"""By how much cutting K of the last tiles must win by the model; infinite, it is never chosen."""
MOST_PARTS = 8
LEAST_STEPS = 8
"""K steps of a part: with less the ring of stages hardly fills."""
COUNTING_US, PART_BYTES_A_US, PARTS_BYTES_A_US = 1.0, 50e3, 10e6
"""What it costs that the parts of tiles meet: that they are counted, that one warpgroup reads those
of a tile, and that all of them are written and read at one time. Fitted to 42 times of 9 products
in bf16 on an H200, of which the model picks what is within 1% of the fastest.
"""


def tiling(
    sm_count: int, m: int, n: int, depth: int, candidates: tuple[Candidate, ...] = CANDIDATES
) -> Tiling:
    """The cheapest tiling for an m x n product over `depth` 16-bit elements of K."""
    every = [split for one in candidates for split in (one, *splits(one, sm_count, m, n, depth))]
    return min(every, key=lambda one: cost(one, sm_count, m, n, depth)).tiling


def splits(one: Candidate, sm_count: int, m: int, n: int, depth: int) -> Iterator[Candidate]:
    """The same tiles, the last of them with K cut in several numbers of parts, where whole ones
    fill at least a wave and warpgroups take turns: of those that share a tile the main loop takes
    longer then, and none was measured to win.
    """
    slots = sm_count // one.tiling.cluster
    full, rest = divmod(one.tiling.tiles(m, n), slots)
    if full and rest and one.tiling.alternate:
        most = min(MOST_PARTS, -(-depth // DEPTH) // LEAST_STEPS)
        for parts in range(2, most + 1):
            yield replace(one, tiling=replace(one.tiling, parts=parts))


def cost(candidate: Candidate, sm_count: int, m: int, n: int, depth: int) -> float:
    """Multiplications that one SM has time for while the product runs."""
    tiling = candidate.tiling
    full, rest = divmod(tiling.tiles(m, n), sm_count // tiling.cluster)
    tile = depth / candidate.rate + candidate.between
    last = _last_rows(tiling, m, n, rest) if rest else 0
    size = tiling.tile_m * tiling.tile_n
    whole = size * (full * tile + START_AND_END)
    if not tiling.split:
        return whole + last * tiling.tile_n * tile
    steps = -(-depth // DEPTH)
    part = -(-steps // tiling.parts) * DEPTH / candidate.rate + candidate.between
    turns = -(-rest * tiling.parts * tiling.cluster // sm_count)
    tile_bytes = 4 * last * tiling.tile_n * tiling.parts
    meeting = COUNTING_US + tile_bytes * (1 / PART_BYTES_A_US + 2 * rest / PARTS_BYTES_A_US)
    split = whole + last * tiling.tile_n * turns * part + meeting * MULTIPLICATIONS_A_US
    return split * (1 + SPLIT_MARGIN)


def _last_rows(tiling: Tiling, m: int, n: int, rest: int) -> int:
    """Rows that the last wave, of so many tiles, takes the time of: where all are of C's last row
    of tiles, warpgroups that take turns skip what 64 rows of it are beyond C. Columns beyond C are
    multiplied; as the last column's tiles lie among others in a wave, skipping them would gain
    nothing.
    """
    height = tiling.tile_m * tiling.cluster
    above, columns = (m - 1) // height, -(-n // tiling.tile_n)
    lowest = 1 if above % tiling.group else columns
    if not tiling.alternate or rest > lowest:
        return tiling.tile_m
    return min(-(-(m - above * height) // ROWS) * ROWS, tiling.tile_m)


# ---------------------------------------------------------------- few columns, few tiles
#
# Fitted to the times of 150 choices for 64x4096x4096 and 16x14336x4096 on an H200, one launch right
# after another, those near the fastest counting most. What they say of the design: bytes in flight
# decide up to 5 MB on the card, not how they are cut into stages and depth; a stage that is being
# multiplied is not in flight. Half of the SMs draw as much as all, each 64 bytes a clock. What is
# left is the pause between launches: it is shorter where the next launch's CTAs find room beside
# this one's, and longer for clusters of four or more.

FEW_COLUMNS = 64
"""Up to so many rows or columns of C a product is bound by the bytes of one operand."""
FEW_TILES = 1.25
"""Of 128 x 128, for each SM: up to so many, whole tiles leave too many SMs idle."""
MULTIPLICATIONS_A_US = 2.9e6
"""Of an SM in 16-bit types: 768 TFLOP/s on 132 SMs, measured at 4096³."""
MEMORY_BYTES_A_US = 4.2e6
"""Measured by a copy, bytes read plus written."""
L2_BYTES_A_US = 11.5e6
"""What 4096³ in tiles of 128 x 128 draws from the L2 cache, measured."""
NARROW_RATE = 0.85
"""A narrow kernel's multiplications, relative to the above; assumed: no measured product is bound
by them.
"""
SM_BYTES_A_US = 116e3
"""What lands in the shared memory of one SM at most: 64 bytes a clock."""
LATENCY_US = 1.08
"""From a copy's start to its end on a busy card: so long what is in flight has to last."""
START_US, WAVE_US, ALONE_US = 1.6, 1.2, 1.0
"""What a launch adds to the one before it, what each further wave of CTAs does, and what it costs
that no CTA of the next launch has room beside this one's.
"""
CROWDED = 0.67
"""How much longer memory takes where some SMs have more CTAs than others: early launches fill what
places are left, so that few more CTAs than SMs, with room for many, lie unevenly.
"""
CLUSTER_US = {1: 0.0, 2: 0.2, 4: 2.7, 8: 4.0}
"""By CTAs of a cluster: four or more find no room at once while the launch before runs."""
PEER_BYTES_A_US = 16.5e3
"""What one SM can draw from the shared memory of others."""


def narrow_candidates(m: int, n: int) -> Iterator[Narrow]:
    """Every shape for C [m, n] with m >= n, each with all the shared memory that it can use for
    one CTA on an SM, and for two; tiles of 256 rows only where there are many columns, as too few
    of them draw on the memory.
    """
    tile_n = next((columns for columns in COLUMNS if columns >= n), 128)
    counts = (1, 2, 4, 8)
    heights = (64, 128, 256) if tile_n > FEW_COLUMNS else (64, 128)
    for tile_m, depth, parts, peers in product(heights, (1, 2), counts, counts):
        alone = tile_n < 32 or tile_m * peers >= 2 * m
        if parts * peers > CLUSTER_LIMIT or (peers > 1 and alone):
            continue
        line = (tile_m + max(tile_n, ROWS)) * LINE_BYTES
        for ctas in (1, 2):
            stages = (SHARED_LIMIT_BYTES // ctas - BARRIER_BYTES) // (depth * line)
            with suppress(ValueError):  # too many sums for the registers, or too little room
                yield Narrow(tile_m, tile_n, stages, depth, parts, peers)


def narrow_us(shape: Narrow, sm_count: int, m: int, n: int, k: int) -> float:
    """What C [m, n] over k takes, in microseconds, one launch right after another."""
    ctas = shape.grid(m, n)
    lines = math.ceil(k / shape.tile_k / shape.parts) * shape.depth
    landed = lines * (shape.a_bytes + shape.b_bytes)
    drawn = lines * (shape.a_bytes + shape.b_bytes / shape.peers)
    slots = SHARED_LIMIT_BYTES // (shape.shared_bytes + BARRIER_BYTES)
    places, busiest = sm_count * slots, -(-ctas // sm_count)
    flying = min(busiest, slots) * (shape.stages - 1) * shape.stage_bytes
    multiplications = busiest * lines * shape.line_k * shape.tile_m * shape.tile_n
    crowded = CROWDED * (places - ctas) / (places - sm_count) if sm_count < ctas < places else 0.0
    us = START_US + _longest(
        _memory_us(m, n, k) * (1 + crowded),
        ctas * drawn / L2_BYTES_A_US,
        busiest * landed / min(SM_BYTES_A_US, flying / LATENCY_US),
        multiplications / MULTIPLICATIONS_A_US / NARROW_RATE,
    )
    us += (-(-ctas // places) - 1) * WAVE_US + CLUSTER_US[shape.cluster]
    if 2 * ctas > places:
        us += ALONE_US
    if shape.parts > 1:
        us += 4 * shape.tile_m * shape.tile_n / PEER_BYTES_A_US
    return us


def tiling_us(one: Candidate, sm_count: int, m: int, n: int, k: int) -> float:
    """What an m x n product over k takes by a tiling, in microseconds."""
    multiplying = cost(one, sm_count, m, n, k) / MULTIPLICATIONS_A_US
    return TILES_START_US + _longest(multiplying, _memory_us(m, n, k), power=4)


def _memory_us(m: int, n: int, k: int) -> float:
    """All matrices once, 2 bytes an element."""
    return 2 * (k * (m + n) + m * n) / MEMORY_BYTES_A_US


def _longest(*us: float, power: int = 10) -> float:
    """Of things that overlap: the longest, and a little of the others."""
    return float(sum(one**power for one in us) ** (1 / power))


def ranked(sm_count: int, m: int, n: int, k: int) -> list[Choice]:
    """All choices for an m x n product over k, the cheapest first: tilings, and narrow shapes where
    there are few columns, few rows or few tiles.
    """
    found: list[tuple[float, Choice]] = [
        (tiling_us(one, sm_count, m, n, k), one.tiling)
        for whole in CANDIDATES
        for one in (whole, *splits(whole, sm_count, m, n, k))
    ]
    few_tiles = Tiling(128, 128).tiles(m, n) <= FEW_TILES * sm_count
    if min(m, n) <= FEW_COLUMNS or few_tiles:
        long, short = max(m, n), min(m, n)
        found += [
            (narrow_us(shape, sm_count, long, short, k), shape)
            for shape in narrow_candidates(long, short)
        ]
    return [choice for _, choice in sorted(found, key=lambda one: one[0])]
