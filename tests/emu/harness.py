"""One instruction, or a piece of PTX, run on the emulator with arrays in and arrays out."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ptx
from ptx import types
from ptx.emu import EmulatorFault, Memory, launch

Array = NDArray[Any]
FILE = "test.ptx"


def _plain(type: str) -> str:
    """The register type that a test holds a value of `type` in."""
    return "b16" if types.bits(type) == 8 else types.register_type(type)


def _load(type: str) -> str:
    """The type that loads and stores it: bits of the same width."""
    return f"b{max(8, types.bits(type))}"


def operate(
    op: str,
    results: str,
    sources: Sequence[tuple[str, Any] | str],
    form: str | None = None,
    before: str = "",
) -> list[Array]:
    """Run one instruction over arrays: one thread for each element.

    `results` are the types of the results, separated by spaces; a source is a type with an array of
    bits or numbers, or the text of a literal. `form` is the operand list, with {d0} and {s0}.
    """
    wanted = results.split()
    arrays = [np.atleast_1d(s[1]) for s in sources if not isinstance(s, str)]
    count = max([1] + [len(a) for a in arrays])
    lines: list[str] = []
    memory = Memory()
    names, parameters = [], []
    for number, source in enumerate(sources):
        if isinstance(source, str):
            names.append(source)
            continue
        type, values = source
        value_bytes = max(1, types.bits(type) // 8)
        data = np.broadcast_to(np.atleast_1d(values), count)
        data = np.ascontiguousarray(data).astype(_numpy(type, data), copy=False)
        address = memory.allocate(count * value_bytes)
        memory.write(address, data)
        parameters.append(address)
        name = f"%s{number}"
        names.append(name)
        lines += _fetch(name, type, len(parameters) - 1, value_bytes)
    outputs = []
    targets = [f"%d{number}" for number in range(len(wanted))]
    for name, type in zip(targets, wanted, strict=True):
        lines.append(f".reg .{_plain(type)} {name};")
    operands = form or ", ".join(
        ["{d" + str(n) + "}" for n in range(len(wanted))]
        + ["{s" + str(n) + "}" for n in range(len(names))]
    )
    keys = {f"d{n}": name for n, name in enumerate(targets)}
    keys |= {f"s{n}": name for n, name in enumerate(names)}
    for line in before.splitlines():
        lines.append(line.strip())
    filled = operands.replace("{{", "\0").replace("}}", "\1")
    lines.append(f"{op} {filled.format(**keys)};".replace("\0", "{").replace("\1", "}"))
    for name, type in zip(targets, wanted, strict=True):
        size = max(1, types.bits(type) // 8)
        address = memory.allocate(count * size)
        outputs.append((address, type, size))
        parameters.append(address)
        lines += _put(name, type, len(parameters) - 1, size)
    block = min(count, 256)
    run(
        lines,
        parameters,
        memory=memory,
        grid=-(-count // block),
        block=block,
        limit=count,
    )
    return [
        memory.read(address, count * size).view(_result(type)) for address, type, size in outputs
    ]


def _numpy(type: str, data: Array) -> Any:
    if type == "pred":
        return np.uint8
    if data.dtype.kind == "f":
        return {"f32": np.float32, "f64": np.float64, "f16": np.float16}[type]
    width = max(8, types.bits(type))
    return f"i{width // 8}" if data.dtype.kind == "i" else f"u{width // 8}"


def _result(type: str) -> Any:
    width = max(8, types.bits(type))
    if type in ("f32", "f64"):
        return {"f32": np.float32, "f64": np.float64}[type]
    return f"i{width // 8}" if types.is_signed(type) else f"u{width // 8}"


def _address(parameter: int, size: int) -> list[str]:
    return [
        f"ld.param.u64 %at, [p{parameter}];",
        f"mad.wide.u32 %at, %i, {size}, %at;",
    ]


def _fetch(name: str, type: str, parameter: int, size: int) -> list[str]:
    lines = [f".reg .{_plain(type)} {name};", *_address(parameter, size)]
    if type == "pred":
        return [*lines, "ld.global.u8 %small, [%at];", f"setp.ne.u16 {name}, %small, 0;"]
    return [*lines, f"ld.global.{_load(type)} {name}, [%at];"]


def _put(name: str, type: str, parameter: int, size: int) -> list[str]:
    lines = _address(parameter, size)
    if type == "pred":
        return [*lines, f"selp.u16 %small, 1, 0, {name};", "st.global.u8 [%at], %small;"]
    return [*lines, f"st.global.{_load(type)} [%at], {name};"]


def module(
    lines: Sequence[str] | str, parameters: int, limit: int | None = None, target: str = "sm_90a"
) -> ptx.Module:
    """A kernel `test` around some lines: one line of text each, from line 11 on."""
    body = list(lines) if not isinstance(lines, str) else lines.strip("\n").split("\n")
    declared = ", ".join(f".param .u64 p{n}" for n in range(parameters))
    guard = f"setp.ge.u32 %out, %i, {limit}; @%out ret;" if limit is not None else ""
    head = [
        ".version 9.0",
        f".target {target}",
        ".address_size 64",
        f".visible .entry test({declared}) {{",
        ".reg .b64 %at; .reg .b32 %i, %j; .reg .b16 %small; .reg .pred %out;",
        "mov.u32 %i, %ctaid.x;",
        "mov.u32 %j, %ntid.x; mul.lo.u32 %i, %i, %j;",
        f"mov.u32 %j, %tid.x; add.u32 %i, %i, %j; {guard}",
        ".reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<32>; .reg .pred %p<8>;",
        ".reg .f64 %fd<8>;",
    ]
    return ptx.parse("\n".join([*head, *body, "ret;", "}"]), FILE)


def run(
    lines: Sequence[str] | str,
    parameters: Sequence[int] = (),
    memory: Memory | None = None,
    grid: int = 1,
    block: int = 1,
    shared: int = 0,
    limit: int | None = None,
    target: str = "sm_90a",
    **options: Any,
) -> None:
    """Run a piece of PTX with 64-bit parameters p0, p1 ...; %i is the global thread index."""
    launch(
        "test",
        module(lines, len(parameters), limit, target),
        (grid, 1, 1),
        (block, 1, 1),
        struct.pack(f"<{len(parameters)}Q", *parameters),
        shared,
        memory=memory or Memory(),
        **options,
    )


def outputs(
    lines: str,
    count: int,
    dtype: str = "u4",
    block: int = 32,
    fill: int | None = None,
    **options: Any,
) -> Array:
    """Run a piece of PTX that writes `count` elements at p0, and read them."""
    memory = Memory()
    size = np.dtype(dtype).itemsize
    address = memory.allocate(count * size)
    if fill is not None:
        memory.write(address, np.full(count, fill, dtype))
    run(lines, [address], memory=memory, block=block, **options)
    return memory.read(address, count * size).view(dtype)


def fault(lines: str, *parameters: int, **options: Any) -> EmulatorFault:
    """The fault that a piece of PTX ends in."""
    try:
        run(lines, parameters, **options)
    except EmulatorFault as error:
        return error
    raise AssertionError("the kernel ran without a fault")
