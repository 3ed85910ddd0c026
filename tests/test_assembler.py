"""ptxas through ptx.assembler: what is read from it, its errors by place, the cache."""

from __future__ import annotations

import hashlib
import inspect
import os
import stat
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import ptx
from ptx import cache
from ptx.assembler import AssemblerError, Cubin, assemble, read_log
from ptx.errors import Place
from ptx.ir import Function, Instruction, Reg, Registers
from ptx.sass import disassemble
from ptx.text import render
from ptx.toolchain import find_tool
from tests.samples import LOOP, TWO_KERNELS, spilling, wgmma_touched

pytestmark = pytest.mark.usefixtures("own_cache")


def counting_ptxas(folder: Path, version: str = "") -> tuple[Path, Path]:
    """A ptxas that notes each of its runs in a file, and can claim another version."""
    runs, script = folder / "runs", folder / f"ptxas{version}"
    real = find_tool("ptxas").path
    claim = f'echo "Cuda compilation tools, release 1.0, V{version}"; exit 0' if version else ":"
    script.write_text(
        f'#!/bin/sh\ncase "$1" in\n--version) {claim};;\n--help) ;;\n'
        f'*) echo run >> "{runs}";;\nesac\nexec "{real}" "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    runs.touch()
    return script, runs


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("??/*"))


# ---------------------------------------------------------------- what is read


def test_the_image_is_what_ptxas_writes(tmp_path: Path) -> None:
    """To the byte: the same flags on the same text, run by hand."""
    cubin = assemble(LOOP)
    source, made = tmp_path / "k.ptx", tmp_path / "k.cubin"
    source.write_text(LOOP)
    command = [find_tool("ptxas").path, *cubin.flags, "-arch", "sm_90", source, "-o", made]
    subprocess.run(command, check=True, capture_output=True)
    assert cubin.data == made.read_bytes()
    assert cubin.sha256 == hashlib.sha256(made.read_bytes()).hexdigest()
    assert cubin.target == "sm_90"
    assert cubin.version == find_tool("ptxas").version
    assert "Used 8 registers" in cubin.log


def test_a_cubin_of_one_kernel_has_its_attributes() -> None:
    cubin = assemble(LOOP)
    assert (cubin.registers, cubin.spill_stores, cubin.spill_loads) == (8, 0, 0)
    assert (cubin.shared_bytes, cubin.local_bytes, cubin.stack_bytes) == (0, 0, 0)
    # Bank 0 before the parameters is 0x210 bytes on sm_90; then 8 and 4 bytes of parameters.
    assert cubin.constant_bytes == 0x210 + 12
    assert cubin.barriers == 0


def test_by_kernel() -> None:
    cubin = assemble(TWO_KERNELS)
    first, second = cubin.kernels["first"], cubin.kernels["second"]
    assert set(cubin.kernels) == {"first", "second"}
    assert (first.shared_bytes, first.local_bytes, first.barriers) == (1024, 64, 4)
    assert (second.shared_bytes, second.local_bytes, second.barriers) == (0, 0, 0)
    with pytest.raises(AttributeError, match=r"2 kernels \(second, first\)"):
        cubin.registers  # noqa: B018


def test_the_cubin_alone_agrees_with_the_log() -> None:
    """Two sources for one fact: the headers of the cubin, and what ptxas printed."""
    for text in (LOOP, TWO_KERNELS, spilling()):
        told = assemble(text)
        read = Cubin.read(told.data)
        assert read.target == told.target
        for name, info in told.kernels.items():
            other = read.kernels[name]
            assert other.registers == info.registers
            assert other.shared_bytes == info.shared_bytes
            assert (other.local_bytes, other.stack_bytes) == (info.local_bytes, info.stack_bytes)
            assert (other.spill_stores, other.barriers or 0) == (None, info.barriers)


def test_spills() -> None:
    cubin = assemble(spilling())
    assert cubin.registers == 24
    assert cubin.spill_stores
    assert f"{cubin.spill_stores} bytes spill stores" in cubin.log
    assert f"{cubin.spill_loads} bytes spill loads" in cubin.log
    assert cubin.local_bytes >= cubin.spill_stores


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_100", "sm_120a"])
def test_the_target_is_read_back(target: str) -> None:
    text = LOOP.replace("8.0", "8.7").replace("sm_90", target)
    assert Cubin.read(assemble(text).data).target == target


def test_a_later_target_than_the_text_names() -> None:
    assert assemble(LOOP.replace("sm_90", "sm_80"), "sm_90a").target == "sm_90a"


