"""What products on Hopper's tensor cores take, in microseconds: a short model of each kernel.

The times are those of one launch right after another, inputs from memory. Of what overlaps, the
model takes a norm: the longest counts, and the others the more the nearer they come to it.

The constants are fitted to 21,000 times of 517 products of random sizes, layouts and alignments, in
bf16 on an H200 (:mod:`benchmarks.choices`, :mod:`benchmarks.fit`). The first choice takes 2.5%
longer than the fastest one, in the geometric mean, and 2.6% of 183 products that were recorded
after the fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ptxgemm.cut import cut
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import BARRIER_BYTES, LINE_BYTES, ROWS, SHARED_LIMIT_BYTES, Tiling

DEPTH = LINE_BYTES // 2
"""16-bit elements of a K step."""


@dataclass(frozen=True)
class Lies:
    """How A or B lies in memory."""

    along_k: bool = True
    odd: bool = False
    """Tensor copies do not take it: it is padded first or, by narrow kernels, copied by units."""
    straddles: bool = False
    """Its lines start anywhere in a cache line, so that one of a box touches two."""

    @property
    def touched(self) -> int:
        """Cache lines for each line of a box."""
        return 2 if self.straddles and not self.odd else 1


@dataclass(frozen=True)
class Sizes:
    """A product C [m, n] of A [m, depth] and B [depth, n] on a GPU of so many SMs."""

    sm_count: int
    m: int
    n: int
    depth: int
    """K in elements of 16 bits."""
    a: Lies = Lies()
    b: Lies = Lies()

    @property
    def turned(self) -> Sizes:
        """The transposed product."""
        return replace(self, m=self.n, n=self.m, a=self.b, b=self.a)

    @property
    def memory_us(self) -> float:
        """All matrices once, 2 bytes an element."""
        m, n, k = self.m, self.n, self.depth
        return 2 * (k * (m + n) + m * n) / MEMORY_BYTES_A_US


@dataclass(frozen=True)
class Candidate:
    """A tiling, and how fast its main loop is."""

    tiling: Tiling
    rate: float
    """Multiplications, relative to the others', where nothing else bounds them."""


# ---------------------------------------------------------------- the card

MULTIPLICATIONS_A_US = 3.6e6
"""Of an SM in 16-bit types."""
SUSTAINED_A_US, SHARED = 3.3e6, 1.15
"""The same, as the card's power allows while all SMs are busy, and how much more of it goes into
tiles that warpgroups share.
"""
MEMORY_BYTES_A_US = 5.59e6
"""More than the memory gives: some of the inputs are still in the L2 cache."""
LINE_US, LINES_US = 7.97e-4, 8.14e-6
"""A cache line on its way to an SM, and to any of them."""


