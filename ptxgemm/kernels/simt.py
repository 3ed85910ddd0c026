"""SGEMM on the FP32 pipes: D = alpha * A @ B + beta * C in float32, for any shape and any strides.

:func:`plan` decides on the host what :func:`sgemm` is built for, and with what it is launched.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Label, Reg
from ptxgemm import epilogue, gathered, load, pipeline, split, warp
from ptxgemm.access import Access
from ptxgemm.index import element, wide
from ptxgemm.shape import SEED, VECTOR, WORD, Shape
from ptxgemm.tail import Tail, checked

A_ROWS = Access("k")
B_ROWS = Access("side")
"""Row-major, every row aligned to 16 bytes."""


@dataclass(frozen=True)
class Spec:
    """What a kernel is built for; kernels of equal specs are the same."""

    shape: Shape = SEED
    tail: Tail = Tail("peeled", "exact")
    """With no choice left open."""
    a: Access = A_ROWS
    b: Access = B_ROWS
    d: Access = B_ROWS
    """Of C too, where it is read."""
    reads_c: bool = False
    batched: bool = False
    split: bool = False
    l2_prefetch: bool = False

    def __post_init__(self) -> None:
        if self.tail.edge == "auto" or self.tail.prefetch == "auto":
            raise ValueError(
                f"a kernel is built for a policy with no choice left open: {self.tail}"
            )
        if self.tail.edge == "zfill" and self.shape.staging != "async":
            raise ValueError("edge is zfill, which needs cp.async: a shape with staging async")
        if self.shape.staging == "async":
            for name, access in (("a", self.a), ("b", self.b)):
                if access.along == "k" and access.width > 1:
                    raise ValueError(
                        f"{name} lies along K, and cp.async transposes single elements only: "
                        f"width is {access.width}"
                    )
        if self.d.along != "side":
            raise ValueError("the result lies along M; compute its transpose, B' @ A', instead")

    @property
    def pointers(self) -> tuple[str, ...]:
        return ("a", "b", "c", "d") if self.reads_c else ("a", "b", "d")

    @property
    def gathering(self) -> gathered.Gathering | None:
        """How what takes no vector stores is written; None where each thread writes its own."""
        if self.d.strided or self.d.width == VECTOR or self.reads_c:
            return None
        found = gathered.Gathering(self.shape, self.d.width)
        return found if found.fits else None

    @property
    def name(self) -> str:
        """By BLAS's letters: n for a row-major operand, t for a column-major one."""
        letters = ("n" if self.a.along == "k" else "t") + ("t" if self.b.along == "k" else "n")
        return f"sgemm_{letters}{'_beta' if self.reads_c else ''}"


def sgemm(
    shape: Shape = SEED,
    prefetch: str = "peeled",
    *,
    l2_prefetch: bool = False,
    beta_zero: bool = False,
    name: str = "sgemm",
) -> Kernel:
    """The kernel for whole tiles of row-major matrices, whose rows are aligned to 16 bytes.

    `prefetch` is a form of :mod:`ptxgemm.tail`; `beta_zero` makes a kernel that never reads C;
    `l2_prefetch` loads with ``L2::128B``.
    """
    a = A_ROWS if shape.staging == "registers" else Access("k", 1)
    policy = Tail(checked(prefetch), "exact")
    spec = Spec(shape, policy, a, reads_c=not beta_zero, l2_prefetch=l2_prefetch)
    return build(spec, name)


