"""What NVRTC and Triton print: parsed, printed, checked, and assembled to the same cubin."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import ptx
from ptx.text import parse, print_module
from tests.corpus import nvrtc
from tests.text.test_corpus import assemble, one_line

FOLDER = Path(__file__).parent
SOURCES = sorted((FOLDER / "cuda").glob("*.cu"))
STORED = sorted((FOLDER / "ptx").glob("*.ptx"))
TARGETS = "sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120".split()

LIKELY = {"narrow-product", "activemask-as-mask", "maybe-unset-register"}
"""Rules whose warnings compiled code earns: 32-bit indices as the source has them, coalesced
groups, and paths that only the compiler knows are never taken."""

compiled = pytest.mark.skipif(bool(nvrtc.missing()), reason=nvrtc.missing())


@cache
def ptx_of(source: Path, target: str) -> str:
    return nvrtc.compile(source.read_text(), target, "-lineinfo", name=source.name)


def judge(text: str, name: str, folder: Path) -> None:
    """Everything that the corpus asks of one text."""
    module = parse(text, name)
    printed = print_module(module)
    again = parse(printed)
    assert again == module
    assert print_module(again) == printed
    assert all(i.variant for f in module.functions.values() for i in f.instructions)
    found = Counter((d.severity, d.name) for d in ptx.check(text, file=name))
    assert found.keys() <= {("warning", likely) for likely in LIKELY}, found
    assert assemble(one_line(printed), folder) == assemble(one_line(text), folder)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored(path: Path, tmp_path: Path) -> None:
    judge(path.read_text(), path.name, tmp_path)


@compiled
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_cuda_for_one_target(source: Path, tmp_path: Path) -> None:
    """Each file for one target; together they meet every target."""
    target = TARGETS[(SOURCES.index(source) + 5) % len(TARGETS)]
    judge(ptx_of(source, target), f"{source.stem}.{target}.ptx", tmp_path)


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_cuda_for_every_target(source: Path, target: str, tmp_path: Path) -> None:
    judge(ptx_of(source, target), f"{source.stem}.{target}.ptx", tmp_path)


def test_the_corpus_is_of_size() -> None:
    """At least forty kernels in CUDA C++, and Triton's for six architectures."""
    kernels = [re.findall(r"__global__ [^;{]*\{", source.read_text()) for source in SOURCES]
    assert sum(map(len, kernels)) >= 40
    assert len({path.stem.rpartition("_")[2] for path in STORED}) >= 6
