"""The consumers of tf32 products whose B lies along N: B goes to the tensor core by registers.

wgmma reads tf32 from shared memory along K alone, but takes its left operand from registers too. So
a warpgroup multiplies the transpose, a tile of C^T = B^T A^T: A^T is read along K where it lies,
and each thread loads its fragments of B^T from shared memory, in whatever direction they lie there.

Which columns of C are which rows of a fragment is free. Here a thread has four neighbouring columns
of each of its rows of C, so that it stores 16 bytes at once, and a warp whole lines; two of them
belong to one block of 64 rows of the transpose, two to the next. It loads two at once, into the
registers where wgmma wants them.

On an H200 this takes 1.12 to 1.2 times as long as the same tiles with B along K, and so pays where
the copy that would turn B takes longer than that: :mod:`ptxgemm.choose` decides. 7 stages
took as long as 6, and groups of 4 and 16 rows of tiles as long as 8, within 2% up to 4096³.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptx.builder import Kernel
from ptx.ir import SINK, Addr, Reg
from ptxgemm import ring as rings
from ptxgemm import schedule as schedules
from ptxgemm import tma
from ptxgemm.ring import Cursor, Turns
from ptxgemm.store import Scale, Target
from ptxgemm.tiling import LINE_BYTES, WARPGROUP

if TYPE_CHECKING:
    from ptxgemm.kernels.wgmma import Work

WARPS = WARPGROUP // 32
"""Each of them says itself that it has read a stage."""
DEPTH = 8
"""Elements of K of one wgmma."""
WORD = 4
"""Bytes of an element."""
COLUMNS = 4
"""Neighbouring columns of C that a thread has of each of its rows."""

Fragments = tuple[tuple[Reg, ...], ...]
"""Of a K step: by wgmma along K, and by block, two columns at one element of K and at the one four
on.
"""


@dataclass(frozen=True)
class Consumer:
    """A thread of a warpgroup that multiplies."""

    lead: Reg
    """Whether it is the first of its warpgroup."""
    elected: Reg
    """Whether it is the first of its warp."""
    fragments: tuple[tuple[Reg, Reg], ...]
    """Where its columns of B are in the first stage, by block, at its element of K and four on."""
    a: Reg
    """The descriptor of A in the first stage."""
    column: Reg
    """Its first column of a tile, and its first row."""
    row: Reg
    crossed: Reg
    """Whether the first block has the last two of its columns."""
    sums: tuple[tuple[Reg, ...], ...]
    """By block."""
    held: tuple[Fragments, Fragments]
    """Of K steps in turn: while some are multiplied, the next ones are loaded."""


def consume(k: Kernel, work: Work, target: Target, number: Reg, thread: Reg) -> None:
    """One warpgroup multiplies every other tile, and writes each."""
    order = work.order
    consumer, cursor = _consumer(k, work, thread), rings.emptier(k)
    turns = rings.turns(k, work.taken_turns, number)
    rings.skip(k, work.ring, cursor, number * work.steps)
    first = k.mad.lo.u32(number, order.step, order.first)
    with schedules.tiles(k, order, first, order.step * 2, "tile") as index:
        row, column = schedules.corner(k, order, index)
        _multiply(k, work, consumer, cursor, turns)
        rings.skip(k, work.ring, cursor, work.steps)
        _write(k, target, consumer, row + consumer.row, column + consumer.column)


def _consumer(k: Kernel, work: Work, thread: Reg) -> Consumer:
    """A line of B in shared memory has 32 columns at an element of K, in units of four that the
    swizzle places by that element. Of 16 threads that load together, at four elements, the columns
    are in units 0, 4, 1 and 5 (or 2, 6, 3 and 7), which lie in all eight places twice: those of
    odd units load the other half of theirs, so that all banks are read.
    """
    tiling = work.tiling
    lane, warp = thread & 31, thread >> 5
    group, inner = lane >> 2, lane & 3
    unit = ((group & 1) << 2) + (group >> 1)
    half = (unit & 1) << 3
    line = k.add.u32(work.stages, tiling.a_bytes)
    line = k.mad.lo.u32(warp, LINE_BYTES * tiling.tile_k, line)
    line = k.mad.lo.u32(inner, LINE_BYTES, line)
    place = (unit ^ inner) << 4
    upper, lower = line + (place | half), line + ((place | half) ^ 64)
    start = work.stages & tma.ADDRESS_BITS
    steps = tiling.tile_k // DEPTH
    first, second = (tuple(k.reg("b32", 4) for _ in range(2 * steps)) for _ in range(2))
    return Consumer(
        lead=k.setp.eq.u32(thread, 0),
        elected=k.setp.eq.u32(lane, 0),
        fragments=((upper, lower), (upper ^ 8, lower ^ 8)),
        a=k.or_.b64(k.cvt.u64.u32(start >> 4), work.a.descriptor),
        column=k.mad.lo.u32(warp, tiling.tile_k, unit * COLUMNS),
        row=inner * 2,
        crossed=k.setp.ne.u32(half, 0),
        sums=tuple(k.reg("f32", tiling.sums // 2) for _ in range(2)),
        held=(first, second),
    )


# ---------------------------------------------------------------- multiplying


def _multiply(k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, turns: Turns) -> None:
    """The sums of one tile, two K steps at a time; their number is even."""
    ring = work.ring
    pairs = work.steps >> 1
    before = k.mov.u32(cursor.stage)
    rings.take(k, turns)
    rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
    _load(k, work, consumer, 0, cursor.stage)
    with k.branch(k.setp.gt.u32(pairs, 1)), k.loop(1, pairs, name="main") as pair:
        first = _pair(k, work, consumer, cursor, before, k.setp.ne.u32(pair, 1))
        k.wgmma.wait_group.sync.aligned(1)
        _release(k, work, consumer, first, consumer.elected)
        rings.advance(k, ring, cursor)
        rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
        _load(k, work, consumer, 0, cursor.stage)
    first = _pair(k, work, consumer, cursor, before, k.setp.ne.u32(pairs, 1))
    rings.advance(k, ring, cursor)
    rings.pass_on(k, turns, consumer.lead)
    k.wgmma.wait_group.sync.aligned(0)
    _release(k, work, consumer, first, consumer.elected)
    _release(k, work, consumer, before, consumer.elected)


def _pair(
    k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, before: Reg, later: Reg
) -> Reg:
    """The wgmmas of two K steps, of which the first one's fragments are loaded. Where `later`, it
    frees the stage `before`, and leaves the second one's there; the first one's is the result.
    """
    ring = work.ring
    first = k.mov.u32(cursor.stage)
    _issue(k, work, consumer, 0, first, later)
    rings.advance(k, ring, cursor)
    rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
    k.wgmma.wait_group.sync.aligned(1)
    _release(k, work, consumer, before, consumer.elected & later)
    _load(k, work, consumer, 1, cursor.stage)
    always = k.setp.eq.u32(work.steps, work.steps)
    _issue(k, work, consumer, 1, cursor.stage, always)
    k.mov.u32(cursor.stage, out=before)
    return first


def _load(k: Kernel, work: Work, consumer: Consumer, turn: int, stage: Reg) -> None:
    """The fragments of a K step."""
    offset = stage * work.tiling.stage_bytes
    places = [(upper + offset, lower + offset) for upper, lower in consumer.fragments]
    for index, fragment in enumerate(consumer.held[turn]):
        number, block = divmod(index, 2)
        upper, lower = places[block]
        along = number * DEPTH * LINE_BYTES
        k.ld.shared.v2.b32(Addr(upper, along), out=fragment[:2])
        k.ld.shared.v2.b32(Addr(lower, along + 4 * LINE_BYTES), out=fragment[2:])


def _issue(k: Kernel, work: Work, consumer: Consumer, turn: int, stage: Reg, later: Reg) -> None:
    """The wgmmas of a K step; where not `later`, the first overwrite the sums."""
    always = k.setp.eq.u32(work.steps, work.steps)
    a = consumer.a + k.cvt.u64.u32(stage * (work.tiling.stage_bytes >> 4))
    k.wgmma.fence.sync.aligned()
    for index, fragment in enumerate(consumer.held[turn]):
        number, block = divmod(index, 2)
        part = k.add.s64(a, number * work.a.step) if number else a
        added = always if number else later
        k.op(work.tiling.instruction, consumer.sums[block], fragment, part, added, 1, 1)
    k.wgmma.commit_group.sync.aligned()


def _release(k: Kernel, work: Work, consumer: Consumer, stage: Reg, elected: Reg) -> None:
    """Tell the producer that this warp has read a stage."""
    barrier = rings.barrier(k, work.ring.empty, stage)
    with k.when(elected):
        k.mbarrier.arrive.shared__cta.b64(barrier, out=SINK)


# ---------------------------------------------------------------- writing


@dataclass(frozen=True)
class Row:
    """A thread's four elements of a row of C."""

    below: int
    """How far it is below the thread's first one."""
    at: Reg
    """The address, in some matrix."""
    values: tuple[Reg, ...]


