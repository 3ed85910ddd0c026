"""One face for a GPU and the emulator: arrays, modules, launches, streams and events.

``device("auto")`` is a GPU where there is one. Launches return before they have run; faults surface
at ``synchronize()`` or when a result is read, on both.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Protocol, cast

import numpy as np

from ptx import driver, gpu, targets
from ptx.arguments import ArgumentBlock, Arguments
from ptx.arrays import Array, Memory, Storage
from ptx.assembler import Cubin, KernelInfo, assemble
from ptx.dtypes import dtype_of, refuse_objects
from ptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError, Place, PtxError
from ptx.geometry import Extent, Geometry, Limits, Packed, geometry, kinds
from ptx.ir import Function, Module, Parameter
from ptx.requirements import bare, requirements
from ptx.tensormap import TensorMap
from ptx.text import parse, render
from ptx.toolchain import find_tool
from ptx.values import integer

__all__ = ["Array", "Device", "Launch", "Loaded", "LoadedKernel", "device"]

BOUND_LAUNCHES = 256
"""Launch shapes that a kernel keeps ready before it starts anew."""


class Stream(Protocol):
    """A queue of work; ``stream=None`` is the device's default one, which waits for the others."""

    @property
    def handle(self) -> int: ...
    def synchronize(self) -> None:
        """Wait for its work, and raise its faults."""

    def wait(self, event: Any) -> None:
        """Let its later work wait for an event."""


class Event(Protocol):
    """A mark in a stream."""

    def record(self, stream: Any = None) -> None: ...
    def synchronize(self) -> None: ...
    @property
    def done(self) -> bool: ...
    def elapsed_time(self, end: Any) -> float:
        """Milliseconds from this event to `end`, which it waits for."""
        ...


class Image(Protocol):
    """A module in the memory of a device."""

    def static_shared(self, name: str) -> int: ...
    def bind(
        self, name: str, geometry: Geometry, packed: Packed, stream: Any
    ) -> Callable[[], None]: ...
    def unload(self) -> None: ...


class Backend(Protocol):
    """What a GPU and the emulator each are."""

    @property
    def is_cuda(self) -> bool: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def memory(self) -> Memory: ...
    def synchronize(self) -> None: ...
    def refuses(self, address: int, ordinal: int | None) -> str: ...
    def handle_of(self, stream: Any) -> int:
        """The driver's handle of a stream of ours or another library's; 0 of None."""

    def order(self, later: int, earlier: int) -> None:
        """Later work of one stream waits for all that another was given; both by handle."""

    def encode(self, map: TensorMap) -> bytes: ...
    def clusters(self, size: int) -> int: ...
    def stream(self) -> Stream: ...
    def event(self) -> Event: ...


def device(name: str | Device = "auto") -> Device:
    """``"cuda:0"`` and so on, ``"emulator"``, or ``"auto"``: the first GPU, else the emulator.

    The same name gives the same object. Raises :class:`ptx.errors.LaunchError`, which says what is
    missing.
    """
    if isinstance(name, Device):
        return name
    if name == "auto":
        name = "emulator" if driver.problem() else "cuda:0"
    match = re.fullmatch(r"emulator|cuda(?::(\d+))?", name) if isinstance(name, str) else None
    if match is None:
        raise ArgumentValueError(
            f'{name!r} is no device; devices are "auto", "cuda:0", "cuda:1" ..., "emulator"'
        )
    return _device(name if name == "emulator" else f"cuda:{int(match[1] or 0)}")


@cache
def _device(name: str) -> Device:
    if name != "emulator":
        return Device(name, gpu.context(int(name.partition(":")[2])))
    from ptx.emu.device import EmulatedDevice

    return Device(name, EmulatedDevice())