def test_the_log_keeps_unknown_fields() -> None:
    """Field case D06."""
    log = """\
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored.
ptxas info    : 64 bytes gmem, 64 bytes cmem[3]
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for helper
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 4 barriers, 96 bytes cumulative stack size, \
1024 bytes smem, 400 bytes cmem[0], 3 textures, some new words
ptxas info    : Compile time = 2.329 ms
"""
    assert read_log(log) == {
        "k": {
            "stack frame": 64,
            "spill stores": 8,
            "spill loads": 12,
            "registers": 12,
            "barriers": 4,
            "cumulative stack size": 96,
            "smem": 1024,
            "cmem[0]": 400,
            "textures": 3,
            "some new words": "",
            "Compile time": "2.329 ms",
        },
        "helper": {"stack frame": 16, "spill stores": 0, "spill loads": 0},
    }


def test_bytes_are_untouched(own_cache: Path) -> None:
    """Field case D03: an image that ends in white space and NULs, through the cache and back."""
    data = b"\x7fELF" + bytes(range(256)) + b" \n\r\n\0\0"
    assert cache.write("ab" * 32, data)
    assert cache.read("ab" * 32) == data
    image = assemble(LOOP)
    assert Cubin.read(image.data).data is image.data
    (own_cache / "image").write_bytes(image.data + b" \n\0")
    assert Cubin.read(own_cache / "image").data == image.data + b" \n\0"


_CUT = b"\x7fELF\x02".ljust(0x12, b"\0") + b"\xbe\0" + bytes(0x14) + b"\xff" * 30
"""A header of a cubin whose section table lies past its end."""


@pytest.mark.parametrize("data", [b"", b".version 8.0", b"\x7fELF\x02" + bytes(80), _CUT])
def test_no_cubin(data: bytes) -> None:
    with pytest.raises(ptx.PtxError, match=r"no cubin|damaged") as caught:
        Cubin.read(data)
    assert caught.value.place is None


# ---------------------------------------------------------------- errors


def test_every_error_is_listed_with_its_line() -> None:
    text = LOOP.replace("    mov.u32 %r2, 0;", "    not.rn.b32 %r2, %r1;").replace(
        "    ret;", "    add.s32 %r1, %r2;\n    ret;"
    )
    with pytest.raises(AssemblerError) as caught:
        assemble(text, file="total.ptx")
    error = caught.value
    assert isinstance(error, ptx.PtxError)
    assert error.place == Place("total.ptx", 14)
    assert str(error) == (
        "total.ptx:14: ptxas: Illegal rounding modifier for instruction 'not'\n"
        "  not.rn.b32 %r2, %r1;\n"
        "total.ptx:27: ptxas: Arguments mismatch for instruction 'add'\n"
        "  add.s32 %r1, %r2;"
    )
    assert [d.line for d in error.diagnostics] == [14, 27]
    assert "fatal" in error.log


def test_a_version_too_new_is_an_error_with_its_line() -> None:
    with pytest.raises(AssemblerError, match=r"^<ptx>:1: ptxas: Unsupported \.version 99\.0"):
        assemble(LOOP.replace("8.0", "99.0"))


@pytest.mark.parametrize("stated", [None, "sm_80"])
def test_a_target_that_lacks_an_instruction_is_told_at_its_line(stated: str | None) -> None:
    k = ptx.Kernel("k")
    k.wgmma.fence.sync.aligned()
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    k.ret()
    with pytest.raises(ptx.PtxError) as raised:
        assemble(ptx.Module(k, target=stated), None if stated else "sm_80")
    assert raised.value.message == ("wgmma.fence.sync.aligned needs sm_90a; the target is sm_80")
    assert raised.value.place == (__file__, line, 0)


@pytest.mark.parametrize(("stated", "asked"), [("sm_90a", "sm_80"), ("sm_80", "sm_80")])
def test_text_that_a_target_does_not_offer_is_told_at_its_line(stated: str, asked: str) -> None:
    text = (
        f".version 8.0\n.target {stated}\n.entry k()\n{{\n\twgmma.fence.sync.aligned;\nret;\n}}\n"
    )
    with pytest.raises(ptx.PtxError, match=r"wgmma\.fence") as raised:
        assemble(text, asked, file="a.ptx")
    assert raised.value.place is not None
    assert (raised.value.place.file, raised.value.place.line) == ("a.ptx", 5)


def test_words_are_no_str() -> None:
    for wrong in ({"flags": "-O0"}, {"allow": "C7517"}):
        with pytest.raises(ptx.PtxError, match=r"is a sequence of words, as \('"):
            assemble(LOOP, **wrong)  # type: ignore[arg-type]


