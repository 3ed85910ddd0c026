"""Asynchronous stores and reductions: what arrives, judged by a scalar reading of the manual, and
what is poison, lent or a race until then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory
from tests.emu.harness import outputs, run

KINDS: dict[str, Any] = {
    "b32": np.uint32, "b64": np.uint64, "u32": np.uint32, "s32": np.int32, "u64": np.uint64,
    "s64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "f64": np.float64,
}  # fmt: skip


def reduced(operation: str, old: Any, b: Any, kind: Any) -> Any:
    """One element, as the manual's table of operations says."""
    bits = np.dtype(kind).itemsize * 8
    if operation == "add" and np.dtype(kind).kind in "iu":
        return kind((int(old) + int(b)) % 2**bits) if np.dtype(kind).kind == "u" else (
            np.array((int(old) + int(b)) % 2**bits, f"u{bits // 8}").view(kind)[()]
        )  # fmt: skip
    if operation == "add":
        # Sums of these are exact in float64.
        return np.float64(old + np.float64(b)).astype(kind)
    if operation == "inc":
        return kind(0 if old >= b else old + 1)
    if operation == "dec":
        return kind(b if old == 0 or old > b else old - 1)
    chosen: Callable[[Any, Any], Any] = {
        "and": lambda x, y: x & y,
        "or": lambda x, y: x | y,
        "xor": lambda x, y: x ^ y,
        "min": min,
        "max": max,
    }[operation]
    return chosen(old, b)


def samples(kind: Any, count: int, seed: int) -> Any:
    """Small numbers and the ends of a type's range."""
    rng = np.random.default_rng(seed)
    if np.dtype(kind).kind in "iu":
        ends = np.iinfo(kind)
        values = rng.integers(ends.min, ends.max, count, kind, endpoint=True)
        values[::3] = rng.integers(0, 3, len(values[::3]))
        return values
    return (rng.integers(-64, 64, count) * 0.25).astype(kind)


# ---------------------------------------------------------------- to shared memory of a cluster

