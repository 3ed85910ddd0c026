"""The ``with`` blocks of a kernel under construction, and those that have not ended."""

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
    def blocks(self) -> dict[int, Block[Any]]: ...

    def here(self) -> Place: ...


class Block(AbstractContextManager[Value]):
    """``with k.when(p):``, from the call on; until it has ended its owner knows of it."""

    def __init__(self, name: str, owner: Owner, inner: AbstractContextManager[Value]) -> None:
        self.name = name
        self.place = owner.here()
        self.entered = False
        self._owner = owner
        self._inner = inner
        owner.blocks[id(self)] = self

    def __enter__(self) -> Value:
        if self.entered:
            raise PtxError(
                f"a block is entered once: call k.{self.name}(...) again for another",
                self._owner.here(),
            )
        self.entered = True
        del self._owner.blocks[id(self)]  # where it may not stand here it is no block
        value = self._inner.__enter__()
        self._owner.blocks[id(self)] = self
        return value

    def __exit__(
        self,
        type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._owner.blocks.pop(id(self), None)
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


_WRITTEN = {"loop": "k.loop(...) as i", "otherwise": "k.otherwise()"}


def unended(owner: Owner) -> Iterator[PtxError]:
    """The mistake of each block that was made and has not ended, on the line that made it."""
    for made in owner.blocks.values():
        call = f"k.{made.name}(...)"
        legal = f"`with {_WRITTEN.get(made.name, call)}:`"
        if made.entered:
            message = f"the block of {call} has not ended: a kernel is whole only after {legal}"
        else:
            message = f"{call} does nothing without `with` before it: {legal}"
        yield PtxError(message, made.place)
