"""Global memory that instructions and bulk copies both use."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, launch
from ptx.tensormap import TensorMap
from tests.emu.harness import run

ORDERS = ["fixed", "reverse", 1]

READ = """.shared .align 8 .b64 bar; .shared .align 128 .b8 tile[256]; mov.u32 %r8, tile; mov.u32 %r9, bar;
ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %j, 4, %rd0; setp.eq.u32 %p0, %j, 0;
@%p0 mbarrier.init.shared::cta.b64 [%r9], 1; fence.mbarrier_init.release.cluster;
st.global.u32 [%rd1], %j; {written}
bar.sync 0; {met}
@!%p0 bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd0], 256, [%r9];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r9], 0; @!%p1 bra wait;
mad.lo.u32 %r1, %j, 4, %r8; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1+256], %r2;
"""  # noqa: E501


def read(written: str = "", met: str = "", order: str | int = "fixed") -> None:
    """64 threads store, and a copy reads what they have stored."""
    memory = Memory()
    address = memory.allocate(512)
    run(READ.format(written=written, met=met), [address], memory=memory, block=64, order=order)
    np.testing.assert_array_equal(memory.read(address + 256, 256).view("u4"), np.arange(64))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("fence", ["fence.proxy.async;", "fence.proxy.async.global;"])
def test_a_fence_passes_on_what_was_stored(fence: str, order: str | int) -> None:
    """By each thread that has stored, or by one that the barrier has told of it."""
    read(written=fence, order=order)
    read(met=f"@%p0 {fence}", order=order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("written", "met"),
    [("", ""), ("fence.proxy.async.shared::cta;", ""), ("@%p0 fence.proxy.async;", ""),
     ("fence.acq_rel.gpu;", "")],
)  # fmt: skip
def test_a_copy_of_what_no_fence_has_passed_on(written: str, met: str, order: str | int) -> None:
    with pytest.raises(EmulatorFault, match=r"reads global memory that a store wrote") as caught:
        read(written, met, order)
    assert caught.value.kind == "fence"
    assert "st.global.u32 [%rd1], %j; (test.ptx:14" in str(caught.value)
    assert caught.value.place is not None and caught.value.place.line == 18


WRITE = """.shared .align 128 .b8 tile[512]; mov.u32 %r8, tile; mad.lo.u32 %r1, %j, 4, %r8;
ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %j, 4, %rd0; setp.eq.u32 %p0, %j, 0;
st.shared.u32 [%r1], %j; st.shared.u32 [%r1+256], %j; fence.proxy.async.shared::cta; bar.sync 0;
@!%p0 bra on;
cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r8], 256; cp.async.bulk.commit_group;
{waits}
on: {met}
ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+256], %r2;
@%p0 cp.async.bulk.wait_group 0;
"""

AGAIN = """cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r8+256], 256;
cp.async.bulk.commit_group;"""


@pytest.mark.parametrize("thread", [7, 63])
def test_the_word_at_fault_is_named(thread: int) -> None:
    """Of 256 bytes one word is not passed on; or one is read that is still being written."""
    memory = Memory()
    address = memory.allocate(512)
    rest = f"setp.ne.u32 %p2, %j, {thread};"
    unfenced = READ.format(written=f"{rest} @%p2 fence.proxy.async;", met="")
    flying = WRITE.format(
        waits="cp.async.bulk.wait_group.read 0;", met=f"bar.sync 0; {rest} @%p2 ret;"
    )
    for kernel, message in (
        (unfenced, "a store wrote, with no fence"),
        (flying, "a bulk copy still writes"),
    ):
        with pytest.raises(EmulatorFault, match=message) as caught:
            run(kernel, [address], memory=memory, block=64)
        assert caught.value.address == address + 4 * thread


def write(waits: str, met: str = "bar.sync 0;", order: str | int = "fixed") -> None:
    """A copy stores, and 64 threads read what it has stored."""
    memory = Memory()
    address = memory.allocate(512)
    memory.write(address, np.zeros(64, "u4"))
    run(WRITE.format(waits=waits, met=met), [address], memory=memory, block=64, order=order)
    np.testing.assert_array_equal(memory.read(address, 512).view("u4"), [*range(64)] * 2)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "waits",
    [
        "cp.async.bulk.wait_group 0;",
        "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;",
        # The same bytes once more, after the first have arrived.
        f"cp.async.bulk.wait_group 0; {AGAIN} cp.async.bulk.wait_group 0;",
    ],
)
def test_what_was_waited_for_is_written(waits: str, order: str | int) -> None:
    write(waits, order=order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("waits", "met", "kinds", "line"),
    [
        ("cp.async.bulk.wait_group.read 0;", "bar.sync 0;", {"in-flight"}, 18),
        ("", "bar.sync 0;", {"in-flight"}, 18),
        ("cp.async.bulk.wait_group 1;", "bar.sync 0;", {"in-flight"}, 18),
        # Two copies to one place have no order.
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd0+128], [%r8], 256;", "bar.sync 0;",
         {"in-flight"}, 16),
        ("cp.async.bulk.wait_group 0;", "", {"race", "in-flight"}, 18),
    ],
)  # fmt: skip
def test_what_was_not_waited_for_is_in_flight(
    waits: str, met: str, kinds: set[str], line: int, order: str | int
) -> None:
    with pytest.raises(EmulatorFault) as caught:
        write(waits, met, order)
    found = caught.value
    lines = {found.place.line} if found.place is not None else set()
    # Without the barrier the first to come may be the copy.
    assert found.kind in kinds and lines <= {line, 15}, found
    assert "cp.async.bulk.global.shared::cta.bulk_group [%rd0]" in str(found)


TENSOR = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry tensor(.param .align 64 .b8 map[128], .param .u64 p) {{
.shared .align 128 .b8 tile[256];
.reg .u32 %r<4>; .reg .u64 %rd<4>; .reg .pred %p<2>;
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 4, %r1; setp.eq.u32 %p0, %r0, 0;
ld.param.u64 %rd0, [p]; mad.wide.u32 %rd1, %r0, 4, %rd0; mov.b64 %rd2, map;
cvta.param.u64 %rd2, %rd2;
st.shared.u32 [%r2], %r0; {before} fence.proxy.async.shared::cta; bar.sync 0;
@%p0 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd2, {{0}}], [%r1];
@%p0 cp.async.bulk.commit_group;
@%p0 cp.async.bulk.wait_group{read} 0;
bar.sync 0;
ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd1], %r3;
ret; }}
"""


def tensor(read: str = "", before: str = "") -> Any:
    memory = Memory()
    address = memory.allocate(256)
    described = TensorMap(address, (64,), (), (64,), "u32")
    parameters = described.pack() + struct.pack("<Q", address)
    module = ptx.parse(TENSOR.format(read=read, before=before), "tensor.ptx")
    launch("tensor", module, (1, 1, 1), (64, 1, 1), parameters, memory=memory)
    return memory.read(address, 256).view("u4")


def test_tensor_copies_likewise() -> None:
    assert list(tensor()) == list(range(64))
    with pytest.raises(EmulatorFault, match="wait_group without .read") as caught:
        tensor(read=".read")
    assert caught.value.kind == "in-flight"
    assert caught.value.place is not None and caught.value.place.line == 16
    with pytest.raises(EmulatorFault, match="writes global memory that a store wrote") as caught:
        tensor(before="st.global.u32 [%rd1], 0;")
    assert caught.value.kind == "fence"
    assert caught.value.place is not None and caught.value.place.line == 12
