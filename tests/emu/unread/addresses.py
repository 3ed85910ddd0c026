"""Addresses that are wrong: beyond, before, askew, freed, in another space."""

from __future__ import annotations

import numpy as np

import ptx
from ptx.ir import Addr, Reg
from tests.emu.unread.case import Freed, Out, case, version

RANDOM = np.random.default_rng(4)


def element(k: ptx.Kernel, base: Reg, index: Reg, size: int = 4) -> Reg:
    """Where element `index` of an array lies."""
    return base + k.mul.wide.u32(index, size)


# ---------------------------------------------------------------- out of bounds


@case(
    "out of bounds: a 16-bit product went negative",
    lambda g: {"picked": g["image"][g["row"], g["column"]]},
    image=RANDOM.integers(0, 256, (200, 200)).astype("u1"),
    row=RANDOM.integers(165, 200, 32).astype("u2"),
    column=RANDOM.integers(0, 200, 32).astype("u2"),
    picked=Out(32, "u1"),
)
def short_product(broken: bool) -> ptx.Kernel:
    """row * 200 + column leaves 16 bits; as a signed number it points before the image."""
    k = ptx.Kernel(
        "short_product", image="global.u8", row="global.s16", column="global.s16",
        picked="global.u8",
    )  # fmt: skip
    image, row, column, picked = k.params()
    lane = k.mov.u32(k.tid.x)
    r = k.ld.global_.s16(element(k, row, lane, 2))
    c = k.ld.global_.s16(element(k, column, lane, 2))
    if broken:
        offset = k.cvt.s64.s16(k.mad.lo.s16(r, 200, c))
    else:
        offset = k.cvt.s64.s32(k.mad.wide.s16(r, 200, k.cvt.s32.s16(c)))
    pixel = k.ld.global_.u8(k.add.s64(image, offset))  # fault: short_product
    k.st.global_.u8(element(k, picked, lane, 1), pixel)
    k.ret()
    return k


@case(
    "out of bounds: an unsigned index below zero",
    lambda g: {"difference": np.diff(g["values"], prepend=np.float32(0))},
    block=96,
    values=RANDOM.standard_normal(96).astype("f4"),
    difference=Out(96),
)
def left_neighbour(broken: bool) -> ptx.Kernel:
    """The guard asks whether i - 1 >= 0, which an unsigned number always is."""
    k = ptx.Kernel("left_neighbour", values="global.f32", difference="global.f32")
    values, difference = k.params()
    i = k.mov.u32(k.tid.x)
    left = i - 1
    there = k.setp.ge.u32(left, 0) if broken else k.setp.ne.u32(i, 0)
    before, beside = k.mov.f32(0.0), element(k, values, left)
    with k.when(there):
        k.ld.global_.f32(beside, out=before)  # fault: left_neighbour
    here = k.ld.global_.f32(element(k, values, i))
    k.st.global_.f32(element(k, difference, i), k.sub.f32(here, before))
    k.ret()
    return k


MATRIX = RANDOM.standard_normal((24, 10)).astype("f4")


@case(
    "out of bounds: the pitch of the other matrix",
    lambda g: {"target": g["source"].T},
    launch={"grid": 3, "block": (8, 10)},
    source=MATRIX,
    target=Out((10, 24)),
)
def transposed_pitch(broken: bool) -> ptx.Kernel:
    """A transpose that was only ever tried on squares: both matrices get the source's extents."""
    k = ptx.Kernel("transposed_pitch", source="global.f32", target="global.f32")
    source, target = k.params()
    row = k.mad.lo.u32(k.mov.u32(k.ctaid.x), 8, k.mov.u32(k.tid.x))
    column = k.mov.u32(k.tid.y)
    pitch = 24 if broken else 10
    value = k.ld.global_.f32(  # fault: transposed_pitch
        element(k, source, k.mad.lo.u32(row, pitch, column))
    )
    k.st.global_.f32(element(k, target, k.mad.lo.u32(column, 24, row)), value)
    k.ret()
    return k


