"""mbarrier objects in shared memory (PTX ISA 9.0, section 9.7.13.15).

An object counts the arrivals and the bytes that its phase still waits for; when both are nought the
next phase begins. Its bytes are opaque. A thread that waits sleeps until the phase is over; when
nobody can run it is told that its time is up, and when that has changed nothing three times over,
the launch is in a deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.access import Space, addresses
from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import EMPTY, OBJECT, Array
from ptx.emu.program import Decoded
from ptx.emu.steps import Lanes, Source, Step, select
from ptx.ir import SINK, Operand

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group

BYTES = 8
_MOST = (1 << 20) - 1
_PATIENCE = 3


@dataclass
class Object:
    """One mbarrier."""

    count: int
    """Arrivals that each phase wants."""
    pending: int
    """Arrivals that this one still wants."""
    bytes: int = 0
    """Bytes that it still wants; below 0 where copies were quicker than their announcement."""
    phase: int = 0
    begun_by: int = -1
    """The thread that has initialised it."""
    fenced: bool = False
    """Whether that thread has passed a fence.mbarrier_init since."""
    announced: bool = False
    """Whether it has then arrived at the cluster's barrier."""


@dataclass
class Wait:
    """Threads that sleep at one try_wait."""

    group: Group
    at: int
    lanes: Array
    where: Array
    """The object of each thread: a byte offset in the chunk's shared memory."""
    parity: Array
    out: Array


