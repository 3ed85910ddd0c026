"""Products on ``mma.sync`` and ``wmma``: from matrices in a device's memory to launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import ml_dtypes
import numpy as np

import ptx
from ptx.devices import Device
from ptx.layouts import ELEMENT_BITS
from ptx.tensormap import TensorMap
from ptxgemm.blocking import (
    LINE_BYTES,
    OUT_BYTES,
    OUTS,
    SUMS,
    TURNED,
    Blocking,
    Copy,
    Major,
    shared_limit,
)
from ptxgemm.kernels import fed, mma, wmma
from ptxgemm.loading import loaded
from ptxgemm.packing import Packed
from ptxgemm.tail import AUTO, Tail

Family = Literal["mma", "wmma"]
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "f64": np.float64, "s8": np.int8, "u8": np.uint8, "s32": np.int32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
PITCH_LIMIT = 1 << 32
EXTENT_LIMIT = 1 << 31
"""Bytes of a stride, and of a line."""
F64_STEP_BYTES = 256
"""Of a row of f64, in a K step."""
TARGETS = (75, 80, 86, 89, 90, 120)
"""Compute capabilities that kernels differ for, by instructions or shared memory."""
_F64 = Blocking(
    128, 128, 1, 8, LINE_BYTES, 2, 3, 1, a="f64", b="f64", sum="f64", out="f64", target=90, fed=True
)
_F32 = Blocking(128, 256, 2, 4, LINE_BYTES, 1, 4, 1, target=90, fed=True)
_S32 = replace(_F32, a="s8", b="s8", sum="s32", out="s32")
FED = {
    "f64": (_F64, replace(_F64, tile_m=112)),
    "f16": (_F32,), "bf16": (_F32,), "tf32": (_F32,), "s8": (_S32,), "u8": (_S32,),
}  # fmt: skip
"""Tiles of kernels that are fed by tensor copies."""
FED_TARGET = 90
FED_TILES = 96
"""So many of them are enough for a GPU."""
MAPS = {"tf32": "f32", "s8": "u8"}
"""Elements as tensor copies name them, where by another name."""


@dataclass(frozen=True)
class Matrix:
    """A matrix in a device's memory, or one matrix of a batch after another; strides count
    elements. Those of A, B and D are not negative."""

    address: int
    rows: int
    columns: int
    row_stride: int
    column_stride: int
    element: str
    batch_stride: int = 0

    @property
    def bits(self) -> int:
        return ELEMENT_BITS[self.element]

    @property
    def transposed(self) -> Matrix:
        return replace(
            self, rows=self.columns, columns=self.rows, row_stride=self.column_stride,
            column_stride=self.row_stride,
        )  # fmt: skip

    @property
    def batch_bytes(self) -> int:
        return self.batch_stride * self.bits // 8

    def pitch(self, stride: int, count: int) -> int:
        """A stride in bytes; one that nothing is reached by is 0."""
        return stride * self.bits // 8 if count > 1 else 0

    @property
    def pitches(self) -> tuple[int, int]:
        """Of rows and of columns."""
        return self.pitch(self.row_stride, self.rows), self.pitch(self.column_stride, self.columns)

    def aligned(self, bytes: int) -> bool:
        """Whether every matrix of the batch is."""
        return self.address % bytes == 0 and self.batch_bytes % bytes == 0


def blocking_for(
    a: str, b: str, sum: str, out: str, target: int, m: int = 4096, n: int = 4096
) -> Blocking:
    """The tiles for some types, a target and a size of C; every operand dense and aligned."""
    small = -(-m // 128) * -(-n // 128) < 66
    limit = shared_limit(max(target, 80))
    if a == "f64":
        padded = F64_STEP_BYTES + 16  # as tiles of wmma are
        tile_m, tile_n, stages = next(
            one
            for one in ((128, 128, 3), (128, 128, 2), (64, 64, 3), (64, 64, 2))
            if (one[0] + one[1]) * padded * one[2] <= limit and not (small and one[0] > 64)
        )
        return Blocking(
            tile_m, tile_n, 2, tile_n // 32, F64_STEP_BYTES // 2, 2, stages, 1, 8, a, b, sum, out,
            target=max(target, 80),
        )  # fmt: skip
    copy = Copy(asynchronous=target >= 80)
    # As many stages as leave an SM room for two CTAs.
    stages = 2 if target < 80 else 4 if limit >= 8 * 16384 else 3
    shape = Blocking(
        128, 128, 2, 2, 64, 1, stages, 2, 8, a, b, sum, out, copy, copy, target=target
    )  # fmt: skip
    if small:
        shape = replace(shape, tile_m=64, tile_n=64)
    return shape


@dataclass(frozen=True)
class Plan:
    """A product, ready to be launched again and again on the same memory."""

    blocking: Blocking
    launch: Callable[[], None]

    def __call__(self) -> None:
        self.launch()


def plan(
    device: Device,
    c: Matrix,
    a: Matrix,
    b: Matrix,
    alpha: float = 1.0,
    beta: float = 0.0,
    *,
    family: Family = "mma",
    blocking: Blocking | None = None,
    sum: str | None = None,
    op: str = "xor",
    tail: Tail | None = None,
    target: int | None = None,
    stream: Any = None,
    addend: Matrix | None = None,
) -> Plan:
    """C [m, n] = alpha A [m, k] B [k, n] + beta C, for any m, n and k from 1 up (k from 0); what is
    added may be another matrix, the `addend`, of any strides.

    C lies by rows or by columns; A and B lie by rows, by columns, or with any two strides, packed
    types along K. `blocking` has the tiles; its copies and edges are fitted here, these as `tail`
    asks for, whose width is that of the copies. Raises ValueError for what no kernel takes.
    """
    if c.column_stride != 1 and c.columns > 1:
        if c.row_stride != 1 and c.rows > 1:
            raise ValueError("C lies by rows or by columns: one of its strides is 1")
        return plan(
            device, c.transposed, b.transposed, a.transposed, alpha, beta, family=family,
            blocking=blocking, sum=sum, op=op, tail=tail, target=target, stream=stream,
            addend=addend.transposed if addend else None,
        )  # fmt: skip
    for name, matrix, what in (
        ("A", a, "columns"),
        ("B", b.transposed, "rows"),
        ("C", c, "columns"),
    ):
        if matrix.rows > 1 and matrix.column_stride == 1 and matrix.row_stride < matrix.columns:
            raise ValueError(
                f"{name}'s lines are {matrix.row_stride} elements apart and have {matrix.columns} "
                f"{what}"
            )
    scaled = (alpha, beta) != (1.0, 0.0)
    added = addend or c
    if blocking is None and family == "mma" and tail is None and target is None:
        if 10 * device.compute_capability[0] + device.compute_capability[1] == FED_TARGET:
            blocking = fed_for(device.sm_count, c, a, b, sum)
    shape, arguments = fitted(
        c, a, b, added if scaled else None, family=family, blocking=blocking, sum=sum, op=op,
        tail=tail, target=target or target_of(device),
    )  # fmt: skip
    arguments |= {"d": c.address}
    if scaled:
        arguments |= {"c": added.address} | factors(shape, alpha, beta)
    grid = shape.tiles(c.rows, c.columns)
    if shape.fed:
        grid = min(grid, device.sm_count)
        arguments |= tensor_maps(device, shape, a, b)
    else:
        arguments |= {"a": a.address, "b": b.address}
    module = fed if shape.fed else mma if family == "mma" else wmma
    launch = loaded(device, module.gemm, shape).prepare(
        grid=grid, block=shape.threads, args=arguments, shared=shape.dynamic_bytes, stream=stream
    )
    return Plan(shape, launch)


def fed_for(sms: int, c: Matrix, a: Matrix, b: Matrix, sum: str | None = None) -> Blocking | None:
    """The tiles of a kernel fed by tensor copies, where these take A and B as they lie and C, which
    lies by rows, has work for all SMs: those that take the fewest rounds of the SMs, by area. So
    f64 has 1184 tiles of 112 x 128 of C [4096, 4096], 9 for each of 132 SMs, and not 1024 of
    128 x 128 in 8 rounds: 2 % less time on an H200.
    """
    found = []
    for tiles in FED.get(a.element, ()):
        if sum not in (None, tiles.sum) or not a.columns or _overlaps(a) or _overlaps(b):
            continue
        shape = replace(tiles, a=a.element, b=b.element, out=c.element)
        try:
            shape = replace(shape, copy_a=copy_of(a, 90), copy_b=copy_of(b.transposed, 90))
        except ValueError:  # no whole 16 bytes, or K is not what lies densely
            continue
        if shape.tiles(c.rows, c.columns) >= FED_TILES:
            found.append(shape)

    def area(shape: Blocking) -> int:
        rounds = -(-shape.tiles(c.rows, c.columns) // sms)
        return rounds * shape.tile_m * shape.tile_n

    return min(found, key=area, default=None)


def _overlaps(matrix: Matrix) -> bool:
    """Whether lines share elements, as those of a broadcast axis do."""
    inner, outer = sorted(
        ((matrix.row_stride, matrix.rows), (matrix.column_stride, matrix.columns))
    )
    return outer[1] > 1 and outer[0] < inner[1]


def tensor_maps(device: Device, shape: Blocking, a: Matrix, b: Matrix) -> dict[str, Any]:
    """The arguments of a fed kernel that say where A and B lie."""
    made = {}
    for name, matrix, copy, rows in (
        ("a_map", a, shape.copy_a, shape.tile_m),
        ("b_map", b.transposed, shape.copy_b, shape.tile_n),
    ):
        lines, length, stride = matrix.rows, matrix.columns, matrix.row_stride
        if copy.major == "mn":
            lines, length, stride = matrix.columns, matrix.rows, matrix.column_stride
        pitch = matrix.pitch(stride, lines) or -(-length * matrix.bits // 128) * 16
        element = MAPS.get(matrix.element, matrix.element)
        made[name] = device.tensor_map(
            TensorMap(
                matrix.address, (length, lines), (pitch,), fed.box(shape, copy, rows), element,
                swizzle=LINE_BYTES, promotion=256,
            )
        )  # fmt: skip
    return made


def target_of(device: Device) -> int:
    major, minor = device.compute_capability
    return max(t for t in TARGETS if t <= 10 * major + minor)


def factors(blocking: Blocking, alpha: float, beta: float) -> dict[str, Any]:
    """The arguments of a scaled kernel. Raises ValueError for fractions of integers."""
    if blocking.sum != "s32":
        return {"alpha": alpha, "beta": beta}
    if alpha != int(alpha) or beta != int(beta):
        raise ValueError(f"sums of .{blocking.a} are multiplied by integers, not {alpha}, {beta}")
    return {"alpha": int(alpha), "beta": int(beta)}


def obstacle(d: Matrix, a: Matrix, b: Matrix) -> str | None:
    """Why strides and sizes cannot be taken, if they cannot."""
    if d.columns > 1 and d.column_stride != 1:
        return "the result lies by rows or by columns: one of its strides is 1"
    for matrix in (a, b, d):
        for bytes in matrix.pitches:
            if not 0 <= bytes < PITCH_LIMIT:
                return f"a stride of {bytes} bytes; from 0 to {PITCH_LIMIT - 1} there can be"
    longest = max(d.rows, d.columns, a.columns)
    if longest * a.bits // 8 >= EXTENT_LIMIT:
        return f"{longest} elements of .{a.element} in a line; there can be less than 2 GiB"
    return None


def fitted(
    d: Matrix,
    a: Matrix,
    b: Matrix,
    c: Matrix | None = None,
    *,
    batched: bool = False,
    family: Family = "mma",
    blocking: Blocking | None = None,
    sum: str | None = None,
    op: str = "xor",
    tail: Tail | None = None,
    target: int = 90,
) -> tuple[Blocking, dict[str, Any]]:
    """The kernel for D, which lies by rows, = A B, or = alpha A B + beta C with a `c`; and its
    arguments but for addresses and factors.

    Of addresses only the alignment is looked at. C may have any strides. `tail` None is that of the
    `blocking`. Raises ValueError for what no kernel takes.
    """
    m, n, depth = d.rows, d.columns, a.columns
    if (a.rows, b.rows, b.columns) != (m, depth, n):
        raise ValueError(
            f"A is {a.rows}x{a.columns}, B {b.rows}x{b.columns} and C {m}x{n}: no product"
        )
    problem = obstacle(d, a, b)
    if problem:
        raise ValueError(problem)
    sum = sum or SUMS[a.element][0]
    shape = blocking or blocking_for(a.element, b.element, sum, d.element, target, m, n)
    tail = shape.tail if tail is None else tail
    size = OUT_BYTES[d.element]
    d_pitch = d.pitch(d.row_stride, m)
    copies = copy_of(a, shape.target, tail), copy_of(b.transposed, shape.target, tail)
    _check_width(tail, copies)
    if blocking is None:
        line = LINE_BYTES * 8 // a.bits
        least = [line if copy.major == "mn" else 0 for copy in copies]
        shape = replace(
            shape, tile_m=max(shape.tile_m, least[0]), tile_n=max(shape.tile_n, least[1])
        )
    shape = replace(
        shape, a=a.element, b=b.element, sum=sum, out=d.element, op=op,
        copy_a=copies[0], copy_b=copies[1],
        exact=m % shape.tile_m == 0 and n % shape.tile_n == 0,
        pairs=n % 2 == 0 and d.aligned(2 * size) and d_pitch % (2 * size) == 0
        and (tail.width == "auto" or 2 * size <= tail.width),
        eights=shape.fed and shape.warp_n % 32 == 0 and n % 8 == 0 and size == 2
        and d.aligned(16) and d_pitch % 16 == 0,
        scaled=c is not None, linear=family == "wmma", batched=batched, tail=tail,
    )  # fmt: skip
    if tail.exact:
        _check_exact(shape, m, n, depth)
    arguments: dict[str, Any] = {"m": m, "n": n, "depth": depth, "d_pitch": d_pitch}
    for name, matrix, copy in (("a", a, shape.copy_a), ("b", b.transposed, shape.copy_b)):
        rows = matrix.pitch(matrix.row_stride, matrix.rows)
        along = matrix.pitch(matrix.column_stride, matrix.columns)
        if shape.fed:
            continue
        arguments[f"{name}_pitch"] = along if copy.major == "mn" else rows
        if copy.scattered:
            arguments[f"{name}_k_pitch"] = along
    if c is not None:
        arguments |= {"c_row": c.row_stride * size, "c_column": c.column_stride * size}
    if batched:
        arguments |= {
            f"{name}_batch": matrix.batch_bytes
            for name, matrix in (("a", a), ("b", b), ("d", d), ("c", c))
            if matrix is not None
        }
    return shape, arguments


def _check_exact(shape: Blocking, m: int, n: int, depth: int) -> None:
    least = shape.tile_k * (shape.ahead if shape.prefetch == "peeled" else 1)
    if not shape.exact or depth % shape.tile_k or depth < least:
        raise ValueError(
            f"edge is exact, which takes multiples of {shape.tile_m}, {shape.tile_n} and "
            f"{shape.tile_k}, and a K from {least} up; this is {m}x{n}x{depth}"
        )


def _check_width(tail: Tail, copies: tuple[Copy, Copy]) -> None:
    for name, copy in zip("ab", copies, strict=True):
        if tail.width not in ("auto", copy.bytes):
            raise ValueError(
                f"width is {tail.width}, and {name} is copied by {copy.bytes} bytes, as its "
                "elements, address, strides and extents are"
            )


def copy_of(matrix: Matrix, target: int, tail: Tail = AUTO) -> Copy:
    """How an operand is copied, taken as rows along K: [m, k] of A, [n, k] of B.

    Copies that do not fill up with zeros, and those whose address is clamped, are of pieces that
    lie inside as a whole.
    """
    element = max(1, matrix.bits // 8)
    loads = target < 80 or tail.edge in ("predicated", "branch")
    most = 16 if tail.width == "auto" else tail.width
    rows, depth = matrix.rows, matrix.columns
    along_k = matrix.column_stride == 1 or depth == 1
    along_rows = matrix.row_stride == 1 or rows == 1
    if along_k or matrix.bits < 8:
        if not along_k:
            raise ValueError(f"elements of .{matrix.element} are packed along K")
        if depth * matrix.bits % 8:
            raise ValueError(f"K of .{matrix.element} is a whole number of bytes, not {depth}")
        major: Major = "k"
        pitch, extent = matrix.pitch(matrix.row_stride, rows), depth * matrix.bits // 8
    elif along_rows and matrix.element in TURNED:
        major, pitch, extent = "mn", matrix.pitch(matrix.column_stride, depth), rows * element
    else:
        return Copy(bytes=element, asynchronous=element >= 4 and not loads, scattered=True)
    parted = not loads and not (tail.edge == "clamped" and major == "mn")
    for bytes in (16, 8, 4):
        fits = matrix.aligned(bytes) and pitch % bytes == 0 and (parted or extent % bytes == 0)
        if element <= bytes <= most and fits:
            return Copy(major, bytes, not loads)
    return Copy(major, element, element >= 4 and not loads)


# ---------------------------------------------------------------- numpy


def matmul(
    a: Any,
    b: Any,
    *,
    out: str | None = None,
    sum: str | None = None,
    device: str | Device = "auto",
    family: Family = "mma",
    blocking: Blocking | None = None,
    op: str = "xor",
    tail: Tail | None = None,
    target: int | None = None,
) -> np.ndarray[Any, Any]:
    """``a @ b`` of numpy arrays on the tensor cores, as a new array.

    float16, bfloat16, float8_e4m3fn, float8_e5m2, int8, uint8 and float64 as they are; float32 as
    tf32, whose lower 13 bits are cut off. :class:`Packed` operands are A's rows and B's columns:
    ``matmul(pack_int4(a), pack_int4(b.T))``; for b1, ``op`` says how bits are combined before they
    are counted. Sums are float32 (`sum` = "f16" for float16), int32 or float64, converted once, to
    nearest even, to `out`.
    """
    where = ptx.device(device)
    kept: list[Any] = []

    def placed(one: Any, is_b: bool) -> Matrix:
        if isinstance(one, Packed):
            array = where.array(one.data)
            kept.append(array)
            depth = int(one.data.shape[1]) * 8 // one.bits
            matrix = Matrix(array.pointer, one.rows, depth, depth, 1, one.element)
            return matrix.transposed if is_b else matrix
        given = np.asarray(one)
        if given.ndim != 2:
            raise ValueError(f"{'b' if is_b else 'a'} has {given.ndim} dimensions; expected 2")
        element = next((e for e, d in DTYPES.items() if given.dtype == d and e in SUMS), None)
        if element is None:
            raise TypeError(f"{given.dtype} is no type of the tensor cores")
        by_columns = given.flags.f_contiguous and not given.flags.c_contiguous
        array = where.array(given.T if by_columns else given)
        kept.append(array)
        rows, columns = given.shape
        row, column = (1, rows) if by_columns else (columns, 1)
        return Matrix(array.pointer, rows, columns, row, column, element)

    left, right = placed(a, False), placed(b, True)
    sums = sum or SUMS[left.element][0]
    written = out or OUTS[sums][0]
    result = where.empty((left.rows, right.columns), DTYPES[written])
    c = Matrix(result.pointer, left.rows, right.columns, max(1, right.columns), 1, written)
    if left.rows and right.columns:
        plan(
            where, c, left, right, family=family, blocking=blocking, sum=sums, op=op, tail=tail,
            target=target,
        )()  # fmt: skip
    return result.numpy()
