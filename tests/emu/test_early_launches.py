"""Launches that start while those before them run: what they may touch, and when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, launch
from ptx.tensormap import TensorMap
from ptxgemm import hopper
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Tiling
from tests.emu.mutations import replaced

WORDS = 64
SIGNAL, WAIT = "griddepcontrol.launch_dependents;", "griddepcontrol.wait;"

HEAD = """.version 9.0
.target sm_90a
.address_size 64
"""
KERNEL = """.visible .entry {name}(.param .u64 x, .param .u64 y, .param .align 64 .b8 map[128]) {{
.reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<8>;
.shared .align 8 .b64 bar; .shared .align 128 .b8 tile[256];
mov.u32 %r0, %tid.x; mov.u32 %r14, %ctaid.x; mov.u32 %r2, tile; mov.u32 %r3, bar;
setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r14, 0;
ld.param.u64 %rd8, [x]; ld.param.u64 %rd9, [y];
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd0, %rd8, %rd2; add.u64 %rd1, %rd9, %rd2;
{body}
ret; }}
"""
"""%rd0 is the thread's word of x, %rd1 that of y; thread 0 has %p0, CTA 0 %p1."""

LOAD, STORE = "ld.global.u32 %r1, [%rd0];", "st.global.u32 [%rd1], %r0;"
FIRST = f"{SIGNAL} ld.global.u32 %r1, [%rd0]; {STORE}"
"""Reads x and writes y."""
START = """@!%p0 bra started; mbarrier.init.shared::cta.b64 [%r3], 1;
fence.mbarrier_init.release.cluster; started: bar.sync 0; @!%p0 bra met;"""
MEET = """met: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra met;"""
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;"
BULK = """cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
[%r2], [%rd8], 256, [%r3];"""
TENSOR = """mov.u64 %rd5, map; cvta.param.u64 %rd5, %rd5; mov.u32 %r4, 0;
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
[%r2], [%rd5, {%r4}], [%r3];"""
SENT = """mad.lo.u32 %r5, %r0, 4, %r2; st.shared.u32 [%r5], %r0; fence.proxy.async.shared::cta;
bar.sync 0; {before} @!%p0 bra sent;
cp.async.bulk.global.shared::cta.bulk_group [%rd9], [%r2], 256;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; sent: """


class Stream:
    """Launches of kernels by their bodies, one after another, on one stream."""

    def __init__(self, stream: bool = False) -> None:
        self.device = ptx.device("emulator")
        self.device.synchronize()
        self.stream = self.device.stream() if stream else None
        zeros = np.zeros(WORDS, "u4")
        self.arrays = {name: self.device.array(zeros) for name in "abcd"}

    def launch(
        self, name: str, body: str, x: str, y: str, early: bool = True, grid: int = 1,
        threads: int = WORDS,
    ) -> None:  # fmt: skip
        module = ptx.parse(HEAD + KERNEL.format(name=name, body=body), f"{name}.ptx")
        map = TensorMap(self.arrays[x].pointer, (WORDS,), (), (WORDS,), "u32")
        args = {"x": self.arrays[x], "y": self.arrays[y], "map": self.device.tensor_map(map)}
        kernel = self.device.load(module)[name]
        kernel.prepare(grid, threads, args, stream=self.stream, early=early)()


def second(body: str, x: str = "b", y: str = "c", first: str = FIRST, **how: Any) -> None:
    """After a launch that reads a and writes b, one that has x and y."""
    stream = Stream()
    stream.launch("first", first, "a", "b", early=False)
    stream.launch("second", body, x, y, **how)
    stream.device.synchronize()


def refused(body: str, *match: str, **how: Any) -> EmulatorFault:
    with pytest.raises(EmulatorFault) as caught:
        second(body, **how)
    assert caught.value.kind == "race"
    for part in ("thread of second, launched early, ", "of first, ", "(first.ptx:11", *match):
        assert part in str(caught.value), caught.value
    return caught.value


# ---------------------------------------------------------------- two launches


def test_a_launch_that_does_not_wait() -> None:
    found = refused(LOAD, "reads 4 bytes", "writes, which may still run", "st.global.u32 [%rd1]")
    assert found.place is not None and (found.place.file, found.place.line) == ("second.ptx", 11)
    assert found.line == LOAD and found.thread == (0, 0, 0) and "allocation of 256" in str(found)
    second(WAIT + LOAD)


@pytest.mark.parametrize("first", [LOAD + STORE, LOAD + STORE + SIGNAL, SIGNAL + LOAD + STORE])
def test_no_signal_passes_on_memory(first: str) -> None:
    refused(LOAD, first=first)
    second(WAIT + LOAD, first=first)


