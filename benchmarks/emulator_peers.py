"""A product of float32 squares on other emulators, for :mod:`benchmarks.emulator_speed`.

    python -m benchmarks.emulator_peers triton|numba SIZE

Prints a line of JSON: who computed it, and the CPU seconds of a first and a second launch. The
result is compared with float64. Each module is told to emulate before it is imported, and a
process can do that once.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import harness
from ptx.commands.options import at_least

Array = Any
TILE = 64
"""Rows and columns of a Triton program's tile; :data:`DEPTH` of K at a time."""
DEPTH = 32
PEERS = {"triton": ("triton", "torch"), "numba": ("numba",)}
"""The modules that each takes."""
BLOCK = 16
"""A CTA of the simulator is 16 x 16 threads, a thread an element: a textbook's first kernel."""


def triton(a: Array, b: Array, out: Array) -> Callable[[], None]:
    os.environ["TRITON_INTERPRET"] = "1"
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def product(a: Any, b: Any, out: Any, n: Any, tile: tl.constexpr, depth: tl.constexpr) -> None:  # type: ignore[misc]
        rows = tl.program_id(0) * tile + tl.arange(0, tile)
        columns = tl.program_id(1) * tile + tl.arange(0, tile)
        inner = tl.arange(0, depth)
        total = tl.zeros((tile, tile), dtype=tl.float32)
        for k in range(0, n, depth):
            left = tl.load(a + rows[:, None] * n + (k + inner)[None, :])
            right = tl.load(b + (k + inner)[:, None] * n + columns[None, :])
            total = tl.dot(left, right, total, input_precision="ieee")
        tl.store(out + rows[:, None] * n + columns[None, :], total)

    n = len(a)
    torch.set_num_threads(1)
    tensors = [torch.from_numpy(x) for x in (a, b, out)]
    grid = (n // TILE, n // TILE)
    return lambda: product[grid](*tensors, n, TILE, DEPTH)


def numba(a: Array, b: Array, out: Array) -> Callable[[], None]:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    global cuda  # the simulator puts its own module in the place of this name
    from numba import cuda

    @cuda.jit
    def product(a: Any, b: Any, out: Any) -> None:
        row, column = cuda.grid(2)
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        out[row, column] = total

    n = len(a)
    return lambda: product[(n // BLOCK, n // BLOCK), (BLOCK, BLOCK)](a, b, out)


def main(arguments: list[str] | None = None) -> None:
    parser = harness.parser("emulator_peers", __doc__, record=False)
    parser.add_argument("peer", choices=list(PEERS))
    parser.add_argument(
        "size", type=at_least(1), help="a multiple of 64 for triton, of 16 for numba"
    )
    asked = parser.parse_args(arguments)
    harness.require(parser, harness.Needs(modules=PEERS[asked.peer]))
    rng = np.random.default_rng(asked.size)
    a, b = (rng.standard_normal((asked.size, asked.size), np.float32) for _ in range(2))
    out = np.full_like(a, np.nan)
    run = {"triton": triton, "numba": numba}[asked.peer](a, b, out)
    seconds = []
    for _ in range(2):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-3)
    by = f"{asked.peer} {importlib.metadata.version(asked.peer)}"
    print(json.dumps({"by": by, "seconds": seconds}))


if __name__ == "__main__":
    main()
