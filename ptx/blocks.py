"""The ``with`` blocks of a kernel under construction, and those whose ``with`` was forgotten."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ptx.errors import Place, PtxError

Given = ParamSpec("Given")
Value = TypeVar("Value")


class Owner(Protocol):
    """What blocks belong to: a kernel under construction."""

    @property
    def unopened(self) -> dict[int, Block[Any]]: ...

    def here(self) -> Place: ...


class Block(AbstractContextManager[Value]):
    """``with k.when(p):``, from the call on; until it is entered its owner knows of it."""

    def __init__(self, name: str, owner: Owner, inner: AbstractContextManager[Value]) -> None:
        self.name = name
        self.place = owner.here()
        self._owner = owner
        self._inner = inner
        owner.unopened[id(self)] = self

    def __enter__(self) -> Value:
        self._owner.unopened.pop(id(self), None)
        return self._inner.__enter__()

    def __exit__(
        self,
        type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return self._inner.__exit__(type, error, traceback)


Kernel = TypeVar("Kernel", bound=Owner)


def block(
    method: Callable[Concatenate[Kernel, Given], Iterator[Value]],
) -> Callable[Concatenate[Kernel, Given], AbstractContextManager[Value]]:
    """A method of a kernel that opens a block, as :func:`contextlib.contextmanager` has it."""
    manager = contextmanager(method)

    @functools.wraps(method)
    def opened(owner: Kernel, /, *args: Given.args, **named: Given.kwargs) -> Block[Value]:
        return Block(method.__name__, owner, manager(owner, *args, **named))

    return opened


def refuse_unopened(owner: Owner) -> None:
    """An error for a block that was made and never entered: without ``with`` it does nothing."""
    for made in owner.unopened.values():
        raise PtxError(f"k.{made.name}(...) does nothing without `with` before it", made.place)
