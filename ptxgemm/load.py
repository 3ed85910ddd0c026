"""The way of A and B from global memory into shared memory, through registers or by cp.async.

A tile lies in shared memory as ``[k][m]`` or ``[k][n]``. An operand that lies along K in global
memory is transposed on the way: a warp takes `RUN` elements along K, whole sectors, of several
rows, and with rows of the tile padded by `PAD` its stores fall into different banks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from operator import and_
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.access import Access
from ptxgemm.index import element
from ptxgemm.shape import LANES, PAD, RUN, VECTOR, WORD, Shape
from ptxgemm.tail import Edge

Emit = Callable[[], None]


@dataclass(frozen=True)
class Spread:
    """How the threads of a CTA share the pieces of one operand's tile.

    `inner` is the axis of the access, `outer` the other one. ``low`` threads lie side by side
    along inner, ``rows`` along outer, and ``high`` further groups along inner. A thread takes
    ``inner_count`` pieces ``inner_step`` elements apart, in each of ``outer_count`` rows that are
    ``rows`` apart.
    """

    shape: Shape
    extent: int
    """Of the tile along M or N."""
    access: Access

    @property
    def transposed(self) -> bool:
        return self.access.along == "k"

    @property
    def inner(self) -> int:
        return self.shape.cta_k if self.transposed else self.extent

    @property
    def outer(self) -> int:
        return self.extent if self.transposed else self.shape.cta_k

    @property
    def low(self) -> int:
        width = self.access.width
        if self.transposed:
            return RUN // width
        return max(self.inner // VECTOR, min(LANES, self.inner // width))

    @property
    def rows(self) -> int:
        return min(self.outer, self.shape.threads // self.low)

    @property
    def high(self) -> int:
        return self.shape.threads // (self.low * self.rows)

    @property
    def inner_step(self) -> int:
        return self.low * self.high * self.access.width

    @property
    def inner_count(self) -> int:
        return self.inner // self.inner_step

    @property
    def outer_count(self) -> int:
        return self.outer // self.rows

    @property
    def pitch(self) -> int:
        """Elements from one k to the next in shared memory."""
        return self.extent + PAD

    def origin(self, k: Kernel, thread: Reg) -> tuple[Any, Any]:
        """The thread's first element along inner, and its first row along outer."""
        lane, rest = thread & (self.low - 1), thread >> (self.low.bit_length() - 1)
        inner = lane * self.access.width
        if self.high > 1:
            group = rest >> (self.rows.bit_length() - 1)
            inner = k.mad.lo.u32(group, self.low * self.access.width, inner)
            rest = rest & (self.rows - 1)
        return inner, rest

    def offset(self, inner: int, outer: int) -> int:
        """Bytes in shared memory from a piece to one so many elements on."""
        depth, side = (inner, outer) if self.transposed else (outer, inner)
        return (depth * self.pitch + side) * WORD

    @property
    def pieces(self) -> Iterator[tuple[int, int]]:
        """The pieces of a thread: number along outer, number along inner."""
        for row in range(self.outer_count):
            for column in range(self.inner_count):
                yield row, column


@dataclass(frozen=True)
class Guard:
    """What a fetch has to look at; None where it need not."""

    left: Reg | None = None
    """Elements along K from the step's first on, s32; may be 0 or less."""
    live: Reg | None = None
    """A predicate: whether there is such a step."""


UNGUARDED = Guard()


@dataclass(frozen=True)
class Operand:
    """One operand as one thread moves it."""

    spread: Spread
    edge: Edge
    sources: tuple[Reg, ...]
    """Global addresses of its pieces, one for each row along outer, or for each piece where those
    lie at no fixed distance; :func:`advance` moves them."""
    step: Reg | int
    """Bytes along K from a step to the next."""
    k_bytes: Reg | int
    """Bytes from an element to the next along K."""
    inside: tuple[Reg, ...]
    """By piece along M or N, what the edge knows of it before the loop: a predicate, or with
    ``zfill`` the bytes to read. Empty where nothing is asked."""
    depth: Reg
    """Along K, the thread's first element in a step."""
    held: tuple[tuple[Reg, ...], ...]
    """The pieces on their way through registers; empty for cp.async."""
    target: Reg
    """The shared address of the first piece, in the stage that is stored to next."""

    @property
    def width(self) -> int:
        return self.spread.access.width


