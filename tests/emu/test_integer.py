"""Integer, logic and comparison instructions against Python's integers, edges and random values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptx
from tests.emu.harness import operate, outputs


def values(type: str, seed: int, count: int = 400) -> np.ndarray[Any, Any]:
    """Random integers of a type, a third of them edges."""
    width = int(type[1:])
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 1 << 63, count, dtype=np.uint64) << np.uint64(1)
    raw |= rng.integers(0, 2, count, dtype=np.uint64)
    edges = [0, 1, 2, 3, 2**width - 1, 2 ** (width - 1), 2 ** (width - 1) - 1, 2**width - 2]
    special = np.array(edges, np.uint64)[rng.integers(0, len(edges), count)]
    raw = np.where(rng.integers(0, 3, count) == 0, special, raw)
    return (
        (raw & np.uint64(2**width - 1)).astype(f"u{width // 8}").view(f"{_kind(type)}{width // 8}")
    )


def _kind(type: str) -> str:
    return "i" if type[0] == "s" else "u"


def wrapped(value: int, type: str) -> int:
    width = int(type[1:])
    value &= 2**width - 1
    return value - 2**width if type[0] == "s" and value >> (width - 1) else value


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def check(op: str, result: str, sources: str, function: Callable[..., int]) -> None:
    arrays = [values(type, n + 11) for n, type in enumerate(sources.split())]
    pairs = list(zip(sources.split(), arrays, strict=True))
    (got,) = operate(op, result, pairs)
    for row, found in zip(zip(*(a.tolist() for a in arrays), strict=True), got, strict=True):
        assert int(found) == wrapped(function(*row), result), f"{op} of {row}: {int(found)}"


INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")


@pytest.mark.parametrize("type", INTEGERS)
def test_arithmetic(type: str) -> None:
    two = f"{type} {type}"
    check(f"add.{type}", type, two, lambda a, b: a + b)
    check(f"sub.{type}", type, two, lambda a, b: a - b)
    check(f"mul.lo.{type}", type, two, lambda a, b: a * b)
    width = int(type[1:])
    check(f"mul.hi.{type}", type, two, lambda a, b: a * b >> width)
    check(f"mad.lo.{type}", type, f"{two} {type}", lambda a, b, c: a * b + c)
    check(f"mad.hi.{type}", type, f"{two} {type}", lambda a, b, c: (a * b >> width) + c)
    check(f"min.{type}", type, two, min)
    check(f"max.{type}", type, two, max)
    check(f"sad.{type}", type, f"{two} {type}", lambda a, b, c: c + abs(a - b))
    check(f"div.{type}", type, two, lambda a, b: quotient(a, b) if b else 2**width - 1)
    check(f"rem.{type}", type, two, lambda a, b: a - b * quotient(a, b) if b else -1)
    if type[0] == "s":
        check(f"abs.{type}", type, type, abs)
        check(f"neg.{type}", type, type, lambda a: -a)


@pytest.mark.parametrize("type", ["u16", "s16", "u32", "s32"])
def test_wide_products(type: str) -> None:
    wide = f"{type[0]}{2 * int(type[1:])}"
    check(f"mul.wide.{type}", wide, f"{type} {type}", lambda a, b: a * b)
    check(f"mad.wide.{type}", wide, f"{type} {type} {wide}", lambda a, b, c: a * b + c)


def saturate(value: int, low: int = -(2**31), high: int = 2**31 - 1) -> int:
    return max(low, min(high, value))


def test_saturating_forms() -> None:
    check("add.sat.s32", "s32", "s32 s32", lambda a, b: saturate(a + b))
    check("sub.sat.s32", "s32", "s32 s32", lambda a, b: saturate(a - b))
    check("mad.hi.sat.s32", "s32", "s32 s32 s32", lambda a, b, c: saturate((a * b >> 32) + c))


def low24(a: int, signed: bool) -> int:
    a &= 0xFFFFFF
    return a - 0x1000000 if signed and a >> 23 else a


@pytest.mark.parametrize("type", ["u32", "s32"])
def test_24_bit_products(type: str) -> None:
    signed = type == "s32"
    check(
        f"mul24.lo.{type}", type, f"{type} {type}", lambda a, b: low24(a, signed) * low24(b, signed)
    )
    check(
        f"mul24.hi.{type}",
        type,
        f"{type} {type}",
        lambda a, b: low24(a, signed) * low24(b, signed) >> 16,
    )
    check(
        f"mad24.lo.{type}",
        type,
        f"{type} {type} {type}",
        lambda a, b, c: low24(a, signed) * low24(b, signed) + c,
    )


@pytest.mark.parametrize("width", [32, 64])
def test_bit_counting(width: int) -> None:
    b, u, s = f"b{width}", f"u{width}", f"s{width}"
    check(f"popc.{b}", "u32", b, lambda a: a.bit_count())
    check(f"clz.{b}", "u32", b, lambda a: width - a.bit_length())
    check(f"brev.{b}", b, b, lambda a: int(f"{a:0{width}b}"[::-1], 2))
    check(f"bfind.{u}", "u32", u, lambda a: a.bit_length() - 1)
    check(f"bfind.{s}", "u32", s, lambda a: (~a if a < 0 else a).bit_length() - 1)
    check(f"bfind.shiftamt.{u}", "u32", u, lambda a: width - a.bit_length() if a else 2**32 - 1)


def field(a: int, position: int, length: int, width: int, signed: bool) -> int:
    """bfe as the manual's pseudo-code has it."""
    top = width - 1
    raw = a & (2**width - 1)
    sign = raw >> min(position + length - 1, top) & 1 if signed and length else 0
    return sum(
        (raw >> (position + i) & 1 if i < length and position + i <= top else sign) << i
        for i in range(width)
    )


