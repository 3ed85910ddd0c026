"""``python -m ptxgemm tune``: measure which tiles are fastest for which product on this GPU.

For each product the choices that the model ranks first are run on random inputs that rotate through
more than the L2 cache. Each writes into a poisoned C that is compared with float64; what is wrong
is never chosen. They are timed in turn, round after round; the fastest is kept.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import ml_dtypes
import numpy as np

import ptx
from ptx.commands.options import at_least, some_of
from ptx.devices import Array, Device
from ptx.errors import PtxError
from ptxgemm import choices, choose, hopper
from ptxgemm.choices import Product, shown
from ptxgemm.choose import Choice
from ptxgemm.hopper import Matrix, Plan
from ptxgemm.tiling import Tiling

Calls = list[Callable[[], None]]
"""The same work on different inputs."""
Timer = Callable[[Device, list[Calls]], list[float]]
"""Microseconds of a call of each."""

DTYPES: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
UNITS = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24}
"""Half the distance of neighbours, relative."""
MOST = 24
"""Choices that are measured for a product."""
LEAST = 2
"""The same: the model's first one, and one of whole tiles."""
ROUNDS, LAUNCHES = 9, 30
ROTATED_BYTES = 150e6
"""Inputs rotate through more than an L2 cache."""
RANDOM_BLOCK = (1 << 20) + 7
"""Random elements that fill an input over and over."""
SAMPLES = 256
"""Elements of C that are compared."""
ROWS_OF_DECODING = (1, 8, 16, 24, 32, 48, 64)
WEIGHTS = ((4096, 4096), (6144, 4096), (14336, 4096), (4096, 14336), (28672, 4096), (8192, 8192))
FEW_TILES = ((128, 7168, 18432), (128, 4096, 4096), (256, 4096, 4096), (512, 512, 8192),
             (1024, 1024, 1024))  # fmt: skip
PRODUCTS = (
    *((m, n, k) for n, k in WEIGHTS for m in ROWS_OF_DECODING),
    *FEW_TILES,
)
"""M, N and K of what is measured if nothing is named."""


@dataclass(frozen=True)
class Measured:
    choice: Choice
    us: float
    """Infinite where it is wrong."""
    error: float
    """The largest deviation, in units of what rounding allows."""


@dataclass(frozen=True)
class Inputs:
    """A set of matrices in a device's memory, the operands as on the host too."""

    arrays: tuple[Array, ...]
    matrices: tuple[Matrix, Matrix, Matrix]
    """C, A and B."""
    a: Any
    b: Any


# ---------------------------------------------------------------- one product


def tune(
    device: Device, product: Product, most: int = MOST, timer: Timer | None = None,
    stream: Any = None,
) -> list[Measured]:  # fmt: skip
    """Measure a product and keep the fastest choice; all choices, the fastest first.

    Raises PtxError where none gives the right result, and ValueError for a `most` below 2: the
    first by the model and one of whole tiles are always measured.
    """
    if most < LEAST:
        raise ValueError(f"most is {most}; at least {LEAST} choices are measured")
    sets = [_inputs(device, product, seed) for seed in range(_set_count(product))]
    ranked = choices.ranked(device.sm_count, product)
    candidates = ranked[:most]
    if not any(isinstance(one, Tiling) for one in candidates):
        candidates[-1] = next(one for one in ranked if isinstance(one, Tiling))
    if device.is_cuda:
        _assemble(device, candidates, sets[0])
    errors: list[float] = []
    plans: list[list[Plan]] = []
    for choice in candidates:
        plans.append(
            [hopper.plan(device, *one.matrices, tiling=choice, stream=stream) for one in sets]
        )
        errors.append(_error(plans[-1][0], sets[0], product.out))
    us = (timer or gpu_us)(device, [list[Callable[[], None]](one) for one in plans])
    found = [
        Measured(choice, time if error <= 1 else float("inf"), error)
        for choice, time, error in zip(candidates, us, errors, strict=True)
    ]
    found.sort(key=lambda one: one.us)
    if found[0].us == float("inf"):
        raise PtxError(f"no choice multiplies {product.key} correctly: {found[0]}")
    choices.keep(device.name, product, found[0].choice)
    return found


