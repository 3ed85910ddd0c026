"""What may be a name in PTX (PTX ISA 9.0, section 4.4; verdicts by ptxas 13.0)."""

from __future__ import annotations

import re
import string

NAME = r"(?:[A-Za-z][\w$]*+|[_$%][\w$]++)"
"""A regular expression, to be compiled with ``re.ASCII``."""

RESERVED = "WARP_SZ"
"""The one name that stands for a number everywhere (PTX ISA 9.0, section 4.4.2)."""
WARP_SIZE = 32
"""That number."""

_INNER = frozenset(string.ascii_letters + string.digits + "_$")
_FIRST = frozenset(string.ascii_letters + "_$%")
_LEGAL = re.compile(NAME, re.ASCII)


def is_name(text: str) -> bool:
    """Whether `text` may name a function, a variable, a register or a label."""
    return _LEGAL.fullmatch(text) is not None and text != RESERVED


def why_no_name(text: str) -> str:
    """Why `text` is no name, in a sentence; ``""`` where it is one.

    ``$x`` and ``_a`` are names; ``k.part.0``, ``1k``, a lone ``_`` and ``kernel<float>`` are not.
    """
    if is_name(text):
        return ""
    if not text:
        return "a name is missing"
    if text == RESERVED:
        return f"{text} is no PTX name: it stands for 32, the threads of a warp"
    if text[0].isdigit():
        why = "a name does not start with a digit"
    elif text in ("_", "$", "%"):
        why = f"{text} alone is none"
    else:
        wrong = next(c for i, c in enumerate(text) if c not in (_INNER if i else _FIRST))
        why = (
            f"{wrong!r} may not stand there"
            if wrong in _FIRST
            else f"{wrong!r} may not stand in it"
        )
    return (
        f"{text} is no PTX name: {why}; names are letters, digits, _ and $, "
        "after a letter, or after one of _ $ %"
    )
