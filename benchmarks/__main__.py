"""Every measurement that this machine can take, each in a process of its own.

    python -m benchmarks [NAME ...] [--record]

A measurement that fails, or finds a result wrong or a goal missed, does not stop the others; the
last table says what became of each, and of those that were left out, why.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass

import tabulate

from benchmarks import harness
from ptx.toolchain import Driver, find_driver


@dataclass(frozen=True)
class Measurement:
    """``python -m benchmarks.NAME``."""

    name: str
    arguments: tuple[str, ...] = ()

    def missing(self, driver: Driver) -> str:
        """What this machine lacks for it; empty where nothing."""
        return harness.NEEDS.get(self.name, harness.Needs()).missing(driver)

    def run(self, record: bool) -> int:
        """The exit status."""
        command = [sys.executable, "-m", f"benchmarks.{self.name}", *self.arguments]
        return subprocess.run(command + ["--record"] * record, check=False).returncode


MEASUREMENTS = {
    one.name: one
    for one in (
        Measurement("emission"),
        Measurement("parse"),
        Measurement("mistakes"),
        Measurement("emulator_speed"),
        Measurement("launch_cost"),
        Measurement("call_cost"),
        Measurement("sgemm"),
        Measurement("tails"),
        Measurement("fragments"),
        Measurement("hopper", ("--check", "2000")),
        Measurement("narrow"),
        Measurement("choices", ("--products", "60", "--seed", "3")),
        Measurement("sanitizer"),
    )
}
"""The cheap ones first, those that need most last."""


def known(name: str) -> str:
    if name not in MEASUREMENTS:
        raise argparse.ArgumentTypeError(f"there is no {name!r}")
    return name


def main() -> int:
    parser = harness.parser("", __doc__)
    parser.add_argument(
        "name", nargs="*", type=known, metavar="NAME",
        help=f"one of {', '.join(MEASUREMENTS)} (default: all)",
    )  # fmt: skip
    asked = parser.parse_args()
    table, driver = [], find_driver()
    for name in asked.name or MEASUREMENTS:
        measurement = MEASUREMENTS[name]
        if missing := measurement.missing(driver):
            table.append((name, "left out", missing))
            continue
        print(f"== {name}", flush=True)
        start = time.monotonic()
        status = measurement.run(asked.record)
        outcome = "failed" if status else "done"
        table.append((name, outcome, f"{time.monotonic() - start:.0f} s"))
    print(tabulate.tabulate(table))
    return int(any(outcome == "failed" for _, outcome, _ in table))


if __name__ == "__main__":
    sys.exit(main())
