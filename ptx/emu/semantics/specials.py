"""Values apart from the rest: NaN results, flushed subnormals, saturation."""

from __future__ import annotations

import numpy as np

from ptx.emu.semantics.rounding import F32_MIN_NORMAL
from ptx.emu.semantics.rules import Array

NAN_32 = np.uint32(0x7FFFFFFF)
NAN_64 = np.uint64(0xFFF8000000000000)


def flushed(a: Array) -> Array:
    """Subnormals as zeros of their sign."""
    if a.dtype == np.float64:
        return a
    small = np.abs(a) < np.float32(F32_MIN_NORMAL)
    return np.where(small, np.copysign(np.float32(0), a), a) if small.any() else a


def canonical(result: Array) -> Array:
    """Every float32 NaN as 0x7FFFFFFF, in place."""
    wrong = np.isnan(result)
    if wrong.any():
        result.view(np.uint32)[wrong] = NAN_32
    return result


def nan_of_operands(result: Array, sources: tuple[Array, ...], quiet: bool = True) -> Array:
    """float64 NaNs with the payload of a NaN operand, quieted or as it is: of b, else c, else a."""
    wrong = np.isnan(result)
    if wrong.any():
        bits = np.full(len(result), NAN_64)
        for source in (sources[0], *reversed(sources[1:])):
            payload = np.ascontiguousarray(source).view(np.uint64)
            if quiet:
                payload = payload | np.uint64(1 << 51)
            bits = np.where(np.isnan(source), payload, bits)
        result = np.where(wrong, bits, result.view(np.uint64)).view(np.float64)
    return result


def saturated(result: Array) -> Array:
    """Clamped to [0, 1], NaN to +0."""
    clipped = np.clip(result, 0, 1)
    clipped[np.isnan(result) | (result <= 0)] = 0
    return clipped.astype(result.dtype)
