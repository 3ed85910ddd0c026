"""Fifth-generation tensor cores and tensor memory (PTX ISA 9.0, section 9.7.16): tcgen05."""

from ptx.isa.notation import common, row

BLACKWELL = common(sm="100f 110f", ptx="8.6")
A_TARGETS = "100a 103a 110a"
COLUMNS = "32 64 128 256 512"
POWERS = "x1 x2 x4 x8 x16 x32 x64 x128"
INT32 = range(-(2**31), 2**31)

# fmt: off
# ---------------------------------------------------------------- 9.7.16.7 tensor memory: alloc, dealloc
row("tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32  [dst:shared], columns:u32", columns=COLUMNS, **BLACKWELL, effect="tcgen05 alloc, collective warp")
row("tcgen05.dealloc.cta_group.sync.aligned.b32  t:u32, columns:u32", columns=COLUMNS, **BLACKWELL, effect="tcgen05 dealloc, collective warp")
row("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned", **BLACKWELL, effect="collective warp")

# ---------------------------------------------------------------- 9.7.16.8 tensor memory and registers: ld, st, wait
for shape, registers, num in (
    ("16x64b 32x32b", 1, POWERS),
    ("16x128b",       2, "x1 x2 x4 x8 x16 x32 x64"),
    ("16x256b",       4, "x1 x2 x4 x8 x16 x32"),
):
    row(f"tcgen05.ld.sync.aligned.shape.num{{.pack::16b}}.b32    d*{registers}*num, [t:tmem]", shape=shape, num=num, **BLACKWELL, effect="async tcgen05.ld, collective warp")
    row(f"tcgen05.st.sync.aligned.shape.num{{.unpack::16b}}.b32  [t:tmem], b*{registers}*num", shape=shape, num=num, **BLACKWELL, effect="async tcgen05.st, collective warp")
row("tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32    d*num, [t:tmem], half", num=POWERS, half=INT32, **BLACKWELL, effect="async tcgen05.ld, collective warp")
row("tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32  [t:tmem], half, b*num", num=POWERS, half=INT32, **BLACKWELL, effect="async tcgen05.st, collective warp")
# .red: the least or the greatest of the registers besides
REDUCED = common(op="min max", num=POWERS[3:], half=INT32, sm="103f 110f", ptx="8.8", effect="async tcgen05.ld, collective warp")
row("tcgen05.ld.red.sync.aligned.32x32b.num.op.type               d*num, d1, [t:tmem]", type="u32 s32", **REDUCED)
row("tcgen05.ld.red.sync.aligned.32x32b.num.op{.abs}{.NaN}.f32    d*num, d1, [t:tmem]", **REDUCED)
row("tcgen05.ld.red.sync.aligned.16x32bx2.num.op.type             d*num, d1, [t:tmem], half", type="u32 s32", **REDUCED)
row("tcgen05.ld.red.sync.aligned.16x32bx2.num.op{.abs}{.NaN}.f32  d*num, d1, [t:tmem], half", **REDUCED)
row("tcgen05.wait::ld.sync.aligned", **BLACKWELL, effect="wait tcgen05.ld, collective warp")
row("tcgen05.wait::st.sync.aligned", **BLACKWELL, effect="wait tcgen05.st, collective warp")

# ---------------------------------------------------------------- 9.7.16.9 tensor memory: cp, shift
for shape in ("128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13 64x128b.warpx2::01_23", "32x128b.warpx4"):
    row("tcgen05.cp.cta_group.shape{.format}  [t:tmem], desc:u64", shape=shape, format="b8x16.b6x16_p32 b8x16.b4x16_p64", **BLACKWELL, effect="async tcgen05")
row("tcgen05.shift.cta_group.down  [t:tmem]", sm=A_TARGETS, ptx="8.6", effect="async tcgen05")

