"""Numbers of a loop: against nvdisasm's other output, the PTX as written, and by hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ptx import toolchain
from ptx.sass import Instruction, Region, opcodes, statistics
from ptx.sass.banks import walk
from tests.samples import TWO_KERNELS, spilling
from tests.sass.made import EVERYWHERE, WIDEST, each_target, made, module


@each_target
def test_opcodes_and_guards_are_those_of_nvdisasms_json(target: str, tmp_path: Path) -> None:
    """nvdisasm prints the same code in two ways; this package reads the other one."""
    sass = made(EVERYWHERE, target)
    path = tmp_path / "it.cubin"
    path.write_bytes(sass.cubin.data)
    tool = toolchain.find_tool("nvdisasm").path
    done = subprocess.run([tool, "-json", path], capture_output=True, text=True, check=True)
    functions = json.loads(done.stdout)[1]
    assert len(functions) == len(sass.kernels) == 3
    for function in functions:
        kernel = sass.kernels[function["function-name"]]
        theirs = [
            (one.get("predicate", ""), one["opcode"]) for one in function["sass-instructions"]
        ]
        ours = [(one.guard, one.opcode) for one in kernel.instructions]
        assert ours == theirs[: len(ours)]
        assert {opcode for _, opcode in theirs[len(ours) :]} <= {"BRA", "NOP"}  # the padding
        counted = statistics(kernel)
        assert counted.instructions == sum(guard != "@!PT" for guard, _ in ours)
        assert counted.predicated == sum(guard not in ("", "@!PT") for guard, _ in ours)


@each_target
def test_widths_are_those_that_the_ptx_asks_for(target: str) -> None:
    assert statistics(made(EVERYWHERE, target).kernels["widths"]).accesses == {
        "LDG": {128: 1, 64: 2, 32: 1, 16: 1, 8: 1},
        "STG": {64: 2, 16: 1},
        "LDS": {64: 1},
        "STS": {128: 1, 32: 1, 8: 1},
    }


def test_the_widest_loads_of_blackwell() -> None:
    found = statistics(made(module(WIDEST, target="sm_100")).kernel)
    assert found.accesses == {"LDG": {256: 1}, "STG": {256: 1}}


def test_spills_are_local_accesses() -> None:
    """What ptxas says it stores and loads, in bytes, is what the code does."""
    sass = made(spilling())
    info = sass.kernel.info
    assert info
    moved = {
        name: sum(bits // 8 * count for bits, count in widths.items())
        for name, widths in statistics(sass.kernel).accesses.items()
    }
    assert moved["STL"] == info.spill_stores
    assert moved["LDL"] == info.spill_loads


@pytest.mark.parametrize(
    ("opcode", "bits"),
    [
        ("LDG.E", 32), ("LDG.E.128", 128), ("LDG.E.LTC128B.128", 128), ("LDG.E.LTC128B", 32),
        ("LDG.E.U8", 8), ("LDG.E.S16.SYS", 16), ("LDG.E.64.STRONG.GPU", 64),
        ("LDG.E.ENL2.256", 256), ("LDGSTS.E.BYPASS.128", 128), ("LDGSTS.E", 32), ("LDS.U", 32),
        ("LDSM.16.M88.4", 128), ("LDSM.16.MT88.2", 64), ("LDSM.16.M88", 32), ("STL.64", 64),
    ],
)  # fmt: skip
def test_width_of(opcode: str, bits: int) -> None:
    assert opcodes.access_bits(opcode) == bits


SEEN = """
ACQBULK ATOMG ATOMS B2R BAR BMOV BPT BRA BREAK BRX BSSY BSYNC CALL CCTL CGAERRBAR CREDUX CS2R DADD
DEPBAR DMMA ELECT ERRBAR EXIT F2F F2FP F2I FADD FADD2 FENCE FFMA FLO FMNMX FMNMX3 FMUL FMUL2 FSEL
FSETP HADD2 HFMA2 HGMMA HMMA I2F I2FP IADD IADD3 IMAD IMMA IMNMX ISETP LD LDC LDCU LDG LDGDEPBAR
LDGSTS LDL LDS LDSM LDTM LEA LEPC LOP3 MATCH MEMBAR MOV MOVM MUFU NANOSLEEP NOP P2R PLOP3 POPC
PREEXIT PRMT QMMA R2UR RED REDG REDUX RET S2R S2UR SEL SGXT SHF SHFL ST STAS STG STL STS STSM STTM
SYNCS UBLKCP UCGABAR_ARV UCGABAR_WAIT UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP3 UMOV UPOPC UPRMT USEL
USETMAXREG USGXT USHF UTCATOMSWS UTCBAR UTCHMMA UTMACCTL UTMACMDFLUSH UTMALDG UTMAREDG UTMASTG
UVIRTCOUNT VIADD VIADDMNMX VIMNMX VIMNMX3 VOTE VOTEU WARPGROUP WARPSYNC YIELD
"""
"""What ptxas 13.0.88 makes of tests/corpus for sm_80, sm_90a, sm_100a and sm_120a."""


def test_every_opcode_has_one_group() -> None:
    assert [one for one in SEEN.split() if opcodes.group_of(one) == opcodes.OTHER] == []
    every = [one for names in opcodes.GROUPS.values() for one in names.split()]
    assert len(every) == len(set(every))


def test_branches_and_their_reconvergence() -> None:
    code = tuple(
        Instruction(16 * at, guard, opcode, (), 0)
        for at, (guard, opcode) in enumerate(
            [
                ("", "BSSY.RECONVERGENT"),
                ("@P0", "BRA"),
                ("", "BAR.SYNC"),
                ("", "BSYNC"),
                ("", "EXIT"),
            ]
        )
    )
    found = statistics(Region("k", code))
    assert (found.branches, found.bssy, found.bsync) == (1, 1, 1)
    assert found.groups == {"synchronise": 1, "branch": 4}


def test_what_never_runs_is_not_counted() -> None:
    """ptxas puts ``@!PT LDS RZ, [RZ]`` beside LDGSTS for sm_80."""
    never = Instruction(0, "@!PT", "LDS", ("RZ", "[RZ]"), 0)
    load = Instruction(16, "@P0", "LDS.128", ("R4", "[R2]"), 0)
    region = Region("k", (never, load))
    assert (region.count("LDS"), region.count("LDS", predicated=True)) == (1, 1)
    assert (never.predicated, never.never, load.never) == (False, True, False)
    found = statistics(region)
    assert (found.instructions, found.never, found.predicated) == (1, 1, 1)
    assert found.opcodes == {"LDS": 1}


def test_shares() -> None:
    code = tuple(
        Instruction(16 * at, "", opcode, ("R1", "R2", "R3", "R4"), 0)
        for at, opcode in enumerate(["FFMA", "HMMA.16816.F32", "HGMMA.64x64x16.F32", "MOV"])
    )
    found = statistics(Region("k", code))
    assert (found.ffma_share, found.tensor_share, found.tensor) == (0.25, 0.5, 2)


# ---------------------------------------------------------------- register banks


def ffma(*operands: str) -> Instruction:
    """With the reuse bits that the text of its operands says."""
    reuse = sum(1 << slot for slot, one in enumerate(operands[1:]) if one.endswith(".reuse"))
    return Instruction(0, "", "FFMA", operands, reuse << 122)


@pytest.mark.parametrize(
    ("code", "clocks", "reads", "reused"),
    [
        ([("R0", "R2", "R3", "R5")], 2, 3, 0),  # one even, two odd
        ([("R0", "R2", "R4", "R6")], 3, 3, 0),  # three of one bank
        ([("R0", "R2", "R2", "R3")], 1, 2, 0),  # one register in two slots is read once
        ([("R0", "R2", "RZ", "R3")], 1, 2, 0),
        ([("R0", "-R2", "c[0x0][0x160]", "|R4|")], 2, 2, 0),
        ([("R0", "R2", "UR4", "R3")], 1, 2, 0),
        # The second takes R2 from the cache and one of each bank.
        ([("R0", "R2.reuse", "R3", "R4"), ("R1", "R2", "R5", "R6")], 3, 5, 1),
        # In another slot it is read again: R5, R2, R4.
        ([("R0", "R2.reuse", "R3", "R4"), ("R1", "R5", "R2", "R4")], 4, 6, 0),
        # What is written is no longer what was kept.
        ([("R2", "R2.reuse", "R3", "R4"), ("R1", "R2", "R5", "R6")], 4, 6, 0),
        # Kept until another register is put there: the third finds R2, the last does not.
        (
            [
                ("R0", "R2.reuse", "R3", "R1"),
                ("R10", "R5", "R7", "R8"),
                ("R11", "R2", "R9", "R6"),
                ("R12", "R4.reuse", "R9", "R6"),
                ("R13", "R2", "R9", "R6"),
            ],
            2 + 2 + 1 + 2 + 2, 3 + 3 + 2 + 3 + 3, 1,
        ),
    ],
)  # fmt: skip
def test_conflicts_by_hand(
    code: list[tuple[str, ...]], clocks: int, reads: int, reused: int
) -> None:
    found = walk([ffma(*operands) for operands in code])
    assert (found.clocks, found.reads, found.reused) == (clocks, reads, reused)
    assert found.conflicts == clocks - len(code)


def test_others_take_a_clock_and_keep_the_cache() -> None:
    load = Instruction(0, "", "LDS.128", ("R8", "[R20]"), 0)
    found = walk([ffma("R0", "R2.reuse", "R3", "R4"), load, ffma("R1", "R2", "R5", "R6")])
    assert (found.ffma, found.clocks, found.reused) == (2, 4, 1)
    assert found.ffma_share == 0.5
    assert walk([]).ffma_share == 0


@each_target
def test_reuse_bits_are_the_marks_that_nvdisasm_prints(target: str) -> None:
    """An FFMA's sources are its slots a, b and c."""
    marked = 0
    for one in made(EVERYWHERE, target).kernels["products"].find("FFMA"):
        slots = [operand.endswith(".reuse") for operand in one.operands[1:]]
        assert [bool(one.control.reuse >> slot & 1) for slot in range(3)] == slots
        marked += sum(slots)
    assert marked


def test_a_called_function_is_counted_with_its_kernel() -> None:
    found = statistics(made(TWO_KERNELS).kernels["first"])
    assert (found.accesses["ST"], found.accesses["LD"]) == ({32: 1}, {32: 1})
