"""Disassembled texts that several tests share: nvdisasm takes a while to start."""

from __future__ import annotations

from functools import cache

import pytest

from ptx.assembler import assemble
from ptx.sass import Sass, disassemble
from tests.samples import LOOP

OFTEN = ("sm_120",)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100", "sm_120")
each_target = pytest.mark.parametrize(
    "target",
    [pytest.param(t, marks=[] if t in OFTEN else [pytest.mark.slow]) for t in TARGETS],
)
"""Of every run are those of :data:`OFTEN`; the others are marked slow."""


@cache
def made(text: str, target: str | None = None) -> Sass:
    return disassemble(assemble(text, target))


def _kernel(name: str, lines: str, type: str = "b32") -> str:
    return (
        f".visible .entry {name}(.param .u64 p)\n{{\n"
        f".reg .{type} %r<20>;\n.reg .b64 %rd<9>;\n"
        ".shared .align 16 .b8 tile[256];\n"
        "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n" + lines + "ret;\n}\n"
    )


def module(*kernels: str, target: str = "sm_75") -> str:
    return f".version 8.8\n.target {target}\n.address_size 64\n" + "".join(kernels)


WIDTHS = _kernel(
    "widths",
    "ld.volatile.global.u8 %r1, [%rd1];\n"
    "ld.volatile.global.s16 %r2, [%rd1+2];\n"
    "ld.volatile.global.u32 %r3, [%rd1+4];\n"
    "ld.volatile.global.v2.u32 {%r4, %r5}, [%rd1+8];\n"
    "ld.volatile.global.u64 %rd2, [%rd1+8];\n"
    "ld.volatile.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1+16];\n"
    "st.volatile.shared.v4.u32 [tile], {%r6, %r7, %r8, %r9};\n"
    "st.volatile.shared.u32 [tile+16], %r1;\n"
    "st.volatile.shared.u8 [tile+20], %r2;\n"
    "ld.volatile.shared.v2.u32 {%r10, %r11}, [tile+32];\n"
    "st.volatile.global.u64 [%rd1+32], %rd2;\n"
    "st.volatile.global.v2.u32 [%rd1+40], {%r10, %r11};\n"
    "st.volatile.global.u16 [%rd1+48], %r4;\n",
)
PRODUCTS = _kernel(
    "products",
    "".join(f"ld.volatile.global.f32 %r{i}, [%rd1+{4 * i}];\n" for i in range(1, 9))
    + "".join(
        f"fma.rn.f32 %r{9 + i + j}, %r{1 + i}, %r{5 + j}, %r{9 + i + j};\n"
        for i in range(4)
        for j in range(4)
    )
    + "".join(f"st.volatile.global.f32 [%rd1+{4 * i}], %r{i};\n" for i in range(9, 16)),
    type="f32",
)
WIDEST = _kernel(
    "widest",
    "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];\n"
    "st.global.v8.b32 [%rd1+32], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};\n",
)
TOTAL = LOOP.split("\n\n", 1)[1]
EVERYWHERE = module(TOTAL, WIDTHS, PRODUCTS)
"""Kernels that every target takes."""
