"""The way of A and B from global memory through registers into shared memory, by 16 bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.index import divide, element
from ptxgemm.shape import VECTOR, WORD, Shape

Piece = tuple[Reg, Reg, Reg, Reg]


@dataclass(frozen=True)
class Operand:
    """One operand as one thread moves it."""

    sources: tuple[Reg, ...]
    """Where each of its 16-byte pieces lies in global memory; :func:`advance` moves them."""
    step: Reg | int
    """Bytes from a piece to its successor at the next K step."""
    held: tuple[Piece, ...]
    """The pieces, between :func:`fetch` and :func:`store`."""
    target: Reg
    """The shared address that the first piece goes to, in the stage that is stored to next."""
    offsets: tuple[tuple[int, ...], ...]
    """Bytes from `target` to each element of each piece; one offset stores a piece as a vector."""


def operand_a(
    k: Kernel, shape: Shape, a: Reg, depth: Reg, row: Reg, tile: Reg, thread: Reg
) -> Operand:
    """A, row-major with rows of `depth` elements, from row `row`; stored transposed, swizzled."""
    down, lane = divide(thread, shape.a_lanes)
    along = lane * VECTOR
    rows = shape.threads // shape.a_lanes
    first = element(k, a, row + down, depth, along)
    sources = _pieces(k, first, depth, rows, shape.a_loads)
    swizzled = down ^ (lane * shape.swizzle_m)
    target = k.mad.lo.u32(along, shape.cta_m * WORD, swizzled * WORD) + tile
    offsets = tuple(
        tuple((q * shape.cta_m + piece * rows) * WORD for q in range(VECTOR))
        for piece in range(shape.a_loads)
    )
    return Operand(sources, shape.cta_k * WORD, _held(k, shape.a_loads), target, offsets)


def operand_b(
    k: Kernel, shape: Shape, b: Reg, width: Reg, column: Reg, tile: Reg, thread: Reg
) -> Operand:
    """B, row-major with rows of `width` elements, from column `column`; stored as it lies."""
    down, lane = divide(thread, shape.b_lanes)
    along = lane * VECTOR
    rows = shape.threads // shape.b_lanes
    first = element(k, b, down, width, column + along)
    sources = _pieces(k, first, width, rows, shape.b_loads)
    step = k.mul.wide.u32(width, shape.cta_k * WORD)
    target = k.mad.lo.u32(down, shape.cta_n * WORD, along * WORD) + tile
    offsets = tuple(
        (shape.a_bytes + piece * rows * shape.cta_n * WORD,) for piece in range(shape.b_loads)
    )
    return Operand(sources, step, _held(k, shape.b_loads), target, offsets)


def fetch(k: Kernel, operand: Operand, l2_prefetch: bool = False) -> None:
    """Global memory to registers; with `l2_prefetch`, the L2 cache takes whole 128-byte lines."""
    load: Any = k.ld.global_.L2__128B.v4.f32 if l2_prefetch else k.ld.global_.v4.f32
    for source, piece in zip(operand.sources, operand.held, strict=True):
        load(source, out=piece)


def advance(k: Kernel, operand: Operand) -> None:
    """Move on to the next K step."""
    for source in operand.sources:
        k.add.s64(source, operand.step, out=source)


def store(k: Kernel, operand: Operand) -> None:
    """Registers to shared memory."""
    for piece, offsets in zip(operand.held, operand.offsets, strict=True):
        if len(offsets) == 1:
            k.st.shared.v4.f32(Addr(operand.target, offsets[0]), piece)
            continue
        for value, offset in zip(piece, offsets, strict=True):
            k.st.shared.f32(Addr(operand.target, offset), value)


def _pieces(k: Kernel, first: Reg, pitch: Reg, rows: int, count: int) -> tuple[Reg, ...]:
    """`first` and the addresses of `count` - 1 further pieces, each `rows` rows on."""
    sources = [first]
    if count > 1:
        gap = k.mul.wide.u32(pitch, rows * WORD)
        for _ in range(count - 1):
            sources.append(sources[-1] + gap)
    return tuple(sources)


def _held(k: Kernel, count: int) -> tuple[Piece, ...]:
    return tuple(k.reg("f32", VECTOR) for _ in range(count))
