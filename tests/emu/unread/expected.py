"""What the emulator calls each fault of the corpus; written after its first run."""

from __future__ import annotations

from tests.emu.unread.case import Case

NAMED = {
    "out of bounds": "out-of-bounds",
    "misaligned": "misaligned",
    "use after free": "use-after-free",
    "wrong state space": "wrong-space",
    "uninitialised shared memory": "uninitialised",
    "uninitialised local memory": "uninitialised",
    "uninitialised global memory": "uninitialised",
    "uninitialised register": "uninitialised",
    "absent lanes": "mask",
    "a mask without the executing lane": "mask",
    "a part of a warp at an aligned instruction": "mask",
    "a part of a warpgroup at wgmma": "mask",
    "partial warp at an aligned barrier": "divergent-barrier",
    "deadlock": "deadlock",
    "data race in shared memory": "race",
    "data race in global memory": "race",
    "an mbarrier that nobody initialised in time": "race",
    "an mbarrier of a peer that may not have initialised it yet": "race",
    "a CTA leaves its cluster while a peer still writes to it": "race",
    "an mbarrier that is not one any more": "barrier",
    "an mbarrier's wrong byte count": "barrier",
    "a second arrival at the cluster's barrier without a wait": "barrier",
    "an asynchronous copy not waited for": "in-flight",
    "an asynchronous store not waited for": "in-flight",
    "accumulators in flight": "in-flight",
    "missing proxy fence": "fence",
    "missing wgmma.fence": "fence",
}
"""What the author called a fault, and the kind that the emulator has for it."""

OTHERWISE = {
    "local_array_lent": "uninitialised",  # a lane finds its own local memory there, unwritten
    "atom_on_an_offset": "out-of-bounds",  # an offset lies in no window of generic addresses
    "source_written_again": "in-flight",  # the other access of the race is a copy's
    "tile_wiped_in_flight": "in-flight",  # or a product's
    "multicast_to_the_unready": "in-flight",  # nobody of that CTA waits for the bytes
    "bytes_inside_the_image": "deadlock",  # others might yet announce the bytes that are too many
}
"""Cases that are found as what they lead to."""

WAITS = {"bytes_inside_the_image"}
"""Found where all threads wait, in a function that many cases share."""

UNNAMED = {"scan_in_place"}
"""Whose other access is a read of another warp, of which only the time is kept."""

UNFOUND = {
    "warp_in_lockstep": "volatile accesses are strong, and two of them never race",
}


def kind_of(case: Case) -> str:
    """What the emulator should call the fault."""
    return OTHERWISE.get(case.name) or NAMED[case.kind.partition(":")[0]]
