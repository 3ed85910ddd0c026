"""Steps that touch memory: ld, st, atom, red, cp.async, and what turns addresses into others.

An access is checked as a whole: its space, its bounds, its alignment, then the state of its bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx import types
from ptx.emu import clusters, dependencies, steps
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import (
    GLOBAL_BASE,
    IN_FLIGHT,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    RANK_SHIFT,
    SHARED_WINDOW,
    VALID,
    WINDOW_BYTES,
    Array,
    Region,
    check_alignment,
    refuse_objects,
)
from ptx.emu.ordering import Order, access_order
from ptx.emu.program import Decoded, Located
from ptx.emu.races import Races
from ptx.emu.semantics.rules import dtype_of
from ptx.emu.steps import Lanes, Source, Step, select
from ptx.ir import SINK, Addr, Imm, Operand, Pair, Reg, Symbol, Vector

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

EVERYONE = np.zeros(0, np.intp)
Part = tuple[Region, Array, Array]
"""A region, byte offsets in it, and the positions that lie there (EVERYONE: all)."""


def space_of(decoded: Decoded) -> str:
    """The state space of a load, store or atomic; ``generic`` where none is written."""
    for word in decoded.words.all[1:]:
        if word.partition("::")[0] in ("global", "shared", "local", "const", "param"):
            return word
    return "generic"


def addresses(chunk: Chunk, decoded: Decoded, operand: Operand) -> Callable[[Lanes], Array]:
    """What gives the address of each thread, as int64."""
    if not isinstance(operand, Addr):
        # mbarrier and TMA forms of the builder pass a bare symbol or register in brackets.
        operand = Addr(operand)  # type: ignore[arg-type]
    base = operand.base
    offset = np.int64(operand.offset)
    if isinstance(base, Reg):
        register = chunk.register(chunk.program.slot_of(decoded, base))
        if register.dtype == np.uint64:
            register = register.view(np.int64)

        def of_register(lanes: Lanes) -> Array:
            taken = register if lanes is None else register[lanes]
            moved: Array = np.add(taken, offset, dtype=np.int64, casting="unsafe")
            return moved

        return of_register
    if isinstance(base, Symbol):
        value = chunk.program.located(decoded, base).offset + operand.offset
    else:
        assert isinstance(base, Imm)
        value = int(base.value) + operand.offset
    fixed = np.full(chunk.count, value, np.int64)
    return lambda lanes: fixed if lanes is None else fixed[lanes]


class Space:
    """How the addresses of one state space become bytes of a region."""

    def __init__(self, chunk: Chunk, name: str, located: Located | None = None) -> None:
        self.chunk = chunk
        self.name = name
        self.last: Region | None = None
        space = name.partition("::")[0]
        if space == "param":
            space = "argument" if located is not None and located.space == "argument" else "launch"
        self.find = {
            "global": self._global,
            "const": self._global,
            "shared": self._shared,
            "local": self._local,
            "argument": self._argument,
            "launch": self._launch,
            "generic": self._generic,
        }[space]

    def locate(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        """Where `nbytes` at each address lie; raises :class:`AccessError`."""
        check_alignment(at, nbytes)
        return self.find(at, nbytes, lanes)

    def _global(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        try:
            found = self.chunk.memory.find(at, nbytes, self.last)
        except AccessError as error:
            if error.address is not None and 0 <= error.address < GLOBAL_BASE:
                error.allocation = self._foreign(error.address) or error.allocation
                if "window" in error.allocation:
                    error.kind = "wrong-space"
            raise
        self.last = found[0][0]
        return [
            (region, (at if not len(who) else at[who]) - region.base, who) for region, who in found
        ]

    @staticmethod
    def _foreign(address: int) -> str:
        for base, name in (
            (SHARED_WINDOW, "shared"),
            (LOCAL_WINDOW, "local"),
            (PARAM_WINDOW, "parameter"),
        ):
            if base <= address < base + WINDOW_BYTES:
                return f"the address lies in the window of {name} memory"
        return ""

    def _bounded(self, at: Array, nbytes: int, size: int, what: str) -> None:
        if int(at.min()) >= 0 and int(at.max()) + nbytes <= size:
            return
        where = int(np.argmax((at < 0) | (at + nbytes > size)))
        address = int(at[where])
        kind, allocation = "out-of-bounds", f"{what} has {size} bytes"
        if address >= PARAM_WINDOW:
            kind = "wrong-space"
            allocation += "; the address is a generic or global one"
        raise AccessError(
            kind,
            f"{nbytes} bytes lie outside {what}",
            position=where,
            address=address,
            allocation=allocation,
        )

    def _shared(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        chunk = self.chunk
        owner = chunk.cta_of if lanes is None else chunk.cta_of[lanes]
        if int(at.max()) >> RANK_SHIFT:
            at, owner = clusters.peers(chunk, at, owner, self.name == "shared::cta")
        self._bounded(at, nbytes, chunk.launch.shared_bytes, "the CTA's shared memory")
        return [(chunk.shared, at + owner * chunk.shared_stride, EVERYONE)]

    def _local(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        chunk = self.chunk
        self._bounded(at, nbytes, chunk.program.local_bytes, "the thread's local memory")
        return [(chunk.local, at + chunk.everyone(lanes) * chunk.local_stride, EVERYONE)]

    def _argument(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        chunk = self.chunk
        self._bounded(at, nbytes, chunk.program.argument_bytes, "the call's parameters")
        return [(chunk.arguments, at + chunk.everyone(lanes) * chunk.argument_stride, EVERYONE)]

    def _launch(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        parameters = self.chunk.launch.parameters
        self._bounded(at, nbytes, parameters.size, "the kernel's parameters")
        return [(parameters, at, EVERYONE)]

    def _generic(self, at: Array, nbytes: int, lanes: Lanes) -> list[Part]:
        if int(at.min()) >= GLOBAL_BASE:
            return self._global(at, nbytes, lanes)
        found: list[Part] = []
        who = self.chunk.everyone(lanes)
        left = np.ones(len(at), np.bool_)
        for base, find in (
            (SHARED_WINDOW, self._shared),
            (LOCAL_WINDOW, self._local),
            (PARAM_WINDOW, self._launch),
        ):
            inside = (at >= base) & (at < base + WINDOW_BYTES)
            if inside.any():
                positions = np.flatnonzero(inside)
                try:
                    parts = find(at[positions] - base, nbytes, who[positions])
                except AccessError as error:
                    error.position = int(positions[error.position])
                    raise
                found += [(region, offsets, positions) for region, offsets, _ in parts]
                left &= ~inside
        if left.any():
            positions = np.flatnonzero(left)
            try:
                parts = self._global(at[positions], nbytes, who[positions])
            except AccessError as error:
                error.position = int(positions[error.position])
                raise
            found += [
                (region, offsets, positions if not len(some) else positions[some])
                for region, offsets, some in parts
            ]
        return found


def operand_space(chunk: Chunk, decoded: Decoded, operand: Operand, name: str) -> Space:
    """The space of an address operand of a step."""
    base = operand.base if isinstance(operand, Addr) else operand
    located = chunk.program.located(decoded, base) if isinstance(base, Symbol) else None
    if located is not None and name == "generic" and located.space in ("shared", "local", "param"):
        raise Unmodelled(
            f"{base} is an offset in .{located.space}, not a generic address\n"
            f"  {decoded.instruction}",
            decoded.instruction.place,
        )
    return Space(chunk, name, located)


def _who(chunk: Chunk, lanes: Lanes, positions: Array) -> Array:
    """The threads at some positions of an access."""
    everyone = chunk.everyone(lanes)
    return everyone[positions] if len(positions) else everyone


def _count(chunk: Chunk, parts: list[Part], nbytes: int, lanes: Lanes) -> None:
    """Tell the report, if there is one, of an access to global or shared memory."""
    counts = chunk.launch.counts
    if counts is None:
        return
    for region, offsets, positions in parts:
        shared = region is chunk.shared
        if shared or region.base:
            who = _who(chunk, lanes, positions)
            counts.access(chunk, offsets + region.base, nbytes, who, shared)


def _watch_read(
    races: Races, region: Region, offsets: Array, nbytes: int, who: Array, order: Order | None
) -> None:
    at = races.chunk.at
    if region is races.chunk.shared:
        races.read(offsets, nbytes, who, at, order)
    elif region.base >= GLOBAL_BASE:
        if races.chunk.global_proxies is not None:
            races.chunk.global_proxies.touched(region, offsets, nbytes, who, "reads")
        races.memory.read(region, offsets, nbytes, who, at, order)


def watch_write(
    races: Races, region: Region, offsets: Array, nbytes: int, who: Array, order: Order | None
) -> None:
    """Tell the search for races of a store or an atomic."""
    chunk = races.chunk
    if region is chunk.shared:
        races.write(offsets, nbytes, who, chunk.at, order)
        if chunk.proxies is not None:
            chunk.proxies.stored(offsets, nbytes, who, chunk.at)
    elif region.base >= GLOBAL_BASE:
        if chunk.global_proxies is not None:
            chunk.global_proxies.touched(region, offsets, nbytes, who, "writes")
            chunk.global_proxies.stored(region, offsets, nbytes, who, chunk.at)
        races.memory.write(region, offsets, nbytes, who, chunk.at, order)


def load_cells(
    space: Space, at: Array, nbytes: int, lanes: Lanes, order: Order | None = None
) -> Array:
    """The bytes at each address, one cell each; `order` is that of a strong access."""
    chunk = space.chunk
    parts = space.locate(at, nbytes, lanes)
    _count(chunk, parts, nbytes, lanes)
    if len(parts) == 1:
        return _load(chunk, parts[0], nbytes, chunk.everyone(lanes), order)
    cells = np.empty(len(at), parts[0][0].cells(nbytes).dtype)
    for part in parts:
        positions = part[2]
        try:
            who = _who(chunk, lanes, positions)
            cells[positions] = _load(chunk, part, nbytes, who, order)
        except AccessError as error:
            error.position = int(positions[error.position])
            raise
    return cells


def _load(chunk: Chunk, part: Part, nbytes: int, who: Array, order: Order | None) -> Array:
    """The bytes in one region."""
    region, offsets, _ = part
    races = chunk.races
    if races is not None:
        _watch_read(races, region, offsets, nbytes, who, order)
    cells = region.load(offsets, nbytes)
    if races is not None and order is not None:
        races.ordering.access(region, offsets, who, order, reads=True, wrote=None)
    return cells


def store_cells(
    space: Space, at: Array, nbytes: int, cells: Array, lanes: Lanes, order: Order | None = None
) -> None:
    chunk = space.chunk
    races = chunk.races
    parts = space.locate(at, nbytes, lanes)
    _count(chunk, parts, nbytes, lanes)
    for region, offsets, positions in parts:
        chosen = cells if not len(positions) else cells[positions]
        who = _who(chunk, lanes, positions)
        try:
            if races is not None:
                watch_write(races, region, offsets, nbytes, who, order)
            _store(region, offsets, nbytes, chosen, order)
        except AccessError as error:
            if len(positions) and error.position >= 0:
                error.position = int(positions[error.position])
            raise
        if races is not None and order is not None:
            every = np.ones(len(who), np.bool_)
            races.ordering.access(region, offsets, who, order, reads=False, wrote=every)


def _store(region: Region, offsets: Array, nbytes: int, cells: Array, order: Order | None) -> None:
    if region.read_only:
        raise AccessError(
            "read-only", "a store to memory that kernels only read", allocation=f"in {region}"
        )
    region.store(offsets, nbytes, cells)
    if order is not None:
        # Strong stores to one place are no race: one of them comes last.
        return
    kept = region.cells(nbytes).take(offsets >> (nbytes.bit_length() - 1))
    if nbytes > 8:
        kept, cells = kept.view(np.uint64), cells.view(np.uint64)
    differs = kept != cells
    if differs.any():
        where = int(np.argmax(differs)) // (len(kept) // len(offsets))
        raise AccessError(
            "race",
            "two threads store different values to one address in the same instruction",
            position=where,
            address=region.base + int(offsets[where]),
            allocation=f"in {region}",
        )


def located_faults(step: Step) -> Step:
    """A step whose faults name the thread."""

    def run(lanes: Lanes) -> None:
        try:
            step(lanes)
        except AccessError as error:
            if error.lane < 0 and error.position >= 0:
                error.lane = error.position if lanes is None else int(lanes[error.position])
            raise

    return run


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """The step of a memory instruction."""
    from ptx.emu import async_stores, atomics, copies, mbarriers, ordering, tensor_maps

    makers: dict[str, Callable[[Chunk, Decoded], Step]] = {
        "ld": load,
        "ldu": load,
        "st": store,
        "cvta": convert_address,
        "isspacep": is_space,
        "atom": atomics.bind,
        "red": atomics.bind,
        "cp": copies.bind,
        "mbarrier": mbarriers.bind,
        "mapa": clusters.map_address,
        "getctarank": clusters.get_rank,
        "createpolicy": create_policy,
        "fence": ordering.bind,
        "griddepcontrol": dependencies.bind,
        "tensormap": tensor_maps.bind,
        "membar": ordering.bind,
    }
    opcode = decoded.words.opcode
    if opcode == "st" and decoded.words.all[1] in ("async", "bulk"):
        maker = async_stores.store if "async" in decoded.words else async_stores.fill
        return located_faults(maker(chunk, decoded))
    if opcode in makers:
        return located_faults(makers[opcode](chunk, decoded))
    return lambda lanes: None


def vector_operands(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def load(chunk: Chunk, decoded: Decoded) -> Step:
    destination, address = decoded.operands[:2]
    type = decoded.words.type
    outs = [
        None if operand == SINK else steps.target(chunk, decoded, operand, type)
        for operand in vector_operands(destination)
    ]
    width = types.bits(type) // 8
    nbytes = width * len(outs)
    where = addresses(chunk, decoded, address)
    space = operand_space(chunk, decoded, address, space_of(decoded))
    kind = np.dtype(np.uint64 if type == "b128" else dtype_of(type))
    order = access_order(decoded.words)

    def step(lanes: Lanes) -> None:
        if order is not None:
            chunk.polled_at = chunk.at
        cells = load_cells(space, where(lanes), nbytes, lanes, order)
        values = cells.view(kind)
        if len(outs) == 1 and type != "b128":
            out = outs[0]
            if out is not None:
                out[... if lanes is None else lanes] = values
            return
        shape = (len(cells), len(outs), 2) if type == "b128" else (len(cells), len(outs))
        columns: Array = values.reshape(shape)
        for number, out in enumerate(outs):
            if out is not None:
                out[... if lanes is None else lanes] = columns[:, number]

    return step


def store(chunk: Chunk, decoded: Decoded) -> Step:
    address, value = decoded.operands[:2]
    type = decoded.words.type
    sources: list[Source] = [
        steps.read(chunk, decoded, operand, type) for operand in vector_operands(value)
    ]
    width = types.bits(type) // 8
    nbytes = width * len(sources)
    where = addresses(chunk, decoded, address)
    space = operand_space(chunk, decoded, address, space_of(decoded))
    kind = np.dtype(np.uint64 if type == "b128" else dtype_of(type))
    order = access_order(decoded.words)
    whole = np.dtype({1: "u1", 2: "u2", 4: "u4", 8: "u8"}.get(nbytes, f"V{nbytes}"))

    def step(lanes: Lanes) -> None:
        count = chunk.size(lanes)
        rows = np.empty((count, len(sources) * (2 if type == "b128" else 1)), kind)
        for number, source in enumerate(sources):
            if type == "b128":
                rows[:, 2 * number : 2 * number + 2] = select(source, lanes)
            else:
                rows[:, number] = select(source, lanes)
        store_cells(space, where(lanes), nbytes, rows.view(whole).reshape(count), lanes, order)
        chunk.progress += 1

    return step


_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}


def convert_address(chunk: Chunk, decoded: Decoded) -> Step:
    """cvta: a space's address to generic, or ``cvta.to`` the other way round."""
    to, source = decoded.operands
    type = decoded.words.type
    space = space_of(decoded).partition("::")[0]
    window = _WINDOWS.get(space, 0)
    out = steps.target(chunk, decoded, to, type)
    if isinstance(source, Addr):
        source = Symbol(str(source.base), source.offset)
    value = steps.read(chunk, decoded, source, type)
    shift = np.uint64(-window & (2**64 - 1)) if "to" in decoded.words else np.uint64(window)

    def step(lanes: Lanes) -> None:
        taken = select(value, lanes)
        out[... if lanes is None else lanes] = taken.astype(np.uint64) + shift

    return step


