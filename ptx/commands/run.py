"""Run a kernel of a file of PTX, on the emulator or a GPU.

The arguments are given in the order of the parameters. A scalar is a number, by its parameter's
type. An array is FILE.npy, or zeros:TYPE:SHAPE, ones:, arange: or empty:TYPE:SHAPE with a PTX type
and a shape as 1024 or 64x32; what is empty nobody has written. SOURCE=FILE.npy writes the array
back when the kernel has run. Prints the arrays that the kernel changed. Exits with 1 where the
kernel or an argument is wrong, 2 where a file cannot be read or written.

    python -m ptx run axpy.ptx --grid 4 --block 256 --arg 1000 --arg 2.0 \\
        --arg x.npy --arg zeros:f32:1000=y.npy
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptx.commands import read, text_of
from ptx.errors import PtxError

if TYPE_CHECKING:
    from ptx.devices import Device, LoadedKernel
    from ptx.ir import Module, Parameter

_MADE = ("zeros", "ones", "arange", "empty")


def launch_arguments(parser: argparse.ArgumentParser) -> None:
    """What tells a kernel, the shape of its launch, and what it is handed."""
    parser.add_argument("file", metavar="FILE", help="PTX text; - is standard input")
    parser.add_argument("--kernel", metavar="NAME", help="may be left out where there is one")
    parser.add_argument(
        "--grid", type=_extent, default=(1,), help="CTAs, as 4 or 4,2,1 (default: 1)"
    )
    parser.add_argument(
        "--block", type=_extent, default=(1,), help="threads, as 256 or 16,16 (default: 1)"
    )
    parser.add_argument("--cluster", type=_extent, help="CTAs of a cluster")
    parser.add_argument("--shared", type=int, default=0, help="bytes of dynamic shared memory")
    parser.add_argument(
        "--arg", action="append", default=[], metavar="VALUE", help="an argument, in order"
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    launch_arguments(parser)
    parser.add_argument("--device", help="auto, cuda:0 ..., emulator")
    parser.add_argument(
        "--report", action="store_true", help="print what the emulator counted, by instruction"
    )
    parser.add_argument(
        "--order",
        type=_order,
        help="how the emulator orders warps and CTAs: fixed, reverse or a seed",
    )
    parser.add_argument(
        "--contract",
        action="store_true",
        help="have the emulator round mul and add without .rn once, as ptxas does; else twice",
    )


def _extent(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+([,x]\d+){0,2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no extent; 4 and 4,2,1 are")
    return tuple(int(part) for part in re.split("[,x]", text))


def _order(text: str) -> str | int:
    if text in ("fixed", "reverse"):
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no order; fixed, reverse and seeds are")
    return int(text)


@dataclass
class Given:
    """An array argument."""

    label: str
    array: Any
    before: Any
    save: str


def run(options: argparse.Namespace) -> int:
    from ptx.devices import device
    from ptx.text import parse

    module = parse(text_of(read(options.file)), options.file)
    name = kernel_name(module, options.kernel)
    emulated = options.report or options.contract or options.order is not None
    where = device(options.device or ("emulator" if emulated else "auto"))
    if emulated and where.is_cuda:
        raise PtxError(
            f"--report, --order and --contract are the emulator's; the device is {where}"
        )
    kernel = where.load(module)[name]
    values, arrays = arguments_of(where, kernel, options.arg)
    with _Options(where, options):
        kernel.launch(
            options.grid, options.block, values, shared=options.shared, cluster=options.cluster
        )
        where.synchronize()
    told = [_finish(given) for given in arrays]
    if arrays and not any(told):
        print("the kernel changed no array")
    if options.report:
        print(where.report)
    return 0


class _Options:
    """The emulator's options for one launch: a device is shared by all that ask for it."""

    def __init__(self, where: Device, options: argparse.Namespace) -> None:
        self.backend: Any = where.backend
        self.wanted: dict[str, Any] = {"report": True} if options.report else {}
        if options.contract:
            self.wanted["contract"] = True
        if options.order is not None:
            self.wanted["order"] = options.order

    def __enter__(self) -> None:
        if self.wanted:
            self.before, self.backend.options = self.backend.options, self.wanted

    def __exit__(self, *raised: object) -> None:
        if self.wanted:
            self.backend.options = self.before