class Device:
    """A GPU or the emulator, as :func:`device` gives it."""

    def __init__(self, label: str, backend: Backend) -> None:
        self.label = label
        self.backend = backend
        self.is_cuda = backend.is_cuda

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"<ptx device {self.label}: {self.name}>"

    @property
    def limits(self) -> Limits:
        return self.backend.limits

    @property
    def name(self) -> str:
        return self.limits.name

    @property
    def compute_capability(self) -> tuple[int, int]:
        return self.limits.compute_capability

    @property
    def sm_count(self) -> int:
        return self.limits.sm_count

    def clusters(self, size: int) -> int:
        """Clusters of `size` CTAs that run at once where each CTA takes an SM of its own; on a GPU
        their SMs may be fewer than all. The device's compute capability is 9.0 or higher.
        """
        return self.backend.clusters(size)

    @property
    def clock(self) -> int:
        """Peak SM clock in Hz; 0 on the emulator."""
        return self.limits.clock

    @property
    def memory(self) -> Memory:
        return self.backend.memory

    @property
    def report(self) -> Any:
        """What the emulator counted in its last launch; None on a GPU."""
        return getattr(self.backend, "report", None)

    def synchronize(self) -> None:
        """Wait for all work on the device; a fault of it is raised here."""
        self.backend.synchronize()

    def stream(self) -> Stream:
        return self.backend.stream()

    def event(self) -> Event:
        return self.backend.event()

    def refuses(self, address: int, ordinal: int | None) -> str:
        """Why another library's array is no argument for a launch here, or ``""``."""
        return self.backend.refuses(address, ordinal)

    def array(self, source: Any, dtype: Any = None) -> Array:
        """A C-contiguous copy on the device of what ``numpy.asarray`` takes."""
        data = np.asarray(source, dtype=None if dtype is None else dtype_of(dtype), order="C")
        refuse_objects(data.dtype)
        if not data.dtype.isnative:
            data = data.astype(data.dtype.newbyteorder("="))
        made = self.empty(data.shape, data.dtype)
        self.memory.write(made.pointer, data)
        return made

    def empty(
        self, shape: int | Sequence[int], dtype: Any = "f4", poison: bool | int = False
    ) -> Array:
        """An array whose contents are undefined.

        ``poison=True`` sets every byte to 0xFF, a NaN in the IEEE formats, and an integer below 256
        to that byte, so that what a kernel leaves unwritten shows.
        """
        sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        if any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 0 for n in sizes):
            raise ArgumentTypeError(
                f"a shape is an int or a tuple of ints from 0 up, got {shape!r}"
            )
        kind = dtype_of(dtype)
        refuse_objects(kind)
        if not isinstance(poison, bool) and integer(poison) not in range(256):
            raise ArgumentValueError(f"poison is a bool or a byte from 0 to 255, got {poison!r}")
        extents = tuple(int(n) for n in cast("tuple[int, ...]", sizes))
        made = Array(
            self,
            Storage(self.memory, int(np.prod(extents, dtype=object)) * kind.itemsize),
            extents,
            kind,
        )
        if poison is not False:
            made.fill_bytes(0xFF if poison is True else poison)
        return made

    def tensor_map(self, map: TensorMap) -> bytes:
        """A tensor map as this device reads it: the argument of a ``"tensormap"`` parameter."""
        return self.backend.encode(map)

    def load(self, source: Any, jit: bool = False) -> Loaded:
        """Load a module, a kernel under construction, PTX text or a :class:`ptx.Cubin`.

        On a GPU, PTX is assembled by ptxas where there is one, so that ``.cubin`` is what runs,
        else by the driver; ``jit=True`` insists on the driver. The emulator takes a Cubin by the
        PTX that it was made from. Raises :class:`ptx.PtxError`: for the driver's compiler a
        :class:`ptx.driver.DriverError` with its log and the place.
        """
        if not isinstance(source, (Module, Cubin, str, bytes)):
            if not hasattr(source, "items") or isinstance(source, Mapping):
                raise ArgumentTypeError(
                    "load takes a Module, a Kernel, PTX text or a Cubin, got "
                    f"{type(source).__name__}"
                )
            source = Module(source)
        if isinstance(source, bytes):
            source = source.removesuffix(b"\0").decode()
        if isinstance(self.backend, gpu.Context):
            return _load_on_gpu(self, self.backend, source, jit)
        return _load_on_emulator(self, source)


