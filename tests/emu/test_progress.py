"""A launch that takes long shows on a terminal how far it is."""

from __future__ import annotations

import io
import sys

import pytest

import ptx
from ptx.emu import device as emulated

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry slow() { .reg .u32 %r0; mov.u32 %r0, %ctaid.x; }
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "terminal"), [(0.0, True), (60.0, True), (0.0, False)])
def test_only_on_a_terminal_and_only_where_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, seconds: float, terminal: bool
) -> None:
    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(emulated, "SHOWN_SECONDS", seconds)
    # Three chunks.
    ptx.device("emulator").load(ptx.parse(TEXT))["slow"].launch(12, 1024, ())
    assert ("slow" in screen.getvalue()) == (terminal and not seconds)
