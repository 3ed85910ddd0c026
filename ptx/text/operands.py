"""Operands from text: each spelling is read once in a scope and kept."""

from __future__ import annotations

import re

from ptx.ir import (
    SINK,
    Addr,
    Arguments,
    Imm,
    Label,
    Not,
    Operand,
    Pair,
    Reg,
    Selected,
    Special,
    Symbol,
    Vector,
)
from ptx.names import NAME, RESERVED
from ptx.text.expressions import Expression, quote
from ptx.text.scopes import COMPONENTS, Scope
from ptx.text.source import LITERAL, Fault, Token, tokens

_ADDRESS = re.compile(rf"\[\s*({NAME})\s*(?:\+\s*(-?(?:0|[1-9]\d{{0,18}})))?\s*\]", re.ASCII)
_VECTOR = re.compile(r"\{([^][{}()|!\"]*)\}")
_LITERAL = re.compile(LITERAL, re.ASCII)

_ONE = re.compile(r"((?:[^,\[\]{}()]++|\[[^\[\]]*+\]|\{[^\[\]{}]*+\}|\([^\[\]()]*+\))*+)(?:,|(\Z))")
_OPEN, _CLOSE = "([{", ")]}"


def split(text: str) -> list[tuple[str, int]]:
    """The operands of a list, each with its offset; blanks stay with them."""
    if not text or text.isspace():
        return []
    found: list[tuple[str, int]] = []
    at = 0
    while match := _ONE.match(text, at):
        found.append((match[1], at))
        if match[2] is not None:
            return found
        at = match.end()
    return found + _split_slowly(text, at)


def _split_slowly(text: str, start: int) -> list[tuple[str, int]]:
    """As :func:`split`, for brackets that nest."""
    found: list[tuple[str, int]] = []
    depth, begin = 0, start
    for i in range(start, len(text)):
        character = text[i]
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
            if depth < 0:
                raise Fault(f"`{character}` closes nothing", i)
        elif character == "," and not depth:
            found.append((text[begin:i], begin))
            begin = i + 1
    if depth:
        opened = max(text.rfind(c, start) for c in _OPEN)
        raise Fault(f"`{text[opened]}` is not closed", opened)
    return [*found, (text[begin:], begin)]


class OperandCache(dict[str, Operand]):
    """The operands of one scope by their text. A :class:`Fault` counts from the text's start."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def __missing__(self, text: str) -> Operand:
        bare = text.strip()
        if bare != text:
            try:
                found = self[bare]
            except Fault as fault:
                fault.start += len(text) - len(text.lstrip())
                raise
        else:
            found = self._read(text)
        self[text] = found
        return found

    def _read(self, text: str) -> Operand:
        named = self.scope.find(text)
        if named is not None:
            return named
        if match := _ADDRESS.fullmatch(text):
            base = self.scope.find(match[1])
            if isinstance(base, Reg | Symbol):
                return Addr(base, int(match[2] or 0))
        elif match := _VECTOR.fullmatch(text):
            if match[1].strip():
                return Vector(tuple(self.each(match[1].split(","), 1)))
        elif _LITERAL.fullmatch(text) and len(text) < 20:
            return Imm(text)
        return _Reader(text, self.scope).whole()

    def each(self, parts: list[str], start: int) -> list[Operand]:
        """The operands of a list without brackets, which begins at `start`."""
        try:
            return [self[part] for part in parts]
        except Fault:
            for part in parts:
                self.at(part, start)
                start += len(part) + 1
            raise

    def at(self, part: str, start: int) -> Operand:
        """One operand, which begins at `start`."""
        try:
            return self[part]
        except Fault as fault:
            fault.start += start
            raise


class _Reader:
    """Reads any operand, token by token."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.scope = scope
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self, text: str) -> bool:
        if self.token.kind != "string" and self.token.text == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise Fault(f"expected `{text}`, got {quote(self.token)}", self.token.start)

    def whole(self) -> Operand:
        found = self.operand()
        if self.token.kind != "end":
            raise Fault(f"expected `,` or `;`, got {quote(self.token)}", self.token.start)
        return found

    def operand(self, second: bool = False) -> Operand:
        token = self.token
        found: Operand
        if self.take("["):
            found = self.address()
            if self.token.text == ".unified":
                self.at += 1
                found = Selected(found, "unified")
        elif self.take("{"):
            found = Vector(self.items("}"))
        elif token.text == "!" and self.tokens[self.at + 1].kind == "name":
            self.at += 1
            found = Not(self.register())
        elif token.kind == "name" and token.text != RESERVED:
            found = self.named()
        else:
            found = self.constant()
        if not second and self.take("|"):
            return Pair(found, self.operand(second=True))
        return found

    def items(self, closing: str) -> tuple[Operand, ...]:
        self.depth += 1
        if self.depth > 8:
            raise Fault("brackets nest more than 8 deep", self.token.start)
        found: list[Operand] = []
        while not self.take(closing):
            if found:
                self.expect(",")
            found.append(self.operand())
        self.depth -= 1
        return tuple(found)

    def constant(self) -> Imm:
        expression = Expression(self.tokens, self.at)
        number = expression.number()
        self.at = expression.at
        return number.imm()

    def named(self) -> Operand:
        token = self.token
        self.at += 1
        if token.text == "_":
            return SINK
        following = self.token
        if following.kind == "word":
            full = token.text + following.text
            special = self.scope.find(full)
            if isinstance(special, Special):
                self.at += 1
                return special
        found = self.known(token)
        if following.kind == "word":
            self.at += 1
            return _select(found, following)
        if isinstance(found, Symbol):
            if self.take("["):
                return self.element(found, token)
            return found + self.offset(found.name)
        return found

    def element(self, array: Symbol, token: Token) -> Element:
        """``a[4]``, from behind its opening bracket."""
        size = self.scope.element_bytes(array.name)
        if not size:
            raise Fault(f"{array.name} is no array", token.start)
        if self.token.kind == "name" and self.token.text != RESERVED:
            raise Fault(
                f"an index in a register is an address of its own: add {size} times "
                f"{self.token.text} to that of {array.name}",
                self.token.start,
            )
        index = self.constant()
        if index.is_float:
            raise Fault(f"an index is an integer, got {index}", token.start)
        self.expect("]")
        return Element(array + size * int(index.value))

    def known(self, token: Token) -> Reg | Vector | Symbol | Special:
        found = self.scope.find(token.text)
        if found is None:
            raise Unknown(token.text, self.scope, token.start)
        return found

    def register(self) -> Reg:
        token = self.token
        self.at += 1
        found = self.known(token)
        if not isinstance(found, Reg):
            raise Fault(f"expected a register, got `{token.text}`", token.start)
        return found

    def address(self) -> Addr:
        token = self.token
        base: Reg | Symbol | Imm
        offset = 0
        if token.kind == "name" and token.text != RESERVED:
            self.at += 1
            known = self.known(token)
            if not isinstance(known, Reg | Symbol):
                raise Fault(f"`{token.text}` is no base of an address", token.start)
            base = known
            offset = self.offset(token.text)
        else:
            base = self.constant()
        coordinates = None
        if self.take(","):
            self.expect("{")
            coordinates = self.items("}")
        self.expect("]")
        return Addr(base, offset, coordinates)

    def offset(self, name: str) -> int:
        """What is added to an address, or 0."""
        token = self.token
        if token.text == "-":
            rest = self.tokens[self.at + 1].text
            raise Fault(f"PTX does not subtract here: write {name}+-{rest}", token.start)
        if not self.take("+"):
            return 0
        if self.token.kind == "name" and self.token.text != RESERVED:
            raise Fault(
                f"an address is a base and a constant; got `{self.token.text}` after +",
                self.token.start,
            )
        start = self.token.start
        imm = self.constant()
        if imm.is_float:
            raise Fault(f"an offset is an integer, got {imm}", start)
        return int(imm.value)


