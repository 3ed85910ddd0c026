"""The CUDA driver's half, against a driver of make-believe that crashes where a real one would."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ptx import driver, gpu
from ptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError
from ptx.geometry import Geometry, Limits, geometry
from tests import fake_driver
from tests.fake_driver import FakeDriver

ROOT = Path(__file__).parent.parent
PTX = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n  ret;\n}\n"
CUBIN = b"\x7fELF" + bytes(range(256)) + b" \0\n\0"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return fake_driver.fresh(monkeypatch)


class Nothing:
    """The packed parameters of a kernel without any."""

    address = 0
    data = b""


class Block:
    """Packed parameters: two words."""

    def __init__(self) -> None:
        import ctypes

        self.cells = (ctypes.c_uint32 * 2)(7, 9)
        start = ctypes.addressof(self.cells)
        self.pointers = (ctypes.c_void_p * 2)(start, start + 4)
        self.address = ctypes.addressof(self.pointers)

    @property
    def data(self) -> bytes:
        return bytes(self.cells)


def shape(
    grid: int = 1, block: int = 32, shared: int = 0, cluster: Any = None, static: int = 0,
    early: bool = False,
) -> Geometry:  # fmt: skip
    found = geometry(
        "k", grid, block, shared, cluster,
        limits=gpu.context(0).limits, directives={}, static_shared=static,
    )  # fmt: skip
    return replace(found, early=early)


def bound(
    module: gpu.Module, stream: Any = None, packed: Any = None, **how: Any
) -> Callable[[], None]:
    return module.bind("k", shape(**how), packed or Nothing(), stream)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, r"CUDA_ERROR_INVALID_VALUE \(1\): words about 1"),
        (218, r"CUDA_ERROR_INVALID_PTX \(218\): words about 218\n  the driver's compiler refused"),
        (719, r"CUDA_ERROR_LAUNCH_FAILED \(719\).*\n.*\n  .* only by a new process"),
    ],
)
def test_an_error_has_its_name_words_and_call(fake: FakeDriver, code: int, words: str) -> None:
    """Field case D13."""
    context = gpu.context(0)
    fake.failures["cuMemcpyHtoD"] = [code]
    fake.failures["cuMemsetD8"] = [code]
    with pytest.raises(driver.DriverError, match=r"^cuMemsetD8\(4096, 255, 8\) failed: " + words):
        context.fill(4096, 255, 8)
    assert fake.count("cuMemsetD8") == 1


def test_a_code_that_nobody_knows(fake: FakeDriver) -> None:
    """Field case D13. The bindings' enumeration refuses it by a ValueError; so does ours."""
    context = gpu.context(0)
    fake.failures["cuCtxSynchronize"] = [9999]
    with pytest.raises(
        driver.DriverError, match=r"cuCtxSynchronize\(\) failed: .*\(9999\)"
    ) as seen:
        context.synchronize()
    assert seen.value.code == 9999
    launch = bound(context.load(gpu.terminated(PTX)))
    fake.failures["cuLaunchKernel"] = [9999]
    with pytest.raises(driver.DriverError, match=r"launch of k, grid \(1, 1, 1\).*\(9999\)"):
        launch()


def test_out_of_memory_says_how_much_there_is(fake: FakeDriver) -> None:
    fake.failures["cuMemAlloc"] = [2]
    with pytest.raises(driver.DriverError, match="asked for 99 bytes; 1048576 of 1073741824"):
        gpu.context(0).allocate(99)


# ---------------------------------------------------------------- finding it


def test_without_cuda_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Field case C26."""
    for name in ("cuda", "cuda.bindings", "cuda.bindings.driver", "cuda.cuda"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(driver, "_api", None)
    with pytest.raises(LaunchError, match="pip install cuda-python"):
        driver.api()
    assert "pip install cuda-python" in driver.problem()


def test_without_libcuda(fake: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Field case C26."""

    def absent(flags: int) -> None:
        raise RuntimeError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(fake, "cuInit", absent)
    with pytest.raises(LaunchError, match="no CUDA driver was found: libcuda.so.1"):
        driver.api()


def test_without_a_gpu(fake: FakeDriver) -> None:
    fake.failures["cuInit"] = [100]
    assert "CUDA_VISIBLE_DEVICES" in driver.problem()
    fake.gpus = 0
    assert driver.problem() == "the CUDA driver sees no GPU"


