"""Index arithmetic that the pieces share."""

from __future__ import annotations

from typing import Any

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm.shape import WORD


def divide(number: Reg, power: int) -> tuple[Reg, Reg]:
    """Quotient and remainder of an unsigned number by a power of two."""
    return number >> (power.bit_length() - 1), number & (power - 1)


def wide(k: Kernel, number: Any) -> Any:
    """An unsigned 32-bit number in 64 bits."""
    return k.cvt.s64.u32(number)


def element(k: Kernel, base: Reg, terms: list[tuple[Any, Any]]) -> Reg:
    """The address of an element, in 64 bits: `base` and the sum of index times stride.

    Indices are u32, strides s64 in elements, or None where it is 1.
    """
    offset: Any = None
    for index, stride in terms:
        number = wide(k, index)
        if offset is None:
            offset = number if stride is None else k.mul.lo.s64(number, stride)
        else:
            offset = offset + number if stride is None else k.mad.lo.s64(number, stride, offset)
    at: Reg = base + (offset << (WORD.bit_length() - 1))
    return at
