"""Measuring choices: what is wrong is never chosen, the fastest is kept and recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ptx
from ptx.errors import PtxError
from ptxgemm import __main__ as command
from ptxgemm import choices, tune
from ptxgemm.choices import Product
from ptxgemm.tiling import Tiling
from tests.gemm.test_choices import folders

__all__ = ["folders"]  # a fixture of these tests too
SMALL = Product(3, 70, 130, "NT")


def test_the_fastest_is_kept() -> None:
    device = ptx.device("emulator")
    asked: list[int] = []

    def timer(where: Any, contenders: Any) -> list[float]:
        asked.extend(len(calls) for calls in contenders)
        return [3.0, 1.0]

    found = tune.tune(device, SMALL, most=2, timer=timer)
    assert asked == [6, 6], "inputs rotate"
    assert [one.us for one in found] == [1.0, 3.0]
    assert all(0 < one.error <= 1 for one in found)
    assert found[1].choice == choices.ranked(device.sm_count, SMALL)[0]
    assert isinstance(found[0].choice, Tiling), "whole tiles are always among them"
    assert choices.measured(device.name, SMALL) == found[0].choice


def test_a_wrong_choice_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one, whatever it is, leaves C as it was."""
    make = tune.hopper.plan
    made: list[Any] = []

    def plan(*matrices: Any, **options: Any) -> Any:
        made.append(make(*matrices, **options))
        return (lambda: None) if made[-1].tiling == made[0].tiling else made[-1]

    monkeypatch.setattr(tune.hopper, "plan", plan)
    found = tune.tune(ptx.device("emulator"), SMALL, 2, lambda where, all: [1.0, 2.0])
    assert [one.us for one in found] == [2.0, float("inf")]
    assert found[1].error == float("inf")


def test_nothing_right_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune.hopper, "plan", lambda *matrices, **options: lambda: None)
    with pytest.raises(PtxError, match="no choice multiplies 8x70x130 NT bf16 bf16 bf16"):
        tune.tune(ptx.device("emulator"), SMALL, 2, lambda where, all: [1.0, 2.0])
    assert choices.measured("emulator", SMALL) is None


@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
def test_inputs_lie_as_the_layout_says(layout: str) -> None:
    product = Product(5, 9, 7, layout, "f16", "f16", "f32")
    one = tune._inputs(ptx.device("emulator"), product, 0)
    assert Product.of(*one.matrices) == product
    for host, array in zip((one.a, one.b), one.arrays[1:], strict=True):
        held = array.numpy()
        assert (held == (host if held.shape == host.shape else host.T)).all()


def test_the_command_without_a_gpu_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    if ptx.device("auto").is_cuda:
        pytest.skip("there is a GPU")
    assert command.main(["tune", "1x2x3"]) == 1
    assert "error: " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["tune", "1x2"])
    assert "1x2 is no MxNxK" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["tune", "1x2x3", "--layout", "NN,N"])
    assert "'N' is none of NN, NT, TN, TT" in capsys.readouterr().err


@pytest.mark.parametrize("most", ["1", "0", "-3", "all"])
def test_less_than_two_choices_are_not_measured(
    most: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["tune", "1x2x3", f"--most={most}"])
    assert f"{most} is no count of 2 or more" in capsys.readouterr().err
    if most != "all":
        with pytest.raises(ValueError, match=f"most is {most}; at least 2 choices"):
            tune.tune(ptx.device("emulator"), SMALL, int(most), lambda where, all: [1.0])


@pytest.mark.gpu
def test_the_command_records(
    hopper_gpu: Any, folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["tune", "7x512x1024", "--most", "4", "--record"]) == 0
    assert "8x512x1024 NT bf16 bf16 bf16" in capsys.readouterr().out
    shipped = choices.shipped_file(hopper_gpu.name).read_text()
    rows = [json.loads(line) for line in shipped.splitlines()]
    assert [row["product"] for row in rows] == ["8x512x1024 NT bf16 bf16 bf16"]
    product = Product(8, 512, 1024, "NT")
    assert choices.measured(hopper_gpu.name, product) == choices.decoded(rows[0]["choice"])
