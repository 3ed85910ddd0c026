"""One GPU: its context, memory, modules, launches, streams and events.

Sources: CUDA driver API 13.0, by the name of each call; CUDA array interface 3 and the
``__cuda_stream__`` protocol for what other libraries hand over.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from ptx import driver
from ptx.driver import Api, DriverError
from ptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError
from ptx.geometry import PORTABLE_CLUSTER, Geometry, Limits, Packed

if TYPE_CHECKING:
    from ptx.tensormap import TensorMap

ELSEWHERE = frozenset({201, 400, 709})
"""What a launch gives, having launched nothing, where another context or none is current: 201 and
400 on an H200, and by its description 709, of a context that was destroyed. With a stream of the
kernel's own context an H200 launches there too; it never launched into the wrong one.
"""

EMPTY = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\n"
"""A kernel whose launches are asked about."""

LOG_BYTES = 1 << 16
"""Room for each of the two logs of the driver's compiler."""


@cache
def context(ordinal: int) -> Context:
    """The primary context of GPU `ordinal`, shared with every other library in the process."""
    return Context(driver.api(), ordinal)


class Context:
    """One GPU: its primary context, memory, modules, streams. Made current for each call that needs
    it.
    """

    is_cuda = True

    def __init__(self, api: Api, ordinal: int) -> None:
        if not 0 <= ordinal < api.count:
            raise ArgumentValueError(
                f"there is no cuda:{ordinal}; the driver sees {api.count} GPU(s)"
            )
        self.api = api
        self.ordinal = ordinal
        self._device = api.call("cuDeviceGet", ordinal)
        self.handle = api.call("cuDevicePrimaryCtxRetain", self._device)
        self.value = int(self.handle)
        self.limits = self._limits()
        # A deque, because the collector appends to it from any thread at any time.
        self._retired: deque[tuple[Any, Usage]] = deque()
        self._retiring = threading.Lock()
        self._clusters: dict[int, int] = {}

    @property
    def memory(self) -> Context:
        return self

    def _limits(self) -> Limits:
        names = self.api.cuda.CUdevice_attribute

        def ask(name: str) -> int:
            attribute = getattr(names, f"CU_DEVICE_ATTRIBUTE_{name}")
            return int(self.api.call("cuDeviceGetAttribute", attribute, self._device))

        major, minor = ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR")
        name = self.api.call("cuDeviceGetName", 256, self._device).partition(b"\0")[0].decode()
        return Limits(
            name=name,
            compute_capability=(major, minor),
            sm_count=ask("MULTIPROCESSOR_COUNT"),
            clock=ask("CLOCK_RATE") * 1000,
            memory=int(self.api.call("cuDeviceTotalMem", self._device)),
            l2_cache=ask("L2_CACHE_SIZE"),
            shared_per_block=ask("MAX_SHARED_MEMORY_PER_BLOCK"),
            shared_per_block_optin=ask("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            shared_per_sm=ask("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
            registers_per_sm=ask("MAX_REGISTERS_PER_MULTIPROCESSOR"),
            threads_per_sm=ask("MAX_THREADS_PER_MULTIPROCESSOR"),
            threads_per_block=ask("MAX_THREADS_PER_BLOCK"),
            block=(ask("MAX_BLOCK_DIM_X"), ask("MAX_BLOCK_DIM_Y"), ask("MAX_BLOCK_DIM_Z")),
            grid=(ask("MAX_GRID_DIM_X"), ask("MAX_GRID_DIM_Y"), ask("MAX_GRID_DIM_Z")),
            max_cluster=16 if ask("CLUSTER_LAUNCH") else 1,
        )

    @contextmanager
    def current(self) -> Iterator[Api]:
        """This context current in this thread; another library's is put back afterwards."""
        api = self.api
        found = int(api.call("cuCtxGetCurrent"))
        if found == self.value:
            yield api
        elif not found:
            # Nobody's context is displaced, and the next call finds ours.
            api.call("cuCtxSetCurrent", self.handle)
            yield api
        else:
            api.call("cuCtxPushCurrent", self.handle)
            try:
                yield api
            finally:
                api.call("cuCtxPopCurrent")

    def call(self, name: str, *arguments: Any) -> Any:
        with self.current() as api:
            return api.call(name, *arguments)

    # memory

    def allocate(self, nbytes: int) -> int:
        with self.current() as api:
            try:
                # The driver refuses 0 bytes, and an empty array needs an address of its own too.
                return int(api.call("cuMemAlloc", max(1, nbytes)))
            except DriverError as error:
                if error.code == driver.OUT_OF_MEMORY:
                    free, total = api.call("cuMemGetInfo")
                    error.message += f"\n  asked for {nbytes} bytes; {free} of {total} are free"
                raise

    def free(self, address: int) -> None:
        # The collector may call this anywhere: a lost context or a thread at exit is no reason to
        # raise.
        if self.api.dead:
            return
        try:
            self.call("cuMemFree", address)
        except Exception:
            return

    def read(self, address: int, into: Any) -> None:
        with self.current() as api:
            # Work on streams that do not wait for the legacy stream counts too.
            api.call("cuCtxSynchronize")
            if into.nbytes:
                api.call("cuMemcpyDtoH", into.ctypes.data, address, into.nbytes)
        self.reap(idle=True)

    def write(self, address: int, data: Any) -> None:
        if not data.nbytes:
            return
        with self.current() as api:
            api.call("cuMemcpyHtoD", address, data.ctypes.data, data.nbytes)
            # From pageable memory it returns before the last bytes have arrived.
            api.call("cuStreamSynchronize", 0)

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        if not nbytes:
            return
        with self.current() as api:
            api.call("cuMemsetD8", address, byte, nbytes)
            api.call("cuStreamSynchronize", 0)

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")
        self.reap(idle=True)

    def refuses(self, address: int, ordinal: int | None) -> str:
        if ordinal is None and address:
            which = self.api.cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
            try:
                ordinal = int(self.call("cuPointerGetAttribute", which, address))
            except DriverError:
                return f"{address:#x} is no address that CUDA knows"
        if address and ordinal != self.ordinal:
            return f"the array lies on cuda:{ordinal}, the launch is on cuda:{self.ordinal}"
        return ""

    def handle_of(self, stream: Any) -> int:
        return stream_handle(stream, self)

    def order(self, later: int, earlier: int) -> None:
        event = self.event()
        event.record(earlier)
        self.call("cuStreamWaitEvent", self.api.cuda.CUstream(later), event.handle, 0)

    def encode(self, map: TensorMap) -> bytes:
        return self.api.tensor_map(map)

    def stream(self) -> Stream:
        return Stream(self)

    def event(self) -> Event:
        return Event(self)

    def clusters(self, size: int) -> int:
        """Clusters of `size` CTAs that run at once where each CTA takes an SM of its own: they do
        not go across GPCs, whose numbers of SMs differ, and which not every multiple fills.
        """
        if size == 1:
            return self.limits.sm_count
        if size not in self._clusters:
            function = Module(self, terminated(EMPTY)).function("empty")
            shared = self.limits.shared_per_block_optin
            geometry = Geometry((size, 1, 1), (32, 1, 1), shared, (size, 1, 1))
            function.allow(geometry)
            self._clusters[size] = function.clusters(geometry)
        return self._clusters[size]

    # modules

    def load(self, image: bytes) -> Module:
        """Load PTX, as :func:`terminated` makes it, or a cubin. Raises :class:`DriverError` with
        the log.
        """
        self.reap()
        return Module(self, image)

    def retire(self, handle: Any, usage: Usage) -> None:
        """Have a module unloaded once its work is done. It makes no call of the driver: the
        collector calls it.
        """
        if not self.api.dead:
            self._retired.append((handle, usage))

    def reap(self, *, idle: bool = False) -> None:
        """Unload the retired modules whose work is done; `idle` says that all work of the context
        is.
        """
        if not self._retired or self.api.dead:
            return
        with self._retiring, self.current() as api:
            for _ in range(len(self._retired)):
                handle, usage = self._retired.popleft()
                if idle or usage.done(self):
                    api.call("cuModuleUnload", handle)
                else:
                    self._retired.append((handle, usage))


class Usage:
    """Which streams the launches of a module went to."""

    def __init__(self) -> None:
        self.streams: dict[int, Stream | None] = {}
        self._events: list[Event] | None = None

    def add(self, handle: int, stream: Any) -> None:
        self.streams.setdefault(handle, stream if isinstance(stream, Stream) else None)

    def done(self, context: Context) -> bool:
        """Whether all of it has run. The first call marks the ends, later ones look whether they
        were reached.
        """
        if any(handle and stream is None for handle, stream in self.streams.items()):
            # Another library's stream may be destroyed by now: only an idle context shows that its
            # work is done.
            return False
        if self._events is None:
            self._events = [context.event() for _ in self.streams]
            for event, stream in zip(self._events, self.streams.values(), strict=True):
                event.record(stream)
        return all(event.done for event in self._events)


def terminated(text: str | bytes) -> bytes:
    """PTX as the driver wants it: with exactly one NUL, at its end. Raises ``ValueError`` for any
    other.
    """
    data = text.encode() if isinstance(text, str) else bytes(text)
    data = data.removesuffix(b"\0")
    if (at := data.find(b"\0")) >= 0:
        raise ArgumentValueError(f"PTX text holds a NUL in line {data.count(10, 0, at) + 1}")
    return data + b"\0"


class Module:
    """An image loaded into one context, unloaded after its last launch has run and nobody refers to
    it.
    """

    def __init__(self, context: Context, image: bytes) -> None:
        self.context = context
        self.lock = threading.Lock()
        self.usage = Usage()
        self._functions: dict[str, Function] = {}
        self.handle, self.log = self._load(image)
        self._release = weakref.finalize(self, context.retire, self.handle, self.usage)
        self._release.atexit = False

    def _load(self, image: bytes) -> tuple[Any, str]:
        info, error = ctypes.create_string_buffer(LOG_BYTES), ctypes.create_string_buffer(LOG_BYTES)
        jit = self.context.api.cuda.CUjit_option
        options = {
            jit.CU_JIT_INFO_LOG_BUFFER: ctypes.addressof(info),
            jit.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: LOG_BYTES,
            jit.CU_JIT_ERROR_LOG_BUFFER: ctypes.addressof(error),
            jit.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: LOG_BYTES,
            jit.CU_JIT_LOG_VERBOSE: 1,
            jit.CU_JIT_GENERATE_LINE_INFO: 1,
        }
        keys = (ctypes.c_int * len(options))(*(int(option) for option in options))
        values = (ctypes.c_void_p * len(options))(*options.values())
        handle = ctypes.c_void_p()
        with self.context.current() as api:
            code = api.load(ctypes.byref(handle), image, len(options), keys, values)
        log, refusal = _logged(info, values[1]), _logged(error, values[3])
        if code:
            raise self.context.api.error(code, "cuModuleLoadDataEx", log=refusal or log)
        return self.context.api.cuda.CUmodule(handle.value), log

    def function(self, name: str) -> Function:
        with self.lock:
            found = self._functions.get(name)
            if found is None:
                handle = self.context.call("cuModuleGetFunction", self.handle, name.encode())
                found = self._functions[name] = Function(self.context, handle)
        return found

    def static_shared(self, name: str) -> int:
        return self.function(name).static_shared

    def parameter_sizes(self, name: str) -> tuple[int, ...]:
        """Size in bytes of each parameter of a kernel, as the image says."""
        function = self.function(name)
        sizes: list[int] = []
        while True:
            try:
                sizes.append(
                    int(self.context.call("cuFuncGetParamInfo", function.handle, len(sizes))[1])
                )
            except DriverError as error:
                if error.code != driver.INVALID_VALUE:
                    raise
                return tuple(sizes)

    def bind(
        self, name: str, geometry: Geometry, packed: Packed, stream: Any
    ) -> Callable[[], None]:
        """A function that launches kernel `name` with the parameters as they stand then."""
        function, handle = self.function(name), stream_handle(stream, self.context)
        function.allow(geometry)
        self.usage.add(handle, stream)
        return function.launcher(name, geometry, packed, handle)

    def unload(self) -> None:
        """Unload it once its launches have run; no launch may be bound any more."""
        self._release()


def _logged(buffer: Any, length: Any) -> str:
    """A log, by the length that the driver put into its option's word."""
    filled = min((length or 0) & 0xFFFFFFFF, len(buffer))
    return str(bytes(buffer[:filled]).partition(b"\0")[0].decode(errors="replace")).strip()


class Function:
    """A kernel of a loaded module."""

    def __init__(self, context: Context, handle: Any) -> None:
        self.context = context
        self.handle = handle
        self._dynamic = 0
        self._large_cluster = False

    def attribute(self, name: str) -> int:
        which = getattr(self.context.api.cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(self.context.call("cuFuncGetAttribute", which, self.handle))

    def _set(self, name: str, value: int) -> None:
        which = getattr(self.context.api.cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        self.context.call("cuFuncSetAttribute", self.handle, which, value)

    @cached_property
    def static_shared(self) -> int:
        return self.attribute("SHARED_SIZE_BYTES")

    def allow(self, geometry: Geometry) -> None:
        """Ask for what the driver grants only on request: much shared memory, clusters beyond the
        portable size.
        """
        total = self.static_shared + geometry.shared
        if total > self.context.limits.shared_per_block and geometry.shared > self._dynamic:
            self._set("MAX_DYNAMIC_SHARED_SIZE_BYTES", geometry.shared)
            self._dynamic = geometry.shared
        x, y, z = geometry.cluster or (1, 1, 1)
        if x * y * z > PORTABLE_CLUSTER and not self._large_cluster:
            self._set("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
            self._large_cluster = True

    def clusters(self, geometry: Geometry) -> int:
        """Clusters of such a launch that run at once."""
        config = self._config(geometry, 0)
        return int(self.context.call("cuOccupancyMaxActiveClusters", self.handle, config))

    def launcher(
        self, name: str, geometry: Geometry, packed: Packed, stream: int
    ) -> Callable[[], None]:
        context, api = self.context, self.context.api
        get_current, value = api.cuda.cuCtxGetCurrent, context.value
        if geometry.cluster is None and not geometry.early:
            shape = (*geometry.grid, *geometry.block, geometry.shared, api.cuda.CUstream(stream))
            run = partial(api.cuda.cuLaunchKernel, self.handle, *shape, packed.address, 0)
        else:
            config = self._config(geometry, stream)
            run = partial(api.cuda.cuLaunchKernelEx, config, self.handle, packed.address, 0)
        grid, block = (
            "(" + ", ".join(map(str, extent)) + ")" for extent in (geometry.grid, geometry.block)
        )
        site = f"launch of {name}, grid {grid}, block {block}, shared {geometry.shared} bytes"

        def launch(packed: Packed = packed) -> None:
            # The driver reads through the address: what is packed lives as long as this function.
            if api.dead:
                raise LaunchError(api.dead)
            try:
                result = run()
                if not result[0]:
                    return
                if int(result[0]) in ELSEWHERE:
                    failed, current = get_current()
                    if failed or int(current) != value:
                        with context.current():
                            result = run()
            except ValueError as error:
                raise api.unknown(error, site) from error
            if result[0]:
                raise api.error(int(result[0]), site)

        return launch

    def _config(self, geometry: Geometry, stream: int) -> Any:
        cuda, attributes = self.context.api.cuda, []
        if geometry.cluster is not None:
            attributes.append(cuda.CUlaunchAttribute())
            attributes[-1].id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            dimension = attributes[-1].value.clusterDim
            dimension.x, dimension.y, dimension.z = geometry.cluster
        if geometry.early:
            name = "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
            attributes.append(cuda.CUlaunchAttribute())
            attributes[-1].id = getattr(cuda.CUlaunchAttributeID, name)
            attributes[-1].value.programmaticStreamSerializationAllowed = 1
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = geometry.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = geometry.block
        config.sharedMemBytes = geometry.shared
        config.hStream = cuda.CUstream(stream)
        config.attrs = attributes
        config.numAttrs = len(attributes)
        return config


class Stream:
    """A queue of work on one GPU. It waits for the legacy default stream and that one for it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        with context.current() as api:
            self._stream = api.call("cuStreamCreate", 0)
        self.handle = int(self._stream)
        _destroyed_with(self, context, "cuStreamDestroy", self._stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def synchronize(self) -> None:
        """Wait for all its work; faults of that work are raised here."""
        self.context.call("cuStreamSynchronize", self._stream)
        self.context.reap()

    def wait(self, event: Event) -> None:
        """Let later work on this stream wait until `event` is reached."""
        self.context.call("cuStreamWaitEvent", self._stream, event.handle, 0)


class Event:
    """A mark in a stream, and the time when it was reached."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.handle = context.call("cuEventCreate", 0)
        _destroyed_with(self, context, "cuEventDestroy", self.handle)

    def record(self, stream: Any = None) -> None:
        self.context.call("cuEventRecord", self.handle, stream_handle(stream, self.context))

    def synchronize(self) -> None:
        """Wait until it is reached."""
        self.context.call("cuEventSynchronize", self.handle)

    @property
    def done(self) -> bool:
        """Whether everything before it has run."""
        try:
            self.context.call("cuEventQuery", self.handle)
        except DriverError as error:
            if error.code != driver.NOT_READY:
                raise
            return False
        return True

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`, which it waits for."""
        end.synchronize()
        return float(self.context.call("cuEventElapsedTime", self.handle, end.handle))


def _destroyed_with(owner: object, context: Context, call: str, handle: Any) -> None:
    """Give a driver object back when its Python owner goes; never at exit, and silently."""

    def destroy() -> None:
        if context.api.dead:
            return
        try:
            context.call(call, handle)
        except Exception:
            return

    weakref.finalize(owner, destroy).atexit = False


def stream_handle(stream: Any, context: Context) -> int:
    """The driver's handle of a stream of ours or another library's; None is the legacy default
    stream, 0.
    """
    if stream is None:
        return 0
    if isinstance(stream, Stream):
        if stream.context is not context:
            raise ArgumentValueError(
                f"the stream belongs to cuda:{stream.context.ordinal}, the launch is on "
                f"cuda:{context.ordinal}"
            )
        return stream.handle
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for attribute in ("cuda_stream", "ptr", "handle"):
        found = getattr(stream, attribute, None)
        if found is not None:
            return int(found)
    if type(stream).__name__ in ("CUstream", "cudaStream_t"):
        return int(stream)
    raise ArgumentTypeError(
        "stream: takes device.stream(), an integer handle, an object with __cuda_stream__, "
        ".cuda_stream or .ptr, "
        f"got {type(stream).__name__}"
    )
