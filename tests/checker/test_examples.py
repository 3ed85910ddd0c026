"""Every rule's own examples: the bad one is found at its line, the good one is clean."""

from __future__ import annotations

import pytest

from ptx import checker
from ptx.rules import RULES, example

PARSER = {
    "unknown-register",
    "duplicate-name",
    "unknown-symbol",
    "duplicate-definition",
}
"""Rules whose breach in text the parser tells first, as ``syntax``."""


@pytest.mark.parametrize("name", [rule.name for rule in RULES.values() if rule.bad])
def test_the_bad_example_is_found_at_its_line(name: str) -> None:
    text = example(RULES[name].bad)
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "// here" in one)
    found = checker.check(text)
    assert found, text
    assert {d.line for d in found} == {line}, "\n".join(map(str, found))
    names = {name, "syntax"} if name in PARSER else {name}
    assert names & {d.name for d in found}, "\n".join(map(str, found))
    assert all(d.source == text.splitlines()[line - 1] for d in found)


@pytest.mark.parametrize("name", [rule.name for rule in RULES.values() if rule.good])
def test_the_good_example_is_clean(name: str) -> None:
    assert checker.check(example(RULES[name].good)) == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_is_explained(rule) -> None:  # type: ignore[no-untyped-def]
    told = checker.explain(rule.name)
    assert told.startswith(f"{rule.name}: ")
    assert len(rule.about) > 60
    assert rule.bad.splitlines() == [] or "// here" in rule.bad
