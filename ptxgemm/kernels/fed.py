"""GEMM on ``mma.sync`` for Hopper: one warpgroup fills the stages by tensor copies.

The warps that multiply copy nothing and meet at no barrier: each waits for the stage that it reads
next, and tells when it has read one. CTAs go from tile to tile, and the copies run ahead of them,
so that a tile's stages are on their way while the one before is written.

Shared memory is as in :mod:`ptxgemm.kernels.mma` with lines of 128 bytes, whose swizzle is that of
tensor copies. What they fill in for elements outside are zeros.

In a loop of nothing else a quarter of an H200's SM starts an HMMA.16816 every 6.0 clocks, which
would be 714 TFLOP/s at 1.98 GHz, and a DMMA.16x8x16 every 66. Products of 4096 x 4096 x 4096 reach
479.5 TFLOP/s in f16 and 64.4 in f64, where :mod:`ptxgemm.kernels.mma` has 392.4 and 60.8
(``benchmarks/results/fragments.jsonl``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import SINK, Reg
from ptxgemm import matrices, results, stages
from ptxgemm import ring as rings
from ptxgemm import schedule as schedules
from ptxgemm.blocking import LINE_BYTES, WARP, Blocking, Copy
from ptxgemm.kernels import mma
from ptxgemm.matrices import Reader, Registers
from ptxgemm.ring import Cursor, Ring
from ptxgemm.schedule import Schedule

PRODUCER_REGISTERS, CONSUMER_REGISTERS = 24, 240
"""A thread; with 168 at entry, 128 of the one give away what 256 of the other take."""
BESIDES_LINES = ("a", "b", "a_pitch", "b_pitch")
"""Parameters of :func:`ptxgemm.stages.parameters` that tensor maps are in place of."""

Sums = dict[tuple[int, int], Registers]


def parameters(blocking: Blocking) -> dict[str, str]:
    """Names and types, in order: tensor maps with the boxes of :func:`box`, swizzled by 128 bytes,
    and the rest of those of :func:`ptxgemm.stages.parameters`."""
    others = stages.parameters(blocking)
    return {"a_map": "tensormap", "b_map": "tensormap"} | {
        name: type for name, type in others.items() if name not in BESIDES_LINES
    }


def box(blocking: Blocking, copy: Copy, rows: int) -> tuple[int, int]:
    """Elements of one tensor copy, innermost first: lines of 128 bytes."""
    line = LINE_BYTES * 8 // blocking.bits
    return (line, rows) if copy.major == "k" else (line, blocking.tile_k)


@dataclass(frozen=True)
class Work:
    """What every role knows. Each computes it for itself: what both hold while registers are handed
    over would be spilled."""

    blocking: Blocking
    given: dict[str, Any]
    ring: Ring
    tile: Reg
    """The first stage's shared address."""
    order: Schedule
    steps: Reg
    """K steps of a tile."""


def gemm(
    blocking: Blocking, epilogue: mma.Epilogue | None = None, name: str = "mma_fed_gemm"
) -> Kernel:
    """The kernel. Launch as many CTAs as there are SMs, or tiles where these are fewer, of
    ``blocking.threads`` threads in one dimension, with ``blocking.dynamic_bytes`` of dynamic shared
    memory; m, n and depth are at least 1.
    """
    k = Kernel(name, **parameters(blocking))
    k.maxntid(blocking.threads)
    k.minnctapersm(1)
    given = {name: k.param(name) for name in parameters(blocking)}
    tile = k.mov.u32(k.dynamic_shared("stages", align=8 * LINE_BYTES))
    thread = k.mov.u32(k.tid.x)
    ring = rings.ring(k, blocking.stages)
    with k.branch(k.setp.eq.u32(thread, 0)):
        rings.initialise(k, ring, emptied_by=blocking.workers)
    k.bar.sync(0)
    first = blocking.workers * WARP
    with k.branch(k.setp.ge.u32(thread, first)):
        k.setmaxnreg.dec.sync.aligned.u32(PRODUCER_REGISTERS)
        with k.branch(k.setp.eq.u32(thread, first)):
            _produce(k, _work(k, blocking, given, ring, tile))
    with k.otherwise():
        k.setmaxnreg.inc.sync.aligned.u32(CONSUMER_REGISTERS)
        _consume(k, _work(k, blocking, given, ring, tile), thread, epilogue)
    k.ret()
    return k


def _work(k: Kernel, blocking: Blocking, given: dict[str, Any], ring: Ring, tile: Reg) -> Work:
    order = schedules.schedule(k, blocking, given["m"], given["n"])
    steps = k.div.u32(given["depth"] + (blocking.tile_k - 1), blocking.tile_k)
    return Work(blocking, given, ring, tile, order, steps)


# ---------------------------------------------------------------- the producer


def _produce(k: Kernel, work: Work) -> None:
    """One thread fills stage after stage, and one more: who multiplies reads the first fragments
    of a stage ahead, also where nothing follows."""
    cursor = rings.filler(k)
    for name in ("a_map", "b_map"):
        k.prefetch.tensormap(work.given[name])
    with schedules.tiles(k, work.order, work.order.first, work.order.step, "produced_tile") as at:
        row, column = schedules.corner(k, work.order, at)
        depth = k.mov.u32(0)
        with k.loop(0, work.steps, name="produce"):
            _fill(k, work, cursor, row, column, depth)
            k.add.u32(depth, work.blocking.tile_k, out=depth)
    zero = k.mov.u32(0)
    _fill(k, work, cursor, zero, zero, zero)


