"""Mistakes that kernels were found with, each at its line; and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx import checker
from ptx.rules import RULES, example

CORPUS = sorted((Path(__file__).parent.parent / "text" / "corpus").glob("*.ptx"))


def found(text: str, target: str = "sm_90a", version: str = "9.0") -> list[tuple[str, str, str]]:
    """Severity, rule and line of each finding in a kernel's body, or in a whole module."""
    whole = example(text).replace(".target sm_90a", f".target {target}", 1)
    whole = whole.replace(".version 9.0", f".version {version}", 1)
    return [(d.severity, d.name, d.source) for d in checker.check(whole)]


def messages(text: str, target: str = "sm_90a", version: str = "9.0") -> list[str]:
    whole = example(text).replace(".target sm_90a", f".target {target}", 1)
    whole = whole.replace(".version 9.0", f".version {version}", 1)
    return [d.message for d in checker.check(whole)]


# ---------------------------------------------------------------- operands

REJECTED = [
    "setp.gt.pred %p1, %p2, %p3;",  # B19
    "mov.u32 %p1, %p2;",  # B21
    "not.rn.b32 %r1, %r2;",  # B22
    "mov.f64 %fd1, 0;",  # B40
    "mov.f32 %f1, 1;",
    "mov.u32 %r1, 1.0;",
    "mov.f32 %f1, -0f3F800000;",
    "mov.f32 %f1, 0f3F80000;",
    "mov.f32 %f1, 1.0f;",
    "mov.f64 %fd1, 0f3F800000;",
    "mov.u32 %tid.x, 1;",  # B48
    "mov.u64 %rd1, %tid.x;",
    "mov.u32 %r1, %%tid.x;",
    "ld.global.u32 %r1, [%rd1-4];",
    "mov.u32 %r1, 4294967296;",
    "bfe.u32 %r1, %r2, 260, 4;",  # B03
    "bfi.b32 %r1, %r2, %r3, 4, 256;",
    "clz.b64 %rd1, %rd2;",  # B25
    "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.5;",
    "createpolicy.fractional.L2::evict_last.b64 %rd1, 0f00000000;",
]
ACCEPTED = [
    "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;",
    "setp.eq.u32 %p2, 1, 2; mov.pred %p1, %p2; mov.pred %p1, -1; mov.pred %p1, !%p2;",  # B21
    "mov.f32 %f1, 0.0; mov.f32 %f1, -1.5; mov.f32 %f1, 0F3f800000;",  # B40
    "mov.f32 %f1, 0d3FB999999999999A; mov.f64 %fd1, 0d0000000000000000;",
    "mov.u32 %r1, %tid.w; mov.u32 %r1, 0xFFFFFFFF; mov.s32 %r1, -2147483648;",
    "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+-4];",
    "ld.param.u64 %rd1, [p]; ld.volatile.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",  # C32
    "mov.u32 %r1, ~5; add.u32 %r2, %r1, ~0; and.b32 %r3, %r1, 0-1U;",
]


@pytest.mark.parametrize("line", REJECTED)
def test_rejected(line: str) -> None:
    told = found(f".reg .f64 %fd<4>;\n{line}\nret;")
    assert [(s, source) for s, _, source in told if s == "error"] == [("error", line)]


@pytest.mark.parametrize("line", ACCEPTED)
def test_accepted(line: str) -> None:
    assert found(f".reg .f64 %fd<4>;\n{line}\nret;") == []


# ---------------------------------------------------------------- targets and versions


def test_a_version_too_old_for_the_target() -> None:
    """C02."""
    told = messages("ret;", "sm_90a", "7.8")
    assert told == ["the target sm_90a needs .version 8.0 or newer; the module states 7.8"]


WGMMA = ".visible .entry k()\n{\nwgmma.fence.sync.aligned;\nret;\n}"
REPLACE = """.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd1;
ret;
}"""


