"""The rules of the checker, by what they look at. Importing this fills the table."""

from ptx.rules import (  # noqa: F401  each module registers its rules
    addresses,
    asynchrony,
    calls,
    dataflow,
    declarations,
    directives,
    instructions,
    limits,
    names,
    waits,
    warps,
)
from ptx.rules.rule import RULES, ModuleView, Rule, View, example

__all__ = ["RULES", "ModuleView", "Rule", "View", "example"]
