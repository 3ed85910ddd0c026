"""What options of commands may be, for ``argparse``."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def at_least(least: int) -> Callable[[str], int]:
    """A count that is `least` or more."""

    def count(text: str) -> int:
        try:
            given = int(text)
        except ValueError:
            given = least - 1
        if given < least:
            raise argparse.ArgumentTypeError(f"{text} is no count of {least} or more")
        return given

    return count


def some_of(*known: str) -> Callable[[str], list[str]]:
    """One or several of these names, with commas."""

    def names(text: str) -> list[str]:
        found = text.split(",")
        for name in found:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return found

    return names
