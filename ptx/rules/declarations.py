"""What variables, parameters and functions are declared as."""

from __future__ import annotations

from collections.abc import Mapping

from ptx import types
from ptx.ir import (
    Addr,
    Function,
    Imm,
    Linked,
    Parameter,
    Registers,
    Symbol,
    Variable,
)
from ptx.rules.directives import aliases, signature
from ptx.rules.rule import Finding, Findings, ModuleView, View, at, rule

VECTOR_BITS = 128
"""The most that a vector of registers or a variable of a vector type may hold."""


@rule(
    "initial-value",
    """A variable is given a value that it cannot have: in a space other than .global and .const, or
    declared elsewhere; more elements than it has, or braces that nest otherwise than its extents;
    an integer for floating point, or the other way round. An address is held by .u64 or .u32, one
    byte of it (`0xFF00(a)`) by .u8 too, and is that of a variable in .global or .const or of a
    function, declared before.""",
    bad=".global .f32 a[2] = {1.0, 2};  // here",
    good=".global .f32 a[2] = {1.0, 2.0};",
    whole_module=True,
)
def initial_value(view: ModuleView) -> Findings:
    before: dict[str, Function | Variable] = {}
    for item in view.module.items:
        within = item.variables if isinstance(item, Function) else (item,)
        for variable in within:
            if isinstance(variable, Variable) and variable.initial is not None:
                if reason := _misfit(variable, before):
                    yield Finding(f"{variable.name}: {reason}", variable.place, variable)
            if isinstance(variable, Variable):
                before.setdefault(variable.name, variable)
        if isinstance(item, Function):
            before.setdefault(item.name, item)


Known = Mapping[str, Function | Variable]
"""What is declared before a variable, by name."""


def _misfit(variable: Variable, known: Known) -> str:
    if variable.space not in ("global", "const"):
        return f"a variable in .{variable.space} has no initial value"
    if variable.linkage == "extern":
        return "a variable that another module defines has no initial value here"
    if variable.type in ("f16", "f16x2"):
        return f"a variable of .{variable.type} has no initial value; declare its bits"
    extents = variable.shape + ((variable.vector,) if variable.vector else ())
    return _value_misfit(variable, variable.initial, extents, known)


def _value_misfit(
    variable: Variable, value: object, extents: tuple[int | None, ...], known: Known
) -> str:
    if not extents:
        return _element_misfit(variable.type, value, known)
    if not isinstance(value, tuple):
        return "an array has its values in braces"
    extent = extents[0]
    if extent is not None and len(value) > extent:
        return f"{len(value)} values for {extent} elements"
    if variable.vector and len(extents) == 1 and len(value) < variable.vector:
        return f"{len(value)} values for a vector of {variable.vector}"
    reasons = (_value_misfit(variable, one, extents[1:], known) for one in value)
    return next((reason for reason in reasons if reason), "")


def _element_misfit(type: str, value: object, known: Known) -> str:
    if isinstance(value, tuple):
        return "braces around one element"
    if isinstance(value, (Symbol, Linked)):
        return _address_misfit(type, value, known)
    kind = types.kind(type)
    if kind == "f" and not (isinstance(value, Imm) and value.is_float):
        return f"expected a floating-point value for .{type}, got {value}"
    if kind == "i" and isinstance(value, Imm) and value.is_float:
        return f"expected an integer for .{type}, got {value}"
    return ""


def _address_misfit(type: str, value: Symbol | Linked, known: Known) -> str:
    byte = isinstance(value, Linked) and value.mask is not None
    holders = ("u64", "u32", "u8") if byte else ("u64", "u32")
    if type not in holders:
        what = "a byte of an address" if byte else "an address"
        return f"{what} is held by .{' or .'.join(holders)}, not by .{type}"
    symbol = value.symbol if isinstance(value, Linked) else value
    named = known.get(symbol.name)
    if named is None:
        return f"no variable or function named {symbol.name} is declared before"
    if isinstance(named, Variable) and named.space not in ("global", "const"):
        return f"{symbol.name} lies in .{named.space}, whose addresses are known at the launch only"
    return ""


@rule(
    "vector-size",
    """A vector of registers, or a variable of a vector type, holds more than 128 bits, or
    predicates. Declare an array, or several registers.""",
    bad=".shared .v4 .f64 a;  // here\nret;",
    good=".shared .v2 .f64 a[2];\nret;",
    whole_module=True,
)
def vector_size(view: ModuleView) -> Findings:
    registers = [
        statement
        for item in view.module.items
        if isinstance(item, Function)
        for statement in item.statements
        if type(statement) is Registers and statement.vector
    ]
    for declared in registers:
        yield from _oversized(declared)
    for variable in view.variables:
        yield from _oversized(variable)


