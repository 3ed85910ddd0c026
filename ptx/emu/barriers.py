"""Named barriers of a CTA: bar.sync, bar.arrive, bar.red (PTX ISA 9.0, section 9.7.13.1).

A barrier counts threads by warps, as the hardware does: a warp that arrives counts 32. Without a
thread count it waits for every warp with threads that have not exited; threads that have exited
arrive nowhere and are not waited for. The aligned forms want a whole warp at one instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.faults import AccessError
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.semantics.rules import Words
from ptx.emu.steps import Source, select
from ptx.ir import Operand

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group

_BARRIERS = 16


@dataclass(eq=False)
class Form:
    """What one barrier instruction does."""

    decoded: Decoded
    aligned: bool
    action: str
    """``sync``, ``arrive``, ``popc``, ``and`` or ``or``."""
    out: Array | None
    predicate: Source | None


class Barriers:
    """The barriers of the CTAs of a chunk, and who waits at them."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.forms: dict[int, Form] = {}
        self.reset()

    def reset(self) -> None:
        """Nobody has arrived anywhere."""
        chunk, count = self.chunk, self.chunk.count
        self.waits_at = np.full(count, -1, np.int64)
        """The instruction at which each thread waits, -1 where it does not."""
        self.waits_for = np.zeros(count, np.int64)
        self.expected = np.zeros((len(chunk.ctas), _BARRIERS), np.int64)
        self.arrived = np.zeros((len(chunk.ctas), _BARRIERS), np.int64)
        """Threads that arrived without waiting."""
        self.votes = np.zeros(count, np.bool_)
        self.groups: dict[int, tuple[int, int]] = {}

    def bind(self, decoded: Decoded) -> Control:
        chunk, words = self.chunk, decoded.words
        action = words.one_of("arrive popc and or", "sync")
        operands: list[Operand] = list(decoded.operands)
        out = predicate = None
        if "red" in words:
            kind = "u32" if action == "popc" else "pred"
            out = steps.target(chunk, decoded, operands.pop(0), kind)
            predicate = steps.read(chunk, decoded, operands.pop(), "pred")
        number = steps.read(chunk, decoded, operands[0], "u32")
        threads = steps.read(chunk, decoded, operands[1], "u32") if len(operands) > 1 else None
        self.forms[decoded.at] = Form(decoded, is_aligned(words), action, out, predicate)

        def run(group: Group) -> int | None:
            return self._arrive(group, decoded.at, number, threads)

        return run

    def _arrive(self, group: Group, at: int, number: Source, threads: Source | None) -> int | None:
        chunk, form = self.chunk, self.forms[at]
        barrier = select(number, group.lanes)
        if int(barrier.max()) >= _BARRIERS:
            raise AccessError("barrier", f"barrier {int(barrier.max())} does not exist: 0 to 15 do")
        count = None if threads is None else select(threads, group.lanes)
        everyone = group.lanes is None or len(group.lanes) == chunk.living
        alike = int(barrier.min()) == int(barrier.max())
        free = everyone and alike and not self.arrived.any()
        if free and count is None and form.action == "sync":
            chunk.met(group.lanes)
            return at + 1
        who = chunk.everyone(group.lanes)
        if form.aligned and not alike:
            self._check_numbers(who, barrier)
        if count is not None and (count % 32).any():
            raise AccessError(
                "barrier",
                f"a barrier of {int(count[np.argmax(count % 32)])} threads: "
                "the count must be a multiple of the warp size 32",
                lane=int(who[0]),
            )
        if form.predicate is not None:
            self.votes[who] = select(form.predicate, group.lanes)
        chunk.progress += 1
        ctas = chunk.cta_of[who]
        if count is not None:
            self._expect(ctas, barrier, count, who)
        if form.action == "arrive":
            self._count_arrivals(who, ctas, barrier)
            self._release(np.unique(ctas))
            return at + 1
        self.waits_at[who] = at
        self.waits_for[who] = barrier
        self.groups[at] = (group.depth, group.turn)
        if form.aligned:
            self._check_partners(who, at)
        self._release(np.unique(ctas))
        return None

    def _check_numbers(self, who: Array, barrier: Array) -> None:
        """The threads of a warp come to an aligned barrier by one number."""
        warp = self.chunk.warp_of[who]
        parted = (warp[1:] == warp[:-1]) & (barrier[1:] != barrier[:-1])
        if parted.any():
            row = int(np.argmax(parted))
            raise AccessError(
                "barrier",
                f"threads of a warp come to barriers {int(barrier[row])} and "
                f"{int(barrier[row + 1])} by one aligned instruction",
                lane=int(who[row]),
            )

    def _expect(self, ctas: Array, barrier: Array, count: Array, who: Array) -> None:
        known = self.expected[ctas, barrier]
        wrong = (known != 0) & (known != count)
        if wrong.any():
            where = int(np.argmax(wrong))
            raise AccessError(
                "barrier",
                f"barrier {int(barrier[where])} is waited for with {int(known[where])} threads "
                f"and with {int(count[where])}",
                lane=int(who[where]),
            )
        self.expected[ctas, barrier] = count
        mixed = self.expected[ctas, barrier] != count
        if mixed.any():
            where = int(np.argmax(mixed))
            raise AccessError(
                "barrier",
                f"threads come to barrier {int(barrier[where])} together with the counts "
                f"{int(count[where])} and {int(self.expected[ctas[where], barrier[where]])}",
                lane=int(who[where]),
            )

    def _count_arrivals(self, who: Array, ctas: Array, barrier: Array) -> None:
        chunk = self.chunk
        warps, first, sizes = np.unique(chunk.warp_of[who], return_index=True, return_counts=True)
        full = np.bincount(chunk.warp_of[chunk.alive], minlength=chunk.warp_count)[warps]
        if (sizes != full).any():
            where = int(np.argmax(sizes != full))
            raise AccessError(
                "divergent-barrier",
                f"{int(sizes[where])} of {int(full[where])} threads of a warp arrive at an aligned "
                "barrier",
                lane=int(who[first[where]]),
            )
        np.add.at(self.arrived, (ctas[first], barrier[first]), 32)
        if chunk.races is not None:
            for cta, number in {(int(c), int(b)) for c, b in zip(ctas, barrier, strict=True)}:
                chunk.races.clocks.release(who[(ctas == cta) & (barrier == number)], (cta, number))

    def _check_partners(self, who: Array, at: int) -> None:
        """A warp whose other threads wait at another barrier instruction never comes whole."""
        chunk = self.chunk
        mine = np.zeros(chunk.warp_count, np.bool_)
        mine[chunk.warp_of[who]] = True
        other = (self.waits_at >= 0) & (self.waits_at != at) & mine[chunk.warp_of]
        if other.any():
            lane = int(np.argmax(other))
            theirs = self.forms[int(self.waits_at[lane])].decoded
            raise AccessError(
                "divergent-barrier",
                "a part of a warp arrives at this aligned barrier while another part, with "
                f"{chunk.describe(lane)}, waits at {place_of(theirs)}",
                lane=int(who[chunk.warp_of[who] == chunk.warp_of[lane]][0]),
            )

    def recheck(self) -> None:
        """Threads have exited: a barrier may have nobody left to wait for."""
        waiting = self.waits_at >= 0
        if waiting.any():
            self._release(np.unique(self.chunk.cta_of[waiting]))

    def _release(self, ctas: Array) -> None:
        chunk = self.chunk
        released = np.zeros(chunk.count, np.bool_)
        per_warp = np.bincount(chunk.warp_of[chunk.alive], minlength=chunk.warp_count)
        for cta in ctas:
            here = (chunk.cta_of == cta) & (self.waits_at >= 0)
            for barrier in np.unique(self.waits_for[here]):
                who = np.flatnonzero(here & (self.waits_for == barrier))
                warps, sizes = np.unique(chunk.warp_of[who], return_counts=True)
                whole = sizes == per_warp[warps]
                total = 32 * int(whole.sum()) + int(self.arrived[cta, barrier])
                expected = int(self.expected[cta, barrier])
                alive_warps = int(
                    (np.bincount(chunk.warp_of[chunk.alive & (chunk.cta_of == cta)]) > 0).sum()
                )
                needed = expected or 32 * alive_warps
                if total > needed:
                    chunk.at = int(self.waits_at[who[0]])
                    raise AccessError(
                        "barrier",
                        f"{total} threads arrive at barrier {barrier}, which is for {needed}",
                        lane=int(who[0]),
                    )
                if total == needed and whole.all():
                    self.arrived[cta, barrier] = self.expected[cta, barrier] = 0
                    chunk.met(who, (int(cta), int(barrier)))
                    self._reduce(who)
                    released[who] = True
        if released.any():
            self._resume(np.flatnonzero(released))

    def _reduce(self, who: Array) -> None:
        for at in np.unique(self.waits_at[who]):
            form = self.forms[int(at)]
            if form.out is not None:
                votes = self.votes[who]
                count = int(votes.sum())
                value = {"popc": count, "and": count == len(votes), "or": count > 0}[form.action]
                form.out[who[self.waits_at[who] == at]] = value

    def _resume(self, who: Array) -> None:
        chunk = self.chunk
        chunk.progress += 1
        for at in np.unique(self.waits_at[who]):
            lanes = who[self.waits_at[who] == at]
            self.waits_at[lanes] = -1
            chunk.resume(lanes, int(at) + 1, *self.groups[int(at)])

    def stuck(self) -> AccessError | None:
        """Why the threads that wait at barriers wait for ever."""
        chunk = self.chunk
        waiting = self.waits_at >= 0
        if not waiting.any():
            return None
        per_warp = np.bincount(chunk.warp_of[chunk.alive], minlength=chunk.warp_count)
        here = np.bincount(chunk.warp_of[waiting], minlength=chunk.warp_count)
        partial = (here > 0) & (here < per_warp)
        if partial.any():
            warp = int(np.argmax(partial))
            lane = int(np.flatnonzero(waiting & (chunk.warp_of == warp))[0])
            form = self.forms[int(self.waits_at[lane])]
            chunk.at = form.decoded.at
            if form.aligned:
                return AccessError(
                    "divergent-barrier",
                    f"{int(here[warp])} of {int(per_warp[warp])} threads of a warp wait at "
                    f"{place_of(form.decoded)}; the others never arrive",
                    lane=lane,
                )
        lines = []
        for at in np.unique(self.waits_at[waiting]):
            who = np.flatnonzero(self.waits_at == at)
            for barrier in np.unique(self.waits_for[who]):
                some = who[self.waits_for[who] == barrier]
                cta = int(chunk.cta_of[some[0]])
                needed = int(self.expected[cta, barrier]) or "all"
                arrived = int(self.arrived[cta, barrier])
                lines.append(
                    f"{len(some)} threads, the first {chunk.describe(int(some[0]))}, wait for "
                    f"barrier {int(barrier)} with {needed} threads"
                    + (f", where {arrived} have arrived" if arrived else "")
                    + f": {place_of(self.forms[int(at)].decoded)}"
                )
        lane = int(np.argmax(waiting))
        chunk.at = int(self.waits_at[lane])
        return AccessError("deadlock", "\n  ".join(["every thread waits", *lines]), lane=lane)


def is_aligned(words: Words) -> bool:
    """Whether a barrier of the CTA wants whole warps: ``bar`` always does."""
    return words.opcode == "bar" or "aligned" in words


def place_of(decoded: Decoded) -> str:
    """An instruction and where it was written."""
    place = decoded.instruction.place
    return f"{decoded.instruction}" + (f" ({place})" if place else "")