@pytest.mark.parametrize("type", ["u32", "s32", "u64", "s64"])
def test_bit_fields(type: str) -> None:
    width = int(type[1:])
    rng = np.random.default_rng(5)
    a = values(type, 3)
    position = rng.integers(0, width + 8, len(a), dtype=np.uint32)
    length = rng.integers(0, width + 8, len(a), dtype=np.uint32)
    (got,) = operate(f"bfe.{type}", type, [(type, a), ("u32", position), ("u32", length)])
    for found, *row in zip(got, a.tolist(), position.tolist(), length.tolist(), strict=True):
        assert int(found) == wrapped(field(*row, width, type[0] == "s"), type), row
    bits = f"b{width}"
    b = values(bits, 4)
    sources: list[Any] = [(bits, values(bits, 3)), (bits, b)]
    sources += [("u32", position), ("u32", length)]
    (got,) = operate(f"bfi.{bits}", bits, sources)
    for found, x, y, p, n in zip(
        got, values(bits, 3).tolist(), b.tolist(), position.tolist(), length.tolist(), strict=True
    ):
        expected = y
        for i in range(n):
            if p + i < width:
                expected = expected & ~(1 << p + i) | (x >> i & 1) << p + i
        assert int(found) == expected


def test_bit_masks() -> None:
    pairs = [(0, 0), (0, 32), (4, 8), (31, 1), (30, 10), (32, 4), (40, 2), (3, 0), (5, 0xFFFFFFFF)]
    a = np.array([p for p, _ in pairs], np.uint32)
    b = np.array([n for _, n in pairs], np.uint32)
    (clamp,) = operate("bmsk.clamp.b32", "b32", [("u32", a), ("u32", b)])
    (wrap,) = operate("bmsk.wrap.b32", "b32", [("u32", a), ("u32", b)])
    for found, (p, n) in zip(clamp, pairs, strict=True):
        assert found == sum(1 << i for i in range(32) if p <= i < p + n)
    for found, (p, n) in zip(wrap, pairs, strict=True):
        assert found == sum(1 << i for i in range(32) if p % 32 <= i < p % 32 + n % 32)


def test_dot_products() -> None:
    a, b, c = values("u32", 1), values("u32", 2), values("u32", 3)

    def part(value: int, start: int, width: int, signed: bool) -> int:
        raw = value >> start & (2**width - 1)
        return raw - 2**width if signed and raw >> (width - 1) else raw

    for left in "us":
        for right in "us":
            sources = [("b32", a), ("b32", b), ("b32", c)]
            (four,) = operate(f"dp4a.{left}32.{right}32", "b32", sources)
            (low,) = operate(f"dp2a.lo.{left}32.{right}32", "b32", sources)
            (high,) = operate(f"dp2a.hi.{left}32.{right}32", "b32", sources)
            for n in range(len(a)):
                x, y, z = int(a[n]), int(b[n]), int(c[n])
                bytes_ = [part(y, 8 * i, 8, right == "s") for i in range(4)]
                total = sum(part(x, 8 * i, 8, left == "s") * bytes_[i] for i in range(4))
                assert four[n] == (z + total) % 2**32
                halves = [part(x, 16 * i, 16, left == "s") for i in range(2)]
                assert low[n] == (z + halves[0] * bytes_[0] + halves[1] * bytes_[1]) % 2**32
                assert high[n] == (z + halves[0] * bytes_[2] + halves[1] * bytes_[3]) % 2**32


