"""Fragments of matrices in the registers of a warp, and their products: wmma and mma.sync.

    a = fragment(k, "matrix_a", 16, 16, 16, "f16", "col")
    b = fragment(k, "matrix_b", 16, 16, 16, "f16", "row")
    c = fragment(k, "accumulator", 16, 16, 16, "f32")
    c.fill(0.0)
    a.load(a_pointer, 16)
    b.load(b_pointer, 16)
    mma(c, a, b, c)
    c.store(c_pointer, 16, "row")

All 32 threads of a warp call each of these together, with the same arguments. The instruction
table says which combinations there are; every other one is refused on the author's line. Sources:
PTX ISA 9.0, section 9.7.14; where elements lie is in :mod:`ptx.layouts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptx import isa, layouts
from ptx.encoding import encoded, largest
from ptx.errors import PtxError
from ptx.ir import Addr, Reg, Symbol
from ptx.lane_access import Matrix, move_by_lanes, move_matrices

if TYPE_CHECKING:
    from ptx.builder import Kernel

USES = {"matrix_a": "a", "matrix_b": "b", "accumulator": "c"}
RESULTS = ("f32", "f16", "s32", "f64")
"""Types of accumulators."""
_SHAPES = (
    "m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 "
    "m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256"
).split()
_HELD = {"f32": "f32", "s32": "s32", "f64": "f64"}


@dataclass(frozen=True)
class Fragment:
    """One operand of a product in the registers of a warp; made by :func:`fragment`."""

    kernel: Kernel
    use: str
    shape: str
    """The product's: ``"m16n8k16"``."""
    type: str
    layout: str | None
    """``"row"`` or ``"col"``: how A or B lies in memory."""
    family: str
    """``"wmma"`` or ``"mma"``."""
    sparse: bool
    registers: tuple[Reg, ...]
    map: layouts.Fragment
    """Which elements each lane holds."""

    def __str__(self) -> str:
        sparse = "sparse " if self.sparse else ""
        return f"{sparse}{self.use} of {self.family} {self.shape} .{self.type}"

    # ------------------------------------------------------------ registers

    def fill(self, value: Any) -> None:
        """Every element becomes `value`: a number, rounded to nearest even, or a register.

        Emits ``mov`` for each register. A register is of the element's type (16-bit ones too).
        """
        k, per = self.kernel, self.map.per_register
        source: Any = value
        if isinstance(value, Reg):
            if per == 2:
                source = k.mov.b32((value, value))
            elif per > 2:
                raise self._error(f"fill takes a number for elements of {self.map.bits} bits")
        elif per == 1 and self.type != "tf32":
            pass  # f32, s32 and f64 are literals of their registers' types
        else:
            try:
                bits = encoded(value, self.type)
            except ValueError as problem:
                raise self._error(str(problem)) from None
            source = sum(bits << i * self.map.bits for i in range(per))
        for register in self.registers:
            k.op(f"mov.{register.type}", source, out=register)

    def registers_of(self, row: int, column: int) -> tuple[tuple[int, int], ...]:
        """The (lane, element) pairs that hold an element of the matrix."""
        return self.map.holders[row, column]

    # ------------------------------------------------------------ memory

    def load(self, pointer: Any, ldm: Any = None, layout: str | None = None) -> None:
        """Load the matrix at `pointer`, whose rows (or columns) are `ldm` elements apart.

        `pointer` points into global or shared memory, or is generic. Without `ldm` they follow
        each other. `layout` is needed for accumulators; A and B have their own. A wmma fragment
        takes one ``wmma.load``; one of mma takes loads of 32 bits (narrower ones where neighbours
        in a register do not touch in memory) and what computes each lane's address.
        """
        matrix = self._matrix(pointer, ldm, layout)
        if self.family == "mma":
            move_by_lanes(self.kernel, "ld", matrix, self.registers)
            return
        op = f"wmma.load.{USES[self.use]}.sync.aligned.{matrix.layout}.{self.shape}"
        op += f"{matrix.space_word}.{self.type}"
        rest = () if ldm is None else (ldm,)
        self.kernel.op(op, pointer, *rest, out=self.registers)

    def store(self, pointer: Any, ldm: Any = None, layout: str = "row") -> None:
        """Store the matrix; as :meth:`load`. A wmma fragment is an accumulator."""
        matrix = self._matrix(pointer, ldm, layout)
        if self.family == "mma":
            move_by_lanes(self.kernel, "st", matrix, self.registers)
            return
        if self.use != "accumulator":
            raise self._error("wmma stores accumulators only")
        op = f"wmma.store.d.sync.aligned.{layout}.{self.shape}{matrix.space_word}.{self.type}"
        rest = () if ldm is None else (ldm,)
        self.kernel.op(op, pointer, self.registers, *rest)

    def ldmatrix(self, pointer: Any, ldm: Any = None, layout: str | None = None) -> None:
        """Load an mma fragment from shared memory by one ``ldmatrix``; rows are 16-byte aligned.

        Where the layout is the other one (A by columns, B by rows), ``.trans``, for 16 bits only.
        Emits what computes each lane's address, too.
        """
        self._need_matrices("ldmatrix")
        move_matrices(self.kernel, "ldmatrix", self._matrix(pointer, ldm, layout), self.registers)

    def stmatrix(self, pointer: Any, ldm: Any = None, layout: str = "row") -> None:
        """Store an mma fragment of 16-bit elements to shared memory by one ``stmatrix``."""
        self._need_matrices("stmatrix")
        move_matrices(self.kernel, "stmatrix", self._matrix(pointer, ldm, layout), self.registers)

    def movmatrix(self) -> tuple[Reg, ...]:
        """New registers, in which each block of 8x8 elements is transposed: ``movmatrix`` each."""
        self._need_matrices("movmatrix")
        if self.map.bits != 16:
            raise self._error("movmatrix transposes elements of 16 bits")
        return tuple(self.kernel.movmatrix.sync.aligned.m8n8.trans.b16(r) for r in self.registers)

    def _need_matrices(self, opcode: str) -> None:
        if self.family != "mma" or self.map.bits == 64 or len(self.registers) not in (1, 2, 4):
            raise self._error(f"{opcode} moves 1, 2 or 4 registers of mma fragments")
        if self.use == "accumulator" and self.map.bits != 16:
            raise self._error(f"{opcode} moves accumulators of 16 bits")
        if self.shape == "m8n8k4":
            raise self._error(f"the fragments of m8n8k4 do not lie as {opcode} spreads them")

    def _matrix(self, pointer: Any, ldm: Any, layout: str | None) -> Matrix:
        """The matrix in memory, with everything checked that is known."""
        if self.layout is not None and layout not in (None, self.layout) and self.family == "wmma":
            raise self._error(f"it lies by {self.layout}, as it was made, not by {layout}")
        layout = layout or self.layout
        if layout not in ("row", "col"):
            raise self._error(f'layout is {layout!r}; expected "row" or "col"')
        matrix = Matrix(self.map, layout, pointer, ldm)
        if isinstance(ldm, int):
            if ldm < matrix.extent:
                what = "row" if layout == "row" else "column"
                raise self._error(f"ldm is {ldm}, and a {what} has {matrix.extent} elements")
            wanted = self.aligned_bytes(layout)
            if ldm * self.map.bits % (8 * wanted):
                raise self._error(
                    f"ldm must be a multiple of {wanted} bytes; {ldm} elements are "
                    f"{ldm * self.map.bits / 8:g}"
                )
        if isinstance(pointer, (Symbol, Addr)):
            self._check_pointer(pointer, self.aligned_bytes(layout))
        return matrix

    def _check_pointer(self, pointer: Symbol | Addr, wanted: int) -> None:
        base = pointer.base if isinstance(pointer, Addr) else pointer
        offset = pointer.offset
        if isinstance(base, Symbol):
            alignment = self.kernel.alignment(base)
            if alignment is not None and alignment % wanted:
                raise self._error(
                    f"{base.name} is aligned to {alignment} bytes; it must be to {wanted}: "
                    f"align={wanted}"
                )
            if offset % wanted:
                raise self._error(
                    f"{base.name}+{offset} is {offset % wanted} bytes past a multiple of {wanted}"
                )

    def aligned_bytes(self, layout: str) -> int:
        """What pointer and ldm must be multiples of: for wmma by the manual's rule, see
        :func:`ptx.layouts.wmma_alignment`, up to 32 bytes; for mma an element's size."""
        if self.family == "wmma":
            return layouts.wmma_alignment(self.shape, USES[self.use], self.type, layout)
        return max(1, self.map.bits // 8)

    def _error(self, message: str) -> PtxError:
        return PtxError(f"{self}: {message}", self.kernel.here())


def fragment(
    kernel: Kernel,
    use: str,
    m: int,
    n: int,
    k: int,
    type: str,
    layout: str | None = None,
    *,
    family: str | None = None,
    sparse: bool = False,
) -> Fragment:
    """Registers for one operand of a product of `m` x `n` x `k`; emits nothing.

    `use` is ``"matrix_a"`` (m x k), ``"matrix_b"`` (k x n) or ``"accumulator"`` (m x n); `type`
    that of the elements (f16, bf16, tf32, f64, s8, u8, s4, u4, b1, e4m3, e5m2; accumulators f32,
    f16, s32, f64). `layout`, for A and B, is how they lie in memory: ``"row"`` or ``"col"``.
    `family` is ``"wmma"`` or ``"mma"``; without it wmma where it has the shape. A `sparse` A of
    mma holds the k / 2 elements that are kept. Raises :class:`PtxError` for what PTX has not.
    """
    place, shape = kernel.here(), f"m{m}n{n}k{k}"
    if use not in USES:
        raise PtxError(f"use is {use!r}; expected one of {', '.join(USES)}", place)
    if use == "accumulator" and layout is not None:
        raise PtxError("an accumulator gets its layout where it is loaded or stored", place)
    if sparse:
        family = family or "mma"
    family = family or ("wmma" if exists("wmma", use, shape, type, False) else "mma")
    if family not in ("wmma", "mma"):
        raise PtxError(f"family is {family!r}; expected wmma or mma", place)
    if not exists(family, use, shape, type, sparse):
        found = [s for s in _SHAPES if exists(family, use, s, type, sparse)]
        raise PtxError(
            f"{family} has no {'sparse ' if sparse else ''}{use} of .{type} in {shape}; "
            f"{'there are ' + ', '.join(found) if found else 'it has none of that type'}",
            place,
        )
    if use != "accumulator":
        natural = "row" if use == "matrix_a" else "col"
        layout = layout or (natural if family == "mma" else None)
        if layout not in ("row", "col"):
            raise PtxError(f'{use} needs a layout, "row" or "col"', place)
        if family == "wmma" and not isa.resolve(_loading(use, shape, type, layout)):
            raise PtxError(f"wmma has {use} of .{type} in {shape} by {natural} only", place)
    map = _map(family, USES[use], shape, type, layout, sparse and use == "matrix_a")
    held = _HELD.get(type, "b32")
    registers = tuple(kernel.reg(held, map.registers))
    return Fragment(kernel, use, shape, type, layout, family, sparse, registers, map)


def _map(
    family: str, operand: str, shape: str, type: str, layout: str | None, halved: bool
) -> layouts.Fragment:
    if family == "wmma":
        return layouts.wmma_fragment(shape, operand, type)
    bits = layouts.ELEMENT_BITS[type]
    if shape == "m8n8k4" and bits < 64:
        return layouts.mma_m8n8k4_fragment(operand, layout or "row", bits)
    if halved:
        return layouts.mma_sparse_fragment(shape, bits)
    return layouts.mma_fragment(shape, operand, bits)


def _loading(use: str, shape: str, type: str, layout: str) -> str:
    return f"wmma.load.{USES[use]}.sync.aligned.{layout}.{shape}.{type}"


def exists(family: str, use: str, shape: str, type: str, sparse: bool = False) -> bool:
    """Whether some product of the family has such an operand."""
    if family == "wmma":
        return any(isa.resolve(_loading(use, shape, type, layout)) for layout in ("row", "col"))
    if use != "accumulator":
        return any(_products(shape, (d, type, type, d), sparse) for d in RESULTS)
    return any(
        _products(shape, (type, a, a, type), sparse)
        for a in layouts.ELEMENT_BITS
        if type in RESULTS
    )


def _products(shape: str, types: tuple[str, ...], sparse: bool) -> bool:
    op = "mma.sp" if sparse else "mma"
    bits = ".and.popc" if types[1] == "b1" else ""
    return bool(isa.resolve(f"{op}.sync.aligned.{shape}.row.col.{'.'.join(types)}{bits}"))


# ---------------------------------------------------------------- products


def load_metadata(kernel: Kernel, pointer: Any) -> Reg:
    """This lane's word of a warp's 32 at `pointer`, as :meth:`ptx.sparsity.Compressed.words` lays
    them out. Emits ``mov`` of the lane, what adds it to the pointer, and ``ld.b32``.
    """
    words = layouts.Fragment("metadata", 32, 1, 32, tuple(((lane, 0),) for lane in range(32)))
    found: Reg = kernel.reg("b32")
    move_by_lanes(kernel, "ld", Matrix(words, "row", pointer, None), (found,))
    return found


def mma(
    d: Fragment,
    a: Fragment,
    b: Fragment,
    c: Fragment,
    satfinite: bool = False,
    *,
    op: str = "xor",
    metadata: Any = None,
    selector: int = 0,
) -> None:
    """D = A B + C; `d` and `c` may be one fragment.

    `op` is for b1: bits are combined by ``"xor"`` or ``"and"`` and counted. A sparse `a` takes the
    register `metadata`, as :func:`load_metadata` makes it, and the `selector` of the lanes whose
    registers count (``mma.sp::ordered_metadata``).

    `satfinite`: sums of integers are clamped to 32 bits by the instruction itself. PTX has no such
    modifier for floating point, so clamping instructions follow the product, for each element
    of D: NaN becomes +0, +infinity the largest finite number and -infinity the smallest. They are
    ``setp.num``, ``min``, ``max`` and ``selp``, in f32 for f16 elements with conversions around.
    """
    k, place = d.kernel, d.kernel.here()
    for name, value, use in (
        ("d", d, "accumulator"), ("a", a, "matrix_a"), ("b", b, "matrix_b"), ("c", c, "accumulator")
    ):  # fmt: skip
        if value.use != use:
            raise PtxError(f"{name} is a {value.use}; expected a {use}", place)
        if (value.shape, value.family) != (d.shape, d.family):
            raise PtxError(
                f"{name} is for {value.family} {value.shape}, d for {d.family} {d.shape}", place
            )
        if value.kernel is not k:
            raise PtxError(f"{name} is a fragment of another kernel", place)
    integer = d.type == "s32"
    if satfinite and a.type == "b1":
        raise PtxError("PTX has no satfinite for counts of bits: they cannot overflow soon", place)
    spelled = _spelled(d, a, b, c, ".satfinite" if satfinite and integer else "", op)
    if not isa.resolve(spelled):
        raise PtxError(
            f"there is no {d.family} of {d.shape} with D .{d.type}, A .{a.type} {a.layout}, "
            f"B .{b.type} {b.layout} and C .{c.type}\n  {isa.explain(spelled)}",
            place,
        )
    rest: tuple[Any, ...] = ()
    if a.sparse:
        if metadata is None:
            raise PtxError("a sparse A needs its metadata", place)
        selectors = layouts.sparse_selectors(d.shape, a.map.bits)
        if selector not in selectors:
            known = " or ".join(map(str, selectors))
            raise PtxError(f"selector is {selector}; for {a} it is {known}", place)
        rest = (metadata, selector)
    k.op(spelled, a.registers, b.registers, c.registers, *rest, out=d.registers)
    if satfinite and not integer:
        _clamp(d)


def _spelled(d: Fragment, a: Fragment, b: Fragment, c: Fragment, saturating: str, op: str) -> str:
    types = f"{d.type}.{a.type}.{b.type}.{c.type}"
    if d.family == "wmma":
        kind = f".{op}.popc" if a.type == "b1" else ""
        if a.type == b.type == "f16":
            types = f"{d.type}.{c.type}"
        return f"wmma.mma{kind}.sync.aligned.{a.layout}.{b.layout}.{d.shape}.{types}{saturating}"
    opcode = "mma.sp::ordered_metadata" if a.sparse else "mma"
    by = f"{a.layout}.{b.layout}" if d.shape == "m8n8k4" and a.type == "f16" else "row.col"
    kind = f".{op}.popc" if a.type == "b1" else ""
    return f"{opcode}.sync.aligned.{d.shape}.{by}{saturating}.{types}{kind}"


def _clamp(d: Fragment) -> None:
    """NaN to +0, infinities to the largest finite numbers."""
    k = d.kernel
    for register in d.registers:
        if d.type != "f16":
            _clamp_one(k, register, register, d.type, largest(d.type))
            continue
        low, high = k.mov.b32(register, out=(k.reg("b16"), k.reg("b16")))
        for half in (low, high):
            wide = k.cvt.f32.f16(half)
            _clamp_one(k, wide, wide, "f32", largest("f16"))
            k.cvt.rn.f16.f32(wide, out=half)
        k.mov.b32((low, high), out=register)


def _clamp_one(k: Kernel, value: Reg, out: Reg, type: str, most: float) -> None:
    number = k.op(f"setp.num.{type}", value, value)
    k.op(f"min.{type}", value, most, out=out)
    k.op(f"max.{type}", out, -most, out=out)
    k.op(f"selp.{type}", out, 0.0, number, out=out)
