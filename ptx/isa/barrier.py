"""Barriers, fences and mbarriers (PTX ISA 9.0, sections 9.7.13.1 to 9.7.13.4, 9.7.13.13, 9.7.13.15)."""

from ptx.isa.notation import common, row

SHARED = "shared shared::cta shared::cluster"
BAR = common(bar=range(16), threads=range(32, 1025, 32), effect="barrier cta")

# fmt: off
# ---------------------------------------------------------------- 9.7.13.1 bar, barrier
row("bar{.where}.sync                          bar:u32{, threads:u32}", **BAR)
row("bar{.where}.arrive                        bar:u32, threads:u32", **BAR)
row("bar{.where}.red.popc.u32                  d, bar:u32{, threads:u32}, {!}c", **BAR)
row("bar{.where}.red.op.pred                   p, bar:u32{, threads:u32}, {!}c", op="and or", **BAR)
row("barrier{.where}.sync{.aligned}            bar:u32{, threads:u32}", **BAR)
row("barrier{.where}.arrive{.aligned}          bar:u32, threads:u32", **BAR)
row("barrier{.where}.red.popc{.aligned}.u32    d, bar:u32{, threads:u32}, {!}c", **BAR)
row("barrier{.where}.red.op{.aligned}.pred     p, bar:u32{, threads:u32}, {!}c", op="and or", **BAR)

# ---------------------------------------------------------------- 9.7.13.2 bar.warp.sync
row("bar.warp.sync  mask:u32", effect="barrier warp")

# ---------------------------------------------------------------- 9.7.13.3 barrier.cluster
row("barrier.cluster.arrive{.sem}{.aligned}", sem="release@90:8.0 relaxed@90:8.0", sm=90, ptx="7.8", effect="barrier cluster")
row("barrier.cluster.wait{.sem}{.aligned}", sem="acquire@90:8.0", sm=90, ptx="7.8", effect="barrier cluster")

# ---------------------------------------------------------------- 9.7.13.4 fence, membar
row("fence{.sem}.scope", sem="sc acq_rel acquire release", sm=70, effect="fence")
row("fence.acquire.sync_restrict::shared::cluster.cluster", sm=90, ptx="8.6", effect="fence")
row("fence.release.sync_restrict::shared::cta.cluster", sm=90, ptx="8.6", effect="fence")
row("fence.mbarrier_init.release.cluster", sm=90, ptx="8.0", effect="fence")
row("fence.proxy.alias", sm=70, ptx="7.5", effect="fence proxy alias")
row("fence.proxy.kind", kind="async async.global async.shared::cta async.shared::cluster", sm=90, ptx="8.0", effect="fence proxy async")
row("fence.proxy.tensormap::generic.release.scope", sm=90, ptx="8.3", effect="fence proxy tensormap")
row("fence.proxy.tensormap::generic.acquire.scope  [a], 128", sm=90, ptx="8.3", effect="fence proxy tensormap")
row("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", sm=90, ptx="8.6", effect="fence proxy async")
row("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", sm=90, ptx="8.6", effect="fence proxy async")
row("membar.level", level="cta gl sys", effect="fence")
row("membar.proxy.alias", sm=60, ptx="7.5", effect="fence proxy alias")      # the manual also lists async

# ---------------------------------------------------------------- 9.7.13.15 mbarrier
# count: arrivals of a phase; tx: bytes of a phase. ptxas does not judge their literals by the manual's limits.
COUNT, BYTES = range(1, 2**20), range(2**20)
row("mbarrier.init{.smem}.b64   [mbar], count:u32", count=COUNT, sm=80, ptx="7.0", effect="mbarrier init")
row("mbarrier.inval{.smem}.b64  [mbar]", sm=80, ptx="7.0", effect="mbarrier init")
row("mbarrier.expect_tx{.relaxed.scope}{.space}.b64    [mbar], tx:u32", tx=BYTES, scope="cta cluster", space=SHARED, sm=90, ptx="8.0", effect="mbarrier arrive")
row("mbarrier.complete_tx{.relaxed.scope}{.space}.b64  [mbar], tx:u32", tx=BYTES, scope="cta cluster", space=SHARED, sm=90, ptx="8.0", effect="mbarrier arrive")

# The state is returned for a barrier of this CTA alone; `_` does for every space (the manual: shared::cluster only).
# An arrival's count is an operand from sm_90 on. Of arrive_drop ptxas takes `_` in PTX 7.0 already.
ARRIVE = common(sem="release@80:8.0 relaxed@90:8.6", scope="cta cluster", count=COUNT, tx=BYTES, effect="mbarrier arrive")
for op, sink_ptx in (("arrive", "7.1"), ("arrive_drop", "7.0")):
    for d, space, ptx in (("d:u64", "{.smem}", "7.0"), ("_", "{.space}", sink_ptx)):
        arrive = f"mbarrier.{op}{{.sem.scope}}{space}.b64"
        expect = f"mbarrier.{op}.expect_tx{{.sem.scope}}{space}.b64"
        row(f"{arrive}  {d}, [mbar]", space="shared shared::cta shared::cluster@90:8.0", sm=80, ptx=ptx, **ARRIVE)
        row(f"{arrive}  {d}, [mbar], count:u32", space="shared shared::cta shared::cluster@90:8.0", sm=90, ptx="7.8", **ARRIVE)
        row(f"{expect}  {d}, [mbar], tx:u32", space=SHARED, sm=90, ptx="8.0", **ARRIVE)
    row(f"mbarrier.{op}.noComplete{{.order}}{{.smem}}.b64  d:u64, [mbar], count:u32", order="release.cta@80:8.0", count=COUNT, sm=80, ptx="7.0", effect="mbarrier arrive")

WAIT = common(sem="acquire@80:8.0 relaxed@90:8.6", scope="cta cluster", phase="0 1", effect="mbarrier wait")
row("mbarrier.test_wait{.sem.scope}{.smem}.b64         p, [mbar], state:u64", sm=80, ptx="7.0", **WAIT)
row("mbarrier.test_wait.parity{.sem.scope}{.smem}.b64  p, [mbar], phase:u32", sm=80, ptx="7.1", **WAIT)
row("mbarrier.try_wait{.sem.scope}{.smem}.b64          p, [mbar], state:u64{, ns:u32}", sm=90, ptx="7.8", **WAIT)
row("mbarrier.try_wait.parity{.sem.scope}{.smem}.b64   p, [mbar], phase:u32{, ns:u32}", sm=90, ptx="7.8", **WAIT)
row("mbarrier.pending_count.b64                        d:u32, state:u64", sm=80, ptx="7.0")

# ---------------------------------------------------------------- 9.7.13.13 griddepcontrol
row("griddepcontrol.action", action="launch_dependents wait", sm=90, ptx="7.8", effect="grid dependency")
