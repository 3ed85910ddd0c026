"""Declarations from text: variables, parameters, register lists, function headers' lists."""

from __future__ import annotations

import re

from ptx import types
from ptx.ir import Imm, Linked, Parameter, Symbol, Variable
from ptx.names import RESERVED
from ptx.text.cursor import Cursor
from ptx.text.directives import attribute
from ptx.text.expressions import Expression, quote
from ptx.text.source import Fault, Token, tokens

SPACES = ("global", "shared", "const", "local", "param")

_NUMBERS = re.compile(r"[\w\s,.+-]*+", re.ASCII)
_VALUE_END = re.compile(r"[(){},;]")
_SIMPLE_TYPES = types.FUNDAMENTAL | types.OPAQUE

Initial = tuple["Initial", ...] | Imm | Symbol | Linked


# ---------------------------------------------------------------- variables


def variables(
    cursor: Cursor, linkage: str, attributes: str, space: str, scope: int = 0
) -> list[Variable]:
    """The variables of one declaration, from behind its state space to its semicolon."""
    place = cursor.source.place(cursor.start)
    align, vector = None, None
    while True:
        if cursor.take(".align"):
            align = cursor.alignment()
        elif cursor.sees(".attribute"):
            attributes += attribute(cursor)
        elif word := cursor.take_word((".v2", ".v4")):
            vector = int(word[1])
            break
        else:
            break
    legal = _SIMPLE_TYPES - {"pred"}
    type = cursor.type(legal, "variable")
    found = []
    while True:
        name = cursor.name("variable")
        shape = _shape(cursor)
        initial = _initial(cursor) if cursor.take("=") else None
        found.append(
            Variable(
                space, type, name, shape, align, vector, linkage, initial, attributes, place, scope
            )
        )
        if not cursor.take(","):
            break
    cursor.expect(";", f" after the declaration of {name}")
    return found


