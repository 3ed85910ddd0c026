"""What the threads of a warp do together: shuffles, votes, matches, warp barriers, matrix moves.

An instruction with a member mask waits until every thread of the mask that has not exited stands at
it. A thread that executes it without being named, or a mask whose threads never come, is a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx.emu import steps
from ptx.emu.barriers import place_of
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.semantics.floating import pick
from ptx.emu.semantics.rules import dtype_of
from ptx.emu.semantics.specials import canonical
from ptx.emu.steps import Source, select
from ptx.ir import SINK, Pair

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk, Control, Group

Together = Callable[[Array], None]
"""What a warp instruction does for threads that execute it together."""


class Waiting:
    """Threads that wait at a warp instruction for the others that its mask names."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.reset()

    def reset(self) -> None:
        """Nobody waits."""
        chunk = self.chunk
        self.lanes: dict[int, Array] = {}
        self.masks = np.zeros(chunk.count, np.uint32)
        self.depths: dict[int, tuple[int, int]] = {}
        self.spans: dict[int, int] = {}
        self.actions: dict[int, Together] = {}

    def arrive(
        self, group: Group, at: int, masks: Array, action: Together, span: int = 1
    ) -> int | None:
        """Threads stand at a warp instruction; `span` warps side by side go on together."""
        chunk = self.chunk
        who = chunk.everyone(group.lanes)
        waiting = self.lanes.get(at)
        here = who if waiting is None else np.union1d(waiting, who)
        self.masks[who] = masks
        self._check_named(at, who, masks)
        self._check_alike(here)
        self.spans[at] = span
        come = self._complete(here, span)
        if come.all():
            self.lanes.pop(at, None)
            action(here)
            if waiting is None:
                return at + 1
            chunk.resume(here, at + 1, group.depth, group.turn)
            return None
        self.depths[at] = (group.depth, group.turn)
        self.actions[at] = action
        self.lanes[at] = here[~come]
        if come.any():
            action(here[come])
            chunk.resume(here[come], at + 1, group.depth, group.turn)
        return None

    def _check_named(self, at: int, who: Array, masks: Array) -> None:
        bits = np.uint32(1) << self.chunk.lane_id[who]
        absent = (masks & bits) == 0
        if absent.any():
            where = int(np.argmax(absent))
            lane = int(who[where])
            raise AccessError(
                "mask",
                f"lane {int(self.chunk.lane_id[lane])} executes this with the member mask "
                f"{int(masks[where]):#010x}, which does not name it",
                lane=lane,
            )

    def _check_alike(self, here: Array) -> None:
        """Lanes that a mask names come with the same mask (PTX ISA 9.0, 9.7.9.6 and 9.7.13.2)."""
        masks = self.masks[here]
        if int(masks.min()) == int(masks.max()):
            return
        for mask in np.unique(masks):
            same = masks == mask
            theirs = self._bits(here[~same]) & mask
            wrong = np.flatnonzero(same & (theirs[self.chunk.warp_of[here]] != 0))
            if len(wrong):
                lane = int(here[wrong[0]])
                other = int(theirs[self.chunk.warp_of[lane]])
                other = lane - int(self.chunk.lane_id[lane]) + (other & -other).bit_length() - 1
                raise AccessError(
                    "mask",
                    f"the member mask {int(mask):#010x} names lane {int(self.chunk.lane_id[other])}"
                    f", which comes with another, {int(self.masks[other]):#010x}",
                    lane=lane,
                )

    def _bits(self, who: Array) -> Array:
        """For each warp of the chunk the lanes among `who`."""
        chunk = self.chunk
        weights = np.ldexp(1.0, chunk.lane_id[who].astype(np.int64))
        found: Array = np.bincount(chunk.warp_of[who], weights, chunk.warp_count).astype(np.uint32)
        return found

    def _complete(self, here: Array, span: int) -> Array:
        """Whether all that its mask names and that lives stands here, for each thread."""
        chunk = self.chunk
        if len(here) == chunk.living:
            return np.ones(len(here), np.bool_)
        present = self._bits(here)[chunk.warp_of[here]]
        living = self._bits(np.flatnonzero(chunk.alive))[chunk.warp_of[here]]
        missing = self.masks[here] & living & ~present
        if span == 1:
            return missing == 0
        # All warps of a warpgroup come, or none goes on.
        group = chunk.cta_of * 64 + chunk.thread // (32 * span)
        wanted = np.bincount(group[chunk.alive], minlength=int(group[-1]) + 1)
        found = np.bincount(group[here], minlength=int(group[-1]) + 1)
        return (missing == 0) & (wanted == found)[group[here]]

    def recheck(self) -> None:
        """Threads have exited: a mask may be met now."""
        for at in list(self.lanes):
            here = self.lanes[at]
            come = self._complete(here, self.spans[at])
            if come.any():
                self.lanes[at] = here[~come]
                if come.all():
                    del self.lanes[at]
                # What goes wrong in it happens here, not where the others exited.
                self.chunk.at = at
                self.actions[at](here[come])
                self.chunk.resume(here[come], at + 1, *self.depths[at])

    def stuck(self) -> AccessError | None:
        """A mask whose threads never come."""
        chunk = self.chunk
        for at, here in self.lanes.items():
            lane = int(here[0])
            chunk.at = at
            present = self._bits(here)[chunk.warp_of[lane]]
            living = self._bits(np.flatnonzero(chunk.alive))[chunk.warp_of[lane]]
            missing = int(self.masks[lane] & living & ~present)
            if not missing:
                return AccessError(
                    "mask",
                    "other warps of the warpgroup never come to "
                    + place_of(chunk.program.code[at]),
                    lane=lane,
                )
            lanes = [n for n in range(32) if missing >> n & 1]
            return AccessError(
                "mask",
                f"the member mask {int(self.masks[lane]):#010x} names lanes "
                f"{_ranges(lanes)} of the warp, which never come to "
                f"{place_of(chunk.program.code[at])}",
                lane=lane,
            )
        return None