def reached(cluster: int, sm_count: int) -> int:
    """SMs that clusters of so many CTAs run on. Those of four and of eight do not fill an H200: its
    driver finds places for 30 and for 15 of them on 132 SMs.
    """
    return sm_count if cluster <= 2 else max(1, sm_count * 10 // 11)


# ---------------------------------------------------------------- whole tiles

START_US = 0.851
"""What a launch adds to the one before it."""
CLUSTER_US = 0.84
"""How much more one of clusters adds."""
WRITTEN_BYTES_A_US = 28.6e3
"""C leaves an SM so fast; where warpgroups take turns that is hidden, but for the last tile."""
STEP_POWER, TILES_POWER = 5.71, 1.69
"""Of the norms: over a K step's parts, over multiplying and memory."""
LIMIT_POWER = 3.7
"""Of that over a kernel's time and what power allows: nearly the longer of both."""
COUNTING_US, PART_BYTES_A_US, PARTS_BYTES_A_US = 3.3, 694e3, 4.66e6
"""What it costs that the parts of tiles meet: that they are counted, that one warpgroup reads those
of a tile, and that all of them are written and read at one time."""


def tiling_us(one: Candidate, sizes: Sizes) -> float:
    """By whole tiles or, the last ones, by parts of them, as the tiling says."""
    tiling = one.tiling
    slots = clusters(tiling, sizes.sm_count)
    full, rest = divmod(tiling.tiles(sizes.m, sizes.n), slots)
    steps = -(-sizes.depth // DEPTH)
    written = 2 * tiling.tile_m * tiling.tile_n / WRITTEN_BYTES_A_US
    between = 0.0 if tiling.alternate else written
    us = full * (steps * _step_us(one, sizes, slots) + between)
    if rest:
        last = cut(tiling, sizes.m, sizes.n, sizes.depth, slots * tiling.cluster_size)
        parts, of_part = (last.parts, last.per_part) if last else (1, steps)
        rows = last_rows(tiling, sizes.m, sizes.n, rest)
        turns = -(-rest * parts // slots)
        step = _step_us(one, sizes, min(rest * parts, slots)) * rows / tiling.tile_m
        us += turns * (of_part * step + between)
        if last:
            tile_bytes = 4 * rows * tiling.cluster_size * tiling.tile_n * parts
            us += COUNTING_US
            us += tile_bytes * (1 / PART_BYTES_A_US + 2 * rest / PARTS_BYTES_A_US)
    if tiling.alternate:
        us += written
    tiles = tiling.tiles(sizes.m, sizes.n) * tiling.cluster_size
    every = tiles * tiling.tile_m * tiling.tile_n * sizes.depth / sizes.sm_count
    sustained = every * (SHARED if tiling.halves_rows else 1.0) / SUSTAINED_A_US
    us = _norm(LIMIT_POWER, us, sustained)
    start = START_US + (CLUSTER_US if tiling.cluster_size > 1 else 0.0)
    return start + _norm(TILES_POWER, us, sizes.memory_us)


def _step_us(one: Candidate, sizes: Sizes, running: int) -> float:
    """A K step of a tile, while so many clusters run."""
    tiling = one.tiling
    multiplications = tiling.tile_m * tiling.tile_n * DEPTH
    lines = tiling.tile_m * sizes.a.touched / tiling.cluster_n
    lines += tiling.tile_n * sizes.b.touched / tiling.cluster
    return _norm(
        STEP_POWER,
        multiplications / (one.rate * MULTIPLICATIONS_A_US),
        lines * LINE_US,
        running * tiling.cluster_size * lines * LINES_US,
    )


def clusters(tiling: Tiling, sm_count: int) -> int:
    """That run at once."""
    return tiling.clusters(reached(tiling.cluster_size, sm_count))


def last_rows(tiling: Tiling, m: int, n: int, rest: int) -> int:
    """Rows that the last wave, of so many tiles, takes the time of: where all are of C's last row
    of tiles, warpgroups that take turns skip what 64 rows of it are beyond C. Columns beyond C are
    multiplied; as the last column's tiles lie among others in a wave, skipping them would gain
    nothing. Where B goes by registers, all rows are columns of one wgmma.
    """
    height = tiling.tile_m * tiling.cluster
    above, columns = (m - 1) // height, -(-n // (tiling.tile_n * tiling.cluster_n))
    lowest = 1 if above % tiling.group else columns
    if not tiling.alternate or tiling.by_registers or rest > lowest:
        return tiling.tile_m
    return min(-(-(m - above * height) // ROWS) * ROWS, tiling.tile_m)


# ---------------------------------------------------------------- few columns, few tiles

NARROW_START_US, WAVE_US = 0.595, 5.7
"""What a launch adds to the one before it, and what each further wave of CTAs does."""
NARROW_CLUSTER_US = 0.798
"""How much more a launch of clusters adds."""
NARROW_RATE, UNITS_RATE = 1.01, 0.459
"""Multiplications, relative to whole tiles', by tensor copies and, where reading A and multiplying
it take turns, by units."""
SM_BYTES_A_US = 171e3
"""What lands in the shared memory of one SM at most."""
NARROW_LINE_US, NARROW_LINES_US = 8.68e-4, 8.16e-6
LATENCY_US = 0.784
"""From a copy's start to its end on a busy card: so long what is in flight has to last."""
HELD, HELD_TOGETHER = 1.98, 1.33
"""Stages that are not in flight; of peers, who wait for each other, the second."""
ALONE = 0.216
"""How much longer memory takes where no CTA of the next launch has room beside this one's."""
FULL_US = 0.1
"""For all shared memory of the card, which decides between what is equal else."""
PEER_BYTES_A_US = 58.2e3
"""What one SM can draw from the shared memory of others."""
NARROW_WRITTEN_BYTES_A_US = 15.6e3
"""C leaves an SM so fast."""
UNITS_BYTES_A_US = 59.4e3
"""What a CTA that copies by units lands in its shared memory."""
UNITS_SLOTS = 2
"""CTAs of an SM that their registers leave room for then."""
NARROW_POWER = 6


def narrow_us(shape: Narrow, sizes: Sizes) -> float:
    """By a narrow kernel, of a product of no more columns than rows."""
    by_units = shape.a_copy == "units"
    ctas = shape.grid(sizes.m, sizes.n)
    lines = math.ceil(sizes.depth / shape.tile_k / shape.parts) * shape.depth
    b_lines = shape.tile_n if sizes.b.along_k else -(-shape.tile_n // ROWS) * ROWS
    landed = lines * LINE_BYTES * (shape.tile_m + b_lines)
    touched = shape.tile_m * sizes.a.touched + b_lines * sizes.b.touched / shape.peers
    slots = SHARED_LIMIT_BYTES // (shape.shared_bytes + BARRIER_BYTES)
    memory, rate = sizes.memory_us, NARROW_RATE
    if by_units:
        slots, rate = min(slots, UNITS_SLOTS), UNITS_RATE
    sms = reached(shape.cluster, sizes.sm_count)
    places, busiest = sms * slots, -(-ctas // sms)
    held = HELD if shape.peers == 1 else HELD_TOGETHER
    flying = min(busiest, slots) * max(shape.stages - held, held / 2) * shape.stage_bytes
    multiplications = busiest * lines * DEPTH * shape.tile_m * shape.tile_n
    us = NARROW_START_US + _norm(
        NARROW_POWER,
        memory,
        ctas * lines * touched * NARROW_LINES_US,
        busiest * lines * touched * NARROW_LINE_US,
        busiest * landed / min(SM_BYTES_A_US, flying / LATENCY_US),
        multiplications / (rate * MULTIPLICATIONS_A_US),
        ctas * multiplications / busiest / sizes.sm_count * SHARED / SUSTAINED_A_US,
        -(-ctas // places) * landed / UNITS_BYTES_A_US if by_units else 0.0,
    )
    us += 2 * busiest * shape.tile_m * shape.tile_n / NARROW_WRITTEN_BYTES_A_US
    us += (-(-ctas // places) - 1) * WAVE_US
    us += NARROW_CLUSTER_US if shape.cluster > 1 else 0.0
    us += ALONE * memory if 2 * ctas > places else 0.0
    us += FULL_US * min(ctas, places) * shape.shared_bytes / (sizes.sm_count * SHARED_LIMIT_BYTES)
    if shape.parts > 1:
        us += 4 * shape.tile_m * shape.tile_n / PEER_BYTES_A_US
    return us


# ---------------------------------------------------------------- copies before

PADDING_US, PADDED_BYTES_A_US = 3.63, 4.91e6
"""A launch that pads, and what it reads and writes."""
TURNING_US = 3.0
"""What a transposing copy takes beside its bytes, which go at the memory's rate: tf32 along N at
2048³, 4096³, 6144³ and 8192³ takes 9, 34, 70 and 112 us longer than along K.
"""


def padding_us(elements: int) -> float:
    """A launch that pads so many elements of 16 bits; none for none."""
    return PADDING_US + 4 * elements / PADDED_BYTES_A_US if elements else 0.0


def turning_us(n: int, depth: int) -> float:
    """What it takes to transpose a B of n columns and `depth` elements of 16 bits."""
    return TURNING_US + 4 * n * depth / MEMORY_BYTES_A_US


def _norm(power: float, *us: float) -> float:
    """Of things that overlap: the longest, and a little of the others."""
    longest = max(us)
    return float(longest * math.fsum((one / longest) ** power for one in us) ** (1 / power))
