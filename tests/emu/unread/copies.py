"""Asynchronous copies: groups, bytes, proxies, and buffers that are used too early or too long."""

from __future__ import annotations

import numpy as np

import ptx
from ptx.ir import SINK, Addr, Reg
from tests.emu.unread.addresses import element
from tests.emu.unread.barriers import wait
from tests.emu.unread.case import Map, Out, case

RANDOM = np.random.default_rng(8)
TILES = RANDOM.integers(0, 99, (4, 64)).astype("u4")

# ---------------------------------------------------------------- cp.async in groups


def _copy(k: ptx.Kernel, x: Reg, buffers: Reg, i: Reg, tile: int, stages: int) -> None:
    """Each thread brings one word of the tile."""
    to = k.mad.lo.u32(i, 4, buffers)
    k.cp.async_.ca.shared.global_(
        Addr(to, 256 * (tile % stages)), Addr(element(k, x, i), 256 * tile), 4
    )


@case(
    "an asynchronous copy not waited for: the last tile of a pipeline",
    lambda g: {"y": g["x"].sum(0)[::-1]},
    x=TILES,
    y=Out(64, "u4"),
    block=64,
)
def the_pipeline_drains(broken: bool) -> ptx.Kernel:
    """One group may stay in flight, says the loop; at the last tile that one is the tile itself,
    as nothing was committed after it.
    """
    k = ptx.Kernel("the_pipeline_drains", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    buffers = k.mov.u32(k.shared("buffers", "u32", 2 * 64, align=16))
    total = k.mov.u32(0)
    back = k.mad.lo.u32(k.sub.u32(63, i), 4, buffers)
    for tile in range(2):
        _copy(k, x, buffers, i, tile, 2)
        k.cp.async_.commit_group()
    for tile in range(4):
        k.cp.async_.wait_group(1)
        k.bar.sync(0)
        word = k.ld.shared.u32(Addr(back, 256 * (tile % 2)))  # fault: the_pipeline_drains
        k.add.u32(total, word, out=total)
        k.bar.sync(0)
        if tile + 2 < 4:
            _copy(k, x, buffers, i, tile + 2, 2)
        if tile + 2 < 4 or not broken:
            k.cp.async_.commit_group()
    k.st.global_.u32(element(k, y, i), total)
    k.ret()
    return k


@case(
    "an asynchronous copy not waited for: committed after the wait",
    lambda g: {"y": g["x"].sum(0)[::-1]},
    x=TILES,
    y=Out(64, "u4"),
    block=64,
)
def committed_after_the_wait(broken: bool) -> ptx.Kernel:
    """Three stages; the group of the step is committed only after the wait that counts on it."""
    k = ptx.Kernel("committed_after_the_wait", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    buffers = k.mov.u32(k.shared("buffers", "u32", 3 * 64, align=16))
    total = k.mov.u32(0)
    back = k.mad.lo.u32(k.sub.u32(63, i), 4, buffers)
    for tile in range(2):
        _copy(k, x, buffers, i, tile, 3)
        k.cp.async_.commit_group()
    k.cp.async_.wait_group(1)
    k.bar.sync(0)
    for tile in range(4):
        if tile + 2 < 4:
            _copy(k, x, buffers, i, tile + 2, 3)
        if not broken:
            k.cp.async_.commit_group()
        word = k.ld.shared.u32(Addr(back, 256 * (tile % 3)))  # fault: committed_after_the_wait
        k.add.u32(total, word, out=total)
        k.cp.async_.wait_group(1)
        if broken:
            k.cp.async_.commit_group()
        k.bar.sync(0)
    k.st.global_.u32(element(k, y, i), total)
    k.ret()
    return k


@case(
    "data race in shared memory: a buffer refilled while the other warp reads it",
    lambda g: {"y": g["x"].sum(0)[::-1]},
    x=TILES,
    y=Out(64, "u4"),
    block=64,
)
def refilled_too_early(broken: bool) -> ptx.Kernel:
    """The copy of the next tile is issued right after this warp has read; the other has not."""
    k = ptx.Kernel("refilled_too_early", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    buffer = k.mov.u32(k.shared("buffer", "u32", 64, align=16))
    total = k.mov.u32(0)
    back = k.mad.lo.u32(k.sub.u32(63, i), 4, buffer)
    to = k.mad.lo.u32(i, 4, buffer)
    source = element(k, x, i)
    for tile in range(4):
        at = Addr(source, 256 * tile)
        k.cp.async_.ca.shared.global_(to, at, 4)  # fault: refilled_too_early
        k.cp.async_.wait_all()
        k.bar.sync(0)
        word = k.ld.shared.u32(back)  # with: refilled_too_early
        k.add.u32(total, word, out=total)
        if not broken:
            k.bar.sync(0)
    k.st.global_.u32(element(k, y, i), total)
    k.ret()
    return k


@case(
    "data race in shared memory: each thread waits for its own copies and reads another's",
    lambda g: {"y": g["x"][0, ::-1]},
    x=TILES,
    y=Out(64, "u4"),
    block=64,
)
def waited_for_its_own(broken: bool) -> ptx.Kernel:
    """cp.async.wait_group says nothing of what other threads copy."""
    k = ptx.Kernel("waited_for_its_own", x="global.u32", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    buffer = k.mov.u32(k.shared("buffer", "u32", 64, align=16))
    to, at = k.mad.lo.u32(i, 4, buffer), element(k, x, i)
    k.cp.async_.ca.shared.global_(to, at, 4)  # with: waited_for_its_own
    k.cp.async_.commit_group()
    k.cp.async_.wait_group(0)
    if not broken:
        k.bar.sync(0)
    back = k.mad.lo.u32(k.sub.u32(63, i), 4, buffer)
    word = k.ld.shared.u32(back)  # fault: waited_for_its_own
    k.st.global_.u32(element(k, y, i), word)
    k.ret()
    return k


# ---------------------------------------------------------------- bulk copies


@case(
    "an mbarrier's wrong byte count: two copies and the bytes of one",
    lambda g: {"y": g["x"][0] * g["x"][1]},
    x=TILES,
    y=Out(64, "u4"),
    block=64,
)
def bytes_of_one_operand(broken: bool) -> ptx.Kernel:
    """A and B share an mbarrier, which was told of A only."""
    k = ptx.Kernel("bytes_of_one_operand", x="global.u32@16", y="global.u32")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    tiles = k.mov.u32(k.shared("tiles", "u32", 128, align=16))
    ready = k.mov.u32(k.shared("ready", "b64"))
    with k.branch(k.setp.eq.u32(i, 0)):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.proxy.async_.shared__cta()
        size = 256 if broken else 512
        k.mbarrier.arrive.expect_tx.shared__cta.b64(  # fault: bytes_of_one_operand
            ready, size, out=SINK
        )
        for tile in range(2):
            to, source = tiles + 256 * tile, x + 256 * tile
            k.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes(
                to, source, 256, ready  # fault: bytes_of_one_operand
            )  # fmt: skip
    k.bar.sync(0)
    wait(k, ready, 0)
    cell = k.mad.lo.u32(i, 4, tiles)
    a = k.ld.shared.u32(cell)
    b = k.ld.shared.u32(Addr(cell, 256))  # fault: bytes_of_one_operand
    k.st.global_.u32(element(k, y, i), k.mul.lo.u32(a, b))
    k.ret()
    return k


@case(
    "misaligned: a bulk copy of a size that is no multiple of 16",
    lambda g: {"y": g["x"].ravel()[:30]},
    hangs=True,
    x=TILES,
    y=Out(30, "u4"),
    n=30,
)
def bulk_of_thirty_words(broken: bool) -> ptx.Kernel:
    """The size is what is left, 120 bytes, instead of that rounded up to 16."""
    k = ptx.Kernel("bulk_of_thirty_words", x="global.u32@16", y="global.u32", n="u32")
    x, y, n = k.params()
    lane = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "u32", 32, align=16))
    ready = k.mov.u32(k.shared("ready", "b64"))
    size = n * 4
    if not broken:
        size = (size + 15) & 0xFFFFFFF0
    with k.branch(k.setp.eq.u32(lane, 0)):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.proxy.async_.shared__cta()
        k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, size, out=SINK)
        k.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes(
            tile, x, size, ready  # fault: bulk_of_thirty_words
        )  # fmt: skip
    k.bar.warp.sync(0xFFFFFFFF)
    wait(k, ready, 0)
    word = k.ld.shared.u32(k.mad.lo.u32(lane, 4, tile))
    target = element(k, y, lane)
    inside = k.setp.lt.u32(lane, n)
    with k.when(inside):
        k.st.global_.u32(target, word)
    k.ret()
    return k


@case(
    "data race in shared memory: the source of a bulk store is written again too early",
    lambda g: {"y": np.stack([g["x"] + 1, g["x"] + 2])},
    x=TILES[0],
    y=Out((2, 64), "u4"),
    block=64,
)
def source_written_again(broken: bool) -> ptx.Kernel:
    """Two tiles leave through one buffer; nobody waits until the first has been read from it."""
    k = ptx.Kernel("source_written_again", x="global.u32", y="global.u32@16")
    x, y = k.params()
    i = k.mov.u32(k.tid.x)
    buffer = k.mov.u32(k.shared("buffer", "u32", 64, align=16))
    cell = k.mad.lo.u32(i, 4, buffer)
    lead = k.setp.eq.u32(i, 0)
    value = k.ld.global_.u32(element(k, x, i))
    for tile in range(2):
        k.st.shared.u32(cell, value + (tile + 1))  # fault: source_written_again
        k.fence.proxy.async_.shared__cta()
        k.bar.sync(0)
        target = y + 256 * tile
        with k.when(lead):
            k.cp.async_.bulk.global_.shared__cta.bulk_group(  # with: source_written_again
                target, buffer, 256
            )
            k.cp.async_.bulk.commit_group()
            if not broken:
                k.cp.async_.bulk.wait_group.read(0)
        k.bar.sync(0)
    with k.when(lead):
        k.cp.async_.bulk.wait_group(0)
    k.ret()
    return k


@case(
    "data race in shared memory: a consumer frees its stage before it has read it",
    lambda g: {"y": g["x"].sum(0)},
    x=TILES,
    y=Out(64, "u4"),
    block=96,
)
def freed_before_it_was_read(broken: bool) -> ptx.Kernel:
    """Producer and two consuming warps; the arrival at "empty" stands above the load."""
    k = ptx.Kernel("freed_before_it_was_read", x="global.u32@16", y="global.u32")
    x, y = k.params()
    thread = k.mov.u32(k.tid.x)
    stages = k.mov.u32(k.shared("stages", "u32", 2 * 64, align=16))
    full, empty = (k.mov.u32(k.shared(name, "b64", 2)) for name in ("full", "empty"))
    with k.branch(k.setp.eq.u32(thread, 0)):
        for stage in range(2):
            k.mbarrier.init.shared__cta.b64(full + 8 * stage, 1)
            k.mbarrier.init.shared__cta.b64(empty + 8 * stage, 64)
        k.fence.proxy.async_.shared__cta()
    k.bar.sync(0)
    with k.branch(k.setp.lt.u32(thread, 32)):
        with k.branch(k.setp.eq.u32(thread, 0)):
            for tile in range(4):
                stage = tile % 2
                wait(k, empty + 8 * stage, (tile // 2 & 1) ^ 1)
                ready = full + 8 * stage
                to, source = stages + 256 * stage, x + 256 * tile
                k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 256, out=SINK)
                k.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes(
                    to, source, 256, ready  # fault: freed_before_it_was_read
                )  # fmt: skip
    with k.otherwise():
        i = thread - 32
        cell = k.mad.lo.u32(i, 4, stages)
        total = k.mov.u32(0)
        for tile in range(4):
            stage = tile % 2
            wait(k, full + 8 * stage, tile // 2 & 1)
            freed = empty + 8 * stage
            if broken:
                k.mbarrier.arrive.shared__cta.b64(freed, out=SINK)
            word = k.ld.shared.u32(Addr(cell, 256 * stage))  # fault: freed_before_it_was_read
            if not broken:
                k.mbarrier.arrive.shared__cta.b64(freed, out=SINK)
            k.add.u32(total, word, out=total)
        k.st.global_.u32(element(k, y, i), total)
    k.ret()
    return k


# ---------------------------------------------------------------- tensor copies

IMAGE = RANDOM.integers(0, 9, (20, 24)).astype("f4")


def _tile_of(image: np.ndarray, row: int, column: int) -> np.ndarray:
    """The 16 x 16 tile, zeros outside."""
    tile = np.zeros((16, 16), "f4")
    inside = image[row : row + 16, column : column + 16]
    tile[: inside.shape[0], : inside.shape[1]] = inside
    return tile


@case(
    "an mbarrier's wrong byte count: an edge tile counts in full",
    lambda g: {"y": _tile_of(g["image"], 16, 16)},
    image=IMAGE,
    map=Map("image", (16, 16), "f32"),
    y=Out((16, 16)),
    block=64,
    hangs=True,
)
def bytes_inside_the_image(broken: bool) -> ptx.Kernel:
    """The box reaches beyond the tensor; its bytes are announced without those outside."""
    k = ptx.Kernel("bytes_inside_the_image", image="global.f32", map="tensormap", y="global.f32")
    _, map, y = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "f32", 256, align=128))
    ready = k.mov.u32(k.shared("ready", "b64"))
    corner = k.mov.s32(16)
    with k.branch(k.setp.eq.u32(i, 0)):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.proxy.async_.shared__cta()
        size = 4 * 8 * 4 if broken else 1024
        k.mbarrier.arrive.expect_tx.shared__cta.b64(  # fault: bytes_inside_the_image
            ready, size, out=SINK
        )
        k.cp.async_.bulk.tensor._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes(
            tile, (map, (corner, corner)), ready  # fault: bytes_inside_the_image
        )  # fmt: skip
    k.bar.sync(0)
    wait(k, ready, 0)
    _write_tile(k, tile, y, i)
    return k


def _write_tile(k: ptx.Kernel, tile: Reg, y: Reg, i: Reg) -> None:
    """64 threads write 256 floats, four each."""
    quad = k.reg("f32", 4)
    k.ld.shared.v4.f32(k.mad.lo.u32(i, 16, tile), out=quad)
    k.st.global_.v4.f32(element(k, y, i, 16), quad)
    k.ret()


@case(
    "out of bounds: a tensor copy larger than its buffer",
    lambda g: {"y": _tile_of(g["image"], 0, 0)},
    image=IMAGE,
    map=Map("image", (16, 16), "f32"),
    y=Out((16, 16)),
    block=64,
)
def box_beyond_the_buffer(broken: bool) -> ptx.Kernel:
    """The buffer was counted in elements of two bytes; the tensor has grown to four."""
    k = ptx.Kernel("box_beyond_the_buffer", image="global.f32", map="tensormap", y="global.f32")
    _, map, y = k.params()
    i = k.mov.u32(k.tid.x)
    ready = k.mov.u32(k.shared("ready", "b64"))
    tile = k.mov.u32(k.shared("tile", "b8", 16 * 16 * (2 if broken else 4), align=128))
    corner = k.mov.s32(0)
    with k.branch(k.setp.eq.u32(i, 0)):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.proxy.async_.shared__cta()
        k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 1024, out=SINK)
        k.cp.async_.bulk.tensor._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes(
            tile, (map, (corner, corner)), ready  # fault: box_beyond_the_buffer
        )  # fmt: skip
    k.bar.sync(0)
    wait(k, ready, 0)
    _write_tile(k, tile, y, i)
    return k


