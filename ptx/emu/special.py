"""Special registers (PTX ISA 9.0, chapter 10) of the threads of a chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptx.emu.faults import Unmodelled
from ptx.emu.memory import Array
from ptx.emu.semantics.rules import dtype_of
from ptx.emu.steps import Lanes, Source

if TYPE_CHECKING:
    from ptx.emu.chunk import Chunk

_AXES = {"x": 0, "y": 1, "z": 2}


def special_register(chunk: Chunk, name: str, type: str) -> Source:
    """The values of ``%tid.x`` and its like, as `type`."""
    stem, _, axis = name[1:].partition(".")
    kind = dtype_of(type)
    if stem.startswith(("clock", "globaltimer")):
        shift = np.uint64(32 if stem.endswith("_hi") else 0)

        def now(lanes: Lanes) -> Array:
            tick = np.uint64(chunk.issued) >> shift
            return np.full(chunk.size(lanes), tick).astype(kind)

        return now
    if axis:
        return _vector(chunk, stem, axis, kind)
    return _scalar(chunk, stem, kind)


def _vector(chunk: Chunk, stem: str, axis: str, kind: Any) -> Array:
    launch = chunk.launch
    if axis == "w":
        # The fourth element of each is 0, of extents too.
        return np.broadcast_to(kind(0), chunk.count)
    number = _AXES[axis]
    if stem in ("tid", "ctaid"):
        return chunk.coordinate(stem, number).astype(kind)
    extents = {"ntid": launch.block, "nctaid": launch.grid, "cluster_nctaid": launch.cluster}
    if stem in extents:
        return np.broadcast_to(kind(extents[stem][number]), chunk.count)
    size = launch.cluster[number]
    if stem == "nclusterid":
        return np.broadcast_to(kind(launch.grid[number] // size), chunk.count)
    place = chunk.coordinate("ctaid", number)
    if stem == "clusterid":
        return (place // size).astype(kind)
    if stem == "cluster_ctaid":
        return (place % size).astype(kind)
    raise Unmodelled(f"%{stem}.{axis} is not modelled")


def _scalar(chunk: Chunk, stem: str, kind: Any) -> Array:
    launch = chunk.launch
    lane = chunk.lane_id
    if stem == "laneid":
        return lane.astype(kind)
    if stem.startswith("lanemask_"):
        bit = np.uint32(1) << lane
        masks = {
            "eq": bit,
            "lt": bit - 1,
            "le": bit | (bit - 1),
            "ge": ~(bit - 1),
            "gt": ~(bit | (bit - 1)),
        }
        return masks[stem.removeprefix("lanemask_")].astype(kind)
    if stem == "warpid":
        return (chunk.thread // 32).astype(kind)
    if stem == "cluster_ctarank":
        return launch.cluster_rank(chunk)[chunk.cta_of].astype(kind)
    x, y, z = launch.cluster
    fixed = {
        "nwarpid": -(-chunk.threads_per_cta // 32),
        "smid": 0,
        "nsmid": 1,
        "gridid": launch.number,
        "cluster_nctarank": x * y * z,
        "is_explicit_cluster": int(launch.explicit_cluster),
        "total_smem_size": launch.shared_bytes,
        "aggr_smem_size": launch.shared_bytes,
        "dynamic_smem_size": launch.dynamic_shared_bytes,
    }
    if stem in fixed:
        return np.broadcast_to(np.array(fixed[stem]).astype(kind)[()], chunk.count)
    raise Unmodelled(f"%{stem} is not modelled")
