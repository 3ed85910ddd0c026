"""Reads what nvdisasm prints: instructions with their words, lines and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ptx.errors import Place
from ptx.sass.instruction import Instruction


@dataclass(frozen=True)
class Code:
    """The instructions of one code section, and the addresses at which functions start."""

    instructions: tuple[Instruction, ...]
    entries: tuple[int, ...]


_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,]+),")
_FUNCTION = re.compile(r"^[ \t]*\.type\s+(\S+),@function", re.MULTILINE)
_LABEL = re.compile(r"([.$\w]+):\s*$")
_LINE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_PTX = ".nv_debug_ptx_txt"
"""What nvdisasm calls the file of a line of PTX."""

_INSTRUCTION = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]+)\*/\s+(?:(?P<guard>@!?U?P[T\d]+)\s+)?(?P<opcode>[\w.]+)\s*"
    r"(?P<operands>[^;]*?)\s*;\s*/\* 0x(?P<low>[0-9a-f]{16}) \*/"
)
_HIGH = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_NAMED = re.compile(r"`\(([^)]+)\)|\b(?:BRANCH_TARGETS|INDIRECT_CALL_TARGETS) ([^\"*]+)")


def read(
    listing: str, lines: list[str] | None = None, places: tuple[Place | None, ...] = ()
) -> dict[str, Code]:
    """What ``nvdisasm -c -g -gp -hex`` printed, by code section."""
    lines = lines or []
    found: dict[str, Code] = {}
    sections = re.split(r"(?m)^(?=\s*\.section\s)", listing)
    for section in sections:
        if match := _SECTION.match(section):
            found[match[1]] = _read_section(section, lines, places)
    return found


def _read_section(section: str, lines: list[str], places: tuple[Place | None, ...]) -> Code:
    functions = {match[1] for match in _FUNCTION.finditer(section)}
    labels: dict[str, int] = {}
    waiting: list[str] = []
    rows: list[tuple[re.Match[str], int, int, Place | None]] = []
    line, here = 0, None
    texts = iter(section.splitlines())
    for text in texts:
        if match := _INSTRUCTION.match(text):
            high = _HIGH.match(next(texts, ""))
            word = int(match["low"], 16) | (int(high[1], 16) << 64 if high else 0)
            rows.append((match, word, line, _place(line, here, places)))
            labels.update(dict.fromkeys(waiting, int(match["address"], 16)))
            waiting.clear()
        elif match := _LINE.match(text):
            if match[1].startswith(_PTX):
                line = int(match[2])
            else:
                here = Place(match[1], int(match[2]))
        elif match := _LABEL.match(text):
            waiting.append(match[1])
    made = [_instruction(row, word, line, labels, lines, at) for row, word, line, at in rows]
    while made and (made[-1].opcode == "NOP" or made[-1].targets == (made[-1].address,)):
        made.pop()  # the padding behind the code: a branch to itself, and NOPs
    entries = sorted({0, *(labels[name] for name in functions if name in labels)})
    return Code(tuple(made), tuple(entries))


def _place(line: int, here: Place | None, places: tuple[Place | None, ...]) -> Place | None:
    if 0 < line <= len(places):
        return places[line - 1]
    return here or (Place("<ptx>", line) if line else None)


def _instruction(
    row: re.Match[str],
    word: int,
    line: int,
    labels: dict[str, int],
    lines: list[str],
    place: Place | None,
) -> Instruction:
    names = [
        name.strip()
        for label, several in _NAMED.findall(row["operands"])
        for name in (label or several).split(",")
    ]
    return Instruction(
        address=int(row["address"], 16),
        guard="" if row["guard"] in (None, "@PT", "@UPT") else row["guard"],
        opcode=row["opcode"],
        operands=tuple(_operands(row["operands"])),
        word=word,
        targets=tuple(labels[name] for name in names if name in labels),
        line=line,
        ptx=lines[line - 1].strip() if 0 < line <= len(lines) else "",
        place=place,
    )


def _operands(text: str) -> Iterator[str]:
    """Split at commas outside of brackets and parentheses."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        if letter in "[({":
            depth += 1
        elif letter in "])}":
            depth -= 1
        elif letter == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()