@case(
    "out of bounds: shared memory that the launch did not give",
    lambda g: {"y": g["x"][::-1]},
    launch={"shared": 2048, "block": 256},
    broken={"shared": 1024},
    x=np.arange(512, dtype="f4"),
    y=Out(512),
)
def half_the_shared_memory(broken: bool) -> ptx.Kernel:
    """Two values a thread, but the launch still asks for bytes of one value a thread."""
    k = ptx.Kernel("half_the_shared_memory", x="global.f32", y="global.f32")
    x, y = k.params()
    buffer = k.mov.u32(k.dynamic_shared("buffer", "f32", align=16))
    i = k.mov.u32(k.tid.x)
    pair = k.reg("f32", 2)
    k.ld.global_.v2.f32(element(k, x, i, 8), out=pair)
    k.st.shared.v2.f32(k.mad.lo.u32(i, 8, buffer), pair)  # fault: half_the_shared_memory
    k.bar.sync(0)
    back = k.sub.u32(511, i * 2)
    first = k.ld.shared.f32(k.mad.lo.u32(back, 4, buffer))
    second = k.ld.shared.f32(Addr(k.mad.lo.u32(back, 4, buffer), -4))
    k.st.global_.v2.f32(element(k, y, i, 8), (first, second))
    k.ret()
    return k


@case(
    "out of bounds: rows of ldmatrix past the tile",
    lambda g: {"out": np.stack([_fragment(g["tile"], 8 * i) for i in range(2)], 1)},
    tile=np.arange(128, dtype="f2").reshape(16, 8),
    out=Out((32, 2), "u4"),
)
def four_matrices_of_two(broken: bool) -> ptx.Kernel:
    """The tile has two 8x8 matrices; x4 reads two more with the addresses of the upper lanes."""
    k = ptx.Kernel("four_matrices_of_two", tile="global.b16", out="global.u32")
    tile, out = k.params()
    rows = k.mov.u32(k.shared("rows", "b16", 16 * 8, align=16))
    lane = k.mov.u32(k.tid.x)
    quad = k.reg("b32", 2)
    k.ld.global_.v2.b32(element(k, tile, lane, 8), out=quad)
    k.st.shared.v2.b32(k.mad.lo.u32(lane, 8, rows), quad)
    k.bar.warp.sync(0xFFFFFFFF)
    row = k.mad.lo.u32(lane, 16, rows)
    if broken:
        got = k.reg("b32", 4)
        k.ldmatrix.sync.aligned.m8n8.x4.shared.b16(  # fault: four_matrices_of_two
            row, out=got
        )
    else:
        got = k.reg("b32", 2)
        row = k.mad.lo.u32(lane & 15, 16, rows)
        k.ldmatrix.sync.aligned.m8n8.x2.shared.b16(row, out=got)
    k.st.global_.v2.b32(element(k, out, lane, 8), got[:2])
    k.ret()
    return k


def _fragment(tile: np.ndarray, first: int) -> np.ndarray:
    """A lane's register of an 8x8 matrix: two neighbours of row lane / 4."""
    return np.ascontiguousarray(tile[first : first + 8]).view("u4").reshape(32)


@case(
    "out of bounds: an asynchronous copy past the end of the last row",
    lambda g: {"sums": g["rows"].sum(1)},
    rows=np.arange(32 * 14, dtype="f4").reshape(32, 14),
    sums=Out(32),
)
def ragged_row(broken: bool) -> ptx.Kernel:
    """Rows of 14 floats in copies of 8 bytes by eights; the eighth lies past the row's end."""
    k = ptx.Kernel("ragged_row", rows="global.f32@8", sums="global.f32")
    rows, sums = k.params()
    lane = k.mov.u32(k.tid.x)
    stage = k.mad.lo.u32(lane, 64, k.mov.u32(k.shared("stage", "f32", 32 * 16, align=16)))
    row = element(k, rows, lane, 56)
    for pair in range(8):
        to, at = Addr(stage, 8 * pair), Addr(row, 8 * pair)
        if broken:
            k.cp.async_.ca.shared.global_(to, at, 8)  # fault: ragged_row
        else:
            k.cp.async_.ca.shared.global_(to, Addr(row, 8 * min(pair, 6)), 8, 8 * (pair < 7))
    k.cp.async_.commit_group()
    k.cp.async_.wait_group(0)
    total = k.mov.f32(0.0)
    for i in range(16):
        k.add.f32(total, k.ld.shared.f32(Addr(stage, 4 * i)), out=total)
    k.st.global_.f32(element(k, sums, lane), total)
    k.ret()
    return k


