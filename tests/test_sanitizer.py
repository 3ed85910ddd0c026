"""The comparison with compute-sanitizer: its output read, its verdicts, and its table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import ptx
from benchmarks import sanitizer
from benchmarks.sanitizer import Sanitizer, Verdict
from benchmarks.sanitizer_output import Finding, parse
from benchmarks.sanitizer_planted import Planted, planted
from benchmarks.sanitizer_products import HOPPER, samples
from ptxgemm.narrow import Narrow
from tests.gemm.test_wgmma_sass import missing
from tools import generate_sanitizer

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
        Finding(
            "Invalid __global__ read of size 4 bytes", (("kernels/addresses.py", 66),),
            "left_neighbour",
        ),
    )  # fmt: skip
    (call,) = output.calls
    assert call.startswith("Program hit CUDA_ERROR_ILLEGAL_ADDRESS")


def test_the_places_of_older_versions_are_read() -> None:
    first, second = parse(OLD_MEMCHECK).findings
    assert first == Finding("Invalid __shared__ read of size 16 bytes", (("/home/me/tile.cu", 94),))
    assert second == Finding("Invalid __global__ write of size 8 bytes", ())


def test_racecheck_is_read() -> None:
    error, warning = parse(RACECHECK).findings
    assert error.what == "Error: Race reported between Write access"
    assert error.kernel == "scan_in_place"
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
BELOW = Planted("index_below_zero", "out-of-bounds")
RAN = "* left_neighbour: ran: \n"
ERROR = "* left_neighbour: an error: a launch failed\n"
LOST = "* left_neighbour: the context is lost: cuCtxSynchronize failed: 700\n"


def verdict(text: str, bug: Planted) -> Verdict:
    return sanitizer.verdicts(text, [bug])[bug.name]


def test_a_verdict_tells_whether_the_line_is_right() -> None:
    right = MEMCHECK.replace("66", str(min(NEIGHBOUR.lines())))
    assert verdict(ERROR + right, NEIGHBOUR)["line"] is True
    assert verdict(ERROR + MEMCHECK.replace("66", "1"), NEIGHBOUR)["line"] is False
    assert "line" not in verdict(MEMCHECK, BELOW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RAN + CLEAN, {"verdict": "clean"}),
        (CLEAN, "failed"),
        ("* left_neighbour: a result is wrong: y\n" + CLEAN, "failed"),
        (
            "* left_neighbour: not built: %f5 is in flight\n" + CLEAN,
            {"verdict": "not built", "says": "%f5 is in flight"},
        ),
        ("Error: No attachable process found", "failed"),
        (ERROR + BY_DRIVER, "error"),
        (LOST + CLEAN, {"verdict": "error", "says": "cuCtxSynchronize failed: 700"}),
        (ERROR + CLEAN, "failed"),
        (RAN + BY_DRIVER.replace("700", "1"), "clean"),
    ],
)
def test_verdicts_without_a_finding(text: str, expected: str | Verdict) -> None:
    said = verdict(text, NEIGHBOUR)
    assert expected in (said, said["verdict"])


def test_findings_of_one_process_are_told_apart() -> None:
    scan, step = Planted("scan_in_place", "race"), Planted("pivot_of_the_next_step", "race")
    ran = "* scan_in_place: ran: \n* pivot_of_the_next_step: ran: \n"
    one_race = RACECHECK.replace(RACECHECK.partition("Warning")[2].partition("RACECHECK")[0], "")
    one_race = one_race.replace("========= WarningRACECHECK", "========= RACECHECK")
    said = sanitizer.verdicts(ran + one_race, [scan, step])
    assert said["scan_in_place"]["says"] == "Error: Race reported between Write access"
    assert said["pivot_of_the_next_step"] == {"verdict": "clean"}
    # The warning is of a function that is no kernel of theirs.
    assert sanitizer.verdicts(ran + RACECHECK, [scan, step]) == {}
    # One did not end, or a context was lost.
    assert sanitizer.verdicts(ran.partition("* pivot")[0] + one_race, [scan, step]) == {}
    assert sanitizer.verdicts(ran + BY_DRIVER, [scan, step]) == {}
    assert sanitizer.verdicts(ran + LOST + CLEAN, [scan, step]) == {}
    assert sanitizer.verdicts(ran + CLEAN.rpartition("=========")[0], [scan, step]) == {}


def test_who_shares_a_process() -> None:
    jobs = [(bug, version) for bug in planted() for version in ("broken", "mended")]
    found = sanitizer.groups(job for job in jobs if job[0].sent(job[1]))
    alone = {one.name for version, (one, *rest) in found if not rest and version == "broken"}
    assert {"left_neighbour", "trap_where_none_should_be", "the_receiver_has_left"} <= alone
    assert max(len(group) for _, group in found) == sanitizer.GROUP
    assert sum(len(group) for _, group in found) == sum(bug.sent(how) for bug, how in jobs)
    assert len(found) < 70


def test_what_may_wait_for_ever_is_not_sent() -> None:
    bugs = {bug.name: bug for bug in planted()}
    assert len(bugs) >= 120
    waiting = (
        "crossed_barriers ring_no_filled one_arrival_a_warp mask_of_a_branch bulk_no_fence "
        "bulk_of_thirty_words"
    )
    for name in waiting.split():
        assert not bugs[name].sent("broken")
        assert bugs[name].sent("mended")
    assert bugs["left_neighbour"].sent("broken")
    assert bugs["reverse_no_barrier"].sent("broken")
    with pytest.raises(SystemExit, match="may wait for ever"):
        sanitizer.launch_all("planted", "broken", ["left_neighbour", "crossed_barriers"])


# ---------------------------------------------------------------- products


def test_the_sample_has_what_it_says() -> None:
    chosen = {name: product.chosen for name, product in HOPPER.items()}
    assert {one.a for one in chosen.values()} >= {"bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8"}
    narrow = [one for one in chosen.values() if isinstance(one, Narrow)]
    assert {one.a_copy for one in narrow} == {"tensor", "units"}
    assert any(one.parts > 1 and one.peers > 1 for one in narrow)
    assert any(one.tile_n & (one.tile_n - 1) for one in narrow)
    wide = [one for one in chosen.values() if not isinstance(one, Narrow)]
    assert {one.store for one in wide} == {"tensor", "units", "vectors", "elements"}
    assert {one.alternate for one in wide} == {False, True}
    assert any(one.cluster > 1 and one.cluster_n == 1 for one in wide)
    assert any((one.cluster, one.cluster_n) == (2, 2) for one in wide)
    assert {one.tile_m for one in wide if one.by_registers} == {64, 128, 256}
    promoted = {(one.tile_m, one.tile_n) for one in wide if one.accumulate == "promoted"}
    assert promoted >= {(128, 64), (128, 192)}
    names = [one.name for one in samples()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["wgmma narrow by units", "mma f16", "SGEMM"])
def test_a_product_is_right(name: str) -> None:
    (sample,) = [one for one in samples() if one.name == name]
    sample.run("emulator", "shipped")


@pytest.mark.slow
def test_all_products_are_right() -> None:
    for sample in samples():
        sample.run("emulator", "shipped")


@pytest.mark.skipif(missing("ptxas") or missing("nvdisasm"), reason="needs ptxas and nvdisasm")
@pytest.mark.parametrize("read", [2, 6, 14])
def test_ptxas_adds_what_a_copy_zeroes_to_its_address(read: int) -> None:
    """Why memcheck takes copies of part of 16 bytes for reads outside (docs/faults.md): the address
    in the machine code is higher by the number of bytes that are not read.
    """
    k = ptx.Kernel("copy", x="global.b32")
    x = k.param("x")
    tile = k.mov.u32(k.shared("tile", "b32", 4, align=16))
    k.op("cp.async.cg.shared.global", tile, x, 16, read)
    k.cp.async_.wait_all()
    k.st.global_.b32(x, k.ld.shared.b32(tile))
    k.ret()
    code = ptx.disassemble(ptx.assemble(ptx.Module(k), "sm_90")).kernel
    (copy,) = (str(one) for one in code.instructions if one.opcode.startswith("LDGSTS"))
    assert ".ZFILL" in copy and f"+{16 - read:#x}]" in copy


# ---------------------------------------------------------------- a whole run

FAKE = """\
import sys, time
tool, at = sys.argv[2], sys.argv.index("--run")
version, *names = sys.argv[at + 1 :]
print("========= COMPUTE-SANITIZER")
for name in names:
    if name == "ctas_share_a_cell" and (version, tool) == ("broken", "synccheck"):
        time.sleep(60)
    if version == "broken" and tool == "memcheck":
        print("========= Invalid __global__ read of size 4 bytes")
        print(f"=========     at {name}+0x90 in addresses.py:1")
    print(f"* {name}: ran: ", flush=True)
