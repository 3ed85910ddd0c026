"""Run a kernel on the emulator and on a GPU, as ptxas makes it with and without optimising.

Three answers that must agree to the bit: where they do not, the assembler, the emulator or the
kernel is at fault (one that races, or reads what nobody wrote). The arguments are those of `run`.
Prints each element that differs with the elements of the inputs at its place. Exits with 1 where
anything differs.

    python -m ptx compare axpy.ptx --grid 4 --block 256 --arg 1000 --arg 2.0 \\
        --arg x.npy --arg zeros:f32:1000
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptx.commands import read, text_of
from ptx.commands.run import Given, arguments_of, kernel_name, launch_arguments

if TYPE_CHECKING:
    import numpy as np

    from ptx.devices import Device
    from ptx.ir import Module

SHOWN = 8
"""Elements that are printed of an array that differs."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    launch_arguments(parser)
    parser.add_argument("--device", default="cuda:0", help="the GPU, as cuda:1")
    parser.add_argument(
        "--levels",
        type=lambda text: tuple(map(int, text.split(","))),
        default=(0, 3),
        help="ptxas's levels of optimising, as 0,1,3",
    )


@dataclass(frozen=True)
class Way:
    """One way to run the kernel: a device and what it loads."""

    name: str
    device: Device
    image: Any


def ways(module: Module, device: str, levels: tuple[int, ...]) -> Iterator[Way]:
    """The emulator, and the GPU with the code of each level."""
    import ptx
    from ptx.devices import image_target

    yield Way("emulator", ptx.device("emulator"), module)
    card = ptx.device(device)
    for level in levels:
        image = ptx.assemble(module, image_target(card, module), optimize=level)
        yield Way(f"{device} -O{level}", card, image)


def run(options: argparse.Namespace) -> int:
    from ptx.text import parse

    module = parse(text_of(read(options.file)), options.file)
    name = kernel_name(module, options.kernel)
    answers: dict[str, list[np.ndarray[Any, Any]]] = {}
    arrays: list[Given] = []
    for way in ways(module, options.device, options.levels):
        kernel = way.device.load(way.image)[name]
        values, arrays = arguments_of(way.device, kernel, options.arg)
        shape = {"shared": options.shared, "cluster": options.cluster}
        kernel.launch(options.grid, options.block, values, **shape)
        way.device.synchronize()
        answers[way.name] = [given.array.numpy() for given in arrays]
    differing = sum(_report(number, answers, arrays) for number in range(len(arrays)))
    if not differing:
        print(f"{', '.join(answers)}: equal to the bit")
    return 1 if differing else 0


def _report(
    number: int, answers: dict[str, list[np.ndarray[Any, Any]]], arrays: list[Given]
) -> bool:
    """Prints where the answers differ in one array; whether they do."""
    import numpy as np

    found = {name: arrays_of[number].ravel() for name, arrays_of in answers.items()}
    first, *others = (answer.view(f"u{answer.itemsize}") for answer in found.values())
    places = np.flatnonzero(np.any([first != other for other in others], axis=0))
    if not len(places):
        return False
    print(f"{arrays[number].label}: {len(places)} of {len(first)} elements differ")
    for place in places[:SHOWN].tolist():
        index = np.unravel_index(place, answers[next(iter(answers))][number].shape)
        at = "[" + ", ".join(str(int(i)) for i in index) + "]"
        said = ", ".join(f"{name} {answer[place]!s}" for name, answer in found.items())
        given = ", ".join(
            f"{one.label} {one.before.ravel()[place]!s}"
            for one in arrays
            if one.before.size > place
        )
        print(f"  {at}: {said}; given {given}")
    return True
