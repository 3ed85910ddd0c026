"""Conversion between types and between address spaces (PTX ISA 9.0, sections 9.7.9.20 to 9.7.9.23)."""

from ptx.isa.notation import common, row

ANY_INT = "u8 s8 u16 u32 u64 s16 s32 s64"
BF16 = common(sm=90, ptx="7.8")


def _values(type: str) -> range:
    """What an integer type holds: it says where a conversion can saturate."""
    width = int(type[1:])
    return range(2**width) if type[0] == "u" else range(-(2 ** (width - 1)), 2 ** (width - 1))


LIMITS = {type: _values(type) for type in ANY_INT.split()}

# fmt: off

# ---------------------------------------------------------------- 9.7.9.20: cvta
for to, a in (("", "a"), ("", "a:symbol"), (".to", "a")):
    row(f"cvta{to}.space.type      d, {a}",         space="const global local shared shared::cta shared::cluster", type="u32 u64")
    row(f"cvta{to}.space.type      d, {a}",         space="param param::entry@70:8.3", type="u32 u64", sm=70, ptx="7.7")

# ---------------------------------------------------------------- 9.7.9.21: cvt, integer to integer; .sat only where it can act
for d, inside in LIMITS.items():
    row(f"cvt.{d}.atype        d:{d}, a",           atype=ANY_INT)
    row(f"cvt.sat.{d}.atype    d:{d}, a",           atype=[a for a, r in LIMITS.items() if r[0] not in inside or r[-1] not in inside])

# ---------------------------------------------------------------- floating point to integer: an integer rounding is required
row("cvt.irnd{.ftz}{.sat}.dtype.f32       d:dtype, a", dtype=ANY_INT)
row("cvt.irnd{.sat}.dtype.atype           d:dtype, a", dtype=ANY_INT, atype="f16 f64")
row("cvt.irnd.dtype.bf16                  d:dtype, a", dtype=ANY_INT, **BF16)

# ---------------------------------------------------------------- to f32 f64 f16 bf16: a rounding exactly where bits may be lost
row("cvt.rnd{.ftz}{.sat}.f32.atype        d:f32, a",   atype=f"{ANY_INT} f64")
row("cvt.rnd{.sat}.dtype.atype            d:dtype, a", dtype="f16 f64", atype=ANY_INT)
row("cvt.rnd{.sat}.f16.f64                d:f16, a")
row("cvt.rnd.bf16.atype                   d:bf16, a",  atype=f"{ANY_INT} f64", **BF16)
row("cvt{.ftz}{.sat}.f32.f16              d:f32, a")
row("cvt{.ftz}{.sat}.f64.f32              d:f64, a")
row("cvt{.sat}.f64.f16                    d:f64, a")
row("cvt{.irnd}{.ftz}{.sat}.f32.f32       d, a")
row("cvt{.irnd}{.sat}.same.same           d, a",       same="f16 f64")
row("cvt{.irnd}.bf16.bf16                 d, a",       **BF16)
row("cvt.f32.bf16                         d:f32, a",   sm=80, ptx="7.1")
row("cvt.rnd.f32.bf16                     d:f32, a",   sm=80, ptx="7.1")
row("cvt{.rnd}.ftz.f32.bf16               d:f32, a",   **BF16)
row("cvt{.rnd}.dtype.bf16                 d:dtype, a", dtype="f16 f64", **BF16)
row("cvt{.rnd}.bf16.f16                   d:bf16, a",  **BF16)

# ---------------------------------------------------------------- f32 to one half, or two f32 to a pair (a is the upper one)
row("cvt.rnd{.ftz}{.sat}.f16.f32          d:f16, a")
row("cvt.rnd{.ftz}.bf16.f32               d:bf16, a",  sm=80, ptx="7.0")
for one, two, sm in (("f16", "f16x2", 70), ("bf16", "bf16x2", 80)):
    row(f"cvt.rnd.relu.{one}.f32               d:{one}, a",    rnd="rn rz", sm=80, ptx="7.0")
    row(f"cvt.rnd.satfinite.{one}.f32          d:{one}, a",    rnd="rn rz", sm=sm, ptx="8.1")
    row(f"cvt.rnd.relu.satfinite.{one}.f32     d:{one}, a",    rnd="rn rz", sm=80, ptx="8.1")
    row(f"cvt.rnd{{.relu}}.{two}.f32           d:{two}, a, b", rnd="rn rz", sm=80, ptx="7.0")
    row(f"cvt.rnd{{.relu}}.satfinite.{two}.f32 d:{two}, a, b", rnd="rn rz", sm=80, ptx="8.1")
    row(f"cvt.rs{{.relu}}{{.satfinite}}.{two}.f32  d:{two}, a, b, rbits:b32!", sm="100a 103a", ptx="8.7")

# ---------------------------------------------------------------- tf32
# ptxas expands .rna and then refuses a 0d literal, so a register is asked for.
row("cvt.rna.tf32.f32                     d:tf32, %a", sm=80, ptx="7.0")
row("cvt.rna.satfinite.tf32.f32           d:tf32, %a", sm=80, ptx="8.1")
row("cvt.rnd{.relu}.tf32.f32              d:tf32, a",  rnd="rn rz", sm=90, ptx="7.8")
row("cvt.rnd.satfinite{.relu}.tf32.f32    d:tf32, a",  rnd="rn rz", sm=100, ptx="8.6")

# ---------------------------------------------------------------- fp8 fp6 fp4 and the scale format ue8m0
FP8, FP6, FP4 = "e4m3x2 e5m2x2", "e2m3x2 e3m2x2", "e2m1x2"
ARCH = common(sm="100f 110f 120f", ptx="8.6")
for narrow, need in ((FP8, common(sm=89, ptx="8.1")), (f"{FP6} {FP4}", ARCH)):
    row("cvt.rn.satfinite{.relu}.dtype.f32     d:dtype, a, b", dtype=narrow, **need)
    row("cvt.rn{.relu}.f16x2.atype             d:f16x2, a",    atype=narrow, **need)
row("cvt.rn.satfinite{.relu}.dtype.f16x2  d:dtype, a", dtype=FP8, sm=89, ptx="8.1")
row("cvt.rn.satfinite{.relu}.e2m1x2.f16x2 d:e2m1x2, a", **ARCH)
row("cvt.rs{.relu}.satfinite.dtype.f32    d:dtype, a*4, rbits:b32!", dtype="e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4", sm="100a 103a", ptx="8.7")
row("cvt.rnd{.satfinite}.ue8m0x2.f32      d:ue8m0x2, a, b", rnd="rz rp", **ARCH)
row("cvt.rnd{.satfinite}.ue8m0x2.bf16x2   d:ue8m0x2, a", rnd="rz rp", **ARCH)
row("cvt.rn.bf16x2.ue8m0x2                d:bf16x2, a", **ARCH)

# ---------------------------------------------------------------- 9.7.9.22: cvt.pack
row("cvt.pack.sat.dtype.s32               d:u32, a, b", dtype="u16 s16", sm=72, ptx="6.5")
row("cvt.pack.sat.dtype.s32.b32           d:u32, a:s32, b:s32, c", dtype="u2@75:6.5 s2@75:6.5 u4@75:6.5 s4@75:6.5 u8 s8", sm=72, ptx="6.5")
