"""The main loop: two stages in shared memory, two fragments in registers, one barrier a K step."""

from __future__ import annotations

from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm import load, warp
from ptxgemm.load import Operand
from ptxgemm.shape import Shape
from ptxgemm.tail import Prefetch


@dataclass(frozen=True)
class Work:
    """What a thread works with at every K step."""

    shape: Shape
    operands: tuple[Operand, ...]
    source: warp.Reader
    fragments: tuple[warp.Fragment, warp.Fragment]
    sums: warp.Sums
    to_other: Reg
    """Bytes from the stage that is stored to next to the one that is read."""
    l2_prefetch: bool = False


def run(k: Kernel, work: Work, steps: Reg, prefetch: Prefetch) -> None:
    """Add `steps` K steps, at least one, to the sums. The loop is named ``main``.

    While a step is multiplied out of one stage, the next one travels from global memory through
    registers into the other.
    """
    fetch(k, work)
    advance(k, work)
    hand_over(k, work)
    if prefetch == "peeled":
        with k.branch(k.setp.gt.u32(steps, 1)), k.loop(steps - 1, 0, -1, name="main"):
            fetch(k, work)
            advance(k, work)
            compute(k, work, hand_over_after=True)
        compute(k, work, hand_over_after=False)
        return
    with k.loop(steps, 0, -1, name="main") as left:
        another = k.setp.gt.u32(left, 1)
        with k.branch(another) if prefetch == "branch" else k.when(another):
            fetch(k, work)
        advance(k, work)
        compute(k, work, hand_over_after=True)


def fetch(k: Kernel, work: Work) -> None:
    for operand in work.operands:
        load.fetch(k, operand, work.l2_prefetch)


def advance(k: Kernel, work: Work) -> None:
    for operand in work.operands:
        load.advance(k, operand)


def compute(k: Kernel, work: Work, *, hand_over_after: bool) -> None:
    """Multiply one stage out; each fragment is read while the one before it is multiplied.

    The hand-over comes before the last multiplication, which hides the first read of the new stage.
    """
    last = work.shape.cta_k - 1
    for depth in range(work.shape.cta_k):
        if depth < last:
            warp.read(k, work.shape, work.source, depth + 1, work.fragments[(depth + 1) % 2])
        elif hand_over_after:
            hand_over(k, work)
        warp.multiply(k, work.sums, work.fragments[depth % 2])


def hand_over(k: Kernel, work: Work) -> None:
    """What was fetched becomes the stage to read from.

    One barrier is enough: what a thread overwrites at the next hand-over, all had read before this
    one.
    """
    for operand in work.operands:
        load.store(k, operand)
        k.add.s32(operand.target, work.to_other, out=operand.target)
    k.bar.sync(0)
    for address in (work.source.a, work.source.b):
        k.sub.s32(address, work.to_other, out=address)
    k.neg.s32(work.to_other, out=work.to_other)
    warp.read(k, work.shape, work.source, 0, work.fragments[0])
