"""SGEMM of whole tiles, by the form of its prefetch, beside torch (cuBLAS, IEEE float32), on a GPU.

    python -m benchmarks.sgemm [--sizes 512 4096 ...] [--record]

Square matrices, row-major, random. Each output is poisoned and compared with float64 before it is
timed, within (K + 4) * 2**-24 * (|A| @ |B|).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import ptx
from benchmarks import harness
from benchmarks.single import Call, Contender, beside_torch
from ptx.commands.options import at_least
from ptxgemm import api
from ptxgemm.shape import SEED
from ptxgemm.tail import PREFETCHES

SIZES = (512, 1024, 2048, 4096, 6144, 8192)
VARIANTS = {form: (form, False) for form in PREFETCHES} | {"peeled, L2::128B": ("peeled", True)}


def measure(size: int) -> list[dict[str, Any]]:
    """A row for torch and one for each variant."""
    contenders = {}
    for name, (form, hint) in VARIANTS.items():
        kernel = api.load(ptx.device("cuda:0"), SEED, form, hint, True)
        contenders[name] = Contender(partial(_call, kernel), {"image": kernel.loaded.origin})
    return beside_torch("kernel", (size, size, size), contenders)


def _call(kernel: Any, inputs: Any, outputs: Any) -> Call:
    import torch

    def call(i: int) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        api.launch(kernel, SEED, *inputs[i], outputs[i], stream=stream)

    return call


def main(arguments: list[str]) -> int:
    parser = harness.parser("sgemm", __doc__)
    parser.add_argument("--sizes", type=at_least(1), nargs="+", default=SIZES)
    options = harness.asked(parser, arguments)
    rows = []
    for size in options.sizes:
        for row in measure(size):
            rows.append(row)
            print(
                f"{row['m']:6} {row['kernel']:18} {row['us']:10.1f} us {row['tflops']:7.1f} "
                f"TFLOP/s {row['torch_over_us']:7.3f} of torch   "
                f"error/bound {row['error_over_bound']:.4f}",
                flush=True,
            )
    if options.record:
        print(f"recorded in {harness.record('sgemm', rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
