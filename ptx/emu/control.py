"""Control flow: branches, calls, returns, exits, barriers, and what a warp executes together.

A control operation gets a group and returns where all of it goes on, or None where it has parted,
waits or ended; it has then put the parts back itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import Array
from ptx.emu.program import Decoded, Located, function_addresses
from ptx.emu.steps import Lanes, select
from ptx.ir import Arguments, Operand, Reg, Symbol

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group


def bind(chunk: Chunk, decoded: Decoded) -> Control:
    """The control operation of an instruction, guard included."""
    from ptx.emu import warp

    opcode = decoded.words.opcode
    if opcode == "bra":
        return _branch(chunk, decoded)
    makers: dict[str, Callable[[Chunk, Decoded], Control]] = {
        "brx": _indexed_branch,
        "call": _call,
        "ret": _return,
        "exit": _exit,
        "trap": _trap,
        "bar": _barrier,
        "barrier": _barrier,
        "setmaxnreg": lambda chunk, decoded: chunk.register_pool.bind(decoded),
    }
    return _guarded(chunk, decoded, makers.get(opcode, warp.bind)(chunk, decoded))


def _guarded(chunk: Chunk, decoded: Decoded, operation: Control) -> Control:
    guard = chunk.guard(decoded)
    if guard is None:
        return operation
    predicate, negated = guard

    def run(group: Group) -> int | None:
        holds = select(predicate, group.lanes)
        if negated:
            holds = ~holds
        if holds.all():
            return operation(group)
        if not holds.any():
            return decoded.at + 1
        others = split_off(chunk, group, ~holds)
        others.at = decoded.at + 1
        chunk.push(others)
        following = operation(group)
        if following is not None:
            group.at = following
            chunk.push(group)
        return None

    return run


def split_off(chunk: Chunk, group: Group, chosen: Array) -> Group:
    """Take the chosen threads (a mask over the group) out of a group into a new one."""
    from ptx.emu.chunk import Group

    who = chunk.everyone(group.lanes)
    group.lanes = who[~chosen]
    return Group(group.at, who[chosen], group.depth, group.turn, team=group.team)


def _branch(chunk: Chunk, decoded: Decoded) -> Control:
    to = chunk.program.target(decoded, str(decoded.operands[0]))
    here = decoded.at
    guard = chunk.guard(decoded)

    def taken(group: Group) -> int:
        if to <= here and chunk.ready:
            group.backward += 1
            if group.backward >= 64:
                group.backward = 0
                group.turn += 1
        return to

    if guard is None:
        return taken
    predicate, negated = guard

    def run(group: Group) -> int | None:
        holds = predicate if group.lanes is None else predicate[group.lanes]
        count = np.count_nonzero(holds)
        if count == len(holds):
            return here + 1 if negated else taken(group)
        if count == 0:
            return taken(group) if negated else here + 1
        chunk.launch.diverged(decoded)
        jumping = split_off(chunk, group, ~holds if negated else holds)
        jumping.at = to
        group.at = here + 1
        if to <= here:
            jumping.backward = group.backward + 1
            if jumping.backward >= 64:
                jumping.backward = 0
                jumping.turn += 1
        chunk.push(group)
        chunk.push(jumping)
        return None

    return run


def scatter(chunk: Chunk, group: Group, targets: Array) -> int | None:
    """Send each thread of a group to its own target."""
    places = np.unique(targets)
    if len(places) == 1:
        return int(places[0])
    for place in places[1:]:
        part = split_off(chunk, group, targets == place)
        targets = targets[targets != place]
        part.at = int(place)
        chunk.push(part)
    group.at = int(places[0])
    chunk.push(group)
    return None


def _indexed_branch(chunk: Chunk, decoded: Decoded) -> Control:
    index, names = decoded.operands
    listed = decoded.scope.target_list(str(names))
    if listed is None:
        raise Unmodelled(f"{names} is no list of targets", decoded.instruction.place)
    table = np.array([chunk.program.target(decoded, name) for name in listed.names])
    value = steps.read(chunk, decoded, index, "u32")

    def run(group: Group) -> int | None:
        chosen = select(value, group.lanes)
        if int(chosen.max()) >= len(table):
            where = int(np.argmax(chosen))
            raise AccessError(
                "out-of-bounds",
                f"the index {int(chosen[where])} is beyond the {len(table)} targets of {names}",
                lane=int(chunk.everyone(group.lanes)[where]),
            )
        return scatter(chunk, group, table[chosen])

    return run


class CallStack:
    """Where each thread returns to, and the registers of calls that recursion would overwrite."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.returns: list[Array] = []
        self.saved: dict[tuple[int, int], Array] = {}
        self.after: dict[tuple[int, str], Callable[[Group], None]] = {}
        """By call and function: what a group does when it comes back."""

    def enter(self, group: Group, back: int) -> None:
        if group.depth >= 512:
            raise AccessError("launch", "calls are nested more than 512 deep")
        if group.depth == len(self.returns):
            self.returns.append(np.zeros(self.chunk.count, np.int64))
        self.returns[group.depth][... if group.lanes is None else group.lanes] = back
        group.depth += 1

    def leave(self, group: Group) -> Array:
        """Where the threads of a group go back to."""
        group.depth -= 1
        return select(self.returns[group.depth], group.lanes)


