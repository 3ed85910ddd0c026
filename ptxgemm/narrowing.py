"""Fits a kernel of :mod:`ptxgemm.kernels.narrow` to matrices: layouts, accesses, launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ptxgemm.narrow import VECTOR, Narrow, by_units, in_room
from ptxgemm.tiling import ELEMENTS, LINE_BYTES

if TYPE_CHECKING:
    from ptx.devices import Device
    from ptxgemm.hopper import Matrix


def turned(c: Matrix, a: Matrix, b: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """The same product with the longer side of C along M, and so the larger operand as A."""
    if c.rows < c.columns:
        return c.transposed, b.transposed, a.transposed
    return c, a, b


def fitted(shape: Narrow, c: Matrix, a: Matrix, b: Matrix, scaled: bool) -> Narrow:
    """`shape` for C = A B as they lie, `parts` no more than there are K steps, in no more shared
    memory. An A that tensor copies do not take is copied by units, where there is room for that.
    """
    steps = -(-a.columns * a.bytes // (shape.depth * LINE_BYTES))
    made = replace(
        shape, stages=2, a=a.element, b=b.element, out=c.element, scaled=scaled,
        parts=min(shape.parts, 1 << (steps.bit_length() - 1)),
        a_major=a.major("columns"), b_major=b.major("rows"),
        c_major="n" if c.along == "columns" else "m",
        width=VECTOR if _takes_vectors(c) else 1,
    )  # fmt: skip
    made = in_room(made, shape)
    return made if a.fits_tensor_copies else by_units(made) or made


def _takes_vectors(c: Matrix) -> bool:
    count, length, pitch = c.lines
    aligned = c.address % (VECTOR * c.bytes) == 0 and length % VECTOR == 0
    return aligned and (count == 1 or pitch % VECTOR == 0)


def arguments(device: Device, shape: Narrow, c: Matrix, a: Matrix, b: Matrix) -> dict[str, Any]:
    """The kernel's, but for those of a scaled product, for a B that tensor copies take."""
    load_a, load_b = shape.loads
    own: dict[str, Any]
    if shape.a_copy == "tensor":
        own = {"a_map": device.tensor_map(a.map(ELEMENTS[a.element].map, load_a.box))}
    else:
        own = {"a": a.address, "a_pitch": a.lines[2]}
    return own | {
        "b_map": device.tensor_map(b.map(ELEMENTS[b.element].map, load_b.box)),
        "m": c.rows, "n": c.columns, "depth": a.columns, "c": c.address, "pitch": c.lines[2],
    }  # fmt: skip
