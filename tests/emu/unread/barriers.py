"""Barriers, mbarriers and warp-wide instructions whose partners do not come."""

from __future__ import annotations

import numpy as np

import ptx
from ptx.ir import SINK, Reg
from tests.emu.unread.addresses import element
from tests.emu.unread.case import Out, case, version

RANDOM = np.random.default_rng(7)
FULL, EMPTY = 1, 2
"""Named barriers."""


def wait(k: ptx.Kernel, mbarrier: Reg, parity: Reg | int) -> None:
    """Spin until the phase of that parity is over."""
    again = k.label("wait")
    done = k.mbarrier.try_wait.parity.shared__cta.b64(mbarrier, parity)
    with k.when(~done):
        k.bra(again)


# ---------------------------------------------------------------- barriers of the CTA


@case(
    "partial warp at an aligned barrier: bar.sync in a branch of some lanes",
    lambda g: {"y": g["x"][::-1]},
    x=np.arange(48, dtype="u4"),
    y=Out(48, "u4"),
    block=64,
    n=48,
    hangs=True,
)
def barrier_for_the_inside(broken: bool) -> ptx.Kernel:
    """All work, the barrier included, stands under "am I inside"; warp 1 is so by half."""
    k = ptx.Kernel("barrier_for_the_inside", x="global.u32", y="global.u32", n="u32")
    x, y, n = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "u32", 48))
    mine = k.mad.lo.u32(i, 4, tile)
    inside = k.setp.lt.u32(i, n)
    if broken:
        with k.branch(inside):
            k.st.shared.u32(mine, k.ld.global_.u32(element(k, x, i)))
            k.bar.sync(0)  # fault: barrier_for_the_inside
    else:
        with k.branch(inside):
            k.st.shared.u32(mine, k.ld.global_.u32(element(k, x, i)))
        k.bar.sync(0)
    with k.branch(inside):
        other = k.mad.lo.u32(k.sub.u32(47, i), 4, tile)
        k.st.global_.u32(element(k, y, i), k.ld.shared.u32(other))
    k.ret()
    return k


@case(
    "deadlock: both sides of a pair of named barriers wait for the other to begin",
    lambda g: {"y": np.array([0 + 1 + 4] * 32, "u4")},
    y=Out(32, "u4"),
    block=64,
    hangs=True,
)
def nobody_begins(broken: bool) -> ptx.Kernel:
    """The producer waits until the buffer is empty; at first the consumer has to say so."""
    k = ptx.Kernel("nobody_begins", y="global.u32")
    (y,) = k.params()
    i = k.mov.u32(k.tid.x)
    lane = i & 31
    cell = k.mad.lo.u32(lane, 4, k.mov.u32(k.shared("buffer", "u32", 32)))
    with k.branch(k.setp.lt.u32(i, 32)):
        for step in range(3):
            k.bar.sync(EMPTY, 64)  # fault: nobody_begins
            k.st.shared.u32(cell, step * step)
            k.bar.arrive(FULL, 64)
    with k.otherwise():
        total = k.mov.u32(0)
        if not broken:
            k.bar.arrive(EMPTY, 64)
        for step in range(3):
            k.bar.sync(FULL, 64)  # fault: nobody_begins
            k.add.u32(total, k.ld.shared.u32(cell), out=total)
            if step < 2:
                k.bar.arrive(EMPTY, 64)
        k.st.global_.u32(element(k, y, lane), total)
    k.ret()
    return k


