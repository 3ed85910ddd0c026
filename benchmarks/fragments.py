"""Fragments and the GEMM kernels on them, on a GPU: maps, equality with the emulator, speed.

    python -m benchmarks.fragments [--maps] [--equality] [--speed] [--tilings] [--record]

Without a choice, all but `--tilings`. `--maps` measures where wmma's loads put the elements, which
the manual leaves open, and compares them with :func:`ptx.layouts.wmma_fragment`. `--equality`
runs every product of the tests on the card and on the emulator, sparse ones too, and tells how many
results are equal to the bit. `--speed` compares with torch, in replayed graphs side by side. What
was to be reached is told last, line by line, and is recorded with the rest; what was not, or was
wrong, makes the exit status 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

import ptx
import ptxgemm
from benchmarks import harness
from ptx import layouts
from ptx.devices import Device
from ptx.emu.faults import Unmodelled
from ptxgemm.blocking import Blocking
from ptxgemm.tail import Tail
from ptxgemm.warp_gemm import Family, Matrix, blocking_for, plan

SIZE = 4096
SPEED: list[tuple[str, str, str, Family | Literal["matmul"]]] = [
    ("f64", "f64", "NN", "mma"), ("f64", "f64", "NT", "mma"),
    ("f64", "f64", "NN", "matmul"), ("f64", "f64", "NT", "matmul"),
    ("f16", "f16", "NN", "mma"), ("f16", "f16", "NT", "mma"),
    ("bf16", "bf16", "NN", "mma"), ("tf32", "f32", "NN", "mma"), ("tf32", "f32", "NT", "mma"),
    ("s8", "s32", "NT", "mma"), ("s8", "s32", "NN", "mma"), ("s8", "s32", "TN", "mma"),
    ("f16", "f16", "NN", "wmma"), ("f64", "f64", "NN", "wmma"),
]  # fmt: skip
"""Element, output, layouts of A and B, and the family of instructions, or the library's call. torch
multiplies int8 as NT alone, which is its time for all layouts."""
GOALS = [
    ("mma f64 4096x4096x4096 NN", 0.97), ("mma f64 4096x4096x4096 NT", 0.97),
    ("matmul f64 4096x4096x4096 NN", 1.0), ("matmul f64 4096x4096x4096 NT", 1.0),
    ("mma f16 4096x4096x4096 NN", 0.60), ("mma bf16 4096x4096x4096 NN", 0.60),
]  # fmt: skip
"""Cases of `--speed`, and torch's time over ours that is to be reached."""
EXACT = ("f64", "s32")
"""Results that are equal to the bit, all of them."""
ODD = [("f16", "f16", "NN", (4095, 4097, 1023)), ("f64", "f64", "NN", (4095, 4097, 1023))]


def tilings(element: str, out: str) -> dict[str, Blocking]:
    """What `--tilings` tries besides the default."""
    sum = {"f64": "f64", "s8": "s32"}.get(element, "f32")
    base = blocking_for(element, element, sum, out, 90)
    if element == "f64":
        return {
            "exact": replace(base, exact=True, tail=Tail(edge="exact")),
            "g4": replace(base, group=4),
            "g16": replace(base, group=16),
            "4x2": replace(base, warps_m=4, warps_n=2),
            "128x64 x2": replace(base, tile_n=64, warps_n=2, stages=2, ctas_per_sm=2),
            "64x128 x2": replace(base, tile_m=64, warps_m=1, stages=2, ctas_per_sm=2),
        }
    return {
        "exact": replace(base, exact=True, tail=Tail(edge="exact")),
        "s3": replace(base, stages=3),
        "s5": replace(base, stages=5),
        "l128 s3": replace(base, line_bytes=128, stages=3),
        "128x256": replace(base, tile_n=256, warps_n=4, stages=5, ctas_per_sm=1),
        "256x128": replace(base, tile_m=256, warps_m=4, stages=5, ctas_per_sm=1),
        "128x256 l128": replace(
            base, tile_n=256, warps_n=4, line_bytes=128, stages=4, ctas_per_sm=1, target=90
        ),
        "g16": replace(base, group=16),
    }


# ---------------------------------------------------------------- maps and equality


