"""Which registers may be read before they are written, over the control flow of a function.

Two steps. Plain bit sets over basic blocks find the reads that no unguarded write is sure to come
before. For those among them that guarded writes might explain, a second pass follows under which
guards a register has been written: ``@p ld d`` and then ``@p use d`` is sound, so is a use after
``@!p bra``, and one under a predicate that implies `p`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ptx.controlflow import NO_GUARD, Edge, Flow
from ptx.ir import Imm, Not, Reg


class UnsetRead(NamedTuple):
    register: int
    position: int
    """The instruction that reads it."""
    never: bool
    """No path from the entry writes it before; else some path does not."""
    first: bool = False
    """The first time that this read is reached nothing can have written it: every write lies
    behind it, as where a loop adds to what was not set before it."""

    @property
    def certain(self) -> bool:
        return self.never or self.first


class _Summary(NamedTuple):
    """What one block does with registers."""

    sets: set[int]
    """Written without a guard."""
    may_set: set[int]
    exposed: dict[int, tuple[int, bool]]
    """Read before an unguarded write here: the first such read, and whether a guarded write
    comes before it here."""


def unset_reads(flow: Flow) -> list[UnsetRead]:
    """The first doubtful read of each register, in the order of the text."""
    ignored = _discarded(flow)
    summaries = {number: _summary(flow, number, ignored) for number in flow.order}
    _drop_dominated(flow, summaries)
    bit = {
        register: 1 << index
        for index, register in enumerate(
            dict.fromkeys(r for s in summaries.values() for r in s.exposed)
        )
    }
    if not bit:
        return []
    given = _parameters(flow, bit)
    sets = {n: sum(bit.get(r, 0) for r in s.sets) for n, s in summaries.items()}
    may = {n: sum(bit.get(r, 0) for r in s.may_set) for n, s in summaries.items()}
    sure = flow.solve(given, lambda n, state: state | sets[n], int.__and__)
    possible = flow.solve(given, lambda n, state: state | may[n], int.__or__)
    doubtful: dict[int, UnsetRead] = {}
    for number in flow.order:
        for register, (position, after_guarded) in summaries[number].exposed.items():
            if not sure[number] & bit[register]:
                never = not after_guarded and not possible[number] & bit[register]
                found = doubtful.get(register)
                if found is None or (never, -position) > (found.never, -found.position):
                    doubtful[register] = UnsetRead(register, position, never)
    guarded = {r for r in doubtful if not doubtful[r].never and _has_guarded_write(flow, r)}
    if guarded:
        refined = _Guarded(flow, guarded, ignored).reads()
        for register in guarded:
            if register in refined:
                doubtful[register] = UnsetRead(register, refined[register], False)
            else:
                del doubtful[register]
    for register, read in doubtful.items():
        if not read.never and not given & bit[register]:
            doubtful[register] = _first(flow, read, summaries)
    return sorted(doubtful.values(), key=lambda read: read.position)


def _first(flow: Flow, read: UnsetRead, summaries: Mapping[int, _Summary]) -> UnsetRead:
    """The earliest read that every way comes to unset, if it has met no such read before; else
    `read` as it is."""
    register = read.register
    arrivals: dict[int, set[bool]] = {}
    seen: set[tuple[int, bool]] = set()
    waiting = [(flow.order[0], False)]
    while waiting:
        number, written = waiting.pop()
        if (number, written) in seen or number not in summaries:
            continue
        seen.add((number, written))
        position = summaries[number].exposed.get(register, (-1, False))[0]
        writes = [p for p in flow.definitions[register] if flow.block_of(p) == number]
        if position >= 0 and flow.guards[position] >> 1 in (NO_GUARD, register):
            before = written or any(p < position for p in writes)
            arrivals.setdefault(position, set()).add(before)
            if not before:
                continue
        waiting += [(edge.target, written or bool(writes)) for edge in flow.blocks[number].edges]
    certain = [position for position, written in arrivals.items() if written == {False}]
    return UnsetRead(register, min(certain), False, first=True) if certain else read


def _drop_dominated(flow: Flow, summaries: dict[int, _Summary]) -> None:
    """Forget the reads that an unguarded write in a dominating block comes before.

    In compiled code, where most registers are written once, these are nearly all.
    """
    homes: dict[int, list[int]] = {}
    for number, summary in summaries.items():
        for register in list(summary.exposed):
            if register not in homes:
                homes[register] = [
                    flow.block_of(p) for p in flow.definitions[register][:4] if flow.guards[p] < 0
                ]
            if any(home != number and flow.dominates(home, number) for home in homes[register]):
                del summary.exposed[register]


def _parameters(flow: Flow, bit: dict[int, int]) -> int:
    """Registers that are parameters of a device function, set by its caller."""
    names = {p.name for p in flow.function.params if p.space == "reg"}
    return sum(b for r, b in bit.items() if flow.registers[r].name in names) if names else 0


def _summary(flow: Flow, number: int, ignored: Mapping[int, frozenset[int]]) -> _Summary:
    block = flow.blocks[number]
    sets: set[int] = set()
    guarded: set[int] = set()
    exposed: dict[int, tuple[int, bool]] = {}
    reads, writes, guards = flow.reads, flow.writes, flow.guards
    for position in range(block.start, block.stop):
        key = guards[position]
        unread = ignored.get(position, ())
        for register in reads[position]:
            if register not in sets and register not in exposed and register not in unread:
                exposed[register] = (position, register in guarded)
        if key < 0:
            sets.update(writes[position])
        else:
            predicate = key >> 1
            if predicate not in sets and predicate not in exposed:
                exposed[predicate] = (position, predicate in guarded)
            guarded.update(writes[position])
    return _Summary(sets, sets | guarded, exposed)


def _discarded(flow: Flow) -> dict[int, frozenset[int]]:
    """The accumulators of each wgmma whose scale-d is 0 or a predicate, by its position: the
    first such discards what they hold, so that they count as written alone."""
    found = {}
    for position, instruction in flow.of("wgmma"):
        slots = instruction.variant.slots if instruction.variant else ()
        for slot, operand in zip(slots, instruction.operands, strict=False):
            if slot.name == "scale_d" and (type(operand) is not Imm or not operand.value):
                found[position] = frozenset(flow.writes[position])
    return found


def _has_guarded_write(flow: Flow, register: int) -> bool:
    return any(flow.guards[position] >= 0 for position in flow.definitions[register])


class _Guarded:
    """Follows under which guards the doubtful registers have been written.

    A state is a set of facts in the bits of an int: that a register is written, or that it is
    written if a guard holds. Facts on a guard end where its predicate is written again.
    """

    def __init__(
        self, flow: Flow, registers: set[int], ignored: Mapping[int, frozenset[int]]
    ) -> None:
        self.flow = flow
        self.ignored = ignored
        self.registers = registers
        self.bit: dict[tuple[int, int], int] = {}
        """By register and guard, :data:`NO_GUARD` for the fact that it is written."""
        self.of_key: dict[int, list[int]] = {}
        """The registers that are written under a guard, by guard."""
        for register in sorted(registers):
            for position in [NO_GUARD, *flow.definitions[register]]:
                key = flow.guards[position] if position >= 0 else NO_GUARD
                if (register, key) not in self.bit:
                    self.bit[register, key] = 1 << len(self.bit)
                    self.of_key.setdefault(key, []).append(register)
        self.implied = _implications(flow)
        self.events = {n: self._events(n) for n in flow.order}
        self.found: dict[int, int] = {}

    def reads(self) -> dict[int, int]:
        """Doubtful reads, by register the first one's position."""
        given = sum(
            self.bit[r, NO_GUARD]
            for r in self.registers
            if any(p.name == self.flow.registers[r].name for p in self.flow.function.params)
        )
        before = self.flow.solve(given, self._transfer, int.__and__, self._along)
        for number, state in before.items():
            self._walk(number, state, report=True)
        return self.found

    def _events(self, number: int) -> list[int]:
        """The positions in a block that concern the registers or their guards."""
        block, flow = self.flow.blocks[number], self.flow
        predicates = {key >> 1 for key in self.of_key if key >= 0}
        relevant = self.registers | predicates
        return [
            position
            for position in range(block.start, block.stop)
            if not relevant.isdisjoint(flow.writes[position])
            or not self.registers.isdisjoint(flow.reads[position])
            or flow.guards[position] >> 1 in self.registers
        ]

    def _transfer(self, number: int, state: int) -> int:
        return self._walk(number, state, report=False)

    def _walk(self, number: int, state: int, report: bool) -> int:
        flow = self.flow
        for position in self.events[number]:
            key = flow.guards[position]
            if report:
                self._report(position, key, state)
            for register in flow.writes[position]:
                if register in self.registers:
                    state = self._written(register, key, state)
                for sense in (2 * register, 2 * register + 1):
                    for other in self.of_key.get(sense, ()):
                        state &= ~self.bit[other, sense]
        return state

    def _written(self, register: int, key: int, state: int) -> int:
        state |= self.bit[register, key]
        opposite = self.bit.get((register, key ^ 1), 0) if key >= 0 else 0
        return state | self.bit[register, NO_GUARD] if state & opposite else state

    def _report(self, position: int, key: int, state: int) -> None:
        flow = self.flow
        read = set(flow.reads[position]) & self.registers
        if key >= 0 and key >> 1 in self.registers and not self._sure(key >> 1, NO_GUARD, state):
            self.found[key >> 1] = min(position, self.found.get(key >> 1, position))
        for register in read.difference(self.ignored.get(position, ())):
            if not self._sure(register, key, state):
                self.found[register] = min(position, self.found.get(register, position))

    def _sure(self, register: int, key: int, state: int) -> bool:
        if state & self.bit[register, NO_GUARD]:
            return True
        return key >= 0 and any(
            state & self.bit.get((register, holds), 0) for holds in self.implied.get(key, {key})
        )

    def _along(self, edge: Edge, state: int) -> int:
        for key in self.implied.get(edge.key, {edge.key}) if edge.key >= 0 else ():
            for register in self.of_key.get(key, ()):
                if state & self.bit[register, key]:
                    state |= self.bit[register, NO_GUARD]
        return state


