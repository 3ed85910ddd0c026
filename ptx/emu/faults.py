"""What the emulator raises: a fault of the kernel, or an instruction that it has no meaning for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ptx.errors import Place, PtxError
from ptx.ir import Instruction

KINDS = {
    "out-of-bounds": "an access outside every allocation",
    "misaligned": "an address that is no multiple of the access's size",
    "use-after-free": "an access to memory that was freed",
    "uninitialised": "a value never written reaches a result, an address, a branch or a store",
    "wrong-space": "an address of one state space used in another",
    "read-only": "a store to constant or parameter memory",
    "in-flight": "a read or write of what an asynchronous operation still owns",
    "fence": "registers or memory pass to another unit with no fence between that it would see",
    "race": "two threads access one place with no synchronisation between, one of them to write",
    "divergent-barrier": "a part of a warp arrives at an aligned barrier",
    "mask": "a member mask that names the wrong lanes",
    "barrier": "a barrier or mbarrier used against its rules",
    "deadlock": "every thread waits, or polls memory that nobody writes any more",
    "step-limit": "the launch ran longer than its step limit",
    "trap": "the kernel executed trap",
    "launch": "a launch that the kernel or the machine cannot take",
    "descriptor": "a descriptor or tensor map that describes nothing legal",
}
"""The kinds of fault, and what each means."""


class EmulatorFault(PtxError):
    """A kernel did what the hardware forbids, hides or leaves undefined.

    ``kind`` is one of :data:`KINDS`; ``place`` is where the author wrote the instruction; ``line``
    is the instruction itself, as PTX; ``cta`` and ``thread`` are (x, y, z), None where they do not
    apply.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        place: Place | None = None,
        line: str = "",
        cta: tuple[int, int, int] | None = None,
        thread: tuple[int, int, int] | None = None,
        address: int | None = None,
        allocation: str = "",
    ) -> None:
        self.kind = kind
        self.line = line
        self.cta = cta
        self.thread = thread
        self.address = address
        self.allocation = allocation
        text = f"{kind}: {message}"
        if line:
            text += f"\n  {line}"
        where = [f"CTA {cta}"] if cta is not None else []
        if thread is not None:
            where.append(f"thread {thread}")
        if address is not None:
            where.append(f"address {address:#x}")
        if where:
            text += "\n  " + ", ".join(where)
        if allocation:
            text += f"\n  {allocation}"
        super().__init__(text, place)


class Unmodelled(PtxError):
    """An instruction or directive without a meaning here; raised before anything runs."""

    @classmethod
    def of(cls, instruction: Instruction, why: str = "its meaning is not written") -> Unmodelled:
        """The refusal of one instruction, with the reason and the author's line."""
        return cls(f"{instruction.op} is not modelled: {why}\n  {instruction}", instruction.place)


@dataclass
class AccessError(Exception):
    """A fault before it is known who asked: the machine turns it into an :class:`EmulatorFault`.

    ``lane`` counts in the chunk's lanes; ``position`` counts in the lanes that took part, where
    only that is known; both are -1 where no single lane is to blame.
    """

    kind: str
    message: str
    lane: int = -1
    position: int = -1
    address: int | None = None
    allocation: str = ""

    def at(self, lane: int) -> AccessError:
        return replace(self, lane=lane)
