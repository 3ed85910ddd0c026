"""The libraries whose arrays a product takes, met through the objects themselves.

None is imported here: one whose array was given is in ``sys.modules``. Sources: CUDA array
interface 3 (streams among it), DLPack 1.1, and each library's own documentation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from functools import cache
from operator import attrgetter, methodcaller
from typing import Any, Protocol, runtime_checkable

import ml_dtypes
import numpy as np

import ptx
from ptx.arrays import Array
from ptxgemm import dlpack
from ptxgemm.arrays import BYTES, HOST, Layout, Operand, contiguous

EXTENSIONS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""Types that numpy has by ml_dtypes, and those of as many bits that torch gives it."""
LEGACY = 0
"""The default stream, by the driver's handle."""


class Family(Protocol):
    """One library's arrays."""

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        """Raises TypeError for an array that no product takes. `stream` is where it will be used,
        None for wherever the library works now.
        """
        ...

    def returned(self, result: Any) -> Any:
        """What the caller gets for a result: of :meth:`Placed.empty`, or on the host of numpy."""
        ...


class Placed(Family, Protocol):
    """Arrays that may lie in a device's memory."""

    def stream(self, ordinal: int) -> int:
        """The stream that the library works on now, by the driver's handle."""
        ...

    def empty(self, shape: tuple[int, ...], like: Any, layout: Layout, stream: int) -> Any:
        """A new array of the kind and device of `like` and of the dtype of `layout`, to be written
        on `stream`.
        """
        ...


@runtime_checkable
class Kept(Placed, Protocol):
    """Arrays of which a signature and an address cost less than a description: what was found out
    for a call is kept for further ones.
    """

    def signature(self, array: Any) -> Hashable:
        """All that a description depends on, the address left out."""
        ...

    def pointer(self, array: Any) -> int: ...


def family_of(name: str, array: Any) -> Family:
    """The library of an array. Raises TypeError where it is none."""
    found = FAMILIES.get(type(array))
    if found is None:
        found = FAMILIES[type(array)] = _family(name, array)
        if isinstance(found, Kept):
            SIGNATURES[type(array)] = found.signature
    return found


FAMILIES: dict[type, Family] = {}
"""By type of array, as far as they were met; the types of one library share one object."""
SIGNATURES: dict[type, Callable[[Any], Hashable]] = {}
"""Of those whose calls are kept."""


def alike(array: Any) -> Callable[[Any], bool]:
    """What tells arrays of the type and the signature of `array`, whose calls are kept, at the
    least cost; it may deny others that a product takes just so.
    """
    kind, family = type(array), FAMILIES[type(array)]
    if isinstance(family, Torch):
        return family.alike(array)
    assert isinstance(family, Kept)
    look, known = family.signature, family.signature(array)
    return lambda other: type(other) is kind and look(other) == known


def _family(name: str, array: Any) -> Family:
    if isinstance(array, Array):
        return _OWN
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask a product would ignore")
    if isinstance(array, np.ndarray):
        return _NUMPY
    for library, kind, made in (
        ("torch", "Tensor", Torch),
        ("cupy", "ndarray", CuPy),
        ("jax", "Array", Jax),
    ):
        module = sys.modules.get(library)
        if module is not None and isinstance(array, getattr(module, kind, ())):
            return _library(made, module)
    if _speaks(array):
        return _FOREIGN
    raise TypeError(
        f"{name} is a {type(array).__name__}; a product takes arrays of numpy, torch, CuPy, JAX or "
        "ptx, and whatever has __cuda_array_interface__, __dlpack__ or __array_interface__"
    )


@cache
def _library(made: Callable[[Any], Family], module: Any) -> Family:
    return made(module)


def _speaks(array: Any) -> bool:
    return any(
        hasattr(array, protocol)
        for protocol in (
            "__cuda_array_interface__", "__dlpack__", "__array_interface__", "__array__",
        )
    )  # fmt: skip


# ---------------------------------------------------------------- on the host


