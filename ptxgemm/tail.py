"""What a kernel does where its tiles end: for now, with the prefetch past the last K step."""

from __future__ import annotations

from typing import Literal, get_args

Prefetch = Literal["branch", "predicated", "peeled"]
"""How the main loop keeps from fetching a K step that there is not.

``branch``: an ``if`` around the loads. ``predicated``: the loads carry a guard. ``peeled``: the
loop ends one step early and the last step, which fetches nothing, stands after it.
"""

PREFETCHES: tuple[Prefetch, ...] = get_args(Prefetch)


def checked(prefetch: str) -> Prefetch:
    """`prefetch`, if there is such a form, else a ValueError."""
    for known in PREFETCHES:
        if prefetch == known:
            return known
    raise ValueError(f"prefetch is {prefetch!r}; expected one of {', '.join(PREFETCHES)}")
