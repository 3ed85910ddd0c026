"""Matrix instructions of a warp: ldmatrix, stmatrix, movmatrix, mma, wmma (section 9.7.14).

All threads of a warp execute them together; a warp with fewer than 32 threads cannot. Fragments lie
as :mod:`ptx.layouts` says: those of ``mma`` as the manual draws them, those of ``wmma``, which it
leaves open, as on sm_90.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ptx import layouts, types
from ptx.emu import steps
from ptx.emu.access import (
    addresses,
    load_cells,
    operand_space,
    space_of,
    store_cells,
    vector_operands,
)
from ptx.emu.faults import AccessError, Unmodelled
from ptx.emu.memory import Array
from ptx.emu.program import Decoded
from ptx.emu.semantics import tensor_core
from ptx.emu.sparse import Selection, gathered_rows
from ptx.emu.steps import Source, select
from ptx.ir import Operand

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

Together = Callable[[Array], None]
Maker = Callable[["Chunk", Decoded], tuple[Source, Together]]
WARP = 32
SHAPES = "m8n8k4 m16n8k4 m16n8k8 m16n8k16 m8n8k16 m16n8k32 m8n8k32 m16n8k64 m8n8k128 m16n8k128 "
SHAPES += "m16n8k256 m16n16k16 m8n32k16 m32n8k16 m16n16k8"


def maker(decoded: Decoded) -> Maker:
    """What binds a matrix instruction."""
    words = decoded.words
    makers: dict[str, Maker] = {
        "ldmatrix": _load_matrices,
        "stmatrix": _store_matrices,
        "movmatrix": _move_matrix,
        "mma": _multiply,
        "wmma": _wmma,
    }
    if words.opcode not in makers:
        raise Unmodelled.of(decoded.instruction)
    if words.opcode in ("ldmatrix", "stmatrix") and "b16" not in words:
        why = "where narrower elements lie the manual draws and does not say"
        raise Unmodelled.of(decoded.instruction, why)
    return makers[words.opcode]


def together(chunk: Chunk, action: Callable[[Array], None]) -> tuple[Source, Together]:
    """An action on whole warps: threads as ``(warps, 32)``."""

    def run(who: Array) -> None:
        sizes = np.bincount(chunk.warp_of[who], minlength=chunk.warp_count)
        short = (sizes > 0) & (sizes < WARP)
        if short.any():
            lane = int(who[np.argmax(short[chunk.warp_of[who]])])
            raise AccessError(
                "mask",
                f"a warp of {int(sizes[chunk.warp_of[lane]])} threads cannot execute this: "
                "it takes all 32",
                lane=lane,
            )
        action(who.reshape(-1, WARP))

    return np.broadcast_to(np.uint32(0xFFFFFFFF), chunk.count), run


def sources(chunk: Chunk, decoded: Decoded, operand: Operand, type: str) -> list[Source]:
    return [steps.read(chunk, decoded, one, type) for one in vector_operands(operand)]


def gathered(registers: list[Source], warps: Array) -> Array:
    """Registers of whole warps: ``(warps, 32, registers)``."""
    flat = warps.ravel()
    columns = [np.ascontiguousarray(select(register, flat)) for register in registers]
    return np.stack(columns, axis=1).reshape(*warps.shape, len(registers))


@cache
def places(fragment: layouts.Fragment) -> tuple[Array, Array]:
    """Row and column of each lane's elements: two arrays (lanes, elements)."""
    table = np.array(fragment.places)
    return table[:, :, 0], table[:, :, 1]


def matrix_of(fragment: layouts.Fragment, held: Array) -> Array:
    """Fragments ``(warps, 32, elements)`` as matrices."""
    rows, columns = places(fragment)
    matrix = np.zeros((len(held), fragment.rows, fragment.columns), held.dtype)
    matrix[:, rows, columns] = held
    return matrix


def fragment_of(fragment: layouts.Fragment, matrix: Array) -> Array:
    rows, columns = places(fragment)
    return np.ascontiguousarray(matrix[:, rows, columns])


def _rows(chunk: Chunk, decoded: Decoded, count: int) -> Callable[[Array], tuple[Array, Array]]:
    """The threads whose addresses count, and the addresses: eight for each matrix."""
    operand = decoded.operands[1 if decoded.words.opcode == "ldmatrix" else 0]
    where = addresses(chunk, decoded, operand)
    target = (chunk.program.module.target or "").removeprefix("sm_").rstrip("af")
    every = target.isdigit() and int(target) <= 75

    def take(warps: Array) -> tuple[Array, Array]:
        if every:
            # Up to sm_75 the addresses of unused lanes must be valid too.
            flat = warps.ravel()
            space = operand_space(chunk, decoded, operand, space_of(decoded))
            space.locate(where(flat), 16, flat)
        lanes = warps[:, : 8 * count].ravel()
        return lanes, where(lanes)

    return take