# ---------------------------------------------------------------- loading


def _load_on_emulator(where: Device, source: Module | Cubin | str) -> Loaded:
    module = _module(source)
    if module is None:
        raise LaunchError(
            "the emulator runs PTX, and this Cubin does not say what PTX it was made from"
        )
    if module.target is not None and (unknown := targets.refusal(bare(module.target))):
        raise LaunchError(unknown)
    image: Image = cast(Any, where.backend).load(module)
    return Loaded(where, image, module, source if isinstance(source, Cubin) else None)


def _module(source: Module | Cubin | str) -> Module | None:
    if isinstance(source, Module):
        return source
    if isinstance(source, Cubin):
        return source.module
    return parse(source)


def _load_on_gpu(
    where: Device, context: gpu.Context, source: Module | Cubin | str, jit: bool
) -> Loaded:
    if isinstance(source, Cubin):
        return Loaded(where, context.load(source.data), _signature(source), source)
    if isinstance(source, str):
        gpu.terminated(source)
    target = image_target(where, source)
    if jit or not _ptxas(target):
        return _compile_by_driver(where, context, source, target)
    cubin = assemble(source, target)
    return Loaded(where, context.load(cubin.data), _signature(cubin), cubin)


def _ptxas(target: str) -> bool:
    """Whether there is a ptxas, and the table of targets knows this one."""
    try:
        find_tool("ptxas")
    except PtxError:
        return False
    return target in targets.INTRODUCED


def _signature(source: Module | Cubin | str) -> Module | None:
    """The module, for its kernels' parameters; None for text that the parser does not take."""
    try:
        return _module(source)
    except PtxError:
        return None


def image_target(where: Device, source: Module | str) -> str:
    """The target to assemble for: the GPU's own, with the suffix that the module needs."""
    if isinstance(source, str):
        match = re.search(r"^\s*\.target\s+(sm_\d+[af]?)", source, re.MULTILINE)
        needed = match[1] if match else "sm_50"
    elif source.target:
        needed = source.target
    else:
        needed = requirements(source).target
    own = where.limits.architecture
    mine = [own, *(t for t in (f"{own}f", f"{own}a") if t in targets.INTRODUCED)]
    for candidate in mine:
        if targets.meets(candidate, needed):
            return candidate
    raise LaunchError(
        f"the module needs {needed}; {where} is a {where.name} and runs {', '.join(mine)}"
    )


def _compile_by_driver(
    where: Device, context: gpu.Context, source: Module | str, target: str
) -> Loaded:
    places: tuple[Place | None, ...] = ()
    if isinstance(source, Module):
        rendered = render(source)
        text, places = rendered.text, rendered.places
    else:
        text = source
    try:
        image = context.load(gpu.terminated(text))
    except driver.DriverError as error:
        if error.code != driver.UNSUPPORTED_PTX:
            _locate(error, text, places)
            raise
        return _assembled_instead(where, context, source, target, error)
    return Loaded(where, image, _signature(source), None, log=image.log)


def _assembled_instead(
    where: Device,
    context: gpu.Context,
    source: Module | str,
    target: str,
    refusal: driver.DriverError,
) -> Loaded:
    """The driver is older than the PTX: ptxas may know it, and the driver takes its cubin."""
    try:
        cubin = assemble(source, target)
        image = context.load(cubin.data)
    except PtxError as error:
        raise LaunchError(f"{refusal}\nptxas was tried instead, for {target}: {error}") from refusal
    warnings.warn(
        "the driver is older than the PTX's .version; what runs is a cubin of the local ptxas",
        stacklevel=5,
    )
    return Loaded(where, image, _signature(source), cubin)


