"""Arrays as data: where they lie, how, and whether two of them share memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

BYTES = {
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int32": 4,
    "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
"""Bytes of an element, by the name of its type."""
HOST = "cpu"
FEW = 1 << 16
"""So many elements are looked at one by one where arithmetic on strides decides nothing."""
EFFORT: Any = 1 << 20
"""What numpy may spend to see whether two interleaved arrays share an element."""


@dataclass(frozen=True)
class Layout:
    """What an array is, whatever library holds it; only its address is missing.

    ``strides`` are in elements. Those of an axis of length 1 (or of any axis of an empty array)
    mean nothing, and are 0 here. ``device`` is ``"cpu"``, ``"cuda:0"`` and so on, ``"emulator"``.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: str
    writable: bool = True

    def __post_init__(self) -> None:
        empty = 0 in self.shape
        strides = tuple(
            0 if empty or n == 1 else s for n, s in zip(self.shape, self.strides, strict=True)
        )
        object.__setattr__(self, "strides", strides)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bounds(self) -> tuple[int, int]:
        """Bytes from the first element to the lowest, and to the end of the highest; (0, 0) of an
        empty array.
        """
        if not self.size:
            return 0, 0
        reach = [s * (n - 1) for n, s in zip(self.shape, self.strides, strict=True)]
        item = BYTES[self.dtype]
        return sum(min(0, r) for r in reach) * item, (sum(max(0, r) for r in reach) + 1) * item

    @property
    def overlaps_itself(self) -> bool:
        """Whether two of its elements share an address, or (of a large one) might."""
        axes = sorted((abs(s), n) for n, s in zip(self.shape, self.strides, strict=True) if n > 1)
        if not self.size:
            return False
        reach = 0
        for stride, n in axes:
            if stride <= reach:
                break
            reach += stride * (n - 1)
        else:
            return False
        if axes[0][0] == 0 or self.size > FEW:
            return True
        spread = (range(0, stride * n, stride) for stride, n in axes)
        return len({sum(offsets) for offsets in product(*spread)}) < self.size


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of rows one after another, in elements."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(1, n)
    return tuple(reversed(strides))


@dataclass(frozen=True, eq=False)
class Operand:
    """An array that was given to a product, described."""

    name: str
    """What the caller knows it as: ``"a"``, ``"out"``."""
    source: Any
    """The array itself, kept alive; on the host a numpy view of it."""
    pointer: int
    layout: Layout
    family: Any
    """Its library, a :class:`ptxgemm.frameworks.Family`."""
    pending: int | None = None
    """A stream whose work on it must be waited for, by the driver's handle."""
    holds: Any = None
    """What else must live as long as it is used."""


@dataclass(frozen=True)
class _Window:
    """Memory that numpy looks at by address only; nothing of it is read."""

    __array_interface__: dict[str, Any]


def share_memory(first: tuple[int, Layout], second: tuple[int, Layout]) -> bool:
    """Whether two arrays, each by its address and layout, have a byte in common.

    Interleaved ones, as two halves of the columns of one matrix, have none.
    """
    (low, high), (begin, end) = (
        (pointer + layout.bounds[0], pointer + layout.bounds[1])
        for pointer, layout in (first, second)
    )
    if low == high or begin == end or high <= begin or end <= low:
        return False
    try:
        return bool(np.shares_memory(_window(*first), _window(*second), max_work=EFFORT))
    except np.exceptions.TooHardError:
        return True


def _window(pointer: int, layout: Layout) -> np.ndarray[Any, Any]:
    item = BYTES[layout.dtype]
    interface = {
        "version": 3,
        "shape": layout.shape,
        "typestr": f"|V{item}",
        "data": (pointer, True),
        "strides": tuple(s * item for s in layout.strides),
    }
    return np.asarray(_Window(interface))
