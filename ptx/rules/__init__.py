"""The rules of the checker, by what they look at. Importing this fills the table."""

from ptx.rules import (  # noqa: F401  each module registers its rules
    dataflow,
    instructions,
    limits,
    names,
)
from ptx.rules.rule import RULES, ModuleView, Rule, View, example

__all__ = ["RULES", "ModuleView", "Rule", "View", "example"]
