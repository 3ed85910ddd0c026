"""Products of warpgroups that are in flight: whose registers and tiles they still use.

Between wgmma.mma_async and the wgmma.wait_group that covers it, its accumulators may be neither
read nor written but by products of the same accumulators, its A registers and tiles not be written;
before it, a wgmma.fence orders what other instructions did with these registers (PTX ISA 9.0,
section 9.7.15.7.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import LENT, VALID, Array
from ptx.emu.program import Decoded, Program
from ptx.emu.steps import Lanes, Step
from ptx.ir import Vector, registers_of

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group

UNIT = 16
"""Tiles are read by so many bytes at a time."""


@dataclass(frozen=True)
class Registers:
    """The slots that a product uses."""

    sums: frozenset[int]
    a: frozenset[int]

    @staticmethod
    def of(program: Program, decoded: Decoded) -> Registers:
        d, a = decoded.operands[:2]
        sums = frozenset(program.slot_of(decoded, reg) for reg in registers_of(d))
        if not isinstance(a, Vector):
            return Registers(sums, frozenset())
        return Registers(sums, frozenset(program.slot_of(decoded, r) for r in registers_of(a)))


@dataclass(eq=False)
class Product:
    """One issue of mma_async by some warpgroups."""

    registers: Registers
    lanes: Array
    group: Array
    """The wgmma-group of each of `lanes`."""
    tiles: Array
    """Byte offsets of the units that it reads, in the chunk's shared memory."""
    readers: Array
    """For each unit the first thread of the warpgroup."""
    at: int


