"""What the README and docs/sass.md show is what the command prints."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from ptx.__main__ import main
from ptx.sass import disassemble

ROOT = Path(__file__).parents[2]
TEXT = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/sass.md"))
read_once = cache(disassemble)
SHOWN = re.findall(r"^\$ python -m ptx (sass .*)\n((?:.+\n|\n)*?)```", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("command", "lines"), SHOWN, ids=lambda text: text[:20])
def test_what_is_shown_is_printed(
    command: str, lines: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("ptx.sass.disassemble", read_once)
    main(shlex.split(command))
    printed = [line for text in capsys.readouterr() for line in text.splitlines()]
    assert [line for line in lines.splitlines() if line and line not in printed] == []


def test_there_are_some() -> None:
    assert len(SHOWN) == 4
