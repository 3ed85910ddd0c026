"""Every row of the table has a meaning, or is refused with a reason before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptx
from ptx import isa
from ptx.emu import Memory, Unmodelled, launch
from ptx.emu.semantics import UNMODELLED
from tests.isa.referee import header
from tests.isa.samples import covering, home, line

GUIDE = Path(__file__).parents[2] / "docs" / "emulator.md"
NOT_MODELLED = GUIDE.read_text(encoding="utf-8").partition("## Not modelled")[2]


def refusal(module: ptx.Module) -> Unmodelled | None:
    """What the emulator says before it runs a module, if it refuses it."""
    try:
        launch("k", module, (1, 1, 1), (32, 1, 1), bytes(256), memory=Memory())
    except Unmodelled as refused:
        return refused
    return None


@pytest.mark.parametrize("opcode", sorted(isa.FORMS))
def test_each_row_is_bound_or_refused_with_its_reason(opcode: str) -> None:
    for form in isa.FORMS[opcode]:
        variant = covering(form)[0]
        # The thread ends before the instruction; what is not modelled is refused all the same.
        text = f"{header(*home(variant))}\nexit;\n{line(variant)}\nret;\n}}\n"
        written = text.count("\n", 0, text.index("\nexit;\n")) + 3
        refused = refusal(ptx.parse(text, "row.ptx"))
        if refused is None:
            assert opcode not in UNMODELLED
        else:
            assert refused.place is not None
            assert refused.place.line == written
            assert f"{opcode}" in refused.message
            assert " is not modelled" in refused.message
            assert f"`{opcode}" in NOT_MODELLED
