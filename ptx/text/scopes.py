"""Which names a place in a function sees, and what they are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ptx import isa
from ptx.ir import Reg, Registers, Special, Symbol, Vector

DIGITS = 9
"""The most digits that the number of a register may have."""
LOOKED_AT = 2000
"""How many names are compared with one that is not declared."""

Named = Reg | Vector | Symbol

COMPONENTS = "xyzw"
SPECIAL_VECTORS = frozenset(name.partition(".")[0] for name in isa.SPECIAL if name.endswith(".x"))
"""Special registers with axes, ``%tid``: an instruction may read all four at once."""


class Scope:
    """The names of a function, or of one pair of braces in it; `outer` holds those around it."""

    def __init__(self, number: int = 0, outer: Scope | None = None) -> None:
        self.number = number
        self.outer = outer
        self.names: dict[str, Named] = {}
        self.elements: dict[str, int] = {}
        """The bytes of an element of each array."""
        self.ranges: dict[str, Registers] = {}
        """Numbered registers by what stands before the number."""
        self.digits_before = False
        """Whether that ends in a digit for some, as ``.reg .b32 %r1_2<8>`` would have it."""
        self.numbered: dict[str, list[str]] = {}
        """The other names that end in digits, by what may stand before a number."""

    def declare_registers(self, declared: Registers) -> str:
        """Adds registers; why they may not be declared where they may not, else ``""``."""
        name = declared.name
        if declared.count is None:
            if reason := self._taken(name):
                return reason
            self._add(name, self._registers(declared))
            return ""
        if name in self.ranges:
            return f"{name}<> is declared twice: {spelled(self.ranges[name])} is there already"
        near = self.numbered.get(name, ())
        first = next((n for n in near if index_in(n, declared) is not None), None)
        if first is not None:
            return f"{spelled(declared)} declares {first} a second time"
        self.ranges[name] = declared
        self.digits_before |= name[-1].isdigit()
        return ""

    def _registers(self, declared: Registers) -> Reg | Vector:
        name, type = declared.name, declared.type
        if declared.vector is None:
            return Reg(name, type, scope=self.number)
        parts = [f"{name}.{axis}" for axis in COMPONENTS[: declared.vector]]
        return Vector(tuple(Reg(part, type, scope=self.number) for part in parts))

    def declare_variable(self, name: str, space: str, element_bytes: int = 0) -> str:
        """Adds a variable or parameter; `element_bytes` is 0 where it is no array."""
        if reason := self._taken(name):
            return reason
        self._add(name, Symbol(name, 0, space, self.number))
        if element_bytes:
            self.elements[name] = element_bytes
        return ""

    def element_bytes(self, name: str) -> int:
        """Of the array that `name` is here; 0 where it is none."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope.elements.get(name, 0) if scope is not None else 0

    def declare_function(self, name: str) -> None:
        self.names.setdefault(name, Symbol(name))

    def _taken(self, name: str) -> str:
        if name in self.names:
            return f"{name} is declared twice in one scope"
        for prefix in prefixes(name):
            there = self.ranges.get(prefix)
            if there is not None and index_in(name, there) is not None:
                return f"{name} is declared twice: {spelled(there)} is there already"
        return ""

    def _add(self, name: str, named: Named) -> None:
        self.names[name] = named
        for prefix in prefixes(name):
            self.numbered.setdefault(prefix, []).append(name)

    def find(self, name: str) -> Named | Special | None:
        """What `name` is here, or None."""
        scope: Scope | None = self
        stem = name.rstrip("0123456789")
        digits = name[len(stem) :]
        # Of the usual register, whose prefix ends in no digit; -1 where that is no number.
        number = int(digits) if digits.isdecimal() and len(digits) <= DIGITS else -1
        if digits[:1] == "0" and number:
            number = -1
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            if digits and scope.ranges:
                if scope.digits_before:
                    for prefix in prefixes(name):
                        declared = scope.ranges.get(prefix)
                        if declared is not None and index_in(name, declared) is not None:
                            return Reg(name, declared.type, scope=scope.number)
                elif (
                    number >= 0
                    and (declared := scope.ranges.get(stem)) is not None
                    and number < (declared.count or 0)
                ):
                    return Reg(name, declared.type, scope=scope.number)
            scope = scope.outer
        if name in isa.SPECIAL:
            return Special(name)
        if name in SPECIAL_VECTORS:
            return Vector(tuple(Special(f"{name}.{axis}") for axis in COMPONENTS))
        return None

    def why_unknown(self, name: str) -> str:
        """Why :meth:`find` found nothing, with the nearest declaration."""
        seen: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            for prefix in prefixes(name):
                declared = scope.ranges.get(prefix)
                if declared is not None and declared.count is not None:
                    return f"{name} is out of range: {spelled(declared)} declares " + (
                        f"{prefix}0 to {prefix}{declared.count - 1}" if declared.count else "none"
                    )
            seen += scope.names
            seen += [f"{prefix}0" for prefix, r in scope.ranges.items() if r.count]
            scope = scope.outer
        near = difflib.get_close_matches(name, _specials_like(name) + seen[:LOOKED_AT], n=3)
        return f"{name} is not declared" + (f"; near: {', '.join(near)}" if near else "")


def _specials_like(name: str) -> list[str]:
    return list(isa.SPECIAL) if name.startswith("%") else []


def prefixes(name: str) -> Iterable[str]:
    """What may stand before the number of a numbered register: of ``%r12`` ``%r1`` and ``%r``."""
    end = len(name)
    while end and name[end - 1].isdigit() and len(name) - end < DIGITS:
        end -= 1
        yield name[:end]


def index_in(name: str, declared: Registers) -> int | None:
    """The number of a register among those that ``.reg .b32 %r<n>`` declares, or None."""
    digits = name[len(declared.name) :]
    if declared.count is None or not name.startswith(declared.name) or not digits.isdecimal():
        return None
    if len(digits) > DIGITS or (digits[0] == "0" and digits != "0"):
        return None
    return int(digits) if int(digits) < declared.count else None


def spelled(declared: Registers) -> str:
    """``.reg .b32 %r<20>``, without the semicolon."""
    vector = f" .v{declared.vector}" if declared.vector else ""
    count = f"<{declared.count}>" if declared.count is not None else ""
    return f".reg{vector} .{declared.type} {declared.name}{count}"