def _ranges(lanes: list[int]) -> str:
    """``0-15, 20``."""
    parts: list[str] = []
    start = previous = lanes[0]
    for lane in [*lanes[1:], -1]:
        if lane != previous + 1:
            parts.append(f"{start}-{previous}" if start != previous else f"{start}")
            start = lane
        previous = lane
    return ", ".join(parts)


def bind(chunk: Chunk, decoded: Decoded) -> Control:
    """The control operation of a warp instruction."""
    from ptx.emu import mbarriers, tensor, warpgroup

    opcode = decoded.words.opcode
    if opcode == "mbarrier":
        return mbarriers.bind_wait(chunk, decoded)
    makers: dict[str, Callable[[Chunk, Decoded], tuple[Source | None, Together]]] = {
        "shfl": _shuffle,
        "vote": _vote,
        "match": _match,
        "activemask": _active_mask,
        "redux": _reduce,
        "elect": _elect,
        "bar": _warp_barrier,
    }
    makers["wgmma"] = warpgroup.maker
    mask, action = (makers.get(opcode) or tensor.maker(decoded))(chunk, decoded)
    span = 4 if opcode == "wgmma" else 1
    settle = _definedness(chunk, decoded)

    def run(group: Group) -> int | None:
        who = chunk.everyone(group.lanes)
        if mask is None:
            action(who)
            return decoded.at + 1
        return chunk.warps.arrive(group, decoded.at, select(mask, group.lanes), together, span)

    def together(who: Array) -> None:
        action(who)
        if settle is not None:
            settle(who)

    return run


def _definedness(chunk: Chunk, decoded: Decoded) -> Together | None:
    """Results hold a value; a shuffle sees to its own."""
    doubtful = chunk.program.doubtful
    _, writes = chunk.program.reads_writes(decoded)
    doubted = [chunk.defined(slot) for slot in writes if slot in doubtful]
    if not doubted or decoded.words.opcode == "shfl":
        return None

    def settle(who: Array) -> None:
        for defined in doubted:
            defined[who] = True

    return settle


