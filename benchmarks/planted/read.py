"""Mistakes of kernel authors, written with the checker's rules at hand; marked as in unread.py."""

from __future__ import annotations

import ptx
from ptx import Kernel


def shared_offset_used_as_a_generic_address() -> Kernel:
    k = Kernel("generic", x="global.f32")
    x = k.param("x")
    tile = k.shared("tile", "f32", 64)
    k.st.shared.f32(tile, 1.0)
    # right: at = k.cvta.shared.u64(k.mov.u64(tile))
    at = k.mov.u64(tile)
    k.st.global_.f32(x, k.ld.f32(at))  # named
    k.ret()
    return k


def fragment_register_twice() -> Kernel:
    k = Kernel("fragments", x="global.b32@16", out="global.f32@16")
    x, out = k.params()
    a, zero = k.ld.global_.v4.b32(x), k.mov.f32(0.0)
    b = k.ld.global_.v2.b32(x + 16)
    # right: a = (a[0], a[1], a[2], a[3])
    a = (a[0], a[2], a[2], a[3])
    product = k.mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    k.st.global_.v4.f32(out, product(a, b, (zero,) * 4))  # named
    k.ret()
    return k


def accumulator_scaled_in_flight() -> Kernel:
    k = Kernel("flight", x="global.f32@16", a="u64", b="u64")
    x, a, b = k.params()
    acc = tuple(k.mov.f32(0.0) for _ in range(4))
    k.wgmma.fence.sync.aligned()
    k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16(acc, a, b, 1, 1, 1, 0, 0)
    k.wgmma.commit_group.sync.aligned()
    # missing: k.wgmma.wait_group.sync.aligned(0)
    half = k.mul.rn.f32(acc[0], 0.5)  # named
    k.wgmma.wait_group.sync.aligned(0)
    k.st.global_.v4.f32(x, (half, *acc[1:]))
    k.ret()
    return k


def registers_given_up_without_a_known_count() -> Kernel:
    k = Kernel("producer", x="global.f32")
    # right: k.maxntid(384), k.minnctapersm(1)
    k.maxntid(384)
    x = k.param("x")
    k.setmaxnreg.dec.sync.aligned.u32(40)  # named
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def barrier_numbered_by_a_register() -> Kernel:
    k = Kernel("numbered", x="global.f32")
    x = k.param("x")
    # right: number = 3
    number = k.add.u32(k.mov.u32(k.ctaid.x), 1)
    k.bar.sync(number, 64)  # named
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def two_architectures_in_one_kernel() -> Kernel:
    k = Kernel("both", x="global.f32")
    x = k.param("x")
    k.wgmma.wait_group.sync.aligned(0)
    # right: k.fence.proxy.async_()
    k.tcgen05.wait__ld.sync.aligned()
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def two_kernels_of_one_name() -> ptx.Module:
    first = Kernel("step")
    first.ret()
    # right: second = Kernel("next_step")
    second = Kernel("step")
    second.ret()
    return ptx.Module(first, second)


def parameters_beyond_the_limit() -> Kernel:
    # right: k = Kernel("constants", weights="f32[4096]", x="global.f32")
    k = Kernel("constants", weights="f32[9000]", x="global.f32")
    weights, x = k.params()
    k.st.global_.f32(x, k.ld.param.f32(weights) if False else 1.0)
    k.ret()
    return k


def cluster_of_too_many_ctas() -> Kernel:
    k = Kernel("cluster", x="global.f32")
    # right: k.reqnctapercluster(4, 2)
    k.reqnctapercluster(8, 4)
    x = k.param("x")
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def more_registers_than_a_thread_has() -> Kernel:
    k = Kernel("greedy", x="global.f32")
    # right: k.maxnreg(255)
    k.maxnreg(256)
    x = k.param("x")
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def occupancy_without_a_block_size() -> Kernel:
    k = Kernel("occupied", x="global.f32")
    # right: k.maxntid(128), k.minnctapersm(4)
    k.minnctapersm(4)
    x = k.param("x")
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def load_into_a_narrower_register() -> Kernel:
    k = Kernel("narrow", x="global.u32")
    x = k.param("x")
    value = k.reg("b16")
    # right: k.ld.global_.u16(x, out=value)
    k.ld.global_.u32(x, out=value)
    k.st.global_.b16(x, value)
    k.ret()
    return k


def branch_to_a_label_of_another_kernel() -> Kernel:
    other = Kernel("other")
    there = other.label("there")
    other.ret()
    k = Kernel("lost", n="u32")
    n = k.param("n")
    # missing: there = k.label("here")
    again = k.setp.eq.u32(n, 0)
    with k.when(again):
        k.bra(there)  # named
    k.ret()
    return k


def parameter_used_as_a_global_address() -> Kernel:
    k = Kernel("raw", x="generic.f32")
    # right: x = k.cvta.to.global_.u64(k.param("x"))
    x = k.param("x")
    k.st.global_.f32(x, 1.0)  # named
    k.ret()
    return k


def results_written_over_an_argument() -> Kernel:
    k = Kernel("vectors", x="global.f32@16")
    x = k.param("x")
    a, b = k.ld.global_.v2.f32(x)
    n = k.cvt.rni.s32.f32(a)
    # right: k.st.global_.v2.f32(x, (b, k.cvt.rn.f32.s32(n)))
    k.st.global_.v2.f32(x, (b, n))
    k.ret()
    return k
