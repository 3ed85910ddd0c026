"""Asking the table: what a spelling is, what may follow it, and why it is nothing."""

from __future__ import annotations

import difflib
from functools import cache, lru_cache

from ptx.isa.notation import FORMS, Form, Variant, Words, variants
from ptx.isa.words import LEFT_OUT, SPACES
from ptx.types import TYPES


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


_RANKED = (frozenset(TYPES), frozenset(SPACES), frozenset(("row", "col")))
"""Classes of words whose own order tells operands apart: no order but the table's will do."""


@lru_cache(maxsize=1 << 12)
def in_order(op: str) -> str:
    """`op` with its modifiers in the order of the table, as ``atom.cta.global.add.u32``.

    ptxas takes most modifiers in any order, and compilers print some of them so
    (``atom.global.cta.add.u32``). `op` itself comes back where no order makes it an instruction.
    """
    opcode, *words = op.split(".")
    seen = frozenset(words)
    if len(seen) < len(words) - 3 or resolve(op):
        return op
    for form in FORMS.get(opcode, ()):
        must, may = form.vocabulary
        if must <= seen <= may:
            found = _arrange(form, tuple(words))
            if found is not None:
                return ".".join((opcode, *found))
    return op


def _arrange(form: Form, words: Words) -> Words | None:
    """The words in the order of a row; None where no order fits it.

    The literal words that the row begins with stay where they are.
    """
    parts = form.parts
    fixed = 0
    for part in parts:
        if part.optional or len(part.alternatives) > 1:
            break
        if next(iter(part.alternatives))[0] in ("sync", "aligned", "sat", "cc"):
            break
        fixed += 1

    def held(left: Words, at: int) -> bool:
        return any(left[at] in one and not one.isdisjoint(left[:at]) for one in _RANKED)

    def walk(i: int, left: Words, bound: dict[str, str]) -> Words | None:
        if i == len(parts):
            return None if left else ()
        part = parts[i]
        for at in range(min(len(left), 1 if i < fixed else len(left))):
            for taken in part.by_first.get(left[at], ()) if not held(left, at) else ():
                more = part.alternatives[taken]
                if left[at : at + len(taken)] == taken and all(
                    bound.get(name, value) == value for name, value in more
                ):
                    rest = walk(i + 1, left[:at] + left[at + len(taken) :], bound | dict(more))
                    if rest is not None:
                        return taken + rest
        return walk(i + 1, left, bound) if part.optional else None

    return walk(0, words, {})


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
    if opcode in LEFT_OUT:
        return f"{opcode} is left out of this package: {LEFT_OUT[opcode]}"
    if opcode not in FORMS:
        near = difflib.get_close_matches(opcode.lower(), FORMS, n=3)
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