def kernel_name(module: Module, wanted: str | None) -> str:
    names = list(module.kernels)
    listed = ", ".join(names) or "none"
    if wanted is not None and wanted not in names:
        raise PtxError(f"no kernel {wanted}; there are: {listed}")
    if wanted is None and len(names) != 1:
        raise PtxError(f"--kernel NAME says which kernel to run; there are: {listed}")
    return wanted or names[0]


def arguments_of(
    where: Device, kernel: LoadedKernel, texts: list[str]
) -> tuple[list[Any], list[Given]]:
    parameters = kernel.parameters
    if len(texts) != len(parameters):
        signature = ", ".join(f"{_declared(p)} {p.name}" for p in parameters) or "nothing"
        raise PtxError(
            f"{kernel.name} takes {len(parameters)} arguments, got {len(texts)}: {signature}"
        )
    values: list[Any] = []
    arrays: list[Given] = []
    for parameter, text in zip(parameters, texts, strict=True):
        value: Any = _number(parameter, text)
        if value is None:
            source, _, save = text.partition("=")
            data = _data(source, f"argument {parameter.name} ({_declared(parameter)})")
            if parameter.count is not None:
                value = data.tobytes()
            else:
                empty = source.startswith("empty:")
                value = where.empty(data.shape, data.dtype) if empty else where.array(data)
                arrays.append(Given(parameter.name, value, data, save))
        values.append(value)
    return values, arrays


def _declared(parameter: Parameter) -> str:
    return f".{parameter.type}" + (f"[{parameter.count}]" if parameter.count is not None else "")


def _number(parameter: Parameter, text: str) -> int | float | None:
    """A scalar by its parameter's type; None for what names an array."""
    from ptx import types

    wide = types.bits(parameter.type) == 64 and parameter.type[0] != "f"
    array = wide or parameter.count is not None
    try:
        if parameter.type[0] == "f" or parameter.type in ("bf16", "tf32"):
            return float(text)
        return int(text, 0)
    except ValueError:
        if array:
            return None
        wanted = "a number" if parameter.type[0] == "f" else "an integer"
        raise PtxError(
            f"argument {parameter.name} ({_declared(parameter)}): takes {wanted}, got {text!r}"
        ) from None


def _data(source: str, label: str) -> Any:
    """The array that a source names, in host memory."""
    import numpy as np

    how, *rest = source.split(":")
    if how in _MADE and len(rest) == 2:
        type, shape = rest
        if not re.fullmatch(r"\d+(x\d+)*", shape):
            raise PtxError(f"{label}: {shape!r} is no shape; 1024 and 64x32 are")
        extents = tuple(int(n) for n in shape.split("x"))
        kind = _dtype(type, label)
        if how == "arange":
            return np.arange(np.prod(extents)).astype(kind).reshape(extents)
        return np.full(extents, how == "ones", kind)
    if not source.endswith(".npy"):
        made = ", ".join(f"{one}:TYPE:SHAPE" for one in _MADE)
        raise PtxError(f"{label}: takes a number, FILE.npy, {made}; got {source!r}")
    try:
        return np.load(source, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise PtxError(f"{label}: {source} holds no array: {error}") from None


def _dtype(type: str, label: str) -> Any:
    import ml_dtypes
    import numpy as np

    match = re.fullmatch(r"([bufs])(8|16|32|64)", type)
    if type == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    if match is None or type == "f8":
        raise PtxError(f"{label}: {type!r} is no type of an array; f32, f16, bf16, u8 ... are")
    letter = {"b": "u", "u": "u", "s": "i", "f": "f"}[match[1]]
    return np.dtype(f"{letter}{int(match[2]) // 8}")


def _finish(given: Given) -> bool:
    """Write an array back, or print it, where the kernel changed it; whether either was done."""
    import numpy as np

    after = given.array.numpy()
    if given.save:
        np.save(given.save, after)
        print(f"{given.label}: written to {given.save}")
    elif after.tobytes() != given.before.tobytes():
        text = np.array2string(after, threshold=16, edgeitems=4, max_line_width=100)
        print(f"{given.label}: {after.dtype} {after.shape}\n{text}")
    else:
        return False
    return True
