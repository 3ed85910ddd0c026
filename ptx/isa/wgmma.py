"""Warpgroup matrix multiply (PTX ISA 9.0, section 9.7.15): wgmma."""

from ptx.isa.notation import common, row

N = range(8, 257, 8)
N_INTEGER = "8 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256"  # the manual's list for dense ends at 224

# A of 16-bit types, of tf32, of 8-bit floats, of integers, and what may be transposed: A comes from shared memory (a
# descriptor) or from registers; B from shared memory; 16-bit types alone may be transposed there.
A_OPERANDS = (
    ("adesc:u64", "adesc:u64", "adesc:u64", "adesc:u64", "trans_a, trans_b"),
    ("a:f16x2*4", "a:tf32*4", "a:e4m3x4*4", "a:b32*4", "trans_b"),
)

# fmt: off
# ---------------------------------------------------------------- 9.7.15.5 wgmma.mma_async
# d = a * b + d; scale_d: whether d is added at all; scale_a, scale_b: 1 or -1.
NEED = common(sm="90a", ptx="8.0", effect="wgmma issue, collective warpgroup")
MIXED_NEED = NEED | common(ptx="8.4")
for half, tf32, fp8, integer, transposed in A_OPERANDS:
    op = "wgmma.mma_async.sync.aligned"
    b = "bdesc:u64, {!}scale_d:pred"
    row(f"{op}.m64n<n>k16.f16.f16.f16                +d:f16x2*n/4, {half}, {b}, scale_a, scale_b, {transposed}", n=N, **NEED)
    row(f"{op}.m64n<n>k16.f32.ab.ab                  +d:f32*n/2, {half}, {b}, scale_a, scale_b, {transposed}", n=N, ab="f16 bf16", **NEED)
    row(f"{op}.m64n<n>k8.f32.tf32.tf32               +d:f32*n/2, {tf32}, {b}, scale_a, scale_b", n=N, **NEED)
    row(f"{op}.m64n<n>k32.f16.atype.btype            +d:f16x2*n/4, {fp8}, {b}, scale_a, scale_b", n=N, atype="e4m3 e5m2", btype="e4m3 e5m2", **NEED)
    row(f"{op}.m64n<n>k32.f32.atype.btype            +d:f32*n/2, {fp8}, {b}, scale_a, scale_b", n=N, atype="e4m3 e5m2", btype="e4m3 e5m2", **NEED)
    row(f"{op}.m64n<n>k32{{.satfinite}}.s32.ab.ab    +d:s32*n/2, {integer}, {b}", n=N_INTEGER, ab="s8 u8", **NEED)
    row(f"{op}.m64n<n>k32{{.satfinite}}.s32.mixed    +d:s32*n/2, {integer}, {b}", n=N_INTEGER, mixed="s8.u8 u8.s8", **MIXED_NEED)
    row(f"{op}.m64n<n>k256.s32.b1.b1.and.popc        +d:s32*n/2, {integer}, {b}", n=N_INTEGER, **NEED)

# ---------------------------------------------------------------- 9.7.15.6 wgmma.mma_async.sp
# A is sparse: K is twice as deep for the same registers. ptxas takes sel 0 and 1 for 16-bit and tf32, else 0.
SPARSE_NEED = NEED | common(ptx="8.2")
for half, tf32, fp8, integer, transposed in A_OPERANDS:
    op = "wgmma.mma_async.sp.sync.aligned"
    b = "bdesc:u64, %meta:u32, sel, {!}scale_d:pred"
    row(f"{op}.m64n<n>k32.f16.f16.f16                +d:f16x2*n/4, {half}, {b}, scale_a, scale_b, {transposed}", n=N, sel="0 1", **SPARSE_NEED)
    row(f"{op}.m64n<n>k32.f32.ab.ab                  +d:f32*n/2, {half}, {b}, scale_a, scale_b, {transposed}", n=N, ab="f16 bf16", sel="0 1", **SPARSE_NEED)
    row(f"{op}.m64n<n>k16.f32.tf32.tf32              +d:f32*n/2, {tf32}, {b}, scale_a, scale_b", n=N, sel="0 1", **SPARSE_NEED)
    row(f"{op}.m64n<n>k64.f16.atype.btype            +d:f16x2*n/4, {fp8}, {b}, scale_a, scale_b", n=N, atype="e4m3 e5m2", btype="e4m3 e5m2", sel="0", **SPARSE_NEED)
    row(f"{op}.m64n<n>k64.f32.atype.btype            +d:f32*n/2, {fp8}, {b}, scale_a, scale_b", n=N, atype="e4m3 e5m2", btype="e4m3 e5m2", sel="0", **SPARSE_NEED)
    row(f"{op}.m64n<n>k64{{.satfinite}}.s32.ab.ab    +d:s32*n/2, {integer}, {b}", n=N_INTEGER, ab="s8 u8", sel="0", **SPARSE_NEED)
    row(f"{op}.m64n<n>k64{{.satfinite}}.s32.mixed    +d:s32*n/2, {integer}, {b}", n=N_INTEGER, mixed="s8.u8 u8.s8", sel="0", **MIXED_NEED)

# ---------------------------------------------------------------- 9.7.15.7 order
row("wgmma.fence.sync.aligned", sm="90a", ptx="8.0", effect="wgmma fence, collective warpgroup")
row("wgmma.commit_group.sync.aligned", sm="90a", ptx="8.0", effect="wgmma commit, collective warpgroup")
row("wgmma.wait_group.sync.aligned  groups", groups=range(2**31), sm="90a", ptx="8.0", effect="wgmma wait, collective warpgroup")
