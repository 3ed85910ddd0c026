"""Random programs with divergent control flow, warp instructions, shared memory and atomics.

What such a program computes is defined: loops end, warp instructions stand where the whole warp
passes, shared memory is exchanged between barriers, and atomics commute.
"""

from __future__ import annotations

import numpy as np

from tests.differential.jobs import Job
from tests.differential.programs import HEAD
from tests.differential.values import generator, random

GRID, BLOCK = 3, 96
THREADS = GRID * BLOCK
VALUES = 8
"""Registers %v0 to %v7 are what a program computes with, one input and one output each."""
CELLS = 16
"""Words of global memory that a program's atomics update, after the threads' registers."""

_TWO = (
    "add.u32 sub.u32 mul.lo.u32 mul.hi.u32 mul.hi.s32 and.b32 or.b32 xor.b32 min.s32 max.s32 "
    "min.u32 max.u32 shl.b32 shr.u32 shr.s32 mul24.lo.u32 mul24.hi.s32 add.sat.s32 sub.sat.s32 "
    "div.u32 rem.u32 div.s32 rem.s32 add.u16x2 min.s16x2 szext.wrap.s32 bmsk.clamp.b32"
).split()
_ONE = "not.b32 popc.b32 clz.b32 brev.b32 bfind.u32 bfind.shiftamt.s32 abs.s32 neg.s32 cnot.b32"
_THREE = (
    "mad.lo.u32 mad.hi.s32 mad24.lo.s32 sad.s32 bfe.u32 bfe.s32 prmt.b32 prmt.b32.f4e "
    "shf.l.wrap.b32 shf.r.clamp.b32 slct.s32.s32 dp4a.s32.u32 dp2a.lo.u32.s32"
).split()
_COMPARE = "eq.u32 ne.u32 lt.u32 ge.u32 lt.s32 gt.s32 le.s32 hi.u32 ls.u32".split()
_ATOMIC = "add.u32 min.s32 max.u32 and.b32 or.b32 xor.b32 inc.u32".split()