def _oversized(declared: Registers | Variable) -> Findings:
    vector, type = declared.vector or 1, declared.type
    if vector > 1 and type == "pred":
        yield at(declared, f"{declared.name}: predicates make no vectors")
    elif vector > 1 and vector * types.bits(type) > VECTOR_BITS:
        yield at(
            declared,
            f"{declared.name}: a vector holds at most {VECTOR_BITS} bits, "
            f".v{vector} .{type} has {vector * types.bits(type)}",
        )


@rule(
    "variable-size",
    """A variable has no size: an extent is 0, or left open without values to count. Only what
    another module defines, or the launch (`.extern .shared`), may leave it open.""",
    bad=".global .u32 a[];  // here",
    good=".global .u32 a[] = {1, 2, 3};\n.extern .shared .b8 b[];",
    whole_module=True,
)
def variable_size(view: ModuleView) -> Findings:
    for variable in view.variables:
        unsized = any(
            not extent and not (extent is None and variable.initial) for extent in variable.shape
        )
        if unsized and variable.linkage != "extern":
            yield at(variable, f"{variable.name} has no size")


@rule(
    "variable-space",
    """A variable is declared in a space where it cannot be: `.local` and `.param` outside of a
    function, `.common`, `.attribute(.managed)`, textures and surfaces elsewhere than in
    .global.""",
    bad=".common .shared .u32 a;  // here",
    good=".common .global .u32 a;",
    whole_module=True,
)
def variable_space(view: ModuleView) -> Findings:
    for variable in view.module.variables:
        if variable.space in ("local", "param"):
            yield at(variable, f"{variable.name}: .{variable.space} variables belong to a function")
    for variable in view.variables:
        for what, found in (
            (".common", variable.linkage == "common"),
            (".attribute(.managed)", ".managed" in variable.attributes),
            (f".{variable.type}", variable.type in types.OPAQUE),
        ):
            if found and variable.space != "global":
                yield at(
                    variable,
                    f"{variable.name}: {what} variables lie in .global, not in .{variable.space}",
                )


@rule(
    "parameter-type",
    """A parameter cannot be what it is declared as: a predicate; .f16x2 in .param; an array of open
    size that is a result, or not the last parameter; .ptr on a device function's; one of several
    results in .param, as only registers hold several.""",
    bad=".visible .entry k(.param .pred a)  // here\n{\nret;\n}",
    good=".visible .entry k(.param .u32 a)\n{\nret;\n}",
)
def parameter_type(view: View) -> Findings:
    params, results = view.function.params, view.function.results
    for parameter in (*params, *results):
        name, type = f"the parameter {parameter.name}", parameter.type
        result = any(parameter is one for one in results)
        reason = ""
        if parameter.space == "param" and type in ("pred", "f16x2"):
            reason = f"{name} is .{type}, which .param does not hold"
        elif type == "pred":
            reason = f"{name} is .pred, which no call hands over"
        elif parameter.count == 0 and (result or parameter is not params[-1]):
            reason = f"{name} has no size; only the last parameter of a function may have none"
        elif parameter.pointer is not None and not view.function.entry:
            reason = f"{name} has .ptr, which tells of a kernel's parameters"
        elif result and len(results) > 1 and parameter.space == "param":
            reason = f"{name} is one of {len(results)} results, which only .reg may be"
        if reason:
            yield Finding(reason, parameter.place or view.function.place)


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
    """A function is declared otherwise than it is defined: with other parameters or results
    (type, size, alignment or space), as a kernel or with .noreturn at one place only, as `.extern`
    where this very module has its body; or it is declared behind its body.""",
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
        if item.linkage == "extern" and item.body is not None:
            yield Finding(f"{item.name} is .extern, and has a body here", item.place)
        if other is not item and (reason := _unlike(item, other)):
            where = f" at {other.place}" if other.place else ""
            yield Finding(f"{item.name} is declared{where} {reason}", item.place)


def _unlike(item: Function, other: Function) -> str:
    """How the first declaration of a function differs from a later one."""
    ours, theirs = signature(item), signature(other)
    differences = (
        ("as another kind of function", item.entry != other.entry),
        ("with other parameters", ours[0] != theirs[0]),
        ("with other results", ours[1] != theirs[1]),
        ("otherwise as to .noreturn", item.directive("noreturn") != other.directive("noreturn")),
        ("as .extern", other.linkage == "extern" and item.linkage != "extern"),
        ("with its body", other.body is not None and item.body is None),
    )
    return next((how for how, differs in differences if differs), "")


@rule(
    "undefined-function",
    """A function is declared without a body and without `.extern`: this module must define it, and
    does not. Write `.extern .func` for what another module defines.""",
    bad=".func f;  // here",
    good=".extern .func f;",
    whole_module=True,
)
def undefined_function(view: ModuleView) -> Findings:
    renamed = {new for new, _ in aliases(view).values()}
    for name, function in view.functions.items():
        if function.body is None and function.linkage != "extern" and name not in renamed:
            yield Finding(f"{name} has no body in this module, and is not .extern", function.place)
