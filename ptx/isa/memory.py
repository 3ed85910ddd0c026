"""Data movement (PTX ISA 9.0, section 9.7.9): mov, ld, st, cache control, multimem, the stack."""

from ptx.isa.notation import common, row

T8, T16, T32, T64 = "b8 u8 s8", "b16 u16 s16", "b32 u32 s32 f32", "b64 u64 s64 f64"
ANY = f"{T8} {T16} {T32} {T64}"
SCALAR = f"{ANY} b128@70:8.3"
B128_SCOPES = "cta cluster gpu sys@70:8.4"
VECTORS = (("v2", ANY), ("v4", f"{T8} {T16} {T32}"))
"""Each vector with the element types that it may have: up to 128 bits."""
WIDE_VECTORS = (("v4", T64), ("v8", T32))
"""256 bits: in global memory alone, by sm_100 and up."""

LOADS = "ca cg cs lu cv"
STORES = "wb cg cs wt"
SHARED = "shared shared::cta shared::cluster"
READABLE = f"const local param param::entry@50:8.3 param::func@50:8.3 {SHARED}"
WRITABLE = f"local param param::func@50:8.3 {SHARED}"
POLICY = "{.hint, policy:u64}"

# fmt: off
# ---------------------------------------------------------------- 9.7.9.3 mov
row("mov.type  d, a", type="b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 b128@70:8.3")
row("mov.pred  d, {!}a")
row("mov.type  d, a:symbol", type="u32 u64 s32 s64 b32 b64")
row("mov.vec.type  d*vec, a*vec", vec="v2 v4", type="b16 b32 u16 u32 s16 s32 f32")
row("mov.v2.type   d*2, a*2", type="b64 u64 s64 f64")

# ---------------------------------------------------------------- 9.7.9.4 mov: pack and unpack
row("mov.b16   d, a:b8*2")
row("mov.b32   d, a:b16*2")
row("mov.b32   d, a:b8*4")
row("mov.b64   d, a:b32*2")
row("mov.b64   d, a:b16*4")
row("mov.b128  d, a:b64*2", sm=70, ptx="8.3")
row("mov.b16   d:b8*2, a")
row("mov.b32   d:b16*2, a")
row("mov.b32   d:b8*4, a")
row("mov.b64   d:b32*2, a")
row("mov.b64   d:b16*4, a")
row("mov.b128  d:b64*2, a", sm=70, ptx="8.3")

# ---------------------------------------------------------------- 9.7.9.8 ld
# Hints are for global memory alone, so global and generic addresses have rows of their own.
# .unified: the address of a variable declared with .attribute(.unified); ptxas asks for no target or version for it.
row("ld{.weak}{.global}.cop{.hint}{.prefetch_size}.type           d, [a]{.unified}" + POLICY, cop=LOADS, type=SCALAR, effect="load")
row("ld{.weak}{.global}{.evict1}{.hint}{.prefetch_size}.type      d, [a]{.unified}" + POLICY, type=SCALAR, effect="load")
row("ld.volatile{.global}{.prefetch_size}.type                    d, [a]", type=SCALAR, effect="load")
row("ld.sem.scope{.global}{.evict1}{.hint}{.prefetch_size}.type   d, [a]" + POLICY, sem="relaxed acquire", type=ANY, sm=70, effect="load")
row("ld.sem.scope{.global}{.evict1}{.hint}{.prefetch_size}.b128   d, [a]" + POLICY, sem="relaxed acquire", scope=B128_SCOPES, sm=70, ptx="8.3", effect="load")
row("ld.mmio.relaxed.sys{.global}.type                            d, [a]", type=ANY, sm=70, ptx="8.2", effect="load")
row("ld{.weak}.space{.cop}.type                                   d, [a]", space=READABLE, cop=LOADS, type=SCALAR, effect="load")
row("ld.volatile.space.type                                       d, [a]", space=SHARED, type=SCALAR, effect="load")
row("ld.sem.scope.space.type                                      d, [a]", sem="relaxed acquire", space=SHARED, type=ANY, sm=70, effect="load")
row("ld.sem.scope.space.b128                                      d, [a]", sem="relaxed acquire", scope=B128_SCOPES, space=SHARED, sm=70, ptx="8.3", effect="load")
for vec, type in VECTORS:
    row("ld{.weak}{.global}.cop{.hint}{.prefetch_size}.vec.type          d*vec, [a]{.unified}" + POLICY, cop=LOADS, vec=vec, type=type, effect="load")
    row("ld{.weak}{.global}{.evict1}{.hint}{.prefetch_size}.vec.type     d*vec, [a]{.unified}" + POLICY, vec=vec, type=type, effect="load")
    row("ld.volatile{.global}{.prefetch_size}.vec.type                   d*vec, [a]", vec=vec, type=type, effect="load")
    row("ld.sem.scope{.global}{.evict1}{.hint}{.prefetch_size}.vec.type  d*vec, [a]" + POLICY, sem="relaxed acquire", vec=vec, type=type, sm=70, effect="load")
    row("ld{.weak}.space{.cop}.vec.type                                  d*vec, [a]", space=READABLE, cop=LOADS, vec=vec, type=type, effect="load")
    row("ld.volatile.space.vec.type                                      d*vec, [a]", space=SHARED, vec=vec, type=type, effect="load")
    row("ld.sem.scope.space.vec.type                                     d*vec, [a]", sem="relaxed acquire", space=SHARED, vec=vec, type=type, sm=70, effect="load")
