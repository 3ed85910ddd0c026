"""The generated stub: current, and good enough for mypy to tell a chain from a misspelt one."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

from tools import generate_stub

PROGRAM = """
import ptx
from ptx.builder import Kernel

k = Kernel("axpy", n="u32", x="global.f32")
n, x = k.params()
i = k.mad.lo.u32(k.mov.u32(k.ctaid.x), k.mov.u32(k.ntid.x), k.mov.u32(k.tid.x))
with k.when(k.setp.lt.u32(i, n)):
    k.st.global_.f32(x, 1.0)
first, *rest = k.ld.global_.v4.f32(x)
{line}
k.ret()
"""


def mypy(line: str, folder: Path) -> str:
    program = folder / "program.py"
    program.write_text(PROGRAM.format(line=line), encoding="utf-8")
    output, errors, _ = api.run(
        [
            "--strict",
            "--config-file=",
            "--follow-imports=silent",
            f"--cache-dir={folder}",
            str(program),
        ]
    )
    assert not errors
    return output


def test_the_stub_is_what_the_table_gives() -> None:
    assert generate_stub.STUB.read_text(encoding="utf-8") == generate_stub.stub()


def test_mypy_accepts_a_kernel(tmp_path: Path) -> None:
    assert mypy("r = k.fma.rn.f32(first, first, first)", tmp_path).startswith("Success")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("k.ld.globl.f32(x)", 'has no attribute "globl"'),
        ("k.ld.global_.f32.v4(x)", 'has no attribute "v4"'),
        ("k.fma.f32(first, first, first)", 'has no attribute "f32"'),
        ("y = k.st.global_.f32(x, first)", "does not return a value"),
    ],
)
def test_mypy_refuses_a_misspelt_chain(line: str, message: str, tmp_path: Path) -> None:
    assert message in mypy(line, tmp_path)
