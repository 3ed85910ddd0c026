"""The consumers of tf32 products whose B lies along N: B goes to the tensor core by registers.

wgmma reads tf32 from shared memory along K alone, but takes its left operand from registers too. So
a warpgroup multiplies the transpose, a tile of C^T = B^T A^T: A^T is read along K where it lies,
and each thread loads its fragments of B^T from shared memory, in whatever direction they lie there.
Both warpgroups read all of A's tile, and each of them 64 columns of B's.

Which columns of C are which rows of a fragment is free. Here a thread has two neighbouring columns
of each of its rows of C, which it loads at once, into the registers where wgmma wants them, and
stores at once; a warp stores whole sectors of 32 bytes.

On an H200 tiles of 256 rows take 0.98 times as long as 128 x 128 with B along K at 4096³ and 8192³,
whose copy that turns B they save: 401 us instead of 432 at 4096³, where the tensor cores are busy
95% of the time. With 3 stages they take 1.28 times as long as with 4; groups of 4 and 16 rows of
tiles, a cluster of two that loads A together, and fragments loaded after one or two of a K step's
four wgmmas instead of all made no difference beyond 1%.
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
from ptxgemm.ring import Cursor
from ptxgemm.store import Scale, Target
from ptxgemm.tiling import LINE_BYTES, SLICES, WARPGROUP

if TYPE_CHECKING:
    from ptxgemm.kernels.wgmma import Work

READERS = 2 * WARPGROUP // 32
"""Warps of both warpgroups; each of them says itself that it has read a stage."""
DEPTH = 8
"""Elements of K of one wgmma."""
WORD = 4
"""Bytes of an element."""
COLUMNS = 2
"""Neighbouring columns of C that a thread has of each of its rows."""

Fragments = tuple[tuple[Reg, ...], ...]
"""Of a K step, by wgmma: two columns at one element of K and at the one four on."""


@dataclass(frozen=True)
class Consumer:
    """A thread of a warpgroup that multiplies."""

    elected: Reg
    """Whether it is the first of its warp."""
    upper: Reg
    """Where its columns of B are in the first stage, at its element of K and four on."""
    lower: Reg
    a: Reg
    """The descriptor of A in the first stage."""
    column: Reg
    """Its first column of a tile, and its first row."""
    row: Reg
    sums: tuple[Reg, ...]
    held: tuple[Fragments, Fragments]
    """Of K steps in turn: while some are multiplied, the next ones are loaded."""


def consume(k: Kernel, work: Work, target: Target, number: Reg, thread: Reg) -> None:
    """One warpgroup multiplies its half of the columns of tile after tile, and writes it."""
    order = work.order
    consumer, cursor = _consumer(k, work, number, thread), rings.emptier(k)
    with schedules.tiles(k, order, order.first, order.step, "tile") as index:
        row, column = schedules.corner(k, order, index)
        _multiply(k, work, consumer, cursor)
        _write(k, target, consumer, row + consumer.row, column + consumer.column)


def _consumer(k: Kernel, work: Work, number: Reg, thread: Reg) -> Consumer:
    """Two warps share a box of 32 columns, whose line in shared memory has them at an element of K,
    in units of four that the swizzle places by that element. Of 16 threads that load together, at
    four elements, the columns are in units 0, 4, 1 and 5 (or 2, 6, 3 and 7), which lie in all eight
    places twice: those of odd units load the other half of theirs, so that all banks are read. The
    warp's other threads load the halves that are left.
    """
    tiling = work.tiling
    lane, warp = thread & 31, thread >> 5
    group, inner = lane >> 2, lane & 3
    unit = ((group & 1) << 2) + ((group >> 1) & 1) + ((warp & 1) << 1)
    half = (unit ^ (group >> 2)) & 1
    box = (number << 1) + (warp >> 1)
    line = k.add.u32(work.stages, tiling.a_bytes)
    line = k.mad.lo.u32(box, LINE_BYTES * tiling.tile_k, line)
    line = k.mad.lo.u32(inner, LINE_BYTES, line)
    place = (unit ^ inner) << 4 | half << 3
    start = work.stages & tma.ADDRESS_BITS
    column = k.mad.lo.u32(box, tiling.tile_k, unit * (2 * COLUMNS))
    steps = tiling.tile_k // DEPTH
    first, second = (tuple(k.reg("b32", 4) for _ in range(steps)) for _ in range(2))
    return Consumer(
        elected=k.setp.eq.u32(lane, 0),
        upper=line + place,
        lower=line + (place ^ 64),
        a=k.or_.b64(k.cvt.u64.u32(start >> 4), work.a.descriptor),
        column=column + half * COLUMNS,
        row=inner * 2,
        sums=k.reg("f32", tiling.sums),
        held=(first, second),
    )


# ---------------------------------------------------------------- multiplying


def _multiply(k: Kernel, work: Work, consumer: Consumer, cursor: Cursor) -> None:
    """The sums of one tile, two K steps at a time; their number is even. The last one may be cut
    short.
    """
    pairs = work.steps >> 1
    always = k.setp.eq.u32(work.steps, work.steps)
    before = k.mov.u32(cursor.stage)
    rings.wait(k, rings.barrier(k, work.ring.full, cursor.stage), cursor.parity)
    _load(k, work, consumer, 0, cursor.stage)
    with k.branch(k.setp.gt.u32(pairs, 1)), k.loop(1, pairs, name="main") as pair:
        first = _step(k, work, consumer, cursor, 0, before, k.setp.ne.u32(pair, 1))
        second = _step(k, work, consumer, cursor, 1, first, always)
        k.mov.u32(second, out=before)
    first = _step(k, work, consumer, cursor, 0, before, k.setp.ne.u32(pairs, 1))
    _issue(k, work, consumer, 1, cursor.stage, always, work.tiling.last_slices)
    second = k.mov.u32(cursor.stage)
    rings.advance(k, work.ring, cursor)
    k.wgmma.wait_group.sync.aligned(0)
    _release(k, work, first, consumer.elected)
    _release(k, work, second, consumer.elected)


def _step(
    k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, turn: int, before: Reg, later: Reg
) -> Reg:
    """The wgmmas of a K step, whose fragments are loaded and whose stage is the result, and the
    fragments of the next one, where those of the step before were. Where there is one before,
    `later`, its stage is freed; else the first wgmma overwrites the sums.
    """
    stage = k.mov.u32(cursor.stage)
    _issue(k, work, consumer, turn, stage, later)
    rings.advance(k, work.ring, cursor)
    rings.wait(k, rings.barrier(k, work.ring.full, cursor.stage), cursor.parity)
    k.wgmma.wait_group.sync.aligned(1)
    _release(k, work, before, consumer.elected & later)
    _load(k, work, consumer, 1 - turn, cursor.stage)
    return stage


def _load(k: Kernel, work: Work, consumer: Consumer, turn: int, stage: Reg) -> None:
    """The fragments of a K step."""
    offset = stage * work.tiling.stage_bytes
    upper, lower = consumer.upper + offset, consumer.lower + offset
    for number, fragment in enumerate(consumer.held[turn]):
        along = number * DEPTH * LINE_BYTES
        k.ld.shared.v2.b32(Addr(upper, along), out=fragment[:2])
        k.ld.shared.v2.b32(Addr(lower, along + 4 * LINE_BYTES), out=fragment[2:])


def _issue(
    k: Kernel, work: Work, consumer: Consumer, turn: int, stage: Reg, later: Reg,
    slices: int = SLICES,
) -> None:  # fmt: skip
    """The wgmmas of a K step's first `slices`; where not `later`, the first overwrites the sums."""
    always = k.setp.eq.u32(work.steps, work.steps)
    a = consumer.a + k.cvt.u64.u32(stage * (work.tiling.stage_bytes >> 4))
    k.wgmma.fence.sync.aligned()
    for number, fragment in enumerate(consumer.held[turn][:slices]):
        part = k.add.s64(a, number * work.a.step) if number else a
        added = always if number else later
        k.op(work.tiling.instruction, consumer.sums, fragment, part, added, 1, 1)
    k.wgmma.commit_group.sync.aligned()