def _locate(error: driver.DriverError, text: str, places: Sequence[Place | None]) -> None:
    """Say where in the PTX, and from which line of Python, the driver's compiler found its first
    error.
    """
    match = re.search(r"line (\d+)", error.log)
    lines = text.splitlines()
    if match is None or not 1 <= int(match[1]) <= len(lines):
        return
    number, source = int(match[1]), lines[int(match[1]) - 1]
    author = places[number - 1] if number <= len(places) else None
    if author is None:
        error.place, error.source = Place("<ptx>", number), source
    else:
        error.place = author
        error.message += f"\n  {source.strip()}    (line {number} of the PTX)"


# ---------------------------------------------------------------- what was loaded


class Loaded(Mapping[str, "LoadedKernel"]):
    """A module on a device: its kernels by name."""

    def __init__(
        self, where: Device, image: Image, module: Module | None, cubin: Cubin | None, log: str = ""
    ) -> None:
        self.device = where
        self.image = image
        self.module = module
        self.cubin = cubin
        """The image that runs, to inspect; None where the driver compiled the PTX."""
        self.log = log or (cubin.log if cubin else "")
        self.lock = threading.Lock()
        """Held while a launch is packed and handed over, and while the module is unloaded."""
        self.closed = False
        self._kernels: dict[str, LoadedKernel] = {}

    def __repr__(self) -> str:
        return f"<ptx module on {self.device}: {', '.join(self) or 'no kernels'}; {self.origin}>"

    @property
    def origin(self) -> str:
        """What was loaded: the very image that runs, by its target, assembler and hash."""
        if not self.device.is_cuda:
            return "PTX, emulated"
        if self.cubin is None:
            return "PTX, compiled by the driver"
        by = f" by ptxas {self.cubin.version}" if self.cubin.version else ""
        return f"{self.cubin.target} cubin{by}, sha256 {self.cubin.sha256[:16]}"

    @property
    def _names(self) -> list[str]:
        if self.module is not None:
            return list(self.module.kernels)
        return list(self.cubin.kernels) if self.cubin is not None else list(self._kernels)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> LoadedKernel:
        found = self._kernels.get(name)
        if found is None:
            told = self.module is not None or self.cubin is not None
            if told and name not in self._names:
                raise KeyError(f"no kernel {name}; the module has {', '.join(self) or 'none'}")
            found = self._kernels[name] = LoadedKernel(self, name)
        return found

    def unload(self) -> None:
        """Give the module back once its launches have run; it takes no more of them."""
        with self.lock:
            self.closed = True
        self.image.unload()


