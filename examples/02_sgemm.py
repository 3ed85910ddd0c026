"""A matrix product by the SGEMM kernel, and what three of its forms become in machine code."""

import numpy as np

import ptx
import ptxgemm
from ptx import sass
from ptxgemm.kernels.simt import sgemm

random = np.random.default_rng(0)
a, b, c = (random.standard_normal((128, 128), np.float32) for _ in range(3))

product = ptxgemm.sgemm(a, b, c, alpha=2.0, beta=-1.0)  # a GPU if there is one, else the emulator
exact = 2 * (a.astype(np.float64) @ b) - c
print("largest error:", abs(product - exact).max())

# The last step of K has nothing left to fetch. Each form keeps from doing so in its own way.
for form in ("branch", "predicated", "peeled"):
    cubin = ptx.assemble(ptx.Module(sgemm(prefetch=form, beta_zero=True)), target="sm_90")
    loop = sass.disassemble(cubin).loop("main")
    print(
        f"{form}: {cubin.registers} registers, {len(loop.instructions)} instructions in the loop, "
        f"{loop.count('LDG', predicated=True)} predicated loads, {loop.count('BRA')} branches"
    )
