"""Claims about machine code, in a line of text: ``"loop main: BRA == 1, LDL == 0"``.

Clauses are separated by ``;``. A clause may start with ``loop NAME:`` and then speaks of that loop,
else of the whole kernel; it has claims separated by ``,``. A claim compares two terms by ``==``,
``!=``, ``<``, ``<=``, ``>`` or ``>=``. A term is a number; an opcode with as many modifiers as
matter, which stands for how many there are (``LDG.128``); ``@`` before it takes those alone that a
predicate guards, ``!@`` the others; or a word of :data:`QUANTITIES`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ptx.assembler import Cubin, assemble
from ptx.errors import PtxError
from ptx.ir import Buildable, Module
from ptx.sass import opcodes
from ptx.sass.disassembler import disassemble
from ptx.sass.instruction import Instruction
from ptx.sass.region import Region, Sass
from ptx.sass.statistics import Statistics, statistics

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le,
    ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}  # fmt: skip

QUANTITIES: dict[str, Callable[[Statistics], int]] = {
    "instructions": lambda found: found.instructions,
    "predicated": lambda found: found.predicated,
    "branches": lambda found: found.branches,
    "conflicts": lambda found: found.banks.conflicts,
    "tensor": lambda found: found.tensor,
}
"""Of a loop or a kernel; :class:`ptx.sass.Statistics` says what they are."""

NEEDS = ("registers", "spills", "stack", "shared")
"""Of a kernel alone; all but the registers in bytes."""

SHOWN = 8
"""Instructions that a message lists, of those that were counted."""

_CLAUSE = re.compile(r"\s*(?:loop\s+([^\s:]+)\s*:(?!:))?(.*)", re.DOTALL)
_CLAIM = re.compile(r"\s*(!?@?[\w.]+)\s*(==|!=|<=|>=|<|>)\s*(!?@?[\w.]+)\s*")
_TERM = re.compile(r"(?P<guard>!?@)?(?:(?P<number>\d+)|(?P<opcode>[A-Z][\w.]*)|(?P<word>[a-z]+))")


class SassMismatch(PtxError, AssertionError):
    """A claim that does not hold. ``verdicts`` are all that were reached, by order."""

    def __init__(self, verdicts: tuple[Verdict, ...]) -> None:
        super().__init__("\n".join(one.told for one in verdicts if not one.holds))
        self.verdicts = verdicts


@dataclass(frozen=True)
class Term:
    """One side of a claim, with its value and the instructions that it counts."""

    text: str
    value: int
    found: tuple[Instruction, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """A claim, and what was found."""

    kernel: str
    loop: str
    """Empty where the claim speaks of the whole kernel."""
    left: Term
    comparison: str
    right: Term

    @property
    def claim(self) -> str:
        where = f"loop {self.loop}: " if self.loop else ""
        return f"{where}{self.left.text} {self.comparison} {self.right.text}"

    @property
    def holds(self) -> bool:
        return COMPARISONS[self.comparison](self.left.value, self.right.value)

    @property
    def told(self) -> str:
        """The claim, what was found, and the instructions that were counted."""
        counted = [term for term in (self.left, self.right) if not term.text.isdecimal()]
        values = ", ".join(f"{term.text} is {term.value}" for term in counted)
        head = f"{self.kernel}: {self.claim}: {'holds' if self.holds else 'does not hold'}"
        lines = [f"{head}: {values}" if values else head]
        for term in counted:
            lines += [_shown(one) for one in term.found[:SHOWN]]
            if len(term.found) > SHOWN:
                lines.append(f"  and {len(term.found) - SHOWN} more of {term.text}")
        return "\n".join(lines)


def _shown(one: Instruction) -> str:
    where = f"{one.place}  " if one.place else ""
    return f"  {one.address:#06x}  {str(one):<48}  // {where}{one.ptx}".rstrip(" /")


def verdicts(kernel: Region, text: str) -> tuple[Verdict, ...]:
    """What becomes of each claim. Raises :class:`ptx.PtxError` where `text` cannot be read."""
    found = tuple(
        verdict
        for clause in text.split(";")
        if clause.strip()
        for verdict in _clause(kernel, clause, text)
    )
    if not found:
        raise PtxError(f"{text!r} claims nothing; 'loop main: BRA == 1, LDL == 0' would")
    return found


def _clause(kernel: Region, clause: str, text: str) -> Iterator[Verdict]:
    match = _CLAUSE.fullmatch(clause)
    assert match
    name = match[1] or ""
    region = kernel.loop(name) if name else kernel
    for claim in match[2].split(","):
        parts = _CLAIM.fullmatch(claim)
        if not parts:
            raise PtxError(
                f"cannot read {claim.strip()!r} in {text!r}: a claim reads BRA == 1, "
                "@LDG == LDG or registers <= 128"
            )
        left, right = (_term(region, kernel, parts[side]) for side in (1, 3))
        yield Verdict(kernel.name, name, left, parts[2], right)


def _term(region: Region, kernel: Region, text: str) -> Term:
    match = _TERM.fullmatch(text)
    if match and match["opcode"]:
        return _counted(region, kernel, text, match["opcode"], match["guard"])
    if match and not match["guard"]:
        if match["number"]:
            return Term(text, int(text))
        if text in QUANTITIES:
            return Term(text, QUANTITIES[text](statistics(region)))
        if text in NEEDS:
            return Term(text, _need(region, text))
    known = ", ".join((*QUANTITIES, *NEEDS))
    raise PtxError(f"{text!r} is no number, no opcode (they are upper case) and none of {known}")


def _counted(region: Region, kernel: Region, text: str, opcode: str, guard: str | None) -> Term:
    base = opcode.partition(".")[0]
    if opcodes.group_of(base) == opcodes.OTHER and not kernel.has(base):
        near = ", ".join(opcodes.near(base))
        raise PtxError(f"{base} is no opcode of SASS{f'; near: {near}' if near else ''}")
    wanted = {None: None, "@": True, "!@": False}[guard]
    found = tuple(region.find(opcode, wanted))
    return Term(text, len(found), found)


def _need(region: Region, word: str) -> int:
    info = region.info
    if info is None:
        raise PtxError(f"{word} are the kernel's: claim them without 'loop {region.name}:'")
    if word == "registers":
        return info.registers
    if word == "stack":
        return info.local_bytes
    if word == "shared":
        return info.shared_bytes
    if info.spill_stores is None or info.spill_loads is None:
        raise PtxError("spills are in the log of ptxas, and a cubin alone has none")
    return info.spill_stores + info.spill_loads


def assert_sass(
    kernel: Region | Sass | Cubin | Module | Buildable | str,
    *claims: str,
    target: str | None = None,
) -> None:
    """Holds claims about a kernel's machine code: ``assert_sass(k, "loop main: LDL == 0")``.

    `kernel` is a kernel under construction, a module or PTX text, assembled for `target`; or what
    was assembled or disassembled before. It has one kernel; of more, pass ``sass.kernels[name]``.
    Raises :class:`SassMismatch`, an AssertionError, with every claim that does not hold, what was
    found instead and where; :class:`ptx.PtxError` where a claim cannot be read.
    """
    if isinstance(kernel, Region | Sass | Cubin):
        if target is not None:
            raise PtxError("target is for what is still to be assembled")
        made = disassemble(kernel) if isinstance(kernel, Cubin) else kernel
    else:
        made = disassemble(assemble(kernel, target))
    region = made.kernel if isinstance(made, Sass) else made
    found = tuple(verdict for text in claims for verdict in verdicts(region, text))
    if not all(one.holds for one in found):
        raise SassMismatch(found)
