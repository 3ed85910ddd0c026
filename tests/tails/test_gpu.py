"""Thousands of edges on a GPU in one go, each compared with float64 and with the others' bits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import ptx
from tests.tails.cases import Case, assert_same_bits, loaded, outcome, sample

CASES, KERNELS = 5500, 420


@pytest.mark.gpu
@pytest.mark.slow
def test_thousands_of_edges(capsys: pytest.CaptureFixture[str]) -> None:
    device = ptx.device("cuda:0")
    cases = sample(CASES, KERNELS)
    specs = list({case.plan().spec for case in cases})
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda spec: loaded(device, spec), specs))
    first: dict[Any, Any] = {}
    for case in cases:
        found = outcome(device, case)
        assert_same_bits(found, first.setdefault(key(case), found), case)
    assert len(cases) >= 5000
    with capsys.disabled():
        print(
            f"\n{len(cases)} cases of {len({c.tail for c in cases})} policies by {len(specs)} "
            f"kernels, {len(first)} products, {len({c.layout for c in cases})} layouts: all within "
            "the bound, all equal to the bit"
        )


def key(case: Case) -> tuple[Any, ...]:
    return case.m, case.n, case.k, case.reads_c


def test_the_sample_has_every_policy_and_layout() -> None:
    cases = sample(600, 200, seed=1)
    assert {c.tail.edge for c in cases} >= {"exact", "predicated", "zfill", "branch", "clamped"}
    assert len({c.layout for c in cases}) == 7
    assert np.mean([c.tail.edge == "exact" for c in cases]) < 0.5
