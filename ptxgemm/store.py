"""From a warpgroup's accumulators to C: scaled, rounded, and by way of shared memory.

A thread of ``wgmma`` holds, of every 8 columns, columns 2t and 2t + 1 of rows g and g + 8, where
its lane is 4g + t (:func:`ptx.layouts.wgmma_accumulator`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.tiling import ATOM_BYTES, LINE_BYTES, ROWS, WARPGROUP, Tiling


@dataclass(frozen=True)
class Target:
    """C [m, n], rows `pitch` elements apart."""

    tiling: Tiling
    c: Reg
    pitch: Reg
    m: Reg
    n: Reg
    map: Reg | None = None
    alpha: Reg | None = None
    beta: Reg | None = None


@dataclass(frozen=True)
class Writer:
    """A thread of the warpgroup that writes."""

    thread: Reg
    """In the warpgroup."""
    lead: Reg
    """Whether it is thread 0."""
    staging: Reg
    """The warpgroup's own shared memory."""
    barrier: Reg
    """The warpgroup's own barrier."""
    slots: tuple[Reg, ...]
    """Where in the staged rows its first values go; see :func:`writer`."""


def writer(k: Kernel, tiling: Tiling, warpgroup: Reg, thread: Reg, staging: Reg) -> Writer:
    """What can be computed before the first tile; `warpgroup` counts from 0."""
    own = k.mad.lo.u32(warpgroup, tiling.staging_bytes // 2, staging)
    lane, warp = thread & 31, thread >> 5
    if tiling.out_bytes == 2:
        # stmatrix x4: lanes 0 to 15 point to 16 rows of 8 columns, lanes 16 to 31 to the next 8.
        row, unit, inside = k.mad.lo.u32(warp, 16, lane & 15), lane >> 4, None
    else:
        row, unit = k.mad.lo.u32(warp, 16, lane >> 2), (lane >> 1) & 1
        inside = (lane & 1) * 8
    start = k.mad.lo.u32(row, tiling.staging_pitch, own)
    if inside is not None:
        start = start + inside
    if tiling.store == "tensor":
        swizzle = row & 7
        slots = tuple(k.mad.lo.u32((unit + 2 * u) ^ swizzle, 16, start) for u in range(4))
    else:
        slots = (k.mad.lo.u32(unit, 16, start),)
    return Writer(thread, k.setp.eq.u32(thread, 0), own, k.add.u32(warpgroup, 1), slots)


def write(
    k: Kernel, target: Target, writer: Writer, sums: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """The warpgroup's rows of a tile, from [`row`, `column`] on; the sums are used up."""
    tiling = target.tiling
    each = len(sums) * ROWS // tiling.rows
    for block in range(tiling.rows // ROWS):
        part = sums[block * each : (block + 1) * each]
        first = row + ROWS * block if block else row
        if target.alpha is not None and target.beta is not None:
            _scale(k, target, writer, part, first, column)
        if tiling.store == "words" and tiling.out_bytes == 4:
            for value, inside, at in _elements(k, target, writer, part, first, column):
                with k.when(inside):
                    k.st.global_.b32(at, value)
            continue
        for left in range(0, tiling.tile_n, tiling.staged_columns):
            count = min(tiling.staged_columns, tiling.tile_n - left)
            staged = part[left // 2 : (left + count) // 2]
            if tiling.store == "tensor":
                _write_tensor(k, target, writer, staged, first, column + left)
            else:
                _write_words(k, target, writer, staged, first, column + left)


def finish(k: Kernel, tiling: Tiling, writer: Writer) -> None:
    """Wait until all is written."""
    if tiling.store == "tensor":
        with k.when(writer.lead):
            k.cp.async_.bulk.wait_group(0)


# ---------------------------------------------------------------- tensor copies


def _write_tensor(
    k: Kernel, target: Target, writer: Writer, part: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """Stage up to two lines of columns and let the copy engine store them."""
    tiling = target.tiling
    columns = LINE_BYTES // tiling.out_bytes
    with k.when(writer.lead):
        k.cp.async_.bulk.wait_group.read(0)
    k.bar.sync(writer.barrier, WARPGROUP)
    lines = len(part) * 2 // columns
    for line in range(lines):
        values = part[line * columns // 2 : (line + 1) * columns // 2]
        _stage_line(k, tiling, writer, values, line * ROWS * LINE_BYTES)
    k.fence.proxy.async_.shared__cta()
    k.bar.sync(writer.barrier, WARPGROUP)
    places = [column + line * columns if line else column for line in range(lines)]
    sources = [k.add.u32(writer.staging, line * ROWS * LINE_BYTES) for line in range(lines)]
    with k.when(writer.lead):
        for place, source in zip(places, sources, strict=True):
            k.cp.async_.bulk.tensor._2d.global_.shared__cta.tile.bulk_group(
                (target.map, (place, row)), source
            )
        k.cp.async_.bulk.commit_group()


def _stage_line(
    k: Kernel, tiling: Tiling, writer: Writer, values: Sequence[Reg], offset: int
) -> None:
    """64 rows of 128 bytes, swizzled as the copy engine reads them."""
    if tiling.out_bytes == 2:
        for u, slot in enumerate(writer.slots):
            packed = _packed(k, tiling.out, values[8 * u : 8 * u + 8])
            k.stmatrix.sync.aligned.m8n8.x4.shared.b16(Addr(slot, offset), packed)
        return
    for u, slot in enumerate(writer.slots):
        a, b, c, d = values[4 * u : 4 * u + 4]
        k.st.shared.v2.b32(Addr(slot, offset), (a, b))
        k.st.shared.v2.b32(Addr(slot, offset + ATOM_BYTES), (c, d))


def _packed(k: Kernel, out: str, values: Sequence[Reg]) -> list[Reg]:
    """Pairs of neighbouring columns in one register each, the left one in the low half."""
    return [k.op(f"cvt.rn.{out}x2.f32", values[i + 1], values[i]) for i in range(0, len(values), 2)]


# ---------------------------------------------------------------- words


def _write_words(
    k: Kernel, target: Target, writer: Writer, part: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """Stage 16-bit columns, then let each warp store its 16 rows, 32 words of 4 bytes at a time.

    Where a row starts in the middle of a word, its words hold the columns 2i - 1 and 2i.
    """
    columns = len(part) * 2
    pitch = target.tiling.staging_pitch
    lane, warp = writer.thread & 31, writer.thread >> 5
    k.bar.warp.sync(0xFFFFFFFF)
    for u in range(columns // 16):
        packed = _packed(k, target.tiling.out, part[8 * u : 8 * u + 8])
        k.stmatrix.sync.aligned.m8n8.x4.shared.b16(Addr(writer.slots[0], 32 * u), packed)
    k.bar.warp.sync(0xFFFFFFFF)

    # What is left decides, not the clamped limit: of `min(max(left, 0), 64) == 64` ptxas 13.0 makes
    # one VIMNMX.RELU with both predicates in one register, which says the opposite.
    first = k.mad.lo.u32(warp, 16, row)
    columns_left, rows_left = k.sub.s32(target.n, column), k.sub.s32(target.m, first)
    limit, rows = _clamped(k, columns_left, columns), _clamped(k, rows_left, 16)
    source = k.mad.lo.u32(warp, 16 * pitch, writer.staging)
    at = _address(k, target, first, column)
    step = k.mul.wide.u32(target.pitch, 2)
    low, high = k.mov.b16(0), k.mov.b16(0)
    last = k.and_.pred(k.setp.eq.u32(lane, 0), k.setp.ge.s32(columns_left, columns))
    with k.branch(k.setp.gt.s32(rows_left, 0)), k.loop(0, rows, name="rows"):
        odd = (k.cvt.u32.u64(at) >> 1) & 1
        element = lane * 2 - odd
        word = at + k.mul.wide.s32(element, 2)
        staged = k.mad.lo.u32(element, 2, source)
        for i in range(columns // 64):
            place = element + 64 * i if i else element
            has_low, has_high = k.setp.lt.u32(place, limit), k.setp.lt.u32(place + 1, limit)
            both = has_low & has_high
            with k.when(has_low):
                k.ld.shared.b16(Addr(staged, 128 * i), out=low)
            with k.when(has_high):
                k.ld.shared.b16(Addr(staged, 128 * i + 2), out=high)
            packed = k.mov.b32((low, high))
            only_low, only_high = has_low ^ both, has_high ^ both
            with k.when(both):
                k.st.global_.b32(Addr(word, 128 * i), packed)
            with k.when(only_low):
                k.st.global_.b16(Addr(word, 128 * i), low)
            with k.when(only_high):
                k.st.global_.b16(Addr(word, 128 * i + 2), high)
        rest = last & k.setp.eq.u32(odd, 1)
        with k.when(rest):
            k.ld.shared.b16(Addr(source, 2 * columns - 2), out=low)
            k.st.global_.b16(Addr(at, 2 * columns - 2), low)
        k.add.u32(source, pitch, out=source)
        k.add.s64(at, step, out=at)


def _clamped(k: Kernel, value: Reg, limit: int) -> Reg:
    """`value` between 0 and `limit`."""
    clamped: Reg = k.max.s32(k.min.s32(value, limit), 0)
    return clamped


# ---------------------------------------------------------------- single elements


def _scale(
    k: Kernel, target: Target, writer: Writer, part: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """alpha times the sums, plus beta times C; where beta is 0, C is not read."""
    for value in part:
        k.mul.rn.f32(value, target.alpha, out=value)
    out = target.tiling.out
    old = k.mov.b16(0) if target.tiling.out_bytes == 2 else k.mov.f32(0.0)
    with k.branch(k.setp.neu.f32(target.beta, 0.0)):
        for value, inside, at in _elements(k, target, writer, part, row, column):
            with k.when(inside):
                if out == "f32":
                    k.ld.global_.f32(at, out=old)
                else:
                    k.ld.global_.b16(at, out=old)
            wide = old if out == "f32" else k.op(f"cvt.f32.{out}", old)
            with k.when(inside):
                k.fma.rn.f32(target.beta, wide, value, out=value)


def _elements(
    k: Kernel, target: Target, writer: Writer, part: Sequence[Reg], row: Reg, column: Reg
) -> Iterator[tuple[Reg, Reg, Addr]]:
    """Each of a thread's values, whether it lies in C, and where."""
    lane, warp = writer.thread & 31, writer.thread >> 5
    upper = k.mad.lo.u32(warp, 16, row + (lane >> 2))
    left = column + (lane & 3) * 2
    for half in range(2):
        own = upper + 8 * half if half else upper
        outside = k.setp.ge.u32(own, target.m)
        columns = k.sub.s32(target.n, left)
        with k.when(outside):
            k.mov.s32(0, out=columns)
        at = _address(k, target, own, left)
        for index in range(2 * half, len(part), 4):
            for odd in range(2):
                place = index // 4 * 8 + odd
                inside = k.setp.gt.s32(columns, place)
                yield part[index + odd], inside, Addr(at, place * target.tiling.out_bytes)


def _address(k: Kernel, target: Target, row: Reg, column: Reg) -> Reg:
    """The address of C[row, column] in 64 bits."""
    index = k.mad.wide.u32(row, target.pitch, k.cvt.u64.u32(column))
    at: Reg = target.c + (index << (target.tiling.out_bytes.bit_length() - 1))
    return at
