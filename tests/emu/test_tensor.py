"""Matrix instructions of a warp against numpy: where elements lie, and what their product is."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory
from ptx.layouts import mma_fragment, shape_of
from tests.emu.harness import fault, outputs, run

AT = "ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %i, 4, %rd0;\n"
KINDS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
    "s32": np.int32,
}


def spread(matrix: np.ndarray[Any, Any], shape: str, operand: str) -> np.ndarray[Any, Any]:
    """A matrix as the registers of a warp, (32, registers) of 32 or 64 bits."""
    fragment = mma_fragment(shape, operand, matrix.dtype.itemsize * 8)
    held = np.array([[matrix[place] for place in lane] for lane in fragment.places], matrix.dtype)
    return held.view(np.uint64 if matrix.dtype.itemsize == 8 else np.uint32)


def gather(registers: np.ndarray[Any, Any], shape: str, kind: Any) -> np.ndarray[Any, Any]:
    m, n, _ = shape_of(shape)
    held = registers.view(kind)
    fragment = mma_fragment(shape, "c", held.dtype.itemsize * 8)
    matrix = np.zeros((m, n), kind)
    for lane, places in enumerate(fragment.places):
        for element, place in enumerate(places):
            matrix[place] = held[lane, element]
    return matrix


def mma(op: str, shape: str, a: Any, b: Any, c: Any) -> np.ndarray[Any, Any]:
    """One warp multiplies; the result as a matrix of c's type."""
    memory = Memory()
    wide = c.dtype.itemsize == 8
    size, letter, bits = (8, "fd", "b64") if wide else (4, "r", "b32")
    parts = [spread(a, shape, "a"), spread(b, shape, "b"), spread(c, shape, "c")]
    addresses = []
    lines, names = [], []
    count = 0
    for number, part in enumerate(parts):
        address = memory.allocate(part.nbytes)
        memory.write(address, part)
        addresses.append(address)
        lines.append(f"ld.param.u64 %rd0, [p{number}];")
        lines.append(f"mad.wide.u32 %rd0, %i, {part.shape[1] * size}, %rd0;")
        own = []
        for register in range(part.shape[1]):
            lines.append(f"ld.global.{bits} %x{count}, [%rd0+{register * size}];")
            own.append(f"%x{count}")
            count += 1
        names.append("{" + ", ".join(own) + "}")
    kinds = op.split(".")
    lines = [f".reg .{'f64' if wide else 'b32'} %x<{count}>;", *lines]
    d = names[2]
    if kinds[-1] == "f32" or kinds[-4:-3] == ["f32"]:
        # c and d are registers of type f32.
        lines[0] = f".reg .b32 %x<{count - parts[2].shape[1]}>; .reg .f32 %y<{parts[2].shape[1]}>;"
        first = count - parts[2].shape[1]
        for n in range(parts[2].shape[1]):
            lines = [line.replace(f"%x{first + n},", f"%y{n},") for line in lines]
        d = "{" + ", ".join(f"%y{n}" for n in range(parts[2].shape[1])) + "}"
    lines.append(f"{op} {d}, {names[0]}, {names[1]}, {d};")
    out = memory.allocate(parts[2].nbytes)
    lines.append("ld.param.u64 %rd0, [p3];")
    lines.append(f"mad.wide.u32 %rd0, %i, {parts[2].shape[1] * size}, %rd0;")
    for n, name in enumerate(d.strip("{}").split(", ")):
        lines.append(f"st.global.{bits} [%rd0+{n * size}], {name};")
    run(lines, [*addresses, out], memory=memory, block=32)
    registers = memory.read(out, parts[2].nbytes).view(parts[2].dtype).reshape(32, -1)
    return gather(registers, shape, c.dtype)


FLOAT_CASES = [
    ("m16n8k8", "f16", "f32"), ("m16n8k16", "f16", "f32"), ("m16n8k16", "f16", "f16"),
    ("m16n8k8", "bf16", "f32"), ("m16n8k16", "bf16", "f32"), ("m16n8k4", "tf32", "f32"),
    ("m16n8k8", "tf32", "f32"), ("m16n8k32", "e4m3", "f32"), ("m16n8k32", "e5m2", "f32"),
    ("m8n8k4", "f64", "f64"), ("m16n8k8", "f64", "f64"), ("m16n8k16", "f64", "f64"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "type", "result"), FLOAT_CASES)
def test_small_integers_multiply_exactly(shape: str, type: str, result: str) -> None:
    m, n, k = shape_of(shape)
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (m, k)).astype(KINDS[type])
    b = rng.integers(-4, 5, (k, n)).astype(KINDS[type])
    c = rng.integers(-9, 10, (m, n)).astype(KINDS[result])
    got = mma(f"mma.sync.aligned.{shape}.row.col.{result}.{type}.{type}.{result}", shape, a, b, c)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    assert np.array_equal(got.astype(np.float64), exact)


