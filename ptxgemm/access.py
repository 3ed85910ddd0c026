"""How an operand lies in memory, as far as a kernel is built for it: axis, width, stride."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Literal

from ptxgemm.shape import WORD

Axis = Literal["k", "side"]
"""Along K, or along the operand's other axis: M for A, N for B and C."""


@dataclass(frozen=True)
class Access:
    """Neighbours along one axis are loaded or stored together, `width` elements at once."""

    along: Axis
    width: int = 4
    strided: bool = False
    """Neighbours do not touch: their distance is a parameter of the kernel, and the width is 1."""

    def __post_init__(self) -> None:
        if self.along not in ("k", "side"):
            raise ValueError(f"along is {self.along!r}; expected k or side")
        if self.width not in (1, 2, 4):
            raise ValueError(f"width is {self.width}; expected 1, 2 or 4 elements")
        if self.strided and self.width != 1:
            raise ValueError(f"width is {self.width}; elements that do not touch come one by one")


@dataclass(frozen=True)
class Lie:
    """A matrix in memory: its extents, and the elements from one to the next along both axes."""

    side: int
    """M of A, N of B. C is taken as the operand of N, with M in the place of K."""
    k: int
    side_stride: int
    k_stride: int
    align: int = 16
    """A power of two that divides the address, in bytes; 4 at least."""

    def access(self, most: int, *, partial: bool, transposed_width: int = 4) -> Access:
        """The widest access of at most `most` elements that is aligned everywhere.

        `partial` says that the last vector along M or N may reach over the edge, as the zero-fill
        of ``cp.async`` cuts it; else the extent enters the greatest common divisor. What lies
        along K is loaded by at most `transposed_width`.
        """
        k_step = self.k_stride if self.k > 1 else 1
        side_step = self.side_stride if self.side > 1 else 1
        if self.k > 1 and k_step == 1:
            along: Axis = "k"
        elif side_step == 1:
            along = "side"
        elif k_step == 1:
            along = "k"
        else:
            nearest: Axis = "k" if abs(k_step) < abs(side_step) else "side"
            return Access(nearest, 1, strided=True)
        extent, others, step = self.side, self.k, self.k_stride
        if along == "k":
            extent, others, step = self.k, self.side, self.side_stride
        divisor = gcd(most, self.align // WORD, step if others > 1 else 0)
        if along == "k":
            divisor = gcd(divisor, extent, transposed_width)
        elif not partial:
            divisor = gcd(divisor, extent)
        return Access(along, divisor)
