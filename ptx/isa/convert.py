"""Conversion (PTX ISA 9.0, section 9.7.9.22)."""

from ptx.isa.notation import row

# fmt: off
row("cvta.to.space.u64  d, a", space="global shared local const param")
