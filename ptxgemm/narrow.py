"""Products with few columns, or with few tiles, as data that checks itself: all of K in parallel.

Such a product is bound by the bytes of its larger operand. So that operand fills the 64 rows of
``wgmma``, the other one is its N, from 8 up; the CTAs of a cluster share a tile's K, and one CTA
has most of its shared memory in flight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from ptx.isa import resolve
from ptxgemm.given import make_whole
from ptxgemm.tiling import (
    ATOM_BYTES,
    LINE_BYTES,
    OUT_BYTES,
    ROOM_BYTES,
    ROWS,
    SUMS_LIMIT,
    WARPGROUP,
    WIDEST,
    Major,
    Tiling,
    room_for,
)
from ptxgemm.tma import Operand

WIDTHS = (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256)
"""Widths of tiles that are chosen: all types have them, and few kernels suffice for any product."""
WARPGROUPS = {64: 1, 128: 2, 192: 3, 256: 2}
"""Those that multiply, by the rows of a tile."""
COLUMN_STEP = 8
"""Columns by which a wgmma grows, and after which the swizzle of B along K repeats."""
CLUSTER_LIMIT = 8
"""CTAs of a cluster that every Hopper GPU can have."""
VECTOR = 4
"""Sums that a thread fetches and writes at once."""
COUNTS = ("tile_m", "tile_n", "stages", "depth", "parts", "peers", "width")
"""Fields of a narrow shape that are integers."""


@dataclass(frozen=True)
class Lines:
    """A tile in shared memory as it lies in global memory: each line from the start of the unit of
    16 bytes that its first element is in to the end of the last one.
    """

    count: int
    length: int
    """Elements of 16 bits."""

    @property
    def units(self) -> int:
        """Of a line: one more than aligned ones would have."""
        return self.length // 8 + 1

    @property
    def pitch(self) -> int:
        """Bytes; 4 words more than a multiple of the banks, by which neighbouring lines differ."""
        return 16 * self.units

    @property
    def bytes(self) -> int:
        return self.count * self.pitch


@dataclass(frozen=True)
class Narrow:
    """How a product is cut up, and in which types and layouts it lies.

    A CTA multiplies a part of K of one tile of ``tile_m x tile_n``: one warp loads, one warpgroup
    for each 64 rows, or two for 256, multiplies. Then the CTAs of a cluster add their parts
    up in the order of K, each a share of the tile, and write C.
    """

    tile_m: int = 128
    tile_n: int = 16
    """A multiple of 8 up to 256, of 16 for integers of more than 24 columns."""
    stages: int = 8
    """K steps in shared memory at once."""
    depth: int = 1
    """Lines of 128 bytes that a K step is deep."""
    parts: int = 1
    """CTAs of a cluster that have a part of a tile's K each."""
    peers: int = 1
    """CTAs of a cluster, one tile below the other, that load each piece of B together."""
    a: str = "bf16"
    b: str = "bf16"
    out: str = "bf16"
    a_major: Major = "k"
    """``"k"``: A is [M, K], row-major; ``"mn"``: it is stored as [K, M]."""
    b_major: Major = "k"
    """``"mn"``: B is [K, N], row-major; ``"k"``: it is stored as [N, K]."""
    a_copy: Literal["tensor", "units"] = "tensor"
    """``"tensor"``: A comes by tensor copies, which take pitches and bases that are multiples of 16
    bytes; ``"units"``: by units of 16 bytes, of any pitch and base, and is multiplied out of
    registers.
    """
    c_major: Literal["m", "n"] = "n"
    """``"n"``: C is [M, N], row-major; ``"m"``: it is stored as [N, M]."""
    width: int = 1
    """Elements of C that are stored at once: 4 where its base, pitch and lines are multiples of 4
    elements.
    """
    scaled: bool = False
    """Whether there are alpha and beta; else C = A B."""

    def __post_init__(self) -> None:
        make_whole(self, COUNTS)
        for name, value, known in (
            ("tile_m", self.tile_m, tuple(WARPGROUPS)), ("depth", self.depth, (1, 2, 4)),
            ("a_copy", self.a_copy, ("tensor", "units")), ("c_major", self.c_major, ("m", "n")),
            ("width", self.width, (1, VECTOR)),
        ):  # fmt: skip
            if value not in known:
                expected = ", ".join(map(str, known))
                raise ValueError(f"{name} is {value!r}; expected {expected}")
        if self.tile_n % COLUMN_STEP or not COLUMN_STEP <= self.tile_n <= WIDEST:
            raise ValueError(
                f"tile_n is {self.tile_n}; expected a multiple of {COLUMN_STEP} up to {WIDEST}"
            )
        if self.types.sum == "s32" and not resolve(self.instruction):
            raise ValueError(f"tile_n is {self.tile_n}; wgmma has no such width for {self.a}")
        if self.types.element.bytes != 2 and self.a_copy == "units":
            raise ValueError(f"elements of {self.a} are not copied by units: that is for 16 bits")
        for name, count in (("parts", self.parts), ("peers", self.peers)):
            if count < 1 or count & (count - 1):
                raise ValueError(f"{name} is {count}; expected a power of two")
        if self.cluster > CLUSTER_LIMIT:
            raise ValueError(
                f"{self.parts} parts times {self.peers} peers are {self.cluster} CTAs; a cluster "
                f"has at most {CLUSTER_LIMIT}"
            )
        if self.b_major == "k" and self.tile_n % (COLUMN_STEP * self.peers):
            raise ValueError(
                f"tile_n / peers is {self.tile_n} / {self.peers}; each CTA loads a multiple of "
                f"{COLUMN_STEP} columns"
            )
        if self.sums > self.sums_limit:
            raise ValueError(
                f"{self.rows} x {self.tile_n} sums of a warpgroup are {self.sums} in each thread; "
                f"there are registers for {self.sums_limit}"
            )
        if self.stages < 2:
            raise ValueError(f"stages is {self.stages}; at least 2")
        if self.shared_bytes > ROOM_BYTES:
            most = ROOM_BYTES // self.stage_bytes
            raise ValueError(
                f"{self.stages} stages of {self.stage_bytes} bytes and {self.staging_bytes} for "
                f"the sums take {self.shared_bytes}; a CTA has {ROOM_BYTES}, {room_for(most)}"
            )

    # ------------------------------------------------------------ types

    @cached_property
    def types(self) -> Tiling:
        """Whole tiles of the same types, layouts and scale, which check that they go together."""
        return Tiling(
            128, 64, 2, a=self.a, b=self.b, out=self.out, a_major=self.a_major,
            b_major=self.b_major, store="units", scaled=self.scaled,
        )  # fmt: skip

    @property
    def out_bytes(self) -> int:
        return OUT_BYTES[self.out]

    @property
    def instruction(self) -> str:
        """The wgmma, as PTX spells it."""
        element = self.types.element
        shape = f"m{ROWS}n{self.tile_n}k{32 // element.bytes}"
        return f"wgmma.mma_async.sync.aligned.{shape}.{element.sum}.{self.a}.{self.b}"

    # ------------------------------------------------------------ threads

    @property
    def cluster(self) -> int:
        return self.parts * self.peers

    @property
    def warpgroups(self) -> int:
        """Those that multiply."""
        return WARPGROUPS[self.tile_m]

    @property
    def multipliers(self) -> int:
        """Threads that multiply."""
        return self.warpgroups * WARPGROUP

    @property
    def loaders(self) -> int:
        """Threads that load."""
        return 32 if self.a_copy == "tensor" else WARPGROUP

    @property
    def threads(self) -> int:
        return self.multipliers + self.loaders

    @property
    def arrivals(self) -> tuple[int, int]:
        """So many fill a stage, and so many empty it: who issues tensor copies and, of units, who
        copied some; a thread of each warpgroup or, where it reads A, of each warp.
        """
        if self.a_copy == "tensor":
            return 1, self.warpgroups * self.peers
        return 1 + self.loaders, self.multipliers // 32 * self.peers

    @property
    def rows(self) -> int:
        """Rows of a tile that one warpgroup multiplies."""
        return self.tile_m // self.warpgroups

    @property
    def sums(self) -> int:
        """Accumulators in each thread."""
        return self.rows * self.tile_n // WARPGROUP

    @property
    def sums_limit(self) -> int:
        """Accumulators that a thread has registers for: three warpgroups have 168 registers each,
        in which an A out of registers leaves no room for more than half of them; four, or three and
        a warp, have 128.
        """
        crowded = self.a_copy == "units" and self.warpgroups > 1
        if crowded:
            return SUMS_LIMIT // 2
        return SUMS_LIMIT if self.warpgroups < 3 else SUMS_LIMIT * 3 // 4

    # ------------------------------------------------------------ shared memory

    @property
    def line_k(self) -> int:
        """Elements of K in a line of shared memory."""
        return LINE_BYTES // self.types.element.bytes

    @property
    def tile_k(self) -> int:
        """Elements of a K step."""
        return self.depth * self.line_k

    @property
    def loads(self) -> tuple[Operand, Operand]:
        """A and B as one CTA loads them, a line of K at a time: of B its piece of what `peers` load
        together, columns where a column is a line, else steps of K.
        """
        a = Operand(self.a_major, self.tile_m, self.line_k)
        if self.b_major == "k":
            return a, Operand("k", self.tile_n // self.peers, self.line_k)
        return a, Operand("mn", self.b_lines, self.line_k // self.peers)

    @property
    def a_bytes(self) -> int:
        """Of a line of K; so is ``b_bytes``."""
        return self.tile_m * LINE_BYTES

    @property
    def b_lines(self) -> int:
        """Of 128 bytes: a column each, or, along N, a step of K of 64 columns, of which all that
        the tile has columns of are loaded whole.
        """
        return self.tile_n if self.b_major == "k" else -(-self.tile_n // ROWS) * ROWS

    @property
    def b_bytes(self) -> int:
        return LINE_BYTES * self.b_lines

    @property
    def unaligned(self) -> Lines:
        """The tile of A that is copied by units."""
        if self.a_major == "k":
            return Lines(self.tile_m, self.tile_k)
        return Lines(self.tile_k, self.tile_m)

    @property
    def stage_bytes(self) -> int:
        if self.a_copy == "tensor":
            return self.depth * (self.a_bytes + self.b_bytes)
        return self.depth * self.b_bytes + -(-self.unaligned.bytes // ATOM_BYTES) * ATOM_BYTES

    @property
    def b_places(self) -> tuple[int, int]:
        """Where B's first line of K lies in a stage, and the bytes from there to the next: between
        those of A, but where A is copied by units, before it.
        """
        if self.a_copy == "tensor":
            return self.a_bytes, self.a_bytes + self.b_bytes
        return 0, self.b_bytes

    @property
    def line(self) -> int:
        """Sums of a tile that lie side by side in C, and so in shared memory."""
        return self.tile_n if self.c_major == "n" else self.tile_m

    @property
    def lines(self) -> int:
        return self.tile_m * self.tile_n // self.line

    @property
    def staging_pitch(self) -> int:
        """Bytes from one staged line to the next, for which a warp's sums, as wgmma leaves them,
        fall into different banks: an odd multiple of 8 words where columns are dense, as two are
        written at once, and 4 words more than a multiple of 16 where rows are.
        """
        if self.c_major == "m":
            return 4 * (self.line + 4)
        return 4 * (self.line if self.line % 16 else self.line + 8)

    @property
    def staging_bytes(self) -> int:
        return self.lines * self.staging_pitch

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a launch: when sums are staged, the stages have been read."""
        return max(self.stages * self.stage_bytes, self.staging_bytes)

    # ------------------------------------------------------------ launches

    def clusters(self, m: int, n: int) -> int:
        return -(-m // (self.tile_m * self.peers)) * -(-n // self.tile_n)

    def grid(self, m: int, n: int) -> int:
        """CTAs of a launch, of one dimension."""
        return self.clusters(m, n) * self.cluster


def widths(n: int) -> tuple[int, ...]:
    """Of tiles for a C of n columns: the least that has them, or two of which have them, and what
    many columns are cut into.
    """
    if n <= WIDTHS[-1]:
        return (next(width for width in WIDTHS if width >= n),)
    halves = (width for width in WIDTHS if 2 * width >= n)
    return tuple(sorted({128, 256, next(halves, 256)}))


@lru_cache(maxsize=4096)
def by_units(shape: Narrow) -> Narrow | None:
    """`shape` with an A that is copied by units, in no more shared memory; None where that leaves
    no registers for the sums, or for a type that is not copied so.
    """
    try:
        made = replace(shape, a_copy="units", stages=2)
    except ValueError:
        return None
    return in_room(made, shape)


def in_room(made: Narrow, of: Narrow) -> Narrow:
    """As many stages as there is shared memory for `of` another shape, and no more than it has."""
    return replace(made, stages=max(2, min(of.stages, of.shared_bytes // made.stage_bytes)))
