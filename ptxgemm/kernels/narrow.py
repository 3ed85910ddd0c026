"""GEMM on Hopper's tensor cores for few columns or few tiles: K in parts over a cluster.

One warp fills a deep ring of stages by tensor copies, one or two warpgroups multiply out of it.
Each CTA then leaves its sums in its shared memory, and each adds up, in the order of K, its share
of the tile out of the shared memory of all: the result does not depend on who is first.

Launched early, it makes itself ready while the launch before it still runs.

Launches overlap up to the first load, which waits for the launch before. Tried against the pause
that this leaves, measured on an H200 on 12 products, and given up: to have the L2 cache fetch the
first stages of A before that wait. It costs 5% in the median choice, and 2% where the next launch
may start only after this one's last copy; the fastest choice of a product then takes between 2%
less and 8% more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ptx.builder import Kernel
from ptx.ir import SINK, Addr, Reg
from ptxgemm import ring as rings
from ptxgemm import rounding, tma
from ptxgemm.kernels import unaligned
from ptxgemm.kernels.unaligned import Unaligned
from ptxgemm.narrow import VECTOR, Narrow
from ptxgemm.ring import Ring
from ptxgemm.store import Scale
from ptxgemm.tiling import LINE_BYTES, ROWS, WARPGROUP

STAGED = 1
"""The named barrier of the warpgroups that multiply."""
FETCHED = 8
"""Vectors of sums that a thread fetches before it adds them."""


@dataclass(frozen=True)
class Work:
    """What every role knows of a CTA's work."""

    shape: Narrow
    ring: Ring
    shared: Reg
    """The first stage's shared address."""
    row: Reg
    """The first row and column of its tile."""
    column: Reg
    peer: Reg
    """Its number among those that load B together."""
    part: Reg
    """Its number among the parts of K."""
    first: Reg
    """Its first K step, and how many it has, at least one."""
    steps: Reg


@dataclass(frozen=True)
class Target:
    """C: `lines` lines of `length` dense elements, `pitch` elements apart."""

    c: Reg
    lines: Reg
    length: Reg
    pitch: Reg
    scale: Scale | None


def gemm(shape: Narrow, name: str = "narrow_gemm") -> Kernel:
    """A kernel for C [m, n] = A [m, depth] B [depth, n], for a one-dimensional grid.

    ``a_map`` and ``b_map`` have the boxes of ``shape.loads``, swizzled by 128 bytes; an A that is
    copied by units has its address and its pitch instead. Pitches are in elements. A scaled product
    is ``alpha`` A B + ``beta`` times ``old``, whose lines, dense as C's are, are ``old_row`` bytes
    apart, and which may be C itself; it is not read where beta is 0. Launch ``shape.grid(m, n)``
    CTAs of ``shape.threads`` threads with ``shape.shared_bytes`` of dynamic shared memory; m and n
    are at least 1, and there are at least ``shape.parts`` K steps.
    """
    parameters = _parameters(shape)
    k = Kernel(name, **parameters)
    k.maxntid(shape.threads)
    if shape.cluster > 1:
        k.reqnctapercluster(shape.cluster)
    given: dict[str, Reg] = dict(zip(parameters, k.params(), strict=True))
    target = _target(shape, given)
    shared = k.mov.u32(k.dynamic_shared("shared", align=8 * LINE_BYTES))
    thread = k.mov.u32(k.tid.x)
    _prefetch_maps(k, shape, given, thread)
    ring = rings.ring(k, shape.stages)
    _start(k, shape, ring, thread)
    work = _work(k, shape, ring, shared, given["n"], given["depth"])
    a = _unaligned(shape, given)
    # So far nothing was read or written that a launch before may have to do with.
    k.griddepcontrol.wait()
    k.griddepcontrol.launch_dependents()
    with k.branch(k.setp.ge.u32(thread, shape.multipliers)):
        _fill(k, work, a, given, thread)
    with k.otherwise():
        _stage(k, shape, _multiply(k, work, a, thread), shared, thread)
    if shape.cluster > 1:
        _meet(k)
    with k.branch(k.setp.lt.u32(thread, shape.multipliers)):
        _write(k, work, target, thread)
    if shape.cluster > 1:
        _meet(k)  # shared memory lives until all have read it, and no copy finds it gone
    k.ret()
    return k