def test_a_load_before_the_wait() -> None:
    refused(LOAD + WAIT)
    refused(f"@%p0 {LOAD} {WAIT} {LOAD}")


@pytest.mark.parametrize(
    "meet",
    ["", "bar.warp.sync -1;", "bar.sync 0;", "barrier.cluster.arrive; barrier.cluster.wait;"],
)
def test_one_thread_waits_for_others(meet: str) -> None:
    body = f"@%p0 {WAIT} {meet} {LOAD}"
    if "bar.sync" in meet or "cluster" in meet:
        second(body)
        return
    refused(body)
    if meet:
        second(body, threads=32)


def test_every_cta_waits() -> None:
    """Also those that run in place of others that have."""
    last = f"setp.eq.u32 %p3, %r14, 99; @%p3 bra on; {WAIT} on: {LOAD}"
    second(f"@%p0 {WAIT} bar.sync 0; {LOAD}", grid=100)
    assert refused(last, grid=100).cta == (99, 0, 0)


def test_one_thread_waits_and_an_mbarrier_tells() -> None:
    arrive = "mbarrier.arrive.shared::cta.b64 _, [%r3];"
    second(f"{START} {WAIT} {arrive} {MEET} {LOAD}")
    refused(f"{START} {arrive} {WAIT} {MEET} {LOAD}")


def test_a_flag_tells_another_cta() -> None:
    flag = """@!%p1 bra other; {wait} st.release.gpu.global.u32 [%rd9], 1; bra done;
    other: ld.acquire.gpu.global.u32 %r6, [%rd9]; setp.eq.u32 %p3, %r6, 0; @%p3 bra other;
    ld.global.u32 %r1, [%rd8]; done:"""
    second(flag.format(wait=WAIT), grid=2, threads=1)
    refused(flag.format(wait=""), grid=2, threads=1)


@pytest.mark.parametrize("copy", [BULK, TENSOR])
def test_a_copy_before_the_wait(copy: str) -> None:
    second(f"{START} {WAIT} {EXPECT} {copy} {MEET}")
    refused(f"{START} {EXPECT} {copy} {WAIT} {MEET}", "reads")
    second(f"{START} {EXPECT} {copy} {WAIT} {MEET}", x="d")


def test_a_copy_out_of_shared_memory() -> None:
    refused(SENT.format(before=""), "writes 16 bytes", "reads, which", x="c", y="a")
    second(SENT.format(before=WAIT), x="c", y="a")


@pytest.mark.parametrize(("y", "did"), [("a", "reads, which"), ("b", "writes, which")])
def test_a_write_before_the_wait(y: str, did: str) -> None:
    refused(STORE + WAIT, "writes 4 bytes", did, y=y)
    second(WAIT + STORE, y=y)


def test_memory_of_no_launch_before() -> None:
    """Weights may be fetched, and what the launch before has only read; a prefetch is none."""
    second(f"{LOAD} {STORE} {WAIT}", x="d")
    second(f"{LOAD} {WAIT}", x="a")
    second(f"prefetch.global.L2 [%rd0]; {WAIT} {LOAD}")


def test_other_words_of_the_same_array() -> None:
    half = f"@%p0 {STORE}"
    second("ld.global.u32 %r1, [%rd0+4];", first=half, threads=WORDS - 1)
    refused(LOAD, first=half)


def test_atomics_of_both_never_race() -> None:
    count = "red.global.add.u32 [%rd9], 1;"
    second(count, y="b", first=count)
    refused("red.global.cta.add.u32 [%rd9], 1;", y="b", first=count)
    refused("ld.global.u32 %r1, [%rd8];", first=count)
    refused(count, y="b")


def test_launches_that_are_not_early() -> None:
    second(LOAD, early=False)
    second(WAIT + LOAD, early=False)


@pytest.mark.parametrize("how", ["synchronize", "read", "write", "fill", "stream", "default"])
def test_what_ends_the_launches_before(how: str) -> None:
    stream = Stream(stream=True)
    stream.launch("first", FIRST, "a", "b", early=False)
    other = stream.arrays["d"]
    if how == "synchronize":
        stream.device.synchronize()
    elif how == "read":
        other.numpy()
    elif how == "write":
        stream.device.array(np.zeros(4, "u4"))
    elif how == "fill":
        other.fill_bytes(0)
    else:
        before, stream.stream = stream.stream, None
        if how == "default":
            stream.launch("between", LOAD, "d", "d")
            stream.stream = before
    stream.launch("second", LOAD, "b", "c")
    stream.device.synchronize()


