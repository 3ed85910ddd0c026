"""Sums of products rounded once, where ptxas makes them one instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptx
from ptx.emu import Memory
from tests.emu.harness import module, run

A, B, C = (np.float32(x) for x in (1.0000001, 1.0000001, -1.0000002))
LOADS = """
ld.param.u64 %rd0, [p0];
ld.global.f32 %f0, [%rd0]; ld.global.f32 %f1, [%rd0+4]; ld.global.f32 %f2, [%rd0+8];
"""
STORE = "\nst.global.f32 [%rd0+12], %f9;"
ONCE = np.float32(np.float64(A) * np.float64(B) + np.float64(C))
TWICE = np.float32(A * B) + C
PRODUCT, SUM = "mul.f32 %f3, %f0, %f1;", "add.f32 %f9, %f3, %f2;"
# fmt: off
FORMS = [
    (PRODUCT + SUM, True),
    (PRODUCT + "add.f32 %f9, %f2, %f3;", True),
    (PRODUCT + "neg.f32 %f4, %f2; sub.f32 %f9, %f3, %f4;", True),
    ("neg.f32 %f4, %f0; mul.f32 %f3, %f4, %f1; sub.f32 %f9, %f2, %f3;", True),
    ("mul.rn.f32 %f3, %f0, %f1;" + SUM, False),
    (PRODUCT + "add.rn.f32 %f9, %f3, %f2;", False),
    # A factor that has changed is still in the product.
    (PRODUCT + "mov.f32 %f5, %f0; mov.f32 %f0, 0f00000000;" + SUM, False),
    ("mul.ftz.f32 %f3, %f0, %f1;" + SUM, False),
    # Another block.
    (PRODUCT + "bra next; next: " + SUM, False),
]
# fmt: on


def result(text: str, **options: Any) -> np.float32:
    memory = Memory()
    address = memory.allocate(16)
    memory.write(address, np.array([A, B, C, 0], np.float32))
    run(LOADS + text + STORE, [address], memory=memory, **options)
    found: np.float32 = memory.read(address + 12, 4).view(np.float32)[0]
    return found


@pytest.mark.parametrize(("text", "fuses"), FORMS)
def test_b45_rounded_twice_and_where_asked_once(text: str, fuses: bool) -> None:
    assert ONCE != TWICE
    assert result(text) == TWICE
    assert result(text, contract=True) == (ONCE if fuses else TWICE)


@pytest.mark.parametrize(("text", "fuses"), [FORMS[0], FORMS[4], FORMS[5]])
def test_b45_as_ptxas_does(text: str, fuses: bool) -> None:
    """FFMA for the first, FMUL and FADD for the others."""
    code = ptx.disassemble(ptx.assemble(module(LOADS + text + STORE, 1), "sm_90a"))
    found = {one.opcode for one in code.kernels["test"].instructions}
    assert found & {"FFMA", "FMUL", "FADD"} == ({"FFMA"} if fuses else {"FMUL", "FADD"})
