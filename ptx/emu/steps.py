"""Steps: instructions bound to the register arrays of one chunk of threads.

A step is called with the indices of the threads that execute it, or None for all of the chunk,
which costs no gathering. It reads whole arrays, computes once, and writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx import types
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.semantics.rules import Meaning, dtype_of
from ptx.ir import (
    Imm,
    Not,
    Operand,
    Pair,
    Reg,
    Selected,
    Sink,
    Special,
    Symbol,
    Vector,
)

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

Lanes = Array | None
Step = Callable[[Lanes], None]
Source = Array | Callable[[Lanes], Array]


def constant(type: str, operand: Imm) -> Any:
    """An immediate as one value of `type`."""
    value = operand.value
    if type == "pred":
        return np.bool_(value != 0)
    kind = dtype_of(type)
    if type in ("f32", "f64"):
        if not operand.is_float:
            return kind(value)
        if operand.text[:2].lower() == "0f":
            single = np.array(int(operand.text[2:], 16), np.uint32).view(np.float32)[()]
            return single if type == "f32" else np.float64(single)
        if operand.text[:2].lower() == "0d":
            double = np.array(int(operand.text[2:], 16), np.uint64).view(np.float64)[()]
            return double if type == "f64" else double.astype(np.float32)
        return kind(value)
    width = types.bits(type)
    if operand.is_float and width in (32, 64):
        return constant(f"f{width}", operand).view(kind)
    if operand.is_float:
        raise Unmodelled(f"the literal {operand} stands where .{type} is read")
    return np.array(int(value) & ((1 << width) - 1), f"u{width // 8}").view(kind)[()]


def select(source: Source, lanes: Lanes) -> Array:
    """The values of a source for the threads that execute."""
    if callable(source):
        return source(lanes)
    return source if lanes is None else source[lanes]


def read(chunk: Chunk, decoded: Decoded, operand: Operand, type: str) -> Source:
    """Where the values of an operand come from, as `type`; a selector is the meaning's to heed."""
    if isinstance(operand, Selected):
        operand = operand.operand
    if isinstance(operand, Reg):
        return narrowed(chunk.register(chunk.program.slot_of(decoded, operand)), type)
    if isinstance(operand, Imm):
        return np.broadcast_to(constant(type, operand), chunk.count)
    if isinstance(operand, Not):
        inner = chunk.register(chunk.program.slot_of(decoded, operand.reg))
        return lambda lanes: ~(inner if lanes is None else inner[lanes])
    if isinstance(operand, Special):
        return chunk.special(operand.name, type)
    if isinstance(operand, Symbol):
        located = chunk.program.located(decoded, operand)
        kind = dtype_of(type)
        value = np.array(located.offset & ((1 << types.bits(type)) - 1), np.uint64).astype(kind)
        return np.broadcast_to(value, chunk.count)
    raise Unmodelled(
        f"operand {operand} is not modelled\n  {decoded.instruction}", decoded.instruction.place
    )


