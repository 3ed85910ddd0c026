"""The field cases about what PTX means: exact values, each with the case's number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptx
from tests.emu.harness import fault, operate, outputs

NAN = "0f7FC00000"
u32, s32, u64 = np.uint32, np.int32, np.uint64


def bits(op: str, result: str, *sources: Any, form: str | None = None) -> int:
    """The one result of an instruction, as an unsigned integer."""
    (value,) = operate(op, result, sources, form)
    return int(value.view(f"u{value.dtype.itemsize}")[0])


# fmt: off
CASES: list[tuple[str, str, str, list[Any], int]] = [
    ("B03", "bfe.u32", "u32", [("u32", 0xF0), ("u32", 260), "4"], 0xF),
    ("B03", "bfe.u64", "u64", [("u64", 0xF0), ("u32", 260), "4"], 0),
    ("B04", "bfi.b32", "b32", [("b32", 0xFF), ("b32", 0x12345678), ("u32", 32), "8"], 0x12345678),
    ("B04", "bfi.b32", "b32", [("b32", 0xFF), ("b32", 0x12345678), ("u32", 28), "8"], 0xF2345678),
    ("B04", "bfi.b32", "b32", [("b32", 0xFF), ("b32", 0x12345678), ("u32", 0), "0"], 0x12345678),
    ("B06", "cvt.rz.f32.s32", "b32", [("s32", 16777219)], 0x4B800001),
    ("B06", "cvt.rn.f32.s32", "b32", [("s32", 16777219)], 0x4B800002),
    ("B07", "add.u64", "u64", [("u64", 0xFFFFFFFFFFFFFFFF), "2"], 1),
    ("B07", "mul.lo.u32", "u32", [("u32", 0x10001), ("u32", 0x10001)], 0x20001),
    ("B12", "min.f32", "b32", [NAN, "0f3F800000"], 0x3F800000),
    ("B12", "min.NaN.f32", "b32", [NAN, "0f3F800000"], 0x7FFFFFFF),
    ("B12", "max.f32", "b32", ["0f80000000", "0f00000000"], 0),
    ("B12", "min.f32", "b32", ["0f00000000", "0f80000000"], 0x80000000),
    ("B12", "min.f32", "b32", ["0f7FA00000", "0f40000000"], 0x40000000),
    ("B13", "rem.s32", "s32", [("s32", s32(-7)), "3"], 0xFFFFFFFF),
    ("B13", "rem.s32", "s32", [("s32", 7), ("s32", s32(-3))], 1),
    ("B13", "div.s32", "s32", [("s32", s32(-7)), "2"], 0xFFFFFFFD),
    ("B15", "shf.l.wrap.b32", "b32", [("b32", 0x11111111), ("b32", 0xABCDEF01), "4"], 0xBCDEF011),
    ("B15", "shf.l.wrap.b32", "b32", [("b32", 0x11111111), ("b32", 0xABCDEF01), "36"], 0xBCDEF011),
    ("B15", "shf.l.clamp.b32", "b32", [("b32", 0x11111111), ("b32", 0xABCDEF01), "36"], 0x11111111),
    ("B15", "shf.r.wrap.b32", "b32", [("b32", 0x11111111), ("b32", 0xABCDEF01), "8"], 0x01111111),
    ("B16", "shl.b32", "b32", [("b32", 1), ("u32", 32)], 0),
    ("B16", "shl.b32", "b32", [("b32", 1), ("u32", 0x100)], 0),
    ("B16", "shr.s32", "s32", [("s32", 0x80000000), ("u32", 40)], 0xFFFFFFFF),
    ("B16", "shr.u32", "u32", [("u32", 0x80000000), ("u32", 0xFFFFFFFF)], 0),
    ("B16", "shl.b64", "b64", [("b64", 1), ("u32", 64)], 0),
    ("B16", "shr.b32", "b32", [("b32", s32(-8)), ("u32", 1)], 0x7FFFFFFC),
    ("B18", "setp.ne.f32", "pred", [NAN, NAN], 0),
    ("B18", "setp.neu.f32", "pred", [NAN, NAN], 1),
    ("B18", "setp.num.f32", "pred", [NAN, "0f00000000"], 0),
    ("B18", "setp.eq.f32", "pred", ["0f80000000", "0f00000000"], 1),
    ("B18", "setp.lt.f32", "pred", [NAN, "0f00000000"], 0),
    ("B18", "setp.ge.f32", "pred", [NAN, "0f00000000"], 0),
    ("B18", "setp.geu.f32", "pred", [NAN, "0f00000000"], 1),
    ("B25", "clz.b64", "b32", [("b64", 1)], 63),
    ("B25", "clz.b64", "b32", [("b64", 0)], 64),
    ("B25", "bfind.shiftamt.u32", "u32", [("u32", 0)], 0xFFFFFFFF),
    ("B25", "bfind.shiftamt.u32", "u32", [("u32", 0x2CD1A4C1)], 2),
    ("B25", "bfind.s32", "u32", [("s32", s32(-1))], 0xFFFFFFFF),
    ("B27", "prmt.b32", "b32", [("b32", 0x80017F02), "0", "0x89AB"], 0x000000FF),
    ("B27", "prmt.b32.f4e", "b32", [("b32", 0x33221100), ("b32", 0x77665544), "1"], 0x44332211),
    ("B27", "prmt.b32.b4e", "b32", [("b32", 0x33221100), ("b32", 0x77665544), "1"], 0x66770011),
    ("B27", "prmt.b32.rc8", "b32", [("b32", 0x33221100), ("b32", 0x77665544), "2"], 0x22222222),
    ("B27", "prmt.b32.ecl", "b32", [("b32", 0x33221100), ("b32", 0x77665544), "1"], 0x33221111),
    ("B27", "prmt.b32.ecr", "b32", [("b32", 0x33221100), ("b32", 0x77665544), "1"], 0x11111100),
    ("B27", "prmt.b32.rc16", "b32", [("b32", 0x33221100), ("b32", 0x77665544), "1"], 0x33223322),
    ("B40", "mov.f32", "b32", ["0.0"], 0),
    ("B40", "mov.f32", "b32", ["-1.5"], 0xBFC00000),
    ("B40", "mov.f32", "b32", ["0F3f800000"], 0x3F800000),
    ("B40", "mov.f32", "b32", ["0d3FB999999999999A"], 0x3DCCCCCD),
    ("B42", "mul.ftz.f32", "b32", [("f32", u32(0x80200000)), "0f3F800000"], 0x80000000),
    ("B42", "setp.gt.ftz.f32", "pred", [("f32", u32(1)), "0f00000000"], 0),
    ("B42", "setp.gt.f32", "pred", [("f32", u32(1)), "0f00000000"], 1),
    ("B43", "rsqrt.approx.ftz.f64", "b64", [("f64", u64(0x3FF0000000000001))], 0x3FF0000000000000),
]
# fmt: on


@pytest.mark.parametrize(("case", "op", "result", "sources", "expected"), CASES)
def test_value(case: str, op: str, result: str, sources: list[Any], expected: int) -> None:
    destination = {"b32": "b32", "b64": "b64"}.get(result, result)
    if op.rsplit(".", 1)[-1] in ("f32", "f64") and result in ("b32", "b64"):
        destination = op.split(".")[1] if op.startswith("cvt") else op.rsplit(".", 1)[-1]
    if op.startswith("cvt"):
        destination = "f32"
    if destination == "pred":
        assert int(operate(op, "pred", sources)[0][0]) == expected
        return
    assert bits(op, destination, *sources) == expected


def test_a17_32_bit_index_wraps() -> None:
    a, b, c = ("s32", 239674), ("s32", 8960), ("s32", 8959)
    assert operate("mad.lo.s32", "s32", [a, b, c])[0][0] == -2147479297
    wide = operate("mad.wide.s32", "s64", [a, b, ("s64", np.int64(8959))])[0][0]
    assert wide == 2147487999


def test_b01_selp_reads_a_negated_predicate() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.f32 %f0, 0f7FC00000;
        setp.lt.f32 %p0, %f0, 0f3F800000;
        selp.s32 %r0, 7, 9, !%p0;
        st.global.u32 [%rd0], %r0;
        """,
        1,
        block=1,
    )
    assert found[0] == 7


