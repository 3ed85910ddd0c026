"""Write PTX from Python, check it, assemble it, run it with or without a GPU, and read the SASS.

The public names load their modules when they are first used, so that ``import ptx`` costs
milliseconds and needs neither numpy nor a CUDA driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx.lazy import public

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ptx.assembler import Cubin, assemble
    from ptx.builder import Kernel
    from ptx.checker import Diagnostic, check
    from ptx.devices import device
    from ptx.errors import PtxError
    from ptx.ir import SINK, Module
    from ptx.sass import assert_sass, disassemble
    from ptx.text import parse

_HOME = {
    "SINK": "ptx.ir",
    "Cubin": "ptx.assembler",
    "Diagnostic": "ptx.checker",
    "Kernel": "ptx.builder",
    "Module": "ptx.ir",
    "PtxError": "ptx.errors",
    "assemble": "ptx.assembler",
    "assert_sass": "ptx.sass",
    "check": "ptx.checker",
    "device": "ptx.devices",
    "disassemble": "ptx.sass",
    "parse": "ptx.text",
}

__all__ = [
    "SINK",
    "Cubin",
    "Diagnostic",
    "Kernel",
    "Module",
    "PtxError",
    "assemble",
    "assert_sass",
    "check",
    "device",
    "disassemble",
    "parse",
]


if not TYPE_CHECKING:  # else a checker would take any name for one of the package's
    __getattr__, __dir__ = public(__name__, _HOME)