@case(
    "out of bounds: an index of a table of branches that it has not",
    lambda g: {"y": np.array([(7, 30, 10, 0)[i % 4] for i in range(32)], "u4")},
    op=np.arange(32, dtype="u4") % 4,
    y=Out(32, "u4"),
    hangs=True,
)
def opcode_of_no_branch(broken: bool) -> str:
    """An interpreter of four operations whose table lists three."""
    return version(
        """
.version 8.0
.target sm_80
.address_size 64

.visible .entry opcode_of_no_branch(.param .u64 op, .param .u64 y)
{
    .reg .u64 %p<3>;
    .reg .u32 %r<4>;
    ld.param.u64 %p0, [op];
    ld.param.u64 %p1, [y];
    cvta.to.global.u64 %p0, %p0;
    cvta.to.global.u64 %p1, %p1;
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %p2, %r0, 4;
    add.u64 %p0, %p0, %p2;
    add.u64 %p1, %p1, %p2;
    ld.global.u32 %r1, [%p0];
    mov.u32 %r2, 10;
    mov.u32 %r3, 3;
TABLE: .branchtargets SUB, MUL, KEEP;  //-
TABLE: .branchtargets SUB, MUL, KEEP, ZERO;  //+
    brx.idx %r1, TABLE;  // fault: opcode_of_no_branch
SUB:
    sub.u32 %r2, %r2, %r3;
    bra.uni KEEP;
MUL:
    mul.lo.u32 %r2, %r2, %r3;
    bra.uni KEEP;
ZERO:
    mov.u32 %r2, 0;
KEEP:
    st.global.u32 [%p1], %r2;
    ret;
}
""",
        broken,
    )


# ---------------------------------------------------------------- misaligned


@case(
    "misaligned: a vector of 16 bytes at rows of 24",
    lambda g: {"sums": g["rows"][:, :4].sum(1)},
    rows=np.arange(32 * 6, dtype="f4").reshape(32, 6),
    sums=Out(32),
)
def float4_of_odd_rows(broken: bool) -> ptx.Kernel:
    """The base is aligned to 16 bytes, every other row is not."""
    k = ptx.Kernel("float4_of_odd_rows", rows="global.f32", sums="global.f32")
    rows, sums = k.params()
    lane = k.mov.u32(k.tid.x)
    row = element(k, rows, lane, 24)
    if broken:
        parts = k.reg("f32", 4)
        k.ld.global_.v4.f32(row, out=parts)  # fault: float4_of_odd_rows
    else:
        low, high = k.reg("f32", 2), k.reg("f32", 2)
        k.ld.global_.v2.f32(row, out=low)
        k.ld.global_.v2.f32(Addr(row, 8), out=high)
        parts = (*low, *high)
    total = parts[0]
    for part in parts[1:]:
        total = k.add.f32(total, part)
    k.st.global_.f32(element(k, sums, lane), total)
    k.ret()
    return k


@case(
    "misaligned: rows of ldmatrix padded by 4 bytes",
    lambda g: {"out": _fragment(g["tile"], 0)},
    tile=np.arange(64, dtype="f2").reshape(8, 8),
    out=Out(32, "u4"),
)
def padded_matrix_rows(broken: bool) -> ptx.Kernel:
    """Padding by one word avoids bank conflicts, and rows that start at multiples of 16."""
    pitch = 20 if broken else 32
    k = ptx.Kernel("padded_matrix_rows", tile="global.b16", out="global.u32")
    tile, out = k.params()
    rows = k.mov.u32(k.shared("rows", "b8", 8 * pitch, align=16))
    lane = k.mov.u32(k.tid.x)
    word = k.ld.global_.b32(element(k, tile, lane))
    k.st.shared.b32(k.mad.lo.u32(lane & 3, 4, k.mad.lo.u32(lane >> 2, pitch, rows)), word)
    k.bar.warp.sync(0xFFFFFFFF)
    row = k.mad.lo.u32(lane & 7, pitch, rows)
    (got,) = k.ldmatrix.sync.aligned.m8n8.x1.shared.b16(row)  # fault: padded_matrix_rows
    k.st.global_.b32(element(k, out, lane), got)
    k.ret()
    return k


@case(
    "misaligned: a 64-bit atomic in a packed record of 12 bytes",
    lambda g: {"sums": np.full(8, 4 * 5, "u8")},
    launch={"grid": 4, "block": 8},
    records=np.zeros((8, 4), "u4"),
    sums=Out(8, "u8"),
)
def packed_record(broken: bool) -> ptx.Kernel:
    """A record is a u32 and a u64; packed, its sum of 64 bits lies at 4, 16, 28 and so on."""
    k = ptx.Kernel("packed_record", records="global.b8", sums="global.u64")
    records, sums = k.params()
    i = k.mov.u32(k.tid.x)
    record = element(k, records, i, 12 if broken else 16)
    field = Addr(record, 4 if broken else 8)
    old = k.atom.global_.add.u64(field, 5)  # fault: packed_record
    last, target = k.setp.eq.u64(old, 15), element(k, sums, i, 8)
    with k.when(last):
        k.add.u64(old, 5, out=old)
        k.st.global_.u64(target, old)
    k.ret()
    return k


# ---------------------------------------------------------------- freed, and other spaces