def narrowed(register: Array, type: str) -> Array:
    """A register as `type`: the same bits, or the lowest where the register is wider."""
    kind = np.dtype(dtype_of(type))
    if type == "b128" or register.dtype == kind or register.ndim > 1:
        return register
    if register.dtype == np.bool_ or kind == np.bool_:
        raise Unmodelled(f"a register of another kind stands where .{type} is read")
    if register.dtype.itemsize < kind.itemsize:
        raise Unmodelled(f"a narrower register stands where .{type} is read")
    return register.view(kind)[:: register.dtype.itemsize // kind.itemsize]


def target(chunk: Chunk, decoded: Decoded, operand: Operand, type: str) -> Array:
    """The array that a result of `type` is assigned to; assignment extends to a wider register."""
    if isinstance(operand, Selected):
        operand = operand.operand
    if isinstance(operand, Sink):
        return np.empty((chunk.count, 2) if type == "b128" else chunk.count, dtype_of(type))
    if not isinstance(operand, Reg):
        raise Unmodelled(
            f"{operand} cannot be written\n  {decoded.instruction}", decoded.instruction.place
        )
    register = chunk.register(chunk.program.slot_of(decoded, operand))
    if register.ndim > 1 or register.dtype == np.bool_:
        return register
    kind = np.dtype(dtype_of(type))
    if register.dtype.itemsize == kind.itemsize:
        return register.view(kind)
    if register.dtype.itemsize < kind.itemsize:
        raise Unmodelled(
            f"{operand} is too narrow for .{type}\n  {decoded.instruction}",
            decoded.instruction.place,
        )
    if types.is_signed(type):
        return register.view(np.dtype(f"i{register.dtype.itemsize}"))
    return register


def flat(operands: tuple[Operand, ...]) -> list[Operand]:
    """Operands with the elements of pairs and vectors in their place."""
    found: list[Operand] = []
    for operand in operands:
        if isinstance(operand, Pair):
            found += [operand.first, operand.second]
        elif isinstance(operand, Vector):
            found += flat(operand.items)
        else:
            found.append(operand)
    return found


def split(decoded: Decoded, meaning: Meaning) -> tuple[list[Operand], list[Operand], list[str]]:
    """Result operands, source operands and source types, checked against the meaning."""
    results = flat(decoded.operands[:1])
    sources = flat(decoded.operands[1:])
    kinds = list(meaning.sources)
    if meaning.optional == "second":
        pass
    elif meaning.optional:
        kinds += [meaning.optional] * (len(sources) - len(kinds))
    if len(sources) != len(kinds):
        raise Unmodelled(
            f"{decoded.words.op} with {len(sources)} source operands is not modelled\n"
            f"  {decoded.instruction}",
            decoded.instruction.place,
        )
    return results, sources, kinds


def store_result(out: Array, lanes: Lanes, value: Array, chosen: Any = None) -> None:
    """Assign a result; floating-point bits go unchanged into a register of another type."""
    if lanes is None:
        out[...] = value
    else:
        out[lanes] = value


def bind_meaning(chunk: Chunk, decoded: Decoded, meaning: Meaning) -> Step:
    """A pure instruction as a step."""
    result_operands, source_operands, kinds = split(decoded, meaning)
    sources: list[Source] = [
        read(chunk, decoded, operand, kind)
        for operand, kind in zip(source_operands, kinds, strict=True)
    ]
    if meaning.carry_in:
        sources.append(chunk.carry)
    if len(result_operands) > len(meaning.results):
        return _bind_comparison(chunk, decoded, meaning, result_operands, sources)
    outs = [
        target(chunk, decoded, operand, kind)
        for operand, kind in zip(result_operands, meaning.results, strict=False)
    ]
    if meaning.carry_out:
        outs.append(chunk.carry)
    if len(outs) == 1 and len(meaning.results) == 1:
        return _single(meaning, outs[0], sources)

    def step(lanes: Lanes) -> None:
        values = meaning.function(*[select(source, lanes) for source in sources])
        for out, value in zip(outs, values, strict=False):
            store_result(out, lanes, value)

    return step


def _single(meaning: Meaning, out: Array, sources: list[Source]) -> Step:
    function, into = meaning.function, meaning.into
    plain = not any(callable(source) for source in sources)
    exact = np.dtype(dtype_of(meaning.results[0])) == out.dtype
    if plain and into is not None and exact:

        def fast(lanes: Lanes) -> None:
            if lanes is None:
                into(out, *sources)
            else:
                out[lanes] = function(*[source[lanes] for source in sources])  # type: ignore[index]

        return fast

    def step(lanes: Lanes) -> None:
        value = function(*[select(source, lanes) for source in sources])
        if lanes is None:
            out[...] = value
        else:
            out[lanes] = value

    return step


def _bind_comparison(
    chunk: Chunk, decoded: Decoded, meaning: Meaning, results: list[Operand], sources: list[Source]
) -> Step:
    """``setp`` with two destinations and no combination: the second is the negation."""
    first, second = (target(chunk, decoded, operand, "pred") for operand in results)

    def step(lanes: Lanes) -> None:
        found = meaning.function(*[select(source, lanes) for source in sources])
        store_result(first, lanes, found)
        store_result(second, lanes, ~found)

    return step


def bind_vector_move(chunk: Chunk, decoded: Decoded) -> Step:
    """``mov`` that packs a vector into a register or takes one apart, lowest element first."""
    to, source = decoded.operands
    whole = types.bits(decoded.words.type)
    if isinstance(to, Vector):
        parts = to.items
        part = f"b{whole // len(parts)}"
        outs = [target(chunk, decoded, operand, part) for operand in parts]
        value = read(chunk, decoded, source, decoded.words.type)

        def unpack(lanes: Lanes) -> None:
            taken = np.ascontiguousarray(select(value, lanes))
            columns = taken.view(dtype_of(part)).reshape(-1, len(parts))
            for number, out in enumerate(outs):
                store_result(out, lanes, columns[:, number])

        return unpack
    assert isinstance(source, Vector)
    part = f"b{whole // len(source.items)}"
    values = [read(chunk, decoded, operand, part) for operand in source.items]
    out = target(chunk, decoded, to, decoded.words.type)

    def pack(lanes: Lanes) -> None:
        columns = np.stack([select(value, lanes) for value in values], axis=1)
        packed = np.ascontiguousarray(columns).view(out.dtype)
        store_result(
            out, lanes, packed.reshape(out.shape if lanes is None else (len(lanes), *out.shape[1:]))
        )

    return pack


def guarded(step: Step, predicate: Array, negated: bool, count: int) -> Step:
    """A step for the threads whose guard holds."""

    def run(lanes: Lanes) -> None:
        holds = predicate if lanes is None else predicate[lanes]
        if negated:
            holds = ~holds
        if lanes is None:
            chosen = holds.nonzero()[0]
            if len(chosen) == count:
                step(None)
            elif len(chosen):
                step(chosen)
        else:
            chosen = lanes[holds]
            if len(chosen):
                step(chosen)

    return run


def checked(step: Step, arrays: list[tuple[str, Array]]) -> Step:
    """A step that faults where one of the registers it depends on holds no value."""

    def run(lanes: Lanes) -> None:
        for name, defined in arrays:
            held = defined if lanes is None else defined[lanes]
            if not held.all():
                position = int(np.argmin(held))
                raise AccessError(
                    "uninitialised",
                    f"{name} was never written in this thread",
                    lane=position if lanes is None else int(lanes[position]),
                )
        step(lanes)

    return run


def following(step: Step, reads: list[Array], writes: list[Array]) -> Step:
    """A step that makes its results defined where all of its operands are."""

    def run(lanes: Lanes) -> None:
        step(lanes)
        held: Any = True
        for defined in reads:
            held = held & (defined if lanes is None else defined[lanes])
        for defined in writes:
            defined[... if lanes is None else lanes] = held

    return run
