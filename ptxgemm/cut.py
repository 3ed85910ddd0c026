"""K of the last tiles cut in parts, where whole tiles would leave most of a GPU idle at the end.

Tiles are dealt to the SMs in waves, the last of which is seldom full. Its tiles have K cut in parts
of whole K steps, an item of work each. The part of a tile writes its sums to a workspace, each
thread of the warpgroup in its own place, and counts itself on the tile's counter; the one that
counts last adds all parts up in the order of K, whichever it is itself, and writes C. The counter
is back at 0 then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Addr, Label, Reg
from ptxgemm.index import wide
from ptxgemm.schedule import Item, Schedule
from ptxgemm.shape import VECTOR, WORD
from ptxgemm.store import UNIT, Target, Writer
from ptxgemm.tiling import ROWS, WARPGROUP, Tiling

ADD = {"f32": "add.rn.f32", "f16": "add.rn.f16x2", "s32": "add.s32"}
"""By the type of the sums."""


@dataclass(frozen=True)
class Cut:
    """Of a launch: which tiles have K cut, and how."""

    whole: int
    """Tiles before them; those of a cluster count as one, here and below."""
    tiles: int
    parts: int
    per_part: int
    """K steps; the last part may have less."""

    @property
    def items(self) -> int:
        return self.whole + self.tiles * self.parts

    def workspace_bytes(self, tiling: Tiling) -> int:
        return self.counters(tiling) * self.parts * _part_bytes(tiling)

    def counters(self, tiling: Tiling) -> int:
        return self.tiles * tiling.cluster_size * _warpgroups(tiling)


def cut(tiling: Tiling, m: int, n: int, k: int, sm_count: int) -> Cut | None:
    """The last tiles of a product in ``tiling.parts`` or, where K is short, less; None where the
    last wave is full or K has a single step.
    """
    if not tiling.split:
        return None
    tiles = tiling.tiles(m, n)
    rest = tiles % tiling.clusters(sm_count)
    steps = -(-k // tiling.tile_k)
    per_part = -(-steps // tiling.parts)
    parts = -(-steps // per_part)
    return Cut(tiles - rest, rest, parts, per_part) if rest and parts > 1 else None


def _warpgroups(tiling: Tiling) -> int:
    """Those that share a tile."""
    return 1 if tiling.alternate else 2


def _part_bytes(tiling: Tiling) -> int:
    """Of one warpgroup."""
    return tiling.sums * WARPGROUP * WORD


# ---------------------------------------------------------------- the kernel's side


@dataclass(frozen=True)
class Place:
    """Where parts meet."""

    workspace: Reg
    """:meth:`Cut.workspace_bytes`, from a multiple of 16 on."""
    counters: Reg
    """A zero for each of :meth:`Cut.counters`."""


def meet(
    k: Kernel, place: Place, order: Schedule, item: Item, target: Target, writer: Writer,
    sums: Sequence[Reg], row: Reg, done: Label,
) -> None:  # fmt: skip
    """Of an item that is a part: leave in `sums` the sum of all parts of the tile, in the
    warpgroup that is the last to come; the others go to `done`. Items that are whole go on.

    One thread counts, between two barriers of the warpgroup: by these its release covers what all
    threads have written, and its acquire what they read.
    """
    tiling = target.tiling
    part = item.part
    assert part is not None and order.cut is not None
    with k.branch(part.exists):
        slot = part.tile
        if order.rank is not None:
            slot = k.mad.lo.u32(slot, tiling.cluster_size, order.rank)
        if not tiling.alternate:
            slot = k.mad.lo.u32(slot, 2, writer.barrier - 1)
        parts = order.cut.parts
        first = place.workspace + wide(k, slot) * wide(k, parts) * _part_bytes(tiling)
        first = first + wide(k, writer.thread * UNIT)
        own = first + wide(k, part.number) * _part_bytes(tiling)
        for values, offset in _in_units(k, target, sums, row):
            k.op(f"st.global.v4.{_word(tiling)}", Addr(own, offset), values)
        k.bar.sync(writer.barrier, WARPGROUP)
        last = k.setp.ne.u32(parts, parts)
        with k.branch(writer.lead):
            counter = place.counters + wide(k, slot) * WORD
            before = k.atom.acq_rel.gpu.global_.inc.u32(counter, parts - 1)
            k.setp.eq.u32(before, parts - 1, out=last)
        last = k.bar.red.or_.pred(writer.barrier, WARPGROUP, last)
        with k.when(~last):
            k.bra(done)
        load = f"ld.relaxed.gpu.global.v4.{_word(tiling)}"
        for values, offset in _in_units(k, target, sums, row):
            k.op(load, Addr(first, offset), out=values)
        with k.loop(1, parts, name="meet"):
            k.add.s64(first, _part_bytes(tiling), out=first)
            for values, offset in _in_units(k, target, sums, row):
                further = k.reg(values[0].type, VECTOR)
                k.op(load, Addr(first, offset), out=further)
                for value, one in zip(values, further, strict=True):
                    k.op(ADD[tiling.sum], value, one, out=value)


def _word(tiling: Tiling) -> str:
    return "f32" if tiling.sum == "f32" else "b32"


def _in_units(
    k: Kernel, target: Target, sums: Sequence[Reg], row: Reg
) -> Iterator[tuple[tuple[Reg, ...], int]]:
    """Four sums at a time, and where a warpgroup's units of them lie; not of blocks of 64 rows
    beyond C, whose sums may be anything.
    """
    tiling = target.tiling
    each = len(sums) * ROWS // tiling.rows
    for block in range(tiling.rows // ROWS):
        with _where_rows_are(k, target, row + ROWS * block if block else row):
            for at in range(block * each, (block + 1) * each, VECTOR):
                yield tuple(sums[at : at + VECTOR]), at // VECTOR * WARPGROUP * UNIT


@contextmanager
def _where_rows_are(k: Kernel, target: Target, first: Reg) -> Iterator[None]:
    if target.tiling.alternate:
        with k.branch(k.setp.lt.u32(first, target.m)):
            yield
    else:
        yield
