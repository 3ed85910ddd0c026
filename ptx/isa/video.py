"""Video instructions on bytes and halves of a register (PTX ISA 9.0, sections 9.7.17 and 9.7.18)."""

from ptx.isa.notation import common, row

SEL = common(asel="b0 b1 b2 b3 h0 h1", bsel="b0 b1 b2 b3 h0 h1")
INTO = common(**SEL, dsel="b0 b1 b2 b3 h0 h1")
U32_S32 = "u32 s32"
TYPES = common(dtype=U32_S32, atype=U32_S32, btype=U32_S32)
AB = "a:atype{.asel}, b:btype{.bsel}"

# fmt: off

# ---------------------------------------------------------------- 9.7.17: scalar
for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
    row(f"{op}.dtype.atype.btype{{.sat}}        d:dtype, {AB}",               **TYPES, **SEL)
    row(f"{op}.dtype.atype.btype{{.sat}}.merge  d:dtype, {AB}, c:dtype",      merge="add min max", **TYPES, **SEL)
    row(f"{op}.dtype.atype.btype{{.sat}}        d:dtype.dsel, {AB}, c:dtype", **TYPES, **INTO)
for op in ("vshl", "vshr"):
    row(f"{op}.dtype.atype.u32{{.sat}}.mode        d:dtype, a:atype{{.asel}}, b:u32{{.bsel}}",               mode="clamp wrap", dtype=U32_S32, atype=U32_S32, **SEL)
    row(f"{op}.dtype.atype.u32{{.sat}}.mode.merge  d:dtype, a:atype{{.asel}}, b:u32{{.bsel}}, c:dtype",      mode="clamp wrap", merge="add min max", dtype=U32_S32, atype=U32_S32, **SEL)
    row(f"{op}.dtype.atype.u32{{.sat}}.mode        d:dtype.dsel, a:atype{{.asel}}, b:u32{{.bsel}}, c:dtype", mode="clamp wrap", dtype=U32_S32, atype=U32_S32, **INTO)
row("vmad.dtype.atype.btype{.sat}{.scale}     d:dtype, " + AB + ", c:dtype", scale="shr7 shr15", **TYPES, **SEL)
row("vmad.dtype.atype.btype.po{.sat}{.scale}  d:dtype, " + AB + ", c:dtype", scale="shr7 shr15", **TYPES, **SEL)
row("vset.atype.btype.icmp         d:u32, " + AB,                   atype=U32_S32, btype=U32_S32, **SEL)
row("vset.atype.btype.icmp.merge   d:u32, " + AB + ", c:u32",       merge="add min max", atype=U32_S32, btype=U32_S32, **SEL)
row("vset.atype.btype.icmp         d:u32.dsel, " + AB + ", c:u32",  atype=U32_S32, btype=U32_S32, **INTO)

# ---------------------------------------------------------------- 9.7.18: SIMD on two halves, on four bytes; the selectors pick
# from a:b for each lane of the result, the mask says which lanes are written (the rest is c's)
HALVES = common(mask="h0 h1 h10", pick=[f"h{x}{y}" for x in "0123" for y in "0123"])
BYTES = common(
    mask="b0 b1 b10 b2 b20 b21 b210 b3 b30 b31 b310 b32 b320 b321 b3210",
    # .b1024 reads as the type: ptxas refuses it.
    pick=[f"b{x}{y}{z}{w}" for x in "01234567" for y in "01234567" for z in "01234567" for w in "01234567" if x + y + z + w != "1024"],
)
for n, lanes in ((2, HALVES), (4, BYTES)):
    operands = "%a:atype{.pick}, %b:btype{.pick}, %c"
    for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
        row(f"{op}{n}.dtype.atype.btype{{.sat}}  d:dtype{{.mask}}, {operands}:dtype", **TYPES, **lanes)
        row(f"{op}{n}.dtype.atype.btype.add      d:dtype{{.mask}}, {operands}:dtype", **TYPES, **lanes)
    row(f"vset{n}.atype.btype.icmp               d:u32{{.mask}}, {operands}:u32", atype=U32_S32, btype=U32_S32, **lanes)
    row(f"vset{n}.atype.btype.icmp.add           d:u32{{.mask}}, {operands}:u32", atype=U32_S32, btype=U32_S32, **lanes)
