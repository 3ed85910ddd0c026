"""What a kernel does where its tiles end: three choices, and the width of its accesses.

Every sum is built from k = 0 upwards whatever is chosen, and what a guard leaves out counts as
zero. So all choices, and all tiles, give the same bits, as long as K is not split.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

Prefetch = Literal["branch", "predicated", "peeled", "clamped"]
"""How the main loop keeps from fetching a K step that there is not.

``branch``: an ``if`` around the loads. ``predicated``: the loads carry a guard. ``peeled``: the
loop ends early and the last steps, which fetch nothing, stand after it. ``clamped``: the address
stays at the last step, whose values arrive once more and are not used.
"""
Edge = Literal["exact", "predicated", "zfill", "branch", "clamped", "clamped-lines"]
"""What a thread does about an element outside of M, N or K.

``exact``: nothing, and other shapes than whole tiles are refused. ``predicated``: a guard on the
load, whose destination is zero. ``zfill``: a ``cp.async`` that reads fewer bytes and zeroes the
rest. ``branch``: an ``if`` around the load. ``clamped``: rows of A and columns of B outside are
loaded from the last one, and the sums made of them are never stored; K is guarded by predicates,
as 0 times NaN is NaN. ``clamped-lines``: the same of what lies along K, where one address goes on
along a line; of what lies along M or N the loads are predicated, as clamped they would need an
address each. Stores are predicated; under ``branch`` they have branches.
"""
Schedule = Literal["peeled-last", "ragged-first", "guarded"]
"""Where the K step goes that is not whole.

``ragged-first``: before the loop, which names no bound of K then. ``peeled-last``: after the
loop, fetched by its own guarded loads. ``guarded``: nowhere in particular; all loads are guarded.
"""
Width = Literal[16, 8, 4]
"""Bytes of the widest access that is allowed."""

Auto = Literal["auto"]

PREFETCHES: tuple[Prefetch, ...] = get_args(Prefetch)
EDGES: tuple[Edge, ...] = get_args(Edge)
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
WIDTHS: tuple[Width, ...] = get_args(Width)


@dataclass(frozen=True)
class Tail:
    """A policy. ``"auto"`` leaves a choice to :meth:`resolved`."""

    prefetch: Prefetch | Auto = "auto"
    edge: Edge | Auto = "auto"
    schedule: Schedule | Auto = "auto"
    """``auto``, and nothing else, where the edge is ``exact``: there is no ragged step."""
    width: Width | Auto = "auto"

    def __post_init__(self) -> None:
        for name, known in (
            ("prefetch", PREFETCHES),
            ("edge", EDGES),
            ("schedule", SCHEDULES),
            ("width", WIDTHS),
        ):
            value = getattr(self, name)
            if value != "auto" and value not in known:
                raise ValueError(
                    f"{name} is {value!r}; expected one of {', '.join(map(str, known))} or auto"
                )
        if self.edge == "exact" and self.schedule != "auto":
            raise ValueError(
                f"schedule is {self.schedule}, and exact shapes have no ragged K "
                "step: leave it auto"
            )
        if self.schedule == "peeled-last" and self.prefetch not in ("peeled", "auto"):
            raise ValueError(
                f"schedule is peeled-last, which ends the loop before the prefetch does: prefetch "
                f"is peeled then, not {self.prefetch}"
            )

        if self.prefetch == "clamped" and self.schedule == "ragged-first":
            raise ValueError(
                "prefetch is clamped, which loads the last step once more, and under ragged-first "
                "that may be the ragged one, whose end nobody asks for then: schedule is guarded"
            )

    @property
    def exact(self) -> bool:
        return self.edge == "exact"

    @property
    def made_edge(self) -> Edge:
        """The edge, where the choice is made."""
        if self.edge == "auto":
            raise ValueError("the choice of the edge is left open")
        return self.edge

    @property
    def most(self) -> int:
        """Elements of float32 in the widest access that is allowed."""
        return (16 if self.width == "auto" else self.width) // 4

    def resolved(self, whole: bool, staging: str, vectors: bool = True) -> Tail:
        """With every choice made; `whole` says that M, N and K are multiples of the tile, `vectors`
        that rows of the result take vector stores.

        Raises ValueError where the policy cannot do it.
        """
        edge: Edge | Auto = self.edge
        if edge == "auto" and whole and self.schedule == "auto":
            edge = "exact"
        elif edge == "auto":
            edge = "zfill" if staging == "async" else "clamped" if vectors else "clamped-lines"
        if edge == "exact" and not whole:
            raise ValueError("edge is exact, which takes whole tiles only")
        if edge == "zfill" and staging != "async":
            raise ValueError("edge is zfill, which needs cp.async: a shape with staging async")
        schedule = self.schedule
        if schedule == "auto" and edge != "exact":
            schedule = "guarded" if self.prefetch == "clamped" else "ragged-first"
        return replace(
            self,
            prefetch="peeled" if self.prefetch == "auto" else self.prefetch,
            edge=edge,
            schedule=schedule,
        )


AUTO = Tail()


def checked(prefetch: str) -> Prefetch:
    """`prefetch`, if there is such a form, else a ValueError."""
    for known in PREFETCHES:
        if prefetch == known:
            return known
    raise ValueError(f"prefetch is {prefetch!r}; expected one of {', '.join(PREFETCHES)}")
