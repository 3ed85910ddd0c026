"""mbarriers, bulk and tensor copies, clusters, wgmma: what arrives when, and what is poison."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, launch
from ptx.layouts import MatrixDescriptor, swizzle, wgmma_accumulator
from ptx.tensormap import TensorMap
from tests.emu.harness import fault, outputs, run

BULK = """
.shared .align 8 .b64 full; .shared .align 16 .b8 tile[256];
setp.eq.u32 %p0, %j, 0;
@%p0 mbarrier.init.shared::cta.b64 [full], 1; fence.mbarrier_init.release.cluster;
bar.sync 0;
ld.param.u64 %rd0, [p0];
mov.u32 %r5, full; mov.u32 %r6, tile;
@!%p0 bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {expected};
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd0], 64, [%r5];
wait:
{early}
mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
@!%p1 bra wait;
shl.b32 %r1, %j, 2; and.b32 %r1, %r1, 63; add.u32 %r1, %r1, %r6;
ld.shared.u32 %r2, [%r1];
mad.wide.u32 %rd1, %i, 4, %rd0;
st.global.u32 [%rd1+1024], %r2;
"""


def bulk(expected: int = 64, early: str = "") -> np.ndarray[Any, Any]:
    memory = Memory()
    address = memory.allocate(2048)
    memory.write(address, np.arange(256, dtype=np.uint32))
    run(BULK.format(expected=expected, early=early), [address], memory=memory, block=64)
    return memory.read(address + 1024, 256).view(np.uint32)


def test_a_bulk_copy_arrives_with_its_mbarrier() -> None:
    assert list(bulk()) == list(range(16)) * 4


def test_a41_wrong_byte_count() -> None:
    with pytest.raises(EmulatorFault) as caught:
        bulk(expected=128)
    error = caught.value
    assert error.kind == "deadlock"
    assert "64 threads" in str(error) and "64 bytes pending" in str(error)
    assert error.place is not None and error.place.line == 22


def test_a41_parity_of_a_fresh_mbarrier() -> None:
    """Parity 1 is the phase before the first: over; parity 0 is not."""
    found = outputs(
        """
        .shared .align 8 .b64 full;
        ld.param.u64 %rd0, [p0];
        mbarrier.init.shared::cta.b64 [full], 1;
        mbarrier.try_wait.parity.shared::cta.b64 %p0, [full], 1;
        mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;
        mbarrier.arrive.shared::cta.b64 %rd1, [full];
        mbarrier.test_wait.shared::cta.b64 %p2, [full], %rd1;
        selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2;
        st.global.u32 [%rd0], %r0; st.global.u32 [%rd0+4], %r1; st.global.u32 [%rd0+8], %r2;
        """,
        3,
        block=1,
    )
    assert list(found) == [1, 0, 1]


def test_what_is_on_its_way_is_poison() -> None:
    with pytest.raises(EmulatorFault) as caught:
        bulk(early="ld.shared.u32 %r2, [tile];")
    assert caught.value.kind == "in-flight"


def test_more_arrivals_than_the_phase_wants() -> None:
    error = fault(
        ".shared .align 8 .b64 full;\nmbarrier.init.shared::cta.b64 [full], 2;\n"
        "mbarrier.arrive.shared::cta.b64 _, [full], 3;"
    )
    assert error.kind == "barrier"
    assert "3 arrivals at an mbarrier whose phase wants 2 more of 2" in str(error)


def test_an_mbarrier_that_nobody_initialised() -> None:
    error = fault(".shared .align 8 .b64 full;\nmbarrier.arrive.shared::cta.b64 _, [full];")
    assert error.kind == "barrier"
    assert "no mbarrier was initialised there" in str(error)


PIPE = """
.shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .b32 word;
ld.param.u64 %rd0, [p0];
setp.eq.u32 %p0, %j, 0;
@%p0 mbarrier.init.shared::cta.b64 [full], 1;
@%p0 mbarrier.init.shared::cta.b64 [empty], 32;
bar.sync 0;
mov.u32 %r0, 0;
mov.u32 %r7, 0;
setp.ge.u32 %p1, %j, 32;
@%p1 bra consumer;
@!%p0 bra done;
produce:
and.b32 %r1, %r0, 1;
xor.b32 %r2, %r1, 1;
room:
{room}
mad.lo.u32 %r3, %r0, 3, 1;
st.shared.u32 [word], %r3;
mbarrier.arrive.shared::cta.b64 _, [full];
add.u32 %r0, %r0, 1;
setp.lt.u32 %p3, %r0, 10;
@%p3 bra produce;
bra done;
consumer:
and.b32 %r1, %r0, 1;
filled:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r1;
@!%p2 bra filled;
ld.shared.u32 %r3, [word];
add.u32 %r7, %r7, %r3;
{free}
add.u32 %r0, %r0, 1;
setp.lt.u32 %p3, %r0, 10;
@%p3 bra consumer;
mad.wide.u32 %rd1, %j, 4, %rd0;
st.global.u32 [%rd1], %r7;
done:
"""
ROOM = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [empty], %r2; @!%p2 bra room;"
FREE = "mbarrier.arrive.shared::cta.b64 _, [empty];"


@pytest.mark.parametrize("order", ["fixed", "reverse", 3])
def test_a_producer_and_its_consumers(order: str | int) -> None:
    found = outputs(PIPE.format(room=ROOM, free=FREE), 64, block=64, fill=0, order=order)
    assert set(found[32:]) == {sum(3 * n + 1 for n in range(10))}


def test_a_producer_that_does_not_wait_for_room_is_in_a_race() -> None:
    with pytest.raises(EmulatorFault) as caught:
        outputs(PIPE.format(room="", free=""), 64, block=64, fill=0)
    assert caught.value.kind in ("race", "barrier", "deadlock")


# ---------------------------------------------------------------- tensor copies


TENSOR = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry test(.param .align 64 .b8 map[128], .param .align 64 .b8 back[128],
                     .param .u32 x, .param .u32 y, .param .u64 out)
{{
  .shared .align 1024 .b8 tile[{bytes}]; .shared .align 8 .b64 full;
  .reg .b64 %m, %b, %o; .reg .b32 %x, %y, %t, %f, %n, %v; .reg .pred %p;
  mov.b64 %m, map; cvta.param.u64 %m, %m;
  mov.b64 %b, back; cvta.param.u64 %b, %b;
  ld.param.u32 %x, [x]; ld.param.u32 %y, [y]; ld.param.u64 %o, [out];
  mov.u32 %t, tile; mov.u32 %f, full;
  mbarrier.init.shared::cta.b64 [%f], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%f], {bytes};
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
      [%t], [%m, {{%x, %y}}], [%f];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%f], 0;
  @!%p bra wait;
  max.s32 %x, %x, 0; max.s32 %y, %y, 0;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%b, {{%x, %y}}], [%t];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  mov.u32 %n, 0;
copy:
  ld.shared.u32 %v, [%t];
  st.global.u32 [%o], %v;
  add.u32 %t, %t, 4; add.u64 %o, %o, 4; add.u32 %n, %n, 4;
  setp.lt.u32 %p, %n, {bytes};
  @%p bra copy;
  ret;
}}
"""


