"""Draw which lane holds which element of a matrix: fragment m16n8k16 f16 a.

Shapes are those of mma, wmma and wgmma (m64n128k16), and m8n8 of ldmatrix. T5:2 is element 2 of
lane 5.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from ptx import pictures
from ptx.errors import PtxError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shape", metavar="SHAPE", help="as m16n8k16")
    parser.add_argument(
        "type", metavar="TYPE", nargs="?", default="f16", help="as f16 (default: f16)"
    )
    parser.add_argument(
        "operand", metavar="OPERAND", nargs="?", default="a",
        help="a, b, c or d; meta is the metadata of mma.sp (default: a)",
    )  # fmt: skip
    parser.add_argument("--family", choices=("mma", "wmma"), default="", help="where both have it")
    parser.add_argument(
        "--layout", choices=("row", "col"), default="", help="of the m8n8k4 of 16 bits"
    )
    parser.add_argument("--sparse", action="store_true", help="the operand of mma.sp")
    parser.add_argument("--selector", type=int, default=0, help="of metadata: which lanes have it")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="write a picture instead")


def run(options: argparse.Namespace) -> int:
    try:
        map = pictures.named(
            options.shape, options.type, options.operand, options.family, options.layout,
            options.sparse, options.selector,
        )  # fmt: skip
    except (ValueError, AssertionError, KeyError) as problem:
        raise PtxError(str(problem)) from None
    if options.svg is not None:
        options.svg.write_text(pictures.svg(map), encoding="utf-8")
        return 0
    print(pictures.text(map, shutil.get_terminal_size((100, 24)).columns))
    return 0
