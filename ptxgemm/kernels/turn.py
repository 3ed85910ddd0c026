"""A transposing copy: lines along M or N become padded lines along K, as wgmma reads all but 16-bit
elements.

A CTA turns a tile of 128 lines of the target by 128 bytes. A thread fetches 4 bytes from each of
the lines that make 16 bytes of K, transposes them in registers, and puts a unit of 16 bytes into
shared memory for each of its elements along M or N; then units leave in the order of the target's
lines. Units are placed so that neither way has bank conflicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptx.builder import Kernel
from ptx.ir import Addr, Reg

THREADS = 256
EXTENT = 128
"""Lines of the target in a tile."""
LINE_BYTES = 128
"""What a tile has of each; the target's pitch is a multiple of it."""
UNIT = 16
WORD = 4
LINE_UNITS = LINE_BYTES // UNIT


@dataclass(frozen=True)
class Source:
    """What is turned: `lines` of `length` elements, `pitch` bytes apart."""

    element_bytes: int
    at: Reg
    lines: Reg
    length: Reg
    pitch: Reg
    last_word: Reg
    """The address of the first word that is not whole: of the source's end, rounded down."""
    rest: Reg | None
    """What that word has of the source, where elements are smaller than words."""

    @property
    def in_word(self) -> int:
        return WORD // self.element_bytes

    @property
    def in_unit(self) -> int:
        return UNIT // self.element_bytes


