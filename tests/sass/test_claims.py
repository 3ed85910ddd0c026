"""Claims about machine code: what they say, what is told where they do not hold."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import ptx
from ptx.assembler import Cubin, assemble
from ptx.sass import Instruction, Region, SassMismatch, assert_sass
from ptx.sass.assertions import verdicts
from tests.samples import LOOP, spilling
from tests.sass.made import made


def code(*texts: str) -> tuple[Instruction, ...]:
    """Instructions of "@P0 LDG.E R1, [R2]"."""
    found = []
    for index, text in enumerate(texts):
        guard, rest = text.split(" ", 1) if text.startswith("@") else ("", text)
        opcode, _, operands = rest.partition(" ")
        found.append(Instruction(16 * index, guard, opcode, tuple(operands.split(", ")), 0))
    return tuple(found)


MAIN = Region(
    "main",
    code("@P0 LDG.E.128 R4, [R2]", "@!P1 LDG.E R8, [R2]", "LDG.E R9, [R2]", "@P2 BRA 0x0"),
    1,
)
KERNEL = Region("k", (*MAIN.instructions, *code("BRA 0x90", "FFMA R1, R2, R3, R4")), 0, (MAIN,))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("loop main: BRA == 1", True),
        ("BRA == 2", True),
        ("loop main: BRA == 1, LDL == 0, LDG.E.128 >= 2", False),
        ("loop main: LDG == 3, @LDG == 2, !@LDG == 1", True),
        ("loop main: @LDG == LDG", False),
        ("loop main: @LDG.128 == LDG.128", True),
        ("loop main: LDG != 3", False),
        ("loop main: LDG > 2, LDG < 4, LDG <= 3, 3 >= LDG", True),
        ("loop main: predicated == 3, branches == 1; instructions == 6", True),
        ("  FFMA==1 ;loop main:FFMA==0; ", True),
        ("loop 0x0: BRA == 1", True),
    ],
)
def test_what_they_say(text: str, holds: bool) -> None:
    assert all(one.holds for one in verdicts(KERNEL, text)) == holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' claims nothing; 'loop main: BRA == 1, LDL == 0' would"),
        ("BRA", "cannot read 'BRA' in 'BRA': a claim reads BRA == 1, @LDG == LDG or"),
        ("BRA = 1", "cannot read 'BRA = 1' in"),
        ("BRA == -1", "cannot read 'BRA == -1' in"),
        ("loop main BRA == 1", "cannot read 'loop main BRA == 1'"),
        ("loop none: BRA == 1", "k has no loops named 'none'; there are: main (0x0, 4 instr"),
        ("FFAM == 0", "FFAM is no opcode of SASS; near: FFMA"),
        ("loop main: registers <= 128", "registers are the kernel's: claim them without"),
        ("regs <= 128", "'regs' is no number, no opcode (they are upper case) and none of inst"),
        ("@instructions == 1", "'@instructions' is no number"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ptx.PtxError) as caught:
        verdicts(KERNEL, text)
    assert not isinstance(caught.value, SassMismatch)
    assert str(caught.value).startswith(message)


def test_what_is_told() -> None:
    with pytest.raises(SassMismatch) as caught:
        assert_sass(KERNEL, "loop main: BRA == 1, LDL == 0, @LDG >= 3")
    assert str(caught.value) == (
        "k: loop main: @LDG >= 3: does not hold: @LDG is 2\n"
        "  0x0000  @P0 LDG.E.128 R4, [R2]\n"
        "  0x0010  @!P1 LDG.E R8, [R2]"
    )
    assert [one.holds for one in caught.value.verdicts] == [True, True, False]
    assert isinstance(caught.value, AssertionError)


def test_many_are_not_listed() -> None:
    many = Region("k", code(*["FFMA R1, R2, R3, R4"] * 20))
    with pytest.raises(SassMismatch, match=r"FFMA is 20\n(  0x.*\n){8}  and 12 more of FFMA$"):
        assert_sass(many, "FFMA == 0")


def test_of_what_is_still_to_be_assembled() -> None:
    k = ptx.Kernel("twice", x="global.f32")
    (x,) = k.params()
    at = x + k.mul.wide.u32(k.global_index("x"), 4)
    value = k.ld.global_.f32(at)
    k.st.global_.f32(at, k.add.f32(value, value))
    k.ret()
    cubin = assemble(ptx.Module(k), "sm_90")
    for one in (k, cubin):
        ptx.assert_sass(one, "LDG == 1, STG == 1, predicated == 0; registers <= 16", "spills == 0")
    with pytest.raises(AssertionError, match=r"LDG == 2: does not hold: LDG is 1\n.*test_claims"):
        ptx.assert_sass(k, "LDG == 2", target="sm_90")
    with pytest.raises(ptx.PtxError, match="target is for what is still to be assembled"):
        ptx.assert_sass(cubin, "LDG == 1", target="sm_80")


def test_needs_are_those_of_ptxas() -> None:
    cubin = made(spilling()).cubin
    bytes_moved = cubin.kernel.fields["spill stores"], cubin.kernel.fields["spill loads"]
    total = sum(int(one) for one in bytes_moved)
    assert_sass(
        made(spilling()), f"registers == 24, spills == {total}, stack == {cubin.stack_bytes}"
    )
    kernel = replace(made(spilling()).kernel, info=Cubin.read(cubin.data).kernel)
    assert_sass(kernel, f"registers == 24, stack == {cubin.stack_bytes}")
    with pytest.raises(ptx.PtxError, match="spills are in the log of ptxas"):
        assert_sass(kernel, "spills == 0")


def test_it_reads_like_the_methods() -> None:
    sass = made(LOOP)
    main = sass.loop("main")
    assert main.count("FFMA") == 1
    assert main.has("LDG.E", predicated=True)
    assert_sass(sass, "loop main: FFMA == 1, @LDG.E == 1")
    assert_sass(sass.kernel, f"instructions == {len(sass.instructions)}")
    assert re.fullmatch(r"0x[0-9a-f]+", f"0x{main.address:x}")
    assert sass.loop(f"0x{main.address:x}") == main
