"""The order of tiles in a persistent kernel: each cluster takes every so many-th of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from ptx.builder import Kernel
from ptx.ir import Reg


class Tiled(Protocol):
    """What the order of tiles depends on."""

    @property
    def tile_m(self) -> int: ...
    @property
    def tile_n(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def cluster(self) -> int: ...
    @property
    def cluster_n(self) -> int: ...


@dataclass(frozen=True)
class Cut:
    """Tiles that have K cut in parts; see :mod:`ptxgemm.cut`."""

    whole: Reg
    """Tiles before them."""
    tiles: Reg
    parts: Reg
    per_part: Reg
    """K steps."""


@dataclass(frozen=True)
class Schedule:
    """Tiles are numbered down the rows of a group of ``tiling.group`` rows, then along N, then
    group by group: what runs at one time is nearly square, and shares rows and columns in L2.
    """

    tiling: Tiled
    rows: Reg
    """Tiles (of clusters) along M."""
    total: Reg
    """Items of work: tiles, or parts of those that are cut."""
    span: Reg
    """Tiles in a full group."""
    first: Reg
    """This cluster's first tile."""
    step: Reg
    """Clusters in the grid."""
    rank: Reg | None
    """Of this CTA in its cluster, where there are clusters: they count down, then along N."""
    below: Reg | None
    """Its number among those below each other, where there are some."""
    beside: Reg | None
    """Its number among those beside each other, where there are some."""
    cut: Cut | None = None


@dataclass(frozen=True)
class Part:
    """Of an item that may be a part of a tile."""

    exists: Reg
    """Whether it is one."""
    tile: Reg
    """From the first one that is cut."""
    number: Reg
    """Of the part, in the order of K."""


@dataclass(frozen=True)
class Item:
    """A tile or a part of one."""

    tile: Reg
    steps: Reg
    """K steps."""
    start: Reg | None = None
    """The first of them, if it is not the tile's."""
    part: Part | None = None


def schedule(k: Kernel, tiling: Tiled, m: Reg, n: Reg) -> Schedule:
    """For a product of `m` rows and `n` columns, in a one-dimensional grid."""
    shift = (tiling.cluster * tiling.cluster_n).bit_length() - 1
    ctaid, ctas = k.mov.u32(k.ctaid.x), k.mov.u32(k.nctaid.x)
    height, width = tiling.tile_m * tiling.cluster, tiling.tile_n * tiling.cluster_n
    rows = k.div.u32(m + (height - 1), height)
    columns = k.div.u32(n + (width - 1), width)
    return Schedule(
        tiling,
        rows,
        rows * columns,
        columns * tiling.group,
        ctaid >> shift if shift else ctaid,
        ctas >> shift if shift else ctas,
        *_places(k, tiling),
    )


def _places(k: Kernel, tiling: Tiled) -> tuple[Reg | None, Reg | None, Reg | None]:
    """This CTA's rank, and its numbers among those below and beside each other."""
    if tiling.cluster == tiling.cluster_n == 1:
        return None, None, None
    rank: Reg = k.mov.u32(k.cluster_ctarank)
    if tiling.cluster_n == 1:
        return rank, rank, None
    if tiling.cluster == 1:
        return rank, None, rank
    return rank, rank & (tiling.cluster - 1), rank >> (tiling.cluster.bit_length() - 1)


def peers(k: Kernel, order: Schedule) -> tuple[Reg | int, ...]:
    """Ranks of the CTAs of a cluster that load A or B together with this one, itself among them."""
    below, beside = order.tiling.cluster, order.tiling.cluster_n
    if order.rank is None or 1 in (below, beside):
        return tuple(range(below * beside))
    others = (*range(1, below), *range(below, below * beside, below))
    return order.rank, *(k.xor.b32(order.rank, other) for other in others)


def with_cut(k: Kernel, order: Schedule, whole: Reg, parts: Reg, per_part: Reg) -> Schedule:
    """All tiles from `whole` on, at least one, cut in `parts`: after the whole ones come the first
    parts of all, then the second ones, so that those that run at one time share rows and columns.
    """
    tiles = order.total - whole
    total = k.mad.lo.u32(tiles, parts, whole)
    return replace(order, total=total, cut=Cut(whole, tiles, parts, per_part))


def item(k: Kernel, order: Schedule, index: Reg, steps: Reg) -> Item:
    """What the index of a loop over items means; a tile has so many K steps."""
    cut = order.cut
    if cut is None:
        return Item(index, steps)
    behind = index - cut.whole
    exists = k.setp.ge.u32(index, cut.whole)
    number = k.div.u32(behind, cut.tiles)
    tile = behind - number * cut.tiles
    start = k.selp.b32(number * cut.per_part, 0, exists)
    most = k.selp.b32(cut.per_part, steps, exists)
    return Item(
        k.selp.b32(cut.whole + tile, index, exists),
        k.min.u32(most, steps - start),
        start,
        Part(exists, tile, number),
    )


def steps_of_next(k: Kernel, order: Schedule, index: Reg, steps: Reg) -> Reg:
    """K steps of the CTA's item after that one, if there is one."""
    return steps if order.cut is None else item(k, order, index + order.step, steps).steps


@contextmanager
def tiles(k: Kernel, order: Schedule, first: Reg, step: Reg, name: str) -> Iterator[Reg]:
    """A loop over the tiles `first`, `first` + `step`, ...; it may run zero times."""
    index = k.mov.u32(first)
    with k.branch(k.setp.lt.u32(index, order.total)):
        again = k.label(name)
        yield index
        k.add.u32(index, step, out=index)
        more = k.setp.lt.u32(index, order.total)
        with k.when(more):
            k.bra(again)


def corner(k: Kernel, order: Schedule, index: Reg) -> tuple[Reg, Reg]:
    """The first row and the first column of this CTA's part of a tile."""
    tiling = order.tiling
    group = k.div.u32(index, order.span)
    inside = index - group * order.span
    above = group * tiling.group
    height = k.min.u32(order.rows - above, tiling.group)
    column = k.div.u32(inside, height)
    row = (above + (inside - column * height)) * (tiling.tile_m * tiling.cluster)
    if order.below is not None:
        row = k.mad.lo.u32(order.below, tiling.tile_m, row)
    column = column * (tiling.tile_n * tiling.cluster_n)
    if order.beside is not None:
        column = k.mad.lo.u32(order.beside, tiling.tile_n, column)
    return row, column
