"""Tensor copies in every mode that a tensor map of this package has, on the emulator and on a GPU,
against plain loops over the tensor.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import ptx
from ptx.devices import Device
from ptx.emu import EmulatorFault
from ptx.tensormap import TensorMap
from tests.differential.values import columns
from tests.emu.test_async_reductions import KINDS, reduced, samples


@pytest.fixture(params=["emulator", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Device:
    return ptx.device(request.param)


TENSOR = """
.version 9.0
.target {target}
.address_size 64
.visible .entry test(.param .align 64 .b8 map[128], .param .align 64 .b8 back[128],
                     .param .u64 coords, .param .u64 data)
{{
  .shared .align 1024 .b8 tile[{bytes}]; .shared .align 8 .b64 full;
  .reg .b64 %m, %b, %c, %o; .reg .b32 %t, %f, %n, %v, %x<5>, %y<5>; .reg .b16 %h<3>; .reg .pred %p;
  mov.b64 %m, map; cvta.param.u64 %m, %m; mov.b64 %b, back; cvta.param.u64 %b, %b;
  ld.param.u64 %c, [coords]; ld.param.u64 %o, [data];
  ld.global.s32 %x0, [%c]; ld.global.s32 %x1, [%c+4]; ld.global.s32 %x2, [%c+8];
  ld.global.s32 %x3, [%c+12]; ld.global.s32 %x4, [%c+16];
  ld.global.u16 %h0, [%c+20]; ld.global.u16 %h1, [%c+22]; ld.global.u16 %h2, [%c+24];
  ld.global.s32 %y0, [%c+32]; ld.global.s32 %y1, [%c+36]; ld.global.s32 %y2, [%c+40];
  ld.global.s32 %y3, [%c+44]; ld.global.s32 %y4, [%c+48];
  mov.u32 %t, tile; mov.u32 %f, full;
  mbarrier.init.shared::cta.b64 [%f], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%f], {bytes};
  cp.async.bulk.tensor.{load} [%t], [%m, {{{where}}}], [%f]{offsets};
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%f], 0;
  @!%p bra wait;
  {store} [%b, {{{to}}}], [%t];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  mov.u32 %n, 0;
