"""Names: declared once, where they are used, and spelled as PTX allows."""

from __future__ import annotations

from ptx.controlflow import HINTS
from ptx.declared import nearest, spell
from ptx.ir import Function, Label, Registers, Variable
from ptx.names import why_no_name
from ptx.rules.rule import Finding, Findings, ModuleView, View, at, items_named, rule


def _faults(view: View, name: str) -> Findings:
    for fault in view.flow.faults:
        if fault.rule == name:
            yield at(fault.statement, fault.message)


@rule(
    "unknown-register",
    """A register is used that no .reg in reach declares. `.reg .b32 %r<20>;` declares %r0 to %r19.
    Declare it, or raise the count.""",
    bad="mov.u32 %r16, 1;  // here\nret;",
    good="mov.u32 %r15, 1;\nret;",
)
def unknown_register(view: View) -> Findings:
    return _faults(view, "unknown-register")


@rule(
    "foreign-register",
    """A register made by one kernel under construction is used in another one. Each kernel has
    registers of its own: pass values through memory or parameters.""",
)
def foreign_register(view: View) -> Findings:
    return _faults(view, "foreign-register")


@rule(
    "unknown-label",
    """A branch names a label that is nowhere in its function, or inside another pair of braces; or
    an indirect call names a prototype or a list of targets that is nowhere.""",
    bad="bra LOP;  // here\nLOOP:\nret;",
    good="bra LOOP;\nLOOP:\nret;",
)
def unknown_label(view: View) -> Findings:
    return _faults(view, "unknown-label")


@rule(
    "duplicate-label",
    """A label stands twice in one scope, so that a branch to it has two targets. An inner pair of
    braces may use the name again.""",
    bad="L:\nbar.sync 0;\nL:  // here\nret;",
    good="L:\nbar.sync 0;\nM:\nret;",
)
def duplicate_label(view: View) -> Findings:
    return _faults(view, "duplicate-label")


@rule(
    "duplicate-name",
    """A register, a variable or a parameter is declared twice in one scope. An inner pair of braces
    may declare the name again.""",
    bad=".reg .b32 %x<5>;\n.reg .b32 %x<9>;  // here\nret;",
    good=".reg .b32 %x<5>;\n{\n.reg .b32 %x<9>;\n}\nret;",
)
def duplicate_name(view: View) -> Findings:
    yield from _faults(view, "duplicate-name")
    seen: set[str] = set()
    for parameter in view.function.params + view.function.results:
        if parameter.name in seen and parameter.name != "_":
            message = f"{view.function.name} has two parameters named {parameter.name}"
            yield Finding(message, parameter.place or view.function.place)
        seen.add(parameter.name)


@rule(
    "duplicate-definition",
    """Two functions or variables of a module share a name, so that a use of it means either.""",
    bad=".global .u32 a;\n.global .u32 a;  // here",
    good=".global .u32 a;\n.global .u32 b;",
    whole_module=True,
)
def duplicate_definition(view: ModuleView) -> Findings:
    seen: dict[str, Function | Variable] = {}
    for name, item in items_named(view.module.items):
        other = seen.get(name)
        if (
            other is not None
            and _defines(item)
            and (_defines(other) or type(item) is not type(other))
        ):
            statement = item if isinstance(item, Variable) else None
            yield Finding(f"{name} is defined twice in the module", item.place, statement)
        elif isinstance(other, Variable) and isinstance(item, Variable):
            if not _same(other, item):
                first = f" at {other.place}" if other.place else ""
                yield Finding(f"{name} is declared{first} as `{spell(other)}`", item.place, item)
            elif other.linkage == "extern" and item.linkage == "":
                message = f"{name} is .extern before: what defines it must be .visible or .weak"
                yield Finding(message, item.place, item)
        if other is None or _defines(item):
            seen[name] = item


def _same(a: Variable, b: Variable) -> bool:
    """Whether two declarations may be of one variable; an open extent goes with any."""
    extents = zip(a.shape, b.shape, strict=False)
    return (
        (a.space, a.type, a.vector, len(a.shape)) == (b.space, b.type, b.vector, len(b.shape))
        and all(m == n or None in (m, n) for m, n in extents)
    )  # fmt: skip


def _defines(item: Function | Variable) -> bool:
    if isinstance(item, Function):
        return item.body is not None
    return item.linkage not in ("extern", "common", "weak")


@rule(
    "unknown-symbol",
    """An instruction names a variable or a parameter that neither its function nor the module
    declares.""",
    bad="ld.param.u64 %rd1, [q];  // here\nret;",
    good="ld.param.u64 %rd1, [p];\nret;",
)
def unknown_symbol(view: View) -> Findings:
    own = {p.name for p in view.function.params + view.function.results}
    module = view.module.named
    told = 0
    for symbol, instruction, scope in view.flow.symbols:
        name = symbol.name
        if name in own or name in module or isinstance(scope.find(name), Variable):
            continue
        if instruction.opcode == "call" and symbol in instruction.operands:
            continue  # the rule unknown-function
        known = [*own, *module, *(v.name for v in view.function.variables)]
        hint = nearest(name, known) if told < HINTS else ""
        told += 1
        yield at(instruction, f"no variable or parameter is named {name} here{hint}")


@rule(
    "illegal-name",
    """PTX names are ASCII: a letter and then letters, digits, _ and $; or one of _ $ % and at least
    one of these. Dots, templates and accents are not legal.""",
    whole_module=True,
)
def illegal_name(view: ModuleView) -> Findings:
    for name, item in items_named(view.module.items):
        statements = item.statements if isinstance(item, Function) else ()
        params = (item.params + item.results) if isinstance(item, Function) else ()
        names = [(name, item.place)]
        names += [(p.name, p.place or item.place) for p in params if p.name != "_"]
        names += [
            (s.name, s.place) for s in statements if isinstance(s, (Registers, Variable, Label))
        ]
        for one, place in names:
            if reason := why_no_name(one):
                yield Finding(reason, place)
