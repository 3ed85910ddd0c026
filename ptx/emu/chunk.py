"""A chunk: some CTAs whose threads advance together.

All threads that stand at one instruction are a group and execute it as one numpy operation, across
warps and CTAs. Groups part at a divergent branch; the one furthest back runs first, so that they
meet again where the paths join. A group that keeps branching backward while others wait lets them
have a turn, so a thread that spins on memory cannot starve the one it waits for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx.emu import access, control, proxies, steps, warp
from ptx.emu.barriers import Barriers, place_of
from ptx.emu.bulk import Bulk
from ptx.emu.clusters import ClusterBarrier
from ptx.emu.faults import AccessError, EmulatorFault, Unmodelled
from ptx.emu.global_proxies import GlobalProxies
from ptx.emu.mbarriers import Objects
from ptx.emu.meetings import Watch
from ptx.emu.memory import Array, Memory, Region
from ptx.emu.products import Products
from ptx.emu.program import Decoded, Program, storage_bits
from ptx.emu.races import Races
from ptx.emu.register_pool import RegisterPool
from ptx.emu.special import special_register
from ptx.emu.steps import Lanes, Step
from ptx.ir import Not, Reg, Vector

if TYPE_CHECKING:
    from ptx.emu.machine import Launch

POLLING_STEPS = 1_000
"""So many steps in which threads poll, and nothing that others wait for is done, are enough."""

QUIET_PAUSES = 8
"""After so many stretches of as many steps it is looked whether threads go round for ever."""

Control = Callable[["Group"], "int | None"]


@dataclass(eq=False, slots=True)
class Group:
    """Threads that stand at one instruction; `lanes` None is all threads of the chunk."""

    at: int
    lanes: Lanes
    depth: int = 0
    turn: int = 0
    backward: int = 0
    team: int = 0


class Chunk:
    """Registers, shared and local memory and the waiting places of the threads of some CTAs."""

    def __init__(self, launch: Launch, ctas: Array) -> None:
        self.launch = launch
        self.program: Program = launch.program
        self.memory: Memory = launch.memory
        self.ctas = ctas.copy()
        self.threads_per_cta = launch.threads_per_cta
        self.count = len(ctas) * self.threads_per_cta
        self._registers: dict[int, Array] = {}
        self._defined: dict[int, Array] = {}
        self._specials: dict[tuple[str, str], steps.Source] = {}
        self.carry: Array = np.zeros(self.count, np.bool_)
        self._place_threads()
        self._make_memory()
        self.alive = np.ones(self.count, np.bool_)
        self.living = self.count
        self.ready: list[Group] = []
        self.team_of: Array | None = None
        """Warps that only move together are a team; None: all of them do."""
        self.barriers = Barriers(self)
        self.warps = warp.Waiting(self)
        self.meetings = Watch(self)
        self.cluster_barrier = ClusterBarrier(self)
        self.mbarriers = Objects(self)
        self.register_pool = RegisterPool(self)
        self.bulk = Bulk(self)
        self.calls = control.CallStack(self)
        self.copies = access.AsyncCopies(self)
        self.products = Products(self)
        self.races = Races(self) if launch.find_races else None
        self.proxies = (
            proxies.Proxies(self, self.races) if self.races and proxies.needed(self) else None
        )
        self.global_proxies = (
            GlobalProxies(self, launch.history.proxies, self.races.memory)
            if self.races and proxies.needed_global(self)
            else None
        )
        self.progress = 0
        """Counts what others might wait for: stores, changes by atomics, arrivals, exits."""
        self._seen = -1
        self.polled_at: int | None = None
        """The last strong read or atomic since the last pause."""
        self.stalled = False
        self.repeats = False
        """Whether threads stood at the last pause where they had stood before, with the same values
        in all registers, and nothing has been done for others in between."""
        self._stood: set[bytes] = set()
        self._quiet = self._changes = 0
        self.at = 0
        self.issued = 0
        self._accounted = 0
        self._pause_at = 0
        self._steps: dict[int, Step] = {}
        self._controls: dict[int, Control] = {}
        self._bind_all()

    def start(self, ctas: Array) -> None:
        """Put the threads of as many CTAs at the kernel's first instruction; steps stay bound."""
        self.ctas[...] = ctas
        self._coordinates["ctaid"] = self._cta_coordinates()
        for (name, type), source in self._specials.items():
            if not callable(source) and source.flags.writeable:
                source[...] = special_register(self, name, type)
        for region in (self.shared, self.local, self.arguments):
            region.clear()
        for defined in self._defined.values():
            defined[:] = False
        self.alive[:] = True
        self.living = self.count
        waiting = self.barriers, self.warps, self.cluster_barrier, self.mbarriers
        copying = self.copies, self.bulk, self.products
        for part in (
            *waiting,
            *copying,
            self.register_pool,
            self.races,
            self.proxies,
            self.global_proxies,
        ):
            if part is not None:
                part.reset()
        self.team_of = self.launch.order.teams(self)
        self.ready = []
        self._forget()
        self.resume(np.arange(self.count), self.program.entry[self.program.kernel.name])

    # ------------------------------------------------------------ threads

    def _place_threads(self) -> None:
        lane = np.arange(self.count)
        launch = self.launch
        self.cta_of = lane // self.threads_per_cta
        """The CTA of each thread, counted in this chunk."""
        thread = lane % self.threads_per_cta
        self.thread = thread
        self.lane_id = (thread % 32).astype(np.uint32)
        warps = -(-self.threads_per_cta // 32)
        self.warp_of = self.cta_of * warps + thread // 32
        """The warp of each thread, counted in this chunk."""
        self.warp_count = len(self.ctas) * warps
        self.warp_first = self.cta_of * self.threads_per_cta + thread // 32 * 32
        """The first thread of its warp."""
        x, y, _ = launch.block
        self._coordinates = {
            "tid": (thread % x, thread // x % y, thread // (x * y)),
            "ctaid": self._cta_coordinates(),
        }

    def _cta_coordinates(self) -> tuple[Array, Array, Array]:
        grid_x, grid_y, _ = self.launch.grid
        cta = self.ctas[self.cta_of]
        return cta % grid_x, cta // grid_x % grid_y, cta // (grid_x * grid_y)

    def special(self, name: str, type: str) -> steps.Source:
        """A special register."""
        if (name, type) not in self._specials:
            self._specials[name, type] = special_register(self, name, type)
        return self._specials[name, type]

    def coordinate(self, name: str, axis: int) -> Array:
        return self._coordinates[name][axis]

    # ------------------------------------------------------------ storage

    def _make_memory(self) -> None:
        def padded(size: int) -> int:
            return -(-size // 32) * 32

        shared = self.launch.shared_bytes
        self.shared_stride = padded(shared)
        self.shared = Region(0, self.shared_stride * len(self.ctas), "shared memory")
        self.local_stride = padded(self.program.local_bytes)
        self.local = Region(0, self.local_stride * self.count, "local memory")
        self.argument_stride = padded(self.program.argument_bytes)
        self.arguments = Region(0, self.argument_stride * self.count, "call parameters")

    def register(self, slot: int) -> Array:
        """The array that holds a register, one element for each thread."""
        if slot not in self._registers:
            width = storage_bits(self.program.slot_types[slot])
            if width == 1:
                array: Array = np.zeros(self.count, np.bool_)
            elif width == 128:
                array = np.zeros((self.count, 2), np.uint64)
            else:
                array = np.zeros(self.count, f"u{width // 8}")
            self._registers[slot] = array
        return self._registers[slot]

    def defined(self, slot: int) -> Array:
        """Where a doubtful register holds a value."""
        if slot not in self._defined:
            self._defined[slot] = np.zeros(self.count, np.bool_)
        return self._defined[slot]

    # ------------------------------------------------------------ binding

    def _bind_all(self) -> None:
        """Bind every instruction, so that what is not modelled is refused before anything runs."""
        for decoded in self.program.code:
            try:
                if self.program.is_control[decoded.at]:
                    self._controls[decoded.at] = self._control(decoded)
                else:
                    step = self._follow(decoded, self._bind(decoded))
                    step = self._guard(decoded, self.products.watched(decoded, step))
                    self._steps[decoded.at] = step
                if decoded.at in self.program.meeting_points:
                    self._watch_meeting(decoded.at)
            except Unmodelled as error:
                if error.place is None and decoded.instruction.place is not None:
                    text = f"{error.message}\n  {decoded.instruction}"
                    raise Unmodelled(text, decoded.instruction.place) from error
                raise

    def _watch_meeting(self, at: int) -> None:
        passed = self.meetings.passed
        if self.program.is_control[at]:
            control = self._controls[at]

            def met(group: Group) -> int | None:
                passed(at, group.lanes)
                return control(group)

            self._controls[at] = met
            return
        step = self._steps[at]

        def run(lanes: Lanes) -> None:
            passed(at, lanes)
            step(lanes)

        self._steps[at] = run

    def _bind(self, decoded: Decoded) -> Step:
        vectors = sum(isinstance(operand, Vector) for operand in decoded.operands)
        if decoded.words.opcode == "mov" and vectors == 1:
            return steps.bind_vector_move(self, decoded)
        if decoded.meaning is not None:
            return steps.bind_meaning(self, decoded, decoded.meaning)
        return access.bind(self, decoded)

    def _follow(self, decoded: Decoded, step: Step) -> Step:
        doubtful = self.program.doubtful
        if not doubtful:
            return step
        reads, writes = self.program.reads_writes(decoded)
        doubted = [slot for slot in reads if slot in doubtful]
        written = [self.defined(slot) for slot in writes if slot in doubtful]
        if decoded.meaning is not None:
            if not written:
                return step
            return steps.following(step, [self.defined(slot) for slot in doubted], written)
        if doubted:
            step = self.checked(step, doubted)
        return steps.following(step, [], written) if written else step

    def checked(self, step: Step, slots: list[int]) -> Step:
        names = self.program.slot_names
        return steps.checked(step, [(names[slot], self.defined(slot)) for slot in slots])

    def guard(self, decoded: Decoded) -> tuple[Array, bool] | None:
        """The guard's array and whether it is negated."""
        guard = decoded.instruction.guard
        if guard is None:
            return None
        reg: Reg = guard.reg if isinstance(guard, Not) else guard
        return self.register(self.program.slot_of(decoded, reg)), isinstance(guard, Not)

    def _guard(self, decoded: Decoded, step: Step) -> Step:
        guard = self.guard(decoded)
        if guard is None:
            return step
        run = steps.guarded(step, *guard, self.count)
        doubted = self._doubted_guard(decoded)
        return self.checked(run, doubted) if doubted else run

    def _doubted_guard(self, decoded: Decoded) -> list[int]:
        guard = decoded.instruction.guard
        if guard is None or not self.program.doubtful:
            return []
        reg = guard.reg if isinstance(guard, Not) else guard
        slot = self.program.slot_of(decoded, reg)
        return [slot] if slot in self.program.doubtful else []

    def _control(self, decoded: Decoded) -> Control:
        made = self.products.watched_control(decoded, control.bind(self, decoded))
        doubted = self._doubted_guard(decoded)
        if not doubted:
            return made
        check = self.checked(lambda lanes: None, doubted)

        def run(group: Group) -> int | None:
            check(group.lanes)
            return made(group)

        return run

    # ------------------------------------------------------------ running

    def push(self, group: Group) -> None:
        """A group that can run; it joins one that stands at the same place."""
        for other in self.ready:
            if (other.at, other.depth, other.team) == (group.at, group.depth, group.team):
                assert other.lanes is not None and group.lanes is not None
                merged = np.union1d(other.lanes, group.lanes)
                other.lanes = None if len(merged) == self.count else merged
                other.turn = max(other.turn, group.turn)
                return
        self.ready.append(group)

    def resume(self, lanes: Array, at: int, depth: int = 0, turn: int = 0) -> None:
        """Threads that can go on, each team for itself."""
        if self.team_of is None:
            every = None if len(lanes) == self.count else lanes
            self.push(Group(at, every, depth, turn))
            return
        teams = self.team_of[lanes]
        for team in np.unique(teams):
            some = lanes[teams == team]
            every = None if len(some) == self.count else some
            self.push(Group(at, every, depth, turn, team=int(team)))

    def everyone(self, lanes: Lanes) -> Array:
        """The indices of the threads of a group."""
        return np.arange(self.count) if lanes is None else lanes

    def size(self, lanes: Lanes) -> int:
        return self.count if lanes is None else len(lanes)

    def _pick(self) -> Group:
        chosen = min(self.ready, key=lambda g: (g.turn, g.team, -g.depth, g.at))
        self.ready.remove(chosen)
        return chosen

    def run(self) -> bool:
        """Until every thread has left; False where, before that, all that happens is that threads
        poll memory and CTAs of other chunks could run. Raises :class:`EmulatorFault`.
        """
        self.stalled, self.polled_at = False, None
        if self._changes != self.launch.changes:
            self._changes = self.launch.changes
            self._forget()
        self._allow()
        with np.errstate(all="ignore"):
            while not self.stalled:
                while self.ready and not self.stalled:
                    group = self._pick()
                    try:
                        self._advance(group)
                    except AccessError as error:
                        raise self.fault(error, self.at, group.lanes) from None
                if self.living == 0:
                    break
                if not self.ready:
                    self._unblock()
        self._account()
        if self.living == 0 and self.races is not None and self.races.dependencies is not None:
            self.races.dependencies.ended()
        return self.living == 0

    def _allow(self) -> None:
        """Steps until the next :meth:`_pause`."""
        left = self.launch.step_limit - self.launch.issued
        self._pause_at = self.issued + min(POLLING_STEPS, left)

    def _account(self) -> None:
        self.launch.issued += self.issued - self._accounted
        self._accounted = self.issued

    def _pause(self, group: Group) -> None:
        """Now and then: whether too much has been done, whether threads only poll, and whether they
        will for ever.
        """
        self._account()
        launch, polled = self.launch, self.polled_at
        if launch.issued > launch.step_limit:
            text = f"more than {launch.step_limit} steps were executed"
            if polled is not None:
                text += f"\n  threads poll memory: {place_of(self.program.code[polled])}"
            raise AccessError("step-limit", text)
        quiet = self.progress == self._seen
        self._watch_repetition(group, quiet)
        self.stalled = polled is not None and quiet and launch.others_wait
        if self.repeats and not self.stalled and not self.mbarriers.time_is_up():
            raise self.endless()
        self._seen = self.progress
        if not self.stalled:
            self.polled_at = None
        self._allow()

    def _watch_repetition(self, group: Group, quiet: bool) -> None:
        """What threads do follows from where they stand and what they hold, as long as memory stays
        as it is.
        """
        if not quiet:
            self._forget()
            return
        self._quiet += 1
        if self._quiet % QUIET_PAUSES and not self.launch.others_wait:
            return
        state = hashlib.blake2b(digest_size=16)
        least = min(one.turn for one in (group, *self.ready))
        for one in (group, *self.ready):
            place = one.at, one.depth, one.turn - least, one.backward, one.team
            state.update(repr(place).encode())
            state.update(b"" if one.lanes is None else one.lanes.tobytes())
        for held in (*self._registers.values(), self.carry):
            state.update(held.data)
        found = state.digest()
        self.repeats = found in self._stood
        self._stood.add(found)

    def _forget(self) -> None:
        """Memory has changed."""
        self._stood.clear()
        self._quiet, self.repeats = 0, False

    def endless(self) -> AccessError:
        """The fault of threads that go round for ever."""
        polled = self.polled_at
        if polled is None:
            return AccessError("deadlock", "threads go round for ever, and nothing changes")
        self.at = polled
        return AccessError(
            "deadlock",
            "threads poll memory that nobody writes any more, since all others have ended, or wait "
            f"too: {place_of(self.program.code[polled])}",
        )

    def _advance(self, group: Group) -> None:
        """Run a group until it waits, parts or ends, or others could run."""
        stop, code_steps, is_control = self.program.stop, self._steps, self.program.is_control
        report = self.launch.counts
        while True:
            at, lanes = group.at, group.lanes
            end = stop[at]
            for number in range(at, end):
                self.at = number
                code_steps[number](lanes)
            self.issued += end - at + 1
            if self.issued > self._pause_at:
                self._pause(group)
            if report is not None:
                report.run(self, at, end + is_control[end], lanes)
            if is_control[end]:
                self.at = end
                group.at = end
                following = self._controls[end](group)
                if following is None:
                    return
                group.at = following
            else:
                group.at = end
            if self.ready or self.stalled:
                self.push(group)
                return

    def leave(self, lanes: Lanes) -> None:
        """Threads that exit."""
        who = self.everyone(lanes)
        self.alive[who] = False
        self.living -= len(who)
        self.progress += 1
        self.bulk.left(who)
        if self.races is not None and self.launch.cluster_size > 1:
            ctas, first = np.unique(self.cta_of[who], return_index=True)
            for cta, gone, lane in zip(ctas, ~self.cta_alive(ctas), who[first], strict=True):
                if gone:
                    self.races.left(int(cta), int(lane))
        if self.living:
            self.barriers.recheck()
            self.warps.recheck()
            self.cluster_barrier.release()

    def met(self, lanes: Lanes, key: Any = None) -> None:
        """Threads have passed a barrier together; `key` names the barrier where others arrived."""
        if self.launch.counts is not None:
            passed = len(self.ctas) if lanes is None else len(np.unique(self.cta_of[lanes]))
            self.launch.counts.barriers += passed
        if self.races is None:
            return
        if lanes is None:
            self.races.clocks.all_met()
            return
        for _, some in self.races.clocks.by_domain(lanes):
            self.races.clocks.met(some, key)

    def cta_alive(self, ctas: Array) -> Array:
        """Whether a thread of each CTA (of this chunk) still lives."""
        if self.living == self.count:
            return np.ones(len(ctas), np.bool_)
        return (np.bincount(self.cta_of[self.alive], minlength=len(self.ctas)) > 0)[ctas]

    def _unblock(self) -> None:
        """Nobody can run: let those go on that may, or say who waits for what."""
        if self.mbarriers.time_is_up():
            return
        own = self.warps, self.register_pool
        waiting = *own, self.mbarriers, self.barriers, self.cluster_barrier
        fault = next((found for part in waiting if (found := part.stuck()) is not None), None)
        if fault is not None:
            raise self.fault(fault, self.at, None)
        raise self.fault(
            AccessError("deadlock", f"{self.living} threads wait for nothing that is known"),
            self.at,
            None,
        )

    # ------------------------------------------------------------ faults

    def describe(self, lane: int) -> str:
        cta, thread = self.position(lane)
        return f"CTA {cta} thread {thread}"

    def position(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        tid, ctaid = self._coordinates["tid"], self._coordinates["ctaid"]
        return (
            (int(ctaid[0][lane]), int(ctaid[1][lane]), int(ctaid[2][lane])),
            (int(tid[0][lane]), int(tid[1][lane]), int(tid[2][lane])),
        )

    def fault(self, error: AccessError, at: int, lanes: Lanes) -> EmulatorFault:
        """An access error with the place, the CTA and the thread it happened in."""
        instruction = self.program.code[at].instruction
        cta: Any = None
        thread: Any = None
        if error.lane >= 0:
            cta, thread = self.position(error.lane)
        return EmulatorFault(
            error.kind,
            error.message,
            place=instruction.place,
            line=str(instruction),
            cta=cta,
            thread=thread,
            address=error.address,
            allocation=error.allocation,
        )