def _parameters(shape: Narrow) -> dict[str, str]:
    """Names and types."""
    tensor = shape.a_copy == "tensor"
    found = {"a_map": "tensormap"} if tensor else {"a": "global.b16", "a_pitch": "u32"}
    found |= {"b_map": "tensormap", "m": "u32", "n": "u32", "depth": "u32"}
    c = f"global.b{8 * shape.out_bytes}"
    found |= {"c": c, "pitch": "u32"}
    if shape.scaled:
        number = "s32" if shape.out == "s32" else "f32"
        found |= {"alpha": number, "beta": number, "old": c, "old_row": "s64"}
    return found


def _target(shape: Narrow, given: Mapping[str, Reg]) -> Target:
    m, n = given["m"], given["n"]
    lines, length = (m, n) if shape.c_major == "n" else (n, m)
    scale = None
    if shape.scaled:
        scale = Scale(*(given[one] for one in ("alpha", "beta", "old", "old_row")))
    return Target(given["c"], lines, length, given["pitch"], scale)


def _unaligned(shape: Narrow, given: Mapping[str, Reg]) -> Unaligned | None:
    """The A that is copied by units; None where it comes by tensor copies."""
    if shape.a_copy == "tensor":
        return None
    return Unaligned(given["a"], given["a_pitch"], given["m"], given["depth"])


def _prefetch_maps(k: Kernel, shape: Narrow, given: Mapping[str, Reg], thread: Reg) -> None:
    """The first thread that loads fetches the tensor maps."""
    with k.when(k.setp.eq.u32(thread, shape.multipliers)):
        for name in ("a_map", "b_map"):
            if name in given:
                k.prefetch.tensormap(given[name])


def _meet(k: Kernel) -> None:
    """All threads of the cluster."""
    k.barrier.cluster.arrive()
    k.barrier.cluster.wait()


def _start(k: Kernel, shape: Narrow, ring: Ring, thread: Reg) -> None:
    """The mbarriers, ready before anybody, among the peers too, waits for one."""
    with k.branch(k.setp.eq.u32(thread, 0)):
        filled_by, emptied_by = shape.arrivals
        rings.initialise(k, ring, emptied_by, filled_by)
    if shape.peers > 1:
        k.barrier.cluster.arrive.aligned()
        k.barrier.cluster.wait.aligned()
    else:
        k.bar.sync(0)


def _work(k: Kernel, shape: Narrow, ring: Ring, shared: Reg, n: Reg, depth: Reg) -> Work:
    """Tiles are numbered along N first, so that those that share rows of A run together."""
    cluster = k.mov.u32(k.ctaid.x)
    part = peer = k.mov.u32(0)
    if shape.cluster > 1:
        rank = k.mov.u32(k.cluster_ctarank)
        cluster = cluster >> (shape.cluster.bit_length() - 1)
        peer = rank & (shape.peers - 1)
        part = rank >> (shape.peers.bit_length() - 1)
    columns = k.div.u32(n + (shape.tile_n - 1), shape.tile_n)
    group = k.div.u32(cluster, columns)
    row = k.mad.lo.u32(group, shape.peers, peer) * shape.tile_m
    column = (cluster - group * columns) * shape.tile_n
    steps = k.div.u32(depth + (shape.tile_k - 1), shape.tile_k)
    shift = shape.parts.bit_length() - 1
    first = part * steps >> shift
    count = ((part + 1) * steps >> shift) - first
    return Work(shape, ring, shared, row, column, peer, part, first, count)


# ---------------------------------------------------------------- the producer


def _fill(
    k: Kernel, work: Work, a: Unaligned | None, given: Mapping[str, Reg], thread: Reg
) -> None:
    """The threads that do not multiply: one of them by tensor copies, or all where A is `a`."""
    first = work.shape.multipliers
    if a is not None:
        _produce_units(k, work, a, given["b_map"], thread - first)
        return
    with k.branch(k.setp.eq.u32(thread, first)):
        _produce(k, work, given["a_map"], given["b_map"])


