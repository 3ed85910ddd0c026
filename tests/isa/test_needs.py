"""Rows ask for exactly the target and version that ptxas asks for."""

from __future__ import annotations

from collections import defaultdict

import pytest

from ptx.isa import Variant
from ptx.targets import INTRODUCED, VERSIONS, Version
from tests.isa import referee, samples

pytestmark = pytest.mark.skipif(referee.ptxas() is None, reason="no ptxas found")

Question = tuple[str, Variant, bool]
"""A line, what it is, and whether ptxas should accept it."""


def differing(asked: dict[tuple[str, Version], list[Question]]) -> list[str]:
    """The questions that ptxas answers differently."""
    found = []
    for (target, version), questions in asked.items():
        verdicts = referee.judge([line for line, _, _ in questions], target, version)
        for (line, variant, accept), messages in zip(questions, verdicts, strict=True):
            if accept != (not messages):
                said = f"refused: {messages[:2]}" if messages else "accepted"
                found.append(f"{target} {version} {line} {said}  row: {variant.syntax}")
    return found


def by_version(variants: list[Variant]) -> dict[tuple[str, Version], list[Question]]:
    """One version below the row's, which must be refused (the target is the row's own)."""
    asked: dict[tuple[str, Version], list[Question]] = defaultdict(list)
    for variant in variants:
        target, _ = samples.home(variant)
        older = [v for v in VERSIONS if v < variant.version]
        if older:
            asked[target, older[-1]].append((samples.line(variant), variant, False))
    return asked


def by_target(variants: list[Variant]) -> dict[tuple[str, Version], list[Question]]:
    """Every target, accepted exactly where the row's needs are met."""
    asked: dict[tuple[str, Version], list[Question]] = defaultdict(list)
    for variant in variants:
        line, unmet = samples.line(variant), samples.unmet(variant)
        for target in INTRODUCED:
            accept = target not in unmet
            asked[target, VERSIONS[-1]].append((line, variant, accept))
    return asked


@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_one_version_below_is_refused(chapter: str) -> None:
    variants = [v for form in samples.forms_of(chapter) for v in samples.covering(form)]
    found = differing(by_version(variants))
    assert not found, f"{len(found)}:\n" + "\n".join(found[:50])


@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_targets_are_those_of_ptxas(chapter: str) -> None:
    variants = [v for form in samples.forms_of(chapter) for v in samples.covering(form)]
    found = differing(by_target(variants))
    assert not found, f"{len(found)}:\n" + "\n".join(found[:50])


@pytest.mark.slow
@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_targets_of_every_word_are_those_of_ptxas(chapter: str) -> None:
    variants = [v for form in samples.forms_of(chapter) for v in samples.covering(form, 20)]
    found = differing(by_target(variants))
    assert not found, f"{len(found)}:\n" + "\n".join(found[:50])
