"""The count of what ptxas judged, printed at the end of the run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import pytest

from ptx.isa import FORMS, Variant

_tally: dict[str, Counter[str]] = defaultdict(Counter)
_seen: dict[str, set[object]] = defaultdict(set)


@pytest.fixture
def judged() -> Callable[..., None]:
    """``judged("accept", chapter, variants)`` adds to the count; so does ``near_misses=n``."""

    def count(test: str, chapter: str, variants: Iterable[Variant], **more: int) -> None:
        for variant in variants:
            _tally[test]["instances"] += 1
            _seen[test] |= {variant.opcode, id(variant.form)}
        _tally[test].update(more)

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for test, counts in _tally.items():
        opcodes = sum(isinstance(one, str) for one in _seen[test])
        said = [f"{number} {what.replace('_', '-')}" for what, number in counts.most_common()]
        if opcodes:
            rows = len(_seen[test]) - opcodes
            said = [f"{opcodes} of {len(FORMS)} opcodes", f"{rows} rows", *said]
        terminalreporter.write_line(f"judged by ptxas, {test}: {', '.join(said)}")
