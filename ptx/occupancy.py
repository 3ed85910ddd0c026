"""Occupancy: how many CTAs of a kernel one multiprocessor (SM) holds at once, and what stops more.

Limits are those of the CUDA Programming Guide (CUDA 13), appendix Compute Capabilities, table
"Device and Streaming Multiprocessor (SM) Information per Compute Capability"; the units in which
registers, shared memory and barriers are given out are those of `cuda_occupancy.h`, the toolkit's
own calculator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

WARP = 32
MAX_THREADS = 1024
"""Of a CTA, on every target."""

REGISTERS = 65536
"""32-bit registers of an SM, on every target; a CTA may have all of them."""

REGISTER_UNIT = 256
"""A warp's registers are a multiple of this."""

PARTITIONS = 4
"""Of an SM, each with its own warps and a quarter of the registers."""

KIB = 1024


@dataclass(frozen=True)
class Limits:
    """What an SM of one compute capability holds."""

    ctas: int
    warps: int
    shared_bytes: int
    reserved_bytes: int = KIB
    """Of shared memory, taken by the system for each CTA."""
    shared_unit: int = 128
    """A CTA's shared memory is a multiple of so many bytes."""
    barriers_a_cta: int = 0
    """Named barriers of the SM, for each CTA that it can hold; 0 where they never limit."""

    @property
    def cta_shared_bytes(self) -> int:
        """The most that a CTA may ask for, static and dynamic together."""
        return self.shared_bytes - self.reserved_bytes


LIMITS = {
    "75": Limits(16, 32, 64 * KIB, reserved_bytes=0, shared_unit=256),
    "80": Limits(32, 64, 164 * KIB),
    "86": Limits(16, 48, 100 * KIB),
    "87": Limits(16, 48, 164 * KIB),
    "89": Limits(24, 48, 100 * KIB),
    "90": Limits(32, 64, 228 * KIB, barriers_a_cta=2),
    "100": Limits(32, 64, 228 * KIB, barriers_a_cta=2),
    "103": Limits(32, 64, 228 * KIB, barriers_a_cta=2),
    "110": Limits(24, 48, 228 * KIB, barriers_a_cta=1),
    "120": Limits(24, 48, 100 * KIB, barriers_a_cta=1),
    "121": Limits(24, 48, 100 * KIB, barriers_a_cta=1),
}
"""By compute capability."""


@dataclass(frozen=True)
class Occupancy:
    """Of one kernel, launched with CTAs of `threads` threads."""

    threads: int
    ctas: int
    """That an SM holds at once; 0 where not even one fits."""
    warps: int
    """Of those CTAs together."""
    of_warps: int
    """That the SM has room for."""
    limited_by: tuple[str, ...]
    """What stops one CTA more: registers, shared memory, warps, CTAs, barriers."""

    @property
    def share(self) -> float:
        return self.warps / self.of_warps

    def __str__(self) -> str:
        head = f"{self.threads} threads a CTA: "
        limits = " and ".join(self.limited_by)
        if not self.ctas:
            return f"{head}does not fit an SM ({limits})"
        plural = "" if self.ctas == 1 else "s"
        return (
            f"{head}{self.ctas} CTA{plural} on an SM, {self.warps} of {self.of_warps} warps "
            f"({self.share:.0%}), limited by {limits}"
        )


def limits_of(target: str) -> Limits | None:
    """Of ``"sm_90a"``; None where no source tells."""
    match = re.fullmatch(r"sm_(\d+)[af]?", target)
    return LIMITS.get(match[1]) if match else None


def occupancy(
    target: str,
    *,
    threads: int,
    registers: int,
    shared_bytes: int = 0,
    barriers: int = 0,
) -> Occupancy | None:
    """Occupancy on `target` with all of the SM's shared memory to give; None where it is unknown.

    `registers` a thread; `shared_bytes`, static and dynamic, and named `barriers`, a CTA. Raises
    ValueError for CTAs that no launch can have.
    """
    if not 0 < threads <= MAX_THREADS:
        raise ValueError(f"threads is {threads}; a CTA has 1 to {MAX_THREADS}")
    limits = limits_of(target)
    if limits is None:
        return None
    warps = -(-threads // WARP)
    room = {
        "warps": limits.warps // warps,
        "CTAs": limits.ctas,
        "registers": _by_registers(registers, warps),
        "shared memory": _by_shared(limits, shared_bytes),
    }
    if barriers and limits.barriers_a_cta:
        room["barriers"] = limits.ctas * limits.barriers_a_cta // barriers
    ctas = min(room.values())
    limited_by = tuple(name for name, most in room.items() if most == ctas)
    return Occupancy(threads, ctas, ctas * warps, limits.warps, limited_by)


def _by_registers(registers: int, warps: int) -> int:
    each = _up(max(registers, 1) * WARP, REGISTER_UNIT)
    return REGISTERS // PARTITIONS // each * PARTITIONS // warps


def _by_shared(limits: Limits, asked: int) -> int:
    if asked > limits.cta_shared_bytes:
        return 0
    each = _up(asked + limits.reserved_bytes, limits.shared_unit)
    return limits.shared_bytes // each if each else limits.ctas


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
