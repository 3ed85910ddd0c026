"""Check a file of PTX.

Prints FILE:LINE:COLUMN: error: MESSAGE [RULE] for each finding. Exits with 1 where there are
errors, 0 where there are none, 2 where the file cannot be read. --explain RULE tells what a rule is
about, with an example that breaks it and one that does not.
"""

from __future__ import annotations

import argparse
import sys

from ptx.commands import read, text_of


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="PTX text; - is standard input")
    parser.add_argument("--target", help="check for this target too, as sm_90a")
    parser.add_argument("--explain", metavar="RULE", help="tell about a rule of the checker")


def run(options: argparse.Namespace) -> int:
    from ptx.checker import check, explain

    if options.explain is not None:
        print(explain(options.explain))
        return 0
    if options.file is None:
        print("error: check takes a FILE, or --explain RULE", file=sys.stderr)
        return 2
    text = text_of(read(options.file))
    found = check(text, options.target, file=options.file)
    for one in found:
        # Where only the line is known its first column stands for it, so that editors can jump.
        where = f"{options.file}:{one.line or 1}:{one.column or 1}"
        source = one.source.strip()
        head, *rest = one.message.splitlines()
        print(f"{where}: {one.severity}: {head} [{one.name}]")
        if source not in head:
            print(f"  {source}")
        for line in rest:
            print(line)
    return int(any(one.severity == "error" for one in found))