class Element(Symbol):
    """``a[4]``: an address to ``ld`` and ``st``, and the value of that address to ``mov``."""

    def __init__(self, place: Symbol) -> None:
        super().__init__(place.name, place.offset, place.space, place.scope)


def elements(opcode: str, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands with each element of an array as the instruction means it."""
    if opcode not in ("ld", "st", "mov", "cvta"):
        raise Fault(f"only ld, st, mov and cvta take an element of an array, not {opcode}", 0)
    return tuple([_meant(operand, opcode) for operand in operands])


def _meant(operand: Operand, opcode: str) -> Operand:
    if not isinstance(operand, Element):
        return operand
    place = Symbol(operand.name, operand.offset, operand.space, operand.scope)
    return Addr(place) if opcode in ("ld", "st") else place


class Unknown(Fault):
    """A name that nothing declares."""

    def __init__(self, name: str, scope: Scope, start: int) -> None:
        super().__init__("", start)
        self.name = name
        self.scope = scope


def _select(operand: Reg | Vector | Symbol | Special, word: Token) -> Operand:
    selector = word.text[1:]
    if isinstance(operand, Vector):
        axis = COMPONENTS.find(selector)
        axis = axis if axis >= 0 else "rgba".find(selector)
        if len(selector) != 1 or not 0 <= axis < len(operand.items):
            raise Fault(f"a vector of {len(operand.items)} has no {word.text}", word.start)
        return operand.items[axis]
    if not isinstance(operand, Reg):
        raise Fault(f"{operand} takes no selector, got {word.text}", word.start)
    return Selected(operand, selector)


# ---------------------------------------------------------------- where labels and functions stand


def call_operands(text: str, cache: OperandCache) -> tuple[Operand, ...]:
    """The operands of ``call``: ``(results), function, (arguments), prototype``."""
    found: list[Operand] = []
    callee: Operand | None = None
    for part, start in split(text):
        bare = part.strip()
        at = start + len(part) - len(part.lstrip())
        if bare.startswith("("):
            found.append(Arguments(_arguments(bare, at, cache)))
        elif callee is None:
            named = cache.scope.find(bare)
            callee = named if isinstance(named, Reg) else Symbol(_name(bare, at))
            found.append(callee)
        else:
            found.append(Label(_name(bare, at)))
    return tuple(found)


def _arguments(text: str, start: int, cache: OperandCache) -> tuple[Operand, ...]:
    if not text.endswith(")"):
        raise Fault("expected `)` at the end of the list", start + len(text))
    return tuple([cache.at(part, start + 1 + at) for part, at in split(text[1:-1])])


def jump_operands(text: str, cache: OperandCache) -> tuple[Operand, ...]:
    """The operands of ``bra`` and ``brx.idx``: the last one is a label."""
    *before, (last, start) = split(text) or [("", 0)]
    found = [cache.at(part, at) for part, at in before]
    found.append(Label(_name(last.strip(), start + len(last) - len(last.lstrip()))))
    return tuple(found)


_NAME = re.compile(NAME, re.ASCII)


def _name(text: str, start: int) -> str:
    if not _NAME.fullmatch(text):
        raise Fault(f"expected a name, got {f'`{text}`' if text else 'nothing'}", start)
    return text
