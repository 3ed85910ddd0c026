"""A tile that cannot be says why, in words and numbers."""

from __future__ import annotations

import dataclasses

import pytest

from ptxgemm.shape import SEED, Shape


def test_the_seed_is_the_seed() -> None:
    """The counts that its listing states."""
    assert (SEED.threads, SEED.warps_m, SEED.warps_n) == (256, 4, 2)
    assert (SEED.lanes_m, SEED.lanes_n, SEED.block_m, SEED.block_n) == (4, 8, 16, 32)
    assert (SEED.a_loads, SEED.b_loads) == (1, 1)
    assert (SEED.stage_bytes, SEED.shared_bytes) == (8192, 16384)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cta_m": 96}, "cta_m is 96; expected a power of two, at least 4"),
        ({"thread_n": 2}, "thread_n is 2; expected a power of two, at least 4"),
        ({"cta_n": 32}, r"cta_n \(32\) is no multiple of warp_n \(64\)"),
        ({"thread_m": 4}, "warp tile of 32x64 in thread tiles of 4x8 takes 8x8 lanes, not 32"),
        ({"stages": 3}, "stages is 3; these kernels have a double buffer, 2"),
        ({"ctas_per_sm": 0}, "ctas_per_sm is 0; expected at least 1"),
        ({"cta_m": 512, "cta_n": 512}, "128 warps are 4096 threads; a CTA has at most 1024"),
        ({"cta_k": 4}, "tile of A has 512 elements; 256 threads that fetch 4 each need a multiple"),
        ({"cta_k": 16}, "swizzle of A moves rows by 8 to 24: .* multiple of 16 rows"),
        ({"cta_m": 32, "cta_n": 256, "cta_k": 32, "warp_n": 256, "thread_n": 32},
         r"a row of B's tile takes 64 threads, and the CTA has 32"),
        ({"cta_m": 256, "cta_k": 32, "warp_n": 128, "thread_m": 32, "thread_n": 4},
         "2 stages of 49152 bytes are 98304 bytes of shared memory; a kernel may declare 49152"),
    ],
)  # fmt: skip
def test_a_shape_that_cannot_be_says_why(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SEED, **change)


def test_the_swizzle_stays_in_the_rows_fetched_at_once() -> None:
    with pytest.raises(ValueError, match="64 threads fetch 16 rows of A at once"):
        Shape(32, 128, 16, 32, 64, 16, 4)


def test_shapes_are_values() -> None:
    assert dataclasses.replace(SEED) == SEED
    assert len({SEED, dataclasses.replace(SEED), dataclasses.replace(SEED, ctas_per_sm=1)}) == 2
