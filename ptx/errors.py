"""The errors of building, parsing and assembling, each with the place it speaks of."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """Where something was written: the author's Python line, or a line of PTX text."""

    file: str
    line: int
    column: int = 0
    """Counted from 1; 0 where only the line is known."""

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}"


class PtxError(Exception):
    """Base of every error of building, parsing, checking and assembling.

    ``str(error)`` starts with the place, ``FILE:LINE[:COLUMN]: message``, where it is known.
    """

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message, place)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message
