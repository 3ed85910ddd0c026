"""Data movement (PTX ISA 9.0, section 9.7.9)."""

from ptx.isa.notation import row

ANY = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64"

# fmt: off
row("mov.type  d, a", type="b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64")
row("mov.pred  d, {!}a")
row("mov.type  d, a:symbol", type="u32 u64 s32 s64 b32 b64")
row("ld.space{.vec}.type  d*vec, [a]", space="param global shared", vec="v2 v4", type=ANY)
row("st.space{.vec}.type  [a], b*vec", space="global shared", vec="v2 v4", type=ANY)
