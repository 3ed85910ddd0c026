"""Reads the machine code of a cubin: instructions, loops by name, counts, control codes.

nvdisasm prints the code together with the line of PTX that each instruction comes from (ptxas ran
with ``-lineinfo``; see :mod:`ptx.assembler`). A loop is a natural loop of the control flow: a back
edge, and all that can reach it without passing its header. Its name is that of the PTX label which
the back edge's branch jumps to; where ptxas moved that branch, that of the innermost PTX loop that
most of its instructions come from. ``k.loop(name="main")`` prints the label ``main``, so
``disassemble(cubin).loop("main")`` finds it.

The same PTX line leads to the author's Python line through :attr:`ptx.Cubin.places`; for a cubin
from a file the author's place is what its own line table says.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path

from ptx import toolchain
from ptx.assembler import Cubin, KernelInfo
from ptx.errors import Place, PtxError
from ptx.loops import Loop, Step, natural_loops

NONE = 7
"""A scoreboard's number in a control code that names none."""


@dataclass(frozen=True, slots=True)
class Control:
    """The scheduling bits of an instruction, bits 105 to 125 of its 128 (sm_70 and newer).

    Printed as in ``B--2---:R-:W0:Y:S04``: scoreboards waited for, the one released when the
    operands are read, the one released when the result is written, yield, stall in clocks.
    """

    stall: int
    yields: bool
    write: int
    read: int
    wait: int
    """A mask of six scoreboards."""
    reuse: int
    """A mask of operand slots kept in the reuse cache."""

    @classmethod
    def decode(cls, word: int) -> Control:
        """From an instruction's 128 bits."""
        bits = word >> 105
        return cls(
            stall=bits & 15,
            yields=not bits >> 4 & 1,
            write=bits >> 5 & 7,
            read=bits >> 8 & 7,
            wait=bits >> 11 & 63,
            reuse=bits >> 17 & 15,
        )

    def __str__(self) -> str:
        wait = "".join(str(i) if self.wait >> i & 1 else "-" for i in range(6))
        read, write = ("-" if n == NONE else str(n) for n in (self.read, self.write))
        return f"B{wait}:R{read}:W{write}:{'Y' if self.yields else '-'}:S{self.stall:02}"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One SASS instruction."""

    address: int
    """In bytes from the start of its kernel's code."""
    guard: str
    """``"@!P0"``, or "" where it is not predicated."""
    opcode: str
    """With its modifiers, ``"LDG.E.128"``."""
    operands: tuple[str, ...]
    word: int
    """Its 128 bits."""
    targets: tuple[int, ...] = ()
    """Addresses of the labels that it names."""
    line: int = 0
    """The line of PTX it comes from, counted from 1; 0 where that is not known."""
    ptx: str = ""
    """That line."""
    place: Place | None = None
    """The author's place of that line."""

    @property
    def control(self) -> Control:
        return Control.decode(self.word)

    @property
    def predicated(self) -> bool:
        return bool(self.guard)

    def matches(self, opcode: str, predicated: bool | None = None) -> bool:
        """Whether it is an ``opcode``: the same first word, and all the modifiers named.

        ``"LDG.128"`` is matched by LDG.E.128 and by LDG.E.LTC128B.128, ``"FFMA"`` not by FFMA2.
        ``predicated`` asks for a guard, or for none; None takes both.
        """
        if predicated is not None and self.predicated != predicated:
            return False
        have, want = self.opcode.split("."), opcode.split(".")
        return have[0] == want[0] and set(want) <= set(have)

    def __str__(self) -> str:
        operands = " " + ", ".join(self.operands) if self.operands else ""
        return f"{self.guard + ' ' if self.guard else ''}{self.opcode}{operands}"


