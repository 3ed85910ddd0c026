"""The planted bugs of an author who had not read the emulator: found at their line, twins clean.

Beside ``planted/``, whose kernels are mutations and rules of the manual in PTX, these are small
kernels as users write them (``unread/``), most with the builder.
"""

from __future__ import annotations

import numpy as np
import pytest

import ptx
from ptx.emu import KINDS, EmulatorFault
from tests.emu.unread import CASES, Case
from tests.emu.unread.expected import OTHERWISE, UNFOUND, UNNAMED, WAITS, kind_of


def marked(names: dict[str, str]) -> list[object]:
    return [
        pytest.param(case, id=name, marks=pytest.mark.xfail(reason=names[name], strict=True))
        if name in names
        else pytest.param(case, id=name)
        for name, case in CASES.items()
    ]


@pytest.mark.parametrize("case", marked(UNFOUND))
def test_a_bug_is_found(case: Case) -> None:
    refused = case.module(broken=True)[1]
    places = case.places()
    if refused is not None:
        assert refused.place is not None
        assert refused.place.line in places
    with pytest.raises(EmulatorFault) as caught:
        case.run(ptx.device("emulator"), broken=True)
    error = caught.value
    assert error.kind == kind_of(case), error
    assert error.place is not None
    if case.name in WAITS:
        assert "try_wait" in str(error)
        assert "896 bytes more than were announced" in str(error)
        return
    other = f"({case.file if not case.textual else '<ptx>'}:"
    named = {n for n in places if f"{other}{n})" in str(error) or f"{other}{n}:" in str(error)}
    assert error.place.line in places or named, error
    if error.kind in ("race", "fence") and error.place.line in places and case.name not in UNNAMED:
        beside = case.places("with")
        assert not beside or any(f":{n}" in str(error) for n in beside), error


def test_no_twin_is_refused() -> None:
    assert not [error for case in CASES.values() if (error := case.module(broken=False)[1])]


@pytest.mark.parametrize("order", ["fixed", "reverse"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_its_twin_is_right(case: Case, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = ptx.device("emulator")
    monkeypatch.setitem(device.backend.options, "order", order)  # type: ignore[attr-defined]
    written = case.run(device, broken=False)
    for name, values in case.expected().items():
        np.testing.assert_array_equal(written[name], values, err_msg=name)


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_its_twin_is_right_on_a_card(case: Case) -> None:
    written = case.run(ptx.device("cuda:0"), broken=False)
    for name, values in case.expected().items():
        np.testing.assert_array_equal(written[name], values, err_msg=name)


def test_the_corpus() -> None:
    assert len(CASES) >= 26
    assert {kind_of(case) for case in CASES.values()} <= set(KINDS)
    for case in CASES.values():
        assert case.places(), case.name
    assert set(OTHERWISE) | set(UNFOUND) | UNNAMED | WAITS <= set(CASES)
