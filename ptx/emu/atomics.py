"""atom and red (PTX ISA 9.0, sections 9.7.13.5 and 9.7.13.6), and the reductions of asynchronous
copies.

Threads of one instruction that meet at one address take their turns in the order of the threads;
each sees what the one before left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx import types
from ptx.emu import steps
from ptx.emu.access import (
    EVERYONE,
    Part,
    addresses,
    operand_space,
    space_of,
    vector_operands,
    watch_write,
)
from ptx.emu.faults import AccessError
from ptx.emu.memory import GLOBAL_BASE, Array, Region
from ptx.emu.ordering import Order, access_order
from ptx.emu.program import Decoded
from ptx.emu.semantics import half
from ptx.emu.semantics.floating import pick
from ptx.emu.semantics.rules import RULES, Words, dtype_of, halves, packed
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


def _equal(a: Array, b: Array) -> Array:
    """Where elements are equal; 128 bits are rows of two."""
    equal = np.asarray(a == b)
    return np.asarray(equal.all(axis=1, keepdims=True)) if equal.ndim > 1 else equal


_PLAIN: dict[str, Any] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, b: b,
    "cas": lambda old, b, c: np.where(_equal(old, b), c, old),
    "inc": _increment,
    "dec": _decrement,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}


def combination(operation: str, type: str, flush: bool = False, quiet: bool = True) -> Combine:
    """What becomes of the old value and the operands; arrays of `type`.

    `flush` is for float32: sums have no subnormal operands or results, as those of ``red`` in
    global memory. `quiet` is for float64: a sum that is NaN is the old value's, made quiet, else
    the operand's, as in shared memory; without it the operand's as it is, else the old value's, as
    in global memory (measured on an H200).
    """
    if types.kind(type) != "f":
        return _PLAIN[operation]
    if type in ("f32", "f64"):
        if operation != "add":
            return _PLAIN[operation]
        if type == "f32" and flush:
            return RULES["add"](Words("add.rn.ftz.f32")).function
        if type == "f32":
            return lambda old, b: canonical(old + b)
        if quiet:
            return lambda old, b: nan_of_operands(old + b, (b, old))
        return lambda old, b: nan_of_operands(old + b, (old, b), quiet=False)
    form = half.element(type)

    def sixteen(old: Array, b: Array) -> Array:
        left, right = half.widened(old, form), half.widened(b, form)
        if operation == "add":
            return half.narrowed(left + right, form)
        return half.narrowed(pick(left, right, operation == "max", False), form)

    if not type.endswith("x2"):
        return sixteen
    return lambda old, b: packed(sixteen(halves(old).ravel(), halves(b).ravel()).reshape(-1, 2))


@dataclass(frozen=True)
class Reduction:
    """How values change the elements of memory, each atomically."""

    combine: Combine
    type: str

    @staticmethod
    def of(words: Words, type: str = "", flush: bool = False) -> Reduction:
        """That of a copy or ``red.async``; `type` where it names none.

        float32 keeps subnormals unless `flush` (measured on an H200).
        """
        element = type or words.type
        combine = combination(words.one_of(_OPERATIONS), element, flush, quiet=False)
        return Reduction(combine, element)

    def apply(self, region: Region, offsets: Array, cells: Array) -> None:
        """Combine rows of bytes ``(n, size)`` with what lies at byte offsets."""
        kind, width = np.dtype(dtype_of(self.type)), types.bits(self.type) // 8
        values = np.ascontiguousarray(cells).view(kind)
        places = offsets[:, None] + np.arange(0, cells.shape[1], width)
        part: Part = (region, places.ravel(), EVERYONE)
        olds = np.empty(values.size, kind)
        _exchange(part, width, kind, self.combine, [values.ravel()], olds)


def check_writable(region: Region) -> None:
    """Raise :class:`AccessError` where kernels may only read."""
    if region.read_only:
        raise AccessError("read-only", "an atomic on memory that kernels only read")


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    words = decoded.words
    if "async" in words:
        from ptx.emu import async_stores

        return async_stores.reduce(chunk, decoded)
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
    shared = combination(operation, type)
    memory = combination(operation, type, flush=True, quiet=False)
    width = types.bits(type) // 8
    kind: Any = np.dtype(dtype_of(type))
    count = len(sources[0])
    row = (2,) if type == "b128" else ()
    order = access_order(words)
    assert order is not None

    def wrote(values: list[Array], olds: Array) -> Array:
        """Which have written: a cas whose comparison fails has only read."""
        if operation != "cas":
            return np.ones(len(olds), np.bool_)
        return _equal(olds, values[0]).reshape(len(olds))

    def step(lanes: Lanes) -> None:
        at = where(lanes)
        parts = space.locate(at, width * count, lanes)
        watch(chunk, parts, width * count, lanes, order)
        changes = 0
        for number in range(count):
            values = [np.ascontiguousarray(select(s[number], lanes)) for s in sources]
            olds = np.empty((len(at), *row), kind)
            for region, offsets, positions in parts:
                moved: Part = (region, offsets + number * width, positions)
                combine = memory if region.base >= GLOBAL_BASE else shared
                changes += _exchange(moved, width, kind, combine, values, olds)
            out = outs[number] if number < len(outs) else None
            if out is not None:
                out[... if lanes is None else lanes] = olds
        put_in_order(chunk, parts, lanes, order, wrote(values, olds))
        chunk.polled_at = chunk.at
        chunk.progress += changes

    return step


def watch(chunk: Chunk, parts: list[Part], nbytes: int, lanes: Lanes, order: Order) -> None:
    """Tell the search for races of atomics; raises :class:`AccessError`."""
    if chunk.races is None:
        return
    who = chunk.everyone(lanes)
    for region, offsets, positions in parts:
        some = who[positions] if len(positions) else who
        try:
            watch_write(chunk.races, region, offsets, nbytes, some, order)
        except AccessError as error:
            if len(positions) and error.position >= 0:
                error.position = int(positions[error.position])
            raise


def put_in_order(chunk: Chunk, parts: list[Part], lanes: Lanes, order: Order, wrote: Array) -> None:
    """Atomics have been made: what they acquire and release; `wrote` says which have written."""
    if chunk.races is None:
        return
    who = chunk.everyone(lanes)
    for region, offsets, positions in parts:
        some, written = (who[positions], wrote[positions]) if len(positions) else (who, wrote)
        chunk.races.ordering.access(region, offsets, some, order, reads=True, wrote=written)


def _exchange(
    part: Part, width: int, kind: Any, combine: Combine, values: list[Array], olds: Array
) -> bool:
    """All turns at the addresses of one region; whether any value there has changed."""
    region, offsets, positions = part
    check_writable(region)
    chosen = [v if not len(positions) else v[positions] for v in values]
    taken = np.empty((len(offsets), *olds.shape[1:]), kind)
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
        old = region.load(offsets[who], width).view(kind).reshape(len(who), *olds.shape[1:])
        new = combine(old, *[value[who] for value in chosen])
        taken[who] = old
        cells = np.ascontiguousarray(new, kind).view(region.cells(width).dtype).reshape(-1)
        region.store(offsets[who], width, cells)
    olds[positions if len(positions) else slice(None)] = taken
    left = region.load(offsets, width).view(kind).reshape(taken.shape)
    return bool((left != taken).any())
