"""Early launches: what they touch before the launches that may still run have ended.

A launch that was prepared as early may start as soon as every CTA of the launch before it on its
stream has executed ``griddepcontrol.launch_dependents`` or ended. ``griddepcontrol.wait`` returns
when that launch has ended and its memory is seen (PTX ISA 9.0, section 9.7.13.13). Until a thread
has waited, or is ordered after one that has, it may not read what a launch that may still run
writes, nor write what such a launch reads or writes, wherever that one signals its dependents: the
signal passes on no memory.

The wait is for the one launch before alone. Where no thread of that one waited itself, the launch
before it may go on after both; and an early launch whose every CTA signals before it has waited may
be followed by the next while the one before it runs. What a launch touched is what the search for
races has kept of it (:mod:`ptx.emu.global_races`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array, Region
from ptx.emu.ordering import DEVICE, Order
from ptx.emu.program import Decoded, Program
from ptx.emu.steps import Lanes, Step
from ptx.emu.strong_races import Tables, scopes_of
from ptx.emu.traces import granules, instruction_of, thread_of

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk
    from ptx.emu.clocks import Clocks
    from ptx.emu.machine import Launch

MOST_RUNNING = 8
"""So many launches that may still run are remembered, the latest."""
_NEVER = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Past:
    """A launch that may still run, and what it touched."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    granule: int
    tables: dict[int, tuple[Array, Array]]
    strong: dict[int, Tables]

    @classmethod
    def of(cls, launch: Launch) -> Past:
        kept = launch.history
        return cls(
            launch.program, launch.grid, launch.block, kept.granule, kept.tables, kept.strong
        )

    @property
    def kernel(self) -> str:
        return self.program.kernel.name

    def touched(self, region: Region, writes: bool) -> list[tuple[Array, str, bool]]:
        """Words by granule of what an access meets: the table, what was done, if strongly."""
        plain, strong = self.tables.get(region.base), self.strong.get(region.base)
        found: list[tuple[Array, str, bool]] = []
        if plain is not None:
            found += [(plain[0], "writes", False), (plain[1], "reads", False)]
        if strong is not None:
            found += [(strong.write, "writes", True), (strong.read, "reads", True)]
        return [one for one in found if writes or one[1] == "writes"]

    def without_reach(self, words: Array) -> Array:
        """Of strong accesses those whose scope does not reach another launch."""
        scopes = scopes_of(self.program.code)
        return np.where(scopes[instruction_of(words)] < DEVICE, words, 0)


@dataclass(eq=False)
class Queue:
    """What of a stream's launches may still run when an early one follows, the latest first."""

    at_start: tuple[Past, ...] = ()
    """When it starts."""
    after_wait: tuple[Past, ...] = ()
    """When it has waited."""

    def clear(self) -> None:
        """Everything has ended."""
        self.at_start = self.after_wait = ()

    def take(self, early: bool) -> Early | None:
        """What an early launch runs beside; None where nothing does."""
        found = Early(self.at_start, self.after_wait) if early and self.at_start else None
        self.clear()
        return found

    def follow(self, launch: Launch) -> None:
        """A launch has been made."""
        early = launch.early
        signalled = early.at_signal if early is not None else ()
        self.after_wait = early.at_end if early is not None else ()
        self.at_start = (Past.of(launch), *signalled)[:MOST_RUNNING]


@dataclass(eq=False)
class Early:
    """An early launch: what may still run beside it, and which of its CTAs have waited."""

    at_start: tuple[Past, ...]
    after_wait: tuple[Past, ...]
    waited: bool = False
    """Whether any thread has."""
    signalled_late: bool = False
    """Whether a CTA signalled its dependents, or ended, after it had waited."""
    times: dict[int, Array] = field(default_factory=dict)
    """By the number of a CTA in the grid when each of its warps has waited."""

    @property
    def at_signal(self) -> tuple[Past, ...]:
        """What may still run when the next launch may start: all CTAs have signalled by then."""
        return self.after_wait if self.signalled_late else self.at_start

    @property
    def at_end(self) -> tuple[Past, ...]:
        return self.after_wait if self.waited else self.at_start


