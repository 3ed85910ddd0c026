"""Every rounding mode of every IEEE operation against exact rational arithmetic, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.emu import reference
from tests.emu.harness import operate

MODES = ("rn", "rz", "rm", "rp")
_WIDTH = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}
_MANTISSA = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}
_NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}


def edges(form: str) -> list[int]:
    """Bit patterns where things go wrong: zeros, subnormals, ones, the ends of the range, NaN."""
    width, mantissa = _WIDTH[form], _MANTISSA[form]
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    one = ((1 << (width - 2 - mantissa)) - 1) << mantissa
    positive = [0, 1, 2, 3, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1]
    positive += [one - 1, one, one + 1, one + (1 << mantissa), one + (1 << mantissa) - 1]
    positive += [infinity - 1, infinity - 2, infinity, infinity + 1, infinity | 1 << mantissa - 1]
    return [p | s for p in positive for s in (0, 1 << (width - 1))]


def samples(form: str, seed: int, count: int) -> np.ndarray[Any, Any]:
    """Random bit patterns, many of them edges or of nearly equal exponents."""
    rng = np.random.default_rng(seed)
    width, mantissa = _WIDTH[form], _MANTISSA[form]
    whole = rng.integers(0, 1 << 63, count, dtype=np.uint64) << np.uint64(1)
    whole >>= np.uint64(64 - width)
    one = ((1 << (width - 2 - mantissa)) - 1) << mantissa
    near = (whole & np.uint64((1 << mantissa) - 1)) + np.uint64(one)
    near += rng.integers(0, 3, count, dtype=np.uint64) << np.uint64(mantissa)
    near |= rng.integers(0, 2, count, dtype=np.uint64) << np.uint64(width - 1)
    # Few bits set make ties and exact results.
    sparse = near & ~np.uint64((1 << mantissa // 2) - 1)
    special = np.array(edges(form), np.uint64)[rng.integers(0, len(edges(form)), count)]
    choice = rng.integers(0, 4, count)
    return np.choose(choice, [whole, near, sparse, special])


def compare(
    form: str,
    op: str,
    operands: list[np.ndarray[Any, Any]],
    expected: Callable[..., int | None],
) -> None:
    kind = f"u{_WIDTH[form] // 8}"
    sources: list[Any] = [(form, o.astype(kind)) for o in operands]
    (got,) = operate(op, form, sources)
    found = got.view(kind)
    for row, value in zip(zip(*(o.tolist() for o in operands), strict=True), found, strict=True):
        want = expected(*row)
        label = f"{op} of {', '.join(hex(v) for v in row)}: {int(value):#x}"
        if want is None:
            if form == "f64":
                assert np.isnan(np.uint64(value).view(np.float64)), label
            else:
                assert int(value) == _NAN[form], label
        else:
            assert int(value) == want, f"{label}, not {want:#x}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["f32", "f64"])
def test_add_multiply_divide(form: str, mode: str) -> None:
    a, b = samples(form, 1, 800), samples(form, 2, 800)
    compare(form, f"add.{mode}.{form}", [a, b], lambda x, y: reference.add(x, y, form, mode))
    compare(form, f"mul.{mode}.{form}", [a, b], lambda x, y: reference.multiply(x, y, form, mode))
    compare(form, f"div.{mode}.{form}", [a, b], lambda x, y: reference.divide(x, y, form, mode))
    sign = 1 << (_WIDTH[form] - 1)
    compare(form, f"sub.{mode}.{form}", [a, b], lambda x, y: reference.add(x, y ^ sign, form, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["f32", "f64"])
def test_fma_rounds_once(form: str, mode: str) -> None:
    a, b, c = (samples(form, seed, 1500) for seed in (3, 4, 5))
    compare(
        form, f"fma.{mode}.{form}", [a, b, c], lambda x, y, z: reference.fma(x, y, z, form, mode)
    )


def test_fma_f32_double_rounding() -> None:
    """Sums that lie beside a midpoint by less than float64 can see."""
    # 1 + 2^-24 is a midpoint; the product adds or takes 2^-60 or so.
    mid = reference.bits_of(1.0, "f32")
    cases = [
        (
            reference.bits_of(2.0**-12 * (1 + s * 2.0**-23), "f32"),
            reference.bits_of(2.0**-12, "f32"),
        )
        for s in (-1, 0, 1)
    ]
    a = np.array([x for x, _ in cases], np.uint64)
    b = np.array([y for _, y in cases], np.uint64)
    for c in (mid, mid + 1, mid | 1 << 31):
        compare(
            "f32",
            "fma.rn.f32",
            [a, b, np.full(len(a), c, np.uint64)],
            lambda x, y, z: reference.fma(x, y, z, "f32", "rn"),
        )
    # A subnormal result: the double-rounding region of float64 lies elsewhere there.
    tiny = [
        (0x00800001, 0x3F000000, 0x00000001),
        (0x20000001, 0x1F800001, 0x00000001),
        (0x1F800001, 0x1F800001, 0x80000003),
    ]
    compare(
        "f32",
        "fma.rn.f32",
        [np.array(column, np.uint64) for column in zip(*tiny, strict=True)],
        lambda x, y, z: reference.fma(x, y, z, "f32", "rn"),
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["f32", "f64"])
def test_square_root_and_reciprocal(form: str, mode: str) -> None:
    a = samples(form, 6, 1500)
    compare(form, f"sqrt.{mode}.{form}", [a], lambda x: reference.square_root(x, form, mode))
    one = reference.bits_of(1.0, form)
    compare(form, f"rcp.{mode}.{form}", [a], lambda x: reference.divide(one, x, form, mode))


@pytest.mark.parametrize("form", ["f16", "bf16"])
def test_sixteen_bit_arithmetic(form: str) -> None:
    a, b, c = (samples(form, seed, 2000) for seed in (7, 8, 9))
    compare(form, f"add.rn.{form}", [a, b], lambda x, y: reference.add(x, y, form, "rn"))
    compare(form, f"mul.rn.{form}", [a, b], lambda x, y: reference.multiply(x, y, form, "rn"))
    compare(form, f"fma.rn.{form}", [a, b, c], lambda x, y, z: reference.fma(x, y, z, form, "rn"))


def test_pairs_are_two_halves() -> None:
    a, b, c = (samples("f16", seed, 500).astype(np.uint32) for seed in (10, 11, 12))
    d, e, f = (samples("f16", seed, 500).astype(np.uint32) for seed in (13, 14, 15))
    packed = [("f16x2", x | y << 16) for x, y in ((a, d), (b, e), (c, f))]
    (got,) = operate("fma.rn.f16x2", "f16x2", packed)
    (low,) = operate("fma.rn.f16", "f16", [("f16", x.astype(np.uint16)) for x in (a, b, c)])
    (high,) = operate("fma.rn.f16", "f16", [("f16", x.astype(np.uint16)) for x in (d, e, f)])
    assert np.array_equal(got.view(np.uint32), low.astype(np.uint32) | high.astype(np.uint32) << 16)


def test_saturation_and_flushing() -> None:
    a = np.float32([-1.0, -0.0, 0.25, 3.0, np.inf, -np.inf, np.nan, 1e-39])
    (got,) = operate("add.sat.f32", "f32", [("f32", a), "0f00000000"])
    expected = np.float32([0, 0, 0.25, 1, 1, 0, 0, 1e-39])
    assert np.array_equal(got.view(np.uint32), expected.view(np.uint32))
    (got,) = operate("add.ftz.f32", "f32", [("f32", a), "0f80000000"])
    assert got[7] == 0 and np.isnan(got[6])
    (got,) = operate("fma.rn.ftz.sat.f32", "f32", [("f32", a), "0f3F800000", "0f00000000"])
    assert list(got) == [0, 0, 0.25, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("op", "function", "tolerance"),
    [
        ("rcp.approx.f32", lambda x: 1 / x, 2.0**-23),
        ("sqrt.approx.f32", np.sqrt, 2.0**-23),
        ("rsqrt.approx.f32", lambda x: 1 / np.sqrt(x), 2.0**-22.9),
        ("ex2.approx.f32", np.exp2, 2.0**-22.5),
        ("lg2.approx.f32", np.log2, 2.0**-22),
        ("tanh.approx.f32", np.tanh, 2.0**-11),
    ],
)
def test_approximations_are_within_the_manual(
    op: str, function: Callable[[Any], Any], tolerance: float
) -> None:
    a = np.random.default_rng(1).uniform(0.01, 50, 1000).astype(np.float32)
    (got,) = operate(op, "f32", [("f32", a)])
    exact = function(a.astype(np.float64))
    assert np.all(np.abs(got - exact) <= tolerance * np.maximum(np.abs(exact), 0))


def test_min_max_modifiers() -> None:
    a = np.float32([1, -2, np.nan, -0.0])
    b = np.float32([-3, 1, 5, 0.0])
    (got,) = operate("min.xorsign.abs.f32", "f32", [("f32", a), ("f32", b)])
    assert list(got[:2]) == [-1, -1]
    (got,) = operate("max.f32", "f32", [("f32", a), ("f32", b)])
    assert list(got[:3]) == [1, 1, 5]
    (got,) = operate("max.NaN.f32", "f32", [("f32", a), ("f32", b)])
    assert got.view(np.uint32)[2] == 0x7FFFFFFF


def test_testp_and_copysign() -> None:
    a = np.array([0, 1, 0x00800000, 0x3F800000, 0x7F800000, 0x7FC00000, 0x80000001], np.uint32)
    rows = {
        "finite": [1, 1, 1, 1, 0, 0, 1],
        "infinite": [0, 0, 0, 0, 1, 0, 0],
        "number": [1, 1, 1, 1, 1, 0, 1],
        "notanumber": [0, 0, 0, 0, 0, 1, 0],
        "normal": [1, 0, 1, 1, 0, 0, 0],
        "subnormal": [0, 1, 0, 0, 0, 0, 1],
    }
    for name, expected in rows.items():
        assert list(operate(f"testp.{name}.f32", "pred", [("f32", a)])[0]) == expected
    (got,) = operate("copysign.f32", "f32", [("f32", np.float32([-1, 1])), "0f40400000"])
    assert list(got) == [-3, 3]
