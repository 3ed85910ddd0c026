"""What a GEMM kernel on ``mma.sync`` is made of, as data that checks itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ptx.layouts import ELEMENT_BITS
from ptxgemm.tail import AUTO, Tail

WARP = 32
CHUNK_BYTES = 16
"""What a lane copies at most at once, and the unit that swizzles move."""
ATOM_BYTES = 32
"""K that one step of the tensor cores takes: two chunks of each row."""
F64_ATOM_BYTES = 128
BLOCK_M, BLOCK_N = 16, 8
"""Rows and columns of C in one such step."""
LINE_BYTES = 128
"""The banks' span: rows of k of an operand that lies along M or N are cut into lines of it."""
BOX_ROWS = 256
"""Of one tensor copy, at most."""
FILLERS = 4
"""Warps of a fed kernel that multiply nothing: a warpgroup, as registers are handed over by."""
SHARED_LIMIT_KIB = {75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 120: 99}
"""KiB that a CTA can have, by target."""


def shared_limit(target: int) -> int:
    """Bytes of shared memory that a CTA can have."""
    return SHARED_LIMIT_KIB[max(t for t in SHARED_LIMIT_KIB if t <= target)] * 1024


Major = Literal["k", "mn"]
SUMS = {
    "f16": ("f32", "f16"), "bf16": ("f32",), "tf32": ("f32",), "f64": ("f64",), "s8": ("s32",),
    "u8": ("s32",), "s4": ("s32",), "u4": ("s32",), "b1": ("s32",), "e4m3": ("f32",),
    "e5m2": ("f32",),
}  # fmt: skip
"""Types of A and B, and their accumulators."""
OUTS = {"f32": ("f32", "f16", "bf16"), "f16": ("f16",), "s32": ("s32",), "f64": ("f64",)}
OUT_BYTES = {"f32": 4, "s32": 4, "f64": 8, "f16": 2, "bf16": 2}
NEEDS = {"bf16": 80, "tf32": 80, "f64": 80, "e4m3": 89, "e5m2": 89}
"""The compute capability that a type's products need; others 75."""
TURNED = ("f16", "bf16", "tf32", "f64", "s8", "u8", "e4m3", "e5m2")
"""Types whose tiles may lie along M or N in shared memory."""


@dataclass(frozen=True)
class Copy:
    """How an operand comes into shared memory, by pieces of some bytes."""

    major: Major = "k"
    """Along which axis it is dense in global memory, and how its tile lies in shared memory."""
    bytes: int = CHUNK_BYTES
    """Of a piece; base, pitch and, where it is not asynchronous, the dense extent are multiples."""
    asynchronous: bool = True
    """``cp.async``, which fills up with zeros, or loads under a guard and stores."""
    scattered: bool = False
    """Single elements, any distance apart along both axes, gathered into rows along K."""

    def __post_init__(self) -> None:
        if self.bytes not in (1, 2, 4, 8, 16):
            raise ValueError(f"pieces of {self.bytes} bytes; expected 1, 2, 4, 8 or 16")
        if self.asynchronous and self.bytes < 4:
            raise ValueError(f"cp.async copies 4, 8 or 16 bytes, not {self.bytes}")
        if self.scattered and (self.major != "k"):
            raise ValueError("scattered elements are gathered along K")


