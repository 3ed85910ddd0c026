"""Reads before writes, against a brute force that runs random programs on every way through."""

from __future__ import annotations

import random
from collections import deque

import pytest

from ptx.assignment import unset_reads
from ptx.controlflow import Flow
from ptx.text import parse

REGISTERS, PREDICATES = 4, 3


class Program:
    """Blocks of (guard, read, write) and a jump each, as text and to be run."""

    def __init__(self, seed: int, guards: bool) -> None:
        choose = random.Random(seed)
        self.blocks: list[list[tuple[int | None, int, int | None]]] = []
        self.jumps: list[tuple[int | None, int | None]] = []
        size = choose.randint(2, 6)
        for number in range(size):
            steps = [
                (
                    choose.choice([None, *range(2 * PREDICATES)]) if guards else None,
                    choose.randrange(REGISTERS),
                    choose.choice([None, choose.randrange(REGISTERS)]),
                )
                for _ in range(choose.randint(0, 3))
            ]
            self.blocks.append(steps)
            kind = choose.random()
            target = choose.randrange(size)
            if number == size - 1 or kind < 0.15:
                self.jumps.append((None, None))  # ret
            elif kind < 0.3:
                self.jumps.append((None, target))
            else:
                self.jumps.append((choose.randrange(2 * PREDICATES), target))

    def text(self) -> str:
        lines = [".reg .b32 %r<4>;", ".reg .b32 %out;", ".reg .pred %p<3>;", ".reg .b32 %n;"]
        lines += ["ld.param.b32 %n, [n];"]
        lines += [f"setp.eq.b32 %p{p}, %n, {p};" for p in range(PREDICATES)]
        for number, steps in enumerate(self.blocks):
            lines.append(f"B{number}:")
            for guard, read, write in steps:
                if write is None:
                    lines.append(f"{_guard(guard)}not.b32 %out, %r{read};")
                else:
                    lines.append(f"{_guard(guard)}mov.b32 %r{write}, 1;")
            guard, target = self.jumps[number]
            lines.append(f"{_guard(guard)}bra B{target};" if target is not None else "ret;")
        body = "\n".join(lines)
        return (
            ".version 8.0\n.target sm_80\n.address_size 64\n"
            f".entry k(.param .b32 n)\n{{\n{body}\n}}\n"
        )

    def runs(self, consistent: bool) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """Reads that some run makes of an unset register, and those of a set one: as register
        and position.

        `consistent`: a predicate keeps one value for a whole run; else every jump is free.
        """
        bad: set[tuple[int, int]] = set()
        good: set[tuple[int, int]] = set()
        starts = [1 + PREDICATES]
        for steps in self.blocks:
            starts.append(starts[-1] + len(steps) + 1)
        for case in range(2**PREDICATES if consistent else 1):
            holds = [bool(case >> p & 1) for p in range(PREDICATES)]
            seen = set()
            waiting = deque([(0, frozenset[int]())])
            while waiting:
                state = waiting.popleft()
                if state in seen or state[0] >= len(self.blocks):
                    continue
                seen.add(state)
                number, written = state
                for position, (guard, read, write) in enumerate(
                    self.blocks[number], starts[number]
                ):
                    if guard is not None and holds[guard >> 1] == bool(guard & 1):
                        continue
                    if write is not None:
                        written = written | {write}
                    else:
                        (good if read in written else bad).add((read, position))
                guard, target = self.jumps[number]
                if target is None:
                    continue
                taken = guard is None or holds[guard >> 1] != bool(guard & 1)
                if taken or not consistent:
                    waiting.append((target, written))
                if guard is not None and (not taken or not consistent):
                    waiting.append((number + 1, written))
        return bad, good


def _guard(guard: int | None) -> str:
    return "" if guard is None else f"@{'!' if guard & 1 else ''}%p{guard >> 1} "


def found(program: Program) -> list[tuple[int, int, bool]]:
    """What the analysis says: register, position, whether it is never written before."""
    flow = Flow(parse(program.text()).kernels["k"])
    return [
        (int(flow.registers[read.register].name[2:]), read.position, read.never)
        for read in unset_reads(flow)
        if flow.registers[read.register].name.startswith("%r")
    ]


