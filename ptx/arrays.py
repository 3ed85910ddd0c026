"""Arrays in a device's memory: the same face on a GPU and on the emulator."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any, Protocol

from ptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError

if TYPE_CHECKING:
    import numpy as np


class Memory(Protocol):
    """A device's memory, addressed in bytes.

    Reading and writing wait for all work that the device was given, and raise its faults.
    """

    def allocate(self, nbytes: int) -> int:
        """The address of `nbytes` new bytes, a multiple of 256 and no other's even where `nbytes`
        is 0.
        """
        ...

    def free(self, address: int) -> None:
        """Give an allocation back. It may be called by the garbage collector at any time, and never
        raises.
        """
        ...

    def read(self, address: int, into: Any) -> None:
        """Copy device memory to a contiguous writable numpy array."""
        ...

    def write(self, address: int, data: Any) -> None:
        """Copy a contiguous numpy array to device memory."""
        ...

    def fill(self, address: int, byte: int, nbytes: int) -> None: ...


class Owner(Protocol):
    """The device of an array."""

    @property
    def memory(self) -> Memory: ...


class Storage:
    """One allocation, given back when it is freed or no array refers to it any more."""

    frees = 0
    """How often any was freed by hand: what holds an address looks here before it trusts it."""

    def __init__(self, memory: Memory, nbytes: int) -> None:
        self.address = memory.allocate(nbytes)
        self.nbytes = nbytes
        self.freed = False
        self._release = weakref.finalize(self, memory.free, self.address)
        # At exit the process gives everything back at once; the driver may be gone by then.
        self._release.atexit = False

    def free(self) -> None:
        Storage.frees += 1
        self.freed = True
        self._release()


class Array:
    """A C-contiguous array in the memory of a device.

    Made by ``device.array(ndarray)`` and ``device.empty(shape, dtype)``. ``array + n`` points `n`
    elements further and ``array[i:j]`` takes rows; both share the memory and keep it alive.
    :meth:`numpy` copies it back.
    """

    __slots__ = ("__weakref__", "device", "dtype", "offset", "shape", "storage")

    def __init__(
        self,
        device: Owner,
        storage: Storage,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        offset: int = 0,
    ) -> None:
        self.device = device
        self.storage = storage
        self.shape = shape
        self.dtype = dtype
        self.offset = offset
        """Bytes from the start of the allocation."""

    def __repr__(self) -> str:
        state = "freed" if self.storage.freed else f"at {self.storage.address + self.offset:#x}"
        return f"<ptx Array {self.shape} {self.dtype} on {self.device}, {state}>"

    @property
    def pointer(self) -> int:
        """Its address in the device's memory; :class:`LaunchError` once it has been freed."""
        storage = self.storage
        if storage.freed:
            raise LaunchError(
                f"the array of shape {self.shape} and dtype {self.dtype} has been freed"
            )
        return storage.address + self.offset

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy in the host's memory, after all work on the device; faults of that work are raised
        here.
        """
        import numpy as np

        out = np.empty(self.shape, self.dtype)
        self.device.memory.read(self.pointer, out)
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array on a device reaches the host only as a copy")
        out = self.numpy()
        return out if dtype is None else out.astype(dtype, copy=False)

    def copy_from(self, source: Any) -> None:
        """Overwrite it with an array of the same shape and dtype."""
        import numpy as np

        data = np.asarray(source)
        if data.shape != self.shape or data.dtype != self.dtype:
            raise ArgumentTypeError(
                f"copy_from takes shape {self.shape} and dtype {self.dtype}, got {data.shape} "
                f"and {data.dtype}"
            )
        self.device.memory.write(self.pointer, np.asarray(data, order="C"))

    def fill_bytes(self, byte: int) -> None:
        """Set every byte to `byte` (0 to 255): 0xFF is a NaN in every IEEE format."""
        self.device.memory.fill(self.pointer, byte, self.nbytes)

    def free(self) -> None:
        """Give the memory back at once, under every array that shares it; using one of them is an
        error from then on.
        """
        self.storage.free()

    def __add__(self, elements: int) -> Array:
        """The elements from `elements` on, as one dimension: C's ``pointer + n``."""
        try:
            count = elements.__index__()
        except AttributeError:
            return NotImplemented
        if not 0 <= count <= self.size:
            raise ArgumentValueError(
                f"an offset of {count} elements leaves an array of {self.size}"
            )
        return self._view((self.size - count,), count * self.dtype.itemsize)

    __radd__ = __add__

    def __getitem__(self, rows: slice) -> Array:
        """``array[i:j]``, rows of the first dimension; step 1 only."""
        if not isinstance(rows, slice) or not self.shape:
            raise ArgumentTypeError(
                "an array on a device takes one slice of its first dimension, as in array[10:20]"
            )
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ArgumentValueError(f"a slice of an array on a device has step 1, got {step}")
        row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize
        return self._view((max(0, stop - start), *self.shape[1:]), start * row_bytes)

    def reshape(self, *shape: int) -> Array:
        """The same memory under another shape of the same number of elements."""
        if any(type(n) is not int or n < 0 for n in shape):
            raise ArgumentTypeError(f"a shape is given as ints from 0 up, got {shape}")
        if math.prod(shape) != self.size:
            raise ArgumentValueError(
                f"shape {shape} holds {math.prod(shape)} elements, the array {self.size}"
            )
        return self._view(shape, 0)

    def _view(self, shape: tuple[int, ...], bytes_further: int) -> Array:
        return Array(self.device, self.storage, shape, self.dtype, self.offset + bytes_further)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For torch, CuPy, Numba and others (version 3), on a GPU only."""
        if not getattr(self.device, "is_cuda", False):
            raise AttributeError("an array of the emulator is in no GPU's memory")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,
            # Work is ordered after the legacy default stream, which waits for our streams.
            "stream": 1,
        }
