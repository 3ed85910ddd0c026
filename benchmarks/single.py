"""Row-major products in float32 on a GPU beside torch: checked, then timed in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks import harness

Call = Callable[[int], None]
"""Multiplies the input set of that number into the output of that number."""


@dataclass(frozen=True)
class Contender:
    """How to make its call from the input sets and the outputs, and what else its row tells."""

    make: Callable[[Any, Any], Call]
    told: Mapping[str, Any] = field(default_factory=dict)


def beside_torch(
    key: str, size: tuple[int, int, int], contenders: Mapping[str, Contender]
) -> list[dict[str, Any]]:
    """A row for torch, IEEE float32, and one for each contender, its name under `key`.

    Each output is poisoned and compared with float64 before it is timed, within
    (K + 4) * 2**-24 * (|A| @ |B|). Raises ``SystemExit`` for a contender that is wrong.
    """
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    m, n, k = size
    sets = harness.input_sets(4 * (m * n + m * k + n * k))
    random = torch.Generator("cuda").manual_seed(m + n + k)

    def drawn(*extents: int) -> Any:
        return torch.randn(*extents, device="cuda", generator=random)

    inputs = [(drawn(m, k), drawn(k, n)) for _ in range(sets)]
    outputs = [torch.empty(m, n, device="cuda") for _ in range(sets)]
    calls: dict[str, Call] = {"torch": lambda i: torch.matmul(*inputs[i], out=outputs[i])}
    calls |= {name: contender.make(inputs, outputs) for name, contender in contenders.items()}
    exact = inputs[0][0].double() @ inputs[0][1].double()
    bound = (k + 4) * 2.0**-24 * (inputs[0][0].double().abs() @ inputs[0][1].double().abs())
    errors = {}
    for name, call in calls.items():
        outputs[0].fill_(float("nan"))
        call(0)
        errors[name] = float(((outputs[0].double() - exact).abs() / bound).max())
        if not errors[name] <= 1 and name != "torch":
            raise SystemExit(f"{name} at {size}: error / bound is {errors[name]}")
    del exact, bound
    times = harness.graph_us(calls, sets)
    return [
        {
            key: name,
            "m": m, "n": n, "k": k,
            "us": round(us, 2),
            "tflops": round(2 * m * n * k / us / 1e6, 2),
            "torch_over_us": round(times["torch"] / us, 4),
            "error_over_bound": round(errors[name], 5),
            "torch": torch.__version__,
            **(contenders[name].told if name in contenders else {}),
        }
        for name, us in times.items()
    ]  # fmt: skip
