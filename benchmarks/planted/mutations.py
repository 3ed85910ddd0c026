"""Mistakes made by machine: every place of a correct kernel that a kind of slip fits.

A mutation changes one line of a kernel in ``correct.py`` and knows which line must be named. The
kinds are slips whose result no reading of the kernel can mean; what remains a legal kernel with
another meaning (two factors exchanged, another constant) is no checker's to find.
"""

from __future__ import annotations

import ast
import inspect
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.planted import correct
from benchmarks.planted.mistake import Mistake

RETYPED = {
    "f32": "f64", "s32": "s64", "u32": "u64", "b32": "b64", "b16": "b64", "u8": "f64", "f16": "f64",
    "b64": "b16",
}  # fmt: skip
"""What a type becomes: one of another width, so that no register fits both."""


@dataclass(frozen=True)
class Call:
    """``k.<chain>(arguments)`` on one line of a kernel."""

    chain: tuple[str, ...]
    node: ast.Call
    line: str
    number: int
    """Of the line, in the function, from 0."""

    @property
    def opcode(self) -> str:
        return self.chain[0].rstrip("_")

    def spelled(self, chain: tuple[str, ...]) -> str:
        """The line with another chain."""
        start, end = self.node.func.col_offset, self.node.func.end_col_offset
        return f"{self.line[:start]}k.{'.'.join(chain)}{self.line[end:]}"

    def given(self, arguments: list[str]) -> str:
        """The line with other arguments."""
        start = self.node.func.end_col_offset or 0
        return f"{self.line[:start]}({', '.join(arguments)}){self.line[self.node.end_col_offset :]}"

    @property
    def arguments(self) -> list[str]:
        """Positional arguments and keywords, as written."""
        nodes = [*self.node.args, *(keyword.value for keyword in self.node.keywords)]
        names = [""] * len(self.node.args) + [f"{k.arg}=" for k in self.node.keywords]
        return [
            name + self.line[node.col_offset : node.end_col_offset]
            for name, node in zip(names, nodes, strict=True)
        ]

    @property
    def positional(self) -> int:
        return len(self.node.args)


@dataclass(frozen=True)
class Kernel:
    """A correct kernel's lines, its calls, and the lines that tags mark."""

    name: str
    lines: tuple[str, ...]
    calls: tuple[Call, ...]

    def tagged(self, tag: str) -> int:
        """The first line that ends in ``# tag``."""
        return next(n for n, line in enumerate(self.lines) if re.search(rf"# {tag}$", line))


def read(kernel: Callable[[], object]) -> Kernel:
    lines = tuple(inspect.getsource(kernel).rstrip("\n").split("\n"))
    calls = []
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Call) and node.lineno == node.end_lineno:
            text = ast.unparse(node.func)
            number = node.lineno - 1
            if text.startswith("k.") and "(" not in text and text.count("."):
                calls.append(Call(tuple(text.split(".")[1:]), node, lines[number], number))
    calls.sort(key=lambda call: (call.number, call.node.col_offset))
    return Kernel(kernel.__name__, lines, tuple(calls))


Change = tuple[int, str, int]
"""The line to change, what it becomes, and the line to be named."""


def _instructions(kernel: Kernel) -> Iterator[Call]:
    """Calls that spell an instruction, with at least one modifier."""
    for call in kernel.calls:
        if len(call.chain) > 1:
            yield call


def misspelt_modifier(kernel: Kernel) -> Iterator[Change]:
    """Two neighbouring letters of a modifier exchanged."""
    for call in _instructions(kernel):
        for i, word in enumerate(call.chain[1:], 1):
            if len(word) > 2 and word[1] != word[2]:
                chain = (
                    *call.chain[:i],
                    word[0] + word[2] + word[1] + word[3:],
                    *call.chain[i + 1 :],
                )
                yield call.number, call.spelled(chain), call.number


def modifiers_exchanged(kernel: Kernel) -> Iterator[Change]:
    """Two neighbouring modifiers exchanged."""
    for call in _instructions(kernel):
        for i in range(1, len(call.chain) - 1):
            first, second = call.chain[i : i + 2]
            if first != second:
                chain = (*call.chain[:i], second, first, *call.chain[i + 2 :])
                yield call.number, call.spelled(chain), call.number


def type_dropped(kernel: Kernel) -> Iterator[Change]:
    """The type left out."""
    for call in _instructions(kernel):
        if call.chain[-1] in RETYPED:
            yield call.number, call.spelled(call.chain[:-1]), call.number


