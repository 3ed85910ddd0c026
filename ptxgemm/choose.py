"""Which tiles for which product on Hopper's tensor cores: a short model of what each choice costs.

Where a choice was measured for a product (:mod:`ptxgemm.choices`), that one counts instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from ptxgemm.narrow import CLUSTER_LIMIT, Narrow, by_units, widths
from ptxgemm.tiling import (
    BARRIER_BYTES,
    LINE_BYTES,
    ROWS,
    SHARED_LIMIT_BYTES,
    Tiling,
    by_registers,
)

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
    Candidate(Tiling(128, 192, stages=4, cluster=1, group=12), 1.08, 128),
    Candidate(Tiling(128, 128, stages=6, cluster=1, group=16), 1.0, 128),
    Candidate(Tiling(128, 64, stages=8, cluster=1, group=16), 0.7, 128),
)
"""For sums that are promoted, which take twice the registers; rates as measured on an H200, of wide
tiles at 4096³ to 8192³.
"""
REGISTERS = (
    Candidate(by_registers(256, stages=4, group=8), 1.0, 128),
    Candidate(by_registers(128, stages=6, group=8), 0.9, 128),
    Candidate(by_registers(64, stages=9, group=16), 0.65, 128),
)
"""For tf32 along N. By the largest tiles' rate and cost their time relative to that of 128 x 128
with B turned before is within 5% of what was measured on an H200, for 8 products of many tiles:
51 us instead of 62 at 2048³, 401 instead of 432 at 4096³, 3153 instead of 3243 at 8192³, but 113.5
instead of 110.6 at 16384 x 1024 x 1024. The other rates are assumed.
"""
TURNING_US = 3.0
"""What a transposing copy takes beside its bytes, which go at the memory's rate: tf32 along N at
2048³, 4096³, 6144³ and 8192³ takes 9, 34, 70 and 112 us longer than along K.
"""
DEPTH = LINE_BYTES // 2
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
# Fitted to 327 times of choices for 12 products on an H200, one launch right after another, those
# near the fastest counting most. What they say of the design: bytes in flight decide up to
# 5 MB on the card, not how they are cut into stages and depth; a stage that is being multiplied is
# not in flight, nor, at times, the one before. Half of the SMs draw nearly as much as all. Rings
# of twice what has to be in flight are slower, mostly by the pause between launches: it is shorter
# where the next launch's CTAs find room beside this one's, and longer for clusters of four or more.
# Two peers are never faster than one, nor any number of them in tiles of up to 64 columns.

FEW_COLUMNS = 64
"""Up to so many rows or columns of C a product is bound by the bytes of one operand."""
FEW_TILES = 1.25
"""Of 128 x 128, for each SM: up to so many, whole tiles leave too many SMs idle."""
MULTIPLICATIONS_A_US = 2.9e6
"""Of an SM in 16-bit types: 768 TFLOP/s on 132 SMs, measured at 4096³."""
MEMORY_BYTES_A_US = 4.2e6
"""Measured by a copy, bytes read plus written."""
NARROW_RATE, UNITS_RATE = 0.85, 0.6
"""A narrow kernel's multiplications, relative to the above, by tensor copies and, where reading A
and multiplying it take turns, by units; assumed: no measured product is bound by them.
"""
SM_BYTES_A_US = 138e3
"""What lands in the shared memory of one SM at most."""
L2_BYTES_A_US = 10.9e6
"""What all SMs draw from the L2 cache; 4096³ in tiles of 128 x 128 draws 11.5e6, measured."""
LATENCY_US = 0.89
"""From a copy's start to its end on a busy card: so long what is in flight has to last."""
HELD, HELD_TOGETHER = 1.25, 2.0
"""Stages that are not in flight; of peers, who wait for each other, the second."""
START_US, WAVE_US = 1.95, 1.2
"""What a launch adds to the one before it, and what each further wave of CTAs does."""
ALONE, FEW_SMS = 0.03, 0.04
"""How much longer memory takes where no CTA of the next launch has room beside this one's, and
where no more than half of the SMs have one.
"""
CROWDED = 0.28
"""How much longer it does where some SMs have more CTAs than others: early launches fill what
places are left, so that few more CTAs than SMs, with room for many, lie unevenly.
"""
CLUSTER_US = {1: 0.0, 2: 0.0, 4: 2.0, 8: 2.0}
"""By CTAs of a cluster: four or more find no room at once while the launch before runs."""
FULL_US = 0.1
"""For all shared memory of the card, which decides between what is equal else."""
PEER_BYTES_A_US = 16.3e3
"""What one SM can draw from the shared memory of others."""
UNITS = 1.45
"""How much longer memory takes where the larger operand is copied by units: from 16x14336x4095 and
1x4097x4095 beside their neighbours.
"""
UNITS_SLOTS = 2
"""CTAs of an SM that their registers leave room for then."""
PADDING_US = 2.5
"""A launch that pads, beside what it reads and writes; assumed."""


