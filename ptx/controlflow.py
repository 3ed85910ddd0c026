"""A function decoded for analysis: which registers each instruction reads and writes, and where
control may go next.

Registers are numbered in the order in which they are met, so that inner scopes may reuse a name;
labels are looked up by scope too. What cannot be resolved (an undeclared register, a label that
is nowhere) is kept in :attr:`Flow.faults` and the analysis goes on without it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from heapq import heappop, heappush
from itertools import chain
from typing import NamedTuple, TypeVar

from ptx.declared import Fault, Scope, nearest, open_scope
from ptx.dominance import dominators, reverse_postorder
from ptx.errors import TextPlace
from ptx.ir import (
    Addr,
    Arguments,
    Block,
    Function,
    Imm,
    Instruction,
    Label,
    Not,
    Operand,
    Pair,
    Parameter,
    Prototype,
    Reg,
    Selected,
    Statement,
    Symbol,
    Targets,
    Variable,
    Vector,
    registers_of,
)
from ptx.isa import Slot, Variant

State = TypeVar("State")

NO_GUARD = -1

HINTS = 20
"""How many faults are told with the nearest names."""


class Edge(NamedTuple):
    target: int
    """A block; ``len(blocks)`` is the end of the function, where control falls off."""
    key: int
    """The guard that holds on this way (see :attr:`Flow.guards`), or :data:`NO_GUARD`."""


@dataclass(slots=True)
class BasicBlock:
    """Instructions ``start`` to ``stop - 1``, executed together."""

    start: int
    stop: int
    edges: list[Edge] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)


class Access(NamedTuple):
    """An address among an instruction's operands."""

    position: int
    slot: Slot
    address: Addr
    base: int
    """The register that it starts from, or -1."""


class Definitions:
    """By register, the positions of the instructions that write it."""

    def __init__(self, registers: int, writes: list[tuple[int, ...]]) -> None:
        self._first = [-1] * registers
        self._all: dict[int, list[int]] = {}
        """Of registers that are written more than once."""
        for position, written in enumerate(writes):
            for register in written:
                if self._first[register] < 0:
                    self._first[register] = position
                elif register in self._all:
                    self._all[register].append(position)
                else:
                    self._all[register] = [self._first[register], position]

    def __getitem__(self, register: int) -> Sequence[int]:
        first = self._first[register]
        return self._all.get(register) or ((first,) if first >= 0 else ())


class _Shape(NamedTuple):
    """What the analysis needs of a variant, computed once."""

    slots: tuple[Slot, ...]
    ends: str
    """``"branch"``, ``"return"``, ``"exit"``, ``"trap"``, ``"call"`` or ``""``."""


_WRITTEN = Slot("d", "reg", access="w")
"""Stands for the slots of an instruction that no row takes: nothing is known to be read."""


@cache
def effects(variant: Variant) -> frozenset[str]:
    return frozenset(variant.form.effect.split(", "))


@cache
def _shape(variant: Variant) -> _Shape:
    ends = effects(variant) & {"branch", "return", "exit", "trap", "call"}
    return _Shape(variant.slots, next(iter(ends), ""))


