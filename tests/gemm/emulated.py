"""Launches on the emulator with options of its own, and what they counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ptx.emu.report import Report


@contextmanager
def launches(device: Any, **options: Any) -> Iterator[list[Report]]:
    """With options of the emulator; what each launch counted, if they ask for it."""
    backend, made = device.backend, []
    run, before = backend.run, backend.options

    def counted(*arguments: Any, **keywords: Any) -> Any:
        made.append(run(*arguments, **keywords))
        return made[-1]

    backend.run, backend.options = counted, options
    try:
        yield made
    finally:
        backend.run, backend.options = run, before
