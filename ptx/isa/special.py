"""Special registers (PTX ISA 9.0, chapter 10): their types, and what they need; all as ptxas 13.0
judges them, which also reads ``%tid`` whole by mov.v4 and any of 32 bits by mov.v2 (not offered).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A read-only register such as ``%tid.x``; ``mov`` reads it, and an integer ``cvt``."""

    name: str
    type: str
    need: str = "50"
    version: str = "6.0"
    widths: tuple[int, ...] = ()
    """Other widths in bits that it may be read with: what was 16 bits wide before PTX 2.0."""


def _registers() -> dict[str, SpecialRegister]:
    found: dict[str, SpecialRegister] = {}

    def add(
        names: str,
        type: str = "u32",
        need: str = "50",
        version: str = "6.0",
        widths: tuple[int, ...] = (),
    ) -> None:
        for name in names.split():
            found[f"%{name}"] = SpecialRegister(f"%{name}", type, need, version, widths)

    for vector in ("tid", "ntid", "ctaid", "nctaid"):
        add(" ".join(f"{vector}.{axis}" for axis in "xyzw"), widths=(16,))
    for vector in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"):
        add(" ".join(f"{vector}.{axis}" for axis in "xyzw"), need="90", version="7.8")
    add("laneid warpid nwarpid smid nsmid")
    add("lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt")
    add("clock clock_hi globaltimer_lo globaltimer_hi total_smem_size dynamic_smem_size")
    add("clock64 globaltimer", "u64")
    add("gridid", "u64", widths=(16, 32))
    add("cluster_ctarank cluster_nctarank", need="90", version="7.8")
    add("is_explicit_cluster", "pred", need="90", version="7.8")
    add("aggr_smem_size", need="90", version="8.1")
    for part in "begin end cap 0 1".split():
        add(f"reserved_smem_offset_{part}", need="80", version="7.6")
    add("current_graph_exec", "u64", version="8.0")
    add(" ".join(f"pm{i}" for i in range(8)))
    add(" ".join(f"envreg{i}" for i in range(32)), "b32")
    add(" ".join(f"pm{i}_64" for i in range(8)), "u64")
    return found


SPECIAL: dict[str, SpecialRegister] = _registers()
"""By name, percent sign included."""
