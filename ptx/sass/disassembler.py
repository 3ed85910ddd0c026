"""A cubin's machine code, through nvdisasm."""

from __future__ import annotations

import subprocess
import tempfile
from os import PathLike
from pathlib import Path

from ptx import toolchain
from ptx.assembler import Cubin
from ptx.errors import PtxError
from ptx.sass.looping import Ptx, loops_of
from ptx.sass.printed import read
from ptx.sass.region import Region, Sass


def disassemble(cubin: Cubin | bytes, nvdisasm: str | PathLike[str] | None = None) -> Sass:
    """The machine code of a cubin.

    Raises :class:`ptx.PtxError` where nvdisasm is missing or fails.
    """
    if isinstance(cubin, bytes):
        cubin = Cubin.read(cubin)
    if not isinstance(cubin, Cubin):
        raise PtxError(
            f"disassemble takes a ptx.Cubin or its bytes, got {type(cubin).__name__}; "
            "ptx.assemble makes one of a kernel, a module or PTX text"
        )
    tool = toolchain.find_tool("nvdisasm", nvdisasm)
    with tempfile.TemporaryDirectory(prefix="ptx-") as folder:
        image = Path(folder, "module.cubin")
        image.write_bytes(cubin.data)
        command = [str(tool.path), "-c", "-g", "-gp", "-hex", str(image)]
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    if done.returncode:
        raise PtxError(f"{tool} failed with {done.returncode}: {done.stderr.strip()}")
    ptx = Ptx(cubin.text)
    kernels = {}
    for name, code in read(done.stdout, cubin.text.split("\n"), cubin.places).items():
        if name in cubin.kernels:
            loops = loops_of(code, ptx)
            kernels[name] = Region(name, code.instructions, 0, loops, cubin.kernels[name])
    return Sass(cubin, kernels, str(tool))
