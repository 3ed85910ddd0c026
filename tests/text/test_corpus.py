"""What compilers print and people write: read, printed, and assembled to the same cubin."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptx.ir import Directive, Line
from ptx.text import parse, print_module
from ptx.toolchain import find_tool

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.ptx"))


def one_line(text: str) -> str:
    """A text without comments and line tables, on one line: ptxas puts line numbers into names."""
    for pattern in (r"//.*", r"/\*[\s\S]*?\*/", r"(?m)^\s*\.(loc|file)\b.*$"):
        text = re.sub(pattern, "", text)
    return " ".join(text.split("\n"))


def assemble(text: str, folder: Path) -> bytes:
    target = re.search(r"\.target (\w+)", text)
    assert target is not None
    (folder / "a.ptx").write_text(text)
    command = [find_tool("ptxas").path, "-c", "-arch", target[1], "a.ptx", "-o", "a.cubin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "a.cubin").read_bytes()


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_parses_without_error_and_prints_a_normal_form(path: Path) -> None:
    module = parse(path.read_text(), path.name)
    printed = print_module(module)
    again = parse(printed)
    assert again == module
    assert print_module(again) == printed
    assert all(i.variant for f in module.functions.values() for i in f.instructions)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_assembles_to_the_same_cubin(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    printed = print_module(parse(text))
    if ", debug" in text:
        # The cubin holds the text itself.
        assert assemble(printed, tmp_path)
        return
    assert assemble(one_line(printed), tmp_path) == assemble(one_line(text), tmp_path)


def test_line_tables_and_debug_sections_stay() -> None:
    path = next(p for p in CORPUS if p.stem.startswith("triton_softmax"))
    text = path.read_text()
    module = parse(text)
    kept = [i.text.split()[0] for i in module.items if isinstance(i, Directive)]
    assert kept.count(".file") == text.count("\t.file\t")
    assert kept.count(".section") == text.count("\t.section\t")
    lines = [s for s in module.kernels["softmax"].statements if isinstance(s, Line)]
    assert len(lines) == text.count("\t.loc\t")


def test_each_instruction_keeps_its_line() -> None:
    for path in CORPUS:
        lines = path.read_text().split("\n")
        for function in parse(path.read_text(), path.name).functions.values():
            for instruction in function.instructions:
                place = instruction.place
                assert place is not None and place.file == path.name
                start = lines[place.line - 1][place.column - 1 :]
                assert start.startswith(
                    "@" if instruction.guard is not None else instruction.opcode
                ), place
