"""The ring of stages that a kernel on ``mma`` or ``wmma`` goes through, and its place in C."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Reg
from ptxgemm import copying
from ptxgemm.blocking import OUT_BYTES, Blocking
from ptxgemm.copying import Source


def parameters(blocking: Blocking) -> dict[str, str]:
    """Names and types, in order.

    ``m n depth`` in elements (packed types: K counts elements, a whole number of bytes); ``a``,
    ``b`` and ``d``, and the distance of their lines in bytes: rows of D, and of A and B the lines
    that lie densely; for a scattered operand ``X_pitch`` is from row (B: column) to row and
    ``X_k_pitch`` along K. C, where it is read, has rows and columns any number of bytes apart, of
    either sign. ``X_batch`` are bytes from a matrix of a batch to the next, of either sign.
    """
    found = {"m": "u32", "n": "u32", "depth": "u32"}
    for name, copy in (("a", blocking.copy_a), ("b", blocking.copy_b)):
        found[name] = f"global.b8@{copy.bytes}"
        found[f"{name}_pitch"] = "u32"
        if copy.scattered:
            found[f"{name}_k_pitch"] = "u32"
    unit = OUT_BYTES[blocking.out] * (2 if blocking.pairs else 1)
    found |= {"d": f"global.b8@{unit}", "d_pitch": "u32"}
    if blocking.scaled:
        type, size = blocking.sum, OUT_BYTES[blocking.out]
        found |= {"alpha": type, "beta": type}
        found |= {"c": f"global.b8@{size}", "c_row": "s64", "c_column": "s64"}
    if blocking.batched:
        found |= {f"{name}_batch": "s64" for name in ("a", "b", "d", "c") if name in found}
    return found


def arguments(k: Kernel, blocking: Blocking) -> dict[str, Any]:
    """The parameters in registers, pointers moved on to the matrices of this CTA's batch."""
    p: dict[str, Any] = {name: k.param(name) for name in parameters(blocking)}
    if blocking.batched:
        batch = k.cvt.s64.u32(k.mov.u32(k.ctaid.y))
        for name in ("a", "b", "d", "c"):
            if name in p:
                p[name] = k.mad.lo.s64(batch, p[f"{name}_batch"], p[name])
    return p


def corner(k: Kernel, blocking: Blocking, m: Reg, n: Reg) -> tuple[Reg, Reg]:
    """The first row and column of this CTA's tile; `group` rows of tiles are swept together."""
    index = k.mov.u32(k.ctaid.x)
    rows = k.div.u32(m + (blocking.tile_m - 1), blocking.tile_m)
    columns = k.div.u32(n + (blocking.tile_n - 1), blocking.tile_n)
    span = columns * blocking.group
    group = k.div.u32(index, span)
    inside = index - group * span
    above = group * blocking.group
    height = k.min.u32(rows - above, blocking.group)
    column = k.div.u32(inside, height)
    return (above + (inside - column * height)) * blocking.tile_m, column * blocking.tile_n


def warp(k: Kernel, blocking: Blocking, thread: Reg) -> tuple[Any, Any]:
    """The first row and column of this thread's warp in the CTA's tile."""
    number = thread >> 5
    across = blocking.warps_n.bit_length() - 1
    return (number >> across) * blocking.warp_m, (number & blocking.warps_n - 1) * blocking.warp_n


def sources(
    k: Kernel,
    blocking: Blocking,
    p: dict[str, Any],
    row: Reg,
    column: Reg,
    tile: Reg,
    thread: Reg,
) -> list[Source]:
    """A and B of the CTA's tile; `tile` is the shared address of stage 0."""
    second = k.add.u32(tile, blocking.a_bytes)
    return [
        copying.source(
            k, blocking, copy, rows, p[name], p[f"{name}_pitch"], p.get(f"{name}_k_pitch"),
            first, extent, p["depth"], start, thread,
        )
        for name, copy, rows, first, extent, start in (
            ("a", blocking.copy_a, blocking.tile_m, row, p["m"], tile),
            ("b", blocking.copy_b, blocking.tile_n, column, p["n"], second),
        )
    ]  # fmt: skip


