"""The operands of a row of the instruction table, read from its notation
(:mod:`ptx.isa.notation` has the grammar).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand as the row spells it."""

    condition: str | None
    """None: always there. ``""``: optional. Else the word (or choice) that brings it."""
    text: str
    name: str = ""
    type: str = ""
    count: str = ""
    access: Literal["r", "w", "rw"] = "r"
    negatable: bool = False
    second: Literal["", "may", "must"] = ""
    register_only: bool = False
    exact: bool = False
    selector: str = ""
    selector_optional: bool = False
    droppable: bool = False
    inner: tuple[Operand, ...] = ()


_CONDITION = re.compile(r"\{(\.[^,{}]+)?,\s*")
_OPENING = {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}


def read(text: str) -> Iterator[Operand]:
    """Each operand of a row; :class:`ValueError` for what does not follow the notation."""
    while text := text.lstrip(" ,"):
        if conditional := _CONDITION.match(text):
            end = _closing(text, conditional.end(), depth=1)
            condition = (conditional[1] or "")[1:]
            for one in _split(text[conditional.end() : end - 1]):
                yield _read_one(one, condition)
        else:
            end, depth = 0, 0
            while end < len(text) and (
                depth or (text[end] != "," and not _CONDITION.match(text, end))
            ):
                depth += _OPENING.get(text[end], 0)
                end += 1
            if depth:
                raise ValueError(f"the brackets of {text!r} do not match")
            yield _read_one(text[:end].strip(), None)
        text = text[end:]


def _read_one(text: str, condition: str | None) -> Operand:
    if text == "_" or text.isdigit():
        return Operand(condition, text)
    if text[0] == "(":
        name = text[1:-1]
        return Operand(condition, text, name, access="w" if name == "d" else "r")
    if selected := re.fullmatch(r"(.+?)(\{)?\.(\w+)\}?", text):
        plain = _read_one(selected[1], condition)
        return replace(plain, selector=selected[3], selector_optional=bool(selected[2]))
    if text[0] == "[":
        first, *rest = _split(text[1:-1])
        name, _, space = first.partition(":")
        return Operand(
            condition,
            text,
            name,
            space.removesuffix("!"),
            exact=space.endswith("!"),
            inner=tuple(_read_one(r, None) for r in rest),
        )
    if text.endswith("{_}"):
        return replace(_read_one(text[:-3], condition), droppable=True)
    negatable, bare = text.startswith("{!}"), text.removeprefix("{!}")
    both, bare = bare.startswith("+"), bare.removeprefix("+")
    only, bare = bare.startswith("%"), bare.removeprefix("%")
    second: Literal["", "may", "must"] = "may" if "{|" in bare else "must" if "|" in bare else ""
    bare = re.sub(r"\{?\|\w+\}?", "", bare)
    plainly = re.fullmatch(r"(\w+)(?::(\w+)(!)?)?(?:\*(.+))?", bare)
    if plainly is None:
        raise ValueError(f"the operand {text!r} does not follow the notation")
    name, type, exactly, count = plainly.groups(default="")
    written = re.fullmatch(r"d\d?|p|q", name) is not None
    return Operand(
        condition,
        text,
        name,
        type,
        count,
        access="rw" if both else "w" if written else "r",
        negatable=negatable,
        second=second,
        register_only=only,
        exact=bool(exactly),
    )


def _closing(text: str, start: int, depth: int) -> int:
    """The index after the bracket that closes `depth` open ones, from `start` on."""
    while depth:
        if start == len(text):
            raise ValueError(f"the brackets of {text!r} do not match")
        depth += _OPENING.get(text[start], 0)
        start += 1
    return start


def _split(text: str) -> list[str]:
    """Split at the commas outside all brackets."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += _OPENING.get(character, 0)
        if character == "," and not depth:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts
