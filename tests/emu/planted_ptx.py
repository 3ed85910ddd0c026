"""The files of ``planted/``: a broken kernel and its mended twin in one.

Lines that end in ``//-`` are the bug, lines that begin with ``//+`` mend it, and ``//!`` marks
where the fault is. The head says what goes wrong, of which kind the fault is, where the bug comes
from (``mutation``: one line of a correct kernel deleted or changed; ``manual``: a rule of the
manual broken), and how ``python -m ptx run`` runs it.
"""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from ptx.commands import run

FILES = sorted((Path(__file__).parent / "planted").glob("*.ptx"))


def head(text: str, name: str) -> str:
    found = re.search(rf"^// {name}: ?(.*)$", text, re.MULTILINE)
    assert found
    return found[1]


def mended(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if re.search(r"//-( //!)?$", line):
            line = "// " + line
        lines.append(re.sub(r"^( *)//\+ ", r"\1", line))
    return "\n".join(lines)


def execute(path: Path, options: str, device: str = "emulator") -> None:
    """Run a file as its head says; the order of warps is the emulator's to take."""
    if device != "emulator":
        options = re.sub(r"--order \S+", "", options)
    parser = argparse.ArgumentParser()
    run.arguments(parser)
    run.run(parser.parse_args([str(path), "--device", device, *shlex.split(options)]))
