"""The commands of ``python -m ptx``: what they print, and their exit status."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

import ptx
from ptx import toolchain
from ptx.__main__ import COMMANDS, main
from ptx.assembler import assemble
from tests.samples import LOOP, TWO_KERNELS

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "loop.ptx"
    path.write_text(LOOP)
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def test_as_a_module(loop: Path) -> None:
    command = [sys.executable, "-m", "ptx"]
    done = subprocess.run([*command, "--version"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"ptx {ptx.__version__}\n")
    done = subprocess.run([*command, "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2


# ---------------------------------------------------------------- check


def test_check_a_clean_file(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop.write_text(LOOP.replace("@%p3 ", ""))
    assert printed(capsys, "check", loop) == (0, "", "")


def test_check_names_file_line_and_column(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop.write_text(LOOP.replace("mov.u32 %r2, 0;", "mov.u32 %f1, 0;"))
    status, out, _ = printed(capsys, "check", loop)
    assert status == 1
    assert out.startswith(
        f"{loop}:14:5: error: mov.u32 %f1, 0; [operands]\n"
        "  operand d: expected .u32, got %f1 (.f32)\n"
    )


def test_warnings_alone_are_no_failure(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = printed(capsys, "check", loop)
    assert status == 0
    message = "%f2 may be read before it is written: its guard may skip the write"
    assert out == (
        f"{loop}:20:5: warning: {message} [maybe-unset-register]\n"
        "  fma.rn.f32 %f1, %f2, %f2, %f1;\n"
    )


def test_check_for_a_target(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LOOP.replace("sm_90", "sm_90a").replace("@%p3 ", "").replace("n)", "n) .maxnreg 64")
    loop.write_text(text.replace("    ret;", "    setmaxnreg.dec.sync.aligned.u32 40;\n    ret;"))
    assert printed(capsys, "check", loop)[0] == 0
    status, out, _ = printed(capsys, "check", loop, "--target", "sm_80")
    assert status == 1
    assert out.startswith(f"{loop}:27:5: error: setmaxnreg.dec.sync.aligned.u32 needs sm_90a, ")
    assert "the target is sm_80 [target]" in out


def test_check_a_version_newer_than_any(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop.write_text(LOOP.replace(".version 8.0", ".version 99.0").replace("@%p3 ", ""))
    status, out, _ = printed(capsys, "check", loop)
    assert status == 0
    message = "PTX 99.0 is newer than the newest version that is known here, 9.0"
    assert out == f"{loop}:1:10: warning: {message} [version]\n  .version 99.0\n"


def test_check_a_syntax_error(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop.write_text(LOOP.replace("[p];", "[p;"))
    status, out, _ = printed(capsys, "check", loop)
    assert status == 1
    assert out.startswith(f"{loop}:11:")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\x00", "caf\u00e9".encode()])
def test_check_bytes_that_are_no_ptx(
    data: bytes, loop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Readable, and wrong: an error with its line, no traceback."""
    loop.write_bytes(LOOP.encode() + b"// " + data + b"\n" + data)
    status, out, _ = printed(capsys, "check", loop)
    assert status == 1
    assert out.startswith(f"{loop}:")


def test_check_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = LOOP.replace("@%p3 ", "").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert printed(capsys, "check", "-")[0] == 0


@pytest.mark.parametrize("command", ["check", "sass"])
def test_a_file_that_cannot_be_read(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, error = printed(capsys, command, tmp_path / "none.ptx")
    assert (status, out) == (2, "")
    assert error == f"error: {tmp_path}/none.ptx: No such file or directory\n"
    assert printed(capsys, command, tmp_path)[0] == 2


def test_check_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "check") == (2, "", "error: check takes a FILE, or --explain RULE\n")


# ---------------------------------------------------------------- sass


