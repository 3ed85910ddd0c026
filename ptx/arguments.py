"""Arguments of a launch: checked against the kernel's signature, and laid out as PTX lays out
parameters.

Both devices pack through this file alone. Sources: PTX ISA 9.0, section 5.1.6.2 (kernel parameters:
each at the next multiple of its alignment, nothing after the last), CUDA driver API 13.0,
``cuLaunchKernel``.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, Protocol

from ptx import types
from ptx.arrays import Array
from ptx.dtypes import dtypes_for, points_to
from ptx.errors import ArgumentRangeError, ArgumentTypeError, ArgumentValueError
from ptx.ir import Parameter

Arguments = Mapping[str, Any] | Sequence[Any]
Writer = Callable[[Any], Any]

CODES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
FLOAT_CODES = {"f16": "e", "f32": "f", "f64": "d"}

_REWRITE = object()
"""Stands for a value that is packed anew at each launch, because it may have changed behind the
same object.
"""


class Home(Protocol):
    """The device that a block of arguments is for."""

    def refuses(self, address: int, ordinal: int | None) -> str:
        """Why memory at `address` that another library allocated is no use here; ``""`` where it
        is.

        `ordinal` is the number of the GPU that it says it lies on, None where it does not say.
        """
        ...


@dataclass(frozen=True)
class Layout:
    """Where each parameter lies in the block of parameters, in bytes."""

    params: tuple[Parameter, ...]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        offsets, end = [], 0
        for param in self.params:
            start = -(-end // param.alignment) * param.alignment
            offsets.append(start)
            end = start + param.bytes
        return tuple(offsets)

    @property
    def bytes(self) -> int:
        """Size of the block: it ends with the last parameter, without padding."""
        return self.offsets[-1] + self.params[-1].bytes if self.params else 0


class ArgumentBlock:
    """The bytes of one launch's parameters, written by :meth:`write` and read by the device.

    ``address`` points to an array of pointers, one for each parameter, as ``cuLaunchKernel`` takes
    them; it and the layout stay as they are while the values change. Not safe for use by two
    threads at once.
    """

    def __init__(self, kernel: str, params: tuple[Parameter, ...], home: Home) -> None:
        self.kernel = kernel
        self.params = params
        self.layout = Layout(params)
        # Whole words, so that pointers can be written through a view of words.
        self.buffer = (ctypes.c_char * (-(-self.layout.bytes // 8) * 8 or 8))()
        start = ctypes.addressof(self.buffer)
        self._pointers = (ctypes.c_void_p * max(1, len(params)))(
            *(start + offset for offset in self.layout.offsets)
        )
        self.address = ctypes.addressof(self._pointers)
        self._names = tuple(param.name for param in params)
        self._pick = itemgetter(*self._names) if len(params) > 1 else None
        self._writers = tuple(
            _writer(_Slot(kernel, param, self.buffer, offset, home))
            for param, offset in zip(params, self.layout.offsets, strict=True)
        )
        self._last: list[Any] = [_REWRITE] * len(params)

    @property
    def data(self) -> bytes:
        """The block as it stands, exactly as long as the parameters."""
        return self.buffer.raw[: self.layout.bytes]

    def write(self, args: Arguments) -> None:
        """Pack `args`, a mapping by parameter name or a sequence in order.

        Raises :class:`ArgumentTypeError`, :class:`ArgumentRangeError` or
        :class:`ArgumentValueError`, each of which names the parameter and what it takes.
        """
        kind = type(args)
        # The abstract base class is slow to ask.
        if kind is dict or (kind is not tuple and kind is not list and isinstance(args, Mapping)):
            values: Sequence[Any] = self._by_name(args)  # type: ignore[arg-type]
        else:
            values = self._in_order(args)
        index, last, writers = 0, self._last, self._writers
        for value in values:
            if value is not last[index]:
                last[index] = writers[index](value)
            index += 1

    def set(self, changes: Mapping[str, Any]) -> None:
        """Pack some parameters anew, by name; the others stay."""
        for name, value in changes.items():
            if name not in self._names:
                raise ArgumentTypeError(f"{self.kernel} has no parameter {name}; {self._signature}")
            index = self._names.index(name)
            self._last[index] = self._writers[index](value)

    def at(self, *names: str) -> Callable[..., None]:
        """A function that packs addresses, as ints in this order, into parameters of 64 bits.

        It checks nothing, and costs the least.
        """
        offsets = [self.layout.offsets[self._names.index(name)] for name in names]
        for name in names:
            if types.bits(self.params[self._names.index(name)].type) != 64:
                raise ArgumentTypeError(f"{self.kernel}: {name} does not take an address")
        if offsets == [offsets[0] + 8 * n for n in range(len(names))]:
            return partial(struct.Struct(f"<{len(names)}Q").pack_into, self.buffer, offsets[0])
        words: Any = memoryview(self.buffer).cast("B").cast("Q")
        places = [offset // 8 for offset in offsets]
        if len(places) == 3:
            return _writing_three(words, *places)

        def write(*addresses: int) -> None:
            for place, address in zip(places, addresses, strict=True):
                words[place] = address

        return write

    def _by_name(self, args: Mapping[str, Any]) -> tuple[Any, ...]:
        try:
            if self._pick is not None:
                values: tuple[Any, ...] = self._pick(args)
            else:
                values = tuple(args[name] for name in self._names)
        except KeyError:
            values = ()
        if len(values) == len(args) == len(self._names):
            return values
        missing = ", ".join(name for name in self._names if name not in args)
        unknown = ", ".join(str(name) for name in args if name not in self._names)
        told = [f"missing {missing}"] * bool(missing) + [f"no parameter {unknown}"] * bool(unknown)
        raise ArgumentTypeError(f"arguments of {self.kernel}: {'; '.join(told)}; {self._signature}")

    def _in_order(self, args: Any) -> Sequence[Any]:
        if not isinstance(args, (tuple, list)):
            raise ArgumentTypeError(
                f"arguments of {self.kernel}: a dict by name, or a tuple or list in order, "
                f"got {type(args).__name__}; {self._signature}"
            )
        if len(args) != len(self.params):
            raise ArgumentTypeError(
                f"{self.kernel} takes {len(self.params)} arguments, got {len(args)}; "
                f"{self._signature}"
            )
        return args

    @property
    def _signature(self) -> str:
        if not self.params:
            return "it has no parameters"
        return "its parameters: " + ", ".join(f"{p.name} ({_declared(p)})" for p in self.params)


def _writing_three(words: Any, first: int, second: int, third: int) -> Callable[..., None]:
    """Spelled out, since most products have three pointers and this runs at each launch."""

    def write(a: int, b: int, c: int) -> None:
        words[first] = a
        words[second] = b
        words[third] = c

    return write


def _declared(param: Parameter) -> str:
    if param.element is not None:
        return f"{param.pointer or 'generic'}.{param.element}"
    count = f"[{param.count}]" if param.count is not None else ""
    return f".{param.type}{count}"


@dataclass(frozen=True)
class _Slot:
    """One parameter and the place where its bytes go."""

    kernel: str
    param: Parameter
    buffer: Any
    offset: int
    home: Home

    @property
    def label(self) -> str:
        return f"argument {self.param.name} ({_declared(self.param)}) of {self.kernel}"

    def wrong_type(self, wanted: str, value: Any) -> ArgumentTypeError:
        return ArgumentTypeError(f"{self.label}: takes {wanted}, got {_described(value)}")

    def refuse_elements(self, value: Any) -> None:
        """Raises where an array's elements are no such as the pointer was declared to point to."""
        element = self.param.element
        if element is None or points_to(element, value.dtype):
            return
        untyped = f"{self.param.pointer or 'generic'}.b{types.bits(element)}"
        raise self.wrong_type(
            f"an array of {dtypes_for(element)} (declared {untyped} it would take any)", value
        )

    def put(self, data: bytes) -> None:
        self.buffer[self.offset : self.offset + len(data)] = data


