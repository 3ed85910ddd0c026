"""Layouts as mathematics: bijections, the manual's formulas written out, banks counted by hand."""

from __future__ import annotations

import pytest

from ptx import layouts
from ptx.layouts import (
    MatrixDescriptor,
    bank_conflict_ways,
    ldmatrix_fragment,
    mma_fragment,
    mma_m8n8k4_fragment,
    swizzle,
    wgmma_a,
    wgmma_accumulator,
)

MMA = [
    ("m16n8k8", 16), ("m16n8k16", 16), ("m16n8k4", 32), ("m16n8k8", 32), ("m8n8k4", 64),
    ("m16n8k4", 64), ("m16n8k8", 64), ("m16n8k16", 64), ("m8n8k16", 8), ("m16n8k16", 8),
    ("m16n8k32", 8), ("m8n8k32", 4), ("m16n8k32", 4), ("m16n8k64", 4), ("m8n8k128", 1),
    ("m16n8k128", 1), ("m16n8k256", 1),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "bits"), MMA)
@pytest.mark.parametrize("operand", ["a", "b", "c"])
def test_every_element_of_an_mma_operand_is_held_once(shape: str, bits: int, operand: str) -> None:
    fragment = mma_fragment(shape, operand, 32 if operand == "c" else bits)
    everything = {(r, c) for r in range(fragment.rows) for c in range(fragment.columns)}
    assert set(fragment.holders) == everything
    assert all(len(holders) == 1 for holders in fragment.holders.values())


def test_m16n8k16_of_16_bits_as_the_manual_states_it() -> None:
    a, b, c = (mma_fragment("m16n8k16", operand, 16) for operand in "abc")
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        for i in range(8):
            row = group if 0 <= i < 2 or 4 <= i < 6 else group + 8
            column = thread * 2 + (i & 1) + (0 if i < 4 else 8)
            assert a.places[lane][i] == (row, column)
        for i in range(4):
            row = thread * 2 + (i & 1) + (0 if i < 2 else 8)
            assert b.places[lane][i] == (row, group)
            assert c.places[lane][i] == (group + 8 * (i >> 1), thread * 2 + (i & 1))


def test_a37_lane_5_register_2_of_the_accumulator() -> None:
    c = mma_fragment("m16n8k16", "c", 32)
    assert c.places[5][2] == (9, 2)
    assert len({place for held in c.places for place in held}) == 128


def test_m16n8k32_of_8_bits_as_the_manual_states_it() -> None:
    a, b = (mma_fragment("m16n8k32", operand, 8) for operand in "ab")
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        for i in range(16):
            row = group if 0 <= i < 4 or 8 <= i < 12 else group + 8
            column = thread * 4 + (i & 3) + (0 if i < 8 else 16)
            assert a.places[lane][i] == (row, column)
        for i in range(8):
            assert b.places[lane][i] == (thread * 4 + (i & 3) + (0 if i < 4 else 16), group)


@pytest.mark.parametrize("layout", ["row", "col"])
@pytest.mark.parametrize("operand", ["a", "b", "c"])
def test_m8n8k4_holds_each_element_once_in_each_quad_pair(operand: str, layout: str) -> None:
    for bits in (16, 32):
        fragment = mma_m8n8k4_fragment(operand, layout, bits)
        for pair in range(4):
            lanes = [*range(4 * pair, 4 * pair + 4), *range(16 + 4 * pair, 20 + 4 * pair)]
            held = [place for lane in lanes for place in fragment.places[lane]]
            assert len(held) == len(set(held)) == fragment.rows * fragment.columns


def test_ldmatrix_feeds_mma() -> None:
    a = mma_fragment("m16n8k16", "a", 16)
    for register, (row0, column0) in enumerate([(0, 0), (8, 0), (0, 8), (8, 8)]):
        for lane in range(32):
            for i in range(2):
                row, column = ldmatrix_fragment().places[lane][i]
                assert a.places[lane][2 * register + i] == (row0 + row, column0 + column)
    assert ldmatrix_fragment(transposed=True).places[5] == ((2, 1), (3, 1))


@pytest.mark.parametrize("n", [8, 96, 256])
def test_the_wgmma_accumulator_is_a_bijection(n: int) -> None:
    fragment = wgmma_accumulator(n)
    assert len(fragment.holders) == 64 * n
    assert fragment.elements == n // 2


def test_wgmma_a_is_four_warps_of_mma() -> None:
    assert wgmma_a(16).places[37][2] == (16 + 9, 2)
    assert len(wgmma_a(8).holders) == 64 * 32


@pytest.mark.parametrize("span", [0, 32, 64, 128])
def test_a_swizzle_is_its_own_inverse_and_stays_in_its_span(span: int) -> None:
    moved = [swizzle(address, span) for address in range(4096)]
    assert sorted(moved) == list(range(4096))
    assert [swizzle(address, span) for address in moved] == list(range(4096))
    assert all(a // max(span, 16) == b // max(span, 16) for a, b in enumerate(moved))


def test_the_128_byte_swizzle_frees_columns_of_conflicts() -> None:
    plain = [row * 128 for row in range(8)]
    assert bank_conflict_ways(plain, 16) == 8
    assert bank_conflict_ways([swizzle(address, 128) for address in plain], 16) == 1


def test_a_descriptor_round_trips_and_has_the_known_bits() -> None:
    descriptor = MatrixDescriptor(0x400, 16, 1024, 128)
    assert descriptor.bits == (0x400 >> 4 & 0x3FFF) | 1 << 16 | 64 << 32 | 1 << 62
    assert MatrixDescriptor.of(descriptor.bits) == descriptor
    with pytest.raises(ValueError, match="multiples of 16"):
        MatrixDescriptor(8, 16, 1024)


@pytest.mark.parametrize("k_major", [True, False])
@pytest.mark.parametrize("span", [0, 32, 64, 128])
def test_a_descriptor_addresses_each_element_once(span: int, k_major: bool) -> None:
    # One k16 step of a 64-row (or column) operand of 16-bit elements, atoms packed densely.
    width = span or 16
    if k_major:
        descriptor = MatrixDescriptor(0, 8 * width, 8 * max(width, 32), span)
    else:
        descriptor = MatrixDescriptor(0, 16 * width, 8 * width, span)
        if not span:
            descriptor = MatrixDescriptor(0, 8 * 16 * 8, 8 * 16, 0)
    addresses = {descriptor.address(mn, k, 16, k_major) for mn in range(64) for k in range(16)}
    assert len(addresses) == 64 * 16


@pytest.mark.parametrize(
    ("stride_words", "ways"), [(0, 1), (1, 1), (2, 2), (4, 4), (32, 32), (33, 1)]
)
def test_d07_bank_conflicts_of_4_byte_accesses(stride_words: int, ways: int) -> None:
    assert bank_conflict_ways([4 * stride_words * lane for lane in range(32)], 4) == ways


def test_d07_vector_accesses_are_judged_by_groups_of_lanes() -> None:
    assert bank_conflict_ways([16 * lane for lane in range(32)], 16) == 1
    assert bank_conflict_ways([None] * 31 + [0], 4) == 1
    assert bank_conflict_ways([None] * 32, 4) == 0


def test_shapes_are_read_and_refused() -> None:
    assert layouts.shape_of("m16n8k16") == (16, 8, 16)
    with pytest.raises(ValueError, match="m16n8k16"):
        layouts.shape_of("16x8")