class Objects:
    """The mbarriers of a chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.reset()

    def reset(self) -> None:
        """None is initialised."""
        self.objects: dict[int, Object] = {}
        self.waiting: list[Wait] = []
        self._seen = -1
        self._patience = 0

    def at(self, where: int, lane: int) -> Object:
        found = self.objects.get(where)
        if found is None:
            raise AccessError(
                "barrier",
                "no mbarrier was initialised there",
                lane=lane,
                address=where % max(1, self.chunk.shared_stride),
            )
        return found

    def initialise(self, where: int, count: int, lane: int) -> None:
        if not 1 <= count <= _MOST:
            raise AccessError("barrier", f"an mbarrier counts 1 to {_MOST}, not {count}", lane=lane)
        if where in self.objects:
            raise AccessError(
                "barrier",
                "an mbarrier is there already; mbarrier.inval ends it first",
                lane=lane,
                address=where % self.chunk.shared_stride,
            )
        self.watch(np.array([where]), np.array([lane]), writes=True)
        self.objects[where] = Object(count, count, begun_by=lane)
        self.chunk.shared.mark(where, BYTES, OBJECT)
        if self.chunk.proxies is not None:
            self.chunk.proxies.initialised(where, lane)

    def invalidate(self, where: int, lane: int) -> None:
        """The object ends; its bytes hold no value."""
        self.at(where, lane)
        self.watch(np.array([where]), np.array([lane]), writes=True)
        del self.objects[where]
        self.chunk.shared.mark(where, BYTES, EMPTY)

    def fence(self, who: Array) -> None:
        """Threads pass a fence.mbarrier_init, which is for what they have initialised."""
        for found in self.objects.values():
            found.fenced |= found.begun_by in who

    def announce(self, who: Array) -> None:
        """Threads arrive at their cluster's barrier, with no release but that fence's."""
        for found in self.objects.values():
            found.announced |= found.fenced and found.begun_by in who

    def publish(self, domain: int) -> None:
        """Threads of a cluster have waited at its barrier: what was announced is there for them."""
        chunk = self.chunk
        for where, found in self.objects.items():
            if (
                found.announced
                and where // chunk.shared_stride // chunk.launch.cluster_size == domain
            ):
                found.fenced = found.announced = False
                assert chunk.races is not None
                chunk.races.forget(np.array([where]), BYTES)

    def watch(self, where: Array, lanes: Array, writes: bool = False) -> None:
        """Threads use objects, or with `writes` begin or end them; raises :class:`AccessError`
        where a beginning or an end is not ordered with another's use.
        """
        races = self.chunk.races
        if races is None:
            return
        if writes:
            races.write(where, BYTES, lanes, self.chunk.at)
        else:
            races.read(where, BYTES, lanes, self.chunk.at)

    def arrive(
        self, where: int, count: int, lane: int, drop: bool = False, completes: bool = True
    ) -> int:
        """Arrive, and give the phase in which that was; one that `completes` may end it."""
        found = self.at(where, lane)
        if count > found.pending:
            raise AccessError(
                "barrier",
                f"{count} arrivals at an mbarrier whose phase wants {found.pending} more of "
                f"{found.count}",
                lane=lane,
                address=where % self.chunk.shared_stride,
            )
        if not completes and count == found.pending and not found.bytes:
            raise AccessError(
                "barrier",
                f"{count} arrivals with .noComplete end the phase, which wants no more",
                lane=lane,
                address=where % self.chunk.shared_stride,
            )
        phase = found.phase
        found.pending -= count
        if drop:
            found.count -= count
        self._advance(where, found)
        return phase

    def expect(self, where: int, nbytes: int, lane: int) -> None:
        """Announce bytes, or with a negative number have them arrive."""
        found = self.at(where, lane)
        found.bytes += nbytes
        if abs(found.bytes) > _MOST:
            raise AccessError(
                "barrier",
                f"an mbarrier's phase counts {found.bytes} bytes; {_MOST} is the limit",
                lane=lane,
            )
        self._advance(where, found)

    def _advance(self, where: int, found: Object) -> None:
        self.chunk.progress += 1
        if found.pending or found.bytes:
            return
        self._check_flights(where)
        found.phase += 1
        found.pending = found.count
        self._wake(where)

    def _check_flights(self, where: int) -> None:
        """A phase ends: nothing may be on its way whose bytes it might have counted."""
        chunk = self.chunk
        for flight in (*chunk.bulk.flying, *chunk.bulk.landed):
            if flight.mbarrier == where:
                chunk.at = flight.at
                raise AccessError(
                    "barrier",
                    "the phase of the mbarrier that this copy signals ends while it is on its "
                    "way: fewer bytes were announced than are copied",
                    lane=int(flight.lanes[0]),
                    address=where % chunk.shared_stride,
                )

    # ------------------------------------------------------------ waiting

    def over(self, where: Array, parity: Array, lanes: Array) -> Array:
        """Whether the phase of some parity is over, for each thread that asks."""
        self.chunk.bulk.deliver(where, lanes)
        return self._over(where, parity, lanes)

    def _over(self, where: Array, parity: Array, lanes: Array) -> Array:
        places = np.unique(where)
        phases = {
            int(place): self.at(int(place), int(lanes[np.argmax(where == place)])).phase
            for place in places
        }
        current = np.array([phases[int(place)] for place in where.tolist()])
        return (current & 1) != parity

    def acquire(self, where: Array, lanes: Array) -> None:
        """What was done before the arrivals has been done for these threads."""
        races = self.chunk.races
        if races is None:
            return
        for place in np.unique(where):
            races.clocks.acquire(lanes[where == place], ("mbarrier", int(place)))

    def sleep(self, wait: Wait) -> None:
        self.waiting.append(wait)

    def _wake(self, where: int) -> None:
        for wait in list(self.waiting):
            if not (wait.where == where).any():
                continue
            done = self._over(wait.where, wait.parity, wait.lanes)
            if not done.any():
                continue
            wait.out[wait.lanes[done]] = True
            self.acquire(wait.where[done], wait.lanes[done])
            self.chunk.resume(wait.lanes[done], wait.at + 1, wait.group.depth, wait.group.turn)
            self.waiting.remove(wait)
            if not done.all():
                left = ~done
                self.waiting.append(
                    Wait(
                        wait.group,
                        wait.at,
                        wait.lanes[left],
                        wait.where[left],
                        wait.parity[left],
                        wait.out,
                    )
                )

    def time_is_up(self) -> bool:
        """Let all who sleep look again; False where that has become hopeless, or nobody sleeps."""
        if not self.waiting:
            return False
        if self._seen != self.chunk.progress:
            self._seen, self._patience = self.chunk.progress, 0
        self._patience += 1
        if self._patience > _PATIENCE:
            return False
        waiting, self.waiting = self.waiting, []
        for wait in waiting:
            wait.out[wait.lanes] = False
            self.chunk.resume(wait.lanes, wait.at + 1, wait.group.depth, wait.group.turn)
        return True

    def stuck(self) -> AccessError | None:
        """Who waits for which object, and what that still wants."""
        chunk = self.chunk
        lines = []
        for wait in self.waiting:
            for place in np.unique(wait.where):
                who = wait.lanes[wait.where == place]
                found = self.objects[int(place)]
                parity = int(wait.parity[np.argmax(wait.where == place)])
                lines.append(
                    f"{len(who)} threads, the first {chunk.describe(int(who[0]))}, wait for the "
                    f"phase of parity {parity} of the mbarrier at "
                    f"{int(place) % chunk.shared_stride:#x}, now in phase {found.phase} with "
                    f"{found.pending} of {found.count} arrivals and {_pending(found.bytes)}: "
                    f"{place_of(chunk.program.code[wait.at])}"
                )
        if not lines:
            return None
        chunk.at = self.waiting[0].at
        text = "\n  ".join(["every thread waits", *lines])
        return AccessError("deadlock", text, lane=int(self.waiting[0].lanes[0]))


def _pending(nbytes: int) -> str:
    if nbytes < 0:
        return f"{-nbytes} bytes more than were announced"
    return f"{nbytes} bytes pending"


# ---------------------------------------------------------------- instructions


class Place:
    """The object that an operand names, for each thread."""

    def __init__(self, chunk: Chunk, decoded: Decoded, operand: Operand) -> None:
        words = decoded.words
        named = next((w for w in words.all if w.startswith("shared")), "")
        self.chunk = chunk
        self.where = addresses(chunk, decoded, operand)
        self.space = Space(chunk, named or "generic")

    def __call__(self, lanes: Lanes) -> Array:
        """Byte offsets in the chunk's shared memory."""
        at = self.where(lanes)
        parts = self.space.locate(at, BYTES, lanes)
        if len(parts) > 1 or parts[0][0] is not self.chunk.shared:
            raise AccessError("wrong-space", "an mbarrier lies in shared memory", position=0)
        return parts[0][1]


