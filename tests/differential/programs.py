"""Straight-line kernels of many instances: one lane is one vector of operands."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

import ptx
from ptx import types
from ptx.arrays import Array as DeviceArray
from ptx.assembler import Cubin
from ptx.devices import Device, Loaded
from tests.differential.instances import TARGET, Instance, by_signature, held
from tests.differential.values import Array, storage, width

EACH = 48
"""Instances in one kernel: enough to hide the launch, few enough to read."""
BLOCK = 256
HEAD = f".version 9.0\n.target {TARGET}\n.address_size 64\n"


@dataclass(frozen=True)
class Batch:
    """Instances whose sources have the same types, as one kernel over `lanes` lanes."""

    instances: tuple[Instance, ...]
    lanes: int

    @property
    def signature(self) -> tuple[str, ...]:
        return self.instances[0].sources

    @cached_property
    def places(self) -> list[list[int]]:
        """Where the lanes of each result of each instance begin, in bytes."""
        end, found = 0, []
        for instance in self.instances:
            found.append([])
            for type in instance.results:
                found[-1].append(end)
                end += -(-self.lanes * width(held(type)) // 8 // 256) * 256
        self.__dict__["bytes"] = end
        return found

    @property
    def bytes(self) -> int:
        """Of all results."""
        assert self.places
        return int(self.__dict__["bytes"])

    @cached_property
    def text(self) -> str:
        parameters = [f".param .u64 in{n}" for n in range(len(self.signature))]
        lines = [f".visible .entry batch({', '.join([*parameters, '.param .u64 out'])})\n{{"]
        lines += [".reg .b32 %i, %n, %carry; .reg .b64 %at, %out; .reg .b16 %small;"]
        lines += [".reg .pred %beyond; .reg .b64 %out1, %out2, %out4, %out8;"]
        lines += ["mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mul.lo.u32 %i, %i, %n;"]
        lines += ["mov.u32 %n, %tid.x; add.u32 %i, %i, %n;"]
        lines += [f"setp.ge.u32 %beyond, %i, {self.lanes}; @%beyond bra done;"]
        lines += ["ld.param.u64 %out, [out];"]
        lines += [f"mad.wide.u32 %out{size}, %i, {size}, %out;" for size in (1, 2, 4, 8)]
        for n, type in enumerate(self.signature):
            lines += _fetch(n, type)
        for number, instance in enumerate(self.instances):
            lines += self._lines(number, instance)
        return HEAD + "\n".join([*lines, "done: ret;", "}"]) + "\n"

    def _lines(self, number: int, instance: Instance) -> Iterator[str]:
        names = {f"s{n}": f"%s{n}" for n in range(len(self.signature))}
        results = [f"%d{number}_{n}" for n in range(len(instance.results))]
        for name, type in zip(results, instance.results, strict=True):
            yield f".reg .{held(type)} {name};"
        names |= {f"d{n}": name for n, name in enumerate(results)}
        yield instance.text.partition(" //")[0].format(**names)
        for name, type, place in zip(results, instance.results, self.places[number], strict=True):
            if type == "pred":
                yield f"selp.u16 %small, 1, 0, {name}; st.global.b8 [%out1+{place}], %small;"
            else:
                bits = width(held(type))
                yield f"st.global.b{bits} [%out{bits // 8}+{place}], {name};"

    def split(self, data: Array) -> Iterator[tuple[Instance, list[Array]]]:
        """The results of each instance from the bytes that the kernel wrote."""
        for instance, places in zip(self.instances, self.places, strict=True):
            found = []
            for type, place in zip(instance.results, places, strict=True):
                kind = storage(held(type))
                size = self.lanes * np.dtype(kind).itemsize
                found.append(data[place : place + size].view(kind))
            yield instance, found


def _fetch(number: int, type: str) -> Iterator[str]:
    """Load source `number` of this lane."""
    name, bits = f"%s{number}", width(held(type))
    yield f".reg .{held(type)} {name};"
    yield f"ld.param.u64 %at, [in{number}]; mad.wide.u32 %at, %i, {bits // 8}, %at;"
    if type == "pred":
        yield f"ld.global.u8 %small, [%at]; setp.ne.u16 {name}, %small, 0;"
    else:
        yield f"ld.global.b{bits} {name}, [%at];"


def batches(instances: Sequence[Instance], lanes: int, each: int = EACH) -> list[Batch]:
    """All instances in kernels of up to `each`, those of one signature together."""
    return [
        Batch(tuple(group[start : start + each]), lanes)
        for group in by_signature(list(instances)).values()
        for start in range(0, len(group), each)
    ]


# ---------------------------------------------------------------- running


@dataclass(frozen=True)
class Images:
    """Cubins by the hash of the PTX that they were assembled from, as files of one folder."""

    folder: Path | None = None
    optimize: int = 3
    """ptxas's level."""
    loaded: dict[tuple[str, str], Loaded] = field(default_factory=dict)

    def _file(self, text: str) -> Path | None:
        name = f"{hashlib.sha256(text.encode()).hexdigest()[:24]}-O{self.optimize}.cubin"
        return self.folder / name if self.folder else None

    def load_all(self, device: Device, text: str) -> Loaded:
        """The kernels of `text`, from its cubin where the folder has one and the device is a GPU.

        Loaded once for each device, as long as these images live.
        """
        key = (str(device), text)
        if key not in self.loaded:
            file = self._file(text)
            if device.is_cuda and file is not None and file.exists():
                self.loaded[key] = device.load(Cubin(file.read_bytes(), TARGET, text=text))
            else:
                self.loaded[key] = device.load(text)
        return self.loaded[key]

    def assemble(self, text: str) -> None:
        """Assemble `text` into the folder."""
        file = self._file(text)
        if file is not None and not file.exists():
            file.write_bytes(ptx.assemble(text, TARGET, optimize=self.optimize).data)


def run(device: Device, batch: Batch, columns: Sequence[Array], images: Images) -> DeviceArray:
    """All results of a batch, as bytes on the device; what the kernel leaves out is 0xFF."""
    kernel = images.load_all(device, batch.text)["batch"]
    arrays = [device.array(stored(c, t)) for c, t in zip(columns, batch.signature, strict=True)]
    out = device.empty(batch.bytes, "u1", poison=True)
    kernel.launch(grid=-(-batch.lanes // BLOCK), block=BLOCK, args=[*arrays, out])
    return out


def stored(column: Array, type: str) -> Array:
    """Operands as they lie in memory: a value of 8 bits in the 16 of its register."""
    bits = width(held(type))
    if types.bits(type) == 8 and bits == 16 and column.dtype == np.uint8:
        return (column.astype(np.uint16) * np.uint16(0x9D01)).astype(np.uint16)
    assert column.dtype.itemsize * 8 == bits
    return np.ascontiguousarray(column)
