"""Products of ``matmul``, ``gemm`` and ``plan`` on Hopper's tensor cores, bound to addresses as
they come: tensor maps hold addresses, so that a launch is prepared for each four of them, and kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ptx.dtypes import PTX
from ptxgemm import hopper
from ptxgemm.hopper import Addend, Matrix
from ptxgemm.prepass import Rooms, rooms_of
from ptxgemm.problem import Matrices, Problem
from ptxgemm.tail import AUTO
from ptxgemm.tiling import ELEMENTS, OUTS

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel
    from ptxgemm.select import Terms

KEPT = 64
"""Calls for whose addresses launches are kept."""
FEW_MATRICES = 16
"""Each matrix of a batch has launches of its own; of more than so many only where each one fills a
GPU."""
FILLING = 66
"""Tiles of 128 x 128."""
LINE_LIMIT_BYTES = 1 << 32
"""The pitch of the result is so many elements at most, too."""
PITCH_LIMIT_BYTES = 1 << 40
"""Of a tensor map."""
EMULATED_STEPS = 6
"""What a K step costs the emulator, in those of a product by the FP32 pipes, roughly."""


@dataclass(frozen=True)
class OnHopper:
    """A choice of :func:`ptxgemm.select.select`."""

    problem: Problem
    """One batch axis."""
    element: str
    """Of A and B, as a key of :data:`ptxgemm.tiling.ELEMENTS`."""
    alpha: float
    beta: float
    low: int
    """The lowest bits of all addresses together."""
    in_place: bool
    """Whether C is D itself."""

    # ------------------------------------------------------------ what the emulator may take

    block = 384

    @property
    def ctas(self) -> int:
        p = self.problem
        return p.batch[0] * -(-p.m // 128) * -(-p.n // 128)

    @property
    def steps(self) -> int:
        return EMULATED_STEPS * -(-self.problem.k * ELEMENTS[self.element].bytes // 128)

    # ------------------------------------------------------------ matrices

    def matrices(self, a: int, b: int, d: int) -> tuple[Matrix, Matrix, Matrix]:
        """D, A and B at some addresses. Raises ValueError for what no kernel takes."""
        p = self.problem

        def matrix(at: int, x: Matrices, rows: int, columns: int, element: str) -> Matrix:
            return Matrix(at, rows, columns, x.row, x.column, element)

        return (
            matrix(d, p.d, p.m, p.n, PTX[p.out]), matrix(a, p.a, p.m, p.k, self.element),
            matrix(b, p.b, p.k, p.n, self.element),
        )  # fmt: skip

    def addend(self, c: int) -> Addend | None:
        x = self.problem.c
        return None if x is None or self.in_place else Addend(c, x.row, x.column)

    def plan(self, device: Device, addresses: Addresses, rooms: Rooms, stream: Any) -> hopper.Plan:
        a, b, c, d = addresses
        return hopper.plan(
            device, *self.matrices(a, b, d), self.alpha, self.beta, addend=self.addend(c),
            rooms=rooms, stream=stream,
        )  # fmt: skip

    def kernel(self, device: Device) -> LoadedKernel:
        """For addresses as aligned as all are."""
        a, b, _, d = self.example
        scaled = (self.alpha, self.beta) != (1.0, 0.0)
        return hopper.compiled(device, *self.matrices(a, b, d), scaled=scaled)

    @property
    def example(self) -> Addresses:
        """Addresses as aligned as the product's, for what has to be known before these."""
        at = self.low & -self.low or 16
        return at, at, at, at


Addresses = tuple[int, int, int, int]
"""Of A, B, C and D."""


class Placed(Protocol):
    """A choice of :func:`ptxgemm.select.select` whose launches are prepared for addresses."""

    @property
    def problem(self) -> Problem:
        """One batch axis."""

    @property
    def block(self) -> int: ...
    @property
    def ctas(self) -> int: ...
    @property
    def steps(self) -> int:
        """Of a CTA, one after another, for an estimate of the emulator's time."""

    def kernel(self, device: Device) -> LoadedKernel: ...
    def plan(
        self, device: Device, addresses: Addresses, rooms: Rooms, stream: Any
    ) -> Callable[[], None]:
        """For the batch's matrices at these addresses."""


def choose(problem: Problem, terms: Terms) -> OnHopper | None:
    """For Hopper GPUs, products whose result and operands lie by rows or by columns; a tail is no
    matter of theirs, as tensor copies fill in what lies outside."""
    if terms.tail != AUTO:
        return None
    p, own = problem, terms.element(problem.dtype)
    if terms.target.target // 10 != 9 or not (p.m and p.n and p.k and p.batch[0] and terms.alpha):
        return None
    if own not in ELEMENTS or PTX[p.out] not in OUTS[ELEMENTS[own].sum]:
        return None
    filled = -(-p.m // 128) * -(-p.n // 128) >= FILLING
    if p.batch[0] > FEW_MATRICES and not filled:
        return None
    made = OnHopper(p, own, terms.alpha, terms.beta if p.c else 0.0, terms.low, terms.in_place)
    at = made.example[0]
    try:
        d, a, b = made.matrices(at, at, at)
    except ValueError:  # both strides other than 1, lines that overlap, or a flip
        return None
    for one in (d, a, b):
        _, length, pitch = one.lines
        if length * one.bytes >= LINE_LIMIT_BYTES or pitch * one.bytes >= PITCH_LIMIT_BYTES:
            return None
    if d.lines[2] >= LINE_LIMIT_BYTES:
        return None
    if p.c is not None and not _dense(d, p.c):
        return None
    return made


def _dense(d: Matrix, c: Matrices) -> bool:
    """Whether C is dense along the lines of D, so that it can be read with them."""
    return d.lines[1] == 1 or (c.column if d.along == "columns" else c.row) == 1


class Bound:
    """A product on one stream of a device, called with the addresses of A, B, C and D."""

    def __init__(
        self, device: Device, product: Placed, item: tuple[int, ...], starts: int, stream: int
    ) -> None:
        """`item` has the bytes of an element of each of the four; `starts` is how often each call
        of the caller's comes here, at other addresses.
        """
        self.device, self.product, self.stream = device, product, stream
        self._most = KEPT * starts
        p = product.problem
        steps = [x.batch[0] if x else 0 for x in (p.a, p.b, p.c, p.d)]
        self._steps = tuple(step * size for step, size in zip(steps, item, strict=True))
        self._rooms = rooms_of(device, stream)
        self._kept: OrderedDict[Addresses, tuple[Callable[[], None], ...]] = OrderedDict()

    def __call__(self, a: int, b: int, c: int, d: int) -> None:
        plans = self._kept.get((a, b, c, d))
        with self._rooms.lock:
            for plan in self._prepared((a, b, c, d)) if plans is None else plans:
                plan()

    def _prepared(self, addresses: Addresses) -> tuple[Callable[[], None], ...]:
        made: list[Callable[[], None]] = []
        for number in range(self.product.problem.batch[0]):
            a, b, c, d = (
                at + number * step for at, step in zip(addresses, self._steps, strict=True)
            )
            made.append(self.product.plan(self.device, (a, b, c, d), self._rooms, self.stream))
        if len(self._kept) >= self._most:
            self._kept.popitem(last=False)
        self._kept[addresses] = tuple(made)
        return self._kept[addresses]
