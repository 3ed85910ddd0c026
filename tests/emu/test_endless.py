"""Threads that wait by polling for what nobody will do: told soon, and nobody else accused."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory
from tests.emu.harness import fault, run

ORDERS = ["fixed", "reverse"]


def polls(text: str, order: str | int = "fixed", grid: int = 1, block: int = 64) -> Memory:
    """Run it with zeroed memory of 4 KB at p0 in %rd0."""
    memory = Memory()
    address = memory.allocate(4096)
    memory.write(address, np.zeros(1024, "u4"))
    head = "ld.param.u64 %rd0, [p0]; setp.eq.u32 %p0, %j, 0; mov.u32 %r7, %ctaid.x;\n"
    run(head + text, [address], memory=memory, grid=grid, block=block, order=order)
    return memory


LOCK = """@!%p0 bra end;
again: atom.acquire.gpu.global.cas.b32 %r0, [%rd0], 0, 1;
setp.ne.u32 %p1, %r0, 0; @%p1 bra again; {release}
end:"""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("grid", [2, 6])
def test_a_lock_that_nobody_gives_back(order: str | int, grid: int) -> None:
    """In one chunk of CTAs and in two."""
    polls(LOCK.format(release="st.release.gpu.global.u32 [%rd0], 0;"), order, grid, 1024)
    with pytest.raises(EmulatorFault, match="threads poll memory that nobody writes") as caught:
        polls(LOCK.format(release=""), order, grid, 1024)
    assert caught.value.kind == "deadlock"
    assert caught.value.place is not None and caught.value.place.line == 13


def test_a_loop_that_has_no_end() -> None:
    found = fault("forever: add.u32 %r0, %j, 1; bra forever;", block=64)
    assert found.kind == "deadlock" and "go round for ever" in str(found)
    assert found.place is not None and found.place.line == 11


CHAIN = """@!%p0 bra end; mad.wide.u32 %rd1, %r7, 4, %rd0; setp.eq.u32 %p1, %r7, {first};
@%p1 bra mine;
wait: ld.acquire.gpu.global.u32 %r0, [%rd1+4]; setp.eq.u32 %p2, %r0, 0; @%p2 bra wait;
mine: st.release.gpu.global.u32 [%rd1], 1; end:"""


@pytest.mark.parametrize("order", ORDERS)
def test_ctas_of_several_chunks_wait_for_one_that_never_comes(order: str | int) -> None:
    polls(CHAIN.format(first=5), order, 6, 1024)
    with pytest.raises(EmulatorFault, match="nobody writes any more") as caught:
        polls(CHAIN.format(first=99), order, 6, 1024)
    assert caught.value.kind == "deadlock"
    assert caught.value.place is not None and caught.value.place.line == 14


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "text",
    [
        # A count of attempts.
        """mov.u32 %r1, 0; @!%p0 bra end;
        wait: add.u32 %r1, %r1, 1; ld.relaxed.gpu.global.u32 %r0, [%rd0];
        setp.lt.u32 %p1, %r1, 4000; @%p1 bra wait;
        end:""",
        # A clock.
        """@!%p0 bra end; mov.u64 %rd2, %clock64; add.u64 %rd2, %rd2, 4000;
        wait: ld.relaxed.gpu.global.u32 %r0, [%rd0]; mov.u64 %rd3, %clock64;
        setp.lt.u64 %p1, %rd3, %rd2; @%p1 bra wait;
        end:""",
        # The others poll while one thread computes for long, and then stores.
        """@%p0 bra work;
        wait: ld.acquire.gpu.global.u32 %r0, [%rd0]; setp.eq.u32 %p1, %r0, 0; @%p1 bra wait;
        bra end;
        work: mov.u32 %r1, 0;
        turn: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4000; @%p1 bra turn;
        st.release.gpu.global.u32 [%rd0], 1;
        end:""",
        # A thread asks an mbarrier once, which takes until its time is up.
        """.shared .align 8 .b64 bar; mov.u32 %r9, bar;
        @%p0 mbarrier.init.shared::cta.b64 [%r9], 1; bar.sync 0;
        @%p0 bra work;
        wait: ld.acquire.gpu.global.u32 %r0, [%rd0]; setp.eq.u32 %p1, %r0, 0; @%p1 bra wait;
        bra end;
        work: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r9], 0;
        st.release.gpu.global.u32 [%rd0], 1;
        end:""",
    ],
)
def test_what_ends_after_all(text: str, order: str | int) -> None:
    polls(text, order)