@dataclass(frozen=True)
class Blocking:
    """How a product is cut up, and in which types and layouts it lies.

    A CTA of ``warps_m x warps_n`` warps owns ``tile_m x tile_n`` of C. Along K it advances by
    ``lines`` times ``line_bytes``, with `stages` such steps in shared memory. A tile that is dense
    along K lies there in rows of ``line_bytes``, one that is dense along M or N in rows of 128.
    """

    tile_m: int = 128
    tile_n: int = 128
    warps_m: int = 2
    warps_n: int = 2
    line_bytes: int = 64
    lines: int = 1
    stages: int = 4
    ctas_per_sm: int = 2
    group: int = 8
    """Rows of tiles that are swept together, for the L2 cache's sake."""
    a: str = "f16"
    b: str = "f16"
    sum: str = "f32"
    out: str = "f16"
    copy_a: Copy = field(default_factory=Copy)
    copy_b: Copy = field(default_factory=Copy)
    exact: bool = False
    """M and N are multiples of the tile: nothing is asked at the edges."""
    pairs: bool = False
    """D's rows begin, and end, on multiples of two elements, which are stored together."""
    scaled: bool = False
    """D = alpha A B + beta C, with both known at the launch; C is not read where beta is 0."""
    batched: bool = False
    """A launch has many products, a batch along y."""
    op: str = "xor"
    """For b1: ``"xor"`` or ``"and"``."""
    linear: bool = False
    """Tiles lie in rows without a swizzle, padded, as ``wmma.load`` takes them."""
    fed: bool = False
    """Tensor copies by a warpgroup of its own fill the stages, and CTAs go from tile to tile
    (:mod:`ptxgemm.kernels.fed`): sm_90a."""
    eights: bool = False
    """The same as `pairs` for eight elements of 16 bits, which fed kernels store together where a
    warp has 32 columns: 2 % less time for f16 at 4096 x 4096 x 4096 on an H200."""
    tail: Tail = AUTO
    """What becomes of the ends of M, N and K. Left open: rows across the lines that are copied are
    clamped, and what of a line lies outside is filled with zeros, or loaded under a guard; copies
    of K steps that there are not are of zero bytes."""
    target: int = 80
    """The least compute capability: 75, 80 ..., one of :data:`ptxgemm.warp_gemm.TARGETS`."""

    def __post_init__(self) -> None:
        self._check_types()
        for name in ("warps_m", "warps_n", "lines"):
            value = getattr(self, name)
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name} is {value}; expected a power of two")
        for name, block in (("m", BLOCK_M), ("n", 2 * BLOCK_N)):
            tile, warps = getattr(self, f"tile_{name}"), getattr(self, f"warps_{name}")
            each = tile // warps
            # Blocks of f64 along M are told apart in addresses by sums, all others by exclusive-or.
            free = self.fed and self.a == "f64" and name == "m"
            if tile % warps or each % block or (each & (each - 1) and not free):
                raise ValueError(
                    f"tile_{name} is {tile} for {warps} warps; each has a power of two, at least "
                    f"{block}"
                )
        if self.step_bytes % self.atom_bytes:
            raise ValueError(
                f"a step of {self.step_bytes * 8 // self.bits} elements along K is no multiple of "
                f"{self.atom_bytes * 8 // self.bits}, which one mma of .{self.a} takes"
            )
        if self.line_bytes not in (64, 128):
            raise ValueError(f"line_bytes is {self.line_bytes}; expected 64 or 128")
        if self.lines > 1 and self.line_bytes < LINE_BYTES:
            raise ValueError(
                f"{self.lines} lines of {self.line_bytes} bytes are written with bank conflicts; "
                f"take lines of {LINE_BYTES}"
            )
        if self.atoms % 2:
            raise ValueError(
                f"a step has {self.atoms} atoms of {self.atom_bytes} bytes; their registers "
                "take turns, so it must be an even number"
            )
        if self.stages < 2:
            raise ValueError(f"stages is {self.stages}; at least 2")
        if self.threads > 1024:
            raise ValueError(f"{self.threads} threads; a CTA has at most 1024")
        if self.sums > 128 * 4 // OUT_BYTES[self.sum]:
            raise ValueError(f"{self.sums} sums of .{self.sum} in each thread; too many registers")
        limit = shared_limit(self.target)
        if self.dynamic_bytes > limit:
            raise ValueError(
                f"{self.stages} stages of {self.stage_bytes} bytes are {self.shared_bytes}; a CTA "
                f"on sm_{self.target} has {limit}"
            )
        if self.eights and not (self.fed and self.warp_n % 32 == 0 and OUT_BYTES[self.out] == 2):
            raise ValueError("eight elements of 16 bits are stored by fed warps of 32 columns")
        if self.fed:
            self._check_fed()
            return
        for copy, rows in ((self.copy_a, self.tile_m), (self.copy_b, self.tile_n)):
            self._check_copy(copy, rows)
        self._check_tail()

    def _check_fed(self) -> None:
        copies = (self.copy_a, self.tile_m), (self.copy_b, self.tile_n)
        along_k = self.copy_a.major == self.copy_b.major == "k"
        whole = all(
            copy.asynchronous and not copy.scattered and copy.bytes == CHUNK_BYTES
            for copy, _ in copies
        )
        if not (whole and self.tail == AUTO and self.line_bytes == LINE_BYTES):
            raise ValueError(
                "tensor copies take addresses and pitches of whole 16 bytes, lines of "
                f"{LINE_BYTES}, and no tail but their own"
            )
        if self.bits < 8 or not (along_k or self.bits in (16, 64)):
            raise ValueError(f"tensor copies of .{self.a} along K alone, and of no packed types")
        if self.target < 90 or self.sum == "f16" or self.batched or self.linear:
            raise ValueError(
                "tensor copies are for single products of mma on sm_90, no sums of f16"
            )
        if self.workers != 8 or self.ctas_per_sm != 1:
            raise ValueError(f"{self.workers} warps of {self.ctas_per_sm} CTAs; 8 of 1 are fed")
        for copy, rows in copies:
            whole_lines = copy.major == "k" or rows * self.bits // 8 % LINE_BYTES == 0
            if rows > BOX_ROWS or not whole_lines:
                raise ValueError(
                    f"{rows} rows of .{self.a}: a tensor copy has at most {BOX_ROWS}, and along "
                    f"M or N whole lines of {LINE_BYTES} bytes"
                )

    def _check_tail(self) -> None:
        tail = self.tail
        if tail.schedule not in ("auto", "guarded"):
            raise ValueError(
                f"schedule is {tail.schedule}; copies of these kernels say themselves how much of "
                "them there is, so no K step is another: schedule is guarded"
            )
        if tail.exact and not self.exact:
            raise ValueError("edge is exact, which takes whole tiles only")
        for name, copy in (("a", self.copy_a), ("b", self.copy_b)):
            if tail.edge == "zfill" and not copy.asynchronous:
                raise ValueError(
                    "edge is zfill, which needs cp.async: sm_80, and pieces of 4 bytes; "
                    f"{name} is copied by {copy.bytes} bytes on sm_{self.target}"
                )
            if tail.edge in ("predicated", "branch") and copy.asynchronous:
                raise ValueError(
                    f"edge is {tail.edge}, which is for loads; {name} is copied by cp.async, which "
                    "fills zeros in: edge is zfill"
                )

    def _check_types(self) -> None:
        if self.a not in SUMS or self.b not in SUMS:
            raise ValueError(f"A is {self.a!r}, B {self.b!r}; expected {', '.join(SUMS)}")
        mixed = {self.a, self.b}
        together = ({"s8", "u8"}, {"s4", "u4"}, {"e4m3", "e5m2"})
        if len(mixed) > 1 and not any(mixed <= some for some in together):
            raise ValueError(f"mma multiplies no .{self.a} by .{self.b}")
        if self.sum not in SUMS[self.a]:
            raise ValueError(f"sums of .{self.a} are {' or '.join(SUMS[self.a])}, not {self.sum!r}")
        if self.out not in OUTS[self.sum]:
            raise ValueError(f"sums of .{self.sum} are written as {', '.join(OUTS[self.sum])}")
        least = NEEDS.get(self.a, 75)
        if self.a == "b1" and self.op == "and":
            least = 80
        if self.target < least:
            raise ValueError(f"mma of .{self.a} needs sm_{least}; the target is sm_{self.target}")
        if self.op not in ("xor", "and"):
            raise ValueError(f'op is {self.op!r}; expected "xor" or "and"')
        if self.scaled and self.sum == "f16":
            raise ValueError("alpha and beta are for sums of f32, f64 and s32, not f16")

    def _check_copy(self, copy: Copy, rows: int) -> None:
        if copy.asynchronous and self.target < 80:
            raise ValueError(f"cp.async needs sm_80; the target is sm_{self.target}")
        if copy.bytes * 8 < self.bits:
            raise ValueError(f"pieces of {copy.bytes} bytes are less than an element of .{self.a}")
        if copy.scattered and copy.bytes * 8 != max(8, self.bits):
            raise ValueError("scattered pieces are single elements")
        if copy.major == "mn":
            if self.a not in TURNED:
                raise ValueError(f"elements of .{self.a} are packed along K; so lie their tiles")
            if rows * self.bits // 8 % LINE_BYTES:
                raise ValueError(
                    f"{rows} elements of .{self.a} are no whole lines of {LINE_BYTES} bytes"
                )
        one_to_a_thread = rows if copy.scattered else self.extent_bytes(copy, rows) // copy.bytes
        if self.pieces(copy, rows) < 1 or self.threads % one_to_a_thread:
            raise ValueError(
                f"{self.threads} threads cannot share pieces of {copy.bytes} bytes of a tile of "
                f"{rows} x {self.step_bytes} bytes"
            )

    # ------------------------------------------------------------ sizes

    @property
    def prefetch(self) -> str:
        """As the tail has it; exact shapes, whose copies have no size, end the loop early."""
        if self.tail.prefetch == "auto" and self.tail.exact:
            return "peeled"
        return self.tail.prefetch

    @property
    def ahead(self) -> int:
        """K steps that are under way while one is multiplied."""
        return self.stages - 1

    @property
    def bits(self) -> int:
        """Of an element of A or B."""
        return ELEMENT_BITS[self.a]

    @property
    def atom_bytes(self) -> int:
        """K that a group of mma takes, of each row."""
        return F64_ATOM_BYTES if self.a == "f64" else ATOM_BYTES

    @property
    def step_bytes(self) -> int:
        """K of a step, in bytes of a row."""
        return self.lines * self.line_bytes

    @property
    def tile_k(self) -> int:
        """K of a step, in elements."""
        return self.step_bytes * 8 // self.bits

    @property
    def atoms(self) -> int:
        return self.step_bytes // self.atom_bytes

    @property
    def threads(self) -> int:
        return (self.workers + (FILLERS if self.fed else 0)) * WARP

    @property
    def workers(self) -> int:
        """Warps that multiply."""
        return self.warps_m * self.warps_n

    @property
    def cluster(self) -> int:
        """CTAs below each other that share what they load."""
        return 1

    @property
    def cluster_n(self) -> int:
        """CTAs beside each other that do."""
        return 1

    @property
    def warp_m(self) -> int:
        return self.tile_m // self.warps_m

    @property
    def warp_n(self) -> int:
        return self.tile_n // self.warps_n

    @property
    def sums(self) -> int:
        """Elements of C in a thread."""
        return self.warp_m * self.warp_n // WARP

    @property
    def a_bytes(self) -> int:
        return self._tile_bytes(self.copy_a, self.tile_m)

    @property
    def b_bytes(self) -> int:
        return self._tile_bytes(self.copy_b, self.tile_n)

    def _tile_bytes(self, copy: Copy, rows: int) -> int:
        if self.linear:
            return self.outer(copy, rows) * self.row_pitch(copy, rows)
        return rows * self.step_bytes

    @property
    def padding_bytes(self) -> int:
        """Behind each row of a linear tile. With 16 bytes eight rows of a chunk lie in different
        banks; but f16 fragments of wmma must be aligned to 32, and so meet by twos."""
        return 32 if self.a == "f16" else 16

    def row_pitch(self, copy: Copy, rows: int) -> int:
        """Bytes from a row of the tile to the next, in one line of it."""
        if self.linear:
            return self.extent_bytes(copy, rows) + self.padding_bytes
        return self.line_bytes if copy.major == "k" else LINE_BYTES

    @property
    def stage_bytes(self) -> int:
        return self.a_bytes + self.b_bytes

    @property
    def shared_bytes(self) -> int:
        return self.stages * self.stage_bytes

    @property
    def dynamic_bytes(self) -> int:
        """Of dynamic shared memory: the stages, which wmma's results pass through afterwards."""
        return max(self.shared_bytes, self.threads * 8 * 8 if self.linear else 0)

    # ------------------------------------------------------------ copies

    def extent_bytes(self, copy: Copy, rows: int) -> int:
        """Bytes of a line of the tile: along K, or along M or N."""
        return self.step_bytes if copy.major == "k" else rows * self.bits // 8

    def outer(self, copy: Copy, rows: int) -> int:
        """Lines of the tile."""
        return rows if copy.major == "k" else self.tile_k

    def lanes(self, copy: Copy, rows: int) -> int:
        """Threads that lie along a line (scattered: across the lines)."""
        if copy.scattered:
            return rows
        return self.extent_bytes(copy, rows) // copy.bytes

    def pieces(self, copy: Copy, rows: int) -> int:
        """Pieces that a thread copies at each step."""
        return rows * self.step_bytes // (self.threads * copy.bytes)

    # ------------------------------------------------------------ shared memory

    def offset(self, copy: Copy, rows: int, row: int, byte: int) -> int:
        """Bytes from a tile's start to `byte` of K of `row`; the element's first byte in ``mn``.

        The chunks of a row are exchanged by bits of its number, so that what is read at once falls
        into all banks: eight rows of one chunk (``ldmatrix``), or four rows of two chunks, which
        single elements of 32 and 64 bits are read from.
        """
        if self.linear:
            line, inside = (
                (row, byte) if copy.major == "k" else (byte * 8 // self.bits, row * self.bits // 8)
            )
            return line * self.row_pitch(copy, rows) + inside
        if copy.major == "k":
            line, inside = divmod(byte, self.line_bytes)
            chunk, rest = divmod(inside, CHUNK_BYTES)
            exchanged: int = chunk ^ self.swizzle_k(row)
            start = (line * rows + row) * self.line_bytes
            return start + exchanged * CHUNK_BYTES + rest
        depth = byte * 8 // self.bits
        line, inside = divmod(row * self.bits // 8, LINE_BYTES)
        chunk, rest = divmod(inside, CHUNK_BYTES)
        exchanged = chunk ^ self.swizzle_mn(depth)
        start = (line * self.tile_k + depth) * LINE_BYTES
        return start + exchanged * CHUNK_BYTES + rest

    def swizzle_k(self, row: Any) -> Any:
        """What the chunks of a row along K are exclusive-ored with; `row` a number or a register.

        Rows of 64 bytes share a line by twos, which so lie in different banks by themselves.
        """
        if self.bits == 64 and not self.fed:
            return (row & 3) << 1 if self.line_bytes == LINE_BYTES else row & 2
        return row & 7 if self.line_bytes == LINE_BYTES else (row >> 1) & 3

    def swizzle_mn(self, depth: Any) -> Any:
        """The same for a line of k = `depth` along M or N. Of 8 bits, ``ldmatrix`` reads the lines
        4t and 4t + 1 of sixteen, or those two after them."""
        if self.bits == 8:
            return (depth & 1) | ((depth >> 1) & 6)
        return depth & 7 if self.bits == 16 or self.fed else (depth & 3) << 1

    @property
    def interleaved(self) -> tuple[bool, bool]:
        """Whether the rows (columns) of C in a lane are neighbours, 2g and 2g + 1 of sixteen, and
        not g and g + 8 (of B, columns g of two blocks): as bytes along M (N) come by twos, see
        :mod:`ptxgemm.matrices`."""
        a, b = (
            self.bits == 8 and copy.major == "mn" and not self.linear
            for copy in (self.copy_a, self.copy_b)
        )
        return a, b

    # ------------------------------------------------------------ instructions

    @cached_property
    def products(self) -> tuple[tuple[str, tuple[int, ...], tuple[int, ...], int, int], ...]:
        """The mma instructions of one 16 x 8 block of C and one atom: opcode, which registers of
        A and of B, and the first and the number of registers of C.
        """
        kind = {16: "16", 8: "8", 4: "4", 1: "1", 32: "tf32", 64: "f64"}[self.bits]
        types = f"{self.sum}.{self.a}.{self.b}.{self.sum}"
        bits = f".{self.op}.popc" if self.a == "b1" else ""

        def op(shape: str) -> str:
            return f"mma.sync.aligned.{shape}.row.col.{types}{bits}"

        if kind == "f64" and self.target >= 90:
            return ((op("m16n8k16"), tuple(range(8)), tuple(range(4)), 0, 4),)
        if kind == "f64":
            return tuple(
                (op("m8n8k4"), (2 * k + half,), (k,), 2 * half, 2)
                for k in range(4)
                for half in (0, 1)
            )
        counted = 2 if self.sum == "f16" else 4
        if self.target >= 80:
            shape = {"16": "k16", "tf32": "k8", "8": "k32", "4": "k64", "1": "k256"}[kind]
            return ((op(f"m16n8{shape}"), (0, 1, 2, 3), (0, 1), 0, counted),)
        if kind == "16":
            return tuple((op("m16n8k8"), (2 * k, 2 * k + 1), (k,), 0, counted) for k in (0, 1))
        shape = {"8": "k16", "4": "k32", "1": "k128"}[kind]
        return tuple(
            (op(f"m8n8{shape}"), (2 * k + half,), (k,), 2 * half, 2)
            for k in (0, 1)
            for half in (0, 1)
        )

    # ------------------------------------------------------------ launches

    def tiles(self, m: int, n: int) -> int:
        return -(-m // self.tile_m) * -(-n // self.tile_n)