def _names(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Arguments) else (operand,)


def _call(chunk: Chunk, decoded: Decoded) -> Control:
    operands = list(decoded.operands)
    results: tuple[Operand, ...] = ()
    if isinstance(operands[0], Arguments):
        results = operands.pop(0).items  # type: ignore[union-attr]
    callee = operands.pop(0)
    arguments = _names(operands[0]) if operands and isinstance(operands[0], Arguments) else ()
    entrances = {
        name: _entrance(chunk, decoded, name, results, arguments)
        for name in chunk.program.callees(decoded)
    }
    if isinstance(callee, Reg):
        return _indirect(chunk, decoded, callee, entrances)
    return entrances[str(callee)]


def _entrance(
    chunk: Chunk,
    decoded: Decoded,
    name: str,
    results: tuple[Operand, ...],
    arguments: tuple[Operand, ...],
) -> Control:
    """What takes a group into a function; the way back is left with the call stack."""
    program = chunk.program
    if name not in program.formals:
        raise Unmodelled(f"{name} has no body to call", decoded.instruction.place)
    moves_in = _transfer(chunk, decoded, arguments, program.formals[name][0], inward=True)
    moves_out = _transfer(chunk, decoded, results, program.formals[name][1], inward=False)
    keep = _recursive_storage(chunk, decoded.scope.function.name, name)

    def run(group: Group) -> int | None:
        depth = group.depth
        who = chunk.everyone(group.lanes)
        for number, array in enumerate(keep):
            saved = chunk.calls.saved.setdefault((depth, number), np.empty_like(array))
            saved[who] = array[who]
        for move in moves_in:
            move(group.lanes)
        chunk.calls.enter(group, decoded.at)
        return program.entry[name]

    def after(group: Group) -> None:
        who = chunk.everyone(group.lanes)
        values = [take(group.lanes) for take, _ in moves_out.pairs]
        for number, array in enumerate(keep):
            array[who] = chunk.calls.saved[group.depth, number][who]
        for (_, put), value in zip(moves_out.pairs, values, strict=True):
            put(group.lanes, value)

    chunk.calls.after[decoded.at, name] = after
    return run


def _indirect(
    chunk: Chunk, decoded: Decoded, callee: Reg, entrances: dict[str, Control]
) -> Control:
    """Through a register: threads part by the function whose address they hold."""
    value = steps.read(chunk, decoded, callee, "u64")
    addresses = function_addresses(chunk.program.module)
    by_address = {addresses[name]: entrance for name, entrance in entrances.items()}

    def run(group: Group) -> int | None:
        chosen = select(value, group.lanes)
        places = np.unique(chosen).tolist()
        for place in places:
            if place not in by_address:
                raise AccessError(
                    "wrong-space",
                    f"{place:#x} is the address of no function that the call may go to: "
                    + (", ".join(entrances) or "none has its parameters"),
                    lane=int(chunk.everyone(group.lanes)[np.argmax(chosen == place)]),
                )
        for place in places[1:]:
            part = split_off(chunk, group, chosen == place)
            chosen = chosen[chosen != place]
            following = by_address[place](part)
            assert following is not None
            part.at = following
            chunk.push(part)
        return by_address[places[0]](group)

    return run


class _Moves(list[Callable[[Lanes], None]]):
    """Transfers between a caller's operands and a function's formal parameters."""

    pairs: list[tuple[Callable[[Lanes], Array], Callable[[Lanes, Array], None]]]


def _transfer(
    chunk: Chunk,
    decoded: Decoded,
    actual: tuple[Operand, ...],
    formal: list[Located | int],
    inward: bool,
) -> _Moves:
    if len(actual) != len(formal):
        raise Unmodelled(
            f"the call passes {len(actual)} values where {len(formal)} are declared\n"
            f"  {decoded.instruction}",
            decoded.instruction.place,
        )
    moves = _Moves()
    moves.pairs = []
    for operand, declared in zip(actual, formal, strict=True):
        ours = _storage(chunk, decoded, operand)
        theirs = (
            _register_storage(chunk.register(declared))
            if isinstance(declared, int)
            else _argument_storage(chunk, declared)
        )
        source, destination = (ours, theirs) if inward else (theirs, ours)
        moves.pairs.append((source[0], destination[1]))

        def move(
            lanes: Lanes,
            take: Callable[[Lanes], Array] = source[0],
            put: Callable[[Lanes, Array], None] = destination[1],
        ) -> None:
            put(lanes, take(lanes))

        moves.append(move)
    return moves


