"""A sample of an H200's answers, kept beside the tests, and its replay on the emulator.

``straight.npz`` and ``video.npz`` hold operands and results of every instance that is to be equal
to the bit; ``digests.npz`` a checksum for each case of tensor cores, each program with control flow
and each job of asynchronous instructions; ``one.npz`` of each result of an exhaustive run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from ptx.devices import Device
from tests.differential import straight
from tests.differential.instances import Instance, held
from tests.differential.jobs import Job
from tests.differential.programs import Batch, Images, batches, run
from tests.differential.values import Array, storage

FOLDER = Path(__file__).parent / "recorded"
LANES = {"straight": 160, "video": 33}
"""How many vectors of operands are recorded of each instance of a stage."""
COMPARISON_LANES = 24
"""Of set and setp with a predicate."""
_SEPARATOR = "\x1f"

Answers = dict[str, Array]


def sampled(batch: Batch, lanes: int) -> slice:
    """The lanes of a batch that are recorded: spread over pairs of edges and random ones."""
    count = COMPARISON_LANES if batch.signature[-1] == "pred" else lanes
    return slice(None, None, batch.lanes // count)


def record(tasks: Iterable[tuple[Batch, Array]], lanes: int) -> Answers:
    """What to keep of the batches' results: by signature its instances, operands and results."""
    found: Answers = {}
    rows: dict[str, list[Array]] = {}
    texts: dict[str, list[str]] = {}
    for batch, data in tasks:
        chosen, name = sampled(batch, lanes), " ".join(batch.signature)
        for number, column in enumerate(straight.mixed_columns(batch)):
            found[f"{name}|{number}"] = column[chosen]
        for instance, results in batch.split(data):
            if not instance.approximate:
                described = (instance.op, instance.text, *instance.results)
                texts.setdefault(name, []).append(_SEPARATOR.join(described))
                kept = (np.ascontiguousarray(r[chosen]).view(np.uint8) for r in results)
                rows.setdefault(name, []).extend(kept)
    for name, parts in rows.items():
        found[f"{name}|results"] = np.concatenate(parts)
        found[f"{name}|texts"] = np.array(texts[name])
    return found


def instances_of(kept: Answers, name: str) -> list[Instance]:
    """The recorded instances of one signature."""
    found = []
    for text in kept[f"{name}|texts"]:
        op, body, *results = str(text).split(_SEPARATOR)
        found.append(Instance(op, body, tuple(results), tuple(name.split())))
    return found


def replayed(device: Device, kept: Answers, pattern: str = "") -> Iterator[str]:
    """What differs from the recorded answers, one line for each instance."""
    for name in sorted({key.rpartition("|")[0] for key in kept if key.endswith("|texts")}):
        columns = [kept[f"{name}|{n}"] for n in range(len(name.split()))]
        lanes, place = len(columns[0]), 0
        wanted: dict[str, list[Array]] = {}
        for instance in instances_of(kept, name):
            for type in instance.results:
                size = lanes * np.dtype(storage(held(type))).itemsize
                data = kept[f"{name}|results"][place : place + size]
                wanted.setdefault(instance.text, []).append(data.view(storage(held(type))))
                place += size
        chosen = [i for i in instances_of(kept, name) if re.search(pattern, i.op)]
        for batch in batches(chosen, lanes):
            ours = run(device, batch, columns, Images()).numpy()
            for instance, found in batch.split(ours):
                yield from _difference(instance, columns, found, wanted[instance.text])


def _difference(
    instance: Instance, columns: list[Array], found: list[Array], wanted: list[Array]
) -> Iterator[str]:
    differ = np.any([a != b for a, b in zip(found, wanted, strict=True)], axis=0)
    if differ.any():
        lane = int(np.argmax(differ))
        operands, ours, card = (
            " ".join(f"{int(v[lane]):#x}" for v in values) for values in (columns, found, wanted)
        )
        yield f"{instance.text} of {operands}: emulator {ours}, card {card}"


def digests(job: Job, data: Array, cases: int) -> Array:
    """A checksum of each of a job's `cases`, whose results lie one after another."""
    parts = data.reshape(cases, -1)
    return np.array([crc32(part.tobytes()) for part in parts], np.uint32)


def keep(stage: str, tasks: Iterable[tuple[Batch | Job, Array]]) -> None:
    """Write the sample of a stage of batches, or the checksums of one of jobs."""
    if stage in LANES:
        batches = ((of, data) for of, data in tasks if isinstance(of, Batch))
        np.savez_compressed(FOLDER / f"{stage}.npz", **record(batches, LANES[stage]))
        return
    kept = dict(np.load(FOLDER / "digests.npz"))
    kept = {name: sums for name, sums in kept.items() if not name.startswith(f"{stage}|")}
    for of, data in tasks:
        assert isinstance(of, Job)
        cases = 1 if stage in ("branching", "asynchrony") else of.grid
        kept[f"{stage}|{of.name}"] = digests(of, data, cases)
    np.savez_compressed(FOLDER / "digests.npz", **kept)


def some_cases(job: Job, cases: list[int]) -> Job:
    """The job with some of its cases alone."""
    each = job.out_bytes // job.grid
    inputs = tuple(array[cases] for array in job.inputs)
    return replace(job, inputs=inputs, grid=len(cases), out_bytes=each * len(cases))


def checksum(array: Array) -> int:
    """One number for an array of digests."""
    return int.from_bytes(blake2b(array.tobytes(), digest_size=8).digest(), "little")
