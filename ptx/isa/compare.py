"""Comparison and selection (PTX ISA 9.0, sections 9.7.6 and 9.7.7)."""

from ptx.isa.notation import row

SIGNED, UNSIGNED, BITS = "s16 s32 s64", "u16 u32 u64", "b16 b32 b64"
DTYPE = "u32 s32 f32 f16@53:6.0 bf16@90:7.8"

# fmt: off

# ---------------------------------------------------------------- 9.7.6.1 set (the results f16 and bf16 are of 9.7.7.1)
for bool, c in (("", ""), (".bool", ", {!}c")):
    row(f"set.bcmp{bool}.dtype.type          d:dtype, a, b{c}", dtype=DTYPE, type=BITS)
    row(f"set.icmp{bool}.dtype.type          d:dtype, a, b{c}", dtype=DTYPE, type=SIGNED)
    row(f"set.ucmp{bool}.dtype.type          d:dtype, a, b{c}", dtype=DTYPE, type=UNSIGNED)
    row(f"set.fcmp{bool}{{.ftz}}.dtype.f32   d:dtype, a, b{c}", dtype="u32 s32 f32 f16@53:6.0")
    row(f"set.fcmp{bool}.bf16.f32            d:bf16, a, b{c}",  sm=90, ptx="7.8")
    row(f"set.fcmp{bool}.dtype.f64           d:dtype, a, b{c}", dtype=DTYPE)

# ---------------------------------------------------------------- 9.7.6.2: setp, q is the opposite of p combined with c
for bool, c in (("", ""), (".bool", ", {!}c")):
    row(f"setp.bcmp{bool}.type             p{{|q}}, a, b{c}", type=BITS)
    row(f"setp.icmp{bool}.type             p{{|q}}, a, b{c}", type=SIGNED)
    row(f"setp.ucmp{bool}.type             p{{|q}}, a, b{c}", type=UNSIGNED)
    row(f"setp.fcmp{bool}{{.ftz}}.f32      p{{|q}}, a, b{c}")
    row(f"setp.fcmp{bool}.f64              p{{|q}}, a, b{c}")

# ---------------------------------------------------------------- 9.7.6.3, 9.7.6.4: selp slct
row("selp.type                 d, a, b, {!}c",      type=f"{BITS} {SIGNED} {UNSIGNED} f32 f64")
row("slct.type.s32             d:type, a:type, b:type, c", type=f"{BITS} {SIGNED} {UNSIGNED} f32 f64")
row("slct{.ftz}.type.f32       d:type, a:type, b:type, c", type=f"{BITS} {SIGNED} {UNSIGNED} f32 f64")

# ---------------------------------------------------------------- 9.7.7: set and setp of halves, and of pairs of them
# The manual wants both destinations of a pair's setp; ptxas takes one.
for bool, c in (("", ""), (".bool", ", {!}c")):
    row(f"set.fcmp{bool}{{.ftz}}.dtype.f16   d:dtype, a, b{c}", dtype="f16 u16@53:6.5 s16@53:6.5 u32@53:6.5 s32@53:6.5", sm=53)
    row(f"set.fcmp{bool}.bf16.f16            d:bf16, a, b{c}",  sm=90, ptx="7.8")
    row(f"set.fcmp{bool}.dtype.bf16          d:dtype, a, b{c}", dtype="bf16 u16 s16 u32 s32", sm=90, ptx="7.8")
    row(f"set.fcmp{bool}{{.ftz}}.dtype.f16x2 d:dtype, a, b{c}", dtype="f16x2 u32@53:6.5 s32@53:6.5", sm=53)
    row(f"set.fcmp{bool}.dtype.bf16x2        d:dtype, a, b{c}", dtype="bf16x2 u32 s32", sm=90, ptx="7.8")
    row(f"setp.fcmp{bool}{{.ftz}}.f16        p, a, b{c}",       sm=53)
    row(f"setp.fcmp{bool}.bf16               p, a, b{c}",       sm=90, ptx="7.8")
    row(f"setp.fcmp{bool}{{.ftz}}.f16x2      p{{|q}}, a, b{c}", sm=53)
    row(f"setp.fcmp{bool}.bf16x2             p{{|q}}, a, b{c}", sm=90, ptx="7.8")
