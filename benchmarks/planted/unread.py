"""Mistakes of kernel authors, written by someone who had not read the checker.

Each function builds a kernel with one mistake. ``# right:`` above a line is what should stand in
its place, ``# missing:`` what should stand there besides; ``# named`` marks the line to be named,
where that is another one than the mistake.
"""

from __future__ import annotations

import ptx
from ptx import Kernel


def index_added_to_a_pointer_without_widening() -> Kernel:
    k = Kernel("scale", n="u32", x="global.f32")
    _, x = k.params()
    i = k.global_index("x")
    byte = k.shl.b32(i, 2)
    # right: at = x + k.cvt.u64.u32(byte)
    at = x + byte
    k.st.global_.f32(at, 1.0)
    k.ret()
    return k


def store_with_value_and_address_swapped() -> Kernel:
    k = Kernel("fill", x="global.f32", a="f32")
    x, a = k.params()
    # right: k.st.global_.f32(x, a)
    k.st.global_.f32(a, x)
    k.ret()
    return k


def accumulator_never_set() -> Kernel:
    k = Kernel("total", n="u32", x="global.f32")
    n, x = k.params()
    # right: total = k.mov.f32(0.0)
    total = k.reg("f32")
    with k.loop(0, n):
        value = k.ld.global_.f32(x)
        k.add.rn.f32(total, value, out=total)  # named
    k.st.global_.f32(x, total)
    k.ret()
    return k


def guarded_load_leaves_its_register_unset() -> Kernel:
    k = Kernel("copy", n="u32", x="global.f32", y="global.f32")
    n, x, y = k.params()
    i = k.global_index("x")
    offset = k.mul.wide.u32(i, 4)
    at = x + offset
    # right: value = k.mov.f32(0.0)
    value = k.reg("f32")
    with k.when(k.setp.lt.u32(i, n)):
        k.ld.global_.f32(at, out=value)
    twice = k.add.rn.f32(value, value)  # named
    k.st.global_.f32(y, twice)
    k.ret()
    return k


def barrier_in_a_branch_on_the_thread() -> Kernel:
    k = Kernel("reduce", x="global.f32")
    x = k.param("x")
    tile = k.shared("tile", "f32", 256)
    tid = k.mov.u32(k.tid.x)
    with k.branch(k.setp.lt.u32(tid, 128)):
        k.st.shared.f32(tile, 1.0)
        # right: pass
        k.bar.sync(0)
    k.st.global_.f32(x, k.ld.shared.f32(tile))
    k.ret()
    return k


def multiplication_without_lo_hi_or_wide() -> Kernel:
    k = Kernel("square", x="global.u32")
    x = k.param("x")
    value = k.ld.global_.u32(x)
    # right: square = k.mul.lo.u32(value, value)
    square = k.mul.u32(value, value)
    k.st.global_.u32(x, square)
    k.ret()
    return k


def conversion_to_half_without_rounding() -> Kernel:
    k = Kernel("narrow", x="global.f32", y="global.f16")
    x, y = k.params()
    # right: half = k.cvt.rn.f16.f32(k.ld.global_.f32(x))
    half = k.cvt.f16.f32(k.ld.global_.f32(x))
    k.st.global_.b16(y, half)
    k.ret()
    return k


def float_to_int_without_integer_rounding() -> Kernel:
    k = Kernel("floor", x="global.f32", y="global.s32")
    x, y = k.params()
    # right: whole = k.cvt.rmi.s32.f32(k.ld.global_.f32(x))
    whole = k.cvt.rm.s32.f32(k.ld.global_.f32(x))
    k.st.global_.s32(y, whole)
    k.ret()
    return k


def shuffle_of_the_old_kind_beside_cp_async() -> Kernel:
    k = Kernel("warp", x="global.b32")
    x = k.param("x")
    tile = k.shared("tile", "b32", 4, align=16)
    k.cp.async_.ca.shared.global_(tile, x, 4)
    k.cp.async_.wait_all()
    value = k.ld.shared.b32(tile)
    # right: down = k.shfl.sync.down.b32(value, 16, 31, 0xFFFFFFFF)
    down = k.shfl.down.b32(value, 16, 31)
    k.st.global_.b32(x, down)
    k.ret()
    return k


def select_with_its_predicate_first() -> Kernel:
    k = Kernel("relu", x="global.f32")
    x = k.param("x")
    value, zero = k.ld.global_.f32(x), k.mov.f32(0.0)
    positive = k.setp.gt.f32(value, zero)
    # right: chosen = k.selp.f32(value, zero, positive)
    chosen = k.selp.f32(positive, value, zero)
    k.st.global_.f32(x, chosen)
    k.ret()
    return k


def vector_load_four_bytes_off() -> Kernel:
    k = Kernel("shifted", x="global.f32@16")
    x = k.param("x")
    # right: a, b, c, d = k.ld.global_.v4.f32(x + 16)
    a, b, c, d = k.ld.global_.v4.f32(x + 4)
    k.st.global_.v4.f32(x, (b, c, d, a))
    k.ret()
    return k


