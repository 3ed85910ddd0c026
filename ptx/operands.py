"""Whether actual operands fit what a row of the table wants, and the nearest reason where not.

The builder, the parser and the checker all ask :func:`select`; nothing else judges operands. Each
rule was judged by ptxas 13.0; where it accepts what is a mistake (an ``0f`` literal in an ``.f64``
slot, an immediate cut to its width, a shared symbol used as a generic address) this is stricter.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptx import isa
from ptx.errors import Place, PtxError
from ptx.ir import (
    Addr,
    Arguments,
    Imm,
    Instruction,
    Label,
    Not,
    Operand,
    Pair,
    Reg,
    Selected,
    Sink,
    Special,
    Symbol,
    Vector,
)
from ptx.isa import Slot, Variant
from ptx.types import HELD_IN, accepts, bits, kind

OFFSET_LIMIT = 1 << 31
"""Immediate offsets of addresses are signed 32-bit (PTX ISA 6.4.1); ptxas takes more silently."""


class OperandError(PtxError):
    """No form of an instruction takes its operands."""


def select(op: str, operands: Sequence[Operand], place: Place | None = None) -> Variant:
    """The variant of `op` that takes `operands`, destinations included, in the table's order.

    Raises :class:`OperandError` with the operand that fits worst in the nearest form.
    """
    found = isa.resolve(op)
    if not found:
        raise OperandError(isa.explain(op), place)
    nearest, furthest = "", -1
    for variant in found:
        if len(variant.slots) != len(operands):
            continue
        matched = 0
        for slot, operand in zip(variant.slots, operands, strict=True):
            reason = fits(slot, operand, variant)
            if reason:
                if matched > furthest:
                    furthest = matched
                    nearest = f"operand {slot.name}: {reason}\n  form: {variant.syntax}"
                break
            matched += 1
        else:
            return variant
    if not nearest:
        nearest = _count_reason(found, len(operands))
    raise OperandError(f"{Instruction(op, tuple(operands))}\n  {nearest}", place)


def _count_reason(found: Sequence[Variant], got: int) -> str:
    counts = sorted({len(variant.slots) for variant in found})
    wanted = " or ".join(map(str, counts))
    return f"expected {wanted} operands, got {got}\n  form: {found[0].syntax}"


def fits(slot: Slot, operand: Operand, variant: Variant) -> str:
    """``""`` where `operand` may stand in `slot`, else why not, in a phrase."""
    return _JUDGES[slot.kind](slot, operand, variant)


def describe(operand: Operand) -> str:
    """An operand with its type, for messages: ``%f3 (.f32)``."""
    if isinstance(operand, Reg):
        return f"{operand} (.{operand.type})"
    if isinstance(operand, Imm):
        return f"the literal {operand}"
    if isinstance(operand, Vector):
        return f"a vector of {len(operand.items)}, {operand}"
    if isinstance(operand, Addr):
        return f"the address {operand}"
    return str(operand)


# ---------------------------------------------------------------- one judge for each kind of slot


def _register(slot: Slot, operand: Operand, variant: Variant) -> str:
    if slot.selectors:
        if isinstance(operand, Selected):
            if operand.selector not in slot.selectors:
                legal = " ".join(f".{s}" for s in slot.selectors if s)
                return f"expected a selector among {legal}, got .{operand.selector}"
            operand = operand.operand
        elif "" not in slot.selectors:
            return f"expected a selector, as in {operand}.{slot.selectors[0]}"
    if slot.second:
        if isinstance(operand, Pair):
            second = operand.second
            if not (isinstance(second, Reg) and second.type == "pred") and not (
                isinstance(second, Sink) and slot.second == "may"
            ):
                return f"expected a predicate after |, got {describe(second)}"
            operand = operand.first
        elif slot.second == "must":
            return f"expected two destinations, {slot.name}|p, got {describe(operand)}"
        if isinstance(operand, Sink) and not slot.register_only:
            return ""
    if slot.count is not None:
        return _vector(slot, operand, variant)
    if isinstance(operand, Not) and slot.negatable:
        operand = operand.reg
    return _scalar(slot, operand, variant)


def _scalar(slot: Slot, operand: Operand, variant: Variant) -> str:
    if isinstance(operand, Sink) and slot.droppable:
        return ""
    if isinstance(operand, Reg):
        if accepts(slot.type, operand.type, variant.wide) and (
            not slot.exact or operand.type == slot.type
        ):
            return ""
        wanted = HELD_IN.get(slot.type)
        held = f" (held in .{wanted})" if wanted else ""
        return f"expected .{slot.type}{held}, got {describe(operand)}"
    if isinstance(operand, Imm):
        return _literal(slot, operand, variant)
    if isinstance(operand, Special):
        return _special(slot, operand, variant)
    if isinstance(operand, Not):
        return f"a negated predicate may not stand here; got {operand}"
    if isinstance(operand, Symbol):
        return (
            f"{operand.name} is a variable: its address is read by mov, its value by ld; "
            f"expected .{slot.type}"
        )
    return f"expected .{slot.type}, got {describe(operand)}"


def _special(slot: Slot, operand: Special, variant: Variant) -> str:
    known = isa.SPECIAL.get(operand.name)
    if known is None:
        return f"there is no special register {operand}"
    if slot.written:
        return f"{operand} can only be read"
    if variant.opcode != "mov" and not _converts_integers(variant):
        return f"{operand} is read by mov alone, or an integer cvt: mov.{known.type} d, {operand}"
    fitting = accepts(slot.type, known.type, variant.wide) or bits(slot.type) in known.widths
    if not fitting or kind(slot.type) == "f":
        return f"expected .{slot.type}, got {operand} (.{known.type})"
    return ""


def _converts_integers(variant: Variant) -> bool:
    """Whether it is a cvt between integers, which may read a special register as mov does."""
    return (
        variant.opcode == "cvt"
        and "pack" not in variant.words
        and all(kind(slot.type) == "i" for slot in variant.slots)
    )


def _literal(slot: Slot, operand: Imm, variant: Variant) -> str:
    if slot.written:
        return f"a destination must be a register, got {describe(operand)}"
    if slot.type == "pred" and not operand.is_float and _is_truth(int(operand.value), variant):
        return ""
    if slot.register_only or slot.type == "pred" or slot.type in HELD_IN:
        return f"expected a register of .{slot.type}, got {describe(operand)}"
    slot_kind, width = kind(slot.type), bits(slot.type)
    if operand.is_float:
        if slot.role == "fraction" and not 0 < operand.value <= 1:
            return f"expected a fraction over 0 and up to 1, got {operand}"
        return _float_literal(slot, operand.text, slot_kind, width)
    if slot_kind == "f":
        if width == 16 or slot.type == "f16x2":
            return f".{slot.type} takes no literal; mov.b{width} its bits into a register"
        return f"expected a floating-point literal such as {operand}.0, got {operand}"
    value = int(operand.value)
    if slot.literals is not None:
        return "" if value in slot.literals else f"expected {_listed(slot)}, got {operand}"
    if not -(1 << width - 1) <= value < 1 << width:
        return f"{operand} does not fit .{slot.type}, which holds {_range(slot.type)}"
    return ""


def _is_truth(value: int, variant: Variant) -> bool:
    """Whether a literal may stand for a predicate: compilers print 0, 1 and -1."""
    if variant.opcode == "mov":
        return -(1 << 63) <= value < 1 << 64
    if variant.opcode in ("set", "setp", "cp"):
        # ptxas takes none where the type is bf16, and reads a size in cp.async.
        return False
    return value in ((0, 1) if variant.opcode == "wgmma" else (0, 1, -1))


def _float_literal(slot: Slot, text: str, slot_kind: str, width: int) -> str:
    if slot_kind == "i":
        return f"expected an integer, got {text}"
    literal_bits = 32 if text[:2].lower() == "0f" else 64
    if slot_kind == "b" or width == 16 or slot.type == "f16x2":
        if width != literal_bits or slot_kind == "f":
            return f".{slot.type} takes no {literal_bits}-bit floating-point literal, got {text}"
        return ""
    if width == 64 and literal_bits == 32:
        return (
            f"{text} is a 32-bit pattern, which ptxas would take for the low bits of .f64; "
            "spell it 0d and 16 digits"
        )
    return ""


def _range(type: str) -> str:
    width = bits(type)
    return f"{-(1 << width - 1)} to {(1 << width) - 1}"


def _listed(slot: Slot) -> str:
    legal = slot.literals or ()
    if isinstance(legal, range):
        step = f" in steps of {legal.step}" if legal.step != 1 else ""
        return f"{legal[0]} to {legal[-1]}{step}"
    return " or ".join(map(str, legal))


def _vector(slot: Slot, operand: Operand, variant: Variant) -> str:
    if not isinstance(operand, Vector):
        return f"expected a vector of {slot.count} .{slot.type}, got {describe(operand)}"
    if len(operand.items) != slot.count:
        return f"expected a vector of {slot.count} .{slot.type}, got {len(operand.items)} elements"
    before: Operand | None = None
    for item in operand.items:
        if isinstance(item, Sink) and slot.access == "w":
            continue
        if reason := _scalar(slot, item, variant):
            return reason
        if isinstance(item, (Reg, Imm)):
            # ptxas compares neighbours: {.u32, .b32, .f32} stands, {.u32, .f32, .b32} does not.
            if before is not None and not _alike(_type_of(before, slot), _type_of(item, slot)):
                return f"elements of one vector must be alike: {describe(before)}, {describe(item)}"
            before = item
    if slot.written and before is None:
        return "one element of the vector at least must be a register"
    return ""


def _type_of(item: Operand, slot: Slot) -> str:
    """The type that a register or a literal has as an element of a vector."""
    if isinstance(item, Imm):
        return f"{'f' if item.is_float else 's'}{bits(slot.type)}"
    return item.type if isinstance(item, Reg) else slot.type


def _alike(a: str, b: str) -> bool:
    """Whether elements of two types may stand side by side in a vector."""
    if a == b:
        return True
    if bits(a) != bits(b):
        return False
    return "f" not in (kind(a), kind(b)) or "b" in (kind(a), kind(b))


def _immediate(slot: Slot, operand: Operand, variant: Variant) -> str:
    if isinstance(operand, Imm) and not operand.is_float and int(operand.value) in slot.literals:  # type: ignore[operator]
        return ""
    return f"expected the literal {_listed(slot)}, got {describe(operand)}"


def _address(slot: Slot, operand: Operand, variant: Variant) -> str:
    if not isinstance(operand, Addr):
        return f"expected an address, got {describe(operand)}"
    base, space = operand.base, slot.space
    if not -OFFSET_LIMIT <= operand.offset < OFFSET_LIMIT:
        return f"the offset {operand.offset} does not fit signed 32 bits; add it to the base"
    if isinstance(base, Reg):
        if kind(base.type) not in "bi" or bits(base.type) not in (32, 64):
            return f"expected an address register of 64 or 32 bits, got {describe(base)}"
        if space == "tmem" and (bits(base.type) != 32 or slot.exact and base.type != "b32"):
            return f"expected the .b32 address of tensor memory, got {describe(base)}"
        if bits(base.type) == 32 and space in ("generic", "global"):
            return f"expected a 64-bit address in .{space}, got {describe(base)}"
        if reason := _provenance(base.space, space, str(base), slot.role):
            return reason
    elif isinstance(base, Symbol):
        if reason := _provenance(base.space, space, base.name, slot.role):
            return reason
    elif space != "local":
        return f"a literal address is legal in .local alone, got {operand}"
    return _coordinates(slot, operand, variant)


def _provenance(have: str | None, want: str, name: str, role: str = "") -> str:
    """Why an address known to lie in `have` may not be used in `want`; "" where it may."""
    if have is None or have == "generic":
        return ""
    root, wanted = have.partition("::")[0], want.partition("::")[0]
    if root == wanted:
        return ""
    if role == "barrier" and root != "shared":
        return f"{name} lies in .{have}, an mbarrier in .shared"
    if wanted == "generic":
        return (
            ""
            if root == "global"
            else f"{name} is an offset in .{have}, not a generic address; "
            f"use .{root} here, or cvta.{root} first"
        )
    return f"{name} lies in .{have}, the instruction accesses .{want}"


def _coordinates(slot: Slot, operand: Addr, variant: Variant) -> str:
    if not slot.inner:
        return "coordinates may not stand here" if operand.coordinates is not None else ""
    inner = slot.inner[0]
    if operand.coordinates is None:
        return f"expected {inner.count} coordinates, as in [{operand.base}, {{...}}]"
    return _vector(inner, Vector(operand.coordinates), variant)


def _label(slot: Slot, operand: Operand, variant: Variant) -> str:
    return "" if isinstance(operand, Label) else f"expected a label, got {describe(operand)}"


def _symbol(slot: Slot, operand: Operand, variant: Variant) -> str:
    if isinstance(operand, Symbol):
        return _provenance(operand.space, slot.space, operand.name) if slot.space else ""
    return f"expected the name of a {slot.kind}, got {describe(operand)}"


def _sink(slot: Slot, operand: Operand, variant: Variant) -> str:
    return "" if isinstance(operand, Sink) else f"expected _, got {describe(operand)}"


def _arguments(slot: Slot, operand: Operand, variant: Variant) -> str:
    if isinstance(operand, Arguments):
        return ""
    return f"expected arguments in parentheses, got {describe(operand)}"


_JUDGES = {
    "reg": _register,
    "imm": _immediate,
    "addr": _address,
    "label": _label,
    "func": _symbol,
    "symbol": _symbol,
    "sink": _sink,
    "args": _arguments,
}