class LoadedKernel:
    """A kernel, ready to be launched."""

    def __init__(self, loaded: Loaded, name: str) -> None:
        self.loaded = loaded
        self.name = name
        self.device = loaded.device
        function = loaded.module.kernels[name] if loaded.module is not None else None
        self.parameters: tuple[Parameter, ...] = (
            function.params if function is not None else _sized(loaded.image, name)
        )
        self._directives = dict(function.directives) if isinstance(function, Function) else {}
        self._static_shared = loaded.image.static_shared(name)
        self._block = self._new_block()
        self._bound: dict[Any, Callable[[], None]] = {}

    def __repr__(self) -> str:
        return f"<ptx kernel {self.name} on {self.device}>"

    @property
    def info(self) -> KernelInfo | None:
        """Registers, spills and shared memory by ptxas; None where the driver compiled it."""
        cubin = self.loaded.cubin
        return cubin.kernels[self.name] if cubin is not None else None

    def launch(
        self,
        grid: Extent,
        block: Extent,
        args: Arguments = (),
        shared: int = 0,
        cluster: Extent | None = None,
        stream: Any = None,
    ) -> None:
        """Launch it: `grid` and `cluster` in CTAs, `block` in threads, `shared` in bytes of dynamic
        shared memory.

        `args` is a mapping by parameter name or a sequence in order. `stream` is one of ours, an
        integer handle, or another library's; None is the default stream. Arguments and shape are
        checked before anything runs.
        """
        key = (grid, block, shared, cluster, stream, kinds(grid, block, shared, cluster))
        with self.loaded.lock:
            try:
                go = self._bound[key]
            except (KeyError, TypeError):
                go = self._bind(key)
            if self.loaded.closed:
                raise LaunchError(f"the module of {self.name} has been unloaded")
            self._block.write(args)
            go()

    def prepare(
        self,
        grid: Extent,
        block: Extent,
        args: Arguments = (),
        shared: int = 0,
        cluster: Extent | None = None,
        stream: Any = None,
        early: bool = False,
    ) -> Launch:
        """The same launch, checked and packed once: calling the result launches it, at the least
        cost. An `early` one may start before what its stream has to do first has ended: before a
        thread touches that's memory it executes ``griddepcontrol.wait``; where it does not, the
        emulator finds a race.
        """
        packed = self._new_block()
        packed.write(args)
        shape = replace(self._geometry(grid, block, shared, cluster), early=early)
        return Launch(self, packed, self.loaded.image.bind(self.name, shape, packed, stream), args)

    def _new_block(self) -> ArgumentBlock:
        return ArgumentBlock(self.name, self.parameters, self.device)

    def _geometry(
        self, grid: Extent, block: Extent, shared: int, cluster: Extent | None
    ) -> Geometry:
        return geometry(
            self.name, grid, block, shared, cluster, limits=self.device.limits,
            directives=self._directives, static_shared=self._static_shared,
        )  # fmt: skip

    def _bind(self, key: tuple[Any, ...]) -> Callable[[], None]:
        *shape, stream, _ = key
        go = self.loaded.image.bind(self.name, self._geometry(*shape), self._block, stream)
        if len(self._bound) >= BOUND_LAUNCHES:
            self._bound.clear()
        try:
            self._bound[key] = go
        except TypeError:
            # A list is no key; such a launch is checked each time.
            pass
        return go


class Launch:
    """A launch that was checked and packed once. It keeps its arrays alive."""

    def __init__(
        self, kernel: LoadedKernel, packed: ArgumentBlock, go: Callable[[], None], args: Arguments
    ) -> None:
        self.kernel = kernel
        self._packed = packed
        self._go = go
        self._loaded = kernel.loaded
        names = [param.name for param in kernel.parameters]
        self._args: dict[str, Any] = dict(
            args if isinstance(args, Mapping) else zip(names, args, strict=True)
        )
        self._frees = Storage.frees

    def __call__(self) -> None:
        with self._loaded.lock:
            if self._loaded.closed:
                raise LaunchError(f"the module of {self.kernel.name} has been unloaded")
            if self._frees != Storage.frees:
                self._packed.write(self._args)
                self._frees = Storage.frees
            self._go()

    def at(self, *names: str) -> Callable[..., None]:
        """A function that launches with these pointers at other addresses, given as ints in this
        order.

        It checks nothing, keeps nothing alive, and costs the least.
        """
        write, lock, loaded, go = self._packed.at(*names), self._loaded.lock, self._loaded, self._go

        def launch(*addresses: int) -> None:
            with lock:
                if loaded.closed:
                    raise LaunchError(f"the module of {self.kernel.name} has been unloaded")
                write(*addresses)
                go()

        return launch

    def set(self, **changes: Any) -> None:
        """Change some arguments for the launches to come, by parameter name."""
        with self._loaded.lock:
            self._packed.set(changes)
            self._args.update(changes)


def _sized(image: Image, name: str) -> tuple[Parameter, ...]:
    """Parameters of a kernel whose source is unknown: their sizes are all that the image tells."""
    sizes = image.parameter_sizes(name) if isinstance(image, gpu.Module) else ()
    return tuple(
        Parameter(f"b{8 * size}", f"parameter {number}")
        if size in (1, 2, 4, 8)
        else Parameter("b8", f"parameter {number}", count=size)
        for number, size in enumerate(sizes)
    )
