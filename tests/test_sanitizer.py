"""The comparison with compute-sanitizer: its output read, its verdicts, and its table."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import sanitizer
from benchmarks.sanitizer import Planted, Sanitizer
from benchmarks.sanitizer_output import Finding, parse

ROOT = Path(__file__).parents[1]

MEMCHECK = """\
========= COMPUTE-SANITIZER
hello from the program
========= Invalid __global__ read of size 4 bytes
=========     at left_neighbour+0x90 in kernels/addresses.py:66
=========     by thread (0,0,0) in block (0,0,0)
=========     Access at 0x7f30be1ffffc is out of bounds
=========     and is 4 bytes before the nearest allocation at 0x7f30be200000 of size 384 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: [0x2f0e3f] in libcuda.so.1
=========         Host Frame: _PyEval_Vector in ceval.c:6434 [0x1b0f2] in python3
=========
========= Program hit CUDA_ERROR_ILLEGAL_ADDRESS (error 700) due to "an illegal memory access \
was encountered" on CUDA API call to cuCtxSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========         Host Frame: [0x2d7a11] in libcuda.so.1
=========
========= Target application returned an error
========= ERROR SUMMARY: 2 errors
"""
OLD_MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __shared__ read of size 16 bytes
=========     at 0x7120 in /home/me/tile.cu:94:tile(float const *)
=========     by thread (0,4,0) in block (0,0,0)
=========     Address 0x10a8 is misaligned
========= Invalid __global__ write of size 8 bytes
=========     at 0x2090 in void scale<float, (int)2>(float *)
=========     by thread (8,0,0) in block (0,0,0)
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at scan_in_place+0x140 in races.py:38
=========     and Read access at scan_in_place+0xe0 in races.py:34 [4,096 hazards]
=========     and Write access at scan_in_place+0x140 in races.py:38 [5 hazards]
=========
========= Warning: Race reported between Read access at 0x570 in other(float *)
=========     and Write access at 0x200 in other(float *) [12 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
INITCHECK = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at beta_is_zero+0x70 in values.py:95
=========     by thread (30,0,0) in block (1,0,0)
=========     Address 0x7f65e5204710
=========
========= Host API memory access error at host access to 0x7f7fcdc01200 of size 400 bytes
=========     Uninitialized access at 0x7f7fcdc01300 on access by cuMemcpy source
=========     Saved host backtrace up to driver entry point at error
=========
========= ERROR SUMMARY: 2 errors
"""
SYNCCHECK = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in warp.
=========     at barrier_for_the_inside+0xa0 in barriers.py:48
=========     by thread (40,0,0) in block (0,0,0)
=========
========= Barrier error detected. Missing wait.
=========     at ring+0xbb10 in ring.cu:98
=========     by thread (128,0,0) in block (0,0,0)
=========     Barrier is located at shared address 0x30408
=========         Device Frame: ring_of_tiles at line 462
========= ERROR SUMMARY: 2 errors
"""
BY_DRIVER = "\n".join(MEMCHECK.splitlines()[:1] + MEMCHECK.splitlines()[11:])
"""Without the finding."""
CLEAN = "========= COMPUTE-SANITIZER\nall is well\n========= ERROR SUMMARY: 0 errors\n"


def test_memcheck_is_read() -> None:
    output = parse(MEMCHECK)
    assert output.complete
    assert output.findings == (
        Finding("Invalid __global__ read of size 4 bytes", (("kernels/addresses.py", 66),)),
    )
    (call,) = output.calls
    assert call.startswith("Program hit CUDA_ERROR_ILLEGAL_ADDRESS")


def test_the_places_of_older_versions_are_read() -> None:
    first, second = parse(OLD_MEMCHECK).findings
    assert first == Finding("Invalid __shared__ read of size 16 bytes", (("/home/me/tile.cu", 94),))
    assert second == Finding("Invalid __global__ write of size 8 bytes", ())


def test_racecheck_is_read() -> None:
    error, warning = parse(RACECHECK).findings
    assert error.what == "Error: Race reported between Write access"
    assert error.places == (("races.py", 38), ("races.py", 34), ("races.py", 38))
    assert warning == Finding("Warning: Race reported between Read access", ())


def test_initcheck_and_synccheck_are_read() -> None:
    output = parse(INITCHECK)
    assert [found.places for found in output.findings] == [(("values.py", 95),)]
    assert len(output.calls) == 1
    whats = [found.what for found in parse(SYNCCHECK).findings]
    assert whats == [
        "Barrier error detected. Divergent thread(s) in warp",
        "Barrier error detected. Missing wait",
    ]


@pytest.mark.parametrize("text", ["", "Traceback", CLEAN.rpartition("=========")[0]])
def test_an_output_without_its_ends_is_not_complete(text: str) -> None:
    assert not parse(text).complete
    assert parse(CLEAN) == parse(CLEAN.replace("all is well\n", ""))


# ---------------------------------------------------------------- verdicts

NEIGHBOUR = Planted("left_neighbour", "out-of-bounds")


def test_a_verdict_tells_whether_the_line_is_right() -> None:
    right = MEMCHECK.replace("66", str(min(NEIGHBOUR.lines())))
    assert sanitizer.verdict(right, NEIGHBOUR)["line"] is True
    assert sanitizer.verdict(MEMCHECK.replace("66", "1"), NEIGHBOUR)["line"] is False
    assert sanitizer.verdict(MEMCHECK, Planted("index_below_zero", "out-of-bounds"))["line"] is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (CLEAN, "clean"),
        (CLEAN.replace("all is well", f"{sanitizer.WRONG} y"), "failed"),
        (CLEAN.replace("all is well", f"{sanitizer.REFUSED} %f5 is in flight"), "not built"),
        ("Error: No attachable process found", "failed"),
        (BY_DRIVER, "error"),
        (BY_DRIVER.replace("700", "1"), "clean"),
    ],
)
def test_verdicts_without_a_finding(text: str, verdict: str) -> None:
    assert sanitizer.verdict(text, NEIGHBOUR)["verdict"] == verdict


def test_what_may_wait_for_ever_is_not_sent() -> None:
    bugs = {bug.name: bug for bug in sanitizer.planted()}
    assert len(bugs) >= 120
    waiting = "crossed_barriers ring_no_filled one_arrival_a_warp mask_of_a_branch bulk_no_fence"
    for name in waiting.split():
        assert not bugs[name].sent
    assert bugs["left_neighbour"].sent
    assert bugs["reverse_no_barrier"].sent
    with pytest.raises(SystemExit, match="may wait for ever"):
        sanitizer.run_one("crossed_barriers", "broken")


# ---------------------------------------------------------------- a whole run

FAKE = """\
import sys, time
tool, name, version = sys.argv[2], *sys.argv[-2:]
if name == "index_below_zero":
    time.sleep(60)
