"""Two devices' answers beside each other: what differs, with the first example of each spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptx import types
from tests.differential import straight
from tests.differential.instances import Instance
from tests.differential.programs import Batch
from tests.differential.stages import Task
from tests.differential.values import Array, element, storage


@dataclass(frozen=True)
class Outcome:
    """How one instance fared over its lanes."""

    instance: Instance
    lanes: int
    mismatches: int
    ulps: float = 0.0
    """Largest distance of an approximate result, in units in the last place."""
    example: str = ""


def hexadecimal(values: list[Array], lane: int) -> str:
    return " ".join(f"{int(v[lane]):0{2 * v.dtype.itemsize}x}" for v in values)


def compare_batch(task: Task, ours: Array, theirs: Array) -> Iterator[Outcome]:
    """Emulator (`ours`) against card (`theirs`), both the bytes of all results of a batch."""
    batch = task.of
    assert isinstance(batch, Batch)
    sources = straight.mixed_columns(batch)
    for (instance, found), (_, wanted) in zip(batch.split(ours), batch.split(theirs), strict=True):
        differ = np.zeros(batch.lanes, np.bool_)
        for a, b in zip(found, wanted, strict=True):
            differ |= a != b
        if not differ.any():
            yield Outcome(instance, batch.lanes, 0)
            continue
        lane = int(np.argmax(differ))
        example = (
            f"{hexadecimal(sources, lane)} -> emulator {hexadecimal(found, lane)}, "
            f"card {hexadecimal(wanted, lane)}"
        )
        ulps = 0.0
        if instance.approximate:
            ulps = max(
                distance(type, a, b)
                for type, a, b in zip(instance.results, found, wanted, strict=True)
            )
        yield Outcome(instance, batch.lanes, int(differ.sum()), ulps, example)


def distance(type: str, a: Array, b: Array) -> float:
    """The largest number of representable values between results, infinity where one is NaN."""
    count = element(type)[1]
    bits = types.bits(type) // count
    kind = storage(f"u{bits}")
    a, b = (np.ascontiguousarray(v).view(kind) for v in (a, b))
    layout = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[element(type)[0]]
    infinity = ((1 << (bits - 1)) - 1) >> layout << layout
    sign = kind(1 << (bits - 1))

    def ordered(v: Array) -> Array:
        size = (v & ~sign).astype(np.float64)
        return np.where(v & sign, -size, size)

    nan_a, nan_b = (a & ~sign) > infinity, (b & ~sign) > infinity
    apart = np.abs(ordered(a) - ordered(b))
    apart = np.where(nan_a & nan_b, 0.0, np.where(nan_a ^ nan_b, np.inf, apart))
    return float(apart.max())


def compare_digests(task: Task, ours: Array, theirs: Array) -> Iterator[Outcome]:
    """Exhaustive runs: a mismatch is a second operand for which some first one differs."""
    batch = task.of
    assert isinstance(batch, Batch)
    column = 0
    for instance in batch.instances:
        width = len(instance.results)
        differ = (ours[:, column : column + width] != theirs[:, column : column + width]).any(1)
        column += width
        yield Outcome(instance, len(ours) * straight.ALL, int(differ.sum()))


def compare_words(ours: Array, theirs: Array, width: int = 4) -> tuple[int, int, int]:
    """How many words there are, how many differ, and the first that does."""
    a, b = ours.view(f"u{width}"), theirs.view(f"u{width}")
    differ = a != b
    return len(a), int(differ.sum()), int(np.argmax(differ))


def differences(task: Task, ours: Array, theirs: Array) -> Iterator[str]:
    """Emulator (`ours`) against card (`theirs`), a line for each that differs."""
    if theirs.dtype.kind == "S":
        yield f"{task.name}: card {theirs.tobytes().decode()}"
    elif isinstance(task.of, Batch):
        digests = theirs.dtype == np.uint64
        for one in (compare_digests if digests else compare_batch)(task, ours, theirs):
            if one.mismatches:
                far = f" by up to {one.ulps:g} ulp" if one.ulps else ""
                many = f"{one.mismatches} of {one.lanes} differ{far}"
                yield f"{one.instance.text}: {many} {one.example}".rstrip()
    else:
        count, differ, first = compare_words(ours, theirs, 1)
        if differ:
            yield f"{task.name}: {differ} of {count} bytes differ, the first at {first}"
