"""Devices: a GPU's half on a driver of make-believe, the emulator's on a toy machine."""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptx
from ptx import devices, driver
from ptx.arrays import Array
from ptx.devices import Device
from ptx.dtypes import dtype_of
from ptx.emu import EmulatorFault, Memory, Unmodelled
from ptx.emu.device import EmulatedDevice
from ptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError, PtxError
from tests import fake_driver
from tests.fake_driver import AXPY, FakeDriver, parameters


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return fake_driver.fresh(monkeypatch)


@pytest.fixture
def no_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.hide_ptxas(monkeypatch)


class ToyMachine:
    """Runs axpy in numpy, by the parameters' bytes; `fault` makes the next launch fail."""

    def __init__(self) -> None:
        self.launches: list[tuple[Any, ...]] = []
        self.fault: PtxError | None = None

    def __call__(
        self, function: Any, module: Any, grid: Any, block: Any, params: bytes,
        shared: int, cluster: Any, memory: Memory, **options: Any,
    ) -> str:  # fmt: skip
        self.launches.append((function.name, grid, block, shared, cluster, options))
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        n, a, x, y = struct.unpack("<IfQQ", params)
        xs = memory.read(x, 4 * n).view("f4")
        ys = memory.read(y, 4 * n).view("f4")
        memory.write(y, (np.float32(a) * xs + ys).tobytes())
        return f"{n} lanes"


@pytest.fixture
def machine() -> ToyMachine:
    return ToyMachine()


@pytest.fixture
def toy(machine: ToyMachine) -> Device:
    return Device("emulator", EmulatedDevice(machine))


# ---------------------------------------------------------------- choosing


def test_auto_is_the_first_gpu_and_names_are_cached(fake: FakeDriver) -> None:
    one = ptx.device("auto")
    assert str(one) == "cuda:0" and one.is_cuda
    assert one is ptx.device("cuda:0") is ptx.device("cuda") is ptx.device(one)
    assert ptx.device("cuda:1") is not one
    assert (one.name, one.compute_capability, one.sm_count) == ("Imaginary H200", (9, 0), 132)
    assert (one.clock, one.limits.shared_per_block_optin) == (1_980_000_000, 232448)


def test_auto_without_a_gpu_is_the_emulator(
    fake: FakeDriver, monkeypatch: pytest.MonkeyPatch, toy: Device
) -> None:
    fake.always["cuInit"] = 100
    asked: list[str] = []
    monkeypatch.setattr(devices, "_device", lambda name: asked.append(name) or toy)
    assert ptx.device() is toy
    assert asked == ["emulator"]


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:-1", "", "Emulator", 0])
def test_a_name_that_is_none(name: Any) -> None:
    with pytest.raises(ValueError, match='devices are "auto", "cuda:0", "cuda:1" ..., "emulator"'):
        ptx.device(name)


# ---------------------------------------------------------------- arrays


@pytest.mark.parametrize("which", ["cuda", "emulator"])
@pytest.mark.parametrize(
    "dtype", ["f4", "i8", "?", "c8", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, "bfloat16", ">f4"]
)
def test_what_goes_in_comes_out(which: str, dtype: Any, fake: FakeDriver, toy: Device) -> None:
    where = toy if which == "emulator" else ptx.device("cuda:0")
    values = np.arange(-6, 6).reshape(3, 4).astype(dtype_of(dtype))
    native = values.astype(values.dtype.newbyteorder("="))
    there = where.array(values)
    back = there.numpy()
    assert back.dtype == native.dtype and back.shape == (3, 4)
    assert back.tobytes() == native.tobytes()
    values[:] = 0
    assert there.numpy().tobytes() == native.tobytes(), "it is a copy"
    assert (there.shape, there.size, there.ndim, len(there)) == ((3, 4), 12, 2, 3)
    assert there.nbytes == 12 * values.dtype.itemsize


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        ("f16", "'f16' is PTX's name of a type; numpy's is 'float16'"),
        ("f32", "'f32' is PTX's name of a type; numpy's is 'float32'"),
        ("u32", "'u32' is PTX's name of a type; numpy's is 'uint32'"),
        ("bf16", "'bf16' is PTX's name of a type; numpy's is 'bfloat16'"),
        ("e4m3", "'e4m3' is PTX's name of a type; numpy's is 'float8_e4m3fn'"),
        ("flaot", "'flaot' is no dtype of numpy or ml_dtypes"),
        (3, "3 is no dtype of numpy or ml_dtypes"),
    ],
)
def test_types_of_ptx_are_no_dtypes(dtype: Any, message: str, toy: Device) -> None:
    for make in (toy.empty, toy.array):
        with pytest.raises(TypeError) as caught:
            make(3, dtype)
        assert str(caught.value) == message


