"""Arrays as data, and the seams to the libraries that hold them, by stand-ins for these."""

from __future__ import annotations

import struct
import sys
import types
from contextlib import nullcontext
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptx
import ptxgemm
from ptx.arrays import Array
from ptxgemm import calls, dlpack, frameworks, launching
from ptxgemm.arrays import BYTES, Layout, contiguous, share_memory
from ptxgemm.grid import Processor
from ptxgemm.staging import stage
from tests import fake_driver
from tests.fake_driver import FakeDriver

f4 = np.float32

# ---------------------------------------------------------------- layouts and overlaps

axes = st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6)), max_size=3)


def layout(axes: list[tuple[int, int]]) -> Layout:
    shape, strides = zip(*axes, strict=True) if axes else ((), ())
    return Layout(shape, strides, "float32", "cuda:0")


def addresses(pointer: int, found: Layout) -> list[int]:
    """Of every element, one by one."""
    index = np.ndindex(*found.shape)
    return [
        pointer + 4 * sum(i * s for i, s in zip(at, found.strides, strict=True)) for at in index
    ]


@given(axes)
def test_an_array_that_overlaps_itself(axes: Any) -> None:
    found = layout(axes)
    each = addresses(0, found)
    assert found.overlaps_itself == (len(set(each)) < len(each))
    assert found.bounds == ((min(each), max(each) + 4) if each else (0, 0))


@given(axes, axes, st.integers(-60, 60))
def test_arrays_that_share_memory(first: Any, second: Any, apart: int) -> None:
    a, b = layout(first), layout(second)
    base = 1 << 20
    touched = {at + i for at in addresses(base, a) for i in range(4)}
    common = touched & {at + i for at in addresses(base + apart, b) for i in range(4)}
    assert share_memory((base, a), (base + apart, b)) == bool(common)


def test_a_large_array_that_might_overlap_itself_counts_as_one() -> None:
    tall = Layout((40000, 2, 2), (3, 2, 1), "float32", "cuda:0")
    assert tall.overlaps_itself
    assert not Layout((40000, 3), (3, 1), "float32", "cuda:0").overlaps_itself


# ---------------------------------------------------------------- from the host to a device


