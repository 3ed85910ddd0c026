"""Which kernel computes a product, and with what arguments: one table by type of the elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ptx
from ptx.dtypes import PTX
from ptxgemm import hopper_calls, warp_gemm
from ptxgemm.blocking import NEEDS, Blocking
from ptxgemm.elements import RULES
from ptxgemm.fed_calls import Fed
from ptxgemm.grid import H200, Processor
from ptxgemm.hopper_calls import FEW_MATRICES, Placed
from ptxgemm.kernels import fit, general, mma, simt
from ptxgemm.loading import loaded
from ptxgemm.problem import Matrices, Problem
from ptxgemm.tail import AUTO, Tail

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel

MOST_CTAS = 2**31 - 1
"""Along x, in one launch."""
Kernel = general.General | simt.Spec | Blocking
BUILDERS: dict[type, Callable[[Any], ptx.Kernel]] = {
    general.General: general.general, simt.Spec: simt.build, Blocking: mma.gemm
}  # fmt: skip
"""What makes a kernel of each description."""


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
    tf32: bool = False
    """Whether float32 may be cut to tf32."""

    def element(self, dtype: str) -> str:
        """PTX's word for the type that tensor cores read A and B as."""
        return "tf32" if dtype == "float32" else PTX[dtype]


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


def select(problem: Problem, terms: Terms) -> Choice | Placed:
    """The kernel for a product with one batch axis. Raises ValueError for one beyond a grid."""
    tensor_cores = TF32 if terms.tf32 and problem.dtype == "float32" else ()
    for candidate in tensor_cores + CANDIDATES[problem.dtype]:
        choice = candidate(problem, terms)
        if choice is not None:
            return choice
    least = LEAST.get(problem.dtype, 0)
    if terms.target.target < least:
        raise ValueError(
            f"products of {problem.dtype} need compute capability {least / 10}; the GPU has "
            f"{terms.target.target / 10}"
        )
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


Operands = tuple[warp_gemm.Matrix, warp_gemm.Matrix, warp_gemm.Matrix, warp_gemm.Matrix | None]


def _fed(problem: Problem, terms: Terms) -> Fed | None:
    """``mma.sync`` behind tensor copies, on Hopper, for what has work for all its SMs; a tail is no
    matter of theirs, as these fill in what lies outside."""
    p, own = _by_rows(problem), terms.target
    if own.target != warp_gemm.FED_TARGET or terms.tail != AUTO or p.batch[0] > FEW_MATRICES:
        return None
    d, a, b, c = _operands(p, terms)
    if not (p.m and p.n and p.k and p.batch[0]) or warp_gemm.obstacle(d, a, b):
        return None
    tiles = warp_gemm.fed_for(own.sms, d, a, b)
    if tiles is None:
        return None
    made, _ = warp_gemm.fitted(d, a, b, c, blocking=tiles)
    return Fed(problem, terms.alpha, terms.beta if p.c else 0.0, made)


