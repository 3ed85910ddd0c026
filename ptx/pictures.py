"""Maps of fragments as text for a terminal, and as SVG for a lecture."""

from __future__ import annotations

import re

from ptx import layouts
from ptx.fragments import USES, exists
from ptx.layouts import Fragment

COLOURS = (
    "#f4c7c3", "#fce8b2", "#b7e1cd", "#c6dafc", "#e1bee7", "#ffccbc", "#b2dfdb", "#d7ccc8",
)  # fmt: skip
"""A group of four lanes has one: lanes 4g to 4g + 3."""
CELL_WIDTH, CELL_HEIGHT, MARGIN = 44, 18, 30
LANES = 32


def named(
    shape: str,
    type: str,
    operand: str,
    family: str = "",
    layout: str = "",
    sparse: bool = False,
    selector: int = 0,
) -> Fragment:
    """The fragment of ``("m16n8k16", "f16", "a")``; operands are a, b, c and d (as c).

    `family` is ``mma`` or ``wmma``; without it, the first of them that has the shape. ``m64nNkK``
    is wgmma's, ``m8n8`` the matrix of ldmatrix (`operand` ``"trans"`` for the transposed one).
    `layout` is for the m8n8k4 of 16 bits, whose A and B have one each for rows and columns.
    `sparse` is for mma.sp, whose operand ``"meta"`` has a `selector`. Raises ValueError for what
    there is not.
    """
    operand = "c" if operand == "d" else operand
    m, n, k = layouts.shape_of(shape)
    if selector and operand != "meta":
        raise ValueError(f"selector is {selector}; it is of the operand meta alone")
    if layout and (shape != "m8n8k4" or type == "f64" or operand not in ("a", "b")):
        raise ValueError(f"layout is {layout!r}; it is of A and B of m8n8k4 in 16 bits alone")
    if family and (m == 64 or (m, n, k) == (8, 8, 0)):
        raise ValueError(f"{family} has no {shape}")
    if family == "wmma" and (operand == "meta" or sparse):
        raise ValueError("wmma has no sparse operands")
    if (m, n, k) == (8, 8, 0):
        return layouts.ldmatrix_fragment(operand == "trans")
    if type not in layouts.ELEMENT_BITS:
        raise ValueError(f"{type!r} is no type; expected {', '.join(layouts.ELEMENT_BITS)}")
    bits = layouts.ELEMENT_BITS[type]
    if operand == "meta" or sparse:
        return _sparse(shape, type, operand, bits, selector)
    if operand not in ("a", "b", "c"):
        raise ValueError(f"operand is {operand!r}; expected a, b, c, d or meta")
    if m == 64:
        if operand == "b":
            raise ValueError("wgmma reads B from shared memory; it has no fragment")
        return layouts.wgmma_accumulator(n, bits) if operand == "c" else layouts.wgmma_a(bits)
    use = next(use for use, letter in USES.items() if letter == operand)
    tried = (family,) if family else ("mma", "wmma")
    found = next((one for one in tried if exists(one, use, shape, type)), "")
    if not found:
        lacks = f"{family} has no" if family else "mma and wmma have no"
        raise ValueError(f"{lacks} {use} of .{type} in {shape}")
    if found == "wmma":
        return layouts.wmma_fragment(shape, operand, type)
    if shape == "m8n8k4" and bits < 64:
        natural = "col" if operand == "b" else "row"
        return layouts.mma_m8n8k4_fragment(operand, layout or natural, bits)
    return layouts.mma_fragment(shape, operand, bits)


def _sparse(shape: str, type: str, operand: str, bits: int, selector: int) -> Fragment:
    use = {"a": "matrix_a", "meta": "matrix_a", "b": "matrix_b", "c": "accumulator"}.get(operand)
    if use is None:
        raise ValueError(f"operand is {operand!r}; expected a, b, c, d or meta")
    if not exists("mma", use, shape, type, sparse=True):
        raise ValueError(f"mma.sp has no {use} of .{type} in {shape}")
    if operand == "meta":
        return layouts.sparse_metadata(shape, bits, selector)
    if operand == "a":
        return layouts.mma_sparse_fragment(shape, bits)
    return layouts.mma_fragment(shape, operand, bits)


