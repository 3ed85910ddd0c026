"""Tensor-core products on a Hopper GPU against torch, side by side in one run.

    python -m benchmarks.hopper [--group square] [--type f16] [--tilings] [--check 2000] [--record]

Every contender is captured into a CUDA graph that rotates its inputs, and the graphs are replayed
in turn, round after round; the times are medians over the rounds. Beside sizes that are multiples
of nothing torch multiplies their aligned neighbour too. Inputs are random, outputs are
poisoned before each check, and sampled rows are compared with float64. ``--check`` goes on with so
many random products of :mod:`benchmarks.hopper_check`.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ptx
from benchmarks import harness, hopper_check
from benchmarks.harness import torch
from ptxgemm import choices, hopper
from ptxgemm.choose import Choice
from ptxgemm.hopper import Matrix
from ptxgemm.tiling import SLICES, Accumulate, Tiling, by_registers

Case = tuple[int, int, int, str]
"""M, N, K and the layouts of A and B: N is row-major, T column-major."""

GROUPS: dict[str, list[Case]] = {
    "square": [
        (m, n, k, layout)
        for layout in ("NN", "NT")
        for m, n, k in (
            *((size,) * 3 for size in (2048, 4096, 6144, 8192)),
            (4096, 14336, 4096),
            (8192, 7168, 2048),
        )
    ],
    "odd": [
        (6144, 6144, 6140, "NN"),
        (4095, 4097, 1023, "NN"),
        (4097, 4097, 4097, "NN"),
        (1024, 50257, 768, "NN"),
        (1024, 50257, 768, "NT"),
        (3000, 3001, 3002, "NN"),
        (8191, 8191, 8191, "NN"),
    ],
    "small": [
        (m, n, k, layout)
        for layout in ("NT", "NN")
        for m, n, k in (
            (1, 4096, 4096),
            (16, 14336, 4096),
            (64, 4096, 4096),
            (128, 7168, 18432),
        )
    ],
    "small odd": [
        (1, 4097, 4095, "NT"),
        (16, 14336, 4095, "NT"),
        (16, 50257, 768, "NN"),
        (64, 50257, 4096, "NN"),
    ],
    "tf32": [
        (m, n, k, layout)
        for layout in ("NN", "NT")
        for m, n, k in (*((size,) * 3 for size in (2048, 4096, 6144, 8192)), (4095, 4097, 1023))
    ],
    "fp8": [(size, size, size, "NT") for size in (2048, 4096, 6144, 8192)],
    "int8": [(size, size, size, "NT") for size in (2048, 4096, 6144, 8192)],
}
"""torch multiplies 8-bit types as NT alone."""
TILINGS = {
    "128x256": Tiling(128, 256, 4, 1, 16),
    "128x192": Tiling(128, 192, 4, 1, 16),
    "256x128 c2": Tiling(256, 128, 4, 2, 4),
    "alt": Tiling(128, 128, 6, 1, 16, alternate=True),
    "alt g8": Tiling(128, 128, 6, 1, 8, alternate=True),
    "alt p2": Tiling(128, 128, 6, 1, 8, alternate=True, parts=2),
    "alt p4": Tiling(128, 128, 6, 1, 8, alternate=True, parts=4),
    "alt s5": Tiling(128, 128, 5, 1, 16, alternate=True),
    "alt c2": Tiling(128, 128, 6, 2, 8, alternate=True),
    "alt c2 g4": Tiling(128, 128, 6, 2, 4, alternate=True),
    "alt 2x2": Tiling(128, 128, 6, 2, 8, alternate=True, cluster_n=2),
    "128x256 2x1": Tiling(128, 256, 4, 2, 8),
    "128x128 2x2 coop": Tiling(128, 128, 6, 2, 8, cluster_n=2),
    "128x64 1x2": Tiling(128, 64, 8, 1, 16, cluster_n=2),
    "128x64 2x2": Tiling(128, 64, 8, 2, 8, cluster_n=2),
    "64x256 alt": Tiling(64, 256, 4, 1, 32, alternate=True),
    "128x64": Tiling(128, 64, 8, 1, 16),
    "registers 256": by_registers(256, 4, 8),
    "registers": by_registers(128, 6, 8),
    "registers 64": by_registers(64, 9, 16),
}


@dataclass(frozen=True)
class Kind:
    """Types of a product, and the library's way to it."""

    element: str
    out: str
    accumulate: Accumulate = "native"

    @property
    def groups(self) -> tuple[str, ...]:
        if self.element in ("bf16", "f16"):
            return "square", "odd", "small", "small odd"
        return ({"tf32": "tf32", "e4m3": "fp8", "s8": "int8"}[self.element],)


KINDS = {
    "bf16": Kind("bf16", "bf16"),
    "f16": Kind("f16", "f16"),
    "tf32": Kind("tf32", "f32"),
    "e4m3": Kind("e4m3", "bf16"),
    "e4m3 promoted": Kind("e4m3", "bf16", "promoted"),
    "s8": Kind("s8", "s32"),
}
TYPES = {
    "bf16": "bfloat16", "f16": "float16", "f32": "float32", "tf32": "float32",
    "e4m3": "float8_e4m3fn", "s8": "int8", "s32": "int32",
}  # fmt: skip
"""torch's names."""
ROUNDS, ROUND_US, SAMPLED_ROWS = 9, 4000.0, 96
ALIGNED = 8
"""Sizes of an odd case's aligned neighbour are multiples of it."""


