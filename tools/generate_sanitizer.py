"""Write the comparison with compute-sanitizer into ``docs/faults.md``, from what
``benchmarks/results/sanitizer.jsonl`` records.

python tools/generate_sanitizer.py           write it
python tools/generate_sanitizer.py --check   exit 1 where it is not what the results give now
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "sanitizer.jsonl"
PAGE = ROOT / "docs" / "faults.md"
BEGIN, END = "<!-- sanitizer: tools/generate_sanitizer.py -->\n", "<!-- end of sanitizer -->\n"
TOOLS = ("emulator", "memcheck", "racecheck", "initcheck", "synccheck")
NOT_MADE = (
    "The comparison has not been made yet: `python -m benchmarks.sanitizer --record` makes it on\n"
    "a GPU.\n"
)

Row = dict[str, Any]


def latest(path: Path) -> dict[tuple[str, str, str], Row]:
    """The newest row by kernel, version and tool; none before the first run is recorded."""
    if not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["kernel"], row["version"], row["tool"]): row for row in rows}


def table(head: list[str], body: Iterable[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(line) + " |" for line in body]) + "\n"


def cell(row: Row | None) -> str:
    """A verdict on a broken kernel in a word; ``found`` with its line where that is known."""
    if row is None:
        return ""
    if row["verdict"] == "found" and row.get("line") is not None:
        return "found, line" if row["line"] else "found, other line"
    return str(row["verdict"])


def counts(rows: dict[tuple[str, str, str], Row]) -> str:
    body = []
    for tool in TOOLS:
        some = [row for (_, _, of), row in rows.items() if of == tool]
        broken = [row["verdict"] for row in some if row["version"] == "broken"]
        mended = [row["verdict"] for row in some if row["version"] == "mended"]
        if some:
            ran = len(broken) - broken.count("not sent") - broken.count("not built")
            body.append(
                [tool, str(ran), str(broken.count("found")), str(broken.count("error")),
                 str(len(mended)), str(mended.count("found")),
                 str(sum(word not in ("found", "clean") for word in mended))]
            )  # fmt: skip
    head = ["tool", "broken kernels run", "found", "only an error of the driver", "twins run",
            "false alarms", "failures"]  # fmt: skip
    return table(head, body)


def section(rows: dict[tuple[str, str, str], Row]) -> str:
    if not rows:
        return NOT_MADE
    kernels = dict.fromkeys((kernel, row["kind"]) for (kernel, _, _), row in rows.items())
    body = [
        [name, kind, *(cell(rows.get((name, "broken", tool))) for tool in TOOLS[1:])]
        for name, kind in kernels
    ]
    last = list(rows.values())[-1]
    where = f"{last['card']}, driver {last['driver']}" if "card" in last else last["machine"]
    return (
        f"{where}, {last['date'][:10]}, commit `{last['commit']}`. Broken kernels that may wait\n"
        "for ever are not sent to a card. The line counts where the author marked it.\n\n"
        f"{counts(rows)}\n{table(['kernel', 'fault', *TOOLS[1:]], body)}"
    )


def page(text: str, path: Path = RESULTS) -> str:
    """The page with the section as the results give it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no place for the comparison: {BEGIN.strip()}")
    return before + BEGIN + section(latest(path)) + END + after


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    kept = PAGE.read_text(encoding="utf-8")
    written = page(kept)
    if options.check and written != kept:
        print(f"{PAGE.relative_to(ROOT)} is not what the results give: run {Path(__file__).name}")
        return 1
    if not options.check:
        PAGE.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
