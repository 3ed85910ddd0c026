"""The field cases about faults that hardware hides, each with the case's number."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory, launch
from ptx.layouts import MatrixDescriptor, bank_conflict_ways
from tests.emu.harness import fault, module, run

WGMMA = """
.shared .align 1024 .b8 tile[4096];
ld.param.u64 %rd0, [p0];
mov.u32 %r0, tile; shl.b32 %r1, %j, 5; add.u32 %r0, %r0, %r1;
mov.u32 %r2, 0;
st.shared.v4.u32 [%r0], {%r2, %r2, %r2, %r2};
st.shared.v4.u32 [%r0+16], {%r2, %r2, %r2, %r2};
fence.proxy.async.shared::cta;
bar.sync 0;
mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
mov.u64 %rd4, A_TILE; mov.u64 %rd5, B_TILE;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
// early
wgmma.wait_group.sync.aligned 0;
add.f32 %f0, %f0, %f1;
mad.wide.u32 %rd0, %j, 4, %rd0;
st.global.f32 [%rd0], %f0;
"""


def wgmma(text: str) -> None:
    """Both tiles lie by rows of 32 bytes with their swizzle."""
    for name, start in (("A_TILE", 0), ("B_TILE", 2048)):
        text = text.replace(name, str(MatrixDescriptor(start, 16, 256, 32).bits))
    memory = Memory()
    out = memory.allocate(512)
    run(text, [out], memory=memory, block=128)
    assert (memory.read(out, 512).view(np.float32) == 2).all()


def test_a43_after_the_wait_the_accumulators_are_free() -> None:
    wgmma(WGMMA)


@pytest.mark.parametrize(
    ("old", "new", "kind", "line", "said"),
    [
        ("// early", "add.f32 %f4, %f0, %f0;", "in-flight", 24, "%f0 is read while it is an acc"),
        ("// early", "mov.f32 %f3, 0f00000000;", "in-flight", 24, "%f3 is written while it is"),
        ("wgmma.wait_group.sync.aligned 0;", "", "in-flight", 26, "%f0 is "),
        ("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "in-flight", 26,
         "that was not waited for\n  the wgmma: wgmma.mma_async"),
        ("wgmma.commit_group.sync.aligned;", "", "in-flight", 26, "%f0 is "),
        ("wgmma.fence.sync.aligned;", "", "fence", 22, "no wgmma.fence orders the last write"),
        ("fence.proxy.async.shared::cta;", "", "fence", 22, "no fence.proxy.async between"),
        ("bar.sync 0;", "", "race", 22, "that CTA (0, 0, 0) thread"),
    ],
)  # fmt: skip
def test_a43_registers_and_tiles_of_a_product(
    old: str, new: str, kind: str, line: int, said: str
) -> None:
    with pytest.raises(EmulatorFault) as caught:
        wgmma(WGMMA.replace(old, new))
    error = caught.value
    assert (error.kind, error.place.line if error.place else 0) == (kind, line)
    assert said in str(error)


STORE = """
.shared .align 128 .b8 tile[128];
ld.param.u64 %rd0, [p0];
mov.u32 %r0, tile; shl.b32 %r1, %j, 2; add.u32 %r0, %r0, %r1;
st.shared.u32 [%r0], %j;
{fence}
bar.sync 0;
setp.ne.u32 %p0, %j, 0;
@%p0 ret;
mov.u32 %r2, tile;
cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 128;
cp.async.bulk.commit_group;
{wait}
{after}
"""
FENCE, WAIT = "fence.proxy.async.shared::cta;", "cp.async.bulk.wait_group.read 0;"


def bulk_store(fence: str = FENCE, wait: str = WAIT, after: str = "") -> list[int]:
    memory = Memory()
    out = memory.allocate(128)
    run(STORE.format(fence=fence, wait=wait, after=after), [out], memory=memory, block=32)
    return list(memory.read(out, 128).view(np.uint32))


def test_a40_a_store_by_bulk_copy_needs_a_proxy_fence() -> None:
    assert bulk_store() == list(range(32))
    assert bulk_store(after="st.shared.u32 [%r2], %j;") == list(range(32))
    with pytest.raises(EmulatorFault) as caught:
        bulk_store(fence="")
    assert caught.value.kind == "fence" and caught.value.place
    assert caught.value.place.line == 20
    assert "the copy reads shared memory that CTA (0, 0, 0) thread (0, 0, 0) wrote" in str(
        caught.value
    )


def test_a40_the_fence_may_follow_the_barrier() -> None:
    text = STORE.format(fence="", wait=WAIT, after="").replace(
        "mov.u32 %r2, tile;", "mov.u32 %r2, tile; " + FENCE
    )
    memory = Memory()
    out = memory.allocate(128)
    run(text, [out], memory=memory, block=32)
    # Before the barrier it passes on the thread's own stores alone.
    text = text.replace(FENCE, "").replace("bar.sync 0;", "@!%p0 " + FENCE + " bar.sync 0;")
    text = text.replace("setp.ne", "// ").replace("bar.sync", "bar.sync", 1)
    text = text.replace("st.shared", "setp.ne.u32 %p0, %j, 0; st.shared", 1)
    with pytest.raises(EmulatorFault) as caught:
        run(text, [out], memory=memory, block=32)
    assert caught.value.kind == "fence" and "thread (1, 0, 0) wrote" in str(caught.value)


def test_the_source_of_a_bulk_copy_is_lent() -> None:
    with pytest.raises(EmulatorFault) as caught:
        bulk_store(wait="", after="st.shared.u32 [%r2], %j;")
    assert caught.value.kind == "in-flight" and "still reads them" in str(caught.value)
    with pytest.raises(EmulatorFault) as caught:
        bulk_store(wait="")
    assert caught.value.kind == "in-flight" and "the thread exits" in str(caught.value)


def test_a_cta_that_leaves_while_a_peer_writes() -> None:
    text = """
    .shared .b32 word;
    mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, word;
    mapa.shared::cluster.u32 %r3, %r2, %r1;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    st.shared::cluster.u32 [%r3], %r0;
    {end}
    """
    end = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    for order in ("fixed", "reverse"):
        run(text.format(end=end), block=32, grid=2, cluster=(2, 1, 1), order=order)
        error = fault(text.format(end=""), block=32, grid=2, cluster=(2, 1, 1), order=order)
        assert error.kind in ("race", "use-after-free")


def test_d12_two_that_wait_for_each_other() -> None:
    error = fault(
        "setp.lt.u32 %p0, %j, 32;\n@%p0 bra other;\n"
        "bar.sync 1, 64;\nbar.sync 2, 64;\nret;\n"
        "other:\nbar.sync 2, 64;\nbar.sync 1, 64;",
        block=64,
    )
    assert error.kind == "deadlock"
    text = str(error)
    assert "32 threads, the first CTA (0, 0, 0) thread (32, 0, 0)" in text
    assert "32 threads, the first CTA (0, 0, 0) thread (0, 0, 0)" in text
    assert "barrier 1 with 64 threads" in text and "barrier 2 with 64 threads" in text
    assert "bar.sync 1, 64; (test.ptx:13:1)" in text and "bar.sync 2, 64; (test.ptx:17:1)" in text


# fmt: off
STRIDES = [(1, 1), (2, 2), (4, 4), (32, 32), (33, 1), (0, 1)]
# fmt: on


@pytest.mark.parametrize(("stride", "ways"), STRIDES)
def test_d07_bank_conflicts_of_a_stride(stride: int, ways: int) -> None:
    """Counted where it runs, and by the function that needs no run."""
    text = f"""
    .shared .align 16 .b8 tile[8192];
    mov.u32 %r0, tile; mul.lo.u32 %r1, %j, {4 * stride}; add.u32 %r0, %r0, %r1;
    st.shared.u32 [%r0], 7;
    """
    assert bank_conflict_ways([4 * stride * lane for lane in range(32)], 4) == ways
    report = launch("test", module(text, 0), (1, 1, 1), (32, 1, 1), b"", report=True)
    assert report is not None
    assert [row.ways for row in report.rows if row.opcode.startswith("st.shared")] == [ways]
    if ways > 1:
        with pytest.raises(AssertionError, match=f"{ways} ways: st.shared.u32"):
            report.assert_no_bank_conflicts()
    else:
        report.assert_no_bank_conflicts()


def test_d07_vectors_go_by_quarter_warps() -> None:
    text = """
    .shared .align 16 .b8 tile[512];
    mov.u32 %r0, tile; shl.b32 %r1, %j, 4; add.u32 %r0, %r0, %r1;
    st.shared.v4.u32 [%r0], {%j, %j, %j, %j};
    """
    report = launch("test", module(text, 0), (1, 1, 1), (32, 1, 1), b"", report=True)
    assert report is not None
    report.assert_no_bank_conflicts()


@pytest.mark.parametrize(("target", "line"), [("sm_75", 14), ("sm_80", 0), ("sm_90a", 0)])
def test_a38_ldmatrix_with_junk_in_the_lanes_it_does_not_use(target: str, line: int) -> None:
    text = """
