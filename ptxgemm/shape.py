"""The tiles of a GEMM kernel, as data that checks itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

WORD = 4
"""Bytes of a float32."""
VECTOR = 4
"""Elements of the widest access, 16 bytes: what a lane fetches, stores and reads at once."""
LANES = 32
RUN = 8
"""Elements along K, a sector of 32 bytes, that neighbouring lanes fetch of an operand which lies
along K."""
PAD = 4
"""Elements between the rows of a tile in shared memory: what is stored transposed, `RUN` rows of
neighbouring columns by a warp, falls into all 32 banks once, and rows stay aligned to 16 bytes."""
STATIC_BYTES = 48 * 1024
"""What a kernel may declare statically on every architecture (PTX ISA, section 5.1.7)."""
SHARED_LIMIT_BYTES = 227 * 1024
"""What a CTA may have on sm_90, the most of all architectures."""

Staging = Literal["registers", "async"]
"""The way from global to shared memory: through registers, or by ``cp.async``."""


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
    staging: Staging = "registers"

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
        if self.ctas_per_sm < 1:
            raise ValueError(f"ctas_per_sm is {self.ctas_per_sm}; expected at least 1")
        self._check_stages()
        self._check_loads()

    def _check_stages(self) -> None:
        if self.staging not in get_args(Staging):
            raise ValueError(f"staging is {self.staging!r}; expected registers or async")
        if self.staging == "registers" and self.stages != 2:
            raise ValueError(
                f"stages is {self.stages}; staged through registers there is a double buffer, 2"
            )
        if not 2 <= self.stages <= 5:
            raise ValueError(f"stages is {self.stages}; expected 2 to 5")
        if self.shared_bytes > SHARED_LIMIT_BYTES:
            raise ValueError(
                f"{self.stages} stages of {self.stage_bytes} bytes are {self.shared_bytes} bytes "
                f"of shared memory; a CTA may have {SHARED_LIMIT_BYTES}"
            )

    def _check_loads(self) -> None:
        if self.cta_k % RUN:
            raise ValueError(f"cta_k is {self.cta_k}; expected a multiple of {RUN}")
        if self.threads > 1024:
            raise ValueError(
                f"{self.warps} warps are {self.threads} threads; a CTA has at most 1024"
            )
        for operand, side in (("A", self.cta_m), ("B", self.cta_n)):
            elements = side * self.cta_k
            if elements % (self.threads * VECTOR):
                raise ValueError(
                    f"the tile of {operand} has {elements} elements; {self.threads} threads that "
                    f"fetch {VECTOR} each need a multiple of {self.threads * VECTOR}"
                )
            if side > self.threads * VECTOR:
                raise ValueError(
                    f"a row of {operand}'s tile takes {side // VECTOR} threads, and the CTA has "
                    f"{self.threads}"
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

    @property
    def ahead(self) -> int:
        """K steps that are on their way while one is multiplied."""
        return self.stages - 1

    # ------------------------------------------------------------ shared memory

    @property
    def a_pitch(self) -> int:
        """Elements from a row of A's tile, ``[k][m]``, to the next."""
        return self.cta_m + PAD

    @property
    def b_pitch(self) -> int:
        """Elements from a row of B's tile, ``[k][n]``, to the next."""
        return self.cta_n + PAD

    def a_offset(self, k: int, m: int) -> int:
        """Bytes from a stage's start to A[m, k] of the tile."""
        return (k * self.a_pitch + m) * WORD

    def b_offset(self, k: int, n: int) -> int:
        """Bytes from a stage's start to B[k, n] of the tile, after A."""
        return self.a_bytes + (k * self.b_pitch + n) * WORD

    @property
    def a_bytes(self) -> int:
        return self.a_pitch * self.cta_k * WORD

    @property
    def b_bytes(self) -> int:
        return self.b_pitch * self.cta_k * WORD

    @property
    def stage_bytes(self) -> int:
        return self.a_bytes + self.b_bytes

    @property
    def shared_bytes(self) -> int:
        return self.stages * self.stage_bytes

    @property
    def dynamic_bytes(self) -> int:
        """Shared memory that a launch has to ask for; 0 where the kernel declares it."""
        return self.shared_bytes if self.shared_bytes > STATIC_BYTES else 0

    def __str__(self) -> str:
        return (
            f"{self.cta_m}x{self.cta_n}x{self.cta_k} of {self.thread_m}x{self.thread_n}, "
            f"{self.stages} stages by {self.staging}"
        )


SEED = Shape(cta_m=128, cta_n=128, cta_k=8, warp_m=32, warp_n=64, thread_m=8, thread_n=8)
"""128x128x8 by 256 threads, warp tiles of 32x64, thread tiles of 8x8 (Huang et al., 2018)."""
