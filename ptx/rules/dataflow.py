"""What the control flow shows: values that are not there, code that is not reached."""

from __future__ import annotations

from ptx.rules.rule import Finding, Findings, View, at, rule


@rule(
    "unset-register",
    """A register is read where no path from the kernel's entry has written it, or the first time
    that a loop comes to the read: it holds anything at all. A guarded write may be skipped, so a
    load under a guard needs its destination set before; a sum must be set before the loop that
    adds to it. ptxas says nothing.""",
    bad="add.u32 %r1, %r2, 1;  // here\nret;",
    good="mov.u32 %r2, 0;\nadd.u32 %r1, %r2, 1;\nret;",
    foreign="warning",
)
def unset_register(view: View) -> Findings:
    for read in view.unset_reads:
        if read.certain:
            register = view.flow.registers[read.register]
            when = " the first time around" if read.first else ""
            yield at(
                view.flow.instructions[read.position],
                f"{register.name} is read before anything is written to it{when}",
            )


@rule(
    "maybe-unset-register",
    """A register is read that some path from the kernel's entry does not write before: a branch
    goes around the write, or its guard may skip it. Set the register before the branch or guard,
    or read it under the same guard.""",
    bad="""
ld.param.u32 %r1, [n];
setp.lt.u32 %p1, %r1, 9;
@%p1 mov.u32 %r2, 0;
add.u32 %r3, %r2, 1;  // here
ret;
""",
    good="""
ld.param.u32 %r1, [n];
setp.lt.u32 %p1, %r1, 9;
@%p1 mov.u32 %r2, 0;
@%p1 add.u32 %r3, %r2, 1;
ret;
""",
    severity="warning",
)
def maybe_unset_register(view: View) -> Findings:
    flow = view.flow
    for read in view.unset_reads:
        if not read.certain:
            register = flow.registers[read.register]
            skips = "its guard may skip the write"
            if not any(flow.guards[p] >= 0 for p in flow.definitions[read.register]):
                skips = "some path goes around the write"
            yield at(
                flow.instructions[read.position],
                f"{register.name} may be read before it is written: {skips}",
            )


@rule(
    "unreachable",
    """No path from the kernel's entry comes here: the code follows an unguarded bra, ret or exit,
    and no branch that is reached goes to it.""",
    bad="""
bra DONE;
mov.u32 %r1, 1;  // here
DONE:
ret;
""",
    good="""
bra.uni DONE;
DONE:
mov.u32 %r1, 1;
ret;
""",
    severity="warning",
)
def unreachable(view: View) -> Findings:
    flow = view.flow
    reached = set(flow.order)
    previous_reported = False
    for number, block in enumerate(flow.blocks):
        if number in reached:
            previous_reported = False
            continue
        # Compilers put a jump after trap, after a call that does not return, and after exit.
        only_leaves = all(
            flow.instructions[p].opcode in ("bra", "ret", "exit", "trap")
            for p in range(block.start, block.stop)
        )
        # To a compiler trap in inline assembly is an instruction like others.
        goes_on = not view.built and flow.instructions[block.start - 1].opcode == "trap"
        if not previous_reported and not only_leaves and not goes_on:
            yield at(flow.instructions[block.start], "no path comes here")
            previous_reported = True


@rule(
    "no-return",
    """Control runs off the end of the function: there is a path that ends in no ret, exit or trap.
    ptxas takes this and adds a return; spell it.""",
    bad="mov.u32 %r1, 1;  // here",
    good="mov.u32 %r1, 1;\nret;",
    foreign="warning",
)
def no_return(view: View) -> Findings:
    flow = view.flow
    name, end = view.function.name, len(flow.blocks)
    if not flow.instructions:
        yield Finding(f"{name} has no instruction: it ends without ret", view.function.place)
    for number in flow.order:
        if any(edge.target == end for edge in flow.blocks[number].edges):
            last = flow.instructions[flow.blocks[number].stop - 1]
            yield at(last, f"{name} ends without ret: control runs off its end")
            return
