"""One configuration of every shipped family of kernels, with a problem that takes all its paths.

Matrices end where their allocations end, and what a result must be is known to the bit: elements
are small integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

import ptx
import ptxgemm
from ptxgemm import hopper, select, warp_gemm
from ptxgemm.blocking import Blocking
from ptxgemm.kernels import fed, fit
from ptxgemm.kernels.general import THREADS, General, tiles
from ptxgemm.loading import loaded
from ptxgemm.narrow import Narrow
from ptxgemm.shape import Shape, Staging
from ptxgemm.tail import Tail
from ptxgemm.tiling import Tiling, by_registers
from tests.gemm.test_pad import padded

f4 = np.float32
NARROW = Narrow(128, 16, 2, parts=2, peers=2)
SMALL = Shape(32, 32, 8, 32, 32, 4, 8)


def _pair(m: int, n: int, k: int, dtype: Any = f4) -> tuple[Any, Any]:
    random = np.random.default_rng(m + n + k)
    a, b = (random.integers(-3, 4, size).astype(dtype) for size in ((m, k), (k, n)))
    return a, b


def _all(*problems: Callable[[], Any]) -> Callable[[], Any]:
    """Several problems of one kernel: their results in a row."""
    return lambda: np.concatenate([problem().ravel() for problem in problems])


def _whole() -> Any:
    """Whole tiles, staged through registers."""
    return ptxgemm.sgemm(*_pair(128, 128, 40), device="emulator")


def _fitted(
    m: int, n: int, k: int, tail: Tail, staging: Staging = "registers", stages: int = 2,
    parts: int | None = None, beta: bool = False, thread: tuple[int, int] = (4, 8),
) -> Any:  # fmt: skip
    """Small tiles with a policy of edges, or K in parts."""
    device = ptx.device("emulator")
    a, b = _pair(m, n, k)
    c = np.arange(m * n, dtype=f4).reshape(m, n) % 7
    pitch = max(3, k | 1) if k % 8 else k
    apart = np.zeros((m, pitch), f4)
    apart[:, :k] = a
    rows = apart.ravel()[: (m - 1) * pitch + k]
    arrays = {"a": device.array(rows), "b": device.array(b), "d": device.array(c)}
    if not beta:
        arrays["d"].free()
        arrays["d"] = device.empty((m, n), f4)
    lie = {"a": fit.Matrix(pitch, 1), "b": fit.Matrix(n, 1), "d": fit.Matrix(n, 1)}
    shape = Shape(32, 32, 8, 32, 32, *thread, stages, staging=staging)
    if parts is not None:
        shape = Shape(64, 32, 8, 32, 32, 4, 8, stages, staging=staging)
    made = fit.plan(
        m, n, k, lie["a"], lie["b"], lie["d"], lie["d"] if beta else None,
        tail=tail, shape=shape, parts=parts,
    )  # fmt: skip
    args: dict[str, Any] = dict(made.arguments)
    args |= {name: arrays["d" if of == "c" else of] for name, of in made.pointers.items()}
    if made.workspace_bytes:
        args["workspace"] = device.empty(made.workspace_bytes // 4, f4)
        args["counters"] = device.array(np.zeros(made.tiles.split_tiles, np.uint32))
    args |= {"alpha": 1.0, "beta": 2.0}
    kernel = select.load(device, made.spec)
    names = {parameter.name for parameter in kernel.parameters}
    chosen = {name: value for name, value in args.items() if name in names}
    kernel.launch(made.grid, made.block, chosen, made.shared)
    found = arrays["d"].numpy().copy()
    if "counters" in args:
        # The kernel leaves them as it found them.
        assert not args["counters"].numpy().any()
    return found


def _edges(tail: Tail, **how: Any) -> Callable[[], Any]:
    """Ragged sizes; those where each guard is all that keeps a lane inside its matrix."""
    sizes = [(33, 29), *((33, k) for k in (1, 2, 4, 5)), *((m, 3) for m in range(4, 33, 4))]
    return _all(*(partial(_fitted, m, 35, k, tail, **how) for m, k in sizes))


def _general(k: int) -> Any:
    """Any strides: A along K, B along N, with C."""
    device = ptx.device("emulator")
    form = General(a_along_k=True, b_along_k=False, reads_c=True)
    m, n = 67, 70
    a, b = _pair(m, n, k)
    d = device.array(np.arange(m * n, dtype=f4).reshape(m, n) % 5)
    args: dict[str, Any] = {
        "m": m, "n": n, "k": k, "alpha": 2.0, "beta": 1.0,
        "a": device.array(a), "b": device.array(b), "c": d, "d": d,
    }  # fmt: skip
    for name, row in (("a", k), ("b", n), ("c", n), ("d", n)):
        args |= {f"{name}_row": row, f"{name}_column": 1, f"{name}_batch": 0}
    kernel = select.load(device, form)
    kernel.launch(
        (tiles(m, n), 1), THREADS, {one.name: args[one.name] for one in kernel.parameters}
    )
    return d.numpy().copy()


def _hopper(
    m: int, n: int, k: int, tiling: Tiling | Narrow, kind: str = "bf16", launches: int = 1,
    out: str = "f32", **options: Any,
) -> Any:  # fmt: skip
    """Tensor copies and wgmma; odd rows are padded by a launch before, and a B whose type has to
    lie along K is turned. The second of two launches, an early one, writes what the first has.
    """
    device = ptx.device("emulator")
    a, b = _pair(m, n, k, warp_gemm.DTYPES[kind])
    c = np.zeros((m, n), warp_gemm.DTYPES[out])
    arrays = [device.array(x) for x in (c, a, b)]
    matrices = [
        hopper.Matrix(array.pointer, *x.shape, x.shape[1], 1, kind)
        for array, x, kind in zip(arrays, (c, a, b), (out, kind, kind), strict=True)
    ]
    plan = hopper.plan(device, *matrices, tiling=tiling, **options)
    for _ in range(launches):
        plan()
    if isinstance(plan.tiling, Tiling) and plan.tiling.split:
        # The kernel leaves its counters as it found them.
        assert not plan.workspace[-1].numpy().any()
    return arrays[0].numpy().copy()


def _warps(family: warp_gemm.Family, m: int, n: int, k: int, pitch: int = 216) -> Any:
    """mma.sync and wmma: three stages, rows of A `pitch` elements apart."""
    device = ptx.device("emulator")
    blocking = Blocking(64, 64, 2, 2, 64, 1, 3, 1, 8, "f16", "f16", "f32", "f32", target=90)
    a, b = _pair(m, n, k, np.float16)
    apart = np.zeros((m, pitch), np.float16)
    apart[:, :k] = a
    rows = device.array(apart.ravel()[: (m - 1) * pitch + k])
    columns, result = device.array(b), device.empty((m, n), f4)
    warp_gemm.plan(
        device,
        warp_gemm.Matrix(result.pointer, m, n, n, 1, "f32"),
        warp_gemm.Matrix(rows.pointer, m, k, pitch, 1, "f16"),
        warp_gemm.Matrix(columns.pointer, k, n, n, 1, "f16"),
        family=family, blocking=blocking,
    )()  # fmt: skip
    return result.numpy().copy()


def _fed(m: int, n: int, k: int) -> Any:
    """mma.sync behind tensor copies: two CTAs go through all tiles."""
    device = ptx.device("emulator")
    blocking = replace(warp_gemm.FED["f16"][0], tile_m=64, tile_n=64, stages=3, out="f32")
    a, b = _pair(m, n, k, np.float16)
    c = np.zeros((m, n), f4)
    arrays = [device.array(x) for x in (c, a, b)]
    d, *operands = (
        warp_gemm.Matrix(array.pointer, *x.shape, x.shape[1], 1, element)
        for array, x, element in zip(arrays, (c, a, b), ("f32", "f16", "f16"), strict=True)
    )
    made, arguments = warp_gemm.fitted(d, *operands, blocking=blocking)
    arguments |= {"d": d.address} | warp_gemm.tensor_maps(device, made, *operands)
    loaded(device, fed.gemm, made).launch(2, made.threads, arguments, made.dynamic_bytes)
    return arrays[0].numpy().copy()


def _pad() -> Any:
    """Judged by itself, in allocations that end with their last elements."""
    # The last unit, of one element, falls to each of a thread's four units in turn.
    for first, second in ((5, 30), (60, 90)):
        padded([(first, 73, 73, 0), (second, 73, 73, 0)], "bf16", "u2")
    return np.zeros(0)


@dataclass(frozen=True)
class Family:
    """A kernel by the start of its name, and the product that it is tried with."""

    name: str
    problem: Callable[[], Any]
    redundant: dict[str, str] = field(default_factory=dict)
    """Patterns of lines that may go unnoticed where they are missing, and why."""


_UNIT = "a unit that exists has a first element: the guard of the load is that of the unit"
_FENCE = (
    "the counter's atom.acq_rel, after a barrier that every thread's sums come before, releases "
    "them all, and acquires for the threads that meet after it (PTX ISA, section 8.9.5: causality "
    "goes through barriers)"
)

_WARP = (
    "the barrier of the warp after it orders the same accesses; the fence is there for the "
    "registers that ptxas chooses"
)
_ZEROS = (
    "with the ragged step first nothing is copied past the last one; other schedules write zeros "
    "there, and tests/tails notices where they are not waited for"
)
_LANES = (
    "it orders what all lanes read before one of them says so; the emulator's lanes meet at the "
    "wgmma.wait_group before it"
)

FAMILIES: dict[str, Family] = {
    "simt": Family("sgemm", _whole),
    "split": Family(
        "sgemm",
        lambda: _fitted(64, 64, 56, Tail(), parts=3),
        {r"fence\.acq_rel\.gpu;": _FENCE},
    ),
    "stages": Family("sgemm", lambda: _fitted(32, 64, 56, Tail(), "async", 3)),
    "zfill": Family(
        "sgemm",
        _edges(Tail(edge="zfill"), staging="async", stages=4),
        {r"fence\.acq_rel\.cta;": _WARP, r"cp\.async\.wait_group 0;": _ZEROS},
    ),
    "gathered": Family(
        "sgemm",
        # Of few columns too, so that a step's every row of B ends near the allocation's end.
        _all(
            _edges(Tail(), thread=(8, 4)),
            lambda: _fitted(33, 3, 29, Tail(), thread=(8, 4)),
        ),
        {r"fence\.acq_rel\.cta;": _WARP},
    ),
    "predicated": Family("sgemm", _edges(Tail("predicated", "predicated"), beta=True)),
    "general": Family("general", _all(*(partial(_general, k) for k in (21, 5, 1)))),
    "wgmma": Family("wgmma", lambda: _hopper(264, 72, 248, Tiling(128, 64, stages=2), launches=2)),
    "cluster": Family(
        "wgmma", lambda: _hopper(264, 140, 248, Tiling(128, 128, stages=2, cluster=2))
    ),
    "square": Family(
        "wgmma",
        lambda: _hopper(130, 200, 248, Tiling(64, 64, 2, cluster=2, alternate=True, cluster_n=2)),
    ),
    "alternate": Family("wgmma", lambda: _hopper(130, 200, 248, Tiling(64, 64, 2, alternate=True))),
    "parts": Family(
        "wgmma", lambda: _hopper(130, 136, 248, Tiling(64, 64, 2, alternate=True, parts=2))
    ),
    # K ends in the first slice of its last step. In a further problem this is the first one that a
    # warpgroup multiplies: where others are before it, the fence in their loop orders for it too.
    "last": Family(
        "wgmma", _all(*(partial(_hopper, 264, 72, k, Tiling(128, 64, stages=2)) for k in (200, 8)))
    ),
    "last of parts": Family(
        "wgmma",
        _all(
            *(
                partial(_hopper, 130, n, k, Tiling(64, 64, 2, alternate=True, parts=2))
                for n, k in ((136, 200), (64, 72))
            )
        ),
    ),
    "last promoted": Family(
        "wgmma",
        _all(
            *(
                partial(_hopper, 264, 72, k, Tiling(128, 64, 2), "e4m3", accumulate="promoted")
                for k in (272, 16)
            )
        ),
    ),
    "registers": Family("wgmma", lambda: _hopper(194, 132, 136, by_registers(64, 3, 1), "tf32")),
    # Rows of half as many units as there are threads for each.
    "rows": Family("wgmma", lambda: _hopper(264, 71, 248, Tiling(128, 64, stages=2), out="bf16")),
    "promoted": Family(
        "wgmma",
        lambda: _hopper(264, 72, 380, Tiling(128, 64, 2), "e4m3", accumulate="promoted"),
    ),
    "narrow": Family("narrow", lambda: _hopper(13, 136, 520, NARROW, launches=2)),
    "units": Family(
        "narrow", lambda: _hopper(13, 135, 521, NARROW), {r"bar\.warp\.sync 4294967295;": _LANES}
    ),
    "mma": Family("mma", _all(*(partial(_warps, "mma", 70, 72, k) for k in (216, 40)))),
    "wmma": Family("wmma", _all(*(partial(_warps, "wmma", 70, 67, k) for k in (216, 40, 2)))),
    "fed": Family("mma_fed", lambda: _fed(70, 136, 216)),
    "turn": Family(
        "turn",
        _all(
            # Allocations that end within a word, and with one.
            lambda: _hopper(3, 131, 19, Tiling(128, 64, 2), "e4m3"),
            lambda: _hopper(3, 12, 20, Tiling(128, 64, 2), "e4m3"),
        ),
    ),
    "pad": Family("pad", _pad, {r"@%p\d+ ld\.global\.nc\.u16 %b\d+, \[%sd\d+\];": _UNIT}),
}

TWICE = ("wgmma", "narrow")
"""Launched a second time, early. Other products run beside no launch, or come after a copy of their
own and are not early: the same ``griddepcontrol.wait`` is missed by nobody there."""
