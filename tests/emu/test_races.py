"""Races in shared memory: found with both accesses where they are, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory
from tests.emu.harness import fault, run

TILE = """
.shared .align 16 .b8 tile[1024];
mov.u32 %r0, tile; shl.b32 %r1, %j, 2; add.u32 %r1, %r1, %r0;
sub.u32 %r2, 63, %j; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r0;
"""
WRITE = "st.shared.u32 [%r1], %j;\n"
READ_OTHER = "ld.shared.u32 %r3, [%r2];\n"
WRITE_OTHER = "st.shared.u32 [%r2], %j;\n"
READ_OWN = "ld.shared.u32 %r4, [%r1];\n"
MEET = "bar.sync 0;\n"


def lines(error: EmulatorFault) -> int:
    assert error.place is not None
    return error.place.line


def test_read_of_what_another_warp_wrote() -> None:
    error = fault(TILE + WRITE + READ_OTHER, block=64)
    assert (error.kind, error.place.line if error.place else 0) == ("race", 15)
    assert "reads 4 bytes that CTA (0, 0, 0) thread (63, 0, 0) wrote" in str(error)
    assert "the other access: st.shared.u32 [%r1], %j; (test.ptx:14:1)" in str(error)
    assert error.thread == (0, 0, 0)
    run(TILE + WRITE + MEET + READ_OTHER, block=64)


def test_write_over_what_another_warp_reads() -> None:
    text = TILE + WRITE + MEET + READ_OTHER
    error = fault(text + WRITE, block=64)
    assert error.kind == "race" and "writes 4 bytes" in str(error) and " read, with" in str(error)
    run(text + MEET + WRITE, block=64)


def test_write_over_what_another_warp_wrote() -> None:
    error = fault(TILE + WRITE + WRITE_OTHER, block=64)
    assert error.kind == "race" and " wrote, with" in str(error)
    run(TILE + WRITE + MEET + WRITE_OTHER, block=64)


def test_a_thread_may_use_its_own_place() -> None:
    run(TILE + WRITE + READ_OWN + WRITE + READ_OWN, block=64)


def test_threads_of_one_warp_need_their_barrier() -> None:
    small = TILE.replace("63", "31")
    error = fault(small + WRITE + READ_OTHER, block=32)
    assert error.kind == "race"
    run(small + WRITE + "bar.warp.sync 0xFFFFFFFF;\n" + READ_OTHER, block=32)
    text = small + WRITE + "bar.warp.sync 0xFFFFFFFF;\n" + READ_OTHER
    assert fault(text + WRITE, block=32).kind == "race"
    run(text + "bar.warp.sync 0xFFFFFFFF;\n" + WRITE, block=32)


def test_neighbouring_bytes_are_no_race() -> None:
    run(
        ".shared .b8 tile[64];\nmov.u32 %r0, tile; add.u32 %r0, %r0, %j;\n"
        "st.shared.u8 [%r0], %j;\nld.shared.u8 %r1, [%r0];",
        block=64,
    )


def test_vector_and_scalar_accesses_overlap() -> None:
    text = (
        TILE
        + WRITE
        + "{meet}"
        + """
    and.b32 %r5, %j, 15; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r0;
    ld.shared.v4.u32 {{%r6, %r7, %r8, %r9}}, [%r5];
    """
    )
    assert fault(text.format(meet=""), block=64).kind == "race"
    run(text.format(meet=MEET), block=64)


def test_arrival_orders_a_producer_before_its_consumer() -> None:
    """Warp 0 writes and arrives, warp 1 waits and reads; the way back is a second barrier."""
    text = (
        TILE
        + """
    setp.ge.u32 %p0, %j, 32;
    @%p0 bra consumer;
    st.shared.u32 [%r1], %j;
    {first}
    bar.sync 2, 64;
    st.shared.u32 [%r1], %j;
    bra done;
    consumer:
    {second}
    ld.shared.u32 %r3, [%r2];
    bar.arrive 2, 64;
    done:
    """
    )
    run(text.format(first="bar.arrive 1, 64;", second="bar.sync 1, 64;"), block=64)
    # Without the first barrier the consumer reads while the producer writes.
    error = fault(text.format(first="", second=""), block=64)
    assert error.kind in ("race", "uninitialised")
    late = text.replace("bar.sync 2, 64;", "").replace("bar.arrive 2, 64;", "")
    error = fault(late.format(first="bar.arrive 1, 64;", second="bar.sync 1, 64;"), block=64)
    assert error.kind == "race"


PIPE = """
.shared .align 16 .b8 tile[1024];
ld.param.u64 %rd0, [p0];
mad.wide.u32 %rd0, %j, 16, %rd0;
mov.u32 %r0, tile; shl.b32 %r1, %j, 4; add.u32 %r1, %r1, %r0;
sub.u32 %r2, 63, %j; shl.b32 %r2, %r2, 4; add.u32 %r2, %r2, %r0;
cp.async.cg.shared.global [%r1], [%rd0], 16;
cp.async.commit_group;
cp.async.wait_group 0;
{first}
ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r2];
{second}
cp.async.cg.shared.global [%r1], [%rd0], 16;
cp.async.wait_all;
"""


@pytest.mark.parametrize(
    ("first", "second", "line"), [(MEET, MEET, 0), ("", MEET, 20), (MEET, "", 22)]
)
def test_asynchronous_copies_take_part(first: str, second: str, line: int) -> None:
    memory = Memory()
    address = memory.allocate(1024)
    memory.write(address, np.zeros(256, np.uint32))
    text = PIPE.format(first=first.strip(), second=second.strip())
    if not line:
        run(text, [address], memory=memory, block=64)
        return
    with pytest.raises(EmulatorFault) as caught:
        run(text, [address], memory=memory, block=64)
    assert caught.value.kind == "race"
    assert caught.value.place is not None and caught.value.place.line == line


def test_the_search_can_be_left_out() -> None:
    run(TILE + WRITE + READ_OTHER, block=64, races=False)


@pytest.mark.parametrize(
    ("wait", "kind"),
    [
        ("", "race"),
        ("mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra again;", ""),
    ],
)
def test_an_arrival_alone_orders_no_lanes_of_a_warp(wait: str, kind: str) -> None:
    """What a lane did before it arrived is there for those who wait."""
    text = (
        ".shared .align 8 .b64 full;\n"
        + TILE.replace("63", "31")
        + "setp.ne.u32 %p0, %j, 0;\n@!%p0 mbarrier.init.shared::cta.b64 [full], 32;\nbar.sync 0;\n"
        + WRITE
        + f"mbarrier.arrive.shared::cta.b64 _, [full];\nagain:\n{wait}\n"
        + READ_OTHER
    )
    if kind:
        assert fault(text, block=32).kind == kind
    else:
        run(text, block=32)