@case(
    "misaligned: a tensor copy to an address that is no multiple of 128",
    lambda g: {"y": _tile_of(g["image"], 4, 8)},
    image=IMAGE,
    map=Map("image", (16, 16), "f32"),
    y=Out((16, 16)),
    block=64,
)
def tile_behind_its_mbarrier(broken: bool) -> ptx.Kernel:
    """The tile follows the mbarrier in dynamic shared memory, 16 bytes on."""
    k = ptx.Kernel("tile_behind_its_mbarrier", image="global.f32", map="tensormap", y="global.f32")
    _, map, y = k.params()
    i = k.mov.u32(k.tid.x)
    ready = k.mov.u32(k.shared("arena", "b8", 2048, align=1024))  # the mbarrier comes first
    # The checker would see through a literal.
    threads = k.mov.u32(k.ntid.x)
    tile = ready + (k.shr.u32(threads, 2) if broken else k.shl.b32(threads, 1))
    row, column = k.mov.s32(4), k.mov.s32(8)
    with k.branch(k.setp.eq.u32(i, 0)):
        k.mbarrier.init.shared__cta.b64(ready, 1)
        k.fence.proxy.async_.shared__cta()
        k.mbarrier.arrive.expect_tx.shared__cta.b64(ready, 1024, out=SINK)
        k.cp.async_.bulk.tensor._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes(
            tile, (map, (column, row)), ready  # fault: tile_behind_its_mbarrier
        )  # fmt: skip
    k.bar.sync(0)
    wait(k, ready, 0)
    _write_tile(k, tile, y, i)
    return k