@case(
    "use after free: an array that the host freed",
    lambda g: {"y": 2 * g["x"]},
    x=Freed(np.arange(32, dtype="f4")),
    y=Out(32),
)
def array_of_yesterday(broken: bool) -> ptx.Kernel:
    """The pointer was taken; then its array was freed."""
    k = ptx.Kernel("array_of_yesterday", x="global.f32", y="global.f32")
    x, y = k.params()
    lane = k.mov.u32(k.tid.x)
    value = k.ld.global_.f32(element(k, x, lane))  # fault: array_of_yesterday
    k.st.global_.f32(element(k, y, lane), k.add.f32(value, value))
    k.ret()
    return k


@case(
    "wrong state space: a generic address of shared memory in ld.global",
    lambda g: {"y": g["x"] + g["x"][::-1]},
    x=np.arange(64, dtype="f4"),
    y=Out(64),
    block=64,
)
def converted_to_global(broken: bool) -> str:
    """A function that adds from either space believes every pointer to be global."""
    return version(
        """
.version 8.0
.target sm_80
.address_size 64

.visible .entry converted_to_global(.param .u64 x, .param .u64 y)
{
    .reg .u64 %at<6>;
    .reg .u32 %r<4>;
    .reg .f32 %f<4>;
    .shared .align 4 .f32 tile[64];
    ld.param.u64 %at0, [x];
    ld.param.u64 %at1, [y];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %at2, %r0, 4;
    add.u64 %at0, %at0, %at2;
    add.u64 %at1, %at1, %at2;
    ld.f32 %f0, [%at0];
    mov.u64 %at3, tile;
    cvta.shared.u64 %at3, %at3;
    add.u64 %at4, %at3, %at2;
    st.f32 [%at4], %f0;
    bar.sync 0;
    sub.u64 %at4, %at3, %at2;
    ld.global.f32 %f1, [%at4+252];  //-  // fault: converted_to_global
    ld.f32 %f1, [%at4+252];  //+
    add.f32 %f2, %f0, %f1;
    st.f32 [%at1], %f2;
    ret;
}
""",
        broken,
    )


@case(
    "wrong state space: the local array of another thread",
    lambda g: {"y": np.full(32, 40, "u4")},
    y=Out(32, "u4"),
)
def local_array_lent(broken: bool) -> str:
    """Lane 0 shares the generic address of a local array; each lane finds its own memory there."""
    return version(
        """
.version 8.0
.target sm_80
.address_size 64

.visible .entry local_array_lent(.param .u64 y)
{
    .reg .u64 %at<6>;
    .reg .u32 %r<8>;
    .reg .pred %p;
    .local .align 4 .u32 table[4];  //-
    .shared .align 4 .u32 table[4];  //+
    .shared .align 8 .u64 lent;
    ld.param.u64 %at0, [y];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %at1, %r0, 4;
    add.u64 %at0, %at0, %at1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra READ;
    mov.u64 %at2, table;
    cvta.local.u64 %at2, %at2;  //-
    cvta.shared.u64 %at2, %at2;  //+
    mov.u32 %r1, 40;
    st.u32 [%at2+8], %r1;
    st.shared.u64 [lent], %at2;
READ:
    bar.warp.sync 0xffffffff;
    ld.shared.u64 %at3, [lent];
    ld.u32 %r2, [%at3+8];  // fault: local_array_lent
    st.global.u32 [%at0], %r2;
    ret;
}
""",
        broken,
    )


@case(
    "wrong state space: a shared offset where a generic address is meant",
    lambda g: {"y": np.full(32, np.arange(32).sum(), "u4")},
    y=Out(32, "u4"),
)
def atom_on_an_offset(broken: bool) -> str:
    """atom without a space takes a generic address; the shared variable's offset is none."""
    return version(
        """
.version 8.0
.target sm_80
.address_size 64

.visible .entry atom_on_an_offset(.param .u64 y)
{
    .reg .u64 %at<4>;
    .reg .u32 %r<4>;
    .reg .pred %p;
    .shared .align 4 .u32 total;
    ld.param.u64 %at0, [y];
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p, %r0, 0;
    @%p st.shared.u32 [total], 0;
    bar.warp.sync 0xffffffff;
    mov.u32 %r1, total;
    cvt.u64.u32 %at1, %r1;
    cvta.shared.u64 %at1, %at1;  //+
    atom.add.u32 %r2, [%at1], %r0;  // fault: atom_on_an_offset
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r3, [total];
    mul.wide.u32 %at2, %r0, 4;
    add.u64 %at0, %at0, %at2;
    st.global.u32 [%at0], %r3;
    ret;
}
""",
        broken,
    )
