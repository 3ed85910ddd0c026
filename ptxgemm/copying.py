"""Tiles of A and B from global into shared memory, by ``cp.async`` or through registers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.blocking import CHUNK_BYTES, LINE_BYTES, Blocking, Copy
from ptxgemm.index import divide

BATCH = 8
"""Pieces in registers at once, where they go through them."""


@dataclass(frozen=True)
class Source:
    """One operand as one thread copies it. Registers of `position` move on with K."""

    blocking: Blocking
    copy: Copy
    rows: int
    """Of the tile, along M or N."""
    base: Reg
    """The address of the step's first element, in this thread's lane of the line, u64."""
    pitch: Reg
    """Bytes from a line to the next, u32."""
    step: Reg | int
    """Bytes from a step to the next."""
    line: Reg
    """This thread's first line: a row, or along K."""
    last: Reg | None
    """The last row there is; rows beyond are copied from it, and their products never stored."""
    extent: Reg | None
    """Or the number of rows, of those beyond which nothing is read."""
    left: Reg
    """What is left of K from the thread's first piece on, s32: bytes, or along ``mn`` lines."""
    size: Reg | None
    """Along ``mn``: the bytes of a piece that lie inside, 0 to the piece's size."""
    target: Reg
    """The shared address of the thread's first piece, in stage 0."""
    k_pitch: Reg | None = None
    """Scattered: bytes from an element to the next along K."""


