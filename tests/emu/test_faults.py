"""Small broken kernels, one bug each: the right kind, line, thread and address."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.emu import KINDS, EmulatorFault, Memory
from tests.emu.harness import fault, run

HEAD = 10
"""Lines of the module before the body of a test."""


def line(error: EmulatorFault) -> int:
    """The line of the body, from 1."""
    assert error.place is not None and error.place.file == "test.ptx"
    return error.place.line - HEAD


def with_memory(text: str, nbytes: int = 64, write: bool = True, **options: int) -> EmulatorFault:
    memory = Memory()
    address = memory.allocate(nbytes)
    if write:
        memory.write(address, np.zeros(nbytes, np.uint8))
    with pytest.raises(EmulatorFault) as caught:
        run(text, [address], memory=memory, **options)
    assert caught.value.kind in KINDS
    return caught.value


def test_load_past_the_end() -> None:
    error = with_memory(
        "ld.param.u64 %rd0, [p0];\nmad.wide.u32 %rd0, %i, 4, %rd0;\nld.global.u32 %r0, [%rd0];",
        block=17,
    )
    assert (error.kind, line(error), error.thread) == ("out-of-bounds", 3, (16, 0, 0))
    assert "4 bytes past the end of allocation of 64 bytes" in error.allocation
    assert "ld.global.u32 %r0, [%rd0];" in str(error)


def test_store_between_allocations() -> None:
    error = with_memory("ld.param.u64 %rd0, [p0];\nst.global.u32 [%rd0+2048], %i;")
    assert (error.kind, line(error)) == ("out-of-bounds", 2)


def test_null_pointer() -> None:
    error = fault("mov.u64 %rd0, 8;\nld.global.u32 %r0, [%rd0];")
    assert (error.kind, error.address) == ("out-of-bounds", 8)
    assert "null" in error.allocation


def test_vector_access_on_a_narrower_boundary() -> None:
    error = with_memory(
        "ld.param.u64 %rd0, [p0];\nld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd0+4];"
    )
    assert (error.kind, line(error)) == ("misaligned", 2)
    assert "multiple of 16" in str(error)


def test_memory_that_nobody_wrote() -> None:
    error = with_memory("ld.param.u64 %rd0, [p0];\nld.global.u32 %r0, [%rd0+8];", write=False)
    assert (error.kind, line(error)) == ("uninitialised", 2)
    error = fault(".shared .b32 word;\nld.shared.u32 %r0, [word];")
    assert (error.kind, line(error)) == ("uninitialised", 2)


def test_part_of_a_vector_that_nobody_wrote() -> None:
    error = fault(
        ".shared .align 16 .b8 tile[16];\nst.shared.u32 [tile], %i;\n"
        "ld.shared.v2.u32 {%r0, %r1}, [tile];"
    )
    assert (error.kind, line(error)) == ("uninitialised", 3)
    assert "from its byte 4 on" in str(error)


def test_use_after_free() -> None:
    memory = Memory()
    address = memory.allocate(64)
    memory.free(address)
    with pytest.raises(EmulatorFault) as caught:
        run("ld.param.u64 %rd0, [p0];\nst.global.u32 [%rd0], %i;", [address], memory=memory)
    assert (caught.value.kind, line(caught.value)) == ("use-after-free", 2)
    assert "freed" in caught.value.allocation


def test_store_to_constant_memory() -> None:
    import ptx
    from ptx.emu import launch

    text = """
    .version 8.0
    .target sm_90
    .address_size 64
    .const .u32 table[1] = {5};
    .visible .entry test() {
      .reg .u64 %rd0;
      .reg .u32 %r0;
      mov.u64 %rd0, table;
      mov.u32 %r0, 1;
      st.global.u32 [%rd0], %r0;
      ret;
    }
    """
    with pytest.raises(EmulatorFault) as caught:
        launch("test", ptx.parse(text), (1, 1, 1), (1, 1, 1), b"")
    assert caught.value.kind == "read-only"


def test_global_address_used_for_shared() -> None:
    error = with_memory(".shared .b32 word;\nld.param.u64 %rd0, [p0];\nst.shared.u32 [%rd0], %i;")
    assert (error.kind, line(error)) == ("wrong-space", 3)


def test_undefined_registers() -> None:
    for text, at in (
        (".reg .b64 %x;\nld.global.u32 %r0, [%x];", 2),
        (".shared .b32 word;\n.reg .b32 %x, %y;\nadd.u32 %y, %x, 1;\nst.shared.u32 [word], %y;", 4),
        (".reg .pred %q;\n@%q bra there;\nthere:", 2),
        (".reg .pred %q;\n@%q mov.u32 %r0, 1;", 2),
    ):
        error = fault(text)
        assert (error.kind, line(error)) == ("uninitialised", at)
        assert "was never written in this thread" in str(error)


def test_an_undefined_value_that_goes_nowhere_is_no_fault() -> None:
    run(".reg .b32 %x, %y;\nadd.u32 %y, %x, 1;\nmov.u32 %r0, %y;")


def test_read_before_the_wait() -> None:
    text = """
