"""A launch that takes long shows on a terminal how far it is, and ends where its user ends it."""

from __future__ import annotations

import io
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import ptx
from ptx.devices import Device
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


def test_any_grid_of_a_gpu_is_taken_and_a_launch_that_is_ended_leaves_the_device_whole() -> None:
    k = ptx.Kernel("who", out="global.u32", last="u32")
    out, last = k.params()
    cta = k.mov.u32(k.ctaid.x)
    at = out + k.mul.wide.u32(cta, 4)
    with k.when(k.setp.le.u32(cta, last)):
        k.st.global_.u32(at, cta)
    k.ret()
    where = Device("emulator", emulated.EmulatedDevice())
    backend: Any = where.backend
    kernel, found = where.load(k)["who"], where.array(np.full(64, 99, "u4"))
    seen: list[tuple[int, int]] = []

    def end(done: int, of: int) -> None:
        seen.append((done, of))
        raise KeyboardInterrupt

    backend.options["progress"] = end
    tracemalloc.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel.launch(2**31 - 1, 128, [found, 40])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == [(32, 2**31 - 1)] and peak < 16 << 20
    assert found.numpy().tolist() == [*range(32), *(99,) * 32]
    del backend.options["progress"]
    kernel.launch(50, 128, [found, 40])
    assert found.numpy().tolist() == [*range(41), *(99,) * 23]
