"""From the accumulators of ``mma`` to D, converted once.

A lane holds columns 2t and 2t + 1 of rows g and g + 8 of each block of 16 x 8, where it is the
(4g + t)-th of its warp (:func:`ptx.layouts.mma_fragment`). Where bytes were read along M, these are
rows 2g and 2g + 1; where along N, a lane holds columns 4t to 4t + 3 of two blocks
(:attr:`Blocking.interleaved`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm import scalars
from ptxgemm.blocking import BLOCK_M, BLOCK_N, OUT_BYTES, Blocking


@dataclass(frozen=True)
class Addend:
    """C as a lane reads it, where beta is not 0."""

    kernel: Kernel
    origin: Reg
    """The address of the element of the lane's first row and column, u64."""
    row: Reg
    column: Reg
    """Bytes from one to the next, s64."""
    wanted: Reg
    """Whether beta is other than 0."""

    def at(self, down: int, along: int) -> Reg:
        """The address of an element so many rows and columns on."""
        k, found = self.kernel, self.origin
        for count, step in ((down, self.row), (along, self.column)):
            if count:
                found = k.mad.lo.s64(step, count, found)
        return found


def addend(k: Kernel, p: dict[str, Any], row: Reg, column: Reg) -> Addend:
    at = k.mad.lo.s64(k.cvt.s64.u32(row), p["c_row"], p["c"])
    at = k.mad.lo.s64(k.cvt.s64.u32(column), p["c_column"], at)
    beta = p["beta"]
    wanted = k.op(
        "setp.ne.s32" if beta.type == "s32" else f"setp.neu.{beta.type}",
        beta, 0 if beta.type == "s32" else 0.0,
    )  # fmt: skip
    return Addend(k, at, p["c_row"], p["c_column"], wanted)


