"""How the lanes of a warp move a fragment of ``mma`` between memory and registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptx import layouts, types
from ptx.errors import PtxError
from ptx.ir import Addr, Reg, Symbol

if TYPE_CHECKING:
    from ptx.builder import Kernel


@dataclass(frozen=True)
class Matrix:
    """A matrix in memory, and the fragment that it becomes."""

    map: layouts.Fragment
    layout: str
    """``"row"`` or ``"col"``."""
    pointer: Any
    ldm: Any
    """Elements from a row (or column) to the next: a number, a ``u32`` register, or None where
    they follow each other."""

    @property
    def extent(self) -> int:
        """Elements of a row (or column)."""
        return self.map.columns if self.layout == "row" else self.map.rows

    @property
    def pitch(self) -> Any:
        return self.extent if self.ldm is None else self.ldm

    @property
    def space(self) -> str:
        """The state space pointed into; a register of 32 bits points into shared memory."""
        base = self.pointer.base if isinstance(self.pointer, Addr) else self.pointer
        space: str = getattr(base, "space", None) or "generic"
        if isinstance(base, Reg) and space == "generic" and base.type in ("u32", "b32", "s32"):
            return "shared"
        return space

    @property
    def space_word(self) -> str:
        return "" if self.space == "generic" else f".{self.space}"

    def line(self, place: layouts.Coordinate) -> tuple[int, int]:
        """Row and column of an element as (line, position in the line) in memory."""
        return place if self.layout == "row" else (place[1], place[0])


def move_by_lanes(k: Kernel, opcode: str, matrix: Matrix, registers: Sequence[Reg]) -> None:
    """Each lane loads (``ld``) or stores (``st``) its own elements."""
    map = matrix.map
    at = _addresses(k, matrix, lambda lane: matrix.line(map.places[lane][0]))
    first = matrix.line(map.places[0][0])
    per = map.per_register
    for number, register in enumerate(registers):
        lines = [matrix.line(map.places[0][number * per + i]) for i in range(per)]
        near = [(line - first[0], inside - first[1]) for line, inside in lines]
        if all(one == (near[0][0], near[0][1] + i) for i, one in enumerate(near)):
            _whole(k, opcode, matrix, at(*near[0]), register)
        else:
            _apart(k, opcode, matrix, [at(*one) for one in near], register)


def _whole(k: Kernel, opcode: str, matrix: Matrix, at: Addr, register: Reg) -> None:
    op = f"{opcode}{matrix.space_word}.b{64 if matrix.map.bits == 64 else 32}"
    if opcode == "ld":
        k.op(op, at, out=register)
    else:
        k.op(op, at, register)


def _apart(k: Kernel, opcode: str, matrix: Matrix, places: list[Addr], register: Reg) -> None:
    """Elements of a register that do not touch in memory."""
    bits = matrix.map.bits
    if bits < 8:
        raise PtxError(f"{matrix.map.name}: elements below a byte lie along K", k.here())
    op = f"{opcode}{matrix.space_word}.{'b16' if bits == 16 else 'u8'}"
    if bits == 16:
        halves = (k.reg("b16"), k.reg("b16"))
        if opcode == "ld":
            for at, half in zip(places, halves, strict=True):
                k.op(op, at, out=half)
            k.mov.b32(halves, out=register)
            return
        k.mov.b32(register, out=halves)
        for at, half in zip(places, halves, strict=True):
            k.op(op, at, half)
        return
    for i, at in enumerate(places):
        if opcode == "ld":
            byte = k.op(op, at, out=k.reg("b32"))
            k.or_.b32(register, byte << 8 * i, out=register) if i else k.mov.b32(byte, out=register)
        else:
            k.op(op, at, k.shr.b32(register, 8 * i) if i else register)


def move_matrices(k: Kernel, opcode: str, matrix: Matrix, registers: Sequence[Reg]) -> None:
    """One ``ldmatrix`` or ``stmatrix``: eight lanes give the rows of each 8 by 16-byte block."""
    map = matrix.map
    if matrix.space.partition("::")[0] != "shared":
        raise PtxError(f"{opcode} takes shared memory, not {matrix.space}", k.here())
    per, count = map.per_register, len(registers)
    # Along a register's elements lies the contiguous axis, unless the instruction transposes.
    first, second = matrix.line(map.places[0][0]), matrix.line(map.places[0][per - 1])
    turned = per > 1 and first[0] != second[0]
    if per == 1:
        turned = matrix.line(map.places[1][0])[0] != first[0]
    if turned and map.bits != 16:
        raise PtxError(
            f"{map.name}: {opcode} transposes elements of 16 bits only; it must lie along K",
            k.here(),
        )

    def row(lane: int) -> tuple[int, int]:
        block = matrix.line(map.places[0][lane // 8 % count * per])
        return block[0] + lane % 8, block[1]

    at = _addresses(k, matrix, row)(0, 0)
    trans = ".trans" if turned else ""
    op = f"{opcode}.sync.aligned.m8n8.x{count}{trans}{matrix.space_word}.b16"
    if opcode == "ldmatrix":
        k.op(op, at, out=tuple(registers))
    else:
        k.op(op, at, tuple(registers))


# ---------------------------------------------------------------- addresses


def _addresses(
    k: Kernel, matrix: Matrix, place: Callable[[int], tuple[int, int]]
) -> Callable[[int, int], Addr]:
    """What gives the lane's address so many lines and elements on from its own (line, position).

    `place` is linear in the bits of the lane, as all maps of the hardware are; so each lane's
    place is a sum of multiples of groups of its bits.
    """
    lane = k.mov.u32(k.laneid)
    line, inside = (_linear(k, lane, [place(1 << bit)[i] - place(0)[i] for bit in range(5)])
                    for i in (0, 1))  # fmt: skip
    bits, pitch = matrix.map.bits, matrix.pitch
    base = _base(k, matrix)
    wide = types.bits(base.type) == 64
    if wide:
        index = k.mad.wide.u32(line, pitch, k.cvt.u64.u32(inside))
    else:
        index = k.mad.lo.u32(line, pitch, inside)
    origin = base + _scaled(index, bits)
    lines: dict[int, Any] = {0: origin}

    def at(down: int, along: int) -> Addr:
        if isinstance(pitch, int):
            return Addr(origin, (down * pitch + along) * bits // 8)
        if down not in lines:
            step = k.mul.wide.u32(pitch, down) if wide else k.mul.lo.u32(pitch, down)
            lines[down] = origin + _scaled(step, bits)
        return Addr(lines[down], along * bits // 8)

    return at


def _base(k: Kernel, matrix: Matrix) -> Any:
    pointer = matrix.pointer
    base: Any
    if isinstance(pointer, Symbol):
        base = k.mov.u32(pointer)
        return base
    if isinstance(pointer, Addr):
        base = k.mov.u32(pointer.base) if isinstance(pointer.base, Symbol) else pointer.base
        if not pointer.offset:
            return base
        add = k.add.s64 if types.bits(base.type) == 64 else k.add.u32
        return add(base, pointer.offset)
    if not isinstance(pointer, Reg):
        raise PtxError(f"expected a pointer or a variable, got {pointer!r}", k.here())
    return pointer


def _scaled(index: Reg, bits: int) -> Any:
    """An index of elements in bytes."""
    if bits < 8:
        return index >> (8 // bits).bit_length() - 1
    return index << (bits // 8).bit_length() - 1 if bits > 8 else index


def _linear(k: Kernel, lane: Reg, weights: list[int]) -> Any:
    """The sum of the weights of the lane's set bits."""
    total: Any = None
    bit = 0
    while bit < len(weights):
        end = bit + 1
        if weights[bit] == 0:
            bit = end
            continue
        while end < len(weights) and weights[end] == 2 * weights[end - 1]:
            end += 1
        field = lane >> bit if bit else lane
        if end < len(weights):
            field = field & (1 << end - bit) - 1
        part = field * weights[bit] if weights[bit] != 1 else field
        total = part if total is None else total + part
        bit = end
    return k.mov.u32(0) if total is None else total