def arrivals(program: Program, register: int) -> dict[int, set[bool]]:
    """Whether a register is written when an unguarded read of it is come to, on all free ways that
    have not read it unset before; by the read's position."""
    starts = [1 + PREDICATES]
    for steps in program.blocks:
        starts.append(starts[-1] + len(steps) + 1)
    found: dict[int, set[bool]] = {}
    seen = set()
    waiting = deque([(0, False)])
    while waiting:
        number, written = waiting.popleft()
        if (number, written) in seen or number >= len(program.blocks):
            continue
        seen.add((number, written))
        for here, (guard, read, write) in enumerate(program.blocks[number], starts[number]):
            if write is not None:
                written = written or write == register
            elif read == register and guard is None:
                found.setdefault(here, set()).add(written)
                if not written:
                    break
        else:
            guard, target = program.jumps[number]
            waiting += [(target, written)] if target is not None else []
            waiting += [(number + 1, written)] if guard is not None else []
    return found


@pytest.mark.parametrize("guards", [False, True])
def test_the_first_arrival_at_a_read(guards: bool) -> None:
    """Certain exactly where there is a read that no write comes before the first time."""
    certain = 0
    for seed in range(400):
        program = Program(seed, guards)
        flow = Flow(parse(program.text()).kernels["k"])
        for read in unset_reads(flow):
            name = flow.registers[read.register].name
            if read.never or not name.startswith("%r"):
                continue
            unset = {
                p for p, written in arrivals(program, int(name[2:])).items() if True not in written
            }
            assert read.first == bool(unset), (seed, program.text())
            assert not read.first or read.position in unset, (seed, program.text())
            certain += read.first
    assert certain > 5


def test_without_guards_it_is_exact() -> None:
    told_of = 0
    for seed in range(300):
        program = Program(seed, guards=False)
        bad, good = program.runs(consistent=False)
        told = found(program)
        told_of += len(told)
        assert {register for register, _, _ in told} == {register for register, _ in bad}, seed
        for register, position, never in told:
            assert (register, position) in bad, program.text()
            assert never == ((register, position) not in good), program.text()
    assert told_of > 300


def test_with_guards_it_misses_nothing() -> None:
    for seed in range(300):
        program = Program(seed, guards=True)
        bad, good = program.runs(consistent=True)
        told = found(program)
        assert {r for r, _ in bad} <= {r for r, _, _ in told}, program.text()
        for register, position, never in told:
            assert not never or (register, position) not in good, program.text()


SOUND = [
    "@%p1 mov.b32 %r1, 0; @%p1 add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; @!%p1 mov.b32 %r1, 1; add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; @!%p1 bra L; add.u32 %r2, %r1, 1; L:",
    "@%p1 mov.b32 %r1, 0; and.pred %p3, %p1, %p2; @%p3 add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; or.pred %p3, %p1, %p2; @%p3 bra L; L: @%p1 add.u32 %r2, %r1, 1;",
    "@!%p1 mov.b32 %r1, 0; or.pred %p3, %p1, %p2; @!%p3 add.u32 %r2, %r1, 1;",
    "@!%p1 mov.b32 %r1, 0; not.pred %p3, %p1; @%p3 add.u32 %r2, %r1, 1;",
]
DOUBTFUL = [
    "@%p1 mov.b32 %r1, 0; add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; @!%p1 add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; @%p2 add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; setp.eq.b32 %p1, %n, 7; @%p1 add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; @%p2 setp.eq.b32 %p1, %n, 7; @%p1 add.u32 %r2, %r1, 1;",
    "@%p1 mov.b32 %r1, 0; or.pred %p3, %p1, %p2; @%p3 add.u32 %r2, %r1, 1;",
    "@%p1 bra L; mov.b32 %r1, 0; L: add.u32 %r2, %r1, 1;",
]


def judge(body: str) -> list[tuple[str, bool]]:
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .b32 n)\n{\n"
        ".reg .b32 %r<4>, %n;\n.reg .pred %p<4>;\nld.param.b32 %n, [n];\n"
        "setp.eq.b32 %p1, %n, 1;\nsetp.eq.b32 %p2, %n, 2;\n" + body + "\nret;\n}\n"
    )
    flow = Flow(parse(text).kernels["k"])
    return [(flow.registers[r.register].name, r.never) for r in unset_reads(flow)]


@pytest.mark.parametrize("body", SOUND)
def test_guards_that_explain_a_read(body: str) -> None:
    assert judge(body) == []


@pytest.mark.parametrize("body", DOUBTFUL)
def test_guards_that_do_not(body: str) -> None:
    assert judge(body) == [("%r1", False)]


def test_a_read_that_no_path_writes_before() -> None:
    assert judge("add.u32 %r2, %r1, 1; mov.b32 %r1, 0;") == [("%r1", True)]
    assert judge("L: add.u32 %r2, %r1, 1; mov.b32 %r1, 0; @%p1 bra L;") == [("%r1", False)]
    assert judge("@%p3 mov.b32 %r1, 0;") == [("%p3", True)]
