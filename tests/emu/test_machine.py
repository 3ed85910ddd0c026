"""Control flow, calls, barriers, warps and atomics: many threads against plain Python."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, Unmodelled, launch
from tests.emu.harness import fault, module, outputs, run

AT = "ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %i, 4, %rd0;\n"
STORE = "st.global.u32 [%rd1], %r9;"


def test_loops_of_different_length_meet_again() -> None:
    """Collatz steps: every thread loops as long as its own number asks."""
    found = outputs(
        AT
        + """
        add.u32 %r0, %i, 1;
        mov.u32 %r9, 0;
        again:
        setp.eq.u32 %p0, %r0, 1;
        @%p0 bra done;
        and.b32 %r1, %r0, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 mad.lo.u32 %r0, %r0, 3, 1;
        @!%p1 shr.u32 %r0, %r0, 1;
        add.u32 %r9, %r9, 1;
        bra again;
        done:
        """
        + STORE,
        300,
        block=100,
        grid=3,
    )

    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n = 3 * n + 1 if n & 1 else n // 2
            count += 1
        return count

    assert list(found) == [steps(n + 1) for n in range(300)]


def test_threads_that_leave_early() -> None:
    found = outputs(
        AT
        + """
        mov.u32 %r9, 5;
        st.global.u32 [%rd1], %r9;
        setp.lt.u32 %p0, %j, 40;
        @%p0 exit;
        bar.sync 0;
        mov.u32 %r9, 6;
        """
        + STORE,
        64,
        block=64,
    )
    assert list(found) == [5] * 40 + [6] * 24


def test_barriers_order_shared_memory() -> None:
    found = outputs(
        AT
        + """
        .shared .b32 tile[256];
        mov.u32 %r0, tile;
        shl.b32 %r1, %j, 2;
        add.u32 %r1, %r1, %r0;
        mul.lo.u32 %r2, %i, 3;
        st.shared.u32 [%r1], %r2;
        bar.sync 0;
        sub.u32 %r3, 255, %j;
        shl.b32 %r3, %r3, 2;
        add.u32 %r3, %r3, %r0;
        ld.shared.u32 %r9, [%r3];
        """
        + STORE,
        1024,
        block=256,
        grid=4,
    )
    expected = [3 * (256 * cta + 255 - thread) for cta in range(4) for thread in range(256)]
    assert list(found) == expected


def test_named_barriers_of_producers_and_consumers() -> None:
    """Warp 0 arrives, warp 1 waits for it; then the other way round."""
    found = outputs(
        AT
        + """
        .shared .b32 word;
        mov.u32 %r9, 0;
        setp.ge.u32 %p0, %j, 32;
        @%p0 bra consumer;
        setp.eq.u32 %p1, %j, 0;
        mov.u32 %r1, 42;
        @%p1 st.shared.u32 [word], %r1;
        bar.arrive 1, 64;
        bar.sync 2, 64;
        bra done;
        consumer:
        bar.sync 1, 64;
        ld.shared.u32 %r9, [word];
        bar.arrive 2, 64;
        done:
        """
        + STORE,
        64,
        block=64,
    )
    assert list(found) == [0] * 32 + [42] * 32


def test_barrier_reductions() -> None:
    found = outputs(
        AT
        + """
        and.b32 %r0, %j, 1;
        setp.ne.u32 %p0, %r0, 0;
        bar.red.popc.u32 %r9, 0, %p0;
        bar.red.and.pred %p1, 0, %p0;
        bar.red.or.pred %p2, 0, %p0;
        selp.u32 %r1, 100, 0, %p1;
        selp.u32 %r2, 1000, 0, %p2;
        add.u32 %r9, %r9, %r1;
        add.u32 %r9, %r9, %r2;
        """
        + STORE,
        96,
        block=96,
    )
    assert set(found) == {1048}


CALLS = """
.version 8.0
.target sm_90
.address_size 64
.func (.param .u32 out) factorial(.param .u32 n)
{
  .reg .u32 %n, %m, %r; .reg .pred %p;
  .param .u32 a; .param .u32 b;
  ld.param.u32 %n, [n];
  setp.gt.u32 %p, %n, 1;
  @%p bra deeper;
  mov.u32 %r, 1;
  st.param.u32 [out], %r;
  ret;
deeper:
  sub.u32 %m, %n, 1;
  st.param.u32 [a], %m;
  call (b), factorial, (a);
  ld.param.u32 %r, [b];
  mul.lo.u32 %r, %r, %n;
  st.param.u32 [out], %r;
  ret;
}
.func (.reg .u32 out) twice(.reg .u32 x)
{
  add.u32 out, x, x;
  ret;
}
.visible .entry test(.param .u64 p)
{
  .reg .u64 %rd<2>; .reg .u32 %i, %r;
  .param .u32 a; .param .u32 b;
  ld.param.u64 %rd0, [p];
  mov.u32 %i, %tid.x;
  st.param.u32 [a], %i;
  call.uni (b), factorial, (a);
  ld.param.u32 %r, [b];
  call (%r), twice, (%r);
  mad.wide.u32 %rd1, %i, 4, %rd0;
  st.global.u32 [%rd1], %r;
  ret;
}
"""


def test_calls_and_recursion() -> None:
    memory = Memory()
    address = memory.allocate(4 * 12)
    launch(
        "test", ptx.parse(CALLS), (1, 1, 1), (12, 1, 1), struct.pack("<Q", address), memory=memory
    )
    factorial = [1]
    for n in range(1, 12):
        factorial.append(factorial[-1] * n)
    assert list(memory.read(address, 48).view("u4")) == [2 * f for f in factorial]


def test_indexed_branch() -> None:
    found = outputs(
        AT
        + """
        and.b32 %r0, %j, 3;
        places: .branchtargets one, two, three, one;
        brx.idx %r0, places;
        one: mov.u32 %r9, 1; bra done;
        two: mov.u32 %r9, 2; bra done;
        three: mov.u32 %r9, 3;
        done:
        """
        + STORE,
        8,
        block=8,
    )
    assert list(found) == [1, 2, 3, 1] * 2


def test_spinning_on_another_thread_ends() -> None:
    """A lock taken in turn by all threads of two warps: the spinners cannot starve the holder."""
    found = outputs(
        """
        .shared .b32 lock; .shared .b32 total;
        ld.param.u64 %rd0, [p0];
        setp.eq.u32 %p0, %j, 0;
        mov.u32 %r0, 0;
        @%p0 st.shared.u32 [lock], %r0;
        @%p0 st.shared.u32 [total], %r0;
        bar.sync 0;
        take:
        atom.shared.cas.b32 %r1, [lock], 0, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra take;
        ld.volatile.shared.u32 %r2, [total];
        add.u32 %r2, %r2, 1;
        st.volatile.shared.u32 [total], %r2;
        atom.shared.exch.b32 %r3, [lock], 0;
        bar.sync 0;
        ld.shared.u32 %r4, [total];
        st.global.u32 [%rd0], %r4;
        """,
        1,
        block=64,
    )
    assert found[0] == 64


@pytest.mark.parametrize("order", ["fixed", "reverse", 1, 2])
def test_the_order_of_warps_and_ctas_is_a_parameter(order: str | int) -> None:
    """Tickets show who came when; what the tickets are for does not depend on it."""
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        setp.eq.u32 %p0, %i, 0;
        atom.global.add.u32 %r0, [%rd0], 1;
        mad.wide.u32 %rd1, %i, 4, %rd0;
        bar.sync 0;
        st.global.u32 [%rd1+4], %r0;
        """,
        1025,
        block=128,
        grid=8,
        fill=0,
        order=order,
    )
    assert found[0] == 1024
    assert sorted(found[1:]) == list(range(1024))
    if order == "fixed":
        assert list(found[1:]) == list(range(1024))
    if order == "reverse":
        assert found[1 + 7 * 128] < found[1] and found[1 + 96] < found[1]
    if isinstance(order, int):
        assert list(found[1:]) != list(range(1024))


