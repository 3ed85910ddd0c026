"""A hundred mistakes that kernel authors make: whose line is named, by us and by pyptx.

    python -m benchmarks.mistakes [--verbose] [--record]

Half are made by machine from correct kernels (``planted/mutations.py``), 35 were written by someone
who had not read the checker, 15 with its rules at hand. A mistake counts where an error or a
warning names its line in Python, from building the kernel, from ``ptx.Module`` or from
``ptx.check``. Of each written one the right version must have no finding at all, nor any of the
kernels that the machine starts from. What pyptx says of the right version too is not counted for
it.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import ptx
from benchmarks import harness
from benchmarks.planted import mutations, read, rival, unread
from benchmarks.planted.mistake import Mistake, written
from ptx.errors import PtxError

MUTATIONS = 50
ROOT = Path(__file__).resolve().parent.parent


def planted() -> list[Mistake]:
    """All hundred, always the same."""
    return [
        *written(unread, "unread"),
        *written(read, "read"),
        *mutations.chosen(MUTATIONS),
    ]


def found_by_us(mistake: Mistake, right: bool = False) -> dict[int, str]:
    """What we say, by line of the file; 0 where no line is named."""
    try:
        built = mistake.build({"ptx": ptx, "Kernel": ptx.Kernel}, right)
        module = built if isinstance(built, ptx.Module) else ptx.Module(built)
    except PtxError as error:
        return {error.place.line if error.place else 0: error.message}
    except Exception as error:
        lines = [
            frame.lineno or 0
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == mistake.file
        ]
        return {lines[-1] if lines else 0: f"{type(error).__name__}: {error}"}
    return {d.line: f"{d.severity}: {d.message} [{d.name}]" for d in ptx.check(module)}


def found_by_pyptx(mistake: Mistake) -> dict[int, str] | None:
    """The same of pyptx, less what it says of the right version too; None where it has no way to
    express the mistake."""
    wrong = rival.names(lambda: mistake.build(rival.GLOBALS), mistake.file)
    right = rival.names(lambda: mistake.build(rival.GLOBALS, right=True), mistake.file) or {}
    if wrong is None:
        return None
    return {line: said for line, said in wrong.items() if right.get(line) != said}


def false_alarms() -> list[str]:
    """Findings in what is right."""
    return [
        f"{mistake.name}: {message}"
        for mistake in planted()
        for message in found_by_us(mistake, right=True).values()
    ]


def judge(mistakes: list[Mistake]) -> list[dict[str, Any]]:
    results = []
    for mistake in mistakes:
        ours = found_by_us(mistake)
        theirs = found_by_pyptx(mistake) if rival.VERSION else None
        results.append(
            {
                "mistake": mistake.name,
                "made": mistake.made,
                "ptx": mistake.line in ours,
                "pyptx": None if theirs is None else mistake.line in theirs,
                "says": ours.get(mistake.line, "").partition("\n")[0].replace(f"{ROOT}/", ""),
            }
        )
    return results


def table(results: list[dict[str, Any]]) -> list[str]:
    """Counts by the way in which the mistakes were made."""
    lines = [f"{'':30s} mistakes   ptx   pyptx   (of those that it can express)"]
    kinds = {"unread": "written, checker unread", "read": "written", "mutation": "made by machine"}
    total: Counter[str] = Counter()
    for made, title in (*kinds.items(), ("", "all")):
        some = [r for r in results if made in ("", r["made"])]
        total = Counter(
            all=len(some),
            ptx=sum(r["ptx"] for r in some),
            pyptx=sum(r["pyptx"] is True for r in some),
            expressed=sum(r["pyptx"] is not None for r in some),
        )
        theirs = f"{total['pyptx']:7d}   {total['expressed']}" if rival.VERSION else "      -"
        lines.append(f"{title:30s} {total['all']:8d} {total['ptx']:5d} {theirs}")
    return lines


def main(arguments: list[str]) -> int:
    parser = harness.parser("mistakes", __doc__)
    parser.add_argument("--verbose", action="store_true", help="print every mistake")
    options = parser.parse_args(arguments)
    results, alarms = judge(planted()), false_alarms()
    for one in results:
        if options.verbose or not one["ptx"]:
            theirs = {True: "yes", False: "no", None: "-"}[one["pyptx"]]
            print(f"{'named' if one['ptx'] else 'MISSED':6s} {theirs:3s} {one['mistake']}")
            print(f"           {one['says'][:100]}")
    print("\n".join(table(results)))
    print(f"false alarms in what is right: {len(alarms)}")
    print("\n".join([*alarms, f"pyptx {rival.VERSION}" if rival.VERSION else rival.MISSING]))
    if options.record:
        record = {
            "mistakes": len(results),
            "named": sum(one["ptx"] for one in results),
            "false_alarms": len(alarms),
            "pyptx": rival.VERSION or None,
            "pyptx_named": sum(one["pyptx"] is True for one in results),
            "pyptx_can_express": sum(one["pyptx"] is not None for one in results),
            "each": [[one["mistake"], one["ptx"], one["pyptx"], one["says"]] for one in results],
        }
        print(f"recorded in {harness.record('mistakes', [record])}")
    return int(not all(one["ptx"] for one in results) or bool(alarms))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
