"""The control code of a SASS instruction: how ptxas schedules it."""

from __future__ import annotations

from dataclasses import dataclass

NONE = 7
"""A scoreboard's number in a control code that names none."""

SLOTS = "abcd"
"""Operand slots of the reuse cache: an instruction's sources, first to last."""


@dataclass(frozen=True, slots=True)
class Control:
    """The scheduling bits of an instruction, bits 105 to 125 of its 128 (sm_70 and newer).

    Printed as in ``B--2---:R-:W0:Y:S04:a---``: scoreboards waited for, the one released when the
    operands are read, the one released when the result is written, yield, stall in clocks, operand
    slots whose register is kept for the next reader.

    Sources: Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking (2018),
    section 2.1; the reuse bits agree with the ``.reuse`` that nvdisasm prints.
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

    @property
    def waits(self) -> tuple[int, ...]:
        """The scoreboards waited for."""
        return tuple(number for number in range(6) if self.wait >> number & 1)

    def __str__(self) -> str:
        wait = "".join(str(i) if self.wait >> i & 1 else "-" for i in range(6))
        read, write = ("-" if n == NONE else str(n) for n in (self.read, self.write))
        reuse = "".join(slot if self.reuse >> i & 1 else "-" for i, slot in enumerate(SLOTS))
        yields = "Y" if self.yields else "-"
        return f"B{wait}:R{read}:W{write}:{yields}:S{self.stall:02}:{reuse}"


LEGEND = """\
B01----  waits for scoreboards 0 and 1 before it starts
R0, W1   releases scoreboard 0 when its operands are read, 1 when its result is written
Y        the scheduler may go on with another warp
S04      the next instruction of the warp starts 4 clocks later at the earliest
a---     the register of its first source stays in the reuse cache, b of its second ..."""
"""How control codes are read."""
