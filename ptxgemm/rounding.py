"""From sums to what C holds: types between registers, rounded to nearest even.

What is written as 8 bits saturates; the other types overflow to infinity, and a NaN stays one, but
for integers, where it becomes 0 (PTX ISA 9.0, section 9.7.9.22).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm import scalars

Registers = Sequence[Reg]


def floats(k: Kernel, sum: str, values: Registers) -> list[Reg]:
    """Sums of a type as float32, one in each register; of ``f16``, two come in each. Those of
    ``s32``, in registers of type b32, are converted in place: the next tile's wgmmas take the same
    registers, so that others would be needed beside them.
    """
    if sum == "s32":
        for value in values:
            k.cvt.rn.f32.s32(value, out=value)
    if sum == "f16":
        return [k.cvt.f32.f16(half) for pair in values for half in _halves(k, pair)]
    return list(values)


def stored(k: Kernel, out: str, values: Registers, *, integers: bool) -> list[Reg]:
    """Values in float32, or in s32 where they are `integers`, as registers that hold what is
    written: one element of 4 bytes, or two neighbours of less, the first one lower.
    """
    if out in ("f32", "s32"):
        return list(values)
    pairs = list(zip(values[::2], values[1::2], strict=True))
    if out == "s8":
        whole = values if integers else [k.cvt.rni.s32.f32(value) for value in values]
        pairs = list(zip(whole[::2], whole[1::2], strict=True))
        return [k.cvt.pack.sat.s8.s32.b32(second, first, 0) for first, second in pairs]
    saturating = "satfinite." if out in ("e4m3", "e5m2") else ""
    return [k.op(f"cvt.rn.{saturating}{out}x2.f32", second, first) for first, second in pairs]


def parts(k: Kernel, out: str, held: Reg) -> tuple[Reg, ...]:
    """The elements in one register of :func:`stored`, each in a register that a store of its width
    takes.
    """
    if out in ("f32", "s32"):
        return (held,)
    if out in ("bf16", "f16"):
        return _halves(k, held)
    if out == "s8":
        return held, held >> 8
    return held, k.shr.u16(held, 8)


def _halves(k: Kernel, pair: Reg) -> tuple[Reg, Reg]:
    low, high = k.reg("b16", 2)
    k.mov.b32(pair, out=(low, high))
    return low, high


def load(k: Kernel, out: str, at: Addr, inside: Reg) -> Reg:
    """An element of C as float32, of s32 as it is, where it is inside; else 0."""
    held = scalars.zero(k, out)
    with k.when(inside):
        scalars.load(k, out, at, held)
    value: Reg = scalars.widened(k, held, out)
    return k.cvt.rn.f32.s32(value) if out == "s8" else value
