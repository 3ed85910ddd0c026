"""List the forms of an instruction, as the instruction table has them.

Without a name it lists the opcodes by chapter; %name lists special registers.
"""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="as ld, or ld.global")


def run(options: argparse.Namespace) -> int:
    if not options.name:
        return _opcodes()
    if options.name.startswith("%"):
        return _special(options.name)
    return _forms(options.name)


def _opcodes() -> int:
    from ptx.isa import FORMS

    chapters: dict[str, list[str]] = {}
    for opcode, forms in FORMS.items():
        for form in forms:
            chapters.setdefault(form.chapter, []).append(opcode)
    for chapter, opcodes in chapters.items():
        print(f"{chapter}: {' '.join(dict.fromkeys(opcodes))}")
    return 0


def _special(prefix: str) -> int:
    from ptx.isa import SPECIAL

    found = [one for name, one in SPECIAL.items() if name.startswith(prefix)]
    for one in found:
        print(f"{one.name}: .{one.type}    (sm_{one.need}, PTX {one.version})")
    if not found:
        print(f"no special register is named {prefix}")
    return int(not found)


def _forms(name: str) -> int:
    from ptx.isa import FORMS, explain, follow

    opcode, *words = name.split(".")
    found = [form for form in FORMS.get(opcode, ()) if form.reach(tuple(words))[0] == len(words)]
    if not found:
        print(explain(name))
        return 1
    for form in found:
        major, minor = form.version
        print(f"{form.syntax}    (sm_{form.need.replace(' ', ' or sm_')}, PTX {major}.{minor})")
        for word, values in form.choices.items():
            print(f"    {word} = {' '.join(values)}")
    following, may_end = follow(name)
    then = " ".join(f".{word}" for word in sorted(following)) or "nothing"
    print(f"after {name}: {then}{', or the end' if may_end and following else ''}")
    return 0
