"""Measured choices: which tiles were fastest for which product, kept on disk by card and driver.

``python -m ptxgemm tune`` measures them. What it finds is kept in the user's cache directory; what
was recorded in ``tuned/`` comes with the package. Where neither has a product,
:mod:`ptxgemm.choose` decides.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptx import cache as disk
from ptx.tensormap import ALIGNMENT
from ptxgemm import choose
from ptxgemm.choose import FEW_COLUMNS, Choice
from ptxgemm.cost import Lies, Sizes
from ptxgemm.narrow import Narrow, widths
from ptxgemm.tiling import ELEMENTS, LINE_BYTES, Accumulate, Tiling, by_registers

if TYPE_CHECKING:
    from ptx.devices import Device
    from ptxgemm.hopper import Matrix

FORMAT = 1
"""Of a kept choice; part of its key."""
SHIPPED = Path(__file__).parent / "tuned"
KINDS: dict[str, tuple[type[Tiling] | type[Narrow], tuple[str, ...]]] = {
    "tiling": (
        Tiling,
        ("tile_m", "tile_n", "stages", "cluster", "cluster_n", "group", "alternate", "parts"),
    ),
    "registers": (Tiling, ("tile_m", "stages", "group")),
    "narrow": (Narrow, ("tile_m", "tile_n", "stages", "depth", "parts", "peers")),
}
"""What of a choice is measured; types and layouts are the product's."""