def test_step_limit() -> None:
    error = fault("forever: bra forever;", step_limit=1000)
    assert error.kind == "step-limit"
    assert error.place is not None and error.place.line == 11


def test_shuffles() -> None:
    lanes = np.arange(32)
    for mode, bound, function in (
        ("up", 0, lambda n: n - 3 if n >= 3 else n),
        ("down", 31, lambda n: n + 3 if n + 3 <= 31 else n),
        ("bfly", 31, lambda n: n ^ 3),
    ):
        found = outputs(
            AT
            + f"mov.u32 %r0, %laneid; shfl.sync.{mode}.b32 %r9|%p0, %r0, 3, {bound}, 0xFFFFFFFF;"
            + "selp.u32 %r1, 100, 0, %p0; add.u32 %r9, %r9, %r1;"
            + STORE,
            32,
        )
        moved = [function(int(n)) for n in lanes]
        assert list(found % 100) == moved
        assert list(found >= 100) == [m != n or mode == "bfly" for n, m in enumerate(moved)]


def test_votes_matches_and_reductions() -> None:
    text = (
        AT
        + """
        mov.u32 %r0, %laneid;
        setp.lt.u32 %p0, %r0, 5;
        vote.sync.ballot.b32 %r1, %p0, 0xFFFFFFFF;
        vote.sync.any.pred %p1, %p0, 0xFFFFFFFF;
        vote.sync.all.pred %p2, %p0, 0xFFFFFFFF;
        vote.sync.uni.pred %p3, %p1, 0xFFFFFFFF;
        redux.sync.add.u32 %r2, %r0, 0xFFFFFFFF;
        redux.sync.max.u32 %r3, %r0, 0xFFFFFFFF;
        redux.sync.xor.b32 %r4, %r0, 0xFFFFFFFF;
        elect.sync %r5|%p4, 0xFFFFFFFF;
        """
    )
    checks = {
        "mov.u32 %r9, %r1;": 31,
        "selp.u32 %r9, 1, 0, %p1;": 1,
        "selp.u32 %r9, 1, 0, %p2;": 0,
        "selp.u32 %r9, 1, 0, %p3;": 1,
        "mov.u32 %r9, %r2;": 496,
        "mov.u32 %r9, %r3;": 31,
        "mov.u32 %r9, %r4;": 0,
    }
    for line, expected in checks.items():
        assert set(outputs(text + line + STORE, 32)) == {expected}, line
    found = outputs(text + "selp.u32 %r9, 7, %r5, %p4;" + STORE, 32)
    assert list(found) == [7] + [0] * 31


