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

GUIDE = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text(encoding="utf-8")
NOT_MODELLED = GUIDE.partition("## Not modelled")[2]


def refusal(module: ptx.Module) -> Unmodelled | None:
    """What the emulator says before it runs a module, if it refuses it."""
    try:
        launch("k", module, (1, 1, 1), (32, 1, 1), bytes(256), memory=Memory())
    except Unmodelled as refused:
        return refused
    return None


def row(form: isa.Form) -> str:
    """A kernel with an instruction of one row.

    The thread ends before it; what is not modelled is refused all the same.
    """
    variant = covering(form)[0]
    return f"{header(*home(variant))}\nexit;\n{line(variant)}\nret;\n}}\n"


@pytest.mark.parametrize("opcode", sorted(isa.FORMS))
def test_each_row_is_bound_or_refused_with_its_reason(opcode: str) -> None:
    for form in isa.FORMS[opcode]:
        text = row(form)
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


def test_the_guide_counts_the_rows() -> None:
    rows = sum(len(forms) for forms in isa.FORMS.values())
    some = (form for opcode, forms in isa.FORMS.items() if f"`{opcode}" in NOT_MODELLED
            for form in forms)  # fmt: skip
    refused = sum(refusal(ptx.parse(row(form), "row.ptx")) is not None for form in some)
    counted = f"Of the {rows} rows of the instruction table {rows - refused} have a meaning"
    assert f"{counted}, {refused} are refused" in GUIDE
