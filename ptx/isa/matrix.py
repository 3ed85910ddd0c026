"""Warp-level matrix multiply (PTX ISA 9.0, section 9.7.14): wmma, mma, sparse and block-scaled mma, ldmatrix.

A fragment is a vector of registers: the elements of the matrix over the 32 lanes, packed into 32-bit registers where
they are narrower. So d of an f32 m16n8k16 is ``f32*m*n/32`` and its A of 16-bit elements ``b32*m*k/64``.
"""

from ptx.isa.notation import common, row

# fmt: off
# ---------------------------------------------------------------- 9.7.14.4.3 wmma.load, 9.7.14.4.4 wmma.store
# p: the address of the first element; stride: elements from one row (or column) to the next.
SQUARE = "m16n16k16 m8n32k16 m32n8k16"
ANYWHERE = "shared global shared::cta"
# shape, element type of a and b, their registers, layouts, target, version
INPUTS = (
    (SQUARE,      "f16",   "f16x2*8",       "f16x2*8",       "row col", "row col", 70, "6.3"),
    (SQUARE,      "s8 u8", "u32*m*k/128",   "u32*n*k/128",   "row col", "row col", 72, "6.3"),
    (SQUARE,      "bf16",  "bf16x2*m*k/64", "bf16x2*n*k/64", "row col", "row col", 80, "7.0"),
    ("m16n16k8",  "tf32",  "tf32*4",        "tf32*4",        "row col", "row col", 80, "7.0"),
    ("m8n8k4",    "f64",   "f64*1",         "f64*1",         "row col", "row col", 80, "7.0"),
    ("m8n8k32",   "s4 u4", "u32*1",         "u32*1",         "row",     "col",     75, "6.3"),
    ("m8n8k128",  "b1",    "u32*1",         "u32*1",         "row",     "col",     75, "6.3"),
)
for shape, type, a, b, alayout, blayout, sm, ptx in INPUTS:
    row(f"wmma.load.a.sync.aligned.layout.shape{{.area}}.type   d:{a}, [p]{{, stride:u32}}", layout=alayout, shape=shape, area=ANYWHERE, type=type, effect="load, collective warp", sm=sm, ptx=ptx)
    row(f"wmma.load.b.sync.aligned.layout.shape{{.area}}.type   d:{b}, [p]{{, stride:u32}}", layout=blayout, shape=shape, area=ANYWHERE, type=type, effect="load, collective warp", sm=sm, ptx=ptx)
# shape, element type of c and d, their registers, target, version
ACCUMULATORS = (
    (SQUARE,      "f16",   "f16x2*4",       70, "6.3"),
    (SQUARE,      "f32",   "f32*8",         70, "6.3"),
    (SQUARE,      "s32",   "s32*8",         72, "6.3"),
    ("m16n16k8",  "f32",   "f32*8",         80, "7.0"),
    ("m8n8k4",    "f64",   "f64*2",         80, "7.0"),
    ("m8n8k32",   "s32",   "s32*2",         75, "6.3"),
    ("m8n8k128",  "s32",   "s32*2",         75, "6.3"),
)
for shape, type, c, sm, ptx in ACCUMULATORS:
    row(f"wmma.load.c.sync.aligned.layout.shape{{.area}}.type   d:{c}, [p]{{, stride:u32}}", layout="row col", shape=shape, area=ANYWHERE, type=type, effect="load, collective warp", sm=sm, ptx=ptx)
    row(f"wmma.store.d.sync.aligned.layout.shape{{.area}}.type  [p], c:{c}{{, stride:u32}}", layout="row col", shape=shape, area=ANYWHERE, type=type, effect="store, collective warp", sm=sm, ptx=ptx)

# ---------------------------------------------------------------- 9.7.14.4.5 wmma.mma
# .satfinite with f16 was dropped in PTX 6.5.
LAYOUTS = common(alayout="row col", blayout="row col", effect="collective warp")
for dtype, d in (("f16", "f16x2*4"), ("f32", "f32*8")):
    for ctype, c in (("f16", "f16x2*4"), ("f32", "f32*8")):
        row(f"wmma.mma.sync.aligned.alayout.blayout.shape.{dtype}.{ctype}  d:{d}, a:f16x2*8, b:f16x2*8, c:{c}", shape=SQUARE, sm=70, ptx="6.3", **LAYOUTS)