.shared .align 16 .b8 tile[512];
ld.param.u64 %rd0, [p0];
mov.u32 %r0, tile; shl.b32 %r1, %j, 4; add.u32 %r0, %r0, %r1;
cp.async.cg.shared.global [%r0], [%rd0], 16;
cp.async.commit_group;
cp.async.cg.shared.global [%r0+256], [%rd0+16], 16;
cp.async.commit_group;
cp.async.wait_group 1;
ld.shared.u32 %r2, [%r0];
ld.shared.u32 %r2, [%r0+256];"""
    error = with_memory(text, block=1)
    assert (error.kind, line(error)) == ("in-flight", 10)
    error = with_memory(text.replace("wait_group 1", "wait_group 2"), block=1)
    assert (error.kind, line(error)) == ("in-flight", 9)


def test_different_values_stored_to_one_place() -> None:
    error = with_memory("ld.param.u64 %rd0, [p0];\nst.global.u32 [%rd0], %i;", block=32)
    assert (error.kind, line(error)) == ("race", 2)


def test_half_a_warp_at_a_barrier() -> None:
    error = fault(
        "setp.lt.u32 %p0, %j, 16;\n@%p0 bra done;\nbar.sync 0;\ndone:\nbar.sync 1;", block=32
    )
    assert error.kind == "divergent-barrier"


def test_a_warp_that_never_comes() -> None:
    error = fault("setp.lt.u32 %p0, %j, 32;\n@%p0 bra done;\nbar.sync 1, 64;\ndone:", block=64)
    assert (error.kind, line(error)) == ("deadlock", 3)
    assert "32 threads, the first CTA (0, 0, 0) thread (32, 0, 0)" in str(error)
    assert "barrier 1 with 64 threads" in str(error)


def test_barrier_count_that_is_no_multiple_of_32() -> None:
    error = fault("mov.u32 %r0, 40;\nbar.sync 1, %r0;", block=64)
    assert (error.kind, line(error)) == ("barrier", 2)
    assert "multiple of the warp size 32" in str(error)


def test_branch_table_overrun() -> None:
    error = fault(
        "places: .branchtargets one, two;\nmov.u32 %r0, 2;\nbrx.idx %r0, places;\none:\ntwo:"
    )
    assert (error.kind, line(error)) == ("out-of-bounds", 3)


def test_trap() -> None:
    error = fault("setp.eq.u32 %p0, %j, 3;\n@%p0 trap;", block=8)
    assert (error.kind, line(error), error.thread) == ("trap", 2, (3, 0, 0))


def test_shuffle_from_a_lane_that_does_not_take_part() -> None:
    error = fault(
        "setp.lt.u32 %p0, %j, 16;\nmov.u32 %r0, 0xFFFF;\n@!%p0 bra done;\n"
        "shfl.sync.idx.b32 %r1, %j, 20, 31, %r0;\ndone:",
        block=32,
    )
    assert (error.kind, line(error)) == ("mask", 4)
    assert "reads from lane 20" in str(error)


@pytest.mark.parametrize("offset", [-(1 << 31), -25536, 25536, (1 << 31) - 4])
def test_an_offset_of_32_bits_reaches_no_other_allocation(offset: int) -> None:
    """Three allocations one after another, and an index into the middle one that leaves it."""
    memory = Memory()
    _, middle, _ = (memory.allocate(64) for _ in range(3))
    text = f"ld.param.u64 %rd0, [p0]; st.global.u32 [%rd0+{offset}], %j;"
    found = fault(text, middle, memory=memory)
    assert found.kind == "out-of-bounds"