@case(
    "deadlock: a named barrier counts the producer's warp too",
    lambda g: {"y": g["x"].reshape(2, 32)[::-1].reshape(64)},
    x=np.arange(64, dtype="u4"),
    y=Out(64, "u4"),
    block=96,
    hangs=True,
)
def consumers_of_three_warps(broken: bool) -> ptx.Kernel:
    """Two consuming warps exchange, through a barrier made for the whole CTA of three; the third
    still waits for them elsewhere.
    """
    k = ptx.Kernel("consumers_of_three_warps", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "u32", 64))
    with k.branch(k.setp.lt.u32(i, 64)):
        k.st.shared.u32(k.mad.lo.u32(i, 4, tile), k.ld.global_.u32(element(k, x, i)))
        k.bar.sync(3, 96 if broken else 64)  # fault: consumers_of_three_warps
        other = k.mad.lo.u32(i ^ 32, 4, tile)
        k.st.global_.u32(element(k, y, i), k.ld.shared.u32(other))
    k.bar.sync(0)  # fault: consumers_of_three_warps
    k.ret()
    return k


# ---------------------------------------------------------------- warps


@case(
    "absent lanes: a full mask in a branch of some lanes",
    lambda g: {"y": np.where(g["x"] % 2 == 1, g["x"] + (g["x"] ^ 2), 0).astype("u4")},
    x=np.arange(32, dtype="u4"),
    y=Out(32, "u4"),
)
def full_mask_in_a_branch(broken: bool) -> ptx.Kernel:
    """Lanes with odd values exchange among themselves, and name the whole warp."""
    k = ptx.Kernel("full_mask_in_a_branch", x="global.u32", y="global.u32")
    x, y = k.params()
    lane = k.mov.u32(k.tid.x)
    value = k.ld.global_.u32(element(k, x, lane))
    result = k.mov.u32(0)
    odd = k.setp.ne.u32(value & 1, 0)
    mask = k.vote.sync.ballot.b32(odd, 0xFFFFFFFF)
    with k.branch(odd):
        named = 0xFFFFFFFF if broken else mask
        other = k.shfl.sync.bfly.b32(value, 2, 31, named)  # fault: full_mask_in_a_branch
        k.add.u32(value, other, out=result)
    k.st.global_.u32(element(k, y, lane), result)
    k.ret()
    return k


@case(
    "a mask without the executing lane",
    lambda g: {"y": np.repeat([g["x"][:16].max(), g["x"][16:].max()], 16).astype("u4")},
    x=RANDOM.integers(0, 1000, 32).astype("u4"),
    y=Out(32, "u4"),
)
def mask_of_the_lower_half(broken: bool) -> ptx.Kernel:
    """Two logical warps of 16; the second one uses the first one's mask."""
    k = ptx.Kernel("mask_of_the_lower_half", x="global.u32", y="global.u32")
    x, y = k.params()
    lane = k.mov.u32(k.tid.x)
    value = k.ld.global_.u32(element(k, x, lane))
    mask = k.mov.u32(0xFFFF)
    if not broken:
        mask = k.shl.b32(mask, lane & 16)
    best = k.redux.sync.max.u32(value, mask)  # fault: mask_of_the_lower_half
    k.st.global_.u32(element(k, y, lane), best)
    k.ret()
    return k


@case(
    "a part of a warp at an aligned instruction: ldmatrix by the lanes that give addresses",
    lambda g: {"out": np.ascontiguousarray(g["tile"][:8]).view("u4").reshape(32)},
    tile=np.arange(64, dtype="f2").reshape(8, 8),
    out=Out(32, "u4"),
)
def ldmatrix_of_eight_lanes(broken: bool) -> ptx.Kernel:
    """x1 takes addresses of lanes 0 to 7 only, so only those execute it."""
    k = ptx.Kernel("ldmatrix_of_eight_lanes", tile="global.b16", out="global.u32")
    tile, out = k.params()
    rows = k.mov.u32(k.shared("rows", "b16", 64, align=16))
    lane = k.mov.u32(k.tid.x)
    k.st.shared.b32(k.mad.lo.u32(lane, 4, rows), k.ld.global_.b32(element(k, tile, lane)))
    k.bar.warp.sync(0xFFFFFFFF)
    got = k.mov.b32(0)
    row = k.mad.lo.u32(lane & 7, 16, rows)
    few = k.setp.lt.u32(lane, 8)
    if broken:
        with k.branch(few):
            k.ldmatrix.sync.aligned.m8n8.x1.shared.b16(  # fault: ldmatrix_of_eight_lanes
                row, out=(got,)
            )
    else:
        k.ldmatrix.sync.aligned.m8n8.x1.shared.b16(row, out=(got,))
    k.st.global_.b32(element(k, out, lane), got)
    k.ret()
    return k


