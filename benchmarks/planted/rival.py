"""The same mistakes in pyptx: the calls of a kernel, passed on to its dot chains one by one.

``k.add.s32(a, b)`` becomes a register and ``ptx.inst.add.s32(register, a, b)``: the instruction,
its modifiers and its operands are the author's. What pyptx records as an issue (its chains do not
raise) counts as found on the line that ran, and so does any exception.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

try:
    import pyptx.ptx as chains
    from pyptx import reg as registers
    from pyptx import types
    from pyptx._trace import trace_scope

    VERSION = __import__("pyptx").__version__
except ImportError:
    VERSION = ""

MISSING = "pyptx is not installed here: pip install pyptx, to have its count beside ours"

SINK = "_"


class Inexpressible(Exception):
    """A part of the mistake has no counterpart in pyptx."""


class Module:
    """Stands for :class:`ptx.Module`; pyptx has no modules of several kernels, nor targets here."""

    def __init__(self, *kernels: Any, target: str | None = None) -> None:
        raise Inexpressible("a module with a target, or of several kernels")


class Address:
    def __init__(self, base: Any, offset: int) -> None:
        self.base, self.offset = base, offset

    def __add__(self, other: Any) -> Any:
        if isinstance(other, int):
            return Address(self.base, self.offset + other)
        return self.base + other


class Pointer:
    """A pointer in a register; `+` with a number moves the address, as ours does."""

    def __init__(self, register: Any) -> None:
        self.register = register

    def __add__(self, other: Any) -> Any:
        if isinstance(other, int):
            return Address(self.register, other)
        return Pointer(self.register + _value(other))


class Kernel:
    """What the planted kernels call, on a pyptx trace."""

    def __init__(self, name: str, /, **params: str) -> None:
        self.specs = params
        self.guard: Any = None
        self.labels = 0
        self.found: dict[int, str] = {}
        self.scope = trace_scope()
        self.context = self.scope.__enter__()
        KERNELS.append(self)

    # ------------------------------------------------------------ instructions

    def __getattr__(self, name: str) -> Any:
        if name in ("tid", "ntid", "ctaid"):
            return Axes(name)
        if name == "laneid":
            return chains.special.laneid()
        return Chain(self, (name,))

    def emit(self, words: tuple[str, ...], sources: tuple[Any, ...], out: Any) -> Any:
        operands = [_operand(source, words) for source in sources]
        result: Any = None
        if _writes(words):
            if out is None:
                result = _results(words)
                operands.insert(0, list(result) if isinstance(result, tuple) else result)
            else:
                operands.insert(0, _operand(out, words))
                result = out
        chain: Any = chains.inst
        for word in words:
            chain = getattr(chain, word)
        chain(*operands, pred=self.guard) if self.guard is not None else chain(*operands)
        self.note()
        return result

    def note(self) -> None:
        """Keeps what pyptx has recorded since, with the author's line."""
        issues = getattr(self.context, "validation_issues", [])
        errors = [issue for issue in issues if issue.severity == "error"]
        if errors:
            self.found.setdefault(_author_line(), str(errors[0]))
            issues.clear()

    # ------------------------------------------------------------ what the helpers emit

    def params(self) -> tuple[Any, ...]:
        return tuple(self.param(name) for name in self.specs)

    def param(self, name: str) -> Any:
        """A parameter in a register; what pyptx says of this prologue is not the author's."""
        found = self._parameter(name)
        getattr(self.context, "validation_issues", []).clear()
        return found

    def _parameter(self, name: str) -> Any:
        if name not in self.specs:
            raise KeyError(name)
        spec = self.specs[name]
        if spec == "tensormap" or "[" in spec:
            return Pointer(registers.scalar(types.b64))
        space, dot, type = spec.partition("@")[0].rpartition(".")
        if not dot:
            register = registers.scalar(_type(type))
            getattr(chains.inst.ld.param, type)(register, chains.addr(name))
            return register
        register = registers.scalar(types.b64)
        chains.inst.ld.param.u64(register, chains.addr(name))
        if space != "generic":
            getattr(chains.inst.cvta.to, "global_" if space == "global" else space).u64(
                register, register
            )
        return Pointer(register)

    def global_index(self, axis: str = "x") -> Any:
        parts = [registers.scalar(types.u32) for _ in range(4)]
        for part, name in zip(parts, ("ctaid", "ntid", "tid"), strict=False):
            chains.inst.mov.u32(part, getattr(getattr(chains.special, name), axis)())
        chains.inst.mad.lo.u32(parts[3], *parts[:3])
        return parts[3]

    def reg(self, type: str, count: int | None = None) -> Any:
        if count is None:
            return registers.scalar(_type(type))
        return tuple(registers.scalar(_type(type)) for _ in range(count))

    def shared(self, name: str, type: str, count: Any = 1, *, align: int | None = None) -> Any:
        chains.var("shared", _type(type), name, size=count, align=align)
        return Symbol(name)

    @contextlib.contextmanager
    def when(self, predicate: Any) -> Iterator[None]:
        chains._pred(predicate)
        self.guard = predicate
        try:
            yield
        finally:
            self.guard = None

    @contextlib.contextmanager
    def branch(self, predicate: Any) -> Iterator[None]:
        with chains.if_(predicate):
            yield

    @contextlib.contextmanager
    def loop(self, start: Any, stop: Any, step: int = 1, *, name: str = "loop") -> Iterator[Any]:
        counter = registers.scalar(types.u32)
        chains.inst.mov.u32(counter, start)
        chains.label(name)
        yield counter
        chains.inst.add.u32(counter, counter, step)
        again = registers.scalar(types.pred)
        chains.inst.setp.lt.u32(again, counter, stop)
        chains.bra(name, pred=again)

    def label(self, name: str) -> str:
        chains.label(name)
        return name

    def forward(self, name: str) -> str:
        return name

    def place(self, label: str) -> None:
        chains.label(label)

    def bra(self, label: str) -> None:
        chains.bra(label, pred=self.guard)

    def ret(self) -> None:
        chains.ret(pred=self.guard)

    def directive(self, *arguments: int) -> None:
        raise Inexpressible("a performance directive beside the trace")

    maxntid = minnctapersm = maxnreg = reqnctapercluster = directive


