"""PTX types: their widths, their classes, and which register an operand of a type takes.

Types are plain strings without the dot, as in ``"f32"``. Sources: PTX ISA 9.0, sections 5.2
(fundamental types), 5.2.3 (alternate floating-point formats) and 9.4.1 (operand size exceeding
instruction-type size); each statement was judged by ptxas 13.0.
"""

from __future__ import annotations

from functools import cache

FUNDAMENTAL = frozenset(
    "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64".split()
)
"""Types a register may be declared with."""

HELD_IN: dict[str, str] = {
    "bf16": "b16",
    "bf16x2": "b32",
    "tf32": "b32",
    "u16x2": "b32",
    "s16x2": "b32",
    "f32x2": "b64",
    "e4m3x2": "b16",
    "e5m2x2": "b16",
    "ue8m0x2": "b16",
    "e2m1x2": "b8",
    "e2m3x2": "b16",
    "e3m2x2": "b16",
    "e4m3x4": "b32",
    "e5m2x4": "b32",
    "e2m1x4": "b16",
    "e2m3x4": "b32",
    "e3m2x4": "b32",
}
"""Formats without a register type of their own, and the untyped register that holds them."""

TYPES = (
    FUNDAMENTAL
    | HELD_IN.keys()
    | frozenset("b1 b1024 u2 s2 u4 s4 e4m3 e5m2 e2m1 e2m3 e3m2 ue8m0 ue4m3".split())
)
"""Every type word that may stand in an opcode."""


OPAQUE = frozenset(("texref", "samplerref", "surfref"))
"""Types of variables and parameters that are handles rather than numbers."""


@cache
def bits(type: str) -> int:
    """Width in bits of a register of ``type``; a predicate counts as 1, a handle as its address."""
    if type == "pred":
        return 1
    if type in OPAQUE:
        return 64
    held = HELD_IN.get(type, type)
    return 32 if held == "f16x2" else int(held[1:])


@cache
def kind(type: str) -> str:
    """``"pred"``, ``"b"`` (untyped), ``"i"`` (integer, either sign) or ``"f"`` (floating)."""
    if type == "pred":
        return "pred"
    if type[0] == "b" and not type.startswith("bf"):
        return "b"
    return "i" if type[0] in "us" and not type.startswith("ue") else "f"


def is_signed(type: str) -> bool:
    return type[0] == "s"


def register_type(type: str) -> str:
    """The type of the register that holds a value of ``type``."""
    return HELD_IN.get(type, type)


def widened(type: str) -> str:
    """The type twice as wide, as ``mul.wide`` makes it: ``u16`` to ``u32``."""
    return type[0] + str(2 * bits(type))


@cache
def accepts(want: str, have: str, wide: bool = False) -> bool:
    """Whether an operand of type ``want`` takes a register declared ``have``.

    Widths must be equal, or ``have`` the wider one where ``wide`` says that the instruction
    relaxes this (ld, st, cvt). Untyped matches everything, signed and unsigned match each other,
    floating point matches only itself, and a format of :data:`HELD_IN` wants exactly its untyped
    register.
    """
    if want == "pred" or have == "pred":
        return want == have
    if want in HELD_IN:
        return have == HELD_IN[want]
    if bits(have) < bits(want) or (bits(have) != bits(want) and not wide):
        return False
    want_kind, have_kind = kind(want), kind(have)
    if want_kind == have_kind == "f":
        return want == have
    return "b" in (want_kind, have_kind) or want_kind == have_kind
