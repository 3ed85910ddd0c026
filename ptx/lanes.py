"""Which branches certainly split a warp, or a CTA between warps: predicates computed from %tid.x,
%laneid and literals alone, evaluated for each lane of the first warp, or for some lanes of each.

What depends on anything else is not known, and counts as not splitting. Control flow joins again
at the branch's immediate postdominator.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NamedTuple

from ptx.controlflow import Flow
from ptx.dominance import dominators, reverse_postorder
from ptx.ir import Imm, Instruction, Not, Operand, Pair, Reg, Special
from ptx.types import bits, is_signed

WARP = tuple(range(32))
"""The first warp's threads."""

Values = tuple[int, ...]
"""A value for each lane, as an unsigned number."""


def ends_of_warps(threads: int) -> tuple[int, ...]:
    """The first and the last thread of each warp of a CTA along x."""
    return tuple(t for t in range(threads) if t % 32 in (0, 31))


class Lanes:
    """What some threads hold, by default those of a warp, as far as the program alone tells."""

    def __init__(self, flow: Flow, threads: tuple[int, ...] = WARP) -> None:
        self.flow = flow
        self.threads = threads
        self._known: dict[int, Values | None] = {}

    def splits(self, register: int) -> bool:
        """Whether a predicate certainly differs between the threads."""
        values = self.values(register)
        return values is not None and len(set(values)) > 1

    def values(self, register: int) -> Values | None:
        """What each lane holds in `register`; None where that is not known."""
        waiting = [register]
        while waiting:
            number = waiting[-1]
            if number in self._known:
                waiting.pop()
                continue
            position = self.flow.definition(number)
            if position is None or len(waiting) > 200:
                self._known[number] = None
                continue
            needed = [r for r in self.flow.reads[position] if r not in self._known]
            if needed and not set(needed) & set(waiting):
                waiting += needed
                continue
            self._known[number] = None if needed else self._evaluate(number, position)
        return self._known[register]

    def _evaluate(self, register: int, position: int) -> Values | None:
        instruction = self.flow.instructions[position]
        if instruction.opcode == "elect":
            return self._elected(register, instruction)
        how = _OPERATIONS.get(instruction.opcode)
        if how is None or len(self.flow.writes[position]) != 1:
            return None
        type = instruction.words[-1]
        if type not in _INTEGERS and type != "pred":
            return None
        sources = [self._operand(operand, type) for operand in instruction.operands[1:]]
        if any(source is None for source in sources):
            return None
        result = how(instruction, type)
        if result is None:
            return None
        mask = (1 << _result_bits(instruction, type)) - 1
        return tuple(int(result(*one)) & mask for one in zip(*sources, strict=True))

    def _elected(self, register: int, instruction: Instruction) -> Values | None:
        """The predicate of ``elect.sync d|p, mask``: one lane of the mask, the lowest here."""
        to, mask = instruction.operands
        lanes = self._operand(mask, "u32")
        if not isinstance(to, Pair) or self.flow.number(to.second) != register or lanes is None:
            return None
        return tuple(
            int(1 << thread % 32 == mask & -mask)
            for thread, mask in zip(self.threads, lanes, strict=True)
        )

    def _operand(self, operand: Operand, type: str) -> Values | None:
        negated = isinstance(operand, Not)
        if isinstance(operand, Not):
            operand = operand.reg
        found: Values | None = None
        if isinstance(operand, Imm) and not operand.is_float:
            found = (int(operand.value),) * len(self.threads)
        elif isinstance(operand, Special):
            if operand.name == "%tid.x":
                found = self.threads
            elif operand.name == "%laneid":
                found = tuple(thread % 32 for thread in self.threads)
        elif isinstance(operand, Reg):
            number = self.flow.number(operand)
            found = None if number is None else self._known.get(number)
        if found is None:
            return None
        if negated:
            return tuple(1 - value for value in found)
        return tuple(_signed(value, type) for value in found) if type != "pred" else found


_INTEGERS = frozenset("u16 u32 u64 s16 s32 s64 b16 b32 b64".split())


def _signed(value: int, type: str) -> int:
    width = bits(type)
    value &= (1 << width) - 1
    return value - (1 << width) if is_signed(type) and value >> (width - 1) else value


def _result_bits(instruction: Instruction, type: str) -> int:
    if instruction.opcode == "setp" or type == "pred":
        return 1
    return bits(type) * (2 if "wide" in instruction.words else 1)


_Operation = Callable[..., int]