@dataclass(frozen=True)
class Steps:
    """The K steps of a product."""

    count: Reg
    """At least 1, u32."""
    pending: Reg | None
    """Those that are still to be fetched, s32, where a prefetch asks."""
    unread: Reg | None
    """Those from which nothing was read yet, s32, where a stage may be left unfetched: of a peeled
    prefetch of the loop ``tail``, as before it another step always follows."""

    def another(self, k: Kernel) -> Reg | None:
        """Whether there is a step after this one to be read; None where its stage has zeros."""
        if self.unread is None:
            return None
        k.sub.s32(self.unread, 1, out=self.unread)
        found: Reg = k.setp.gt.s32(self.unread, 0)
        return found


def steps(k: Kernel, blocking: Blocking, depth: Reg) -> Steps:
    total = blocking.tile_k
    count = k.max.u32(k.div.u32(depth + (total - 1), total), 1)
    pending = unread = None
    if blocking.prefetch in ("branch", "predicated", "clamped"):
        pending = k.mov.b32(count, out=k.reg("s32"))
    if blocking.prefetch in ("branch", "predicated"):
        unread = k.mov.b32(count, out=k.reg("s32"))
    if blocking.prefetch == "peeled":
        unread = k.mov.b32(k.min.u32(count, blocking.ahead), out=k.reg("s32"))
    return Steps(count, pending, unread)


def main_loop(k: Kernel, blocking: Blocking, steps: Steps, step: Callable[[bool], None]) -> None:
    """The loop ``main`` over all K steps; `step` is given whether it fetches. Where the prefetch is
    peeled the last ones, which fetch nothing, are a loop ``tail``."""
    if blocking.prefetch != "peeled":
        with k.loop(0, steps.count, name="main"):
            step(True)
        return
    count = k.mov.b32(steps.count, out=k.reg("s32"))
    whole = k.max.s32(count - blocking.ahead, 0)
    with k.branch(k.setp.gt.s32(whole, 0)), k.loop(0, whole, name="main"):
        step(True)
    with k.loop(whole, count, name="tail"):
        step(False)


def start(k: Kernel, blocking: Blocking, sources: list[Source], steps: Steps, stage: Reg) -> None:
    """Fetch the first K steps, but for one stage; `stage` becomes that one."""
    for _ in range(blocking.ahead):
        fetch(k, blocking, sources, steps, stage)
        k.add.u32(stage, blocking.stage_bytes, out=stage)


def fetch(k: Kernel, blocking: Blocking, sources: list[Source], steps: Steps, stage: Reg) -> None:
    """Fetch the next K step, if there is one, to the stage at byte `stage`."""
    guard = moves = None
    inside: AbstractContextManager[Any] = nullcontext()
    if steps.pending is not None:
        there = k.setp.gt.s32(steps.pending, 0)
        if blocking.prefetch == "predicated":
            guard = there
        elif blocking.prefetch == "clamped":
            moves = k.setp.gt.s32(steps.pending, 1)
        k.sub.s32(steps.pending, 1, out=steps.pending)
        if blocking.prefetch == "branch":
            inside = k.branch(there)
    with inside:
        for source in sources:
            copying.fetch(k, source, stage, guard, moves)
    commit(k, blocking)


def commit(k: Kernel, blocking: Blocking) -> None:
    """Of each K step, fetched or not: waits count these groups."""
    if blocking.copy_a.asynchronous or blocking.copy_b.asynchronous:
        k.cp.async_.commit_group()


def arrive(k: Kernel, blocking: Blocking) -> None:
    """The next stage is there, for every warp."""
    if blocking.copy_a.asynchronous or blocking.copy_b.asynchronous:
        k.cp.async_.wait_group(blocking.stages - 2)
    k.bar.sync(0)


def advance(k: Kernel, blocking: Blocking, stage: Reg) -> None:
    k.add.u32(stage, blocking.stage_bytes, out=stage)
    around = k.setp.eq.u32(stage, blocking.shared_bytes)
    k.selp.b32(0, stage, around, out=stage)


def finish(k: Kernel, blocking: Blocking) -> None:
    """No copy is under way any more, and every warp has read what it needs of the stages."""
    if blocking.copy_a.asynchronous or blocking.copy_b.asynchronous:
        k.cp.async_.wait_group(0)
    k.bar.sync(0)
