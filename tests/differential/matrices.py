"""Tensor cores: every shape and type of mma, wmma and wgmma, on ordinary and adversarial fragments.

A fragment is filled without regard to where its elements lie: the two devices agree on that or
their results do not agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from ptx import types
from ptx.isa import FORMS, Slot, Variant
from ptx.isa.notation import variants
from ptx.layouts import MatrixDescriptor
from ptx.targets import meets
from tests.differential.instances import TARGET
from tests.differential.jobs import Job
from tests.differential.programs import HEAD
from tests.differential.values import LAYOUTS, Array, Layout, edges, generator

KINDS = ("near", "wide", "cancel", "subnormal", "special", "bits", "large", "aligned", "ragged")
SEED = 9
_TF32 = Layout(8, 23)
_ELEMENT_BITS = {"tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


def _layout(type: str) -> Layout | None:
    return _TF32 if type == "tf32" else LAYOUTS.get(type)


def element_bits(type: str) -> int:
    layout = _layout(type)
    return 1 + layout.exponent + layout.fraction if layout else _ELEMENT_BITS[type]


# ---------------------------------------------------------------- elements


def elements(type: str, kind: str, role: str, count: int, draw: np.random.Generator) -> Array:
    """Patterns of `count` elements of operand `role` (a, b or c), as uint64."""
    layout = _layout(type)
    if layout is None:
        return _integers(type, kind, role, count, draw)
    if kind == "bits":
        return draw.integers(0, 1 << element_bits(type), count, dtype=np.uint64)
    powers = _powers(layout, kind, role, count, draw)
    fraction = draw.integers(0, 1 << layout.fraction, count, dtype=np.uint64)
    if type == "tf32" and kind != "aligned":
        # The lower 13 bits are no part of the value.
        fraction &= np.uint64(0x7FE000)
    if kind == "cancel" and role != "c":
        fraction = np.where(draw.random(count) < 0.8, fraction[0], fraction)
    exponent = np.clip(powers + layout.bias, 0, 2 * layout.bias).astype(np.uint64)
    sign = draw.integers(0, 2, count, dtype=np.uint64) << np.uint64(element_bits(type) - 1)
    found: Array = sign | exponent << np.uint64(layout.fraction) | fraction
    if kind == "special":
        known = np.array(edges("f32" if type == "tf32" else type), np.uint64)
        found = np.where(draw.random(count) < 0.04, draw.choice(known, count), found)
    return found


def _powers(layout: Layout, kind: str, role: str, count: int, draw: np.random.Generator) -> Array:
    """Exponents of the elements' values."""
    middle = int(draw.integers(-2, 3))
    if kind == "wide":
        return np.rint(draw.normal(0, 6, count)).astype(np.int64)
    if kind == "cancel":
        spread = 0 if role != "c" else int(draw.integers(0, 12))
        small = draw.random(count) < 0.15
        return np.where(small, middle - 8 + draw.integers(0, 6, count), middle - spread)
    if kind == "subnormal":
        return -layout.bias + draw.integers(-1, 6, count)
    if kind == "ragged":
        # Subnormal factors beside ordinary ones, their products of like size.
        low, high = -layout.bias + draw.integers(-1, 1, count), draw.integers(0, 2, count)
        even = -(layout.bias // 2) + draw.integers(-1, 2, count)
        shape = int(draw.integers(3))
        if role == "c":
            return -layout.bias + draw.integers(-4, 6, count)
        return [np.where(draw.random(count) < 0.4, low, high), even + layout.bias // 2, low][shape]
    if kind == "large":
        return layout.bias - draw.integers(0, 3, count)
    if kind == "aligned":
        # Sums whose terms lie far below the largest: which bits does the alignment keep?
        if role == "c":
            return np.full(count, int(draw.integers(-6, 28)), np.int64)
        return np.where(draw.random(count) < 0.2, 0, -draw.integers(0, 14, count))
    return draw.integers(-1, 2, count) + (0 if role != "c" else middle)


def _integers(type: str, kind: str, role: str, count: int, draw: np.random.Generator) -> Array:
    bits = element_bits(type)
    found = draw.integers(0, 1 << bits, count, dtype=np.uint64)
    if role == "c" and kind in ("large", "special", "aligned"):
        ends = np.array([0x7FFFFFFF, 0x80000000, 0x7FFFFF00, 0x80000100], np.uint64)
        return draw.choice(ends, count)
    if kind in ("large", "cancel"):
        ends = np.array([0, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1], np.uint64)
        return draw.choice(ends, count)
    return found


def packed(type: str, kind: str, role: str, words: int, draw: np.random.Generator) -> Array:
    """`words` registers of elements: of 64 bits for f64, else of 32."""
    bits = element_bits(type)
    if bits == 64:
        return elements(type, kind, role, words, draw)
    per = 32 // bits
    found = elements(type, kind, role, words * per, draw).reshape(words, per)
    whole = np.zeros(words, np.uint64)
    for part in range(per):
        whole |= found[:, part] << np.uint64(part * bits)
    return whole.astype(np.uint32)


def _cases(type: str, role: str, words: int, each: int, name: str) -> Array:
    """`each` cases of every kind, each of `words` registers; for `each` 0 one case of two kinds."""
    draw = generator(SEED, "matrix", name, role)
    kinds = KINDS if each else ("near", "aligned")
    return np.stack(
        [packed(type, kind, role, words, draw) for kind in kinds for _ in range(max(each, 1))]
    )


# ---------------------------------------------------------------- variants


def _variants(opcode: str, *without: str) -> Iterator[Variant]:
    for form in FORMS[opcode]:
        for words, bound in form.spellings():
            for variant in variants(form, words, bound):
                fits = all(meets(TARGET, need) for need in variant.needs)
                if fits and not set(without) & set(words):
                    yield variant


def operand_types(variant: Variant) -> tuple[str, str, str]:
    """Element types of a, b and c: the last three types of an mma, or two where d is c."""
    found = [w for w in variant.words if w in types.TYPES]
    if variant.opcode == "wgmma":
        accumulator, *rest = found
        a, b = rest if len(rest) == 2 else rest * 2
        return a, b, accumulator
    return (found[1], found[2], found[3]) if len(found) == 4 else (found[0],) * 3


def _registers(slot: Slot, prefix: str) -> list[str]:
    return [f"%{prefix}{n}" for n in range(slot.count or 1)]


def _declared(slot: Slot, prefix: str) -> str:
    return f".reg .{types.register_type(slot.type)} {', '.join(_registers(slot, prefix))};"


def _size(slot: Slot) -> int:
    return types.bits(slot.type) // 8


def _each_lane(slot: Slot, prefix: str, verb: str, base: str) -> Iterator[str]:
    """Load or store a fragment: the registers of a lane lie together."""
    registers, size = _registers(slot, prefix), _size(slot)
    yield f"mad.wide.u32 %at, %lane, {size * len(registers)}, {base};"
    for n, name in enumerate(registers):
        where = f"[%at+{n * size}]"
        pair = f"{where}, {name}" if verb == "st" else f"{name}, {where}"
        yield f"{verb}.global.b{8 * size} {pair};"


def _vector(slot: Slot, prefix: str) -> str:
    return f"{{{', '.join(_registers(slot, prefix))}}}"


def _head(parameters: str) -> list[str]:
    names = parameters.split()
    declared = ", ".join(f".param .u64 {name}" for name in names)
    lines = [f".visible .entry job({declared})\n{{", ".reg .b64 %at; .reg .b32 %lane, %t;"]
    lines += [f".reg .b64 %{name}_p; ld.param.u64 %{name}_p, [{name}];" for name in names]
    lines += ["mov.u32 %lane, %ctaid.x; mov.u32 %t, %ntid.x;"]
    return [*lines, "mul.lo.u32 %lane, %lane, %t; mov.u32 %t, %tid.x; add.u32 %lane, %lane, %t;"]


# ---------------------------------------------------------------- mma


def mma_jobs(each: int = 12) -> Iterator[Job]:
    """Every dense mma: one warp for each case, its fragments from memory."""
    for variant in _variants("mma", *_SPARSE):
        yield _mma_job(variant, each)


def sparse_mma_jobs(each: int = 12) -> Iterator[Job]:
    """Every sparse mma, likewise, its metadata and selector by lot."""
    for variant in _variants("mma"):
        if set(_SPARSE) & set(variant.words):
            yield _mma_job(variant, each)


_SPARSE = ("sp", "sp::ordered_metadata")


def _mma_job(variant: Variant, each: int) -> Job:
    d, a, b, c, *rest = variant.slots
    lines = _head("a b c e out" if rest else "a b c out")
    for slot, prefix in ((d, "d"), (a, "a"), (b, "b"), (c, "c")):
        lines.append(_declared(slot, prefix))
        if prefix != "d":
            lines += _each_lane(slot, prefix, "ld", f"%{prefix}_p")
    operands = ", ".join(_vector(s, p) for s, p in ((d, "d"), (a, "a"), (b, "b"), (c, "c")))
    inputs = [
        _cases(type, role, 32 * (slot.count or 1), each, variant.op)
        for type, role, slot in zip(operand_types(variant), "abc", (a, b, c), strict=True)
    ]
    if rest:
        meta, selector = rest
        lines += [_declared(meta, "e"), *_each_lane(meta, "e", "ld", "%e_p")]
        draw = generator(SEED, "metadata", variant.op)
        assert selector.literals is not None
        operands += f", %e0, {draw.choice(list(selector.literals))}"
        inputs.append(_metadata(variant, inputs[0].shape[0], 32, draw))
    lines += [f"{variant.op} {operands};", *_each_lane(d, "d", "st", "%out_p"), "ret;", "}"]
    grid = len(inputs[0])
    out_bytes = grid * 32 * (d.count or 1) * _size(d)
    return Job(variant.op, HEAD + "\n".join(lines) + "\n", grid, 32, tuple(inputs), out_bytes)


def _metadata(variant: Variant, cases: int, lanes: int, draw: np.random.Generator) -> Array:
    """Legal metadata for every lane: eight times four bits that name two places."""
    legal = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
    if "sp::ordered_metadata" not in variant.words:
        legal += [n >> 2 | (n & 3) << 2 for n in legal]
    if "tf32" in variant.words:
        legal = [0b0100, 0b1110]
    nibbles = draw.choice(np.array(legal, np.uint32), (cases, lanes, 8))
    shifted: Array = nibbles << np.arange(0, 32, 4, dtype=np.uint32)
    return np.bitwise_or.reduce(shifted, axis=2)


# ---------------------------------------------------------------- wmma


def wmma_jobs(each: int = 2) -> Iterator[Job]:
    """Every wmma.mma between its loads and its store, so that fragments may be laid out at will."""
    for variant in _variants("wmma"):
        if "mma" not in variant.words:
            continue
        words = variant.words
        shape = next(w for w in words if w[0] == "m" and w[1:2].isdigit())
        layouts = [w for w in words if w in ("row", "col")]
        types_ = [w for w in words if w in types.TYPES]
        d_type, a_type, b_type, c_type = (
            types_ if len(types_) == 4 else ([types_[0], "f16", "f16", types_[1]])
        )
        yield _wmma_job(variant, shape, layouts, (d_type, a_type, b_type, c_type), each)


def _wmma_job(
    variant: Variant, shape: str, layouts: list[str], four: tuple[str, ...], each: int
) -> Job:
    d_type, a_type, b_type, c_type = four
    m, n, k = (int(part) for part in shape[1:].replace("n", " ").replace("k", " ").split())
    d, a, b, c = variant.slots
    draw = generator(SEED, "layout", variant.op)
    c_layout = str(draw.choice(["row", "col"]))
    lines = _head("a b c out")
    lines += [_declared(slot, p) for slot, p in ((d, "d"), (a, "a"), (b, "b"), (c, "c"))]
    sizes = {"a": m * k, "b": k * n, "c": m * n, "out": m * n}
    kinds = {"a": a_type, "b": b_type, "c": c_type, "out": d_type}
    for name, count in sizes.items():
        step = count * element_bits(kinds[name]) // 8
        lines.append(f"mov.u32 %t, %ctaid.x; mad.wide.u32 %{name}_p, %t, {step}, %{name}_p;")
    strides = {
        "a": k if layouts[0] == "row" else m,
        "b": n if layouts[1] == "row" else k,
        "c": n if c_layout == "row" else m,
    }
    for name, slot, layout in (("a", a, layouts[0]), ("b", b, layouts[1]), ("c", c, c_layout)):
        lines.append(
            f"wmma.load.{name}.sync.aligned.{layout}.{shape}.global.{kinds[name]} "
            f"{_vector(slot, name)}, [%{name}_p], {strides[name]};"
        )
    vectors = ", ".join(_vector(s, p) for s, p in ((d, "d"), (a, "a"), (b, "b"), (c, "c")))
    lines.append(f"{variant.op} {vectors};")
    lines.append(
        f"wmma.store.d.sync.aligned.{c_layout}.{shape}.global.{d_type} "
        f"[%out_p], {_vector(d, 'd')}, {strides['c']};"
    )
    inputs = []
    for role in "abc":
        bits = element_bits(kinds[role])
        words = sizes[role] * bits // (64 if bits == 64 else 32)
        inputs.append(_cases(kinds[role], role, words, each, variant.op))
    grid = len(inputs[0])
    out_bytes = grid * m * n * element_bits(d_type) // 8
    text = HEAD + "\n".join([*lines, "ret;", "}"]) + "\n"
    return Job(variant.op, text, grid, 32, tuple(inputs), out_bytes)


# ---------------------------------------------------------------- wgmma

_SMALL, _LARGE = 8, 256


def wgmma_jobs() -> Iterator[Job]:
    """Every type at n = 8 with many cases and at n = 256 with few; every n for one type."""
    for variant in _variants("wgmma", "sp", "fence", "commit_group", "wait_group"):
        if variant.slots[1].kind == "imm" or len(variant.slots) < 4:
            continue
        n = int(variant.choices["n"])
        every = "f32.f16.f16" in variant.op
        if n in (_SMALL, _LARGE) or every:
            each = 6 if n == _SMALL else 0
            in_registers = variant.slots[1].count is not None
            if in_registers:
                yield wgmma_job(variant, n, each, None, 0, False, False)
            elif operand_types(variant)[0] in ("f16", "bf16") and n in (_SMALL, 64):
                for span, ta, tb in product((0, 32, 64, 128), (False, True), (False, True)):
                    if not (tb and n == _SMALL and span):
                        yield wgmma_job(variant, n, int(n == _SMALL), span, span, ta, tb)
            elif n == _SMALL:
                yield wgmma_job(variant, n, 1, 32, 32, False, False)


def sparse_wgmma_jobs(each: int = 2) -> Iterator[Job]:
    """Every sparse type at n = 8 with many cases and at n = 256 with few; A in both places."""
    for variant in _variants("wgmma"):
        if "sp" in variant.words and int(variant.choices["n"]) in (_SMALL, _LARGE):
            n = int(variant.choices["n"])
            in_registers = variant.slots[1].count is not None
            for b_span in (64, 128):
                a_span = None if in_registers else b_span // 2
                yield wgmma_job(variant, n, each * (n == _SMALL), a_span, b_span, False, False)


def _descriptor(extent: int, span: int, transposed: bool) -> tuple[int, int]:
    """The constant bits of an operand's descriptor, and the bytes of shared memory it covers.

    K has 32 bytes. Transposed operands are of 16 bits: eight steps of k of one span are an atom.
    """
    atom = 8 * (span or 16)
    if not transposed and not span:
        return MatrixDescriptor(0, 128, 256, 0).bits, 32 * extent
    if not transposed:
        return MatrixDescriptor(0, 16, atom, span).bits, atom * (extent // 8)
    if not span:
        # Atoms of 8 elements: `stride` goes along M or N here, `leading` along K.
        return MatrixDescriptor(0, 128, 256, 0).bits, 32 * extent
    return MatrixDescriptor(0, 2 * atom, atom, span).bits, 32 * max(extent, span // 2)


def wgmma_job(
    variant: Variant,
    n: int,
    each: int,
    a_span: int | None,
    b_span: int,
    transposed_a: bool,
    transposed_b: bool,
) -> Job:
    """One warpgroup for each case; A in registers where `a_span` is None.

    A row of a sparse product's B has 64 bytes, half of a swizzle's span or all of it.
    """
    name = f"{variant.op} a{a_span}{transposed_a} b{b_span}{transposed_b}"
    draw = generator(SEED, "wgmma", name)
    d = variant.slots[0]
    a_type, b_type, c_type = operand_types(variant)
    b_bits, b_bytes = _descriptor(n, b_span, transposed_b)
    a_bits, a_bytes = (0, 128 * 16) if a_span is None else _descriptor(64, a_span, transposed_a)
    sparse = "sp" in variant.words
    lines = _head("a b c e out" if sparse else "a b c out")
    lines += [f".shared .align 1024 .b8 a_tile[{a_bytes}], b_tile[{b_bytes}];"]
    lines += [".reg .b32 %i, %to, %case, %word, %a0, %a1, %a2, %a3; .reg .pred %p, %one;"]
    lines += [".reg .b64 %adesc, %bdesc;", "mov.u32 %case, %ctaid.x; mov.u32 %i, %tid.x;"]
    lines += [f"mad.wide.u32 %b_p, %case, {b_bytes}, %b_p;", *_copy("b", b_bytes)]
    if a_span is None:
        lines += ["mad.wide.u32 %at, %lane, 16, %a_p;"]
        lines += ["ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%at];"]
    else:
        lines += [f"mad.wide.u32 %a_p, %case, {a_bytes}, %a_p;", *_copy("a", a_bytes)]
    lines += [_declared(d, "d"), *_each_lane(d, "d", "ld", "%c_p")]
    for tile, bits in (("a", a_bits), ("b", b_bits)):
        lines += [f"mov.u32 %t, {tile}_tile; shr.u32 %t, %t, 4; cvt.u64.u32 %{tile}desc, %t;"]
        lines += [f"or.b64 %{tile}desc, %{tile}desc, {bits};"]
    lines += ["fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %one, 0, 0;"]
    a = "%adesc" if a_span is not None else "{%a0, %a1, %a2, %a3}"
    operands = [_vector(d, "d"), a, "%bdesc"]
    rest = variant.slots[3:]
    if sparse:
        meta, selector, *rest = rest
        lines += [_declared(meta, "e"), *_each_lane(meta, "e", "ld", "%e_p")]
        assert selector.literals is not None
        operands += ["%e0", str(draw.choice(list(selector.literals)))]
    operands.append("%one")
    for slot in rest[1:]:
        assert slot.literals is not None
        chosen = {"trans_a": int(transposed_a), "trans_b": int(transposed_b)}
        sign = int(draw.choice([1, 1, -1]))
        operands.append(str(chosen.get(slot.name, sign)))
    lines += ["wgmma.fence.sync.aligned;", f"{variant.op} {', '.join(operands)};"]
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    lines += [*_each_lane(d, "d", "st", "%out_p"), "ret;", "}"]
    inputs: tuple[Array, ...] = (
        _cases(a_type, "a", a_bytes // 4, each, name),
        _cases(b_type, "b", b_bytes // 4, each, name),
        _cases(c_type, "c", 128 * (d.count or 1), each, name),
    )
    grid = len(inputs[0])
    if sparse:
        inputs = (*inputs, _metadata(variant, grid, 128, draw))
    out_bytes = grid * 128 * (d.count or 1) * 4
    return Job(name, HEAD + "\n".join(lines) + "\n", grid, 128, inputs, out_bytes)


def _copy(name: str, nbytes: int) -> list[str]:
    """A tile from global to shared memory, by 128 threads, a word each at a time."""
    return [
        f"mov.u32 %i, %tid.x; mov.u32 %to, {name}_tile;",
        f"{name}_next: setp.ge.u32 %p, %i, {nbytes // 4}; @%p bra {name}_done;",
        f"mad.wide.u32 %at, %i, 4, %{name}_p; ld.global.b32 %word, [%at];",
        "mad.lo.u32 %t, %i, 4, %to; st.shared.b32 [%t], %word; add.u32 %i, %i, 128;",
        f"bra {name}_next; {name}_done:",
    ]
