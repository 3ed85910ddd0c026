"""What a kernel or a loop consists of, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ptx.sass import opcodes
from ptx.sass.banks import Banks, walk
from ptx.sass.region import Region


@dataclass(frozen=True)
class Statistics:
    """Of a region, with what is in its inner loops, each counted once."""

    instructions: int
    """That can run."""
    never: int
    """Instructions whose guard is never true; they are in no other number."""
    predicated: int
    branches: int
    bssy: int
    bsync: int
    accesses: dict[str, dict[int, int]]
    """Loads and stores by opcode and by bits a thread, ``{"LDS": {128: 16, 32: 2}}``."""
    groups: dict[str, int]
    """Instructions by what they are for (:data:`ptx.sass.opcodes.GROUPS`), without empty ones."""
    opcodes: dict[str, int]
    """Instructions by opcode, the most frequent first."""
    stalls: int
    """Clocks that the control codes make a warp wait between its instructions, the least that one
    pass can take."""
    banks: Banks

    @property
    def ffma_share(self) -> float:
        """Of the instructions."""
        return self._share(self.banks.ffma)

    @property
    def tensor_share(self) -> float:
        """Products of the tensor cores (HMMA, IMMA, HGMMA ...) among the instructions."""
        return self._share(self.tensor)

    @property
    def tensor(self) -> int:
        """How many instructions are products of the tensor cores."""
        return sum(count for name, count in self.opcodes.items() if name.endswith("MMA"))

    def _share(self, count: int) -> float:
        return count / self.instructions if self.instructions else 0.0


def statistics(region: Region) -> Statistics:
    runs = [one for one in region.instructions if not one.never]
    accesses: dict[str, Counter[int]] = {}
    for one in runs:
        if one.base in opcodes.ACCESSES:
            accesses.setdefault(one.base, Counter())[opcodes.access_bits(one.opcode)] += 1
    groups = Counter(opcodes.group_of(one.opcode) for one in runs)
    return Statistics(
        instructions=len(runs),
        never=len(region.instructions) - len(runs),
        predicated=sum(one.predicated for one in runs),
        branches=sum(one.base in opcodes.BRANCHES for one in runs),
        bssy=region.count("BSSY"),
        bsync=region.count("BSYNC"),
        accesses={
            name: dict(sorted(accesses[name].items(), reverse=True))
            for name in opcodes.ACCESSES
            if name in accesses
        },
        groups={
            name: groups[name] for name in (*opcodes.GROUPS, opcodes.OTHER) if groups.get(name)
        },
        opcodes=dict(region.opcodes.most_common()),
        stalls=sum(one.control.stall for one in region.instructions),
        banks=walk(region.instructions),
    )
