"""Answers of a device: arrays of bytes by name, in zip files that stay under a size."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from tests.differential.values import Array

FILE_BYTES = 15 << 20


class Writer:
    """Writes answers as they come: ``stage-0.zip``, ``stage-1.zip`` ..., each under a limit."""

    def __init__(self, folder: Path, stage: str) -> None:
        self.folder, self.stage = folder, stage
        self.number, self.written = 0, 0
        self.file: zipfile.ZipFile | None = None

    def add(self, name: str, array: Array) -> None:
        raw = io.BytesIO()
        np.lib.format.write_array(raw, array, allow_pickle=False)
        if self.file is None:
            path = self.folder / f"{self.stage}-{self.number}.zip"
            self.file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=7)
        self.file.writestr(name, raw.getvalue())
        self.written += self.file.getinfo(name).compress_size
        if self.written > FILE_BYTES - (1 << 20):
            self.close()
            self.number, self.written = self.number + 1, 0

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


def read(folder: Path, stage: str) -> dict[str, Array]:
    """All answers of a stage by name."""
    found: dict[str, Array] = {}
    for path in sorted(folder.glob(f"{stage}-*.zip")):
        with zipfile.ZipFile(path) as file:
            for name in file.namelist():
                found[name] = np.lib.format.read_array(io.BytesIO(file.read(name)))
    return found
