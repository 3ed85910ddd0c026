"""What ptxas makes of the wgmma kernels; no GPU is needed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

import ptx
from ptx import sass
from ptx.errors import PtxError
from ptx.toolchain import find_tool
from ptxgemm import choose
from ptxgemm.choose import CANDIDATES
from ptxgemm.cost import Candidate
from ptxgemm.kernels.pad import pad
from ptxgemm.kernels.turn import turn
from ptxgemm.kernels.wgmma import gemm
from ptxgemm.tiling import Accumulate, Major, Tiling, by_registers

PROMOTED = Tiling(
    128, 192, a="e4m3", b="e4m3", out="f32", b_major="k", accumulate="promoted", store="units",
    scaled=True,
)  # fmt: skip
"""To a C of any pitch and base."""
KERNELS = {
    "128x256": Tiling(),
    "cluster": Tiling(cluster=2, group=8),
    "clusters of A": Tiling(cluster_n=2, store="units"),
    "square clusters": Tiling(128, 128, 6, 2, alternate=True, cluster_n=2, b_major="k"),
    "square clusters, any": Tiling(
        128, 64, 7, 4, cluster_n=2, a_major="mn", store="units", scaled=True, parts=2
    ),
    "256x128": Tiling(256, 128, group=8, a_major="mn", b_major="k"),
    "alternate": Tiling(128, 128, 6, alternate=True),
    "parts": Tiling(128, 128, 6, alternate=True, parts=2),
    "parts units": Tiling(store="units", out="f32", scaled=True, parts=2),
    "last step": Tiling(last_slices=1),
    "last step of parts": Tiling(128, 128, 6, alternate=True, parts=2, last_slices=1),
    "last step of parts units": Tiling(
        store="units", out="f32", scaled=True, parts=2, cluster=2, last_slices=2
    ),
    "last step promoted": replace(PROMOTED, last_slices=3),
    "narrow": Tiling(128, 64, 8),
    "units": Tiling(store="units", a="f16", b="f16", out="f16"),
    "scaled": Tiling(scaled=True, out="f32", cluster=2),
    "units f32": Tiling(store="units", out="f32"),
    "half": Tiling(a="f16", b="f16", out="f16", accumulate="half"),
    "half 256x256": Tiling(256, 256, 3, a="f16", b="f16", out="f32", accumulate="half"),
    "tf32": Tiling(a="tf32", b="tf32", out="f32", b_major="k"),
    "tf32 along n": by_registers(256, 4, 8),
    "tf32 along n, any": replace(by_registers(256, 4, 8), store="elements", scaled=True),
    "tf32 along n, 64 rows": by_registers(64, 9, 16),
    "tf32 along n, last step": replace(by_registers(256, 4, 8), last_slices=1),
    "fp8": Tiling(a="e4m3", b="e5m2", b_major="k"),
    "fp8 to fp8": Tiling(128, 128, 6, a="e5m2", b="e5m2", out="e5m2", b_major="k", alternate=True),
    "promoted": Tiling(128, 192, a="e4m3", b="e4m3", b_major="k", accumulate="promoted"),
    "promoted, any": PROMOTED,
    "promoted to bf16, any": replace(PROMOTED, out="bf16", scaled=False),
    "half to fp8, any": Tiling(
        64,
        256,
        a="f16",
        b="f16",
        out="e4m3",
        accumulate="half",
        alternate=True,
        store="units",
        scaled=True,
        parts=2,
    ),
    "int8": Tiling(a="s8", b="s8", out="s32", b_major="k"),
    "int8 to int8": Tiling(a="u8", b="s8", out="s8", b_major="k"),
    "int8 scaled": Tiling(a="s8", b="u8", out="s8", b_major="k", scaled=True, store="units"),
}
OPCODES = {"t": "HGMMA.TF32", "e": "QGMMA", "s": "IGMMA", "u": "IGMMA"}
"""By the first letter of A's type; else ``HGMMA``."""


def missing(tool: str) -> bool:
    try:
        find_tool(tool)
    except PtxError:
        return True
    return False


