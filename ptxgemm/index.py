"""Index arithmetic that the pieces share."""

from __future__ import annotations

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm.shape import WORD


def divide(number: Reg, power: int) -> tuple[Reg, Reg]:
    """Quotient and remainder of an unsigned number by a power of two."""
    return number >> (power.bit_length() - 1), number & (power - 1)


def element(k: Kernel, base: Reg, row: Reg, pitch: Reg, column: Reg) -> Reg:
    """The address of [row, column] in 64 bits, where rows are `pitch` elements apart."""
    index = k.mad.wide.u32(row, pitch, k.cvt.u64.u32(column))
    at: Reg = base + (index << (WORD.bit_length() - 1))
    return at
