"""Integer and floating-point arithmetic (PTX ISA 9.0, sections 9.7.1 to 9.7.3)."""

from ptx.isa.notation import row

INTS = "u16 u32 u64 s16 s32 s64"

# fmt: off
row("add.type  d, a, b", type=INTS)
row("sub.type  d, a, b", type=INTS)
row("mul.part.type  d, a, b", part="lo hi", type=INTS)
row("mul.wide.type  d:wide, a, b", type="u16 u32 s16 s32")
row("mad.part.type  d, a, b, c", part="lo hi", type=INTS)
row("mad.wide.type  d:wide, a, b, c:wide", type="u16 u32 s16 s32")
row("fma.rnd{.ftz}{.sat}.f32  d, a, b, c")
row("mul{.rnd}{.ftz}{.sat}.f32  d, a, b")
row("add{.rnd}{.ftz}{.sat}.f32  d, a, b")
