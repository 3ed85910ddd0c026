"""A CUDA driver of make-believe, with the face of ``cuda.bindings.driver``.

It keeps what a real one keeps (contexts by thread, memory, modules, streams with work that has not
run) and refuses what a real one refuses, so that a test sees a call that would crash there. Any
call can be told to fail. Launches copy their parameters and run nothing.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import os
import re
import struct
import sys
import threading
import types
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

AXPY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry axpy(
  .param .u32 n,
  .param .f32 a,
  .param .u64 .ptr .global .align 16 x,
  .param .u64 y
)
{
  ret;
}
"""
"""A kernel whose parameters are of every kind that packing tells apart; it runs nothing."""


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_DEINITIALIZED = 4
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709
    CUDA_ERROR_LAUNCH_FAILED = 719


class CUdevice_attribute(enum.IntEnum):
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120


HOPPER = dict(
    zip(
        CUdevice_attribute,
        [1024, 1024, 1024, 64, 2**31 - 1, 65535, 65535, 49152, 1980000, 132, 60 << 20, 2048]
        + [9, 0, 233472, 65536, 232448, 1],
        strict=True,
    )
)


class CUfunction_attribute(enum.IntEnum):
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14


class CUpointer_attribute(enum.IntEnum):
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9


class CUjit_option(enum.IntEnum):
    CU_JIT_INFO_LOG_BUFFER = 3
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4
    CU_JIT_ERROR_LOG_BUFFER = 5
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
    CU_JIT_LOG_VERBOSE = 12
    CU_JIT_GENERATE_LINE_INFO = 13


class CUlaunchAttributeID(enum.IntEnum):
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6


class Handle:
    def __init__(self, value: int = 0) -> None:
        self.value = int(value)

    def __int__(self) -> int:
        return self.value


class CUdeviceptr(Handle): ...


class CUstream(Handle): ...


class CUmodule(Handle): ...


class CUcontext(Handle): ...


class CUfunction(Handle): ...


class CUevent(Handle): ...


class CUlaunchAttribute:
    def __init__(self) -> None:
        self.id = 0
        self.value = types.SimpleNamespace(clusterDim=types.SimpleNamespace(x=0, y=0, z=0))


class CUlaunchConfig:
    pass


@dataclass
class LoadedImage:
    context: int
    image: bytes
    unloaded: bool = False
    work: set[int] = field(default_factory=set)


