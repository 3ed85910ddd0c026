"""What a PTX module is, as frozen data: operands, instructions, declarations, functions, modules.

The builder and the parser make these; the checker, the printer, the emulator and the assembler
read them. Equality is structural and ignores where a thing was written, so that
``parse(str(module)) == module``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ptx import targets, types
from ptx.errors import Place, PtxError
from ptx.values import (
    SINK,
    Addr,
    Arguments,
    Imm,
    Label,
    Linked,
    Not,
    Operand,
    Owner,
    Pair,
    Reg,
    Selected,
    Sink,
    Special,
    Symbol,
    Vector,
    registers_of,
)

if TYPE_CHECKING:
    from ptx.isa.notation import Variant

__all__ = [
    "Addr",
    "Arguments",
    "Block",
    "Buildable",
    "Directive",
    "Function",
    "Imm",
    "Instruction",
    "Item",
    "Label",
    "Line",
    "Linked",
    "Module",
    "Not",
    "Operand",
    "Owner",
    "Pair",
    "Parameter",
    "Pragma",
    "Prototype",
    "Reg",
    "Registers",
    "SINK",
    "Selected",
    "Sink",
    "Special",
    "Statement",
    "Symbol",
    "Targets",
    "Variable",
    "Vector",
    "registers_of",
]


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: ``@!%p1 ld.global.v4.f32 {...}, [%rd1+16];``"""

    op: str
    """The whole opcode with its modifiers, in the order of the instruction table."""
    operands: tuple[Operand, ...]
    guard: Reg | Not | None = None
    variant: Variant | None = field(default=None, compare=False)
    """What the instruction table says of it; None where no row takes it (erroneous text)."""
    place: Place | None = field(default=None, compare=False)

    @property
    def opcode(self) -> str:
        return self.op.partition(".")[0]

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.op.split("."))

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard is not None else ""
        operands = " " + ", ".join(map(str, self.operands)) if self.operands else ""
        return f"{guard}{self.op}{operands};"


