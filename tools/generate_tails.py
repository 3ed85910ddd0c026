"""Write ``docs/tails.md`` and its plot from ``benchmarks/results/tails.jsonl``.

python tools/generate_tails.py           write them
python tools/generate_tails.py --check   exit 1 where they are not what the results give now
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import generated

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "tails.jsonl"
PAGE = ROOT / "docs" / "tails.md"
PLOT = ROOT / "docs" / "tails.svg"

Row = dict[str, Any]

HEADER = """# Tails: what the end of a matrix costs

Written by `tools/generate_tails.py` from `benchmarks/results/tails.jsonl`; `make bench-tails`
measures again. The last iteration of a tiled product runs over the end of K, and the last tiles
over the ends of M and N. A policy ([`ptxgemm.Tail`](../ptxgemm/tail.py)) says what happens there.
All policies add in the same order and, as long as K is not split, give the same bits.

## The policies

A policy's name below is its edge and its schedule; where the edge is exact, edge and prefetch.

- The edge is what a thread does about an element outside. exact: nothing, the shape has to be of
  whole tiles. predicated: a guard on the load. branch: an `if` around it. zfill: `cp.async` reads
  fewer bytes and writes zeros. clamped: rows of A and columns of B outside are loaded from the last
  one, and what is computed of them is never stored. clamped-lines: the same of an operand that
  lies along K; the loads of one that lies along M or N are guarded.
- The schedule is where the step of K goes that is not whole. ragged-first: before the main loop.
  peeled-last: after it. guarded: into it, with every load guarded.
- The prefetch is how the last steps keep from fetching one that there is not. branch: an `if`.
  predicated: a guard. peeled: the loop ends early, and the last steps stand after it. clamped: the
  last step is fetched again.