def operand(
    k: Kernel,
    shape: Shape,
    extent: int,
    access: Access,
    edge: Edge,
    base: Reg,
    strides: tuple[Any, Any],
    origin: Reg,
    limit: Any,
    start: Reg | None,
    target: Reg,
    thread: Reg,
) -> Operand:
    """The operand whose tile is `extent` wide along M or N.

    `strides`: elements from one to the next along M or N, and along K. `origin`: where the tile
    starts along M or N, of `limit`. `start`: where K starts, None for 0.
    """
    spread = Spread(shape, extent, access)
    if edge == "clamped-lines":
        edge = "clamped" if spread.transposed else "predicated"
    inner, outer = spread.origin(k, thread)
    side_stride, k_stride = strides
    side, depth = (outer, inner) if spread.transposed else (inner, outer)
    first = origin + side
    from_k = depth if start is None else depth + start
    unit = None if not access.strided else (k_stride if spread.transposed else side_stride)
    # A column that is clamped lies at no fixed distance from the one before it.
    scattered = access.strided or (edge == "clamped" and not spread.transposed)
    sources = []
    for row in range(spread.outer_count):
        for column in range(spread.inner_count if scattered else 1):
            i, o = column * spread.inner_step, row * spread.rows
            along_side, along_k = (o, i) if spread.transposed else (i, o)
            at = first + along_side if along_side else first
            if edge == "clamped":
                at = _clamped(k, at, limit, 1 if spread.transposed else access.width)
            deep = from_k + along_k if along_k else from_k
            terms = (
                [(at, side_stride), (deep, unit)]
                if spread.transposed
                else [(deep, k_stride), (at, unit)]
            )
            sources.append(element(k, base, terms))
    if spread.transposed and not access.strided:
        k_bytes: Reg | int = WORD
        step: Reg | int = shape.cta_k * WORD
    else:
        k_bytes = k_stride << 2
        step = k.mul.lo.s64(k_stride, shape.cta_k * WORD)
    held = (
        () if shape.staging == "async" else tuple(k.reg("f32", access.width) for _ in spread.pieces)
    )
    shared = k.mad.lo.u32(depth, spread.pitch * WORD, side * WORD) + target
    return Operand(
        spread, edge, tuple(sources), step, k_bytes,
        _inside(k, spread, edge, first, limit), depth, held, shared,
    )  # fmt: skip


def _clamped(k: Kernel, at: Any, limit: Reg, width: int) -> Any:
    """The index, or the last one that lies inside; where there is none, 0."""
    last = k.max.s32(k.sub.s32(limit, width), 0)
    return k.min.u32(at, k.mov.b32(last, out=k.reg("u32")))


def _inside(k: Kernel, spread: Spread, edge: Edge, first: Any, limit: Reg) -> tuple[Any, ...]:
    if edge in ("exact", "clamped"):
        return ()
    count, step, width = (
        (spread.outer_count, spread.rows, 1)
        if spread.transposed
        else (spread.inner_count, spread.inner_step, spread.access.width)
    )
    left = k.sub.s32(limit, first)
    found = []
    for piece in range(count):
        if edge == "zfill":
            remaining = k.max.s32(k.sub.s32(left, piece * step), 0)
            bytes_ = k.min.s32(remaining, width) << 2
            if spread.transposed:
                bytes_ = k.mul.lo.s32(bytes_, spread.access.width)
            found.append(k.mov.b32(bytes_, out=k.reg("u32")))
        else:
            found.append(k.setp.gt.s32(left, piece * step + width - 1))
    return tuple(found)


# ---------------------------------------------------------------- fetching


def fetch(k: Kernel, one: Operand, guard: Guard, shift: int, l2_prefetch: bool) -> list[Emit]:
    """What emits the loads of a step, piece by piece: into registers, or into the stage that lies
    `shift` bytes from the target.
    """
    return [
        partial(_fetch_piece, k, one, guard, shift, l2_prefetch, number, row, column)
        for number, (row, column) in enumerate(one.spread.pieces)
    ]


