"""Names, and a kernel's parameters: as declared, and as brought into registers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptx.emission import Emitter, outside, place_of
from ptx.errors import Place, PtxError
from ptx.ir import Addr, Parameter, Symbol
from ptx.names import why_no_name
from ptx.types import FUNDAMENTAL, bits, register_type
from ptx.values import integer

if TYPE_CHECKING:
    from types import FrameType


def legal_name(name: str, what: str, place: Place | None = None) -> str:
    """`name`, if PTX allows it as the name of a `what`, else an error.

    What begins with ``%`` is left to registers, lest a name be that of one.
    """
    if not isinstance(name, str):
        raise PtxError(f"{what}: a name is a str, got {name!r}", place)
    if why := why_no_name(name):
        raise PtxError(f"{what}: {why}", place)
    if name[0] == "%":
        raise PtxError(f"{what}: {name} would be taken for a register; begin with a letter", place)
    return name


def whole(value: Any, what: str, place: Place | None = None, least: int = 1) -> int:
    """`value` as a number of at least `least`, numpy's integers included, else an error."""
    number = integer(value)
    if number is None or number < least:
        raise PtxError(f"{what} is a whole number of at least {least}, got {value!r}", place)
    return number


def alignment(value: Any, what: str, place: Place | None = None) -> int:
    """`value` as an alignment in bytes, else an error."""
    number = integer(value)
    if number is None or number < 1 or number & (number - 1):
        raise PtxError(f"{what}: an alignment is a power of two, not {value!r}", place)
    return number


@dataclass(frozen=True, slots=True)
class Spec:
    """A parameter as declared, and the space it points into (None: it is no pointer)."""

    parameter: Parameter
    space: str | None = None


def parse(name: str, text: str, place: Place | None = None) -> Spec:
    """``"u32"``, ``"global.f32"``, ``"global.f32@16"``, ``"f32[16]"`` or ``"tensormap"``."""
    legal_name(name, "parameter", place)
    if not isinstance(text, str):
        raise PtxError(
            f"parameter {name}: a declaration is a str such as 'u32', got {text!r}", place
        )
    if text == "tensormap":
        return Spec(Parameter("b8", name, 128, 64, place=place))
    match = re.fullmatch(
        r"(?:(global|shared|local|generic)\.)?(\w+)(?:@(\d+)|\[([1-9]\d*)\])?", text
    )
    type = match[2] if match else ""
    if match is None or register_type(type) not in FUNDAMENTAL or type == "pred":
        raise PtxError(
            f"parameter {name}: {text!r} is no declaration; expected a type such as u32, a pointer "
            "such as global.f32 or global.f32@16, an array such as f32[16], or tensormap",
            place,
        )
    space, align, count = match[1], match[3], match[4]
    if space is None:
        if align:
            raise PtxError(f"parameter {name}: only a pointer declares an alignment", place)
        # ptxas allocates no .f16x2 in .param.
        held = "b32" if type == "f16x2" else register_type(type)
        return Spec(Parameter(held, name, int(count) if count else None, place=place))
    if count:
        raise PtxError(f"parameter {name}: a pointer is no array", place)
    natural = max(1, bits(type) // 8)
    pointer_align = alignment(int(align), f"parameter {name}", place) if align else natural
    pointer = "" if space == "generic" else space
    parameter = Parameter(
        "u64", name, pointer=pointer, pointer_align=pointer_align, place=place, element=type
    )
    return Spec(parameter, space)


def load(emitter: Emitter, spec: Spec, frame: FrameType) -> Any:
    """Emit what brings a parameter into a register, and return that: ``ld.param``, and for a
    pointer ``cvta.to`` its space; for an array ``mov`` of its address and ``cvta.param``.
    """
    emitter.refuse_under_guard("ld.param", place_of(outside(frame)))
    symbol = Symbol(spec.parameter.name, 0, "param")
    if spec.parameter.count is not None:
        address = emitter.emit("mov.b64", (symbol,), None, frame)
        return emitter.emit("cvta.param.u64", (address,), None, frame)
    type = spec.parameter.type
    if type == "f16":
        half = emitter.register(type)
        return emitter.emit("ld.param.b16", (Addr(symbol),), half, frame)
    if spec.space is None:
        return emitter.emit(f"ld.param.{type}", (Addr(symbol),), None, frame)
    pointer = emitter.register("b64", "generic")
    emitter.emit("ld.param.b64", (Addr(symbol),), pointer, frame)
    if spec.space == "generic":
        return pointer
    converted = emitter.register("b64", spec.space)
    emitter.emit(f"cvta.to.{spec.space}.u64", (pointer,), converted, frame)
    return converted