def text(fragment: Fragment, width: int = 100) -> str:
    """The matrix, a cell for each element; where they are too many, for each run of neighbours
    that a lane holds in order, along the rows for `width` and down the columns for length."""
    wide = fragment.columns * 7 + 5 > width
    across = _run(fragment) if wide else 1
    down = _run(_transposed(fragment)) if fragment.rows > 2 * LANES and across == 1 else 1
    rows, columns = range(0, fragment.rows, down), range(0, fragment.columns, across)
    cells = [[_label(fragment, r, c, down, across) for c in columns] for r in rows]
    heads = [f"{c}.." if across > 1 else f"{c}" for c in columns]
    each = max(len(one) for one in (*heads, *(one for row in cells for one in row)))
    lines = [f"{fragment.name}: {fragment.rows} x {fragment.columns}, {_held(fragment)}"]
    lines.append(" " * 6 + " ".join(head.rjust(each) for head in heads))
    for number, row in zip(rows, cells, strict=True):
        name = f"{number}.." if down > 1 else f"{number}"
        lines.append(f"{name:>5} " + " ".join(one.rjust(each) for one in row))
    return "\n".join(line.rstrip() for line in lines)


def _held(fragment: Fragment) -> str:
    copies = len(fragment.holders[0, 0])
    several = f", each held {copies} times" if copies > 1 else ""
    elements = _counted(fragment.elements, "element")
    return (
        f"{elements} in {_counted(fragment.registers, 'register')} of a lane{several}; "
        "T lane : element"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _transposed(fragment: Fragment) -> Fragment:
    places = tuple(tuple((c, r) for r, c in held) for held in fragment.places)
    return Fragment(fragment.name, fragment.columns, fragment.rows, fragment.bits, places)


def _run(fragment: Fragment) -> int:
    """Neighbours along a row that a lane holds in order, everywhere."""
    run = 1
    while run < fragment.columns and all(
        fragment.where(row, column + step) == _after(fragment, row, column, step)
        for row in range(fragment.rows)
        for column in range(0, fragment.columns, 2 * run)
        for step in range(2 * run)
    ):
        run *= 2
    return run


def _after(fragment: Fragment, row: int, column: int, step: int) -> tuple[int, int]:
    lane, element = fragment.where(row, column)
    return lane, element + step


def _label(fragment: Fragment, row: int, column: int, down: int, across: int) -> str:
    """``T5:2``: lane 5 holds it as its element 2, or ``T5:2-3``; the first holder of several."""
    lane, element = fragment.where(row, column)
    last = fragment.where(row + down - 1, column + across - 1)[1]
    return f"T{lane}:{element}" if last == element else f"T{lane}:{element}-{last}"


def svg(fragment: Fragment) -> str:
    """The same as a picture: a colour for each group of four lanes, and one cell for the
    neighbours, along or down, that a lane holds in order."""
    across = _run(fragment)
    down = _run(_transposed(fragment)) if across == 1 else 1
    wide = CELL_WIDTH if across == down == 1 else CELL_WIDTH * 3 // 2
    columns, rows = fragment.columns // across, fragment.rows // down
    width, height = MARGIN + columns * wide + 4, 2 * MARGIN + rows * CELL_HEIGHT + 4
    left, top = MARGIN + wide // 2, 2 * MARGIN
    heads = "".join(f'<tspan x="{left + c * wide}">{c * across}</tspan>' for c in range(columns))
    fills, labels = [], [f'<text y="{top - 6}">{heads}</text>']
    for row in range(rows):
        y = top + row * CELL_HEIGHT
        groups = [fragment.where(row * down, c * across)[0] // 4 for c in range(columns)]
        names = [f'<tspan x="{MARGIN // 2}">{row * down}</tspan>']
        for column, group in enumerate(groups):
            label = _label(fragment, row * down, column * across, down, across)
            names.append(f'<tspan x="{left + column * wide}">{label}</tspan>')
            if column and groups[column - 1] == group:
                continue
            same = next((i for i, g in enumerate(groups[column:]) if g != group), columns - column)
            fills.append(
                f'<path fill="{COLOURS[group % len(COLOURS)]}" d="M{MARGIN + column * wide} {y}'
                f'h{same * wide}v{CELL_HEIGHT}h-{same * wide}z"/>'
            )
        labels.append(f'<text y="{y + 13}">{"".join(names)}</text>')
    grid = "".join(f"M{MARGIN} {top + r * CELL_HEIGHT}h{columns * wide}" for r in range(rows + 1))
    grid += "".join(f"M{MARGIN + c * wide} {top}v{rows * CELL_HEIGHT}" for c in range(columns + 1))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="monospace" font-size="10" text-anchor="middle">'
    )
    title = f'<text x="{MARGIN}" y="14" font-size="12" text-anchor="start">{fragment.name}</text>'
    lines = f'<path d="{grid}" stroke="#888" fill="none"/>'
    return "\n".join([opening, title, *fills, lines, *labels, "</svg>"]) + "\n"


def file_name(fragment: Fragment) -> str:
    """A name for a file of its picture, without an ending."""
    return re.sub(r"[^a-z0-9]+", "-", fragment.name.lower()).strip("-")
