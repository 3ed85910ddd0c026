"""What rows say beside their syntax: effects, needs, counts and roles, against values by hand."""

from __future__ import annotations

import pytest

from ptx.errors import PtxError
from ptx.ir import Addr, Reg, Special, Symbol
from ptx.isa import FORMS, Variant, follow, resolve
from ptx.isa.notation import Form, variants
from ptx.isa.words import EFFECTS, ROLES, WORDS
from ptx.operands import select
from ptx.targets import Version

ROWS = [form for forms in FORMS.values() for form in forms]
WGMMA = "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"
TENSOR = "cp.async.bulk.tensor"
LOAD_TILE = (
    f"{TENSOR}.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
)


def variant(op: str, operands: int | None = None) -> Variant:
    """The one variant of `op`, or the one with so many operands."""
    found = [v for v in resolve(op) if operands in (None, len(v.slots))]
    assert len(found) == 1, f"{op}: {found}"
    return found[0]


def test_every_row_is_read_whole() -> None:
    """Rows are read when they are first asked for: a malformed one is found here."""
    for form in ROWS:
        spellings = list(form.spellings())
        assert spellings and all(variants(form, *spellings[at]) for at in (0, -1)), form


@pytest.mark.parametrize(
    ("syntax", "message"),
    [
        ("add.{type} d, a, b", r"row add\.\{type\} d, a, b: the head 'add\.\{type\}' does not"),
        ("add{.sat.type d, a, b", r"the head 'add\{\.sat\.type' does not follow the notation"),
        ("mma.m<size>.type d, a", r"row mma.* the choice <size> has no values"),
        ("ld.type d, [a", r"row ld\.type d, \[a: the brackets of '\[a' do not match"),
        ("ld.type d, [a]{, b", r"the brackets of '\{, b' do not match"),
        ("ld.type d-e, [a]", r"row ld.*: the operand 'd-e' does not follow the notation"),
    ],
)
def test_a_malformed_row_is_named(syntax: str, message: str) -> None:
    form = Form(syntax, 50, "6.0", "", {"type": "u32 s32"}, "test")
    with pytest.raises(ValueError, match=message):
        [variants(form, words, bound) for words, bound in form.spellings()]


def test_every_effect_is_explained_and_used() -> None:
    used = {effect for form in ROWS if form.effect for effect in form.effect.split(", ")}
    assert used == EFFECTS.keys()


def test_no_shared_choice_has_the_name_of_a_word() -> None:
    words = {word for form in ROWS for word in form.vocabulary[1]}
    assert not words & WORDS.keys()


def test_every_role_is_of_some_operand() -> None:
    names = {o.name for form in ROWS for o in form.operands}
    names |= {inner.name for form in ROWS for o in form.operands for inner in o.inner}
    assert names >= ROLES.keys()


@pytest.mark.parametrize(
    ("op", "counts"),
    [
        # 64 x 256 results over 128 threads; A in shared memory, so two descriptors
        (WGMMA, [128, None, None, None, None, None, None, None]),
        # 16 x 8 results over 32 lanes; A 16 x 16 and B 16 x 8 two a register
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", [4, 4, 2, 4]),
        # A 16 x 32 and B 32 x 8 four a register
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", [4, 4, 2, 4]),
        # half of A's 16 x 32, two a register; metadata, selector
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", [4, 4, 4, 4, None, None]),
        # four matrices of 8 x 8, two elements a lane and register
        ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", [4, None]),
        # 16 lanes of 256 bits over 32 threads: four registers, sixteen times
        ("tcgen05.ld.sync.aligned.16x256b.x16.b32", [64, None]),
        ("ld.global.L1::no_allocate.L2::128B.v4.f32", [4, None]),
    ],
)
def test_registers_of_a_fragment(op: str, counts: list[int | None]) -> None:
    variants = [v for v in resolve(op) if [s.count for s in v.slots] == counts]
    assert len(variants) == 1


