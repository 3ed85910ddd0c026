"""What a kernel under construction declares beside its parameters: names, variables, directives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ptx import parameters
from ptx.errors import Place, PtxError
from ptx.ir import Symbol, Variable
from ptx.types import FUNDAMENTAL, register_type


class Names:
    """The names of a kernel, of parameters, variables and labels: each is taken once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def take(self, name: str, what: str, place: Place) -> str:
        """The name; an error where PTX allows it not or it is taken."""
        if parameters.legal_name(name, what, place) in self._taken:
            raise PtxError(f"the name {name} is taken already", place)
        self._taken.add(name)
        return name

    def unique(self, name: str, what: str, place: Place) -> str:
        """The name, or where it is taken the first of ``name_1``, ``name_2`` ... that is free."""
        parameters.legal_name(name, what, place)
        number, free = 1, name
        while free in self._taken:
            free = f"{name}_{number}"
            number += 1
        self._taken.add(free)
        return free


class Variables:
    """The variables of a kernel, and those of its module that it uses."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.own: list[Variable] = []
        self.external: list[Variable] = []

    def declare(
        self,
        space: str,
        name: str,
        type: str,
        count: int | Sequence[int],
        align: int | None,
        place: Place,
    ) -> Symbol:
        """An array of `count` elements, or of that shape, `align` bytes."""
        given = count if isinstance(count, (tuple, list)) else (count,)
        shape = tuple(parameters.whole(n, f"an extent of {name}", place) for n in given)
        self.own.append(self._made(space, name, type, shape, align, place))
        return Symbol(name, 0, space)

    def declare_dynamic(self, name: str, type: str, align: int, place: Place) -> Symbol:
        """Shared memory whose size the launch gives."""
        made = self._made("shared", name, type, (None,), align, place)
        self.external.append(replace(made, linkage="extern"))
        return Symbol(name, 0, "shared")

    def alignment(self, variable: Symbol) -> int | None:
        """In bytes, as declared; None for what is no variable of the kernel."""
        for one in (*self.own, *self.external):
            if one.name == variable.name:
                return one.alignment
        return None

    def _made(
        self,
        space: str,
        name: str,
        type: str,
        shape: tuple[int | None, ...],
        align: int | None,
        place: Place,
    ) -> Variable:
        held = register_type(type)
        if held not in FUNDAMENTAL or held == "pred":
            raise PtxError(f".{type} is no type of a variable", place)
        bytes = None if align is None else parameters.alignment(align, name, place)
        self._names.take(name, "variable", place)
        return Variable(space, held, name, shape, bytes, place=place)


class Directives:
    """The performance directives of a kernel (PTX ISA 9.0, section 11.4)."""

    MOST_THREADS = 1024

    def __init__(self) -> None:
        self.arguments: dict[str, tuple[int, ...]] = {}
        self._places: dict[str, Place] = {}

    @property
    def places(self) -> tuple[Place, ...]:
        """Where each stands, in the order of `arguments`."""
        return tuple(self._places[word] for word in self.arguments)

    def add(self, word: str, arguments: tuple[int, ...], place: Place) -> None:
        """State one, or state it anew."""
        other = {"maxntid": "reqntid", "reqntid": "maxntid"}.get(word)
        if other in self.arguments:
            raise PtxError(f".{word} and .{other} exclude each other", place)
        arguments = tuple(parameters.whole(n, f"an argument of .{word}", place) for n in arguments)
        if other and arguments[0] * arguments[1] * arguments[2] > self.MOST_THREADS:
            raise PtxError(
                f".{word} {arguments}: a CTA has at most {self.MOST_THREADS} threads", place
            )
        self.arguments[word] = arguments
        self._places[word] = place
