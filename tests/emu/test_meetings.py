"""Who goes on while the rest of a warp waits: what is a fault, and what only looks like one."""

from __future__ import annotations

import pytest

from tests.emu.harness import fault, outputs

STORE = "mad.wide.u32 %rd0, %j, 4, %rd0; st.global.u32 [%rd0], %r0;"
LOAD = "ld.param.u64 %rd0, [p0];"


@pytest.mark.parametrize("leave", ["@%p0 ret;", "@%p0 bra LEAVE;"])
def test_lanes_that_return_early_are_not_waited_for(leave: str) -> None:
    text = f"""{LOAD}
setp.ge.u32 %p0, %j, 20;
{leave}
mov.u32 %r0, 0;
vote.sync.ballot.b32 %r0, 1, 0xFFFFFFFF;
bar.sync 0;
{STORE}
LEAVE:
"""
    assert list(outputs(text, 32, fill=7)) == [(1 << 20) - 1] * 20 + [7] * 12


def test_lanes_that_come_in_a_later_round_are_waited_for() -> None:
    """Even lanes vote in the first round of a loop, odd ones in the second, under one mask."""
    text = f"""{LOAD}
mov.u32 %r0, 0; mov.u32 %r1, 0; and.b32 %r2, %j, 1;
NEXT:
setp.ne.u32 %p0, %r1, %r2;
@%p0 bra SKIP;
vote.sync.ballot.b32 %r0, 1, 0xFFFFFFFF;
SKIP:
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 2;
@%p1 bra NEXT;
{STORE}
"""
    assert list(outputs(text, 32)) == [0xFFFFFFFF] * 32


def test_warps_that_part_as_wholes_meet_at_their_own_barriers() -> None:
    text = f"""{LOAD}
mov.u32 %r0, 1;
setp.ge.u32 %p0, %j, 32;
@%p0 bra OTHER;
bar.sync 1, 32;
mov.u32 %r0, 2;
bra JOIN;
OTHER:
bar.sync 2, 32;
JOIN:
{STORE}
"""
    assert list(outputs(text, 64, block=64)) == [2] * 32 + [1] * 32


@pytest.mark.parametrize(
    ("held", "kind"),
    [
        ("vote.sync.ballot.b32 %r0, 1, 0xFFFFFFFF;", "mask"),
        ("bar.warp.sync 0xFFFFFFFF;", "mask"),
        ("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;", "mask"),
        ("bar.sync 0;", "divergent-barrier"),
        ("barrier.sync.aligned 0;", "divergent-barrier"),
    ],
)
@pytest.mark.parametrize("guarded", [False, True])
def test_lanes_that_go_past_are_named(held: str, kind: str, guarded: bool) -> None:
    branch = f"@%p0 {held}" if guarded else f"@!%p0 bra PAST; {held} PAST:"
    text = f"""{LOAD} mov.u32 %r0, 0;
setp.lt.u32 %p0, %j, 12;
{branch}
{STORE}
"""
    found = fault(text, 1 << 47, block=32)
    assert found.kind == kind
    assert "thread (12, 0, 0) and 19 more of the warp" in str(found), found
    assert found.place is not None
    assert found.place.line == 13
    assert "test.ptx:14" in str(found)


def test_an_unaligned_barrier_lets_lanes_come_apart() -> None:
    text = f"""{LOAD} mov.u32 %r0, 5;
setp.lt.u32 %p0, %j, 12;
@%p0 bra ONE;
barrier.sync 0;
bra JOIN;
ONE:
barrier.sync 0;
JOIN:
{STORE}
"""
    assert list(outputs(text, 32)) == [5] * 32


def test_a_wait_at_the_clusters_barrier_needs_an_arrival() -> None:
    found = fault("barrier.cluster.wait;", block=32, cluster=(1, 1, 1))
    assert found.kind == "barrier"
    assert "without having arrived" in str(found)
