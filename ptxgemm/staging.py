"""Operands of the host on their way to a device: as they lie in memory where that is little more
than their elements, so that no pass over them is made on the host; else their elements alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx.arrays import Array
from ptxgemm.arrays import Layout, Operand, contiguous

if TYPE_CHECKING:
    from ptx.devices import Device

SLACK = 2
"""So many times its elements the memory that an operand spans may be, to be copied whole."""


@dataclass(frozen=True)
class Staged:
    """An operand's copy: its array is kept alive, ``pointer`` is that of the first element."""

    array: Array
    pointer: int
    layout: Layout


def stage(where: Device, operand: Operand) -> Staged:
    """Copy it to the device. Axes that are broadcast stay so."""
    view: np.ndarray[Any, Any] = operand.source
    shape, item = view.shape, view.itemsize
    steps = tuple(
        0 if n == 1 or not view.size else s for n, s in zip(shape, view.strides, strict=True)
    )
    distinct = tuple(1 if s == 0 else n for n, s in zip(shape, steps, strict=True))
    span = sum(abs(s) * (n - 1) for n, s in zip(distinct, steps, strict=True)) + item
    elements = int(np.prod(distinct, dtype=object)) * item
    whole = all(s % item == 0 for s in steps) and view.dtype.isnative
    if view.size and whole and span <= SLACK * elements:
        array, first = where.array(_lowest(view, steps, span)), _before(shape, steps)
        strides = tuple(s // item for s in steps)
    else:
        one = view[tuple(slice(0, n) for n in distinct)]
        array, first = where.array(one), 0
        packed = contiguous(one.shape)
        strides = tuple(0 if s == 0 else p for s, p in zip(steps, packed, strict=True))
    layout = Layout(shape, strides, operand.layout.dtype, where.label)
    return Staged(array, array.pointer + first, layout)


def _before(shape: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """Bytes from the lowest element to the first one."""
    return sum(-s * (n - 1) for n, s in zip(shape, steps, strict=True) if s < 0)


def _lowest(view: np.ndarray[Any, Any], steps: tuple[int, ...], span: int) -> Any:
    """All elements that lie in the memory which a view spans, from the lowest address up."""
    bits = view.view(f"u{view.itemsize}")  # numpy strides no 8-bit floats
    flipped = bits[tuple(slice(None, None, -1 if s < 0 else 1) for s in steps)]
    line = np.lib.stride_tricks.as_strided(
        flipped, (span // view.itemsize,), (view.itemsize,), subok=False, writeable=False
    )
    return line.view(view.dtype)
