"""Addresses: aligned, in the space they are used in, computed in 64 bits."""

from __future__ import annotations

from ptx import layouts
from ptx.controlflow import Access, Flow
from ptx.ir import Imm, Instruction, Parameter, Reg, Special, Symbol, Variable
from ptx.provenance import distance, of_symbol, origins, residues, variable_of
from ptx.rules.extents import BULK_ALIGNMENT, Extent, accesses, fragment_alignment
from ptx.rules.rule import Findings, View, at, rule

# ---------------------------------------------------------------- alignment


_ASSUMING = ", if the parameter points to the begin of an allocation"


@rule(
    "misaligned",
    """An access of 2, 4, 8, 16 or 32 bytes is not at a multiple of its size, which faults on the
    device: a vector counts whole, so `ld.global.v4.f32` needs 16 bytes. So does a copy of cp.async;
    a bulk copy needs 16 bytes, a tensor copy 128, an mbarrier 8. It is an error where the
    address is known to be off, a warning where it is off if the kernel's pointer is the begin of an
    allocation. ptxas says nothing.""",
    bad="""
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+4];  // here
ret;
""",
    good="""
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+16];
ret;
""",
    severity="certainty",
)
def misaligned(view: View) -> Findings:
    flow, named = view.flow, view.module.named
    found = [(i, access, extent) for i, access, extent in accesses(flow) if extent.alignment > 1]
    known = residues(flow, named, {a.base for _, a, _ in found if a.base >= 0})
    for instruction, access, extent in found:
        address = access.address
        value = known.get(access.base)
        if value is None:
            if not isinstance(address.base, Symbol):
                continue
            value = of_symbol(flow, named, instruction, address.base)
        modulus = min(extent.alignment, value.modulus)
        rest = (value.rest + address.offset) % modulus
        if rest:
            yield at(
                instruction,
                f"{address} is {rest} bytes past a multiple of {modulus}, but "
                + _needs(instruction, extent)
                + (_ASSUMING if value.assumed else ""),
                certain=not value.assumed,
            )


def _needs(instruction: Instruction, extent: Extent) -> str:
    if extent.bytes == extent.alignment:
        return f"{instruction.op} accesses {extent.bytes} bytes and must be aligned to them"
    return f"{instruction.op} must be aligned to {extent.alignment} bytes"


@rule(
    "misaligned-stride",
    """The stride of `wmma.load` or `wmma.store` is no multiple of the fragment's bytes in one lane,
    so that not every row (or column) begins at a multiple of them, as the manual wants (9.7.14.2):
    32 bytes for f16 inputs of m16n16k16, so a stride that is a multiple of 16. ptxas says
    nothing.""",
    bad="""
ld.param.u64 %rd1, [p];
wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r1, %r2}, [%rd1], 20;  // here
ret;
""",
    good="""
ld.param.u64 %rd1, [p];
wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r1, %r2}, [%rd1], 24;
ret;
""",
)
def misaligned_stride(view: View) -> Findings:
    for _, instruction in view.flow.of("wmma"):
        variant = instruction.variant
        stride = instruction.operands[-1]
        if variant is None or not fragment_alignment(variant) or not isinstance(stride, Imm):
            continue
        size, type = fragment_alignment(variant), variant.words[-1]
        step = int(stride.value) * layouts.ELEMENT_BITS[type]
        if step % (8 * size):
            yield at(
                instruction,
                f"rows lie {stride} elements of .{type} apart, {step / 8:g} bytes, but each must "
                f"begin at a multiple of {size}",
            )


@rule(
    "underaligned-variable",
    """A variable is declared with a smaller alignment than an access to its begin needs: whether
    the access is aligned then depends on where the assembler puts the variable. Declare it with
    `.align`.""",
    bad="""
.shared .align 4 .b8 tile[256];
mov.u32 %r1, tile;
ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];  // here
ret;
""",
    good="""
.shared .align 16 .b8 tile[256];
mov.u32 %r1, tile;
ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];
ret;
""",
    severity="warning",
)
def underaligned_variable(view: View) -> Findings:
    flow = view.flow
    if not view.function.variables and not view.module.has_variables:
        return
    for instruction, access, extent in accesses(flow):
        base, size = access.address.base, extent.alignment
        found = (instruction, base) if isinstance(base, Symbol) else _moved(flow, access.base)
        if found is None:
            continue
        where, symbol = found
        variable = variable_of(flow, view.module.named, where, symbol.name)
        # Compilers count on the launch's own memory to begin at a multiple of 128 and more.
        if not view.built and isinstance(variable, Variable) and variable.linkage == "extern":
            size = min(size, BULK_ALIGNMENT)
        if isinstance(variable, Variable) and variable.alignment < size:
            yield at(
                instruction,
                f"{symbol.name} is aligned to {variable.alignment}, but {instruction.op} needs "
                f"{size}: declare it with .align {size}",
            )