def _fetch_piece(
    k: Kernel, one: Operand, guard: Guard, shift: int, l2_prefetch: bool,
    number: int, row: int, column: int,
) -> None:  # fmt: skip
    spread = one.spread
    if len(one.sources) > spread.outer_count:
        source: Any = Addr(one.sources[row * spread.inner_count + column])
    else:
        source = Addr(one.sources[row], column * spread.inner_step * WORD)
    piece = (row, column) if spread.transposed else (column, row)
    inside = one.inside[piece[0]] if one.inside else None
    deep = None
    if guard.left is not None:
        step = spread.inner_step if spread.transposed else spread.rows
        last = piece[1] * step + (one.width - 1 if spread.transposed else 0)
        deep = k.setp.gt.s32(k.sub.s32(guard.left, one.depth), last)
    if one.edge == "zfill":
        size = inside
        if deep is not None:
            size = k.selp.b32(inside, 0, deep, out=k.reg("u32"))
        with k.when(guard.live) if guard.live is not None else nullcontext():
            _copy(k, one, number, shift, source, l2_prefetch, size)
        return
    tests = [test for test in (inside, deep, guard.live) if test is not None]
    test = reduce(and_, tests) if tests else None
    _load(k, one, number, shift, source, l2_prefetch, test, guard)


def _load(
    k: Kernel, one: Operand, number: int, shift: int, source: Addr, l2_prefetch: bool,
    test: Reg | None, guard: Guard,
) -> None:  # fmt: skip
    """A load under a predicate, or under a branch; what is not loaded is zero.

    Registers of an element outside M or N are so from the first step on, which looks at K; a step
    that there is not leaves its destination as it is: nobody reads it.
    """
    needless = guard.left is None and not one.inside
    if one.held:
        piece = one.held[number]
        if test is not None and guard.left is not None:
            for register in piece:
                k.mov.f32(0.0, out=register)

        def load() -> None:
            suffix = "" if one.width == 1 else f".v{one.width}"
            hint = ".L2::128B" if l2_prefetch else ""
            out = piece if one.width > 1 else piece[0]
            k.op(f"ld.global{hint}{suffix}.f32", source, out=out)
    else:

        def load() -> None:
            _copy(k, one, number, shift, source, l2_prefetch, None)

    if test is None:
        load()
    elif one.edge == "branch":
        with k.branch(test):
            load()
        if not one.held and not needless:
            with k.otherwise():
                _zero(k, one, number, shift)
    else:
        with k.when(test):
            load()
        if not one.held and not needless:
            with k.when(~test):
                _zero(k, one, number, shift)


def _copy(
    k: Kernel, one: Operand, number: int, shift: int, source: Addr, l2_prefetch: bool, size: Any
) -> None:
    bytes_ = one.width * WORD
    target = Addr(one.target, one.spread.offset(*_elements(one, number)) + shift)
    op = f"cp.async.{'cg' if bytes_ == 16 else 'ca'}.shared.global"
    op += ".L2::128B" if l2_prefetch else ""
    k.op(op, target, source, bytes_, *(() if size is None else (size,)))


def _zero(k: Kernel, one: Operand, number: int, shift: int) -> None:
    """At once, as it is copied: around several guarded stores ptxas 13.0 puts branches."""
    at = Addr(one.target, one.spread.offset(*_elements(one, number)) + shift)
    if one.width == 1:
        k.st.shared.f32(at, 0.0)
    else:
        k.op(f"st.shared.v{one.width}.f32", at, [0.0] * one.width)


def _elements(one: Operand, number: int) -> tuple[int, int]:
    row, column = divmod(number, one.spread.inner_count)
    return column * one.spread.inner_step, row * one.spread.rows


def advance(k: Kernel, one: Operand, by: Any = None) -> None:
    """Move on to the next K step, or by so many bytes."""
    for source in one.sources:
        k.add.s64(source, one.step if by is None else by, out=source)


def bytes_of(k: Kernel, one: Operand, elements: Reg) -> Any:
    """Bytes that so many elements along K take, s32 to s64."""
    number = k.cvt.s64.s32(elements)
    known = isinstance(one.k_bytes, int)  # WORD, where elements along K lie side by side
    return number << 2 if known else k.mul.lo.s64(number, one.k_bytes)


def store(k: Kernel, one: Operand, shift: int = 0) -> None:
    """Registers to shared memory; nothing where the copies went there."""
    spread = one.spread
    for number, piece in enumerate(one.held):
        inner, outer = _elements(one, number)
        if not spread.transposed and one.width > 1:
            at = Addr(one.target, spread.offset(inner, outer) + shift)
            k.op(f"st.shared.v{one.width}.f32", at, piece)
            continue
        for q, value in enumerate(piece):
            k.st.shared.f32(Addr(one.target, spread.offset(inner + q, outer) + shift), value)
