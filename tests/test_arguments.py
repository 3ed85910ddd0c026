"""Launch arguments: layout against ctypes, bytes against struct and numpy, errors by words."""

from __future__ import annotations

import ctypes
import math
import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptx.arguments import ArgumentBlock, Layout
from ptx.arrays import Array, Storage
from ptx.errors import (
    ArgumentRangeError,
    ArgumentTypeError,
    ArgumentValueError,
    LaunchError,
    PtxError,
)
from ptx.ir import Parameter
from ptx.parameters import parse


class Home:
    """A device with 4 KiB at address 0x10000, that takes other libraries' arrays of GPU 3 alone."""

    def __init__(self, name: str = "here") -> None:
        self.name = name
        self.freed: list[int] = []

    def __str__(self) -> str:
        return self.name

    @property
    def memory(self) -> Any:
        return self

    def allocate(self, nbytes: int) -> int:
        return 0x10000

    def free(self, address: int) -> None:
        self.freed.append(address)

    def refuses(self, address: int, ordinal: int | None) -> str:
        return "" if ordinal in (3, None) else f"the array lies on cuda:{ordinal}"


HOME = Home()


def block(*types: str | Parameter) -> ArgumentBlock:
    """A block of parameters a, b, c ... of these types."""
    params = tuple(
        Parameter(one, "abcdefghij"[index]) if isinstance(one, str) else one
        for index, one in enumerate(types)
    )
    return ArgumentBlock("k", params, HOME)


def packed(type: str, value: Any) -> bytes:
    one = block(type)
    one.write([value])
    return one.data


def array(shape: tuple[int, ...] = (1024,), dtype: Any = "f4", home: Any = HOME) -> Array:
    return Array(home, Storage(home, 4096), shape, np.dtype(dtype))


# ---------------------------------------------------------------- layout


@pytest.mark.parametrize(
    ("types", "offsets", "size"),
    [
        (["u64", "u16"], (0, 8), 10),
        (["u8", "u64", "u16"], (0, 8, 16), 18),
        (["f16", "f32", "u8", "f64"], (0, 4, 8, 16), 24),
        ([], (), 0),
    ],
)
def test_offsets_and_size_by_hand(types: list[str], offsets: tuple[int, ...], size: int) -> None:
    """Field case C14."""
    layout = block(*types).layout
    assert (layout.offsets, layout.bytes) == (offsets, size)


CTYPES = {
    "u8": ctypes.c_uint8,
    "s16": ctypes.c_int16,
    "b32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "f16": ctypes.c_uint16,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


@given(st.lists(st.sampled_from(sorted(CTYPES)), min_size=1, max_size=10))
def test_offsets_are_those_of_a_c_structure(types: list[str]) -> None:
    fields = [(f"x{index}", CTYPES[type]) for index, type in enumerate(types)]
    structure = type("S", (ctypes.Structure,), {"_fields_": fields})
    layout = Layout(tuple(Parameter(type, f"x{i}") for i, type in enumerate(types)))
    expected = tuple(getattr(structure, name).offset for name, _ in fields)
    assert layout.offsets == expected
    # A structure is padded at its end; a block of parameters is not.
    assert layout.bytes == expected[-1] + ctypes.sizeof(fields[-1][1])


def test_an_array_parameter_has_its_own_alignment() -> None:
    tensor_map = Parameter("b8", "map", count=128, align=64)
    layout = block("u32", tensor_map, "u16").layout
    assert (layout.offsets, layout.bytes) == ((0, 64, 192), 194)


def test_the_pointers_point_at_each_parameter() -> None:
    one = block("u8", "u64", "u16")
    one.write([1, 2, 3])
    pointers = (ctypes.c_void_p * 3).from_address(one.address)
    sizes = (1, 8, 2)
    read = [
        int.from_bytes(ctypes.string_at(pointer, size), "little")
        for pointer, size in zip(pointers, sizes, strict=True)
    ]
    assert read == [1, 2, 3]
    one.write([4, 5, 6])
    assert ctypes.string_at(pointers[1], 8) == struct.pack("<Q", 5)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [False, True])