def test_the_older_layout_of_cuda_python(fake: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    monkeypatch.setitem(sys.modules, "cuda.cuda", fake)
    assert driver.api().cuda is fake


def test_a_gpu_that_is_not_there(fake: FakeDriver) -> None:
    with pytest.raises(ValueError, match=r"there is no cuda:7; the driver sees 2 GPU\(s\)"):
        gpu.context(7)


def test_limits_are_the_drivers(fake: FakeDriver) -> None:
    limits = gpu.context(0).limits
    assert limits == Limits(
        name="Imaginary H200", compute_capability=(9, 0), sm_count=132, clock=1_980_000_000,
        memory=1 << 30, l2_cache=60 << 20, shared_per_block=49152, shared_per_block_optin=232448,
        shared_per_sm=233472,
    )  # fmt: skip
    assert limits.architecture == "sm_90"


def test_importing_initialises_nothing() -> None:
    """Field cases C23, C26."""
    code = "import sys, ptx.driver, ptx.gpu; print('cuda' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "False"


# ---------------------------------------------------------------- images


@pytest.mark.parametrize("text", [PTX, PTX.encode(), PTX.encode() + b"\0"])
def test_text_ends_in_exactly_one_nul(fake: FakeDriver, text: str | bytes) -> None:
    """Field case C06."""
    image = gpu.terminated(text)
    assert image == PTX.encode() + b"\0"
    gpu.context(0).load(image)
    assert fake.images == [PTX.encode()]


@pytest.mark.parametrize("text", [".version 8.0\n\0.target", PTX + "\0\0", b"a\n\nb\0c\0"])
def test_a_nul_inside_text_is_refused(text: str | bytes) -> None:
    """Field case C06."""
    with pytest.raises(ValueError, match=r"holds a NUL in line \d"):
        gpu.terminated(text)


def test_the_bytes_of_a_cubin_are_untouched(fake: FakeDriver) -> None:
    fake.cubin_bytes = len(CUBIN)
    gpu.context(0).load(CUBIN)
    assert fake.images == [CUBIN]


def test_the_log_is_in_the_exception_up_to_its_reported_length(fake: FakeDriver) -> None:
    """Field case C17."""
    fake.logs = (b"", b"ptxas application ptx input, line 5; error   : Unknown modifier '.b32'")
    fake.garbage = b"\xff\xfe rubbish of an earlier call"
    fake.failures["cuModuleLoadDataEx"] = [218]
    with pytest.raises(driver.DriverError, match="Unknown modifier") as caught:
        gpu.context(0).load(gpu.terminated(PTX))
    assert caught.value.log == fake.logs[1].decode()
    assert "rubbish" not in str(caught.value)


def test_an_empty_log_is_empty(fake: FakeDriver) -> None:
    """Field case C17."""
    fake.garbage = b"rubbish"
    assert gpu.context(0).load(gpu.terminated(PTX)).log == ""


def test_a_log_that_fills_its_buffer(fake: FakeDriver) -> None:
    fake.logs = (b"x" * (2 * gpu.LOG_BYTES), b"")
    assert gpu.context(0).load(gpu.terminated(PTX)).log == "x" * (gpu.LOG_BYTES - 1)


def test_the_sizes_of_parameters_by_the_image(fake: FakeDriver) -> None:
    fake.params["k"] = (8, 4, 128)
    assert gpu.context(0).load(gpu.terminated(PTX)).parameter_sizes("k") == (8, 4, 128)


# ---------------------------------------------------------------- launches


def test_a_launch_reads_the_parameters_as_they_stand_then(fake: FakeDriver) -> None:
    fake.params["k"] = (4, 4)
    packed = Block()
    launch = bound(gpu.context(0).load(gpu.terminated(PTX)), packed=packed, grid=3, block=64)
    launch()
    packed.cells[1] = 11
    launch()
    read = [[int.from_bytes(p, "little") for p in one["params"]] for one in fake.launches]
    assert read == [[7, 9], [7, 11]]
    assert fake.launches[0]["grid"] == (3, 1, 1)
    assert fake.launches[0]["block"] == (64, 1, 1)


def test_a_repeated_launch_makes_one_call_of_the_driver(fake: FakeDriver) -> None:
    launch = bound(gpu.context(0).load(gpu.terminated(PTX)))
    launch()
    fake.calls.clear()
    launch()
    assert [call[0] for call in fake.calls] == ["cuLaunchKernel"]


def test_shared_memory_is_asked_for_by_the_sum(fake: FakeDriver) -> None:
    fake.static_shared["k"] = 20_000
    module = gpu.context(0).load(gpu.terminated(PTX))
    bound(module, shared=29_152, static=20_000)()
    assert fake.opted["k"] == {}
    bound(module, shared=29_153, static=20_000)()
    assert fake.opted["k"] == {8: 29_153}
    fake.calls.clear()
    bound(module, shared=29_153, static=20_000)()
    assert fake.count("cuFuncSetAttribute") == 0
    bound(module, shared=212_448, static=20_000)()
    assert [one["shared"] for one in fake.launches] == [29_152, 29_153, 29_153, 212_448]


def test_a_cluster_goes_through_the_extended_launch(fake: FakeDriver) -> None:
    module = gpu.context(0).load(gpu.terminated(PTX))
    bound(module, grid=8, cluster=(2,))()
    assert fake.launches[-1]["cluster"] == (2, 1, 1)
    assert fake.launches[-1]["grid"] == (8, 1, 1)
    assert fake.opted["k"] == {}
    bound(module, grid=16, cluster=16)()
    assert fake.opted["k"] == {14: 1}


def test_clusters_at_once_are_the_drivers(fake: FakeDriver) -> None:
    context = gpu.context(0)
    for _ in range(2):
        assert [context.clusters(size) for size in (1, 2, 4, 8)] == [132, 66, 32, 16]
    assert fake.count("cuOccupancyMaxActiveClusters") == 3
    assert fake.opted["empty"] == {8: 232448}


@pytest.mark.parametrize("cluster", [None, (2, 1, 1)])
def test_an_early_launch_goes_through_the_extended_launch(fake: FakeDriver, cluster: Any) -> None:
    module = gpu.context(0).load(gpu.terminated(PTX))
    bound(module, grid=8, cluster=cluster, early=True)()
    bound(module, grid=8, cluster=cluster)()
    found = [(one["grid"], one["cluster"], one["early"]) for one in fake.launches]
    assert found == [((8, 1, 1), cluster, True), ((8, 1, 1), cluster, False)]


def test_each_thread_and_context_gets_the_right_one(fake: FakeDriver) -> None:
    """Field case C18. A function of one context, while another is current or in a new thread."""
    first, second = gpu.context(0), gpu.context(1)
    launches = [bound(one.load(gpu.terminated(PTX))) for one in (first, second)]
    for _ in range(2):
        for launch in launches:
            launch()
    thread = threading.Thread(target=launches[1])
    thread.start()
    thread.join()
    contexts = [one["context"] for one in fake.launches]
    assert contexts == [0xC000, 0xC001, 0xC000, 0xC001, 0xC001]


def test_a_launch_that_fails_in_its_own_context_is_not_repeated(fake: FakeDriver) -> None:
    """An unknown stream gives the code of another context too."""
    module = gpu.context(0).load(gpu.terminated(PTX))
    launch = bound(module, stream=4711)
    gpu.context(0).synchronize()
    fake.calls.clear()
    with pytest.raises(driver.DriverError, match=r"launch of k.*\(400\)"):
        launch()
    assert [call[0] for call in fake.calls].count("cuLaunchKernel") == 1


@pytest.mark.parametrize("code", [201, 400, 709])
def test_a_launch_under_another_context_is_made_again_in_its_own(
    fake: FakeDriver, code: int
) -> None:
    """Whatever of the codes it fails with; an error of the second try is the caller's."""
    module = gpu.context(0).load(gpu.terminated(PTX))
    launch = bound(module)
    fake.cuCtxSetCurrent(fake_driver.CUcontext(0xF00D))
    fake.failures["cuLaunchKernel"] = [code]
    launch()
    assert [one["context"] for one in fake.launches] == [0xC000]
    assert int(fake.cuCtxGetCurrent()[1]) == 0xF00D
    fake.failures["cuLaunchKernel"] = [code, 1]
    with pytest.raises(driver.DriverError, match=r"launch of k.*\(1\)"):
        launch()
    assert int(fake.cuCtxGetCurrent()[1]) == 0xF00D
    assert len(fake.launches) == 1


def test_another_librarys_current_context_is_put_back(fake: FakeDriver) -> None:
    context = gpu.context(0)
    launch = bound(context.load(gpu.terminated(PTX)))
    fake.cuCtxSetCurrent(fake_driver.CUcontext(0xF00D))
    launch()
    context.allocate(16)
    fake.failures["cuMemAlloc"] = [1]
    with pytest.raises(driver.DriverError):
        context.allocate(16)
    assert int(fake.cuCtxGetCurrent()[1]) == 0xF00D
    assert fake.launches[-1]["context"] == 0xC000


# ---------------------------------------------------------------- streams


def test_streams_of_every_kind(fake: FakeDriver) -> None:
    context = gpu.context(0)
    ours = context.stream()
    fake.streams |= {5, 6, 7, 8}

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 6

    class Torch:
        cuda_stream = 7

    class CuPy:
        ptr = 8

    module = context.load(gpu.terminated(PTX))
    for stream in (None, 0, 5, ours, Protocol(), Torch(), CuPy(), fake_driver.CUstream(5)):
        bound(module, stream=stream)()
    assert [one["stream"] for one in fake.launches] == [0, 0, 5, ours.handle, 6, 7, 8, 5]
    with pytest.raises(ArgumentTypeError, match=r"stream: takes device\.stream\(\).* got str"):
        bound(module, stream="7")
    with pytest.raises(ArgumentValueError, match="belongs to cuda:1, the launch is on cuda:0"):
        bound(module, stream=gpu.context(1).stream())


def test_events(fake: FakeDriver) -> None:
    context = gpu.context(0)
    stream, start, end = context.stream(), context.event(), context.event()
    start.record(stream)
    bound(context.load(gpu.terminated(PTX)), stream=stream)()
    end.record(stream)
    assert not end.done
    assert start.elapsed_time(end) == 1.5
    assert end.done
    recorded = [int(call[1]) for call in fake.of("cuEventRecord")]
    assert recorded == [stream.handle, stream.handle]
    del stream, start, end
    gc.collect()
    assert fake.events == {} or fake.count("cuEventDestroy") >= 2


# ---------------------------------------------------------------- unloading


def test_a_module_that_still_runs_is_unloaded_later(fake: FakeDriver) -> None:
    """Field case C20."""
    context = gpu.context(0)
    stream = context.stream()
    module = context.load(gpu.terminated(PTX))
    bound(module, stream=stream)()
    fake.calls.clear()
    del module
    gc.collect()
    assert fake.calls == [], "the collector calls no driver"
    other = context.load(gpu.terminated(PTX))
    assert fake.count("cuModuleUnload") == 0, "its kernel runs"
    stream.synchronize()
    assert [int(call[0]) for call in fake.of("cuModuleUnload")] != [int(other.handle)]
    assert fake.count("cuModuleUnload") == 1


def test_work_on_another_librarys_stream_waits_for_an_idle_context(fake: FakeDriver) -> None:
    """That stream may be destroyed by then: no event may be recorded in it."""
    context = gpu.context(0)
    fake.streams.add(5)
    module = context.load(gpu.terminated(PTX))
    bound(module, stream=5)()
    fake.streams.remove(5)
    del module
    gc.collect()
    context.load(gpu.terminated(PTX))
    assert fake.count("cuModuleUnload") == fake.count("cuEventRecord") == 0
    context.synchronize()
    assert fake.count("cuModuleUnload") == 2


def test_memory_is_given_back_and_errors_of_that_are_silent(fake: FakeDriver) -> None:
    context = gpu.context(0)
    address = context.allocate(64)
    context.free(address)
    assert fake.memory == {}
    fake.always["cuMemFree"] = 719
    context.free(address)


AT_EXIT = """
import atexit
from tests import fake_driver
fake = fake_driver.install(fake_driver.FakeDriver())
atexit.register(lambda: setattr(fake, "gone", True))
from ptx import gpu
from ptx.arrays import Storage
context = gpu.context(0)
module = context.load(gpu.terminated({ptx!r}))
storage, stream, event = Storage(context, 64), context.stream(), context.event()
for name in ("cuModuleUnload", "cuMemFree", "cuStreamDestroy", "cuEventDestroy"):
    fake.always[name] = 4
"""


def test_the_end_of_the_interpreter_is_silent() -> None:
    """Field case C21."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_EXIT.format(ptx=PTX)],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FORKED = """
import os
from tests import fake_driver
fake_driver.install(fake_driver.FakeDriver())
from ptx import gpu
if {before}:
    launch = gpu.context(0).allocate
child = os.fork()
if not child:
    try:
        gpu.context(0).allocate(8)
        print("works", flush=True)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    ("before", "says"),
    [(True, "LaunchError CUDA was initialised before os.fork"), (False, "works")],
)
def test_after_a_fork(before: bool, says: str) -> None:
    """Field case C23."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED.format(before=before)],
        capture_output=True, text=True, cwd=ROOT, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith(says), done.stderr
