"""The emulator gives the recorded answers of an H200, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np
import pytest

import ptx
from tests.differential import asynchrony, branching, matrices, recorded, straight
from tests.differential.instances import all_instances
from tests.differential.jobs import Job
from tests.differential.programs import Images, batches
from tests.differential.recorded import FOLDER

EMULATOR = ptx.device("emulator")
JOBS: dict[str, Callable[[], Iterator[Job]]] = {
    "mma": matrices.mma_jobs,
    "wmma": matrices.wmma_jobs,
    "wgmma": matrices.wgmma_jobs,
    "sparse mma": matrices.sparse_mma_jobs,
    "sparse wgmma": matrices.sparse_wgmma_jobs,
}


@pytest.mark.parametrize(
    ("stage", "pattern"),
    [("straight", "^(?!set)"), ("straight", r"^setp?\.(eq|lt|geu|nan)\."), ("video", "")],
)
def test_instructions(stage: str, pattern: str) -> None:
    kept = dict(np.load(FOLDER / f"{stage}.npz"))
    assert list(recorded.replayed(EMULATOR, kept, pattern)) == []


@pytest.mark.slow
def test_every_comparison() -> None:
    kept = dict(np.load(FOLDER / "straight.npz"))
    assert list(recorded.replayed(EMULATOR, kept, "^set")) == []


def _differing(stage: str, each: int, spread: int = 1) -> list[str]:
    """Of every `spread`-th job of tensor cores those whose checksums differ, `each`-th cases
    alone.
    """
    kept = np.load(FOLDER / "digests.npz")
    wrong = []
    for job in islice(JOBS[stage](), 0, None, spread):
        wanted = kept[f"{stage}|{job.name}"]
        cases = list(range(0, job.grid, each))
        some = recorded.some_cases(job, cases)
        found = recorded.digests(some, some.run(EMULATOR, Images()), some.grid)
        if not np.array_equal(found, wanted[cases]):
            wrong.append(job.name)
    return wrong


@pytest.mark.parametrize(
    ("stage", "each", "spread"),
    [
        ("mma", 12, 1),
        ("wmma", 6, 1),
        ("wgmma", 18, 1),
        ("sparse mma", 27, 5),
        ("sparse wgmma", 5, 20),
    ],
)
def test_tensor_cores(stage: str, each: int, spread: int) -> None:
    assert _differing(stage, each, spread) == []


@pytest.mark.slow
@pytest.mark.parametrize("stage", JOBS)
def test_tensor_cores_in_full(stage: str) -> None:
    assert _differing(stage, 1) == []


def _whole_jobs_differ(stage: str, jobs: Iterable[Job]) -> list[str]:
    """Jobs that have one checksum each, and another now."""
    kept = np.load(FOLDER / "digests.npz")
    wrong = []
    for job in jobs:
        found = recorded.digests(job, job.run(EMULATOR, Images()), 1)
        if not np.array_equal(found, kept[f"{stage}|{job.name}"]):
            wrong.append(job.name)
    return wrong


def test_control_flow() -> None:
    some = map(branching.program, range(0, 300, 12))
    assert _whole_jobs_differ("branching", some) == []


@pytest.mark.slow
def test_all_control_flow() -> None:
    assert _whole_jobs_differ("branching", map(branching.program, range(300))) == []


def test_asynchrony() -> None:
    some = islice(asynchrony.asynchrony_jobs(), 0, None, 7)
    assert _whole_jobs_differ("asynchrony", some) == []


@pytest.mark.slow
def test_all_asynchrony() -> None:
    assert _whole_jobs_differ("asynchrony", asynchrony.asynchrony_jobs()) == []


@pytest.mark.slow
def test_one_operand_exhaustively() -> None:
    kept = dict(np.load(FOLDER / "one.npz"))
    wanted = dict(zip(kept["texts"].tolist(), kept["digests"].tolist(), strict=True))
    found = {}
    chosen = [i for i in all_instances() if i.text in wanted]
    assert len(chosen) == len(wanted)
    for batch in batches(chosen, straight.ALL):
        rows, column = straight.run_exhaustive(EMULATOR, batch, Images()), 0
        for instance in batch.instances:
            part = np.ascontiguousarray(rows[:, column : column + len(instance.results)])
            column += len(instance.results)
            found[instance.text] = recorded.checksum(part)
    assert [text for text in wanted if found[text] != wanted[text]] == []