def test_coordinates_follow_the_dimensions() -> None:
    slots = variant(LOAD_TILE).slots
    assert [slot.kind for slot in slots] == ["addr", "addr", "addr", "reg"]
    assert [slot.space for slot in slots[:3]] == ["shared", "global", "shared"]
    assert [slot.role for slot in slots] == ["", "tensor map", "barrier", "mask"]
    assert (slots[1].inner[0].type, slots[1].inner[0].count) == ("s32", 3)
    im2col = variant(f"{TENSOR}.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes")
    assert im2col.slots[-1].count == 3


@pytest.mark.parametrize(
    ("op", "needs", "version"),
    [
        ("shfl.bfly.b32", ("50-62",), (6, 0)),
        ("ld.weak.global.f32", ("50", "70"), (6, 0)),
        ("ld.global.v8.f32", ("100",), (8, 8)),
        ("atom.relaxed.gpu.global.add.f64", ("50", "60", "70"), (6, 0)),
        ("atom.global.exch.b128", ("90",), (8, 3)),
        ("cp.async.mbarrier.arrive.noinc.shared::cta.b64", ("80", "50"), (7, 8)),
        ("mbarrier.try_wait.parity.relaxed.cluster.b64", ("90",), (8, 6)),
        (WGMMA, ("90a",), (8, 0)),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32", ("103f 110f",), (8, 8)),
        ("redux.sync.max.NaN.f32", ("100f", "80"), (8, 6)),
    ],
)
def test_needs(op: str, needs: tuple[str, ...], version: Version) -> None:
    for found in resolve(op):
        assert set(found.needs) == set(needs)
        assert found.version == version


def test_what_a_value_needs_in_a_row_stands_for_what_its_words_need_elsewhere() -> None:
    versions = {len(v.slots): v.version for v in resolve("cp.async.cg.shared::cta.global")}
    assert versions[3] == (7, 0)  # shared::cta needs 7.8 in other rows


@pytest.mark.parametrize(
    ("op", "effect"),
    [
        ("bra.uni", "branch"),
        ("exit", "exit"),
        ("cp.async.wait_all", "wait cp.async"),
        ("st.shared.v4.f32", "store"),
        (LOAD_TILE, "async bulk mbarrier"),
        (f"{TENSOR}.2d.global.shared::cta.bulk_group", "async bulk group"),
        ("fence.proxy.async.shared::cta", "fence proxy async"),
        ("wgmma.fence.sync.aligned", "wgmma fence, collective warpgroup"),
        ("add.s32", ""),
    ],
)
def test_effects(op: str, effect: str) -> None:
    assert {found.form.effect for found in resolve(op)} == {effect}


def test_results_that_may_be_dropped() -> None:
    assert variant("atom.global.add.u32").slots[0].droppable
    assert not variant("ld.global.u32").slots[0].droppable
    assert [s.kind for s in variant("mbarrier.arrive.shared::cluster.b64", 2).slots][0] == "sink"


def test_an_mbarrier_lies_in_shared_memory() -> None:
    with pytest.raises(PtxError, match=r"gmem lies in \.global, an mbarrier in \.shared"):
        select("mbarrier.inval.b64", (Addr(Symbol("gmem", 0, "global")),))


def test_a_special_register_is_read_by_mov_and_integer_cvt() -> None:
    tid, register = Special("%tid.x"), Reg("%u64_1", "u64")
    select("cvt.u64.u32", (register, tid))
    select("mov.pred", (Reg("%p1", "pred"), Special("%is_explicit_cluster")))
    with pytest.raises(PtxError, match=r"%tid\.x is read by mov alone"):
        select("cp.async.bulk.prefetch.L2.global", (Addr(register), tid))


def test_only_a_store_of_now_takes_wider_registers() -> None:
    assert variant("st.global.u8").wide
    assert not variant("st.async.release.gpu.global.u8").wide


def test_words_that_may_follow() -> None:
    assert follow("cp.async.bulk.wait_group") == (frozenset({"read"}), True)
    assert follow("wgmma.mma_async.sync.aligned")[0] >= {"m64n8k16", "m64n256k256"}
    assert "nc" in follow("ld.global")[0]