row("wmma.mma.sync.aligned.alayout.blayout.shape.s32.ab.ab.s32{.satfinite}  d*8, a:u32*m*k/128, b:u32*n*k/128, c*8", shape=SQUARE, ab="s8 u8", sm=72, ptx="6.3", **LAYOUTS)
row("wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32          d*8, a:bf16x2*m*k/64, b:bf16x2*n*k/64, c*8", shape=SQUARE, sm=80, ptx="7.0", **LAYOUTS)
row("wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32       d*8, a:tf32*4, b:tf32*4, c*8", sm=80, ptx="7.0", **LAYOUTS)
row("wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64     d*2, a*1, b*1, c*2", sm=80, ptx="7.0", **LAYOUTS)
row("wmma.mma.sync.aligned.row.col.m8n8k32.s32.ab.ab.s32{.satfinite}        d*2, a:u32*1, b:u32*1, c*2", ab="s4 u4", sm=75, ptx="6.3", effect="collective warp")
row("wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32           d*2, a:u32*1, b:u32*1, c*2", op="xor and@80:7.1", sm=75, ptx="6.3", effect="collective warp")

# ---------------------------------------------------------------- 9.7.14.5.14 mma
MMA = "mma.sync.aligned.shape.row.col"
WARP = common(effect="collective warp")
# m8n8k4 of f16 is done by four quarters of the warp. ptxas refuses f16 results with f32 c.
for types, d, c in (("f16.f16.f16.f16", "f16x2*4", "f16x2*4"), ("f32.f16.f16.f16", "f32*8", "f16x2*4"), ("f32.f16.f16.f32", "f32*8", "f32*8")):
    row(f"mma.sync.aligned.m8n8k4.alayout.blayout.{types}  d:{d}, a:f16x2*2, b:f16x2*2, c:{c}", sm=70, ptx="6.4", **LAYOUTS)
# c and d of the same type for the other shapes
row(f"{MMA}.f16.f16.f16.f16                    d:f16x2*m*n/64, a:f16x2*m*k/64, b:f16x2*n*k/64, c:f16x2*m*n/64", shape="m16n8k8 m16n8k16@80:7.0", sm=75, ptx="6.5", **WARP)
row(f"{MMA}.f32.f16.f16.f32                    d*m*n/32, a:f16x2*m*k/64, b:f16x2*n*k/64, c*m*n/32", shape="m16n8k8 m16n8k16@80:7.0", sm=75, ptx="6.5", **WARP)
row(f"{MMA}.f32.bf16.bf16.f32                  d*m*n/32, a:bf16x2*m*k/64, b:bf16x2*n*k/64, c*m*n/32", shape="m16n8k8 m16n8k16", sm=80, ptx="7.0", **WARP)
row(f"{MMA}.f32.tf32.tf32.f32                  d*m*n/32, a:tf32*m*k/32, b:tf32*n*k/32, c*m*n/32", shape="m16n8k4 m16n8k8", sm=80, ptx="7.0", **WARP)
row(f"{MMA}{{.rnd}}.f64.f64.f64.f64            d*m*n/32, a*m*k/32, b*n*k/32, c*m*n/32", shape="m8n8k4 m16n8k4@90:7.8 m16n8k8@90:7.8 m16n8k16@90:7.8", sm=80, ptx="7.0", **WARP)
row(f"{MMA}{{.satfinite}}.s32.atype.btype.s32  d*m*n/32, a:u32*m*k/128, b:u32*n*k/128, c*m*n/32", shape="m8n8k16 m16n8k16@80:7.0 m16n8k32@80:7.0", atype="u8 s8", btype="u8 s8", sm=75, ptx="6.5", **WARP)
row(f"{MMA}{{.satfinite}}.s32.atype.btype.s32  d*m*n/32, a:u32*m*k/256, b:u32*n*k/256, c*m*n/32", shape="m8n8k32 m16n8k32@80:7.0 m16n8k64@80:7.0", atype="u4 s4", btype="u4 s4", sm=75, ptx="6.5", **WARP)
row(f"{MMA}.s32.b1.b1.s32.op.popc              d:s32*m*n/32, a:u32*m*k/1024, b:u32*n*k/1024, c:s32*m*n/32", shape="m8n8k128 m16n8k128@80:7.0 m16n8k256@80:7.0", op="xor and@80:7.1", sm=75, ptx="7.0", **WARP)
row(f"{MMA}.f16.atype.btype.f16                d:f16x2*m*n/64, a:b32*m*k/128, b:b32*n*k/128, c:f16x2*m*n/64", shape="m16n8k16 m16n8k32", atype="e4m3 e5m2", btype="e4m3 e5m2", sm=89, ptx="8.7", **WARP)
row(f"{MMA}.f32.atype.btype.f32                d*m*n/32, a:b32*m*k/128, b:b32*n*k/128, c*m*n/32", shape="m16n8k16@89:8.7 m16n8k32", atype="e4m3 e5m2", btype="e4m3 e5m2", sm=89, ptx="8.4", **WARP)

