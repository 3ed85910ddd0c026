"""``python -m benchmarks``: every measurement that this machine can take."""

from __future__ import annotations

import importlib.util
import sys

from benchmarks import call_cost, emission, emulator_speed, launch_cost, sgemm, text_speed
from ptx.toolchain import find_driver


def main() -> int:
    for title, run in (
        ("emission", lambda: emission.main([])),
        ("parsing and printing", lambda: text_speed.main([])),
        ("the emulator", lambda: emulator_speed.main(["--record"])),
    ):
        print(f"== {title}")
        run()
    driver = find_driver()
    if not driver.gpus:
        print(f"== SGEMM and launches: not measured, no GPU: {driver.missing}")
        return 0
    print("== launches")
    launch_cost.main(["--record"])
    if importlib.util.find_spec("torch") is None:
        print("== SGEMM: not measured, torch, its peer, is not installed")
        return 0
    print("== calls")
    call_cost.main(["--record"])
    print("== SGEMM")
    return sgemm.main([])


if __name__ == "__main__":
    sys.exit(main())
