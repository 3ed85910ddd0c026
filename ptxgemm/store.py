"""From a warpgroup's accumulators to C: scaled, rounded, and by way of shared memory.

A thread of ``wgmma`` holds, of every 8 columns, columns 2t and 2t + 1 of rows g and g + 8, where
its lane is 4g + t (:func:`ptx.layouts.wgmma_accumulator`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm import rounding
from ptxgemm.tiling import ATOM_BYTES, LINE_BYTES, ROWS, SUMS_LIMIT, WARPGROUP, Tiling

UNIT = 16
"""Bytes of the widest store."""
SHARERS = 16
"""Threads that store a row together."""
TOGETHER = {1: 2, 2: 2, 4: 1}
"""By the bytes of an element, rows that half a warp has under way at once, so that it waits less
for shared memory: as many as there are registers for beside 128 sums; beside more it is one.
"""


@dataclass(frozen=True)
class Scale:
    """alpha times the sums, plus beta times `old`, a matrix of C's shape and type."""

    alpha: Reg
    beta: Reg
    old: Reg
    row: Reg
    """Bytes from one row of `old` to the next, s64; its columns are dense."""


@dataclass(frozen=True)
class Target:
    """C [m, n], rows `pitch` elements apart."""

    tiling: Tiling
    c: Reg
    pitch: Reg
    m: Reg
    n: Reg
    map: Reg | None = None
    scale: Scale | None = None


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
    """Where it stages, in the first columns: its own values or, where stmatrix does that, the row
    of a matrix that it points to; for tensor copies, in each unit of a swizzled line.
    """


