"""K cut into parts, for products of few tiles: partial sums meet in a workspace, in fixed order.

Every part writes its sums, each thread in its own place, and counts itself on the tile's counter.
The CTA that counts last adds all parts up, in the order of K, and writes the result. So the result
does not depend on which is last. The counter is back at 0 then.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Addr, Label, Reg, Symbol
from ptxgemm.index import wide
from ptxgemm.shape import VECTOR, WORD, Shape
from ptxgemm.warp import Sums


@dataclass(frozen=True)
class Part:
    """Which part of which split tile a CTA has."""

    tile: Reg
    number: Reg
    parts: Reg


def meet(
    k: Kernel, shape: Shape, sums: Sums, part: Part, workspace: Reg, counters: Reg, thread: Reg,
    ticket: Symbol, done: Label,
) -> None:  # fmt: skip
    """Leave in `sums` the sum of all parts, in the last CTA; the others go to `done`.

    `workspace` has :func:`workspace_bytes`, `counters` a zero for each split tile; `ticket` is a
    shared word.
    """
    slice_bytes = shape.threads * VECTOR * WORD
    part_bytes = shape.cta_m * shape.cta_n * WORD
    index = wide(k, part.tile) * wide(k, part.parts)
    first = workspace + index * part_bytes
    lane = wide(k, thread) << 4
    own = first + (wide(k, part.number) * part_bytes + lane)
    flat = [value for row in sums for value in row]
    for piece in range(len(flat) // VECTOR):
        values = [k.mov.f32(v) for v in flat[piece * VECTOR : (piece + 1) * VECTOR]]
        k.st.global_.v4.f32(Addr(own, piece * slice_bytes), tuple(values))
    k.fence.acq_rel.gpu()
    k.bar.sync(0)
    with k.branch(k.setp.eq.u32(thread, 0)):
        counter = counters + (wide(k, part.tile) << 2)
        before = k.atom.acq_rel.gpu.global_.inc.u32(counter, part.parts - 1)
        k.st.shared.u32(ticket, before)
    k.bar.sync(0)
    arrived = k.ld.shared.u32(ticket)
    with k.when(k.setp.ne.u32(arrived, part.parts - 1)):
        k.bra(done)
    k.fence.acq_rel.gpu()
    for value in flat:
        k.mov.f32(0.0, out=value)
    other = first + lane
    with k.loop(part.parts, 0, -1, name="parts", type="s32"):
        for piece in range(len(flat) // VECTOR):
            found = k.ld.relaxed.gpu.global_.v4.f32(Addr(other, piece * slice_bytes))
            for q, value in enumerate(found):
                at = flat[piece * VECTOR + q]
                k.add.rn.f32(at, value, out=at)
        k.add.s64(other, part_bytes, out=other)


def workspace_bytes(shape: Shape, tiles: int, parts: int) -> int:
    return tiles * parts * shape.cta_m * shape.cta_n * WORD
