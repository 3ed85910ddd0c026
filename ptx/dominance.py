"""Order and dominators of a directed graph of numbered nodes.

Source: Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Following = Callable[[int], Iterable[int]]

ROOT = -1
"""Above all entries, so that several of them have a common dominator."""


def reverse_postorder(following: Following, entries: Iterable[int]) -> list[int]:
    """The nodes that can be reached, each before those that follow it, back edges aside."""
    seen: set[int] = set()
    order: list[int] = []
    for entry in entries:
        if entry in seen:
            continue
        seen.add(entry)
        stack = [(entry, iter(following(entry)))]
        while stack:
            node, others = stack[-1]
            for other in others:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(following(other))))
                    break
            else:
                order.append(node)
                stack.pop()
    order.reverse()
    return order


def dominators(order: Sequence[int], before: Following, entries: Iterable[int]) -> dict[int, int]:
    """Of each node, the last other one that every way to it passes; :data:`ROOT` of an entry.

    `order` is the reverse postorder from `entries`; `before` gives the nodes that lead to one.
    """
    rank = {node: position for position, node in enumerate(order)}
    rank[ROOT] = -1
    parent: dict[int, int] = {ROOT: ROOT, **dict.fromkeys(entries, ROOT)}

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
        for node in order:
            if parent.get(node) == ROOT:
                continue
            known = [other for other in before(node) if other in parent]
            if not known:
                continue
            found = known[0]
            for other in known[1:]:
                found = common(found, other)
            if parent.get(node) != found:
                parent[node] = found
                changed = True
    return parent
