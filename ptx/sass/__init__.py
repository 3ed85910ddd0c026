"""Reads the machine code of a cubin: instructions, loops by name, counts, control codes.

nvdisasm prints the code together with the line of PTX that each instruction comes from (ptxas ran
with ``-lineinfo``; see :mod:`ptx.assembler`). A loop is a natural loop of the control flow: a back
edge, and all that can reach it without passing its header. Its name is that of the PTX label which
the back edge's branch jumps to; where ptxas moved that branch, that of the innermost PTX loop that
most of its instructions come from. ``k.loop(name="main")`` prints the label ``main``, so
``disassemble(cubin).loop("main")`` finds it.

The same PTX line leads to the author's Python line through :attr:`ptx.Cubin.places`; for a cubin
from a file the author's place is what its own line table says.
"""

from ptx.sass.assertions import SassMismatch, assert_sass
from ptx.sass.disassembler import disassemble
from ptx.sass.instruction import Instruction
from ptx.sass.printed import Code, read
from ptx.sass.region import Region, Sass
from ptx.sass.statistics import Statistics, statistics
from ptx.scheduling import NONE, Control

__all__ = [
    "NONE",
    "Code",
    "Control",
    "Instruction",
    "Region",
    "Sass",
    "SassMismatch",
    "Statistics",
    "assert_sass",
    "disassemble",
    "read",
    "statistics",
]
