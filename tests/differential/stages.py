"""The stages of a comparison, each with what it runs, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ptx.devices import Device
from tests.differential import branching, matrices, straight
from tests.differential.asynchrony import asynchrony_jobs
from tests.differential.instances import video_instances
from tests.differential.jobs import Job
from tests.differential.programs import Batch, Images, batches, run
from tests.differential.values import Array

PROGRAMS = 300
"""Random programs with control flow."""


@dataclass(frozen=True)
class Task:
    """One thing to run on both devices; `run` gives what is compared."""

    name: str
    texts: tuple[str, ...]
    run: Callable[[Device, Images], Array]
    of: Batch | Job
    """What it runs."""


def batch_name(batch: Batch) -> str:
    return hashlib.sha256(batch.text.encode()).hexdigest()[:16]


def _batches(some: list[Batch]) -> Iterator[Task]:
    for batch in some:

        def mixed(device: Device, images: Images, batch: Batch = batch) -> Array:
            found: Array = run(device, batch, straight.mixed_columns(batch), images).numpy()
            return found

        yield Task(batch_name(batch), (batch.text,), mixed, batch)


def _exhaustive(sources: int) -> Iterator[Task]:
    for batch in straight.exhaustive(sources):

        def every(device: Device, images: Images, batch: Batch = batch) -> Array:
            return straight.run_exhaustive(device, batch, images)

        yield Task(batch_name(batch), (batch.text, straight.DIGESTS), every, batch)


def _jobs(jobs: Iterator[Job]) -> Iterator[Task]:
    for job in jobs:
        yield Task(job.name, (job.text,), job.run, job)


STAGES: dict[str, Callable[[], Iterator[Task]]] = {
    "straight": lambda: _batches(straight.mixed()),
    "one": lambda: _exhaustive(1),
    "two": lambda: _exhaustive(2),
    "mma": lambda: _jobs(matrices.mma_jobs()),
    "wmma": lambda: _jobs(matrices.wmma_jobs()),
    "branching": lambda: _jobs(branching.program(n) for n in range(PROGRAMS)),
    "video": lambda: _batches(batches(video_instances(), straight.COMPARISON_LANES)),
    "sparse mma": lambda: _jobs(matrices.sparse_mma_jobs()),
    "asynchrony": lambda: _jobs(asynchrony_jobs()),
    "wgmma": lambda: _jobs(matrices.wgmma_jobs()),
    "sparse wgmma": lambda: _jobs(matrices.sparse_wgmma_jobs()),
}
"""Those that may go wrong on a GPU for good come last."""


def failed(error: Exception) -> Array:
    """An error in the place of an answer: its text."""
    return np.frombuffer(f"{type(error).__name__}: {error}".encode(), np.uint8).view("S1")
