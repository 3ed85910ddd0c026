"""Logic, shifts and byte permutation (PTX ISA 9.0, section 9.7.8 and 9.7.9.7)."""

from ptx.isa.notation import row

BITS = "b16 b32 b64"

# fmt: off

# ---------------------------------------------------------------- 9.7.8.1 to 9.7.8.6: and or xor not cnot lop3
for op in ("and", "or", "xor"):
    row(f"{op}.pred            d, {{!}}a, {{!}}b")
    row(f"{op}.type            d, a, b",            type=BITS)
row("not.pred                  d, {!}a")
row("not.type                  d, a",               type=BITS)
row("cnot.type                 d, a",               type=BITS)
row("lop3.b32                  d, a, b, c, lut")
row("lop3.bool.b32             d|p, a, b, c, lut, {!}q2:pred", bool="or and", ptx="8.2", sm=70)

# ---------------------------------------------------------------- 9.7.8.7 to 9.7.8.9: shf shl shr
row("shf.side.mode.b32         d, a, b, c:u32",     side="l r", mode="clamp wrap")
row("shl.type                  d, a, b:u32",        type=BITS)
row("shr.type                  d, a, b:u32",        type=f"{BITS} u16 u32 u64 s16 s32 s64")

# ---------------------------------------------------------------- 9.7.9.7: prmt
row("prmt.b32{.mode}           d, a, b, c",         mode="f4e b4e rc8 ecl ecr rc16")
