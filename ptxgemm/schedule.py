"""The order of tiles in a persistent kernel: each cluster takes every so many-th of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm.tiling import Tiling


@dataclass(frozen=True)
class Schedule:
    """Tiles are numbered down the rows of a group of ``tiling.group`` rows, then along N, then
    group by group: what runs at one time is nearly square, and shares rows and columns in L2.
    """

    tiling: Tiling
    rows: Reg
    """Tiles (of clusters) along M."""
    total: Reg
    span: Reg
    """Tiles in a full group."""
    first: Reg
    """This cluster's first tile."""
    step: Reg
    """Clusters in the grid."""
    rank: Reg | None
    """Of this CTA in its cluster, where there are clusters."""


def schedule(k: Kernel, tiling: Tiling, m: Reg, n: Reg) -> Schedule:
    """For a product of `m` rows and `n` columns, in a one-dimensional grid."""
    shift = tiling.cluster.bit_length() - 1
    ctaid, ctas = k.mov.u32(k.ctaid.x), k.mov.u32(k.nctaid.x)
    height = tiling.tile_m * tiling.cluster
    rows = k.div.u32(m + (height - 1), height)
    columns = k.div.u32(n + (tiling.tile_n - 1), tiling.tile_n)
    return Schedule(
        tiling,
        rows,
        rows * columns,
        columns * tiling.group,
        ctaid >> shift if shift else ctaid,
        ctas >> shift if shift else ctas,
        k.mov.u32(k.cluster_ctarank) if shift else None,
    )


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
    if order.rank is not None:
        row = k.mad.lo.u32(order.rank, tiling.tile_m, row)
    return row, column * tiling.tile_n
