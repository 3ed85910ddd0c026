"""Where ptxas and nvdisasm are looked for, in which order, and what is said when there is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import ptx
from ptx.toolchain import VARIABLE, find_driver, find_tool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tools are shell scripts")


def make(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tool = folder / name
    tool.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release 1.0, V{version}'\n")
    tool.chmod(0o755)
    return tool


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that leads to no tool."""
    for variable in (*VARIABLE.values(), "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr("ptx.toolchain.SYSTEM", Path("/nowhere/cuda/bin"))
    return monkeypatch


@pytest.mark.parametrize("name", ["ptxas", "nvdisasm"])
def test_the_order(name: str, bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each place is added before the ones that were found so far, and wins."""
    make(tmp_path / "system", name, "1.1")
    bare.setattr("ptx.toolchain.SYSTEM", tmp_path / "system")
    assert (find_tool(name).version, find_tool(name).where) == ("1.1", "/usr/local/cuda")
    make(tmp_path / "path", name, "1.2")
    bare.setenv("PATH", str(tmp_path / "path"))
    assert (find_tool(name).version, find_tool(name).where) == ("1.2", "PATH")
    old = "cuda_nvcc" if name == "ptxas" else "cuda_nvdisasm"
    site = tmp_path / "site-packages"
    make(site / "nvidia" / old / "bin", name, "1.3")
    bare.setattr(sys, "path", [str(tmp_path), str(site)])
    assert (find_tool(name).version, find_tool(name).where) == ("1.3", "wheel")
    make(site / "nvidia" / "cu13" / "bin", name, "1.4")
    assert (find_tool(name).version, find_tool(name).where) == ("1.4", "wheel")
    make(tmp_path / "toolkit" / "bin", name, "1.5")
    bare.setenv("CUDA_PATH", str(tmp_path / "toolkit"))
    assert (find_tool(name).version, find_tool(name).where) == ("1.5", "CUDA_PATH")
    make(tmp_path / "home" / "bin", name, "1.6")
    bare.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert (find_tool(name).version, find_tool(name).where) == ("1.6", "CUDA_HOME")
    bare.setenv(VARIABLE[name], str(make(tmp_path / "named", name, "1.7")))
    assert (find_tool(name).version, find_tool(name).where) == ("1.7", VARIABLE[name])
    given = make(tmp_path / "given", name, "1.8.9")
    found = find_tool(name, given)
    assert (found.version, found.where, found.path) == ("1.8.9", "argument", given)
    assert str(found) == f"{name} 1.8.9 at {given} (by argument)"


def test_what_is_said_when_there_is_none(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    bare.setattr(sys, "path", [str(tmp_path / "site-packages")])
    with pytest.raises(ptx.PtxError) as caught:
        find_tool("ptxas")
    wheel = tmp_path / "site-packages" / "nvidia"
    assert str(caught.value) == "\n".join(
        [
            "ptxas was not found. Looked at",
            "  argument: none given",
            "  PTX_PTXAS: not set",
            f"  CUDA_HOME: {tmp_path}/toolkit/bin/ptxas",
            f"  wheel: {wheel}/cu13/bin/ptxas",
            f"  wheel: {wheel}/cuda_nvcc/bin/ptxas",
            "  PATH: ptxas",
            "  /usr/local/cuda: /nowhere/cuda/bin/ptxas",
            "It comes with: pip install 'ptxgemm[toolchain]'",
        ]
    )


@pytest.mark.parametrize("by", ["argument", "PTX_PTXAS"])
def test_a_named_file_is_taken_or_refused(
    by: str, bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Never passed over: whoever names a file wants that one."""
    make(tmp_path / "path", "ptxas", "1.2")
    bare.setenv("PATH", str(tmp_path / "path"))
    wrong = tmp_path / "none"
    if by == "PTX_PTXAS":
        bare.setenv(by, str(wrong))
    with pytest.raises(ptx.PtxError, match=f"ptxas: {by} names {wrong}, which is no file"):
        find_tool("ptxas", wrong if by == "argument" else None)


def test_a_file_that_is_no_tool(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho hello\n")
    tool.chmod(0o755)
    with pytest.raises(ptx.PtxError, match="does not say its version: 'hello'"):
        find_tool("ptxas", tool)
    tool.write_text("no program")
    os.utime(tool, ns=(1, 1))
    with pytest.raises(ptx.PtxError, match=f"{tool} does not run"):
        find_tool("ptxas", tool)


def test_a_replaced_tool_is_asked_again(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = make(tmp_path, "ptxas", "1.0")
    assert find_tool("ptxas", tool).version == "1.0"
    make(tmp_path, "ptxas", "2.0")
    os.utime(tool, ns=(5, 5))
    assert find_tool("ptxas", tool).version == "2.0"


def test_a_driver_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Field case C26: nothing raises where libcuda is absent."""
    import ctypes

    def absent(name: str) -> ctypes.CDLL:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", absent)
    driver = find_driver()
    assert driver.gpus == ()
    assert driver.missing == "libcuda.so.1 is not installed: no NVIDIA driver"


class FakeDriver:
    """The six functions of libcuda that find_driver calls, for two GPUs."""

    def __init__(self, status: int = 0) -> None:
        self.status = status

    def cuDriverGetVersion(self, version: object) -> int:
        version._obj.value = 12060  # type: ignore[attr-defined]
        return 0

    def cuInit(self, flags: int) -> int:
        return self.status

    def cuDeviceGetCount(self, count: object) -> int:
        count._obj.value = 2  # type: ignore[attr-defined]
        return 0

    def cuDeviceGet(self, device: object, index: int) -> int:
        device._obj.value = 10 + index  # type: ignore[attr-defined]
        return 0

    def cuDeviceGetName(self, name: object, size: int, device: object) -> int:
        name.value = f"card {device.value}".encode()  # type: ignore[attr-defined]
        return 0

    def cuDeviceGetAttribute(self, value: object, attribute: int, device: object) -> int:
        value._obj.value = {75: 9, 76: 0}[attribute]  # type: ignore[attr-defined]
        return 0


def test_a_driver_with_two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: FakeDriver())
    driver = find_driver()
    assert driver.version == (12, 6)
    assert [(gpu.name, gpu.capability) for gpu in driver.gpus] == [
        ("card 10", (9, 0)),
        ("card 11", (9, 0)),
    ]
    assert driver.missing == ""


def test_a_driver_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: FakeDriver(status=999))
    driver = find_driver()
    assert (driver.gpus, driver.version) == ((), (12, 6))
    assert driver.missing == "cuInit of libcuda.so.1 returned 999"
