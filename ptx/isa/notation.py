"""The notation of the instruction table: one row for each syntax form of the manual, in the
manual's words.

    row("fma.rnd{.ftz}{.sat}.f32   d, a, b, c", rnd="rn rz rm rp")
    row("ld{.weak}.space{.cop}.vec.type   d*vec, [a]", space="shared local", vec="v2 v4", ...)

A row is the manual's syntax line; its keywords say what each choice may be. The grammar::

    syntax   head, two spaces or more, operands
    head     opcode part*
    part     .word               required
             {.word.word}        optional, its words together
    word     literal             may hold "::" and begin with a digit
             choice              the name of a keyword of the row, or of WORDS (words.py)
             text<choice>text    a choice inside a word:  m64n<n>k16   <dim>d
    choice   "a b c" or a range  a value may be several words ("async.global");
                                 "value@sm:ptx" is what that value needs in this row,
                                 as in "relaxed@90:8.6" or "i8@100a+110a:8.6",
                             instead of what NEEDS (words.py) says
    operand  d  d0  d1  p  q     written; p and q are predicates
             a                   read; its type is the last type of the opcode
             a:type              of another type: a PTX type, a choice, `wide` (twice as
                                 wide), label, func, symbol
             a*count             a vector; arithmetic over choices, and over m n k of the
                                 shape word
             +d                  read and written
             %a                  a register, never a literal nor `_`
             a:type!             a register of exactly that type
             {!}c                a predicate that may be negated
             p|q   d{|p}         a second destination, required or optional
             d{_}                may be `_`: the result is dropped
             a{.sel}             with a selector that the keyword `sel` lists
             [a]{.unified}       with this very selector
             [a]  [a:space]      an address; its space is the opcode's space word unless it
                                 says otherwise
             [a:space!]          its register is a .b32, where others are refused
             [map, c:s32*dim]    an address with coordinates
             (a)                 the parenthesised arguments of a call
             _   16              themselves
             {, x}               optional
             {.word, x}          present exactly when .word is

An operand named like a keyword of the row takes those literals (``sel="0 1"``, ``size=range(16,
2**31, 16)``); with a type besides, a register of that type or one of those literals. Several rows
may share a head: operand count and kind choose among them.

The floor is sm_50 and PTX 6.0: what needs less says nothing. ptxas 13.0 judges modules for sm_50 and
up, though it generates code for sm_75 and up.

Every row was judged by ptxas 13.0; where the manual and ptxas differ the row says what ptxas
does, with a comment.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, cast

from ptx.isa import row_operands
from ptx.isa.row_operands import Operand
from ptx.isa.words import NEEDS, ROLES, SPACES, WIDENING, WORDS
from ptx.targets import Version, version
from ptx.types import HELD_IN, TYPES, widened

Words = tuple[str, ...]
Choices = Mapping[str, str]
Literals = Sequence[int]
Kind = Literal["reg", "imm", "addr", "label", "func", "symbol", "sink", "args"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One operand of one spelling: what an actual operand is compared with."""

    name: str
    """As the row names it."""
    kind: Kind
    type: str = ""
    """Of a register; a member of :data:`ptx.types.TYPES`."""
    space: str = ""
    """Of an address: ``"global"``, ``"shared::cta"``, ``"generic"`` ...; of a symbol where the
    opcode names one."""
    count: int | None = None
    """Elements of a vector; None is no vector."""
    literals: Literals | None = None
    """The integers that a literal may be; None leaves it to the type."""
    access: Literal["r", "w", "rw"] = "r"
    negatable: bool = False
    second: Literal["", "may", "must"] = ""
    """Whether ``p|q`` may or must stand here."""
    inner: tuple[Slot, ...] = ()
    """The coordinates of an address."""
    register_only: bool = False
    exact: bool = False
    """A register of the very type, where types that match it elsewhere are refused."""
    selectors: tuple[str, ...] = ()
    """Legal selectors; ``""`` among them: it may be left out."""
    droppable: bool = False
    """Whether ``_`` may stand here."""

    @property
    def role(self) -> str:
        """What it is for where its type does not tell: ``"barrier"``, ``"descriptor"`` ..."""
        return ROLES.get(self.name, "")

    @property
    def written(self) -> bool:
        return self.access != "r"

    def __str__(self) -> str:
        name = f"[{self.name}]" if self.kind == "addr" else self.name
        count = f"*{self.count}" if self.count is not None else ""
        return f"{name}{':' if self.type else ''}{self.type}{count}"