def wide_load_for_a_target_that_lacks_it() -> ptx.Module:
    k = Kernel("doubles", x="global.f64@32")
    x = k.param("x")
    # right: a, b = k.ld.global_.v2.f64(x); c = d = a
    a, b, c, d = k.ld.global_.v4.f64(x)
    k.st.global_.v2.f64(x, (b, c))
    k.st.global_.v2.f64(x + 16, (a, d))
    k.ret()
    return ptx.Module(k, target="sm_90")


def mbarrier_never_initialised() -> Kernel:
    k = Kernel("wait", x="global.f32")
    x = k.param("x")
    full = k.shared("full", "b64", 1)
    # missing: k.mbarrier.init.shared.b64(full, 1)
    k.mbarrier.arrive.shared.b64(full, out=ptx.SINK)  # named
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def cp_async_of_a_size_that_is_none() -> Kernel:
    k = Kernel("stage", x="global.f32@16")
    x = k.param("x")
    tile = k.shared("tile", "f32", 64, align=16)
    # right: k.cp.async_.cg.shared.global_(tile, x, 16)
    k.cp.async_.cg.shared.global_(tile, x, 8)
    k.cp.async_.wait_all()
    k.st.global_.f32(x, k.ld.shared.f32(tile))
    k.ret()
    return k


def staged_data_read_before_any_wait() -> Kernel:
    k = Kernel("stage", x="global.f32@16")
    x = k.param("x")
    tile = k.shared("tile", "f32", 64, align=16)
    k.cp.async_.cg.shared.global_(tile, x, 16)
    k.cp.async_.commit_group()
    # missing: k.cp.async_.wait_group(0)
    k.bar.sync(0)
    value = k.ld.shared.f32(tile)  # named
    k.st.global_.f32(x, value)
    k.ret()
    return k


def mma_with_a_fragment_of_the_wrong_length() -> Kernel:
    k = Kernel("mma", x="global.f32@16")
    x = k.param("x")
    a, c = k.ld.global_.v4.b32(x), tuple(k.mov.f32(0.0) for _ in range(4))
    # right: d = k.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32(a, a[:2], c)
    d = k.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32(a, a, c)
    k.st.global_.v4.f32(x, d)
    k.ret()
    return k


def ldmatrix_from_global_memory() -> Kernel:
    k = Kernel("fragments", x="global.b16@16")
    x = k.param("x")
    tile = k.shared("tile", "b16", 1024, align=16)
    k.st.shared.b16(tile, 0)
    k.bar.sync(0)
    # right: a = k.ldmatrix.sync.aligned.m8n8.x4.shared.b16(tile)
    a = k.ldmatrix.sync.aligned.m8n8.x4.shared.b16(x)
    k.st.global_.v4.b32(x, a)
    k.ret()
    return k


def atomic_float_add_of_an_integer() -> Kernel:
    k = Kernel("count", x="global.f32")
    x = k.param("x")
    one = k.mov.u32(1)
    # right: k.red.global_.add.f32(x, k.cvt.rn.f32.u32(one))
    k.red.global_.add.f32(x, one)
    k.ret()
    return k


def barrier_count_that_is_no_multiple_of_a_warp() -> Kernel:
    k = Kernel("named", x="global.f32")
    x = k.param("x")
    # right: k.bar.sync(1, 96)
    k.bar.sync(1, 100)
    k.st.global_.f32(x, 1.0)
    k.ret()
    return k


def static_tile_beyond_48_kilobytes() -> Kernel:
    k = Kernel("tiled", x="global.f32")
    x = k.param("x")
    # right: tile = k.shared("tile", "f32", 128 * 64)
    tile = k.shared("tile", "f32", 128 * 128)
    k.st.shared.f32(tile, 1.0)
    k.st.global_.f32(x, k.ld.shared.f32(tile))
    k.ret()
    return k


def forward_label_never_placed() -> Kernel:
    k = Kernel("skip", n="u32", x="global.f32")
    n, x = k.params()
    done = k.forward("done")
    with k.when(k.setp.eq.u32(n, 0)):
        k.bra(done)  # named
    k.st.global_.f32(x, 1.0)
    # missing: k.place(done)
    k.ret()
    return k


def backward_branch_without_its_guard() -> Kernel:
    k = Kernel("spin", x="global.u32")
    x = k.param("x")
    top = k.label("top")
    ready = k.setp.ne.u32(k.ld.relaxed.gpu.global_.u32(x), 0)
    # right: k.nanosleep.u32(100)
    k.bra(top)
    with k.when(ready):  # the line below cannot be reached
        k.st.global_.u32(x, 0)  # named
    k.ret()
    return k


def shift_amount_of_64_bits() -> Kernel:
    k = Kernel("shift", n="u64", x="global.u64")
    n, x = k.params()
    # right: k.st.global_.b64(x, k.shl.b64(n, k.cvt.u32.u64(n)))
    k.st.global_.b64(x, k.shl.b64(n, n))
    k.ret()
    return k


