"""Which tiles for which product: a short model of what each choice costs."""

from __future__ import annotations

from dataclasses import dataclass

from ptxgemm.tiling import Tiling


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
