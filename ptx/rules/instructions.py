"""Single instructions: operands, target, version, offsets, barrier numbers."""

from __future__ import annotations

from ptx import operands, targets
from ptx.errors import PtxError
from ptx.ir import Imm, Instruction, Reg
from ptx.requirements import Need, bare, needs_of, requirements, unmet
from ptx.rules.rule import Finding, Findings, ModuleView, View, at, rule

OFFSET = range(-(1 << 31), 1 << 31)


@rule(
    "operands",
    """No form of the instruction table takes this instruction: the opcode, a modifier, or the type,
    the width, the kind or the number of its operands is wrong.""",
    bad="add.f32 %f1, %rd1, 0f3F800000;  // here\nret;",
    good="mov.f32 %f1, 0f3F800000;\nret;",
)
def operand_kinds(view: View) -> Findings:
    for instruction in view.flow.instructions:
        if instruction.variant is None:
            try:
                operands.select(instruction.op, instruction.operands)
            except PtxError as error:
                yield at(instruction, error.message)
        guard = instruction.guard
        if guard is not None:
            register = guard if isinstance(guard, Reg) else guard.reg
            if register.type != "pred":
                yield at(instruction, f"the guard {register} is .{register.type}, not a predicate")


@rule(
    "offset",
    """An immediate offset of an address is a signed 32-bit number. ptxas 13 takes more and adds 64
    bits; other versions cut it off. Add a large offset to the base.""",
    bad="ld.param.u64 %rd1, [p];\nld.global.u8 %r1, [%rd1+2147483648];  // here\nret;",
    good="ld.param.u64 %rd1, [p];\nld.global.u8 %r1, [%rd1+2147483647];\nret;",
)
def offset(view: View) -> Findings:
    flow = view.flow
    found = [(flow.instructions[a.position], a.address.offset) for a in flow.accesses]
    found += [(instruction, symbol.offset) for symbol, instruction, _ in flow.symbols]
    for instruction, value in found:
        if value not in OFFSET:
            yield at(
                instruction, f"the offset {value} does not fit signed 32 bits; add it to the base"
            )


@rule(
    "target",
    """An instruction, a special register or a directive is not offered by the target. Targets are
    no ordering: wgmma is in sm_90a alone, tensormap.replace in sm_90a, sm_100a and up but not in
    plain sm_120. A module without a target gets the smallest that has everything.""",
    bad="""
.visible .entry k()
{
tcgen05.wait::ld.sync.aligned;  // here
ret;
}
""",
    good="""
.visible .entry k()
{
wgmma.wait_group.sync.aligned 0;
ret;
}
""",
    whole_module=True,
)
def target(view: ModuleView) -> Findings:
    stated = [bare(t) for t in (view.module.target, view.target) if t is not None]
    for one in dict.fromkeys(stated):
        if unknown := targets.refusal(one):
            yield Finding(unknown)
            continue
        for need, message in unmet(view.module, one):
            yield _at(need, message)
    if not stated:
        try:
            requirements(view.module)
        except PtxError as error:
            yield Finding(error.message, error.place)


@rule(
    "version",
    """The module states a PTX version that is older than an instruction or than the target, or that
    there is not. Raise .version, or leave it out, and it becomes the smallest that will do. A text
    whose version is newer than the newest that is known here is warned of: what that version
    brought is not known either, and what ptxas takes is for a newer ptxas to say.""",
    severity="certainty",
    whole_module=True,
)
def version(view: ModuleView) -> Findings:
    if view.module.version is None:
        return
    if unknown := targets.version_refusal(view.module.version):
        certain = not targets.is_newer(view.module.version)
        yield Finding(unknown, view.module.place, certain=certain)
    stated = targets.version(view.module.version)
    for one in dict.fromkeys((view.module.target, view.target)):
        introduced = targets.INTRODUCED.get(bare(one or ""), (0, 0))
        if introduced > stated:
            yield Finding(
                f"the target {bare(one or '')} needs .version {_spell(introduced)} or newer; "
                f"the module states {view.module.version}",
                view.module.place,
            )
    for need in needs_of(view.module):
        if need.version > stated:
            yield _at(
                need,
                f"{need.what} needs .version {_spell(need.version)} or newer; "
                f"the module states {view.module.version}",
            )


def _at(need: Need, message: str) -> Finding:
    return Finding(message, need.place, need.instruction)


def _spell(version: targets.Version) -> str:
    return "{}.{}".format(*version)


@rule(
    "barrier-number",
    """A CTA has sixteen barriers, numbered 0 to 15. Libraries tend to use 0 for the whole CTA.""",
    bad="bar.sync 16;  // here\nret;",
    good="bar.sync 15;\nret;",
)
def barrier_number(view: View) -> Findings:
    for _, instruction in view.flow.of("bar", "barrier", malformed=True):
        number = _barrier(instruction)
        if isinstance(number, Imm) and not number.is_float and number.value not in range(16):
            yield at(instruction, f"barrier {number}: a CTA has the barriers 0 to 15")


@rule(
    "constant-comparison",
    """An unsigned number is compared with 0 by ge or lt: it is never below 0, so the answer is
    known. A loop that counts down so never ends. Compare a signed type, or with ne.""",
    bad="""
ld.param.u32 %r1, [n];
LOOP:
sub.u32 %r1, %r1, 1;
setp.ge.u32 %p1, %r1, 0;  // here
@%p1 bra LOOP;
ret;
""",
    good="""
ld.param.u32 %r1, [n];
LOOP:
sub.u32 %r1, %r1, 1;
setp.ge.s32 %p1, %r1, 0;
@%p1 bra LOOP;
ret;
""",
    severity="warning",
)
def constant_comparison(view: View) -> Findings:
    for _, instruction in view.flow.of("setp", "set"):
        comparison = instruction.words[1]
        type = instruction.words[-1]
        if comparison not in ("ge", "lt", "hs", "lo") or type not in ("u16", "u32", "u64"):
            continue
        last = instruction.operands[2] if len(instruction.operands) > 2 else None
        if isinstance(last, Imm) and not last.is_float and int(last.value) == 0:
            always = "always" if comparison in ("ge", "hs") else "never"
            yield at(instruction, f"an unsigned number is {always} {comparison} 0")


@rule(
    "barrier-register",
    """The number of a barrier comes from a register: ptxas must then reserve all 16 barriers for
    the kernel, and the checker cannot tell which threads meet. Where the number is known when the
    kernel is written, spell it.""",
    bad="mov.u32 %r1, 1;\nbar.sync %r1, 64;  // here\nret;",
    good="bar.sync 1, 64;\nret;",
    severity="warning",
)
def barrier_register(view: View) -> Findings:
    for _, instruction in view.flow.of("bar", "barrier"):
        number = _barrier(instruction)
        if isinstance(number, Reg):
            yield at(
                instruction, f"the barrier's number is the register {number}: all 16 are reserved"
            )


def _barrier(instruction: Instruction) -> object:
    """The operand that numbers a CTA barrier; None for barriers of warps and clusters."""
    variant = instruction.variant
    if variant is None:
        words = instruction.op.split(".")
        if "warp" in words or "cluster" in words or not instruction.operands:
            return None
        return instruction.operands[0]
    for slot, operand in zip(variant.slots, instruction.operands, strict=True):
        if slot.name == "bar":
            return operand
    return None
