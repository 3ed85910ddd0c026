"""Matrix instructions of a warp: ldmatrix, stmatrix, movmatrix, mma, wmma."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ptx.emu.faults import Unmodelled
from ptx.emu.program import Decoded

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk


def maker(decoded: Decoded) -> Callable[[Chunk, Decoded], Any]:
    """What binds a matrix instruction."""
    raise Unmodelled(
        f"{decoded.words.op} is not modelled yet\n  {decoded.instruction}",
        decoded.instruction.place,
    )
