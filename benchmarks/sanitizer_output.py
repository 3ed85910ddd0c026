"""What compute-sanitizer prints, read: findings of a kernel, and what else it has to say.

A report is a line that begins with ``=========`` and one space; the lines that belong to it begin
with more spaces. Source: Compute Sanitizer's user manual, and outputs of its versions 2021 to 2025.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BANNER = "COMPUTE-SANITIZER"
_LINE = re.compile(r"^=========( +)(\S.*)$")
_PLACE = re.compile(r"(?:^| )in (\S[^:]*):(\d+)(?::\S.*?)?(?: \[[\d,]+ hazards?\])?$")
_WHERE = re.compile(r"^(?:at|and (?:Read|Write|Atomic)\b.* at) ")
_KERNEL = re.compile(r"(?:^| )at ([^\s+]+)\+0x")
_SUMMARY = re.compile(r"^(?:RACECHECK |ERROR |LEAK )SUMMARY: ([\d,]+)")
_OF_THE_HOST = ("Program hit ", "Host API memory access error")
"""Reports of calls: an error that the driver returned, a copy of what was never written."""


@dataclass(frozen=True)
class Finding:
    """Something wrong in a kernel."""

    what: str
    """The report's first line, without the places of the accesses."""
    places: tuple[tuple[str, int], ...]
    """Files and lines; none where the kernel was assembled without."""
    kernel: str = ""
    """The function of the first access; versions before 2023 do not tell it so."""


@dataclass(frozen=True)
class Output:
    findings: tuple[Finding, ...]
    calls: tuple[str, ...]
    """What it says of the host's calls."""
    complete: bool
    """Whether it ran, and printed its summary."""


def parse(text: str) -> Output:
    """Read the output of compute-sanitizer, what its program printed mixed in."""
    findings: list[Finding] = []
    calls: list[str] = []
    started = ended = False
    for first, *rest in _reports(text):
        if first == BANNER:
            started = True
        elif _SUMMARY.match(first):
            ended = True
        elif first.startswith(_OF_THE_HOST):
            calls.append(first)
        elif " at " in first or any(_WHERE.match(line) for line in rest):
            where = [first, *(line for line in rest if _WHERE.match(line))]
            found = [_PLACE.search(line) for line in where]
            places = tuple((place[1], int(place[2])) for place in found if place)
            kernel = next((match[1] for line in where if (match := _KERNEL.search(line))), "")
            findings.append(Finding(_title(first), places, kernel))
    return Output(tuple(findings), tuple(calls), started and ended)


def _reports(text: str) -> list[list[str]]:
    reports: list[list[str]] = []
    for line in text.splitlines():
        match = _LINE.match(line.rstrip())
        if match is None:
            continue
        if len(match[1]) == 1:
            reports.append([match[2]])
        elif reports:
            reports[-1].append(match[2])
    return reports


def _title(first: str) -> str:
    """``Error: Race reported between Write access at k+0x50 in k.py:9`` without ``at ...``."""
    return first.partition(" at ")[0].rstrip(".")
