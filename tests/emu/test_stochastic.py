"""cvt.rs by the manual's words, on exact fractions: random bits are added to what does not fit, and
a carry goes away from zero; and arithmetic of halves into float32.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptx.emu.semantics.rounding import FORMATS
from ptx.emu.semantics.stochastic import rounded
from tests.emu import reference
from tests.emu.harness import operate
from tests.emu.test_floating import samples

# Precision, exponent of the least normal number, largest finite value, random bits.
NARROW = {
    "f16": (11, -14, Fraction(65504), 13),
    "bf16": (8, -126, Fraction(255) * 2**120, 16),
    "e4m3": (4, -6, Fraction(448), 16),
    "e5m2": (3, -14, Fraction(57344), 16),
    "e2m3": (4, 0, Fraction(15, 2), 16),
    "e3m2": (3, -2, Fraction(28), 16),
}
KINDS: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
}  # fmt: skip
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "e4m3": 0x7F, "e5m2": 0x7F, "e2m3": 0x1F, "e3m2": 0x1F}


def rounding(value: Fraction, form: str, random: int) -> Fraction:
    """One finite number; unbounded above."""
    precision, least, _, bits = NARROW[form]
    size = abs(value)
    if size == 0:
        return value
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    whole, rest = divmod(size, unit)
    lost = int(rest / unit * 2**bits)
    result = (int(whole) + (lost + random >= 2**bits)) * unit
    return -result if value < 0 else result


def expected(bits: int, form: str, random: int, relu: bool, satfinite: bool) -> int:
    number = reference.decode(bits, "f32")
    largest = NARROW[form][2]
    sign = 1 << np.dtype(KINDS[form]).itemsize * 8 - 1 if form not in ("e2m3", "e3m2") else 1 << 5
    if number.nan:
        return NAN[form]
    if relu and number.negative:
        return 0
    if number.magnitude is None:
        value = largest if satfinite else None
    else:
        value = abs(rounding(number.exact, form, random))
        if value > largest:
            value = largest if satfinite else None
    infinity = {"f16": 0x7C00, "bf16": 0x7F80}.get(form, 0)
    size = infinity if value is None else int(
        np.array(float(value)).astype(np.float32).astype(KINDS[form])
        .view(f"u{np.dtype(KINDS[form]).itemsize}")
    )  # fmt: skip
    return size | (sign if number.negative else 0)


@pytest.mark.parametrize("modifiers", ["", ".relu", ".satfinite", ".relu.satfinite"])
@pytest.mark.parametrize("form", ["f16", "bf16"])
def test_a_pair(form: str, modifiers: str) -> None:
    a, b = (samples("f32", seed, 90).astype(np.uint32) for seed in (1, 2))
    random = np.random.default_rng(3).integers(0, 2**32, 90, np.uint32)
    op = f"cvt.rs{modifiers}.{form}x2.f32"
    (got,) = operate(op, "b32", [("f32", a), ("f32", b), ("b32", random)])
    mask = 2 ** NARROW[form][3] - 1
    flags = "relu" in modifiers, "satfinite" in modifiers
    for x, y, r, found in zip(*(v.tolist() for v in (a, b, random, got)), strict=True):
        high = expected(x, form, r >> 16 & mask, *flags)
        assert found == high << 16 | expected(y, form, r & mask, *flags), (hex(x), hex(y), hex(r))


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("form", ["e4m3", "e5m2", "e2m3", "e3m2"])
def test_four_narrow_ones(form: str, relu: str) -> None:
    values = [samples("f32", seed, 100).astype(np.uint32) for seed in range(4)]
    for number, array in enumerate(values):
        # Most samples are far away; these are near.
        near = np.random.default_rng(number).normal(0, 8, 60).astype(np.float32)
        array[40:] = near.view(np.uint32)
    random = np.random.default_rng(3).integers(0, 2**32, 100, np.uint32)
    sources = [("f32", v) for v in values]
    (got,) = operate(
        f"cvt.rs{relu}.satfinite.{form}x4.f32", "b32", [*sources, ("b32", random)],
        "{d0}, {{ {s0}, {s1}, {s2}, {s3} }}, {s4}",
    )  # fmt: skip
    for row in zip(*(v.tolist() for v in (*values, random, got)), strict=True):
        *four, r, found = row
        bits = [r >> 16, r >> 16, r & 0xFFFF, r & 0xFFFF]
        parts = [expected(x, form, n, bool(relu), True) for x, n in zip(four, bits, strict=True)]
        assert found.to_bytes(4, "big") == bytes(parts)


@settings(max_examples=25)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-60000, max_value=6e4))
def test_it_is_unbiased(number: float) -> None:
    """Over all random bits the mean is the number, where 13 bits hold all that is cut off."""
    form = FORMATS["f16"]
    if abs(number) < form.smallest_normal:
        number = number + 1.0
    number = float(np.float32(number))
    every = np.arange(2**13, dtype=np.uint32)
    results = rounded(np.full(2**13, number), form, every, 13)
    assert float(results.mean()) == number


@pytest.mark.parametrize("form", ["f16", "bf16"])
@pytest.mark.parametrize("op", ["add.rn", "sub.rz", "add.rp.sat", "fma.rm", "fma.rn.sat"])
def test_halves_into_single_precision(op: str, form: str) -> None:
    """The same operands, converted first by the exact instruction, in float32 arithmetic."""
    fused = op.startswith("fma")
    narrow = [samples(form, seed, 150).astype(np.uint16) for seed in range(1 + fused)]
    addend = samples("f32", 9, 150).astype(np.uint32)
    opcode, rest = op.split(".", 1)
    operands = [*((form, v) for v in narrow), ("f32", addend)]
    (got,) = operate(f"{opcode}.{rest}.f32.{form}", "f32", operands)
    wide = [operate(f"cvt.f32.{form}", "f32", [(form, v)])[0].view(np.uint32) for v in narrow]
    (wanted,) = operate(f"{opcode}.{rest}.f32", "f32", [("f32", v) for v in (*wide, addend)])
    assert np.array_equal(got.view(np.uint32), wanted.view(np.uint32))
