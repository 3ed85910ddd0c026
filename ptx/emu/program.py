"""A kernel decoded once: its instructions in one line of code, names resolved to slots and offsets.

The kernel and every function that it may call are laid one after another; a program counter is an
index into that code. Scopes are resolved here, so that each instruction knows what a name means
where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ptx import types
from ptx.emu import semantics
from ptx.emu.contraction import fused
from ptx.emu.dataflow import doubtful_slots
from ptx.emu.faults import Unmodelled
from ptx.emu.semantics.rules import Meaning, Words
from ptx.ir import (
    Addr,
    Arguments,
    Block,
    Function,
    Instruction,
    Label,
    Module,
    Operand,
    Parameter,
    Prototype,
    Reg,
    Registers,
    Statement,
    Symbol,
    Targets,
    Variable,
    registers_of,
)


@dataclass(frozen=True, slots=True)
class Located:
    """What a name stands for: a byte offset in a space, or an address where the space is global.

    ``space`` is ``shared``, ``local``, ``param`` (the launch's), ``argument`` (a device function's,
    in each thread), ``global``, ``const`` or ``function`` (``offset`` is its address).
    """

    space: str
    offset: int
    bytes: int = 0


@dataclass
class Scope:
    """Names inside one pair of braces."""

    parent: Scope | None
    function: Function
    slots: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    names: dict[str, Located] = field(default_factory=dict)
    targets: dict[str, Targets] = field(default_factory=dict)
    prototypes: dict[str, Prototype] = field(default_factory=dict)

    def _chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def slot(self, name: str) -> int | None:
        return next((s.slots[name] for s in self._chain() if name in s.slots), None)

    def label(self, name: str) -> int | None:
        return next((s.labels[name] for s in self._chain() if name in s.labels), None)

    def name(self, name: str) -> Located | None:
        return next((s.names[name] for s in self._chain() if name in s.names), None)

    def target_list(self, name: str) -> Targets | None:
        return next((s.targets[name] for s in self._chain() if name in s.targets), None)

    def prototype(self, name: str) -> Prototype | None:
        return next((s.prototypes[name] for s in self._chain() if name in s.prototypes), None)


@dataclass(frozen=True, slots=True)
class Decoded:
    """One instruction in its place."""

    at: int
    instruction: Instruction
    scope: Scope
    words: Words
    meaning: Meaning | None
    """What it computes; None for memory, control and warp instructions."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.instruction.operands