def _shuffle(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    if len(decoded.operands) < 5:
        raise Unmodelled.of(decoded.instruction, "without .sync it ended with sm_62")
    to, a, b, c, mask = decoded.operands
    value_out, valid_out = (to.first, to.second) if isinstance(to, Pair) else (to, SINK)
    out = steps.target(chunk, decoded, value_out, "b32")
    valid = None if valid_out == SINK else steps.target(chunk, decoded, valid_out, "pred")
    value, lane_in, bound = (steps.read(chunk, decoded, o, "b32") for o in (a, b, c))
    mode = decoded.words.one_of("up down bfly idx")
    moves_definedness = _shuffled_definedness(chunk, decoded)

    def action(who: Array) -> None:
        lane = chunk.lane_id[who].astype(np.int64)
        step = (select(lane_in, who) & np.uint32(31)).astype(np.int64)
        control = select(bound, who).astype(np.int64)
        clamp, segment = control & 31, (control >> 8) & 31
        highest = (lane & segment) | (clamp & ~segment)
        lowest = lane & segment
        if mode == "up":
            source, holds = lane - step, lane - step >= highest
        elif mode == "down":
            source, holds = lane + step, lane + step <= highest
        elif mode == "bfly":
            source, holds = lane ^ step, (lane ^ step) <= highest
        else:
            source = lowest | (step & ~segment)
            holds = source <= highest
        source = np.where(holds, source, lane)
        index = chunk.warp_first[who] + source
        here = np.zeros(chunk.count + 32, np.bool_)
        here[who] = True
        same_warp = index < chunk.count
        absent = ~here[index] | ~same_warp
        if absent.any():
            where = int(np.argmax(absent))
            raise AccessError(
                "mask",
                f"lane {int(lane[where])} reads from lane {int(source[where])}, which does not "
                "take part",
                lane=int(who[where]),
            )
        values = np.empty(chunk.count, np.uint32)
        values[who] = select(value, who)
        out[who] = values[index]
        if valid is not None:
            valid[who] = holds
        if moves_definedness is not None:
            moves_definedness(who, index)

    return steps.read(chunk, decoded, mask, "b32"), action


def _shuffled_definedness(chunk: Chunk, decoded: Decoded) -> Callable[[Array, Array], None] | None:
    """The result is defined where the value of the lane it came from was."""
    doubtful = chunk.program.doubtful
    _, writes = chunk.program.reads_writes(decoded)
    written = [chunk.defined(slot) for slot in writes if slot in doubtful]
    if not written:
        return None
    operand = decoded.operands[1]
    name = getattr(operand, "name", None)
    slot = decoded.scope.slot(name) if isinstance(name, str) else None
    source = chunk.defined(slot) if slot is not None and slot in doubtful else None

    def move(who: Array, index: Array) -> None:
        held: Any = True if source is None else source[index].copy()
        for defined in written:
            defined[who] = held

    return move


def _per_warp(chunk: Chunk, who: Array, masks: Array) -> tuple[Array, Array]:
    """The sets of threads with one warp and one mask: a number for each thread, and the firsts."""
    key = chunk.warp_of[who].astype(np.uint64) << np.uint64(32) | masks
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse, first


def _ballots(chunk: Chunk, who: Array, groups: Array, chosen: Array) -> Array:
    """For each thread the lanes of its set where `chosen` holds."""
    bits = np.ldexp(1.0, chunk.lane_id[who].astype(np.int64)) * chosen
    return np.bincount(groups, bits).astype(np.uint32)[groups]


def _vote(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    if len(decoded.operands) < 3:
        raise Unmodelled.of(decoded.instruction, "without .sync it ended with sm_62")
    to, source, mask_operand = decoded.operands
    mode = decoded.words.one_of("all any uni ballot")
    out = steps.target(chunk, decoded, to, "b32" if mode == "ballot" else "pred")
    value = steps.read(chunk, decoded, source, "pred")
    mask = steps.read(chunk, decoded, mask_operand, "b32")

    def action(who: Array) -> None:
        groups, _ = _per_warp(chunk, who, select(mask, who))
        chosen = select(value, who)
        true = _ballots(chunk, who, groups, chosen)
        if mode == "ballot":
            out[who] = true
            return
        all_of = _ballots(chunk, who, groups, np.ones(len(who), np.bool_))
        out[who] = {
            "any": true != 0,
            "all": true == all_of,
            "uni": (true == 0) | (true == all_of),
        }[mode]

    return mask, action


def _match(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    to, source, mask_operand = decoded.operands
    first_out, second_out = (to.first, to.second) if isinstance(to, Pair) else (to, SINK)
    out = steps.target(chunk, decoded, first_out, "b32")
    agree = None if second_out == SINK else steps.target(chunk, decoded, second_out, "pred")
    value = steps.read(chunk, decoded, source, decoded.words.type)
    mask = steps.read(chunk, decoded, mask_operand, "b32")
    everyone = "all" in decoded.words

    def action(who: Array) -> None:
        masks = select(mask, who)
        groups, _ = _per_warp(chunk, who, masks)
        values = select(value, who)
        pairs = np.stack([groups.astype(np.uint64), values.astype(np.uint64)], axis=1)
        _, same = np.unique(pairs, axis=0, return_inverse=True)
        found = _ballots(chunk, who, same.reshape(-1), np.ones(len(who), np.bool_))
        if not everyone:
            out[who] = found
            return
        holds = found == _ballots(chunk, who, groups, np.ones(len(who), np.bool_))
        out[who] = np.where(holds, masks, np.uint32(0))
        if agree is not None:
            agree[who] = holds

    return mask, action


def _active_mask(chunk: Chunk, decoded: Decoded) -> tuple[None, Together]:
    out = steps.target(chunk, decoded, decoded.operands[0], "b32")

    def action(who: Array) -> None:
        out[who] = _ballots(chunk, who, chunk.warp_of[who], np.ones(len(who), np.bool_))

    return None, action


def _reduce(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    to, source, mask_operand = decoded.operands
    words = decoded.words
    type = words.type
    out = steps.target(chunk, decoded, to, type)
    value = steps.read(chunk, decoded, source, type)
    mask = steps.read(chunk, decoded, mask_operand, "b32")
    operation = words.one_of("add min max and or xor")
    kind = dtype_of(type)

    def combine(a: Array, b: Array) -> Array:
        if type == "f32":
            left, right = (np.abs(a), np.abs(b)) if "abs" in words else (a, b)
            return pick(left, right, operation == "max", "NaN" in words)
        ufunc: Any = {
            "add": np.add,
            "min": np.minimum,
            "max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[operation]
        reduced: Array = ufunc(a, b)
        return reduced

    def action(who: Array) -> None:
        groups, first = _per_warp(chunk, who, select(mask, who))
        values = select(value, who)
        order = np.argsort(groups, kind="stable")
        totals = values[first].copy()
        if type == "f32" and "abs" in words:
            totals = np.abs(totals)
        starts = np.searchsorted(groups[order], np.arange(len(first)))
        sizes = np.bincount(groups)
        for turn in range(1, int(sizes.max())):
            some = np.flatnonzero(sizes > turn)
            totals[some] = combine(totals[some], values[order[starts[some] + turn]])
        if type == "f32":
            totals = canonical(totals.astype(kind))
        out[who] = totals[groups]

    return mask, action


def _elect(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    to, mask_operand = decoded.operands
    assert isinstance(to, Pair)
    lane_out = None if to.first == SINK else steps.target(chunk, decoded, to.first, "b32")
    chosen_out = None if to.second == SINK else steps.target(chunk, decoded, to.second, "pred")
    mask = steps.read(chunk, decoded, mask_operand, "b32")

    def action(who: Array) -> None:
        groups, first = _per_warp(chunk, who, select(mask, who))
        leader = chunk.lane_id[who[first]][groups]
        if lane_out is not None:
            lane_out[who] = leader
        if chosen_out is not None:
            chosen_out[who] = chunk.lane_id[who] == leader

    return mask, action


def _warp_barrier(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    mask = steps.read(chunk, decoded, decoded.operands[0], "b32")

    def action(who: Array) -> None:
        if chunk.races is not None:
            chunk.races.clocks.warps_met(who)

    return mask, action
