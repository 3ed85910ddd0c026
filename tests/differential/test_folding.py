"""ptxas's own arithmetic, read back from SASS, agrees with the emulator to the bit."""

from __future__ import annotations

from typing import Any

import pytest

import ptx
from ptx.sass import Instruction
from tests.differential import folding
from tests.differential.instances import Instance, all_instances, video_instances
from tests.differential.programs import HEAD

EMULATOR = ptx.device("emulator")


def folded(instances: list[Instance]) -> list[folding.Outcome]:
    exact = [instance for instance in instances if not instance.approximate]
    found = list(folding.outcomes(EMULATOR, folding.cases(exact)))
    assert [str(o) for o in found if o.differs] == []
    return [o for o in found if o.folded is not None]


def test_what_ptxas_folds() -> None:
    """A sample; more than a third of its results are literals in the code."""
    assert len(folded(all_instances()[::101])) > 80


@pytest.mark.slow
def test_all_that_ptxas_folds() -> None:
    every = all_instances() + video_instances()
    kinds = {folding.kind(o.case.instance.op).partition(".")[0] for o in folded(every)}
    certain = "add sub mul mad cvt set setp selp shl shr and or xor not min max bfe"
    assert kinds >= set(certain.split())


def test_constants_are_read_from_code() -> None:
    """Against numbers worked out by hand: of 8, 16, 32 and 64 bits, of floats, and no number."""
    body = """
    .reg .b64 %out, %q; .reg .b32 %r, %t; .reg .b16 %h; .reg .f32 %f;
    ld.param.u64 %out, [out];
    mov.b32 %r, 7; mul.lo.u32 %r, %r, 6; st.global.b32 [%out], %r;
    mov.b64 %q, 0x100000001; mul.lo.u64 %q, %q, 3; st.global.b64 [%out+8], %q;
    mov.b16 %h, 0x1234; add.u16 %h, %h, 1; st.global.b16 [%out+16], %h;
    mov.f32 %f, 0f3F800000; add.f32 %f, %f, %f; st.global.f32 [%out+20], %f;
    mov.b32 %r, 0; st.global.b8 [%out+24], %r;
    mov.u32 %t, %tid.x; st.global.b32 [%out+28], %t;
    """
    text = f"{HEAD}.visible .entry k(.param .u64 out) {{ {body} ret; }}"
    found = folding.Constants().read(ptx.disassemble(ptx.assemble(text, "sm_90a")).kernels["k"])

    def number(place: int, size: int) -> Any:
        return int.from_bytes(bytes(found[place + n] for n in range(size)), "little")

    assert number(0, 4) == 42
    assert number(8, 8) == 0x300000003
    assert number(16, 2) == 0x1235
    assert number(20, 4) == 0x40000000
    assert number(24, 1) == 0
    assert not {28, 29, 30, 31} & set(found)


def test_what_is_no_literal_is_no_constant() -> None:
    """A register that anything else writes, or that a guard may leave, is not known."""

    def region(*lines: str) -> Any:
        made = []
        for number, line in enumerate(lines):
            guard = line.split()[0] if line.startswith("@") else ""
            opcode, *operands = line.removeprefix(guard).strip().split(" ", 1)
            some = tuple(operands[0].split(", ")) if operands else ()
            made.append(Instruction(16 * number, guard, opcode, some, 5 << 32))
        return type("Region", (), {"instructions": made})()

    store = "STG.E desc[UR4][R2.64], R4"
    read = folding.Constants
    assert read().read(region("MOV R4, 0x5", store)) == {0: 5, 1: 0, 2: 0, 3: 0}
    assert read().read(region("MOV R4, 0x5", "MOV R6, R4", store.replace("R4", "R6"))) != {}
    assert read().read(region("MOV R4, 0x5", "IADD3 R4, R4, 0x1, RZ", store)) == {}
    assert read().read(region("MOV R4, 0x5", "IMAD.WIDE R3, R8, R9, R4", store)) == {}
    assert read().read(region("MOV R4, 0x5", "@P0 MOV R4, 0x6", store)) == {}
    assert read().read(region("@P0 MOV R4, 0x5", store)) == {}
    assert read().read(region("MOV R4, 0x5", "@P0 BRA 0x30", store)) == {}
    assert read().read(region("MOV R4, 0x5", "@P0 " + store)) == {}
    assert read().read(region("MOV R4, 0x5", "LOP3.LUT P0, R4, R4, R5, RZ, 0xc0", store)) == {}
    assert read().read(region("MOV R4, 0x5", "ISETP.NE.AND P0, PT, R4, RZ, PT", store)) != {}
    assert read().read(region("HFMA2 R4, R6, R7, 1, 0", store)) == {}
