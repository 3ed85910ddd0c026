"""Matrix products from the command line: see what they became, and tune them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import ptx
from ptxgemm import tune
from ptxgemm.tail import PREFETCHES


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except ptx.PtxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return code


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m ptxgemm", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="command")

    demo = commands.add_parser("demo", help="multiply real matrices, check them, show what ran")
    demo.add_argument("--device", default="auto", help="auto, cuda:N or emulator (default: auto)")
    demo.add_argument(
        "--output", type=Path, default=Path("demo"), metavar="FOLDER",
        help="where the picture goes (default: demo)",
    )  # fmt: skip
    demo.set_defaults(run=run_demo)

    emit = commands.add_parser("emit", help="print the PTX of the SGEMM kernel")
    emit.add_argument("--prefetch", choices=PREFETCHES, default="peeled")
    emit.add_argument("--beta-zero", action="store_true", help="never read C")
    emit.add_argument("--l2-prefetch", action="store_true", help="load with L2::128B")
    emit.add_argument("--target", help="such as sm_90a (default: the least that it needs)")
    emit.set_defaults(run=run_emit)

    tuning = commands.add_parser(
        "tune", help="measure on a Hopper GPU which tiles are fastest, and keep that",
        description="Measure on a Hopper GPU which tiles are fastest for each product, and keep "
        "that in the user's cache directory, for matmul, gemm and plan on this card and driver.",
    )  # fmt: skip
    tune.arguments(tuning)
    tuning.set_defaults(run=tune.run)
    return top


def run_demo(options: argparse.Namespace) -> int:
    from ptxgemm import demo

    return 0 if demo.run(options.device, options.output) else 1


def run_emit(options: argparse.Namespace) -> int:
    from ptxgemm.kernels.simt import sgemm

    kernel = sgemm(
        prefetch=options.prefetch, l2_prefetch=options.l2_prefetch, beta_zero=options.beta_zero
    )
    module = ptx.Module(kernel, target=options.target)
    for told in ptx.check(module):
        if told.severity == "error":
            raise ptx.PtxError(told.message)
    print(module, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