@pytest.mark.parametrize(
    ("view", "copied"),
    [
        (lambda x: x, 48),
        (lambda x: x.T, 48),
        (lambda x: x[::-1, ::-1], 48),
        (lambda x: x[:, :5], 45),  # as it lies, gaps and all
        (lambda x: x[:, :3], 18),  # less than half of it: its elements alone
        (lambda x: x[::3, ::4], 4),
        (lambda x: np.broadcast_to(x[0], (7, 8)), 8),
        (lambda x: np.broadcast_to(x[:, :1, None], (6, 1, 5)), 6),
    ],
)
def test_an_operand_travels_as_it_lies_or_alone(view: Any, copied: int) -> None:
    x = view(np.arange(48, dtype=f4).reshape(6, 8))
    device = ptx.device("emulator")
    operand = frameworks.family_of("a", x).describe("a", x, None)
    found = stage(device, operand)
    assert found.array.size <= copied
    data = found.array.numpy().reshape(-1)
    first = (found.pointer - found.array.pointer) // 4
    there = [data[first + at // 4] for at in addresses(0, found.layout)]
    assert np.array_equal(np.array(there, f4).reshape(x.shape), x)


# ---------------------------------------------------------------- a machine of make-believe


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """Two GPUs, streams 5, 7 and 8, and libraries that were not met before."""
    driver = fake_driver.fresh(monkeypatch)
    fake_driver.hide_ptxas(monkeypatch)
    monkeypatch.setattr(frameworks, "FAMILIES", {})
    monkeypatch.setattr(frameworks, "SIGNATURES", {})
    monkeypatch.setattr(calls, "SIGNATURES", frameworks.SIGNATURES)
    monkeypatch.setattr(calls, "_CALLS", {})
    driver.streams |= {5, 7, 8}
    for name in ("sgemm_nn", "sgemm_nt", "sgemm_tn", "sgemm_nn_beta"):
        beta = name.endswith("beta")
        driver.params[name] = (8,) * (3 + beta) + (4,) * 5 + (8,) * (9 + 3 * beta)
    return driver


def launched(fake: FakeDriver) -> dict[str, Any]:
    """The last launch: its stream and its pointers."""
    last = fake.launches[-1]
    count = 4 if last["name"].endswith("beta") else 3
    pointers = [struct.unpack("<Q", p)[0] for p in last["params"][:count]]
    return {"stream": last["stream"], "pointers": pointers, "name": last["name"]}


def orders(fake: FakeDriver) -> list[tuple[int, int]]:
    """Which stream was told to wait for which."""
    marked = {int(event): int(stream) for event, stream in fake.of("cuEventRecord")}
    return [(int(stream), marked[int(event)]) for stream, event, _ in fake.of("cuStreamWaitEvent")]


class Where(NamedTuple):
    type: str
    index: int


class Tensor:
    """What of a torch tensor is asked for."""

    def __init__(
        self, shape: tuple[int, ...], pointer: int = 0x10000, strides: Any = None, gpu: int = 0
    ) -> None:
        self.shape, self.dtype, self.layout = shape, "torch.float32", "strided"
        self._strides, self._pointer = strides or contiguous(shape), pointer
        self.device = Where("cuda", gpu)
        self.requires_grad, self.negated = False, False
        self.recorded: list[Any] = []

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def data_ptr(self) -> int:
        return self._pointer

    def is_neg(self) -> bool:
        return self.negated

    def record_stream(self, stream: Any) -> None:
        self.recorded.append(stream)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that works on stream 7 of GPU 0 and stream 8 of GPU 1."""
    made: Any = types.ModuleType("torch")
    made.Tensor, made.strided, made.grad = Tensor, "strided", True
    made.is_grad_enabled = lambda: made.grad
    made._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda gpu: 7 + gpu)
    made.cuda = types.SimpleNamespace(
        ExternalStream=lambda handle: handle, default_stream=lambda: 0
    )
    for name in BYTES:
        setattr(made, name, f"torch.{name}")

    def empty(shape: tuple[int, ...], dtype: str, device: Where) -> Tensor:
        tensor = Tensor(shape, 0x90000, gpu=device.index)
        tensor.dtype = dtype
        return tensor

    made.empty = empty
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


@pytest.mark.usefixtures("torch")
def test_c24_torch_on_its_current_stream(fake: FakeDriver) -> None:
    a, b = Tensor((4, 3), 0x10000), Tensor((3, 5), 0x20000)
    for _ in range(2):  # met for the first time, and known
        result = ptxgemm.matmul(a, b)
        assert type(result) is Tensor and result.shape == (4, 5)
        assert launched(fake) == {
            "stream": 7, "pointers": [0x10000, 0x20000, 0x90000], "name": "sgemm_nn"
        }  # fmt: skip
        assert result.recorded == []
        for stream, handle in ((0, 0), (5, 5), (types.SimpleNamespace(cuda_stream=5), 5)):
            result = ptxgemm.gemm(a, b, stream=stream)
            assert launched(fake)["stream"] == handle
            assert result.recorded == [handle]  # else its memory may be given away too early
    assert orders(fake) == []


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("dtype", "result"),
    [("int8", "int32"), ("float64", "float64"), ("float16", "float16"), ("bfloat16", "bfloat16")],
)
def test_torch_gets_the_type_that_the_sums_are_written_as(
    fake: FakeDriver, monkeypatch: pytest.MonkeyPatch, dtype: str, result: str
) -> None:
    """On a GPU without tensor maps, which the fake driver encodes none of."""
    monkeypatch.setattr(launching, "processor", lambda device: Processor(108, 80, 163 * 1024))
    a, b = Tensor((4, 3), 0x10000), Tensor((3, 5), 0x20000)
    a.dtype = b.dtype = f"torch.{dtype}"
    for _ in range(2):
        assert ptxgemm.matmul(a, b).dtype == f"torch.{result}"
    assert len(fake.launches) == 2


class OnCpu(Tensor):
    """A tensor of torch's on the CPU, which numpy reads if it has the type."""

    def __init__(self, held: Any) -> None:
        super().__init__(held.shape)
        self.held, self.device = held, Where("cpu", 0)
        self.dtype = f"torch.{held.dtype.name}"

    def detach(self) -> OnCpu:
        return self

    def view(self, dtype: str) -> OnCpu:
        return OnCpu(self.held.view(dtype.removeprefix("torch.")))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.held.dtype.kind == "V" or "float8" in self.held.dtype.name:
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return self.held


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_torch_on_the_cpu_in_types_that_numpy_lacks(torch: Any, dtype: str) -> None:
    kind = getattr(ml_dtypes, dtype)
    torch.int16, torch.from_numpy = "torch.int16", OnCpu
    a, b = np.arange(-6, 6).reshape(3, 4).astype(kind), np.eye(4).astype(kind)
    got = ptxgemm.matmul(OnCpu(a), OnCpu(b), device="emulator")
    assert got.dtype == "torch.bfloat16"
    assert np.array_equal(got.held.astype(np.float64), a.astype(np.float64))


def test_8_bit_floats_through_dlpack() -> None:
    """Their codes in dlpack.h, whose names tell the bits."""
    for code, name in ((10, "float8_e4m3fn"), (12, "float8_e5m2"), (4, "bfloat16")):
        tensor = types.SimpleNamespace(
            data=0, byte_offset=0, shape=(1,), ndim=1, strides=(1,), lanes=1, device_id=0,
            code=code, bits=16 if code == 4 else 8,
        )  # fmt: skip
        assert dlpack._read(tensor, 0).dtype == name


@pytest.mark.usefixtures("torch")
def test_torch_on_the_gpu_that_it_lies_on(fake: FakeDriver) -> None:
    a, b = Tensor((4, 3), gpu=1), Tensor((3, 5), 0x20000, gpu=1)
    assert ptxgemm.matmul(a, b).device.index == 1
    assert launched(fake)["stream"] == 8
    assert fake.launches[-1]["context"] == ptx.device("cuda:1").backend.value  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="different devices: a on cuda:1, b on cuda:0"):
        ptxgemm.matmul(a, Tensor((3, 5), 0x20000))
    with pytest.raises(ValueError, match="the arrays lie on cuda:1, and device is cuda:0"):
        ptxgemm.matmul(a, b, device="cuda:0")
    with pytest.raises(ValueError, match="different devices: a on cuda:1, b on cpu"):
        ptxgemm.matmul(a, np.ones((3, 5), f4))
    assert len(fake.launches) == 1


@pytest.mark.usefixtures("torch")
def test_what_lies_otherwise_is_another_call(fake: FakeDriver) -> None:
    b = Tensor((3, 5), 0x20000)
    ptxgemm.matmul(Tensor((4, 3)), b)
    ptxgemm.matmul(Tensor((4, 3), strides=(1, 4)), b)
    assert launched(fake)["name"] == "sgemm_tn"
    ptxgemm.matmul(Tensor((4, 3)), b)
    assert launched(fake)["name"] == "sgemm_nn"


@pytest.mark.usefixtures("torch")
def test_a_plan_for_torch(fake: FakeDriver) -> None:
    a, b, out = Tensor((4, 3)), Tensor((3, 5), 0x20000), Tensor((4, 5), 0x30000)
    plan = ptxgemm.plan(4, 5, 3, device="cuda:0")
    for moved in (0x30000, 0x40000, 0x40004):
        out._pointer = moved
        assert plan(a, b, out) is out
        assert launched(fake)["pointers"] == [0x10000, 0x20000, moved]
    out._pointer = 0x20000 + 4 * 14
    with pytest.raises(ValueError, match="out shares memory with b"):
        plan(a, b, out)
    assert len(fake.launches) == 3


@pytest.mark.parametrize(
    ("name", "change", "error", "text"),
    [
        ("a", {"requires_grad": True}, TypeError, "requires a gradient"),
        ("b", {"negated": True}, TypeError, "b has its negative bit set"),
        ("a", {"shape": (4, 4)}, ValueError, "K is 4 in a, 3 in b"),
        ("b", {"dtype": "torch.float64"}, TypeError, "b has dtype float64 and a has float32"),
        ("out", {"shape": (5, 5)}, ValueError, "out is 5x5; the product is 4x5"),
        ("out", {"_pointer": 0x10004}, ValueError, "out shares memory with a"),
    ],
)
@pytest.mark.usefixtures("torch")
def test_a_repeated_plan_looks_at_its_tensors_again(
    fake: FakeDriver, name: str, change: dict[str, Any], error: type[Exception], text: str
) -> None:
    """The very objects that it has run on, changed meanwhile."""
    given = {"a": Tensor((4, 3)), "b": Tensor((3, 5), 0x20000), "out": Tensor((4, 5), 0x30000)}
    plan = ptxgemm.plan(4, 5, 3, device="cuda:0")
    for _ in range(3):
        plan(**given)
    vars(given[name]).update(change)
    with pytest.raises(error, match=text):
        plan(**given)
    assert len(fake.launches) == 3


def test_a_repeated_plan_follows_the_current_stream(fake: FakeDriver, torch: Any) -> None:
    current = [7]
    torch._C._cuda_getCurrentRawStream = lambda gpu: current[0]
    fake.streams |= {5, 7}
    a, b, out = Tensor((4, 3)), Tensor((3, 5), 0x20000), Tensor((4, 5), 0x30000)
    plan = ptxgemm.plan(4, 5, 3, device="cuda:0")
    for stream in (7, 7, 5, 5, 7):
        current[0] = stream
        plan(a, b, out)
    plan(a, b, out, stream=5)
    assert plan(a, b) is not out
    assert [one["stream"] for one in fake.launches] == [7, 7, 5, 5, 7, 5, 7]


def test_a_gradient_would_be_lost(fake: FakeDriver, torch: Any) -> None:
    a, b = Tensor((4, 3)), Tensor((3, 5), 0x20000)
    ptxgemm.matmul(a, b)
    a.requires_grad = True
    with pytest.raises(TypeError, match="requires a gradient"):
        ptxgemm.matmul(a, b)
    torch.grad = False
    ptxgemm.matmul(a, b)
    assert len(fake.launches) == 2


@pytest.mark.usefixtures("fake", "torch")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"layout": "sparse_coo"}, "a is a tensor of layout sparse_coo; expected strided"),
        ({"negated": True}, "a has its negative bit set"),
        ({"dtype": "torch.int64"}, "a has dtype int64; products take float32"),
        ({"device": Where("mps", 0)}, "a lies on .*; expected cpu or"),
    ],
)
def test_tensors_that_no_product_takes(change: dict[str, Any], text: str) -> None:
    a = Tensor((4, 3))
    vars(a).update(change)
    with pytest.raises(TypeError, match=text):
        ptxgemm.matmul(a, Tensor((3, 5)))


