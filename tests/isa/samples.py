"""Instruction lines made from rows: canonical operands for the slots of a variant."""

from __future__ import annotations

from collections.abc import Iterator

from ptx.isa import FORMS, Form, Slot, Variant
from ptx.isa.notation import variants
from ptx.types import register_type
from tests.isa.referee import REGISTERS_EACH

# Functions and prototypes of the referee's module, by whether they return and whether they take.
_FUNCTIONS = {(True, True): "fr", (False, True): "fa", (False, False): "f0"}
_PROTOTYPES = {(True, True): "proto", (False, True): "proto1", (False, False): "proto0"}
_SYMBOLS = {
    "const": "cmem",
    "local": "lmem",
    "shared": "smem",
    "shared::cta": "smem",
    "shared::cluster": "smem",
    "param": "kp",
    "param::entry": "kp",
}
_ADDRESSES = {
    "const": "cmem",
    "local": "lmem",
    "param": "kp",
    "param::entry": "kp",
    "param::func": "cp",
}


class _Operands:
    """Fresh registers for one instruction."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.count = 0
        arguments = [slot for slot in variant.slots if slot.kind == "args"]
        self.call = any(s.written for s in arguments), any(not s.written for s in arguments)

    def register(self, type: str) -> str:
        self.count += 1
        return f"%{register_type(type)}_{self.count % REGISTERS_EACH}"

    def address(self, slot: Slot) -> str:
        space = slot.space
        if self.variant.opcode == "st" and space == "param":
            space = "param::func"
        base = _ADDRESSES.get(space)
        if base is None:
            narrow = space == "tmem" or space.startswith("shared")
            base = self.register("b32" if narrow else "b64")
        inner = [self.operand(s) for s in slot.inner]
        return f"[{', '.join([base, *inner])}]"

    def operand(self, slot: Slot) -> str:
        """One canonical operand: registers of the very type, the second legal literal."""
        match slot.kind:
            case "sink":
                return "_"
            case "imm":
                return str(literals(slot)[:2][-1])
            case "addr":
                return self.address(slot)
            case "symbol":
                return _SYMBOLS.get(self.variant.choices.get("space", "global"), "gmem")
            case "func":
                return _FUNCTIONS[self.call]
            case "label":
                return {"targets": "ts", "proto": _PROTOTYPES[self.call]}.get(slot.name, "L0")
            case "args":
                return "(pr)" if slot.written else "(pa)"
        if slot.count is None:
            text = self.register(slot.type)
        else:
            text = "{" + ", ".join(self.register(slot.type) for _ in range(slot.count)) + "}"
        if slot.second == "must":
            text += "|" + self.register("pred")
        if slot.selectors and slot.selectors[0]:
            text += "." + slot.selectors[0]
        return text


def literals(slot: Slot) -> tuple[int, ...]:
    """Up to four of a slot's literals: both ends and two between."""
    listed = slot.literals or ()
    return tuple(
        dict.fromkeys(listed[i] for i in (0, len(listed) // 3, len(listed) // 2, -1) if listed)
    )


def line(variant: Variant) -> str:
    """The variant as PTX text with canonical operands."""
    made = _Operands(variant)
    operands = ", ".join(made.operand(slot) for slot in variant.slots)
    return f"{variant.op} {operands}".rstrip() + ";"


def instances(form: Form) -> Iterator[Variant]:
    """Every spelling of a row with every operand list."""
    for words, bound in form.spellings():
        yield from variants(form, words, bound)


def every_form() -> Iterator[Form]:
    for forms in FORMS.values():
        yield from forms