def test_activemask_is_the_group_that_stands_there() -> None:
    found = outputs(
        AT
        + """
        setp.lt.u32 %p0, %j, 7;
        mov.u32 %r9, 0;
        @!%p0 bra done;
        activemask.b32 %r9;
        done:
        """
        + STORE,
        32,
    )
    assert list(found) == [0x7F] * 7 + [0] * 25


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("add.u32", 64 * 63 // 2 + 1000),
        ("min.u32", 0),
        ("max.u32", 1000),
        ("or.b32", 1000 | 63),
        ("xor.b32", 1000),
        ("inc.u32", None),
    ],
)
def test_atomics_of_many_threads_on_one_word(operation: str, expected: int | None) -> None:
    found = outputs(
        AT
        + f"""
        .shared .b32 word;
        setp.eq.u32 %p0, %j, 0;
        mov.u32 %r0, 1000;
        @%p0 st.shared.u32 [word], %r0;
        bar.sync 0;
        atom.shared.{operation} %r9, [word], %j;
        bar.sync 0;
        ld.shared.u32 %r9, [word];
        """
        + STORE,
        64,
        block=64,
    )
    if expected is None:
        # inc wraps to 0 where the old value has reached the operand.
        value = 1000
        for thread in range(64):
            value = 0 if value >= thread else value + 1
        expected = value
    assert set(found) == {expected}