@dataclass(frozen=True)
class Region:
    """A kernel, or a loop in it: its instructions in order, those of inner loops included."""

    name: str
    """Of the kernel, or of the loop's PTX label; its address, ``"0x90"``, where it has none."""
    instructions: tuple[Instruction, ...] = field(repr=False)
    depth: int = 0
    """0 is the kernel, 1 an outermost loop."""
    loops: tuple[Region, ...] = field(default=(), repr=False)
    """All loops inside, of every depth, by the address of their headers."""
    info: KernelInfo | None = field(default=None, repr=False)
    """What the kernel needs; None for a loop."""

    @property
    def address(self) -> int:
        return self.instructions[0].address

    @property
    def place(self) -> Place | None:
        """The author's place of the first instruction that has one."""
        return next((one.place for one in self.instructions if one.place), None)

    @property
    def own(self) -> tuple[Instruction, ...]:
        """The instructions that are in no inner loop."""
        inner = {one.address for loop in self.loops for one in loop.instructions}
        return tuple(one for one in self.instructions if one.address not in inner)

    @cached_property
    def opcodes(self) -> Counter[str]:
        """How often each opcode occurs, without its modifiers."""
        return Counter(one.opcode.partition(".")[0] for one in self.instructions)

    def find(self, opcode: str, predicated: bool | None = None) -> list[Instruction]:
        """The instructions that :meth:`Instruction.matches` takes."""
        return [one for one in self.instructions if one.matches(opcode, predicated)]

    def count(self, opcode: str, predicated: bool | None = None) -> int:
        """How many there are: ``count("FFMA")``, ``count("LDG.128", predicated=True)``."""
        return len(self.find(opcode, predicated))

    def has(self, opcode: str, predicated: bool | None = None) -> bool:
        return bool(self.find(opcode, predicated))

    def loop(self, name: str) -> Region:
        """The loop of that name. Raises :class:`ptx.PtxError` where it is not exactly one."""
        found = [loop for loop in self.loops if loop.name == name]
        if len(found) == 1:
            return found[0]
        there = ", ".join(
            f"{loop.name} (0x{loop.address:x}, {len(loop.instructions)} instructions)"
            for loop in found or self.loops
        )
        count = len(found) or "no"
        raise PtxError(
            f"{self.name} has {count} loops named {name!r}; there are: {there or 'none'}"
        )

    def summary(self) -> str:
        """A line for the region and one for each loop inside: sizes and what stands out."""
        rows = []
        for region in (self, *self.loops):
            loads = region.count("LDG") + region.count("LDGSTS")
            guarded = region.count("LDG", True) + region.count("LDGSTS", True)
            most = ", ".join(f"{n} {name}" for name, n in region.opcodes.most_common(6))
            rows.append(
                f"{'  ' * region.depth}{region.name}: {len(region.instructions)} instructions, "
                f"{region.count('BRA')} branches, {guarded} of {loads} global loads predicated "
                f"({most})"
            )
        return "\n".join(rows)

    def needs(self) -> str:
        """What the kernel needs, in a line."""
        info = self.info
        if info is None:
            return self.name
        spills = "spills unknown"
        if info.spill_stores is not None:
            spills = f"spills {info.spill_stores} bytes stored, {info.spill_loads} loaded"
        return (
            f"{self.name}: {info.registers} registers, {spills}, "
            f"{info.shared_bytes} bytes shared, {info.local_bytes} bytes local"
        )

    def listing(self, control: bool = False) -> str:
        """Every instruction with its PTX and its place; loops are opened and closed by name."""
        depths = Counter(one.address for loop in self.loops for one in loop.instructions)
        starts = [(loop.address, loop) for loop in self.loops]
        ends = {loop.instructions[-1].address for loop in self.loops}
        rows = []
        for one in self.instructions:
            rows += [f"{'  ' * loop.depth}{loop.name}:" for at, loop in starts if at == one.address]
            depth = depths[one.address] + self.depth
            bits = f"{one.control}  " if control else ""
            where = f"{one.place}  " if one.place else ""
            code = f"{'  ' * depth}{one}"
            rows.append(f"{one.address:#06x}  {bits}{code:<60}  // {where}{one.ptx}".rstrip(" /"))
            if one.address in ends:
                rows.append(f"{'  ' * depth}end")
        return "\n".join(rows)


@dataclass(frozen=True)
class Sass:
    """The disassembly of one cubin."""

    cubin: Cubin
    kernels: dict[str, Region]
    tool: str
    """The nvdisasm that read it, with version and place."""

    @property
    def kernel(self) -> Region:
        """The kernel of a cubin that has one. Raises :class:`ptx.PtxError` otherwise."""
        if len(self.kernels) != 1:
            names = ", ".join(self.kernels) or "none"
            raise PtxError(
                f"the cubin has {len(self.kernels)} kernels ({names}): ask .kernels[name]"
            )
        return next(iter(self.kernels.values()))

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        return self.kernel.instructions

    @property
    def loops(self) -> tuple[Region, ...]:
        return self.kernel.loops

    def loop(self, name: str) -> Region:
        return self.kernel.loop(name)

    def count(self, opcode: str, predicated: bool | None = None) -> int:
        return self.kernel.count(opcode, predicated)

    def has(self, opcode: str, predicated: bool | None = None) -> bool:
        return self.kernel.has(opcode, predicated)

    def header(self) -> str:
        """Which image this is, so that it can be told from another: target, tools, flags, hash."""
        made = f"ptxas {self.cubin.version} {' '.join(self.cubin.flags)}".strip()
        return (
            f"target {self.cubin.target}\n"
            f"made by {made if self.cubin.version else 'an unknown tool'}\n"
            f"read by {self.tool}\n"
            f"sha256 {self.cubin.sha256}"
        )


