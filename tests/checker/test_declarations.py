"""Declarations and directives: legal ones are clean, others are errors; ptxas says the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptx import checker
from tests.isa import referee

GIVEN = """\
.global .b32 y; .const .b32 c; .shared .b32 sh; .func f() {ret;} .global .b32 a[8];
.extern .func g(); .extern .global .b32 ext;
"""
"""What initial values may name."""

INITIAL = [
    (type, value, legal)
    for value, held in (
        ("y", "u32 u64"),
        ("generic(y)", "u32 u64"),
        ("f", "u32 u64"),
        ("y+4", "u32 u64"),
        ("0xFF(y)", "u8 u32 u64"),
        ("0xFF(generic(y))", "u8 u32 u64"),
        ("1", "b8 u8 s8 b16 u16 b32 u32 s32 b64 u64 s64"),
        ("1.0", "b8 b16 b32 b64 f32 f64"),
    )
    for type in "u8 b16 u32 b64 u64 f32".split()
    for legal in [type in held.split()]
]

MODULES = [
    *((f"{GIVEN}.global .{type} x = {value};", legal) for type, value, legal in INITIAL),
    (f"{GIVEN}.global .u64 x[2] = {{y, generic(y)}};", True),
    (f"{GIVEN}.const .u64 x = c;", True),
    (f"{GIVEN}.global .u64 x = g;", True),
    (f"{GIVEN}.global .u64 x = ext;", True),
    (f"{GIVEN}.global .u64 x = sh;", False),
    (f"{GIVEN}.global .u64 x = generic(sh);", False),
    (f"{GIVEN}.global .u64 x = x;", False),
    (f"{GIVEN}.global .u64 x = nothing;", False),
    (".global .u64 x = late; .global .b32 late;", False),
    (".global .u64 x = e; .entry e() {ret;}", False),
    (".global .v2 .f64 x;", True),
    (".global .v4 .f64 x;", False),
    (".global .v2 .b128 x;", False),
    (".global .u32 x[];", False),
    (".global .u32 x[0];", False),
    (".global .u32 x[] = {1};", True),
    (".extern .global .u32 x[];", True),
    (".extern .shared .b8 x[][4];", True),
    (".extern .shared .b8 x[4][];", False),
    (".shared .u32 x[WARP_SZ][2];", True),
    (".local .b32 x;", False),
    (".param .b32 x;", False),
    (".reg .b32 x;", False),
    (".common .global .b32 x;", True),
    (".common .const .b32 x;", False),
    (".common .func x() {ret;}", False),
    (".global .attribute(.managed) .b32 x;", True),
    (".const .attribute(.managed) .b32 x;", False),
    (".global .texref x;", True),
    (".shared .texref x;", False),
    (".visible .entry x(.param .texref t) {ret;}", True),
    (".extern .global .b32 x; .visible .global .b32 x;", True),
    (".extern .global .b32 x; .global .b32 x;", False),
    (".func x(.param .b32 a); .func x(.param .b32 a) {ret;}", True),
    (".func x(.param .b32 a); .func x(.param .u32 a) {ret;}", False),
    (".func x(.param .b32 a); .func x(.reg .b32 a) {ret;}", False),
    (".func x(.param .align 8 .b8 a[8]); .func x(.param .align 4 .b8 a[8]) {ret;}", False),
    (".func x() .noreturn; .func x() {ret;}", False),
    (".extern .func x(); .func x() {ret;}", False),
    (".extern .func x() {ret;}", False),
    (".func x() {ret;} .func x();", False),
    (".func x(); .entry x() {ret;}", False),
    (".func (.param .b32 a, .param .b32 b) x() {ret;}", False),
    (".func (.param .b32 a[]) x() {ret;}", False),
    (".func x(.param .b32 a[]) {ret;}", True),
    (".func x(.param .b32 a[], .param .b32 b) {ret;}", False),
    (".func x(.param .u64 .ptr .global .align 4 a) {ret;}", False),
    (".func f() {ret;} .func x(); .alias x, f;", True),
    (".func f() {ret;} .func x(.param .b32 a); .alias x, f;", False),
    (".func f() {ret;} .alias x, f;", False),
    (".entry x() .maxntid 1, 2, 3 {ret;}", True),
    (".entry x() .maxntid {ret;}", False),
    (".entry x() .maxntid 1, 2, 3, 4 {ret;}", False),
    (".entry x() .maxntid 64 .minnctapersm 2, 3 {ret;}", False),
    (".entry x() .maxntid 64 .minnctapersm 0 {ret;}", False),
    (".entry x() .maxnreg 0 {ret;}", False),
    (".entry x() .noreturn {exit;}", False),
    (".func x() .noreturn {exit;}", True),
    (".func x() .maxntid 64 {ret;}", False),
    (".func x() .abi_preserve 4 {ret;}", True),
    (".func x() .abi_preserve {ret;}", False),
    (".entry x() .blocksareclusters .reqntid 32 {ret;}", False),
    (".entry x() .blocksareclusters .reqntid 32 .reqnctapercluster 2 {ret;}", True),
    *((f".entry x() {{{inside} ret;}}", False) for inside in (
        ".visible .shared .b32 v;",
        ".extern .shared .b8 v[];",
        '.file 1 "a.cu"\n',
        ".section .debug_x { .b8 1 }",
        ".reg .v2 .pred p;",
        ".reg .v4 .b64 v;",
        ".local .attribute(.managed) .b32 v;",
    )),
    (".entry x() {.reg .b32 %q<WARP_SZ>; .reg .v2 .b64 v; ret;}", True),
    ('.file 1 "a.cu", 3, 4\n', True),
    ('.file 1 "/d" "a.cu"\n', False),
    (".file x\n", False),
    (".file 1 x\n", False),
    ('.file 1 "a.cu"\n.entry x() {\n.loc 1 2 3\nret;}', True),
    ('.file 1 "a.cu"\n.entry x() {\n.loc 1 2\nret;}', False),
    ('.file 1 "a.cu"\n.entry x() {\n.loc 1 2 -3\nret;}', False),
    *((f".section .debug_x {{\n{data}\n}}", True) for data in (
        ".b8 1", ".b8 -128, 255, 0b11", ".b32 -5, 0x10, 010", ".b64 18446744073709551615", ".b32 a",
        ".b32 a+4", ".b64 a - b", ".b32 .debug_info+4", "$L__x: .b8 1 .b8 2U", "x: y:", "",
    )),
    *((f".section .debug_x {{\n{data}\n}}", False) for data in (
        ".b8 256", ".b8 -129", ".b16 65536", ".b32 a+-4", ".b16 a-b", ".b8 a", ".b8 1;", ".b32 1+2",
        ".b32 1.0", ".b8", ".f32 1.0", ".u8 3", '.b8 "abc"', ".b32 a-b+4", ".b8 1,", ".b32 a, b",
        ".loc 1 2 3",
    )),
]  # fmt: skip


def ptxas_takes(text: str, folder: Path) -> bool:
    file = folder / "a.ptx"
    file.write_text(text)
    command = [str(referee.ptxas()), "-arch=compute_90a", file, "-o", folder / "a.cubin"]
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.parametrize(("text", "legal"), MODULES)
def test_legal_or_not(text: str, legal: bool, tmp_path: Path) -> None:
    whole = f".version 9.0\n.target sm_90a\n.address_size 64\n{text}\n"
    errors = [d for d in checker.check(whole) if d.severity == "error"]
    assert (errors == []) == legal, errors
    assert all(4 <= error.line for error in errors)
    if referee.ptxas() is not None:
        assert ptxas_takes(whole, tmp_path) == legal