def _implications(flow: Flow) -> dict[int, set[int]]:
    """For guards, which guards hold whenever they do: ``and.pred q, a, b`` makes `q` imply both.

    Only predicates that are written once, without a guard, are followed.
    """
    direct: dict[int, set[int]] = {}
    for position, instruction in flow.of("and", "or", "not", "mov", "setp"):
        written = flow.writes[position]
        if len(written) != 1 or flow.definition(written[0]) is None:
            continue
        result = written[0]
        words = instruction.op.split(".")
        sources = [_key(flow, operand) for operand in instruction.operands[1:]]
        keys = {key for key in sources if key is not None and flow.definition(key >> 1) is not None}
        if words[0] == "setp":
            if "and" in words[1:]:
                direct[2 * result] = keys
        elif words[-1] != "pred":
            continue
        elif words[0] == "and":
            direct[2 * result] = keys
        elif words[0] == "or":
            direct[2 * result + 1] = {key ^ 1 for key in keys}
        else:
            flip = words[0] == "not"
            direct[2 * result] = {key ^ flip for key in keys}
            direct[2 * result + 1] = {key ^ 1 ^ flip for key in keys}
    closed: dict[int, set[int]] = {}
    for key in direct:
        reached, waiting = {key}, [key]
        while waiting:
            new = direct.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        closed[key] = reached
    return closed


def _key(flow: Flow, operand: object) -> int | None:
    negated = isinstance(operand, Not)
    register = operand.reg if isinstance(operand, Not) else operand
    if not isinstance(register, Reg) or register.type != "pred":
        return None
    number = flow.number(register)
    return None if number is None else 2 * number + negated
