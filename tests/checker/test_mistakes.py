"""Planted mistakes of kernel authors: each is named on its Python line; what is right is clean."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks import mistakes
from benchmarks.planted import mutations
from benchmarks.planted.mistake import Mistake

PLANTED = mistakes.planted()


@pytest.mark.parametrize("mistake", PLANTED, ids=[mistake.name for mistake in PLANTED])
def test_the_line_is_named(mistake: Mistake) -> None:
    found = mistakes.found_by_us(mistake)
    assert mistake.line in found, found


def test_what_is_right_is_clean() -> None:
    assert mistakes.false_alarms() == []


def test_there_are_a_hundred() -> None:
    made = Counter(mistake.made for mistake in PLANTED)
    assert made.total() == 100
    assert made["mutation"] == 50 and made["unread"] >= 25
    assert len({(m.source, m.file) for m in PLANTED}) == 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind.__name__ for kind in mutations.KINDS])
def test_every_mutation_is_named(kind: str) -> None:
    """Not the fifty alone: every place of every kernel that the kind of slip fits."""
    missed = {}
    for mistake in mutations.every()[kind]:
        found = mistakes.found_by_us(mistake)
        if mistake.line not in found:
            missed[mistake.name] = found
    assert missed == {}
