"""Field cases about text: each test names its case."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import ptx
from ptx.errors import PtxError
from ptx.ir import Directive, Line, Parameter
from ptx.text import parse, print_module

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(body: str, params: str = ".param .u64 p") -> str:
    return (
        f"{HEADER}.visible .entry k({params})\n{{\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n"
        f".reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
        f"{body}\nret;\n}}\n"
    )


def findings(body: str) -> list[tuple[str, str]]:
    return [(d.severity, d.name) for d in ptx.check(kernel(body))]


def test_narrow_loads_widen_by_their_sign_and_narrow_stores_cut_off() -> None:
    """B24: registers may be wider than what is loaded, never narrower."""
    text = kernel(
        "ld.global.u8 %r1, [%rd2];\nld.global.s8 %r2, [%rd2];\nmov.u32 %r3, 0x1FF;\n"
        "st.global.u32 [%rd2+4], %r1;\nst.global.u32 [%rd2+8], %r2;\nst.global.u8 [%rd2+12], %r3;"
    )
    assert ptx.check(text) == []
    device = ptx.device("emulator")
    words = np.zeros(4, "u4")
    words[0] = 0x80
    data = device.array(words)
    device.load(text)["k"].launch(1, 1, [data])
    assert list(data.numpy()) == [0x80, 0x80, 0xFFFFFF80, 0xFF]
    assert findings("ld.global.u32 %h1, [%rd2];") == [("error", "operands")]


@pytest.mark.parametrize(
    ("line", "legal"),
    [
        ("not.rn.b32 %r1, %r2;", False),
        ("cvt.rn.f32.f16 %f1, %h1;", False),
        ("cvt.f16.f32 %h1, %f1;", False),
        ("cvt.rn.s32.f32 %r1, %f1;", False),
        ("cvt.rni.f32.f32 %f1, %f1;", True),
        ("cvt.rn.f16.f32 %h1, %f1;", True),
        ("cvt.f32.f16 %f1, %h1;", True),
        ("cvt.rni.s32.f32 %r1, %f1;", True),
    ],
)
def test_roundings_where_they_belong(line: str, legal: bool) -> None:
    """B22: required where a conversion rounds, refused where it cannot."""
    head = ".reg .f32 %f<2>;\nmov.f32 %f1, 0f3F800000;\nmov.b16 %h1, 0;\nmov.u32 %r2, 0;\n"
    assert findings(head + line) == ([] if legal else [("error", "operands")])


def test_predicates_are_not_compared() -> None:
    """B19: an ordered comparison of predicates is an and with one of them negated."""
    k = ptx.Kernel("k", n="u32")
    n = k.param("n")
    p, q = k.setp.lt.u32(n, 3), k.setp.lt.u32(n, 5)
    with pytest.raises(PtxError, match="p & ~q for p > q"):
        p > q  # noqa: B015
    greater = p & ~q
    k.ret()
    assert f"and.pred {greater}, {p}, !{q};" in re.sub(r"\s+", " ", str(ptx.Module(k)))
    with pytest.raises(PtxError, match=r"got \.pred"):
        k.op("setp.gt.pred", p, q)


def test_the_opposite_of_a_comparison_holds_where_there_is_nan() -> None:
    """B18: the opposite of lt is a negated lt, which is geu, and never ge."""
    k = ptx.Kernel("k", x="f32", out="global.u32")
    x, out = k.params()
    less = k.setp.lt.f32(x, 0.0)
    found = k.mov.u32(0)
    with k.when(~less):
        k.mov.u32(1, out=found)
    with k.branch(less):
        k.add.u32(found, 4, out=found)
    with k.otherwise():
        k.add.u32(found, 2, out=found)
    k.st.global_.u32(out, found)
    k.ret()
    device = ptx.device("emulator")
    kernel, word = device.load(ptx.Module(k))["k"], device.array(np.zeros(1, "u4"))
    for value, wanted in ((-1.0, 4), (0.0, 3), (np.nan, 3)):
        kernel.launch(1, 1, [value, word])
        assert word.numpy()[0] == wanted


def test_activemask_is_no_member_mask() -> None:
    """B31."""
    body = "activemask.b32 %r1;\nmov.u32 %r2, %laneid;\nshfl.sync.idx.b32 %r3, %r2, 0, 31, %r1;"
    assert findings(body) == [("warning", "activemask-as-mask")]
    assert findings(body.replace("%r1;", "0xffffffff;").replace("activemask.b32 0x", "//")) == []


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("[%rd2+4294967296]", [("error", "offset")]),
        ("[%rd2+2147483648]", [("error", "offset")]),
        ("[%rd2+-2147483648]", []),
        ("[%rd2+2147483644]", []),
    ],
)
def test_offsets_are_signed_32_bits(address: str, told: list[tuple[str, str]]) -> None:
    """B36: ptxas 13 adds larger ones in 64 bits, which the manual does not promise."""
    assert findings(f"ld.global.u32 %r1, {address};") == told


def test_a_negative_offset_is_spelled_with_a_plus() -> None:
    """B36."""
    with pytest.raises(PtxError, match=r"write %rd2\+-4") as raised:
        parse(kernel("ld.global.u32 %r1, [%rd2-4];"), "a.ptx")
    assert raised.value.place is not None
    assert (raised.value.place.line, raised.value.place.column) == (11, 25)


@pytest.mark.parametrize(
    ("name", "legal"),
    [("k.part.0", False), ("1k", False), ("_", False), ("$x", True), ("_a", True),
     ("kernel<float>", False)],
)  # fmt: skip
def test_names(name: str, legal: bool) -> None:
    """C09: refused, by the builder and in text; nothing is renamed behind the author's back."""
    text = HEADER + f".visible .entry {name}()\n{{\nret;\n}}\n"
    if legal:
        k = ptx.Kernel(name)
        k.ret()
        assert list(parse(text).kernels) == [name] == list(parse(str(ptx.Module(k))).kernels)
        assert ptx.check(text) == []
        return
    with pytest.raises(PtxError):
        ptx.Kernel(name)
    errors = [d for d in ptx.check(text) if d.severity == "error"]
    assert errors and errors[0].line == 4


