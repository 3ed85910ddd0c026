"""``python -m ptx compare``: the emulator beside a GPU at several levels of ptxas (C35)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ptx
from ptx.__main__ import main
from ptx.commands import compare
from ptx.commands.compare import Way
from ptx.ir import Module
from tests.test_run import AXPY, args

LAUNCH = ["--block", "4", *map(str, args(3, 2, "arange:f32:4", "ones:f32:4"))]


@pytest.fixture
def axpy(tmp_path: Path) -> Path:
    path = tmp_path / "axpy.ptx"
    path.write_text(AXPY)
    return path


def emulated(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """Stands for the GPU: the emulator, which runs `wrong` for the first level's code."""

    def ways(module: Module, device: str, levels: tuple[int, ...]) -> Iterator[Way]:
        emulator = ptx.device("emulator")
        yield Way("emulator", emulator, module)
        for level in levels:
            text = AXPY.replace("fma.rn.f32 %f3, %f1, %f2, %f3;", wrong) if not level else AXPY
            yield Way(f"{device} -O{level}", emulator, ptx.parse(text))

    monkeypatch.setattr(compare, "ways", ways)


def test_equal_answers(
    axpy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emulated(monkeypatch, "fma.rn.f32 %f3, %f2, %f1, %f3;")
    assert main(["compare", str(axpy), *LAUNCH]) == 0
    assert capsys.readouterr().out == "emulator, cuda:0 -O0, cuda:0 -O3: equal to the bit\n"


def test_a_difference_is_told_with_its_inputs(
    axpy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emulated(monkeypatch, "mul.rn.f32 %f3, %f2, %f3;")
    assert main(["compare", str(axpy), *LAUNCH, "--levels", "0,1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "y: 3 of 4 elements differ",
        "  [0]: emulator 1.0, cuda:0 -O0 0.0, cuda:0 -O1 1.0; given x 0.0, y 1.0",
        "  [1]: emulator 3.0, cuda:0 -O0 1.0, cuda:0 -O1 3.0; given x 1.0, y 1.0",
        "  [2]: emulator 5.0, cuda:0 -O0 2.0, cuda:0 -O1 5.0; given x 2.0, y 1.0",
    ]


@pytest.mark.gpu
def test_on_a_gpu(axpy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(axpy), *LAUNCH]) == 0
    assert "equal to the bit" in capsys.readouterr().out