def _write(k: Kernel, target: Target, consumer: Consumer, row: Reg, column: Reg) -> None:
    """A thread's elements from [`row`, `column`] on: two of every eight rows, four columns."""
    scale, pitch = target.scale, k.mul.wide.u32(target.pitch, WORD)
    left = k.sub.s32(target.m, row)
    inside = [
        k.setp.lt.u32(column + number if number else column, target.n) for number in range(COLUMNS)
    ]
    for one, other in zip(*consumer.sums, strict=True):
        first = k.selp.f32(other, one, consumer.crossed)
        k.selp.f32(one, other, consumer.crossed, out=other)
        k.mov.f32(first, out=one)
    new = _rows(k, consumer, target.c, pitch, row, column)
    if scale is None:
        for rows in new:
            _store(k, target, rows, left, inside)
        return
    # Eight rows at a time: to load more at once takes registers that there are not.
    wanted = k.setp.neu.f32(scale.beta, 0.0)
    read = [wanted & one for one in inside]
    old = _rows(k, consumer, scale.old, scale.row, row, column)
    for before, rows in zip(old, new, strict=True):
        _scale(k, scale, before, left, read)
        _store(k, target, rows, left, inside)


def _rows(
    k: Kernel, consumer: Consumer, matrix: Reg, pitch: Reg, row: Reg, column: Reg
) -> Iterator[list[Row]]:
    """Two of every eight, in a matrix whose rows are `pitch` bytes apart."""
    first, second = consumer.sums
    at = k.mad.lo.s64(k.cvt.s64.u32(row), pitch, k.add.s64(matrix, k.mul.wide.u32(column, WORD)))
    step = pitch << 3
    for index in range(0, len(first), 4):
        if index:
            at = k.add.s64(at, step)
        yield [
            Row(2 * index + odd, k.add.s64(at, pitch) if odd else at, values)
            for odd in range(2)
            for values in [tuple(sums[index + odd + n] for sums in (first, second) for n in (0, 2))]
        ]


def _scale(k: Kernel, scale: Scale, rows: list[Row], left: Reg, read: list[Reg]) -> None:
    """alpha times the sums, plus beta times what was there; where beta is 0, that is not read."""
    for row in rows:
        exists = k.setp.gt.s32(left, row.below)
        for number, value in enumerate(row.values):
            old = k.mov.f32(0.0)
            with k.when(exists & read[number]):
                k.ld.global_.f32(Addr(row.at, number * WORD), out=old)
            k.mul.rn.f32(value, scale.alpha, out=value)
            k.fma.rn.f32(scale.beta, old, value, out=value)


def _store(k: Kernel, target: Target, rows: list[Row], left: Reg, inside: list[Reg]) -> None:
    for row in rows:
        exists = k.setp.gt.s32(left, row.below)
        if target.tiling.store == "vectors":
            with k.when(exists & inside[0]):
                k.st.global_.v4.f32(row.at, row.values)
            continue
        for number, value in enumerate(row.values):
            with k.when(exists & inside[number]):
                k.st.global_.f32(Addr(row.at, number * WORD), value)
