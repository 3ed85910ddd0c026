"""Names, and what a kernel's parameter is declared as."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptx.errors import Place, PtxError
from ptx.ir import Parameter
from ptx.names import why_no_name
from ptx.types import FUNDAMENTAL, bits, register_type


def legal_name(name: str, what: str, place: Place | None = None) -> str:
    """`name`, if PTX allows it as the name of a `what`, else an error."""
    if why := why_no_name(name):
        raise PtxError(f"{what}: {why}", place)
    return name


@dataclass(frozen=True, slots=True)
class Spec:
    """A parameter as declared, and the space it points into (None: it is no pointer)."""

    parameter: Parameter
    space: str | None = None


def parse(name: str, text: str, place: Place | None = None) -> Spec:
    """``"u32"``, ``"global.f32"``, ``"global.f32@16"``, ``"f32[16]"`` or ``"tensormap"``."""
    legal_name(name, "parameter", place)
    if text == "tensormap":
        return Spec(Parameter("b8", name, 128, 64, place=place))
    match = re.fullmatch(
        r"(?:(global|shared|local|const|generic)\.)?(\w+)(?:@(\d+)|\[(\d+)\])?", text
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
        return Spec(
            Parameter(register_type(type), name, int(count) if count else None, place=place)
        )
    if count:
        raise PtxError(f"parameter {name}: a pointer is no array", place)
    pointer_align = int(align) if align else max(1, bits(type) // 8)
    if pointer_align & (pointer_align - 1):
        raise PtxError(f"parameter {name}: an alignment is a power of two, not {align}", place)
    pointer = "" if space == "generic" else space
    return Spec(
        Parameter("u64", name, pointer=pointer, pointer_align=pointer_align, place=place), space
    )
