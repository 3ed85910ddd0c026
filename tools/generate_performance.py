"""Write ``docs/performance.md`` from what ``benchmarks/results`` records.

python tools/generate_performance.py           write it
python tools/generate_performance.py --check   exit 1 where it is not what the results give now
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import generated

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"
README = ROOT / "README.md"

Row = dict[str, Any]

HEADER = """# Performance

Written by `tools/generate_performance.py` from `benchmarks/results/`; every line there names the
card, the driver, the date, the commit and the command. "torch" is `torch.matmul`, for 8-bit floats
`torch._scaled_mm` and for 8-bit integers `torch._int_mm`, that is cuBLAS, timed in the same run on
random data, inputs rotated, outputs poisoned before and checked after. A ratio is torch's time over
ours: above 1 ours is faster. Layouts are those of A and B: N is row-major, T column-major. "Padded
by hand" are torch's time and that of copies of A and B to whole multiples, on which cuBLAS is fast.
What `matmul` takes in float32 on the FP32 pipes is in [tails.md](tails.md), at "auto".
"""


def rows(name: str) -> list[Row]:
    """The lines of one benchmark; none where it was never recorded."""
    path = RESULTS / f"{name}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def latest(found: Iterable[Row], *keys: str) -> list[Row]:
    """The newest row for each value of `keys`, in the order of first appearance."""
    by_key: dict[tuple[Any, ...], Row] = {}
    for row in found:
        by_key[tuple(row[key] for key in keys)] = row
    return list(by_key.values())


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(line) + " |" for line in body])


def source(row: Row) -> str:
    """Where a table's numbers come from, as one line."""
    where = f"{row['card']}, driver {row['driver']}" if "card" in row else row["machine"]
    return f"\n{where}, {row['date'][:10]}, commit `{row['commit']}`: `{row['command']}`\n"


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def hopper() -> str:
    """Tensor-core products on Hopper, a section for each group of cases."""
    titles = {
        "square": "bf16 and f16 by wgmma: squares and large layers",
        "odd": "bf16 and f16 by wgmma: sizes that are multiples of nothing",
        "small": "bf16 and f16 by wgmma: few rows",
        "small odd": "bf16 and f16 by wgmma: few rows, sizes that are multiples of nothing",
        "tf32": "tf32 by wgmma",
        "fp8": "8-bit floats by wgmma",
        "int8": "8-bit integers by wgmma",
    }
    found = latest(rows("hopper"), "group", "case", "type")
    text = ""
    for group, title in titles.items():
        here = [row for row in found if row["group"] == group]
        if not here:
            continue
        text += f"\n## {title}\n\n{_products(here)}\n"
        if any("neighbour" in row["us"] for row in here):
            text += f"\n{NEIGHBOUR}\n"
        for type in dict.fromkeys(row["type"] for row in here):
            ratios = [r["us"]["torch"] / r["us"]["ptxgemm"] for r in here if r["type"] == type]
            text += f"\nGeometric mean in {type}: {geometric_mean(ratios):.3f}.\n"
        text += source(here[-1])
    return text


NEIGHBOUR = """\
"Neighbour" is torch's time where sizes of 8 and more are the nearest multiples of 8, "over
neighbour" ours over it."""


def _products(here: Sequence[Row]) -> str:
    """The table of a group, with the columns of the contenders that it has."""
    beside = {"by hand": ("padded by hand us", 0), "neighbour": ("neighbour us", 1)}
    there = [name for name in beside if any(name in row["us"] for row in here)]
    over = "neighbour" in there
    head = ["M x N x K, layouts", "type", "torch us", *(beside[name][0] for name in there),
            "ours us", "ratio", *(["over neighbour"] * over)]  # fmt: skip
    body = []
    for row in here:
        us = row["us"]
        ours = us["ptxgemm"]
        body.append(
            [
                row["case"],
                row["type"],
                f"{us['torch']:.1f}",
                *(f"{us[one]:.{beside[one][1]}f}" if one in us else "-" for one in there),
                f"{ours:.1f}",
                f"{us['torch'] / ours:.2f}",
                *([f"{ours / us['neighbour']:.2f}" if "neighbour" in us else "-"] * over),
            ]  # fmt: skip
        )
    return table(head, body)


def random_products() -> list[Row]:
    """Those that were recorded last. With those before them the model of the kernels' cost was
    fitted, and chose otherwise itself.
    """
    found = rows("choices")
    return [row for row in found if row["commit"] == found[-1]["commit"]]


