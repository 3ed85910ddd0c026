"""Operands: patterns of bits for every type, weighted to the edges where arithmetic goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ptx import types

Array = NDArray[Any]
UNSIGNED: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@dataclass(frozen=True)
class Layout:
    """A binary floating-point format: bits of exponent and of fraction, the sign above them."""

    exponent: int
    fraction: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    def pattern(self, power: int, fraction: int = 0) -> int:
        """The bits of ``2**power * (1 + fraction / 2**self.fraction)``."""
        return ((power + self.bias) << self.fraction) + fraction

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction


LAYOUTS = {
    "f64": Layout(11, 52),
    "f32": Layout(8, 23),
    "f16": Layout(5, 10),
    "bf16": Layout(8, 7),
    "e4m3": Layout(4, 3),
    "e5m2": Layout(5, 2),
}


def width(type: str) -> int:
    """Bits that a value of `type` takes in memory: at least 8."""
    return max(8, types.bits(type))


def storage(type: str) -> Any:
    return UNSIGNED[width(type)]


def _integer_edges(bits: int) -> list[int]:
    top = 1 << (bits - 1)
    near = [0, 1, 2, 3, 5, 7, 8, 15, 16, 24, 31, 32, 33, 47, 63, 64, 65, 127, 128, 255, 256, 257]
    marks = [top, top - 1, top + 1, 2 * top - 1, 2 * top - 2, 2 * top - 32, 2 * top - 128]
    marks += [0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF, 0x80008000, 0x7FFF8000]
    marks += [1 << (bits // 2), (1 << (bits // 2)) - 1, 0xFFFF8000, 0x00FFFFFF, 0xFF800000]
    return [value & (2 * top - 1) for value in near + marks]


def _float_edges(layout: Layout) -> list[int]:
    one, least = layout.pattern(0), 1 << layout.fraction
    infinity, ulps = layout.infinity, (1 << layout.fraction) - 1
    positive = [0, 1, 2, least - 1, least, least + 1, least + (least >> 1), one, one + 1, one - 1]
    positive += [infinity - 1, infinity - 2, infinity, infinity + 1, infinity + ulps]
    positive += [infinity + (least >> 1), infinity + (least >> 1) + 1]
    positive += [layout.pattern(-1), layout.pattern(1), layout.pattern(1, least >> 1)]
    positive += [layout.pattern(0, least >> 1), layout.pattern(-1) + 1, layout.pattern(-1) - 1]
    for power in (7, 8, 15, 16, 31, 32, 63, 64):
        if power <= layout.bias:
            positive += [layout.pattern(power), layout.pattern(power) - 1]
    # Square roots of the ends: their products over- and underflow by little.
    half = layout.bias // 2
    positive += [layout.pattern(half), layout.pattern(half, ulps), layout.pattern(-half, ulps)]
    sign = 1 << (layout.exponent + layout.fraction)
    return positive + [value | sign for value in positive]


def element(type: str) -> tuple[str, int]:
    """The element of a packed type, and how many of them it holds: ``f16x2`` is two ``f16``."""
    name, _, count = type.rpartition("x")
    return (name, int(count)) if name and count.isdigit() else (type, 1)


@cache
def edges(type: str) -> tuple[int, ...]:
    """Patterns of one element of `type` that arithmetic gets wrong first."""
    if type == "pred":
        return (0, 1)
    one, count = element(type)
    if one in LAYOUTS:
        found = _float_edges(LAYOUTS[one])
    else:
        bits = types.bits(type) // count
        found = _integer_edges(bits)
        if type[0] == "b" and bits in (16, 32, 64):
            found += _float_edges(LAYOUTS[f"f{bits}"])[:20]
    return tuple(dict.fromkeys(found))


def _random_floats(layout: Layout, count: int, draw: np.random.Generator) -> Array:
    """Exponents near each other, so that sums meet; and fractions near ties of shorter formats."""
    bits = 1 + layout.exponent + layout.fraction
    sign = draw.integers(0, 2, count, dtype=np.uint64) << np.uint64(bits - 1)
    powers = layout.bias + np.rint(draw.normal(0, 6, count)).astype(np.int64)
    powers = np.where(draw.random(count) < 0.03, 2 * layout.bias + 1, powers)
    wide = draw.integers(0, 1 << layout.exponent, count)
    powers = np.where(draw.random(count) < 0.25, wide, np.clip(powers, 0, 2 * layout.bias + 1))
    fraction = draw.integers(0, 1 << layout.fraction, count, dtype=np.uint64)
    for shorter in (0, 1, 2, 3, 7, 10, 23):
        if shorter < layout.fraction:
            chosen = draw.random(count) < 0.06
            step = np.uint64(layout.fraction - shorter)
            tie = (fraction >> step << step) | np.uint64(1 << (layout.fraction - shorter - 1))
            tie = tie + draw.integers(0, 3, count, dtype=np.uint64) - np.uint64(1)
            fraction = np.where(chosen, tie & np.uint64((1 << layout.fraction) - 1), fraction)
    return sign | (powers.astype(np.uint64) << np.uint64(layout.fraction)) | fraction


def _random_integers(bits: int, count: int, draw: np.random.Generator) -> Array:
    """Half of any magnitude alike, half of any bits alike."""
    value = draw.integers(0, (1 << bits) - 1, count, dtype=np.uint64, endpoint=True)
    small = value >> draw.integers(0, bits, count, dtype=np.uint64)
    small = np.where(draw.random(count) < 0.5, small, ~small)
    chosen = np.where(draw.random(count) < 0.5, small, value)
    return chosen & np.uint64((1 << bits) - 1)


def _one_element(type: str, bits: int, count: int, draw: np.random.Generator) -> Array:
    known = np.array(edges(type), np.uint64)
    if element(type)[0] in LAYOUTS:
        drawn = _random_floats(LAYOUTS[element(type)[0]], count, draw)
    else:
        drawn = _random_integers(bits, count, draw)
    return np.where(draw.random(count) < 0.4, draw.choice(known, count), drawn)


def random(type: str, count: int, draw: np.random.Generator) -> Array:
    """`count` values of `type` as bits: edges, near-edges and random ones."""
    if type == "pred":
        return draw.integers(0, 2, count, dtype=np.uint8)
    parts = element(type)[1]
    bits = types.bits(type) // parts
    whole = np.zeros(count, np.uint64)
    for part in range(parts):
        whole |= _one_element(type, bits, count, draw) << np.uint64(part * bits)
    return whole.astype(storage(type))


def generator(seed: int, *names: str) -> np.random.Generator:
    """Random numbers of their own for each name, the same in every run."""
    return np.random.default_rng([seed, crc32(" ".join(names).encode())])


def columns(signature: tuple[str, ...], count: int, seed: int) -> list[Array]:
    """Source operands of `count` lanes: pairs of edges first, then random ones.

    A third of the lanes of ``a * b + c`` has c near ``-a * b``, where a second rounding shows.
    """
    draw = generator(seed, *signature)
    found = [random(type, count, draw) for type in signature]
    known = [np.array(edges(type), storage(type)) for type in signature]
    singles = [element(type)[1] == 1 for type in signature]
    if len(signature) > 1 and singles[0] and singles[1]:
        limit = int((0.6 * count) ** 0.5)
        first, second = (list(draw.permutation(values))[:limit] for values in known[:2])
        pairs = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
        found[0][: len(pairs)], found[1][: len(pairs)] = pairs[:, 0], pairs[:, 1]
    elif singles[0]:
        found[0][: len(known[0])] = draw.permutation(known[0])[:count]
    if len(signature) == 3 and len(set(signature)) == 1 and signature[0] in ("f16", "f32", "f64"):
        chosen = draw.random(count) < 0.3
        kind = np.dtype(signature[0].replace("f16", "f2").replace("f32", "f4").replace("f64", "f8"))
        a, b, c = (column.view(kind) for column in found)
        with np.errstate(all="ignore"):
            c[chosen] = -(a[chosen] * b[chosen])
        found[2][chosen] += draw.integers(0, 3, int(chosen.sum())).astype(found[2].dtype)
        found[2][chosen] -= found[2].dtype.type(1)
    if signature[:2] == ("f32", "f32"):
        _near_least_normal(found, draw)
    return found


def _near_least_normal(columns: list[Array], draw: np.random.Generator) -> None:
    """Make products (and quotients) of a twentieth of the lanes lie just around 2**-126."""
    chosen = np.flatnonzero(draw.random(len(columns[0])) < 0.05)
    count = len(chosen)
    first = draw.integers(1 << 23, 1 << 24, count)
    second = (1 << 47) // first + draw.integers(0, 2, count)
    power = draw.integers(-120, -30, count)
    sign = draw.integers(0, 2, count).astype(np.uint32) << np.uint32(31)
    a = np.ldexp(first.astype(np.float32), power)
    b = np.ldexp(second.astype(np.float32), -126 - 47 - power)
    columns[0][chosen] = a.astype(np.float32).view(np.uint32) ^ sign
    columns[1][chosen] = b.astype(np.float32).view(np.uint32)
    if len(columns) == 3 and columns[2].dtype == np.uint32:
        columns[2][chosen] = draw.integers(0, 4, count).astype(np.uint32) << np.uint32(31)
