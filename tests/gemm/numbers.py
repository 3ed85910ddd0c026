"""A stand-in for a kernel that computes with numbers instead of emitting instructions."""

from __future__ import annotations

from typing import Any


class Numbers:
    """The pieces of a GEMM kernel, called with this and with ints, return the ints they emit."""

    def __init__(self, opcode: str = "") -> None:
        self._opcode = opcode

    def __getattr__(self, word: str) -> Numbers:
        return Numbers(self._opcode or word)

    def __call__(self, *sources: Any, out: Any = None) -> Any:
        if self._opcode != "mad":
            raise NotImplementedError(self._opcode)
        a, b, c = sources
        return a * b + c
