"""A GPU that a test has lost: what is left of its process's GPU tests fails at once and says so.

After some errors, as an illegal address or instruction, a GPU can be used again only by a new
process; the failures that follow are none of the tests' own.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

import ptx
from ptx.driver import STICKY, DriverError

LOST_BY = pytest.StashKey[str]()
"""Which test lost it."""


def is_lost() -> bool:
    """Whether the GPU refuses all that this process asks of it."""
    try:
        ptx.device("cuda:0").synchronize()
    except DriverError as error:
        return error.code in STICKY
    return False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    by = item.config.stash.get(LOST_BY, "")
    if by and item.get_closest_marker("gpu"):
        pytest.fail(f"the GPU was lost by {by}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    stash = item.config.stash
    if report.failed and item.get_closest_marker("gpu") and LOST_BY not in stash and is_lost():
        stash[LOST_BY] = item.nodeid
    return report