def required_modifier_dropped(kernel: Kernel) -> Iterator[Change]:
    """A rounding, a part of a product, a comparison left out."""
    required = {("fma", "rn"), ("mul", "wide"), ("mad", "lo"), ("cvt", "rn"), ("cvt", "rni"),
                ("ex2", "approx"), ("rcp", "approx"), ("setp", "lt"), ("setp", "ge"),
                ("setp", "eq"), ("setp", "ne"), ("shfl", "bfly"), ("red", "add")}  # fmt: skip
    for call in _instructions(kernel):
        for i, word in enumerate(call.chain):
            if (call.opcode, word) in required:
                chain = (*call.chain[:i], *call.chain[i + 1 :])
                yield call.number, call.spelled(chain), call.number


def wrong_type(kernel: Kernel) -> Iterator[Change]:
    """A type of another width or class on registers that have theirs already."""
    reading = {"fma", "add", "mul", "setp", "selp", "max", "st", "red", "cvt", "ex2", "shfl"}
    for call in _instructions(kernel):
        if call.opcode in reading and call.chain[-1] in RETYPED:
            sources = call.node.args[-1:] if call.opcode in ("st", "red") else call.node.args
            if any(isinstance(node, ast.Name) for node in sources):
                chain = (*call.chain[:-1], RETYPED[call.chain[-1]])
                yield call.number, call.spelled(chain), call.number


def wrong_space(kernel: Kernel) -> Iterator[Change]:
    """Global memory accessed as shared memory, and the other way round."""
    other = {"global_": "shared", "shared": "global_"}
    for call in kernel.calls:
        if call.chain[0] in ("ld", "st", "red") and len(call.chain) > 2:
            space = call.chain[1]
            chain = (call.chain[0], other[space], *call.chain[2:])
            yield call.number, call.spelled(chain), call.number


def address_and_value_exchanged(kernel: Kernel) -> Iterator[Change]:
    """The two operands of a store or a reduction exchanged, or source and destination of a copy."""
    for call in kernel.calls:
        if call.chain[0] in ("st", "red") or call.chain[:3] == ("cp", "async_", "cg"):
            first, second, *rest = call.arguments
            yield call.number, call.given([second, first, *rest]), call.number


def predicate_among_the_values(kernel: Kernel) -> Iterator[Change]:
    """The predicate of a selection in a value's place."""
    for call in kernel.calls:
        if call.chain[0] == "selp":
            a, b, c = call.arguments
            yield call.number, call.given([c, a, b]), call.number
            yield call.number, call.given([a, c, b]), call.number


def operand_missing(kernel: Kernel) -> Iterator[Change]:
    """The last operand left out."""
    fixed = {"fma", "mad", "add", "mul", "max", "setp", "selp", "and", "shr", "shl", "st", "red",
             "shfl", "mma", "wgmma"}  # fmt: skip
    for call in _instructions(kernel):
        if call.opcode in fixed and call.positional > 1:
            count = call.positional
            arguments = call.arguments[: count - 1] + call.arguments[count:]
            yield call.number, call.given(arguments), call.number


def operand_too_many(kernel: Kernel) -> Iterator[Change]:
    """An operand more than the instruction has."""
    for call in _instructions(kernel):
        if call.opcode in ("fma", "mad", "add", "mul", "setp", "selp", "ldmatrix", "cvt"):
            count = call.positional
            arguments = [*call.arguments[:count], "0", *call.arguments[count:]]
            yield call.number, call.given(arguments), call.number


def vector_of_another_length(kernel: Kernel) -> Iterator[Change]:
    """v2 for v4, v4 for v2, x2 for x4."""
    other = {"v4": "v2", "v2": "v4", "x4": "x2"}
    for call in _instructions(kernel):
        for i, word in enumerate(call.chain):
            if word in other:
                chain = (*call.chain[:i], other[word], *call.chain[i + 1 :])
                yield call.number, call.spelled(chain), call.number


def fragments_exchanged(kernel: Kernel) -> Iterator[Change]:
    """A and B of a matrix product exchanged."""
    for call in kernel.calls:
        if call.chain[0] == "mma":
            a, b, c = call.arguments
            yield call.number, call.given([b, a, c]), call.number


def literal_out_of_range(kernel: Kernel) -> Iterator[Change]:
    """A barrier, a size or a count that there is not."""
    wrong = {"bar": ("0", "16"), "cp": ("16", "12"), "shfl": ("31", "4294967296"),
             "wgmma": ("1", "2")}  # fmt: skip
    for call in kernel.calls:
        before, after = wrong.get(call.opcode, ("", ""))
        if before in call.arguments[: call.positional]:
            at = call.arguments.index(before)
            arguments = [*call.arguments[:at], after, *call.arguments[at + 1 :]]
            yield call.number, call.given(arguments), call.number