TO_SHARED = """
.shared .align 8 .b64 full; .shared .align 16 .b8 sum[64]; .shared .align 16 .b8 mine[64];
ld.param.u64 %rd0, [p0]; mov.u32 %r0, %cluster_ctarank;
mov.u32 %r5, full; mov.u32 %r6, sum; mov.u32 %r7, mine;
setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p2, %j, 0;
@%p2 mbarrier.init.shared::cta.b64 [%r5], 1;
shl.b32 %r1, %j, 2; add.u32 %r2, %r6, %r1; add.u32 %r3, %r7, %r1;
mov.u32 %r8, %ctaid.x; shl.b32 %r8, %r8, 6; cvt.u64.u32 %rd2, %r8; cvt.u64.u32 %rd3, %r1;
add.u64 %rd4, %rd0, %rd3; ld.global.u32 %r9, [%rd4]; {init}
add.u64 %rd5, %rd4, %rd2; ld.global.u32 %r10, [%rd5+64]; st.shared.u32 [%r3], %r10;
{fence}
@%p2 fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mov.u32 %r11, 0;
mapa.shared::cluster.u32 %r12, %r6, %r11; mapa.shared::cluster.u32 %r13, %r5, %r11;
@!%p2 bra joined;
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], {expected};
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation}
  [%r12], [%r7], 64, [%r13];
joined: {early}
@!%p0 bra done;
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r5], 0;
@!%p1 bra wait;
ld.shared.u32 %r9, [%r2]; st.global.u32 [%rd4], %r9;
done:
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""
INIT, PROXY = "st.shared.u32 [%r2], %r9;", "fence.proxy.async.shared::cta;"


def to_shared(
    operation: str,
    type: str,
    init: str = INIT,
    fence: str = PROXY,
    expected: int = 128,
    early: str = "",
) -> tuple[Any, Any, Any]:
    """Two CTAs change 64 bytes of the first: what was there, what they hold, and the result."""
    kind = KINDS[type]
    before = samples(kind, 64 // np.dtype(kind).itemsize, 1)
    held = samples(kind, 2 * len(before), 2).reshape(2, -1)
    memory = Memory()
    address = memory.allocate(192)
    memory.write(address, np.concatenate([before, held.ravel()]))
    text = TO_SHARED.format(
        operation=f"{operation}.{type}", init=init, fence=fence, expected=expected, early=early
    )
    run(text, [address], memory=memory, grid=2, block=16, cluster=(2, 1, 1))
    return before, held, memory.read(address, 64).view(kind)


SHARED_FORMS = [
    (op, type)
    for ops, kinds in (
        ("and or xor", "b32"),
        ("add", "u32 s32 u64"),
        ("inc dec", "u32"),
        ("min max", "u32 s32"),
    )  # fmt: skip
    for op, type in itertools.product(ops.split(), kinds.split())
]


@pytest.mark.parametrize(("operation", "type"), SHARED_FORMS)
def test_two_ctas_reduce_into_one(operation: str, type: str) -> None:
    before, held, after = to_shared(operation, type)
    for old, first, second, got in zip(before, *held, after, strict=True):
        kind = KINDS[type]
        either = {
            reduced(operation, reduced(operation, old, x, kind), y, kind)
            for x, y in ((first, second), (second, first))
        }
        assert got in either


@pytest.mark.parametrize(
    ("kind", "words", "changes"),
    [
        ("uninitialised", "reduction changes memory that was never written", {"init": ""}),
        ("fence", "fence.proxy.async", {"fence": ""}),
        ("deadlock", "64 bytes pending", {"expected": 192}),
        ("in-flight", "4 bytes are read", {"early": "@%p0 ld.shared.u32 %r9, [%r2];"}),
        ("in-flight", "still reads them", {"early": "@%p2 st.shared.u32 [%r3], 0;"}),
    ],
)
def test_a_reduction_goes_wrong(kind: str, words: str, changes: dict[str, Any]) -> None:
    with pytest.raises(EmulatorFault) as caught:
        to_shared("add", "u32", **changes)
    assert caught.value.kind == kind
    assert words in str(caught.value)


@pytest.mark.parametrize("op", ["cp.async.bulk", "cp.reduce.async.bulk"])
@pytest.mark.parametrize("cluster", [None, (1, 1, 1), (2, 1, 1)])
def test_copies_between_shared_memories_need_a_cluster(
    op: str, cluster: tuple[int, int, int] | None
) -> None:
    """On an H200 they are an illegal instruction in a launch without one; a cluster of 1 does."""
    memory = Memory()
    out = memory.allocate(64)
    words = "mbarrier::complete_tx::bytes" + (".add.u32" if "reduce" in op else "")
    text = f"""
    .shared .align 8 .b64 full; .shared .align 16 .b8 sum[64]; .shared .align 16 .b8 mine[64];
    ld.param.u64 %rd0, [p0]; mov.u32 %r5, full; mov.u32 %r6, sum; mov.u32 %r7, mine;
    shl.b32 %r1, %j, 2; cvt.u64.u32 %rd1, %r1; add.u64 %rd0, %rd0, %rd1; setp.ne.u32 %p0, %j, 0;
    add.u32 %r2, %r6, %r1; add.u32 %r3, %r7, %r1; st.shared.u32 [%r2], 0; st.shared.u32 [%r3], %j;
    @!%p0 mbarrier.init.shared::cta.b64 [%r5], 1; @!%p0 fence.mbarrier_init.release.cluster;
    fence.proxy.async.shared::cta; bar.sync 0;
    @%p0 bra wait;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 64;
    {op}.shared::cluster.shared::cta.{words} [%r6], [%r7], 64, [%r5];
    wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], 0; @!%p1 bra wait;
    mov.u32 %r4, %ctaid.x; setp.ne.u32 %p1, %r4, 0; @%p1 bra done;
    ld.shared.u32 %r9, [%r2]; st.global.u32 [%rd0], %r9;
    done:
    """
    size = cluster[0] if cluster else 1
    if cluster is None:
        with pytest.raises(EmulatorFault, match="in a launch without a cluster") as caught:
            run(text, [out], memory=memory, grid=size, block=16, cluster=cluster)
        assert caught.value.kind == "wrong-space"
    else:
        run(text, [out], memory=memory, grid=size, block=16, cluster=cluster)
        assert memory.read(out, 64).view("u4").tolist() == list(range(16))


# ---------------------------------------------------------------- to global memory

TO_GLOBAL = """
.shared .align 16 .b8 tile[{bytes}];
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; mov.u32 %r6, tile;
shl.b32 %r1, %j, 2; add.u32 %r2, %r6, %r1; cvt.u64.u32 %rd3, %r1; add.u64 %rd4, %rd0, %rd3;
ld.global.u32 %r9, [%rd4]; st.shared.u32 [%r2], %r9;
fence.proxy.async.shared::cta; bar.sync 0;
setp.ne.u32 %p0, %j, 0; @%p0 bra done;
{op} [%rd1], [%r6], {bytes}{more};
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
done:
"""
GLOBAL_FORMS = [
    (op, type)
    for ops, kinds in (
        ("and or xor", "b32 b64"),
        ("add", "u32 s32 u64 f32 f64"),
        ("inc dec", "u32"),
        ("min max", "u32 s32 u64 s64 f16 bf16"),
        ("add.noftz", "f16 bf16"),
    )  # fmt: skip
    for op, type in itertools.product(ops.split(), kinds.split())
]


@pytest.mark.parametrize(("operation", "type"), GLOBAL_FORMS)
def test_two_ctas_reduce_into_global_memory(operation: str, type: str) -> None:
    """Both hold the same, so that their order does not matter."""
    kind = KINDS[type]
    before, held = (samples(kind, 128 // np.dtype(kind).itemsize, seed) for seed in (1, 2))
    memory = Memory()
    source, target = memory.allocate(128), memory.allocate(128)
    memory.write(source, held)
    memory.write(target, before)
    op = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{type}"
    run(TO_GLOBAL.format(op=op, bytes=128, more=""), [source, target], memory, grid=2, block=32)
    word = operation.partition(".")[0]
    expected = [
        reduced(word, reduced(word, old, b, kind), b, kind)
        for old, b in zip(before, held, strict=True)
    ]
    assert memory.read(target, 128).view(kind).tolist() == expected


def test_float32_sums_in_global_memory_flush() -> None:
    """red.add.f32: subnormals flushed in global memory, kept in shared memory (9.7.13.6)."""
    text = """
    .shared .b32 word; ld.param.u64 %rd0, [p0];
    st.shared.b32 [word], 0x00000003; red.shared.add.f32 [word], 0f00000004;
    red.global.add.f32 [%rd0], 0f00000004; red.global.add.f32 [%rd0+4], 0f80800000;
    ld.shared.b32 %r0, [word]; st.global.b32 [%rd0+8], %r0;
    """
    memory = Memory()
    address = memory.allocate(12)
    # A subnormal; and a sum of 0x00400000, which is subnormal.
    memory.write(address, np.array([3, 0x00C00000, 0], np.uint32))
    run(text, [address], memory)
    assert memory.read(address, 12).view(np.uint32).tolist() == [0, 0, 7]


COPIED_SUMS = {
    "f32": [(0x80000000, 0x80000001, 0x80000001), (0x2, 0x80800000, 0x807FFFFE),
            (0x807FFFFF, 0xC00000, 0x400001), (0x800000, 0x7FFFFF, 0xFFFFFF),
            (0x7F800000, 0x7F800001, 0x7FFFFFFF)],
    "f64": [(0x8018000000000000, 0x7FF17EE58571CD19, 0x7FF17EE58571CD19),
            (0xFFF0000000000001, 0xBFDC2DFE75EA1A13, 0xFFF0000000000001),
            (0xFFF4AFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF),
            (0x7FF8000000000001, 0x1, 0x7FF8000000000001)],
}  # fmt: skip
"""What is in memory, what a copy adds to it, and what an H200 leaves there."""


@pytest.mark.parametrize("type", COPIED_SUMS)
def test_sums_of_copies_keep_subnormals_and_nan(type: str) -> None:
    kind = np.uint32 if type == "f32" else np.uint64
    rows = (COPIED_SUMS[type] * 8)[: 128 // np.dtype(kind).itemsize]
    before, held, after = np.array(rows, kind).T
    memory = Memory()
    source, target = memory.allocate(128), memory.allocate(128)
    memory.write(source, np.ascontiguousarray(held))
    memory.write(target, np.ascontiguousarray(before))
    op = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.{type}"
    text = TO_GLOBAL.format(op=op, bytes=128, more="")
    run(text, [source, target], memory, block=32)
    assert memory.read(target, 128).view(kind).tolist() == after.tolist()


@pytest.mark.parametrize(
    ("space", "after"),
    [
        ("global", [0x7FF0000000000001, 0xFFF0000000000001, 0xFFF0000000000001]),
        ("shared", [0xFFF8000000000001, 0x7FF8000000000001, 0xFFF8000000000001]),
    ],
)
@pytest.mark.parametrize("generic", [False, True])
def test_nan_of_float64_sums(space: str, after: list[int], generic: bool) -> None:
    """What an H200 leaves; a generic address changes nothing."""
    before = [0xFFF0000000000001, 0x7FF8000000000001, 0x3FF0000000000000]
    added = [0x7FF0000000000001, 0xFFF0000000000001, 0xFFF0000000000001]
    place, suffix = ("%rd0", "") if generic else ("%rd1", f".{space}")
    text = ".shared .b64 words[3]; ld.param.u64 %rd2, [p0]; mov.u64 %rd1, words;"
    if space == "global":
        text = "ld.param.u64 %rd2, [p0]; mov.u64 %rd1, %rd2;"
    text += f"cvta.{space}.u64 %rd0, %rd1;"
    for number, (old, b) in enumerate(zip(before, added, strict=True)):
        at = f"+{8 * number}]"
        text += f"st.{space}.b64 [%rd1{at}, {old}; red{suffix}.add.f64 [{place}{at}, 0d{b:016x};"
        text += f"ld.{space}.b64 %rd3, [%rd1{at}; st.global.b64 [%rd2{at}, %rd3;"
    memory = Memory()
    address = memory.allocate(24)
    run(text, [address], memory)
    assert memory.read(address, 24).view(np.uint64).tolist() == after


def test_of_each_16_bytes_those_of_the_mask() -> None:
    memory = Memory()
    source, target = memory.allocate(128), memory.allocate(128)
    memory.write(source, np.arange(1, 129, dtype=np.uint8))
    memory.write(target, np.zeros(128, np.uint8))
    op = "cp.async.bulk.global.shared::cta.bulk_group.cp_mask"
    text = ".reg .b16 %m; mov.b16 %m, 0x8005;" + TO_GLOBAL.format(op=op, bytes=128, more=", %m")
    run(text, [source, target], memory, block=32, target="sm_100a")
    kept = [n + 1 if n % 16 in (0, 2, 15) else 0 for n in range(128)]
    assert memory.read(target, 128).tolist() == kept


# ---------------------------------------------------------------- st.async, red.async

SEND = """
.shared .align 8 .b64 full; .shared .align 16 .b8 into[512];
ld.param.u64 %rd0, [p0]; mov.u32 %r0, %cluster_ctarank; xor.b32 %r4, %r0, 1;
mov.u32 %r5, full; mov.u32 %r6, into; setp.eq.u32 %p0, %j, 0;
@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;
shl.b32 %r1, %j, 4; add.u32 %r2, %r6, %r1;
mov.u32 %r3, 0; st.shared.v4.b32 [%r2], {{%r3, %r3, %r3, %r3}};
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], {expected};
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mapa.shared::cluster.u32 %r8, %r2, %r4; mapa.shared::cluster.u32 %r9, %r5, {owner};
mapa.shared::cluster.u32 %r10, %r6, %r4;
mad.lo.u32 %r11, %r0, 1000, %j; add.u32 %r12, %r11, 100; add.u32 %r13, %r11, 200;
cvt.u64.u32 %rd2, %r11; cvt.u64.u32 %rd3, %r12; cvt.rn.f32.u32 %f0, %r11; cvt.rn.f32.u32 %f1, %r12;
{op}
{early}
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r5], 0;
@!%p1 bra wait;
shl.b32 %r14, %i, 4; cvt.u64.u32 %rd4, %r14; add.u64 %rd4, %rd0, %rd4;
ld.shared.v4.b32 {{%r16, %r17, %r18, %r19}}, [%r2];
st.global.v4.b32 [%rd4], {{%r16, %r17, %r18, %r19}};
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""
TX = "mbarrier::complete_tx::bytes"


