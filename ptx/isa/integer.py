"""Integer arithmetic (PTX ISA 9.0, sections 9.7.1 and 9.7.2)."""

from ptx.isa.notation import row

INT = "u16 u32 u64 s16 s32 s64"
SIGNED = "s16 s32 s64"
CARRY = "u32 s32 u64 s64"
X2 = "u16x2 s16x2"

# fmt: off

# ---------------------------------------------------------------- 9.7.1.1 to 9.7.1.6: add sub mul mad mul24 mad24
row("add.type                  d, a, b",            type=INT)
row("add.sat.s32               d, a, b")
row("add.type                  d, a, b",            type=X2, sm=90, ptx="8.0")
row("sub.type                  d, a, b",            type=INT)
row("sub.sat.s32               d, a, b")
row("mul.half.type             d, a, b",            half="lo hi", type=INT)
row("mul.wide.type             d:wide, a, b",       type="u16 u32 s16 s32")
row("mad.half.type             d, a, b, c",         half="lo hi", type=INT)
row("mad.hi.sat.s32            d, a, b, c")
row("mad.wide.type             d:wide, a, b, c:wide", type="u16 u32 s16 s32")
row("mul24.half.type           d, a, b",            half="lo hi", type="u32 s32")
row("mad24.half.type           d, a, b, c",         half="lo hi", type="u32 s32")
row("mad24.hi.sat.s32          d, a, b, c")

# ---------------------------------------------------------------- 9.7.1.7 to 9.7.1.13: sad div rem abs neg min max
row("sad.type                  d, a, b, c",         type=INT)
row("div.type                  d, a, b",            type=INT)
row("rem.type                  d, a, b",            type=INT)
row("abs.type                  d, a",               type=SIGNED)
row("neg.type                  d, a",               type=SIGNED)
for op in ("min", "max"):
    row(f"{op}.type            d, a, b",            type=INT)
    row(f"{op}.type            d, a, b",            type=X2, sm=90, ptx="8.0")
    row(f"{op}.relu.type       d, a, b",            type="s32 s16x2", sm=90, ptx="8.0")

# ---------------------------------------------------------------- 9.7.1.14 to 9.7.1.20: bits
row("popc.type                 d:u32, a",           type="b32 b64")
row("clz.type                  d:u32, a",           type="b32 b64")
row("bfind{.shiftamt}.type     d:u32, a",           type="u32 s32 u64 s64")
row("fns.b32                   d, mask, base, offset:s32")
row("brev.type                 d, a",               type="b32 b64")
row("bfe.type                  d, a, pos:u32, len:u32", type="u32 s32 u64 s64", pos=range(256), len=range(256))
row("bfi.type                  d, a, b, pos:u32, len:u32", type="b32 b64", pos=range(256), len=range(256))
row("szext.mode.type           d, a, b:u32",        mode="clamp wrap", type="u32 s32", sm=70, ptx="7.6")
row("bmsk.mode.b32             d:u32, a:u32, b:u32", mode="clamp wrap", sm=70, ptx="7.6")

# ---------------------------------------------------------------- 9.7.1.23, 9.7.1.24: dot products of bytes, d and c signed where a or b is
for sign, pair in (("u32", "u32.u32"), ("s32", "u32.s32 s32.u32 s32.s32")):
    row(f"dp4a.pair            d:{sign}, a:u32, b:u32, c:{sign}", pair=pair, sm=61)
    row(f"dp2a.half.pair       d:{sign}, a:u32, b:u32, c:{sign}", half="lo hi", pair=pair, sm=61)

# ---------------------------------------------------------------- 9.7.2: extended precision, through the carry flag
row("add.cc.type               d, a, b",            type=CARRY)
row("addc{.cc}.type            d, a, b",            type=CARRY)
row("sub.cc.type               d, a, b",            type=CARRY)
row("subc{.cc}.type            d, a, b",            type=CARRY)
row("mad.half.cc.type          d, a, b, c",         half="lo hi", type=CARRY)
row("madc.half{.cc}.type       d, a, b, c",         half="lo hi", type=CARRY)
