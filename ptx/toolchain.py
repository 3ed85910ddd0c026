"""Finds ptxas, nvdisasm and the CUDA driver on this machine, and says where."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptx.errors import PtxError

VARIABLE = {"ptxas": "PTX_PTXAS", "nvdisasm": "PTX_NVDISASM"}
"""The tools, and the environment variable that names a file to use instead."""

INSTALL = "pip install 'ptxgemm[toolchain]'"
"""Brings both tools, pinned together."""

SYSTEM = Path("/usr/local/cuda/bin")

_WHEEL_FOLDERS = {
    "ptxas": ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"),
    "nvdisasm": ("nvidia/cu13/bin", "nvidia/cuda_nvdisasm/bin"),
}
"""Inside site-packages: the layout of the CUDA 13 wheels, then that of the CUDA 12 ones."""


@dataclass(frozen=True)
class Tool:
    """A tool that was found and runs."""

    name: str
    path: Path
    version: str
    """As the tool prints it, ``"13.0.88"``."""
    where: str
    """What led to it: ``"argument"``, ``"PTX_PTXAS"``, ``"CUDA_HOME"``, ``"wheel"``, ``"PATH"``"""

    def __str__(self) -> str:
        return f"{self.name} {self.version} at {self.path} (by {self.where})"


def find_tool(name: str, argument: str | os.PathLike[str] | None = None) -> Tool:
    """The first ``name`` ("ptxas" or "nvdisasm") of: argument, environment, toolkit, wheel, PATH.

    A file named by the argument or by the tool's own variable is taken or refused, never passed
    over. Raises :class:`ptx.PtxError`, which lists every place that was looked at.
    """
    if argument is not None:
        return _tool(name, Path(argument), "argument")
    named = os.environ.get(VARIABLE[name])
    if named:
        return _tool(name, Path(named), VARIABLE[name])
    looked = []
    for path, where in _candidates(name):
        if path.is_file() and os.access(path, os.X_OK):
            return _tool(name, path, where)
        looked.append(f"  {where}: {path}")
    raise PtxError(
        f"{name} was not found. Looked at\n"
        + "\n".join([f"  argument: none given\n  {VARIABLE[name]}: not set", *looked])
        + f"\nIt comes with: {INSTALL}"
    )


def _candidates(name: str) -> Iterator[tuple[Path, str]]:
    file = name + (".exe" if sys.platform == "win32" else "")
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield Path(home) / "bin" / file, variable
    for site in dict.fromkeys(sys.path):
        if site and Path(site).name in ("site-packages", "dist-packages"):
            for folder in _WHEEL_FOLDERS[name]:
                yield Path(site) / folder / file, "wheel"
    if found := shutil.which(name):
        yield Path(found), "PATH"
    else:
        yield Path(file), "PATH"
    yield SYSTEM / file, "/usr/local/cuda"


def _tool(name: str, path: Path, where: str) -> Tool:
    if not path.is_file():
        raise PtxError(f"{name}: {where} names {path}, which is no file")
    return Tool(name, path, _version(path, path.stat().st_mtime_ns), where)


@cache
def _version(path: Path, modified: int) -> str:
    """What ``path --version`` says; ``modified`` makes a file that was replaced be asked again."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except OSError as error:
        raise PtxError(f"{path} does not run: {error}") from error
    match = re.search(r"\bV(\d+(?:\.\d+)+)", done.stdout)
    if done.returncode or not match:
        said = (done.stdout + done.stderr).strip()[:200]
        raise PtxError(f"{path} --version does not say its version: {said!r}")
    return match[1]


def generates(tool: Tool) -> tuple[str, ...]:
    """The targets that this ptxas makes code for, ``("sm_75", "sm_80", ...)``, by number."""
    return _generates(tool.path, tool.path.stat().st_mtime_ns)


@cache
def _generates(path: Path, modified: int) -> tuple[str, ...]:
    text = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=60).stdout
    option = re.search(r"^--gpu-name\b.*?(?=^--)", text, re.MULTILINE | re.DOTALL)
    names = set(re.findall(r"'(sm_\d+[af]?)'", option[0] if option else ""))
    return tuple(sorted(names, key=lambda name: (int(re.sub(r"\D", "", name)), name)))


# ---------------------------------------------------------------- the driver


@dataclass(frozen=True)
class Gpu:
    name: str
    capability: tuple[int, int]
    """Compute capability, ``(9, 0)``."""


@dataclass(frozen=True)
class Driver:
    """The CUDA driver as its own library describes it, without cuda-python."""

    version: tuple[int, int] | None = None
    """The newest CUDA version that it runs, ``(13, 0)``."""
    release: str | None = None
    """Its own version, ``"580.95.05"``, where the system tells."""
    gpus: tuple[Gpu, ...] = ()
    missing: str = ""
    """Why there is no GPU to use; empty where there is one."""
    bindings: str | None = None
    """The version of cuda-python that is installed."""


def find_driver() -> Driver:
    """Asks the driver's library for its version and GPUs; what fails is told in `missing`."""
    try:
        bindings = importlib.metadata.version("cuda-bindings")
    except importlib.metadata.PackageNotFoundError:
        bindings = None
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return Driver(bindings=bindings, missing=f"{library} is not installed: no NVIDIA driver")
    number = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    version = (number.value // 1000, number.value % 1000 // 10)
    if status := cuda.cuInit(0):
        missing = f"cuInit of {library} returned {status}"
        return Driver(version, _release(), missing=missing, bindings=bindings)
    cuda.cuDeviceGetCount(ctypes.byref(number))
    gpus = tuple(_gpu(cuda, index) for index in range(number.value))
    missing = "" if gpus else "the driver sees no GPU"
    return Driver(version, _release(), gpus, missing, bindings)


def _gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
    return Gpu(name.value.decode(errors="replace"), (major.value, minor.value))


def _release() -> str | None:
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", text)
    return match[1] if match else None
