"""What no driver of make-believe can show, on a GPU; and what both devices must do alike."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
from ptx import driver, toolchain
from ptx.arguments import ArgumentBlock
from ptx.devices import Device
from ptx.errors import ArgumentValueError, PtxError

ROOT = Path(__file__).parent.parent
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

SPIN = (
    HEAD
    + """
.visible .entry spin(.param .u64 ns, .param .u64 out)
{
    .reg .u64 %rd<6>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [ns];
    ld.param.u64 %rd2, [out];
    mov.u64 %rd3, %globaltimer;
again:
    mov.u64 %rd4, %globaltimer;
    sub.u64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, %rd1;
    @%p1 bra again;
    st.global.u64 [%rd2], %rd5;
    ret;
}
"""
)
"""One thread waits `ns` nanoseconds and stores how long it was."""

SHARED = (
    HEAD
    + """
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared_ends(.param .u32 last, .param .u64 out)
{
    .shared .align 16 .b8 fixed[20000];
    .reg .u32 %r<8>;
    .reg .u64 %rd<2>;
    ld.param.u32 %r1, [last];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, dynamic;
    add.u32 %r3, %r2, %r1;
    mov.u32 %r4, fixed;
    st.shared.u32 [%r4+19996], 7;
    st.shared.u32 [%r3], 35;
    ld.shared.u32 %r5, [%r4+19996];
    ld.shared.u32 %r6, [%r3];
    mad.lo.u32 %r7, %r5, 1000, %r6;
    st.global.u32 [%rd1], %r7;
    ret;
}
"""
)
"""Writes the last word of 20000 static bytes and the word at `last` of the dynamic ones."""

CLUSTER = (
    HEAD
    + """
.visible .entry ranks(.param .u64 out)
{
    .reg .u32 %r<5>;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %cluster_nctarank;
    mad.lo.u32 %r4, %r3, 1000, %r2;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""
)
"""Each CTA stores 1000 times the size of its cluster, and its rank."""

EVERY_KIND = (
    HEAD
    + """
.visible .entry every_kind(
    .param .u8 a, .param .s16 b, .param .f16 c, .param .u64 d, .param .f32 e,
    .param .align 64 .b8 f[24], .param .b32 g, .param .f64 h, .param .u64 .ptr .global .align 8 out)
{
    .reg .b16 %h<4>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out];
    ld.param.u8 %h1, [a];
    st.global.u8 [%rd1], %h1;
    ld.param.b16 %h2, [b];
    st.global.b16 [%rd1+2], %h2;
    ld.param.b16 %h3, [c];
    st.global.b16 [%rd1+4], %h3;
    ld.param.b64 %rd2, [d];
    st.global.b64 [%rd1+8], %rd2;
    ld.param.b32 %r1, [e];
    st.global.b32 [%rd1+16], %r1;
    ld.param.b64 %rd3, [f];
    st.global.b64 [%rd1+64], %rd3;
    ld.param.b64 %rd4, [f+8];
    st.global.b64 [%rd1+72], %rd4;
    ld.param.b64 %rd5, [f+16];
    st.global.b64 [%rd1+80], %rd5;
    ld.param.b32 %r2, [g];
    st.global.b32 [%rd1+88], %r2;
    ld.param.b64 %rd6, [h];
    st.global.b64 [%rd1+96], %rd6;
    ret;
}
"""
)
"""Stores each parameter where it lies in parameter space."""

STRAY = (
    HEAD
    + """
.visible .entry stray() { .reg .u64 %rd<2>; mov.u64 %rd1, 64; st.global.u32 [%rd1], 1; ret; }
"""
)


