"""Matrix products of arrays, whatever library holds them.

    c = ptxgemm.matmul(a, b)                                  # by the rules of numpy.matmul
    d = ptxgemm.gemm(a, b, c, alpha=2, beta=0.5, transpose_b=True)
    product = ptxgemm.plan(4096, 4096, 4096); product(a, b, out)   # chosen and compiled once

Arrays of a GPU (torch, CuPy, JAX, ``ptx.Array``, and whatever has ``__cuda_array_interface__`` or
DLPack) are multiplied where they lie, on the stream that their library works on now. Those of the
host (numpy, torch's on the CPU, whatever numpy reads) travel to the device and back. The result is
of the kind that came in. Views, flips, broadcast axes and rows with gaps are taken as they lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import ptx
from ptx.dtypes import dtype_of
from ptxgemm.arrays import Layout, contiguous
from ptxgemm.calls import Call, bound, known, manner, multiply, repeated, run, signature
from ptxgemm.frameworks import family_of
from ptxgemm.given import PLAIN, scalar, whole
from ptxgemm.kernels import simt
from ptxgemm.loading import loaded
from ptxgemm.packing import Packed, packed_matmul
from ptxgemm.problem import describe
from ptxgemm.select import CANDIDATES
from ptxgemm.shape import SEED, Shape

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel

Matrix = np.ndarray[Any, np.dtype[np.float32]]


def matmul(
    a: Any, b: Any, *, out: Any = None, tf32: bool = False, device: str | Device = "auto"
) -> Any:
    """``a @ b`` by the rules of ``numpy.matmul``, batches among them.

    Both are of one type: float32, float64, float16, bfloat16, int8, uint8, float8_e4m3fn or
    float8_e5m2. Types of 16 bits are summed in float32; integers of 8 bits in int32, exact modulo
    2**32; floats of 8 bits by the tensor core's own sums, on Hopper of 14 bits. The result is of
    the operands' type, of int8 and uint8 int32, of floats of 8 bits bfloat16; floats of 8 and 16
    bits give what `out` has: float16, bfloat16 or float32. float32 is cut to tf32, by leaving its
    lower 13 bits out, only where `tf32` allows it.

    `out`, of the result's shape and device, is written and returned instead of a new array; it may
    share no memory with `a` or `b`. `device` is ``"auto"`` or where the arrays of the host are
    multiplied. Nothing is launched for an empty result; a K of 0 gives zeros.

    Integers of 4 bits and single bits are multiplied as :func:`ptxgemm.pack_int4` and
    :func:`ptxgemm.pack_bits` give them, A by rows and B by columns: the result is int32 of numpy.

    Raises TypeError for what is no array or of another type, ValueError for shapes that do not fit,
    arrays on different devices and an `out` that cannot take the result: before anything runs.
    """
    if isinstance(a, Packed) or isinstance(b, Packed):
        return packed_matmul(a, b, out, device)
    return multiply(a, b, None, out, manner(1.0, 0.0, False, False, "auto", device, tf32), None)


def gemm(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: Any = 1,
    beta: Any = 0,
    out: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    tail: Any = "auto",
    tf32: bool = False,
    device: str | Device = "auto",
    stream: Any = None,
) -> Any:
    """``alpha * a @ b + beta * c``, as a new array or in `out`; `c` is never written.

    Shapes are those of :func:`matmul`, after `a` or `b` had its last two axes exchanged where
    `transpose_a` or `transpose_b` asks for it; `c` is broadcast to the result. `out` may be `c`
    itself, exactly, and may otherwise share no memory with an operand. With a `beta` of 0 `c` is
    not read, with an `alpha` of 0 neither are `a` and `b`: what they hold, NaN too, is no matter.
    The result is of the type of `out`, else of `c`, else as :func:`matmul` has it. `alpha` and
    `beta` are rounded to the type of the sums; for int8 and uint8 they must be integers.

    `tail` is a :class:`ptxgemm.Tail`, for what becomes of the ends of M, N and K, or ``"auto"``.
    Kernels whose stages tensor copies fill have no such choice: with a policy, products that take
    them on Hopper run on ``mma.sync`` as on other GPUs.

    `stream` is a handle (0 is CUDA's default stream), or a stream of any library; the caller has
    then ordered it after the work that made the operands. None is the stream that the library of
    the result works on now. Products on one stream share their workspace, as they run one after
    another: CUDA graphs captured on the same stream must not be replayed at the same time.

    Errors: as :func:`matmul`; and ValueError for a `beta` without a `c`.
    """
    if type(alpha) not in PLAIN:
        alpha = scalar("alpha", alpha)
    if type(beta) not in PLAIN:
        beta = scalar("beta", beta)
    asked = manner(alpha, beta, transpose_a, transpose_b, tail, device, tf32)
    return multiply(a, b, c, out, asked, stream)


class Plan:
    """One product, chosen and compiled once; as :func:`plan` makes it.

    Calling it with arrays costs little. The choice is for rows without gaps that start at multiples
    of 16 bytes; arrays that lie otherwise have one of their own, made at the first such call.
    """

    def __init__(self, m: int, n: int, k: int, dtype: Any, batch: tuple[int, ...], asked: Any):
        self.dtype = dtype_of(dtype).name
        if self.dtype not in CANDIDATES:
            raise TypeError(f"dtype is {self.dtype}; products take {', '.join(CANDIDATES)}")
        for name, size in (("m", m), ("n", n), ("k", k), *(("batch", one) for one in batch)):
            if whole(name, size) < 0:
                raise ValueError(f"{name} is {size}; expected 0 or more")
        self.manner = asked
        self.device = ptx.device(asked.device)
        last = ((k, m) if asked.transpose_a else (m, k), (n, k) if asked.transpose_b else (k, n))
        a, b, c = (
            Layout(shape, contiguous(shape), self.dtype, self.device.label)
            for shape in ((*batch, *last[0]), (*batch, *last[1]), (*batch, m, n))
        )
        self.problem = describe(
            a, b, c if asked.beta else None,
            transpose_a=asked.transpose_a, transpose_b=asked.transpose_b,
        )  # fmt: skip
        self.kernel: LoadedKernel | None = None
        """What was chosen; its ``info`` has registers and spills. None of an empty product."""
        if self.problem.size:
            launcher = bound(self.device, self.problem, asked.terms())
            self.kernel = launcher.kernel
        self._seen: Any = None
        self._again: Callable[[Any, Any, Any], bool] | None = None
        self._call: Call | None = None

    def __repr__(self) -> str:
        p = self.problem
        size = "x".join(map(str, (*p.batch, p.m, p.n, p.k)))
        name = self.kernel.name if self.kernel else "nothing to compute"
        return f"<ptxgemm plan of {size} {self.dtype} on {self.device}: {name}>"

    def __call__(
        self, a: Any, b: Any, out: Any = None, c: Any = None, *, stream: Any = None
    ) -> Any:
        """The product, in `out` or new. Raises ValueError for arrays of another product."""
        again = self._again
        if again is not None and c is None and stream is None and again(a, b, out):
            return out
        if self._call is not None and signature(a, b, c, out, None) == self._seen:
            return run(self._call, a, b, c, out, stream)
        self._admit(a, b)
        result = multiply(a, b, c, out, self.manner, stream)
        self._call = known(a, b, c, out, self.manner)
        self._seen = signature(a, b, c, out, None)
        if self._call is not None and c is None and out is not None:
            self._again = repeated(self._call, a, b, out)
        return result

    def _admit(self, a: Any, b: Any) -> None:
        left, right = (
            family_of(name, array).describe(name, array, 0).layout
            for name, array in (("a", a), ("b", b))
        )
        theirs = describe(
            left, right,
            transpose_a=self.manner.transpose_a, transpose_b=self.manner.transpose_b,
        )  # fmt: skip
        mine = self.problem
        for name, wanted, got in (
            ("M", mine.m, theirs.m), ("N", mine.n, theirs.n), ("K", mine.k, theirs.k),
            ("the batch", mine.batch, theirs.batch), ("the type", mine.dtype, theirs.dtype),
        ):  # fmt: skip
            if wanted != got:
                raise ValueError(f"{name} is {got}, and the plan is for {wanted}")


def plan(
    m: int,
    n: int,
    k: int,
    dtype: Any = "float32",
    *,
    batch: tuple[int, ...] = (),
    alpha: Any = 1,
    beta: Any = 0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    tail: Any = "auto",
    tf32: bool = False,
    device: str | Device = "auto",
) -> Plan:
    """A product of M x K by K x N, chosen and compiled now: ``plan(a, b, out)`` runs it.

    The rest is as for :func:`gemm`; `batch` is the shape of the result's leading axes.
    """
    asked = manner(
        scalar("alpha", alpha), scalar("beta", beta), transpose_a, transpose_b, tail, device, tf32
    )
    if not isinstance(batch, (tuple, list)):
        raise TypeError(f"batch is {batch!r}; expected a tuple of integers, as (8,)")
    return Plan(m, n, k, dtype, tuple(batch), asked)


# ---------------------------------------------------------------- whole tiles, by form


def sgemm(
    a: Matrix,
    b: Matrix,
    c: Matrix | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    prefetch: str = "peeled",
    l2_prefetch: bool = False,
    shape: Shape = SEED,
    device: str | Device = "auto",
) -> Matrix:
    """``alpha * a @ b + beta * c`` in float32, as a new array; `c` is read where beta is not 0.

    `a` is [M, K], `b` [K, N] and `c` [M, N], where M, N and K are multiples of the tile's
    ``cta_m``, ``cta_n`` and ``cta_k``, with any strides. Raises ValueError for other shapes and
    TypeError for another dtype, before anything is launched. `prefetch`: see :mod:`ptxgemm.tail`.
    """
    m, n, _ = check(a, b, c, beta, shape)
    where = ptx.device(device)
    kernel = load(where, shape, prefetch, l2_prefetch, beta == 0)
    result = where.array(c) if c is not None and beta != 0 else where.empty((m, n), np.float32)
    launch(kernel, shape, where.array(a), where.array(b), result, alpha, beta)
    product: Matrix = result.numpy()
    return product


def check(
    a: Any, b: Any, c: Any = None, beta: float = 0.0, shape: Shape = SEED
) -> tuple[int, int, int]:
    """M, N and K of a product that the kernel can take; an error otherwise."""
    for name, matrix in (("a", a), ("b", b), ("c", c)):
        if name == "c" and matrix is None:
            if beta != 0:
                raise ValueError(f"beta is {beta}, and there is no c to add")
            continue
        if str(matrix.dtype).removeprefix("torch.") != "float32":
            raise TypeError(f"{name} has dtype {matrix.dtype}; expected float32")
        if len(matrix.shape) != 2:
            raise ValueError(f"{name} has {len(matrix.shape)} dimensions; expected 2")
    (m, depth), (inner, n) = a.shape, b.shape
    if depth != inner:
        raise ValueError(f"a is {m}x{depth} and b is {inner}x{n}: K is {depth} in a, {inner} in b")
    if c is not None and c.shape != (m, n):
        raise ValueError(f"c is {c.shape[0]}x{c.shape[1]}; the product is {m}x{n}")
    for name, size, multiple in (
        ("M", m, shape.cta_m),
        ("N", n, shape.cta_n),
        ("K", depth, shape.cta_k),
    ):
        if size < multiple or size % multiple:
            raise ValueError(
                f"{name} is {size}; this kernel takes multiples of {multiple}, from {multiple} up"
            )
    return m, n, depth


def load(
    device: Device, shape: Shape, prefetch: str, l2_prefetch: bool, beta_zero: bool
) -> LoadedKernel:
    """The kernel on the device, built once."""
    options = {"l2_prefetch": l2_prefetch, "beta_zero": beta_zero}
    return loaded(device, simt.sgemm, shape, prefetch, **options)


def launch(
    kernel: LoadedKernel,
    shape: Shape,
    a: Any,
    b: Any,
    c: Any,
    alpha: float = 1.0,
    beta: float = 0.0,
    stream: Any = None,
) -> None:
    """Launch on arrays of the kernel's device that :func:`check` accepts, all contiguous."""
    m, n, depth = check(a, b, c, beta, shape)
    rows = {"a": depth, "b": n, "d": n, "c": n}
    args: dict[str, Any] = {"m": m, "n": n, "k": depth, "alpha": alpha, "beta": beta}
    args |= {"a": a, "b": b, "c": c, "d": c}
    for name, row in rows.items():
        args |= {f"{name}_row": row, f"{name}_column": 1, f"{name}_batch": 0}
    kernel.launch(
        grid=(m // shape.cta_m) * (n // shape.cta_n),
        block=shape.threads,
        args={parameter.name: args[parameter.name] for parameter in kernel.parameters},
        shared=shape.dynamic_bytes,
        stream=stream,
    )
