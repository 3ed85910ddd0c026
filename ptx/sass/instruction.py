"""One SASS instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptx.errors import Place
from ptx.scheduling import Control

_REGISTER = re.compile(r"[-~!|]*(R\d+)[|.\w]*")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One SASS instruction."""

    address: int
    """In bytes from the start of its kernel's code."""
    guard: str
    """``"@!P0"``, or "" where it always runs."""
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
    def base(self) -> str:
        """The opcode without its modifiers, ``"LDG"``."""
        return self.opcode.partition(".")[0]

    @property
    def never(self) -> bool:
        """Whether its guard is never true: ptxas puts ``@!PT LDS RZ, [RZ]`` beside LDGSTS."""
        return self.guard in ("@!PT", "@!UPT")

    @property
    def predicated(self) -> bool:
        """Whether a predicate decides at run time if it runs."""
        return bool(self.guard) and not self.never

    @property
    def register_sources(self) -> tuple[str, ...]:
        """The general register in each source slot, "" for a constant, a uniform register or RZ.

        Of instructions with one destination and single registers as sources, as FFMA.
        """
        found = (_REGISTER.fullmatch(operand) for operand in self.operands[1:])
        return tuple(match[1] if match else "" for match in found)

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