def bind(chunk: Chunk, decoded: Decoded) -> Step:
    """Every mbarrier instruction that does not sleep."""
    words, objects = decoded.words, chunk.mbarriers
    operands = list(decoded.operands)
    if "init" in words:
        return _initialise(chunk, decoded)
    if "inval" in words:
        place = Place(chunk, decoded, operands[0])

        def end(lanes: Lanes) -> None:
            for lane, where in zip(chunk.everyone(lanes), place(lanes).tolist(), strict=True):
                objects.invalidate(where, int(lane))

        return end
    if "pending_count" in words:
        out = steps.target(chunk, decoded, operands[0], "u32")
        state = steps.read(chunk, decoded, operands[1], "b64")

        def count(lanes: Lanes) -> None:
            out[... if lanes is None else lanes] = select(state, lanes) >> np.uint64(32)

        return count
    if "test_wait" in words:
        return _test(chunk, decoded)
    if words.all[1] in ("expect_tx", "complete_tx"):
        return _transaction(chunk, decoded)
    return _arrive(chunk, decoded)


def _initialise(chunk: Chunk, decoded: Decoded) -> Step:
    place = Place(chunk, decoded, decoded.operands[0])
    count = steps.read(chunk, decoded, decoded.operands[1], "u32")

    def step(lanes: Lanes) -> None:
        rows = zip(
            chunk.everyone(lanes).tolist(),
            place(lanes).tolist(),
            select(count, lanes).tolist(),
            strict=True,
        )
        for lane, where, number in rows:
            chunk.mbarriers.initialise(where, number, lane)

    return step


def _transaction(chunk: Chunk, decoded: Decoded) -> Step:
    place = Place(chunk, decoded, decoded.operands[0])
    size = steps.read(chunk, decoded, decoded.operands[1], "u32")
    sign = 1 if decoded.words.all[1] == "expect_tx" else -1

    def step(lanes: Lanes) -> None:
        who, where = chunk.everyone(lanes), place(lanes)
        chunk.mbarriers.watch(where, who)
        rows = zip(who.tolist(), where.tolist(), select(size, lanes).tolist(), strict=True)
        for lane, at, number in rows:
            chunk.mbarriers.expect(at, sign * number, lane)

    return step


