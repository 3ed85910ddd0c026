"""SGEMM on the FP32 pipes: C = alpha * A @ B + beta * C, row-major float32."""

from __future__ import annotations

from ptx.builder import Kernel
from ptxgemm import epilogue, load, pipeline, tail, warp
from ptxgemm.index import element
from ptxgemm.shape import SEED, WORD, Shape


def sgemm(
    shape: Shape = SEED,
    prefetch: str = "peeled",
    *,
    l2_prefetch: bool = False,
    beta_zero: bool = False,
    name: str = "sgemm",
) -> Kernel:
    """A kernel for A [M, K], B [K, N] and C [M, N], all contiguous and aligned to 16 bytes.

    M, N and K are multiples of ``cta_m``, ``cta_n`` and ``cta_k``, K at least ``cta_k``. Launch
    ``M / cta_m * N / cta_n`` CTAs in one dimension, of ``shape.threads`` threads. `prefetch` is a
    form of :mod:`ptxgemm.tail`; `beta_zero` makes a kernel that ignores beta and never reads C;
    `l2_prefetch` loads with ``L2::128B``. Method: Huang et al., 2018 (arXiv:1808.07984).
    """
    k = Kernel(
        name, n="u32", k="u32", alpha="f32", a="global.f32@16", b="global.f32@16", beta="f32",
        c="global.f32@16",
    )  # fmt: skip
    k.maxntid(shape.threads)
    k.minnctapersm(shape.ctas_per_sm)
    stages = k.shared("stages", "f32", shape.shared_bytes // WORD, align=128)
    width, depth, alpha, a, b, beta, c = k.params()
    thread, cta = k.mov.u32(k.tid.x), k.mov.u32(k.ctaid.x)
    tile = k.mov.u32(stages)

    across = k.div.u32(width, shape.cta_n)
    row = k.div.u32(cta, across) * shape.cta_m
    column = k.rem.u32(cta, across) * shape.cta_n
    at = warp.place(k, shape, thread)
    work = pipeline.Work(
        shape,
        (
            load.operand_a(k, shape, a, depth, row, tile, thread),
            load.operand_b(k, shape, b, width, column, tile, thread),
        ),
        warp.reader(k, shape, tile, at),
        (warp.fragment(k, shape), warp.fragment(k, shape)),
        warp.zeros(k, shape),
        k.mov.s32(shape.stage_bytes),
        l2_prefetch,
    )
    target = element(k, c, row + at.row, width, column + at.column)
    steps = k.div.u32(depth, shape.cta_k)
    pipeline.run(k, work, steps, tail.checked(prefetch))
    epilogue.write(k, shape, work.sums, target, width, alpha, None if beta_zero else beta)
    k.ret()
    return k