def is_space(chunk: Chunk, decoded: Decoded) -> Step:
    to, source = decoded.operands
    space = decoded.words.all[-1].partition("::")[0]
    out = steps.target(chunk, decoded, to, "pred")
    where = addresses(chunk, decoded, source)

    def step(lanes: Lanes) -> None:
        at = where(lanes)
        if space in _WINDOWS:
            base = _WINDOWS[space]
            inside = (at >= base) & (at < base + WINDOW_BYTES)
        else:
            inside = at >= GLOBAL_BASE
        out[... if lanes is None else lanes] = inside

    return step


def create_policy(chunk: Chunk, decoded: Decoded) -> Step:
    """A cache policy has no meaning beyond being one."""
    out = steps.target(chunk, decoded, decoded.operands[0], "b64")

    def step(lanes: Lanes) -> None:
        out[... if lanes is None else lanes] = 0

    return step


@dataclass
class Copy:
    """Bytes on their way to memory: they arrive when the copy is completed."""

    region: Region
    offsets: Array
    nbytes: int
    cells: Array
    lanes: Array
    group: Array
    """For each thread the number of its cp.async group."""
    at: int
    """The instruction that issued it."""


class AsyncCopies:
    """cp.async of every thread: what is in flight, and which group it belongs to."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.reset()

    def reset(self) -> None:
        """Nothing is in flight."""
        chunk = self.chunk
        self.flying: list[Copy] = []
        self.group = np.zeros(chunk.count, np.int64)
        """The group that the next copy of each thread joins."""

    def issue(self, copy: Copy) -> None:
        region = copy.region
        states = region.cells(copy.nbytes, states=True)
        index = copy.offsets >> (copy.nbytes.bit_length() - 1)
        taken = states.take(index).view(np.uint8).reshape(len(index), -1)
        refuse_objects(taken, region.base + copy.offsets, "written")
        if (taken > VALID).any():
            where = int(np.argmax((taken > VALID).any(axis=1)))
            raise AccessError(
                "in-flight",
                "an asynchronous copy writes where another one has not been waited for",
                position=where,
                address=region.base + int(copy.offsets[where]),
            )
        flight = np.full(copy.nbytes, IN_FLIGHT, np.uint8).view(states.dtype)[0]
        states[index] = flight
        region.full = False
        if self.chunk.races is not None:
            races, at = self.chunk.races, self.chunk.at
            races.write(copy.offsets, copy.nbytes, copy.lanes, at, mark=False)
        self.flying.append(copy)

    def commit(self, lanes: Lanes) -> None:
        self.group[... if lanes is None else lanes] += 1

    def wait(self, lanes: Lanes, still: int, uncommitted: bool = False) -> None:
        """Complete what the threads have in flight but for their latest `still` groups."""
        limit = self.group + (1 if uncommitted else -still)
        waits = np.zeros(self.chunk.count, np.bool_)
        waits[... if lanes is None else lanes] = True
        left: list[Copy] = []
        for copy in self.flying:
            done = waits[copy.lanes] & (copy.group < limit[copy.lanes])
            if not done.any():
                left.append(copy)
                continue
            self._arrive(copy, done)
            if not done.all():
                keep = ~done
                left.append(
                    Copy(
                        copy.region,
                        copy.offsets[keep],
                        copy.nbytes,
                        copy.cells[keep],
                        copy.lanes[keep],
                        copy.group[keep],
                        copy.at,
                    )
                )
        self.flying = left

    def _arrive(self, copy: Copy, done: Array) -> None:
        races = self.chunk.races
        if races is not None:
            races.written(copy.offsets[done], copy.nbytes, copy.lanes[done], copy.at)
            if self.chunk.proxies is not None:
                who = copy.lanes[done]
                self.chunk.proxies.stored(copy.offsets[done], copy.nbytes, who, copy.at)
        index = copy.offsets[done] >> (copy.nbytes.bit_length() - 1)
        states = copy.region.cells(copy.nbytes, states=True)
        states[index] = np.full(copy.nbytes, VALID, np.uint8).view(states.dtype)[0]
        copy.region.cells(copy.nbytes)[index] = copy.cells[done]


def pair(operand: Operand) -> tuple[Operand, Operand | None]:
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, None)
