"""From the arrays of a call to a launch: what is checked, what is kept for the next such call."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import ptx
from ptx.devices import Device
from ptxgemm.arrays import HOST, Layout, Operand, contiguous, share_memory
from ptxgemm.elements import RULES
from ptxgemm.frameworks import SIGNATURES, Kept, Placed, alike, family_of
from ptxgemm.launching import Go, Launcher, notice
from ptxgemm.problem import Problem, describe
from ptxgemm.select import CANDIDATES, Terms
from ptxgemm.staging import Staged, stage
from ptxgemm.tail import AUTO, Tail

KEPT = 4096
"""Calls that are remembered before all are forgotten."""


@dataclass(frozen=True, eq=False)
class Manner:
    """What a product is asked for, its arrays aside; as :func:`manner` keeps it."""

    alpha: float
    beta: float
    transpose_a: bool
    transpose_b: bool
    tail: Tail
    device: Any
    tf32: bool

    def terms(self, low: int = 0, in_place: bool = False) -> Terms:
        return Terms(self.alpha, self.beta, low, in_place, self.tail, tf32=self.tf32)


@lru_cache(maxsize=1024)
def manner(
    alpha: float = 1.0,
    beta: float = 0.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    tail: Any = "auto",
    device: Any = "auto",
    tf32: bool = False,
) -> Manner:
    """One object for the same question, so that to look it up costs little."""
    if tail == "auto":
        tail = AUTO
    if not isinstance(tail, Tail):
        raise ValueError(f'tail is {tail!r}; expected "auto" or a ptxgemm.Tail')
    return Manner(float(alpha), float(beta), transpose_a, transpose_b, tail, device, tf32)


@dataclass(eq=False)
class Call:
    """What all calls on arrays of the same libraries, layouts and devices have in common."""

    problem: Problem
    manner: Manner
    where: Device
    ordinal: int
    family: Placed
    """Of the result."""
    others: tuple[Placed, ...]
    """Further libraries among the operands, each with a current stream of its own."""
    layouts: tuple[Layout, Layout, Layout | None, Layout]
    """Of A, B, C where it is read, and D."""
    pointers: tuple[Callable[[Any], int], ...]
    """What reads the addresses of A, B, C and D from arrays; empty where some are looked at in each
    call, which is not kept then.
    """

    def __post_init__(self) -> None:
        self.bounds = tuple(
            end for layout in self.layouts for end in (layout.bounds if layout else (0, 0))
        )
        self.size = self.problem.size
        c, d = self.layouts[2:]
        self._c_fits = c is not None and (c.shape, c.strides) == (d.shape, d.strides)
        self.ready: dict[tuple[int, bool, int], Go] = {}
        """By the addresses' low bits, whether D is C, and the stream."""

    def stream(self, given: Any, told: int | None = None) -> int:
        """The stream to launch on, after what it has to wait for; `told` is the one that the array
        of the result names itself.
        """
        if given is not None:
            return self.where.backend.handle_of(given)
        stream = self.family.stream(self.ordinal) if told is None else told
        for other in self.others:
            theirs = other.stream(self.ordinal)
            if theirs != stream:
                self.where.backend.order(stream, theirs)
        return stream

    def launch(self, a: int, b: int, c: int, d: int, stream: int, *, new: bool) -> None:
        """With the addresses of the four; `new` says that D is memory of its own."""
        same = not new and self.is_in_place(a, b, c, d)
        key = (a | b | c | d) & 15, same, stream
        go = self.ready.get(key)
        if go is None:
            terms = self.manner.terms(*key[:2])
            go = self.ready[key] = bound(self.where, self.problem, terms).on(stream)
        go(a, b, c, d)

    def is_in_place(self, a: int, b: int, c: int, d: int) -> bool:
        """:func:`in_place`, where addresses alone do not tell that nothing overlaps."""
        a0, a1, b0, b1, c0, c1, d0, d1 = self.bounds
        low, high = d + d0, d + d1
        if (a + a1 <= low or a + a0 >= high) and (b + b1 <= low or b + b0 >= high):
            if c + c1 <= low or c + c0 >= high:
                return False
            if c == d and self._c_fits:
                return True
        at = zip((a, b, c), self.layouts, strict=False)
        return in_place(tuple(at), (d, self.layouts[3]))


def in_place(reads: tuple[tuple[int, Layout | None], ...], out: tuple[int, Layout]) -> bool:
    """Whether `out` is C itself, exactly; `reads` are A, B and C, None for what is not read.

    Raises ValueError where it shares memory with one of them in another way.
    """
    pointer, layout = out
    for name, (address, read) in zip("abc", reads, strict=True):
        if read is None:
            continue
        if name == "c" and address == pointer:
            if read.shape == layout.shape and read.strides == layout.strides:
                return True
        if share_memory((address, read), out):
            hint = "out may be c itself, exactly" if name == "c" else f"copy {name} first"
            raise ValueError(f"out shares memory with {name}, which is read meanwhile; {hint}")
    return False


