"""``python -m ptx sass``: what it takes, what it prints, how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ptx.__main__ import main
from ptx.assembler import Cubin
from ptx.commands import images
from ptx.errors import PtxError
from ptx.sass import Sass
from ptx.sass.disassembler import disassemble
from ptx.scheduling import LEGEND
from tests.samples import LOOP, TWO_KERNELS
from tests.sass.made import made

ROOT = Path(__file__).parents[2]
SIMT = "ptxgemm.kernels.simt"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command runs: with loop.ptx, loop.cubin and two.cubin."""
    (tmp_path / "loop.ptx").write_text(LOOP)
    (tmp_path / "loop.cubin").write_bytes(made(LOOP).cubin.data)
    (tmp_path / "two.cubin").write_bytes(made(TWO_KERNELS).cubin.data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sass(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Status, standard output and error of the command."""
    monkeypatch.setattr("ptx.sass.disassemble", disassembled)

    def run(*arguments: object) -> tuple[int, str, str]:
        status = main(["sass", *map(str, arguments)])
        return status, *capsys.readouterr()

    return run


def disassembled(cubin: Cubin) -> Sass:
    """nvdisasm takes a while to start: an image that was read is not read again."""
    for known in (made(LOOP), made(TWO_KERNELS)):
        if known.cubin.data == cubin.data:
            return replace(known, cubin=cubin)
    return disassemble(cubin)


# ---------------------------------------------------------------- what it takes


def test_field_case_d04_ptx_on_standard_input(sass: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Field case D04: PTX on standard input and a target; control codes are a choice."""
    for options, shown in ([], True), (["--no-control"], False):
        given = io.TextIOWrapper(io.BytesIO(LOOP.encode()))
        monkeypatch.setattr("sys.stdin", given)
        status, out, _ = sass("-", "--target", "sm_90", *options)
        assert status == 0
        assert out.startswith("target sm_90\n")
        assert bool(re.search(r"B[\d-]{6}:R[\d-]:W[\d-]:[Y-]:S\d\d:[a-d-]{4}  +FFMA", out)) == shown
        assert re.search(r"  FFMA R\d, .*// .*:20  fma.rn.f32 %f1, %f2, %f2, %f1;\n", out)


def test_a_call_of_python(folder: Path) -> None:
    """By a module's name, of the working directory too, or by its file."""
    (folder / "shop.py").write_text(
        "import ptx\nWIDE = 64\n"
        "def build(name='k', *, wide=32):\n"
        "    k = ptx.Kernel(name, x='global.f32')\n"
        "    (x,) = k.params()\n"
        "    k.st.global_.f32(x + 4 * wide, k.mov.f32(1.0))\n"
        "    k.ret()\n"
        "    return k\n"
        "def text(): return str(ptx.Module(build('as_text')))\n"
        "def cubin(): return ptx.assemble(build('as_cubin'), 'sm_80')\n"
        "class Plan: loaded = type('Loaded', (), {'cubin': cubin()})\n"
        "def __getattr__(name):\n"
        "    if name != 'lazy': raise AttributeError(name)\n"
        "    return build\n"
        "kernel = build('made')\n"
    )
    for call, name in (
        ("build('by_name', wide=WIDE)", "by_name"),
        ("build()", "k"),
        ("build", "k"),
        ("kernel", "made"),
        ("text()", "as_text"),
        ("cubin()", "as_cubin"),
        ("Plan()", "as_cubin"),
        ("lazy('late')", "late"),
    ):
        for module in ("shop", "shop.py", str(folder / "shop.py")):
            assert list(images.image(f"{module}:{call}").kernels) == [name]
    assert images.image("shop:build()", "sm_90a").target == "sm_90a"
    assert images.image("shop:cubin()", "sm_80").target == "sm_80"


def test_what_a_plan_of_ptxgemm_runs() -> None:
    """On the emulator there is no image: the PTX that runs is assembled for any target."""
    cubin = images.image("ptxgemm:plan(64, 64, 64, device='emulator')", "sm_90")
    (name,) = cubin.kernels
    assert name.startswith("sgemm")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("nowhere:build()", "there is no file and no Python module named nowhere"),
        ("ptx.nowhere:build()", "there is no file and no Python module named ptx.nowhere"),
        (f"{SIMT}:nothing()", f"{SIMT} has no nothing"),
        (f"{SIMT}:sgemm(prefetch=peeled)", f"{SIMT} has no peeled"),
        (f"{SIMT}:sgemm(prefetch=)", "'sgemm(prefetch=)' is no call: "),
        (f"{SIMT}:sgemm(", "'sgemm(' is no call: '(' was never closed"),
        (f"{SIMT}:sgemm(n=1)", f"{SIMT}:sgemm(n=1): TypeError: sgemm() got an unexpected keyword"),
        (f"{SIMT}:sgemm(prefetch='x')", f"{SIMT}:sgemm(prefetch='x'): ValueError: prefetch is 'x'"),
        ("made.py", "made.py is Python: made.py:function(args) names what one of its functions"),
        (f"{SIMT}:Spec", f"{SIMT}:Spec is of type Spec; expected a ptx.Kernel, a ptx.Module, "),
    ],
)
def test_what_python_cannot_give(what: str, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        images.image(what)
    assert str(caught.value).startswith(message)


def test_the_line_that_raised_is_named(folder: Path) -> None:
    (folder / "shop.py").write_text("def build(n):\n    return [][n]\n")
    for call in ("shop.py:build(3)", f"{folder / 'shop.py'}:build(3)"):
        with pytest.raises(PtxError) as caught:
            images.image(call)
        assert str(caught.value).startswith(f"{call}: IndexError: list index out of range (")
        assert str(caught.value).endswith("shop.py:2)")


def test_files_that_it_does_not_take(folder: Path, sass: Any) -> None:
    (folder / "it.fatbin").write_bytes(b"\x50\xed\x55\xba\x01\x00")
    assert sass("it.fatbin")[2].startswith("error: it.fatbin is a fatbin; cuobjdump -xelf all")
    assert sass("loop.cubin", "--target", "sm_80")[2] == (
        "error: loop.cubin is a cubin for sm_90; PTX and kernels alone are assembled for another "
        "target, here sm_80\n"
    )
    assert sass("nowhere.py:build()")[0] == 2
    status, _, error = sass("loop.ptx", "--target", "sm_12")
    assert status == 1
    assert re.match(r"error: ptxas [\d.]+ makes no code for sm_12; it does for sm_75, sm_80", error)


def test_tools_that_are_missing(folder: Path, sass: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where it looked."""
    monkeypatch.setenv("PTX_PTXAS", "none/ptxas")
    status, _, error = sass("loop.ptx")
    assert (status, error) == (1, "error: ptxas: PTX_PTXAS names none/ptxas, which is no file\n")


# ---------------------------------------------------------------- text


def test_the_text(folder: Path, sass: Any) -> None:
    status, out, _ = sass("loop.ptx")
    cubin = made(LOOP).cubin
    assert status == 0
    assert out.startswith(f"target sm_90\nmade by ptxas {cubin.version} -v -lineinfo -O3\n")
    assert f"sha256 {cubin.sha256}\n" in out
    assert "occupancy on sm_90, 128 threads a CTA: 16 CTAs on an SM, 64 of 64 warps (100%)" in out
    assert "occupancy on sm_90, 1024 threads a CTA: 2 CTAs" in out
    body = out[out.index("\n  loop main:\n") : out.index("\n  loop main ends\n")]
    assert body.count("\n") == len(made(LOOP).loop("main").instructions) + 1
    assert "\x1b" not in out


def test_the_launch(folder: Path, sass: Any) -> None:
    _, out, _ = sass("loop.ptx", "--summary", "--threads", 96, "--shared", 100 << 10)
    assert "shared 0 bytes and 102400 dynamic\n" in out
    assert (
        "occupancy on sm_90, 96 threads a CTA: 2 CTAs on an SM, 6 of 64 warps (9%), "
        "limited by shared memory\n" in out
    )
    for wrong in ("0", "1025", "many"):
        with pytest.raises(SystemExit):
            sass("loop.ptx", "--threads", wrong)


def test_one_loop_alone(folder: Path, sass: Any) -> None:
    _, out, _ = sass("loop.ptx", "--loop", "main", "--no-control")
    listed = [line for line in out.splitlines() if re.match(r"0x[0-9a-f]{4}  ", line)]
    assert len(listed) == len(made(LOOP).loop("main").instructions)
    _, out, error = sass("loop.ptx", "--loop", "none")
    assert (out, error.startswith("error: total has no loops named 'none'")) == ("", True)


def test_colour_is_for_terminals(folder: Path) -> None:
    pty = pytest.importorskip("pty")
    command = [sys.executable, "-m", "ptx", "sass", "loop.cubin", "--loop", "main"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    for name in ("NO_COLOR", "FORCE_COLOR", "ANSI_COLORS_DISABLED"):
        environment.pop(name, None)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, env=environment)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # Linux ends a terminal that nobody holds so
        pass
    assert process.wait() == 0
    text = shown.replace(b"\r\n", b"\n").decode()
    assert "\x1b[" in text
    plain = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d*m", "", text) == plain


# ---------------------------------------------------------------- instead of text


def test_json(folder: Path, sass: Any) -> None:
    status, out, _ = sass("two.cubin", "--json", "--kernel", "first")
    found = json.loads(out)
    assert (status, [one["name"] for one in found["kernels"]]) == (0, ["first"])
    assert found["kernels"][0]["needs"]["shared_bytes"] == 1024
    found = json.loads(sass("--diff", "loop.ptx", "loop.cubin", "--json")[1])
    assert {row["mark"] for part in found["parts"] for row in part["rows"]} == {" "}


def test_html(folder: Path, sass: Any) -> None:
    status, out, _ = sass("loop.ptx", "--html", "loop.html")
    written = folder / "loop.html"
    assert (status, out) == (
        0, f"loop.html: {written.stat().st_size} bytes; open it in a browser\n",
    )  # fmt: skip
    assert written.read_text().startswith("<!DOCTYPE html>")
    assert sass("--diff", "loop.ptx", "loop.ptx", "--html", "two.html")[0] == 0
    assert (folder / "two.html").read_text().count("<svg") == 2
    assert sass("loop.ptx", "--html", "none/loop.html")[0] == 2


def test_claims(folder: Path, sass: Any) -> None:
    status, out, error = sass("loop.cubin", "--assert", "loop main: BRA == 1, LDL == 0; FFMA == 1")
    assert (status, error) == (0, "")
    assert out == "ok  loop main: BRA == 1\nok  loop main: LDL == 0\nok  FFMA == 1\n"
    status, out, error = sass(
        "loop.ptx", "--assert", "loop main: BRA == 2, FFMA == 1", "--assert", "LDG.E.128 >= 2"
    )
    assert (status, out) == (1, "ok  loop main: FFMA == 1\n")
    first, branch, second = error.splitlines()
    assert first == "error: total: loop main: BRA == 2: does not hold: BRA is 1"
    assert re.fullmatch(r"  0x[0-9a-f]{4}  @!?P\d BRA .*// <ptx>:24  @%p2 bra main;", branch)
    assert second == "error: total: LDG.E.128 >= 2: does not hold: LDG.E.128 is 0"
    assert sass("loop.ptx", "--assert", "BRA")[0] == 1
    assert sass("two.cubin", "--assert", "BRA == 0")[2] == (
        "error: two.cubin has 2 kernels (second, first): --kernel takes one\n"
    )
    assert sass("two.cubin", "--kernel", "second", "--assert", "EXIT == 1")[0] == 0


def test_side_by_side(folder: Path, sass: Any) -> None:
    (folder / "other.ptx").write_text(LOOP.replace("@%p3 ld", "ld"))
    status, out, _ = sass("--diff", "loop.ptx", "other.ptx")
    assert status == 0
    assert out.startswith("left   loop.ptx\n       sm_90, sha256 ")
    assert re.search(r"^loop main +instructions +\d+ +\d+", out, re.MULTILINE)
    assert re.search(r"^@P0 LDG\.E .* @  LDG\.E ", out, re.MULTILINE)
    assert "-- loop main --" in out
    assert sass("--diff", "loop.ptx", "two.cubin")[2].startswith("error: two.cubin has 2 kernels")


@pytest.mark.parametrize(
    "options",
    [
        ("loop.ptx", "--json", "--summary"),
        ("loop.ptx", "--html", "it.html", "--loop", "main"),
        ("loop.ptx", "--assert", "BRA == 1", "--no-control"),
        ("loop.ptx", "--assert", "BRA == 1", "--threads", "32"),
        ("loop.ptx", "--summary", "--loop", "main"),
        ("--diff", "loop.ptx", "loop.ptx", "--assert", "BRA == 1"),
        ("--diff", "loop.ptx", "loop.ptx", "--control"),
    ],
)
def test_options_that_would_do_nothing(options: tuple[str, ...], folder: Path, sass: Any) -> None:
    status, out, error = sass(*options)
    assert (status, out) == (1, "")
    assert error.startswith("error: --")


def test_one_or_the_other(folder: Path, sass: Any) -> None:
    said = (2, "", "error: sass takes WHAT, or --diff A B; --help explains both\n")
    assert sass() == said
    assert sass("loop.ptx", "--diff", "loop.ptx", "loop.ptx") == said


def test_help(sass: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Every example of it is a command that is read."""
    with pytest.raises(SystemExit):
        sass("--help")
    text = capsys.readouterr().out
    assert all(line in text for line in LEGEND.splitlines())
    assert max(map(len, text.splitlines())) <= 100
    examples = re.findall(r"^  python -m ptx sass (.*?)$", text.replace("\\\n", ""), re.MULTILINE)
    assert len(examples) == 5