def test_atomic_add_returns_what_was_there() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mad.wide.u32 %rd1, %i, 4, %rd0;
        mov.u32 %r0, 0;
        st.global.u32 [%rd1], %r0;
        bar.sync 0;
        atom.global.add.u32 %r1, [%rd0], 1;
        bar.sync 0;
        mad.wide.u32 %rd2, %r1, 4, %rd0;
        st.global.u32 [%rd2], %r1;
        """,
        64,
        block=64,
    )
    assert list(found) == list(range(64))


def test_generic_addresses_reach_every_space() -> None:
    found = outputs(
        AT
        + """
        .shared .b32 word[32]; .local .b32 mine[2];
        mov.u64 %rd2, word;
        mad.wide.u32 %rd2, %j, 4, %rd2;
        cvta.shared.u64 %rd3, %rd2;
        mov.u64 %rd4, mine;
        cvta.local.u64 %rd5, %rd4;
        st.u32 [%rd3], %j;
        mul.lo.u32 %r0, %j, 10;
        st.u32 [%rd5+4], %r0;
        ld.shared.u32 %r1, [%rd2];
        ld.local.u32 %r2, [%rd4+4];
        and.b32 %r3, %j, 1;
        setp.eq.u32 %p0, %r3, 0;
        add.u64 %rd5, %rd5, 4;
        selp.b64 %rd6, %rd3, %rd5, %p0;
        ld.u32 %r9, [%rd6];
        isspacep.shared %p1, %rd6;
        @%p1 add.u32 %r9, %r9, 1000;
        """
        + STORE,
        32,
    )
    assert list(found) == [n + 1000 if n % 2 == 0 else 10 * n for n in range(32)]


def test_module_variables_keep_their_values_between_launches() -> None:
    text = """
    .version 8.0
    .target sm_90
    .address_size 64
    .global .u32 counter = 40;
    .const .u32 table[3] = {5, 6, 7};
    .visible .entry test(.param .u64 p) {
      .reg .u64 %rd<2>; .reg .u32 %r<4>;
      ld.param.u64 %rd0, [p];
      mov.u64 %rd1, counter;
      ld.global.u32 %r0, [%rd1];
      ld.const.u32 %r1, [table+8];
      add.u32 %r2, %r0, %r1;
      st.global.u32 [counter], %r2;
      st.global.u32 [%rd0], %r2;
      ret;
    }
    """
    made, memory = ptx.parse(text), Memory()
    address = memory.allocate(4)
    for expected in (47, 54):
        launch("test", made, (1, 1, 1), (1, 1, 1), struct.pack("<Q", address), memory=memory)
        assert memory.read(address, 4).view("u4")[0] == expected


DYNAMIC = """
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry test(.param .u64 p) {
  .shared .b32 first;
  .reg .u64 %rd<2>; .reg .u32 %r<4>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, room;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  add.u32 %r0, %r0, %r2;
  st.shared.u32 [%r0], %r1;
  ld.shared.u32 %r3, [%r0];
  mad.wide.u32 %rd1, %r1, 4, %rd0;
  st.global.u32 [%rd1], %r3;
  ret;
}
"""


def test_dynamic_shared_memory_begins_after_the_static_and_ends() -> None:
    made, memory = ptx.parse(DYNAMIC, "dynamic.ptx"), Memory()
    address = memory.allocate(4 * 64)
    arguments = struct.pack("<Q", address)
    launch("test", made, (1, 1, 1), (64, 1, 1), arguments, 256, memory=memory)
    assert list(memory.read(address, 256).view("u4")) == list(range(64))
    with pytest.raises(EmulatorFault, match="out-of-bounds") as caught:
        launch("test", made, (1, 1, 1), (64, 1, 1), arguments, 252, memory=memory)
    assert caught.value.thread == (63, 0, 0)
    assert caught.value.address == 16 + 252
    assert "has 268 bytes" in str(caught.value)


def test_cp_async_arrives_when_waited_for() -> None:
    memory = Memory()
    source, target = memory.allocate(512), memory.allocate(512)
    memory.write(source, np.arange(128, dtype=np.uint32))
    run(
        """
        .shared .align 16 .b8 tile[512];
        ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
        mad.wide.u32 %rd0, %j, 16, %rd0; mad.wide.u32 %rd1, %j, 16, %rd1;
        mov.u32 %r0, tile; shl.b32 %r1, %j, 4; add.u32 %r0, %r0, %r1;
        setp.eq.u32 %p0, %j, 3;
        selp.u32 %r2, 4, 16, %p0;
        cp.async.cg.shared.global [%r0], [%rd0], 16, %r2;
        cp.async.commit_group;
        cp.async.wait_group 0;
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r0];
        st.global.v4.u32 [%rd1], {%r4, %r5, %r6, %r7};
        """,
        [source, target],
        memory=memory,
        block=32,
    )
    expected = np.arange(128)
    expected[13:16] = 0
    assert list(memory.read(target, 512).view("u4")) == list(expected)


def test_what_is_not_modelled_is_refused_before_anything_runs() -> None:
    memory = Memory()
    address = memory.allocate(4)
    with pytest.raises(Unmodelled, match="test.ptx:13.*alloca.*stack memory") as caught:
        run(
            "ld.param.u64 %rd0, [p0];\nst.global.u32 [%rd0], %i;\nalloca.u64 %rd1, 16;",
            [address],
            memory=memory,
        )
    assert caught.value.place is not None and caught.value.place.line == 13
    # Nor does an instruction that the machine refuses only when it is bound.
    with pytest.raises(Unmodelled, match="test.ptx:13"):
        run(
            "ld.param.u64 %rd0, [p0];\nst.global.u32 [%rd0], %i;\n"
            "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r0}, [%r1];",
            [address],
            memory=memory,
        )
    region = next(iter(memory.regions()))
    assert not region.state[:4].any()


def test_launch_shapes_are_checked() -> None:
    for block, grid, message in (
        ((1025, 1, 1), (1, 1, 1), "1024 is the limit"),
        ((1, 1, 1), (1, 70000, 1), "65535"),
        ((0, 1, 1), (1, 1, 1), "must be positive"),
    ):
        with pytest.raises(EmulatorFault, match=message):
            launch("test", module("", 0), grid, block, b"")


WAITS_FOR_ANOTHER = """
ld.param.u64 %rd0, [p0];
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x;
setp.ne.u32 %p0, %j, 0; @%p0 ret;
mad.wide.u32 %rd1, %r0, 4, %rd0;
add.u32 %r2, %r0, {step}; rem.u32 %r2, %r2, %r1;
mad.wide.u32 %rd2, %r2, 4, %rd0;
setp.eq.u32 %p1, %r2, {first}; @%p1 bra mine;
wait:
{read}
setp.eq.u32 %p2, %r3, 0;
@%p2 bra wait;
mine:
add.u32 %r4, %r0, 1;
st.release.gpu.global.u32 [%rd1], %r4;
"""


@pytest.mark.parametrize("order", ["fixed", 3])
def test_ctas_wait_for_others_wherever_they_are(order: str | int) -> None:
    """A chain of 12 CTAs of 1,024 threads, three chunks of them, each waiting for the next."""
    for step, first in ((1, 0), (11, 11)):
        for read in (
            "ld.acquire.gpu.global.u32 %r3, [%rd2];",
            "atom.global.or.b32 %r3, [%rd2], 0;",
        ):
            memory = Memory()
            address = memory.allocate(48)
            memory.write(address, np.zeros(12, np.uint32))
            text = WAITS_FOR_ANOTHER.format(step=step, first=first, read=read)
            run(text, [address], memory=memory, grid=12, block=1024, order=order)
            assert list(memory.read(address, 48).view(np.uint32)) == list(range(1, 13))


def test_ctas_that_wait_for_each_other_are_named() -> None:
    memory = Memory()
    address = memory.allocate(48)
    memory.write(address, np.zeros(12, np.uint32))
    read = "ld.acquire.gpu.global.u32 %r3, [%rd2];"
    text = WAITS_FOR_ANOTHER.format(step=1, first=99, read=read)
    with pytest.raises(EmulatorFault, match="nobody writes any more.*: ld.acq") as caught:
        run(text, [address], memory=memory, grid=12, block=1024)
    assert caught.value.kind == "deadlock"
