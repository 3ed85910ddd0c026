"""Products of :mod:`ptxgemm.hopper` on any device, right to the bit: of small whole numbers, whose
sums are exact in every type of sums.
"""

from __future__ import annotations

from typing import Any

from benchmarks import hopper_check
from benchmarks.hopper_check import Product
from ptxgemm.tiling import Tiling

LAYOUTS = [(a, b) for a in (False, True) for b in (False, True)]
"""Whether A and B are stored by columns."""


def check(
    device: Any, m: int, n: int, k: int, *, kinds: tuple[str, str] = ("bf16", "bf16"),
    out: str = "bf16", flips: tuple[bool, bool, bool] = (False, False, False), gap: int = 0,
    base: int = 0, alpha: float = 1.0, beta: float = 0.0, tiling: Tiling | None = None,
    accumulate: Any = "native",
) -> None:  # fmt: skip
    """C = alpha A B + beta C, each `gap` elements between lines and `base` before the first one."""
    product = Product(
        m, n, k, *kinds, out, flips, (gap,) * 3, (base,) * 3, alpha, beta, accumulate, tiling
    )
    assert hopper_check.check(device, product) == ""
