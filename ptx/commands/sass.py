"""Show the machine code (SASS) of a kernel: its loops, what they consist of, and where from.

WHAT is one of
  FILE.ptx, FILE.cubin       PTX text, or a cubin; - is standard input
  module:function(args)      a kernel, module, PTX, cubin or plan that this Python call returns;
  FILE.py:function(args)     its arguments may use the module's own names

No GPU is needed. PTX and kernels are assembled by ptxas for --target, which may be any that it
knows; a cubin is shown for the target that it has.

Printed are which image it is (target, ptxas, flags, hash), what each kernel needs and how many of
its CTAs an SM holds, numbers by loop, and the listing: address, control code, instruction, the
author's line of Python or PTX, and the PTX. Loops carry the names of their labels.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ptx.errors import PtxError
from ptx.occupancy import MAX_THREADS
from ptx.scheduling import LEGEND

if TYPE_CHECKING:
    from ptx.sass import Region, Sass

EPILOG = """\
examples
  python -m ptx sass kernel.ptx --target sm_90a
  python -m ptx sass "ptxgemm.kernels.simt:sgemm(prefetch='predicated')" --target sm_80 --summary
  python -m ptx sass --diff "ptxgemm.kernels.simt:sgemm(prefetch='branch')" \\
                            "ptxgemm.kernels.simt:sgemm(prefetch='predicated')"
  python -m ptx sass kernel.ptx --html kernel.html
  python -m ptx sass kernel.cubin --assert "loop main: BRA == 1, LDL == 0, LDG.E.128 >= 2"

claims of --assert
  "loop main: BRA == 1, LDL == 0; registers <= 128"
  Clauses end at ; and claims at , and a clause without a loop's name speaks of the whole kernel. An
  opcode stands for how many there are: LDG.128 also counts LDG.E.128. @LDG counts those that a
  predicate guards, !@LDG the others: "@LDG == LDG" says that all of them are guarded. Beside
  opcodes and numbers there are instructions, predicated, branches, conflicts and tensor of a loop
  or a kernel, and registers, spills, stack and shared of a kernel.

control codes
{legend}

exit status
  0 all is well; 1 a claim does not hold, or something is wrong with WHAT; 2 a file cannot be read
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    legend = "\n".join(f"  {line}" for line in LEGEND.splitlines())
    parser.epilog = EPILOG.format(legend=legend)
    parser.add_argument("what", metavar="WHAT", nargs="?", help="see above")
    parser.add_argument(
        "--target",
        metavar="SM",
        help="assemble for this target, as sm_90a (default: the lowest that WHAT and ptxas allow)",
    )
    parser.add_argument("--kernel", metavar="NAME", help="this kernel alone, where there are more")
    launch = parser.add_argument_group("the launch, for the occupancy")
    launch.add_argument(
        "--threads", type=_threads, metavar="N", help="of a CTA (default: what the kernel declares)"
    )
    launch.add_argument(
        "--shared", type=int, default=0, metavar="BYTES", help="of dynamic shared memory (0)"
    )
    show = parser.add_argument_group("what to show")
    show.add_argument("--summary", action="store_true", help="no listing")
    show.add_argument("--loop", metavar="NAME", help="list this loop alone")
    show.add_argument(
        "--control",
        action=argparse.BooleanOptionalAction,
        help="control codes beside the instructions (default: they are shown)",
    )
    other = parser.add_argument_group("instead of the text").add_mutually_exclusive_group()
    other.add_argument("--json", action="store_true", help="all of it, as JSON")
    other.add_argument(
        "--html", metavar="FILE", type=Path, help="write a page that draws each loop as a picture"
    )
    other.add_argument(
        "--assert",
        dest="claims",
        action="append",
        metavar="CLAIMS",
        help="check claims (below); may be given several times",
    )
    parser.add_argument(
        "--diff", nargs=2, metavar=("A", "B"), help="lay two kernels, as WHAT, side by side"
    )