# kind::f8f6f4: 8-, 6- and 4-bit floats mixed, each in 8 bits. ptxas takes the two 8-bit ones on families 100 and 110
# as well.
FP8 = "e4m3.e4m3 e4m3.e5m2 e5m2.e4m3 e5m2.e5m2"
NARROW = """
    e4m3.e3m2 e4m3.e2m3 e4m3.e2m1   e5m2.e3m2 e5m2.e2m3 e5m2.e2m1
    e3m2.e4m3 e3m2.e5m2 e3m2.e3m2 e3m2.e2m3 e3m2.e2m1   e2m3.e4m3 e2m3.e5m2 e2m3.e3m2 e2m3.e2m3 e2m3.e2m1
    e2m1.e4m3 e2m1.e5m2 e2m1.e3m2 e2m1.e2m3 e2m1.e2m1
"""
F8F6F4 = "m16n8k32.row.col.kind::f8f6f4"
row(f"mma.sync.aligned.{F8F6F4}.f32.ab.f32  d*4, a:b32*4, b:b32*2, c*4", ab=FP8, sm="100f 110f 120f", ptx="8.6", **WARP)
row(f"mma.sync.aligned.{F8F6F4}.f32.ab.f32  d*4, a:b32*4, b:b32*2, c*4", ab=NARROW, sm="120f", ptx="8.7", **WARP)
row(f"mma.sync.aligned.{F8F6F4}.f16.ab.f16  d:f16x2*2, a:b32*4, b:b32*2, c:f16x2*2", ab=FP8, sm="100f 110f 120f", ptx="8.7", **WARP)
row(f"mma.sync.aligned.{F8F6F4}.f16.ab.f16  d:f16x2*2, a:b32*4, b:b32*2, c:f16x2*2", ab=NARROW, sm="120f", ptx="8.7", **WARP)