class _Writer:
    """Writes one random program; `depth` counts open branches and loops."""

    def __init__(self, draw: np.random.Generator) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.labels = 0
        self.loops = 0

    def chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def pick(self, *choices: str) -> str:
        return str(self.draw.choice(choices))

    def value(self) -> str:
        return f"%v{self.draw.integers(VALUES)}"

    def predicate(self) -> str:
        return f"%p{self.draw.integers(4)}"

    def operand(self) -> str:
        if self.chance(0.8):
            return self.value()
        return str(
            int(random("u32", 1, self.draw)[0]) if self.chance(0.5) else self.draw.integers(40)
        )

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    # ------------------------------------------------------------ statements

    def guard(self) -> str:
        if self.chance(0.75):
            return ""
        return f"@{'!' if self.chance(0.5) else ''}{self.predicate()} "

    def compute(self) -> None:
        draw, guard, to = self.draw.random(), self.guard(), self.value()
        if draw < 0.45:
            op = self.pick(*_TWO)
            # ptxas takes no literal in a packed operand.
            last = self.value() if "x2" in op else self.operand()
            if op[:3] in ("div", "rem"):
                # What division by zero gives is open.
                self.lines.append(f"or.b32 %t, {self.value()}, 1;")
                last = "%t"
            self.lines.append(f"{guard}{op} {to}, {self.value()}, {last};")
        elif draw < 0.6:
            self.lines.append(f"{guard}{self.pick(*_ONE.split())} {to}, {self.value()};")
        elif draw < 0.75:
            sources = f"{self.value()}, {self.value()}, {self.value()}"
            self.lines.append(f"{guard}{self.pick(*_THREE)} {to}, {sources};")
        elif draw < 0.82:
            a, b, c = self.value(), self.value(), self.value()
            self.lines.append(f"{guard}lop3.b32 {to}, {a}, {b}, {c}, {self.draw.integers(256)};")
        elif draw < 0.87:
            a, b, low = self.value(), self.value(), self.value()
            self.lines.append(f"add.cc.u32 {low}, {a}, {b}; addc.u32 {to}, {a}, {to};")
        elif draw < 0.93:
            a, b = self.value(), self.value()
            self.lines.append(f"{guard}selp.b32 {to}, {a}, {b}, {self.predicate()};")
        else:
            kind = self.pick("s8", "u8", "s16", "u16")
            self.lines.append(f"{guard}cvt.{kind}.u32 {to}, {self.value()};")

    def compare(self) -> None:
        to, a, b = self.predicate(), self.value(), self.operand()
        if self.chance(0.3):
            other = self.predicate()
            if other != to:
                how, c = self.pick("and", "or", "xor"), self.predicate()
                word, type = self.pick(*_COMPARE).split(".")
                self.lines.append(f"setp.{word}.{how}.{type} {to}|{other}, {a}, {b}, {c};")
                return
        if self.chance(0.2):
            how = self.pick("and", "or", "xor")
            self.lines.append(f"{how}.pred {to}, {self.predicate()}, {self.predicate()};")
            return
        self.lines.append(f"setp.{self.pick(*_COMPARE)} {to}, {a}, {b};")

    def branch(self, depth: int, together: bool) -> None:
        skip, end = self.label(), self.label()
        self.compare()
        predicate = self.predicate()
        self.lines.append(f"@{'!' if self.chance(0.5) else ''}{predicate} bra {skip};")
        self.block(depth + 1, together=False)
        if self.chance(0.6):
            self.lines.append(f"bra {end};\n{skip}:")
            self.block(depth + 1, together=False)
            self.lines.append(f"{end}:")
        else:
            self.lines.append(f"{skip}:")

    def switch(self, depth: int) -> None:
        cases, end, name = [self.label() for _ in range(4)], self.label(), self.label()
        self.lines.append(f"{name}: .branchtargets {', '.join(cases)};")
        self.lines.append(f"and.b32 %t, {self.value()}, 3; brx.idx %t, {name};")
        for case in cases:
            self.lines.append(f"{case}:")
            self.compute()
            if self.chance(0.7):
                self.lines.append(f"bra {end};")
        self.lines.append(f"{end}:")

    def loop(self, depth: int, together: bool) -> None:
        """A loop of up to eight turns: as many for all threads where `together`."""
        counter, top, end = f"%n{self.loops}", self.label(), self.label()
        self.loops += 1
        if together:
            self.lines.append(f"mov.u32 {counter}, {self.draw.integers(1, 4)};")
        else:
            self.lines.append(f"and.b32 {counter}, {self.value()}, 7;")
        self.lines.append(f"{top}:")
        self.block(depth + 1, together)
        if not together and self.chance(0.4):
            self.compare()
            self.lines.append(f"@{self.predicate()} bra {end};")
        self.lines.append(f"sub.u32 {counter}, {counter}, 1;")
        self.lines.append(f"setp.gt.s32 %loop, {counter}, 0; @%loop bra {top};\n{end}:")

    def atomic(self) -> None:
        which = int(self.draw.integers(len(_ATOMIC)))
        op = _ATOMIC[which]
        address = f"[%cells+{4 * which}]" if self.chance(0.5) else f"[%cells+{4 * (which + 8)}]"
        value = "0xFFFFFFFF" if op == "inc.u32" else self.value()
        guard = self.guard()
        if self.chance(0.3):
            self.lines.append(f"{guard}atom.global.{op} %t, {address}, {value};")
        else:
            self.lines.append(f"{guard}red.global.{op} {address}, {value};")

    def warp(self) -> None:
        """An instruction of the whole warp, which stands here together."""
        self.lines.append("bar.warp.sync 0xFFFFFFFF;")
        kind, to, a = self.draw.integers(7), self.value(), self.value()
        full = "0xFFFFFFFF"
        if kind == 0:
            mode = self.pick("up", "down", "bfly", "idx")
            bound = 0 if mode == "up" else 31
            bound |= int(self.draw.choice([0, 0, 16, 24, 28])) << 8
            lane = self.value() if mode == "idx" or self.chance(0.3) else self.draw.integers(32)
            also = self.predicate()
            self.lines.append(f"shfl.sync.{mode}.b32 {to}|{also}, {a}, {lane}, {bound}, {full};")
        elif kind == 1:
            mode, p = self.pick("all", "any", "uni"), self.predicate()
            sign = self.pick("", "!")
            self.lines.append(f"vote.sync.{mode}.pred {p}, {sign}{self.predicate()}, {full};")
        elif kind == 2:
            self.lines.append(f"vote.sync.ballot.b32 {to}, {self.predicate()}, {full};")
        elif kind == 3:
            self.lines.append(f"and.b32 %t, {a}, 3; match.any.sync.b32 {to}, %t, {full};")
        elif kind == 4:
            p = self.predicate()
            self.lines.append(f"and.b32 %t, {a}, 1; match.all.sync.b32 {to}|{p}, %t, {full};")
        elif kind == 5:
            op = self.pick(
                "add.u32", "min.s32", "max.u32", "add.s32", "and.b32", "or.b32", "xor.b32"
            )
            self.lines.append(f"redux.sync.{op} {to}, {a}, {full};")
        else:
            self.lines.append(f"elect.sync %t|{self.predicate()}, {full};")

    def exchange(self) -> None:
        """Through shared memory, between two barriers of the CTA."""
        step = self.draw.integers(1, BLOCK)
        self.lines.append(f"st.shared.u32 [%mine], {self.value()}; bar.sync 0;")
        self.lines.append(f"add.u32 %t, %me, {step}; rem.u32 %t, %t, {BLOCK}; shl.b32 %t, %t, 2;")
        self.lines.append(f"add.u32 %t, %t, %words; ld.shared.u32 {self.value()}, [%t];")
        if self.chance(0.5):
            p, how = self.predicate(), self.pick("popc.u32", "and.pred", "or.pred")
            to = self.value() if how == "popc.u32" else self.predicate()
            self.lines.append(f"bar.red.{how} {to}, 0, {p};")
        else:
            self.lines.append("bar.sync 0;")

    def call(self) -> None:
        to, a, b = self.value(), self.value(), self.value()
        self.lines.append(
            "{ .param .b32 x; .param .b32 y; .param .b32 z;"
            f" st.param.b32 [x], {a}; st.param.b32 [y], {b};"
            f" call.uni (z), helper, (x, y); ld.param.b32 {to}, [z]; }}"
        )

    def block(self, depth: int, together: bool) -> None:
        """Statements; warp instructions only where all threads come by `together`."""
        for _ in range(int(self.draw.integers(2, 6 if depth else 14))):
            draw = self.draw.random()
            if draw < 0.45:
                self.compute()
            elif draw < 0.58:
                self.compare()
            elif draw < 0.72 and depth < 3:
                self.branch(depth, together)
            elif draw < 0.78 and depth < 3:
                self.loop(depth, together and self.chance(0.6))
            elif draw < 0.81 and depth < 3:
                self.switch(depth)
            elif draw < 0.86:
                self.atomic()
            elif draw < 0.88:
                self.call()
            elif together:
                if self.chance(0.7):
                    self.warp()
                else:
                    self.exchange()


