"""The shape of a launch: grid, block, cluster and shared memory, checked against the device and the
kernel.

Sources: CUDA C++ Programming Guide 13.0, "Compute Capabilities" (limits); PTX ISA 9.0, section 11.4
(what ``.reqntid``, ``.maxntid``, ``.reqnctapercluster`` and ``.maxclusterrank`` ask of a launch).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ptx.errors import ArgumentTypeError, ArgumentValueError

Extent = int | tuple[int, ...] | list[int]
Three = tuple[int, int, int]

PORTABLE_CLUSTER = 8
"""CTAs in a cluster that every GPU with clusters takes; more has to be asked for."""


@dataclass(frozen=True)
class Limits:
    """What a device is and allows. Sizes in bytes, the clock in Hz."""

    name: str
    compute_capability: tuple[int, int]
    sm_count: int
    clock: int
    """Peak SM clock in Hz; 0 where there is none."""
    memory: int
    l2_cache: int = 0
    shared_per_block: int = 48 << 10
    """Without asking for more."""
    shared_per_block_optin: int = 227 << 10
    shared_per_sm: int = 228 << 10
    registers_per_sm: int = 65536
    threads_per_sm: int = 2048
    threads_per_block: int = 1024
    block: Three = (1024, 1024, 64)
    grid: Three = (2**31 - 1, 65535, 65535)
    max_cluster: int = 16
    """CTAs; 1 where the device has no clusters."""

    @property
    def architecture(self) -> str:
        """As ptxas spells it, without its suffix: ``"sm_90"``."""
        return "sm_{}{}".format(*self.compute_capability)


class Packed(Protocol):
    """The parameters of a launch, as :class:`ptx.arguments.ArgumentBlock` packs them."""

    @property
    def address(self) -> int:
        """Of an array of pointers, one to each parameter."""
        ...

    @property
    def data(self) -> bytes:
        """All of them, as they lie in parameter space."""
        ...


@dataclass(frozen=True)
class Geometry:
    """One checked launch shape, as :func:`geometry` makes it."""

    grid: Three
    block: Three
    shared: int
    """Bytes of dynamic shared memory."""
    cluster: Three | None
    early: bool = False
    """Whether it may start before the launch before it on its stream has ended (CUDA C++
    Programming Guide 13.0, "Programmatic Dependent Launch"). On the emulator that has ended, and
    touching what it touched before ``griddepcontrol.wait`` is a fault.
    """


def geometry(
    kernel: str,
    grid: Extent,
    block: Extent,
    shared: int,
    cluster: Extent | None,
    *,
    limits: Limits,
    directives: Mapping[str, tuple[int, ...]],
    static_shared: int,
) -> Geometry:
    """The launch shape, each extent as three numbers.

    `directives` are the kernel's, by name; `static_shared` is what it declares, in bytes. Raises
    :class:`ArgumentTypeError` or :class:`ArgumentValueError`, which name the kernel and what is
    allowed.
    """
    grids = _three(kernel, "grid", grid, limits.grid)
    blocks = _three(kernel, "block", block, limits.block)
    threads = math.prod(blocks)
    if threads > limits.threads_per_block:
        raise ArgumentValueError(
            f"{kernel}: a block of {_by(blocks)} has {threads} threads, at most "
            f"{limits.threads_per_block}"
        )
    _check_directives(kernel, blocks, threads, directives)
    _check_shared(kernel, shared, static_shared, limits)
    clusters = _cluster(kernel, grids, cluster, limits, directives)
    return Geometry(grids, blocks, int(shared), clusters)


def kinds(*given: Any) -> tuple[object, ...]:
    """The types of what a launch is given: 1.0 and True equal 1 as keys, and are no extents."""
    return tuple([tuple(map(type, one)) if type(one) is tuple else type(one) for one in given])


def _by(extent: tuple[int, ...]) -> str:
    return " x ".join(map(str, extent))


def _three(kernel: str, what: str, extent: Any, limits: Three) -> Three:
    given = extent if isinstance(extent, (tuple, list)) else (extent,)
    if not 1 <= len(given) <= 3 or any(
        isinstance(n, bool) or not hasattr(n, "__index__") for n in given
    ):
        raise ArgumentTypeError(
            f"{kernel}: {what} is an int or a tuple of one to three ints, got {extent!r}"
        )
    full = tuple(n.__index__() for n in given) + (1,) * (3 - len(given))
    for axis, n, limit in zip("xyz", full, limits, strict=True):
        if not 1 <= n <= limit:
            raise ArgumentValueError(f"{kernel}: {what}.{axis} is {n}, allowed is 1 to {limit}")
    return full[0], full[1], full[2]


def _padded(extent: tuple[int, ...]) -> Three:
    full = (*extent, 1, 1)
    return full[0], full[1], full[2]


def _check_directives(
    kernel: str, block: Three, threads: int, directives: Mapping[str, tuple[int, ...]]
) -> None:
    if required := directives.get("reqntid"):
        if block != _padded(required):
            raise ArgumentValueError(
                f"{kernel}: .reqntid asks for a block of {_by(_padded(required))}, got {_by(block)}"
            )
    if most := directives.get("maxntid"):
        if threads > math.prod(most):
            raise ArgumentValueError(
                f"{kernel}: .maxntid allows {math.prod(most)} threads in a block, got "
                f"{_by(block)} = {threads}"
            )


def _check_shared(kernel: str, shared: Any, static: int, limits: Limits) -> None:
    if isinstance(shared, bool) or not hasattr(shared, "__index__"):
        raise ArgumentTypeError(f"{kernel}: shared is a number of bytes, got {shared!r}")
    if shared < 0:
        raise ArgumentValueError(f"{kernel}: shared is a number of bytes, got {shared}")
    if static + shared > limits.shared_per_block_optin:
        raise ArgumentValueError(
            f"{kernel}: {static} bytes of static and {shared} of dynamic shared memory are "
            f"{static + shared}, "
            f"{limits.name} has {limits.shared_per_block_optin} for a block"
        )


def _cluster(
    kernel: str,
    grid: Three,
    cluster: Extent | None,
    limits: Limits,
    directives: Mapping[str, tuple[int, ...]],
) -> Three | None:
    required = directives.get("reqnctapercluster")
    if cluster is None:
        if required is None:
            if "explicitcluster" in directives:
                raise ArgumentValueError(
                    f"{kernel}: .explicitcluster asks for cluster=... at each launch"
                )
            return None
        cluster = required
    chosen = _three(kernel, "cluster", cluster, (limits.max_cluster,) * 3)
    if required is not None and chosen != _padded(required):
        raise ArgumentValueError(
            f"{kernel}: .reqnctapercluster asks for a cluster of {_by(_padded(required))}, got "
            f"{_by(chosen)}"
        )
    ranks, most = math.prod(chosen), limits.max_cluster
    if limit := directives.get("maxclusterrank"):
        most = min(most, limit[0])
    if ranks > most:
        raise ArgumentValueError(
            f"{kernel}: a cluster of {_by(chosen)} has {ranks} CTAs, at most {most}"
        )
    for axis, whole, part in zip("xyz", grid, chosen, strict=True):
        if whole % part:
            raise ArgumentValueError(
                f"{kernel}: grid.{axis} = {whole} is no multiple of cluster.{axis} = {part}"
            )
    return chosen
