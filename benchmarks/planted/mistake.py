"""A planted mistake: the source of a kernel with one thing wrong, and the line to be named."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_MARK = re.compile(r"( *)# (right|missing): (.*)")


@dataclass(frozen=True)
class Mistake:
    name: str
    made: str
    """``"unread"``, ``"read"`` or ``"mutation"``."""
    function: str
    source: str
    """Of the function, as it stands in `file` from line `first` on."""
    first: int
    line: int
    """The line of `file` to be named."""
    file: str
    right: str
    """The source without the mistake."""

    def build(self, names: dict[str, Any], right: bool = False) -> Any:
        """What the function builds, with `names` as its globals; its lines are those of `file`."""
        padded = "\n" * (self.first - 1) + (self.right if right else self.source)
        scope = dict(names)
        exec(compile(padded, self.file, "exec"), scope)
        return scope[self.function]()


def written(module: ModuleType, made: str) -> list[Mistake]:
    """The mistakes of a module whose functions are marked as ``unread.py`` says."""
    found = []
    for name, function in vars(module).items():
        if not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        lines, first = inspect.getsourcelines(function)
        lines = [line.rstrip("\n") for line in lines]
        mark = next(n for n, line in enumerate(lines) if _MARK.fullmatch(line))
        match = _MARK.fullmatch(lines[mark])
        assert match is not None
        statement = match[1] + match[3]
        named = next((n for n, line in enumerate(lines) if line.endswith("# named")), mark + 1)
        replaced = ["", statement] if match[2] == "right" else [statement, lines[mark + 1]]
        right = [*lines[:mark], *replaced, *lines[mark + 2 :]]
        found.append(
            Mistake(
                name.replace("_", " "),
                made,
                name,
                "\n".join(lines),
                first,
                first + named,
                inspect.getfile(module),
                "\n".join(right),
            )
        )
    return found