@lru_cache(maxsize=4096)
def bound(where: Device, problem: Problem, terms: Terms) -> Launcher:
    return Launcher(where, problem, terms)


_CALLS: dict[Hashable, Call] = {}


def multiply(a: Any, b: Any, c: Any, out: Any, manner: Manner, stream: Any) -> Any:
    """The product, in `out` or new."""
    key = signature(a, b, c, out, manner)
    if key is not None:
        call = _CALLS.get(key)
        if call is not None:
            return run(call, a, b, c, out, stream)
    return first(a, b, c, out, manner, stream)


def known(a: Any, b: Any, c: Any, out: Any, manner: Manner) -> Call | None:
    """The call that :func:`multiply` kept for such arrays; none is kept for the host's."""
    return _CALLS.get(signature(a, b, c, out, manner))


def signature(a: Any, b: Any, c: Any, out: Any, manner: Manner | None) -> Hashable | None:
    """What calls of one :class:`Call` have in common; None where that costs too much to ask, and of
    types that were not met yet.
    """
    try:
        return (
            manner,
            SIGNATURES[type(a)](a),
            SIGNATURES[type(b)](b),
            None if c is None else SIGNATURES[type(c)](c),
            None if out is None else SIGNATURES[type(out)](out),
        )
    except KeyError:
        return None


def run(call: Call, a: Any, b: Any, c: Any, out: Any, stream: Any) -> Any:
    """A call on arrays whose signature was seen before."""
    plain = stream is None and not call.others
    handle = call.family.stream(call.ordinal) if plain else call.stream(stream)
    new = out is None
    if new:
        out = call.family.empty(call.problem.shape, a, call.layouts[3], handle)
    if call.size:
        of_a, of_b, of_c, of_d = call.pointers
        read = 0 if call.layouts[2] is None else of_c(c)
        call.launch(of_a(a), of_b(b), read, of_d(out), handle, new=new)
    return out


def repeated(call: Call, a: Any, b: Any, out: Any) -> Callable[[Any, Any, Any], bool] | None:
    """What makes the call on further such arrays, without C and on the current stream, at the least
    cost: False says that nothing was done, and :func:`multiply` has to look. None where the call is
    none of these.
    """
    if call.others or not call.size or call.layouts[2] is not None:
        return None
    same_a, same_b, same_out = alike(a), alike(b), alike(out)
    of_a, of_b, _, of_out = call.pointers
    stream, ordinal, ready = call.family.stream, call.ordinal, call.ready
    a0, a1, b0, b1, _, _, d0, d1 = call.bounds

    def run(a: Any, b: Any, out: Any) -> bool:
        if not (same_a(a) and same_b(b) and same_out(out)):
            return False
        at_a, at_b, at = of_a(a), of_b(b), of_out(out)
        low, high = at + d0, at + d1
        if (at_a + a1 > low and at_a + a0 < high) or (at_b + b1 > low and at_b + b0 < high):
            return False
        go = ready.get(((at_a | at_b | at) & 15, False, stream(ordinal)))
        if go is None:
            return False
        go(at_a, at_b, 0, at)
        return True

    return run


def first(a: Any, b: Any, c: Any, out: Any, manner: Manner, stream: Any) -> Any:
    """A call on arrays that were not seen before, or of a kind that is looked at each time."""
    given = {
        name: family_of(name, array).describe(name, array, _number(stream))
        for name, array in (("a", a), ("b", b), ("c", c), ("out", out))
        if array is not None or name in ("a", "b")
    }
    check(given, manner)
    devices = {operand.layout.device for operand in given.values()}
    if len(devices) > 1:
        told = ", ".join(f"{o.name} on {o.layout.device}" for o in given.values())
        raise ValueError(f"the arrays lie on different devices: {told}")
    (label,) = devices
    if label == HOST:
        return on_host(given, out, manner, stream)
    call = prepared(given, manner, label)
    key = signature(a, b, c, out, manner)
    if key is not None:
        if len(_CALLS) >= KEPT:
            _CALLS.clear()
        _CALLS[key] = call
    handle, new = call.stream(stream, given["a" if out is None else "out"].pending), out is None
    for operand in given.values():
        if operand.pending not in (None, handle):
            call.where.backend.order(handle, operand.pending)
    if new:
        out = call.family.empty(call.problem.shape, a, call.layouts[3], handle)
        given["out"] = family_of("out", out).describe("out", out, handle)
    if call.size:
        addresses = [
            given[name].pointer if layout is not None else 0
            for name, layout in zip(("a", "b", "c", "out"), call.layouts, strict=True)
        ]
        a_at, b_at, c_at, out_at = addresses
        call.launch(a_at, b_at, c_at, out_at, handle, new=new)
    return call.family.returned(out)


