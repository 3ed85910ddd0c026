"""The libraries themselves, where they are installed: results of their kind, in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxgemm

gpu = pytest.mark.gpu
SIZES = [(4, 5, 3), (256, 384, 64), (1000, 1001, 1002), (1, 4096, 2048)]


def assert_close(result: Any, a: Any, b: Any, c: Any = 0.0) -> None:
    """``a @ b + c`` within (K + 4) * 2**-24 of the terms' magnitudes; all of them numpy's."""
    a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    bound = (a.shape[-1] + 4) * 2.0**-24 * (abs(a) @ abs(b) + abs(c))
    assert np.all(abs(result - (a @ b + c)) <= bound)


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@gpu
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
@pytest.mark.parametrize("own_stream", [False, True])
def test_torch(m: int, n: int, k: int, own_stream: bool) -> None:
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream() if own_stream else torch.cuda.current_stream()
    with torch.cuda.stream(stream):
        a, b, c = (torch.randn(s, device="cuda") for s in ((m, k), (k, n), (m, n)))
        on_host = [x.cpu().numpy() for x in (a, b, c)]
        result = ptxgemm.matmul(a, b)
        assert type(result) is torch.Tensor
        assert_close(result.cpu().numpy(), *on_host[:2])
        turned = torch.empty((n, m), device="cuda").T
        plan = ptxgemm.plan(m, n, k, device="cuda:0")
        for _ in range(2):
            assert plan(a, b, turned.fill_(np.nan)) is turned
            assert_close(turned.cpu().numpy(), *on_host[:2])
        assert_close(ptxgemm.gemm(a, b, c, beta=1).cpu().numpy(), *on_host)
        square = torch.eye(k, device="cuda")
        with pytest.raises(ValueError, match="out shares memory with a"):
            ptxgemm.matmul(a, square, out=a)


@gpu
def test_torch_keeps_its_order() -> None:
    """An operand that is still being made on the current stream is waited for."""
    torch = pytest.importorskip("torch")
    a, eye = torch.zeros((512, 512), device="cuda"), torch.eye(512, device="cuda")
    ptxgemm.matmul(a, eye)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(50_000_000)
        a += 3
        total = ptxgemm.matmul(a, eye).sum()
        assert float(total) == 3 * 512 * 512


@gpu
def test_torch_in_a_graph() -> None:
    torch = pytest.importorskip("torch")
    a, b = torch.randn((4, 65, 33), device="cuda"), torch.randn((33, 70), device="cuda")
    out = ptxgemm.matmul(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        ptxgemm.matmul(a, b, out=out)
    a += 1
    out.fill_(np.nan)
    graph.replay()
    assert_close(out.cpu().numpy(), a.cpu().numpy(), b.cpu().numpy())


@gpu
def test_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        a = cupy.asarray(normal(65, 33))
        for view in (a, a[:, ::-1], a[::2], a[::-1, 1:]):
            result = ptxgemm.matmul(view, view.T)
            assert type(result) is cupy.ndarray
            stream.synchronize()
            assert_close(result.get(), view.get(), view.get().T)


@gpu
def test_jax() -> None:
    jax = pytest.importorskip("jax")
    a = jax.device_put(normal(65, 33), jax.devices("cuda")[0])
    result = ptxgemm.matmul(a, a.T)
    assert isinstance(result, jax.Array) and result.devices() == a.devices()
    assert_close(np.asarray(result), np.asarray(a), np.asarray(a).T)
    with pytest.raises(ValueError, match="out is read-only"):
        ptxgemm.matmul(a, a.T, out=result)


@gpu
def test_numba() -> None:
    cuda = pytest.importorskip("numba.cuda")
    a = cuda.to_device(normal(65, 33))
    result = ptxgemm.gemm(a, a, transpose_b=True)
    assert type(result) is type(a)
    assert_close(result.copy_to_host(), normal(65, 33), normal(65, 33).T)


@gpu
def test_numpy_on_a_gpu() -> None:
    a = normal(3, 65, 33)
    assert_close(ptxgemm.matmul(a[:, ::-1], a[0].T, device="cuda:0"), a[:, ::-1], a[0].T)


def test_torch_on_the_cpu() -> None:
    torch = pytest.importorskip("torch")
    a, b = torch.randn(4, 3), torch.randn(3, 5)
    result = ptxgemm.matmul(a, b, device="emulator")
    assert type(result) is torch.Tensor
    assert torch.allclose(result, a @ b, atol=1e-5)
    out = torch.empty(5, 4).T
    assert ptxgemm.matmul(a, b, out=out, device="emulator") is out
    assert torch.allclose(out, a @ b, atol=1e-5)


def test_jax_on_the_cpu() -> None:
    jax = pytest.importorskip("jax")
    cpu = jax.devices("cpu")[0]
    a, b = (jax.device_put(np.ones(shape, "f4"), cpu) for shape in ((4, 3), (3, 5)))
    result = ptxgemm.matmul(a, b, device="emulator")
    assert isinstance(result, jax.Array) and (result == 3).all()
    with pytest.raises(ValueError, match="out is read-only"):
        ptxgemm.matmul(a, b, out=result, device="emulator")