@pytest.mark.parametrize(
    ("text", "target", "taken"),
    [
        (WGMMA, "sm_90a", True),
        (WGMMA, "sm_80", False),
        (WGMMA, "sm_90", False),
        (WGMMA, "sm_100a", False),
        (WGMMA, "sm_120a", False),
        (REPLACE, "sm_90", False),
        (REPLACE, "sm_90a", True),
        (REPLACE, "sm_120", False),
        (REPLACE, "sm_120a", True),
    ],
)
def test_newer_is_no_superset(text: str, target: str, taken: bool) -> None:
    """C05."""
    told = found(text, target)
    line = next(one for one in text.splitlines() if one.startswith(("wgmma", "tensormap")))
    assert told == ([] if taken else [("error", "target", line)])
    if not taken:
        (message,) = messages(text, target)
        assert message.startswith(line.partition(" ")[0].rstrip(";") + " needs sm_90a")
        assert message.endswith(f"; the target is {target}")


def test_the_callers_target_counts_beside_the_modules() -> None:
    told = checker.check(example(WGMMA), "sm_100a")
    assert [d.message for d in told] == [
        "wgmma.fence.sync.aligned needs sm_90a; the target is sm_100a"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];",
        "ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1];",
    ],
)
def test_256_bits_need_sm_100_and_32_bytes(line: str) -> None:
    """C33."""
    load = ".reg .f64 %fd<9>;\nld.param.u64 %rd1, [p];\n"
    op = line.partition(" ")[0]
    assert messages(f"{load}{line}\nret;", "sm_90") == [
        f"{op} needs sm_100 or newer; the target is sm_90"
    ]
    assert found(f"{load}{line}\nret;", "sm_100") == []
    moved = line.replace("[%rd1]", "[%rd1+16]")
    assert found(f"{load}{moved}\nret;", "sm_100") == [("warning", "misaligned", moved)]


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("line", ["// caf\u00e9", "mov.u32 caf\u00e9, 1;"])
def test_ascii_alone(line: str) -> None:
    """C08."""
    text = example(f"{line}\nret;")
    (told,) = checker.check(text)
    number = text.splitlines().index(line) + 1
    assert (told.severity, told.line, told.column) == ("error", number, line.index("\u00e9") + 1)
    assert "ASCII" in told.message


def test_one_message_for_an_undeclared_register() -> None:
    """C11."""
    body = ".reg .b32 %x<20>;\nadd.u32 %r1, %x20, %x20;\nadd.u32 %r2, %x20, 1;\nret;"
    told = checker.check(example(body))
    assert [(d.line, d.severity) for d in told] == [(11, "error")]
    assert "%x0 to %x19" in told[0].message
    shadow = ".reg .b32 %x<5>;\n{\n.reg .b32 %x<5>;\nmov.u32 %x1, 2;\n}\nret;"
    assert found(shadow) == []


# ---------------------------------------------------------------- addresses

LOADED = "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"


@pytest.mark.parametrize(
    ("line", "certain"),
    [
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3+4];", None),
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4+4];", False),
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4+16];", None),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd4+8];", None),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd4+4];", False),
        ("ld.global.f32 %f1, [%rd4+2];", False),
        ("st.shared.v4.f32 [tile+8], {%f9, %f9, %f9, %f9};", True),
        ("st.shared.v4.f32 [tile+32], {%f9, %f9, %f9, %f9};", None),
        ("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2+8];", True),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r2+8];", None),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2+8];", True),
        ("cp.async.ca.shared.global [tile+4], [%rd4], 8;", True),
        ("cp.async.ca.shared.global [tile+4], [%rd3], 4;", None),
        ("cp.async.cg.shared.global [tile], [%rd4+8], 16;", False),
        ("mbarrier.init.shared.b64 [tile+4], 1;", True),
        ("mbarrier.init.shared.b64 [tile+8], 1;", None),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd4], [tile+8], 32;", True),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd4+8], [tile+16], 32;", False),
        ("cp.async.bulk.prefetch.L2.global [%rd4+4], 16;", False),
    ],
)
def test_alignment_through_arithmetic(line: str, certain: bool | None) -> None:
    """%rd3 is 4 bytes a lane, %rd4 is 16; tile is aligned to 16."""
    body = (
        LOADED
        + ".shared .align 16 .b8 tile[512];\nmov.f32 %f9, 0.0;\n"
        + "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd3, %rd2, %rd5;\n"
        + "shl.b32 %r3, %r1, 4;\ncvt.u64.u32 %rd6, %r3;\nadd.s64 %rd4, %rd2, %rd6;\n"
        + "mov.u32 %r4, tile;\nmad.lo.u32 %r2, %r1, 16, %r4;\n"
        + f"{line}\nret;"
    )
    severity = "error" if certain else "warning"
    assert found(body) == ([] if certain is None else [(severity, "misaligned", line)])


