"""Shipped kernels with one wait, barrier, fence, commit, arrival or guard taken away at a time.

``python -m tests.emu.mutations FAMILY`` prints what became of each mutation of a family.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import ptx
from ptx.emu import EmulatorFault, launch
from ptx.text import print_module
from tests.emu.families import FAMILIES

ORDERS: tuple[str | int, ...] = ("fixed", "reverse", 1, 2)
STEPS = 200_000
"""Far more than these problems take: who spins longer waits for nothing."""
DELETED = re.compile(
    r"\b(bar|barrier)\.|\bmbarrier\.(init|arrive)|\bfence\.|\bwgmma\.(fence|commit|wait)|"
    r"\b(commit_group|wait_group|wait_all)\b|\bgriddepcontrol\.wait"
)
GUARDED = re.compile(r"^\s*(@!?%\w+) ((ld|st|cp|red|atom)\..*)$")


@dataclass(frozen=True)
class Mutation:
    number: int
    """Of the line of PTX, from 0."""
    line: str
    becomes: str

    def __str__(self) -> str:
        return f"{self.number + 1}: {self.line}  ->  {self.becomes or 'nothing'}"


def mutations(text: str) -> Iterator[Mutation]:
    """All of a kernel, in the order of its lines."""
    before = ""
    for number, whole in enumerate(text.splitlines()):
        line = whole.strip()
        guarded = GUARDED.match(line)
        if DELETED.search(line):
            yield Mutation(number, line, "")
        elif "try_wait" in before and " bra " in line:
            yield Mutation(number, line, "")
        if guarded and not DELETED.search(line):
            yield Mutation(number, line, guarded[2])
        before = line


# ---------------------------------------------------------------- trials


@contextmanager
def replaced(run: Callable[..., Any], **options: Any) -> Iterator[None]:
    """Launches on the emulator go to `run`."""
    backend: Any = ptx.device("emulator").backend
    before = backend.run, backend.options
    backend.run, backend.options = run, options
    try:
        yield
    finally:
        backend.run, backend.options = before
        backend.fault = None


class _Found(Exception):
    """The kernel that was looked for is being launched."""


def kernel_text(family: str) -> str:
    """The PTX of a family's kernel, as it is launched."""
    kernel = FAMILIES[family]

    def run(function: Any, module: ptx.Module, *rest: Any, **options: Any) -> Any:
        if function.name.startswith(kernel.name):
            raise _Found(print_module(module, loc=False))
        return launch(function, module, *rest, **options)

    with replaced(run):
        try:
            kernel.problem()
        except _Found as found:
            return str(found)
    raise AssertionError(f"{family} launches no {kernel.name}")


@cache
def right(family: str) -> Any:
    """What the kernel as it is gives."""
    return FAMILIES[family].problem()


def trial(family: str, text: str, mutation: Mutation, order: str | int) -> str:
    """What shows that a line is missing under an order: a fault, a wrong result, or ``""``."""
    kernel = FAMILIES[family]
    lines = text.splitlines()
    lines[mutation.number] = mutation.becomes
    mutant = ptx.parse("\n".join(lines))
    known: dict[int, bool] = {}

    def run(function: Any, module: ptx.Module, *rest: Any, **options: Any) -> Any:
        if id(module) not in known:
            known[id(module)] = print_module(module, loc=False) == text
        if known[id(module)]:
            module, function = mutant, mutant.kernels[function.name]
        return launch(function, module, *rest, **options)

    with replaced(run, order=order, step_limit=STEPS):
        try:
            result = kernel.problem()
        except EmulatorFault as fault:
            return fault.kind
        except AssertionError:
            return "wrong result"
    return "" if np.array_equal(result, right(family)) else "wrong result"


def noticed(family: str, text: str, mutation: Mutation) -> str:
    """The first thing that any order shows."""
    for order in ORDERS:
        found = trial(family, text, mutation, order)
        if found:
            return found if order == "fixed" else f"{found} (order {order})"
    return ""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.emu.mutations",
        description="How the emulator notices each line that is left out of a shipped kernel.",
    )
    known = ", ".join(FAMILIES)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"all, or of {known}")
    options = parser.parse_args(arguments)
    if unknown := set(options.families) - set(FAMILIES):
        parser.error(f"there is no family {min(unknown)}; there are {known}")
    for family in options.families or FAMILIES:
        text = kernel_text(family)
        for mutation in mutations(text):
            found = noticed(family, text, mutation)
            print(f"{family} {mutation}: {found or 'NOT NOTICED'}", flush=True)


if __name__ == "__main__":
    main()