def _threads(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= MAX_THREADS:
        raise argparse.ArgumentTypeError(f"{text!r}: a CTA has 1 to {MAX_THREADS} threads")
    return int(text)


def run(options: argparse.Namespace) -> int:
    if (options.what is None) == (options.diff is None):
        print("error: sass takes WHAT, or --diff A B; --help explains both", file=sys.stderr)
        return 2
    _refuse(options)
    if options.diff:
        return _diff(options)
    found = _read(options.what, options)
    if options.claims:
        return _assert(found, options.what, options.claims)
    if options.json:
        from ptx.sass import data

        print(json.dumps(data.of_sass(found, options.threads, options.shared), indent=1))
    elif options.html:
        from ptx.sass import page

        _write(options.html, page.of_sass(found, options.threads, options.shared))
    else:
        _print(found, options)
    return 0


def _refuse(options: argparse.Namespace) -> None:
    """Options that would change nothing."""
    of_text = [name for name in ("summary", "loop") if getattr(options, name)]
    of_text += ["control"] if options.control is not None else []
    for name in ("json", "html", "claims"):
        if getattr(options, name) and of_text:
            asked = "assert" if name == "claims" else name
            raise PtxError(f"--{of_text[0]} is of the text, and --{asked} prints none")
    if options.diff and options.control is not None:
        raise PtxError("--control is of one listing; --diff shows instructions alone")
    if options.diff and options.claims:
        raise PtxError("--assert speaks of one kernel; --diff compares two")
    if options.summary and options.loop:
        raise PtxError("--loop lists a loop, and --summary has no listing")
    if options.claims and (options.threads or options.shared):
        raise PtxError("--threads and --shared are for the occupancy, of which no claim speaks")


def _read(source: str, options: argparse.Namespace) -> Sass:
    from dataclasses import replace

    from ptx.commands.images import image
    from ptx.sass import disassemble

    found = disassemble(image(source, options.target))
    kernels = found.kernels
    if options.kernel is None:
        return found
    if options.kernel not in kernels:
        raise PtxError(f"no kernel {options.kernel}; there are: {', '.join(kernels) or 'none'}")
    return replace(found, kernels={options.kernel: kernels[options.kernel]})


def _print(found: Sass, options: argparse.Namespace) -> None:
    from ptx.sass import report

    regions = {
        name: kernel.loop(options.loop) if options.loop else kernel
        for name, kernel in found.kernels.items()
    }
    print(found.header())
    for name, kernel in found.kernels.items():
        needed = report.needs(found, kernel, options.threads, options.shared)
        print(f"\n{needed}\n\n{report.summary(kernel)}")
        if options.summary:
            continue
        print(f"\n{report.listing(regions[name], options.control is not False)}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {path.stat().st_size} bytes; open it in a browser")


def _one(found: Sass, source: str) -> Region:
    if len(found.kernels) != 1:
        names = ", ".join(found.kernels) or "none"
        raise PtxError(f"{source} has {len(found.kernels)} kernels ({names}): --kernel takes one")
    return found.kernel


def _assert(found: Sass, source: str, claims: list[str]) -> int:
    from termcolor import colored

    from ptx.sass.assertions import verdicts

    kernel = _one(found, source)
    told = [verdict for text in claims for verdict in verdicts(kernel, text)]
    for verdict in told:
        if verdict.holds:
            print(f"{colored('ok', 'green')}  {verdict.claim}")
    for verdict in told:
        if not verdict.holds:
            print(f"error: {verdict.told}", file=sys.stderr)
    return int(not all(verdict.holds for verdict in told))


def _diff(options: argparse.Namespace) -> int:
    from ptx.sass import data, difference, page
    from ptx.sass.report import needs, table

    sides = []
    for source in options.diff:
        found = _read(source, options)
        sides.append((found, _one(found, source)))
    left, right = sides
    if options.json:
        print(json.dumps(data.of_difference(left[1], right[1]), indent=1))
        return 0
    if options.html:
        _write(options.html, page.of_difference(left, right))
        return 0
    for label, source, (found, kernel) in zip(("left ", "right"), options.diff, sides, strict=True):
        needed = needs(found, kernel, options.threads, options.shared)
        print(f"{label}  {source}\n       {found.cubin.target}, sha256 {found.cubin.sha256}")
        print("\n".join(f"       {line}" for line in needed.splitlines()))
    shown = _regions(left[1], right[1], options.loop)
    print(f"\n{table(difference.numbers(*shown))}")
    if not options.summary:
        width = shutil.get_terminal_size((120, 24)).columns
        print(f"\n{difference.text(*shown, width)}")
    return 0


def _regions(left: Region, right: Region, loop: str | None) -> tuple[Region, Region]:
    return (left.loop(loop), right.loop(loop)) if loop else (left, right)
