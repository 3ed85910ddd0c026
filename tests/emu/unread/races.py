"""Two accesses to one place that nothing orders."""

from __future__ import annotations

import numpy as np

import ptx
from ptx.ir import Addr
from tests.emu.unread.addresses import element
from tests.emu.unread.case import Out, case

RANDOM = np.random.default_rng(6)


@case(
    "data race in shared memory: a scan in place without its second barrier",
    lambda g: {"y": np.cumsum(g["x"], dtype="u4")},
    block=128,
    x=RANDOM.integers(0, 9, 128).astype("u4"),
    y=Out(128, "u4"),
)
def scan_in_place(broken: bool) -> ptx.Kernel:
    """Read the neighbour, add, write: another warp may still have to read what this one writes."""
    k = ptx.Kernel("scan_in_place", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    cell = k.mad.lo.u32(i, 4, k.mov.u32(k.shared("sums", "u32", 128)))
    k.st.shared.u32(cell, k.ld.global_.u32(element(k, x, i)))
    k.bar.sync(0)
    for step in (1, 2, 4, 8, 16, 32, 64):
        far = k.setp.ge.u32(i, step)
        left = k.mov.u32(0)
        with k.when(far):
            k.ld.shared.u32(Addr(cell, -4 * step), out=left)  # with: scan_in_place
        if not broken:
            k.bar.sync(0)
        total = k.ld.shared.u32(cell) + left
        k.st.shared.u32(cell, total)  # fault: scan_in_place
        k.bar.sync(0)
    k.st.global_.u32(element(k, y, i), k.ld.shared.u32(cell))
    k.ret()
    return k


@case(
    "data race in shared memory: the last warp of a reduction without warp barriers",
    lambda g: {"total": g["x"].sum(keepdims=True)},
    block=64,
    x=RANDOM.integers(0, 9, 64).astype("u4"),
    total=Out(1, "u4"),
)
def warp_in_lockstep(broken: bool) -> ptx.Kernel:
    """Before Volta a warp ran in step, and this was how one was written; volatile does not help."""
    k = ptx.Kernel("warp_in_lockstep", x="global.u32", total="global.u32")
    x, total = k.params()
    i = k.mov.u32(k.tid.x)
    cell = k.mad.lo.u32(i, 4, k.mov.u32(k.shared("sums", "u32", 64)))
    k.st.shared.u32(cell, k.ld.global_.u32(element(k, x, i)))
    k.bar.sync(0)
    with k.branch(k.setp.lt.u32(i, 32)):
        for step in (32, 16, 8, 4, 2, 1):
            add = k.setp.lt.u32(i, step)
            value, other = k.mov.u32(0), k.mov.u32(0)
            with k.when(add):
                k.ld.volatile.shared.u32(Addr(cell, 4 * step), out=other)  # fault: warp_in_lockstep
                k.ld.volatile.shared.u32(cell, out=value)
                k.add.u32(value, other, out=value)
                k.st.volatile.shared.u32(cell, value)  # with: warp_in_lockstep
            if not broken:
                k.bar.warp.sync(0xFFFFFFFF)
        first = k.setp.eq.u32(i, 0)
        with k.when(first):
            k.st.global_.u32(total, value)
    k.ret()
    return k


@case(
    "data race in shared memory: the pivot is overwritten while others read it",
    lambda g: {"y": np.full(96, 1 + 2 + 3 + 4, "u4")},
    block=96,
    y=Out(96, "u4"),
)
def pivot_of_the_next_step(broken: bool) -> ptx.Kernel:
    """Thread 0 announces a value to all in each step; one barrier a step is one too few."""
    k = ptx.Kernel("pivot_of_the_next_step", y="global.u32")
    (y,) = k.params()
    i = k.mov.u32(k.tid.x)
    pivot = k.mov.u32(k.shared("pivot", "u32"))
    lead = k.setp.eq.u32(i, 0)
    total = k.mov.u32(0)
    with k.loop(1, 5, name="steps") as step:
        with k.when(lead):
            k.st.shared.u32(pivot, step)  # fault: pivot_of_the_next_step
        k.bar.sync(0)
        value = k.ld.shared.u32(pivot)  # with: pivot_of_the_next_step
        k.add.u32(total, value, out=total)
        if not broken:
            k.bar.sync(0)
    k.st.global_.u32(element(k, y, i), total)
    k.ret()
    return k


@case(
    "data race in shared memory: counters zeroed by one thread, added to by all",
    lambda g: {"counts": np.bincount(g["digits"], minlength=10).astype("u4")},
    block=128,
    digits=RANDOM.integers(0, 10, 128).astype("u4"),
    counts=Out(10, "u4"),
)
def zeroed_meanwhile(broken: bool) -> ptx.Kernel:
    """The atomics are right among themselves; the plain zeroing is not among them."""
    k = ptx.Kernel("zeroed_meanwhile", digits="global.u32", counts="global.u32")
    digits, counts = k.params()
    i = k.mov.u32(k.tid.x)
    bins = k.mov.u32(k.shared("bins", "u32", 10))
    few = k.setp.lt.u32(i, 10)
    mine = k.mad.lo.u32(i, 4, bins)
    with k.when(few):
        k.st.shared.u32(mine, 0)  # with: zeroed_meanwhile
    if not broken:
        k.bar.sync(0)
    digit = k.ld.global_.u32(element(k, digits, i))
    k.red.shared.add.u32(k.mad.lo.u32(digit, 4, bins), 1)  # fault: zeroed_meanwhile
    k.bar.sync(0)
    count, target = k.mov.u32(0), element(k, counts, i)
    with k.when(few):
        k.ld.shared.u32(mine, out=count)
        k.st.global_.u32(target, count)
    k.ret()
    return k


@case(
    "data race in global memory: a stencil in place across CTAs",
    lambda g: {"y": g["x"] + np.append(g["x"][1:], np.zeros(1, "u4"))},
    launch={"grid": 4, "block": 32},
    x=np.arange(128, dtype="u4"),
    y=Out(128, "u4"),
)
def stencil_in_place(broken: bool) -> ptx.Kernel:
    """The barrier orders the reads of a CTA before its writes, not those of the CTA beside it."""
    k = ptx.Kernel("stencil_in_place", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.global_index()
    here, there = element(k, x, i), element(k, y, i)
    value = k.ld.global_.u32(here)
    inner = k.setp.lt.u32(i, 127)
    right = k.mov.u32(0)
    with k.when(inner):
        k.ld.global_.u32(Addr(here, 4), out=right)  # with: stencil_in_place
    k.bar.sync(0)
    total = value + right
    if broken:
        k.st.global_.u32(here, total)  # fault: stencil_in_place
    k.st.global_.u32(there, total)
    k.ret()
    return k


@case(
    "data race in global memory: sums of CTAs read without a fence",
    lambda g: {"total": np.array([8 * 9 // 2], "u4")},
    launch={"grid": 8, "block": 1},
    parts=np.zeros(8, "u4"),
    ticket=np.zeros(1, "u4"),
    total=Out(1, "u4"),
)
def last_one_adds_up(broken: bool) -> ptx.Kernel:
    """The CTA that draws the last ticket adds the sums of all; a relaxed ticket orders nothing."""
    k = ptx.Kernel("last_one_adds_up", parts="global.u32", ticket="global.u32", total="global.u32")
    parts, ticket, total = k.params()
    cta = k.mov.u32(k.ctaid.x)
    k.st.global_.u32(element(k, parts, cta), cta + 1)  # with: last_one_adds_up
    if not broken:
        k.fence.acq_rel.gpu()
    drawn = k.atom.relaxed.gpu.global_.add.u32(ticket, 1)
    with k.branch(k.setp.eq.u32(drawn, 7)):
        if not broken:
            k.fence.acq_rel.gpu()
        result = k.mov.u32(0)
        for i in range(8):
            part = k.ld.global_.u32(Addr(parts, 4 * i))  # fault: last_one_adds_up
            k.add.u32(result, part, out=result)
        k.st.global_.u32(total, result)
    k.ret()
    return k


@case(
    "data race in global memory: atomics of CTA scope across CTAs",
    lambda g: {"result": np.array([4 * 32], "u4")},
    launch={"grid": 4, "block": 32},
    count=np.zeros(2, "u4"),
    result=Out(1, "u4"),
)
def scope_of_a_cta(broken: bool) -> ptx.Kernel:
    """All CTAs count in one place, each atomically as far as its own threads see."""
    k = ptx.Kernel("scope_of_a_cta", count="global.u32", result="global.u32")
    count, result = k.params()
    if broken:
        k.red.relaxed.cta.global_.add.u32(count, 1)  # fault: scope_of_a_cta
    else:
        k.red.relaxed.gpu.global_.add.u32(count, 1)
    k.bar.sync(0)
    lead = k.setp.eq.u32(k.mov.u32(k.tid.x), 0)
    drawn = k.mov.u32(0)
    with k.when(lead):
        k.atom.acq_rel.gpu.global_.add.u32(Addr(count, 4), 1, out=drawn)
    with k.branch(k.setp.eq.u32(drawn, 3)):
        k.st.global_.u32(result, k.atom.acq_rel.gpu.global_.add.u32(count, 0))
    k.ret()
    return k


@case(
    "data race in global memory: a lock that is given back by a plain store",
    lambda g: {"seen": np.array([8], "u4")},
    launch={"grid": 8, "block": 1},
    lock=np.zeros(1, "u4"),
    value=np.zeros(2, "u4"),
    seen=Out(1, "u4"),
)
def lock_given_back_plainly(broken: bool) -> ptx.Kernel:
    """Taken with acquire, the lock is released by st, after which the data may still travel."""
    k = ptx.Kernel(
        "lock_given_back_plainly", lock="global.u32", value="global.u32", seen="global.u32"
    )
    lock, value, seen = k.params()
    spin = k.label("spin")
    held = k.atom.acquire.gpu.global_.cas.b32(lock, 0, 1)  # with: lock_given_back_plainly
    taken = k.setp.ne.u32(held, 0)
    with k.when(taken):
        k.bra(spin)
    count = k.ld.global_.u32(value) + 1  # fault: lock_given_back_plainly
    k.st.global_.u32(value, count)  # with: lock_given_back_plainly
    last = k.setp.eq.u32(count, 8)
    with k.when(last):
        k.st.global_.u32(seen, count)
    if broken:
        k.st.global_.u32(lock, 0)  # fault: lock_given_back_plainly
    else:
        k.st.release.gpu.global_.u32(lock, 0)
    k.ret()
    return k


@case(
    "data race in global memory: the read-only path reads what the launch writes",
    lambda g: {"z": (g["x"] * 3)[::-1]},
    block=64,
    x=np.arange(64, dtype="u4"),
    y=np.zeros(64, "u4"),
    z=Out(64, "u4"),
)
def not_read_only(broken: bool) -> ptx.Kernel:
    """ld.global.nc promises that nothing writes there while the kernel runs; a barrier is no
    excuse.
    """
    k = ptx.Kernel("not_read_only", x="global.u32", y="global.u32", z="global.u32")
    x, y, z = k.params()
    i = k.mov.u32(k.tid.x)
    tripled = k.mul.lo.u32(k.ld.global_.u32(element(k, x, i)), 3)
    k.st.global_.u32(element(k, y, i), tripled)  # with: not_read_only
    k.bar.sync(0)
    at = element(k, y, k.sub.u32(63, i))
    if broken:
        other = k.ld.global_.nc.u32(at)  # fault: not_read_only
    else:
        other = k.ld.global_.u32(at)
    k.st.global_.u32(element(k, z, i), other)
    k.ret()
    return k
