"""Host time of a repeated launch, beside the bare call of the driver.

    python -m benchmarks.launch_cost [--record] [--device cuda:0]

The kernel has eight parameters (three pointers, three sizes, two scalars), runs one CTA and does
nothing. Each figure is the mean of a run of launches, the best of several runs, in microseconds;
the queue is emptied between runs, so that none waits for the GPU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ptx
from benchmarks import harness
from ptx.arguments import ArgumentBlock
from ptx.devices import Device

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry gemm_like(
    .param .u64 a, .param .u64 b, .param .u64 c,
    .param .u32 m, .param .u32 n, .param .u32 k, .param .f32 alpha, .param .f32 beta)
{ ret; }
"""
BLOCK = 128


def microseconds(call: Callable[[], Any], settle: Callable[[], Any], launches: int) -> float:
    """Host time of one call."""
    best = float("inf")
    for _ in range(7):
        settle()
        start = time.perf_counter()
        for _ in range(launches):
            call()
        best = min(best, (time.perf_counter() - start) / launches)
    settle()
    return 1e6 * best


def cases(device: Device) -> dict[str, Callable[[], Any]]:
    """What is measured, by its name."""
    kernel = device.load(PTX)["gemm_like"]
    a, b, c = (device.array(np.zeros(64, "f4")) for _ in range(3))
    stream = device.stream()
    by_name = {"a": a, "b": b, "c": c, "m": 1, "n": 1, "k": 1, "alpha": 1.0, "beta": 0.0}
    in_order = list(by_name.values())
    prepared = kernel.prepare(1, BLOCK, by_name, stream=stream)

    def rewritten() -> None:
        prepared.set(a=b, b=c, c=a)
        prepared()

    found: dict[str, Callable[[], Any]] = {
        "launch(grid, block, {by name})": lambda: kernel.launch(1, BLOCK, by_name, stream=stream),
        "launch(grid, block, [in order])": lambda: kernel.launch(1, BLOCK, in_order, stream=stream),
        "prepared()": prepared,
        "prepared.set(a=, b=, c=); prepared()": rewritten,
        "launch with a cluster of 2": lambda: kernel.launch(
            2, BLOCK, in_order, cluster=2, stream=stream
        ),
    }
    if device.is_cuda:
        found = bare(device, kernel, stream) | found
    return found


def bare(device: Any, kernel: Any, stream: Any) -> dict[str, Callable[[], Any]]:
    """The driver's own call on the same kernel, with everything that it takes made beforehand."""
    cuda = device.backend.api.cuda
    function = kernel.loaded.image.function(kernel.name).handle
    packed = ArgumentBlock(kernel.name, kernel.parameters, device)
    packed.write([0, 0, 0, 1, 1, 1, 1.0, 0.0])
    handle, address = cuda.CUstream(stream.handle), packed.address

    def launch() -> None:
        cuda.cuLaunchKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, handle, address, 0)

    return {"cuLaunchKernel alone": launch, "cuCtxGetCurrent alone": cuda.cuCtxGetCurrent}


def main(arguments: list[str]) -> int:
    parser = harness.parser("launch_cost", __doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--launches", type=int, default=500, help="in one run; the queue holds 1024"
    )
    options = harness.asked(parser, arguments)
    device = ptx.device(options.device)
    print(f"host time of a launch on {device} ({device.name}), microseconds")
    rows: list[dict[str, Any]] = []
    for name, call in cases(device).items():
        spent = round(microseconds(call, device.synchronize, options.launches), 2)
        print(f"  {name:40s} {spent:8.2f}")
        rows.append({"launch": name, "host_us": spent})
    if options.record:
        print(f"recorded in {harness.record('launch_cost', rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