# ---------------------------------------------------------------- mbarriers


@case(
    "deadlock: an mbarrier counts threads, and one of each warp arrives",
    lambda g: {"y": g["x"][::-1]},
    x=np.arange(128, dtype="u4"),
    y=Out(128, "u4"),
    block=128,
    hangs=True,
)
def one_arrival_a_warp(broken: bool) -> ptx.Kernel:
    """Initialised with 128, arrived at by four leaders."""
    k = ptx.Kernel("one_arrival_a_warp", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "u32", 128))
    ready = k.mov.u32(k.shared("ready", "b64"))
    lead = k.setp.eq.u32(i, 0)
    with k.when(lead):
        k.mbarrier.init.shared__cta.b64(ready, 128 if broken else 4)
    k.bar.sync(0)
    k.st.shared.u32(k.mad.lo.u32(i, 4, tile), k.ld.global_.u32(element(k, x, i)))
    k.bar.warp.sync(0xFFFFFFFF)
    leader = k.setp.eq.u32(i & 31, 0)
    with k.when(leader):
        k.mbarrier.arrive.shared__cta.b64(ready, out=SINK)
    again = k.label("wait")
    done = k.mbarrier.try_wait.parity.shared__cta.b64(ready, 0)  # fault: one_arrival_a_warp
    with k.when(~done):
        k.bra(again)  # fault: one_arrival_a_warp
    other = k.mad.lo.u32(k.sub.u32(127, i), 4, tile)
    k.st.global_.u32(element(k, y, i), k.ld.shared.u32(other))
    k.ret()
    return k


@case(
    "deadlock: copies that add to the count what they then take from it",
    lambda g: {"y": g["x"][::-1]},
    x=np.arange(64, dtype="u4"),
    y=Out(64, "u4"),
    block=64,
    hangs=True,
)
def arrival_without_noinc(broken: bool) -> ptx.Kernel:
    """The mbarrier already counts an arrival of every thread's copies: that takes .noinc."""
    k = ptx.Kernel("arrival_without_noinc", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "u32", 64))
    ready = k.mov.u32(k.shared("ready", "b64"))
    lead = k.setp.eq.u32(i, 0)
    with k.when(lead):
        k.mbarrier.init.shared__cta.b64(ready, 64)
    k.bar.sync(0)
    k.cp.async_.ca.shared.global_(k.mad.lo.u32(i, 4, tile), element(k, x, i), 4)
    if broken:
        k.cp.async_.mbarrier.arrive.shared__cta.b64(ready)
    else:
        k.cp.async_.mbarrier.arrive.noinc.shared__cta.b64(ready)
    again = k.label("wait")
    done = k.mbarrier.try_wait.parity.shared__cta.b64(ready, 0)  # fault: arrival_without_noinc
    with k.when(~done):
        k.bra(again)  # fault: arrival_without_noinc
    other = k.mad.lo.u32(k.sub.u32(63, i), 4, tile)
    k.st.global_.u32(element(k, y, i), k.ld.shared.u32(other))
    k.ret()
    return k