def _moved(flow: Flow, register: int) -> tuple[Instruction, Symbol] | None:
    """The symbol whose address the only definition of a register moves into it, with the move."""
    position = flow.definition(register) if register >= 0 else None
    if position is None or flow.instructions[position].opcode != "mov":
        return None
    instruction = flow.instructions[position]
    source = instruction.operands[1]
    return (instruction, source) if isinstance(source, Symbol) else None


@rule(
    "past-the-end",
    """An access lies outside of the variable or parameter that its address starts at, wholly or in
    part: it reads or writes what the assembler happens to put beside it. ptxas says nothing.""",
    bad="""
.shared .align 16 .b8 tile[256];
ld.shared.u32 %r1, [tile+256];  // here
ret;
""",
    good="""
.shared .align 16 .b8 tile[256];
ld.shared.u32 %r1, [tile+252];
ret;
""",
    foreign="warning",
)
def past_the_end(view: View) -> Findings:
    flow = view.flow
    for instruction, access, extent in accesses(flow):
        found = distance(flow, instruction, access.address) if extent.bytes else None
        if found is None:
            continue
        where, symbol = found
        variable = variable_of(flow, view.module.named, where, symbol.name)
        size = 0 if variable is None else _size(variable)
        if size and not 0 <= symbol.offset <= size - extent.bytes:
            first, last = symbol.offset, symbol.offset + extent.bytes - 1
            yield at(
                instruction,
                f"{instruction.op} accesses bytes {first} to {last} of {symbol.name}, which has "
                f"{size}",
            )


def _size(variable: Variable | Parameter) -> int:
    """In bytes; 0 where the declaration leaves it open."""
    external = isinstance(variable, Variable) and variable.linkage in ("extern", "weak", "common")
    return 0 if external else variable.bytes


# ---------------------------------------------------------------- spaces


@rule(
    "wrong-space",
    """An address is used in another state space than it points into. The offset of a .shared,
    .local or .const variable is no generic address: access it in its space, or convert it with
    cvta. A generic address is no offset: convert it with cvta.to. ptxas says nothing.""",
    bad="""
.shared .align 4 .b8 tile[256];
mov.u64 %rd1, tile;
ld.u32 %r1, [%rd1];  // here
ret;
""",
    good="""
.shared .align 4 .b8 tile[256];
mov.u64 %rd1, tile;
cvta.shared.u64 %rd2, %rd1;
ld.u32 %r1, [%rd2];
ret;
""",
)
def wrong_space(view: View) -> Findings:
    flow = view.flow
    uses: dict[tuple[int, str], Access] = {}
    for access in flow.accesses:
        if access.base >= 0:
            uses.setdefault((access.base, access.slot.space), access)
    known = origins(flow, view.module.named, {base for base, _ in uses})
    for (base, space), access in uses.items():
        origin = known.get(base)
        instruction, operand = flow.instructions[access.position], access.address
        if origin is None or not origin.space or instruction.variant is None:
            continue
        wanted, have = _root(space), _root(origin.space)
        # A tensor map's address is generic, whatever space the copy is in.
        if wanted == "tmem" or access.slot.role == "tensor map":
            continue
        of = _root(origin.of)
        if have == "generic":
            if wanted == "generic" or not of or (of == wanted == "global"):
                continue
            if of == wanted:
                message = (
                    f"{operand.base} is a generic address ({origin.why}), .{wanted} takes an "
                    f"offset: use cvta.to.{wanted}, or access it without .{wanted}"
                )
            else:
                message = f"{operand.base} points into .{of} ({origin.why}), not into .{wanted}"
        elif wanted == "generic":
            if have == "global":
                continue
            message = (
                f"{operand.base} is an offset in .{have} ({origin.why}), not a generic address: "
                f"use .{have} here, or cvta.{have} first"
            )
        elif have == wanted:
            continue
        else:
            message = f"{operand.base} is an offset in .{have} ({origin.why}), not in .{wanted}"
        yield at(instruction, message)


