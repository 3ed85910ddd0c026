"""What variables, parameters and functions are declared as."""

from __future__ import annotations

from collections.abc import Iterator

from ptx import types
from ptx.ir import Addr, Function, Imm, Parameter, Symbol, Variable
from ptx.rules.rule import Finding, Findings, ModuleView, View, at, rule


@rule(
    "initial-value",
    """A variable is given a value that it cannot have: in a space other than .global and .const, or
    declared elsewhere; more elements than it has, or braces that nest otherwise than its extents;
    an integer for floating point, or the other way round.""",
    bad=".global .f32 a[2] = {1.0, 2};  // here",
    good=".global .f32 a[2] = {1.0, 2.0};",
    whole_module=True,
)
def initial_value(view: ModuleView) -> Findings:
    for variable in _variables(view):
        if variable.initial is not None and (reason := _misfit(variable)):
            yield Finding(f"{variable.name}: {reason}", variable.place, variable)


def _variables(view: ModuleView) -> Iterator[Variable]:
    for item in view.module.items:
        if isinstance(item, Variable):
            yield item
        elif isinstance(item, Function):
            yield from item.variables


def _misfit(variable: Variable) -> str:
    if variable.space not in ("global", "const"):
        return f"a variable in .{variable.space} has no initial value"
    if variable.linkage == "extern":
        return "a variable that another module defines has no initial value here"
    if variable.type in ("f16", "f16x2"):
        return f"a variable of .{variable.type} has no initial value; declare its bits"
    extents = variable.shape + ((variable.vector,) if variable.vector else ())
    return _value_misfit(variable, variable.initial, extents)


def _value_misfit(variable: Variable, value: object, extents: tuple[int | None, ...]) -> str:
    if not extents:
        return _element_misfit(variable.type, value)
    if not isinstance(value, tuple):
        return "an array has its values in braces"
    extent = extents[0]
    if extent is not None and len(value) > extent:
        return f"{len(value)} values for {extent} elements"
    if variable.vector and len(extents) == 1 and len(value) < variable.vector:
        return f"{len(value)} values for a vector of {variable.vector}"
    reasons = (_value_misfit(variable, one, extents[1:]) for one in value)
    return next((reason for reason in reasons if reason), "")


def _element_misfit(type: str, value: object) -> str:
    if isinstance(value, tuple):
        return "braces around one element"
    kind = types.kind(type)
    if kind == "f" and not (isinstance(value, Imm) and value.is_float):
        return f"expected a floating-point value for .{type}, got {value}"
    if kind == "i" and isinstance(value, Imm) and value.is_float:
        return f"expected an integer for .{type}, got {value}"
    return ""


@rule(
    "parameter-type",
    """A parameter in .param is of a type that memory does not hold: .pred, or .f16x2. Hand over
    an integer, or .b32.""",
    bad=".visible .entry k(.param .pred a)  // here\n{\nret;\n}",
    good=".visible .entry k(.param .u32 a)\n{\nret;\n}",
)
def parameter_type(view: View) -> Findings:
    for parameter in (*view.function.params, *view.function.results):
        if parameter.space == "param" and parameter.type in ("pred", "f16x2"):
            yield Finding(
                f"the parameter {parameter.name} is .{parameter.type}, which .param does not hold",
                parameter.place or view.function.place,
            )


@rule(
    "parameter-written",
    """A kernel's parameters, and what a function is handed, can only be read. Store into a .param
    of the function's own.""",
    bad="st.param.u32 [n], 1;  // here\nret;",
    good="ld.param.u32 %r1, [n];\nadd.u32 %r1, %r1, 1;\nret;",
)
def parameter_written(view: View) -> Findings:
    flow = view.flow
    inputs = view.function.params
    for _, instruction in flow.of("st") if inputs else ():
        address = instruction.operands[0]
        if isinstance(address, Addr) and isinstance(address.base, Symbol):
            found = flow.variable(instruction, address.base.name)
            if isinstance(found, Parameter) and any(found is one for one in inputs):
                yield at(instruction, f"{found.name} is handed over, and can only be read")


@rule(
    "inconsistent-declaration",
    """A function is declared with other parameters or results than it is defined with.""",
    bad=".func f(.param .b32 a);\n.func f()  // here\n{\nret;\n}",
    good=".func f(.param .b32 a);\n.func f(.param .b32 a)\n{\nret;\n}",
    whole_module=True,
)
def inconsistent_declaration(view: ModuleView) -> Findings:
    first: dict[str, Function] = {}
    for item in view.module.items:
        if not isinstance(item, Function):
            continue
        other = first.setdefault(item.name, item)
        for what, ours, theirs in (
            ("parameters", item.params, other.params),
            ("results", item.results, other.results),
        ):
            if [p.bytes for p in ours] != [p.bytes for p in theirs]:
                where = f" at {other.place}" if other.place else ""
                message = f"{item.name} is declared{where} with other {what}"
                yield Finding(message, item.place)
