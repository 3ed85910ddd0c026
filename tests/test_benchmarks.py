"""What the benchmarks measure is what they say, and a result says where it comes from."""

from __future__ import annotations

import gc
import json
import runpy
import subprocess
import sys
import weakref
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ptx
from benchmarks import emission, fragments, harness
from ptx import sass
from ptx.toolchain import Driver, Gpu

ROOT = Path(__file__).parent.parent


def test_ptxas_keeps_every_fma_of_the_long_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emission, "INSTRUCTIONS", 400)
    kernel = emission.long_kernel()
    written = str(ptx.Module(kernel)).count("fma.rn.f32")
    assert written == 320
    assert sass.disassemble(ptx.assemble(ptx.Module(kernel), "sm_90")).count("FFMA") == written


def test_a_result_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHMARK_COMMIT", raising=False)
    path = harness.record("some", [{"us": 1.5}, {"us": 2.5}], tmp_path)
    harness.record("some", [{"us": 3.5}], tmp_path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["us"] for row in rows] == [1.5, 2.5, 3.5]
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    assert rows[0]["commit"].rstrip("+") == head[:12]
    assert {"date", "command", "python", "machine"} <= rows[0].keys()


def test_goals_of_fragments_are_judged_by_what_was_measured() -> None:
    rows: list[dict[str, Any]] = [
        {"map": "a", "as_expected": True}, {"map": "b", "as_expected": False},
        {"product": "wmma s32.s8.s8.s32", "equal_bits": 1.0},
        {"product": "mma f32.f16.f16.f32", "equal_bits": 0.7},
        {"product": "mma f64.f64.f64.f64", "equal_bits": 0.99},
        {"case": "mma f64 4096x4096x4096 NN", "us": {"torch": 98.0, "ptxgemm": 100.0},
         "errors": {"ptxgemm": 0.5}},
        {"case": "mma f16 4096x4096x4096 NN", "us": {"torch": 59.0, "ptxgemm": 100.0},
         "errors": {"ptxgemm": float("inf")}},
    ]  # fmt: skip
    assert {row["goal"]: row["reached"] for row in fragments.judged(rows)} == {
        "maps of wmma as expected": False,
        "wmma s32.s8.s8.s32 equal to the bit": True,
        "mma f64.f64.f64.f64 equal to the bit": False,
        "mma f64 4096x4096x4096 NN": True,
        "mma f16 4096x4096x4096 NN": False,
        "mma f16 4096x4096x4096 NN ptxgemm within its bound": False,
    }


COMMANDS = sorted(
    path.stem
    for path in Path(harness.__file__).parent.glob("*.py")
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


def ended(monkeypatch: pytest.MonkeyPatch, name: str, *arguments: str) -> object:
    """The status that ``python -m benchmarks.NAME`` ends with where neither torch nor a GPU is."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(harness, "find_driver", lambda: Driver(missing="none is here"))
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit) as ends:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    return ends.value.code


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_neither_torch_nor_a_gpu(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, name, "--help") == 0
    out, error = capsys.readouterr()
    assert out.startswith(f"usage: python -m benchmarks.{name}".removesuffix(".__main__"))
    assert error == ""


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
@pytest.mark.parametrize("name", sorted({*harness.NEEDS} - {"launch_cost", "sanitizer"}))
def test_what_needs_a_gpu_says_so_in_a_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, name) == 1
    assert capsys.readouterr() == (
        "", f"python -m benchmarks.{name}: it needs a GPU: none is here\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gpu", "torch", "missing"),
    [
        ((8, 0), None, "some GPU is older than sm_90"),
        ((9, 0), None, "torch is not installed: pip install torch"),
        ((9, 0), False, "torch sees no GPU: install a build of it for CUDA"),
        ((9, 0), True, ""),
    ],
)
def test_what_a_machine_lacks(
    gpu: tuple[int, int], torch: bool | None, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = SimpleNamespace(is_available=lambda: torch)
    module = SimpleNamespace(cuda=cuda, __spec__=SimpleNamespace(name="torch"))
    monkeypatch.setitem(sys.modules, "torch", None if torch is None else module)
    assert harness.NEEDS["narrow"].missing(Driver(gpus=(Gpu("some GPU", gpu),))) == missing


def test_inputs_rotate_through_more_than_a_cache() -> None:
    assert harness.input_sets(3 * 4 * 512**2) == 6
    assert harness.input_sets(3 * 4 * 2048**2) == 3
    assert harness.input_sets(3 * 4 * 8192**2) == 1


def test_a_graph_keeps_what_its_calls_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor:
        used = 0

        def __call__(self) -> None:
            self.used += 1

    cuda = SimpleNamespace(CUDAGraph=object, graph=lambda graph, stream: nullcontext())
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    tensors = [Tensor(), Tensor()]
    alive = [weakref.ref(one) for one in tensors]
    calls = [lambda one=one: one() for one in tensors]
    made = harness.captured(calls, 5)
    assert [one.used for one in tensors] == [3, 2]
    del tensors, calls
    gc.collect()
    assert all(one() is not None for one in alive)
    del made
    gc.collect()
    assert all(one() is None for one in alive)


@pytest.mark.parametrize("path", sorted(harness.RESULTS.glob("*.jsonl")), ids=lambda p: p.stem)
def test_recorded_results_are_whole(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert {"date", "commit", "command", "machine"} <= row.keys()
        assert not row["commit"].endswith("+"), "measured on a tree that no commit holds"
