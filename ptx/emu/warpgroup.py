"""wgmma: matrix products of a warpgroup of 128 threads (PTX ISA 9.0, section 9.7.15).

The product is made when it is issued, so its inputs are those of that moment; until wait_group its
registers and tiles are in flight (:mod:`ptx.emu.products`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ptx import layouts
from ptx.emu import steps
from ptx.emu.access import vector_operands
from ptx.emu.faults import AccessError
from ptx.emu.memory import IN_FLIGHT, VALID, Array
from ptx.emu.products import UNIT, Registers
from ptx.emu.program import Decoded
from ptx.emu.semantics import tensor_core
from ptx.emu.sparse import Selection, gathered_rows
from ptx.emu.steps import Source, select
from ptx.emu.tensor import (
    Together,
    fragment_of,
    gathered,
    input_bits,
    matrix_of,
    sources,
)
from ptx.ir import Imm, Operand, Vector

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

WARPGROUP = 128


def maker(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    """The action of a wgmma instruction on whole warpgroups."""
    words = decoded.words
    products = chunk.products
    if "fence" in words:
        return _whole(chunk), products.fence
    if "commit_group" in words:
        return _whole(chunk), products.commit
    if "wait_group" in words:
        still = _flag(decoded.operands[0])
        return _whole(chunk), lambda who: products.wait(who, still)
    return _product(chunk, decoded)


def _whole(chunk: Chunk) -> Source:
    return np.broadcast_to(np.uint32(0xFFFFFFFF), chunk.count)


def _check(chunk: Chunk, who: Array) -> Array:
    """The threads by warpgroups, ``(warpgroups, 128)``."""
    group = chunk.cta_of[who] * 64 + chunk.thread[who] // WARPGROUP
    numbers, first, sizes = np.unique(group, return_index=True, return_counts=True)
    if (sizes != WARPGROUP).any():
        where = int(np.argmax(sizes != WARPGROUP))
        raise AccessError(
            "mask",
            f"{int(sizes[where])} threads of a warpgroup execute this together: it takes all 128",
            lane=int(who[first[where]]),
        )
    return who.reshape(len(numbers), WARPGROUP)


class _Tile:
    """A matrix operand in shared memory, by its descriptor."""

    def __init__(
        self, chunk: Chunk, decoded: Decoded, operand: Operand, extent: int, k: int, bits: int,
        k_major: bool,
    ) -> None:  # fmt: skip
        self.chunk = chunk
        self.value = steps.read(chunk, decoded, operand, "b64")
        self.extent, self.k, self.bits, self.k_major = extent, k, bits, k_major
        self.units: tuple[Array, Array] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
        """Of the last tile: the units of 16 bytes that it lies in, and for each who reads it."""

    def __call__(self, groups: Array) -> Array:
        """``(warpgroups, extent, k)`` elements as unsigned integers of their width."""
        chunk = self.chunk
        descriptors = select(self.value, groups.ravel()).reshape(groups.shape)
        if (descriptors != descriptors[:, :1]).any():
            raise AccessError(
                "descriptor",
                "the threads of a warpgroup give different descriptors",
                lane=int(groups[0, 0]),
            )
        owner, stride = chunk.cta_of[groups[:, 0]], chunk.shared_stride
        places = np.stack(
            [
                _places(int(bits), self.extent, self.k, self.bits, self.k_major)
                for bits in descriptors[:, 0]
            ]
        )
        size = self.bits // 8
        wrong = (places < 0) | (places + size > chunk.launch.shared_bytes)
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=(1, 2))))
            raise AccessError(
                "out-of-bounds",
                "the tile that a descriptor names reaches beyond the CTA's shared memory of "
                f"{chunk.launch.shared_bytes} bytes",
                lane=int(groups[row, 0]),
                address=int(places[wrong][0]),
            )
        offsets = places + owner[:, None, None] * chunk.shared_stride
        units = [
            _units(int(bits), self.extent, self.k, self.bits, self.k_major) + cta * stride
            for bits, cta in zip(descriptors[:, 0], owner, strict=True)
        ]
        readers = np.repeat(groups[:, 0], [len(one) for one in units])
        self.units = np.concatenate(units), readers
        self._check_states(offsets, size, groups)
        cells = chunk.shared.cells(size).take(offsets // size)
        return cells

    def _check_states(self, offsets: Array, size: int, groups: Array) -> None:
        shared = self.chunk.shared
        if shared.full:
            return
        states = shared.cells(size, states=True).take(offsets // size)
        filled = np.full(size, VALID, np.uint8).view(states.dtype)[0]
        bad = (states & filled) != filled
        if bad.any():
            row = int(np.argmax(bad.any(axis=(1, 2))))
            where = int(offsets[bad][0])
            flying = int(shared.state[where]) == IN_FLIGHT
            raise AccessError(
                "in-flight" if flying else "uninitialised",
                "wgmma reads shared memory "
                + ("that an asynchronous copy owns" if flying else "that was never written"),
                lane=int(groups[row, 0]),
                address=where % self.chunk.shared_stride,
                allocation="in shared memory",
            )


@lru_cache(maxsize=512)
def _places(descriptor: int, extent: int, k: int, bits: int, k_major: bool) -> Array:
    """The byte of shared memory of each element, ``(extent, k)``."""
    described = layouts.MatrixDescriptor.of(descriptor)
    mn, depth = np.arange(extent)[:, None], np.arange(k)[None, :]
    both = np.broadcast_arrays(mn, depth)
    return np.asarray(described.address(both[0], both[1], bits, k_major))  # type: ignore[arg-type]


@lru_cache(maxsize=512)
def _units(descriptor: int, extent: int, k: int, bits: int, k_major: bool) -> Array:
    """Where the units of 16 bytes begin that a tile lies in."""
    places = _places(descriptor, extent, k, bits, k_major)
    return np.unique(places // UNIT) * UNIT


def _flag(operand: Operand) -> int:
    assert isinstance(operand, Imm)
    return int(operand.value)


def _product(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    words = decoded.words
    shape = next(word for word in words.all if word.startswith("m64n"))
    _, n, k = layouts.shape_of(shape)
    d_type, a_type, b_type = words.types[:3]
    d, a, b, *rest = decoded.operands
    sparse = "sp" in words
    meta, selector = (rest.pop(0), rest.pop(0)) if sparse else (None, None)
    scale_d, *immediates = rest
    flags = [_flag(operand) for operand in immediates]
    sixteen = a_type in ("f16", "bf16")
    scale_a, scale_b = (flags[0], flags[1]) if len(flags) >= 2 else (1, 1)
    from_registers = isinstance(a, Vector)
    turned = flags[2:] if sixteen else []
    trans_b = bool(turned[-1]) if turned else False
    trans_a = bool(turned[0]) if len(turned) == 2 else False
    bits = input_bits(a_type, False)
    outs = [steps.target(chunk, decoded, operand, "b32") for operand in vector_operands(d)]
    kept = sources(chunk, decoded, d, "b32")
    keep = steps.read(chunk, decoded, scale_d, "pred")
    a_registers = sources(chunk, decoded, a, "b32") if from_registers else []
    # Bits lie in shared memory by bytes.
    cells, each = (k // 8, 8) if a_type == "b1" else (k, bits)
    a_cells = cells // 2 if sparse else cells
    a_tile = None if from_registers else _Tile(chunk, decoded, a, 64, a_cells, each, not trans_a)
    selection = None
    if meta is not None and selector is not None:
        selection = Selection(chunk, decoded, meta, selector, k, bits)
    b_tile = _Tile(chunk, decoded, b, n, cells, each, not trans_b)
    registers_used = Registers.of(chunk.program, decoded)
    tiles = [tile for tile in (a_tile, b_tile) if tile is not None]
    accumulator = layouts.wgmma_accumulator(n, 16 if d_type == "f16" else 32)
    a_fragment = layouts.wgmma_a(bits)

    def elements(cells: Array, type: str) -> Array:
        return tensor_core.elements(np.ascontiguousarray(cells), type)

    def action(who: Array) -> None:
        groups = _check(chunk, who)
        if a_tile is None:
            registers = gathered(a_registers, groups)
            left = matrix_of(a_fragment, tensor_core.elements(registers, a_type))
        else:
            left = elements(a_tile(groups), a_type)
        right = elements(b_tile(groups), b_type).swapaxes(1, 2)
        read, readers = (np.concatenate(p) for p in zip(*(t.units for t in tiles), strict=True))
        chunk.products.issue(who, registers_used, read, readers)
        held = gathered(kept, groups)
        if d_type == "f32":
            values = held.view(np.float32).astype(np.float64)
        elif d_type == "s32":
            values = held.view(np.int32).astype(np.int64)
        else:
            values = tensor_core.elements(held, d_type)
        before = matrix_of(accumulator, values)
        used = select(keep, groups.ravel()).reshape(groups.shape)[:, 0]
        before[~used] = 0
        left, right = left * scale_a, right * scale_b
        if selection is not None:
            columns = selection.columns(groups.reshape(-1, 32))
            right = gathered_rows(right, columns.reshape(len(groups), 64, -1))
        total = tensor_core.warpgroup_product(
            left, right, before, (a_type, b_type, d_type), "satfinite" in words
        )
        result = tensor_core.registers_of(fragment_of(accumulator, total), d_type)
        for number, out in enumerate(outs):
            out[groups] = result[:, :, number]

    return _whole(chunk), action