def disassemble(cubin: Cubin | bytes, nvdisasm: str | PathLike[str] | None = None) -> Sass:
    """The machine code of a cubin.

    Raises :class:`ptx.PtxError` where nvdisasm is missing or fails.
    """
    if isinstance(cubin, bytes):
        cubin = Cubin.read(cubin)
    tool = toolchain.find_tool("nvdisasm", nvdisasm)
    with tempfile.TemporaryDirectory(prefix="ptx-") as folder:
        image = Path(folder, "module.cubin")
        image.write_bytes(cubin.data)
        command = [str(tool.path), "-c", "-g", "-gp", "-hex", str(image)]
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    if done.returncode:
        raise PtxError(f"{tool} failed with {done.returncode}: {done.stderr.strip()}")
    ptx = Ptx(cubin.text)
    kernels = {}
    for name, code in read(done.stdout, cubin.text.split("\n"), cubin.places).items():
        if name in cubin.kernels:
            loops = _loops(code, ptx)
            kernels[name] = Region(name, code.instructions, 0, loops, cubin.kernels[name])
    return Sass(cubin, kernels, str(tool))


# ---------------------------------------------------------------- the text of nvdisasm


@dataclass(frozen=True)
class Code:
    """The instructions of one code section, and the addresses at which functions start."""

    instructions: tuple[Instruction, ...]
    entries: tuple[int, ...]


_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,]+),")
_FUNCTION = re.compile(r"^[ \t]*\.type\s+(\S+),@function", re.MULTILINE)
_LABEL = re.compile(r"([.$\w]+):\s*$")
_LINE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_PTX = ".nv_debug_ptx_txt"
"""What nvdisasm calls the file of a line of PTX."""

_INSTRUCTION = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]+)\*/\s+(?:(?P<guard>@!?U?P[T\d]+)\s+)?(?P<opcode>[\w.]+)\s*"
    r"(?P<operands>[^;]*?)\s*;\s*/\* 0x(?P<low>[0-9a-f]{16}) \*/"
)
_HIGH = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_NAMED = re.compile(r"`\(([^)]+)\)|\b(?:BRANCH_TARGETS|INDIRECT_CALL_TARGETS) ([^\"*]+)")


def read(
    listing: str, lines: list[str] | None = None, places: tuple[Place | None, ...] = ()
) -> dict[str, Code]:
    """What ``nvdisasm -c -g -gp -hex`` printed, by code section."""
    lines = lines or []
    found: dict[str, Code] = {}
    sections = re.split(r"(?m)^(?=\s*\.section\s)", listing)
    for section in sections:
        if match := _SECTION.match(section):
            found[match[1]] = _read_section(section, lines, places)
    return found


def _read_section(section: str, lines: list[str], places: tuple[Place | None, ...]) -> Code:
    functions = {match[1] for match in _FUNCTION.finditer(section)}
    labels: dict[str, int] = {}
    waiting: list[str] = []
    rows: list[tuple[re.Match[str], int, int, Place | None]] = []
    line, here = 0, None
    texts = iter(section.splitlines())
    for text in texts:
        if match := _INSTRUCTION.match(text):
            high = _HIGH.match(next(texts, ""))
            word = int(match["low"], 16) | (int(high[1], 16) << 64 if high else 0)
            rows.append((match, word, line, _place(line, here, places)))
            labels.update(dict.fromkeys(waiting, int(match["address"], 16)))
            waiting.clear()
        elif match := _LINE.match(text):
            if match[1].startswith(_PTX):
                line = int(match[2])
            else:
                here = Place(match[1], int(match[2]))
        elif match := _LABEL.match(text):
            waiting.append(match[1])
    made = [_instruction(row, word, line, labels, lines, at) for row, word, line, at in rows]
    while made and (made[-1].opcode == "NOP" or made[-1].targets == (made[-1].address,)):
        made.pop()  # the padding behind the code: a branch to itself, and NOPs
    entries = sorted({0, *(labels[name] for name in functions if name in labels)})
    return Code(tuple(made), tuple(entries))


