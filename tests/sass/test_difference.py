"""Two kernels side by side: nothing is lost, and what differs is what was made to differ."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptx
from ptx.sass import Instruction, Region, statistics
from ptx.sass import difference as d
from ptx.sass.alignment import common
from ptxgemm.kernels.simt import sgemm
from tests.samples import LOOP
from tests.sass.made import made

BRANCHED = LOOP.replace(
    "    @%p3 ld.global.f32 %f2, [%rd2];\n",
    "    @!%p3 bra over;\n    ld.global.f32 %f2, [%rd2];\n"
    + "    st.volatile.global.f32 [%rd2+64], %f2;\n" * 48
    + "over:\n",
)
"""So much behind the branch that ptxas keeps it."""


def of(text: str) -> Region:
    return made(text).kernel


def rows(left: Region, right: Region) -> list[d.Row]:
    return [row for part in d.compare(left, right) for row in part.rows]


def marks(left: Region, right: Region) -> str:
    return "".join(row.mark for row in rows(left, right))


def test_a_kernel_with_itself() -> None:
    kernel = of(LOOP)
    assert set(marks(kernel, kernel)) == {d.SAME}
    assert [part.loop for part in d.compare(kernel, kernel)] == ["", "main"]
    assert all(not row[-1] for row in d.numbers(kernel, kernel)[1:])


def test_other_registers_are_no_difference() -> None:
    kernel = of(LOOP)
    other = Region(
        "other",
        tuple(
            replace(one, operands=tuple(re.sub(r"R\d+", "R77", text) for text in one.operands))
            for one in kernel.instructions
        ),
    )
    assert set(marks(replace(kernel, loops=()), other)) == {d.SAME}


def test_a_guard_is_seen() -> None:
    unguarded = of(LOOP.replace("@%p3 ld", "ld"))
    (main,) = (part for part in d.compare(of(LOOP), unguarded) if part.loop == "main")
    (row,) = (row for row in main.rows if row.left and row.left.matches("LDG"))
    assert row.mark == d.GUARD
    assert row.left
    assert row.right
    assert (row.left.predicated, row.right.predicated) == (True, False)
    assert row.right.opcode == row.left.opcode


def test_predicated_against_a_branch() -> None:
    """What it exists for: the load stands beside the load, the branch alone."""
    left, right = of(LOOP), of(BRANCHED)
    (main,) = (part for part in d.compare(left, right) if part.loop == "main")
    (load,) = (row for row in main.rows if row.left and row.left.matches("LDG"))
    assert load.right
    assert load.right.matches("LDG")
    alone = [row.right.base for row in main.rows if row.mark == d.RIGHT and row.right]
    assert alone.count("STG") == 48
    shown = {row[1]: row[2:] for row in d.numbers(left.loop("main"), right.loop("main"))[1:]}
    extra = statistics(right.loop("main")).branches - statistics(left.loop("main")).branches
    assert shown["branches"][2] == f"{extra:+}"
    assert extra == 1


def test_the_shipped_kernels() -> None:
    """Branch against predicated prefetch: the accesses of both main loops face each other."""
    left, right = (
        made(str(ptx.Module(sgemm(prefetch=form))), "sm_90").kernel
        for form in ("branch", "predicated")
    )
    parts = d.compare(left, right)
    (main,) = (part for part in parts if part.loop == "main")
    beside = [row for row in main.rows if row.left and row.right]
    faced = Counter(row.left.base for row in beside if row.left)
    assert [faced[name] for name in ("LDG", "STS", "BAR", "BRA", "LDS")] == [2, 5, 1, 1, 32]
    assert faced["FFMA"] > 400  # of 512; between their neighbours above
    assert_whole(left, right)


@st.composite
def kernels(draw: st.DrawFn) -> Region:
    opcodes = draw(st.lists(st.sampled_from(["LDG.E", "LDG.E.128", "FFMA", "BRA"]), max_size=12))
    guards = draw(st.lists(st.sampled_from(["", "@P0"]), min_size=12, max_size=12))
    code = tuple(
        Instruction(16 * i, guard, opcode, (), 0)
        for i, (opcode, guard) in enumerate(zip(opcodes, guards, strict=False))
    )
    start = draw(st.integers(0, 12))
    body = code[start : start + draw(st.integers(0, 12))]
    return Region("k", code, 0, (Region("main", body, 1),) if body else ())


def assert_whole(left: Region, right: Region) -> None:
    """Each instruction stands once, in the order of its kernel within its loop."""
    parts = d.compare(left, right)
    for side, region in (("left", left), ("right", right)):
        shown = [[one for row in part.rows if (one := getattr(row, side))] for part in parts]
        assert all(code == sorted(code, key=lambda one: one.address) for code in shown)
        every = sorted((one for code in shown for one in code), key=lambda one: one.address)
        assert every == list(region.instructions)


@given(kernels(), kernels())
def test_every_instruction_stands_once_and_in_order(left: Region, right: Region) -> None:
    assert_whole(left, right)
    assert all(
        row.left.base == row.right.base for row in rows(left, right) if row.left and row.right
    )


def longest(left: list[str], right: list[str]) -> int:
    """The length of a longest common subsequence, by its definition."""
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            same = lengths[i][j] + 1
            lengths[i + 1][j + 1] = same if a == b else max(lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]


items = st.lists(st.sampled_from("abc"), max_size=14)


@given(items, items)
def test_the_longest_common_subsequence(left: list[str], right: list[str]) -> None:
    pairs = common(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))
    assert len(pairs) == longest(left, right)


def test_thousands_of_equal_opcodes_are_quick() -> None:
    left, right = ["FFMA"] * 5000 + ["LDS"], ["LDS"] + ["FFMA"] * 4000
    assert len(common(left, right)) == 4000


@pytest.mark.parametrize("width", [40, 100, 200])
def test_rows_fit_the_width(width: int) -> None:
    lines = d.text(of(LOOP), of(BRANCHED), width).splitlines()
    assert max(map(len, lines[1:])) <= max(width, 53)
    assert lines[1].startswith("-- outside of loops --")
    assert any(line.startswith("-- loop main --") for line in lines)