def _release(k: Kernel, work: Work, stage: Reg, elected: Reg) -> None:
    """Tell the producer that this warp has read a stage."""
    barrier = rings.barrier(k, work.ring.empty, stage)
    with k.when(elected):
        k.mbarrier.arrive.shared__cta.b64(barrier, out=SINK)


# ---------------------------------------------------------------- writing


@dataclass(frozen=True)
class Row:
    """A thread's two elements of a row of C."""

    below: int
    """How far it is below the thread's first one."""
    at: Reg
    """The address, in some matrix."""
    values: tuple[Reg, ...]


def _write(k: Kernel, target: Target, consumer: Consumer, row: Reg, column: Reg) -> None:
    """A thread's elements from [`row`, `column`] on: two of every eight rows, two columns."""
    scale, pitch = target.scale, k.mul.wide.u32(target.pitch, WORD)
    left = k.sub.s32(target.m, row)
    inside = [
        k.setp.lt.u32(column + number if number else column, target.n) for number in range(COLUMNS)
    ]
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
    sums = consumer.sums
    at = k.mad.lo.s64(k.cvt.s64.u32(row), pitch, k.add.s64(matrix, k.mul.wide.u32(column, WORD)))
    step = pitch << 3
    for index in range(0, len(sums), 4):
        if index:
            at = k.add.s64(at, step)
        yield [
            Row(
                2 * index + odd,
                k.add.s64(at, pitch) if odd else at,
                (sums[index + odd], sums[index + odd + 2]),
            )
            for odd in range(2)
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
                k.st.global_.v2.f32(row.at, row.values)
            continue
        for number, value in enumerate(row.values):
            with k.when(exists & inside[number]):
                k.st.global_.f32(Addr(row.at, number * WORD), value)
