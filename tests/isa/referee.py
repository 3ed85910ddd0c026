"""ptxas as the judge of single instructions, thousands at a time.

``-arch=compute_XX`` parses and checks without generating code, some ten microseconds a line. ptxas
reports every semantic error of a file in one run, each with its line, but a syntax error ends the
file; so lines expected to be legal share a file (:func:`judge`), and near-misses get a file each,
many files to one process (:func:`judge_apart`). A crash loses the output, so the batch is halved
until the line that crashed stands alone.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from ptx.targets import Version

_END = "\nret;\n}\n"

Messages = tuple[str, ...]
"""What ptxas says against a line; empty is acceptance."""

REGISTERS_EACH = 140
"""Registers declared of each type, ``%f32_0`` and on: a wgmma names 128."""

_TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 pred"

# One module serves every instruction: variables in each space, functions and prototypes to call.
_OUTSIDE = """\
.shared .align 1024 .b8 smem[4096];
.global .align 128 .b8 gmem[4096];
.const .align 128 .b8 cmem[4096];
.func (.param .b32 r) fr(.param .b32 a) { ret; }
.func fa(.param .b32 a) { ret; }
.func f0() { ret; }
"""
_INSIDE = """\
.local .align 128 .b8 lmem[4096];
.param .align 128 .b8 cp[256];
.param .b32 pr;
.param .b32 pa;
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
proto0: .callprototype _ ();
proto1: .callprototype _ (.param .b32 _);
ts: .branchtargets L0, L1;
cts: .calltargets fr;
L0:
L1:
"""


@cache
def ptxas() -> str | None:
    """The ptxas to ask: ``PTX_PTXAS``, else the wheel's, else the one on PATH; None without one."""
    if given := os.environ.get("PTX_PTXAS"):
        return given
    wheel = importlib.util.find_spec("nvidia")
    for place in (wheel.submodule_search_locations if wheel else None) or ():
        for found in sorted(Path(place).glob("*/bin/ptxas*")):
            return str(found)
    return shutil.which("ptxas")


def _arch(target: str) -> str:
    """The virtual architecture to parse for; ptxas 13 starts at 75 and judges older targets too."""
    number = int(re.sub(r"\D", "", target))
    return "compute_75" if number < 75 else target.replace("sm_", "compute_")


@cache
def _header(target: str, version: Version) -> str:
    types = _TYPES
    if version >= (8, 3) and int(re.sub(r"\D", "", target)) >= 70:
        types += " b128"
    registers = " ".join(f".reg .{t} %{t}_<{REGISTERS_EACH}>;" for t in types.split())
    return (
        f".version {version[0]}.{version[1]}\n.target {target}\n.address_size 64\n{_OUTSIDE}"
        f".visible .entry KERNEL(.param .align 128 .b8 kp[256])\n{{\n{registers}\n{_INSIDE}"
    )


@cache
def _apart_header(target: str, version: Version) -> str:
    """The header with every name made private to a file: several files share one namespace."""
    return re.sub(r"\b(smem|gmem|cmem|fr|fa|f0)\b(?=[\[(])", r"\1", _header(target, version))


def _run(files: Sequence[tuple[str, str]], arch: str) -> tuple[dict[str, list], bool]:
    """Messages of each file as (line, fatal, text), and whether ptxas ended in order."""
    with tempfile.TemporaryDirectory(prefix="referee") as folder:
        for name, text in files:
            Path(folder, name).write_text(text, encoding="ascii")
        outputs = [] if len(files) > 1 else ["-o", "out.cubin"]
        done = subprocess.run(
            [str(ptxas()), f"-arch={arch}", *outputs, *(name for name, _ in files)],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
    said: dict[str, list] = defaultdict(list)
    for file, line, severity, text in re.findall(
        r"^ptxas (\S+), line (\d+); (error|fatal)\s*: (.*)$", done.stdout + done.stderr, re.M
    ):
        said[file].append((int(line), severity == "fatal", text))
    return said, done.returncode == 0 or (done.returncode == 255 and bool(said))


def _judge_file(lines: Sequence[str], target: str, version: Version) -> list[Messages]:
    """Verdicts on lines that share a file."""
    header = _header(target, version).replace("KERNEL", "k")
    first = header.count("\n") + 1
    said, orderly = _run([("k.ptx", header + "\n".join(lines) + _END)], _arch(target))
    found: dict[int, list[str]] = defaultdict(list)
    fatal = None
    for line, is_fatal, text in said["k.ptx"]:
        found[line - first].append(text)
        if is_fatal:
            fatal = line - first
    # Some instructions expand to built-in PTX and are reported with a line of the expansion; what
    # ptxas says of the header (a version too low for the target) concerns no line.
    stray = [
        text
        for index, texts in found.items()
        if not 0 <= index < len(lines)
        for text in texts
        if "does not support" not in text and "requires" not in text
    ]
    if stray or not orderly:
        if len(lines) == 1:
            return [tuple(stray) or ("ptxas crashed",)]
        half = len(lines) // 2
        return [
            verdict
            for part in (lines[:half], lines[half:])
            for verdict in _judge_file(part, target, version)
        ]
    verdicts = [tuple(found.get(i, ())) for i in range(len(lines))]
    if fatal is not None and 0 <= fatal < len(lines) - 1:
        verdicts[fatal + 1 :] = _judge_file(lines[fatal + 1 :], target, version)
    return verdicts


def _judge_files(lines: Sequence[str], target: str, version: Version) -> list[Messages]:
    """Verdicts on lines that have a file each, in one process."""
    header = _header(target, version)
    # Module-level names of several files share a namespace.
    header = re.sub(r"\b([sgc]mem|fr|fa|f0)\b", r"\1FILE", header)
    files = []
    for i, line in enumerate(lines):
        text = header.replace("KERNEL", f"k{i}") + re.sub(
            r"\b([sgc]mem|fr|fa|f0)\b", r"\1FILE", line
        )
        files.append((f"{i}.ptx", text.replace("FILE", str(i)) + _END))
    said, orderly = _run(files, _arch(target))
    if not orderly and len(lines) > 1:
        half = len(lines) // 2
        return [
            verdict
            for part in (lines[:half], lines[half:])
            for verdict in _judge_files(part, target, version)
        ]
    if not orderly:
        return [("ptxas crashed",)]
    # Modifiers of a line that ended its file by a syntax error fall on the next file's first
    # instruction, the `ret` of a function in the header.
    body = header.count("\n") + 1
    return [
        tuple(text for at, _, text in said[name] if at >= body or "instruction 'ret'" not in text)
        for name, _ in files
    ]


def judge(
    lines: Sequence[str], target: str, version: Version, *, batch: int = 2000, workers: int = 2
) -> list[Messages]:
    """What ptxas says of each line, ``"add.s32 %s32_0, %s32_1, 4;"``; most of them legal."""
    return _in_batches(_judge_file, lines, target, version, batch, workers)


def judge_apart(
    lines: Sequence[str], target: str, version: Version, *, batch: int = 500, workers: int = 2
) -> list[Messages]:
    """What ptxas says of each line, most of them illegal."""
    return _in_batches(_judge_files, lines, target, version, batch, workers)


def _in_batches(judge_batch, lines, target, version, batch, workers):  # type: ignore[no-untyped-def]
    parts = [lines[i : i + batch] for i in range(0, len(lines), batch)]
    with ThreadPoolExecutor(workers) as pool:
        done = pool.map(lambda part: judge_batch(part, target, version), parts)
        return [verdict for verdicts in done for verdict in verdicts]
