"""mov, with packing and unpacking of vectors (PTX ISA 9.0, section 9.7.9.3)."""

from __future__ import annotations

from ptx.emu.semantics.rules import Array, Meaning, Words, rule


@rule("mov")
def move(words: Words) -> Meaning:
    type = words.type
    if count := {"v2": 2, "v4": 4}.get(words.one_of("v2 v4")):
        return Meaning(lambda *a: a, (type,) * count, (type,) * count)
    return Meaning(lambda a: a, (type,), (type,), lambda out, a: _copy(out, a))


def _copy(out: Array, a: Array) -> None:
    out[...] = a
