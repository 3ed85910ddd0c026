"""The main job, shown: real products on the best device there is, checked, and what ran.

Two products, each with every form of the prefetch: a picture blurred by matrices, and random
matrices. Outputs are poisoned first and compared with float64 within a proven bound.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image
from tabulate import tabulate

import ptx
from ptx import sass
from ptxgemm import api
from ptxgemm.kernels.simt import sgemm
from ptxgemm.shape import SEED
from ptxgemm.tail import PREFETCHES

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel

Array = np.ndarray[Any, Any]

EMULATED = 256
"""M, N and K on the emulator: a second or so for each product."""
PICTURE, RANDOM = 1024, 4096
"""M, N and K on a GPU."""
SIGMA = 6.0
"""Standard deviation of the blur, in pixels of a picture of 256."""
REGISTERS, SPILLS = "registers", "bytes\nspilled"
INSTRUCTIONS = "instructions\nin main loop"
PREDICATED, BRANCHES = "predicated\nloads in it", "branches\nin it"
REPEATS = 10
"""Timed launches on a GPU; the median counts."""


@dataclass(frozen=True)
class Product:
    """A product to compute, what it should be, and how far from that float32 may be."""

    a: Array
    b: Array
    exact: Array
    bound: Array

    @classmethod
    def of(cls, a: Array, b: Array) -> Product:
        """The bound is (K + 4) * 2**-24 * (abs(a) @ abs(b)), element by element.

        It holds for any order of K fused multiply-adds (Higham, Accuracy and Stability of Numerical
        Algorithms, section 3.1).
        """
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        bound = (a.shape[1] + 4) * 2.0**-24 * (abs(a64) @ abs(b64))
        return cls(a, b, a64 @ b64, bound)

    @property
    def operations(self) -> int:
        return 2 * len(self.a) * self.b.size


@dataclass(frozen=True)
class Outcome:
    """A computed product: the result, its largest error in units of the bound, and the seconds."""

    result: Array
    error: float
    seconds: float

    @property
    def is_right(self) -> bool:
        return self.error <= 1  # and not NaN


def run(
    device: str = "auto", folder: Path = Path("demo"), say: Callable[[str], None] = print
) -> bool:
    """Do it all; whether every element of every product was within the bound."""
    where = ptx.device(device)
    folder.mkdir(parents=True, exist_ok=True)  # where it cannot be made, before anything runs
    picture = draw(PICTURE if where.is_cuda else EMULATED)
    across = gaussian(len(picture), SIGMA * len(picture) / 256)
    size = RANDOM if where.is_cuda else EMULATED
    say(
        f"device: {where.label}{f', {where.name}' if where.is_cuda else ''}\n"
        f"a picture of {len(picture)}x{len(picture)} and random matrices of {size}x{size}, "
        f"by {len(PREFETCHES)} forms of the kernel ..."
    )
    random = np.random.default_rng(0)
    first = Product.of(across, picture)
    noise = Product.of(*(random.standard_normal((size, size), np.float32) for _ in range(2)))

    rows, right = [], True
    for form in PREFETCHES:
        kernel = api.load(where, SEED, form, False, True)
        facts = machine_code(form, kernel)
        down = compute(kernel, first)
        both = compute(kernel, Product.of(down.result, np.ascontiguousarray(across.T)))
        plain = compute(kernel, noise)
        error = max(down.error, both.error)
        blur = Outcome(both.result, error, down.seconds + both.seconds)
        for name, outcome, operations in (
            (f"blur {len(picture)}x{len(picture)}", blur, 2 * first.operations),
            (f"random {size}x{size}x{size}", plain, noise.operations),
        ):
            right = right and outcome.is_right
            rows.append(row(name, form, where, outcome, operations, facts))
    path = save(folder, picture, blur.result)
    say(tabulate(rows, headers="keys", disable_numparse=True))
    say(f"picture before and after: {path}")
    for note in facts.notes:
        say(note)
    say("every element within (K + 4) * 2**-24 * (|A| @ |B|)" if right else "WRONG: see error")
    return right


def row(
    name: str, form: str, where: Device, outcome: Outcome, operations: int, facts: Facts
) -> dict[str, str]:
    speed = f"{operations / outcome.seconds / 1e12:.1f}" if where.is_cuda else "-"
    return {
        "product": name,
        "form": form,
        "device": where.label,
        "time": duration(outcome.seconds),
        "error /\nbound": f"{outcome.error:.3f}" + ("" if outcome.is_right else " WRONG"),
        **facts.columns,
        "TFLOP/s": speed,
    }


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1e6:.1f} us"


# ---------------------------------------------------------------- matrices


def draw(size: int) -> Array:
    """A picture of [size, size] from 0 to 1: rings, a chessboard, a slope."""
    y, x = np.mgrid[0:size, 0:size] / size
    rings = 0.5 + 0.5 * np.cos(60 * np.hypot(x - 0.3, y - 0.3))
    board = (np.floor(16 * x) + np.floor(16 * y)) % 2
    picture = np.where(np.hypot(x - 0.3, y - 0.3) < 0.28, rings, 0.3 + 0.5 * x)
    picture = np.where((x > 0.5) & (y > 0.5), board, picture)
    return np.asarray(picture, np.float32)


def gaussian(size: int, sigma: float) -> Array:
    """The matrix [size, size] whose product with a picture blurs its columns; rows sum to 1.

    It is cut off at four standard deviations.
    """
    index = np.arange(size)
    distance = (index[:, None] - index) / sigma
    weights = np.where(abs(distance) <= 4, np.exp(-0.5 * distance**2), 0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


def save(folder: Path, before: Array, after: Array) -> Path:
    """Both pictures side by side, as a PNG; its path."""
    path = (folder / "blur.png").resolve()
    both = np.nan_to_num(np.hstack([before, after]))
    Image.fromarray((np.clip(both, 0, 1) * 255).round().astype(np.uint8)).save(path)
    return path


# ---------------------------------------------------------------- running and inspecting


def compute(kernel: LoadedKernel, product: Product) -> Outcome:
    """Run the kernel, into an output full of NaN at first, and compare."""
    where = kernel.device
    a, b = where.array(product.a), where.array(product.b)
    c = where.empty(product.exact.shape, np.float32, poison=True)

    def launch() -> None:
        api.launch(kernel, SEED, a, b, c)

    start = time.perf_counter()
    launch()
    where.synchronize()
    seconds = time.perf_counter() - start
    result = c.numpy()
    least = np.finfo(np.float64).tiny
    error = float(np.max(abs(result - product.exact) / np.maximum(product.bound, least)))
    if where.is_cuda:
        seconds = statistics.median(timed(where, launch) for _ in range(REPEATS))
    return Outcome(result, error, seconds)


def timed(where: Device, launch: Callable[[], None]) -> float:
    """Seconds that one launch takes on a GPU, by events around it."""
    start, end = where.event(), where.event()
    start.record()
    launch()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


@dataclass(frozen=True)
class Facts:
    """What ptxas made of a kernel, as the table shows it."""

    columns: dict[str, str]
    notes: tuple[str, ...]


def machine_code(form: str, kernel: LoadedKernel) -> Facts:
    """Registers, spills and the main loop; dashes with the reason where a tool is missing."""
    columns = dict.fromkeys((REGISTERS, SPILLS, INSTRUCTIONS, PREDICATED, BRANCHES), "-")
    notes = []
    try:
        cubin = kernel.loaded.cubin or ptx.assemble(
            ptx.Module(sgemm(prefetch=form, beta_zero=True)), "sm_90"
        )
        columns[REGISTERS] = str(cubin.registers)
        columns[SPILLS] = str(cubin.spill_stores)
        notes.append(f"machine code: {cubin.target}, by ptxas {cubin.version}")
        loop = sass.disassemble(cubin).loop("main")
        columns[INSTRUCTIONS] = str(len(loop.instructions))
        columns[PREDICATED] = str(loop.count("LDG", predicated=True))
        columns[BRANCHES] = str(loop.count("BRA"))
    except ptx.PtxError as error:
        notes.append(f"-: not known, as {error}")
    return Facts(columns, tuple(notes))