@dataclass(frozen=True)
class Space:
    """The layout of one kind of storage while variables are put in."""

    used: list[int] = field(default_factory=lambda: [0])

    def place(self, nbytes: int, alignment: int) -> int:
        start = -(-self.used[0] // alignment) * alignment
        self.used[0] = start + nbytes
        return start


class Program:
    """The code that a launch of one kernel may run.

    `globals` gives the address of each variable of the module that lies in global or constant
    memory; `contract` fuses sums of products. Raises :class:`Unmodelled` at the first instruction
    without a meaning.
    """

    def __init__(
        self, module: Module, kernel: Function, globals: dict[str, int], contract: bool = False
    ) -> None:
        self._contract = contract
        self.kernel = kernel
        self.module = module
        self.code: list[Decoded] = []
        self.slot_types: list[str] = []
        self.slot_names: list[str] = []
        self.entry: dict[str, int] = {}
        self.formals: dict[str, tuple[list[Located | int], list[Located | int]]] = {}
        """Of each device function: where its parameters and its results lie."""
        self._shared, self._local, self._arguments = Space(), Space(), Space()
        self._dynamic: list[tuple[Scope, Variable]] = []
        self.parameters: dict[str, Located] = {}
        self.parameter_bytes = 0
        self._globals = globals
        self._outer = Scope(None, kernel)
        for name, address in globals.items():
            self._outer.names[name] = Located("global", address)
        for name, address in function_addresses(module).items():
            self._outer.names[name] = Located("function", address)
        self._module_shared()
        for function in self._reachable():
            self._add(function)
        self._place_dynamic()
        self._finish()

    # ------------------------------------------------------------ layout

    def _module_shared(self) -> None:
        for variable in self.module.variables:
            if variable.space.startswith("shared"):
                self._declare(self._outer, variable)

    def _reachable(self) -> list[Function]:
        """The kernel, then every function of the module that its code may call."""
        found = [self.kernel]
        known = self.module.functions
        if any(i.opcode == "call" for i in self.kernel.instructions):
            found += [f for f in known.values() if not f.entry]
        return found

    def _declare(self, scope: Scope, variable: Variable) -> None:
        space = variable.space.partition("::")[0]
        if space == "shared" and (variable.linkage == "extern" or None in variable.shape):
            self._dynamic.append((scope, variable))
            return
        storage = {"shared": self._shared, "local": self._local, "param": self._arguments}
        if space in storage:
            offset = storage[space].place(variable.bytes, variable.alignment)
            kind = "argument" if space == "param" else space
            scope.names[variable.name] = Located(kind, offset, variable.bytes)
        elif variable.name in self._globals:
            scope.names[variable.name] = Located(
                "global", self._globals[variable.name], variable.bytes
            )

    def _place_dynamic(self) -> None:
        """Variables of open size all begin where the static ones end."""
        alignment = max([16] + [v.alignment for _, v in self._dynamic])
        self.dynamic_offset = -(-self._shared.used[0] // alignment) * alignment
        if not self._dynamic:
            self.dynamic_offset = self._shared.used[0]
        for scope, variable in self._dynamic:
            scope.names[variable.name] = Located("shared", self.dynamic_offset)

    @property
    def local_bytes(self) -> int:
        return self._local.used[0]

    @property
    def argument_bytes(self) -> int:
        return self._arguments.used[0]

    def _slot(self, scope: Scope, name: str, type: str) -> int:
        scope.slots[name] = len(self.slot_types)
        self.slot_types.append(type)
        self.slot_names.append(name)
        return scope.slots[name]

    def _parameter(self, scope: Scope, parameter: Parameter) -> Located | int:
        if parameter.space == "reg":
            return self._slot(scope, parameter.name, parameter.type)
        offset = self._arguments.place(parameter.bytes, parameter.alignment)
        scope.names[parameter.name] = Located("argument", offset, parameter.bytes)
        return scope.names[parameter.name]

    def _add(self, function: Function) -> None:
        scope = Scope(self._outer, function)
        self.entry[function.name] = len(self.code)
        if function.entry:
            layout = Space()
            for parameter in function.params:
                offset = layout.place(parameter.bytes, parameter.alignment)
                located = Located("param", offset, parameter.bytes)
                scope.names[parameter.name] = self.parameters[parameter.name] = located
            self.parameter_bytes = layout.used[0]
        else:
            self.formals[function.name] = (
                [self._parameter(scope, p) for p in function.params],
                [self._parameter(scope, p) for p in function.results],
            )
        body = function.body or ()
        self._walk(scope, fused(body) if self._contract else body)
        # Falling off the end returns.
        self._emit(scope, Instruction("ret", ()))

    def _walk(self, scope: Scope, body: tuple[Statement, ...]) -> None:
        for statement in body:
            if isinstance(statement, Registers):
                if statement.count is None:
                    self._slot(scope, statement.name, statement.type)
                else:
                    for number in range(statement.count):
                        self._slot(scope, f"{statement.name}{number}", statement.type)
            elif isinstance(statement, Variable):
                self._declare(scope, statement)
        for statement in body:
            if isinstance(statement, Instruction):
                self._emit(scope, statement)
            elif isinstance(statement, Label):
                scope.labels[statement.name] = len(self.code)
            elif isinstance(statement, Targets):
                scope.targets[statement.label] = statement
            elif isinstance(statement, Prototype):
                scope.prototypes[statement.label] = statement
            elif isinstance(statement, Block):
                self._walk(Scope(scope, scope.function), statement.body)

    def _emit(self, scope: Scope, instruction: Instruction) -> None:
        words = semantics.words_of(instruction)
        try:
            meaning = semantics.meaning_of(words)
        except Unmodelled as error:
            raise Unmodelled(f"{error.message}\n  {instruction}", instruction.place) from error
        self.code.append(Decoded(len(self.code), instruction, scope, words, meaning))

    # ------------------------------------------------------------ blocks

    def _finish(self) -> None:
        self.is_control = [semantics.is_control(d.words) for d in self.code]
        leaders = set(self.entry.values())
        scopes = {id(d.scope): d.scope for d in self.code}
        for scope in scopes.values():
            while True:
                leaders.update(scope.labels.values())
                if scope.parent is None:
                    break
                scope = scope.parent
        self.leaders = leaders
        count = len(self.code)
        self.stop = [0] * count
        """For each instruction where a straight run from it ends: at a control instruction, which
        is not run, or at the start of a block."""
        for at in reversed(range(count)):
            if self.is_control[at]:
                self.stop[at] = at
            elif at + 1 in leaders or at + 1 == count:
                self.stop[at] = at + 1
            else:
                self.stop[at] = self.stop[at + 1]

    # ------------------------------------------------------------ names

    def slot_of(self, decoded: Decoded, reg: Reg) -> int:
        slot = decoded.scope.slot(reg.name)
        if slot is None:
            # A kernel's registers are declared; fragments of code in tests may leave that out.
            return self._slot(self._outer, reg.name, reg.type)
        return slot

    def located(self, decoded: Decoded, symbol: Symbol) -> Located:
        found = decoded.scope.name(symbol.name)
        if found is None:
            raise Unmodelled(
                f"{symbol.name} is declared nowhere\n  {decoded.instruction}",
                decoded.instruction.place,
            )
        return Located(found.space, found.offset + symbol.offset, found.bytes)

    def target(self, decoded: Decoded, name: str) -> int:
        found = decoded.scope.label(name)
        if found is None:
            raise Unmodelled(
                f"label {name} is declared nowhere\n  {decoded.instruction}",
                decoded.instruction.place,
            )
        return found

    def callees(self, decoded: Decoded) -> list[str]:
        """The functions that a call may go to: the one that it names, or all that its
        ``.calltargets`` list, or whose parameters are those of its ``.callprototype``.
        """
        operands = [o for o in decoded.operands if not isinstance(o, Arguments)]
        if not isinstance(operands[0], Reg):
            return [str(operands[0])]
        label = str(operands[-1])
        listed = decoded.scope.target_list(label)
        if listed is not None:
            return list(listed.names)
        prototype = decoded.scope.prototype(label)
        if prototype is None:
            raise Unmodelled(
                f"{label} is no prototype and no list of targets\n  {decoded.instruction}",
                decoded.instruction.place,
            )
        wanted = _signature(prototype)
        functions = self.module.functions
        return [name for name in self.formals if _signature(functions[name]) == wanted]

    def reads_writes(self, decoded: Decoded) -> tuple[list[int], list[int]]:
        """Slots that an instruction reads (its guard too) and slots that it writes."""
        reads: list[int] = []
        writes: list[int] = []
        written = semantics.written_operands(decoded.words, decoded.instruction)
        for number, operand in enumerate(decoded.operands):
            into = writes if number in written and not isinstance(operand, Addr) else reads
            into += [self.slot_of(decoded, reg) for reg in registers_of(operand)]
        if decoded.instruction.guard is not None:
            reads += [self.slot_of(decoded, r) for r in registers_of(decoded.instruction.guard)]
        return reads, writes

    @cached_property
    def doubtful(self) -> frozenset[int]:
        """Slots that may hold no value where they are read, and what is computed from such."""
        return doubtful_slots(self)

    @cached_property
    def meeting_points(self) -> dict[int, tuple[int, ...]]:
        """Where paths join, and the instructions before it that hold threads of a warp."""
        from ptx.emu.meetings import meeting_points

        return meeting_points(self)


_FUNCTION_WINDOW = 0x7B00_0000_0000
_FUNCTION_BYTES = 16


def _signature(of: Function | Prototype) -> list[list[tuple[bool, int]]]:
    """Results and parameters: whether each is a register, and its bytes."""
    return [[(p.space == "reg", p.bytes) for p in some] for some in (of.results, of.params)]


def function_addresses(module: Module) -> dict[str, int]:
    """Of each function of a module; no memory lies there."""
    return {
        name: _FUNCTION_WINDOW + _FUNCTION_BYTES * number
        for number, name in enumerate(module.functions)
    }


def storage_bits(type: str) -> int:
    """Width of the array that holds a register: at least 8, and 1 for a predicate."""
    return 1 if type == "pred" else max(8, types.bits(type))