def test_any_layout_and_any_rank(toy: Device) -> None:
    grid = np.arange(24.0).reshape(4, 6)
    for source in (grid.T, grid[::2, ::-1], np.float32(7), np.zeros((0, 3)), [[1, 2], [3, 4]]):
        np.testing.assert_array_equal(toy.array(source).numpy(), np.asarray(source))
    assert toy.array(np.float64(7)).shape == ()
    assert toy.array([1, 2], "f2").dtype == np.float16


def test_offsets_and_slices_point_into_the_same_memory(toy: Device) -> None:
    x = toy.array(np.arange(12, dtype="f4").reshape(3, 4))
    flat = x + 5
    assert flat.pointer == x.pointer + 20 and flat.shape == (7,)
    np.testing.assert_array_equal(flat.numpy(), np.arange(5, 12))
    np.testing.assert_array_equal(x[1:].numpy(), np.arange(4, 12).reshape(2, 4))
    np.testing.assert_array_equal(x[-1:].numpy(), [[8, 9, 10, 11]])
    np.testing.assert_array_equal((3 + x)[1:3].numpy(), [4, 5])
    assert x[2:1].shape == (0, 4)
    assert (x + 12).shape == (0,)
    x[:1].copy_from(np.full((1, 4), 9, "f4"))
    np.testing.assert_array_equal(x.reshape(12).numpy()[:5], [9, 9, 9, 9, 4])
    for wrong in (-1, 13):
        with pytest.raises(
            ValueError, match=f"an offset of {wrong} elements leaves an array of 12"
        ):
            x + wrong
    with pytest.raises(ValueError, match="step 1, got 2"):
        x[::2]
    with pytest.raises(TypeError, match="one slice of its first dimension"):
        x[1]  # type: ignore[index]
    with pytest.raises(ValueError, match=r"shape \(5,\) holds 5 elements, the array 12"):
        x.reshape(5)


def test_memory_lives_as_long_as_a_view_and_no_longer(fake: FakeDriver) -> None:
    where = ptx.device("cuda:0")
    x = where.array(np.ones(8, "f4"))
    tail = x[4:]
    del x
    gc.collect()
    assert len(fake.memory) == 1
    np.testing.assert_array_equal(tail.numpy(), np.ones(4))
    del tail
    assert fake.memory == {}


def test_a_freed_array_is_an_error_to_use(toy: Device) -> None:
    x = toy.array(np.ones(8, "f4"))
    view = x[2:]
    x.free()
    x.free()
    for use in (x.numpy, view.numpy, lambda: x.copy_from(np.ones(8, "f4")), lambda: view.pointer):
        with pytest.raises(LaunchError, match=r"the array of shape \(\d,\) and dtype float32 has"):
            use()
    assert "freed" in repr(view)


def test_poison_and_shapes(toy: Device) -> None:
    assert np.isnan(toy.empty(5, poison=True).numpy()).all()
    assert (toy.empty((2, 3), "u2", poison=0xA5).numpy() == 0xA5A5).all()
    for shape in (-1, (2, -3), 1.5, True, "3"):
        with pytest.raises(TypeError, match="a shape is an int or a tuple of ints from 0 up"):
            toy.empty(shape)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="holds Python objects"):
        toy.array(np.array([{}]))
    with pytest.raises(TypeError, match="holds Python objects"):
        toy.empty(3, "O")
    for byte in (256, -1, 1.5, None):
        with pytest.raises(ValueError, match="poison is a bool or a byte from 0 to 255"):
            toy.empty(3, poison=byte)  # type: ignore[arg-type]
    for given in ((-2, -3), (6.0,), ((2, 3),)):
        with pytest.raises(TypeError, match="a shape is given as ints from 0 up"):
            toy.empty(6).reshape(*given)  # type: ignore[arg-type]


