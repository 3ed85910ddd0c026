"""Fitting the model of products on Hopper to recorded times."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from benchmarks import fit, harness
from ptxgemm import choices, choose, cost

LINES = (harness.RESULTS / "choices.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture(autouse=True)
def unmoved() -> Iterator[None]:
    """The model is left where it stood."""
    here = fit.point()
    yield
    fit.go_to(here)


def size(line: str) -> str:
    case: str = json.loads(line)["case"]
    return case.split()[0]


def exactly(lines: list[str], times: float = 1.0) -> list[fit.Known]:
    """Products whose times are so many times the model's own."""
    made = []
    for line, one in zip(lines, fit.recorded(lines), strict=True):
        predicted = choices.predicted(fit.SMS, one.product)
        us = {choices.shown(choice): times * predicted[choice] for choice in one.us}
        made.append(json.dumps(json.loads(line) | {"us": us}))
    return fit.recorded(made)


def test_a_constant_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what is gained by ranking near choices far apart."""
    few_rows = [line for line in LINES if min(map(int, size(line).split("x"))) < 100]
    few_rows = few_rows[::8]  # the fit looks at each of them in each of its steps
    known, right = exactly(few_rows), cost.MEMORY_BYTES_A_US
    monkeypatch.setattr(fit, "CONSTANTS", ("MEMORY_BYTES_A_US",))
    monkeypatch.setattr(fit, "point", lambda: {"MEMORY_BYTES_A_US": cost.MEMORY_BYTES_A_US})
    monkeypatch.setattr(fit, "go_to", lambda there: vars(cost).update(there))
    fit.go_to({"MEMORY_BYTES_A_US": right / 3})
    found = fit.fit(known, rounds=14)
    assert found["MEMORY_BYTES_A_US"] == cost.MEMORY_BYTES_A_US == pytest.approx(right, rel=0.3)


def test_a_model_that_is_right_loses_nothing() -> None:
    """Of times that are the model's own, the first choice is the fastest and no error is left."""
    right, wrong = exactly(LINES[:1]), exactly(LINES[:1], 2.0)
    assert fit.over(right) == fit.over(wrong) == 1
    assert fit.loss(right) < fit.loss(fit.recorded(LINES[:1]))
    assert fit.loss(wrong) - fit.loss(right) == pytest.approx(fit.MOST_SQUARE / 2)


def test_every_constant_of_the_model_takes_part() -> None:
    assert {"PADDED_BYTES_A_US", "LINES_US", "NARROW_RATE", "UNITS_BYTES_A_US"} <= set(
        fit.CONSTANTS
    )
    assert len(fit.point()) == len(fit.CONSTANTS) + len(choose.CANDIDATES)
