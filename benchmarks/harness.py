"""How a measurement is taken and kept: medians of replayed CUDA graphs, and lines of JSON.

torch gives the peers, the graphs and the float64 reference; it is no dependency of the packages,
and a machine without it measures only what needs no peer. What each measurement needs is in
:data:`NEEDS`; :func:`asked` ends one that the machine cannot take with one line. Clocks are left as
they are.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ptx.toolchain import Driver, find_driver

RESULTS = Path(__file__).parent / "results"
ROUNDS = 7
"""Each call is timed so often, in turn with its peers; the median counts."""
ROUND_MS = 6.0
"""A graph holds as many calls as fill this."""
ROTATED_BYTES = 150e6
"""Inputs rotate through more than an L2 cache, so that none is warm by accident."""


@dataclass(frozen=True)
class Needs:
    """What a measurement takes of the machine beside the packages."""

    capability: tuple[int, int] | None = None
    """Of the GPU; None where none is needed."""
    modules: tuple[str, ...] = ()
    """The peers that have to be installed."""

    def missing(self, driver: Driver) -> str:
        """What this machine lacks; empty where nothing."""
        if self.capability:
            if not driver.gpus:
                return f"it needs a GPU: {driver.missing}"
            if driver.gpus[0].capability < self.capability:
                return f"{driver.gpus[0].name} is older than sm_{self.capability[0]}0"
        for module in self.modules:
            if importlib.util.find_spec(module) is None:
                return f"{module} is not installed: pip install {module}"
        if self.capability and "torch" in self.modules and not torch.cuda.is_available():
            return "torch sees no GPU: install a build of it for CUDA"
        return ""


ANY, AMPERE, HOPPER = (7, 5), (8, 0), (9, 0)
NEEDS = {
    "launch_cost": Needs(ANY),
    "call_cost": Needs(ANY, ("torch",)),
    "sgemm": Needs(ANY, ("torch",)),
    "tails": Needs(AMPERE, ("torch",)),
    "fragments": Needs(AMPERE, ("torch",)),
    "hopper": Needs(HOPPER, ("torch",)),
    "hopper_check": Needs(HOPPER),
    "narrow": Needs(HOPPER, ("torch",)),
    "choices": Needs(HOPPER, ("torch",)),
    "sanitizer": Needs(HOPPER),
}
"""By the name of the measurement; those that are not here need nothing."""


class Late:
    """A module that is imported where something of it is first used: ``--help`` needs no peer."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


torch: Any = Late("torch")


def parser(name: str, doc: str | None, record: bool = True) -> argparse.ArgumentParser:
    """The command line of ``python -m benchmarks.NAME``, with ``--record`` if `record`."""
    made = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}".rstrip("."), description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    made.set_defaults(needs=NEEDS.get(name, Needs()))
    if record:
        made.add_argument("--record", action="store_true", help="append to benchmarks/results")
    return made


def asked(made: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> Any:
    """The options; the process ends with one line where the machine lacks what they need.

    A ``--device`` that is not a GPU by name needs nothing.
    """
    options = made.parse_args(arguments)
    if getattr(options, "device", "cuda").startswith("cuda"):
        require(made, options.needs)
    return options


def require(made: argparse.ArgumentParser, needs: Needs) -> None:
    """End the process with one line where this machine lacks something."""
    if missing := needs.missing(find_driver()):
        made.exit(1, f"{made.prog}: {missing}\n")


def environment() -> dict[str, Any]:
    """Where, when and on what commit this runs, and by what command."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "command": shlex.join([Path(sys.executable).name, *sys.orig_argv[1:]]),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        **card(),
    }


def commit() -> str:
    """The commit of this tree, with ``+`` where more than results was changed since.

    A copy without its repository is told by ``BENCHMARK_COMMIT``.
    """
    given = os.environ.get("BENCHMARK_COMMIT")
    if given:
        return given

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=RESULTS.parent, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", ":/", f":!{RESULTS.name}")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def card() -> dict[str, Any]:
    """The first GPU and its driver, as nvidia-smi tells; nothing without one."""
    query = "--query-gpu=name,driver_version,clocks.max.sm"
    try:
        done = subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    name, driver, clock = (part.strip() for part in done.stdout.splitlines()[0].split(","))
    return {"card": name, "driver": driver, "max_clock": clock}


def record(name: str, rows: list[dict[str, Any]], folder: Path = RESULTS) -> Path:
    """Append the rows to ``NAME.jsonl``, each with the environment; the file's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    where = environment()
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({**row, **where}) + "\n")
    return path


@dataclass(frozen=True)
class Captured:
    """A graph, and the calls whose launches it has: it knows memory by its address alone, and what
    they hold on to lives no longer than they do.
    """

    graph: Any
    count: int
    """Calls that a replay repeats."""
    calls: tuple[Callable[[], Any], ...]


def captured(calls: Sequence[Callable[[], Any]], count: int, stream: Any = None) -> Captured:
    """`count` of the calls, one after another and over again, on torch's stream or another."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(count):
            calls[i % len(calls)]()
    return Captured(graph, count, tuple(calls))


def graph_us(calls: Mapping[str, Callable[[int], None]], sets: int) -> dict[str, float]:
    """Microseconds of one call of each, without launch gaps.

    A call gets the number of the input set, below `sets`, and launches on torch's current stream.
    Each is captured in a graph several times; the graphs are replayed in turn, so that all meet the
    same temperature and power.
    """
    graphs = {}
    for name, call in calls.items():
        aside = torch.cuda.Stream()
        with torch.cuda.stream(aside):
            for i in range(3):
                call(i % sets)
        torch.cuda.synchronize()
        once = _elapsed_ms(lambda call=call: [call(i % sets) for i in range(4)]) / 4
        count = max(4, min(200, int(ROUND_MS / max(once, 0.003))))
        graphs[name] = captured([partial(call, i) for i in range(sets)], count)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, one in graphs.items():
            times[name].append(1e3 * _elapsed_ms(one.graph.replay) / one.count)
    return {name: statistics.median(values) for name, values in times.items()}


def _elapsed_ms(work: Callable[[], Any]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    work()
    end.record()
    torch.cuda.synchronize()
    elapsed: float = start.elapsed_time(end)
    return elapsed


def input_sets(nbytes: int) -> int:
    """How many sets of inputs and outputs of `nbytes` to rotate through."""
    return max(1, min(6, int(ROTATED_BYTES // nbytes) + 1))