def _arrive(chunk: Chunk, decoded: Decoded) -> Step:
    """arrive and arrive_drop, with and without bytes to expect."""
    words = decoded.words
    destination, address, *rest = decoded.operands
    out = None if destination == SINK else steps.target(chunk, decoded, destination, "b64")
    place = Place(chunk, decoded, address)
    number = steps.read(chunk, decoded, rest[0], "u32") if rest else None
    expects, drop = "expect_tx" in words, words.all[1] == "arrive_drop"
    completes = "noComplete" not in words
    objects = chunk.mbarriers

    def step(lanes: Lanes) -> None:
        who, where = chunk.everyone(lanes), place(lanes)
        numbers = np.ones(len(who), np.int64) if number is None else select(number, lanes)
        objects.watch(where, who)
        release(chunk, who, where)
        states = np.zeros(len(who), np.uint64)
        rows = zip(who.tolist(), where.tolist(), numbers.tolist(), strict=True)
        for row, (lane, at, value) in enumerate(rows):
            pending = objects.at(at, lane).pending
            if expects:
                # The bytes are announced before the arrival can end the phase.
                objects.at(at, lane).bytes += value
            phase = objects.arrive(at, 1 if expects else value, lane, drop, completes)
            states[row] = phase & 0xFFFFFFFF | pending << 32
        if out is not None:
            out[... if lanes is None else lanes] = states

    return step


def release(chunk: Chunk, who: Array, where: Array) -> None:
    """What these threads have done comes before what the waiters do."""
    races = chunk.races
    if races is None:
        return
    for place in np.unique(where):
        for _, some in races.clocks.by_domain(who[where == place]):
            races.clocks.release(some, ("mbarrier", int(place)))


def _wanted(chunk: Chunk, decoded: Decoded) -> tuple[Array, Place, Source, bool]:
    """Result, object, parity or state of a wait, and whether it is a parity."""
    parity = "parity" in decoded.words
    out = steps.target(chunk, decoded, decoded.operands[0], "pred")
    place = Place(chunk, decoded, decoded.operands[1])
    value = steps.read(chunk, decoded, decoded.operands[2], "u32" if parity else "b64")
    return out, place, value, parity


def _asked(chunk: Chunk, where: Array, value: Array, parity: bool, who: Array) -> Array:
    """The parity that is waited for: given, or that of the phase of a state; raises
    :class:`AccessError` where it is none that can be waited for (PTX ISA 9.0, 9.7.13.15.16).
    """
    if parity:
        wrong = value > 1
        problem = "a phase has the parity 0 or 1, not {}"
    else:
        wanted = value & np.uint64(0xFFFFFFFF)
        now = np.array(
            [
                chunk.mbarriers.at(at, lane).phase
                for at, lane in zip(where.tolist(), who.tolist(), strict=True)
            ],
            np.uint64,
        )
        wrong = (wanted != now) & (wanted + np.uint64(1) != now)
        problem = "a state of phase {} of an mbarrier that is in phase "
    if wrong.any():
        row = int(np.argmax(wrong))
        given = int(value[row]) & 0xFFFFFFFF
        text = problem.format(given)
        if not parity:
            text += f"{int(now[row])}: only that one and the one before can be waited for"
        raise AccessError(
            "barrier", text, lane=int(who[row]), address=int(where[row]) % chunk.shared_stride
        )
    asked: Array = value.astype(np.int64) & 1
    return asked


def _test(chunk: Chunk, decoded: Decoded) -> Step:
    out, place, value, parity = _wanted(chunk, decoded)

    def step(lanes: Lanes) -> None:
        who, where = chunk.everyone(lanes), place(lanes)
        chunk.mbarriers.watch(where, who)
        wanted = _asked(chunk, where, select(value, lanes), parity, who)
        done = chunk.mbarriers.over(where, wanted, who)
        out[... if lanes is None else lanes] = done
        if done.any():
            chunk.mbarriers.acquire(where[done], who[done])

    return step


def bind_wait(chunk: Chunk, decoded: Decoded) -> Control:
    """try_wait: sleep until the phase is over or the time is up."""
    out, place, value, parity = _wanted(chunk, decoded)
    objects = chunk.mbarriers

    def run(group: Group) -> int | None:
        who, where = chunk.everyone(group.lanes), place(group.lanes)
        objects.watch(where, who)
        wanted = _asked(chunk, where, select(value, group.lanes), parity, who)
        done = objects.over(where, wanted, who)
        if done.any():
            out[who[done]] = True
            objects.acquire(where[done], who[done])
            if done.all():
                return decoded.at + 1
            chunk.resume(who[done], decoded.at + 1, group.depth, group.turn)
        left = ~done
        objects.sleep(Wait(group, decoded.at, who[left], where[left], wanted[left], out))
        return None

    return run
