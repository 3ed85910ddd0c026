"""A directory of files that can be made again: cubins, measured choices.

An entry is one file, written beside its place and renamed onto it, so that a reader sees all of it
or none, whoever else writes at the time. It starts with a digest of the rest; an entry that does
not match its digest is as good as absent.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST_BYTES = 32


def directory() -> Path:
    """``PTX_CACHE_DIR``, else the user's cache directory of this platform."""
    if named := os.environ.get("PTX_CACHE_DIR"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("ptxgemm", appauthor=False))


def disabled() -> bool:
    """Whether ``PTX_CACHE_DISABLE`` is set to anything but 0."""
    return os.environ.get("PTX_CACHE_DISABLE", "0") not in ("", "0")


def _path(key: str) -> Path:
    return directory() / key[:2] / key


def read(key: str) -> bytes | None:
    """What was written under ``key``, a digest in hex; None where nothing whole is found."""
    try:
        data = _path(key).read_bytes()
    except OSError:
        return None
    body = data[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != data[:_DIGEST_BYTES]:
        return None
    return body


def write(key: str, body: bytes) -> bool:
    """Keeps ``body`` under ``key``; False where the directory cannot be written."""
    path = _path(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(body).digest() + body)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError:
        return False
    return True


def writable() -> bool:
    """Whether entries can be kept: the directory, or the nearest above it, may be written."""
    folder = directory()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def size() -> tuple[int, int]:
    """How many entries there are, and their bytes."""
    sizes = []
    for path in directory().glob("??/*"):
        try:
            sizes.append(path.stat().st_size)
        except OSError:
            continue  # another process took it away
    return len(sizes), sum(sizes)
