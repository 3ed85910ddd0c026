"""The seed's four tables of wmma, and the shapes of mma.sync, as products to run."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from tests.fragments.products import Product

SEED = """
f16 f16 f32 16x16x16   f16 f16 f32 32x8x16   f16 f16 f32 8x32x16
f16 f16 f16 16x16x16   f16 f16 f16 32x8x16   f16 f16 f16 8x32x16
u8 u8 s32 16x16x16     u8 u8 s32 32x8x16     u8 u8 s32 8x32x16
s8 s8 s32 16x16x16     s8 s8 s32 32x8x16     s8 s8 s32 8x32x16
bf16 bf16 f32 16x16x16 bf16 bf16 f32 32x8x16 bf16 bf16 f32 8x32x16
tf32 tf32 f32 16x16x8
f64 f64 f64 8x8x4
u4 u4 s32 8x8x32
s4 s4 s32 8x8x32
b1 b1 s32 8x8x128
"""
"""The rows of the four tables of combinations in the C++ interface, as they stand there."""
BOTH = ("row", "col")
SQUARES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))


def seed_rows() -> list[tuple[str, str, str, int, int, int]]:
    """A, B, accumulator, m, n and k of each row."""
    words = SEED.split()
    return [
        (a, b, c, *(int(one) for one in shape.split("x")))  # type: ignore[misc]
        for a, b, c, shape in zip(*[iter(words)] * 4, strict=True)
    ]


def _wmma() -> list[Product]:
    found = []
    rows = [(m, n, k, type, c, d)
            for type, sums in (("f16", "f32 f16"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32"))
            for m, n, k in SQUARES
            for c in sums.split() for d in sums.split()]  # fmt: skip
    rows += [(16, 16, 8, "tf32", "f32", "f32"), (8, 8, 4, "f64", "f64", "f64")]
    for m, n, k, type, c, d in rows:
        for a_layout, b_layout in product(BOTH, BOTH):
            by = "row" if a_layout == b_layout else "col"
            found.append(Product(m, n, k, type, type, c, d, (a_layout, b_layout, by)))
    for type in ("s4", "u4"):
        found += [Product(8, 8, 32, type, type, "s32", "s32", ("row", "col", by)) for by in BOTH]
    for op in ("xor", "and"):
        found += [
            Product(8, 8, 128, "b1", "b1", "s32", "s32", ("row", "col", by), op=op) for by in BOTH
        ]
    return found


def _mma() -> list[Product]:
    found = []
    shapes = {
        ("f16", "f16", "f16"): "m16n8k8 m16n8k16", ("f16", "f16", "f32"): "m16n8k8 m16n8k16",
        ("bf16", "bf16", "f32"): "m16n8k8 m16n8k16", ("tf32", "tf32", "f32"): "m16n8k4 m16n8k8",
        ("f64", "f64", "f64"): "m8n8k4 m16n8k4 m16n8k8 m16n8k16",
        **{(a, b, "s32"): "m8n8k16 m16n8k16 m16n8k32" for a in ("s8", "u8") for b in ("s8", "u8")},
        **{(a, b, "s32"): "m8n8k32 m16n8k32 m16n8k64" for a in ("s4", "u4") for b in ("s4", "u4")},
        ("b1", "b1", "s32"): "m8n8k128 m16n8k128 m16n8k256",
        **{(a, b, "f32"): "m16n8k16 m16n8k32" for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")},
        ("e4m3", "e5m2", "f16"): "m16n8k16 m16n8k32",
    }  # fmt: skip
    for (a, b, c), listed in shapes.items():
        for shape in listed.split():
            m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
            one = Product(m, n, k, a, b, c, c, ("row", "col", "row"), "mma")
            found.append(one)
            if a == "b1":
                found.append(replace(one, op="and"))
            elif a not in ("s4", "u4"):
                found.append(replace(one, layouts=("col", "row", "col")))
            if a != "f64" and m == 16:
                found.append(replace(one, how="ldmatrix", space="shared"))
            if a in ("f16", "bf16"):
                turned = ("col", "row", "row")
                found.append(replace(one, layouts=turned, how="ldmatrix", space="shared"))
            if c == "s32" and a != "b1":
                found.append(replace(one, satfinite=True))
    return found


def _volta() -> list[Product]:
    """The m8n8k4 of f16, whose quad pairs compute a product each, here all the same one."""
    sums = [("f32", "f32"), ("f16", "f16"), ("f16", "f32")]
    return [
        Product(8, 8, 4, "f16", "f16", c, d, (*layouts, by), "mma")
        for layouts in product(BOTH, BOTH)
        for c, d in (sums if layouts == ("row", "col") else sums[:2])
        for by in (BOTH if c == d == "f32" else ("row",))
    ]


WMMA = _wmma()
MMA = [*_mma(), *_volta()]
