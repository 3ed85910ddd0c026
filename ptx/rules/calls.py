"""Calls: what the call site hands over is what the function takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from ptx import types
from ptx.controlflow import HINTS
from ptx.declared import nearest
from ptx.ir import (
    Arguments,
    Function,
    Imm,
    Instruction,
    Label,
    Operand,
    Parameter,
    Prototype,
    Reg,
    Symbol,
    Targets,
)
from ptx.rules.rule import Findings, View, at, rule

_CALLEE = """
.visible .func (.param .b32 out) f(.param .align 16 .b8 a[16])
{
st.param.b32 [out], 0;
ret;
}
"""


@rule(
    "unknown-function",
    """A call, or a list of the targets of calls, names a function that the module neither defines
    nor declares. Declare what another module defines with `.extern .func`.""",
    bad=".visible .entry k()\n{\ncall g;  // here\nret;\n}",
    good=".func g\n{\nret;\n}\n.visible .entry k()\n{\ncall g;\nret;\n}",
)
def unknown_function(view: View) -> Findings:
    known = view.module.functions
    lists = _lists(view, Targets)
    told = 0
    for _, instruction in view.flow.of("call", malformed=True):
        callee = _callee(instruction)
        listed = lists.get(_prototype(instruction))
        names = listed.names if listed is not None else ()
        for name in (callee.name,) if isinstance(callee, Symbol) else names:
            if name not in known:
                hint = nearest(name, known) if told < HINTS else ""
                told += 1
                yield at(instruction, f"no function is named {name}{hint}")


@rule(
    "kernel-called",
    """A call names a kernel. Only the host launches kernels: put what both need in a .func.""",
    bad=".visible .entry j()\n{\nret;\n}\n.visible .entry k()\n{\ncall j;  // here\nret;\n}",
    good=".func j\n{\nret;\n}\n.visible .entry k()\n{\ncall j;\nret;\n}",
)
def kernel_called(view: View) -> Findings:
    for instruction, _, _, callee in _calls(view):
        if isinstance(callee, Function) and callee.entry:
            yield at(instruction, f"{callee.name} is a kernel; only a .func is called")


@rule(
    "call-count",
    """A call hands over another number of arguments than the function has parameters, or takes
    another number of results.""",
    bad=_CALLEE
    + """.visible .entry k()
{
.param .b32 r;
call (r), f;  // here
ret;
}""",
    good=_CALLEE
    + """.visible .entry k()
{
.param .b32 r;
.param .align 16 .b8 s[16];
st.param.b32 [s], 0;
call (r), f, (s);
ret;
}""",
)
def call_count(view: View) -> Findings:
    for instruction, results, arguments, callee in _calls(view):
        for what, given, wanted in (
            ("arguments", arguments, callee.params),
            ("results", results, callee.results),
        ):
            if len(given) != len(wanted):
                message = f"{_name(callee)} has {len(wanted)} {what}, the call gives {len(given)}"
                yield at(instruction, message)


@rule(
    "call-argument",
    """An argument of a call is smaller, larger, or less aligned than the parameter that it is for,
    or of another type. Both sides must declare the same `.param`: its size and its `.align`.""",
    bad=_CALLEE
    + """.visible .entry k()
{
.param .b32 r;
.param .align 8 .b8 s[16];
st.param.b32 [s], 0;
call (r), f, (s);  // here
ret;
}""",
    good=_CALLEE
    + """.visible .entry k()
{
.param .b32 r;
.param .align 16 .b8 s[16];
st.param.b32 [s], 0;
call (r), f, (s);
ret;
}""",
)
def call_argument(view: View) -> Findings:
    for instruction, results, arguments, callee in _calls(view):
        pairs = [
            *zip(arguments, callee.params, strict=False),
            *zip(results, callee.results, strict=False),
        ]
        for given, wanted in pairs:
            if reason := _misfit(view, instruction, given, wanted):
                yield at(instruction, f"{_name(callee)}: {reason}")


def _misfit(view: View, instruction: Instruction, given: Operand, wanted: Parameter) -> str:
    """Why an argument may not be handed over for a parameter."""
    if isinstance(given, Reg):
        if not types.accepts(wanted.type, given.type) or wanted.count is not None:
            return f"{wanted.name} is .{wanted.type}, the call gives {given} (.{given.type})"
    if isinstance(given, Imm) or not isinstance(given, Symbol):
        return ""
    own = view.flow.variable(instruction, given.name)
    if own is None:
        return ""
    if own.bytes != wanted.bytes:
        return f"{wanted.name} takes {wanted.bytes} bytes, {given.name} has {own.bytes}"
    if own.alignment < wanted.alignment:
        return (
            f"{wanted.name} is aligned to {wanted.alignment} bytes, {given.name} to {own.alignment}"
        )
    return ""


_Operands = tuple[Operand, ...]


def _calls(view: View) -> Iterator[tuple[Instruction, _Operands, _Operands, Function | Prototype]]:
    """The calls whose callee is known: results, arguments, and what declares the callee; one of
    several targets after another."""
    prototypes, lists = _lists(view, Prototype), _lists(view, Targets)
    functions = view.module.functions
    for _, instruction in view.flow.of("call", malformed=True):
        operands = list(instruction.operands)
        results: _Operands = ()
        if operands and isinstance(operands[0], Arguments):
            results = operands.pop(0).items  # type: ignore[union-attr]
        arguments = next((o.items for o in operands if isinstance(o, Arguments)), ())
        callee, label = _callee(instruction), _prototype(instruction)
        declared: list[Function | Prototype | None] = [prototypes.get(label)]
        if isinstance(callee, Symbol):
            declared = [functions.get(callee.name)]
        elif label in lists:
            declared = [functions.get(name) for name in lists[label].names]
        for one in declared:
            if one is not None:
                yield instruction, results, arguments, one


Declared = TypeVar("Declared", Prototype, Targets)


def _lists(view: View, kind: type[Declared]) -> dict[str, Declared]:
    """The function's prototypes or lists of targets, by label."""
    return {s.label: s for s in view.function.statements if isinstance(s, kind)}


def _callee(instruction: Instruction) -> Operand | None:
    return next((o for o in instruction.operands if not isinstance(o, Arguments)), None)


def _prototype(instruction: Instruction) -> str:
    """What an indirect call names behind its arguments; ``""`` in a direct one."""
    last = instruction.operands[-1] if instruction.operands else None
    return last.name if isinstance(last, Label) else ""


def _name(callee: Function | Prototype) -> str:
    return callee.name if isinstance(callee, Function) else callee.label
