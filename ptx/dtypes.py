"""The dtypes of arrays, by numpy's and ml_dtypes' names, beside PTX's types."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ptx.errors import ArgumentTypeError
from ptx.types import bits, kind

if TYPE_CHECKING:
    import numpy as np

PTX = {
    "bool": "u8", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e8m0fnu": "ue8m0",
    "complex64": "f32", "complex128": "f64",
}  # fmt: skip
"""The type of an element of each dtype; of a complex one, of its parts."""


def refuse_objects(dtype: np.dtype[Any]) -> None:
    """Raises :class:`ptx.errors.ArgumentTypeError` for a dtype without bytes of its own."""
    if dtype.hasobject:
        raise ArgumentTypeError(
            f"an array of {dtype} holds Python objects, which have no bytes on a device"
        )


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """A dtype of numpy or, by its name, of ml_dtypes.

    PTX's names are refused; ``"u8"`` and ``"f8"`` are numpy's, of 8 bytes. Raises
    :class:`ptx.errors.ArgumentTypeError`, which says what numpy calls PTX's type.
    """
    import numpy as np

    meant = _meant(dtype)
    try:
        made: np.dtype[Any] = np.dtype(dtype)
        if not (meant and made.kind == "f"):  # "f16" has 16 bytes, where numpy has such floats
            return made
    except TypeError:
        import ml_dtypes

        if isinstance(dtype, str) and hasattr(ml_dtypes, dtype):
            made = np.dtype(getattr(ml_dtypes, dtype))
            return made
    if meant:
        raise ArgumentTypeError(f"{dtype!r} is PTX's name of a type; numpy's is {meant!r}")
    raise ArgumentTypeError(f"{dtype!r} is no dtype of numpy or ml_dtypes")


_MEANT = {"tf32": "float32"} | {
    PTX[name]: name for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")
}


def _meant(name: Any) -> str:
    """The dtype of a type of PTX; ``""`` for what names none."""
    if not isinstance(name, str):
        return ""
    found = re.fullmatch(r"\.?([busf])(8|16|32|64)", name)
    if found is None or found.groups() == ("f", "8"):
        return _MEANT.get(name, "")
    return {"b": "uint", "u": "uint", "s": "int", "f": "float"}[found[1]] + found[2]


# ---------------------------------------------------------------- arrays behind pointers


def points_to(element: str, dtype: Any) -> bool:
    """Whether a pointer to elements of a PTX type takes an array of `dtype`, of whatever library.

    Types are compared as PTX compares those of registers (PTX ISA 9.0, section 9.4): an untyped
    element is any of them, signed and unsigned integers of one width are alike, a float is only
    itself. Of a packed type the single element counts. A dtype that is no number's, as a structure,
    is taken for bytes.
    """
    name = str(getattr(dtype, "name", dtype)).rpartition(".")[2]  # torch's reads "torch.float32"
    if re.match(r"b?float|u?int|bool|complex", name) is None:
        return True
    wanted, held = _single(element), PTX.get(name)
    if wanted == held or kind(wanted) == "b":
        return True
    integers = held is not None and kind(wanted) == "i" == kind(held)
    return integers and bits(wanted) == bits(held)


def dtypes_for(element: str) -> str:
    """The dtypes that a pointer to elements of a PTX type takes, to be told."""
    return " or ".join(name for name in PTX if points_to(element, name))


@cache
def _single(element: str) -> str:
    """The type of one element: ``"f16"`` of ``"f16x2"``, untyped where it is less than a byte."""
    plain = re.sub(r"x\d$", "", element)
    if re.match(r"e\dm\d", plain) and plain not in PTX.values():
        return "b8"
    return "f32" if plain == "tf32" else plain