def test_no_target() -> None:
    with pytest.raises(ptx.PtxError, match=r"^<ptx>:1: no \.target directive"):
        assemble(".version 8.0\n")


def test_bytes_are_not_assembled() -> None:
    with pytest.raises(TypeError, match=r"PTX text is a str; .* ptx\.Cubin\.read"):
        assemble(LOOP.encode())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("// caf\u00e9", "<ptx>:3:7: PTX is ASCII text"),
        ("\0", "<ptx>:3:1: PTX is ASCII text, without a NUL"),
        ("// \U0001f600", "<ptx>:3:4: PTX is ASCII text"),
    ],
)
def test_text_is_ascii_without_nul(bad: str, message: str) -> None:
    with pytest.raises(ptx.PtxError) as caught:
        assemble(f".version 8.0\n.target sm_90\n{bad}\n")
    assert str(caught.value).startswith(message)
    assert "\0" not in str(caught.value)


def test_a_ptxas_that_dies_is_told(tmp_path: Path) -> None:
    script = tmp_path / "ptxas"
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && { echo V1.2; exit 0; }\nkill -SEGV $$\n')
    script.chmod(0o755)
    with pytest.raises(AssemblerError, match=r"ended with a signal \(11\)"):
        assemble(LOOP, ptxas=script, cache=False)


def test_lost_performance_is_an_error_unless_allowed() -> None:
    text = wgmma_touched()
    line = text.splitlines().index("add.f32 %f0, %f0, 0f3F800000;") + 1
    for _ in range(2):  # the second time from the cache
        with pytest.raises(AssemblerError, match=r"C7517.*allow=\('C7517',\)") as caught:
            assemble(text)
        assert caught.value.place == Place("<ptx>", line)
        assert "add.f32 %f0, %f0" in str(caught.value)
    assert "C7517" in assemble(text, allow=("C7517",)).log


# ---------------------------------------------------------------- the cache


def test_a_hit_runs_nothing_and_brings_all(own_cache: Path, tmp_path: Path) -> None:
    script, runs = counting_ptxas(tmp_path)
    made = assemble(TWO_KERNELS, ptxas=script)
    found = assemble(TWO_KERNELS, ptxas=script)
    assert runs.read_text() == "run\n"
    assert (made.cached, found.cached) == (False, True)
    assert found == made
    assert found.kernels == made.kernels
    assert len(entries(own_cache)) == 1


def test_loc_and_file_are_no_part_of_the_key(tmp_path: Path) -> None:
    script, runs = counting_ptxas(tmp_path)

    def placed(file: str, line: int) -> str:
        return LOOP.replace("    ret;", f"    .loc 1 {line} 0\n    ret;") + f'.file 1 "{file}"\n'

    first = assemble(placed("a.py", 7), ptxas=script)
    second = assemble(placed("b.py", 8), ptxas=script)
    assert second.cached
    assert first.data == second.data
    assert runs.read_text() == "run\n"
    # Inside the image, places are part of what is asked for.
    inside = assemble(placed("a.py", 7), ptxas=script, lineinfo=True)
    moved = assemble(placed("b.py", 8), ptxas=script, lineinfo=True)
    assert (inside.cached, moved.cached) == (False, False)
    assert b"a.py" in inside.data
    assert b"b.py" in moved.data


def test_lineinfo_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    text = LOOP.replace("    ret;", "    .loc 1 7 0\n    ret;") + '.file 1 "author.py"\n'
    assert b"author.py" not in assemble(text).data
    monkeypatch.setenv("PTX_LINEINFO", "1")
    assert b"author.py" in assemble(text).data


def test_the_key_has_target_flags_and_version(own_cache: Path, tmp_path: Path) -> None:
    """Field case C27."""
    text = LOOP.replace("8.0", "7.0").replace("sm_90", "sm_75")
    other, _ = counting_ptxas(tmp_path, "98.7.6")
    assemble(text, "sm_75")
    assemble(text, "sm_80")
    assemble(text, "sm_75", optimize=1)
    assemble(text, "sm_75", flags=("--fmad=false",))
    assert assemble(text, "sm_75", ptxas=other).version == "98.7.6"
    assert len(entries(own_cache)) == 5
    assert assemble(text, "sm_75").cached


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "folder"])
def test_a_damaged_entry_is_made_again(own_cache: Path, damage: str) -> None:
    made = assemble(LOOP)
    (entry,) = entries(own_cache)
    whole = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        flipped = whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]
        entry.write_bytes({"empty": b"", "cut": whole[:-100], "flipped": flipped}[damage])
    again = assemble(LOOP)
    assert not again.cached
    assert again.data == made.data
    if damage != "folder":
        assert assemble(LOOP).cached


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PTX_CACHE_DIR", str(tmp_path / "file"))
    assert not assemble(LOOP).cached
    assert not assemble(LOOP).cached


