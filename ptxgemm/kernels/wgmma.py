"""GEMM on Hopper's tensor cores: persistent, warp-specialised, fed by tensor copies.

One warpgroup fills a ring of stages in shared memory, two multiply out of it and write C. Where a
copy reaches beyond A or B the hardware fills in zeros, so that M, N and K are whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ptx.builder import Kernel
from ptx.ir import SINK, Reg
from ptxgemm import ring as rings
from ptxgemm import schedule as schedules
from ptxgemm import store, tma
from ptxgemm.cut import Place, meet
from ptxgemm.kernels import registers
from ptxgemm.ring import Cursor, Ring, Turns
from ptxgemm.schedule import Item, Schedule
from ptxgemm.tiling import LINE_BYTES, ROWS, SLICES, WARPGROUP, Major, Tiling
from ptxgemm.tma import Operand

PRODUCER_REGISTERS, CONSUMER_REGISTERS = 40, 232
"""A thread; 128 of the one and 256 of the other fill the register file."""


@dataclass(frozen=True)
class Work:
    """What every role knows."""

    tiling: Tiling
    ring: Ring
    order: Schedule
    stages: Reg
    """The first stage's shared address."""
    steps: Reg
    """K steps of a tile, or of an item of work."""
    turns: Reg | None
    """The first of the two mbarriers by which warpgroups take turns, if they do."""
    place: Place | None
    """Where parts of tiles meet, if some tiles are cut along K."""
    ends: Reg | None = None
    """Whether an item's steps end where K does, if some do not and the last step is cut short."""

    @property
    def a(self) -> Operand:
        return operands(self.tiling)[0]

    @property
    def b(self) -> Operand:
        return operands(self.tiling)[1]


def operands(tiling: Tiling) -> tuple[Operand, Operand]:
    """A and B as one CTA loads them: its part of what CTAs of a cluster load together."""
    return (
        _part(tiling, tiling.a_major, tiling.tile_m, tiling.cluster_n),
        _part(tiling, tiling.b_major, tiling.tile_n, tiling.cluster),
    )


def _part(tiling: Tiling, major: Major, extent: int, parts: int) -> Operand:
    """One of so many: rows of A or columns of B or, where that would cut lines along M or N, steps
    of K. It is whole groups of eight lines in shared memory, after which the swizzle repeats.
    """
    line = tiling.tile_k
    if major == "mn" and extent // parts % line:
        return Operand(major, extent, tiling.tile_k // parts, line)
    return Operand(major, extent // parts, tiling.tile_k, line)


def gemm(tiling: Tiling, name: str = "wgmma_gemm") -> Kernel:
    """A kernel for C [m, n] = A [m, depth] B [depth, n], for a one-dimensional grid. Of the last K
    step ``tiling.last_slices`` slices are multiplied: beyond them `depth` has no element.

    ``a_map`` and ``b_map`` have the boxes of :func:`operands`, swizzled by 128 bytes, ``c_map`` (of
    tensor stores alone) lines of 128 bytes by 64 rows, swizzled too. `pitch` is C's, in elements.
    Of a scaled product, ``alpha`` A B + ``beta`` times ``old``, whose rows of dense elements are
    ``old_row`` bytes apart, and which may be C itself; it is not read where beta is 0.
    Of a split one the tiles from ``whole`` on have K cut in ``parts`` of ``per_part`` steps, none
    of them empty; ``workspace`` and ``counters`` are those of :class:`ptxgemm.cut.Place`.
    Launch ``tiling.grid(...)`` CTAs of ``tiling.threads`` threads with ``tiling.shared_bytes`` of
    dynamic shared memory; m, n and depth are at least 1.
    """
    parameters = _parameters(tiling)
    k = Kernel(name, **parameters)
    k.maxntid(tiling.threads)
    k.minnctapersm(1)  # with it setmaxnreg knows the registers at entry, without it is ignored
    if tiling.cluster_size > 1:
        k.reqnctapercluster(tiling.cluster_size)
    given: dict[str, Reg] = dict(zip(parameters, k.params(), strict=True))
    m, n = given["m"], given["n"]

    shared = k.mov.u32(k.dynamic_shared("shared", align=8 * LINE_BYTES))
    thread = k.mov.u32(k.tid.x)
    ring = rings.ring(k, tiling.stages)
    turns = k.mov.u32(k.shared("turns", "b64", 2)) if tiling.alternate else None
    _start(k, tiling, ring, turns, thread)
    order = schedules.schedule(k, tiling, m, n)
    steps = k.div.u32(given["depth"] + (tiling.tile_k - 1), tiling.tile_k)
    if tiling.by_registers:
        steps = (steps + 1) & -2  # beyond K, copies fill in zeros
    place = None
    if tiling.split:
        order = schedules.with_cut(k, order, *(given[it] for it in ("whole", "parts", "per_part")))
        place = Place(given["workspace"], given["counters"])
    work = Work(tiling, ring, order, shared, steps, turns, place)
    scale = None
    if tiling.scaled:
        scale = store.Scale(*(given[name] for name in ("alpha", "beta", "old", "old_row")))
    target = store.Target(tiling, given["c"], given["pitch"], m, n, given.get("c_map"), scale)

    # So far nothing was read or written that a launch before may have to do with.
    k.griddepcontrol.wait()
    k.griddepcontrol.launch_dependents()
    with k.branch(k.setp.lt.u32(thread, WARPGROUP)):
        k.setmaxnreg.dec.sync.aligned.u32(PRODUCER_REGISTERS)
        with k.branch(k.setp.eq.u32(thread, 0)):
            _produce(k, work, given["a_map"], given["b_map"])
    with k.otherwise():
        k.setmaxnreg.inc.sync.aligned.u32(CONSUMER_REGISTERS)
        consume = registers.consume if tiling.by_registers else _consume
        consume(k, work, target, (thread >> 7) - 1, thread & (WARPGROUP - 1))
    if tiling.cluster_size > 1:
        # Peers arrive at this CTA's mbarriers as long as they run.
        k.barrier.cluster.arrive()
        k.barrier.cluster.wait()
    k.ret()
    return k


def _parameters(tiling: Tiling) -> dict[str, str]:
    """Their types, in order."""
    c = f"global.b{8 * tiling.out_bytes}"
    found = {"a_map": "tensormap", "b_map": "tensormap", "m": "u32", "n": "u32", "depth": "u32",
             "c": c, "pitch": "u32"}  # fmt: skip
    if tiling.store == "tensor":
        found["c_map"] = "tensormap"
    if tiling.scaled:
        number = "s32" if tiling.out == "s32" else "f32"
        found |= {"alpha": number, "beta": number, "old": c, "old_row": "s64"}
    if tiling.split:
        found |= {"whole": "u32", "parts": "u32", "per_part": "u32", "workspace": "global.b32",
                  "counters": "global.u32"}  # fmt: skip
    return found


def _start(k: Kernel, tiling: Tiling, ring: Ring, turns: Reg | None, thread: Reg) -> None:
    """The mbarriers, ready before anybody, in the cluster too, waits for one."""
    with k.branch(k.setp.eq.u32(thread, 0)):
        if turns is not None:
            rings.initialise_turns(k, turns)
        readers = 1 if turns is not None else 2
        if tiling.by_registers:
            readers = registers.READERS
        rings.initialise(k, ring, emptied_by=readers * (tiling.cluster + tiling.cluster_n - 1))
    if tiling.cluster_size > 1:
        k.barrier.cluster.arrive.aligned()
        k.barrier.cluster.wait.aligned()
    else:
        k.bar.sync(0)


# ---------------------------------------------------------------- the producer


@dataclass(frozen=True)
class Share:
    """Of CTAs of a cluster that load an operand together, one's part: lines of 128 bytes, which are
    rows of A or columns of B or, where `along_k`, steps of K (of each box).
    """

    first: Reg
    along_k: bool
    mask: Reg
    """Of the CTAs that it goes to."""


def _shares(k: Kernel, work: Work) -> tuple[Share | None, Share | None]:
    """Of A and B; none of what this CTA loads for itself alone."""
    below, beside = work.tiling.cluster, work.tiling.cluster_n
    row = sum(1 << below * number for number in range(beside))
    return (
        _share(k, work, work.a, work.order.beside, row, work.order.below),
        _share(k, work, work.b, work.order.below, (1 << below) - 1, work.order.beside, below),
    )


def _share(
    k: Kernel, work: Work, operand: Operand, number: Reg | None, ctas: int, place: Reg | None,
    apart: int = 1,
) -> Share | None:  # fmt: skip
    """The part of that number. It goes to the CTAs of the mask `ctas`, shifted `apart` for each
    place.
    """
    if number is None:
        return None
    along_k = operand.tile_k < work.tiling.tile_k
    first = number * (operand.tile_k if along_k else operand.extent)
    if place is None:
        return Share(first, along_k, k.mov.u16(ctas))
    shift = place * apart if apart > 1 else place
    return Share(first, along_k, k.cvt.u16.u32(k.shl.b32(ctas, shift)))


def _copy(
    k: Kernel, operand: Operand, share: Share | None, map: Reg, to: Reg, at: Reg, depth: Reg,
    full: Reg,
) -> None:  # fmt: skip
    """A tile of A or B, or this CTA's share of it to all that have one."""
    if share is None:
        tma.copy(k, operand, map, to, at, depth, full)
        return
    to = k.mad.lo.u32(share.first, LINE_BYTES, to)
    if share.along_k:
        depth = k.add.u32(depth, share.first)
    else:
        at = k.add.u32(at, share.first)
    tma.copy(k, operand, map, to, at, depth, full, share.mask)


def _produce(k: Kernel, work: Work, a_map: Reg, b_map: Reg) -> None:
    """One thread fills stage after stage.

    It does not fetch what lies behind them into the L2 cache: an SM's copies are bound by the cache
    lines that they touch, and tensor prefetches, four or eight K steps ahead, take as many again
    (8192³ in bf16 1476 to 3366 us on an H200).
    """
    tiling, ring, order = work.tiling, work.ring, work.order
    cursor = rings.filler(k)
    of_a, of_b = _shares(k, work)
    for map in (a_map, b_map):
        k.prefetch.tensormap(map)
    with schedules.tiles(k, order, order.first, order.step, "produced_tile") as index:
        item = schedules.item(k, order, index, work.steps)
        row, column = schedules.corner(k, order, item.tile)
        depth = k.mov.u32(0) if item.start is None else item.start * tiling.tile_k
        with k.loop(0, item.steps, name="produce"):
            rings.wait(k, rings.barrier(k, ring.empty, cursor.stage), cursor.parity)
            full = rings.barrier(k, ring.full, cursor.stage)
            k.mbarrier.arrive.expect_tx.shared__cta.b64(full, tiling.stage_bytes, out=SINK)
            to = k.mad.lo.u32(cursor.stage, tiling.stage_bytes, work.stages)
            _copy(k, work.a, of_a, a_map, to, row, depth, full)
            to = k.add.u32(to, tiling.a_bytes)
            _copy(k, work.b, of_b, b_map, to, column, depth, full)
            rings.advance(k, ring, cursor)
            k.add.u32(depth, tiling.tile_k, out=depth)


# ---------------------------------------------------------------- the consumers


@dataclass(frozen=True)
class Consumer:
    """A warpgroup that multiplies."""

    number: Reg
    """From 0."""
    lead: Reg
    """Whether this thread is its first."""
    emptied: tuple[Reg, ...]
    """The first "empty" mbarrier of each CTA that fills this one's stages."""
    sums: tuple[Reg, ...]
    """What the tensor core adds to."""
    promoted: tuple[Reg, ...]
    """What these are added to after each K step, if they are promoted."""
    a: Reg
    """Descriptors of its rows of A, and of B, in the first stage."""
    b: Reg


def _consume(k: Kernel, work: Work, target: store.Target, number: Reg, thread: Reg) -> None:
    """One warpgroup multiplies tile after tile, and writes each."""
    tiling, order = work.tiling, work.order
    staging = k.add.u32(work.stages, tiling.stages * tiling.stage_bytes)
    writer = store.writer(k, tiling, number, thread, staging)
    consumer = _consumer(k, work, number, writer.lead)
    cursor = rings.emptier(k)
    first, step, turns = order.first, order.step, None
    if work.turns is not None:
        turns = rings.turns(k, work.turns, number)
        first, step = k.mad.lo.u32(number, step, first), step * 2
        others = schedules.item(k, order, order.first, work.steps).steps
        rings.skip(k, work.ring, cursor, number * others)
    with schedules.tiles(k, order, first, step, "tile") as index:
        item = schedules.item(k, order, index, work.steps)
        row, column = schedules.corner(k, order, item.tile)
        if tiling.cluster_n > 1:
            # A tile beyond the columns of C counts as one beyond its rows.
            row = k.selp.b32(row, target.m, k.setp.lt.u32(column, target.n))
        if not tiling.alternate:
            row = k.mad.lo.u32(number, tiling.rows, row)
        own = replace(work, steps=item.steps, ends=_ends(k, work, item))
        _multiply_rows(k, own, consumer, cursor, turns, k.sub.s32(target.m, row))
        if turns is not None:
            rings.skip(k, work.ring, cursor, schedules.steps_of_next(k, order, index, work.steps))
        sums, done = consumer.promoted or consumer.sums, k.forward("done")
        if work.place is not None:
            meet(k, work.place, order, item, target, writer, sums, row, done)
        store.write(k, target, writer, sums, row, column)
        if work.place is not None:
            k.place(done)
    store.finish(k, tiling, writer)


def _ends(k: Kernel, work: Work, item: Item) -> Reg | None:
    """:attr:`Work.ends` of an item."""
    if work.tiling.last_slices == SLICES or item.start is None:
        return None
    ends: Reg = k.setp.eq.u32(item.start + item.steps, work.steps)
    return ends


def _consumer(k: Kernel, work: Work, number: Reg, lead: Reg) -> Consumer:
    tiling = work.tiling
    if tiling.cluster_size > 1:
        emptied = tuple(
            k.mapa.shared__cluster.u32(work.ring.empty, rank)
            for rank in schedules.peers(k, work.order)
        )
    else:
        emptied = (work.ring.empty,)
    start = work.stages & tma.ADDRESS_BITS
    own = start if tiling.alternate else k.mad.lo.u32(number, tiling.rows * LINE_BYTES, start)
    a, b = (
        k.or_.b64(k.cvt.u64.u32(address >> 4), operand.descriptor)
        for address, operand in ((own, work.a), (start + tiling.a_bytes, work.b))
    )
    sums = k.reg({"f16": "f16x2", "s32": "b32"}.get(tiling.sum, tiling.sum), tiling.sums)
    promoted = k.reg("f32", tiling.sums) if tiling.accumulate == "promoted" else ()
    return Consumer(number, lead, emptied, sums, promoted, a, b)


def _multiply_rows(
    k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, turns: Turns | None, left: Reg
) -> None:
    """The sums of one tile, of which `left` rows from the warpgroup's first on are in C.

    Where warpgroups take turns, a block of 64 rows that is beyond C is not multiplied. Where they
    share a tile all of it is: what one of them does alone would take stages and descriptors out of
    uniform registers, in the main loop too.
    """
    tiling, blocks = work.tiling, work.tiling.rows // ROWS
    multiply = _multiply_promoted if consumer.promoted else _multiply
    with ExitStack() as branches:
        if tiling.alternate and tiling.cluster_size > 1:
            # The peer's tile may not exist.
            with k.branch(k.setp.le.s32(left, 0)):
                _pass_over(k, work, consumer, cursor, turns)
            branches.enter_context(k.otherwise())
        if tiling.alternate and blocks > 1:
            with k.branch(k.setp.le.s32(left, ROWS)):
                multiply(k, work, consumer, cursor, turns, 1, "upper")
            branches.enter_context(k.otherwise())
        multiply(k, work, consumer, cursor, turns, blocks, "main")


def _pass_over(
    k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, turns: Turns | None
) -> None:
    """Empty the stages of a tile whose rows all lie beyond C."""
    if turns is not None:
        rings.take(k, turns)
    with k.loop(0, work.steps, name="pass"):
        rings.wait(k, rings.barrier(k, work.ring.full, cursor.stage), cursor.parity)
        _release(k, work.tiling, consumer, cursor.stage, consumer.lead)
        rings.advance(k, work.ring, cursor)
    if turns is not None:
        rings.pass_on(k, turns, consumer.lead)


def _multiply(
    k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, turns: Turns | None, blocks: int,
    name: str,
) -> None:  # fmt: skip
    """The sums of the first `blocks` of 64 rows, in a loop of that name, ``main`` where they are
    all, and what :func:`_steps` has behind it.

    The wgmmas of one K step run while the next step's are issued; then the stage before is free.
    """
    tiling, ring = work.tiling, work.ring
    before = k.mov.u32(cursor.stage)
    if turns is not None:
        rings.take(k, turns)
    for step, slices in _steps(k, work, name):
        rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
        offset = k.cvt.u64.u32(cursor.stage * (tiling.stage_bytes >> 4))
        later = k.setp.ne.u32(step, 0)
        _issue(k, work, consumer, consumer.a + offset, consumer.b + offset, later, blocks, slices)
        k.wgmma.wait_group.sync.aligned(1)
        _release(k, tiling, consumer, before, consumer.lead & later)
        k.mov.u32(cursor.stage, out=before)
        rings.advance(k, ring, cursor)
    if turns is not None:
        rings.pass_on(k, turns, consumer.lead)
    k.wgmma.wait_group.sync.aligned(0)
    _release(k, tiling, consumer, before, consumer.lead)


def _multiply_promoted(
    k: Kernel, work: Work, consumer: Consumer, cursor: Cursor, turns: Turns | None, blocks: int,
    name: str,
) -> None:  # fmt: skip
    """:func:`_multiply` where the sums of each K step, which is 128 elements of 8 bits, are added
    to others in float32. The tensor core waits for this unless the other warpgroup has work for it.
    """
    tiling, ring = work.tiling, work.ring
    for total in consumer.promoted:
        k.mov.f32(0.0, out=total)
    if turns is not None:
        rings.take(k, turns)
    never = k.setp.ne.u32(work.steps, work.steps)
    for _, slices in _steps(k, work, name):
        rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
        offset = k.cvt.u64.u32(cursor.stage * (tiling.stage_bytes >> 4))
        _issue(k, work, consumer, consumer.a + offset, consumer.b + offset, never, blocks, slices)
        k.wgmma.wait_group.sync.aligned(0)
        _release(k, tiling, consumer, cursor.stage, consumer.lead)
        rings.advance(k, ring, cursor)
        count = blocks * ROWS * tiling.sums // tiling.rows
        for total, part in zip(consumer.promoted[:count], consumer.sums[:count], strict=True):
            k.add.rn.f32(total, part, out=total)
    if turns is not None:
        rings.pass_on(k, turns, consumer.lead)


def _steps(k: Kernel, work: Work, name: str) -> Iterator[tuple[Reg, int]]:
    """The code of an item's K steps, in a loop of that name: the step's number and its slices.

    A last step that is cut short comes behind the loop. Where it is the only one it is jumped to:
    on a path with no wgmma ptxas would give the sums a value, and serialise all wgmmas for that
    (C7515).
    """
    last = work.tiling.last_slices
    if last == SLICES:
        with k.loop(0, work.steps, name=name) as step:
            yield step, SLICES
        return
    before = work.steps - (1 if work.ends is None else k.selp.b32(1, 0, work.ends))
    short, over = k.forward("short"), k.forward("over")
    with k.when(k.setp.eq.u32(before, 0)):
        k.bra(short)
    with k.loop(0, before, name=name) as step:
        yield step, SLICES
    if work.ends is not None:
        with k.when(~work.ends):
            k.bra(over)
    k.place(short)
    yield before, last
    k.place(over)


def _issue(
    k: Kernel, work: Work, consumer: Consumer, a: Reg, b: Reg, later: Reg, blocks: int, slices: int
) -> None:
    """The wgmmas of a K step's first `slices`; where not `later`, the first overwrite the sums
    instead of adding.
    """
    tiling = work.tiling
    always = k.setp.eq.u32(work.steps, work.steps)
    each = tiling.sums * ROWS // tiling.rows
    signs = () if tiling.sum == "s32" else (1, 1)
    k.wgmma.fence.sync.aligned()
    for part in range(slices):
        b_part = k.add.s64(b, part * work.b.step) if part else b
        for block in range(blocks):
            further = part * work.a.step + block * (ROWS * LINE_BYTES >> 4)
            a_part = k.add.s64(a, further) if further else a
            transposed = (
                (int(tiling.a_major == "mn"), int(tiling.b_major == "mn"))
                if tiling.element.bytes == 2
                else ()
            )
            sums = consumer.sums[block * each : (block + 1) * each]
            added = always if part else later
            k.op(tiling.instruction, sums, a_part, b_part, added, *signs, *transposed)
    k.wgmma.commit_group.sync.aligned()


def _release(k: Kernel, tiling: Tiling, consumer: Consumer, stage: Reg, lead: Reg) -> None:
    """Tell every producer that fills this stage that the warpgroup has read it.

    Without ``.release.cluster``, which costs MEMBAR.ALL.GPU and ERRBAR in the main loop and almost
    half the speed. Nothing needs it: what wgmma has read, wait_group has seen to the end.
    """
    barriers = [rings.barrier(k, first, stage) for first in consumer.emptied]
    with k.when(lead):
        for barrier in barriers:
            if tiling.cluster_size > 1:
                k.mbarrier.arrive.shared__cluster.b64(barrier, out=SINK)
            else:
                k.mbarrier.arrive.shared__cta.b64(barrier, out=SINK)
