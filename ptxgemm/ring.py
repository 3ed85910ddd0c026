"""A ring of stages in shared memory, filled by one role and emptied by others, with mbarriers."""

from __future__ import annotations

from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import SINK, Reg

WORD = 8
"""Bytes of an mbarrier."""


@dataclass(frozen=True)
class Ring:
    """`stages` pairs of mbarriers: one says that a stage is full, one that it is empty."""

    stages: int
    full: Reg
    """Shared address of the first of them."""
    empty: Reg


@dataclass(frozen=True)
class Cursor:
    """Where a role stands in the ring."""

    stage: Reg
    parity: Reg
    """The phase that it waits for."""


def ring(k: Kernel, stages: int) -> Ring:
    full, empty = (k.shared(name, "b64", stages) for name in ("full", "empty"))
    return Ring(stages, k.mov.u32(full), k.mov.u32(empty))


def initialise(k: Kernel, ring: Ring, emptied_by: int, filled_by: int = 1) -> None:
    """One thread's work: `filled_by` arrivals fill a stage, `emptied_by` empty it."""
    for stage in range(ring.stages):
        k.mbarrier.init.shared__cta.b64(ring.full + WORD * stage, filled_by)
        k.mbarrier.init.shared__cta.b64(ring.empty + WORD * stage, emptied_by)
    k.fence.mbarrier_init.release.cluster()


def filler(k: Kernel) -> Cursor:
    """The cursor of who fills: the phase before the first counts as complete, so all is empty."""
    return Cursor(k.mov.u32(0), k.mov.u32(1))


def emptier(k: Kernel) -> Cursor:
    return Cursor(k.mov.u32(0), k.mov.u32(0))


def barrier(k: Kernel, first: Reg, stage: Reg) -> Reg:
    """The address of a stage's mbarrier."""
    at: Reg = k.mad.lo.u32(stage, WORD, first)
    return at


def wait(k: Kernel, mbarrier: Reg, parity: Reg) -> None:
    """Until the phase of that parity is complete."""
    again = k.label("wait")
    done = k.mbarrier.try_wait.parity.shared__cta.b64(mbarrier, parity)
    with k.when(~done):
        k.bra(again)


def advance(k: Kernel, ring: Ring, cursor: Cursor) -> None:
    """On to the next stage."""
    k.add.u32(cursor.stage, 1, out=cursor.stage)
    around = k.setp.eq.u32(cursor.stage, ring.stages)
    with k.when(around):
        k.mov.u32(0, out=cursor.stage)
        k.xor.b32(cursor.parity, 1, out=cursor.parity)


def skip(k: Kernel, ring: Ring, cursor: Cursor, steps: Reg) -> None:
    """On by `steps` stages, which another warpgroup empties."""
    ahead = cursor.stage + steps
    rounds = k.div.u32(ahead, ring.stages)
    k.sub.u32(ahead, rounds * ring.stages, out=cursor.stage)
    k.xor.b32(cursor.parity, rounds & 1, out=cursor.parity)


# ---------------------------------------------------------------- taking turns


@dataclass(frozen=True)
class Turns:
    """Two warpgroups that empty the ring in turn. Without it the second one would look at stages
    more than one phase ahead, where a parity says nothing.
    """

    mine: Reg
    """The mbarrier that says it is this warpgroup's turn."""
    other: Reg
    parity: Reg


def initialise_turns(k: Kernel, turns: Reg) -> None:
    """One thread's work, together with :func:`initialise`, before its fence."""
    for number in range(2):
        k.mbarrier.init.shared__cta.b64(turns + WORD * number, 1)


def turns(k: Kernel, first: Reg, number: Reg) -> Turns:
    """Of warpgroup `number`, 0 or 1; the first turn is warpgroup 0's."""
    other = number ^ 1
    return Turns(barrier(k, first, number), barrier(k, first, other), k.mov.u32(other))


def take(k: Kernel, turns: Turns) -> None:
    """Wait for the turn."""
    wait(k, turns.mine, turns.parity)
    k.xor.b32(turns.parity, 1, out=turns.parity)


def pass_on(k: Kernel, turns: Turns, lead: Reg) -> None:
    """Give the other warpgroup its turn, once no more full stages are waited for."""
    with k.when(lead):
        k.mbarrier.arrive.shared__cta.b64(turns.other, out=SINK)
