"""A product bound to a kernel on a device, called with addresses."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce
from itertools import chain
from operator import or_
from typing import Any

import numpy as np

from ptx import driver
from ptx.devices import Device
from ptx.errors import LaunchError
from ptxgemm.arrays import BYTES
from ptxgemm.counters import from_zero
from ptxgemm.hopper_calls import Bound
from ptxgemm.problem import Problem
from ptxgemm.select import Choice, Terms, load, processor, select
from ptxgemm.tail import AUTO

Go = Callable[[int, int, int, int], None]

CHUNK_THREADS = 4096
"""So many threads the emulator moves at once."""
STEP_SECONDS = 0.05
"""What a K step of so many threads takes there, roughly: measured on one core of a server."""
SHOWN_SECONDS = 3.0
"""A product that may take longer has a progress bar."""
LIMIT_SECONDS = 120.0
"""One that may take longer is refused; ``PTXGEMM_EMULATOR_SECONDS`` sets another limit."""


class Launcher:
    """One product, at whatever addresses; built once, kept by its callers."""

    def __init__(self, where: Device, problem: Problem, terms: Terms) -> None:
        one, starts = problem.simplified.parts
        if not terms.alpha:
            # Then A and B are not read, whatever they hold, and there is no end of K to choose for.
            one, terms = replace(one, k=0), replace(terms, tail=AUTO)
        if not one.k:
            terms = replace(terms, alpha=0.0)
        of, out = BYTES[one.dtype], BYTES[one.out]
        self._items = of, of, out, out
        self._starts = tuple(
            tuple(n * item for n, item in zip(start, self._items, strict=True)) for start in starts
        )
        low = reduce(or_, chain(*self._starts), terms.low) & 15
        self.where = where
        self.problem = one
        self.choice = select(one, replace(terms, low=low, target=processor(where)))
        self.kernel = (
            load(where, self.choice.kernel)
            if isinstance(self.choice, Choice)
            else self.choice.kernel(where)
        )
        self._ready: dict[int, Go] = {}
        self._kept: list[Any] = []

    @property
    def seconds(self) -> float:
        """What it may take on the emulator."""
        chunks = -(-self.choice.ctas * self.choice.block // CHUNK_THREADS)
        return len(self._starts) * chunks * (1 + self.choice.steps) * STEP_SECONDS

    def on(self, stream: int) -> Go:
        """What launches it on a stream, by its handle, with the addresses of A, B, C and D."""
        ready = self._ready.get(stream)
        if ready is None:
            ready = self._ready[stream] = self._prepared(stream)
        return ready

    def _prepared(self, stream: int) -> Go:
        choice = self.choice
        if isinstance(choice, Choice):
            go = self._packed(choice, stream)
        else:
            go = Bound(self.where, choice, self._items, len(self._starts), stream)
        if self._starts != ((0, 0, 0, 0),):
            go = _repeated(go, self._starts)
        return go if self.where.is_cuda else self._emulated(go)

    def _packed(self, choice: Choice, stream: int) -> Go:
        pointers = dict.fromkeys(choice.pointers, 0)
        scratch = self._scratch(choice)
        given = choice.arguments | pointers | scratch
        arguments = {p.name: given[p.name] for p in self.kernel.parameters}
        launch = self.kernel.prepare(
            choice.grid, choice.block, arguments, shared=choice.shared, stream=stream
        ).at(*choice.pointers)
        if scratch:
            launch = from_zero(self.where, scratch["counters"], launch)
        return _picking(launch, tuple(choice.pointers.values()))

    def _scratch(self, choice: Choice) -> dict[str, Any]:
        """Memory for the parts of a split K; one for each stream, as launches on one wait for
        each other.
        """
        if not choice.workspace_bytes:
            return {}
        made = {
            "workspace": self.where.empty((choice.workspace_bytes // 4,), "float32"),
            "counters": self.where.array(np.zeros(choice.counters, np.uint32)),
        }
        self._kept += made.values()
        return made

    def _emulated(self, go: Go) -> Go:
        def run(a: int, b: int, c: int, d: int) -> None:
            limit = _limit()
            if self.seconds > limit:
                p, count = self.problem, self.problem.batch[0] * len(self._starts)
                raise LaunchError(
                    f"on the emulator a product of {p.m}x{p.n}x{p.k}"
                    f"{f', {count} times,' if count > 1 else ''} would take about "
                    f"{_duration(self.seconds)}; what takes more than {limit:g} s is refused, and "
                    "PTXGEMM_EMULATOR_SECONDS sets another limit"
                )
            with _Bar(self.where, self.seconds, len(self._starts)):
                go(a, b, c, d)

        return run


def _picking(launch: Callable[..., None], names: tuple[str, ...]) -> Go:
    """`launch` takes the addresses of these matrices; the result takes those of all four."""
    if names == ("a", "b", "d"):
        return lambda a, b, c, d: launch(a, b, d)
    if names == ("a", "b", "c", "d"):
        return launch
    places = tuple("abcd".index(name) for name in names)
    return lambda *addresses: launch(*[addresses[place] for place in places])


def _repeated(go: Go, starts: tuple[tuple[int, ...], ...]) -> Go:
    def run(a: int, b: int, c: int, d: int) -> None:
        for at_a, at_b, at_c, at_d in starts:
            go(a + at_a, b + at_b, c + at_c, d + at_d)

    return run


# ---------------------------------------------------------------- the emulator's patience


class _Bar:
    """A progress bar over the CTAs of a product's launches, where it may take long."""

    def __init__(self, where: Device, seconds: float, launches: int) -> None:
        self._options: Any = getattr(where.backend, "options", {})
        self._shown = seconds > SHOWN_SECONDS
        self._launches = launches
        self._bar: Any = None

    def __enter__(self) -> None:
        if self._shown:
            from tqdm import tqdm

            self._bar = tqdm(desc="emulated", unit="CTA", file=sys.stderr, disable=None)
            self._options["progress"] = self._progress
            self._before = 0

    def _progress(self, done: int, of: int) -> None:
        self._bar.total = of * self._launches
        self._bar.update(done - self._before)
        self._before = 0 if done == of else done

    def __exit__(self, *_: object) -> None:
        if self._shown:
            del self._options["progress"]
            self._bar.close()


@cache
def notice() -> None:
    """Say once that there is no GPU and what that means."""
    logging.getLogger("ptxgemm").warning(
        "no GPU (%s): products run on the emulator, which checks every access and takes seconds "
        "where a GPU takes microseconds",
        driver.problem(),
    )


def _limit() -> float:
    told = os.environ.get("PTXGEMM_EMULATOR_SECONDS", "")
    try:
        return float(told) if told else LIMIT_SECONDS
    except ValueError:
        raise LaunchError(
            f"PTXGEMM_EMULATOR_SECONDS is {told!r}; expected seconds, as 600"
        ) from None


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