_HELPER = """\
.func (.param .b32 result) helper(.param .b32 x, .param .b32 y)
{
    .reg .b32 %a, %b, %r; .reg .pred %p;
    ld.param.b32 %a, [x]; ld.param.b32 %b, [y];
    setp.lt.s32 %p, %a, %b;
    @%p bra less;
    sub.u32 %r, %a, %b; bra done;
less:
    mad.lo.u32 %r, %a, 3, %b;
done:
    st.param.b32 [result], %r;
    ret;
}
"""


def program(number: int) -> Job:
    """Random program `number`: every thread's registers and predicates, and the atomics' cells."""
    draw = generator(number, "branching")
    writer = _Writer(draw)
    writer.block(0, together=True)
    writer.block(0, together=True)
    head = [".visible .entry job(.param .u64 in, .param .u64 out)\n{"]
    head += [f".reg .b32 %v<{VALUES}>, %n<{max(writer.loops, 1)}>, %t, %me, %i, %mine, %words;"]
    head += [".reg .pred %p<4>, %loop; .reg .b64 %in, %out, %cells;"]
    head += [f".shared .align 4 .b8 words[{4 * BLOCK}];"]
    head += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out];"]
    head += ["mov.u32 %i, %ctaid.x; mov.u32 %me, %tid.x;"]
    head += [f"mad.lo.u32 %i, %i, {BLOCK}, %me;"]
    head += [f"add.u64 %cells, %out, {4 * THREADS * (VALUES + 1)};"]
    head += ["mov.u32 %words, words; mad.lo.u32 %mine, %me, 4, %words;"]
    head += ["mad.wide.u32 %in, %i, 4, %in; mad.wide.u32 %out, %i, 4, %out;"]
    head += [f"ld.global.u32 %v{n}, [%in+{4 * THREADS * n}];" for n in range(VALUES)]
    head += [f"setp.lt.s32 %p{n}, %v{n}, %v{n + 4};" for n in range(4)]
    tail = [f"st.global.u32 [%out+{4 * THREADS * n}], %v{n};" for n in range(VALUES)]
    tail += ["mov.u32 %t, 0;", *(f"@%p{n} or.b32 %t, %t, {1 << n};" for n in range(4))]
    tail += [f"st.global.u32 [%out+{4 * THREADS * VALUES}], %t;", "ret;", "}"]
    text = HEAD + _HELPER + "\n".join([*head, *writer.lines, *tail]) + "\n"
    inputs = random("u32", VALUES * THREADS, draw)
    out_bytes = 4 * (THREADS * (VALUES + 1) + CELLS)
    return Job(f"branching {number}", text, GRID, BLOCK, (inputs,), out_bytes)
