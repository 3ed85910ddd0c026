"""Tensor maps: what they refuse, what the driver is asked for, what the emulator reads back."""

from __future__ import annotations

import ctypes
import importlib
from dataclasses import replace
from typing import Any

import pytest

import ptx
from ptx import driver
from ptx.errors import ArgumentValueError
from ptx.tensormap import BYTES, ELEMENT_BYTES, FILLS, PROMOTIONS, SWIZZLES, TensorMap
from tests import fake_driver
from tests.fake_driver import FakeDriver

PLAIN = TensorMap(0x7F00_0000_0100, (60, 128), (128,), (32, 64), "f16", swizzle=64)


def test_a_map_counts_its_box() -> None:
    assert (PLAIN.element_bytes, PLAIN.box_bytes) == (2, 4096)
    assert PLAIN.steps == (1, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # A44: fp16 (128, 60), contiguous, has rows of 120 bytes.
        (
            {"strides": (120,)},
            r"dimension 1 is 120 bytes; .* below 2\^40: copy the matrix to rows of 128",
        ),
        ({"strides": (1 << 40,)}, "the stride of dimension 1 is 1099511627776 bytes"),
        ({"strides": (0,)}, "the stride of dimension 1 is 0 bytes"),
        ({"address": 0x7F00_0000_0102}, "the address 0x7f0000000102 is no multiple of 16 bytes"),
        ({"box": (257, 64)}, r"box\[0\] is 257; allowed is 1 to 256"),
        ({"box": (32, 0)}, r"box\[1\] is 0; allowed is 1 to 256"),
        ({"box": (64, 64)}, r"box\[0\] is 64 elements, 128 bytes; a swizzle of 64 bytes"),
        ({"box": (12, 64)}, r"box\[0\] is 12 elements, 24 bytes; a row of a box is a multiple of"),
        ({"box": (32,)}, "box has 1 numbers, a shape of rank 2 2"),
        ({"strides": ()}, "strides has 0 numbers, a shape of rank 2 1"),
        ({"steps": (1, 9)}, r"steps\[1\] is 9; allowed is 1 to 8"),
        ({"shape": (60, (1 << 32) + 1)}, r"shape\[1\] is 4294967297; allowed is 1 to 4294967296"),
        ({"shape": ()}, r"the shape \(\) has rank 0; allowed is 1 to 5"),
        ({"element": "s8"}, "element is 's8'; allowed is u8, u16"),
        ({"swizzle": 16}, "swizzle is 16; allowed is 0, 32, 64, 128"),
        ({"promotion": 32}, "promotion is 32; allowed is 0, 64, 128, 256"),
        ({"fill": "ones"}, "fill is 'ones'; allowed is zeros, nan"),
        ({"element": "u16", "fill": "nan"}, "fill is nan, and the element u16 has none"),
    ],
)  # fmt: skip
def test_a_map_that_cannot_be_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        replace(PLAIN, **change)


IMAGES = TensorMap(
    0, (16, 9, 7, 2), (32, 288, 2016), (8, 1024), "f16", corners=((-1, -1), (-1, -1)),
    steps=(1, 2, 2, 1),
)  # fmt: skip
"""Two images of 9 x 7 pixels with 16 channels."""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": (2, 1, 1, 1)}, r"steps\[0\] is 2; allowed is 1 to 1"),
        ({"box": (8, 1025)}, r"box\[1\] is 1025; allowed is 1 to 1024"),
        ({"box": (8, 4, 4, 1)}, "box has 4 numbers, a shape of rank 4 2"),
        ({"corners": ((-1,), (-1, -1))}, "the lower corner has 1 numbers; .* 2 spatial dimensions"),
        ({"corners": ((0, 0), (0, 128))}, "the upper corner's number 1 is 128; .* -128 to 127"),
        ({"corners": ((0, 4), (0, -3))}, "the corners leave no pixel along dimension 2"),
        (
            {"shape": (16, 9), "strides": (32,), "steps": (1, 1)},
            "corners are for a shape of rank 3, 4 or 5; this one has rank 2",
        ),
    ],
)
def test_a_map_of_images_that_cannot_be_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        replace(IMAGES, **change)


def test_a_box_moves_what_its_steps_go_over() -> None:
    thin = replace(PLAIN, steps=(1, 3))
    assert thin.counts == (32, 22)
    assert thin.box_bytes == 32 * 22 * 2
    assert IMAGES.counts == (8, 1024)


def test_the_emulator_reads_back_what_it_packed() -> None:
    five = TensorMap(
        1 << 40, (64, 1 << 32, 7, 3, 1), (128, 256, 16, (1 << 40) - 16), (8, 256, 1, 2, 3), "u16",
        promotion=0, steps=(1, 2, 3, 4, 8),
    )  # fmt: skip
    line = TensorMap(0, (1 << 20,), (), (256,), "f64", fill="nan", promotion=256)
    for one in (
        PLAIN,
        IMAGES,
        five,
        line,
        *(replace(line, element=e, fill="zeros") for e in ELEMENT_BYTES),
    ):
        data = ptx.device("emulator").tensor_map(one)
        assert len(data) == BYTES
        assert TensorMap.unpack(data) == one
    with pytest.raises(ValueError, match="no tensor map of the emulator"):
        TensorMap.unpack(bytes(BYTES))


