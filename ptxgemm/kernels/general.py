"""Products of matrices with any strides, in any type: the kernel for what no other kernel takes.

D = alpha * A @ B + beta * C, where every matrix lies anywhere: rows and columns apart by any number
of elements, negative and zero ones included. All addresses have 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg
from ptxgemm import scalars
from ptxgemm.index import divide

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
    element: str = "f32"
    """Of A and B."""
    sum: str = "f32"
    """``"f32"``, ``"f64"`` or ``"s32"``; alpha and beta are of that type."""
    out: str = "f32"
    """Of C and D."""

    @property
    def name(self) -> str:
        letters = ("n" if self.a_along_k else "t") + ("t" if self.b_along_k else "n")
        types = "" if self.element == "f32" else f"_{self.element}"
        types += "" if self.out in (self.element, "s32") else f"_{self.out}"
        return f"general{types}_{letters}" + ("_beta" if self.reads_c else "")

    @property
    def word(self) -> int:
        """Bytes of an element in shared memory, where it is of the type of the sums."""
        return scalars.bytes_of(self.sum)

    def type_of(self, matrix: str) -> str:
        return self.element if matrix in "ab" else self.out

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
    pointers = {name: f"global.b8@{scalars.bytes_of(form.type_of(name))}" for name in form.pointers}
    k = Kernel(
        form.name, **pointers,
        m="u32", n="u32", k="u32", alpha=form.sum, **({"beta": form.sum} if form.reads_c else {}),
        **strides,
    )  # fmt: skip
    k.maxntid(THREADS)
    shared = k.shared("tiles", form.sum, 2 * DEPTH * PITCH, align=16)
    names = (*form.pointers, "m", "n", "k", "alpha", *["beta"] * form.reads_c, *strides)
    given = dict(zip(names, k.params(), strict=True))
    for stride in strides:
        shift = scalars.bytes_of(form.type_of(stride[0])).bit_length() - 1
        given[stride] = given[stride] << shift if shift else given[stride]
    tile, thread = k.mov.u32(shared), k.mov.u32(k.tid.x)
    row, column = _place(k, given)
    a = _mover(k, form, given, "a", ("m", "row", "column"), row, tile, thread)
    tile_b = k.add.u32(tile, DEPTH * PITCH * form.word)
    b = _mover(k, form, given, "b", ("n", "column", "row"), column, tile_b, thread)
    down, across = divide(thread, ACROSS)
    sums = tuple(tuple(scalars.zero(k, form.sum) for _ in range(THREAD)) for _ in range(THREAD))
    with k.branch(k.setp.gt.u32(given["k"], 0)):
        _fetch(k, form, given, a, b)
        sources = (
            k.mad.lo.u32(down, THREAD * form.word, tile),
            k.mad.lo.u32(across, THREAD * form.word, tile),
        )
        with k.loop(0, given["k"], DEPTH, name="main"):
            for mover in (a, b):
                _store(k, form, mover)
            k.bar.sync(0)
            _fetch(k, form, given, a, b)
            _multiply(k, form, sources, sums)
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
    form: General,
    given: dict[str, Reg],
    name: str,
    axes: tuple[str, str, str],
    start: Reg,
    tile: Reg,
    thread: Reg,
) -> _Mover:
    """Of `name`, from `start` on along M or N; `axes` are its size and strides there and along K.

    The tile in shared memory is ``[DEPTH][PITCH]``, whichever way the operand lies.
    """
    along_k = form.a_along_k if name == "a" else form.b_along_k
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
        tuple(scalars.zero(k, form.element) for _ in range(LOADS)),
        k.add.u32(k.mad.lo.u32(depth, PITCH * form.word, tile), at * form.word),
        tuple(n * apart * (1 if along_k else PITCH) * form.word for n in range(LOADS)),
    )


def _fetch(k: Kernel, form: General, given: dict[str, Reg], *movers: _Mover) -> None:
    """One K step into registers, zeros from beyond the edges; on to the next step."""
    for mover in movers:
        advanced: list[Reg] = []
        for source, inside, depth, held in zip(
            mover.sources, mover.inside, mover.depths, mover.held, strict=True
        ):
            there = k.setp.lt.and_.u32(depth, given["k"], inside)
            scalars.clear(k, held)
            with k.when(there):
                scalars.load(k, form.element, source, held)
            k.add.s64(source, mover.step, out=source)
            if depth not in advanced:
                advanced.append(depth)
        for depth in advanced:
            k.add.u32(depth, DEPTH, out=depth)


def _store(k: Kernel, form: General, mover: _Mover) -> None:
    for held, offset in zip(mover.held, mover.offsets, strict=True):
        term = scalars.widened(k, held, form.element)
        k.op(f"st.shared.b{8 * form.word}", Addr(mover.target, offset), term)


def _multiply(k: Kernel, form: General, sources: tuple[Reg, Reg], sums: Any) -> None:
    multiply = "mad.lo.s32" if form.sum == "s32" else f"fma.rn.{form.sum}"
    pitch = PITCH * form.word
    for depth in range(DEPTH):
        a = _row(k, form, Addr(sources[0], depth * pitch))
        b = _row(k, form, Addr(sources[1], (DEPTH + depth) * pitch))
        for i in range(THREAD):
            for j in range(THREAD):
                k.op(multiply, a[i], b[j], sums[i][j], out=sums[i][j])


def _row(k: Kernel, form: General, at: Addr) -> list[Reg]:
    """A thread's elements of one step of K, by accesses of 16 bytes."""
    each = 16 // form.word
    return [
        one
        for first in range(0, THREAD, each)
        for one in k.op(f"ld.shared.v{each}.{form.sum}", at + first * form.word)
    ]


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
            value = scalars.scaled(k, form.sum, given["alpha"], sums[i][j])
            if form.reads_c:
                old = scalars.zero(k, form.out)
                with k.when(both):
                    scalars.load(k, form.out, at["c"], old)
                scalars.added(k, form.sum, given["beta"], scalars.widened(k, old, form.out), value)
            written = scalars.narrowed(k, value, form.sum, form.out)
            with k.when(both):
                scalars.store(k, form.out, at["d"], written)
            if j < THREAD - 1:
                at = {name: k.add.s64(to, given[f"{name}_column"]) for name, to in at.items()}
        if i < THREAD - 1:
            targets = {name: k.add.s64(to, given[f"{name}_row"]) for name, to in targets.items()}


def _element(k: Kernel, given: dict[str, Reg], name: str, row: Reg, column: Reg) -> Reg:
    at = k.mad.lo.s64(k.cvt.s64.u32(row), given[f"{name}_row"], given[name])
    found: Reg = k.mad.lo.s64(k.cvt.s64.u32(column), given[f"{name}_column"], at)
    return found
