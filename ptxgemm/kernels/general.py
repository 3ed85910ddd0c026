"""Products of float32 matrices with any strides: the kernel for what no other kernel takes.

D = alpha * A @ B + beta * C, where every matrix lies anywhere: rows and columns apart by any number
of elements, negative and zero ones included. All addresses have 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm.index import divide
from ptxgemm.shape import WORD

TILE = 64
"""Rows and columns of D that a CTA owns."""
DEPTH = 16
"""Elements of K at each step."""
THREAD = 4
"""Rows and columns of D that a thread owns, next to each other."""
ACROSS = TILE // THREAD
THREADS = ACROSS * ACROSS
PITCH = TILE + 4
"""Elements from one row of a shared tile to the next: whole 16-byte pieces, spread over banks."""
LOADS = TILE * DEPTH // THREADS
MATRICES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class General:
    """Which of its forms to build: all compute the same.

    `a_along_k` and `b_along_k` give neighbouring lanes neighbours along K, which is faster where
    those lie next to each other; without, neighbours along M or N. `reads_c` is for beta other
    than 0; without it the kernel has neither `c` nor `beta`.
    """

    a_along_k: bool
    b_along_k: bool
    reads_c: bool

    @property
    def name(self) -> str:
        letters = ("n" if self.a_along_k else "t") + ("t" if self.b_along_k else "n")
        return f"general_{letters}" + ("_beta" if self.reads_c else "")

    @property
    def pointers(self) -> tuple[str, ...]:
        return tuple(name for name in MATRICES if name != "c" or self.reads_c)


def tiles(m: int, n: int, batch: int = 1) -> int:
    """CTAs of a launch, all along x."""
    return -(-m // TILE) * -(-n // TILE) * batch


def general(form: General) -> Kernel:
    """The kernel; launch :func:`tiles` CTAs of 256 threads.

    Parameters: a pointer to each matrix's first element; ``m``, ``n`` and ``k`` below 2**31;
    ``alpha`` and ``beta``; for each matrix ``_row``, ``_column`` and ``_batch``, the elements from
    one to the next along it, of either sign. K may be 0.
    """
    strides = {
        f"{name}_{axis}": "s64" for name in form.pointers for axis in ("row", "column", "batch")
    }
    k = Kernel(
        form.name,
        **dict.fromkeys(form.pointers, "global.f32"),
        m="u32", n="u32", k="u32", alpha="f32", **({"beta": "f32"} if form.reads_c else {}),
        **strides,
    )  # fmt: skip
    k.maxntid(THREADS)
    shared = k.shared("tiles", "f32", 2 * DEPTH * PITCH, align=16)
    names = (*form.pointers, "m", "n", "k", "alpha", *["beta"] * form.reads_c, *strides)
    given = dict(zip(names, k.params(), strict=True))
    for stride in strides:
        given[stride] = given[stride] << (WORD.bit_length() - 1)
    tile, thread = k.mov.u32(shared), k.mov.u32(k.tid.x)
    row, column = _place(k, given)
    a = _mover(k, given, "a", ("m", "row", "column"), form.a_along_k, row, tile, thread)
    tile_b = k.add.u32(tile, DEPTH * PITCH * WORD)
    b = _mover(k, given, "b", ("n", "column", "row"), form.b_along_k, column, tile_b, thread)
    down, across = divide(thread, ACROSS)
    sums = tuple(tuple(k.mov.f32(0.0) for _ in range(THREAD)) for _ in range(THREAD))
    with k.branch(k.setp.gt.u32(given["k"], 0)):
        _fetch(k, given, a, b)
        sources = (
            k.mad.lo.u32(down, THREAD * WORD, tile),
            k.mad.lo.u32(across, THREAD * WORD, tile),
        )
        with k.loop(0, given["k"], DEPTH, name="main"):
            for mover in (a, b):
                _store(k, mover)
            k.bar.sync(0)
            _fetch(k, given, a, b)
            _multiply(k, sources, sums)
            k.bar.sync(0)
    _write(k, form, given, sums, row + down * THREAD, column + across * THREAD)
    k.ret()
    return k


def _place(k: Kernel, given: dict[str, Reg]) -> tuple[Reg, Reg]:
    """The CTA's first row and column; every matrix moved on to those of its batch."""
    cta = k.mov.u32(k.ctaid.x)
    down, across = (
        k.shr.u32(given[size] + (TILE - 1), TILE.bit_length() - 1) for size in ("m", "n")
    )
    line = k.div.u32(cta, across)
    batch = k.cvt.s64.u32(k.div.u32(line, down))
    for name in MATRICES:
        if name in given:
            given[name] = k.mad.lo.s64(batch, given[f"{name}_batch"], given[name])
    return k.rem.u32(line, down) * TILE, k.rem.u32(cta, across) * TILE


