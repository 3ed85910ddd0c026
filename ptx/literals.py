"""Python numbers as PTX literals, exactly."""

from __future__ import annotations

import math
import operator
import struct
from typing import Any

from ptx.ir import Imm
from ptx.types import kind
from ptx.values import integer


def literal(value: Any, type: str) -> Imm | str:
    """`value` as a literal of `type`, or the reason why it is none.

    Floating point is written by its bits (``0f3F800000``, ``0d...``), rounded once to nearest
    even; an integer may stand for a floating-point value that it equals. Ranges are judged with
    the operand (:mod:`ptx.operands`).
    """
    if isinstance(value, bool):
        return f"expected a number, got {value}; a Python bool is no operand"
    if not type or type == "pred" or kind(type) in "bi":
        return _integer(value, type)
    return _floating(value, type)


def _integer(value: Any, type: str) -> Imm | str:
    try:
        return Imm(str(operator.index(value)))
    except TypeError:
        pass
    number = _real(value)
    if number is None:
        return f"expected a register or a number, got {value!r}"
    return Imm(f64_text(number)) if type == "b64" else f"expected an integer, got {value!r}"


def _floating(value: Any, type: str) -> Imm | str:
    whole = integer(value)
    number = _real(value)
    if number is None and whole is None:
        return f"expected a register or a number, got {value!r}"
    if number is None or (whole is not None and _rounded(number, type) != whole):
        return f"{value} is no {type} exactly"
    if type == "f64":
        return Imm(f64_text(number))
    if type == "f32":
        return Imm(f32_text(number))
    return Imm(repr(number))


def _real(value: Any) -> float | None:
    """`value` as a double; None where it is no real number, or an integer beyond all doubles."""
    kind, shape = getattr(getattr(value, "dtype", None), "kind", ""), getattr(value, "shape", None)
    if not hasattr(value, "__float__") or kind in ("b", "c") or shape:
        return None
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return None


def _rounded(number: float, type: str) -> float:
    """The value that is written for `number`."""
    if type != "f32":
        return number
    found: float = struct.unpack(">f", bytes.fromhex(f32_text(number)[2:]))[0]
    return found


def f32_text(number: float) -> str:
    """``0f`` and 8 digits; what lies beyond the largest f32 becomes an infinity."""
    try:
        packed = struct.pack(">f", number)
    except OverflowError:
        packed = struct.pack(">f", math.copysign(math.inf, number))
    return "0f" + packed.hex().upper()


def f64_text(number: float) -> str:
    """``0d`` and 16 digits."""
    return "0d" + struct.pack(">d", number).hex().upper()
