"""What all tests share: the `gpu` mark, and golden files with ``--update-golden``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.lost_gpu import pytest_runtest_makereport as pytest_runtest_makereport
from tests.lost_gpu import pytest_runtest_setup as pytest_runtest_setup

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("repeatable")  # another is chosen by --hypothesis-profile

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files under tests/golden from what the tests produce now",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from ptx.toolchain import find_driver

    driver = find_driver()
    if not driver.gpus:
        skip = pytest.mark.skip(reason=f"no GPU: {driver.missing}")
        for item in marked:
            item.add_marker(skip)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden("axpy.ptx", text)``: text equals the file of that name under tests/golden."""
    update = request.config.getoption("--update-golden")

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; pytest --update-golden writes it"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests assemble is found by other tests of the run, and by nobody else.

    The processes that a run is spread over have one directory between them.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PTX_CACHE_DIR", str(folder / "cache"))
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory that the test alone uses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PTX_CACHE_DIR", str(folder))
    monkeypatch.delenv("PTX_CACHE_DISABLE", raising=False)
    return folder
