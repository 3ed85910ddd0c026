"""Correct kernels, which mutations.py breaks line by line; the checker has nothing to say of them.

``# without: TAG`` ends a line that a mutation may leave out, or rob of its point; the checker then
has to name the line that ends in ``# TAG``.
"""

from __future__ import annotations

import ptx
from ptx import Kernel


def axpy() -> Kernel:
    k = Kernel("axpy", n="u32", a="f32", x="global.f32", y="global.f32")
    n, a, x, y = k.params()
    ctaid, ntid, tid = k.mov.u32(k.ctaid.x), k.mov.u32(k.ntid.x), k.mov.u32(k.tid.x)
    i = k.mad.lo.u32(ctaid, ntid, tid)
    inside = k.setp.lt.u32(i, n)
    offset = k.mul.wide.u32(i, 4)  # without: moved
    x_at, y_at = x + offset, y + offset  # moved
    xv = k.mov.f32(0.0)
    yv = k.mov.f32(0.0)  # without: summed
    with k.when(inside):
        k.ld.global_.f32(x_at, out=xv)
        k.ld.global_.f32(y_at, out=yv)
    r = k.fma.rn.f32(a, xv, yv)  # summed
    with k.when(inside):
        k.st.global_.f32(y_at, r)  # stored
    k.ret()  # without: stored
    return k


def scale_rows() -> Kernel:
    k = Kernel("scale_rows", rows="u32", factors="global.f32", x="global.f32@16")
    rows, factors, x = k.params()
    row = k.mov.u32(k.ctaid.x)
    lane = k.mov.u32(k.tid.x)
    done = k.forward("done")
    with k.when(k.setp.ge.u32(row, rows)):
        k.bra(done)  # jump
    factor = k.ld.global_.f32(factors + k.mul.wide.u32(row, 4))
    start = k.mul.wide.u32(row, 1024)
    at = x + start + k.mul.wide.u32(lane, 16)
    a, b, c, d = k.ld.global_.v4.f32(at)
    scaled = tuple(k.mul.rn.f32(v, factor) for v in (a, b, c, d))
    k.st.global_.v4.f32(at, scaled)
    e, f = k.ld.global_.v2.f32(at + 512)
    k.st.global_.v2.f32(at + 512, (k.mul.rn.f32(e, factor), k.mul.rn.f32(f, factor)))
    k.place(done)  # without: jump
    k.ret()
    return k


def total() -> Kernel:
    k = Kernel("total", x="global.f32", out="global.f32")
    x, out = k.params()
    partial = k.shared("partial", "f32", 32)
    tid = k.mov.u32(k.tid.x)
    lane = k.and_.b32(tid, 31)
    warp = k.shr.u32(tid, 5)
    value = k.ld.global_.f32(x + k.mul.wide.u32(tid, 4))
    for distance in (16, 8, 4, 2, 1):
        other = k.shfl.sync.bfly.b32(value, distance, 31, 0xFFFFFFFF)
        value = k.add.rn.f32(value, other)
    base = k.mov.u32(partial)
    slot = k.mad.lo.u32(warp, 4, base)
    first = k.setp.eq.u32(lane, 0)
    with k.when(first):
        k.st.shared.f32(slot, value)
    k.bar.sync(0)
    mine = k.mad.lo.u32(lane, 4, base)
    again = k.ld.shared.f32(mine)
    largest = k.max.f32(again, value)
    chosen = k.selp.f32(largest, again, first)
    with k.when(k.setp.eq.u32(tid, 0)):
        k.red.global_.add.f32(out, chosen)
    k.ret()
    return k


def histogram() -> Kernel:
    k = Kernel("histogram", n="u32", x="global.u8", counts="global.u32")
    n, x, counts = k.params()
    bins = k.shared("bins", "u32", 256)
    tid = k.mov.u32(k.tid.x)
    slot = k.mad.lo.u32(tid, 4, k.mov.u32(bins))
    k.st.shared.u32(slot, 0)
    k.bar.sync(0)
    i = k.global_index("x")
    with k.branch(k.setp.lt.u32(i, n)):
        byte = k.ld.global_.u8(x + k.cvt.u64.u32(i))
        bin_at = k.mad.lo.u32(byte, 4, k.mov.u32(bins))
        k.red.shared.add.u32(bin_at, 1)
    k.bar.sync(0)
    count = k.ld.shared.u32(slot)
    with k.when(k.setp.ne.u32(count, 0)):
        k.red.global_.add.u32(counts, count)
    k.ret()
    return k