def _produce(k: Kernel, work: Work, a_map: Reg, b_map: Reg) -> None:
    """One thread fills stage after stage."""
    shape, ring = work.shape, work.ring
    piece = _piece(k, work)
    cursor = rings.filler(k)
    depth = work.first * shape.tile_k
    with k.loop(0, work.steps, name="produce"):
        rings.wait(k, rings.barrier(k, ring.empty, cursor.stage), cursor.parity)
        full = rings.barrier(k, ring.full, cursor.stage)
        k.mbarrier.arrive.expect_tx.shared__cta.b64(full, shape.stage_bytes, out=SINK)
        to = k.mad.lo.u32(cursor.stage, shape.stage_bytes, work.shared)
        for line in range(shape.depth):
            own = k.add.u32(to, line * shape.b_places[1]) if line else to
            deep = k.add.u32(depth, line * shape.line_k) if line else depth
            tma.copy(k, shape.loads[0], a_map, own, work.row, deep, full)
            _copy_b(k, work, piece, b_map, to, line, deep, full)
        rings.advance(k, ring, cursor)
        k.add.u32(depth, shape.tile_k, out=depth)


def _produce_units(k: Kernel, work: Work, a: Unaligned, b_map: Reg, thread: Reg) -> None:
    """A warpgroup fills stage after stage; its first thread copies B too."""
    shape, ring = work.shape, work.ring
    piece = _piece(k, work)
    lead = k.setp.eq.u32(thread, 0)
    units = unaligned.units(k, work, a, thread)
    cursor = rings.filler(k)
    depth = work.first * shape.tile_k
    with k.loop(0, work.steps, name="produce"):
        rings.wait(k, rings.barrier(k, ring.empty, cursor.stage), cursor.parity)
        full = rings.barrier(k, ring.full, cursor.stage)
        to = k.mad.lo.u32(cursor.stage, shape.stage_bytes, work.shared)
        with k.branch(lead):
            nbytes = shape.depth * shape.b_bytes
            k.mbarrier.arrive.expect_tx.shared__cta.b64(full, nbytes, out=SINK)
            for line in range(shape.depth):
                deep = k.add.u32(depth, line * shape.line_k) if line else depth
                _copy_b(k, work, piece, b_map, to, line, deep, full)
        unaligned.copy(k, shape, units, to)
        k.cp.async_.mbarrier.arrive.noinc.shared.b64(full)
        rings.advance(k, ring, cursor)
        k.add.u32(depth, shape.tile_k, out=depth)


@dataclass(frozen=True)
class Piece:
    """A CTA's piece of what peers load of B together: so many columns, or so many steps of K, a
    line of 128 bytes each.
    """

    first: Reg
    column: Reg
    mask: Reg
    """Of the CTAs that it goes to."""


def _piece(k: Kernel, work: Work) -> Piece | None:
    shape, (_, b) = work.shape, work.shape.loads
    if shape.peers == 1:
        return None
    first = work.peer * (b.extent if b.major == "k" else b.tile_k)
    column = k.add.u32(work.column, first) if b.major == "k" else work.column
    mask = k.cvt.u16.u32(k.shl.b32((1 << shape.peers) - 1, work.part * shape.peers))
    return Piece(first, column, mask)


def _copy_b(
    k: Kernel, work: Work, piece: Piece | None, b_map: Reg, stage: Reg, line: int, depth: Reg,
    full: Reg,
) -> None:  # fmt: skip
    """A line of K of B, from `depth` on."""
    shape, (_, b) = work.shape, work.shape.loads
    first, step = shape.b_places
    to = k.add.u32(stage, first + line * step)
    if piece is None:
        tma.copy(k, b, b_map, to, work.column, depth, full)
        return
    to = k.mad.lo.u32(piece.first, LINE_BYTES, to)
    deep = k.add.u32(depth, piece.first) if b.major == "mn" else depth
    tma.copy(k, b, b_map, to, piece.column, deep, full, piece.mask)


# ---------------------------------------------------------------- the consumers