class Products:
    """The products of a chunk that are in flight."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        found: set[int] = set()
        for decoded in chunk.program.code:
            if "mma_async" in decoded.words:
                registers = Registers.of(chunk.program, decoded)
                found |= registers.sums | registers.a
        self.slots = frozenset(found)
        self.reset()

    def reset(self) -> None:
        """Nothing is in flight."""
        self.flying: list[Product] = []
        self.group = np.zeros(self.chunk.count, np.int64)
        self.fenced = np.zeros(self.chunk.count, np.bool_)
        self.touched: dict[int, Array] = {
            slot: np.zeros(self.chunk.count, np.bool_) for slot in self.slots
        }
        """Where other instructions wrote a register since the last fence."""

    # ------------------------------------------------------------ other instructions

    def watched(self, decoded: Decoded, step: Step) -> Step:
        """A step that faults where it uses a register in flight."""
        reads, writes = self._used(decoded)
        if not reads and not writes:
            return step

        def run(lanes: Lanes) -> None:
            if self.flying:
                self._check(lanes, reads, writes)
            step(lanes)
            for slot in writes:
                self.touched[slot][... if lanes is None else lanes] = True

        return run

    def watched_control(self, decoded: Decoded, control: Control) -> Control:
        if decoded.words.opcode == "wgmma":
            return control
        reads, writes = self._used(decoded)
        if not reads and not writes:
            return control
        check = self.watched(decoded, lambda lanes: None)

        def run(group: Group) -> int | None:
            check(group.lanes)
            return control(group)

        return run

    def _used(self, decoded: Decoded) -> tuple[frozenset[int], frozenset[int]]:
        if not self.slots:
            return frozenset(), frozenset()
        reads, writes = self.chunk.program.reads_writes(decoded)
        return self.slots.intersection(reads), self.slots.intersection(writes)

    def _check(self, lanes: Lanes, reads: frozenset[int], writes: frozenset[int]) -> None:
        for product in self.flying:
            sums = product.registers.sums
            wrong = (sums & (reads | writes)) | (product.registers.a & writes)
            if not wrong:
                continue
            here = np.zeros(self.chunk.count, np.bool_)
            here[product.lanes] = True
            both = here if lanes is None else here[lanes]
            if both.any():
                position = int(np.argmax(both))
                lane = position if lanes is None else int(lanes[position])
                self._refuse(product, min(wrong), lane, bool(wrong & writes))

    def _refuse(self, product: Product, slot: int, lane: int, writing: bool) -> None:
        name = self.chunk.program.slot_names[slot]
        what = "an accumulator" if slot in product.registers.sums else "a register"
        verb = "written" if writing else "read"
        raise AccessError(
            "in-flight",
            f"{name} is {verb} while it is {what} of a wgmma that was not waited for\n"
            f"  the wgmma: {place_of(self.chunk.program.code[product.at])}",
            lane=lane,
        )

    # ------------------------------------------------------------ wgmma itself

    def issue(self, who: Array, registers: Registers, tiles: Array, readers: Array) -> None:
        """A product starts; `who` is the threads of whole warpgroups."""
        chunk = self.chunk
        for lanes in (~self.fenced[who], *(self.touched[s][who] for s in registers.sums)):
            if lanes.any():
                self._unfenced(int(who[np.argmax(lanes)]), "an accumulator")
        for slot in registers.a:
            if self.touched[slot][who].any():
                self._unfenced(int(who[np.argmax(self.touched[slot][who])]), "a register of A")
        for product in self.flying:
            same = product.registers.sums == registers.sums
            wrong = frozenset() if same else product.registers.sums & registers.sums
            wrong |= product.registers.sums & registers.a | product.registers.a & registers.sums
            shared = np.intersect1d(product.lanes, who) if wrong else who[:0]
            if len(shared):
                self._refuse(product, min(wrong), int(shared[0]), True)
        if chunk.races is not None:
            chunk.races.read(tiles, UNIT, readers, chunk.at)
        if chunk.proxies is not None and len(tiles):
            chunk.proxies.use(tiles, UNIT, int(readers[0]), "the wgmma reads")
        self._mark(tiles, LENT)
        self.flying.append(Product(registers, who, self.group[who], tiles, readers, chunk.at))

    def _mark(self, tiles: Array, state: int) -> None:
        """Tiles that are being read may not be written."""
        states = self.chunk.shared.cells(UNIT, states=True)
        states[tiles // UNIT] = np.full(UNIT, state, np.uint8).view(states.dtype)[0]
        self.chunk.shared.full = False

    def _unfenced(self, lane: int, what: str) -> None:
        raise AccessError(
            "fence",
            f"no wgmma.fence orders the last write of {what} before this wgmma",
            lane=lane,
        )

    def fence(self, who: Array) -> None:
        self.fenced[who] = True
        for touched in self.touched.values():
            touched[who] = False

    def commit(self, who: Array) -> None:
        self.group[who] += 1

    def wait(self, who: Array, still: int) -> None:
        """Complete all but the latest `still` groups of some warpgroups."""
        waits = np.zeros(self.chunk.count, np.bool_)
        waits[who] = True
        limit = self.group - still
        left: list[Product] = []
        races = self.chunk.races
        for product in self.flying:
            done = waits[product.lanes] & (product.group < limit[product.lanes])
            if not done.any():
                left.append(product)
                continue
            first = product.lanes[done]
            mine = np.isin(product.readers, first)
            self._mark(product.tiles[mine], VALID)
            if races is not None:
                # Tiles are read up to this moment.
                races.read(product.tiles[mine], UNIT, product.readers[mine], product.at)
            if not done.all():
                keep = ~done
                others = np.isin(product.readers, product.lanes[keep])
                left.append(
                    Product(
                        product.registers,
                        product.lanes[keep],
                        product.group[keep],
                        product.tiles[others],
                        product.readers[others],
                        product.at,
                    )
                )
        self.flying = left
        self.remark()
        self.chunk.bulk.remark()
        if races is not None:
            races.clocks.warpgroups_met(who)

    def remark(self) -> None:
        """What several read is lent until the last has done."""
        for product in self.flying:
            self._mark(product.tiles, LENT)
