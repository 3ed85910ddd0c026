"""Between the lanes of a warp (PTX ISA 9.0, sections 9.7.9.5, 9.7.9.6 and 9.7.13.8 to 9.7.13.14): shfl, vote, redux ..."""

from ptx.isa.notation import row

# fmt: off
# ---------------------------------------------------------------- 9.7.9.5, 9.7.9.6 shfl
# Without .sync: for targets before sm_70 alone (PTX 6.4 took it from the others). So too vote.
row("shfl.mode.b32       %d{|p}, a, b:u32, c:u32", mode="up down bfly idx", sm="50-62", effect="collective warp")
row("shfl.sync.mode.b32  %d{|p}, a, b:u32, c:u32, mask:u32", mode="up down bfly idx", effect="collective warp")

# ---------------------------------------------------------------- 9.7.13.8, 9.7.13.9 vote
row("vote.mode.pred         p, {!}a", mode="all any uni", sm="50-62", effect="collective warp")
row("vote.ballot.b32        d, {!}a", sm="50-62", effect="collective warp")
row("vote.sync.mode.pred    p, {!}a, mask:u32", mode="all any uni", effect="collective warp")
row("vote.sync.ballot.b32   d, {!}a, mask:u32", effect="collective warp")

# ---------------------------------------------------------------- 9.7.13.10 match.sync
row("match.any.sync.type    d:u32, a, mask:u32", type="b32 b64", sm=70, effect="collective warp")
row("match.all.sync.type    d{|p}:u32, a, mask:u32", type="b32 b64", sm=70, effect="collective warp")

# ---------------------------------------------------------------- 9.7.13.11 activemask, 9.7.13.12 redux.sync
row("activemask.b32         d", ptx="6.2")
row("redux.sync.op.type     d, a, mask:u32", op="add min max", type="u32 s32", sm=80, ptx="7.0", effect="collective warp")
row("redux.sync.op.b32      d:u32, a:u32, mask:u32", op="and or xor", sm=80, ptx="7.0", effect="collective warp")
row("redux.sync.op{.abs}{.NaN}.f32  d, a, mask:u32", op="min max", sm="100f", ptx="8.6", effect="collective warp")

# ---------------------------------------------------------------- 9.7.13.14 elect.sync
row("elect.sync             d|p:u32, mask:u32", sm=90, ptx="8.0", effect="collective warp")
