"""What PTX does not have is refused on the author's line, with what there is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import ptx
from ptx.emu import EmulatorFault
from ptx.fragments import fragment, mma


def new() -> ptx.Kernel:
    return ptx.Kernel("k", p="global.f16", c="global.f32", n="u32")


def refused(act: Callable[[], Any], message: str) -> None:
    """`act`, a lambda of one line here, raises a PtxError with that message and that line."""
    with pytest.raises(ptx.PtxError) as caught:
        act()
    lines, first = inspect.getsourcelines(act)
    assert caught.value.place is not None
    assert caught.value.place.file == __file__
    assert first <= caught.value.place.line < first + len(lines)
    assert re.search(message, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("matrix_c", 16, 16, 16, "f16"), "use is 'matrix_c'; expected one of matrix_a, matrix_b"),
        (
            ("matrix_a", 16, 16, 32, "f16", "row"),
            "no matrix_a of .f16 in m16n16k32; there are m8n8",
        ),
        (("matrix_a", 16, 16, 16, "f64", "row"), "no matrix_a of .f64 in m16n16k16; there are"),
        (("matrix_a", 16, 16, 16, "f16"), 'matrix_a needs a layout, "row" or "col"'),
        (("matrix_a", 8, 8, 32, "s4", "col"), "matrix_a of .s4 in m8n8k32 by row only"),
        (("matrix_b", 8, 8, 128, "b1", "row"), "matrix_b of .b1 in m8n8k128 by col only"),
        (("accumulator", 16, 16, 16, "f32", "row"), "gets its layout where it is loaded"),
        (("accumulator", 16, 16, 16, "bf16"), "no accumulator of .bf16"),
        (("matrix_a", 16, 16, 16, "i8", "row"), "no matrix_a of .i8 in m16n16k16; it has none"),
    ],
)
def test_fragments_that_there_are_not(arguments: Any, message: str) -> None:
    k = new()
    refused(lambda: fragment(k, *arguments), message)


def test_a34_ldm_below_an_extent_and_alignment() -> None:
    k = new()
    p, c, n = k.params()
    a = fragment(k, "matrix_a", 16, 16, 16, "f16", "row")
    d = fragment(k, "accumulator", 16, 16, 16, "f32")
    refused(lambda: a.load(p, 8), "ldm is 8, and a row has 16 elements")
    refused(lambda: d.store(c, 12, "col"), "ldm is 12, and a column has 16 elements")
    refused(lambda: a.load(p, 24), "ldm must be a multiple of 32 bytes; 24 elements are 48")
    refused(
        lambda: d.load(c, 20, "row"),
        "ldm must be a multiple of 32 bytes; 20 elements are 80",
    )
    refused(lambda: d.load(c, 16), 'layout is None; expected "row" or "col"')
    refused(lambda: a.load(p, 16, "col"), "it lies by row, as it was made, not by col")
    refused(lambda: a.store(p, 16), "wmma stores accumulators only")
    tile = k.shared("tile", "f16", 512, align=16)
    refused(lambda: a.load(tile, 16), "tile is aligned to 16 bytes; it must be to 32: align=32")
    wide = k.shared("wide", "f16", 512, align=32)
    refused(lambda: a.load(wide + 16, 16), r"wide\+16 is 16 bytes past a multiple of 32")
    a.load(wide + 32, 16)
    a.load(p, n)
    b = fragment(k, "matrix_b", 32, 8, 16, "f16", "row")
    b.load(p, 8)
    refused(lambda: b.load(p, 12), "ldm must be a multiple of 16 bytes; 12 elements are 24")


def test_products_that_there_are_not() -> None:
    k = new()
    a = fragment(k, "matrix_a", 16, 16, 16, "f16", "row")
    s = fragment(k, "matrix_a", 16, 16, 16, "s8", "row")
    b = fragment(k, "matrix_b", 16, 16, 16, "f16", "col")
    d = fragment(k, "accumulator", 16, 16, 16, "f32")
    i = fragment(k, "accumulator", 16, 16, 16, "s32")
    other = fragment(k, "accumulator", 32, 8, 16, "f32")
    refused(lambda: mma(d, b, a, d), "a is a matrix_b; expected a matrix_a")
    refused(lambda: mma(d, a, b, other), "c is for wmma m32n8k16, d for wmma m16n16k16")
    refused(lambda: mma(i, a, b, i), "no wmma of m16n16k16 with D .s32, A .f16 row, B .f16 col")
    refused(lambda: mma(d, s, b, d), "no wmma of m16n16k16 with D .f32, A .s8 row, B .f16 col")
    mine = new()
    foreign = fragment(mine, "matrix_a", 16, 16, 16, "f16", "row")
    refused(lambda: mma(d, foreign, b, d), "a is a fragment of another kernel")
    bits = [
        fragment(k, use, 8, 8, 128, "b1", by)
        for use, by in (("matrix_a", "row"), ("matrix_b", "col"))
    ]
    counts = fragment(k, "accumulator", 8, 8, 128, "s32", family="wmma")
    refused(lambda: mma(counts, *bits, counts, True), "no satfinite for counts of bits")
    refused(lambda: mma(counts, *bits, counts, op="or"), "or")


def test_fills_that_do_not_fit() -> None:
    k = new()
    s = fragment(k, "matrix_a", 16, 16, 16, "s8", "row")
    refused(lambda: s.fill(128), "128 is no .s8: -128 to 127")
    refused(lambda: s.fill(0.5), "expected an integer for .s8, got 0.5")
    refused(lambda: s.fill(k.mov.b16(1)), "fill takes a number for elements of 8 bits")


def test_matrices_that_ldmatrix_does_not_move() -> None:
    k = new()
    p, _, _ = k.params()
    tile = k.shared("tile", "b8", 4096, align=16)
    wmma = fragment(k, "matrix_a", 16, 16, 16, "f16", "row")
    refused(lambda: wmma.ldmatrix(tile), "ldmatrix moves 1, 2 or 4 registers of mma fragments")
    a = fragment(k, "matrix_a", 16, 8, 32, "s8", "col")
    refused(lambda: a.ldmatrix(tile), "ldmatrix transposes elements of 16 bits only")
    f = fragment(k, "matrix_a", 16, 8, 16, "f16", "row")
    refused(lambda: f.ldmatrix(p), "ldmatrix takes shared memory, not global")
    c = fragment(k, "accumulator", 16, 8, 16, "f32")
    refused(lambda: c.stmatrix(tile), "stmatrix moves accumulators of 16 bits")
    bits = fragment(k, "matrix_a", 16, 8, 64, "s4", "col")
    refused(lambda: bits.load(tile, 64), "elements below a byte lie along K")


def test_the_checker_and_the_emulator_know_the_alignment_too() -> None:
    """Of a pointer that only they see: a register, and a stride in a register."""
    k = ptx.Kernel("k", p="global.f16", stride="u32")
    p, stride = k.params()
    a = fragment(k, "matrix_a", 16, 16, 16, "f16", "row")
    a.load(p + 2, 16)
    k.ret()
    found = [d for d in ptx.check(ptx.Module(k)) if d.name == "misaligned"]
    assert len(found) == 1 and "2 bytes past a multiple of 32" in found[0].message

    device = ptx.device("emulator")
    for offset, pitch in ((16, 16), (0, 24)):
        k = ptx.Kernel("k", p="global.f16", stride="u32")
        p, stride = k.params()
        a = fragment(k, "matrix_a", 16, 16, 16, "f16", "row")
        a.load(p, stride)
        k.ret()
        array = device.array([0.0] * 1024, "f2")
        device.load(ptx.Module(k))["k"].launch(1, 32, [array + offset // 2, pitch])
        with pytest.raises(EmulatorFault, match="must be a multiple of 32 bytes"):
            device.synchronize()


def test_a35_a_register_twice_in_a_is_told() -> None:
    k = new()
    a = fragment(k, "matrix_a", 16, 8, 16, "f16")
    b = fragment(k, "matrix_b", 16, 8, 16, "f16")
    c = fragment(k, "accumulator", 16, 8, 16, "f32")
    p, out, _ = k.params()
    a.load(p, 16)
    b.load(p, 16)
    c.fill(0.0)
    slip = (*a.registers[:2], a.registers[2], a.registers[2])
    k.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32(
        slip, b.registers, c.registers, out=c.registers
    )
    c.store(out, 8)
    k.ret()
    assert [d.name for d in ptx.check(ptx.Module(k))] == ["repeated-fragment"]
