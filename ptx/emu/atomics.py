"""atom and red (PTX ISA 9.0, sections 9.7.13.5 and 9.7.13.6).

Threads of one instruction that meet at one address take their turns in the order of the threads;
each sees what the one before left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx import types
from ptx.emu import steps
from ptx.emu.access import Part, addresses, operand_space, space_of, strong_access, vector_operands
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.semantics import half
from ptx.emu.semantics.floating import pick
from ptx.emu.semantics.rules import dtype_of, halves, packed
from ptx.emu.semantics.specials import canonical, nan_of_operands
from ptx.emu.steps import Lanes, Step, select
from ptx.ir import SINK, Operand

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_OPERATIONS = "and or xor cas exch add inc dec min max"
Combine = Callable[..., Array]


def _increment(old: Array, b: Array) -> Array:
    return np.where(old >= b, 0, old + 1).astype(old.dtype)


def _decrement(old: Array, b: Array) -> Array:
    return np.where((old == 0) | (old > b), b, old - old.dtype.type(1)).astype(old.dtype)


_PLAIN: dict[str, Any] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, b: b,
    "cas": lambda old, b, c: np.where(old == b, c, old),
    "inc": _increment,
    "dec": _decrement,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}


def combination(operation: str, type: str) -> Combine:
    """What becomes of the old value and the operands; arrays of `type`."""
    if types.kind(type) != "f":
        return _PLAIN[operation]
    if type in ("f32", "f64"):
        if operation != "add":
            return _PLAIN[operation]
        if type == "f32":
            return lambda old, b: canonical(old + b)
        return lambda old, b: nan_of_operands(old + b, (old, b))
    form = half.element(type)

    def sixteen(old: Array, b: Array) -> Array:
        left, right = half.widened(old, form), half.widened(b, form)
        if operation == "add":
            return half.narrowed(left + right, form)
        return half.narrowed(pick(left, right, operation == "max", False), form)

    if not type.endswith("x2"):
        return sixteen
    return lambda old, b: packed(sixteen(halves(old).ravel(), halves(b).ravel()).reshape(-1, 2))


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    words = decoded.words
    if "async" in words:
        raise Unmodelled.of(decoded.instruction)
    operands = list(decoded.operands)
    result: Operand = SINK if words.opcode == "red" else operands.pop(0)
    address = operands.pop(0)
    type = words.type
    operation = words.one_of(_OPERATIONS)
    needed = 2 if operation == "cas" else 1
    sources = [
        [steps.read(chunk, decoded, element, type) for element in vector_operands(operand)]
        for operand in operands[:needed]
    ]
    outs = [
        None if element == SINK else steps.target(chunk, decoded, element, type)
        for element in vector_operands(result)
    ]
    where = addresses(chunk, decoded, address)
    space = operand_space(chunk, decoded, address, space_of(decoded))
    combine = combination(operation, type)
    width = types.bits(type) // 8
    kind: Any = np.uint64 if type == "b128" else dtype_of(type)
    if type == "b128":
        raise Unmodelled.of(decoded.instruction)
    count = len(sources[0])

    def step(lanes: Lanes) -> None:
        strong_access(chunk, lanes)
        at = where(lanes)
        parts = space.locate(at, width * count, lanes)
        for number in range(count):
            values = [np.ascontiguousarray(select(s[number], lanes)) for s in sources]
            olds = np.empty(len(at), kind)
            for region, offsets, positions in parts:
                moved: Part = (region, offsets + number * width, positions)
                _exchange(moved, width, kind, combine, values, olds)
            out = outs[number] if number < len(outs) else None
            if out is not None:
                out[... if lanes is None else lanes] = olds
        chunk.progress += 1

    return step


def _exchange(
    part: Part, width: int, kind: Any, combine: Combine, values: list[Array], olds: Array
) -> None:
    """All turns at the addresses of one region."""
    region, offsets, positions = part
    if region.read_only:
        raise AccessError("read-only", "an atomic on memory that kernels only read")
    chosen = [v if not len(positions) else v[positions] for v in values]
    taken = np.empty(len(offsets), kind)
    unique, inverse = np.unique(offsets, return_inverse=True)
    if len(unique) == len(offsets):
        rounds = [np.arange(len(offsets))]
    else:
        order = np.argsort(inverse, kind="stable")
        starts = np.searchsorted(inverse[order], np.arange(len(unique)))
        turn = np.arange(len(order)) - starts[inverse[order]]
        by_turn = np.argsort(turn, kind="stable")
        bounds = np.searchsorted(turn[by_turn], np.arange(int(turn.max()) + 2))
        rounds = [order[by_turn[bounds[n] : bounds[n + 1]]] for n in range(len(bounds) - 1)]
    for who in rounds:
        old = region.load(offsets[who], width).view(kind)
        new = combine(old, *[value[who] for value in chosen])
        taken[who] = old
        cells = np.ascontiguousarray(new, kind).view(region.cells(width).dtype)
        region.store(offsets[who], width, cells)
    olds[positions if len(positions) else slice(None)] = taken
