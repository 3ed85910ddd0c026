"""Every policy at the edges, on the emulator, which faults on any access outside of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import ptx
from ptxgemm.tail import Tail
from tests.tails.cases import (
    LAYOUTS,
    POLICIES,
    SHAPES,
    SIZES,
    Case,
    Layout,
    assert_same_bits,
    outcome,
)

Count = Callable[[], None]
PLAIN = Tail("predicated", "predicated", "guarded")
"""The policy whose bits the others must have."""


@lru_cache(maxsize=256)
def plain(m: int, n: int, k: int, reads_c: bool) -> Any:
    case = Case(PLAIN, SHAPES["registers"], m, n, k, reads_c=reads_c)
    return outcome(ptx.device("emulator"), case)


def compare(case: Case, count: Count) -> bool:
    """Run it, compare and count it; whether the policy can do it at all."""
    try:
        case.plan()
    except ValueError:
        return False
    found = outcome(ptx.device("emulator"), case)
    assert_same_bits(found, plain(case.m, case.n, case.k, case.reads_c), case)
    count()
    return True


def _halves() -> list[Any]:
    """Two shapes for each policy in every run, in turn the one pair and the other; all if asked."""
    found = []
    for number, tail in enumerate(POLICIES):
        for half in range(2):
            name = f"{tail.edge}, {tail.prefetch}, {tail.schedule}, {half}"
            marks = pytest.mark.slow if (number + half) % 2 else ()
            found.append(pytest.param(tail, half, id=name, marks=marks))
    return found


@pytest.mark.parametrize(("tail", "half"), _halves())
def test_a23_corners(tail: Tail, half: int, count: Count) -> None:
    """One element; one tile and one more; a K whose whole steps are a multiple of the stages."""
    ran = 0
    for number, shape in list(enumerate(SHAPES.values()))[half::2]:
        tile, deep = (shape.cta_m, shape.cta_n), shape.cta_k
        exact = (*tile, 4 * deep)
        for place, (m, n, k) in enumerate(
            (exact, (1, 1, 1), (tile[0] + 1, tile[1] + 1, deep + 1),
             (3, 2, 2 * shape.stages * deep + 1), (tile[0], 7, 0 * deep + 5),
             (1, 1, shape.stages * deep + 1))
        ):  # fmt: skip
            layout = LAYOUTS[(number + place) % len(LAYOUTS)]
            if place == number:  # one of them also reads C
                ran += compare(Case(tail, shape, m, n, k, layout, reads_c=True), count)
            ran += compare(Case(tail, shape, m, n, k, layout), count)
    assert ran >= (1 if tail.edge in ("exact", "zfill") else 12)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(POLICIES), st.sampled_from(list(SHAPES)), st.sampled_from(SIZES[:11]),
    st.sampled_from(SIZES), st.sampled_from(SIZES), st.sampled_from(LAYOUTS), st.booleans(),
)  # fmt: skip
@example(Tail("predicated", "predicated", "guarded"), "registers", 31, 257, 130, LAYOUTS[2], True)
@example(Tail("peeled", "zfill", "ragged-first"), "3 stages", 130, 129, 257, LAYOUTS[5], False)
def test_samples(
    count: Count, tail: Tail, shape: str, m: int, n: int, k: int, layout: Layout, reads_c: bool
) -> None:
    compare(Case(tail, SHAPES[shape], m, n, k, layout, reads_c), count)


@pytest.mark.parametrize(
    ("tail", "text"),
    [
        ({"edge": "exakt"}, "edge is 'exakt'; expected one of exact, predicated, zfill, branch"),
        ({"prefetch": "peel"}, "prefetch is 'peel'; expected one of branch, predicated, peeled"),
        ({"width": 2}, "width is 2; expected one of 16, 8, 4 or auto"),
        ({"edge": "exact", "schedule": "guarded"}, "exact shapes have no ragged K step"),
        ({"prefetch": "clamped", "schedule": "ragged-first"}, "last step once more.*guarded"),
        ({"prefetch": "branch", "schedule": "peeled-last"}, "prefetch is peeled then, not branch"),
    ],
)
def test_policies_that_cannot_be(tail: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Tail(**tail)


@pytest.mark.parametrize(
    ("tail", "size", "text"),
    [
        (Tail(edge="exact"), 33, "edge is exact, which takes whole tiles only"),
        (Tail(edge="zfill"), 33, "edge is zfill, which needs cp.async"),
        (Tail(width=16), 33, "width is 16, and a can be accessed by 4 bytes only"),
    ],
)
def test_policies_that_a_product_cannot_have(tail: Tail, size: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Case(tail, SHAPES["registers"], size, size, size).plan()


@pytest.mark.parametrize(
    ("m", "n", "k", "layout", "widths"),
    [
        (64, 64, 64, Layout(), (4, 4, 4)),
        (64, 64, 64, Layout((2, 4, 1)), (2, 4, 1)),  # pitches
        (64, 64, 64, Layout((0, 0, 0), 2), (2, 2, 2)),  # addresses
        (
            63,
            64,
            62,
            Layout((2, 0, 0)),
            (2, 4, 4),
        ),  # A's rows end inside a vector
        (64, 63, 64, Layout((0, 1, 1)), (4, 1, 1)),  # B's and D's rows do
    ],
)
def test_widths(m: int, n: int, k: int, layout: Layout, widths: tuple[int, ...]) -> None:
    spec = Case(Tail(), SHAPES["registers"], m, n, k, layout).plan().spec
    assert (spec.a.width, spec.b.width, spec.d.width) == widths


def test_zero_fill_cuts_the_last_vector() -> None:
    """cp.async reads fewer bytes there: a padded row is read by 16 bytes whatever N is."""
    spec = Case(Tail(), SHAPES["3 stages"], 64, 63, 64, Layout((0, 1, 0))).plan().spec
    assert (spec.tail.edge, spec.a.width, spec.b.width) == ("zfill", 1, 4)
