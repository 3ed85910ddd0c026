"""A copy to rows that tensor copies take: a matrix of any pitch and base becomes one of 16s."""

from __future__ import annotations

from dataclasses import dataclass

from ptx.builder import Kernel
from ptx.ir import Addr, Reg

UNIT = 16
"""Bytes that a thread writes at once."""
THREADS = 256
UNITS = 4
"""Units of a thread, all fetched before the first is written."""
UNITS_PER_CTA = THREADS * UNITS


@dataclass(frozen=True)
class Copy:
    """One matrix; sizes in bytes."""

    source: Reg
    target: Reg
    row_bytes: Reg
    pitch: Reg
    target_pitch: Reg
    units: Reg
    """In a row, the last one perhaps not full."""
    count: Reg
    """Of units in all."""
    end: Reg
    """Where the source ends."""


def pad(element_bytes: int, name: str = "pad") -> Kernel:
    """Copy one or two matrices of elements of 1, 2 or 4 bytes, aligned to their size and no more.

    The first `ctas_0` CTAs copy matrix 0, the others matrix 1: ``ceil(rows * units /
    UNITS_PER_CTA)`` each, of ``THREADS`` threads, where `units` is ``ceil(row_bytes / UNIT)``. The
    last unit of a row is filled up with zeros; what the target's pitch leaves beyond it is not
    written. Nothing outside the source's rows is read.
    """
    fields = {"source": "global.b8", "target": "global.b8@16", "rows": "u32", "row_bytes": "u32",
              "pitch": "u64", "target_pitch": "u64", "units": "u32"}  # fmt: skip
    parameters = {f"{field}_{i}": type for i in range(2) for field, type in fields.items()}
    k = Kernel(name, ctas_0="u32", **parameters)
    k.maxntid(THREADS)
    boundary, *given = k.params()
    ctaid = k.mov.u32(k.ctaid.x)
    second = k.setp.ge.u32(ctaid, boundary)
    chosen = [
        k.op("selp.b64" if type[-3:] == "u64" or "global" in type else "selp.b32", b, a, second)
        for a, b, type in zip(
            given[: len(fields)], given[len(fields) :], fields.values(), strict=True
        )
    ]
    source, target, rows, row_bytes, pitch, target_pitch, units = chosen
    cta = k.selp.u32(ctaid - boundary, ctaid, second)
    last = k.cvt.u64.u32(rows - 1)
    end = k.add.s64(source, k.mad.lo.s64(last, pitch, k.cvt.u64.u32(row_bytes)))
    copy = Copy(source, target, row_bytes, pitch, target_pitch, units, rows * units, end)
    _copy(k, copy, element_bytes, cta)
    k.ret()
    return k


@dataclass(frozen=True)
class Unit:
    """One unit on its way."""

    exists: Reg
    whole: Reg
    """Whether it is fetched by words; else, at the end of a row, by elements."""
    source: Reg
    target: Reg
    left: Reg
    """Bytes from its start to the end of its row."""
    shift: Reg | None
    """Bits by which it lies off the words, where elements are smaller than words."""
    words: tuple[Reg, ...]


def _copy(k: Kernel, copy: Copy, element_bytes: int, cta: Reg) -> None:
    first = k.mad.lo.u32(cta, UNITS_PER_CTA, k.mov.u32(k.tid.x))
    units = [_unit(k, copy, element_bytes, first + i * THREADS) for i in range(UNITS)]
    for unit in units:
        _fetch_words(k, unit)
    for unit in units:
        ragged = k.xor.pred(unit.exists, unit.whole)
        with k.branch(ragged):
            _fetch_elements(k, unit, element_bytes)
    for unit in units:
        words = unit.words
        with k.when(unit.exists):
            k.st.global_.v4.b32(unit.target, words[:4])


def _unit(k: Kernel, copy: Copy, element_bytes: int, index: Reg) -> Unit:
    exists = k.setp.lt.u32(index, copy.count)
    row = k.div.u32(index, copy.units)
    inside = (index - row * copy.units) * UNIT
    line, along = k.cvt.u64.u32(row), k.cvt.u64.u32(inside)
    source = k.add.s64(copy.source, k.mad.lo.s64(line, copy.pitch, along))
    target = k.add.s64(copy.target, k.mad.lo.s64(line, copy.target_pitch, along))
    left = copy.row_bytes - inside
    whole = k.setp.ge.u32(left, UNIT) & exists
    count, shift = UNIT // 4, None
    if element_bytes < 4:
        # The words that hold the unit; the fifth may reach beyond the end of the matrix.
        shift = (k.cvt.u32.u64(source) & 3) << 3
        source = k.and_.b64(source, ~3)
        whole = whole & k.setp.le.u64(k.add.s64(source, UNIT + 4), copy.end)
        count += 1
    words = tuple(k.mov.b32(0) for _ in range(count))
    return Unit(exists, whole, source, target, left, shift, words)


def _fetch_words(k: Kernel, unit: Unit) -> None:
    with k.when(unit.whole):
        for i, word in enumerate(unit.words):
            k.ld.global_.nc.b32(Addr(unit.source, 4 * i), out=word)
    if unit.shift is not None:
        for low, high in zip(unit.words, unit.words[1:], strict=False):
            k.shf.r.wrap.b32(low, high, unit.shift, out=low)


def _fetch_elements(k: Kernel, unit: Unit, element_bytes: int) -> None:
    """What a row's last unit has, one element at a time, and zeros."""
    source = unit.source
    if unit.shift is not None:
        source = k.add.s64(source, k.cvt.u64.u32(unit.shift >> 3))
    for i, word in enumerate(unit.words[:4]):
        k.mov.b32(0, out=word)
        for part in range(0, 4, element_bytes):
            inside = k.setp.gt.u32(unit.left, 4 * i + part)
            element = k.mov.b32(0)
            with k.when(inside):
                load = f"ld.global.nc.{'b' if element_bytes == 4 else 'u'}{8 * element_bytes}"
                k.op(load, Addr(source, 4 * i + part), out=element)
            k.or_.b32(word, element << 8 * part if part else element, out=word)
