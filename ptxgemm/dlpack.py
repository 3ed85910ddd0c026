"""Arrays in a GPU's memory through DLPack: where a capsule says that one lies.

Source: DLPack 1.1, ``dlpack.h``, and the Python specification of its array API.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
"""``DLDeviceType``: where an array lies."""
ON_HOST, ON_GPU = (CPU, CUDA_HOST), (CUDA, CUDA_MANAGED)
KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
"""``DLDataTypeCode``, as far as it has names of numpy's kind."""
NARROW = {10: "float8_e4m3fn", 12: "float8_e5m2"}
"""Those whose names tell their bits."""
READ_ONLY = 1
"""A flag of ``DLManagedTensorVersioned``."""


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


@dataclass(frozen=True)
class Tensor:
    """What a capsule tells; it holds as long as the capsule lives, which is never consumed."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    """In elements; None of rows without gaps."""
    dtype: str
    ordinal: int
    """The number of the GPU."""
    writable: bool


def read(capsule: Any) -> Tensor:
    """Raises TypeError for what is no DLPack capsule."""
    for name, kind in ((b"dltensor_versioned", _Versioned), (b"dltensor", _Tensor)):
        if _is_valid(capsule, name):
            found = kind.from_address(_pointer(capsule, name))
            flags = found.flags if isinstance(found, _Versioned) else 0
            return _read(found.tensor if isinstance(found, _Versioned) else found, flags)
    raise TypeError("__dlpack__() gave no DLPack capsule, or one that was used before")


def _read(tensor: Any, flags: int) -> Tensor:
    kind = KINDS.get(tensor.code, f"kind {tensor.code} ")
    name = NARROW.get(tensor.code, f"{kind}{tensor.bits}")
    lanes = f" x {tensor.lanes}" if tensor.lanes != 1 else ""
    return Tensor(
        (tensor.data or 0) + tensor.byte_offset,
        tuple(tensor.shape[: tensor.ndim]),
        tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None,
        f"{name}{lanes}",
        tensor.device_id,
        not flags & READ_ONLY,
    )


# Prototypes of our own: those of ctypes.pythonapi are shared with every other user of it.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
