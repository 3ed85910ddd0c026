"""Loops of a control flow, by the standard way: dominators, back edges, natural loops.

Source: Aho, Lam, Sethi, Ullman, Compilers (2nd edition), section 9.6; dominators by the iteration
of Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Step(NamedTuple):
    """Where control may go from a statement."""

    targets: tuple[int, ...] = ()
    """Indices of statements that it may jump to."""
    falls: bool = True
    """Whether it may go on with the next one."""


class Loop(NamedTuple):
    header: int
    """The statement through which the loop is entered."""
    body: frozenset[int]
    """All its statements, inner loops included."""
    back: tuple[int, ...]
    """The statements that jump to the header from inside."""


def natural_loops(steps: Sequence[Step], entries: Sequence[int]) -> list[Loop]:
    """The loops that can be reached from `entries`; back edges to one header make one loop."""
    next_of = [_next(index, step, len(steps)) for index, step in enumerate(steps)]
    order = _reverse_postorder(next_of, entries)
    before: dict[int, list[int]] = {index: [] for index in order}
    for index in order:
        for other in next_of[index]:
            before[other].append(index)
    parent = _dominators(order, before, entries)
    backs: dict[int, list[int]] = {}
    rank = {index: position for position, index in enumerate(order)}
    for index in order:
        for other in next_of[index]:
            if rank[other] <= rank[index] and _dominates(other, index, parent):
                backs.setdefault(other, []).append(index)
    return [
        Loop(header, _body(header, back, before), tuple(sorted(back)))
        for header, back in sorted(backs.items())
    ]


def _next(index: int, step: Step, count: int) -> tuple[int, ...]:
    falls = (index + 1,) if step.falls and index + 1 < count else ()
    return tuple(dict.fromkeys((*step.targets, *falls)))


def _reverse_postorder(next_of: Sequence[tuple[int, ...]], entries: Sequence[int]) -> list[int]:
    seen: set[int] = set()
    order: list[int] = []
    for entry in entries:
        if entry in seen:
            continue
        seen.add(entry)
        stack = [(entry, iter(next_of[entry]))]
        while stack:
            index, others = stack[-1]
            for other in others:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(next_of[other])))
                    break
            else:
                order.append(index)
                stack.pop()
    order.reverse()
    return order


_ROOT = -1
"""Above all entries, so that several of them have a common dominator."""


def _dominators(
    order: Sequence[int], before: dict[int, list[int]], entries: Sequence[int]
) -> dict[int, int]:
    """Of each statement, the last one that every way to it passes."""
    rank = {index: position for position, index in enumerate(order)}
    rank[_ROOT] = -1
    parent: dict[int, int] = {_ROOT: _ROOT, **dict.fromkeys(entries, _ROOT)}

    def common(a: int, b: int) -> int:
        while a != b:
            while rank[a] > rank[b]:
                a = parent[a]
            while rank[b] > rank[a]:
                b = parent[b]
        return a

    changed = True
    while changed:
        changed = False
        for index in order:
            if parent.get(index) == _ROOT:
                continue
            known = [other for other in before[index] if other in parent]
            if not known:
                continue
            found = known[0]
            for other in known[1:]:
                found = common(found, other)
            if parent.get(index) != found:
                parent[index] = found
                changed = True
    return parent


def _dominates(a: int, b: int, parent: dict[int, int]) -> bool:
    while b not in (a, _ROOT):
        b = parent[b]
    return a == b


def _body(header: int, back: Sequence[int], before: dict[int, list[int]]) -> frozenset[int]:
    body = {header}
    waiting = list(back)
    while waiting:
        index = waiting.pop()
        if index not in body:
            body.add(index)
            waiting += before[index]
    return frozenset(body)
