"""From the accumulators of ``mma`` to C, converted once.

A lane holds columns 2t and 2t + 1 of rows g and g + 8 of each block of 16 x 8, where it is the
(4g + t)-th of its warp (:func:`ptx.layouts.mma_fragment`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.blocking import BLOCK_M, BLOCK_N, OUT_BYTES, Blocking


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
    """Write a warp's sums, whose first element is C[`row`, `column`]."""
    size = OUT_BYTES[blocking.out]
    upper = row + (lane >> 2)
    left = column + ((lane & 3) << 1)
    start = p["c"] + k.mul.wide.u32(left, size)
    reads = None
    if blocking.scaled:
        reads = k.op(f"setp.neu.{blocking.sum}", p["beta"], 0.0)
    for i in range(blocking.warp_m // BLOCK_M):
        for half in range(2):
            down = BLOCK_M * i + 8 * half
            own = upper + down if down else upper
            at = k.mad.wide.u32(own, p["c_pitch"], start, out=k.reg("u64"))
            columns = None
            if not blocking.exact:
                columns = k.sub.s32(p["n"], left)
                below = k.setp.lt.u32(own, p["m"])
                columns = k.selp.b32(columns, 0, below, out=k.reg("s32"))
            for j in range(blocking.warp_n // BLOCK_N):
                values = _values(k, blocking, sums[i, j], half)
                if epilogue is not None:
                    values = [epilogue(k, value) for value in values]
                place = Addr(at, j * BLOCK_N * size)
                _write_two(k, blocking, values, place, columns, j * BLOCK_N, reads, p)


def _values(k: Kernel, blocking: Blocking, sums: tuple[Reg, ...], half: int) -> list[Reg]:
    """Columns 2t and 2t + 1 of one row."""
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
    first: int,
    reads: Reg | None,
    p: dict[str, Any],
) -> None:
    size = OUT_BYTES[blocking.out]
    inside = [
        None if columns is None else k.setp.gt.s32(columns, first + i)
        for i in ((1, 1) if blocking.pairs else (0, 1))
    ]
    if not blocking.pairs:
        for i, value in enumerate(values):
            write_one(k, blocking, value, place + i * size, inside[i], reads, p)
        return
    pair = tuple(
        _converted(k, blocking, value, place + i * size, inside[0], reads, p)
        for i, value in enumerate(values)
    )
    _store(k, f"st.global.v2.b{8 * size}", place, pair, inside[0])


def write_one(
    k: Kernel,
    blocking: Blocking,
    value: Reg,
    place: Addr,
    inside: Reg | None,
    reads: Reg | None,
    p: dict[str, Any],
) -> None:
    """Scale and convert a sum, and store it where it is `inside`."""
    result = _converted(k, blocking, value, place, inside, reads, p)
    _store(k, f"st.global.b{8 * OUT_BYTES[blocking.out]}", place, result, inside)


def _converted(
    k: Kernel,
    blocking: Blocking,
    value: Any,
    place: Addr,
    inside: Reg | None,
    reads: Reg | None,
    p: dict[str, Any],
) -> Any:
    if blocking.scaled:
        value = _scaled(k, blocking, value, place, inside, reads, p)
    if blocking.out == blocking.sum:
        return value
    return k.op(f"cvt.rn.{blocking.out}.{blocking.sum}", value)


def _store(k: Kernel, op: str, place: Addr, value: Any, inside: Reg | None) -> None:
    if inside is None:
        k.op(op, place, value)
        return
    with k.when(inside):
        k.op(op, place, value)


def _scaled(
    k: Kernel,
    blocking: Blocking,
    value: Reg,
    place: Addr,
    inside: Reg | None,
    reads: Any,
    p: dict[str, Any],
) -> Reg:
    """alpha times the sum, plus beta times what is there, which is not read where beta is 0."""
    type, out = blocking.sum, blocking.out
    held = k.op(f"mov.{'b16' if OUT_BYTES[out] == 2 else out}", 0 if OUT_BYTES[out] == 2 else 0.0)
    guard = reads if inside is None else reads & inside
    with k.when(guard):
        k.op(f"ld.global.b{8 * OUT_BYTES[out]}", place, out=held)
    old = held if out == type else k.op(f"cvt.{type}.{out}", held)
    result = k.op(f"mul.rn.{type}", value, p["alpha"])
    with k.when(guard):
        k.op(f"fma.rn.{type}", p["beta"], old, result, out=result)
    scaled: Reg = result
    return scaled
