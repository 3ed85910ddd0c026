"""Release and acquire: which patterns of strong accesses and fences order others (litmus tests).

The verdicts are those of PTX ISA 9.0, sections 8.7 (races), 8.8 and 8.9 (patterns and causality).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory
from tests.emu.harness import run

# p0: the data at +0, the flag at +128, results at +256.
PASSING = """
.shared .align 128 .b8 shared[512];
ld.param.u64 %rd0, [p0];
{base}
setp.ge.u32 %p0, {who}, {first};
@%p0 bra reader;
st.{space}.u32 [{at}], 7;
{write}
bra done;
reader:
poll:
{read}
setp.eq.u32 %p1, %r1, 0;
@%p1 bra poll;
{after}
ld.{space}.u32 %r2, [{at}];
st.global.u32 [%rd0+256], %r2;
done:
"""
SHARED_BASE = "setp.ne.u32 %p2, %j, 0; @!%p2 st.shared.u32 [shared+128], 0; bar.sync 0;"


def outcome(text: str, parameters: Sequence[int] = (), **options: Any) -> str:
    """The kind of fault that a piece of PTX ends in, or ``""``."""
    try:
        run(text, parameters, **options)
    except EmulatorFault as fault:
        return fault.kind
    return ""


def passing(write: str, read: str, after: str = "", where: str = "ctas") -> str:
    """One thread hands a value to another; the kind of fault, or ``""``.

    `where` is ``ctas``, ``warps`` (of a CTA, through global memory) or ``shared``.
    """
    shared = where == "shared"
    space, at = ("shared", "shared") if shared else ("global", "%rd0")
    text = PASSING.format(
        base=SHARED_BASE if shared else "",
        who="%ctaid.x" if where == "ctas" else "%j",
        first=1 if where == "ctas" else 32,
        space=space,
        at=at,
        write=write.format(flag=f"[{at}+128]", s=space),
        read=read.format(flag=f"[{at}+128]", s=space),
        after=after,
    )
    text = text.replace("setp.ge.u32 %p0, %ctaid.x", "mov.u32 %r0, %ctaid.x; setp.ge.u32 %p0, %r0")
    guards = "setp.ne.u32 %p3, %j, 0; @%p3 ret;" if where == "ctas" else ""
    if where != "ctas":
        # One thread of each of two warps.
        guards = "and.b32 %r5, %j, 31; setp.ne.u32 %p3, %r5, 0; @%p3 ret;"
    text = text.replace("ld.param", guards + " ld.param", 1)
    memory = Memory()
    address = memory.allocate(512)
    memory.write(address, np.zeros(128, np.uint32))
    grid, block = (2, 32) if where == "ctas" else (1, 64)
    kind = outcome(text, [address], memory=memory, grid=grid, block=block, step_limit=20_000)
    assert kind or memory.read(address + 256, 4).view(np.uint32)[0] == 7
    return kind


STORE, LOAD = "st.relaxed.gpu.{s}.u32 {flag}, 1;", "ld.relaxed.gpu.{s}.u32 %r1, {flag};"
RELEASE, ACQUIRE = "st.release.gpu.{s}.u32 {flag}, 1;", "ld.acquire.gpu.{s}.u32 %r1, {flag};"
VOLATILE_STORE, VOLATILE_LOAD = "st.volatile.{s}.u32 {flag}, 1;", "ld.volatile.{s}.u32 %r1, {flag};"
FENCE, MEMBAR = "fence.acq_rel.gpu;", "membar.gl;"
ADD = "red.relaxed.gpu.{s}.add.u32 {flag}, 1;"
READ_ADD = "atom.{s}.add.u32 %r1, {flag}, 0;"

# fmt: off
PATTERNS = [
    (STORE, LOAD, "", False),
    (STORE, LOAD, FENCE, False),
    (FENCE + STORE, LOAD, "", False),
    (FENCE + STORE, LOAD, FENCE, True),
    (FENCE + STORE, ACQUIRE, "", True),
    (STORE + FENCE, LOAD, FENCE, False),
    (RELEASE, ACQUIRE, "", True),
    (RELEASE, LOAD, "", False),
    (RELEASE, LOAD, FENCE, True),
    (RELEASE, LOAD, "fence.acquire.gpu;", True),
    (RELEASE, LOAD, "fence.release.gpu;", False),
    ("fence.release.gpu;" + STORE, ACQUIRE, "", True),
    ("fence.acquire.gpu;" + STORE, ACQUIRE, "", False),
    (STORE, ACQUIRE, "", False),
    (RELEASE + STORE, ACQUIRE, "", True),
    (VOLATILE_STORE, VOLATILE_LOAD, "", False),
    (MEMBAR + VOLATILE_STORE, VOLATILE_LOAD, MEMBAR, True),
    (MEMBAR + VOLATILE_STORE, VOLATILE_LOAD, "", False),
    (ADD, READ_ADD, "", False),
    (FENCE + ADD, READ_ADD, FENCE, True),
    ("red.release.gpu.{s}.add.u32 {flag}, 1;", "atom.acquire.gpu.{s}.add.u32 %r1, {flag}, 0;", "",
     True),
    ("atom.acq_rel.gpu.{s}.exch.b32 %r3, {flag}, 1;",
     "atom.acq_rel.gpu.{s}.cas.b32 %r1, {flag}, 1, 2;", "", True),
    # The flag itself races.
    (FENCE + "st.{s}.u32 {flag}, 1;", ACQUIRE, "", False),
    (RELEASE, "ld.{s}.u32 %r1, {flag};", FENCE, False),
]
# fmt: on


@pytest.mark.parametrize("where", ["ctas", "warps", "shared"])
@pytest.mark.parametrize(("write", "read", "after", "ordered"), PATTERNS)
def test_message_passing(write: str, read: str, after: str, ordered: bool, where: str) -> None:
    assert passing(write, read, after, where) == ("" if ordered else "race")


@pytest.mark.parametrize(
    ("write", "read", "after"),
    [
        (RELEASE.replace(".gpu", ".cta"), ACQUIRE.replace(".gpu", ".cta"), ""),
        (RELEASE, ACQUIRE.replace(".gpu", ".cta"), ""),
        (RELEASE.replace(".gpu", ".cta"), ACQUIRE, ""),
        ("fence.acq_rel.cta;" + STORE, LOAD, FENCE),
        (FENCE + STORE, LOAD, "fence.acq_rel.cta;"),
        ("membar.cta;" + VOLATILE_STORE, VOLATILE_LOAD, MEMBAR),
        (FENCE + STORE, LOAD.replace(".gpu", ".cluster"), FENCE),
    ],
)
def test_a_scope_must_reach_the_other_thread(write: str, read: str, after: str) -> None:
    assert passing(write, read, after, "ctas") == "race"
    assert passing(write, read, after, "warps") == ""


def test_the_fault_names_a_scope_that_does_not_reach() -> None:
    memory = Memory()
    address = memory.allocate(4)
    memory.write(address, np.zeros(1, np.uint32))
    text = "ld.param.u64 %rd0, [p0];\nred.relaxed.cta.global.add.u32 [%rd0], 1;"
    run(text, [address], memory=memory, grid=1, block=64)
    with pytest.raises(EmulatorFault, match=r"scope \.cta does not reach") as caught:
        run(text, [address], memory=memory, grid=2, block=64)
    assert caught.value.kind == "race"


CHAIN = """
ld.param.u64 %rd0, [p0];
mov.u32 %r0, %ctaid.x;
setp.ne.u32 %p3, %j, 0; @%p3 ret;
setp.eq.u32 %p0, %r0, 0; @%p0 bra first;
setp.eq.u32 %p0, %r0, 1; @%p0 bra second;
third:
ld.acquire.gpu.global.u32 %r1, [%rd0+128];
setp.ne.u32 %p1, %r1, 2;
@%p1 bra third;
ld.global.u32 %r2, [%rd0+{reads}];
bra done;
first:
st.global.u32 [%rd0], 7;
st.release.gpu.global.u32 [%rd0+128], 1;
bra done;
second:
st.global.u32 [%rd0+4], 8;
again:
ld.relaxed.gpu.global.u32 %r1, [%rd0+128];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra again;
{write}
done:
"""


@pytest.mark.parametrize(
    ("write", "reads", "ordered"),
    [
        # An atomic carries on what was released before it, and releases nothing itself.
        ("atom.global.add.u32 %r1, [%rd0+128], 1;", 0, True),
        ("atom.global.add.u32 %r1, [%rd0+128], 1;", 4, False),
        ("atom.release.gpu.global.add.u32 %r1, [%rd0+128], 1;", 4, True),
        # A store ends it.
        ("st.relaxed.gpu.global.u32 [%rd0+128], 2;", 0, False),
        ("st.release.gpu.global.u32 [%rd0+128], 2;", 0, False),
        ("st.release.gpu.global.u32 [%rd0+128], 2;", 4, True),
        # What was acquired is released with the rest.
        ("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd0+128], 2;", 0, True),
    ],
)
def test_what_a_third_thread_acquires(write: str, reads: int, ordered: bool) -> None:
    for order in ("fixed", "reverse", 1):
        memory = Memory()
        address = memory.allocate(512)
        memory.write(address, np.zeros(128, np.uint32))
        text = CHAIN.format(write=write, reads=reads)
        found = outcome(text, [address], memory=memory, grid=3, block=32, order=order)
        assert found == ("" if ordered else "race")


TICKET = """
.shared .b32 ticket;
ld.param.u64 %rd0, [p0];
mad.wide.u32 %rd1, %i, 4, %rd0;
st.global.u32 [%rd1+128], %i;
{before}
bar.sync 0;
setp.ne.u32 %p0, %j, 0;
@%p0 bra counted;
{count}
st.shared.u32 [ticket], %r0;
counted:
{meet}
ld.shared.u32 %r0, [ticket];
setp.ne.u32 %p1, %r0, 3;
@%p1 ret;
{after}
xor.b32 %r1, %i, 64;
mad.wide.u32 %rd2, %r1, 4, %rd0;
ld.global.u32 %r2, [%rd2+128];
st.global.u32 [%rd0], 0;
"""
TICKET = TICKET.replace("st.global.u32 [%rd0], 0;", "@!%p0 st.global.u32 [%rd0], 0;")
COUNT = "atom.global.add.u32 %r0, [%rd0], 1;"
ACQ_REL = "atom.acq_rel.gpu.global.add.u32 %r0, [%rd0], 1;"
MEET = "bar.sync 0;"


@pytest.mark.parametrize(
    ("before", "count", "meet", "after", "ordered"),
    [
        ("", ACQ_REL, MEET, "", True),
        ("", FENCE + COUNT + FENCE, MEET, "", True),
        ("membar.gl;", COUNT, MEET, "membar.gl;", True),
        ("", COUNT, MEET, "", False),
        ("", COUNT + FENCE, MEET, "", False),
        ("", FENCE + COUNT, MEET, "", False),
        # The counting thread's own fence comes before it knows what the others wrote.
        (FENCE, COUNT, MEET, FENCE, False),
        ("membar.gl;", COUNT, MEET, "", False),
        ("", ACQ_REL, "", "", False),
    ],
)
def test_the_ticket_of_the_last_cta(
    before: str, count: str, meet: str, after: str, ordered: bool
) -> None:
    text = TICKET.format(before=before, count=count, meet=meet, after=after)
    for order in ("fixed", "reverse", 1):
        memory = Memory()
        address = memory.allocate(4 * (4 * 64 + 32))
        memory.write(address, np.zeros(4 * 64 + 32, np.uint32))
        found = outcome(text, [address], memory=memory, grid=4, block=64, order=order)
        assert found in (("",) if ordered else ("race", "uninitialised"))
        assert found or memory.read(address, 4).view(np.uint32)[0] == 0


def test_every_thread_counts_before_its_cta_has_met() -> None:
    """The barrier before the ticket is missing: one warp counts, the others still write."""
    text = TICKET.format(before="", count=ACQ_REL, meet=MEET, after="").replace(
        "bar.sync 0;", "", 1
    )
    memory = Memory()
    address = memory.allocate(4 * (4 * 64 + 32))
    memory.write(address, np.zeros(4 * 64 + 32, np.uint32))
    with pytest.raises(EmulatorFault) as caught:
        run(text, [address], memory=memory, grid=4, block=64)
    assert caught.value.kind == "race"


LOCK = """
.shared .b32 lock; .shared .b32 sum;
setp.ne.u32 %p0, %j, 0;
@%p0 bra meet;
st.shared.u32 [lock], 0; st.shared.u32 [sum], 0;
meet:
bar.sync 0;
and.b32 %r5, %j, 31; setp.ne.u32 %p1, %r5, 0; @%p1 bra done;
spin:
atom.{acquire}shared.cas.b32 %r0, [lock], 0, 1;
setp.ne.u32 %p2, %r0, 0;
@%p2 bra spin;
{taken}
ld.shared.u32 %r1, [sum]; add.u32 %r1, %r1, 1; st.shared.u32 [sum], %r1;
{free}
done:
"""


@pytest.mark.parametrize(
    ("acquire", "taken", "free", "ordered"),
    [
        ("acquire.cta.", "", "st.release.cta.shared.u32 [lock], 0;", True),
        ("", FENCE, FENCE + "atom.shared.exch.b32 %r0, [lock], 0;", True),
        ("", "", FENCE + "atom.shared.exch.b32 %r0, [lock], 0;", False),
        ("", FENCE, "atom.shared.exch.b32 %r0, [lock], 0;", False),
        # A plain store gives the lock back behind the backs of those who spin.
        ("acquire.cta.", "", "fence.acq_rel.cta; st.shared.u32 [lock], 0;", False),
    ],
)
def test_a_lock(acquire: str, taken: str, free: str, ordered: bool) -> None:
    text = LOCK.format(acquire=acquire, taken=taken, free=free)
    assert outcome(text, block=128) == ("" if ordered else "race")


HISTOGRAM = """
.shared .align 4 .b8 bins[64];
mov.u32 %r0, bins; and.b32 %r1, %j, 15; shl.b32 %r1, %r1, 2; add.u32 %r0, %r0, %r1;
setp.ge.u32 %p0, %j, 16;
@%p0 bra clear;
st.shared.u32 [%r0], 0;
clear:
{first}
red.shared.add.u32 [%r0], 1;
{second}
ld.shared.u32 %r2, [%r0];
"""


@pytest.mark.parametrize(
    ("first", "second", "line"), [(MEET, MEET, 0), ("", MEET, 18), (MEET, "", 20)]
)
def test_atomics_and_plain_accesses_of_one_place(first: str, second: str, line: int) -> None:
    text = HISTOGRAM.strip().format(first=first, second=second)
    if not line:
        run(text, block=64)
        return
    with pytest.raises(EmulatorFault) as caught:
        run(text, block=64)
    place = caught.value.place
    assert (caught.value.kind, place.line if place else 0) == ("race", line)


def test_a_flag_may_be_reset_by_who_has_seen_it() -> None:
    """The write that a strong read saw comes before what its thread does (section 8.9.5)."""
    after = "st.global.u32 [%rd0+128], 0; ld.global.u32 %r4, [%rd0+128]; " + FENCE
    assert passing(FENCE + STORE, LOAD, after) == ""
    # Not for a thread that has not looked.
    assert passing(STORE, "mov.u32 %r1, 1;", "st.global.u32 [%rd0+128], 0;") == "race"


def test_strong_stores_of_different_values_are_no_race() -> None:
    text = ".shared .b32 word;\nst.{how}shared.u32 [word], %j;"
    run(text.format(how="relaxed.cta."), block=64)
    run(text.format(how="volatile."), block=64)
    with pytest.raises(EmulatorFault, match="different values"):
        run(text.format(how=""), block=32)


def test_an_atomic_needs_a_proxy_fence_as_a_store_does() -> None:
    text = """
    .shared .align 128 .b8 tile[128];
    ld.param.u64 %rd0, [p0];
    mov.u32 %r0, tile; shl.b32 %r1, %j, 2; add.u32 %r0, %r0, %r1;
    st.{how}shared.u32 [%r0], %j;
    {fence}
    bar.sync 0;
    setp.ne.u32 %p0, %j, 0;
    @%p0 ret;
    mov.u32 %r2, tile;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    """
    memory = Memory()
    out = memory.allocate(128)
    fence = "fence.proxy.async.shared::cta;"
    run(text.format(how="volatile.", fence=fence), [out], memory=memory, block=32)
    with pytest.raises(EmulatorFault) as caught:
        run(text.format(how="volatile.", fence=""), [out], memory=memory, block=32)
    assert caught.value.kind == "fence"
