"""One kernel for each instance of a row: random operands, weighted to edges, in; results out.

Thread i of a kernel takes element i of each source's array and stores element i of each result. The
same kernel runs on the emulator and on a GPU.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptx import types
from ptx.emu import Memory, Unmodelled, launch
from ptx.emu.semantics import UNMODELLED
from ptx.emu.semantics.rules import RULES
from ptx.isa import FORMS, Slot, Variant
from ptx.targets import meets
from ptx.text import parse
from tests.isa.samples import instances

Bits = NDArray[Any]
TARGET = "sm_90a"
_MANTISSA = {"f64": 52, "f32": 23, "tf32": 23, "f16": 10, "bf16": 7}


@dataclass(frozen=True)
class Case:
    """A kernel with the arrays that it reads and the widths of what it writes."""

    name: str
    op: str
    body: str
    """Lines of PTX; ``%i`` is the thread, ``[pN]`` the address of array N."""
    sources: tuple[Bits, ...]
    results: tuple[int, ...]
    """Bytes of each element."""
    count: int

    def entry(self) -> str:
        """The kernel as PTX."""
        params = ", ".join(
            f".param .u64 p{n}" for n in range(len(self.sources) + len(self.results))
        )
        return (
            f".visible .entry {self.name}({params}) {{\n"
            ".reg .b64 %at; .reg .b32 %i, %j; .reg .b16 %small; .reg .pred %out;\n"
            "mov.u32 %i, %ctaid.x;\nmov.u32 %j, %ntid.x;\nmul.lo.u32 %i, %i, %j;\n"
            f"mov.u32 %j, %tid.x;\nadd.u32 %i, %i, %j;\n{self.body}ret;\n}}\n"
        )

    def emulate(self) -> list[Bits]:
        """The results on the emulator, as unsigned integers."""
        memory = Memory()
        addresses = []
        for source in self.sources:
            addresses.append(memory.allocate(source.nbytes))
            memory.write(addresses[-1], source)
        outs = [memory.allocate(self.count * size) for size in self.results]
        block = min(256, self.count)
        launch(
            self.name,
            parse(header() + self.entry()),
            (self.count // block, 1, 1),
            (block, 1, 1),
            np.array(addresses + outs, np.uint64).tobytes(),
            memory=memory,
        )
        return [
            memory.read(address, self.count * size).view(f"u{size}" if size <= 8 else f"V{size}")
            for address, size in zip(outs, self.results, strict=True)
        ]


def header() -> str:
    return f".version 9.0\n.target {TARGET}\n.address_size 64\n"


def edges(type: str) -> list[int]:
    """Bit patterns at which things change."""
    width = types.bits(type)
    base = type.removesuffix("x2")
    if base in _MANTISSA:
        mantissa = _MANTISSA[base]
        element = 32 if base == "tf32" else types.bits(base)
        infinity = ((1 << (element - 1 - mantissa)) - 1) << mantissa
        one = ((1 << (element - 2 - mantissa)) - 1) << mantissa
        found = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, one - 1, one, one + 1]
        found += [one + (1 << mantissa), infinity - 1, infinity, infinity + 1, infinity | 3]
        found += [infinity | 1 << (mantissa - 1), one + (1 << (mantissa - 1))]
        found += [one + (n << mantissa) for n in (4, 7, 8, 15)]
        found += [p | 1 << (element - 1) for p in found]
        if type.endswith("x2"):
            found += [p | found[n - 3] << element for n, p in enumerate(found)]
        return found
    found = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256]
    return [n & ((1 << width) - 1) for n in found + [-n for n in found]] + [
        1 << (width - 1),
        (1 << (width - 1)) - 1,
        (1 << (width - 1)) + 1,
    ]


def operands(type: str, count: int, rng: np.random.Generator) -> Bits:
    """Random elements, a third of them edges and a third of middling size."""
    if type == "pred":
        return rng.integers(0, 2, count, dtype=np.uint8)
    width = max(8, types.bits(type))
    words = max(1, width // 64)
    raw = rng.integers(0, 1 << 63, (count, words), dtype=np.uint64) << np.uint64(1)
    raw ^= rng.integers(0, 2, (count, words), dtype=np.uint64)
    if width == 128:
        return raw.view("V16").reshape(count)
    value = raw[:, 0] >> np.uint64(64 - width)
    special = np.array(edges(type), np.uint64)[rng.integers(0, len(edges(type)), count)]
    base = type.removesuffix("x2")
    if base in _MANTISSA:
        mantissa = _MANTISSA[base]
        element = 32 if base == "tf32" else types.bits(base)
        one = ((1 << (element - 2 - mantissa)) - 1) << mantissa
        middling = (value & np.uint64((1 << mantissa) - 1)) + np.uint64(one)
        middling += rng.integers(0, 5, count, dtype=np.uint64) << np.uint64(mantissa)
        middling |= rng.integers(0, 2, count, dtype=np.uint64) << np.uint64(element - 1)
        if type.endswith("x2"):
            middling |= np.roll(middling, 1) << np.uint64(element)
    else:
        middling = value >> rng.integers(0, width, count, dtype=np.uint64)
    chosen = np.choose(rng.integers(0, 3, count), [value, special, middling])
    return chosen.astype(f"u{width // 8}")


_TENSOR = {
    "f16": ("f2", 1.0),
    "bf16": ("bf16", 1.0),
    "tf32": ("f4", 1.0),
    "f32": ("f4", 1.0),
    "f64": ("f8", 1.0),
}
_MODES = ("near", "wide", "edges", "cancelling")


def tensor_operands(type: str, shape: tuple[int, int], mode: str, rng: Any) -> Bits:
    """Elements of a matrix operand as bits: of like size, of all sizes, edges, or large ones
    that cancel.
    """
    import ml_dtypes

    kinds: dict[str, Any] = {
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "tf32": np.float32,
        "f32": np.float32,
        "f64": np.float64,
        "e4m3": ml_dtypes.float8_e4m3fn,
        "e5m2": ml_dtypes.float8_e5m2,
    }
    width = types.bits({"e4m3": "b8", "e5m2": "b8"}.get(type, type))
    if type not in kinds or (mode == "edges" and rng.integers(0, 2)):
        return rng.integers(0, 1 << min(width, 32), shape).astype(f"u{width // 8}")
    reach = {"f16": 12, "e4m3": 6, "e5m2": 13}.get(type, 40)
    value = rng.standard_normal(shape)
    if mode == "wide":
        value = np.ldexp(value, rng.integers(-reach, reach + 1, shape))
    elif mode == "cancelling":
        value = np.where(rng.integers(0, 2, shape), value, np.sign(value) * 2.0 ** (reach // 2))
    elif mode == "edges":
        value = np.where(rng.integers(0, 3, shape) == 0, 0.0, value)
    return value.astype(kinds[type]).view(f"u{width // 8}")


class _Writer:
    """The text of one kernel while it is made."""

    def __init__(self, variant: Variant, count: int) -> None:
        self.variant = variant
        self.count = count
        self.rng = np.random.default_rng(zlib.crc32(variant.op.encode()))
        self.sources: list[Bits] = []
        self.before: list[str] = []
        self.written: list[tuple[str, str]] = []
        self.registers = 0

    def register(self, type: str, written: bool, read: bool) -> str:
        name = f"%x{self.registers}"
        self.registers += 1
        held = types.register_type(type)
        if types.bits(type) == 8:
            # Only mov wants registers of 8 bits.
            held = "b8" if self.variant.opcode == "mov" else "b16"
        self.before.append(f".reg .{held} {name};")
        if read:
            values = operands(type, self.count, self.rng)
            self.before += _fetch(name, type, len(self.sources))
            self.sources.append(values)
        if written:
            self.written.append((name, type))
        return name

    def element(self, slot: Slot) -> str:
        if slot.kind == "imm" or (slot.literals and slot.kind == "reg" and not slot.type):
            assert slot.literals is not None
            some = list(slot.literals[:4096])
            return str(some[int(self.rng.integers(0, len(some)))])
        if slot.kind != "reg" or (slot.selectors and "" not in slot.selectors):
            raise Unmodelled(f"{self.variant.op}: operand {slot} is made by no case")
        written, read = slot.access != "r", slot.access != "w"
        if slot.count is not None:
            parts = [self.register(slot.type, written, read) for _ in range(slot.count)]
            return "{" + ", ".join(parts) + "}"
        first = self.register(slot.type, written, read)
        if slot.second:
            kind = "pred" if self.variant.opcode in ("setp", "lop3", "shfl", "match") else slot.type
            return f"{first}|{self.register(kind, written, read)}"
        if slot.negatable and self.rng.integers(0, 2):
            return f"!{first}"
        return first

    def case(self, name: str) -> Case:
        line = ", ".join(self.element(slot) for slot in self.variant.slots)
        lines = [*self.before, f"{self.variant.op} {line};"]
        results = []
        for number, (register, type) in enumerate(self.written):
            lines += _put(register, type, len(self.sources) + number)
            results.append(max(1, types.bits(type) // 8))
        return Case(
            name,
            self.variant.op,
            "\n".join(lines) + "\n",
            tuple(self.sources),
            tuple(results),
            self.count,
        )


def _address(parameter: int, size: int) -> list[str]:
    return [f"ld.param.u64 %at, [p{parameter}];", f"mad.wide.u32 %at, %i, {size}, %at;"]


def _fetch(name: str, type: str, parameter: int) -> list[str]:
    size = max(1, types.bits(type) // 8)
    lines = _address(parameter, size)
    if type == "pred":
        return [*lines, "ld.global.u8 %small, [%at];", f"setp.ne.u16 {name}, %small, 0;"]
    return [*lines, f"ld.global.b{8 * size} {name}, [%at];"]


def _put(name: str, type: str, parameter: int) -> list[str]:
    size = max(1, types.bits(type) // 8)
    lines = _address(parameter, size)
    if type == "pred":
        return [*lines, f"selp.u16 %small, 1, 0, {name};", "st.global.u8 [%at], %small;"]
    return [*lines, f"st.global.b{8 * size} [%at], {name};"]


class _TensorWriter(_Writer):
    """Matrix products: registers hold elements of the operand's own type."""

    def __init__(self, variant: Variant, count: int, mode: str) -> None:
        super().__init__(variant, count)
        self.mode = mode
        named = [word for word in variant.op.split(".") if word in types.TYPES]
        self.element_types = dict(zip("dabc", named, strict=False))

    def register(self, type: str, written: bool, read: bool) -> str:
        if not read:
            return super().register(type, written, read)
        name = f"%x{self.registers}"
        self.registers += 1
        self.before.append(f".reg .{types.register_type(type)} {name};")
        width = types.bits(type) // 8
        element = self.element_types[self.letter]
        bits = types.bits({"e4m3": "b8", "e5m2": "b8"}.get(element, element))
        if element == "tf32":
            bits = 32
        if bits < 8:
            values = self.rng.integers(0, 1 << 32, self.count, dtype=np.uint64).astype("u4")
        else:
            parts = (self.count, width * 8 // bits)
            values = tensor_operands(element, parts, self.mode, self.rng)
            values = np.ascontiguousarray(values).view(f"u{width}").reshape(self.count)
        self.before += _fetch(name, type, len(self.sources))
        self.sources.append(values)
        return name

    def element(self, slot: Slot) -> str:
        self.letter = slot.name[0]
        return super().element(slot)


def tensor_cases(count: int) -> Iterator[Case]:
    """Every dense mma.sync of the target, with operands of four kinds."""
    number = 0
    for variant in variants_of("mma"):
        if "sp" in variant.op.split(".")[1] or "block_scale" in variant.op:
            continue
        for mode in _MODES:
            yield _TensorWriter(variant, count, mode).case(f"mma_{number}")
            number += 1


def variants_of(opcode: str) -> Iterator[Variant]:
    """Every instance of an opcode's rows that the target takes."""
    seen: set[str] = set()
    for form in FORMS[opcode]:
        for variant in instances(form):
            key = f"{variant.op} {' '.join(map(str, variant.slots))}"
            if key not in seen and all(meets(TARGET, need) for need in variant.needs):
                seen.add(key)
                yield variant


def pure_opcodes() -> list[str]:
    """Opcodes that compute a function of their operands."""
    return sorted(opcode for opcode in FORMS if opcode in RULES and opcode not in UNMODELLED)


def cases(opcodes: list[str], count: int) -> Iterator[Case]:
    """A case for each instance; instances that no case can make are left out."""
    number = 0
    for opcode in opcodes:
        for variant in variants_of(opcode):
            try:
                yield _Writer(variant, count).case(f"case_{number}")
            except Unmodelled:
                continue
            number += 1
