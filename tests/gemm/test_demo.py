"""``python -m ptxgemm``: the demo tells the truth, and emit prints PTX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import ptx
from ptxgemm import api, demo
from ptxgemm.__main__ import main
from ptxgemm.kernels.simt import sgemm


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "EMULATED", 128)


def run(folder: Path) -> int:
    return main(["demo", "--device", "emulator", "--output", str(folder)])


def test_the_demo_shows_both_products_by_every_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 0
    out = capsys.readouterr().out
    table = [line.split() for line in out.splitlines() if " emulator " in line]
    assert [(row[0], row[2]) for row in table] == [
        (product, form)
        for form in ("branch", "predicated", "peeled", "clamped")
        for product in ("blur", "random")
    ]
    # bytes spilled, instructions, predicated loads and branches in the loop, TFLOP/s
    assert [row[-5:] for row in table[-4:-2]] == [["0", "568", "0", "1", "-"]] * 2
    assert str(tmp_path / "blur.png") in out
    assert "WRONG" not in out
    assert_blurred(tmp_path / "blur.png")


def assert_blurred(path: Path) -> None:
    """The picture, and beside it what a Gaussian of three pixels, made here, turns it into."""
    picture = np.asarray(Image.open(path)) / 255
    before, after = picture[:, :128], picture[:, 128:]
    distance = (np.arange(128)[:, None] - np.arange(128)) / 3.0
    weights = np.where(abs(distance) <= 4, np.exp(-(distance**2) / 2), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    half_a_step = 0.5 / 255 + 1e-6
    assert np.abs(before - demo.draw(128)).max() <= half_a_step
    assert np.abs(after - weights @ demo.draw(128) @ weights.T).max() <= half_a_step
    assert np.abs(before - after).max() > 0.3


def test_a_wrong_product_is_said_to_be_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(*_: Any, **__: Any) -> None:
        """The poison stays."""

    monkeypatch.setattr(api, "launch", nothing)
    assert run(tmp_path) == 1
    assert "nan WRONG" in capsys.readouterr().out


def test_what_no_tool_can_tell_is_a_dash_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PTX_PTXAS", str(tmp_path / "absent"))
    assert run(tmp_path) == 0
    out = capsys.readouterr().out
    table = [line.split() for line in out.splitlines() if " emulator " in line]
    assert [row[-6:] for row in table] == [["-"] * 6] * 8
    assert "-: not known, as " in out
    assert "ptxas" in out.partition("not known, as ")[2]


def test_emit_prints_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "--prefetch", "predicated", "--l2-prefetch", "--target", "sm_80"]) == 0
    printed = ptx.parse(capsys.readouterr().out)
    expected = ptx.Module(sgemm(prefetch="predicated", l2_prefetch=True), target="sm_80")
    assert printed == ptx.parse(str(expected))


@pytest.mark.parametrize(
    ("target", "message"),
    [("sm90", "sm90 is no target; targets are sm_50, "), ("sm_30", "sm_30 is no target; ")],
)
def test_emit_for_what_is_no_target(
    target: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emit", "--target", target]) == 1
    out, error = capsys.readouterr()
    assert (out, error.startswith(f"error: {message}")) == ("", True)


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said before anything runs."""
    (tmp_path / "file").write_text("no folder")
    assert main(["demo", "--device", "emulator", "--output", str(tmp_path / "file")]) == 2
    assert capsys.readouterr() == ("", f"error: {tmp_path / 'file'}: File exists\n")


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--device", "gpu"]) == 1
    assert capsys.readouterr().err.startswith("error: 'gpu' is no device")