def _described(value: Any) -> str:
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and shape:
        return f"{type(value).__name__} of {dtype} and shape {tuple(shape)}"
    if dtype is not None:
        return f"{dtype} scalar"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def _writer(slot: _Slot) -> Writer:
    """A function that checks one value and packs it.

    It returns the value where the same object will always pack the same, else a mark that nothing
    equals.
    """
    param = slot.param
    if param.count is not None:
        return _blob_writer(slot)
    if param.type in FLOAT_CODES:
        return _float_writer(slot, FLOAT_CODES[param.type])
    if types.bits(param.type) == 64:
        return _pointer_writer(slot)
    if param.type[0] in "us":
        return _integer_writer(slot)
    return _bits_writer(slot)


def _scalar(value: Any) -> Any | None:
    """The numpy-like scalar that `value` is (ml_dtypes' included), else None. No import of numpy is
    needed for it.
    """
    dtype = getattr(value, "dtype", None)
    return value if hasattr(dtype, "itemsize") and getattr(value, "shape", None) == () else None


def _integer(slot: _Slot, value: Any, wanted: str, width: int) -> int:
    """`value` as a Python integer, refusing what is none and what is declared wider than `width`
    bytes.
    """
    if isinstance(value, int):
        return int(value)
    scalar = _scalar(value)
    if scalar is not None and scalar.dtype.kind in "iub":
        if scalar.dtype.itemsize > width:
            raise slot.wrong_type(f"{wanted}, {width} bytes; convert it, as in int(value)", value)
        return int(scalar)
    raise slot.wrong_type(wanted, value)


