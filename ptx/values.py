"""The operands of instructions, as frozen data: registers, literals, addresses, vectors ...

They are part of :mod:`ptx.ir`, which is where to import them from.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Number
from typing import Any, Protocol

from ptx.errors import Place, PtxError


def integer(value: Any) -> int | None:
    """`value` as an int, numpy's included; None where it is no integer, as a truth value is."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


class Owner(Protocol):
    """Who made a register and emits what its operators mean: a kernel under construction."""

    def operate(self, operator: str, a: Any, b: Any) -> Any: ...


@dataclass(frozen=True, slots=True, eq=False)
class Reg:
    """A register. In a kernel under construction, operators on it emit one instruction each."""

    name: str
    """With its percent sign, ``%r7``."""
    type: str
    """As declared: a member of :data:`ptx.types.FUNDAMENTAL`."""
    space: str | None = None
    """The state space it is known to point into, ``"generic"`` included; None for a plain value."""
    owner: Owner | None = None
    scope: int = 0
    """Which inner scope of its function declares it, by the order of their opening braces from 1;
    0 is the function's own. Names may be declared again in an inner scope."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reg):
            if self.owner is not None and isinstance(other, Number):
                self._refuse(other)
            return False
        return self.name == other.name and self.type == other.type and self.scope == other.scope

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{self.name}:{self.type}"

    def _operate(self, operator: str, a: Any, b: Any) -> Any:
        if self.owner is None:
            raise PtxError(
                f"{self.name} belongs to no kernel under construction: {operator} cannot be emitted"
            )
        return self.owner.operate(operator, a, b)

    def __add__(self, other: Any) -> Any:
        return self._operate("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("+", self, other)

    def __sub__(self, other: Any) -> Any:
        return self._operate("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._operate("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("*", self, other)

    def __lshift__(self, other: Any) -> Any:
        return self._operate("<<", self, other)

    def __rshift__(self, other: Any) -> Any:
        return self._operate(">>", self, other)

    def __and__(self, other: Any) -> Any:
        return self._operate("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._operate("&", self, other)

    def __or__(self, other: Any) -> Any:
        return self._operate("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._operate("|", self, other)

    def __xor__(self, other: Any) -> Any:
        return self._operate("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._operate("^", self, other)

    def __invert__(self) -> Any:
        if self.type == "pred":
            return Not(self)
        return self._operate("~", self, None)

    def _spell_out(self, *other: Any) -> Any:
        if self.type == "pred":
            self._refuse(None)
        raise PtxError(
            f"{self.name} takes the operators + - * << >> & ^ | and ~; division, remainder and "
            f"negation are spelled out, as k.div.{self.type}(a, b), k.rem and k.neg",
            self._place(),
        )

    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _spell_out
    __pow__ = __neg__ = __abs__ = _spell_out

    def _refuse_parts(self, *index: Any) -> Any:
        raise PtxError(
            f"{self.name} is one register, without parts: memory is read by k.ld at an address, "
            f"as {self.name} + 4, and vectors are tuples of registers",
            self._place(),
        )

    __getitem__ = __iter__ = _refuse_parts

    def __bool__(self) -> bool:
        raise PtxError(
            f"{self.name} has no value while the kernel is built: a Python `if`, `while`, `and` "
            "or `or` cannot test it; compare with k.setp and use k.when(p) or k.branch(p)",
            self._place(),
        )

    def _refuse(self, other: Any) -> Any:
        how = (
            "predicates are combined by &, |, ^ and ~, as in p & ~q for p > q; "
            if self.type == "pred"
            else f"registers are compared by k.setp, as in p = k.setp.lt.{self.type}(a, b); "
        )
        raise PtxError(
            f"{how}Python's ==, <, <=, > and >= have no value while the kernel is built",
            self._place(),
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def _place(self) -> Place | None:
        return getattr(self.owner, "here", lambda: None)()


@dataclass(frozen=True, slots=True)
class Not:
    """A negated predicate, ``!%p1``; ``~p`` in Python."""

    reg: Reg

    def __invert__(self) -> Reg:
        return self.reg

    def __and__(self, other: Any) -> Any:
        return self.reg._operate("&", self, other)

    def __or__(self, other: Any) -> Any:
        return self.reg._operate("|", self, other)

    def __xor__(self, other: Any) -> Any:
        return self.reg._operate("^", self, other)

    def __bool__(self) -> bool:
        return bool(self.reg)

    def __str__(self) -> str:
        return f"!{self.reg}"


@dataclass(frozen=True, slots=True, eq=False)
class Special:
    """A special register, ``%tid.x``."""

    name: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number):
            self._refuse()
        return isinstance(other, Special) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> bool:
        return bool(self._refuse())

    def _refuse(self, *other: Any) -> Any:
        raise PtxError(
            f"{self.name} has no value while the kernel is built: k.mov brings it into a register, "
            "k.setp compares it"
        )

    def _operate(self, other: Any) -> Any:
        # A register beside it knows the author's line.
        return NotImplemented if isinstance(other, Reg) else self._refuse()

    __add__ = __sub__ = __mul__ = __lshift__ = __rshift__ = __and__ = __or__ = __xor__ = _operate
    __lt__ = __le__ = __gt__ = __ge__ = __floordiv__ = __mod__ = _operate

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Imm:
    """A literal, by its PTX spelling: ``-4``, ``0x1F``, ``42U``, ``0f3F800000``, ``1.5``."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_float(self) -> bool:
        digits = self.text.lstrip("-").lower()
        if digits[:2] in ("0f", "0d"):
            return True
        return digits[:2] != "0x" and ("." in digits or "e" in digits)

    @property
    def value(self) -> int | float:
        """The number it spells; ``0f`` and ``0d`` literals are read from their bits."""
        head = self.text[:2].lower()
        if head == "0f":
            return float(struct.unpack(">f", bytes.fromhex(self.text[2:]))[0])
        if head == "0d":
            return float(struct.unpack(">d", bytes.fromhex(self.text[2:]))[0])
        if self.is_float:
            return float(self.text)
        sign, digits = (-1, self.text[1:]) if self.text[0] == "-" else (1, self.text)
        digits = digits.rstrip("uU")
        if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB":
            return sign * int(digits, 8)
        return sign * int(digits, 0)


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, a parameter or a function, with a byte offset: ``tile+16``."""

    name: str
    offset: int = 0
    space: str | None = field(default=None, compare=False)
    """The state space it lies in, where known."""
    scope: int = 0
    """Which scope declares the variable, as :attr:`Reg.scope`; 0 also for the module's."""

    def __str__(self) -> str:
        # ptxas refuses tile-4; it wants tile+-4.
        return f"{self.name}+{self.offset}" if self.offset else self.name

    def __add__(self, offset: Any) -> Symbol:
        further = integer(offset)
        if further is None:
            return NotImplemented
        return Symbol(self.name, self.offset + further, self.space, self.scope)

    __radd__ = __add__

    def __sub__(self, offset: Any) -> Symbol:
        back = integer(offset)
        return NotImplemented if back is None else self + -back