copy:
  ld.shared.u32 %v, [%t]; st.global.u32 [%o], %v;
  add.u32 %t, %t, 4; add.u64 %o, %o, 4; add.u32 %n, %n, 4;
  setp.lt.u32 %p, %n, {bytes};
  @%p bra copy;
  ret;
}}
"""
LOADED = "shared::cta.global.{mode}.mbarrier::complete_tx::bytes"


def tensor(
    where: Device,
    maps: tuple[TensorMap, TensorMap],
    mode: tuple[str, str],
    coordinates: list[int],
    offsets: list[int],
    count: int,
    to: list[int] | None = None,
) -> Any:
    """Load a tile of `count` elements by one map, store it by the other: its bytes.

    It is stored where it was loaded, but at 0 for what is negative, as no store may be.
    """
    target = [max(0, place) for place in coordinates] if to is None else to
    load, back = maps
    size = count * load.element_bytes
    dim = len(load.shape)
    places = np.zeros((2, 16), np.uint16)
    for row, place in zip(places, (coordinates, target), strict=True):
        row[:10].view(np.int32)[: len(place)] = place
    places[0, 10 : 10 + len(offsets)] = offsets
    shifts = ", ".join(f"%h{n}" for n in range(len(offsets)))
    text = TENSOR.format(
        target="sm_100a" if "gather4" in mode[0] else "sm_90a",
        bytes=size,
        load=f"{dim}d.{LOADED.format(mode=mode[0])}",
        store=mode[1].format(dim=dim),
        where=", ".join(f"%x{n}" for n in range(len(coordinates))),
        to=", ".join(f"%y{n}" for n in range(len(coordinates))),
        offsets=f", {{{shifts}}}" if offsets else "",
    )
    data = where.empty(size, "u1", poison=True)
    arguments = [*(where.tensor_map(map) for map in maps), where.array(places), data]
    where.load(text)["test"].launch(1, 1, arguments)
    return data.numpy()


@dataclass
class Tensors:
    """A tensor of samples, one of zeros to copy to, and a map of each."""

    values: Any
    source: Any
    target: Any
    load: TensorMap
    back: TensorMap

    @property
    def maps(self) -> tuple[TensorMap, TensorMap]:
        return self.load, self.back

    def stored(self) -> Any:
        """What lies in the target."""
        return self.target.numpy().view(self.values.dtype).reshape(self.values.shape)


def two_tensors(
    where: Device,
    shape: tuple[int, ...],
    element: str,
    box: tuple[int, ...],
    before: Any = None,
    **more: Any,
) -> Tensors:
    """Shapes innermost first; `before` is in the target at first."""
    kind = KINDS.get(element, np.uint16)
    values = samples(kind, int(np.prod(shape)), 3).reshape(shape[::-1])
    first = np.zeros_like(values) if before is None else before
    strides = tuple(int(s) for s in np.cumprod(shape[:-1]) * values.itemsize)
    arrays = [where.array(a.view(f"u{values.itemsize}")) for a in (values, first)]
    load, back = (TensorMap(a.pointer, shape, strides, box, element, **more) for a in arrays)
    return Tensors(values, *arrays, load, back)


BULK_STORE = "cp.async.bulk.tensor.{dim}d.global.shared::cta"
TILED = BULK_STORE + ".tile.bulk_group"


FOUR = ("tile::gather4", BULK_STORE + ".tile::scatter4.bulk_group")
EMULATOR = ptx.device("emulator")


@pytest.mark.parametrize("rows", [(3, 0, 16, 7), (5, 17, 99, 4)])
def test_four_rows_are_gathered_and_scattered(rows: tuple[int, ...]) -> None:
    made = two_tensors(EMULATOR, (24, 17), "u16", (16, 1))
    tile = tensor(EMULATOR, made.maps, FOUR, [16, *rows], [], 64).view(np.uint16).reshape(4, 16)
    written = np.zeros_like(made.values)
    for place, row in enumerate(rows):
        expected = np.zeros(16, np.uint16)
        if 0 <= row < 17:
            expected[:8] = made.values[row, 16:]
            written[row, 16:] = made.values[row, 16:]
        assert np.array_equal(tile[place], expected)
    assert np.array_equal(made.stored(), written)


def test_four_rows_before_the_first() -> None:
    made = two_tensors(EMULATOR, (24, 17), "u16", (16, 1))
    tile = tensor(EMULATOR, made.maps, FOUR, [-8, -1, 2, -3, 4], [], 64).view(np.uint16)
    expected = np.zeros((4, 16), np.uint16)
    expected[1::2, 8:] = made.values[2:5:2, :8]
    assert np.array_equal(tile.reshape(4, 16), expected)


def test_four_rows_need_a_box_of_one() -> None:
    made = two_tensors(EMULATOR, (24, 17), "u16", (16, 2))
    with pytest.raises(EmulatorFault, match="a box of one row"):
        tensor(EMULATOR, made.maps, FOUR, [0, 1, 2, 3, 4], [], 64)


def convolution_rows(
    values: Any, pad: tuple[int, int], step: int, dilation: int, tap: tuple[int, int]
) -> Any:
    """The im2col matrix of a tap of 3x3: a row of channels for each output pixel of each image."""
    images, height, width, channels = values.shape
    heights = (height + 2 * pad[1] - 2 * dilation - 1) // step + 1
    widths = (width + 2 * pad[0] - 2 * dilation - 1) // step + 1
    found = []
    for image in range(images):
        for p, q in itertools.product(range(heights), range(widths)):
            y = p * step - pad[1] + tap[0] * dilation
            x = q * step - pad[0] + tap[1] * dilation
            inside = 0 <= y < height and 0 <= x < width
            found.append(values[image, y, x] if inside else np.zeros(channels, values.dtype))
    return np.array(found)


@pytest.mark.parametrize(
    ("pad", "step", "dilation"),
    [((1, 1), 1, 1), ((0, 0), 1, 1), ((2, 2), 1, 2), ((1, 1), 2, 1), ((0, 0), 2, 1),
     ((1, 0), 1, 1), ((0, 2), 1, 2)],
)  # fmt: skip
def test_im2col_takes_the_pixels_of_a_convolution(
    where: Device, pad: tuple[int, int], step: int, dilation: int
) -> None:
    """A 3x3 filter over images of 7x9: the copy's pixels are the rows of im2col, from any start."""
    left, top = pad
    made = two_tensors(
        where, (16, 9, 7, 2), "u16", (8, 24), steps=(1, step, step, 1),
        corners=((-left, -top), (left - 2 * dilation, top - 2 * dilation)),
    )  # fmt: skip
    back = replace(made.back, corners=None, box=(8, 4, 3, 2), steps=(1, 1, 1, 1))
    widths = (9 + 2 * left - 2 * dilation - 1) // step + 1
    first = widths + 2  # output pixel (1, 2)
    for tap in ((0, 0), (1, 2)):
        matrix = convolution_rows(made.values, pad, step, dilation, tap)
        start = [8, 2 * step - left, step - top, 0]
        shift = [tap[1] * dilation, tap[0] * dilation]
        mode = ("im2col", TILED)
        tile = tensor(where, (made.load, back), mode, start, shift, 8 * 24)
        rows = matrix[first : first + 24, 8:]
        expected = np.zeros((24, 8), np.uint16)
        expected[: len(rows)] = rows
        assert np.array_equal(tile.view(np.uint16).reshape(24, 8), expected)