def _integer_writer(slot: _Slot) -> Writer:
    width = types.bits(slot.param.type) // 8
    signed = types.is_signed(slot.param.type)
    low, high = (
        (-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1) if signed else (0, (1 << 8 * width) - 1)
    )
    pack = struct.Struct("<" + CODES[f"{'i' if signed else 'u'}{width}"]).pack_into
    buffer, offset = slot.buffer, slot.offset
    wanted = f"an integer from {low} to {high}"

    def write(value: Any) -> Any:
        number = value if type(value) is int else _integer(slot, value, wanted, width)
        if not low <= number <= high:
            raise ArgumentRangeError(f"{slot.label}: takes {wanted}, got {number}")
        pack(buffer, offset, number)
        return value if type(value) is int else _REWRITE

    return write


def _bits_writer(slot: _Slot) -> Writer:
    """Untyped and packed parameters: an integer of either sign, or the bits of a numpy scalar of
    the same width.
    """
    width = types.bits(slot.param.type) // 8
    low, high = -(1 << 8 * width - 1), (1 << 8 * width) - 1
    wanted = f"an integer from {low} to {high}, a numpy scalar of {width} bytes or {width} bytes"

    def write(value: Any) -> Any:
        scalar = _scalar(value)
        if isinstance(value, (bytes, bytearray)) and len(value) == width:
            slot.put(bytes(value))
            return _REWRITE
        if scalar is not None and scalar.dtype.itemsize == width:
            slot.put(scalar.tobytes() if hasattr(scalar, "tobytes") else bytes(memoryview(scalar)))
            return _REWRITE
        number = _integer(slot, value, wanted, width)
        if not low <= number <= high:
            raise ArgumentRangeError(f"{slot.label}: takes {wanted}, got {number}")
        slot.put((number & (1 << 8 * width) - 1).to_bytes(width, "little"))
        return value if type(value) is int else _REWRITE

    return write


def _float_writer(slot: _Slot, code: str) -> Writer:
    pack = struct.Struct("<" + code).pack_into
    buffer, offset = slot.buffer, slot.offset
    wanted = "a number"

    def write(value: Any) -> Any:
        kind = type(value)
        if kind is not float and kind is not int:
            scalar = _scalar(value)
            if (
                isinstance(value, bool)
                or getattr(getattr(scalar, "dtype", None), "kind", "f") == "b"
            ):
                raise slot.wrong_type("a number, not a truth value", value)
            if scalar is None and not isinstance(value, (int, float)):
                raise slot.wrong_type(wanted, value)
            if scalar is not None and scalar.dtype.kind == "c":
                raise slot.wrong_type("a real number", value)
            value = float(value)
        try:
            pack(buffer, offset, value)
        except (OverflowError, struct.error) as error:
            raise ArgumentRangeError(
                f"{slot.label}: {value} is beyond its largest finite number; "
                "infinity is written float('inf')"
            ) from error
        return value if kind is float or kind is int else _REWRITE

    return write


