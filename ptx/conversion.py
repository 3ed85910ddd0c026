"""Python values as operands: registers, numbers, tuples, addresses, names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ptx.ir import (
    Addr,
    Arguments,
    Imm,
    Label,
    Not,
    Operand,
    Pair,
    Reg,
    Selected,
    Sink,
    Special,
    Symbol,
    Vector,
)
from ptx.isa import Slot, Variant
from ptx.literals import literal
from ptx.operands import fits
from ptx.types import accepts

_COORDINATE = Slot("c", "reg", "s32")
_AS_THEY_ARE = (
    Reg, Not, Special, Imm, Symbol, Vector, Pair, Selected, Sink, Label, Arguments, Addr,
)  # fmt: skip


def fit_all(
    slots: Sequence[Slot], values: Sequence[Any], variant: Variant, owner: object
) -> list[Operand] | None:
    """The operands that `values` become in `slots`, or None where one does not fit."""
    taken: list[Operand] = []
    wide = variant.wide
    for slot, value in zip(slots, values, strict=True):
        if (
            type(value) is Reg
            and slot.kind == "reg"
            and slot.count is None
            and value.owner is owner
            and not slot.selectors
            and not slot.exact
            and slot.second != "must"
        ):
            if not accepts(slot.type, value.type, wide):
                return None
            taken.append(value)
            continue
        operand, reason = judge(value, slot, variant, owner)
        if operand is None or reason:
            return None
        taken.append(operand)
    return taken


def judge(value: Any, slot: Slot, variant: Variant, owner: object) -> tuple[Operand | None, str]:
    """A Python value as an operand for `slot`, or the reason why it is none."""
    for register in registers_in(value):
        if register.owner is not owner:
            whose = getattr(register.owner, "name", "parsed text")
            ours = getattr(owner, "name", "this kernel")
            other = f"another kernel named {whose}" if whose == ours else whose
            return None, f"{register} is a register of {other}, not of {ours}"
    operand = _convert(value, slot)
    if isinstance(operand, str):
        return None, operand
    return operand, fits(slot, operand, variant)


def _convert(value: Any, slot: Slot) -> Operand | str:
    if slot.kind == "addr":
        return _convert_address(value)
    if isinstance(value, Addr) and slot.kind == "reg":
        return (
            f"{value} is an address, which only a memory operand takes; "
            "emit the sum with k.add first"
        )
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, str) and slot.kind == "label":
        return Label(value)
    if isinstance(value, str) and slot.kind in ("func", "symbol"):
        return Symbol(value)
    if isinstance(value, (tuple, list)):
        return _convert_sequence(value, slot)
    if value is None:
        return "expected an operand, got None; an instruction without destination returns nothing"
    return literal(value, slot.type)


def _convert_address(value: Any) -> Operand | str:
    if isinstance(value, Reg):
        return Addr(value)
    if isinstance(value, Symbol):
        return Addr(Symbol(value.name, 0, value.space), value.offset)
    if isinstance(value, Addr):
        return value
    if isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[1], (tuple, list)):
        base = _convert_address(value[0])
        if not isinstance(base, Addr):
            return "expected (address, (coordinate, ...))"
        coordinates = _convert_all(value[1], _COORDINATE)
        if isinstance(coordinates, str):
            return coordinates
        return Addr(base.base, base.offset, coordinates)
    return (
        "expected an address (a pointer register or a variable, with or without an offset in "
        f"bytes), got {show(value)}"
    )


def _convert_sequence(value: Sequence[Any], slot: Slot) -> Operand | str:
    items = _convert_all(value, slot)
    if isinstance(items, str):
        return items
    if slot.kind == "args":
        return Arguments(items)
    if slot.second and len(items) == 2:
        return Pair(*items)
    return Vector(items)


def _convert_all(values: Sequence[Any], slot: Slot) -> tuple[Operand, ...] | str:
    items: list[Operand] = []
    for value in values:
        operand = _convert(value, slot)
        if isinstance(operand, str):
            return operand
        items.append(operand)
    return tuple(items)


def destinations(slots: Sequence[Slot], out: Any) -> tuple[Any, ...] | None:
    """`out` as values for the leading destination slots, or None where it cannot be that."""
    leading = 0
    for slot in slots:
        if slot.access != "w" and slot.kind != "sink":
            break
        leading += 1
    if leading == 0:
        return None
    if leading == 1:
        return (out,)
    return tuple(out) if isinstance(out, (tuple, list)) and len(out) == leading else None


def registers_in(value: Any) -> Iterator[Reg]:
    """Every register in a Python value that stands for an operand."""
    if isinstance(value, Reg):
        yield value
    elif isinstance(value, Not):
        yield value.reg
    elif isinstance(value, Addr):
        yield from registers_in(value.base)
        yield from registers_in(value.coordinates)
    elif isinstance(value, Selected):
        yield from registers_in(value.operand)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from registers_in(item)


def show(value: Any) -> str:
    """A Python value as an error quotes it."""
    if isinstance(value, Reg):
        return f"{value} (.{value.type})"
    if isinstance(value, (tuple, list)):
        return "{" + ", ".join(map(show, value)) + "}"
    return str(value) if isinstance(value, _AS_THEY_ARE) else repr(value)
