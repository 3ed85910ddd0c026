"""Video instructions, thread by thread, on Python's integers.

The SIMD forms against the manual's pseudo-code; the scalar ones against the machine code that
ptxas 13.0 makes of them, read from nvdisasm, whose answers on a card the recorded sample holds.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

from tests.emu.harness import operate

EDGES = [0, 1, 2, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7F80_FF01, 0x7FFFFFFF,
         0x80000000, 0x80008000, 0xFF7F_8000, 0xFFFFFFFE, 0xFFFFFFFF]  # fmt: skip
TYPES = ("u32", "s32")
SELECTORS = ("", "b0", "b1", "b2", "b3", "h0", "h1")


def operands(seed: int, count: int = 64) -> list[Any]:
    """Pairs of edges and random numbers: three arrays of 32 bits."""
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, 2**32, count, np.uint32) for _ in range(3)]
    for array in drawn:
        array[: count // 2] = rng.choice(np.array(EDGES, np.uint32), count // 2)
    return drawn


# ---------------------------------------------------------------- the pseudo-code


def extend(value: int, bits: int, signed: bool) -> int:
    value &= 2**bits - 1
    return value - 2**bits if signed and value >> (bits - 1) else value


def part(value: int, type: str, selector: str) -> int:
    """partSelectSignExtend"""
    if not selector:
        return extend(value, 32, type == "s32")
    bits = 8 if selector[0] == "b" else 16
    return extend(value >> (bits * int(selector[1])), bits, type == "s32")


def limits(bits: int, signed: bool) -> tuple[int, int]:
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def clamp(value: int, bits: int, signed: bool) -> int:
    low, high = limits(bits, signed)
    return min(max(value, low), high)


def saturate(opcode: str, value: int, signed: bool, into: str) -> int:
    """The high word decides: ISETP on it, then SEL or LOP3 with the low word."""
    high, low = value >> 32, value & 0xFFFFFFFF
    if opcode in ("vshl", "vshr"):
        high = extend(high, 2, True)
        if not signed:
            return 0 if high < 0 else 0xFFFFFFFF if high else low
    elif into:
        most = limits(8 if into[0] == "b" else 16, signed)[1]
        return most if high or low > most else low
    elif not signed:
        return 0 if high < 0 else value
    fits = (high < 0) == (low >> 31 == 1) and high in (0, -1)
    return value if fits else 0x7FFFFFFF if high >= 0 else -0x80000000


def finish(value: int, c: int, second: str, into: str, type: str) -> int:
    """The last instructions: PRMT for a part, a comparison of 64 bits for .min and .max."""
    if into == "h1":
        return value & 0xFFFF0000 | c & 0xFFFF
    if into:
        bits = 8 if into[0] == "b" else 16
        at, mask = bits * int(into[1]), 2**bits - 1
        return (value & mask) << at | c & ~(mask << at) & 0xFFFFFFFF
    wide, whole = extend(c, 32, type == "s32"), value
    if type == "u32":
        whole = value % 2**64
    return {"add": value + wide, "min": min(whole, wide), "max": max(whole, wide), "": value}[
        second
    ] & 0xFFFFFFFF  # fmt: skip


def scalar(opcode: str, a: int, b: int, c: int, mode: str, sat: bool, second: str, into: str,
           type: str) -> int:  # fmt: skip
    """All of a scalar form, of operands whose parts are chosen."""
    value = primary(opcode, a, b, mode)
    if sat:
        value = saturate(opcode, value, type == "s32", into)
    if opcode in ("vadd", "vsub") or (sat and mode):
        value = extend(value, 32, True)
    return finish(value, c, second, into, type)


def primary(opcode: str, a: int, b: int, mode: str) -> int:
    if opcode in ("vshl", "vshr"):
        b = min(b, 32) if mode == "clamp" else b & 31
    return {
        "vadd": lambda: a + b,
        "vsub": lambda: a - b,
        "vabsdiff": lambda: abs(a - b),
        "vmin": lambda: min(a, b),
        "vmax": lambda: max(a, b),
        "vshl": lambda: a << b,
        "vshr": lambda: a >> b,
    }[opcode]()


def check(op: str, form: str, expected: Any, seed: int, sources: int = 3) -> None:
    drawn = operands(seed)[:sources]
    (got,) = operate(op, "u32", [("u32", array) for array in drawn], form)
    rows = zip(*(array.tolist() for array in drawn), strict=True)
    wanted = [expected(*row) for row in rows]
    wrong = [n for n, (g, w) in enumerate(zip(got.tolist(), wanted, strict=True)) if g != w]
    assert not wrong, f"{op} {form} {[hex(int(d[wrong[0]])) for d in drawn]}: {wanted[wrong[0]]:#x}"


def forms(rng: Any) -> tuple[str, str, str, str, str, str, str]:
    """Types, selectors and how it ends, by lot: d, a, b, asel, bsel, second, dsel."""
    d, a, b = (str(rng.choice(TYPES)) for _ in range(3))
    asel, bsel = (str(rng.choice(SELECTORS)) for _ in range(2))
    end = str(rng.choice(["", "add", "min", "max", "b0", "b2", "b3", "h0", "h1"]))
    second, into = (end, "") if end in ("add", "min", "max") else ("", end)
    return d, a, b, asel, bsel, second, into


def dotted(*parts: str) -> str:
    return "".join(f".{p}" for p in parts if p)


@pytest.mark.parametrize("opcode", ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr"])
def test_scalar_operations(opcode: str) -> None:
    rng = np.random.default_rng(7)
    for seed in range(6):
        d, a, b, asel, bsel, second, into = forms(rng)
        sat = "sat" if rng.random() < 0.5 else ""
        mode = ""
        if opcode in ("vshl", "vshr"):
            b, mode = "u32", str(rng.choice(["clamp", "wrap"]))
        third = bool(second or into)
        op = f"{opcode}.{d}.{a}.{b}{dotted(sat, mode, second)}"
        form = f"{{d0}}{dotted(into)}, {{s0}}{dotted(asel)}, {{s1}}{dotted(bsel)}"

        def expected(x: int, y: int, c: int = 0) -> int:
            left, right = part(x, a, asel), part(y, b, bsel)  # noqa: B023
            return scalar(opcode, left, right, c, mode, bool(sat), second, into, d)  # noqa: B023

        check(op, form + (", {s2}" if third else ""), expected, seed, 3 if third else 2)


@pytest.mark.parametrize("scale", [0, 7, 15])
def test_multiply_add(scale: int) -> None:
    rng = np.random.default_rng(scale)
    for seed, (po, sat) in enumerate(itertools.product(("", "po"), ("", "sat"))):
        d, a, b, asel, bsel, _, _ = forms(rng)
        op = f"vmad.{d}.{a}.{b}{dotted(po, sat, f'shr{scale}' if scale else '')}"
        form = f"{{d0}}, {{s0}}{dotted(asel)}, {{s1}}{dotted(bsel)}, {{s2}}"
        signed = "s32" in (a, b)

        def expected(x: int, y: int, c: int) -> int:
            left, right = (extend(v, 32, True) for v in (part(x, a, asel), part(y, b, bsel)))  # noqa: B023
            total = left * right + extend(c, 32, True) + bool(po)  # noqa: B023
            if scale and not signed:  # noqa: B023
                total %= 2**64
            result = total >> scale
            return (clamp(result, 32, signed) if sat else result) & 0xFFFFFFFF  # noqa: B023

        check(op, form, expected, seed)


@pytest.mark.parametrize("cmp", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(cmp: str) -> None:
    rng = np.random.default_rng(3)
    for seed in range(4):
        _, a, b, asel, bsel, second, into = forms(rng)
        third = bool(second or into)
        op = f"vset.{a}.{b}.{cmp}{dotted(second)}"
        form = f"{{d0}}{dotted(into)}, {{s0}}{dotted(asel)}, {{s1}}{dotted(bsel)}"

        def expected(x: int, y: int, c: int = 0) -> int:
            value = compared(cmp, part(x, a, asel), part(y, b, bsel))  # noqa: B023
            return finish(value, c, second, into, a)  # noqa: B023

        check(op, form + (", {s2}" if third else ""), expected, seed, 3 if third else 2)


def compared(cmp: str, a: int, b: int) -> int:
    return int(getattr(operator, cmp)(a, b))


# ---------------------------------------------------------------- SIMD


def average(a: int, b: int) -> int:
    return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1


LANES = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vavrg": average,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}
CASES = [
    # mask, asel, bsel, by lanes from the highest; empty: the default
    ("", "", ""),
    ("0", "", ""),
    ("", "reversed", "other"),
    ("high", "same", "reversed"),
]


def picked(case: str, count: int, default: list[int]) -> tuple[str, list[int]]:
    """A selector's digits and the numbers of its lanes, lowest first."""
    highest_first = {
        "": default,
        "reversed": default[::-1],
        "other": [(n * 3 + 1) % (2 * count) for n in range(count)],
        "same": [count] * count,
    }[case]
    digits = "" if not case else "".join(map(str, highest_first))
    return digits, highest_first[::-1]


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("opcode", [*LANES, "vset"])
def test_simd_operations(opcode: str, count: int) -> None:
    bits, letter = 32 // count, "h" if count == 2 else "b"
    rng = np.random.default_rng(count)
    for seed, (mask_case, a_case, b_case) in enumerate(CASES):
        d, a, b = (str(rng.choice(TYPES)) for _ in range(3))
        asel, a_lanes = picked(a_case, count, list(range(count))[::-1])
        bsel, b_lanes = picked(b_case, count, list(range(count, 2 * count))[::-1])
        mask = {"": list(range(count)), "0": [0], "high": list(range(1, count))}[mask_case]
        digits = "".join(map(str, reversed(mask))) if mask_case else ""
        names = [dotted(letter + s if s else "") for s in (digits, asel, bsel)]
        form = f"{{d0}}{names[0]}, {{s0}}{names[1]}, {{s1}}{names[2]}, {{s2}}"
        for end in ("", "sat", "add"):
            if opcode == "vset":
                d, end = "u32", "" if end == "sat" else end
                op = f"vset{count}.{a}.{b}.lt{dotted(end)}"
            else:
                op = f"{opcode}{count}.{d}.{a}.{b}{dotted(end)}"

            def expected(x: int, y: int, c: int) -> int:
                both = x | y << 32
                result = c if end == "add" else 0  # noqa: B023
                for n in range(count):
                    if n not in mask:  # noqa: B023
                        result |= c & (2**bits - 1) << bits * n if end != "add" else 0  # noqa: B023
                        continue
                    left = extend(both >> bits * a_lanes[n], bits, a == "s32")  # noqa: B023
                    right = extend(both >> bits * b_lanes[n], bits, b == "s32")  # noqa: B023
                    value = int(left < right) if opcode == "vset" else LANES[opcode](left, right)
                    if end == "sat":  # noqa: B023
                        value = clamp(value, bits, d == "s32")  # noqa: B023
                    if end == "add":  # noqa: B023
                        result += value
                    else:
                        result |= (value & 2**bits - 1) << bits * n
                return result & 0xFFFFFFFF

            check(op, form, expected, seed)
