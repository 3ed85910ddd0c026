"""A tensor map: what a tensor copy (``cp.async.bulk.tensor``) knows of a tensor in global memory.

:class:`TensorMap` is the description, which checks itself. ``device.tensor_map(description)`` gives
the 128 bytes that a kernel takes as a ``"tensormap"`` parameter: the driver's encoding on a GPU,
:meth:`TensorMap.pack`'s on the emulator. Sources: CUDA driver API 13.0, ``cuTensorMapEncodeTiled``
and ``cuTensorMapEncodeIm2col``; PTX ISA 9.0, section 5.5 (tensors).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

from ptx.errors import ArgumentValueError

ELEMENT_BYTES = {
    "u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "bf16": 2, "f32": 4,
    "f64": 8, "f32.ftz": 4, "tf32": 4, "tf32.ftz": 4,
}  # fmt: skip
"""Element types and their bytes. Types of 8 bits that are not here travel as ``u8``."""

SWIZZLES = (0, 32, 64, 128)
PROMOTIONS = (0, 64, 128, 256)
FILLS = ("zeros", "nan")
BYTES = 128
"""Size of an encoded map."""
ALIGNMENT = 16
"""Bytes: of the address, of each stride and of the innermost extent of a box."""

_MAGIC = b"ptxtmap1"
_PACKED = struct.Struct("<8s 4B H B Q 5Q 4Q 5H 5B 6h")

_FIELDS = {
    "rank": ("B", 8), "elemtype": ("B", 9), "swizzle_mode": ("B", 10), "fill_mode": ("B", 11),
    "global_address": ("Q", 15), "global_dim": ("Q", 23), "global_stride": ("Q", 63),
    "box_dim": ("H", 95), "element_stride": ("B", 105),
}  # fmt: skip
"""Of that layout what ``tensormap.replace`` changes: the format of a number, and where it lies, or
the first of several.
"""
ELEMENT_CODES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32",
    "tf32.ftz",
)  # fmt: skip
"""Element types by the number that ``tensormap.replace`` has for each (PTX ISA 9.0, 9.7.9.26)."""

CORNER_LIMITS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}
"""By rank: a corner of an im2col map goes from minus so much to one less than so much."""

Corner = tuple[int, ...]


@dataclass(frozen=True)
class TensorMap:
    """A tensor of one to five dimensions, and the box that one copy moves. Innermost dimension
    first, as in the coordinates of the instruction.

    A copy may reach beyond the tensor: elements outside read as `fill` and are not written, and the
    mbarrier counts the whole box all the same. With `corners` the map is for the ``.im2col`` modes,
    the tensor's dimensions being channels, one to three spatial ones and images. Raises
    :class:`ptx.errors.ArgumentValueError`, which names the number that the hardware does not take.
    """

    address: int
    shape: tuple[int, ...]
    """Elements."""
    strides: tuple[int, ...]
    """Bytes from one index to the next, of every dimension but the innermost, which is dense."""
    box: tuple[int, ...]
    """Elements that the box spans, :attr:`counts` of which a copy moves; with `corners`, the
    channels of a pixel and the pixels of a copy."""
    element: str
    """A key of :data:`ELEMENT_BYTES`."""
    swizzle: int = 0
    """Bytes that the swizzle spans in shared memory (:func:`ptx.layouts.swizzle`); 0 is none."""
    promotion: int = 128
    """Bytes that the L2 cache fetches at least; 0 leaves it alone."""
    fill: str = "zeros"
    """``"nan"`` makes what lies outside a NaN, in types of floating point."""
    steps: tuple[int, ...] = ()
    """Traversal strides in elements, 1 in every dimension where left out, and in the innermost."""
    corners: tuple[Corner, Corner] | None = None
    """For the spatial dimensions, how far the bounding box of an im2col copy's pixels lies from the
    first index, and from the last: ``((-1, -1), (-1, -1))`` for a 3x3 filter padded by 1."""

    def __post_init__(self) -> None:
        if not self.steps:
            object.__setattr__(self, "steps", (1,) * len(self.shape))
        self._check_choices()
        rank = len(self.shape)
        boxed = rank if self.corners is None else 2
        for name, values, count in (
            ("strides", self.strides, rank - 1), ("box", self.box, boxed),
            ("steps", self.steps, rank),
        ):  # fmt: skip
            if len(values) != count:
                raise _wrong(f"{name} has {len(values)} numbers, a shape of rank {rank} {count}")
        longest = (256,) * rank if self.corners is None else (256, 1024)
        for name, values, limits in (
            ("shape", self.shape, (1 << 32,) * rank), ("box", self.box, longest),
            ("steps", self.steps, (1,) + (8,) * (rank - 1)),
        ):  # fmt: skip
            for axis, (value, limit) in enumerate(zip(values, limits, strict=True)):
                if not 1 <= value <= limit:
                    raise _wrong(f"{name}[{axis}] is {value}; allowed is 1 to {limit}")
        if self.corners is not None:
            self._check_corners(self.corners)
        self._check_alignment()

    def _check_corners(self, corners: tuple[Corner, Corner]) -> None:
        rank = len(self.shape)
        if rank not in CORNER_LIMITS:
            raise _wrong(f"corners are for a shape of rank 3, 4 or 5; this one has rank {rank}")
        limit = CORNER_LIMITS[rank]
        for name, corner in zip(("lower", "upper"), corners, strict=True):
            if len(corner) != rank - 2:
                raise _wrong(
                    f"the {name} corner has {len(corner)} numbers; a shape of rank {rank} has "
                    f"{rank - 2} spatial dimensions"
                )
            for axis, value in enumerate(corner):
                if not -limit <= value < limit:
                    raise _wrong(
                        f"the {name} corner's number {axis} is {value}; allowed is {-limit} to "
                        f"{limit - 1}"
                    )
        for axis, (low, high) in enumerate(zip(*corners, strict=True)):
            if low > self.shape[1 + axis] - 1 + high:
                raise _wrong(f"the corners leave no pixel along dimension {1 + axis}")

    def _check_choices(self) -> None:
        if not 1 <= len(self.shape) <= 5:
            raise _wrong(f"the shape {self.shape} has rank {len(self.shape)}; allowed is 1 to 5")
        for name, value, known in (
            ("element", self.element, tuple(ELEMENT_BYTES)), ("swizzle", self.swizzle, SWIZZLES),
            ("promotion", self.promotion, PROMOTIONS), ("fill", self.fill, FILLS),
        ):  # fmt: skip
            if value not in known:
                raise _wrong(f"{name} is {value!r}; allowed is {', '.join(map(str, known))}")
        if self.fill == "nan" and self.element[0] in "us":
            raise _wrong(f"fill is nan, and the element {self.element} has none")

    def _check_alignment(self) -> None:
        if self.address % ALIGNMENT or not 0 <= self.address < 1 << 64:
            raise _wrong(f"the address {self.address:#x} is no multiple of {ALIGNMENT} bytes")
        for axis, stride in enumerate(self.strides, 1):
            if stride % ALIGNMENT or not 0 < stride < 1 << 40:
                raise _wrong(
                    f"the stride of dimension {axis} is {stride} bytes; the copy engine takes "
                    f"multiples of {ALIGNMENT} below 2^40: copy the matrix to rows of "
                    f"{-(-max(stride, 1) // ALIGNMENT) * ALIGNMENT} bytes, or load it without "
                    "tensor copies"
                )
        row = self.box[0] * self.element_bytes
        if row % ALIGNMENT:
            raise _wrong(
                f"box[0] is {self.box[0]} elements, {row} bytes; a row of a box is a multiple of "
                f"{ALIGNMENT} bytes"
            )
        if self.swizzle and row > self.swizzle:
            raise _wrong(
                f"box[0] is {self.box[0]} elements, {row} bytes; a swizzle of {self.swizzle} bytes "
                "spans no more than that many"
            )

    @property
    def element_bytes(self) -> int:
        return ELEMENT_BYTES[self.element]

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements that a copy moves along each dimension of the box."""
        if self.corners is not None:
            return self.box
        return tuple(-(-span // step) for span, step in zip(self.box, self.steps, strict=True))

    @property
    def box_bytes(self) -> int:
        """What a copy adds to the count of its mbarrier, parts outside the tensor included."""
        return math.prod(self.counts) * self.element_bytes

    def pack(self) -> bytes:
        """The emulator's encoding, in 128 bytes; :meth:`unpack` reads it."""

        def padded(values: tuple[int, ...], count: int) -> tuple[int, ...]:
            return (*values, *(0,) * (count - len(values)))

        data = _PACKED.pack(
            _MAGIC,
            len(self.shape),
            tuple(ELEMENT_BYTES).index(self.element),
            self.swizzle,
            FILLS.index(self.fill),
            self.promotion,
            self.corners is not None,
            self.address,
            *padded(self.shape, 5),
            *padded(self.strides, 4),
            *padded(self.box, 5),
            *padded(self.steps, 5),
            *(n for corner in self.corners or ((), ()) for n in padded(corner, 3)),
        )
        return data.ljust(BYTES, b"\0")

    @staticmethod
    def unpack(data: bytes) -> TensorMap:
        """What :meth:`pack` made. Raises ``ValueError`` for any other bytes."""
        if len(data) != BYTES or not data.startswith(_MAGIC):
            raise ValueError("these bytes are no tensor map of the emulator")
        fields: tuple[Any, ...] = _PACKED.unpack(data[: _PACKED.size])
        _, rank, element, swizzle, fill, promotion, pixels, address, *rest = fields
        lower, upper = (tuple(rest[at : at + rank - 2]) for at in (19, 22))
        return TensorMap(
            address,
            tuple(rest[0:rank]),
            tuple(rest[5 : 5 + rank - 1]),
            tuple(rest[9 : 9 + (2 if pixels else rank)]),
            tuple(ELEMENT_BYTES)[element],
            swizzle,
            promotion,
            FILLS[fill],
            tuple(rest[14 : 14 + rank]),
            (lower, upper) if pixels else None,
        )


def replaced(data: bytes, field: str, value: int, index: int = 0) -> bytes:
    """What :meth:`TensorMap.pack` made, with one field changed as ``tensormap.replace`` names it.

    The map as a whole is checked when it is read. Raises ``ValueError`` for a number that the
    field does not hold, and for interleaved layouts, which :class:`TensorMap` does not describe.
    """
    if len(data) != BYTES or not data.startswith(_MAGIC):
        raise ValueError("these bytes are no tensor map of the emulator")
    if field not in _FIELDS:
        if value:
            raise ValueError(f"{field} {value} is none that a tensor map of the emulator has")
        return data
    choices: dict[str, tuple[int, ...]] = {
        "elemtype": tuple(tuple(ELEMENT_BYTES).index(name) for name in ELEMENT_CODES),
        "swizzle_mode": SWIZZLES,
        "fill_mode": tuple(range(len(FILLS))),
    }
    if field in choices:
        if value >= len(choices[field]):
            raise ValueError(f"{field} is {value}; allowed is 0 to {len(choices[field]) - 1}")
        value = choices[field][value]
    kind, place = _FIELDS[field]
    size = struct.calcsize(kind)
    number = value + 1 if field == "rank" else value
    if not 0 <= number < 1 << 8 * size:
        raise ValueError(f"{field} is {value}, which no tensor map has")
    place += size * index
    return data[:place] + number.to_bytes(size, "little") + data[place + size :]


def _wrong(problem: str) -> ArgumentValueError:
    return ArgumentValueError(f"tensor map: {problem}")
