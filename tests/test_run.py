"""``python -m ptx run``: arguments from the command line, results back, faults with their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptx
from ptx.__main__ import main
from tests.samples import TWO_KERNELS

AXPY = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry axpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    .reg .pred %p<2>;
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 ret;
    mad.wide.u32 %rd1, %r2, 4, %rd1;
    mad.wide.u32 %rd2, %r2, 4, %rd2;
    ld.global.f32 %f2, [%rd1];
    ld.global.f32 %f3, [%rd2];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%rd2], %f3;
    ret;
}
"""
EMULATOR = ("--device", "emulator")


@pytest.fixture
def axpy(tmp_path: Path) -> Path:
    path = tmp_path / "axpy.ptx"
    path.write_text(AXPY)
    return path


def ran(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["run", *(str(argument) for argument in arguments)])
    return status, *capsys.readouterr()


def args(*values: object) -> list[object]:
    return [one for value in values for one in ("--arg", value)]


def test_arrays_go_in_and_come_back(
    axpy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.linspace(-1, 1, 100, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    result = tmp_path / "y.npy"
    given = args(100, "0x1p-1", tmp_path / "x.npy", f"ones:f32:100={result}")
    status, _, error = ran(capsys, axpy, "--block", 64, "--grid", "2", *EMULATOR, *given)
    assert (status, error) == (1, "error: argument a (.f32): takes a number, got '0x1p-1'\n")
    given[3] = "0.5"
    status, out, _ = ran(capsys, axpy, "--block", 64, "--grid", "2", *EMULATOR, *given)
    assert (status, out) == (0, f"y: written to {result}\n")
    assert np.array_equal(np.load(result), x * np.float32(0.5) + np.float32(1))


def test_what_changed_is_printed(axpy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = args("0x3", 2, "arange:f32:1x3", "zeros:f32:3")
    status, out, _ = ran(capsys, axpy, "--kernel", "axpy", "--block", "4,1", *EMULATOR, *given)
    assert (status, out) == (0, "y: float32 (3,)\n[0. 2. 4.]\n")


def test_a_kernel_that_changes_nothing_is_said_to(
    axpy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with the launch of one thread that no --grid and no --block asks for."""
    given = args(3, 2, "arange:f32:3", "zeros:f32:3")
    assert ran(capsys, axpy, *EMULATOR, *given) == (0, "the kernel changed no array\n", "")
    given = args(3, 2, "arange:f32:3", f"zeros:f32:3={tmp_path / 'y.npy'}")
    assert ran(capsys, axpy, *EMULATOR, *given)[1] == f"y: written to {tmp_path / 'y.npy'}\n"


def test_a_fault_has_its_place_and_exits_with_1(
    axpy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = args(4, 2, "arange:f32:4", "zeros:f32:3")
    status, out, error = ran(capsys, axpy, "--block", 4, *EMULATOR, *given)
    assert (status, out) == (1, "")
    assert error.startswith(f"error: {axpy}:23:5: out-of-bounds: 4 bytes lie in no allocation\n")
    assert "thread (3, 0, 0)" in error and "past the end of allocation of 12 bytes" in error
    # The next launch is none the worse for it.
    given = args(3, 2, "arange:f32:3", "zeros:f32:3")
    assert ran(capsys, axpy, "--block", 4, *EMULATOR, *given)[0] == 0


def test_the_report(axpy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = args(64, 2, "arange:f32:64", "zeros:f32:64")
    status, out, _ = ran(capsys, axpy, "--block", 64, "--report", "--order", "reverse", *given)
    assert status == 0
    # Two warps execute each of the 17 instructions, the return that none takes included.
    assert "axpy: 34 warp instructions, 0 barriers\n" in out
    row = next(line for line in out.splitlines() if "ld.global.f32 %f2" in line)
    assert row.split()[:3] == ["2", "4.0", "256"]
    assert ptx.device("emulator").backend.options == {}  # type: ignore[attr-defined]


def test_which_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.ptx"
    path.write_text(TWO_KERNELS)
    status, _, error = ran(capsys, path, *EMULATOR)
    assert status == 1
    assert error == "error: --kernel NAME says which kernel to run; there are: first, second\n"
    status, _, error = ran(capsys, path, "--kernel", "third", *EMULATOR)
    assert (status, error) == (1, "error: no kernel third; there are: first, second\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (args(1, 2), "axpy takes 4 arguments, got 2: .u32 n, .f32 a, .u64 x, .u64 y"),
        (args("1.5", 2, 0, 0), "argument n (.u32): takes an integer, got '1.5'"),
        (
            args(1, 2, "x.txt", 0),
            "takes a number, FILE.npy, zeros:TYPE:SHAPE, ones:TYPE:SHAPE, arange:TYPE:SHAPE, ",
        ),
        (
            args(1, 2, "zeros:f12:4", 0),
            "argument x (.u64): 'f12' is no type of an array; f32, f16, bf16, u8 ... are",
        ),
        (args(1, 2, "zeros:f32:4-4", 0), "'4-4' is no shape; 1024 and 64x32 are"),
        (args(-1, 2, 0, 0), "argument n (.u32) of axpy: takes an integer from 0 to 4294967295"),
    ],
)
def test_arguments_that_are_wrong(
    given: list[object], message: str, axpy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, error = ran(capsys, axpy, *EMULATOR, *given)
    assert (status, out) == (1, "")
    assert error.startswith("error: ") and message in error


def test_files_that_cannot_be_read(
    axpy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(capsys, tmp_path / "none.ptx")[0] == 2
    given = args(1, 2, tmp_path / "none.npy", 0)
    status, _, error = ran(capsys, axpy, *EMULATOR, *given)
    assert (status, error) == (2, f"error: {tmp_path}/none.npy: No such file or directory\n")
    (tmp_path / "text.npy").write_text("no array")
    status, _, error = ran(capsys, axpy, *EMULATOR, *args(1, 2, tmp_path / "text.npy", 0))
    assert status == 1 and f"{tmp_path}/text.npy holds no array" in error
    axpy.write_text(AXPY.replace("fma.rn.f32", "fma.f32"))
    status, _, error = ran(capsys, axpy, *EMULATOR, *args(1, 2, 0, 0))
    assert status == 1 and error.startswith(f"error: {axpy}:24:5: ")


@pytest.mark.parametrize("wrong", [("--grid", "0x"), ("--block", "a"), ("--order", "-1")])
def test_options_that_are_wrong(wrong: tuple[str, str], axpy: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", str(axpy), *wrong])
    assert caught.value.code == 2