Policies with async in their names fetch by `cp.async`, the others through registers. Each but auto
has one tile at all sizes, that of [the last table](#the-main-loop-by-policy-sm_90), which leaves
SMs idle where there are few tiles. auto is `tail="auto"`, with the tile that the library
chooses, and K in parts where tiles are few or the last ones do not fill the SMs.
"""


def latest() -> list[Row]:
    """The newest row for each size and policy, in the order of their runs; none before the first
    run is recorded.
    """
    found: dict[tuple[Any, ...], Row] = {}
    if not RESULTS.exists():
        return []
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = row["m"], row["n"], row["k"], row["policy"]
        found.pop(key, None)
        found[key] = row
    return list(found.values())


def size(row: Row) -> str:
    return f"{row['m']}x{row['n']}x{row['k']}"


def table(head: list[str], body: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(line) + " |" for line in body]) + "\n"


def machine_code(rows: list[Row]) -> str:
    seen: dict[str, Row] = {}
    for row in rows:
        if row["policy"] not in ("torch", "auto"):
            seen.setdefault(row["policy"], row)
    body = [
        [
            name, row["tile"], str(row["loop_instructions"]), str(row["loop_ffma"]),
            f"{row['loop_guarded_loads']} of {row['loop_loads']}", str(row["loop_branches"]),
            str(row["registers"]), str(row["spill_bytes"]), str(row["code_bytes"]),
        ]
        for name, row in seen.items()
    ]  # fmt: skip
    head = [
        "policy", "tile", "instructions in the main loop", "FFMA", "guarded loads", "branches",
        "registers", "bytes spilled", "bytes of code",
    ]  # fmt: skip
    return f"\n## The main loop, by policy (sm_90)\n\n{table(head, body)}"


def times(rows: list[Row]) -> str:
    sizes = list(dict.fromkeys(size(r) for r in rows if r["policy"] not in ("torch", "auto")))
    names = list(dict.fromkeys(r["policy"] for r in rows))
    by = {(r["policy"], size(r)): r for r in rows}
    body = [
        [name] + [_cell(by.get((name, one))) for one in sizes]
        for name in names
        if any((name, one) in by for one in sizes)
    ]
    found = f"\n## Microseconds (and torch's time over ours)\n\n{table(['policy', *sizes], body)}"
    others = [r for r in rows if r["policy"] == "auto" and size(r) not in sizes]
    body = [
        [size(r), f"{by['torch', size(r)]['us']:.1f}", _cell(r), r["tile"], _grid(r)]
        for r in others
    ]
    head = ["size", "torch", "auto", "tile", "K"]
    return found + f"\n## What the library chooses elsewhere\n\n{table(head, body)}"


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"{row['us']:.1f} ({row['torch_over_us']:.3f})"


def _grid(row: Row) -> str:
    if row["parts"] == 1:
        return "whole"
    return f"in {row['parts']} parts for {row['split_tiles']} of {row['tiles']} tiles"


def advice(rows: list[Row]) -> str:
    by = {(r["policy"], size(r)): r["us"] for r in rows}
    first = size(rows[0])
    exact = by["exact, peeled", first]
    over = {n: us / exact - 1 for (n, s), us in by.items() if s == first}
    best = min((n for n in over if n.startswith(("predicated", "branch", "clamped", "async z"))),
               key=over.__getitem__)  # fmt: skip
    cost = [f"{name} {100 * over[f'exact, {name}']:+.1f}%" for name in ("predicated", "branch")]
    edges = "predicated, ragged-first"
    return f"""
## Advice

At {first}, against loads without any guard and the last step peeled: a prefetch under a predicate
or a branch costs {" and ".join(cost)}; ptxas makes predicates of short branches, so that they
differ little. Guards for M and N as well ({edges}) cost {100 * over[edges]:+.1f}%, the best policy
that takes any shape ({best}) {100 * over[best]:+.1f}%. So: take the ragged K step first, which
frees the loop of every bound; clamp what lies along K instead of guarding it, since what is
computed of it is never stored; with `cp.async` let the source size fill with zeros; and
leave the choice to `tail="auto"`. It emits no guard at all where the shape is exact; else it takes
zfill with `cp.async`, without it clamped where rows of the result take vector stores and
clamped-lines where they do not.
"""


def plot(rows: list[Row]) -> str:
    """Bars of torch's time over ours, by policy at the first size and at the odd ones."""
    sizes = list(dict.fromkeys(size(r) for r in rows if r["policy"] not in ("torch", "auto")))[:3]
    shown = [r for one in sizes for r in rows if size(r) == one and r["policy"] != "torch"]
    left, top, step, scale = 230, 24, 16, 420
    parts, y, last = [], top, ""
    for row in shown:
        if size(row) != last:
            last, y = size(row), y + 22
            parts.append(f'<text x="8" y="{y - 5}" font-weight="bold">{last}</text>')
        width = row["torch_over_us"] * scale
        colour = "#4c78a8" if row["policy"] != "auto" else "#f58518"
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{row["policy"]}</text>')
        parts.append(
            f'<rect x="{left}" y="{y + 2}" width="{width:.1f}" height="11" fill="{colour}"/>'
        )
        parts.append(
            f'<text x="{left + width + 4:.1f}" y="{y + 11}">{row["torch_over_us"]:.3f}</text>'
        )
        y += step
    line = left + scale
    parts.append(
        f'<line x1="{line}" y1="{top}" x2="{line}" y2="{y}" stroke="#333" stroke-dasharray="3 3"/>'
    )
    parts.append(f'<text x="{line}" y="{top - 6}" text-anchor="middle">torch = 1</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{y + 12}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="#fff"/>'
        f"\n{body}\n</svg>\n"
    )


def page(rows: list[Row]) -> str:
    row = rows[-1]
    source = (
        f"\n{row['card']}, driver {row['driver']}, {row['date'][:10]}, commit `{row['commit']}`: "
        f"`{row['command']}`. Row-major float32, random data, every output compared with float64.\n"
    )
    picture = "\n![torch's time over ours, by policy](tails.svg)\n"
    return HEADER + advice(rows) + picture + times(rows) + machine_code(rows) + source


def made() -> dict[Path, str | None]:
    """Nothing where no run is recorded: ``make bench-tails`` measures on a GPU."""
    rows = latest()
    return {PAGE: page(rows), PLOT: plot(rows)} if rows else {}


if __name__ == "__main__":
    sys.exit(generated.main(__doc__, made))