@pytest.mark.parametrize("shape", ["m8n8k16", "m16n8k16", "m16n8k32"])
@pytest.mark.parametrize(("a_type", "b_type"), [("s8", "s8"), ("u8", "s8"), ("u8", "u8")])
def test_integer_products_wrap_or_saturate(shape: str, a_type: str, b_type: str) -> None:
    m, n, k = shape_of(shape)
    rng = np.random.default_rng(2)
    a = rng.integers(0, 256, (m, k)).astype(np.uint8).view(KINDS[a_type])
    b = rng.integers(0, 256, (k, n)).astype(np.uint8).view(KINDS[b_type])
    c = rng.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
    c[0], c[1] = 2**31 - 1, -(2**31)
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    for word in ("", ".satfinite"):
        op = f"mma.sync.aligned.{shape}.row.col{word}.s32.{a_type}.{b_type}.s32"
        got = mma(op, shape, a, b, c)
        wanted = np.clip(exact, -(2**31), 2**31 - 1) if word else exact.astype(np.uint32)
        assert np.array_equal(got.view(np.uint32), wanted.astype(np.uint32)), op


@pytest.mark.parametrize(("shape", "type", "result"), FLOAT_CASES)
def test_random_products_are_near(shape: str, type: str, result: str) -> None:
    m, n, k = shape_of(shape)
    rng = np.random.default_rng(3)
    a = rng.standard_normal((m, k)).astype(KINDS[type])
    b = rng.standard_normal((k, n)).astype(KINDS[type])
    c = rng.standard_normal((m, n)).astype(KINDS[result])
    got = mma(f"mma.sync.aligned.{shape}.row.col.{result}.{type}.{type}.{result}", shape, a, b, c)
    left, right = a.astype(np.float64), b.astype(np.float64)
    if type == "tf32":
        cut = np.uint32(0xFFFFE000)
        left = (a.view(np.uint32) & cut).view(np.float32).astype(np.float64)
        right = (b.view(np.uint32) & cut).view(np.float32).astype(np.float64)
    exact = left @ right + c.astype(np.float64)
    size = np.abs(left) @ np.abs(right) + np.abs(c.astype(np.float64))
    unit = {"f32": 2.0**-22, "f16": 2.0**-10, "f64": 2.0**-51}[result]
    if type in ("e4m3", "e5m2"):
        unit = 2.0**-11
    assert np.all(np.abs(got.astype(np.float64) - exact) <= unit * size)


def test_a37_accumulator_fragment() -> None:
    """lane = 4 g + t, register j: row g + 8 (j >> 1), column 2 t + (j & 1), all 128 distinct."""
    fragment = mma_fragment("m16n8k16", "c", 32)
    assert fragment.places[5][2] == (9, 2)
    assert len({place for lane in fragment.places for place in lane}) == 128


def test_a35_a_fragment_rows() -> None:
    """Rows 0-7 of A are 1 and rows 8-15 are 2; with B of ones D has rows of 16 and 32."""
    a = np.ones((16, 16), np.float16)
    a[8:] = 2
    got = mma(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "m16n8k16",
        a,
        np.ones((16, 8), np.float16),
        np.zeros((16, 8), np.float32),
    )
    assert np.all(got[:8] == 16) and np.all(got[8:] == 32)


TILE = """
.shared .align 16 .b8 tile[512];
mov.u32 %r0, tile; shl.b32 %r1, %j, 4; add.u32 %r1, %r1, %r0;
shl.b32 %r2, %j, 3;
mad.lo.u32 %r4, %r2, 0x00010001, 0x00010000; add.u32 %r5, %r4, 0x00020002;
add.u32 %r6, %r5, 0x00020002; add.u32 %r7, %r6, 0x00020002;
st.shared.v4.u32 [%r1], {%r4, %r5, %r6, %r7};
bar.warp.sync 0xFFFFFFFF;
"""
"""32 rows of eight 16-bit elements, numbered from 0."""


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix(trans: str) -> None:
    found = outputs(
        TILE
        + f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r8, %r9, %r10, %r11}}, [%r1];\n"
        + "ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %i, 16, %rd0;\n"
        + "st.global.v4.u32 [%rd1], {%r8, %r9, %r10, %r11};",
        128,
    )
    halves = found.view(np.uint16).reshape(32, 4, 2)
    for lane in range(32):
        for matrix in range(4):
            for i in range(2):
                row, column = lane // 4, lane % 4 * 2 + i
                if trans:
                    row, column = column, row
                assert halves[lane, matrix, i] == 64 * matrix + 8 * row + column


