"""What a launch did, counted as a profiler would: instructions, sectors, bank conflicts, bytes.

A warp's access to global memory is a request and touches sectors of 32 bytes; four sectors for a
request of 4 bytes a thread is the least. A warp's access to shared memory takes as many passes as
the fullest bank holds different words; accesses of 8 and 16 bytes are made by half and quarter
warps (:func:`ptx.layouts.bank_conflict_ways`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ptx import layouts
from ptx.emu.memory import Array
from ptx.errors import Place

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk
    from ptx.emu.program import Program

SECTOR_BYTES = 32


@dataclass(frozen=True)
class Row:
    """One instruction of the kernel."""

    place: Place | None
    instruction: str
    opcode: str
    """With its modifiers."""
    warps: int
    """How often a warp issued it, guarded off or not."""
    threads: int
    diverged: int = 0
    """How often a group of threads parted here."""
    requests: int = 0
    sectors: int = 0
    shared_requests: int = 0
    """Of warps, or of the halves and quarters that wide accesses are made by."""
    passes: int = 0
    ways: int = 0
    """The most passes that one of them took."""
    bytes: int = 0

    @property
    def sectors_per_request(self) -> float:
        return self.sectors / self.requests if self.requests else 0.0


@dataclass
class Report:
    """The counts of one launch, an instruction a row, in the order of the code."""

    kernel: str
    rows: tuple[Row, ...] = ()
    barriers: int = 0
    """Barriers that CTAs passed."""

    @property
    def opcodes(self) -> dict[str, int]:
        """Warp instructions by opcode, the most frequent first."""
        found: Counter[str] = Counter()
        for row in self.rows:
            found[row.opcode] += row.warps
        return dict(found.most_common())

    @property
    def by_line(self) -> dict[Place | None, int]:
        """Warp instructions by the author's line."""
        found: Counter[Place | None] = Counter()
        for row in self.rows:
            found[row.place] += row.warps
        return dict(found)

    @property
    def bank_conflicts(self) -> tuple[Row, ...]:
        """Accesses to shared memory that take more than one pass."""
        return tuple(row for row in self.rows if row.ways > 1)

    def assert_no_bank_conflicts(self) -> None:
        """Raises AssertionError with each access that has conflicts."""
        found = self.bank_conflicts
        if found:
            raise AssertionError(
                "bank conflicts:\n" + "\n".join(f"  {r.ways} ways: {_where(r)}" for r in found)
            )

    def assert_coalesced(self, sectors_per_request: float) -> None:
        """Raises AssertionError where a global access needs more sectors a request."""
        found = [row for row in self.rows if row.sectors_per_request > sectors_per_request]
        if found:
            raise AssertionError(
                "scattered accesses:\n"
                + "\n".join(f"  {r.sectors_per_request:.1f} sectors: {_where(r)}" for r in found)
            )

    def __str__(self) -> str:
        total = sum(row.warps for row in self.rows)
        lines = [
            f"{self.kernel}: {total} warp instructions, {self.barriers} barriers",
            f"{'warps':>10} {'diverged':>8} {'sectors':>8} {'ways':>5} {'bytes':>12}  instruction",
        ]
        for row in self.rows:
            if not row.warps:
                continue
            sectors = f"{row.sectors_per_request:.1f}" if row.requests else ""
            lines.append(
                f"{row.warps:>10} {row.diverged or '':>8} {sectors:>8} {row.ways or '':>5} "
                f"{row.bytes or '':>12}  {_where(row)}"
            )
        return "\n".join(lines)


def _where(row: Row) -> str:
    return row.instruction + (f"  ({row.place})" if row.place else "")


@dataclass
class _Access:
    requests: int = 0
    sectors: int = 0
    shared_requests: int = 0
    passes: int = 0
    ways: int = 0
    bytes: int = 0


@dataclass
class Counts:
    """The counting while a launch runs."""

    program: Program
    threads: Array = field(init=False)
    warps: Array = field(init=False)
    diverged: Counter[int] = field(default_factory=Counter)
    accesses: dict[int, _Access] = field(default_factory=dict)
    barriers: int = 0

    def __post_init__(self) -> None:
        self.threads = np.zeros(len(self.program.code), np.int64)
        self.warps = np.zeros(len(self.program.code), np.int64)

    def run(self, chunk: Chunk, start: int, end: int, lanes: Array | None) -> None:
        """A group has executed the instructions from `start` up to `end`."""
        self.threads[start:end] += chunk.size(lanes)
        if lanes is None:
            self.warps[start:end] += chunk.warp_count
        else:
            self.warps[start:end] += len(np.unique(chunk.warp_of[lanes]))

    def access(self, chunk: Chunk, at: Array, nbytes: int, lanes: Array, shared: bool) -> None:
        """Threads access memory; `at` are byte offsets, in the chunk's shared memory or global."""
        kept = self.accesses.setdefault(chunk.at, _Access())
        kept.bytes += nbytes * len(at)
        count = shared_passes if shared else touched_sectors
        if shared:
            requests, passes, ways = count(chunk, at, nbytes, lanes)
            kept.shared_requests += requests
            kept.passes += passes
            kept.ways = max(kept.ways, ways)
        else:
            requests, sectors, _ = count(chunk, at, nbytes, lanes)
            kept.requests += requests
            kept.sectors += sectors

    def report(self) -> Report:
        rows = []
        for decoded in self.program.code:
            seen = self.accesses.get(decoded.at, _Access())
            rows.append(
                Row(
                    decoded.instruction.place,
                    str(decoded.instruction),
                    decoded.words.op,
                    int(self.warps[decoded.at]),
                    int(self.threads[decoded.at]),
                    self.diverged[decoded.at],
                    seen.requests,
                    seen.sectors,
                    seen.shared_requests,
                    seen.passes,
                    seen.ways,
                    seen.bytes,
                )
            )
        return Report(self.program.kernel.name, tuple(rows), self.barriers)


def touched_sectors(chunk: Chunk, at: Array, nbytes: int, lanes: Array) -> tuple[int, int, int]:
    """Requests of warps, and the sectors that they touch together."""
    warps = chunk.warp_of[lanes]
    first, last = at // SECTOR_BYTES, (at + nbytes - 1) // SECTOR_BYTES
    pairs = np.stack([np.tile(warps, 2), np.concatenate([first, last])], axis=1)
    return len(np.unique(warps)), len(np.unique(pairs, axis=0)), 0


def shared_passes(chunk: Chunk, at: Array, nbytes: int, lanes: Array) -> tuple[int, int, int]:
    """Requests, the passes that they take in all, and the most that one of them takes."""
    width = max(nbytes, layouts.BANK_BYTES)
    group = layouts.WARP * layouts.BANK_BYTES // width
    request = chunk.warp_of[lanes].astype(np.int64) * layouts.WARP + chunk.lane_id[lanes] // group
    words = at[:, None] // layouts.BANK_BYTES + np.arange(width // layouts.BANK_BYTES)
    pairs = np.stack([np.repeat(request, words.shape[1]), words.ravel()], axis=1)
    different = np.unique(pairs, axis=0)
    banks = different[:, 0] * layouts.BANKS + different[:, 1] % layouts.BANKS
    named, counts = np.unique(banks, return_counts=True)
    starts = np.flatnonzero(np.diff(named // layouts.BANKS, prepend=-1))
    passes = np.maximum.reduceat(counts, starts)
    return len(passes), int(passes.sum()), int(passes.max())
