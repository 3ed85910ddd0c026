"""Single elements of any type: loaded, widened to the sums' type, scaled and converted back."""

from __future__ import annotations

from typing import Any

from ptx.builder import Kernel
from ptx.ir import Reg
from ptx.layouts import ELEMENT_BITS

_HELD = {
    "f16": "b16", "bf16": "b16", "s8": "s32", "u8": "u32", "e4m3": "b16", "e5m2": "b16",
}  # fmt: skip
"""Registers of elements that have none of their own type."""
_LOADED = {"f16": "b16", "bf16": "b16", "e4m3": "u8", "e5m2": "u8"}


def bytes_of(element: str) -> int:
    return ELEMENT_BITS[element] // 8


def zero(k: Kernel, element: str) -> Reg:
    """A new register for an element, 0."""
    type = _HELD.get(element, element)
    made: Reg = k.op(f"mov.{type}", 0.0 if type in ("f32", "f64") else 0)
    return made


def clear(k: Kernel, register: Reg) -> None:
    k.op(f"mov.{register.type}", 0.0 if register.type in ("f32", "f64") else 0, out=register)


def load(k: Kernel, element: str, at: Any, out: Reg) -> None:
    """One element of global memory, into a register of :func:`zero`."""
    k.op(f"ld.global.{_LOADED.get(element, element)}", at, out=out)


def widened(k: Kernel, value: Any, element: str) -> Any:
    """An element as a term of sums, exactly."""
    if element == "bf16":
        low = k.mov.b16(0)
        return k.mov.b32((low, value), out=k.reg("f32"))
    if element == "f16":
        return k.cvt.f32.f16(value)
    if element in ("e4m3", "e5m2"):
        low, high = k.reg("b16", 2)
        k.mov.b32(k.op(f"cvt.rn.f16x2.{element}x2", value), out=(low, high))
        return k.cvt.f32.f16(low)
    return value


def scaled(k: Kernel, sum: str, alpha: Any, value: Any) -> Reg:
    """alpha times a sum: of integers modulo 2**32."""
    op = "mul.lo.s32" if sum == "s32" else f"mul.rn.{sum}"
    made: Reg = k.op(op, value, alpha)
    return made


def added(k: Kernel, sum: str, beta: Any, old: Any, value: Reg) -> None:
    """`value` becomes beta times `old` more."""
    op = "mad.lo.s32" if sum == "s32" else f"fma.rn.{sum}"
    k.op(op, beta, old, value, out=value)


def narrowed(k: Kernel, value: Any, sum: str, out: str) -> Any:
    """A sum as it is written: converted once, to nearest even."""
    return value if out == sum else k.op(f"cvt.rn.{out}.{sum}", value)


def store(k: Kernel, out: str, at: Any, value: Any) -> None:
    k.op(f"st.global.b{ELEMENT_BITS[out]}", at, value)
