"""Each mistake is caught on the author's line, with the rule and the nearest legal thing."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import ptx
from ptx.builder import Kernel
from ptx.errors import PtxError


class Author:
    """A kernel with one register of each kind, for mistakes to be made in."""

    def __init__(self) -> None:
        self.k = Kernel("test", n="u32", x="global.f32")
        self.n, self.x = self.k.params()
        self.f = self.k.mov.f32(0.0)
        self.i = self.k.mov.s32(0)
        self.p = self.k.setp.lt.s32(self.i, 3)


def error_of(mistake: Callable[[Author], object]) -> PtxError:
    """The error that `mistake` raises; its place must be the line of `mistake`."""
    with pytest.raises(PtxError) as raised:
        mistake(Author())
    place = raised.value.place
    assert place is not None
    lines, first = inspect.getsourcelines(mistake)
    assert place.file == __file__
    assert first <= place.line < first + len(lines)
    assert str(raised.value).startswith(f"{__file__}:{place.line}: ")
    return raised.value


# fmt: off
MISTAKES = [
    ("wrong register type", lambda a: a.k.add.s32(a.i, a.f),
     r"add\.s32 %s1 \(\.s32\), %f1 \(\.f32\)\n  operand b: expected \.s32, got %f1 \(\.f32\)"),
    ("a quotient", lambda a: a.n // 2, r"%r1 takes the operators .* k\.div\.u32\(a, b\)"),
    ("a remainder", lambda a: 7 % a.n, r"%r1 takes the operators"),
    ("a negation", lambda a: -a.f, r"spelled out, as k\.div\.f32"),
    ("a remainder of predicates", lambda a: a.p % a.p, r"predicates are combined by"),
    ("an index", lambda a: a.x[3], r"%bd2 is one register, without parts: .* as %bd2 \+ 4"),
    ("one result for two", lambda a: [*a.p], r"%p1 is one register"),
    ("misspelt opcode", lambda a: a.k.fmaa.rn.f32(a.f, a.f, a.f),
     r"no instruction is named fmaa; near: fma"),
    ("misspelt modifier", lambda a: a.k.ld.globl.f32(a.x), r"did you mean \.global\?"),
    ("misspelt type", lambda a: a.k.fma.rn.f23(a.f, a.f, a.f), r"got \.f23"),
    ("modifiers out of order", lambda a: a.k.ld.global_.f32.v4(a.x),
     r"after ld\.global\.f32 expected the end, got \.v4"),
    ("a missing rounding", lambda a: a.k.op("fma.f32", a.f, a.f, a.f),
     r"after fma expected \.rm \.rn \.rp \.rz, got \.f32"),
    ("too few operands", lambda a: a.k.add.s32(a.i), r"expected 2 source operands, got 1"),
    ("too many operands", lambda a: a.k.add.s32(a.i, 1, 2), r"expected 2 source operands, got 3"),
    ("wrong vector length", lambda a: a.k.ld.global_.v4.f32(a.x, out=(a.f, a.f)),
     r"expected a vector of 4 \.f32, got 2 elements"),
    ("an immediate too large", lambda a: a.k.mov.u32(1 << 32), r"4294967296 does not fit \.u32"),
    ("an immediate too small", lambda a: a.k.add.s32(a.i, -(1 << 31) - 1), r"does not fit \.s32"),
    ("a barrier that is not there", lambda a: a.k.bar.sync(16), r"expected 0 to 15, got 16"),
    ("0f in an f64 slot", lambda a: a.k.mov.f64(ptx.ir.Imm("0f3F800000")), r"spell it 0d"),
    ("a float in an integer slot", lambda a: a.k.mov.u32(1.5), r"expected an integer, got 1\.5"),
    ("an int that no f32 equals", lambda a: a.k.mov.f64(2**53 + 1), r"is no f64 exactly"),
    ("a bool", lambda a: a.k.add.s32(a.i, True), r"a Python bool is no operand"),
    ("None", lambda a: a.k.add.s32(a.i, None), r"got None"),
    ("if on a comparison", lambda a: 1 if a.i < 3 else 2, r"k\.setp\.lt\.s32"),
    ("if on a predicate", lambda a: 1 if a.p else 2, r"use k\.when\(p\) or k\.branch\(p\)"),
    ("`not` on a negation", lambda a: not ~a.p, r"cannot test it"),
    ("a pointer plus 32 bits", lambda a: a.x + a.i, r"as k\.cvt\.s64\.s32\(%s1\)"),
    ("an operator on floats", lambda a: a.f + a.f, r"floating point is spelled out"),
    ("a 32-bit global address", lambda a: a.k.ld.global_.f32(a.n), r"expected a 64-bit address"),
    ("an address as a number", lambda a: a.k.add.s64(a.x + 4, 1), r"only a memory operand takes"),
    ("global memory as shared", lambda a: a.k.ld.shared.f32(a.x), r"%bd2 lies in \.global"),
    ("a shared offset as generic", lambda a: a.k.ld.f32(a.k.shared("t", "f32", 4)),
     r"t is an offset in \.shared, not a generic address"),
    ("an offset beyond 32 bits", lambda a: a.k.ld.global_.f32(a.x + (1 << 31)),
     r"does not fit signed 32 bits"),
    ("writing a special register", lambda a: a.k.mov.u32(a.n, out=a.k.tid.x),
     r"%tid\.x can only be read"),
    ("a special register in add", lambda a: a.k.add.u32(a.n, a.k.tid.x), r"read by mov alone"),
    ("mov.u64 of %tid.x", lambda a: a.k.mov.u64(a.k.tid.x), r"expected \.u64, got %tid\.x"),
    ("setp of predicates", lambda a: a.k.setp.gt.pred(a.p, a.p), r"got \.pred"),
    ("mov.u32 of a predicate", lambda a: a.k.mov.u32(a.p), r"expected \.u32, got %p1 \(\.pred\)"),
    ("a new result under a guard", lambda a: _result_under_guard(a), r"name it: out=register"),
    ("a nested when", lambda a: _nested(a), r"combine the predicates first: k\.when\(p & q\)"),
    ("when on an integer", lambda a: a.k.when(a.i).__enter__(), r"expected a predicate"),
    ("a loop under when", lambda a: _loop_under_guard(a), r"has its own predicate"),
    ("a loop that never runs", lambda a: a.k.loop(4, 4).__enter__(), r"never runs"),
    ("otherwise without branch", lambda a: a.k.otherwise().__enter__(), r"directly follow"),
    ("another kernel's register", lambda a: a.k.add.s32(a.i, Kernel("other").mov.s32(1)),
     r"%s1 is a register of other, not of test"),
    ("a namesake's register", lambda a: a.k.add.s32(a.i, Kernel("test").mov.s32(1)),
     r"%s1 is a register of another kernel named test, not of test"),
    ("out= where nothing is written", lambda a: a.k.bar.sync(0, out=a.i), r"has no place here"),
    ("an unknown parameter", lambda a: a.k.param("m"), r"no parameter m; it has n, x"),
    ("a taken name", lambda a: (a.k.shared("t", "f32"), a.k.shared("t", "f32")), r"taken already"),
    ("an odd alignment", lambda a: a.k.shared("t", "f32", align=3), r"power of two, not 3"),
    ("a fraction of elements", lambda a: a.k.shared("t", "f32", 512 / 2),
     r"an extent of t is a whole number of at least 1, got 256\.0"),
    ("an illegal kernel name", lambda a: Kernel("k.part.0"),
     r"kernel: k\.part\.0 is no PTX name: '\.' may"),
    ("a non-ASCII name", lambda a: Kernel("größe"), r"größe is no PTX name"),
    ("a bare underscore", lambda a: Kernel("_"), r"_ alone is none"),
    ("an unknown parameter type", lambda a: Kernel("k", a="float"), r"'float' is no declaration"),
    ("too many threads", lambda a: a.k.maxntid(2048), r"at most 1024 threads"),
    ("an int that no f32 equals", lambda a: a.k.mov.f32(2**24 + 1), r"16777217 is no f32 exactly"),
    ("an int beyond all floats", lambda a: a.k.mov.f32(10**400), r"is no f32 exactly"),
    ("numpy's bool", lambda a: a.k.mov.f32(np.bool_(True)), r"got np\.True_"),
    ("a complex number", lambda a: a.k.mov.f32(np.complex64(1)), r"register or a number"),
    ("an array as a number", lambda a: a.k.mov.f32(np.ones(2)), r"register or a number"),
    ("if on equality", lambda a: 1 if a.i == 3 else 2, r"Python's ==, <"),
    ("in on a register", lambda a: a.i in (1, 2), r"k\.setp\.lt\.s32"),
    ("a register plus a variable", lambda a: a.k.shared("t", "f32") + a.n, r"t is no register"),
    ("a register as an instruction", lambda a: a.k.op(a.n), r"spelled as a str, got %r1"),
    ("branch on an integer", lambda a: a.k.branch(a.i).__enter__(), r"k\.branch expected a pred"),
    ("branch on None", lambda a: a.k.branch(None).__enter__(), r"k\.branch expected a pred"),
    ("otherwise after a label", lambda a: (a.k.label("else_x"), a.k.otherwise().__enter__()),
     r"directly follow"),
    ("otherwise under when", lambda a: _otherwise_under_guard(a), r"has its own predicate"),
    ("param under a guard", lambda a: _param_under_guard(a), r"name it: out=register"),
    ("a loop by 0", lambda a: a.k.loop(0, a.n, 0).__enter__(), r"other than 0, got 0"),
    ("a loop by a register", lambda a: a.k.loop(0, 4, a.n).__enter__(), r"got %r1"),
    ("a loop down to -1 in u32", lambda a: a.k.loop(a.n, -1, -1).__enter__(), r"gets to -1"),
    ("a counter that wraps", lambda a: a.k.loop(0, 2**32 - 1, 2).__enter__(),
     r"gets to 4294967296, and \.u32 holds 0 to 4294967295"),
    ("a str as a label", lambda a: a.k.place("end"), r"label of k\.forward, got 'end'"),
    ("a pragma with a quote", lambda a: a.k.pragma('a";'), r"ASCII without quotes"),
    ("a taken name, dynamic", lambda a: (a.k.shared("t", "f32"), a.k.dynamic_shared("t")),
     r"taken already"),
    ("a parameter's name, dynamic", lambda a: a.k.dynamic_shared("n"), r"taken already"),
    ("an odd alignment, dynamic", lambda a: a.k.dynamic_shared("t", align=0), r"power of two"),
    ("a type of no variable, dynamic", lambda a: a.k.dynamic_shared("t", "pred"), r"no type"),
    ("a bool of elements", lambda a: a.k.shared("t", "f32", (True, 2)), r"got True"),
    ("less than no registers", lambda a: a.k.reg("f32", -1), r"at least 0, got -1"),
    ("half a thread", lambda a: a.k.maxntid(0.5), r"\.maxntid is a whole number .* got 0\.5"),
    ("a register's name", lambda a: a.k.shared("%r1", "f32"), r"%r1 would be taken for a reg"),
    ("a number's name", lambda a: a.k.label("WARP_SZ"), r"WARP_SZ is no PTX name: it stands"),
    ("a number as a name", lambda a: Kernel(5), r"a name is a str, got 5"),
    ("a number as a declaration", lambda a: Kernel("k", n=5), r"is a str such as .u32., got 5"),
    ("an array of nothing", lambda a: Kernel("k", n="f32[0]"), r"is no declaration"),
    ("an alignment of 0", lambda a: Kernel("k", n="global.f32@0"), r"power of two, not 0"),
    ("a constant pointer", lambda a: Kernel("k", n="const.f32"), r"is no declaration"),
    ("a truth of 65 bits", lambda a: a.k.mov.pred(2**64), r"expected a register of \.pred"),
    ("a vector of nothing", lambda a: a.k.ld.global_.v2.f32(a.x, out=(ptx.SINK, ptx.SINK)),
     r"one element of the vector at least"),
    ("a typed register for random bits", lambda a: a.k.cvt.rs.f16x2.f32(a.f, a.f, a.n),
     r"operand rbits: expected \.b32, got %r1 \(\.u32\)"),
    ("maxntid and reqntid", lambda a: (a.k.maxntid(32), a.k.reqntid(32)), r"exclude each other"),
]
# fmt: on


def _result_under_guard(a: Author) -> None:
    with a.k.when(a.p):
        a.k.add.s32(a.i, 1)


def _nested(a: Author) -> None:
    with a.k.when(a.p), a.k.when(a.p):
        pass


def _otherwise_under_guard(a: Author) -> None:
    with a.k.branch(a.p):
        pass
    with a.k.when(a.p), a.k.otherwise():
        pass


def _param_under_guard(a: Author) -> None:
    with a.k.when(a.p):
        a.k.param("x")


def _loop_under_guard(a: Author) -> None:
    with a.k.when(a.p), a.k.loop(0, 4):
        pass


INDIRECT = {
    "a new result under a guard": _result_under_guard,
    "a nested when": _nested,
    "a loop under when": _loop_under_guard,
    "otherwise under when": _otherwise_under_guard,
    "param under a guard": _param_under_guard,
}


@pytest.mark.parametrize(("what", "mistake", "message"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistake(what: str, mistake: Callable[[Author], object], message: str) -> None:
    error = error_of(INDIRECT.get(what, mistake))
    assert re.search(message, error.message), error.message


def test_a_misspelt_chain_is_an_attribute_error_too() -> None:
    k = Kernel("test")
    assert not hasattr(k.ld, "globl")
    assert not hasattr(k, "_repr_html_")


def test_undefined_label_is_found_when_built() -> None:
    k = Kernel("test")
    k.bra("nowhere")
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    k.ret()
    with pytest.raises(PtxError, match="nowhere") as raised:
        ptx.Module(k)
    assert raised.value.place is not None
    assert raised.value.place.line == line


def block_of(author: Author, what: str) -> tuple[AbstractContextManager[Any], int]:
    """A block that nothing has entered yet, and the line that made it."""
    if what == "otherwise":
        with author.k.branch(author.p):
            pass
    made: tuple[Any, ...]
    made = {"loop": (0, 4), "otherwise": ()}.get(what, (author.p,))
    return getattr(author.k, what)(*made), inspect.currentframe().f_lineno  # type: ignore[union-attr]


UNENDED = {
    "forgotten": {
        "when": "k.when(...) does nothing without `with` before it: `with k.when(...):`",
        "branch": "k.branch(...) does nothing without `with` before it: `with k.branch(...):`",
        "otherwise": "k.otherwise(...) does nothing without `with` before it: "
        "`with k.otherwise():`",
        "loop": "k.loop(...) does nothing without `with` before it: `with k.loop(...) as i:`",
    },
    "open": {
        "when": "the block of k.when(...) has not ended: a kernel is whole only after "
        "`with k.when(...):`",
        "branch": "the block of k.branch(...) has not ended: a kernel is whole only after "
        "`with k.branch(...):`",
        "otherwise": "the block of k.otherwise(...) has not ended: a kernel is whole only after "
        "`with k.otherwise():`",
        "loop": "the block of k.loop(...) has not ended: a kernel is whole only after "
        "`with k.loop(...) as i:`",
    },
}


@pytest.mark.parametrize("how", UNENDED)
@pytest.mark.parametrize("what", UNENDED["open"])
def test_a_block_that_has_not_ended_is_told_on_its_line(what: str, how: str) -> None:
    """A module and a cubin of it are refused; a check and a print tell it and go on."""
    author = Author()
    k = author.k
    block, line = block_of(author, what)
    if how == "open":
        block.__enter__()
    k.ret()
    message = UNENDED[how][what]
    for refuses in (ptx.Module, ptx.assemble):
        with pytest.raises(PtxError, match=re.escape(message)) as raised:
            refuses(k)
        assert raised.value.place == (__file__, line, 0)
    told = {d.name: d for d in ptx.check(k)}["unended-block"]
    assert (told.severity, told.message, told.place) == ("error", message, (__file__, line, 0))
    shown = str(k).splitlines()
    assert f"// {told}" in shown
    assert any(s.strip().endswith("ret;") for s in shown)
    if how == "open":
        block.__exit__(None, None, None)
        if what == "branch":  # its label came after the return
            k.ret()
        assert "unended-block" not in {d.name for d in ptx.check(k)}


def test_a_block_is_entered_once() -> None:
    author = Author()
    block, _ = block_of(author, "when")
    with block:
        pass
    with pytest.raises(PtxError, match=re.escape("entered once: call k.when(...) again")), block:
        pass
    author.k.ret()
    ptx.Module(author.k)


def test_a_block_that_may_not_stand_where_it_was_entered_is_none() -> None:
    author = Author()
    k = author.k
    with k.when(author.p):
        with pytest.raises(PtxError, match="does not nest"), k.when(author.p):
            pass
        with pytest.raises(PtxError, match="may not stand under the guard"), k.branch(author.p):
            pass
    k.ret()
    ptx.Module(k)


def test_a_block_may_be_entered_later() -> None:
    author = Author()
    with contextlib.ExitStack() as stack:
        stack.enter_context(author.k.when(author.p))
        author.k.st.global_.f32(author.x, author.f)
    author.k.ret()
    assert str(ptx.Module(author.k)).count("@%p1 st.global.f32") == 1


@pytest.mark.parametrize("what", ["branch", "loop", "otherwise"])
def test_a_block_left_by_an_exception_is_closed(what: str) -> None:
    """What was emitted in it stays, as if the block ended there."""

    def built(fails: bool) -> str:
        author = Author()
        k = author.k
        if what == "otherwise":
            with k.branch(author.p):
                k.bar.sync(0)
        block = {
            "branch": lambda: k.branch(author.p),
            "loop": lambda: k.loop(0, 4),
            "otherwise": k.otherwise,
        }[what]()
        with contextlib.suppress(ZeroDivisionError), block:
            k.st.global_.f32(author.x, author.f)
            1 / (not fails)
        k.ret()
        return str(ptx.Module(k))

    assert built(fails=True) == built(fails=False)


def test_a_kernel_is_checked_as_it_stands() -> None:
    """All that is wrong with it is told, and nothing raised."""
    k = Kernel("test")
    k.add.rn.f32(k.reg("f32"), 1.0)
    told = ptx.check(k)
    assert {(d.name, d.severity) for d in told} == {
        ("unset-register", "error"),
        ("no-return", "error"),
    }
    assert {d.file for d in told} == {__file__}
    k = Kernel("test")
    k.ret()
    assert ptx.check(k, "sm_80") == []


def test_a_kernel_is_printed_as_it_stands() -> None:
    """Before it has an end, and with what is wrong with it in comments; finished, as its module."""
    k = Kernel("test", n="u32")
    assert repr(k) == "<ptx kernel test(n), 0 statements so far>"
    k.add.rn.f32(k.reg("f32"), 1.0)
    assert repr(k) == "<ptx kernel test(n), 1 statements so far>"
    wrong = str(k)
    assert "\tadd.rn.f32 %f2, %f1, 0f3F800000;" in wrong.splitlines()
    comments = [line for line in wrong.splitlines() if line.startswith("//")]
    assert wrong.startswith("\n".join(comments) + "\n.version ")
    for name in ("unset-register", "no-return"):
        assert any(f"{__file__}:" in line and f"[{name}]" in line for line in comments)
    k = Kernel("test", n="u32")
    k.ret()
    assert str(k) == str(ptx.Module(k))


def test_falling_off_the_end_is_found_when_built() -> None:
    k = Kernel("test")
    k.mov.s32(1)
    with pytest.raises(PtxError, match="ret"):
        ptx.Module(k)