def _root(space: str) -> str:
    return space.partition("::")[0]


@rule(
    "needless-cvta",
    """cvta turns an offset into a generic address, cvta.to a generic address into an offset.
    Applied to what is one already it adds, or takes away, the begin of the space a second time, and
    the result points nowhere. Only .global forgives it. ptxas says nothing.""",
    bad="""
.local .align 4 .b8 frame[16];
mov.u64 %rd1, frame;
cvta.local.u64 %rd2, %rd1;
cvta.local.u64 %rd3, %rd2;  // here
ld.u32 %r1, [%rd3];
ret;
""",
    good="""
.local .align 4 .b8 frame[16];
mov.u64 %rd1, frame;
cvta.local.u64 %rd2, %rd1;
ld.u32 %r1, [%rd2];
ret;
""",
    severity="warning",
)
def needless_cvta(view: View) -> Findings:
    flow = view.flow
    uses = [
        (i, n) for _, i in flow.of("cvta") for n in [flow.number(i.operands[1])] if n is not None
    ]
    known = origins(flow, view.module.named, {number for _, number in uses})
    # .ptr without a space declares a generic address (PTX ISA 9.0, section 5.1.6.2).
    declared = {f"the parameter {p.name}" for p in view.function.params if p.pointer == ""}
    for instruction, number in uses:
        origin = known.get(number)
        if origin is None or not origin.space:
            continue
        source, words = instruction.operands[1], instruction.words
        space = words[2] if words[1] == "to" else words[1]
        generic = origin.why.startswith("cvta") or origin.why in declared
        if words[1] != "to" and origin.space == "generic" and generic:
            yield at(instruction, f"{source} is a generic address already ({origin.why})")
        elif words[1] == "to" and _root(origin.space) == _root(space):
            yield at(instruction, f"{source} is an offset in .{space} already ({origin.why})")


@rule(
    "unconverted-pointer",
    """A pointer parameter of a kernel is a generic address. Used with ld.global as it is it works
    as long as it points into global memory, since the two agree there; cvta.to.global says so, and
    lets the assembler and the emulator hold the caller to it.""",
    severity="warning",
    foreign="",
)
def unconverted_pointer(view: View) -> Findings:
    flow = view.flow
    uses = [
        access for access in flow.accesses if access.base >= 0 and access.slot.space == "global"
    ]
    known = origins(flow, view.module.named, {access.base for access in uses})
    told: set[str] = set()
    for access in uses:
        origin = known.get(access.base)
        if origin is not None and origin.space == "generic" and "parameter" in origin.why:
            if origin.why not in told:
                told.add(origin.why)
                yield at(
                    flow.instructions[access.position],
                    f"{access.address.base} is a generic address ({origin.why}) used in .global: "
                    "convert it with cvta.to.global",
                )


# ---------------------------------------------------------------- width


@rule(
    "narrow-address",
    """A generic address, or that of a variable in .global, is made in 32 bits, where the module's
    addresses have 64. Offsets in .shared, .local and .const fit 32 bits.""",
    bad=".shared .b32 a;\nmov.u32 %r1, a;\ncvta.shared.u32 %r2, %r1;  // here\nret;",
    good=".shared .b32 a;\nmov.u64 %rd1, a;\ncvta.shared.u64 %rd2, %rd1;\nret;",
)
def narrow_address(view: View) -> Findings:
    if view.module.module.address_size != 64:
        return
    flow, named = view.flow, view.module.named
    for _, instruction in flow.of("cvta"):
        if instruction.words[-1] == "u32":
            yield at(
                instruction, f"{instruction.op} is for addresses of 32 bits, here they have 64"
            )
    for _, instruction in flow.of("mov"):
        source = instruction.operands[1]
        if isinstance(source, Symbol) and instruction.words[-1] in ("b32", "u32", "s32"):
            variable = variable_of(flow, named, instruction, source.name)
            if isinstance(variable, Variable) and variable.space == "global":
                yield at(instruction, f"the address of {source.name} in .global has 64 bits")


