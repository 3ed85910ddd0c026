"""How fast the emulator is: the seed's SGEMM with all checks, and the cost of a step by threads.

    python -m benchmarks.emulator_speed [SIZE ...]

Prints one line of JSON for each size of SGEMM (seconds of the first launch, which decodes the
kernel, and of the second; million multiply-adds a second), and for each number of threads the
microseconds of one fma instruction; all in CPU time of one core.
"""

from __future__ import annotations

import json
import struct
import sys
import time

import numpy as np

import ptx
from ptx.emu import Memory, launch
from ptxgemm import api
from ptxgemm.shape import SEED


def sgemm(size: int) -> dict[str, object]:
    """One product of the seed's shape, checked."""
    rng = np.random.default_rng(size)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    device = ptx.device("emulator")
    api.load.cache_clear()
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
    return {
        "sgemm": size,
        "first_s": round(seconds[0], 3),
        "second_s": round(seconds[1], 3),
        "mfma_per_s": round(size**3 / seconds[1] / 1e6, 1),
        "error_of_bound": round(float(error), 3),
    }


def steps(threads: int, repeat: int = 100, unroll: int = 100) -> dict[str, object]:
    """A loop of fma on `threads` threads in CTAs of at most 256."""
    block = min(threads, 256)
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
        grid = (threads // block, 1, 1)
        launch("k", module, grid, (block, 1, 1), struct.pack("<I", count), memory=memory)
        return time.process_time() - start

    run(1)
    spent = min(run(repeat + 1) for _ in range(3)) - min(run(1) for _ in range(3))
    return {"threads": threads, "us_per_instruction": round(spent / repeat / unroll * 1e6, 2)}


def main(arguments: list[str]) -> None:
    for size in [int(argument) for argument in arguments] or [256, 512]:
        print(json.dumps(sgemm(size)), flush=True)
    for threads in (32, 256, 1024, 4096, 8192, 16384):
        print(json.dumps(steps(threads)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
