"""Of a process whose GPU is lost, the first failure is told and the rest refer to it."""

from __future__ import annotations

import pytest

from tests import fake_driver, lost_gpu

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.gpu
@pytest.mark.parametrize("n", range(3))
def test_gpu(n):
    assert n != 1

def test_other():
    pass
"""


@pytest.mark.parametrize("lost", [False, True])
def test_the_rest_fails_at_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    monkeypatch.setattr(lost_gpu, "is_lost", lambda: lost)
    pytester.makeini("[pytest]\nmarkers = gpu: needs a GPU")
    pytester.makepyfile(test_it=TESTS)
    result = pytester.runpytest_inprocess(plugins=[lost_gpu])
    result.assert_outcomes(passed=3 - lost, failed=1, errors=int(lost))
    assert ("\nthe GPU was lost by test_it.py::test_gpu[1]\n" in result.stdout.str()) == lost


@pytest.mark.parametrize(("code", "lost"), [(0, False), (715, True), (2, False)])
def test_a_gpu_that_refuses_all_is_lost(
    monkeypatch: pytest.MonkeyPatch, code: int, lost: bool
) -> None:
    """By an illegal instruction, and not for want of memory."""
    fake = fake_driver.fresh(monkeypatch)
    if code:
        fake.always["cuCtxSynchronize"] = code
    assert lost_gpu.is_lost() is lost
