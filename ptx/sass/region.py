"""A kernel's machine code and the loops in it: what is counted and found there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from ptx.assembler import Cubin, KernelInfo
from ptx.errors import Place, PtxError
from ptx.sass.instruction import Instruction


@dataclass(frozen=True)
class Region:
    """A kernel, or a loop in it: its instructions in order, those of inner loops included.

    What is counted and found leaves out the instructions that never run
    (:attr:`Instruction.never`).
    """

    name: str
    """Of the kernel, or of the loop's PTX label; its address, ``"0x90"``, where it has none."""
    instructions: tuple[Instruction, ...] = field(repr=False)
    depth: int = 0
    """0 is the kernel, 1 an outermost loop."""
    loops: tuple[Region, ...] = field(default=(), repr=False)
    """All loops inside, of every depth, by their headers' addresses; inner ones follow theirs."""
    info: KernelInfo | None = field(default=None, repr=False)
    """What the kernel needs; None for a loop."""
    back: tuple[int, ...] = field(default=(), repr=False)
    """Of a loop: the addresses of the branches to its header from inside."""

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
        return Counter(one.base for one in self.instructions if not one.never)

    def find(self, opcode: str, predicated: bool | None = None) -> list[Instruction]:
        """The instructions that :meth:`Instruction.matches` takes."""
        return [
            one for one in self.instructions if one.matches(opcode, predicated) and not one.never
        ]

    def count(self, opcode: str, predicated: bool | None = None) -> int:
        """How many there are: ``count("FFMA")``, ``count("LDG.128", predicated=True)``."""
        return len(self.find(opcode, predicated))

    def has(self, opcode: str, predicated: bool | None = None) -> bool:
        return bool(self.find(opcode, predicated))

    def loop(self, name: str) -> Region:
        """The loop of that name, or of that address, as ``"0x1a0"``.

        Raises :class:`ptx.PtxError` where it is not exactly one: ptxas may copy a loop.
        """
        found = [loop for loop in self.loops if name in (loop.name, f"0x{loop.address:x}")]
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
        """Tables of the region and of each loop inside: sizes, accesses, what the mix is."""
        from ptx.sass.report import summary

        return summary(self)

    def listing(self, control: bool = False) -> str:
        """Every instruction with its PTX and its place; loops are opened and closed by name."""
        from ptx.sass.report import listing

        return listing(self, control)


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
