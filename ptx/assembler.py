"""PTX to a cubin through ptxas: bytes, what each kernel needs, the log, a disk cache.

**Lines.** ptxas always runs with ``-lineinfo`` on text without ``.loc`` and ``.file``: the cubin
then says for each instruction which line of PTX it comes from, and :class:`Cubin` holds the Python
place of each line of PTX beside the bytes. So the bytes, and their key in the cache, do not change
when a kernel moves within its Python file, and :mod:`ptx.sass` shows the right Python line all the
same. Tools that read places from the cubin itself (Nsight Compute, cuda-gdb, compute-sanitizer)
need them inside: ``lineinfo=True``, or ``PTX_LINEINFO=1`` in the environment, keeps ``.loc`` and
``.file`` in what is assembled, and then in the key too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptx import cache, elf, targets, toolchain
from ptx.errors import Place, PtxError
from ptx.ir import Module
from ptx.requirements import unmet

if TYPE_CHECKING:
    from ptx.ir import Buildable, Parameter

_FORMAT = 1
"""Of a cache entry; part of its key."""


class AssemblerError(PtxError):
    """ptxas refused the text. ``diagnostics`` has what it said, in its order."""

    def __init__(self, diagnostics: tuple[AssemblerDiagnostic, ...], log: str) -> None:
        first, *others = diagnostics
        message = "\n".join([f"ptxas: {first.message}", *first.quote, *map(str, others)])
        super().__init__(message, first.place)
        self.diagnostics = diagnostics
        self.log = log


@dataclass(frozen=True)
class AssemblerDiagnostic:
    """One message of ptxas."""

    message: str
    place: Place | None = None
    """The author's: a Python line for a built module, else a line of the text."""
    line: int = 0
    """Of the assembled PTX, counted from 1; 0 where ptxas names none."""
    source: str = ""
    """That line."""

    @property
    def quote(self) -> list[str]:
        if not self.line:
            return []
        known = self.place is not None and self.place.line == self.line
        where = "" if known else f"    (line {self.line} of the PTX)"
        return [f"  {self.source.strip()}{where}"]

    def __str__(self) -> str:
        head = f"{self.place}: " if self.place else ""
        return "\n".join([f"{head}ptxas: {self.message}", *self.quote])


@dataclass(frozen=True)
class KernelInfo:
    """What one kernel needs, by ptxas or, for a cubin without its log, by the cubin's headers."""

    name: str
    registers: int
    """A thread."""
    spill_stores: int | None
    """Bytes a thread; None where only the log would tell."""
    spill_loads: int | None
    """Bytes a thread; None where only the log would tell."""
    shared_bytes: int
    """Static shared memory, a CTA."""
    local_bytes: int
    """Local memory a thread: the stack with what is called, arrays and spills included."""
    stack_bytes: int
    """The kernel's own stack frame, a thread."""
    constant_bytes: int
    """Constant banks of this kernel, bank 0 with its parameters included."""
    barriers: int | None
    """Named barriers, a CTA; None where neither log nor cubin tells."""
    threads: int | None = None
    """A CTA's, by ``.reqntid`` or at most by ``.maxntid``; None where the kernel has neither."""
    fields: dict[str, int | str] = field(default_factory=dict)
    """All that ``ptxas -v`` said, by its own words, those that this version does not know too."""


