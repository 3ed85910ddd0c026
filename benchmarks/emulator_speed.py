"""How fast the emulator is: an SGEMM with all checks, its peers, a step by lanes.

    python -m benchmarks.emulator_speed [--size 256 --size 512] [--no-peers] [--record]

CPU seconds of one process. Each product is launched twice, as the first launch decodes the kernel.
The peers run the same product in processes of their own: Triton's interpreter, which gives each
tile to numpy's dot, and numba's CUDA simulator, which runs every thread as one of Python's. The
simulator's product is a small one, as a large one would take hours; a peer that is not installed is
left out. The cost of a step is that of one fma instruction, by the lanes that it moves at once.
"""

from __future__ import annotations

import importlib.util
import json
import struct
import subprocess
import sys
import time
from typing import Any

import numpy as np

import ptx
from benchmarks import emulator_peers, harness
from ptx.commands.options import at_least
from ptx.emu import Memory, launch
from ptxgemm import api
from ptxgemm.loading import loaded
from ptxgemm.shape import SEED

SIZES = (256, 512)
LANES = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
PEERS = {"triton": (256, 512), "numba": (32, 64)}
"""Modules of the peers, and the sizes of their products."""


def sgemm(size: int) -> dict[str, Any]:
    """One product by tiles of :data:`ptxgemm.SEED`, checked."""
    rng = np.random.default_rng(size)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    device = ptx.device("emulator")
    loaded.cache_clear()
    kernel = api.load(device, SEED, "peeled", False, True)
    arrays = [device.array(a), device.array(b), device.empty((size, size), np.float32)]
    seconds = []
    for _ in range(2):
        start = time.process_time()
        api.launch(kernel, SEED, *arrays)
        device.synchronize()
        seconds.append(time.process_time() - start)
    exact = a.astype(np.float64) @ b
    bound = (size + 4) * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b))
    error = np.max(np.abs(arrays[2].numpy() - exact) / bound)
    if not error <= 1:
        raise AssertionError(f"a product of {size} is off by {error:.3g} of its bound")
    return product_row("ptxgemm", size, *seconds)


def product_row(by: str, size: int, first: float, second: float) -> dict[str, Any]:
    """A line of a record: CPU seconds, and million multiply-adds a second."""
    return {
        "what": "sgemm",
        "by": by,
        "size": size,
        "first_s": round(first, 3),
        "second_s": round(second, 3),
        "mfma_per_s": round(size**3 / second / 1e6, 3),
    }


def step(lanes: int, repeat: int = 100, unroll: int = 100) -> dict[str, Any]:
    """A loop of fma on so many threads, in CTAs of at most 256."""
    block = min(lanes, 256)
    body = "\n".join(f"fma.rn.f32 %f{n % 8}, %f{n % 8}, %f8, %f{9 + n % 7};" for n in range(unroll))
    # x / 2 + c stays where it is, with all bits of its mantissa in use.
    sets = "\n".join(f"mov.f32 %f{n}, 0f3F23456{n};" for n in range(8))
    sets += "\nmov.f32 %f8, 0f3F000001;\n"
    sets += "\n".join(f"mov.f32 %f{n}, {1 / n:.7f};" for n in range(9, 16))
    text = f"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u32 count) {{
      .reg .f32 %f<16>; .reg .u32 %r<2>; .reg .pred %p;
      ld.param.u32 %r0, [count];
      {sets}
      loop:
      {body}
      sub.u32 %r0, %r0, 1;
      setp.ne.u32 %p, %r0, 0;
      @%p bra loop;
      ret;
    }}
    """
    module, memory = ptx.parse(text), Memory()

    def run(count: int) -> float:
        start = time.process_time()
        grid = (lanes // block, 1, 1)
        launch("k", module, grid, (block, 1, 1), struct.pack("<I", count), memory=memory)
        return time.process_time() - start

    run(1)
    spent = min(run(repeat + 1) for _ in range(3)) - min(run(1) for _ in range(3))
    each = spent / repeat / unroll
    return {"what": "step", "lanes": lanes, "us_per_instruction": round(each * 1e6, 2)}


def peer(name: str, size: int) -> dict[str, Any] | None:
    """The same product by a peer; None where it is not installed."""
    if any(importlib.util.find_spec(module) is None for module in emulator_peers.PEERS[name]):
        return None
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.emulator_peers", name, str(size)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    said = json.loads(done.stdout)
    return product_row(said["by"], size, *said["seconds"])


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("emulator_speed", __doc__)
    parser.add_argument(
        "--size", type=at_least(1), action="append", help="of a square product; repeatable"
    )
    parser.add_argument("--no-peers", action="store_true", help="the emulator alone")
    asked = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []

    def keep(row: dict[str, Any] | None) -> None:
        if row is not None:
            rows.append(row)
            print(json.dumps(row), flush=True)

    for size in asked.size or SIZES:
        keep(sgemm(size))
    if not asked.no_peers:
        for name, sizes in PEERS.items():
            for size in sizes:
                keep(peer(name, size))
    for lanes in LANES:
        keep(step(lanes))
    if asked.record:
        print(harness.record("emulator_speed", rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
