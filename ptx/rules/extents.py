"""How much memory an instruction accesses at an address, and to what that must be aligned."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ptx import layouts, types
from ptx.controlflow import Access, Flow
from ptx.ir import Imm, Instruction
from ptx.isa import Slot, Variant

MBARRIER_BYTES = 8
BULK_ALIGNMENT = 16
TENSOR_ALIGNMENT = 128
"""Of a tile in shared memory that a tensor copy fills or reads (PTX ISA 9.0, section 5.5.6)."""
ROW_BYTES = 16
"""Of a row that ldmatrix loads or stmatrix stores."""


class Extent(NamedTuple):
    """Of an access."""

    bytes: int
    """0 where that is not known."""
    alignment: int


NOTHING = Extent(0, 1)


def extent(instruction: Instruction, slot: Slot) -> Extent:
    """What an instruction accesses at the address that stands in `slot`."""
    variant = instruction.variant
    if variant is None:
        return NOTHING
    if slot.role == "barrier":
        return Extent(MBARRIER_BYTES, MBARRIER_BYTES)
    if variant.opcode == "cp":
        return _of_copy(instruction, variant)
    return Extent(natural_bytes(variant), _alignment(variant))


def _of_copy(instruction: Instruction, variant: Variant) -> Extent:
    words = variant.words
    if "tensor" in words:
        return Extent(0, TENSOR_ALIGNMENT)
    size = next(
        (
            int(operand.value)
            for slot, operand in zip(variant.slots, instruction.operands, strict=True)
            if isinstance(operand, Imm) and (slot.name.isdigit() or slot.name == "size")
        ),
        0,
    )
    return Extent(size, BULK_ALIGNMENT if "bulk" in words else size or 1)


@cache
def natural_bytes(variant: Variant) -> int:
    """The bytes of an access by type and vector; 0 where another thing tells."""
    if variant.opcode in ("ldmatrix", "stmatrix"):
        return ROW_BYTES
    if variant.opcode not in ("ld", "ldu", "st", "atom", "red", "multimem"):
        return 0
    for slot in variant.slots:
        if slot.kind == "reg" and slot.type != "pred":
            return (slot.count or 1) * max(1, types.bits(slot.type) // 8)
    last = variant.words[-1]
    return max(1, types.bits(last) // 8) if last in types.FUNDAMENTAL else 0


@cache
def _alignment(variant: Variant) -> int:
    return fragment_alignment(variant) or natural_bytes(variant) or 1


@cache
def fragment_alignment(variant: Variant) -> int:
    """Of each row of a tile of wmma; 0 where the instruction accesses none."""
    words = variant.words
    if variant.opcode != "wmma" or "mma" in words:
        return 0
    operand = "c" if words[2] == "d" else words[2]
    return layouts.wmma_alignment(words[6], operand, words[-1], words[5])


def accesses(flow: Flow) -> Iterator[tuple[Instruction, Access, Extent]]:
    """The accesses of memory in a function."""
    for access in flow.accesses:
        if access.slot.role == "tensor map":
            continue
        instruction = flow.instructions[access.position]
        found = extent(instruction, access.slot)
        if found != NOTHING:
            yield instruction, access, found
