"""Host time of a product's call, beside torch's own; arrays of torch on a GPU.

    python -m benchmarks.call_cost [--record] [--size 128]

Nothing waits for the GPU inside a run of calls; the queue is emptied between runs. Each figure is
the mean of a run, the best of several, in microseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ptxgemm
from benchmarks import harness
from benchmarks.launch_cost import microseconds
from ptx.commands.options import at_least


def cases(torch: Any, size: int) -> dict[str, Callable[[], Any]]:
    """What is measured, by its name."""
    a, b, out = (torch.rand((size, size), device="cuda") for _ in range(3))
    plan = ptxgemm.plan(size, size, size, device="cuda:0")
    return {
        "plan(a, b, out)": lambda: plan(a, b, out),
        "matmul(a, b, out=out)": lambda: ptxgemm.matmul(a, b, out=out),
        "matmul(a, b)": lambda: ptxgemm.matmul(a, b),
        "gemm(a, b, out, beta=1, out=out)": lambda: ptxgemm.gemm(a, b, out, beta=1, out=out),
        "torch.matmul(a, b, out=out)": lambda: torch.matmul(a, b, out=out),
        "torch.matmul(a, b)": lambda: torch.matmul(a, b),
    }


def main(arguments: list[str]) -> int:
    parser = harness.parser("call_cost", __doc__)
    parser.add_argument("--size", type=at_least(1), default=128, help="M, N and K")
    parser.add_argument(
        "--calls", type=at_least(1), default=500, help="in one run; the queue holds 1024"
    )
    options = harness.asked(parser, arguments)
    import torch

    print(f"host time of a call, {options.size}x{options.size}x{options.size}, microseconds")
    rows: list[dict[str, Any]] = []
    for name, call in cases(torch, options.size).items():
        spent = round(microseconds(call, torch.cuda.synchronize, options.calls), 2)
        print(f"  {name:40s} {spent:8.2f}")
        rows.append({"call": name, "size": options.size, "host_us": spent})
    if options.record:
        print(f"recorded in {harness.record('call_cost', rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
