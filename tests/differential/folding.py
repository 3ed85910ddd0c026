"""What ptxas computes itself: instructions on constants, their results read back from SASS.

Each instance gets constants for operands and its results are stored. Where a register that is
stored holds a number by no more than moves of literals, ptxas has done the arithmetic, and the
emulator must agree to the bit. ``python -m tests.differential fold`` counts, by opcode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import ptx
from ptx.devices import Device
from ptx.emu.semantics.rules import Words
from ptx.sass import Instruction, Region
from tests.differential.instances import TARGET, Instance, held
from tests.differential.programs import HEAD, stored
from tests.differential.values import (
    LAYOUTS,
    edges,
    element,
    generator,
    random,
    storage,
    width,
)

VECTORS = 4
"""Of operands, for each instance."""
EACH = 64
"""Kernels in a module."""
SEED = 17


@dataclass(frozen=True)
class Case:
    """One instance as a kernel: it stores the results of every vector of constants."""

    name: str
    instance: Instance

    @cached_property
    def columns(self) -> list[list[int]]:
        """By source the bits of its register in each vector."""
        draw = generator(SEED, self.instance.text)
        found = []
        for type in self.instance.sources:
            column = random(type, VECTORS, draw)
            column[0] = draw.choice(np.array(edges(type), storage(type)))
            found.append(column.tolist() if type == "pred" else stored(column, type).tolist())
        return found

    @cached_property
    def places(self) -> list[list[tuple[int, int]]]:
        """By vector and result: the byte where it lies, and how many bytes."""
        end, found = 0, []
        for _ in range(VECTORS):
            row = []
            for type in self.instance.results:
                size = 1 if type == "pred" else width(held(type)) // 8
                end = -(-end // size) * size
                row.append((end, size))
                end += size
            found.append(row)
        return found

    @property
    def bytes(self) -> int:
        place, size = self.places[-1][-1]
        return place + size

    @property
    def text(self) -> str:
        lines = [f".visible .entry {self.name}(.param .u64 out) {{", ".reg .b64 %out;"]
        lines += ["ld.param.u64 %out, [out];"]
        for vector in range(VECTORS):
            lines += ["{", ".reg .b32 %carry; .reg .b16 %small;", *self._vector(vector), "}"]
        return "\n".join([*lines, "ret; }"])

    def _vector(self, vector: int) -> Iterator[str]:
        instance = self.instance
        for number, (type, column) in enumerate(zip(instance.sources, self.columns, strict=True)):
            yield f".reg .{held(type)} %s{number};"
            if type == "pred":
                yield f"setp.eq.u32 %s{number}, {column[vector]}, 1;"
            elif width(held(type)) == 8:
                yield f"cvt.u8.u16 %s{number}, {column[vector]};"
            else:
                yield f"mov.b{width(held(type))} %s{number}, {column[vector]:#x};"
        names = {f"s{n}": f"%s{n}" for n in range(len(instance.sources))}
        for number, type in enumerate(instance.results):
            yield f".reg .{held(type)} %d{number};"
            names[f"d{number}"] = f"%d{number}"
        yield instance.text.partition(" //")[0].format(**names)
        for number, type in enumerate(instance.results):
            place, size = self.places[vector][number]
            if type == "pred":
                yield f"selp.u16 %small, 1, 0, %d{number}; st.global.b8 [%out+{place}], %small;"
            else:
                yield f"st.global.b{8 * size} [%out+{place}], %d{number};"


def cases(instances: Sequence[Instance]) -> list[Case]:
    return [Case(f"k{number}", instance) for number, instance in enumerate(instances)]


# ---------------------------------------------------------------- machine code


_STORE = re.compile(r"\[R\d+(?:\.64)?(?:\+(0x[0-9a-f]+))?\]$")
_MOVES = ("MOV", "IMAD.MOV.U32", "IMAD.U32", "UMOV", "HFMA2", "HFMA2.MMA")
_LEAVES = ("BRA", "CALL", "RET", "BSSY", "BSYNC", "WARPSYNC", "EXIT", "BRX", "JMP")
_COMPARISON = re.compile(r"U?[IFDHP]?SETP|U?PLOP3|FCHK")
"""They write predicates alone."""
_SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


class Constants:
    """The registers that hold numbers, while straight code is read."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.bytes: dict[int, int] = {}
        """What is stored, by its place."""

    def value(self, operand: str) -> int | None:
        if operand in ("RZ", "URZ"):
            return 0
        return self.known.get(operand)

    def read(self, region: Region) -> dict[int, int]:
        """The bytes that the kernel stores and that are literals in its code."""
        for instruction in region.instructions:
            name = instruction.opcode.partition(".")[0]
            if name in _LEAVES:
                break
            if name == "STG":
                self._store(instruction)
            elif instruction.operands:
                self._write(instruction)
        return self.bytes

    def _write(self, instruction: Instruction) -> None:
        to, *sources = instruction.operands
        if re.match(r"U?P[T\d]", to) and not _COMPARISON.match(instruction.opcode):
            # A predicate beside a register, as LOP3 has them.
            to, *sources = sources
        found = re.fullmatch(r"(U?R)(\d+)", to)
        if not found:
            return
        prefix, number = found[1], int(found[2])
        self.known.pop(to, None)
        if instruction.opcode not in (*_MOVES, "CS2R.32"):
            # It may write a pair.
            self.known.pop(f"{prefix}{number + 1}", None)
        if instruction.predicated:
            return
        if instruction.opcode == "CS2R" and sources == ["SRZ"]:
            self.known[to] = self.known[f"{prefix}{number + 1}"] = 0
        elif instruction.opcode == "CS2R.32" and sources == ["SRZ"]:
            self.known[to] = 0
        elif instruction.opcode in _MOVES:
            value = self._moved(instruction, sources)
            if value is not None:
                self.known[to] = value

    def _moved(self, instruction: Instruction, sources: list[str]) -> int | None:
        literal = instruction.word >> 32 & 0xFFFFFFFF
        if instruction.opcode.startswith("HFMA2"):
            # -0 * 0 and a pair of halves.
            return literal if sources[:2] == ["-RZ", "RZ"] and len(sources) == 4 else None
        if instruction.opcode.startswith("IMAD") and sources[:2] != ["RZ", "RZ"]:
            return None
        source = sources[-1]
        if re.match(r"-?(0x[0-9a-f]+|\d)", source):
            return literal
        return self.value(source)

    def _store(self, instruction: Instruction) -> None:
        address, source = instruction.operands[:2]
        at = _STORE.search(address)
        words = instruction.opcode.split(".")
        size = next((_SIZES[word] for word in words if word in _SIZES), 4)
        if at is None or instruction.predicated:
            return
        for number in range(-(-size // 4)):
            value = self.value(_following(source, number))
            if value is None:
                continue
            for byte in range(min(4, size)):
                place = int(at[1] or "0", 16) + 4 * number + byte
                self.bytes[place] = value >> 8 * byte & 0xFF


def _following(register: str, number: int) -> str:
    return register if register == "RZ" else f"R{int(register[1:]) + number}"


# ---------------------------------------------------------------- comparison


@dataclass(frozen=True)
class Outcome:
    """What became of one result."""

    case: Case
    vector: int
    result: int
    folded: bytes | None
    """What ptxas computed; None where it left that to the machine."""
    ours: bytes

    @property
    def differs(self) -> bool:
        """Whether they are two results; ptxas gives NaN other bits than a card does."""
        if self.folded is None or self.folded == self.ours:
            return False
        form, count = element(self.case.instance.results[self.result])
        if form not in LAYOUTS:
            return True
        size = len(self.ours) // count
        both = (
            (self.folded[at : at + size], self.ours[at : at + size])
            for at in range(0, size * count, size)
        )
        return any(a != b and not (is_nan(a, form) and is_nan(b, form)) for a, b in both)

    def __str__(self) -> str:
        operands = " ".join(f"{column[self.vector]:#x}" for column in self.case.columns)
        folded = (self.folded or b"")[::-1].hex()
        return (
            f"{self.case.instance.text} of {operands}: emulator {self.ours[::-1].hex()}, "
            f"ptxas {folded}"
        )


def outcomes(device: Device, some: Sequence[Case]) -> Iterator[Outcome]:
    """Every result of some cases, by ptxas where it folds and by the emulator."""
    for start in range(0, len(some), EACH):
        part = some[start : start + EACH]
        text = HEAD + "\n".join(case.text for case in part)
        kernels = ptx.disassemble(ptx.assemble(text, TARGET)).kernels
        loaded = device.load(text)
        for case in part:
            folded = Constants().read(kernels[case.name])
            out = device.empty(case.bytes, "u1", poison=True)
            loaded[case.name].launch(1, 1, [out])
            ours = out.numpy()
            for vector, row in enumerate(case.places):
                for result, (place, size) in enumerate(row):
                    bytes_ = [folded.get(place + n) for n in range(size)]
                    whole = None if None in bytes_ else bytes(b for b in bytes_ if b is not None)
                    yield Outcome(case, vector, result, whole, ours[place : place + size].tobytes())


def is_nan(data: bytes, form: str) -> bool:
    layout = LAYOUTS[form]
    size = int.from_bytes(data, "little") & ((1 << (layout.exponent + layout.fraction)) - 1)
    return size > layout.infinity


def kind(op: str) -> str:
    """An opcode with the types that it names."""
    words = Words(op)
    return ".".join((words.opcode, *words.types))
