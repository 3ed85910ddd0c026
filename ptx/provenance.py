"""What is known of the values that addresses are made of: the space they point into, and their
residue modulo a power of two.

Both are found without regard to order: a register's value is what all its definitions agree on.
Only the registers that feed the ones asked for are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from ptx import types
from ptx.controlflow import Flow
from ptx.ir import Addr, Function, Imm, Instruction, Parameter, Symbol, Variable

Value = TypeVar("Value")

Named = Mapping[str, Function | Variable]
"""The functions and variables of the module."""


def solve(
    flow: Flow,
    wanted: Iterable[int],
    evaluate: Callable[[int, Mapping[int, Value]], Value | None],
    join: Callable[[Value, Value], Value],
) -> dict[int, Value]:
    """What each wanted register, and each that feeds it, is: the join over its definitions.

    `evaluate` takes a definition's position and what is known so far; a register of which nothing
    is known yet is absent. Joins must only ever lose knowledge, in a bounded number of steps.
    """
    feeding: set[int] = set()
    users: dict[int, set[int]] = {}
    waiting = list(wanted)
    while waiting:
        register = waiting.pop()
        if register in feeding:
            continue
        feeding.add(register)
        for position in flow.definitions[register]:
            for source in flow.reads[position]:
                users.setdefault(source, set()).add(register)
                waiting.append(source)
    known: dict[int, Value] = {}
    pending = set(feeding)
    while pending:
        register = pending.pop()
        found: Value | None = None
        for position in flow.definitions[register]:
            value = evaluate(position, known)
            if value is not None:
                found = value if found is None else join(found, value)
        if found is not None and register in known:
            found = join(found, known[register])
        if found is not None and known.get(register) != found:
            known[register] = found
            pending |= users.get(register, set())
    return known


def variable_of(
    flow: Flow, named: Named, instruction: Instruction, name: str
) -> Variable | Parameter | None:
    """The variable or parameter that a name means in one instruction."""
    own = flow.variable(instruction, name)
    if own is not None:
        return own
    found = named.get(name)
    return found if isinstance(found, Variable) else None


# ---------------------------------------------------------------- spaces


class Origin(NamedTuple):
    """Where an address points."""

    space: str
    """A state space of which it is an offset; ``"generic"``; ``""`` where it is not known."""
    of: str = ""
    """For a generic address the space it points into, where that is known."""
    why: str = ""
    """What made it, for messages."""


UNKNOWN = Origin("")


def origins(flow: Flow, named: Named, wanted: Iterable[int]) -> dict[int, Origin]:
    """Where the wanted registers point, as far as all their definitions agree."""

    def evaluate(position: int, known: Mapping[int, Origin]) -> Origin | None:
        return _origin(flow, named, position, known)

    def join(a: Origin, b: Origin) -> Origin:
        if a.space == b.space:
            return a if a.of == b.of else Origin(a.space)
        return UNKNOWN

    return solve(flow, wanted, evaluate, join)


def _origin(flow: Flow, named: Named, position: int, known: Mapping[int, Origin]) -> Origin | None:
    instruction = flow.instructions[position]
    opcode, operands = instruction.opcode, instruction.operands
    if instruction.variant is None:
        return UNKNOWN
    if opcode == "mov" and isinstance(operands[1], Symbol):
        return _origin_of_symbol(flow, named, instruction, operands[1])
    if opcode == "cvta":
        words = instruction.words
        space = next((w for w in words if w in _SPACES), "")
        if words[1] == "to":
            return Origin(space, why=f"cvta.to.{space}")
        return Origin("generic", space, f"cvta.{space}")
    if opcode == "ld":
        parameter = pointer_parameter(flow, instruction)
        if parameter is not None:
            return Origin("generic", parameter.pointer or "", f"the parameter {parameter.name}")
        return UNKNOWN
    if opcode == "mapa":
        return Origin("shared", why="mapa") if "shared::cluster" in instruction.words else UNKNOWN
    if opcode not in ("mov", "add", "sub", "mad", "selp", "cvt", "and", "or"):
        return UNKNOWN
    sources = [operands[3]] if opcode == "mad" else list(operands[1:3])
    if opcode == "sub":
        sources = [operands[1]]
    found: list[Origin] = []
    for operand in sources:
        number = flow.number(operand)
        if number is not None:
            if number not in known:
                return None
            found.append(known[number])
    pointers = [origin for origin in found if origin.space]
    if opcode == "selp":
        return pointers[0] if len(pointers) == 2 and pointers[0] == pointers[1] else UNKNOWN
    return pointers[0] if len(pointers) == 1 else UNKNOWN


_SPACES = ("global", "shared", "local", "const", "param", "shared::cta", "shared::cluster")


def _origin_of_symbol(flow: Flow, named: Named, instruction: Instruction, symbol: Symbol) -> Origin:
    found = variable_of(flow, named, instruction, symbol.name)
    if isinstance(found, Variable):
        return Origin(found.space, why=f"the offset of {symbol.name} in .{found.space}")
    if isinstance(found, Parameter) and flow.function.entry:
        return Origin("param", why=f"the offset of {symbol.name} in .param")
    return UNKNOWN


def pointer_parameter(flow: Flow, instruction: Instruction) -> Parameter | None:
    """The pointer parameter of a kernel that ``ld.param`` reads whole, or None.

    A parameter of 64 bits without ``.ptr`` counts: nothing tells it from a pointer.
    """
    if not flow.function.entry or instruction.opcode != "ld" or "param" not in instruction.words:
        return None
    if instruction.variant is None:
        return None
    address = instruction.operands[1]
    if not isinstance(address, Addr) or not isinstance(address.base, Symbol) or address.offset:
        return None
    name = address.base.name
    parameter = next((p for p in flow.function.params if p.name == name), None)
    if parameter is None or parameter.count is not None or types.bits(parameter.type) != 64:
        return None
    return parameter


def starts_at(flow: Flow, address: object, depth: int = 16) -> str:
    """The variable that an address certainly starts at; ``""`` where that is not known."""
    base: object = address.base if isinstance(address, Addr) else address
    if isinstance(base, Symbol):
        return base.name
    number = flow.number(base)
    position = None if number is None else flow.definition(number)
    if position is None or not depth:
        return ""
    instruction = flow.instructions[position]
    opcode, operands = instruction.opcode, instruction.operands
    if opcode not in ("mov", "add", "mad", "cvt", "cvta"):
        return ""
    sources = operands[3:] if opcode == "mad" else operands[1:]
    found = {starts_at(flow, source, depth - 1) for source in sources} - {""}
    return found.pop() if len(found) == 1 else ""


def distance(
    flow: Flow, instruction: Instruction, address: object, depth: int = 16
) -> tuple[Instruction, Symbol] | None:
    """The variable that an address of `instruction` starts at, at its offset in bytes, and the
    instruction that names it; None where literals alone do not tell."""
    offset = address.offset if isinstance(address, Addr) else 0
    base: object = address.base if isinstance(address, Addr) else address
    if isinstance(base, Symbol):
        return instruction, base + offset
    number = flow.number(base)
    position = None if number is None else flow.definition(number)
    if position is None or not depth:
        return None
    made = flow.instructions[position]
    operands = made.operands
    if made.opcode in ("add", "sub"):
        added = operands[2]
        if not isinstance(added, Imm) or added.is_float:
            return None
        offset += int(added.value) if made.opcode == "add" else -int(added.value)
    elif made.opcode not in ("mov", "cvta") and made.op not in ("cvt.u64.u32", "cvt.s64.s32"):
        return None
    found = distance(flow, made, operands[1], depth - 1)
    return None if found is None else (found[0], found[1] + offset)


# ---------------------------------------------------------------- residues

LARGEST_MODULUS = 1 << 16
ALLOCATION_BYTES = 256
"""Device allocations begin at multiples of this (CUDA Programming Guide, device memory accesses);
a kernel's pointer usually is one."""