# Block scaling: scales_a and scales_b hold a scale for each block of K; a place is a byte and a thread of the quad.
FLOATS = "e4m3 e5m2 e3m2 e2m3 e2m1"
SCALES = "%scales_a:b32, place_a:u16*2, %scales_b:b32, place_b:u16*2"
MXF4NVF4 = "scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
row(f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{{.scale_vec::2X}}.f32.e2m1.e2m1.f32.ue8m0       d:f32*4, a:b32!*4, b:b32!*2, c:f32*4, {SCALES}", sm="120f", ptx="8.7", **WARP)
row(f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.pair                                        d:f32*4, a:b32!*4, b:b32!*2, c:f32*4, {SCALES}", pair=MXF4NVF4, sm="120f", ptx="8.7", **WARP)
row(f"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{{.scale_vec::1X}}.f32.atype.btype.f32.ue8m0  d:f32*4, a:b32!*4, b:b32!*2, c:f32*4, {SCALES}", atype=FLOATS, btype=FLOATS, sm="120f", ptx="8.7", **WARP)

# ---------------------------------------------------------------- 9.7.14.6.3 mma.sp
# A is sparse: half its registers; meta says which elements are there, f which threads hold it.
SP = "sp sp::ordered_metadata@80:8.5"
MMA_SP = "mma.variant.sync.aligned.shape.row.col"
SPARSE = common(variant=SP, sm=80, ptx="7.1", effect="collective warp")
row(f"{MMA_SP}.f16.f16.f16.f16                    d:f16x2*m*n/64, a:f16x2*m*k/128, b:f16x2*n*k/64, c:f16x2*m*n/64, %meta:u32, f", shape="m16n8k16", f="0 1 2 3", **SPARSE)
row(f"{MMA_SP}.f16.f16.f16.f16                    d:f16x2*m*n/64, a:f16x2*m*k/128, b:f16x2*n*k/64, c:f16x2*m*n/64, %meta:u32, f", shape="m16n8k32", f="0 1", **SPARSE)
row(f"{MMA_SP}.f32.f16.f16.f32                    d*4, a:f16x2*m*k/128, b:f16x2*n*k/64, c*4, %meta:u32, f", shape="m16n8k16", f="0 1 2 3", **SPARSE)
row(f"{MMA_SP}.f32.f16.f16.f32                    d*4, a:f16x2*m*k/128, b:f16x2*n*k/64, c*4, %meta:u32, f", shape="m16n8k32", f="0 1", **SPARSE)
row(f"{MMA_SP}.f32.bf16.bf16.f32                  d*4, a:b32*m*k/128, b:b32*n*k/64, c*4, %meta:u32, f", shape="m16n8k16", f="0 1 2 3", **SPARSE)
row(f"{MMA_SP}.f32.bf16.bf16.f32                  d*4, a:b32*m*k/128, b:b32*n*k/64, c*4, %meta:u32, f", shape="m16n8k32", f="0 1", **SPARSE)
row(f"{MMA_SP}.f32.tf32.tf32.f32                  d*4, a:b32*m*k/64, b:b32*n*k/32, c*4, %meta:u32, f", shape="m16n8k8", f="0 1 2 3", **SPARSE)
row(f"{MMA_SP}.f32.tf32.tf32.f32                  d*4, a:b32*m*k/64, b:b32*n*k/32, c*4, %meta:u32, f", shape="m16n8k16", f="0 1", **SPARSE)
row(f"{MMA_SP}{{.satfinite}}.s32.atype.btype.s32  d*4, a:u32*m*k/256, b:u32*n*k/128, c*4, %meta:u32, f", shape="m16n8k32", f="0 1", atype="u8 s8", btype="u8 s8", **SPARSE)
row(f"{MMA_SP}{{.satfinite}}.s32.atype.btype.s32  d*4, a:u32*m*k/256, b:u32*n*k/128, c*4, %meta:u32, f", shape="m16n8k64", f="0", atype="u8 s8", btype="u8 s8", **SPARSE)
row(f"{MMA_SP}{{.satfinite}}.s32.atype.btype.s32  d*4, a:u32*m*k/512, b:u32*n*k/256, c*4, %meta:u32, f", shape="m16n8k64", f="0 1", atype="u4 s4", btype="u4 s4", **SPARSE)
row(f"{MMA_SP}{{.satfinite}}.s32.atype.btype.s32  d*4, a:u32*m*k/512, b:u32*n*k/256, c*4, %meta:u32, f", shape="m16n8k128", f="0", atype="u4 s4", btype="u4 s4", **SPARSE)
row(f"{MMA_SP}.f32.atype.btype.f32                d*4, a:b32*4, b:b32*4, c*4, %meta:u32, f", shape="m16n8k64", f="0", atype="e4m3 e5m2", btype="e4m3 e5m2", **SPARSE | common(sm=89, ptx="8.4"))
row("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.atype.btype.f16  d:f16x2*2, a:b32*4, b:b32*4, c:f16x2*2, %meta:u32, f", f="0", atype="e4m3 e5m2", btype="e4m3 e5m2", sm="120f", ptx="8.7", **WARP)
F8F6F4 = "m16n8k64.row.col.kind::f8f6f4"
row(f"mma.sp::ordered_metadata.sync.aligned.{F8F6F4}.f32.ab.f32  d*4, a:b32*4, b:b32*4, c*4, %meta:u32, f", ab=FP8, f="0", sm="100f 110f 120f", ptx="8.6", **WARP)
row(f"mma.sp::ordered_metadata.sync.aligned.{F8F6F4}.f32.ab.f32  d*4, a:b32*4, b:b32*4, c*4, %meta:u32, f", ab=NARROW, f="0", sm="120f", ptx="8.7", **WARP)
row(f"mma.sp::ordered_metadata.sync.aligned.{F8F6F4}.f16.ab.f16  d:f16x2*2, a:b32*4, b:b32*4, c:f16x2*2, %meta:u32, f", ab=f"{FP8} {NARROW}", f="0", sm="120f", ptx="8.7", **WARP)
# ptxas: the sparse 4-bit kinds are for sm_120a and sm_121a, not for their family
ORDERED = "mma.sp::ordered_metadata.sync.aligned"
row(f"{ORDERED}.m16n8k128.row.col.kind::mxf4.block_scale{{.scale_vec::2X}}.f32.e2m1.e2m1.f32.ue8m0       d:f32*4, a:b32!*4, b:b32!*4, c:f32*4, %meta:u32, f, {SCALES}", f="0", sm="120a 121a", ptx="8.7", **WARP)
row(f"{ORDERED}.m16n8k128.row.col.kind::mxf4nvf4.block_scale.pair                                        d:f32*4, a:b32!*4, b:b32!*4, c:f32*4, %meta:u32, f, {SCALES}", pair=MXF4NVF4, f="0", sm="120a 121a", ptx="8.7", **WARP)
row(f"{ORDERED}.m16n8k64.row.col.kind::mxf8f6f4.block_scale{{.scale_vec::1X}}.f32.atype.btype.f32.ue8m0  d:f32*4, a:b32!*4, b:b32!*4, c:f32*4, %meta:u32, f, {SCALES}", atype=FLOATS, btype=FLOATS, f="0", sm="120f", ptx="8.7", **WARP)

# ---------------------------------------------------------------- 9.7.14.5.15 ldmatrix, stmatrix, movmatrix
# p: each lane's address of one row of one of the `num` matrices.
LOAD, STORE = common(effect="load, collective warp"), common(effect="store, collective warp")
row("ldmatrix.sync.aligned.m8n8.num{.trans}{.smem}.b16         d:b32*num, [p]", num="x1 x2 x4", sm=75, ptx="6.5", **LOAD)
row("ldmatrix.sync.aligned.m8n16.num{.smem}.b8x16.format       d:b32*num, [p]", num="x1 x2 x4", format="b6x16_p32 b4x16_p64", sm="100f 110f 120f", ptx="8.6", **LOAD)
row("ldmatrix.sync.aligned.m16n16.num.trans{.smem}.b8          d:b32*2*num, [p]", num="x1 x2", sm="100f 110f 120f", ptx="8.6", **LOAD)
row("ldmatrix.sync.aligned.m16n16.num.trans{.smem}.b8x16.format d:b32*2*num, [p]", num="x1 x2", format="b6x16_p32 b4x16_p64", sm="100f 110f 120f", ptx="8.6", **LOAD)
row("stmatrix.sync.aligned.m8n8.num{.trans}{.smem}.b16         [p], b:b32*num", num="x1 x2 x4", sm=90, ptx="7.8", **STORE)
row("stmatrix.sync.aligned.m16n8.num.trans{.smem}.b8           [p], b:b32*num", num="x1 x2 x4", sm="100f 110f 120f", ptx="8.6", **STORE)
row("movmatrix.sync.aligned.m8n8.trans.b16                     d:b32, %a:b32", sm=75, ptx="7.8", **WARP)
