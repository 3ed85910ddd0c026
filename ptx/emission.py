"""Emission: a spelling and Python values become one checked instruction of a kernel.

:class:`Emitter` holds what a kernel under construction has so far; :class:`Op` is the chain of
dots that spells an instruction. The kernel's own face is :class:`ptx.builder.Kernel`.
"""

from __future__ import annotations

import contextlib
import keyword
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptx import isa
from ptx.conversion import destinations, fit_all, judge, show
from ptx.errors import Place, PtxError
from ptx.ir import Addr, Instruction, Not, Operand, Pair, Reg, Special, Statement, Symbol, Vector
from ptx.isa import Slot, Variant
from ptx.operands import OperandError
from ptx.operators import operation
from ptx.types import register_type
from ptx.values import integer

if TYPE_CHECKING:
    from types import CodeType, FrameType

PREFIXES = {
    "pred": "%p", "b8": "%bb", "u8": "%ub", "s8": "%sb", "b16": "%bh", "u16": "%uh", "s16": "%sh",
    "f16": "%h", "b32": "%b", "u32": "%r", "s32": "%s", "f32": "%f", "f16x2": "%hh",
    "b64": "%bd", "u64": "%rd", "s64": "%sd", "f64": "%fd", "b128": "%bq",
}  # fmt: skip
"""What the names of a type's registers begin with; a number follows."""

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_CONTEXTLIB = contextlib.__file__
_POINTER_ARITHMETIC = frozenset("add sub mov mad selp cvta mapa".split())
"""Opcodes whose result points where their one pointer operand does."""


class SpellingError(PtxError, AttributeError):
    """No instruction is spelled so."""


class Op:
    """The beginning of an instruction, ``k.ld.global_``: more dots continue it, a call emits it."""

    __slots__ = ("__dict__", "_emitter", "_op")

    def __init__(self, emitter: Emitter, op: str) -> None:
        self._emitter = emitter
        self._op = op

    def __getattr__(self, part: str) -> Op:
        if part[:1] == "_" and not part[1:2].isdigit():
            raise AttributeError(part)
        child = Op(self._emitter, self._emitter.spelled(f"{self._op}.{word(part)}"))
        self.__dict__[part] = child
        return child

    def __call__(self, *sources: Any, out: Any = None) -> Any:
        return self._emitter.emit(self._op, sources, out, sys._getframe(1))

    def __dir__(self) -> list[str]:
        return sorted(attribute(word) for word in isa.follow(self._op)[0])

    def __repr__(self) -> str:
        return f"<{self._op}>"


def word(part: str) -> str:
    """The PTX word that an attribute spells: ``global_`` is ``global``, ``_2d`` is ``2d``."""
    if part[-1] == "_" and keyword.iskeyword(part[:-1]):
        part = part[:-1]
    if part[0] == "_":
        part = part[1:]
    return part.replace("__", "::")


def attribute(word: str) -> str:
    """The attribute that spells a PTX word."""
    name = word.replace("::", "__")
    if name[0].isdigit():
        return f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


