"""A module as PTX text, with the place and the statement of each line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ptx.errors import Place
from ptx.ir import (
    Block,
    Directive,
    Function,
    Instruction,
    Item,
    Label,
    Line,
    Module,
    Parameter,
    Pragma,
    Prototype,
    Registers,
    Statement,
    Targets,
    Variable,
)
from ptx.requirements import requirements

_FILE_NUMBER = re.compile(r"\.file\s+(\d+)")


@dataclass(frozen=True)
class Rendered:
    """A module's text; each tuple has one entry a line, index 0 for line 1."""

    text: str
    places: tuple[Place | None, ...] = field(repr=False)
    """Where the statement on a line was written."""
    statements: tuple[Statement | Item | None, ...] = field(repr=False)
    """The statement on a line; None on braces and the header."""
    instruction_lines: dict[str, tuple[int, ...]] = field(repr=False)
    """For each function with a body the lines of its :attr:`Function.instructions`, in order."""


def print_module(module: Module, loc: bool = True) -> str:
    """The module's text. `loc` writes ``.file`` and ``.loc`` lines for instructions whose place is
    a line of Python; what was parsed keeps the ones it came with."""
    return render(module, loc).text


def render(module: Module, loc: bool = True) -> Rendered:
    """The module's text with the place and the statement of each line.

    Target and version that the module leaves open are inferred; instructions that no single target
    takes raise :class:`ptx.PtxError`.
    """
    printer = _Printer(module, loc)
    printer.module()
    return Rendered(
        "\n".join(printer.lines) + "\n",
        tuple(printer.places),
        tuple(printer.statements),
        printer.instruction_lines,
    )


class _Printer:
    def __init__(self, module: Module, loc: bool) -> None:
        self.source = module
        self.loc = loc
        self.lines: list[str] = []
        self.places: list[Place | None] = []
        self.statements: list[Statement | Item | None] = []
        self.instruction_lines: dict[str, tuple[int, ...]] = {}
        self.files: dict[str, int] = {}
        self.first_file = 1 + max(
            (
                int(match[1])
                for item in module.items
                if type(item) is Directive and (match := _FILE_NUMBER.match(item.text))
            ),
            default=0,
        )

    def write(
        self, text: str, place: Place | None = None, statement: Statement | Item | None = None
    ) -> None:
        for line in text.split("\n") if "\n" in text else (text,):
            self.lines.append(line)
            self.places.append(place)
            self.statements.append(statement)

    def module(self) -> None:
        self.header()
        for item in self.source.items:
            if isinstance(item, Function):
                self.function(item)
            else:
                self.write(_declaration(item), getattr(item, "place", None), item)
        for path, number in self.files.items():
            self.write(f'.file {number} "{path}"')

    def header(self) -> None:
        module = self.source
        target, version = module.target, module.version
        if target is None or version is None:
            inferred = requirements(module)
            target, version = target or inferred.target, version or inferred.version
        self.write(f".version {version}")
        self.write(f".target {', '.join((target, *module.options))}")
        self.write(f".address_size {module.address_size}")

    def function(self, function: Function) -> None:
        self.write("")
        place = function.place
        linkage = f".{function.linkage} " if function.linkage else ""
        kind = ".entry " if function.entry else ".func "
        before = [d for d in function.directives if d[0].startswith("attribute")]
        attributes = "".join(f".{name} " for name, _ in before)
        results = _parameters(function.results) + " " if function.results else ""
        head = f"{linkage}{kind}{attributes}{results}{function.name}("
        if not function.params:
            self.write(head + ")", place, function)
        else:
            self.write(head, place, function)
            *others, last = function.params
            for parameter in others:
                self.write(f"\t{_parameter(parameter)},", parameter.place)
            self.write(f"\t{_parameter(last)}", last.place)
            self.write(")")
        for directive in function.directives:
            if directive not in before:
                self.write(_performance(directive), function.place_of(directive[0]))
        if function.body is None:
            self.lines[-1] += ";"
            return
        self.write("{")
        found: list[int] = []
        self.body(function.body, "\t", found)
        self.instruction_lines[function.name] = tuple(found)
        self.write("}")

    def body(self, body: Iterable[Statement], indent: str, found: list[int]) -> None:
        lines, places, statements = self.lines, self.places, self.statements
        last: tuple[str, int] | None = None
        for statement in body:
            if type(statement) is Instruction:
                place = statement.place
                # What was parsed has a TextPlace, and brings .loc lines of its own.
                if self.loc and type(place) is Place and place[:2] != last:
                    last = place[:2]
                    self.write(f"{indent}.loc {self.file(place.file)} {place.line} 0")
                lines.append(indent + str(statement))
                places.append(place)
                statements.append(statement)
                found.append(len(lines))
            elif type(statement) is Label:
                self.write(f"{statement.name}:", statement.place, statement)
            elif type(statement) is Block:
                self.write(indent + "{")
                self.body(statement.body, indent + "\t", found)
                self.write(indent + "}")
                last = None
            else:
                text = _declaration(statement)
                self.write(indent + text, getattr(statement, "place", None), statement)

    def file(self, path: str) -> int:
        spelled = path.replace("\\", "/").replace('"', "'").encode("ascii", "replace").decode()
        return self.files.setdefault(spelled, self.first_file + len(self.files))


