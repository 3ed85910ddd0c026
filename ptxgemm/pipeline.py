"""The main loop: K steps on their way into shared memory while one is multiplied out of it.

Of ``stages`` buffers one is read and the others are on their way. A thread holds two fragments in
registers, and there is one barrier a K step. The loop is named ``main``; where it ends before the
prefetch does, the loop of what is left is named ``drain``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm import load, warp
from ptxgemm.load import UNGUARDED, Emit, Guard, Operand
from ptxgemm.shape import Shape
from ptxgemm.tail import Tail


@dataclass(frozen=True)
class Work:
    """What a thread works with at every K step."""

    shape: Shape
    tail: Tail
    operands: tuple[Operand, ...]
    source: warp.Reader
    fragments: tuple[warp.Fragment, warp.Fragment]
    sums: warp.Sums
    delta: Reg
    """Bytes, s32, from the stage that is stored to next to the one after it, cyclically."""
    slot: Reg | None
    """Number of the stage that is read; None where there are two."""
    l2_prefetch: bool = False

    @property
    def is_async(self) -> bool:
        return self.shape.staging == "async"


@dataclass(frozen=True)
class Depth:
    """The K steps of a CTA."""

    steps: Reg
    """How many, s32, at least 1."""
    first: Reg
    """Elements of K from the first step's beginning on (under ragged-first in that step alone),
    s32."""


def run(k: Kernel, work: Work, depth: Depth) -> None:
    """Add all K steps to the sums."""
    left = _prologue(k, work, depth)
    prefetch = work.tail.prefetch
    if prefetch == "peeled":
        _peeled(k, work, depth, left)
        return
    # Staged through registers, a step that was not fetched is handed over as it is, unused; a
    # stage that no copy was made to must not be read.
    steps = depth.steps - 1 if work.is_async else depth.steps
    with _loop(k, steps, "main", at_least_once=not work.is_async) as remaining:
        last = work.shape.ahead - 1 if work.is_async else work.shape.ahead
        another = k.setp.gt.s32(remaining, last)
        if prefetch == "branch":
            with k.branch(another):
                for emit in _fetches(k, work, Guard(left=left)):
                    emit()
            fetches: list[Emit] = []
        else:
            live = another if prefetch == "predicated" else None
            fetches = _fetches(k, work, Guard(left, live))
        following = None
        if prefetch == "clamped":
            following = k.setp.gt.s32(remaining, last + 1)
        compute(k, work, fetches, hand_over_after=True, following=following)
        _count_down(k, work, left, following)
    if work.is_async:
        compute(k, work, [], hand_over_after=False)


def _peeled(k: Kernel, work: Work, depth: Depth, left: Reg | None) -> None:
    ahead = work.shape.ahead
    peeled_last = work.tail.schedule == "peeled-last"
    inside = depth.steps - (ahead + 1 if peeled_last else ahead)
    with _loop(k, inside, "main"):
        guard = UNGUARDED if peeled_last else Guard(left)
        compute(k, work, _fetches(k, work, guard), hand_over_after=True)
        _count_down(k, work, left)
    if peeled_last:
        with k.branch(k.setp.ge.s32(inside, 0)):
            compute(k, work, _fetches(k, work, Guard(left)), hand_over_after=True)
    if ahead > 1:
        with _loop(k, k.min.s32(depth.steps, ahead) - 1, "drain"):
            compute(k, work, [], hand_over_after=True)
    compute(k, work, [], hand_over_after=False)


@contextmanager
def _loop(k: Kernel, count: Reg, name: str, at_least_once: bool = False) -> Iterator[Reg]:
    if at_least_once:
        with k.loop(count, 0, -1, name=name) as remaining:
            yield remaining
        return
    with k.branch(k.setp.gt.s32(count, 0)), k.loop(count, 0, -1, name=name) as remaining:
        yield remaining


# ---------------------------------------------------------------- before the loop


def _prologue(k: Kernel, work: Work, depth: Depth) -> Reg | None:
    """Fetch the first steps and read the first fragment; what is left of K where loads ask it."""
    tail, ahead = work.tail, work.shape.ahead
    left = None if tail.exact else k.mov.s32(depth.first)
    for number in range(ahead):
        shift = (number - ahead) * work.shape.stage_bytes
        live = k.setp.gt.s32(depth.steps, number) if number and _asks(tail, left) else None
        for emit in _fetches(k, work, Guard(left, live), shift):
            emit()
        last = number == ahead - 1
        following = None
        if tail.prefetch == "clamped":
            following = k.setp.gt.s32(depth.steps, number + 1)
        if number == 0 and tail.schedule == "ragged-first":
            for operand in work.operands:
                load.advance(k, operand, _if(k, load.bytes_of(k, operand, depth.first), following))
            left = None
        else:
            _advance(k, work, following)
            if left is not None and not (last and tail.schedule == "ragged-first"):
                _reduce(k, work, left, following)
        for operand in work.operands:
            load.store(k, operand, shift)
        if work.is_async:
            k.cp.async_.commit_group()
    _arrive(k, work)
    return left


def _asks(tail: Tail, left: Reg | None) -> bool:
    """Whether a step of the prologue has to ask if it is there: exact shapes promise that it is,
    and where loads look at K none of it is left.
    """
    return not tail.exact and left is None


def _fetches(k: Kernel, work: Work, guard: Guard, shift: int = 0) -> list[Emit]:
    return [
        emit
        for operand in work.operands
        for emit in load.fetch(k, operand, guard, shift, work.l2_prefetch)
    ]


def _advance(k: Kernel, work: Work, following: Reg | None = None) -> None:
    """On to the next K step, if there is one where `following` asks that."""
    for operand in work.operands:
        load.advance(k, operand, None if following is None else _if(k, operand.step, following))


def _if(k: Kernel, step: Any, following: Reg | None) -> Any:
    return step if following is None else k.selp.b64(step, 0, following, out=k.reg("s64"))


def _count_down(k: Kernel, work: Work, left: Reg | None, following: Reg | None = None) -> None:
    if left is not None:
        _reduce(k, work, left, following)


def _reduce(k: Kernel, work: Work, left: Reg, following: Reg | None) -> None:
    if following is None:
        k.sub.s32(left, work.shape.cta_k, out=left)
    else:
        with k.when(following):
            k.sub.s32(left, work.shape.cta_k, out=left)


# ---------------------------------------------------------------- one K step


def compute(
    k: Kernel,
    work: Work,
    fetches: list[Emit],
    *,
    hand_over_after: bool,
    following: Reg | None = None,
) -> None:
    """Multiply one stage out; each fragment is read while the one before it is multiplied.

    Loads into registers go first, to have the whole step's time; copies are spread over the step.
    The hand-over comes before the last multiplication, which hides the first read of the new stage.
    """
    depth_count = work.shape.cta_k
    spread = depth_count // 2 if work.is_async else 1
    for depth in range(depth_count):
        if depth < depth_count - 1:
            warp.read(k, work.shape, work.source, depth + 1, work.fragments[(depth + 1) % 2])
        if depth < spread:
            ends = (len(fetches) * (depth + i) // spread for i in (0, 1))
            for emit in fetches[slice(*ends)]:
                emit()
        if depth == spread - 1 and hand_over_after:
            if fetches or work.tail.prefetch == "branch":
                _advance(k, work, following)
            if work.is_async:
                # Also where nothing was copied: waits count groups, not copies.
                k.cp.async_.commit_group()
        if depth == depth_count - 1 and hand_over_after:
            hand_over(k, work)
        warp.multiply(k, work.sums, work.fragments[depth % 2])


def hand_over(k: Kernel, work: Work) -> None:
    """What was fetched becomes the stage to read from.

    One barrier is enough: what a thread overwrites at the next hand-over, all had read before this
    one.
    """
    for operand in work.operands:
        load.store(k, operand)
        k.add.s32(operand.target, work.delta, out=operand.target)
    if work.slot is None:
        k.neg.s32(work.delta, out=work.delta)
    else:
        stages, size = work.shape.stages, work.shape.stage_bytes
        k.add.s32(work.slot, 1, out=work.slot)
        around = k.setp.eq.s32(work.slot, stages)
        k.selp.b32(-(stages - 1) * size, size, around, out=work.delta)
        k.selp.b32(0, work.slot, around, out=work.slot)
    for address in (work.source.a, work.source.b):
        k.add.s32(address, work.delta, out=address)
    _arrive(k, work)


def _arrive(k: Kernel, work: Work) -> None:
    """Wait until the stage to read from is complete, for all threads."""
    if work.is_async:
        k.cp.async_.wait_group(work.shape.ahead - 1)
    k.bar.sync(0)
    warp.read(k, work.shape, work.source, 0, work.fragments[0])