pytestmark = pytest.mark.skipif(
    missing("ptxas") or missing("nvdisasm"), reason="needs ptxas and nvdisasm"
)
SELDOM = (
    "last step",
    "last step of parts units",
    "last step promoted",
    "tf32 along n, any",
    "tf32 along n, 64 rows",
    "tf32 along n, last step",
    "parts units",
    "square clusters, any",
    "units f32",
    "half 256x256",
    "promoted, any",
    "half to fp8, any",
    "fp8 to fp8",
    "int8 to int8",
    "int8 scaled",
)
kernels = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SELDOM)) for name in KERNELS],
)


@cache
def assembled(name: str) -> sass.Sass:
    return sass.disassemble(ptx.assemble(ptx.Module(gemm(KERNELS[name])), "sm_90a"))


def wgmmas(region: sass.Region) -> int:
    """Its wgmmas, of all types."""
    return sum("GMMA" in one.opcode for one in region.instructions)


@kernels
def test_the_tensor_cores_are_kept_busy(name: str) -> None:
    """Every wgmma of a K step is in the main loop, one commit behind them, nothing slow beside.
    Where B goes by registers, these are two K steps, and each thread loads its fragments in pairs.
    """
    tiling, main = KERNELS[name], assembled(name).loop("main")
    steps, blocks = (2, 1) if tiling.by_registers else (1, tiling.rows // 64)
    count = 4 * blocks * steps
    products = [one for one in main.instructions if "GMMA" in one.opcode]
    assert len(products) == count
    opcode = OPCODES.get(tiling.a[0], "HGMMA")
    assert all(one.matches(opcode) for one in products), [str(one) for one in products]
    shape = tiling.instruction.split(".")[4].replace("m", "").replace("n", "x").replace("k", "x")
    assert all(shape in one.opcode for one in products)
    assert sum("gsb0" in operand for one in products for operand in one.operands) == steps
    loads = [one.opcode for one in main.instructions if one.opcode.startswith("LDS")]
    assert loads == ["LDS.64"] * (16 if tiling.by_registers else 0)
    for slow in ("MEMBAR", "ERRBAR", "LDL", "STL", "BAR", "LDG"):
        assert not main.has(slow), slow


@kernels
def test_behind_the_loops_there_is_what_a_last_step_has_that_is_cut_short(name: str) -> None:
    """For each loop a wgmma for each slice and block of rows; by registers a tile's last two steps,
    as the loop has two.
    """
    tiling, code = KERNELS[name], assembled(name).kernel
    loops = [loop for loop in code.loops if loop.name in ("main", "upper")]
    inside = sum(wgmmas(loop) for loop in loops)
    within, behind = (
        (8, 4 + tiling.last_slices) if tiling.by_registers else (4, tiling.last_slices % 4)
    )
    assert wgmmas(code) - inside == behind * inside // within


@kernels
def test_registers_and_warnings(name: str) -> None:
    """No spill, no serialised wgmma (C7509 to C7515), no setmaxnreg ignored (C7508)."""
    cubin = assembled(name).cubin
    info = cubin.kernels["wgmma_gemm"]
    assert (info.spill_stores, info.spill_loads, info.local_bytes) == (0, 0, 0)
    assert info.registers <= 168
    assert "C75" not in cubin.log
    assert assembled(name).count("USETMAXREG") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidates", "kind", "accumulate", "outs"),
    [
        (CANDIDATES, "bf16", "native", ("bf16", "f32", "e4m3")),
        (CANDIDATES, "f16", "half", ("f16", "bf16", "f32", "e4m3")),
        (CANDIDATES, "s8", "native", ("s32", "f32", "bf16", "s8")),
        (choose.PROMOTED, "e4m3", "promoted", ("bf16", "f32", "e4m3")),
    ],
    ids=["float", "half", "integer", "promoted"],
)
def test_no_candidate_spills_on_the_way_to_any_c(
    candidates: tuple[Candidate, ...], kind: str, accumulate: Accumulate, outs: tuple[str, ...]
) -> None:
    """By units, which takes the most registers; by one type of C of each size."""
    b_major: Major = "k" if kind in ("s8", "e4m3") else "mn"
    for one, out, scaled, parts in product(candidates, outs, (False, True), (1, 2)):
        made = replace(
            one.tiling, a=kind, b=kind, out=out, b_major=b_major, accumulate=accumulate,
            store="units", scaled=scaled, parts=parts,
        )  # fmt: skip
        cubin = ptx.assemble(ptx.Module(gemm(made)), "sm_90a")
        info = cubin.kernels["wgmma_gemm"]
        assert (info.spill_stores, info.spill_loads, info.local_bytes) == (0, 0, 0), made
        assert "C75" not in cubin.log, made


