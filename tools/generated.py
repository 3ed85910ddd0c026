"""Writing what is generated, or telling what is out of date: the command of each generator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def main(about: str | None, made: Callable[[], Mapping[Path, str | None]]) -> int:
    """``--check`` writes nothing, names the files that are not as they are made, and gives 1 if
    there are any. `about` is the generator's docstring, whose first line is its help; `made` gives
    the text of each file, None for one that is to go.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if out of date")
    check = parser.parse_args().check
    stale = [(path, text) for path, text in made().items() if _there(path) != text]
    if check:
        for path, _ in stale:
            print(f"{path.name} is out of date: run python {sys.argv[0]}", file=sys.stderr)
        return int(bool(stale))
    for path, text in stale:
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


def _there(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None
