"""Tiles of A and B from global into shared memory by tensor copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Reg
from ptx.layouts import MatrixDescriptor
from ptxgemm.tiling import ATOM_BYTES, LINE_BYTES, ROWS, Major

ADDRESS_BITS = 0x3FFFF
"""What a matrix descriptor holds of an address. In a cluster the bits above are the CTA's rank
(shared::cta addresses of rank r carry r << 24), and would run into the descriptor's next field."""


@dataclass(frozen=True)
class Operand:
    """How an operand's tile lies in shared memory: `extent` rows of A or columns of B.

    Along K: one line of 128 bytes for each, the swizzle repeating every eight. Along M or N: boxes
    of a line by the K step, `line` rows apart.
    """

    major: Major
    extent: int
    tile_k: int
    line: int = ROWS
    """Elements of a line: of 16 bits, if nothing else is said."""

    @property
    def box(self) -> tuple[int, int]:
        """Elements of one copy, innermost first."""
        if self.major == "k":
            return self.tile_k, self.extent
        return self.line, self.tile_k

    @property
    def copies(self) -> int:
        return 1 if self.major == "k" else self.extent // self.line

    @property
    def descriptor(self) -> int:
        """The constant bits of a wgmma descriptor of it."""
        leading = 16 if self.major == "k" else ROWS * LINE_BYTES
        return MatrixDescriptor(0, leading, ATOM_BYTES, LINE_BYTES).bits

    @property
    def step(self) -> int:
        """What a descriptor grows by to the next wgmma along K, in its units of 16 bytes."""
        return 32 // 16 if self.major == "k" else 16 * LINE_BYTES // 16


def copy(
    k: Kernel, operand: Operand, map: Reg, to: Reg, at: Reg, depth: Reg, full: Reg, mask: Any = None
) -> None:
    """One thread copies the tile at `at` along M or N and `depth` along K to the shared address
    `to`, announcing it to the mbarrier `full`; with `mask`, to the same place in each CTA of a
    cluster whose bit is set.
    """
    op = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    multicast = () if mask is None else (mask,)
    if multicast:
        op += ".multicast::cluster"
    for number in range(operand.copies):
        target = k.add.u32(to, number * operand.line * LINE_BYTES) if number else to
        along = k.add.u32(at, number * operand.line) if number else at
        place = (depth, along) if operand.major == "k" else (along, depth)
        k.op(op, target, (map, place), full, *multicast)
