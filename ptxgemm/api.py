"""Matrix products on numpy arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import ptx
from ptxgemm.kernels import simt
from ptxgemm.shape import SEED, Shape

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel

Matrix = np.ndarray[Any, np.dtype[np.float32]]


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


@lru_cache(maxsize=64)
def load(
    device: Device, shape: Shape, prefetch: str, l2_prefetch: bool, beta_zero: bool
) -> LoadedKernel:
    """The kernel on the device, built once."""
    kernel = simt.sgemm(shape, prefetch, l2_prefetch=l2_prefetch, beta_zero=beta_zero)
    return device.load(ptx.Module(kernel))[kernel.name]


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
    kernel.launch(
        grid=(m // shape.cta_m) * (n // shape.cta_n),
        block=shape.threads,
        args={"n": n, "k": depth, "alpha": alpha, "a": a, "b": b, "beta": beta, "c": c},
        stream=stream,
    )
