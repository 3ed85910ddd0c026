"""Products on mma.sync and wmma of every type, any shape and any lie, on both devices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptx
from ptx.devices import Device
from ptxgemm.blocking import NEEDS, OUT_BYTES, Blocking, Copy
from ptxgemm.packing import Packed, pack_bits, pack_int4
from ptxgemm.tail import EDGES, PREFETCHES, Tail
from ptxgemm.warp_gemm import DTYPES, TARGETS, Matrix, blocking_for, copy_of, matmul, plan
from tests.gemm.emulated import launches

FAMILIES = ("mma", "wmma")
PLAIN = ("f16", "bf16", "tf32", "f64", "s8", "u8")
UNITS = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8, "f64": 2.0**-53}
"""Half the distance of neighbours, relative."""


@pytest.fixture(params=["emulator", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Device:
    return ptx.device(request.param)


def drawn(element: str, shape: tuple[int, int], seed: int, small: bool = False) -> Any:
    random = np.random.default_rng(seed)
    if element in ("s8", "u8"):
        info = np.iinfo(DTYPES[element])
        return random.integers(info.min, info.max + 1, shape).astype(DTYPES[element])
    values = random.integers(-4, 5, shape) if small else random.standard_normal(shape)
    found = values.astype(DTYPES[element])
    if element == "tf32":
        found = (found.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return found


def turned(matrix: Any, by_columns: bool) -> Any:
    return np.asfortranarray(matrix) if by_columns else matrix


def assert_right(got: Any, a: Any, b: Any, out: str, element: str) -> None:
    """Integers to the bit; else within the sums' and the output's rounding."""
    if out == "s32":
        assert np.array_equal(got, a.astype(np.int64) @ b.astype(np.int64))
        return
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    exact, sizes = wide_a @ wide_b, abs(wide_a) @ abs(wide_b)
    kept = 2.0**-13 if element in ("e4m3", "e5m2") else UNITS["f64" if out == "f64" else "f32"] * 4
    bound = UNITS[out] * abs(exact) + (a.shape[1] + 4) * kept * sizes
    assert (abs(got.astype(np.float64) - exact) <= bound).all()


# ---------------------------------------------------------------- types, layouts, shapes

SHAPES = [(64, 128, 64), (72, 48, 40), (33, 71, 53), (1, 1, 1), (65, 7, 131)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element", [*PLAIN, "e4m3", "e5m2"])
def test_any_shape_in_every_type(where: Device, element: str, shape: Any) -> None:
    m, n, k = shape
    a, b = drawn(element, (m, k), 1), drawn(element, (k, n), 2)
    for by_columns in ((False, True), (True, False)):
        got = matmul(turned(a, by_columns[0]), turned(b, by_columns[1]), device=where)
        out = next(name for name, dtype in DTYPES.items() if dtype == got.dtype and name != "tf32")
        assert_right(got, a, b, out, element)


@pytest.mark.parametrize("shape", SHAPES[1:3], ids=str)
@pytest.mark.parametrize("element", PLAIN)
def test_any_shape_by_wmma(where: Device, element: str, shape: Any) -> None:
    m, n, k = shape
    a, b = drawn(element, (m, k), 3, small=True), drawn(element, (k, n), 4, small=True)
    for by_columns in ((False, True), (True, False)):
        got = matmul(
            turned(a, by_columns[0]), turned(b, by_columns[1]), device=where, family="wmma"
        )
        assert np.array_equal(got.astype(np.float64), a.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shape", [(37, 29, 71), (3, 6, 5), (65, 33, 300)], ids=str)
def test_packed_integers_and_bits(where: Device, family: Any, shape: Any) -> None:
    m, n, k = shape
    random = np.random.default_rng(5)
    for signed in (True, False):
        a, b = (random.integers(*((-8, 8) if signed else (0, 16)), s) for s in ((m, k), (k, n)))
        packed = pack_int4(a, signed), pack_int4(b.T, signed)
        assert np.array_equal(packed[0].unpack(), a)
        assert np.array_equal(matmul(*packed, device=where, family=family), a @ b)
    a, b = random.integers(0, 2, (m, k)), random.integers(0, 2, (k, n))
    assert np.array_equal(pack_bits(b.T).unpack(), b.T)
    for op, exact in (("xor", a @ (1 - b) + (1 - a) @ b), ("and", a @ b)):
        got = matmul(pack_bits(a), pack_bits(b.T), device=where, family=family, op=op)
        assert np.array_equal(got, exact)


def test_mixed_signs(where: Device) -> None:
    a, b = drawn("u8", (40, 50), 6), drawn("s8", (50, 30), 7)
    got = matmul(a, b, device=where)
    assert np.array_equal(got, a.astype(np.int64) @ b.astype(np.int64))


@pytest.mark.parametrize("element", ["f16", "s8"])
@pytest.mark.parametrize("target", [75, 80])
def test_older_targets_run_too(where: Device, element: str, target: int) -> None:
    for by_columns in ((False, True), (False, False)):
        a, b = drawn(element, (70, 72), 8, small=True), drawn(element, (72, 66), 9, small=True)
        got = matmul(a, turned(b, by_columns[1]), device=where, target=target)
        assert np.array_equal(got.astype(np.float64), a.astype(np.float64) @ b.astype(np.float64))


def test_f64_by_the_small_mma_of_sm_80(where: Device) -> None:
    a, b = drawn("f64", (65, 33), 10), drawn("f64", (33, 41), 11)
    assert_right(matmul(a, b, device=where, target=80), a, b, "f64", "f64")


def test_outputs_are_converted_once(where: Device) -> None:
    a, b = drawn("f16", (66, 40), 12), drawn("f16", (40, 34), 13)
    for out in ("f32", "f16", "bf16"):
        got = matmul(a, b, device=where, out=out)
        assert got.dtype == DTYPES[out]
        assert_right(got, a, b, out, "f16")
    sums = matmul(a, b, device=where, out="f32")
    assert np.array_equal(matmul(a, b, device=where, out="f16"), sums.astype(np.float16))
    few = drawn("f16", (66, 40), 12, small=True), drawn("f16", (40, 34), 13, small=True)
    narrow = matmul(*few, device=where, sum="f16")
    assert np.array_equal(narrow.astype(np.float64), few[0].astype(float) @ few[1].astype(float))


# ---------------------------------------------------------------- matrices as they lie


class Placed:
    """A matrix inside an allocation whose other bytes are 0xFF: NaN, or -1."""

    def __init__(
        self, device: Device, values: Any, element: str, by_columns: bool, gap: int, base: int
    ) -> None:
        lines, length = values.shape[::-1] if by_columns else values.shape
        self.values, self.by_columns, self.base = values, by_columns, base
        self.pitch = length + gap
        size = values.itemsize
        self.flat = np.frombuffer(
            b"\xff" * ((base + lines * self.pitch) * size), values.dtype
        ).copy()
        self.view(self.flat)[...] = values
        self.array = device.array(self.flat)
        strides = (1, self.pitch) if by_columns else (self.pitch, 1)
        self.matrix = Matrix(self.array.pointer + base * size, *values.shape, *strides, element)

    def view(self, flat: Any) -> Any:
        size = flat.itemsize
        strides = (size, self.pitch * size) if self.by_columns else (self.pitch * size, size)
        return np.lib.stride_tricks.as_strided(flat[self.base :], self.values.shape, strides)


def check_placed(
    device: Device, element: str, out: str, shape: Any, gap: int, base: int,
    by_columns: tuple[bool, bool, bool] = (False, False, False), alpha: float = 1.0,
    beta: float = 0.0, **options: Any,
) -> None:  # fmt: skip
    m, n, k = shape
    a = Placed(device, drawn(element, (m, k), 20, True), element, by_columns[0], gap, base)
    b = Placed(device, drawn(element, (k, n), 21, True), element, by_columns[1], gap, base)
    start = np.full((m, n), -1, np.float64)
    if beta:
        start = np.random.default_rng(22).integers(-9, 10, (m, n)).astype(np.float64)
    c = Placed(device, start.astype(DTYPES[out]), out, by_columns[2], gap, base)
    plan(device, c.matrix, a.matrix, b.matrix, alpha, beta, **options)()
    flat = c.array.numpy()
    exact = alpha * (a.values.astype(np.float64) @ b.values.astype(np.float64))
    exact = exact + beta * start if beta else exact
    assert np.array_equal(c.view(flat).astype(np.float64), exact.astype(DTYPES[out]).astype(float))
    c.view(flat)[...] = c.values
    assert flat.tobytes() == c.flat.tobytes(), "memory around C was changed"


@pytest.mark.parametrize("gap", [0, 1, 8])
@pytest.mark.parametrize(
    ("element", "out"), [("f16", "f32"), ("s8", "s32"), ("f64", "f64"), ("tf32", "f32")]
)
def test_a25_nothing_beyond_the_matrices_is_used(
    where: Device, element: str, out: str, gap: int
) -> None:
    """Pitches and bases of any kind; what lies around A and B is NaN, around C unchanged."""
    for base in (0, 1):
        check_placed(where, element, out, (67, 70, 21), gap, base)
        check_placed(where, element, out, (67, 70, 21), gap, base, (True, True, True))


@pytest.mark.parametrize("by_columns", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_a34_every_order_of_a_b_and_c(where: Device, by_columns: Any) -> None:
    for family in FAMILIES:
        check_placed(where, "f16", "f32", (2, 3, 4), 0, 0, by_columns, family=family)
        check_placed(where, "f64", "f64", (70, 66, 20), 2, 0, by_columns, family=family)


def test_a34_a_pitch_below_an_extent_is_refused() -> None:
    device = ptx.device("emulator")
    a, c = Matrix(256, 2, 4, 3, 1, "f16"), Matrix(256, 2, 3, 3, 1, "f32")
    with pytest.raises(ValueError, match="A's lines are 3 elements apart and have 4 columns"):
        plan(device, c, a, Matrix(256, 4, 3, 3, 1, "f16"))
    with pytest.raises(ValueError, match="A is 2x4, B 3x3 and C 2x3: no product"):
        plan(device, c, replace(a, row_stride=4), Matrix(256, 3, 3, 3, 1, "f16"))


@pytest.mark.parametrize(("element", "out"), [("f16", "f32"), ("bf16", "bf16"), ("f64", "f64")])
@pytest.mark.parametrize("n", [64, 65])
def test_alpha_and_beta(where: Device, element: str, out: str, n: int) -> None:
    for family in FAMILIES:
        for alpha, beta in ((2.0, 0.0), (0.5, -1.0)):
            check_placed(
                where,
                element,
                out,
                (66, n, 8),
                1,
                0,
                (False, False, False),
                alpha,
                beta,
                family=family,
            )


def test_a26_k_of_1_and_of_0(where: Device) -> None:
    a, b = drawn("f16", (1, 1), 30), drawn("f16", (1, 128), 31)
    assert np.array_equal(matmul(a, b, device=where, out="f32"), a.astype("f4") * b.astype("f4"))
    none = matmul(np.zeros((5, 0), np.float16), np.zeros((0, 3), np.float16), device=where)
    assert none.shape == (5, 3) and not none.any()
    assert matmul(
        np.zeros((0, 4), np.float16), np.zeros((4, 3), np.float16), device=where
    ).shape == (0, 3)


def test_a28_sums_of_4096_ones(where: Device) -> None:
    ones = np.ones((1, 4096), np.float16)
    assert matmul(ones, ones.T, device=where, out="f32") == 4096


def test_a29_a_large_sum_becomes_infinity_once(where: Device) -> None:
    a, b = np.full((1, 2), 200, np.float16), np.full((2, 1), 200, np.float16)
    assert matmul(a, b, device=where, out="f32") == 80000
    assert np.isposinf(matmul(a, b, device=where, out="f16"))
    for value, rounded in ((65519, 65504), (65520, np.inf)):
        parts = np.array([[65504.0, value - 65504.0]], np.float16)
        assert matmul(parts, np.ones((2, 1), np.float16), device=where, out="f16") == rounded


def test_a31_int8_with_n_of_6(where: Device) -> None:
    a, b = drawn("s8", (3, 5), 32), drawn("s8", (5, 6), 33)
    got = matmul(a, b, device=where)
    assert got.dtype == np.int32 and np.array_equal(got, a.astype(int) @ b.astype(int))


@pytest.mark.parametrize(("element", "target"), [("s8", 75), ("s8", 80), ("e5m2", 89)])
def test_bytes_along_m_and_n_are_multiplied_as_they_lie(
    where: Device, element: str, target: int
) -> None:
    """Every row and column is another: results land where they belong, at edges too."""
    m, n, k = 70, 133, 41
    a, b = drawn(element, (m, k), 50), drawn(element, (k, n), 51)
    got = matmul(turned(a, True), b, device=where, target=target)
    assert_right(got, a, b, "s32" if element == "s8" else "f32", element)


# ---------------------------------------------------------------- banks


def elements_and_layouts() -> list[tuple[str, bool, bool]]:
    return [(e, a, b) for e in ("f16", "tf32", "f64", "s8") for a in (False, True)
            for b in (False, True)]  # fmt: skip


@pytest.mark.parametrize(("element", "a_turned", "b_turned"), elements_and_layouts())
@pytest.mark.parametrize("line_bytes", [64, 128])
def test_reading_a_tile_has_no_bank_conflicts(
    element: str, a_turned: bool, b_turned: bool, line_bytes: int
) -> None:
    """As the emulator counts them; reading is the same in every step."""
    device = ptx.device("emulator")
    a, b = drawn(element, (128, 128), 40, True), drawn(element, (128, 128), 41, True)
    sums = {"s8": "s32", "f64": "f64"}.get(element, "f32")
    shape = blocking_for(element, element, sums, sums, 90, 128, 128)
    if element != "f64":
        shape = replace(shape, line_bytes=line_bytes)
    if element == "s8":
        shape = replace(shape, tile_m=128, tile_n=128)
    with launches(device, report=True) as reports:
        matmul(turned(a, a_turned), turned(b, b_turned), device=device, blocking=shape)
    report = reports[-1]
    reads = [row for row in report.rows if row.shared_requests]
    assert reads and all(row.ways == 1 for row in reads)
    report.assert_no_bank_conflicts()


@pytest.mark.parametrize("major", ["k", "mn"])
@pytest.mark.parametrize(("element", "bits"), [("f16", 16), ("tf32", 32), ("f64", 64), ("s8", 8)])
@pytest.mark.parametrize("line_bytes", [64, 128])
def test_tiles_are_bijections_written_without_conflicts(
    major: Any, element: str, bits: int, line_bytes: int
) -> None:
    """Every 16-byte chunk has a place of its own; what eight lanes copy falls into all banks."""
    if element == "f64" and line_bytes == 64:
        return
    sums = {"s8": "s32", "f64": "f64"}.get(element, "f32")
    rows = 128 if element == "s8" else 64
    lines = 2 if element == "f64" else 1
    copy = Copy(major)
    shape = Blocking(
        rows, rows, 2, 2, line_bytes, lines, 2, 1, a=element, b=element, sum=sums, out=sums,
        copy_a=copy, copy_b=copy, target=90,
    )  # fmt: skip
    chunks = []
    if major == "k":
        for row in range(rows):
            chunks += [
                shape.offset(copy, rows, row, byte) for byte in range(0, shape.step_bytes, 16)
            ]
    else:
        for depth in range(shape.tile_k):
            chunks += [
                shape.offset(copy, rows, row, depth * bits // 8)
                for row in range(0, rows, 128 // bits)
            ]
    assert sorted(chunks) == list(range(0, rows * shape.step_bytes, 16))
    for first in range(0, len(chunks), 8):
        assert len({at % 128 for at in chunks[first : first + 8]}) == 8


# ---------------------------------------------------------------- what cannot be

BASE = Blocking()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"line_bytes": 32}, "line_bytes is 32; expected 64 or 128"),
        ({"a": "f64", "b": "f64", "sum": "f64", "out": "f64", "tile_n": 64, "tile_m": 64},
         "a step of 8 elements along K is no multiple of 16, which one mma of .f64 takes"),
        ({"a": "f16", "b": "bf16"}, "mma multiplies no .f16 by .bf16"),
        ({"a": "bf16", "b": "bf16", "sum": "f16"}, "sums of .bf16 are f32, not 'f16'"),
        ({"out": "s32"}, "sums of .f32 are written as f32, f16, bf16"),
        ({"tile_m": 96}, "tile_m is 96 for 2 warps; each has a power of two, at least 16"),
        ({"tile_n": 256}, "256 sums of .f32 in each thread; too many registers"),
        ({"stages": 12}, "12 stages of 16384 bytes are 196608; a CTA on sm_80 has 166912"),
        ({"stages": 1}, "stages is 1; at least 2"),
        ({"lines": 2}, "2 lines of 64 bytes are written with bank conflicts; take lines of 128"),
        ({"target": 75}, "cp.async needs sm_80; the target is sm_75"),
        ({"a": "e4m3", "b": "e4m3"}, "mma of .e4m3 needs sm_89; the target is sm_80"),
        ({"copy_a": Copy("mn"), "a": "s4", "b": "s4", "sum": "s32", "out": "s32"},
         "elements of .s4 are packed along K; so lie their tiles"),
        ({"copy_a": Copy("mn"), "a": "s8", "b": "s8", "sum": "s32", "out": "s32", "tile_m": 64},
         "64 elements of .s8 are no whole lines of 128 bytes"),
        ({"scaled": True, "sum": "f16"}, "alpha and beta are for sums of f32, f64 and s32"),
        ({"op": "or"}, 'op is \'or\'; expected "xor" or "and"'),
    ],
)  # fmt: skip
def test_a_blocking_that_cannot_be_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        replace(BASE, **change)
    assert message in str(caught.value)


def test_a46_a_step_below_the_atom_of_mma_is_refused() -> None:
    """An odd number of atoms and less than one: told when the plan is made."""
    for element, sums, atom in (("bf16", "f32", 16), ("s8", "s32", 32)):
        with pytest.raises(ValueError, match=f"no multiple of {atom}, which one mma of .{element}"):
            Blocking(line_bytes=16, a=element, b=element, sum=sums, out=sums)
    with pytest.raises(ValueError, match="no multiple of 16, which one mma of .f64 takes"):
        Blocking(64, 64, 2, 2, 64, 1, 2, 1, a="f64", b="f64", sum="f64", out="f64")
    with pytest.raises(ValueError, match="a step has 1 atoms of 128 bytes"):
        Blocking(64, 64, 2, 2, 128, 1, 2, 1, a="f64", b="f64", sum="f64", out="f64")


def test_copies_are_as_wide_as_they_may_be() -> None:
    def width(address: int, pitch: int, depth: int, element: str, target: int = 80) -> Any:
        copy = copy_of(Matrix(address, 64, depth, pitch, 1, element), target)
        return copy.major, copy.bytes, copy.asynchronous

    assert width(256, 64, 60, "f16") == ("k", 16, True)
    assert width(256, 60, 60, "f16") == ("k", 8, True)
    assert width(256, 62, 62, "f16") == ("k", 4, True)
    assert width(256, 61, 61, "f16") == ("k", 2, False)
    assert width(258, 64, 64, "f16") == ("k", 2, False)
    assert width(256, 64, 64, "f16", 75) == ("k", 16, False)
    assert width(256, 64, 60, "f16", 75) == ("k", 8, False)
    assert width(256, 61, 61, "f64") == ("k", 8, True)
    assert width(256, 61, 61, "s8") == ("k", 1, False)
    assert copy_of(Matrix(256, 64, 32, 1, 64, "s8"), 80) == Copy("mn")
    scattered = copy_of(Matrix(256, 64, 32, 2, 128, "s8"), 80)
    assert (scattered.scattered, scattered.bytes, scattered.asynchronous) == (True, 1, False)
    with pytest.raises(ValueError, match="K of .s4 is a whole number of bytes, not 3"):
        copy_of(Matrix(256, 4, 3, 32, 1, "s4"), 80)


@pytest.mark.parametrize("size", [1000, 4096])
@pytest.mark.parametrize("target", TARGETS)
def test_the_tiles_of_every_gpu_fit_it(target: int, size: int) -> None:
    """Shared memory of a CTA, KiB: 64 of sm_75, 163 of sm_80, 99 of sm_86, sm_89 and sm_120, 227
    of sm_90. Where two are wanted they fit an SM, which has 1 KiB more from sm_80 on, where each
    takes 1 KiB for itself."""
    most = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227, 120: 99}[target] * 1024
    for element, sums in (("f16", "f32"), ("s8", "s32"), ("f64", "f64"), ("tf32", "f32")):
        if NEEDS.get(element, 75) > target:
            continue
        shape = blocking_for(element, element, sums, sums, target, size, size)
        assert replace(shape, linear=True).dynamic_bytes <= most
        assert shape.target == target
        own = 1024 if target >= 80 else 0
        assert shape.ctas_per_sm * (shape.dynamic_bytes + own) <= most + own


def test_packing_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="elements of .s4 are -8 to 7"):
        pack_int4([[8]])
    with pytest.raises(ValueError, match="elements of .u4 are 0 to 15"):
        pack_int4([[-1]], signed=False)
    with pytest.raises(TypeError, match="expected integers, got float64"):
        pack_bits([[0.5]])
    with pytest.raises(ValueError, match=r"expected \[rows, K\], got 1 dimensions"):
        pack_bits([1])
    packed = pack_int4([[1, -2, 3]])
    assert isinstance(packed, Packed)
    assert packed.data.shape == (1, 16) and list(packed.data[0, :3]) == [0xE1, 0x03, 0]
    assert OUT_BYTES["s32"] == 4


# ---------------------------------------------------------------- tails

EDGY = (72, 76, 104)
WHOLE = (128, 128, 96)


def policies() -> list[Any]:
    """All edges and prefetches; one in three in every run."""
    found = []
    for i, edge in enumerate(EDGES):
        for j, prefetch in enumerate(("auto", *PREFETCHES)):
            marks = [] if (i + j) % 3 == 0 else [pytest.mark.slow]
            found.append(pytest.param(edge, prefetch, marks=marks, id=f"{edge}-{prefetch}"))
    return found


@pytest.mark.parametrize(("edge", "prefetch"), policies())
def test_every_edge_and_prefetch(where: Device, edge: Any, prefetch: Any) -> None:
    """Each product of these is one of f16 by rows or of bytes along M, on mma or wmma."""
    number = (EDGES.index(edge) + ["auto", *PREFETCHES].index(prefetch)) % 4
    element, family = ("f16", "s8")[number % 2], FAMILIES[number // 2]
    m, n, k = WHOLE if edge == "exact" else EDGY
    a, b = drawn(element, (m, k), 60, small=True), drawn(element, (k, n), 61, small=True)
    if edge == "exact" and element == "s8":
        a, b = drawn(element, (m, 2 * k), 60), drawn(element, (2 * k, n), 61)
    got = matmul(
        turned(a, element == "s8"), b, device=where, family=family,
        tail=Tail(prefetch=prefetch, edge=edge),
    )  # fmt: skip
    assert np.array_equal(got.astype(np.float64), a.astype(np.float64) @ b.astype(np.float64))


def test_steps_that_are_never_fetched_are_never_read(where: Device) -> None:
    """As many K steps as are under way at once: the stage after the last one holds nothing."""
    for prefetch in ("branch", "predicated", "peeled"):
        a, b = drawn("f16", (128, 96), 62, small=True), drawn("f16", (96, 128), 63, small=True)
        got = matmul(a, b, device=where, out="f32", tail=Tail(prefetch=prefetch, edge="exact"))
        assert np.array_equal(got, a.astype("f4") @ b.astype("f4"))


@pytest.mark.parametrize(
    ("tail", "shape", "message"),
    [
        (Tail(schedule="ragged-first"), EDGY, "schedule is ragged-first; copies of these kernels"),
        (Tail(schedule="peeled-last"), EDGY, "schedule is peeled-last; copies of these kernels"),
        (Tail(edge="exact"), EDGY, "edge is exact, which takes whole tiles only"),
        (Tail(edge="exact"), (128, 128, 32), "and a K from 96 up; this is 128x128x32"),
        (Tail(edge="exact"), (128, 128, 104), "multiples of 64, 64 and 32"),
        (Tail(edge="zfill"), (72, 76, 3), "edge is zfill, which needs cp.async: sm_80, and pieces"),
        (Tail(width=16), (72, 76, 12), "width is 16, and a is copied by 8 bytes"),
        (Tail(width=4, edge="zfill"), (72, 75, 12), "width is 4, and b is copied by 2 bytes"),
    ],
)
def test_policies_that_cannot_be_say_why(tail: Tail, shape: Any, message: str) -> None:
    m, n, k = shape
    with pytest.raises(ValueError, match=message):
        matmul(np.zeros((m, k), np.float16), np.zeros((k, n), np.float16), device="emulator",
               tail=tail)  # fmt: skip


def test_a_width_is_that_of_the_copies() -> None:
    matrix = Matrix(256, 64, 64, 64, 1, "f16")
    for width in (16, 8, 4):
        assert copy_of(matrix, 80, Tail(width=width)).bytes == width  # type: ignore[arg-type]
    assert copy_of(matrix, 80, Tail(edge="predicated")) == Copy("k", 16, False)
    assert copy_of(replace(matrix, columns=60), 80, Tail(edge="branch")) == Copy("k", 8, False)
    along = Matrix(256, 60, 64, 1, 64, "f16")
    assert copy_of(along, 80) == Copy("mn", 16)
    assert copy_of(along, 80, Tail(edge="clamped")) == Copy("mn", 8)
