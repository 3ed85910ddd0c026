"""What was modelled without a card at hand: the emulator against a GPU, to the bit.

In every run a few of these jobs are assembled and run on the emulator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest

import ptx
from tests.differential import matrices
from tests.differential.asynchrony import asynchrony_jobs
from tests.differential.comparison import differences
from tests.differential.instances import video_instances
from tests.differential.jobs import Job
from tests.differential.programs import Batch, Images, batches, run
from tests.differential.stages import STAGES
from tests.differential.values import columns

EMULATOR = ptx.device("emulator")
NEW = ("video", "sparse mma", "asynchrony", "sparse wgmma")


@pytest.mark.gpu
@pytest.mark.parametrize("stage", NEW)
def test_a_stage_on_a_gpu(stage: str) -> None:
    card = ptx.device("cuda:0")
    wrong: list[str] = []
    for task in STAGES[stage]():
        ours, theirs = (task.run(device, Images()) for device in (EMULATOR, card))
        wrong += differences(task, ours, theirs)
    assert wrong == []


FEW: dict[str, Callable[[], Iterator[Job | Batch]]] = {
    "video": lambda: islice(batches(video_instances(), 32), 0, None, 19),
    "sparse mma": lambda: islice(matrices.sparse_mma_jobs(0), 0, None, 8),
    "asynchrony": lambda: islice(asynchrony_jobs(), 0, None, 11),
    "sparse wgmma": lambda: islice(matrices.sparse_wgmma_jobs(0), 0, None, 23),
}


@pytest.mark.parametrize("stage", FEW)
def test_jobs_assemble_and_write_results(stage: str) -> None:
    for job in FEW[stage]():
        assert ptx.assemble(job.text, "sm_90a").kernels
        if isinstance(job, Job):
            found = job.run(EMULATOR, Images())
        else:
            found = run(EMULATOR, job, columns(job.signature, job.lanes, 1), Images()).numpy()
        assert np.count_nonzero(found != 0xFF)
