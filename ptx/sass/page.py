"""One HTML page of a kernel's machine code, with nothing that must be fetched for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape

from ptx.sass import difference, picture
from ptx.sass.opcodes import group_of
from ptx.sass.region import Region, Sass
from ptx.sass.report import Rows, nearby, needs, tables
from ptx.scheduling import LEGEND

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 1180px;
  padding: 0 1rem; color: #1d2330; background: #fff; }
h1 { font-size: 1.35rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
pre, table { font: 12px/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; }
th, td { padding: 1px 10px 1px 0; text-align: left; white-space: pre; vertical-align: top; }
th { border-bottom: 1px solid #bbb; } .figure { overflow-x: auto; }
.scroll { overflow-x: auto; } .faint { color: #7a8190; } .loop td { background: #f6f2e4; }
.guard { color: #c1121f; font-weight: 600; } .mark td { font-weight: 600; background: #efe6c4; }
.differs td { background: #fdf3d0; } .left td { background: #fbe3e4; }
.right td { background: #e2f4e5; }
.key span { display: inline-block; padding: 0 .5em; margin-right: .4em; color: #fff; }
"""


def of_sass(sass: Sass, threads: int | None = None, shared_bytes: int = 0) -> str:
    """Header, numbers, the picture of each loop and the listing, of every kernel."""
    names = ", ".join(sass.kernels)
    parts = [f"<h1>{escape(names)}</h1>", f"<pre>{escape(sass.header())}</pre>"]
    for kernel in sass.kernels.values():
        told = needs(sass, kernel, threads, shared_bytes)
        parts.append(f"<h2>{escape(kernel.name)}</h2><pre>{escape(told)}</pre>")
        parts += [_table(rows) for rows in tables(kernel)]
        parts += _pictures(kernel, kernel.name)
        parts += [f"<h2>{escape(kernel.name)}, all of it</h2>", *_listing(kernel)]
    return _page(names, parts)


def of_difference(left: tuple[Sass, Region], right: tuple[Sass, Region]) -> str:
    """Both headers, the numbers, the pictures of each loop, and the rows side by side."""
    kernels = left[1], right[1]
    title = f"{kernels[0].name} and {kernels[1].name}"
    parts = [f"<h1>{escape(title)}</h1>"]
    for sass, kernel in (left, right):
        told = f"{sass.header()}\n{needs(sass, kernel)}"
        parts.append(f"<pre>{escape(told)}</pre>")
    parts.append(_table(difference.numbers(*kernels)))
    for side, kernel in zip(("left", "right"), kernels, strict=True):
        parts += _pictures(kernel, f"{side}: {kernel.name}")
    parts.append("<h2>Side by side</h2>")
    rows = [_row(part) for part in difference.compare(*kernels)]
    parts.append(f'<div class="scroll"><table>{"".join(rows)}</table></div>')
    return _page(title, parts)


def _page(title: str, parts: Iterable[str]) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _table(rows: Rows) -> str:
    head, *body = rows
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in body
    )
    return f'<div class="scroll"><table><tr>{cells}</tr>{lines}</table></div><p></p>'


def _pictures(kernel: Region, label: str) -> Iterator[str]:
    if not kernel.loops:
        return
    for loop in kernel.loops:
        yield f"<h2>{escape(label)}, loop {escape(loop.name)}</h2>"
        yield f'<div class="figure">{picture.svg(loop)}</div>'
    groups = dict.fromkeys(
        group_of(one.opcode) for loop in kernel.loops for one in loop.instructions
    )
    keys = "".join(
        f'<span style="background:{picture.FILLS[group]}">{group}</span>'
        for group in picture.FILLS
        if group in groups
    )
    yield f'<p class="key">{keys}</p>'
    yield (
        '<p class="faint">One pass, in clocks by the stalls of the control codes. A red frame: '
        "waits for a register bank. A dashed frame: guarded by a predicate. SB0 to SB5: from the "
        "instruction that will release a scoreboard to the first that waits for it. Point at a bar "
        "to read its instruction.</p>"
    )


def _listing(kernel: Region) -> Iterator[str]:
    depths = Counter(one.address for loop in kernel.loops for one in loop.instructions)
    yield f"<pre class='faint'>{escape(LEGEND)}</pre>"
    yield '<div class="scroll"><table>'
    for one in kernel.instructions:
        for loop in kernel.loops:
            if loop.address == one.address:
                yield f'<tr class="mark"><td colspan="5">loop {escape(loop.name)}</td></tr>'
        depth = depths[one.address]
        guard = f'<span class="guard">{one.guard} </span>' if one.guard else ""
        code = escape(str(one).removeprefix(f"{one.guard} " if one.guard else ""))
        colour = picture.FILLS[group_of(one.opcode)]
        row = '<tr class="loop">' if depth else "<tr>"
        yield (
            f"{row}<td class='faint'>0x{one.address:04x}</td>"
            f"<td class='faint'>{one.control}</td>"
            f'<td style="border-left:4px solid {colour};padding-left:6px">'
            f"{'  ' * depth}{guard}{code}</td>"
            f"<td class='faint'>{escape(nearby(one.place) if one.place else '')}</td>"
            f"<td class='faint'>{escape(one.ptx)}</td></tr>"
        )
    yield "</table></div>"


_CLASS = {
    difference.SAME: "", difference.GUARD: "differs", difference.CHANGED: "differs",
    difference.LEFT: "left", difference.RIGHT: "right",
}  # fmt: skip


def _row(part: difference.Part) -> str:
    title = difference.title(part)
    rows = [f'<tr class="mark"><td colspan="3">{escape(title)}</td></tr>']
    for row in part.rows:
        left, right = (escape(str(one or "")) for one in (row.left, row.right))
        rows.append(
            f'<tr class="{_CLASS[row.mark]}"><td>{left}</td><td>{escape(row.mark)}</td>'
            f"<td>{right}</td></tr>"
        )
    return "".join(rows)
