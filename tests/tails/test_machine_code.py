"""What ptxas makes of each policy, by architecture: guards where asked for, and only there."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

import pytest

import ptx
from ptx import sass
from ptx.sass import banks
from ptxgemm.kernels import simt
from ptxgemm.kernels.simt import Spec, build
from ptxgemm.shape import SEED, Shape
from ptxgemm.tail import Tail
from tests.tails.cases import Case

SHAPES = {
    "registers": SEED,
    "3 stages": Shape(64, 64, 8, 32, 32, 8, 4, 3, staging="async"),
}
OLD = ["sm_75"]
NEW = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
OFTEN = ("sm_75", "sm_90")
"""The targets of every run; each of the others takes ten seconds more, and is marked slow."""


def by_target(*values: str) -> Any:
    """A case of one target, the last of `values`."""
    return pytest.param(*values, marks=[] if values[-1] in OFTEN else [pytest.mark.slow])


@cache
def loop(tail: Tail, shape: str, target: str, odd: bool = True) -> sass.Region:
    size = (129, 131, 37) if odd else (128, 128, 64)
    spec = Case(tail, SHAPES[shape], *size).plan().spec
    return sass.disassemble(ptx.assemble(ptx.Module(build(spec)), target)).loop("main")


def loads(region: sass.Region, predicated: bool | None = None) -> int:
    return region.count("LDG", predicated) + region.count("LDGSTS", predicated)


def guarded(region: sass.Region) -> list[str]:
    """What is predicated, but for the loop's own end: a branch, on sm_80 a call out of the loop.

    ptxas puts ``@!PT LDS RZ, [RZ]``, which never runs, beside LDGSTS.
    """
    return [
        str(one)
        for one in region.instructions
        if one.predicated and one.guard != "@!PT" and not one.opcode.startswith(("BRA", "CALL"))
    ]


every = pytest.mark.parametrize(
    ("shape", "target"),
    [by_target("registers", t) for t in OLD + NEW] + [by_target("3 stages", t) for t in NEW],
)


@every
def test_exact_has_no_guard_at_all(shape: str, target: str) -> None:
    region = loop(Tail("peeled", "exact"), shape, target, odd=False)
    assert loads(region) > 0
    assert guarded(region) == []
    assert region.count("BRA") == 1


@every
def test_clamped_and_zfill_leave_the_loop_without_predicates(shape: str, target: str) -> None:
    edge = "zfill" if shape == "3 stages" else "clamped"
    region = loop(Tail("peeled", edge, "ragged-first"), shape, target)
    assert loads(region) > 0
    assert loads(region, predicated=True) == 0
    assert region.count("BRA") == 1


@every
def test_predicated_has_guarded_loads_and_no_branch(shape: str, target: str) -> None:
    region = loop(Tail("peeled", "predicated", "ragged-first"), shape, target)
    assert loads(region, predicated=True) == loads(region) > 0
    assert region.count("BRA") == 1


@pytest.mark.parametrize("target", [by_target(t) for t in NEW])
@pytest.mark.parametrize("columns", [132, 130])
def test_predicated_copies_of_vectors_have_no_branch_either(columns: int, target: str) -> None:
    """Rows of B allow 16 bytes, or 8, at once: what is not copied is zeroed at once too."""
    tail = Tail("peeled", "predicated", "ragged-first")
    spec = Case(tail, SHAPES["3 stages"], 129, columns, 37).plan().spec
    assert spec.b.width == (4 if columns == 132 else 2)
    ptx.assert_sass(
        ptx.Module(build(spec)),
        "loop main: BRA == 1, BSSY == 0, @LDGSTS == LDGSTS, @STS == LDGSTS, STS == LDGSTS",
        target=target,
    )


@every
def test_branch_has_its_branches_or_ptxas_predicated_them(shape: str, target: str) -> None:
    """ptxas 13.0 turns the branches around loads into registers into predicates; around cp.async
    with its other arm it does so too or keeps them. Either way no load is unguarded."""
    region = loop(Tail("peeled", "branch", "ragged-first"), shape, target)
    if region.count("BRA") == 1:
        assert loads(region, predicated=True) == loads(region) > 0
    else:
        assert region.count("BRA") > 1


@pytest.mark.parametrize("target", [by_target(t) for t in OLD + NEW])
def test_the_main_loop_names_no_bound_where_the_ragged_step_goes_first(target: str) -> None:
    """One comparison, the back edge's own; guarded compares K for every load or so."""
    free, guarded = (
        loop(Tail("peeled", "clamped", schedule), "registers", target)  # type: ignore[arg-type]
        for schedule in ("ragged-first", "guarded")
    )
    assert free.count("ISETP") + free.count("UISETP") == 1
    assert guarded.count("ISETP") + guarded.count("UISETP") > 1


def test_ptxas_13_predicates_the_branch_around_loads() -> None:
    region = loop(Tail("peeled", "branch", "ragged-first"), "registers", "sm_90")
    assert region.count("BRA") == 1


# ---------------------------------------------------------------- registers by banks

WIDE = Shape(128, 128, 8, 64, 64, 8, 16)
RAGGED = Tail("peeled", "clamped-lines", "ragged-first")


def code(spec: Spec) -> sass.Sass:
    return sass.disassemble(ptx.assemble(ptx.Module(build(spec)), "sm_90"))


def share(spec: Spec) -> float:
    """Of the main loop's clocks, those in which an FFMA starts."""
    return banks.walk(code(spec).loop("main").instructions).ffma_share


@pytest.mark.parametrize("shape", [SEED, WIDE], ids=["8x8", "8x16"])
def test_single_elements_are_written_by_way_of_shared_memory(shape: Shape) -> None:
    """As many stores as sums, after as many to shared memory; the main loop does not pay."""
    spec = Case(RAGGED, shape, 129, 131, 37).plan().spec
    assert spec.gathering is not None
    made = code(spec)
    sums = shape.thread_m * shape.thread_n
    assert made.count("STG") == made.count("STG.E") == sums
    loop = made.loop("main")
    assert banks.walk(loop.instructions).ffma_share > 0.77
    assert loop.count("LDL") == loop.count("STL") == 0


def test_ptxas_13_minds_the_writing_in_the_main_loop_unless_it_stands_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A ptxas for which the first assertion fails needs :func:`ptxgemm.kernels.simt.apart` no more.

    Where C is read and K not split it would do harm: 0.83 is 0.62 with it.
    """
    split = Spec(SEED, Tail("peeled", "exact"), split=True)
    adding = Case(RAGGED, WIDE, 129, 131, 37, reads_c=True).plan().spec
    with monkeypatch.context() as without:
        without.setattr(simt, "apart", lambda *_: nullcontext())
        assert share(split) < 0.7
    assert share(split) > 0.78
    assert share(adding) > 0.8
