"""The count of what ptxas judged, printed at the end of the run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import pytest

from ptx.isa import FORMS, Variant
from tests.tally import told

JUDGED = "judged by ptxas"


@pytest.fixture
def judged(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """``judged("accept", chapter, variants)`` adds to the count; so does ``near_misses=n``.

    The count goes with the report of the test, as a run may be spread over processes.
    """

    def count(test: str, chapter: str, variants: Iterable[Variant], **more: int) -> None:
        variants = list(variants)
        forms = {variant.form for variant in variants}
        rows = [(form.opcode, FORMS[form.opcode].index(form)) for form in forms]
        counts = {"instances": len(variants)} | more if variants else more
        record_property(JUDGED, (test, counts, rows))

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    seen: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for test, counts, rows in told(terminalreporter, JUDGED):
        tally[test].update(counts)
        seen[test].update(rows)
    for test, counts in tally.items():
        said = [f"{number} {what.replace('_', '-')}" for what, number in counts.most_common()]
        if seen[test]:
            opcodes = {opcode for opcode, _ in seen[test]}
            said[:0] = [f"{len(opcodes)} of {len(FORMS)} opcodes", f"{len(seen[test])} rows"]
        terminalreporter.write_line(f"judged by ptxas, {test}: {', '.join(said)}")
