"""List the forms of an instruction, as the instruction table has them.

Without a name it lists the opcodes by chapter; %name lists special registers.
"""

from __future__ import annotations

import argparse
import textwrap

WIDTH = 100


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="as ld, ld.global, or %%tid"
    )
    parser.add_argument("--notation", action="store_true", help="how the rows are read")


def run(options: argparse.Namespace) -> int:
    if options.notation:
        from ptx.isa.describe import NOTATION

        print(NOTATION)
        return 0
    if not options.name:
        return _opcodes()
    if options.name.startswith("%"):
        return _special(options.name)
    return _forms(options.name)


def _opcodes() -> int:
    from ptx.isa import LEFT_OUT
    from ptx.isa.describe import chapters

    for chapter in chapters():
        print(chapter.title)
        print(_folded(" ".join(chapter.opcodes), "    "))
    print("Left out")
    for reason in dict.fromkeys(LEFT_OUT.values()):
        names = " ".join(name for name, why in LEFT_OUT.items() if why == reason)
        print(_folded(f"{names}: {reason}", "    "))
    return 0


def _special(prefix: str) -> int:
    from ptx.isa import SPECIAL
    from ptx.isa.describe import needs
    from ptx.targets import version

    found = [one for name, one in SPECIAL.items() if name.startswith(prefix)]
    for one in found:
        print(f"{one.name}: .{one.type}    ({needs(one.need, version(one.version))})")
    if not found:
        print(f"no special register is named {prefix}")
    return int(not found)


def _forms(name: str) -> int:
    from ptx.isa import FORMS, describe, explain, follow

    opcode, *words = name.split(".")
    found = [form for form in FORMS.get(opcode, ()) if form.reach(tuple(words))[0] == len(words)]
    if not found:
        print(explain(name))
        return 1
    chapter = ""
    for form in found:
        if form.chapter != chapter:
            chapter = form.chapter
            print(describe.title(chapter))
        print(f"\n{form.syntax}")
        about = describe.needs(form.need, form.version)
        if does := describe.effect(form):
            about += f"; {does}"
        print(_folded(about, "    "))
        for word, values in describe.choices(form).items():
            print(_folded(f"{word}: {values}", "    "))
    following, may_end = follow(name)
    then = " ".join(f".{word}" for word in sorted(following)) or "nothing"
    print()
    print(_folded(f"after {name}: {then}{', or the end' if may_end and following else ''}", ""))
    print("how to read this: python -m ptx forms --notation")
    return 0


def _folded(text: str, indent: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