def softmax_terms() -> Kernel:
    k = Kernel("softmax_terms", n="s32", x="global.f16", y="global.f16")
    n, x, y = k.params()
    log2e = k.mov.f32(1.4426950408889634)
    sum_ = k.mov.f32(0.0)
    with k.loop(0, n, name="main") as i:
        at = k.mul.wide.s32(i, 2)  # without: read
        half = k.ld.global_.b16(x + at)  # read
        value = k.cvt.f32.f16(half)
        scaled = k.mul.rn.f32(value, log2e)
        term = k.ex2.approx.f32(scaled)
        k.add.rn.f32(sum_, term, out=sum_)
        k.st.global_.b16(y + at, k.cvt.rn.f16.f32(term))
    inverse = k.rcp.approx.f32(sum_)
    whole = k.cvt.rni.s32.f32(inverse)
    k.st.global_.b16(y, k.cvt.rn.f16.f32(inverse))
    k.st.global_.s32(y + 4, whole)
    k.ret()
    return k


def staged_tile() -> Kernel:
    k = Kernel("staged_tile", a="global.b16@16", b="global.b32", c="global.f32@16")
    a, b, c = k.params()
    tile = k.shared("tile", "b16", 16 * 16, align=16)
    lane = k.mov.u32(k.laneid)
    offset = k.shl.b32(lane, 4)
    here = k.add.u32(k.mov.u32(tile), offset)
    k.cp.async_.cg.shared.global_(here, a + k.cvt.u64.u32(offset), 16)
    k.cp.async_.commit_group()
    k.cp.async_.wait_group(0)  # without: fragment
    k.bar.sync(0)
    a0, a1, a2, a3 = k.ldmatrix.sync.aligned.m8n8.x4.shared.b16(here)  # fragment
    b_at = b + k.mul.wide.u32(lane, 8)
    b0, b1 = k.ld.global_.v2.b32(b_at)
    acc = tuple(k.mov.f32(0.0) for _ in range(4))
    d = k.mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32((a0, a1, a2, a3), (b0, b1), acc)
    c_at = c + k.mul.wide.u32(lane, 16)
    k.st.global_.v4.f32(c_at, d)
    k.ret()
    return k


def tensor_tile() -> Kernel:
    k = Kernel("tensor_tile", map="tensormap", out="global.f32@16")
    tensor_map, out = k.params()
    tile = k.shared("tile", "f32", 32 * 32, align=128)
    full = k.shared("full", "b64")
    tid = k.mov.u32(k.tid.x)
    leader = k.setp.eq.u32(tid, 0)
    with k.when(leader):
        k.mbarrier.init.shared__cta.b64(full, 1)  # without: expect
    k.bar.sync(0)
    with k.when(leader):
        k.mbarrier.arrive.expect_tx.shared__cta.b64(full, 4096, out=ptx.SINK)  # expect
        k.cp.async_.bulk.tensor._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes(
            tile, (tensor_map, (0, 0)), full
        )
    wait = k.label("wait")
    done = k.mbarrier.try_wait.parity.shared__cta.b64(full, 0)
    with k.when(~done):
        k.bra(wait)
    mine = k.add.u32(k.mov.u32(tile), k.shl.b32(tid, 2))
    twice = k.mul.rn.f32(k.ld.shared.f32(mine), 2.0)
    k.st.shared.f32(mine, twice)
    k.fence.proxy.async_.shared__cta()  # without: copied
    k.bar.sync(0)
    with k.when(leader):
        k.cp.async_.bulk.global_.shared__cta.bulk_group(out, tile, 4096)  # copied
        k.cp.async_.bulk.commit_group()
        k.cp.async_.bulk.wait_group(0)
    k.ret()
    return k


def warpgroup_tile() -> Kernel:
    k = Kernel("warpgroup_tile", a="u64", b="u64", out="global.f32@16")
    a, b, out = k.params()
    acc = tuple(k.mov.f32(0.0) for _ in range(4))
    k.wgmma.fence.sync.aligned()  # without: issued
    k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16(acc, a, b, 1, 1, 1, 0, 0)  # issued
    k.wgmma.commit_group.sync.aligned()  # without: drained
    k.wgmma.wait_group.sync.aligned(0)  # without: drained
    at = out + k.mul.wide.u32(k.mov.u32(k.tid.x), 16)
    k.st.global_.v4.f32(at, acc)  # drained
    k.ret()
    return k


KERNELS = (
    axpy, scale_rows, total, histogram, softmax_terms, staged_tile, tensor_tile, warpgroup_tile,
)  # fmt: skip