def test_sass_of_ptx(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = printed(capsys, "sass", loop, "--target", "sm_90a")
    assert status == 0
    cubin = assemble(LOOP, "sm_90a", file=str(loop))
    assert out.startswith(f"target sm_90a\nmade by ptxas {cubin.version} -v -lineinfo -O3\n")
    assert f"sha256 {cubin.sha256}" in out
    assert f"total: {cubin.registers} registers, spills 0 bytes stored, 0 loaded" in out
    begin, end = out.index("\n  loop main:\n"), out.index("\n  loop main ends\n")
    body = out[begin:end]
    assert "FFMA R5, R0, R0, R5" in body
    assert f"// {loop}:20  fma.rn.f32 %f1, %f2, %f2, %f1;" in body
    assert ":S0" in body
    assert "STG" in out[end:]


def test_sass_of_a_cubin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.cubin"
    cubin = assemble(TWO_KERNELS)
    path.write_bytes(cubin.data)
    status, out, _ = printed(capsys, "sass", path, "--kernel", "second")
    assert status == 0
    assert f"made by ptxas {cubin.version} -v -lineinfo -O3\n" in out
    assert "second: 4 registers, spills unknown" in out
    assert "first" not in out
    status, _, error = printed(capsys, "sass", path, "--kernel", "third")
    assert (status, error) == (1, "error: no kernel third; there are: second, first\n")


def test_sass_summary(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = printed(capsys, "sass", loop, "--summary")
    assert status == 0
    assert "\n  loop main " in out
    assert "FFMA R5" not in out


def test_sass_of_bad_ptx(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop.write_text(LOOP.replace("fma.rn.f32", "fma.f32"))
    status, _, error = printed(capsys, "sass", loop)
    assert status == 1
    assert error.startswith(f"error: {loop}:20: ptxas: ")


def test_the_tool_is_the_command(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, ROOT / "tools" / "dump_sass.py", loop, "--summary"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == printed(capsys, "sass", loop, "--summary")[1]


def test_a_reader_that_leaves(loop: Path) -> None:
    """As `python -m ptx sass FILE | head`: no traceback."""
    code = f"import sys; from ptx.__main__ import main; sys.exit(main(['sass', {str(loop)!r}]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


# ---------------------------------------------------------------- forms


def test_forms(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = printed(capsys, "forms", "fma.rn")
    assert status == 0
    assert out.startswith("Single and double precision (PTX ISA 9.0, section 9.7.3)\n")
    assert "\nfma.rnd.f64 d, a, b, c\n    sm_50 and up, PTX 6.0\n    rnd: rn rz rm rp\n" in out
    after = next(line for line in out.splitlines() if line.startswith("after fma.rn: "))
    assert ".f32" in after
    assert max(map(len, out.splitlines())) <= 100
    status, out, _ = printed(capsys, "forms", "fmma")
    assert status == 1
    assert "no instruction is named fmma; near: " in out
    status, out, _ = printed(capsys, "forms")
    assert status == 0
    assert "(PTX ISA 9.0, section 9.7.14)\n    wmma mma ldmatrix" in out
    assert "tex tld4 txq istypep: textures are read through descriptors" in out
    status, out, _ = printed(capsys, "forms", "--notation")
    assert (status, "[a, c*n]  an address with n coordinates" in out) == (0, True)
    status, out, _ = printed(capsys, "forms", "tex.2d")
    assert (status, out[:34]) == (1, "tex is left out of this package: t")
    status, out, _ = printed(capsys, "forms", "%tid.x")
    assert (status, out) == (0, "%tid.x: .u32    (sm_50 and up, PTX 6.0)\n")
    assert printed(capsys, "forms", "%nothing")[0] == 1


# ---------------------------------------------------------------- doctor


def test_doctor_says_what_was_found(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assemble(LOOP)
    status, out, _ = printed(capsys, "doctor")
    assert status == 0
    for name in ("ptxas", "nvdisasm"):
        assert str(toolchain.find_tool(name)) in out
    assert f"cache: {own_cache}, 1 entries, 0.0 MB" in out


def test_doctor_says_what_each_missing_thing_costs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PTX_PTXAS", str(tmp_path / "none"))
    monkeypatch.setenv("PTX_NVDISASM", str(tmp_path / "none"))
    monkeypatch.setenv("PTX_CACHE_DISABLE", "1")
    missing = toolchain.Driver(missing="libcuda.so.1 is not installed: no NVIDIA driver")
    monkeypatch.setattr(toolchain, "find_driver", lambda: missing)
    status, out, _ = printed(capsys, "doctor")
    assert status == 0
    assert out.splitlines()[1:] == [
        "GPU: none (libcuda.so.1 is not installed: no NVIDIA driver)",
        "    cost: kernels run in the emulator; no times, no cuBLAS to compare with",
        "cuda-python: missing",
        "    cost: a GPU cannot be used; it comes with pip install cuda-python",
        "ptxas: missing",
        f"    ptxas: PTX_PTXAS names {tmp_path}/none, which is no file",
        "    cost: no cubins: no registers, spills or SASS to see; the driver assembles PTX itself",
        "nvdisasm: missing",
        f"    nvdisasm: PTX_NVDISASM names {tmp_path}/none, which is no file",
        "    cost: no SASS: python -m ptx sass and the assertions on loops do not work",
        "cache: off (PTX_CACHE_DISABLE)",
        "    cost: every kernel is assembled every time",
    ]


def test_doctor_names_driver_and_gpus(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = toolchain.Driver(
        (13, 0), "580.95.05", (toolchain.Gpu("NVIDIA H200", (9, 0)),), bindings="13.4.4"
    )
    monkeypatch.setattr(toolchain, "find_driver", lambda: found)
    _, out, _ = printed(capsys, "doctor")
    assert out.splitlines()[1:4] == [
        "driver 580.95.05: runs CUDA 13.0",
        "GPU 0: NVIDIA H200, sm_90",
        "cuda-python: cuda-bindings 13.4.4",
    ]