@pytest.fixture
def bindings() -> Any:
    """cuda-python's own names, imported before a driver of make-believe hides them."""
    return importlib.import_module("cuda.bindings.driver")


def test_the_driver_knows_every_word(bindings: Any) -> None:
    assert set(driver.ELEMENTS) == set(ELEMENT_BYTES)
    for word in driver.ELEMENTS.values():
        assert hasattr(bindings.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{word}")
    for fill in FILLS:
        name = f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{driver.FILLS[fill]}"
        assert hasattr(bindings.CUtensorMapFloatOOBfill, name)


def test_what_the_driver_is_asked_for(bindings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    encoded = (ctypes.c_char * BYTES)(*range(BYTES))

    class Encoder(FakeDriver):
        def cuTensorMapEncodeTiled(self, *arguments: Any) -> Any:
            asked.append(arguments)
            made = fake_driver.Handle(0)
            made.getPtr = lambda: ctypes.addressof(encoded)  # type: ignore[attr-defined]
            return (made,)

        def cuTensorMapEncodeIm2col(self, *arguments: Any) -> Any:
            return Encoder.cuTensorMapEncodeTiled(self, *arguments)

    fake_driver.fresh(monkeypatch)
    fake = fake_driver.install(Encoder(1))
    for name in vars(bindings):
        if name.startswith("CUtensorMap") or name in ("cuuint32_t", "cuuint64_t"):
            setattr(fake, name, getattr(bindings, name))

    def words(*values: Any) -> list[str]:
        return [value.name for value in values]

    device = ptx.device("cuda:0")
    assert device.tensor_map(PLAIN) == bytes(range(BYTES))
    type, rank, address, shape, strides, box, steps, *modes = asked[-1]
    assert (rank, address) == (2, 0x7F00_0000_0100)
    assert [[int(n) for n in list] for list in (shape, strides, box, steps)] == [
        [60, 128], [128], [32, 64], [1, 1],
    ]  # fmt: skip
    assert words(type, *modes) == [
        "CU_TENSOR_MAP_DATA_TYPE_FLOAT16",
        "CU_TENSOR_MAP_INTERLEAVE_NONE",
        "CU_TENSOR_MAP_SWIZZLE_64B",
        "CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
        "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
    ]
    for span in SWIZZLES:
        device.tensor_map(replace(PLAIN, swizzle=span, box=(8, 64)))
        assert int(asked[-1][8]) == SWIZZLES.index(span)
    for promotion in PROMOTIONS:
        device.tensor_map(replace(PLAIN, promotion=promotion))
        assert int(asked[-1][9]) == PROMOTIONS.index(promotion)
    device.tensor_map(replace(IMAGES, corners=((-1, -2), (0, -3))))
    lower, upper, channels, pixels, steps = asked[-1][5:10]
    assert (lower, upper, channels, pixels) == ([-1, -2], [0, -3], 8, 1024)
    assert [int(n) for n in steps] == [1, 2, 2, 1]


@pytest.mark.gpu
def test_a_copy_on_the_gpu_zeroes_what_lies_outside() -> None:
    """A box of 32 x 8 at (-8, -2) of a 40 x 5 matrix, copied to shared memory and out again."""
    import numpy as np

    k = ptx.Kernel("box", map="tensormap", out="global.b16")
    map, out = k.params()
    tile = k.shared("tile", "b16", 32 * 8, align=128)
    bar = k.shared("bar", "b64")
    thread = k.mov.u32(k.tid.x)
    with k.branch(k.setp.eq.u32(thread, 0)):
        k.mbarrier.init.shared__cta.b64(bar, 1)
        k.fence.mbarrier_init.release.cluster()
    k.bar.sync(0)
    with k.branch(k.setp.eq.u32(thread, 0)):
        k.mbarrier.arrive.expect_tx.shared__cta.b64(bar, 512, out=ptx.SINK)
        k.op(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
            tile, (map, (-8, -2)), bar,
        )  # fmt: skip
    wait = k.label("wait")
    done = k.mbarrier.try_wait.parity.shared__cta.b64(bar, 0)
    with k.when(~done):
        k.bra(wait)
    at = k.mov.u32(tile) + thread * 2
    k.st.global_.b16(out + k.mul.wide.u32(thread, 2), k.ld.shared.b16(at))
    k.ret()

    device = ptx.device("cuda:0")
    source = np.arange(1, 5 * 40 + 1, dtype="u2").reshape(5, 40)
    data, result = device.array(source), device.empty((8, 32), "u2", poison=True)
    map_bytes = device.tensor_map(TensorMap(data.pointer, (40, 5), (80,), (32, 8), "u16"))
    device.load(ptx.Module(k))["box"].launch(1, 256, (map_bytes, result))
    expected = np.zeros((8, 32), "u2")
    expected[2:7, 8:] = source[:, :24]
    np.testing.assert_array_equal(result.numpy(), expected)