@dataclass(frozen=True)
class _Mover:
    """How a thread moves its elements of one operand to shared memory."""

    sources: tuple[Reg, ...]
    inside: tuple[Reg, ...]
    """Whether each of them lies inside M or N."""
    depths: tuple[Reg, ...]
    """Where each of them is along K."""
    step: Reg
    """Bytes to the next K step."""
    held: tuple[Reg, ...]
    target: Reg
    offsets: tuple[int, ...]


def _mover(
    k: Kernel,
    given: dict[str, Reg],
    name: str,
    axes: tuple[str, str, str],
    along_k: bool,
    start: Reg,
    tile: Reg,
    thread: Reg,
) -> _Mover:
    """Of `name`, from `start` on along M or N; `axes` are its size and strides there and along K.

    The tile in shared memory is ``[DEPTH][PITCH]``, whichever way the operand lies.
    """
    size, outer, inner = given[axes[0]], given[f"{name}_{axes[1]}"], given[f"{name}_{axes[2]}"]
    if along_k:
        at, depth = divide(thread, DEPTH)
    else:
        depth, at = divide(thread, TILE)
    apart = (TILE if along_k else DEPTH) // LOADS
    first = start + at
    origin = k.mad.lo.s64(k.cvt.s64.u32(first), outer, given[name])
    origin = k.mad.lo.s64(k.cvt.s64.u32(depth), inner, origin)
    gap = (outer if along_k else inner) * apart
    sources, inside, depths = [origin], [k.setp.lt.u32(first, size)], [depth]
    for number in range(1, LOADS):
        sources.append(k.add.s64(sources[-1], gap))
        inside.append(k.setp.lt.u32(first + number * apart, size) if along_k else inside[0])
        depths.append(depth if along_k else depth + number * apart)
    return _Mover(
        tuple(sources),
        tuple(inside),
        tuple(depths),
        inner * DEPTH,
        k.reg("f32", LOADS),
        k.add.u32(k.mad.lo.u32(depth, PITCH * WORD, tile), at * WORD),
        tuple(n * apart * (1 if along_k else PITCH) * WORD for n in range(LOADS)),
    )


def _fetch(k: Kernel, given: dict[str, Reg], *movers: _Mover) -> None:
    """One K step into registers, zeros from beyond the edges; on to the next step."""
    for mover in movers:
        advanced: list[Reg] = []
        for source, inside, depth, held in zip(
            mover.sources, mover.inside, mover.depths, mover.held, strict=True
        ):
            there = k.setp.lt.and_.u32(depth, given["k"], inside)
            k.mov.f32(0.0, out=held)
            with k.when(there):
                k.ld.global_.f32(source, out=held)
            k.add.s64(source, mover.step, out=source)
            if depth not in advanced:
                advanced.append(depth)
        for depth in advanced:
            k.add.u32(depth, DEPTH, out=depth)


def _store(k: Kernel, mover: _Mover) -> None:
    for held, offset in zip(mover.held, mover.offsets, strict=True):
        k.st.shared.f32(Addr(mover.target, offset), held)


def _multiply(k: Kernel, sources: tuple[Reg, Reg], sums: Any) -> None:
    for depth in range(DEPTH):
        a = k.ld.shared.v4.f32(Addr(sources[0], depth * PITCH * WORD))
        b = k.ld.shared.v4.f32(Addr(sources[1], (DEPTH + depth) * PITCH * WORD))
        for i in range(THREAD):
            for j in range(THREAD):
                k.fma.rn.f32(a[i], b[j], sums[i][j], out=sums[i][j])


def _write(
    k: Kernel, form: General, given: dict[str, Reg], sums: Any, row: Reg, column: Reg
) -> None:
    """``alpha * sums + beta * C`` to D, inside M and N; without `reads_c`, C is never read."""
    targets = {name: _element(k, given, name, row, column) for name in form.pointers[2:]}
    columns = [k.setp.lt.u32(column + j, given["n"]) for j in range(THREAD)]
    for i in range(THREAD):
        inside = k.setp.lt.u32(row + i, given["m"])
        at = dict(targets)
        for j in range(THREAD):
            both = inside & columns[j]
            value = k.mul.rn.f32(given["alpha"], sums[i][j])
            if form.reads_c:
                old = k.mov.f32(0.0)
                with k.when(both):
                    k.ld.global_.f32(at["c"], out=old)
                value = k.fma.rn.f32(given["beta"], old, value)
            with k.when(both):
                k.st.global_.f32(at["d"], value)
            if j < THREAD - 1:
                at = {name: k.add.s64(to, given[f"{name}_column"]) for name, to in at.items()}
        if i < THREAD - 1:
            targets = {name: k.add.s64(to, given[f"{name}_row"]) for name, to in targets.items()}


def _element(k: Kernel, given: dict[str, Reg], name: str, row: Reg, column: Reg) -> Reg:
    at = k.mad.lo.s64(k.cvt.s64.u32(row), given[f"{name}_row"], given[name])
    found: Reg = k.mad.lo.s64(k.cvt.s64.u32(column), given[f"{name}_column"], at)
    return found
