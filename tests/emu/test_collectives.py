"""What threads do together: masks, barrier numbers and counts that must agree, setmaxnreg."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, launch
from tests.emu.harness import fault, outputs

ORDERS = ["fixed", "reverse", 1]
BY_HALF = "setp.lt.u32 %p0, %j, 16; selp.b32 %r0, 0x0000FFFF, {upper}, %p0;"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "line",
    [
        "bar.warp.sync %r0;",
        "shfl.sync.idx.b32 %r1, %j, 0, 31, %r0;",
        "vote.sync.ballot.b32 %r1, %p0, %r0;",
        "match.any.sync.b32 %r1, %j, %r0;",
        "redux.sync.add.u32 %r1, %j, %r0;",
        "elect.sync %r1|%p1, %r0;",
    ],
)
def test_a_mask_names_lanes_that_come_with_another(line: str, order: str | int) -> None:
    """Lanes 16 to 31 name all 32, and the lower half names itself alone."""
    found = fault(f"{BY_HALF.format(upper='0xFFFFFFFF')}\n{line}", block=32, order=order)
    assert found.kind == "mask", found
    assert found.place is not None and found.place.line == 12
    assert "the member mask 0xffffffff names lane 0, which comes with another, 0x0000ffff" in str(
        found
    )


@pytest.mark.parametrize("order", ORDERS)
def test_halves_of_a_warp_with_masks_of_their_own(order: str | int) -> None:
    text = (
        BY_HALF.format(upper="0xFFFF0000")
        + """
redux.sync.add.u32 %r1, %j, %r0;
ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd0, %j, 4, %rd0; st.global.u32 [%rd0], %r1;
"""
    )
    sums = outputs(text, 32, order=order)
    assert list(sums) == [sum(range(16))] * 16 + [sum(range(16, 32))] * 16


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("lines", "kind", "says"),
    [
        # Without a count each of the two barriers waits for both warps.
        ("shr.u32 %r0, %j, 5; bar.sync %r0;", "deadlock", "wait for barrier 1 with all threads"),
        ("and.b32 %r0, %j, 1; bar.sync %r0, 64;", "barrier", "barriers 0 and 1 by one aligned"),
        ("shr.u32 %r0, %j, 5; add.u32 %r0, %r0, 2; shl.b32 %r0, %r0, 5; barrier.sync 1, %r0;",
         "barrier", ""),
        ("and.b32 %r0, %j, 1; add.u32 %r0, %r0, 1; shl.b32 %r0, %r0, 5; bar.sync 1, %r0;",
         "barrier", "together with the counts 32 and 64"),
    ],
)  # fmt: skip
def test_threads_name_one_barrier_and_one_count(
    lines: str, kind: str, says: str, order: str | int
) -> None:
    found = fault(lines, block=64, order=order)
    assert found.kind == kind and says in str(found), found
    assert found.place is not None and found.place.line == 11


ROLES = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry roles(.param .u64 p) {directives} {{
.reg .u32 %r<4>; .reg .u64 %rd<2>; .reg .pred %p<2>;
mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, {first};
@!%p0 bra consumer;
{producer}
bra done;
consumer:
{consumer}
done:
ld.param.u64 %rd0, [p]; mad.wide.u32 %rd0, %r0, 4, %rd0; st.global.u32 [%rd0], %r0;
ret; }}
"""
TWO_GROUPS = ".reqntid 256 .minnctapersm 2"
"""128 registers a thread at entry: 65,536 of an SM for 512 threads."""


def roles(
    producer: str, consumer: str, directives: str = TWO_GROUPS, block: int = 256, first: int = 128,
    order: str | int = "fixed",
) -> None:  # fmt: skip
    memory = Memory()
    out = memory.allocate(4 * block)
    text = ROLES.format(producer=producer, consumer=consumer, directives=directives, first=first)
    module = ptx.parse(text, "roles.ptx")
    launch("roles", module, (1, 1, 1), (block, 1, 1), struct.pack("<Q", out), memory=memory,
           order=order)  # fmt: skip
    np.testing.assert_array_equal(memory.read(out, 4 * block).view("u4"), np.arange(block))


LESS, MORE = "setmaxnreg.dec.sync.aligned.u32 40;", "setmaxnreg.inc.sync.aligned.u32 216;"


@pytest.mark.parametrize("order", ORDERS)
def test_a_warpgroup_takes_what_the_other_gives(order: str | int) -> None:
    """40 + 216 registers are those of two threads of 128."""
    roles(LESS, MORE, order=order)
    roles(MORE, LESS, order=order)


def test_without_a_known_count_setmaxnreg_is_ignored() -> None:
    """As the hardware does, and ptxas says (C7508)."""
    roles("", MORE, "")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("producer", "consumer", "kind", "line", "says"),
    [
        ("", MORE, "deadlock", 12, "hold 128 registers each and wait for 216, which is 11264 more"),
        (LESS, MORE.replace("216", "224"), "deadlock", 12, "has 11264"),
        ("setmaxnreg.dec.sync.aligned.u32 136;", "", "launch", 9, "threads that hold 128"),
        ("", "setmaxnreg.inc.sync.aligned.u32 120;", "launch", 12, "threads that hold 128"),
    ],
)
def test_registers_that_nobody_has(
    producer: str, consumer: str, kind: str, line: int, says: str, order: str | int
) -> None:
    with pytest.raises(EmulatorFault, match=says) as caught:
        roles(producer, consumer, order=order)
    assert caught.value.kind == kind
    assert caught.value.place is not None and caught.value.place.line == line


@pytest.mark.parametrize("order", ORDERS)
def test_setmaxnreg_is_for_all_warps_of_a_warpgroup(order: str | int) -> None:
    with pytest.raises(EmulatorFault, match="32 of 128 threads of a warpgroup") as caught:
        roles(LESS, "", ".reqntid 128 .minnctapersm 1", block=128, first=32, order=order)
    assert caught.value.kind == "mask"
    assert caught.value.place is not None and caught.value.place.line == 9
