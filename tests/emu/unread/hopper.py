"""Warpgroup products and clusters."""

from __future__ import annotations

import numpy as np

import ptx
from ptx.ir import SINK, Addr, Reg
from ptx.layouts import MatrixDescriptor, wgmma_accumulator
from tests.emu.unread.addresses import element
from tests.emu.unread.barriers import wait
from tests.emu.unread.case import Arrays, Out, case, version

RANDOM = np.random.default_rng(9)
A = RANDOM.integers(-4, 5, (64, 16)).astype("f2")
B = RANDOM.integers(-4, 5, (16, 8)).astype("f2")
A_BYTES, B_BYTES = 2048, 256
DESCRIPTOR = MatrixDescriptor(0, 128, 256, 0).bits
"""Core matrices of 8 rows by 16 bytes: 128 bytes to the next along K, 256 along M or N."""
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


def _cores(matrix: np.ndarray) -> np.ndarray:
    """Rows of 16 elements as core matrices, in the order of :data:`DESCRIPTOR`."""
    rows = len(matrix)
    blocks = matrix.reshape(rows // 8, 8, 2, 8).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(blocks).reshape(-1)


def _accumulators(product: np.ndarray) -> np.ndarray:
    """A 64 x 8 matrix as each thread of the warpgroup holds it."""
    places = wgmma_accumulator(8).places
    return np.array([[product[place] for place in held] for held in places], "f4")


def _product(times: int = 1) -> Arrays:
    return {"d": _accumulators(times * (A.astype("f4") @ B.astype("f4")))}


GIVEN = {"a": _cores(A), "b": _cores(np.ascontiguousarray(B.T)), "d": Out((128, 4))}


def _operands(k: ptx.Kernel, a: Reg, b: Reg, i: Reg, fence: bool = True) -> tuple[Reg, Reg, Reg]:
    """Both operands through registers into shared memory; their descriptors, and where A lies."""
    tile = k.mov.u32(k.shared("tile", "b8", A_BYTES + B_BYTES, align=128))
    words = k.reg("b32", 4)
    k.ld.global_.v4.b32(element(k, a, i, 16), out=words)
    k.st.shared.v4.b32(k.mad.lo.u32(i, 16, tile), words)
    with k.branch(k.setp.lt.u32(i, 16)):
        k.ld.global_.v4.b32(element(k, b, i, 16), out=words)
        k.st.shared.v4.b32(Addr(k.mad.lo.u32(i, 16, tile), A_BYTES), words)
    if fence:
        k.fence.proxy.async_.shared__cta()
    k.bar.sync(0)
    first = k.or_.b64(k.cvt.u64.u32(tile >> 4), DESCRIPTOR)
    return first, k.add.u64(first, A_BYTES >> 4), tile


def _multiply(k: ptx.Kernel, sums: tuple[Reg, ...], a: Reg, b: Reg, add: int) -> None:
    k.op(WGMMA, sums, a, b, k.setp.ne.u32(k.mov.u32(add), 0), 1, 1, 0, 0)


def _start(name: str) -> tuple[ptx.Kernel, Reg, Reg, Reg, Reg]:
    k = ptx.Kernel(name, a="global.b16@16", b="global.b16@16", d="global.f32")
    a, b, d = k.params()
    return k, a, b, d, k.mov.u32(k.tid.x)


def _write(k: ptx.Kernel, d: Reg, i: Reg, sums: tuple[Reg, ...]) -> None:
    k.st.global_.v4.f32(element(k, d, i, 16), sums)
    k.ret()


@case(
    "accumulators in flight: a wait that leaves the group wanted",
    lambda g: _product(2),
    block=128,
    **GIVEN,
)
def waits_for_the_other_group(broken: bool) -> ptx.Kernel:
    """Two groups in flight; the wait lets one stay, the one whose sums are read next."""
    k, a, b, d, i = _start("waits_for_the_other_group")
    first, second, _ = _operands(k, a, b, i)
    one, two = k.reg("f32", 4), k.reg("f32", 4)
    k.wgmma.fence.sync.aligned()
    for sums in (one, two):
        _multiply(k, sums, first, second, 0)
        k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(1 if broken else 0)
    for x, y in zip(one, two, strict=True):
        k.add.f32(x, y, out=x)  # fault: waits_for_the_other_group
    _write(k, d, i, one)
    return k


@case(
    "missing wgmma.fence: accumulators scaled between two products",
    lambda g: _product(3),
    block=128,
    **GIVEN,
)
def rescaled_between(broken: bool) -> ptx.Kernel:
    """As in attention: sums are multiplied by a factor, then the next product adds to them."""
    k, a, b, d, i = _start("rescaled_between")
    first, second, _ = _operands(k, a, b, i)
    sums = k.reg("f32", 4)
    k.wgmma.fence.sync.aligned()
    _multiply(k, sums, first, second, 0)
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    for value in sums:
        k.mul.f32(value, 2.0, out=value)
    if not broken:
        k.wgmma.fence.sync.aligned()
    k.op(  # fault: rescaled_between
        WGMMA, sums, first, second, k.setp.eq.u32(i, i), 1, 1, 0, 0
    )
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    _write(k, d, i, sums)
    return k


@case(
    "data race in shared memory: the tile of a product in flight is overwritten",
    lambda g: _product(),
    block=128,
    **GIVEN,
)
def tile_wiped_in_flight(broken: bool) -> ptx.Kernel:
    """A barrier holds all threads together, not the tensor core."""
    k, a, b, d, i = _start("tile_wiped_in_flight")
    first, second, tile = _operands(k, a, b, i)
    sums = k.reg("f32", 4)
    k.wgmma.fence.sync.aligned()
    _multiply(k, sums, first, second, 0)
    k.wgmma.commit_group.sync.aligned()
    if not broken:
        k.wgmma.wait_group.sync.aligned(0)
    k.bar.sync(0)
    k.st.shared.u32(k.mad.lo.u32(i, 16, tile), 0)  # fault: tile_wiped_in_flight
    k.wgmma.wait_group.sync.aligned(0)
    _write(k, d, i, sums)
    return k


@case(
    "missing proxy fence: a product of what ordinary stores wrote",
    lambda g: _product(),
    block=128,
    **GIVEN,
)
def operands_without_a_fence(broken: bool) -> ptx.Kernel:
    """wgmma reads shared memory as the copy engine does, through the async proxy."""
    k, a, b, d, i = _start("operands_without_a_fence")
    first, second, _ = _operands(k, a, b, i, fence=not broken)
    sums = k.reg("f32", 4)
    k.wgmma.fence.sync.aligned()
    k.op(  # fault: operands_without_a_fence
        WGMMA, sums, first, second, k.setp.ne.u32(i, i), 1, 1, 0, 0
    )
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    _write(k, d, i, sums)
    return k


@case(
    "a part of a warpgroup at wgmma: one of its warps has gone another way",
    lambda g: _product(),
    block=128,
    **GIVEN,
)
def three_warps_of_four(broken: bool) -> ptx.Kernel:
    """The last warp was made a producer; the warpgroup that multiplies has lost it."""
    k, a, b, d, i = _start("three_warps_of_four")
    first, second, _ = _operands(k, a, b, i)
    sums = k.reg("f32", 4)
    with k.branch(k.setp.lt.u32(i, 96 if broken else 128)):
        k.wgmma.fence.sync.aligned()  # fault: three_warps_of_four
        k.op(  # fault: three_warps_of_four
            WGMMA, sums, first, second, k.setp.ne.u32(i, i), 1, 1, 0, 0
        )
        k.wgmma.commit_group.sync.aligned()
        k.wgmma.wait_group.sync.aligned(0)
        k.st.global_.v4.f32(element(k, d, i, 16), sums)
    k.ret()
    return k


# ---------------------------------------------------------------- clusters


def _cluster_barrier(k: ptx.Kernel) -> None:
    k.barrier.cluster.arrive.aligned()
    k.barrier.cluster.wait.aligned()


@case(
    "a CTA leaves its cluster while a peer still writes to it",
    lambda g: {"y": np.arange(32, dtype="u4") + 100},
    launch={"grid": 2, "cluster": 2, "block": 32},
    y=Out(32, "u4"),
)
def the_receiver_has_left(broken: bool) -> ptx.Kernel:
    """CTA 0 pushes to CTA 1, which takes nothing further from it, and returns."""
    k = ptx.Kernel("the_receiver_has_left", y="global.u32")
    (y,) = k.params()
    lane, rank = k.mov.u32(k.tid.x), k.mov.u32(k.cluster_ctarank)
    box = k.mov.u32(k.shared("box", "u32", 64))
    mine = k.mad.lo.u32(lane, 4, box)
    k.st.shared.u32(mine, lane)
    _cluster_barrier(k)
    sender = k.setp.eq.u32(rank, 0)
    there = k.mapa.shared__cluster.u32(mine, 1)
    with k.branch(sender):
        with k.loop(0, 20, name="push") as step:
            k.st.shared__cluster.u32(Addr(there, 128), step)  # fault: the_receiver_has_left
    with k.otherwise():
        k.st.global_.u32(element(k, y, lane), k.ld.shared.u32(mine) + 100)
    if not broken:
        _cluster_barrier(k)
    k.ret()
    return k


@case(
    "out of bounds: a rank that the cluster has not",
    lambda g: {"y": np.array([1, 0], "u4")},
    launch={"grid": 2, "cluster": 2, "block": 1},
    y=Out(2, "u4"),
)
def neighbour_of_the_last(broken: bool) -> ptx.Kernel:
    """rank + 1 without going round."""
    k = ptx.Kernel("neighbour_of_the_last", y="global.u32")
    (y,) = k.params()
    rank = k.mov.u32(k.cluster_ctarank)
    cell = k.mov.u32(k.shared("cell", "u32"))
    k.st.shared.u32(cell, rank)
    _cluster_barrier(k)
    neighbour = rank + 1
    if not broken:
        neighbour = neighbour & 1
    there = k.mapa.shared__cluster.u32(cell, neighbour)  # fault: neighbour_of_the_last
    value = k.ld.shared__cluster.u32(there)  # fault: neighbour_of_the_last
    k.st.global_.u32(element(k, y, rank), value)
    _cluster_barrier(k)
    k.ret()
    return k


@case(
    "a second arrival at the cluster's barrier without a wait",
    lambda g: {"y": np.array([1, 0], "u4")},
    launch={"grid": 2, "cluster": 2, "block": 32},
    y=Out(2, "u4"),
    hangs=True,
)
def arrives_twice(broken: bool) -> str:
    """The arrival for the end of the kernel was moved up, before the wait of the first."""
    return version(
        """
.version 8.0
.target sm_90
.address_size 64

.visible .entry arrives_twice(.param .u64 y)
{
    .reg .u64 %at<3>;
    .reg .u32 %r<6>;
    .shared .align 4 .u32 cell;
    ld.param.u64 %at0, [y];
    mov.u32 %r0, %cluster_ctarank;
    st.shared.u32 [cell], %r0;
    barrier.cluster.arrive.aligned;
    barrier.cluster.arrive.aligned;  //-  // fault: arrives_twice
    barrier.cluster.wait.aligned;
    xor.b32 %r1, %r0, 1;
    mapa.shared::cluster.u32 %r2, cell, %r1;
    ld.shared::cluster.u32 %r3, [%r2];
    mul.wide.u32 %at1, %r0, 4;
    add.u64 %at0, %at0, %at1;
    st.u32 [%at0], %r3;
    barrier.cluster.arrive.aligned;  //+
    barrier.cluster.wait.aligned;
    ret;
}
""",
        broken,
    )


@case(
    "an asynchronous store not waited for",
    lambda g: {"y": np.arange(64, dtype="u4").reshape(2, 32)[::-1]},
    launch={"grid": 2, "cluster": 2, "block": 32},
    y=Out((2, 32), "u4"),
)
def mail_not_awaited(broken: bool) -> ptx.Kernel:
    """st.async to the peer; the peer goes by the cluster's barrier instead of its mbarrier."""
    k = ptx.Kernel("mail_not_awaited", y="global.u32")
    (y,) = k.params()
    lane, rank = k.mov.u32(k.tid.x), k.mov.u32(k.cluster_ctarank)
    box = k.mov.u32(k.shared("box", "u32", 32))
    ready = k.mov.u32(k.shared("ready", "b64"))
    with k.branch(k.setp.eq.u32(lane, 0)):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.mbarrier_init.release.cluster()
        k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 128, out=SINK)
    _cluster_barrier(k)
    mine = k.mad.lo.u32(lane, 4, box)
    peer = rank ^ 1
    there = k.mapa.shared__cluster.u32(mine, peer)
    signal = k.mapa.shared__cluster.u32(ready, peer)
    value = k.mad.lo.u32(rank, 32, lane)
    k.op(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32", there, value, signal
    )  # with: mail_not_awaited
    _cluster_barrier(k)
    if not broken:
        wait(k, ready, 0)
    letter = k.ld.shared.u32(mine)  # fault: mail_not_awaited
    k.st.global_.u32(element(k, y, k.mad.lo.u32(rank, 32, lane)), letter)
    _cluster_barrier(k)
    k.ret()
    return k


