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
