"""Names, and what a kernel's parameter is declared as."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptx.errors import Place, PtxError
from ptx.ir import Parameter
from ptx.types import FUNDAMENTAL, bits, register_type

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+")


def legal_name(name: str, what: str, place: Place | None = None) -> str:
    """`name`, if it is an identifier of PTX (section 4.4), else an error."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PtxError(
            f"{name!r} is no legal {what} name; an identifier is a letter and then letters, "
            "digits, _ and $, or one of _ $ % and at least one of these (ASCII alone)",
            place,
        )
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
