"""GEMM on ``mma.sync``: D = A B for every type of the tensor cores, from sm_75 on.

A ring of stages in shared memory is filled by ``cp.async`` (or through registers), each tile
swizzled so that neither filling nor reading it has bank conflicts; fragments of the next atom of K
are read while those of this one are multiplied. Beyond K the copies fill in zeros, so the main
loop knows no edge: it runs over whole steps and ends with zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm import matrices, results, stages
from ptxgemm.blocking import BLOCK_M, BLOCK_N, Blocking
from ptxgemm.copying import Source
from ptxgemm.matrices import Reader, Registers

Epilogue = Callable[[Kernel, Reg], Reg]


def gemm(blocking: Blocking, epilogue: Epilogue | None = None, name: str = "mma_gemm") -> Kernel:
    """The kernel. Launch ``blocking.tiles(m, n)`` CTAs of ``blocking.threads`` threads in one
    dimension, with ``blocking.shared_bytes`` of dynamic shared memory; m and n are at least 1.

    `epilogue` maps each accumulator to what is written, before its one conversion.
    """
    k = Kernel(name, **stages.parameters(blocking))
    k.maxntid(blocking.threads)
    k.minnctapersm(blocking.ctas_per_sm)
    p = stages.arguments(k, blocking)
    tile = k.mov.u32(k.dynamic_shared("stages", align=128))
    thread = k.mov.u32(k.tid.x)
    row, column = stages.corner(k, blocking, p["m"], p["n"])

    sources = stages.sources(k, blocking, p, row, column, tile, thread)
    second = k.add.u32(tile, blocking.a_bytes)
    lane = thread & 31
    warp_m, warp_n = stages.warp(k, blocking, thread)
    readers = (
        matrices.reader(k, blocking, "a", tile, warp_m, lane),
        matrices.reader(k, blocking, "b", second, warp_n, lane),
    )
    sums = _multiply(k, blocking, sources, readers, p["depth"])
    results.write(k, blocking, sums, p, row + warp_m, column + warp_n, lane, epilogue)
    k.ret()
    return k


# ---------------------------------------------------------------- the main loop


@dataclass(frozen=True)
class Group:
    """Products between which fragments are read: an atom of K, and blocks of rows of A."""

    atom: int
    blocks: tuple[int, ...]
    with_b: bool
    """Whether B's fragments of the atom are read with those of A."""


def groups(blocking: Blocking) -> list[Group]:
    """Of a step. An atom of f64 is as many registers as two of f16: it goes block by block."""
    blocks = tuple(range(blocking.warp_m // BLOCK_M))
    if blocking.a != "f64":
        return [Group(atom, blocks, True) for atom in range(blocking.atoms)]
    return [Group(atom, (block,), block == 0) for atom in range(blocking.atoms) for block in blocks]


def _multiply(
    k: Kernel, blocking: Blocking, sources: list[Source], readers: tuple[Reader, Reader], depth: Reg
) -> dict[tuple[int, int], Registers]:
    """The sums, by block of 16 rows and block of 8 columns."""
    order = groups(blocking)
    held = "f64" if blocking.a == "f64" else "b32"
    count = readers[0].registers
    a = [[k.reg(held, count) for _ in order[0].blocks] for _ in range(2)]
    b = [[k.reg(held, count) for _ in range(blocking.warp_n // 16)] for _ in range(2)]
    sums = zeros(k, blocking)

    fill, stage = k.mov.u32(0), k.mov.u32(0)
    steps = stages.steps(k, blocking, depth)
    stages.start(k, blocking, sources, steps, fill)
    stages.arrive(k, blocking)
    for sort in read(k, readers, order[0], stage, a[0], b[0]):
        sort()

    def step(fetches: bool) -> None:
        another = None
        for number, group in enumerate(order):
            if number == len(order) - 1:
                # All fragments of this stage are in registers; it may be filled once all warps
                # are here.
                stages.arrive(k, blocking)
                k.mov.u32(stage, out=fill)
                stages.advance(k, blocking, stage)
                if not (fetches and blocking.prefetch == "peeled"):
                    another = steps.another(k)
            following = order[(number + 1) % len(order)]
            into = a[(number + 1) % 2], b[following.atom % 2]
            rest = read(k, readers, following, stage, *into, another)
            if number == 0 and fetches:
                stages.fetch(k, blocking, sources, steps, fill)
            elif number == 0:
                stages.commit(k, blocking)
            products(k, blocking, group, a[number % 2], b[group.atom % 2], sums)
            for sort in rest:
                sort()

    stages.main_loop(k, blocking, steps, step)
    return sums


def zeros(k: Kernel, blocking: Blocking) -> dict[tuple[int, int], Registers]:
    type, count = ("b32", 2) if blocking.sum == "f16" else (blocking.sum, 4)
    zero = 0.0 if type in ("f32", "f64") else 0
    return {
        (i, j): tuple(k.op(f"mov.{type}", zero) for _ in range(count))
        for i in range(blocking.warp_m // BLOCK_M)
        for j in range(blocking.warp_n // BLOCK_N)
    }


def read(
    k: Kernel,
    readers: tuple[Reader, Reader],
    group: Group,
    stage: Reg,
    a: list[Registers],
    b: list[Registers],
    guard: Reg | None = None,
) -> list[Callable[[], None]]:
    """What is to be done with the fragments once they are there."""
    parts = [(readers[0], *one) for one in zip(group.blocks, a, strict=True)]
    if group.with_b:
        parts += [(readers[1], *one) for one in enumerate(b)]
    return [
        matrices.load(k, reader, stage, block, group.atom, into, guard)
        for reader, block, into in parts
    ]


def products(
    k: Kernel,
    blocking: Blocking,
    group: Group,
    a: list[Registers],
    b: list[Registers],
    sums: dict[tuple[int, int], Registers],
) -> None:
    """Down the columns and up again, so that each product shares a fragment with the one before."""
    each = len(b[0]) // 2
    for j in range(blocking.warp_n // BLOCK_N):
        own = b[j // 2][j % 2 * each : (j % 2 + 1) * each]
        order = list(zip(group.blocks, a, strict=True))
        for i, rows in order if j % 2 == 0 else reversed(order):
            for op, from_a, from_b, first, count in blocking.products:
                part = sums[i, j][first : first + count]
                k.op(op, [rows[x] for x in from_a], [own[x] for x in from_b], part, out=part)
