"""Every mistake is told with its line and column, in one message."""

from __future__ import annotations

import re

import pytest

from ptx.errors import PtxError
from ptx.text import parse

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
START = HEADER + (
    ".visible .entry k(.param .u64 a)\n{\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<4>;\n"
    "\t.reg .pred %p<2>;\n\t.reg .f32 %f<3>;\n"
)


def refuses(text: str, place: str, message: str) -> None:
    """One error for `text`, strictly and leniently."""
    with pytest.raises(PtxError) as caught:
        parse(text, "k.ptx")
    assert str(caught.value).startswith(f"k.ptx:{place}: {message}"), str(caught.value)
    errors: list[PtxError] = []
    parse(text, "k.ptx", errors)
    assert [str(error) for error in errors] == [str(caught.value)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        # names
        ("add.s32 %r1, %r20, 1;", 15,
         "%r20 is out of range: .reg .b32 %r<20> declares %r0 to %r19\n"),
        ("add.s32 %r1, %q, %q;", 15, "%q is not declared"),
        ("mov.u32 %r1, %tidx;", 15, "%tidx is not declared; near: %tid.x"),
        ("mov.u32 %r1, tile;", 15, "tile is not declared"),
        ("@!%p2 ret;", 4, "%p2 is out of range: .reg .pred %p<2> declares %p0 to %p1"),
        ("@%r1 ret;", 3, "a guard is a predicate register; %r1 is .b32"),
        (".reg .b32 %r<5>;", 12, "%r<> is declared twice: .reg .b32 %r<20> is there already"),
        (".reg .f32 %r3;", 12, "%r3 is declared twice: .reg .b32 %r<20> is there already"),
        (".reg .f32 a;", 12, "a is declared twice in one scope"),
        (".reg .f32 x3, x<4>;", 16, ".reg .f32 x<4> declares x3 a second time"),
        (".reg .b32 1x;", 12, "1x is no PTX name: a name does not start with a digit"),
        (".reg .bf16 x;", 7, "expected the type of a register, got `.bf16`"),
        ("bra 5;", 6, "expected a name, got `5`"),
        # operands
        ("add.s32 %r1, %r2 1;", 19, "expected `,` or `;`, got `1`"),
        ("add.s32 %r1, , 2;", 15, "an operand is missing"),
        ("add.s32 %r1, %r2, {;", 20, "`{` is not closed"),
        ("add.s32 %r1, %r2], 1;", 18, "expected `,` or `;`, got `]`"),
        ("ld.global.u32 %r1, [%rd1-4];", 26, "PTX does not subtract here: write %rd1+-4"),
        ("ld.global.u32 %r1, [%rd1+%rd2];", 27,
         "an address is a base and a constant; got `%rd2` after +"),
        ("ld.global.u32 %r1, [%rd1+1.5];", 27, "an offset is an integer, got 1.5"),
        ("ld.global.v2.f32 {%f1 %f2}, [%rd1];", 24, "expected `,` or `;`, got `%f2`"),
        ("call (%r1, f, (%r2);", 16, "`(` is not closed"),
        ("setp.lt.s32 %p1|%p0|%p1, %r1, 2;", 21, "expected `,` or `;`, got `|`"),
        # literals
        ("mov.f32 %f1, 1.0f;", 15, "1.0f is no literal: PTX has no suffix f; write 1.0"),
        ("mov.f32 %f1, 0f3F80000;", 15,
         "0f3F80000 is no literal: 0f takes exactly 8 hexadecimal digits"),
        ("mov.f32 %f1, -0f3F800000;", 15,
         "-0f3F800000 is no literal: the sign is the first bit of the pattern"),
        ("mov.u32 %r1, 08;", 15, "08 is no literal: a leading 0 makes it octal"),
        ("mov.u32 %r1, 5u;", 15, "5u is no literal: the suffix is a capital U, as in 5U"),
        ("mov.u32 %r1, 0x;", 15, "0x is no literal: 0x takes hexadecimal digits"),
        ("mov.u32 %r1, 0b12;", 15, "0b12 is no literal: 0b takes binary digits"),
        ("mov.u64 %rd1, 0x1FFFFFFFFFFFFFFFFF;", 16, "0x1FFFFFFFFFFFFFFFFF does not fit 64 bits"),
        ("mov.u32 %r1, 3/0;", 16, "division by zero"),
        ("mov.u32 %r1, 1<<64;", 16, "a shift by 64 is outside 0 to 63"),
        ("mov.u32 %r1, 1.5*2.0;", 18, "`*` takes integers"),
        ("mov.u32 %r1, 1?2;", 18, "expected `:`, got the end"),
        # statements
        ("ad.s32 %r1, %r2, 3;", 2, "no instruction is named ad; near: "),
        ("add.q32 %r1, %r2, 3;", 2, "add.q32 is no instruction: after add expected "),
        ("L1: L2 %x;", 6, "no instruction is named L2"),
        ("%r1 = 5;", 2, "expected a statement, got `%r1`"),
        ("add.s32 %r1, %f1, 2;", 2, "add.s32 %r1, %f1, 2;\n  operand a: expected .s32, got %f1 "),
        (".pragma nounroll;", 10, "expected a string after .pragma"),
        (".branchtargets a;", 2, ".branchtargets needs a label before it"),
        (".shared .align 3 .b8 x[4];", 17, "an alignment is a power of two, got 3"),
        (".shared .b8 x[n];", 16, "expected a number of elements, got `n`"),
        (".shared .pred x;", 10, "expected the type of a variable, got `.pred`"),
        (".shared .b8 x", 2, "expected `;` after the declaration of x, got `ret`"),
        ("# x", 2, "'#' has no meaning here"),
        ("caf\u00e9;", 5, "'\\xe9' is not ASCII, which PTX does not take even in a comment"),
        ("// caf\u00e9", 8, "'\\xe9' is not ASCII"),
        ("\x00", 2, "the control character '\\x00' is no part of PTX"),
        ("/* ret;", 2, "the comment does not end"),
        ('.pragma "x;', 10, "the string does not end on its line"),
    ],
)  # fmt: skip
def test_in_a_body(text: str, column: int, message: str) -> None:
    line = 11 if message.startswith("expected `;` after the declaration") else 10
    refuses(f"{START}\t{text}\n\tret;\n}}\n", f"{line}:{column}", message)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "a module begins with .version and .target: expected `.version`"),
        (".version 9\n.target sm_90\n", "1:1", "a module begins with .version and .target"),
        (".version 8.0\n.entry k() { ret; }\n", "2:1",
         "a module begins with .version and .target: expected `.target`, as .target sm_90, got"),
        (HEADER + ".version 8.0\n", "4:1", ".version stands once, at the start of the module"),
        (HEADER + "ret;", "4:1", "expected a function, a variable or a directive, got `ret`"),
        (HEADER + ".visible .b32 x;", "4:10", "expected .entry, .func or a state space, got"),
        (HEADER + ".entry k() { ret;\n", "5:1", "the function's body is not closed"),
        (HEADER + ".entry k( { ret; }\n", "4:11", "expected `.param`, got `{`"),
        (HEADER + ".entry k(.param .u32 a,) { ret; }\n", "4:24", "expected `.param`, got `)`"),
        (HEADER + ".entry k(.reg .u32 a) { ret; }\n", "4:10", "a kernel's parameters are .param"),
        (HEADER + ".entry k(.param .u64 .ptr .align 8 .global a) { ret; }\n", "4:36",
         "the space comes before the alignment: .ptr .global .align 8"),
        (HEADER + ".entry k(.param .u64 .ptr .global .align 3 a) { ret; }\n", "4:42",
         "an alignment is a power of two, got 3"),
        (HEADER + ".entry k(.param .b8 a[]) { ret; }\n", "4:23", "a kernel's parameter has a size"),
        (HEADER + ".entry k(.param .u32 a, .param .u32 a) { ret; }\n", "4:25",
         "a is declared twice in one scope"),
        (HEADER + ".entry k.part.0() { ret; }\n", "4:8", "k.part.0 is no PTX name: '.' may not"),
        (HEADER + ".entry 1k() { ret; }\n", "4:8", "1k is no PTX name: a name does not start"),
        (HEADER + ".entry _() { ret; }\n", "4:8", "_ is no PTX name: _ alone is none"),
        (HEADER + ".entry kernel<float>() { ret; }\n", "4:8", "kernel<float> is no PTX name: '<'"),
        (HEADER + ".global .u32 a = b-4;\n", "4:19", "PTX does not subtract here: write b+-4"),
        (HEADER + ".global .u32 a[2] = {1, 2;\n", "4:26", "expected `,` or `}`, got `;`"),
        (HEADER + ".section .x { .b8 1\n", "4:13", "`{` is not closed"),
    ],
)  # fmt: skip
def test_outside_a_body(text: str, place: str, message: str) -> None:
    refuses(text, place, message)