class Residue(NamedTuple):
    """A value that is `rest` more than a multiple of `modulus`, a power of two."""

    modulus: int
    rest: int
    assumed: bool = False
    """It holds if a pointer parameter is the begin of an allocation."""


ANY = Residue(1, 0)


def residue(value: int) -> Residue:
    return Residue(LARGEST_MODULUS, value % LARGEST_MODULUS)


def residues(flow: Flow, named: Named, wanted: Iterable[int]) -> dict[int, Residue]:
    """What is known of the low bits of the wanted registers."""

    def evaluate(position: int, known: Mapping[int, Residue]) -> Residue | None:
        return _residue(flow, named, position, known)

    return solve(flow, wanted, evaluate, _join)


def _join(a: Residue, b: Residue) -> Residue:
    modulus = min(a.modulus, b.modulus)
    while (a.rest - b.rest) % modulus:
        modulus //= 2
    return Residue(modulus, a.rest % modulus, a.assumed or b.assumed)


def _residue(
    flow: Flow, named: Named, position: int, known: Mapping[int, Residue]
) -> Residue | None:
    instruction = flow.instructions[position]
    parameter = pointer_parameter(flow, instruction)
    if parameter is not None:
        promised = parameter.pointer_align or 1
        if promised >= ALLOCATION_BYTES:
            return Residue(promised, 0)
        return Residue(ALLOCATION_BYTES, 0, True)
    how = _ARITHMETIC.get(instruction.opcode)
    if how is None or instruction.variant is None or "f" in _kinds(instruction):
        return ANY
    sources: list[Residue] = []
    for operand in instruction.operands[1:]:
        if isinstance(operand, Imm) and not operand.is_float:
            sources.append(residue(int(operand.value)))
        elif isinstance(operand, Symbol):
            sources.append(of_symbol(flow, named, instruction, operand))
        else:
            number = flow.number(operand)
            if number is None:
                sources.append(ANY)
            elif number in known:
                sources.append(known[number])
            else:
                return None
    return how(instruction, sources)


