"""Versions of PTX that there are not, or that are newer than this package."""

from __future__ import annotations

from typing import Any

import pytest

import ptx
from ptx import checker
from ptx.errors import PtxError, TextPlace
from ptx.rules import example

VERSIONS = [
    ("9.1", "warning", "PTX 9.1 is newer than the newest version that is known here, 9.0"),
    ("99.0", "warning", "PTX 99.0 is newer than the newest version that is known here, 9.0"),
    ("7.9", "error", "there is no version 7.9 of PTX: the last 7.x is 7.8, the newest is 9.0"),
    ("0.3", "error", "there is no version 0.3 of PTX: they begin at 1.0, the newest is 9.0"),
]


@pytest.mark.parametrize(("version", "severity", "message"), VERSIONS)
def test_a_version_that_is_not_known(version: str, severity: str, message: str) -> None:
    """A text may be newer than this package, and is warned of; it is still read and printed."""
    text = example("ret;").replace(".target sm_90a", ".target sm_50")
    text = "// made by hand\n" + text.replace(".version 9.0", f".version {version}")
    place = TextPlace("new.ptx", 2, 10)
    parsed = ptx.parse(text, "new.ptx")
    assert (parsed.version, parsed.place) == (version, place)
    for told in (checker.check(text, file="new.ptx"), checker.check(parsed)):
        (first,) = (d for d in told if "needs" not in d.message)
        assert (first.severity, first.name) == (severity, "version")
        assert (first.message, first.place) == (message, place)
    assert str(parsed).startswith(f".version {version}\n")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        *((version, message) for version, _, message in VERSIONS),
        ("8", "a version is a str as \"8.0\", got '8'"),
        ("new", "a version is a str as \"8.0\", got 'new'"),
        (9.0, 'a version is a str as "8.0", got 9.0'),
    ],
)
def test_a_program_states_no_version_that_is_not_known(version: Any, message: str) -> None:
    k = ptx.Kernel("k")
    k.ret()
    with pytest.raises(PtxError) as raised:
        ptx.Module(k, version=version)
    assert raised.value.message == (
        f"{message}; what is left out becomes the smallest version that the module needs"
    )
    assert ".version 6.5\n" in str(ptx.Module(k, version="6.5"))
