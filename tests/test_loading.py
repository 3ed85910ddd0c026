"""Loading a module on a GPU: by ptxas or by the driver, on a driver of make-believe."""

from __future__ import annotations

import gc
import hashlib
import weakref
from typing import Any

import numpy as np
import pytest

import ptx
from ptx import devices, driver, toolchain
from ptx.errors import LaunchError, PtxError
from ptx.text import render
from tests import fake_driver
from tests.fake_driver import AXPY, FakeDriver, parameters


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return fake_driver.fresh(monkeypatch)


@pytest.fixture
def no_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.hide_ptxas(monkeypatch)


def ptxas_or_skip() -> None:
    try:
        toolchain.find_tool("ptxas")
    except PtxError:
        pytest.skip("no ptxas")


def test_what_ptxas_makes_is_what_runs(fake: FakeDriver) -> None:
    """Field case D10."""
    ptxas_or_skip()
    fake.cubin_bytes = len(ptx.assemble(AXPY, "sm_90").data)
    loaded = ptx.device("cuda:0").load(AXPY)
    assert loaded.cubin is not None and loaded.cubin.target == "sm_90"
    assert fake.images == [loaded.cubin.data]
    digest = hashlib.sha256(fake.images[0]).hexdigest()[:16]
    assert loaded.origin == f"sm_90 cubin by ptxas {loaded.cubin.version}, sha256 {digest}"
    info = loaded["axpy"].info
    assert info is not None and info.registers > 0
    assert list(loaded) == ["axpy"] and "axpz" not in loaded
    with pytest.raises(KeyError, match="no kernel axpz; the module has axpy"):
        loaded["axpz"]


def test_a_module_that_needs_the_architectures_own_features(fake: FakeDriver) -> None:
    ptxas_or_skip()
    text = AXPY.replace("sm_80", "sm_90a")
    fake.cubin_bytes = len(ptx.assemble(text, "sm_90a").data)
    loaded = ptx.device("cuda:0").load(text)
    assert loaded.cubin is not None and loaded.cubin.target == "sm_90a"
    with pytest.raises(LaunchError, match=r"needs sm_100a; cuda:0 is a .* and runs sm_90, sm_90a$"):
        ptx.device("cuda:0").load(
            AXPY.replace(".version 8.0", ".version 8.6").replace("80", "100a")
        )


def test_a_cubin_is_loaded_as_it_is(fake: FakeDriver) -> None:
    ptxas_or_skip()
    cubin = ptx.assemble(AXPY, "sm_90")
    fake.cubin_bytes = len(cubin.data)
    loaded = ptx.device("cuda:0").load(cubin)
    assert loaded.cubin is cubin and fake.images == [cubin.data]
    loaded["axpy"].launch(1, 32, {"n": 1, "a": 1.0, "x": 0, "y": 0})
    assert parameters(fake) == (1, 1.0, 0, 0)


def test_a_cubin_without_its_source_has_sizes_for_a_signature(fake: FakeDriver) -> None:
    ptxas_or_skip()
    data = ptx.assemble(AXPY, "sm_90").data
    fake.cubin_bytes = len(data)
    loaded = ptx.device("cuda:0").load(ptx.Cubin(data, "sm_90"))
    loaded["axpy"].launch(1, 32, [7, np.float32(2), 16, 32])
    assert parameters(fake) == (7, 2.0, 16, 32)
    with pytest.raises(TypeError, match="axpy takes 4 arguments, got 1"):
        loaded["axpy"].launch(1, 32, [7])


@pytest.mark.parametrize("source", [AXPY, AXPY.encode(), AXPY.encode() + b"\0"])
def test_without_ptxas_the_driver_compiles(
    fake: FakeDriver, no_ptxas: None, source: str | bytes
) -> None:
    fake.logs = (b"0 bytes spilled", b"")
    loaded = ptx.device("cuda:0").load(source)
    assert fake.images == [AXPY.encode()]
    assert loaded.cubin is None and loaded["axpy"].info is None
    assert repr(loaded) == "<ptx module on cuda:0: axpy; PTX, compiled by the driver>"
    assert loaded.log == "0 bytes spilled"


def test_a_nul_inside_the_text(fake: FakeDriver) -> None:
    with pytest.raises(ValueError, match="holds a NUL in line 3"):
        ptx.device("cuda:0").load(AXPY.replace(".address_size", "\0.address_size"))


