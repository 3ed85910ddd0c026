"""Calls: what the call site hands over is what the function takes."""

from __future__ import annotations

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
    """A call names a function that the module neither defines nor declares. Declare what another
    module defines with `.extern .func`.""",
    bad=".visible .entry k()\n{\ncall g;  // here\nret;\n}",
    good=".func g\n{\nret;\n}\n.visible .entry k()\n{\ncall g;\nret;\n}",
)
def unknown_function(view: View) -> Findings:
    known = view.module.functions
    told = 0
    for _, instruction in view.flow.of("call", malformed=True):
        callee = _callee(instruction)
        if isinstance(callee, Symbol) and callee.name not in known:
            hint = nearest(callee.name, known) if told < HINTS else ""
            told += 1
            yield at(instruction, f"no function is named {callee.name}{hint}")


@rule(
    "kernel-called",
    """A call names a kernel. Only the host launches kernels: put what both need in a .func.""",
    bad=".visible .entry j()\n{\nret;\n}\n.visible .entry k()\n{\ncall j;  // here\nret;\n}",
    good=".func j\n{\nret;\n}\n.visible .entry k()\n{\ncall j;\nret;\n}",
)
def kernel_called(view: View) -> Findings:
    for _, instruction in view.flow.of("call"):
        callee = _callee(instruction)
        named = view.module.functions.get(callee.name) if isinstance(callee, Symbol) else None
        if named is not None and named.entry:
            yield at(instruction, f"{callee} is a kernel; only a .func is called")


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
            ("arguments", arguments, callee[1]),
            ("results", results, callee[0]),
        ):
            if len(given) != len(wanted):
                yield at(
                    instruction,
                    f"{_name(instruction)} has {len(wanted)} {what}, the call gives {len(given)}",
                )


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
        pairs = [*zip(arguments, callee[1], strict=False), *zip(results, callee[0], strict=False)]
        for given, wanted in pairs:
            if reason := _misfit(view, instruction, given, wanted):
                yield at(instruction, f"{_name(instruction)}: {reason}")


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


_Callee = tuple[tuple[Parameter, ...], tuple[Parameter, ...]]


def _calls(
    view: View,
) -> list[tuple[Instruction, tuple[Operand, ...], tuple[Operand, ...], _Callee]]:
    """The calls whose callee is known: results, arguments, and what the callee declares."""
    found = []
    prototypes = {s.label: s for s in view.function.statements if isinstance(s, Prototype)}
    for _, instruction in view.flow.of("call", malformed=True):
        operands = list(instruction.operands)
        results: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Arguments):
            results = operands.pop(0).items  # type: ignore[union-attr]
        arguments = next((o.items for o in operands if isinstance(o, Arguments)), ())
        callee = _callee(instruction)
        declared: Function | Prototype | None = None
        if isinstance(callee, Symbol):
            item = view.module.named.get(callee.name)
            declared = item if isinstance(item, Function) else None
        elif operands and isinstance(operands[-1], Label):
            declared = prototypes.get(operands[-1].name)
        if declared is not None:
            found.append((instruction, results, arguments, (declared.results, declared.params)))
    return found


def _callee(instruction: Instruction) -> Operand | None:
    return next((o for o in instruction.operands if not isinstance(o, Arguments)), None)


def _name(instruction: Instruction) -> str:
    return str(_callee(instruction))
