"""From sums to a result whose rows take no vector stores, by way of shared memory.

A thread holds four neighbouring columns, so that stores of single elements by a warp fall 16 bytes
apart: each request touches every sector of its rows, and writes a quarter of it. Through shared
memory neighbouring lanes get neighbouring columns, and a request fills its sectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.epilogue import Bounds, Target, move, where
from ptxgemm.index import divide
from ptxgemm.shape import LANES, VECTOR, WORD, Shape
from ptxgemm.tail import Edge
from ptxgemm.warp import Place, Sums


@dataclass(frozen=True)
class Gathering:
    """How a warp hands its rows over: ``rows`` x ``columns`` at a time, as one block of 4x4 of each
    lane or several side by side, read back `width` columns a lane."""

    shape: Shape
    width: int

    @property
    def rows(self) -> int:
        return self.shape.block_m

    @property
    def columns(self) -> int:
        """A line of 128 bytes, where a warp has so many."""
        return min(self.shape.warp_n, max(LANES, self.shape.block_n))

    @property
    def across(self) -> int:
        """Lanes side by side in a row."""
        return min(LANES, self.columns // self.width)

    @property
    def rows_at_once(self) -> int:
        """Rows that the lanes of a warp read at once."""
        return LANES // self.across

    @property
    def pitch(self) -> int:
        """Elements from a row to the next in shared memory."""
        return self.columns + self.width

    def offset(self, row: int) -> int:
        """Bytes to a row. Those that the lanes store at once follow each other, and fall into other
        banks where eight lanes lie side by side and `width` is 1; else two share one, or four."""
        block, number = divmod(row, VECTOR)
        return (number * self.shape.lanes_m + block) * self.pitch * WORD

    @property
    def warp_bytes(self) -> int:
        return self.rows * self.pitch * WORD

    @property
    def fits(self) -> bool:
        """Whether lanes side by side read a whole row, and the stages, free by then, have room."""
        whole = self.columns <= LANES * self.width
        return whole and self.shape.warps * self.warp_bytes <= self.shape.shared_bytes


def place(k: Kernel, one: Gathering, thread: Reg) -> Place:
    """Of the first element that a thread reads back, in the CTA's tile."""
    shape = one.shape
    warp, lane = divide(thread, LANES)
    warp_m, warp_n = divide(warp, shape.warps_n)
    row, column = divide(lane, one.across)
    return Place(
        row=k.mad.lo.u32(warp_m, shape.warp_m, row),
        column=k.mad.lo.u32(warp_n, shape.warp_n, column * one.width),
    )


def write(
    k: Kernel,
    one: Gathering,
    sums: Sums,
    edge: Edge,
    bounds: Bounds | None,
    d: Target,
    alpha: Reg,
    tile: Reg,
    thread: Reg,
) -> None:
    """Write a warp's sums, times alpha, to `d`, which the bounds are of too: from :func:`place` on.

    `tile` is the shared address of the stages, which nothing is on its way to.
    """
    shape = one.shape
    # All before the first barrier, so that the sums themselves end there.
    scaled = [[k.mul.rn.f32(alpha, value) for value in row] for row in sums]
    k.bar.sync(0)
    warp, lane = divide(thread, LANES)
    lane_m, lane_n = divide(lane, shape.lanes_n)
    own = k.mad.lo.u32(warp, one.warp_bytes, tile)
    put = k.mad.lo.u32(lane_m * one.pitch + lane_n * VECTOR, WORD, own)
    row, column = divide(lane, one.across)
    block, number = divide(row, VECTOR)
    stored = number * shape.lanes_m + block
    got = k.mad.lo.u32(stored * one.pitch + column * one.width, WORD, own)
    blocks = one.columns // shape.block_n
    walk = Walk(k, one, d)
    for first in range(0, shape.thread_m, VECTOR):
        for group in range(0, shape.thread_n // VECTOR, blocks):
            if first or group:
                meet(k)
            for i in range(VECTOR):
                for j in range(blocks * VECTOR):
                    value = scaled[first + i][group * VECTOR + j]
                    # One by one: a vector would pin the sums to aligned quads.
                    along = j // VECTOR * shape.block_n + j % VECTOR
                    k.st.shared.f32(Addr(put, one.offset(i) + along * WORD), value)
            meet(k)
            ahead = first // VECTOR * one.rows, group * shape.block_n
            _rows(k, one, edge, bounds, walk, got, ahead)


def meet(k: Kernel) -> None:
    """The lanes of a warp have seen each other's accesses to shared memory.

    The barrier alone orders these; around it without the fence ptxas 13.0 gives the sums registers
    of one bank all through the main loop, which costs a third of its speed.
    """
    k.fence.acq_rel.cta()
    k.bar.warp.sync(0xFFFFFFFF)


def _rows(
    k: Kernel, one: Gathering, edge: Edge, bounds: Bounds | None, walk: Walk, got: Reg,
    ahead: tuple[int, int],
) -> None:  # fmt: skip
    """Write what was handed over: of the warp's part so many rows and columns further on."""
    down, along = ahead
    rows_left = None
    if bounds is not None:
        inside = k.setp.gt.s32(bounds.columns, along + one.width - 1)
        rows_left = k.selp.b32(bounds.rows, 0, inside, out=k.reg("s32"))
    rows: Sequence[int] = range(0, one.rows, one.rows_at_once)
    if walk.row > down:
        rows = rows[::-1]
    for row in rows:
        at = Addr(walk.to(down + row), along * WORD)
        test = None if rows_left is None else k.setp.gt.s32(rows_left, down + row)
        values = k.reg("f32", one.width)
        move(k, "ld.shared", one.width, Addr(got, one.offset(row)), values)
        with where(k, test, edge):
            move(k, "st.global", one.width, at, values)


class Walk:
    """The address of a thread's element as it goes down the rows of a matrix and up again.

    Up again, as the addresses of the way down would be kept in registers for a second time.
    """

    def __init__(self, k: Kernel, one: Gathering, target: Target) -> None:
        self.row = 0
        self._k, self._at, self._target, self._each = k, target.at, target, one.rows_at_once
        self._step = k.mul.lo.s64(target.row, one.rows_at_once * WORD)

    def to(self, row: int) -> Reg:
        """The address in so many rows from the first."""
        k, far = self._k, row - self.row
        if far == self._each:
            self._at = self._at + self._step
        elif far == -self._each:
            self._at = self._at - self._step
        elif far:
            self._at = self._at + k.mul.lo.s64(self._target.row, far * WORD)
        self.row = row
        return self._at
