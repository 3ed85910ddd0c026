"""What Python's operators on registers emit: one instruction, with the type's own signedness."""

from __future__ import annotations

from typing import Any

from ptx.conversion import show
from ptx.errors import Place, PtxError
from ptx.ir import Not, Reg
from ptx.types import bits, is_signed, kind
from ptx.values import integer

_SPELLED = {
    "+": "add", "-": "sub", "*": "mul.lo", "<<": "shl", ">>": "shr",
    "&": "and", "|": "or", "^": "xor", "~": "not",
}  # fmt: skip


def operation(operator: str, a: Any, b: Any, place: Place) -> str:
    """The opcode of an operator on `a` and `b`: registers, or one of them an integer.

    The type is the left register's; an untyped one counts as signed in ``+ - *`` and as unsigned
    in ``>>``. Operators are for integers and predicates: floating point is spelled out.
    """
    registers = [v.reg if isinstance(v, Not) else v for v in (a, b) if isinstance(v, (Reg, Not))]
    first = registers[0]
    for value in (a, b):
        allowed = value is None or isinstance(value, (Reg, Not, int))
        if not allowed or isinstance(value, bool):
            raise PtxError(
                f"{show(a)} {operator} {show(b)}: an operator takes registers and integers", place
            )
    spelled = _SPELLED[operator]
    if any(r.type == "pred" for r in registers):
        if operator not in "&|^" or any(r.type != "pred" for r in registers) or len(registers) < 2:
            raise PtxError(f"predicates are combined by &, | and ^, not by {operator}", place)
        return f"{spelled}.pred"
    if any(kind(r.type) == "f" for r in registers):
        raise PtxError(
            f"{operator} is for integers; floating point is spelled out, as k.add.rn.f32(a, b), "
            "because rounding and flushing are choices",
            place,
        )
    width = bits(first.type)
    _refuse_mixed_widths(operator, registers, place)
    if operator in "&|^~" or operator == "<<":
        return f"{spelled}.b{width}"
    return f"{spelled}.{first.type if operator == '>>' else counted(first.type)}"


def _refuse_mixed_widths(operator: str, registers: list[Reg], place: Place) -> None:
    if len(registers) < 2 or operator in ("<<", ">>"):
        return
    narrow, wide = sorted(registers, key=lambda r: bits(r.type))
    if bits(narrow.type) != bits(wide.type):
        sign = counted(narrow.type)[0]
        raise PtxError(
            f"{show(registers[0])} {operator} {show(registers[1])}: widths differ; convert first, "
            f"as k.cvt.{sign}{bits(wide.type)}.{counted(narrow.type)}({narrow})",
            place,
        )


def counted(type: str) -> str:
    """The type whose arithmetic and order a register gets: untyped counts as signed."""
    return f"s{type[1:]}" if type[0] == "b" else type


def refuse_endless(start: Any, stop: Any, step: int, type: str, place: Place) -> None:
    """An error for a loop that never runs, or whose counter would wrap before it ends."""
    if kind(type) != "i":
        return
    first, last = integer(start), integer(stop)
    reached = [value for value in (first, last) if value is not None]
    if first is not None and last is not None:
        if (last - first) * step <= 0:
            raise PtxError(f"the loop from {first} to {last} by {step} never runs", place)
        reached.append(last + (first - last) % step)
    sign = bits(type) - 1 if is_signed(type) else bits(type)
    low, high = -(1 << sign) if is_signed(type) else 0, (1 << sign) - 1
    for value in reached:
        if not low <= value <= high:
            raise PtxError(
                f"the counter of the loop gets to {value}, and .{type} holds {low} to {high}; "
                "type= gives it another type",
                place,
            )
