"""A kernel's machine code as text: what it needs, tables by loop, the listing.

Colour is for a terminal alone: :func:`termcolor.colored` leaves it out where standard output is a
pipe or a file, and where ``NO_COLOR`` is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from os.path import commonprefix

from tabulate import tabulate
from termcolor import colored

from ptx.assembler import KernelInfo
from ptx.errors import Place
from ptx.occupancy import Occupancy, occupancy
from ptx.sass.instruction import Instruction
from ptx.sass.opcodes import BRANCHES, GROUPS, OTHER, group_of
from ptx.sass.region import Region, Sass
from ptx.sass.statistics import Statistics, statistics

COLOURS = {
    "FP32": "green", "FP64": "green", "FP16": "green", "tensor": "green", "global": "cyan",
    "bulk copy": "cyan", "shared": "blue", "local": "red", "branch": "yellow",
    "synchronise": "magenta",
}  # fmt: skip
"""Of the opcodes of a group; the others keep the terminal's own."""

USUAL_THREADS = (128, 256, 512, 1024)
"""CTAs whose occupancy is told where neither kernel nor caller says how many threads it has."""

# ---------------------------------------------------------------- what a kernel needs


_DYNAMIC = re.compile(r"\.extern\s+\.shared\b")


def needs(sass: Sass, kernel: Region, threads: int | None = None, shared_bytes: int = 0) -> str:
    """Registers, spills, stack, shared memory and occupancy of one of its kernels.

    `threads` a CTA and `shared_bytes`, of dynamic shared memory, are of the launch; without
    `threads`, it is what the kernel declares.
    """
    info = kernel.info
    assert info, "a kernel, not a loop"
    spills = "spills unknown (only the log of ptxas tells them)"
    if info.spill_stores is not None:
        spills = f"spills {info.spill_stores} bytes stored, {info.spill_loads} loaded"
    dynamic = f" and {shared_bytes} dynamic" if shared_bytes else ""
    if not shared_bytes and _DYNAMIC.search(sass.cubin.text):
        dynamic = ", without what a launch adds (--shared BYTES)"
    head = (
        f"{kernel.name}: {info.registers} registers, {spills}, stack {info.local_bytes} bytes, "
        f"shared {info.shared_bytes} bytes{dynamic}"
    )
    return "\n".join([head, *_occupancy(info, sass.cubin.target, threads, shared_bytes)])


def _occupancy(
    info: KernelInfo, target: str, threads: int | None, shared_bytes: int
) -> Iterator[str]:
    known = threads or info.threads
    for each in (known,) if known else USUAL_THREADS:
        found = occupancy_of(info, target, each, shared_bytes)
        if found is None:
            yield f"occupancy on {target}: its limits are not known here"
            return
        yield f"occupancy on {target}, {found}"


def occupancy_of(
    info: KernelInfo, target: str, threads: int, shared_bytes: int = 0
) -> Occupancy | None:
    """Of a kernel, with so many bytes of dynamic shared memory."""
    return occupancy(
        target,
        threads=threads,
        registers=info.registers,
        shared_bytes=info.shared_bytes + shared_bytes,
        barriers=info.barriers or 0,
    )


# ---------------------------------------------------------------- tables


Rows = list[tuple[str, ...]]
Cell = Callable[[Statistics], str]


def _widths(*names: str) -> Cell:
    """Accesses by width, ``"LDS 16x128 2x32"``."""

    def cell(found: Statistics) -> str:
        return ", ".join(
            f"{name} " + " ".join(f"{count}x{bits}" for bits, count in widths.items())
            for name, widths in found.accesses.items()
            if name in names
        )

    return cell


def _conflicts(found: Statistics) -> str:
    banks = found.banks
    return f"{banks.conflicts} ({banks.ffma_share:.0%})" if banks.ffma else ""


COLUMNS: dict[str, Cell] = {
    "instr": lambda found: str(found.instructions),
    "@P": lambda found: str(found.predicated),
    "branches": lambda found: str(found.branches),
    "BSSY/BSYNC": lambda found: f"{found.bssy}/{found.bsync}" if found.bssy + found.bsync else "",
    "global by bits": _widths("LDG", "STG", "LDGSTS", "LD", "ST"),
    "shared by bits": _widths("LDS", "STS", "LDSM", "STSM"),
    "local by bits": _widths("LDL", "STL"),
    "FFMA": lambda found: (
        f"{found.banks.ffma} ({found.ffma_share:.0%})" if found.banks.ffma else ""
    ),
    "tensor": lambda found: f"{found.tensor} ({found.tensor_share:.0%})" if found.tensor else "",
    "conflicts": _conflicts,
    "stalls": lambda found: str(found.stalls),
}
"""The table by region; columns that are empty in every row are left out."""

NOTES = {
    "@P": "@P          instructions that a predicate guards",
    "by bits": "by bits     24x128: 24 accesses of 128 bits a thread",
    "FFMA": "FFMA        how many, and their share of the instructions",
    "tensor": "tensor      products on tensor cores, and their share of the instructions",
    "conflicts": "conflicts   clocks that FFMAs wait for register banks in one pass, and the share"
    "\n            of its clocks that start an FFMA (a model: see ptx.sass.banks)",
    "stalls": "stalls      clocks of one pass by the control codes, the least that it takes",
}
"""What the heads of the table mean."""

