"""Shipped kernels with one wait, barrier, fence, commit, arrival or guard taken away at a time.

``python -m tests.emu.mutations FAMILY`` prints what became of each mutation of a family.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import ptx
import ptxgemm
from ptx.emu import EmulatorFault, launch
from ptx.text import print_module
from ptxgemm import hopper
from ptxgemm.hopper import Matrix
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Tiling
from tests.gemm.test_pad import padded

ORDERS: tuple[str | int, ...] = ("fixed", "reverse", 1, 2)
STEPS = 200_000
"""Far more than these problems take: who spins longer waits for nothing."""
DELETED = re.compile(
    r"\b(bar|barrier)\.|\bmbarrier\.(init|arrive)|\bfence\.|\bwgmma\.(fence|commit|wait)|"
    r"\b(commit_group|wait_group|wait_all)\b"
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


# ---------------------------------------------------------------- problems


def _close(m: int, n: int, k: int) -> Any:
    random = np.random.default_rng(m + n + k)
    return (random.integers(-3, 4, size) for size in ((m, k), (k, n)))


def _simt(m: int, n: int, k: int) -> Any:
    a, b = (x.astype(np.float32) for x in _close(m, n, k))
    return ptxgemm.sgemm(a, b, device="emulator")


def _hopper(m: int, n: int, k: int, tiling: Tiling | Narrow) -> Any:
    """By tensor cores, whatever the shape; odd rows are padded by a launch before."""
    device = ptx.device("emulator")
    a, b = (x.astype(ml_dtypes.bfloat16) for x in _close(m, n, k))
    c = np.zeros((m, n), np.float32)
    arrays = [device.array(x) for x in (c, a, b)]
    matrices = [
        Matrix(array.pointer, *x.shape, x.shape[1], 1, kind)
        for array, x, kind in zip(arrays, (c, a, b), ("f32", "bf16", "bf16"), strict=True)
    ]
    hopper.plan(device, *matrices, tiling=tiling)()
    return arrays[0].numpy()


def _pad() -> Any:
    """Judged by itself, in allocations that end with their last elements."""
    # The last unit, of one element, falls to each of a thread's four units in turn.
    for first, second in ((5, 30), (60, 90)):
        padded([(first, 73, 73, 0), (second, 73, 73, 0)], "bf16", "u2")
    return np.zeros(0)


FAMILIES: dict[str, tuple[str, Callable[[], Any]]] = {
    "simt": ("sgemm", lambda: _simt(128, 128, 40)),
    "wgmma": ("wgmma", lambda: _hopper(264, 72, 200, Tiling(128, 64, stages=2))),
    "narrow": ("narrow", lambda: _hopper(13, 135, 520, Narrow(128, 16, 2, parts=2, peers=2))),
    "pad": ("pad", _pad),
}
"""Of each the start of the kernel's name, and a problem that takes every path of it."""


REDUNDANT = {
    "pad": (
        re.compile(r"@%p\d+ ld\.global\.nc\.u16 %b\d+, \[%sd\d+\];"),
        "the guard of a unit's first element: a unit that exists has one",
    ),
}
"""Of a family the lines that may go unnoticed, and why they are redundant."""


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


def kernel_text(family: str) -> str:
    """The PTX of a family's kernel, as it is launched."""
    name, problem = FAMILIES[family]
    found: list[str] = []

    def run(function: Any, module: ptx.Module, *rest: Any, **options: Any) -> Any:
        if function.name.startswith(name):
            found.append(print_module(module, loc=False))
        return launch(function, module, *rest, **options)

    with replaced(run):
        problem()
    return found[0]


def trial(family: str, text: str, mutation: Mutation, order: str | int, right: Any) -> str:
    """What shows that a line is missing under an order: a fault, a wrong result, or ``""``."""
    name, problem = FAMILIES[family]
    lines = text.splitlines()
    lines[mutation.number] = mutation.becomes
    mutant = ptx.parse("\n".join(lines))

    def run(function: Any, module: ptx.Module, *rest: Any, **options: Any) -> Any:
        if function.name.startswith(name):
            module, function = mutant, mutant.kernels[function.name]
        return launch(function, module, *rest, **options)

    with replaced(run, order=order, step_limit=STEPS):
        try:
            result = problem()
        except EmulatorFault as fault:
            return fault.kind
        except AssertionError:
            return "wrong result"
    return "" if np.array_equal(result, right) else "wrong result"


def noticed(family: str, text: str, mutation: Mutation, right: Any) -> str:
    """The first thing that any order shows."""
    for order in ORDERS:
        found = trial(family, text, mutation, order, right)
        if found:
            return found if order == "fixed" else f"{found} (order {order})"
    return ""


def main(families: list[str]) -> None:
    for family in families or FAMILIES:
        text = kernel_text(family)
        right = FAMILIES[family][1]()
        for mutation in mutations(text):
            found = noticed(family, text, mutation, right)
            print(f"{family} {mutation}: {found or 'NOT NOTICED'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
