"""SASS: what is read from nvdisasm, loops by name, counts, control codes, places."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptx
from ptx.assembler import Cubin, assemble
from ptx.errors import Place
from ptx.sass import Control, Instruction, Region, disassemble, read
from tests.samples import LOOP, TWO_KERNELS
from tests.sass.made import made

pytestmark = pytest.mark.usefixtures("own_cache")


read_back = made


def kernel(body: str, registers: int = 8) -> str:
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        f".reg .b32 %r<{registers}>;\n.reg .f32 %f<{registers}>;\n"
        f".reg .b64 %rd<{registers}>;\n.reg .pred %p<{registers}>;\n"
        "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\n" + body + "ret;\n}\n"
    )


NESTED = kernel(
    """mov.u32 %r2, 0;
mov.f32 %f1, 0f00000000;
rows:
.pragma "nounroll";
mov.u32 %r3, 0;
columns: .pragma "nounroll";
ld.volatile.global.f32 %f2, [%rd1];
fma.rn.f32 %f1, %f1, %f2, %f2;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r1;
@%p1 bra columns;
st.volatile.global.f32 [%rd1+4], %f1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, %r1;
@%p2 bra rows;
$L__after:
ld.volatile.global.f32 %f3, [%rd1+8];
sqrt.approx.f32 %f3, %f3;
st.volatile.global.f32 [%rd1+8], %f3;
setp.gt.f32 %p3, %f3, 0f3F800000;
@%p3 bra.uni $L__after;
"""
)


def test_a_loop_by_the_name_of_its_label() -> None:
    main = read_back(LOOP).loop("main")
    assert main.count("FFMA") == 1
    assert main.has("LDG.E", predicated=True)
    assert not main.has("LDG", predicated=False)
    assert not main.has("STG")
    assert main.count("BRA") == 1
    assert main.depth == 1
    assert main.instructions[-1].ptx == "@%p2 bra main;"
    assert main.place == Place("<ptx>", 19)


def test_nested_loops() -> None:
    sass = read_back(NESTED)
    assert [(loop.name, loop.depth) for loop in sass.loops] == [
        ("rows", 1),
        ("columns", 2),
        ("$L__after", 1),
    ]
    rows, columns = sass.loop("rows"), sass.loop("columns")
    assert rows.loop("columns") == columns
    assert [loop.name for loop in rows.loops] == ["columns"]
    assert (rows.count("FFMA"), columns.count("FFMA")) == (1, 1)
    assert [one.opcode for one in rows.own if one.matches("FFMA")] == []
    assert columns.count("STG") == 0
    assert sum(one.matches("STG") for one in rows.own) == 1
    assert sass.loop("$L__after").has("MUFU.RSQ") or sass.loop("$L__after").has("MUFU.SQRT")


def test_a_listing_is_indented_by_loop() -> None:
    kernel = read_back(NESTED).kernel
    lines = kernel.listing().splitlines()
    assert len(lines) == len(kernel.instructions) + 2 * len(kernel.loops)
    assert [line for line in lines if line.endswith((":", " ends"))] == [
        "  loop rows:",
        "    loop columns:",
        "    loop columns ends",
        "  loop rows ends",
        "  loop $L__after:",
        "  loop $L__after ends",
    ]
    (load,) = [line for line in lines if "FFMA" in line]
    assert load.split("  ", 1)[1].startswith("    FFMA")  # two loops deep


def test_no_loop_of_that_name() -> None:
    sass = read_back(NESTED)
    with pytest.raises(ptx.PtxError) as caught:
        sass.loop("main")
    assert str(caught.value).startswith("k has no loops named 'main'; there are: rows (0x")
    assert "columns (0x" in str(caught.value)


@pytest.mark.parametrize("given", [ptx.parse(LOOP), LOOP, None])
def test_what_is_no_cubin(given: object) -> None:
    name = type(given).__name__
    with pytest.raises(ptx.PtxError, match=rf"takes a ptx.Cubin or its bytes, got {name}; ptx.ass"):
        disassemble(given)  # type: ignore[arg-type]


def test_an_unrolled_loop_keeps_its_name() -> None:
    """ptxas unrolls by four where no pragma forbids it."""
    text = LOOP.replace('    .pragma "nounroll";\n', "").replace("@%p3 ", "")
    assert disassemble(assemble(text)).loop("main").count("FFMA") == 4


def test_two_loops_of_one_name() -> None:
    one = Region("main", (Instruction(0x10, "", "NOP", (), 0),), 1)
    two = Region("main", (Instruction(0x40, "", "NOP", (), 0),) * 3, 1)
    both = Region("k", one.instructions + two.instructions, 0, (one, two))
    with pytest.raises(ptx.PtxError) as caught:
        both.loop("main")
    assert str(caught.value) == (
        "k has 2 loops named 'main'; there are: "
        "main (0x10, 1 instructions), main (0x40, 3 instructions)"
    )


def test_one_name_in_two_kernels() -> None:
    """Labels belong to their function."""
    second = LOOP.split("\n\n", 1)[1].replace("total", "other").replace("fma.rn", "add.rn")
    second = second.replace("add.rn.f32 %f1, %f2, %f2, %f1", "add.rn.f32 %f1, %f2, %f1")
    sass = disassemble(assemble(LOOP + second))
    assert sass.kernels["total"].loop("main").count("FFMA") == 1
    assert sass.kernels["other"].loop("main").count("FADD") == 1
    with pytest.raises(ptx.PtxError, match="the cubin has 2 kernels"):
        sass.loop("main")


def test_the_padding_is_no_code() -> None:
    for name, region in read_back(TWO_KERNELS).kernels.items():
        assert region.instructions[-1].opcode in ("EXIT", "RET.REL.NODEC"), name
        assert region.loops == ()
        assert region.info
        assert region.info.name == name


def test_every_line_carries_its_ptx_and_python_places() -> None:
    """Field case D01."""
    text = LOOP.replace("    fma", "    .loc 1 93 9\n    fma") + '.file 1 "gemm.py"\n'
    for cubin in (assemble(text), assemble(text, lineinfo=True)):
        (fma,) = disassemble(cubin).instructions and disassemble(cubin).kernel.find("FFMA")
        assert fma.ptx == "fma.rn.f32 %f1, %f2, %f2, %f1;"
        assert fma.place == Place("gemm.py", 93, 9)
    assert all(one.line and one.place for one in disassemble(cubin).instructions)
    # From the bytes alone, with the PTX and the line table that ptxas left inside.
    (fma,) = disassemble(cubin.data).kernel.find("FFMA")
    assert (fma.ptx, fma.place) == ("fma.rn.f32 %f1, %f2, %f2, %f1;", Place("gemm.py", 93))
    assert disassemble(cubin.data).loop("main").count("FFMA") == 1


def test_the_header_names_the_image() -> None:
    """Field case D10: target, tools, options and hash of the very image."""
    cubin = assemble(LOOP.replace("sm_90", "sm_80"), "sm_86", flags=("--fmad=false",))
    header = disassemble(cubin).header()
    assert "target sm_86" in header
    assert f"ptxas {cubin.version} -v -lineinfo -O3 --fmad=false" in header
    assert cubin.sha256 in header
    assert "nvdisasm 1" in header


LISTING = """\
\t.target\tsm_90
//--------------------- .text.k                   --------------------------
\t.section\t.text.k,"ax",@progbits
\t.align\t128
        .type           k,@function
