"""What ptxas makes of SGEMM by the forms of its prefetch, and the PTX that they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

import ptx
from ptx import sass, text
from ptxgemm.kernels.simt import sgemm
from ptxgemm.tail import PREFETCHES

forms = pytest.mark.parametrize("form", PREFETCHES)
both_betas = pytest.mark.parametrize("beta_zero", [True, False], ids=["beta-zero", "beta"])


@cache
def machine_code(form: str, beta_zero: bool = True, target: str = "sm_90") -> sass.Sass:
    kernel = sgemm(prefetch=form, beta_zero=beta_zero)
    return sass.disassemble(ptx.assemble(ptx.Module(kernel), target))


@forms
@both_betas
def test_nothing_spills_and_two_ctas_fit_an_sm(form: str, beta_zero: bool) -> None:
    cubin = machine_code(form, beta_zero).cubin
    assert cubin.registers <= 128  # 65536 registers, two CTAs of 256 threads
    assert (cubin.spill_stores, cubin.spill_loads) == (0, 0)
    assert cubin.shared_bytes == 16896


@forms
@both_betas
def test_the_main_loop_is_the_arithmetic_and_little_else(form: str, beta_zero: bool) -> None:
    """8x8 sums by 8 steps of K: 512 FFMA, four 16-byte reads a step, and what feeds them."""
    loop = machine_code(form, beta_zero).loop("main")
    assert loop.count("FFMA") == 512
    assert loop.count("LDS.128") == loop.count("LDS") == 32
    assert (loop.count("LDG.E.128"), loop.count("LDG")) == (2, 2)
    assert (loop.count("STS.128"), loop.count("STS")) == (1, 5)
    assert loop.count("BAR") == 1
    assert not loop.has("LDL")
    assert not loop.has("STL")
    assert len(loop.instructions) <= 572


@forms
def test_loads_start_in_the_first_half_of_the_loop(form: str) -> None:
    """They need the other half's time to arrive."""
    loop = machine_code(form).loop("main")
    last = max(i for i, one in enumerate(loop.instructions) if one.matches("LDG"))
    assert last < len(loop.instructions) / 2


@both_betas
def test_peeled_has_neither_test_nor_predicate(beta_zero: bool) -> None:
    loop = machine_code("peeled", beta_zero).loop("main")
    assert loop.count("BRA") == 1
    assert [one.opcode for one in loop.instructions if one.predicated] == ["BRA"]
    assert loop.count("ISETP") + loop.count("UISETP") == 1


@both_betas
def test_predicated_guards_its_loads_and_has_no_branch(beta_zero: bool) -> None:
    loop = machine_code("predicated", beta_zero).loop("main")
    assert loop.count("LDG", predicated=True) == 2
    assert loop.count("BRA") == 1  # its own back edge


@both_betas
def test_ptxas_turns_the_branch_into_predicates(beta_zero: bool) -> None:
    """ptxas 13.0 does: two loads are short enough. Another version may keep the branch."""
    seen = machine_code("branch", beta_zero)
    loop = seen.loop("main")
    if seen.cubin.version.startswith("13.0"):
        assert loop.count("LDG", predicated=True) == 2
        assert loop.count("BRA") == 1
    else:
        assert loop.count("LDG", predicated=True) == 2 or loop.count("BRA") == 2


@forms
def test_c_is_read_only_where_beta_may_not_be_zero(form: str) -> None:
    def loads(beta_zero: bool) -> int:
        return machine_code(form, beta_zero).count("LDG")

    assert loads(True) == 4  # A and B, before the loop and in it
    assert loads(False) == 4 + 16


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_100", "sm_120"])
@forms
def test_other_architectures_take_it(form: str, target: str) -> None:
    seen = machine_code(form, True, target)
    assert seen.cubin.spill_stores == 0
    assert seen.loop("main").count("FFMA") == 512


# ---------------------------------------------------------------- the PTX itself


def body(form: str) -> list[str]:
    module = ptx.Module(sgemm(prefetch=form, beta_zero=True))
    return [line.strip() for line in text.print_module(module, loc=False).splitlines()]


def loop_of(lines: list[str]) -> list[str]:
    end = next(i for i, line in enumerate(lines) if line.endswith("bra main;"))
    return lines[lines.index("main:") : end + 1]


def test_forms_differ_as_their_names_say() -> None:
    branch, predicated, peeled, clamped = (loop_of(body(form)) for form in PREFETCHES)
    assert sum("@%p" in line and "ld.global" in line for line in predicated) == 2
    assert sum("bra" in line for line in predicated) == 1
    assert not any("@" in line and "ld.global" in line for line in branch + peeled + clamped)
    assert sum("bra" in line for line in branch) == 2
    assert sum("bra" in line for line in peeled) == 1
    assert sum("setp" in line for line in peeled) == 1
    assert sum("selp" in line for line in clamped) == 2


def test_golden(golden: Callable[[str, str], None]) -> None:
    golden("sgemm_peeled.ptx", text.print_module(ptx.Module(sgemm(beta_zero=True)), loc=False))