def test_without_the_cache(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assemble(LOOP, cache=False)
    monkeypatch.setenv("PTX_CACHE_DISABLE", "1")
    assemble(LOOP)
    assert entries(own_cache) == []


def _assemble_some(round: int) -> list[bytes]:
    return [
        assemble(LOOP.replace("gt.u32 %p3, %r1, 7", f"gt.u32 %p3, %r1, {i}")).data for i in range(6)
    ]


def test_many_at_once(own_cache: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        results = list(pool.map(_assemble_some, range(4)))
    assert all(result == results[0] for result in results)
    assert len(set(results[0])) == 6
    assert [path.name for path in own_cache.rglob(".*")] == []
    assert len(entries(own_cache)) == 6
    assert cache.size()[0] == 6


def test_assembling_needs_neither_numpy_nor_cuda() -> None:
    code = (
        "import sys, ptx; from tests.samples import LOOP; ptx.assemble(LOOP)\n"
        "print([m for m in ('numpy', 'cuda') if m in sys.modules])"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- built modules


def axpy(factor: str) -> ptx.Kernel:
    k = ptx.Kernel("axpy", n="u32", x="global.f32")
    n, x = k.params()
    total = k.mov.f32(0.0)
    with k.loop(0, n, 1, name="main") as i:
        value = k.ld.global_.f32(x + k.mul.wide.u32(i, 4))
        k.fma.rn.f32(value, float(factor), total, out=total)
    k.st.global_.f32(x, total)
    k.ret()
    return k


def moved(factor: str) -> ptx.Kernel:
    """The same kernel, further down in the file."""
    source = inspect.getsource(axpy)
    space = {"ptx": ptx}
    exec(compile("\n" * 100 + source, "moved.py", "exec"), space)
    made: ptx.Kernel = space["axpy"](factor)
    return made


def test_a_kernel_that_moved_is_found_with_its_new_places() -> None:
    first = assemble(axpy("2.0"), "sm_90")
    second = assemble(moved("2.0"), "sm_90")
    assert second.cached
    assert second.data == first.data
    start = inspect.getsourcelines(axpy)[1]
    for cubin, file, above in ((first, __file__, start - 1), (second, "moved.py", 100)):
        (fma,) = disassemble(cubin).loop("main").find("FFMA")
        assert fma.place is not None
        assert (fma.place.file, fma.place.line - above) == (file, 7)
    assert [p.name for p in first.parameters["axpy"]] == ["n", "x"]
    assert not assemble(axpy("3.0"), "sm_90").cached


def test_lineinfo_puts_python_places_inside() -> None:
    cubin = assemble(moved("2.0"), "sm_90", lineinfo=True)
    assert b"moved.py" in cubin.data
    (fma,) = disassemble(cubin.data).loop("main").find("FFMA")
    assert fma.place == Place("moved.py", 107)


def test_an_error_of_ptxas_names_the_python_line() -> None:
    """A module made by hand, so that nothing looks at it before ptxas does."""
    wrong = Instruction(
        "not.rn.b32", (Reg("%r1", "b32"), Reg("%r1", "b32")), place=Place("g.py", 93)
    )
    body = (Registers("b32", "%r", 2), wrong, Instruction("ret", (), place=Place("g.py", 94)))
    module = ptx.Module(Function("k", (), body), target="sm_90", version="8.0")
    with pytest.raises(AssemblerError) as caught:
        assemble(module)
    lines = render(module, loc=False).text.splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "not.rn" in text)
    assert str(caught.value) == (
        "g.py:93: ptxas: Illegal rounding modifier for instruction 'not'\n"
        f"  not.rn.b32 %r1, %r1;    (line {line} of the PTX)"
    )


def test_the_smallest_target_that_ptxas_knows() -> None:
    """The module asks for sm_50, which this ptxas makes no code for."""
    cubin = assemble(axpy("2.0"))
    assert ".target sm_50" in cubin.text
    assert cubin.target == "sm_75"
    with pytest.raises(
        ptx.PtxError, match=r"^ptxas 13\S+ makes no code for sm_50; it does for sm_"
    ):
        assemble(axpy("2.0"), "sm_50")