def maps(card: Device) -> list[dict[str, Any]]:
    from tests.fragments.maps import measured_map
    from tests.fragments.test_products import wmma_loads

    rows = []
    for shape, operand, type, layout in wmma_loads():
        found = measured_map(card, shape, operand, type, layout)
        same = found == layouts.wmma_fragment(shape, operand, type).places
        rows.append({"map": f"{shape} {operand} {type} {layout}", "as_expected": same})
        if not same:
            print(f"  {rows[-1]['map']} is different; lanes 0 to 5: {found[:6]}")
    print(f"maps of wmma: {sum(row['as_expected'] for row in rows)} of {len(rows)} as expected")
    return rows


def equality(card: Device) -> list[dict[str, Any]]:
    from tests.fragments.products import check
    from tests.fragments.tables import MMA, WMMA
    from tests.fragments.test_sparse import PRODUCTS, multiply

    emulator = ptx.device("emulator")
    rates: dict[str, list[float]] = {}

    def compare(name: str, run: Callable[[Device, int], Any]) -> None:
        try:
            both = [run(device, seed) for seed in (1, 2) for device in (card, emulator)]
        except (AssertionError, Unmodelled) as problem:
            print(f"  WRONG: {name}: {problem}", file=sys.stderr)
            rates.setdefault(name, []).append(0.0)
            return
        got, wanted = np.stack(both[::2]), np.stack(both[1::2])
        rates.setdefault(name, []).append(float(np.mean(got == wanted)))

    for p in (*WMMA, *MMA):
        if p.how == "load" and not p.satfinite:
            name = f"{p.family} {p.d}.{p.a}.{p.b}.{p.c}"
            compare(name, lambda device, seed, p=p: check(device, p, True, seed))
    for product in PRODUCTS:
        _, a, b, c, _ = product
        name = f"mma.sp {c}.{a}.{b}.{c}"
        compare(name, lambda device, seed, product=product: multiply(device, product, seed))
    rows = [{"product": name, "equal_bits": float(np.mean(of))} for name, of in rates.items()]
    for row in rows:
        print(f"  {row['product']:24} equal to the bit: {row['equal_bits']:.4f}")
    return rows


# ---------------------------------------------------------------- what was to be reached


