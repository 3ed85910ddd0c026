"""Kernels on a device, each built, assembled and loaded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache

from ptx.builder import Kernel
from ptx.devices import Device, LoadedKernel
from ptx.ir import Module


@lru_cache(maxsize=512)
def loaded(
    device: Device, build: Callable[..., Kernel], *given: Hashable, **named: Hashable
) -> LoadedKernel:
    """The kernel that ``build(*given, **named)`` makes."""
    kernel = build(*given, **named)
    return device.load(Module(kernel))[kernel.name]
