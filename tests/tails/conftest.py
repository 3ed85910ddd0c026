"""The count of the products that were compared, printed at the end of the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tally import told

COMPARED = "cases of tails compared on the emulator"


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Callable[[], None]:
    """Called once for each case; goes with the test's report, whatever process ran it."""
    return lambda: record_property(COMPARED, 1)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if cases := sum(told(terminalreporter, COMPARED)):
        terminalreporter.write_line(f"{cases} {COMPARED}")
