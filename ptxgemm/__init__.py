"""General matrix products on NVIDIA GPUs, written in PTX with :mod:`ptx`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx import __version__ as __version__
from ptx.lazy import public

if TYPE_CHECKING:
    from ptxgemm import hopper
    from ptxgemm.api import Plan, gemm, matmul, plan, sgemm
    from ptxgemm.packing import pack_bits, pack_int4
    from ptxgemm.shape import SEED, Shape
    from ptxgemm.tail import Tail

_HOME = {
    "Plan": "ptxgemm.api",
    "SEED": "ptxgemm.shape",
    "Shape": "ptxgemm.shape",
    "Tail": "ptxgemm.tail",
    "gemm": "ptxgemm.api",
    "hopper": "ptxgemm.hopper",
    "matmul": "ptxgemm.api",
    "pack_bits": "ptxgemm.packing",
    "pack_int4": "ptxgemm.packing",
    "plan": "ptxgemm.api",
    "sgemm": "ptxgemm.api",
}

__all__ = [
    "SEED",
    "Plan",
    "Shape",
    "Tail",
    "gemm",
    "hopper",
    "matmul",
    "pack_bits",
    "pack_int4",
    "plan",
    "sgemm",
]


if not TYPE_CHECKING:  # else a checker would take any name for one of the package's
    __getattr__, __dir__ = public(__name__, _HOME)
