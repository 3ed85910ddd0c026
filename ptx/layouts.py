"""Where things lie: fragments in lanes and registers, hardware swizzles, matrix descriptors, banks.

Pure functions on integers; kernels, the emulator and the documentation all read them here.
Sources: PTX ISA 9.0, sections 9.7.14 (wmma, mma, ldmatrix) and 9.7.15 (wgmma); what the manual
leaves open was measured on an H200 and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

WARP = 32
Coordinate = tuple[int, int]
"""(row, column)."""


@dataclass(frozen=True)
class Fragment:
    """Which element of a matrix each lane holds, in the order of its registers.

    ``fragment.places[lane][element]`` is the (row, column) of that element; `element` counts
    through the lane's registers from the least significant bits of the first one.
    """

    name: str
    rows: int
    columns: int
    bits: int
    """Width of one element."""
    places: tuple[tuple[Coordinate, ...], ...]
    """By lane (of a warp, or of a warpgroup), then by element."""

    def __post_init__(self) -> None:
        for held in self.places:
            for row, column in held:
                if not (0 <= row < self.rows and 0 <= column < self.columns):
                    raise ValueError(f"{self.name}: ({row}, {column}) lies outside the matrix")

    @property
    def elements(self) -> int:
        """Elements in each lane that holds any."""
        return max(map(len, self.places))

    @property
    def per_register(self) -> int:
        """Elements in one register: of 32 bits, or of 64 for elements of 64."""
        return max(1, 32 // self.bits)

    @property
    def registers(self) -> int:
        """Registers in each lane."""
        return self.elements // self.per_register

    @cached_property
    def holders(self) -> dict[Coordinate, tuple[tuple[int, int], ...]]:
        """For each (row, column) the (lane, element) pairs that hold it."""
        found: dict[Coordinate, list[tuple[int, int]]] = {}
        for lane, held in enumerate(self.places):
            for element, place in enumerate(held):
                found.setdefault(place, []).append((lane, element))
        return {place: tuple(holders) for place, holders in found.items()}

    def where(self, row: int, column: int) -> tuple[int, int]:
        """The first (lane, element) that holds (row, column)."""
        return self.holders[row, column][0]


def shape_of(word: str) -> tuple[int, int, int]:
    """``"m16n8k16"`` as (16, 8, 16); ``m8n8`` has k = 0."""
    match = re.fullmatch(r"m(\d+)n(\d+)(?:k(\d+))?", word)
    if match is None:
        raise ValueError(f"{word!r} is no shape; a shape reads m16n8k16")
    return int(match[1]), int(match[2]), int(match[3] or 0)


def _fragment(
    name: str,
    rows: int,
    columns: int,
    bits: int,
    elements: int,
    place: Callable[[int, int], Coordinate],
    lanes: int = WARP,
) -> Fragment:
    places = tuple(tuple(place(lane, i) for i in range(elements)) for lane in range(lanes))
    return Fragment(name, rows, columns, bits, places)


# ---------------------------------------------------------------- mma.sync


@cache
def mma_fragment(shape: str, operand: str, bits: int) -> Fragment:
    """Operand ``"a"``, ``"b"`` or ``"c"`` (also d) of ``mma.sync`` with elements of `bits`.

    All shapes but the ``m8n8k4`` of 16 bits follow one rule. A register holds neighbours along k
    (along n for c); a group of four lanes covers one row of a core matrix, eight groups its eight
    rows. Core matrices follow each other down the rows first, then along k.
    """
    m, n, k = shape_of(shape)
    name = f"{shape} {operand} of {bits}-bit elements"
    if operand == "c":
        # Pairs along n whatever the width: c0 c1 in row g, c2 c3 in row g + 8.
        def place_c(lane: int, i: int) -> Coordinate:
            return lane // 4 + 8 * (i // 2 % (m // 8)), lane % 4 * 2 + i % 2

        return _fragment(name, m, n, bits, m * n // WARP, place_c)
    run = max(1, 32 // bits)
    core = 4 * run
    if operand == "a":

        def place_a(lane: int, i: int) -> Coordinate:
            register, inside = divmod(i, run)
            k_block, row_block = divmod(register, m // 8)
            return lane // 4 + 8 * row_block, core * k_block + lane % 4 * run + inside

        return _fragment(name, m, k, bits, m * k // WARP, place_a)
    if operand == "b":

        def place_b(lane: int, i: int) -> Coordinate:
            k_block, inside = divmod(i, run)
            return core * k_block + lane % 4 * run + inside, lane // 4

        return _fragment(name, k, n, bits, k * n // WARP, place_b)
    raise ValueError(f"operand {operand!r}; expected a, b or c")


@cache
def mma_m8n8k4_fragment(operand: str, layout: str = "row", bits: int = 16) -> Fragment:
    """``mma.sync.m8n8k4`` of f16: four products at once, one for each quad pair.

    Lanes 4q to 4q+3 and 16+4q to 16+4q+3 hold the q-th product; the coordinates are those within
    a lane's own product, so each is held four times.
    """
    if operand == "a":

        def place(lane: int, i: int) -> Coordinate:
            high = 4 * (lane // 16)
            return (lane % 4 + high, i) if layout == "row" else (i + high, lane % 4)

        return _fragment(f"m8n8k4 a {layout}", 8, 4, 16, 4, place)
    if operand == "b":

        def place(lane: int, i: int) -> Coordinate:
            high = 4 * (lane // 16)
            return (lane % 4, i + high) if layout == "row" else (i, lane % 4 + high)

        return _fragment(f"m8n8k4 b {layout}", 4, 8, 16, 4, place)

    def place_c(lane: int, i: int) -> Coordinate:
        high = 4 * (lane // 16)
        if bits == 16:
            return lane % 4 + high, i
        return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)

    return _fragment(f"m8n8k4 c of {bits} bits", 8, 8, bits, 8, place_c)


# ---------------------------------------------------------------- mma.sp

CHUNKS = {32: 2, 16: 4, 8: 4, 4: 8}
"""By the bits of an element of a sparse A: the neighbours along K half of which are kept. Of 4-bit
elements, neighbours are kept by pairs."""
INDEX_BITS = 4
"""What tells which of a chunk are kept: two numbers of two bits, the lower one first."""


def mma_sparse_fragment(shape: str, bits: int) -> Fragment:
    """A of ``mma.sp``: the elements that are kept, k / 2 to a row, lie as those of a dense A."""
    m, n, k = shape_of(shape)
    dense = mma_fragment(f"m{m}n{n}k{k // 2}", "a", bits)
    return replace(dense, name=f"sparse {shape} a of {bits}-bit elements")


def sparse_selectors(shape: str, bits: int) -> range:
    """The selectors of ``mma.sp`` for a shape and the width of A's elements: 4, 2 or 1 of them."""
    return range(4 // (shape_of(shape)[2] // CHUNKS[bits] // 4))


@cache
def sparse_metadata(shape: str, bits: int, selector: int = 0) -> Fragment:
    """Which chunk of A each lane's metadata tells of: rows of A by its chunks along K.

    The register of a lane holds eight indices of four bits. One, two or all four lanes of each
    group of four have metadata; `selector` says which one, or which pair. For elements of 16 and 32
    bits a lane tells of four chunks in rows g and g + 8, for narrower ones of eight in one row.
    Other lanes' registers are not looked at. Source: PTX ISA 9.0, 9.7.14.6, whose figures have it.
    """
    selectors = sparse_selectors(shape, bits)
    if selector not in selectors:
        raise ValueError(f"selector is {selector}; {shape} has {', '.join(map(str, selectors))}")
    m, _, k = shape_of(shape)
    several = 4 // len(selectors)

    def place(lane: int, i: int) -> Coordinate:
        number = lane % 4 - selector * several
        if bits >= 16:
            return lane // 4 + 8 * (i // 4), 4 * number + i % 4
        return lane // 4 + 8 * (number % 2), 8 * (number // 2) + i

    places = tuple(
        tuple(place(lane, i) for i in range(8)) if lane % 4 // several == selector else ()
        for lane in range(WARP)
    )
    name = f"sparse {shape} metadata of {bits}-bit elements"
    if len(selectors) > 1:
        name += f", selector {selector}"
    return Fragment(name, m, k // CHUNKS[bits], INDEX_BITS, places)


# ---------------------------------------------------------------- wmma

ELEMENT_BITS = {
    "b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "f16": 16, "bf16": 16,
    "tf32": 32, "f32": 32, "s32": 32, "f64": 64,
}  # fmt: skip
"""Width of an element of a fragment."""
WMMA_F16_INPUTS = 16
"""Elements that a lane holds of an f16 A or B of wmma, whatever the shape: some are held again."""


@cache
def wmma_fragment(shape: str, operand: str, type: str) -> Fragment:
    """Operand ``"a"``, ``"b"`` or ``"c"`` (also d) of ``wmma`` with elements of `type`.

    The manual leaves it unspecified, and it may differ from one architecture to the next: this is
    where ``ptxas`` 13.0 puts the elements on sm_90, read off the machine code of every load, and
    it is the same for row and column layouts. Rows and columns follow ``mma``: blocks of 16 rows
    of A or C and of 8 columns of B, one after another. m8n32k16 is computed as the transpose of
    m32n8k16; f16 inputs are repeated until they fill 16 elements.
    """
    m, n, k = shape_of(shape)
    bits = ELEMENT_BITS[type]
    name = f"wmma {shape} {operand} of {type}"
    if m == 8 and n == 32:
        swapped = {"a": "b", "b": "a", "c": "c"}[operand]
        turned = wmma_fragment(f"m32n8k{k}", swapped, type)
        places = tuple(tuple((c, r) for r, c in held) for held in turned.places)
        return Fragment(name, turned.columns, turned.rows, bits, places)
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[operand]
    parts = [
        (row, column)
        for row in range(0, rows, 16 if operand == "a" else rows)
        for column in range(0, columns, columns if operand == "a" else 8)
    ]
    height, width = (min(m, 16), k) if operand == "a" else (rows, 8)
    own = {"a": f"m{height}n8k{k}", "b": f"m8n8k{k}", "c": f"m{m}n8k{k}"}[operand]
    part = mma_fragment(own, operand, bits)
    assert (part.rows, part.columns) == (height, width)
    held = tuple(
        tuple((row + r, column + c) for row, column in parts for r, c in places)
        for places in part.places
    )
    if type == "f16" and operand != "c":
        held = tuple(places * (WMMA_F16_INPUTS // len(places)) for places in held)
    return Fragment(name, rows, columns, bits, held)


@cache
def wmma_alignment(shape: str, operand: str, type: str, layout: str) -> int:
    """Bytes that base and stride of ``wmma.load`` and ``wmma.store`` must be multiples of.

    The manual wants every row (or column) to begin at a multiple of the fragment's bytes in one
    lane (PTX ISA 9.7.14.4.2, whose example is the f16 A of m16n16k16: pointer and stride are
    multiples of 32 bytes). CUDA C++ asks for less, an ldm of 8 halves or 4 floats, that is 16
    bytes: an ldm of 24 halves is taken by ``load_matrix_sync`` and leaves the instruction
    undefined. Rows shorter than the fragment, which PTX's own default stride sets side by side,
    count with their length.
    """
    map = wmma_fragment(shape, operand, type)
    line = map.columns if layout == "row" else map.rows
    return min(map.elements, line) * map.bits // 8


# ---------------------------------------------------------------- ldmatrix, stmatrix, movmatrix


@cache
def ldmatrix_fragment(transposed: bool = False) -> Fragment:
    """One 8x8 matrix of 16-bit elements as ``ldmatrix`` and ``stmatrix`` spread it over a warp."""

    def place(lane: int, i: int) -> Coordinate:
        row, column = lane // 4, lane % 4 * 2 + i
        return (column, row) if transposed else (row, column)

    return _fragment(f"ldmatrix m8n8{' transposed' if transposed else ''}", 8, 8, 16, 2, place)


# ---------------------------------------------------------------- wgmma


@cache
def wgmma_accumulator(n: int, bits: int = 32) -> Fragment:
    """D of ``wgmma m64n<n>k..``: 64 rows by `n` columns over the 128 lanes of a warpgroup."""

    def place(lane: int, i: int) -> Coordinate:
        warp, inside = divmod(lane, WARP)
        block, element = divmod(i, 4)
        row = 16 * warp + inside // 4 + 8 * (element // 2)
        return row, 8 * block + inside % 4 * 2 + element % 2

    return _fragment(f"wgmma m64n{n} d", 64, n, bits, n // 2, place, lanes=4 * WARP)


@cache
def wgmma_a(bits: int) -> Fragment:
    """A of wgmma in registers: 64 rows by 256 bits of k over a warpgroup."""
    k = 256 // bits
    warp_fragment = mma_fragment(f"m16n8k{k}", "a", bits)

    def place(lane: int, i: int) -> Coordinate:
        warp, inside = divmod(lane, WARP)
        row, column = warp_fragment.places[inside][i]
        return 16 * warp + row, column

    name = f"wgmma a of {bits}-bit elements"
    return _fragment(name, 64, k, bits, warp_fragment.elements, place, lanes=4 * WARP)


SWIZZLES = {0: 0, 32: 3, 64: 2, 128: 1}
"""Bytes that a swizzle mode spans (0: none), and the mode's number in a matrix descriptor."""


def swizzle(address: int, span: int) -> int:
    """Where the byte `address` lies in shared memory under a swizzle of `span` bytes.

    Bits 4 and up of the address are exclusive-ored with the bits from 7 on: one, two or three of
    them for spans of 32, 64 and 128 bytes. It is its own inverse.
    """
    if span not in SWIZZLES:
        raise ValueError(f"a swizzle spans 0, 32, 64 or 128 bytes, not {span}")
    mask = max(0, span // 16 - 1)
    return address ^ (address >> 7 & mask) << 4


@dataclass(frozen=True)
class MatrixDescriptor:
    """The 64-bit descriptor of a wgmma operand in shared memory (PTX ISA 9.7.15.5.1.2.2)."""

    start: int
    """Byte address in shared memory."""
    leading_bytes: int
    """Leading dimension byte offset."""
    stride_bytes: int
    """Stride dimension byte offset."""
    swizzle_span: int = 128
    """0, 32, 64 or 128."""
    base_offset: int = 0

    def __post_init__(self) -> None:
        for name in ("start", "leading_bytes", "stride_bytes"):
            value = getattr(self, name)
            if value % 16 or not 0 <= value < 1 << 18:
                raise ValueError(f"{name} = {value}: a descriptor holds multiples of 16 below 2^18")
        if self.swizzle_span not in SWIZZLES:
            raise ValueError(f"swizzle_span = {self.swizzle_span}; expected 0, 32, 64 or 128")
        if not 0 <= self.base_offset < 8:
            raise ValueError(f"base_offset = {self.base_offset}; it has three bits")

    @property
    def bits(self) -> int:
        """The descriptor as an integer; with ``start = 0`` the constant part of one."""
        return (
            self.start >> 4
            | self.leading_bytes >> 4 << 16
            | self.stride_bytes >> 4 << 32
            | self.base_offset << 49
            | SWIZZLES[self.swizzle_span] << 62
        )

    @staticmethod
    def of(bits: int) -> MatrixDescriptor:
        """The descriptor that an integer encodes."""
        spans = {mode: span for span, mode in SWIZZLES.items()}
        return MatrixDescriptor(
            start=(bits & 0x3FFF) << 4,
            leading_bytes=(bits >> 16 & 0x3FFF) << 4,
            stride_bytes=(bits >> 32 & 0x3FFF) << 4,
            swizzle_span=spans[bits >> 62 & 3],
            base_offset=bits >> 49 & 7,
        )

    def address(self, mn: int, k: int, bits: int, k_major: bool = True) -> int:
        """The byte address of element (`mn`, `k`) of an operand with elements of `bits`.

        K-major: eight rows of one swizzle span (16 bytes without swizzle) make an atom; atoms
        follow at ``stride_bytes`` along M or N and, without swizzle, at ``leading_bytes`` along K.
        MN-major: eight steps of k of one span along M or N make an atom; atoms follow at
        ``leading_bytes`` along M or N and at ``stride_bytes`` along K.
        """
        outer, inner = (mn, k) if k_major else (k, mn)
        span = self.swizzle_span or 16
        block, inside = divmod(inner * bits // 8, span)
        group, row = divmod(outer, 8)
        if k_major and self.swizzle_span:
            # The tensor core walks on linearly past an atom's span, as start addresses do.
            offset = group * self.stride_bytes + row * span + block * span + inside
        elif k_major:
            offset = group * self.stride_bytes + row * span + block * self.leading_bytes + inside
        elif self.swizzle_span:
            offset = block * self.leading_bytes + row * span + group * self.stride_bytes + inside
        else:
            offset = block * self.stride_bytes + row * span + group * self.leading_bytes + inside
        return swizzle(self.start + offset, self.swizzle_span)


# ---------------------------------------------------------------- shared-memory banks

BANKS = 32
BANK_BYTES = 4


def bank_conflict_ways(addresses: Sequence[int | None], access_bytes: int) -> int:
    """How many passes a warp's access to shared memory takes; 1 is free of conflicts.

    `addresses` are the lanes' byte addresses, None for a lane that is off. Accesses of 8 bytes are
    served by half warps and of 16 bytes by quarter warps; lanes that want the same word share it.
    Returns the largest number over those groups (0 where no lane is on).
    """
    group = WARP * BANK_BYTES // max(access_bytes, BANK_BYTES)
    worst = 0
    for first in range(0, len(addresses), group):
        words: dict[int, set[int]] = {}
        for address in addresses[first : first + group]:
            if address is None:
                continue
            for byte in range(address, address + access_bytes, BANK_BYTES):
                word = byte // BANK_BYTES
                words.setdefault(word % BANKS, set()).add(word)
        worst = max(worst, max(map(len, words.values()), default=0))
    return worst