for vec, type in WIDE_VECTORS:
    row("ld{.weak}{.global}.cop{.hint}{.prefetch_size}.vec.type                   d*vec, [a]{.unified}" + POLICY, cop=LOADS, vec=vec, type=type, sm=100, ptx="8.8", effect="load")
    row("ld{.weak}{.global}{.evict1}{.evict2}{.hint}{.prefetch_size}.vec.type     d*vec, [a]{.unified}" + POLICY, vec=vec, type=type, sm=100, ptx="8.8", effect="load")
    row("ld.volatile{.global}{.prefetch_size}.vec.type                            d*vec, [a]", vec=vec, type=type, sm=100, ptx="8.8", effect="load")
    row("ld.sem.scope{.global}{.evict1}{.evict2}{.hint}{.prefetch_size}.vec.type  d*vec, [a]" + POLICY, sem="relaxed acquire", vec=vec, type=type, sm=100, ptx="8.8", effect="load")

# ---------------------------------------------------------------- 9.7.9.9 ld.global.nc
row("ld.global.cop.nc{.hint}{.prefetch_size}.type       d, [a]" + POLICY, cop="ca cg cs", type=SCALAR, effect="load")
row("ld.global.nc{.evict1}{.hint}{.prefetch_size}.type  d, [a]" + POLICY, type=SCALAR, effect="load")
for vec, type in VECTORS:
    row("ld.global.cop.nc{.hint}{.prefetch_size}.vec.type       d*vec, [a]" + POLICY, cop="ca cg cs", vec=vec, type=type, effect="load")
    row("ld.global.nc{.evict1}{.hint}{.prefetch_size}.vec.type  d*vec, [a]" + POLICY, vec=vec, type=type, effect="load")
for vec, type in WIDE_VECTORS:
    row("ld.global.cop.nc{.hint}{.prefetch_size}.vec.type                d*vec, [a]" + POLICY, cop="ca cg cs", vec=vec, type=type, sm=100, ptx="8.8", effect="load")
    row("ld.global.nc{.evict1}{.evict2}{.hint}{.prefetch_size}.vec.type  d*vec, [a]" + POLICY, vec=vec, type=type, sm=100, ptx="8.8", effect="load")

# ---------------------------------------------------------------- 9.7.9.10 ldu
row("ldu{.global}.type  d, [a]", type=SCALAR, effect="load")
for vec, type in VECTORS:
    row("ldu{.global}.vec.type  d*vec, [a]", vec=vec, type=type, effect="load")

