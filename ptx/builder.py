"""Writing PTX from Python: one call is one instruction, spelled as the PTX manual spells it.

    k = ptx.Kernel("axpy", n="u32", a="f32", x="global.f32", y="global.f32")
    n, a, x, y = k.params()
    i = k.global_index("x")
    with k.when(k.setp.lt.u32(i, n)):
        ...
    k.ret()

Spelling: a dot is PTX's dot, ``__`` is ``::``, a leading ``_`` stands before a digit (``._2d``), a
trailing ``_`` after one of Python's keywords (``global_``). ``k.op("ld.global.f32", ...)`` takes
any spelling as it is. A call takes the source operands in the manual's order and returns the
destination: a new register, a tuple of them for a vector, or what ``out=`` names instead.

Nothing is guarded that the author did not guard, and no instruction is emitted that was not called
for: operators emit one instruction each, and the named helpers list what they emit.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ptx import checker, isa, parameters
from ptx.blocks import Block, block, unended
from ptx.conversion import show
from ptx.declarations import Directives, Names, Variables
from ptx.emission import PREFIXES, Emitter, Op, attribute, outside, place_of, word
from ptx.errors import Place, PtxError
from ptx.ir import (
    Function,
    Instruction,
    Item,
    Label,
    Module,
    Not,
    Pragma,
    Reg,
    Registers,
    Special,
    Symbol,
)
from ptx.operators import counted, refuse_endless
from ptx.types import FUNDAMENTAL, register_type
from ptx.values import integer

if TYPE_CHECKING:
    pass


class SpecialVector:
    """A special register with axes: ``k.tid.x``."""

    __slots__ = ("w", "x", "y", "z")

    def __init__(self, name: str) -> None:
        self.w, self.x, self.y, self.z = (Special(f"%{name}.{axis}") for axis in self.__slots__)

    def __repr__(self) -> str:
        name = self.x.name.partition(".")[0]
        return f"{name} without its axis (.x, .y, .z)"


class Kernel:
    """A kernel under construction: ``Kernel(name, **parameters)``.

    A parameter is ``name="TYPE"``: a scalar (``"u32"``, ``"f32"``), a pointer (``"global.f32"``;
    ``"global.f32@16"`` promises 16-byte alignment), an array (``"f32[16]"``) or ``"tensormap"``. A
    launch takes arrays of a pointer's own type alone, and any for an untyped one, ``"global.b32"``.
    """

    def __init__(self, name: str, /, **params: str) -> None:
        self._place = place_of(outside(sys._getframe(1)))
        self.name = parameters.legal_name(name, "kernel", self._place)
        self._emitter = Emitter(name)
        self._specs = {
            parameter: parameters.parse(parameter, text, self._place)
            for parameter, text in params.items()
        }
        self._names = Names((self.name, *params))
        self._variables = Variables(self._names)
        self._directives = Directives()
        self._elses: list[Label] = []
        """The labels that branches have ended with."""
        self.blocks: dict[int, Block[Any]] = {}
        """The blocks that were made and have not ended."""

    # ------------------------------------------------------------ instructions

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        special = f"%{name}"
        made: Any
        if special in isa.SPECIAL:
            made = Special(special)
        elif f"{special}.x" in isa.SPECIAL:
            made = SpecialVector(name)
        else:
            made = Op(self._emitter, self._emitter.spelled(word(name)))
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *map(attribute, isa.FORMS)})

    def op(self, op: str, *sources: Any, out: Any = None) -> Any:
        """Emit the instruction spelled `op`, as in ``k.op("ld.global.f32", address)``."""
        if not isinstance(op, str):
            raise PtxError(f"an instruction is spelled as a str, got {op!r}", self._emitter.here())
        return self._emitter.emit(op, sources, out, sys._getframe(1))

    # ------------------------------------------------------------ guards, branches, labels

    @block
    def when(self, predicate: Reg | Not) -> Iterator[None]:
        """Guard every instruction of the block with ``@predicate``; ``~p`` guards with ``@!p``.

        Emits nothing itself. A block does not nest in another, as PTX has one guard: combine the
        predicates first, ``p & q``. A result inside needs ``out=``.
        """
        place = self._emitter.here()
        if self._emitter.guard is not None:
            raise PtxError(
                f"k.when does not nest, since PTX has one guard and {self._emitter.guard} is it; "
                "combine the predicates first: k.when(p & q)",
                place,
            )
        self._require_predicate("k.when", predicate)
        self._emitter.guard = predicate
        try:
            yield
        finally:
            self._emitter.guard = None

    @block
    def branch(self, predicate: Reg | Not) -> Iterator[None]:
        """Run the block where `predicate` holds, by real control flow.

        Emits ``@!predicate bra else``, the block, and the label ``else``. ``with k.otherwise():``
        may follow directly.
        """
        self._unguarded("k.branch")
        self._require_predicate("k.branch", predicate)
        target = Label(self._unique("else"), self._emitter.here())
        with self.when(~predicate):
            self._jump(target)
        try:
            yield
        finally:
            self._elses.append(target)
            self._emitter.body.append(target)

    @block
    def otherwise(self) -> Iterator[None]:
        """The other arm of the ``k.branch`` that ended just before.

        Emits ``bra end`` before the label ``else``, and the label ``end`` after the block.
        """
        self._unguarded("k.otherwise")
        place = self._emitter.here()
        last = self._emitter.body[-1] if self._emitter.body else None
        if not isinstance(last, Label) or not any(last is label for label in self._elses):
            raise PtxError("k.otherwise() must directly follow a block of k.branch", place)
        self._emitter.body.pop()
        end = Label(self._unique("end"), place)
        self._jump(end)
        self._emitter.body.append(last)
        try:
            yield
        finally:
            self._emitter.body.append(end)

    @block
    def loop(
        self,
        start: Any,
        stop: Any,
        step: int = 1,
        *,
        name: str = "loop",
        type: str | None = None,
        unroll: bool = False,
    ) -> Iterator[Reg]:
        """Count from `start` by `step` while below `stop` (above it for a negative step).

        Emits ``mov i, start``, the label `name`, ``.pragma "nounroll"`` unless `unroll`, the
        block, ``add i, i, step``, ``setp.lt p, i, stop`` and ``@p bra name``. The test is at the
        end: the block runs at least once; put the loop under ``k.branch`` where it may run zero
        times. The counter's type is `type`, else that of `stop` or `start`, untyped counting as
        signed, else ``u32`` (``s32`` for a negative step).
        """
        self._unguarded("k.loop")
        place = self._emitter.here()
        if not integer(step):
            raise PtxError(f"the step of a loop is a number other than 0, got {show(step)}", place)
        if type is None:
            registers = [v for v in (stop, start) if isinstance(v, Reg)]
            type = registers[0].type if registers else ("u32" if step > 0 else "s32")
        type = counted(type)
        refuse_endless(start, stop, step, type, place)
        frame = outside(sys._getframe(1))
        counter: Reg = self._emitter.emit(f"mov.{type}", (start,), None, frame)
        label = Label(self._unique(name), place)
        self._emitter.body.append(label)
        if not unroll:
            self._emitter.body.append(Pragma("nounroll"))
        try:
            yield counter
        finally:
            self._emitter.emit(f"add.{type}", (counter, step), counter, frame)
            test = f"setp.{'lt' if step > 0 else 'gt'}.{type}"
            self._emitter.guard = self._emitter.emit(test, (counter, stop), None, frame)
            self._emitter.emit("bra", (label,), None, frame)
            self._emitter.guard = None

    def label(self, name: str) -> Label:
        """Place a label here and return it, to branch back to."""
        label = Label(self._unique(name), self._emitter.here())
        self._emitter.body.append(label)
        return label

    def forward(self, name: str) -> Label:
        """A label to branch forward to; ``k.place(label)`` puts it down."""
        return Label(self._unique(name), self._emitter.here())

    def place(self, label: Label) -> None:
        """Put a label of ``k.forward`` down here."""
        if not isinstance(label, Label):
            raise PtxError(
                f"k.place takes a label of k.forward, got {show(label)}", self._emitter.here()
            )
        if any(s is label for s in self._emitter.body if isinstance(s, Label)):
            raise PtxError(f"the label {label} is placed already", self._emitter.here())
        self._emitter.body.append(label)

    def pragma(self, text: str) -> None:
        """``.pragma "text";`` at this point of the body."""
        if not isinstance(text, str) or not re.fullmatch(r"[ !#-\[\]-~]*", text):
            raise PtxError(
                f"a pragma is a str of ASCII without quotes, got {text!r}", self._emitter.here()
            )
        self._emitter.body.append(Pragma(text))

    def _jump(self, target: Label) -> None:
        variant = isa.resolve("bra")[0]
        self._emitter.body.append(
            Instruction("bra", (target,), self._emitter.guard, variant, target.place)
        )

    def _require_predicate(self, what: str, predicate: object) -> None:
        place = self._emitter.here()
        register = predicate.reg if isinstance(predicate, Not) else predicate
        if not isinstance(register, Reg) or register.type != "pred":
            raise PtxError(f"{what} expected a predicate, got {show(predicate)}", place)
        if register.owner is not self._emitter:
            raise PtxError(f"{register} is a register of another kernel than {self.name}", place)

    def _unguarded(self, what: str) -> None:
        if self._emitter.guard is not None:
            raise PtxError(
                f"{what} may not stand under the guard @{self._emitter.guard}: "
                "control flow has its own predicate",
                self._emitter.here(),
            )

    def _unique(self, name: str) -> str:
        return self._names.unique(name, "label", self._emitter.here())

    # ------------------------------------------------------------ registers and memory

    def reg(self, type: str, count: int | None = None) -> Any:
        """A new register of `type`, or a tuple of `count`; nothing is emitted."""
        if register_type(type) not in FUNDAMENTAL:
            raise PtxError(f".{type} is no type of a register", self._emitter.here())
        held = register_type(type)
        if count is None:
            return self._emitter.register(held)
        many = parameters.whole(count, "a count of registers", self._emitter.here(), least=0)
        return tuple(self._emitter.register(held) for _ in range(many))

    def shared(
        self, name: str, type: str, count: int | Sequence[int] = 1, *, align: int | None = None
    ) -> Symbol:
        """A shared array of `count` elements (or of that shape), `align` bytes; returns its name.

        ``tile + 16`` is an address 16 bytes on; ``k.mov.u32(tile)`` brings it into a register.
        """
        return self._variables.declare("shared", name, type, count, align, self.here())

    def local(
        self, name: str, type: str, count: int | Sequence[int] = 1, *, align: int | None = None
    ) -> Symbol:
        """An array in each thread's local memory; as :meth:`shared`."""
        return self._variables.declare("local", name, type, count, align, self.here())

    def dynamic_shared(self, name: str, type: str = "b8", *, align: int = 16) -> Symbol:
        """The shared memory whose size the launch gives, after all static arrays."""
        return self._variables.declare_dynamic(name, type, align, self.here())

    def alignment(self, variable: Symbol) -> int | None:
        """The alignment in bytes that a variable of this kernel is declared with."""
        return self._variables.alignment(variable)

    def here(self) -> Place:
        """The author's line that runs now, for errors of what is built on a kernel."""
        return self._emitter.here()

    # ------------------------------------------------------------ parameters

    def params(self) -> tuple[Any, ...]:
        """Every parameter in a register, in order.

        Emits ``ld.param`` for each; for a pointer ``cvta.to.SPACE`` too; for a tensor map or an
        array ``mov`` of its address and ``cvta.param``, which makes that address generic.
        """
        frame = sys._getframe(1)
        return tuple(parameters.load(self._emitter, spec, frame) for spec in self._specs.values())

    def param(self, name: str) -> Any:
        """One parameter by name, as :meth:`params` gives it."""
        if name not in self._specs:
            known = ", ".join(self._specs) or "none"
            raise PtxError(
                f"{self.name} has no parameter {name}; it has {known}", self._emitter.here()
            )
        return parameters.load(self._emitter, self._specs[name], sys._getframe(1))

    def global_index(self, axis: str = "x") -> Reg:
        """This thread's index in the whole grid along `axis`, a ``u32``.

        Emits ``mov.u32`` of %ctaid, %ntid and %tid, and ``mad.lo.u32``.
        """
        frame = sys._getframe(1)
        ctaid, ntid, tid = (
            self._emitter.emit("mov.u32", (Special(f"%{name}.{axis}"),), None, frame)
            for name in ("ctaid", "ntid", "tid")
        )
        index: Reg = self._emitter.emit("mad.lo.u32", (ctaid, ntid, tid), None, frame)
        return index

    def segment_mask(self, width: int) -> Reg:
        """The member mask of this thread's logical warp: the `width` lanes, a power of two up to
        32, that it shares a segment with, a ``b32``. Lane 13 of segments of 8 gets 0x0000FF00.

        Emits ``mov.u32`` of %laneid, ``and.b32`` with the first lanes of segments and ``shl.b32``
        of a segment's lanes; one ``mov.b32`` where all 32 are one segment.
        """
        if width not in (1, 2, 4, 8, 16, 32):
            raise PtxError(
                f"a logical warp has 1, 2, 4, 8, 16 or 32 lanes, not {width!r}",
                self._emitter.here(),
            )
        frame, lanes = sys._getframe(1), (1 << width) - 1
        if width == 32:
            whole: Reg = self._emitter.emit("mov.b32", (lanes,), None, frame)
            return whole
        lane = self._emitter.emit("mov.u32", (Special("%laneid"),), None, frame)
        first = self._emitter.emit("and.b32", (lane, 32 - width), None, frame)
        mask: Reg = self._emitter.emit("shl.b32", (lanes, first), None, frame)
        return mask

    # ------------------------------------------------------------ directives

    def maxntid(self, x: int, y: int = 1, z: int = 1) -> None:
        """``.maxntid``: the most threads a launch may give a CTA."""
        self._directives.add("maxntid", (x, y, z), self.here())

    def reqntid(self, x: int, y: int = 1, z: int = 1) -> None:
        """``.reqntid``: the threads every launch must give a CTA."""
        self._directives.add("reqntid", (x, y, z), self.here())

    def minnctapersm(self, count: int) -> None:
        """``.minnctapersm``: how many CTAs should fit on one SM."""
        self._directives.add("minnctapersm", (count,), self.here())

    def maxnreg(self, count: int) -> None:
        """``.maxnreg``: the most registers a thread may use."""
        self._directives.add("maxnreg", (count,), self.here())

    def reqnctapercluster(self, x: int, y: int = 1, z: int = 1) -> None:
        """``.reqnctapercluster``: the CTAs of a cluster."""
        self._directives.add("reqnctapercluster", (x, y, z), self.here())

    # ------------------------------------------------------------ the finished function

    def function(self) -> Function:
        """The kernel as it stands, unchecked."""
        declared = [
            Registers(type, PREFIXES[type], count + 1)
            for type, count in self._emitter.counts.items()
        ]
        return Function(
            self.name,
            tuple(spec.parameter for spec in self._specs.values()),
            (*declared, *self._variables.own, *self._emitter.body),
            directives=tuple(self._directives.arguments.items()),
            place=self._place,
            directive_places=self._directives.places,
        )

    def items(self) -> tuple[Item, ...]:
        """The checked kernel and the module variables it needs; the first error found is raised."""
        for mistake in self.mistakes():
            raise mistake
        function = self.function()
        checker.require_sound(function, self._variables.external)
        return (*self._variables.external, function)

    def unchecked(self) -> tuple[Item, ...]:
        """The same as it stands, for ``ptx.check``, which tells every mistake and raises none."""
        return (*self._variables.external, self.function())

    def mistakes(self) -> Iterator[PtxError]:
        """What is wrong with how it was built so far, which its statements do not show."""
        return unended(self)

    def __str__(self) -> str:
        """Its PTX as it stands, finished or not, below a comment for each mistake that is in it;
        ``str(ptx.Module(k))`` raises the first of these instead.
        """
        module = Module(*self.unchecked())
        wrong = [found for found in checker.check(self) if found.severity == "error"]
        comments = textwrap.indent("\n".join(map(str, wrong)), "// ")
        return f"{comments}\n{module}" if wrong else str(module)

    def __repr__(self) -> str:
        written = len(self._emitter.body)
        return f"<ptx kernel {self.name}({', '.join(self._specs)}), {written} statements so far>"