def source(
    k: Kernel,
    blocking: Blocking,
    copy: Copy,
    rows: int,
    pointer: Reg,
    pitch: Reg,
    k_pitch: Reg | None,
    first: Reg,
    extent: Reg,
    depth: Reg,
    tile: Reg,
    thread: Reg,
) -> Source:
    """An operand of `extent` rows from row `first` on, `depth` elements along K.

    `pitch` is the distance of its dense lines in bytes; scattered, that of its rows, and `k_pitch`
    that of its elements along K. `tile` is the shared address of its tile in stage 0.
    """
    lanes = blocking.lanes(copy, rows)
    outer, lane = divide(thread, lanes)
    bits = blocking.bits
    k_bytes = depth << _log(bits // 8) if bits >= 8 else depth >> _log(8 // bits)
    last = past = size = None
    if not blocking.exact and blocking.tail.edge in ("auto", "clamped", "clamped-lines"):
        last = k.sub.u32(extent, 1)
    elif not blocking.exact:
        past = extent
    if copy.scattered:
        # Lanes lie across the rows: lines are elements of K.
        row = first + lane
        clamped = row if last is None else k.min.u32(row, last)
        at = pointer + k.mul.wide.u32(clamped, pitch)
        at = k.mad.wide.u32(outer, k_pitch, at, out=k.reg("u64"))
        left = k.sub.s32(k_bytes, outer * copy.bytes)
        if past is not None:
            left = k.selp.b32(left, 0, k.setp.lt.u32(row, past), out=k.reg("s32"))
        step: Any = k.mul.wide.u32(k_pitch, blocking.step_bytes // copy.bytes)
        target = _shared_k(k, blocking, rows, lane, outer * copy.bytes) + tile
        return Source(
            blocking, copy, rows, at, pitch, step, outer, None, None, left, None, target, k_pitch
        )
    along = lane * copy.bytes
    if copy.major == "k":
        at = pointer + k.cvt.u64.u32(along)
        left = k.sub.s32(k_bytes, along)
        target = _shared_k(k, blocking, rows, outer, along) + tile
        # Within the CTA's tile; the clamp is on the row itself.
        line = first + outer
        return Source(
            blocking, copy, rows, k.mov.b64(at, out=k.reg("u64")), pitch, blocking.step_bytes, line,
            last, past, left, None, target,
        )  # fmt: skip
    shift = _log(bits // 8)
    start = k.cvt.u64.u32(first) << shift if shift else k.cvt.u64.u32(first)
    at = pointer + start
    if not blocking.exact:
        inside = extent - first
        inside = k.sub.s32(inside << shift if shift else inside, along)
        if blocking.tail.edge == "clamped":
            # The line is a whole number of pieces: its last one is taken for those outside.
            along = k.add.s32(along, k.min.s32(k.sub.s32(inside, copy.bytes), 0))
        else:
            size = k.min.s32(k.max.s32(inside, 0), copy.bytes)
    at = at + k.cvt.u64.u32(along)
    at = k.mad.wide.u32(outer, pitch, at, out=k.reg("u64"))
    left = k.sub.s32(depth, outer)
    step = k.mul.wide.u32(pitch, blocking.tile_k)
    target = _shared_mn(k, blocking, rows, lane * copy.bytes, outer) + tile
    return Source(blocking, copy, rows, at, pitch, step, outer, None, None, left, size, target)


def fetch(
    k: Kernel, source: Source, stage: Reg, guard: Reg | None = None, moves: Reg | None = None
) -> None:
    """Copy the tile of the step that `source` stands at to the stage at byte `stage`; move on.

    Under a `guard` copies are made where it is true, and under `moves` the source moves on.
    """
    copy, blocking = source.copy, source.blocking
    target = k.add.u32(source.target, stage)
    pieces = [Piece(*one) for one in _pieces(blocking, copy, source.rows)]
    if copy.asynchronous:
        _fetch_async(k, source, target, pieces, guard)
    else:
        for first in range(0, len(pieces), BATCH):
            batch = pieces[first : first + BATCH]
            _fetch_through_registers(k, source, target, batch, guard)
    passed = blocking.step_bytes if copy.major == "k" else blocking.tile_k
    with when(k, moves):
        k.add.s64(source.base, source.step, out=source.base)
        k.sub.s32(source.left, passed, out=source.left)


def when(k: Kernel, guard: Reg | None) -> AbstractContextManager[Any]:
    """``k.when``, where there is a guard."""
    return nullcontext() if guard is None else k.when(guard)


@dataclass(frozen=True)
class Piece:
    """One of a thread's pieces: how many lines on, how many bytes along the line, where to."""

    lines: int
    along: int
    offset: int
    """Bytes in shared memory from the thread's first piece; its chunks are where the first's are,
    but for those bits that `exchange` exclusive-ors."""
    exchange: int = 0

    def ahead(self, copy: Copy) -> int:
        """Bytes along K from the thread's first piece."""
        return self.lines * copy.bytes if copy.scattered else self.along


def _pieces(blocking: Blocking, copy: Copy, rows: int) -> list[tuple[int, int, int, int]]:
    """(lines, bytes along, offset, exchange) of each piece of a thread."""
    lanes = blocking.lanes(copy, rows)
    every = blocking.threads // lanes
    if copy.scattered:
        found = []
        for across in range(0, rows, lanes):
            for depth in range(0, blocking.step_bytes // copy.bytes, every):
                offset, exchange = _place_of(blocking, copy, rows, across, depth * copy.bytes)
                found.append((depth, across, offset, exchange))
        return found
    extent, outer = blocking.extent_bytes(copy, rows), blocking.outer(copy, rows)
    found = []
    for line in range(0, outer, every):
        for along in range(0, extent, lanes * copy.bytes):
            if copy.major == "k":
                offset, exchange = _place_of(blocking, copy, rows, line, along)
            else:
                offset, exchange = _place_of(
                    blocking, copy, rows, along * 8 // blocking.bits, line * blocking.bits // 8
                )
            found.append((line, along, offset, exchange))
    return found


def _place_of(blocking: Blocking, copy: Copy, rows: int, row: int, byte: int) -> tuple[int, int]:
    """:meth:`Blocking.offset` of a piece relative to the thread's first one: what is added, and
    what is exclusive-ored into the chunk's number, where the first one's own is already."""
    offset = blocking.offset(copy, rows, row, byte)
    if blocking.linear:
        return offset, 0
    width = blocking.row_pitch(copy, rows)
    exchange = offset % width // CHUNK_BYTES * CHUNK_BYTES
    return offset - exchange, exchange


def _fetch_async(
    k: Kernel, source: Source, target: Reg, pieces: Sequence[Piece], guard: Reg | None
) -> None:
    copy = source.copy
    cache = "cg" if copy.bytes == CHUNK_BYTES else "ca"
    op = f"cp.async.{cache}.shared.global"
    sizes: dict[int, Any] = {}
    for piece in pieces:
        at = _address(k, source, piece)
        to = _place(k, target, piece)
        size = () if source.blocking.tail.exact else (_size(k, source, piece, sizes),)
        with when(k, guard):
            k.op(op, to, at, copy.bytes, *size)


def _size(k: Kernel, source: Source, piece: Piece, known: dict[int, Any]) -> Any:
    """The bytes of a piece that lie inside; `known` are those along K, by their place."""
    copy = source.copy
    if copy.major == "mn":
        inside = k.setp.gt.s32(source.left, piece.lines)
        full = copy.bytes if source.size is None else source.size
        return k.selp.b32(full, 0, inside, out=k.reg("u32"))
    ahead = piece.ahead(copy)
    if ahead not in known:
        left = k.sub.s32(source.left, ahead) if ahead else source.left
        clamped = k.min.s32(k.max.s32(left, 0), copy.bytes)
        known[ahead] = k.mov.b32(clamped, out=k.reg("u32"))
    if source.extent is None:
        return known[ahead]
    row = k.setp.lt.u32(_row(source, piece), source.extent)
    return k.selp.b32(known[ahead], 0, row, out=k.reg("u32"))


def _inside(k: Kernel, source: Source, piece: Piece, guard: Reg | None) -> Reg | None:
    """Whether a piece, of which all is inside or nothing, is to be loaded; None of any."""
    if source.blocking.tail.exact:
        return guard
    mn = source.copy.major == "mn"
    found = k.setp.gt.s32(source.left, piece.lines if mn else piece.ahead(source.copy))
    if mn and source.size is not None:
        found = found & k.setp.gt.s32(source.size, 0)
    if not mn and source.extent is not None:
        found = found & k.setp.lt.u32(_row(source, piece), source.extent)
    inside: Reg = found if guard is None else found & guard
    return inside


def _row(source: Source, piece: Piece) -> Reg:
    return source.line + piece.lines if piece.lines else source.line


def _fetch_through_registers(
    k: Kernel, source: Source, target: Reg, pieces: Sequence[Piece], guard: Reg | None
) -> None:
    copy = source.copy
    width = {1: "u8", 2: "b16", 4: "b32", 8: "v2.b32", 16: "v4.b32"}[copy.bytes]
    held = []
    for piece in pieces:
        registers = (
            (k.reg("b32"),) if copy.bytes == 1 else (k.reg("b16"),) if copy.bytes == 2
            else k.reg("b32", copy.bytes // 4)
        )  # fmt: skip
        for register in registers:
            k.op(f"mov.{register.type}", 0, out=register)
        at = _address(k, source, piece)
        inside = _inside(k, source, piece, guard)
        branches = source.blocking.tail.edge == "branch"
        with k.branch(inside) if branches and inside is not None else when(k, inside):
            k.op(f"ld.global.{width}", at, out=registers if copy.bytes > 4 else registers[0])
        held.append(registers)
    for piece, registers in zip(pieces, held, strict=True):
        value = registers if copy.bytes > 4 else registers[0]
        k.op(f"st.shared.{width}", _place(k, target, piece), value)


def _place(k: Kernel, target: Reg, piece: Piece) -> Addr:
    """Chunks are exchanged in the low bits of a target that is aligned to a line."""
    at = k.xor.b32(target, piece.exchange, out=k.reg("u32")) if piece.exchange else target
    return Addr(at, piece.offset)


def _address(k: Kernel, source: Source, piece: Piece) -> Any:
    """Where a piece lies in global memory."""
    copy = source.copy
    if copy.scattered:
        at: Any = source.base
        if piece.lines:
            at = k.mad.wide.u32(source.k_pitch, piece.lines, at, out=k.reg("u64"))
        return at
    if copy.major == "k":
        row: Any = _row(source, piece)
        if source.last is not None:
            row = k.min.u32(row, source.last)
        return Addr(k.mad.wide.u32(row, source.pitch, source.base, out=k.reg("u64")), piece.along)
    at = source.base
    if piece.lines:
        at = k.mad.wide.u32(source.pitch, piece.lines, at, out=k.reg("u64"))
    return Addr(at, piece.along)


# ---------------------------------------------------------------- the thread's first piece


def _shared_k(k: Kernel, blocking: Blocking, rows: int, row: Any, byte: Any) -> Any:
    """:meth:`Blocking.offset` along K, of registers."""
    if blocking.linear:
        return k.mad.lo.u32(row, blocking.row_pitch(Copy(), rows), byte)
    line, inside = divide(byte, blocking.line_bytes)
    exchanged = ((inside >> 4) ^ blocking.swizzle_k(row)) << 4
    at = k.mad.lo.u32(row, blocking.line_bytes, exchanged | (inside & 15))
    if blocking.lines == 1:
        return at
    return k.mad.lo.u32(line, rows * blocking.line_bytes, at)


def _shared_mn(k: Kernel, blocking: Blocking, rows: int, byte: Any, depth: Any) -> Any:
    """:meth:`Blocking.offset` along M or N, of a byte of the line of k = `depth`."""
    if blocking.linear:
        return k.mad.lo.u32(depth, blocking.row_pitch(Copy("mn"), rows), byte)
    line, inside = byte >> 7, byte & (LINE_BYTES - 1)
    exchanged = ((inside >> 4) ^ blocking.swizzle_mn(depth)) << 4
    at = k.mad.lo.u32(depth, LINE_BYTES, exchanged | (inside & 15))
    return k.mad.lo.u32(line, blocking.tile_k * LINE_BYTES, at)


def _log(power: int) -> int:
    return power.bit_length() - 1
