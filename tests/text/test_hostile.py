"""Truncated, damaged and hostile text ends in an error with a place, in bounded time."""

from __future__ import annotations

import gc
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptx.errors import PtxError
from ptx.ir import Module
from ptx.text import parse, print_module

CORPUS = [
    path.read_text()
    for path in sorted((Path(__file__).parent / "corpus").glob("*.ptx"))
    if path.stat().st_size < 8000
]
HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = HEADER + ".entry k() {\n.reg .b32 %r<9>;\n"

PIECES = st.sampled_from(
    ["{", "}", "[", "]", "(", ")", ";", ",", ":", "|", "+", "-", "@", "!", "%", "_", '"', "<", ">"]
    + [".", "/*", "*/", "//", "0x", "0f", "1.", "9" * 30, ".reg", ".b32", "%r1", "add.s32", "call"]
    + [".entry", ".global", ".section", ".loc 1", "=", "\n", " ", "\t", "\0", "\xe9", "$L", "?"]
)  # fmt: skip
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def outcome(text: str) -> Module | PtxError:
    """What strict reading gives, its error with a place in the text; lenient reading agrees."""
    errors: list[PtxError] = []
    lenient = parse(text, "f.ptx", errors)
    try:
        module = parse(text, "f.ptx")
    except PtxError as error:
        place = error.place
        if place is None or place.file != "f.ptx" or place.column < 1:
            raise
        if not 1 <= place.line <= text.count("\n") + 1 or str(errors[0]) != str(error):
            raise
        return error
    assert not errors and lenient == module
    printed = print_module(module)
    assert parse(printed) == module
    return module


@FUZZ
@given(st.sampled_from(CORPUS), st.data())
def test_truncated(text: str, data: st.DataObject) -> None:
    outcome(text[: data.draw(st.integers(0, len(text)))])


@FUZZ
@given(st.sampled_from(CORPUS), st.data())
def test_damaged(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 6))
        text = text[:start] + data.draw(PIECES | st.just("")) + text[start + gone :]
    outcome(text)


@FUZZ
@given(st.lists(PIECES, max_size=40))
def test_pieces_in_a_body(pieces: list[str]) -> None:
    outcome(KERNEL + " ".join(pieces) + "\n}\n")


@FUZZ
@given(st.binary(max_size=200))
def test_bytes(data: bytes) -> None:
    outcome(data.decode("latin-1"))
    outcome(HEADER + data.decode("latin-1"))


N = 10_000


@pytest.mark.parametrize(
    "text",
    [
        KERNEL + "{" * N,
        KERNEL + "{}" * N,
        KERNEL + "mov.u32 %r1, " + "(" * N + "1" + ")" * N + ";",
        KERNEL + "mov.u32 %r1, " + "-" * N + "1;",
        KERNEL + "mov.u32 %r1, " + "(.s64)" * N + "1;",
        KERNEL + "mov.u32 %r1, " + "1?" * N + "2;",
        KERNEL + "mov.u32 %r1, " + "1+" * N + "2;",
        KERNEL + "mov.u32 %r1, " + "9" * N + ";",
        KERNEL + "mov.u32 %r1, 0x" + "F" * N + ";",
        KERNEL + "mov.u32 %r1, [" + "[" * N,
        KERNEL + "mov.u32 {" + "{" * N + "}" * N + "};",
        KERNEL + "setp " + "%r1|" * N + "%r1;",
        KERNEL + "add.s32 " + "," * N + ";",
        KERNEL + "add.s32 %r1, " + "%r1, " * N + ";",
        KERNEL + "add" + ".s32" * N + ";",
        KERNEL + "a " * N,
        KERNEL + "a {" * N,
        KERNEL + "a\n{\n" * N,
        KERNEL + "a: " * N,
        KERNEL + "mov " + " " * N,
        KERNEL + "@" * N,
        KERNEL + "; " * N,
        KERNEL + "mov.u32 %r1, %z1;\n" * N,
        KERNEL + "".join(f"mov.u32 %r1, %z{i};\n" for i in range(N)),
        KERNEL + ".reg .b32 " + ", ".join(f"a{i}" for i in range(N)) + ";",
        KERNEL + ".reg .b32 " + ", ".join(f"a{i}b<3>" for i in range(N)) + ";",
        KERNEL + ".reg .b32 " + ", ".join(f"a{i}, b{i}x<9>" for i in range(N // 2)) + ";",
        KERNEL + ".reg .b32 %z<99999999999999999999999999>;",
        KERNEL + ".reg .b32 " + "1" * N + ";",
        KERNEL + ".reg .b32 a" + "1" * N + "; mov.u32 %r1, a" + "1" * N + ";",
        KERNEL + ".mystery\n" * N,
        KERNEL + ".mystery a,\n" * N,
        HEADER + ".mystery {" * N,
        HEADER + ".global .u32 a = " + "{" * N,
        HEADER + ".global .u32 a[] = {" + "{1}, " * N + "1};",
        HEADER + ".global .u32 a" + "[1]" * N + ";",
        HEADER + ".entry " * N,
        HEADER + ".entry k(" + ".param .u32 a, " * N,
        HEADER + '"' * N,
        HEADER + "/*" * N,
        HEADER + "#" * N,
        " " * N,
        "\n" * N,
    ],
    ids=range(43),
)
def test_size_costs_no_more_than_its_share(text: str) -> None:
    start = time.process_time()
    outcome(text)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", [".version 8.0\n.target sm_90\n", "no PTX"])
def test_the_collector_is_as_it_was(text: str) -> None:
    for enable in (gc.disable, gc.enable):
        enable()
        before = gc.isenabled()
        with suppress(PtxError):
            parse(text)
        assert gc.isenabled() == before