def test_more_than_the_host_has_is_refused_and_no_more() -> None:
    where = ptx.device("emulator")
    for elements in (1 << 40, 1 << 62):
        with pytest.raises(LaunchError, match="the host has no"):
            where.empty(elements)
    assert (where.array([1, 2, 3]).numpy() == [1, 2, 3]).all()


def test_copying_needs_the_same_shape_and_dtype(toy: Device) -> None:
    x = toy.array(np.zeros(4, "f4"))
    for wrong in (np.zeros(5, "f4"), np.zeros(4, "f8")):
        with pytest.raises(TypeError, match=r"takes shape \(4,\) and dtype float32, got"):
            x.copy_from(wrong)


def test_the_array_interface(fake: FakeDriver, toy: Device) -> None:
    x = ptx.device("cuda:0").array(np.zeros((2, 3), "f4"))
    assert x[1:].__cuda_array_interface__ == {
        "version": 3, "shape": (1, 3), "typestr": "<f4", "data": (x.pointer + 12, False),
        "strides": None, "stream": 1,
    }  # fmt: skip
    assert not hasattr(toy.array([1.0]), "__cuda_array_interface__")
    np.testing.assert_array_equal(np.asarray(toy.array([1.0, 2.0])), [1.0, 2.0])


# ---------------------------------------------------------------- launches


def test_launching_by_name_and_in_order(fake: FakeDriver, no_ptxas: None) -> None:
    where = ptx.device("cuda:0")
    x, y = where.array(np.ones(8, "f4")), where.array(np.ones(8, "f4"))
    axpy = where.load(AXPY)["axpy"]
    axpy.launch(grid=4, block=256, args={"n": 8, "a": 2.0, "x": x, "y": y})
    assert parameters(fake) == (8, 2.0, x.pointer, y.pointer)
    axpy.launch((1, 2), (32, 2, 1), [7, 0.5, x[4:], y + 1], shared=64, stream=where.stream())
    assert parameters(fake) == (7, 0.5, x.pointer + 16, y.pointer + 4)
    last = fake.launches[-1]
    assert (last["grid"], last["block"], last["shared"]) == ((1, 2, 1), (32, 2, 1), 64)
    axpy.launch([2], [32], (7, np.float32(0.5), x, np.uint64(5)))
    assert parameters(fake) == (7, 0.5, x.pointer, 5)


@pytest.mark.parametrize(
    "changed",
    [{"grid": 1.0}, {"grid": True}, {"block": (32.0, 1)}, {"shared": 0.0}, {"cluster": True}],
    ids=str,
)
def test_what_equals_an_extent_is_none(
    fake: FakeDriver, no_ptxas: None, changed: dict[str, Any]
) -> None:
    """Whether or not a launch of the same extents went before."""
    where = ptx.device("cuda:0")
    x = where.array(np.ones(8, "f4"))
    axpy = where.load(AXPY)["axpy"]
    shape = {"grid": 1, "block": (32, 1), "shared": 0, "cluster": 1}
    axpy.launch(**shape, args=(8, 2.0, x, x))
    launched = len(fake.launches)
    with pytest.raises(ArgumentTypeError):
        axpy.launch(**shape | changed, args=(8, 2.0, x, x))
    assert len(fake.launches) == launched


def test_a_repeated_launch_calls_the_driver_once(fake: FakeDriver, no_ptxas: None) -> None:
    axpy = ptx.device("cuda:0").load(AXPY)["axpy"]
    axpy.launch(4, 256, [1, 2.0, 0, 0])
    fake.calls.clear()
    axpy.launch(4, 256, [2, 2.0, 16, 0])
    assert [call[0] for call in fake.calls] == ["cuLaunchKernel"]
    assert parameters(fake) == (2, 2.0, 16, 0)


