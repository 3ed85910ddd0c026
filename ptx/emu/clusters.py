"""Clusters: CTAs that see each other's shared memory (PTX ISA 9.0, sections 9.7.9.23, 9.7.13.4).

In the window of shared memory a CTA's own bytes lie at 0; those of the CTA with rank r of its
cluster, as ``mapa`` gives them, at (r + 1) << 24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.emu import steps
from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError
from ptx.emu.memory import RANK_SHIFT, SHARED_WINDOW, Array
from ptx.emu.program import Decoded
from ptx.emu.steps import Step, select

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group
    from ptx.emu.steps import Lanes


def peers(chunk: Chunk, at: Array, owner: Array, own_only: bool) -> tuple[Array, Array]:
    """Addresses with a rank as offsets and the CTAs (of the chunk) that own them."""
    size = chunk.launch.cluster_size
    rank = (at >> RANK_SHIFT) - 1
    ranked = rank >= 0
    if (rank >= size).any() or (at < 0).any():
        # No rank at all: what follows reports the address as it is.
        return at, owner
    peer = np.where(ranked, owner // size * size + rank, owner)
    if own_only and (peer != owner).any():
        where = int(np.argmax(peer != owner))
        raise AccessError(
            "wrong-space",
            f"the address lies in the shared memory of the CTA with rank {int(rank[where])} of the "
            "cluster; .shared::cta is the thread's own CTA",
            position=where,
            address=int(at[where]),
        )
    if not chunk.cta_alive(peer).all():
        where = int(np.argmin(chunk.cta_alive(peer)))
        raise AccessError(
            "use-after-free",
            f"the CTA with rank {int(rank[where])} of the cluster has exited",
            position=where,
            address=int(at[where]),
        )
    return np.where(ranked, at & ((1 << RANK_SHIFT) - 1), at), peer


def map_address(chunk: Chunk, decoded: Decoded) -> Step:
    """mapa: the address of the same variable in the CTA of a rank."""
    to, source, rank_operand = decoded.operands
    type = decoded.words.type
    out = steps.target(chunk, decoded, to, type)
    value = steps.read(chunk, decoded, source, type)
    rank = steps.read(chunk, decoded, rank_operand, "u32")
    shared = any(word.startswith("shared") for word in decoded.words.all)
    base = 0 if shared else SHARED_WINDOW

    def step(lanes: Lanes) -> None:
        wanted = select(rank, lanes).astype(np.int64)
        if (wanted >= chunk.launch.cluster_size).any():
            where = int(np.argmax(wanted))
            raise AccessError(
                "out-of-bounds",
                f"rank {int(wanted[where])} in a cluster of {chunk.launch.cluster_size}",
                position=where,
            )
        offset = select(value, lanes).astype(np.int64) - base
        within = offset & ((1 << RANK_SHIFT) - 1)
        out[... if lanes is None else lanes] = base + within + ((wanted + 1) << RANK_SHIFT)

    return step


def get_rank(chunk: Chunk, decoded: Decoded) -> Step:
    """getctarank: whose shared memory an address lies in."""
    to, source = decoded.operands
    out = steps.target(chunk, decoded, to, "u32")
    value = steps.read(chunk, decoded, source, decoded.words.type)
    ranks = chunk.launch.cluster_rank(chunk)[chunk.cta_of]

    def step(lanes: Lanes) -> None:
        offset = select(value, lanes).astype(np.int64) & (SHARED_WINDOW - 1)
        rank = (offset >> RANK_SHIFT) & 0xFF
        own = ranks if lanes is None else ranks[lanes]
        out[... if lanes is None else lanes] = np.where(rank == 0, own, rank - 1)

    return step


class ClusterBarrier:
    """The one barrier of each cluster of a chunk: every thread that lives arrives, then waits."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.reset()

    def reset(self) -> None:
        """Nobody has arrived."""
        chunk = self.chunk
        self.phase = np.zeros(chunk.count, np.int64)
        """How many times each thread has arrived."""
        self.passed = np.zeros(chunk.count, np.int64)
        """How many times it has waited."""
        self.waits_at = np.full(chunk.count, -1, np.int64)
        self.groups: dict[int, tuple[int, int]] = {}

    def arrive(self, lanes: Lanes, releases: bool = True) -> None:
        who = ... if lanes is None else lanes
        waited = self.passed[who] == self.phase[who]
        if not waited.all():
            lane = int(self.chunk.everyone(lanes)[np.argmin(waited)])
            raise AccessError(
                "barrier", "a thread arrives twice at the cluster's barrier without waiting", lane
            )
        self.phase[who] += 1
        self.chunk.progress += 1
        races = self.chunk.races
        if races is None:
            return
        everyone = self.chunk.everyone(lanes)
        if releases:
            for domain, some in races.clocks.by_domain(everyone):
                races.clocks.release(some, ("cluster", domain))
        else:
            races.ordering.arrive(everyone)
            self.chunk.mbarriers.announce(everyone)

    def done(self, who: Array) -> Array:
        """Whether all threads of its cluster have arrived as often as each thread."""
        chunk = self.chunk
        cluster = chunk.cta_of // chunk.launch.cluster_size
        most = np.iinfo(np.int64).max
        least = np.full(int(cluster[-1]) + 1, most)
        np.minimum.at(least, cluster[chunk.alive], self.phase[chunk.alive])
        met: Array = least[cluster[who]] >= self.phase[who]
        return met

    def wait(self, group: Group, at: int) -> int | None:
        chunk = self.chunk
        who = chunk.everyone(group.lanes)
        arrived = self.phase[who] > self.passed[who]
        if not arrived.all():
            raise AccessError(
                "barrier",
                "a thread waits at the cluster's barrier without having arrived",
                lane=int(who[np.argmin(arrived)]),
            )
        if self.done(who).all():
            self._pass(who)
            return at + 1
        self.waits_at[who] = at
        self.groups[at] = (group.depth, group.turn)
        return None

    def _pass(self, who: Array) -> None:
        """Threads go on: what every thread of their cluster did before it arrived has been done."""
        chunk = self.chunk
        self.passed[who] += 1
        if chunk.launch.counts is not None:
            chunk.launch.counts.barriers += len(np.unique(chunk.cta_of[who]))
        if chunk.races is not None:
            for domain, some in chunk.races.clocks.by_domain(who):
                chunk.races.clocks.acquire(some, ("cluster", domain))
                chunk.mbarriers.publish(domain)

    def release(self) -> bool:
        """Let those go whose cluster has arrived."""
        chunk = self.chunk
        waiting = np.flatnonzero(self.waits_at >= 0)
        if not len(waiting):
            return False
        free = waiting[self.done(waiting)]
        if not len(free):
            return False
        for at in np.unique(self.waits_at[free]):
            lanes = free[self.waits_at[free] == at]
            self.waits_at[lanes] = -1
            self._pass(lanes)
            chunk.resume(lanes, int(at) + 1, *self.groups[int(at)])
        return True

    def stuck(self) -> AccessError | None:
        waiting = np.flatnonzero(self.waits_at >= 0)
        if not len(waiting):
            return None
        lane = int(waiting[0])
        self.chunk.at = int(self.waits_at[lane])
        return AccessError(
            "deadlock",
            f"every thread waits\n  {len(waiting)} threads, the first {self.chunk.describe(lane)}, "
            "wait for the rest of their cluster: "
            + place_of(self.chunk.program.code[self.chunk.at]),
            lane=lane,
        )


def barrier(chunk: Chunk, decoded: Decoded) -> Control:
    """barrier.cluster.arrive and .wait."""
    state = chunk.cluster_barrier
    if "wait" in decoded.words:
        return lambda group: state.wait(group, decoded.at)

    def run(group: Group) -> int | None:
        state.arrive(group.lanes, "relaxed" not in decoded.words)
        state.release()
        return decoded.at + 1

    return run
