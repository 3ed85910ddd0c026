"""Clusters: CTAs that see each other's shared memory (PTX ISA 9.0, section 9.7.13.4 and mapa)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx.emu.faults import Unmodelled
from ptx.emu.program import Decoded
from ptx.emu.steps import Step

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control


def _refuse(decoded: Decoded) -> Unmodelled:
    return Unmodelled(
        f"{decoded.words.op} is not modelled yet\n  {decoded.instruction}",
        decoded.instruction.place,
    )


def map_address(chunk: Chunk, decoded: Decoded) -> Step:
    raise _refuse(decoded)


def get_rank(chunk: Chunk, decoded: Decoded) -> Step:
    raise _refuse(decoded)


def barrier(chunk: Chunk, decoded: Decoded) -> Control:
    raise _refuse(decoded)
