"""What each SASS opcode is for, and how wide its memory accesses are.

Source: CUDA Binary Utilities, chapter Instruction Set Reference (Turing to Blackwell); the groups
are its, split where a GEMM's reader looks for one part.
"""

from __future__ import annotations

import difflib

GROUPS = {
    "FP32": "FADD FADD2 FCHK FFMA FFMA2 FFMA32I FHADD FHFMA FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL "
    "FSET FSETP FSWZADD FADD32I RRO",
    "FP64": "DADD DFMA DMUL DSETP DMNMX DSET",
    "FP16": "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2",
    "tensor": "HMMA IMMA BMMA DMMA QMMA OMMA MMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCIMMA UTCMMA "
    "UTCQMMA UTCOMMA UTCCP UTCSHIFT UTCBAR UTCATOMSWS LDTM LDT STTM STT",
    "integer": "BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMUL IMNMX ISCADD ISCADD32I "
    "ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR SGXT VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX "
    "VIMNMX3 VHMNMX XMAD BFE BFI",
    "special": "MUFU",
    "convert": "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP",
    "move": "MOV MOV32I MOVM PRMT SEL SHFL CS2R S2R B2R R2B P2R R2P PLOP3 PSETP R2UR S2UR "
    "UGETNEXTWORKID CSMTEST VOTE VOTEU MATCH REDUX CREDUX ELECT BMOV LEPC GETLMEMBASE SETLMEMBASE "
    "SETCTAID SETREG NOP PMTRIG PIXLD",
    "uniform": "UBMSK UBREV UCLEA UF2FP UFLO UI2F UI2FP UF2I UIABS UIADD3 UIMAD UIMNMX UISETP ULEA "
    "ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR "
    "UVIADD UVIMNMX UVIADDMNMX UFADD UFFMA UFMUL UFMNMX UFSEL UFSET UFSETP UFRND UF2F UI2I "
    "UI2IP UF2IP UVIRTCOUNT UMEMSETS UREDGR USETSHMSZ USTGR UBMOV",
    "global": "LDG STG LDGSTS ATOM ATOMG RED REDG CCTL CCTLL CCTLT LD ST LDGMC QSPC "
    "TEX TLD TLD4 TMML TXD TXQ SULD SUST SUATOM SURED SUQUERY LDGDEPBAR",
    "shared": "LDS STS LDSM STSM ATOMS STAS REDAS LDS_LDU",
    "local": "LDL STL",
    "constant": "LDC LDCU ULDC",
    "bulk copy": "UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH",
    "synchronise": "BAR SYNCS ARRIVES DEPBAR MEMBAR FENCE ERRBAR CGAERRBAR UCGABAR_ARV "
    "UCGABAR_WAIT WARPGROUP WARPGROUPSET WARPSYNC NANOSLEEP YIELD ACQBULK ACQSHMINIT PREEXIT "
    "USETMAXREG UCGABAR SYNCSU DEPBARU UARRIVES",
    "branch": "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT BREAK BSSY BSYNC BPT KILL RPCMOV RTT "
    "PRET SSY SYNC BRK CONT PBK PCNT IDE",
}  # fmt: skip
"""Opcodes by what they are for, in the order in which a reader of a loop asks."""

GROUP_OF = {opcode: group for group, opcodes in GROUPS.items() for opcode in opcodes.split()}
OTHER = "other"
"""The group of an opcode that is in none."""

BRANCHES = ("BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU")
"""That go to another place of the same kernel."""

ACCESSES = ("LDG", "STG", "LDGSTS", "LD", "ST", "LDS", "STS", "LDL", "STL", "LDSM", "STSM")
"""Loads and stores whose width is told by a modifier."""

_SUB_WORD = {"U8": 8, "S8": 8, "U16": 16, "S16": 16}


def group_of(opcode: str) -> str:
    """The group of an opcode, with or without modifiers."""
    return GROUP_OF.get(opcode.partition(".")[0], OTHER)


def access_bits(opcode: str) -> int:
    """Bits a thread that a load or store moves: 128 of LDG.E.128, 32 where it names none.

    Of LDSM and STSM: 32 for each matrix, as a thread holds so much of it.
    """
    base, *modifiers = opcode.split(".")
    if base in ("LDSM", "STSM"):
        return 32 * (int(modifiers[-1]) if modifiers[-1] in ("2", "4") else 1)
    for modifier in reversed(modifiers):
        if modifier in _SUB_WORD:
            return _SUB_WORD[modifier]
        if modifier in ("64", "128", "256"):
            return int(modifier)
    return 32


def near(opcode: str) -> tuple[str, ...]:
    """Known opcodes that an unknown one may have been meant for."""
    return tuple(difflib.get_close_matches(opcode, GROUP_OF, n=3))