def send(op: str, expected: int, owner: str = "%r4", early: str = "") -> Any:
    """What each of two CTAs of 32 threads was sent by the other: ``(2, 32, 4)`` words."""
    text = SEND.format(op=op, expected=expected, owner=owner, early=early)
    found = outputs(text, 256, block=32, grid=2, cluster=(2, 1, 1), fill=0)
    return found.reshape(2, 32, 4)


def test_stores_reach_a_peer() -> None:
    thread = np.arange(32)
    for cta, sent in enumerate(send(f"st.async.{TX}.b32 [%r8], %r11, [%r9];", 128)):
        assert np.array_equal(sent[:, 0], (1 - cta) * 1000 + thread)
        assert not sent[:, 1:].any()
    vector = f"st.async.weak.shared::cluster.{TX}.v4.u32 [%r8], {{%r11, %r12, %r13, %r3}}, [%r9];"
    for cta, sent in enumerate(send(vector, 512)):
        base = (1 - cta) * 1000 + thread
        assert np.array_equal(sent, np.stack([base, base + 100, base + 200, 0 * base], 1))
    for cta, sent in enumerate(send(f"st.async.{TX}.v2.u64 [%r8], {{%rd2, %rd3}}, [%r9];", 512)):
        base = (1 - cta) * 1000 + thread
        assert np.array_equal(sent[:, [0, 2]], np.stack([base, base + 100], 1))
    floats = send(f"st.async.{TX}.v2.f32 [%r8], {{%f0, %f1}}, [%r9];", 256)
    assert np.array_equal(floats[0, :, 1].copy().view(np.float32), 1100.0 + thread)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("add.u32", 31 * 16), ("max.s32", 31), ("or.b32", 31), ("xor.b32", 0), ("inc.u32", 1),
     ("min.u32", 0), ("add.u64", 31 * 16)],
)  # fmt: skip
def test_reductions_meet_in_a_peer(operation: str, expected: int) -> None:
    """All 32 threads change the peer's first word (or two) by their number."""
    wide = operation.endswith("64")
    value, nbytes = ("%rd5", 256) if wide else ("%r20", 128)
    op = (
        f"mov.u32 %r20, %j; cvt.u64.u32 %rd5, %r20; "
        f"red.async.relaxed.cluster.{TX}.{operation} [%r10], {value}, [%r9];"
    )
    sent = send(op, nbytes)
    if operation == "inc.u32":
        old = 0
        for number in range(32):
            old = 0 if old >= number else old + 1
        expected = old
    assert sent[:, 0, 0].tolist() == [expected, expected]
    assert not sent[:, 1:].any()


