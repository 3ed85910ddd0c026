"""The emulator as a device: memory, modules, launches, streams and events with the face of a GPU.

A launch runs at once. A fault of it is kept and raised at the next wait, as a GPU's would be; what
is launched in between does not run.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ptx.emu import machine
from ptx.emu.dependencies import Queue
from ptx.emu.faults import EmulatorFault
from ptx.emu.memory import Memory
from ptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError
from ptx.geometry import Geometry, Limits, Packed
from ptx.ir import Module

if TYPE_CHECKING:
    from ptx.tensormap import TensorMap

LIMITS = Limits(
    name="emulator",
    compute_capability=(9, 0),
    sm_count=4,
    clock=0,
    memory=1 << 36,
    l2_cache=50 << 20,
)
"""Those of a Hopper GPU, with few SMs: a persistent kernel's grid stays small."""


class EmulatedMemory:
    """The emulator's memory as a device's: reading it waits, and raises what went wrong."""

    def __init__(self, device: EmulatedDevice, flat: Memory) -> None:
        self._device = device
        self.flat = flat

    def allocate(self, nbytes: int) -> int:
        try:
            return self.flat.allocate(nbytes)
        except (MemoryError, ValueError) as error:
            raise LaunchError(f"the host has no {nbytes} bytes for the emulator") from error

    def free(self, address: int) -> None:
        self.flat.free(address)

    def read(self, address: int, into: Any) -> None:
        self._device.synchronize()
        if into.nbytes:
            into.reshape(-1).view("u1")[:] = self.flat.read(address, into.nbytes)

    def write(self, address: int, data: Any) -> None:
        self._device.settle()
        if data.nbytes:
            self.flat.write(address, data.tobytes())

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        self._device.settle()
        if nbytes:
            self.flat.write(address, bytes([byte]) * nbytes)


class EmulatedDevice:
    """``device("emulator")``. ``options`` are handed to every launch of the machine, as
    ``{"schedule": ...}``.
    """

    is_cuda = False
    limits = LIMITS

    def __init__(self, run: Callable[..., Any] = machine.launch) -> None:
        """`run` launches in the emulator's memory, with the parameters of ``machine.launch``."""
        self.run = run
        self.memory = EmulatedMemory(self, Memory())
        self.options: dict[str, Any] = {}
        self.fault: EmulatorFault | None = None
        self.report: Any = None
        """What the last launch counted."""
        self.uses: Counter[int] = Counter()
        """How many loads of a module, by its id, have not been undone."""
        self.queue = Queue()
        """That of the default stream."""
        self.queues: WeakSet[Queue] = WeakSet([self.queue])
        self.retired: deque[Module] = deque()
        """Modules of loads that nobody refers to; the collector puts them here, and no more."""

    def settle(self) -> None:
        """All launches have ended."""
        for queue in self.queues:
            queue.clear()

    def queue_of(self, stream: Any) -> Queue:
        """That of a stream; the default stream and each other one wait for one another."""
        if not isinstance(stream, EmulatedStream):
            for queue in self.queues - {self.queue}:
                queue.clear()
            return self.queue
        self.queue.clear()
        return stream.queue

    def synchronize(self) -> None:
        self.settle()
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault

    def refuses(self, address: int, ordinal: int | None) -> str:
        return "the array lies in the memory of a GPU, the launch is on the emulator"

    def handle_of(self, stream: Any) -> int:
        if stream is not None and getattr(stream, "device", None) is not self and stream != 0:
            raise ArgumentTypeError(
                "stream: takes stream() of the same device, the launch is on the emulator, "
                f"got {type(stream).__name__}"
            )
        return 0

    def order(self, later: int, earlier: int) -> None:
        """Everything has run."""

    def encode(self, map: TensorMap) -> bytes:
        return map.pack()

    def clusters(self, size: int) -> int:
        return max(1, self.limits.sm_count // size)

    def stream(self) -> EmulatedStream:
        return EmulatedStream(self)

    def event(self) -> EmulatedEvent:
        return EmulatedEvent(self)

    def load(self, module: Module) -> EmulatedModule:
        self.reap()
        return EmulatedModule(self, module)

    def reap(self) -> None:
        """Undo the loads of retired modules; with the last one of a module its variables go."""
        while self.retired:
            module = self.retired.popleft()
            self.uses[id(module)] -= 1
            if not self.uses[id(module)]:
                del self.uses[id(module)]
                machine.unload(module, self.memory.flat)


SHOWN_SECONDS = 3.0
"""A launch that takes longer shows how far it is, on a terminal."""


@contextmanager
def shown(name: str, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The options of a launch, with a progress bar over its CTAs where nobody else follows it."""
    if "progress" in options or not sys.stderr.isatty():
        yield options
        return
    from tqdm import tqdm

    with tqdm(
        desc=name, unit="CTA", file=sys.stderr, delay=SHOWN_SECONDS, leave=False, disable=None
    ) as bar:

        def follow(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield options | {"progress": follow}


class EmulatedModule:
    """A module on the emulator; unloaded when nobody refers to it, as on a GPU."""

    def __init__(self, device: EmulatedDevice, module: Module) -> None:
        self.device = device
        self.module = module
        device.uses[id(module)] += 1
        self._release = weakref.finalize(self, device.retired.append, module)
        self._release.atexit = False

    def static_shared(self, name: str) -> int:
        """Bytes of shared memory that a kernel declares; variables of the module count for each
        kernel.
        """
        end = 0
        for variable in (*self.module.variables, *self.module.kernels[name].variables):
            if variable.space == "shared" and variable.linkage != "extern":
                end = -(-end // variable.alignment) * variable.alignment + variable.bytes
        return end

    def bind(
        self, name: str, geometry: Geometry, packed: Packed, stream: Any
    ) -> Callable[[], None]:
        function, device = self.module.kernels[name], self.device
        device.handle_of(stream)

        def launch() -> None:
            if device.fault is not None:
                return
            try:
                with shown(name, device.options) as options:
                    device.report = device.run(
                        function,
                        self.module,
                        geometry.grid,
                        geometry.block,
                        packed.data,
                        geometry.shared,
                        geometry.cluster,
                        memory=device.memory.flat,
                        queue=device.queue_of(stream),
                        early=geometry.early,
                        **options,
                    )
            except EmulatorFault as fault:
                # What the machine refuses before anything runs is known at the launch.
                if fault.kind == "launch":
                    raise
                device.fault = fault

        return launch

    def unload(self) -> None:
        self._release()
        self.device.reap()


class EmulatedStream:
    """A stream's face: everything on the emulator has run when its launch returns; `queue` is what
    would still run on a GPU.
    """

    def __init__(self, device: EmulatedDevice) -> None:
        self.device = device
        self.handle = id(self)
        self.queue = Queue()
        device.queues.add(self.queue)

    def synchronize(self) -> None:
        self.device.synchronize()

    def wait(self, event: EmulatedEvent) -> None:
        return


class EmulatedEvent:
    """An event's face; it measures the host's time."""

    def __init__(self, device: EmulatedDevice) -> None:
        self.device = device
        self._time: float | None = None

    def record(self, stream: EmulatedStream | None = None) -> None:
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        self.device.synchronize()

    @property
    def done(self) -> bool:
        return True

    def elapsed_time(self, end: EmulatedEvent) -> float:
        """Milliseconds from this event to `end`."""
        end.synchronize()
        if self._time is None or end._time is None:
            raise ArgumentValueError("an event measures time only after record()")
        return 1000 * (end._time - self._time)