@case(
    "missing proxy fence: a tensor store of what ordinary stores wrote",
    lambda g: {"y": (g["x"] + 1).reshape(16, 16)},
    x=np.arange(256, dtype="f4"),
    y=Out((16, 16)),
    map=Map("y", (16, 16), "f32"),
    block=64,
)
def stored_by_another_proxy(broken: bool) -> ptx.Kernel:
    """The barrier makes the stores visible to threads, not to the copy engine."""
    k = ptx.Kernel("stored_by_another_proxy", x="global.f32", y="global.f32", map="tensormap")
    x, _, map = k.params()
    i = k.mov.u32(k.tid.x)
    tile = k.mov.u32(k.shared("tile", "f32", 256, align=128))
    quad = k.reg("f32", 4)
    k.ld.global_.v4.f32(element(k, x, i, 16), out=quad)
    for value in quad:
        k.add.f32(value, 1.0, out=value)
    k.st.shared.v4.f32(k.mad.lo.u32(i, 16, tile), quad)  # with: stored_by_another_proxy
    if not broken:
        k.fence.proxy.async_.shared__cta()
    k.bar.sync(0)
    corner = k.mov.s32(0)
    with k.branch(k.setp.eq.u32(i, 0)):
        k.cp.async_.bulk.tensor._2d.global_.shared__cta.tile.bulk_group(
            (map, (corner, corner)), tile  # fault: stored_by_another_proxy
        )  # fmt: skip
        k.cp.async_.bulk.commit_group()
        k.cp.async_.bulk.wait_group(0)
    k.ret()
    return k
