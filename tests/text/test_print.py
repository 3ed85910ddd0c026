"""What is printed: headers, declarations, line tables, and the maps from lines to statements."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptx.errors import Place, PtxError
from ptx.ir import (
    Addr,
    Function,
    Imm,
    Instruction,
    Label,
    Linked,
    Module,
    Parameter,
    Pragma,
    Reg,
    Registers,
    Symbol,
    Variable,
)
from ptx.operands import select
from ptx.text import parse, print_module, render
from ptx.toolchain import find_tool

R = [Reg(f"%r{i}", "b32") for i in range(4)]
RD = Reg("%rd0", "b64")


def instruction(op: str, *operands: object, line: int = 0, file: str = "kernel.py") -> Instruction:
    place = Place(file, line) if line else None
    return Instruction(op, operands, None, select(op, operands), place)  # type: ignore[arg-type]


def module(*body: object, **given: str) -> Module:
    declared = (Registers("b32", "%r", 4), Registers("b64", "%rd", 1))
    function = Function("k", (Parameter("u64", "p"),), declared + body)  # type: ignore[arg-type]
    return Module(function, **given)  # type: ignore[arg-type]


def test_a_kernel() -> None:
    made = module(
        instruction("ld.param.u64", RD, Addr(Symbol("p", 0, "param"))),
        Label("L"),
        Pragma("nounroll"),
        instruction("st.global.b32", Addr(RD, -4), R[1]),
        instruction("bra", Label("L")),
        target="sm_90",
        version="8.0",
    )
    assert print_module(made) == (
        ".version 8.0\n.target sm_90\n.address_size 64\n\n"
        ".visible .entry k(\n\t.param .u64 p\n)\n{\n"
        "\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<1>;\n"
        "\tld.param.u64 %rd0, [p];\nL:\n"
        '\t.pragma "nounroll";\n\tst.global.b32 [%rd0+-4], %r1;\n\tbra L;\n}\n'
    )
    assert parse(str(made)) == made


def test_lines_of_python_become_a_line_table(tmp_path: Path) -> None:
    made = module(
        instruction("mov.u32", R[0], Imm("1"), line=7),
        instruction("mov.u32", R[1], Imm("2"), line=7),
        instruction("mov.u32", R[2], Imm("3"), line=9, file="C:\\other.py"),
        instruction("ret"),
        target="sm_90",
        version="8.0",
    )
    rendered = render(made)
    lines = rendered.text.split("\n")
    body = lines[lines.index("{") + 3 : lines.index("}")]
    assert body == [
        "\t.loc 1 7 0", "\tmov.u32 %r0, 1;", "\tmov.u32 %r1, 2;",
        "\t.loc 2 9 0", "\tmov.u32 %r2, 3;", "\tret;",
    ]  # fmt: skip
    assert lines[-3:] == ['.file 1 "kernel.py"', '.file 2 "C:/other.py"', ""]
    (tmp_path / "a.ptx").write_text(rendered.text)
    ptxas = find_tool("ptxas").path
    subprocess.run([ptxas, "-arch=sm_90", "-lineinfo", "a.ptx"], cwd=tmp_path, check=True)
    assert parse(str(made)) == made, "str() leaves the line table out"


def test_parsed_text_gets_no_second_line_table() -> None:
    text = print_module(module(instruction("ret", line=3), target="sm_90", version="8.0"))
    assert text.count(".loc") == 1
    assert print_module(parse(text)).count(".loc") == 1


def test_file_numbers_follow_those_of_foreign_text() -> None:
    header = ".version 8.0\n.target sm_90\n.address_size 64\n"
    foreign = parse(header + '.file 3 "a.cu"\n').items
    built = module(instruction("ret", line=5)).items
    printed = print_module(Module(*foreign, *built, target="sm_90", version="8.0"))
    assert '.file 4 "kernel.py"' in printed and "\t.loc 4 5 0\n" in printed


def test_lines_lead_to_statements_and_back() -> None:
    made = module(
        Label("L"),
        instruction("mov.u32", R[0], Imm("1"), line=7),
        instruction("bra", Label("L"), line=8),
        target="sm_90",
        version="8.0",
    )
    rendered = render(made)
    lines = rendered.text.split("\n")
    function = made.kernels["k"]
    assert len(rendered.places) == len(rendered.statements) == len(lines) - 1
    for statement, line in zip(function.instructions, rendered.instruction_lines["k"], strict=True):
        assert lines[line - 1].strip() == str(statement)
        assert rendered.statements[line - 1] is statement
        assert rendered.places[line - 1] is statement.place
    label = lines.index("L:")
    assert rendered.statements[label] is function.statements[2]


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        (Variable("shared", "f32", "a", (4, 33)), ".shared .f32 a[4][33];"),
        (Variable("shared", "b8", "a", (None,), 16, None, "extern"),
         ".extern .shared .align 16 .b8 a[];"),
        (Variable("global", "f32", "a", (), None, 4, "", (Imm("1.0"), Imm("2.0"))),
         ".global .v4 .f32 a = {1.0, 2.0};"),
        (Variable("const", "u64", "a", (3,), initial=(
            Symbol("b", 8), Linked(Symbol("b", -4), True), Linked(Symbol("b"), False, 0xFF00))),
         ".const .u64 a[3] = {b+8, generic(b)+-4, 0xFF00(b)};"),
        (Variable("global", "u32", "a", linkage="weak", attributes=".attribute(.managed)"),
         ".weak .global .attribute(.managed) .u32 a;"),
    ],
)  # fmt: skip
def test_variables(variable: Variable, text: str) -> None:
    made = Module(variable, target="sm_90", version="8.0")
    assert print_module(made).split("\n")[3] == text
    assert parse(str(made)) == made


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("f32", "a"), ".param .f32 a"),
        (Parameter("b8", "a", 128, 64), ".param .align 64 .b8 a[128]"),
        (Parameter("u64", "a", pointer=""), ".param .u64 .ptr a"),
        (Parameter("u64", "a", pointer="", pointer_align=1), ".param .u64 .ptr .align 1 a"),
        (Parameter("u64", "a", pointer="global", pointer_align=16),
         ".param .u64 .ptr .global .align 16 a"),
    ],
)  # fmt: skip
def test_parameters(parameter: Parameter, text: str) -> None:
    made = Module(Function("k", (parameter,), ()), target="sm_90", version="8.0")
    assert f"(\n\t{text}\n)" in print_module(made)
    assert parse(str(made)) == made


def test_target_and_version_are_inferred() -> None:
    made = module(instruction("wgmma.fence.sync.aligned", line=3))
    assert print_module(made).split("\n")[:2] == [".version 8.0", ".target sm_90a"]
    given = module(instruction("wgmma.fence.sync.aligned", line=3), version="8.6")
    assert print_module(given).split("\n")[:2] == [".version 8.6", ".target sm_90a"]


def test_needs_that_no_target_meets_name_both_places() -> None:
    made = module(
        instruction("wgmma.fence.sync.aligned", line=3),
        instruction("tcgen05.wait::ld.sync.aligned", line=4),
    )
    with pytest.raises(PtxError, match=r"wgmma.*kernel\.py:3") as caught:
        print_module(made)
    assert str(caught.value).startswith("kernel.py:4: ")