def half_register_in_a_packed_operation() -> Kernel:
    k = Kernel("halves", x="global.f16")
    x = k.param("x")
    one = k.ld.global_.b16(x)
    # right: both = k.mov.b32((one, one))
    both = one
    two = k.add.rn.f16x2(both, both)  # named
    k.st.global_.b32(x, two)
    k.ret()
    return k


def active_lanes_taken_for_the_mask() -> Kernel:
    k = Kernel("sum", x="global.b32")
    x = k.param("x")
    value = k.ld.global_.b32(x)
    # right: mask = k.mov.b32(0xFFFFFFFF)
    mask = k.activemask.b32()
    k.st.global_.b32(x, k.shfl.sync.bfly.b32(value, 16, 31, mask))  # named
    k.ret()
    return k


def bulk_store_without_the_proxy_fence() -> Kernel:
    k = Kernel("store", x="global.f32@16")
    x = k.param("x")
    tile = k.shared("tile", "f32", 64, align=128)
    k.st.shared.f32(tile, 1.0)
    # missing: k.fence.proxy.async_.shared__cta()
    k.bar.sync(0)
    k.cp.async_.bulk.global_.shared__cta.bulk_group(x, tile, 256)  # named
    k.cp.async_.bulk.commit_group()
    k.cp.async_.bulk.wait_group(0)
    k.ret()
    return k


def counting_down_unsigned_to_zero() -> Kernel:
    k = Kernel("down", x="global.u32")
    x = k.param("x")
    i = k.mov.u32(15)
    top = k.label("top")
    k.st.global_.u32(x, i)
    k.add.u32(i, 0xFFFFFFFF, out=i)
    # right: again = k.setp.ne.u32(i, 0xFFFFFFFF)
    again = k.setp.ge.u32(i, 0)
    with k.when(again):
        k.bra(top)
    k.ret()
    return k


def tensor_copy_with_a_coordinate_too_many() -> Kernel:
    k = Kernel("load", map="tensormap")
    tensor_map = k.param("map")
    tile = k.shared("tile", "bf16", 4096, align=128)
    full = k.shared("full", "b64")
    k.mbarrier.init.shared.b64(full, 1)
    copy = k.cp.async_.bulk.tensor._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes
    # right: copy(tile, (tensor_map, (0, 0)), full)
    copy(tile, (tensor_map, (0, 0, 0)), full)
    k.ret()
    return k


def special_register_without_its_axis() -> Kernel:
    k = Kernel("where", x="global.u32")
    x = k.param("x")
    # right: k.st.global_.u32(x, k.mov.u32(k.tid.x))
    k.st.global_.u32(x, k.mov.u32(k.tid))
    k.ret()
    return k


def python_division_gives_a_float() -> Kernel:
    k = Kernel("tiled", x="global.f32")
    x = k.param("x")
    # right: tile = k.shared("tile", "f32", 512 // 2)
    tile = k.shared("tile", "f32", 512 / 2)  # type: ignore[arg-type]
    k.st.shared.f32(tile, 1.0)
    k.st.global_.f32(x, k.ld.shared.f32(tile))
    k.ret()
    return k


def row_times_pitch_in_32_bits() -> Kernel:
    k = Kernel("element", pitch="u32", x="global.f32")
    pitch, x = k.params()
    row = k.mov.u32(k.ctaid.x)
    # right: index = k.mul.wide.u32(row, pitch)
    index = k.cvt.u64.u32(k.mul.lo.u32(row, pitch))
    k.st.global_.f32(x + k.shl.b64(index, 2), 1.0)
    k.ret()
    return k


def accumulators_read_before_the_commit() -> Kernel:
    k = Kernel("wgmma", x="global.f32@16", a="u64", b="u64")
    x, a, b = k.params()
    acc = tuple(k.mov.f32(0.0) for _ in range(4))
    k.wgmma.fence.sync.aligned()
    k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16(acc, a, b, 1, 1, 1, 0, 0)
    # missing: k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    k.st.global_.v4.f32(x, acc)  # named
    k.ret()
    return k


def wgmma_without_its_first_fence() -> Kernel:
    k = Kernel("wgmma", x="global.f32@16", a="u64", b="u64")
    x, a, b = k.params()
    acc = tuple(k.mov.f32(0.0) for _ in range(4))
    # missing: k.wgmma.fence.sync.aligned()
    issue = k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
    issue(acc, a, b, 1, 1, 1, 0, 0)  # named
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    k.st.global_.v4.f32(x, acc)
    k.ret()
    return k


def address_made_generic_twice() -> Kernel:
    k = Kernel("again", x="generic.f32")
    x = k.param("x")
    # right: at = x
    at = k.cvta.global_.u64(x)
    k.st.f32(at, 1.0)
    k.ret()
    return k


def double_constant_in_single_precision() -> Kernel:
    k = Kernel("scale", x="global.f32")
    x = k.param("x")
    # right: half = k.mov.f32(0.5)
    half = k.mov.f64(0.5)
    k.st.global_.f32(x, k.mul.rn.f32(k.ld.global_.f32(x), half))  # named
    k.ret()
    return k
