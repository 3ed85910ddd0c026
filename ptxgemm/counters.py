"""Launches whose CTAs count themselves in words that are 0 before and after."""

from __future__ import annotations

from collections.abc import Callable

from ptx.devices import Array, Device


def from_zero(device: Device, counters: Array, launch: Callable[..., None]) -> Callable[..., None]:
    """`launch`, whatever became of the launches before that use the same `counters`.

    A GPU ends each launch that it begins, or loses its context. The emulator may leave one half
    way, at a fault or a KeyboardInterrupt, and lives on.
    """
    if device.is_cuda:
        return launch

    def run(*addresses: int) -> None:
        counters.fill_bytes(0)
        launch(*addresses)

    return run
