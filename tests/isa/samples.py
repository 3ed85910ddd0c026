"""Instructions made from rows: canonical operands for the slots of a variant, over the names that
the referee's module declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ptx.ir import (
    SINK,
    Addr,
    Arguments,
    Imm,
    Instruction,
    Label,
    Operand,
    Pair,
    Reg,
    Selected,
    Symbol,
    Vector,
)
from ptx.isa import FORMS, Form, Slot, Variant
from ptx.isa.notation import variants
from ptx.isa.words import SPACES
from ptx.targets import INTRODUCED, VERSIONS, Version, meets, targets_meeting
from ptx.types import register_type
from tests.isa.referee import REGISTERS_EACH

# Functions and prototypes of the referee's module, by whether they return and whether they take.
_FUNCTIONS = {(True, True): "fr", (False, True): "fa", (False, False): "f0"}
_PROTOTYPES = {(True, True): "proto", (False, True): "proto1", (False, False): "proto0"}
_SYMBOLS = {
    "const": "cmem",
    "local": "lmem",
    "param": "kp",
    "shared": "smem",
    "global": "gmem",
    "param::func": "cp",
}


class _Maker:
    """Fresh registers for one instruction."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.count = 0
        arguments = [slot for slot in variant.slots if slot.kind == "args"]
        self.call = any(s.written for s in arguments), any(not s.written for s in arguments)

    def register(self, type: str) -> Reg:
        self.count += 1
        declared = register_type(type)
        return Reg(f"%{declared}_{self.count % REGISTERS_EACH}", declared)

    def address(self, slot: Slot) -> Addr:
        space = slot.space
        if self.variant.opcode == "st" and space == "param":
            space = "param::func"
        coordinates = None
        if slot.inner:
            inner = self.operand(slot.inner[0])
            coordinates = inner.items if isinstance(inner, Vector) else (inner,)
        if space.startswith(("const", "local", "param")):
            return Addr(symbol(space), 0, coordinates)
        narrow = space == "tmem" or space.startswith("shared")
        return Addr(self.register("b32" if narrow else "b64"), 0, coordinates)

    def operand(self, slot: Slot) -> Operand:
        """One canonical operand: registers of the very type, a legal literal."""
        match slot.kind:
            case "sink":
                return SINK
            case "imm":
                return Imm(str(literals(slot)[:2][-1]))
            case "addr":
                return self.address(slot)
            case "symbol":
                return symbol(next((w for w in self.variant.words if w in SPACES), "global"))
            case "func":
                return Symbol(_FUNCTIONS[self.call])
            case "label":
                known = {"targets": "ts", "proto": _PROTOTYPES[self.call], "prototype": "proto"}
                return Label(known.get(slot.name, "L0"))
            case "args":
                return Arguments((Symbol("pr" if slot.written else "pa"),))
        made: Operand
        if slot.count is None:
            made = self.register(slot.type)
        else:
            made = Vector(tuple(self.register(slot.type) for _ in range(slot.count)))
        if slot.second:
            made = Pair(made, self.register("pred"))
        if slot.selectors and "" not in slot.selectors:
            made = Selected(made, slot.selectors[0])
        return made


def symbol(space: str) -> Symbol:
    """The referee's variable in `space`."""
    root = space if space in _SYMBOLS else space.partition("::")[0]
    return Symbol(_SYMBOLS[root], 0, root.partition("::")[0])


def literals(slot: Slot) -> tuple[int, ...]:
    """Up to four of a slot's literals: both ends and two between."""
    listed = slot.literals
    if not listed:
        return ()
    return tuple(dict.fromkeys(listed[i] for i in (0, len(listed) // 3, len(listed) // 2, -1)))


def operands(variant: Variant) -> tuple[Operand, ...]:
    """Canonical operands for every slot of `variant`."""
    made = _Maker(variant)
    return tuple(made.operand(slot) for slot in variant.slots)


def line(variant: Variant) -> str:
    """The variant as PTX text with canonical operands."""
    return str(Instruction(variant.op, operands(variant)))


def forms_of(chapter: str) -> list[Form]:
    return [form for forms in FORMS.values() for form in forms if form.chapter == chapter]


CHAPTERS = sorted({form.chapter for forms in FORMS.values() for form in forms})


def instances(form: Form) -> Iterator[Variant]:
    """Every spelling of a row with every operand list."""
    for words, bound in form.spellings():
        yield from variants(form, words, bound)


@cache
def covering(form: Form, least: int = 0) -> list[Variant]:
    """Instances of a row that show each of its words, each absent optional part and each operand
    list at least once, and at least `least` of them where the row has so many."""
    seen: set[object] = set()
    chosen: list[Variant] = []
    for number, (words, bound) in enumerate(form.spellings()):
        shown = {*words, *bound.items(), len(words)}
        if len(chosen) < least or not shown <= seen:
            made = variants(form, words, bound)
            shown |= {len(v.slots) for v in made}
            chosen += made if not number or not shown <= seen else made[:1]
            seen |= shown
    return chosen


def home(variant: Variant) -> tuple[str, Version]:
    """The smallest target and version that the table says `variant` assembles for."""
    lacking = unmet(variant)
    target = next(target for target in INTRODUCED if target not in lacking)
    return target, max(variant.version, INTRODUCED[target])


def newest(variant: Variant) -> tuple[str, Version]:
    """The newest target that meets the variant's needs, and the newest version."""
    meeting = set(targets_meeting(variant.needs[0]))
    for need in variant.needs[1:]:
        meeting &= set(targets_meeting(need))
    return max(meeting, key=lambda t: list(INTRODUCED).index(t)), VERSIONS[-1]


def unmet(variant: Variant) -> list[str]:
    """Every target that the table says `variant` is refused for."""
    return [t for t in INTRODUCED if not all(meets(t, need) for need in variant.needs)]
