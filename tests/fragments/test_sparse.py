"""Sparse products: every shape of the table is spelled and assembled; the emulator says no."""

from __future__ import annotations

from typing import Any

import pytest

import ptx
from ptx.emu.faults import Unmodelled
from ptx.fragments import Fragment, fragment, mma

SHAPES: list[tuple[int, str, str, str, int]] = [
    (16, "f16", "f16", "f32", 3), (32, "f16", "f16", "f16", 1), (16, "bf16", "bf16", "f32", 2),
    (32, "bf16", "bf16", "f32", 0), (8, "tf32", "tf32", "f32", 3), (16, "tf32", "tf32", "f32", 1),
    (32, "s8", "u8", "s32", 1), (64, "s8", "s8", "s32", 0), (64, "s4", "u4", "s32", 1),
    (128, "u4", "u4", "s32", 0), (64, "e4m3", "e5m2", "f32", 0),
]  # fmt: skip


def kernel(k: int, a_type: str, b_type: str, c_type: str, selector: int) -> tuple[ptx.Kernel, Any]:
    made = ptx.Kernel("sparse", a="global.b32", b="global.b32", c="global.b32", meta="u32")
    a_at, b_at, c_at, meta = made.params()
    parts: list[Fragment] = [
        fragment(made, "matrix_a", 16, 8, k, a_type, sparse=True),
        fragment(made, "matrix_b", 16, 8, k, b_type, sparse=True),
        fragment(made, "accumulator", 16, 8, k, c_type, sparse=True),
    ]
    a, b, c = parts
    a.load(a_at)
    b.load(b_at)
    c.fill(0)
    mma(c, a, b, c, metadata=meta, selector=selector)
    c.store(c_at)
    made.ret()
    return made, parts


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_holds_half_of_k(shape: Any) -> None:
    made, (a, b, c) = kernel(*shape)
    k, bits = shape[0], a.map.bits
    assert (a.map.rows, a.map.columns) == (16, k // 2)
    assert len(a.registers) * 32 == 16 * k // 2 * bits // 32
    assert (b.map.rows, b.map.columns) == (k, 8)
    text = str(ptx.Module(made))
    assert f"mma.sp::ordered_metadata.sync.aligned.m16n8k{k}.row.col" in text
    assert f", {shape[4]};" in text
    assert ptx.assemble(ptx.Module(made), "sm_90").registers > 0
    device = ptx.device("emulator")
    array = device.empty(1024, "u1", poison=True)
    loaded = device.load(ptx.Module(made))["sparse"]
    with pytest.raises(Unmodelled, match="sparse"):
        loaded.launch(1, 32, [array, array, array, 0])


def test_what_a_sparse_product_needs() -> None:
    made = ptx.Kernel("k")
    a = fragment(made, "matrix_a", 16, 8, 32, "f16", sparse=True)
    b = fragment(made, "matrix_b", 16, 8, 32, "f16", sparse=True)
    c = fragment(made, "accumulator", 16, 8, 32, "f32", sparse=True)
    with pytest.raises(ptx.PtxError, match="a sparse A needs its metadata"):
        mma(c, a, b, c)
    with pytest.raises(ptx.PtxError, match="no sparse matrix_a of .f64 in m16n8k16"):
        fragment(made, "matrix_a", 16, 8, 16, "f64", sparse=True)