print("========= COMPUTE-SANITIZER")
if version == "broken" and tool == "memcheck":
    print("========= Invalid __global__ read of size 4 bytes")
    print("=========     at k+0x90 in addresses.py:1")
print("========= ERROR SUMMARY: 0 errors")
"""


@pytest.fixture
def fake(tmp_path: Path) -> Sanitizer:
    """A compute-sanitizer that finds in memcheck alone, and once never ends."""
    script = tmp_path / "compute-sanitizer"
    script.write_text(f"#!{sys.executable}\n{FAKE}")
    script.chmod(0o755)
    return Sanitizer(str(script), seconds=1)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "generate_sanitizer", ROOT / "tools" / "generate_sanitizer.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_is_recorded_and_becomes_a_table(fake: Sanitizer, tmp_path: Path) -> None:
    names = ("left_neighbour", "crossed_barriers", "index_below_zero", "waits_for_the_other_group")
    bugs = [bug for bug in sanitizer.planted() if bug.name in names]
    rows = []
    for tool in ("emulator", "memcheck", "synccheck"):
        some = bugs if tool == "emulator" else [b for b in bugs if b.name != names[3]]
        rows += sanitizer.judge(some, tool, fake, jobs=4)
    by_key = {(row["kernel"], row["version"], row["tool"]): row["verdict"] for row in rows}
    assert by_key["left_neighbour", "broken", "emulator"] == "found"
    assert by_key["waits_for_the_other_group", "broken", "emulator"] == "found"
    assert by_key["left_neighbour", "mended", "emulator"] == "clean"
    assert by_key["left_neighbour", "broken", "memcheck"] == "found"
    assert by_key["left_neighbour", "mended", "memcheck"] == "clean"
    assert by_key["crossed_barriers", "broken", "memcheck"] == "not sent"
    assert by_key["index_below_zero", "broken", "synccheck"] == "time is up"
    path = tmp_path / "sanitizer.jsonl"
    where = {"machine": "none", "date": "2026-01-01", "commit": "0"}
    path.write_text("".join(json.dumps({**row, **where}) + "\n" for row in rows))
    page = generator().page((ROOT / "docs" / "faults.md").read_text(encoding="utf-8"), path)
    assert "| left_neighbour | out-of-bounds | found, other line |  |  | clean |" in page
    assert "| memcheck | 2 | 1 | 0 | 3 | 0 | 1 |" in page
    assert page.endswith((ROOT / "docs" / "faults.md").read_text(encoding="utf-8")[-100:])


def test_without_a_record_the_page_says_so(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    assert "has not been made yet" in generator().page(text, tmp_path / "none.jsonl")
