"""Directives from text that declare nothing: line tables, sections of debuggers, aliases, pragmas.

They are kept as they are written; what ptxas would not read is an error here.
"""

from __future__ import annotations

import re

from ptx.ir import Directive, Imm, Line, Pragma
from ptx.names import NAME
from ptx.text.cursor import Cursor
from ptx.text.source import Fault, token_at

LINKAGES = (".visible", ".extern", ".weak", ".common")
OUTSIDE = frozenset(
    (*LINKAGES, *".entry .func .alias .file .section .version .target .address_size".split())
)
"""What may not stand in a function."""

FILE = re.compile(r'\s*(\.file\s+\d+\s+"[^"]*"(?:\s*,\s*\d+){0,2})')
LOC = re.compile(
    r"\s*(\.loc\s+\d+\s+\d+\s+\d+"
    rf"(?:\s*,\s*function_name\s+{NAME}(?:\s*\+\s*\d+)?\s*,\s*inlined_at\s+\d+\s+\d+\s+\d+)?)",
    re.ASCII,
)
_BRACES = re.compile(r"[{}]")
_SECTION = re.compile(r"\s*\.section\s+[.\w$]++\s*\{", re.ASCII)
_INTEGER = r"-?(?:0[xX][0-9a-fA-F]++|0[bB][01]++|\d++)U?"
_INTEGERS = rf"{_INTEGER}(?:\s*+,\s*+{_INTEGER})*+"
_PLACE = rf"(?:{NAME}|\.[A-Za-z_][\w$]*+)"
_DATA = re.compile(
    rf"(?:\s*+(?:{NAME}\s*+:(?!:)"
    rf"|\.b(?:8|16|32|64)\s++{_INTEGERS}"
    rf"|\.b(?:32|64)\s++{_PLACE}(?:\s*+\+\s*+\d++|\s*+-\s*+{NAME})?+))*+\s*+",
    re.ASCII,
)
"""What stands in the braces of a section: labels, numbers, and addresses with an offset."""
_NARROW = re.compile(rf"\.b(8|16)\s++({_INTEGERS})", re.ASCII)
_NUMBER = re.compile(r"-?\w++")


def file_or_line(cursor: Cursor) -> Directive | Line | None:
    """``.file 1 "a.cu"`` or ``.loc 1 7 0``; None where the next token is neither."""
    text, start = cursor.text, cursor.start
    for pattern, word, form in (
        (FILE, ".file", '.file NUMBER "NAME"'),
        (LOC, ".loc", ".loc FILE LINE COLUMN, perhaps with , function_name N, inlined_at F L C"),
    ):
        if match := pattern.match(text, cursor.at):
            cursor.at = match.end()
            if word == ".loc":
                return Line(match[1])
            return Directive(match[1], cursor.source.place(start))
        if cursor.sees(word):
            raise Fault(f"expected {form}", start)
    return None


def section(cursor: Cursor) -> Directive:
    """``.section .debug_info { .b8 1, 2 ... }``, read and kept as it is written."""
    text, start = cursor.text, cursor.start
    head = _SECTION.match(text, cursor.at)
    if head is None:
        raise Fault("expected .section NAME { data }", start)
    data = _DATA.match(text, head.end())
    assert data is not None
    end = data.end()
    if not text.startswith("}", end):
        if end == len(text):
            raise Fault("`{` is not closed", head.end() - 1)
        raise Fault(
            f"expected .b8, .b16, .b32 or .b64 data, a label or `}}`, got "
            f"{cursor.source.quote(end)}",
            end,
        )
    for run in _NARROW.finditer(text, head.end(), end):
        width = int(run[1])
        for number in _NUMBER.finditer(text, *run.span(2)):
            value = int(Imm(number[0]).value)
            if not -(1 << width - 1) <= value < 1 << width:
                raise Fault(f"{number[0]} does not fit .b{width}", number.start())
    cursor.at = end + 1
    return _as_written(cursor, start)


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
        return _as_written(cursor, start)


def _as_written(cursor: Cursor, start: int) -> Directive:
    lines = (one.rstrip() for one in cursor.text[start : cursor.at].split("\n"))
    return Directive("\n".join(one for one in lines if one), cursor.source.place(start))


def _closing(text: str, start: int) -> int:
    depth = 0
    for match in _BRACES.finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.end()
    raise Fault("`{` is not closed", start)