.shared .align 16 .b8 tile[512];
mov.u32 %r0, tile; shl.b32 %r1, %j, 4; add.u32 %r0, %r0, %r1;
st.shared.v4.u32 [%r0], {%j, %j, %j, %j}; bar.warp.sync 0xFFFFFFFF; setp.ge.u32 %p0, %j, 16; \
selp.u32 %r0, 1, %r0, %p0;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%r0];
"""
    if not line:
        run(text, block=32, target=target)
        return
    error = fault(text, block=32, target=target)
    assert (error.kind, error.place.line if error.place else 0) == ("misaligned", line)


GLOBAL = """
ld.param.u64 %rd0, [p0];
mad.wide.u32 %rd1, %i, 4, %rd0;
st.global.u32 [%rd1], %i;
{between}
xor.b32 %r0, %i, {other}; mad.wide.u32 %rd2, %r0, 4, %rd0;
ld.global.u32 %r1, [%rd2];
"""


@pytest.mark.parametrize(
    ("other", "between", "line"),
    [(32, "", 16), (32, "bar.sync 0;", 0), (64, "bar.sync 0;", 16), (1, "bar.warp.sync -1;", 0)],
)
def test_races_in_global_memory(other: int, between: str, line: int) -> None:
    """Of warps of a CTA, and of CTAs: a barrier orders the ones and not the others."""
    memory = Memory()
    address = memory.allocate(512)
    memory.write(address, np.zeros(128, np.uint32))
    text = GLOBAL.format(between=between, other=other)
    if not line:
        run(text, [address], memory=memory, grid=2, block=64)
        return
    with pytest.raises(EmulatorFault) as caught:
        run(text, [address], memory=memory, grid=2, block=64)
    error = caught.value
    assert (error.kind, error.place.line if error.place else 0) == ("race", line)
    assert "the other access: st.global.u32 [%rd1], %i; (test.ptx:13:1)" in str(error)


def test_what_an_earlier_launch_wrote_is_no_race() -> None:
    memory = Memory()
    address = memory.allocate(512)
    run("ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %i, 4, %rd0; st.global.u32 [%rd1], %i;",
        [address], memory=memory, grid=2, block=64)  # fmt: skip
    run("ld.param.u64 %rd0, [p0]; ld.global.u32 %r0, [%rd0]; add.u32 %r0, %r0, 1;",
        [address], memory=memory, grid=2, block=64)  # fmt: skip


LAST = """
ld.param.u64 %rd0, [p0];
mad.wide.u32 %rd1, %i, 4, %rd0;
st.global.u32 [%rd1+4], 1;
{first}
bar.sync 0;
setp.ne.u32 %p0, %j, 0;
@%p0 ret;
{count}
setp.ne.u32 %p1, %r0, 3;
@%p1 ret;
mov.u32 %r1, 0; mov.u32 %r2, 0;
sum:
mad.wide.u32 %rd1, %r1, 4, %rd0;
ld.global.u32 %r3, [%rd1+4];
add.u32 %r2, %r2, %r3; add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 256;
@%p2 bra sum;
st.global.u32 [%rd0+1028], %r2;
"""


@pytest.mark.parametrize("order", ["fixed", "reverse", 5])
def test_the_last_cta_may_read_what_the_others_wrote(order: str | int) -> None:
    """An atomic counter orders CTAs; a plain one does not."""
    memory = Memory()
    address = memory.allocate(1032)
    memory.write(address, np.zeros(258, np.uint32))
    text = LAST.format(first="membar.gl;", count="atom.global.add.u32 %r0, [%rd0], 1; membar.gl;")
    run(text, [address], memory=memory, grid=4, block=64, order=order)
    assert memory.read(address, 1032).view(np.uint32)[257] == 256
    memory.write(address, np.zeros(258, np.uint32))
    text = LAST.format(
        first="", count="ld.global.u32 %r0, [%rd0]; add.u32 %r5, %r0, 1; st.global.u32 [%rd0], %r5;"
    )
    with pytest.raises(EmulatorFault) as caught:
        run(text, [address], memory=memory, grid=4, block=64, order=order)
    assert caught.value.kind == "race"