@pytest.mark.parametrize("name", ["$x", "_a", "%x", "a$b", "ret"])
def test_names_that_are_legal(name: str) -> None:
    assert list(parse(f"{HEADER}.entry {name}() {{ ret; }}\n").kernels) == [name]


def test_the_line_is_shown_with_a_mark() -> None:
    with pytest.raises(PtxError) as caught:
        parse(START + "\tadd.s32 %r1,\t%r20, 1; // more\n\tret;\n}\n", "k.ptx")
    error = caught.value
    assert error.source == "\tadd.s32 %r1,\t%r20, 1; // more"
    assert str(error).split("\n")[1:] == [
        "  \tadd.s32 %r1,\t%r20, 1; // more",
        "  \t            \t^",
    ]


def test_every_mistake_is_listed_and_the_rest_is_kept() -> None:
    text = START + "\tad.s32 %r1, %r2, 3;\n\tmov.u32 %r1, %z;\n\tmov.u32 %r2, %z;\n\tret;\n}\n"
    text += ".global .u32 x[;\n.entry other() {\n\tmov.u32 %r1, 1;\n\tret;\n}\n"
    errors: list[PtxError] = []
    module = parse(text, "k.ptx", errors)
    places = [str(error.place) for error in errors]
    assert places == ["k.ptx:10:2", "k.ptx:11:15", "k.ptx:15:16", "k.ptx:17:10"]
    kept = module.kernels["k"].instructions
    assert [i.op for i in kept] == ["ad.s32", "ret"] and kept[0].variant is None
    assert list(module.kernels) == ["k", "other"]


def test_after_many_mistakes_reading_ends() -> None:
    errors: list[PtxError] = []
    parse(START + "\t# ;\n" * 500 + "}\n", "k.ptx", errors)
    assert len(errors) == 101
    assert re.match(r"100 mistakes in the syntax", errors[-1].message)