def test_carry_chain_of_128_bits() -> None:
    a, b = values("u64", 1), values("u64", 2)
    text = """
        ld.param.u64 %at, [p0]; mad.wide.u32 %at, %i, 16, %at;
        ld.global.v2.u64 {%rd0, %rd1}, [%at];
        ld.param.u64 %rd6, [p1]; mad.wide.u32 %rd6, %i, 16, %rd6;
        ld.global.v2.u64 {%rd2, %rd3}, [%rd6];
        add.cc.u64 %rd4, %rd0, %rd2;
        addc.u64 %rd5, %rd1, %rd3;
        st.global.v2.u64 [%at], {%rd4, %rd5};
        sub.cc.u64 %rd4, %rd0, %rd2;
        subc.u64 %rd5, %rd1, %rd3;
        st.global.v2.u64 [%rd6], {%rd4, %rd5};
    """
    from ptx.emu import Memory
    from tests.emu.harness import run

    memory = Memory()
    count = len(a) // 2
    addresses = [memory.allocate(16 * count), memory.allocate(16 * count)]
    memory.write(addresses[0], a)
    memory.write(addresses[1], b)
    run(text, addresses, memory=memory, block=count)
    sums = memory.read(addresses[0], 16 * count).view(np.uint64)
    differences = memory.read(addresses[1], 16 * count).view(np.uint64)
    for n in range(count):
        x = int(a[2 * n]) | int(a[2 * n + 1]) << 64
        y = int(b[2 * n]) | int(b[2 * n + 1]) << 64
        assert int(sums[2 * n]) | int(sums[2 * n + 1]) << 64 == (x + y) % 2**128
        assert int(differences[2 * n]) | int(differences[2 * n + 1]) << 64 == (x - y) % 2**128


@pytest.mark.parametrize("lut", [0x00, 0x80, 0xFE, 0x96, 0xE8, 0x1B, 0xCA])
def test_lop3(lut: int) -> None:
    a, b, c = (values("u32", n) for n in (1, 2, 3))
    (got,) = operate("lop3.b32", "b32", [("b32", a), ("b32", b), ("b32", c), hex(lut)])
    for found, x, y, z in zip(got, a.tolist(), b.tolist(), c.tolist(), strict=True):
        expected = 0
        for i in range(32):
            row = (x >> i & 1) << 2 | (y >> i & 1) << 1 | z >> i & 1
            expected |= (lut >> row & 1) << i
        assert found == expected


@pytest.mark.parametrize("type", ["b16", "b32", "b64"])
def test_logic(type: str) -> None:
    check(f"and.{type}", type, f"{type} {type}", lambda a, b: a & b)
    check(f"or.{type}", type, f"{type} {type}", lambda a, b: a | b)
    check(f"xor.{type}", type, f"{type} {type}", lambda a, b: a ^ b)
    check(f"not.{type}", type, type, lambda a: ~a)
    check(f"cnot.{type}", type, type, lambda a: int(a == 0))


@pytest.mark.parametrize("type", INTEGERS)
def test_shifts_clamp(type: str) -> None:
    width = int(type[1:])
    a = values(type, 1)
    count = np.random.default_rng(2).integers(0, 2 * width, len(a), dtype=np.uint32)
    count[:3] = [0xFFFFFFFF, 256, width]
    (right,) = operate(f"shr.{type}", type, [(type, a), ("u32", count)])
    (left,) = operate(f"shl.b{width}", f"b{width}", [(f"b{width}", a), ("u32", count)])
    for x, n, r, w in zip(a.tolist(), count.tolist(), right, left, strict=True):
        assert int(r) == x >> min(n, width)
        assert int(w) == (x << min(n, width)) % 2**width