# ---------------------------------------------------------------- 9.7.9.11 st
row("st{.weak}{.global}.cop{.hint}.type          [a], b" + POLICY, cop=STORES, type=SCALAR, effect="store")
row("st{.weak}{.global}{.evict1}{.hint}.type     [a], b" + POLICY, type=SCALAR, effect="store")
row("st.volatile{.global}.type                   [a], b", type=SCALAR, effect="store")
row("st.sem.scope{.global}{.evict1}{.hint}.type  [a], b" + POLICY, sem="relaxed release", type=ANY, sm=70, effect="store")
row("st.sem.scope{.global}{.evict1}{.hint}.b128  [a], b" + POLICY, sem="relaxed release", scope=B128_SCOPES, sm=70, ptx="8.3", effect="store")
row("st.mmio.relaxed.sys{.global}.type           [a], b", type=ANY, sm=70, ptx="8.2", effect="store")
row("st{.weak}.space{.cop}.type                  [a], b", space=WRITABLE, cop=STORES, type=SCALAR, effect="store")
row("st.volatile.space.type                      [a], b", space=SHARED, type=SCALAR, effect="store")
row("st.sem.scope.space.type                     [a], b", sem="relaxed release", space=SHARED, type=ANY, sm=70, effect="store")
row("st.sem.scope.space.b128                     [a], b", sem="relaxed release", scope=B128_SCOPES, space=SHARED, sm=70, ptx="8.3", effect="store")
for vec, type in VECTORS:
    row("st{.weak}{.global}.cop{.hint}.vec.type          [a], b*vec" + POLICY, cop=STORES, vec=vec, type=type, effect="store")
    row("st{.weak}{.global}{.evict1}{.hint}.vec.type     [a], b*vec" + POLICY, vec=vec, type=type, effect="store")
    row("st.volatile{.global}.vec.type                   [a], b*vec", vec=vec, type=type, effect="store")
    row("st.sem.scope{.global}{.evict1}{.hint}.vec.type  [a], b*vec" + POLICY, sem="relaxed release", vec=vec, type=type, sm=70, effect="store")
    row("st{.weak}.space{.cop}.vec.type                  [a], b*vec", space=WRITABLE, cop=STORES, vec=vec, type=type, effect="store")
    row("st.volatile.space.vec.type                      [a], b*vec", space=SHARED, vec=vec, type=type, effect="store")
    row("st.sem.scope.space.vec.type                     [a], b*vec", sem="relaxed release", space=SHARED, vec=vec, type=type, sm=70, effect="store")
for vec, type in WIDE_VECTORS:
    row("st{.weak}{.global}.cop{.hint}.vec.type                   [a], b*vec" + POLICY, cop=STORES, vec=vec, type=type, sm=100, ptx="8.8", effect="store")
    row("st{.weak}{.global}{.evict1}{.evict2}{.hint}.vec.type     [a], b*vec" + POLICY, vec=vec, type=type, sm=100, ptx="8.8", effect="store")
    row("st.volatile{.global}.vec.type                            [a], b*vec", vec=vec, type=type, sm=100, ptx="8.8", effect="store")
    row("st.sem.scope{.global}{.evict1}{.evict2}{.hint}.vec.type  [a], b*vec" + POLICY, sem="relaxed release", vec=vec, type=type, sm=100, ptx="8.8", effect="store")

# ---------------------------------------------------------------- 9.7.9.12 st.async, 9.7.9.13 st.bulk
row("st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type  [a:shared], b*vec, [mbar:shared]", vec="v2 v4", type=T32, sm=90, ptx="8.1", effect="async mbarrier")
row("st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type  [a:shared], b*vec, [mbar:shared]", vec="v2", type=T64, sm=90, ptx="8.1", effect="async mbarrier")
row("st.async{.mmio}.release.level{.global}.type  [a], b", level="gpu sys", type=ANY, sm=100, ptx="8.7", effect="async")
row("st.bulk{.weak}{.shared::cta}  [a], size:u64, 0", size=range(0, 2**31, 8), sm=100, ptx="8.6", effect="store")

# ---------------------------------------------------------------- 9.7.9.15 prefetch, prefetchu
row("prefetch{.space}.level      [a]", space="global local", level="L1 L2")
row("prefetch.global.level       [a]", level="L2::evict_last L2::evict_normal", sm=80, ptx="7.4")
row("prefetch{.space}.tensormap  [a]", space="const param", sm=90, ptx="8.0")
row("prefetchu.L1                [a]")

# ---------------------------------------------------------------- 9.7.9.16 applypriority, 9.7.9.17 discard, 9.7.9.18 createpolicy
PRIMARY = "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"
SECONDARY = "L2::evict_first L2::evict_unchanged"
row("applypriority{.global}.L2::evict_normal              [a], 128", sm=80, ptx="7.4")
row("discard{.global}.L2                                  [a], 128", sm=80, ptx="7.4", effect="store")
row("createpolicy.range{.global}.primary{.secondary}.b64  d:u64, [a], size:u32, total:u32", primary=PRIMARY, secondary=SECONDARY, sm=80, ptx="7.4")
row("createpolicy.fractional.primary{.secondary}.b64      d:u64{, fraction:f32}", primary=PRIMARY, secondary=SECONDARY, sm=80, ptx="7.4")
row("createpolicy.cvt.L2.b64                              d:u64, a:u64", sm=80, ptx="7.4")

