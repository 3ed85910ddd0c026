"""setmaxnreg: warpgroups give registers to a pool of their CTA, and take them (PTX ISA 9.0, section
9.7.20.5).

The pool begins empty: a CTA has what its threads have at the kernel's entry. Where the kernel does
not say how many that is, the hardware takes no notice of setmaxnreg, and neither does the pool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.program import Decoded
from ptx.ir import Function, Imm

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group

WARPGROUP = 128
_OF_AN_SM = 65_536
_MOST, _UNIT = 256, 8
"""Registers of a thread at most, and what they are given out by."""


def at_entry(kernel: Function, threads: int) -> int | None:
    """Registers of a thread when a kernel begins, as its directives have it; None where they do
    not say.
    """
    (most,) = kernel.directive("maxnreg") or (None,)
    if most is not None:
        return min(-(-most // _UNIT) * _UNIT, _MOST)
    (ctas,) = kernel.directive("minnctapersm") or (None,)
    shape = kernel.directive("reqntid") or kernel.directive("maxntid")
    if ctas is None or not shape:
        return None
    declared = max(int(np.prod(shape)), threads)
    return min(_OF_AN_SM // (declared * ctas) // _UNIT * _UNIT, _MOST)


class RegisterPool:
    """What each warpgroup of a chunk holds, what its CTA has to spare, and who waits for more."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.first = at_entry(chunk.program.kernel, chunk.threads_per_cta)
        groups = -(-chunk.threads_per_cta // WARPGROUP)
        self.group_of = chunk.cta_of * groups + chunk.thread // WARPGROUP
        """The warpgroup of each thread, counted in the chunk."""
        self.sizes = np.bincount(self.group_of)
        self.groups = groups
        self.reset()

    def reset(self) -> None:
        """Every thread holds what it begins with."""
        self.held = np.full(len(self.sizes), self.first or 0, np.int64)
        """Registers of a thread of each warpgroup."""
        self.spare = np.zeros(len(self.chunk.ctas), np.int64)
        self.waits_at = np.full(self.chunk.count, -1, np.int64)
        self.resumes: dict[int, tuple[int, int]] = {}

    def bind(self, decoded: Decoded) -> Control:
        def run(group: Group) -> int | None:
            self.waits_at[self.chunk.everyone(group.lanes)] = decoded.at
            self.resumes[decoded.at] = (group.depth, group.turn)
            self.chunk.progress += 1
            self._serve()
            return None

        return run

    def _serve(self) -> None:
        """Let those warpgroups go on that stand whole at one setmaxnreg and can have what it says;
        what one gives back may be what another waits for.
        """
        served = True
        while served:
            served = False
            for group in np.unique(self.group_of[self.waits_at >= 0]).tolist():
                who = np.flatnonzero(self.group_of == group)
                places = self.waits_at[who]
                if (places == places[0]).all() and self._change(group, int(places[0])):
                    self.waits_at[who] = -1
                    at = int(places[0])
                    self.chunk.resume(who, at + 1, *self.resumes[at])
                    served = True

    def _wanted(self, at: int) -> tuple[str, int]:
        """``inc`` or ``dec``, and to how many registers."""
        decoded = self.chunk.program.code[at]
        count = decoded.operands[0]
        assert isinstance(count, Imm)
        return decoded.words.one_of("inc dec"), int(count.value)

    def _change(self, group: int, at: int) -> bool:
        """Give back or take; False where the CTA has too few to spare."""
        if self.first is None:
            return True
        action, wanted = self._wanted(at)
        held = int(self.held[group])
        if wanted != held and (wanted > held) != (action == "inc"):
            self.chunk.at = at
            raise AccessError(
                "launch",
                f"setmaxnreg.{action} to {wanted} registers in threads that hold {held}, and began "
                f"with {self.first}",
                lane=int(np.argmax(self.group_of == group)),
            )
        cta, more = group // self.groups, (wanted - held) * int(self.sizes[group])
        if more > self.spare[cta]:
            return False
        self.spare[cta] -= more
        self.held[group] = wanted
        return True

    def stuck(self) -> AccessError | None:
        """Why those who wait here wait for ever."""
        waiting = np.flatnonzero(self.waits_at >= 0)
        if not len(waiting):
            return None
        chunk, lane = self.chunk, int(waiting[0])
        at, group = int(self.waits_at[lane]), int(self.group_of[lane])
        chunk.at = at
        come = int((self.waits_at[self.group_of == group] == at).sum())
        if come < self.sizes[group]:
            return AccessError(
                "mask",
                f"{come} of {int(self.sizes[group])} threads of a warpgroup come to this setmaxnreg"
                "; the others never do",
                lane=lane,
            )
        wanted = self._wanted(at)[1]
        held, spare = int(self.held[group]), int(self.spare[group // self.groups])
        return AccessError(
            "deadlock",
            f"{come} threads, the first {chunk.describe(lane)}, hold {held} registers each and "
            f"wait for {wanted}, which is {(wanted - held) * come} more, and the pool of their CTA "
            f"has {spare}: {place_of(chunk.program.code[at])}",
            lane=lane,
        )
