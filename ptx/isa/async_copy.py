"""Asynchronous copies (PTX ISA 9.0, sections 9.7.9.25 and 9.7.9.26): cp.async, bulk and tensor copies."""

from ptx.isa.notation import common, row

NATURAL = range(2**31)
POLICY = "{.hint, policy:u64}"

# fmt: off
# ---------------------------------------------------------------- 9.7.9.25.3 cp.async
# .cg is for 16 bytes alone. `size` bytes are read, the rest is zeroed; `ignore` zeroes all.
# ptxas takes shared::cta in every version that has cp.async.
COPY = common(smem="shared shared::cta@80:7.0", sm=80, effect="async cp.async")
for cache, bytes in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
    copy = f"cp.async.{cache}.smem.global{{.hint}}{{.prefetch_size}}  [dst:shared], [src:global], {bytes}"
    row(copy + "{, size:u32}" + POLICY, size=range(bytes + 1), ptx="7.0", **COPY)
    row(copy + ", {!}ignore:pred" + POLICY, ptx="7.5", **COPY)
row("cp.async.commit_group", sm=80, ptx="7.0", effect="commit cp.async")
row("cp.async.wait_group  groups", groups=NATURAL, sm=80, ptx="7.0", effect="wait cp.async")
row("cp.async.wait_all", sm=80, ptx="7.0", effect="wait cp.async")
row("cp.async.mbarrier.arrive{.noinc}{.smem}.b64  [mbar]", sm=80, ptx="7.0", effect="signal cp.async")

# ---------------------------------------------------------------- 9.7.9.25.4.1 cp.async.bulk
SIZE = range(16, 2**31, 16)
INTO = common(size=SIZE, sm=90, effect="async bulk mbarrier")
OUT = common(size=SIZE, sm=90, ptx="8.0", effect="async bulk group")
row("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.hint}  [dst:shared], [src:global], size:u32, [mbar:shared]" + POLICY, ptx="8.6", **INTO)
row("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.hint}  [dst:shared], [src:global], size:u32, [mbar:shared]{.multicast::cluster, mask:u16}" + POLICY, ptx="8.0", **INTO)
row("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes  [dst:shared], [src:shared], size:u32, [mbar:shared]", ptx="8.0", **INTO)
row("cp.async.bulk.global.shared::cta.bulk_group{.hint}  [dst:global], [src:shared], size:u32" + POLICY, **OUT)
row("cp.async.bulk.global.shared::cta.bulk_group{.hint}.cp_mask  [dst:global], [src:shared], size:u32" + POLICY + ", mask:u16", size=SIZE, sm=100, ptx="8.6", effect="async bulk group")
row("cp.async.bulk.prefetch.L2.global{.hint}  [src:global], size:u32" + POLICY, size=SIZE, sm=90, ptx="8.0", effect="async bulk")
row("cp.async.bulk.commit_group", sm=90, ptx="8.0", effect="commit bulk")
row("cp.async.bulk.wait_group{.read}  groups", groups=NATURAL, sm=90, ptx="8.0", effect="wait bulk")

# ---------------------------------------------------------------- 9.7.9.25.4.2 cp.reduce.async.bulk
# To shared memory ptxas takes .and .or .xor of .b32 alone (the manual: .b64 too).
for op, type in (("and or xor", "b32"), ("add", "u32 s32 u64"), ("inc dec", "u32"), ("min max", "u32 s32")):
    row("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  [dst:shared], [src:shared], size:u32, [mbar:shared]", op=op, type=type, ptx="8.0", **INTO)
for op, type in (("and or xor", "b32 b64"), ("add", "u32 s32 u64 f32 f64"), ("inc dec", "u32"), ("min max", "u32 s32 u64 s64 f16 bf16"), ("add.noftz", "f16 bf16")):
    row("cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.op.type  [dst:global], [src:shared], size:u32" + POLICY, op=op, type=type, **OUT)

