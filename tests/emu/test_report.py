"""The report of a launch: what a profiler would count, and the assertions on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptx.emu import Memory, Report, launch
from ptx.layouts import bank_conflict_ways
from tests.emu.harness import module


def report(lines: str, block: int = 32, grid: int = 1, size: int = 1 << 16) -> Report:
    memory = Memory()
    address = memory.allocate(size)
    memory.write(address, np.zeros(size, np.uint8))
    made = launch(
        "test",
        module(lines, 1),
        (grid, 1, 1),
        (block, 1, 1),
        np.array([address], np.uint64).tobytes(),
        memory=memory,
        report=True,
    )
    assert made is not None
    return made


def row(made: Report, start: str) -> Any:
    return next(r for r in made.rows if r.instruction.startswith(start))


SHARED = """
.shared .align 16 .b8 tile[8192];
mov.u32 %r0, tile;
mul.lo.u32 %r1, %j, {stride};
add.u32 %r0, %r0, %r1;
{access}
"""


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (4, 4), (32, 32), (33, 1), (0, 1)])
def test_d07_bank_conflicts_of_words(stride: int, ways: int) -> None:
    store = "mov.u32 %r2, 5;\nst.shared.u32 [%r0], %r2;"
    made = report(SHARED.format(stride=4 * stride, access=store))
    found = row(made, "st.shared")
    assert (found.shared_requests, found.passes, found.ways) == (1, ways, ways)
    assert ways == bank_conflict_ways([4 * stride * lane for lane in range(32)], 4)
    if ways > 1:
        with pytest.raises(AssertionError, match=f"{ways} ways: st.shared.u32.*test.ptx:16"):
            made.assert_no_bank_conflicts()
    else:
        made.assert_no_bank_conflicts()


def test_d07_wide_accesses_go_by_quarter_warps() -> None:
    store = "mov.u32 %r2, 5;\nst.shared.v4.u32 [%r0], {%r2, %r2, %r2, %r2};"
    found = row(report(SHARED.format(stride=16, access=store)), "st.shared")
    assert (found.shared_requests, found.passes, found.ways) == (4, 4, 1)
    assert found.bytes == 512


@pytest.mark.parametrize(("stride", "sectors"), [(4, 4), (8, 8), (32, 32), (0, 1)])
def test_sectors_of_global_requests(stride: int, sectors: int) -> None:
    made = report(
        f"ld.param.u64 %rd0, [p0];\nmad.wide.u32 %rd1, %i, {stride}, %rd0;\n"
        "ld.global.u32 %r0, [%rd1];",
        block=64,
    )
    found = row(made, "ld.global")
    assert found.requests == 2
    assert found.sectors_per_request == sectors
    if sectors > 4:
        with pytest.raises(AssertionError, match="sectors: ld.global.u32"):
            made.assert_coalesced(4)


def test_instructions_divergence_and_barriers() -> None:
    made = report(
        """
        setp.lt.u32 %p0, %j, 16;
        mov.u32 %r0, 0;
        again:
        add.u32 %r0, %r0, 1;
        setp.lt.u32 %p1, %r0, 5;
        @%p1 bra again;
        @%p0 bra skip;
        mov.u32 %r1, 1;
        skip:
        bar.sync 0;
        """,
        block=64,
        grid=3,
    )
    assert row(made, "add.u32 %r0").warps == 5 * 6
    assert row(made, "add.u32 %r0").threads == 5 * 192
    assert row(made, "mov.u32 %r1").threads == 3 * 48
    assert row(made, "mov.u32 %r1").warps == 6
    assert row(made, "@%p0 bra").diverged == 1
    assert row(made, "@%p1 bra").diverged == 0
    assert made.barriers == 3
    assert made.opcodes["add.u32"] >= 30
    text = str(made)
    assert "3 barriers" in text and "(test.ptx:14:9)" in text
