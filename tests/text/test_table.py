"""Every row of the instruction table, printed and parsed: the same instruction comes back."""

from __future__ import annotations

import pytest

from ptx.ir import Instruction
from ptx.text import parse, print_module
from tests.isa import samples
from tests.isa.referee import header


@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_instructions_survive(chapter: str) -> None:
    written = [
        Instruction(variant.op, samples.operands(variant))
        for form in samples.forms_of(chapter)
        for variant in samples.covering(form)
    ]
    text = header("sm_90a", (8, 6)) + "\n".join(map(str, written)) + "\n}\n"
    module = parse(text)
    read = module.kernels["k"].instructions
    assert read == tuple(written) != ()
    for instruction, original in zip(read, written, strict=True):
        assert instruction.variant is not None and instruction.variant.op == original.op
    assert parse(print_module(module)) == module
