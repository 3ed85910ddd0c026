"""What each call emits: one instruction, spelled as the manual spells it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ptx
from ptx.builder import Kernel
from ptx.ir import SINK, Addr, Instruction, Pragma


def emitted(kernel: Kernel) -> list[str]:
    """The body as text, declarations left out."""
    return [
        f"{s}:" if type(s).__name__ == "Label" else str(s)
        for s in kernel.function().body or ()
        if type(s).__name__ in ("Instruction", "Label")
    ]


def last(kernel: Kernel) -> str:
    return emitted(kernel)[-1]


@pytest.fixture
def k() -> Kernel:
    return Kernel("test", n="u32", x="global.f32")


def test_params_load_and_convert_in_order(k: Kernel) -> None:
    n, x = k.params()
    assert (n.type, x.type, x.space) == ("u32", "b64", "global")
    assert emitted(k) == [
        "ld.param.u32 %r1, [n];",
        "ld.param.b64 %bd1, [x];",
        "cvta.to.global.u64 %bd2, %bd1;",
    ]


def test_halves_as_parameters() -> None:
    k = Kernel("halves", h="f16", pair="f16x2")
    h, pair = k.params()
    assert (h.type, pair.type) == ("f16", "b32")
    assert emitted(k) == ["ld.param.b16 %h1, [h];", "ld.param.b32 %b1, [pair];"]


def test_numpy_integers_are_integers(k: Kernel) -> None:
    n, x = k.params()
    tile = k.shared("tile", "f32", np.int64(4))
    assert x + np.int64(4) == x + 4 == np.int64(4) + x
    assert (x + 4) - np.int32(8) == x - 4
    assert tile + np.uint8(16) == tile + 16 == 16 + tile
    n * np.int32(3)
    assert last(k) == "mul.lo.u32 %r2, %r1, 3;"
    with k.loop(np.int64(0), np.int64(8), np.int64(2)):
        pass
    k.maxntid(np.int64(256))
    assert k.function().directive("maxntid") == (256, 1, 1)


def test_what_counts_as_a_pointer(k: Kernel) -> None:
    n, x = k.params()
    offset = k.cvt.u64.u32(n)
    assert (x + offset).space == (offset + x).space == (x - offset).space == "global"
    for number in (x - x, x + x, offset - x):
        assert number.space is None
    assert (x - x) + 4 is not None
    assert last(k).startswith("add.s64")


def test_the_counter_of_an_untyped_bound_is_signed(k: Kernel) -> None:
    n, _ = k.params()
    with k.loop(0, n & -8) as i:
        assert i.type == "s32"
    assert emitted(k)[-2] == "setp.lt.s32 %p1, %s1, %b1;"


def test_global_index_is_four_instructions(k: Kernel) -> None:
    k.global_index("y")
    assert emitted(k) == [
        "mov.u32 %r1, %ctaid.y;",
        "mov.u32 %r2, %ntid.y;",
        "mov.u32 %r3, %tid.y;",
        "mad.lo.u32 %r4, %r1, %r2, %r3;",
    ]


def test_b49_a_segment_mask_is_three_instructions(k: Kernel) -> None:
    k.segment_mask(8)
    assert emitted(k) == [
        "mov.u32 %r1, %laneid;",
        "and.b32 %b1, %r1, 24;",
        "shl.b32 %b2, 255, %b1;",
    ]
    with pytest.raises(
        ptx.PtxError, match=r"test_emission\.py:\d+.*1, 2, 4, 8, 16 or 32 lanes, not 12"
    ):
        k.segment_mask(12)


@pytest.mark.parametrize(
    ("operator", "instruction"),
    [
        (lambda a, b: a + b, "add.s32 %s3, %s1, %s2;"),
        (lambda a, b: a - 7, "sub.s32 %s3, %s1, 7;"),
        (lambda a, b: 7 - a, "sub.s32 %s3, 7, %s1;"),
        (lambda a, b: a * b, "mul.lo.s32 %s3, %s1, %s2;"),
        (lambda a, b: a << 3, "shl.b32 %b1, %s1, 3;"),
        (lambda a, b: a >> 3, "shr.s32 %s3, %s1, 3;"),
        (lambda a, b: a & 15, "and.b32 %b1, %s1, 15;"),
        (lambda a, b: a | b, "or.b32 %b1, %s1, %s2;"),
        (lambda a, b: a ^ b, "xor.b32 %b1, %s1, %s2;"),
        (lambda a, b: ~a, "not.b32 %b1, %s1;"),
    ],
)
def test_an_operator_is_one_instruction(k: Kernel, operator, instruction: str) -> None:
    a, b = k.reg("s32", 2)
    before = len(emitted(k))
    operator(a, b)
    assert emitted(k)[before:] == [instruction]


def test_shift_right_follows_the_sign_of_the_type(k: Kernel) -> None:
    for type, expected in (("s32", "shr.s32"), ("u32", "shr.u32"), ("b32", "shr.b32")):
        k.reg(type) >> 1
        assert last(k).startswith(expected)


def test_predicates_combine_by_operators(k: Kernel) -> None:
    p, q = k.reg("pred", 2)
    p & ~q
    assert last(k) == "and.pred %p3, %p1, !%p2;"
    ~p | q
    assert last(k) == "or.pred %p4, !%p1, %p2;"


def test_a_pointer_and_a_constant_make_an_address(k: Kernel) -> None:
    _, x = k.params()
    before = len(emitted(k))
    assert x + 8 == Addr(x, 8)
    assert x - 4 + 16 == Addr(x, 12)
    assert Addr(x + 8, 4) == Addr(x, 12)
    assert len(emitted(k)) == before
    k.ld.global_.f32(x - 4)
    assert last(k) == "ld.global.f32 %f1, [%bd2+-4];"


def test_a_pointer_and_a_register_make_a_pointer(k: Kernel) -> None:
    _, x = k.params()
    moved = x + k.mul.wide.u32(k.reg("u32"), 4)
    assert last(k) == "add.s64 %sd1, %bd2, %rd1;"
    assert moved.space == "global"
    k.ld.global_.f32(moved + 4)
    assert last(k) == "ld.global.f32 %f1, [%sd1+4];"


def test_spelling_of_keywords_colons_and_digits(k: Kernel) -> None:
    tile = k.shared("tile", "b64", 1)
    k.mbarrier.arrive.expect_tx.shared__cta.b64(tile, 16384, out=SINK)
    assert last(k) == "mbarrier.arrive.expect_tx.shared::cta.b64 _, [tile], 16384;"
    a, b = k.reg("b32", 2)
    k.and_.b32(a, b)
    assert last(k) == "and.b32 %b3, %b1, %b2;"
    coordinates = k.reg("s32", 2)
    descriptor = k.reg("b64")
    k.cp.async_.bulk.tensor._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes(
        tile, (descriptor, coordinates), tile
    )
    assert last(k) == (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[tile], [%bd1, {%s1, %s2}], [tile];"
    )


def test_op_takes_any_spelling(k: Kernel) -> None:
    k.op("add.s32", k.reg("s32"), 1)
    assert last(k) == "add.s32 %s2, %s1, 1;"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "0f3F800000"),
        (0.1, "0f3DCCCCCD"),
        (math.inf, "0f7F800000"),
        (-math.inf, "0fFF800000"),
        (math.nan, "0f7FC00000"),
        (-0.0, "0f80000000"),
        (1e300, "0f7F800000"),
        (2**-149, "0f00000001"),
    ],
)
def test_f32_literals_are_exact_bits(k: Kernel, value: float, text: str) -> None:
    r = k.reg("f32")
    k.fma.rn.f32(r, r, value)
    assert last(k) == f"fma.rn.f32 %f2, %f1, %f1, {text};"


def test_f64_literals_are_exact_bits(k: Kernel) -> None:
    k.mov.f64(0.1)
    assert last(k) == "mov.f64 %fd1, 0d3FB999999999999A;"


def test_vectors_are_tuples(k: Kernel) -> None:
    _, x = k.params()
    values = k.ld.global_.v4.f32(x)
    assert last(k) == "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%bd2];"
    k.st.global_.v4.f32(x + 16, values)
    assert last(k) == "st.global.v4.f32 [%bd2+16], {%f1, %f2, %f3, %f4};"


def test_two_destinations(k: Kernel) -> None:
    a = k.reg("s32")
    p, q = k.reg("pred", 2)
    k.setp.lt.s32(a, 3, out=(p, q))
    assert last(k) == "setp.lt.s32 %p1|%p2, %s1, 3;"


def test_mov_unpacks_by_out_and_packs_by_tuple(k: Kernel) -> None:
    lo, hi = k.reg("b32", 2)
    wide = k.mov.b64((lo, hi))
    assert last(k) == "mov.b64 %bd1, {%b1, %b2};"
    k.mov.b64(wide, out=(lo, hi))
    assert last(k) == "mov.b64 {%b1, %b2}, %bd1;"


def test_narrow_results_are_made_32_bits_wide(k: Kernel) -> None:
    _, x = k.params()
    assert k.ld.global_.u8(x).type == "u32"
    assert k.ld.global_.s8(x).type == "s32"
    assert k.ld.global_.u16(x).type == "u16"


def test_when_guards_each_instruction_and_nothing_else(k: Kernel) -> None:
    _, x = k.params()
    p, value = k.reg("pred"), k.reg("f32")
    with k.when(~p):
        k.ld.global_.f32(x, out=value)
    k.st.global_.f32(x, value)
    assert emitted(k)[-2:] == [
        "@!%p1 ld.global.f32 %f1, [%bd2];",
        "st.global.f32 [%bd2], %f1;",
    ]


def test_branch_and_otherwise(k: Kernel) -> None:
    p, a = k.reg("pred"), k.reg("s32")
    with k.branch(p):
        k.mov.s32(1, out=a)
    with k.otherwise():
        k.mov.s32(2, out=a)
    assert emitted(k) == [
        "@!%p1 bra else;",
        "mov.s32 %s1, 1;",
        "bra end;",
        "else:",
        "mov.s32 %s1, 2;",
        "end:",
    ]


def test_loop_is_label_pragma_body_add_test_branch(k: Kernel) -> None:
    n, _ = k.params()
    with k.loop(0, n, 8, name="main") as i:
        k.add.u32(i, i)
    assert emitted(k)[-6:] == [
        "mov.u32 %r2, 0;",
        "main:",
        "add.u32 %r3, %r2, %r2;",
        "add.u32 %r2, %r2, 8;",
        "setp.lt.u32 %p1, %r2, %r1;",
        "@%p1 bra main;",
    ]
    assert Pragma("nounroll") in k.function().body


def test_each_instruction_carries_the_authors_line(k: Kernel) -> None:
    a = k.mov.s32(1)
    a + 1
    first, second = [s for s in k.function().body or () if isinstance(s, Instruction)]
    assert first.place is not None
    assert second.place is not None
    assert first.place.file == second.place.file == __file__
    assert second.place.line == first.place.line + 1


def test_dir_lists_what_may_follow(k: Kernel) -> None:
    assert dir(k.fma) == ["rm", "rn", "rp", "rz"]
    assert {"v4", "f32"} <= set(dir(k.ld.global_))
    assert {"ld", "and_", "params"} <= set(dir(k))


def test_a_kernel_is_a_module_item() -> None:
    k = Kernel("empty")
    dynamic = k.dynamic_shared("buffer", align=128)
    k.mov.u32(dynamic)
    k.ret()
    module = ptx.Module(k)
    assert [v.name for v in module.variables] == ["buffer"]
    assert list(module.kernels) == ["empty"]
