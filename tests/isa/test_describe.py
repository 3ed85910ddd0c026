"""The table in words: the page is current and complete, and says what the rows say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx import isa
from ptx.isa import describe
from tools import generate_reference

ROWS = [form for forms in isa.FORMS.values() for form in forms]


def test_the_page_is_what_the_table_gives() -> None:
    assert generate_reference.PAGE.read_text(encoding="utf-8") == generate_reference.page()


def test_the_page_has_every_form_and_what_is_left_out() -> None:
    page = generate_reference.PAGE.read_text(encoding="utf-8")
    for form in ROWS:
        assert "| `" + form.syntax.replace("|", "\\|") + "`" in page
    for name in ("tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"):
        assert f"| `{name}` | " in page
        assert name not in isa.FORMS
        assert isa.explain(f"{name}.b32").startswith(f"{name} is left out")


def test_an_example_by_hand() -> None:
    line = next(
        line
        for line in generate_reference.page().splitlines()
        if line.startswith("| `mbarrier.try_wait.parity{")
    )
    assert line == (
        "| `mbarrier.try_wait.parity{.sem.scope}{.smem}.b64 p, [mbar], phase:u32{, ns:u32}`"
        "<br>sem: acquire (PTX 8.0) relaxed (PTX 8.6); scope: cta cluster; phase: 0 1 "
        "| sm_90 and up, PTX 7.8 |"
    )


@pytest.mark.parametrize(
    ("need", "version", "text"),
    [
        ("90", (7, 8), "sm_90 and up, PTX 7.8"),
        ("90a", (8, 0), "sm_90a, PTX 8.0"),
        ("100f 110f", (8, 6), "the family of sm_100 or the family of sm_110, PTX 8.6"),
        ("30-69", (6, 0), "sm_30 to sm_69, PTX 6.0"),
    ],
)
def test_needs(need: str, version: tuple[int, int], text: str) -> None:
    assert describe.needs(need, version) == text


def test_every_row_is_described() -> None:
    """Each choice that a row binds is listed with all its values."""
    for form in ROWS:
        listed = describe.choices(form)
        for _, bound in [next(iter(form.spellings()))]:
            for name, value in bound.items():
                assert value in listed[name] or " to " in listed[name]


def test_the_chapters_are_the_files(tmp_path: Path) -> None:
    files = {
        path.stem
        for path in Path(isa.__file__).parent.glob("*.py")
        if "\nrow(" in path.read_text(encoding="utf-8")
        or "    row(" in path.read_text(encoding="utf-8")
    }
    named = {chapter.name for chapter in describe.chapters()}
    assert named <= files
    assert all("PTX ISA 9.0, section" in chapter.title for chapter in describe.chapters())
