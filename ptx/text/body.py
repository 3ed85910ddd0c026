"""The statements of a function, from text: one regex match for each instruction."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from ptx import types
from ptx.errors import PtxError
from ptx.ir import (
    Addr,
    Block,
    Instruction,
    Label,
    Not,
    Operand,
    Parameter,
    Prototype,
    Reg,
    Registers,
    Statement,
    Targets,
    Vector,
)
from ptx.isa import Variant, explain, in_order, resolve
from ptx.names import NAME
from ptx.operands import OFFSET_LIMIT, select
from ptx.text.cursor import Cursor
from ptx.text.declarations import SPACES, parameters, scalar_bytes, variables
from ptx.text.directives import OUTSIDE, directive, file_or_line, pragma
from ptx.text.operands import (
    Element,
    OperandCache,
    Unknown,
    call_operands,
    elements,
    jump_operands,
    split,
)
from ptx.text.scopes import Scope, spelled
from ptx.text.source import Fault

NESTING_LIMIT = 100
"""How deep braces may nest in a function."""

_INSTRUCTION = re.compile(
    rf"\s*+(?:@\s*+(!?\s*+{NAME})\s*+)?+([a-z]\w*+(?:\.[\w:]++)*+)([^;:\"@]*+);", re.ASCII
)
_ANY_INSTRUCTION = re.compile(
    rf"\s*+(?:@\s*+(!?\s*+{NAME})\s*+)?+([A-Za-z]\w*+(?:\s*+\.[\w:]++)*+)([^;]*+)(;?)", re.ASCII
)
_LABEL = re.compile(rf"\s*+({NAME})\s*+:(?!:)", re.ASCII)
_RANGE = re.compile(r"\s*<\s*", re.ASCII)
_BRACKET = re.compile(r"[\[({]")
_RESUME = re.compile(r"(?m);|^[ \t]*(?=[{}])|\Z")


class Body:
    """Reads one body, from behind its opening brace."""

    def __init__(
        self,
        cursor: Cursor,
        module: Scope,
        params: tuple[Parameter, ...],
        report: Callable[[Fault], None],
        refuse: Callable[[PtxError], None],
    ) -> None:
        self.cursor = cursor
        self.source = cursor.source
        self.report = report
        self.refuse = refuse
        self.scope = Scope(0, module)
        self.cache = OperandCache(self.scope)
        self.scopes = 0
        self.complained: set[str] = set()
        self.found: list[Statement] = []
        self.outer: list[tuple[list[Statement], Scope, OperandCache]] = []
        for parameter in params:
            self.declare_parameter(parameter)

    def declare_parameter(self, parameter: Parameter) -> None:
        if parameter.space == "reg":
            reason = self.scope.declare_registers(Registers(parameter.type, parameter.name))
        else:
            reason = self.scope.declare_variable(parameter.name, "param", scalar_bytes(parameter))
        if reason and parameter.place is not None:
            start = self.source.lines[parameter.place.line - 1] + parameter.place.column - 1
            self.report(Fault(reason, start))

    def statements(self) -> tuple[Statement, ...]:
        text, cursor = self.source.text, self.cursor
        instruction = _INSTRUCTION.match
        at = cursor.at
        while True:
            try:
                while match := instruction(text, at):
                    self.instruction(match[1], match[2], match[3], match)
                    at = match.end()
                cursor.at = at
                if self.other():
                    return tuple(self.found)
                at = cursor.at
            except Fault as fault:
                self.complain(fault)
                at = self.resume(at, fault.start)
                if at >= len(text):
                    cursor.at = at
                    return self.abandon()

    def complain(self, fault: Fault) -> None:
        if isinstance(fault, Unknown):
            if fault.name in self.complained:
                return
            self.complained.add(fault.name)
            fault.message = fault.scope.why_unknown(fault.name)
        self.report(fault)

    def resume(self, begin: int, start: int) -> int:
        """Where reading goes on after a mistake at `start` in the statement at `begin`."""
        found = _RESUME.search(self.source.text, max(begin + 1, start))
        return found.end() if found else len(self.source.text)

    def abandon(self) -> tuple[Statement, ...]:
        while self.outer:
            self.close()
        return tuple(self.found)

    # ------------------------------------------------------------ instructions

    def instruction(self, guard: str | None, op: str, rest: str, match: re.Match[str]) -> None:
        cache = self.cache
        opcode = op.partition(".")[0]
        try:
            if opcode in _SPECIAL_OPERANDS:
                operands = _SPECIAL_OPERANDS[opcode](rest, cache)
            elif _BRACKET.search(rest):
                parts = split(rest)
                try:
                    operands = tuple([cache[part] for part, _ in parts])
                except Fault:
                    for part, start in parts:
                        cache.at(part, start)
                    raise
                if Element in map(type, operands):
                    operands = elements(opcode, operands)
            elif rest and not rest.isspace():
                operands = tuple(cache.each(rest.split(","), 0))
            else:
                operands = ()
        except Fault as fault:
            if rest.lstrip()[:1] == "." and self.joined(match):
                return
            if not resolve(in_order(op)):
                raise Fault(explain(op), match.start(2)) from None
            fault.start += match.start(3)
            raise
        predicate = self.guard(guard, match) if guard else None
        place = self.source.place(match.start(2) if guard is None else text_start(match))
        key = (op, tuple(map(shape, operands)))
        variant = _VARIANTS.get(key)
        if variant is None:
            operands, variant = self.select(op, operands, match)
            if variant is not None and key[1] == tuple(map(shape, operands)):
                if len(_VARIANTS) >= 1 << 16:
                    _VARIANTS.clear()
                _VARIANTS[key] = variant
        if variant is not None:
            op = variant.op
        self.found.append(Instruction(op, operands, predicate, variant, place))

    def joined(self, match: re.Match[str]) -> bool:
        """Reads ``mov .u32 %r1, 1;``, whose opcode is written with blanks before its dots."""
        whole = _ANY_INSTRUCTION.match(match.string, match.start())
        if whole is None or whole[2] == match[2] or not whole[4]:
            return False
        self.instruction(whole[1], "".join(whole[2].split()), whole[3], whole)
        return True

    def guard(self, text: str, match: re.Match[str]) -> Reg | Not:
        name = text.lstrip("!").lstrip()
        start = match.end(1) - len(name)
        try:
            found = self.cache[name]
        except Fault as fault:
            fault.start += start
            raise
        if not isinstance(found, Reg) or found.type != "pred":
            had = f"{name} is .{found.type}" if isinstance(found, Reg) else f"{name} is none"
            raise Fault(f"a guard is a predicate register; {had}", start)
        return Not(found) if text[0] == "!" else found

    def select(
        self, op: str, operands: tuple[Operand, ...], match: re.Match[str]
    ) -> tuple[tuple[Operand, ...], Variant | None]:
        """The row that takes an instruction, and its operands as the row wants them."""
        op = in_order(op)
        try:
            return operands, select(op, operands)
        except PtxError as error:
            # ptxas takes, and Triton prints, {%r1} for %r1.
            bare = tuple(
                o.items[0] if type(o) is Vector and len(o.items) == 1 else o for o in operands
            )
            if bare != operands:
                with suppress(PtxError):
                    return bare, select(op, bare)
            self.refuse(self.source.error(error.message, match.start(2)))
            return operands, None

    # ------------------------------------------------------------ everything else

    def other(self) -> bool:
        """Reads one statement that is no plain instruction; True at the function's end."""
        cursor, text = self.cursor, self.source.text
        token = cursor.peek()
        if token.text == ".loc" and (line := file_or_line(cursor)):
            self.found.append(line)
            return False
        if token.text == "}":
            cursor.next()
            if not self.outer:
                return True
            self.close()
        elif token.text == "{":
            cursor.next()
            self.open(token.start)
        elif token.kind == "word":
            self.declaration()
        elif match := _LABEL.match(text, cursor.at):
            cursor.at = match.end()
            self.label(match[1], match.start(1))
        elif token.kind == "end":
            raise Fault("the function's body is not closed: expected `}`", token.start)
        elif match := _ANY_INSTRUCTION.match(text, cursor.at):
            if not match[4]:
                raise Fault("the instruction has no `;`", match.start(2))
            self.instruction(match[1], "".join(match[2].split()), match[3], match)
            cursor.at = match.end()
        else:
            raise Fault(f"expected a statement, got {self.source.quote(token.start)}", token.start)
        return False

    def open(self, start: int) -> None:
        if len(self.outer) >= NESTING_LIMIT:
            raise Fault(f"braces nest more than {NESTING_LIMIT} deep", start)
        self.outer.append((self.found, self.scope, self.cache))
        self.scopes += 1
        self.scope = Scope(self.scopes, self.scope)
        self.cache = OperandCache(self.scope)
        self.found = []

    def close(self) -> None:
        block = Block(tuple(self.found))
        self.found, self.scope, self.cache = self.outer.pop()
        self.found.append(block)

    def label(self, name: str, start: int) -> None:
        cursor = self.cursor
        token = cursor.peek()
        if token.text in (".branchtargets", ".calltargets"):
            cursor.next()
            names = [cursor.name("label")]
            while cursor.take(","):
                names.append(cursor.name("label"))
            cursor.expect(";")
            self.found.append(Targets(name, token.text[1:], tuple(names)))
        elif token.text == ".callprototype":
            cursor.next()
            self.found.append(self.prototype(name))
        else:
            self.found.append(Label(name, self.source.place(start)))

    def prototype(self, label: str) -> Prototype:
        cursor = self.cursor
        results: tuple[Parameter, ...] = ()
        params: tuple[Parameter, ...] = ()
        if cursor.sees("("):
            results = parameters(cursor, "prototype")
        cursor.expect("_", " in the place of the name")
        if cursor.sees("("):
            params = parameters(cursor, "prototype")
        noreturn = False
        directives = []
        while not cursor.take(";"):
            token = cursor.next()
            if token.text == ".noreturn":
                noreturn = True
            elif token.kind == "word":
                directives.append((token.text[1:], cursor.integers()))
            else:
                raise Fault(f"expected `;`, got {self.source.quote(token.start)}", token.start)
        return Prototype(label, results, params, noreturn, tuple(directives))

    def declaration(self) -> None:
        cursor = self.cursor
        token = cursor.peek()
        if token.text == ".reg":
            cursor.next()
            self.registers(token.start)
        elif token.text[1:] in SPACES:
            cursor.next()
            for variable in variables(cursor, "", "", token.text[1:], self.scope.number):
                if reason := self.scope.declare_variable(
                    variable.name, variable.space, scalar_bytes(variable)
                ):
                    raise Fault(reason, token.start)
                self.found.append(variable)
            self.cache.clear()
        elif token.text == ".pragma":
            self.found.append(pragma(cursor))
        elif token.text in (".branchtargets", ".calltargets", ".callprototype"):
            raise Fault(f"{token.text} needs a label before it", token.start)
        elif token.text in OUTSIDE:
            raise Fault(f"{token.text} may not stand in a function", token.start)
        else:
            self.found.append(directive(cursor))

    def registers(self, start: int) -> None:
        """``.reg .b32 %r<20>, a, b;``, from behind ``.reg``."""
        cursor = self.cursor
        place = self.source.place(start)
        if cursor.take(".align"):
            cursor.alignment()
        vector = cursor.take_word((".v2", ".v4"))
        type = cursor.type(types.FUNDAMENTAL, "register")
        while True:
            name_start = cursor.start
            name = cursor.name("register")
            count = None
            if _RANGE.match(cursor.text, cursor.at):
                cursor.expect("<")
                count = cursor.count("a number of registers")
                cursor.expect(">")
            declared = Registers(type, name, count, place, int(vector[1]) if vector else None)
            if count is not None and vector:
                raise Fault(f"{spelled(declared)}: a range has no vectors", name_start)
            if reason := self.scope.declare_registers(declared):
                raise Fault(reason, name_start)
            self.found.append(declared)
            if not cursor.take(","):
                break
        cursor.expect(";", f" after the declaration of {name}")
        self.cache.clear()


_VARIANTS: dict[tuple[str, tuple[object, ...]], Variant] = {}
"""What :func:`select` chose, by opcode and the shapes of the operands."""

_SPECIAL_OPERANDS = {"call": call_operands, "bra": jump_operands, "brx": jump_operands}


def text_start(match: re.Match[str]) -> int:
    """Where the statement begins: at its ``@``."""
    return match.string.index("@", match.start())


def shape(operand: Operand) -> object:
    """What of an operand :func:`select` judges by: equal shapes have equal verdicts."""
    kind = type(operand)
    if kind is Reg:
        return operand.type  # type: ignore[union-attr]
    if kind is Addr:
        base, offset = operand.base, operand.offset  # type: ignore[union-attr]
        if type(base) is Reg and operand.coordinates is None:  # type: ignore[union-attr]
            return base.type, -OFFSET_LIMIT <= offset < OFFSET_LIMIT
        return operand
    if kind is Vector:
        return ("{", *[shape(item) for item in operand.items])  # type: ignore[union-attr]
    return Label if kind is Label else operand
