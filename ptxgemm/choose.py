"""Which tiles for which product on Hopper's tensor cores: a short model of what each choice costs.

Where a choice was measured for a product (:mod:`ptxgemm.choices`), that one counts instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
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
START_AND_END = 192
"""What filling the ring and writing the last tile cost, in elements of K."""


def tiling(
    sm_count: int, m: int, n: int, depth: int, candidates: tuple[Candidate, ...] = CANDIDATES
) -> Tiling:
    """The cheapest tiling for an m x n product over `depth` 16-bit elements of K."""
    return min(candidates, key=lambda one: cost(one, sm_count, m, n, depth)).tiling


def cost(candidate: Candidate, sm_count: int, m: int, n: int, depth: int) -> float:
    """Multiplications that one SM has time for while the product runs."""
    tiling = candidate.tiling
    waves = -(-tiling.tiles(m, n) // (sm_count // tiling.cluster))
    tile = depth / candidate.rate + candidate.between
    return tiling.tile_m * tiling.tile_n * (waves * tile + START_AND_END)


# ---------------------------------------------------------------- few columns, few tiles

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
"""A narrow kernel's multiplications, relative to the above. This and what follows is assumed."""
STREAM_BYTES_A_US = 60e3
"""What one SM can draw from memory."""
LATENCY_US = 1.2
"""From a copy's start to its end on a busy card: so long a ring of stages has to last."""
START_US, CLUSTER_US, MEETING_US = 3.0, 0.15, 0.7
"""A launch with its first loads and last stores, what each doubling of a cluster costs, and the
meeting of its parts."""
PEER_BYTES_A_US = 40e3
"""What one SM can draw from the shared memory of others."""


def narrow_candidates(m: int, n: int) -> Iterator[Narrow]:
    """Every shape for C [m, n] with m >= n, each with all the shared memory that it can use for
    one CTA on an SM, and for two.
    """
    tile_n = next((columns for columns in COLUMNS if columns >= n), 128)
    counts = (1, 2, 4, 8)
    for tile_m, depth, parts, peers in product((64, 128, 256), (1, 2), counts, counts):
        alone = tile_n < 32 or tile_m * peers >= 2 * m
        if parts * peers > CLUSTER_LIMIT or (peers > 1 and alone):
            continue
        line = (tile_m + max(tile_n, ROWS)) * LINE_BYTES
        for ctas in (1, 2):
            stages = (SHARED_LIMIT_BYTES // ctas - BARRIER_BYTES) // (depth * line)
            with suppress(ValueError):  # too many sums for the registers, or too little room
                yield Narrow(tile_m, tile_n, stages, depth, parts, peers)


def narrow_us(shape: Narrow, sm_count: int, m: int, n: int, k: int) -> float:
    """What C [m, n] over k takes, in microseconds."""
    ctas = shape.grid(m, n)
    lines = math.ceil(k / shape.tile_k / shape.parts) * shape.depth
    drawn = lines * (shape.a_bytes + shape.b_bytes / shape.peers)
    slots = min(2, SHARED_LIMIT_BYTES // (shape.shared_bytes + BARRIER_BYTES))
    busiest = -(-ctas // sm_count)
    flying = min(busiest, slots) * shape.stages * shape.stage_bytes
    multiplications = busiest * lines * shape.line_k * shape.tile_m * shape.tile_n
    work = _together(
        _memory_us(m, n, k),
        ctas * drawn / L2_BYTES_A_US,
        busiest * drawn / min(STREAM_BYTES_A_US, flying / LATENCY_US),
        multiplications / MULTIPLICATIONS_A_US / NARROW_RATE,
    )
    us = -(-ctas // (sm_count * slots)) * START_US + work
    us += CLUSTER_US * (shape.cluster.bit_length() - 1)
    if shape.parts > 1:
        us += MEETING_US + 4 * shape.tile_m * shape.tile_n / PEER_BYTES_A_US
    return us


def tiling_us(one: Candidate, sm_count: int, m: int, n: int, k: int) -> float:
    """What an m x n product over k takes by whole tiles, in microseconds."""
    multiplying = cost(one, sm_count, m, n, k) / MULTIPLICATIONS_A_US
    return START_US + _together(multiplying, _memory_us(m, n, k))


def _memory_us(m: int, n: int, k: int) -> float:
    """All matrices once, 2 bytes an element."""
    return 2 * (k * (m + n) + m * n) / MEMORY_BYTES_A_US


def _together(*us: float) -> float:
    """Of things that overlap: the longest, and a little of the others."""
    return float(sum(one**4 for one in us) ** 0.25)


def ranked(sm_count: int, m: int, n: int, k: int) -> list[Choice]:
    """All choices for an m x n product over k, the cheapest first: tilings, and narrow shapes where
    there are few columns, few rows or few tiles.
    """
    found: list[tuple[float, Choice]] = [
        (tiling_us(one, sm_count, m, n, k), one.tiling) for one in CANDIDATES
    ]
    few_tiles = Tiling(128, 128).tiles(m, n) <= FEW_TILES * sm_count
    if min(m, n) <= FEW_COLUMNS or few_tiles:
        long, short = max(m, n), min(m, n)
        found += [
            (narrow_us(shape, sm_count, long, short, k), shape)
            for shape in narrow_candidates(long, short)
        ]
    return [choice for _, choice in sorted(found, key=lambda one: one[0])]
