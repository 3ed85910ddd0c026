"""From sums to the result: D = alpha * sums, or alpha * sums + beta * C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.access import Access
from ptxgemm.shape import VECTOR, WORD, Shape
from ptxgemm.tail import Edge
from ptxgemm.warp import Sums


@dataclass(frozen=True)
class Target:
    """A matrix of [M, N] from a thread's first element on."""

    at: Reg
    row: Reg
    """Elements from a row to the next, s64."""
    column: Any
    """Elements from a column to the next, s64; None where they touch."""


@dataclass(frozen=True)
class Bounds:
    """Rows and columns from a thread's first element to the matrix's end, s32."""

    rows: Reg
    columns: Reg


def write(
    k: Kernel,
    shape: Shape,
    sums: Sums,
    access: Access,
    edge: Edge,
    bounds: Bounds | None,
    d: Target,
    alpha: Reg,
    beta: Reg | None = None,
    c: Target | None = None,
) -> None:
    """Write a thread's sums to `d`; without `beta` and `c`, nothing is read.

    The products with alpha are fresh registers: a vector store of the sums themselves would pin
    them to aligned quads, at the cost of bank conflicts in the loop.
    """
    walks = [_walk(k, shape, target, access.strided) for target in ((d,) if c is None else (d, c))]
    for i, row in enumerate(sums):
        places = [next(walk) for walk in walks]
        left = None
        if bounds is not None:
            below = k.setp.gt.s32(bounds.rows, i // VECTOR * shape.block_m + i % VECTOR)
            left = k.selp.b32(bounds.columns, 0, below, out=k.reg("s32"))
        for j in range(0, shape.thread_n, access.width):
            column = j // VECTOR * shape.block_n + j % VECTOR
            part = row[j : j + access.width]
            inside = None
            if left is not None:
                inside = k.setp.gt.s32(left, column + access.width - 1)
            targets = [place(j, column) for place in places]
            old: Any = None
            if c is not None:
                old = k.reg("f32", access.width)
                if inside is not None:
                    for register in old:
                        k.mov.f32(0.0, out=register)
                with where(k, inside, edge):
                    move(k, "ld.global", access.width, targets[1], old)
                old = [k.mul.rn.f32(beta, value) for value in old]
            values = [
                k.mul.rn.f32(alpha, value) if old is None else k.fma.rn.f32(alpha, value, old[q])
                for q, value in enumerate(part)
            ]
            with where(k, inside, edge):
                move(k, "st.global", access.width, targets[0], values)


@contextmanager
def where(k: Kernel, inside: Reg | None, edge: Edge) -> Iterator[None]:
    """Only where an element lies inside, in the manner of the edge."""
    if inside is None:
        yield
    elif edge == "branch":
        with k.branch(inside):
            yield
    else:
        with k.when(inside):
            yield


def move(k: Kernel, opcode: str, width: int, at: Addr, values: Any) -> None:
    """Load or store so many neighbours; `opcode` is ``ld`` or ``st`` with its state space."""
    op = f"{opcode}{'' if width == 1 else f'.v{width}'}.f32"
    held = tuple(values) if width > 1 else values[0]
    if opcode.startswith("ld"):
        k.op(op, at, out=held)
    else:
        k.op(op, at, held)


def _walk(k: Kernel, shape: Shape, target: Target, strided: bool) -> Iterator[Any]:
    """By row of a thread, what gives the address of its j-th column, that lies so far on."""
    row_bytes = target.row << 2
    block_bytes = k.mul.lo.s64(target.row, (shape.block_m - VECTOR + 1) * WORD)
    column_bytes = target.column << 2 if strided else None
    gap = None
    if strided and shape.thread_n > VECTOR:
        gap = k.mul.lo.s64(target.column, (shape.block_n - VECTOR + 1) * WORD)
    at = target.at
    for i in range(shape.thread_m):
        if i:
            at = at + (block_bytes if i % VECTOR == 0 else row_bytes)
        if column_bytes is None:
            yield lambda j, column, at=at: Addr(at, column * WORD)
            continue
        columns = [at]
        for j in range(1, shape.thread_n):
            columns.append(columns[-1] + (gap if j % VECTOR == 0 else column_bytes))
        yield lambda j, column, columns=columns: Addr(columns[j])
