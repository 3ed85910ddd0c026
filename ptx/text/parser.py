"""PTX text to a module: headers, declarations and function bodies, one regex a statement."""

from __future__ import annotations

import re

from ptx import collector
from ptx.errors import Place, PtxError
from ptx.ir import Function, Item, Module, Parameter
from ptx.text.body import Body
from ptx.text.cursor import Cursor
from ptx.text.declarations import SPACES, parameters, scalar_bytes, variables
from ptx.text.directives import LINKAGES, attribute, directive, file_or_line, pragma, section
from ptx.text.scopes import Scope
from ptx.text.source import Fault, Source, token_at

FAULT_LIMIT = 100
"""Mistakes in the syntax after which the rest of a text is not read."""

_HEADER = re.compile(r"\s*\.version\s+(\d+\.\d+)(?![\w.])\s*\.target\s+")
_VERSION = re.compile(r"\s*\.version\s+\d+\.\d+(?![\w.])")
_TARGET = re.compile(r"\s*([A-Za-z_]\w*)", re.ASCII)
_ITEM = re.compile(
    r"(?m)^[ \t]*\.(?:visible|entry|func|extern|weak|common|global|const|shared|section|alias)\b"
)


def parse(text: str, file: str = "<ptx>", errors: list[PtxError] | None = None) -> Module:
    """The module that a PTX text spells, every statement with its line and column.

    The first mistake raises :class:`ptx.PtxError`. With a list for `errors` every mistake is
    appended to it instead and reading goes on behind it: a statement that cannot be read is left
    out, an instruction that no row of the table takes stays in the module without a variant.
    """
    items: list[Item] = []
    try:
        with collector.paused():
            return _Parser(text, file, errors, items).module()
    except PtxError as error:
        if errors is None:
            raise
        errors.append(error)
        return Module(*items)