print("========= ERROR SUMMARY: 0 errors")
"""


@pytest.fixture
def fake(tmp_path: Path) -> Sanitizer:
    """A compute-sanitizer that finds in memcheck alone, and once never ends."""
    script = tmp_path / "compute-sanitizer"
    script.write_text(f"#!{sys.executable}\n{FAKE}")
    script.chmod(0o755)
    return Sanitizer(str(script), seconds=1)


def test_a_run_is_recorded_and_becomes_a_table(
    fake: Sanitizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sanitizer, "GRACE", 0.2)
    names = ("left_neighbour", "crossed_barriers", "ctas_share_a_cell", "reverse_no_barrier")
    bugs = [bug for bug in planted() if bug.name in names]
    tools = ("emulator", "memcheck", "synccheck")
    rows = [sanitizer.judge("planted", tool, bugs, fake, 4) for tool in tools]
    rows.append(sanitizer.judge("products", "memcheck", samples()[:1], fake, 4))
    by_key = {
        (one["kernel"], one["version"], row["tool"]): one["verdict"]
        for row in rows
        for one in row["verdicts"]
    }
    assert by_key["left_neighbour", "broken", "emulator"] == "found"
    assert by_key["left_neighbour", "mended", "emulator"] == "clean"
    assert by_key["left_neighbour", "broken", "memcheck"] == "found"
    assert by_key["left_neighbour", "mended", "memcheck"] == "clean"
    assert by_key["crossed_barriers", "broken", "memcheck"] == "not sent"
    assert by_key["ctas_share_a_cell", "broken", "synccheck"] == "time is up"
    assert by_key["reverse_no_barrier", "broken", "synccheck"] == "clean"
    path = tmp_path / "sanitizer.jsonl"
    where = {"machine": "none", "date": "2026-01-01", "commit": "0"}
    path.write_text("".join(json.dumps({**row, **where}) + "\n" for row in rows))
    page = generate_sanitizer.page((ROOT / "docs" / "faults.md").read_text(encoding="utf-8"), path)
    assert "| left_neighbour | out-of-bounds | found, other line | clean |" in page
    assert "| memcheck | 3 | 3 | 0 | 4 | 0 | 0 |" in page
    assert "| wgmma bf16 NN | clean |" in page
    assert "none, 2026-01-01, commit `0`." in page
    assert page.endswith((ROOT / "docs" / "faults.md").read_text(encoding="utf-8")[-100:])


def test_the_page_names_false_alarms_and_what_did_not_run(tmp_path: Path) -> None:
    def row(tool: str, *verdicts: tuple[str, str, str]) -> str:
        known = [
            {"kernel": kernel, "version": version, "verdict": verdict, "kind": "race"}
            for kernel, version, verdict in verdicts
        ]
        where = {"machine": "none", "date": "2026-01-01", "commit": "0", "corpus": "planted"}
        return json.dumps({**where, "tool": tool, "verdicts": known}) + "\n"

    path = tmp_path / "sanitizer.jsonl"
    path.write_text(
        row("memcheck", ("a", "broken", "clean"), ("a", "mended", "clean"))
        + row("racecheck", ("a", "broken", "found"), ("a", "mended", "found"))
        + row("racecheck", ("b", "broken", "found"), ("b", "mended", "clean"))
    )
    page = generate_sanitizer.page((ROOT / "docs" / "faults.md").read_text(encoding="utf-8"), path)
    assert "- False alarms of racecheck: the twins of `a`.\n" in page
    assert "- synccheck has no recorded run.\n" in page
    assert "memcheck has no" not in page and "alarms of memcheck" not in page
    assert "| b | race | not run | found |" in page


def test_without_a_record_the_page_says_so(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    assert "has not been made yet" in generate_sanitizer.page(text, tmp_path / "none.jsonl")


def test_the_emulator_alone_needs_no_other_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["planted", "--only", "barrier_16", "--sanitizer", str(tmp_path / "none")]
    assert sanitizer.main([*asked, "--tool", "emulator"]) == 0
    assert "1 broken found, 1 mended clean" in capsys.readouterr().out
    assert sanitizer.main(asked) == 1