@rule(
    "narrow-product",
    """A 32-bit product of two values that are known only at run time is widened to 64 bits and used
    in an address: row * pitch + column wraps from 2^31 elements on. Multiply with mul.wide and add
    in 64 bits.""",
    bad="""
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
ld.global.u32 %r2, [%rd1];
mul.lo.s32 %r3, %r1, %r2;  // here
mul.wide.s32 %rd2, %r3, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r4, [%rd3];
ret;
""",
    good="""
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
ld.global.u32 %r2, [%rd1];
mul.wide.s32 %rd4, %r1, %r2;
shl.b64 %rd2, %rd4, 2;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r4, [%rd3];
ret;
""",
    severity="warning",
)
def narrow_product(view: View) -> Findings:
    flow = view.flow
    products = [
        position
        for position, instruction in flow.of("mul", "mad")
        if "lo" in instruction.words
        and instruction.words[-1] in ("s32", "u32")
        and _grows(flow, instruction.operands[1], instruction.operands[2])
    ]
    if not products:
        return
    feeding = _address_sources(flow)
    reported: set[int] = set()
    widening = [(p, i.operands[1]) for p, i in flow.of("cvt") if _widens_32(i)]
    widening += [
        (position, operand)
        for position, i in flow.of("mul", "mad")
        if "wide" in i.words and i.words[-1] in ("s32", "u32")
        for operand in i.operands[1:3]
    ]
    for position, operand in widening:
        if not feeding.isdisjoint(flow.writes[position]):
            reported |= _narrow_sources(flow, operand, set(products))
    # Compiled code is full of them, and its reader cannot change it: one stands for all there.
    for position in sorted(reported)[: None if view.built else 1]:
        instruction = flow.instructions[position]
        wide = f"mul.wide.{instruction.words[-1]}"
        others = f" (the first of {len(reported)} here)" if len(reported) > 1 else ""
        yield at(
            instruction,
            f"the 32-bit product {instruction.operands[0]} is widened into an address: it wraps "
            f"for large sizes; multiply with {wide} and add in 64 bits"
            + ("" if view.built else others),
        )


def _widens_32(instruction: Instruction) -> bool:
    return instruction.words[-2:] in (("s64", "s32"), ("u64", "u32"))


def _grows(flow: Flow, *factors: object) -> bool:
    """Whether a product may be large: no factor is a literal, and one at least is loaded."""
    loaded = False
    for factor in factors:
        if not isinstance(factor, Reg):
            return False
        number = flow.number(factor)
        position = None if number is None else flow.definition(number)
        if position is None:
            continue
        instruction = flow.instructions[position]
        loaded |= instruction.opcode == "ld"
        if instruction.opcode == "mov" and isinstance(instruction.operands[1], Imm):
            return False
        if instruction.opcode == "mov" and isinstance(instruction.operands[1], Special):
            if instruction.operands[1].name.startswith(("%ntid", "%tid", "%laneid", "%warpid")):
                return False
    return loaded


def _narrow_sources(flow: Flow, operand: object, products: set[int]) -> set[int]:
    """The products among the 32-bit sums that an operand is."""
    found: set[int] = set()
    waiting, seen = [flow.number(operand)], set()
    while waiting:
        number = waiting.pop()
        if number is None or number in seen:
            continue
        seen.add(number)
        for position in flow.definitions[number]:
            instruction = flow.instructions[position]
            if position in products:
                found.add(position)
            elif instruction.opcode in ("add", "sub", "mov") and instruction.words[-1][1:] == "32":
                waiting += [flow.number(o) for o in instruction.operands[1:]]
    return found


def _address_sources(flow: Flow) -> set[int]:
    """The 64-bit registers that addresses are summed from."""
    found: set[int] = set()
    waiting: list[int | None] = [access.base for access in flow.accesses if access.base >= 0]
    while waiting:
        number = waiting.pop()
        if number is None or number in found:
            continue
        found.add(number)
        for position in flow.definitions[number]:
            instruction = flow.instructions[position]
            if instruction.opcode in ("add", "sub", "mov", "shl", "cvta", "mul", "mad"):
                if "wide" not in instruction.words:
                    waiting += [flow.number(o) for o in instruction.operands[1:]]
                elif instruction.opcode == "mad":
                    waiting.append(flow.number(instruction.operands[3]))
    return found