class Emitter:
    """The body of a kernel under construction, and how it grows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.body: list[Statement] = []
        self.counts: dict[str, int] = {}
        """Registers made so far, by type; they are numbered from 1."""
        self.guard: Reg | Not | None = None
        self._places: dict[tuple[CodeType, int], Place] = {}
        self._plans: dict[str, list[tuple[Variant, tuple[Slot, ...], int]]] = {}

    def register(self, type: str, space: str | None = None) -> Reg:
        number = self.counts.get(type, 0) + 1
        self.counts[type] = number
        return Reg(f"{PREFIXES[type]}{number}", type, space, self)

    def spelled(self, op: str) -> str:
        """`op`, if instructions begin so; the author's line is named where none does."""
        following, may_end = isa.follow(op)
        if not following and not may_end:
            raise SpellingError(isa.explain(op), self.here())
        return op

    def emit(self, op: str, sources: Sequence[Any], out: Any, frame: FrameType) -> Any:
        """Check and append one instruction; its destination is made, or is `out`."""
        place = self._places.get((frame.f_code, frame.f_lineno)) or self._locate(frame)
        plans = self._plans.get(op)
        if plans is None:
            plans = self._plans[op] = self._plan(op, place)
        count = len(sources)
        for variant, slots, made in plans:
            if out is None:
                if len(slots) - made != count:
                    continue
                taken = fit_all(slots[made:] if made else slots, sources, variant, self)
                if taken is None:
                    continue
                result = None
                if made:
                    self.refuse_under_guard(op, place)
                    operands, result = self._make(slots[:made], _result_space(variant, taken))
                    taken = operands + taken
            else:
                named = destinations(slots, out)
                if named is None or len(slots) - len(named) != count:
                    continue
                taken = fit_all(slots, (*named, *sources), variant, self)
                if taken is None:
                    continue
                result = out
            self.body.append(Instruction(op, tuple(taken), self.guard, variant, place))
            return result
        raise self._misfit(op, sources, out, place)

    def _plan(self, op: str, place: Place) -> list[tuple[Variant, tuple[Slot, ...], int]]:
        found = isa.resolve(op)
        if not found:
            raise SpellingError(isa.explain(op), place)
        return [(variant, variant.slots, variant.written) for variant in found]

    def refuse_under_guard(self, op: str, place: Place) -> None:
        """What makes a new register may not stand where it could stay unwritten."""
        if self.guard is not None:
            raise PtxError(
                f"{op} under the guard @{self.guard} may leave a new register unwritten; "
                "set one before the block and name it: out=register",
                place,
            )

    def _make(self, slots: Sequence[Slot], space: str | None) -> tuple[list[Operand], Any]:
        """New registers for destinations, as operands and as what the call returns."""
        operands: list[Operand] = []
        results: list[Any] = []
        for slot in slots:
            type = _made_type(slot.type)
            if slot.count is not None:
                registers = tuple(self.register(type) for _ in range(slot.count))
                operands.append(Vector(registers))
                results.append(registers)
                continue
            register = self.register(type, space)
            results.append(register)
            if slot.second == "must":
                predicate = self.register("pred")
                operands.append(Pair(register, predicate))
                results.append(predicate)
            else:
                operands.append(register)
        return operands, results[0] if len(results) == 1 else tuple(results)

    def _misfit(self, op: str, sources: Sequence[Any], out: Any, place: Place) -> PtxError:
        """The error of operands that no variant takes, with the reason in the nearest one."""
        nearest, furthest, counts = "", -1, set()
        for variant in isa.resolve(op):
            named = () if out is None else destinations(variant.slots, out)
            if named is None:
                continue
            skipped = variant.written if out is None else 0
            slots, values = variant.slots[skipped:], (*named, *sources)
            counts.add(len(slots) - len(named))
            if len(slots) != len(values):
                continue
            for matched, (slot, value) in enumerate(zip(slots, values, strict=True)):
                reason = judge(value, slot, variant, self)[1]
                if reason:
                    if matched > furthest:
                        furthest = matched
                        nearest = f"operand {slot.name}: {reason}\n  form: {variant.syntax}"
                    break
        if not nearest:
            form = isa.resolve(op)[0].syntax
            nearest = (
                f"expected {' or '.join(map(str, sorted(counts)))} source operands, "
                f"got {len(sources)}\n  form: {form}"
                if counts
                else f"out={show(out)} has no place here\n  form: {form}"
            )
        shown = [show(value) for value in ([] if out is None else [out]) + list(sources)]
        return OperandError(f"{op} {', '.join(shown)}\n  {nearest}", place)

    # ------------------------------------------------------------ operators

    def operate(self, operator: str, a: Any, b: Any) -> Any:
        """What an operator on registers does: emit one instruction, or move an address."""
        frame = outside(sys._getframe(2))
        place = place_of(frame)
        a, b = (v if isinstance(v, Reg) or (n := integer(v)) is None else n for v in (a, b))
        pointer, other = (a, b) if isinstance(a, Reg) and a.space else (b, a)
        if isinstance(pointer, Reg) and pointer.space and type(other) is int:
            if operator == "+" or (operator == "-" and pointer is a):
                return Addr(pointer, other if operator == "+" else -other)
        for value in (a, b):
            if isinstance(value, (Symbol, Special)):
                raise PtxError(
                    f"{value} is no register: k.mov brings it into one before {operator}", place
                )
        op = operation(operator, a, b, place)
        return self.emit(op, (a,) if b is None else (a, b), None, frame)

    # ------------------------------------------------------------ where the author is

    def _locate(self, frame: FrameType) -> Place:
        author = outside(frame)
        place = place_of(author)
        if author is frame:
            self._places[frame.f_code, frame.f_lineno] = place
        return place

    def here(self) -> Place:
        """The author's line that runs now."""
        return place_of(outside(sys._getframe(1)))


def _made_type(type: str) -> str:
    """The type of a result's register; 8 bits are held in 32, as arithmetic takes none of 8."""
    held = register_type(type)
    return f"{held[0]}32" if held in ("b8", "u8", "s8") else held


def _result_space(variant: Variant, sources: Sequence[Operand]) -> str | None:
    """Where the result points, when it is an address computed from one pointer."""
    opcode = variant.opcode
    if opcode not in _POINTER_ARITHMETIC:
        return None
    if opcode == "cvta":
        return variant.choices["space"] if ".to." in variant.op else "generic"
    if opcode == "mapa":
        return "shared::cluster"
    pointers = [s.space for s in sources if isinstance(s, (Reg, Symbol)) and s.space]
    if opcode in ("add", "sub", "mad") and len(pointers) != 1:
        return None
    if opcode == "sub" and getattr(sources[0], "space", None) is None:
        return None
    return pointers[0] if len(set(pointers)) == 1 else None


# ---------------------------------------------------------------- places


def outside(frame: FrameType) -> FrameType:
    """The nearest frame that is the author's: outside this package and contextlib."""
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_inside(file: str) -> bool:
    return file.startswith(_PACKAGE) or file == _CONTEXTLIB


def place_of(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno)
