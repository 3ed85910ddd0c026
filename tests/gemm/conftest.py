"""What tests of products on a GPU share."""

from __future__ import annotations

from typing import Any

import pytest

import ptx


@pytest.fixture(scope="session")
def hopper_gpu() -> Any:
    """The first GPU; what needs Hopper is skipped on any other."""
    found = ptx.device("cuda:0")
    if found.compute_capability[0] != 9:
        pytest.skip(f"{found.name} is no Hopper GPU")
    return found