def choices() -> str:
    """Random products: what is chosen beside the fastest of all choices, and beside torch."""
    found = random_products()
    if not found:
        return ""
    body = []
    kinds = {"multiples of 64": 64, "multiples of 8, not of 64": 8, "not of 8": 1}
    for title, multiple in kinds.items():
        here = [row for row in found if _multiple(row["case"]) == multiple]
        if not here:
            continue
        ratios = sorted(row["torch"] / row["chosen"] for row in here)
        fastest = [row["chosen"] / min(row["us"].values()) for row in here]
        body.append(
            [
                title,
                str(len(here)),
                f"{geometric_mean(ratios):.2f}",
                f"{ratios[len(ratios) // 10]:.2f}",
                f"{ratios[-1 - len(ratios) // 10]:.2f}",
                f"{sum(ratio < 1 for ratio in ratios) / len(ratios):.0%}",
                f"{geometric_mean(fastest):.3f}",
            ]
        )
    head = ["M, N, K", "products", "geometric mean", "a tenth is below", "a tenth is above",
            "slower than torch", "over the fastest choice"]  # fmt: skip
    return f"""
## Random products

M and N up to 8192, K up to 16384, some with fewer than 64 rows, all layouts, in bf16; what the
model of the kernels' cost chooses, beside torch and beside the fastest of all choices.

{table(head, body)}
{source(found[-1])}"""


def _multiple(case: str) -> int:
    sizes = [int(size) for size in case.split()[0].split("x")]
    return next(by for by in (64, 8, 1) if all(size % by == 0 for size in sizes))


def narrow() -> str:
    """What measuring the tiles of products of few rows gains over the model of their cost."""
    found = latest(rows("narrow"), "case", "type")
    if not found:
        return ""
    body = [
        [
            row["case"],
            row["type"],
            *(f"{row['us'][by]:.2f}" for by in ("torch", "modelled", "ptxgemm")),
            f"{row['us']['modelled'] / row['us']['ptxgemm']:.3f}",
            f"`{row['commit']}`",
        ]
        for row in found
    ]
    head = ["M x N x K, layouts", "type", "torch us", "model's choice us", "fastest choice us",
            "gain", "commit"]  # fmt: skip
    about = (
        "`python -m ptxgemm tune` measures tiles where `matmul` goes by a model of their cost,\n"
        "and keeps the fastest; a table of such choices comes with the package (`ptxgemm/tuned`).\n"
        "The model's choice is that of the model as it was at the commit."
    )
    sources = (source(row) for row in latest(found, "commit"))
    return f"\n## What tuning gains\n\n{about}\n\n{table(head, body)}\n" + "".join(sources)


def fragments() -> str:
    """Products on ``mma.sync`` and ``wmma``, and how often the emulator gives the card's bits."""
    found = rows("fragments")
    products = latest((row for row in found if "case" in row), "case")
    if not products:
        return ""
    body = [
        [
            row["case"],
            f"{row['us']['torch']:.1f}",
            f"{row['us']['ptxgemm']:.1f}",
            f"{row['tflops']['ptxgemm']:.1f}",
            f"{row['us']['torch'] / row['us']['ptxgemm']:.2f}",
        ]  # fmt: skip
        for row in products
    ]
    head = ["instruction, type, M x N x K, layouts", "torch us", "ours us", "TFLOP/s", "ratio"]
    text = (
        "\n## mma.sync and wmma\n\nOn Hopper torch multiplies 16-bit types by wgmma, which mma.sync"
        " cannot reach: in these the kernels\nare for older cards. float64 has no other instruction"
        f" on Hopper.\n\n{table(head, body)}\n"
    )
    maps = latest((row for row in found if "map" in row), "map")
    bits = latest((row for row in found if "product" in row), "product")
    if maps and bits:
        as_expected = sum(row["as_expected"] for row in maps)
        text += (
            f"\n{as_expected} of {len(maps)} maps of wmma's loads are on the card what "
            "`ptx.layouts` says. Random products of\n"
            f"{len(bits)} kinds (instructions and types, sparse ones too) on the emulator beside "
            f"the card: the least\nshare of results that are equal to the last bit is "
            f"{min(row['equal_bits'] for row in bits):g}.\n"
        )
    return text + source(products[-1])


