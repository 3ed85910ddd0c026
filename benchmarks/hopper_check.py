"""Random tensor-core products for Hopper against float64.

    python -m benchmarks.hopper_check [COUNT] [--seed N] [--device emulator]

Shapes, layouts, pitches, bases, types of A, B, C and of sums, tilings, alpha and beta are random.
C starts as NaN where beta is 0, and what lies around it must stay as it was. Half of the products
are of small whole numbers, whose sums are exact: C is right to the bit. The others are of normal
numbers, judged by what the types of C and of sums allow.
"""

from __future__ import annotations

import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

import ptx
from benchmarks import harness
from ptx.commands.options import at_least
from ptx.devices import Device
from ptx.errors import PtxError
from ptxgemm import choices, hopper
from ptxgemm.choose import Choice
from ptxgemm.hopper import Matrix
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import ELEMENTS, OUT_BYTES, OUTS, Accumulate, Tiling, by_registers

SMS = 132
DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
    "s32": np.int32,
}  # fmt: skip
PAIRS = {
    "bf16": ("bf16", "bf16"), "f16": ("f16", "f16"), "tf32": ("tf32", "tf32"),
    "e4m3": ("e4m3", "e4m3"), "e4m3 e5m2": ("e4m3", "e5m2"), "e5m2 e4m3": ("e5m2", "e4m3"),
    "e5m2": ("e5m2", "e5m2"), "s8": ("s8", "s8"), "s8 u8": ("s8", "u8"), "u8 s8": ("u8", "s8"),
    "u8": ("u8", "u8"),
}  # fmt: skip
"""What wgmma multiplies."""
UNITS = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "e4m3": 2.0**-4, "e5m2": 2.0**-3}
"""Half the distance of neighbours, relative; :data:`LEAST` where numbers are subnormal."""
LEAST = {"bf16": 0.0, "f16": 2.0**-25, "f32": 0.0, "e4m3": 2.0**-10, "e5m2": 2.0**-17}
INFINITE_FROM = {"f16": 65504.0}
"""Sums of whole numbers are larger than that, where C is of this type."""
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
TILINGS = (
    Tiling(128, 192, 4),
    Tiling(128, 256, 4), Tiling(256, 128, 4, 2, 4), Tiling(128, 128, 6, 1, 8, alternate=True),
    Tiling(128, 128, 6, 2, 8, alternate=True), Tiling(64, 256, 4, 1, 32, alternate=True),
    Tiling(128, 64, 8), Tiling(128, 64, 8, group=4), Tiling(64, 64, 3, alternate=True),
    Tiling(128, 128, 6, 1, 8, alternate=True, parts=3), Tiling(128, 256, 4, parts=2),
    Tiling(128, 128, 6, 2, 8, parts=4),
    Tiling(128, 128, 6, 2, 8, alternate=True, cluster_n=2), Tiling(128, 256, 4, cluster_n=2),
    Tiling(128, 64, 8, 2, 8, cluster_n=2), Tiling(64, 128, 6, 1, 8, alternate=True, cluster_n=2),
    Tiling(128, 128, 6, 2, 8, alternate=True, cluster_n=2, parts=3),
)  # fmt: skip
REGISTERS = (by_registers(256, 4, 8), by_registers(128, 6, 8), by_registers(64, 9, 16))
NARROW = (
    Narrow(64, 8, 6), Narrow(64, 16, 4, parts=4), Narrow(128, 32, 3, 2, parts=2, peers=2),
    Narrow(128, 64, 4, peers=4), Narrow(256, 64, 2, parts=8), Narrow(64, 128, 4, parts=2, peers=4),
    Narrow(128, 128, 3, parts=4), Narrow(64, 256, 2, peers=2), Narrow(64, 24, 4, parts=8),
    Narrow(128, 80, 3, parts=2, peers=2), Narrow(192, 96, 2, parts=2, peers=4),
    Narrow(64, 160, 3, parts=2, peers=4), Narrow(128, 224, 2, parts=4),
)  # fmt: skip
PROMOTED_TILINGS = (
    Tiling(128, 192), Tiling(128, 128, 6), Tiling(128, 64, 8), Tiling(64, 128, 4, alternate=True),
    Tiling(128, 128, 6, parts=2),
)  # fmt: skip


