"""Two Triton kernels; run with Triton installed, no GPU needed, to print their PTX again."""

import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row * stride + at, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        av = tl.load(a + m[:, None] * K + (k0 + k)[None, :])
        bv = tl.load(b + (k0 + k)[:, None] * N + n[None, :])
        acc = tl.dot(av, bv, acc)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.bfloat16), mask=inside)


def main(folder):
    softmax_types = {"out": "*fp32", "x": "*fp32", "stride": "i32", "n": "i32"}
    matmul_types = {"a": "*bf16", "b": "*bf16", "c": "*bf16", "M": "i32", "N": "i32", "K": "i32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(6)}
    tile = {"BM": 64, "BN": 64, "BK": 32}
    softmax_types |= {"BLOCK": "constexpr"}
    matmul_types |= dict.fromkeys(tile, "constexpr")
    for capability, name, source in (
        (80, "softmax", ASTSource(softmax, softmax_types, {"BLOCK": 1024})),
        (90, "matmul", ASTSource(matmul, matmul_types, tile, aligned)),
    ):
        target = GPUTarget("cuda", capability, 32)
        made = triton.compile(source, target=target, options={"ptx_version": 80})
        with open(f"{folder}/triton_{name}.sm_{capability}.ptx", "w") as file:
            file.write(made.asm["ptx"])


if __name__ == "__main__":
    main(sys.argv[1])