def destination_not_named_under_a_guard(kernel: Kernel) -> Iterator[Change]:
    """``out=`` left out under a guard, where a new register would be left unset."""
    for call in kernel.calls:
        under = kernel.lines[call.number - 1].lstrip().startswith("with k.when")
        under |= kernel.lines[call.number - 2].lstrip().startswith("with k.when")
        if call.node.keywords and under and call.chain[0] in ("ld", "add"):
            yield call.number, call.given(call.arguments[: call.positional]), call.number


def if_in_place_of_when(kernel: Kernel) -> Iterator[Change]:
    """Python's ``if`` on a register."""
    for number, line in enumerate(kernel.lines):
        match = re.fullmatch(r"( +)with k\.(?:when|branch)\((.*)\):", line)
        if match:
            yield number, f"{match[1]}if {match[2]}:", number


def guard_that_is_no_predicate(kernel: Kernel) -> Iterator[Change]:
    """A number for a predicate."""
    for number, line in enumerate(kernel.lines):
        if re.search(r"with k\.when\(\w+\):", line):
            integer = next((c for c in kernel.calls if c.chain == ("mov", "u32")), None)
            if integer is not None and integer.number < number:
                name = kernel.lines[integer.number].split("=")[0].split(",")[0].strip()
                yield number, re.sub(r"when\(\w+\)", f"when({name})", line), number


def barrier_of_some_lanes(kernel: Kernel) -> Iterator[Change]:
    """A barrier under a guard that differs between lanes."""
    for number, line in enumerate(kernel.lines):
        for guard in ("first", "leader"):
            defined = any(f"{guard} = k.setp" in one for one in kernel.lines[:number])
            if line.strip() == "k.bar.sync(0)" and defined:
                yield number, line.replace("k.bar", f"with k.when({guard}): k.bar"), number


def offset_of_one_element(kernel: Kernel) -> Iterator[Change]:
    """A vector access one element further than it should be."""
    for call in kernel.calls:
        if {"v2", "v4"} & set(call.chain) and call.chain[0] in ("ld", "st"):
            address, *rest = call.arguments
            base = address.partition(" + ")[0]
            yield call.number, call.given([f"{base} + 4", *rest]), call.number


def left_out(kernel: Kernel) -> Iterator[Change]:
    """A line left out that others need: a wait, a fence, a label, the first value of a sum."""
    for number, line in enumerate(kernel.lines):
        tag = re.search(r"# without: (\w+)$", line)
        if tag is None:
            continue
        named = kernel.tagged(tag[1])
        indent = line[: len(line) - len(line.lstrip())]
        if match := re.fullmatch(r" +(\w+) = k\.mov\.f32\(0\.0\) .*", line):
            yield number, f'{indent}{match[1]} = k.reg("f32")', named
        elif "mul.wide" in line:
            yield number, line.replace("mul.wide", "mul.lo"), named
        else:
            yield number, f"{indent}pass", named


KINDS = (
    misspelt_modifier, modifiers_exchanged, type_dropped, required_modifier_dropped, wrong_type,
    wrong_space, address_and_value_exchanged, predicate_among_the_values, operand_missing,
    operand_too_many, vector_of_another_length, fragments_exchanged, literal_out_of_range,
    destination_not_named_under_a_guard, if_in_place_of_when, guard_that_is_no_predicate,
    barrier_of_some_lanes, offset_of_one_element, left_out,
)  # fmt: skip


def every() -> dict[str, list[Mistake]]:
    """All mutants, by kind."""
    found: dict[str, list[Mistake]] = {kind.__name__: [] for kind in KINDS}
    for function in correct.KERNELS:
        kernel = read(function)
        _, first = inspect.getsourcelines(function)
        for kind in KINDS:
            for number, line, named in kind(kernel):
                lines = [*kernel.lines[:number], line, *kernel.lines[number + 1 :]]
                made = Mistake(
                    name=f"{kernel.name}:{number}: {kind.__name__}",
                    made="mutation",
                    function=kernel.name,
                    source="\n".join(lines),
                    first=first,
                    line=first + named,
                    file=correct.__file__,
                    right="\n".join(kernel.lines),
                )
                if made not in found[kind.__name__]:
                    found[kind.__name__].append(made)
    return found


def chosen(count: int, seed: int = 3) -> list[Mistake]:
    """`count` mutants, the kinds in turn; every kind is there, none of them twice from one line
    before each line has been taken."""
    chance = random.Random(seed)
    waiting = {kind: chance.sample(some, len(some)) for kind, some in every().items() if some}
    found: list[Mistake] = []
    while len(found) < count:
        for some in waiting.values():
            if some and len(found) < count:
                found.append(some.pop())
    return found
