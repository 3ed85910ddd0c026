"""What a tensor-core kernel for Hopper is made of, as data that checks itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ptx.geometry import PORTABLE_CLUSTER
from ptxgemm.given import make_whole

ROWS = 64
"""Rows of one wgmma, and columns of a 128-byte line of 16-bit elements."""
WIDEST = 256
"""Columns of one wgmma at most."""
WARPGROUP = 128
"""Threads."""
LINE_BYTES = 128
"""A row of a tile in shared memory: the span of the widest swizzle, and the depth of a K step."""
SLICE_BYTES = 32
"""The depth of one wgmma."""
SLICES = LINE_BYTES // SLICE_BYTES
"""Of a K step."""
ATOM_BYTES = 8 * LINE_BYTES
"""Eight rows, after which the swizzle repeats."""
SHARED_LIMIT_BYTES = 227 * 1024
"""What a CTA can have on Hopper."""
BARRIER_BYTES = 1024
"""Set aside for mbarriers: dynamic shared memory starts at the next multiple of an atom."""
ROOM_BYTES = SHARED_LIMIT_BYTES - BARRIER_BYTES
"""What is left for stages and sums."""
SUMS_LIMIT, PROMOTED_LIMIT = 128, 192
"""Accumulators of a thread, and of one that has them twice: with two consumer warpgroups 232
registers are left to each thread. 192 sums of its own leave too few for odd stores.
"""


@dataclass(frozen=True)
class Element:
    """A type of A and B."""

    bytes: int
    sum: str
    """The accumulator's type."""
    map: str
    """The word for it in a tensor map."""


ELEMENTS = {
    "bf16": Element(2, "f32", "bf16"),
    "f16": Element(2, "f32", "f16"),
    "tf32": Element(4, "f32", "f32"),
    "e4m3": Element(1, "f32", "u8"),
    "e5m2": Element(1, "f32", "u8"),
    "s8": Element(1, "s32", "u8"),
    "u8": Element(1, "s32", "u8"),
}
OUT_BYTES = {"bf16": 2, "f16": 2, "f32": 4, "e4m3": 1, "e5m2": 1, "s32": 4, "s8": 1}
FLOATS = ("bf16", "f16", "f32", "e4m3", "e5m2")
OUTS = {"f32": FLOATS, "f16": FLOATS, "s32": ("s32", "s8", "bf16", "f16", "f32")}
"""By the sums' type, what C may be. All is rounded to nearest even; 8-bit types saturate, the other
floats overflow to infinity. From integers come ``s32`` as it is, modulo 2**32 if scaled, ``s8``
saturated, and the other types, and a scaled ``s8``, by way of float32."""

Major = Literal["k", "mn"]
Store = Literal["tensor", "units", "vectors", "elements"]
Accumulate = Literal["native", "half", "promoted"]


COUNTS = (
    "tile_m", "tile_n", "stages", "cluster", "group", "cluster_n", "parts", "last_slices",
)  # fmt: skip
"""Fields of a tiling that are integers."""


def room_for(stages: int) -> str:
    """How many stages a CTA has room for, to be told."""
    return f"room for {stages}" if stages > 1 else "too few for the 2 that a product takes"