@dataclass(frozen=True, slots=True)
class Registers:
    """``.reg .b32 %r<20>;`` (``count`` 20: %r0 to %r19) or ``.reg .pred p;`` (``count`` None)."""

    type: str
    name: str
    count: int | None = None
    place: Place | None = field(default=None, compare=False)
    vector: int | None = None
    """2 or 4 for ``.reg .v4 .f32 v;``, whose elements are the registers ``v.x`` to ``v.w``."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a state space: ``.shared .align 16 .b8 tile[4096];``"""

    space: str
    type: str
    name: str
    shape: tuple[int | None, ...] = ()
    """Extents of an array; None leaves the first one open, ``name[]``; () is a scalar."""
    align: int | None = None
    vector: int | None = None
    """2 or 4 for ``.v2`` and ``.v4``."""
    linkage: str = ""
    """``""``, ``"visible"``, ``"extern"``, ``"weak"`` or ``"common"``."""
    initial: tuple[Any, ...] | Imm | Symbol | Linked | None = None
    """Nested tuples of :class:`Imm`, :class:`Symbol` and :class:`Linked`, as the braces nest."""
    attributes: str = ""
    """What else stands between space and type, verbatim, as ``.attribute(.managed)``."""
    place: Place | None = field(default=None, compare=False)
    scope: int = 0
    """Which inner scope of its function declares it, as :attr:`Reg.scope`."""

    @property
    def element_bytes(self) -> int:
        return max(1, types.bits(self.type) // 8) * (self.vector or 1)

    @property
    def bytes(self) -> int:
        """Size in bytes; an open extent counts as 0."""
        total = self.element_bytes
        for extent in self.shape:
            total *= extent or 0
        return total

    @property
    def alignment(self) -> int:
        """In bytes: as declared, else that of an element."""
        return self.align or self.element_bytes


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: ``.param .u64 .ptr .global .align 16 a``, ``.param .align 64 .b8 map[128]``."""

    type: str
    name: str
    count: int | None = None
    """Elements of an array parameter, 0 leaves them open (``a[]``); None is a scalar."""
    align: int | None = None
    pointer: str | None = None
    """The space that ``.ptr`` names, ``""`` where it names none; None without ``.ptr``."""
    pointer_align: int | None = None
    space: str = "param"
    """``"param"``, or ``"reg"`` in a device function."""
    place: Place | None = field(default=None, compare=False)
    element: str | None = field(default=None, compare=False)
    """The type that a pointer was said to point to, for which PTX has no word; None else."""

    @property
    def bytes(self) -> int:
        return max(1, types.bits(self.type) // 8) * (1 if self.count is None else self.count)

    @property
    def alignment(self) -> int:
        return self.align or max(1, types.bits(self.type) // 8)


@dataclass(frozen=True, slots=True)
class Pragma:
    """``.pragma "nounroll";``"""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """``.loc file line column`` and what may follow, as it stands in foreign text."""

    text: str


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive kept as written, ``.file 1 "a.cu"``, its end (``;`` or a block) included."""

    text: str
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Targets:
    """``ts: .branchtargets a, b;`` or ``.calltargets``."""

    label: str
    directive: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """``proto: .callprototype (.param .b32 _) _ (.param .b32 _);``"""

    label: str
    results: tuple[Parameter, ...]
    params: tuple[Parameter, ...]
    noreturn: bool = False
    directives: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """The others in order: ``(("abi_preserve", (4,)),)``."""


@dataclass(frozen=True, slots=True)
class Block:
    """``{ ... }``: an inner scope."""

    body: tuple[Statement, ...]


Statement = (
    Instruction
    | Label
    | Registers
    | Variable
    | Pragma
    | Line
    | Directive
    | Targets
    | Prototype
    | Block
)


@dataclass(frozen=True)
class Function:
    """A kernel (``entry``) or a device function."""

    name: str
    params: tuple[Parameter, ...] = ()
    body: tuple[Statement, ...] | None = ()
    """None: a declaration without a body."""
    entry: bool = True
    results: tuple[Parameter, ...] = ()
    linkage: str = "visible"
    directives: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Performance directives in order: ``(("maxntid", (256, 1, 1)), ("minnctapersm", (2,)))``."""
    place: Place | None = field(default=None, compare=False)
    directive_places: tuple[Place, ...] = field(default=(), compare=False)
    """Where each directive stands, or nothing where that is not known."""

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """Every instruction in order, those of inner scopes included."""
        return tuple(s for s in self.statements if type(s) is Instruction)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Every statement in order, inner scopes opened."""
        if self.body is not None and not any(type(s) is Block for s in self.body):
            return self.body
        found: list[Statement] = []

        def walk(body: Iterable[Statement]) -> None:
            for statement in body:
                if type(statement) is Block:
                    walk(statement.body)
                else:
                    found.append(statement)

        walk(self.body or ())
        return tuple(found)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(s for s in self.statements if type(s) is Variable)

    def directive(self, name: str) -> tuple[int, ...] | None:
        """The arguments of one performance directive, or None."""
        return next((arguments for word, arguments in self.directives if word == name), None)

    def place_of(self, directive: str) -> Place | None:
        """Where a directive stands; the function's own place where that is not known."""
        for (word, _), place in zip(self.directives, self.directive_places, strict=False):
            if word == directive:
                return place
        return self.place


Item = Function | Variable | Directive | Pragma | Line


class Buildable(Protocol):
    """What :class:`Module` turns into items: a kernel under construction."""

    def items(self) -> tuple[Item, ...]: ...


@dataclass(frozen=True, init=False)
class Module:
    """A PTX module: ``Module(kernel, ...)``, its target and version inferred where not given.

    `items` are functions and variables, or kernels under construction, which are built and checked
    here. ``target`` is a name as ``"sm_90a"``, ``version`` as ``"8.0"``; what is left out is the
    smallest that the instructions allow. A version that there is not, or that is newer than the
    instruction table, is an error; a text that is parsed may state it (:meth:`stating`).
    """

    items: tuple[Item, ...]
    target: str | None = None
    version: str | None = None
    address_size: int = 64
    options: tuple[str, ...] = ()
    """What follows the target in ``.target``: ``("texmode_independent", "debug")``."""
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where a text states its version."""

    def __init__(
        self,
        *items: Item | Buildable,
        target: str | None = None,
        version: str | None = None,
        address_size: int = 64,
        options: tuple[str, ...] = (),
    ) -> None:
        if version is not None and (unknown := targets.version_refusal(version)):
            raise PtxError(
                f"{unknown}; what is left out becomes the smallest version that the module needs"
            )
        made: list[Item] = []
        shared: set[Variable] = set()
        for item in items:
            built: Callable[[], tuple[Item, ...]] | None = getattr(item, "items", None)
            if not callable(built) or isinstance(item, dict):
                if not isinstance(item, (Function, Variable, Directive, Pragma, Line)):
                    raise PtxError(f"a module holds kernels, functions and variables, got {item!r}")
                made.append(item)
                continue
            for one in built():
                # Kernels that use one module variable each bring it.
                if type(one) is Variable:
                    if one in shared:
                        continue
                    shared.add(one)
                made.append(one)
        object.__setattr__(self, "items", tuple(made))
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "version", version)
        object.__setattr__(self, "address_size", address_size)
        object.__setattr__(self, "options", options)

    def stating(self, version: str, place: Place) -> Module:
        """The module of a text that states `version` at `place`, be it known here or not."""
        made = copy(self)
        object.__setattr__(made, "version", version)
        object.__setattr__(made, "place", place)
        return made

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The functions with a body, by name."""
        return {f.name: f for f in self.items if isinstance(f, Function) and f.body is not None}

    @property
    def kernels(self) -> dict[str, Function]:
        return {name: f for name, f in self.functions.items() if f.entry}

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.items if isinstance(v, Variable))

    def __str__(self) -> str:
        from ptx import text

        return text.print_module(self, loc=False)
