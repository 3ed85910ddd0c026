"""A transpose through shared memory: rows in, columns out, with bank conflicts and without."""

import numpy as np

import ptx
from ptx.ir import Addr

SIZE = 32


def transpose(padding: int) -> ptx.Kernel:
    """32 x 32 floats by 32 threads; rows of the tile are `padding` words longer than 32."""
    k = ptx.Kernel("transpose", source="global.f32", target="global.f32")
    source, target = k.params()
    pitch = SIZE + padding
    tile = k.mov.u32(k.shared("tile", "f32", SIZE * pitch))
    lane = k.mov.u32(k.tid.x)
    column = k.mad.lo.u32(lane, 4, tile)  # this thread's element of row 0
    row = k.mad.lo.u32(lane, 4 * pitch, tile)  # and the first element of its row
    read, write = (at + k.mul.wide.u32(lane, 4) for at in (source, target))
    for i in range(SIZE):
        k.st.shared.f32(Addr(column, 4 * i * pitch), k.ld.global_.f32(read + 4 * i * SIZE))
    k.bar.sync(0)
    for i in range(SIZE):
        k.st.global_.f32(write + 4 * i * SIZE, k.ld.shared.f32(Addr(row, 4 * i)))
    k.ret()
    return k


device = ptx.device("emulator")  # which counts what a profiler would
device.backend.options["report"] = True
matrix = np.arange(SIZE * SIZE, dtype="f4").reshape(SIZE, SIZE)
for padding in (0, 1):
    out = device.empty((SIZE, SIZE), "f4")
    kernel = device.load(ptx.Module(transpose(padding)))["transpose"]
    kernel.launch(1, SIZE, [device.array(matrix), out])
    right = np.array_equal(out.numpy(), matrix.T)
    ways = max(row.ways for row in device.report.rows)
    print(f"rows of {SIZE + padding} words: right: {right}, passes of the worst access: {ways}")
