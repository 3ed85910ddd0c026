"""Products on mma.sync whose stages are filled by tensor copies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ptx
from ptx import sass
from ptx.devices import Device
from ptxgemm.blocking import OUTS, SUMS, Blocking, Copy
from ptxgemm.kernels import fed
from ptxgemm.loading import loaded
from ptxgemm.tail import Tail
from ptxgemm.warp_gemm import DTYPES, FED, Matrix, fed_for, fitted, tensor_maps
from tests.gemm.emulated import launches

SMALL = {"tile_m": 64, "tile_n": 128}
"""Tiles for the emulator, of the same number of warps."""


@pytest.fixture(params=["emulator", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Device:
    return ptx.device(request.param)


def tiles(element: str, **options: Any) -> Blocking:
    shape = FED[element][-1]
    return replace(shape, a=element, b=element, out=shape.sum, **options)


def check(
    device: Device, shape: Blocking, out: str, size: tuple[int, int, int], turned: str,
    scale: tuple[float, float] = (1.0, 0.0), ctas: int = 1,
) -> None:  # fmt: skip
    """All tiles by so many CTAs, lines 16 bytes longer than their elements; what lies between them
    is NaN, or -1, and stays so."""
    m, n, k = size
    element, random = shape.a, np.random.default_rng(7)

    def placed(values: Any, name: str, by_columns: bool) -> tuple[Any, Any, Matrix]:
        lines = values.T if by_columns else values
        gap = 16 // lines.itemsize
        host = np.frombuffer(
            b"\xff" * (lines.shape[0] * (lines.shape[1] + gap) * lines.itemsize), lines.dtype
        ).copy()
        host = host.reshape(lines.shape[0], -1)
        host[:, : lines.shape[1]] = lines
        array = device.array(host)
        strides = (1, host.shape[1]) if by_columns else (host.shape[1], 1)
        return host, array, Matrix(array.pointer, *values.shape, *strides, name)

    a, b = (random.integers(-4, 5, s).astype(DTYPES[element]) for s in ((m, k), (k, n)))
    start = random.integers(-9, 10, (m, n)).astype(DTYPES[out])
    _, a_kept, a_lies = placed(a, element, turned[0] == "T")
    _, b_kept, b_lies = placed(b, element, turned[1] == "T")
    host, array, d = placed(start, out, False)
    alpha, beta = scale
    scaled = scale != (1.0, 0.0)
    made, arguments = fitted(d, a_lies, b_lies, d if scaled else None, blocking=shape, target=90)
    arguments |= {"d": d.address} | tensor_maps(device, made, a_lies, b_lies)
    if scaled:
        arguments |= {"c": d.address, "alpha": alpha, "beta": beta}
    loaded(device, fed.gemm, made).prepare(
        ctas, made.threads, arguments, shared=made.dynamic_bytes
    )()
    exact = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * start.astype(np.float64)
    host[:, :n] = exact.astype(DTYPES[out])
    assert array.numpy().tobytes() == host.tobytes()
    assert a_kept is not None and b_kept is not None


@pytest.mark.parametrize(
    ("element", "turned"),
    [("f16", "NN"), ("f16", "TT"), ("f64", "NT"), ("f64", "TN")],
)
def test_every_layout_and_tails(where: Device, element: str, turned: str) -> None:
    """One CTA goes through all tiles, the last ones and the last K step partly outside."""
    shape = tiles("f64", tile_m=48) if element == "f64" else tiles(element, **SMALL)
    size = (50, 32, 42) if element == "f64" else (72, 136, 72)
    check(where, shape, element, size, turned)


@pytest.mark.parametrize("n", [36, 40])
def test_two_or_eight_elements_are_stored_together(where: Device, n: int) -> None:
    """Eight where rows of D are whole units of 16 bytes, and warps have 32 columns."""
    check(where, tiles("bf16", **SMALL), "bf16", (72, n, 24), "NT", ctas=2)
    check(where, tiles("bf16", tile_m=64, tile_n=64), "bf16", (8, n, 24), "NT")


@pytest.mark.parametrize(("element", "out"), [("s8", "s32"), ("tf32", "f32")])
def test_other_elements_along_k(where: Device, element: str, out: str) -> None:
    check(where, tiles(element, **SMALL), out, (65, 130, 144), "NT")


def test_alpha_and_beta(where: Device) -> None:
    check(where, tiles("f16", **SMALL), "f32", (65, 72, 24), "NN", (2.0, -1.0))
    check(where, tiles("f64", tile_m=48), "f64", (34, 20, 18), "TN", (2.0, -1.0))


def test_k_of_one_step_and_of_many(where: Device) -> None:
    """The ring comes round, and is left and entered between tiles at any stage."""
    check(where, tiles("f64", tile_m=16), "f64", (17, 16, 32 * 5), "NN")


# ---------------------------------------------------------------- choice


def square(element: str, n: int = 4096, pitch: int = 0, at: int = 256) -> Matrix:
    return Matrix(at, n, n, n if pitch == 0 else pitch, 1, element)


@pytest.mark.parametrize(
    ("element", "options", "turned", "taken"),
    [
        ("f16", {}, "NN", True), ("bf16", {}, "TN", True), ("f64", {}, "TT", True),
        ("tf32", {}, "NT", True), ("s8", {}, "NT", True), ("u8", {}, "NT", True),
        ("tf32", {}, "NN", False), ("s8", {}, "TT", False), ("s4", {}, "NT", False),
        ("f16", {"n": 512}, "NN", False), ("f16", {"pitch": 4097}, "NN", False),
        ("f16", {"at": 258}, "NN", False), ("f64", {"pitch": 8}, "NN", False),
    ],
)  # fmt: skip
def test_large_aligned_products_are_fed(
    element: str, options: dict[str, int], turned: str, taken: bool
) -> None:
    a, b = square(element, **options), square(element, a_n := options.get("n", 4096))
    a, b = (one.transposed if way == "T" else one for one, way in zip((a, b), turned, strict=True))
    d = square(OUTS[SUMS[element][0]][0], a_n)
    found = fed_for(132, d, a, b)
    assert (found is not None) == taken
    assert found is None or (found.fed and found.a == element)
    assert fed_for(132, d, a, b, "f16") is None
    assert fed_for(132, d, replace(a, columns=0), replace(b, rows=0)) is None


@pytest.mark.parametrize(("n", "rows"), [(2048, 128), (4096, 112), (8192, 112), (3072, 128)])
def test_tiles_of_f64_follow_the_rounds_of_the_gpu(n: int, rows: int) -> None:
    """Of 132 SMs: 2, 9, 36 and 5 rounds."""
    x = square("f64", n)
    found = fed_for(132, x, x, x)
    assert found is not None
    assert found.tile_m == rows


def test_what_cannot_be_fed_is_refused() -> None:
    shape = tiles("f16")
    for changed, message in (
        ({"copy_a": Copy(bytes=8)}, "whole 16 bytes"), ({"line_bytes": 64}, "lines of 128"),
        ({"tail": Tail(edge="zfill")}, "no tail but their own"),
        ({"target": 80, "stages": 2}, "on sm_90"),
        ({"warps_m": 4}, "16 warps of 1 CTAs"), ({"batched": True}, "single products"),
        ({"a": "s8", "b": "s8", "sum": "s32", "out": "s32", "copy_b": Copy("mn")}, "along K alone"),
        ({"tile_n": 192}, "a power of two"), ({"tile_m": 112}, "a power of two"),
        ({"tile_m": 32, "tile_n": 512, "stages": 2}, "at most 256"),
        ({"tile_m": 32, "copy_a": Copy("mn")}, "whole lines of 128"),
        ({"out": "f32", "eights": True}, "eight elements of 16 bits"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            replace(shape, **changed)


# ---------------------------------------------------------------- banks and machine code


@pytest.mark.parametrize(("element", "turned"), [("f64", "NN"), ("f64", "TT"), ("f16", "NT")])
def test_neither_reading_nor_writing_has_bank_conflicts(element: str, turned: str) -> None:
    device = ptx.device("emulator")
    with launches(device, report=True) as reports:
        check(device, tiles(element), "f32" if element == "f16" else "f64", (64, 32, 32), turned)
    report = reports[-1]
    reads = [row for row in report.rows if row.shared_requests]
    assert reads and all(row.ways == 1 for row in reads)
    report.assert_no_bank_conflicts()


@pytest.mark.parametrize(
    ("element", "major", "opcode", "count", "loads"),
    [
        ("f16", "mn", "HMMA.16816", 128, 32), ("f64", "mn", "DMMA.16x8x16", 28, 128),
        pytest.param("tf32", "k", "HMMA.1688", 128, 32, marks=pytest.mark.slow),
        pytest.param("s8", "k", "IMMA.16832", 128, 32, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_the_loop_is_products_and_reads(
    element: str, major: Any, opcode: str, count: int, loads: int
) -> None:
    """No barrier, no copy, no address of one; all else hides in the time of the products, which a
    quarter of an SM starts every 6 (f64: 64) clocks, by the control codes."""
    shape = tiles(element, copy_b=Copy(major), exact=True)
    made = sass.disassemble(ptx.assemble(ptx.Module(fed.gemm(shape)), "sm_90a"))
    loop = made.loop("main")
    assert (made.cubin.spill_stores, made.cubin.spill_loads) == (0, 0)
    assert loop.count(opcode) == count
    assert loop.count("LDS.64" if element == "f64" else "LDSM") == loads
    assert not any(loop.has(name) for name in ("BAR", "LDGSTS", "UTMALDG", "LDL", "STL"))
    stalls = sum(one.control.stall for one in loop.instructions)
    assert stalls <= (64 if element == "f64" else 6.5) * count