def test_b09_carry_chain_of_mad() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, 0xFFFFFFFF;
        mad.lo.cc.u32 %r1, %r0, 2, 3;
        madc.hi.u32 %r2, %r0, 2, 0;
        st.global.v2.u32 [%rd0], {%r1, %r2};
        """,
        2,
        block=1,
    )
    assert list(found) == [1, 2]


def test_b10_carry_is_not_borrow() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, 0;
        sub.cc.u32 %r1, %r0, 1;
        subc.u32 %r2, 5, 0;
        sub.cc.u32 %r1, %r0, 1;
        addc.u32 %r3, %r0, 0;
        mov.u32 %r5, 5;
        sub.cc.u32 %r1, %r5, 1;
        addc.u32 %r4, %r0, 0;
        st.global.u32 [%rd0], %r2;
        st.global.u32 [%rd0+4], %r3;
        st.global.u32 [%rd0+8], %r4;
        """,
        3,
        block=1,
    )
    assert list(found) == [4, 0, 1]


def test_b24_narrow_loads_extend_and_stores_cut() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, 0x180;
        st.global.u8 [%rd0+12], %r0;
        ld.global.u8 %r1, [%rd0+12];
        ld.global.s8 %r2, [%rd0+12];
        st.global.u32 [%rd0], %r1;
        st.global.u32 [%rd0+4], %r2;
        """,
        4,
        block=1,
    )
    assert list(found[:2]) == [0x80, 0xFFFFFF80]


def test_b28_shuffle_stays_in_its_segment() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, %laneid;
        add.u32 %r1, %r0, 4;
        shfl.sync.idx.b32 %r2, %r0, %r1, 0x181F, 0xFFFFFFFF;
        mad.wide.u32 %rd1, %i, 4, %rd0;
        st.global.u32 [%rd1], %r2;
        """,
        32,
    )
    assert list(found[:8]) == [4, 5, 6, 7, 0, 1, 2, 3]
    assert found[13] == 9


