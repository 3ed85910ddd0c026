"""Data races in global memory, between the threads of a CTA and between CTAs of a launch.

Each granule of an allocation (as long as the kernel's narrowest access to global memory) remembers
the last plain write and the last plain read: CTA, thread, time of its warp, instruction
(:mod:`ptx.emu.traces`). The search may miss a race where an earlier reader was followed by another;
it invents none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.global_proxies import Log
from ptx.emu.memory import Array, Region
from ptx.emu.ordering import Order, Place
from ptx.emu.semantics.rules import Words
from ptx.emu.strong_races import StrongRaces, Tables
from ptx.emu.traces import Traces, granules, instruction_of

if TYPE_CHECKING:
    from ptx.emu.dependencies import Dependencies
    from ptx.emu.program import Program


def is_constant(words: Words) -> bool:
    """Whether an instruction reads global memory as what nobody writes."""
    return words.opcode == "ldu" or (words.opcode == "ld" and "nc" in words)


class History:
    """What one launch has done to global memory."""

    def __init__(self, granule: int) -> None:
        self.granule = granule
        self.tables: dict[int, tuple[Array, Array]] = {}
        self.written: set[int] = set()
        """Allocations that a plain access wrote to."""
        self.strong: dict[int, Tables] = {}
        """By the base of an allocation what strong accesses did."""
        self.proxies = Log()
        self.places: dict[int, Place] = {}
        """By address what strong writes have released."""

    def table(self, region: Region) -> tuple[Array, Array]:
        """Last writes and last reads."""
        key = region.base
        if key not in self.tables:
            size = len(region.data) // self.granule
            self.tables[key] = np.zeros(size, np.int64), np.zeros(size, np.int64)
        return self.tables[key]


def granule_of(program: Program) -> int:
    """The bytes of the narrowest access that may be to global memory, 1 to 16."""
    from ptx.emu.races import narrowest

    return narrowest(program, {"shared", "param", "const", "local"})


class GlobalRaces:
    """The watch of a chunk over global memory."""

    def __init__(
        self,
        history: History,
        traces: Traces,
        strong: StrongRaces,
        dependencies: Dependencies | None,
    ) -> None:
        code = traces.chunk.program.code
        self.constant = np.array([is_constant(decoded.words) for decoded in code])
        """Of each instruction, whether it reads by ld.global.nc."""
        self.promised = bool(self.constant.any())
        self.history = history
        self.traces = traces
        self.strong = strong
        self.dependencies = dependencies

    def read(
        self,
        region: Region,
        offsets: Array,
        nbytes: int,
        lanes: Array,
        at: int,
        order: Order | None = None,
    ) -> None:
        """Threads read; raises :class:`AccessError`. `order` is that of a strong access."""
        if region.read_only:
            return
        if self.dependencies is not None:
            self.dependencies.touch(region, offsets, nbytes, lanes, order, writes=False)
        writes, reads = self.history.table(region)
        index = granules(offsets, nbytes, self.history.granule)
        if region.base in self.history.written:
            if self.promised and self.constant[at]:
                self._check_promise(writes[index], region, offsets, nbytes, lanes, "reads", "wrote")
            self._check(writes, index, region, offsets, nbytes, lanes, "reads", "wrote")
        if order is not None:
            self.strong.read(region, offsets, nbytes, lanes, at, order)
            return
        if region.base in self.history.strong:
            self.strong.weak(region, offsets, nbytes, lanes, writes=False)
        reads[index] = self.traces.of(lanes, at)[:, None]

    def write(
        self,
        region: Region,
        offsets: Array,
        nbytes: int,
        lanes: Array,
        at: int,
        order: Order | None = None,
    ) -> None:
        """Threads write, or exchange what is there."""
        if region.read_only:
            return
        if self.dependencies is not None:
            self.dependencies.touch(region, offsets, nbytes, lanes, order, writes=True)
        writes, reads = self.history.table(region)
        index = granules(offsets, nbytes, self.history.granule)
        if self.promised:
            words = np.where(self.constant[instruction_of(reads[index])], reads[index], 0)
            self._check_promise(words, region, offsets, nbytes, lanes, "writes", "read")
        self._check(writes, index, region, offsets, nbytes, lanes, "writes", "wrote")
        self._check(reads, index, region, offsets, nbytes, lanes, "writes", "read")
        if order is not None:
            self.strong.write(region, offsets, nbytes, lanes, at, order)
            return
        if region.base in self.history.strong:
            self.strong.weak(region, offsets, nbytes, lanes, writes=True)
        self.history.written.add(region.base)
        writes[index] = self.traces.of(lanes, at)[:, None]

    def arrived(self, base: int, index: Array, word: int, lane: int) -> None:
        """A thread has waited for its copy to granules: what it wrote is written now."""
        writes, _ = self.history.tables[base]
        same = index[writes[index] == word]
        writes[same] = self.traces.of(np.array([lane]), int(instruction_of(np.array(word))))[0]

    def _check_promise(
        self, words: Array, region: Region, offsets: Array, nbytes: int, lanes: Array, verb: str,
        did: str,
    ) -> None:  # fmt: skip
        """What ld.global.nc reads is not written while the kernel runs, in whatever order (PTX
        ISA, section 9.7.9.9).
        """
        if words.any():
            row = int(np.argmax(words.any(axis=1)))
            raise self.traces.race(
                int(words[row].max()), int(lanes[row]), row, verb, did, region, int(offsets[row]),
                nbytes, "and what ld.global.nc reads is not written while the kernel runs",
            )  # fmt: skip

    def _check(
        self,
        table: Array,
        index: Array,
        region: Region,
        offsets: Array,
        nbytes: int,
        lanes: Array,
        verb: str,
        did: str,
    ) -> None:
        words = table[index]
        other = self.traces.by_others(words, lanes)
        if not other.any():
            return
        rows, columns = other.nonzero()
        found = words[rows, columns]
        bad = ~self.traces.ordered(found, lanes[rows])
        if bad.any():
            where = int(np.argmax(bad))
            row = int(rows[where])
            raise self.traces.race(
                int(found[where]), int(lanes[row]), row, verb, did, region, int(offsets[row]),
                nbytes,
            )  # fmt: skip
