"""Fragments of ``mma`` from tiles in shared memory, by ``ldmatrix`` where elements allow.

A transposing ``ldmatrix`` moves units of 16 bits. Of bytes along M or N such a unit is two
neighbours m and m + 1 of one k: a lane gets those of k and k + 1 from one matrix, of k + 2 and
k + 3 from another, and two ``prmt`` make of them four steps of k of m, and of m + 1. So a lane
holds rows 2g and 2g + 1 of sixteen where fragments have g and g + 8, and results are written there.

A lane's addresses in a tile differ by constants, and by bits that the swizzle exclusive-ors into
the chunk's number. So a lane keeps one address of each operand, and the rest is in the offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.blocking import ATOM_BYTES, LINE_BYTES, Blocking, Copy
from ptxgemm.copying import when

Registers = tuple[Reg, ...]
EVEN_BYTES, ODD_BYTES = 0x6420, 0x7531
"""Selectors of ``prmt``."""


@dataclass(frozen=True)
class Reader:
    """One operand as a lane reads it: blocks of 16 rows of A, of 16 columns (two blocks) of B."""

    blocking: Blocking
    copy: Copy
    rows: int
    """Of the tile."""
    operand: str
    """``"a"`` or ``"b"``."""
    at: Reg
    """The shared address of the lane's first chunk or element, in stage 0."""

    @property
    def registers(self) -> int:
        """Of a block: 16 rows by an atom of K."""
        return 8 if self.blocking.a == "f64" else 4


