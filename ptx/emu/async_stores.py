"""Stores and reductions that end later: st.async, red.async, st.bulk (PTX ISA 9.0, sections
9.7.9.12, 9.7.9.13 and 9.7.13.7).

Those into shared memory are in flight until the mbarrier that they signal is asked, as bulk copies
are, but through the generic proxy. Those into global memory signal nothing; they are done when
they are issued, which is one of the times that the ISA allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx import types
from ptx.emu import steps
from ptx.emu.access import (
    Space,
    addresses,
    operand_space,
    space_of,
    store_cells,
    vector_operands,
)
from ptx.emu.atomics import Reduction, put_in_order, watch
from ptx.emu.bulk import Flight
from ptx.emu.faults import AccessError
from ptx.emu.mbarriers import Place
from ptx.emu.memory import Array
from ptx.emu.ordering import access_order
from ptx.emu.program import Decoded
from ptx.emu.semantics.rules import dtype_of
from ptx.emu.steps import Lanes, Step, select

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk


def store(chunk: Chunk, decoded: Decoded) -> Step:
    """st.async."""
    if _signals(decoded):
        return _send(chunk, decoded, None)
    values = _Values(chunk, decoded)
    where = addresses(chunk, decoded, decoded.operands[0])
    space = operand_space(chunk, decoded, decoded.operands[0], space_of(decoded))
    order = access_order(decoded.words)
    assert order is not None

    def step(lanes: Lanes) -> None:
        cells = values(lanes)
        size = cells.shape[1]
        whole = cells.view(f"u{size}").reshape(-1)
        store_cells(space, where(lanes), size, whole, lanes, order)
        chunk.progress += 1

    return step


def reduce(chunk: Chunk, decoded: Decoded) -> Step:
    """red.async."""
    reduction = Reduction.of(decoded.words)
    if _signals(decoded):
        return _send(chunk, decoded, reduction)
    values = _Values(chunk, decoded)
    where = addresses(chunk, decoded, decoded.operands[0])
    space = operand_space(chunk, decoded, decoded.operands[0], space_of(decoded))
    order = access_order(decoded.words)
    assert order is not None

    def step(lanes: Lanes) -> None:
        cells = values(lanes)
        parts = space.locate(where(lanes), cells.shape[1], lanes)
        watch(chunk, parts, cells.shape[1], lanes, order)
        for region, offsets, positions in parts:
            reduction.apply(region, offsets, cells[positions] if len(positions) else cells)
        put_in_order(chunk, parts, lanes, order, np.ones(len(cells), np.bool_))
        chunk.progress += 1

    return step


def _signals(decoded: Decoded) -> bool:
    return any(word.startswith("mbarrier::") for word in decoded.words.all)


class _Values:
    """The bytes that each thread stores."""

    def __init__(self, chunk: Chunk, decoded: Decoded) -> None:
        self.type = decoded.words.type
        operands = vector_operands(decoded.operands[1])
        self.sources = [steps.read(chunk, decoded, operand, self.type) for operand in operands]

    def __call__(self, lanes: Lanes) -> Array:
        """``(threads, size)``."""
        columns = [np.ascontiguousarray(select(source, lanes)) for source in self.sources]
        rows = np.stack(columns, axis=1).astype(dtype_of(self.type))
        width = types.bits(self.type) // 8
        bytes_: Array = rows.view(np.uint8).reshape(len(rows), len(columns) * width)
        return bytes_


def _send(chunk: Chunk, decoded: Decoded, reduction: Reduction | None) -> Step:
    """Into shared memory of the cluster: in flight until the mbarrier tells."""
    values = _Values(chunk, decoded)
    where = addresses(chunk, decoded, decoded.operands[0])
    space = Space(chunk, "shared::cluster")
    place = Place(chunk, decoded, decoded.operands[2])
    place.space = space

    def step(lanes: Lanes) -> None:
        cells, who = values(lanes), chunk.everyone(lanes)
        offsets = space.locate(where(lanes), cells.shape[1], lanes)[0][1]
        signals = place(lanes)
        apart = offsets // chunk.shared_stride != signals // chunk.shared_stride
        if apart.any():
            raise AccessError(
                "barrier",
                "the mbarrier lies in the shared memory of another CTA than the destination",
                position=int(np.argmax(apart)),
            )
        for signal in np.unique(signals).tolist():
            mine = signals == signal
            flight = Flight(
                signal, offsets[mine], cells[mine], who[mine], decoded.at, reduction, bulk=False
            )
            chunk.bulk.issue(flight)
        chunk.progress += 1

    return step


_CHUNK = 8


def fill(chunk: Chunk, decoded: Decoded) -> Step:
    """st.bulk: zeros over a stretch of shared memory."""
    where = addresses(chunk, decoded, decoded.operands[0])
    size = steps.read(chunk, decoded, decoded.operands[1], "u64")
    space = operand_space(chunk, decoded, decoded.operands[0], space_of(decoded))

    def step(lanes: Lanes) -> None:
        who, at, sizes = chunk.everyone(lanes), where(lanes), select(size, lanes)
        for lane, start, nbytes in zip(who.tolist(), at.tolist(), sizes.tolist(), strict=True):
            if nbytes % _CHUNK:
                raise AccessError(
                    "misaligned", f"st.bulk of {nbytes} bytes: it stores multiples of 8", lane
                )
            places = start + np.arange(0, nbytes, _CHUNK, dtype=np.int64)
            if len(places):
                many = np.full(len(places), lane)
                store_cells(space, places, _CHUNK, np.zeros(len(places), np.uint64), many)
        chunk.progress += 1

    return step
