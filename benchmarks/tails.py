"""What the edges of a product cost: every policy at exact, near and odd sizes, beside torch.

    python -m benchmarks.tails [--record]

Row-major float32. Each output is poisoned and compared with float64 before it is timed. Lines go to
benchmarks/results/tails.jsonl: a policy's machine code, and its times; ``auto`` is what the library
chooses by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import ptx
from benchmarks import harness
from benchmarks.single import Call, Contender, beside_torch
from ptx import sass
from ptx.devices import LoadedKernel
from ptxgemm.kernels.fit import Matrix, Plan, plan
from ptxgemm.kernels.simt import Spec, build
from ptxgemm.loading import loaded
from ptxgemm.shape import SEED, Shape
from ptxgemm.tail import AUTO, PREFETCHES, SCHEDULES, Tail

ASYNC = Shape(128, 128, 16, 32, 64, 8, 8, 3, 2, "async")
SIZES = (
    (4096, 4096, 4096),
    (4095, 4097, 4093),
    (4095, 4097, 1023),
    (3000, 3001, 3002),
    (1000, 1000, 1000),
)
AUTO_SIZES = ((512,) * 3, (1024,) * 3, (2048,) * 3, (6144,) * 3, (8192,) * 3)
"""Where only the library's own choice is timed."""


def policies() -> Iterator[tuple[str, Tail, Shape | None]]:
    """Their names, and what they are."""
    for prefetch in PREFETCHES:
        yield f"exact, {prefetch}", Tail(prefetch, "exact"), SEED
    for edge in ("predicated", "branch", "clamped", "clamped-lines"):
        for schedule in SCHEDULES if edge == "predicated" else ("ragged-first",):
            yield f"{edge}, {schedule}", Tail("peeled", edge, schedule), SEED  # type: ignore[arg-type]
    yield "async exact", Tail("peeled", "exact"), ASYNC
    for edge in ("zfill",):
        yield f"async {edge}, ragged-first", Tail("peeled", edge, "ragged-first"), ASYNC  # type: ignore[arg-type]
    yield "async zfill, guarded", Tail("peeled", "zfill", "guarded"), ASYNC
    yield "auto", AUTO, None


def planned(m: int, n: int, k: int, tail: Tail, shape: Shape | None) -> Plan | None:
    """None where the policy cannot do it."""
    try:
        return plan(m, n, k, Matrix(k, 1), Matrix(n, 1), Matrix(n, 1), tail=tail, shape=shape)
    except ValueError:
        return None


@cache
def machine_code(spec: Spec) -> dict[str, Any]:
    """What ptxas made of it, and of its main loop."""
    cubin = ptx.assemble(ptx.Module(build(spec)), "sm_90")
    code = sass.disassemble(cubin)
    loop = code.loop("main")
    loads = loop.count("LDG") + loop.count("LDGSTS")
    return {
        "registers": cubin.registers,
        "spill_bytes": cubin.spill_stores,
        "code_bytes": len(code.instructions) * 16,
        "loop_instructions": len(loop.instructions),
        "loop_ffma": loop.count("FFMA"),
        "loop_loads": loads,
        "loop_guarded_loads": loop.count("LDG", True) + loop.count("LDGSTS", True),
        "loop_branches": loop.count("BRA"),
        "widths": [spec.a.width * 4, spec.b.width * 4, spec.d.width * 4],
    }


def measure(size: tuple[int, int, int], plans: dict[str, Plan]) -> list[dict[str, Any]]:
    """A row for torch, and one for each policy."""
    contenders = {
        name: Contender(partial(_call, made), _described(made)) for name, made in plans.items()
    }
    return beside_torch("policy", size, contenders)


def _described(made: Plan) -> dict[str, Any]:
    tail, cut = made.spec.tail, made.tiles
    return {
        "edge": tail.edge, "prefetch": tail.prefetch, "schedule": tail.schedule,
        "tile": str(made.spec.shape),
        "parts": cut.parts, "split_tiles": cut.split_tiles, "tiles": cut.tiles,
        **machine_code(made.spec),
    }  # fmt: skip


def _kernel(spec: Spec) -> LoadedKernel:
    return loaded(ptx.device("cuda:0"), build, spec)


def _call(made: Plan, inputs: Any, outputs: Any) -> Call:
    import torch

    kernel = _kernel(made.spec)
    extra: dict[str, Any] = {"alpha": 1.0, "beta": 0.0}
    if made.workspace_bytes:
        extra["workspace"] = torch.empty(made.workspace_bytes // 4, device="cuda")
        counters = torch.zeros(made.tiles.split_tiles, dtype=torch.int32, device="cuda")
        extra["counters"] = counters.view(torch.uint32)

    def call(i: int) -> None:
        matrices = {"a": inputs[i][0], "b": inputs[i][1], "d": outputs[i]}
        pointers = {name: matrices[of] for name, of in made.pointers.items()}
        stream = torch.cuda.current_stream().cuda_stream
        args = made.arguments | pointers | extra
        kernel.launch(made.grid, made.block, args, made.shared, stream=stream)

    return call


def main(arguments: list[str]) -> int:
    parser = harness.parser("tails", __doc__)
    options = harness.asked(parser, arguments)
    work: dict[tuple[int, int, int], dict[str, Plan]] = {}
    for size in (*SIZES, *AUTO_SIZES):
        known = policies() if size in SIZES else [("auto", AUTO, None)]
        made = {name: planned(*size, tail, shape) for name, tail, shape in known}
        work[size] = {name: one for name, one in made.items() if one is not None}
    specs = {one.spec for plans in work.values() for one in plans.values()}
    with ThreadPoolExecutor() as pool:
        list(pool.map(_kernel, specs))
        list(pool.map(machine_code, specs))
    rows = []
    for size, plans in work.items():
        for row in measure(size, plans):
            rows.append(row)
            print(
                f"{row['m']}x{row['n']}x{row['k']} {row['policy']:28} {row['us']:9.1f} us "
                f"{row['torch_over_us']:6.3f} of torch  {row.get('tile', '')} "
                f"{row.get('parts', '')} {row.get('registers', '')}",
                flush=True,
            )
    if options.record:
        print(f"recorded in {harness.record('tails', rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
