"""Products and sums fused, as ptxas fuses them: one rounding instead of two.

``mul`` and ``add`` or ``sub`` of floating point without a rounding modifier may become one ``fma``
(PTX ISA 9.0, section 9.7.3): ptxas does that wherever it sees the product. With ``.rn`` they stay
what they are. The emulator rounds twice unless a launch asks for ``contract=True``; then each sum
of a product made in the same basic block is fused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ptx.ir import Block, Instruction, Operand, Reg, Registers, Statement, registers_of

_ROUNDING = frozenset("rn rz rm rp".split())
_TYPES = frozenset("f16 f16x2 bf16 bf16x2 f32 f64".split())
_PREFIX = "%contracted_"


@dataclass(frozen=True)
class _Product:
    """A product whose factors still hold what they held."""

    factors: tuple[Operand, Operand]
    type: str
    ftz: bool

    @property
    def registers(self) -> set[str]:
        return {factor.name for factor in self.factors if isinstance(factor, Reg)}


def fused(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """The statements of a function with sums of products fused."""
    body = _Body()
    made = body.walk(statements)
    return (*(Registers(type, name) for name, type in body.negated.items()), *made)


def _form(instruction: Instruction) -> tuple[str, str, bool] | None:
    """Opcode, type and ftz of a sum or product that may be fused."""
    opcode, *words = instruction.op.split(".")
    if opcode not in ("mul", "add", "sub") or not words or words[-1] not in _TYPES:
        return None
    if instruction.guard is not None or not _ROUNDING.isdisjoint(words):
        return None
    if opcode == "mul" and "sat" in words:
        return None
    return opcode, words[-1], "ftz" in words


class _Body:
    """The statements of a function, one after another."""

    def __init__(self) -> None:
        self.products: dict[str, _Product] = {}
        self.negated: dict[str, str] = {}
        """Registers for factors and sums with the other sign, and their types."""

    def walk(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for statement in statements:
            if isinstance(statement, Instruction):
                found += self._instruction(statement)
                continue
            if isinstance(statement, Block):
                # Names inside may hide those outside.
                self.products.clear()
                found.append(replace(statement, body=self.walk(statement.body)))
            else:
                found.append(statement)
            self.products.clear()
        return tuple(found)

    def _instruction(self, one: Instruction) -> list[Instruction]:
        form = _form(one)
        made = [one]
        if form is not None and form[0] != "mul":
            made = self._sum(one, *form)
        for operand in one.operands[:1] if form is not None else one.operands:
            self._written(operand)
        if form is not None and form[0] == "mul":
            target, a, b = one.operands
            product = _Product((a, b), form[1], form[2])
            if isinstance(target, Reg) and target.name not in product.registers:
                self.products[target.name] = product
        return made

    def _written(self, operand: Operand) -> None:
        for name in [reg.name for reg in registers_of(operand)]:
            self.products.pop(name, None)
            for target in [t for t, p in self.products.items() if name in p.registers]:
                del self.products[target]

    def _sum(self, one: Instruction, opcode: str, type: str, ftz: bool) -> list[Instruction]:
        target, a, b = one.operands
        for number, factor in enumerate((a, b)):
            product = self.products.get(factor.name) if isinstance(factor, Reg) else None
            if product is None or (product.type, product.ftz) != (type, ftz):
                continue
            other = b if number == 0 else a
            x, y = product.factors
            before: list[Instruction] = []
            if opcode == "sub":
                # a - x y = -x y + a, and x y - b = x y + -b
                if number:
                    x, before = self._negative(x, type, one)
                else:
                    other, before = self._negative(other, type, one)
            words = one.op.split(".")[1:]
            op = ".".join(["fma", "rn", *words])
            return [*before, replace(one, op=op, operands=(target, x, y, other))]
        return [one]

    def _negative(
        self, operand: Operand, type: str, one: Instruction
    ) -> tuple[Operand, list[Instruction]]:
        name = f"{_PREFIX}{len(self.negated)}"
        held = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}.get(type, type)
        self.negated[name] = held
        reg = Reg(name, held)
        return reg, [replace(one, op=f"neg.{type}", operands=(reg, operand))]
