"""Launches before a product on Hopper's tensor cores: copies that tensor copies and wgmma can read.

A matrix of any pitch and base gets rows of whole cache lines, and one that lies the wrong way for
its type is transposed.

A launch of its own, which goes at the card's speed of copying (35 of 241 us at 4097³ in bf16, on an
H200), is the fastest that was found. Copied by the product's kernel itself, ahead of need, by the
three warps of its loading warpgroup that have nothing else to do, 4097³ takes 284 to 391 us, and
245 to 308 where nobody waits for a copy: they keep too little in flight, and compete with tensor
copies for the L2 cache. To shift each tile on its way into shared memory would move every element
as often as tiles use it, where this moves it once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx.devices import Array, Device
from ptxgemm.kernels import pad as padding
from ptxgemm.kernels import turn as turning
from ptxgemm.loading import loaded
from ptxgemm.tiling import LINE_BYTES

if TYPE_CHECKING:
    from ptxgemm.hopper import Matrix

COUNTERS = 512
"""Counters that are made at once."""


class Rooms:
    """Workspace of all products on one stream of a device, which run one after another: as much as
    the largest so far takes, rounded up to a power of two. Who launches one of them holds the lock,
    so that no other thread's comes between the copies and the product.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.lock = Lock()
        self._held: dict[int, Array] = {}
        self._zeros: Array | None = None

    def __call__(self, number: int, shape: tuple[int, int]) -> Array:
        """The `number`-th of a product, of `shape` bytes. It lives as long as it is held, whatever
        else comes to be in its place.
        """
        nbytes = math.prod(shape)
        held = self._held.get(number)
        if held is None or held.nbytes < nbytes:
            made = self.device.empty((1 << (nbytes - 1).bit_length(),), np.uint8)
            held = self._held[number] = made
        return held[:nbytes].reshape(*shape)

    def zeros(self, count: int) -> Array:
        """Counters, which every product leaves at 0."""
        if self._zeros is None or self._zeros.shape[0] < count:
            self._zeros = self.device.array(np.zeros(max(count, COUNTERS), np.uint32))
        return self._zeros


@cache
def rooms_of(device: Device, stream: int) -> Rooms:
    """Those of a stream, by the driver's handle."""
    return Rooms(device)


@dataclass
class Prepasses:
    """What is launched before one product."""

    device: Device
    stream: Any = None
    rooms: Rooms | None = None
    """Where workspace is taken from; else it is the product's own."""
    launches: list[Callable[[], None]] = field(default_factory=list)
    workspace: list[Array] = field(default_factory=list)
    counters: Array | None = None
    """Where the parts of tiles count themselves, if they meet."""

    def meeting(self, workspace_bytes: int, counters: int) -> dict[str, int]:
        """For parts of tiles to meet, as arguments of the product itself."""
        shape = 1, workspace_bytes
        if self.rooms is None:
            workspace = self.device.empty(shape, np.uint8)
            zeros = self.device.array(np.zeros(counters, np.uint32))
        else:
            workspace = self.rooms(len(self.workspace), shape)
            zeros = self.rooms.zeros(counters)
        self.workspace += workspace, zeros
        self.counters = zeros
        return {"workspace": workspace.pointer, "counters": zeros.pointer}

    def _room(self, rows: int, row_bytes: int) -> tuple[Array, int]:
        """Rows of whole cache lines, and their pitch in bytes: at any other multiple of 16 bytes
        each line of a tile touches two of them, which costs up to a third more time (measured on an
        H200).
        """
        pitch = -(-row_bytes // LINE_BYTES) * LINE_BYTES
        shape = rows, pitch
        if self.rooms is None:
            room = self.device.empty(shape, np.uint8)
        else:
            room = self.rooms(len(self.workspace), shape)
        self.workspace.append(room)
        return room, pitch

    def turn(self, matrix: Matrix) -> Matrix:
        """Have a matrix copied to lines in the other direction."""
        count, length, pitch = matrix.lines
        room, pitch_bytes = self._room(length, count * matrix.bytes)
        args = {
            "source": matrix.address, "target": room.pointer, "lines": count, "length": length,
            "pitch": pitch * matrix.bytes, "target_pitch": pitch_bytes,
        }  # fmt: skip
        kernel = loaded(self.device, turning.turn, matrix.bytes)
        grid = turning.grid(count, length, matrix.bytes)
        self.launches.append(kernel.prepare(grid, turning.THREADS, args, stream=self.stream))
        other = "rows" if matrix.along == "columns" else "columns"
        return _placed(matrix, room, pitch_bytes, other)

    def pad(self, odd: list[Matrix]) -> list[Matrix]:
        """Have one or two matrices of one type copied by one launch."""
        padded: list[Matrix] = []
        args: dict[str, Any] = {}
        ctas = []
        for number, matrix in enumerate(odd):
            count, length, pitch = matrix.lines
            units = -(-length * matrix.bytes // padding.UNIT)
            room, pitch_bytes = self._room(count, length * matrix.bytes)
            padded.append(_placed(matrix, room, pitch_bytes, matrix.along))
            ctas.append(-(-count * units // padding.UNITS_PER_CTA))
            args |= {
                f"source_{number}": matrix.address, f"target_{number}": room.pointer,
                f"rows_{number}": count, f"row_bytes_{number}": length * matrix.bytes,
                f"pitch_{number}": pitch * matrix.bytes, f"target_pitch_{number}": pitch_bytes,
                f"units_{number}": units,
            }  # fmt: skip
        if len(odd) == 1:
            args |= {name[:-1] + "1": value for name, value in args.items()}
        args["ctas_0"] = ctas[0]
        kernel = loaded(self.device, padding.pad, odd[0].bytes)
        self.launches.append(kernel.prepare(sum(ctas), padding.THREADS, args, stream=self.stream))
        return padded


def _placed(matrix: Matrix, room: Array, pitch_bytes: int, along: str) -> Matrix:
    pitch = pitch_bytes // matrix.bytes
    row, column = (pitch, 1) if along == "columns" else (1, pitch)
    return replace(matrix, address=room.pointer, row_stride=row, column_stride=column)
