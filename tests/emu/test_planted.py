"""Small broken kernels, one bug each: found at their line, and the mended twins are clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx.emu import KINDS, EmulatorFault
from tests.emu.planted_ptx import FILES, execute, head, mended
from tests.emu.unread import CASES
from tests.emu.unread.expected import UNFOUND, kind_of

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_planted_bug_is_found(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    lines = text.splitlines()
    (line,) = [number for number, one in enumerate(lines, 1) if one.endswith("//!")]
    with pytest.raises(EmulatorFault) as caught:
        execute(path, head(text, "run"))
    found = caught.value
    assert (found.kind, found.place.line if found.place else 0) == (head(text, "kind"), line), found
    twin = tmp_path / path.name
    twin.write_text(mended(text))
    execute(twin, head(text, "run"))


def test_the_corpus() -> None:
    """What the corpus has to be: its size, its origins, and most kinds of fault."""
    texts = [path.read_text() for path in FILES]
    origins = [head(text, "origin") for text in texts]
    assert len(texts) >= 60
    assert set(origins) == {"mutation", "manual"}
    assert 2 * origins.count("mutation") >= len(texts)
    assert 4 * origins.count("manual") >= len(texts)
    assert 4 * len(CASES) >= len(texts) + len(CASES)
    left_out = {"step-limit", "launch", "descriptor"}
    assert set(KINDS) - {head(text, "kind") for text in texts} <= left_out


def rows() -> str:
    """The corpus as a table."""
    lines = ["| kernel | the bug | fault | from |", "| --- | --- | --- | --- |"]
    for path in FILES:
        text = path.read_text()
        about = text.splitlines()[0].removeprefix("// ")
        changed = [one.strip() for one in text.splitlines() if one.strip().startswith("//+ ")]
        bad = [re.sub(r" //-( //!)?$", "", one.strip()) for one in text.splitlines()
               if re.search(r"//-( //!)?$", one)]  # fmt: skip
        if head(text, "origin") == "mutation":
            good = changed[0].removeprefix("//+ ")
            about = f"`{good}` becomes `{bad[0]}`" if bad else f"`{good}` is left out"
        about = about.replace("|", "\\|")
        lines.append(f"| {path.stem} | {about} | {head(text, 'kind')} | {head(text, 'origin')} |")
    for case in CASES.values():
        fault = "not found" if case.name in UNFOUND else kind_of(case)
        lines.append(f"| {case.name} | {case.about} | {fault} | unread |")
    return "\n".join(lines) + "\n"


def test_the_page_lists_the_corpus(pytestconfig: pytest.Config) -> None:
    before, mark, _ = PAGE.read_text(encoding="utf-8").partition("<!-- corpus -->\n")
    assert mark
    page = before + mark + rows()
    if pytestconfig.getoption("--update-golden"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def test_the_page_lists_the_kinds() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for kind, meaning in KINDS.items():
        assert f"| {kind} | {meaning} |" in page
