"""compute-sanitizer beside the emulator on the planted bugs, and on the kernels that are shipped.

    python -m benchmarks.sanitizer [planted] [products] [--tool TOOL ...] [--jobs N] [--record]

Several kernels run in one process under a tool, and findings are theirs by the name of the kernel;
those after which a card's context is lost, and products, have a process of their own. Where a
process does not end well each of its kernels runs again, alone. Broken kernels that may wait for
ever are never sent to the card: those that end in a deadlock, those that break the rules of
barriers and masks, and those that branch anywhere. A row is recorded when a tool is through;
``tools/generate_sanitizer.py`` puts them into ``docs/faults.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import ptx
from benchmarks import harness
from benchmarks.sanitizer_output import Output, parse
from ptx.commands.options import at_least
from ptx.driver import STICKY, DriverError
from ptx.errors import LaunchError

EMULATOR = "emulator"
GROUP = 10
"""So many kernels share a process, where they can."""
GRACE = 2.0
"""Seconds that each kernel after the first adds to what a process may take."""
ROOT = Path(__file__).resolve().parent.parent
OPTIONS = (
    "--print-limit", "10000", "--show-backtrace", "no", "--target-processes", "application-only",
)  # fmt: skip
USUAL = "/usr/local/cuda/bin/compute-sanitizer"


class Subject(Protocol):
    """What runs under compute-sanitizer."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def sent(self, version: str) -> bool:
        """Whether it may run on a card."""

    def alone(self, version: str) -> bool:
        """Whether it shares no process."""

    def run(self, device: str, version: str) -> None:
        """Raises what goes wrong, :class:`ValueError` for a wrong result."""

    def lines(self) -> set[int]:
        """Of the Python file, where the bug is; empty where that is not known."""


# A process under a tool imports no more than what it runs: it is slow there.


def _planted() -> Sequence[Subject]:
    from benchmarks.sanitizer_planted import planted

    return planted()


def _products() -> Sequence[Subject]:
    from benchmarks.sanitizer_products import samples

    return samples()


@dataclass(frozen=True)
class Corpus:
    subjects: Callable[[], Sequence[Subject]]
    versions: tuple[str, ...]
    tools: tuple[str, ...]


CARD_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
CORPORA = {
    "planted": Corpus(_planted, ("broken", "mended"), (EMULATOR, *CARD_TOOLS)),
    "products": Corpus(_products, ("shipped",), ("memcheck", "racecheck")),
}
Job = tuple[Subject, str]
"""What runs, in which version."""
Verdict = dict[str, Any]

# ---------------------------------------------------------------- inside the tool's process

ENDED = {
    "ran": "ran", "wrong": "a result is wrong", "refused": "not built", "error": "an error",
    "lost": "the context is lost",
}  # fmt: skip
"""How a kernel ended, in the words of the process that launched it."""
_ENDED = re.compile(rf"^\* (.+?): ({'|'.join(ENDED.values())})(?:: (.*))?$", re.MULTILINE)


def launch_all(corpus: str, version: str, names: Sequence[str]) -> int:
    """Launch kernels on the card one after another, and print how each ended."""
    subjects: dict[str, Subject] = {one.name: one for one in CORPORA[corpus].subjects()}
    for name in names:
        if not subjects[name].sent(version):
            raise SystemExit(f"{name} may wait for ever: it is not sent to a card")
    for name in names:
        how, says = _launch(subjects[name], version)
        print(f"* {name}: {ENDED[how]}: {says}", flush=True)
        if how in ("error", "lost"):
            return 1
    return 0


def _launch(subject: Subject, version: str) -> tuple[str, str]:
    try:
        subject.run("cuda:0", version)
    except LaunchError as error:
        lost = isinstance(error, DriverError) and error.code in STICKY
        return "lost" if lost else "error", error.message.partition("\n")[0]
    except ptx.PtxError as error:
        return "refused", error.message.partition("\n")[0]
    except ValueError as error:
        return "wrong", str(error).partition("\n")[0]
    return "ran", ""