def test_stmatrix_puts_back_what_ldmatrix_took() -> None:
    found = outputs(
        TILE
        + """
        .shared .align 16 .b8 other[256];
        mov.u32 %r12, other; and.b32 %r13, %j, 15; shl.b32 %r13, %r13, 4;
        add.u32 %r12, %r12, %r13;
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r8, %r9}, [%r1];
        movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r8;
        movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r9;
        stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r12], {%r8, %r9};
        bar.warp.sync 0xFFFFFFFF;
        mov.u32 %r12, other; shl.b32 %r13, %j, 3; add.u32 %r12, %r12, %r13;
        ld.shared.v2.u32 {%r4, %r5}, [%r12];
        ld.param.u64 %rd0, [p0]; mad.wide.u32 %rd1, %i, 8, %rd0;
        st.global.v2.u32 [%rd1], {%r4, %r5};
        """,
        64,
    )
    assert list(found.view(np.uint16)) == list(range(128))


def test_a38_unused_lanes_of_ldmatrix() -> None:
    """Their addresses matter up to sm_75 only."""
    text = (
        TILE
        + """
    setp.ge.u32 %p0, %j, 16;
    @%p0 mov.u32 %r1, 1;
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r8, %r9}, [%r1];
    """
    )
    run(text, block=32)
    with pytest.raises(EmulatorFault) as caught:
        run(text, block=32, target="sm_75")
    assert caught.value.kind == "misaligned"
    assert caught.value.thread == (16, 0, 0)


def test_a_row_must_lie_on_16_bytes() -> None:
    error = fault(
        TILE + "add.u32 %r1, %r1, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r1];",
        block=32,
    )
    assert error.kind == "misaligned"


def test_half_a_warp_cannot_multiply() -> None:
    error = fault(TILE + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r1];", block=16)
    assert error.kind == "mask"
    assert "a warp of 16 threads" in str(error)


@pytest.mark.parametrize(
    ("shape", "a_layout", "b_layout", "type", "result"),
    [
        ("m16n16k16", "row", "col", "f16", "f32"),
        ("m16n16k16", "col", "row", "f16", "f16"),
        ("m32n8k16", "row", "row", "bf16", "f32"),
        ("m8n32k16", "row", "col", "s8", "s32"),
        ("m16n16k8", "row", "row", "tf32", "f32"),
        ("m8n8k4", "row", "col", "f64", "f64"),
    ],
)
def test_wmma(shape: str, a_layout: str, b_layout: str, type: str, result: str) -> None:
    m, n, k = shape_of(shape)
    rng = np.random.default_rng(4)
    a = rng.integers(-4, 5, (m, k)).astype(KINDS[type])
    b = rng.integers(-4, 5, (k, n)).astype(KINDS[type])
    c = rng.integers(-4, 5, (m, n)).astype(KINDS[result])
    memory = Memory()

    def put(matrix: np.ndarray[Any, Any], layout: str) -> tuple[int, int]:
        stored = np.ascontiguousarray(matrix if layout == "row" else matrix.T)
        address = memory.allocate(stored.nbytes)
        memory.write(address, stored)
        return address, stored.shape[1]

    (at_a, lda), (at_b, ldb), (at_c, ldc) = put(a, a_layout), put(b, b_layout), put(c, "col")
    at_d = memory.allocate(c.nbytes)
    per = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "f64": 1}[type]
    twice = 2 if type == "f16" else 1
    held = "f64" if type == "f64" else "b32"
    counts = [twice * m * k // 32 // per, twice * k * n // 32 // per]
    if type == "f16":
        counts = [8, 8]
    out = {"f16": ("b32", m * n // 64), "f32": ("f32", m * n // 32), "s32": ("b32", m * n // 32)}
    out_type, out_count = out.get(result, ("f64", m * n // 32))
    names = [
        "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"
        for letter, count in zip("uvw", [*counts, out_count], strict=True)
    ]
    mma_types = f"{result}.{result}" if type == "f16" else f"{result}.{type}.{type}.{result}"
    run(
        f"""
        .reg .{held} %u<{counts[0]}>, %v<{counts[1]}>; .reg .{out_type} %w<{out_count}>;
        ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
        ld.param.u64 %rd2, [p2]; ld.param.u64 %rd3, [p3];
        mov.u32 %r0, {lda}; mov.u32 %r1, {ldb}; mov.u32 %r2, {ldc};
        wmma.load.a.sync.aligned.{a_layout}.{shape}.global.{type} {names[0]}, [%rd0], %r0;
        wmma.load.b.sync.aligned.{b_layout}.{shape}.global.{type} {names[1]}, [%rd1], %r1;
        wmma.load.c.sync.aligned.col.{shape}.global.{result} {names[2]}, [%rd2], %r2;
        wmma.mma.sync.aligned.{a_layout}.{b_layout}.{shape}.{mma_types}
            {names[2]}, {names[0]}, {names[1]}, {names[2]};
        wmma.store.d.sync.aligned.row.{shape}.global.{result} [%rd3], {names[2]};
        """,
        [at_a, at_b, at_c, at_d],
        memory=memory,
        block=32,
    )  # fmt: skip
    got = memory.read(at_d, c.nbytes).view(c.dtype).reshape(m, n)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    assert np.array_equal(got.astype(np.float64), exact)
