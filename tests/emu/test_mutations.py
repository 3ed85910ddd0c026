"""A line that synchronises or guards is missing from a shipped kernel: the emulator notices."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ptx.emu import launch
from tests.emu.families import FAMILIES, TWICE
from tests.emu.mutations import kernel_text, mutations, noticed, replaced, right

COUNTS = {
    "simt": 2, "split": 6, "stages": 10, "zfill": 75, "gathered": 65, "predicated": 75,
    "general": 50, "wgmma": 24, "cluster": 35, "square": 35, "alternate": 25, "parts": 29,
    "last": 28, "last of parts": 34, "last promoted": 26, "registers": 47, "rows": 28,
    "promoted": 20, "turn": 40, "narrow": 23, "units": 27, "mma": 23, "fed": 23, "wmma": 94,
    "pad": 56,
}  # fmt: skip
"""At least so many lines there are to take away."""
EVERY = {
    "simt": 2, "split": 3, "gathered": 31, "wgmma": 6, "cluster": 18, "last": 9, "turn": 41,
    "narrow": 12, "units": 15, "pad": 25,
}  # fmt: skip
"""Of these each so-and-so-many-th line in a quick sample."""
WHOLE = ("alternate", "parts", "last of parts", "last promoted", "rows", "promoted")
"""No sample is taken of these, which differ little from ``wgmma``."""
ORDERED = ("stages", "gathered", "units", "mma", "fed", "turn", "pad")
"""Run in another order of warps and CTAs by every run of the tests, as no other quick test does."""


def check(family: str, every: int = 1) -> int:
    text = kernel_text(family)
    tried = list(mutations(text))[every // 2 :: every]
    redundant = set(FAMILIES[family].redundant)
    if family not in TWICE:
        redundant.add(r"griddepcontrol\.wait;")
    missed = [
        one
        for one in tried
        if not noticed(family, text, one)
        and not any(re.fullmatch(pattern, one.line) for pattern in redundant)
    ]
    assert not missed, "\n".join(["not noticed:", *map(str, missed)])
    return len(tried)


def test_every_family_is_counted() -> None:
    assert COUNTS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("order", ["reverse", pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "family",
    [pytest.param(one, marks=[pytest.mark.slow] * (one not in ORDERED)) for one in FAMILIES],
)
def test_a_kernel_as_it_is_gives_the_same_in_every_order(family: str, order: str | int) -> None:
    """Of warps and CTAs, and no fault."""
    with replaced(launch, order=order):
        found = FAMILIES[family].problem()
    assert np.array_equal(found, right(family))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_mutation_is_noticed(family: str) -> None:
    assert check(family) >= COUNTS[family]


@pytest.mark.parametrize("family", [one for one in FAMILIES if one not in WHOLE])
def test_a_sample_is_noticed(family: str) -> None:
    assert check(family, EVERY.get(family, COUNTS[family] // 2 + 1)) > 0
