"""cp.async (PTX ISA 9.0, section 9.7.9.25.3): each thread copies from global to shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.access import Copy, Space, addresses, load_cells
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.steps import Lanes, Step, select
from ptx.ir import Imm, Operand, Reg

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    words = decoded.words
    copies = chunk.copies
    if "async" not in words:
        raise Unmodelled.of(decoded.instruction)
    if "bulk" in words:
        from ptx.emu import bulk

        return bulk.bind(chunk, decoded)
    if "mbarrier" in words:
        return _signal(chunk, decoded)
    if "commit_group" in words:
        return copies.commit
    if "wait_all" in words:
        return lambda lanes: copies.wait(lanes, 0, uncommitted=True)
    if "wait_group" in words:
        count = decoded.operands[0]
        assert isinstance(count, Imm)
        still = int(count.value)
        return lambda lanes: copies.wait(lanes, still)
    if "ca" in words or "cg" in words:
        return _copy(chunk, decoded)
    raise Unmodelled.of(decoded.instruction)


def _signal(chunk: Chunk, decoded: Decoded) -> Step:
    """cp.async.mbarrier.arrive: the thread's copies done, it arrives.

    The copies are done when it is executed. Without ``.noinc`` the phase wants one arrival more,
    which this one is.
    """
    from ptx.emu.mbarriers import Place, release

    place = Place(chunk, decoded, decoded.operands[0])
    counted = "noinc" in decoded.words

    def step(lanes: Lanes) -> None:
        chunk.copies.wait(lanes, 0, uncommitted=True)
        who, where = chunk.everyone(lanes), place(lanes)
        chunk.mbarriers.watch(where, who)
        release(chunk, who, where)
        for lane, at in zip(who.tolist(), where.tolist(), strict=True):
            found = chunk.mbarriers.at(at, lane)
            if not counted:
                found.pending += 1
            chunk.mbarriers.arrive(at, 1, lane)

    return step


def _sizes(
    chunk: Chunk, decoded: Decoded, nbytes: int
) -> tuple[steps.Source | None, steps.Source | None]:
    """What gives the number of bytes to read, or a predicate that says to read none."""
    more = decoded.operands[3:]
    if "L2::cache_hint" in decoded.words and more:
        more = more[:-1]
    if not more:
        return None, None
    operand: Operand = more[0]
    reg = operand if isinstance(operand, Reg) else getattr(operand, "reg", None)
    if reg is not None and reg.type == "pred":
        return None, steps.read(chunk, decoded, operand, "pred")
    return steps.read(chunk, decoded, operand, "u32"), None


def _copy(chunk: Chunk, decoded: Decoded) -> Step:
    to, source, size_operand = decoded.operands[:3]
    assert isinstance(size_operand, Imm)
    nbytes = int(size_operand.value)
    where_to = addresses(chunk, decoded, to)
    where_from = addresses(chunk, decoded, source)
    shared, memory = Space(chunk, "shared"), Space(chunk, "global")
    sizes, ignored = _sizes(chunk, decoded, nbytes)

    def step(lanes: Lanes) -> None:
        count = chunk.size(lanes)
        (region, offsets, _), *_rest = shared.locate(where_to(lanes), nbytes, lanes)
        taken = np.full(count, nbytes, np.int64)
        if sizes is not None:
            taken = select(sizes, lanes).astype(np.int64)
            if taken.max() > nbytes:
                where = int(np.argmax(taken))
                raise AccessError(
                    "out-of-bounds",
                    f"the source size {int(taken[where])} exceeds the copy's {nbytes} bytes",
                    position=where,
                )
        elif ignored is not None:
            taken = np.where(select(ignored, lanes), 0, nbytes)
        cells = _gather(memory, where_from(lanes), nbytes, taken, lanes, chunk.everyone(lanes))
        who = chunk.everyone(lanes)
        copy = Copy(region, offsets, nbytes, cells, who, chunk.copies.group[who], decoded.at)
        chunk.copies.issue(copy)

    return step


def _gather(space: Space, at: Array, nbytes: int, taken: Array, lanes: Lanes, who: Array) -> Array:
    """The first `taken` bytes at each address, zeros after them."""
    whole = taken == nbytes
    if whole.all():
        return load_cells(space, at, nbytes, lanes)
    rows = np.zeros((len(at), nbytes), np.uint8)
    positions = np.flatnonzero(whole)
    if len(positions):
        cells = load_cells(space, at[positions], nbytes, who[positions])
        rows[positions] = cells.view(np.uint8).reshape(-1, nbytes)
    for size in np.unique(taken[(taken > 0) & ~whole]):
        positions = np.flatnonzero(taken == size)
        for byte in range(int(size)):
            cells = load_cells(space, at[positions] + byte, 1, who[positions])
            rows[positions, byte] = cells
    return rows.view(f"V{nbytes}" if nbytes > 8 else f"u{nbytes}").reshape(len(at))
