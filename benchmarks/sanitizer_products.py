"""Small products of the shipped kernels, for compute-sanitizer: no finding is expected.

Aligned and odd sizes in every type, and the ways that data take: tensor copies and units, copies
before the product, clusters that share loads or sums, stores by lines and by units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

import ptx
import ptxgemm
from benchmarks import hopper_check
from benchmarks.hopper_check import Product
from ptxgemm import packing, warp_gemm
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import Tiling, by_registers

WIDE, PAIR = Tiling(128, 256, 4), Tiling(256, 128, 4, 2, 4)
PING_PONG = Tiling(128, 128, 6, 1, 8, alternate=True)
SLIM = Tiling(128, 64, 8)
SQUARE = Tiling(128, 64, 8, 2, 8, cluster_n=2)

NT, TN, NN = (False, True, False), (True, False, False), (False, False, False)
SHIFTED: Mapping[str, Any] = {"gaps": (1, 1, 1), "bases": (1, 1, 1)}
"""Pitches and bases that tensor copies do not take."""

HOPPER: Mapping[str, Product] = {
    "bf16 NN": Product(264, 520, 200, "bf16", "bf16", "bf16", tiling=WIDE),
    "bf16 NT cluster": Product(520, 264, 200, "bf16", "bf16", "f32", NT, tiling=PAIR),
    "bf16 TN cluster of 2 x 2": Product(
        264, 136, 136, "bf16", "bf16", "bf16", TN, tiling=SQUARE
    ),
    "bf16 NN odd": Product(129, 257, 65, "bf16", "bf16", "bf16", **SHIFTED, tiling=PING_PONG),
    "bf16 beta": Product(
        130, 72, 96, "bf16", "bf16", "bf16", NT, alpha=-2.0, beta=1.5, tiling=SLIM
    ),
    "bf16 NN odd, in parts": Product(
        129, 129, 261, "bf16", "bf16", "bf16", **SHIFTED, tiling=replace(PING_PONG, parts=3)
    ),
    "bf16 NT in parts": Product(
        136, 264, 136, "bf16", "bf16", "f32", NT, tiling=replace(WIDE, parts=2)
    ),
    "f16 TN": Product(264, 264, 136, "f16", "f16", "f16", TN, tiling=PING_PONG),
    "f16 odd C": Product(130, 65, 72, "f16", "f16", "f16", NT, tiling=SLIM),
    "f16 half sums": Product(
        130, 72, 96, "f16", "f16", "f16", NT, accumulate="half", tiling=SLIM
    ),
    "tf32 NT": Product(136, 72, 100, "tf32", "tf32", "f32", NT, tiling=SLIM),
    "tf32 NN turned": Product(136, 136, 36, "tf32", "tf32", "f32", NN, tiling=PING_PONG),
    "tf32 NN by registers": Product(
        136, 136, 36, "tf32", "tf32", "f32", NN, tiling=by_registers(128, 6, 8)
    ),
    "tf32 NN by registers, 256 rows": Product(
        264, 136, 100, "tf32", "tf32", "f32", NN, tiling=by_registers(256, 4, 8)
    ),
    "tf32 NN by registers, odd": Product(
        67, 131, 73, "tf32", "tf32", "f32", NN, **SHIFTED, alpha=0.5, beta=2.0,
        tiling=by_registers(64, 9, 16),
    ),
    "tf32 NT odd": Product(67, 71, 73, "tf32", "tf32", "f32", NT, **SHIFTED, tiling=SLIM),
    "e4m3 NT": Product(144, 80, 272, "e4m3", "e4m3", "bf16", NT, tiling=SLIM),
    "e4m3 NT promoted": Product(
        144, 80, 272, "e4m3", "e4m3", "bf16", NT, accumulate="promoted", tiling=SLIM
    ),
    "e4m3 NT promoted, 192 columns": Product(
        144, 208, 272, "e4m3", "e4m3", "bf16", NT, accumulate="promoted", tiling=Tiling(128, 192)
    ),
    "e5m2 e4m3 NN turned odd": Product(
        67, 71, 141, "e5m2", "e4m3", "f32", NN, **SHIFTED, tiling=PING_PONG
    ),
    "s8 NT": Product(144, 80, 272, "s8", "s8", "s32", NT, tiling=SLIM),
    "u8 s8 TN turned odd": Product(67, 71, 141, "u8", "s8", "s32", TN, **SHIFTED, tiling=SLIM),
    "narrow": Product(200, 8, 264, "bf16", "bf16", "bf16", NT, tiling=Narrow(64, 8, 6)),
    "narrow parts": Product(
        200, 16, 520, "bf16", "bf16", "bf16", NT, tiling=Narrow(64, 16, 4, parts=4)
    ),
    "narrow parts and peers": Product(
        392, 24, 520, "f16", "f16", "f16", TN, tiling=Narrow(128, 32, 3, 2, parts=2, peers=2)
    ),
    "narrow, 160 columns": Product(
        200, 152, 264, "bf16", "bf16", "bf16", NT, tiling=Narrow(64, 160, 3, parts=2, peers=2)
    ),
    "narrow by units": Product(
        201, 16, 263, "bf16", "bf16", "bf16", NT, **SHIFTED, tiling=Narrow(64, 16, 4, parts=2)
    ),
    "narrow by units, MN": Product(
        201, 16, 131, "f16", "f16", "f32", TN, **SHIFTED, tiling=Narrow(64, 16, 4, peers=2)
    ),
}  # fmt: skip

WARP_TYPES: Mapping[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f64": np.float64,
    "s8": np.int8, "e4m3": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
ALIGNED, ODD = (72, 48, 40), (33, 71, 53)


@dataclass(frozen=True)
class Sample:
    """A product; what compute-sanitizer is asked of it."""

    name: str
    multiply: Callable[[str], str]
    """On a device; what is wrong with the result, or ""."""
    kind: str = "product"

    def sent(self, version: str) -> bool:
        return True

    def alone(self, version: str) -> bool:
        return True

    def run(self, device: str, version: str) -> None:
        """Raises :class:`ValueError` where the result is not right."""
        if wrong := self.multiply(device):
            raise ValueError(wrong)

    def lines(self) -> set[int]:
        return set()


def samples() -> tuple[Sample, ...]:
    """All of them: Hopper's, then those of ``mma`` and ``wmma``, then float32's."""
    made = [Sample(f"wgmma {name}", partial(_hopper, one)) for name, one in HOPPER.items()]
    for element in WARP_TYPES:
        made += (
            Sample(f"mma {element}", partial(_warps, element, ALIGNED)),
            Sample(f"mma {element} odd", partial(_warps, element, ODD)),
        )
    for element in ("f16", "f64"):
        tiles = warp_gemm.FED[element][-1]
        made += (Sample(f"mma {element} fed", partial(_warps, element, ALIGNED, blocking=tiles)),)
    made += (
        Sample("wmma f16 odd", partial(_warps, "f16", ODD, family="wmma")),
        Sample("mma 4-bit integers", _integers_of_4_bits),
        Sample("SGEMM", partial(_floats, (128, 128, 24), ptxgemm.sgemm)),
        Sample("SGEMM odd", partial(_floats, (131, 67, 29), ptxgemm.matmul)),
    )
    return tuple(made)


def _hopper(product: Product, device: str) -> str:
    return hopper_check.check(ptx.device(device), product)


def _warps(element: str, size: tuple[int, int, int], device: str, **options: Any) -> str:
    m, n, k = size
    dtype = WARP_TYPES[element]
    a, b = _whole((m, k), 1).astype(dtype), np.asfortranarray(_whole((k, n), 2).astype(dtype))
    return _compared(warp_gemm.matmul(a, b, device=device, **options), a, b)


def _integers_of_4_bits(device: str) -> str:
    a, b = _whole((37, 71), 3), _whole((71, 29), 4)
    packed = packing.pack_int4(a.astype(np.int64)), packing.pack_int4(b.T.astype(np.int64))
    return _compared(warp_gemm.matmul(*packed, device=device), a, b)


def _floats(size: tuple[int, int, int], multiply: Callable[..., Any], device: str) -> str:
    m, n, k = size
    a, b = _whole((m, k), 5).astype(np.float32), _whole((k, n), 6).astype(np.float32)
    return _compared(multiply(a, b, device=device), a, b)


def _whole(shape: tuple[int, int], seed: int) -> Any:
    """Small whole numbers, whose sums are exact in every type."""
    return np.random.default_rng(seed).integers(-3, 4, shape)


def _compared(got: Any, a: Any, b: Any) -> str:
    exact = a.astype(np.float64) @ b.astype(np.float64)
    wrong = int((got.astype(np.float64) != exact.astype(got.dtype).astype(np.float64)).sum())
    return f"{wrong} of {exact.size} wrong" if wrong else ""
