"""The checker: what is wrong with a module, each finding with its rule, its place and its line.

Errors are certain mistakes, warnings likely ones. ``// ptx: ignore NAME`` at the end of a line of
PTX silences that rule there; in Python the caller filters by :attr:`Diagnostic.name`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ptx import collector, targets
from ptx.declared import spell
from ptx.errors import Place, PtxError, TextPlace
from ptx.ir import Function, Item, Module, Variable
from ptx.requirements import Need, Requirements, requirements
from ptx.rules import RULES, ModuleView, View
from ptx.rules.rule import Finding

__all__ = [
    "Diagnostic",
    "Need",
    "Requirements",
    "check",
    "check_function",
    "explain",
    "require_sound",
    "requirements",
]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: ``str()`` gives ``FILE:LINE:COLUMN: error: message``."""

    severity: str
    """``"error"`` or ``"warning"``."""
    name: str
    """The rule, for :func:`explain`."""
    message: str
    place: Place | None
    source: str
    """The line of PTX at fault; the statement as PTX where it was built."""

    @property
    def file(self) -> str:
        return self.place.file if self.place else ""

    @property
    def line(self) -> int:
        """Counted from 1; 0 where no place is known."""
        return self.place.line if self.place else 0

    @property
    def column(self) -> int:
        """Counted from 1; 0 where only the line is known."""
        return self.place.column if self.place else 0

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.severity}: {self.message} [{self.name}]"


class Draft(Protocol):
    """What can be checked before it is a module: a kernel under construction."""

    def unchecked(self) -> tuple[Item, ...]: ...

    def mistakes(self) -> Iterator[PtxError]: ...


def check(
    module: Module | Draft | str, target: str | None = None, *, file: str = "<ptx>"
) -> list[Diagnostic]:
    """Everything that is wrong with a module, a kernel or a text, in the order of its lines.

    `target`, as ``"sm_90a"``, is checked beside the one that the module states. A text that
    cannot be parsed gives findings of the rule ``syntax``; `file` is its name in places.
    """
    lines: Sequence[str] = ()
    if isinstance(module, str):
        from ptx import text

        lines = module.splitlines()
        errors: list[PtxError] = []
        parsed = text.parse(module, file, errors)
        judged = _check_module(parsed, target, lines)
        found = _with_errors(judged, errors, lines)
        found = [diagnostic for diagnostic in found if not _silenced(diagnostic, lines)]
    elif isinstance(module, Module):
        found = _check_module(module, target, lines)
    else:
        found = [
            _located("error", "unended-block", Finding(mistake.message, mistake.place), lines)
            for mistake in module.mistakes()
        ]
        found += _check_module(Module(*module.unchecked()), target, lines)
    return sorted(dict.fromkeys(found), key=lambda d: (d.line, d.column))


@collector.paused()
def _check_module(module: Module, target: str | None, lines: Sequence[str]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    view = _view(module, target)
    for rule in RULES.values():
        if rule.whole_module:
            for finding in rule.check(view):
                severity = rule.severity(not lines, finding.certain)
                if severity:
                    found.append(_located(severity, rule.name, finding, lines))
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            found += _check(View(item, view, _is_built(item)), lines)
    return found


def _with_errors(
    judged: list[Diagnostic], errors: list[PtxError], lines: Sequence[str]
) -> list[Diagnostic]:
    """The parser's errors and the findings of the rules, each mistake told once.

    What the parser says of the operands of an instruction the rules say too, or say better.
    """
    by_line: dict[int, set[str]] = {}
    for diagnostic in judged:
        by_line.setdefault(diagnostic.line, set()).add(diagnostic.name)
    found: list[Diagnostic] = []
    told: set[int] = set()
    for error in errors:
        line = error.place.line if error.place else 0
        if "operands" not in by_line.get(line, ()):
            found.append(_located("error", "syntax", Finding(error.message, error.place), lines))
            told.add(line)
    for diagnostic in judged:
        better = diagnostic.name == "operands" and by_line[diagnostic.line] & _TELL_OPERANDS
        if diagnostic.line not in told and not better:
            found.append(diagnostic)
    return found


_TELL_OPERANDS = {"offset", "barrier-number"}
"""Rules on operands that say more than ``operands`` does."""


@collector.paused()
def check_function(function: Function, module: Module, built: bool = True) -> list[Diagnostic]:
    """What is wrong with one function of a module; `built`: by a program, not read from text."""
    return list(_check(View(function, _view(module, None), built), ()))


def require_sound(function: Function, externals: Sequence[Variable] = ()) -> None:
    """Raise the first error of a kernel under construction; `externals` are module variables."""
    for diagnostic in check_function(function, Module(*externals, function)):
        if diagnostic.severity == "error":
            source = f"\n  {diagnostic.source}" if diagnostic.source else ""
            raise PtxError(diagnostic.message + source, diagnostic.place)


def explain(name: str) -> str:
    """A rule in a paragraph, with a bad and a good example; raises for a name that is none."""
    rule = RULES.get(name)
    if rule is None:
        raise PtxError(f"no rule is named {name}; rules are {', '.join(RULES)}")
    parts = [textwrap.fill(f"{name}: {rule.about}", 96, break_on_hyphens=False)]
    for title, text in (("Bad", rule.bad), ("Good", rule.good)):
        if text:
            parts.append(f"{title}:\n" + "\n".join(f"    {line}" for line in text.splitlines()))
    return "\n\n".join(parts)


def _view(module: Module, target: str | None) -> ModuleView:
    version = targets.version(module.version) if module.version else None
    return ModuleView(module, target or module.target, version)


def _check(view: View, lines: Sequence[str]) -> Iterator[Diagnostic]:
    for rule in RULES.values():
        if not rule.whole_module and (rule.built if view.built else rule.foreign):
            for finding in rule.check(view):
                severity = rule.severity(view.built, finding.certain)
                yield _located(severity, rule.name, finding, lines)


def _is_built(function: Function) -> bool:
    """Whether a program built the function, rather than text spelled it."""
    return not isinstance(function.place, TextPlace)


def _located(severity: str, name: str, finding: Finding, lines: Sequence[str]) -> Diagnostic:
    place = finding.place
    source = spell(finding.statement) if finding.statement is not None else ""
    if place is not None and 0 < place.line <= len(lines):
        source = lines[place.line - 1].rstrip()
    return Diagnostic(severity, name, finding.message, place, source)


_IGNORE = re.compile(r"//\s*ptx:\s*ignore\s+([\w, -]+)")


def _silenced(diagnostic: Diagnostic, lines: Sequence[str]) -> bool:
    if not 0 < diagnostic.line <= len(lines):
        return False
    match = _IGNORE.search(lines[diagnostic.line - 1])
    return match is not None and diagnostic.name in re.split(r"[,\s]+", match[1])