@case(
    "an mbarrier that is not one any more: a tile was written over it",
    lambda g: {"y": g["x"][::-1]},
    launch={"shared": 272},
    x=np.arange(64, dtype="u4"),
    y=Out(64, "u4"),
    block=64,
    hangs=True,
)
def tile_over_the_mbarrier(broken: bool) -> ptx.Kernel:
    """Dynamic shared memory shared out by hand: the mbarrier's offset counts elements as bytes."""
    k = ptx.Kernel("tile_over_the_mbarrier", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.dynamic_shared("arena", align=16))
    ready = tile + (64 if broken else 256)
    lead = k.setp.eq.u32(i, 0)
    with k.when(lead):
        k.mbarrier.init.shared__cta.b64(ready, 64)
    k.bar.sync(0)
    value = k.ld.global_.u32(element(k, x, i))
    k.st.shared.u32(k.mad.lo.u32(i, 4, tile), value)  # fault: tile_over_the_mbarrier
    k.mbarrier.arrive.shared__cta.b64(ready, out=SINK)  # fault: tile_over_the_mbarrier
    wait(k, ready, 0)
    other = k.mad.lo.u32(k.sub.u32(63, i), 4, tile)
    k.st.global_.u32(element(k, y, i), k.ld.shared.u32(other))
    k.ret()
    return k


@case(
    "an asynchronous copy not waited for: the parity of the wait never flips",
    lambda g: {"y": g["x"].sum(0)},
    x=np.arange(4 * 32, dtype="u4").reshape(4, 32),
    y=Out(32, "u4"),
)
def parity_for_ever_zero(broken: bool) -> ptx.Kernel:
    """Phase 0 is over for good; from the second tile on a wait for it returns at once."""
    k = ptx.Kernel("parity_for_ever_zero", x="global.u32@16", y="global.u32")
    x, y = k.params()
    lane = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "u32", 32, align=16))
    ready = k.mov.u32(k.shared("ready", "b64"))
    lead = k.setp.eq.u32(lane, 0)
    with k.when(lead):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.proxy.async_.shared__cta()
    total, parity = k.mov.u32(0), k.mov.u32(0)
    with k.loop(0, 4, name="tiles") as step:
        k.bar.warp.sync(0xFFFFFFFF)
        source = element(k, x, step, 128)
        with k.when(lead):
            k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 128, out=SINK)
            k.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes(
                tile, source, 128, ready
            )
        k.bar.warp.sync(0xFFFFFFFF)
        wait(k, ready, parity)
        value = k.ld.shared.u32(k.mad.lo.u32(lane, 4, tile))  # fault: parity_for_ever_zero
        k.add.u32(total, value, out=total)
        if not broken:
            k.xor.b32(parity, 1, out=parity)
    k.st.global_.u32(element(k, y, lane), total)
    k.ret()
    return k


@case(
    "an mbarrier that nobody initialised in time",
    lambda g: {"y": np.arange(64, dtype="u4")[::-1]},
    y=Out(64, "u4"),
    block=64,
    hangs=True,
)
def arrives_before_the_init(broken: bool) -> str:
    """Warp 1 may arrive before warp 0 has initialised the mbarrier."""
    return version(
        """
.version 8.0
.target sm_90
.address_size 64

.visible .entry arrives_before_the_init(.param .u64 y)
{
    .reg .u64 %at<3>;
    .reg .u32 %r<5>;
    .reg .pred %p<2>;
    .shared .align 8 .b64 ready;
    .shared .align 4 .u32 tile[64];
    ld.param.u64 %at0, [y];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra GO;
    mbarrier.init.shared::cta.b64 [ready], 64;  // with: arrives_before_the_init
GO:
    bar.sync 0;  //+
    mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r0, 4, %r2;
    st.shared.u32 [%r3], %r0;
    mbarrier.arrive.shared::cta.b64 _, [ready];  // fault: arrives_before_the_init
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [ready], 0;
    @!%p1 bra WAIT;
    sub.u32 %r4, 63, %r0;
    mad.lo.u32 %r3, %r4, 4, %r2;
    ld.shared.u32 %r1, [%r3];
    mul.wide.u32 %at1, %r0, 4;
    add.u64 %at0, %at0, %at1;
    st.u32 [%at0], %r1;
    ret;
}
""",
        broken,
    )