@dataclass(frozen=True)
class Cubin:
    """A device image and what is known of it. ``data`` is what ptxas wrote, to the byte."""

    data: bytes = field(repr=False)
    target: str
    """What it was assembled for, ``"sm_90a"``."""
    log: str = field(default="", repr=False)
    """What ptxas printed."""
    text: str = field(default="", repr=False)
    """The PTX that was assembled; "" where it is not known."""
    places: tuple[Place | None, ...] = field(default=(), repr=False)
    """The author's place of each line of `text`, the first line's at index 0."""
    version: str = ""
    """Of ptxas, ``"13.0.88"``."""
    flags: tuple[str, ...] = ()
    """All that ptxas was given besides the file and the target."""
    cached: bool = field(default=False, compare=False)
    """Whether it came from the disk cache."""
    source: Module | None = field(default=None, repr=False, compare=False)
    """The module that was assembled, where it was one."""

    @classmethod
    def read(cls, file: str | os.PathLike[str] | bytes) -> Cubin:
        """A cubin from a file or from its bytes. Raises :class:`ptx.PtxError` for anything else."""
        data = file if isinstance(file, bytes) else Path(file).read_bytes()
        image = elf.Image(data)
        version, flags = image.made_by
        return cls(data, image.target, "", "\n".join(image.text), (), version, flags)

    @property
    def sha256(self) -> str:
        """Of `data`, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def image(self) -> elf.Image:
        return elf.Image(self.data)

    @cached_property
    def kernels(self) -> dict[str, KernelInfo]:
        """By name, in the cubin's order."""
        said = read_log(self.log)
        return {name: _kernel_info(self.image, name, said.get(name)) for name in self.image.kernels}

    @cached_property
    def module(self) -> Module | None:
        """The module it was made from, parsed where it was text; None where no text is known."""
        if self.source is not None or not self.text:
            return self.source
        from ptx.text import parse

        return parse(self.text)

    @cached_property
    def parameters(self) -> dict[str, tuple[Parameter, ...]]:
        """The parameters of each kernel whose source is known."""
        module = self.module
        return {name: kernel.params for name, kernel in module.kernels.items()} if module else {}

    @property
    def kernel(self) -> KernelInfo:
        """The kernel of a cubin that has one; else :class:`AttributeError` names them all."""
        if len(self.kernels) != 1:
            names = ", ".join(self.kernels) or "none"
            raise AttributeError(f"{len(self.kernels)} kernels ({names}): ask .kernels[name]")
        return next(iter(self.kernels.values()))

    @property
    def registers(self) -> int:
        return self.kernel.registers

    @property
    def spill_stores(self) -> int | None:
        return self.kernel.spill_stores

    @property
    def spill_loads(self) -> int | None:
        return self.kernel.spill_loads

    @property
    def shared_bytes(self) -> int:
        return self.kernel.shared_bytes

    @property
    def local_bytes(self) -> int:
        return self.kernel.local_bytes

    @property
    def stack_bytes(self) -> int:
        return self.kernel.stack_bytes

    @property
    def constant_bytes(self) -> int:
        return self.kernel.constant_bytes

    @property
    def barriers(self) -> int | None:
        return self.kernel.barriers


def assemble(
    module: Module | Buildable | str,
    target: str | None = None,
    *,
    optimize: int = 3,
    flags: Sequence[str] = (),
    allow: Sequence[str] = (),
    lineinfo: bool | None = None,
    cache: bool = True,
    ptxas: str | os.PathLike[str] | None = None,
    file: str = "<ptx>",
) -> Cubin:
    """Assembles a module, a kernel under construction or PTX text.

    ``target`` is as ``"sm_90a"``; left out, it is the module's own, which is the smallest that its
    instructions allow, or the next one that this ptxas makes code for. ``flags`` go to ptxas as
    they are. ptxas's messages C75xx (wgmma serialised, setmaxnreg ignored) fail the build, except
    those that ``allow`` names, as in ``("C7517",)``. ``lineinfo`` puts the Python places inside
    the cubin (see the module's text). ``file`` names text in messages.

    Raises :class:`AssemblerError` with every message of ptxas and the author's places, and
    :class:`ptx.PtxError` where there is no ptxas, the target does not offer what a module needs,
    or the text is not ASCII.
    """
    for name, words in (("flags", flags), ("allow", allow)):
        if isinstance(words, str):
            raise PtxError(f"{name} is a sequence of words, as ({words!r},), not a str")
    if isinstance(module, bytes):
        raise TypeError("PTX text is a str; the bytes of a cubin are read by ptx.Cubin.read")
    if lineinfo is None:
        lineinfo = os.environ.get("PTX_LINEINFO", "0") not in ("", "0")
    source, text, places = _text(module, lineinfo, file)
    _refuse_bytes(text, places)
    if source is not None:
        _refuse_target(source, target or source.target)
    tool = toolchain.find_tool("ptxas", ptxas)
    target = _target(target, text, tool, file)
    options = ("-v", "-lineinfo", f"-O{optimize}", *flags)
    try:
        data, log, cached = _image(text, target, tool, options, cache, places)
    except AssemblerError as error:
        if source is None and not any(one.place for one in error.diagnostics):
            with suppress(PtxError):
                source = _parsed(text, file)
            if source is not None:
                _refuse_target(source, target)
        raise
    _refuse_lost_performance(log, text, places, tuple(allow))
    if isinstance(module, str):
        places = places_of(module, file)
    return Cubin(data, target, log, text, places, tool.version, options, cached, source)


# ---------------------------------------------------------------- text