def _fill(k: Kernel, work: Work, cursor: Cursor, row: Reg, column: Reg, depth: Reg) -> None:
    blocking, ring = work.blocking, work.ring
    rings.wait(k, rings.barrier(k, ring.empty, cursor.stage), cursor.parity)
    full = rings.barrier(k, ring.full, cursor.stage)
    k.mbarrier.arrive.expect_tx.shared__cta.b64(full, blocking.stage_bytes, out=SINK)
    to = k.mad.lo.u32(cursor.stage, blocking.stage_bytes, work.tile)
    second = k.add.u32(to, blocking.a_bytes)
    for copy, rows, name, target, first in (
        (blocking.copy_a, blocking.tile_m, "a_map", to, row),
        (blocking.copy_b, blocking.tile_n, "b_map", second, column),
    ):
        _copy(k, blocking, copy, rows, work.given[name], target, first, depth, full)
    rings.advance(k, ring, cursor)


def _copy(
    k: Kernel, blocking: Blocking, copy: Copy, rows: int, map: Reg, to: Reg, first: Reg, depth: Reg,
    full: Reg,
) -> None:  # fmt: skip
    """A tile from row (column) `first` and K `depth` on, announced to the mbarrier `full`."""
    op = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    inner, outer = box(blocking, copy, rows)
    along_k = copy.major == "k"
    for line in range(blocking.lines if along_k else rows // inner):
        target, far = k.add.u32(to, line * outer * LINE_BYTES), line * inner
        k.op(op, target, (map, (depth + far, first) if along_k else (first + far, depth)), full)


# ---------------------------------------------------------------- the consumers


@dataclass(frozen=True)
class Consumer:
    """A warp that multiplies."""

    work: Work
    readers: tuple[Reader, Reader]
    cursor: Cursor
    stage: Reg
    """The byte in shared memory, from the first stage on, of the one that is read."""
    lead: Reg
    """Whether this thread is its first."""

    def wait(self, k: Kernel) -> None:
        """The stage at the cursor is there."""
        full = rings.barrier(k, self.work.ring.full, self.cursor.stage)
        rings.wait(k, full, self.cursor.parity)
        k.mul.lo.u32(self.cursor.stage, self.work.blocking.stage_bytes, out=self.stage)

    def turn(self, k: Kernel) -> Reg:
        """On to the next stage; the mbarrier that says that the one before is read."""
        read = rings.barrier(k, self.work.ring.empty, self.cursor.stage)
        rings.advance(k, self.work.ring, self.cursor)
        self.wait(k)
        return read

    def release(self, k: Kernel, read: Reg) -> None:
        """Once all fragments of a stage have been multiplied, and so have arrived."""
        with k.when(self.lead):
            k.mbarrier.arrive.shared__cta.b64(read, out=SINK)


def _consume(k: Kernel, work: Work, thread: Reg, epilogue: mma.Epilogue | None) -> None:
    """One warp multiplies its part of tile after tile, and writes it."""
    blocking, order = work.blocking, work.order
    lane = thread & 31
    down, along = stages.warp(k, blocking, thread)
    second = k.add.u32(work.tile, blocking.a_bytes)
    readers = (
        matrices.reader(k, blocking, "a", work.tile, down, lane),
        matrices.reader(k, blocking, "b", second, along, lane),
    )
    lead = k.setp.eq.u32(lane, 0)
    consumer = Consumer(work, readers, rings.emptier(k), k.reg("u32"), lead)
    consumer.wait(k)
    step = _steps(k, consumer)
    with schedules.tiles(k, order, order.first, order.step, "tile") as index:
        sums = mma.zeros(k, blocking)
        with k.loop(0, work.steps, name="main"):
            step(sums)
        row, column = schedules.corner(k, order, index)
        place = row + down, column + along, lane
        results.write(k, blocking, sums, work.given, *place, epilogue)


def _steps(k: Kernel, consumer: Consumer) -> Callable[[Sums], None]:
    """What emits a K step, as in :mod:`ptxgemm.kernels.mma`: fragments of a group are read while
    those of the one before are multiplied, the last time from the next stage."""
    blocking = consumer.work.blocking
    groups, count = mma.groups(blocking), consumer.readers[0].registers
    held = "f64" if blocking.a == "f64" else "b32"
    a = [[k.reg(held, count) for _ in groups[0].blocks] for _ in range(2)]
    b = [[k.reg(held, count) for _ in range(blocking.warp_n // 16)] for _ in range(2)]
    mma.read(k, consumer.readers, groups[0], consumer.stage, a[0], b[0])

    def step(sums: Sums) -> None:
        read = None
        for number, group in enumerate(groups):
            if number == len(groups) - 1:
                read = consumer.turn(k)
            following = groups[(number + 1) % len(groups)]
            into = a[(number + 1) % 2], b[following.atom % 2]
            mma.read(k, consumer.readers, following, consumer.stage, *into)
            mma.products(k, blocking, group, a[number % 2], b[group.atom % 2], sums)
        if read is not None:
            consumer.release(k, read)

    return step
