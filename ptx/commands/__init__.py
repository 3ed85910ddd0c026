"""The commands of ``python -m ptx``."""

from __future__ import annotations

import sys
from pathlib import Path


def read(file: str) -> bytes:
    """The bytes of a file, or of standard input where its name is ``-``."""
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def text_of(data: bytes) -> str:
    """PTX text; a byte that is no UTF-8 becomes a character that PTX does not have."""
    return data.decode("utf-8", "replace")