@pytest.mark.parametrize(
    ("line", "bytes"),
    [
        ("ld.shared.u32 %r5, [tile+508];", ""),
        ("ld.shared.u32 %r5, [tile+512];", "512 to 515"),
        ("ld.shared.u8 %r5, [tile+-1];", "-1 to -1"),
        ("st.shared.v4.b32 [tile+496], {%r1, %r1, %r1, %r1};", ""),
        ("ld.shared.u32 %r5, [%r2+496];", ""),
        ("ld.shared.u32 %r5, [%r2+500];", "512 to 515"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [tile+512];", "512 to 527"),
        ("cp.async.ca.shared.global [tile+512], [%rd1], 4;", "512 to 515"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 528;", "0 to 527"),
        ("atom.shared.add.u32 %r5, [tile+516], 1;", "516 to 519"),
        ("ld.shared.u32 %r5, [open+512];", ""),
        ("ld.u32 %r5, [%rd3+16];", "512 to 515"),
        ("ld.param.u32 %r5, [n+4];", "4 to 7"),
    ],
)
def test_accesses_lie_within_their_variable(line: str, bytes: str) -> None:
    text = f""".extern .shared .align 16 .b8 open[];
.visible .entry k(.param .u64 p, .param .u32 n)
{{
.shared .align 16 .b8 tile[512];
.reg .b32 %r<6>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, tile;
add.u32 %r2, %r1, 12;
mov.u64 %rd2, tile+496;
cvta.shared.u64 %rd3, %rd2;
{line}
ret;
}}"""
    told = [m for m in messages(text) if "accesses bytes" in m]
    assert len(told) == bool(bytes)
    assert not bytes or f" accesses bytes {bytes} of " in told[0]


def test_a_promised_alignment_is_certain() -> None:
    text = """.visible .entry k(.param .u64 .ptr .global .align 256 p)
{
.reg .b64 %rd<3>;
.reg .f32 %f<5>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+4];
ret;
}"""
    ((severity, name, _),) = found(text)
    assert (severity, name) == ("error", "misaligned")


def test_a_loop_that_steps_by_less_than_the_access_is_not_known() -> None:
    body = LOADED + (
        "L:\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];\nadd.s64 %rd2, %rd2, 4;\n"
        "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra L;\nret;"
    )
    assert found(body) == []


@pytest.mark.parametrize(
    ("move", "line", "name"),
    [
        ("mov.u64 %rd3, tile;", "ld.u32 %r2, [%rd3];", "wrong-space"),
        ("mov.u64 %rd3, tile;", "ld.global.u32 %r2, [%rd3];", "wrong-space"),
        ("mov.u64 %rd3, tile;", "ld.shared.u32 %r2, [%rd3];", None),
        ("cvta.shared.u64 %rd3, %rd5;", "ld.u32 %r2, [%rd3];", None),
        ("cvta.shared.u64 %rd3, %rd5;", "ld.shared.u32 %r2, [%rd3];", "wrong-space"),
        ("cvta.shared.u64 %rd3, %rd5;", "ld.global.u32 %r2, [%rd3];", "wrong-space"),
        ("cvta.shared.u64 %rd3, %rd5;", "cvta.shared.u64 %rd4, %rd3;", "needless-cvta"),
        ("cvta.shared.u64 %rd3, %rd5;", "cvta.to.shared.u64 %rd4, %rd3;", None),
        ("mov.u64 %rd3, tile;", "cvta.to.shared.u64 %rd4, %rd3;", "needless-cvta"),
        ("add.s64 %rd3, %rd5, 16;", "ld.u32 %r2, [%rd3];", "wrong-space"),
        ("selp.b64 %rd3, %rd5, %rd1, %p1;", "ld.u32 %r2, [%rd3];", None),
        ("mov.u64 %rd3, %rd1;", "ld.global.u32 %r2, [%rd3];", None),
    ],
)
def test_spaces_by_provenance(move: str, line: str, name: str | None) -> None:
    """B37, B39 and their kin."""
    body = (
        LOADED
        + ".shared .align 16 .b8 tile[512];\nsetp.eq.u32 %p1, %r1, 0;\nmov.u64 %rd5, tile;\n"
        + f"{move}\n{line}\nret;"
    )
    told = found(body)
    assert [(n, source) for _, n, source in told] == ([] if name is None else [(name, line)])


def test_an_index_of_the_grid_is_no_narrow_product() -> None:
    """A17: only sizes that are loaded count."""
    index = "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\n"
    use = "mul.wide.s32 %rd3, %r4, 4;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r5, [%rd4];\nret;"
    assert found(LOADED + index + use) == []
    loaded = index.replace("mov.u32 %r3, %ntid.x;", "ld.param.u32 %r3, [n];")
    line = "mad.lo.s32 %r4, %r2, %r3, %r1;"
    assert found(LOADED + loaded + use) == [("warning", "narrow-product", line)]


# ---------------------------------------------------------------- warps, asynchronous


def test_barriers_under_branches_that_only_might_split() -> None:
    head = "ld.param.u32 %r2, [n];\nmov.u32 %r1, %tid.x;\n"
    tail = "@%p1 bra JOIN;\nbar.sync 0;\nJOIN:\nret;"
    for line in ("setp.lt.u32 %p1, %r1, %r2;", "setp.lt.u32 %p1, %r1, 256;"):
        assert found(head + line + "\n" + tail) == []
    by_warp = "shr.u32 %r3, %r1, 5;\nsetp.eq.u32 %p1, %r3, 0;\n"
    assert [n for _, n, _ in found(head + by_warp + tail)] == ["divergent-barrier"]
    counted = tail.replace("bar.sync 0;", "bar.sync 1, 64;")
    assert found(head + by_warp + counted) == []
    elsewhere = "@%p1 bra ELSE;\nbar.sync 0;\nbra.uni JOIN;\nELSE:\nbar.sync 0;\nJOIN:\nret;"
    assert found(head + by_warp + elsewhere) == []
    other = elsewhere.replace("ELSE:\nbar.sync 0", "ELSE:\nbar.sync 1")
    assert [n for _, n, _ in found(head + by_warp + other)] == ["divergent-barrier"] * 2
    leaves = "@%p1 ret;\nbar.sync 0;\nret;"  # who has left is not waited for
    assert found(head + by_warp + leaves) == []
    by_lane = "and.b32 %r3, %r1, 31;\nsetp.ne.u32 %p1, %r3, 0;\n"
    assert [n for _, n, _ in found(head + by_lane + tail)] == ["divergent-barrier"]
    guarded = "setp.eq.u32 %p1, %r1, 3;\n@%p1 bar.sync 0;\nret;"
    assert [n for _, n, _ in found(head + guarded)] == ["divergent-barrier"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", ""),
        ("shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0;", "the mask names no lane"),
        ("@%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xf;", ""),
        ("@%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0x7;", "lane 3 executes it"),
        ("@!%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xf;", "lane 4 executes it"),
        ("@%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", "its mask names lane 4"),
        ("@%p1 bar.warp.sync 0x1f;", "its mask names lane 4"),
        ("@%p1 bar.warp.sync -1;\n@!%p1 bar.warp.sync -1;", ""),
        ("elect.sync _|%p2, -1;\n@%p2 bar.sync 0;", "a guard that differs between lanes"),
        ("elect.sync %r2|%p2, -1;\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bar.sync 0;", ""),
    ],
)
def test_lanes_that_a_mask_or_an_election_names(line: str, says: str) -> None:
    told = messages(f"mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 4;\n{line}\nret;")
    assert len(told) == bool(says), told
    assert not says or says in told[0]


ISSUE = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, "
    "%rd1, %rd1, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
)


