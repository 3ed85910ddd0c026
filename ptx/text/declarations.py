"""Declarations from text: variables, parameters, register lists, function headers' lists."""

from __future__ import annotations

import re

from ptx import types
from ptx.ir import Directive, Imm, Linked, Parameter, Pragma, Symbol, Variable
from ptx.names import NAME, why_no_name
from ptx.text.expressions import Expression, quote
from ptx.text.source import Fault, Source, Token, token_at, tokens

SPACES = ("global", "shared", "const", "local", "param")
LINKAGES = (".visible", ".extern", ".weak", ".common")
OPAQUE = ("texref", "samplerref", "surfref")
"""Parameter and variable types that are handles rather than numbers."""

_NUMBERS = re.compile(r"[\w\s,.+-]*+", re.ASCII)
_VALUE_END = re.compile(r"[(){},;]")
_RAW_NAME = re.compile(r"\s*([^\s(){}\[\];,=]*)")
_LEGAL_NAME = re.compile(NAME, re.ASCII)
_SIMPLE_TYPES = types.FUNDAMENTAL | set(OPAQUE)

Initial = tuple["Initial", ...] | Imm | Symbol | Linked

FILE = re.compile(r'\s*(\.file\s+\d+\s+"[^"]*"(?:\s*,?\s*"[^"]*")?(?:\s*,\s*\d+\s*,\s*\d+)?)')
LOC = re.compile(
    r"\s*(\.loc\s+\d+\s+\d+\s+\d+"
    rf"(?:\s*,\s*function_name\s+{NAME}(?:\s*\+\s*\d+)?\s*,\s*inlined_at\s+\d+\s+\d+\s+\d+)?)",
    re.ASCII,
)
_BRACES = re.compile(r"[{}]")


class Cursor:
    """A moving place in a source."""

    def __init__(self, source: Source, at: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.at = at

    def peek(self) -> Token:
        return token_at(self.text, self.at)

    def sees(self, text: str) -> bool:
        return token_at(self.text, self.at, strict=False).text == text

    @property
    def start(self) -> int:
        """Where the next token begins."""
        return token_at(self.text, self.at, strict=False).start

    def next(self) -> Token:
        token = token_at(self.text, self.at)
        self.at = token.start + len(token.text)
        return token

    def take(self, text: str) -> bool:
        token = token_at(self.text, self.at, strict=False)
        if token.text == text and token.kind != "string":
            self.at = token.start + len(text)
            return True
        return False

    def expect(self, text: str, where: str = "") -> Token:
        token = token_at(self.text, self.at, strict=False)
        if not self.take(text):
            raise Fault(f"expected `{text}`{where}, got {quote(token)}", token.start)
        return token

    def take_word(self, words: tuple[str, ...]) -> str:
        """One of `words` (with their dots) without its dot, or ``""``."""
        token = token_at(self.text, self.at, strict=False)
        if token.text in words and token.kind == "word":
            self.at = token.start + len(token.text)
            return token.text[1:]
        return ""

    def name(self, what: str) -> str:
        """A name; the whole run of characters that stands there is judged."""
        match = _RAW_NAME.match(self.text, self.at)
        assert match is not None
        found = match[1]
        legal = _LEGAL_NAME.match(found)
        # `%r<20>` is a range of registers, and a word may follow a name without a blank.
        if what == "register" and legal is not None:
            found = legal[0]
        if reason := why_no_name(found):
            if not found:
                token = token_at(self.text, self.at, strict=False)
                raise Fault(f"expected the name of a {what}, got {quote(token)}", token.start)
            raise Fault(reason, match.start(1))
        self.at = match.start(1) + len(found)
        return found

    def integer(self, what: str) -> int:
        token = self.next()
        if token.kind != "number" or Imm(token.text).is_float or len(token.text) > 20:
            raise Fault(f"expected {what}, got {quote(token)}", token.start)
        return int(Imm(token.text).value)

    def alignment(self) -> int:
        start = self.start
        align = self.integer("an alignment in bytes")
        if align < 1 or align & (align - 1):
            raise Fault(f"an alignment is a power of two, got {align}", start)
        return align

    def integers(self) -> tuple[int, ...]:
        """The arguments of a directive, ``256, 1, 1``; none where no number follows."""
        if token_at(self.text, self.at, strict=False).kind != "number":
            return ()
        found = [self.integer("a number")]
        while self.take(","):
            found.append(self.integer("a number"))
        return tuple(found)

    def type(self, legal: frozenset[str] | set[str], what: str) -> str:
        token = self.next()
        if token.kind != "word" or token.text[1:] not in legal:
            raise Fault(f"expected the type of a {what}, got {quote(token)}", token.start)
        return token.text[1:]


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


def _shape(cursor: Cursor) -> tuple[int | None, ...]:
    found: list[int | None] = []
    while cursor.take("["):
        if cursor.take("]"):
            found.append(None)
        else:
            found.append(cursor.integer("a number of elements"))
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
        elif first.kind == "name" and first.text != "WARP_SZ":
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
        count = 0 if open_ended else cursor.integer("a number of elements")
        if not open_ended:
            cursor.expect("]")
        if count == 0 and owner == "entry":
            raise Fault("a kernel's parameter has a size; only .func leaves it open", start)
    return Parameter(type, name, count, align, pointer, pointer_align, space, place)


# ---------------------------------------------------------------- directives


def attribute(cursor: Cursor) -> str:
    """``.attribute(.managed)``, from its dot on."""
    start = cursor.next().start
    cursor.expect("(")
    depth = 1
    while depth:
        token = cursor.next()
        if token.kind == "end":
            raise Fault("the parenthesis is not closed", start)
        depth += {"(": 1, ")": -1}.get(token.text, 0)
    return " ".join(cursor.text[start : cursor.at].split())


def pragma(cursor: Cursor) -> Pragma:
    """``.pragma "nounroll", ...;``"""
    cursor.next()
    found: list[str] = []
    while not found or cursor.take(","):
        token = cursor.next()
        if token.kind != "string":
            raise Fault("expected a string after .pragma", token.start)
        found.append(token.text[1:-1])
    cursor.expect(";", " after .pragma")
    return Pragma('", "'.join(found))


def directive(cursor: Cursor) -> Directive:
    """Any other directive, as it is written: to its semicolon, its block, or its line's end."""
    text, start = cursor.text, cursor.peek().start
    at = start
    while True:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        semicolon, brace = line.find(";"), line.find("{")
        if semicolon >= 0 and (brace < 0 or semicolon < brace):
            stop = at + semicolon + 1
        elif brace >= 0:
            stop = _closing(text, at + brace)
        else:
            following = token_at(text, end, strict=False)
            if following.text == "{" or (line.rstrip().endswith(",") and following.kind != "end"):
                at = following.start
                continue
            stop = end
        cursor.at = stop
        lines = (one.rstrip() for one in text[start:stop].split("\n"))
        return Directive("\n".join(one for one in lines if one), cursor.source.place(start))


def _closing(text: str, start: int) -> int:
    depth = 0
    for match in _BRACES.finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.end()
    raise Fault("`{` is not closed", start)
