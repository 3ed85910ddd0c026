"""Asynchronous copies (PTX ISA 9.0, section 9.7.9.25 to 9.7.9.28): cp.async, bulk and tensor copies."""

from ptx.isa.notation import row

NATURAL = range(2**31)
POLICY = "{.hint, policy:u64}"

# fmt: off
# ---------------------------------------------------------------- 9.7.9.25.3 cp.async
# .cg is for 16 bytes alone. `size` bytes are read, the rest is zeroed; `ignore` zeroes all.
row("cp.async.ca.smem.global{.hint}{.prefetch_size}  [dst:shared], [src:global], n{, size:u32}" + POLICY, n="4 8 16", sm=80, ptx="7.0", effect="async cp.async")
row("cp.async.cg.smem.global{.hint}{.prefetch_size}  [dst:shared], [src:global], 16{, size:u32}" + POLICY, sm=80, ptx="7.0", effect="async cp.async")
row("cp.async.ca.smem.global{.hint}{.prefetch_size}  [dst:shared], [src:global], n, {!}ignore:pred" + POLICY, n="4 8 16", sm=80, ptx="7.5", effect="async cp.async")
row("cp.async.cg.smem.global{.hint}{.prefetch_size}  [dst:shared], [src:global], 16, {!}ignore:pred" + POLICY, sm=80, ptx="7.5", effect="async cp.async")
row("cp.async.commit_group", sm=80, ptx="7.0", effect="commit cp.async")
row("cp.async.wait_group  groups", groups=NATURAL, sm=80, ptx="7.0", effect="wait cp.async")
row("cp.async.wait_all", sm=80, ptx="7.0", effect="wait cp.async")
row("cp.async.mbarrier.arrive{.noinc}{.smem}.b64  [mbar]", sm=80, ptx="7.0", effect="signal cp.async")
