"""Memory of the emulator: bytes, which of them hold a value, and the checks of every access.

One flat address space of 64 bits. Global allocations lie from 0x7f00_0000_0000 upward, apart, and
their addresses are never used twice, so that a stale or overrun pointer never hits another one.
Shared, local and parameter memory are windows below, as generic addressing sees them; in their own
spaces their addresses start at 0.

Beside each byte stands a state: 0 never written, 1 holds a value, 2 on its way by an asynchronous
copy, 4 part of an mbarrier, 5 holds a value that an asynchronous copy still reads.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptx.emu.faults import AccessError

Array = NDArray[Any]

PARAM_WINDOW = 0x7C00_0000_0000
LOCAL_WINDOW = 0x7D00_0000_0000
SHARED_WINDOW = 0x7E00_0000_0000
GLOBAL_BASE = 0x7F00_0000_0000
WINDOW_BYTES = 1 << 32
"""Of each window; a CTA of a cluster has its shared memory at rank << RANK_SHIFT in it."""
RANK_SHIFT = 24
GUARD_BYTES = 1 << 32
"""At least so much lies unused after each global allocation: an offset of 32 bits that leaves one,
to either side, reaches no other.
"""
FREES_KEPT = 1024
"""So many freed allocations are told apart."""

EMPTY, VALID, IN_FLIGHT, OBJECT, LENT = 0, 1, 2, 4, 5
"""States: readable ones have bit 0, what must not be stored to has one of the others."""
_BUSY = (IN_FLIGHT | LENT) & ~VALID
_UNSIGNED: dict[int, type] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Region:
    """A stretch of bytes with the state of each.

    ``data`` and ``state`` are padded to whole 32 bytes, so that they can be seen as wider elements.
    """

    def __init__(self, base: int, size: int, name: str, *, read_only: bool = False) -> None:
        self.base = base
        self.size = size
        self.name = name
        self.read_only = read_only
        self.freed = False
        padded = -(-size // 32) * 32
        self.data: Array = np.zeros(padded, np.uint8)
        self.state: Array = np.zeros(padded, np.uint8)
        self.full = False
        """Every byte holds a value: no load needs to look. False where that is not known."""
        self._unseen = 0
        self._views: dict[tuple[int, bool], Array] = {}

    def __str__(self) -> str:
        freed = ", freed" if self.freed else ""
        return f"{self.name} of {self.size} bytes at {self.base:#x}{freed}"

    def cells(self, nbytes: int, states: bool = False) -> Array:
        """Bytes or states as cells of `nbytes`, so that one index moves a whole vector."""
        key = (nbytes, states)
        if key not in self._views:
            source = self.state if states else self.data
            self._views[key] = source.view(_UNSIGNED.get(nbytes, f"V{nbytes}"))
        return self._views[key]

    def became_full(self, touched: int) -> bool:
        """Look whether every byte holds a value, once as many bytes were loaded as it has."""
        self._unseen += touched
        if self._unseen < self.size:
            return False
        self._unseen = 0
        self.full = bool((self.state[: self.size] == VALID).all())
        return self.full

    def load(self, at: Array, nbytes: int) -> Array:
        """Cells of `nbytes` at byte offsets `at` that are in bounds and aligned.

        Raises :class:`AccessError` with a position where a byte holds no value.
        """
        index = at >> (nbytes.bit_length() - 1)
        if not self.full and not self.became_full(len(at) * nbytes):
            states = self.cells(nbytes, states=True).take(index)
            part = min(nbytes, 8)
            seen: Array = states.view(_UNSIGNED[part])
            valid = _FILLED[part][VALID]
            if (seen != valid).any() and ((seen & valid) != valid).any():
                self._refuse(at, nbytes)
        return self.cells(nbytes).take(index)

    def store(self, at: Array, nbytes: int, cells: Array) -> None:
        """Write cells to byte offsets that are in bounds and aligned."""
        index = at >> (nbytes.bit_length() - 1)
        if not self.full:
            states = self.cells(nbytes, states=True)
            part = min(nbytes, 8)
            if (states.take(index).view(_UNSIGNED[part]) & _FILLED[part][_BUSY]).any():
                self._refuse(at, nbytes, storing=True)
            states[index] = _FILLED[nbytes][VALID]
        self.cells(nbytes)[index] = cells

    def clear(self) -> None:
        """As it was before anything was written."""
        self.state[:] = EMPTY
        self.full = False
        self._unseen = 0

    def mark(self, at: int, nbytes: int, state: int) -> None:
        self.state[at : at + nbytes] = state
        if state != VALID:
            self.full = False

    def _refuse(self, at: Array, bytes_each: int, storing: bool = False) -> None:
        states = self.state[at[:, None] + np.arange(bytes_each)]
        refuse_objects(states, self.base + at, "written" if storing else "read", f"in {self}")
        flying = ((states & _BUSY) != 0 if storing else states == IN_FLIGHT).any(axis=1)
        if flying.any():
            where = int(np.argmax(flying))
            verb = "written" if storing else "read"
            how = "still reads" if (states[where] == LENT).any() else "owns"
            raise AccessError(
                "in-flight",
                f"{bytes_each} bytes are {verb} while an asynchronous copy that was not waited for "
                f"{how} them",
                position=where,
                address=self.base + int(at[where]),
                allocation=f"in {self}",
            )
        if not storing:
            where = int(np.argmax((states == EMPTY).any(axis=1)))
            first = int(np.argmax(states[where] == EMPTY))
            raise AccessError(
                "uninitialised",
                f"a load of {bytes_each} bytes reads memory that was never written"
                + (f", from its byte {first} on" if first else ""),
                position=where,
                address=self.base + int(at[where]),
                allocation=f"in {self}",
            )


_FILLED: dict[int, list[Any]] = {
    n: [
        np.full(n, state, np.uint8).view(_UNSIGNED.get(n, f"V{n}"))[0] for state in range(_BUSY + 1)
    ]
    for n in (1, 2, 4, 8, 16, 32)
}
"""For each size of a cell, the cell all of whose bytes are in one state."""


def refuse_objects(states: Array, at: Array, verb: str, allocation: str = "") -> None:
    """Raises :class:`AccessError` where one of some accesses, by rows, touches an mbarrier."""
    touched = (states == OBJECT).any(axis=1)
    if touched.any():
        where = int(np.argmax(touched))
        raise AccessError(
            "barrier",
            f"{states.shape[1]} bytes are {verb} where an mbarrier lies; until mbarrier.inval only "
            "mbarrier instructions may touch it",
            position=where,
            address=int(at[where]),
            allocation=allocation,
        )


def check_alignment(at: Array, bytes_each: int) -> None:
    if bytes_each > 1 and (at & (bytes_each - 1)).any():
        wrong = np.flatnonzero(at & (bytes_each - 1))
        where = int(wrong[0])
        raise AccessError(
            "misaligned",
            f"an access of {bytes_each} bytes needs an address that is a multiple of {bytes_each}",
            position=where,
            address=int(at[where]),
        )


class Memory:
    """The global memory of one device. Addresses are never used twice."""

    def __init__(self) -> None:
        self._next = GLOBAL_BASE
        self._bases: list[int] = []
        self._regions: list[Region] = []
        self._freed: deque[int] = deque()
        """The addresses of the allocations freed last, each remembered by itself."""

    def allocate(
        self, nbytes: int, align: int = 256, name: str = "allocation", read_only: bool = False
    ) -> int:
        """Reserve `nbytes` and return their address, a multiple of `align`."""
        if nbytes < 0:
            raise ValueError(f"cannot allocate {nbytes} bytes")
        while len(self._freed) > FREES_KEPT:
            self._forget(self._freed.popleft())
        base = -(-self._next // align) * align
        region = Region(base, nbytes, name, read_only=read_only)
        self._next = base + nbytes + GUARD_BYTES
        self._bases.append(base)
        self._regions.append(region)
        return base

    def free(self, address: int) -> None:
        """Give an allocation back; its address stays known, so that a late access is named.

        Of those freed before the latest ``FREES_KEPT`` only the stretch is known.
        """
        region = self._at(address)
        if region is None or region.base != address:
            raise ValueError(f"{address:#x} is the start of no allocation")
        if region.freed:
            raise ValueError(f"{region} was freed before")
        region.freed = True
        region.data = region.state = _NO_BYTES
        region._views.clear()
        # The collector may free in the middle of a search: lists change in allocate alone.
        self._freed.append(address)

    def _forget(self, address: int) -> None:
        """Make one stretch of a freed allocation and the forgotten ones beside it."""
        at = bisect.bisect_left(self._bases, address)
        first, last = at, at + 1
        while first and self._regions[first - 1].name == _FORGOTTEN:
            first -= 1
        while last < len(self._regions) and self._regions[last].name == _FORGOTTEN:
            last += 1
        end = self._regions[last - 1].base + self._regions[last - 1].size
        stretch = Region(self._bases[first], 0, _FORGOTTEN)
        stretch.size, stretch.freed = end - stretch.base, True
        self._bases[first:last] = [stretch.base]
        self._regions[first:last] = [stretch]

    def read(self, address: int, nbytes: int) -> Array:
        """A copy of `nbytes` bytes, written or not, as the driver's copy to the host."""
        region = self._host(address, nbytes)
        at = address - region.base
        return region.data[at : at + nbytes].copy()

    def write(self, address: int, data: Any) -> None:
        """Store bytes or an array, as the driver's copy to the device."""
        source = np.frombuffer(data, np.uint8) if isinstance(data, bytes | bytearray) else data
        flat = np.ascontiguousarray(source).reshape(-1).view(np.uint8)
        region = self._host(address, flat.size)
        at = address - region.base
        region.data[at : at + flat.size] = flat
        region.state[at : at + flat.size] = VALID
        if flat.size == region.size:
            region.full = True

    def regions(self) -> Iterable[Region]:
        """The live allocations."""
        return [region for region in self._regions if not region.freed]

    def find(self, at: Array, bytes_each: int, last: Region | None) -> list[tuple[Region, Array]]:
        """The regions that hold the accesses, each with the positions in `at` that lie in it.

        An empty array of positions stands for all of them. Raises :class:`AccessError`.
        """
        low, high = int(at.min()), int(at.max())
        region = last if last is not None and last.base <= low else self._at(low)
        if (
            region is not None
            and not region.freed
            and region.base <= low
            and high + bytes_each <= region.base + region.size
        ):
            return [(region, _EVERYONE)]
        owner = np.searchsorted(np.array(self._bases, np.int64), at, side="right") - 1
        found: list[tuple[Region, Array]] = []
        for number in np.unique(owner):
            positions = np.flatnonzero(owner == number)
            if number < 0:
                raise self._missed(at, positions, bytes_each, None)
            region = self._regions[number]
            end = region.base + region.size
            beyond = at[positions] + bytes_each > end
            if region.freed or beyond.any():
                wrong = positions if region.freed else positions[beyond]
                raise self._missed(at, wrong, bytes_each, region)
            found.append((region, positions))
        return found

    def _missed(self, at: Array, who: Array, bytes_each: int, near: Region | None) -> AccessError:
        address = int(at[who[0]])
        count = f" ({len(who)} threads)" if len(who) > 1 else ""
        kind, message = "out-of-bounds", f"{bytes_each} bytes lie in no allocation{count}"
        around = ""
        if near is not None and near.freed and address < near.base + near.size:
            kind, message = "use-after-free", f"{bytes_each} bytes lie in freed memory{count}"
            around = f"in {near}"
        elif near is not None and address - near.base < (1 << 40):
            beyond = address + bytes_each - near.base - near.size
            around = f"{beyond} bytes past the end of {near}"
        elif address < 4096:
            around = "the address is null or nearly so"
        elif address < GLOBAL_BASE and self._bases:
            around = "below every allocation"
        return AccessError(kind, message, position=int(who[0]), address=address, allocation=around)

    def _at(self, address: int) -> Region | None:
        number = bisect.bisect_right(self._bases, address) - 1
        return self._regions[number] if number >= 0 else None

    def _host(self, address: int, nbytes: int) -> Region:
        region = self._at(address)
        if region is None or region.freed or address + nbytes > region.base + region.size:
            raise ValueError(f"{nbytes} bytes at {address:#x} lie in no allocation")
        return region


_EVERYONE: Array = np.zeros(0, np.intp)
_NO_BYTES: Array = np.zeros(0, np.uint8)
_FORGOTTEN = "allocations of earlier"