@case(
    "an mbarrier's wrong byte count: multicast to a CTA that expects nothing",
    lambda g: {"y": np.stack([g["x"], g["x"]])},
    launch={"grid": 2, "cluster": 2, "block": 32},
    x=np.arange(32, dtype="u4"),
    y=Out((2, 32), "u4"),
    hangs=True,
)
def multicast_to_the_unready(broken: bool) -> ptx.Kernel:
    """CTA 0 copies to both, each with its own mbarrier; only CTA 0 announces the bytes."""
    k = ptx.Kernel("multicast_to_the_unready", x="global.u32@16", y="global.u32")
    x, y = k.params()
    lane, rank = k.mov.u32(k.tid.x), k.mov.u32(k.cluster_ctarank)
    tile = k.mov.u32(k.shared("tile", "u32", 32, align=128))
    ready = k.mov.u32(k.shared("ready", "b64"))
    lead, first = k.setp.eq.u32(lane, 0), k.setp.eq.u32(rank, 0)
    mask = k.mov.u16(3)
    with k.branch(lead):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.mbarrier_init.release.cluster()
        if broken:
            with k.branch(first):
                k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 128, out=SINK)
            with k.otherwise():
                k.mbarrier.arrive.shared__cta.b64(ready, out=SINK)
        else:
            k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 128, out=SINK)
    _cluster_barrier(k)
    both = lead & first
    with k.when(both):
        k.op(  # fault: multicast_to_the_unready
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
            tile, x, 128, ready, mask,
        )  # fmt: skip
    wait(k, ready, 0)
    word = k.ld.shared.u32(k.mad.lo.u32(lane, 4, tile))  # fault: multicast_to_the_unready
    k.st.global_.u32(element(k, y, k.mad.lo.u32(rank, 32, lane)), word)
    _cluster_barrier(k)
    k.ret()
    return k


