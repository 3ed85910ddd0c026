"""What a case of this corpus is: a kernel in two versions, its arguments, and what to expect.

A line that the fault should name ends in ``# fault: NAME`` (``// fault: NAME`` in PTX text), NAME
the case; the other access of a race in ``# with: NAME``. The builders were written from the PTX
manual, public reports of bugs and the documents alone, before their author had read the emulator;
what the emulator calls each fault (:mod:`tests.emu.unread.expected`) was added after.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
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

    @property
    def about(self) -> str:
        """The first sentence of its docstring."""
        text = " ".join((self.build.__doc__ or "").split())
        return re.split(r"(?<=[^.]\.) ", text, maxsplit=1)[0].removesuffix(".")

    def places(self, mark: str = "fault") -> set[int]:
        """The lines that carry a mark of this case: of the Python file, where a statement of
        several lines counts by its first, or of the PTX text.
        """
        built = self.build(True) if self.textual else Path(self.file).read_text(encoding="utf-8")
        source = str(built)
        wanted = re.compile(rf"(#|//) {mark}: {self.name}\b")
        marked = {n for n, line in enumerate(source.splitlines(), 1) if wanted.search(line)}
        if self.textual:
            return marked
        spans = _statements(source)
        return {max(first for first, last in spans if first <= n <= last) for n in marked}

    def module(self, broken: bool) -> tuple[ptx.Module | str, ptx.PtxError | None]:
        """The kernel, and what the checker has against it; it is then left unchecked."""
        built = self.build(broken)
        if isinstance(built, str):
            return built, None
        try:
            return ptx.Module(built), None
        except ptx.PtxError as error:
            return ptx.Module(built.function()), error

    @property
    def textual(self) -> bool:
        """Whether the kernel is PTX text."""
        return isinstance(self.build(False), str)

    def run(self, device: Any, broken: bool) -> dict[str, np.ndarray[Any, Any]]:
        """Launch it and read back what it wrote; faults surface here."""
        arrays: dict[str, Any] = {}
        passed: dict[str, Any] = {}
        freed: list[Any] = []
        for name, value in self.given.items():
            if isinstance(value, Out):
                value = arrays[name] = device.empty(value.shape, value.dtype)
            elif isinstance(value, Freed):
                arrays[name] = device.array(value.data)
                freed.append(arrays[name])
                value = arrays[name].pointer
            elif isinstance(value, np.ndarray):
                value = arrays[name] = device.array(value)
            elif isinstance(value, Map):
                value = device.tensor_map(_described(value, arrays[value.of]))
            passed[name] = value
        kernel = device.load(self.module(broken)[0])[self.name]
        if broken:
            # Last of all, so that nothing new lies where they were.
            for array in freed:
                array.free()
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


@cache
def _statements(source: str) -> list[tuple[int, int]]:
    """The first and the last line of each statement."""
    nodes = ast.walk(ast.parse(source))
    return [(s.lineno, s.end_lineno or s.lineno) for s in nodes if isinstance(s, ast.stmt)]


def _described(map: Map, array: Any) -> TensorMap:
    rows, columns = array.shape
    size = array.dtype.itemsize
    return TensorMap(
        array.pointer, (columns, rows), (columns * size,), map.box, map.element, map.swizzle
    )
