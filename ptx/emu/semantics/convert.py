"""cvt between all pairs (PTX ISA 9.0, section 9.7.9.22), exact in every rounding mode.

Integers that float64 cannot hold are first rounded to odd at 53 bits, which keeps the one rounding
to a narrower format right. NaN becomes 0 as an integer, or, where the source is f64 or the
destination has 64 bits, the integer with its highest bit alone.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from ptx import types
from ptx.emu.semantics import half, stochastic
from ptx.emu.semantics.rounding import FORMATS, directed, overflowed, quantised, two_sum
from ptx.emu.semantics.rules import Array, Meaning, Words, dtype_of, halves, rule
from ptx.emu.semantics.specials import NAN_32, flushed, nan_of_operands, saturated

_TO_WHOLE: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_NARROW = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
_NAN_BITS = {"e4m3": 0x7F, "e5m2": 0x7F}


@rule("cvt")
def convert(words: Words) -> Meaning:
    if "pack" in words:
        return _pack(words)
    to, source = words.types[-2:]
    if to.rpartition("x")[0] or source.rpartition("x")[0] or to == "tf32":
        return _packed_formats(words, to, source)
    if types.kind(to) != "f":
        if types.kind(source) != "f":
            return _integers(words, to, source)
        return _to_integer(words, to, source)
    if types.kind(source) != "f":
        return _from_integer(words, to, source)
    return _floats(words, to, source)


def _integers(words: Words, to: str, source: str) -> Meaning:
    kind = dtype_of(to)
    if "sat" not in words:
        return Meaning(lambda a: a.astype(kind), (to,), (source,))
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    have = np.iinfo(dtype_of(source))

    def function(a: Array) -> Array:
        return np.clip(a, max(low, have.min), min(high, have.max)).astype(kind)

    return Meaning(function, (to,), (source,))


def widened(a: Array, form: str) -> Array:
    """A floating-point source as float64."""
    return a.astype(np.float64) if form in ("f32", "f64") else half.widened(a, form)


def _to_integer(words: Words, to: str, source: str) -> Meaning:
    kind = dtype_of(to)
    limits = np.iinfo(kind)
    whole = _TO_WHOLE[words.one_of("rni rzi rmi rpi")]
    width = types.bits(to)
    nan = 1 << (width - 1) if source == "f64" or width == 64 else 0
    flush = "ftz" in words and source == "f32"
    nan_value = np.array(nan, f"u{width // 8}").view(kind)[()]

    def function(a: Array) -> Array:
        a = np.ascontiguousarray(a)
        value = whole(widened(flushed(a) if flush else a, source))
        # 2^63 and 2^64 are float64s, their predecessors are not: compare, then convert inside.
        over, under = value >= float(limits.max) + (1 if width < 53 else 0), value < limits.min
        inside = ~(over | under | np.isnan(value))
        result = np.where(inside, value, 0.0).astype(kind)
        result[over] = limits.max
        result[under] = limits.min
        result[np.isnan(value)] = nan_value
        return result

    return Meaning(function, (to,), (source,))


def _odd_f64(a: Array) -> Array:
    """Integers as float64, rounded to odd where 53 bits do not hold them."""
    if a.dtype.itemsize < 8:
        return a.astype(np.float64)
    negative = a < 0
    size = np.where(negative, np.uint64(0) - a.astype(np.uint64), a.astype(np.uint64))
    large = size >= np.uint64(1 << 53)
    sticky = (size & np.uint64(0x7FF)) != 0
    cut = ((size >> np.uint64(11)) | sticky).astype(np.float64) * 2048.0
    value = np.where(large, cut, size.astype(np.float64))
    return np.where(negative, -value, value)


def _integer_f64(a: Array, mode: str) -> Array:
    """Integers rounded to float64."""
    if a.dtype.itemsize < 8:
        return a.astype(np.float64)
    high = (a >> a.dtype.type(32)).astype(np.float64) * 2.0**32
    low = (a & a.dtype.type(0xFFFFFFFF)).astype(np.float64)
    s, error = two_sum(high, low)
    return directed(s, error, mode)


def _from_integer(words: Words, to: str, source: str) -> Meaning:
    mode = words.rounding

    def function(a: Array) -> Array:
        if to == "f64":
            result = _integer_f64(a, mode)
            return saturated(result) if "sat" in words else result
        return narrowed(words, _odd_f64(a), to)

    return Meaning(function, (to,), (source,))


def narrowed(words: Words, value: Array, to: str) -> Array:
    """float64 rounded once to f32, f16 or bf16, with the modifiers of cvt."""
    mode = words.rounding
    if "relu" in words:
        value = np.where(value <= 0, 0.0, value)
    form = FORMATS[to]
    rounded = quantised(value, form, mode)
    if "satfinite" in words:
        rounded = np.where(np.isnan(value), np.nan, np.clip(rounded, -form.largest, form.largest))
    rounded = overflowed(rounded, form, mode)
    if "ftz" in words and to == "f32":
        small = np.abs(rounded) < form.smallest_normal
        rounded = np.where(small, np.copysign(0.0, rounded), rounded)
    if "sat" in words:
        rounded = saturated(rounded)
    if to != "f32":
        return half.narrowed(rounded, to)
    result = rounded.astype(np.float32)
    result.view(np.uint32)[np.isnan(rounded)] = NAN_32
    return result


def _floats(words: Words, to: str, source: str) -> Meaning:
    whole = words.one_of("rni rzi rmi rpi")
    ftz = "ftz" in words
    if to == source and to in ("f32", "f64") and not (whole or ftz or "sat" in words):
        return Meaning(lambda a: a, (to,), (source,))
    if (source, to, ftz) == ("bf16", "f32", False):
        return Meaning(lambda a: a.astype(np.uint32) << np.uint32(16), ("b32",), (source,))
    # To f16 the machine code has no flush, though .ftz may be written.
    flush = ftz and source == "f32" and to != "f16"

    def function(a: Array) -> Array:
        a = np.ascontiguousarray(a)
        value = widened(flushed(a) if flush else a, source)
        if whole:
            value = np.copysign(_TO_WHOLE[whole](value), value)
        if to == "f64":
            if "sat" in words:
                return saturated(value)
            return np.where(np.isnan(value), _NAN_WIDENED, value) if ftz else quiet(value)
        result = narrowed(words, value, to)
        if source == "f64" and "sat" not in words:
            return _with_payload(result, to, quiet(value))
        return result

    return Meaning(function, (to,), (source,))


_NAN_WIDENED = np.uint64(0x7FFFFFFFE0000000).view(np.float64)
"""The NaN of a flushed float32, as float64."""


def quiet(value: Array) -> Array:
    return nan_of_operands(value, (value,))


def _with_payload(result: Array, to: str, value: Array) -> Array:
    """`result` with NaN not the format's own but that of `value`, cut to the narrower format: what
    an H200 makes of float64.
    """
    nan = np.isnan(value)
    if not nan.any():
        return result
    kind, fraction = {"f32": (np.uint32, 23), "f16": (np.uint16, 10), "bf16": (np.uint16, 7)}[to]
    sign = np.dtype(kind).itemsize * 8 - 1
    bits = value.view(np.uint64)
    cut = (bits >> np.uint64(52 - fraction)) & np.uint64((1 << fraction) - 1)
    cut |= np.uint64((1 << sign) - (1 << fraction)) | (bits >> np.uint64(63) << np.uint64(sign))
    return np.where(nan, cut.astype(kind), result.view(kind)).view(result.dtype)


def small_bits(value: Array, form: str, words: Words) -> Array:
    """float64 rounded to the bytes of an 8-bit or narrower format, saturating at its largest."""
    if "relu" in words:
        value = np.where(value <= 0, 0.0, value)
    to = FORMATS[form]
    rounded = quantised(value, to, words.rounding)
    rounded = np.clip(rounded, -to.largest, to.largest)
    nan = np.isnan(value)
    bits = np.where(nan, 0.0, rounded).astype(np.float32).astype(_NARROW[form]).view(np.uint8)
    if form in _NAN_BITS:
        return np.where(nan, np.uint8(_NAN_BITS[form]), bits)
    # Formats without NaN take it for their largest value.
    largest = np.float32(to.largest).astype(_NARROW[form]).view(np.uint8)
    return np.where(nan, largest, bits)


def small_values(bits: Array, form: str) -> Array:
    """Bytes of a narrow format as float64."""
    return bits.view(_NARROW[form]).astype(np.float64)


def _to_tf32(words: Words) -> Meaning:
    """tf32 keeps float32's place in the register; its 13 lowest bits are 0."""
    if "rna" in words:
        return Meaning(lambda a: _tf32_away(a, "satfinite" in words), ("b32",), ("f32",))
    mode = words.rounding
    form = FORMATS["tf32"]

    def function(a: Array) -> Array:
        value = a.astype(np.float64)
        if "relu" in words:
            value = np.where(value <= 0, 0.0, value)
        rounded = quantised(value, form, mode)
        if "satfinite" in words:
            rounded = np.clip(rounded, -form.largest, form.largest)
        bits = overflowed(rounded, form, mode).astype(np.float32).view(np.uint32)
        return np.where(np.isnan(value), _NAN_TF32, bits)

    return Meaning(function, ("b32",), ("f32",))