class Dependencies:
    """The watch of a chunk of an early launch over what it touches too early."""

    def __init__(self, chunk: Chunk, clocks: Clocks, early: Early, far: bool) -> None:
        """`far` says whether CTAs of other clusters may learn what a thread has done."""
        self.chunk, self.clocks, self.early, self.far = chunk, clocks, early, far
        self.reset()

    def reset(self) -> None:
        """No thread has waited."""
        chunk, clocks = self.chunk, self.clocks
        self.knows: Array = np.zeros(chunk.count, np.bool_)
        """Whether each thread has waited or comes after one that has."""
        self.times: Array = np.full((clocks.domains, clocks.warps), _NEVER, np.int32)
        """When each warp has waited first, if it has."""
        self.hasty: Array = np.zeros(len(chunk.ctas), np.bool_)
        """CTAs that have signalled with no wait before."""

    # ------------------------------------------------------------ the two instructions

    def wait(self, lanes: Lanes) -> None:
        """griddepcontrol.wait."""
        who = self.chunk.everyone(lanes)
        self.knows[who] = True
        domain, warp = self.clocks.domain_of[who], self.clocks.warp_of[who]
        self.times[domain, warp] = np.minimum(self.times[domain, warp], self.clocks.now(who))
        if self.far:
            rows = self.times.reshape(len(self.chunk.ctas), -1)
            for cta in np.unique(self.chunk.cta_of[who]).tolist():
                self.early.times[int(self.chunk.ctas[cta])] = rows[cta]

    def signal(self, lanes: Lanes) -> None:
        """griddepcontrol.launch_dependents: the first of a CTA counts, whichever that is."""
        who = self.chunk.everyone(lanes)
        self.hasty[self.chunk.cta_of[who[~self._knowing(who)]]] = True

    def ended(self) -> None:
        """All threads of the chunk have left."""
        waited = np.zeros(len(self.chunk.ctas), np.bool_)
        waited[self.chunk.cta_of[self.knows]] = True
        self.early.waited |= bool(waited.any())
        self.early.signalled_late |= bool((waited & ~self.hasty).any())

    def _knowing(self, lanes: Array) -> Array:
        """Whether threads have waited, or come after one that has."""
        known: Array = self.knows[lanes]
        if not known.all():
            rest = lanes[~known]
            told = [warp for warp in np.unique(self.chunk.warp_of[rest]) if self._told(int(warp))]
            self.knows[rest[np.isin(self.chunk.warp_of[rest], told)]] = True
            known = self.knows[lanes]
        return known

    def _told(self, warp: int) -> bool:
        """Whether a warp of the chunk knows of a wait."""
        clocks = self.clocks
        domain = warp // clocks.warps
        if (clocks.known[domain, warp % clocks.warps] >= self.times[domain]).any():
            return True
        beyond = clocks.beyond.get(warp)
        return beyond is not None and any(
            (times >= self.early.times[cta]).any()
            for cta, times in beyond.done.items()
            if cta in self.early.times
        )

    # ------------------------------------------------------------ accesses

    def touch(
        self, region: Region, offsets: Array, nbytes: int, lanes: Array, order: Order | None,
        writes: bool,
    ) -> None:  # fmt: skip
        """Threads read or write; raises :class:`AccessError` where a launch may still run that does
        so too.
        """
        early = self.early
        if not early.after_wait and self.knows[lanes].all():
            return
        known = self._knowing(lanes)
        strong = order is not None and order.scope == DEVICE
        for running, these in ((early.at_start, ~known), (early.after_wait, known)):
            positions = np.flatnonzero(these)
            if not len(positions):
                continue
            for past in running:
                index = granules(offsets[positions], nbytes, past.granule)
                for table, did, strongly in past.touched(region, writes):
                    words = table[index]
                    if strong and strongly:
                        words = past.without_reach(words)
                    if words.any():
                        row = int(np.argmax(words.any(axis=1)))
                        raise self._fault(
                            past, int(words[row].max()), did, region, int(positions[row]),
                            int(offsets[positions[row]]), nbytes, int(lanes[positions[row]]),
                            writes,
                        )  # fmt: skip

    def _fault(
        self, past: Past, word: int, did: str, region: Region, position: int, offset: int,
        nbytes: int, lane: int, writes: bool,
    ) -> AccessError:  # fmt: skip
        latest = self.early.at_start[0]
        if self.knows[lane]:
            why = (
                f"griddepcontrol.wait waits for the launch before alone, of {latest.kernel}, and a "
                "launch between has not waited"
            )
        elif past is latest:
            why = "no griddepcontrol.wait is ordered before"
        else:
            why = (
                f"{latest.kernel}, the launch between, may signal before it has waited, and no "
                "griddepcontrol.wait is ordered before"
            )
        which = "the launch before" if past is latest else "an earlier launch"
        code = past.program.code[int(instruction_of(np.array(word)))]
        return AccessError(
            "race",
            f"this thread of {self.chunk.program.kernel.name}, launched early, "
            f"{'writes' if writes else 'reads'} {nbytes} bytes that {which}, of {past.kernel}, "
            f"{did}, which may still run: {why}\n"
            f"  the other access: {place_of(code)}, {thread_of(word, past.grid, past.block)}",
            lane=lane,
            position=position,
            address=region.base + offset,
            allocation=f"in {region}",
        )


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """griddepcontrol: nothing but in a launch that runs beside others."""
    watch = chunk.races.dependencies if chunk.races is not None else None
    if watch is None:
        return lambda lanes: None
    return watch.wait if "wait" in decoded.words else watch.signal
