"""Which straight-line batches run on what operands: edges and random ones, and all there are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from ptx import types
from ptx.arrays import Array as DeviceArray
from ptx.devices import Device
from tests.differential.instances import Instance, all_instances, held
from tests.differential.programs import HEAD, Batch, Images, batches, run
from tests.differential.values import Array, columns, edges, generator, random, storage, width

SEED = 9
LANES = 4096
COMPARISON_LANES = 1024
"""For set and setp with a predicate to combine: three quarters of all spellings."""
ALL = 1 << 16
SECONDS = 256


def _is_small(signature: tuple[str, ...]) -> bool:
    """Whether the first operand has few enough values to try them all."""
    return types.bits(signature[0]) in (8, 16) and signature[0] != "b8"


def lanes_of(signature: tuple[str, ...]) -> int:
    return COMPARISON_LANES if signature[-1] == "pred" else LANES


def mixed() -> list[Batch]:
    """Every instance on edges and random operands."""
    found: dict[int, list[Instance]] = {}
    for instance in all_instances():
        found.setdefault(lanes_of(instance.sources), []).append(instance)
    return [batch for lanes, group in found.items() for batch in batches(group, lanes)]


def mixed_columns(batch: Batch) -> list[Array]:
    return columns(batch.signature, batch.lanes, SEED)


def exhaustive(sources: int) -> list[Batch]:
    """Instances of one or two operands of which the first has 8 or 16 bits, on all of its values.

    Of 8-bit conversions the upper half of the register is garbage, which they must not read.
    """
    found = [i for i in all_instances() if len(i.sources) == sources and _is_small(i.sources)]
    return batches([i for i in found if i.sources[-1] != "pred"], ALL)


def every_value(type: str) -> Array:
    """All 16-bit patterns, shuffled: a prefix is a sample."""
    shuffled: Array = generator(SEED, "all").permutation(ALL).astype(np.uint16)
    return shuffled


@cache
def second_operands(type: str) -> Array:
    """Edges of `type`, and random values up to :data:`SECONDS`."""
    known = np.array(edges(type), storage(type))[: SECONDS // 2]
    rest = random(type, SECONDS - len(known), generator(SEED, "seconds", type))
    return np.concatenate([known, rest])


# ---------------------------------------------------------------- digests


@cache
def _weights(count: int) -> Array:
    return (np.arange(count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)) * np.uint64(MULTIPLIER)


MULTIPLIER = 0x9E3779B97F4A7C15


def digest(values: Array) -> int:
    """A sum over all lanes that tells their order and their values, modulo 2**64."""
    return int(((values.astype(np.uint64) + np.uint64(1)) * _weights(len(values))).sum())


def _digest_kernel(size: int) -> str:
    """One CTA for each result: the digest of its lanes, which begin where `starts` says."""
    bits = 8 * size
    # A byte is loaded into the 16 bits of its register.
    wide = "mov.b64 %v, %x;" if size == 8 else f"cvt.u64.u{bits} %v, %x;"
    return f"""
.visible .entry digest{size}(.param .u64 data, .param .u64 starts, .param .u64 out,
                             .param .u32 count)
{{
    .reg .b64 %data, %starts, %out, %v, %w, %sum, %at, %i64; .reg .b32 %i, %n, %c;
    .reg .b{max(16, bits)} %x; .reg .pred %p;
    ld.param.u64 %data, [data]; ld.param.u64 %starts, [starts]; ld.param.u64 %out, [out];
    ld.param.u32 %n, [count];
    mov.u32 %c, %ctaid.x;
    mad.wide.u32 %starts, %c, 8, %starts; mad.wide.u32 %out, %c, 8, %out;
    ld.global.u64 %v, [%starts]; add.u64 %data, %data, %v;
    mov.u32 %i, %tid.x; mov.b64 %sum, 0;
next:
    mad.wide.u32 %at, %i, {size}, %data;
    ld.global.b{bits} %x, [%at];
    {wide}
    add.u64 %v, %v, 1;
    cvt.u64.u32 %i64, %i; shl.b64 %w, %i64, 1; add.u64 %w, %w, 1;
    mul.lo.u64 %w, %w, {MULTIPLIER};
    mad.lo.u64 %sum, %v, %w, %sum;
    add.u32 %i, %i, 256; setp.lt.u32 %p, %i, %n; @%p bra next;
    red.global.add.u64 [%out], %sum;
    ret;
}}
"""


DIGESTS = HEAD + "".join(_digest_kernel(size) for size in (1, 2, 4, 8))


def _sizes(batch: Batch) -> Iterator[tuple[int, int]]:
    """Where each result begins and the bytes of its elements."""
    for instance, places in zip(batch.instances, batch.places, strict=True):
        for type, place in zip(instance.results, places, strict=True):
            yield place, width(held(type)) // 8


class Digester:
    """Digests of all results of a batch, on the device where that is a GPU."""

    def __init__(self, device: Device, batch: Batch, images: Images) -> None:
        self.device, self.batch = device, batch
        self.results = list(_sizes(batch))
        self.kernels = images.load_all(device, DIGESTS) if device.is_cuda else None

    def __call__(self, out: DeviceArray) -> Array:
        if self.kernels is None:
            data = out.numpy()
            return np.array(
                [
                    digest(data[place : place + size * ALL].view(f"u{size}"))
                    for place, size in self.results
                ],
                np.uint64,
            )
        found = np.zeros(len(self.results), np.uint64)
        for size in {size for _, size in self.results}:
            which = [n for n, result in enumerate(self.results) if result[1] == size]
            starts = self.device.array(np.array([self.results[n][0] for n in which], np.uint64))
            sums = self.device.array(np.zeros(len(which), np.uint64))
            self.kernels[f"digest{size}"].launch(
                grid=len(which), block=256, args=[out, starts, sums, ALL]
            )
            found[which] = sums.numpy()
        return found


def run_exhaustive(device: Device, batch: Batch, images: Images) -> Array:
    """Digests of every result of the batch, one row for each second operand (or one row)."""
    first = every_value(batch.signature[0])
    if len(batch.signature) == 1:
        return Digester(device, batch, images)(run(device, batch, [first], images))[None, :]
    digests = Digester(device, batch, images)
    rows = []
    for second in second_operands(batch.signature[1]):
        column = np.full(ALL, second, storage(batch.signature[1]))
        rows.append(digests(run(device, batch, [first, column], images)))
    return np.array(rows)