_NAN_TF32 = np.uint32(0x7FFFE000)


def _tf32_away(a: Array, satfinite: bool) -> Array:
    """``.rna``: half a unit added to the bits and the rest cut off; NaN and infinity are but cut.

    With ``.satfinite`` what has the exponent of infinity then is taken down one unit: a NaN too, as
    on an H200, where the manual has NaN stay NaN.
    """
    bits = np.ascontiguousarray(a).view(np.uint32)
    exponent = np.uint32(0x7F800000)
    half = np.where((bits & exponent) == exponent, np.uint32(0), np.uint32(0x1000))
    cut = (bits + half) & np.uint32(0xFFFFE000)
    if satfinite:
        cut -= np.where((cut & exponent) == exponent, np.uint32(0x2000), np.uint32(0))
    return cut


def _packed_formats(words: Words, to: str, source: str) -> Meaning:
    if to == "tf32":
        return _to_tf32(words)
    if "rs" in words:
        return stochastic.meaning(words, to)
    if "ue8m0x2" in (to, source):
        return _scales(words, to, source)
    form = to.rsplit("x", 1)[0]
    if form in _NARROW:
        return _to_small(words, form, to, source)
    if source.rsplit("x", 1)[0] in _NARROW:
        return _from_small(words, source.rsplit("x", 1)[0], to, source)

    def two(a: Array, b: Array) -> Array:
        """The first operand goes to the upper half."""
        high = narrowed(words, a.astype(np.float64), form).astype(np.uint32)
        return (high << np.uint32(16)) | narrowed(words, b.astype(np.float64), form)

    return Meaning(two, (to,), ("f32", "f32"))


