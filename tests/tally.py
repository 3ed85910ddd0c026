"""What tests counted, summed over a run that may be spread over processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def told(reporter: pytest.TerminalReporter, name: str) -> Iterator[Any]:
    """The values that ``record_property(name, value)`` left in the reports of all tests that ran:
    a report comes back from whatever process made it, and a variable does not.
    """
    for report in reporter.getreports("passed") + reporter.getreports("failed"):
        yield from (value for key, value in report.user_properties if key == name)
