"""Write ``docs/instructions.md`` from the instruction table.

python tools/generate_reference.py           write it
python tools/generate_reference.py --check   exit 1 where it is not what the table gives now
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import generated

from ptx.isa import FORMS, LEFT_OUT, SPECIAL, describe
from ptx.isa.describe import Chapter
from ptx.isa.notation import Form
from ptx.isa.words import WORDS
from ptx.targets import version

PAGE = Path(__file__).resolve().parent.parent / "docs" / "instructions.md"

HEAD = """\
# Instructions

Every form of every instruction of the PTX ISA 9.0 that this package knows, as the table in
`ptx/isa` has them: {opcodes} opcodes, {rows} forms. Written by `tools/generate_reference.py`;
`python -m ptx forms NAME` shows one instruction at the terminal, and `k.NAME` in Python spells it
with the same words (`.global` is `.global_`, `::` is `__`, `.2d` is `._2d`).

A form reads as in the manual:

```
{notation}
```

Under a form stand the values of its choices, a line for each set that goes together; what a value
needs besides is in parentheses. The choices of the next table mean the same in every form.
"""


def page() -> str:
    """The text of the page."""
    chapters = describe.chapters()
    rows = sum(map(len, FORMS.values()))
    head = HEAD.format(opcodes=len(FORMS), rows=rows, notation=describe.NOTATION)
    lines = [head, *_common(), "", "## Contents", ""]
    for chapter in chapters:
        names = " ".join(f"[{op}](#{_anchor(chapter, op)})" for op in chapter.opcodes)
        lines.append(f"- {chapter.title}: {names}")
    lines += ["- [Special registers](#special-registers)", "- [Left out](#left-out)"]
    for chapter in chapters:
        lines += ["", f"## {chapter.title}"]
        for opcode, forms in chapter.opcodes.items():
            lines += ["", f'<a id="{_anchor(chapter, opcode)}"></a>', f"### {opcode}", ""]
            lines += _table(forms)
    return "\n".join([*lines, "", *_special(), "", *_left_out()]) + "\n"


def _anchor(chapter: Chapter, opcode: str) -> str:
    return f"{chapter.name}-{opcode}"


def _common() -> Iterator[str]:
    yield "| choice | values |"
    yield "|---|---|"
    for name, listed in WORDS.items():
        values = describe.stretch(listed) if isinstance(listed, range) else listed
        values = re.sub(r"@\w+:([\d.]+)", r" (PTX \1)", " ".join(values.split()))
        yield f"| {name} | {values} |"


def _table(forms: list[Form]) -> Iterator[str]:
    """The rows; those that differ in their choices alone are one line."""
    yield "| form | needs |"
    yield "|---|---|"
    alike: dict[tuple[str, str], list[str]] = {}
    for form in forms:
        choices = describe.choices(form, common=False).items()
        needs = describe.needs(form.need, form.version)
        listed = "; ".join(f"{name}: {values}" for name, values in choices)
        alike.setdefault((form.syntax, needs), []).append(listed)
    for (syntax, needs), choices in alike.items():
        cell = "<br>".join([f"`{syntax}`", *filter(None, choices)]).replace("|", "\\|")
        yield f"| {cell} | {needs} |"


def _special() -> Iterator[str]:
    yield "## Special registers"
    yield ""
    yield "| register | type | needs |"
    yield "|---|---|---|"
    for one in SPECIAL.values():
        yield f"| `{one.name}` | .{one.type} | {describe.needs(one.need, version(one.version))} |"


def _left_out() -> Iterator[str]:
    yield "## Left out"
    yield ""
    yield "| instruction | reason |"
    yield "|---|---|"
    for name, reason in LEFT_OUT.items():
        yield f"| `{name}` | {reason} |"


if __name__ == "__main__":
    sys.exit(generated.main(__doc__, lambda: {PAGE: page()}))