def _to_small(words: Words, form: str, to: str, source: str) -> Meaning:
    nibbles = form == "e2m1"

    def join(high: Array, low: Array) -> Array:
        if nibbles:
            return (high << np.uint8(4)) | low
        return (high.astype(np.uint16) << np.uint16(8)) | low

    if source == "f32":
        return Meaning(
            lambda a, b: join(
                small_bits(a.astype(np.float64), form, words),
                small_bits(b.astype(np.float64), form, words),
            ),
            (to,),
            ("f32", "f32"),
        )

    def function(a: Array) -> Array:
        value = half.widened(halves(a).ravel(), source[:-2])
        bits = small_bits(value, form, words).reshape(-1, 2)
        return join(bits[:, 1], bits[:, 0])

    return Meaning(function, (to,), (source,))


def _from_small(words: Words, form: str, to: str, source: str) -> Meaning:
    target = half.element(to)

    def function(a: Array) -> Array:
        if form == "e2m1":
            bytes_ = np.stack([a & np.uint8(15), a >> np.uint8(4)], axis=1).astype(np.uint8)
        else:
            bytes_ = halves(a, np.uint8)
        value = small_values(np.ascontiguousarray(bytes_).ravel(), form)
        if "relu" in words:
            value = np.where(value <= 0, 0.0, value)
        return np.ascontiguousarray(half.narrowed(value, target)).view(np.uint32)

    return Meaning(function, (to,), (source,))


def _scales(words: Words, to: str, source: str) -> Meaning:
    """ue8m0: powers of two, exponent biased by 127, 0xFF for NaN."""
    if source == "ue8m0x2":

        def expand(a: Array) -> Array:
            bits = halves(a, np.uint8).ravel()
            value = np.ldexp(1.0, bits.astype(np.int32) - 127)
            value = np.where(bits == 0xFF, np.nan, value)
            return np.ascontiguousarray(half.narrowed(value, "bf16")).view(np.uint32)

        return Meaning(expand, (to,), (source,))
    up = words.rounding == "rp"

    def code(value: Array) -> Array:
        size = np.abs(value)
        mantissa, exponent = np.frexp(size)
        power = exponent - 1 + ((mantissa > 0.5) & up)
        bits = np.where(size == 0, 0, np.clip(power + 127, 0, 254))
        bits = np.where(np.isinf(size), 254 if "satfinite" in words else 255, bits)
        return np.where(np.isnan(value), 255, bits).astype(np.uint16)

    if source == "f32":
        return Meaning(
            lambda a, b: (code(a.astype(np.float64)) << np.uint16(8)) | code(b.astype(np.float64)),
            (to,),
            ("f32", "f32"),
        )

    def function(a: Array) -> Array:
        both = code(half.widened(halves(a).ravel(), "bf16")).reshape(-1, 2)
        return (both[:, 1] << np.uint16(8)) | both[:, 0]

    return Meaning(function, (to,), (source,))


def _pack(words: Words) -> Meaning:
    """``cvt.pack.sat``: both operands saturated, the second lower; a third fills the upper bits."""
    to = words.types[0]
    width = int(to[1:])
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if to[0] == "s" else (0, 2**width - 1)
    mask = np.uint32(2**width - 1)

    def function(a: Array, b: Array, c: Array | None = None) -> Array:
        first = np.clip(a, low, high).astype(np.uint32) & mask
        second = np.clip(b, low, high).astype(np.uint32) & mask
        both = (first << np.uint32(width)) | second
        return both if c is None else (c << np.uint32(2 * width)) | both

    sources = ("s32", "s32") + (("b32",) if len(words.types) > 2 else ())
    return Meaning(function, ("b32",), sources)