def judged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each goal that the rows have measured: ``reached`` or not, and how far."""
    found: list[dict[str, Any]] = []
    maps = [row for row in rows if "map" in row]
    if maps:
        share = sum(row["as_expected"] for row in maps) / len(maps)
        found.append({"goal": "maps of wmma as expected", "wanted": 1.0, "got": share})
    for row in rows:
        if row.get("product", "").split(" ")[-1].split(".")[0] in EXACT:
            goal = f"{row['product']} equal to the bit"
            found.append({"goal": goal, "wanted": 1.0, "got": row["equal_bits"]})
    times = {row["case"]: row for row in rows if "case" in row}
    for case, wanted in GOALS:
        if case in times:
            us = times[case]["us"]
            found.append({"goal": case, "wanted": wanted, "got": us["torch"] / us["ptxgemm"]})
    for case, row in times.items():
        for name, error in row["errors"].items():
            if not error <= 1:
                found.append({"goal": f"{case} {name} within its bound", "wanted": 1, "got": 0})
    return [{**row, "reached": row["got"] >= row["wanted"]} for row in found]


# ---------------------------------------------------------------- speed


def speed(
    card: Device, element: str, out: str, layout: str, family: Family | Literal["matmul"],
    size: Any, tried: bool,
) -> dict[str, Any]:  # fmt: skip
    import torch

    from benchmarks.hopper import Graphs

    m, n, k = size
    dtypes = {
        "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32,
        "s8": torch.int8, "f32": torch.float32, "s32": torch.int32,
    }  # fmt: skip
    torch.backends.cuda.matmul.allow_tf32 = element == "tf32"

    def operand(rows: int, columns: int, by_columns: bool) -> Any:
        shape = (columns, rows) if by_columns else (rows, columns)
        if element == "s8":
            made = torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
        else:
            made = torch.randn(shape, device="cuda", dtype=torch.float32).to(dtypes[element])
        return made.t() if by_columns else made

    def matrix(tensor: Any, name: str) -> Matrix:
        return Matrix(tensor.data_ptr(), *tensor.shape, *tensor.stride(), name)

    a, b = operand(m, k, layout[0] == "T"), operand(k, n, layout[1] == "T")
    c = torch.empty(m, n, device="cuda", dtype=dtypes[out])
    peer = torch.empty_like(c)
    graphs, errors = Graphs(), {}
    if element == "s8":
        own = a.contiguous(), b.t().contiguous().t()
        graphs.add("torch", [lambda: torch._int_mm(*own, out=peer)])
    else:
        graphs.add("torch", [lambda: torch.matmul(a, b, out=peer)])
    wanted: dict[str, Blocking | None] = {"ptxgemm": None}
    if tried:
        wanted |= tilings(element, out)
    for name, blocking in wanted.items():
        made: Callable[[], Any]
        try:
            if family == "matmul":
                made = partial(ptxgemm.matmul, a, b, out=c)
            else:
                made = plan(
                    card, matrix(c, out), matrix(a, element), matrix(b, element), family=family,
                    blocking=blocking, stream=graphs.stream.cuda_stream,
                )  # fmt: skip
        except (ValueError, ptx.PtxError) as problem:
            print(f"  {name}: {problem}", file=sys.stderr)
            continue
        c.zero_()
        torch.cuda.synchronize()
        made()
        torch.cuda.synchronize()
        errors[name] = _error(torch, a, b, c, peer, element)
        graphs.add(name, [made])
    us = graphs.times()
    row = {
        "case": f"{family} {element} {m}x{n}x{k} {layout}", "us": us, "errors": errors,
        "tflops": {name: 2e-6 * m * n * k / value for name, value in us.items()},
    }  # fmt: skip
    told = [f"{row['case']:32} torch {us['torch']:9.1f} us"]
    for name, error in errors.items():
        bad = "" if error <= 1 else f" WRONG({error:.3g})"
        told.append(f"{name} {us[name]:.1f} x{us['torch'] / us[name]:.3f}{bad}")
    print(" | ".join(told), flush=True)
    return row


def _error(torch: Any, a: Any, b: Any, c: Any, peer: Any, element: str) -> float:
    """The largest deviation of some rows, the last ones too, from float64, by the bound."""
    if element == "s8":
        return 0.0 if torch.equal(c, peer) else float("inf")
    rows = torch.cat((torch.arange(c.shape[0] - 3, c.shape[0]), torch.randint(c.shape[0], (61,))))
    rows = rows.cuda()
    exact = a[rows].double() @ b.double()
    sizes = a[rows].double().abs() @ b.double().abs()
    sums = {"f64": 2.0**-53, "tf32": 2.0**-10}.get(element, 2.0**-23)
    scale = 1 if element == "tf32" else a.shape[1] + 4
    bound = torch.finfo(c.dtype).eps / 2 * exact.abs() + scale * sums * sizes + 1e-300
    worst = ((c[rows].double() - exact).abs() / bound).nan_to_num(nan=float("inf"))
    return float(worst.max())


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("fragments", __doc__)
    for name in ("maps", "equality", "speed", "tilings"):
        parser.add_argument(f"--{name}", action="store_true")
    options = harness.asked(parser, arguments)
    every = not (options.maps or options.equality or options.speed or options.tilings)
    card = ptx.device("cuda:0")
    rows: list[dict[str, Any]] = []
    if options.maps or every:
        rows += maps(card)
    if options.speed or options.tilings or every:
        for element, out, layout, family in SPEED:
            tried = options.tilings and family == "mma" and layout == "NN"
            rows.append(speed(card, element, out, layout, family, (SIZE,) * 3, tried))
        for element, out, layout, size in ODD:
            rows.append(speed(card, element, out, layout, "mma", size, False))
    if options.equality or every:
        rows += equality(card)
    goals = judged(rows)
    for goal in goals:
        word = "reached" if goal["reached"] else "MISSED"
        print(f"{word:8} {goal['goal']}: {goal['got']:.4f}, wanted {goal['wanted']:g}")
    if options.record:
        print(harness.record("fragments", rows + goals))
    return 0 if all(goal["reached"] for goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
