"""y = a * x + y: one call is one instruction, and guards stand where the author put them."""

import numpy as np

import ptx

k = ptx.Kernel("axpy", n="u32", a="f32", x="global.f32", y="global.f32")  # parameters, in order
n, a, x, y = k.params()  # helper: ld.param each, cvta.to.global for pointers
ctaid, ntid, tid = k.mov.u32(k.ctaid.x), k.mov.u32(k.ntid.x), k.mov.u32(k.tid.x)
i = k.mad.lo.u32(ctaid, ntid, tid)  # k.global_index("x") is a helper for these four
inside = k.setp.lt.u32(i, n)
offset = k.mul.wide.u32(i, 4)
x_at, y_at = x + offset, y + offset  # one operator, one instruction (add.s64)
xv, yv = k.mov.f32(0.0), k.mov.f32(0.0)  # a guarded load needs its destination set before
with k.when(inside):  # @inside on each instruction in the block
    k.ld.global_.f32(x_at, out=xv)
    k.ld.global_.f32(y_at, out=yv)
r = k.fma.rn.f32(a, xv, yv)
with k.when(inside):
    k.st.global_.f32(y_at, r)
k.ret()

device = ptx.device("auto")  # a GPU if there is one, else the emulator
x, y = device.array(np.arange(1000, dtype="f4")), device.array(np.ones(1000, "f4"))
axpy = device.load(ptx.Module(k))["axpy"]
axpy.launch(grid=4, block=256, args={"n": 1000, "a": 2.0, "x": x, "y": y})  # or a sequence in order
print(y.numpy()[:4])
