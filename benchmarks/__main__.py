"""Every measurement that this machine can take, each in a process of its own.

    python -m benchmarks [NAME ...] [--record]

A measurement that fails, or finds a result wrong or a goal missed, does not stop the others; the
last table says what became of each, and of those that were left out, why.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from dataclasses import dataclass

import tabulate

from benchmarks import harness
from ptx.toolchain import Driver, find_driver


@dataclass(frozen=True)
class Measurement:
    """``python -m benchmarks.NAME``, and what it needs."""

    name: str
    arguments: tuple[str, ...] = ()
    capability: tuple[int, int] | None = None
    """Of the GPU; None where none is needed."""
    torch: bool = False
    """Whether torch, the peer, has to be installed."""

    def missing(self, driver: Driver) -> str:
        """What this machine lacks for it; empty where nothing."""
        if self.capability:
            if not driver.gpus:
                return f"no GPU: {driver.missing}"
            if driver.gpus[0].capability < self.capability:
                return f"{driver.gpus[0].name} is older than sm_{self.capability[0]}0"
        if self.torch and importlib.util.find_spec("torch") is None:
            return "torch is not installed"
        return ""

    def run(self, record: bool) -> int:
        """The exit status."""
        command = [sys.executable, "-m", f"benchmarks.{self.name}", *self.arguments]
        return subprocess.run(command + ["--record"] * record, check=False).returncode


ANY, AMPERE, HOPPER = (7, 5), (8, 0), (9, 0)
MEASUREMENTS = {
    one.name: one
    for one in (
        Measurement("emission"),
        Measurement("parse"),
        Measurement("mistakes"),
        Measurement("emulator_speed"),
        Measurement("launch_cost", (), ANY),
        Measurement("call_cost", (), ANY, torch=True),
        Measurement("sgemm", (), ANY, torch=True),
        Measurement("tails", (), AMPERE, torch=True),
        Measurement("fragments", (), AMPERE, torch=True),
        Measurement("hopper", ("--check", "2000"), HOPPER, torch=True),
        Measurement("narrow", (), HOPPER, torch=True),
        Measurement("choices", ("--products", "60", "--seed", "3"), HOPPER, torch=True),
        Measurement("sanitizer", (), HOPPER),
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
