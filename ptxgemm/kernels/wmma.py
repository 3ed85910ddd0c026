"""GEMM on ``wmma``: the same tiles and copies as :mod:`ptxgemm.kernels.mma`, fragments by
:mod:`ptx.fragments`.

``wmma.load`` takes rows at one distance, so tiles have no swizzle: their rows are padded. By the
manual's alignment of 32 bytes f16 rows still meet by twos in the same banks. Where a fragment's
elements lie is left open, so results go through shared memory on their way to D.
"""

from __future__ import annotations

from typing import Any

from ptx.builder import Kernel
from ptx.fragments import Fragment, fragment, mma
from ptx.ir import Addr, Reg
from ptxgemm import results, stages
from ptxgemm.blocking import OUT_BYTES, Blocking, Copy
from ptxgemm.copying import Source

SHAPES = {
    "f16": (16, 16, 16), "bf16": (16, 16, 16), "s8": (16, 16, 16), "u8": (16, 16, 16),
    "tf32": (16, 16, 8), "f64": (8, 8, 4), "s4": (8, 8, 32), "u4": (8, 8, 32), "b1": (8, 8, 128),
}  # fmt: skip
Sums = dict[tuple[int, int], Fragment]


def gemm(blocking: Blocking, name: str = "wmma_gemm") -> Kernel:
    """The kernel of a linear blocking; parameters and launch as :func:`ptxgemm.kernels.mma.gemm`.

    Raises ValueError for types that wmma has not.
    """
    if blocking.a not in SHAPES or blocking.a != blocking.b:
        raise ValueError(f"wmma multiplies no .{blocking.a} by .{blocking.b}")
    if not blocking.linear:
        raise ValueError("wmma takes tiles without a swizzle: linear=True")
    k = Kernel(name, **stages.parameters(blocking))
    k.maxntid(blocking.threads)
    k.minnctapersm(blocking.ctas_per_sm)
    p = stages.arguments(k, blocking)
    tile = k.mov.u32(k.dynamic_shared("stages", align=128))
    thread = k.mov.u32(k.tid.x)
    row, column = stages.corner(k, blocking, p["m"], p["n"])
    sources = stages.sources(k, blocking, p, row, column, tile, thread)
    warp_m, warp_n = stages.warp(k, blocking, thread)
    sums = _multiply(k, blocking, sources, tile, (warp_m, warp_n), p["depth"])
    _write(k, blocking, sums, p, tile, row + warp_m, column + warp_n, thread)
    k.ret()
    return k


def _multiply(
    k: Kernel, blocking: Blocking, sources: list[Source], tile: Reg, warp: Any, depth: Reg
) -> Sums:
    m, n, atom = SHAPES[blocking.a]
    a_layout = "row" if blocking.copy_a.major == "k" else "col"
    b_layout = "col" if blocking.copy_b.major == "k" else "row"
    a = [
        fragment(k, "matrix_a", m, n, atom, blocking.a, a_layout, family="wmma")
        for _ in range(0, blocking.warp_m, m)
    ]
    b = [
        fragment(k, "matrix_b", m, n, atom, blocking.b, b_layout, family="wmma")
        for _ in range(0, blocking.warp_n, n)
    ]
    sums: Sums = {}
    for i in range(len(a)):
        for j in range(len(b)):
            sums[i, j] = fragment(k, "accumulator", m, n, atom, blocking.sum, family="wmma")
            sums[i, j].fill(0)
    starts = [
        start + _offset(k, blocking, copy, rows, first)
        for start, copy, rows, first in (
            (tile, blocking.copy_a, blocking.tile_m, warp[0]),
            (k.add.u32(tile, blocking.a_bytes), blocking.copy_b, blocking.tile_n, warp[1]),
        )
    ]
    fill, read = k.mov.u32(0), k.mov.u32(0)
    steps = stages.steps(k, blocking, depth)
    stages.start(k, blocking, sources, steps, fill)

    def step(fetches: bool) -> None:
        stages.arrive(k, blocking)
        if fetches:
            stages.fetch(k, blocking, sources, steps, fill)
        else:
            stages.commit(k, blocking)
        from_a, from_b = (start + read for start in starts)
        for first in range(0, blocking.tile_k, atom):
            for parts, copy, rows, start, extent in (
                (a, blocking.copy_a, blocking.tile_m, from_a, m),
                (b, blocking.copy_b, blocking.tile_n, from_b, n),
            ):
                pitch = blocking.row_pitch(copy, rows)
                for number, part in enumerate(parts):
                    line, inside = (number * extent, first)
                    if copy.major == "mn":
                        line, inside = inside, line
                    at = Addr(start, line * pitch + inside * blocking.bits // 8)
                    part.load(at, pitch * 8 // blocking.bits)
            for (i, j), part in sums.items():
                mma(part, a[i], b[j], part, op=blocking.op)
        k.mov.u32(read, out=fill)
        stages.advance(k, blocking, read)

    stages.main_loop(k, blocking, steps, step)
    return sums


def _offset(k: Kernel, blocking: Blocking, copy: Copy, rows: int, first: Reg) -> Any:
    """Bytes from a tile's start to the warp's first row."""
    if copy.major == "k":
        return k.mul.lo.u32(first, blocking.row_pitch(copy, rows))
    return k.mul.lo.u32(first, blocking.bits // 8)


def _write(
    k: Kernel,
    blocking: Blocking,
    sums: Sums,
    p: dict[str, Any],
    tile: Reg,
    row: Reg,
    column: Reg,
    thread: Reg,
) -> None:
    """Through 16 x 16 (or 8 x 8) elements of shared memory that each warp has to itself."""
    m, n, _ = SHAPES[blocking.a]
    held, size = OUT_BYTES[blocking.sum], OUT_BYTES[blocking.out]
    lane, number = thread & 31, thread >> 5
    own = k.mad.lo.u32(number, m * n * held, tile)
    width = n.bit_length() - 1
    down, along = lane >> width, lane & (n - 1)
    start = p["d"] + k.mul.wide.u32(column + along, size)
    addend = results.addend(k, p, row + down, column + along) if blocking.scaled else None
    source = k.mad.lo.u32(lane, held, own)
    stages.finish(k, blocking)
    for count, ((i, j), part) in enumerate(sums.items()):
        if count:
            # Every lane has read the elements before.
            k.bar.warp.sync(0xFFFFFFFF)
        part.store(own, n, "row")
        k.bar.warp.sync(0xFFFFFFFF)
        left = k.sub.s32(p["n"], column + along)
        for first in range(0, m * n, 32):
            below = row + down + (i * m + first // n)
            value = k.op(f"ld.shared.b{8 * held}", Addr(source, first * held),
                         out=k.reg("b16" if held == 2 else blocking.sum))  # fmt: skip
            at = k.mad.wide.u32(below, p["d_pitch"], start, out=k.reg("u64"))
            inside = None
            if not blocking.exact:
                inside = k.and_.pred(k.setp.lt.u32(below, p["m"]), k.setp.gt.s32(left, j * n))
            place = Addr(at, j * n * size)
            results.write_one(
                k, blocking, value, place, inside, addend, (i * m + first // n, j * n), p
            )