def torch_type(element: str) -> torch.dtype:
    return getattr(torch, TYPES[element])


def operand(rows: int, columns: int, layout: str, dtype: torch.dtype) -> torch.Tensor:
    shape = (columns, rows) if layout == "T" else (rows, columns)
    if dtype == torch.int8:
        made = torch.randint(-128, 128, shape, device="cuda", dtype=dtype)
    else:
        made = torch.randn(shape, device="cuda").to(dtype)
    return made.t() if layout == "T" else made


def matrix(tensor: torch.Tensor, element: str) -> Matrix:
    return Matrix(tensor.data_ptr(), *tensor.shape, *tensor.stride(), element)


def by_torch(
    kind: Kind, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor
) -> Callable[[], torch.Tensor]:
    """cuBLAS or cuBLASLt, by the function that torch has for the types."""
    if kind.element == "s8":
        return lambda: torch._int_mm(a, b)
    if kind.element == "e4m3":
        one = torch.ones((), device="cuda")
        fast = kind.accumulate == "native"
        return lambda: torch._scaled_mm(
            a, b, scale_a=one, scale_b=one, out_dtype=c.dtype, use_fast_accum=fast
        )
    return lambda: torch.matmul(a, b, out=c)


def error(kind: Kind, c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest deviation in sampled rows (the last ones too), in units of what rounding the
    output and summing allow: float32, or 14 bits for 8-bit floats, of whose sums those of 128 are
    added in float32 where they are promoted. Integers deviate by nothing.
    """
    rows = torch.unique(
        torch.cat((
            torch.randint(c.shape[0], (SAMPLED_ROWS,), device="cuda"),
            torch.arange(max(0, c.shape[0] - 3), c.shape[0], device="cuda"),
        ))
    )  # fmt: skip
    # torch takes no rows of 8-bit floats.
    left, right = as_read(kind, a).double()[rows], as_read(kind, b).double()
    exact = left @ right
    deviation = (c[rows].double() - exact).abs()
    if kind.out == "s32":
        return float("inf") if deviation.max() > 0 else 0.0
    depth = a.shape[1] + 4
    sums = depth * 2.0**-23
    if kind.element == "e4m3":
        sums += (min(depth, 132) if kind.accumulate == "promoted" else depth) * 2.0**-12
    unit = torch.finfo(c.dtype).eps / 2
    bound = unit * exact.abs() + sums * (left.abs() @ right.abs()) + 1e-30
    worst = (deviation / bound).nan_to_num(nan=float("inf"), posinf=1e9)
    return float("inf") if torch.isnan(c).any() else float(worst.max())


def as_read(kind: Kind, x: torch.Tensor) -> torch.Tensor:
    """As the tensor core reads it: of tf32 the lower 13 bits are not looked at."""
    if kind.element != "tf32":
        return x
    return (x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)


def poison(c: torch.Tensor) -> None:
    c.fill_(float("nan") if c.dtype.is_floating_point else -(2**31))


class Graphs:
    """Contenders, each captured once and replayed in turn."""

    def __init__(self, rounds: int = ROUNDS, round_us: float = ROUND_US) -> None:
        self.rounds, self.round_us = rounds, round_us
        self.stream = torch.cuda.Stream()
        self.graphs: dict[str, harness.Captured] = {}

    def add(self, name: str, calls: list[Callable[[], Any]]) -> None:
        """`calls` are one call for each set of inputs, all on :attr:`stream`."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.stream):
            calls[0]()
            start.record()
            for i in range(4):
                calls[i % len(calls)]()
            end.record()
        torch.cuda.synchronize()
        each = max(start.elapsed_time(end) * 1000 / 4, 2.0)
        count = max(2, min(200, int(self.round_us / each)))
        self.graphs[name] = harness.captured(calls, count, self.stream)

    def times(self) -> dict[str, float]:
        """Microseconds of one call."""
        found: dict[str, list[float]] = {name: [] for name in self.graphs}
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for turn in range(self.rounds + 1):
            names = list(self.graphs)
            names = names[turn % len(names) :] + names[: turn % len(names)]
            for name in names:
                one = self.graphs[name]
                with torch.cuda.stream(self.stream):
                    start.record()
                    one.graph.replay()
                    end.record()
                torch.cuda.synchronize()
                if turn:
                    found[name].append(start.elapsed_time(end) * 1000 / one.count)
        return {name: statistics.median(values) for name, values in found.items()}


def by_hand(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Callable[[], Any]:
    """What a careful user does: pad to multiples of 8, multiply, slice."""
    (m, k), n = a.shape, b.shape[1]
    pads = [-x % 8 for x in (m, n, k)]
    pad = torch.nn.functional.pad

    def call() -> None:
        product = pad(a, (0, pads[2], 0, pads[0])) @ pad(b, (0, pads[1], 0, pads[2]))
        c.copy_(product[:m, :n])

    return call


def neighbour(case: Case) -> Case:
    """The case with all sizes from 8 on rounded to the nearest multiple of 8, up from the middle:
    16-bit rows of that length start at multiples of 16 bytes, as cuBLAS and tensor copies want it.
    """
    m, n, k = (size if size < ALIGNED else (size + 4) // ALIGNED * ALIGNED for size in case[:3])
    return m, n, k, case[3]


def matrices(
    case: Case, kind: Kind, sets: int
) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """A and B, random, and C, so many of each."""
    m, n, k, layout = case
    dtype = torch_type(kind.element)
    return [
        (
            operand(m, k, layout[0], dtype),
            operand(k, n, layout[1], dtype),
            torch.empty(m, n, device="cuda", dtype=torch_type(kind.out)),
        )
        for _ in range(sets)
    ]


def run(
    case: Case, type: str, tilings: Mapping[str, Choice | None], odd: bool, *,
    rounds: int = ROUNDS, round_us: float = ROUND_US,
) -> dict[str, Any]:  # fmt: skip
    (m, n, k, layout), kind = case, KINDS[type]
    sets = 3 if m * k + n * k < 5e7 else 2
    rotated = matrices(case, kind, sets)
    graphs, device, errors, plans = Graphs(rounds, round_us), ptx.device("cuda:0"), {}, {}
    graphs.add("torch", [by_torch(kind, *one) for one in rotated])
    if odd:
        graphs.add("by hand", [by_hand(*one) for one in rotated])
        aligned = matrices(neighbour(case), kind, sets)
        graphs.add("neighbour", [by_torch(kind, *one) for one in aligned])
    for name, tiling in tilings.items():
        try:
            made = [
                hopper.plan(
                    device, matrix(c, kind.out), matrix(a, kind.element), matrix(b, kind.element),
                    tiling=tiling, accumulate=kind.accumulate, stream=graphs.stream.cuda_stream,
                )
                for a, b, c in rotated
            ]  # fmt: skip
        except ValueError as problem:
            print(f"  {name}: {problem}", file=sys.stderr)
            continue
        a, b, c = rotated[0]
        poison(c)
        torch.cuda.synchronize()
        made[0]()
        torch.cuda.synchronize()
        errors[name] = error(kind, c, a, b)
        plans[name] = made
        graphs.add(name, list(made))
    return {
        "case": f"{m}x{n}x{k} {layout}", "type": type, "us": graphs.times(), "errors": errors,
        "tilings": {name: shown(made[0].tiling) for name, made in plans.items()},
    }  # fmt: skip


def shown(choice: Choice) -> str:
    if not isinstance(choice, Tiling):
        return choices.shown(choice)
    last = f" last_slices {choice.last_slices}" if choice.last_slices < SLICES else ""
    return f"{choices.shown(choice)} {choice.store}{last}"


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("hopper", __doc__)
    parser.add_argument("--group", action="append", choices=list(GROUPS))
    parser.add_argument("--type", action="append", choices=list(KINDS))
    parser.add_argument("--tilings", action="store_true", help="try every tiling, not the chosen")
    parser.add_argument(
        "--check", type=int, default=0, metavar="COUNT", help="random products to check afterwards"
    )
    options = harness.asked(parser, arguments)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_tf32 = True
    rows = []
    for group in options.group or GROUPS:
        for type, kind in KINDS.items():
            asked = type in options.type if options.type else True
            if group not in kind.groups or not asked:
                continue
            for case in GROUPS[group]:
                tilings: dict[str, Tiling | None] = {"ptxgemm": None}
                if options.tilings:
                    tilings |= TILINGS
                result = run(case, type, tilings, odd=group.endswith("odd"))
                report(result)
                rows.append({"group": group} | result)
            summarise(group, type, rows)
    if options.record:
        print(harness.record("hopper", rows))
    wrong = sum(error > 1 for row in rows for error in row["errors"].values())
    if options.check:
        wrong += hopper_check.run(ptx.device("cuda:0"), options.check, 0, 700)
    return bool(wrong)


def summarise(group: str, type: str, rows: list[dict[str, Any]]) -> None:
    """The geometric mean and the least of torch's time to ours."""
    ratios = [
        row["us"]["torch"] / row["us"]["ptxgemm"]
        for row in rows
        if (row["group"], row["type"]) == (group, type) and "ptxgemm" in row["us"]
    ]
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"{group}, {type}: geometric mean {mean:.3f}, least {min(ratios):.3f}", flush=True)


def report(result: dict[str, Any]) -> None:
    us = result["us"]
    row = [f"{result['case']:22} {result['type']} torch {us['torch']:8.1f} us"]
    for name, value in us.items():
        if name != "torch":
            error = result["errors"].get(name)
            bad = "" if error is None or error <= 1 else f" WRONG({error:.3g})"
            row.append(f"{name} {value:.1f} x{us['torch'] / value:.3f}{bad}")
    print(" | ".join(row), "|", result["tilings"].get("ptxgemm", ""), flush=True)


if __name__ == "__main__":
    sys.exit(main())