@dataclass(frozen=True)
class Tiling:
    """How a product is cut up, and in which types and layouts it lies.

    A CTA multiplies tiles of ``tile_m x tile_n`` one after another. One warpgroup loads, two
    multiply: each half the rows of every tile or, with ``alternate``, every other tile alone, so
    that one stores while the other multiplies. Where B goes by registers, each has half the columns
    of every tile.
    """

    tile_m: int = 128
    tile_n: int = 256
    stages: int = 4
    """K steps in shared memory at once; each is 128 bytes deep."""
    cluster: int = 1
    """CTAs of a cluster, one below the other, that load each tile of B together (multicast)."""
    group: int = 16
    """Rows of tiles (of cluster tiles) that are swept together, for the L2 cache's sake."""
    alternate: bool = False
    cluster_n: int = 1
    """CTAs of a cluster, one beside the other, that load each tile of A together."""
    a: str = "bf16"
    b: str = "bf16"
    out: str = "bf16"
    a_major: Major = "k"
    """``"k"``: A is [M, K], row-major; ``"mn"``: it is stored as [K, M]."""
    b_major: Major = "mn"
    """``"mn"``: B is [K, N], row-major; ``"k"``: it is stored as [N, K]."""
    store: Store = "tensor"
    """``"tensor"``: by tensor copies, for a C whose base, pitch and rows are multiples of 16 bytes;
    ``"units"``: by aligned units of 16 bytes and what is left at the ends of rows, for any C. Where
    B goes by registers, ``"vectors"`` and ``"elements"``: straight from those of the sums, for the
    same."""
    accumulate: Accumulate = "native"
    """``"native"``: sums stay in the tensor core: in float32, for 8-bit floats with 14 bits;
    ``"half"``: in float16, of f16 alone; ``"promoted"``: those of 128 elements of K of 8-bit floats
    are added up in float32."""
    scaled: bool = False
    """Whether there are alpha and beta; else C = A B."""
    parts: int = 1
    """Parts in which K of the tiles of the last wave is cut; see :mod:`ptxgemm.cut`."""
    last_slices: int = SLICES
    """Slices of the last K step that are multiplied, all or those that hold data."""

    def __post_init__(self) -> None:
        make_whole(self, COUNTS)
        self._check_types()
        rows = 2 * ROWS if self.halves_rows else ROWS
        if self.tile_m % rows or self.tile_m < rows:
            who = "two warpgroups have" if self.halves_rows else "one warpgroup has"
            raise ValueError(f"tile_m is {self.tile_m}; {who} multiples of {rows} rows")
        self._check_registers()
        line = max(ROWS, LINE_BYTES // self.out_bytes) if self.store == "tensor" else ROWS
        if self.tile_n % line or not line <= self.tile_n <= 256:
            raise ValueError(f"tile_n is {self.tile_n}; expected a multiple of {line} up to 256")
        limit = PROMOTED_LIMIT if self.accumulate == "promoted" else SUMS_LIMIT
        if self.accumulators > limit:
            raise ValueError(
                f"{self.rows} x {self.tile_n} sums of a warpgroup take {self.accumulators} "
                f"registers of each thread; there are {limit}"
            )
        for name, ctas in (("cluster", self.cluster), ("cluster_n", self.cluster_n)):
            if ctas not in (1, 2, 4):
                raise ValueError(f"{name} is {ctas}; expected 1, 2 or 4")
        if self.cluster_size > PORTABLE_CLUSTER:
            raise ValueError(
                f"cluster is {self.cluster} and cluster_n {self.cluster_n}; a cluster has at most "
                f"{PORTABLE_CLUSTER} CTAs"
            )
        if self.parts < 1:
            raise ValueError(f"parts is {self.parts}; expected 1 or more")
        if not 1 <= self.last_slices <= SLICES:
            raise ValueError(f"last_slices is {self.last_slices}; a K step has 1 to {SLICES}")
        if self.stages < 2 or self.group < 1:
            raise ValueError(f"stages is {self.stages} and group {self.group}; at least 2 and 1")
        if self.shared_bytes > ROOM_BYTES:
            most = (ROOM_BYTES - self.staging_bytes) // self.stage_bytes
            raise ValueError(
                f"{self.stages} stages of {self.stage_bytes} bytes and {self.staging_bytes} for C "
                f"are {self.shared_bytes}; a CTA has {ROOM_BYTES}, {room_for(most)}"
            )

    def _check_types(self) -> None:
        for name, value, known in (
            ("a", self.a, tuple(ELEMENTS)), ("b", self.b, tuple(ELEMENTS)),
            ("out", self.out, tuple(OUT_BYTES)), ("a_major", self.a_major, ("k", "mn")),
            ("b_major", self.b_major, ("k", "mn")),
            ("store", self.store, ("tensor", "units", "vectors", "elements")),
            ("accumulate", self.accumulate, ("native", "half", "promoted")),
            ("alternate", self.alternate, (False, True)), ("scaled", self.scaled, (False, True)),
        ):  # fmt: skip
            if value not in known:
                raise ValueError(f"{name} is {value!r}; expected {', '.join(map(str, known))}")
        pairs = ({"e4m3", "e5m2"}, {"s8", "u8"})
        if self.a != self.b and {self.a, self.b} not in pairs:
            raise ValueError(f"wgmma multiplies no {self.a} by {self.b}")
        if self.accumulate == "half" and self.a != "f16":
            raise ValueError(f"sums of {self.a} are not kept in f16")
        if self.accumulate == "promoted" and self.a not in ("e4m3", "e5m2"):
            raise ValueError(f"sums of {self.a} need no promotion: it is for e4m3 and e5m2")
        if self.out not in OUTS[self.sum]:
            raise ValueError(
                f"sums of {self.a} are {self.sum} and become {', '.join(OUTS[self.sum])}; out is "
                f"{self.out}"
            )
        for name, major in (("a_major", self.a_major), ("b_major", self.b_major)):
            if major == "mn" and self.element.bytes != 2 and not self.by_registers:
                raise ValueError(f'{name} is "mn"; wgmma takes {self.a} along K only')
        if self.a_major == "mn" and self.by_registers:
            raise ValueError(f'a_major is "mn"; wgmma takes {self.a} along K only')

    def _check_registers(self) -> None:
        direct = self.store in ("vectors", "elements")
        if not self.by_registers:
            if direct:
                raise ValueError(f"store is {self.store!r}; that is for a B that goes by registers")
            return
        wanted: dict[str, Any] = {
            "tile_n": 2 * ROWS,
            "cluster": 1,
            "cluster_n": 1,
            "parts": 1,
            "alternate": False,
            "out": "f32",
            "accumulate": "native",
        }
        for name, value in wanted.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; where B goes by registers it is {value!r}"
                )
        if self.tile_m > WIDEST:
            raise ValueError(f"tile_m is {self.tile_m}; where B goes by registers at most {WIDEST}")
        if self.stages < 3:
            raise ValueError(f"stages is {self.stages}; where B goes by registers at least 3")
        if not direct:
            raise ValueError(f"store is {self.store!r}; a B that goes by registers has no staging")

    # ------------------------------------------------------------ types

    @property
    def element(self) -> Element:
        return ELEMENTS[self.a]

    @property
    def by_registers(self) -> bool:
        """Whether B goes to the tensor core through registers, as the left operand of the
        transposed product (:mod:`ptxgemm.kernels.registers`): tf32 along N, which wgmma does not
        read from shared memory.
        """
        return self.a == "tf32" and self.b_major == "mn"

    @property
    def sum(self) -> str:
        """The type of the tensor core's sums."""
        return "f16" if self.accumulate == "half" else self.element.sum

    @property
    def by_way_of_floats(self) -> bool:
        """Whether sums become float32 before they are rounded."""
        if self.sum == "s32":
            return self.out != "s32" and (self.out != "s8" or self.scaled)
        return not self.holds_pairs

    @property
    def holds_pairs(self) -> bool:
        """Whether sums lie in registers as C does, two in each."""
        return self.sum == self.out == "f16" and not self.scaled

    @property
    def out_bytes(self) -> int:
        return OUT_BYTES[self.out]

    @property
    def instruction(self) -> str:
        """The wgmma, as PTX spells it."""
        depth = SLICE_BYTES // self.element.bytes
        shape = f"m{ROWS}n{self.tile_m if self.by_registers else self.tile_n}k{depth}"
        return f"wgmma.mma_async.sync.aligned.{shape}.{self.sum}.{self.a}.{self.b}"

    # ------------------------------------------------------------ threads

    @property
    def threads(self) -> int:
        return 3 * WARPGROUP

    @property
    def halves_rows(self) -> bool:
        """Whether each warpgroup multiplies half of a tile's rows, neither all of them nor, where B
        goes by registers, half of its columns.
        """
        return not self.alternate and not self.by_registers

    @property
    def rows(self) -> int:
        """Rows of a tile that one warpgroup multiplies."""
        return self.tile_m // 2 if self.halves_rows else self.tile_m

    @property
    def sums(self) -> int:
        """Registers of each thread that the tensor core adds to; of float16, two sums in each."""
        threads = WARPGROUP if self.alternate else 2 * WARPGROUP
        return self.tile_m * self.tile_n // threads // (2 if self.sum == "f16" else 1)

    @property
    def accumulators(self) -> int:
        """Registers of each thread for sums; promoted ones lie beside the tensor core's."""
        return self.sums * (2 if self.accumulate == "promoted" else 1)

    # ------------------------------------------------------------ shared memory

    @property
    def tile_k(self) -> int:
        """Elements of a K step."""
        return LINE_BYTES // self.element.bytes

    def slices_of_last(self, k: int) -> int:
        """Slices of the last K step that hold data, if K is so many elements. Where B goes by
        registers K steps are even in number, and of one that holds no data there is a slice too.
        """
        slices = -(-k * self.element.bytes // SLICE_BYTES)
        if self.by_registers:
            return max(1, (slices - 1) % (2 * SLICES) + 1 - SLICES)
        return (slices - 1) % SLICES + 1

    @property
    def a_bytes(self) -> int:
        return self.tile_m * LINE_BYTES

    @property
    def b_bytes(self) -> int:
        return self.tile_n * LINE_BYTES

    @property
    def stage_bytes(self) -> int:
        return self.a_bytes + self.b_bytes

    @property
    def staged_columns(self) -> int:
        """Columns of C that a warpgroup puts into shared memory at once: two lines, or one where
        the tile is no multiple of two.
        """
        two = 2 * LINE_BYTES // self.out_bytes
        return two // 2 if self.tile_n > two and self.tile_n % two else min(self.tile_n, two)

    @property
    def staging_pitch(self) -> int:
        """Bytes from one staged row to the next. What tensor copies read is swizzled; else 16 more
        than a row has, so that neighbouring rows start in different banks.
        """
        if self.store == "tensor":
            return LINE_BYTES
        return self.staged_columns * self.out_bytes + 16

    @property
    def staging_bytes(self) -> int:
        """Of both warpgroups together."""
        if self.by_registers:
            return 0
        if self.store == "tensor":
            return 2 * ROWS * self.staged_columns * self.out_bytes
        return 2 * ROWS * self.staging_pitch

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a launch."""
        return self.stages * self.stage_bytes + self.staging_bytes

    # ------------------------------------------------------------ launches

    @property
    def cluster_size(self) -> int:
        """CTAs of a cluster."""
        return self.cluster * self.cluster_n

    def tiles(self, m: int, n: int) -> int:
        """Tiles of an m x n product; those of a cluster count as one."""
        rows = -(-m // (self.tile_m * self.cluster))
        return rows * -(-n // (self.tile_n * self.cluster_n))

    def clusters(self, sm_count: int) -> int:
        """That run at once."""
        return max(1, sm_count // self.cluster_size)

    def grid(self, m: int, n: int, sm_count: int, items: int | None = None) -> int:
        """CTAs: as many as run at once, or as there are tiles, or items of work where some are
        parts of tiles.
        """
        return min(self.clusters(sm_count), items or self.tiles(m, n)) * self.cluster_size

    @property
    def split(self) -> bool:
        """Whether some tiles are cut along K."""
        return self.parts > 1

    @property
    def compiled(self) -> Tiling:
        """That of the kernel, which takes any number of parts."""
        return replace(self, parts=2) if self.split else self


def by_registers(tile_m: int, stages: int, group: int) -> Tiling:
    """Tiles of products whose B goes to the tensor core through registers."""
    return Tiling(
        tile_m, 2 * ROWS, stages, group=group, a="tf32", b="tf32", out="f32", store="vectors"
    )  # fmt: skip
