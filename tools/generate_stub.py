"""Write ``ptx/builder.pyi`` from the instruction table, so that editors and mypy know each chain.

    python tools/generate_stub.py           write it
    python tools/generate_stub.py --check   exit 1 where the file is not what the table gives now

The spellings of the table form an acyclic automaton; equal states are one class, which keeps the
file small enough for mypy to read at once.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import generated

from ptx import isa
from ptx.emission import attribute
from ptx.isa import Form

STUB = Path(__file__).resolve().parent.parent / "ptx" / "builder.pyi"
SOURCE = STUB.with_suffix(".py")

HEADER = '''"""The builder as editors and mypy see it, written by tools/generate_stub.py."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ptx.emission import SpellingError as SpellingError
from ptx.errors import Place, PtxError
from ptx.ir import SINK as SINK
from ptx.ir import Function, Item, Label, Not, Reg, Special, Symbol
'''

Position = tuple[int, int, tuple[str, ...]]
"""A form by number, the part of its head, and the words of that part still to come."""


@dataclass(frozen=True)
class State:
    """What may follow some beginning of an instruction, and what a call returns (None: no call)."""

    returns: str | None
    following: tuple[tuple[str, State], ...]


class Automaton:
    """The spellings of one opcode's rows."""

    def __init__(self, forms: list[Form]) -> None:
        self.forms = forms
        self._states: dict[frozenset[Position], State] = {}

    def start(self) -> State:
        return self._state(frozenset(p for i in range(len(self.forms)) for p in self._at(i, 0)))

    def _at(self, form: int, part: int) -> Iterable[Position]:
        """The positions that a form may be in once it stands before `part`."""
        parts = self.forms[form].parts
        yield form, part, ()
        while part < len(parts) and parts[part].optional:
            part += 1
            yield form, part, ()

    def _state(self, positions: frozenset[Position]) -> State:
        if positions in self._states:
            return self._states[positions]
        reached: dict[str, set[Position]] = {}
        results: set[str] = set()
        for form, part, rest in positions:
            parts = self.forms[form].parts
            if rest:
                follow = [(form, part, rest[1:])] if rest[1:] else self._at(form, part)
                reached.setdefault(rest[0], set()).update(follow)
            elif part == len(parts):
                results.add(_result(self.forms[form]))
            else:
                for words in parts[part].alternatives:
                    follow = (
                        [(form, part + 1, words[1:])] if words[1:] else self._at(form, part + 1)
                    )
                    reached.setdefault(words[0], set()).update(follow)
        returns = None if not results else results.pop() if len(results) == 1 else "Any"
        state = State(
            returns,
            tuple(sorted((word, self._state(frozenset(at))) for word, at in reached.items())),
        )
        self._states[positions] = state
        return state


def _result(form: Form) -> str:
    """What the builder returns for a row's destinations."""
    written = [o for o in form.operands if o.access == "w"]
    if not written:
        return "None"
    plain = len(written) == 1 and not written[0].count and written[0].second != "must"
    return "Reg" if plain else "tuple[Reg, ...]"


def stub() -> str:
    """The text of the stub."""
    names: dict[State, str] = {}
    classes: list[str] = []

    def name_of(state: State, path: str) -> str:
        if state in names:
            return names[state]
        names[state] = name = f"_{path}"
        lines = [f"class {name}:"]
        if state.returns is not None:
            lines.append(
                f"    def __call__(self, *sources: Any, out: Any = ...) -> {state.returns}: ..."
            )
        for word, following in state.following:
            inner = name_of(following, f"{path}_{attribute(word).strip('_')}")
            lines.append(f"    {attribute(word)}: {inner}")
        classes.append("\n".join(lines))
        return name

    opcodes = [
        f"    {attribute(op)}: {name_of(Automaton(forms).start(), op)}"
        for op, forms in sorted(isa.FORMS.items())
    ]
    methods = _methods(ast.parse(SOURCE.read_text(encoding="utf-8")))
    kernel = ["class Kernel:", *methods, *_special(), *opcodes]
    vector = [
        "class SpecialVector:",
        *(f"    {axis}: Special" for axis in "wxyz"),
    ]
    return "\n\n".join([HEADER.strip(), *classes, "\n".join(vector), "\n".join(kernel)]) + "\n"


def _special() -> list[str]:
    """The special registers as attributes."""
    vectors = {name.partition(".")[0] for name in isa.SPECIAL if "." in name}
    lines = {f"    {name[1:]}: SpecialVector" for name in vectors}
    lines |= {
        f"    {name[1:]}: Special"
        for name in isa.SPECIAL
        if "." not in name and name not in vectors
    }
    return sorted(lines)


def _methods(tree: ast.Module) -> list[str]:
    """The signatures of the kernel's own public methods, as its source has them."""
    kernel = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Kernel")
    lines = ["    name: str"]
    for method in kernel.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        if method.name.startswith("_") and method.name not in ("__init__", "__str__"):
            continue
        # To a type checker a block is a context manager like others.
        decorators = [
            ast.unparse(d).replace("block", "contextmanager") for d in method.decorator_list
        ]
        lines += [f"    @{decorator}" for decorator in decorators]
        returns = ast.unparse(method.returns) if method.returns else "Any"
        lines.append(f"    def {method.name}({ast.unparse(method.args)}) -> {returns}: ...")
    return lines


if __name__ == "__main__":
    sys.exit(generated.main(__doc__, lambda: {STUB: stub()}))