def test_b30_mask_that_names_lanes_elsewhere() -> None:
    error = fault(
        """
        mov.u32 %r0, %laneid;
        setp.ge.u32 %p0, %r0, 16;
        @%p0 bra other;
        shfl.sync.idx.b32 %r1, %r0, 0, 0x1F, 0xFFFFFFFF;
        bra done;
        other:
        bar.sync 0;
        done:
        """,
        block=32,
    )
    assert error.kind == "mask"
    assert "names lanes 16-31" in str(error)
    assert error.place is not None and error.place.line == 14


def test_b30_lane_outside_its_mask() -> None:
    error = fault(
        """
        mov.u32 %r0, %laneid;
        shfl.sync.idx.b32 %r1, %r0, 0, 0x1F, 0x0000FFFF;
        """,
        block=32,
    )
    assert error.kind == "mask"
    assert "lane 16 executes this" in str(error)
    assert error.thread == (16, 0, 0)


def test_b33_undefined_lanes_may_be_shuffled_over() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, %laneid;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 mov.u32 %r1, 77;
        shfl.sync.idx.b32 %r2, %r1, 0, 0x1F, 0xFFFFFFFF;
        mad.wide.u32 %rd1, %i, 4, %rd0;
        st.global.u32 [%rd1], %r2;
        """,
        32,
    )
    assert set(found) == {77}


def test_b33_an_undefined_value_that_is_stored_is_a_fault() -> None:
    error = fault(
        """
        mov.u32 %r0, %laneid;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 mov.u32 %r1, 77;
        shfl.sync.idx.b32 %r2, %r1, 1, 0x1F, 0xFFFFFFFF;
        .shared .b32 word;
        st.shared.u32 [word], %r2;
        """,
        block=32,
    )
    assert error.kind == "uninitialised"
    assert "%r2 was never written in this thread" in str(error)
    assert error.place is not None and error.place.line == 16


def test_b34_two_copies_of_a_barrier_in_one_warp() -> None:
    error = fault(
        """
        mov.u32 %r0, %laneid;
        setp.ge.u32 %p0, %r0, 16;
        @%p0 bra other;
        bar.sync 1, 32;
        bra done;
        other:
        bar.sync 1, 32;
        done:
        """,
        block=32,
    )
    assert error.kind == "divergent-barrier"
    assert "test.ptx:14" in str(error) and "test.ptx:17" in str(error)


def test_b37_cvta_of_an_address_that_is_generic_already() -> None:
    error = fault(
        """
        .local .b32 slot[4];
        mov.u64 %rd0, slot;
        cvta.local.u64 %rd1, %rd0;
        cvta.local.u64 %rd2, %rd1;
        st.u32 [%rd2], 1;
        """
    )
    assert error.kind == "out-of-bounds"


def test_b39_a_shared_pointer_is_not_global() -> None:
    error = fault(
        """
        .shared .b32 word;
        mov.u64 %rd0, word;
        cvta.shared.u64 %rd1, %rd0;
        st.global.u32 [%rd1], 1;
        """
    )
    assert error.kind == "wrong-space"
    assert "window of shared memory" in str(error)


def test_b45_mul_and_add_round_twice() -> None:
    a, b, c = (np.float32(x) for x in (1.0000001, 1.0000001, -1.0000002))
    product = operate("mul.rn.f32", "f32", [("f32", a), ("f32", b)])[0][0]
    twice = operate("add.rn.f32", "f32", [("f32", product), ("f32", c)])[0][0]
    once = operate("fma.rn.f32", "f32", [("f32", a), ("f32", b), ("f32", c)])[0][0]
    assert twice == np.float32(a * b) + c
    assert once == np.float32(np.float64(a) * np.float64(b) + np.float64(c)) != twice


def test_b46_tanh_is_within_its_tolerance() -> None:
    found = operate("tanh.approx.f32", "f32", [("f32", np.float32(-4.5))])[0][0]
    assert abs(found / np.tanh(-4.5) - 1) < 2.0**-11
    assert operate("tanh.approx.f32", "f32", [("f32", np.float32(-np.inf))])[0][0] == -1


def test_b48_fourth_coordinate_is_zero() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, %tid.w;
        st.global.u32 [%rd0], %r0;
        """,
        1,
        block=1,
    )
    assert found[0] == 0


