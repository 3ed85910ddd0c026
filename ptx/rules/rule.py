"""What a rule of the checker is, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ptx import targets
from ptx.assignment import UnsetRead, unset_reads
from ptx.controlflow import Flow
from ptx.errors import Place
from ptx.ir import Function, Instruction, Item, Module, Statement, Variable
from ptx.requirements import bare
from ptx.targets import Version


class Finding(NamedTuple):
    """A breach of a rule, where it is."""

    message: str
    place: Place | None = None
    statement: Statement | None = None
    certain: bool = True
    """False: a warning, where the rule tells errors from warnings by certainty."""


Findings = Iterator[Finding]


def at(statement: Statement, message: str, certain: bool = True) -> Finding:
    """A finding at a statement's place."""
    return Finding(message, getattr(statement, "place", None), statement, certain)


class ModuleView:
    """A module as the rules see it."""

    def __init__(self, module: Module, target: str | None, version: Version | None) -> None:
        self.module = module
        self.target = target
        """The target that it is checked for; None where neither it nor the caller gives one."""
        self.version = version

    @cached_property
    def named(self) -> dict[str, Function | Variable]:
        """The functions and variables, by name; the one with a body where there are several."""
        found: dict[str, Function | Variable] = {}
        for item in self.module.items:
            if isinstance(item, Variable) or (
                isinstance(item, Function) and (item.body is not None or item.name not in found)
            ):
                found[item.name] = item
        return found

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the module and of its functions, in order."""
        found: list[Variable] = []
        for item in self.module.items:
            if isinstance(item, Variable):
                found.append(item)
            elif isinstance(item, Function):
                found += item.variables
        return tuple(found)

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {name: item for name, item in self.named.items() if isinstance(item, Function)}

    @cached_property
    def has_variables(self) -> bool:
        return len(self.functions) < len(self.named)

    @cached_property
    def noreturn(self) -> frozenset[str]:
        """The functions that do not come back."""
        return frozenset(
            name for name, item in self.functions.items() if item.directive("noreturn") is not None
        )

    @cached_property
    def architecture(self) -> int | None:
        """The number of the target, 90 for sm_90a; None where no known target is given."""
        if self.target is None or bare(self.target) not in targets.INTRODUCED:
            return None
        return int("".join(c for c in bare(self.target) if c.isdigit()))


class View:
    """One function with a body as the rules see it."""

    def __init__(self, function: Function, module: ModuleView, built: bool) -> None:
        self.function = function
        self.module = module
        self.built = built
        """Built by a program, rather than read from text."""
        self.flow = Flow(function, module.noreturn)

    @cached_property
    def unset_reads(self) -> list[UnsetRead]:
        return unset_reads(self.flow)


Severity = str
"""``"error"``, ``"warning"``, ``"certainty"`` (an error where the finding is certain, else a
warning) or ``""``: not reported."""

Check = Callable[[Any], Findings]
"""Takes a :class:`View`, or a :class:`ModuleView` where the rule is for whole modules."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the checker."""

    name: str
    about: str
    """One paragraph: what goes wrong, and what to do."""
    bad: str
    """PTX that breaks it, for :func:`example`; the line at fault ends in ``// here``."""
    good: str
    """The nearest PTX that does not."""
    built: Severity
    foreign: Severity
    whole_module: bool
    check: Check

    def severity(self, built: bool, certain: bool) -> str:
        severity = self.built if built else self.foreign
        return ("error" if certain else "warning") if severity == "certainty" else severity


RULES: dict[str, Rule] = {}
"""Every rule by name, in the order in which they run."""


def rule(
    name: str,
    about: str,
    *,
    bad: str = "",
    good: str = "",
    severity: Severity = "error",
    foreign: Severity | None = None,
    whole_module: bool = False,
) -> Callable[[Check], Check]:
    """Registers a function as a rule; `foreign` is the severity in text where it differs."""

    def register(check: Check) -> Check:
        folded = " ".join(about.split())
        RULES[name] = Rule(
            name,
            folded,
            bad.strip("\n"),
            good.strip("\n"),
            severity,
            severity if foreign is None else foreign,
            whole_module,
            check,
        )
        return check

    return register


@rule(
    "syntax",
    """The text is not PTX: a character, a token, a statement or a name is not what it must be. The
    message tells what was expected.""",
    bad="mov.u32 %r1 1;  // here\nret;",
    good="mov.u32 %r1, 1;\nret;",
    whole_module=True,
)
def syntax(view: ModuleView) -> Findings:
    """Found by the parser: what has been parsed has no such fault."""
    return iter(())


@rule(
    "unended-block",
    """A block of a kernel that is built in Python has not ended: k.when, k.branch, k.otherwise or
    k.loop was called without `with` before it, or what is checked or made a module is a kernel
    whose `with` is still open. Write `with k.branch(p):`, and take the kernel after it.""",
    whole_module=True,
)
def unended_block(view: ModuleView) -> Findings:
    """Found by the builder: the statements do not show it."""
    return iter(())


_OF_MODULES = (".visible", ".extern", ".weak", ".common", ".global", ".const", ".func")


def example(text: str) -> str:
    """The module that an example of a rule stands for: itself, or a kernel around its body."""
    if text.lstrip().startswith(_OF_MODULES):
        return f".version 9.0\n.target sm_90a\n.address_size 64\n{text}\n"
    return (
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<80>;\n.reg .b64 %rd<16>;\n"
        f"{text}\n}}\n"
    )


def opcode_words(instruction: Instruction) -> frozenset[str]:
    return frozenset(instruction.op.split("."))


def items_named(items: tuple[Item, ...]) -> Iterator[tuple[str, Function | Variable]]:
    for item in items:
        if isinstance(item, (Function, Variable)):
            yield item.name, item
