"""Write ``docs/fragments.md`` and the pictures of fragments beside it.

python tools/generate_fragments.py           write them
python tools/generate_fragments.py --check   exit 1 where they are not what the maps give now
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import generated

from ptx import pictures
from ptx.layouts import Fragment

DOCS = Path(__file__).resolve().parent.parent / "docs"
FOLDER = "fragments"

HEAD = """\
# Fragments

Which lane of a warp holds which element of a matrix. `T5:2` is the element 2 of lane 5, counted
through the lane's registers from the least significant bits of the first one; a colour is a group
of four lanes. Written by `tools/generate_fragments.py` from `ptx/layouts.py`;
`python -m ptx fragment m16n8k16 f16 a` draws one at the terminal, `--svg FILE` as a picture.

Those of `mma`, `mma.sp` and `ldmatrix` are as the manual has them (PTX ISA 9.0, section 9.7.14):
a chunk of a sparse A is the four neighbours of which two are kept, of tf32 two, of 4 bits eight;
a cell of its metadata is a chunk's index of four bits. Those of `wmma` are left open by the manual:
these are what ptxas 13.0 makes for sm_90, and an H200 loads all of them so
([performance.md](performance.md#mmasync-and-wmma)).
"""
SECTIONS: dict[str, list[tuple[Any, ...]]] = {
    "mma.sync, 16 bits (f16, bf16)": [
        *(("m16n8k16", "f16", one, "mma") for one in "ab"),
        *(("m16n8k8", "f16", one, "mma") for one in "ab"),
        *(("m8n8k4", "f16", one, "mma", by) for one in "ab" for by in ("row", "col")),
        *(("m8n8k4", type, "c", "mma") for type in ("f16", "f32")),
        *(("m16n8k16", type, "c", "mma") for type in ("f32", "f16")),
        *(("m16n8k8", type, "c", "mma") for type in ("f32", "f16")),
    ],
    "mma.sync, tf32": [
        *((shape, "tf32", one, "mma") for shape in ("m16n8k8", "m16n8k4") for one in "ab"),
        ("m16n8k4", "f32", "c", "mma"),
    ],
    "mma.sync, f64": [
        *(("m8n8k4", "f64", one, "mma") for one in "abc"),
        *(("m16n8k16", "f64", one, "mma") for one in "abc"),
        *((f"m16n8k{k}", "f64", one, "mma") for k in (4, 8) for one in "abc"),
    ],
    "mma.sync, 8 bits (s8, u8, e4m3, e5m2)": [
        *(("m16n8k32", "s8", one, "mma") for one in "ab"),
        *(("m16n8k16", "s8", one, "mma") for one in "ab"),
        *(("m8n8k16", "s8", one, "mma") for one in "ab"),
        *((shape, "s32", "c", "mma") for shape in ("m8n8k16", "m16n8k32")),
        ("m16n8k32", "f16", "c", "mma"),
    ],
    "mma.sync, 4 bits (s4, u4)": [
        *(("m16n8k64", "s4", one, "mma") for one in "ab"),
        *(("m16n8k32", "s4", one, "mma") for one in "ab"),
        *(("m8n8k32", "s4", one, "mma") for one in "ab"),
        *((shape, "s32", "c", "mma") for shape in ("m16n8k64", "m8n8k32")),
    ],
    "mma.sync, single bits": [
        *(("m16n8k256", "b1", one, "mma") for one in "ab"),
        *(("m16n8k128", "b1", one, "mma") for one in "ab"),
        *(("m8n8k128", "b1", one, "mma") for one in "ab"),
        *((shape, "s32", "c", "mma") for shape in ("m16n8k256", "m16n8k128", "m8n8k128")),
    ],
    "mma.sp: a sparse A, and its metadata by the chunks of each row": [
        (shape, type, operand, "mma", "", True, selector)
        for shape, type, selectors, operands in (
            ("m16n8k16", "f16", 4, "a"), ("m16n8k32", "f16", 2, "ab"), ("m16n8k8", "tf32", 4, "a"),
            ("m16n8k16", "tf32", 2, "ab"), ("m16n8k32", "s8", 2, "a"), ("m16n8k64", "s8", 1, "ab"),
            ("m16n8k64", "s4", 2, "a"), ("m16n8k128", "s4", 1, "ab"),
        )
        for operand, selector in (
            *((one, 0) for one in operands), *(("meta", i) for i in range(selectors))
        )
    ],
    "wmma": [
        *((shape, type, one, "wmma")
          for shape in ("m16n16k16", "m32n8k16", "m8n32k16")
          for type, operands in (
              ("f16", "abc"), ("bf16", "ab"), ("s8", "ab"), ("u8", "ab"), ("f32", "c"), ("s32", "c")
          )
          for one in operands),
        *(("m16n16k8", "tf32", one, "wmma") for one in "ab"), ("m16n16k8", "f32", "c", "wmma"),
        *(("m8n8k4", "f64", one, "wmma") for one in "abc"),
        *(("m8n8k32", type, one, "wmma") for type in ("s4", "u4") for one in "ab"),
        *(("m8n8k128", "b1", one, "wmma") for one in "ab"),
        *((shape, "s32", "c", "wmma") for shape in ("m8n8k32", "m8n8k128")),
    ],
    "wgmma": [("m64n8k16", "f32", "d", ""), ("m64n8k16", "f16", "a", "")],
    "ldmatrix, stmatrix": [("m8n8", "f16", "plain", ""), ("m8n8", "f16", "trans", "")],
}  # fmt: skip


def files() -> dict[str, str]:
    """The page and the pictures, by their names below ``docs``."""
    found: dict[str, str] = {}
    drawn: dict[Any, Fragment] = {}
    lines = [HEAD]
    for title, listed in SECTIONS.items():
        lines += [f"## {title}", ""]
        for one in listed:
            map = pictures.named(*one)
            lines += [f"### {map.name}", ""]
            # Equal maps, of the sums of other shapes and of other types, share a picture.
            first = drawn.setdefault((map.bits, map.places), map)
            name = f"{FOLDER}/{pictures.file_name(first)}.svg"
            if first is map:
                found[name] = pictures.svg(map)
            lines += [f"![{map.name}]({name})", ""]
            told = [pictures.text(map).partition("\n")[0]]
            if first is not map:
                told.append(f"The same as {first.name}.")
            lines += ["```", *told, "```", ""]
    found["fragments.md"] = "\n".join(lines).rstrip() + "\n"
    return found


def made() -> dict[Path, str | None]:
    """The files, and pictures of before that are no longer among them."""
    there = dict.fromkeys((DOCS / FOLDER).glob("*.svg"))
    return there | {DOCS / name: text for name, text in files().items()}


if __name__ == "__main__":
    sys.exit(generated.main(__doc__, made))
