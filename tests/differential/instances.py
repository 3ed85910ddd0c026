"""Instances: every spelling of every row that one thread executes for itself, with its operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptx import types
from ptx.emu import semantics
from ptx.emu.faults import Unmodelled
from ptx.emu.semantics.rules import RULES, Words
from ptx.isa import FORMS, Slot, Variant
from ptx.isa.notation import variants
from ptx.targets import meets

TARGET = "sm_90a"
_SPELLED = 4
"""How many literals of a slot that takes only literals are tried."""


@dataclass(frozen=True)
class Instance:
    """One instruction as text with places for its registers: ``add.f32 {d0}, {s0}, {s1};``.

    The same text always takes operands of the same types, so that it is its own key.
    """

    op: str
    text: str
    results: tuple[str, ...]
    """Types of the registers it writes."""
    sources: tuple[str, ...]

    @property
    def approximate(self) -> bool:
        """Whether the ISA leaves the bits of the result open, within an error."""
        words = self.op.split(".")
        return "approx" in words or "full" in words


def held(type: str) -> str:
    """The type of the register that holds a value of `type`."""
    return "b16" if type in ("u8", "s8") else types.register_type(type)


def wanted(variant: Variant) -> bool:
    """Whether `variant` is pure, runs on a Hopper GPU and has a meaning in the emulator."""
    if variant.opcode not in RULES or not all(meets(TARGET, need) for need in variant.needs):
        return False
    if any(slot.kind not in ("reg", "imm") for slot in variant.slots):
        return False
    if all(slot.kind == "imm" or slot.written for slot in variant.slots):
        return False
    if any(slot.type == "b128" for slot in variant.slots):
        return False
    if not variant.wide and any(slot.type in ("u8", "s8") for slot in variant.slots):
        return False  # These want registers of 8 bits; the kernels hold bytes in 16.
    try:
        semantics.meaning_of(Words(variant.op))
    except Unmodelled:
        return False
    return True


def all_instances(seed: int = 1) -> list[Instance]:
    """Every wanted spelling with registers, and where it may have one with a literal at the end."""
    return _found([o for o, forms in FORMS.items() if forms[0].chapter != "video"], seed)


def video_instances(seed: int = 2) -> list[Instance]:
    """Every wanted spelling of the video instructions, with selectors drawn by lot."""
    return _found([o for o, forms in FORMS.items() if forms[0].chapter == "video"], seed)


def _found(opcodes: list[str], seed: int) -> list[Instance]:
    draw = np.random.default_rng(seed)
    found: dict[str, Instance] = {}
    for opcode in opcodes:
        if opcode not in RULES:
            continue
        for form in FORMS[opcode]:
            for words, bound in form.spellings():
                for variant in variants(form, words, bound):
                    if wanted(variant):
                        for instance in _of(variant, draw):
                            found.setdefault(instance.text, instance)
    return list(found.values())


def _of(variant: Variant, draw: np.random.Generator) -> Iterator[Instance]:
    spelled = [slot for slot in variant.slots if slot.kind == "imm"]
    for _ in range(_SPELLED if spelled else 1):
        yield _instance(variant, draw)
    last = variant.slots[-1]
    if len(variant.slots) > 2 and variant.opcode not in ("set", "setp") and _takes_literal(last):
        yield _instance(variant, draw, literal=_literal(last, draw))
    if variant.opcode == "cvt" and variant.wide:
        yield from _wide(variant)


def _takes_literal(slot: Slot) -> bool:
    return (
        slot.kind == "reg"
        and slot.type in ("u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64")
        and slot.access == "r"
        and slot.count is None
        and not slot.register_only
    )


def _literal(slot: Slot, draw: np.random.Generator) -> str:
    if slot.literals:
        return str(slot.literals[int(draw.integers(len(slot.literals)))])
    bits = types.bits(slot.type)
    value = int(draw.choice([0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 255, 256]))
    if types.is_signed(slot.type) and draw.random() < 0.5:
        value = -value
    return str(value % (1 << bits) if value >= 0 else value)


def _instance(variant: Variant, draw: np.random.Generator, literal: str = "") -> Instance:
    """`variant` with a register in every place, or with `literal` in the last."""
    results: list[str] = []
    sources: list[str] = []
    texts: list[str] = []

    def source(type: str) -> str:
        sources.append(type)
        return f"{{s{len(sources) - 1}}}"

    def result(type: str) -> str:
        results.append(type)
        return f"{{d{len(results) - 1}}}"

    for slot in variant.slots:
        make = source if slot.access == "r" else result
        if slot.kind == "imm":
            assert slot.literals is not None
            texts.append(str(slot.literals[int(draw.integers(len(slot.literals)))]))
        elif slot is variant.slots[-1] and literal:
            texts.append(literal)
        elif slot.count is not None:
            parts = ", ".join(make(slot.type) for _ in range(slot.count))
            texts.append(f"{{{{{parts}}}}}")
        elif slot.negatable and draw.random() < 0.3:
            texts.append(f"!{make(slot.type)}")
        else:
            texts.append(make(slot.type))
        bare = literal and slot is variant.slots[-1]
        if slot.selectors and not bare and (slot.selectors[0] or draw.random() < 0.7):
            chosen = slot.selectors[int(draw.integers(len(slot.selectors)))]
            texts[-1] += f".{chosen}" if chosen else ""
        if slot.second and (slot.second == "must" or draw.random() < 0.7):
            texts[-1] += f"|{result('pred')}"
    return _with_carry(variant.op, ", ".join(texts), results, sources)


def _with_carry(op: str, operands: str, results: list[str], sources: list[str]) -> Instance:
    """The carry flag, where it is read, comes from a predicate; where written, it is a result."""
    text = f"{op} {operands};"
    words = op.split(".")
    if words[0] in ("addc", "subc", "madc"):
        sources.append("pred")
        flag = f"{{s{len(sources) - 1}}}"
        text = f"selp.u32 %carry, 1, 0, {flag}; add.cc.u32 %carry, %carry, -1; {text}"
    if "cc" in words:
        results.append("u32")
        text += f" addc.u32 {{d{len(results) - 1}}}, 0, 0;"
    return Instance(op, text, tuple(results), tuple(sources))


def _wide(variant: Variant) -> Iterator[Instance]:
    """A conversion whose integers stand in 64-bit registers, which it may (section 9.4.1)."""
    if len(variant.slots) != 2:
        return
    to, source = (slot.type for slot in variant.slots)
    integers = {"u8", "s8", "u16", "s16", "u32", "s32"}
    if not integers & {to, source}:
        return
    wide_to = "b64" if to in integers else to
    wide_source = "b64" if source in integers else source
    key = f"{variant.op} {{d0}}, {{s0}}; // {wide_to} {wide_source}"
    yield Instance(variant.op, key, (wide_to,), (wide_source,))


def by_signature(instances: list[Instance]) -> dict[tuple[str, ...], list[Instance]]:
    """Instances by the types of their sources, in the order of the table."""
    found: dict[tuple[str, ...], list[Instance]] = {}
    for instance in instances:
        found.setdefault(instance.sources, []).append(instance)
    return found
