"""A of any pitch and base for narrow products: units of 16 bytes, then words, then registers.

A line of a tile is copied to shared memory from the start of the unit of 16 bytes that its first
element is in, so that an element lies in its unit as it does in global memory. What a thread of
``wgmma`` holds of A (:func:`ptx.layouts.wgmma_a_register`) is read from there and shifted. Along K
a read of a warp may take two passes, as its lines start in different words of their units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import ROWS, WARPGROUP

if TYPE_CHECKING:
    from ptxgemm.kernels.narrow import Work

UNIT = 8
"""Elements of 16 bytes."""


@dataclass(frozen=True)
class Unaligned:
    """A in global memory: lines along K, or along M, `pitch` elements apart."""

    address: Reg
    pitch: Reg
    m: Reg
    depth: Reg


# ---------------------------------------------------------------- to shared memory


@dataclass(frozen=True)
class Unit:
    """What a thread copies in each K step."""

    exists: Reg | None
    """None where all threads have one."""
    source: Reg
    step: Reg | int
    """Bytes from it to that of the next K step."""
    target: Reg
    """Bytes from the start of a stage."""
    left: Reg
    """Elements of the line from the unit's start on, less than 1 where it has none."""
    line_left: Reg | None
    """Lines along K that are left, where lines lie along M."""


def units(k: Kernel, work: Work, a: Unaligned, thread: Reg) -> list[Unit]:
    """The units of a tile, dealt out to a warpgroup."""
    tile = work.shape.unaligned
    total = tile.count * tile.units
    made = []
    for first in range(0, total, WARPGROUP):
        number = k.add.u32(thread, first)
        exists = None
        if first + WARPGROUP > total:
            exists = k.setp.lt.u32(number, total)
        made.append(_unit(k, work, a, number, exists))
    return made


def _unit(k: Kernel, work: Work, a: Unaligned, number: Reg, exists: Reg | None) -> Unit:
    shape, tile = work.shape, work.shape.unaligned
    line = k.div.u32(number, tile.units)
    unit = number - line * tile.units
    k0 = work.first * shape.tile_k
    along_k = shape.a_major == "k"
    global_line, along = (work.row + line, k0) if along_k else (k0 + line, work.row)
    index = k.mad.wide.u32(global_line, a.pitch, k.cvt.u64.u32(along))
    address = a.address + (index << 1)
    low = k.cvt.u32.u64(address) & 15
    source = address + k.cvt.u64.u32(unit * 16) - k.cvt.u64.u32(low)
    target = k.mad.lo.u32(line, tile.pitch, unit * 16) + shape.depth * shape.b_bytes
    limit = a.depth if along_k else a.m
    left = k.sub.s32(limit, along) - k.cvt.s32.u32(unit * UNIT) + k.cvt.s32.u32(low >> 1)
    if along_k:
        with k.when(k.setp.ge.u32(global_line, a.m)):
            k.mov.s32(0, out=left)
        return Unit(exists, source, 2 * shape.tile_k, target, left, None)
    step = k.mul.wide.u32(a.pitch, 2 * shape.tile_k)
    return Unit(exists, source, step, target, left, k.sub.s32(a.depth, global_line))


def copy(k: Kernel, shape: Narrow, units: Sequence[Unit], stage: Reg) -> None:
    """A K step into a stage. What lies beyond a line's end is not read, and becomes 0."""
    for unit in units:
        size = k.max.s32(k.min.s32(unit.left, UNIT), 0) * 2
        if unit.line_left is not None:
            with k.when(k.setp.le.s32(unit.line_left, 0)):
                k.mov.s32(0, out=size)
            k.sub.s32(unit.line_left, shape.tile_k, out=unit.line_left)
        else:
            k.sub.s32(unit.left, shape.tile_k, out=unit.left)
        to = k.add.u32(stage, unit.target)
        if unit.exists is None:
            k.op("cp.async.cg.shared.global", to, unit.source, 16, size)
        else:
            with k.when(unit.exists):
                k.op("cp.async.cg.shared.global", to, unit.source, 16, size)
        k.add.s64(unit.source, unit.step, out=unit.source)


# ---------------------------------------------------------------- to registers


@dataclass(frozen=True)
class Reader:
    """A thread that multiplies."""

    starts: tuple[Reg, ...]
    """Bytes from the start of a stage, along K: of its words of each of its rows; along M: of its
    first row in each of its two lines.
    """
    shifts: tuple[Reg, ...]
    """Along K: which bytes of two neighbouring words are its elements, by row, for ``prmt``."""


def reader(k: Kernel, work: Work, a: Unaligned, thread: Reg) -> Reader:
    shape, tile = work.shape, work.shape.unaligned
    lane, warp = thread & 31, thread >> 5
    row = k.mad.lo.u32(warp & 3, 16, lane >> 2)
    if shape.warpgroups > 1:
        row = k.mad.lo.u32(warp >> 2, shape.rows, row)
    pair = lane & 3
    base = shape.depth * shape.b_bytes
    low = k.cvt.u32.u64(a.address)
    starts, shifts = [], []
    if shape.a_major == "k":
        for block, half in product(range(shape.rows // ROWS), range(2)):
            own = k.add.u32(row, ROWS * block + 8 * half)
            # Lines are 2 * 64 * steps bytes further in each K step: the same within a unit.
            inside = (low + (work.row + own) * a.pitch * 2) & 15
            start = k.mad.lo.u32(own, tile.pitch, pair * 4) + (inside & 12)
            starts.append(k.add.u32(start, base))
            odd = k.setp.ne.u32(inside & 2, 0)
            shifts.append(k.selp.b32(0x5432, 0x3210, odd))
        return Reader(tuple(starts), tuple(shifts))
    for odd_k in range(2):
        line = pair * 2 + odd_k
        # Every eighth line starts the same within a unit.
        inside = (low + (k.mad.lo.u32(line, a.pitch, work.row)) * 2) & 15
        start = k.mad.lo.u32(line, tile.pitch, inside) + row * 2
        starts.append(k.add.u32(start, base))
    return Reader(tuple(starts), ())


def fragments(
    k: Kernel, shape: Narrow, reader: Reader, stage: Reg
) -> dict[tuple[int, int], tuple[Reg, ...]]:
    """A's registers for each 16 elements of K and each 64 rows."""
    starts = [k.add.u32(stage, start) for start in reader.starts]
    read = _along_k if shape.a_major == "k" else _along_m
    return {
        (deep, block): tuple(read(k, shape, reader, starts, deep, block))
        for deep, block in product(range(shape.tile_k // 16), range(shape.rows // ROWS))
    }


def _along_k(
    k: Kernel, shape: Narrow, reader: Reader, starts: Sequence[Reg], deep: int, block: int
) -> Iterator[Reg]:
    for later, half in product(range(2), range(2)):
        row = 2 * block + half
        at = 32 * deep + 16 * later
        words = (k.ld.shared.b32(Addr(starts[row], at + 4 * i)) for i in range(2))
        yield k.prmt.b32(*words, reader.shifts[row])


def _along_m(
    k: Kernel, shape: Narrow, reader: Reader, starts: Sequence[Reg], deep: int, block: int
) -> Iterator[Reg]:
    for later, half in product(range(2), range(2)):
        at = (16 * deep + 8 * later) * shape.unaligned.pitch + 2 * (ROWS * block + 8 * half)
        yield k.mov.b32(tuple(k.ld.shared.b16(Addr(start, at)) for start in starts))