def test_the_driver_is_insisted_on(fake: FakeDriver) -> None:
    loaded = ptx.device("cuda:0").load(AXPY, jit=True)
    assert loaded.cubin is None and fake.images == [AXPY.encode()]


def test_a_refusal_of_the_drivers_compiler_shows_the_line(fake: FakeDriver) -> None:
    fake.logs = (b"", b"ptxas application ptx input, line 11; error   : Unexpected 'ret'")
    fake.failures["cuModuleLoadDataEx"] = [218]
    with pytest.raises(driver.DriverError, match="Unexpected 'ret'") as caught:
        ptx.device("cuda:0").load(AXPY, jit=True)
    assert str(caught.value).startswith("<ptx>:11: cuModuleLoadDataEx")
    assert str(caught.value).endswith("\n    ret;")


def test_a_refusal_of_a_built_module_shows_the_line_of_python(fake: FakeDriver) -> None:
    k = ptx.Kernel("k", n="u32")
    (n,) = k.params()
    k.add.u32(n, 1)
    k.ret()
    module = ptx.Module(k)
    author = module.kernels["k"].instructions[1]
    line = render(module).text.splitlines().index(f"\t{author}") + 1
    fake.logs = (b"", f"ptxas application ptx input, line {line}; error   : no".encode())
    fake.failures["cuModuleLoadDataEx"] = [218]
    with pytest.raises(driver.DriverError, match="error   : no") as caught:
        ptx.device("cuda:0").load(module, jit=True)
    assert author.place is not None and caught.value.place == author.place
    assert author.place.file == __file__
    assert str(caught.value).endswith(f"\n  {author}    (line {line} of the PTX)")


def test_an_old_driver_gets_a_cubin(fake: FakeDriver) -> None:
    """Field case C03."""
    ptxas_or_skip()
    fake.cubin_bytes = len(ptx.assemble(AXPY, "sm_90").data)
    fake.failures["cuModuleLoadDataEx"] = [222]
    with pytest.warns(UserWarning, match="older than the PTX's .version"):
        loaded = ptx.device("cuda:0").load(AXPY, jit=True)
    assert loaded.cubin is not None and fake.images == [AXPY.encode(), loaded.cubin.data]
    loaded["axpy"].launch(1, 32, [1, 1.0, 0, 0])


def test_an_old_driver_without_ptxas_reports_both(
    fake: FakeDriver, no_ptxas: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Field case C03."""

    def refuse(*_: Any) -> None:
        raise PtxError("ptxas was not found")

    monkeypatch.setattr(devices, "assemble", refuse)
    fake.failures["cuModuleLoadDataEx"] = [222]
    words = r"(?s)UNSUPPORTED_PTX_VERSION \(222\).*ptxas was tried .* sm_90: ptxas was not"
    with pytest.raises(LaunchError, match=words):
        ptx.device("cuda:0").load(AXPY)


def test_an_unloaded_module_launches_no_more(fake: FakeDriver, no_ptxas: None) -> None:
    where = ptx.device("cuda:0")
    loaded = where.load(AXPY)
    axpy = loaded["axpy"]
    launch = axpy.prepare(1, 32, [1, 1.0, 0, 0])
    launch()
    loaded.unload()
    for use in (launch, lambda: axpy.launch(1, 32, [1, 1.0, 0, 0])):
        with pytest.raises(LaunchError, match="module of axpy has been unloaded"):
            use()
    assert fake.count("cuModuleUnload") == 0
    where.synchronize()
    assert fake.count("cuModuleUnload") == 1
    loaded.unload()
    where.synchronize()
    assert fake.count("cuModuleUnload") == 1


def test_a_dropped_module_is_unloaded_when_its_work_is_done(
    fake: FakeDriver, no_ptxas: None
) -> None:
    """Field case C20."""
    where = ptx.device("cuda:0")
    loaded = where.load(AXPY)
    gone = weakref.ref(loaded)
    loaded["axpy"].launch(1, 32, [1, 1.0, 0, 0])
    del loaded
    gc.collect()
    assert gone() is None and fake.count("cuModuleUnload") == 0
    where.array(np.ones(1)).numpy()
    assert fake.count("cuModuleUnload") == 1