IM2COL = ("im2col", BULK_STORE + ".im2col_no_offs.bulk_group")


@pytest.mark.parametrize("step", [1, 2])
def test_im2col_stores_where_it_loads(where: Device, step: int) -> None:
    """24 pixels of a box of 5x7 in 7x9, from (1, 2) on; what a third image would have is lost."""
    made = two_tensors(
        where, (16, 9, 7, 2), "u16", (8, 24),
        corners=((0, 0), (-2, -2)), steps=(1, step, step, 1),
    )  # fmt: skip
    tensor(where, made.maps, IM2COL, [8, 2 * step, step, 0], [0, 0], 8 * 24)
    pixels = list(itertools.product(range(2), range(0, 5, step), range(0, 7, step)))
    begin = pixels.index((0, step, 2 * step))
    expected = np.zeros_like(made.values)
    for pixel in pixels[begin : begin + 24]:
        expected[pixel][8:] = made.values[pixel][8:]
    assert np.array_equal(made.stored(), expected)


@pytest.mark.parametrize(
    "corners", [((-1, 0), (-2, -2)), ((0, -2), (-2, -2)), ((0, 0), (0, 1)), ((0, 0), (3, -1))]
)
def test_im2col_stores_have_no_padding(corners: Any) -> None:
    made = two_tensors(EMULATOR, (16, 9, 7, 2), "u16", (8, 24), corners=corners)
    with pytest.raises(EmulatorFault, match="pad the tensor; those of stores lie inside") as caught:
        tensor(EMULATOR, made.maps, IM2COL, [0, 0, 0, 0], [0, 0], 8 * 24)
    assert caught.value.kind == "descriptor"


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("way", ["tile", "im2col", "add"])
def test_no_coordinate_of_a_store_is_negative(way: str, axis: int) -> None:
    """The CUDA C++ programming guide: the first corner of what is written has no such index."""
    corners = ((0, 0), (0, 0)) if way == "im2col" else None
    box = (8, 24) if way == "im2col" else (8, 4, 3, 2)
    made = two_tensors(EMULATOR, (16, 9, 7, 2), "u16", box, corners=corners)
    maps = tuple(replace(map, element="bf16") for map in made.maps)
    added = "cp.reduce.async.bulk.tensor.{dim}d.global.shared::cta.add.tile.bulk_group"
    mode = {"tile": ("tile", TILED), "im2col": IM2COL, "add": ("tile", added)}[way]
    to = [0, 0, 0, 0]
    to[axis] = -8
    offsets = [0, 0] if way == "im2col" else []
    with pytest.raises(EmulatorFault, match="no coordinate of a store is negative") as caught:
        tensor(EMULATOR, maps, mode, [0, 0, 0, 0], offsets, 8 * 24, to)
    assert caught.value.kind == "descriptor"


