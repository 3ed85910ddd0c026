"""The README runs: its code blocks in order, and what it shows is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ptx

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
CODE = [text for language, text in BLOCKS if language == "python"]
SHOWN = [text for language, text in BLOCKS if not language]
FILE = "axpy.py"


def shown(start: str) -> str:
    """The block of output that begins so."""
    return next(block for block in SHOWN if block.startswith(start)).rstrip("\n")


def test_every_block_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in CODE:
        exec(compile(block, FILE, "exec"), names)
    printed = capsys.readouterr().out
    assert "[1. 3. 5. 7.]\n" in printed
    assert shown(f"{FILE}:2: add.s32") in printed


def test_the_first_block_is_the_first_example() -> None:
    example = (ROOT / "examples" / "01_axpy.py").read_text(encoding="utf-8")
    assert example.partition('"""\n\n')[2] == CODE[0]


def test_the_fault_is_that_of_the_kernel_without_its_guard() -> None:
    unguarded = re.sub(
        r"with k\.when\(inside\):[^\n]*\n((?:    [^\n]*\n)+)",
        lambda block: re.sub(r"^    ", "", block[1], flags=re.MULTILINE),
        CODE[0],
    )
    assert "k.when" not in unguarded
    unguarded = unguarded.replace('device("auto")', 'device("emulator")')
    with pytest.raises(ptx.PtxError) as raised:
        exec(compile(unguarded, FILE, "exec"), {})
    fault = re.sub(r"0x[0-9a-f]+", "ADDRESS", str(raised.value))
    assert fault == re.sub(r"0x[0-9a-f]+", "ADDRESS", shown(f"{FILE}:13: out-of-bounds"))
