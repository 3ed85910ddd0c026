"""ptxas on the rules' examples: which bad ones it refuses too, and that it takes the good ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptx import checker
from ptx.errors import PtxError
from ptx.rules import RULES, example
from ptx.rules.limits import PORTABLE_SHARED_BYTES, SHARED_KIB
from ptx.targets import LAST_MINOR
from ptx.toolchain import find_tool

REFUSED = set(
    "syntax operands target barrier-number shared-size parameter-size conflicting-directives "
    "unknown-function call-count call-argument unknown-register unknown-label duplicate-label "
    "duplicate-name duplicate-definition initial-value parameter-type parameter-written "
    "inconsistent-declaration kernel-called unknown-symbol unknown-directive directive-arguments "
    "incomplete-cluster alias vector-size variable-size variable-space undefined-function "
    "constant-size narrow-address".split()
)
"""Rules whose bad example ptxas refuses."""

TOLD = {
    "ignored-directive",
    "setmaxnreg-ignored",
    "accumulator-in-flight",
    "missing-wgmma-fence",
}
"""Those of which it says something, and goes on. Of all others it says nothing."""


def ptxas(text: str, folder: Path, target: str = "sm_90a") -> tuple[bool, str]:
    """Whether ptxas takes a module for `target`, and what it says."""
    try:
        tool = find_tool("ptxas")
    except PtxError as error:
        pytest.skip(error.message.splitlines()[0])
    file = folder / "example.ptx"
    file.write_text(text)
    done = subprocess.run(
        [tool.path, f"-arch={target}", file, "-o", folder / "example.cubin"],
        capture_output=True,
        text=True,
    )
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [rule.name for rule in RULES.values() if rule.bad])
def test_ptxas_on_the_bad_example(name: str, tmp_path: Path) -> None:
    text = example(RULES[name].bad)
    taken, said = ptxas(text, tmp_path)
    assert taken == (name not in REFUSED), said
    if taken:
        assert bool(said) == (name in TOLD), said


@pytest.mark.parametrize("name", [rule.name for rule in RULES.values() if rule.good])
def test_ptxas_takes_the_good_example(name: str, tmp_path: Path) -> None:
    assert ptxas(example(RULES[name].good), tmp_path) == (True, "")


@pytest.mark.parametrize(("major", "last"), LAST_MINOR.items())
def test_the_versions_that_there_are(major: int, last: int, tmp_path: Path) -> None:
    """ptxas names its newest version where it is told one that there is not."""
    for minor, known in ((0, True), (last, True), (last + 1, False)):
        said = ptxas(f".version {major}.{minor}\n.target sm_75\n", tmp_path, "sm_75")[1]
        assert (f"Unsupported .version {major}.{minor}" not in said) == known, said


@pytest.mark.parametrize("target", ["sm_80", "sm_86", "sm_90", "sm_90a", "sm_100a", "sm_120a"])
def test_ptxas_has_the_same_limits_of_shared_memory(target: str, tmp_path: Path) -> None:
    """The last size that ptxas takes is the last one that the checker takes, to the byte."""
    from ptx import checker

    limit = SHARED_KIB[int(target[3:].rstrip("a"))] * 1024
    limit = limit if target[-1] == "a" else PORTABLE_SHARED_BYTES
    for size, fits in ((limit, True), (limit + 1, False)):
        text = (
            f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n"
            f".shared .b8 tile[{size}];\n.reg .b32 %r<2>;\nmov.u32 %r1, tile;\n"
            "st.shared.u8 [%r1], %r1;\nret;\n}\n"
        )
        assert ptxas(text, tmp_path, target)[0] == fits
        errors = [d for d in checker.check(text) if d.severity == "error"]
        assert ([d.name for d in errors] == []) == fits


VECTORS = [
    "ld.global.v2.b32 {%f1, %r1}, [%rd1];",
    "ld.global.v2.b32 {%f1, %u1}, [%rd1];",
    "ld.global.v2.b32 {%u1, %s1}, [%rd1];",
    "ld.global.v2.b32 {%f1, %hh1}, [%rd1];",
    "ld.global.v2.b32 {%hh1, %r1}, [%rd1];",
    "ld.global.v2.b64 {%fd1, %rd2}, [%rd1];",
    "ld.global.v2.f32 {%f1, _}, [%rd1];",
    "ld.global.v2.f32 {_, _}, [%rd1];",
    "ld.global.v2.f32 {%f1, %f1}, [%rd1];",
    "ld.global.v2.u8 {%r1, %h1}, [%rd1];",
    "ld.global.v4.b32 {%r1, %f1, %u1, %r2}, [%rd1];",
    "ld.global.v4.b32 {%u1, %r1, %r2, %f1}, [%rd1];",
    "st.global.v2.b32 [%rd1], {%r1, %f1};",
    "st.global.v2.b32 [%rd1], {%u1, %f1};",
    "st.global.v2.b32 [%rd1], {1, %f1};",
    "st.global.v2.b32 [%rd1], {%f1, 0f3F800000};",
    "st.global.v2.b32 [%rd1], {0f3F800000, %u1};",
    "st.global.v2.b32 [%rd1], {1, %u1};",
    "mov.b64 %rd2, {%f1, %r1};",
    "mov.b64 %rd2, {%u1, %f1};",
    "mov.b64 {_, _}, %rd2;",
    "mov.b64 {_, %r1}, %rd2;",
]


@pytest.mark.parametrize("line", VECTORS)
def test_elements_of_a_vector(line: str, tmp_path: Path) -> None:
    text = example(
        ".reg .u32 %u<2>; .reg .s32 %s<2>; .reg .f64 %fd<2>; .reg .f16x2 %hh<2>; .reg .f16 %h<2>;\n"
        f"ld.param.u64 %rd1, [p];\n{line}\nret;"
    )
    refused = any(d.severity == "error" for d in checker.check(text))
    assert refused != ptxas(text, tmp_path)[0]


SPECIALS = ("%tid.x", "%ntid.y", "%ctaid.z", "%nctaid.x", "%laneid", "%smid", "%clock", "%envreg1")


@pytest.mark.parametrize("special", SPECIALS)
@pytest.mark.parametrize("register", ["u16 %h1", "u32 %r1", "u64 %rd1"])
def test_width_of_a_special_register(special: str, register: str, tmp_path: Path) -> None:
    text = example(f".reg .u16 %h<2>;\nmov.{register}, {special};\nret;")
    refused = any(d.severity == "error" for d in checker.check(text))
    assert refused != ptxas(text, tmp_path)[0]


INITIAL = [
    ".global .f32 g = 1;",
    ".global .u32 g = 1.0;",
    ".global .b32 g = 1.0;",
    ".global .f64 g = 0d3FF0000000000000;",
    ".global .f16 g = 0;",
    ".global .u32 g[2] = {1, 2, 3};",
    ".global .u32 g[2] = {1};",
    ".global .u32 g[] = {1, 2, 3};",
    ".global .u32 g[2][2] = {{1, 2}, {3}};",
    ".global .u32 g[2][2] = {{1, 2, 3}, {3, 4}};",
    ".global .u32 g[2][2] = {1, 2};",
    ".global .u32 g = {1};",
    ".global .u32 g[1] = 1;",
    ".shared .u32 g = 1;",
    ".const .u32 g = 1;",
    ".extern .global .u32 g = 1;",
    ".global .f32 g = h;",
    ".global .u64 g[2] = {h, generic(h)};",
    ".global .v2 .u32 g = {1, 2};",
    ".global .v2 .u32 g = {1};",
    ".global .v2 .u32 g[2] = {{1, 2}};",
    ".global .v2 .u32 g[1] = {1, 2};",
]


@pytest.mark.parametrize("line", INITIAL)
def test_initial_values(line: str, tmp_path: Path) -> None:
    text = example(f".global .u32 h;\n{line}")
    refused = any(d.severity == "error" for d in checker.check(text))
    assert refused != ptxas(text, tmp_path)[0]


TWICE = [
    ".extern .shared .align 16 .b8 s[];\n.extern .shared .align 32 .b8 s[];",
    ".extern .shared .b8 s[];\n.extern .shared .f32 s[];",
    ".extern .global .u32 s;\n.extern .global .s32 s;",
    ".extern .global .u32 s[];\n.extern .global .u32 s[4];",
    ".extern .global .u32 s[4];\n.extern .global .u32 s[8];",
    ".extern .global .u32 s;\n.visible .global .u32 s;",
]


@pytest.mark.parametrize("lines", TWICE)
def test_declared_twice(lines: str, tmp_path: Path) -> None:
    text = example(lines)
    refused = any(d.severity == "error" for d in checker.check(text))
    assert refused != ptxas(text, tmp_path)[0]