def writer(k: Kernel, tiling: Tiling, warpgroup: Reg, thread: Reg, staging: Reg) -> Writer:
    """What can be computed before the first tile; `warpgroup` counts from 0."""
    own = k.mad.lo.u32(warpgroup, tiling.staging_bytes // 2, staging)
    lane, warp = thread & 31, thread >> 5
    if tiling.out_bytes == 2:
        # stmatrix x4: lanes 0 to 15 point to 16 rows of 8 columns, lanes 16 to 31 to the next 8.
        row, inside, units = k.mad.lo.u32(warp, 16, lane & 15), (lane >> 4) * UNIT, 4
    else:
        # Two neighbouring columns of each 8.
        row, inside = k.mad.lo.u32(warp, 16, lane >> 2), (lane & 3) * (2 * tiling.out_bytes)
        units = 4 if tiling.out_bytes > 1 else 8
    if tiling.store == "tensor":
        start, swizzle = k.mad.lo.u32(row, LINE_BYTES, own), (row & 7) << 4
        step = LINE_BYTES // units
        slots = tuple(
            start + ((inside + step * u if u else inside) ^ swizzle) for u in range(units)
        )
    else:
        slots = (k.mad.lo.u32(row, tiling.staging_pitch, own) + inside,)
    return Writer(thread, k.setp.eq.u32(thread, 0), own, k.add.u32(warpgroup, 1), slots)


def write(
    k: Kernel, target: Target, writer: Writer, sums: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """The warpgroup's rows of a tile, from [`row`, `column`] on; the sums are used up. Where
    warpgroups take turns, those of blocks of 64 rows beyond C may be anything.
    """
    tiling = target.tiling
    each = len(sums) * ROWS // tiling.rows
    for block in range(tiling.rows // ROWS):
        part = sums[block * each : (block + 1) * each]
        first = row + ROWS * block if block else row
        if not tiling.alternate:
            _write_block(k, target, writer, part, first, column)
            continue
        with k.branch(k.setp.lt.u32(first, target.m)):
            _write_block(k, target, writer, part, first, column)


def _write_block(
    k: Kernel, target: Target, writer: Writer, part: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """64 rows, as many columns at a time as are staged."""
    tiling = target.tiling
    count = len(part) * tiling.staged_columns // tiling.tile_n
    for number in range(tiling.tile_n // tiling.staged_columns):
        held = part[number * count : (number + 1) * count]
        place = column + number * tiling.staged_columns if number else column
        if tiling.by_way_of_floats:
            held = rounding.floats(k, tiling.sum, held)
        if target.scale is not None:
            _scale(k, target, target.scale, writer, held, row, place)
        if not tiling.holds_pairs:
            integers = tiling.sum == "s32" and not tiling.by_way_of_floats
            held = rounding.stored(k, tiling.out, held, integers=integers)
        if tiling.store == "tensor":
            _write_tensor(k, target, writer, held, row, place)
        else:
            _write_units(k, target, writer, held, row, place)


def finish(k: Kernel, tiling: Tiling, writer: Writer) -> None:
    """Wait until all is written."""
    if tiling.store == "tensor":
        with k.when(writer.lead):
            k.cp.async_.bulk.wait_group(0)


# ---------------------------------------------------------------- tensor copies


def _write_tensor(
    k: Kernel, target: Target, writer: Writer, held: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """Stage up to two lines of columns and let the copy engine store them."""
    tiling = target.tiling
    columns = LINE_BYTES // tiling.out_bytes
    lines = tiling.staged_columns // columns
    with k.when(writer.lead):
        k.cp.async_.bulk.wait_group.read(0)
    k.bar.sync(writer.barrier, WARPGROUP)
    each = len(held) // lines
    for line in range(lines):
        values = held[line * each : (line + 1) * each]
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
    k: Kernel, tiling: Tiling, writer: Writer, held: Sequence[Reg], offset: int
) -> None:
    """64 rows of 128 bytes, swizzled as the copy engine reads them."""
    for u, slot in enumerate(writer.slots):
        _stage_four(k, tiling, Addr(slot, offset), ATOM_BYTES, held[4 * u : 4 * u + 4])


def _stage_four(k: Kernel, tiling: Tiling, upper: Addr, below: int, held: Sequence[Reg]) -> None:
    """Four registers of what C holds, at a thread's place in the upper eight rows and so many bytes
    below it in the lower ones.
    """
    lower = Addr(upper.base, upper.offset + below)
    if tiling.out_bytes == 4:
        a, b, c, d = held
        k.st.shared.v2.b32(upper, (a, b))
        k.st.shared.v2.b32(lower, (c, d))
    elif tiling.out_bytes == 2:
        k.stmatrix.sync.aligned.m8n8.x4.shared.b16(upper, held)
    else:
        for number, value in enumerate(held):
            block, in_lower = divmod(number, 2)
            at = lower if in_lower else upper
            k.st.shared.b16(Addr(at.base, at.offset + 8 * block), value)


# ---------------------------------------------------------------- units of 16 bytes


def _write_units(
    k: Kernel, target: Target, writer: Writer, held: Sequence[Reg], row: Reg, column: Reg
) -> None:
    """Stage each row, then let each half of a warp store its 8 rows: whole units of memory at once,
    put together of two staged ones where the row starts within one, and the elements in the units
    at both ends one by one.

    Elements that are staged one by one where they lie in their units take fewer instructions, but
    compete with the tensor cores for shared memory: with them 1024x50257x768 in bf16 takes 148 us
    instead of 129 (measured on an H200).
    """
    tiling = target.tiling
    size, pitch = tiling.out_bytes, tiling.staging_pitch
    lane, warp = writer.thread & 31, writer.thread >> 5
    k.bar.warp.sync(0xFFFFFFFF)
    _stage_rows(k, tiling, writer, held)
    k.bar.warp.sync(0xFFFFFFFF)

    half, number = lane >> 4, writer.thread & (SHARERS - 1)
    first = k.mad.lo.u32(warp, 16, row)
    own, source = first + half, k.mad.lo.u32(k.mad.lo.u32(warp, 16, half), pitch, writer.staging)
    at = _address(k, target, own, column)
    step = k.mul.wide.u32(target.pitch, 2 * size)
    # What is left decides, not the clamped limit: of `min(max(left, 0), 64) == 64` ptxas 13.0 makes
    # one VIMNMX.RELU with both predicates in one register, which says the opposite.
    columns_left, rows_left = k.sub.s32(target.n, column), k.sub.s32(target.m, first)
    row_bytes = _clamped(k, columns_left, tiling.staged_columns) * size
    together = TOGETHER[size] if tiling.accumulators <= SUMS_LIMIT else 1
    places = [_landing(k, size) for _ in range(together)]
    turns = k.div.u32(_clamped(k, rows_left, 16) + (2 * together - 1), 2 * together)
    with k.branch(k.setp.gt.s32(rows_left, 0)), k.loop(0, turns, name="rows"):
        pieces = []
        for landing in places:
            exists = k.setp.lt.u32(own, target.m)
            length = k.selp.b32(row_bytes, 0, exists)
            pieces += _row(k, size, landing, number, source, at, length)
            k.add.u32(own, 2, out=own)
            k.add.u32(source, 2 * pitch, out=source)
            k.add.s64(at, step, out=at)
        for piece in pieces:
            with k.when(piece.exists):
                k.op(piece.store, piece.at, piece.values)


@dataclass(frozen=True)
class Piece:
    """What a thread stores of a row: a whole unit, or an element of one that is not."""

    exists: Reg
    store: str
    at: Reg
    values: Any


def _stage_rows(k: Kernel, tiling: Tiling, writer: Writer, held: Sequence[Reg]) -> None:
    """A warp's 16 rows."""
    step, below = 16 if tiling.out_bytes == 1 else 32, 8 * tiling.staging_pitch
    for u in range(len(held) // 4):
        upper = Addr(writer.slots[0], step * u)
        _stage_four(k, tiling, upper, below, held[4 * u : 4 * u + 4])


@dataclass(frozen=True)
class Landing:
    """Registers for what a thread fetches of a row."""

    words: tuple[Reg, ...]
    """Of a whole unit: the two staged ones that it is put together of."""
    elements: tuple[Reg, ...]
    """Of the units at both ends."""


def _landing(k: Kernel, size: int) -> Landing:
    """Zeros in the later unit: ptxas 13.0 keeps a register that nothing but guarded instructions
    write from the kernel's start on, and spills others for so many. With zeros in the earlier one
    too it spills what is known of the schedule.
    """
    earlier = k.reg("b32", UNIT // 4)
    later = (k.mov.b32(0) for _ in range(UNIT // 4))
    elements = range(0, 2 * UNIT // size, SHARERS)
    return Landing((*earlier, *later), tuple(k.reg(f"b{max(16, 8 * size)}") for _ in elements))


def _row(
    k: Kernel, size: int, landing: Landing, number: Reg, source: Reg, at: Reg, length: Reg
) -> list[Piece]:
    """Of a row of so many bytes, staged from the shared address `source` on, the pieces that the
    thread of that number stores at `at`; 16 threads have all.
    """
    # The row lies from byte `start` to `end` of the units that it touches.
    start, units = k.cvt.u32.u64(at) & (UNIT - 1), k.and_.b64(at, -UNIT)
    end, unit = start + length, number * UNIT
    whole = k.setp.ge.u32(unit, start) & k.setp.le.u32(unit + UNIT, end)
    words = _unit(k, size, landing.words, source + unit, start, whole)
    found = [Piece(whole, "st.global.v4.b32", units + k.cvt.u64.u32(unit), words)]
    each, last = UNIT // size, k.and_.b32(end, -UNIT)
    # Of a row within one unit, that unit is the last one.
    first_exists = k.setp.ne.u32(start, 0) & k.setp.ne.u32(last, 0)
    first_end = k.selp.b32(UNIT, 0, first_exists)
    for turn, element in enumerate(landing.elements):
        own = number + SHARERS * turn if turn else number
        in_last = k.setp.ge.u32(own, each)
        inside = (own & (each - 1)) * size
        place = k.selp.b32(last + inside, inside, in_last)
        limit = k.selp.b32(end, first_end, in_last)
        exists = k.setp.ge.u32(place, start) & k.setp.lt.u32(place, limit)
        if 2 * each < SHARERS:
            exists = exists & k.setp.lt.u32(own, 2 * each)
        staged = source + (place - start)
        with k.when(exists):
            k.op(f"ld.shared.b{8 * size}", staged, out=element)
        to = units + k.cvt.u64.u32(place)
        found.append(Piece(exists, f"st.global.b{8 * size}", to, element))
    return found


def _unit(
    k: Kernel, size: int, words: tuple[Reg, ...], at: Reg, start: Reg, whole: Reg
) -> tuple[Reg, ...]:
    """The 16 bytes of a row that lie `start` before the shared address `at`, if `whole`, by way of
    `words`.
    """
    low = at - k.selp.b32(UNIT, 0, k.setp.ne.u32(start, 0))
    with k.when(whole):
        k.ld.shared.v4.b32(low, out=words[:4])
        k.ld.shared.v4.b32(at, out=words[4:])
    skipped = k.sub.u32(0, start)  # modulo 16
    for count in (2, 1):
        by = k.setp.ne.u32(skipped & 4 * count, 0)
        words = tuple(
            k.selp.b32(further, word, by)
            for word, further in zip(words, words[count:], strict=False)
        )
    if size == 4:
        return words[:4]
    bits = skipped << 3  # of which shf takes the lowest five
    return tuple(
        k.shf.r.wrap.b32(word, further, bits)
        for word, further in zip(words, words[1:], strict=False)
    )


def _clamped(k: Kernel, value: Reg, limit: int) -> Reg:
    """`value` between 0 and `limit`."""
    clamped: Reg = k.max.s32(k.min.s32(value, limit), 0)
    return clamped


# ---------------------------------------------------------------- alpha and beta


def _scale(
    k: Kernel, target: Target, scale: Scale, writer: Writer, part: Sequence[Reg], row: Reg,
    column: Reg,
) -> None:  # fmt: skip
    """alpha times the sums, plus beta times what was there; where beta is 0, that is not read."""
    out = target.tiling.out
    integers = out == "s32"
    for value in part:
        k.op("mul.lo.s32" if integers else "mul.rn.f32", value, scale.alpha, out=value)
    wanted = k.setp.ne.s32(scale.beta, 0) if integers else k.setp.neu.f32(scale.beta, 0.0)
    with k.branch(wanted):
        for value, inside, at in _elements(k, target, scale, writer, part, row, column):
            old = rounding.load(k, out, at, inside)
            with k.when(inside):
                k.op("mad.lo.s32" if integers else "fma.rn.f32", scale.beta, old, value, out=value)


def _elements(
    k: Kernel, target: Target, scale: Scale, writer: Writer, part: Sequence[Reg], row: Reg,
    column: Reg,
) -> Iterator[tuple[Reg, Reg, Addr]]:  # fmt: skip
    """Each of a thread's values, whether it lies in C, and where what was there lies."""
    size = target.tiling.out_bytes
    lane, warp = writer.thread & 31, writer.thread >> 5
    upper = k.mad.lo.u32(warp, 16, row + (lane >> 2))
    left = column + (lane & 3) * 2
    first = k.add.s64(scale.old, k.mul.wide.u32(left, size))
    for half in range(2):
        own = upper + 8 * half if half else upper
        outside = k.setp.ge.u32(own, target.m)
        columns = k.sub.s32(target.n, left)
        with k.when(outside):
            k.mov.s32(0, out=columns)
        at = k.mad.lo.s64(k.cvt.s64.u32(own), scale.row, first)
        for index in range(2 * half, len(part), 4):
            for odd in range(2):
                place = index // 4 * 8 + odd
                inside = k.setp.gt.s32(columns, place)
                yield part[index + odd], inside, Addr(at, place * size)


def _address(k: Kernel, target: Target, row: Reg, column: Reg) -> Reg:
    """The address of C[row, column] in 64 bits."""
    index = k.mad.wide.u32(row, target.pitch, k.cvt.u64.u32(column))
    at: Reg = target.c + (index << (target.tiling.out_bytes.bit_length() - 1))
    return at
