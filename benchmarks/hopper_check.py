"""Random tensor-core products on a Hopper GPU against float64.

    python -m benchmarks.hopper_check [COUNT] [SEED]

Shapes, layouts, pitches, bases, types, tilings, alpha and beta are random. C starts as NaN where
beta is 0, and what lies around it must stay as it was.
"""

from __future__ import annotations

import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import ptx
from benchmarks.hopper import TILINGS, TYPES, matrix, shown
from ptxgemm import hopper
from ptxgemm.hopper import Matrix
from ptxgemm.kernels.wgmma import gemm
from ptxgemm.tiling import OUT_BYTES, Tiling

SMS = 132


@dataclass(frozen=True)
class Placed:
    """A matrix in an allocation of its own."""

    rows: int
    columns: int
    kind: str
    flip: bool
    pitch: int
    base: int

    @property
    def matrix(self) -> Matrix:
        strides = (1, self.pitch) if self.flip else (self.pitch, 1)
        return Matrix(
            self.base * OUT_BYTES[self.kind], self.rows, self.columns, *strides, self.kind
        )


@dataclass(frozen=True)
class Product:
    a: Placed
    b: Placed
    c: Placed
    alpha: float
    beta: float
    tiling: Tiling | None

    @property
    def chosen(self) -> Tiling:
        a, b, c = self.a.matrix, self.b.matrix, self.c.matrix
        if c.along == "rows":
            a, b, c = b.transposed, a.transposed, c.transposed
        scaled = (self.alpha, self.beta) != (1.0, 0.0)
        return hopper.configure(SMS, c, a, b, scaled=scaled, tiling=self.tiling)


def products(count: int, seed: int) -> list[Product]:
    pick = random.Random(seed)
    return [_product(pick) for _ in range(count)]


def _product(pick: random.Random) -> Product:
    m, n, k = (pick.choice((pick.randint(1, 40), pick.randint(1, 700))) for _ in range(3))
    if pick.random() < 0.3:
        m, n, k = (-(-x // 8) * 8 for x in (m, n, k))
    kind = pick.choice(("bf16", "f16"))
    out = pick.choice((kind, kind, "f32"))
    placed = []
    for rows, columns, element in ((m, k, kind), (k, n, kind), (m, n, out)):
        flip = pick.random() < 0.5
        pitch = (rows if flip else columns) + pick.choice((0, 0, 1, 3, 8))
        placed.append(Placed(rows, columns, element, flip, pitch, pick.choice((0, 0, 1, 5, 8))))
    alpha, beta = pick.choice(((1.0, 0.0), (1.0, 0.0), (0.5, 0.0), (-2.0, 1.5)))
    tilings = [None, *TILINGS.values(), Tiling(128, 64, 8, 1, 4)]
    return Product(*placed, alpha, beta, pick.choice(tilings))


def check(product: Product) -> str:
    """What is wrong with the library's result, or ""."""
    import torch

    views = []
    for one in (product.a, product.b, product.c):
        lines, length = (one.columns, one.rows) if one.flip else (one.rows, one.columns)
        store = torch.randn(one.base + lines * one.pitch, device="cuda").to(TYPES[one.kind])
        view = store.as_strided((lines, length), (one.pitch, 1), one.base)
        views.append((store, view.t() if one.flip else view))
    (_, a), (_, b), (store, c) = views
    alpha, beta = product.alpha, product.beta
    before, old = store.clone(), c.clone()
    if beta == 0.0:
        c.fill_(float("nan"))
    torch.cuda.synchronize()
    device = ptx.device("cuda:0")
    views_of = [matrix(x) for x in (c, a, b)]
    hopper.plan(device, *views_of, alpha, beta, tiling=product.tiling)()
    torch.cuda.synchronize()
    exact = alpha * (a.double() @ b.double()) + (beta * old.double() if beta else 0.0)
    sizes = abs(alpha) * (a.double().abs() @ b.double().abs()) + abs(beta) * old.double().abs()
    unit = torch.finfo(c.dtype).eps / 2
    bound = unit * exact.abs() + (a.shape[1] + 8) * 2.0**-23 * sizes + 1e-6
    wrong = ~((c.double() - exact).abs() <= bound)
    got = c.clone()
    c.copy_(old)
    if wrong.any():
        first = tuple(wrong.nonzero()[0].tolist())
        return (
            f"{int(wrong.sum())} of {wrong.numel()} wrong, first {first}: {float(got[first])} "
            f"for {float(exact[first])}"
        )
    if not torch.equal(store.view(torch.uint8), before.view(torch.uint8)):
        return "memory around C was changed"
    return ""


def assemble(tiling: Tiling) -> None:
    ptx.assemble(ptx.Module(gemm(tiling)), "sm_90a")


def main() -> None:
    count, seed = (int(x) for x in (*sys.argv[1:], 100, 0)[:2])
    todo = products(count, seed)
    with ProcessPoolExecutor() as pool:  # into the disk cache, so that loading costs no assembling
        list(pool.map(assemble, {product.chosen for product in todo}))
    wrong = 0
    for number, product in enumerate(todo):
        problem = check(product)
        if problem:
            wrong += 1
            print(f"{number}: {problem}\n  {product}\n  {shown(product.chosen)}", flush=True)
            if wrong > 8:
                break
    print(f"{count} random products, {wrong} wrong")


if __name__ == "__main__":
    main()
