"""Words that mean the same in every row of the table, and what a word needs everywhere."""

from __future__ import annotations

from ptx.targets import Version, version

SPACES = frozenset(
    "const global local param param::entry param::func "
    "shared shared::cta shared::cluster tmem".split()
)
"""Words that name a state space."""

WIDENING = frozenset("ld ldu st cvt".split())
"""Opcodes whose operands may be wider than the instruction's type (PTX ISA 9.4.1), st.async aside."""

# fmt: off
WORDS: dict[str, str | range] = {
    "scope":         "cta cluster gpu sys",
    "hint":          "L2::cache_hint",
    "prefetch_size": "L2::64B L2::128B L2::256B",
    "evict1":        "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last "
                     "L1::no_allocate",
    "evict2":        "L2::evict_normal L2::evict_first L2::evict_last",
    "smem":          "shared shared::cta",
    "cta_group":     "cta_group::1 cta_group::2",
    "where":         "cta@50:7.8",
    "icmp":          "eq ne lt le gt ge",
    "ucmp":          "eq ne lt le gt ge lo ls hi hs",
    "bcmp":          "eq ne",
    "fcmp":          "eq ne lt le gt ge equ neu ltu leu gtu geu num nan",
    "bool":          "and or xor",
    "rnd":           "rn rz rm rp",
    "irnd":          "rni rzi rmi rpi",
    "lut":           range(256),
    "scale_a":       "-1 1",
    "scale_b":       "-1 1",
    "trans_a":       "0 1",
    "trans_b":       "0 1",
}
"""Choices that rows share; a name here must be no word of PTX, or it would swallow it."""

_NEEDS = {
    "weak":               (70, "6.0"),
    "relaxed":            (70, "6.0"),
    "acquire":            (70, "6.0"),
    "release":            (70, "6.0"),
    "acq_rel":            (70, "6.0"),
    "cluster":            (90, "7.8"),
    "::cta":              (50, "7.8"),
    "::cluster":          (90, "7.8"),
    "multicast::cluster::all": ("100f 110f 120f", "8.6"),
    "L2::cache_hint":     (80, "7.4"),
    "L2::64B":            (75, "7.4"),
    "L2::128B":           (75, "7.4"),
    "L2::256B":           (80, "7.4"),
    "L1::evict_normal":   (70, "7.4"),
    "L1::evict_unchanged": (70, "7.4"),
    "L1::evict_first":    (70, "7.4"),
    "L1::evict_last":     (70, "7.4"),
    "L1::no_allocate":    (70, "7.4"),
    "NaN":                (80, "7.0"),
    "cta_group::1":       ("100f 110f", "8.6"),
    "cta_group::2":       ("100f 110f", "8.6"),
}
# fmt: on

NEEDS: dict[str, tuple[str, Version]] = {
    word: (str(sm), version(ptx)) for word, (sm, ptx) in _NEEDS.items()
}
"""What a word (with a leading ``::``, whatever ends so) asks for everywhere."""

ROLES: dict[str, str] = {
    "mbar": "barrier",
    "bar": "barrier number",
    "threads": "thread count",
    "map": "tensor map",
    "adesc": "descriptor",
    "bdesc": "descriptor",
    "idesc": "descriptor",
    "policy": "cache policy",
    "fraction": "fraction",
    "mask": "mask",
    "meta": "sparsity metadata",
    "size": "bytes",
    "tx": "bytes",
    "count": "arrivals",
    "state": "barrier state",
    "phase": "phase parity",
    "groups": "groups left pending",
    "ns": "nanoseconds",
}
"""What an operand of that name is for."""

EFFECTS: dict[str, str] = {
    # control
    "branch": "goes to its label, or to one of its list; when guarded it may go on instead",
    "call": "goes to a function and comes back",
    "return": "leaves the function; in a kernel it ends the thread",
    "exit": "ends the thread",
    "trap": "ends the grid with an error",
    # memory, at the moment of the instruction
    "load": "reads memory at its address",
    "store": "writes memory at its address",
    "atomic": "reads and writes memory at its address, in one step",
    # copies that end later
    "async cp.async": "reads src and writes dst until its cp.async group is waited for",
    "commit cp.async": "closes the thread's cp.async group",
    "wait cp.async": "waits for cp.async groups, all but the newest `groups`",
    "signal cp.async": "arrives at mbar when the thread's cp.asyncs so far have ended",
    "async": "writes memory at its address some time later; fences order it",
    "async mbarrier": "writes its destination until the phase of mbar completes",
    "async bulk mbarrier": "as `async mbarrier`, through the async proxy",
    "async bulk group": "reads src and writes its destination, through the async proxy, until its "
    "bulk group is waited for",
    "async bulk": "through the async proxy, with nothing to wait for: a prefetch",
    "commit bulk": "closes the thread's bulk group",
    "wait bulk": "waits for bulk groups, all but the newest `groups`",
    "async tcgen05.ld": "writes its registers until tcgen05.wait::ld",
    "async tcgen05.st": "writes tensor memory until tcgen05.wait::st",
    "async tcgen05": "works on tensor memory until the mbarrier of a later tcgen05.commit completes",
    "wait tcgen05.ld": "waits for the thread's tcgen05.lds",
    "wait tcgen05.st": "waits for the thread's tcgen05.sts",
    "commit tcgen05": "arrives at mbar when the thread's asynchronous tcgen05s so far have ended",
    "tcgen05 alloc": "takes columns of tensor memory and stores where they begin",
    "tcgen05 dealloc": "gives columns of tensor memory back",
    "wgmma issue": "reads its operands and updates d until its wgmma group is waited for",
    "wgmma commit": "closes the warpgroup's wgmma group",
    "wgmma wait": "waits for wgmma groups, all but the newest `groups`",
    # barriers
    "barrier warp": "the threads of the mask wait for each other",
    "barrier cta": "arrives at a barrier of the CTA; all but .arrive wait for it",
    "barrier cluster": "arrives at, or waits for, the barrier of the cluster",
    "mbarrier init": "makes or ends an mbarrier",
    "mbarrier arrive": "arrives at an mbarrier, or changes the bytes that it expects",
    "mbarrier wait": "asks whether a phase of an mbarrier has completed",
    "grid dependency": "lets dependent grids start, or waits for those depended on",
    # order
    "fence": "orders the thread's memory accesses",
    "fence tcgen05": "orders tcgen05 instructions and the thread's synchronisation",
    "wgmma fence": "orders register and shared-memory accesses before the wgmmas that follow",
    "fence proxy alias": "orders accesses to one place through several virtual addresses",
    "fence proxy async": "orders accesses of the generic proxy and of the async proxy",
    "fence proxy tensormap": "orders accesses of the generic proxy and of the tensor map proxy",
    # together
    "collective warp": "the threads of the mask, or of the warp, execute it together",
    "collective warpgroup": "all threads of the warpgroup execute it together",
}
"""What ``effect=`` of a row may be (several are separated by commas), and what it says."""

LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        ("tex", "tld4", "txq", "istypep"),
        "textures are read through descriptors and samplers that a driver makes, not from memory",
    ),
    **dict.fromkeys(
        ("suld", "sust", "sured", "suq"),
        "surfaces are read and written through descriptors that a driver makes, not in memory",
    ),
}
"""Opcodes of the manual (9.7.10 and 9.7.11) that the table leaves out, with the reason."""