def _plain(operation: _Operation) -> Callable[[Instruction, str], _Operation | None]:
    return lambda instruction, type: operation


def _setp(instruction: Instruction, type: str) -> _Operation | None:
    comparison = _COMPARISONS.get(instruction.words[1])
    return comparison if len(instruction.words) == 3 else None


def _multiply(instruction: Instruction, type: str) -> _Operation | None:
    if not {"lo", "wide"} & set(instruction.words):
        return None
    return (lambda a, b, c: a * b + c) if instruction.opcode == "mad" else operator.mul


def _shift_right(instruction: Instruction, type: str) -> _Operation | None:
    return lambda a, b: a >> min(b & 0xFFFFFFFF, 64)


def _shift_left(instruction: Instruction, type: str) -> _Operation | None:
    return lambda a, b: a << min(b & 0xFFFFFFFF, 64)


def _divide(instruction: Instruction, type: str) -> _Operation | None:
    quotient = instruction.opcode == "div"

    def divide(a: int, b: int) -> int:
        if b == 0:
            return 0
        size = abs(a) // abs(b)
        whole = size if (a < 0) == (b < 0) else -size
        return whole if quotient else a - whole * b

    return divide


_COMPARISONS: dict[str, _Operation] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "lo": operator.lt,
    "ls": operator.le,
    "hi": operator.gt,
    "hs": operator.ge,
}

_OPERATIONS: dict[str, Callable[[Instruction, str], _Operation | None]] = {
    "mov": _plain(lambda a: a),
    "add": _plain(operator.add),
    "sub": _plain(operator.sub),
    "and": _plain(operator.and_),
    "or": _plain(operator.or_),
    "xor": _plain(operator.xor),
    "not": _plain(operator.invert),
    "shl": _shift_left,
    "shr": _shift_right,
    "mul": _multiply,
    "mad": _multiply,
    "div": _divide,
    "rem": _divide,
    "setp": _setp,
}


def divergent_blocks(flow: Flow, lanes: Lanes) -> dict[int, int]:
    """The blocks that only some lanes of a warp reach, each with the branch that splits it."""
    blocks, end = flow.blocks, len(flow.blocks)
    found: dict[int, int] = {}
    parents: dict[int, int] | None = None
    for number in flow.order:
        edges = blocks[number].edges
        position = blocks[number].stop - 1
        key = flow.guards[position]
        if len({edge.target for edge in edges}) < 2 or key < 0 or not lanes.splits(key >> 1):
            continue
        if parents is None:
            parents = postdominators(flow)
        join = parents.get(number, end)
        waiting = [edge.target for edge in edges]
        seen = {join, end}
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                found.setdefault(block, position)
                waiting += [edge.target for edge in blocks[block].edges]
    return found


class Split(NamedTuple):
    """A branch at which the threads part, and the blocks of each side until they meet again."""

    position: int
    sides: tuple[frozenset[int], ...]


def splits(flow: Flow, lanes: Lanes) -> list[Split]:
    """The branches whose sides meet again; not those where one side ends the thread."""
    blocks, end = flow.blocks, len(flow.blocks)
    found = []
    parents: dict[int, int] | None = None
    for number in flow.order:
        position = blocks[number].stop - 1
        key = flow.guards[position]
        targets = {edge.target for edge in blocks[number].edges}
        if len(targets) < 2 or key < 0 or not lanes.splits(key >> 1):
            continue
        if parents is None:
            parents = postdominators(flow)
        join = parents.get(number, end)
        if join != end:
            sides = tuple(_side(flow, target, join) for target in sorted(targets))
            found.append(Split(position, sides))
    return found


def _side(flow: Flow, start: int, join: int) -> frozenset[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        block = waiting.pop()
        if block not in seen and block not in (join, len(flow.blocks)):
            seen.add(block)
            waiting += [edge.target for edge in flow.blocks[block].edges]
    return frozenset(seen)


def postdominators(flow: Flow) -> dict[int, int]:
    """The immediate postdominator of each block that is reached; the function's end is
    ``len(blocks)``."""
    end = len(flow.blocks)
    after = {
        number: {edge.target for edge in flow.blocks[number].edges} or {end}
        for number in flow.order
    }
    before: dict[int, list[int]] = {number: [] for number in (*after, end)}
    for number, targets in after.items():
        for target in targets:
            before[target].append(number)
    order = reverse_postorder(before.__getitem__, [end])
    return dominators(order, lambda number: after.get(number, ()), [end])
