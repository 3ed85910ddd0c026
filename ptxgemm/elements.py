"""The types that products take: what each is summed in, and what the result may be.

Sums are float32 for the types of 16 bits and the floats of 8, int32 for integers of 8 bits, and of
the type itself for float32 and float64. The result is converted from the sum once, to nearest even.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """What a product of one type of A and B gives."""

    sum: str
    """PTX's word."""
    outs: tuple[str, ...]
    """What the result may be, the default first."""

    @property
    def integer(self) -> bool:
        """Exact, modulo 2**32; scaled by integers only."""
        return self.sum == "s32"


RULES = {
    "float32": Rule("f32", ("float32",)),
    "float64": Rule("f64", ("float64",)),
    "float16": Rule("f32", ("float16", "float32", "bfloat16")),
    "bfloat16": Rule("f32", ("bfloat16", "float32", "float16")),
    "int8": Rule("s32", ("int32",)),
    "uint8": Rule("s32", ("int32",)),
    "float8_e4m3fn": Rule("f32", ("bfloat16", "float32", "float16")),
    "float8_e5m2": Rule("f32", ("bfloat16", "float32", "float16")),
}
"""By the type of A and B."""
