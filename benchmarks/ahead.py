"""Kernels for Hopper made by other processes, while this one measures those that came before.

To write a kernel and to check it takes 50 to 60 ms of Python, to take what another process made
less than 1 (measured on a host without a GPU, on kernels of :mod:`benchmarks.choices`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context

import ptx
from ptx.assembler import Cubin
from ptx.devices import Device
from ptx.ir import Function
from ptxgemm import hopper, loading
from ptxgemm.choose import Choice

TARGET = "sm_90a"
LEFT_FREE = 2
"""Cores, for the process that measures."""


def signed(choice: Choice) -> Cubin:
    """The kernel's cubin, with no more of its module than launches look at: parameters and
    directives: the rest knows of its builder, and goes into no other process.
    """
    module = ptx.Module(hopper.kernel(choice))
    cubin = ptx.assemble(module, TARGET)
    heads = (replace(one, body=()) for one in module.items if isinstance(one, Function))
    return replace(cubin, text="", places=(), source=ptx.Module(*heads))


@contextmanager
def under_way(
    jobs: Iterable[Iterable[Choice]], workers: int | None = None
) -> Iterator[Iterator[dict[Choice, Cubin]]]:
    """Of each job in turn the cubins of those kernels that no job before it has; waits for them
    alone. Kernels that were not begun when the block ends are given up.
    """
    free = max(1, (os.cpu_count() or 1) - LEFT_FREE)
    # A process that uses CUDA is not forked.
    pool = ProcessPoolExecutor(workers or free, mp_context=get_context("spawn"))
    known: set[Choice] = set()
    todo: deque[dict[Choice, Future[Cubin]]] = deque()
    try:
        for job in jobs:
            fresh = dict.fromkeys(one for one in job if one not in known)
            known.update(fresh)
            todo.append({one: pool.submit(signed, one) for one in fresh})
        yield _results(todo)
    finally:
        pool.shutdown(cancel_futures=True)


def _results(todo: deque[dict[Choice, Future[Cubin]]]) -> Iterator[dict[Choice, Cubin]]:
    while todo:
        yield {one: future.result() for one, future in todo.popleft().items()}


def hand_over(device: Device, cubins: dict[Choice, Cubin]) -> None:
    """So that :func:`ptxgemm.hopper.plan` loads them and makes none."""
    for choice, cubin in cubins.items():
        loading.hand_over(device, cubin, hopper.kernel, choice)
