"""Tensor maps that a kernel changes: tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.0,
sections 9.7.9.26 and 9.7.13.16).

The fences of the tensor map proxy order nothing here, and are not asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.access import Space, addresses, load_cells, operand_space, space_of, store_cells
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.steps import Lanes, Step, select
from ptx.ir import Imm
from ptx.tensormap import BYTES, replaced

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_UNIT = 16
_ALIGNMENT = 128
"""Bytes, of a tensor map in memory."""


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    return _replace(chunk, decoded) if "replace" in decoded.words else _copy(chunk, decoded)


def _units(start: int) -> Array:
    """The addresses of a map's units."""
    if start % _ALIGNMENT:
        raise AccessError("misaligned", f"a tensor map lies on {_ALIGNMENT} bytes", address=start)
    return start + np.arange(0, BYTES, _UNIT, dtype=np.int64)


def _replace(chunk: Chunk, decoded: Decoded) -> Step:
    field = decoded.words.all[3]
    address, *index, value = decoded.operands
    where = addresses(chunk, decoded, address)
    space = operand_space(chunk, decoded, address, space_of(decoded))
    number = steps.read(chunk, decoded, value, "u64" if "b64" in decoded.words else "u32")
    at = int(index[0].value) if index and isinstance(index[0], Imm) else 0

    def step(lanes: Lanes) -> None:
        who, starts, values = chunk.everyone(lanes), where(lanes), select(number, lanes)
        for lane, start, new in zip(who.tolist(), starts.tolist(), values.tolist(), strict=True):
            units, many = _units(start), np.full(BYTES // _UNIT, lane)
            try:
                changed = replaced(load_cells(space, units, _UNIT, many).tobytes(), field, new, at)
            except ValueError as error:
                raise AccessError("descriptor", str(error), lane, address=start) from None
            cells = np.frombuffer(changed, f"V{_UNIT}")
            store_cells(space, units, _UNIT, cells, many)
        chunk.progress += 1

    return step


def _copy(chunk: Chunk, decoded: Decoded) -> Step:
    """From shared into global memory, once for each warp."""
    to, source = (addresses(chunk, decoded, operand) for operand in decoded.operands[:2])
    memory, shared = Space(chunk, "global"), Space(chunk, "shared::cta")

    def step(lanes: Lanes) -> None:
        who = chunk.everyone(lanes)
        _, first = np.unique(chunk.warp_of[who], return_index=True)
        starts, ends = source(lanes)[first], to(lanes)[first]
        for lane, start, end in zip(who[first], starts, ends, strict=True):
            many = np.full(BYTES // _UNIT, lane)
            cells = load_cells(shared, _units(int(start)), _UNIT, many)
            store_cells(memory, _units(int(end)), _UNIT, cells, many)
        chunk.progress += 1

    return step