@pytest.mark.parametrize(
    ("between", "clean"),
    [
        ("", False),
        ("wgmma.wait_group.sync.aligned 0;\n", True),
        ("wgmma.wait_group.sync.aligned 1;\n", False),
        (ISSUE.replace("%f", "%f1") + "wgmma.wait_group.sync.aligned 1;\n", True),
        ("@%p2 bra L;\nwgmma.wait_group.sync.aligned 0;\nL:\n", False),
    ],
)
def test_accumulators_in_flight(between: str, clean: bool) -> None:
    """A43."""
    body = (
        "ld.param.u64 %rd1, [p];\nsetp.ne.b32 %p1, 0, 0;\nsetp.ne.b32 %p2, 0, 0;\n"
        "wgmma.fence.sync.aligned;\n" + ISSUE + between + "add.f32 %f5, %f1, %f2;\nret;"
    )
    told = [("error", "accumulator-in-flight", "add.f32 %f5, %f1, %f2;")]
    assert found(body) == ([] if clean else told)


def test_the_fence_must_lie_on_every_way() -> None:
    """A40."""
    body = (
        LOADED + ".shared .align 128 .b8 tile[128], other[128];\nsetp.eq.u32 %p1, %r1, 0;\n"
        "st.shared.u32 [tile], 7;\n@%p1 bra L;\nfence.proxy.async.shared::cta;\nL:\nbar.sync 0;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 128;\nret;"
    )
    line = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 128;"
    assert found(body) == [("warning", "missing-proxy-fence", line)]
    assert found(body.replace("@%p1 bra L;\n", "")) == []
    assert found(body.replace("st.shared.u32 [tile]", "st.shared.u32 [other]")) == []