def scalar_bytes(declared: Variable | Parameter) -> int:
    """What ``a[n]`` counts in: the bytes of the type of an array, a vector's elements alone; 0
    of what is no array."""
    if isinstance(declared, Variable):
        array = bool(declared.shape)
    else:
        array = declared.count is not None
    return max(1, types.bits(declared.type) // 8) if array else 0


def _shape(cursor: Cursor) -> tuple[int | None, ...]:
    found: list[int | None] = []
    while cursor.take("["):
        start = cursor.start
        if cursor.take("]"):
            if found:
                raise Fault("only the first extent of an array may be left open", start)
            found.append(None)
        else:
            found.append(cursor.count("a number of elements"))
            cursor.expect("]")
    return tuple(found)


def _initial(cursor: Cursor) -> Initial:
    """An initial value, from behind ``=``."""
    if cursor.take("{"):
        return _braces(cursor, 1)
    end = _end_of_value(cursor)
    value = _value(cursor.text[cursor.at : end], cursor.at, {})
    cursor.at = end
    return value


def _braces(cursor: Cursor, depth: int) -> tuple[Initial, ...]:
    """What stands in braces, from behind the opening one."""
    if depth > 20:
        raise Fault("the braces nest more than 20 deep", cursor.at)
    text = cursor.text
    # A long list of numbers is the usual case.
    close = text.find("}", cursor.at)
    inner = text[cursor.at : close] if close >= 0 else ""
    if close >= 0 and _NUMBERS.fullmatch(inner):
        start, values = cursor.at, []
        kept: dict[str, Initial] = {}
        for part in inner.split(",") if inner.strip() else []:
            values.append(_value(part, start, kept))
            start += len(part) + 1
        cursor.at = close + 1
        return tuple(values)
    found: list[Initial] = []
    while not cursor.take("}"):
        if found:
            cursor.expect(",", " or `}`")
        if cursor.take("{"):
            found.append(_braces(cursor, depth + 1))
            continue
        end = _end_of_value(cursor)
        found.append(_value(text[cursor.at : end], cursor.at, {}))
        cursor.at = end
    return tuple(found)


def _end_of_value(cursor: Cursor) -> int:
    depth = 0
    for match in _VALUE_END.finditer(cursor.text, cursor.at):
        character = match[0]
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif not depth or character in "{};":
            return match.start()
    return len(cursor.text)


def _value(text: str, start: int, kept: dict[str, Initial]) -> Initial:
    known = kept.get(text)
    if known is None:
        try:
            known = _Value(tokens(text)).whole()
        except Fault as fault:
            fault.start += start
            raise
        kept[text] = known
    return known


class _Value:
    """One initial value: a constant, or an address of the linker."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def whole(self) -> Imm | Symbol | Linked:
        found: Imm | Symbol | Linked
        first, second = self.tokens[0], self.tokens[min(1, len(self.tokens) - 1)]
        if first.kind == "number" and second.text == "(":
            mask = Imm(first.text).value
            if isinstance(mask, float) or mask > 0xFF << 56:
                raise Fault(f"{first.text} is no mask of a byte, as 0xFF00 is", first.start)
            self.at = 2
            inner = self.address()
            self.expect(")")
            symbol = inner.symbol if isinstance(inner, Linked) else inner
            found = Linked(symbol, isinstance(inner, Linked), mask)
        elif first.kind == "name" and first.text != RESERVED:
            found = self.address()
        else:
            expression = Expression(self.tokens)
            found = expression.number().imm()
            self.at = expression.at
        token = self.tokens[self.at]
        if token.kind != "end":
            raise Fault(f"expected `,`, `;` or `}}`, got {quote(token)}", token.start)
        return found

    def expect(self, text: str) -> None:
        token = self.tokens[self.at]
        if token.text != text:
            raise Fault(f"expected `{text}`, got {quote(token)}", token.start)
        self.at += 1

    def address(self) -> Symbol | Linked:
        name = self.name()
        generic = name == "generic" and self.tokens[self.at].text == "("
        if generic:
            self.at += 1
            name = self.name()
            self.expect(")")
        symbol = Symbol(name, self.offset(name))
        return Linked(symbol, True) if generic else symbol

    def name(self) -> str:
        token = self.tokens[self.at]
        if token.kind != "name" or token.text == "_":
            raise Fault(f"expected a name, got {quote(token)}", token.start)
        self.at += 1
        return token.text

    def offset(self, name: str) -> int:
        token = self.tokens[self.at]
        if token.text == "-":
            rest = self.tokens[self.at + 1].text
            raise Fault(f"PTX does not subtract here: write {name}+-{rest}", token.start)
        if token.text != "+":
            return 0
        expression = Expression(self.tokens, self.at + 1)
        imm = expression.number().imm()
        self.at = expression.at
        if imm.is_float:
            raise Fault(f"an offset is an integer, got {imm}", token.start)
        return int(imm.value)


# ---------------------------------------------------------------- parameters


def parameters(cursor: Cursor, owner: str) -> tuple[Parameter, ...]:
    """A list in parentheses, from its opening one on. `owner` is entry, func or prototype."""
    cursor.expect("(")
    found: list[Parameter] = []
    while not cursor.take(")"):
        if found:
            cursor.expect(",", " or `)`")
        found.append(_parameter(cursor, owner))
    return tuple(found)


def _parameter(cursor: Cursor, owner: str) -> Parameter:
    token = cursor.next()
    place = cursor.source.place(token.start)
    space = token.text[1:]
    if space not in ("param", "reg") or token.kind != "word":
        raise Fault(f"expected `.param`, got {quote(token)}", token.start)
    if space == "reg" and owner == "entry":
        raise Fault("a kernel's parameters are .param; .reg is for device functions", token.start)
    align = cursor.alignment() if cursor.take(".align") else None
    type = cursor.type(_SIMPLE_TYPES, "parameter")
    if cursor.take(".align"):
        align = cursor.alignment()
    pointer, pointer_align = None, None
    if cursor.take(".ptr"):
        pointer = cursor.take_word((".global", ".shared", ".const", ".local"))
        if cursor.take(".align"):
            pointer_align = cursor.alignment()
            if word := cursor.take_word((".global", ".shared", ".const", ".local")):
                raise Fault(
                    f"the space comes before the alignment: .ptr .{word} .align {pointer_align}",
                    cursor.at - len(word) - 1,
                )
    if owner == "prototype" and cursor.take("_"):
        name = "_"
    else:
        name = cursor.name("parameter")
    count = None
    if cursor.take("["):
        start = cursor.start
        open_ended = cursor.take("]")
        count = 0 if open_ended else cursor.count("a number of elements")
        if not open_ended:
            cursor.expect("]")
        if count == 0 and owner == "entry":
            raise Fault("a kernel's parameter has a size; only .func leaves it open", start)
    return Parameter(type, name, count, align, pointer, pointer_align, space, place)
