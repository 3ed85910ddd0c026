"""Kernels built in Python: each mistake is raised, or told, on the author's line."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

import ptx
from ptx import checker
from ptx.errors import PtxError
from ptx.ir import Module
from ptxgemm.kernels import simt


def first() -> ptx.Kernel:
    return ptx.Kernel("first", n="u32", x="global.f32")


def never_set() -> ptx.Kernel:
    k = first()
    value = k.reg("f32")
    k.add.f32(value, 1.0)  # here
    k.ret()
    return k


def label_not_placed() -> ptx.Kernel:
    k = first()
    done = k.forward("done")
    k.bra(done)  # here
    k.ret()
    return k


def no_return() -> ptx.Kernel:
    k = first()
    k.mov.u32(1)  # here
    return k


def branch_off_the_end() -> ptx.Kernel:
    k = first()
    p = k.setp.eq.u32(k.mov.u32(k.tid.x), 0)
    with k.branch(p):
        k.mov.u32(1)
        k.ret()
    k.mov.u32(2)  # here
    return k


def too_much_shared() -> ptx.Kernel:
    k = first()
    k.shared("small", "b8", 16)
    tile = k.shared("tile", "b8", 400 * 1024)  # here
    k.mov.u32(tile)
    k.ret()
    return k


def accumulator() -> ptx.Kernel:
    k = first()
    descriptor = k.mov.u64(0)
    p = k.setp.ne.b32(0, 0)
    d = k.reg("f32", 4)
    k.wgmma.fence.sync.aligned()
    k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16(d, descriptor, descriptor, p, 1, 1, 0, 0)
    k.wgmma.commit_group.sync.aligned()
    k.add.f32(d[0], d[1])  # here
    k.wgmma.wait_group.sync.aligned(0)
    k.ret()
    return k


def setmaxnreg() -> ptx.Kernel:
    k = first()
    k.setmaxnreg.dec.sync.aligned.u32(40)  # here
    k.ret()
    return k


def sum_never_set() -> ptx.Kernel:
    k = first()
    n, x = k.params()
    total = k.reg("f32")
    with k.loop(0, n):
        k.add.rn.f32(total, 1.0, out=total)  # here
    k.st.global_.f32(x, total)
    k.ret()
    return k


def past_the_end() -> ptx.Kernel:
    k = first()
    tile = k.shared("other", "u32", 64)
    k.st.shared.u32(tile + 256, 1)  # here
    k.ret()
    return k


MISTAKES = [
    (sum_never_set, "unset-register", r"%f1 is read before anything .* the first time around"),
    (past_the_end, "past-the-end", r"bytes 256 to 259 of other, which has 256"),
    (never_set, "unset-register", r"%f1 is read before anything is written to it"),
    (label_not_placed, "unknown-label", r"no label is named done here"),
    (no_return, "no-return", r"first ends without ret"),
    (branch_off_the_end, "no-return", r"first ends without ret"),
    (too_much_shared, "shared-size", r"first declares 409616 bytes of shared memory"),
    (accumulator, "accumulator-in-flight", r"%f1 is read while a wgmma is in flight with it"),
    (setmaxnreg, "setmaxnreg-ignored", r"the kernel's register count is not known"),
]


@pytest.mark.parametrize(
    ("make", "name", "message"), MISTAKES, ids=lambda v: getattr(v, "__name__", "")
)
def test_mistakes_are_raised_on_the_authors_line(
    make: Callable[[], ptx.Kernel], name: str, message: str
) -> None:
    lines, start = inspect.getsourcelines(make)
    line = start + next(i for i, one in enumerate(lines) if "# here" in one)
    kernel = make()
    with pytest.raises(PtxError, match=message) as raised:
        Module(kernel)
    assert raised.value.place == (__file__, line, 0)
    told = checker.check(Module(kernel.function()))
    errors = [d for d in told if d.severity == "error"]
    assert [(d.name, d.file, d.line) for d in errors] == [(name, __file__, line)]
    assert re.search(message, errors[0].message)
    assert str(errors[0]).startswith(f"{__file__}:{line}: error: ")


def test_a_body_that_mixes_two_kernels() -> None:
    k, other = first(), ptx.Kernel("other")
    k.mov.u32(2)
    k.ret()
    other.mov.u32(1)
    mixed = k.function()
    assert mixed.body is not None
    (stray,) = other.function().instructions
    mixed = replace(mixed, body=(*mixed.body[:-1], stray, mixed.body[-1]))
    (told,) = checker.check(Module(mixed))
    assert (told.severity, told.name) == ("error", "foreign-register")
    assert told.place == stray.place
    assert told.source == "mov.u32 %r1, 1;"
    assert told.message == (
        "%r1 is a register of the kernel other, used in first: kernels share no registers"
    )


def test_a_target_that_lacks_an_instruction() -> None:
    k = ptx.Kernel("k")
    k.wgmma.fence.sync.aligned()
    k.ret()
    (told,) = checker.check(Module(k, target="sm_80"))
    line = inspect.currentframe().f_lineno - 3  # type: ignore[union-attr]
    assert str(told) == (
        f"{__file__}:{line}: error: wgmma.fence.sync.aligned needs sm_90a; "
        "the target is sm_80 [target]"
    )
    assert told.source == "wgmma.fence.sync.aligned;"
    assert checker.check(Module(k)) == []


def test_two_instructions_that_no_target_has() -> None:
    k = ptx.Kernel("k")
    k.wgmma.fence.sync.aligned()
    k.op("tcgen05.wait::ld.sync.aligned")
    k.ret()
    (told,) = checker.check(Module(k))
    assert told.severity == "error"
    assert re.search(
        r"no target has both tcgen05\.wait::ld\.sync\.aligned \(.*\), which needs sm_100.*, "
        r"and wgmma\.fence\.sync\.aligned \(.*\), which needs sm_90a",
        told.message,
    )


@pytest.mark.parametrize(("scale", "unset"), [(0, 0), (1, 4)])
def test_accumulators_that_are_not_set(scale: int, unset: int) -> None:
    """A scale of 0 discards what they hold; 1 adds to it."""
    k = first()
    descriptor = k.mov.u64(0)
    k.wgmma.fence.sync.aligned()
    issue = k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
    issue(k.reg("f32", 4), descriptor, descriptor, scale, 1, 1, 0, 0)
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    k.ret()
    told = checker.check(Module(k.function()))
    assert [d.name for d in told] == ["unset-register"] * unset


def test_a_guarded_load_needs_its_destination_set_before() -> None:
    def build(set_before: bool) -> list[checker.Diagnostic]:
        k = ptx.Kernel("k", n="u32", x="global.f32")
        n, x = k.params()
        inside = k.setp.lt.u32(k.mov.u32(k.tid.x), n)
        value = k.mov.f32(0.0) if set_before else k.reg("f32")
        with k.when(inside):
            k.ld.global_.f32(x, out=value)
        k.st.global_.f32(x, k.add.f32(value, 1.0))
        k.ret()
        return checker.check(Module(k))

    assert build(True) == []
    (told,) = build(False)
    assert (told.severity, told.name) == ("warning", "maybe-unset-register")
    assert told.message == "%f1 may be read before it is written: its guard may skip the write"


def test_a_pointer_used_without_cvta() -> None:
    """B39: a warning where one builds; compilers do it all the time."""
    k = ptx.Kernel("k", x="generic.f32")
    (x,) = k.params()
    k.ld.global_.f32(x)
    k.ret()
    module = Module(k)
    assert [(d.severity, d.name) for d in checker.check(module)] == [
        ("warning", "unconverted-pointer")
    ]
    assert checker.check(str(module)) == []


def test_every_narrow_product_is_told_where_it_is_built() -> None:
    """A17."""
    k = ptx.Kernel("k", pitch="s32", row="s32", x="global.f32")
    pitch, row, x = k.params()
    for column in range(2):
        index = k.mad.lo.s32(row, pitch, column)
        k.ld.global_.f32(x + k.mul.wide.s32(index, 4))
    k.ret()
    told = checker.check(Module(k))
    assert [d.name for d in told] == ["narrow-product"] or len(told) == 2
    assert {d.line for d in told} == {inspect.currentframe().f_lineno - 5}  # type: ignore[union-attr]


def test_the_first_kernel_of_the_design_is_clean() -> None:
    k = ptx.Kernel("axpy", n="u32", a="f32", x="global.f32", y="global.f32")
    n, a, x, y = k.params()
    i = k.global_index("x")
    inside = k.setp.lt.u32(i, n)
    offset = k.mul.wide.u32(i, 4)
    x_at, y_at = x + offset, y + offset
    xv, yv = k.mov.f32(0.0), k.mov.f32(0.0)
    with k.when(inside):
        k.ld.global_.f32(x_at, out=xv)
        k.ld.global_.f32(y_at, out=yv)
    r = k.fma.rn.f32(a, xv, yv)
    with k.when(inside):
        k.st.global_.f32(y_at, r)
    k.ret()
    assert checker.check(Module(k)) == []


@pytest.mark.parametrize("prefetch", ["branch", "predicated", "peeled"])
def test_the_sgemm_is_clean_as_built_and_as_text(prefetch: str) -> None:
    module = Module(simt.sgemm(prefetch=prefetch))
    assert checker.check(module) == []
    assert checker.check(str(module)) == []


def test_forty_thousand_instructions_are_checked_in_time() -> None:
    """0.26 s of processor time where it was measured; the bound leaves room for slow machines."""
    k = ptx.Kernel("big", y="global.f32")
    (y,) = k.params()
    a, b = k.mov.f32(1.0), k.mov.f32(2.0)
    for i in range(10_000):
        a = k.fma.rn.f32(a, b, a)
        c = k.ld.global_.f32(y + 4 * i)
        k.st.global_.f32(y + 4 * i, k.add.f32(a, c))
    k.ret()
    function = k.function()
    module = Module(function)
    start = time.process_time()
    assert checker.check_function(function, module) == []
    assert time.process_time() - start < 1.5


# ---------------------------------------------------------------- what only an author can mend


def test_accumulators_written_since_the_fence() -> None:
    k = ptx.Kernel("k", a="u64")
    a = k.param("a")
    acc = tuple(k.mov.f32(0.0) for _ in range(4))
    issue = k.wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
    k.wgmma.fence.sync.aligned()
    issue(acc, a, a, 0, 1, 1, 0, 0)
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    k.mul.rn.f32(acc[0], 2.0, out=acc[0])
    issue(acc, a, a, 1, 1, 1, 0, 0)
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    k.wgmma.commit_group.sync.aligned()
    k.wgmma.wait_group.sync.aligned(0)
    k.ret()
    found = [d for d in checker.check(Module(k)) if d.name == "missing-wgmma-fence"]
    assert [(d.line, d.message) for d in found] == [
        (line, "%f1 was written since the last wgmma.fence")
    ]


@pytest.mark.parametrize(("threads", "lines"), [(None, 1), (256, 1), (128, 0)])
def test_a_barrier_that_some_warps_only_reach(threads: int | None, lines: int) -> None:
    k = ptx.Kernel("k")
    if threads:
        k.maxntid(threads)
    with k.branch(k.setp.lt.u32(k.mov.u32(k.tid.x), 128)):
        k.bar.sync(0)
    k.ret()
    assert [d.name for d in checker.check(Module(k))] == ["divergent-barrier"] * lines


def test_a_generic_pointer_made_generic_again() -> None:
    k = ptx.Kernel("k", x="generic.f32", y="global.f32")
    x, y = k.params()
    again = k.cvta.global_.u64(x)
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    k.st.f32(again, 1.0)
    k.st.f32(k.cvta.global_.u64(y), 1.0)
    k.ret()
    found = checker.check(Module(k))
    assert [(d.name, d.line) for d in found] == [("needless-cvta", line)]
