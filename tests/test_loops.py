"""Natural loops against their definition, worked out the slow way on random control flows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptx.loops import Loop, Step, natural_loops


def reachable(next_of: list[set[int]], start: int, without: int | None = None) -> set[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if one not in seen and one != without:
            seen.add(one)
            waiting += next_of[one]
    return seen


def by_definition(steps: list[Step], entry: int) -> dict[int, tuple[set[int], set[int]]]:
    """Header to body and back edges: a back edge's end dominates its start."""
    next_of = [
        {*step.targets, *([index + 1] if step.falls and index + 1 < len(steps) else [])}
        for index, step in enumerate(steps)
    ]
    live = reachable(next_of, entry)
    loops: dict[int, tuple[set[int], set[int]]] = {}
    for tail in live:
        for header in next_of[tail]:
            if header != tail and tail in reachable(next_of, entry, without=header):
                continue
            body = {header} | {
                one for one in live if tail in reachable(next_of, one, without=header)
            }
            whole, backs = loops.setdefault(header, (set(), set()))
            whole |= body
            backs.add(tail)
    return loops


@st.composite
def flows(draw: st.DrawFn) -> list[Step]:
    count = draw(st.integers(1, 9))
    one = st.builds(
        Step,
        st.lists(st.integers(0, count - 1), max_size=2, unique=True).map(tuple),
        st.booleans(),
    )
    return draw(st.lists(one, min_size=count, max_size=count))


@given(flows())
def test_natural_loops_are_what_the_definition_says(steps: list[Step]) -> None:
    found = {loop.header: (set(loop.body), set(loop.back)) for loop in natural_loops(steps, [0])}
    assert found == by_definition(steps, 0)


def test_nested_loops_by_hand() -> None:
    steps = [Step()] * 3 + [Step((2,)), Step((1,)), Step((), falls=False)]
    assert natural_loops(steps, [0]) == [
        Loop(1, frozenset({1, 2, 3, 4}), (4,)),
        Loop(2, frozenset({2, 3}), (3,)),
    ]


def test_what_no_entry_reaches_is_no_loop() -> None:
    steps = [Step((), falls=False), Step((1,), falls=False)]
    assert natural_loops(steps, [0]) == []
    assert natural_loops(steps, [0, 1]) == [Loop(1, frozenset({1}), (1,))]


def test_straight_code_is_quick() -> None:
    """A loop around 200,000 statements, far more than a kernel has."""
    steps = [Step()] * 200_000 + [Step((10,))]
    (loop,) = natural_loops(steps, [0])
    assert (loop.header, len(loop.body)) == (10, 199_991)