def test_b49_masks_of_logical_warps() -> None:
    found = outputs(
        """
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, %laneid;
        and.b32 %r1, %r0, 0x18;
        mov.u32 %r2, 0xFF;
        shl.b32 %r2, %r2, %r1;
        mov.u32 %r4, 8;
        match.any.sync.b32 %r3, %r1, 0xFFFFFFFF;
        mad.wide.u32 %rd1, %i, 4, %rd0;
        st.global.u32 [%rd1], %r3;
        """,
        32,
    )
    assert (found[13], found[30]) == (0x0000FF00, 0xFF000000)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_b49_the_helper_of_logical_warps(width: int) -> None:
    """What a vote of the segment's own lanes gives; lanes 13 and 30 in segments of 8."""
    k = ptx.Kernel("masks", out="global.b32")
    (out,) = k.params()
    lane = k.mov.u32(k.tid.x)
    mask = k.segment_mask(width)
    everyone = k.vote.sync.ballot.b32(k.setp.ge.u32(lane, 0), mask)
    same = k.setp.eq.b32(everyone, mask)
    k.st.global_.b32(out + k.mul.wide.u32(lane, 4), k.selp.b32(mask, 0, same))
    k.ret()
    device = ptx.device("emulator")
    found = device.array(np.zeros(32, np.uint32))
    device.load(ptx.Module(k))["masks"].launch(1, 32, (found,))
    first = np.arange(32) // width * width
    assert list(found.numpy()) == list((1 << width) - 1 << first.astype(object))
    if width == 8:
        assert (found.numpy()[13], found.numpy()[30]) == (0x0000FF00, 0xFF000000)


def test_d12_two_waiters_on_each_other() -> None:
    error = fault(
        """
        mov.u32 %r0, %tid.x;
        setp.ge.u32 %p0, %r0, 32;
        @%p0 bra second;
        bar.sync 1, 64;
        bar.arrive 2, 64;
        bra done;
        second:
        bar.sync 2, 64;
        bar.arrive 1, 64;
        done:
        """,
        block=64,
    )
    assert error.kind == "deadlock"
    assert "wait for barrier 1 with 64 threads" in str(error)
    assert "wait for barrier 2 with 64 threads" in str(error)
