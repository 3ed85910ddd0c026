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
        ("FMA.rn.f32", "no instruction is named FMA; near: fma"),
        ("fma.f32", "after fma expected .rm .rn .rp .rz, got .f32"),
        ("ld.globl.f32", "did you mean .global?"),
        ("mbarrier.arrive.release.b64", "after mbarrier.arrive.release expected .cluster .cta"),
        ("fma.rn", "got the end"),
    ],
)
def test_explain(spelling: str, explanation: str) -> None:
    assert explanation in isa.explain(spelling)


@pytest.mark.parametrize(
    ("written", "in_order"),
    [
        ("ld.u32.global", "ld.global.u32"),
        ("setp.s32.lt", "setp.lt.s32"),
        ("cvt.f16.f32.rn", "cvt.rn.f16.f32"),
        ("tcgen05.mma.sp.kind::f16.cta_group::1", "tcgen05.mma.sp.cta_group::1.kind::f16"),
        # Types, spaces and layouts tell operands apart: their order stays, whatever it means.
        ("cvt.f32.rn.f16", "cvt.f32.rn.f16"),
        ("add.s32.s32", "add.s32.s32"),
        ("nothing.at.all", "nothing.at.all"),
    ],
)
def test_in_order(written: str, in_order: str) -> None:
    assert isa.in_order(written) == in_order


def test_in_order_undoes_swaps_and_makes_no_others() -> None:
    """Neighbours swapped in one spelling of each row: back to that spelling, or left alone."""
    swapped = mended = 0
    for forms in isa.FORMS.values():
        for form in forms:
            words, _ = next(iter(form.spellings()))
            for i in range(1, len(words) - 1):
                changed = (*words[:i], words[i + 1], words[i], *words[i + 2 :])
                op = ".".join(changed)
                if changed != words and not isa.resolve(op):
                    found = isa.in_order(op)
                    assert found in (op, ".".join(words))
                    swapped, mended = swapped + 1, mended + (found != op)
    assert mended > swapped / 2