def sgemm() -> str:
    """The SGEMM of whole tiles, by what becomes of its last prefetch."""
    found = latest(rows("sgemm"), "kernel", "m", "n", "k")
    if not found:
        return ""
    kernels = [k for k in dict.fromkeys(row["kernel"] for row in found) if k != "torch"]
    sizes = dict.fromkeys((row["m"], row["n"], row["k"]) for row in found)
    by_key = {(row["kernel"], (row["m"], row["n"], row["k"])): row for row in found}
    body = [
        [
            " x ".join(map(str, size)),
            f"{by_key['torch', size]['tflops']:.1f}",
            *(
                f"{by_key[kernel, size]['torch_over_us']:.3f}" if (kernel, size) in by_key else "-"
                for kernel in kernels
            ),
        ]
        for size in sizes
    ]
    head = ["M x N x K", "torch TFLOP/s", *(f"{kernel}, ratio" for kernel in kernels)]
    about = (
        "One kernel, `ptxgemm.sgemm`, with tiles of 128 x 128 x 8 at every size: of 512 x 512 it\n"
        "has 16, for 132 SMs. `matmul` takes other tiles there: [tails.md](tails.md) has its\n"
        "times, and what the forms are. `L2::128B` has each load fetch 128 bytes into the L2 cache."
    )
    title = "SGEMM: the last K step's prefetch, by form"
    return f"\n## {title}\n\n{about}\n\n{table(head, body)}\n" + source(found[-1])


def host() -> str:
    """Host time of a launch, and of writing kernels."""
    text = ""
    launches = latest(rows("launch_cost"), "launch")
    if launches:
        body = [[row["launch"], f"{row['host_us']:.2f}"] for row in launches]
        text += f"\n## Host time of a launch\n\n{table(['call', 'us'], body)}\n"
        text += source(launches[-1])
    calls = latest(rows("call_cost"), "call")
    if calls:
        body = [[row["call"], f"{row['host_us']:.2f}"] for row in calls]
        text += f"\n## Host time of a product, 128 x 128 x 128\n\n{table(['call', 'us'], body)}\n"
        text += source(calls[-1])
    written = [row for row in latest(rows("emission"), "kernel") if "instructions" in row]
    if written:
        body = [
            [
                row["kernel"],
                str(row["instructions"]),
                f"{row['build_s'] * 1e3:.0f}",
                f"{row['check_s'] * 1e3:.0f}",
                f"{row['print_s'] * 1e3:.0f}",
                f"{row['parse_mb_per_s']:.1f}",
            ]  # fmt: skip
            for row in written
        ]
        head = ["kernel", "instructions", "build ms", "check ms", "print ms", "parse MB/s"]
        about = (
            "Building checks the operands of each instruction, checking follows data and control\n"
            "flow. The SGEMM is that of `ptxgemm.SEED`, 128 x 128 x 8."
        )
        text += f"\n## Writing kernels\n\n{about}\n\n{table(head, body)}\n" + source(written[-1])
    return text


def reading() -> str:
    """How fast PTX is read, and on how many mistakes the author's line is named."""
    text = ""
    parsed = latest(rows("parse"), "text", "who")
    if parsed:
        body = [[row["text"], row["who"], *_parsed(row)] for row in parsed]
        head = ["text", "parser", "parse MB/s", "check MB/s"]
        about = (
            '"compilers" is what nvcc, clang and Triton print; "one kernel" is long, of six kinds\n'
            "of instructions by lot."
        )
        text += f"\n## Reading PTX\n\n{about}\n\n{table(head, body)}\n" + source(parsed[-1])
    mistakes = rows("mistakes")
    if mistakes:
        last = mistakes[-1]
        text += (
            "\n## Mistakes\n\n"
            f"Of {last['mistakes']} mistakes that kernel authors make, half of them made by "
            f"machine from correct kernels, ptx\nnames the author's line of {last['named']}, with "
            f"{last['false_alarms']} false alarms on the right versions. Of the "
            f"{last['pyptx_can_express']} that\ncan be written in pyptx {last['pyptx']}, it names "
            f"{last['pyptx_named']}. `benchmarks/mistakes.py` says where they come from.\n"
        )
        text += source(last)
    return text


def _parsed(row: Row) -> list[str]:
    if "gives_up_after_s" in row:
        return ["gives up", "-"]
    check = f"{row['check_mb_per_s']:.1f}" if "check_mb_per_s" in row else "-"
    return [f"{row['parse_mb_per_s']:.1f}", check]


