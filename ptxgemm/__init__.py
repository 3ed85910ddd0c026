"""General matrix products on NVIDIA GPUs, written in PTX with :mod:`ptx`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ptx import __version__ as __version__

if TYPE_CHECKING:
    from ptxgemm.api import sgemm
    from ptxgemm.shape import SEED, Shape

_HOME = {"SEED": "ptxgemm.shape", "Shape": "ptxgemm.shape", "sgemm": "ptxgemm.api"}

__all__ = ["SEED", "Shape", "sgemm"]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'ptxgemm' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
