"""SGEMM in its three forms beside torch (cuBLAS, IEEE float32), on a GPU.

    python -m benchmarks.sgemm [--sizes 512 4096 ...] [--record]

Square matrices, row-major, random. Each output is poisoned and compared with float64 before it is
timed, within (K + 4) * 2**-24 * (|A| @ |B|).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ptx
from benchmarks import harness
from ptxgemm import api
from ptxgemm.shape import SEED
from ptxgemm.tail import PREFETCHES

SIZES = (512, 1024, 2048, 4096, 6144, 8192)
VARIANTS = {form: (form, False) for form in PREFETCHES} | {"peeled, L2::128B": ("peeled", True)}


def measure(size: int) -> list[dict[str, Any]]:
    """A row for torch and one for each variant."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    sets = harness.input_sets(3 * 4 * size * size)
    random = torch.Generator("cuda").manual_seed(size)
    inputs = [
        tuple(torch.randn(size, size, device="cuda", generator=random) for _ in range(2))
        for _ in range(sets)
    ]
    outputs = [torch.empty(size, size, device="cuda") for _ in range(sets)]
    calls: dict[str, Callable[[int], None]] = {
        "torch": lambda i: torch.matmul(*inputs[i], out=outputs[i])
    }
    kernels = {}
    for name, (form, hint) in VARIANTS.items():
        kernels[name] = api.load(ptx.device("cuda:0"), SEED, form, hint, True)
        calls[name] = _ours(kernels[name], inputs, outputs)

    exact = inputs[0][0].double() @ inputs[0][1].double()
    bound = (size + 4) * 2.0**-24 * (inputs[0][0].double().abs() @ inputs[0][1].double().abs())
    errors = {}
    for name, call in calls.items():
        outputs[0].fill_(float("nan"))
        call(0)
        errors[name] = float(((outputs[0].double() - exact).abs() / bound).max())
        if not errors[name] <= 1 and name != "torch":
            raise SystemExit(f"{name} at {size}: error / bound is {errors[name]}")
    del exact, bound
    times = harness.graph_us(calls, sets)
    return [
        {
            "kernel": name,
            "m": size, "n": size, "k": size,
            "us": round(us, 2),
            "tflops": round(2 * size**3 / us / 1e6, 2),
            "torch_over_us": round(times["torch"] / us, 4),
            "error_over_bound": round(errors[name], 5),
            "torch": torch.__version__,
            **({"image": kernels[name].loaded.origin} if name in kernels else {}),
        }
        for name, us in times.items()
    ]  # fmt: skip


def _ours(kernel: Any, inputs: Any, outputs: Any) -> Callable[[int], None]:
    import torch

    def call(i: int) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        api.launch(kernel, SEED, *inputs[i], outputs[i], stream=stream)

    return call


def main(arguments: list[str]) -> int:
    parser = harness.parser("sgemm", __doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args(arguments)
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
