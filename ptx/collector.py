"""The cyclic collector, held back while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """The collector off inside, and afterwards as it was.

    A parsed module and its analysis are many small objects that stay; looking through all of them
    again and again took as long as half of parsing, and of checking (measured on 3 MB of PTX).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
