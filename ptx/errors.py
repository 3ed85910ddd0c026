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


class TextPlace(Place):
    """A line of PTX text that was parsed, rather than a line of the author's Python."""

    __slots__ = ()


class PtxError(Exception):
    """Base of every error of building, parsing, checking and assembling.

    ``str(error)`` starts with the place, ``FILE:LINE[:COLUMN]: message``, where it is known, and
    ends with the line of PTX text and a mark under the column, where there is one.
    """

    def __init__(self, message: str, place: Place | None = None, source: str | None = None) -> None:
        super().__init__(message, place, source)
        self.message = message
        self.place = place
        self.source = source
        """The line of PTX text that `place` speaks of; its column counts characters of it."""

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.source is not None and self.place is not None:
            text += "\n  " + self.source.rstrip()
            if self.place.column:
                before = self.source[: self.place.column - 1]
                text += "\n  " + "".join(c if c == "\t" else " " for c in before) + "^"
        return text


class LaunchError(PtxError):
    """Base of every error of a device: of its memory, its modules and its launches."""


class ArgumentTypeError(LaunchError, TypeError):
    """An argument of a launch has the wrong type, or there are too few or too many."""


class ArgumentRangeError(LaunchError, OverflowError):
    """An argument of a launch does not fit its parameter."""


class ArgumentValueError(LaunchError, ValueError):
    """An argument, a grid or a block that no launch can take."""
