"""Kept answers of a device are compared with the emulator's, and what differs is told."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.differential import answers, matrices
from tests.differential.__main__ import main
from tests.differential.instances import video_instances
from tests.differential.programs import batches
from tests.differential.stages import STAGES, _batches, _jobs

FEW = ["--stages", "video,mma"]


def test_what_differs_from_kept_answers_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(STAGES, "video", lambda: _batches(batches(video_instances()[:1], 32)))
    monkeypatch.setitem(STAGES, "mma", lambda: _jobs(islice(matrices.mma_jobs(), 1)))
    assert main(["run", str(tmp_path), "--out", str(tmp_path / "kept"), *FEW]) == 0
    assert main(["compare", str(tmp_path / "kept"), *FEW]) == 0
    assert "video: 1 tasks compared\nmma: 1 tasks compared\n" in capsys.readouterr().out

    assert main(["compare", str(tmp_path / "none"), *FEW]) == 1
    assert "video: 0 tasks compared" in capsys.readouterr().out

    for stage in ("video", "mma"):
        kept = answers.read(tmp_path / "kept", stage)
        writer = answers.Writer(tmp_path / "kept", stage)
        for name, array in kept.items():
            other: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] = array.copy()
            other[5] ^= 1
            writer.add(name, other)
        writer.close()
    assert main(["compare", str(tmp_path / "kept"), *FEW]) == 1
    video, _, mma, _ = capsys.readouterr().out.splitlines()
    assert video.startswith("video ") and " 1 of 32 differ" in video and ", card " in video
    assert mma.startswith("mma ") and mma.endswith("bytes differ, the first at 5")
