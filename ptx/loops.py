"""Loops of a control flow, by the standard way: dominators, back edges, natural loops.

Source: Aho, Lam, Sethi, Ullman, Compilers (2nd edition), section 9.6; dominators by the iteration
of Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ptx.dominance import ROOT, dominators, reverse_postorder


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
    order = reverse_postorder(next_of.__getitem__, entries)
    before: dict[int, list[int]] = {index: [] for index in order}
    for index in order:
        for other in next_of[index]:
            before[other].append(index)
    parent = dominators(order, before.__getitem__, entries)
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


def _dominates(a: int, b: int, parent: dict[int, int]) -> bool:
    while b not in (a, ROOT):
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