class Interface:
    """An array of no library that is known, on a stream of its own."""

    def __init__(
        self, shape: tuple[int, ...], pointer: int, stream: Any = None, **more: Any
    ) -> None:
        self.__cuda_array_interface__ = {
            "version": 3, "shape": shape, "typestr": "<f4", "data": (pointer, False),
            "strides": None, "stream": stream, **more,
        }  # fmt: skip


def test_c24_the_streams_of_the_interface(fake: FakeDriver) -> None:
    held = [ptx.device("cuda:0").empty((4, 4)) for _ in range(3)]
    first, second, third = (array.pointer for array in held)
    a, b = Interface((4, 3), first, stream=5), Interface((3, 4), second, stream=8)
    result = ptxgemm.matmul(a, b)
    assert isinstance(result, Array)
    assert launched(fake)["stream"] == 5
    assert orders(fake) == [(5, 8)]
    out = Interface((4, 4), third, stream=1)  # the interface's number of the default stream
    assert ptxgemm.matmul(a, b, out=out) is out
    assert launched(fake)["stream"] == 0
    assert orders(fake)[1:] == [(0, 5), (0, 8)]
    ptxgemm.gemm(a, b, out=out, stream=7)
    assert orders(fake)[3:] == [(7, 5), (7, 8), (7, 0)]


