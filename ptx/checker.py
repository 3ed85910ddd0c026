"""Checks of a whole function: names and control flow."""

from __future__ import annotations

from collections.abc import Sequence

from ptx.errors import PtxError
from ptx.ir import Function, Instruction, Label, Variable


def require_sound(function: Function, externals: Sequence[Variable] = ()) -> None:
    """Raise the first error of a kernel under construction; `externals` are module variables."""
    labels = {s.name for s in function.statements if isinstance(s, Label)}
    for instruction in function.instructions:
        for operand in instruction.operands:
            if isinstance(operand, Label) and operand.name not in labels:
                raise PtxError(f"no label is named {operand}", instruction.place)
    last = function.instructions[-1] if function.instructions else None
    if not isinstance(last, Instruction) or last.opcode not in ("ret", "exit", "trap", "bra"):
        raise PtxError(f"{function.name} ends without ret", last.place if last else function.place)
