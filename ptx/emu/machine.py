"""A launch: the kernel decoded, its parameters in place, its CTAs run chunk by chunk."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptx import types
from ptx.emu.chunk import Chunk
from ptx.emu.dependencies import Early, Queue
from ptx.emu.faults import EmulatorFault, Unmodelled
from ptx.emu.global_races import History, granule_of
from ptx.emu.memory import VALID, Array, Memory, Region
from ptx.emu.program import Decoded, Program, function_addresses
from ptx.emu.report import Counts, Report
from ptx.emu.semantics.rules import dtype_of
from ptx.emu.steps import constant
from ptx.ir import Function, Imm, Module, Symbol, Variable

CHUNK_THREADS = 4096
"""So many threads advance together: their registers stay in the cache, and calls cost little."""
STEP_LIMIT = 50_000_000
RESIDENT_THREADS = 132 * 2048
"""Those of an H200: CTAs that wait for others find them only if a GPU holds both at once."""

Dim = tuple[int, int, int]
_launches = itertools.count(1)


@dataclass(eq=False)
class Image:
    """A module loaded into one memory: where its variables lie, and its kernels decoded."""

    module: Module
    globals: dict[str, int]
    programs: dict[tuple[str, bool], Program] = field(default_factory=dict)

    def program(self, kernel: Function, contract: bool = False) -> Program:
        key = kernel.name, contract
        if key not in self.programs:
            self.programs[key] = Program(self.module, kernel, self.globals, contract)
        return self.programs[key]


class Order:
    """In which order CTAs run, and which warps of a chunk move apart from the others.

    ``"fixed"`` moves everything together, CTAs from the first; ``"reverse"`` runs clusters and
    warps from the last; a seed shuffles them. Warps in an order of their own run each as far as
    they can: what a kernel computes may then differ only where it lacks a synchronisation.
    """

    TEAMS = 8

    def __init__(self, order: str | int) -> None:
        if order not in ("fixed", "reverse") and not isinstance(order, int):
            raise ValueError(f"order is 'fixed', 'reverse' or a seed, got {order!r}")
        self.order = order
        self._random = np.random.default_rng(order if isinstance(order, int) else 0)

    def clusters(self, count: int) -> range | Array:
        """The numbers of so many clusters in the order in which they run."""
        if self.order == "fixed":
            return range(count)
        if self.order == "reverse":
            return range(count)[::-1]
        return self._random.permutation(count)

    def teams(self, chunk: Chunk) -> Array | None:
        """The team of each thread; lower ones run first."""
        if self.order == "fixed" or chunk.warp_count == 1:
            return None
        count = min(self.TEAMS, chunk.warp_count)
        if self.order == "reverse":
            each = chunk.warp_count // len(chunk.ctas)
            within = each - 1 - np.arange(chunk.warp_count) % each
            teams = within * count // each
        else:
            teams = self._random.integers(0, count, chunk.warp_count)
        return teams[chunk.warp_of]


_IMAGES = "_images"
IMAGES_KEPT = 64
"""So many modules without variables stay decoded, those used last; a decoded kernel of 1,400
instructions takes 1.4 MB. Of a module with variables the image is where they lie: it stays."""


def image_of(module: Module, memory: Memory) -> Image:
    """The module as loaded into `memory`; loaded at the first use, its variables initialised."""
    images: dict[int, Image] = memory.__dict__.setdefault(_IMAGES, {})
    image = images.pop(id(module), None)
    if image is None:
        image = Image(module, _load_variables(module, memory))
        spare = [key for key, other in images.items() if not other.globals]
        for key in spare[: max(0, len(spare) - IMAGES_KEPT + 1)]:
            del images[key]
    # The one used last is the last.
    images[id(module)] = image
    return image


def unload(module: Module, memory: Memory) -> None:
    """Give back what a module has in `memory`: its variables and its decoded kernels."""
    image: Image | None = memory.__dict__.get(_IMAGES, {}).pop(id(module), None)
    if image is not None:
        for address in image.globals.values():
            memory.free(address)


def _load_variables(module: Module, memory: Memory) -> dict[str, int]:
    placed: dict[str, int] = {}
    functions = function_addresses(module)
    variables = [v for v in module.variables if v.space in ("global", "const")]
    for variable in variables:
        constant_memory = variable.space == "const"
        placed[variable.name] = memory.allocate(
            max(variable.bytes, 1),
            max(256, variable.alignment),
            f".{variable.space} {variable.name}",
            read_only=constant_memory,
        )
    for variable in variables:
        memory.write(placed[variable.name], _initial_bytes(variable, functions | placed))
    return placed


def _initial_bytes(variable: Variable, placed: dict[str, int]) -> Array:
    """What a variable holds at first: its initialiser, zeros after it (section 5.4.4)."""
    data = np.zeros(max(variable.bytes, 1), np.uint8)
    size = types.bits(variable.type) // 8

    def flat(value: Any) -> list[Any]:
        if isinstance(value, tuple):
            return [one for part in value for one in flat(part)]
        return [] if value is None else [value]

    for number, value in enumerate(flat(variable.initial)):
        kind = dtype_of(variable.type)
        if isinstance(value, Imm):
            item = np.array(constant(variable.type, value), kind)
        elif isinstance(value, Symbol) and value.name in placed:
            item = np.array(placed[value.name] + value.offset, np.uint64).astype(kind)
        else:
            raise Unmodelled(f"{variable.name}: the initial value {value} is not modelled")
        data[number * size : (number + 1) * size] = item.reshape(1).view(np.uint8)
    return data


class Launch:
    """Everything that the chunks of one launch share."""

    def __init__(
        self,
        program: Program,
        grid: Dim,
        block: Dim,
        cluster: Dim | None,
        parameters: bytes,
        dynamic_shared_bytes: int,
        memory: Memory,
        step_limit: int,
        order: Order,
        find_races: bool,
        early: Early | None,
    ) -> None:
        self.program = program
        self.grid, self.block, self.cluster = grid, block, cluster or (1, 1, 1)
        self.explicit_cluster = cluster is not None
        self.memory = memory
        self.step_limit = step_limit
        self.order = order
        self.find_races = find_races
        self.early = early
        """What it may touch too early, where anything may still run beside it."""
        self.history = History(granule_of(program))
        self.issued = 0
        self.changes = 0
        """Grows with whatever some CTAs do that others may wait for."""
        self.others_wait = False
        """Whether CTAs of other chunks could run."""
        self.dynamic_shared_bytes = dynamic_shared_bytes
        self.shared_bytes = program.dynamic_offset + dynamic_shared_bytes
        self.threads_per_cta = block[0] * block[1] * block[2]
        self.number = next(_launches)
        self.counts: Counts | None = None
        self.parameters = Region(0, len(parameters), "kernel parameters", read_only=True)
        self.parameters.data[: len(parameters)] = np.frombuffer(parameters, np.uint8)
        self.parameters.state[: len(parameters)] = VALID
        self.parameters.full = True

    @property
    def cluster_size(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def cluster_rank(self, chunk: Chunk) -> Array:
        """The rank of each CTA of a chunk in its cluster: whole clusters lie one after another."""
        return np.arange(len(chunk.ctas)) % self.cluster_size

    @property
    def cluster_count(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2] // self.cluster_size

    def ctas(self, clusters: Array) -> Array:
        """The CTAs of these clusters, those of each together by rank."""
        grid_x, grid_y, _ = self.grid
        x, y, z = self.cluster
        if self.cluster_size == 1:
            return clusters
        across, up = grid_x // x, grid_y // y
        number, rank = clusters[:, None], np.arange(self.cluster_size)
        column = number % across * x + rank % x
        row = number // across % up * y + rank // x % y
        layer = number // (across * up) * z + rank // (x * y)
        ctas: Array = column + grid_x * (row + grid_y * layer)
        return ctas.reshape(-1)

    def diverged(self, decoded: Decoded) -> None:
        """A branch has parted a group."""
        if self.counts is not None:
            self.counts.diverged[decoded.at] += 1


def launch(
    function: str | Function,
    module: Module,
    grid: Dim,
    block: Dim,
    param_bytes: bytes,
    shared_bytes: int = 0,
    cluster: Dim | None = None,
    memory: Memory | None = None,
    *,
    order: str | int = "fixed",
    step_limit: int = STEP_LIMIT,
    races: bool = True,
    report: bool = False,
    contract: bool = False,
    progress: Callable[[int, int], None] | None = None,
    queue: Queue | None = None,
    early: bool = False,
) -> Report | None:
    """Run a kernel of `module` over a grid, to its end; with ``report=True`` give what it did.

    `param_bytes` is the parameter space, laid out as the driver lays it out; `shared_bytes` is
    dynamic shared memory; `step_limit` bounds the instructions that groups of threads issue;
    ``races=False`` leaves out the search for races; ``contract=True`` rounds ``mul`` and ``add``
    without a rounding modifier once, as ptxas makes them one fma (else twice); `progress` is told
    now and then how many CTAs have run, and of how many; `queue` is what may still run of the
    stream's launches before, to which this one is added, and an `early` one runs beside them.
    Raises :class:`EmulatorFault` for what the kernel does wrong and :class:`Unmodelled` before
    anything runs.
    """
    kernel = module.functions[function] if isinstance(function, str) else function
    memory = memory if memory is not None else Memory()
    program = image_of(module, memory).program(kernel, contract)
    declared = kernel.directive("reqnctapercluster")
    if cluster is None and declared:
        x, y, z = (*declared, 1, 1)[:3]
        cluster = x, y, z
    _check_shape(kernel, grid, block, cluster)
    if len(param_bytes) < program.parameter_bytes:
        raise EmulatorFault(
            "launch",
            f"{kernel.name} takes {program.parameter_bytes} bytes of parameters, "
            f"got {len(param_bytes)}",
            place=kernel.place,
        )
    running = Launch(
        program,
        grid,
        block,
        cluster,
        param_bytes,
        shared_bytes,
        memory,
        step_limit,
        Order(order),
        races,
        queue.take(early and races) if queue is not None else None,
    )
    if report:
        running.counts = Counts(program)
    _run(running, progress)
    if queue is not None:
        queue.follow(running)
    return running.counts.report() if running.counts is not None else None


def _run(launch: Launch, progress: Callable[[int, int], None] | None) -> None:
    """All CTAs, chunk by chunk. One that only polls memory gives way to others, until as many
    threads are in flight as a GPU holds; the youngest goes on first.
    """
    size, count = launch.cluster_size, launch.cluster_count
    clusters = launch.order.clusters(count)
    each = max(1, CHUNK_THREADS // launch.threads_per_cta // size)
    most = max(1, RESIDENT_THREADS // (each * size * launch.threads_per_cta))
    polling: deque[Chunk] = deque()
    spare: Chunk | None = None
    begun = done = silent = 0
    while begun < count or polling:
        if begun < count and len(polling) < most:
            some = launch.ctas(np.array(clusters[begun : begun + each]))
            begun += each
            chunk = spare if spare is not None and len(some) == len(spare.ctas) else None
            chunk, spare = chunk or Chunk(launch, some), None
            chunk.start(some)
        else:
            chunk = polling.pop()
        launch.others_wait = bool(polling) or (begun < count and len(polling) + 1 < most)
        before = chunk.progress
        ended = chunk.run()
        launch.changes += chunk.progress != before
        if not ended:
            polling.appendleft(chunk)
            silent = silent + 1 if chunk.repeats else 0
            if silent > 2 * len(polling) and (begun >= count or len(polling) >= most):
                raise chunk.fault(chunk.endless(), chunk.polled_at or chunk.at, None)
            continue
        silent = 0
        spare = chunk
        done += len(chunk.ctas)
        if progress is not None:
            progress(done, count * size)


def _check_shape(kernel: Function, grid: Dim, block: Dim, cluster: Dim | None) -> None:
    threads = block[0] * block[1] * block[2]
    problem = ""
    if min(grid) < 1 or min(block) < 1:
        problem = f"grid {grid} and block {block} must be positive"
    elif threads > 1024 or block[2] > 64:
        problem = f"block {block} has {threads} threads; 1024 is the limit, 64 along z"
    elif grid[1] > 65535 or grid[2] > 65535:
        problem = f"grid {grid} exceeds 65535 along y or z"
    wanted = kernel.directive("reqntid")
    if wanted and threads != int(np.prod(wanted)):
        problem = f"{kernel.name} requires {wanted} threads, got {block}"
    most = kernel.directive("maxntid")
    if most and threads > int(np.prod(most)):
        problem = f"{kernel.name} takes at most {most} threads, got {block}"
    if cluster and any(g % c for g, c in zip(grid, cluster, strict=True)):
        problem = f"grid {grid} is no multiple of the cluster {cluster}"
    if problem:
        raise EmulatorFault("launch", problem, place=kernel.place)