KERNELS: list[Kernel] = []


class Axes:
    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, axis: str) -> Any:
        return getattr(getattr(chains.special, self.name), axis)()


class Symbol:
    """A variable; `+` moves the address."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __add__(self, offset: int) -> Address:
        return Address(self.name, offset)


class Chain:
    def __init__(self, kernel: Kernel, words: tuple[str, ...]) -> None:
        self.kernel, self.words = kernel, words

    def __getattr__(self, word: str) -> Chain:
        if word.startswith("__"):
            raise AttributeError(word)
        return Chain(self.kernel, (*self.words, word))

    def __call__(self, *sources: Any, out: Any = None) -> Any:
        return self.kernel.emit(self.words, sources, out)


_WRITTEN = frozenset(
    "mov ld mad mul fma add sub max min setp selp cvt cvta and_ or_ shl shr shfl ex2 rcp ldmatrix "
    "mma atom activemask".split()
)
_ADDRESSES = frozenset("ld st red atom cp ldmatrix mbarrier".split())


def _writes(words: tuple[str, ...]) -> bool:
    if words[0] == "mbarrier":
        return "try_wait" in words or "arrive" in words
    return words[0] in _WRITTEN


def _results(words: tuple[str, ...]) -> Any:
    """Registers for the result, of the type that the last type word says."""
    if words[0] == "setp" or "try_wait" in words:
        return registers.scalar(types.pred)
    named = [word for word in words if hasattr(types, word)]
    if words[0] == "cvt" and len(named) > 1:
        named = named[:1]
    type = _type(named[-1]) if named else types.b32
    if words[0] == "mul" and "wide" in words:
        type = types.u64
    count = next((int(w[1:]) for w in words if w in ("v2", "v4", "x1", "x2", "x4")), 0)
    count = 4 if words[0] == "mma" else count
    if count:
        return tuple(registers.scalar(type) for _ in range(count))
    return registers.scalar(type)


def _type(name: str) -> Any:
    return getattr(types, name)


def _value(operand: Any) -> Any:
    return operand.register if isinstance(operand, Pointer) else operand


def _operand(operand: Any, words: tuple[str, ...]) -> Any:
    """An operand as pyptx takes it: addresses in brackets where the instruction has addresses."""
    if isinstance(operand, tuple):
        if any(isinstance(item, tuple) for item in operand):
            raise Inexpressible("coordinates, which the typed calls of pyptx alone take")
        return [_value(item) for item in operand]
    if isinstance(operand, Address):
        return chains.addr(operand.base, operand.offset)
    if isinstance(operand, Symbol):
        return chains.addr(operand.name) if words[0] in _ADDRESSES else operand.name
    if isinstance(operand, Pointer):
        if words[0] in _ADDRESSES:
            return chains.addr(operand.register)
        return operand.register
    return operand


def _author_line() -> int:
    frame = inspect.currentframe()
    while frame is not None and (frame.f_code.co_filename in (__file__, contextlib.__file__)):
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def names(build: Any, file: str) -> dict[int, str] | None:
    """The lines that pyptx finds fault with while ``build()`` runs; None where pyptx has no way to
    say it."""
    KERNELS.clear()
    found: dict[int, str] = {}
    try:
        build()
    except Inexpressible:
        return None
    except Exception as error:
        trace, line = error.__traceback__, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == file:
                line = trace.tb_lineno
            trace = trace.tb_next
        found[line] = f"{type(error).__name__}: {error}"
    finally:
        for kernel in KERNELS:
            kernel.scope.__exit__(None, None, None)
            found |= kernel.found
    return found


GLOBALS = {"ptx": sys.modules[__name__], "Kernel": Kernel}
"""The names that a planted kernel uses, with pyptx behind them."""
