"""Products on Hopper's tensor cores: from matrices in a device's memory to launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ptx.builder import Kernel
from ptx.devices import Array, Device, LoadedKernel
from ptx.dtypes import PTX
from ptx.tensormap import ALIGNMENT, TensorMap
from ptxgemm import choices, cut, narrowing
from ptxgemm.counters import from_zero
from ptxgemm.given import PLAIN, kept, make_whole, scalar, whole
from ptxgemm.kernels import narrow, wgmma
from ptxgemm.loading import loaded
from ptxgemm.narrow import Narrow
from ptxgemm.prepass import Prepasses, Rooms
from ptxgemm.tiling import (
    ELEMENTS,
    LINE_BYTES,
    OUT_BYTES,
    ROWS,
    Accumulate,
    Major,
    Tiling,
)

OUT_MAPS = {
    "bf16": "bf16", "f16": "f16", "f32": "f32", "s32": "s32",
    "e4m3": "u8", "e5m2": "u8", "s8": "u8",
}  # fmt: skip
PROMOTION, ODD_PROMOTION = 256, 128
"""Bytes that the L2 cache fetches at least for a tensor copy, of lines that start at multiples of
128 bytes, and of others: those take 15 to 20% longer with 256 (measured on an H200).
"""
HELD = {name: dtype for dtype, name in PTX.items() if not dtype.startswith("complex")} | {
    "tf32": "float32"
}
"""The dtype of arrays of an element, by numpy's and ml_dtypes' names."""
KNOWN = tuple({**ELEMENTS, **OUT_BYTES})
"""What elements there are."""
EXTENTS = ("address", "rows", "columns", "row_stride", "column_stride")
"""Fields of a matrix that are integers."""


@dataclass(frozen=True)
class Matrix:
    """A matrix in a device's memory, its strides in elements; one of them is 1."""

    address: int
    rows: int
    columns: int
    row_stride: int
    column_stride: int
    element: str
    """A key of :data:`ptxgemm.tiling.ELEMENTS` or of ``OUT_BYTES``."""

    def __post_init__(self) -> None:
        if self.element not in KNOWN:
            raise ValueError(f"element is {self.element!r}; expected {', '.join(KNOWN)}")
        make_whole(self, EXTENTS)
        if self.rows < 1 or self.columns < 1:
            raise ValueError(f"a matrix of {self.rows} x {self.columns} has no elements")
        if self.address % self.bytes:
            raise ValueError(f"the address {self.address:#x} is no multiple of {self.bytes}")
        dense, pitch, length = (
            (self.row_stride, self.column_stride, self.rows)
            if self.along == "rows"
            else (self.column_stride, self.row_stride, self.columns)
        )
        lines = self.rows * self.columns // length
        if (length > 1 and dense != 1) or (lines > 1 and pitch < length):
            raise ValueError(
                f"strides of {self.row_stride} and {self.column_stride} elements for a matrix of "
                f"{self.rows} x {self.columns}: one is 1, the other at least the length of a line"
            )

    @staticmethod
    def of(array: Array, element: str, pitch: int | None = None) -> Matrix:
        """A row-major array of two dimensions of the device, rows `pitch` elements apart.

        Its dtype is that of `element`, or for floats unsigned integers or bytes of their size. A
        pitch of more than a row reaches into what is allocated behind the array.

        Raises TypeError for another dtype and for what is no array of a device, ValueError for
        other dimensions and for rows that end beyond what is allocated.
        """
        kept("array", array, (Array,), "an array of a device, as device.array makes it")
        if array.ndim != 2:
            raise ValueError(f"the array has shape {array.shape}; expected two dimensions")
        rows, columns = array.shape
        pitch = columns if pitch is None else whole("pitch", pitch)
        made = Matrix(array.pointer, rows, columns, pitch, 1, element)
        dtype = HELD[element]
        bits = 8 * made.bytes
        raw = () if "int" in dtype else (f"uint{bits}", f"void{bits}")
        if array.dtype.name not in (dtype, *raw):
            raise TypeError(
                f"the array has dtype {array.dtype.name}; {element} expects "
                f"{' or '.join((dtype, *raw))}"
            )
        end = ((rows - 1) * pitch + columns) * made.bytes
        held = array.storage.nbytes - array.offset
        if end > held:
            raise ValueError(
                f"pitch is {pitch}; {rows} rows of {columns} take {end} bytes, and the array has "
                f"{held}"
            )
        return made

    @property
    def bytes(self) -> int:
        return ELEMENTS[self.element].bytes if self.element in ELEMENTS else OUT_BYTES[self.element]

    @property
    def transposed(self) -> Matrix:
        return replace(
            self, rows=self.columns, columns=self.rows, row_stride=self.column_stride,
            column_stride=self.row_stride,
        )  # fmt: skip

    @property
    def along(self) -> str:
        """What is dense in memory, ``"columns"`` (row-major) or ``"rows"``; a stride along which
        there is one element says nothing.
        """
        if self.columns == 1:
            return "rows" if self.rows > 1 and self.row_stride == 1 else "columns"
        return "columns" if self.column_stride == 1 else "rows"

    @property
    def lines(self) -> tuple[int, int, int]:
        """Number of dense lines, their length and their distance in elements."""
        if self.along == "columns":
            pitch = self.row_stride if self.rows > 1 else self.columns
            return self.rows, self.columns, pitch
        pitch = self.column_stride if self.columns > 1 else self.rows
        return self.columns, self.rows, pitch

    def major(self, along_k: str) -> Major:
        """How wgmma reads it, of which K runs along what: 16-bit elements alone as they lie."""
        return "mn" if self.bytes == 2 and self.along != along_k else "k"

    @property
    def fits_tensor_copies(self) -> bool:
        count, _, pitch = self.lines
        return self.address % ALIGNMENT == 0 and (count == 1 or pitch * self.bytes % ALIGNMENT == 0)

    @property
    def fits_tensor_stores(self) -> bool:
        """Whether tensor copies may write it: they write whole units of 16 bytes, and so change
        what follows the last element of a line in its unit (measured on an H200).
        """
        return self.fits_tensor_copies and self.lines[1] * self.bytes % ALIGNMENT == 0

    def map(self, element: str, box: tuple[int, int], **options: Any) -> TensorMap:
        count, length, pitch = self.lines
        pitch_bytes = pitch * self.bytes
        if count == 1:
            pitch_bytes = -(-pitch_bytes // ALIGNMENT) * ALIGNMENT
        promotion = ODD_PROMOTION if pitch_bytes % LINE_BYTES else PROMOTION
        return TensorMap(
            self.address, (length, count), (pitch_bytes,), box, element, swizzle=LINE_BYTES,
            promotion=promotion, **options,
        )  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """A product, ready to be launched again and again on the same memory."""

    tiling: Tiling | Narrow
    launches: tuple[Callable[[], None], ...]
    workspace: tuple[Array, ...] = ()
    """What the launches need to live."""

    def __call__(self) -> None:
        for launch in self.launches:
            launch()


def matmul(
    device: Device, c: Matrix, a: Matrix, b: Matrix, alpha: float = 1.0, beta: float = 0.0,
    *, accumulate: Accumulate = "native",
) -> None:  # fmt: skip
    """C = alpha A B + beta C, once; with ``beta = 0``, C is not read."""
    plan(device, c, a, b, alpha, beta, accumulate=accumulate)()


@dataclass(frozen=True)
class Addend:
    """What beta multiplies: a matrix of C's shape and type, its strides in elements."""

    address: int
    row_stride: int
    column_stride: int

    def __post_init__(self) -> None:
        make_whole(self, ("address", "row_stride", "column_stride"))

    @property
    def transposed(self) -> Addend:
        return Addend(self.address, self.column_stride, self.row_stride)


def plan(
    device: Device,
    c: Matrix,
    a: Matrix,
    b: Matrix,
    alpha: float = 1.0,
    beta: float = 0.0,
    *,
    addend: Addend | None = None,
    accumulate: Accumulate = "native",
    tiling: Tiling | Narrow | None = None,
    stream: Any = None,
    rooms: Rooms | None = None,
) -> Plan:
    """Choose kernels, make workspace and tensor maps, and prepare the launches.

    A is [M, K], B [K, N] and C [M, N], each with either stride 1, and any other stride and base;
    which types go together is :class:`ptxgemm.tiling.Tiling`'s to say. What tensor copies cannot
    take as it lies, and elements of other than 16 bits that lie along M or N, are copied into
    workspace by a launch before, taken from `rooms` if they are given; but the larger operand of a
    narrow product is read as it lies, and tf32 along N may go to a float32 C through registers.
    `addend` is what beta multiplies where that is not C itself, dense where C is. `accumulate` is
    as in a tiling; `tiling` gives tile, stages, clusters and order, or a narrow shape, if they
    shall not be chosen; types, layouts, the way of storing and where K ends in its last step are
    always those of the matrices.

    Workspace, and the counters of tiles whose K is cut, belong to the plan or, if they are given,
    to all with the same `rooms`. What shares them must run one after another, as it does on one
    stream; CUDA graphs captured on it and replayed at the same time would write over each other's.

    C must share no memory with A or B, which is not checked.

    Raises ``ValueError`` for shapes and types that do not match, and for integers scaled by a
    fraction; ``TypeError`` for arguments of another kind.
    """
    _require_kinds(device, c, a, b, addend, tiling, rooms)
    _require_matching(c, a, b)
    if type(alpha) not in PLAIN:
        alpha = scalar("alpha", alpha)
    if type(beta) not in PLAIN:
        beta = scalar("beta", beta)
    scaled = (alpha, beta) != (1.0, 0.0)
    tiling = tiling or choices.best(device, c, a, b, accumulate)
    if addend is not None and c.along == "rows":
        addend = addend.transposed
    made, c, a, b = arranged(
        usable_sms(device, tiling), c, a, b, scaled=scaled, accumulate=accumulate, tiling=tiling
    )
    before = Prepasses(device, stream, rooms)
    a, b = _copied(before, made, a, b)
    scale = _scale(made, c, addend, alpha, beta) if scaled else {}
    if isinstance(made, Narrow):
        launch = _narrow(device, made, c, a, b, scale, stream)
    else:
        launch = _product(device, made, c, a, b, scale, before)
    return Plan(made, (*before.launches, launch), tuple(before.workspace))


def _require_kinds(
    device: Any, c: Any, a: Any, b: Any, addend: Any, tiling: Any, rooms: Any
) -> None:
    kept("device", device, (Device,), 'one of ptx.device, as ptx.device("emulator")')
    for name, one in (("c", c), ("a", a), ("b", b)):
        kept(name, one, (Matrix,), "a Matrix, as Matrix.of(array, element)")
    none = type(None)
    kept("addend", addend, (Addend, none), "an Addend or None")
    kept(
        "tiling", tiling, (Tiling, Narrow, none), "a Tiling, as Tiling(128, 256), a Narrow or None"
    )
    kept("rooms", rooms, (Rooms, none), "Rooms or None")


def _require_matching(c: Matrix, a: Matrix, b: Matrix) -> None:
    if (a.rows, b.columns, a.columns) != (c.rows, c.columns, b.rows):
        differ = ", ".join(
            f"{extent} is {one} in {left}, {other} in {right}"
            for extent, one, left, other, right in (
                ("M", a.rows, "A", c.rows, "C"), ("N", b.columns, "B", c.columns, "C"),
                ("K", a.columns, "A", b.rows, "B"),
            )
            if one != other
        )  # fmt: skip
        raise ValueError(
            f"A is {a.rows} x {a.columns}, B {b.rows} x {b.columns}, C {c.rows} x {c.columns}: "
            f"{differ}"
        )


def _copied(
    before: Prepasses, made: Tiling | Narrow, a: Matrix, b: Matrix
) -> tuple[Matrix, Matrix]:
    """A and B as the kernel reads them: as they lie, turned or padded in workspace."""
    if made.a_major == "k" and a.along != "columns":
        a = before.turn(a)
    if made.b_major == "k" and b.along != "rows":
        b = before.turn(b)
    by_units = isinstance(made, Narrow) and made.a_copy == "units"
    odd = [one for one in ((b,) if by_units else (a, b)) if not one.fits_tensor_copies]
    if odd:
        padded = dict(zip(odd, before.pad(odd), strict=True))
        a, b = padded.get(a, a), padded.get(b, b)
    return a, b


def compiled(device: Device, c: Matrix, a: Matrix, b: Matrix, *, scaled: bool) -> LoadedKernel:
    """What :func:`plan` launches last; of addresses only the alignment is looked at."""
    best = choices.best(device, c, a, b)
    made = arranged(usable_sms(device, best), c, a, b, scaled=scaled, tiling=best)[0]
    return loaded(device, kernel, made.compiled if isinstance(made, Tiling) else made)


def usable_sms(device: Device, tiling: Tiling | Narrow) -> int:
    """The device's SMs, without those that clusters of this size leave idle."""
    if not isinstance(tiling, Tiling) or tiling.cluster_size == 1:
        return device.sm_count
    return device.clusters(tiling.cluster_size) * tiling.cluster_size


def arranged(
    sm_count: int, c: Matrix, a: Matrix, b: Matrix, *, scaled: bool, tiling: Tiling | Narrow,
    accumulate: Accumulate = "native",
) -> tuple[Tiling | Narrow, Matrix, Matrix, Matrix]:  # fmt: skip
    """The kernel, and C, A and B as it takes them: the same product or its transpose."""
    if isinstance(tiling, Narrow):
        if accumulate != "native":
            raise ValueError(f'a narrow product has "native" sums, no {accumulate} ones')
        c, a, b = narrowing.turned(c, a, b)
        return narrowing.fitted(tiling, c, a, b, scaled), c, a, b
    if c.along == "rows":
        c, a, b = c.transposed, b.transposed, a.transposed
    made = configure(sm_count, c, a, b, scaled=scaled, accumulate=accumulate, tiling=tiling)
    return made, c, a, b


def kernel(made: Tiling | Narrow) -> Kernel:
    return narrow.gemm(made) if isinstance(made, Narrow) else wgmma.gemm(made)


def configure(
    sm_count: int, c: Matrix, a: Matrix, b: Matrix, *, scaled: bool, tiling: Tiling,
    accumulate: Accumulate = "native",
) -> Tiling:  # fmt: skip
    """The kernel for a row-major C = A B: its tiles from `tiling`, the rest as A, B and C lie."""
    if tiling.by_registers:
        return _by_registers(tiling, c, a, b, scaled, accumulate)
    by_lines = tiling.tile_n * c.bytes % LINE_BYTES == 0 and c.fits_tensor_stores
    made = replace(
        tiling, a=a.element, b=b.element, out=c.element, a_major=a.major("columns"),
        b_major=b.major("rows"), store="tensor" if by_lines else "units", scaled=scaled,
        accumulate=accumulate,
    )  # fmt: skip
    if cut.cut(made, c.rows, c.columns, a.columns, sm_count) is None:
        made = replace(made, parts=1)
    return replace(made, last_slices=made.slices_of_last(a.columns))


def _by_registers(
    tiling: Tiling, c: Matrix, a: Matrix, b: Matrix, scaled: bool, accumulate: Accumulate
) -> Tiling:
    if b.element != "tf32" or b.along == "rows":
        raise ValueError(
            f"B is {b.element} along {'K' if b.along == 'rows' else 'N'}; by registers goes tf32 "
            "along N"
        )
    return replace(
        tiling, a=a.element, b=b.element, out=c.element, scaled=scaled, accumulate=accumulate,
        store="vectors" if c.fits_tensor_stores else "elements",
        last_slices=tiling.slices_of_last(a.columns),
    )  # fmt: skip


def _scale(
    made: Tiling | Narrow, c: Matrix, addend: Addend | None, alpha: float, beta: float
) -> dict[str, Any]:
    """The arguments of a scaled product; the addend's rows are the lines of C."""
    _, length, pitch = c.lines
    old = addend or Addend(c.address, pitch, 1)
    if length > 1 and old.column_stride != 1:
        raise ValueError(
            f"neighbours of the addend are {old.column_stride} elements apart where those of C "
            "touch"
        )
    number: type[int] | type[float] = float
    if made.out == "s32":
        number = int
        if not all(float(one).is_integer() for one in (alpha, beta)):
            raise ValueError(f"sums of s32 are multiplied by integers, not {alpha} and {beta}")
    return {
        "alpha": number(alpha), "beta": number(beta), "old": old.address,
        "old_row": old.row_stride * c.bytes,
    }  # fmt: skip


def _product(
    device: Device, tiling: Tiling, c: Matrix, a: Matrix, b: Matrix, scale: dict[str, Any],
    before: Prepasses,
) -> Callable[[], None]:  # fmt: skip
    """Early, so that it makes itself ready while the launch before it ends: 2048³ takes 25 us
    instead of 27 in bf16, right after another product. But after a copy of its own tf32 lost 15% at
    4096³ and 65% at 8192³ (measured on an H200, where both the copy and the product were early).
    Where the copy is early and the product not before its end, bf16 gains half a microsecond at
    257³ and 501³ and loses 2% at 4097³, and tf32 loses 3% at 4096³ and 5% at 8192³.
    """
    load_a, load_b = wgmma.operands(tiling)
    args: dict[str, Any] = {
        "a_map": device.tensor_map(a.map(ELEMENTS[a.element].map, load_a.box)),
        "b_map": device.tensor_map(b.map(ELEMENTS[b.element].map, load_b.box)),
        "m": c.rows, "n": c.columns, "depth": a.columns, "c": c.address, "pitch": c.lines[2],
    } | scale  # fmt: skip
    if tiling.store == "tensor":
        line = LINE_BYTES // tiling.out_bytes
        args["c_map"] = device.tensor_map(c.map(OUT_MAPS[c.element], (line, ROWS)))
    sm_count = usable_sms(device, tiling)
    last, items = cut.cut(tiling, c.rows, c.columns, a.columns, sm_count), None
    if last is not None:
        items = last.items
        args |= {"whole": last.whole, "parts": last.parts, "per_part": last.per_part}
        args |= before.meeting(last.workspace_bytes(tiling), last.counters(tiling))
    launch = loaded(device, kernel, tiling.compiled).prepare(
        tiling.grid(c.rows, c.columns, sm_count, items),
        tiling.threads,
        args,
        shared=tiling.shared_bytes,
        stream=before.stream,
        early=not before.launches,
    )
    return launch if before.counters is None else from_zero(device, before.counters, launch)


def _narrow(
    device: Device, shape: Narrow, c: Matrix, a: Matrix, b: Matrix, scale: dict[str, Any],
    stream: Any,
) -> Callable[[], None]:  # fmt: skip
    return loaded(device, kernel, shape).prepare(
        shape.grid(c.rows, c.columns),
        shape.threads,
        narrowing.arguments(device, shape, c, a, b) | scale,
        shared=shape.shared_bytes,
        stream=stream,
        early=True,
    )
