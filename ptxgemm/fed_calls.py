"""Products of ``matmul``, ``gemm`` and ``plan`` by :mod:`ptxgemm.kernels.fed`, bound to addresses
by :class:`ptxgemm.hopper_calls.Bound`, as tensor maps hold these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptxgemm import warp_gemm
from ptxgemm.blocking import Blocking
from ptxgemm.hopper_calls import Addresses
from ptxgemm.kernels import fed
from ptxgemm.loading import loaded
from ptxgemm.prepass import Rooms
from ptxgemm.problem import Matrices, Problem
from ptxgemm.warp_gemm import Matrix

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel


@dataclass(frozen=True)
class Fed:
    """A choice of :func:`ptxgemm.select.select`."""

    problem: Problem
    """One batch axis; each of its matrices has a launch."""
    alpha: float
    beta: float
    tiles: Blocking
    """Of the kernel for addresses as aligned as all are."""

    @property
    def block(self) -> int:
        return self.tiles.threads

    @property
    def ctas(self) -> int:
        p = self.problem
        return p.batch[0] * self.tiles.tiles(p.m, p.n)

    @property
    def steps(self) -> int:
        return -(-self.problem.k // self.tiles.tile_k)

    def kernel(self, device: Device) -> LoadedKernel:
        return loaded(device, fed.gemm, self.tiles)

    def plan(
        self, device: Device, addresses: Addresses, rooms: Rooms, stream: Any
    ) -> warp_gemm.Plan:
        a, b, c, d = addresses
        p = self.problem
        read, written = self.tiles.a, self.tiles.out

        def matrix(at: int, x: Matrices, rows: int, columns: int, element: str) -> Matrix:
            return Matrix(at, rows, columns, x.row, x.column, element)

        return warp_gemm.plan(
            device, matrix(d, p.d, p.m, p.n, written), matrix(a, p.a, p.m, p.k, read),
            matrix(b, p.b, p.k, p.n, read), self.alpha, self.beta, blocking=self.tiles,
            stream=stream, addend=matrix(c, p.c, p.m, p.n, written) if p.c else None,
        )  # fmt: skip
