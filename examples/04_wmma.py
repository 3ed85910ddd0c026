"""One warp multiplies 16x16x16 on the tensor cores: the first kernel of every wmma tutorial."""

import numpy as np

import ptx
from ptx.fragments import fragment, mma

k = ptx.Kernel("wmma_ker", a="global.f16@32", b="global.f16@32", c="global.f32@32")
a_at, b_at, c_at = k.params()
a = fragment(k, "matrix_a", 16, 16, 16, "f16", "col")
b = fragment(k, "matrix_b", 16, 16, 16, "f16", "row")
c = fragment(k, "accumulator", 16, 16, 16, "f32")
c.fill(0.0)
a.load(a_at, 16)
b.load(b_at, 16)
mma(c, a, b, c)
c.store(c_at, 16, "row")
k.ret()

device = ptx.device("auto")  # a GPU if there is one, else the emulator
random = np.random.default_rng(0)
left, right = (random.integers(-9, 10, (16, 16)).astype(np.float16) for _ in range(2))
out = device.empty((16, 16), "f4")
kernel = device.load(ptx.Module(k))["wmma_ker"]
kernel.launch(1, 32, [device.array(left.T), device.array(right), out])  # A lies by columns
print("equal:", np.array_equal(out.numpy(), left.astype("f4") @ right.astype("f4")))
print("element (9, 2) of C is in lane, element:", c.registers_of(9, 2))
