"""Single and double precision (PTX ISA 9.0, section 9.7.3)."""

from ptx.isa.notation import common, row

F32X2 = common(sm=100, ptx="8.6")

# fmt: off

# ---------------------------------------------------------------- 9.7.3.1, 9.7.3.2: testp copysign
row("testp.kind.type           p, a",               kind="finite infinite number notanumber normal subnormal", type="f32 f64")
row("copysign.type             d, a, b",            type="f32 f64")

# ---------------------------------------------------------------- 9.7.3.3 to 9.7.3.7: add sub mul fma mad
for op in ("add", "sub", "mul"):
    row(f"{op}{{.rnd}}{{.ftz}}{{.sat}}.f32  d, a, b")
    row(f"{op}{{.rnd}}{{.ftz}}.f32x2   d, a, b",    **F32X2)
    row(f"{op}{{.rnd}}.f64             d, a, b")
for op in ("fma", "mad"):                           # from sm_20 on, mad is fma by another name
    row(f"{op}.rnd{{.ftz}}{{.sat}}.f32 d, a, b, c")
    row(f"{op}.rnd.f64                 d, a, b, c")
row("fma.rnd{.ftz}.f32x2       d, a, b, c",         **F32X2)

# ---------------------------------------------------------------- 9.7.3.8 to 9.7.3.12: div abs neg min max
row("div.how{.ftz}.f32         d, a, b",            how="approx full rn rz rm rp")
row("div.rnd.f64               d, a, b")
for op in ("abs", "neg"):
    row(f"{op}{{.ftz}}.f32     d, a")
    row(f"{op}.f64             d, a")
for op in ("min", "max"):
    row(f"{op}{{.ftz}}{{.NaN}}.f32              d, a, b")
    row(f"{op}{{.ftz}}{{.NaN}}.xorsign.abs.f32  d, a, b", sm=86, ptx="7.2")
    row(f"{op}{{.ftz}}{{.NaN}}{{.abs}}.f32      d, a, b, c", sm=100, ptx="8.8")
    row(f"{op}.f64             d, a, b")

# ---------------------------------------------------------------- 9.7.3.13 to 9.7.3.22: rcp sqrt rsqrt sin cos lg2 ex2 tanh
for op in ("rcp", "sqrt"):
    row(f"{op}.how{{.ftz}}.f32 d, a",               how="approx rn rz rm rp")
    row(f"{op}.rnd.f64         d, a")
row("rcp.approx.ftz.f64        d, a")
row("rsqrt.approx{.ftz}.type   d, a",               type="f32 f64")
for op in ("sin", "cos", "lg2", "ex2"):
    row(f"{op}.approx{{.ftz}}.f32  d, a")
row("tanh.approx.f32           d, a",               sm=75, ptx="7.0")
