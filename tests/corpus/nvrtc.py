"""CUDA C++ to PTX through NVRTC, which the toolchain wheels bring; no GPU is needed."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from functools import cache
from pathlib import Path


@cache
def _library() -> tuple[ctypes.CDLL, Path] | None:
    """NVRTC and the folder of CUDA's headers, or None where there are none."""
    spec = importlib.util.find_spec("nvidia")
    roots = spec.submodule_search_locations if spec else ()
    for root in map(Path, roots or ()):
        for path in sorted(root.glob("*/lib/libnvrtc.so.*[0-9]")):
            include = path.parent.parent / "include"
            if ".alt." not in path.name and (include / "mma.h").exists():
                for builtins in path.parent.glob("libnvrtc-builtins.so*"):
                    ctypes.CDLL(os.fspath(builtins))  # NVRTC opens it by its name alone
                return ctypes.CDLL(os.fspath(path)), include
    return None


def missing() -> str:
    """Why nothing can be compiled here; empty where it can."""
    return "" if _library() else "no NVRTC with CUDA's headers: pip install ptxgemm[toolchain]"


def compile(source: str, target: str, *options: str, name: str = "a.cu") -> str:
    """The PTX of CUDA C++ for a target such as ``"sm_90a"``; RuntimeError with NVRTC's log."""
    found = _library()
    assert found is not None, missing()
    nvrtc, include = found
    arguments = [
        f"--gpu-architecture={target.replace('sm', 'compute')}",
        f"--include-path={include}",
        f"--include-path={include / 'cccl'}",
        "--std=c++17",
        "-default-device",
        *options,
    ]
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    packed = (ctypes.c_char_p * len(arguments))(*(a.encode() for a in arguments))
    failed = nvrtc.nvrtcCompileProgram(program, len(arguments), packed)
    try:
        if failed:
            raise RuntimeError(_text(nvrtc, program, "ProgramLog"))
        # The header tells the compiler's build and machine.
        return re.sub(r"\A(//.*\n)+", "", _text(nvrtc, program, "PTX"))
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode("utf-8", "replace")
