"""A PTX text as the parser sees it: comments blanked, cut into tokens, offsets made places."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from ptx.errors import PtxError, TextPlace
from ptx.names import NAME

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*[\s\S]*?\*/|/\*|"')

LITERAL = (
    r"(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]++U?|0[bB][01]++U?"
    r"|(?:\d++\.\d*+|\.\d++)(?:[eE][+-]?\d++)?|\d++[eE][+-]?\d++|0[0-7]*+U?|[1-9]\d*+U?)"
)
_LITERAL = re.compile(LITERAL, re.ASCII)

TOKEN = re.compile(
    rf"\s*+(?:(?P<name>{NAME}|_)"
    r"|(?P<number>0[xXfFdDbB]\w*+|\.?\d(?:[eE][+-](?=\d)|[\w.])*+)"
    r"|(?P<word>\.[A-Za-z_][\w$]*+(?:::\w++)*+)"
    r'|(?P<string>"[^"\n]*+")'
    r"|(?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%~!<>=&|^?:;,.(){}\[\]@])"
    r"|(?P<end>\Z))",
    re.ASCII,
)

_place = tuple.__new__
"""Makes a named tuple without its constructor's cost: one is made for each statement."""
_FOREIGN = re.compile(r"[^\t\n\v\f\r -~]")
_VISIBLE = re.compile(r"\S")


class Token(NamedTuple):
    """A piece of text; `kind` is a group of :data:`TOKEN`."""

    kind: str
    text: str
    start: int


class Fault(Exception):
    """What is wrong at an offset of a piece of text; :class:`Source` makes an error of it."""

    def __init__(self, message: str, start: int) -> None:
        super().__init__(message)
        self.message = message
        self.start = start


class Source:
    """A text, and the places in it."""

    def __init__(self, text: str, file: str) -> None:
        self.original = text
        self.file = file
        self.text = text
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        """Where each line begins."""
        if found := _FOREIGN.search(text):
            raise self.error(_explain_character(found[0]), found.start())
        if "/" in text or '"' in text:
            self.text = _COMMENT.sub(self._blank, text)

    def _blank(self, match: re.Match[str]) -> str:
        found = match[0]
        if found[0] == '"':
            if len(found) == 1:
                raise self.error("the string does not end on its line", match.start())
            return found
        if found == "/*":
            raise self.error("the comment does not end", match.start())
        if found[1] == "/":
            return " " * len(found)
        return "\n".join(" " * len(line) for line in found.split("\n"))

    def place(self, start: int) -> TextPlace:
        line = bisect_right(self.lines, start)
        return _place(TextPlace, (self.file, line, start - self.lines[line - 1] + 1))

    def error(self, message: str, start: int) -> PtxError:
        place = self.place(start)
        begin = self.lines[place.line - 1]
        end = self.original.find("\n", begin)
        line = self.original[begin : end if end >= 0 else len(self.original)]
        return PtxError(message, place, line if line.strip() else None)

    def quote(self, start: int) -> str:
        """What stands at `start`, for a message."""
        token = token_at(self.text, start, strict=False)
        return "the end of the text" if token.kind == "end" else f"`{token.text[:40]}`"


def token_at(text: str, start: int, strict: bool = True) -> Token:
    """The token at or after `start`; a :class:`Fault` where none is."""
    match = TOKEN.match(text, start)
    if match is None:
        found = _VISIBLE.search(text, start)
        at = found.start() if found else len(text)
        if strict:
            raise Fault(f"{text[at]!r} has no meaning here", at)
        return Token("mark", text[at], at)
    kind = match.lastgroup
    assert kind is not None
    token = Token(kind, match[kind], match.start(kind))
    if strict and kind == "number" and not _LITERAL.fullmatch(token.text):
        raise Fault(_explain_literal(token.text), token.start)
    return token


def tokens(text: str) -> list[Token]:
    """All tokens of a short text, with an end."""
    found: list[Token] = []
    start = 0
    while True:
        token = token_at(text, start)
        found.append(token)
        if token.kind == "end":
            return found
        start = token.start + len(token.text)


def _explain_character(character: str) -> str:
    if character.isascii():
        return f"the control character {character!r} is no part of PTX"
    return f"{character!a} is not ASCII, which PTX does not take even in a comment"


def _explain_literal(text: str) -> str:
    head = text[:2].lower()
    if head in ("0f", "0d"):
        digits = 8 if head == "0f" else 16
        return f"{text} is no literal: {text[:2]} takes exactly {digits} hexadecimal digits"
    if head == "0x":
        return f"{text} is no literal: 0x takes hexadecimal digits and perhaps U"
    if head == "0b":
        return f"{text} is no literal: 0b takes binary digits and perhaps U"
    if text[-1:] in "fF" and _LITERAL.fullmatch(text[:-1]):
        return f"{text} is no literal: PTX has no suffix {text[-1]}; write {text[:-1]}"
    if text[-1:] == "u" and _LITERAL.fullmatch(text[:-1]):
        return f"{text} is no literal: the suffix is a capital U, as in {text[:-1]}U"
    if text[0] == "0" and text.isdigit():
        return f"{text} is no literal: a leading 0 makes it octal, whose digits are 0 to 7"
    return f"{text} is no literal"
