"""Sparse products: what is kept, where its metadata lies, and what is multiplied then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptx
from ptx import layouts
from ptx.devices import Device
from ptx.fragments import Fragment, fragment, load_metadata, mma
from ptx.sparsity import TYPES, compress, prune
from tests.fragments.products import DTYPES, UNITS, stored, values

SHAPES: list[tuple[int, str, str, str]] = [
    (16, "f16", "f16", "f32"), (32, "f16", "f16", "f16"), (16, "bf16", "bf16", "f32"),
    (32, "bf16", "bf16", "f32"), (8, "tf32", "tf32", "f32"), (16, "tf32", "tf32", "f32"),
    (32, "s8", "u8", "s32"), (64, "s8", "s8", "s32"), (64, "s4", "u4", "s32"),
    (128, "u4", "u4", "s32"), (64, "e4m3", "e5m2", "f32"),
]  # fmt: skip
PRODUCTS = [
    (*shape, selector)
    for shape in SHAPES
    for selector in layouts.sparse_selectors(f"m16n8k{shape[0]}", layouts.ELEMENT_BITS[shape[1]])
]


def kernel(k: int, a_type: str, b_type: str, c_type: str, selector: int) -> tuple[ptx.Kernel, Any]:
    made = ptx.Kernel("sparse", a="global.b32", b="global.b32", c="global.b32", meta="global.b32")
    a_at, b_at, c_at, meta_at = made.params()
    parts: list[Fragment] = [
        fragment(made, "matrix_a", 16, 8, k, a_type, sparse=True),
        fragment(made, "matrix_b", 16, 8, k, b_type, sparse=True),
        fragment(made, "accumulator", 16, 8, k, c_type, sparse=True),
    ]
    a, b, c = parts
    a.load(a_at)
    b.load(b_at)
    c.fill(0)
    mma(c, a, b, c, metadata=load_metadata(made, meta_at), selector=selector)
    c.store(c_at)
    made.ret()
    return made, parts


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_a_holds_half_of_k(product: Any) -> None:
    made, (a, b, c) = kernel(*product)
    k, bits = product[0], a.map.bits
    assert (a.map.rows, a.map.columns) == (16, k // 2)
    assert len(a.registers) * 32 == 16 * k // 2 * bits // 32
    assert (b.map.rows, b.map.columns, c.map.columns) == (k, 8, 8)
    text = str(ptx.Module(made))
    assert f"mma.sp::ordered_metadata.sync.aligned.m16n8k{k}.row.col" in text
    assert f", {product[4]};" in text
    assert ptx.assemble(ptx.Module(made), "sm_90").registers > 0


@pytest.fixture(params=["emulator", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Device:
    return ptx.device(request.param)


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_a_sparse_product_is_that_of_the_whole_matrix(where: Device, product: Any) -> None:
    """Lanes whose metadata does not count hold that of another matrix."""
    multiply(where, product)


def multiply(where: Device, product: Any, seed: int = 0) -> Any:
    """Run a sparse product of random matrices; D, if it is right."""
    k, a_type, b_type, c_type, selector = product
    made, (a, _, _) = kernel(*product)
    random = np.random.default_rng(100 * seed + k + selector)
    whole = prune(values(random, (16, k), a_type, True), a_type)
    b = values(random, (k, 8), b_type, True)
    kept = compress(whole, a_type)
    shape = f"m16n8k{k}"
    words = kept.words(shape, selector)[0, 0]
    map = layouts.sparse_metadata(shape, a.map.bits, selector)
    words[[lane for lane in range(32) if not map.places[lane]]] = 0x44EE44EE
    out = where.empty((16, 8), DTYPES[c_type], poison=True)
    arguments = [
        where.array(stored(kept.values, a_type, "row")), where.array(stored(b, b_type, "col")),
        out, where.array(words),
    ]  # fmt: skip
    where.load(ptx.Module(made))["sparse"].launch(1, 32, arguments)
    got = out.numpy()
    wide = np.int64 if c_type == "s32" else np.float64
    exact = whole.astype(wide) @ b.astype(wide)
    if c_type == "s32":
        assert np.array_equal(got, exact)
        return got
    size = abs(whole.astype(np.float64)) @ abs(b.astype(np.float64))
    unit = 2.0**-11 if a_type == "e4m3" else UNITS[c_type]
    assert (abs(got.astype(np.float64) - exact) <= unit * size).all()
    return got


def test_what_a_sparse_product_needs() -> None:
    made = ptx.Kernel("k")
    a = fragment(made, "matrix_a", 16, 8, 32, "f16", sparse=True)
    b = fragment(made, "matrix_b", 16, 8, 32, "f16", sparse=True)
    c = fragment(made, "accumulator", 16, 8, 32, "f32", sparse=True)
    with pytest.raises(ptx.PtxError, match="a sparse A needs its metadata"):
        mma(c, a, b, c)
    with pytest.raises(ptx.PtxError, match="selector is 2; for sparse matrix_a of mma .* 0 or 1"):
        mma(c, a, b, c, metadata=made.mov.b32(0), selector=2)
    with pytest.raises(ptx.PtxError, match="no sparse matrix_a of .f64 in m16n8k16"):
        fragment(made, "matrix_a", 16, 8, 16, "f64", sparse=True)


# ---------------------------------------------------------------- where metadata lies


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_each_chunk_is_told_of_once_and_by_the_selected_lanes(product: Any) -> None:
    """The manual's lists of threads: one of four, a pair, or all (PTX ISA 9.7.14.6.1)."""
    k, type, selector = product[0], product[1], product[4]
    bits = layouts.ELEMENT_BITS[type]
    map = layouts.sparse_metadata(f"m16n8k{k}", bits, selector)
    chunk = {"tf32": 2, "s4": 8, "u4": 8}.get(type, 4)
    assert set(map.holders) == {(r, c) for r in range(16) for c in range(k // chunk)}
    assert all(len(holders) == 1 for holders in map.holders.values())
    lanes = {lane % 4 for lane in range(32) if map.places[lane]}
    selected = {16: 1, 32: 2, 64: 4} if bits >= 16 else {32: 2, 64: 4, 128: 4}
    few = selected[k if type not in ("tf32", "s4", "u4") else k * 2 if type == "tf32" else k // 2]
    assert lanes == set(range(selector * few, selector * few + few))


def test_metadata_of_16_bits_as_a_published_kernel_loads_it() -> None:
    """m16n8k32: lane 4q + p has 16 columns from 16 p on, of row q below and of row q + 8 above."""
    random = np.random.default_rng(0)
    codes = np.array([0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110])
    indices = codes[random.integers(0, 6, (16, 8))]
    kept = compress(prune(random.standard_normal((16, 32)), "f16"), "f16")
    words = type(kept)("f16", kept.values, indices.astype(np.uint8)).words("m16n8k32")[0, 0]
    halves = sum(indices.reshape(16, 2, 4)[:, :, i] << 4 * i for i in range(4))
    for lane in range(32):
        row, half = divmod(lane, 4)
        wanted = halves[row, half] | halves[row + 8, half] << 16 if half < 2 else 0
        assert words[lane] == wanted


@pytest.mark.parametrize("type", TYPES)
def test_what_is_kept_makes_the_matrix_again(type: str) -> None:
    random = np.random.default_rng(1)
    given = values(random, (32, 128), type, True)
    sparse = prune(given, type)
    sparse[3] = 0
    sparse[4, 1:] = 0
    kept = compress(sparse, type)
    assert kept.values.shape == (32, 64)
    assert np.array_equal(kept.dense(), sparse)
    meaningful = (4, 14) if type == "tf32" else (4, 8, 9, 12, 13, 14)
    assert set(kept.indices.ravel()) <= set(meaningful)
    assert (np.count_nonzero(sparse[:3], axis=1) <= 64).all()


def test_the_larger_half_is_kept_by_hand() -> None:
    row = np.array([[3.0, -5, 1, 4, 0, 0, 0, 7]])
    kept = compress(prune(row, "f16"), "f16")
    assert kept.values.tolist() == [[-5, 4, 0, 7]]
    assert kept.indices.tolist() == [[0b1101, 0b1100]]
    ones = compress(prune(row, "tf32"), "tf32")
    assert ones.values.tolist() == [[-5, 4, 0, 7]]
    assert ones.indices.tolist() == [[0b1110, 0b1110, 0b0100, 0b1110]]
    pairs = compress(prune(np.array([[1, 1, 0, 5, -4, -4, 2, 2]]), "s4"), "s4")
    assert pairs.values.tolist() == [[0, 5, -4, -4]]
    assert pairs.indices.tolist() == [[0b1001]]


@pytest.mark.parametrize(
    ("matrix", "type", "message"),
    [
        (np.ones((2, 8)), "f16", "columns 0 to 3 of row 0 have more than 2 elements that are not"),
        (np.eye(8), "f64", "mma.sp takes no .f64; expected one of f16, bf16"),
        (np.ones((2, 6)), "f16", "a K that is a multiple of 4, got shape \\(2, 6\\)"),
        ([[1, 0, 1, 0, 1, 0, 0, 0]], "s4", "more than 4 elements in pairs that are not 0"),
    ],
)
def test_what_cannot_be_compressed(matrix: Any, type: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compress(matrix, type)


def test_words_of_whole_products_only() -> None:
    kept = compress(np.zeros((16, 48)), "f16")
    assert kept.words("m16n8k16", 3).shape == (1, 3, 32)
    with pytest.raises(ValueError, match="16 x 12 chunks are no multiple of 16 x 8, which one m16"):
        kept.words("m16n8k32")
    with pytest.raises(ValueError, match="selector is 4; m16n8k16 has 0, 1, 2, 3"):
        kept.words("m16n8k16", 4)