def grid(lines: int, length: int, element_bytes: int) -> int:
    """CTAs of a launch."""
    return -(-length // EXTENT) * -(-lines * element_bytes // LINE_BYTES)


def turn(element_bytes: int, name: str = "turn") -> Kernel:
    """Transpose a matrix of elements of 1, 2 or 4 bytes, aligned to their size and no more.

    Target line i is element i of every source line, filled up with zeros to its pitch, a multiple
    of ``LINE_BYTES`` with no whole one left over. Nothing outside the source's lines is used, and
    outside the words of 4 bytes that they touch nothing is read; nothing is at or after its end.
    Launch :func:`grid` CTAs of ``THREADS`` threads.
    """
    k = Kernel(
        name, source="global.b8", target="global.b8@16", lines="u32", length="u32", pitch="u64",
        target_pitch="u64",
    )  # fmt: skip
    k.maxntid(THREADS)
    at, target, lines, length, pitch, target_pitch = k.params()
    tile = k.mov.u32(k.shared("tile", "b8", EXTENT * LINE_BYTES, align=LINE_BYTES))
    thread, cta = k.mov.u32(k.tid.x), k.mov.u32(k.ctaid.x)
    across = k.div.u32(length + (EXTENT - 1), EXTENT)
    deep = k.div.u32(cta, across)
    first = (cta - deep * across) * EXTENT
    source = _source(k, element_bytes, at, lines, length, pitch)

    words = EXTENT // source.in_word
    each = THREADS // words  # units of K that are fetched together
    word = thread & (words - 1)
    for number in range(element_bytes):
        unit = (thread >> words.bit_length() - 1) + number * each
        line = k.mad.lo.u32(deep, LINE_BYTES // element_bytes, unit * source.in_unit)
        fetched = _fetch(k, source, line, k.mad.lo.u32(word, source.in_word, first))
        row = word * source.in_word
        slot = k.mad.lo.u32(row, LINE_BYTES, tile) + ((unit ^ (word & 7)) << 4)
        for index, held in enumerate(_transposed(k, element_bytes, fetched)):
            k.st.shared.v4.b32(Addr(slot, index * LINE_BYTES), held)
    k.bar.sync(0)
    for number in range(EXTENT * LINE_UNITS // THREADS):
        index = thread + number * THREADS
        row, unit = index >> 3, index & 7
        word = row >> source.in_word.bit_length() - 1
        held = k.reg("b32", 4)
        k.ld.shared.v4.b32(
            k.mad.lo.u32(row, LINE_BYTES, tile) + ((unit ^ (word & 7)) << 4), out=held
        )
        own = first + row
        inside = k.setp.lt.u32(own, length)
        along = k.cvt.u64.u32(k.mad.lo.u32(deep, LINE_BYTES, unit * UNIT))
        to = k.add.s64(target, k.mad.lo.s64(k.cvt.u64.u32(own), target_pitch, along))
        with k.when(inside):
            k.st.global_.v4.b32(to, held)
    k.ret()
    return k


def _source(k: Kernel, element_bytes: int, at: Reg, lines: Reg, length: Reg, pitch: Reg) -> Source:
    last = k.mad.lo.s64(k.cvt.u64.u32(lines - 1), pitch, k.mul.wide.u32(length, element_bytes))
    end = k.add.s64(at, last)
    last_word, rest = k.and_.b64(end, -WORD), None
    if element_bytes < WORD:
        rest = k.mov.b32(0)
        for offset in range(0, WORD - 1, element_bytes):
            element = k.mov.b32(0)
            inside = k.setp.lt.u64(k.add.s64(last_word, offset), end)
            # A source smaller than its word begins in the middle of it.
            inside = inside & k.setp.ge.u64(k.add.s64(last_word, offset), at)
            with k.when(inside):
                k.op(f"ld.global.nc.u{8 * element_bytes}", Addr(last_word, offset), out=element)
            k.or_.b32(rest, element << 8 * offset if offset else element, out=rest)
    return Source(element_bytes, at, lines, length, pitch, last_word, rest)


def _fetch(k: Kernel, source: Source, line: Reg, element: Reg) -> list[Reg]:
    """From each of a unit's lines the word at `element`; zeros where there is none."""
    along = k.mul.wide.u32(element, source.element_bytes)
    at = k.add.s64(source.at, k.mad.lo.s64(k.cvt.u64.u32(line), source.pitch, along))
    exists = k.setp.lt.u32(element, source.length)
    found = []
    for number in range(source.in_unit):
        inside = k.setp.lt.u32(line + number if number else line, source.lines) & exists
        found.append(_word(k, source, at, inside))
        if number + 1 < source.in_unit:
            at = k.add.s64(at, source.pitch)
    if source.rest is None:
        return [low for low, _, _ in found]
    return [k.shf.r.wrap.b32(low, high, shift) for low, high, shift in found]


def _word(k: Kernel, source: Source, at: Reg, inside: Reg) -> tuple[Reg, Any, Any]:
    """4 bytes from `at` on: two words, and the bits by which they are off."""
    if source.rest is None:
        word = k.mov.b32(0)
        with k.when(inside):
            k.ld.global_.nc.b32(at, out=word)
        return word, None, None
    base, shift = k.and_.b64(at, -WORD), k.cvt.u32.u64(at) << 3
    words = []
    for offset in (0, WORD):
        place = k.add.s64(base, offset) if offset else base
        whole = inside & k.setp.lt.u64(place, source.last_word)
        # The word at the end was put together once.
        at_end = inside & k.setp.eq.u64(place, source.last_word)
        word = k.selp.b32(source.rest, 0, at_end)
        with k.when(whole):
            k.ld.global_.nc.b32(place, out=word)
        words.append(word)
    return words[0], words[1], shift


def _transposed(k: Kernel, element_bytes: int, words: list[Reg]) -> list[list[Reg]]:
    """For each element of a word, the unit that it makes with those of the other words."""
    if element_bytes == 4:
        return [words]
    if element_bytes == 2:
        pairs = list(zip(words[::2], words[1::2], strict=True))
        return [[k.prmt.b32(a, b, choice) for a, b in pairs] for choice in (0x5410, 0x7632)]
    lower, upper = [], []
    for a, b in zip(words[::2], words[1::2], strict=True):
        lower.append(k.prmt.b32(a, b, 0x5140))  # the first two elements of both words
        upper.append(k.prmt.b32(a, b, 0x7362))
    return [row for halves in (lower, upper) for row in _transposed(k, 2, halves)]