@dataclass(frozen=True)
class _Part:
    """One part of a head: the word sequences it may be, each with the choices it binds."""

    alternatives: dict[Words, tuple[tuple[str, str], ...]]
    optional: bool

    @cached_property
    def by_first(self) -> dict[str, list[Words]]:
        """Word sequences by their first word, longest first."""
        found: dict[str, list[Words]] = {}
        for words in sorted(self.alternatives, key=len, reverse=True):
            found.setdefault(words[0], []).append(words)
        return found


class Form:
    """One row of the table."""

    def __init__(
        self,
        syntax: str,
        sm: int | str,
        ptx: str,
        effect: str,
        choices: Mapping[str, str | range | Sequence[str]],
        chapter: str,
    ) -> None:
        head, _, operands = syntax.partition(" ")
        self.head = head
        self.operand_text = operands.strip()
        self.opcode = re.split(r"[.{]", head, maxsplit=1)[0]
        self.need = str(sm)
        self.version = version(ptx)
        self.effect = effect
        self.keywords = choices
        self.chapter = chapter
        self._value_needs: dict[tuple[str, str], tuple[str, Version]] = {}

    def __repr__(self) -> str:
        return f"<{self.syntax}>"

    @cached_property
    def syntax(self) -> str:
        """The row's syntax line, spaces folded."""
        return f"{self.head} {' '.join(self.operand_text.split())}".strip()

    # ------------------------------------------------------------ choices

    @cached_property
    def choices(self) -> dict[str, Words]:
        """The values of each keyword of the row."""
        return {name: self._values(name) or () for name in self.keywords}

    def _values(self, name: str) -> Words | None:
        listed = self.keywords.get(name)
        if listed is None:
            listed = WORDS.get(name)
        if listed is None:
            return None
        values = []
        for value in map(str, listed.split() if isinstance(listed, str) else listed):
            value, at, need = value.partition("@")
            if at:
                sm, _, ptx = need.partition(":")
                self._value_needs[name, value] = sm.replace("+", " "), version(ptx)
            values.append(value)
        return tuple(values)

    def _expand(self, word: str) -> dict[Words, tuple[tuple[str, str], ...]]:
        """What one word of the head may be, each with the choices it binds."""
        values = self._values(word)
        if values is not None:
            return {tuple(v.split(".")): ((word, v),) for v in values}
        names = re.findall(r"<(\w+)>", word)
        found = {}
        if unknown := [name for name in names if not self._values(name)]:
            raise ValueError(f"row {self.syntax}: the choice <{unknown[0]}> has no values")
        for combination in itertools.product(*(self._values(n) or () for n in names)):
            spelled = word
            for name, value in zip(names, combination, strict=True):
                spelled = spelled.replace(f"<{name}>", value, 1)
            found[tuple(spelled.split("."))] = tuple(zip(names, combination, strict=True))
        return found

    # ------------------------------------------------------------ the head

    @cached_property
    def parts(self) -> tuple[_Part, ...]:
        found = []
        modifiers = self.head[len(self.opcode) :]
        if re.fullmatch(r"((\.[^.{}]+)|\{(\.[^.{}]+)+\})*", modifiers) is None:
            raise ValueError(
                f"row {self.syntax}: the head {self.head!r} does not follow the notation"
            )
        for brace, group in re.findall(r"(\{)?((?:\.[^.{}]+)+)\}?", modifiers):
            for one in [group] if brace else re.findall(r"\.[^.]+", group):
                alternatives: dict[Words, tuple[tuple[str, str], ...]] = {(): ()}
                for word in one[1:].split("."):
                    alternatives = {
                        left + right: bound + more
                        for left, bound in alternatives.items()
                        for right, more in self._expand(word).items()
                    }
                found.append(_Part(alternatives, bool(brace)))
        return tuple(found)

    @cached_property
    def vocabulary(self) -> tuple[frozenset[str], frozenset[str]]:
        """The words that every spelling holds, and those that some spelling may hold."""
        must = {
            word
            for part in self.parts
            if not part.optional and len(part.alternatives) == 1
            for words in part.alternatives
            for word in words
        }
        may = {word for part in self.parts for words in part.alternatives for word in words}
        return frozenset(must), frozenset(may)

    def match(self, words: Words) -> dict[str, str] | None:
        """The choices bound when `words` (without the opcode) spell this row's head, else None."""
        parts, end = self.parts, len(words)

        def walk(i: int, j: int, bound: dict[str, str]) -> dict[str, str] | None:
            if i == len(parts):
                return bound if j == end else None
            part = parts[i]
            for taken in part.by_first.get(words[j], ()) if j < end else ():
                more = part.alternatives[taken]
                if words[j : j + len(taken)] == taken and all(
                    bound.get(name, value) == value for name, value in more
                ):
                    found = walk(i + 1, j + len(taken), bound | dict(more))
                    if found is not None:
                        return found
            return walk(i + 1, j, bound) if part.optional else None

        return walk(0, 0, {})

    def reach(self, words: Words) -> tuple[int, set[str], bool]:
        """How many of `words` some reading takes, what may come next there, may it end there."""
        parts = self.parts
        best: tuple[int, set[str], bool] = (-1, set(), False)

        def note(taken: int, following: set[str], may_end: bool) -> None:
            nonlocal best
            if taken > best[0]:
                best = (taken, following, may_end)
            elif taken == best[0]:
                best = (taken, best[1] | following, best[2] or may_end)

        def walk(i: int, j: int) -> None:
            following: set[str] = set()
            last, may_end = i, True
            while last < len(parts):
                following |= {words[0] for words in parts[last].alternatives}
                if not parts[last].optional:
                    may_end = False
                    break
                last += 1
            note(j, following, may_end)
            for at in range(i, min(last + 1, len(parts))):
                for wanted in parts[at].by_first.get(words[j], ()) if j < len(words) else ():
                    shared = _common(wanted, words[j:])
                    if shared == len(wanted):
                        walk(at + 1, j + shared)
                    else:
                        note(j + shared, {wanted[shared]}, False)

        walk(0, 0)
        return best

    def spellings(self) -> Iterator[tuple[Words, dict[str, str]]]:
        """Every spelling of the head with the choices it binds."""
        axes = [
            ([((), ())] if part.optional else []) + list(part.alternatives.items())
            for part in self.parts
        ]
        for combination in itertools.product(*axes):
            words: Words = (self.opcode,)
            bound: dict[str, str] = {}
            for more_words, more in combination:
                words += more_words
                if any(bound.setdefault(name, value) != value for name, value in more):
                    break
            else:
                yield words, bound

    # ------------------------------------------------------------ the operands

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        try:
            return tuple(row_operands.read(self.operand_text))
        except ValueError as error:
            raise ValueError(f"row {self.syntax}: {error}") from error

    def signatures(self, words: Words, bound: Choices) -> list[tuple[Slot, ...]]:
        """Every operand list that one spelling may have: several where operands are optional."""
        choices = dict(bound)
        for word in words:
            if shape := re.fullmatch(r"m(\d+)n(\d+)(?:k(\d+))?", word):
                choices |= zip("mnk", shape.groups(default="0"), strict=True)
        seen = set(words)
        last_type = next((w for w in reversed(words) if w in TYPES), "")
        space = next((w for w in words if w in SPACES), "generic")
        lists: list[tuple[Slot, ...]] = [()]
        for operand in self.operands:
            condition = operand.condition
            if condition and not (condition in seen or condition in choices):
                continue
            slot = self._slot(operand, choices, last_type, space)
            longer = [slots + (slot,) for slots in lists]
            lists = longer + lists if condition == "" else longer
        return lists

    def _slot(self, operand: Operand, choices: Choices, last_type: str, space: str) -> Slot:
        text, name = operand.text, operand.name
        if text == "_":
            return Slot("_", "sink")
        if text.isdigit():
            return Slot(text, "imm", literals=(int(text),))
        if text[0] == "(":
            return Slot(name, "args", access=operand.access)
        selectors: Words = ()
        if operand.selector:
            selectors = self.choices.get(operand.selector) or (operand.selector,)
            selectors += ("",) * operand.selector_optional
        if text[0] == "[":
            inner = tuple(self._slot(o, choices, last_type, space) for o in operand.inner)
            own = choices.get(operand.type, operand.type)
            space = own or space
            exact = operand.exact
            return Slot(name, "addr", space=space, inner=inner, selectors=selectors, exact=exact)
        literals = self._literals(name)
        if literals is not None and not operand.type:
            return Slot(name, "imm", literals=literals)
        type = choices.get(operand.type, operand.type)
        if type in ("label", "func", "symbol"):
            return Slot(name, cast(Kind, type), space="" if space == "generic" else space)
        if not type:
            type = "pred" if operand.negatable or name in ("p", "q") else last_type
        if type == "wide":
            type = widened(last_type)
        return Slot(
            name,
            "reg",
            type,
            count=self._count(operand.count, choices) if operand.count else None,
            literals=literals,
            access=operand.access,
            negatable=operand.negatable,
            second=operand.second,
            register_only=operand.register_only or operand.exact,
            exact=operand.exact,
            selectors=selectors,
            droppable=operand.droppable,
        )

    def _literals(self, name: str) -> Literals | None:
        listed = self.keywords.get(name, WORDS.get(name))
        if listed is None:
            return None
        if isinstance(listed, range):
            return listed
        return tuple(map(int, listed.split() if isinstance(listed, str) else listed))

    def _count(self, count: str, choices: Choices) -> int | None:
        if count in self.keywords and count not in choices:
            return None
        code = _expression(count)
        values = {name: _digits(choices[name]) for name in code.co_names}
        return int(eval(code, {"__builtins__": {}}, values))

    # ------------------------------------------------------------ needs

    def needs(self, words: Words, bound: Choices) -> tuple[tuple[str, ...], Version]:
        """What a spelling asks of the target (each need must be met) and of the PTX version."""
        found = [(self.need, self.version)]
        settled: set[str] = set()
        for choice in bound.items():
            if choice in self._value_needs:
                found.append(self._value_needs[choice])
                settled.update(choice[1].split("."))
        for word in words:
            for key in (word, "::" + word.partition("::")[2]):
                if key in NEEDS and word not in settled:
                    found.append(NEEDS[key])
        return tuple(dict.fromkeys(need for need, _ in found)), max(v for _, v in found)


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One spelling of one row with one of its operand lists."""

    op: str
    form: Form
    choices: Choices
    slots: tuple[Slot, ...]
    needs: tuple[str, ...]
    """What it asks of the target; each must be met (:func:`ptx.targets.meets`)."""
    version: Version
    """The PTX version that brought it."""
    wide: bool
    """Whether operands may be wider than their type (PTX ISA 9.4.1)."""

    @property
    def opcode(self) -> str:
        return self.form.opcode

    @property
    def words(self) -> Words:
        return tuple(self.op.split("."))

    @property
    def written(self) -> int:
        """How many operands, from the first on, are only written: a builder makes these."""
        count = 0
        for slot in self.slots:
            if slot.access != "w":
                break
            count += 1
        return count

    @property
    def syntax(self) -> str:
        return self.form.syntax


def variants(form: Form, words: Words, bound: dict[str, str]) -> list[Variant]:
    """The variants of one spelling of one row."""
    needs, ptx = form.needs(words, bound)
    wide = form.opcode in WIDENING and not (HELD_IN.keys() | {"async"}) & set(words)
    return [
        Variant(".".join(words), form, bound, slots, needs, ptx, wide)
        for slots in form.signatures(words, bound)
    ]


# ---------------------------------------------------------------- small pieces


def _common(a: Words, b: Words) -> int:
    """How many words two sequences begin with alike."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


@cache
def _digits(value: str) -> int:
    return int(re.sub(r"\D", "", value))


@cache
def _expression(count: str):  # type: ignore[no-untyped-def]
    return compile(count.replace("/", "//"), "count", "eval")


# ---------------------------------------------------------------- the table itself

FORMS: dict[str, list[Form]] = {}
"""Every row, by opcode, in the order of the table."""


def common(**keywords: Any) -> dict[str, Any]:
    """Keywords that several rows share: ``BF16 = common(sm=90, ptx="7.8")``, ``row(..., **BF16)``."""
    return keywords


def row(
    syntax: str,
    *,
    sm: int | str = 50,
    ptx: str = "6.0",
    effect: str = "",
    **choices: str | range | Sequence[str],
) -> None:
    """Add a row: `syntax` in the notation above, the target and version it needs, its choices."""
    import sys

    chapter = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]
    form = Form(syntax, sm, ptx, effect, choices, chapter)
    FORMS.setdefault(form.opcode, []).append(form)
