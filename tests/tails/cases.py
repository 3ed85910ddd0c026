"""Products at the edges: what they are made of, how they run on any device, and what must hold.

Matrices lie in memory full of NaN, with gaps between rows and before the first one, and nothing
behind the last element. All sums are built from k = 0 upwards, so that for the same numbers all
policies, tiles and layouts must agree to the bit.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import ptx
from ptxgemm.kernels.fit import Matrix, Plan, plan
from ptxgemm.kernels.simt import Spec, build
from ptxgemm.shape import Shape
from ptxgemm.tail import EDGES, PREFETCHES, SCHEDULES, Tail

f4 = np.float32
SIZES = (1, 2, 3, 7, 8, 9, 31, 33, 127, 128, 129, 130, 255, 257)
ALPHA, BETA = f4(1.5), f4(-0.5)

SMALL = Shape(32, 32, 8, 32, 32, 4, 8)
SHAPES = {
    "registers": SMALL,
    "2 stages": Shape(32, 32, 8, 32, 32, 4, 8, 2, staging="async"),
    "3 stages": Shape(32, 32, 8, 32, 32, 4, 8, 3, staging="async"),
    "4 stages": Shape(64, 32, 16, 32, 32, 8, 4, 4, staging="async"),
}


def _policies() -> Iterator[Tail]:
    for prefetch, edge in itertools.product(PREFETCHES, EDGES):
        for schedule in SCHEDULES if edge != "exact" else ("auto",):
            last = schedule == "peeled-last" and prefetch != "peeled"
            if not last and (prefetch, schedule) != ("clamped", "ragged-first"):
                yield Tail(prefetch, edge, schedule)  # type: ignore[arg-type]


POLICIES = tuple(_policies())


@dataclass(frozen=True)
class Layout:
    """How the three matrices lie."""

    pads: tuple[int, int, int] = (0, 0, 0)
    """Elements between the rows of A, B and D (of their transposes)."""
    offset: int = 0
    """Elements from an aligned address to the first."""
    transpose_a: bool = False
    transpose_b: bool = False


LAYOUTS = (
    Layout(),
    Layout((3, 3, 3)),
    Layout((1, 2, 5), 1),
    Layout((0, 0, 0), 0, True, False),
    Layout((4, 1, 2), 2, False, True),
    Layout((3, 2, 0), 0, True, True),
    Layout((0, 4, 4), 0, False, True),
)


@dataclass(frozen=True)
class Case:
    tail: Tail
    shape: Shape
    m: int
    n: int
    k: int
    layout: Layout = Layout()
    reads_c: bool = False

    def plan(self) -> Plan:
        """Raises ValueError where the policy cannot do it: exact, or zfill without cp.async."""
        a, b, d = (self.matrix(name) for name in "abd")
        c = d if self.reads_c else None
        return plan(self.m, self.n, self.k, a, b, d, c, tail=self.tail, shape=self.shape)

    def extents(self, name: str) -> tuple[int, int]:
        return {"a": (self.m, self.k), "b": (self.k, self.n)}.get(name, (self.m, self.n))

    def turned(self, name: str) -> bool:
        return {"a": self.layout.transpose_a, "b": self.layout.transpose_b}.get(name, False)

    def pitch(self, name: str) -> int:
        rows, columns = self.extents(name)
        return (rows if self.turned(name) else columns) + self.layout.pads["abd".index(name)]

    def matrix(self, name: str) -> Matrix:
        align = 4 * (self.layout.offset & -self.layout.offset) if self.layout.offset else 16
        lying = Matrix(self.pitch(name), 1, align)
        return lying.turned if self.turned(name) else lying

    def view(self, name: str, memory: Any) -> Any:
        """The matrix in the flat memory that holds it."""
        strides = (self.pitch(name) * 4, 4)
        if self.turned(name):
            strides = strides[::-1]
        return np.lib.stride_tricks.as_strided(
            memory[self.layout.offset :], self.extents(name), strides
        )

    def memory(self, name: str) -> Any:
        """NaN from the aligned address to the matrix's last element, and not an element more."""
        rows, columns = self.extents(name)[:: -1 if self.turned(name) else 1]
        return np.full(self.layout.offset + (rows - 1) * self.pitch(name) + columns, np.nan, f4)


@lru_cache(maxsize=64)
def numbers(m: int, n: int, k: int) -> tuple[Any, Any, Any, Any, Any]:
    """A, B, C, the product in float64 and the bound of its error in float32."""
    rng = np.random.default_rng((m, n, k))
    a, b, c = (rng.standard_normal(s, f4) for s in ((m, k), (k, n), (m, n)))
    exact = a.astype(float) @ b.astype(float)
    return a, b, c, exact, (k + 4) * 2.0**-24 * (abs(a).astype(float) @ abs(b).astype(float))


@lru_cache(maxsize=4096)
def loaded(device: Any, spec: Spec) -> Any:
    module = ptx.Module(build(spec))
    return next(iter(device.load(module).values()))


def outcome(device: Any, case: Case) -> Any:
    """The result, after all checks but that of its bits."""
    made = case.plan()
    a, b, c, exact, bound = numbers(case.m, case.n, case.k)
    arrays = {}
    for name, values in (("a", a), ("b", b), ("d", c if case.reads_c else None)):
        memory = case.memory(name)
        if values is not None:
            case.view(name, memory)[...] = values
        arrays[name] = device.array(memory)
    at = {name: array + case.layout.offset for name, array in arrays.items()}
    args = made.arguments | {
        name: at["d" if of == "c" else of] for name, of in made.pointers.items()
    }
    alpha, beta = (ALPHA, BETA) if case.reads_c else (f4(1), f4(np.nan))
    kernel = loaded(device, made.spec)
    kernel.launch(made.grid, made.block, args | {"alpha": alpha, "beta": beta}, made.shared)
    device.synchronize()
    memory = arrays["d"].numpy().copy()
    found = case.view("d", memory).copy()
    if case.reads_c:
        exact = ALPHA * exact + BETA * c.astype(float)
        bound = 2 * (bound * abs(ALPHA) + abs(BETA * c) * 2.0**-22)
    assert np.all(abs(found - exact) <= bound), f"{case}: {np.max(abs(found - exact) / bound)}"
    case.view("d", memory)[...] = np.nan
    assert np.isnan(memory).all(), f"{case}: written between the rows"
    for array in arrays.values():
        array.free()
    return found


def assert_same_bits(found: Any, wanted: Any, case: Case) -> None:
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32)), case


def sample(count: int, kernels: int, seed: int = 0) -> list[Case]:
    """So many cases that can be, of at most so many kernels, the same ones every time."""
    choice = random.Random(seed)
    found: list[Case] = []
    specs: set[Spec] = set()
    while len(found) < count:
        tail, shape = choice.choice(POLICIES), choice.choice(tuple(SHAPES.values()))
        if tail.edge == "exact":
            m, n, k = (
                choice.choice((1, 2, 4, 8)) * e for e in (shape.cta_m, shape.cta_n, shape.cta_k)
            )
        else:
            m, n, k = choice.choices(SIZES, k=3)
        case = Case(tail, shape, m, n, k, choice.choice(LAYOUTS), choice.random() < 0.2)
        try:
            spec = case.plan().spec
        except ValueError:
            continue
        if spec in specs or len(specs) < kernels:
            specs.add(spec)
            found.append(case)
    return found
