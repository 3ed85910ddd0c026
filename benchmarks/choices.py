"""Choices of tiles for random products: what is chosen beside all that might have been, and torch.

    python -m benchmarks.choices [--products N] [--seed N] [--seconds S] [--record]

Sizes, layouts and alignments of products in bf16 are random. For each, torch, what the package
chooses, every tiling that :mod:`ptxgemm.choose` knows, some with K of the last tiles in parts, and
the narrow shapes that the model ranks first are timed in turn, as in :mod:`benchmarks.hopper`. The
constants of :mod:`ptxgemm.cost` are fitted to such times.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

import ptx
from benchmarks import ahead, harness
from ptx.devices import Device
from ptxgemm import choices, choose, hopper
from ptxgemm.choices import Product
from ptxgemm.choose import Choice
from ptxgemm.hopper import Matrix
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Tiling

Timing = Callable[[Product, Mapping[str, Choice]], dict[str, Any]]
"""Of a product and its contenders what :func:`benchmarks.hopper.run` tells."""

TYPE = "bf16"
ROUNDS, ROUND_US = 4, 600.0
MOST_MULTIPLICATIONS, LEAST_MULTIPLICATIONS = 1.5e11, 5e6
LONGEST = 8192
"""Rows and columns; K is up to twice that."""
PARTS = (1, 2, 4)
NARROW = 6
"""Narrow shapes of a product."""
WORSE = 2.5
"""Times the fastest one's time and more are not recorded."""


def products(count: int, seed: int) -> Iterator[Product]:
    """A third each of sizes that are multiples of 64, of 8 and of nothing."""
    rand = random.Random(seed)

    def size(least: int, most: int, multiple: int) -> int:
        drawn = int(2 ** rand.uniform(math.log2(least), math.log2(most)))
        return drawn | 1 if multiple == 1 else max(multiple, drawn // multiple * multiple)

    while count:
        multiple = rand.choice((64, 8, 1))
        m = size(rand.choice((1, 64, 64, 64)), LONGEST, multiple)
        n, k = size(64, LONGEST, multiple), size(64, 2 * LONGEST, multiple)
        layout = rand.choice(("NN", "NT", "TN", "TT"))
        if LEAST_MULTIPLICATIONS < m * n * k < MOST_MULTIPLICATIONS:
            count -= 1
            yield Product(m, n, k, layout)


def matrices(product: Product) -> tuple[Matrix, Matrix, Matrix]:
    """C, A and B, dense, at no address that is used."""
    m, n, k = product.m, product.n, product.k
    (a_row, a_column), (b_row, b_column) = (
        (columns, 1) if layout == "N" else (1, rows)
        for layout, rows, columns in zip(product.layout, (m, k), (k, n), strict=True)
    )
    return (
        Matrix(0, m, n, n, 1, TYPE),
        Matrix(0, m, k, a_row, a_column, TYPE),
        Matrix(0, k, n, b_row, b_column, TYPE),
    )


def contenders(device: Device, product: Product) -> dict[str, Choice]:
    """By what they are called, each kernel once; the model's choice is among them, and of each
    candidate the number of parts that the model likes best.
    """
    ranked = choices.ranked(device.sm_count, product)
    liked: dict[Tiling, Tiling] = {}
    for one in ranked:
        if isinstance(one, Tiling):
            liked.setdefault(replace(one, parts=1), one)
    wanted: list[Choice] = [ranked[0]]
    for candidate in choose.CANDIDATES:
        wanted += (replace(candidate.tiling, parts=parts) for parts in PARTS)
        wanted.append(liked[candidate.tiling])
    shapes: dict[tuple[int, ...], Narrow] = {}
    for one in ranked:
        if isinstance(one, Narrow):
            shapes.setdefault((one.tile_m, one.tile_n, one.parts, one.peers), one)
    wanted += list(shapes.values())[:NARROW]
    found: dict[str, Choice] = {}
    for one in wanted:
        try:
            made = arranged(device, product, one)
        except ValueError:
            continue
        if not isinstance(one, Tiling) or made == replace(made, parts=one.parts):
            found.setdefault(choices.shown(one), one)
    return found


def arranged(device: Device, product: Product, choice: Choice) -> Choice:
    """The choice in the product's types and layouts; of tiles that cannot be cut, in one part."""
    sms = hopper.usable_sms(device, choice)
    return hopper.arranged(sms, *matrices(product), scaled=False, tiling=choice)[0]


def kernel_of(device: Device, product: Product, choice: Choice) -> Choice:
    """What :func:`ptxgemm.hopper.kernel` takes."""
    made = arranged(device, product, choice)
    return made.compiled if isinstance(made, Tiling) else made


def measured(
    device: Device, wanted: Mapping[Product, Mapping[str, Choice]], time: Timing, until: float,
    workers: int | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of the products that are reached before ``monotonic()`` is `until`; each is printed.

    Other processes make the kernels of those to come while `time` times one.
    """
    jobs = [[kernel_of(device, one, it) for it in known.values()] for one, known in wanted.items()]
    print(f"{len(jobs)} products, {len({it for job in jobs for it in job})} kernels", flush=True)
    rows: list[dict[str, Any]] = []
    with ahead.under_way(jobs, workers) as coming:
        for one, known in wanted.items():
            if monotonic() > until:
                break
            ahead.hand_over(device, next(coming))
            rows.append(row(one, time(one, known)))
            print(told(rows[-1]), flush=True)
    return rows


def by_graphs(product: Product, known: Mapping[str, Choice]) -> dict[str, Any]:
    """Beside torch and what the package chooses, in CUDA graphs."""
    from benchmarks import hopper as timed  # torch, which workers need not import

    case = (product.m, product.n, product.k, product.layout)
    return timed.run(
        case, TYPE, {"ptxgemm": None, **known}, odd=False, rounds=ROUNDS, round_us=ROUND_US
    )


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("choices", __doc__)
    parser.add_argument("--products", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--seconds", type=float, default=600.0, help="after which it ends")
    options = harness.asked(parser, arguments)
    until = monotonic() + options.seconds
    device = ptx.device("cuda:0")
    wanted = {one: contenders(device, one) for one in products(options.products, options.seed)}
    rows = measured(device, wanted, by_graphs, until)
    ratios = [one["torch"] / one["chosen"] for one in rows]
    print(
        f"{len(rows)} products: geometric mean {statistics.geometric_mean(ratios):.3f}, "
        f"{sum(ratio < 1 for ratio in ratios) / len(rows):.0%} slower than torch"
    )
    if options.record:
        print(harness.record("choices", rows))
    wrong = sum(one["wrong"] for one in rows)
    return bool(wrong)


def row(product: Product, result: dict[str, Any]) -> dict[str, Any]:
    """What is recorded of a product."""
    us = dict(result["us"])
    torch, chosen = us.pop("torch"), us.pop("ptxgemm")
    best = min(us.values())
    kept = {name: round(value, 2) for name, value in us.items() if value < WORSE * best}
    return {
        "case": f"{product.m}x{product.n}x{product.k} {product.layout}", "type": TYPE,
        "torch": round(torch, 2), "chosen": round(chosen, 2), "us": kept,
        "wrong": sum(error > 1 for error in result["errors"].values()),
    }  # fmt: skip


def told(one: dict[str, Any]) -> str:
    best = min(one["us"], key=one["us"].__getitem__)
    return (
        f"{one['case']:24} torch {one['torch']:8.1f} us, chosen {one['chosen']:8.1f} "
        f"x{one['torch'] / one['chosen']:.2f}, best {one['us'][best]:8.1f} by {best}"
    )


if __name__ == "__main__":
    sys.exit(main())