def test_a_wrong_argument_launches_nothing(fake: FakeDriver, no_ptxas: None) -> None:
    """Field case C15."""
    axpy = ptx.device("cuda:0").load(AXPY)["axpy"]
    other = ptx.device("cuda:1").array(np.ones(4, "f4"))
    for error, args, words in (
        (TypeError, [1, 2.0, 0], "axpy takes 4 arguments, got 3"),
        (TypeError, [1, 2.0, 0, 0, 0], "axpy takes 4 arguments, got 5"),
        (TypeError, [1.0, 2.0, 0, 0], r"argument n \(\.u32\) of axpy"),
        (OverflowError, [-1, 2.0, 0, 0], "argument n"),
        (OverflowError, [2**40, 2.0, 0, 0], "argument n"),
        (TypeError, [np.int64(1), 2.0, 0, 0], "argument n"),
        (TypeError, [1, 2.0, 0, other], "argument y .* lies on cuda:1, the launch is on cuda:0"),
        (ValueError, [1, 2.0, 8, 0], "argument x .* no multiple of 16"),
    ):
        with pytest.raises(error, match=words):
            axpy.launch(1, 32, args)
    assert fake.launches == []


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({"grid": 0}, r"grid\.x is 0, allowed is 1 to 2147483647"),
        ({"grid": (1, 65536)}, r"grid\.y is 65536, allowed is 1 to 65535"),
        ({"grid": ()}, "grid is an int or a tuple of one to three ints"),
        ({"grid": 1.5}, "grid is an int or a tuple"),
        ({"block": 1025}, r"block\.x is 1025, allowed is 1 to 1024"),
        ({"block": (32, 33)}, "a block of 32 x 33 x 1 has 1056 threads, at most 1024"),
        ({"block": (1, 1, 65)}, r"block\.z is 65, allowed is 1 to 64"),
        ({"shared": -1}, "shared is a number of bytes, got -1"),
        ({"shared": 400_000}, "0 bytes of static and 400000 of dynamic.* has 232448 for a block"),
        ({"cluster": 3}, r"grid\.x = 4 is no multiple of cluster\.x = 3"),
        ({"cluster": (4, 4, 2)}, "a cluster of 4 x 4 x 2 has 32 CTAs, at most 16"),
    ],
)
def test_shapes_that_no_launch_takes(
    fake: FakeDriver, no_ptxas: None, shape: dict[str, Any], words: str
) -> None:
    axpy = ptx.device("cuda:0").load(AXPY)["axpy"]
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match="^axpy: .*" + words):
        axpy.launch(**({"grid": 4, "block": 32, "args": [1, 2.0, 0, 0]} | shape))
    assert fake.launches == []


@pytest.mark.parametrize(
    ("directive", "shape", "words"),
    [
        (".reqntid 64", {"block": 32}, ".reqntid asks for a block of 64 x 1 x 1, got 32 x 1 x 1"),
        (".maxntid 16, 2", {"block": 64}, ".maxntid allows 32 threads in a block"),
        (
            ".reqnctapercluster 2",
            {"cluster": 4},
            ".reqnctapercluster asks for a cluster of 2 x 1 x 1, got 4 x 1 x 1",
        ),
        (".explicitcluster", {}, ".explicitcluster asks for cluster="),
    ],
)
def test_the_kernels_own_directives(
    toy: Device, directive: str, shape: dict[str, Any], words: str
) -> None:
    text = AXPY.replace("sm_80", "sm_90").replace(")\n{", f")\n{directive}\n{{")
    axpy = toy.load(text)["axpy"]
    with pytest.raises(ArgumentValueError, match=words):
        axpy.launch(**({"grid": 4, "block": 32, "args": [1, 2.0, 0, 0]} | shape))


def test_a_required_cluster_needs_no_saying(toy: Device, machine: ToyMachine) -> None:
    text = AXPY.replace("sm_80", "sm_90").replace(")\n{", ")\n.reqnctapercluster 2\n{")
    x = toy.array(np.ones(4, "f4"))
    toy.load(text)["axpy"].launch(4, 32, [4, 2.0, x, x])
    assert machine.launches[-1][4] == (2, 1, 1)


