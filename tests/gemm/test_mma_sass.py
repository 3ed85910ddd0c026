"""What ptxas makes of the kernels on mma.sync and wmma: nothing spills, the loop is products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ptx
from ptx import sass
from ptxgemm.blocking import SUMS, Copy
from ptxgemm.kernels import mma, wmma
from ptxgemm.tail import Tail
from ptxgemm.warp_gemm import blocking_for

CASES: list[tuple[str, int, Any, str, int]] = [
    ("f16", 90, "k", "HMMA.16816", 64), ("bf16", 90, "mn", "HMMA.16816", 64),
    ("tf32", 90, "k", "HMMA.1688", 64), ("s8", 90, "k", "IMMA.16832", 64),
    ("f64", 90, "mn", "DMMA.16x8x16", 32), ("f64", 80, "k", "DMMA", 256),
    ("f16", 75, "k", "HMMA.1688", 128), ("s8", 75, "k", "IMMA.8816", 256),
]  # fmt: skip


@pytest.mark.parametrize(("element", "target", "major", "opcode", "count"), CASES)
def test_mma(element: str, target: int, major: Any, opcode: str, count: int) -> None:
    sums = SUMS[element][0]
    shape = blocking_for(element, element, sums, sums, target)
    if major == "mn":
        shape = replace(shape, copy_b=Copy("mn"))
    made = sass.disassemble(ptx.assemble(ptx.Module(mma.gemm(shape)), f"sm_{target}"))
    loop = made.loop("main")
    assert (made.cubin.spill_stores, made.cubin.spill_loads) == (0, 0)
    assert made.cubin.registers * shape.threads * shape.ctas_per_sm <= 65536
    assert loop.count(opcode) == count
    assert (loop.count("BAR"), loop.count("BRA")) == (1, 1)
    if element != "f64":
        assert loop.count("LDSM") == 16
        assert loop.count("LDGSTS") == (8 if target >= 80 else 0)
        assert len(loop.instructions) < count + 110
    assert not loop.has("LDL")
    assert not loop.has("STL")


def test_bytes_along_n_cost_one_prmt_a_register() -> None:
    """Single bytes gathered along K would be 64 loads and 64 stores in a step, in a loop of 548."""
    shape = replace(blocking_for("s8", "s8", "s32", "s32", 90), copy_b=Copy("mn"))
    loop = sass.disassemble(ptx.assemble(ptx.Module(mma.gemm(shape)), "sm_90")).loop("main")
    assert loop.count("PRMT") == 32
    assert (loop.count("IMMA.16832"), loop.count("LDSM"), loop.count("LDGSTS")) == (64, 16, 8)
    assert not loop.has("LDG")
    assert not loop.has("STS")
    assert len(loop.instructions) <= 210


@pytest.mark.parametrize("element", ["f16", "s8"])
def test_wmma_reads_by_ldmatrix_too(element: str) -> None:
    sums = SUMS[element][0]
    shape = replace(blocking_for(element, element, sums, sums, 90), linear=True)
    made = sass.disassemble(ptx.assemble(ptx.Module(wmma.gemm(shape)), "sm_90"))
    assert made.cubin.spill_stores == 0
    assert made.loop("main").count("LDSM") == {"f16": 16, "s8": 32}[element]


@pytest.mark.parametrize("b_major", ["k", "mn"])
def test_the_f64_loop_leaves_the_tensor_cores_no_pause(b_major: Any) -> None:
    """A DMMA.16x8x16 takes a quarter of an SM 64 clocks: 67 TFLOP/s on 132 SMs at 1.98 GHz. By the
    control codes one of the two warps on each quarter issues them hardly further apart, so the
    other's share hides all waiting; each operand is read three times 8 bytes for a product."""
    shape = replace(blocking_for("f64", "f64", "f64", "f64", 90), copy_b=Copy(b_major), exact=True)
    loop = sass.disassemble(ptx.assemble(ptx.Module(mma.gemm(shape)), "sm_90")).loop("main")
    products = loop.count("DMMA.16x8x16")
    assert products == 32
    assert sum(one.control.stall for one in loop.instructions) <= 68 * products
    assert loop.count("LDS.64") == 3 * products
    assert shape.threads // 32 * shape.ctas_per_sm // 4 == 2


def test_the_f16_loop_is_bound_by_products_not_by_issue() -> None:
    """64 HMMA in a loop of at most 170 instructions, an LDSM for four of them; two CTAs an SM."""
    shape = replace(blocking_for("f16", "f16", "f32", "f16", 90), copy_b=Copy("mn"), exact=True)
    made = sass.disassemble(ptx.assemble(ptx.Module(mma.gemm(shape)), "sm_90"))
    loop = made.loop("main")
    assert (loop.count("HMMA.16816"), loop.count("LDSM")) == (64, 16)
    assert len(loop.instructions) <= 170
    assert sum(one.control.stall for one in loop.instructions) <= 8 * 64
    assert made.cubin.registers * shape.threads * 2 <= 65536


def test_exact_copies_have_no_sizes_and_a_shorter_loop() -> None:
    shape = replace(blocking_for("f16", "f16", "f32", "f16", 90), copy_b=Copy("mn"), exact=True)
    loops = [
        sass.disassemble(
            ptx.assemble(ptx.Module(mma.gemm(replace(shape, tail=tail))), "sm_90")
        ).loop("main")
        for tail in (Tail(), Tail(edge="exact"))
    ]
    fills = [[".ZFILL" in one.opcode for one in loop.find("LDGSTS")] for loop in loops]
    assert any(fills[0]) and not any(fills[1]) and len(fills[1]) == 8
    assert len(loops[1].instructions) <= 0.92 * len(loops[0].instructions)
    assert not any(loop.count("LDSM", predicated=True) for loop in loops)


def test_the_edges_cost_little() -> None:
    """Exact shapes and any shape: the loop grows by less than 15%."""
    shape = blocking_for("f16", "f16", "f32", "f16", 90)
    lengths = [
        len(
            sass.disassemble(
                ptx.assemble(ptx.Module(mma.gemm(replace(shape, exact=exact))), "sm_90")
            )
            .loop("main")
            .instructions
        )
        for exact in (True, False)
    ]
    assert lengths[1] <= lengths[0] * 1.15
