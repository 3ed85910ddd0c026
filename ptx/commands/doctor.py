"""Say what was found on this machine, and what each missing thing costs."""

from __future__ import annotations

import argparse
import platform

import ptx
from ptx import cache, toolchain
from ptx.errors import PtxError

_COST = {
    "ptxas": "no cubins: no registers, spills or SASS to see; the driver assembles PTX itself",
    "nvdisasm": "no SASS: python -m ptx sass and the assertions on loops do not work",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(options: argparse.Namespace) -> int:
    print(f"ptx {ptx.__version__}, Python {platform.python_version()} on {platform.platform()}")
    for line in (*_driver(), *_tools(), *_cache()):
        print(line)
    return 0


def _driver() -> list[str]:
    driver = toolchain.find_driver()
    lines = []
    if driver.version:
        release = f" {driver.release}" if driver.release else ""
        lines.append(f"driver{release}: runs CUDA {driver.version[0]}.{driver.version[1]}")
    for index, gpu in enumerate(driver.gpus):
        lines.append(f"GPU {index}: {gpu.name}, sm_{gpu.capability[0]}{gpu.capability[1]}")
    if driver.missing:
        lines.append(f"GPU: none ({driver.missing})")
        lines.append("    cost: kernels run in the emulator; no times, no cuBLAS to compare with")
    if driver.bindings:
        lines.append(f"cuda-python: cuda-bindings {driver.bindings}")
    else:
        lines.append("cuda-python: missing")
        lines.append("    cost: a GPU cannot be used; it comes with pip install cuda-python")
    return lines


def _tools() -> list[str]:
    lines = []
    for name, cost in _COST.items():
        try:
            lines.append(str(toolchain.find_tool(name)))
        except PtxError as error:
            lines += [f"{name}: missing", *(f"    {line}" for line in str(error).splitlines())]
            lines.append(f"    cost: {cost}")
    return lines


def _cache() -> list[str]:
    if cache.disabled():
        return ["cache: off (PTX_CACHE_DISABLE)", "    cost: every kernel is assembled every time"]
    count, size = cache.size()
    lines = [f"cache: {cache.directory()}, {count} entries, {size / 1e6:.1f} MB"]
    if not cache.writable():
        lines.append("    cost: it cannot be written; every kernel is assembled every time")
    return lines