class _Parser:
    def __init__(
        self, text: str, file: str, errors: list[PtxError] | None, items: list[Item]
    ) -> None:
        self.source = Source(text, file)
        self.cursor = Cursor(self.source)
        self.errors = errors
        self.items = items
        self.faults = 0
        self.scope = Scope()
        """Functions and variables of the module."""

    def refuse(self, error: PtxError) -> None:
        """An instruction is no instruction; reading goes on."""
        if self.errors is None:
            raise error
        self.errors.append(error)

    def report(self, fault: Fault) -> None:
        """The text is no PTX; reading goes on at the next statement or item."""
        self.refuse(self.source.error(fault.message, fault.start))
        self.faults += 1
        if self.faults == FAULT_LIMIT:
            raise self.source.error(
                f"{FAULT_LIMIT} mistakes in the syntax; the rest is not read", fault.start
            )

    def module(self) -> Module:
        stated: tuple[str, Place] | None = None
        target: str | None = None
        options: tuple[str, ...] = ()
        address_size = 64
        try:
            stated, target, options, address_size = self.header()
        except Fault as fault:
            self.report(fault)
            self.recover(fault.start - 1)
        while True:
            begin = self.cursor.at
            try:
                if self.cursor.peek().kind == "end":
                    break
                self.item()
            except Fault as fault:
                self.report(fault)
                self.recover(max(begin, fault.start))
        read = Module(*self.items, target=target, address_size=address_size, options=options)
        return read.stating(*stated) if stated is not None else read

    def recover(self, start: int) -> None:
        """Goes on at the next line that begins an item."""
        found = _ITEM.search(self.source.text, start + 1)
        self.cursor.at = found.start() if found else len(self.source.text)

    # ------------------------------------------------------------ the header

    def header(self) -> tuple[tuple[str, Place], str, tuple[str, ...], int]:
        """The version with its place, the target, what else it states, and an address's bits."""
        cursor = self.cursor
        match = _HEADER.match(cursor.text)
        if match is None:
            version = _VERSION.match(cursor.text)
            cursor.at = version.end() if version else 0
            token = token_at(cursor.text, cursor.at, strict=False)
            wanted = "`.target`, as .target sm_90" if version else "`.version`, as .version 8.0"
            got = self.source.quote(token.start)
            raise Fault(f"a module begins with .version and .target: expected {wanted}, got {got}",
                        token.start)  # fmt: skip
        stated = match[1], self.source.place(match.start(1))
        cursor.at = match.end()
        names: list[str] = []
        while not names or cursor.take(","):
            word = _TARGET.match(cursor.text, cursor.at)
            if word is None:
                token = token_at(cursor.text, cursor.at, strict=False)
                raise Fault("expected a target, as sm_90", token.start)
            names.append(word[1])
            cursor.at = word.end()
        size = 64
        if cursor.take(".address_size"):
            start = cursor.start
            size = cursor.integer("32 or 64")
            if size not in (32, 64):
                raise Fault(f"an address size is 32 or 64, got {size}", start)
        return stated, names[0], tuple(names[1:]), size

    # ------------------------------------------------------------ items

    def item(self) -> None:
        cursor = self.cursor
        token = cursor.peek()
        if token.kind != "word":
            raise Fault(
                "expected a function, a variable or a directive, "
                f"got {self.source.quote(token.start)}",
                token.start,
            )
        if line := file_or_line(cursor):
            self.items.append(line)
            return
        linkage = cursor.take_word(LINKAGES)
        attributes = ""
        if linkage or token.text in (".entry", ".func", ".attribute") or token.text[1:] in SPACES:
            if linkage == "common" and (cursor.sees(".entry") or cursor.sees(".func")):
                raise Fault(".common is for variables", token.start)
            if cursor.take(".entry"):
                self.function(linkage, entry=True, start=token.start)
            elif cursor.take(".func"):
                self.function(linkage, entry=False, start=token.start)
            else:
                self.variable(linkage, attributes)
        elif token.text == ".pragma":
            self.items.append(pragma(cursor))
        elif token.text == ".section":
            self.items.append(section(cursor))
        elif token.text == ".reg":
            raise Fault("registers belong to a function", token.start)
        elif token.text in (".version", ".target", ".address_size"):
            raise Fault(f"{token.text} stands once, at the start of the module", token.start)
        else:
            self.items.append(directive(cursor))

    def variable(self, linkage: str, attributes: str) -> None:
        cursor = self.cursor
        token = cursor.peek()
        if token.text == ".attribute":
            attributes = attribute(cursor)
        space = cursor.take_word(tuple(f".{space}" for space in SPACES))
        if not space:
            token = cursor.peek()
            raise Fault(
                f"expected .entry, .func or a state space, got {self.source.quote(token.start)}",
                token.start,
            )
        found = variables(cursor, linkage, attributes, space)
        self.items += found
        for variable in found:
            self.scope.declare_variable(variable.name, space, scalar_bytes(variable))

    def function(self, linkage: str, entry: bool, start: int) -> None:
        cursor = self.cursor
        found: list[tuple[str, tuple[int, ...]]] = []
        places: list[Place] = []
        if cursor.sees(".attribute"):
            places.append(self.source.place(cursor.start))
            found.append((attribute(cursor)[1:], ()))
        results: tuple[Parameter, ...] = ()
        if not entry and cursor.sees("("):
            results = parameters(cursor, "func")
        name = cursor.name("kernel" if entry else "function")
        params: tuple[Parameter, ...] = ()
        if cursor.sees("("):
            params = parameters(cursor, "entry" if entry else "func")
        self.directives(found, places)
        self.scope.declare_function(name)
        body = None
        if not cursor.take(";"):
            cursor.expect("{", f" or `;` after {name}")
            body = Body(cursor, self.scope, results + params, self.report, self.refuse).statements()
        place = self.source.place(start)
        self.items.append(
            Function(
                name, params, body, entry, results, linkage, tuple(found), place, tuple(places)
            )
        )

    def directives(self, found: list[tuple[str, tuple[int, ...]]], places: list[Place]) -> None:
        """Adds what stands between a function's parameters and its body."""
        cursor = self.cursor
        while True:
            token = cursor.peek()
            if token.kind != "word":
                return
            places.append(self.source.place(token.start))
            if token.text == ".pragma":
                found.append((f'pragma "{pragma(cursor).text}";', ()))
            elif token.text == ".attribute":
                found.append((attribute(cursor)[1:], ()))
            else:
                cursor.next()
                found.append((token.text[1:], cursor.integers()))