def test_c_is_read_only_where_there_is_a_beta() -> None:
    """A01: beta = 0 never reads C, on whole tiles and on ragged ones."""
    assert not assembled("128x256").has("LDG")
    assert not assembled("units").has("LDG")
    assert assembled("scaled").has("LDG")


def test_the_tensor_store_needs_no_single_stores() -> None:
    assert assembled("128x256").count("STG") == 0
    assert assembled("128x256").count("UTMASTG") == 4
    assert assembled("units").count("UTMASTG") == 0


def test_any_c_is_stored_by_units() -> None:
    """Sums are staged by stmatrix, not one by one, and all elements of a row but those at its ends
    leave 16 bytes at a time, two rows at once.
    """
    code = assembled("units")
    assert code.count("STSM") == Tiling().sums // 2 // 4
    assert code.count("STS") == 0
    rows = code.loop("rows")
    assert len(rows.instructions) <= 2 * 52
    stores = [one.opcode for one in rows.instructions if "STG" in one.opcode]
    assert stores == 2 * ["STG.E.128", "STG.E.U16"]


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
def test_turning_fetches_in_words_and_writes_in_units(element_bytes: int) -> None:
    cubin = ptx.assemble(ptx.Module(turn(element_bytes)), "sm_90")
    code = sass.disassemble(cubin).kernel
    opcodes = [one.opcode for one in code.instructions]
    assert opcodes.count("STS.128") == 4
    assert opcodes.count("LDS.128") == opcodes.count("STG.E.128") == 4
    words = 32 if element_bytes == 1 else 32 if element_bytes == 2 else 16
    assert sum(one.startswith("LDG.E.CONSTANT") for one in opcodes) == words
    assert cubin.kernels["turn"].spill_stores == 0


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
def test_padding_fetches_all_before_it_writes(element_bytes: int) -> None:
    cubin = ptx.assemble(ptx.Module(pad(element_bytes)), "sm_90")
    code = sass.disassemble(cubin).kernel
    opcodes = [one.opcode for one in code.instructions]
    stores = [i for i, opcode in enumerate(opcodes) if opcode.startswith("STG")]
    assert [opcodes[i] for i in stores] == ["STG.E.128"] * 4
    loads = [i for i, opcode in enumerate(opcodes) if opcode.startswith("LDG")]
    assert max(loads) < min(stores)
    assert cubin.kernels["pad"].spill_stores == 0


def test_a_tiling_in_a_cluster_names_its_size() -> None:
    function = ptx.Module(gemm(replace(KERNELS["cluster"], stages=3))).kernels["wgmma_gemm"]
    assert function.directive("reqnctapercluster") == (2, 1, 1)


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("128x256", {"UTMALDG.2D": 5}),
        ("cluster", {"UTMALDG.2D": 1, "UTMALDG.2D.MULTICAST": 2}),
        ("clusters of A", {"UTMALDG.2D": 4, "UTMALDG.2D.MULTICAST": 1}),
        ("square clusters", {"UTMALDG.2D.MULTICAST": 2}),
    ],
)
def test_what_ctas_share_is_multicast(name: str, copies: dict[str, int]) -> None:
    code = assembled(name).kernel
    opcodes = [one.opcode for one in code.instructions if one.opcode.startswith("UTMALDG")]
    assert Counter(opcodes) == copies
    arrivals = [one for one in code.instructions if one.opcode.startswith("SYNCS.ARRIVE")]
    assert arrivals


@kernels
def test_loops_are_told_apart_and_stand_within_theirs(name: str) -> None:
    """ptxas puts loops of its own inside of ours, for one elected thread: ours keep their names."""
    code = assembled(name).kernel
    names = Counter(loop.name for loop in code.loops)
    assert [one for one, count in names.items() if count > 1] == []
    around = [code]
    for loop in code.loops:
        around = [*around[: loop.depth], loop]
        assert set(loop.instructions) < set(around[-2].instructions)