def _number(stream: Any) -> int | None:
    if stream is None or isinstance(stream, int):
        return stream
    names = ("cuda_stream", "ptr", "handle")
    return next((int(getattr(stream, name)) for name in names if hasattr(stream, name)), None)


def check(given: dict[str, Operand], manner: Manner) -> None:
    """What is wrong whatever the shapes: types, and an `out` that cannot hold a result."""
    found = {name: operand.layout.dtype for name, operand in given.items()}
    for name in ("a", "b"):
        if found[name] not in CANDIDATES:
            raise TypeError(
                f"{name} has dtype {found[name]}; products take {', '.join(CANDIDATES)}"
            )
    if found["b"] != found["a"]:
        raise TypeError(f"b has dtype {found['b']} and a has {found['a']}; they must be the same")
    rule = RULES[found["a"]]
    for name in ("c", "out"):
        if name in found and found[name] not in rule.outs:
            raise TypeError(
                f"{name} has dtype {found[name]}; a product of {found['a']} gives "
                f"{' or '.join(rule.outs)}"
            )
    if "c" in found and found.get("out", found["c"]) != found["c"]:
        raise TypeError(
            f"c has dtype {found['c']} and out has {found['out']}; they must be the same"
        )
    if manner.tf32 and found["a"] != "float32":
        raise ValueError(f"tf32 is for float32; a has dtype {found['a']}")
    if rule.integer:
        for name, value in (("alpha", manner.alpha), ("beta", manner.beta)):
            if not (value.is_integer() and -(2**31) <= value < 2**31):
                raise ValueError(
                    f"{name} is {value:g}; sums of {found['a']} are scaled by integers of 32 bits"
                )
    if manner.beta and "c" not in given:
        raise ValueError(f"beta is {manner.beta:g}, and there is no c to add")
    if "out" in given:
        layout = given["out"].layout
        if not layout.writable:
            raise ValueError("out is read-only")
        if layout.overlaps_itself:
            raise ValueError(
                f"out overlaps itself: with shape {layout.shape} and strides {layout.strides} (in "
                "elements) several of its elements share an address"
            )


def problem_of(found: dict[str, Layout], manner: Manner) -> Problem:
    """The product of arrays by name; the shape of `c` is checked even where it is not read."""
    problem = describe(
        found["a"],
        found["b"],
        found.get("c"),
        found.get("out"),
        transpose_a=manner.transpose_a,
        transpose_b=manner.transpose_b,
    )
    return problem if manner.beta else replace(problem, c=None)


def prepared(given: dict[str, Operand], manner: Manner, label: str) -> Call:
    """The call on arrays of one device."""
    where = ptx.device(label if manner.device == "auto" else manner.device)
    if where.label != label:
        raise ValueError(f"the arrays lie on {label}, and device is {where.label}")
    found = {name: operand.layout for name, operand in given.items()}
    problem = problem_of(found, manner)
    dense = Layout(problem.shape, contiguous(problem.shape), problem.out, label)
    family = given["out" if "out" in given else "a"].family
    readers = [given[name].family if name in given else family for name in ("a", "b", "c", "out")]
    kept = all(isinstance(reader, Kept) for reader in readers)
    return Call(
        problem,
        manner,
        where,
        int(label.partition(":")[2] or 0),
        family,
        tuple({operand.family for operand in given.values()} - {family}),
        (found["a"], found["b"], found["c"] if manner.beta else None, found.get("out", dense)),
        tuple(reader.pointer for reader in readers) if kept else (),
    )


def on_host(given: dict[str, Operand], out: Any, manner: Manner, stream: Any) -> Any:
    """A product of the host's arrays, on a device and back."""
    where = ptx.device(manner.device)
    if not where.is_cuda and manner.device == "auto":
        notice()
    found = {name: operand.layout for name, operand in given.items()}
    problem = problem_of(found, manner)
    if out is not None:
        reads = tuple(
            (given[n].pointer, found[n]) if n in given and (n != "c" or manner.beta) else (0, None)
            for n in "abc"
        )
        in_place(reads, (given["out"].pointer, found["out"]))
    result = computed(where, given, manner, problem, stream)
    if out is None:
        return given["a"].family.returned(result)
    given["out"].source[...] = result
    return out


def computed(
    where: Device, given: dict[str, Operand], manner: Manner, problem: Problem, stream: Any
) -> Any:
    """The result as a new array of the host."""
    result = where.empty(problem.shape, problem.out)
    if problem.size:
        read = ("a", "b", "c") if manner.beta else ("a", "b")
        copies: dict[str, Staged] = {name: stage(where, given[name]) for name in read}
        moved = problem_of({name: copy.layout for name, copy in copies.items()}, manner)
        moved = replace(moved, out=problem.out)
        a, b, c = (copies[name].pointer if name in copies else 0 for name in "abc")
        low = (a | b | c | result.pointer) & 15
        launcher = bound(where, moved, manner.terms(low))
        launcher.on(where.backend.handle_of(stream))(a, b, c, result.pointer)
    return result.numpy()