@case(
    "an mbarrier of a peer that may not have initialised it yet",
    lambda g: {"y": np.array([5, 5], "u4")},
    launch={"grid": 2, "cluster": 2, "block": 32},
    y=Out(2, "u4"),
    hangs=True,
)
def signals_a_peer_too_early(broken: bool) -> ptx.Kernel:
    """A barrier of the CTA stands between init and the arrival at the peer's; a cluster's must."""
    k = ptx.Kernel("signals_a_peer_too_early", y="global.u32")
    (y,) = k.params()
    lane, rank = k.mov.u32(k.tid.x), k.mov.u32(k.cluster_ctarank)
    ready = k.mov.u32(k.shared("ready", "b64"))
    lead = k.setp.eq.u32(lane, 0)
    with k.when(lead):
        k.mbarrier.init.shared__cta.b64(ready, 1)  # with: signals_a_peer_too_early
        k.fence.mbarrier_init.release.cluster()
    if broken:
        k.bar.sync(0)
    else:
        _cluster_barrier(k)
    peer = k.mapa.shared__cluster.u32(ready, rank ^ 1)
    with k.when(lead):
        k.mbarrier.arrive.release.cluster.shared__cluster.b64(  # fault: signals_a_peer_too_early
            peer, out=SINK
        )
    wait(k, ready, 0)
    mine = element(k, y, rank)
    with k.when(lead):
        k.st.global_.u32(mine, 5)
    _cluster_barrier(k)
    k.ret()
    return k