def _warps(problem: Problem, terms: Terms) -> Choice | None:
    """``mma.sync``, for all whose result lies by rows or by columns and whose operands are not
    flipped.
    """
    p = _by_rows(problem)
    batches = p.batch[0]
    if batches > fit.MOST_BATCHES:
        return None
    d, a, b, c = _operands(p, terms)
    target = max((t for t in warp_gemm.TARGETS if t <= terms.target.target), default=0)
    if target < NEEDS.get(a.element, 75) or warp_gemm.obstacle(d, a, b):
        return None
    made, arguments = warp_gemm.fitted(
        d, a, b, c, batched=batches > 1, tail=terms.tail, target=target
    )
    tiles = made.tiles(p.m, p.n)
    if tiles > MOST_CTAS:
        return None
    first, second = ("a", "b") if p is problem else ("b", "a")
    pointers = {"a": first, "b": second, "d": "d"}
    if c is not None:
        pointers["c"] = "c" if p.c else "d"
        beta = terms.beta if p.c else 0.0
        arguments |= warp_gemm.factors(made, terms.alpha, beta)
    return Choice(
        made, (tiles, batches), made.threads, arguments, pointers, -(-p.k // made.tile_k),
        made.dynamic_bytes,
    )  # fmt: skip


def _by_rows(problem: Problem) -> Problem:
    """The product, or the transposed one, if that is the one whose result may lie by rows."""
    return problem if problem.n == 1 or problem.d.column == 1 else _turned(problem)


def _operands(p: Problem, terms: Terms) -> Operands:
    """D, A, B and, of scaled products, what is added, at an address as aligned as all are."""
    at = terms.low & -terms.low or 16

    def matrix(x: Matrices, rows: int, columns: int, element: str) -> warp_gemm.Matrix:
        batch = x.batch[0] if p.batch[0] > 1 else 0
        return warp_gemm.Matrix(at, rows, columns, x.row, x.column, element, batch)

    read, written = terms.element(p.dtype), PTX[p.out]
    d = matrix(p.d, p.m, p.n, written)
    c = matrix(p.c, p.m, p.n, written) if p.c else d
    scaled = p.c is not None or terms.alpha != 1.0
    return d, matrix(p.a, p.m, p.k, read), matrix(p.b, p.k, p.n, read), c if scaled else None


def _turned(problem: Problem) -> Problem:
    """The transposed product."""
    p = problem
    return replace(
        p, m=p.n, n=p.m, a=p.b.turned, b=p.a.turned, d=p.d.turned, c=p.c.turned if p.c else None
    )


def _general(problem: Problem, terms: Terms) -> Choice | None:
    grid = general.tiles(problem.m, problem.n, problem.batch[0])
    if grid > MOST_CTAS or terms.target.target < LEAST.get(problem.dtype, 0):
        return None
    if terms.tail != AUTO:
        raise ValueError(
            "tail is a policy of the kernels by tiles, and none takes this product: its strides, "
            f"sizes or batch, or {problem.dtype} on compute capability {terms.target.target / 10}"
        )
    rule = RULES[problem.dtype]
    form = general.General(
        a_along_k=_runs_along_columns(problem.a),
        b_along_k=not _runs_along_columns(problem.b),
        reads_c=problem.c is not None,
        element=PTX[problem.dtype],
        sum=rule.sum,
        out=PTX[problem.out],
    )
    number: type[int] | type[float] = int if rule.integer else float
    strides = {
        f"{name}_{axis}": step
        for name in form.pointers
        for axis, step in zip(
            ("row", "column", "batch"), _steps(getattr(problem, name)), strict=True
        )
    }
    sizes = {"m": problem.m, "n": problem.n, "k": problem.k, "alpha": number(terms.alpha)}
    beta = {"beta": number(terms.beta)} if form.reads_c else {}
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


_hopper = hopper_calls.choose
CANDIDATES: dict[str, tuple[Callable[[Problem, Terms], Choice | Placed | None], ...]] = {
    "float32": (_tiled, _general),
    "float64": (_fed, _warps, _general),
    "float16": (_hopper, _warps, _general),
    "bfloat16": (_hopper, _warps, _general),
    "int8": (_hopper, _warps, _general),
    "uint8": (_hopper, _warps, _general),
    "float8_e4m3fn": (_hopper, _warps, _general),
    "float8_e5m2": (_hopper, _warps, _general),
}
"""By type of A and B, the kernels in the order in which they are asked; None says: not mine, also
of a tail that a kernel has no such policy for."""
TF32 = (_hopper, _warps)
"""Those that are asked first where float32 may be cut to tf32."""
LEAST = {"bfloat16": 80, "float8_e4m3fn": 89, "float8_e5m2": 89}
"""The compute capability that a type needs at all."""


def load(device: Device, kernel: Kernel) -> LoadedKernel:
    return loaded(device, BUILDERS[type(kernel)], kernel)


@lru_cache(maxsize=16)
def processor(device: Device) -> Processor:
    """What the choice of tiles looks at; the emulator counts as an H200."""
    if not device.is_cuda:
        return H200
    major, minor = device.compute_capability
    return Processor(device.sm_count, 10 * major + minor, device.limits.shared_per_block_optin)
