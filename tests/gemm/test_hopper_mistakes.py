"""What a caller of the products on Hopper gets wrong is named, and what is legal with it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
from ptxgemm import choices, hopper, warp_gemm
from ptxgemm.hopper import Addend, Matrix
from ptxgemm.narrow import Narrow
from ptxgemm.tiling import ELEMENTS, OUT_BYTES, Tiling

EMULATOR = ptx.device("emulator")
INTEGERS = [
    *((Tiling, name) for name in (
        "tile_m", "tile_n", "stages", "cluster", "group", "cluster_n", "parts", "last_slices"
    )),
    *((Narrow, name) for name in (
        "tile_m", "tile_n", "stages", "depth", "parts", "peers", "width"
    )),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), INTEGERS)
@pytest.mark.parametrize("value", ["128", 128.0, 1.5, None, True, (2,)], ids=repr)
def test_counts_are_integers(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(TypeError) as raised:
        kind(**{name: value})
    assert str(raised.value) == f"{name} is {value!r}; expected an integer"


def test_a_kept_choice_of_other_kinds_is_none() -> None:
    fields = choices.encoded(Tiling(128, 128, 4))
    for stages in ("4", 4.0):
        with pytest.raises(ValueError, match=f"no choice of tiles: stages is {stages!r}; expected"):
            choices.decoded(fields | {"stages": stages})


def test_integers_of_numpy_are_pythons() -> None:
    made = Tiling(np.int64(128), np.uint8(128), np.int8(4))
    assert repr(made) == repr(Tiling(128, 128, 4))
    assert repr(Narrow(np.int64(64), np.uint8(16))) == repr(Narrow(64, 16))
    matrix = Matrix(np.uint64(256), np.int64(4), np.int32(8), np.int8(8), np.int64(1), "bf16")
    assert repr(matrix) == repr(Matrix(256, 4, 8, 8, 1, "bf16"))


@pytest.mark.parametrize("name", ["alternate", "scaled"])
def test_flags_are_flags(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 'no'; expected False, True"):
        Tiling(128, 128, **{name: "no"})


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Tiling, {"tile_n": 256}), (Tiling, {"tile_n": 128, "out": "f32"}),
        (Tiling, {"tile_n": 64, "store": "units"}), (Narrow, {}), (Narrow, {"tile_n": 256}),
        (Narrow, {"depth": 4}),
    ],
)  # fmt: skip
def test_the_most_stages_that_fit(kind: Any, fields: dict[str, Any]) -> None:
    most = max(n for n in range(2, 40) if _can_be(kind, fields | {"stages": n}))
    for stages in (most + 1, 40):
        with pytest.raises(ValueError, match=f"a CTA has 231424, room for {most}$"):
            kind(**fields, stages=stages)


def _can_be(kind: Any, fields: dict[str, Any]) -> bool:
    try:
        kind(**fields)
    except ValueError:
        return False
    return True


def test_tiles_of_which_no_two_stages_fit() -> None:
    with pytest.raises(ValueError, match="a CTA has 231424, too few for the 2 that a product"):
        Narrow(256, 64, 2, depth=4)


# ---------------------------------------------------------------- matrices

DTYPES = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
    "s32": np.int32,
}  # fmt: skip


def held(dtype: Any, *shape: int) -> Any:
    return EMULATOR.empty(shape, dtype)


@pytest.mark.parametrize("element", DTYPES)
def test_an_array_has_the_dtype_of_its_element(element: str) -> None:
    own = np.dtype(DTYPES[element])
    raw = [] if own.kind in "iu" else [np.dtype(f"u{own.itemsize}"), np.dtype(f"V{own.itemsize}")]
    for dtype in (own, *raw):
        assert Matrix.of(held(dtype, 4, 8), element).columns == 8
    others = {np.dtype(one) for one in (*DTYPES.values(), np.float64, np.uint16)} - {own, *raw}
    for dtype in others:
        wanted = f"has dtype {dtype.name}; {element} expects {own.name}( or u|$)"
        with pytest.raises(TypeError, match=wanted):
            Matrix.of(held(dtype, 4, 8), element)


@pytest.mark.parametrize(
    ("array", "options", "error", "message"),
    [
        (np.zeros((4, 8), np.float16), {}, TypeError, "array is of type numpy.ndarray; expected"),
        (None, {}, TypeError, "array is None; expected an array of a device"),
        (held("f2", 32), {}, ValueError, r"has shape \(32,\); expected two dimensions"),
        (held("f2", 1, 4, 8), {}, ValueError, r"has shape \(1, 4, 8\); expected two dimensions"),
        (held("f2", 4, 8), {"pitch": 9}, ValueError,
         "pitch is 9; 4 rows of 8 take 70 bytes, and the array has 64"),
        (held("f2", 8, 8)[2:4], {"pitch": 41}, ValueError, "take 98 bytes, and the array has 96"),
        (held("f2", 4, 8), {"pitch": 0}, ValueError, "strides of 0 and 1 elements"),
        (held("f2", 4, 8), {"pitch": 8.0}, TypeError, "pitch is 8.0; expected an integer"),
        (held("f2", 4, 8), {"element": "float16"}, ValueError,
         "element is 'float16'; expected bf16, f16, tf32, e4m3, e5m2, s8, u8, f32, s32"),
        (held("f2", 4, 8), {"element": ["f16"]}, ValueError, r"element is \['f16'\]; expected bf"),
    ],
)  # fmt: skip
def test_what_is_no_matrix(array: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Matrix.of(array, **{"element": "f16"} | options)


def test_a_pitch_may_reach_what_is_allocated() -> None:
    assert Matrix.of(held("f2", 8, 8)[2:4], "f16", 40).row_stride == 40
    assert Matrix.of(held("f2", 1, 8), "f16", 40).row_stride == 40
    assert set(DTYPES) == {*ELEMENTS, *OUT_BYTES}


@pytest.mark.parametrize("name", ["address", "rows", "columns", "row_stride", "column_stride"])
def test_extents_are_integers(name: str) -> None:
    fields: dict[str, Any] = {
        "address": 256, "rows": 4, "columns": 8, "row_stride": 8, "column_stride": 1,
        "element": "f16",
    }  # fmt: skip
    for value in (8.0, "8", None):
        with pytest.raises(TypeError, match=f"{name} is {value!r}; expected an integer"):
            Matrix(**fields | {name: value})
    with pytest.raises(TypeError, match="row_stride is 8.0; expected an integer"):
        Addend(256, 8.0, 1)


# ---------------------------------------------------------------- plans


def product(**changes: Any) -> Any:
    a, b, c = (Matrix.of(held("f2", 64, 64), "f16") for _ in range(3))
    return hopper.plan(**{"device": EMULATOR, "c": c, "a": a, "b": b} | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device": "emulator"}, "device is 'emulator'; expected one of ptx.device"),
        ({"c": held("f2", 64, 64)}, "c is <ptx Array .*>; expected a Matrix, as Matrix.of"),
        ({"a": held("f2", 64, 64)}, "a is <ptx Array .*>; expected a Matrix, as Matrix.of"),
        ({"b": warp_gemm.Matrix(256, 64, 64, 64, 1, "f16")}, "b is of type ptxgemm.warp_gemm.M"),
        ({"tiling": (128, 256)}, r"tiling is \(128, 256\); expected a Tiling, as Tiling\(128, 256"),
        ({"addend": 256}, "addend is 256; expected an Addend or None"),
        ({"rooms": True}, "rooms is True; expected Rooms or None"),
        ({"alpha": "2"}, "alpha is '2'; expected a real number"),
        ({"alpha": None}, "alpha is None; expected a real number"),
        ({"beta": "two"}, "beta is 'two'; expected a real number"),
        ({"beta": 2j}, "beta is 2j; expected a real number"),
    ],
)  # fmt: skip
def test_arguments_of_another_kind(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        product(**changes)


@pytest.mark.parametrize("alpha", [0.5, float("inf"), float("nan")])
def test_sums_of_integers_are_scaled_by_integers(alpha: float) -> None:
    a, b = (Matrix.of(held("i1", 64, 64), "s8") for _ in range(2))
    with pytest.raises(ValueError, match=f"multiplied by integers, not {alpha} and 0"):
        product(c=Matrix.of(held("i4", 64, 64), "s32"), a=a, b=b, alpha=alpha)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": (64, 32)}, "A is 64 x 32, B 64 x 64, C 64 x 64: K is 32 in A, 64 in B"),
        ({"c": (63, 64)}, "A is 64 x 64, B 64 x 64, C 63 x 64: M is 64 in A, 63 in C"),
        ({"b": (64, 8)}, "A is 64 x 64, B 64 x 8, C 64 x 64: N is 8 in B, 64 in C"),
        ({"b": (9, 8)},
         "A is 64 x 64, B 9 x 8, C 64 x 64: N is 8 in B, 64 in C, K is 64 in A, 9 in B"),
    ],
)  # fmt: skip
def test_the_extents_that_disagree_are_named(changes: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        product(**{name: Matrix.of(held("f2", *shape), "f16") for name, shape in changes.items()})
    assert str(raised.value) == message


def test_the_module_is_there_when_it_is_named() -> None:
    code = (
        "import sys, ptxgemm\n"
        "print('ptxgemm.hopper' in sys.modules, 'numpy' in sys.modules, 'hopper' in dir(ptxgemm))\n"
        "print(ptxgemm.hopper.plan.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "ptxgemm.hopper"]