@dataclass(frozen=True, slots=True)
class Addr:
    """``[base+offset]``, or ``[base, {coordinates}]`` of a tensor map; `offset` counts bytes.

    A register of 64 bits plus a number is an address already: one of that, ``Addr(at + 16, 4)``,
    counts on.
    """

    base: Reg | Symbol | Imm
    offset: int = 0
    coordinates: tuple[Operand, ...] | None = None

    def __post_init__(self) -> None:
        base: Any = self.base
        if type(base) is Addr and self.coordinates is None:
            object.__setattr__(self, "offset", self.offset + base.offset)
            object.__setattr__(self, "coordinates", base.coordinates)
            object.__setattr__(self, "base", base.base)
        if type(self.base) is Symbol and self.base.offset:
            object.__setattr__(self, "offset", self.offset + self.base.offset)
            object.__setattr__(self, "base", self.base - self.base.offset)

    def __add__(self, other: Any) -> Any:
        further = integer(other)
        if further is not None:
            return Addr(self.base, self.offset + further, self.coordinates)
        moved: Any = self.base + other
        return moved + self.offset if self.offset else moved

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        back = integer(other)
        if back is not None:
            return Addr(self.base, self.offset - back, self.coordinates)
        moved: Any = self.base - other
        return moved + self.offset if self.offset else moved

    def __str__(self) -> str:
        # ptxas refuses [r-4]; it wants [r+-4].
        inside = f"{self.base}+{self.offset}" if self.offset else str(self.base)
        if self.coordinates is not None:
            inside += ", {" + ", ".join(map(str, self.coordinates)) + "}"
        return f"[{inside}]"


@dataclass(frozen=True, slots=True)
class Vector:
    """``{a, b, c, d}``; a vector of one keeps its braces."""

    items: tuple[Operand, ...]

    def __str__(self) -> str:
        if self.items and type(self.items[0]) is Special:
            # ptxas reads the axes of %tid otherwise where they are named one by one.
            name, _, axis = self.items[0].name.partition(".")
            if axis and self.items == tuple(Special(f"{name}.{axis}") for axis in "xyzw"):
                return name
        return "{" + ", ".join(map(str, self.items)) + "}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations, ``p|q`` or ``d|p``."""

    first: Operand
    second: Operand

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True, slots=True)
class Selected:
    """An operand with a selector, ``%r1.b0`` of the video instructions."""

    operand: Operand
    selector: str

    def __str__(self) -> str:
        return f"{self.operand}.{self.selector}"


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parenthesised list of a call, ``(a, b)``."""

    items: tuple[Operand, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.items)) + ")"


@dataclass(frozen=True, slots=True)
class Sink:
    """``_``: a destination that is thrown away."""

    def __str__(self) -> str:
        return "_"


SINK = Sink()


@dataclass(frozen=True, slots=True)
class Label:
    """A label: as an operand the place to jump to, as a statement that place."""

    name: str
    place: Place | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Linked:
    """An initial value that holds an address: ``generic(a)+4``, or bytes of it, ``0xFF00(a)``."""

    symbol: Symbol
    generic: bool = False
    mask: int | None = None
    """Which byte of the address, as ``0xFF00``; None for the whole."""

    def __str__(self) -> str:
        name, offset = self.symbol.name, self.symbol.offset
        address = f"generic({name})" if self.generic else name
        if offset:
            address += f"+{offset}"
        return address if self.mask is None else f"0x{self.mask:X}({address})"


Operand = (
    Reg | Not | Special | Imm | Symbol | Addr | Vector | Pair | Selected | Arguments | Sink | Label
)


def registers_of(operand: Operand | None) -> Iterator[Reg]:
    """Every register that an operand names, in order."""
    if type(operand) is Reg:
        yield operand
    elif type(operand) in (Vector, Arguments):
        for item in operand.items:  # type: ignore[union-attr]
            yield from registers_of(item)
    elif type(operand) is Addr:
        yield from registers_of(operand.base)
        for item in operand.coordinates or ():
            yield from registers_of(item)
    elif type(operand) is Not:
        yield operand.reg
    elif type(operand) is Pair:
        yield from registers_of(operand.first)
        yield from registers_of(operand.second)
    elif type(operand) is Selected:
        yield from registers_of(operand.operand)
