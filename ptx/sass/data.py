"""The same as data: what ``--json`` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ptx.sass.difference import compare
from ptx.sass.instruction import Instruction
from ptx.sass.region import Region, Sass
from ptx.sass.report import occupancy_of
from ptx.sass.statistics import statistics
from ptx.scheduling import NONE


def of_sass(sass: Sass, threads: int | None = None, shared_bytes: int = 0) -> dict[str, Any]:
    """The image and its kernels, as what :func:`json.dumps` takes."""
    cubin = sass.cubin
    return {
        "target": cubin.target,
        "ptxas": cubin.version or None,
        "flags": list(cubin.flags),
        "nvdisasm": sass.tool,
        "sha256": cubin.sha256,
        "kernels": [
            _kernel(kernel, cubin.target, threads, shared_bytes) for kernel in sass.kernels.values()
        ],
    }


def _kernel(kernel: Region, target: str, threads: int | None, shared_bytes: int) -> dict[str, Any]:
    info = kernel.info
    assert info
    known = threads or info.threads
    found = occupancy_of(info, target, known, shared_bytes) if known else None
    return {
        "name": kernel.name,
        "needs": asdict(info),
        "occupancy": asdict(found) if found else None,
        "statistics": asdict(statistics(kernel)),
        "loops": [_loop(loop) for loop in kernel.loops],
        "instructions": [_instruction(one) for one in kernel.instructions],
    }


def _loop(loop: Region) -> dict[str, Any]:
    return {
        "name": loop.name,
        "depth": loop.depth,
        "place": str(loop.place) if loop.place else None,
        "addresses": [one.address for one in loop.instructions],
        "back": list(loop.back),
        "statistics": asdict(statistics(loop)),
    }


def _instruction(one: Instruction) -> dict[str, Any]:
    control = one.control
    return {
        "address": one.address,
        "guard": one.guard or None,
        "opcode": one.opcode,
        "operands": list(one.operands),
        "targets": list(one.targets),
        "word": f"0x{one.word:032x}",
        "control": {
            "stall": control.stall,
            "yield": control.yields,
            "write": None if control.write == NONE else control.write,
            "read": None if control.read == NONE else control.read,
            "wait": list(control.waits),
            "reuse": control.reuse,
        },
        "line": one.line or None,
        "ptx": one.ptx or None,
        "place": str(one.place) if one.place else None,
    }


def of_difference(left: Region, right: Region) -> dict[str, Any]:
    """The numbers of two kernels and their rows side by side, by stretch."""
    return {
        "left": {"name": left.name, "statistics": asdict(statistics(left))},
        "right": {"name": right.name, "statistics": asdict(statistics(right))},
        "parts": [
            {
                "loop": part.loop or None,
                "rows": [
                    {
                        "mark": row.mark,
                        "left": str(row.left) if row.left else None,
                        "right": str(row.right) if row.right else None,
                    }
                    for row in part.rows
                ],
            }
            for part in compare(left, right)
        ],
    }