class Placed:
    """A matrix inside an allocation that ends with its last element; what it leaves is 7."""

    def __init__(
        self, device: Device, values: Any, kind: str, flip: bool, gap: int, base: int
    ) -> None:
        lines, length = values.shape[::-1] if flip else values.shape
        self.kind, self.pitch, self.flip, self.base = kind, length + gap, flip, base
        self.values = values.astype(DTYPES[kind])
        self.flat = np.full(base + (lines - 1) * self.pitch + length, 7, DTYPES[kind])
        self.put(self.flat, self.values)
        self.array = device.array(self.flat)
        strides = (1, self.pitch) if flip else (self.pitch, 1)
        at = self.array.pointer + base * self.flat.itemsize
        self.matrix = Matrix(at, *values.shape, *strides, kind)

    def _view(self, flat: Any) -> Any:
        """As unsigned integers of the elements' size: numpy strides no 8-bit floats."""
        size = flat.itemsize
        strides = (size, self.pitch * size) if self.flip else (self.pitch * size, size)
        bits = flat.view(f"u{size}")[self.base :]
        return np.lib.stride_tricks.as_strided(bits, self.values.shape, strides)

    def put(self, flat: Any, values: Any) -> None:
        self._view(flat)[...] = values.view(f"u{flat.itemsize}")

    def taken(self) -> tuple[Any, bool]:
        """What it holds now in float64, and whether the memory around it is as it was."""
        flat = self.array.numpy()
        found = np.ascontiguousarray(self._view(flat)).view(DTYPES[self.kind]).astype(np.float64)
        self.put(flat, self.values)
        return found, flat.tobytes() == self.flat.tobytes()

    @property
    def exact(self) -> Any:
        """Its values as the tensor core reads them, in float64."""
        if self.kind == "tf32":  # the lower 13 bits are not looked at
            return (self.values.view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64)
        return self.values.astype(np.float64)


@dataclass(frozen=True)
class Product:
    """C [m, n] = alpha A B + beta C; each of A, B and C is stored by columns where it is flipped,
    with `gaps` elements between lines and `bases` before the first one.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    out: str
    flips: tuple[bool, bool, bool] = (False, False, False)
    gaps: tuple[int, int, int] = (0, 0, 0)
    bases: tuple[int, int, int] = (0, 0, 0)
    alpha: float = 1.0
    beta: float = 0.0
    accumulate: Accumulate = "native"
    tiling: Choice | None = None
    whole: bool = True
    """Whether elements are small whole numbers."""

    @property
    def span(self) -> int:
        """Elements are whole numbers of so many sizes, or normal ones where it is 0."""
        if self.whole:
            return 4
        if ELEMENTS[self.a].sum == "s32":
            return 10 if self.out == "f16" else 127  # which is infinite from 65520 up
        return 0

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        return (self.m, self.k), (self.k, self.n), (self.m, self.n)

    @property
    def chosen(self) -> Choice:
        """The kernel that is launched on a card of the H200's size. Raises ValueError for none."""
        a, b, c = (
            Matrix(base * _bytes(kind), *shape, *strides, kind)
            for kind, shape, flip, gap, base in zip(
                (self.a, self.b, self.out), self.shapes, self.flips, self.gaps, self.bases,
                strict=True,
            )
            for strides in [(1, shape[0] + gap) if flip else (shape[1] + gap, 1)]
        )  # fmt: skip
        tiling = self.tiling or choices.modelled_for(SMS, c, a, b, self.accumulate)
        return hopper.arranged(
            SMS, c, a, b, scaled=(self.alpha, self.beta) != (1.0, 0.0),
            accumulate=self.accumulate, tiling=tiling,
        )[0]  # fmt: skip


def _bytes(kind: str) -> int:
    return ELEMENTS[kind].bytes if kind in ELEMENTS else OUT_BYTES[kind]


# ---------------------------------------------------------------- one product


def check(device: Device, product: Product, seed: int = 0) -> str:
    """What is wrong with the library's result, or ""."""
    p, numbers = product, np.random.default_rng(seed)
    a, b, c = (
        Placed(device, _values(numbers, kind, shape, p.span), kind, flip, gap, base)
        for kind, shape, flip, gap, base in zip(
            (p.a, p.b, p.out), p.shapes, p.flips, p.gaps, p.bases, strict=True
        )
    )
    if p.beta == 0.0 and p.out in UNITS:
        flat = c.flat.copy()
        c.put(flat, np.full(c.values.shape, np.nan, DTYPES[p.out]))
        c.array.copy_from(flat)
    hopper.plan(
        device, c.matrix, a.matrix, b.matrix, p.alpha, p.beta, tiling=p.tiling,
        accumulate=p.accumulate,
    )()  # fmt: skip
    device.synchronize()
    got, untouched = c.taken()
    left, right = a.exact, b.exact
    exact = p.alpha * (left @ right) + (p.beta * c.exact if p.beta else 0.0)
    if p.whole:
        wrong = got != rounded(exact, p.out)
    else:
        sizes = abs(p.alpha) * (abs(left) @ abs(right)) + abs(p.beta) * abs(c.exact)
        near = abs(got - clipped(exact, p.out)) <= bound(p, exact, sizes)
        beyond = abs(exact) > INFINITE_FROM.get(p.out, np.inf)
        wrong = ~(near | beyond & (got == np.copysign(np.inf, exact)))
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        return (
            f"{int(wrong.sum())} of {wrong.size} wrong, first {first}: {got[first]} for "
            f"{exact[first]}"
        )
    return "" if untouched else "memory around C was changed"


def _values(numbers: Any, kind: str, shape: tuple[int, int], span: int) -> Any:
    """Whole numbers of so many sizes, or normal ones for 0."""
    if not span:
        return numbers.standard_normal(shape)
    return numbers.integers(0 if kind == "u8" else 1 - span, span, shape)


