"""Directives: known, where they belong, with the arguments that they take."""

from __future__ import annotations

import re
from typing import NamedTuple

from ptx.ir import Block, Directive, Function, Statement
from ptx.rules.rule import Finding, Findings, ModuleView, View, at, rule


class Performance(NamedTuple):
    """A directive between a function's parameters and its body."""

    fewest: int
    """Arguments."""
    most: int
    entry: bool
    """Of kernels; False: of device functions."""


PERFORMANCE = {
    "maxntid": Performance(1, 3, entry=True),
    "reqntid": Performance(1, 3, entry=True),
    "minnctapersm": Performance(1, 1, entry=True),
    "maxnreg": Performance(1, 1, entry=True),
    "reqnctapercluster": Performance(1, 3, entry=True),
    "maxclusterrank": Performance(1, 1, entry=True),
    "explicitcluster": Performance(0, 0, entry=True),
    "blocksareclusters": Performance(0, 0, entry=True),
    "noreturn": Performance(0, 0, entry=False),
    "abi_preserve": Performance(1, 1, entry=False),
    "abi_preserve_control": Performance(1, 1, entry=False),
}
"""PTX ISA 9.0, section 11.4."""
_POSITIVE = ("maxnreg", "minnctapersm")
_MODULE = (".file", ".section", ".alias")
_WORD = re.compile(r"\.?\w+")


@rule(
    "unknown-directive",
    """A directive is none of PTX ISA 9.0: misspelt, newer, or of another assembler. It is kept as
    it is written; ptxas refuses it.""",
    bad=".maxntids 256;  // here\nret;",
    good='.pragma "nounroll";\nret;',
    severity="warning",
    whole_module=True,
)
def unknown_directive(view: ModuleView) -> Findings:
    for item in view.module.items:
        if isinstance(item, Function):
            for directive in _inside(item.body or ()):
                yield at(directive, f"{_word(directive)} is no directive of a function's body")
            for name, _ in item.directives:
                if name not in PERFORMANCE and not name.startswith(("pragma ", "attribute(")):
                    yield Finding(f".{name} is no directive of a function", item.place_of(name))
        elif isinstance(item, Directive) and _word(item) not in _MODULE:
            yield at(item, f"{_word(item)} is no directive of a module")


def _inside(body: tuple[Statement, ...]) -> list[Directive]:
    found: list[Directive] = []
    for statement in body:
        if isinstance(statement, Directive):
            found.append(statement)
        elif isinstance(statement, Block):
            found += _inside(statement.body)
    return found


def _word(directive: Directive) -> str:
    match = _WORD.match(directive.text)
    return match[0] if match else directive.text


@rule(
    "directive-arguments",
    """A directive of a function has too few or too many arguments, 0 where that has no meaning, or
    stands at the wrong kind of function: .maxntid and its like are for kernels, .noreturn for
    device functions.""",
    bad=".visible .entry k() .maxntid 8, 8, 4, 2  // here\n{\nret;\n}",
    good=".visible .entry k() .maxntid 8, 8, 4\n{\nret;\n}",
    whole_module=True,
)
def directive_arguments(view: ModuleView) -> Findings:
    for function in view.module.items:
        if not isinstance(function, Function):
            continue
        for name, arguments in function.directives:
            known, place = PERFORMANCE.get(name), function.place_of(name)
            if known is None:
                continue
            if known.entry != function.entry:
                kind = "kernels" if known.entry else "device functions"
                yield Finding(f".{name} is for {kind}; {function.name} is none", place)
            if not known.fewest <= len(arguments) <= known.most:
                count = f"{known.fewest} to {known.most}" if known.most > 1 else str(known.most)
                yield Finding(f".{name} takes {count} numbers, got {len(arguments)}", place)
            elif name in _POSITIVE and not arguments[0]:
                yield Finding(f".{name} must be positive", place)


@rule(
    "incomplete-cluster",
    """.blocksareclusters makes the launch count clusters instead of CTAs, so the kernel must say
    how large both are.""",
    bad=".visible .entry k() .blocksareclusters .reqntid 32  // here\n{\nret;\n}",
    good=".visible .entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2\n{\nret;\n}",
)
def incomplete_cluster(view: View) -> Findings:
    has = view.function.directive
    if has("blocksareclusters") is not None and not (has("reqntid") and has("reqnctapercluster")):
        yield Finding(
            ".blocksareclusters needs .reqntid and .reqnctapercluster beside it",
            view.function.place_of("blocksareclusters"),
        )


@rule(
    "alias",
    """`.alias a, f;` gives the function f a second name: a must be declared, without a body and
    just as f is, and f must have a body.""",
    bad=".func f\n{\nret;\n}\n.alias a, f;  // here",
    good=".func f\n{\nret;\n}\n.func a;\n.alias a, f;",
    whole_module=True,
)
def alias(view: ModuleView) -> Findings:
    for directive, (new, old) in aliases(view).items():
        named = [view.functions.get(name) for name in (new, old)]
        for name, function in zip((new, old), named, strict=True):
            if function is None:
                yield at(directive, f"no function named {name} is declared")
        first, second = named
        if first is None or second is None:
            continue
        if first.body is not None:
            yield at(directive, f"{new} has a body of its own")
        elif second.body is None:
            yield at(directive, f"{old} has no body here")
        elif signature(first) != signature(second):
            yield at(directive, f"{new} is not declared as {old} is")


def aliases(view: ModuleView) -> dict[Directive, tuple[str, str]]:
    """The new name and the function's own, of each ``.alias``."""
    found: dict[Directive, tuple[str, str]] = {}
    for item in view.module.items:
        if isinstance(item, Directive) and _word(item) == ".alias":
            names = re.fullmatch(r"\.alias\s+([\w$%]+)\s*,\s*([\w$%]+)\s*;", item.text)
            if names is not None:
                found[item] = (names[1], names[2])
    return found


def signature(function: Function) -> tuple[tuple[tuple[object, ...], ...], ...]:
    """What all declarations of a function must agree on, parameters and then results."""
    return tuple(
        tuple((p.space, p.type, p.count, p.alignment) for p in parameters)
        for parameters in (function.params, function.results)
    )
