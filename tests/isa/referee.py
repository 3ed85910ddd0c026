"""ptxas as the judge of single instructions, thousands at a time.

``-arch=compute_XX`` parses and checks without generating code, some ten microseconds a line. ptxas
reports every semantic error of a file in one run, each with its line, but a syntax error ends the
file, and a crash loses the output of all of them. So many files go to one process; the lines behind
a syntax error are asked again, and a batch that crashed is halved until the line stands alone.
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

Messages = tuple[str, ...]
"""What ptxas says against a line; empty is acceptance."""

Said = tuple[int, bool, str]
"""One message: its line, whether it ended the file, its text."""

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
def header(target: str, version: Version) -> str:
    """The module up to the line that is judged first; ``ret;`` and a brace end it."""
    types = _TYPES
    if version >= (8, 3) and int(re.sub(r"\D", "", target)) >= 70:
        types += " b128"
    registers = " ".join(f".reg .{t} %{t}_<{REGISTERS_EACH}>;" for t in types.split())
    return (
        f".version {version[0]}.{version[1]}\n.target {target}\n.address_size 64\n{_OUTSIDE}"
        f".visible .entry k(.param .align 128 .b8 kp[256])\n{{\n{registers}\n{_INSIDE}"
    )


def _marked(text: str) -> str:
    """`text` with a backtick behind each name that the files of one process share."""
    return re.sub(r"\b(k|[sgc]mem|fr|fa|f0)\b", r"\1`", text)


def judge(
    lines: Sequence[str], target: str, version: Version, *, together: int = 400, workers: int = 2
) -> list[Messages]:
    """What ptxas says of each line, such as ``"add.s32 %s32_0, %s32_1, 4;"``.

    `together` lines share a file: few where most of them are mistakes.
    """
    files = [range(i, min(i + together, len(lines))) for i in range(0, len(lines), together)]
    batch = max(1, 4000 // together)
    verdicts: list[Messages] = [()] * len(lines)
    with ThreadPoolExecutor(workers) as pool:
        while files:
            batches = [files[i : i + batch] for i in range(0, len(files), batch)]
            done = pool.map(lambda some: _judge_files(lines, some, target, version), batches)
            files = []
            for found, again in done:
                for index, messages in found.items():
                    verdicts[index] = messages
                files += again
    return verdicts


def _judge_files(
    lines: Sequence[str], files: Sequence[range], target: str, version: Version
) -> tuple[dict[int, Messages], list[range]]:
    """Verdicts by index into `lines`, and the ranges that must be asked again."""
    start = header(target, version)
    texts = []
    for number, indices in enumerate(files):
        text = _marked(start + "\n".join(lines[i] for i in indices) + "\nret;\n}\n")
        texts.append((f"{number}.ptx", text.replace("`", str(number))))
    said, orderly = _run(texts, _arch(target))
    if not orderly:
        if len(files) > 1:
            return _both(lines, files, target, version)
        if len(files[0]) > 1:
            return {}, _halves(files[0])
        return {files[0][0]: ("ptxas crashed",)}, []
    found: dict[int, Messages] = {}
    again: list[range] = []
    first = start.count("\n") + 1
    for number, indices in enumerate(files):
        _read(said[f"{number}.ptx"], indices, first, found, again)
    return found, again


# Troubles of the header: a version too low for the target, and the modifiers of a line that ended
# an earlier file, which fall on the first instruction of this one.
_OF_THE_HEADER = re.compile("does not support|requires|for instruction 'ret'")


def _read(
    said: Sequence[Said], indices: range, first: int, found: dict[int, Messages], again: list[range]
) -> None:
    """Sort what was said of one file, whose line `first` is the first that is judged."""
    by_line: dict[int, list[str]] = defaultdict(list)
    stray, fatal = [], None
    for line, is_fatal, text in said:
        if first <= line < first + len(indices):
            by_line[indices[line - first]].append(text)
            fatal = indices[line - first] if is_fatal else fatal
        elif line >= first or not _OF_THE_HEADER.search(text):
            # Some instructions expand to built-in PTX and are reported with its line.
            stray.append(text)
    if stray and len(indices) > 1:
        again += _halves(indices)
        return
    for index, texts in by_line.items():
        found[index] = tuple(texts)
    if stray:
        found[indices[0]] = (*found.get(indices[0], ()), *stray)
    if fatal is not None and fatal + 1 < indices.stop:
        again.append(range(fatal + 1, indices.stop))


def _halves(indices: range) -> list[range]:
    middle = (indices.start + indices.stop) // 2
    return [range(indices.start, middle), range(middle, indices.stop)]


def _both(
    lines: Sequence[str], files: Sequence[range], target: str, version: Version
) -> tuple[dict[int, Messages], list[range]]:
    """The verdicts on two halves of the files."""
    half = len(files) // 2
    left, left_again = _judge_files(lines, files[:half], target, version)
    right, right_again = _judge_files(lines, files[half:], target, version)
    return left | right, left_again + right_again


def _run(files: Sequence[tuple[str, str]], arch: str) -> tuple[dict[str, list[Said]], bool]:
    """What was said of each file, and whether ptxas ended in order."""
    with tempfile.TemporaryDirectory(prefix="referee") as folder:
        for name, text in files:
            Path(folder, name).write_text(text, encoding="ascii")
        output = ["-o", "out.cubin"] if len(files) == 1 else []
        done = subprocess.run(
            [str(ptxas()), f"-arch={arch}", *output, *(name for name, _ in files)],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
    said: dict[str, list[Said]] = defaultdict(list)
    for file, line, severity, text in re.findall(
        r"^ptxas (\S+), line (\d+); (error|fatal)\s*: (.*)$", done.stdout + done.stderr, re.M
    ):
        said[file].append((int(line), severity == "fatal", text))
    return said, done.returncode == 0 or (done.returncode == 255 and bool(said))