class Flow:
    """One function with a body, decoded."""

    def __init__(self, function: Function, noreturn: frozenset[str] = frozenset()) -> None:
        self.function = function
        self.instructions: list[Instruction] = []
        self.reads: list[tuple[int, ...]] = []
        """Registers read by each instruction, its guard aside."""
        self.writes: list[tuple[int, ...]] = []
        self.guards: list[int] = []
        """For each instruction twice the guard's register, plus 1 for ``@!``; or NO_GUARD."""
        self.registers: list[Reg] = []
        self.faults: list[Fault] = []
        self.symbols: list[tuple[Symbol, Instruction, Scope]] = []
        """Every use of a name that is neither register nor label."""
        self.accesses: list[Access] = []
        """Every address that an operand is."""
        self.label_at: dict[int, list[Label]] = {}
        """The labels in front of an instruction, by its position."""
        self._noreturn = noreturn
        self._ends: dict[int, str] = {}
        self._jumps: dict[int, list[Label]] = {}
        self._position: dict[int, int] = {}
        self._owner = self._find_owner()
        self._foreign: set[int] = set()
        body = function.body or ()
        parameters = function.params + function.results
        self._walk(body, open_scope(body, None, self.faults, parameters))

    # ------------------------------------------------------------ decoding

    def _fault(self, rule: str, message: str, statement: Statement) -> None:
        self.faults.append(Fault(rule, message, statement))

    def _walk(self, body: Iterable[Statement], scope: Scope) -> None:
        for statement in body:
            kind = type(statement)
            if kind is Instruction:
                self._add(statement, scope)  # type: ignore[arg-type]
            elif kind is Label:
                position = len(self.instructions)
                self._position[id(statement)] = position
                self.label_at.setdefault(position, []).append(statement)  # type: ignore[arg-type]
            elif kind is Block:
                inner = statement.body  # type: ignore[union-attr]
                self._walk(inner, open_scope(inner, scope, self.faults))

    def _add(self, instruction: Instruction, scope: Scope) -> None:
        known, owner = scope.registers, self._owner
        reads: list[int] = []
        writes: list[int] = []
        shape = _shape(instruction.variant) if instruction.variant is not None else None
        slots = shape.slots if shape else (_WRITTEN,) * len(instruction.operands)
        for slot, operand in zip(slots, instruction.operands, strict=False):
            if type(operand) is Reg:
                index = known.get(operand.name)
                if index is None or operand.owner is not owner:
                    index = self._register(operand, instruction, scope)
                if index < 0:
                    continue
                access = slot.access
                if access == "r":
                    reads.append(index)
                else:
                    writes.append(index)
                    if access == "rw":
                        reads.append(index)
            elif type(operand) is Addr:
                self._address(operand, slot, instruction, scope, reads)
            elif type(operand) is not Imm:
                self._collect(operand, slot.access, instruction, scope, reads, writes)
        guard = instruction.guard
        key = NO_GUARD
        if guard is not None:
            register = guard.reg if type(guard) is Not else guard
            index = self._register(register, instruction, scope)  # type: ignore[arg-type]
            if index >= 0:
                key = 2 * index + (type(guard) is Not)
        if shape and shape.ends:
            self._jump(shape.ends, instruction, scope)
        self.instructions.append(instruction)
        self.reads.append(tuple(reads))
        self.writes.append(tuple(writes))
        self.guards.append(key)

    def _address(
        self, operand: Addr, slot: Slot, instruction: Instruction, scope: Scope, reads: list[int]
    ) -> None:
        base = operand.base
        index = -1
        if type(base) is Reg:
            known = scope.registers.get(base.name)
            if known is None or base.owner is not self._owner:
                known = self._register(base, instruction, scope)
            index = known
            if index >= 0:
                reads.append(index)
        elif type(base) is Symbol:
            self.symbols.append((base, instruction, scope))
        for part in operand.coordinates or ():
            self._collect(part, "r", instruction, scope, reads, reads)
        self.accesses.append(Access(len(self.instructions), slot, operand, index))

    def _collect(
        self,
        operand: Operand,
        access: str,
        instruction: Instruction,
        scope: Scope,
        reads: list[int],
        writes: list[int],
    ) -> None:
        """The registers of one operand that is more than a register."""
        kind = type(operand)
        if kind is Reg:
            index = self._register(operand, instruction, scope)  # type: ignore[arg-type]
            if index >= 0:
                if access != "r":
                    writes.append(index)
                if access != "w":
                    reads.append(index)
        elif kind is Vector or kind is Arguments:
            for item in operand.items:  # type: ignore[union-attr]
                self._collect(item, access, instruction, scope, reads, writes)
        elif kind is Pair:
            self._collect(operand.first, access, instruction, scope, reads, writes)  # type: ignore[union-attr]
            self._collect(operand.second, access, instruction, scope, reads, writes)  # type: ignore[union-attr]
        elif kind is Not:
            self._collect(operand.reg, access, instruction, scope, reads, writes)  # type: ignore[union-attr]
        elif kind is Selected:
            self._collect(operand.operand, access, instruction, scope, reads, writes)  # type: ignore[union-attr]
        elif kind is Symbol:
            self.symbols.append((operand, instruction, scope))  # type: ignore[arg-type]

    def _register(self, register: Reg, instruction: Instruction, scope: Scope) -> int:
        """The number of a register; negative where it is not declared."""
        name = register.name
        if register.owner is not self._owner and register.owner is not None:
            self._fault_owner(register, instruction)
            return -1
        found = scope.registers.get(name)
        if found is not None:
            return found
        home: Scope | None = scope
        while home is not None and not home.declares(name):
            home = home.outer
        if home is None:
            self._fault_register(register, instruction, scope)
            scope.registers[name] = -1
            return -1
        index = home.registers.get(name)
        if index is None:
            index = home.registers[name] = len(self.registers)
            self.registers.append(register)
        scope.registers[name] = index
        return index

    def _find_owner(self) -> object:
        """The kernel under construction that the registers come from; None in text."""
        if isinstance(self.function.place, TextPlace):
            return None
        for statement in self.function.body or ():
            if type(statement) is Instruction:
                for register in chain.from_iterable(map(registers_of, statement.operands)):
                    if getattr(register.owner, "name", None) == self.function.name:
                        return register.owner
        return None

    def _fault_owner(self, register: Reg, instruction: Instruction) -> None:
        if id(register) not in self._foreign:
            self._foreign.add(id(register))
            owner = getattr(register.owner, "name", "another")
            message = (
                f"{register.name} is a register of the kernel {owner}, used in "
                f"{self.function.name}: kernels share no registers"
            )
            self._fault("foreign-register", message, instruction)

    def _fault_register(self, register: Reg, instruction: Instruction, scope: Scope) -> None:
        name = register.name
        home: Scope | None = scope
        numbered = None
        while home is not None and numbered is None:
            numbered = home.range_of(name)
            home = home.outer
        if numbered is not None:
            last = (numbered.count or 0) - 1
            message = f"{name} is out of range: {numbered.name}0 to {numbered.name}{last} exist"
            self._fault("unknown-register", message, instruction)
        else:
            message = f"{name} is not declared in {self.function.name}"
            self._fault("unknown-register", message, instruction)

    def _jump(self, ends: str, instruction: Instruction, scope: Scope) -> None:
        position = len(self.instructions)
        if ends == "call":
            for operand in instruction.operands:
                if type(operand) is Symbol and operand.name in self._noreturn:
                    self._ends[position] = "exit"
                elif type(operand) is Label:
                    found = scope.find(operand.name)
                    if not isinstance(found, (Prototype, Targets)):
                        message = f"no prototype or list of targets is named {operand.name} here"
                        self._fault("unknown-label", message, instruction)
            return
        self._ends[position] = ends
        if ends != "branch":
            return
        labels: list[Label] = []
        for operand in instruction.operands:
            if type(operand) is Label:
                found = scope.find(operand.name)
                names = found.names if isinstance(found, Targets) else (operand.name,)
                for name in names:
                    target = scope.find(name)
                    if isinstance(target, Label):
                        labels.append(target)
                    else:
                        self._fault_label(name, instruction, scope)
        self._jumps[position] = labels

    def _fault_label(self, name: str, instruction: Instruction, scope: Scope) -> None:
        hint = nearest(name, _labels(scope)) if len(self.faults) < HINTS else ""
        self._fault("unknown-label", f"no label is named {name} here{hint}", instruction)

    # ------------------------------------------------------------ blocks

    @cached_property
    def blocks(self) -> list[BasicBlock]:
        """The basic blocks in the order of the text; the first is the entry."""
        size = len(self.instructions)
        if not size:
            return []
        starts = {0, *self.label_at, *(i + 1 for i in self._ends)} - {size}
        ordered = sorted(starts)
        found = [
            BasicBlock(start, stop)
            for start, stop in zip(ordered, [*ordered[1:], size], strict=True)
        ]
        index = {block.start: number for number, block in enumerate(found)}
        index[size] = len(found)
        for number, block in enumerate(found):
            block.edges = self._edges(block.stop - 1, index)
            for edge in dict.fromkeys(e.target for e in block.edges):
                if edge < len(found):
                    found[edge].predecessors.append(number)
        return found

    def _edges(self, last: int, index: dict[int, int]) -> list[Edge]:
        ends, key = self._ends.get(last, ""), self.guards[last]
        onward = Edge(index[last + 1], NO_GUARD if key < 0 or not ends else key ^ 1)
        if not ends:
            return [onward]
        edges = [Edge(index[self._position[id(label)]], key) for label in self._jumps.get(last, ())]
        if self.instructions[last].guard is not None:
            edges.append(onward)
        return edges

    @cached_property
    def order(self) -> list[int]:
        """The blocks that control can reach, in reverse postorder."""
        blocks, end = self.blocks, len(self.blocks)
        if not blocks:
            return []
        return reverse_postorder(
            lambda number: [e.target for e in blocks[number].edges if e.target < end], [0]
        )

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """For each block that is reached its number, and the last one below it, in a walk of the
        dominator tree."""
        blocks = self.blocks
        parent = dominators(self.order, lambda number: blocks[number].predecessors, [0])
        below: dict[int, list[int]] = {}
        for number in self.order[1:]:
            below.setdefault(parent[number], []).append(number)
        order = reverse_postorder(lambda number: below.get(number, ()), [0])
        first = {number: position for position, number in enumerate(order)}
        sizes = dict.fromkeys(order, 1)
        for number in reversed(order[1:]):
            sizes[parent[number]] += sizes[number]
        return {number: (first[number], first[number] + sizes[number] - 1) for number in order}

    def dominates(self, a: int, b: int) -> bool:
        """Whether every way to the reached block `b` passes `a`; a block dominates itself."""
        if a not in self._spans:
            return False
        begin, end = self._spans[a]
        return begin <= self._spans[b][0] <= end

    def block_of(self, position: int) -> int:
        """The block that an instruction is in."""
        return bisect_right(self._starts, position) - 1

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    @cached_property
    def definitions(self) -> Definitions:
        return Definitions(len(self.registers), self.writes)

    def definition(self, register: int) -> int | None:
        """The only instruction that writes `register`, unguarded; None where there is no such, or
        no row of the table takes it."""
        written = self.definitions[register]
        if len(written) != 1 or self.guards[written[0]] >= 0:
            return None
        return written[0] if self.instructions[written[0]].variant is not None else None

    def variable(self, instruction: Instruction, name: str) -> Variable | Parameter | None:
        """The variable or parameter of the function that a name means in one instruction."""
        scope = self._scopes.get(id(instruction))
        found = scope.find(name) if scope is not None else None
        if isinstance(found, Variable):
            return found
        parameters = self.function.params + self.function.results
        return next((p for p in parameters if p.name == name), None)

    @cached_property
    def _scopes(self) -> dict[int, Scope]:
        return {id(instruction): scope for _, instruction, scope in self.symbols}

    def number(self, operand: object) -> int | None:
        """The number of a register that the function's outermost scope declares."""
        return self._numbers.get(operand) if isinstance(operand, Reg) else None

    @cached_property
    def _numbers(self) -> dict[Reg, int]:
        found: dict[Reg, int] = {}
        for index, register in enumerate(self.registers):
            found.setdefault(register, index)
        return found

    @cached_property
    def by_opcode(self) -> dict[str, list[int]]:
        """Positions of instructions by opcode."""
        found: dict[str, list[int]] = {}
        opcodes: dict[str, list[int]] = {}
        for position, instruction in enumerate(self.instructions):
            op = instruction.op
            at = opcodes.get(op)
            if at is None:
                at = opcodes[op] = found.setdefault(instruction.opcode, [])
            at.append(position)
        return found

    def of(self, *opcodes: str, malformed: bool = False) -> Iterator[tuple[int, Instruction]]:
        """The instructions of some opcodes, with their positions.

        Those that no row of the table takes, whose operands may be any, only if `malformed`.
        """
        for opcode in opcodes:
            for position in self.by_opcode.get(opcode, ()):
                instruction = self.instructions[position]
                if malformed or instruction.variant is not None:
                    yield position, instruction

    def solve(
        self,
        entry: State,
        transfer: Callable[[int, State], State],
        meet: Callable[[State, State], State],
        along: Callable[[Edge, State], State] = lambda edge, state: state,
    ) -> dict[int, State]:
        """What holds where each reachable block begins, forwards from `entry`.

        `transfer` takes a block and what holds at its begin to what holds at its end; `meet`
        joins ways; `along` adds what an edge tells. All must be monotone.
        """
        before: dict[int, State] = {0: entry} if self.blocks else {}
        rank = {block: position for position, block in enumerate(self.order)}
        queue = [0] if self.blocks else []  # ranks of blocks; those in `waiting` count
        waiting = set(queue)
        while queue:
            number = self.order[heappop(queue)]
            if number not in waiting:
                continue
            waiting.discard(number)
            after = transfer(number, before[number])
            for edge in self.blocks[number].edges:
                if edge.target >= len(self.blocks):
                    continue
                arriving = along(edge, after)
                if edge.target in before:
                    arriving = meet(before[edge.target], arriving)
                    if arriving == before[edge.target]:
                        continue
                before[edge.target] = arriving
                if edge.target not in waiting:
                    waiting.add(edge.target)
                    heappush(queue, rank[edge.target])
        return before


def _labels(scope: Scope | None) -> Iterator[str]:
    while scope is not None:
        yield from (name for name, one in scope.declared.items() if isinstance(one, Label))
        scope = scope.outer