def _blaming(lanes: Array, action: Callable[[], Any]) -> Any:
    """Do something for these threads; a fault at a position is that thread's."""
    try:
        return action()
    except AccessError as error:
        if error.lane < 0 and error.position >= 0:
            error.lane = int(lanes[error.position])
        raise


def _load_matrices(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    outs = [
        steps.target(chunk, decoded, operand, "b32")
        for operand in vector_operands(decoded.operands[0])
    ]
    rows = _rows(chunk, decoded, len(outs))
    space = operand_space(chunk, decoded, decoded.operands[1], space_of(decoded))
    fragment = layouts.ldmatrix_fragment("trans" in decoded.words)

    def action(warps: Array) -> None:
        lanes, at = _blaming(warps.ravel(), lambda: rows(warps))
        cells = _blaming(lanes, lambda: load_cells(space, at, 16, lanes))
        matrices = cells.view(np.uint16).reshape(len(warps), len(outs), 8, 8)
        for number, out in enumerate(outs):
            held = fragment_of(fragment, matrices[:, number])
            out[warps] = held.view(np.uint32)[:, :, 0]

    return together(chunk, action)


def _store_matrices(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    registers = sources(chunk, decoded, decoded.operands[1], "b32")
    rows = _rows(chunk, decoded, len(registers))
    space = operand_space(chunk, decoded, decoded.operands[0], space_of(decoded))
    fragment = layouts.ldmatrix_fragment("trans" in decoded.words)

    def action(warps: Array) -> None:
        held = gathered(registers, warps)
        matrices = np.stack(
            [
                matrix_of(fragment, np.ascontiguousarray(held[:, :, [n]]).view(np.uint16))
                for n in range(len(registers))
            ],
            axis=1,
        )
        cells = matrices.reshape(-1, 8).view("V16").reshape(-1)
        lanes, at = _blaming(warps.ravel(), lambda: rows(warps))
        _blaming(lanes, lambda: store_cells(space, at, 16, cells, lanes))
        chunk.progress += 1

    return together(chunk, action)


def _move_matrix(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    out = steps.target(chunk, decoded, decoded.operands[0], "b32")
    registers = sources(chunk, decoded, decoded.operands[1], "b32")
    plain, turned = layouts.ldmatrix_fragment(), layouts.ldmatrix_fragment(True)

    def action(warps: Array) -> None:
        matrix = matrix_of(plain, gathered(registers, warps).view(np.uint16))
        out[warps] = fragment_of(turned, matrix).view(np.uint32)[:, :, 0]

    return together(chunk, action)


# ---------------------------------------------------------------- mma


def _held_in(type: str) -> str:
    """The register type of an operand's elements."""
    return type if type in ("f64",) else "b32"


def input_bits(type: str, kind: bool) -> int:
    """Bits that an input element takes in its register; kind::f8f6f4 gives each a byte."""
    if type == "tf32":
        return 32
    if type in ("e3m2", "e2m3", "e2m1"):
        return 8
    return {"b1": 1, "s4": 4, "u4": 4}.get(type, 8 if kind else 0) or types.bits(
        {"e4m3": "u8", "e5m2": "u8"}.get(type, type)
    )


def _multiply(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    words = decoded.words
    shape = words.one_of(SHAPES)
    if "block_scale" in words:
        from ptx.emu import scaled

        return scaled.bind(chunk, decoded)
    d_type, a_type, b_type, c_type = words.types[:4]
    if shape == "m8n8k4" and a_type == "f16":
        return _quad_products(chunk, decoded, d_type, c_type)
    d, a, b, c = decoded.operands[:4]
    kind = any(word.startswith("kind::") for word in words.all)
    a_map, selection = layouts.mma_fragment(shape, "a", input_bits(a_type, kind)), None
    if any(word.startswith("sp") for word in words.all):
        _, _, k = layouts.shape_of(shape)
        meta, selector = decoded.operands[4:6]
        selection = Selection(chunk, decoded, meta, selector, k, input_bits(a_type, kind))
        a_map = layouts.mma_sparse_fragment(shape, input_bits(a_type, kind))
    fragments = (
        a_map,
        layouts.mma_fragment(shape, "b", input_bits(b_type, kind)),
        layouts.mma_fragment(shape, "c", types.bits(d_type)),
    )
    kinds = d_type, a_type, b_type, c_type
    return product(chunk, decoded, (d, a, b, c), kinds, fragments, selection)


def product(
    chunk: Chunk,
    decoded: Decoded,
    operands: tuple[Operand, Operand, Operand, Operand],
    kinds: tuple[str, str, str, str],
    fragments: tuple[layouts.Fragment, layouts.Fragment, layouts.Fragment],
    selection: Selection | None = None,
) -> tuple[Source, Together]:
    """D = A B + C with operands d, a, b, c of some types, spread as the fragments say.

    `selection` tells the columns of the elements of a sparse A.
    """
    words = decoded.words
    d_type, a_type, b_type, c_type = kinds
    outs = [
        steps.target(chunk, decoded, operand, _held_in(d_type))
        for operand in vector_operands(operands[0])
    ]
    inputs = [
        sources(chunk, decoded, operand, _held_in(type))
        for operand, type in zip(operands[1:], kinds[1:], strict=True)
    ]
    saturate = "satfinite" in words

    def matrix(number: int, warps: Array) -> Array:
        registers = gathered(inputs[number], warps)
        type = kinds[1 + number]
        if type == "f32":
            held = registers.view(np.float32).astype(np.float64)
        elif type == "s32":
            held = registers.view(np.int32).astype(np.int64)
        else:
            held = tensor_core.elements(registers, type, fragments[number].bits)
        return matrix_of(fragments[number], held)

    def action(warps: Array) -> None:
        left, right, added = (matrix(number, warps) for number in range(3))
        if selection is not None:
            right = gathered_rows(right, selection.columns(warps))
        if a_type == "b1":
            operation = "and" if "and" in words else "xor"
            total = tensor_core.bit_product(left, right, added, operation)
        else:
            # Where c is wider than d, sm_90 computes in the type of c and converts.
            result = "f32" if "f32" in (c_type, d_type) else d_type
            # wmma on tf32 is done by instructions with k = 4.
            block = 4 if (words.opcode, a_type) == ("wmma", "tf32") else 0
            total = tensor_core.multiply(
                left, right, added, a_type, result, saturate, words.rounding, block
            )
            if result != d_type:
                total = tensor_core.in_half(total)
        held = tensor_core.registers_of(fragment_of(fragments[2], total), d_type)
        for number, out in enumerate(outs):
            out[warps] = held[:, :, number]

    return together(chunk, action)


def _quad_products(
    chunk: Chunk, decoded: Decoded, d_type: str, c_type: str
) -> tuple[Source, Together]:
    """mma.m8n8k4 of f16: four products, one for each quad pair of lanes."""
    d, a, b, c = decoded.operands[:4]
    layout_a, layout_b = [word for word in decoded.words.all if word in ("row", "col")]
    outs = [steps.target(chunk, decoded, operand, "b32") for operand in vector_operands(d)]
    inputs = [sources(chunk, decoded, operand, "b32") for operand in (a, b, c)]
    fragments = (
        layouts.mma_m8n8k4_fragment("a", layout_a),
        layouts.mma_m8n8k4_fragment("b", layout_b),
        layouts.mma_m8n8k4_fragment("c", bits=types.bits(c_type)),
    )
    result = layouts.mma_m8n8k4_fragment("c", bits=types.bits(d_type))

    def action(warps: Array) -> None:
        for quad in range(4):
            lanes = np.array([4 * quad + n for n in (0, 1, 2, 3, 16, 17, 18, 19)])
            mats = []
            for number, fragment in enumerate(fragments):
                registers = gathered(inputs[number], warps[:, lanes])
                wide = number == 2 and c_type == "f32"
                held = (
                    registers.view(np.float32).astype(np.float64)
                    if wide
                    else tensor_core.elements(registers, "f16")
                )
                rows, columns = (table[lanes] for table in places(fragment))
                matrix = np.zeros((len(warps), fragment.rows, fragment.columns))
                matrix[:, rows, columns] = held
                mats.append(matrix)
            total = tensor_core.quad_product(mats[0], mats[1], mats[2], d_type)
            rows, columns = (table[lanes] for table in places(result))
            held = tensor_core.registers_of(np.ascontiguousarray(total[:, rows, columns]), d_type)
            for number, out in enumerate(outs):
                out[warps[:, lanes]] = held[:, :, number]

    return together(chunk, action)


# ---------------------------------------------------------------- wmma


def _wmma_fragment(decoded: Decoded, operand: str, type: str) -> layouts.Fragment:
    return layouts.wmma_fragment(decoded.words.one_of(SHAPES), operand, type)


def _wmma(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    words = decoded.words
    if "load" in words:
        return _wmma_load(chunk, decoded)
    if "store" in words:
        return _wmma_store(chunk, decoded)
    named = list(words.types)
    if len(named) == 2:
        # wmma.mma.dtype.ctype: the inputs are f16.
        named = [named[0], "f16", "f16", named[1]]
    d_type, a_type, b_type, c_type = named
    d, a, b, c = decoded.operands[:4]
    fragments = (
        _wmma_fragment(decoded, "a", a_type),
        _wmma_fragment(decoded, "b", b_type),
        _wmma_fragment(decoded, "c", c_type),
    )
    return product(chunk, decoded, (d, a, b, c), (d_type, a_type, b_type, c_type), fragments)


def _wmma_access(
    chunk: Chunk,
    decoded: Decoded,
    fragment: layouts.Fragment,
    address: Operand,
    rest: tuple[Operand, ...],
) -> Callable[[Array], Array]:
    """The byte address of each element of the matrix, ``(warps, rows, columns)``, in bits."""
    by_row = "row" in decoded.words
    shape, layout = decoded.words.one_of(SHAPES), "row" if by_row else "col"
    operand = "c" if "store" in decoded.words else decoded.words.one_of("a b c")
    alignment = layouts.wmma_alignment(shape, operand, decoded.words.type, layout)
    where = addresses(chunk, decoded, address)
    stride = steps.read(chunk, decoded, rest[0], "u32") if rest else None
    rows, columns = np.arange(fragment.rows), np.arange(fragment.columns)
    tight = fragment.columns if by_row else fragment.rows

    def bits(warps: Array) -> Array:
        lanes = warps.ravel()
        base = where(lanes).reshape(warps.shape)
        pitch = (
            np.full(warps.shape, tight)
            if stride is None
            else select(stride, lanes).astype(np.int64).reshape(warps.shape)
        )
        for name, values in (("address", base), ("stride", pitch)):
            differs = (values != values[:, :1]).any(axis=1)
            if differs.any():
                raise AccessError(
                    "mask",
                    f"the threads of a warp give different values for the {name}",
                    lane=int(warps[np.argmax(differs), 0]),
                )
        for name, values in (("address", base * 8), ("stride", pitch * fragment.bits)):
            off = values[:, 0] % (8 * alignment) != 0
            if off.any():
                raise AccessError(
                    "misaligned",
                    f"the {name} of this wmma access must be a multiple of {alignment} bytes",
                    lane=int(warps[np.argmax(off), 0]),
                )
        outer, inner = (rows[:, None], columns) if by_row else (columns, rows[:, None])
        element = outer * pitch[:, :1, None] + inner
        found: Array = base[:, :1, None] * 8 + element * fragment.bits
        return found

    return bits


def _wmma_load(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    words = decoded.words
    letter = words.one_of("a b c")
    type = words.type
    destination, address, *rest = decoded.operands
    outs = [steps.target(chunk, decoded, o, _held_in(type)) for o in vector_operands(destination)]
    fragment = _wmma_fragment(decoded, letter, type)
    bits = fragment.bits
    where = _wmma_access(chunk, decoded, fragment, address, tuple(rest))
    space = operand_space(chunk, decoded, address, space_of(decoded))
    nbytes = max(1, bits // 8)

    def action(warps: Array) -> None:
        place = fragment_of(fragment, where(warps))
        lanes = np.repeat(warps.ravel(), fragment.elements)
        at = (place // 8).ravel()
        cells = _blaming(lanes, lambda: load_cells(space, at, nbytes, lanes))
        held = cells.reshape(*warps.shape, fragment.elements)
        if bits < 8:
            parts = (held >> (place % 8).astype(np.uint8)) & np.uint8((1 << bits) - 1)
            held = _packed_bits(parts, bits)
        words_held = held if bits == 64 else np.ascontiguousarray(held).view(np.uint32)
        for number, out in enumerate(outs):
            out[warps] = words_held[:, :, number].view(out.dtype)

    return together(chunk, action)


def _packed_bits(parts: Array, bits: int) -> Array:
    """Elements narrower than a byte, packed into bytes, the first lowest."""
    grouped = parts.reshape(*parts.shape[:-1], -1, 8 // bits)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(grouped << shifts, axis=-1)


def _wmma_store(chunk: Chunk, decoded: Decoded) -> tuple[Source, Together]:
    type = decoded.words.type
    address, value, *rest = decoded.operands
    registers = sources(chunk, decoded, value, _held_in(type))
    fragment = _wmma_fragment(decoded, "c", type)
    where = _wmma_access(chunk, decoded, fragment, address, tuple(rest))
    space = operand_space(chunk, decoded, address, space_of(decoded))
    nbytes = fragment.bits // 8

    def action(warps: Array) -> None:
        held = gathered(registers, warps)
        cells = held.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[nbytes]).ravel()
        lanes = np.repeat(warps.ravel(), fragment.elements)
        at = fragment_of(fragment, where(warps) // 8).ravel()
        _blaming(lanes, lambda: store_cells(space, at, nbytes, cells, lanes))
        chunk.progress += 1

    return together(chunk, action)
