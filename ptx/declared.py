"""What each pair of braces of a function declares, and which names are declared twice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from ptx.ir import (
    Instruction,
    Label,
    Parameter,
    Prototype,
    Registers,
    Statement,
    Targets,
    Variable,
)

DIGITS = "0123456789"
LONGEST_NUMBER = 9
"""Digits of a register's number; what is longer is no number of a range."""


class Fault(NamedTuple):
    """A name that does not resolve, or is declared twice."""

    rule: str
    message: str
    statement: Statement


class Scope:
    """The names of a function, or of one pair of braces in it; `outer` holds those around it."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.registers: dict[str, int] = {}
        """The numbers that the analysis gave to the registers met so far."""
        self.ranges: dict[str, Registers] = {}
        """Numbered registers, ``.reg .b32 %r<n>``, by what stands before the number."""
        self.declared: dict[str, Statement] = {}
        """Variables, labels, lists of targets, prototypes and single registers."""

    def find(self, name: str) -> Statement | None:
        """What a name other than a register's means here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.declared:
                return scope.declared[name]
            scope = scope.outer
        return None

    def range_of(self, name: str) -> Registers | None:
        """The range here whose prefix `name` starts with, whatever its number."""
        for end in range(len(name) - 1, max(0, len(name) - LONGEST_NUMBER - 1), -1):
            if not name[end].isdigit():
                break
            if name[:end] in self.ranges:
                return self.ranges[name[:end]]
        return None

    def declares(self, name: str) -> bool:
        """Whether `name` is a register of this very scope; ``v.x`` is a part of a vector."""
        numbered = self.ranges.get(name.rstrip(DIGITS))
        if numbered is not None and number_in(name, numbered) is not None:
            return True
        vector, dot, _ = name.partition(".")
        single = self.declared.get(vector)
        if isinstance(single, Registers) and bool(dot) == (single.vector is not None):
            return True
        numbered = self.range_of(name)
        return numbered is not None and number_in(name, numbered) is not None


def open_scope(
    body: Iterable[Statement],
    outer: Scope | None,
    faults: list[Fault],
    parameters: Iterable[Parameter] = (),
) -> Scope:
    """A scope with all that `body` declares; names declared twice go to `faults`."""
    scope = Scope(outer)
    for parameter in parameters:
        if parameter.space == "reg":
            register = Registers(parameter.type, parameter.name, place=parameter.place)
            scope.declared[parameter.name] = register
    for statement in body:
        if type(statement) is Instruction:
            continue
        if isinstance(statement, Registers) and statement.count is not None:
            if statement.name in scope.ranges:
                message = f"{statement.name}<> is declared twice in one scope"
                faults.append(Fault("duplicate-name", message, statement))
            scope.ranges[statement.name] = statement
        elif isinstance(statement, Registers | Variable | Label):
            _declare(scope, statement.name, statement, faults)
        elif isinstance(statement, Targets | Prototype):
            _declare(scope, statement.label, statement, faults)
    if scope.ranges:
        _find_overlaps(scope, faults)
    return scope


def _declare(scope: Scope, name: str, statement: Statement, faults: list[Fault]) -> None:
    other = scope.declared.get(name)
    if other is not None:
        rule = "duplicate-label" if isinstance(statement, Label) else "duplicate-name"
        place = getattr(other, "place", None)
        first = f"; first at {place}" if place else ""
        faults.append(Fault(rule, f"{name} is declared twice in one scope{first}", statement))
    scope.declared[name] = statement


def _find_overlaps(scope: Scope, faults: list[Fault]) -> None:
    """Single registers that a range of the scope declares too."""
    for name, statement in scope.declared.items():
        if isinstance(statement, Registers) and name[-1] in DIGITS:
            numbered = scope.range_of(name)
            if numbered is not None and number_in(name, numbered) is not None:
                message = f"{name} is declared twice in one scope: {spell(numbered)} has it"
                faults.append(Fault("duplicate-name", message, statement))


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; near: ..."`` with the names most like one that is not known; ``""`` without such."""
    near = difflib.get_close_matches(name, list(islice(known, 1000)), n=3)
    return f"; near: {', '.join(near)}" if near else ""


def number_in(name: str, declared: Registers) -> int | None:
    """The number of a register among those that ``.reg .b32 %r<n>`` declares, or None."""
    digits = name[len(declared.name) :]
    if declared.count is None or not digits.isdecimal() or len(digits) > LONGEST_NUMBER:
        return None
    if digits != "0" and digits[0] == "0":
        return None
    return int(digits) if int(digits) < declared.count else None


def spell(statement: Statement) -> str:
    """A statement in PTX, for a message."""
    if isinstance(statement, Registers):
        vector = f" .v{statement.vector}" if statement.vector else ""
        count = f"<{statement.count}>" if statement.count is not None else ""
        return f".reg{vector} .{statement.type} {statement.name}{count};"
    if isinstance(statement, Label):
        return f"{statement.name}:"
    if isinstance(statement, Variable):
        extents = "".join(f"[{'' if n is None else n}]" for n in statement.shape)
        return f".{statement.space} .{statement.type} {statement.name}{extents};"
    return str(statement) if isinstance(statement, Instruction) else ""
