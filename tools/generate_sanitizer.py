"""Write the comparison with compute-sanitizer into ``docs/faults.md``, from what
``benchmarks/results/sanitizer.jsonl`` records.

python tools/generate_sanitizer.py           write it
python tools/generate_sanitizer.py --check   exit 1 where it is not what the results give now
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import generated

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "sanitizer.jsonl"
PAGE = ROOT / "docs" / "faults.md"
BEGIN, END = "<!-- sanitizer: tools/generate_sanitizer.py -->\n", "<!-- end of sanitizer -->\n"
TOOLS = ("emulator", "memcheck", "racecheck", "initcheck", "synccheck")
NOT_MADE = (
    "The comparison has not been made yet: `python -m benchmarks.sanitizer --record` makes it on\n"
    "a GPU.\n"
)
ABOUT = """\
Broken kernels that may wait for ever are not sent to a card. *Not built* are those that the
assembler refuses, because ptxas would mend them; *error* is what no tool names and the driver
reports of a kernel; *time is up* where the process did not end by itself; *not run* are kernels
that came after the tool's last run; the line counts where the author marked it. Each tool is made
for faults of some kinds, and what is none of its matter is clean under it.
"""
PRODUCTS = """\
### The shipped kernels

Small products, aligned and odd, in every type and by every way that data take; their results are
checked too.

"""

Verdict = dict[str, Any]
Key = tuple[str, str, str]
"""Kernel, version and tool."""


@dataclass
class Results:
    """What is known of a corpus: of each kernel, version and tool the newest verdict."""

    verdicts: dict[Key, Verdict] = field(default_factory=dict)
    runs: dict[Key, str] = field(default_factory=dict)
    """Where and when each verdict was made."""

    @property
    def tools(self) -> list[str]:
        known = {tool for _, _, tool in self.verdicts}
        return [tool for tool in TOOLS if tool in known]

    @property
    def kernels(self) -> dict[str, str]:
        """The kinds of fault by kernel, in the order of the names."""
        return {key[0]: self.verdicts[key]["kind"] for key in sorted(self.verdicts)}

    def of(self, tool: str, version: str) -> list[str]:
        return [one["verdict"] for key, one in self.verdicts.items() if key[1:] == (version, tool)]


def read(path: Path) -> dict[str, Results]:
    """By corpus; empty before the first run is recorded."""
    found: dict[str, Results] = defaultdict(Results)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for row in map(json.loads, lines):
        where = f"{row['card']}, driver {row['driver']}" if "card" in row else row["machine"]
        run = f"{where}, {row['date'][:10]}, commit `{row['commit']}`"
        results = found[row["corpus"]]
        for one in row["verdicts"]:
            key = one["kernel"], one["version"], row["tool"]
            results.verdicts[key], results.runs[key] = one, run
    return found


def table(head: list[str], body: Iterable[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(line) + " |" for line in body]) + "\n"


def cell(verdict: Verdict | None) -> str:
    """In a word; ``found`` with its line where that is known."""
    if verdict is None:
        return "not run"
    if verdict["verdict"] == "found" and "line" in verdict:
        return "found, line" if verdict["line"] else "found, other line"
    return str(verdict["verdict"])


def counts(results: Results) -> str:
    body = []
    for tool in results.tools:
        broken, mended = results.of(tool, "broken"), results.of(tool, "mended")
        ran = len(broken) - broken.count("not sent") - broken.count("not built")
        failures = sum(word not in ("found", "clean") for word in mended)
        numbers = (
            ran, broken.count("found"), broken.count("error"), len(mended), mended.count("found"),
            failures,
        )  # fmt: skip
        body.append([tool, *map(str, numbers)])
    head = ["tool", "broken kernels run", "found", "only an error of the driver", "twins run",
            "false alarms", "failures"]  # fmt: skip
    return table(head, body)


def alarms(results: Results) -> str:
    """Which mended kernels a tool tells of, and which tools have told nothing yet."""
    lines = []
    for tool in results.tools:
        names = [
            f"`{kernel}`"
            for (kernel, version, by), one in sorted(results.verdicts.items())
            if (version, by) == ("mended", tool) and one["verdict"] == "found"
        ]
        if names:
            lines.append(f"- False alarms of {tool}: the twins of {', '.join(names)}.\n")
    lines += [f"- {tool} has no recorded run.\n" for tool in TOOLS if tool not in results.tools]
    return "\n" + "".join(lines) if lines else ""


def runs(results: Results) -> str:
    return "; ".join(dict.fromkeys(results.runs.values())) + ".\n"


def comparison(results: Results) -> str:
    tools = [tool for tool in results.tools if tool != "emulator"]
    body = [
        [name, kind, *(cell(results.verdicts.get((name, "broken", tool))) for tool in tools)]
        for name, kind in results.kernels.items()
    ]
    numbers = f"{counts(results)}{alarms(results)}"
    return f"{runs(results)}{ABOUT}\n{numbers}\n{table(['kernel', 'fault', *tools], body)}"


def products(results: Results) -> str:
    body = [
        [name, *(cell(results.verdicts.get((name, "shipped", tool))) for tool in results.tools)]
        for name in results.kernels
    ]
    return f"{PRODUCTS}{runs(results)}\n{table(['product', *results.tools], body)}"


def section(found: dict[str, Results]) -> str:
    parts = [comparison(found["planted"])] if "planted" in found else []
    parts += [products(found["products"])] if "products" in found else []
    return "\n".join(parts) or NOT_MADE


def page(text: str, path: Path = RESULTS) -> str:
    """The page with the section as the results give it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no place for the comparison: {BEGIN.strip()}")
    return before + BEGIN + section(read(path)) + END + after


if __name__ == "__main__":
    sys.exit(generated.main(__doc__, lambda: {PAGE: page(PAGE.read_text(encoding="utf-8"))}))