# ---------------------------------------------------------------- what its output says


def verdicts(text: str, group: Sequence[Subject]) -> dict[str, Verdict]:
    """By kernel, what the output of a process says; of none where it cannot be told apart."""
    output = parse(text)
    told = {name: (word, says) for name, word, says in _ENDED.findall(text)}
    if len(group) > 1:
        names = {one.name for one in group}
        left = any(word in (ENDED["error"], ENDED["lost"]) for word, _ in told.values())
        strange = {found.kernel for found in output.findings} - names
        if left or strange or _error(output) or not output.complete or set(told) != names:
            return {}
    return {one.name: _verdict(output, one, told.get(one.name), text, group) for one in group}


def _verdict(
    output: Output, one: Subject, told: tuple[str, str] | None, text: str, group: Sequence[Subject]
) -> Verdict:
    findings = [found for found in output.findings if len(group) == 1 or found.kernel == one.name]
    word, says = told or ("", "")
    if word == ENDED["refused"]:
        return {"verdict": "not built", "says": says}
    if findings:
        lines, right = {line for found in findings for _, line in found.places}, one.lines()
        where = {"line": bool(lines & right)} if right else {}
        return {"verdict": "found", "says": findings[0].what, **where}
    # An error of a kernel comes from the driver without a tool too, and memcheck alone repeats it.
    if said := _error(output) or (says if word == ENDED["lost"] else ""):
        return {"verdict": "error", "says": said}
    if not output.complete or word != ENDED["ran"]:
        why = f"{word}: {says}" if word else text.strip().replace(f"{ROOT}/", "")[-300:]
        return {"verdict": "failed", "says": why}
    return {"verdict": "clean"}


def _error(output: Output) -> str:
    """A call that told of what a kernel did, and was not refused itself."""
    for call in output.calls:
        code = re.search(r"\(error (\d+)\)", call)
        if code and int(code[1]) in STICKY:
            return call
    return ""


# ---------------------------------------------------------------- processes


@dataclass(frozen=True)
class Sanitizer:
    """compute-sanitizer, as it is called."""

    path: str
    seconds: float
    """After which a process of one kernel is ended."""

    def __call__(
        self, corpus: str, tool: str, version: str, group: Sequence[Subject]
    ) -> dict[str, Verdict]:
        """Its verdicts by kernel; of none where they cannot be told apart."""
        names = [one.name for one in group]
        run = [sys.executable, "-m", "benchmarks.sanitizer", corpus, "--run", version, *names]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                [self.path, "--tool", tool, *OPTIONS, *run],
                stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, start_new_session=True,
                env={**os.environ, "PTX_LINEINFO": "1"},
            )  # fmt: skip
            try:
                process.wait(self.seconds + GRACE * (len(group) - 1))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return {} if len(group) > 1 else {names[0]: {"verdict": "time is up"}}
            out.seek(0)
            return verdicts(out.read(), group)


def groups(jobs: Iterable[Job]) -> list[tuple[str, list[Subject]]]:
    """What shares a process: kernels of one version, for the names of the twins are the same."""
    found: list[tuple[str, list[Subject]]] = []
    open_ones: dict[str, list[Subject]] = {}
    for one, version in jobs:
        if one.alone(version):
            found.append((version, [one]))
            continue
        group = open_ones.get(version)
        if group is None or len(group) == GROUP:
            group = open_ones[version] = []
            found.append((version, group))
        group.append(one)
    return sorted(found, key=lambda item: -len(item[1]))