@pytest.fixture(params=["emulator", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Device:
    """Both devices: the same test, the same result."""
    return ptx.device(request.param)


@pytest.fixture
def card() -> Device:
    return ptx.device("cuda:0")


def axpy() -> ptx.Kernel:
    k = ptx.Kernel("axpy", n="u32", a="f32", x="global.f32", y="global.f32")
    n, a, x, y = k.params()
    ctaid, ntid, tid = k.mov.u32(k.ctaid.x), k.mov.u32(k.ntid.x), k.mov.u32(k.tid.x)
    i = k.mad.lo.u32(ctaid, ntid, tid)
    inside = k.setp.lt.u32(i, n)
    offset = k.mul.wide.u32(i, 4)
    x_at, y_at = x + offset, y + offset
    xv, yv = k.mov.f32(0.0), k.mov.f32(0.0)
    with k.when(inside):
        k.ld.global_.f32(x_at, out=xv)
        k.ld.global_.f32(y_at, out=yv)
    r = k.fma.rn.f32(a, xv, yv)
    with k.when(inside):
        k.st.global_.f32(y_at, r)
    k.ret()
    return k


@pytest.mark.parametrize("text", [SPIN, SHARED, CLUSTER, EVERY_KIND, STRAY])
def test_the_kernels_of_this_file_assemble(text: str) -> None:
    try:
        toolchain.find_tool("ptxas")
    except PtxError:
        pytest.skip("no ptxas")
    assert ptx.assemble(text, "sm_90").kernels


# ---------------------------------------------------------------- arguments and memory


def test_a_kernel_on_parts_of_arrays(where: Device) -> None:
    """Offsets and slices: what lies beside them stays."""
    x, y = where.array(np.arange(1000, dtype="f4")), where.array(np.ones(1000, "f4"))
    kernel = where.load(ptx.Module(axpy()))["axpy"]
    kernel.launch(grid=4, block=256, args={"n": 500, "a": 2.0, "x": x + 100, "y": y[300:]})
    expected = np.ones(1000)
    expected[300:800] += 2 * np.arange(100, 600)
    np.testing.assert_array_equal(y.numpy(), expected)
    np.testing.assert_array_equal(x.numpy(), np.arange(1000))


@pytest.mark.parametrize("jit", [False, True])
def test_every_kind_of_parameter_arrives(where: Device, jit: bool) -> None:
    if jit and not where.is_cuda:
        pytest.skip("the emulator compiles nothing")
    kernel = where.load(EVERY_KIND, jit=jit)["every_kind"]
    out = where.empty(128, "u1", poison=True)
    args = [255, -2, np.float16(1.5), 2**64 - 3, -0.25, bytes(range(24)), np.float32(7), 1e300, out]
    kernel.launch(1, 1, args)
    block = ArgumentBlock("every_kind", kernel.parameters, where)
    block.write(args)
    expected, got = block.data, out.numpy().tobytes()
    assert len(expected) == 112
    for offset, size in ((0, 1), (2, 2), (4, 2), (8, 8), (16, 4), (64, 24), (88, 4), (96, 8)):
        assert got[offset : offset + size] == expected[offset : offset + size], offset
    assert set(got[104:]) == {0xFF}


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, "f2", "c16"])
def test_dtypes_there_and_back(where: Device, dtype: Any) -> None:
    values = np.random.default_rng(0).standard_normal((33, 7)).astype(dtype)
    there = where.array(values)
    assert there.numpy().tobytes() == values.tobytes()
    there[3:].copy_from(values[:30])
    assert there.numpy()[3:].tobytes() == values[:30].tobytes()


@pytest.mark.gpu
def test_the_driver_agrees_on_the_signature(card: Device) -> None:
    cubin = ptx.assemble(EVERY_KIND, "sm_90")
    bare = card.load(ptx.Cubin(cubin.data, "sm_90"))["every_kind"]
    sizes = [parameter.bytes for parameter in bare.parameters]
    assert sizes == [p.bytes for p in card.load(cubin)["every_kind"].parameters]


@pytest.mark.gpu
def test_freed_memory_is_free(card: Device) -> None:
    """More than the card has, a quarter of it at a time; other processes may use the rest."""
    backend: Any = card.backend
    quarter = backend.call("cuMemGetInfo")[0] // 4
    for _ in range(8):
        card.empty(quarter, "u1")
    with pytest.raises(driver.DriverError, match="bytes; .* are free"):
        card.empty(1 << 45, "u1")


