"""The HTML page and its pictures: whole, by themselves, and as the code is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.dom import minidom

import pytest

from ptx.sass import Instruction, Region, data, page, picture
from ptx.scheduling import Control
from tests.samples import LOOP, TWO_KERNELS
from tests.sass.made import made

VOID = {"meta", "br", "hr", "img"}


class Reader(HTMLParser):
    """Every element is closed by its own end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_a_page_is_whole_and_fetches_nothing() -> None:
    text = page.of_sass(made(LOOP))
    reader = read(text)
    assert {"src", "href", "srcset"} & {name for name, _ in reader.attributes} == set()
    assert not {"script", "link", "iframe"} & set(reader.seen)
    assert "url(" not in text
    assert "@import" not in text
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert made(LOOP).cubin.sha256 in text
    assert reader.seen.count("svg") == 1
    for one in made(LOOP).instructions:
        assert f"0x{one.address:04x}</td>" in text


def test_text_is_escaped() -> None:
    sass = made(LOOP)
    (kernel,) = sass.kernels.values()
    code = tuple(replace(one, ptx="fma; // <b> & co") for one in kernel.instructions)
    kernel = replace(kernel, instructions=code)
    text = page.of_sass(replace(sass, kernels={"total": kernel}))
    read(text)
    assert "<b>" not in text
    assert "&lt;b&gt; &amp; co" in text


def test_a_page_of_several_kernels_and_of_none_with_loops() -> None:
    reader = read(page.of_sass(made(TWO_KERNELS)))
    assert "svg" not in reader.seen


def test_a_page_of_two_kernels() -> None:
    other = made(LOOP.replace("@%p3 ld", "ld"))
    text = page.of_difference((made(LOOP), made(LOOP).kernel), (other, other.kernel))
    assert read(text).seen.count("svg") == 2
    assert 'class="differs"' in text


def bars(svg: str) -> list[minidom.Element]:
    return list(minidom.parseString(svg).getElementsByTagName("rect"))


def title(bar: minidom.Element) -> str:
    return str(bar.getElementsByTagName("title")[0].firstChild.data)  # type: ignore[union-attr]


def word(stall: int, write: int = 7, wait: int = 0) -> int:
    return (stall | 1 << 4 | write << 5 | 7 << 8 | wait << 11) << 105


def test_when_instructions_start() -> None:
    """By hand: a load of 4 clocks, one FFMA after another, a branch that waits."""
    code = (
        Instruction(0x00, "", "LDS", ("R1", "[R9]"), word(4, write=2)),
        Instruction(0x10, "", "FFMA", ("R2", "R3", "R5", "R7"), word(1)),
        Instruction(0x20, "@P0", "FFMA", ("R2", "R3", "R4", "RZ"), word(2)),
        Instruction(0x30, "@P1", "BRA", ("`(.L_1)",), word(5, wait=0b100)),
    )
    assert code[3].control == Control(5, False, 7, 7, 0b100, 0)
    found = bars(picture.svg(Region("main", code, 1)))
    shown = [
        (title(bar).splitlines()[0], int(bar.getAttribute("x")), int(bar.getAttribute("width")))
        for bar in found
    ]
    left, clock = picture.LEFT, picture.CLOCK
    assert shown == [
        ("clock 0: 0x0000 LDS R1, [R9]", left, 4 * clock - 1),
        ("clock 4: 0x0010 FFMA R2, R3, R5, R7", left + 4 * clock, clock - 1),
        ("clock 5: 0x0020 @P0 FFMA R2, R3, R4, RZ", left + 5 * clock, 2 * clock - 1),
        ("clock 7: 0x0030 @P1 BRA `(.L_1)", left + 7 * clock, 5 * clock - 1),
        ("scoreboard 2, result of", left, 7 * clock - 1),
    ]
    conflict, guarded = found[1], found[2]
    assert "2 clocks of register-bank conflict" in title(conflict)
    assert conflict.getAttribute("stroke") == "#c1121f"
    assert guarded.getAttribute("stroke-dasharray")


def test_a_wait_in_the_next_pass() -> None:
    """From its start to the end, and from the beginning to what waits."""
    code = (
        Instruction(0x00, "", "FFMA", ("R2", "R3", "R4", "RZ"), word(2)),
        Instruction(0x10, "", "FADD", ("R2", "R1", "R4"), word(3, wait=1)),
        Instruction(0x20, "", "LDG", ("R1", "[R9]"), word(4, write=0)),
    )
    boards = [bar for bar in bars(picture.svg(Region("m", code, 1))) if "scoreb" in title(bar)]
    spans = [
        ((int(bar.getAttribute("x")) - picture.LEFT) // 10, int(bar.getAttribute("width")))
        for bar in boards
    ]
    assert spans == [(5, 39), (0, 19)]


def test_a_long_loop_goes_on_in_bands() -> None:
    code = tuple(
        Instruction(16 * at, "", "MOV", ("R1", "R2"), word(10)) for at in range(30)
    )  # 300 clocks, 96 a band
    found = bars(picture.svg(Region("m", code, 1)))
    assert len({bar.getAttribute("y") for bar in found}) == 4
    assert sum(int(bar.getAttribute("width")) + 1 for bar in found) == 300 * picture.CLOCK
    assert max(int(bar.getAttribute("x")) for bar in found) < picture.LEFT + 96 * picture.CLOCK


@pytest.mark.parametrize("text", [LOOP, TWO_KERNELS])
def test_the_data_is_the_same(text: str) -> None:
    sass = made(text)
    found = json.loads(json.dumps(data.of_sass(sass, threads=256)))
    assert (found["target"], found["sha256"]) == (sass.cubin.target, sass.cubin.sha256)
    assert [one["name"] for one in found["kernels"]] == list(sass.kernels)
    for one, kernel in zip(found["kernels"], sass.kernels.values(), strict=True):
        assert [i["opcode"] for i in one["instructions"]] == [i.opcode for i in kernel.instructions]
        for shown, had in zip(one["instructions"], kernel.instructions, strict=True):
            assert Control.decode(int(shown["word"], 16)) == had.control
            assert shown["control"]["wait"] == [i for i in range(6) if had.control.wait >> i & 1]
        assert one["occupancy"]["threads"] == 256
        assert [loop["name"] for loop in one["loops"]] == [loop.name for loop in kernel.loops]
