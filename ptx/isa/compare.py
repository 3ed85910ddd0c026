"""Comparison, selection, logic and shifts (PTX ISA 9.0, sections 9.7.5 to 9.7.8)."""

from ptx.isa.notation import row

# fmt: off
row("setp.icmp.type  p{|q}, a, b", type="s16 s32 s64")
row("setp.ucmp.type  p{|q}, a, b", type="u16 u32 u64")
row("shl.type  d, a, b:u32", type="b16 b32 b64")
row("shr.type  d, a, b:u32", type="b16 b32 b64 u16 u32 u64 s16 s32 s64")
row("op.type  d, a, b".replace("op", "and"), type="b16 b32 b64")
row("and.pred  d, {!}a, {!}b")
