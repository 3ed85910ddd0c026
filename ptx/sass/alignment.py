"""The longest common subsequence of two sequences, quick where items repeat, as in machine code.

Source: Crochemore, Iliopoulos, Pinzon, Reid, A Fast and Practical Bit-Vector Algorithm for the
Longest Common Subsequence Problem (2001). A row of the table of lengths is one integer, whose bit
j is 0 where the length grows at item j of the other sequence; the rows are kept to walk back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Indices of equal items, rising on both sides, as many as there can be."""
    places: dict[Hashable, int] = {}
    for index, item in enumerate(right):
        places[item] = places.get(item, 0) | 1 << index
    rows, row, mask = [], (1 << len(right)) - 1, (1 << len(right)) - 1
    for item in left:
        grown = row & places.get(item, 0)
        row = (row + grown | row - grown) & mask
        rows.append(row)
    return list(_back(rows, len(right)))[::-1]


def _back(rows: list[int], j: int) -> Iterator[tuple[int, int]]:
    """The pairs, the last one first."""
    i = len(rows)
    while i and j:
        if rows[i - 1] >> j - 1 & 1:
            j -= 1
        elif i > 1 and not rows[i - 2] >> j - 1 & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            yield i, j
