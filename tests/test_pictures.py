"""Maps of fragments drawn: every element once, where the map has it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from ptx import layouts, pictures
from ptx.__main__ import main
from tests.fragments.tables import MMA, WMMA
from tests.fragments.test_sparse import PRODUCTS

PAGE = Path(__file__).parent.parent / "docs" / "fragments.md"


def test_the_map_at_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fragment", "m16n8k16", "f32", "d"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("m16n8k16 c of 32-bit elements: 16 x 8, 4 elements in 4 registers")
    assert lines[1].split() == [str(column) for column in range(8)]
    fragment = layouts.mma_fragment("m16n8k16", "c", 32)
    for row, line in enumerate(lines[2:]):
        name, *cells = line.split()
        assert name == str(row)
        for column, cell in enumerate(cells):
            lane, element = fragment.where(row, column)
            assert cell == f"T{lane}:{element}"
    assert lines[2 + 9].split()[1 + 2] == "T5:2"  # A37


def test_neighbours_of_a_lane_share_a_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fragment", "m16n8k16", "f16", "a"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[1] == "2.."
    assert lines[2].split() == ["0", *(f"T{t}:0-1" for t in range(4)),
                                *(f"T{t}:4-5" for t in range(4))]  # fmt: skip
    assert main(["fragment", "m16n8k256", "b1", "b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].split()[:2] == ["32..", "T1:0-31"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["16x16"], "'16x16' is no shape; a shape reads m16n8k16"),
        (["m16n8k16", "f8"], "'f8' is no type; expected b1, s4"),
        (["m16n8k256", "f64", "b"], "mma and wmma have no matrix_b of .f64 in m16n8k256"),
        (["m16n8k16", "f16", "e"], "operand is 'e'; expected a, b, c, d or meta"),
        (["m64n64k16", "f16", "b"], "wgmma reads B from shared memory"),
        (["m16n8k32", "f16", "a"], "mma and wmma have no matrix_a of .f16 in m16n8k32"),
        (["m16n8k4", "tf32", "a", "--sparse"], "mma.sp has no matrix_a of .tf32 in m16n8k4"),
        (["m16n8k32", "f16", "meta", "--selector", "2"], "selector is 2; m16n8k32 has 0, 1"),
        (["m16n8k16", "f16", "a", "--family", "wmma"], "wmma has no matrix_a of .f16 in m16n8k16"),
    ],
)
def test_what_there_is_not(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fragment", *arguments]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "cells"),
    [
        (("m16n8k16", "f16", "a"), 128),
        (("m16n8k8", "tf32", "b"), 64),
        (("m16n8k32", "s8", "b"), 64),
        (("m32n8k16", "f16", "a", "wmma"), 256),
        (("m8n8", "f16", "trans"), 32),
        (("m8n8k4", "f16", "b", "mma", "row"), 8),
        (("m16n8k32", "f16", "a", "", "", True), 128),
        (("m16n8k32", "f16", "meta", "", "", False, 1), 32),
        (("m16n8k64", "s8", "meta"), 32),
    ],
)
def test_a_picture_has_every_element(
    arguments: tuple[Any, ...], cells: int, tmp_path: Path
) -> None:
    fragment = pictures.named(*arguments)
    drawn = pictures.svg(fragment)
    root = ElementTree.fromstring(drawn)
    labels = [node.text or "" for node in root.iter() if (node.text or "").startswith("T")]
    assert len(labels) == len(set(labels)) == cells
    held = set()
    for label in labels:
        lane, first, last = re.fullmatch(r"T(\d+):(\d+)(?:-(\d+))?", label).groups()  # type: ignore[union-attr]
        held |= {(int(lane), element) for element in range(int(first), int(last or first) + 1)}
    assert {fragment.places[lane][element] for lane, element in held} == set(fragment.holders)


def test_a_picture_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert main(["fragment", "m16n8k16", "f16", "a", "--svg", str(path)]) == 0
    assert path.read_text() == pictures.svg(layouts.mma_fragment("m16n8k16", "a", 16))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("m16n8k16 f16 a --layout col", "layout is 'col'; it is of A and B of m8n8k4"),
        ("m8n8k4 f16 c --layout col", "layout is 'col'; it is of A and B of m8n8k4"),
        ("m8n8k4 f64 a --layout row", "layout is 'row'; it is of A and B of m8n8k4"),
        ("m16n8k32 f16 a --selector 1", "selector is 1; it is of the operand meta alone"),
        ("m64n128k16 f16 c --family mma", "mma has no m64n128k16"),
        ("m16n8k32 f16 a --sparse --family wmma", "wmma has no sparse operands"),
    ],
)
def test_what_says_nothing_of_a_fragment_is_refused(
    asked: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fragment", *asked.split()]) == 1
    assert said in capsys.readouterr().err


def test_the_page_has_a_picture_of_every_fragment() -> None:
    """Of every operand of the products that the tests multiply, sparse ones with each selector."""
    shown = dict(re.findall(r"^!\[(.*)\]\((.*)\)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    found = []
    for p in (*WMMA, *MMA):
        shape, volta = f"m{p.m}n{p.n}k{p.k}", (p.k, p.a) == (4, "f16")
        for operand, type, by in zip("abcc", (p.a, p.b, p.c, p.d), (*p.layouts, ""), strict=True):
            layout = by if volta and operand in "ab" else ""
            found.append(pictures.named(shape, type, operand, p.family, layout))
    for k, a, b, c, selector in PRODUCTS:
        for operand, type in (("a", a), ("b", b), ("c", c), ("meta", a)):
            lanes = selector if operand == "meta" else 0
            found.append(pictures.named(f"m16n8k{k}", type, operand, "", "", True, lanes))
    assert len({map.name for map in found}) > 90
    for map in found:
        picture = (PAGE.parent / shown[map.name]).read_text(encoding="utf-8")
        assert picture.partition("\n")[2] and "<svg" in picture
