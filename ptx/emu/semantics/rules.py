"""How a meaning is written down: a function on arrays, the types it takes, the types it gives.

A rule of an opcode reads the words of one spelling and returns a :class:`Meaning`. Its function
gets one array for each source, of exactly the lanes that execute, and returns one array, or a tuple
of them, of the result types. Arrays of untyped, 16-bit and packed floating-point types hold bits as
unsigned integers; ``f32`` and ``f64`` are numpy's; predicates are bool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptx import types
from ptx.emu.faults import Unmodelled

Array = NDArray[Any]

_BY_BITS: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_SIGNED: dict[int, Any] = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def dtype_of(type: str) -> Any:
    """The numpy type of a value of `type`."""
    if type == "pred":
        return np.bool_
    if type == "f32":
        return np.float32
    if type == "f64":
        return np.float64
    if type == "b128":
        return np.uint64
    width = types.bits(type)
    return _SIGNED[width] if types.is_signed(type) else _BY_BITS[width]


@dataclass(frozen=True)
class Words:
    """The words of one spelling, as ``fma.rn.ftz.f32``."""

    op: str
    selectors: tuple[str, ...] = ()
    """Of the operands in turn, as ``"b0"``, where one has any."""

    @cached_property
    def all(self) -> tuple[str, ...]:
        return tuple(self.op.split("."))

    @cached_property
    def set(self) -> frozenset[str]:
        return frozenset(self.all[1:])

    @cached_property
    def types(self) -> tuple[str, ...]:
        return tuple(word for word in self.all[1:] if word in types.TYPES)

    @property
    def opcode(self) -> str:
        return self.all[0]

    @property
    def type(self) -> str:
        """The last type word."""
        if not self.types:
            raise Unmodelled(f"{self.op} is not modelled: it names no type")
        return self.types[-1]

    def __contains__(self, word: str) -> bool:
        return word in self.set

    def one_of(self, choices: str, otherwise: str = "") -> str:
        """The first word of `choices` (separated by spaces) that the spelling has."""
        return next((word for word in choices.split() if word in self.set), otherwise)

    @property
    def rounding(self) -> str:
        """``rn``, ``rz``, ``rm`` or ``rp``; ``rn`` where none is written."""
        return self.one_of("rn rz rm rp", "rn")

    def unmodelled(self, why: str) -> Unmodelled:
        return Unmodelled(f"{self.op} is not modelled: {why}")


@dataclass(frozen=True)
class Meaning:
    """A function on arrays with the types of what it takes and gives, in operand order.

    A vector operand counts as its elements. Where `into` is given, ``into(out, *sources)`` writes
    the one result in place, with the same values.
    """

    function: Callable[..., Any]
    results: tuple[str, ...]
    sources: tuple[str, ...]
    into: Callable[..., Any] | None = None
    carry_in: bool = False
    """A further source: the carry flag, as bool."""
    carry_out: bool = False
    """A further result: the carry flag."""
    optional: str = ""
    """The type of sources beyond the listed ones, where the row has optional ones."""


Rule = Callable[[Words], Meaning]
RULES: dict[str, Rule] = {}
"""By opcode: what makes a meaning of a spelling."""


def rule(*opcodes: str) -> Callable[[Rule], Rule]:
    """Register a rule for some opcodes."""

    def register(function: Rule) -> Rule:
        for opcode in opcodes:
            RULES[opcode] = function
        return function

    return register


def same(function: Callable[..., Any], type: str, count: int = 2) -> Meaning:
    """A meaning whose sources and result all have one type; a ufunc also writes in place."""
    into = None
    if isinstance(function, np.ufunc):
        ufunc = function

        def into(out: Array, *sources: Array) -> None:
            ufunc(*sources, out=out)

    return Meaning(function, (type,), (type,) * count, into)


def unsigned(type: str) -> str:
    """The unsigned type of the same width."""
    return f"u{types.bits(type)}"


def halves(a: Array, dtype: Any = np.uint16) -> Array:
    """Packed elements as a further axis, the lowest first: ``(n,)`` 32 bits to ``(n, 2)`` 16."""
    return np.ascontiguousarray(a).view(dtype).reshape(len(a), -1)


def packed(parts: Array, dtype: Any = np.uint32) -> Array:
    """The inverse of :func:`halves`."""
    return np.ascontiguousarray(parts).view(dtype).reshape(len(parts))
