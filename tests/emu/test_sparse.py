"""Sparse and block-scaled products against dense ones in float64.

Fragments and metadata are laid out by the manual's formulas for each lane.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ptx.emu import EmulatorFault, Memory
from ptx.layouts import MatrixDescriptor
from tests.emu.harness import run

LANES = range(32)
KINDS: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8,
    "u8": np.uint8,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn,
    "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
}  # fmt: skip
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s4": 4, "u4": 4}


@dataclass(frozen=True)
class Case:
    k: int
    a: str
    b: str
    d: str
    selector: int = 0
    kind: str = ""

    @property
    def bits(self) -> int:
        packed = self.kind in ("mxf4", "mxf4nvf4")
        return 4 if packed else BITS.get(self.a, 8)

    @property
    def chunk(self) -> int:
        """Columns of one chunk of metadata."""
        return {32: 2, 16: 4, 8: 4, 4: 8}[self.bits]


def encoded(values: Any, type: str, bits: int) -> list[int]:
    """The bits of each element; in a byte the four bits of e2m1 lie in the middle."""
    if type in ("s4", "u4"):
        return [int(v) & 15 for v in values]
    array = np.array(values).astype(KINDS[type])
    codes = array.view(f"u{array.itemsize}").tolist()
    return [c << 2 for c in codes] if type == "e2m1" and bits == 8 else codes


def packed(elements: list[int], bits: int) -> list[int]:
    """Elements in 32-bit registers, the first lowest."""
    per = 32 // bits
    return [
        sum(code << bits * n for n, code in enumerate(elements[at : at + per]))
        for at in range(0, len(elements), per)
    ]


def values_of(type: str, shape: tuple[int, ...], rng: Any) -> Any:
    """Small numbers that every type has, sums of which are exact."""
    if type in ("u8", "u4"):
        return rng.integers(0, 8, shape).astype(float)
    if type == "e2m1":
        return rng.choice([-6.0, -4, -3, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3, 4], shape)
    return rng.integers(-4, 5, shape).astype(float)


# ---------------------------------------------------------------- A, its metadata and B by lanes


def sparse_matrix(case: Case, rng: Any, ordered: bool) -> tuple[Any, Any, Any]:
    """A whole (16, k) matrix, its nibbles (16, chunks) and what is kept of it (16, k / 2)."""
    dense = np.zeros((16, case.k))
    nibbles = np.zeros((16, case.k // case.chunk), int)
    kept = values_of(case.a, (16, case.k // 2), rng)
    each = case.chunk // 2
    for row, chunk in itertools.product(range(16), range(nibbles.shape[1])):
        start, some = chunk * case.chunk, kept[row, chunk * each : (chunk + 1) * each]
        if case.bits == 32:
            place = int(rng.integers(2))
            nibbles[row, chunk] = (0b0100, 0b1110)[place]
            dense[row, start + place] = some[0]
            continue
        first, second = rng.choice(4, 2, replace=False).tolist()
        if ordered:
            first, second = min(first, second), max(first, second)
        nibbles[row, chunk] = first | second << 2
        width = case.chunk // 4
        for part, place in enumerate((first, second)):
            at = start + place * width
            dense[row, at : at + width] = some[part * width : (part + 1) * width]
    return dense, nibbles, kept


def metadata(case: Case, nibbles: Any) -> list[int]:
    """The register of each lane; those that the selector leaves out hold rubbish."""
    rows = [sum(int(n) << 4 * at for at, n in enumerate(row)) for row in nibbles]
    wide = 4 * nibbles.shape[1]
    found = []
    for lane in LANES:
        g, t = lane // 4, lane % 4
        value = 0xDEADBEEF
        if wide == 16 and t == case.selector:
            value = rows[g] | rows[g + 8] << 16
        elif wide == 32 and t // 2 == case.selector:
            if case.bits >= 16:
                half = 16 * (t % 2)
                value = (rows[g] >> half & 0xFFFF) | (rows[g + 8] >> half & 0xFFFF) << 16
            else:
                value = rows[g + 8 * (t % 2)]
        elif wide == 64:
            value = rows[g + 8 * (t % 2)] >> 32 * (t // 2) & 0xFFFFFFFF
        found.append(value)
    return found


def a_registers(case: Case, kept: Any) -> list[list[int]]:
    """Each register holds the elements kept of `wide` columns, from 4 lanes' start on."""
    per = 32 // case.bits
    found = []
    for lane in LANES:
        g, t = lane // 4, lane % 4
        registers = []
        for block in range(kept.shape[1] // (4 * per)):
            for row in (g, g + 8):
                first = block * 4 * per + t * per
                some = encoded(kept[row, first : first + per], case.a, case.bits)
                registers += packed(some, case.bits)
        found.append(registers)
    return found


def b_registers(case: Case, b: Any, bits: int) -> list[list[int]]:
    per = 32 // bits
    found = []
    for lane in LANES:
        g, t = lane // 4, lane % 4
        registers = []
        for start in range(0, len(b), 4 * per):
            rows = b[start + t * per : start + (t + 1) * per, g]
            registers += packed(encoded(rows, case.b, bits), bits)
        found.append(registers)
    return found


def execute(op: str, operands: list[list[list[int]]], result: str, form: str) -> Any:
    """Run one instruction of a warp; operands by lanes and registers; the (16, 8) result."""
    memory = Memory()
    lines, parameters, names = [], [], []
    for number, rows in enumerate(operands):
        data = np.array(rows, np.uint32)
        address = memory.allocate(data.nbytes)
        memory.write(address, data)
        parameters.append(address)
        count = data.shape[1]
        lines.append(f".reg .b32 %o{number}_<{count}>; ld.param.u64 %rd0, [p{number}];")
        lines.append(f"mad.wide.u32 %rd1, %j, {4 * count}, %rd0;")
        lines += [f"ld.global.b32 %o{number}_{n}, [%rd1+{4 * n}];" for n in range(count)]
        names.append(", ".join(f"%o{number}_{n}" for n in range(count)))
    registers = 2 if result == "f16" else 4
    out = memory.allocate(4 * 32 * registers)
    d = ", ".join(f"%d{n}" for n in range(registers))
    lines.append(f".reg .b32 %d<{registers}>; ld.param.u64 %rd0, [p{len(operands)}];")
    lines.append(f"mad.wide.u32 %rd1, %j, {4 * registers}, %rd0;")
    lines.append(f"{op} {{{d}}}, {form.format(*names)};")
    lines += [f"st.global.b32 [%rd1+{4 * n}], %d{n};" for n in range(registers)]
    run(lines, [*parameters, out], memory, block=32, target="sm_120a")
    kind = {"f16": np.float16, "f32": np.float32, "s32": np.int32}[result]
    held = memory.read(out, 4 * 32 * registers).view(kind).reshape(32, 4)
    matrix = np.zeros((16, 8), kind)
    for lane, i in itertools.product(LANES, range(4)):
        matrix[lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2] = held[lane, i]
    return matrix


def c_registers(c: Any, result: str) -> list[list[int]]:
    found = []
    for lane in LANES:
        g, t = lane // 4, lane % 4
        four = [c[row, 2 * t + n] for row in (g, g + 8) for n in range(2)]
        if result == "f16":
            found.append(packed(encoded(four, "f16", 16), 16))
        else:
            kind = np.float32 if result == "f32" else np.int32
            found.append(np.array(four).astype(kind).view(np.uint32).tolist())
    return found


CASES = [
    Case(16, "f16", "f16", "f32", 0), Case(16, "f16", "f16", "f16", 3),
    Case(16, "bf16", "bf16", "f32", 2), Case(32, "f16", "f16", "f32", 1),
    Case(32, "f16", "f16", "f16", 0), Case(32, "bf16", "bf16", "f32", 1),
    Case(8, "tf32", "tf32", "f32", 3), Case(16, "tf32", "tf32", "f32", 1),
    Case(16, "tf32", "tf32", "f32", 0),
    Case(32, "u8", "s8", "s32", 1), Case(32, "s8", "s8", "s32", 0), Case(64, "s8", "u8", "s32"),
    Case(64, "u4", "s4", "s32", 1), Case(64, "s4", "s4", "s32", 0), Case(128, "s4", "u4", "s32"),
    Case(64, "e4m3", "e5m2", "f32"), Case(64, "e5m2", "e4m3", "f16"),
    Case(64, "e3m2", "e2m1", "f32", kind="f8f6f4"), Case(64, "e2m1", "e2m3", "f16", kind="f8f6f4"),
]  # fmt: skip


def spelled(case: Case, ordered: bool) -> str:
    variant = "sp::ordered_metadata" if ordered else "sp"
    kind = f".kind::{case.kind}" if case.kind else ""
    types = f"{case.d}.{case.a}.{case.b}.{case.d}"
    return f"mma.{variant}.sync.aligned.m16n8k{case.k}.row.col{kind}.{types}"


VECTORS = "{{{0}}}, {{{1}}}, {{{2}}}"
"""A, B and C."""


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sparse_product_is_the_dense_one(case: Case, ordered: bool) -> None:
    if not ordered and (case.kind or (case.d, case.k) == ("f16", 64)):
        pytest.skip("these have ordered metadata alone")
    rng = np.random.default_rng(case.k + case.selector)
    dense, nibbles, kept = sparse_matrix(case, rng, ordered)
    b, c = values_of(case.b, (case.k, 8), rng), values_of("s8", (16, 8), rng)
    op = spelled(case, ordered)
    operands = [
        a_registers(case, kept),
        b_registers(case, b, case.bits),
        c_registers(c, case.d),
        [[m] for m in metadata(case, nibbles)],
    ]
    form = f"{VECTORS}, {{3}}, {case.selector}"
    got = execute(op, operands, case.d, form)
    assert np.array_equal(got.astype(float), dense @ b + c)


@pytest.mark.parametrize(
    ("case", "nibble", "ordered"),
    [(CASES[0], 0b0101, False), (CASES[3], 0b0001, True), (CASES[6], 0b0001, False)],
)
def test_metadata_that_names_no_places(case: Case, nibble: int, ordered: bool) -> None:
    rng = np.random.default_rng(1)
    _, nibbles, kept = sparse_matrix(case, rng, True)
    nibbles[9, 2] = nibble
    b, c = values_of(case.b, (case.k, 8), rng), np.zeros((16, 8))
    op = spelled(case, ordered)
    operands = [a_registers(case, kept), b_registers(case, b, case.bits), c_registers(c, case.d),
                [[m] for m in metadata(case, nibbles)]]  # fmt: skip
    form = f"{VECTORS}, {{3}}, {case.selector}"
    with pytest.raises(EmulatorFault, match=f"chunk 2 of row 9 of A is {nibble:#06b}") as caught:
        execute(op, operands, case.d, form)
    assert caught.value.kind == "descriptor"
    assert caught.value.thread == (4, 0, 0)


# ---------------------------------------------------------------- block scaling

SCALED = [
    # kind, scale_vec, scale type, k, A, B, {byte, thread} of A and of B
    ("mxf8f6f4", "1X", "ue8m0", 32, "e4m3", "e5m2", (3, 1), (2, 3)),
    ("mxf8f6f4", "1X", "ue8m0", 32, "e2m1", "e3m2", (0, 0), (1, 0)),
    ("mxf4", "2X", "ue8m0", 64, "e2m1", "e2m1", (2, 0), (0, 2)),
    ("mxf4nvf4", "2X", "ue8m0", 64, "e2m1", "e2m1", (0, 1), (2, 1)),
    ("mxf4nvf4", "4X", "ue4m3", 64, "e2m1", "e2m1", (0, 1), (0, 3)),
]


def scale_values(type: str, codes: Any) -> Any:
    if type == "ue8m0":
        return 2.0 ** (codes.astype(float) - 127)
    return codes.astype(np.uint8).view(ml_dtypes.float8_e4m3fn).astype(float)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("row", SCALED, ids=lambda row: ".".join(map(str, row[:6])))
def test_a_scaled_product(row: Any, sparse: bool) -> None:
    kind, vec, scale, k, a_type, b_type, a_at, b_at = row
    if sparse:
        k *= 2
    count = int(vec[0])
    rng = np.random.default_rng(k + count)
    case = Case(k, a_type, b_type, "f32", kind=kind)
    if sparse:
        a, nibbles, kept = sparse_matrix(case, rng, True)
    else:
        a = kept = values_of(a_type, (16, k), rng)
    b, c = values_of(b_type, (k, 8), rng), values_of("s8", (16, 8), rng)
    low, high = (120, 134) if scale == "ue8m0" else (0x28, 0x48)
    codes = [rng.integers(low, high, (n, count)) for n in (16, 8)]
    registers = [[0xFEDCBA98] * 32 for _ in range(2)]
    for lane in LANES:
        g, t = lane // 4, lane % 4
        if t // 2 == a_at[1]:
            registers[0][lane] = placed(codes[0][g + 8 * (t % 2)], a_at[0])
        if t == b_at[1]:
            registers[1][lane] = placed(codes[1][g], b_at[0])
    operands = [a_registers(case, kept), b_registers(case, b, case.bits), c_registers(c, "f32"),
                *([[r] for r in side] for side in registers)]  # fmt: skip
    name, middle = "mma", ""
    if sparse:
        name, middle = "mma.sp::ordered_metadata", "{5}, 0, "
        operands.append([[m] for m in metadata(case, nibbles)])
    op = (f"{name}.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale.scale_vec::{vec}"
          f".f32.{a_type}.{b_type}.f32.{scale}")  # fmt: skip
    a_place, b_place = (f"{{{{{p[0]}, {p[1]}}}}}" for p in (a_at, b_at))
    form = f"{VECTORS}, {middle}{{3}}, {a_place}, {{4}}, {b_place}"
    got = execute(op, operands, "f32", form)
    expected = c.copy()
    of_a, of_b = (scale_values(scale, one) for one in codes)
    for i, j, n in itertools.product(range(16), range(8), range(k)):
        block = n // (k // count)
        expected[i, j] += a[i, n] * of_a[i, block] * b[n, j] * of_b[j, block]
    assert np.array_equal(got, expected.astype(np.float32))


def placed(codes: Any, byte: int) -> int:
    """Scales in their bytes, rubbish in the others."""
    word = bytearray.fromhex("98badcfe")
    word[byte : byte + len(codes)] = bytes(codes.tolist())
    return int.from_bytes(word, "little")


# ---------------------------------------------------------------- wgmma


@pytest.mark.parametrize("registers", [True, False])
@pytest.mark.parametrize(
    ("k", "type", "result", "selector"),
    [(32, "f16", "f32", 1), (32, "bf16", "f32", 0), (16, "tf32", "f32", 1), (64, "s8", "s32", 0),
     (64, "e4m3", "f32", 0)],
)  # fmt: skip
def test_a_sparse_product_of_a_warpgroup(
    k: int, type: str, result: str, selector: int, registers: bool
) -> None:
    case = Case(k, type, type, result, selector)
    n, rng = 16, np.random.default_rng(k)
    parts = [sparse_matrix(case, rng, True) for _ in range(4)]
    dense = np.concatenate([part[0] for part in parts])
    kept = np.concatenate([part[2] for part in parts])
    b = values_of(type, (k, n), rng)
    shared = np.zeros(8192, np.uint8)
    size = case.bits // 8
    left, right = MatrixDescriptor(0, 16, 256, 32), MatrixDescriptor(4096, 16, 512, 64)
    for matrix, descriptor in ((kept, left), (b.T, right)):
        for mn, depth in itertools.product(range(len(matrix)), range(matrix.shape[1])):
            at = descriptor.address(mn, depth, case.bits, True)
            code = encoded([matrix[mn, depth]], type, case.bits)[0]
            shared[at : at + size] = list(code.to_bytes(size, "little"))
    lanes = [a_registers(case, part[2]) for part in parts]
    held = np.array(lanes, np.uint32).reshape(128, 4)
    meta = np.array([metadata(case, part[1]) for part in parts], np.uint32)
    memory = Memory()
    arrays = [shared, held, meta]
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        memory.write(address, array)
    out = memory.allocate(4 * 64 * n)
    d = ", ".join(f"%d{i}" for i in range(n // 2))
    a = "{%a0, %a1, %a2, %a3}" if registers else "%rd4"
    scales = "" if result == "s32" else ", 1, 1" + (", 0" * (2 - registers) if size == 2 else "")
    copies = "\n".join(
        f"ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd0+{16 * i}]; "
        f"st.shared.v4.u32 [%r0+{16 * i}], {{%r2, %r3, %r4, %r5}};"
        for i in range(4)
    )
    run(
        f"""
        .shared .align 1024 .b8 tile[8192]; .reg .b32 %d<{n // 2}>, %a<4>, %m;
        ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2];
        ld.param.u64 %rd3, [p3];
        mov.u32 %r0, tile; shl.b32 %r1, %j, 6; add.u32 %r0, %r0, %r1;
        cvt.u64.u32 %rd6, %r1; add.u64 %rd0, %rd0, %rd6;
        {copies}
        mad.wide.u32 %rd7, %j, 16, %rd1; ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%rd7];
        mad.wide.u32 %rd7, %j, 4, %rd2; ld.global.b32 %m, [%rd7];
        fence.proxy.async.shared::cta;
        bar.sync 0;
        mov.u64 %rd4, {left.bits}; mov.u64 %rd5, {right.bits};
        setp.ne.u32 %p0, 0, 0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sp.sync.aligned.m64n{n}k{k}.{result}.{type}.{type}
            {{{d}}}, {a}, %rd5, %m, {selector}, %p0{scales};
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        mad.wide.u32 %rd7, %j, {2 * n}, %rd3;
        {" ".join(f"st.global.b32 [%rd7+{4 * i}], %d{i};" for i in range(n // 2))}
        """,
        [*addresses, out],
        memory=memory,
        block=128,
    )
    kind = np.float32 if result == "f32" else np.int32
    found = memory.read(out, 4 * 64 * n).view(kind).reshape(128, n // 2)
    got = np.zeros((64, n))
    for thread, i in itertools.product(range(128), range(n // 2)):
        warp, lane = divmod(thread, 32)
        row = 16 * warp + lane // 4 + 8 * (i // 2 % 2)
        got[row, 8 * (i // 4) + lane % 4 * 2 + i % 2] = found[thread, i]
    assert np.array_equal(got, dense @ b)