def _set_count(product: Product) -> int:
    nbytes = 2 * (product.m * product.k + product.k * product.n + product.m * product.n)
    return max(1, min(6, int(ROTATED_BYTES // nbytes) + 1))


def _inputs(device: Device, product: Product, seed: int) -> Inputs:
    m, n, k = product.m, product.n, product.k
    size = min(RANDOM_BLOCK, max(m, n) * k)
    random = np.random.default_rng(seed)
    block = random.standard_normal(size, np.float32).astype(DTYPES[product.a])
    a, b = (
        np.resize(block[shift:], (columns, rows)).T
        if turned == "T"
        else np.resize(block[shift:], (rows, columns))
        for shift, turned, rows, columns in zip((0, 3), product.layout, (m, k), (k, n), strict=True)
    )
    held_a, held_b = (device.array(one.T if one.flags.f_contiguous else one) for one in (a, b))
    c = device.empty((m, n), DTYPES[product.out])
    matrices = (
        Matrix.of(c, product.out),
        Matrix(held_a.pointer, m, k, *_strides(product.layout[0], m, k), product.a),
        Matrix(held_b.pointer, k, n, *_strides(product.layout[1], k, n), product.b),
    )
    return Inputs((c, held_a, held_b), matrices, a, b)


def _strides(turned: str, rows: int, columns: int) -> tuple[int, int]:
    return (1, rows) if turned == "T" else (columns, 1)


def _error(plan: Plan, one: Inputs, out: str) -> float:
    """The largest deviation of sampled elements, the last ones too, in units of their bounds;
    infinite where an element was left unwritten.
    """
    c = one.arrays[0]
    c.fill_bytes(0xFF)
    plan()
    got = c.numpy().astype(np.float64)
    random = np.random.default_rng(0)
    rows, columns = (np.append(random.integers(0, size, SAMPLES), size - 1) for size in got.shape)
    a, b = one.a[rows].astype(np.float64), one.b[:, columns].astype(np.float64).T
    exact, sizes = (a * b).sum(axis=1), abs(a * b).sum(axis=1)
    bound = UNITS[out] * abs(exact) + (a.shape[1] + 8) * 2.0**-23 * sizes + 1e-30
    worst = float((abs(got[rows, columns] - exact) / bound).max())
    return worst if np.isfinite(got).all() else float("inf")


# ---------------------------------------------------------------- kernels and times


def _assemble(device: Device, candidates: Sequence[Choice], one: Inputs) -> None:
    """Into the disk cache, side by side, so that loading costs no assembling."""
    major, minor = device.compute_capability
    kernels = (
        hopper.arranged(
            hopper.usable_sms(device, choice), *one.matrices, scaled=False, tiling=choice
        )[0]
        for choice in candidates
    )
    modules = [ptx.Module(hopper.kernel(made)) for made in kernels]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda module: ptx.assemble(module, f"sm_{major}{minor}a"), modules))


def gpu_us(device: Device, contenders: list[list[Callable[[], None]]]) -> list[float]:
    """Medians of rounds. Before each a long product keeps the GPU busy while the launches are put
    into its queue, so that none waits for Python.
    """
    busy = _long_product(device)
    times: list[list[float]] = [[] for _ in contenders]
    start, end = device.event(), device.event()
    for turn in range(ROUNDS + 1):
        for number in range(len(contenders)):
            at = (number + turn) % len(contenders)
            calls = contenders[at]
            busy()
            start.record()
            for launch in range(LAUNCHES):
                calls[launch % len(calls)]()
            end.record()
            end.synchronize()
            if turn:
                times[at].append(1000 * start.elapsed_time(end) / LAUNCHES)
    return [statistics.median(one) for one in times]


def _long_product(device: Device) -> Callable[[], None]:
    """About 0.2 ms on an H200."""
    arrays = [device.empty((4096, 4096), DTYPES["bf16"]) for _ in range(3)]
    for one in arrays:
        one.fill_bytes(0)
    c, a, b = (Matrix.of(one, "bf16") for one in arrays)
    plan = hopper.plan(device, c, a, b, tiling=choose.CANDIDATES[0].tiling)
    return replace(plan, workspace=tuple(arrays))


# ---------------------------------------------------------------- the command


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sizes", nargs="*", metavar="MxNxK", type=_sizes,
        help="products (default: decoding steps of language models, and few tiles)",
    )  # fmt: skip
    parser.add_argument(
        "--layout", type=some_of("NN", "NT", "TN", "TT"), default=["NT"],
        help="of A and B, N row-major, T column-major; several with commas (default: NT, x @ w.T)",
    )  # fmt: skip
    parser.add_argument(
        "--type", type=some_of("bf16", "f16"), default=["bf16"],
        help="bf16 or f16, or both with a comma (default: bf16)",
    )  # fmt: skip
    parser.add_argument(
        "--most", type=at_least(LEAST), default=MOST,
        help=f"choices to measure for each, {LEAST} or more (default: {MOST})",
    )  # fmt: skip
    parser.add_argument(
        "--record",
        action="store_true",
        help="also write the choices into ptxgemm/tuned, which is shipped with the package",
    )


def _sizes(text: str) -> tuple[int, int, int]:
    try:
        m, n, k = (int(size) for size in text.split("x"))
    except ValueError:
        m = n = k = 0
    if min(m, n, k) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no MxNxK, as in 16x14336x4096")
    return m, n, k


def run(options: argparse.Namespace) -> int:
    from tabulate import tabulate
    from tqdm import tqdm

    device = ptx.device("cuda:0")
    if device.compute_capability[0] != 9:
        raise PtxError(f"{device.name} is no Hopper GPU; there is nothing to tune")
    rows: list[dict[str, Any]] = []
    lines: list[tuple[Any, ...]] = []
    cases = list(itertools.product(options.layout, options.type, options.sizes or PRODUCTS))
    for layout, kind, (m, n, k) in tqdm(cases, unit="product", disable=None):
        product = Product(m, n, k, layout, *(kind,) * 3)
        modelled = choices.modelled(device.sm_count, product)
        found = tune(device, product, options.most)
        best = found[0]
        first = next(one.us for one in found if one.choice == modelled)
        nbytes = 2 * (m * k + k * n + m * n)
        lines.append(
            (product.key, shown(best.choice), best.us, nbytes / best.us / 1e6, first / best.us)
        )
        rows.append(row(device, product, best))
        wrong = [one for one in found if not one.error <= 1]
        lines += [(product.key, f"WRONG: {shown(one.choice)}", None, None, None) for one in wrong]
    head = ("product", "fastest", "us", "TB/s", "model's us / fastest")
    print(tabulate(lines, head, floatfmt=("", "", ".2f", ".2f", ".2f")))
    if options.record:
        print(choices.ship(device.name, rows))
    return 0


def row(device: Device, product: Product, best: Measured) -> dict[str, Any]:
    from ptx.toolchain import find_driver

    return {
        "product": product.key,
        "choice": choices.encoded(best.choice),
        "us": round(best.us, 2),
        "card": device.name,
        "driver": find_driver().release,
        "version": ptx.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
