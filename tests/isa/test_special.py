"""Special registers: read with the types, for the targets and versions, that ptxas takes."""

from __future__ import annotations

import pytest

from ptx.errors import PtxError
from ptx.ir import Instruction, Reg, Special
from ptx.isa import SPECIAL
from ptx.operands import select
from ptx.targets import INTRODUCED, VERSIONS, meets, version
from ptx.types import bits
from tests.isa import referee

pytestmark = pytest.mark.skipif(referee.ptxas() is None, reason="no ptxas found")

TYPES = "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 pred".split()


def readings(name: str, opcode: str = "mov") -> list[Instruction]:
    """One reading of a special register by each type."""
    special = Special(name)
    if opcode == "mov":
        return [Instruction(f"mov.{t}", (Reg(f"%{t}_1", t), special)) for t in TYPES]
    integers = [t for t in TYPES if t[0] in "us"]
    return [Instruction(f"cvt.u32.{t}", (Reg("%u32_1", "u32"), special)) for t in integers]


@pytest.mark.parametrize("opcode", ["mov", "cvt"])
def test_types_are_those_of_ptxas(opcode: str) -> None:
    lines = [line for name in SPECIAL for line in readings(name, opcode)]
    verdicts = referee.judge([str(line) for line in lines], "sm_90", VERSIONS[-1], together=20)
    for line, messages in zip(lines, verdicts, strict=True):
        try:
            select(line.op, line.operands)
            ours = True
        except PtxError:
            ours = False
        assert ours == (not messages), f"{line} {messages}"


def test_targets_and_versions_are_those_of_ptxas() -> None:
    lines = {
        name: f"mov.{one.type} %{one.type}_1, {name};"
        for name, one in SPECIAL.items()
        if bits(one.type)
    }
    for target in INTRODUCED:
        verdicts = referee.judge(list(lines.values()), target, VERSIONS[-1])
        for name, messages in zip(lines, verdicts, strict=True):
            assert meets(target, SPECIAL[name].need) == (not messages), (name, target, messages)
    for asked in VERSIONS:
        verdicts = referee.judge(list(lines.values()), "sm_90", asked)
        for name, messages in zip(lines, verdicts, strict=True):
            accept = asked >= version(SPECIAL[name].version)
            assert accept == (not messages), (name, asked, messages)
