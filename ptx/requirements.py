"""The smallest ``.target`` and ``.version`` that a module allows, and who asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptx import isa, targets
from ptx.errors import PtxError
from ptx.ir import Function, Instruction, Module, Special
from ptx.targets import INTRODUCED, Version

LEAST_VERSION: Version = targets.VERSIONS[0]


@dataclass(frozen=True)
class Requirements:
    """What a module asks for. A reason is None where nothing asks for more than the least."""

    target: str
    version: str
    target_reason: Instruction | None = None
    version_reason: Instruction | None = None


@dataclass(frozen=True)
class Need:
    """What one instruction asks of target and version."""

    need: str
    version: Version
    instruction: Instruction


def needs(module: Module) -> Iterator[Need]:
    """What each kind of instruction in the module asks for, once."""
    seen: set[object] = set()
    for item in module.items:
        if not isinstance(item, Function):
            continue
        for instruction in item.instructions:
            variant = instruction.variant
            if variant is not None and id(variant) not in seen:
                seen.add(id(variant))
                for need in variant.needs:
                    yield Need(need, variant.version, instruction)
            if instruction.opcode == "mov":
                for operand in instruction.operands:
                    if type(operand) is Special and operand.name not in seen:
                        seen.add(operand.name)
                        special = isa.SPECIAL.get(operand.name)
                        if special is not None:
                            version = targets.version(special.version)
                            yield Need(special.need, version, instruction)


def requirements(module: Module) -> Requirements:
    """The smallest target and version for a module, given ones kept.

    Raises :class:`ptx.PtxError`, at one of the two places, where two instructions share no target.
    """
    found = list(needs(module))
    if module.target is None:
        target, target_reason = _target(found)
    else:
        target, target_reason = module.target, None
    introduced = INTRODUCED.get(target, LEAST_VERSION)
    version, version_reason = max(LEAST_VERSION, introduced), None
    if introduced > LEAST_VERSION:
        version_reason = target_reason
    for one in found:
        if one.version > version:
            version, version_reason = one.version, one.instruction
    spelled = module.version or f"{version[0]}.{version[1]}"
    return Requirements(target, spelled, target_reason, version_reason)


def _target(found: list[Need]) -> tuple[str, Instruction | None]:
    open_targets = list(INTRODUCED)
    kept: list[Need] = []
    reason: Instruction | None = None
    for one in found:
        left = [target for target in open_targets if targets.meets(target, one.need)]
        if not left:
            raise _conflict(kept, one)
        if left[0] != open_targets[0]:
            reason = one.instruction
        if left != open_targets:
            kept.append(one)
        open_targets = left
    return open_targets[0], reason


def _conflict(kept: list[Need], last: Need) -> PtxError:
    other = next(
        (one for one in kept if targets.smallest_target((one.need, last.need)) is None), kept[-1]
    )
    there = f" at {other.instruction.place}" if other.instruction.place else ""
    return PtxError(
        f"no target takes both {last.instruction.op} (sm_{last.need.replace(' ', ' or sm_')}) and "
        f"{other.instruction.op} (sm_{other.need.replace(' ', ' or sm_')}){there}",
        last.instruction.place,
    )
