"""The smallest target and version that a module needs, and who asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptx import targets
from ptx.errors import Place, PtxError
from ptx.ir import Function, Instruction, Module, Parameter, Registers, Special, Variable
from ptx.isa import SPECIAL
from ptx.targets import Version

LOWEST_VERSION: Version = (6, 0)

DIRECTIVE_NEEDS: dict[str, tuple[str, Version]] = {
    "noreturn": ("50", (6, 4)),
    "explicitcluster": ("90", (7, 8)),
    "reqnctapercluster": ("90", (7, 8)),
    "maxclusterrank": ("90", (7, 8)),
    "blocksareclusters": ("90", (9, 0)),
    "abi_preserve": ("80", (9, 0)),
    "abi_preserve_control": ("80", (9, 0)),
}
"""What performance directives ask of target and version (PTX ISA 9.0, sections 11.4 and 11.7)."""

TYPE_NEEDS: dict[str, tuple[str, Version]] = {"b128": ("70", (8, 3)), "f16x2": ("53", (6, 0))}
"""What types ask of target and version by being declared."""


@dataclass(frozen=True, slots=True)
class Need:
    """What one statement asks of the target and of the version."""

    what: str
    """The statement: an opcode, a special register, a directive."""
    needs: tuple[str, ...]
    """Each must be met by the target (:func:`ptx.targets.meets`)."""
    version: Version
    place: Place | None
    instruction: Instruction | None = None

    def __str__(self) -> str:
        return f"{self.what} ({self.place})" if self.place else self.what

    @property
    def targets(self) -> tuple[str, ...]:
        """All targets that meet it, smallest first."""
        return tuple(
            target
            for target in targets.INTRODUCED
            if all(targets.meets(target, need) for need in self.needs)
        )


@dataclass(frozen=True, slots=True)
class Requirements:
    """The ``.target`` and ``.version`` that a module is printed with, and who asks for them."""

    target: str
    version: str
    target_reason: Need | None
    """None where the module states its target, or nothing asks for more than the lowest."""
    version_reason: Need | None
    """None where the module states its version, or the target alone brings it."""


def needs_of(module: Module) -> Iterator[Need]:
    """What the module's statements ask for, each distinct need once, at its first place."""
    seen: set[object] = set()
    for function in module.items:
        if not isinstance(function, Function):
            continue
        for directive, _ in function.directives:
            if directive in DIRECTIVE_NEEDS and directive not in seen:
                seen.add(directive)
                need, version = DIRECTIVE_NEEDS[directive]
                yield Need(f".{directive}", (need,), version, function.place_of(directive))
        for declared in (*function.params, *function.results, *function.statements):
            if not isinstance(declared, (Registers, Variable, Parameter)):
                continue
            if declared.type in TYPE_NEEDS and declared.type not in seen:
                seen.add(declared.type)
                need, version = TYPE_NEEDS[declared.type]
                yield Need(f".{declared.type}", (need,), version, declared.place)
        for instruction in function.instructions:
            variant = instruction.variant
            if variant is not None and variant not in seen:
                seen.add(variant)
                yield Need(
                    variant.op, variant.needs, variant.version, instruction.place, instruction
                )
            for operand in instruction.operands:
                if type(operand) is Special and operand not in seen:
                    seen.add(operand)
                    register = SPECIAL.get(operand.name)
                    if register is not None:
                        yield Need(
                            operand.name,
                            (register.need,),
                            targets.version(register.version),
                            instruction.place,
                            instruction,
                        )


def requirements(module: Module) -> Requirements:
    """The module's target and version: as it states them, else the smallest that do.

    Raises :class:`ptx.PtxError`, which names two statements, where no target meets both.
    """
    asked = list(needs_of(module))
    target, target_reason = module.target, None
    if target is None:
        target, target_reason = _smallest_target(asked)
    if module.version is not None:
        return Requirements(target, module.version, target_reason, None)
    version, version_reason = targets.INTRODUCED.get(bare(target), LOWEST_VERSION), None
    version = max(version, LOWEST_VERSION)
    for need in asked:
        if need.version > version:
            version, version_reason = need.version, need
    return Requirements(target, "{}.{}".format(*version), target_reason, version_reason)


def unmet(module: Module, target: str) -> Iterator[tuple[Need, str]]:
    """What a known `target` does not offer to a module, each with a message."""
    for need in needs_of(module):
        if not all(targets.meets(target, wanted) for wanted in need.needs):
            yield need, f"{need.what} needs {valid_targets(need.targets)}; the target is {target}"


def bare(target: str) -> str:
    """The architecture of a ``.target`` list: ``"sm_90"`` of ``"sm_90, debug"``."""
    return target.partition(",")[0].strip()


def _smallest_target(asked: list[Need]) -> tuple[str, Need | None]:
    left = list(targets.INTRODUCED)
    smallest, reason = left[0], None
    for position, need in enumerate(asked):
        met = need.targets
        left = [t for t in left if t in met]
        if not left:
            raise _conflict(asked[: position + 1])
        if left[0] != smallest:
            smallest, reason = left[0], need
    return smallest, reason


def _conflict(asked: list[Need]) -> PtxError:
    last = asked[-1]
    other = next(
        (need for need in asked[:-1] if not set(need.targets) & set(last.targets)), asked[-2]
    )
    return PtxError(
        f"no target has both {last}, which needs {_listed(last)}, "
        f"and {other}, which needs {_listed(other)}",
        last.place,
    )


def _listed(need: Need) -> str:
    return valid_targets(need.targets)


def valid_targets(found: tuple[str, ...]) -> str:
    """``"sm_90 or newer"`` or the list itself: the targets in `found`, for a message."""
    plain = [t for t in targets.INTRODUCED if t[-1].isdigit()]
    if found and found[0] in plain:
        every = plain[plain.index(found[0]) :]
        if all(t in found for t in every):
            return f"{found[0]} or newer"
    return ", ".join(found) or "no target that is known"
