"""Near-misses of a legal instruction: one thing about it changed, most often into a mistake.

Each has a name (``"drop modifier"``, ``"operand type"`` ...) by which the tests count them and list
where we are stricter than ptxas.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from ptx.ir import (
    SINK,
    Addr,
    Imm,
    Instruction,
    Not,
    Operand,
    Pair,
    Reg,
    Selected,
    Special,
    Symbol,
    Vector,
)
from ptx.isa import FORMS, Slot, Variant
from ptx.types import FUNDAMENTAL, TYPES
from tests.isa import samples

_COMMON_WORDS = (
    "sat ftz rn rz relu NaN cc wide lo hi uni volatile relaxed sync aligned v2 cta global shared"
).split()
_REGISTER_TYPES = sorted(FUNDAMENTAL)
_LITERALS = (
    "0 1 -1 3 255 256 -129 65536 4294967296 -2147483649 1.5 0f3F800000 0d3FF0000000000000"
).split()


@dataclass(frozen=True)
class NearMiss:
    """One changed instruction."""

    name: str
    op: str
    operands: tuple[Operand, ...]

    def __str__(self) -> str:
        return str(Instruction(self.op, self.operands))


@cache
def _vocabulary(opcode: str) -> tuple[str, ...]:
    words = {word for form in FORMS[opcode] for word in form.vocabulary[1]}
    return tuple(sorted(words))


def of_modifiers(variant: Variant, chance: random.Random, each: int) -> Iterator[NearMiss]:
    """Modifiers dropped, doubled, swapped, and `each` random ones inserted and replaced."""
    words, operands = variant.words, samples.operands(variant)

    def made(name: str, changed: tuple[str, ...]) -> NearMiss:
        return NearMiss(name, ".".join(changed), operands)

    for i in range(1, len(words)):
        yield made("drop modifier", words[:i] + words[i + 1 :])
        yield made("double modifier", words[: i + 1] + words[i:])
        if i + 1 < len(words) and words[i] != words[i + 1]:
            yield made("swap modifiers", (*words[:i], words[i + 1], words[i], *words[i + 2 :]))
        own = _vocabulary(variant.opcode)
        for _ in range(each):
            other = chance.choice((own, _COMMON_WORDS, sorted(TYPES)))
            yield made("replace modifier", (*words[:i], chance.choice(other), *words[i + 1 :]))
            yield made("insert modifier", (*words[:i], chance.choice(own), *words[i:]))
    yield made("insert modifier", (*words, chance.choice(_COMMON_WORDS)))
    types = [i for i, word in enumerate(words) if word in TYPES]
    for i in types:
        for type in chance.sample(sorted(TYPES), 2 * each):
            yield made("retype", (*words[:i], type, *words[i + 1 :]))


def of_operands(variant: Variant, chance: random.Random, each: int) -> Iterator[NearMiss]:
    """Operands missing, one too many, and each one of another type, width, count or kind."""
    operands = samples.operands(variant)

    def made(name: str, changed: tuple[Operand, ...]) -> NearMiss:
        return NearMiss(name, variant.op, changed)

    if operands:
        yield made("operand missing", operands[:-1])
        yield made("operand missing", operands[1:])
    yield made("operand too many", (*operands, Reg("%b32_9", "b32")))
    for i, slot in enumerate(variant.slots):
        for name, changed in _changed(slot, operands[i], chance, each):
            yield made(name, (*operands[:i], changed, *operands[i + 1 :]))


def _changed(
    slot: Slot, operand: Operand, chance: random.Random, each: int
) -> Iterator[tuple[str, Operand]]:
    """Other operands for one slot, each with the name of the change."""
    register = Reg("%b32_9", "b32")
    for type in chance.sample(_REGISTER_TYPES, min(4 * each, len(_REGISTER_TYPES))):
        # b128 registers are not declared for every version.
        if type != "b128":
            yield from _typed(slot, operand, Reg(f"%{type}_9", type))
    if slot.kind in ("reg", "imm"):
        for text in chance.sample(_LITERALS, min(3 * each, len(_LITERALS))):
            yield "literal", Imm(text)
        for value in _outside(slot):
            yield "literal out of range", Imm(str(value))
        if slot.selectors:
            yield "selector", Selected(register, chance.choice(("b0", "h1", "b4", "x")))
            for selector in chance.sample(slot.selectors, min(3, len(slot.selectors))):
                yield "selector", Selected(operand, selector) if selector else operand
        if isinstance(operand, Pair):
            yield "pair", operand.first
            yield "pair", Pair(operand.first, SINK)
            yield "pair", Pair(SINK, operand.second)
            yield "pair", Pair(operand.first, register)
        elif slot.access == "w":
            yield "pair", Pair(operand, Reg("%pred_9", "pred"))
            yield "pair", Pair(operand, register)
        yield "address for another kind", Addr(register)
        yield "symbol for another kind", Symbol("gmem", 0, "global")
        yield "special register", Special(chance.choice(("%tid.x", "%clock64", "%laneid")))
    if slot.access != "w":
        yield "sink", SINK
    yield "negated", Not(Reg("%pred_9", "pred"))
    if slot.kind == "addr" and isinstance(operand, Addr):
        yield "address without brackets", operand.base
        space = chance.choice(("const", "global", "shared", "local", "param"))
        yield "address in another space", replace(operand, base=samples.symbol(space))
        yield "literal address", replace(operand, base=Imm("16"))
        if operand.coordinates:
            yield "coordinates", Addr(operand.base)
            yield "coordinates", replace(operand, coordinates=operand.coordinates[1:])
        else:
            yield "coordinates", replace(operand, coordinates=(register,))
    if slot.kind in ("label", "func", "symbol"):
        yield "register for a name", register


def _typed(slot: Slot, operand: Operand, register: Reg) -> Iterator[tuple[str, Operand]]:
    """The operand with a register of another type in it."""
    match operand:
        case Reg():
            yield "operand type", register
            yield "vector for a scalar", Vector((register,))
        case Pair():
            yield "operand type", Pair(register, operand.second)
            yield "operand type", Pair(operand.first, register)
        case Selected():
            yield "operand type", Selected(register, operand.selector)
        case Vector():
            items = operand.items
            yield "vector element", Vector((register, *items[1:]))
            yield "vector elements", Vector((register,) * len(items))
            yield "vector count", Vector(items[:-1]) if len(items) > 1 else items[0]
            yield "vector count", Vector((*items, items[0]))
            yield "scalar for a vector", register
        case Addr():
            yield "address type", replace(operand, base=register)


def _outside(slot: Slot) -> Iterator[int]:
    """Integers just outside of what the slot's literals may be."""
    listed = slot.literals
    if listed:
        ends = sorted((listed[0], listed[-1])) if isinstance(listed, range) else sorted(listed)
        yield ends[0] - 1
        yield ends[-1] + 1
        if listed[0] + 1 not in listed:
            yield listed[0] + 1
