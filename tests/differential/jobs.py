"""A job: one kernel with its launch, the arrays that it reads, and what it writes."""

from __future__ import annotations

from dataclasses import dataclass

from ptx.devices import Device
from tests.differential.programs import Images
from tests.differential.values import Array


@dataclass(frozen=True)
class Job:
    """`text` holds one kernel ``job`` whose parameters are the inputs and the output, in order."""

    name: str
    text: str
    grid: int
    block: int
    inputs: tuple[Array, ...]
    out_bytes: int
    fill: int = 0xFF
    """What every byte of the output is before."""

    def run(self, device: Device, images: Images) -> Array:
        """The bytes of the output."""
        kernel = images.load_all(device, self.text)["job"]
        out = device.empty(self.out_bytes, "u1", poison=self.fill)
        arrays = [device.array(array) for array in self.inputs]
        kernel.launch(grid=self.grid, block=self.block, args=[*arrays, out])
        found: Array = out.numpy()
        return found
