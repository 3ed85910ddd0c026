"""What the table answers: what may follow, and why a spelling is nothing."""

from __future__ import annotations

import pytest

from ptx import isa


@pytest.mark.parametrize(
    ("prefix", "words", "may_end"),
    [
        ("fma", {"rn", "rz", "rm", "rp"}, False),
        ("ret", {"uni"}, True),
        # Words that come together, {.sem.scope}, one after the other.
        ("mbarrier.arrive.release", {"cta", "cluster"}, False),
        ("barrier.cluster.arrive", {"release", "relaxed", "aligned"}, True),
    ],
)
def test_follow(prefix: str, words: set[str], may_end: bool) -> None:
    following, end = isa.follow(prefix)
    assert words <= following
    assert end is may_end


@pytest.mark.parametrize("opcode", sorted(isa.FORMS))
def test_each_spelling_is_reached_word_by_word(opcode: str) -> None:
    for form in isa.FORMS[opcode]:
        words, _ = next(iter(form.spellings()))
        for end in range(1, len(words)):
            assert words[end] in isa.follow(".".join(words[:end]))[0]
        assert isa.follow(".".join(words))[1]


@pytest.mark.parametrize(
    ("spelling", "explanation"),
    [
        ("fmaa.rn.f32", "no instruction is named fmaa; near: fma"),
        ("fma.f32", "after fma expected .rm .rn .rp .rz, got .f32"),
        ("ld.globl.f32", "did you mean .global?"),
        ("mbarrier.arrive.release.b64", "after mbarrier.arrive.release expected .cluster .cta"),
        ("fma.rn", "got the end"),
    ],
)
def test_explain(spelling: str, explanation: str) -> None:
    assert explanation in isa.explain(spelling)
