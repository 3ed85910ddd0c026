"""From sums to C: C = alpha * sums, or alpha * sums + beta * C."""

from __future__ import annotations

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.shape import VECTOR, WORD, Shape
from ptxgemm.warp import Sums


def write(
    k: Kernel,
    shape: Shape,
    sums: Sums,
    c: Reg,
    pitch: Reg,
    alpha: Reg,
    beta: Reg | None = None,
) -> None:
    """Write a thread's sums; `c` points to its first element, rows are `pitch` elements apart.

    Without `beta`, C is never read. The products with alpha are fresh registers: a vector store of
    the sums themselves would pin them to aligned quads, at the cost of bank conflicts in the loop.
    """
    row_bytes = k.mul.wide.u32(pitch, WORD)
    block_bytes = k.mul.wide.u32(pitch, (shape.block_m - VECTOR + 1) * WORD)
    at = c
    for i, row in enumerate(sums):
        if i:
            at = at + (block_bytes if i % VECTOR == 0 else row_bytes)
        for block, first in enumerate(range(0, shape.thread_n, VECTOR)):
            target = Addr(at, block * shape.block_n * WORD)
            part = row[first : first + VECTOR]
            if beta is None:
                values = [k.mul.rn.f32(alpha, value) for value in part]
            else:
                old = [k.mul.rn.f32(beta, value) for value in k.ld.global_.v4.f32(target)]
                values = [k.fma.rn.f32(alpha, v, o) for v, o in zip(part, old, strict=True)]
            k.st.global_.v4.f32(target, values)