@pytest.mark.parametrize(("element", "step"), [("u8", 16), ("bf16", 8), ("f32", 4), ("s64", 2)])
@pytest.mark.parametrize("mode", ["tile", "im2col", "gather4"])
def test_a_copy_begins_at_16_bytes_of_a_row(mode: str, element: str, step: int) -> None:
    """An H200 takes a coordinate of 8 or -8 of bf16; 1, 5 or 20 is an illegal instruction."""
    box = {"tile": (2 * step, 2, 1), "im2col": (2 * step, 2), "gather4": (2 * step, 1)}[mode]
    shape = (4 * step, 5) if mode == "gather4" else (4 * step, 5, 3)
    more = {"corners": ((0,), (0,))} if mode == "im2col" else {}
    array = EMULATOR.array(np.zeros(960, "u1"))
    strides = tuple(int(n) * 16 // step for n in np.cumprod(shape[:-1]))
    map = TensorMap(array.pointer, shape, strides, box, element, **more)
    modes, outer, offsets, rows = {
        "tile": (("tile", TILED), [0, 0], [], 2),
        "im2col": (IM2COL, [0, 0], [0], 2),
        "gather4": (FOUR, [0, 1, 2, 3], [], 4),
    }[mode]
    for first in (0, 3 * step) if mode == "im2col" else (-step, 0, 3 * step):
        tensor(EMULATOR, (map, map), modes, [first, *outer], offsets, rows * 2 * step)
    for first in (1, step - 1, -1, 5 * step // 2 if step > 2 else 5):
        with pytest.raises(EmulatorFault, match=f"innermost coordinate {first} is ") as caught:
            tensor(EMULATOR, (map, map), modes, [first, *outer], offsets, rows * 2 * step)
        assert caught.value.kind == "descriptor"


def test_im2col_needs_its_own_map() -> None:
    made = two_tensors(EMULATOR, (16, 9, 7, 2), "u16", (8, 4, 4, 1))
    mode = ("im2col", TILED)
    with pytest.raises(EmulatorFault, match="another tensor map: one of im2col"):
        tensor(EMULATOR, made.maps, mode, [0, 0, 0, 0], [0, 0], 128)


@pytest.mark.parametrize(
    ("operation", "element"),
    [("add", "u32"), ("add", "f32"), ("add", "bf16"), ("min", "s64"), ("max", "f16"),
     ("inc", "u32"), ("dec", "u32"), ("xor", "u64"), ("and", "s32"), ("or", "u32")],
)  # fmt: skip
def test_a_tensor_is_reduced_inside_its_bounds(where: Device, operation: str, element: str) -> None:
    kind = KINDS[element]
    before = samples(kind, 24 * 17, 9).reshape(17, 24)
    made = two_tensors(where, (24, 17), element, (16, 6), before)
    store = f"cp.reduce.async.bulk.tensor.{{dim}}d.global.shared::cta.{operation}.tile.bulk_group"
    tensor(where, made.maps, ("tile", store), [16, 14], [], 96)
    expected = before.copy()
    for row, column in itertools.product(range(14, 17), range(16, 24)):
        expected[row, column] = reduced(
            operation, before[row, column], made.values[row, column], kind
        )
    assert made.stored().tolist() == expected.tolist()


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("operation", "element"),
    [("add", "f32"), ("add", "f32.ftz"), ("add", "f64"), ("add", "f16"), ("max", "f16"),
     ("add", "bf16"), ("min", "bf16")],
)  # fmt: skip
def test_a_card_reduces_edges_alike(operation: str, element: str) -> None:
    """1,024 pairs of edges, subnormals, infinities and NaN; the bits of both devices."""
    type = element.partition(".")[0]
    before, held = columns((type, type), 1024, 9)
    store = f"cp.reduce.async.bulk.tensor.{{dim}}d.global.shared::cta.{operation}.tile.bulk_group"
    found = []
    for device in (EMULATOR, ptx.device("cuda:0")):
        source, target = device.array(held), device.array(before)
        maps = [
            TensorMap(array.pointer, (16, 64), (16 * held.itemsize,), (16, 64), element)
            for array in (source, target)
        ]
        tensor(device, (maps[0], maps[1]), ("tile", store), [0, 0], [], 1024)
        found.append(target.numpy())
    assert np.array_equal(*found)


def test_an_operation_that_the_element_has_not() -> None:
    made = two_tensors(EMULATOR, (24, 17), "u32", (8, 6))
    odd = replace(made.back, element="f32")
    store = "cp.reduce.async.bulk.tensor.{dim}d.global.shared::cta.xor.tile.bulk_group"
    with pytest.raises(EmulatorFault, match=r"\.xor is no reduction of elements of f32"):
        tensor(EMULATOR, (made.load, odd), ("tile", store), [0, 0], [], 48)


def test_strides_of_traversal_thin_a_box(where: Device) -> None:
    """The box spans what its steps go over: ceil(box / step) elements move."""
    made = two_tensors(where, (16, 17), "u16", (8, 7), steps=(1, 3))
    assert (made.load.counts, made.load.box_bytes) == ((8, 3), 48)
    mode = ("tile", TILED)
    dense = replace(made.back, box=(8, 3), steps=(1, 1))
    tile = tensor(where, (made.load, dense), mode, [8, 5], [], 24).view(np.uint16).reshape(3, 8)
    assert np.array_equal(tile, made.values[5:12:3, 8:])


def test_strides_of_traversal_spread_what_is_stored() -> None:
    made = two_tensors(EMULATOR, (16, 17), "u16", (8, 7), steps=(1, 3))
    tensor(EMULATOR, made.maps, ("tile", TILED), [8, 5], [], 24)
    expected = np.zeros_like(made.values)
    expected[5:12:3, 8:] = made.values[5:12:3, 8:]
    assert np.array_equal(made.stored(), expected)


# ---------------------------------------------------------------- maps that a kernel changes

REPLACE = """
.version 9.0
.target sm_90a
.address_size 64
.visible .entry test(.param .align 64 .b8 map[128], .param .u64 target, .param .u64 made,
                     .param .u64 out)
{
  .shared .align 1024 .b8 tile[1024]; .shared .align 128 .b8 copy[128];
  .shared .align 8 .b64 full;
  .reg .b64 %m, %g, %t, %o, %v; .reg .b32 %i, %s, %f, %x, %at; .reg .pred %p, %q;
  mov.b64 %m, map; ld.param.u64 %t, [target]; ld.param.u64 %g, [made]; ld.param.u64 %o, [out];
  mov.u32 %i, %tid.x; setp.eq.u32 %p, %i, 0; mov.u32 %s, copy; mov.u32 %f, full;
  shl.b32 %at, %i, 2; cvt.u64.u32 %v, %at; cvta.param.u64 %m, %m; add.u64 %m, %m, %v;
  ld.b32 %x, [%m]; add.u32 %at, %at, %s; st.shared.b32 [%at], %x;
  @%p mbarrier.init.shared::cta.b64 [%f], 1; @%p fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%p bra changed;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %t;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%s], 1;
  mov.b32 %x, 20; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 0, %x;
  mov.b32 %x, 7; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 1, %x;
  mov.b64 %v, 80; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%s], 0, %v;
  mov.b32 %x, 32; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 0, %x;
  mov.b32 %x, 8; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 1, %x;
  mov.b32 %x, 1; tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s], 1, %x;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%s], 7;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%s], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%s], SWIZZLE;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%s], 1;
changed:
  bar.warp.sync 0xffffffff;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
      [%g], [%s], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%g], 128;
  @!%p bra wait; mov.u32 %s, tile;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%f], 1024;
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
      [%s], [%g, {0, 0}], [%f];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%f], 0; @!%q bra wait;
  shl.b32 %at, %i, 2; cvt.u64.u32 %v, %at; add.u64 %o, %o, %v; mov.u32 %x, tile;
  add.u32 %at, %at, %x; mov.u32 %f, 0;
next:
  ld.shared.b32 %x, [%at]; st.global.b32 [%o], %x; add.u32 %at, %at, 128; add.u64 %o, %o, 128;
  add.u32 %f, %f, 1; setp.lt.u32 %q, %f, 8; @%q bra next;
  ret;
}
"""


@pytest.mark.parametrize("swizzle", [0, 3])
def test_every_field_of_a_map_is_replaced(where: Device, swizzle: int) -> None:
    """From a map of bytes in three dimensions to one of f32 rows of 20 in two, NaN outside."""
    other = where.array(np.zeros(4096, "u1"))
    values = np.arange(140, dtype="f4").reshape(7, 20)
    target, made = where.array(values), where.array(np.zeros(128, "u1"))
    first = TensorMap(other.pointer, (16, 8, 4), (64, 512), (16, 4, 2), "u8", steps=(1, 2, 1))
    out = where.empty((8, 32), "f4", poison=True)
    text = REPLACE.replace("SWIZZLE", str(swizzle))
    arguments = [where.tensor_map(first), target, made, out]
    where.load(text)["test"].launch(1, 32, arguments)
    expected = np.full((8, 32), np.nan, "f4")
    expected[:7, :20] = values
    if swizzle:
        # A row is a span of 128 bytes: its units of 16 are exchanged by the row's number.
        order = np.arange(8) ^ np.arange(8)[:, None]
        units = expected.reshape(8, 8, 4)
        expected = np.take_along_axis(units, order[:, :, None], axis=1).reshape(8, 32)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("elemtype.shared::cta.b1024.b32 [%s], 7", "elemtype.shared::cta.b1024.b32 [%s], 13",
         "elemtype is 13; allowed is 0 to 12"),
        ("interleave_layout.shared::cta.b1024.b32 [%s], 0",
         "interleave_layout.shared::cta.b1024.b32 [%s], 1", "interleave_layout 1 is none"),
        ("mov.b32 %x, 32; tensormap", "mov.b32 %x, 70000; tensormap", "box_dim is 70000"),
        ("mov.b64 %v, 80;", "mov.b64 %v, 84;", "the stride of dimension 1 is 84 bytes"),
        ("st.shared.b32 [%at], %x;\n  @%p", "st.shared.b32 [%at], 0;\n  @%p", "no tensor map"),
    ],
)  # fmt: skip
def test_a_map_that_a_kernel_spoils(old: str, new: str, words: str) -> None:
    array = EMULATOR.array(np.zeros(4096, "u1"))
    first = TensorMap(array.pointer, (16, 8, 4), (64, 512), (16, 4, 2), "u8", steps=(1, 2, 1))
    text = REPLACE.replace("SWIZZLE", "0")
    assert old in text
    kernel = EMULATOR.load(text.replace(old, new))["test"]
    kernel.launch(1, 32, [EMULATOR.tensor_map(first), array, array, array])
    with pytest.raises(EmulatorFault, match=words) as caught:
        EMULATOR.synchronize()
    assert caught.value.kind == "descriptor"
