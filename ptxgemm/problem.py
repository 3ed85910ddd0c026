"""A product as data: what is multiplied by what, by numpy's rules, and where each element lies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ptxgemm.arrays import Layout, contiguous
from ptxgemm.elements import RULES

LARGEST = 2**31 - 1
"""What M, N and K may be; no product of them is kept in fewer bits than it needs."""
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Matrices:
    """One operand as matrices of a batch: the elements from one to the next along each axis."""

    row: int
    column: int
    batch: tuple[int, ...]

    @property
    def turned(self) -> Matrices:
        return Matrices(self.column, self.row, self.batch)


@dataclass(frozen=True)
class Problem:
    """``D = alpha * A @ B + beta * C`` for each matrix of a batch.

    A is M x K, B is K x N, C and D are M x N. A batch stride of 0 means the same matrix each time.
    `c` is None where C is not read.
    """

    dtype: str
    """Of A and B."""
    out: str
    """Of C and D."""
    m: int
    n: int
    k: int
    batch: Shape
    a: Matrices
    b: Matrices
    c: Matrices | None
    d: Matrices
    shape: Shape
    """Of the result, as the caller sees it."""

    @property
    def size(self) -> int:
        """Elements of the result."""
        return math.prod(self.batch) * self.m * self.n

    @property
    def operands(self) -> tuple[Matrices, ...]:
        return tuple(x for x in (self.a, self.b, self.c, self.d) if x is not None)

    @property
    def simplified(self) -> Problem:
        """The same with as few batch axes as there can be, rows of a batch joined where B is one
        matrix.
        """
        return _folded(_merged(self))

    @property
    def parts(self) -> tuple[Problem, tuple[tuple[int, ...], ...]]:
        """One with a single batch axis, and where each of its repetitions starts: an offset in
        elements for A, B, C and D.
        """
        if not self.batch:
            return _with_batches(self, (1,), [(0,)] * len(self.operands)), ((0, 0, 0, 0),)
        widest = max(range(len(self.batch)), key=lambda axis: self.batch[axis])
        others = [axis for axis in range(len(self.batch)) if axis != widest]
        starts = tuple(
            tuple(
                sum(i * x.batch[axis] for i, axis in zip(index, others, strict=True)) if x else 0
                for x in (self.a, self.b, self.c, self.d)
            )
            for index in product(*(range(self.batch[axis]) for axis in others))
        )
        return _picked(self, [widest]), starts


def describe(
    a: Layout,
    b: Layout,
    c: Layout | None = None,
    out: Layout | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Problem:
    """The product of arrays by the rules of ``numpy.matmul``.

    A 1-D `a` is a row, a 1-D `b` a column, and that axis is missing from the result; the leading
    axes of others are broadcast, and `c` to the shape of the result. `c` None says that it is not
    read. The result is of the type of `out`, else of `c`, else of :data:`ptxgemm.elements.RULES`.
    Raises ValueError, which names the operand.
    """
    for name, layout, flag in (("a", a, transpose_a), ("b", b, transpose_b)):
        if not layout.shape:
            raise ValueError(
                f"{name} has no dimension; a product takes one or more (use * instead)"
            )
        if flag and len(layout.shape) == 1:
            raise ValueError(f"{name} has one dimension, and transpose_{name} needs two")
    left, right = _matrices(a, transpose_a, row=True), _matrices(b, transpose_b, row=False)
    (m, depth), (inner, n) = left[0], right[0]
    if depth != inner:
        raise ValueError(
            f"a is {_by(a.shape)}{' transposed' * transpose_a} and b is {_by(b.shape)}"
            f"{' transposed' * transpose_b}: K is {depth} in a, {inner} in b"
        )
    for name, size in (("M", m), ("N", n), ("K", depth)):
        if size > LARGEST:
            raise ValueError(f"{name} is {size}; at most {LARGEST} can be")
    batch = _broadcast(a.shape[:-2], b.shape[:-2])
    rows, columns = (m,) * (len(a.shape) > 1), (n,) * (len(b.shape) > 1)
    shape = (*batch, *rows, *columns)
    if out is not None and out.shape != shape:
        raise ValueError(f"out is {_by(out.shape)}; the product is {_by(shape)}")
    strides = contiguous(shape) if out is None else out.strides
    given = out or c
    return Problem(
        a.dtype, given.dtype if given else RULES[a.dtype].outs[0], m, n, depth, batch,
        Matrices(left[1][0], left[1][1], _spread(a.shape[:-2], a.strides[:-2], batch)),
        Matrices(right[1][0], right[1][1], _spread(b.shape[:-2], b.strides[:-2], batch)),
        None if c is None else _result(c.shape, c.strides, shape, batch, rows, columns, "c"),
        _result(shape, strides, shape, batch, rows, columns, "out"),
        shape,
    )  # fmt: skip


def _by(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "a scalar"


def _matrices(layout: Layout, transposed: bool, *, row: bool) -> tuple[Any, Any]:
    """Sizes and strides of an operand's last two axes; a vector is a row or a column."""
    sizes, strides = layout.shape[-2:], layout.strides[-2:]
    if len(sizes) == 1:
        sizes, strides = ((1, *sizes), (0, *strides)) if row else ((*sizes, 1), (*strides, 0))
    return (sizes[::-1], strides[::-1]) if transposed else (sizes, strides)