def test_prmt_against_bytes() -> None:
    a, b = values("u32", 1), values("u32", 2)
    c = np.random.default_rng(3).integers(0, 1 << 16, len(a), dtype=np.uint32)
    (got,) = operate("prmt.b32", "b32", [("b32", a), ("b32", b), ("b32", c)])
    for found, x, y, s in zip(got, a.tolist(), b.tolist(), c.tolist(), strict=True):
        source = (x | y << 32).to_bytes(8, "little")
        expected = []
        for i in range(4):
            nibble = s >> 4 * i & 15
            byte = source[nibble & 7]
            expected.append((0xFF if byte & 0x80 else 0) if nibble & 8 else byte)
        assert int(found) == int.from_bytes(bytes(expected), "little")


def test_comparisons_of_integers() -> None:
    for type, tests in (
        ("s32", "eq ne lt le gt ge"),
        ("u32", "eq ne lt le gt ge lo ls hi hs"),
        ("s64", "lt ge"),
        ("u16", "lt hs"),
    ):
        a, b = values(type, 1), values(type, 2)
        b[::5] = a[::5]
        for name in tests.split():
            compare = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(name, name)
            expected = getattr(np, {
                "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
                "gt": "greater", "ge": "greater_equal",
            }[compare])(a, b)  # fmt: skip
            (got,) = operate(f"setp.{name}.{type}", "pred", [(type, a), (type, b)])
            assert np.array_equal(got, expected), (name, type)


def test_setp_combines_both_destinations() -> None:
    a, b = np.int32([1, 1, 2, 2]), np.int32([1, 2, 1, 2])
    c = np.uint8([0, 1, 1, 0])
    for name, function in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
        p, q = operate(
            f"setp.eq.{name}.s32",
            "pred pred",
            [("s32", a), ("s32", b), ("pred", c)],
            form="{d0}|{d1}, {s0}, {s1}, {s2}",
        )
        assert np.array_equal(p, function(a == b, c != 0))
        assert np.array_equal(q, function(a != b, c != 0))


def test_set_and_slct() -> None:
    a = np.float32([1, 2, np.nan])
    (got,) = operate("set.lt.u32.f32", "u32", [("f32", a), "0f40000000"])
    assert list(got) == [0xFFFFFFFF, 0, 0]
    (got,) = operate("set.gtu.f32.f32", "f32", [("f32", a), "0f3F800000"])
    assert list(got) == [0, 1, 1]
    c = np.float32([-1, -0.0, np.nan])
    (got,) = operate("slct.u32.f32", "u32", ["7", "9", ("f32", c)])
    assert list(got) == [9, 7, 9]
    (got,) = operate("slct.u32.s32", "u32", ["7", "9", ("s32", np.int32([-1, 0, 5]))])
    assert list(got) == [9, 7, 7]


def test_mov_packs_and_unpacks() -> None:
    found = outputs(
        """
        .reg .b16 %h<4>;
        ld.param.u64 %rd0, [p0];
        mov.u32 %r0, 7;
        mov.b64 %rd1, {%i, %r0};
        mov.b64 {%r1, %r2}, %rd1;
        mov.b32 %r4, 0x12345678;
        mov.b32 {%h0, %h1}, %r4;
        mov.b32 %r3, {%h1, %h0};
        mad.wide.u32 %rd2, %i, 16, %rd0;
        st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r3};
        """,
        8,
        block=2,
    )
    assert list(found) == [0, 7, 0x56781234, 0x56781234, 1, 7, 0x56781234, 0x56781234]


def test_vectors_are_moved_whole() -> None:
    """mov.v4: of registers, and of all axes of a special register."""
    k = ptx.Kernel("k", out="global.u32@16")
    (out,) = k.params()
    index = k.mov.v4.u32((k.tid.x, k.tid.y, k.tid.z, k.ntid.x))
    moved = k.mov.v4.b32(index[::-1])
    at = out + k.mul.wide.u32(k.mad.lo.u32(index[1], index[3], index[0]), 16)
    k.st.global_.v4.u32(at, moved)
    k.ret()
    device = ptx.device("emulator")
    made = device.array(np.zeros((3, 4, 4), "u4"))
    device.load(ptx.Module(k))["k"].launch(1, (4, 3), [made])
    found = made.numpy()
    for y in range(3):
        for x in range(4):
            assert found[y, x].tolist() == [4, 0, y, x]
