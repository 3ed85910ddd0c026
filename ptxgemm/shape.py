"""The tiles of a GEMM kernel, as data that checks itself."""

from __future__ import annotations

from dataclasses import dataclass

WORD = 4
"""Bytes of a float32."""
VECTOR = 4
"""Elements of the widest access, 16 bytes: what a lane fetches, stores and reads at once."""
LANES = 32
SHARED_LIMIT_BYTES = 48 * 1024
"""What a kernel may declare statically on every architecture (PTX ISA, section 5.1.7)."""


@dataclass(frozen=True)
class Shape:
    """How a product is cut up: elements of C, and of K, by CTA, warp and thread.

    A CTA owns ``cta_m x cta_n`` of C and advances ``cta_k`` along K at each step. A warp owns
    ``warp_m x warp_n`` of that. A thread owns ``thread_m x thread_n``, in blocks of 4x4 that lie
    ``block_m`` rows and ``block_n`` columns apart, so that the lanes of a warp read neighbouring
    16-byte pieces. ``stages`` is the number of buffers in shared memory, and ``ctas_per_sm`` how
    many CTAs an SM should hold at once, which bounds the registers of a thread.
    """

    cta_m: int
    cta_n: int
    cta_k: int
    warp_m: int
    warp_n: int
    thread_m: int
    thread_n: int
    stages: int = 2
    ctas_per_sm: int = 2

    def __post_init__(self) -> None:
        for name in ("cta_m", "cta_n", "cta_k", "warp_m", "warp_n", "thread_m", "thread_n"):
            value = getattr(self, name)
            if value < VECTOR or value & (value - 1):
                raise ValueError(f"{name} is {value}; expected a power of two, at least {VECTOR}")
        for outer, inner in (
            ("cta_m", "warp_m"),
            ("cta_n", "warp_n"),
            ("warp_m", "thread_m"),
            ("warp_n", "thread_n"),
        ):
            if getattr(self, outer) % getattr(self, inner):
                raise ValueError(
                    f"{outer} ({getattr(self, outer)}) is no multiple of "
                    f"{inner} ({getattr(self, inner)})"
                )
        if self.lanes_m * self.lanes_n != LANES:
            raise ValueError(
                f"a warp tile of {self.warp_m}x{self.warp_n} in thread tiles of "
                f"{self.thread_m}x{self.thread_n} takes {self.lanes_m}x{self.lanes_n} lanes, "
                f"not {LANES}"
            )
        if self.stages != 2:
            raise ValueError(f"stages is {self.stages}; these kernels have a double buffer, 2")
        if self.ctas_per_sm < 1:
            raise ValueError(f"ctas_per_sm is {self.ctas_per_sm}; expected at least 1")
        self._check_loads()
        self._check_swizzle()
        if self.shared_bytes > SHARED_LIMIT_BYTES:
            raise ValueError(
                f"{self.stages} stages of {self.stage_bytes} bytes are {self.shared_bytes} bytes "
                f"of shared memory; a kernel may declare {SHARED_LIMIT_BYTES}"
            )

    def _check_loads(self) -> None:
        if self.threads > 1024:
            raise ValueError(
                f"{self.warps} warps are {self.threads} threads; a CTA has at most 1024"
            )
        for operand, elements in (("A", self.cta_m * self.cta_k), ("B", self.cta_n * self.cta_k)):
            if elements % (self.threads * VECTOR):
                raise ValueError(
                    f"the tile of {operand} has {elements} elements; {self.threads} threads that "
                    f"fetch {VECTOR} each need a multiple of {self.threads * VECTOR}"
                )
        if self.b_lanes > self.threads:
            raise ValueError(
                f"a row of B's tile takes {self.b_lanes} threads, and the CTA has {self.threads}"
            )

    def _check_swizzle(self) -> None:
        """The swizzle of A must exchange blocks of one thread: then reading it costs nothing."""
        moved = max(self.swizzle(k) for k in range(self.cta_k))
        if moved and (self.swizzle_m % self.block_m or moved >= self.warp_m):
            raise ValueError(
                f"the swizzle of A moves rows by {self.swizzle_m} to {moved}: that must be a "
                f"multiple of {self.block_m} rows, the distance of a thread's blocks, and less "
                f"than warp_m ({self.warp_m})"
            )
        if moved and self.a_loads > 1 and self.threads % (LANES * self.a_lanes):
            raise ValueError(
                f"{self.threads} threads fetch {self.threads // self.a_lanes} rows of A at once; "
                f"its swizzle needs a multiple of {LANES}"
            )

    # ------------------------------------------------------------ threads

    @property
    def warps_m(self) -> int:
        return self.cta_m // self.warp_m

    @property
    def warps_n(self) -> int:
        return self.cta_n // self.warp_n

    @property
    def warps(self) -> int:
        return self.warps_m * self.warps_n

    @property
    def threads(self) -> int:
        return self.warps * LANES

    @property
    def lanes_m(self) -> int:
        return self.warp_m // self.thread_m

    @property
    def lanes_n(self) -> int:
        return self.warp_n // self.thread_n

    @property
    def block_m(self) -> int:
        """Rows between the 4x4 blocks of a thread."""
        return self.lanes_m * VECTOR

    @property
    def block_n(self) -> int:
        """Columns between the 4x4 blocks of a thread."""
        return self.lanes_n * VECTOR

    # ------------------------------------------------------------ fetching from global memory

    @property
    def a_lanes(self) -> int:
        """Threads that fetch one row of A's tile, 16 bytes each."""
        return self.cta_k // VECTOR

    @property
    def b_lanes(self) -> int:
        """Threads that fetch one row of B's tile, 16 bytes each."""
        return self.cta_n // VECTOR

    @property
    def a_loads(self) -> int:
        """16-byte pieces of A that a thread fetches at each K step."""
        return self.cta_m * self.cta_k // (self.threads * VECTOR)

    @property
    def b_loads(self) -> int:
        """16-byte pieces of B that a thread fetches at each K step."""
        return self.cta_n * self.cta_k // (self.threads * VECTOR)

    # ------------------------------------------------------------ shared memory

    @property
    def swizzle_m(self) -> int:
        """Rows of A that one warp fetches at once."""
        return LANES // self.a_lanes

    def swizzle(self, k: int) -> int:
        """What row ``k`` of the transposed tile of A has its column numbers xored with.

        The lanes of a warp store ``a_lanes`` groups of four rows of the tile at once, ``swizzle_m``
        neighbouring columns each. Moved apart by that, they fall into all 32 banks once.
        """
        return k // VECTOR * self.swizzle_m

    def a_offset(self, k: int, m: int) -> int:
        """Bytes from a stage's start to A[m, k] of the tile: ``[k][m]``, swizzled."""
        return (k * self.cta_m + (m ^ self.swizzle(k))) * WORD

    def b_offset(self, k: int, n: int) -> int:
        """Bytes from a stage's start to B[k, n] of the tile: ``[k][n]``, after A."""
        return self.a_bytes + (k * self.cta_n + n) * WORD

    @property
    def a_bytes(self) -> int:
        return self.cta_m * self.cta_k * WORD

    @property
    def b_bytes(self) -> int:
        return self.cta_n * self.cta_k * WORD

    @property
    def stage_bytes(self) -> int:
        return self.a_bytes + self.b_bytes

    @property
    def shared_bytes(self) -> int:
        return self.stages * self.stage_bytes


SEED = Shape(cta_m=128, cta_n=128, cta_k=8, warp_m=32, warp_n=64, thread_m=8, thread_n=8)
"""128x128x8 by 256 threads, warp tiles of 32x64, thread tiles of 8x8 (Huang et al., 2018)."""
