"""Every instance of every row assembles, for the smallest target and version that the row names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import pytest

from ptx.errors import PtxError
from ptx.isa import Variant
from ptx.operands import select
from ptx.targets import Version
from tests.isa import referee, samples

Judged = Callable[[str, str, list[Variant]], None]

pytestmark = pytest.mark.skipif(referee.ptxas() is None, reason="no ptxas found")


def refused_at_home(variants: Iterable[Variant]) -> list[str]:
    """What ptxas or our own verdict refuses, each where the table says that it is legal."""
    by_home: dict[tuple[str, Version], list[tuple[str, Variant]]] = defaultdict(list)
    complaints = []
    for variant in variants:
        operands = samples.operands(variant)
        by_home[samples.home(variant)].append((samples.line(variant), variant))
        try:
            select(variant.op, operands)
        except PtxError as error:
            complaints.append(f"our own verdict: {error}")
    for (target, version), lines in by_home.items():
        verdicts = referee.judge([line for line, _ in lines], target, version)
        complaints += [
            f"{target} {version} {line}  {messages}  row: {variant.syntax}"
            for (line, variant), messages in zip(lines, verdicts, strict=True)
            if messages
        ]
    return complaints


@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_sampled_instances_assemble(chapter: str, judged: Judged) -> None:
    variants = [v for form in samples.forms_of(chapter) for v in samples.covering(form, 8)]
    complaints = refused_at_home(variants)
    judged("accept", chapter, variants)
    assert not complaints, f"{len(complaints)}:\n" + "\n".join(complaints[:50])


@pytest.mark.slow
@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_every_instance_assembles(chapter: str, judged: Judged) -> None:
    variants = [v for form in samples.forms_of(chapter) for v in samples.instances(form)]
    complaints = refused_at_home(variants)
    judged("accept, all", chapter, variants)
    assert not complaints, f"{len(complaints)}:\n" + "\n".join(complaints[:50])