def write(
    k: Kernel,
    blocking: Blocking,
    sums: dict[tuple[int, int], tuple[Reg, ...]],
    p: dict[str, Any],
    row: Reg,
    column: Reg,
    lane: Reg,
    epilogue: Callable[[Kernel, Reg], Reg] | None,
) -> None:
    """Write a warp's sums, whose first element is D[`row`, `column`]."""
    if blocking.eights and not blocking.scaled and epilogue is None:
        _write_eights(k, blocking, sums, p, row, column, lane)
        return
    size = OUT_BYTES[blocking.out]
    near_rows, near_columns = blocking.interleaved
    upper = row + ((lane >> 2) << 1 if near_rows else lane >> 2)
    left = column + ((lane & 3) << (2 if near_columns else 1))
    start = p["d"] + k.mul.wide.u32(left, size)
    old = addend(k, p, upper, left) if blocking.scaled else None
    for i in range(blocking.warp_m // BLOCK_M):
        for half in range(2):
            down = BLOCK_M * i + half * (1 if near_rows else 8)
            own = upper + down if down else upper
            at = k.mad.wide.u32(own, p["d_pitch"], start, out=k.reg("u64"))
            columns = None
            if not blocking.exact:
                columns = k.sub.s32(p["n"], left)
                below = k.setp.lt.u32(own, p["m"])
                columns = k.selp.b32(columns, 0, below, out=k.reg("s32"))
            for along, values in _row(k, blocking, sums, i, half):
                if epilogue is not None:
                    values = [epilogue(k, value) for value in values]
                place = Addr(at, along * size)
                _write_two(k, blocking, values, place, columns, (down, along), old, p)


def _row(
    k: Kernel, blocking: Blocking, sums: dict[tuple[int, int], tuple[Reg, ...]], i: int, half: int
) -> Iterator[tuple[int, list[Reg]]]:
    """A lane's sums of one row by twos, and how many columns from its first these are."""
    blocks = range(blocking.warp_n // BLOCK_N)
    if not blocking.interleaved[1]:
        for j in blocks:
            yield j * BLOCK_N, _values(k, blocking, sums[i, j], half)
        return
    for j in blocks[::2]:
        even, odd = (_values(k, blocking, sums[i, j + one], half) for one in (0, 1))
        for number in range(2):
            yield j * BLOCK_N + 2 * number, [even[number], odd[number]]


def _values(k: Kernel, blocking: Blocking, sums: tuple[Reg, ...], half: int) -> list[Reg]:
    """A block's two columns of one row."""
    if blocking.sum != "f16":
        return list(sums[2 * half : 2 * half + 2])
    low, high = k.mov.b32(sums[half], out=(k.reg("b16"), k.reg("b16")))
    return [low, high]


def _write_two(
    k: Kernel,
    blocking: Blocking,
    values: list[Reg],
    place: Addr,
    columns: Reg | None,
    first: tuple[int, int],
    old: Addend | None,
    p: dict[str, Any],
) -> None:
    """Two neighbours, the first of them so many rows and columns from the lane's first."""
    size = OUT_BYTES[blocking.out]
    down, along = first
    inside = [
        None if columns is None else k.setp.gt.s32(columns, along + i)
        for i in ((1, 1) if blocking.pairs else (0, 1))
    ]
    made = []
    for i, value in enumerate(values):
        if old is not None:
            value = _with_c(k, blocking, value, old, (down, along + i), inside[i], p)
        made.append(scalars.narrowed(k, value, blocking.sum, blocking.out))
    if blocking.pairs:
        _store(k, f"st.global.v2.b{8 * size}", place, tuple(made), inside[0])
        return
    for i, value in enumerate(made):
        _store(k, f"st.global.b{8 * size}", place + i * size, value, inside[i])


def _write_eights(
    k: Kernel,
    blocking: Blocking,
    sums: dict[tuple[int, int], tuple[Reg, ...]],
    p: dict[str, Any],
    row: Reg,
    column: Reg,
    lane: Reg,
) -> None:
    """Elements of 16 bits, eight at a time: the four lanes of a row exchange what they have of four
    blocks of columns, so that each has all of one."""
    size = OUT_BYTES[blocking.out]
    upper, left = row + (lane >> 2), column + (lane & 3) * BLOCK_N
    start = p["d"] + k.mul.wide.u32(left, size)
    bits = [k.setp.ne.u32(lane & bit, 0) for bit in (1, 2)]
    for i in range(blocking.warp_m // BLOCK_M):
        for half in range(2):
            down = BLOCK_M * i + 8 * half
            own = upper + down if down else upper
            at = k.mad.wide.u32(own, p["d_pitch"], start, out=k.reg("u64"))
            columns = None
            if not blocking.exact:
                columns = k.sub.s32(p["n"], left)
                below = k.setp.lt.u32(own, p["m"])
                columns = k.selp.b32(columns, 0, below, out=k.reg("s32"))
            for first in range(0, blocking.warp_n // BLOCK_N, 4):
                held = [
                    _packed(k, blocking, sums[i, j][2 * half : 2 * half + 2])
                    for j in range(first, first + 4)
                ]
                along = first * BLOCK_N
                inside = None if columns is None else k.setp.gt.s32(columns, along)
                value = _turned(k, held, bits)
                _store(k, "st.global.v4.b32", Addr(at, along * size), value, inside)


def _packed(k: Kernel, blocking: Blocking, values: tuple[Reg, ...]) -> Reg:
    low, high = values
    packed: Reg = k.op(f"cvt.rn.{blocking.out}x2.{blocking.sum}", high, low, out=k.reg("b32"))
    return packed


def _turned(k: Kernel, held: list[Reg], bits: list[Reg]) -> tuple[Reg, ...]:
    """A square of four registers in four lanes, transposed; `bits` are the lane's number's."""
    made = list(held)
    for bit, number in zip(bits, (1, 2), strict=True):
        for first in (0, 3 - number):
            one, other = made[first], made[first + number]
            given = k.selp.b32(one, other, bit, out=k.reg("b32"))
            taken = k.shfl.sync.bfly.b32(given, number, 31, 0xFFFFFFFF, out=k.reg("b32"))
            made[first] = k.selp.b32(taken, one, bit, out=k.reg("b32"))
            made[first + number] = k.selp.b32(other, taken, bit, out=k.reg("b32"))
    return tuple(made)


def write_one(
    k: Kernel,
    blocking: Blocking,
    value: Reg,
    place: Addr,
    inside: Reg | None,
    old: Addend | None,
    at: tuple[int, int],
    p: dict[str, Any],
) -> None:
    """Scale and convert a sum, so many rows and columns from the lane's first, and store it where
    it is `inside`.
    """
    if old is not None:
        value = _with_c(k, blocking, value, old, at, inside, p)
    result = scalars.narrowed(k, value, blocking.sum, blocking.out)
    _store(k, f"st.global.b{8 * OUT_BYTES[blocking.out]}", place, result, inside)


def _store(k: Kernel, op: str, place: Addr, value: Any, inside: Reg | None) -> None:
    if inside is None:
        k.op(op, place, value)
        return
    with k.when(inside):
        k.op(op, place, value)


def _with_c(
    k: Kernel,
    blocking: Blocking,
    value: Reg,
    old: Addend,
    at: tuple[int, int],
    inside: Reg | None,
    p: dict[str, Any],
) -> Reg:
    """alpha times the sum, plus beta times what C has there, which is not read where beta is 0."""
    held = scalars.zero(k, blocking.out)
    guard: Any = old.wanted if inside is None else old.wanted & inside
    place = old.at(*at)
    with k.when(guard):
        scalars.load(k, blocking.out, place, held)
    result = scalars.scaled(k, blocking.sum, p["alpha"], value)
    term = scalars.widened(k, held, blocking.out)
    with k.when(guard):
        scalars.added(k, blocking.sum, p["beta"], term, result)
    return result
