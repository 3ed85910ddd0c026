"""Few rows, few columns, few tiles: every choice of tiles beside torch on a Hopper GPU.

    python -m benchmarks.narrow [MxNxK ...] [--layout NT,NN] [--type bf16,f16] [--record]

As ``python -m ptxgemm tune`` does, it checks each choice in a poisoned C against float64 and keeps
the fastest; but it times them by replayed CUDA graphs, in turn with torch. ``--record`` appends the
times of all choices to ``benchmarks/results`` and, to the package's own table, those choices that
beat the model's by more than noise.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

from tabulate import tabulate

import ptx
from benchmarks import harness
from benchmarks.harness import torch
from benchmarks.hopper import GROUPS, Graphs, operand, torch_type
from ptx.devices import Device
from ptxgemm import choices, tune
from ptxgemm.choices import Product, shown

CASES = tuple(dict.fromkeys((*case[:3],) for case in GROUPS["small"]))
"""M, N and K of the products that targets are set for."""
NOISE = 1.01
"""Choices whose times differ by no more are equally fast."""


class BesideTorch:
    """Times choices of a product, and ``torch.matmul`` on inputs of its own among them."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.graphs = Graphs()
        self.torch_us = math.nan

    def __call__(self, device: Device, contenders: list[list[Callable[[], None]]]) -> list[float]:
        p, dtype = self.product, torch_type(self.product.a)
        sets = [
            (
                operand(p.m, p.k, p.layout[0], dtype),
                operand(p.k, p.n, p.layout[1], dtype),
                torch.empty(p.m, p.n, device="cuda", dtype=dtype),
            )
            for _ in contenders[0]
        ]
        self.graphs.add("torch", [lambda s=s: torch.matmul(s[0], s[1], out=s[2]) for s in sets])
        for number, calls in enumerate(contenders):
            self.graphs.add(str(number), calls)
        us = self.graphs.times()
        self.torch_us = us.pop("torch")
        return list(us.values())


def run(
    device: Device, product: Product, most: int
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A row of results, and one of the package's table, if any is due."""
    timer = BesideTorch(product)
    stream = timer.graphs.stream.cuda_stream
    found = tune.tune(device, product, most, timer, stream)
    modelled = choices.modelled(device.sm_count, product)
    chosen_us = next(one.us for one in found if one.choice == modelled)
    row = {
        "group": "narrow",
        "case": f"{product.m}x{product.n}x{product.k} {product.layout}",
        "type": product.a,
        "us": {
            "torch": timer.torch_us,
            "ptxgemm": found[0].us,
            "modelled": chosen_us,
        },
        "choices": {shown(one.choice): one.us for one in found if one.error <= 1},
        "wrong": [shown(one.choice) for one in found if not one.error <= 1],
    }
    return row, tune.row(device, product, found[0]) if chosen_us > NOISE * found[0].us else None


def line(row: dict[str, Any]) -> tuple[Any, ...]:
    us = row["us"]
    m, n, k = map(int, row["case"].split()[0].split("x"))
    terabytes = 2e-6 * (m * k + k * n + m * n) / us["ptxgemm"]
    fastest = next(iter(row["choices"]))
    return (
        f"{row['case']} {row['type']}", us["torch"], us["ptxgemm"], us["torch"] / us["ptxgemm"],
        us["torch"] / us["modelled"], terabytes, fastest, len(row["wrong"]),
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("narrow", __doc__, record=False)  # which tune's arguments have
    tune.arguments(parser)
    parser.add_argument("--all", action="store_true", help="all that tune measures by default")
    options = harness.asked(parser, arguments)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    device = ptx.device("cuda:0")
    rows, table = [], []
    sizes = options.sizes or (tune.PRODUCTS if options.all else CASES)
    for layout, kind, size in itertools.product(options.layout, options.type, sizes):
        result, better = run(device, Product(*size, layout, *(kind,) * 3), options.most)
        print(*line(result), flush=True)
        rows.append(result)
        table += [better] if better else []
    head = ("case", "torch us", "us", "ratio", "modelled's", "TB/s", "fastest", "wrong")
    print(tabulate([line(row) for row in rows], head, floatfmt=".2f"))
    if options.record:
        print(harness.record("narrow", rows), choices.ship(device.name, table))
    return int(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