def build(spec: Spec, name: str | None = None) -> Kernel:
    """A kernel of ``shape.threads`` threads in each CTA. Parameters, in order:

    the address of element [0, 0] of each of :attr:`Spec.pointers`; ``m n k``, ``alpha`` and
    ``beta``; for each pointer ``X_row X_column X_batch``, elements from one to the next along each
    axis; with ``split``, ``whole``, ``parts`` and ``per_part``: the tiles that one CTA computes,
    into how many parts the others are cut, and K steps in each; ``workspace`` and ``counters``.

    Launch a CTA for each whole tile and each part of the others along x, a batch along y. Strides
    of what an :class:`Access` says touches are not looked at. Method: Huang et al., 2018
    (arXiv:1808.07984).
    """
    shape = spec.shape
    k = Kernel(name or spec.name, **parameters(spec))
    k.maxntid(shape.threads)
    k.minnctapersm(shape.ctas_per_sm)
    if shape.dynamic_bytes:
        stages = k.dynamic_shared("stages", "f32", align=128)
    else:
        stages = k.shared("stages", "f32", shape.shared_bytes // WORD, align=128)
    p = {parameter: k.param(parameter) for parameter in parameters(spec) if _used(spec, parameter)}
    thread, cta = k.mov.u32(k.tid.x), k.mov.u32(k.ctaid.x)
    tile = k.mov.u32(stages)
    if spec.batched:
        batch = wide(k, k.mov.u32(k.ctaid.y))
        for pointer in spec.pointers:
            p[pointer] = p[pointer] + (k.mul.lo.s64(batch, p[f"{pointer}_batch"]) << 2)

    part = _part(k, p, cta) if spec.split else None
    index = cta if part is None else part.index
    across = k.div.u32(p["n"] + (shape.cta_n - 1), shape.cta_n)
    row = k.div.u32(index, across) * shape.cta_m
    column = k.rem.u32(index, across) * shape.cta_n
    depth, start = _depth(k, spec, p, part)
    at = warp.place(k, shape, thread)
    edge = spec.tail.made_edge
    target = k.add.u32(tile, shape.ahead * shape.stage_bytes)
    work = pipeline.Work(
        shape,
        spec.tail,
        (
            load.operand(
                k, shape, shape.cta_m, spec.a, edge, p["a"], (p.get("a_row"), p.get("a_column")),
                row, p.get("m"), start, target, thread,
            ),
            load.operand(
                k, shape, shape.cta_n, spec.b, edge, p["b"], (p.get("b_column"), p.get("b_row")),
                column, p["n"], start, k.add.u32(target, shape.a_bytes), thread,
            ),
        ),
        warp.reader(k, tile, at),
        (warp.fragment(k, shape), warp.fragment(k, shape)),
        warp.zeros(k, shape),
        k.mov.s32(-shape.ahead * shape.stage_bytes),
        None if shape.stages == 2 else k.mov.s32(0),
        spec.l2_prefetch,
    )  # fmt: skip
    pipeline.run(k, work, depth)
    done = k.forward("done")
    if part is not None:
        _meet(k, spec, work.sums, part, p, thread, done)
    with apart(k, spec, column, p["n"]):
        _write(k, spec, work.sums, p, (row, column), at, tile)
    if part is not None:
        k.place(done)
    k.ret()
    return k


def parameters(spec: Spec) -> dict[str, str]:
    """Names and types, in order; a pointer promises the alignment that its accesses need."""
    found = {
        name: f"global.f32@{getattr(spec, 'd' if name == 'c' else name).width * WORD}"
        for name in spec.pointers
    }
    found |= {"m": "u32", "n": "u32", "k": "u32", "alpha": "f32", "beta": "f32"}
    for name in spec.pointers:
        found |= {f"{name}_{axis}": "s64" for axis in ("row", "column", "batch")}
    if spec.split:
        found |= {"whole": "u32", "parts": "u32", "per_part": "u32"}
        found |= {"workspace": "global.f32@16", "counters": "global.u32@4"}
    return found


def _used(spec: Spec, name: str) -> bool:
    if name.endswith("_batch"):
        return spec.batched
    if name == "beta":
        return spec.reads_c
    if name == "m":
        return not spec.tail.exact
    unit = {
        "a_row": spec.a.along == "side", "a_column": spec.a.along == "k",
        "b_row": spec.b.along == "k", "b_column": spec.b.along == "side",
        "d_column": True, "c_column": True,
    }  # fmt: skip
    if unit.get(name):
        return bool(getattr(spec, "d" if name[0] == "c" else name[0]).strided)
    return True


@dataclass(frozen=True)
class Part:
    """What a CTA of a grid with split tiles has: its tile, and which part of it."""

    index: Reg
    cut: Reg
    """A predicate: whether the tile is cut."""
    part: split.Part


def _part(k: Kernel, p: dict[str, Any], cta: Reg) -> Part:
    cut = k.setp.ge.u32(cta, p["whole"])
    beyond = cta - p["whole"]
    tile = k.div.u32(beyond, p["parts"])
    number = k.rem.u32(beyond, p["parts"])
    index = k.selp.b32(p["whole"] + tile, cta, cut, out=k.reg("u32"))
    return Part(index, cut, split.Part(tile, number, p["parts"]))


def _depth(
    k: Kernel, spec: Spec, p: dict[str, Any], part: Part | None
) -> tuple[pipeline.Depth, Reg | None]:
    """The CTA's K steps, and where K starts; None for 0."""
    size = spec.shape.cta_k
    total = k.max.u32(k.div.u32(p["k"] + (size - 1), size), 1)
    ragged = p["k"] - (total - 1) * size
    steps, start, first = total, None, ragged
    ragged_first = spec.tail.schedule == "ragged-first"
    if not ragged_first:
        first = p["k"]
    if part is not None:
        before = k.selp.b32(part.part.number * p["per_part"], 0, part.cut, out=k.reg("u32"))
        own = k.min.u32(p["per_part"], total - before)
        steps = k.selp.b32(own, total, part.cut, out=k.reg("u32"))
        from_start = k.setp.eq.u32(before, 0)
        if ragged_first:
            start = k.selp.b32(0, ragged + (before - 1) * size, from_start, out=k.reg("u32"))
            first = k.selp.b32(ragged, size, from_start, out=k.reg("u32"))
        else:
            start = before * size
            first = p["k"] - start
    signed = [k.mov.b32(x, out=k.reg("s32")) for x in (steps, first)]
    return pipeline.Depth(*signed), start


def _meet(
    k: Kernel, spec: Spec, sums: warp.Sums, part: Part, p: dict[str, Any], thread: Reg, done: Label
) -> None:
    ticket = k.shared("ticket", "u32", 1)
    with k.branch(part.cut):
        split.meet(
            k, spec.shape, sums, part.part, p["workspace"], p["counters"], thread, ticket, done
        )


def apart(k: Kernel, spec: Spec, column: Reg, n: Reg) -> AbstractContextManager[None]:
    """A branch around the writing that every CTA takes, as its first column always lies inside.

    ptxas 13.0 then allots registers for the main loop without regard to the writing, and more of
    its FFMA find their operands in both banks. Without the branch FFMA start in 0.66 of the loop's
    clocks, by :mod:`ptx.sass.banks`, where K is split and shapes are exact, instead of 0.80; and on
    an H200 tiles of 8x16 a thread take 2869 us for 4095x4097x4093 instead of 2728. Where C is read
    and K not split the branch does harm, and there is none.
    """
    if spec.reads_c and not spec.split:
        return nullcontext()
    return k.branch(k.setp.lt.u32(column, n))


def _write(
    k: Kernel, spec: Spec, sums: warp.Sums, p: dict[str, Any], corner: tuple[Reg, Reg],
    own: warp.Place, tile: Reg,
) -> None:  # fmt: skip
    """A thread's part of the tile that starts at `corner`; its sums are those of place `own`."""
    gathering, thread = spec.gathering, None
    if gathering is not None:
        # Read again, so that no register holds it through the main loop.
        thread = k.mov.u32(k.tid.x)
        own = gathered.place(k, gathering, thread)
    row, column = corner[0] + own.row, corner[1] + own.column
    targets = []
    for name in ("d", "c") if spec.reads_c else ("d",):
        across = p[f"{name}_column"] if spec.d.strided else None
        at = element(k, p[name], [(row, p[f"{name}_row"]), (column, across)])
        targets.append(epilogue.Target(at, p[f"{name}_row"], across))
    bounds: epilogue.Bounds | None = None
    if not spec.tail.exact:
        bounds = epilogue.Bounds(
            *(k.mov.b32(x, out=k.reg("s32")) for x in (p["m"] - row, p["n"] - column))
        )
    edge = spec.tail.made_edge
    if gathering is None or thread is None:
        epilogue.write(
            k, spec.shape, sums, spec.d, edge, bounds, targets[0], p["alpha"],
            *((p["beta"], targets[1]) if spec.reads_c else ()),
        )  # fmt: skip
        return
    if spec.shape.staging == "async":
        k.cp.async_.wait_group(0)  # zeros past the last step may be on their way
    gathered.write(k, gathering, sums, edge, bounds, targets[0], p["alpha"], tile, thread)
