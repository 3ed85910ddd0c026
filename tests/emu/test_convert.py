"""cvt against exact rational arithmetic, ml_dtypes and the manual's rules."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.emu import reference
from tests.emu.harness import operate
from tests.emu.test_floating import samples
from tests.emu.test_integer import values

LIMITS = {
    f"{sign}{width}": (
        (0, 2**width - 1) if sign == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    )
    for sign in "us"
    for width in (8, 16, 32, 64)
}


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("to", ["f32", "f64", "f16"])
@pytest.mark.parametrize("source", ["u32", "s32", "u64", "s64", "u16", "s16"])
def test_integer_to_float(source: str, to: str, mode: str) -> None:
    a = values(source, 21, 300)
    (got,) = operate(f"cvt.{mode}.{to}.{source}", to, [(source, a)])
    kind = got.view(f"u{got.dtype.itemsize}")
    for x, found in zip(a.tolist(), kind, strict=True):
        assert int(found) == reference.encode(Fraction(x), False, to, mode), (x, hex(int(found)))


ROUND = {
    "rni": lambda x: round(x),
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


@pytest.mark.parametrize("mode", list(ROUND))
@pytest.mark.parametrize("source", ["f32", "f64", "f16"])
@pytest.mark.parametrize("to", ["u32", "s32", "u64", "s64", "u16", "s16", "s8", "u8"])
def test_float_to_integer_saturates(to: str, source: str, mode: str) -> None:
    bits = samples(source, 22, 300)
    width = {"f32": 4, "f64": 8, "f16": 2}[source]
    a = bits.astype(f"u{width}")
    number = a.view(f"f{width}").copy()
    if source != "f16":
        # Numbers about the limits, where saturation begins.
        low, high = LIMITS[to]
        near = [low, high, low - 1, high + 1, low - 0.5, high + 0.5, 0.5, 1.5, 2.5, -0.5, -1.5]
        number[: len(near)] = np.array(near, number.dtype)
    (got,) = operate(f"cvt.{mode}.{to}.{source}", to, [(source, number.view(f"u{width}"))])
    low, high = LIMITS[to]
    for x, found in zip(number.tolist(), got, strict=True):
        if math.isnan(x):
            bits64 = source == "f64" or to[1:] == "64"
            expected = (low if to[0] == "s" else (high + 1) // 2) if bits64 else 0
        elif math.isinf(x):
            expected = high if x > 0 else low
        else:
            expected = max(low, min(high, ROUND[mode](Fraction(x))))
        assert int(found) == expected, (x, int(found))


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_narrowing_floats(mode: str) -> None:
    for source, to in (("f64", "f32"), ("f64", "f16"), ("f32", "f16"), ("f32", "bf16")):
        bits = samples(source, 23, 600)
        width = 8 if source == "f64" else 4
        (got,) = operate(f"cvt.{mode}.{to}.{source}", to, [(source, bits.astype(f"u{width}"))])
        found = got.view(f"u{got.dtype.itemsize}")
        for x, y in zip(bits.tolist(), found, strict=True):
            value = reference.decode(x, source)
            if value.nan and source == "f64":
                # The H200 keeps the sign and the upper bits of the payload, and makes it quiet.
                fraction, width = {"f32": (23, 32), "f16": (10, 16)}[to]
                expected = (x >> (52 - fraction)) & ((1 << fraction) - 1) | 1 << (fraction - 1)
                expected |= (1 << (width - 1)) - (1 << fraction) | x >> 63 << (width - 1)
            elif value.nan:
                expected = {"f16": 0x7FFF, "bf16": 0x7FFF}[to]
            elif value.magnitude is None:
                expected = reference.infinity(value.negative, to)
            else:
                expected = reference.encode(value.exact, value.negative, to, mode)
            assert int(y) == expected, (source, to, hex(x), hex(int(y)), hex(expected))


def test_widening_is_exact_for_every_16_bit_pattern() -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    for form, kind in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        (got,) = operate(f"cvt.f32.{form}", "f32", [(form, every)])
        expected = every.view(kind).astype(np.float32)
        number = ~np.isnan(expected)
        assert np.array_equal(got.view("u4")[number], expected.view("u4")[number])
        if form == "f16":
            assert set(got.view("u4")[~number]) == {0x7FFFFFFF}
        else:
            assert np.array_equal(got.view("u4"), every.astype("u4") << 16)


@pytest.mark.parametrize(
    ("form", "kind"), [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)]
)
def test_fp8_saturates_to_finite(form: str, kind: Any) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    number = every.view(np.float16).astype(np.float32)
    (got,) = operate(f"cvt.rn.satfinite.{form}x2.f32", f"{form}x2", [("f32", number), "0f3F800000"])
    largest = float(ml_dtypes.finfo(kind).max)
    clipped = np.where(np.isnan(number), 0, np.clip(number, -largest, largest))
    expected = np.where(np.isnan(number), 0x7F, clipped.astype(kind).view(np.uint8))
    assert np.array_equal(got & 0xFF, np.full(len(got), np.float32(1).astype(kind).view(np.uint8)))
    assert np.array_equal(got >> 8, expected)
    (back,) = operate(f"cvt.rn.f16x2.{form}x2", "f16x2", [(f"{form}x2", got.view("u2"))])
    high = (back.view("u4") >> 16).astype(np.uint16).view(np.float16)
    wide = expected.astype(np.uint8).view(kind).astype(np.float16)
    assert np.array_equal(high[~np.isnan(wide)], wide[~np.isnan(wide)])


def test_tf32_rounds_away_or_to_even() -> None:
    a = np.array([0x3F801000, 0x3F803000, 0x3F801001, 0xBF801000, 0x7F7FFFFF], np.uint32)
    (away,) = operate("cvt.rna.tf32.f32", "b32", [("f32", a)])
    (even,) = operate("cvt.rn.tf32.f32", "b32", [("f32", a)])
    assert [hex(x) for x in away] == [
        "0x3f802000", "0x3f804000", "0x3f802000", "0xbf802000", "0x7f800000",
    ]  # fmt: skip
    assert [hex(x) for x in even] == [
        "0x3f800000", "0x3f804000", "0x3f802000", "0xbf800000", "0x7f800000",
    ]  # fmt: skip


def test_pairs_put_the_first_operand_high() -> None:
    (got,) = operate("cvt.rn.f16x2.f32", "f16x2", ["0f3F800000", "0f40000000"])
    assert hex(got.view("u4")[0]) == "0x3c004000"
    (got,) = operate("cvt.rn.relu.bf16x2.f32", "bf16x2", ["0fBF800000", "0f40000000"])
    assert hex(got.view("u4")[0]) == "0x4000"


def test_integers_to_integers() -> None:
    a = np.int32([-1, 255, 256, 70000, -40000])
    (got,) = operate("cvt.u8.s32", "u8", [("s32", a)])
    assert list(got) == [255, 255, 0, 70000 % 256, -40000 % 256]
    (got,) = operate("cvt.sat.u8.s32", "u8", [("s32", a)])
    assert list(got) == [0, 255, 255, 255, 0]
    (got,) = operate("cvt.sat.s16.s32", "s16", [("s32", a)])
    assert list(got) == [-1, 255, 256, 32767, -32768]
    (got,) = operate("cvt.s64.s32", "s64", [("s32", a)])
    assert list(got) == list(a)
    (got,) = operate("cvt.u64.u32", "u64", [("u32", a)])
    assert list(got) == [x % 2**32 for x in a.tolist()]


def test_rounding_to_whole_numbers_keeps_the_sign_of_zero() -> None:
    a = np.float32([-0.25, 0.5, 1.5, 2.5, -2.5, np.inf])
    expected = {
        "rni": [-0.0, 0, 2, 2, -2, np.inf],
        "rzi": [-0.0, 0, 1, 2, -2, np.inf],
        "rmi": [-1, 0, 1, 2, -3, np.inf],
        "rpi": [-0.0, 1, 2, 3, -2, np.inf],
    }
    for mode, wanted in expected.items():
        (got,) = operate(f"cvt.{mode}.f32.f32", "f32", [("f32", a)])
        assert np.array_equal(got.view("u4"), np.float32(wanted).view("u4")), mode


def test_packing() -> None:
    a, b = ("s32", np.int32([70000, -5])), ("s32", np.int32([-70000, 300]))
    (got,) = operate("cvt.pack.sat.s16.s32", "b32", [a, b])
    assert [hex(x) for x in got] == ["0x7fff8000", "0xfffb012c"]
    (got,) = operate("cvt.pack.sat.u8.s32.b32", "b32", [a, b, "0x1234"])
    assert [hex(x) for x in got] == ["0x1234ff00", "0x123400ff"]
