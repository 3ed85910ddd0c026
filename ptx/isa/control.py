"""Control flow (PTX ISA 9.0, section 9.7.12)."""

from ptx.isa.notation import row

# fmt: off
row("bra{.uni}  target:label")
row("ret{.uni}")
row("exit")
row("bar.sync  a:u32{, b:u32}", a=range(16), b=range(32, 1025, 32))