def _broadcast(a: Shape, b: Shape) -> Shape:
    length = max(len(a), len(b))
    found = []
    for x, y in zip(_led(a, length), _led(b, length), strict=True):
        if x != y and 1 not in (x, y):
            raise ValueError(
                f"the batch of a is {_by(a)} and that of b is {_by(b)}: {x} and {y} do not "
                "broadcast"
            )
        found.append(y if x == 1 else x)
    return tuple(found)


def _led(shape: Shape, length: int) -> Shape:
    return (1,) * (length - len(shape)) + shape


def _spread(shape: Shape, strides: Shape, over: Shape) -> Shape:
    """The strides of an array that is broadcast over a shape."""
    missing = len(over) - len(shape)
    own = (0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
    return (0,) * missing + tuple(own)


def _result(
    sizes: Shape, strides: Shape, shape: Shape, batch: Shape, rows: Shape, columns: Shape, name: str
) -> Matrices:
    fits = len(sizes) <= len(shape) and all(
        n in (1, wanted) for n, wanted in zip(_led(sizes, len(shape)), shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} is {_by(sizes)}, which does not broadcast to {_by(shape)}")
    steps = _spread(sizes, strides, shape)
    at = len(batch)
    return Matrices(steps[at] if rows else 0, steps[at + len(rows)] if columns else 0, steps[:at])


# ---------------------------------------------------------------- fewer axes of a batch


def _merged(problem: Problem) -> Problem:
    """Without axes of length 1; neighbours that all operands step through evenly are one."""
    sizes: list[int] = []
    steps: list[tuple[int, ...]] = []
    for axis, n in enumerate(problem.batch):
        here = tuple(x.batch[axis] for x in problem.operands)
        if n == 1:
            continue
        if steps and all(o == i * n for o, i in zip(steps[-1], here, strict=True)):
            sizes[-1] *= n
            steps[-1] = here
        else:
            sizes.append(n)
            steps.append(here)
    columns = list(zip(*steps, strict=True)) if steps else [()] * len(problem.operands)
    return _with_batches(problem, tuple(sizes), columns)


def _folded(problem: Problem) -> Problem:
    """A batch of A by one B is one taller A, where the rows of A, C and D go on evenly."""
    if len(problem.batch) != 1 or problem.b.batch != (0,):
        return problem
    (count,) = problem.batch
    names = [name for name in "acd" if getattr(problem, name) is not None]
    tall: list[Matrices] = [getattr(problem, name) for name in names]
    # The step of a single row means nothing: that of the batch takes its place.
    evenly = problem.m == 1 or all(x.batch == (x.row * problem.m,) for x in tall)
    if not evenly or count * problem.m > LARGEST:
        return problem
    changed: dict[str, Any] = {
        name: Matrices(x.batch[0] if problem.m == 1 else x.row, x.column, ())
        for name, x in zip(names, tall, strict=True)
    }
    changed |= {"m": problem.m * count, "batch": (), "b": replace(problem.b, batch=())}
    return replace(problem, **changed)


def _with_batches(problem: Problem, sizes: Shape, batches: list[Any]) -> Problem:
    names = [name for name in "abcd" if getattr(problem, name) is not None]
    moved: dict[str, Any] = {
        name: replace(getattr(problem, name), batch=tuple(steps))
        for name, steps in zip(names, batches, strict=True)
    }
    return replace(problem, batch=sizes, **moved)


def _picked(problem: Problem, axes: list[int]) -> Problem:
    return _with_batches(
        problem,
        tuple(problem.batch[axis] for axis in axes),
        [tuple(x.batch[axis] for axis in axes) for x in problem.operands],
    )