# ---------------------------------------------------------------- calls


def test_three_mistakes_of_a_call() -> None:
    """C12."""
    callee = ".visible .func f(.param .align 16 .b8 a[16])\n{\nret;\n}\n"
    kernel = (
        ".visible .entry k()\n{\n.param .align %d .b8 s[16];\nst.param.b32 [s], 0;\n%s\nret;\n}"
    )
    for align, call, name in (
        (8, "call f, (s);", "call-argument"),
        (16, "call f, ();", "call-count"),
        (16, "call g, (s);", "unknown-function"),
    ):
        assert found(callee + kernel % (align, call)) == [("error", name, call)]
    assert found(callee + kernel % (16, "call f, (s);")) == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("call (z), %rd1, (x), proto;", None),
        ("call (z), %rd1, (), proto;", "call-count"),
        ("call (z), %rd1, (x), nowhere;", "unknown-label"),
        ("call (z), %rd1, (x), list;", None),
        ("call (z), %rd1, (), list;", "call-count"),
        ("call (z), %rd1, (x), lost;", "unknown-function"),
    ],
)
def test_indirect_calls(call: str, name: str | None) -> None:
    """By a prototype, or by the signature of every function that a list names."""
    text = f""".func (.param .b32 r) f(.param .b32 a)
{{
st.param.b32 [r], 0;
ret;
}}
.visible .entry k()
{{
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
list: .calltargets f;
lost: .calltargets g;
.reg .b64 %rd<2>;
.param .b32 x, z;
st.param.b32 [x], 0;
mov.u64 %rd1, f;
{call}
ret;
}}"""
    assert found(text) == ([] if name is None else [("error", name, call)])


# ---------------------------------------------------------------- silence, and code of others


def test_a_line_is_silenced_by_name() -> None:
    assert found("add.u32 %r1, %r2, 1;  // ptx: ignore unset-register\nret;") == []
    assert found("add.u32 %r1, %r2, 1;  // ptx: ignore unreachable\nret;") != []


EXPECTED = {
    "triton_matmul.sm_90": ["narrow-product"],
    "triton_softmax.sm_80": ["narrow-product"],
}


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_compiled_code_is_clean(path: Path) -> None:
    told = checker.check(path.read_text(), file=path.name)
    assert [d.name for d in told] == EXPECTED.get(path.stem, []), "\n".join(map(str, told))


def test_what_follows_trap_in_compiled_code_is_no_mistake() -> None:
    assert found("trap;\nmov.u32 %r1, 1;\nret;") == []
    assert found("bra.uni END;\nmov.u32 %r1, 1;\nEND:\nret;") == [
        ("warning", "unreachable", "mov.u32 %r1, 1;")
    ]


# ---------------------------------------------------------------- what must come before

COPY = """.shared .align 16 .b8 tile[512];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, tile;
cp.async.cg.shared.global [%r1], [%rd2], 16;
cp.async.commit_group;
"""
READ = "ld.shared.u32 %r2, [%r1+4];"


@pytest.mark.parametrize(
    ("between", "clean"),
    [
        ("", False),
        ("bar.sync 0;\n", False),
        ("cp.async.wait_all;\n", True),
        ("cp.async.wait_group 0;\n", True),
        # A pipeline waits for older groups, on one way here at least.
        ("cp.async.wait_group 1;\ncp.async.cg.shared.global [%r1], [%rd2], 16;\n", True),
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 cp.async.wait_group 0;\n", True),
        ("LOOP:\ncp.async.wait_group 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\n", True),
    ],
)
def test_copies_are_waited_for(between: str, clean: bool) -> None:
    names = [n for _, n, _ in found(COPY + between + READ + "\nret;")]
    assert names == ([] if clean else ["unwaited-copy"])


