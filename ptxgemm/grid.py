"""Which tiles for which product on the FP32 pipes: how long a grid keeps a GPU busy, by a model.

The model and its constants were fitted to 169 products timed on an H200, then to 39 at large and
at odd sizes, whose best it finds within a few percent: how fast an SM multiplies with so many warps
on it, and what the ends cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ptxgemm.shape import SEED, VECTOR, Shape, Staging
from ptxgemm.tail import AUTO, Tail

CLOCK = 1.98e9
FMA_A_CLOCK = 128
"""Of an SM: 65 TFLOP/s on 132 SMs."""
START_US, WAVE_US = 1.0, 1.3
"""What a launch costs, and each wave of CTAs with its first loads and last stores."""
MEETING_US = 1.3
"""What the meeting of the parts of a tile costs, besides its traffic."""
WORKSPACE_BYTES_A_US = 5e6
MIXED_GRID = 0.02
"""By how much a grid that mixes whole tiles and parts must win to be chosen where shapes are not
exact and stores are of vectors: of such only some were measured."""
MOST_PARTS = 16
WORKSPACE_LIMIT_BYTES = 256 << 20


@dataclass(frozen=True)
class Processor:
    """A GPU, as far as the choice looks at it."""

    sms: int = 132
    target: int = 90
    """Its compute capability: 75, 80, 86 ..."""
    shared_limit: int = 227 * 1024
    """Bytes of shared memory that a CTA may have."""

    @property
    def has_async(self) -> bool:
        """Whether it has cp.async."""
        return self.target >= 80


H200 = Processor()


Ends = Literal["whole", "guarded", "gathered"]
"""How tiles lie: all are whole; or not, and rows of the result take vector stores or do not."""


@dataclass(frozen=True)
class Candidate:
    """With so many warps on an SM it reaches ``rate * warps / (warps + half)`` of the peak, but
    not more than ``most``."""

    shape: Shape
    rate: float
    half: float
    most: float
    guarded: float = 1.0
    """What is left of the rate where shapes are not exact."""
    gathered: float = 0.0
    """The same where rows of the result take no vector stores; 0: as `guarded`."""
    gathered_cut: float = 0.0
    """And where tiles are cut as well; 0: as `guarded`."""
    mixed: float = 0.0
    """Waves of whole tiles that it takes longer than the model says where parts follow upon whole
    tiles; below 0: shorter."""

    def left(self, ends: Ends, cut: bool) -> float:
        """What is left of the rate."""
        if ends == "whole":
            return 1.0
        special = self.gathered_cut if cut else self.gathered
        return special if ends == "gathered" and special else self.guarded

    def speed(self, ctas: int) -> float:
        """Multiplications and additions in a microsecond, of an SM with so many CTAs."""
        warps = ctas * self.shape.warps
        share = min(self.most, self.rate * warps / (warps + self.half))
        return share * FMA_A_CLOCK * CLOCK / 1e6


def _shape(*sizes: int, staging: Staging = "registers") -> Shape:
    m, n, k, warp_m, warp_n, thread_m, thread_n, stages, ctas = sizes
    return Shape(m, n, k, warp_m, warp_n, thread_m, thread_n, stages, ctas, staging)


CANDIDATES = (
    Candidate(_shape(128, 128, 8, 64, 64, 8, 16, 2, 2), 1.40, 6.0, 0.797, 0.86, 0.97, 0.94),
    Candidate(SEED, 1.08, 6.0, 0.79, 0.97, 0.935, 0.95, -0.12),
    Candidate(_shape(128, 64, 8, 32, 64, 8, 8, 2, 4), 1.04, 6.0, 0.76, 0.96, 0.89),
    Candidate(_shape(64, 128, 8, 32, 64, 8, 8, 2, 4), 1.04, 6.0, 0.76, 0.96),
    Candidate(_shape(64, 64, 16, 32, 64, 8, 8, 3, 6, staging="async"), 0.92, 3.0, 0.70, 0.97),
    Candidate(_shape(64, 64, 16, 32, 32, 8, 4, 4, 4, staging="async"), 0.66, 1.5, 0.62, 0.97),
    Candidate(_shape(64, 64, 8, 32, 32, 8, 4, 2, 4), 0.78, 4.0, 0.62, 0.97),
    Candidate(_shape(32, 32, 32, 32, 16, 4, 4, 3, 6, staging="async"), 0.4, 2.2, 0.4, 0.97),
)


@dataclass(frozen=True)
class Tiling:
    """A grid of tiles, the last of which may have their K cut in parts, a CTA for each."""

    shape: Shape
    tiles: int
    split_tiles: int
    parts: int
    per_part: int
    """K steps in a part."""

    @property
    def whole_tiles(self) -> int:
        return self.tiles - self.split_tiles

    @property
    def ctas(self) -> int:
        return self.whole_tiles + self.split_tiles * self.parts

    @property
    def workspace_bytes(self) -> int:
        return self.split_tiles * self.parts * self.shape.cta_m * self.shape.cta_n * 4


def tiling(m: int, n: int, k: int, shape: Shape, parts: int = 1, keep: int = 0) -> Tiling:
    """All tiles but `keep` cut in at most so many parts, none of them empty."""
    tiles = -(-m // shape.cta_m) * -(-n // shape.cta_n)
    steps = max(1, -(-k // shape.cta_k))
    per_part = -(-steps // max(1, min(parts, steps)))
    parts = -(-steps // per_part)
    if parts == 1:
        return Tiling(shape, tiles, 0, 1, steps)
    return Tiling(shape, tiles, tiles - keep, parts, per_part)


def choose(
    m: int, n: int, k: int, batches: int = 1, target: Processor = H200, tail: Tail = AUTO
) -> Tiling:
    """The tiles that should be fastest, among those that the policy and the GPU can have."""
    found = []
    for number, one in enumerate(CANDIDATES):
        shape = one.shape
        if shape.staging == "async" and not target.has_async:
            continue
        if tail.edge == "zfill" and shape.staging != "async":
            continue
        whole = m % shape.cta_m == n % shape.cta_n == k % shape.cta_k == 0
        if tail.edge == "exact" and not (whole and k // shape.cta_k >= shape.ahead):
            continue
        if shape.shared_bytes > target.shared_limit:
            continue
        ends: Ends = "whole" if whole else "gathered" if n % VECTOR else "guarded"
        for cut in _cuts(m, n, k, shape, batches, target):
            found.append((_us(cut, one, ends, m, n, k, batches, target), number, cut))
    if not found:
        raise ValueError(
            f"no tiles take {m}x{n}x{k} with the edge {tail.edge}: exact needs multiples of the "
            "tile, zfill cp.async"
        )
    return min(found, key=lambda one: one[:2])[2]


def _cuts(
    m: int, n: int, k: int, shape: Shape, batches: int, target: Processor
) -> Iterator[Tiling]:
    whole = tiling(m, n, k, shape)
    yield whole
    if batches > 1:
        return
    slots = target.sms * shape.ctas_per_sm
    for keep in {0, whole.tiles // slots * slots}:
        if keep == whole.tiles or whole.tiles - keep > slots:
            continue
        for parts in range(2, MOST_PARTS + 1):
            cut = tiling(m, n, k, shape, parts, keep)
            enough = cut.per_part >= shape.ahead and cut.parts == parts
            if enough and cut.workspace_bytes <= WORKSPACE_LIMIT_BYTES:
                yield cut


def _us(
    cut: Tiling, one: Candidate, ends: Ends, m: int, n: int, k: int, batches: int,
    target: Processor,
) -> float:  # fmt: skip
    shape = cut.shape
    step = shape.cta_m * shape.cta_n * shape.cta_k
    steps = max(1, -(-k // shape.cta_k))
    slots = target.sms * shape.ctas_per_sm
    full_step = shape.ctas_per_sm * step / one.speed(shape.ctas_per_sm)
    us = START_US
    whole_tiles, cut_tiles = cut.whole_tiles * batches, cut.split_tiles * cut.parts
    mixed = bool(whole_tiles and cut_tiles)
    if mixed and ends != "guarded":
        # Whole tiles do not end at once, and parts fill what they leave, up to the last of them.
        us += (whole_tiles // slots + one.mixed) * (WAVE_US + full_step * steps)
        us += (cut_tiles / slots + 0.5) * (WAVE_US + full_step * cut.per_part)
    else:
        for ctas, length in ((whole_tiles, steps), (cut_tiles, cut.per_part)):
            waves, rest = divmod(ctas, slots)
            us += waves * (WAVE_US + full_step * length)
            if rest:
                on_one = -(-rest // target.sms)
                us += WAVE_US + on_one * step * length / one.speed(on_one)
    if cut.parts > 1:
        us += MEETING_US + 2 * cut.workspace_bytes / WORKSPACE_BYTES_A_US
    if mixed and ends == "guarded":
        us *= 1 + MIXED_GRID
    return us / one.left(ends, cut.parts > 1)