def clipped(exact: Any, kind: str) -> Any:
    """Saturated, where the type of C is."""
    if kind == "s8":
        return np.clip(exact, -128, 127)
    return np.clip(exact, -LARGEST[kind], LARGEST[kind]) if kind in LARGEST else exact


def rounded(exact: Any, kind: str) -> Any:
    """To a type of C: to nearest even, saturated where it is."""
    exact = clipped(exact, kind)
    if kind in ("s8", "s32"):
        return np.rint(exact)
    return exact.astype(np.float32).astype(DTYPES[kind]).astype(np.float64)


def bound(product: Product, exact: Any, sizes: Any) -> Any:
    """What rounding C and each sum may cost; `sizes` are sums of the absolute products.

    Sums of 8-bit floats have 14 bits, and are added up within 128 of K where they are promoted
    (measured on an H200, and what MMA-Sim's models of it say).
    """
    depth, unit = product.k + 8, 2.0**-23
    if product.accumulate == "half":
        unit = 2.0**-10
    elif product.accumulate == "promoted":
        depth, unit = min(depth, 128 + 8), 2.0**-12
    elif product.a in LARGEST:
        unit = 2.0**-12
    sums = depth * unit * sizes + (product.k + 8) * 2.0**-23 * sizes
    if product.out in ("s8", "s32"):
        scaled = (product.alpha, product.beta) != (1.0, 0.0)
        return (0.5 if scaled else 0.0) + (sums if scaled else 0.0 * sums)
    return UNITS[product.out] * abs(exact) + LEAST[product.out] + sums * (1 + UNITS[product.out])


# ---------------------------------------------------------------- many products


def products(count: int, seed: int, largest: int = 700) -> list[Product]:
    pick = random.Random(seed)
    found: list[Product] = []
    while len(found) < count:
        product = _product(pick, largest)
        try:
            product.chosen  # noqa: B018
        except ValueError:  # a tiling that has no room for a type
            product = replace(product, tiling=None)
        found.append(product)
    return found


def _product(pick: random.Random, largest: int) -> Product:
    few = min(40, largest)
    m, n, k = (pick.choice((pick.randint(1, few), pick.randint(1, largest))) for _ in range(3))
    if pick.random() < 0.3:
        m, n, k = (-(-x // 16) * 16 for x in (m, n, k))
    a, b = pick.choice(tuple(PAIRS.values()))
    accumulate: Accumulate = "native"
    if a == "f16" and pick.random() < 0.3:
        accumulate = "half"
    elif a in LARGEST and pick.random() < 0.5:
        accumulate = "promoted"
    out = pick.choice(OUTS[ELEMENTS[a].sum])
    scales = ((1.0, 0.0), (1.0, 0.0), (0.5, 0.0), (-2.0, 1.5))
    alpha, beta = pick.choice(scales) if out != "s32" else (1.0, 0.0)
    tilings: tuple[Choice, ...] = TILINGS
    if accumulate == "promoted":
        tilings = PROMOTED_TILINGS
    if accumulate == "native" and ELEMENTS[a].bytes == 2 and pick.random() < 0.5:
        tilings = NARROW
    if a == "tf32" and pick.random() < 0.5:
        out, tilings = "f32", REGISTERS
    whole = accumulate == "half" or pick.random() < 0.5
    return Product(
        m, n, k, a, b, out,
        tuple(pick.random() < 0.5 for _ in range(3)),  # type: ignore[arg-type]
        tuple(pick.choice((0, 0, 1, 3, 16)) for _ in range(3)),  # type: ignore[arg-type]
        tuple(pick.choice((0, 0, 1, 5, 16)) for _ in range(3)),  # type: ignore[arg-type]
        alpha, beta, accumulate, pick.choice((None, *tilings)), whole,
    )  # fmt: skip


def assemble(choice: Choice) -> None:
    ptx.assemble(ptx.Module(hopper.kernel(choice)), "sm_90a")


def run(device: Device, count: int, seed: int, largest: int) -> int:
    """How many of the products are wrong; each of these is printed."""
    todo = products(count, seed, largest)
    if device.is_cuda:  # into the disk cache, so that loading costs no assembling
        with ProcessPoolExecutor() as pool:
            list(pool.map(assemble, {product.chosen for product in todo}, chunksize=4))
    wrong = 0
    for number, product in enumerate(todo):
        try:
            problem = check(device, product, seed + number)
        except PtxError as error:
            problem = str(error)
        if problem:
            wrong += 1
            print(f"{number}: {problem}\n  {product}\n  {product.chosen}", flush=True)
            if wrong > 8:
                break
    print(f"{count} random products, {wrong} wrong")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("hopper_check", __doc__, record=False)
    parser.add_argument("count", type=at_least(1), nargs="?", default=100, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda:0", help="cuda:N or emulator (default: cuda:0)")
    parser.add_argument(
        "--largest", type=at_least(1), default=700,
        help="what M, N and K are at most, but for what is rounded up to 16s (default: 700)",
    )  # fmt: skip
    options = harness.asked(parser, arguments)
    return bool(run(ptx.device(options.device), options.count, options.seed, options.largest))


if __name__ == "__main__":
    sys.exit(main())