# ---------------------------------------------------------------- 9.7.9.19 isspacep, 9.7.9.23 mapa, 9.7.9.24 getctarank
row("isspacep.space                    p, a:u64", space="const global local shared param@70:7.7 param::entry@70:8.3 shared::cta shared::cluster")
row("mapa{.shared::cluster}.type       d, a, b:u32", type="u32 u64", sm=90, ptx="7.8")
row("mapa.shared::cluster.type         d, a:symbol, b:u32", type="u32 u64", sm=90, ptx="7.8")
row("getctarank{.shared::cluster}.type d:u32, a", type="u32 u64", sm=90, ptx="7.8")
row("getctarank.shared::cluster.type   d:u32, a:symbol", type="u32 u64", sm=90, ptx="7.8")

# ---------------------------------------------------------------- 9.7.9.14 multimem
# `add.acc::f32` accumulates in f32. ptxas refuses f16 and bf16 without a vector, the manual does not.
MULTIMEM = common(sm=90, ptx="8.1")
INTEGER_OPS = (("add", "u32 s32 u64"), ("and or xor", "b32 b64"), ("min max", "u32 s32 u64 s64"))
HALVES = ((".vec", "v2 v4 v8", "f16 bf16"), ("{.vec}", "v2 v4", "f16x2 bf16x2"))
# vector, element types, the register of each element
FP8 = (
    (".vec",   "v4 v8",    "e4m3 e5m2",     "b8"),
    (".vec",   "v2 v4 v8", "e4m3x2 e5m2x2", "b16"),
    ("{.vec}", "v2 v4",    "e4m3x4 e5m2x4", "b32"),
)
FP8_NEED = common(sm="100f 110f 120a 121a", ptx="8.6")
for order in ("{.sem.scope}", ".weak"):
    reduce, store = f"multimem.ld_reduce{order}{{.global}}", f"multimem.st{order}{{.global}}"
    load_orders = common(sem="relaxed acquire", effect="load", **MULTIMEM)
    store_orders = common(sem="relaxed release", effect="store", **MULTIMEM)
    for op, type in INTEGER_OPS:
        row(f"{reduce}.op.type  d, [a]", op=op, type=type, **load_orders)
    row(f"{reduce}.add{{.vec}}.f32  d*vec, [a]", vec="v2 v4", **load_orders)
    row(f"{reduce}.add.f64  d, [a]", **load_orders)
    row(f"{store}.type  [a], b", type="b32 b64 u32 u64 s32 s64 f64", **store_orders)
    row(f"{store}{{.vec}}.f32  [a], b*vec", vec="v2 v4", **store_orders)
    for dot_vec, vec, type in HALVES:
        row(f"{reduce}.op{dot_vec}.type  d*vec, [a]", op="add min max add.acc::f32@90:8.2", vec=vec, type=type, **load_orders)
        row(f"{store}{dot_vec}.type  [a], b*vec", vec=vec, type=type, **store_orders)
    for dot_vec, vec, type, element in FP8:
        row(f"{reduce}.op{dot_vec}.type  d:{element}*vec, [a]", op="add min max add.acc::f16", vec=vec, type=type, **load_orders | FP8_NEED)
        row(f"{store}{dot_vec}.type  [a], b:{element}*vec", vec=vec, type=type, **store_orders | FP8_NEED)
RED = common(sem="relaxed release", effect="atomic", **MULTIMEM)
for op, type in (*INTEGER_OPS, ("add", "f64")):
    row("multimem.red{.sem.scope}{.global}.op.type  [a], b", op=op, type=type, **RED)
for dot_vec, vec, type in (*HALVES, ("{.vec}", "v2 v4", "f32")):
    row(f"multimem.red{{.sem.scope}}{{.global}}.add{dot_vec}.type  [a], b*vec", vec=vec, type=type, **RED)

# ---------------------------------------------------------------- 9.7.17 the stack
row("alloca.type          d, bytes{, alignment}", type="u32 u64", alignment=[2**i for i in range(24)], sm=52, ptx="7.3")
row("stacksave.type       d", type="u32 u64", sm=52, ptx="7.3")
row("stackrestore.type    %a", type="u32 u64", sm=52, ptx="7.3")
