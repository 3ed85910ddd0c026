"""Asking the table: what a spelling is, what may follow it, and why it is nothing."""

from __future__ import annotations

import difflib
from functools import cache, lru_cache

from ptx.isa.notation import FORMS, Form, Variant, variants


@lru_cache(maxsize=1 << 16)
def resolve(op: str) -> tuple[Variant, ...]:
    """Every row and operand list that the spelling `op` is an instance of; empty where it is
    none.

    ``resolve("ld.global.v4.f32")`` has one variant; ``resolve("bar.sync")`` two, with and without
    a thread count.
    """
    words = tuple(op.split("."))
    found: list[Variant] = []
    seen = frozenset(words[1:])
    for form in FORMS.get(words[0], ()):
        must, may = form.vocabulary
        if must <= seen <= may and (bound := form.match(words[1:])) is not None:
            found += variants(form, words, bound)
    return tuple(found)


_SHOWN = 16
"""How many words an explanation lists before it breaks off."""


@cache
def follow(prefix: str) -> tuple[frozenset[str], bool]:
    """The words that may follow `prefix`, and whether an instruction may end there.

    ``follow("bar")`` is ``({"sync", "arrive", ...}, False)``; ``follow("")`` lists the opcodes.
    """
    if not prefix:
        return frozenset(FORMS), False
    opcode, *words = prefix.split(".")
    following: set[str] = set()
    may_end = False
    for form in FORMS.get(opcode, ()):
        if form.vocabulary[1] >= set(words):
            reached, next_words, end = form.reach(tuple(words))
            if reached == len(words):
                following |= next_words
                may_end |= end
    return frozenset(following), may_end


def explain(op: str) -> str:
    """Why `op` is no instruction: where it goes wrong, what may stand there, the rows concerned."""
    opcode, *words = op.split(".")
    if opcode not in FORMS:
        near = difflib.get_close_matches(opcode, FORMS, n=3)
        return f"no instruction is named {opcode}" + (f"; near: {', '.join(near)}" if near else "")
    reached: list[tuple[Form, int, set[str], bool]] = [
        (form, *form.reach(tuple(words))) for form in FORMS[opcode]
    ]
    furthest = max(count for _, count, _, _ in reached)
    at = [(form, following) for form, count, following, _ in reached if count == furthest]
    may = sorted(set().union(*(following for _, following in at)))
    got = f".{words[furthest]}" if furthest < len(words) else "the end"
    near = difflib.get_close_matches(got[1:], may, n=1) if furthest < len(words) else []
    start = ".".join([opcode, *words[:furthest]])
    lines = [
        f"{op} is no instruction: after {start} expected "
        f"{_some(may) or 'the end'}, got {got}" + (f"; did you mean .{near[0]}?" if near else "")
    ]
    rows = list(dict.fromkeys(form.syntax for form, _ in at))
    return "\n".join(lines + [f"    form: {syntax}" for syntax in rows[:3]])


def _some(words: list[str]) -> str:
    listed = " ".join("." + word for word in words[:_SHOWN])
    return listed + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")