@pytest.mark.gpu
def test_torch_lends_and_borrows(card: Device) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.arange(64.0, device="cuda:0"), torch.ones(64, device="cuda:0")
    torch.cuda.synchronize()
    card.load(axpy())["axpy"].launch(1, 64, [64, 2.0, x, y])
    card.synchronize()
    assert (y == 2 * x + 1).all()
    with pytest.raises(TypeError, match="argument x .* copies host memory"):
        card.load(axpy())["axpy"].launch(1, 64, [64, 2.0, torch.ones(64), y])
    lent = torch.as_tensor(card.array(np.arange(5, dtype="f4")), device="cuda:0")
    assert lent.tolist() == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------- launches


@pytest.mark.gpu
def test_shared_memory_up_to_the_limit(card: Device) -> None:
    kernel = card.load(SHARED)["shared_ends"]
    out = card.empty(1, "u4")
    most = card.limits.shared_per_block_optin - 20000
    for dynamic in (16, 49152 - 20000, 49152 - 20000 + 16, 49152, most):
        out.copy_from(np.zeros(1, "u4"))
        kernel.launch(1, 1, [dynamic - 4, out], shared=dynamic)
        assert out.numpy() == 7035, dynamic
    with pytest.raises(ArgumentValueError, match=f"and {most + 16} of dynamic"):
        kernel.launch(1, 1, [0, out], shared=most + 16)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 2, 8, 16])
def test_clusters(card: Device, size: int) -> None:
    out = card.empty(32, "u4", poison=True)
    card.load(CLUSTER)["ranks"].launch(32, 1, [out], cluster=size)
    np.testing.assert_array_equal(out.numpy(), 1000 * size + np.arange(32) % size)


@pytest.mark.gpu
def test_clusters_at_once(card: Device) -> None:
    found = {size: card.clusters(size) * size for size in (1, 2, 4, 8)}
    assert found[1] == card.sm_count
    assert card.sm_count // 2 < found[8] <= found[4] <= found[2] <= card.sm_count


@pytest.mark.gpu
def test_a_thread_without_a_context(card: Device) -> None:
    x, y = card.array(np.ones(32, "f4")), card.array(np.zeros(32, "f4"))
    kernel = card.load(axpy())["axpy"]
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(100):
                kernel.launch(1, 32, [32, 1.0, x, y[:]])
                card.stream().synchronize()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    np.testing.assert_array_equal(y.numpy(), np.full(32, 400.0))


@pytest.mark.gpu
def test_a_launch_under_another_context_runs_in_its_own(card: Device) -> None:
    """On streams of every kind: the legacy one, also by its name, a thread's own, and one of ours.
    The other context stays current.
    """
    cuda: Any = driver.api().cuda
    x, y = card.array(np.ones(32, "f4")), card.array(np.zeros(32, "f4"))
    kernel, stream = card.load(axpy())["axpy"], card.stream()
    try:
        failed, other = cuda.cuCtxCreate(None, 0, 0)
    except TypeError:  # before CUDA 13
        failed, other = cuda.cuCtxCreate(0, 0)
    assert not failed
    try:
        for number, where in enumerate((None, 1, 2, stream), 1):
            kernel.launch(1, 32, [32, 1.0, x, y], stream=where)
            assert int(cuda.cuCtxGetCurrent()[1]) == int(other)
            np.testing.assert_array_equal(y.numpy(), np.full(32, number))
    finally:
        cuda.cuCtxDestroy(other)


@pytest.mark.gpu
def test_streams_and_events(card: Device) -> None:
    first, second = card.stream(), card.stream()
    start, end = card.event(), card.event()
    out = card.empty(2, "u8", poison=True)
    spin = card.load(SPIN)["spin"]
    spin.launch(1, 1, [1000, out], stream=first)
    card.synchronize()
    start.record(first)
    spin.launch(1, 1, [20_000_000, out], stream=first)
    end.record(first)
    assert not end.done
    second.wait(end)
    spin.launch(1, 1, [1000, out + 1], stream=second)
    second.synchronize()
    assert end.done, "the second stream waited for the first"
    assert 19 < start.elapsed_time(end) < 60
    assert out.numpy()[0] >= 20_000_000


@pytest.mark.gpu
def test_launches_return_before_they_have_run(card: Device) -> None:
    spin, out = card.load(SPIN)["spin"], card.empty(1, "u8")
    spin.launch(1, 1, [1000, out])
    card.synchronize()
    start = time.perf_counter()
    spin.launch(1, 1, [50_000_000, out])
    launched = time.perf_counter() - start
    assert out.numpy() >= 50_000_000, "reading waits"
    assert launched < 0.02 < 0.05 <= time.perf_counter() - start