def _kinds(instruction: Instruction) -> set[str]:
    return {types.kind(word) for word in instruction.words if word in types.FUNDAMENTAL}


def of_symbol(flow: Flow, named: Named, instruction: Instruction, symbol: Symbol) -> Residue:
    """Of a symbol's address: its declared alignment is all that is sure."""
    found = variable_of(flow, named, instruction, symbol.name)
    if found is None:
        return ANY
    modulus = min(found.alignment, LARGEST_MODULUS)
    return Residue(modulus, symbol.offset % modulus)


def moved(value: Residue, by: int) -> Residue:
    return Residue(value.modulus, (value.rest + by) % value.modulus, value.assumed)


def _sum(a: Residue, b: Residue, sign: int = 1) -> Residue:
    if a.assumed and b.assumed:
        return ANY  # one of the two is no pointer
    modulus = min(a.modulus, b.modulus)
    return Residue(modulus, (a.rest + sign * b.rest) % modulus, a.assumed or b.assumed)


def _product(a: Residue, b: Residue) -> Residue:
    # (m x + r)(n y + s): every term but r s is a multiple of the smallest of these.
    if a.assumed or b.assumed:
        return ANY  # no pointer is multiplied
    terms = (a.modulus * b.modulus, a.modulus * b.rest, b.modulus * a.rest)
    modulus = min(_power(term) for term in terms)
    return Residue(modulus, a.rest * b.rest % modulus)


def _power(term: int) -> int:
    return min(term & -term, LARGEST_MODULUS) if term else LARGEST_MODULUS


def _add(instruction: Instruction, sources: list[Residue]) -> Residue:
    return _sum(sources[0], sources[1], -1 if instruction.opcode == "sub" else 1)


def _multiply(instruction: Instruction, sources: list[Residue]) -> Residue:
    words = instruction.words
    if "lo" not in words and "wide" not in words:
        return ANY
    product = _product(sources[0], sources[1])
    return _sum(product, sources[2]) if instruction.opcode == "mad" else product


def _shift(instruction: Instruction, sources: list[Residue]) -> Residue:
    amount = sources[1]
    if amount.modulus < LARGEST_MODULUS or amount.rest > 16:
        return ANY
    return _product(sources[0], residue(1 << amount.rest))


def _mask(instruction: Instruction, sources: list[Residue]) -> Residue:
    for mask, other in (sources, sources[::-1]):
        if mask.modulus == LARGEST_MODULUS:
            if not mask.rest:
                return residue(0)
            low = mask.rest & -mask.rest
            # Below the mask's lowest bit all is zero; above it `other` decides.
            return Residue(low, 0) if other.modulus <= low else _masked(mask.rest, other)
    return ANY


def _masked(mask: int, other: Residue) -> Residue:
    return Residue(other.modulus, other.rest & mask & (other.modulus - 1), other.assumed)


def _copy(instruction: Instruction, sources: list[Residue]) -> Residue:
    return sources[0]


_ARITHMETIC: dict[str, Callable[[Instruction, list[Residue]], Residue]] = {
    "mov": _copy,
    "cvta": _copy,
    "cvt": _copy,
    "add": _add,
    "sub": _add,
    "mul": _multiply,
    "mad": _multiply,
    "shl": _shift,
    "and": _mask,
}
"""How the low bits of a result follow from those of the sources."""
