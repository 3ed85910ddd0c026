"""What a caller gives where a number is due: taken as a number, or refused by its name."""

from __future__ import annotations

from typing import Any

from ptx.values import integer

PLAIN = (float, int)
"""Types of numbers that need no check, where that is too dear."""
LONGEST = 90
"""Characters of a value that is shown as it stands."""


def scalar(name: str, value: Any) -> float:
    """A real number of Python's or numpy's. Raises TypeError for anything else."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, (int, float)) or (kind in "iufV" and getattr(value, "shape", 0) == ()):
        return float(value)
    raise TypeError(f"{name} is {shown(value)}; expected a real number")


def whole(name: str, value: Any) -> int:
    """An integer of Python's or numpy's. Raises TypeError for anything else, as a truth value."""
    count = integer(value)
    if count is None:
        raise TypeError(f"{name} is {shown(value)}; expected an integer")
    return count


def make_whole(made: Any, names: tuple[str, ...]) -> None:
    """Such fields of a frozen dataclass become Python's ints, as :func:`whole` takes them."""
    for name in names:
        value = getattr(made, name)
        if type(value) is not int:
            object.__setattr__(made, name, whole(name, value))


def kept(name: str, value: Any, kinds: tuple[type, ...], expected: str) -> None:
    """Raises TypeError for a value of none of these kinds."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name} is {shown(value)}; expected {expected}")


def shown(value: Any) -> str:
    """A value, or its type where it is long, as arrays are."""
    text, kind = repr(value), type(value)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    return f"of type {kind.__module__}.{kind.__qualname__}"
