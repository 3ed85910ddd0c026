"""The table in words, for the ``forms`` command and for the page of instructions."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from ptx.isa.notation import FORMS, Form
from ptx.isa.words import EFFECTS, WORDS
from ptx.targets import Version, targets_meeting

NOTATION = """\
{.x}      may be left out              d:u32     a register or literal of .u32; else of the last type
.x        one of the values of x       d*4       a vector of 4: {a, b, c, d}
d d0 p q  written                      d:wide    twice as wide as the type
a b c     read                         +d        read and written
p|q       two destinations             %a        a register, no literal
d{|p}     a second one, if wanted      {!}c      a predicate, negated or not
[a]       an address                   [a, c*n]  an address with n coordinates
{, x}     an operand, if wanted        {.w, x}   an operand that comes with .w"""
"""How a row reads; the whole notation is in ptx/isa/notation.py."""


class Chapter(NamedTuple):
    """One file of the table."""

    name: str
    title: str
    """As the manual names it, with the section."""
    opcodes: dict[str, list[Form]]


def chapters() -> list[Chapter]:
    """Every chapter with its opcodes, in the order in which they are read."""
    found: dict[str, dict[str, list[Form]]] = {}
    for opcode, forms in FORMS.items():
        for form in forms:
            found.setdefault(form.chapter, {}).setdefault(opcode, []).append(form)
    return [Chapter(name, title(name), opcodes) for name, opcodes in found.items()]


def title(chapter: str) -> str:
    """What a chapter is about, and the section of the manual: the head of its file."""
    about = importlib.import_module(f"ptx.isa.{chapter}").__doc__ or chapter
    return re.split(r":|\.(?:\s|$)", " ".join(about.split()))[0]


def needs(need: str, version: Version) -> str:
    """What a row or a value asks for: ``sm_90 and up, PTX 7.8``."""
    return f"{_targets(need)}, PTX {version[0]}.{version[1]}"


def _targets(need: str) -> str:
    found = []
    for alternative in need.split():
        least, _, most = alternative.partition("-")
        if most:
            found.append(f"sm_{least} to sm_{most}")
        elif least.endswith("a"):
            found.append(f"sm_{least}")
        elif least.endswith("f"):
            found.append(f"the family of sm_{least[:-1]}")
        else:
            found.append(f"sm_{least} and up")
    return " or ".join(found)


def effect(form: Form) -> str:
    """What a row does beyond computing its result; empty where nothing."""
    return "; ".join(EFFECTS[one] for one in form.effect.split(", ") if one)


def choices(form: Form, common: bool = True) -> dict[str, str]:
    """The values of each choice of a row, with what single ones need besides.

    Without `common` those are left out that mean the same in every row.
    """
    values: dict[str, list[str]] = {}
    for part in form.parts:
        for bound in part.alternatives.values():
            for name, value in bound:
                if value not in values.setdefault(name, []):
                    values[name].append(value)
    for operand in form.operands:
        listed = form.keywords.get(operand.name, WORDS.get(operand.name))
        if listed is not None and operand.name not in values:
            values[operand.name] = [] if isinstance(listed, range) else literals(listed)
            if isinstance(listed, range):
                values[operand.name] = [stretch(listed)]
    found = {}
    for name, some in values.items():
        if common or name not in WORDS or name in form.keywords:
            keyword = form.keywords.get(name)
            if isinstance(keyword, range):
                some = [stretch(keyword)]
            alike = itertools.groupby(some, key=lambda value: _besides(form, name, value))
            found[name] = " ".join(" ".join(group) + besides for besides, group in alike)
    return found


def literals(listed: str | Sequence[object]) -> list[str]:
    return listed.split() if isinstance(listed, str) else list(map(str, listed))


def stretch(values: range) -> str:
    """``0 to 255``, ``8 to 256 in steps of 8``."""
    step = f" in steps of {values.step}" if values.step != 1 else ""
    return f"{values[0]} to {values[-1]}{step}"


def _besides(form: Form, name: str, value: str) -> str:
    """What a value needs beyond its row, in parentheses."""
    wanted, version = form.needs(tuple(value.split(".")), {name: value})
    having = set(targets_meeting(form.need))
    more = [_targets(need) for need in wanted if not having <= set(targets_meeting(need))]
    if version > form.version:
        more.append(f"PTX {version[0]}.{version[1]}")
    return f" ({', '.join(more)})" if more else ""