def _multiply(k: Kernel, work: Work, a: Unaligned | None, thread: Reg) -> tuple[Reg, ...]:
    """A warpgroup's sums of the CTA's part of K. The loop is named ``main``."""
    sums = tuple(k.mov.b32(0) for _ in range(work.shape.sums))
    emptied = _emptied(k, work)
    start = k.add.u32(work.shared & tma.ADDRESS_BITS, work.shape.b_places[0])
    b = k.or_.b64(k.cvt.u64.u32(start >> 4), work.shape.loads[1].descriptor)
    always = k.setp.ge.u32(work.steps, 0)
    if a is None:
        _multiply_shared(k, work, sums, emptied, b, always, thread)
    else:
        _multiply_registers(k, work, a, sums, emptied, b, always, thread)
    return sums


def _multiply_shared(
    k: Kernel, work: Work, sums: Sequence[Reg], emptied: Sequence[Reg], b: Reg, always: Reg,
    thread: Reg,
) -> None:  # fmt: skip
    """The wgmmas of one K step run while the next step's are issued; then the stage before is
    free.
    """
    shape, ring = work.shape, work.ring
    lead = k.setp.eq.u32(thread & (WARPGROUP - 1), 0)
    own = k.mad.lo.u32(thread >> 7, shape.rows * LINE_BYTES, work.shared & tma.ADDRESS_BITS)
    a = k.or_.b64(k.cvt.u64.u32(own >> 4), shape.loads[0].descriptor)
    cursor = rings.emptier(k)
    before = k.mov.u32(0)
    with k.loop(0, work.steps, name="main") as step:
        rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
        offset = k.cvt.u64.u32(cursor.stage * (shape.stage_bytes >> 4))
        a_stage, b_stage = a + offset, b + offset
        k.wgmma.fence.sync.aligned()
        for line, part in product(range(shape.depth), range(4)):
            further = line * (shape.b_places[1] >> 4) + part * shape.loads[0].step
            for block in range(shape.rows // ROWS):
                from_a = a_stage + (further + block * (ROWS * LINE_BYTES >> 4))
                _wgmma(k, shape, sums, block, from_a, _b_part(shape, b_stage, line, part), always)
        k.wgmma.commit_group.sync.aligned()
        k.wgmma.wait_group.sync.aligned(1)
        _release(k, shape, emptied, before, lead & k.setp.ne.u32(step, 0))
        k.mov.u32(cursor.stage, out=before)
        rings.advance(k, ring, cursor)
    k.wgmma.wait_group.sync.aligned(0)


def _multiply_registers(
    k: Kernel, work: Work, a: Unaligned, sums: Sequence[Reg], emptied: Sequence[Reg], b: Reg,
    always: Reg, thread: Reg,
) -> None:  # fmt: skip
    """What was read of a stage is multiplied before the next is read."""
    shape, ring = work.shape, work.ring
    lead = k.setp.eq.u32(thread & 31, 0)
    reader = unaligned.reader(k, work, a, thread)
    cursor = rings.emptier(k)
    with k.loop(0, work.steps, name="main"):
        rings.wait(k, rings.barrier(k, ring.full, cursor.stage), cursor.parity)
        b_stage = b + k.cvt.u64.u32(cursor.stage * (shape.stage_bytes >> 4))
        stage = k.mad.lo.u32(cursor.stage, shape.stage_bytes, work.shared)
        read = unaligned.fragments(k, shape, reader, stage)
        k.wgmma.fence.sync.aligned()
        for line, part in product(range(shape.depth), range(4)):
            for block in range(shape.rows // ROWS):
                from_b = _b_part(shape, b_stage, line, part)
                _wgmma(k, shape, sums, block, read[4 * line + part, block], from_b, always)
        k.wgmma.commit_group.sync.aligned()
        k.wgmma.wait_group.sync.aligned(0)
        k.bar.warp.sync(0xFFFFFFFF)
        _release(k, shape, emptied, cursor.stage, lead)
        rings.advance(k, ring, cursor)


def _b_part(shape: Narrow, stage: Reg, line: int, part: int) -> Reg:
    """The descriptor of 16 elements of K of B."""
    at: Reg = stage + (line * (shape.b_places[1] >> 4) + part * shape.loads[1].step)
    return at


def _wgmma(
    k: Kernel, shape: Narrow, sums: Sequence[Reg], block: int, a: Any, b: Reg, always: Reg
) -> None:
    """64 rows of A, by a descriptor or in four registers of each thread, times B."""
    each = shape.sums * ROWS // shape.rows
    own = tuple(sums[block * each : (block + 1) * each])
    signs = () if shape.types.sum == "s32" else (1, 1)
    transposed: tuple[int, ...] = ()
    if shape.types.element.bytes == 2:
        transposed = (int(shape.b_major == "mn"),)
        if not isinstance(a, tuple):
            transposed = (int(shape.a_major == "mn"), *transposed)
    k.op(shape.instruction, own, a, b, always, *signs, *transposed)


def _emptied(k: Kernel, work: Work) -> tuple[Reg, ...]:
    """The first "empty" mbarrier of each CTA that fills this one's stages."""
    shape, empty = work.shape, work.ring.empty
    if shape.peers == 1:
        return (empty,)
    first = work.part * shape.peers
    return tuple(k.mapa.shared__cluster.u32(empty, first + peer) for peer in range(shape.peers))


def _release(k: Kernel, shape: Narrow, emptied: Sequence[Reg], stage: Reg, lead: Reg) -> None:
    """Tell every producer that fills this stage that the warpgroup has read it, with no order
    beyond the CTA, as :mod:`ptxgemm.kernels.wgmma` does.
    """
    barriers = [rings.barrier(k, first, stage) for first in emptied]
    with k.when(lead):
        for barrier in barriers:
            if shape.peers > 1:
                k.mbarrier.arrive.shared__cluster.b64(barrier, out=SINK)
            else:
                k.mbarrier.arrive.shared__cta.b64(barrier, out=SINK)


# ---------------------------------------------------------------- the sums of all parts


def _stage(k: Kernel, shape: Narrow, sums: Sequence[Reg], staging: Reg, thread: Reg) -> None:
    """Leave a warpgroup's sums in shared memory, over the stages, in lines as C has them.

    A thread of ``wgmma`` holds, of every 8 columns, columns 2t and 2t + 1 of rows g and g + 8,
    where its lane is 4g + t (:func:`ptx.layouts.wgmma_accumulator`).
    """
    count, pitch = shape.multipliers, shape.staging_pitch
    k.bar.sync(STAGED, count)
    lane, warp = thread & 31, thread >> 5
    row = k.mad.lo.u32(warp & 3, 16, lane >> 2)
    if shape.warpgroups > 1:
        row = k.mad.lo.u32(warp >> 2, shape.rows, row)
    column = (lane & 3) * 2
    steps = (pitch, 4) if shape.c_major == "n" else (4, pitch)
    at = k.mad.lo.u32(row, steps[0], k.mad.lo.u32(column, steps[1], staging))
    each = shape.sums * ROWS // shape.rows
    for index in range(0, shape.sums, 2):
        block, inside = divmod(index, each)
        down, right = ROWS * block + inside % 4 // 2 * 8, inside // 4 * 8
        offset = down * steps[0] + right * steps[1]
        pair = tuple(sums[index : index + 2])
        if shape.c_major == "n":
            k.st.shared.v2.b32(Addr(at, offset), pair)
        else:
            k.st.shared.b32(Addr(at, offset), pair[0])
            k.st.shared.b32(Addr(at, offset + pitch), pair[1])
    if shape.cluster == 1:
        k.bar.sync(STAGED, count)


def _write(k: Kernel, work: Work, target: Target, thread: Reg) -> None:
    """Add up this CTA's share of the tile and write it: vectors of a line, dealt out to threads,
    then to the CTAs, then again.
    """
    shape = work.shape
    sources = _sources(k, work)
    threads = shape.multipliers
    together, vectors = threads * shape.parts, shape.tile_m * shape.tile_n // VECTOR
    first = k.mad.lo.u32(work.part, threads, thread)
    whole = vectors // together * together
    numbers = range(0, whole, together)
    batch = max(1, FETCHED // shape.parts)
    for start in range(0, len(numbers), batch):
        own = [first + number if number else first for number in numbers[start : start + batch]]
        _add_and_write(k, work, target, sources, own)
    if whole < vectors:
        with k.branch(k.setp.lt.u32(first, vectors - whole)):
            _add_and_write(k, work, target, sources, [first + whole if whole else first])


def _sources(k: Kernel, work: Work) -> list[Reg]:
    """The shared address of the staged sums of each part, in the order of K."""
    shape = work.shape
    if shape.parts == 1:
        return [work.shared]
    return [
        k.mapa.shared__cluster.u32(work.shared, work.peer + part * shape.peers)
        for part in range(shape.parts)
    ]


def _add_and_write(
    k: Kernel, work: Work, target: Target, sources: Sequence[Reg], numbers: Sequence[Reg]
) -> None:
    """The vectors of these numbers, fetched together."""
    shape = work.shape
    corner = (work.row, work.column) if shape.c_major == "n" else (work.column, work.row)
    in_line = shape.line // VECTOR
    load = "ld.shared::cluster.v4.b32" if shape.parts > 1 else "ld.shared.v4.b32"
    add = "add.s32" if shape.types.sum == "s32" else "add.rn.f32"
    lines = [k.div.u32(number, in_line) for number in numbers]
    places = [(line, n - line * in_line) for line, n in zip(lines, numbers, strict=True)]
    fetched = []
    for line, vector in places:
        offset = k.mad.lo.u32(line, shape.staging_pitch, vector * (4 * VECTOR))
        fetched.append([k.op(load, source + offset) for source in sources])
    for (line, vector), parts in zip(places, fetched, strict=True):
        sums = list(parts[0])
        for more in parts[1:]:
            for value, other in zip(sums, more, strict=True):
                k.op(add, value, other, out=value)
        at = corner[0] + line, k.mad.lo.u32(vector, VECTOR, corner[1])
        _store(k, shape, target, sums, *at)


def _store(
    k: Kernel, shape: Narrow, target: Target, sums: Sequence[Reg], line: Reg, along: Reg
) -> None:
    """Four neighbours of a line of C, as far as they lie in it."""
    size, types = shape.out_bytes, shape.types
    index = k.mad.wide.u32(line, target.pitch, k.cvt.u64.u32(along))
    at = target.c + (index << (size.bit_length() - 1))
    left = k.sub.s32(target.length, along)
    with k.when(k.setp.ge.u32(line, target.lines)):
        k.mov.s32(0, out=left)
    inside = [k.setp.gt.s32(left, place) for place in range(VECTOR)]
    if types.by_way_of_floats:
        sums = rounding.floats(k, types.sum, sums)
    if target.scale is not None:
        first = k.add.s64(target.scale.old, k.mul.wide.u32(along, size))
        old = k.mad.lo.s64(k.cvt.s64.u32(line), target.scale.row, first)
        _scale(k, shape, target.scale, sums, old, inside)
    integers = types.sum == "s32" and not types.by_way_of_floats
    held = rounding.stored(k, shape.out, sums, integers=integers)
    if shape.width == VECTOR:
        words = held
        if size == 1:
            pair = k.prmt.b32(*held, 0x5410) if shape.out == "s8" else k.mov.b32(tuple(held))
            words = [pair]
        vector = f".v{len(words)}" if len(words) > 1 else ""
        with k.when(inside[0]):
            k.op(f"st.global{vector}.b32", at, tuple(words) if vector else words[0])
        return
    elements = [part for one in held for part in rounding.parts(k, shape.out, one)]
    for place, value in enumerate(elements):
        with k.when(inside[place]):
            k.op(f"st.global.b{8 * size}", Addr(at, place * size), value)


def _scale(
    k: Kernel, shape: Narrow, scale: Scale, sums: Sequence[Reg], at: Reg, inside: Sequence[Reg]
) -> None:
    """alpha times the sums, plus beta times what is at `at`; where beta is 0, that is not read."""
    integers = shape.out == "s32"
    for value in sums:
        k.op("mul.lo.s32" if integers else "mul.rn.f32", value, scale.alpha, out=value)
    wanted = k.setp.ne.s32(scale.beta, 0) if integers else k.setp.neu.f32(scale.beta, 0.0)
    with k.branch(wanted):
        for place, value in enumerate(sums):
            old = rounding.load(k, shape.out, Addr(at, place * shape.out_bytes), inside[place])
            k.op("mad.lo.s32" if integers else "fma.rn.f32", scale.beta, old, value, out=value)