def on_host(name: str, array: Any, family: Family, holds: Any = None) -> Operand:
    """An array that numpy sees."""
    view = np.asarray(array)
    if view.dtype.names or view.dtype.hasobject or view.dtype.name not in BYTES:
        dtype, strides = view.dtype.name, contiguous(view.shape)
    else:
        dtype, item = view.dtype.name, view.itemsize
        # Bytes that are no whole elements, as in a field of a record: the copy to a device is made
        # of the view itself, and only overlaps are judged by these.
        strides = tuple(s // item for s in view.strides)
    # What only gives copies of itself cannot be written.
    own = any(hasattr(array, protocol) for protocol in ("__array_interface__", "__dlpack__"))
    layout = Layout(view.shape, strides, dtype, HOST, own and view.flags.writeable)
    return Operand(name, view, view.ctypes.data, layout, family, holds=holds)


class Numpy:
    """numpy, and the CPU's arrays of whatever else numpy reads."""

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        return on_host(name, array, self)

    def returned(self, result: Any) -> Any:
        return result[()]  # a scalar where there is no dimension, as numpy.matmul gives


# ---------------------------------------------------------------- ptx


class Own:
    """``ptx.Array``, of a GPU or of the emulator."""

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        layout = Layout(array.shape, contiguous(array.shape), array.dtype.name, str(array.device))
        return Operand(name, array, array.pointer, layout, self)

    def signature(self, array: Any) -> Hashable:
        return array.shape, array.dtype, array.device.label

    def pointer(self, array: Any) -> int:
        return int(array.pointer)

    def stream(self, ordinal: int) -> int:
        return LEGACY

    def empty(self, shape: tuple[int, ...], like: Any, layout: Layout, stream: int) -> Any:
        return like.device.empty(shape, layout.dtype)

    def returned(self, result: Any) -> Any:
        return result


# ---------------------------------------------------------------- torch


class Torch:
    """torch's tensors on the CPU and on CUDA."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        # current_stream() makes an object of its own at each call: 4 us, where this takes 0.1.
        raw = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)
        self.stream = raw or self._slow_stream
        self.pointer = methodcaller("data_ptr")
        self._look = attrgetter("requires_grad", "shape", "dtype", "device")

    def _slow_stream(self, ordinal: int) -> int:
        return int(self.torch.cuda.current_stream(ordinal).cuda_stream)

    def signature(self, array: Any) -> Hashable:
        found = self._look(array)
        if found[0] and self.torch.is_grad_enabled():
            raise TypeError(
                "a tensor requires a gradient, which these products do not have: detach() it, or "
                "call them under torch.no_grad()"
            )
        return found, array.stride(), array.is_neg()

    def alike(self, array: Any) -> Callable[[Any], bool]:
        """:func:`alike` of a tensor; only such as need no gradient are told."""
        kind, shape, strides = type(array), array.shape, array.stride()
        dtype, device = array.dtype, array.device

        def same(other: Any) -> bool:
            return (
                type(other) is kind
                and other.shape == shape
                and other.stride() == strides
                and other.dtype is dtype
                and other.device == device
                and not other.requires_grad
                and not other.is_neg()
            )

        return same

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        if array.layout is not self.torch.strided:
            raise TypeError(f"{name} is a tensor of layout {array.layout}; expected strided")
        self.signature(array)
        if array.is_neg():
            raise TypeError(f"{name} has its negative bit set: call resolve_neg() on it")
        where = array.device
        dtype = str(array.dtype).removeprefix("torch.")
        if where.type == "cpu":
            return on_host(name, self._on_host(array.detach(), dtype), self, holds=array)
        if where.type != "cuda":
            raise TypeError(f"{name} lies on {where}; expected cpu or cuda")
        layout = Layout(tuple(array.shape), tuple(array.stride()), dtype, f"cuda:{where.index}")
        return Operand(name, array, array.data_ptr(), layout, self)

    def empty(self, shape: tuple[int, ...], like: Any, layout: Layout, stream: int) -> Any:
        made = self.torch.empty(shape, dtype=getattr(self.torch, layout.dtype), device=like.device)
        if stream != self.stream(like.device.index):
            # Else its memory may be given away on the current stream while it is written on ours.
            cuda = self.torch.cuda
            made.record_stream(cuda.ExternalStream(stream) if stream else cuda.default_stream())
        return made

    def _on_host(self, array: Any, dtype: str) -> Any:
        """What numpy can read: types that it lacks by their bits."""
        if dtype not in EXTENSIONS:
            return array
        bits = array.view(getattr(self.torch, EXTENSIONS[dtype]))
        return np.asarray(bits).view(getattr(ml_dtypes, dtype))

    def returned(self, result: Any) -> Any:
        if not isinstance(result, np.ndarray):
            return result
        name = result.dtype.name
        if name not in EXTENSIONS:
            return self.torch.from_numpy(result)
        bits = self.torch.from_numpy(result.view(EXTENSIONS[name]))
        return bits.view(getattr(self.torch, name))


# ---------------------------------------------------------------- CuPy


class CuPy:
    """CuPy's arrays."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy

    def stream(self, ordinal: int) -> int:
        return int(self.cupy.cuda.get_current_stream().ptr)

    def signature(self, array: Any) -> Hashable:
        return array.shape, array.strides, array.dtype, array.device.id

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        strides = _elements(name, array.strides, array.dtype.itemsize)
        ordinal = array.device.id
        layout = Layout(array.shape, strides, array.dtype.name, f"cuda:{ordinal}")
        return Operand(name, array, array.data.ptr, layout, self)

    def empty(self, shape: tuple[int, ...], like: Any, layout: Layout, stream: int) -> Any:
        with like.device:
            return self.cupy.empty(shape, layout.dtype)

    def returned(self, result: Any) -> Any:
        return result


# ---------------------------------------------------------------- JAX


class Jax:
    """JAX, whose arrays nobody may write: results are made of arrays of ours."""

    def __init__(self, jax: Any) -> None:
        self.jax = jax

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        array.block_until_ready()  # JAX works on streams that it does not tell
        (where,) = array.devices()
        if where.platform == "cpu":
            return on_host(name, array, self, holds=array)
        found = through_dlpack(name, array, self, stream)
        layout = found.layout
        frozen = Layout(layout.shape, layout.strides, layout.dtype, layout.device, writable=False)
        return Operand(name, array, found.pointer, frozen, self, holds=found.holds)

    def stream(self, ordinal: int) -> int:
        return LEGACY

    def empty(self, shape: tuple[int, ...], like: Any, layout: Layout, stream: int) -> Any:
        return ptx.device(layout.device).empty(shape, layout.dtype)

    def returned(self, result: Any) -> Any:
        if not isinstance(result, Array):
            return self.jax.numpy.asarray(result)
        result.device.synchronize()  # type: ignore[attr-defined]
        # JAX does not keep alive what it sees through the interface: it takes a copy.
        return self.jax.numpy.array(result, copy=True).block_until_ready()


# ---------------------------------------------------------------- everything else


class Foreign:
    """Whatever speaks a protocol; the one for GPUs is asked for first."""

    def describe(self, name: str, array: Any, stream: int | None) -> Operand:
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return through_interface(name, array, interface, self)
        if hasattr(array, "__dlpack_device__"):
            kind, _ = array.__dlpack_device__()
            if int(kind) in dlpack.ON_GPU:
                return through_dlpack(name, array, self, stream)
            if int(kind) not in dlpack.ON_HOST:
                raise TypeError(
                    f"{name} lies on a device of DLPack's type {int(kind)}; expected a CPU (1) or "
                    "a CUDA GPU (2)"
                )
            if not hasattr(array, "__array_interface__"):
                return on_host(name, np.from_dlpack(array), self, holds=array)
        return on_host(name, array, self, holds=array)

    def stream(self, ordinal: int) -> int:
        return LEGACY

    def empty(self, shape: tuple[int, ...], like: Any, layout: Layout, stream: int) -> Any:
        """By the array API standard or Numba, else one of ours, which has the same interface."""
        if hasattr(like, "__array_namespace__"):
            space = like.__array_namespace__()
            return space.empty(shape, dtype=getattr(space, layout.dtype), device=like.device)
        if type(like).__module__.startswith("numba.cuda"):
            return sys.modules["numba.cuda"].device_array(shape, np.dtype(layout.dtype))
        return ptx.device(layout.device).empty(shape, layout.dtype)

    def returned(self, result: Any) -> Any:
        return result


def through_interface(name: str, array: Any, interface: dict[str, Any], family: Family) -> Operand:
    """By the CUDA array interface. Its stream, where it names one, has work to be waited for."""
    dtype = np.dtype(interface["typestr"])
    if interface.get("mask") is not None:
        raise TypeError(f"{name} has a mask, which a product would ignore")
    shape = tuple(interface["shape"])
    pointer, read_only = interface["data"]
    strides = interface.get("strides")
    steps = contiguous(shape) if strides is None else _elements(name, strides, dtype.itemsize)
    layout = Layout(shape, steps, dtype.name, _where(name, array, pointer), not read_only)
    stream = interface.get("stream")
    # The interface's number of the legacy default stream is 1.
    return Operand(name, array, pointer, layout, family, LEGACY if stream == 1 else stream)


def _where(name: str, array: Any, pointer: int) -> str:
    """The GPU that memory lies on, which the interface does not tell."""
    from ptx import driver

    if not pointer:  # an empty array's
        return "cuda:0"
    reason = driver.problem()
    if reason:
        raise TypeError(f"{name} lies in a GPU's memory, and there is no GPU: {reason}")
    for number in range(driver.api().count):
        if not ptx.device(f"cuda:{number}").refuses(pointer, None):
            return f"cuda:{number}"
    raise ValueError(f"{name} is at {pointer:#x}, which is no address of a GPU that CUDA knows")


def through_dlpack(name: str, array: Any, family: Family, stream: int | None) -> Operand:
    """By DLPack: the library itself orders its work before that of `stream`."""
    # The standard's number of CUDA's legacy default stream is 1.
    capsule = array.__dlpack__(stream=stream or 1)
    found = dlpack.read(capsule)
    strides = contiguous(found.shape) if found.strides is None else found.strides
    layout = Layout(found.shape, strides, found.dtype, f"cuda:{found.ordinal}", found.writable)
    return Operand(name, array, found.pointer, layout, family, holds=capsule)


def _elements(name: str, strides: tuple[int, ...], item: int) -> tuple[int, ...]:
    for stride in strides:
        if stride % item:
            raise ValueError(f"{name} has a stride of {stride} bytes; its elements have {item}")
    return tuple(stride // item for stride in strides)


_NUMPY, _OWN, _FOREIGN = Numpy(), Own(), Foreign()
