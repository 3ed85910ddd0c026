"""Fits a kernel of :mod:`ptxgemm.kernels.simt` to a product: accesses, policy, tiles, launch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ptx.builder import Kernel
from ptxgemm import grid as grids
from ptxgemm.access import Lie
from ptxgemm.kernels.simt import Spec, build
from ptxgemm.shape import VECTOR, WORD, Shape
from ptxgemm.split import workspace_bytes
from ptxgemm.tail import AUTO, Tail

MOST_TILES = 2**31 - 1
"""CTAs along x, in one launch; along y, 65535."""
MOST_BATCHES = 65535


@dataclass(frozen=True)
class Matrix:
    """Where a matrix lies: elements from a row and from a column to the next (any sign), and how
    its address is aligned: by a power of two, in bytes."""

    row: int
    column: int
    align: int = 16
    batch: int = 0
    """Elements from one matrix of a batch to the next."""

    @property
    def turned(self) -> Matrix:
        return Matrix(self.column, self.row, self.align, self.batch)

    def aligned(self, batches: int) -> int:
        """The alignment of every matrix of the batch."""
        if batches == 1 or not self.batch:
            return self.align
        step = abs(self.batch) * WORD
        return min(self.align, step & -step)


@dataclass(frozen=True)
class Plan:
    """A kernel and its launch, but for addresses and scalars."""

    spec: Spec
    grid: tuple[int, int]
    arguments: dict[str, int]
    pointers: dict[str, str]
    """Which parameter takes the address of which matrix: a and b change places where the
    transpose is computed."""
    tiles: grids.Tiling

    @property
    def block(self) -> int:
        return self.spec.shape.threads

    @property
    def shared(self) -> int:
        """Bytes of dynamic shared memory."""
        return self.spec.shape.dynamic_bytes

    @property
    def workspace_bytes(self) -> int:
        """0 where K is not split; else also ``counters``, a zero u32 for each of `split_tiles`."""
        return workspace_bytes(self.spec.shape, self.tiles.split_tiles, self.tiles.parts)

    @property
    def kernel(self) -> Kernel:
        return kernel_of(self.spec)


@lru_cache(maxsize=1024)
def kernel_of(spec: Spec) -> Kernel:
    return build(spec)


def plan(
    m: int,
    n: int,
    k: int,
    a: Matrix,
    b: Matrix,
    d: Matrix,
    c: Matrix | None = None,
    *,
    batches: int = 1,
    tail: Tail = AUTO,
    shape: Shape | None = None,
    parts: int | None = None,
    l2_prefetch: bool = False,
    target: grids.Processor = grids.H200,
) -> Plan:
    """The kernel for A [m, k], B [k, n] and D [m, n], at least 1 x 1; `c` None says that beta is 0.

    With `shape` and `parts` given, tiles are not chosen, and K is cut in so many parts. Raises
    ValueError where the policy cannot do it, naming what stands in the way, and where a launch
    would take more CTAs than there can be.
    """
    if m < 1 or n < 1:
        raise ValueError(f"the result is {m}x{n}: there is nothing to launch")
    if not 1 <= batches <= MOST_BATCHES:
        raise ValueError(f"{batches} matrices in a batch; a launch has 1 to {MOST_BATCHES}")
    names = {"a": "a", "b": "b", "c": "c", "d": "d"}
    if n > 1 and (d.column != 1 or m == 1) and m > 1 and abs(d.row) < abs(d.column):
        m, n, a, b, d = n, m, b.turned, a.turned, d.turned
        c = c.turned if c is not None else None
        names = {"a": "b", "b": "a", "c": "c", "d": "d"}
    if shape is None:
        tiling = grids.choose(m, n, k, batches, target, tail)
    else:
        tiling = grids.tiling(m, n, k, shape, parts or 1)
    shape = tiling.shape
    if tiling.ctas > MOST_TILES:
        raise ValueError(f"{tiling.ctas} CTAs; a launch has {MOST_TILES}")
    whole = m % shape.cta_m == 0 and n % shape.cta_n == 0 and k % shape.cta_k == 0
    whole = whole and k // shape.cta_k >= (shape.ahead if tiling.parts == 1 else 1)
    whole = whole and (tiling.parts == 1 or tiling.per_part >= shape.ahead)
    policy = tail.resolved(whole, shape.staging, n % VECTOR == 0)
    spec = _spec(m, n, k, a, b, d, c, batches, policy, tiling, l2_prefetch)
    arguments: dict[str, int] = {"m": m, "n": n, "k": k}
    extents = {"a": (m, k), "b": (k, n), "d": (m, n), "c": (m, n)}
    for (name, (rows, columns)), matrix in zip(extents.items(), (a, b, d, c), strict=True):
        if matrix is not None:
            arguments[f"{name}_row"] = matrix.row if rows > 1 else 0
            arguments[f"{name}_column"] = matrix.column if columns > 1 else 0
            arguments[f"{name}_batch"] = matrix.batch if batches > 1 else 0
    if spec.split:
        arguments |= {
            "whole": tiling.whole_tiles, "parts": tiling.parts, "per_part": tiling.per_part
        }  # fmt: skip
    pointers = {name: names[name] for name in spec.pointers}
    return Plan(spec, (tiling.ctas, batches), arguments, pointers, tiling)


def _spec(
    m: int, n: int, k: int, a: Matrix, b: Matrix, d: Matrix, c: Matrix | None, batches: int,
    tail: Tail, tiling: grids.Tiling, l2_prefetch: bool,
) -> Spec:  # fmt: skip
    shape = tiling.shape
    zfill = tail.edge == "zfill"
    transposed = 1 if shape.staging == "async" else 4

    def loaded(matrix: Matrix, side: int, turned: bool) -> Any:
        lying = matrix.turned if turned else matrix
        lie = Lie(side, k, lying.row, lying.column, matrix.aligned(batches))
        return lie.access(tail.most, partial=zfill, transposed_width=transposed)

    def stored(matrix: Matrix, most: int) -> Any:
        lie = Lie(n, m, matrix.column, matrix.row, matrix.aligned(batches))
        access = lie.access(most, partial=False)
        if access.along == "side":
            return access
        # Rows of one element, or one column: taken as touching along N.
        unit = n == 1 or matrix.column == 1
        return type(access)("side", 1, strided=not unit)

    written = stored(d, tail.most)
    if c is not None:
        read = stored(c, written.width)
        if read.strided or written.strided:
            written = type(written)("side", 1, strided=True)
        else:
            written = read
    found = (loaded(a, m, False), loaded(b, n, True), written)
    if tail.width != "auto":
        for name, access in zip("abd", found, strict=True):
            transposing = name in "ab" and access.along == "k" and transposed == 1
            if access.width * WORD < tail.width and not transposing:
                raise ValueError(
                    f"width is {tail.width}, and {name} can be accessed by "
                    f"{access.width * WORD} bytes only, as its address, strides and extents are"
                )
    return Spec(
        shape, tail, *found, reads_c=c is not None, batched=batches > 1,
        split=tiling.parts > 1, l2_prefetch=l2_prefetch,
    )  # fmt: skip
