"""Phases of mbarriers, and what a relaxed arrival at the cluster's barrier hands on."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, launch
from tests.emu.harness import fault, run

ORDERS = ["fixed", "reverse", 1]
INIT = """.shared .align 8 .b64 bar; mov.u32 %r9, bar; setp.eq.u32 %p0, %j, 0;
@%p0 mbarrier.init.shared::cta.b64 [%r9], {count}; bar.sync 0;
"""
ROUND = """mbarrier.arrive.shared::cta.b64 %rd{0}, [%r9];
w{0}: mbarrier.{wait}.shared::cta.b64 %p1, [%r9], %rd{0}; @!%p1 bra w{0};
"""


@pytest.mark.parametrize("wait", ["test_wait", "try_wait"])
def test_a_state_of_an_earlier_phase(wait: str) -> None:
    """Only the current phase and the one before it can be waited for."""
    rounds = "".join(ROUND.format(number, wait=wait) for number in range(3))
    last = f"mbarrier.{wait}.shared::cta.b64 %p1, [%r9], %rd{{}};"
    run(INIT.format(count=32) + rounds + last.format(2), block=32)
    found = fault(INIT.format(count=32) + rounds + last.format(0), block=32)
    assert found.kind == "barrier" and "a state of phase 0" in str(found), found
    assert "in phase 3: only that one and the one before" in str(found)
    assert found.place is not None and found.place.line == 19


@pytest.mark.parametrize("wait", ["test_wait", "try_wait"])
def test_a_parity_is_0_or_1(wait: str) -> None:
    """A stage's number of turns is none (PTX ISA 9.0, section 9.7.13.15.16)."""
    text = INIT.format(count=32) + "mov.u32 %r0, {};\n"
    text += f"mbarrier.{wait}.parity.shared::cta.b64 %p1, [%r9], %r0;"
    run(text.format(1), block=32)
    found = fault(text.format(2), block=32)
    assert found.kind == "barrier" and "a phase has the parity 0 or 1, not 2" in str(found)
    assert found.place is not None and found.place.line == 14


def test_an_arrival_that_may_not_complete() -> None:
    arrive = "mbarrier.arrive.noComplete.shared::cta.b64 %rd0, [%r9], {};"
    run(INIT.format(count=2) + "@%p0 " + arrive.format(1), block=32)
    found = fault(INIT.format(count=2) + "@%p0 " + arrive.format(2), block=32)
    assert found.kind == "barrier" and ".noComplete end the phase" in str(found)
    assert found.place is not None and found.place.line == 13


# ---------------------------------------------------------------- relaxed arrivals

PEERS = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry peers(.param .u64 p) {{
.shared .align 8 .b64 bar; .shared .u32 word;
.reg .u32 %r<8>; .reg .u64 %rd<2>; .reg .pred %p<2>;
mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, bar; mov.u32 %r3, word;
{before}
barrier.cluster.arrive.relaxed.aligned;
{between}
barrier.cluster.wait.acquire.aligned;
mapa.shared::cluster.u32 %r4, %r2, %r1; mapa.shared::cluster.u32 %r5, %r3, %r1;
{after}
ld.param.u64 %rd0, [p]; mad.wide.u32 %rd0, %r0, 4, %rd0; st.global.u32 [%rd0], %r6;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
ret; }}
"""
STORE, LOAD = "st.shared.u32 [%r3], %r0;", "ld.shared::cluster.u32 %r6, [%r5];"
INITIALISE = "mbarrier.init.shared::cta.b64 [%r2], 1;"
SIGNAL = """mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
w: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r2], 0; @!%p0 bra w; mov.u32 %r6, %r1;"""
FENCES = ["fence.acq_rel.cluster;", "fence.sc.cluster;", "fence.acq_rel.gpu;", "membar.gl;"]


def peers(before: str, after: str, order: str | int, between: str = "") -> None:
    memory = Memory()
    out = memory.allocate(8)
    text = PEERS.format(before=before, between=between, after=after)
    launch("peers", ptx.parse(text, "peers.ptx"), (2, 1, 1), (1, 1, 1), struct.pack("<Q", out),
           cluster=(2, 1, 1), memory=memory, order=order)  # fmt: skip
    np.testing.assert_array_equal(memory.read(out, 8).view("u4"), [1, 0])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_before_a_relaxed_arrival_releases(fence: str, order: str | int) -> None:
    """As the manual's example of the relaxed arrival has it (section 9.7.13.4)."""
    peers(f"{STORE} {fence}", LOAD, order)
    peers(f"{INITIALISE} {fence}", SIGNAL, order)


@pytest.mark.parametrize("order", ORDERS)
def test_the_fence_of_an_initialisation_does_for_that(order: str | int) -> None:
    """What Hopper kernels begin with."""
    peers(f"{INITIALISE} fence.mbarrier_init.release.cluster;", SIGNAL, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("before", "between", "after", "line"),
    [
        (STORE, "", LOAD, 14),
        (STORE, "fence.acq_rel.cluster;", LOAD, 14),
        (f"fence.acq_rel.cluster; {STORE}", "", LOAD, 14),
        (f"{STORE} fence.acq_rel.cta;", "", LOAD, 14),
        (f"{STORE} fence.mbarrier_init.release.cluster;", "", LOAD, 14),
        (INITIALISE, "", SIGNAL, 14),
        (INITIALISE, "fence.mbarrier_init.release.cluster;", SIGNAL, 14),
        (f"fence.mbarrier_init.release.cluster; {INITIALISE}", "", SIGNAL, 14),
    ],
)
def test_what_no_fence_has_released_races(
    before: str, between: str, after: str, line: int, order: str | int
) -> None:
    with pytest.raises(EmulatorFault, match="with no synchronisation between") as caught:
        peers(before, after, order, between)
    assert caught.value.kind == "race"
    assert caught.value.place is not None and caught.value.place.line == line
