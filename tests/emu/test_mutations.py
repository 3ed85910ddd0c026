"""A line that synchronises or guards is missing from a shipped kernel: the emulator notices."""

from __future__ import annotations

import pytest

from tests.emu.mutations import FAMILIES, REDUNDANT, kernel_text, mutations, noticed


def check(family: str, every: int = 1) -> int:
    text = kernel_text(family)
    right = FAMILIES[family][1]()
    tried = list(mutations(text))[every // 2 :: every]
    missed = [one for one in tried if not noticed(family, text, one, right)]
    if family in REDUNDANT:
        pattern, _ = REDUNDANT[family]
        missed = [one for one in missed if not pattern.fullmatch(one.line)]
    assert not missed, "\n".join(["not noticed:", *map(str, missed)])
    return len(tried)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_mutation_is_noticed(family: str) -> None:
    assert check(family) >= {"simt": 2, "wgmma": 23, "narrow": 25, "pad": 56}[family]


@pytest.mark.parametrize(
    ("family", "every"), [("simt", 2), ("wgmma", 6), ("narrow", 12), ("pad", 25)]
)
def test_a_sample_is_noticed(family: str, every: int) -> None:
    assert check(family, every) > 0