@pytest.mark.parametrize(
    ("kind", "words", "changes"),
    [
        ("in-flight", "are read while", {"early": "ld.shared.u32 %r16, [%r2];"}),
        ("barrier", "another CTA", {"owner": "%r0"}),
        ("deadlock", "bytes pending", {"expected": 256}),
    ],
)
def test_an_asynchronous_store_goes_wrong(kind: str, words: str, changes: dict[str, Any]) -> None:
    given = {"op": f"st.async.{TX}.b32 [%r8], %r11, [%r9];", "expected": 128} | changes
    with pytest.raises(EmulatorFault) as caught:
        send(**given)
    assert caught.value.kind == kind
    assert words in str(caught.value)


def test_a_store_over_a_store_in_flight() -> None:
    op = f"st.async.{TX}.b32 [%r8], %r11, [%r9];"
    with pytest.raises(EmulatorFault, match="an asynchronous store writes where another") as caught:
        send(op + op, 256)
    assert caught.value.kind == "in-flight"


def test_releases_to_global_memory_and_bulk_zeros() -> None:
    text = """
    .shared .align 16 .b8 tile[256]; ld.param.u64 %rd0, [p0]; mov.u32 %r6, tile;
    mov.u64 %rd1, 40; mov.u64 %rd2, 5;
    st.shared.u64 [%r6+40], %rd2; st.bulk.weak.shared::cta [%r6], %rd1, 0;
    ld.shared.u64 %rd3, [%r6+32]; ld.shared.u64 %rd4, [%r6+40];
    st.async.release.gpu.global.u64 [%rd0], %rd3; st.async.release.sys.u64 [%rd0+8], %rd4;
    red.async.release.gpu.global.add.u64 [%rd0+8], %rd2; red.async.release.gpu.add.s32 [%rd0], -2;
    """
    found = outputs(text, 4, block=1, fill=0, target="sm_100a")
    assert found.tolist() == [2**32 - 2, 0, 10, 0]
    with pytest.raises(EmulatorFault, match="uninitialised"):
        outputs(text.replace("[%r6+32]", "[%r6+48]"), 4, block=1, fill=0, target="sm_100a")
    with pytest.raises(EmulatorFault, match="multiples of 8"):
        outputs(text.replace("%rd1, 40", "%rd1, 44"), 4, block=1, fill=0, target="sm_100a")