def test_integers_to_their_last_value_and_no_further(width: int, signed: bool) -> None:
    type = f"{'s' if signed else 'u'}{width}"
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    for value in (low, high):
        assert packed(type, value) == value.to_bytes(width // 8, "little", signed=signed)
    for value in (low - 1, high + 1):
        with pytest.raises(
            OverflowError, match=rf"argument a \(\.{type}\) of k: .*{low} to {high}"
        ):
            packed(type, value)


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (
            "u32",
            1.0,
            r"argument a \(\.u32\) of k: takes an integer from 0 to 4294967295, got float",
        ),
        ("u32", np.float32(1), "takes an integer"),
        ("u32", np.int64(5), r"4 bytes; convert it, as in int\(value\), got int64 scalar"),
        ("u32", "5", "got str '5'"),
        ("u32", None, "got NoneType"),
        ("u32", np.ones(3), r"got ndarray of float64 and shape \(3,\)"),
        ("f32", True, "not a truth value"),
        ("f32", np.bool_(True), "not a truth value"),
        ("f32", "1", "takes a number, got str"),
        ("f32", 1j, "takes a number"),
        ("f32", np.complex64(1), "takes a real number"),
        ("b32", 1.0, "a numpy scalar of 4 bytes"),
        ("b32", np.float64(1), "a numpy scalar of 4 bytes"),
        ("u64", 1.5, "an array on the device or an integer"),
        ("u64", None, "a null pointer is written 0"),
        ("u64", np.ones(3), r"device\.array\(\.\.\.\) copies host memory"),
    ],
)
def test_wrong_types_name_the_parameter_and_what_is_legal(
    type: str, value: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        packed(type, value)
    assert isinstance(caught.value, ArgumentTypeError | PtxError)


def test_numpy_integers_of_the_width_or_narrower() -> None:
    assert packed("u32", np.uint32(2**32 - 1)) == b"\xff" * 4
    assert packed("u32", np.int32(7)) == struct.pack("<I", 7)
    assert packed("s32", np.int8(-1)) == b"\xff" * 4
    assert packed("u64", np.int64(7)) == struct.pack("<Q", 7)
    assert packed("u32", np.array(9, "u4")) == struct.pack("<I", 9)
    with pytest.raises(OverflowError, match="got -1"):
        packed("u32", np.int32(-1))


@given(st.floats(width=32))
def test_f32_is_rounded_as_numpy_rounds(value: float) -> None:
    assert packed("f32", value) == struct.pack("<f", value)


@given(st.floats(-3e38, 3e38))
def test_f32_and_f16_round_to_nearest_even(value: float) -> None:
    assert packed("f32", value) == np.float32(value).tobytes()
    small = math.fmod(value, 60000.0)
    assert packed("f16", small) == np.float16(small).tobytes()


def test_floating_point_of_every_source() -> None:
    assert packed("f64", 0.1) == struct.pack("<d", 0.1)
    assert packed("f32", 3) == struct.pack("<f", 3.0)
    assert packed("f32", np.float64(0.1)) == np.float32(0.1).tobytes()
    assert packed("f32", np.float16(0.1)) == np.float32(np.float16(0.1)).tobytes()
    assert packed("f32", np.int32(-4)) == struct.pack("<f", -4.0)
    assert packed("f16", np.float16(1.5)) == np.float16(1.5).tobytes()
    assert packed("f32", ml_dtypes.bfloat16(1.5)) == struct.pack("<f", 1.5)
    assert packed("f32", -0.0) == b"\0\0\0\x80"
    assert packed("f32", math.inf) == struct.pack("<f", math.inf)
    assert math.isnan(struct.unpack("<f", packed("f32", math.nan))[0])


@pytest.mark.parametrize(("type", "value"), [("f32", 1e39), ("f16", 65520), ("f64", 10**400)])
def test_what_is_beyond_the_largest_finite_number(type: str, value: float) -> None:
    with pytest.raises(OverflowError, match="argument a .* largest finite number"):
        packed(type, value)


def test_untyped_parameters_take_bits() -> None:
    assert packed("b32", -1) == packed("b32", 2**32 - 1) == b"\xff" * 4
    assert packed("b32", np.float32(1.0)) == struct.pack("<f", 1.0)
    assert packed("b16", ml_dtypes.bfloat16(1.0)) == b"\x80\x3f"
    assert packed("f16x2", b"\0\x3c\0\xbc") == b"\0\x3c\0\xbc"
    assert packed("b64", np.float64(1.0)) == struct.pack("<d", 1.0)
    with pytest.raises(OverflowError, match="got 4294967296"):
        packed("b32", 2**32)


# ---------------------------------------------------------------- pointers


def test_arrays_offsets_and_slices_are_addresses() -> None:
    x = array()
    assert packed("u64", x) == struct.pack("<Q", 0x10000)
    assert packed("b64", x + 10) == struct.pack("<Q", 0x10000 + 40)
    assert packed("u64", x[100:200]) == struct.pack("<Q", 0x10000 + 400)
    assert packed("u64", array((4, 8), "f8")[2:]) == struct.pack("<Q", 0x10000 + 2 * 64)
    assert packed("u64", 0) == bytes(8)


def test_an_array_of_another_device_is_refused() -> None:
    other = array(home=Home("cuda:1"))
    with pytest.raises(TypeError, match=r"a \(\.u64\) of k: the array lies on cuda:1, .* on here"):
        packed("u64", other)


def test_a_freed_array_is_refused() -> None:
    x = array()
    tail = x[5:]
    x.free()
    with pytest.raises(LaunchError, match="has been freed"):
        packed("u64", tail)


def test_alignment_where_the_parameter_declares_it() -> None:
    aligned = Parameter("u64", "x", pointer="global", pointer_align=16)
    one = block(aligned)
    one.write([array() + 4])
    with pytest.raises(ArgumentValueError, match=r"argument x .* 0x10004 is no multiple of 16"):
        one.write([array() + 1])
    with pytest.raises(ValueError, match=r"\.ptr \.align 16"):
        one.write([8])


class Foreign:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


POINTED = {
    "f32": ["f4", "c8"],
    "f64": ["f8", "c16"],
    "f16": ["f2"],
    "f16x2": ["f2"],
    "bf16": [ml_dtypes.bfloat16],
    "tf32": ["f4", "c8"],
    "e4m3x2": [ml_dtypes.float8_e4m3fn],
    "u32": ["i4", "u4"],
    "s64": ["i8", "u8"],
    "s16x2": ["i2", "u2"],
    "u8": ["?", "i1", "u1"],
}  # fmt: skip
DTYPES = [np.dtype(one) for one in (
    "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16",
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.int4, ml_dtypes.uint4,
)]  # fmt: skip


def pointer(element: str) -> Parameter:
    return parse("x", f"global.{element}").parameter


@pytest.mark.parametrize("element", POINTED)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_pointer_takes_arrays_of_its_elements(element: str, dtype: Any) -> None:
    one = block(pointer(element))
    if dtype in map(np.dtype, POINTED[element]):
        one.write([array(dtype=dtype)])
        assert one.data == struct.pack("<Q", 0x10000)
        return
    told = rf"^argument x \(global\.{element}\) of k: takes an array of "
    with pytest.raises(ArgumentTypeError, match=told) as caught:
        one.write([array(dtype=dtype)])
    assert all(np.dtype(taken).name in str(caught.value) for taken in POINTED[element])
    assert f"got Array of {dtype} and shape (1024,)" in str(caught.value)


@pytest.mark.parametrize("dtype", [*DTYPES, np.dtype([("low", "u1"), ("high", "f4")])], ids=str)
@pytest.mark.parametrize("element", ["b8", "b16", "b32", "e2m1x2"])
def test_an_untyped_pointer_takes_any_array(element: str, dtype: Any) -> None:
    one = block(pointer(element))
    one.write([array(dtype=dtype)])
    assert one.data == struct.pack("<Q", 0x10000)


def test_each_array_of_a_repeated_launch_is_looked_at() -> None:
    one, right, wrong = block(pointer("f32")), array(), array(dtype="f8")
    one.write([right])
    for _ in range(2):
        with pytest.raises(
            ArgumentTypeError, match=r"of float32 .*global\.b32.*got Array of float64"
        ):
            one.write([wrong])
    one.write([right])
    one.write([0x5000])  # an address says nothing of what is there
    assert one.data == struct.pack("<Q", 0x5000)


def test_elements_of_other_libraries() -> None:
    def torch(dtype: str) -> Foreign:
        gpu = Foreign(index=3)
        return Foreign(data_ptr=lambda: 0x8000, is_cuda=True, device=gpu, dtype=dtype, shape=(4,))

    one = block(pointer("bf16"))
    one.write([torch("torch.bfloat16")])
    assert one.data == struct.pack("<Q", 0x8000)
    with pytest.raises(ArgumentTypeError, match=r"bfloat16 .*, got Foreign of torch.float16"):
        one.write([torch("torch.float16")])


def test_arrays_of_other_libraries() -> None:
    torch = Foreign(data_ptr=lambda: 0x8000, is_cuda=True, device=Foreign(index=3))
    assert packed("u64", torch) == struct.pack("<Q", 0x8000)
    interface = Foreign(__cuda_array_interface__={"data": (0x9000, False), "version": 3})
    assert packed("u64", interface) == struct.pack("<Q", 0x9000)
    elsewhere = Foreign(data_ptr=lambda: 0x8000, is_cuda=True, device=Foreign(index=1))
    with pytest.raises(TypeError, match="lies on cuda:1"):
        packed("u64", elsewhere)
    on_the_host = Foreign(data_ptr=lambda: 0x8000, is_cuda=False, shape=(3,), dtype="float32")
    with pytest.raises(TypeError, match="copies host memory"):
        packed("u64", on_the_host)


def test_another_librarys_array_is_asked_for_its_address_each_time() -> None:
    """It may move its memory behind the same object."""
    where = [0x8000]
    moving = Foreign(data_ptr=lambda: where[0], is_cuda=True, device=Foreign(index=3))
    one = block("u64")
    one.write([moving])
    where[0] = 0x7000
    one.write([moving])
    assert one.data == struct.pack("<Q", 0x7000)


# ---------------------------------------------------------------- bytes


def test_a_tensor_map_is_bytes_of_its_size() -> None:
    one = block(Parameter("b8", "map", count=128, align=64), "u32")
    one.write([bytes(range(128)), 7])
    assert one.data == bytes(range(128)) + struct.pack("<I", 7)
    one.write([np.arange(16, dtype="u8"), 7])
    assert one.data[:128] == np.arange(16, dtype="<u8").tobytes()

    class Map:
        def __bytes__(self) -> bytes:
            return b"\x11" * 128

    one.write([Map(), 7])
    assert one.data[:128] == b"\x11" * 128


def test_bytes_of_the_wrong_size_or_none() -> None:
    one = block(Parameter("f32", "w", count=4))
    one.write([np.array([1, 2, 3, 4], "f4")])
    with pytest.raises(ArgumentRangeError, match=r"w \(\.f32\[4\]\) of k: takes 16 bytes.*got 32"):
        one.write([np.ones(4)])
    with pytest.raises(ArgumentTypeError, match="takes 16 bytes"):
        one.write([1.0])


def test_a_buffer_is_read_again_at_each_launch() -> None:
    one, data = block(Parameter("b8", "m", count=4)), bytearray(b"abcd")
    one.write([data])
    data[:] = b"wxyz"
    one.write([data])
    assert one.data == b"wxyz"


# ---------------------------------------------------------------- the list


def test_by_name_in_any_order() -> None:
    one = block("u32", "f32", "u64")
    one.write({"c": 3, "a": 1, "b": 2.0})
    assert one.data == struct.pack("<IfQ", 1, 2.0, 3)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            [1, 2],
            r"k takes 3 arguments, got 2; its parameters: a \(\.u64\), b \(\.u64\), c \(\.u32\)",
        ),
        ([1, 2, 3, 4], "k takes 3 arguments, got 4"),
        ({"a": 1, "b": 2}, "missing c"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "no parameter d"),
        ({"a": 1, "b": 2, "n": 3}, "missing c; no parameter n"),
        ({}, "missing a, b, c"),
        (5, "a dict by name, or a tuple or list in order, got int"),
        ("abc", "got str"),
    ],
)
def test_too_few_too_many_and_unknown(args: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        block("u64", "u64", "u32").write(args)


def test_no_parameters() -> None:
    block().write(())
    block().write({})
    with pytest.raises(TypeError, match="k takes 0 arguments, got 1; it has no parameters"):
        block().write([1])


def test_only_what_changed_is_packed_again_and_a_refusal_leaves_no_stale_value() -> None:
    one = block("u32", "f32")
    one.write([1, 2.0])
    with pytest.raises(OverflowError):
        one.write([-1, 2.0])
    one.write([1, 2.0])
    assert one.data == struct.pack("<If", 1, 2.0)
    one.write([1, -0.0])
    one.write([1, 0.0])
    assert one.data == struct.pack("<If", 1, 0.0)


def test_setting_one_by_name() -> None:
    one = block("u32", "f32")
    one.write([1, 2.0])
    one.set({"b": 3.0})
    assert one.data == struct.pack("<If", 1, 3.0)
    with pytest.raises(TypeError, match="k has no parameter z"):
        one.set({"z": 1})


@pytest.mark.parametrize(
    ("types", "names", "wanted"),
    [
        (("u64", "u64", "u64", "u32"), "abc", "<QQQI"),
        (("u32", "u64", "f32", "u64", "u64"), "bde", "<I4xQf4xQQ"),
        (("u64", "u32", "u64", "u32", "u64", "u64"), "fcea", "<QI4xQI4xQQ"),
        (("u32", "u64", "u64"), "cb", "<I4xQQ"),
    ],
)
def test_addresses_alone(types: Any, names: str, wanted: str) -> None:
    one = block(*types)
    values = list(range(1, 1 + len(types)))
    one.write([float(v) if t == "f32" else v for t, v in zip(types, values, strict=True)])
    moved = [(1 << 63) + place for place in range(len(names))]
    for name, address in zip(names, moved, strict=True):
        values["abcdef".index(name)] = address
    one.at(*names)(*moved)
    assert one.data == struct.pack(wanted, *values)


def test_what_takes_no_address() -> None:
    with pytest.raises(TypeError, match="k: b does not take an address"):
        block("u64", "u32").at("a", "b")


def test_a_block_keeps_no_array_alive() -> None:
    home = Home()
    one = ArgumentBlock("k", (Parameter("u64", "x"),), home)
    x = array(home=home)
    one.write([x])
    del x
    assert home.freed == [0x10000]


def test_errors_are_both_what_python_calls_them_and_ours() -> None:
    for error, base in (
        (ArgumentTypeError, TypeError),
        (ArgumentRangeError, OverflowError),
        (ArgumentValueError, ValueError),
    ):
        assert issubclass(error, base) and issubclass(error, PtxError)
