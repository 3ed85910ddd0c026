"""The count of the products that were compared, printed at the end of the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

COMPARED = "cases of tails compared on the emulator"


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Callable[[], None]:
    """Called once for each case; goes with the test's report, whatever process ran it."""
    return lambda: record_property(COMPARED, 1)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    cases = sum(name == COMPARED for report in reports for name, _ in report.user_properties)
    if cases:
        terminalreporter.write_line(f"{cases} {COMPARED}")