@pytest.mark.gpu
def test_a_module_is_dropped_while_its_kernel_runs(card: Device) -> None:
    stream, out = card.stream(), card.empty(1, "u8", poison=True)
    for _ in range(20):
        loaded = card.load(SPIN)
        loaded["spin"].launch(1, 1, [2_000_000, out], stream=stream)
        del loaded
        gc.collect()
    stream.synchronize()
    assert 2_000_000 <= out.numpy() < 1_000_000_000


@pytest.mark.gpu
def test_a_repeated_launch_costs_microseconds(card: Device) -> None:
    """8 us of host time is the most; ``benchmarks/launch_cost.py`` says where they go."""
    x, stream = card.array(np.ones(32, "f4")), card.stream()
    kernel = card.load(axpy())["axpy"]
    launch = kernel.prepare(1, 32, [0, 1.0, x, x], stream=stream)
    best = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        for _ in range(500):
            launch()
        best = min(best, (time.perf_counter() - begin) / 500)
        stream.synchronize()
    assert best < 8e-6


# ---------------------------------------------------------------- errors


@pytest.mark.gpu
@pytest.mark.parametrize("source", [STRAY, STRAY.encode(), STRAY.encode() + b"\0"])
def test_text_with_and_without_its_terminator(card: Device, source: str | bytes) -> None:
    assert card.load(source, jit=True)["stray"].name == "stray"


@pytest.mark.gpu
def test_the_log_of_the_drivers_compiler(card: Device) -> None:
    text = SPIN.replace("sub.u64 %rd5", "sub.rn.u64 %rd5")
    line = text[: text.index("sub.rn")].count("\n") + 1
    with pytest.raises(driver.DriverError, match=r"(?s)\(218\).*line \d+; error") as caught:
        card.load(text, jit=True)
    assert caught.value.place is not None and caught.value.place.line == line
    assert "sub.rn.u64" in str(caught.value)
    assert "\0" not in caught.value.log


@pytest.mark.gpu
def test_a_log_of_success(card: Device) -> None:
    assert "\0" not in card.load(SPIN, jit=True).log


@pytest.mark.gpu
def test_a_cubin_of_another_architecture(card: Device) -> None:
    cubin = ptx.assemble(STRAY.replace("sm_90", "sm_80"), "sm_80")
    with pytest.raises(driver.DriverError, match=r"NO_BINARY_FOR_GPU \(209\).*\n.*another archit"):
        card.load(cubin)


@pytest.mark.gpu
def test_a_ptx_version_that_no_driver_knows(card: Device) -> None:
    """Both refuse it, and both say so."""
    with pytest.raises(PtxError, match=r"(?s)\(222\).*ptxas was tried instead"):
        card.load(STRAY.replace(".version 8.0", ".version 9.9"), jit=True)


FAULT = """
import numpy as np, ptx, sys
from tests.test_gpu import STRAY
card = ptx.device("cuda:0")
x = card.array(np.ones(4))
loaded = card.load(STRAY)
loaded["stray"].launch(1, 1)
for wait in (card.synchronize, x.numpy):
    try:
        wait()
    except ptx.PtxError as error:
        print(error.code, error.name, flush=True)
"""

FORK = """
import os, ptx
ptx.device("cuda:0").empty(8)
child = os.fork()
if not child:
    try:
        ptx.device("cuda:0").empty(8)
    except ptx.PtxError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(ptx.device("cuda:0").array([1.0]).numpy())
"""


def process(code: str) -> list[str]:
    """What another process prints; it ends well, and silently on its error stream."""
    # Python 3.12 warns of every fork of a process with threads, which the driver has.
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.gpu
def test_a_fault_surfaces_at_the_wait_and_the_process_ends_well() -> None:
    assert process(FAULT) == 2 * ["700 CUDA_ERROR_ILLEGAL_ADDRESS"]


@pytest.mark.gpu
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_told_and_the_parent_goes_on() -> None:
    told, result = process(FORK)
    assert told.startswith("CUDA was initialised before os.fork()")
    assert result == "[1.]"