def test_the_interface_says_more(fake: FakeDriver) -> None:
    device = ptx.device("cuda:1")
    held = [device.empty(64) for _ in range(3)]
    at, other, third = (array.pointer for array in held)
    a, b = Interface((4, 3), at), Interface((3, 4), other)
    with pytest.raises(ValueError, match="out is read-only"):
        ptxgemm.matmul(a, b, out=Interface((4, 4), 0, data=(third, True)))
    flipped = Interface((4, 3), at, strides=(4, 16))
    assert ptxgemm.matmul(flipped, b).device is device
    assert launched(fake)["name"] == "sgemm_tn"
    with pytest.raises(ValueError, match="a has a stride of 6 bytes; its elements have 4"):
        ptxgemm.matmul(Interface((4, 3), at, strides=(12, 6)), b)
    with pytest.raises(ValueError, match="a is at 0x77, which is no address of a GPU"):
        ptxgemm.matmul(Interface((4, 3), 0x77), b)
    with pytest.raises(TypeError, match="a has a mask"):
        ptxgemm.matmul(Interface((4, 3), 0x77, mask=a), b)


@pytest.mark.usefixtures("torch")
def test_libraries_meet_on_one_stream(fake: FakeDriver) -> None:
    """torch works on stream 7; our arrays on the default stream."""
    ours = ptx.device("cuda:0").empty((3, 5))
    for _ in range(2):
        ptxgemm.matmul(Tensor((4, 3)), ours)
        assert launched(fake)["stream"] == 7
    assert orders(fake) == [(7, 0), (7, 0)]


