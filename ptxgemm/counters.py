"""Launches whose CTAs count themselves in words that are 0 before and after."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from ptx.devices import Array, Device


def from_zero(device: Device, counters: Array, launch: Callable[..., None]) -> Callable[..., None]:
    """`launch`, whatever became of the launches before that use the same `counters`.

    A GPU ends each launch that it begins, or loses its context. The emulator may leave one half
    way, at a fault or a KeyboardInterrupt, and lives on. One thread at a time sets them and
    launches; who shares counters among several launches sees to that himself.
    """
    if device.is_cuda:
        return launch

    lock = Lock()

    def run(*addresses: int) -> None:
        with lock:
            counters.fill_bytes(0)
            launch(*addresses)

    return run