def test_a_prepared_launch(fake: FakeDriver, no_ptxas: None) -> None:
    where = ptx.device("cuda:0")
    x, y = where.array(np.ones(8, "f4")), where.array(np.ones(8, "f4"))
    axpy = where.load(AXPY)["axpy"]
    launch = axpy.prepare(4, 256, {"n": 8, "a": 2.0, "x": x, "y": y})
    axpy.launch(1, 32, [1, 1.0, 0, 0])
    launch()
    assert parameters(fake) == (8, 2.0, x.pointer, y.pointer)
    launch.set(a=3.0, y=x)
    launch()
    assert parameters(fake) == (8, 3.0, x.pointer, x.pointer)
    with pytest.raises(OverflowError, match="argument n"):
        launch.set(n=-1)
    with pytest.raises(TypeError, match="no parameter z"):
        launch.set(z=1)
    launch()
    x.free()
    with pytest.raises(LaunchError, match="has been freed"):
        launch()
    launches = len(fake.launches)
    with pytest.raises(LaunchError, match="has been freed"):
        launch()
    assert len(fake.launches) == launches


def test_a_prepared_launch_at_other_addresses(fake: FakeDriver, no_ptxas: None) -> None:
    loaded = ptx.device("cuda:0").load(AXPY)
    launch = loaded["axpy"].prepare(4, 256, {"n": 8, "a": 2.0, "x": 0, "y": 0}).at("y", "x")
    for x, y in ((16, 20), (32, 24)):
        launch(y, x)
        assert parameters(fake) == (8, 2.0, x, y)
    loaded.unload()
    with pytest.raises(LaunchError, match="the module of axpy has been unloaded"):
        launch(16, 16)


def test_one_stream_waits_for_another(fake: FakeDriver, toy: Device) -> None:
    where = ptx.device("cuda:0")
    first, second = where.stream(), where.stream()
    handles = [where.backend.handle_of(stream) for stream in (None, first, second.handle)]
    assert handles == [0, first.handle, second.handle]
    where.backend.order(first.handle, second.handle)
    ((_, marked),) = fake.of("cuEventRecord")
    ((waiting, _, _),) = fake.of("cuStreamWaitEvent")
    assert (int(waiting), int(marked)) == (first.handle, second.handle)
    assert toy.backend.handle_of(toy.stream()) == toy.backend.handle_of(None) == 0


def test_nothing_of_a_launch_keeps_its_arrays(fake: FakeDriver, no_ptxas: None) -> None:
    where = ptx.device("cuda:0")
    axpy = where.load(AXPY)["axpy"]
    axpy.launch(1, 32, [1, 1.0, where.array(np.ones(4)), where.array(np.ones(4))])
    gc.collect()
    assert fake.memory == {}


# ---------------------------------------------------------------- the emulator, and faults


@pytest.mark.parametrize("source", [5, {"a": 1}, None, np.zeros(3)])
def test_what_cannot_be_loaded(toy: Device, source: Any) -> None:
    with pytest.raises(TypeError, match="load takes a Module, a Kernel, PTX text or a Cubin, got"):
        toy.load(source)


def test_a_fault_of_the_gpu_surfaces_at_the_next_wait(fake: FakeDriver, no_ptxas: None) -> None:
    where = ptx.device("cuda:0")
    x = where.array(np.ones(4, "f4"))
    where.load(AXPY)["axpy"].launch(1, 32, [4, 1.0, x, x])
    fake.always["cuCtxSynchronize"] = 719
    for wait in (where.synchronize, x.numpy):
        with pytest.raises(driver.DriverError, match="CUDA_ERROR_LAUNCH_FAILED"):
            wait()


def test_the_emulator_runs_and_reports(toy: Device, machine: ToyMachine) -> None:
    x, y = toy.array(np.arange(6, dtype="f4")), toy.array(np.ones(6, "f4"))
    axpy = toy.load(AXPY)["axpy"]
    axpy.launch(2, 3, {"n": 5, "a": 2.0, "x": x, "y": y + 1}, shared=16)
    np.testing.assert_array_equal(y.numpy(), [1, 1, 3, 5, 7, 9])
    stream = {"queue": toy.backend.queue, "early": False}
    assert machine.launches == [("axpy", (2, 1, 1), (3, 1, 1), 16, None, stream)]
    assert toy.report == "5 lanes"


