"""Atomic operations on memory (PTX ISA 9.0, sections 9.7.13.5 to 9.7.13.7): atom, red, red.async."""

from ptx.isa.notation import common, row

ATOM_ORDERS, RED_ORDERS = "relaxed acquire release acq_rel", "relaxed release"
SCOPES = "cta@60:6.0 cluster gpu@60:6.0 sys@60:6.0"
B128_SCOPES = "cta cluster gpu sys@90:8.4"
SHARED = "shared shared::cta shared::cluster"
POLICY = "{.hint, policy:u64}"

# fmt: off
# An atom whose result is `_` is a red. A cache hint is for global memory alone: global (and generic) addresses have rows of their own.
for space, hint, policy in (("{.global}", "{.hint}", POLICY), (".space", "", "")):
    atom, red = "atom{.sem}{.scope}" + space, "red{.sem}{.scope}" + space

    # ------------------------------------------------------------ 9.7.13.5 atom
    here = common(sem=ATOM_ORDERS, scope=SCOPES, space=SHARED, effect="atomic")
    b128 = here | common(scope=B128_SCOPES)
    row(f"{atom}.op{hint}.type         d{{_}}, [a], b{policy}", op="and or xor", type="b32 b64", **here)
    row(f"{atom}.exch{hint}.type       d{{_}}, [a], b{policy}", type="b32 b64", **here)
    row(f"{atom}.exch{hint}.b128       d{{_}}, [a], b{policy}", sm=90, ptx="8.3", **b128)
    row(f"{atom}.add{hint}.type        d{{_}}, [a], b{policy}", type="u32 s32 u64 f32 f64@60:6.0", **here)
    row(f"{atom}.op{hint}.u32          d{{_}}, [a], b{policy}", op="inc dec", **here)
    row(f"{atom}.op{hint}.type         d{{_}}, [a], b{policy}", op="min max", type="u32 s32 u64 s64", **here)
    row(f"{atom}.add.noftz{hint}.type  d{{_}}, [a], b{policy}", type="f16@70:6.3 f16x2@60:6.2 bf16@90:7.8 bf16x2@90:7.8", **here)
    row(f"{atom}.cas.type              d{{_}}, [a], b, c", type="b16@70:6.3 b32 b64", **here)
    row(f"{atom}.cas.b128              d{{_}}, [a], b, c", sm=90, ptx="8.3", **b128)

    # ------------------------------------------------------------ 9.7.13.6 red
    here = common(sem=RED_ORDERS, scope=SCOPES, space=SHARED, effect="atomic")
    row(f"{red}.op{hint}.type          [a], b{policy}", op="and or xor", type="b32 b64", **here)
    row(f"{red}.add{hint}.type         [a], b{policy}", type="u32 s32 u64 f32 f64@60:6.0", **here)
    row(f"{red}.op{hint}.u32           [a], b{policy}", op="inc dec", **here)
    row(f"{red}.op{hint}.type          [a], b{policy}", op="min max", type="u32 s32 u64 s64", **here)
    row(f"{red}.add.noftz{hint}.type   [a], b{policy}", type="f16@70:6.3 f16x2@60:6.2 bf16@90:7.8 bf16x2@90:7.8", **here)

# ---------------------------------------------------------------- atom and red of vectors
NOFTZ = "add.noftz min.noftz max.noftz"
for op, vec, type in (("add", "v2 v4", "f32"), (NOFTZ, "v2 v4 v8", "f16 bf16"), (NOFTZ, "v2 v4", "f16x2 bf16x2")):
    row("atom{.sem}{.scope}{.global}.op{.hint}.vec.type  d*vec, [a], b*vec" + POLICY, sem=ATOM_ORDERS, op=op, vec=vec, type=type, sm=90, ptx="8.1", effect="atomic")
    row("red{.sem}{.scope}{.global}.op{.hint}.vec.type   [a], b*vec" + POLICY, sem=RED_ORDERS, op=op, vec=vec, type=type, sm=90, ptx="8.1", effect="atomic")

# ---------------------------------------------------------------- 9.7.13.7 red.async
for op, type in (("inc dec", "u32"), ("min max", "u32 s32"), ("and or xor", "b32"), ("add", "u32 s32 u64")):
    row("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type  [a:shared], b, [mbar:shared]", op=op, type=type, sm=90, ptx="8.1", effect="async mbarrier")
# Without an mbarrier: to global memory. ptxas takes .gpu and .sys (the manual: .gpu and .cluster).
row("red.async{.mmio}.release.level{.global}.add.type  [a], b", level="gpu sys", type="u32 s32 u64 s64", sm=100, ptx="8.7", effect="async")