MOST = 8
"""Opcodes that the line of a region's most frequent ones names."""


def tables(region: Region) -> list[Rows]:
    """Numbers of the region and of each loop inside, each table with its head first: sizes and
    accesses, instructions by what they are for."""
    regions = (region, *region.loops)
    found = [statistics(one) for one in regions]
    names = ["  " * (one.depth - region.depth) + _label(one) for one in regions]
    sizes = {head: [cell(one) for one in found] for head, cell in COLUMNS.items()}
    sizes = {head: cells for head, cells in sizes.items() if any(cells)}
    present = {group for one in found for group in one.groups}
    mix = {
        group: [str(one.groups.get(group, "")) for one in found]
        for group in (*GROUPS, OTHER)
        if group in present
    }
    return [_rows(names, columns) for columns in (sizes, mix)]


def _rows(names: list[str], columns: dict[str, list[str]]) -> Rows:
    return [("", *columns), *zip(names, *columns.values(), strict=True)]


def summary(region: Region) -> str:
    """The tables as text, what their heads mean, and the most frequent opcodes."""
    sizes, mix = tables(region)
    lines = [table(sizes), "", table(mix), ""]
    for one in (region, *region.loops):
        most = ", ".join(f"{count} {name}" for name, count in one.opcodes.most_common(MOST))
        lines.append(f"{'  ' * (one.depth - region.depth)}{_label(one)}: {most}")
    lines.append("")
    lines += [note for head, note in NOTES.items() if head in " ".join(sizes[0])]
    if never := statistics(region).never:
        lines.append(f"{never} instructions with the guard @!PT never run, and are not counted")
    return "\n".join(lines)


def _label(region: Region) -> str:
    return f"loop {region.name}" if region.depth else region.name


def table(rows: Rows) -> str:
    """Text of a table, its head in bold; words stand left, numbers right."""
    heads, *body = rows
    left = [not head or "by bits" in head for head in heads]
    align = ["left" if one else "right" for one in left]
    text = tabulate(
        body, heads, "plain", colalign=align, disable_numparse=True, preserve_whitespace=True
    )
    head, *others = text.splitlines()
    return "\n".join([colored(head.rstrip(), attrs=["bold"]), *(one.rstrip() for one in others)])


# ---------------------------------------------------------------- the listing


def listing(region: Region, control: bool = False) -> str:
    """Every instruction with its PTX and its place; loops are opened and closed by name.

    ptxas may put a part of a loop behind other code: then the loop is closed and opened again.
    """
    inside: dict[int, list[Region]] = {}
    for loop in region.loops:  # outer loops come first
        for one in loop.instructions:
            inside.setdefault(one.address, []).append(loop)
    rows: list[str] = []
    here: list[Region] = []
    at = -1
    for one in region.instructions:
        now = inside.get(one.address, [])
        kept = len(commonprefix([[loop.address for loop in side] for side in (here, now)]))
        rows += [_closed(loop, at) for loop in reversed(here[kept:])]
        rows += [_opened(loop, one.address) for loop in now[kept:]]
        rows.append(line_of(one, len(now) + region.depth, control))
        here, at = now, one.address
    rows += [_closed(loop, at) for loop in reversed(here)]
    return "\n".join(rows)


def _opened(loop: Region, address: int) -> str:
    return _mark(loop, ":" if address == loop.address else ", more of it:")


def _closed(loop: Region, address: int) -> str:
    return _mark(loop, " ends" if address == loop.instructions[-1].address else " goes on below")


def _mark(loop: Region, what: str) -> str:
    return colored(f"{'  ' * loop.depth}{_label(loop)}{what}", attrs=["bold"])


CODE_COLUMNS = 60


def line_of(one: Instruction, depth: int = 0, control: bool = False) -> str:
    """One line of a listing: address, control code, instruction, place and PTX."""
    bits = f"{one.control}  " if control else ""
    code = f"{'  ' * depth}{one}"
    where = f"{nearby(one.place)}  " if one.place else ""
    comment = f"// {where}{one.ptx}".rstrip(" /")
    pad = " " * max(0, CODE_COLUMNS - len(code)) if comment else ""
    shown = f"{'  ' * depth}{painted(one)}"
    faint = colored(comment, attrs=["dark"]) if comment else ""
    return f"{one.address:#06x}  {bits}{shown}{pad}  {faint}".rstrip()


def nearby(place: Place) -> str:
    """The place, its file without the working directory that it lies in."""
    return str(place._replace(file=place.file.removeprefix(os.getcwd() + os.sep)))


def painted(one: Instruction) -> str:
    """The instruction, on a terminal in its group's colour; its guard stands out."""
    guard, text = (f"{one.guard} " if one.guard else ""), str(one)
    rest = text.removeprefix(guard)
    colour = "yellow" if one.base in BRANCHES else COLOURS.get(group_of(one.opcode))
    return (
        colored(guard, "red", attrs=["bold"]) + colored(rest, colour)
        if guard
        else colored(rest, colour)
    )