def _text(
    module: Module | Buildable | str, lineinfo: bool, file: str
) -> tuple[Module | None, str, tuple[Place | None, ...]]:
    if isinstance(module, str):
        text = module if lineinfo else _without_lines(module)
        return None, text, _lines_of(text, file)
    from ptx.text import render

    made = module if isinstance(module, Module) else Module(module)
    rendered = render(made, loc=lineinfo)
    # A parsed module has .loc lines of its own.
    text = rendered.text if lineinfo else _without_lines(rendered.text)
    return made, text, rendered.places


def _lines_of(text: str, file: str) -> tuple[Place | None, ...]:
    return tuple(Place(file, line) for line in range(1, text.count("\n") + 2))


_FILE = re.compile(r'^[ \t]*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_LOC = re.compile(r"^[ \t]*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FUNCTION = re.compile(r"\.(?:entry|func)\b")


def places_of(text: str, file: str = "<ptx>") -> tuple[Place | None, ...]:
    """Where each line of PTX comes from by the ``.loc`` that rules it, else the line itself."""
    files = dict(_FILE.findall(text))
    if not files:
        return _lines_of(text, file)
    places: list[Place | None] = []
    here: Place | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if match := _LOC.match(line):
            name = files.get(match[1])
            here = Place(name, int(match[2]), int(match[3])) if name else None
        elif _FUNCTION.search(line):
            here = None
        places.append(here or Place(file, number))
    return tuple(places)


def _without_lines(text: str) -> str:
    """The text with ``.loc`` and ``.file`` lines emptied, so that the others keep their numbers."""
    return re.sub(r"^[ \t]*\.(?:loc|file)\b[^\n;]*$", "", text, flags=re.MULTILINE)


def _refuse_bytes(text: str, places: tuple[Place | None, ...]) -> None:
    """ptxas ends without a column at the first NUL or non-ASCII byte; say where and which."""
    match = re.search(r"[^\x01-\x7f]", text)
    if not match:
        return
    line = text.count("\n", 0, match.start())
    column = match.start() - text.rfind("\n", 0, match.start())
    place = places[line] if line < len(places) else None
    what = "a NUL" if match[0] == "\0" else f"{match[0]!r} (U+{ord(match[0]):04X})"
    source = text.splitlines()[line].strip() if match[0] != "\0" else ""
    raise PtxError(
        f"PTX is ASCII text, without a NUL at its end or inside: column {column} holds {what}"
        + (f"\n  {source}" if source else ""),
        place and place._replace(column=column if place.file.endswith(("ptx>", ".ptx")) else 0),
    )


def _parsed(text: str, file: str) -> Module:
    from ptx.text import parse

    return parse(text, file)


def _refuse_target(module: Module, target: str | None) -> None:
    """ptxas tells of a target that lacks an instruction without a line, or not at all."""
    if target in targets.INTRODUCED:
        for need, message in unmet(module, target):
            raise PtxError(message, need.place)


def _target(asked: str | None, text: str, tool: toolchain.Tool, file: str) -> str:
    """What to make code for: as asked, else the text's target, else the next one that there is."""
    known = toolchain.generates(tool)
    match = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    target = asked or (match[1] if match else None)
    if target is None:
        raise PtxError("no .target directive, and no target was given", Place(file, 1))
    if target in known or not known:
        return target
    if not asked and (plain := re.fullmatch(r"sm_(\d+)", target)):
        for name in known:
            if name[3:].isdigit() and int(name[3:]) > int(plain[1]):
                return name
    raise PtxError(
        f"{tool.name} {tool.version} makes no code for {target}; it does for {', '.join(known)}"
    )


# ---------------------------------------------------------------- ptxas


def _image(
    text: str,
    target: str,
    tool: toolchain.Tool,
    options: tuple[str, ...],
    use_cache: bool,
    places: tuple[Place | None, ...],
) -> tuple[bytes, str, bool]:
    """The bytes, the log, and whether they came from the cache."""
    use_cache = use_cache and not cache.disabled()
    asked = [_FORMAT, text, target, tool.version, options]
    key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    if use_cache and (entry := cache.read(key)):
        head, _, data = entry.partition(b"\n")
        return data, json.loads(head)["log"], True
    data, log = _run(text, target, tool, options, places)
    if use_cache:
        cache.write(key, json.dumps({"log": log}).encode() + b"\n" + data)
    return data, log, False


def _run(
    text: str,
    target: str,
    tool: toolchain.Tool,
    options: tuple[str, ...],
    places: tuple[Place | None, ...],
) -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory(prefix="ptx-") as folder:
        source, made = Path(folder, "module.ptx"), Path(folder, "module.cubin")
        source.write_bytes(text.encode("ascii"))
        command = [str(tool.path), *options, "-arch", target, source.name, "-o", made.name]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        log = done.stdout + done.stderr
        if done.returncode == 0 and made.exists():
            return made.read_bytes(), log
    diagnostics = _errors(log, text, places)
    if not diagnostics:
        how = f"a signal ({-done.returncode})" if done.returncode < 0 else f"{done.returncode}"
        said = log.strip() or "nothing"
        diagnostics = (AssemblerDiagnostic(f"{tool} ended with {how} and said: {said}"),)
    raise AssemblerError(diagnostics, log)


_ERROR = re.compile(
    r"^ptxas(?: [^\n]*?, line (?P<line>\d+);)?\s*(?:error|fatal)\s*: (?P<message>.*)$", re.MULTILINE
)
_ABORTED = "Ptx assembly aborted due to errors"
_LOST = re.compile(r"\((?P<code>C75\d\d)\)\s*(?P<message>.*)")
_AROUND = re.compile(r"\bline (\d+)\b")


def _errors(
    log: str, text: str, places: tuple[Place | None, ...]
) -> tuple[AssemblerDiagnostic, ...]:
    return tuple(
        _diagnostic(match["message"], int(match["line"] or 0), text, places)
        for match in _ERROR.finditer(log)
        if match["message"] != _ABORTED
    )


def _diagnostic(
    message: str, line: int, text: str, places: tuple[Place | None, ...]
) -> AssemblerDiagnostic:
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return AssemblerDiagnostic(message)
    place = places[line - 1] if line <= len(places) else None
    return AssemblerDiagnostic(message, place, line, lines[line - 1])


def _refuse_lost_performance(
    log: str, text: str, places: tuple[Place | None, ...], allow: tuple[str, ...]
) -> None:
    found = []
    for match in _LOST.finditer(log):
        if match["code"] in allow:
            continue
        around = _AROUND.search(match["message"])
        message = f"{match['code']}: {match['message']} (allow=({match['code']!r},) takes it)"
        found.append(_diagnostic(message, int(around[1]) if around else 0, text, places))
    if found:
        raise AssemblerError(tuple(found), log)


# ---------------------------------------------------------------- ptxas -v


_COMPILING = re.compile(r"Compiling entry function '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")


def read_log(log: str) -> dict[str, dict[str, int | str]]:
    """What ``ptxas -v`` says of each function, by its own words: ``{"k": {"registers": 12, ...}}``.

    An item is a number before words ("1024 bytes smem", "used 4 barriers") or words before a value
    ("Compile time = 2.3 ms"). "used" and "bytes" are left out of the names; no item is dropped.
    """
    found: dict[str, dict[str, int | str]] = {}
    entry: str | None = None
    current: dict[str, int | str] | None = None
    for line in log.splitlines():
        if match := _COMPILING.search(line):
            entry = match[1]
            current = found.setdefault(entry, {})
        elif match := _PROPERTIES.search(line):
            current = found.setdefault(match[1], {})
        elif current is not None:
            if "Used " in line or "Compile time" in line:  # of the entry, whatever came between
                current = found[entry] if entry else current
            _read_items(line, current)
    return found


def _read_items(line: str, into: dict[str, int | str]) -> None:
    if line.startswith("ptxas"):
        kind, _, line = line.partition(":")
        if "info" not in kind or line.lstrip().startswith("("):
            return
    for item in line.split(","):
        item = item.strip()
        if match := re.fullmatch(r"(?:[Uu]sed )?(\d+) (?:bytes )?(.+)", item):
            into[match[2]] = int(match[1])
        elif "=" in item:
            name, _, value = item.partition("=")
            into[name.strip()] = value.strip()
        elif item:
            into[item] = ""


def _kernel_info(image: elf.Image, name: str, said: dict[str, int | str] | None) -> KernelInfo:
    fields = said or {}

    def number(word: str, otherwise: Any) -> Any:
        value = fields.get(word, otherwise)
        return value if isinstance(value, int) else otherwise

    unsaid = 0 if said else None
    frame = number("stack frame", image.frame_bytes(name))
    stack = max(frame, number("cumulative stack size", image.stack_bytes(name)))
    return KernelInfo(
        name=name,
        registers=number("registers", image.registers(name)),
        spill_stores=number("spill stores", unsaid),
        spill_loads=number("spill loads", unsaid),
        shared_bytes=number("smem", 0 if said else image.shared_bytes(name)),
        local_bytes=stack + number("lmem", 0),
        stack_bytes=frame,
        constant_bytes=image.constant_bytes(name),
        barriers=number("barriers", 0 if said else image.barriers(name)),
        threads=image.threads(name),
        fields=fields,
    )
