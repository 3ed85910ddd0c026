"""What a case of this corpus is: a kernel in two versions, its arguments, and what to expect.

A line that the fault should name ends in ``# fault: NAME`` (``// fault: NAME`` in PTX text), NAME
the case; the other access of a race in ``# with: NAME``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ptx
from ptx.tensormap import TensorMap

Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Out:
    """An array that the kernel writes, undefined before."""

    shape: int | tuple[int, ...]
    dtype: str = "f4"


@dataclass(frozen=True)
class Freed:
    """An array that was freed before the launch when the kernel is the broken one."""

    data: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Map:
    """A tensor map of the argument `of`, two-dimensional, rows of its last dimension."""

    of: str
    box: tuple[int, int]
    """Elements, innermost first."""
    element: str
    swizzle: int = 0


@dataclass(frozen=True)
class Case:
    """One bug."""

    name: str
    kind: str
    """What is wrong, in the words of the manual."""
    build: Callable[[bool], ptx.Kernel | str]
    """The broken kernel for True, its mended twin for False."""
    given: Mapping[str, Any]
    right: Callable[[Arrays], Arrays]
    """From the given arrays, what the twin must have written."""
    launch: Mapping[str, Any] = field(default_factory=dict)
    broken: Mapping[str, Any] = field(default_factory=dict)
    """What the broken launch has otherwise."""
    hangs: bool = False
    """Whether a card would wait for ever: never to be sent to one."""

    @property
    def file(self) -> str:
        """Of the Python source."""
        return str(sys.modules[self.build.__module__].__file__)

    def lines(self, source: str, mark: str = "fault") -> set[int]:
        """The lines of `source` that carry the mark of this case."""
        wanted = re.compile(rf"(#|//) {mark}: (\w+, )*{self.name}\b")
        return {n for n, line in enumerate(source.splitlines(), 1) if wanted.search(line)}

    def run(self, device: Any, broken: bool) -> dict[str, np.ndarray[Any, Any]]:
        """Launch it and read back what it wrote; faults surface here."""
        arrays: dict[str, Any] = {}
        passed: dict[str, Any] = {}
        for name, value in self.given.items():
            if isinstance(value, Out):
                value = arrays[name] = device.empty(value.shape, value.dtype)
            elif isinstance(value, Freed):
                held = device.array(value.data)
                arrays[name] = held
                value = held.pointer
                if broken:
                    held.free()
            elif isinstance(value, np.ndarray):
                value = arrays[name] = device.array(value)
            elif isinstance(value, Map):
                value = device.tensor_map(_described(value, arrays[value.of]))
            passed[name] = value
        (kernel,) = (device.load(self.build(broken))[n] for n in [self.name])
        kernel.launch(args=passed, **{"grid": 1, **self.launch, **(self.broken if broken else {})})
        device.synchronize()
        return {n: arrays[n].numpy() for n, v in self.given.items() if isinstance(v, Out)}

    def expected(self) -> Arrays:
        given = {n: v.data if isinstance(v, Freed) else v for n, v in self.given.items()}
        return self.right({n: v for n, v in given.items() if isinstance(v, np.ndarray)})


CASES: dict[str, Case] = {}


def case(
    kind: str,
    right: Callable[[Arrays], Arrays],
    *,
    hangs: bool = False,
    broken: Mapping[str, Any] | None = None,
    launch: Mapping[str, Any] | None = None,
    block: int = 32,
    **given: Any,
) -> Callable[[Callable[[bool], ptx.Kernel | str]], Callable[[bool], ptx.Kernel | str]]:
    """Enter the decorated builder into the corpus, under its own name."""

    def enter(build: Callable[[bool], ptx.Kernel | str]) -> Callable[[bool], ptx.Kernel | str]:
        name = build.__name__
        shape = {"block": block, **(launch or {})}
        CASES[name] = Case(name, kind, build, given, right, shape, broken or {}, hangs)
        return build

    return enter


def version(text: str, broken: bool) -> str:
    """PTX text without the lines of the other version, which end in ``//-`` (only broken) or
    ``//+`` (only mended); they become empty, so that lines keep their numbers.
    """
    other = ("//+", "//-")[not broken]
    lines = text.strip("\n").split("\n")
    return "\n".join("" if other in line else line for line in lines) + "\n"


def _described(map: Map, array: Any) -> TensorMap:
    rows, columns = array.shape
    size = array.dtype.itemsize
    return TensorMap(
        array.pointer, (columns, rows), (columns * size,), map.box, map.element, map.swizzle
    )
