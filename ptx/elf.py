"""Reads the parts of a cubin, which is an ELF file of 64 bits, that say what its kernels need.

Sources: System V ABI, chapter 4 (ELF); the numbers of the `.nv.info` attributes are those that
nvdisasm prints beside their names.
"""

from __future__ import annotations

import math
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ptx.errors import PtxError

_ARCH = re.compile(r"(?:-arch|--gpu-name)[ =]+(sm_\d+[af]?)\b")
"""Among ptxas's options."""

_CUDA = 190
"""``EM_CUDA``, the header's machine."""

_NOBITS = 8
_FUNCTION = 2
_ENTRY = 0x10
"""``STO_CUDA_ENTRY`` in a symbol's st_other."""

_RESERVED_BYTES = 1024
"""Of shared memory by CTA, counted in a kernel's section where a cubin has the reserved one."""

_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE = 0x2F, 0x11, 0x12
"""Attributes of `.nv.info` whose payload is a symbol's index and a number."""

_MAX_THREADS, _REQNTID, _NUM_BARRIERS = 0x05, 0x10, 0x4C
"""Attributes of a kernel's own `.nv.info`: three extents each, and a byte."""

_VALUE_8, _PAYLOAD = 2, 4
"""Forms of an attribute: a byte beside its number, and bytes behind it."""


@dataclass(frozen=True)
class Section:
    name: str
    size: int
    """In bytes; also where the file holds none of them, as for shared memory."""
    data: bytes
    info: int


@dataclass(frozen=True)
class Image:
    """The sections and kernels of one cubin. Raises :class:`ptx.PtxError` where it is none."""

    data: bytes

    def __post_init__(self) -> None:
        machine = int.from_bytes(self.data[0x12:0x14], "little")
        if self.data[:5] != b"\x7fELF\x02" or machine != _CUDA:
            raise PtxError(f"no cubin: it starts with {self.data[:20]!r}, no CUDA ELF header")
        try:
            self.sections  # noqa: B018
        except (struct.error, IndexError, ValueError, OverflowError) as error:
            raise PtxError(f"a damaged cubin of {len(self.data)} bytes: {error}") from error

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        (table,) = struct.unpack_from("<Q", self.data, 0x28)
        entry_bytes, count, names_index = struct.unpack_from("<HHH", self.data, 0x3A)
        headers = [
            struct.unpack_from("<IIQQQQIIQQ", self.data, table + entry_bytes * index)
            for index in range(count)
        ]
        if not headers:
            return ()
        names = headers[names_index][4]
        return tuple(
            Section(
                _string(self.data, names + name),
                size,
                b"" if kind == _NOBITS else self.data[offset : offset + size],
                info,
            )
            for name, kind, _flags, _address, offset, size, _link, info, *_ in headers
        )

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    @cached_property
    def symbols(self) -> tuple[tuple[str, int, int], ...]:
        """By index: name, type and ``st_other``."""
        table, strings = self.section(".symtab"), self.section(".strtab")
        if table is None or strings is None:
            return ()
        return tuple(
            (_string(strings.data, name), info & 15, other)
            for name, info, other, *_ in struct.iter_unpack("<IBBHQQ", table.data)
        )

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        return tuple(n for n, kind, other in self.symbols if kind == _FUNCTION and other & _ENTRY)

    @cached_property
    def _note(self) -> str:
        """What the tool that made it left of itself: names, versions and options."""
        note = self.section(".note.nv.tkinfo")
        return note.data.decode("ascii", "replace") if note else ""

    @cached_property
    def made_by(self) -> tuple[str, tuple[str, ...]]:
        """The version of ptxas and its options but for the target, where the cubin tells."""
        version = re.search(r"\0ptxas\0[^\0]*\bV([\d.]+)\0[^\0]*\0([^\0]*)", self._note)
        if not version:
            return "", ()
        # The note writes -O3 as "-O 3".
        return version[1], tuple(_ARCH.sub("", version[2]).replace("-O ", "-O").split())

    @cached_property
    def target(self) -> str:
        """As ptxas was asked for it, ``"sm_90a"``, where the cubin tells; else without suffix."""
        asked = _ARCH.search(self._note)
        if asked:
            return asked[1]
        # e_flags: the second byte is the architecture, in cubins before CUDA 12.8 the first.
        flags = self.data[0x30:0x32]
        return f"sm_{flags[1] if self.data[8] >= 8 else flags[0]}"

    @cached_property
    def text(self) -> tuple[str, ...]:
        """The lines of PTX that `ptxas -lineinfo` left in the cubin; () where it was not asked."""
        section = self.section(".nv_debug_ptx_txt")
        if section is None:
            return ()
        return tuple(section.data.decode("ascii", "replace").removesuffix("\0").split("\0"))

    @cached_property
    def _attributes(self) -> dict[int, dict[str, int]]:
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for attribute, _, payload in self._info(".nv.info"):
            if attribute in (_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE) and len(payload) == 8:
                symbol, number = struct.unpack("<II", payload)
                found[attribute][self.symbols[symbol][0]] = number
        return found

    def _info(self, name: str) -> Iterator[tuple[int, int, bytes]]:
        """The attributes of a section: number, form and payload."""
        section = self.section(name)
        data, at = (section.data if section else b""), 0
        while at + 4 <= len(data):
            form, attribute, size = struct.unpack_from("<BBH", data, at)
            at += 4
            if form == _PAYLOAD:
                yield attribute, form, data[at : at + size]
                at += size
            else:  # the other forms end here: what would be a size is the value
                yield attribute, form, size.to_bytes(2, "little")

    def threads(self, kernel: str) -> int | None:
        """Of a CTA by `.reqntid`, else at most by `.maxntid`; None where it has neither."""
        extents = {
            attribute: math.prod(struct.unpack("<III", payload))
            for attribute, _, payload in self._info(f".nv.info.{kernel}")
            if attribute in (_MAX_THREADS, _REQNTID) and len(payload) == 12
        }
        return extents.get(_REQNTID, extents.get(_MAX_THREADS))

    def barriers(self, kernel: str) -> int | None:
        """Named barriers of a CTA; None where the cubin does not tell."""
        for attribute, form, payload in self._info(f".nv.info.{kernel}"):
            if (attribute, form) == (_NUM_BARRIERS, _VALUE_8):
                return payload[0]
        return None

    def registers(self, kernel: str) -> int:
        """Registers a thread."""
        return self._attributes[_REGCOUNT].get(kernel, 0)

    def frame_bytes(self, kernel: str) -> int:
        """Bytes of the kernel's own stack frame, a thread."""
        return self._attributes[_FRAME_SIZE].get(kernel, 0)

    def stack_bytes(self, kernel: str) -> int:
        """Bytes of stack with what is called from the kernel, a thread."""
        least = self._attributes[_MIN_STACK_SIZE].get(kernel, 0)
        return max(least, self.frame_bytes(kernel))

    def shared_bytes(self, kernel: str) -> int:
        """Bytes of static shared memory, a CTA, without what the system reserves for itself."""
        section = self.section(f".nv.shared.{kernel}")
        reserved = _RESERVED_BYTES if self.section(".nv.shared.reserved.0") else 0
        return max(0, section.size - reserved) if section else 0

    def constant_bytes(self, kernel: str) -> int:
        """Bytes of the constant banks of this kernel alone, its parameters' bank 0 included."""
        name = re.compile(r"\.nv\.constant\d+\." + re.escape(kernel))
        return sum(section.size for section in self.sections if name.fullmatch(section.name))


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()
