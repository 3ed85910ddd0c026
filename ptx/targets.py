"""Targets and versions: which there are, and which `.target` meets which need.

A need is written as in the instruction table: ``"90"`` (sm_90 and everything newer), ``"90a"``
(that architecture alone), ``"100f"`` (its family: sm_100f, sm_100a, sm_103f, sm_103a ...).
Alternatives are separated by spaces. Targets are no ordering: sm_120 lacks what sm_90a has.
Sources: PTX ISA 9.0, section 11.1.2; acceptance by ptxas 13.0.
"""

from __future__ import annotations

import re
from functools import cache

Version = tuple[int, int]

INTRODUCED: dict[str, Version] = {
    "sm_50": (4, 0), "sm_52": (4, 1), "sm_53": (4, 2), "sm_60": (5, 0), "sm_61": (5, 0),
    "sm_62": (5, 0), "sm_70": (6, 0), "sm_72": (6, 1), "sm_75": (6, 3), "sm_80": (7, 0),
    "sm_86": (7, 1), "sm_87": (7, 4), "sm_88": (9, 0), "sm_89": (7, 8),
    "sm_90": (7, 8), "sm_90a": (8, 0),
    "sm_100": (8, 6), "sm_100f": (8, 8), "sm_100a": (8, 6),
    "sm_103": (8, 8), "sm_103f": (8, 8), "sm_103a": (8, 8),
    "sm_110": (9, 0), "sm_110f": (9, 0), "sm_110a": (9, 0),
    "sm_120": (8, 7), "sm_120f": (8, 8), "sm_120a": (8, 7),
    "sm_121": (8, 8), "sm_121f": (8, 8), "sm_121a": (8, 8),
}  # fmt: skip
"""Every target, in the order in which the smallest is sought, and the version that brought it."""

LAST_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 0}
"""The last minor version of each major one; ptxas 13.0 refuses all others."""

VERSIONS: tuple[Version, ...] = tuple(
    (major, minor) for major, last in LAST_MINOR.items() if major >= 6 for minor in range(last + 1)
)
"""Those that the instruction table tells apart, in order: from 6.0 to the newest."""


def refusal(target: str) -> str:
    """Why `target` is none that is known; ``""`` where it is one."""
    if target in INTRODUCED:
        return ""
    return f"{target} is no target; targets are {', '.join(INTRODUCED)}"


def version(text: str) -> Version:
    """``"8.0"`` as ``(8, 0)``."""
    major, minor = text.split(".")
    return int(major), int(minor)


def is_newer(text: str) -> bool:
    """Whether a version is newer than every one that is known here."""
    return version(text) > VERSIONS[-1]


def version_refusal(text: object) -> str:
    """Why `text` is no version of PTX that is known; ``""`` where it is one."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]+\.[0-9]+", text):
        return f'a version is a str as "8.0", got {text!r}'
    newest = "{}.{}".format(*VERSIONS[-1])
    if is_newer(text):
        return f"PTX {text} is newer than the newest version that is known here, {newest}"
    major, minor = version(text)
    last = LAST_MINOR.get(major)
    if last is None or minor > last:
        below = f"the last {major}.x is {major}.{last}" if last is not None else "they begin at 1.0"
        return f"there is no version {text} of PTX: {below}, the newest is {newest}"
    return ""


@cache
def _parts(target: str) -> tuple[int, str]:
    match = re.fullmatch(r"(?:sm_)?(\d+)([af]?)", target)
    if not match:
        raise ValueError(f"{target!r} is no target; a target reads sm_90, sm_90a or sm_100f")
    return int(match[1]), match[2]


@cache
def meets(target: str, need: str) -> bool:
    """Whether ``target`` offers what ``need``, one of its alternatives, asks for."""
    number, suffix = _parts(target)
    for alternative in need.split():
        least, _, most = alternative.partition("-")
        wanted, variant = _parts(least)
        if not variant:
            met = number >= wanted and number <= int(most or number)
        elif variant == "a":
            met = (number, suffix) == (wanted, "a")
        else:
            met = suffix != "" and number // 10 == wanted // 10 and number >= wanted
        if met:
            return True
    return False


@cache
def targets_meeting(need: str) -> tuple[str, ...]:
    """All targets that meet ``need``, smallest first."""
    return tuple(target for target in INTRODUCED if meets(target, need))
