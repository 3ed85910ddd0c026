"""Triton kernels whose PTX is stored beside them; no GPU is needed to print it again:

python tests/corpus/triton/kernels.py FOLDER
"""

import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def layer_norm(x, out, weight, bias, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(inside, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    w = tl.load(weight + at, mask=inside)
    b = tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, centred * scale * w + b, mask=inside)


@triton.jit
def attention(q, k, v, out, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + columns[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        keys = start + tl.arange(0, BN)
        key = tl.load(k + keys[None, :] * D + columns[:, None])
        value = tl.load(v + keys[:, None] * D + columns[None, :])
        score = tl.dot(query, key) * scale
        score = tl.where(keys[None, :] < length, score, -float("inf"))
        higher = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp2(score - higher[:, None])
        rescale = tl.exp2(largest - higher)
        total = total * rescale + tl.sum(weight, axis=1)
        acc = tl.dot(weight.to(tl.float16), value, acc * rescale[:, None])
        largest = higher
    tl.store(out + rows[:, None] * D + columns[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bucket = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + bucket, 1, mask=at < n, sem="relaxed")
    tl.atomic_max(counts + 1000, tl.max(bucket, axis=0))


@triton.jit
def running_sum(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.cumsum(tl.load(x + at), axis=0)))


@triton.jit
def eights(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (k0 + k)[None, :])
        right = tl.load(b + n[None, :] * K + (k0 + k)[:, None])
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * BN + n[None, :], acc.to(tl.float8e4nv))


@triton.jit
def described(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(left.load([m, k]), right.load([n, k]).T, acc)
    out.store([m, n], acc.to(tl.float16))


def sources():
    """Name, capability, the version of PTX and the source of each."""
    block = {"BLOCK": "constexpr"}
    f16, f32 = "*fp16", "*fp32"
    norm = {"x": f16, "out": f16, "weight": f32, "bias": f32, "columns": "i32", "epsilon": "fp32"}
    yield "layer_norm", 75, 75, ASTSource(layer_norm, norm | block, {"BLOCK": 1024})
    tile = {"D": 64, "BM": 64, "BN": 32}
    heads = {"q": f16, "k": f16, "v": f16, "out": f16, "length": "i32", "scale": "fp32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(5)}
    heads |= dict.fromkeys(tile, "constexpr")
    for capability, version in ((80, 80), (90, 83), (100, 86)):
        yield "attention", capability, version, ASTSource(attention, heads, tile, aligned)
    counted = {"x": "*i32", "counts": "*i32", "n": "i32"} | block
    yield "histogram", 86, 80, ASTSource(histogram, counted, {"BLOCK": 512})
    summed = {"x": f32, "out": f32} | block
    yield "running_sum", 89, 81, ASTSource(running_sum, summed, {"BLOCK": 256})
    tile = {"BM": 64, "BN": 64, "BK": 64}
    types = {"a": "*fp8e4nv", "b": "*fp8e4nv", "c": "*fp8e4nv", "K": "i32"}
    types |= dict.fromkeys(tile, "constexpr")
    few = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    for capability, version in ((89, 84), (120, 87)):
        yield "eights", capability, version, ASTSource(eights, types, tile, few)
    types = {"a": f16, "b": f16, "c": f16, "M": "i32", "N": "i32", "K": "i32"}
    types |= dict.fromkeys(tile, "constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(6)}
    for capability, version in ((90, 86), (100, 86)):
        yield "described", capability, version, ASTSource(described, types, tile, aligned)


def main(folder):
    for name, capability, version, source in sources():
        target = GPUTarget("cuda", capability, 32)
        try:
            made = triton.compile(source, target=target, options={"ptx_version": version})
        except Exception as error:  # a form that this Triton lacks for this target
            print(f"{name} for sm_{capability}: {error!r}"[:300], file=sys.stderr)
            continue
        text = made.asm["ptx"].replace(__file__, "kernels.py")
        text = text.replace(os.path.dirname(triton.__file__), "triton")
        text = "\n".join(line.rstrip() for line in text.split("\n"))
        with open(f"{folder}/{name}.sm_{capability}.ptx", "w") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
