"""What a text means: names, scopes, literals, constant expressions, directives."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptx.errors import PtxError
from ptx.ir import (
    SINK,
    Addr,
    Arguments,
    Block,
    Directive,
    Imm,
    Instruction,
    Label,
    Line,
    Module,
    Not,
    Operand,
    Pair,
    Pragma,
    Prototype,
    Reg,
    Registers,
    Selected,
    Special,
    Symbol,
    Targets,
    Variable,
    Vector,
)
from ptx.text import parse, print_module
from ptx.toolchain import find_tool

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
START = (
    HEADER
    + """.global .u32 table[8];
.func (.param .b32 r) f(.param .b32 a);
.visible .entry k(.param .u64 p, .param .align 64 .b8 map[128])
{
    .reg .b32 %r<20>, i; .reg .b64 %rd<4>; .reg .f32 %f<8>; .reg .f64 %fd<2>; .reg .pred p1, q1;
    .reg .v4 .f32 v; .shared .b8 tile[64];
"""
)
R1, R2, RD1 = Reg("%r1", "b32"), Reg("%r2", "b32"), Reg("%rd1", "b64")


def body(text: str) -> tuple[object, ...]:
    """The statements of `text` in a kernel, without its declarations."""
    statements = parse(START + text + "\n}\n").kernels["k"].body
    assert statements is not None
    return statements[9:]


def operands(text: str) -> tuple[Operand, ...]:
    (found,) = body(text)
    assert isinstance(found, Instruction) and found.variant is not None
    return found.operands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov.u32 %r1, %tid.x;", (R1, Special("%tid.x"))),
        ("mov.u32 %r1, %laneid;", (R1, Special("%laneid"))),
        ("mov.u32 %r1, WARP_SZ;", (R1, Imm("32"))),
        ("mov.u32 %r1, tile+16;", (R1, Symbol("tile", 16))),
        ("mov.u32 %r1, tile + (-16);", (R1, Symbol("tile", -16))),
        ("mov.u64 %rd1, p;", (RD1, Symbol("p"))),
        ("mov.u32 i, 5U;", (Reg("i", "b32"), Imm("5U"))),
        ("ld.global.u32 %r1, [%rd1];", (R1, Addr(RD1))),
        ("ld.global.u32 %r1, [%rd1+4];", (R1, Addr(RD1, 4))),
        ("ld.global.u32 %r1, [ %rd1 + - 4 ];", (R1, Addr(RD1, -4))),
        ("ld.global.u32 %r1, [%rd1+2*(3+0x1)];", (R1, Addr(RD1, 8))),
        ("ld.global.u32 %r1, [table+8];", (R1, Addr(Symbol("table"), 8))),
        ("ld.volatile.v2.f32 {%f1, _}, [%rd1];", (Vector((Reg("%f1", "f32"), SINK)), Addr(RD1))),
        ("ld.global.u32 {%r1}, [%rd1];", (R1, Addr(RD1))),
        ("ld.local.u32 %r1, [16];", (R1, Addr(Imm("16")))),
        ("setp.lt.s32 p1|q1, %r1, %r2;", (Pair(Reg("p1", "pred"), Reg("q1", "pred")), R1, R2)),
        ("setp.lt.s32 _ | q1, %r1, %r2;", (Pair(SINK, Reg("q1", "pred")), R1, R2)),
        ("setp.lt.and.s32 p1, %r1, %r2, ! q1;",
         (Reg("p1", "pred"), R1, R2, Not(Reg("q1", "pred")))),
        ("vadd.u32.u32.u32 %r1, %r2.b0, %r1.h1;", (R1, Selected(R2, "b0"), Selected(R1, "h1"))),
        ("bra k;", (Label("k"),)),
        ("call (%r1), f, (%r2);", (Arguments((R1,)), Symbol("f"), Arguments((R2,)))),
        ("call f, ();", (Symbol("f"), Arguments(()))),
        ("call (%r1), %rd1, (%r2), proto;",
         (Arguments((R1,)), RD1, Arguments((R2,)), Label("proto"))),
        ("add.f32 %f1, v.x, v.a;", (Reg("%f1", "f32"), Reg("v.x", "f32"), Reg("v.w", "f32"))),
        ("ld.global.v4.f32 v, [%rd1];",
         (Vector(tuple(Reg(f"v.{axis}", "f32") for axis in "xyzw")), Addr(RD1))),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r1, 7}];",
         (Addr(RD1, 0, (R1, Imm("7"))),)),
        ("ret;", ()),
    ],
)  # fmt: skip
def test_operands(text: str, expected: tuple[Operand, ...]) -> None:
    assert operands(text) == expected


def test_spaces_of_symbols_are_known() -> None:
    assert operands("mov.u32 %r1, tile;")[1].space == "shared"  # type: ignore[union-attr]
    assert operands("mov.u64 %rd1, p;")[1].space == "param"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "mov.u32 %r1, 1;",
        "mov .u32 %r1 , 1 ;",
        "mov.u32%r1,1;",
        "mov.u32\n%r1\n,\n1\n;",
        "/* a */ mov.u32 /* b\n */ %r1, // c\n 1;",
        "mov.u32\t%r1, 1;\r",
        "@p1 mov.u32 %r1, 1;",
        "@ ! p1 mov.u32 %r1, 1;",
    ],
)
def test_blanks_and_comments_stand_anywhere(text: str) -> None:
    assert operands(text) == (R1, Imm("1"))


@pytest.mark.parametrize(
    "literal",
    "0 7 017 0x1F 0X1f 0b101 0B11 42U 0xFFU 0b1U -4 -0x8 18446744073709551615".split(),
)
def test_integer_literals_keep_their_spelling(literal: str) -> None:
    assert operands(f"mov.u64 %rd1, {literal};") == (RD1, Imm(literal))


@pytest.mark.parametrize(
    "literal",
    "0.0 1. .5 -1.5 1e5 1.0e-3 2.5E+4 0d3FF0000000000000 0D3ff0000000000000".split(),
)
def test_floating_point_literals_keep_their_spelling(literal: str) -> None:
    assert operands(f"mov.f64 %fd1, {literal};")[1] == Imm(literal)


EXPRESSIONS = [
    "3*4+1", "(3+4)*-2", "1<<4|3", "~5", "!5", "!0", "+5", "--5", "-7/2", "-7 % 3", "7/-2",
    "1?2:3", "0?2:0?4:5", "5>3", "5<=3", "-1>>1", "-1<0U", "(.s64)-1<0", "(.u64)-1>0", "3&6^1",
    "1&&0||2", "4==4", "4!=4", "0xFFFFFFFFFFFFFFFF/2", "0xFFFFFFFFFFFFFFFF>>60", "10-3-2",
    "2*3 % 4", "0x10+010+0b10", "WARP_SZ*2", "(-7 % 3) - 1 < 0", "-7 % -3", "(3<4) - 2 < 0",
    "(1U << 1) - 3 < 0", "~0U < 0", "(5U && 1) - 2 < 0", "(1 ? 5U : 3) - 6 < 0",
    "(0 ? 5 : 3U) - 6 < 0", "-5U < 0", "1 - 2U < 0", "(.s64)5U - 6 < 0", "(.u64)5 - 6 < 0",
    "0x8000000000000000 < 0", "-1 / 2", "-1 / 2U", "-8 >> 1", "-8U >> 1", "(5 & 3U) - 9 < 0",
    "(5 | 3) - 9 < 0", "1<<63", "1 | 2 == 2", "6 & 3 == 3", "2 + 3 << 1", "1 < 2 < 3",
    "0x7FFFFFFFFFFFFFFF + 1 < 0", "-1 == 0xFFFFFFFFFFFFFFFF", "-1 > 1U", "~0 / 63", "1 > ~2",
]  # fmt: skip


def test_constant_expressions_have_the_values_of_ptxas(tmp_path: Path) -> None:
    """A variable for each expression; with expressions and with values, it is one cubin."""

    def cubin(values: list[str]) -> bytes:
        text = HEADER + "".join(f".global .s64 v{i} = {v};" for i, v in enumerate(values))
        (tmp_path / "a.ptx").write_text(text + ".visible .entry k() { ret; }\n")
        ptxas = find_tool("ptxas").path
        command = [ptxas, "-arch=sm_90a", "-c", "a.ptx", "-o", "a.cubin"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        return (tmp_path / "a.cubin").read_bytes()

    text = HEADER + "".join(f".global .s64 v{i} = {v};" for i, v in enumerate(EXPRESSIONS))
    values = [str(variable.initial) for variable in parse(text).variables]
    assert all(value.lstrip("-").isdigit() for value in values)
    assert cubin(values) == cubin(EXPRESSIONS)


def assembled(text: str, folder: Path) -> bytes:
    (folder / "a.ptx").write_text(text)
    command = [find_tool("ptxas").path, "-arch=sm_90a", "a.ptx", "-o", "a.cubin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return (folder / "a.cubin").read_bytes()


def test_elements_of_arrays_and_whole_vectors(tmp_path: Path) -> None:
    """PTX ISA 9.0, section 6.4.2, and 9.7.9.3: the printed text gives the very cubin."""
    text = HEADER + (
        ".global .u32 table[8];\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .v4 .u32 v, w; .shared .b32 s[64], t[4][8];\n"
        ".shared .v4 .f32 q[8];\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, table[3];\n"
        "st.shared.u32 s[2*3], %r1; st.shared.u8 s[1], %r1; st.shared.u32 t[1], %r1;\n"
        "st.shared.u32 q[5], %r1; mov.u32 %r2, s[4]; mov.v4.u32 v, %tid; mov.v4.b32 w, v;\n"
        "mov.v2.u32 {%r3, %r4}, {v.x, %ctaid.y}; add.u32 %r5, w.z, %r3; add.u32 %r5, %r5, %r4;\n"
        "st.global.v2.u32 [%rd1], {%r2, %r5};\nret;\n}\n"
    )
    found = parse(text)
    printed = print_module(found)
    assert parse(printed) == found
    assert "ld.global.u32 %r1, [table+12];" in printed
    assert "st.shared.u8 [s+4], %r1;" in printed  # counted in elements of s
    assert "st.shared.u32 [q+20], %r1;" in printed  # in those of its vectors
    assert "mov.u32 %r2, s+16;" in printed
    one = [" ".join(re.sub(r"//.*", "", t).split("\n")) for t in (text, printed)]
    assert assembled(one[0], tmp_path) == assembled(one[1], tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "ld.shared.u32 %r1, tile[%r2];",
            r"an index in a register .* add 1 times %r2 to that of tile",
        ),
        ("ld.param.u64 %rd1, p[0];", "p is no array"),
        ("atom.shared.add.u32 %r1, tile[4], 1;", "only ld, st, mov and cvta take an element"),
        ("ld.shared.u32 %r1, tile[1.0];", "an index is an integer"),
        ("ld.shared.u32 %r1, [tile[4]];", "expected"),
        ("mov.u32 %r1, %tid;", "expected .u32, got a vector of 4"),
        ("mov.v4.f32 v, %f1;", "expected a vector of 4"),
        ("mov.v2.u32 {%r1, %r2}, %tid;", "expected a vector of 2 .u32, got 4 elements"),
    ],
)
def test_no_elements(line: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        body(line)


def test_inner_scopes_shadow() -> None:
    text = """mov.b32 %r1, 1;
    { .reg .f32 %r1; mov.f32 %r1, 1.0; { .reg .b32 %r1; mov.b32 %r1, 2; } mov.b32 %r2, %r1; }
    { .reg .b32 %r1; mov.b32 %r1, 3; }
    mov.b32 %r1, 4;"""
    first, outer, second, last = body(text)
    assert isinstance(outer, Block) and isinstance(second, Block)
    inner = outer.body[2]
    assert isinstance(inner, Block)
    written = [first, outer.body[1], inner.body[1], second.body[1], last]
    regs = [s.operands[0] for s in written if isinstance(s, Instruction)]
    assert [(r.name, r.type, r.scope) for r in regs if isinstance(r, Reg)] == [
        ("%r1", "b32", 0), ("%r1", "f32", 1), ("%r1", "b32", 2), ("%r1", "b32", 3),
        ("%r1", "b32", 0),
    ]  # fmt: skip
    assert len(set(map(id, regs))) >= 4 and regs[0] == regs[-1] != regs[2] != regs[3]


def test_variables_of_inner_scopes_are_told_apart() -> None:
    text = """{ .param .b32 x; st.param.b32 [x], %r1; } { .param .b64 x; st.param.b64 [x+8], %rd1; }
    { .param .b32 y; st.param.b32 [y], %r1; }"""
    blocks = [block for block in body(text) if isinstance(block, Block)]
    for number, block in enumerate(blocks, 1):
        variable, store = block.body
        assert isinstance(variable, Variable) and isinstance(store, Instruction)
        address = store.operands[0]
        assert isinstance(address, Addr) and isinstance(address.base, Symbol)
        assert (address.base.name, address.base.scope) == (variable.name, variable.scope)
        assert variable.scope == number and address.base.space == "param"


def test_statements_that_are_no_instructions() -> None:
    text = """.loc 1 2 3, function_name info+8, inlined_at 1 4 5
    .pragma "nounroll";
    t: .branchtargets a, b;
    c: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[8]) .noreturn .abi_preserve 3;
    a: b:
    .reg .v2 .b32 w;
    .mystery 1, 2;"""
    line, pragma, targets, prototype, a, b, registers, mystery = body(text)
    assert line == Line(".loc 1 2 3, function_name info+8, inlined_at 1 4 5")
    assert pragma == Pragma("nounroll")
    assert targets == Targets("t", "branchtargets", ("a", "b"))
    assert isinstance(prototype, Prototype) and prototype.noreturn
    assert prototype.params[0].alignment == 8 and prototype.directives == (("abi_preserve", (3,)),)
    assert (a, b) == (Label("a"), Label("b"))
    assert registers == Registers("b32", "w", vector=2)
    assert mystery == Directive(".mystery 1, 2;")


WMMA = "wmma.mma.sync.aligned.row.col.m8n8k4"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


@pytest.mark.parametrize(
    ("printed", "op"),
    [
        # nvcc of atomicAdd_block and of wmma on doubles
        ("atom.global.cta.add.u32 %r1, [%rd1], 1;", "atom.cta.global.add.u32"),
        (
            f"{WMMA}.f64.f64.f64.f64.rn {{%fd0, %fd1}}, {{%fd0}}, {{%fd0}}, {{%fd0, %fd1}};",
            f"{WMMA}.rn.f64.f64.f64.f64",
        ),
        ("add.s32.sat %r1, %r1, 2;", "add.sat.s32"),
        ("ld.f32.global %f1, [%rd1];", "ld.global.f32"),
        # Blanks before the end, and a literal for a predicate, as Triton prints them
        ("cp.async.bulk.commit_group ;", "cp.async.bulk.commit_group"),
        ("selp.b32 %r1, %r1, 2, 1;", "selp.b32"),
        (
            f"{WGMMA} {{%f1, %f2, %f3, %f4}}, %rd1, %rd2, 0, 1, 1, 0, 0;",
            WGMMA,
        ),
    ],
)
def test_spellings_of_compilers(printed: str, op: str, tmp_path: Path) -> None:
    found = parse(START + printed + "\nret;\n}\n")
    instruction = found.kernels["k"].instructions[0]
    assert (instruction.op, instruction.variant is not None) == (op, True)
    assert parse(print_module(found)) == found
    folder = tmp_path / "a.ptx"
    folder.write_text(START + printed + "\nret;\n}\n")
    command = [find_tool("ptxas").path, "-arch=compute_90a", "-o", tmp_path / "a", folder]
    assert not subprocess.run(command, capture_output=True).returncode


@pytest.mark.parametrize(
    "text",
    [
        # An order that changes what operands are; a modifier twice; literals that are no truth
        "cvt.f32.rn.f16 %r1, %f1;",
        "ld.global.global.f32 %f1, [%rd1];",
        f"{WGMMA} {{%f1, %f2, %f3, %f4}}, %rd1, %rd2, -1, 1, 1, 0, 0;",
        "setp.lt.and.bf16 p1, %r1, %r2, 1;",
    ],
)
def test_no_spelling_of_anything(text: str) -> None:
    with pytest.raises(PtxError):
        body(text)


def module(text: str) -> Module:
    return parse(HEADER + text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('.file 1 "a.cu", 17, 4\n', '.file 1 "a.cu", 17, 4'),
        (".alias f, g;", ".alias f, g;"),
        (".section .debug_x\n{\n .b8 1 // one\n l: .b32 l+4\n}\n",
         ".section .debug_x\n{\n .b8 1\n l: .b32 l+4\n}"),
        (".mystery a,\n b\n.pragma \"x\";", ".mystery a,\n b"),
        (".mystery", ".mystery"),
        ('.mystery "a // b";', '.mystery "a // b";'),
    ],
)  # fmt: skip
def test_other_directives_are_kept(text: str, kept: str) -> None:
    found = module(text)
    assert found.items[0] == Directive(kept)
    assert parse(print_module(found)) == found


def test_headers() -> None:
    found = parse("/* c */ .version 7.8 .target sm_80, debug, texmode_independent // x\n")
    assert (found.version, found.target, found.address_size) == ("7.8", "sm_80", 64)
    assert found.options == ("debug", "texmode_independent")
    assert ".target sm_80, debug, texmode_independent\n" in print_module(found)


def test_functions() -> None:
    found = module(
        """.extern .func (.param .b32 s) vprintf (.param .b64 f, .param .b64 v);
        .weak .func w { ret; }
        .func (.reg .u32 out) add1 (.reg .u32 in) { add.u32 out, in, 1; ret; }
        .visible .entry k() .maxntid 256,1, 1 .pragma "x"; .noreturn { ret; }
        .entry later(.param .b8 .align 64 m[4]);"""
    )
    vprintf, w, add1, k, later = found.items
    assert vprintf.body is None and vprintf.linkage == "extern"  # type: ignore[union-attr]
    assert [p.name for p in vprintf.params + vprintf.results] == ["f", "v", "s"]  # type: ignore[union-attr]
    assert (w.linkage, w.entry, w.params) == ("weak", False, ())  # type: ignore[union-attr]
    assert add1.results[0].space == "reg"  # type: ignore[union-attr]
    assert k.directives == (("maxntid", (256, 1, 1)), ('pragma "x";', ()), ("noreturn", ()))  # type: ignore[union-attr]
    assert later.params[0].align == 64 and later.body is None  # type: ignore[union-attr]
    assert parse(print_module(found)) == found


def test_a_range_may_be_named_with_a_digit_at_its_end() -> None:
    found = body(".reg .f32 %s1<5>, %s<3>; mov.f32 %f1, %s12; mov.f32 %f1, %s2;")
    values = [s.operands[1] for s in found if isinstance(s, Instruction)]
    assert values == [Reg("%s12", "f32"), Reg("%s2", "f32")]
