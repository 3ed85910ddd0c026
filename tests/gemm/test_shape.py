"""A tile that cannot be says why, in words and numbers."""

from __future__ import annotations

import dataclasses

import pytest

from ptxgemm.shape import SEED, Shape


def test_the_seed_is_the_seed() -> None:
    """The counts that its listing states."""
    assert (SEED.threads, SEED.warps_m, SEED.warps_n) == (256, 4, 2)
    assert (SEED.lanes_m, SEED.lanes_n, SEED.block_m, SEED.block_n) == (4, 8, 16, 32)
    assert (SEED.stage_bytes, SEED.shared_bytes) == (8448, 16896)  # rows of 132 elements


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cta_m": 96}, "cta_m is 96; expected a power of two, at least 4"),
        ({"thread_n": 2}, "thread_n is 2; expected a power of two, at least 4"),
        ({"cta_n": 32}, r"cta_n \(32\) is no multiple of warp_n \(64\)"),
        ({"thread_m": 4}, "warp tile of 32x64 in thread tiles of 4x8 takes 8x8 lanes, not 32"),
        ({"stages": 3}, "stages is 3; staged through registers there is a double buffer, 2"),
        ({"stages": 6, "staging": "async"}, "stages is 6; expected 2 to 5"),
        ({"staging": "tma"}, "staging is 'tma'; expected registers or async"),
        ({"ctas_per_sm": 0}, "ctas_per_sm is 0; expected at least 1"),
        ({"cta_m": 512, "cta_n": 512}, "128 warps are 4096 threads; a CTA has at most 1024"),
        ({"cta_k": 4}, "cta_k is 4; expected a multiple of 8"),
        ({"cta_m": 32, "cta_n": 512, "cta_k": 8, "warp_n": 64},
         "tile of A has 256 elements; 256 threads that fetch 4 each need a multiple of 1024"),
        ({"cta_m": 256, "cta_n": 256, "cta_k": 32, "stages": 4, "staging": "async", "warp_m": 64,
          "thread_m": 16}, "4 stages of 66560 bytes are 266240 bytes of shared memory; a CTA may"),
    ],
)  # fmt: skip
def test_a_shape_that_cannot_be_says_why(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SEED, **change)


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
@pytest.mark.parametrize("depth", [8, 16, 32])
def test_what_shapes_there_are(stages: int, depth: int) -> None:
    """Tiles from 32x32 to 128x256, 4x4 to 8x16 a thread, K steps of 8 to 32, 2 to 5 stages."""
    for tile in ((32, 32, 32, 16, 4, 4), (64, 64, 32, 32, 8, 4), (128, 128, 32, 64, 8, 8),
                 (128, 256, 64, 64, 8, 16)):  # fmt: skip
        m, n, warp_m, warp_n, thread_m, thread_n = tile
        if stages * depth > 128 and n == 256:
            continue  # too much shared memory, which is tested above
        shape = Shape(m, n, depth, warp_m, warp_n, thread_m, thread_n, stages, 1, "async")
        assert shape.ahead == stages - 1
        assert (shape.dynamic_bytes > 0) == (shape.shared_bytes > 48 * 1024)


def test_shapes_are_values() -> None:
    assert dataclasses.replace(SEED) == SEED
    assert len({SEED, dataclasses.replace(SEED), dataclasses.replace(SEED, ctas_per_sm=1)}) == 2