def _place(line: int, here: Place | None, places: tuple[Place | None, ...]) -> Place | None:
    if 0 < line <= len(places):
        return places[line - 1]
    return here or (Place("<ptx>", line) if line else None)


def _instruction(
    row: re.Match[str],
    word: int,
    line: int,
    labels: dict[str, int],
    lines: list[str],
    place: Place | None,
) -> Instruction:
    names = [
        name.strip()
        for label, several in _NAMED.findall(row["operands"])
        for name in (label or several).split(",")
    ]
    return Instruction(
        address=int(row["address"], 16),
        guard="" if row["guard"] in (None, "@PT", "@UPT") else row["guard"],
        opcode=row["opcode"],
        operands=tuple(_operands(row["operands"])),
        word=word,
        targets=tuple(labels[name] for name in names if name in labels),
        line=line,
        ptx=lines[line - 1].strip() if 0 < line <= len(lines) else "",
        place=place,
    )


def _operands(text: str) -> Iterator[str]:
    """Split at commas outside of brackets and parentheses."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        if letter in "[({":
            depth += 1
        elif letter in "])}":
            depth -= 1
        elif letter == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


# ---------------------------------------------------------------- loops


def _loops(code: Code, ptx: Ptx) -> tuple[Region, ...]:
    at = {one.address: index for index, one in enumerate(code.instructions)}
    steps = [_step(one, at) for one in code.instructions]
    entries = [at[address] for address in code.entries if address in at]
    found = natural_loops(steps, entries)
    made: dict[Loop, Region] = {}
    for loop in sorted(found, key=lambda loop: len(loop.body)):  # inner loops first
        inner = [one for one in found if one.body < loop.body]
        own = loop.body.difference(*(one.body for one in inner))
        name = ptx.loop_name(
            [code.instructions[index].line for index in loop.back],
            [code.instructions[index].line for index in own],
        )
        made[loop] = Region(
            name=name or f"0x{code.instructions[loop.header].address:x}",
            instructions=tuple(code.instructions[index] for index in sorted(loop.body)),
            depth=sum(1 for one in found if loop.body <= one.body),
            loops=tuple(made[one] for one in inner),
        )
    return tuple(made[loop] for loop in found)


def _step(one: Instruction, at: dict[int, int]) -> Step:
    """Where control may go from an instruction besides, or instead of, the next one."""
    base = one.opcode.partition(".")[0]
    targets = tuple(at[address] for address in one.targets if address in at)
    if base in ("BRA", "JMP"):
        # Further operands are conditions, as in `BRA.U !UP0, label` and `BRA.DIV UR4, label`.
        return Step(targets, falls=one.predicated or len(one.operands) > 1)
    if base in ("BRX", "BRXU", "JMX", "JMXU"):
        return Step(targets, falls=one.predicated)
    if base in ("EXIT", "RET", "KILL"):
        return Step((), falls=one.predicated)
    return Step()  # BSSY and CALL name labels too, and go on behind themselves


class Ptx:
    """Where the loops of a PTX text are: a label, and a branch to it further down."""

    _TOKEN = re.compile(
        r"(?P<function>\.(?:entry|func)\b)|\bbra(?:\.uni)?\s+(?P<to>[\w$]+)\s*;"
        r"|(?:^|[;{}\s])(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)"
    )

    def __init__(self, text: str) -> None:
        self.branches: dict[int, tuple[str, int]] = {}
        """By the line of a backward branch: the label, and the label's line."""
        labels: dict[str, int] = {}
        for number, line in enumerate(text.split("\n"), 1):
            for match in self._TOKEN.finditer(line.partition("//")[0]):
                if match["function"]:
                    labels = {}
                elif match["label"]:
                    labels[match["label"]] = number
                elif match["to"] in labels:
                    self.branches[number] = (match["to"], labels[match["to"]])

    def loop_name(self, back: list[int], body: list[int]) -> str | None:
        """The label of the loop that has its back edges and its instructions on these lines."""
        for line in back:
            if line in self.branches:
                return self.branches[line][0]
        fitting = [
            (end - start, name)
            for end, (name, start) in self.branches.items()
            if 2 * sum(1 for line in body if start <= line <= end) > len(body)
        ]
        return min(fitting)[1] if fitting else None
