"""A thread's part of the product: fragments from shared memory, and the fused multiply-adds."""

from __future__ import annotations

from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.index import divide
from ptxgemm.shape import LANES, VECTOR, WORD, Shape


@dataclass(frozen=True)
class Place:
    """Where a thread stands in the CTA's tile: its first row and its first column."""

    row: Reg
    column: Reg


@dataclass(frozen=True)
class Reader:
    """The shared addresses that a thread reads its fragments from."""

    a: Reg
    b: Reg


@dataclass(frozen=True)
class Fragment:
    """A thread's values of one row of A's tile and one of B's: ``thread_m`` and ``thread_n``."""

    a: tuple[Reg, ...]
    b: tuple[Reg, ...]


Sums = tuple[tuple[Reg, ...], ...]


def place(k: Kernel, shape: Shape, thread: Reg) -> Place:
    """Warps and lanes are numbered along the rows of C first, so that a warp writes whole lines."""
    warp, lane = divide(thread, LANES)
    lane_m, lane_n = divide(lane, shape.lanes_n)
    warp_m, warp_n = divide(warp, shape.warps_n)
    return Place(
        row=k.mad.lo.u32(warp_m, shape.warp_m, lane_m * VECTOR),
        column=k.mad.lo.u32(warp_n, shape.warp_n, lane_n * VECTOR),
    )


def reader(k: Kernel, tile: Reg, at: Place) -> Reader:
    """Reading from the first stage."""
    return Reader(k.mad.lo.u32(at.row, WORD, tile), k.mad.lo.u32(at.column, WORD, tile))


def fragment(k: Kernel, shape: Shape) -> Fragment:
    return Fragment(k.reg("f32", shape.thread_m), k.reg("f32", shape.thread_n))


def read(k: Kernel, shape: Shape, source: Reader, depth: int, into: Fragment) -> None:
    """Row `depth` of the stage."""
    for block, first in enumerate(range(0, shape.thread_m, VECTOR)):
        at = Addr(source.a, shape.a_offset(depth, block * shape.block_m))
        k.ld.shared.v4.f32(at, out=into.a[first : first + VECTOR])
    for block, first in enumerate(range(0, shape.thread_n, VECTOR)):
        at = Addr(source.b, shape.b_offset(depth, block * shape.block_n))
        k.ld.shared.v4.f32(at, out=into.b[first : first + VECTOR])


def zeros(k: Kernel, shape: Shape) -> Sums:
    """``thread_m`` rows of ``thread_n`` sums."""
    return tuple(
        tuple(k.mov.f32(0.0) for _ in range(shape.thread_n)) for _ in range(shape.thread_m)
    )


def multiply(k: Kernel, sums: Sums, fragment: Fragment) -> None:
    """``sums[i][j] += a[i] * b[j]``, along the longer side and back beside it.

    Each step of this serpentine changes one of the two factors, so that the other comes from the
    reuse cache and not from the register file, whose two banks limit FFMA on Hopper.
    """
    rows, columns = range(len(fragment.a)), range(len(fragment.b))
    if len(columns) > len(rows):
        order = [(i, j) for i in rows for j in (columns if i % 2 == 0 else reversed(columns))]
    else:
        order = [(i, j) for j in columns for i in (rows if j % 2 == 0 else reversed(rows))]
    for i, j in order:
        k.fma.rn.f32(fragment.a[i], fragment.b[j], sums[i][j], out=sums[i][j])
