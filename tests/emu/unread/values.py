"""Values that are not there: memory and registers read before anything was written to them."""

from __future__ import annotations

import numpy as np

import ptx
from ptx.ir import Addr
from tests.emu.unread.addresses import element
from tests.emu.unread.case import Out, case, version

RANDOM = np.random.default_rng(5)


@case(
    "uninitialised shared memory: the halo of a stencil",
    lambda g: {"y": _smooth(g["x"])},
    x=RANDOM.integers(0, 99, 64).astype("f4"),
    y=Out(64),
    block=64,
)
def stencil_halo(broken: bool) -> ptx.Kernel:
    """Each thread brings its own cell; nobody brings the two beside the tile."""
    k = ptx.Kernel("stencil_halo", x="global.f32", y="global.f32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    cell = k.mad.lo.u32(i, 4, k.mov.u32(k.shared("tile", "f32", 66)))
    k.st.shared.f32(Addr(cell, 4), k.ld.global_.f32(element(k, x, i)))
    if not broken:
        edge = k.setp.eq.u32(i, 0)
        with k.when(edge):
            k.st.shared.f32(Addr(cell, 0), 0.0)
        edge = k.setp.eq.u32(i, 63)
        with k.when(edge):
            k.st.shared.f32(Addr(cell, 8), 0.0)
    k.bar.sync(0)
    total = k.ld.shared.f32(Addr(cell, 4))
    for side in (0, 8):
        neighbour = k.ld.shared.f32(Addr(cell, side))  # fault: stencil_halo
        total = k.add.f32(total, neighbour)
    k.st.global_.f32(element(k, y, i), total)
    k.ret()
    return k


def _smooth(x: np.ndarray) -> np.ndarray:
    wide = np.pad(x, 1)
    return wide[1:-1] + wide[:-2] + wide[2:]


@case(
    "uninitialised local memory: counters that nobody zeroed",
    lambda g: {"most": np.array([np.bincount(r, minlength=4).max() for r in g["votes"]], "u4")},
    votes=RANDOM.integers(0, 4, (32, 8)).astype("u4"),
    most=Out(32, "u4"),
)
def local_counters(broken: bool) -> ptx.Kernel:
    """A small histogram in local memory, incremented from whatever lay there."""
    k = ptx.Kernel("local_counters", votes="global.u32", most="global.u32")
    votes, most = k.params()
    lane = k.mov.u32(k.tid.x)
    counters = k.mov.u32(k.local("counters", "u32", 4))
    if not broken:
        for i in range(4):
            k.st.local.u32(Addr(counters, 4 * i), 0)
    ballot = element(k, votes, lane, 32)
    with k.loop(0, 8, name="votes") as i:
        counter = k.mad.lo.u32(k.ld.global_.u32(element(k, ballot, i)), 4, counters)
        old = k.ld.local.u32(counter)  # fault: local_counters
        k.st.local.u32(counter, old + 1)
    best = k.mov.u32(0)
    for i in range(4):
        k.max.u32(best, k.ld.local.u32(Addr(counters, 4 * i)), out=best)
    k.st.global_.u32(element(k, most, lane), best)
    k.ret()
    return k


@case(
    "uninitialised global memory: C is read though beta is 0",
    lambda g: {"c": g["ab"]},
    ab=RANDOM.standard_normal(64).astype("f4"),
    c=Out(64),
    beta=0.0,
    block=64,
)
def beta_is_zero(broken: bool) -> ptx.Kernel:
    """An epilogue that multiplies C by beta, with an output that was only allocated."""
    k = ptx.Kernel("beta_is_zero", ab="global.f32", c="global.f32", beta="f32")
    ab, c, beta = k.params()
    i = k.mov.u32(k.tid.x)
    at = element(k, c, i)
    result = k.ld.global_.f32(element(k, ab, i))
    if broken:
        old = k.ld.global_.f32(at)  # fault: beta_is_zero
        k.fma.rn.f32(beta, old, result, out=result)
    else:
        with k.branch(k.setp.ne.f32(beta, 0.0)):
            k.fma.rn.f32(beta, k.ld.global_.f32(at), result, out=result)
    k.st.global_.f32(at, result)
    k.ret()
    return k


@case(
    "uninitialised register: a guarded load without a value for the others",
    lambda g: {"y": np.append(g["x"], np.zeros(12, "f4"))},
    x=np.arange(20, dtype="f4"),
    y=Out(32),
    n=20,
)
def load_of_some_lanes(broken: bool) -> str:
    """Lanes past the end skip the load, and store what was in the register."""
    return version(
        """
.version 8.0
.target sm_80
.address_size 64

.visible .entry load_of_some_lanes(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .u64 %at<4>;
    .reg .u32 %r<4>;
    .reg .f32 %f<2>;
    .reg .pred %p;
    ld.param.u64 %at0, [x];
    ld.param.u64 %at1, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %at2, %r0, 4;
    add.u64 %at0, %at0, %at2;
    add.u64 %at1, %at1, %at2;
    setp.lt.u32 %p, %r0, %r1;
    mov.f32 %f0, 0f00000000;  //+
    @%p ld.global.f32 %f0, [%at0];
    st.global.f32 [%at1], %f0;  // fault: load_of_some_lanes
    ret;
}
""",
        broken,
    )


@case(
    "absent lanes: a shuffle reads from lanes that have returned",
    lambda g: {"total": g["x"].sum(keepdims=True)},
    x=np.arange(20, dtype="u4"),
    total=Out(1, "u4"),
    n=20,
)
def early_return(broken: bool) -> ptx.Kernel:
    """Lanes past the end return; the others add up a warp of 32 all the same."""
    k = ptx.Kernel("early_return", x="global.u32", total="global.u32", n="u32")
    x, total, n = k.params()
    lane = k.mov.u32(k.tid.x)
    outside = k.setp.ge.u32(lane, n)
    value, source = k.mov.u32(0), element(k, x, lane)
    if broken:
        with k.when(outside):
            k.ret()
        k.ld.global_.u32(source, out=value)
    else:
        with k.when(~outside):
            k.ld.global_.u32(source, out=value)
    for step in (16, 8, 4, 2, 1):
        other = k.shfl.sync.down.b32(value, step, 31, 0xFFFFFFFF)  # fault: early_return
        value = value + other
    first = k.setp.eq.u32(lane, 0)
    with k.when(first):
        k.st.global_.u32(total, value)
    k.ret()
    return k