def _pointer_writer(slot: _Slot) -> Writer:
    """64-bit parameters: an integer, or the address of an array on the launch's device, whose
    elements are what the pointer was declared to point to.
    """
    param = slot.param
    low = 0 if param.type == "u64" else -(1 << 63)
    high = (1 << (63 if param.type == "s64" else 64)) - 1
    words: Any = memoryview(slot.buffer).cast("B")[slot.offset :][:8].cast("Q")
    home, align = slot.home, param.pointer_align or 1
    wanted = f"an array on the device or an integer from {low} to {high}"
    known: Any = None

    def write(value: Any) -> Any:
        nonlocal known
        if type(value) is Array:
            # Spelled out, since this runs for each pointer of each launch.
            storage = value.storage
            owner: object = value.device
            if owner is not home:
                raise ArgumentTypeError(
                    f"{slot.label}: the array lies on {owner}, the launch is on {home}"
                )
            address = value.pointer if storage.freed else storage.address + value.offset
            if value.dtype is not known:
                slot.refuse_elements(value)
                known = value.dtype
        else:
            address = _foreign_address(slot, value, wanted)
            if not low <= address <= high:
                raise ArgumentRangeError(f"{slot.label}: takes {wanted}, got {address}")
        if address % align:
            raise ArgumentValueError(
                f"{slot.label}: address {address:#x} is no multiple of {align}, as `.ptr .align "
                f"{align}` declares"
            )
        words[0] = address if address >= 0 else address + (1 << 64)
        return _REWRITE

    return write


def _foreign_address(slot: _Slot, value: Any, wanted: str) -> int:
    """The address that an integer or another library's array stands for."""
    if type(value) is int:
        return value
    found = external_pointer(value)
    if found is not None:
        refused = slot.home.refuses(*found)
        if refused:
            raise ArgumentTypeError(f"{slot.label}: {refused}")
        if hasattr(value, "dtype"):
            slot.refuse_elements(value)
        return found[0]
    if type(value).__name__ == "CUdeviceptr":
        return int(value)
    if getattr(value, "shape", ()):
        raise slot.wrong_type(
            f"{wanted}; device.array(...) copies host memory to the device", value
        )
    if value is None:
        raise slot.wrong_type(f"{wanted}; a null pointer is written 0", value)
    if (
        slot.param.type == "b64"
        and getattr(_scalar(value), "dtype", None) is not None
        and value.dtype.itemsize == 8
    ):
        return int.from_bytes(value.tobytes(), "little")
    return _integer(slot, value, wanted, 8)


def external_pointer(value: Any) -> tuple[int, int | None] | None:
    """Address and GPU number of another library's device array (the number None where it is not
    told), else None.
    """
    if callable(getattr(value, "data_ptr", None)):
        if not getattr(value, "is_cuda", True):
            return None
        return int(value.data_ptr()), getattr(getattr(value, "device", None), "index", None)
    interface = getattr(value, "__cuda_array_interface__", None)
    return None if interface is None else (int(interface["data"][0]), None)


def _blob_writer(slot: _Slot) -> Writer:
    """Array parameters, as a tensor map: bytes, or any contiguous buffer of the same size."""
    size = slot.param.bytes
    wanted = f"{size} bytes (bytes, a contiguous numpy array, or an object with __bytes__)"

    def write(value: Any) -> Any:
        try:
            data = bytes(memoryview(value))
        except (TypeError, ValueError, BufferError):
            if not hasattr(value, "__bytes__"):
                raise slot.wrong_type(wanted, value) from None
            data = bytes(value)
        if len(data) != size:
            raise ArgumentRangeError(f"{slot.label}: takes {wanted}, got {len(data)} bytes")
        slot.put(data)
        return value if type(value) is bytes else _REWRITE

    return write
