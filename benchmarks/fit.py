"""Fit the model of products on Hopper to what :mod:`benchmarks.choices` recorded.

    python -m benchmarks.fit [--rounds N]

The constants of :mod:`ptxgemm.cost` and the candidates' rates in :mod:`ptxgemm.choose` are moved
one after another, as long as that makes the model better: by its errors, of which those at times
near a product's fastest count most, and by what is lost where the choice that it ranks first is
taken. Every fifth product is left out of the fit, to tell what the model is worth for others. The
constants are printed, to be put into the code by hand.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks import harness
from ptx.commands.options import at_least
from ptxgemm import choices, choose, cost
from ptxgemm.choices import Product
from ptxgemm.choose import Choice

SMS = 132
"""Of the card that was measured."""
GIVEN = (
    "FULL_US", "TURNING_US", "MULTIPLICATIONS_A_US", "SUSTAINED_A_US", "SHARED", "LIMIT_POWER",
)  # fmt: skip
"""Constants that these products say nothing of: what power allows shows in longer ones, and the
multiplications of an SM are the unit of the rates.
"""
CONSTANTS = tuple(
    name for name, value in vars(cost).items() if isinstance(value, float) and name not in GIVEN
)
NEARNESS = 3.0
"""Errors count by exp(-NEARNESS) for each time a product's fastest that a choice takes longer."""
MOST_SQUARE = 0.2
"""No error of a time's logarithm counts more than the square root of that."""
SOFTNESS = 0.03
"""Choices within that of the first, by the logarithm, count as taken too, in part."""
LEFT_OUT = 5
FIRST_STEP, LAST_STEP = 0.15, 0.003
"""Of a constant's logarithm."""

Point = dict[str, float]
"""Constants by name, and rates by the candidate's number."""


@dataclass(frozen=True)
class Known:
    """A product and the times of its choices, in microseconds."""

    product: Product
    us: dict[Choice, float]


def recorded(lines: Sequence[str]) -> list[Known]:
    """From lines of ``choices.jsonl``."""
    found = []
    for row in map(json.loads, lines):
        size, layout = row["case"].split()
        product = Product(*map(int, size.split("x")), layout)
        by_name = {choices.shown(one): one for one in choices.predicted(SMS, product)}
        us = {by_name[name]: us for name, us in row["us"].items() if name in by_name}
        if us:
            found.append(Known(product, us))
    return found


def point() -> Point:
    """Where the code stands."""
    rates = {str(number): one.rate for number, one in enumerate(choose.CANDIDATES)}
    return {name: getattr(cost, name) for name in CONSTANTS} | rates


def go_to(there: Point) -> None:
    for name in CONSTANTS:
        setattr(cost, name, there[name])
    choose.CANDIDATES = tuple(
        replace(one, rate=there[str(number)]) for number, one in enumerate(choose.CANDIDATES)
    )


def loss(known: Sequence[Known]) -> float:
    """Of the model as it stands: half the mean of weighted squares, and what choices lose."""
    squares, weights, lost = 0.0, 0.0, 0.0
    for one in known:
        predicted, fastest = choices.predicted(SMS, one.product), min(one.us.values())
        first = min(predicted[choice] for choice in one.us)
        taken, total = 0.0, 0.0
        for choice, us in one.us.items():
            weight = math.exp(-NEARNESS * (us / fastest - 1))
            squares += weight * min(math.log(predicted[choice] / us) ** 2, MOST_SQUARE)
            weights += weight
            share = math.exp(-math.log(predicted[choice] / first) / SOFTNESS)
            taken += share * math.log(us / fastest)
            total += share
        lost += taken / total
    return squares / weights / 2 + lost / len(known)


def over(known: Sequence[Known]) -> float:
    """The time of the first choice over the fastest one's, in the geometric mean."""
    ratios = []
    for one in known:
        predicted = choices.predicted(SMS, one.product)
        ratios.append(one.us[min(one.us, key=predicted.__getitem__)] / min(one.us.values()))
    return statistics.geometric_mean(ratios)


def fit(known: Sequence[Known], rounds: int) -> Point:
    """The point where so many rounds over all constants end; the model stands there."""
    best, here = loss(known), point()
    steps = dict.fromkeys(here, FIRST_STEP)
    for _ in range(rounds):
        for name in here:
            for step in (steps[name], -steps[name]):
                there = here | {name: here[name] * math.exp(step)}
                go_to(there)
                found = loss(known)
                if found < best:
                    best, here, steps[name] = found, there, steps[name] * 1.4
                    break
            else:
                steps[name] = max(steps[name] / 2, LAST_STEP)
    go_to(here)
    return here


def main(arguments: list[str] | None = None) -> int:
    parser = harness.parser("fit", __doc__, record=False)
    parser.add_argument("--rounds", type=at_least(1), default=10, metavar="N")
    options = harness.asked(parser, arguments)
    known = recorded((harness.RESULTS / "choices.jsonl").read_text(encoding="utf-8").splitlines())
    others, fitted = known[::LEFT_OUT], [one for i, one in enumerate(known) if i % LEFT_OUT]
    told = f"{len(fitted)} products {{:.3f}}, {len(others)} others {{:.3f}}"
    print("first choice over the fastest:", told.format(over(fitted), over(others)), flush=True)
    found = fit(fitted, options.rounds)
    print("after the fit:", told.format(over(fitted), over(others)))
    for name in CONSTANTS:
        print(f"{name} = {found[name]:.3g}")
    for number, one in enumerate(choose.CANDIDATES):
        print(f"{found[str(number)]:.3g}  {choices.shown(one.tiling)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