DEBUGGED = (
    HEADER
    + """
	// .globl	add
.visible .entry add(
	.param .u64 .ptr .global .align 1 add_param_0
)
{
	.reg .b32 	%r<2>;
$L__func_begin0:
	.loc	1 10 0
	.loc	1 11 4, function_name $L__info_string0, inlined_at 1 10 0
	mov.u32 	%r1, %tid.x;
$L__tmp1:
	ret;
$L__func_end0:
}
	.file	1 "/home/someone/kernel.py"
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
.b8 17
$L__info_string0:
.b8 0
	}
	.section	.debug_loc	{	}
"""
)


def test_debug_data_is_kept() -> None:
    """C29: .loc before code, .file behind the kernel, sections, labels with $L__."""
    module = parse(DEBUGGED)
    directives = [i.text for i in module.items if isinstance(i, Directive)]
    assert directives[0] == '.file\t1 "/home/someone/kernel.py"'
    assert directives[1].startswith(".section\t.debug_abbrev")
    assert ".b8 17" in directives[1] and "$L__info_string0:" in directives[1]
    lines = [s.text for s in module.kernels["add"].statements if isinstance(s, Line)]
    assert [" ".join(line.split()) for line in lines] == [
        ".loc 1 10 0",
        ".loc 1 11 4, function_name $L__info_string0, inlined_at 1 10 0",
    ]
    assert parse(print_module(module)) == module
    assert ptx.check(DEBUGGED) == []


@pytest.mark.parametrize(
    ("spelling", "pointer", "align"),
    [(".ptr .align 1", "", 1), (".ptr .global .align 16", "global", 16)],
)
def test_pointer_parameters(spelling: str, pointer: str, align: int) -> None:
    """C30."""
    (parameter,) = parse(kernel("", f".param .u64 {spelling} p")).kernels["k"].params
    assert parameter == Parameter("u64", "p", pointer=pointer, pointer_align=align)


@pytest.mark.parametrize("spelling", [".ptr .align 8 .global", ".ptr .align 3"])
def test_pointer_parameters_that_are_none(spelling: str) -> None:
    """C30: the space comes before the alignment, which is a power of two."""
    with pytest.raises(PtxError) as raised:
        parse(kernel("", f".param .u64 {spelling} p"))
    assert raised.value.place is not None and raised.value.place.line == 4


CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("stem", ["scalar.sm_75", "llvm.sm_75", "triton_softmax.sm_80", "hand"])
def test_the_first_line_parses_and_errors_have_a_place(stem: str) -> None:
    """D09: nvcc, clang's back end, Triton and hand; ptxas on both texts is in test_corpus.py."""
    text = (CORPUS / f"{stem}.ptx").read_text()
    assert parse(print_module(parse(text))) == parse(text)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if re.match(r"\s+ret;", one))
    broken = text.split("\n")
    broken[line - 1] = "\tret ret;"
    with pytest.raises(PtxError) as raised:
        parse("\n".join(broken), "broken.ptx")
    place = raised.value.place
    assert place is not None and (place.file, place.line) == ("broken.ptx", line)
    assert place.column >= 2
