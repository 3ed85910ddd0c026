"""Counters of parts of tiles, which the next product finds at 0 whatever became of the last."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

import ptx
import ptxgemm
from tests.gemm.test_api import EMULATOR, assert_right, normal


def test_a_product_that_is_interrupted_leaves_the_next_one_right() -> None:
    """Of 4 tiles in 10 parts each, 32 parts have run when the user interrupts."""
    a, b = normal(65, 150), normal(150, 65)
    options: dict[str, Any] = ptx.device("emulator").backend.options  # type: ignore[attr-defined]

    def interrupt(done: int, of: int) -> None:
        assert (done, of) == (32, 40)
        raise KeyboardInterrupt

    options["progress"] = interrupt
    try:
        with pytest.raises(KeyboardInterrupt):
            ptxgemm.matmul(a, b, **EMULATOR)
    finally:
        del options["progress"]
    assert_right(ptxgemm.matmul(a, b, **EMULATOR), a, b)


def test_threads_take_turns_at_the_counters_of_a_product() -> None:
    """Another thread comes when parts of a tile have been counted, and others have not."""
    a, b = normal(65, 150), normal(150, 65)
    options: dict[str, Any] = ptx.device("emulator").backend.options  # type: ignore[attr-defined]
    results: list[Any] = []
    other = Thread(target=lambda: results.append(ptxgemm.matmul(a, b, **EMULATOR)))

    def come(done: int, of: int) -> None:
        if other.ident is None:
            assert (done, of) == (32, 40)
            other.start()
            other.join(0.1)

    options["progress"] = come
    try:
        results.append(ptxgemm.matmul(a, b, **EMULATOR))
        other.join()
    finally:
        del options["progress"]
    assert len(results) == 2
    for one in results:
        assert_right(one, a, b)