class CuPyArray:
    def __init__(self, shape: tuple[int, ...], pointer: int) -> None:
        self.shape, self.strides = shape, tuple(4 * s for s in contiguous(shape))
        self.dtype, self.data = np.dtype("f4"), types.SimpleNamespace(ptr=pointer)
        self.device = nullcontext()
        self.device.id = 0  # type: ignore[attr-defined]


def test_cupy_on_its_current_stream(fake: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = types.ModuleType("cupy")
    current = types.SimpleNamespace(ptr=5)
    made.ndarray = CuPyArray
    made.cuda = types.SimpleNamespace(get_current_stream=lambda: current)
    made.empty = lambda shape, dtype: CuPyArray(shape, 0x90000)
    monkeypatch.setitem(sys.modules, "cupy", made)
    a, b = CuPyArray((4, 3), 0x10000), CuPyArray((3, 5), 0x20000)
    for handle in (5, 8):
        current.ptr = handle
        assert type(ptxgemm.matmul(a, b)) is CuPyArray
        assert launched(fake)["pointers"] == [0x10000, 0x20000, 0x90000]
        assert launched(fake)["stream"] == handle


# ---------------------------------------------------------------- DLPack


def test_a_capsule_says_where_an_array_lies() -> None:
    x = np.arange(24, dtype=f4).reshape(4, 6)[::2, 1:4]
    capsule = x.__dlpack__()
    found = dlpack.read(capsule)
    assert found.pointer == x.ctypes.data
    assert (found.shape, found.strides, found.dtype) == ((2, 3), (12, 1), "float32")
    assert found.writable
    assert dlpack.read(np.zeros(3, np.int16).__dlpack__()).dtype == "int16"
    np.from_dlpack(types.SimpleNamespace(
        __dlpack__=lambda **_: capsule, __dlpack_device__=lambda: (1, 0)
    ))  # fmt: skip
    with pytest.raises(TypeError, match="gave no DLPack capsule, or one that was used before"):
        dlpack.read(capsule)


class Packed:
    """An array that speaks DLPack alone, and says that it lies on a GPU."""

    def __init__(self, data: Any, kind: int = dlpack.CUDA) -> None:
        self.data, self.kind, self.streams = data, kind, []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        self.streams.append(stream)
        return self.data.__dlpack__()


def test_dlpack_on_a_gpu(fake: FakeDriver) -> None:
    a, b = Packed(np.ones((4, 3), f4)), Packed(np.ones((5, 3), f4).T)
    result = ptxgemm.matmul(a, b)
    assert isinstance(result, Array) and result.shape == (4, 5)
    assert launched(fake)["name"] == "sgemm_nt"
    assert launched(fake)["pointers"][:2] == [a.data.ctypes.data, b.data.ctypes.data]
    ptxgemm.gemm(a, b, stream=5)
    assert a.streams == [1, 5]  # 1: the default stream
    with pytest.raises(TypeError, match="a lies on a device of DLPack's type 8; expected"):
        ptxgemm.matmul(Packed(np.ones((4, 3), f4), 8), b)


def test_dlpack_on_the_host() -> None:
    a, b = np.ones((4, 3), f4), np.ones((3, 5), f4)
    result = ptxgemm.matmul(Packed(a, dlpack.CPU), b, device="emulator")
    assert isinstance(result, np.ndarray) and (result == 3).all()


class Copied:
    """What numpy reads only as a copy."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((2, 2), f4)


def test_what_numpy_reads_is_an_operand_and_no_out() -> None:
    a = np.ones((2, 2), f4)
    assert (ptxgemm.matmul(Copied(), a, device="emulator") == 2).all()
    with pytest.raises(ValueError, match="out is read-only"):
        ptxgemm.matmul(a, a, out=Copied(), device="emulator")
