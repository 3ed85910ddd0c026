"""Kernels on a device, each built, assembled and loaded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache

from ptx.assembler import Cubin
from ptx.builder import Kernel
from ptx.devices import Device, LoadedKernel
from ptx.ir import Module

_handed: dict[tuple[Hashable, ...], Cubin] = {}


def hand_over(device: Device, cubin: Cubin, build: Callable[..., Kernel], *given: Hashable) -> None:
    """Let :func:`loaded` take this cubin, of one kernel, for what ``build(*given)`` makes: where
    another process made it, no time of this one is needed. For GPUs; the emulator runs modules.
    """
    _handed[device, build, *given] = cubin


@lru_cache(maxsize=512)
def loaded(
    device: Device, build: Callable[..., Kernel], *given: Hashable, **named: Hashable
) -> LoadedKernel:
    """The kernel that ``build(*given, **named)`` makes."""
    if not named and (cubin := _handed.get((device, build, *given))):
        (only,) = device.load(cubin).values()
        return only
    kernel = build(*given, **named)
    return device.load(Module(kernel))[kernel.name]