# ---------------------------------------------------------------- 9.7.16.10 tcgen05.mma
USE = "fill use lastuse discard"
PLAIN = "kind::f16 kind::tf32 kind::f8f6f4 kind::i8@100a+110a:8.6"
SCALED = """
    kind::mxf8f6f4.block_scale@100f+110f:8.8   kind::mxf8f6f4.block_scale.block32@100f+110f:8.8
    kind::mxf8f6f4.block_scale.scale_vec::1X@100a+103a+110a:8.6
    kind::mxf4.block_scale@100f+110f:8.8       kind::mxf4.block_scale.block32@100f+110f:8.8
    kind::mxf4.block_scale.scale_vec::2X@100a+103a+110a:8.6
    kind::mxf4nvf4.block_scale.block16@100f+110f:8.8   kind::mxf4nvf4.block_scale.block32@100f+110f:8.8
    kind::mxf4nvf4.block_scale.scale_vec::2X@100a+103a+110a:8.7
    kind::mxf4nvf4.block_scale.scale_vec::4X@100a+103a+110a:8.7
"""
SCALED_SPARSE = """
    kind::mxf8f6f4.block_scale@100f+110f:8.8   kind::mxf8f6f4.block_scale.block32@100f+110f:8.8
    kind::mxf8f6f4.block_scale.scale_vec::1X@100a+103a+110a:8.6
    kind::mxf4.block_scale@100a+103a+110a:8.8  kind::mxf4.block_scale.block32@100a+103a+110a:8.8
    kind::mxf4.block_scale.scale_vec::2X@100a+103a+110a:8.6
    kind::mxf4nvf4.block_scale.block16@100a+103a+110a:8.8   kind::mxf4nvf4.block_scale.block32@100a+103a+110a:8.8
    kind::mxf4nvf4.block_scale.scale_vec::2X@100a+103a+110a:8.7
    kind::mxf4nvf4.block_scale.scale_vec::4X@100a+103a+110a:8.7
"""
# ptxas takes the addresses of mma in .b32 registers alone. d += a * b, where enable says whether d is added. A comes from shared memory (a descriptor) or from tensor memory.
# lanes: which of d's lanes to leave alone, a bit a lane. scale: d is multiplied by 2**-scale before (family 100 alone).
MMA = common(use=USE, ptx="8.6", effect="async tcgen05")
for sp, meta, scaled in (("", "", SCALED), (".sp", ", [meta:tmem!]", SCALED_SPARSE)):
    for a in ("adesc:u64", "[a:tmem!]"):
        op, ws = f"tcgen05.mma{sp}.cta_group", f"tcgen05.mma.ws{sp}.cta_group::1"
        ops = f"[d:tmem!], {a}, bdesc:u64{meta}, idesc:u32"
        lanes = "{, lanes:b32*4*cta_group}"
        row(f"{op}.kind{{.collector::a::<use>}}     {ops}{lanes}, {{!}}enable:pred", kind=PLAIN, sm="100f 110f", **MMA)
        row(f"{op}.kind{{.collector::a::<use>}}     {ops}{lanes}, {{!}}enable:pred, scale", kind="kind::f16 kind::tf32", scale=range(16), sm="100f", **MMA)
        row(f"{op}.kind{{.collector::a::<use>}}     {ops}, [scales_a:tmem!], [scales_b:tmem!], {{!}}enable:pred", kind=scaled, sm="100f 110f", **MMA)
        row(f"{ws}.kind{{.collector::b<n>::<use>}}  {ops}, {{!}}enable:pred{{, zero:u64}}", kind=PLAIN, n="0 1 2 3", sm="100f 110f", **MMA)
    # .ashift moves the rows of an A in tensor memory, which its collector may then not keep
    shifted = common(use="lastuse discard", ptx="8.6", effect="async tcgen05")
    ops = f"[d:tmem!], [a:tmem!], bdesc:u64{meta}, idesc:u32" + "{, lanes:b32*4*cta_group}, {!}enable:pred"
    row(f"tcgen05.mma{sp}.cta_group.kind.ashift{{.collector::a::<use>}}  {ops}", kind=PLAIN, sm="100f 110f", **shifted)
    row(f"tcgen05.mma{sp}.cta_group.kind.ashift{{.collector::a::<use>}}  {ops}, scale", kind="kind::f16 kind::tf32", scale=range(16), sm="100f", **shifted)

# ---------------------------------------------------------------- 9.7.16.11 tcgen05.fence, 9.7.16.12 tcgen05.commit
row("tcgen05.fence::before_thread_sync", **BLACKWELL, effect="fence tcgen05")
row("tcgen05.fence::after_thread_sync", **BLACKWELL, effect="fence tcgen05")
row("tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64  [mbar:shared]{.multicast::cluster, %mask:u16}", **BLACKWELL, effect="commit tcgen05")