k:
.text.k:
\t//## File ".nv_debug_ptx_txt", line 3
    /*0000*/  @!UP0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ;    /* 0x0000000402047981 */
  /* 0x000ea2000c1e1900 */
.L_x_1:
.L_x_7:
    /*0010*/  @PT  FFMA R7, -R4.reuse, |R4|, c[0x0][0x210] ;  /* 0x0000000404077223 */
  /* 0x004fd60000000007 */
\t//## File ".nv_debug_ptx_txt", line 1
    /*0020*/  BRX R2 -0x130 (*"BRANCH_TARGETS .L_x_1,.L_x_9"*);  /* 0x0 */
    /*0030*/  BRA.U !UP0, `(.L_x_7) ;  /* 0xfffffffc00dc8947 */
  /* 0x000fea000383ffff */
.L_x_9:
    /*0040*/  @P1 EXIT ;  /* 0x000000000000794d */
  /* 0x000fea0003800000 */
.L_x_2:
    /*0050*/  BRA `(.L_x_2);  /* 0xfffffffc00fc7947 */
  /* 0x000fc0000383ffff */
    /*0060*/  NOP;  /* 0x0000000000007918 */
  /* 0x000fc00000000000 */
"""


def test_a_listing() -> None:
    listing = LISTING.replace("/* 0x0 */", "/* 0x0000000000000949 */\n  /* 0x000fea0003800000 */")
    code = read(listing, ["first;", "second;", " third; "], (None, None, Place("a.py", 7)))["k"]
    load, fma, switch, branch, leave = code.instructions
    assert (load.guard, load.opcode, load.predicated) == ("@!UP0", "LDG.E.128", True)
    assert load.operands == ("R4", "desc[UR4][R2.64+0x10]")
    assert (load.line, load.ptx, load.place) == (3, "third;", Place("a.py", 7))
    assert load.word == 0x000EA2000C1E1900_0000000402047981
    assert (fma.guard, fma.predicated) == ("", False)
    assert fma.operands == ("R7", "-R4.reuse", "|R4|", "c[0x0][0x210]")
    assert (switch.targets, switch.line, switch.place) == ((0x10, 0x40), 1, None)
    assert (branch.operands, branch.targets) == (("!UP0", "`(.L_x_7)"), (0x10,))
    assert (leave.address, leave.guard, leave.operands) == (0x40, "@P1", ())
    assert code.entries == (0,)


def test_control_codes() -> None:
    """Field case D04. By hand from the bits: 0x0ea2 is scoreboard 2 for the result, 0x004fd6
    waits for it with a stall of 11."""
    load = Control.decode(0x000EA2000C1E1900_0000000402047981)
    assert load == Control(stall=1, yields=False, write=2, read=7, wait=0, reuse=0)
    assert str(load) == "B------:R-:W2:-:S01:----"
    fma = Control.decode(0x004FD60000000007_0000000404077223)
    assert fma == Control(stall=11, yields=True, write=7, read=7, wait=0b100, reuse=0)
    assert str(fma) == "B--2---:R-:W-:Y:S11:----"
    kept = Control.decode((0b0101 << 17 | 15) << 105)
    assert (kept.reuse, str(kept)) == (0b0101, "B------:R0:W0:Y:S15:a-c-")


def test_scoreboards_agree_with_the_code() -> None:
    """What a load writes is waited for before its use: the control codes are read rightly."""
    main = read_back(LOOP).loop("main")
    (load,), (fma,) = main.find("LDG"), main.find("FFMA")
    assert load.control.write < 6
    between = [one for one in main.instructions if load.address < one.address <= fma.address]
    assert any(one.control.wait >> load.control.write & 1 for one in between)


@pytest.mark.parametrize(
    ("opcode", "wanted", "match"),
    [
        ("LDG.E.128", "LDG", True),
        ("LDG.E.128", "LDG.128", True),
        ("LDG.E.LTC128B.128", "LDG.E.128", True),
        ("LDG.E", "LDG.128", False),
        ("LDGSTS.E.128", "LDG", False),
        ("FFMA2", "FFMA", False),
        ("FFMA", "FFMA", True),
    ],
)
def test_matching(opcode: str, wanted: str, match: bool) -> None:
    assert Instruction(0, "", opcode, (), 0).matches(wanted) == match


def test_an_image_that_nvdisasm_refuses(tmp_path: Path) -> None:
    data = bytearray(assemble(LOOP).data)
    data[0x30:0x34] = b"\xff\xff\xff\xff"  # e_flags: an architecture that does not exist
    with pytest.raises(ptx.PtxError, match=r"nvdisasm .* failed with"):
        disassemble(Cubin.read(bytes(data)))


def test_a_loop_that_goes_on_behind_other_code() -> None:
    code = tuple(Instruction(16 * at, "", "MOV", (), 0) for at in range(6))
    inner = Region("wait", (code[4],), 2)
    outer = Region("main", (code[1], code[2], code[4]), 1, (inner,))
    listing = Region("k", code, 0, (outer, inner)).listing()
    assert listing.splitlines() == [
        "0x0000  MOV",
        "  loop main:",
        "0x0010    MOV",
        "0x0020    MOV",
        "  loop main goes on below",
        "0x0030  MOV",
        "  loop main, more of it:",
        "    loop wait:",
        "0x0040      MOV",
        "    loop wait ends",
        "  loop main ends",
        "0x0050  MOV",
    ]
