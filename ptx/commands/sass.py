"""Show the machine code of a cubin or of PTX text.

Loops are marked by name; each line has the PTX and the place that it comes from.
"""

from __future__ import annotations

import argparse

from ptx.commands import read, text_of


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a cubin, or PTX text; - is standard input")
    parser.add_argument("--target", help="assemble PTX for this target, as sm_90a")
    parser.add_argument("--kernel", help="show this kernel alone")
    parser.add_argument("--control", action="store_true", help="show the scheduling bits too")
    parser.add_argument("--summary", action="store_true", help="show counts by loop alone")


def run(options: argparse.Namespace) -> int:
    from ptx.assembler import Cubin, assemble
    from ptx.errors import PtxError
    from ptx.sass import disassemble

    data = read(options.file)
    if data.startswith(b"\x7fELF"):
        cubin = Cubin.read(data)
    else:
        cubin = assemble(text_of(data), options.target, file=options.file)
    found = disassemble(cubin)
    kernels = found.kernels
    if options.kernel is not None:
        if options.kernel not in kernels:
            raise PtxError(f"no kernel {options.kernel}; there are: {', '.join(kernels) or 'none'}")
        kernels = {options.kernel: kernels[options.kernel]}
    print(found.header())
    for kernel in kernels.values():
        print(f"\n{kernel.needs()}\n{kernel.summary()}")
        if not options.summary:
            print(kernel.listing(options.control))
    return 0