def test_only_committed_groups_are_waited_for() -> None:
    """PTX ISA 9.0, section 9.7.9.25.3.3: wait_group waits for groups, wait_all for all copies."""
    open = COPY.replace("cp.async.commit_group;\n", "")
    assert open != COPY
    for wait, clean in (("cp.async.wait_group 0;\n", False), ("cp.async.wait_all;\n", True)):
        names = [n for _, n, _ in found(open + wait + READ + "\nret;")]
        assert names == ([] if clean else ["unwaited-copy"])


def test_another_tile_is_not_waited_for() -> None:
    other = ".shared .b32 other;\nld.shared.u32 %r2, [other];\nret;"
    assert found(COPY + other) == []


ARRIVE = "mbarrier.arrive.shared.b64 _, [full];"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (ARRIVE, False),
        ("mov.u32 %r1, full;\nmbarrier.arrive.shared.b64 _, [%r1];", False),
        (f"mov.u32 %r1, full;\nmbarrier.init.shared.b64 [%r1], 1;\n{ARRIVE}", True),
        # An address that is not followed may be the barrier's.
        (f"ld.param.u32 %r1, [n];\nmbarrier.init.shared.b64 [%r1], 1;\n{ARRIVE}", True),
    ],
)
def test_mbarriers_are_made(text: str, clean: bool) -> None:
    names = [n for _, n, _ in found(".shared .align 8 .b64 full;\n" + text + "\nret;")]
    assert names == ([] if clean else ["uninitialised-mbarrier"])


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        ("setp.ge.u32 %p1, %r1, 0;", False),
        ("setp.lt.u64 %p1, %rd1, 0;", False),
        ("set.hs.u32.u32 %r2, %r1, 0;", False),
        ("setp.gt.u32 %p1, %r1, 0;", True),
        ("setp.ge.s32 %p1, %r1, 0;", True),
        ("setp.ge.u32 %p1, %r1, 1;", True),
        ("setp.ge.f32 %p1, %f1, 0f00000000;", True),
    ],
)
def test_comparisons_whose_answer_is_known(line: str, clean: bool) -> None:
    head = "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.f32 %f1, 0f00000000;\n"
    names = [n for _, n, _ in found(head + line + "\nret;")]
    assert names == ([] if clean else ["constant-comparison"])


# ---------------------------------------------------------------- directives


@pytest.mark.parametrize(
    ("directives", "name", "line"),
    [
        (".maxntid 2048", "cta-size", 1),
        (".maxntid 128\n.maxnreg 300", "ignored-directive", 2),
        ('.reqntid 128\n.pragma "x";\n.reqnctapercluster 32', "cluster-size", 3),
        (".maxntid 128\n.minnctapersm 2\n.reqntid 128", "conflicting-directives", 3),
    ],
)
def test_a_directive_is_told_at_its_own_line(directives: str, name: str, line: int) -> None:
    text = f".version 9.0\n.target sm_90a\n.visible .entry k()\n{directives}\n{{\nret;\n}}\n"
    assert [(d.name, d.line) for d in checker.check(text)] == [(name, 3 + line)]


# ---------------------------------------------------------------- texts in the making


@pytest.mark.parametrize("body", ["", "ret", ".reg .f64 %fd<2>;", "L:"])
def test_a_body_without_instructions(body: str) -> None:
    assert any("ret" in told for told in messages(f".visible .entry k()\n{{\n{body}\n}}"))


@pytest.mark.parametrize("rule", RULES)
def test_operands_that_are_not_written_yet(rule: str) -> None:
    """Each instruction of each example without its last operands is an error, told once."""
    lines = example(RULES[rule].bad or "ret;").splitlines()
    for number, line in enumerate(lines):
        head, comma, _ = line.partition(",")
        if not comma or not line[:1].islower() or line.startswith("bar."):  # takes one operand too
            continue
        whole = "\n".join([*lines[:number], f"{head};", *lines[number + 1 :]])
        told = [d for d in checker.check(whole) if d.severity == "error" and d.line == number + 1]
        assert len(told) == 1, (line, told)
