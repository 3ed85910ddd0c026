"""How fast kernels are written: 40,000 instructions, an SGEMM; PTX parsed; ptx imported.

    python -m benchmarks.emission [--record]

CPU seconds, best of several. Building includes the check of every operand; checking is that of the
whole kernel; printing ends with the PTX text.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import ptx
from benchmarks import harness
from ptxgemm.kernels.simt import sgemm

INSTRUCTIONS = 40_000


def long_kernel() -> ptx.Kernel:
    """A kernel of the mix that GEMM kernels have: fma, ld and st by vectors, integer arithmetic."""
    k = ptx.Kernel("long", n="u32", x="global.f32@16", y="global.f32@16")
    n, x, y = k.params()
    sums = [k.mov.f32(float(i)) for i in range(64)]
    count = 64 + 5
    while count < INSTRUCTIONS - 17:
        at = x + k.mul.wide.u32(n, 16)
        values = k.ld.global_.v4.f32(at)
        for i, total in enumerate(sums):
            k.fma.rn.f32(values[i % 4], values[(i + 1) % 4], total, out=total)
        k.st.global_.v4.f32(y, sums[:4])
        k.add.u32(n, 1, out=n)
        count += 69
    for i in range(0, 64, 4):
        k.st.global_.v4.f32(y + 4 * i, sums[i : i + 4])
    k.ret()
    return k


def measure(name: str, make: Callable[[], ptx.Kernel], repeats: int) -> dict[str, Any]:
    best: dict[str, float] = {}
    text = ""
    for _ in range(repeats):
        start = time.process_time()
        kernel = make()
        built = time.process_time()
        module = ptx.Module(kernel)
        checked = time.process_time()
        text = str(module)
        printed = time.process_time()
        ptx.parse(text)
        parsed = time.process_time()
        for step, seconds in (
            ("build_s", built - start),
            ("check_s", checked - built),
            ("print_s", printed - checked),
            ("total_s", printed - start),
            ("parse_s", parsed - printed),
        ):
            best[step] = min(best.get(step, seconds), seconds)
    return {
        "kernel": name,
        "instructions": len(next(iter(ptx.parse(text).kernels.values())).instructions),
        "bytes": len(text),
        **{step: round(seconds, 4) for step, seconds in best.items()},
        "parse_mb_per_s": round(len(text) / best["parse_s"] / 1e6, 2),
    }


def import_ms() -> float:
    """Wall-clock milliseconds of ``import ptx`` over bare Python, best of ten each."""

    def best(code: str) -> float:
        spent = []
        for _ in range(10):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            spent.append(time.perf_counter() - start)
        return min(spent)

    return round(1000 * (best("import ptx") - best("pass")), 1)


def main(arguments: list[str]) -> int:
    parser = harness.parser("emission", __doc__)
    options = parser.parse_args(arguments)
    rows = [
        measure(f"{INSTRUCTIONS} instructions", long_kernel, 3),
        measure("sgemm, seed's tile", sgemm, 5),
    ]
    for row in rows:
        print(
            f"{row['kernel']}: {row['instructions']} instructions, {row['bytes']} bytes; build "
            f"{row['build_s']} s, check {row['check_s']} s, print {row['print_s']} s, together "
            f"{row['total_s']} s; parse {row['parse_mb_per_s']} MB/s"
        )
    imported = {"kernel": "import ptx", "ms_over_bare_python": import_ms()}
    print(f"import ptx: {imported['ms_over_bare_python']} ms over bare Python")
    if options.record:
        print(f"recorded in {harness.record('emission', [*rows, imported])}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
