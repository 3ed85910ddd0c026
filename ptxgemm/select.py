"""Which kernel computes a product, and with what arguments: one table by type of the elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ptx
from ptxgemm.grid import H200, Processor
from ptxgemm.kernels import fit, general, simt
from ptxgemm.problem import Matrices, Problem
from ptxgemm.tail import AUTO, Tail

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel

MOST_CTAS = 2**31 - 1
"""Along x, in one launch."""
Kernel = general.General | simt.Spec


@dataclass(frozen=True)
class Terms:
    """What a choice depends on beside the product: numbers, addresses, and what was asked for."""

    alpha: float
    beta: float
    low: int = 0
    """The lowest four bits of all addresses together: 0 where all are multiples of 16."""
    in_place: bool = False
    """Whether C is D itself."""
    tail: Tail = AUTO
    target: Processor = H200


@dataclass(frozen=True)
class Choice:
    """A kernel and its launch, but for the addresses."""

    kernel: Kernel
    grid: tuple[int, int]
    block: int
    arguments: dict[str, Any]
    pointers: dict[str, str]
    """Which parameter takes the address of which matrix, ``{"c": "d"}``."""
    steps: int
    """What a CTA does one after another, for an estimate of the emulator's time."""
    shared: int = 0
    """Bytes of dynamic shared memory."""
    workspace_bytes: int = 0
    counters: int = 0
    """Words that are 0 before and after the launch."""

    @property
    def ctas(self) -> int:
        return self.grid[0] * self.grid[1]


def select(problem: Problem, terms: Terms) -> Choice:
    """The kernel for a product with one batch axis. Raises ValueError for one beyond a grid."""
    for candidate in CANDIDATES[problem.dtype]:
        choice = candidate(problem, terms)
        if choice is not None:
            return choice
    raise ValueError(
        f"a product of {problem.m}x{problem.n}, {problem.batch[0]} times, takes more CTAs than a "
        f"launch has ({MOST_CTAS})"
    )


def _tiled(problem: Problem, terms: Terms) -> Choice | None:
    """The SGEMM by tiles, for all that one launch takes."""
    batches = problem.batch[0]
    tall = max(problem.m, problem.n) > fit.MOST_TILES // 32
    if batches > fit.MOST_BATCHES or tall or not problem.m or not problem.n:
        return None
    align = terms.low & -terms.low or 16

    def matrix(x: Matrices) -> fit.Matrix:
        return fit.Matrix(x.row, x.column, align, x.batch[0])

    made = fit.plan(
        problem.m, problem.n, problem.k, matrix(problem.a), matrix(problem.b), matrix(problem.d),
        matrix(problem.c) if problem.c is not None else None,
        batches=batches, tail=terms.tail, target=terms.target,
    )  # fmt: skip
    return Choice(
        made.spec,
        made.grid,
        made.block,
        made.arguments | {"alpha": terms.alpha, "beta": terms.beta},
        made.pointers,
        made.tiles.per_part,
        made.shared,
        made.workspace_bytes,
        made.tiles.split_tiles,
    )


def _general(problem: Problem, terms: Terms) -> Choice | None:
    grid = general.tiles(problem.m, problem.n, problem.batch[0])
    if grid > MOST_CTAS:
        return None
    form = general.General(
        a_along_k=_runs_along_columns(problem.a),
        b_along_k=not _runs_along_columns(problem.b),
        reads_c=problem.c is not None,
    )
    strides = {
        f"{name}_{axis}": step
        for name in form.pointers
        for axis, step in zip(
            ("row", "column", "batch"), _steps(getattr(problem, name)), strict=True
        )
    }
    sizes = {"m": problem.m, "n": problem.n, "k": problem.k, "alpha": terms.alpha}
    beta = {"beta": terms.beta} if form.reads_c else {}
    return Choice(
        form,
        (grid, 1),
        general.THREADS,
        sizes | beta | strides,
        {name: name for name in form.pointers},
        -(-problem.k // general.DEPTH),
    )


def _runs_along_columns(x: Matrices) -> bool:
    return x.row == 0 or 0 < abs(x.column) <= abs(x.row)


def _steps(x: Matrices) -> tuple[int, int, int]:
    return x.row, x.column, x.batch[0]


CANDIDATES: dict[str, tuple[Callable[[Problem, Terms], Choice | None], ...]] = {
    "float32": (_tiled, _general),
}
"""By type of the elements, the kernels in the order in which they are asked."""


@lru_cache(maxsize=256)
def load(device: Device, kernel: Kernel) -> LoadedKernel:
    """The kernel on a device, built once."""
    built = general.general(kernel) if isinstance(kernel, general.General) else simt.build(kernel)
    return device.load(ptx.Module(built))[built.name]


@lru_cache(maxsize=16)
def processor(device: Device) -> Processor:
    """What the choice of tiles looks at; the emulator counts as an H200."""
    if not device.is_cuda:
        return H200
    has_async = device.compute_capability >= (8, 0)
    return Processor(device.sm_count, has_async, device.limits.shared_per_block_optin)
