"""Which kernel computes a product, and with what arguments: one table by type of the elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ptx
from ptxgemm.kernels import general, simt
from ptxgemm.problem import Matrices, Problem
from ptxgemm.shape import SEED
from ptxgemm.tail import Prefetch

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel

MOST_CTAS = 2**31 - 1
"""Along x, in one launch."""
Kernel = general.General | Prefetch


@dataclass(frozen=True)
class Terms:
    """What a choice depends on beside the product: numbers, addresses, and what was asked for."""

    alpha: float
    beta: float
    low: int = 0
    """The lowest four bits of all addresses together: 0 where all are multiples of 16."""
    in_place: bool = False
    """Whether C is D itself."""
    tail: Any = "auto"


@dataclass(frozen=True)
class Choice:
    """A kernel and its launch, but for the addresses."""

    kernel: Kernel
    grid: int
    block: int
    arguments: dict[str, Any]
    pointers: dict[str, str]
    """Which parameter takes the address of which matrix, ``{"c": "d"}``."""
    steps: int
    """What a CTA does one after another, for an estimate of the emulator's time."""


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
    """The SGEMM of whole tiles, on rows without gaps."""
    m, n, k = problem.m, problem.n, problem.k
    whole = m % SEED.cta_m == n % SEED.cta_n == k % SEED.cta_k == 0 and k > 0
    rows = ((problem.a, k), (problem.b, n), (problem.d, n))
    dense = all(x.column == 1 and x.row == pitch for x, pitch in rows)
    if not whole or not dense or problem.batch != (1,) or terms.low:
        return None
    if problem.c is not None and not terms.in_place:
        return None
    return Choice(
        "peeled",
        (m // SEED.cta_m) * (n // SEED.cta_n),
        SEED.threads,
        {"n": n, "k": k, "alpha": terms.alpha, "beta": terms.beta},
        {"a": "a", "b": "b", "c": "d"},
        k // SEED.cta_k,
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
        grid,
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
def load(device: Device, kernel: Kernel, reads_c: bool) -> LoadedKernel:
    """The kernel on a device, built once."""
    if isinstance(kernel, general.General):
        built = general.general(kernel)
    else:
        built = simt.sgemm(SEED, kernel, beta_zero=not reads_c)
    return device.load(ptx.Module(built))[built.name]