def narrow_candidates(m: int, n: int) -> Iterator[Narrow]:
    """Every shape for C [m, n] with m >= n, each with all the shared memory that it can use for
    one CTA on an SM, for two and for three; peers, and tiles of more than 128 rows, of which few
    draw on the memory, only where there are many columns.
    """
    many = n > FEW_COLUMNS
    heights = (64, 128, 192, 256) if many else (64, 128)
    for tile_n, tile_m, depth, parts, peers in product(
        widths(n), heights, (1, 2), (1, 2, 4, 8), (1, 4, 8)
    ):
        alone = not many or tile_m * peers >= 2 * m
        if parts * peers > CLUSTER_LIMIT or (peers > 1 and alone):
            continue
        line = (tile_m + tile_n) * LINE_BYTES
        for ctas in (1, 2, 3):
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
    memory, rate = _memory_us(m, n, k), NARROW_RATE
    if shape.a_copy == "units":
        memory, slots, rate = UNITS * memory, min(slots, UNITS_SLOTS), UNITS_RATE
    places, busiest = sm_count * slots, -(-ctas // sm_count)
    held = HELD if shape.peers == 1 else HELD_TOGETHER
    flying = min(busiest, slots) * max(shape.stages - held, held / 2) * shape.stage_bytes
    multiplications = busiest * lines * shape.line_k * shape.tile_m * shape.tile_n
    crowded = CROWDED * (places - ctas) / (places - sm_count) if sm_count < ctas < places else 0.0
    us = START_US + _longest(
        memory * (1 + crowded),
        ctas * drawn / L2_BYTES_A_US,
        busiest * landed / min(SM_BYTES_A_US, flying / LATENCY_US),
        multiplications / MULTIPLICATIONS_A_US / rate,
    )
    us += (-(-ctas // places) - 1) * WAVE_US + CLUSTER_US[shape.cluster]
    us += memory * (ALONE * (2 * ctas > places) + FEW_SMS * (2 * ctas <= sm_count))
    us += FULL_US * min(ctas, places) * shape.shared_bytes / (sm_count * SHARED_LIMIT_BYTES)
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


def _longest(*us: float, power: int = 12) -> float:
    """Of things that overlap: the longest, and a little of the others."""
    return float(sum(one**power for one in us) ** (1 / power))


def turning_us(n: int, k: int) -> float:
    """What it takes to transpose a B of n columns and k elements of 16 bits, in microseconds."""
    return _copy_us(TURNING_US, n * k)


def _padding_us(elements: int) -> float:
    """A launch that pads so many elements of 16 bits; none for none."""
    return _copy_us(PADDING_US, elements) if elements else 0.0


def _copy_us(launch_us: float, elements: int) -> float:
    """A launch that reads and writes so many elements of 16 bits."""
    return launch_us + 2 * 2 * elements / MEMORY_BYTES_A_US


def ranked(
    sm_count: int, m: int, n: int, k: int, odd: tuple[bool, bool] = (False, False), *,
    registers: bool = False,
) -> list[Choice]:  # fmt: skip
    """All choices for an m x n product over k, the cheapest first: tilings, and narrow shapes where
    there are few columns, few rows or few tiles. `odd` are A and B that tensor copies do not take:
    they are padded first, but narrow shapes copy the larger one by units. Where a B that tensor
    copies take may go by `registers`, all others cost the time to turn it.
    """
    padded = sum(size for size, one in zip((m * k, n * k), odd, strict=True) if one)
    found: list[tuple[float, Choice]] = [
        (tiling_us(one, sm_count, m, n, k) + _padding_us(padded), one.tiling)
        for whole in CANDIDATES
        for one in (whole, *splits(whole, sm_count, m, n, k))
    ]
    few_tiles = Tiling(128, 128).tiles(m, n) <= FEW_TILES * sm_count
    if min(m, n) <= FEW_COLUMNS or few_tiles:
        long, short = max(m, n), min(m, n)
        odd_long = odd[m < n]
        for shape in narrow_candidates(long, short):
            copied = by_units(shape) if odd_long else None
            left = padded - long * k if copied else padded
            us = narrow_us(copied or shape, sm_count, long, short, k) + _padding_us(left)
            found.append((us, shape))
    if registers:
        turning = turning_us(n, k)
        found = [(us + turning, choice) for us, choice in found]
        found += [(tiling_us(one, sm_count, m, n, k), one.tiling) for one in REGISTERS]
    return [choice for _, choice in sorted(found, key=lambda one: one[0])]