def emulator() -> str:
    """The emulator beside others on a product, and what an instruction costs it by lanes."""
    found = rows("emulator_speed")
    products = latest((row for row in found if row["what"] == "sgemm"), "by", "size")
    steps = latest((row for row in found if row["what"] == "step"), "lanes")
    if not steps:
        return ""
    body = [
        [
            row["by"],
            f"{row['size']}^3",
            f"{row['first_s']:.2f}",
            f"{row['second_s']:.2f}",
            f"{row['mfma_per_s']:.3g}",
        ]  # fmt: skip
        for row in products
    ]
    head = ["emulator", "float32 product", "first s", "second s", "million multiply-adds/s"]
    curve = [
        [
            str(row["lanes"]),
            f"{row['us_per_instruction']:.1f}",
            f"{row['us_per_instruction'] / steps[0]['us_per_instruction']:.2f}",
            f"{1e3 * row['us_per_instruction'] / row['lanes']:.2f}",
        ]  # fmt: skip
        for row in steps
    ]
    lanes = ["lanes at once", "us an fma", "over 32 lanes", "ns a lane"]
    return (
        "\n## The emulator\n\n"
        "Triton's interpreter gives whole tiles to numpy's dot and numba's simulator runs each\n"
        "thread as one of Python's; neither sees an instruction. Ours executes the PTX, with all\n"
        f"checks on.\n\n{table(head, body)}\n\n"
        "The cost of one instruction by the lanes that it moves at once:\n\n"
        f"{table(lanes, curve)}\n" + source(steps[-1])
    )


def page() -> str:
    kernels = hopper() + choices() + narrow() + fragments() + sgemm()
    return HEADER + kernels + host() + reading() + emulator()


def ratio_line(title: str, ratios: Sequence[float]) -> list[str]:
    mean = geometric_mean(ratios)
    return [title, f"{mean:.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}"]


def _even(row: Row) -> bool:
    """Whether all extents are multiples of what tiles are made of."""
    return all(row[extent] % 32 == 0 for extent in "mnk")


def summary() -> str:
    """The README's figures."""
    lines = []
    titles = {
        "square": "bf16 and f16, squares of 2048 to 8192 and large layers (wgmma)",
        "odd": "bf16 and f16, sizes that are multiples of nothing (wgmma)",
        "small": "bf16 and f16, 1 to 128 rows of large layers (wgmma)",
        "tf32": "tf32, squares of 2048 to 8192 and 4095x4097x1023 (wgmma)",
        "fp8": "8-bit floats, squares of 2048 to 8192 (wgmma)",
        "fp8 promoted": "8-bit floats promoted to float32 sums every 128 of K (wgmma)",
        "int8": "8-bit integers, squares of 2048 to 8192 (wgmma)",
    }
    products = latest(rows("hopper"), "group", "case", "type")
    for group, title in titles.items():
        ratios = [
            row["us"]["torch"] / row["us"]["ptxgemm"]
            for row in products
            if row["group"] + " promoted" * row["type"].endswith("promoted") == group
        ]
        if ratios:
            lines.append(ratio_line(title, ratios))
    random = [row["torch"] / row["chosen"] for row in random_products()]
    singles = [r for r in latest(rows("tails"), "policy", "m", "n", "k") if r["policy"] == "auto"]
    products = latest((r for r in rows("fragments") if "case" in r), "case")
    even = [r["torch_over_us"] for r in singles if _even(r)]
    odd = [r["torch_over_us"] for r in singles if not _even(r)]
    doubles = [
        r["us"]["torch"] / r["us"]["ptxgemm"] for r in products if r["case"].startswith("mma f64")
    ]
    for title, ratios in (
        ("bf16, random sizes and layouts (wgmma)", random),
        ("float32, squares of 512 to 8192 (FFMA)", even),
        ("float32, sizes that are no multiples of 32 (FFMA)", odd),
        ("float64, 4096x4096x4096 and 4095x4097x1023 (mma.sync)", doubles),
    ):
        if ratios:
            lines.append(ratio_line(title, ratios))
    head = ["on one H200", "speed over cuBLAS, geometric mean", "range"]
    return f"{START}\n{table(head, lines)}\n{END}"


START, END = "<!-- figures: tools/generate_performance.py -->", "<!-- end of figures -->"


def readme() -> str:
    """The README with its figures brought up to date."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    return before + summary() + rest.partition(END)[2]


if __name__ == "__main__":
    sys.exit(generated.main(__doc__, lambda: {PAGE: page(), README: readme()}))