def test_streams_apart() -> None:
    """What runs on another stream is neither before nor between."""
    one = Stream(stream=True)
    one.launch("first", FIRST, "a", "b", early=False)
    before, one.stream = one.stream, one.device.stream()
    one.launch("between", LOAD, "b", "c")
    one.stream = before
    one.launch("second", LOAD, "b", "c")
    with pytest.raises(EmulatorFault, match="of first"):
        one.device.synchronize()


# ---------------------------------------------------------------- three and more


def chain(*bodies: str, last: str, early: bool = True, grid: int = 1) -> str:
    """After a launch that writes b: others that only have d, then one that has b; its race."""
    stream = Stream()
    stream.launch("first", FIRST, "a", "b", early=False)
    for number, body in enumerate(bodies):
        stream.launch(f"between{number}", body, "d", "d", grid=grid)
    stream.launch("last", last, "b", "c", early=early)
    try:
        stream.device.synchronize()
    except EmulatorFault as fault:
        return str(fault)
    return ""


@pytest.mark.parametrize("between", [WAIT + SIGNAL, WAIT, SIGNAL + WAIT])
def test_a_launch_between_that_has_waited(between: str) -> None:
    """Its end is that of the first."""
    assert chain(between, last=WAIT + LOAD) == ""


def test_a_launch_between_that_signals_late_lets_nothing_start_before() -> None:
    """All of its CTAs have signalled or ended when the last one starts: one that waited will do."""
    assert chain(WAIT + SIGNAL, last=LOAD) == ""
    assert chain(WAIT, last=LOAD) == ""
    assert chain(f"@%p1 {WAIT} {SIGNAL}", last=LOAD, grid=2) == ""
    assert chain(f"@%p0 {WAIT} bar.sync 0; {SIGNAL}", last=LOAD) == ""


@pytest.mark.parametrize("between", [SIGNAL + WAIT, f"@%p0 {WAIT} {SIGNAL}"])
def test_a_launch_between_that_signals_before_it_has_waited(between: str) -> None:
    found = chain(between, last=LOAD)
    assert "race: this thread of last, launched early" in found
    assert "an earlier launch, of first, writes, which may still run" in found
    assert "between0, the launch between, may signal before it has waited" in found


def test_a_launch_between_that_never_waits() -> None:
    """Then the wait for its end is none for the first, nor are those of the launches after it."""
    for bodies in ([SIGNAL], [""], [SIGNAL, WAIT + SIGNAL]):
        found = chain(*bodies, last=WAIT + LOAD)
        assert "waits for the launch before alone, of between" in found
        assert "an earlier launch, of first, writes" in found
    assert chain(SIGNAL, last=LOAD, early=False) == ""


def test_a_long_chain_is_kept_short() -> None:
    stream = Stream()
    for number in range(12):
        stream.launch(f"k{number}", SIGNAL, "a", "b", early=number > 0)
    assert len(stream.device.backend.queue.at_start) == 8
    stream.launch("last", "", "a", "b", early=False)
    assert len(stream.device.backend.queue.at_start) == 1
    stream.device.synchronize()
    assert not stream.device.backend.queue.at_start


# ---------------------------------------------------------------- shipped kernels


def products(text: str = "") -> Any:
    """C = A B and D = C E: the second reads what the first writes; without the lines of `text`."""
    device = ptx.device("emulator")
    random = np.random.default_rng(0)
    a, b, e = (
        random.integers(-1, 2, size).astype("f4") for size in ((24, 64), (64, 64), (64, 128))
    )
    bits = [device.array((x.view("u4") >> 16).astype("u2")) for x in (a, b, e)]
    c, d = device.empty((24, 64), "u2"), device.array(np.zeros((24, 128), "f4"))
    first, second, third, between, last = (
        hopper.Matrix(array.pointer, *array.shape, array.shape[1], 1, kind)
        for array, kind in zip((*bits, c, d), ("bf16",) * 4 + ("f32",), strict=True)
    )

    def run(function: Any, module: ptx.Module, *rest: Any, **options: Any) -> Any:
        mutant = ptx.parse(str(module).replace(text, "")) if text else module
        return launch(mutant.kernels[function.name], mutant, *rest, **options)

    with replaced(run):
        one = hopper.plan(device, between, first, second, tiling=Tiling(128, 64, stages=2))
        two = hopper.plan(device, last, between, third, tiling=Narrow(64, 32, 2))
        for _ in range(2):
            one()
            two()
        found = d.numpy().copy()
    np.testing.assert_array_equal(found, a @ b @ e)
    return found


def test_shipped_kernels_follow_each_other() -> None:
    products()


def test_shipped_kernels_that_do_not_wait() -> None:
    with pytest.raises(EmulatorFault, match="launched early") as caught:
        products(WAIT)
    assert caught.value.kind == "race"