@pytest.mark.parametrize(
    "wait",
    [
        lambda where, x: where.synchronize(),
        lambda where, x: x.numpy(),
        lambda where, x: where.stream().synchronize(),
        lambda where, x: where.event().synchronize(),
    ],
)
def test_a_fault_of_the_emulator_surfaces_at_the_next_wait(
    toy: Device, machine: ToyMachine, wait: Callable[[Device, Array], Any]
) -> None:
    x, y = toy.array(np.ones(4, "f4")), toy.array(np.ones(4, "f4"))
    axpy = toy.load(AXPY)["axpy"]
    machine.fault = EmulatorFault("out-of-bounds", "4 bytes lie in no allocation")
    axpy.launch(1, 4, [4, 1.0, x, y])
    axpy.launch(1, 4, [4, 1.0, x, y])
    assert len(machine.launches) == 1, "what follows a fault does not run"
    with pytest.raises(EmulatorFault, match="no allocation"):
        wait(toy, x)
    np.testing.assert_array_equal(y.numpy(), np.ones(4))
    axpy.launch(1, 4, [4, 1.0, x, y])
    np.testing.assert_array_equal(y.numpy(), np.full(4, 2.0))


def test_what_the_emulator_cannot_run_is_known_at_the_launch(
    toy: Device, machine: ToyMachine
) -> None:
    machine.fault = Unmodelled("no meaning for tcgen05")
    with pytest.raises(PtxError, match="tcgen05"):
        toy.load(AXPY)["axpy"].launch(1, 4, [0, 1.0, 0, 0])
    toy.synchronize()


def test_events_of_the_emulator_measure_the_hosts_time(toy: Device) -> None:
    start, end = toy.event(), toy.event()
    with pytest.raises(ValueError, match="only after record"):
        start.elapsed_time(end)
    start.record()
    end.record(toy.stream())
    assert 0 <= start.elapsed_time(end) < 1000 and end.done


def test_arrays_of_a_gpu_are_no_arguments_of_the_emulator(fake: FakeDriver, toy: Device) -> None:
    x = ptx.device("cuda:0").array(np.ones(4, "f4"))
    axpy = toy.load(AXPY)["axpy"]
    with pytest.raises(TypeError, match="argument x .* lies on cuda:0, the launch is on emulator"):
        axpy.launch(1, 32, [1, 1.0, x, x])

    class Torch:
        __cuda_array_interface__ = {"data": (0x7000, False)}

    with pytest.raises(TypeError, match="argument x .* memory of a GPU"):
        axpy.launch(1, 32, [1, 1.0, Torch(), 0])


def test_an_array_of_other_elements_launches_nothing(
    fake: FakeDriver, no_ptxas: None, toy: Device, machine: ToyMachine
) -> None:
    k = ptx.Kernel("axpy", n="u32", a="f32", x="global.f32", y="global.f32")
    k.ret()
    for where in (toy, ptx.device("cuda:0")):
        axpy, x = where.load(k)["axpy"], where.array(np.ones(4, "f4"))
        for wrong in (np.ones(4), np.ones(4, "u4"), np.ones(4, ml_dtypes.float8_e4m3fn)):
            y = where.array(wrong)
            told = (
                r"argument y \(global\.f32\) of axpy: takes an array of float32 .*"
                f"got Array of {wrong.dtype} and shape"
            )
            with pytest.raises(TypeError, match=told):
                axpy.launch(1, 32, [4, 1.0, x, y])
            with pytest.raises(TypeError, match=told):
                axpy.prepare(1, 32, [4, 1.0, x, y])
        axpy.launch(1, 32, [4, 1.0, x, x])
    assert len(fake.launches) == len(machine.launches) == 1


@pytest.mark.parametrize("target", ["sm_77", "sm_90b", "banana"])
def test_the_emulator_runs_no_target_that_is_none(toy: Device, target: str) -> None:
    text = AXPY.replace("sm_80", target)
    for source in (text, ptx.parse(text)):
        with pytest.raises(LaunchError, match=f"^{target} is no target; targets are sm_50, "):
            toy.load(source)


def test_a_stream_of_another_device_is_refused(fake: FakeDriver, toy: Device) -> None:
    axpy = toy.load(AXPY)["axpy"]
    for stream in (ptx.device("cuda:0").stream(), ptx.device("emulator").stream(), 7):
        with pytest.raises(TypeError, match="stream: takes .* of the same device"):
            axpy.launch(1, 32, [0, 1.0, 0, 0], stream=stream)