def _declaration(statement: Statement | Item) -> str:
    match statement:
        case Variable():
            return _variable(statement)
        case Registers():
            vector = f" .v{statement.vector}" if statement.vector else ""
            count = f"<{statement.count}>" if statement.count is not None else ""
            return f".reg{vector} .{statement.type} {statement.name}{count};"
        case Pragma():
            return f'.pragma "{statement.text}";'
        case Targets():
            return f"{statement.label}: .{statement.directive} {', '.join(statement.names)};"
        case Prototype():
            results = _parameters(statement.results) + " " if statement.results else ""
            tail = " .noreturn" if statement.noreturn else ""
            tail += "".join(f" {_performance(d)}" for d in statement.directives)
            params = _parameters(statement.params)
            return f"{statement.label}: .callprototype {results}_ {params}{tail};"
        case Line() | Directive():
            return statement.text
        case _:
            raise TypeError(f"{statement!r} is no declaration")


def _performance(directive: tuple[str, tuple[int, ...]]) -> str:
    name, arguments = directive
    return f".{name} {', '.join(map(str, arguments))}" if arguments else f".{name}"


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    return "(" + ", ".join(map(_parameter, parameters)) + ")"


def _parameter(parameter: Parameter) -> str:
    align = f" .align {parameter.align}" if parameter.align else ""
    pointer = ""
    if parameter.pointer is not None:
        pointer = " .ptr" + (f" .{parameter.pointer}" if parameter.pointer else "")
        pointer += f" .align {parameter.pointer_align}" if parameter.pointer_align else ""
    count = "" if parameter.count is None else f"[{parameter.count or ''}]"
    return f".{parameter.space}{align} .{parameter.type}{pointer} {parameter.name}{count}"


def _variable(variable: Variable) -> str:
    linkage = f".{variable.linkage} " if variable.linkage else ""
    attributes = f" {variable.attributes}" if variable.attributes else ""
    align = f" .align {variable.align}" if variable.align else ""
    vector = f" .v{variable.vector}" if variable.vector else ""
    shape = "".join(f"[{'' if extent is None else extent}]" for extent in variable.shape)
    initial = f" = {_initial(variable.initial)}" if variable.initial is not None else ""
    return (
        f"{linkage}.{variable.space}{attributes}{align}{vector} .{variable.type} "
        f"{variable.name}{shape}{initial};"
    )


def _initial(value: object) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(_initial, value)) + "}"
    return str(value)
