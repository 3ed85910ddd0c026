"""compute-sanitizer beside the emulator, on the planted bugs and their mended twins.

    python -m benchmarks.sanitizer [--tool TOOL ...] [--only WORD] [--jobs N] [--record]

Each kernel runs under each tool in a process of its own, several at a time, and is ended when its
time is up. Broken kernels that may wait for ever are never sent to the card: those that end in a
deadlock, those that break the rules of barriers and masks, and those that branch anywhere. Rows
are recorded tool by tool; ``tools/generate_sanitizer.py`` puts them into ``docs/faults.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ptx
from benchmarks import harness
from benchmarks.sanitizer_output import parse
from ptx.driver import STICKY
from ptx.emu import EmulatorFault
from ptx.errors import LaunchError
from tests.emu import planted_ptx
from tests.emu.unread import CASES
from tests.emu.unread.expected import kind_of

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
WAITING = {"deadlock", "divergent-barrier", "mask", "barrier"}
"""Kinds of fault after which threads may wait for ever."""
ROOT = Path(__file__).resolve().parent.parent
OPTIONS = ("--print-limit", "8", "--target-processes", "application-only")
WRONG = "a result is wrong:"
REFUSED = "not built:"


@dataclass(frozen=True)
class Planted:
    """A planted bug."""

    name: str
    kind: str
    """What the emulator calls it."""
    hangs: bool = False

    @property
    def sent(self) -> bool:
        """Whether the broken kernel may run on a card."""
        return not self.hangs and self.kind not in WAITING

    def run(self, device: str, broken: bool) -> None:
        """Raises what goes wrong, :class:`ValueError` where the twin's result is not right."""
        case = CASES.get(self.name)
        if case is None:
            self._run_file(device, broken)
            return
        written = case.run(ptx.device(device), broken)
        for name, values in case.expected().items():
            if not broken and not np.array_equal(written[name], values):
                raise ValueError(f"{WRONG} {name}")

    def _run_file(self, device: str, broken: bool) -> None:
        path = next(path for path in planted_ptx.FILES if path.stem == self.name)
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            if not broken:
                path = Path(folder) / path.name
                path.write_text(planted_ptx.mended(text), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                planted_ptx.execute(path, planted_ptx.head(text, "run"), device)

    def lines(self) -> set[int]:
        """Where the bug is, in the Python file; none known for a file of PTX."""
        case = CASES.get(self.name)
        return case.places() | case.places("with") if case and not case.textual else set()


def planted() -> list[Planted]:
    """Both corpora."""
    files = []
    for path in planted_ptx.FILES:
        text = path.read_text(encoding="utf-8")
        kind = planted_ptx.head(text, "kind")
        # A copy that does not see the mbarrier initialised may never signal it, and a branch
        # beyond its table may go anywhere.
        hangs = (kind == "fence" and "mbarrier.try_wait" in text) or "brx.idx" in text
        files.append(Planted(path.stem, kind, hangs))
    return files + [Planted(c.name, kind_of(c), c.hangs) for c in CASES.values()]


def by_emulator(bug: Planted, broken: bool) -> dict[str, Any]:
    """The emulator's verdict, as a row."""
    try:
        bug.run("emulator", broken)
    except EmulatorFault as fault:
        return {"verdict": "found", "says": fault.kind}
    except ptx.PtxError as error:
        return {"verdict": "found" if broken else "failed", "says": f"{REFUSED} {error.message}"}
    return {"verdict": "clean", "says": ""}


@dataclass(frozen=True)
class Sanitizer:
    """compute-sanitizer, as it is called."""

    path: str
    seconds: float
    """After which a process is ended."""

    def __call__(self, tool: str, bug: Planted, broken: bool) -> dict[str, Any]:
        """Its verdict, as a row."""
        if broken and not bug.sent:
            return {"verdict": "not sent", "says": ""}
        version = "broken" if broken else "mended"
        run = [sys.executable, "-m", "benchmarks.sanitizer", "--run", bug.name, version]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                [self.path, "--tool", tool, *OPTIONS, *run],
                stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, start_new_session=True,
                env={**os.environ, "PTX_LINEINFO": "1"},
            )  # fmt: skip
            try:
                process.wait(self.seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return {"verdict": "time is up", "says": ""}
            out.seek(0)
            return verdict(out.read(), bug)


def verdict(text: str, bug: Planted) -> dict[str, Any]:
    """What a run's output says of a kernel, as a row."""
    output = parse(text)
    if REFUSED in text:
        return {"verdict": "not built", "says": text.partition(REFUSED)[2].strip().split("\n")[0]}
    if output.findings:
        lines = {line for found in output.findings for _, line in found.places}
        return {
            "verdict": "found",
            "says": output.findings[0].what,
            "line": bool(lines & bug.lines()) if bug.lines() else None,
        }
    if not output.complete or WRONG in text:
        return {"verdict": "failed", "says": text.strip().replace(f"{ROOT}/", "")[-300:]}
    # An error of a kernel comes from the driver without a tool too.
    said = next((call for call in output.calls if _of_a_kernel(call)), "")
    return {"verdict": "error" if said else "clean", "says": said}


def _of_a_kernel(call: str) -> bool:
    """Whether a call told of what a kernel did, and was not refused itself."""
    code = re.search(r"\(error (\d+)\)", call)
    return code is not None and int(code[1]) in STICKY


def judge(
    bugs: Sequence[Planted], tool: str, sanitizer: Sanitizer, jobs: int
) -> list[dict[str, Any]]:
    """A row for each kernel and twin."""
    work = [(bug, broken) for bug in bugs for broken in (True, False)]

    def one(bug: Planted, broken: bool) -> dict[str, Any]:
        start = time.monotonic()
        found = by_emulator(bug, broken) if tool == "emulator" else sanitizer(tool, bug, broken)
        return {
            "kernel": bug.name,
            "kind": bug.kind,
            "version": "broken" if broken else "mended",
            "tool": tool,
            **found,
            "seconds": round(time.monotonic() - start, 2),
        }

    # The emulator is one for the whole process.
    with ThreadPoolExecutor(1 if tool == "emulator" else jobs) as pool:
        return list(pool.map(lambda pair: one(*pair), work))


def run_one(name: str, version: str) -> int:
    """A process under compute-sanitizer: launch one kernel on the card."""
    (bug,) = [bug for bug in planted() if bug.name == name]
    broken = version == "broken"
    if broken and not bug.sent:
        raise SystemExit(f"{name} may wait for ever: it is not sent to a card")
    try:
        bug.run("cuda:0", broken)
    except ptx.PtxError as error:
        print(error.message if isinstance(error, LaunchError) else f"{REFUSED} {error.message}")
        return 1
    except ValueError as error:
        print(error)
        return 1
    return 0


def main(arguments: list[str]) -> int:
    parser = harness.parser("sanitizer", __doc__)
    parser.add_argument("--tool", action="append", choices=TOOLS, help="may be repeated; else all")
    parser.add_argument("--only", default="", metavar="WORD", help="kernels with this in the name")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--seconds", type=float, default=60, help="that a process may take")
    parser.add_argument("--sanitizer", default="", metavar="FILE", help="compute-sanitizer")
    parser.add_argument("--run", nargs=2, metavar=("NAME", "VERSION"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        return run_one(*options.run)
    usual = "/usr/local/cuda/bin/compute-sanitizer"
    path = options.sanitizer or shutil.which("compute-sanitizer") or usual
    if not Path(path).exists():
        print("compute-sanitizer is not on PATH, nor in /usr/local/cuda/bin; --sanitizer FILE")
        return 1
    sanitizer = Sanitizer(path, options.seconds)
    bugs = [bug for bug in planted() if options.only in bug.name]
    for tool in ("emulator", *(options.tool or TOOLS)):
        rows = judge(bugs, tool, sanitizer, options.jobs)
        counts = Counter((row["version"], row["verdict"]) for row in rows)
        told = ", ".join(f"{n} {version} {word}" for (version, word), n in sorted(counts.items()))
        print(f"{tool}: {told}", flush=True)
        if options.record:
            harness.record("sanitizer", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