@pytest.mark.parametrize("span", [0, 32, 64, 128])
@pytest.mark.parametrize("corner", [(0, 0), (8, 3), (-8, -2), (40, 14)])
def test_a_tensor_copy_swizzles_and_fills(span: int, corner: tuple[int, int]) -> None:
    """The tile is stored where it was loaded, or at 0, as no store begins before it."""
    columns, rows = 48, 17
    box = ((span or 128) // 2, 8)
    values = np.arange(columns * rows, dtype=np.uint16).reshape(rows, columns)
    memory = Memory()
    size = box[0] * box[1] * 2
    source, target = memory.allocate(values.nbytes), memory.allocate(values.nbytes)
    out = memory.allocate(size)
    memory.write(source, values)
    memory.write(target, np.zeros_like(values))
    maps = [
        TensorMap(address, (columns, rows), (2 * columns,), box, "u16", span).pack()
        for address in (source, target)
    ]
    x, y = corner
    arguments = b"".join(maps) + struct.pack("<iiQ", x, y, out)
    launch("test", ptx.parse(TENSOR.format(bytes=size)), (1, 1, 1), (1, 1, 1), arguments, 0, None,
           memory)  # fmt: skip
    tile = memory.read(out, size)
    written = np.zeros_like(values)
    for row in range(box[1]):
        for column in range(box[0]):
            inside = 0 <= y + row < rows and 0 <= x + column < columns
            at = swizzle((row * box[0] + column) * 2, span)
            expected = values[y + row, x + column] if inside else 0
            assert tile[at : at + 2].view(np.uint16)[0] == expected
            to = max(y, 0) + row, max(x, 0) + column
            if to[0] < rows and to[1] < columns:
                written[to] = expected
    assert np.array_equal(memory.read(target, values.nbytes).view(np.uint16), written.ravel())


# ---------------------------------------------------------------- clusters


def test_a_cluster_shares_its_memory() -> None:
    """Each CTA writes its rank into its neighbour's shared memory."""
    found = outputs(
        """
        .shared .b32 word;
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, %cluster_ctarank;
        xor.b32 %r1, %r0, 1;
        mov.u32 %r2, word;
        mapa.shared::cluster.u32 %r3, %r2, %r1;
        add.u32 %r4, %r0, 100;
        st.shared::cluster.u32 [%r3], %r4;
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        ld.shared.u32 %r5, [word];
        mov.u32 %r6, %ctaid.x;
        mad.wide.u32 %rd1, %r6, 4, %rd0;
        st.global.u32 [%rd1], %r5;
        """,
        4,
        block=1,
        grid=4,
        cluster=(2, 1, 1),
    )
    assert list(found) == [101, 100, 101, 100]


# ---------------------------------------------------------------- wgmma


@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize(("type", "kind"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_wgmma_reads_swizzled_tiles(type: str, kind: Any, trans_b: int) -> None:
    """64x16 by 16x32, A along K, B along K or along N."""
    m, n, k = 64, 32, 16
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, shape).astype(kind) for shape in ((m, k), (k, n)))
    shared = np.zeros(8192, np.uint8)
    left = MatrixDescriptor(0, 16, 256, 32)
    if trans_b:
        right = MatrixDescriptor(4096, 1024, 512, 64)
    else:
        right = MatrixDescriptor(4096, 16, 256, 32)

    def place(descriptor: MatrixDescriptor, value: Any, mn: int, depth: int, major: bool) -> None:
        at = descriptor.address(mn, depth, 16, major)
        shared[at : at + 2] = np.array([value], kind).view(np.uint8)

    for depth in range(k):
        for row in range(m):
            place(left, a[row, depth], row, depth, True)
        for column in range(n):
            place(right, b[depth, column], column, depth, not trans_b)
    memory = Memory()
    source, out = memory.allocate(8192), memory.allocate(4 * m * n)
    memory.write(source, shared)
    d = ", ".join(f"%d{i}" for i in range(n // 2))
    stores = "\n".join(f"st.global.f32 [%rd2+{4 * i}], %d{i};" for i in range(n // 2))
    run(
        f"""
        .shared .align 1024 .b8 tile[8192]; .reg .f32 %d<{n // 2}>;
        ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
        mov.u32 %r0, tile; shl.b32 %r1, %j, 6; add.u32 %r0, %r0, %r1;
        cvt.u64.u32 %rd3, %r1; add.u64 %rd0, %rd0, %rd3;
        ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd0];
        st.shared.v4.u32 [%r0], {{%r2, %r3, %r4, %r5}};
        ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd0+16];
        st.shared.v4.u32 [%r0+16], {{%r2, %r3, %r4, %r5}};
        ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd0+32];
        st.shared.v4.u32 [%r0+32], {{%r2, %r3, %r4, %r5}};
        ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd0+48];
        st.shared.v4.u32 [%r0+48], {{%r2, %r3, %r4, %r5}};
        fence.proxy.async.shared::cta;
        bar.sync 0;
        mov.u64 %rd4, {left.bits}; mov.u64 %rd5, {right.bits};
        setp.ne.u32 %p0, 0, 0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n32k16.f32.{type}.{type}
            {{{d}}}, %rd4, %rd5, %p0, 1, 1, 0, {trans_b};
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        mad.wide.u32 %rd2, %j, {2 * n}, %rd1;
        {stores}
        """,
        [source, out],
        memory=memory,
        block=128,
    )
    held = memory.read(out, 4 * m * n).view(np.float32).reshape(128, n // 2)
    got = np.zeros((m, n), np.float32)
    for lane, places in enumerate(wgmma_accumulator(n).places):
        for element, spot in enumerate(places):
            got[spot] = held[lane, element]
    assert np.array_equal(got, a.astype(np.float32) @ b.astype(np.float32))