@dataclass(frozen=True)
class Product:
    """What a choice depends on: C [m, n] = A [m, k] B [k, n], C row-major."""

    m: int
    n: int
    k: int
    layout: str = "NN"
    """Of A and B: ``N`` is row-major, ``T`` column-major."""
    a: str = "bf16"
    b: str = "bf16"
    out: str = "bf16"

    @staticmethod
    def of(c: Matrix, a: Matrix, b: Matrix) -> Product:
        if c.along == "rows":
            c, a, b = c.transposed, b.transposed, a.transposed
        layout = "".join("N" if one.along == "columns" else "T" for one in (a, b))
        return Product(c.rows, c.columns, a.columns, layout, a.element, b.element, c.element)

    @property
    def depth(self) -> int:
        """K in the bytes of so many 16-bit elements, by which the model goes."""
        return -(-self.k * ELEMENTS[self.a].bytes // 2)

    @property
    def lies(self) -> tuple[Lies, Lies]:
        """A and B, where they lie dense."""
        a = (self.m, self.k) if self.layout[0] == "N" else (self.k, self.m)
        b = (self.k, self.n) if self.layout[1] == "N" else (self.n, self.k)
        size = ELEMENTS[self.a].bytes
        return (
            _lies(self.layout[0] == "N", a[0], a[1] * size),
            _lies(self.layout[1] == "T", b[0], b[1] * size),
        )

    @property
    def may_go_by_registers(self) -> bool:
        """Whether B needs not be turned if it goes to the tensor core through registers."""
        return (self.a, self.layout[1], self.out) == ("tf32", "N", "f32")

    @property
    def key(self) -> str:
        """Products of one key take the same choice: few rows or columns count as the width of
        the tiles for them, as so many are computed.
        """
        m, n = (_rounded(side) for side in (self.m, self.n))
        return f"{m}x{n}x{self.k} {self.layout} {self.a} {self.b} {self.out}"


def _rounded(side: int) -> int:
    if side > FEW_COLUMNS:
        return side
    return widths(side)[0]


# ---------------------------------------------------------------- a choice as text


def encoded(choice: Choice) -> dict[str, Any]:
    kind = "narrow"
    if isinstance(choice, Tiling):
        kind = "registers" if choice.by_registers else "tiling"
    return {"kind": kind} | {name: getattr(choice, name) for name in KINDS[kind][1]}


def decoded(fields: dict[str, Any]) -> Choice:
    """Raises ValueError for what is no choice now, as one that an older version kept may be."""
    rest = dict(fields)
    kind = rest.pop("kind", "")
    if kind == "tiling":
        rest.setdefault("parts", 1)  # before tiles could be cut along K
        rest.setdefault("cluster_n", 1)  # before CTAs beside each other shared A
    known = KINDS.get(kind)
    if known is None or set(rest) != set(known[1]):
        raise ValueError(f"{fields} is no choice of tiles")
    try:
        return by_registers(**rest) if kind == "registers" else known[0](**rest)
    except TypeError as error:
        raise ValueError(f"{fields} is no choice of tiles: {error}") from None


def shown(choice: Choice) -> str:
    """In a few words."""
    fields = encoded(choice)
    rest = " ".join(
        f"{name} {value}"
        for name, value in fields.items()
        if name not in ("kind", "tile_m", "tile_n") and (name, value) != ("cluster_n", 1)
    )
    return f"{fields['kind']} {choice.tile_m}x{choice.tile_n} {rest}"


# ---------------------------------------------------------------- kept choices


def best(
    device: Device, c: Matrix, a: Matrix, b: Matrix, accumulate: Accumulate = "native"
) -> Choice:
    """The measured choice, which is for native sums, else the modelled one."""
    found = None
    if device.is_cuda and accumulate == "native":
        found = measured(device.name, Product.of(c, a, b))
    return found or modelled_for(device.sm_count, c, a, b, accumulate)


def modelled_for(
    sm_count: int, c: Matrix, a: Matrix, b: Matrix, accumulate: Accumulate = "native"
) -> Choice:
    """The cheapest choice by the model for matrices as they lie."""
    first, second = (b.transposed, a.transposed) if c.along == "rows" else (a, b)
    how = lies(first, "columns"), lies(second, "rows")
    return modelled(sm_count, Product.of(c, a, b), how, accumulate)


def lies(matrix: Matrix, along_k: str) -> Lies:
    """How an operand lies, of which K runs along ``"columns"`` (A) or ``"rows"`` (B)."""
    count, _, pitch = matrix.lines
    return _lies(matrix.along == along_k, count, pitch * matrix.bytes, matrix.address)


def _lies(along_k: bool, lines: int, pitch_bytes: int, address: int = 0) -> Lies:
    """Both multiples that lines start at are powers of two."""
    starts = address | (pitch_bytes if lines > 1 else 0)
    return Lies(along_k, starts % ALIGNMENT != 0, starts % LINE_BYTES != 0)


@lru_cache(maxsize=1024)
def modelled(
    sm_count: int,
    product: Product,
    how: tuple[Lies, Lies] | None = None,
    accumulate: Accumulate = "native",
) -> Choice:
    """The cheapest choice by the model; of whole tiles where sums are not native. Raises ValueError
    for what wgmma does not multiply.
    """
    if product.a not in ELEMENTS:
        raise ValueError(f"a is {product.a!r}; expected {', '.join(ELEMENTS)}")
    if accumulate == "native":
        return ranked(sm_count, product, how)[0]
    candidates = choose.PROMOTED if accumulate == "promoted" else choose.CANDIDATES
    return choose.tiling(_sizes(sm_count, product, how), candidates)


def ranked(sm_count: int, product: Product, how: tuple[Lies, Lies] | None = None) -> list[Choice]:
    """All choices, the cheapest by the model first; `how` A and B lie, by default dense."""
    sizes, registers = _asked(sm_count, product, how)
    return choose.ranked(sizes, registers=registers)


def predicted(
    sm_count: int, product: Product, how: tuple[Lies, Lies] | None = None
) -> dict[Choice, float]:
    """What the product takes by each choice, in microseconds, by the model."""
    sizes, registers = _asked(sm_count, product, how)
    return choose.predicted(sizes, registers=registers)


def _asked(sm_count: int, product: Product, how: tuple[Lies, Lies] | None) -> tuple[Sizes, bool]:
    """What the model is asked, and whether B may go by registers."""
    registers = product.may_go_by_registers and not (how or product.lies)[1].odd
    return _sizes(sm_count, product, how, registers), registers


def _sizes(
    sm_count: int, product: Product, how: tuple[Lies, Lies] | None, registers: bool = False
) -> Sizes:
    """As kernels read A and B, of which B may go by `registers`."""
    a, b = how or product.lies
    if ELEMENTS[product.a].bytes != 2:
        a, b = _as_read(a), b if registers else _as_read(b)
    return Sizes(sm_count, product.m, product.n, product.depth, a, b)


def _as_read(one: Lies) -> Lies:
    """What is not of 16 bits is padded or turned before any kernel."""
    return one if one.along_k and not one.odd else Lies()


@lru_cache(maxsize=1024)
def measured(card: str, product: Product) -> Choice | None:
    """What this user measured on such a card under this driver, else what was recorded on one."""
    key = product.key
    body = None if disk.disabled() else disk.read(_entry(card, key))
    for found in (body and json.loads(body), shipped(card).get(key)):
        if found:
            try:
                return decoded(found)
            except ValueError:
                continue
    return None


def keep(card: str, product: Product, choice: Choice) -> bool:
    """Keep a measured choice for this user; False where it cannot be written."""
    body = json.dumps(encoded(choice)).encode()
    written = not disk.disabled() and disk.write(_entry(card, product.key), body)
    measured.cache_clear()
    return written


def _entry(card: str, key: str) -> str:
    named = f"choice {FORMAT}\n{card}\n{_driver()}\n{key}"
    return hashlib.sha256(named.encode()).hexdigest()


@cache
def _driver() -> str:
    from ptx.toolchain import find_driver

    return find_driver().release or ""


# ---------------------------------------------------------------- recorded choices


def shipped_file(card: str) -> Path:
    return SHIPPED / f"{card.replace(' ', '_')}.jsonl"


@cache
def shipped(card: str) -> dict[str, dict[str, Any]]:
    """The recorded choices for a card, by key of the product."""
    path = shipped_file(card)
    if not path.exists():
        return {}
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {row["product"]: row["choice"] for row in rows}


def ship(card: str, rows: list[dict[str, Any]]) -> Path:
    """Record rows, each with ``product``, ``choice`` and how they were measured, in the package's
    own table; a row takes the place of an older one for the same product.
    """
    path = shipped_file(card)
    kept: dict[str, str] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            kept[json.loads(line)["product"]] = line
    kept |= {row["product"]: json.dumps(row) for row in rows}
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for _, line in sorted(kept.items())), encoding="utf-8")
    shipped.cache_clear()
    measured.cache_clear()
    return path