_Storage = tuple[Callable[[Lanes], Array], Callable[[Lanes, Array], None]]


def _register_storage(array: Array) -> _Storage:
    def put(lanes: Lanes, value: Array) -> None:
        array[... if lanes is None else lanes] = value

    return (lambda lanes: select(array, lanes).copy()), put


def _argument_storage(chunk: Chunk, located: Located) -> _Storage:
    """Bytes of a thread's call parameters, with their states."""
    span = slice(located.offset, located.offset + located.bytes)

    def rows(source: Array) -> Array:
        return source.reshape(-1, chunk.argument_stride)[: chunk.count, span]

    def take(lanes: Lanes) -> Array:
        chosen = ... if lanes is None else lanes
        region = chunk.arguments
        return np.stack([rows(region.data)[chosen], rows(region.state)[chosen]])

    def put(lanes: Lanes, value: Array) -> None:
        chosen = ... if lanes is None else lanes
        region = chunk.arguments
        rows(region.data)[chosen], rows(region.state)[chosen] = value[0], value[1]
        region.full = False

    return take, put


def _storage(chunk: Chunk, decoded: Decoded, operand: Operand) -> _Storage:
    if isinstance(operand, Reg):
        slot = decoded.scope.slot(operand.name)
        if slot is not None:
            return _register_storage(chunk.register(slot))
        located = decoded.scope.name(operand.name)
    elif isinstance(operand, Symbol):
        slot = decoded.scope.slot(operand.name)
        if slot is not None:
            return _register_storage(chunk.register(slot))
        located = decoded.scope.name(operand.name)
    else:
        raise Unmodelled(f"{operand} as a call's argument is not modelled")
    if located is None or located.space != "argument":
        raise Unmodelled(f"{operand} is no parameter of a call", decoded.instruction.place)
    return _argument_storage(chunk, located)


def _recursive_storage(chunk: Chunk, caller: str, callee: str) -> list[Array]:
    """The registers of the caller that a call may overwrite: its own, where it may call itself."""
    program = chunk.program
    calls: dict[str, set[str]] = {}
    for decoded in program.code:
        if decoded.words.opcode == "call":
            calls.setdefault(decoded.scope.function.name, set()).update(program.callees(decoded))
    reached, waiting = set(), [callee]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += calls.get(name, ())
    if caller not in reached:
        return []
    slots: set[int] = set()
    for decoded in program.code:
        if decoded.scope.function.name == caller:
            reads, writes = program.reads_writes(decoded)
            slots.update(reads, writes)
    arrays = [chunk.register(slot) for slot in sorted(slots)]
    if chunk.argument_stride:
        rows = (chunk.count, chunk.argument_stride)
        arrays += [
            chunk.arguments.data[: chunk.count * chunk.argument_stride].reshape(rows),
            chunk.arguments.state[: chunk.count * chunk.argument_stride].reshape(rows),
        ]
    return arrays


def _return(chunk: Chunk, decoded: Decoded) -> Control:
    name = decoded.scope.function.name

    def run(group: Group) -> int | None:
        if group.depth == 0:
            chunk.leave(group.lanes)
            return None
        calls = chunk.calls.leave(group)
        for place in np.unique(calls):
            part = group if (calls == place).all() else split_off(chunk, group, calls == place)
            if part is not group:
                calls = calls[calls != place]
            chunk.calls.after[int(place), name](part)
            part.at = int(place) + 1
            chunk.push(part)
            if part is group:
                break
        return None

    return run


def _exit(chunk: Chunk, decoded: Decoded) -> Control:
    def run(group: Group) -> int | None:
        chunk.leave(group.lanes)
        return None

    return run


def _trap(chunk: Chunk, decoded: Decoded) -> Control:
    def run(group: Group) -> int | None:
        who = chunk.everyone(group.lanes)
        raise AccessError("trap", f"trap, in {len(who)} threads", lane=int(who[0]))

    return run


def _barrier(chunk: Chunk, decoded: Decoded) -> Control:
    if "cluster" in decoded.words:
        from ptx.emu import clusters

        return clusters.barrier(chunk, decoded)
    if "warp" in decoded.words:
        from ptx.emu import warp

        return warp.bind(chunk, decoded)
    return chunk.barriers.bind(decoded)
