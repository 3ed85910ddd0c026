"""The planted bugs and their mended twins, on the emulator and on a card."""

from __future__ import annotations

import contextlib
import io
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import ptx
from tests.emu import planted_ptx
from tests.emu.unread import CASES
from tests.emu.unread.expected import kind_of

WAITING = {"deadlock", "divergent-barrier", "mask", "barrier"}
"""Kinds of fault after which threads may wait for ever."""
LOSING = {"out-of-bounds", "misaligned", "use-after-free", "wrong-space", "read-only", "trap"}
"""Kinds of fault after which a card's context is lost, as a rule."""
LOST = {"the_receiver_has_left"}
"""Others that lose it (seen on an H200)."""


@dataclass(frozen=True)
class Planted:
    """A planted bug."""

    name: str
    kind: str
    """What the emulator calls it."""
    hangs: bool = False

    def sent(self, version: str) -> bool:
        """Whether it may run on a card."""
        return version == "mended" or not (self.hangs or self.kind in WAITING)

    def alone(self, version: str) -> bool:
        """Whether what runs after it in one process may fail for it."""
        return version == "broken" and (self.kind in LOSING or self.name in LOST)

    def run(self, device: str, version: str) -> None:
        """Raises what goes wrong, :class:`ValueError` where the twin's result is not right."""
        case, broken = CASES.get(self.name), version == "broken"
        if case is None:
            self._run_file(device, broken)
            return
        written = case.run(ptx.device(device), broken)
        for name, values in case.expected().items():
            if not broken and not np.array_equal(written[name], values):
                raise ValueError(name)

    def _run_file(self, device: str, broken: bool) -> None:
        path = next(path for path in planted_ptx.FILES if path.stem == self.name)
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            if not broken:
                path = Path(folder) / path.name
                path.write_text(planted_ptx.mended(text), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                planted_ptx.execute(path, planted_ptx.head(text, "run"), device)

    def lines(self) -> set[int]:
        """Where the bug is, in the Python file; none known for a file of PTX."""
        case = CASES.get(self.name)
        return case.places() | case.places("with") if case and not case.textual else set()


@cache
def planted() -> tuple[Planted, ...]:
    """Both corpora."""
    files = []
    for path in planted_ptx.FILES:
        text = path.read_text(encoding="utf-8")
        kind = planted_ptx.head(text, "kind")
        # A copy that does not see the mbarrier initialised may never signal it, and a branch
        # beyond its table may go anywhere.
        hangs = (kind == "fence" and "mbarrier.try_wait" in text) or "brx.idx" in text
        files.append(Planted(path.stem, kind, hangs))
    return (*files, *(Planted(c.name, kind_of(c), c.hangs) for c in CASES.values()))


def by_emulator(bug: Planted, version: str) -> dict[str, Any]:
    """The emulator's verdict."""
    from ptx.emu import EmulatorFault

    try:
        bug.run("emulator", version)
    except EmulatorFault as fault:
        return {"verdict": "found", "says": fault.kind}
    except ptx.PtxError as error:
        verdict = "found" if version == "broken" else "failed"
        return {"verdict": verdict, "says": f"not built: {error.message}"}
    return {"verdict": "clean"}
