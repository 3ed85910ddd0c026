"""Matrix products of any shape and layout, by numpy's rules: once, and planned for many times."""

import numpy as np

import ptx
import ptxgemm

random = np.random.default_rng(0)
a = random.standard_normal((3, 50, 33), np.float32)  # a batch of three
b = random.standard_normal((33, 20), np.float32)
c = random.standard_normal(20, np.float32)

product = ptxgemm.matmul(a, b)
print("matmul:", product.shape, np.allclose(product, a @ b, atol=1e-5))

# Views are multiplied as they lie: rows backwards, every second column, B stored as [N, K].
odd, stored = a[:, ::-1, ::2], np.ascontiguousarray(b[:17].T)
scaled = ptxgemm.gemm(odd, stored, c, alpha=2, beta=-1, transpose_b=True)
print("gemm:", np.allclose(scaled, 2 * odd @ b[:17] - c, atol=1e-5))

# On a device, with the choice of the kernel and its compilation done before.
device = ptx.device("auto")
plan = ptxgemm.plan(50, 20, 33, device=device)
x, y, out = device.array(a[0]), device.array(b), device.empty((50, 20))
for matrix in a:
    x.copy_from(matrix)
    plan(x, y, out)
print("plan:", np.allclose(out.numpy(), a[2] @ b, atol=1e-5))

try:
    plan(x, y, x)
except ValueError as error:
    print(error)