class FakeDriver(types.ModuleType):
    """The module; ``calls`` has the name of each call with its arguments, in order."""

    CUresult = CUresult
    CUdevice_attribute = CUdevice_attribute
    CUfunction_attribute = CUfunction_attribute
    CUpointer_attribute = CUpointer_attribute
    CUjit_option = CUjit_option
    CUlaunchAttributeID = CUlaunchAttributeID
    CUlaunchAttribute = CUlaunchAttribute
    CUlaunchConfig = CUlaunchConfig
    CUstream, CUmodule, CUcontext, CUdeviceptr = CUstream, CUmodule, CUcontext, CUdeviceptr

    def __init__(self, gpus: int = 1, attributes: dict[int, int] | None = None) -> None:
        super().__init__("cuda.bindings.driver")
        self.gpus = gpus
        self.attributes = HOPPER | (attributes or {})
        self.calls: list[tuple[Any, ...]] = []
        self.failures: dict[str, list[int]] = defaultdict(list)
        """By call: the codes that its next calls return; 0 lets one pass."""
        self.always: dict[str, int] = {}
        """By call: the code that it returns from now on."""
        self.logs = (b"", b"")
        """What the compiler writes into the info and the error log."""
        self.garbage = b""
        """What stands in the log buffers behind what is reported."""
        self.images: list[bytes] = []
        self.cubin_bytes = 0
        self.params: dict[str, tuple[int, ...]] = {"axpy": (4, 4, 8, 8)}
        """By kernel: the size of each parameter."""
        self.static_shared: dict[str, int] = {}
        self.opted: dict[str, dict[int, int]] = defaultdict(dict)
        self.launches: list[dict[str, Any]] = []
        self.busy: set[int] = set()
        """Streams with work that has not run."""
        self.memory: dict[int, Any] = {}
        self.homes: dict[int, int] = {}
        self.modules: dict[int, LoadedImage] = {}
        self.functions: dict[int, tuple[int, str]] = {}
        self.events: dict[int, int | None] = {}
        self.streams: set[int] = {0}
        self.gone = False
        """The library has been unloaded: any call ends the process, with status 9."""
        self._thread = threading.local()
        self._next = 0x1000
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int,
            *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p),
        )
        self._load_data = kind(self._module_load_data)

    # machinery

    def count(self, name: str) -> int:
        return sum(call[0] == name for call in self.calls)

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]

    def _new(self) -> int:
        self._next += 0x1000
        return self._next

    @property
    def _stack(self) -> list[int]:
        if not hasattr(self._thread, "stack"):
            self._thread.stack = []
        return self._thread.stack

    @property
    def _current(self) -> int:
        return self._stack[-1] if self._stack else 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not (name.startswith("cu") and callable(found)) or name.startswith(("cubin", "cuuint")):
            return found

        def call(*arguments: Any) -> tuple[Any, ...]:
            if self.gone:
                os._exit(9)
            self.calls.append((name, *arguments))
            code = self._scripted(name)
            if code:
                return (CUresult(code), None)
            result = found(*arguments)
            if isinstance(result, CUresult):
                return (result, None) if result else (result,)
            return (CUresult(0), *result)

        return call

    def _scripted(self, name: str) -> int:
        if self.failures[name]:
            return self.failures[name].pop(0)
        return self.always.get(name, 0)

    # devices and contexts: a primary context's handle is 0xC000 and the GPU's number

    def cuInit(self, flags: int) -> Any:
        return ()

    def cuGetErrorName(self, code: int) -> Any:
        return (CUresult(code).name.encode(),)

    def cuGetErrorString(self, code: int) -> Any:
        return (f"words about {int(code)}".encode(),)

    def cuDriverGetVersion(self) -> Any:
        return (13000,)

    def cuDeviceGetCount(self) -> Any:
        return (self.gpus,)

    def cuDeviceGet(self, ordinal: int) -> Any:
        return (Handle(ordinal),)

    def cuDeviceGetName(self, length: int, device: Handle) -> Any:
        return (b"Imaginary H200".ljust(length, b"\0"),)

    def cuDeviceTotalMem(self, device: Handle) -> Any:
        return (1 << 30,)

    def cuDeviceGetAttribute(self, attribute: int, device: Handle) -> Any:
        return (self.attributes[attribute],)

    def cuDevicePrimaryCtxRetain(self, device: Handle) -> Any:
        return (CUcontext(0xC000 + int(device)),)

    def cuCtxGetCurrent(self) -> Any:
        return (CUcontext(self._current),)

    def cuCtxSetCurrent(self, context: Handle) -> Any:
        self._stack[-1:] = [int(context)]
        return ()

    def cuCtxPushCurrent(self, context: Handle) -> Any:
        self._stack.append(int(context))
        return ()

    def cuCtxPopCurrent(self) -> Any:
        return (CUcontext(self._stack.pop()),)

    def cuCtxSynchronize(self) -> Any:
        self.busy.clear()
        return () if self._current else CUresult.CUDA_ERROR_INVALID_CONTEXT

    # memory

    def cuMemGetInfo(self) -> Any:
        return (1 << 20, 1 << 30)

    def cuMemAlloc(self, nbytes: int) -> Any:
        if not self._current:
            return CUresult.CUDA_ERROR_INVALID_CONTEXT
        if not nbytes:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        room = ctypes.create_string_buffer(nbytes + 256)
        address = -(-ctypes.addressof(room) // 256) * 256
        self.memory[address] = room
        self.homes[address] = self._current - 0xC000
        return (CUdeviceptr(address),)

    def cuMemFree(self, address: int) -> Any:
        if address not in self.memory:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        del self.memory[address]
        return ()

    def cuMemcpyHtoD(self, to: int, source: int, nbytes: int) -> Any:
        ctypes.memmove(to, source, nbytes)
        return ()

    def cuMemcpyDtoH(self, to: int, source: int, nbytes: int) -> Any:
        ctypes.memmove(to, source, nbytes)
        return ()

    def cuMemsetD8(self, to: int, byte: int, nbytes: int) -> Any:
        ctypes.memset(to, byte, nbytes)
        return ()

    def cuPointerGetAttribute(self, attribute: int, address: int) -> Any:
        if address not in self.homes:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        return (self.homes[address],)

    # modules

    def cuGetProcAddress(self, symbol: bytes, version: int, flags: int) -> Any:
        assert symbol == b"cuModuleLoadDataEx"
        return ctypes.cast(self._load_data, ctypes.c_void_p).value, 0

    def _module_load_data(
        self, module: int, image: int, count: int, options: int, values: int
    ) -> int:
        keys = (ctypes.c_int * count).from_address(options)
        words = (ctypes.c_void_p * count).from_address(values)
        given = dict(zip(keys, range(count), strict=True))
        for buffer, log in zip((3, 5), self.logs, strict=True):
            room = words[given[buffer + 1]] or 0
            written = log[: room - 1] + b"\0" if log else b""
            ctypes.memmove(
                words[given[buffer]],
                (written + self.garbage)[:room],
                room and min(room, len(written + self.garbage)),
            )
            words[given[buffer + 1]] = len(written)
        if ctypes.string_at(image, 4) == b"\x7fELF":
            data = ctypes.string_at(image, self.cubin_bytes)
        else:
            data = ctypes.string_at(image)
        self.images.append(data)
        code = self._scripted("cuModuleLoadDataEx")
        if not code and not self._current:
            code = 201
        if not code:
            handle = self._new()
            self.modules[handle] = LoadedImage(self._current, data)
            ctypes.c_void_p.from_address(module).value = handle
        return code

    def cuModuleGetFunction(self, module: Handle, name: bytes) -> Any:
        loaded = self.modules[int(module)]
        if not loaded.image.startswith(b"\x7fELF") and not re.search(
            rb"\.entry\s+" + name + rb"\b", loaded.image
        ):
            return CUresult.CUDA_ERROR_NOT_FOUND
        handle = self._new()
        self.functions[handle] = (int(module), name.decode())
        return (CUfunction(handle),)

    def cuModuleUnload(self, module: Handle) -> Any:
        loaded = self.modules[int(module)]
        assert not loaded.unloaded, "a module was unloaded twice"
        assert not loaded.work & self.busy, "a module was unloaded while its kernel runs: a crash"
        loaded.unloaded = True
        return ()

    def cuFuncGetAttribute(self, attribute: int, function: Handle) -> Any:
        assert attribute == CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        return (self.static_shared.get(self.functions[int(function)][1], 0),)

    def cuFuncSetAttribute(self, function: Handle, attribute: int, value: int) -> Any:
        self.opted[self.functions[int(function)][1]][int(attribute)] = value
        return ()

    def cuFuncGetParamInfo(self, function: Handle, index: int) -> Any:
        sizes = self.params[self.functions[int(function)][1]]
        return (0, sizes[index]) if index < len(sizes) else CUresult.CUDA_ERROR_INVALID_VALUE

    # launches

    def cuOccupancyMaxActiveClusters(self, function: Handle, config: Any) -> Any:
        """Of GPCs of 16 and 18 SMs, with one CTA on an SM."""
        (cluster,) = (one.value.clusterDim for one in config.attrs)
        size = cluster.x * cluster.y * cluster.z
        assert config.numAttrs == 1 and config.gridDimX % size == 0
        name = self.functions[int(function)][1]
        if config.sharedMemBytes > self.opted[name].get(8, 49152):
            return CUresult.CUDA_ERROR_INVALID_VALUE
        return (6 * (16 // size) + 2 * (18 // size),)

    def cuLaunchKernel(self, function: Handle, *rest: Any) -> Any:
        gx, gy, gz, bx, by, bz, shared, stream, address, extra = rest
        return self._launch(function, (gx, gy, gz), (bx, by, bz), shared, None, stream, address)

    def cuLaunchKernelEx(self, config: Any, function: Handle, address: int, extra: int) -> Any:
        assert len(config.attrs) == config.numAttrs
        values = {int(one.id): one.value for one in config.attrs}
        cluster = values[4].clusterDim if 4 in values else None
        early = 6 in values and bool(values[6].programmaticStreamSerializationAllowed)
        grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
        block = (config.blockDimX, config.blockDimY, config.blockDimZ)
        clusters = (cluster.x, cluster.y, cluster.z) if cluster is not None else None
        shared, stream = config.sharedMemBytes, config.hStream
        return self._launch(function, grid, block, shared, clusters, stream, address, early)

    def _launch(
        self,
        function: Handle,
        grid: Any,
        block: Any,
        shared: int,
        cluster: Any,
        stream: Any,
        address: int,
        early: bool = False,
    ) -> Any:
        module, name = self.functions[int(function)]
        loaded = self.modules[module]
        assert not loaded.unloaded, "a kernel of an unloaded module is launched: a crash"
        if loaded.context != self._current:
            return CUresult.CUDA_ERROR_INVALID_HANDLE
        if int(stream) not in self.streams:
            return CUresult.CUDA_ERROR_INVALID_HANDLE
        granted = self.opted[name].get(8, 49152 - self.static_shared.get(name, 0))
        if shared > granted:
            return CUresult.CUDA_ERROR_INVALID_VALUE
        sizes = self.params.get(name, ())
        pointers = (ctypes.c_void_p * len(sizes)).from_address(address) if sizes else ()
        params = tuple(map(ctypes.string_at, pointers, sizes))
        self.busy.add(int(stream))
        loaded.work.add(int(stream))
        self.launches.append(
            {
                "name": name,
                "grid": grid,
                "block": block,
                "shared": shared,
                "cluster": cluster,
                "early": early,
                "stream": int(stream),
                "params": params,
                "context": self._current,
            }
        )
        return ()

    # streams and events

    def cuStreamCreate(self, flags: int) -> Any:
        handle = self._new()
        self.streams.add(handle)
        return (CUstream(handle),)

    def cuStreamDestroy(self, stream: Handle) -> Any:
        self.streams.remove(int(stream))
        return ()

    def cuStreamSynchronize(self, stream: Any) -> Any:
        self.busy.discard(int(stream))
        return ()

    def cuStreamWaitEvent(self, stream: Handle, event: Handle, flags: int) -> Any:
        return ()

    def cuEventCreate(self, flags: int) -> Any:
        handle = self._new()
        self.events[handle] = None
        return (CUevent(handle),)

    def cuEventDestroy(self, event: Handle) -> Any:
        del self.events[int(event)]
        return ()

    def cuEventRecord(self, event: Handle, stream: Any) -> Any:
        assert int(stream) in self.streams, "an event is recorded in a destroyed stream: a crash"
        self.events[int(event)] = int(stream)
        return ()

    def cuEventQuery(self, event: Handle) -> Any:
        busy = self.events[int(event)] in self.busy
        return CUresult.CUDA_ERROR_NOT_READY if busy else ()

    def cuEventSynchronize(self, event: Handle) -> Any:
        self.busy.discard(self.events[int(event)] or 0)
        return ()

    def cuEventElapsedTime(self, start: Handle, end: Handle) -> Any:
        return (1.5,)


def fresh(monkeypatch: pytest.MonkeyPatch, gpus: int = 2) -> FakeDriver:
    """A machine with GPUs of make-believe, and no memory of any other, for one test."""
    from ptx import devices, driver, gpu

    for name in ("cuda", "cuda.bindings", "cuda.bindings.driver"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(driver, "_api", None)
    monkeypatch.setattr(gpu, "context", functools.cache(gpu.context.__wrapped__))
    monkeypatch.setattr(devices, "_device", functools.cache(devices._device.__wrapped__))
    return install(FakeDriver(gpus))


def install(driver: FakeDriver) -> FakeDriver:
    """Make `driver` the one that ``import cuda.bindings.driver`` finds."""
    package, bindings = types.ModuleType("cuda"), types.ModuleType("cuda.bindings")
    package.bindings = bindings  # type: ignore[attr-defined]
    bindings.driver = driver  # type: ignore[attr-defined]
    sys.modules.update({"cuda": package, "cuda.bindings": bindings, "cuda.bindings.driver": driver})
    return driver


def parameters(fake: FakeDriver) -> tuple[Any, ...]:
    """Those of the last launch of :data:`AXPY`, by their bytes."""
    return struct.unpack("<IfQQ", b"".join(fake.launches[-1]["params"]))


def hide_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which ptxas is not found."""
    from ptx import devices
    from ptx.errors import PtxError

    def nowhere(name: str) -> None:
        raise PtxError(f"{name} was not found")

    monkeypatch.setattr(devices, "find_tool", nowhere)