def by_sanitizer(
    corpus: str, tool: str, jobs: Sequence[Job], sanitizer: Sanitizer, processes: int
) -> dict[tuple[str, str], Verdict]:
    """The verdicts by kernel and version."""
    found: dict[tuple[str, str], Verdict] = {}

    def settle(todo: list[tuple[str, list[Subject]]]) -> None:
        with ThreadPoolExecutor(processes) as pool:
            said = pool.map(lambda item: sanitizer(corpus, tool, *item), todo)
            for (version, _), by_name in zip(todo, said, strict=True):
                found.update({(name, version): each for name, each in by_name.items()})

    settle(groups(job for job in jobs if job[0].sent(job[1])))
    for one, version in jobs:
        if not one.sent(version):
            found[one.name, version] = {"verdict": "not sent"}
    settle([(version, [one]) for one, version in jobs if (one.name, version) not in found])
    return found


def judge(
    corpus: str, tool: str, subjects: Sequence[Any], sanitizer: Sanitizer, processes: int
) -> dict[str, Any]:
    """A row of what one tool says of all kernels."""
    jobs = [(one, version) for one in subjects for version in CORPORA[corpus].versions]
    start = time.monotonic()
    if tool == EMULATOR:
        from benchmarks.sanitizer_planted import by_emulator

        found = {(one.name, version): by_emulator(one, version) for one, version in jobs}
    else:
        found = by_sanitizer(corpus, tool, jobs, sanitizer, processes)
    return {
        "corpus": corpus,
        "tool": tool,
        "seconds": round(time.monotonic() - start, 1),
        "verdicts": [
            {"kernel": one.name, "kind": one.kind, "version": version, **found[one.name, version]}
            for one, version in jobs
        ],
    }


def main(arguments: list[str]) -> int:
    parser = harness.parser("sanitizer", __doc__)
    parser.add_argument(
        "corpus", nargs="*", metavar="CORPUS", default=[],
        help=f"{' or '.join(CORPORA)} (default: both)",
    )  # fmt: skip
    parser.add_argument(
        "--tool", action="append", choices=(EMULATOR, *CARD_TOOLS), help="may be repeated; else all"
    )
    parser.add_argument("--only", default="", metavar="WORD", help="kernels with this in the name")
    parser.add_argument("--jobs", type=at_least(1), default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--seconds", type=float, default=20, help="that a process may take")
    parser.add_argument("--sanitizer", default="", metavar="FILE", help="compute-sanitizer")
    parser.add_argument("--run", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if unknown := set(options.corpus) - set(CORPORA):
        parser.error(f"there is no {unknown.pop()}; there are {', '.join(CORPORA)}")
    if options.run:
        return launch_all(options.corpus[0], options.run[0], options.run[1:])
    path = options.sanitizer or shutil.which("compute-sanitizer") or USUAL
    if options.tool != [EMULATOR]:
        if not Path(path).exists():
            print("compute-sanitizer is not on PATH, nor in /usr/local/cuda/bin; --sanitizer FILE")
            return 1
        harness.require(parser, options.needs)
    sanitizer = Sanitizer(path, options.seconds)
    for name in options.corpus or CORPORA:
        corpus = CORPORA[name]
        subjects = [one for one in corpus.subjects() if options.only in one.name]
        for tool in corpus.tools:
            if options.tool and tool not in options.tool:
                continue
            row = judge(name, tool, subjects, sanitizer, options.jobs)
            print(told(row), flush=True)
            if options.record:
                harness.record("sanitizer", [row])
    return 0


def told(row: dict[str, Any]) -> str:
    """A row in a line, and what is said of twins and products that are not clean."""
    counts = Counter((one["version"], one["verdict"]) for one in row["verdicts"])
    words = ", ".join(f"{n} {version} {word}" for (version, word), n in sorted(counts.items()))
    lines = [f"{row['corpus']}, {row['tool']}, {row['seconds']:.0f} s: {words}"]
    for one in row["verdicts"]:
        if one["version"] != "broken" and one["verdict"] != "clean":
            lines.append(f"  {one['kernel']}: {one['verdict']}: {one.get('says', '')}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
