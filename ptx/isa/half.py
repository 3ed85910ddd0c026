"""Half precision and bfloat16 (PTX ISA 9.0, sections 9.7.4 and 9.7.5)."""

from ptx.isa.notation import row

F16, BF16 = "f16 f16x2", "bf16 bf16x2"

# fmt: off

# ---------------------------------------------------------------- 9.7.4.1 to 9.7.4.4: add sub mul fma
for op in ("add", "sub", "mul"):
    row(f"{op}{{.rn}}{{.ftz}}{{.sat}}.type  d, a, b", type=F16, sm=53)
    row(f"{op}{{.rn}}.type                  d, a, b", type=BF16, sm=90, ptx="7.8")
row("fma.rn{.ftz}{.sat}.type      d, a, b, c",      type=F16, sm=53)
row("fma.rn{.ftz}.relu.type       d, a, b, c",      type=F16, sm=80, ptx="7.0")
row("fma.rn{.relu}.type           d, a, b, c",      type=BF16, sm=80, ptx="7.0")
row("fma.rn.oob{.relu}.type       d, a, b, c",      type=f"{F16} {BF16}", sm=90, ptx="8.1")

# ---------------------------------------------------------------- 9.7.4.5 to 9.7.4.10: neg abs min max tanh ex2
for op in ("neg", "abs"):
    row(f"{op}{{.ftz}}.type       d, a",            type=F16, sm=53, ptx="6.0" if op == "neg" else "6.5")
    row(f"{op}.type               d, a",            type=BF16, sm=80, ptx="7.0")
for op in ("min", "max"):
    row(f"{op}{{.ftz}}{{.NaN}}.type              d, a, b", type=F16, sm=80, ptx="7.0")
    row(f"{op}{{.ftz}}{{.NaN}}.xorsign.abs.type  d, a, b", type=F16, sm=86, ptx="7.2")
    row(f"{op}{{.NaN}}.type                      d, a, b", type=BF16, sm=80, ptx="7.0")
    row(f"{op}{{.NaN}}.xorsign.abs.type          d, a, b", type=BF16, sm=86, ptx="7.2")
row("tanh.approx.type             d, a",            type="f16 f16x2 bf16@90:7.8 bf16x2@90:7.8", sm=75, ptx="7.0")
row("ex2.approx.type              d, a",            type=F16, sm=75, ptx="7.0")
row("ex2.approx.ftz.type          d, a",            type=BF16, sm=90, ptx="7.8")

# ---------------------------------------------------------------- 9.7.5: one or two halves into single precision
for op in ("add", "sub"):
    row(f"{op}{{.rnd}}{{.sat}}.f32.atype  d:f32, a, c:f32", atype="f16 bf16", sm=100, ptx="8.6")
row("fma.rnd{.sat}.f32.abtype     d:f32, a, b, c:f32", abtype="f16 bf16", sm=100, ptx="8.6")