def reader(k: Kernel, blocking: Blocking, operand: str, tile: Reg, first: Reg, lane: Reg) -> Reader:
    """`tile` is the operand's shared address in stage 0, `first` the warp's first row in it."""
    copy = blocking.copy_a if operand == "a" else blocking.copy_b
    rows = blocking.tile_m if operand == "a" else blocking.tile_n
    # Row of a block and chunk of K (or the reverse) that this lane points to.
    g, t = lane >> 2, lane & 3
    by_matrix = blocking.bits != 64 and (copy.major == "k" or blocking.bits <= 16)
    inner, outer = (lane >> 3) & 1, lane >> 4
    if by_matrix:
        # ldmatrix: eight lanes to a matrix; A goes down its rows first, B along K first.
        down, along = (inner, outer) if operand == "a" else (outer, inner)
        eighth = lane & 7
        if copy.major == "k":
            row = k.mad.lo.u32(down, 8, eighth)
            at = _along_k(k, blocking, first + row, along)
        elif blocking.bits == 8:
            # Matrices 0 and 1 have the even and the odd pairs of steps of 16, 2 and 3 of the next.
            depth = outer * 16 + inner * 2 + (((eighth >> 1) << 2) | (eighth & 1))
            at = _along_mn(k, blocking, first, None, depth)
        else:
            depth = k.mad.lo.u32(along, 8, eighth)
            at = _along_mn(k, blocking, first, down, depth)
    elif blocking.fed:
        # k = 0, 3, 12, 15 of sixteen, see _load_fed.
        if copy.major == "k":
            at = _along_k(k, blocking, first + g, (t & 1) | (t >> 1) * 6, (t & 1) * 8)
        else:
            depth = (t & 1) * 3 | (t >> 1) * 12
            at = _along_mn(k, blocking, first, g >> 1, depth, (g & 1) * 8)
    elif copy.major == "k":
        at = _along_k(k, blocking, first + g, t >> 1, (t & 1) * 8)
    else:
        each = 16 * 8 // blocking.bits  # elements of a chunk
        rest = (g & (each - 1)) * (blocking.bits // 8)
        at = _along_mn(k, blocking, first, g >> (each.bit_length() - 1), t, rest)
    return Reader(blocking, copy, rows, operand, at + tile)


def _along_k(k: Kernel, blocking: Blocking, row: Any, chunk: Any, rest: Any = None) -> Any:
    at = (chunk ^ blocking.swizzle_k(row)) << 4
    if rest is not None:
        at = at | rest
    return k.mad.lo.u32(row, blocking.line_bytes, at)


def _along_mn(
    k: Kernel, blocking: Blocking, first: Any, chunk: Any, depth: Any, rest: Any = None
) -> Any:
    """`first` is a multiple of 16 elements; what it leaves within a line is exclusive-ored."""
    shift = (blocking.bits // 8).bit_length() - 1
    byte = first << shift if shift else first
    line, inside = byte >> 7, byte & (LINE_BYTES - 1)
    exchanged = blocking.swizzle_mn(depth)
    at = ((exchanged if chunk is None else chunk ^ exchanged) << 4) ^ inside
    if rest is not None:
        at = at | rest
    at = k.mad.lo.u32(depth, LINE_BYTES, at)
    return k.mad.lo.u32(line, blocking.tile_k * LINE_BYTES, at)


def load(
    k: Kernel,
    reader: Reader,
    stage: Reg,
    block: int,
    atom: int,
    out: Registers,
    guard: Reg | None = None,
) -> Callable[[], None]:
    """A block of 16 rows (columns) of atom `atom`, of the stage at byte `stage`, into `out`, where
    `guard` is true.

    What is returned emits the rest, which needs what was loaded: it is called after work that does
    not.
    """
    blocking = reader.blocking
    base = k.add.u32(reader.at, stage)
    if blocking.bits != 64 and reader.copy.major == "k":
        line, inside = divmod(atom * blocking.atom_bytes, blocking.line_bytes)
        offset = (line * reader.rows + block * 16) * blocking.line_bytes
        at = _at(k, base, inside, offset)
        with when(k, guard):
            k.ldmatrix.sync.aligned.m8n8.x4.shared.b16(at, out=out)
    elif blocking.bits == 16:
        exchange, offset = _block(reader, block)
        at = _at(k, base, exchange, offset + atom * 16 * LINE_BYTES)
        with when(k, guard):
            k.ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16(at, out=out)
    elif blocking.bits == 8:
        exchange, offset = _block(reader, block)
        at = _at(k, base, exchange, offset + atom * ATOM_BYTES * LINE_BYTES)
        pairs = k.reg("b32", 4)
        with when(k, guard):
            k.ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16(at, out=pairs)
        return lambda: _sort_bytes(k, reader.operand, pairs, out, guard)
    elif blocking.fed:
        _load_fed(k, reader, base, block, atom, out, guard)
    else:
        _load_single(k, reader, base, block, atom, out, guard)
    return _nothing


def _load_fed(
    k: Kernel,
    reader: Reader,
    base: Reg,
    block: int,
    atom: int,
    out: Registers,
    guard: Reg | None,
) -> None:
    """f64 under the swizzle of tensor copies. Lane t reads k = 0, 3, 12 or 15 of the atom, and
    these exclusive-or 1, 4 and 5, of A as of B: so the sixteen lanes that are served at once meet
    in no bank, along K and along M or N."""
    blocking = reader.blocking
    steps = len(out) // 2
    for number, register in enumerate(out):
        half, step = (number % 2, number // 2) if reader.operand == "a" else divmod(number, steps)
        other = (0, 1, 4, 5)[step]
        if reader.copy.major == "k":
            at = _at(k, base, other * 8, (atom * reader.rows + block * 16 + half * 8) * LINE_BYTES)
        else:
            exchange = other * (LINE_BYTES + 16) ^ half * 64
            at = _at(k, base, exchange, (block * blocking.tile_k + atom * 16) * LINE_BYTES)
        with when(k, guard):
            k.op("ld.shared.f64", at, out=register)


def _nothing() -> None:
    """All was loaded as it is multiplied."""


def _sort_bytes(
    k: Kernel, operand: str, pairs: Registers, out: Registers, guard: Reg | None
) -> None:
    """Of each two registers, the bytes of the first of two neighbours and those of the second.

    A has registers of both rows for sixteen steps of k, then for the next; B both steps of a column
    first.
    """
    for number, selector in enumerate((EVEN_BYTES, ODD_BYTES)):
        for step in range(2):
            place = 2 * step + number if operand == "a" else 2 * number + step
            with when(k, guard):
                k.prmt.b32(pairs[2 * step], pairs[2 * step + 1], selector, out=out[place])


def _at(k: Kernel, base: Reg, exchange: int, offset: int) -> Addr:
    at = k.xor.b32(base, exchange, out=k.reg("u32")) if exchange else base
    return Addr(at, offset)


def _block(reader: Reader, block: int) -> tuple[int, int]:
    """The exchanged bits and the offset of a block of 16 elements along M or N."""
    line, inside = divmod(block * 16 * reader.blocking.bits // 8, LINE_BYTES)
    return inside, line * reader.blocking.tile_k * LINE_BYTES


def _load_single(
    k: Kernel,
    reader: Reader,
    base: Reg,
    block: int,
    atom: int,
    out: Registers,
    guard: Reg | None,
) -> None:
    """Elements of 32 and 64 bits one by one, in the order of :func:`ptx.layouts.mma_fragment`: A
    holds rows g and g + 8, then the next four of K; B all of K in each block of 8 columns."""
    blocking = reader.blocking
    size = blocking.bits // 8
    steps = len(out) // 2
    for number, register in enumerate(out):
        half, step = (number % 2, number // 2) if reader.operand == "a" else divmod(number, steps)
        depth = atom * blocking.atom_bytes // size + step * 4
        if reader.copy.major == "k":
            line, inside = divmod(depth * size, blocking.line_bytes)
            offset = (line * reader.rows + block * 16 + half * 8) * blocking.line_bytes
            at = _at(k, base, inside, offset)
        else:
            exchange, offset = _block(reader, block)
            at = _at(k, base, exchange ^ half * 8 * size, offset + depth * LINE_BYTES)
        with when(k, guard):
            k.op(f"ld.shared.{'f64' if size == 8 else 'b32'}", at, out=register)