# ---------------------------------------------------------------- 9.7.9.25.5 cp.async.bulk.tensor and its kin
# c: the coordinates; offset: how far im2col goes from the corner of the bounding box.
# mode, dimensions, coordinates, offsets, and what it needs: the target into shared::cta, else the target and version
TENSOR_MODES = (
    ("{.tile}",         "1 2 3 4 5", "dim", "",                    90,          90,          "8.0"),
    (".tile::gather4",  "2",         "5",   "",                    100,         "100f 110f", "8.6"),
    (".im2col",         "3 4 5",     "dim", ", offset:u16*dim-2",  90,          90,          "8.0"),
    (".im2col::w",      "3 4 5",     "dim", ", offset:u16*2",      100,         "100f 110f", "8.6"),
    (".im2col::w::128", "3 4 5",     "dim", ", offset:u16*2",      "100f 110f", "100f 110f", "8.6"),
)
TO = "mbarrier::complete_tx::bytes"
for mode, dim, coords, offset, cta_sm, sm, ptx in TENSOR_MODES:
    map = f"[map:global, c:s32*{coords}]"
    row(f"cp.async.bulk.tensor.<dim>d.shared::cta.global{mode}.{TO}{{.cta_group}}{{.hint}}  [dst:shared], {map}, [mbar:shared]{offset}{POLICY}", dim=dim, sm=cta_sm, ptx="8.6", effect="async bulk mbarrier")
    row(f"cp.async.bulk.tensor.<dim>d.shared::cluster.global{mode}.{TO}{{.multicast::cluster}}{{.cta_group}}{{.hint}}  [dst:shared], {map}, [mbar:shared]{offset}{{.multicast::cluster, mask:u16}}{POLICY}", dim=dim, sm=sm, ptx=ptx, effect="async bulk mbarrier")
    row(f"cp.async.bulk.prefetch.tensor.<dim>d.L2.global{mode}{{.hint}}  {map}{offset}{POLICY}", dim=dim, sm=sm, ptx=ptx, effect="async bulk")
for mode, dim in (("{.tile}", "1 2 3 4 5"), (".im2col_no_offs", "3 4 5")):
    row(f"cp.async.bulk.tensor.<dim>d.global.shared::cta{mode}.bulk_group{{.hint}}  [map:global, c:s32*dim], [src:shared]{POLICY}", dim=dim, sm=90, ptx="8.0", effect="async bulk group")
    row(f"cp.reduce.async.bulk.tensor.<dim>d.global.shared::cta.op{mode}.bulk_group{{.hint}}  [map:global, c:s32*dim], [src:shared]{POLICY}", dim=dim, op="add min max inc dec and or xor", sm=90, ptx="8.0", effect="async bulk group")
row("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.hint}  [map:global, c:s32*5], [src:shared]" + POLICY, sm="100f 110f", ptx="8.6", effect="async bulk group")

# ---------------------------------------------------------------- 9.7.9.26 tensormap.replace
MAP = common(space="global shared::cta", sm="90a 100f 110f 120f", ptx="8.3", effect="store")
row("tensormap.replace.tile.global_address{.space}.b1024.b64       [map], v:u64", **MAP)
row("tensormap.replace.tile.rank{.space}.b1024.b32                 [map], v:u32", **MAP)
row("tensormap.replace.tile.box_dim{.space}.b1024.b32              [map], i, v:u32", i=range(5), **MAP)
row("tensormap.replace.tile.global_dim{.space}.b1024.b32           [map], i, v:u32", i=range(5), **MAP)
row("tensormap.replace.tile.element_stride{.space}.b1024.b32       [map], i, v:u32", i=range(5), **MAP)
row("tensormap.replace.tile.global_stride{.space}.b1024.b64        [map], i, v:u64", i=range(4), **MAP)
row("tensormap.replace.tile.elemtype{.space}.b1024.b32             [map], v", v=range(16), **MAP)
row("tensormap.replace.tile.interleave_layout{.space}.b1024.b32    [map], v", v=range(3), **MAP)
row("tensormap.replace.tile.swizzle_mode{.space}.b1024.b32         [map], v", v=range(4), **MAP)
row("tensormap.replace.tile.fill_mode{.space}.b1024.b32            [map], v", v=range(2), **MAP)
row("tensormap.replace.tile.swizzle_atomicity{.space}.b1024.b32    [map], v", v=range(4), **MAP | common(sm="100f 110f 120f", ptx="8.6"))

# ---------------------------------------------------------------- 9.7.13.16 tensormap.cp_fenceproxy
row("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [dst:global], [src:shared], 128", sm=90, ptx="8.3", effect="fence proxy tensormap, collective warp")

# ---------------------------------------------------------------- 9.7.13.17, 9.7.13.18 clusterlaunchcontrol
CANCEL = common(sm=100, ptx="8.6")
row("clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128  [dst:shared], [mbar:shared]", effect="async bulk mbarrier", **CANCEL)
row("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128              p, a:b128", **CANCEL)
row("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128        d:b32*4, a:b128", **CANCEL)
row("clusterlaunchcontrol.query_cancel.get_first_ctaid::<axis>.b32.b128   d:b32, a:b128", axis="x y z", **CANCEL)
